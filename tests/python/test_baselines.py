"""Published certificates against a computation of its own, and against published figures."""

import fractions
import functools
import math
import statistics
import unittest

import numpy as np

from support import certreg, run
from certreg import (
    ALL_OUTPUTS,
    NO_PILOT,
    CertregError,
    Method,
    Outcome,
    Question,
    Serving,
    Side,
    Status,
)

baseline = functools.partial(Question, method="baseline")
trimmed = functools.partial(baseline, statistic="trimmed_mean")
ball = functools.partial(baseline, statistic="ball_center", output=ALL_OUTPUTS)
quantile = statistics.NormalDist().inv_cdf


# ---- the binomial distribution by adding up
def at_most(k, n, p):
    """P(Bin(n, p) <= k)."""
    if k >= n or p == 0:
        return 1.0
    if k < 0 or p == 1:
        return 0.0
    i = np.arange(k + 1)
    ways = math.lgamma(n + 1) - np.array([math.lgamma(j + 1) + math.lgamma(n - j + 1) for j in i])
    return min(1.0, float(np.exp(ways + i * math.log(p) + (n - i) * math.log1p(-p)).sum()))


@functools.lru_cache(None)
def largest_share(k, n, least):
    """The largest p with P(Bin(n, p) <= k) >= least: with alpha for least the upper bound of a
    share after k misses."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(k, n, middle) >= least else (low, middle)
    return 1.0 if k >= n else low


def radius(sigma, misses, n, alpha, may_miss):
    """How far inputs may move if after `misses` of n outputs a share `may_miss` is allowed."""
    share = largest_share(misses, n, alpha)
    if may_miss >= 1:
        return math.inf if share < 1 else 0.0
    return max(0.0, sigma * (quantile(1 - share) + quantile(may_miss))) if share < 1 else 0.0


def may_be_out(n, trim, tolerance, core, reach):
    """The greatest number of outputs out of [-core, core], with which the trimmed mean cannot leave
    the tolerance: by trying all numbers of them on the upper side."""
    cut, exact = int(trim * n), fractions.Fraction
    tolerance, core = exact(tolerance), exact(core)
    best = cut
    for k in range(cut + 1, n + 1):
        if reach == math.inf:
            break
        worst = [core] * (n - k) + [max(core, exact(reach))] * k
        left = worst[cut : n - cut]
        if sum(left) >= len(left) * tolerance:
            break
        best = k
    return best


def recorded(y, sigma=1.0, pilot=NO_PILOT, **more):
    """An estimator with a record of outputs."""
    y = np.asarray(y, np.float32).reshape(len(y), -1)
    e = certreg.Estimator(None, 1, len(y), outputs=y.shape[1], pilot=pilot, seed=1, **more)
    e.begin([0.0], sigma)
    e.record(0, y)
    return e


class AgainstFormulas(unittest.TestCase):
    """Radii of random records."""

    def setUp(self):
        self.random = np.random.default_rng(11)

    def settings(self, times):
        """Numbers of samples, noise levels and alphas."""
        for _ in range(times):
            n = int(self.random.integers(20, 900))
            yield (
                n,
                float(self.random.choice([0.1, 0.5, 2])),
                float(self.random.choice([0.001, 0.05, 0.3])),
            )

    def assertRadius(self, certificate, want):
        cap = 10 * certificate.sigma
        self.assertAlmostEqual(certificate.radius, min(want, cap), delta=1e-6 * cap)
        self.assertLessEqual(certificate.radius, want)
        outcome = Outcome.CAPPED if want > cap else Outcome.CERTIFIED
        self.assertEqual(certificate.outcome, outcome if want > 0 else Outcome.ABSTAINED)

    def test_median(self):
        for n, sigma, alpha in self.settings(30):
            y = self.random.standard_t(3, n).astype(np.float32)
            pilot = int(self.random.integers(1, n // 2))
            given = self.random.normal() if self.random.random() < 0.5 else None
            with recorded(y, sigma, pilot) as e:
                c = e.certify(0, baseline(1.0, alpha=alpha, prediction=given))
                self.assertEqual(e.prediction(baseline(1.0, prediction=given)), c.prediction)
            middle = np.median(y[1:pilot].astype(float)) if pilot > 1 else float(y[0])
            middle = middle if given is None else given
            self.assertAlmostEqual(c.prediction, middle, delta=1e-12)
            main = y[pilot:].astype(float)
            misses = max((main <= middle - 1).sum(), (main >= middle + 1).sum())
            self.assertRadius(c, radius(sigma, int(misses), len(main), alpha / 2, 0.5))
            if c.radius:
                self.assertEqual((c.output_lo, c.output_hi), (middle - 1, middle + 1))

    def test_median_as_coded(self):
        for n, sigma, alpha in self.settings(30):
            y = self.random.standard_t(3, n).astype(np.float32)
            pilot = (1, 2, n // 3, NO_PILOT)[self.random.integers(4)]
            with recorded(y, sigma, pilot) as e:
                c = e.certify(0, baseline(1.0, alpha=alpha, center="sample_median"))
            noisy = y[pilot != NO_PILOT :].astype(float)
            middle = float(np.median(noisy))
            self.assertAlmostEqual(c.prediction, middle, delta=1e-12)
            misses = max((noisy <= middle - 1).sum(), (noisy >= middle + 1).sum())
            self.assertRadius(c, radius(sigma, int(misses), len(noisy), alpha, 0.5))

    def test_trimmed_mean(self):
        limited = 0
        for n, sigma, alpha in self.settings(60):
            y = np.clip(0.7 * self.random.standard_t(4, n), -3, 5).astype(np.float32)
            fresh = int(self.random.choice([1, 2, 7, 10, 50, 201]))
            trim = float(self.random.choice([0, 0.1, 0.29, 0.35, 0.49]))
            tolerance = float(self.random.choice([0.8, 1.5, 6.1, 7.0]))
            rate = float(self.random.choice([0.01, 0.1, 0.5]))
            ranged = self.random.random() < 0.5
            core = float(self.random.choice([0, 0.3, 0.9] if ranged else [0, 1])) * tolerance
            lo, hi = ([-3.0], [5.0]) if ranged else (None, None)
            question = trimmed(tolerance, alpha=alpha, serving=Serving(fresh, rate, trim, core))
            pilot = int(self.random.integers(1, 10))
            with recorded(y, sigma, pilot, lo=lo, hi=hi) as e:
                c = e.certify(0, question)
            middle, near = float(y[0]), core or tolerance
            self.assertEqual(c.prediction, middle)
            noisy = np.sort(y[1:].astype(float))
            cut = min(int(trim * len(noisy)), (len(noisy) - 1) // 2)
            self.assertAlmostEqual(c.estimate, noisy[cut : len(noisy) - cut].mean(), delta=1e-9)
            reach = max(5 - middle, middle + 3) if ranged else math.inf
            out = fresh if reach < tolerance else may_be_out(fresh, trim, tolerance, near, reach)
            misses = int((np.abs(y[pilot:].astype(float) - middle) >= near).sum())
            limited += out > int(trim * fresh)
            may_miss = largest_share(out, fresh, 1 - rate)
            self.assertRadius(c, radius(sigma, misses, n - pilot, alpha, may_miss))
        self.assertGreater(limited, 10)

    def test_angles_are_cut_opposite_the_prediction(self):
        turn = dict(kind="angle", lo=[0.0], hi=[360.0])
        for n, sigma, alpha in self.settings(20):
            y = np.mod(self.random.normal(355, 25, n), 360).astype(np.float32) % np.float32(360)
            with recorded(y, sigma, 1, **turn) as e:
                serving = Serving(21, 0.1, 0.1, 15.0)
                c = e.certify(0, trimmed(40.0, alpha=alpha, serving=serving))
                m = e.certify(0, baseline(40.0, alpha=alpha, prediction=350.0))
            arcs = np.mod(y[1:].astype(float) - float(y[0]) + 180, 360) - 180
            out = may_be_out(21, 0.1, 40.0, 15.0, 180.0)
            self.assertEqual(out, 2 + 2)  # two cut off at an end, and two of 17 with 180 for 40
            misses = int((np.abs(arcs) >= 15).sum())
            self.assertRadius(c, radius(sigma, misses, n - 1, alpha, largest_share(out, 21, 0.9)))
            with recorded(y, sigma, 9, **turn) as e:
                chosen = e.prediction(baseline(40.0))
            turned = np.mod(y[1:9].astype(float) - 355 + 180, 360) - 180
            self.assertAlmostEqual(chosen, (np.median(turned) + 355) % 360, delta=1e-9)
            arcs = np.mod(y[1:].astype(float) - 350 + 180, 360) - 180
            misses = max((arcs <= -40).sum(), (arcs >= 40).sum())
            self.assertRadius(m, radius(sigma, int(misses), n - 1, alpha / 2, 0.5))

    def test_ball_center(self):
        for n, sigma, alpha in self.settings(25):
            outputs, pilot = int(self.random.integers(1, 6)), n // 4
            y = (0.3 * self.random.standard_t(5, (n, outputs))).astype(np.float32)
            given = self.random.normal(0, 0.1, outputs) if self.random.random() < 0.5 else None
            fresh = int(self.random.choice([0, 1, 20, 101]))
            serving = Serving(fresh, 0.1) if fresh else None
            tolerance = 3 * 0.5 * math.sqrt(outputs)
            question = ball(tolerance, alpha=alpha, serving=serving, prediction=given)
            with recorded(y, sigma, pilot) as e:
                c, center = e.certify(0, question), e.prediction(question)
            self.assertTrue(math.isnan(c.prediction) and math.isnan(c.estimate))
            self.assertEqual((c.output_lo, c.output_hi), (-math.inf, math.inf))
            if given is None:
                noisy = y[1:pilot].astype(float)
                gaps = np.linalg.norm(noisy[:, None] - noisy[None], axis=2)
                medians = np.sort(gaps, axis=1)[:, (len(noisy) - 1) // 2]
                given = noisy[medians.argmin()]
            np.testing.assert_array_equal(center, given)
            misses = int((np.linalg.norm(y[pilot:] - center, axis=1) > tolerance / 3).sum())
            need = largest_share((fresh - 1) // 2, fresh, 0.9) if fresh else 0.5
            self.assertRadius(c, radius(sigma, misses, n - pilot, alpha, need))


class Published(unittest.TestCase):
    """Mean radii of functions on the plane with 5,000 samples."""

    functions = {
        "quadratic": lambda x: (x**2).sum(axis=1),
        "slice": lambda x: np.maximum(0, x[:, 0]),
        "slab": lambda x: (np.abs(x[:, 0]) < 0.5).astype(np.float32),
    }
    points = np.random.default_rng(42).uniform(-1, 1, (10, 2))
    settings = [Serving(200, 0.1, 0.35), Serving(500, 0.1, 0.49)]

    def mean_radius(self, name, tolerance, sigma):
        """At the better setting."""
        found = certreg.certify_rows(
            self.functions[name],
            self.points,
            sigma,
            [trimmed(tolerance, alpha=0.001, serving=serving) for serving in self.settings],
            samples=5001,
            pilot=1,
            seed=7,
            progress=False,
        )
        return found["radius"].mean(axis=(0, 1)).max()

    def test_alpha_smoothing(self):
        for name, tolerance, sigma, want in (
            ("quadratic", 0.2, 0.1, 0.074),
            ("quadratic", 0.5, 0.1, 0.233),
            ("slice", 0.2, 0.2, 0.234),
            ("slice", 0.5, 0.5, 0.491),
            ("slab", 0.2, 0.2, 0.188),
            ("slab", 0.5, 0.2, 0.188),
        ):
            with self.subTest(name, tolerance=tolerance):
                got = self.mean_radius(name, tolerance, sigma)
                self.assertAlmostEqual(got, want, delta=0.005)


if __name__ == "__main__":
    run()

"""Published certificates against a computation of its own, and against published figures."""

import fractions
import functools
import math
import statistics

import numpy as np
from hypothesis import given, settings, strategies as st

from kit import certreg, near, parametrize, rows_of
from certreg import ALL_OUTPUTS, NO_PILOT, Outcome, Question, Serving

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
    for k in range(cut + 1, n + 1) if reach < math.inf else ():
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


def agrees(certificate, want):
    cap = 10 * certificate.sigma
    assert certificate.radius == near(min(want, cap), 1e-6 * cap)
    # Doubles here: sums of up to 900 probabilities keep some 12 digits.
    assert certificate.radius <= want + 1e-11 * certificate.sigma
    outcome = Outcome.CAPPED if want > cap else Outcome.CERTIFIED
    assert certificate.outcome == (outcome if want > 0 else Outcome.ABSTAINED)


# ---- radii of random records, by numbers of samples, noise levels and alphas
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
every = given(random=seeds, n=st.integers(20, 900), sigma=st.sampled_from([0.1, 0.5, 2.0]),
              alpha=st.sampled_from([0.001, 0.05, 0.3]), of=st.data())


@every
def test_median(random, n, sigma, alpha, of):
    y = random.standard_t(3, n).astype(np.float32)
    pilot = of.draw(st.integers(1, n // 2 - 1))
    center = random.normal() if of.draw(st.booleans()) else None
    with recorded(y, sigma, pilot) as e:
        c = e.certify(0, baseline(1.0, alpha=alpha, prediction=center))
        assert e.prediction(baseline(1.0, prediction=center)) == c.prediction
    if center is None:
        center = np.median(y[1:pilot].astype(float)) if pilot > 1 else float(y[0])
    assert c.prediction == near(center, 1e-12)
    main = y[pilot:].astype(float)
    misses = max((main <= center - 1).sum(), (main >= center + 1).sum())
    agrees(c, radius(sigma, int(misses), len(main), alpha / 2, 0.5))
    if c.radius:
        assert (c.output_lo, c.output_hi) == (center - 1, center + 1)
    pilot = of.draw(st.sampled_from((1, 2, n // 3, NO_PILOT)))  # as the authors coded it
    with recorded(y, sigma, pilot) as e:
        c = e.certify(0, baseline(1.0, alpha=alpha, center="sample_median"))
    noisy = y[pilot != NO_PILOT :].astype(float)
    middle = float(np.median(noisy))
    assert c.prediction == near(middle, 1e-12)
    misses = max((noisy <= middle - 1).sum(), (noisy >= middle + 1).sum())
    agrees(c, radius(sigma, int(misses), len(noisy), alpha, 0.5))


def test_trimmed_mean():
    limited = []

    @settings(max_examples=100)
    @every
    def agree(random, n, sigma, alpha, of):
        one_of = lambda *values: of.draw(st.sampled_from(values))  # noqa: E731
        y = np.clip(0.7 * random.standard_t(4, n), -3, 5).astype(np.float32)
        fresh, trim = one_of(1, 2, 7, 10, 50, 201), one_of(0.0, 0.1, 0.29, 0.35, 0.49)
        tolerance, rate = one_of(0.8, 1.5, 6.1, 7.0), one_of(0.01, 0.1, 0.5)
        lo, hi = one_of((None, None), ([-3.0], [5.0]))
        core = tolerance * (one_of(0.0, 1.0) if lo is None else one_of(0.0, 0.3, 0.9))
        question = trimmed(tolerance, alpha=alpha, serving=Serving(fresh, rate, trim, core))
        pilot = of.draw(st.integers(1, 9))
        with recorded(y, sigma, pilot, lo=lo, hi=hi) as e:
            c = e.certify(0, question)
        middle, close = float(y[0]), core or tolerance
        assert c.prediction == middle
        noisy = np.sort(y[1:].astype(float))
        cut = min(int(trim * len(noisy)), (len(noisy) - 1) // 2)
        assert c.estimate == near(noisy[cut : len(noisy) - cut].mean(), 1e-9)
        reach = math.inf if lo is None else max(5 - middle, middle + 3)
        out = fresh if reach < tolerance else may_be_out(fresh, trim, tolerance, close, reach)
        misses = int((np.abs(y[pilot:].astype(float) - middle) >= close).sum())
        limited.append(out > int(trim * fresh))
        may_miss = largest_share(out, fresh, 1 - rate)
        agrees(c, radius(sigma, misses, n - pilot, alpha, may_miss))

    agree()
    assert sum(limited) > 10


@every
def test_ball_center(random, n, sigma, alpha, of):
    outputs, pilot = of.draw(st.integers(1, 5)), n // 4
    y = (0.3 * random.standard_t(5, (n, outputs))).astype(np.float32)
    center = random.normal(0, 0.1, outputs) if of.draw(st.booleans()) else None
    fresh = of.draw(st.sampled_from([0, 1, 20, 101]))
    serving = Serving(fresh, 0.1) if fresh else None
    tolerance = 3 * 0.5 * math.sqrt(outputs)
    question = ball(tolerance, alpha=alpha, serving=serving, prediction=center)
    with recorded(y, sigma, pilot) as e:
        c, found = e.certify(0, question), e.prediction(question)
    assert math.isnan(c.prediction) and math.isnan(c.estimate)
    assert (c.output_lo, c.output_hi) == (-math.inf, math.inf)
    if center is None:
        noisy = y[1:pilot].astype(float)
        gaps = np.linalg.norm(noisy[:, None] - noisy[None], axis=2)
        center = noisy[np.sort(gaps, axis=1)[:, (len(noisy) - 1) // 2].argmin()]
    np.testing.assert_array_equal(found, center)
    misses = int((np.linalg.norm(y[pilot:] - center, axis=1) > tolerance / 3).sum())
    need = largest_share((fresh - 1) // 2, fresh, 0.9) if fresh else 0.5
    agrees(c, radius(sigma, misses, n - pilot, alpha, need))


# ---- published mean radii of functions on the plane with 5,000 samples, at the better setting
FUNCTIONS = {"quadratic": lambda x: (x**2).sum(axis=1), "slice": lambda x: np.maximum(0, x[:, 0]),
             "slab": lambda x: (np.abs(x[:, 0]) < 0.5).astype(np.float32)}


@parametrize(
    "name, tolerance, sigma, want",
    ("quadratic", 0.2, 0.1, 0.074),
    ("quadratic", 0.5, 0.1, 0.233),
    ("slice", 0.2, 0.2, 0.234),
    ("slice", 0.5, 0.5, 0.491),
    ("slab", 0.2, 0.2, 0.188),
    ("slab", 0.5, 0.2, 0.188),
)
def test_alpha_smoothing(name, tolerance, sigma, want):
    points = np.random.default_rng(42).uniform(-1, 1, (10, 2))
    servings = [Serving(200, 0.1, 0.35), Serving(500, 0.1, 0.49)]
    asked = [trimmed(tolerance, alpha=0.001, serving=serving) for serving in servings]
    more = dict(samples=5001, pilot=1, seed=7)
    found = rows_of(FUNCTIONS[name], points, sigma, asked, **more)
    assert found["radius"].mean(axis=(0, 1)).max() == near(want, 0.005)

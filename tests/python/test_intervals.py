"""Prediction intervals that contain the truth under attack."""

import itertools
import pathlib
import re
import tempfile
import unittest

import numpy as np

from support import certreg, run
from certreg import Calibrated, CertregError, Status, interval_ranks

SIGMA, FEATURES = 0.5, 4
WEIGHTS = np.array([0.5, -0.5, 0.5, 0.5], np.float32)  # of norm 1


def linear(x):
    return x @ WEIGHTS


def points(count, seed=0, scatter=0.4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, FEATURES)).astype(np.float32)
    return X, linear(X) + scatter * rng.normal(size=count)


class Coverage(unittest.TestCase):
    def test_the_truth_is_covered_at_the_worst_shift(self):
        """A linear model: the worst shift leads away from the truth."""
        radius, alpha, covered, lengths = 0.25, 0.1, [], []
        for seed in range(8):
            X, y = points(350, seed)
            seeds = dict(seed=1 + seed, inputs_seed=100 + seed)
            calibrated = Calibrated(linear, X[:100], y[:100], SIGMA, samples=31, **seeds)
            for x, truth in zip(X[100:], y[100:]):
                shift = -np.sign(truth - linear(x)) * radius * WEIGHTS
                interval = calibrated.interval(x + shift, radius, alpha)
                covered.append(truth in interval)
                lengths.append(interval.width)
        rate, error = np.mean(covered), 0.3 / len(covered) ** 0.5 + 0.3 / 800**0.5
        self.assertGreater(rate, 1 - alpha - 3 * error)
        self.assertLess(rate, 1 - alpha + 3 * error + 0.02)
        self.assertLess(np.mean(lengths), 2.6)

    def test_without_an_attack_it_is_split_conformal_prediction(self):
        X, y = points(1200, 1)
        seeds = dict(seed=1, inputs_seed=2)
        calibrated = Calibrated(linear, X[:200], y[:200], SIGMA, samples=11, **seeds)
        covered = [t in calibrated.interval(x, 0, 0.1) for x, t in zip(X[200:], y[200:])]
        self.assertAlmostEqual(np.mean(covered), 0.9, delta=0.06)
        ranks = calibrated.ranks(0, 0.1)
        self.assertEqual((ranks.point_rank, ranks.sample_rank), (181, 6))
        self.assertAlmostEqual(ranks.alpha, 20 / 201)


class Sets(unittest.TestCase):
    def test_angles_are_arcs(self):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(120, 2)).astype(np.float32) + 3

        def angle(x):
            return np.degrees(np.arctan2(x[:, 1], x[:, 0])) + 135  # about 180

        truths = angle(X) + rng.normal(size=120)
        options = dict(samples=21, seed=1, inputs_seed=2, kind="angle", lo=-180, hi=180)
        calibrated = Calibrated(angle, X, truths, 0.1, **options)
        interval = calibrated.interval([3, 3], 0.02, 0.1)
        self.assertEqual(interval.period, 360)
        self.assertLess(interval.width, 40)
        self.assertGreater(interval.hi, 180)  # an arc across the end of the turn
        self.assertIn(180, interval)
        self.assertIn(-180, interval)
        self.assertIn(180 + 3 * 360, interval)
        self.assertNotIn(0, interval)

    def test_vectors_have_a_box_and_a_smaller_set(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(150, 2)).astype(np.float32)
        truths = X + 0.2 * rng.normal(size=X.shape)
        for score in ("norm", "largest"):
            options = dict(samples=21, seed=2, score=score, units=[1, 2], scale=[1, 1])
            calibrated = Calibrated(lambda x: x, X, truths, 0.2, inputs_seed=3, **options)
            for radius in (0.0, 0.1):
                box = calibrated.interval([1, -1], radius, 0.1)
                self.assertEqual([side.output for side in box], [0, 1])
                self.assertTrue(calibrated.covers([1, -1], [1, -1], radius, 0.1))
                corner = [box[0].hi, box[1].hi]
                inside = calibrated.covers([1, -1], corner, radius, 0.1)
                self.assertEqual(inside, False)

    def test_quantiles_give_intervals_that_follow_the_scatter(self):
        rng = np.random.default_rng(4)
        X = rng.uniform(0.1, 1, size=(300, 1)).astype(np.float32)
        truths = X[:, 0] * rng.normal(size=300)

        def quantiles(x):
            return np.column_stack([-1.3 * x[:, 0], 1.3 * x[:, 0]])

        options = dict(samples=21, score="quantiles", seed=3, inputs_seed=4)
        calibrated = Calibrated(quantiles, X, truths, 0.05, **options)
        narrow, wide = calibrated.interval([0.2], 0.02), calibrated.interval([0.9], 0.02)
        self.assertLess(2 * narrow.width, wide.width)
        self.assertIn(0, narrow)

    def test_a_set_can_be_empty(self):
        X, _ = points(60)
        calibrated = Calibrated(linear, X, linear(X), SIGMA, samples=31, seed=1, inputs_seed=2)
        calibrated.scores[:] = 1e-9
        empty = calibrated.interval(X[0], 0.1, 0.1)
        self.assertEqual((empty.pieces, empty.width), ((), 0))
        self.assertTrue(np.isnan(empty.lo))
        self.assertNotIn(float(linear(X[0])), empty)

    def test_a_larger_radius_makes_a_longer_interval(self):
        X, y = points(200)
        calibrated = Calibrated(linear, X, y, SIGMA, samples=51, seed=4, inputs_seed=5)
        lengths = [calibrated.interval(X[0], r, 0.1, noise_id=900 + 0).width for r in (0, 0.2, 0.5)]
        self.assertEqual(lengths, sorted(lengths))
        several = calibrated.intervals(X[:3], 0.2, 0.1)
        self.assertEqual([len(several), several[0].samples], [3, 51])


class Files(unittest.TestCase):
    def test_a_calibration_is_kept_in_a_file(self):
        X, y = points(80)
        options = dict(samples=15, seed=5, scale=[1, 2, 1, 0.5], units=2, most_samples=31)
        before = Calibrated(linear, X, y, SIGMA, **options)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kept.npz")
            before.save(path)
            with Calibrated.load(path, linear) as after:
                self.assertEqual(after.ranks(0.1, 0.1), before.ranks(0.1, 0.1))
                np.testing.assert_array_equal(after.scores, before.scores)
                threshold = after.interval(X[0], 0.1, 0.1).threshold
                self.assertEqual(threshold, before.interval(X[0], 0.1, 0.1).threshold)
                self.assertEqual(after.points, before.points)
            with self.assertRaisesRegex(TypeError, "load takes no seed"):
                Calibrated.load(path, linear, seed=6)
            for text in (b"", b"PK\x03\x04", path.read_bytes()[:200]):
                path.write_bytes(text)
                with self.assertRaisesRegex(ValueError, "kept.npz is no calibration"):
                    Calibrated.load(path, linear)
            np.savez(path, scores=np.ones(3))
            with self.assertRaisesRegex(ValueError, "version"):
                Calibrated.load(path, linear)

    def test_the_noise_of_new_inputs_is_always_secret(self):
        """No seed of a calibration leads to it, neither one that was given nor that in a file."""
        X, y = points(30)
        seen = []

        def noise_of(calibrated):
            calibrated.interval(X[0], 0.1, 0.2)
            seen.append(calibrated._estimator.run().seed)

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kept.npz")
            for _ in range(2):
                with Calibrated(linear, X, y, SIGMA, samples=15, seed=5) as calibrated:
                    self.assertEqual(calibrated.calibration_seed, 5)
                    calibrated.save(path)
                    noise_of(calibrated)
                with Calibrated.load(path, linear) as loaded:
                    noise_of(loaded)
            with np.load(path) as kept:
                numbers = {int(v) for name in kept.files for v in kept[name].flat if v == v}
        self.assertEqual(len(set(seen)), 4)
        self.assertFalse(set(seen) & numbers)

    def test_tests_can_fix_the_noise_of_new_inputs(self):
        X, y = points(30)
        seeds = dict(samples=15, seed=5, inputs_seed=6)
        with Calibrated(linear, X, y, SIGMA, **seeds) as one:
            with Calibrated(linear, X, y, SIGMA, **seeds) as other:
                asked = (X[0], 0.1, 0.2)
                self.assertEqual(one.interval(*asked), other.interval(*asked))
            self.assertEqual(one._estimator.run().seed, 6)

    def test_files_that_do_not_fit_are_no_calibration(self):
        X, y = points(30)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kept.npz")
            Calibrated(linear, X, y, SIGMA, samples=15, units=2).save(path)
            with np.load(path) as kept:
                good = dict(kept)
            for name, value in (
                ("units", np.ones(2)),
                ("scores", np.ones(29)),
                ("scores", np.array("a")),
                ("version", 1),
                ("shape", np.array("a")),
            ):
                np.savez(path, **{**good, name: value})
                with self.assertRaises(ValueError, msg=name):
                    Calibrated.load(path, linear)
            np.savez(path, **{**good, "units": np.float32([3])})
            with self.assertRaisesRegex(CertregError, "scored otherwise"):
                Calibrated.load(path, linear).interval(X[0], 0.1, 0.2)
            np.save(pathlib.Path(folder, "plain.npy"), np.ones(3))
            with self.assertRaisesRegex(ValueError, "no calibration"):
                Calibrated.load(pathlib.Path(folder, "plain.npy"), linear)

    def test_another_scale_is_noticed(self):
        X, y = points(40)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kept.npz")
            Calibrated(linear, X, y, SIGMA, samples=15, scale=2.0).save(path)
            with Calibrated.load(path, linear, scale=1.0) as other:
                with self.assertRaisesRegex(CertregError, "scale"):
                    other.interval(X[0], 0.1, 0.1)


class Misuse(unittest.TestCase):
    def test_wrong_arguments_are_named(self):
        X, y = points(30)
        for error, said, change in (
            (ValueError, r"y has shape \(29,\)", dict(y=y[:29])),
            (ValueError, "one column", dict(y=np.column_stack([y, y]), score="quantiles")),
            (ValueError, "score is 'mean'", dict(score="mean")),
            (ValueError, "samples", dict(samples=0)),
            (ValueError, "most_samples is 3", dict(samples=5, most_samples=3)),
            (CertregError, "sigma", dict(sigma=0)),
            (ValueError, "row 29 of y is nan", dict(y=np.append(y[:29], np.nan))),
            (CertregError, "units", dict(units=-1)),
            (CertregError, "share", dict(share=1.5)),
            (ValueError, "X has shape", dict(X=y)),
            (TypeError, "unexpected", dict(nonsense=1)),
        ):
            arguments = dict(dict(X=X, y=y, sigma=SIGMA, samples=5), **change)
            with self.subTest(said), self.assertRaisesRegex(error, said):
                Calibrated(linear, **arguments)

    def test_what_cannot_be_promised_is_refused(self):
        X, y = points(12)
        calibrated = Calibrated(linear, X, y, SIGMA, samples=11)
        for said, arguments in (
            ("at least", (0.5, 0.05)),
            ("no number of points", (10.0, 0.1)),
            ("radius", (-1, 0.1)),
            ("alpha", (0.1, 0.7)),
        ):
            with self.assertRaisesRegex(CertregError, said):
                calibrated.interval(X[0], *arguments)
        with self.assertRaisesRegex(ValueError, "truth has shape"):
            calibrated.covers(X[0], [1, 2], 0.05, 0.2)
        with self.assertRaisesRegex(CertregError, "samples"):
            calibrated.interval(X[0], 0.05, 0.2, samples=12)

    def test_a_failing_model_and_a_cancel_end_the_calibration(self):
        X, y = points(12)

        def broken(x):
            raise ZeroDivisionError("a slip")

        with self.assertRaisesRegex(ZeroDivisionError, "a slip"):
            Calibrated(broken, X, y, SIGMA, samples=5)
        with self.assertRaises(CertregError) as caught:
            Calibrated(lambda x: x[:, 0] * np.nan, X, y, SIGMA, samples=5)
        self.assertEqual(caught.exception.status, Status.NOT_FINITE)
        with self.assertRaises(CertregError) as caught:
            Calibrated(linear, X, y, SIGMA, samples=5, progress=lambda done, total: done == 3)
        self.assertEqual(caught.exception.status, Status.CANCELLED)

    def test_failed_outputs_can_be_counted(self):
        X, y = points(40)

        def flaky(x):
            return np.where(x[:, 0] > 1.8, np.nan, linear(x))

        flags, seeds = certreg.PLAN_COUNT_FAILURES, dict(seed=1, inputs_seed=2)
        with Calibrated(flaky, X, y, SIGMA, samples=31, flags=flags, **seeds) as calibrated:
            interval = calibrated.interval([1.5, 0, 0, 0], 0.1, 0.1)
            self.assertGreater(interval.failed, 0)
            everything = calibrated.interval([5, 0, 0, 0], 0.1, 0.1)
            self.assertEqual((everything.lo, everything.hi), (-np.inf, np.inf))

    def test_ranks_tell_how_many_points_are_needed(self):
        needed = interval_ranks(0.25, 0.5, 500, alpha=0.01, samples=11).least_points
        with self.assertRaisesRegex(CertregError, f"at least {needed}"):
            interval_ranks(0.25, 0.5, needed - 1, alpha=0.01, samples=11)
        ranks = interval_ranks(0.25, 0.5, needed, alpha=0.01, samples=11)
        self.assertLessEqual(ranks.alpha, 0.01)

    def test_what_is_advised_helps(self):
        helped = set()
        for radius, samples, calibration_samples, points, alpha in itertools.product(
            (0, 1, 20), (1, 11), (1, 31), (5, 10**6), (1e-4, 0.1)
        ):
            asked = dict(samples=samples, calibration_samples=calibration_samples, alpha=alpha)
            asked.update(radius=radius, sigma=1, points=points)
            try:
                interval_ranks(**asked)
            except CertregError as error:
                for change in remedies(str(error), calibration_samples):
                    with self.subTest(error=error, change=change):
                        self.assertLessEqual(interval_ranks(**{**asked, **change}).alpha, 0.5)
                    helped.update(change)
        self.assertEqual(helped, {"points", "samples", "calibration_samples", "radius", "alpha"})


REMEDIES = {
    "samples": "([0-9]+) samples of a new input",
    "calibration_samples": "([0-9]+) samples? of each calibration point",
    "radius": "a radius of ([-+.e0-9]+)",
    "alpha": "an alpha of ([-+.e0-9]+)",
}


def remedies(text, calibration_samples):
    """The changes of arguments that an error of interval_ranks names."""
    found = re.search(r"(?:least (\d+))?: (with more points )?take (.*)$", text)
    least, more, said = found.groups()
    if said == "as many samples of a new input as of each calibration point, and a smaller radius":
        yield dict(points=10**6, samples=calibration_samples, radius=0)
        return
    for remedy in said.split(", or "):
        if remedy == "as many":
            yield dict(points=int(least))
        else:
            tried = {name: re.fullmatch(said, remedy) for name, said in REMEDIES.items()}
            change = {name: float(found[1]) for name, found in tried.items() if found}
            yield dict(change, points=2**50) if more else change


if __name__ == "__main__":
    run()

"""The choice of scale and sigma."""

import contextlib
import io
import math
import runpy
import unittest

import numpy as np

from support import no_warnings, package, root, run
import certreg
from certreg import Question, RowsError, certify_rows, tune_scale
from certreg.sensitivity import sensitivities

RNG = np.random.default_rng(3)
X = RNG.normal(size=(45, 4)).astype(np.float32)
SLOPES = np.array([4, 2, 1, 0.5], np.float32)
BEST = 1 / SLOPES / np.exp(np.mean(np.log(1 / SLOPES)))  # theory 1.8
SHARES = SLOPES**2 / np.sum(SLOPES**2)
SIGMAS = [0.1, 0.2, 0.4]


def linear(x):
    return x @ SLOPES


def curved(x):
    """Some features matter ten times more than others, in ways that depend on the input."""
    return 3 * np.sin(x[:, 0]) + x[:, 1] * x[:, 0] + 0.3 * x[:, 2] ** 2 + 0.3 * x[:, 3]


def tuned(model=linear, x=X, question=1.0, sigmas=SIGMAS, **more):
    more = {"samples": 500, "seed": 1, "progress": False, **more}
    return tune_scale(model, x, question, sigmas, **more)


def limits(model, x, sigma, question, **more):
    """The sensitivities of all features, each a group of its own."""
    kept = dict(keep_records=True, progress=False, seed=1)
    rows = certify_rows(model, x, sigma, question, samples=4000, **kept, **more)
    return sensitivities(rows, np.eye(x.shape[1], dtype=np.float32))


class Sensitivities(unittest.TestCase):
    """Theory 1.8: their closed forms for linear models, whatever sigma and scale are."""

    def test_they_are_shares_of_the_squared_gradient(self):
        for sigma in (0.2, 0.3):
            np.testing.assert_allclose(limits(linear, X[:20], sigma, 1.0), SHARES, atol=0.05)

    def test_they_follow_the_scale_and_leave_out_masks(self):
        scale = np.float32([0.25, 0, 1, 2])
        found = limits(linear, X[:20], 0.3, 1.0, scale=scale)
        np.testing.assert_allclose(found, np.array([1, 0, 1, 1]) / 3, atol=0.05)

    def test_they_are_about_the_limiting_side(self):
        def one_sided(x):
            return np.where(x[:, 0] > 0, -4 * x[:, 0], 2 * np.abs(x[:, 1]))

        here = Question(1.0, prediction=0)
        down, up = limits(one_sided, np.zeros((20, 2)), 0.3, here)
        self.assertGreater(down, 0.2)
        self.assertLess(abs(up), 0.02)

    def test_they_are_about_the_output_of_the_question(self):
        def two(x):
            return np.stack([x[:, 1], linear(x)], 1)

        found = limits(two, X[:20], 0.15, Question(1.0, output=1), outputs=2)
        np.testing.assert_array_equal(found, limits(linear, X[:20], 0.15, 1.0))

    def test_angles_go_round_the_circle(self):
        def turning(x):
            return (20 * linear(x)) % 360 - 180  # at 0 it jumps

        turn = dict(kind="angle", lo=-180, hi=180)
        found = limits(turning, 0.01 * X[:20], 0.2, 20, **turn)
        np.testing.assert_allclose(found, SHARES, atol=0.05)

    def test_outputs_that_failed_are_outside(self):
        def fails(x):
            return np.where(linear(x) > 1, np.nan, linear(x))

        at = Question(1.0, prediction=0)
        counted = dict(flags=certreg.PLAN_COUNT_FAILURES)
        found = limits(fails, np.zeros((9, 4)), 0.15, at, **counted)
        np.testing.assert_allclose(found / found.sum(), SHARES, atol=0.05)


class Records(unittest.TestCase):
    def kept(self, f, **more):
        more = dict(samples=30, keep_records=True, seed=1, progress=False, **more)
        return certify_rows(f, X[:5], [0.1, 0.2], 1.0, **more)

    def test_they_hold_the_outputs_of_the_model(self):
        called = []

        def two(x):
            called.append(np.stack([linear(x), x[:, 0]], 1))
            return called[-1]

        rows = self.kept(two, outputs=2)
        names = [(record.row, record.sigma_index) for record in rows.records]
        self.assertEqual(names, [(row, k) for row in range(5) for k in range(2)])
        outputs = [record.outputs(2) for record in rows.records]
        np.testing.assert_array_equal(np.concatenate(outputs), np.concatenate(called))

    def test_rows_that_failed_have_none(self):
        rows = self.kept(lambda x: np.where(linear(x) > 2, np.nan, 0))
        none = {(r.row, r.sigma_index) for r in rows.records if not len(r.outputs(1))}
        self.assertEqual(none, set(rows.errors))
        self.assertTrue(0 < len(none) < len(rows.records))

    def test_failures_that_count_are_nan(self):
        def fails(x):
            return np.where(linear(x) > 2, np.nan, 0)

        rows = self.kept(fails, flags=certreg.PLAN_COUNT_FAILURES)
        outputs = [np.isnan(r.outputs(1)).mean() for r in rows.records]
        self.assertTrue(0 < np.mean(outputs) < 1)

    def test_they_are_kept_on_request_only(self):
        self.assertEqual(certify_rows(linear, X[:2], 0.1, 1.0, progress=False).records, [])


class Best(unittest.TestCase):
    def test_it_is_found_for_a_linear_model(self):
        t = tuned()
        self.assertTrue(t.changed)
        np.testing.assert_allclose(t.scale, BEST, rtol=0.12)
        np.testing.assert_allclose(t.shares, SHARES, atol=0.05)
        gain = math.sqrt(np.mean(SLOPES**2)) / np.exp(np.mean(np.log(SLOPES)))
        self.assertAlmostEqual(t.gain, gain, delta=0.06 * gain)
        self.assertLess(t.gain_error, 0.05)

    def test_it_is_found_for_groups(self):
        t = tuned(groups=["a", "b", "b", "a"])
        norms = np.sqrt([(16 + 0.25) / 2, (4 + 1) / 2])
        best = np.sqrt(norms[0] * norms[1]) / norms
        self.assertEqual(t.groups, ("a", "b"))
        np.testing.assert_allclose(t.factors, best, rtol=0.05)
        np.testing.assert_allclose(t.scale, t.factors[[0, 1, 1, 0]], rtol=1e-6)

    def test_it_is_found_for_groups_of_different_sizes(self):
        t = tuned(groups=[1, 0, 0, 0])
        norms = np.sqrt([16, (4 + 1 + 0.25) / 3])
        self.assertEqual(t.groups, (1, 0))  # as they appear
        self.assertAlmostEqual(t.factors[0] / t.factors[1], norms[1] / norms[0], delta=0.03)
        self.assertAlmostEqual(np.log(t.factors) @ [1, 3], 0, places=9)

    def test_masks_stay_and_the_start_sets_the_unit(self):
        start = np.array([2, 0, 1, 5])
        t = tuned(scale=start)
        self.assertEqual(t.scale[1], 0)
        self.assertEqual(t.groups, (0, 2, 3))
        on = start > 0
        self.assertAlmostEqual(np.log(t.scale[on] / start[on]).sum(), 0, places=5)
        even = t.scale[on] * SLOPES[on]
        np.testing.assert_allclose(even / even.mean(), 1, atol=0.1)

    def test_a_limit_holds(self):
        t = tuned(lambda x: 3 * x[:, 0], limit=1.5)
        self.assertLessEqual(t.factors.max(), 1.5 + 1e-9)
        self.assertGreaterEqual(t.factors.min(), 1 / 1.5 - 1e-9)
        self.assertAlmostEqual(t.factors[0], 1 / 1.5, places=6)
        self.assertAlmostEqual(np.log(t.factors).sum(), 0, places=9)

    def test_equal_sensitivities_lose_nothing(self):
        for seed in range(1, 4):
            t = tuned(lambda x: x.sum(1), seed=seed)
            self.assertLess(abs(t.gain - 1), 0.03)
            if not t.changed:
                np.testing.assert_array_equal(t.scale, 1)

    def test_angles_are_followed_round_the_circle(self):
        def turning(x):
            return (20 * linear(x)) % 360 - 180  # at 0 it jumps

        t = tuned(turning, 0.01 * X, question=20, kind="angle", lo=-180, hi=180)
        np.testing.assert_allclose(t.scale, BEST, rtol=0.15)

    def test_shapes_of_images_are_kept(self):
        images = X.reshape(-1, 2, 2)
        t = tuned(lambda x: linear(x.reshape(len(x), 4)), images, groups=[[0], [1]])
        self.assertEqual(t.scale.shape, (2, 2))
        norms = np.sqrt([(16 + 4) / 2, (1 + 0.25) / 2])
        self.assertAlmostEqual(t.factors[0] / t.factors[1], norms[1] / norms[0], delta=0.05)


class Honest(unittest.TestCase):
    def test_other_inputs_gain_what_is_said(self):
        t = tuned(curved, sigmas=[0.1, 0.2, 0.4, 0.8], x=RNG.normal(size=(60, 4)))
        others = np.random.default_rng(8).normal(size=(60, 4))

        def mean_radius(sigma, scale):
            rows = certify_rows(
                curved, others, sigma, 1.0, samples=500, scale=scale, seed=9, progress=False
            )
            return rows["radius"].mean()

        before = max(mean_radius(sigma, None) for sigma in (0.1, 0.2, 0.4, 0.8))
        gain = mean_radius(t.sigma, t.scale) / before
        self.assertGreater(gain, 1.2)
        self.assertLess(abs(gain - t.gain), 4 * t.gain_error + 0.1)

    def test_rows_that_are_held_back_choose_nothing(self):
        held = np.arange(len(X)) % 3 == 2
        moved = np.where(held[:, None], X + 0.5, X)
        a, b = tuned(curved), tuned(curved, moved)
        for one, other in zip(a.history, b.history):
            np.testing.assert_array_equal(one.factors, other.factors)
            self.assertEqual(one.mean_radius, other.mean_radius)
        self.assertNotEqual(a.gain, b.gain)

    def test_accuracy_comes_first_with_labels(self):
        def blurred(x):  # at a large sigma the mean is far from the value at the input
            return np.where(np.abs(x[:, 0]) < 0.15, 1, 0) + 0.1 * np.sin(x[:, 1])

        near, mean = X * np.float32([0.05, 1, 1, 1]), Question(0.4, statistic="mean")
        more = dict(x=near, question=mean, sigmas=[0.05, 3], limit=2, lo=-0.2, hi=1.2)
        free, right = tuned(blurred, **more), tuned(blurred, **more, labels=blurred(near))
        self.assertEqual((free.sigma, right.sigma), (3, 0.05))
        least = min(trial.mean_error for trial in right.history)
        for trial in right.history:
            self.assertTrue(not trial.kept or trial.mean_error <= least + 0.04)

    def test_a_change_without_a_clear_gain_is_not_made(self):
        refused = 0
        for seed in range(1, 7):
            t = tuned(lambda x: x.sum(1), X[:15], samples=60, seed=seed)
            if not t.changed:
                np.testing.assert_array_equal(t.scale, 1)
                self.assertLessEqual(t.gain, 1 + 2 * t.gain_error)
                refused += bool((t.factors != 1).any())
        self.assertGreater(refused, 0)

    def test_trials_in_which_rows_fail_are_not_chosen(self):
        def fails(x):
            return np.where(np.abs(x[:, 3]) > 3.5, np.nan, linear(x))

        near = X * 0.1
        near[0, 3] = 2  # this row alone fails first, while the mean radius still grows
        t = tuned(fails, near)
        self.assertTrue(any(trial.failed for trial in t.history))
        self.assertFalse(any(trial.failed and trial.kept for trial in t.history))
        self.assertTrue(t.changed)


class Runs(unittest.TestCase):
    def test_the_same_seed_gives_the_same_scale(self):
        a, b, c = tuned(), tuned(), tuned(seed=2)
        np.testing.assert_array_equal(a.scale, b.scale)
        self.assertEqual((a.sigma, a.gain), (b.sigma, b.gain))
        self.assertFalse(np.array_equal(a.factors, c.factors))

    def test_processes_change_nothing(self):
        a = tuned(curved, x=X[:12], rounds=1, samples=100)
        b = tuned(curved, x=X[:12], rounds=1, samples=100, jobs=2)
        np.testing.assert_array_equal(a.scale, b.scale)
        self.assertEqual(a.gain, b.gain)

    def test_the_best_scale_is_tried_at_every_sigma(self):
        t = tuned(rounds=1)
        best = [trial for trial in t.history if trial.kept][-1]
        same = [h.sigma for h in t.history if np.array_equal(h.factors, best.factors)]
        self.assertEqual(sorted(same), SIGMAS)
        radii = [trial.mean_radius for trial in t.history]
        self.assertEqual(best.mean_radius, max(radii))

    def test_a_step_that_does_not_help_is_halved(self):
        halved = 0
        for seed in range(1, 5):
            t = tuned(lambda x: x @ [3, 2, 2, 2], X[:15], sigmas=[0.2], samples=100, seed=seed)
            logs, at = [np.log(trial.factors) for trial in t.history], 0
            for k in range(1, len(logs) - 1):
                if t.history[k].kept:
                    at = k
                elif not t.history[k - 1].kept or at == k - 1:
                    steps = logs[k] - logs[at], logs[k + 1] - logs[at]
                    np.testing.assert_allclose(steps[1], steps[0] / 2, atol=1e-6)
                    halved += 1
        self.assertGreater(halved, 0)

    def test_calls_are_bounded_and_counted(self):
        called, seen = [], []

        def counted(x):
            called.append(len(x))
            return curved(x)

        t = tuned(counted, rounds=3, progress=lambda *done: seen.append(done))
        most = (2 * 3 + 2 * 3) * 30 + 2 * 15
        self.assertLessEqual(t.model_calls, most * 500)
        self.assertEqual(sum(called), t.model_calls)
        self.assertEqual(seen[-1], (most, most))
        self.assertEqual(sorted(seen), seen)

    def test_progress_can_cancel(self):
        def cancel(done, _):
            if done > 100:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            tuned(progress=cancel)

    def test_frames_have_groups_by_their_columns(self):
        frame = package("pandas").DataFrame(X, columns=["a", "b", "c", "d"])
        frame["kind"] = ["x", "y", "z"] * 15
        t = tuned(lambda x: linear(x[["a", "b", "c", "d"]].to_numpy()), frame)
        self.assertEqual(t.groups, ("a", "b", "c", "d"))
        np.testing.assert_allclose(t.scale, [*BEST, 0], rtol=0.12)

    def test_one_group_chooses_sigma_only(self):
        t = tuned(groups=0)
        self.assertEqual((t.changed, t.gain, len(t.history)), (False, 1, 3))

    def test_the_example_runs(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            runpy.run_path(str(root / "examples/python/scale.py"))
        longer = r"sigma 0\.5, radii (1\.[5-9]|2\.[0-4])\d times as long\n"
        self.assertRegex(said.getvalue(), longer)
        self.assertRegex(said.getvalue(), r"garden +0 -> 0\.0\n")

    def test_it_can_be_printed(self):
        with no_warnings():
            self.assertRegex(str(tuned(rounds=1)), r"group +share +factor\n(.*\n)+sigma .*, gain")


WRONG = X.copy()
WRONG[13, 2] = np.nan


class Refusals(unittest.TestCase):
    def refused(self, kind, sentence, **more):
        with self.assertRaisesRegex(kind, sentence):
            tuned(**more)

    def test_arguments(self):
        for kind, sentence, more in (
            (ValueError, "X has 11 rows; give at least 12", {"x": X[:11]}),
            (ValueError, r"groups has shape \(3,\)", {"groups": [1, 2, 3]}),
            (TypeError, "groups must hold names or whole", {"groups": [0.5, 1, 1, 1]}),
            (TypeError, "groups must hold names or whole", {"groups": [math.nan] * 4}),
            (ValueError, "65 groups; give at most 64", {"x": np.ones((12, 65))}),
            (ValueError, "scale must hold finite", {"scale": 0}),
            (ValueError, "scale must hold finite", {"scale": [1, 1, 1, -1]}),
            (ValueError, "scale must hold finite", {"scale": [1, 1, 1, math.inf]}),
            (ValueError, r"scale has shape \(3,\)", {"scale": [1, 1, 1]}),
            (ValueError, "limit is 1;", {"limit": 1}),
            (ValueError, "rounds is 0", {"rounds": 0}),
            (ValueError, "one number or several", {"sigmas": []}),
            (ValueError, "one number or several", {"sigmas": [0.1, 0.1]}),
            (ValueError, "sigma is -1; it must be positive", {"sigmas": [-1, 0.1]}),
            (TypeError, "sigmas must be a number", {"sigmas": ["a"]}),
            (ValueError, r"labels has shape \(3,\)", {"labels": [1, 2, 3]}),
            (ValueError, r"labels\[0\] is nan; it must be finite", {"labels": [math.nan] * len(X)}),
            (ValueError, "slack is -1", {"slack": -1}),
            (ValueError, "about all outputs", {"question": Question(1, output=-1)}),
            (ValueError, "has a target", {"question": Question(1, target=0.1)}),
            (ValueError, "output is 1", {"question": Question(1, output=1)}),
            (ValueError, r"X\[13, 2\] is nan; it must be finite", {"x": WRONG}),
            (TypeError, "X must hold numbers", {"x": [["a", "b"]] * 12}),
            (TypeError, "resume", {"resume": "file"}),
            (TypeError, "domain", {"domain": "certify"}),
            (TypeError, "radius", {"radius": 0.1}),
            (TypeError, "noise_id", {"noise_id": 3}),
        ):
            with self.subTest(sentence=sentence, more=more):
                self.refused(kind, sentence, **more)

    def test_models_that_cannot_be_tuned(self):
        self.refused(ValueError, "no output leaves", model=lambda x: np.ones(len(x)))
        self.refused(ValueError, "no input is certified", model=lambda x: 1e3 * linear(x))
        said = "fail at every sigma, the first because row 0: .*output 0 is nan"
        self.refused(ValueError, said, model=lambda x: np.full(len(x), np.nan))

    def test_exceptions_of_the_model_name_the_row(self):
        def fails(x):
            if abs(x[:, 0].mean() - 100) < 1:
                raise ArithmeticError("too far")
            return linear(x)

        far = X.copy()
        far[10, 0] = 100
        with self.assertRaisesRegex(RowsError, "^row 10: the model raised Arith.*: too far$") as c:
            tuned(fails, far)
        self.assertEqual(c.exception.row, 10)
        self.assertIsInstance(c.exception.__cause__, ArithmeticError)


if __name__ == "__main__":
    run()

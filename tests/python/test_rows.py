"""certify_rows gives the same certificates as one Estimator, by any number of processes."""

import concurrent.futures
import math
import os
import pickle
import tempfile
import threading
import unittest

import numpy as np

from support import certreg, model, package, run, same
from certreg import (
    ALL_OUTPUTS,
    CertregError,
    Constraint,
    Domain,
    Outcome,
    Question,
    ResumeError,
    RowsError,
    Status,
    certify_rows,
)

X = np.random.default_rng(5).normal(size=(40, 3)).astype(np.float32)
HUBER = Question(0.5, statistic="huber", huber_width=0.2)
SAMPLES = 300


def rows_of(f=model, x=X, sigma=0.25, questions=0.5, **more):
    """All of them have the same noise, unless a test gives another seed."""
    more = dict(dict(samples=SAMPLES, seed=42, progress=False), **more)
    return certify_rows(f, x, sigma, questions, **more)


def bits(rows):
    return rows.certificates.tobytes()


class Made:
    """A model that cannot be pickled, and how often it was made in this process."""

    count = 0

    def __init__(self):
        type(self).count += 1
        self.lock = threading.Lock()

    def __call__(self, x):
        return model(x)


def makes_a_model():
    return Made()


def fails_at_row_7(x):
    if np.allclose(x.mean(axis=0), X[7], atol=0.2):
        raise OSError("the disk is gone")
    return model(x)


class Certificates(unittest.TestCase):
    def test_they_are_those_of_an_estimator(self):
        asked = [Question(0.5), HUBER, Question(0.1)]
        rows = rows_of(questions=asked)
        with certreg.Estimator(model, 3, SAMPLES, seed=42, batch=SAMPLES) as e:
            for i in (0, 7, 39):
                wanted = e.certify(X[i], 0.25, SAMPLES, *asked, noise_id=i)
                got = [rows.certificate(i, question=q) for q in range(3)]
                self.assertTrue(same(got, wanted))
        self.assertTrue(rows.done.all())
        self.assertEqual((len(rows), rows["radius"].shape, rows.errors), (40, (40, 1, 3), {}))

    def test_every_row_has_the_noise_of_its_index(self):
        rows = rows_of(x=np.repeat(X[:1], 30, axis=0))
        self.assertEqual(rows["noise_id"][:, 0, 0].tolist(), list(range(30)))
        self.assertEqual(len(np.unique(rows["estimate"])), 30)

    def test_parts_have_the_noise_that_they_have_together(self):
        whole, parts = rows_of(), [rows_of(x=X[:25]), rows_of(x=X[25:], noise_id=25)]
        self.assertEqual(b"".join(map(bits, parts)), bits(whole))

    def test_processes_threads_and_executors_give_the_same_bits(self):
        wanted = bits(rows_of(sigma=[0.25, 0.5], questions=[0.5, HUBER]))
        spawned = dict(jobs=3)
        threads = dict(executor=concurrent.futures.ThreadPoolExecutor(3))
        processes = dict(executor=concurrent.futures.ProcessPoolExecutor(2))
        for how in (spawned, threads, processes):
            self.assertEqual(
                bits(rows_of(sigma=[0.25, 0.5], questions=[0.5, HUBER], **how)), wanted
            )
        threads["executor"].shutdown()
        processes["executor"].shutdown()

    def test_several_sigmas_hold_together(self):
        rows = rows_of(sigma=[0.25, 0.5], questions=[0.5, HUBER])
        with certreg.Estimator(model, 3, SAMPLES, seed=42, batch=SAMPLES) as e:
            wanted = e.certify_sigmas(X[3], [0.25, 0.5], SAMPLES, 0.5, HUBER, noise_id=3)
        got = [[rows.certificate(3, q, k) for q in range(2)] for k in range(2)]
        self.assertTrue(same(got, wanted))
        self.assertEqual(rows.certificate(3).alpha, 0.025)

    def test_output_bounds_at_a_radius(self):
        rows = rows_of(questions=[0.5, HUBER], radius=0.1)
        with certreg.Estimator(model, 3, SAMPLES, seed=42, batch=SAMPLES) as e:
            e.begin(X[3], 0.25, 3)
            e.sample(0, SAMPLES)
            wanted = e.output_bounds(SAMPLES, 0.1, 0.5, HUBER)
        got = [rows.certificate(3, q) for q in range(2)]
        self.assertEqual([c.output_hi for c in got], [c.output_hi for c in wanted])
        self.assertEqual(got[0].radius, 0.1)
        self.assertTrue(got[0].output_lo < got[0].estimate < got[0].output_hi < math.inf)
        widths = (rows["output_hi"] - rows["output_lo"])[:, 0, 0]
        said = rows.summary()[0]
        self.assertEqual((said["bounded"], said["failed"], said["radius"]), (40, 0, 0.1))
        self.assertEqual(said["median_width"], np.median(widths))
        said = rows_of(radius=2.4).summary()[0]
        self.assertEqual((said["bounded"], said["median_width"]), (0, math.inf))

    def test_domains_have_noise_of_their_own(self):
        estimates = {
            rows_of(x=X[:1], domain=domain)["estimate"].item()
            for domain in ("certify", "calibration", Domain.ATTACK)
        }
        levels = rows_of(x=X[:1], sigma=[0.25, 0.5], domain="calibration").sampling.levels
        self.assertEqual(len(estimates), 3)
        self.assertEqual(levels, (Domain.CALIBRATION + 1, Domain.CALIBRATION + 2))

    def test_seeds_are_secret_and_reported(self):
        one, two = rows_of(seed=None), rows_of(seed=None)
        self.assertNotEqual(one.seed, two.seed)
        self.assertNotIn(str(one.seed), repr(one) + str(one))
        self.assertEqual(bits(rows_of(seed=one.seed)), bits(one))

    def test_models_of_images_get_images(self):
        shapes = set()

        def first_pixel(x):
            shapes.add(x.shape[1:])
            return x[:, 0, 0, 0]

        images = np.random.default_rng(1).random((4, 2, 3, 5))
        rows = rows_of(first_pixel, images, scale=np.ones((2, 3, 5)))
        self.assertEqual(shapes, {(2, 3, 5)})
        np.testing.assert_allclose(rows["estimate"][:, 0, 0], images[:, 0, 0, 0], atol=0.1)

    def test_factories_are_called_once_where_they_are_used(self):
        Made.count = 0
        wanted = bits(rows_of())
        self.assertEqual(bits(rows_of(makes_a_model)), wanted)
        self.assertEqual(Made.count, 1)
        self.assertEqual(bits(rows_of(makes_a_model, jobs=2)), wanted)
        self.assertEqual(Made.count, 1)  # the others were made in other processes

    def test_targets_stop_rows_early(self):
        rows = rows_of(questions=Question(0.5, target=0.1), samples=1000, batch=20, pilot=20)
        self.assertTrue((rows["samples"] < 1000).any())
        self.assertTrue((rows["radius"] >= 0.1).any())


class Frames(unittest.TestCase):
    """Rows of a DataFrame in which some columns get no noise."""

    def frame(self):
        pandas = package("pandas")
        kinds = np.array(["flat", "house", "castle"])[np.arange(40) % 3]
        return pandas.DataFrame(dict(area=X[:, 0].astype(float), kind=kinds, rooms=range(40)))

    def test_models_get_frames_in_every_process(self):
        frame = self.frame()
        frame["kind"] = frame["kind"].astype("category")
        wanted = rows_of(priced, frame, questions=5, scale={"area": 2})
        self.assertEqual(
            bits(rows_of(priced, frame, questions=5, scale={"area": 2}, jobs=2)), bits(wanted)
        )
        self.assertTrue((wanted["radius"] > 0).all())
        np.testing.assert_allclose(wanted["estimate"][:, 0, 0], priced(frame), atol=1)

    def test_other_values_that_stay_are_other_inputs(self):
        frame = self.frame()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.sqlite")
            rows_of(priced, frame, questions=5, resume=path)
            with self.assertRaisesRegex(ResumeError, r"arguments \(X\)"):
                rows_of(priced, frame.replace("castle", "palace"), questions=5, resume=path)
            with self.assertRaisesRegex(ResumeError, r"arguments \(X\)"):
                rows_of(
                    priced, frame.rename(columns=dict(rooms="floors")), questions=5, resume=path
                )


def priced(frame):
    return 10 * frame["area"] + (frame["kind"] == "castle") * 3.0 + len(frame.columns)


class Failures(unittest.TestCase):
    def test_rows_with_bad_outputs_fail_alone(self):
        def undefined(x):
            return np.where(np.abs(x[:, 0] - X[5, 0]) < 1e-5, np.nan, model(x))

        rows = rows_of(undefined, sigma=[0.25, 0.5])
        failed = np.flatnonzero((rows["status"] != 0).any(axis=(1, 2)))
        self.assertIn(5, failed)
        self.assertLess(len(failed), 20)
        self.assertEqual(rows.certificate(5).status, Status.NOT_FINITE)
        self.assertEqual(rows.certificate(5).radius, 0)
        for name in ("prediction", "estimate", "tolerance", "alpha"):  # no table averages them
            np.testing.assert_array_equal(np.isnan(rows[name]), rows["status"] != 0)
        self.assertIn("nan", rows.errors[5, 0])
        self.assertEqual(set(failed), {row for row, _ in rows.errors})
        self.assertEqual(rows.summary()[0]["failed"], sum(k == 0 for _, k in rows.errors))
        self.assertTrue(rows.done.all())

    def test_inputs_that_swallow_the_noise_fail_alone(self):
        x = X.copy()
        x[4, 1] = 1e9
        rows = rows_of(x=x)
        self.assertEqual(rows.certificate(4).status, Status.INVALID)
        self.assertEqual(rows.certificate(4).outcome, Outcome.ABSTAINED)
        self.assertIn("feature 1 of z", rows.errors[4, 0])
        self.assertEqual(np.flatnonzero(rows["status"][:, 0, 0]).tolist(), [4])

    def test_a_model_that_raises_ends_the_work_and_loses_nothing(self):
        for how in (dict(), dict(jobs=2)):
            with self.assertRaisesRegex(
                RowsError, "row 7: the model raised OSError: the disk"
            ) as c:
                rows_of(fails_at_row_7, **how)
            error = c.exception
            self.assertEqual((error.row, type(error.__cause__)), (7, OSError))
            self.assertTrue(error.rows.done[:7].all() or how)
            self.assertFalse(error.rows.done[7])
            whole = rows_of()
            kept = error.rows.done
            self.assertEqual(
                error.rows.certificates[kept].tobytes(), whole.certificates[kept].tobytes()
            )
            self.assertTrue((error.rows["radius"][~kept] == 0).all())
            self.assertTrue(np.isinf(error.rows["output_hi"][~kept]).all())

    def test_an_interrupt_keeps_what_is_done(self):
        seen = []

        def interrupted(x):
            seen.append(1)
            if len(seen) == 10:
                raise KeyboardInterrupt
            return model(x)

        with self.assertRaises(KeyboardInterrupt) as caught:
            rows_of(interrupted)
        self.assertEqual(int(caught.exception.rows.done.sum()), 9)

    def test_models_that_cannot_travel_are_named(self):
        lock = threading.Lock()
        with self.assertRaisesRegex(TypeError, "give a factory"):
            rows_of(lambda x: model(x) if lock else None, jobs=2)

    def test_a_factory_that_fails_says_why(self):
        for how in (dict(), dict(jobs=2)):
            with self.assertRaisesRegex(RowsError, "factory of the model raised ZeroDivisionError"):
                rows_of(makes_nothing, **how)


def makes_nothing():
    return 1 / 0


def exits(x):
    raise SystemExit(3)


class BadInput(unittest.TestCase):
    """Wrong arguments are refused with a sentence, before the model is called."""

    def refused(self, error, sentence, **wrong):
        def never(x):
            self.fail("the model was called")

        with self.assertRaisesRegex(error, sentence):
            rows_of(**dict(dict(f=never), **wrong))

    def test_rows(self):
        self.refused(ValueError, r"X has shape \(3,\); it must be \(rows, features\)", x=X[0])
        self.refused(ValueError, r"X has shape \(0, 3\)", x=X[:0])
        self.refused(TypeError, "X must hold numbers", x=[["a", "b"]])
        x = X.astype(np.float64)
        x[17, 2] = np.nan
        self.refused(ValueError, r"X\[17, 2\] is nan; it must be a finite float32", x=x)
        x[17, 2] = 1e300
        self.refused(ValueError, r"X\[17, 2\] is 1e\+300", x=x)

    def test_sigmas(self):
        for sigma in (0, -1, math.nan, math.inf):
            self.refused(ValueError, "sigma is .*; it must be positive", sigma=sigma)
        self.refused(TypeError, "sigma must be a number", sigma="large")
        self.refused(ValueError, "several different ones", sigma=[0.25, 0.25])
        self.refused(ValueError, "one number or several", sigma=[])

    def test_questions(self):
        self.refused(ValueError, "questions is empty", questions=[])
        self.refused(ValueError, "tolerance", questions=0)
        self.refused(ValueError, "tolerance", questions=Question(-1))
        self.refused(TypeError, "tolerance must be a number", questions="wide")
        self.refused(ValueError, "lo and hi", questions=Question(1, statistic="mean"))
        self.refused(ValueError, "radius", radius=-1.0)

    def test_the_gradient_comes_with_the_questions_that_need_it(self):
        wide = dict(samples=1500, x=X[:6])
        mean = dict(statistic="mean", method="paper", center="true_mean")
        for question, more in (
            (Question(0.5, constraints="ECGM"), {}),
            (Question(0.5, **mean), dict(lo=-99, hi=99)),
        ):
            rows = rows_of(questions=[0.5, question], **wide, **more)
            named = rows_of(questions=[0.5, question], constraints="ECGM", **wide, **more)
            self.assertEqual(bits(rows), bits(named))
            self.assertTrue((rows["constraints"][:, 0, 1] & Constraint.GRADIENT).any())
        for question in (0.5, Question(0.5, constraints="ECM")):
            self.assertEqual(rows_of(questions=question).sampling.constraints, 0)
        named = Question(0.5, constraints="ECGM")
        self.refused(ValueError, "constraints of the estimator", questions=named, constraints="ECM")

    def test_plans(self):
        self.refused(ValueError, r"scale has shape \(2,\)", scale=[1, 2])
        self.refused(ValueError, "samples is 0", samples=0)
        self.refused(TypeError, "samples must be an integer", samples=1.5)
        self.refused((ValueError, CertregError), "pilot", pilot=SAMPLES)
        self.refused(ValueError, "domain is 'attic'; it must be one of certify", domain="attic")
        self.refused(ValueError, "kind is 'turn'", kind="turn")
        self.refused(TypeError, "jobs must be an integer", jobs="all")
        with self.assertRaisesRegex(ValueError, "model is None"):
            rows_of(None)

    def test_vectors_need_a_prediction(self):
        ask = dict(statistic="ball_center", method="baseline", output=ALL_OUTPUTS)
        vector = Question(9, **ask)
        self.refused(
            ValueError,
            "question 1 is about a vector.* Estimator.prediction, .* or give prediction",
            questions=[0.5, vector],
            outputs=2,
        )
        given = [0.5, Question(9, prediction=(0, 0), **ask)]
        rows = rows_of(lambda x: x[:, :2], questions=given, outputs=2)
        self.assertTrue((rows["radius"][:, 0, 1] > 0).all())
        labels, sentence = np.zeros(40), "question 1 has no single prediction, so labels cannot"
        for call in (
            lambda: rows.label_errors(labels),
            lambda: rows.useful_radii(labels),
            lambda: rows.choose_sigma(1, labels=labels),
        ):
            with self.assertRaisesRegex(ValueError, sentence):
                call()
        self.assertEqual(rows.choose_sigma(0, labels=labels)[0], 0)

    def test_numbers_that_would_wrap(self):
        self.refused(
            ValueError, "noise_id is 9223372036854775800; the ids of all", noise_id=2**63 - 8
        )
        many = Question(0.5, bonferroni=2**53)
        self.refused(ValueError, "bonferroni times the number", questions=many, sigma=[0.25, 0.5])

    def test_inputs_are_copied(self):
        x = X.copy()
        changed = rows_of(x=x, progress=lambda done, rows: x.fill(7))
        self.assertEqual(bits(changed), bits(rows_of()))

    def test_a_model_that_exits_loses_nothing(self):
        with self.assertRaisesRegex(RowsError, "the model raised SystemExit: 3"):
            rows_of(exits)

    def test_outputs_of_a_wrong_shape(self):
        with self.assertRaisesRegex(RowsError, r"the model returned shape \(300, 3\)"):
            rows_of(lambda x: x)


class Result(unittest.TestCase):
    def test_it_is_told_in_dicts_and_in_a_summary(self):
        rows = rows_of(sigma=[0.25, 2.0], questions=[0.5, HUBER])
        list_ = rows.to_dicts()
        self.assertEqual(len(list_), 160)
        first = list_[0]
        self.assertEqual((first["row"], first["sigma"], first["question"]), (0, 0.25, 0))
        self.assertEqual((first["statistic"], first["outcome"]), ("median", "certified"))
        self.assertEqual(first["radius"], rows.certificate(0).radius)
        self.assertEqual({s["sigma"] for s in rows.summary()}, {0.25, 2.0})
        for said, radii in zip(rows.summary(), rows["radius"].reshape(40, 4).T):
            self.assertAlmostEqual(said["mean_radius"], radii.mean())
            self.assertEqual(said["certified"] + said["abstained"], 40)
        self.assertEqual(len(str(rows).splitlines()), 5)
        with self.assertRaisesRegex(KeyError, "no field 'radios'"):
            rows["radios"]

    def test_it_chooses_a_sigma(self):
        rows = rows_of(sigma=[0.02, 0.25, 2.0], domain="calibration")
        level, means, left_out = rows.choose_sigma()
        np.testing.assert_allclose(means, rows["radius"][:, :, 0].mean(axis=0))
        self.assertEqual((level, left_out), (int(np.argmax(means)), 0))

    def test_rows_that_failed_at_one_sigma_are_left_out_at_all(self):
        def undefined(x):
            return np.where(np.abs(x[:, 0]) > 3, np.nan, model(x))

        rows = rows_of(undefined, sigma=[0.25, 0.5], samples=100)
        failed = (rows["status"][:, :, 0] != 0).any(axis=1)
        self.assertTrue(0 < failed.sum() < 40)
        radii, labels = rows["radius"][~failed, :, 0], rows["prediction"][:, 0, 0]
        self.assertGreater(radii.mean(axis=0)[0], rows["radius"].mean(axis=0)[0, 0])
        labels[failed] = 1e6
        for chosen in (rows.choose_sigma(), rows.choose_sigma(labels=labels, slack=9)):
            np.testing.assert_allclose(chosen[1], radii.mean(axis=0))
            self.assertEqual(chosen[2], failed.sum())
        none = rows_of(lambda x: x[:, 0] * np.nan, x=X[:3], sigma=[0.25, 0.5])
        with self.assertRaisesRegex(ValueError, "each of the 3 rows failed at some sigma"):
            none.choose_sigma()

    def test_with_labels_only_right_predictions_count(self):
        rows = rows_of(sigma=[0.25, 2.0], questions=[0.5, 2.0])
        labels = rows["prediction"][:, 0, 0] + 0.4
        labels[::2] += 1
        errors = rows.label_errors(labels)
        np.testing.assert_allclose(errors, np.abs(rows["prediction"] - labels[:, None, None]))
        useful = rows.useful_radii(labels)
        self.assertFalse(useful[::2, 0, 0].any())
        np.testing.assert_array_equal(useful[1::2, 0, 0], rows["radius"][1::2, 0, 0])
        np.testing.assert_array_equal(useful[:, 0, 1], rows["radius"][:, 0, 1])
        with self.assertRaisesRegex(ValueError, r"labels has shape \(3,\); it must be \(40,\)"):
            rows.useful_radii([1, 2, 3])

    def test_sigma_is_chosen_by_error_first(self):
        def forgets(x):  # a parabola: the larger sigma, the farther the median
            return x[:, 0] ** 2

        x = np.zeros((5, 1), np.float32)
        rows = rows_of(forgets, x, [0.05, 0.1, 0.8], 3.0)
        labels = rows["prediction"][:, 0, 0]
        self.assertEqual(rows.choose_sigma()[0], 2)
        errors = rows.label_errors(labels).mean(axis=(0, 2))
        self.assertTrue(errors[0] < errors[1] < errors[0] + 0.3 < errors[2], errors)
        self.assertEqual(rows.choose_sigma(labels=labels)[0], 1)
        self.assertEqual(rows.choose_sigma(labels=labels, slack=0)[0], 0)
        self.assertEqual(rows.choose_sigma(labels=labels, slack=9)[0], 2)

    def test_errors_of_angles_go_round(self):
        def nearly_half_a_turn(x):
            return np.full(len(x), 179.0)

        for lo, hi in ((-180, 180), ([-180], [180])):
            rows = certify_rows(
                nearly_half_a_turn, X[:2], 0.25, 5, kind="angle", lo=lo, hi=hi, progress=False
            )
            self.assertEqual(rows.label_errors([-179, 170]).ravel().tolist(), [2, 9])
            self.assertEqual((rows.useful_radii([-179, 170]) > 0).ravel().tolist(), [True, False])

    def test_what_chooses_no_sigma(self):
        rows = rows_of(sigma=[0.05, 0.25])
        labels = np.zeros(40)
        labels[3] = math.nan
        for call in (rows.label_errors, rows.useful_radii, lambda y: rows.choose_sigma(labels=y)):
            with self.assertRaisesRegex(ValueError, r"labels\[3\] is nan"):
                call(labels)
        for question in (labels, [1, 2], 0.0):
            with self.assertRaisesRegex(TypeError, "question must be an index; give labels as lab"):
                rows.choose_sigma(question)
        with self.assertRaisesRegex(IndexError, "question is 1; it must be an index from 0 to 0"):
            rows.choose_sigma(1)
        with self.assertRaisesRegex(ValueError, "slack is -0.1; it must be at least 0"):
            rows.choose_sigma(labels=np.zeros(40), slack=-0.1)
        bounds = rows_of(radius=0.1)
        for call in (bounds.choose_sigma, lambda: bounds.useful_radii(np.zeros(40))):
            with self.assertRaisesRegex(ValueError, "are output bounds, which have no radii"):
                call()

    def test_it_becomes_a_frame(self):
        package("pandas")
        rows = rows_of(sigma=[0.25, 0.5])
        frame = rows.to_frame()
        self.assertEqual(frame.shape[0], 80)
        np.testing.assert_array_equal(frame.query("sigma == 0.5").radius, rows["radius"][:, 1, 0])

    def test_it_is_plotted(self):
        package("matplotlib")
        rows = rows_of(sigma=[0.25, 0.5])
        line = rows.plot().get_lines()[1]
        self.assertEqual(line.get_label(), "sigma 0.5")
        self.assertAlmostEqual(line.get_xdata().max(), rows["radius"][:, 1, 0].max())
        right = np.arange(40) % 2 == 0
        self.assertAlmostEqual(rows.plot(right).get_lines()[0].get_ydata().max(), 0.5)

    def test_it_survives_pickle(self):
        rows = rows_of()
        again = pickle.loads(pickle.dumps(rows))
        self.assertEqual((bits(again), again.seed), (bits(rows), rows.seed))

    def test_progress_is_told(self):
        told = []
        rows_of(progress=lambda done, rows: told.append((done, rows)))
        self.assertEqual(told[-1], (40, 40))
        self.assertEqual(sorted(told), told)


if __name__ == "__main__":
    run()

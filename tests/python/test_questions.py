"""Questions beyond one radius of one output, the ranges of arguments, and refusals."""

import gc
import math
import threading
import time
import unittest
import weakref

import numpy as np

from support import certreg, estimator, model, ORIGIN, run, same, SAMPLES, Z
from certreg import (
    Bisection,
    Bounds,
    CertregError,
    Constraints,
    Method,
    Outcome,
    Question,
    Solver,
    Statistic,
    Status,
    Stop,
)
from certreg.constants import LEVELS_OF_A_DOMAIN


class Beyond(unittest.TestCase):
    """What goes beyond one radius of one output from a fixed number of samples."""

    plain = dict(tolerance=0.5, alpha=0.1)

    def test_a_target_stops_sampling_early_and_is_forecast(self):
        for method in (certreg.Method.FINITE, certreg.Method.ANYTIME):
            q = Question(**self.plain, target=0.2, method=method)
            with estimator(max_samples=4000, batch=8, pilot=16) as e:
                e.begin(ORIGIN, 0.25)
                forecast = e.forecast(q)
                self.assertTrue(16 < forecast.least_samples < 200)
                self.assertEqual(forecast.expected_samples, math.inf)
                c = e.certify(4000, q)
                self.assertEqual(c.stop, Stop.TARGET)
                self.assertTrue(0.2 <= c.radius <= 0.5)
                self.assertTrue(forecast.least_samples <= c.samples < 500)

    def test_looks_are_the_callers(self):
        with estimator(max_samples=400, batch=1, pilot=16) as e:
            for looks in ((100, 250, 400), np.array([100, 250, 400])):
                target = certreg.Target(0.05, looks=looks)
                c = e.certify(ORIGIN, 0.25, 400, Question(**self.plain, target=target))
                self.assertEqual((c.samples, c.stop), (100, Stop.TARGET))
            for looks, why in (((250, 100), "must exceed"), ((), "len.target.looks")):
                target = certreg.Target(0.05, looks=looks)
                with self.assertRaisesRegex(CertregError, why):
                    e.certify(ORIGIN, 0.25, 400, Question(**self.plain, target=target))

    def test_what_is_served_has_a_smaller_radius(self):
        with estimator(max_samples=4000) as e:
            plain = e.certify(ORIGIN, 0.25, 4000, Question(**self.plain))
            serving = certreg.Serving(samples=101, failure_rate=0.01)
            served = e.certify(0, Question(**self.plain, serving=serving))
        self.assertTrue(0 < served.radius < plain.radius)

    def test_output_bounds_hold_at_a_given_radius(self):
        with estimator(max_samples=4000) as e:
            e.begin(ORIGIN, 0.25)
            c = e.output_bounds(4000, 0.2, Question(1, alpha=0.1))
            self.assertTrue(-0.3 < c.output_lo < -0.2 and 0.2 < c.output_hi < 0.3, c)
            self.assertEqual((c.radius, c.samples, c.limiting_side), (0.2, 4000, 0))
            near, _ = e.output_bounds(0, 0.1, Question(1, alpha=0.1), Question(1))
            self.assertTrue(c.output_lo < near.output_lo < near.output_hi < c.output_hi)
            for radius in (0, -1, math.nan):
                with self.assertRaisesRegex(CertregError, "radius"):
                    e.output_bounds(0, radius, 1)
            with self.assertRaisesRegex(CertregError, "target"):
                e.output_bounds(0, 0.1, Question(1, target=0.1))

    def test_several_sigmas_share_alpha_and_one_is_chosen(self):
        with estimator(max_samples=1000) as e:
            rows = [
                e.certify_sigmas(
                    ORIGIN, [0.1, 0.2, 0.4], 1000, Question(**self.plain), noise_id=10 * i
                )
                for i in range(4)
            ]
        self.assertEqual([c.sigma for c in rows[0]], [0.1, 0.2, 0.4])
        self.assertAlmostEqual(rows[0][0].alpha, 0.1 / 3)
        level, means = certreg.choose_sigma(rows)
        self.assertEqual(level, int(np.argmax(means)))
        self.assertAlmostEqual(means[level], np.mean([row[level].radius for row in rows]))
        with self.assertRaisesRegex(CertregError, "same noise levels"):
            certreg.choose_sigma([rows[0], rows[1][::-1]])
        with self.assertRaisesRegex(ValueError, "for each level"):
            certreg.choose_sigma([rows[0], rows[1][1:]])

    def test_integers_that_do_not_fit_are_refused(self):
        with estimator(max_samples=1000) as e:
            e.begin(ORIGIN, 0.25)
            for bad in (
                dict(bonferroni=2**64),
                dict(bonferroni=-1),
                dict(output=2**32),
                dict(serving=certreg.Serving(-1, 0.1)),
                dict(target=certreg.Target(0.1, looks=(-1,))),
            ):
                with self.assertRaisesRegex(ValueError, "it must be from"):
                    e.certify(1000, Question(**self.plain, **bad))
            for call in (
                lambda: e.certify(-1, 0.5),
                lambda: e.begin(ORIGIN, 0.25, 2**64),
                lambda: e.begin(ORIGIN, 0.25, -1),
                lambda: e.sample(-1, 1),
            ):
                with self.assertRaisesRegex(ValueError, "it must be from"):
                    call()
        for seed in (-1, 2**64):
            with self.assertRaisesRegex(ValueError, "seed"):
                estimator(max_samples=1000, seed=seed)

    def test_names_stand_for_members(self):
        asked = Question(
            0.5, statistic="Huber", huber_width=0.25, method="anytime", center="prediction"
        )
        self.assertEqual((asked.statistic, asked.method), (Statistic.HUBER, Method.ANYTIME))
        self.assertEqual(Question(1, statistic="circular mean").statistic, Statistic.CIRCULAR_MEAN)
        self.assertEqual(Question(1, constraints="ECGM").constraints, Constraints.ECGM)
        self.assertEqual(Question(1, constraints="gradient").constraints, 4)
        with estimator(lambda x: x[:, :2] + 4, kind="angle-pair", constraints="cg") as e:
            self.assertEqual(e.columns, 2)
            self.assertTrue(e.certify(ORIGIN, 0.25, SAMPLES, 0.5).certified)
            e.bounds(0.5, "upper")
        for field in ("statistic", "method", "center", "constraints"):
            with self.assertRaisesRegex(ValueError, f"{field} is 'medain'; it must be one of .*,"):
                Question(1, **{field: "medain"})
        with self.assertRaisesRegex(ValueError, "kind is 'turn'; it must be one of real, angle"):
            estimator(kind="turn")
        estimator(kind=np.array(0), progress=False).close()

    def test_members_of_another_enum_are_refused(self):
        for name, value in (
            ("method", certreg.Statistic.MEAN),
            ("statistic", certreg.Method.ANYTIME),
            ("center", certreg.Side.UPPER),
            ("constraints", certreg.Method.ANYTIME),
        ):
            with self.assertRaisesRegex(ValueError, f"{name} is .*must be one of"):
                Question(1.0, **{name: value})

    def test_a_statistic_is_not_chosen_for_each_input(self):
        for name in ("best", "Auto"):
            with self.assertRaisesRegex(ValueError, "one for all inputs, because"):
                Question(1, statistic=name)

    def test_constraints_are_not_chosen_for_each_input(self):
        for name in ("by_pilot", "best"):
            with self.assertRaisesRegex(ValueError, "it must be one of C, CG, ECM, ECGM, ECGHM,"):
                Question(1, constraints=name)
        with estimator(constraints="ECGM", max_samples=4000) as e:
            with self.assertRaisesRegex(CertregError, "of the question has unknown bits"):
                e.certify(Z, 0.25, 4000, Question(0.5, constraints=1 << 30))

    def test_names_of_published_methods_are_explained(self):
        for name in ("alpha_smoothing", "RS-Reg", "median_smoothing", "center smoothing"):
            for field in ("statistic", "method"):
                with self.assertRaisesRegex(
                    ValueError, "one of .* (.*RS-Reg are trimmed_mean, .*)"
                ):
                    Question(1, **{field: name})
        with self.assertRaisesRegex(ValueError, "projection_median$"):
            Question(1, statistic="medain")

    def test_integers_may_come_as_floats(self):
        with estimator(inputs=3.0, max_samples=2e3, batch=np.float64(100), pilot=250.0) as e:
            c = e.certify(Z, 0.25, 2e3, Question(0.5, bonferroni=2.0), noise_id=np.int8(3))
            self.assertEqual((c.samples, c.alpha, c.noise_id), (2000, 0.025, 3))
            for wrong in (1.5, "7", None, float("nan"), 1 + 0j):
                with self.assertRaisesRegex(TypeError, "must be an integer, not"):
                    e.sample(wrong, 1)
        for name in ("max_samples", "batch", "blocks", "flags"):
            with self.assertRaisesRegex(TypeError, f"{name} must be an integer, not 1.5"):
                estimator(**{name: 1.5})

    def test_what_is_no_number_is_said_so(self):
        with estimator() as e:
            with self.assertRaisesRegex(TypeError, "tolerance must be a number, not 'wide'"):
                e.certify(Z, 0.25, SAMPLES, Question("wide"))
            with self.assertRaisesRegex(TypeError, "z must hold numbers, not"):
                e.begin(["a", "b", "c"], 0.25)
            with self.assertRaisesRegex(TypeError, "scale must hold numbers"):
                estimator(scale="large")

    def test_inputs_may_have_a_shape(self):
        seen = set()
        image = np.arange(12.0).reshape(3, 2, 2) / 12

        def first(x):
            seen.add(x.shape[1:])
            return x[:, 0, 0, 1]

        with estimator(first, (3, 2, 2)) as e, estimator(lambda x: x[:, 1], 12) as flat:
            c = e.certify(image, 0.25, SAMPLES, 0.5)
            self.assertTrue(same(c, flat.certify(image.ravel(), 0.25, SAMPLES, 0.5)))
            self.assertEqual(e.draw(0, 5).shape, (5, 3, 2, 2))
            with self.assertRaisesRegex(
                ValueError, r"z has shape \(3, 4\); it must be \(3, 2, 2\)"
            ):
                e.begin(image.reshape(3, 4), 0.25)
        self.assertEqual(seen, {(3, 2, 2)})

    def test_domains_of_noise_share_nothing(self):
        with estimator() as e:
            drawn = []
            for level in (0, 1, certreg.Domain.CALIBRATION, certreg.Domain.ATTACK):
                e.begin(Z, 0.25, 0, level)
                drawn.append(e.draw(1, 50))  # sample 0 has no noise
            rows = np.concatenate(drawn)
            self.assertEqual(len(np.unique(rows, axis=0)), len(rows))

    def test_domains_of_noise_end_where_the_next_one_begins(self):
        begin = [*sorted(certreg.Domain), 1 << 20]  # the first level that there is not
        for domain, following in zip(begin, begin[1:]):
            self.assertLessEqual(domain + LEVELS_OF_A_DOMAIN, following)
        with estimator() as e:
            e.begin(Z, 0.25, 0, begin[-1] - 1)
            with self.assertRaisesRegex(CertregError, "level is 1048576"):
                e.begin(Z, 0.25, 0, begin[-1])
            with self.assertRaisesRegex(ValueError, "262144 sigmas; .* at most 262143"):
                e.certify_sigmas(Z, np.linspace(0.1, 1, LEVELS_OF_A_DOMAIN), SAMPLES, 0.5)

    def test_nothing_asked_is_said_so(self):
        with estimator(max_samples=1000) as e:
            with self.assertRaisesRegex(ValueError, "no question or no noise level"):
                e.certify(ORIGIN, 0.25, 1000)
            with self.assertRaisesRegex(ValueError, "no question or no noise level"):
                e.certify_sigmas(ORIGIN, [], 1000, 0.5)
            with self.assertRaisesRegex(CertregError, "target"):
                e.forecast(0.4)

    def test_certify_says_what_it_takes(self):
        with estimator() as e:
            for arguments in ((), (ORIGIN,), (ORIGIN, 0.25), ([],)):
                with self.assertRaisesRegex(TypeError, "total_samples"):
                    e.certify(*arguments)
            with self.assertRaisesRegex(TypeError, "noise_id"):
                e.certify(SAMPLES, 0.5, noise_id=1)  # which begins nothing
            with self.assertRaisesRegex(TypeError, "total_samples must be an integer"):
                e.certify(2000.5, 0.5)
            with self.assertRaises(CertregError) as caught:
                e.certify(SAMPLES, 0.5)
            self.assertEqual(caught.exception.status, Status.WRONG_STATE)
            with self.assertRaisesRegex(TypeError, "Serving"):
                e.certify(ORIGIN, 0.25, SAMPLES, Question(0.5, serving=(101, 0.01)))

    def test_outputs_share_one_radius_and_a_norm(self):
        lo, hi = [-9.0] * 3, [9.0] * 3
        with estimator(lambda x: x, max_samples=2000, outputs=3, lo=lo, hi=hi) as e:
            e.begin(ORIGIN, 0.25)
            combined, each = e.certify_outputs(
                2000, *[Question(0.3 + 0.1 * k, output=k, alpha=0.1) for k in range(3)]
            )
            self.assertEqual(combined.radius, min(c.radius for c in each))
            self.assertEqual(combined.alpha, 0.1)
            for method in (certreg.Method.ASYMPTOTIC, certreg.Method.FINITE):
                norm = e.certify(
                    0,
                    Question(
                        0.5,
                        output=certreg.ALL_OUTPUTS,
                        statistic=certreg.Statistic.MEAN,
                        method=method,
                        center=certreg.Center.TRUE_MEAN,
                    ),
                )
                self.assertTrue(0 < norm.radius < 0.5, norm)
            with self.assertRaisesRegex(CertregError, "each output"):
                e.certify_outputs(0, Question(0.3))

    def test_finite_bounds_of_every_statistic(self):
        with estimator(max_samples=4000, lo=-5.0, hi=5.0) as e:
            e.begin(ORIGIN, 0.25)
            for more in (
                dict(statistic=certreg.Statistic.HUBER, huber_width=0.25),
                dict(statistic=certreg.Statistic.MEAN),
                dict(constraints=certreg.Constraint.MEAN | certreg.Constraint.RANGE),
            ):
                c = e.certify(4000, Question(**self.plain, **more))
                self.assertTrue(0.1 < c.radius < 0.5, (more, c.radius))

    def test_radii_in_other_norms(self):
        with estimator(max_samples=1000, scale=[1.0, 2.0, 0.0]) as e:
            c = e.certify(ORIGIN, 0.25, 1000, 0.5)
        self.assertAlmostEqual(c.radius_l2, c.radius)
        self.assertAlmostEqual(c.radius_linf, c.radius / np.sqrt(1 + 0.25))


class Limits(unittest.TestCase):
    def test_questions_abstain_without_an_exception(self):
        with estimator() as e:
            c = e.certify(Z, 0.25, SAMPLES, Question(0.001))
        self.assertEqual((c.outcome, c.radius, c.certified), (Outcome.ABSTAINED, 0, False))

    def test_a_constant_is_certified(self):
        with estimator(lambda x: np.zeros(len(x))) as e:
            c = e.certify(Z, 0.25, SAMPLES, 100)
        self.assertTrue(c.certified)

    def test_batches_of_one_row(self):
        with estimator(batch=1, max_samples=100) as e:
            e.certify(Z, 0.25, 100, 0.5)
            self.assertEqual(e.run().batch, 1)

    def test_progress_counts_and_cancels(self):
        seen = []
        with estimator(progress=lambda done, total: seen.append((done, total))) as e:
            e.certify(Z, 0.25, SAMPLES, 0.5)
        self.assertEqual(seen[-1], (SAMPLES, SAMPLES))
        with estimator(progress=lambda done, total: done >= 1000) as e:
            c = e.certify(Z, 0.25, SAMPLES, 0.5)
            self.assertEqual(c.stop, Stop.CANCELLED)
            self.assertLess(c.samples, SAMPLES)

    def test_cancel_and_deadline_stop_early(self):
        with estimator() as e:
            e.cancel()
            self.assertEqual(e.certify(Z, 0.25, SAMPLES, 0.5).stop, Stop.CANCELLED)
            e.begin(Z, 0.25)
            e.cancel()
            with self.assertRaises(CertregError) as caught:
                e.sample(0, SAMPLES)
            self.assertEqual(caught.exception.status, Status.CANCELLED)
            self.assertEqual(e.certify(Z, 0.25, SAMPLES, 0.5).stop, Stop.ALL)
        with estimator(lambda x: (time.sleep(0.02), model(x))[1]) as e:
            e.begin(Z, 0.25)
            e.set_deadline(0.05)
            self.assertEqual(e.certify(SAMPLES, 0.5).stop, Stop.DEADLINE)

    def test_a_tick_without_samples_hands_its_prediction_on(self):
        with estimator() as e:
            e.set_deadline(1e-9)
            c = e.certify(Z, 0.25, SAMPLES, Question(0.5, prediction=0.75))
            self.assertEqual((c.stop, c.samples, c.estimate), (Stop.DEADLINE, 0, 0.75))
            e.set_deadline(0)
            next_tick = e.certify(Z, 0.25, SAMPLES, Question(0.5, prediction=c.estimate))
            self.assertEqual((next_tick.prediction, next_tick.noise_id), (0.75, 1))

    def test_an_estimator_goes_with_its_last_reference(self):
        gone = weakref.ref(estimator())
        gc.disable()
        self.assertIsNone(gone())
        gc.enable()

    def test_estimators_work_in_threads(self):
        answers = []

        def work():
            with estimator() as e:
                answers.append(e.certify(Z, 0.25, SAMPLES, 0.5))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(answers), 3)
        self.assertTrue(all(same(a, answers[0]) for a in answers))

    def test_another_thread_cancels(self):
        def cancelled(x):
            thread = threading.Thread(target=e.cancel)
            thread.start()
            thread.join()
            return model(x)

        with estimator(cancelled) as e:
            c = e.certify(Z, 0.25, SAMPLES, 0.5)
            self.assertEqual(c.stop, Stop.CANCELLED)
            self.assertLess(c.samples, SAMPLES)


class BadInput(unittest.TestCase):
    def refused(self, status, call, *arguments, **more):
        with self.assertRaises(CertregError) as caught:
            call(*arguments, **more)
        self.assertEqual(caught.exception.status, status)
        self.assertTrue(str(caught.exception))
        return caught.exception

    def test_outputs_that_are_not_finite_are_named(self):
        def broken(x):
            y = model(x)
            y[17] = np.nan
            return y

        with estimator(broken) as e:
            error = self.refused(Status.NOT_FINITE, e.certify, Z, 0.25, SAMPLES, 0.5)
            self.assertEqual((error.sample, error.row, error.output), (17, 17, 0))
            self.assertNotEqual(error.value, error.value)
            self.assertEqual([c.radius for c in error.certificates], [0])
        with estimator(broken, flags=certreg.PLAN_COUNT_FAILURES) as e:
            self.assertTrue(e.certify(Z, 0.25, SAMPLES, 0.5).certified)

    def test_outputs_out_of_range_are_named(self):
        with estimator(lo=-1, hi=1) as e:
            error = self.refused(Status.OUT_OF_RANGE, e.certify, Z, 0.25, SAMPLES, 0.5)
            self.assertGreater(error.value, 1)

    def test_wrong_dimensions_are_refused(self):
        with estimator() as e:
            for z in ([1, 2], np.zeros((2, 3)), 1.0, []):
                with self.assertRaises(ValueError, msg=str(z)):
                    e.begin(z, 0.25)
        for answer in (lambda x: x, lambda x: x[:-1, 0], lambda x: 1.0, lambda x: None):
            with estimator(answer) as e, self.assertRaises((ValueError, TypeError)):
                e.certify(Z, 0.25, SAMPLES, 0.5)
        for name, value in (("scale", [1, 2]), ("lo", [1, 2]), ("kind", [0, 0, 0])):
            with self.assertRaises(ValueError, msg=name):
                estimator(**{name: value})
        with estimator(None) as e:
            e.begin(Z, 0.25)
            with self.assertRaises(ValueError):
                e.record(0, np.zeros((4, 2)))

    def test_bad_settings_are_sentences(self):
        self.assertIn("max_samples", str(self.refused(Status.INVALID, estimator, max_samples=0)))
        self.assertIn("scale", str(self.refused(Status.INVALID, estimator, scale=-1)))
        with estimator() as e:
            self.assertIn("sigma", str(self.refused(Status.INVALID, e.begin, Z, -1)))
            self.refused(Status.WRONG_STATE, estimator().sample, 0, 10)
            error = self.refused(
                Status.INVALID, e.certify, Z, 0.25, SAMPLES, Question(-1), Question(0.5)
            )
            self.assertIn("tolerance", str(error))
            self.assertTrue(error.certificates[0].status == Status.INVALID)
            self.refused(Status.TOO_MANY, e.sample, 0, SAMPLES + 1)
        with Solver() as s, Bisection() as b:
            self.assertIn(
                "sigma", str(self.refused(Status.INVALID, b.within, Bounds(-1, variance_hi=1), 0.5))
            )
            self.refused(Status.INVALID, s.worst_case, Bounds(1, variance_hi=1), -1)

    def test_foreign_and_damaged_records_are_refused(self):
        with estimator() as e:
            e.begin(Z, 0.25)
            e.sample(0, 512)
            data = e.export()
            e.begin(Z, 0.5, 0)
            self.assertIn("sigma", str(self.refused(Status.MISMATCH, e.import_, data)))
            e.begin(Z, 0.25)
            self.assertIn("noise_id", str(self.refused(Status.MISMATCH, e.import_, data)))
            e.begin(Z, 0.25, 0)
            damaged = bytearray(data)
            damaged[-100] ^= 1
            for bad in (damaged, data[:-1], b"", b"nonsense"):
                self.refused(Status.CORRUPT, e.import_, bad)
            for same_bytes in (data, memoryview(data), np.frombuffer(data, np.uint8)):
                e.import_(same_bytes)

    def test_closed_handles_say_so(self):
        e, s, b = estimator(), Solver(), Bisection()
        for handle in (e, s, b):
            handle.close()
            handle.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            e.begin(Z, 0.25)
        for call in (s.worst_case, b.within):
            with self.assertRaisesRegex(ValueError, "closed"):
                call(Bounds(1, variance_hi=1), 1)


if __name__ == "__main__":
    run()

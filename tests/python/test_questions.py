"""What goes beyond one radius of one output, the limits of what is asked, and refusals."""

import gc
import threading
import time
import unittest
import weakref

import numpy as np

from support import certreg, estimator, model, ORIGIN, run, same, SAMPLES, Z
from certreg import Bounds, CertregError, Outcome, Question, Solver, Status, Stop


class Beyond(unittest.TestCase):
    """What goes beyond one radius of one output from a fixed number of samples."""

    plain = dict(tolerance=0.5, alpha=0.1)

    def test_a_wanted_radius_stops_early_and_is_forecast(self):
        for method in (certreg.Method.FINITE, certreg.Method.ANYTIME):
            q = certreg.Question(**self.plain, wanted=0.2, method=method)
            with estimator(max_samples=4000, batch=8, pilot=16) as e:
                e.begin(ORIGIN, 0.25)
                least, expected = e.forecast(q)
                self.assertTrue(16 < least < 200 and expected == np.inf)
                c = e.answer(q, samples=4000)
                self.assertEqual(c.stop, certreg.Stop.TARGET)
                self.assertTrue(0.2 <= c.radius <= 0.5 and least <= c.samples < 500)

    def test_looks_are_the_callers(self):
        with estimator(max_samples=400, batch=1, pilot=16) as e:
            c = e.certify(
                ORIGIN,
                0.25,
                400,
                certreg.Question(**self.plain, wanted=0.05, looks=(100, 250, 400)),
            )
            self.assertEqual((c.samples, c.stop), (100, certreg.Stop.TARGET))
            with self.assertRaisesRegex(certreg.CertregError, "ascend"):
                e.certify(
                    ORIGIN, 0.25, 400, certreg.Question(**self.plain, wanted=0.05, looks=(250, 100))
                )

    def test_reach_and_what_is_served(self):
        with estimator(max_samples=4000) as e:
            plain = e.certify(ORIGIN, 0.25, 4000, certreg.Question(**self.plain))
            served = e.answer(certreg.Question(**self.plain, served_samples=101, served_beta=0.01))
            reach = e.answer(
                certreg.Question(0.0, alpha=0.1, center=certreg.Center.REACH, at_radius=0.2)
            )
        self.assertTrue(0 < served.radius < plain.radius)
        self.assertTrue(-0.3 < reach.output_lo < -0.2 and 0.2 < reach.output_hi < 0.3, reach)

    def test_several_sigmas_share_alpha_and_one_is_chosen(self):
        with estimator(max_samples=1000) as e:
            rows = [
                e.certify_sigmas(
                    ORIGIN, [0.1, 0.2, 0.4], 1000, certreg.Question(**self.plain), noise_id=10 * i
                )
                for i in range(4)
            ]
        self.assertEqual([c.sigma for c in rows[0]], [0.1, 0.2, 0.4])
        self.assertAlmostEqual(rows[0][0].alpha, 0.1 / 3)
        level, means = certreg.choose_sigma(rows)
        self.assertEqual(level, int(np.argmax(means)))
        self.assertAlmostEqual(means[level], np.mean([row[level].radius for row in rows]))

    def test_integers_that_do_not_fit_are_refused(self):
        with estimator(max_samples=1000) as e:
            e.begin(ORIGIN, 0.25)
            for bad in (
                dict(bonferroni=2**32),
                dict(output=2**32),
                dict(served_samples=-1, served_beta=0.1),
                dict(wanted=0.1, looks=(-1,)),
            ):
                with self.assertRaisesRegex(ValueError, "does not fit"):
                    e.answer(certreg.Question(**self.plain, **bad), samples=1000)
            for call in (
                lambda: e.answer(0.5, samples=-1),
                lambda: e.begin(ORIGIN, 0.25, -1),
                lambda: e.sample(-1, 1),
            ):
                with self.assertRaisesRegex(ValueError, "does not fit"):
                    call()
        with self.assertRaisesRegex(ValueError, "seed"):
            estimator(max_samples=1000, seed=-1)

    def test_nothing_asked_is_said_so(self):
        with estimator(max_samples=1000) as e:
            with self.assertRaisesRegex(ValueError, "nothing to ask"):
                e.certify(ORIGIN, 0.25, 1000)
            with self.assertRaisesRegex(ValueError, "nothing to ask"):
                e.certify_sigmas(ORIGIN, [], 1000, 0.5)
            looked = e.certify(
                ORIGIN,
                0.25,
                1000,
                certreg.Question(**self.plain, wanted=0.05, looks=np.array([400, 1000])),
            )
            self.assertEqual(looked.samples, 400)
            with self.assertRaisesRegex(certreg.CertregError, "wanted"):
                e.forecast(0.4)

    def test_outputs_share_one_radius_and_a_norm(self):
        lo, hi = [-9.0] * 3, [9.0] * 3
        with estimator(lambda x: x, max_samples=2000, outputs=3, lo=lo, hi=hi) as e:
            e.begin(ORIGIN, 0.25)
            bonferroni, each = e.answer_outputs(
                *[certreg.Question(0.3 + 0.1 * k, output=k, alpha=0.1) for k in range(3)],
                samples=2000
            )
            self.assertEqual(bonferroni.radius, min(c.radius for c in each))
            self.assertEqual(bonferroni.alpha, 0.1)
            for method in (certreg.Method.ASYMPTOTIC, certreg.Method.FINITE):
                norm = e.answer(
                    certreg.Question(
                        0.5,
                        output=certreg.ALL_OUTPUTS,
                        statistic=certreg.Statistic.MEAN,
                        method=method,
                        center=certreg.Center.TRUE_MEAN,
                    )
                )
                self.assertTrue(0 < norm.radius < 0.5, norm)
            with self.assertRaisesRegex(certreg.CertregError, "outputs"):
                e.answer_outputs(certreg.Question(0.3))

    def test_finite_intervals_of_every_score(self):
        with estimator(max_samples=4000, lo=-5.0, hi=5.0) as e:
            e.begin(ORIGIN, 0.25)
            for more in (
                dict(statistic=certreg.Statistic.HUBER, huber_width=0.25),
                dict(statistic=certreg.Statistic.MEAN),
                dict(constraints=13),
            ):
                c = e.answer(certreg.Question(**self.plain, **more), samples=4000)
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
            self.assertEqual(e.certify(Z, 0.25, 100, 0.5).batch, 1)

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
            e.deadline(0.05)
            self.assertEqual(e.answer(0.5, samples=SAMPLES).stop, Stop.DEADLINE)

    def test_a_tick_without_samples_hands_its_prediction_on(self):
        with estimator() as e:
            e.deadline(1e-9)
            c = e.certify(Z, 0.25, SAMPLES, Question(0.5, prediction=0.75))
            self.assertEqual((c.stop, c.samples, c.estimate), (Stop.DEADLINE, 0, 0.75))
            e.deadline(0)
            self.assertEqual(
                e.certify(
                    Z, 0.25, SAMPLES, Question(0.5, prediction=c.estimate), noise_id=1
                ).prediction,
                0.75,
            )

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
        with estimator(lambda x: (time.sleep(0.01), model(x))[1], max_samples=100000) as e:
            threading.Timer(0.05, e.cancel).start()
            self.assertEqual(e.certify(Z, 0.25, 100000, 0.5).stop, Stop.CANCELLED)


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
        with estimator(broken, flags=certreg.COUNT_FAILURES) as e:
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
        with Solver() as s:
            self.assertIn(
                "sigma", str(self.refused(Status.INVALID, s.within, Bounds(-1, variance=1), 0.5))
            )
            self.refused(Status.INVALID, s.shift, Bounds(1, variance=1), -1)

    def test_foreign_and_damaged_records_are_refused(self):
        with estimator() as e:
            e.begin(Z, 0.25)
            e.sample(0, 512)
            data = e.export()
            e.begin(Z, 0.5)
            self.assertIn("sigma", str(self.refused(Status.MISMATCH, e.merge, data)))
            e.begin(Z, 0.25)
            damaged = bytearray(data)
            damaged[-100] ^= 1
            for bad in (damaged, data[:-1], b"", b"nonsense"):
                self.refused(Status.CORRUPT, e.merge, bad)
            e.merge(data)

    def test_closed_handles_say_so(self):
        e, s = estimator(), Solver()
        for handle in (e, s):
            handle.close()
            handle.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            e.begin(Z, 0.25)
        with self.assertRaisesRegex(ValueError, "closed"):
            s.within(Bounds(1, variance=1), 1)


if __name__ == "__main__":
    run()

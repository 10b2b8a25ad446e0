"""Attacks: both ends of the truth for models that break at a known radius."""

import math
import unittest

import numpy as np
from support import certreg, run

SCALE = np.array([1, 2, 0, 0.5], np.float32)
WEIGHTS = np.array([1, -0.5, 7, 0.5], np.float32)
Z = np.array([0.2, 0.4, 0, 1])
BREAKS = 0.8 / np.linalg.norm(WEIGHTS[[0, 1, 3]] * SCALE[[0, 1, 3]])


def linear(x):
    return x @ WEIGHTS


class Attacks(unittest.TestCase):
    def setUp(self):
        self.calls = 0

    def counted(self, x):
        self.calls += len(x)
        return linear(x)

    def make(self, model=linear, **more):
        return certreg.Estimator(model, 4, 2000, scale=SCALE, seed=3, batch=10, **more)

    def question(self):
        return certreg.Question(0.8, prediction=float(linear(Z.astype(np.float32))))

    def test_the_truth_lies_between_certified_and_broken(self):
        with self.make() as e:
            c = e.certify(Z, 0.5, 2000, self.question())
            found = e.attack(self.question(), 1500)
            self.assertTrue(found.broken)
            self.assertEqual(found.certified, c.radius)
            self.assertLessEqual(found.certified, BREAKS)
            self.assertGreaterEqual(found.radius, BREAKS)
            self.assertLess(found.radius, 1.4 * BREAKS)
            self.assertAlmostEqual(found.forecast / BREAKS, 1, delta=0.15)
            self.assertIs(found.stop, certreg.Stop.ALL)
            self.assertIn(found.side, (certreg.Side.LOWER, certreg.Side.UPPER))
            moving = SCALE > 0
            norm = np.linalg.norm(found.shift[moving].astype(float) / SCALE[moving])
            self.assertAlmostEqual(norm, found.radius, delta=1e-6)
            self.assertEqual(found.shift[2], 0)
            self.assertEqual(
                str(found), f"certified {found.certified:g}, broken at {found.radius:g}"
            )
            again = e.attack(self.question(), 1500)
            self.assertEqual(again, found)
            self.assertNotEqual(e.attack(self.question(), 1500, number=1).radius, found.radius)

    def test_calls_are_counted(self):
        with self.make(self.counted) as e:
            e.certify(Z, 0.5, 2000, self.question())
            self.calls = 0
            found = e.attack(self.question())
            self.assertEqual((self.calls, found.calls, found.radius), (0, 0, math.inf))
            self.assertIn("forecast", str(found))
            few = e.attack(self.question(), 400)
            self.assertLessEqual(few.calls, 400)
            more = e.attack(self.question(), 1500, alpha=0.01)
            self.assertEqual(more.alpha, 0.01)
            self.assertGreater(more.calls, 400)

    def test_a_direction_is_followed(self):
        along = WEIGHTS * SCALE
        with self.make() as e:
            e.certify(Z, 0.5, 2000, self.question())
            found = e.attack(self.question(), 600, direction=along)
            unit = along / np.linalg.norm(along)
            np.testing.assert_allclose(
                found.shift, np.linalg.norm(found.shift / np.where(SCALE, SCALE, 1)) * unit * SCALE,
                atol=1e-5,
            )
            self.assertEqual(found.cosine, 1)
            with self.assertRaises(ValueError):
                e.attack(self.question(), 600, direction=[1, 2])

    def test_gradients_have_the_shape_of_the_input(self):
        with certreg.Estimator(
            lambda x: linear(x.reshape(len(x), 4)), (2, 2), 40_000, lo=-99, hi=99, seed=1
        ) as e:
            question = certreg.Question(0.8, statistic="mean")
            e.certify(Z.reshape(2, 2), 0.5, 40_000, question)
            gradient = e.gradient(question, "lower")
            self.assertEqual(gradient.shape, (2, 2))
            np.testing.assert_allclose(gradient.ravel(), WEIGHTS, atol=0.2)
            np.testing.assert_array_equal(e.gradient(question, "upper"), -gradient)

    def test_what_cannot_be_attacked_is_refused(self):
        with self.make() as e:
            with self.assertRaisesRegex(certreg.CertregError, "begin"):
                e.attack(0.8, 500)
            e.certify(Z, 0.5, 2000, self.question())
            with self.assertRaisesRegex(certreg.CertregError, "at least"):
                e.attack(0.8, 3)
            with self.assertRaisesRegex(certreg.CertregError, "BASELINE|baseline|Method"):
                e.attack(certreg.Question(0.8, method="baseline"), 500)
            with self.assertRaises(TypeError):
                e.attack(0.8, "many")

    def test_a_refused_attack_is_no_evaluation_of_the_record(self):
        with self.make() as e:
            for calls, evaluated in ((3, False), (1500, True)):
                e.begin(Z, 0.5)
                e.sample(0, 900)
                if evaluated:
                    e.attack(self.question(), calls)
                    with self.assertRaisesRegex(certreg.CertregError, "900"):
                        e.certify(1000, self.question())
                else:
                    with self.assertRaisesRegex(certreg.CertregError, "at least"):
                        e.attack(self.question(), calls)
                    self.assertGreater(e.certify(1000, self.question()).radius, 0)

    def test_an_attack_that_does_not_fit_into_memory_spoils_no_other(self):
        with self.make() as e:
            e.certify(Z, 0.5, 2000, self.question())
            for calls in (1500, 10**18, 1500, 1600):
                if calls > 2000:
                    with self.assertRaisesRegex(certreg.CertregError, "memory"):
                        e.attack(self.question(), calls)
                else:
                    self.assertTrue(e.attack(self.question(), calls).broken)

    def test_exceptions_of_the_model_reach_the_caller(self):
        def fails(x):
            if self.failing:
                raise KeyError("from the model")
            return linear(x)

        self.failing = False
        with self.make(fails) as e:
            e.certify(Z, 0.5, 2000, self.question())
            self.failing = True
            with self.assertRaisesRegex(KeyError, "from the model"):
                e.attack(self.question(), 500)

    def test_the_model_cannot_call_its_estimator(self):
        seen = []

        def asks(x):
            if self.asking:
                for call in (lambda: e.attack(0.8, 500), e.run, e.close):
                    with self.assertRaises(certreg.CertregError) as caught:
                        call()
                    seen.append(caught.exception.status)
            return linear(x)

        self.asking = False
        with self.make(asks) as e:
            e.certify(Z, 0.5, 2000, self.question())
            self.asking = True
            self.assertTrue(e.attack(self.question(), 500).calls)
        self.assertEqual(set(seen), {certreg.Status.BUSY})

    def test_a_progress_function_stops(self):
        def progress(done, total):
            return total == 500 and done > 100

        with self.make(progress=progress) as e:
            e.certify(Z, 0.5, 2000, self.question())
            found = e.attack(self.question(), 500)
            self.assertIs(found.stop, certreg.Stop.CANCELLED)
            self.assertFalse(found.broken)
            self.assertIn("not broken", str(found))


if __name__ == "__main__":
    run()

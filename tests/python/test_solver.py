"""The solver and the bisection: from bounds to worst cases and radii."""

import math
import pickle
import unittest

import numpy as np

from support import estimator, ORIGIN, run, same, SAMPLES, Z
from certreg import (
    Bisection,
    Bounds,
    CertregError,
    Constraint,
    Constraints,
    Method,
    Outcome,
    PLAN_COUNT_FAILURES,
    Question,
    Region,
    Side,
    Solver,
    Statistic,
    Status,
)

BY_HAND = Bounds(
    0.5,
    mean_lo=0.95,
    mean_hi=1.05,
    variance_hi=2,
    gradient_lo=0.7,
    gradient_hi=0.85,
    range_lo=-3.2,
    range_hi=3.2,
)


class ByHand(unittest.TestCase):
    def test_the_mean_moves_by_the_tolerance_within_the_radius(self):
        with Solver() as s, Bisection() as b:
            r = b.within(BY_HAND, 0.5)
            self.assertEqual(
                (r.outcome, r.limiting_side, r.limiting), (Outcome.CERTIFIED, Side.LOWER, 0)
            )
            at = s.worst_case(BY_HAND, r.radius)
            self.assertLessEqual(max(at.drop, at.rise), 0.5)
            self.assertGreater(s.worst_case(BY_HAND, r.radius * 1.001).drop, 0.5)
            self.assertGreaterEqual(at.mean_least, 0.95 - at.drop)

    def test_fewer_constraints_give_less(self):
        with Solver() as s, Bisection() as b:
            all_of_them = b.within(BY_HAND, 0.5).radius
            self.assertLess(b.within(BY_HAND, 0.5, Constraints.C).radius, all_of_them)
            used = s.worst_case(BY_HAND, 0.1, Constraints.C).constraints
            self.assertEqual(used, Constraint.VARIANCE)

    def test_thresholds_are_for_each_function_or_for_all(self):
        low = Bounds(0.5, mean_lo=0.5, mean_hi=0.6, variance_hi=2)
        with Bisection() as b:
            one = b.above(BY_HAND, 0.45)
            self.assertTrue(same(one, b.above([BY_HAND], [0.45])))
            two = b.above([BY_HAND, low], 0.45)
            self.assertEqual((two.limiting, two.limiting_side), (1, 0))
            self.assertLess(two.radius, one.radius)
            self.assertGreater(b.above(BY_HAND).radius, one.radius)

    def test_options_are_those_of_the_plan(self):
        with Bisection() as b, Bisection(accuracy=0.1) as rough, Bisection(cap=0.01) as capped:
            fine = b.within(BY_HAND, 0.5).radius
            self.assertTrue(0.9 * fine <= rough.within(BY_HAND, 0.5).radius < fine)
            self.assertLess(rough.info().evaluations, b.info().evaluations)
            r = capped.within(BY_HAND, 0.5)
            self.assertEqual(r.outcome, Outcome.CAPPED)  # cap is in units of sigma
            self.assertTrue(0.005 * (1 - 1e-9) < r.radius <= 0.005)
        for make in (
            lambda: Bisection(accuracy=0.6),
            lambda: Solver(max_evaluations=1),
        ):
            with self.assertRaises(CertregError) as caught:
                make()
            self.assertEqual(caught.exception.status, Status.INVALID)

    def test_info_says_what_a_call_has_cost(self):
        with Solver() as s:
            self.assertEqual((s.info().evaluations, s.info().points), (0, 0))
            s.worst_case(BY_HAND, 0.1)
            info = s.info()
            self.assertTrue(info.evaluations > 0 and info.points > info.evaluations)
            self.assertEqual((info.loose, info.fallbacks), (0, 0))

    def test_wrong_bounds_are_refused(self):
        with Solver() as s, Bisection() as b:
            for status, call in (
                (Status.INVALID, lambda: b.within(Bounds(-1, variance_hi=1), 0.5)),
                (Status.INVALID, lambda: b.within(BY_HAND, 0)),
                (Status.INVALID, lambda: b.within(BY_HAND, math.nan)),
                (Status.INVALID, lambda: s.worst_case(BY_HAND, -1)),
                (Status.INVALID, lambda: b.above([])),
                (
                    Status.INFEASIBLE,
                    lambda: s.worst_case(
                        Bounds(1, mean_lo=2, mean_hi=3, range_lo=0, range_hi=1), 1
                    ),
                ),
            ):
                with self.assertRaises(CertregError) as caught:
                    call()
                self.assertEqual(caught.exception.status, status)
            with self.assertRaisesRegex(ValueError, "mean_lo and mean_hi .* together$"):
                s.worst_case(Bounds(1, mean_lo=0, variance_hi=1), 1)
            with self.assertRaisesRegex(ValueError, "; give gradient_lo=0 if only an upper bound"):
                s.worst_case(Bounds(1, variance_hi=1, gradient_hi=0.25), 1)
            for call in (s.worst_case, s.worst_function):
                with self.assertRaisesRegex(TypeError, "^radius must be a number, not 'a'$"):
                    call(BY_HAND, "a")
            with self.assertRaisesRegex(TypeError, "^tolerance must be a number, not 'a'$"):
                b.within(BY_HAND, "a")


class OfARecord(unittest.TestCase):
    question = Question(0.5, statistic=Statistic.MEAN, method=Method.ASYMPTOTIC)

    def test_bounds_of_a_record_give_its_radius(self):
        with estimator(constraints=Constraints.ECGM) as e, Bisection() as b:
            c = e.certify(Z, 0.25, SAMPLES, self.question)
            sides = [e.bounds(self.question, side) for side in (Side.LOWER, Side.UPPER)]
            r = b.above(sides)
            self.assertEqual(r.radius, c.radius)
            self.assertEqual(c.limiting_side, (Side.LOWER, Side.UPPER)[r.limiting])
            self.assertGreater(sides[0].gradient_hi, sides[0].gradient_lo)
            self.assertEqual(sides[0].samples, SAMPLES - e.run().pilot)

    def test_without_its_name_there_is_no_gradient(self):
        with estimator() as e:
            e.begin(Z, 0.25)
            e.certify(SAMPLES, self.question)
            bounds = e.bounds(self.question, Side.UPPER)
            self.assertIsNone(bounds.gradient_lo)
            self.assertFalse(bounds.constraints & Constraint.GRADIENT)
            with self.assertRaisesRegex(CertregError, "constraints"):
                e.certify(0, Question(0.5, constraints=Constraints.ECGM))

    def test_an_angle_has_near_sides(self):
        with estimator(kind=1) as e:
            e.certify(ORIGIN, 0.25, SAMPLES, 0.5)
            for side in (Side.NEAR_LOWER, Side.LOWER, Side.UPPER, Side.NEAR_UPPER):
                self.assertTrue(e.bounds(0.5, side).constraints & Constraint.MEAN, side)
        with estimator() as e:
            e.certify(ORIGIN, 0.25, SAMPLES, 0.5)
            for side in (Side.NEAR_LOWER, Side.EITHER, 0, 4):
                with self.assertRaisesRegex(CertregError, "side"):
                    e.bounds(0.5, side)

    def test_where_a_method_abstains_nothing_is_known(self):
        def fails(x):
            return np.where(x[:, 0] > 0.5, np.nan, x[:, 0])

        question = Question(0.5, statistic=Statistic.MEAN)
        with estimator(fails, flags=PLAN_COUNT_FAILURES, lo=-9, hi=9) as e:
            self.assertEqual(e.certify(ORIGIN, 0.25, SAMPLES, question).radius, 0)
            bounds = e.bounds(question, Side.LOWER)
            self.assertEqual((bounds.constraints, bounds.mean_lo), (0, None))


SCORE = Bounds(
    1.0,
    mean_lo=0.3,
    mean_hi=0.3,
    variance_hi=0.2,
    gradient_lo=0.25,
    gradient_hi=0.25,
    range_lo=0.0,
    range_hi=1.0,
)


class WorstFunctions(unittest.TestCase):
    """Worst functions, measured by a sum over a fine grid."""

    t = np.linspace(-12, 14, 520_001)

    def mean(self, values, center=0.0):
        density = np.exp(-0.5 * (self.t - center) ** 2) / math.sqrt(2 * math.pi)
        return float(np.sum(values * density) * (self.t[1] - self.t[0]))

    def test_they_keep_to_their_constraints_and_attain_the_bound(self):
        with Solver() as s:
            drop = s.worst_case(SCORE, 0.5).drop
            f = s.worst_function(SCORE, 0.5)
        u = f.values(self.t)
        self.assertAlmostEqual(self.mean(u), 0.3, places=4)  # the grid misses the breakpoints
        self.assertAlmostEqual(self.mean(u**2) - 0.3**2, 0.2, places=4)
        self.assertAlmostEqual(self.mean(u * self.t), -0.25, places=4)
        self.assertAlmostEqual(self.mean(u) - self.mean(u, 0.5), drop, places=4)
        self.assertEqual(f.bound, drop)
        self.assertGreaterEqual(f.change, drop * (1 - 1e-9))
        self.assertEqual((u.min(), u.max()), (0, 1))

    def test_fields_are_what_they_say(self):
        with Solver() as s:
            drops, rises = (s.worst_function(SCORE, 0.5, side) for side in ("lower", Side.UPPER))
        lo, between, hi = Region
        self.assertEqual(drops.regions, (lo, between, hi, between, lo))
        self.assertEqual(rises.regions, (hi, between, lo, between, hi))
        self.assertEqual(len(drops.breakpoints), 4)
        self.assertEqual(sorted(drops.breakpoints), list(drops.breakpoints))
        self.assertEqual((drops.side, rises.side), (Side.LOWER, Side.UPPER))
        self.assertEqual(drops.constraints, int(Constraints.ECGM))
        self.assertEqual(drops.tilt, 0.5)

    def test_values_are_those_of_the_formula(self):
        with Solver() as s:
            f = s.worst_function(SCORE, 0.5)
        t = np.linspace(-5, 5, 1001).reshape(7, 11, 13)
        v = np.expm1(0.5 * t - 0.125) - f.by_mean - f.by_gradient * t
        wanted = np.clip(0.3 - v / (2 * f.by_variance), 0, 1)
        np.testing.assert_allclose(f.values(t), wanted, atol=1e-9)
        self.assertEqual(f.values(t.tolist()).shape, t.shape)
        self.assertEqual(f.values(t[::2, ::3]).tolist(), f.values(t)[::2, ::3].tolist())
        self.assertIsInstance(f.values(0.25), float)
        self.assertTrue(math.isnan(f.values(math.inf)))
        self.assertEqual(f.values([]).shape, (0,))

    def test_they_are_values_that_can_be_pickled(self):
        with Solver() as s:
            f = s.worst_function(SCORE, 0.5, constraints="CG")
            again = pickle.loads(pickle.dumps(f))
            self.assertEqual(f, again)
            self.assertEqual(f.values(1.5), again.values(1.5))

    def test_what_has_none_is_refused(self):
        one_end = Bounds(1.0, mean_lo=0.3, mean_hi=0.3, range_lo=-math.inf, range_hi=1.0)
        with Solver() as s:
            for bounds, radius, side, says in (
                (SCORE, 0.0, "lower", "radius"),
                (SCORE, 0.5, 3, "side"),
                (one_end, 0.5, "upper", "no function"),
                (one_end, 0.5, "lower", "without a bound"),
            ):
                with self.assertRaisesRegex(CertregError, says):
                    s.worst_function(bounds, radius, side)
            with self.assertRaisesRegex(ValueError, "side is 'down'"):
                s.worst_function(SCORE, 0.5, "down")


if __name__ == "__main__":
    run()

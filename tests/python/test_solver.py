"""The solver and the bisection: from bounds to worst cases and radii."""

import math
import unittest

import numpy as np

from support import estimator, ORIGIN, run, same, SAMPLES, Z
from certreg import (
    Bisection,
    BISECTION_WARM_START,
    Bounds,
    CertregError,
    Constraint,
    Constraints,
    Method,
    Outcome,
    PLAN_COUNT_FAILURES,
    Question,
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
            lambda: Bisection(flags=2),
            lambda: Solver(max_evaluations=1),
        ):
            with self.assertRaises(CertregError) as caught:
                make()
            self.assertEqual(caught.exception.status, Status.INVALID)

    def test_a_warm_start_agrees_with_a_cold_one(self):
        with Bisection() as cold, Bisection(flags=BISECTION_WARM_START) as warm:
            starts = 0
            for k in range(5):
                tolerance = 0.5 + 0.01 * k
                a, b = cold.within(BY_HAND, tolerance), warm.within(BY_HAND, tolerance)
                self.assertAlmostEqual(a.radius / b.radius, 1, delta=1e-8)
                self.assertEqual(cold.info().warm_starts, 0)
                starts += warm.info().warm_starts
            self.assertGreater(starts, 0)

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
            with self.assertRaisesRegex(ValueError, "mean_lo and mean_hi"):
                s.worst_case(Bounds(1, mean_lo=0, variance_hi=1), 1)


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
            for side in Side:
                self.assertTrue(e.bounds(0.5, side).constraints & Constraint.MEAN, side)
        with estimator() as e:
            e.certify(ORIGIN, 0.25, SAMPLES, 0.5)
            for side in (Side.NEAR_LOWER, 0, 3):
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


if __name__ == "__main__":
    run()

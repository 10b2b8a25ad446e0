"""The solver and the bisection: from bounds to worst cases and radii."""

import math
import pickle

import numpy as np
import pytest

from kit import ORIGIN, SAMPLES, Z, estimator, near, parametrize, refused, same, undefined
from certreg import Bisection, Bounds, CertregError, Constraint, Constraints, Outcome, Question
from certreg import PLAN_COUNT_FAILURES, Region, Side, Solver, Status

MEAN = dict(mean_lo=0.95, mean_hi=1.05, variance_hi=2)
BY_HAND = Bounds(0.5, **MEAN, gradient_lo=0.7, gradient_hi=0.85, range_lo=-3.2, range_hi=3.2)


def test_the_mean_moves_by_the_tolerance_within_the_radius():
    with Solver() as s, Bisection() as b:
        r = b.within(BY_HAND, 0.5)
        assert (r.outcome, r.limiting_side, r.limiting) == (Outcome.CERTIFIED, Side.LOWER, 0)
        at = s.worst_case(BY_HAND, r.radius)
        assert max(at.drop, at.rise) <= 0.5 < s.worst_case(BY_HAND, r.radius * 1.001).drop
        assert at.mean_least >= 0.95 - at.drop


def test_fewer_constraints_give_less():
    with Solver() as s, Bisection() as b:
        assert b.within(BY_HAND, 0.5, Constraints.C).radius < b.within(BY_HAND, 0.5).radius
        assert s.worst_case(BY_HAND, 0.1, Constraints.C).constraints == Constraint.VARIANCE


def test_thresholds_are_for_each_function_or_for_all():
    low = Bounds(0.5, mean_lo=0.5, mean_hi=0.6, variance_hi=2)
    with Bisection() as b:
        one = b.above(BY_HAND, 0.45)
        assert same(one, b.above([BY_HAND], [0.45]))
        two = b.above([BY_HAND, low], 0.45)
        assert (two.limiting, two.limiting_side) == (1, 0)
        assert two.radius < one.radius < b.above(BY_HAND).radius


def test_options_are_those_of_the_plan():
    with Bisection() as b, Bisection(accuracy=0.1) as rough, Bisection(cap=0.01) as capped:
        fine = b.within(BY_HAND, 0.5).radius
        assert 0.9 * fine <= rough.within(BY_HAND, 0.5).radius < fine
        assert rough.info().evaluations < b.info().evaluations
        r = capped.within(BY_HAND, 0.5)
        assert r.outcome == Outcome.CAPPED  # cap is in units of sigma
        assert 0.005 * (1 - 1e-9) < r.radius <= 0.005
    for make, wrong in ((Bisection, dict(accuracy=0.6)), (Solver, dict(max_evaluations=1))):
        with refused(Status.INVALID):
            make(**wrong)


def test_info_says_what_a_call_has_cost():
    with Solver() as s:
        assert (s.info().evaluations, s.info().points) == (0, 0)
        s.worst_case(BY_HAND, 0.1)
        info = s.info()
        assert info.points > info.evaluations > 0
        assert (info.loose, info.fallbacks) == (0, 0)


EMPTY = Bounds(1, mean_lo=2, mean_hi=3, range_lo=0, range_hi=1)


@parametrize(
    "status, call",
    (Status.INVALID, lambda s, b: b.within(Bounds(-1, variance_hi=1), 0.5)),
    (Status.INVALID, lambda s, b: b.within(BY_HAND, 0)),
    (Status.INVALID, lambda s, b: b.within(BY_HAND, math.nan)),
    (Status.INVALID, lambda s, b: b.above([])),
    (Status.INVALID, lambda s, b: s.worst_case(BY_HAND, -1)),
    (Status.INFEASIBLE, lambda s, b: s.worst_case(EMPTY, 1)),
)
def test_wrong_bounds_are_refused(status, call):
    with Solver() as s, Bisection() as b, refused(status):
        call(s, b)


@parametrize(
    "bounds, sentence",
    (dict(mean_lo=0), "mean_lo and mean_hi .* together$"),
    (dict(gradient_hi=0.25), "; give gradient_lo=0 if only an upper bound"),
)
def test_bounds_of_one_end_are_refused(bounds, sentence):
    with Solver() as s, pytest.raises(ValueError, match=sentence):
        s.worst_case(Bounds(1, variance_hi=1, **bounds), 1)


# ---- bounds of a record
ASKED = Question(0.5, statistic="mean", method="asymptotic")


def test_bounds_of_a_record_give_its_radius():
    with estimator(constraints=Constraints.ECGM) as e, Bisection() as b:
        c = e.certify(Z, 0.25, SAMPLES, ASKED)
        sides = [e.bounds(ASKED, side) for side in (Side.LOWER, Side.UPPER)]
        r = b.above(sides)
        assert r.radius == c.radius
        assert c.limiting_side == (Side.LOWER, Side.UPPER)[r.limiting]
        assert sides[0].gradient_hi > sides[0].gradient_lo
        assert sides[0].samples == SAMPLES - e.info().pilot


def test_without_its_name_there_is_no_gradient():
    with estimator() as e:
        e.certify(Z, 0.25, SAMPLES, ASKED)
        bounds = e.bounds(ASKED, Side.UPPER)
        assert bounds.gradient_lo is None
        assert not bounds.constraints & Constraint.GRADIENT
        with pytest.raises(CertregError, match="constraints"):
            e.certify(0, Question(0.5, constraints=Constraints.ECGM))


def test_an_angle_has_near_sides():
    with estimator(kind=1) as e:
        e.certify(ORIGIN, 0.25, SAMPLES, 0.5)
        for side in (Side.NEAR_LOWER, Side.LOWER, Side.UPPER, Side.NEAR_UPPER):
            assert e.bounds(0.5, side).constraints & Constraint.MEAN, side
    with estimator() as e:
        e.certify(ORIGIN, 0.25, SAMPLES, 0.5)
        for side in (Side.NEAR_LOWER, 0, 3):
            with pytest.raises(CertregError, match="side"):
                e.bounds(0.5, side)


def test_where_a_method_abstains_nothing_is_known():
    f, question = undefined(0, 0.5, lambda x: x[:, 0]), Question(0.5, statistic="mean")
    with estimator(f, flags=PLAN_COUNT_FAILURES, lo=-9, hi=9) as e:
        assert e.certify(ORIGIN, 0.25, SAMPLES, question).radius == 0
        bounds = e.bounds(question, Side.LOWER)
        assert (bounds.constraints, bounds.mean_lo) == (0, None)


# ---- worst functions, measured by a sum over a fine grid
KNOWN = dict(mean_lo=0.3, mean_hi=0.3, variance_hi=0.2, gradient_lo=0.25, gradient_hi=0.25)
SCORE = Bounds(1.0, **KNOWN, range_lo=0.0, range_hi=1.0)
GRID = np.linspace(-12, 14, 520_001)


def mean_of(values, center=0.0):
    density = np.exp(-0.5 * (GRID - center) ** 2) / math.sqrt(2 * math.pi)
    return float(np.sum(values * density) * (GRID[1] - GRID[0]))


def test_they_keep_to_their_constraints_and_attain_the_bound():
    with Solver() as s:
        drop = s.worst_case(SCORE, 0.5).drop
        f = s.worst_function(SCORE, 0.5)
    u = f.values(GRID)
    for found, wanted in (  # the grid misses the breakpoints
        (mean_of(u), 0.3),
        (mean_of(u**2) - 0.3**2, 0.2),
        (mean_of(u * GRID), -0.25),
        (mean_of(u) - mean_of(u, 0.5), drop),
    ):
        assert found == near(wanted, 5e-5)
    assert f.bound == drop
    assert f.change >= drop * (1 - 1e-9)
    assert (u.min(), u.max()) == (0, 1)


def test_fields_are_what_they_say():
    with Solver() as s:
        drops, rises = (s.worst_function(SCORE, 0.5, side) for side in ("lower", Side.UPPER))
    lo, between, hi = Region
    assert drops.regions == (lo, between, hi, between, lo)
    assert rises.regions == (hi, between, lo, between, hi)
    assert len(drops.breakpoints) == 4
    assert sorted(drops.breakpoints) == list(drops.breakpoints)
    assert (drops.side, rises.side) == (Side.LOWER, Side.UPPER)
    assert (drops.constraints, drops.tilt) == (int(Constraints.ECGM), 0.5)


def test_values_are_those_of_the_formula():
    with Solver() as s:
        f = s.worst_function(SCORE, 0.5)
    t = np.linspace(-5, 5, 1001).reshape(7, 11, 13)
    v = np.expm1(0.5 * t - 0.125) - f.by_mean - f.by_gradient * t
    wanted = np.clip(0.3 - v / (2 * f.by_variance), 0, 1)
    np.testing.assert_allclose(f.values(t), wanted, atol=1e-9)
    assert f.values(t.tolist()).shape == t.shape
    assert f.values(t[::2, ::3]).tolist() == f.values(t)[::2, ::3].tolist()
    assert isinstance(f.values(0.25), float)
    assert math.isnan(f.values(math.inf))
    assert f.values([]).shape == (0,)


def test_they_are_values_that_can_be_pickled():
    with Solver() as s:
        f = s.worst_function(SCORE, 0.5, constraints="CG")
    again = pickle.loads(pickle.dumps(f))
    assert (f, f.values(1.5)) == (again, again.values(1.5))


ONE_END = Bounds(1.0, mean_lo=0.3, mean_hi=0.3, range_lo=-math.inf, range_hi=1.0)


@parametrize(
    "bounds, radius, side, error, says",
    (SCORE, 0.0, "lower", CertregError, "radius"),
    (SCORE, 0.5, 3, CertregError, "side"),
    (ONE_END, 0.5, "upper", CertregError, "no function"),
    (ONE_END, 0.5, "lower", CertregError, "without a bound"),
    (SCORE, 0.5, "down", ValueError, "side is 'down'"),
)
def test_what_has_no_worst_function_is_refused(bounds, radius, side, error, says):
    with Solver() as s, pytest.raises(error, match=says):
        s.worst_function(bounds, radius, side)

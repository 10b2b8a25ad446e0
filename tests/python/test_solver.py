"""What Python adds to bounds, bisections and worst functions."""

import math
import pickle

import numpy as np
import pytest

from kit import ORIGIN, SAMPLES, Z, estimator, same, undefined
from certreg import Bisection, Bounds, CertregError, Constraint, Constraints, Question
from certreg import PLAN_COUNT_FAILURES, Region, Side, Solver

MEAN = dict(mean_lo=0.95, mean_hi=1.05, variance_hi=2)
BY_HAND = Bounds(0.5, **MEAN, gradient_lo=0.7, gradient_hi=0.85, range_lo=-3.2, range_hi=3.2)


def test_thresholds_are_for_each_function_or_for_all():
    low = Bounds(0.5, mean_lo=0.5, mean_hi=0.6, variance_hi=2)
    with Bisection() as b:
        one = b.above(BY_HAND, 0.45)
        assert same(one, b.above([BY_HAND], [0.45]))
        two = b.above([BY_HAND, low], 0.45)
        assert (two.limiting, two.limiting_side) == (1, 0)
        assert two.radius < one.radius < b.above(BY_HAND).radius


# ---- bounds of a record
ASKED = Question(0.5, statistic="mean", method="asymptotic")


def test_bounds_have_what_was_asked_and_nothing_after_an_abstention():
    with estimator() as e:
        e.certify(Z, 0.25, SAMPLES, ASKED)
        bounds = e.bounds(ASKED, Side.UPPER)
        assert bounds.gradient_lo is None
        assert not bounds.constraints & Constraint.GRADIENT
        with pytest.raises(CertregError, match="constraints"):
            e.certify(0, Question(0.5, constraints=Constraints.ECGM))
    f, question = undefined(0, 0.5, lambda x: x[:, 0]), Question(0.5, statistic="mean")
    with estimator(f, flags=PLAN_COUNT_FAILURES, lo=-9, hi=9) as e:  # nothing is known
        assert e.certify(ORIGIN, 0.25, SAMPLES, question).radius == 0
        bounds = e.bounds(question, Side.LOWER)
        assert (bounds.constraints, bounds.mean_lo) == (0, None)


# ---- worst functions
KNOWN = dict(mean_lo=0.3, mean_hi=0.3, variance_hi=0.2, gradient_lo=0.25, gradient_hi=0.25)
SCORE = Bounds(1.0, **KNOWN, range_lo=0.0, range_hi=1.0)


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
    t = np.linspace(-5, 5, 1001).reshape(7, 11, 13)  # values have the shape of what was asked
    assert drops.values(t.tolist()).shape == t.shape
    assert drops.values(t[::2, ::3]).tolist() == drops.values(t)[::2, ::3].tolist()
    assert isinstance(drops.values(0.25), float) and math.isnan(drops.values(math.inf))
    assert drops.values([]).shape == (0,)
    again = pickle.loads(pickle.dumps(drops))
    assert (drops, drops.values(1.5)) == (again, again.values(1.5))

"""Prediction intervals, and the rules by which they are found."""

from __future__ import annotations

import ctypes as C
import dataclasses
from typing import Any, Tuple

from . import _structs as S
from ._library import lib
from .results import _Result
from ._arguments import number
from .errors import check


@dataclasses.dataclass(frozen=True)
class Rule(_Result):
    """By what prediction intervals are found, and what it is for.

    alpha         probability of a miss
    threshold     largest score within a set; infinite: there was no calibration, or too many of its
                  scores are
    samples       of a new input
    sample_rank   of the score of a new input that is compared with the threshold
    least_points  with fewer calibration points there would be no rule"""

    alpha: float
    radius: float
    threshold: float
    samples: int
    sample_rank: int
    least_points: int


def interval_rule(
    radius: float,
    sigma: float,
    points: int,
    *,
    alpha: float = 0.05,
    samples: int = 101,
    calibration_samples: int = 101,
) -> Rule:
    """The rule by which the truth is missed with probability at most alpha, before there is a
    calibration: for example to plan how many points and samples are needed.

    radius   norm of the adversary's shift, >= 0, in units of the input divided by its scale
    points   number of calibration points, with calibration_samples samples each
    samples  number of samples of a new input

    Takes at most about 0.1 s, whatever the arguments are. Raises CertregError if there are too few
    points or samples; the text names what helps."""
    counts = dict(points=points, calibration_samples=calibration_samples, samples=samples)
    return Rule._of(rule_of(None, radius=radius, sigma=sigma, alpha=alpha, **counts))


def rule_of(calibration: Any, **asked: Any) -> Any:
    """A struct of a rule, for this struct of a calibration, or None."""
    if number(asked["alpha"], "alpha") == 0:
        raise ValueError("alpha is 0, and no interval is right for certain: give at least 1e-6")
    coverage, why, out = S.Coverage(**asked), S.Error(), S.Rule()
    of = None if calibration is None else C.byref(calibration)
    check(lib.certreg_interval_rule(C.byref(coverage), of, C.byref(why), C.byref(out)), why)
    return out


@dataclasses.dataclass(frozen=True)
class Interval:
    """Where the true output is, with probability at least 1 - alpha, for an input that an adversary
    may have moved by up to `radius`.

    lo, hi     least interval that contains all pieces; nan if there is none. Of an angle an arc: lo
               is within the turn, and hi may be beyond it
    pieces     the set itself: pairs (lo, hi)
    alpha      proven probability of a miss
    threshold  largest score of a truth within the set
    samples    behind it; `failed` of them failed, each of which makes the set larger
    period     a full turn; 0 for a number

    `y in interval` says whether y is in one of the pieces."""

    output: int
    lo: float
    hi: float
    period: float
    alpha: float
    radius: float
    threshold: float
    pieces: Tuple[Tuple[float, float], ...]
    samples: int
    failed: int

    @property
    def width(self) -> float:
        """hi - lo; 0 if the set is empty."""
        return self.hi - self.lo if self.pieces else 0.0

    def __contains__(self, y: float) -> bool:
        if not self.period:
            return any(lo <= y <= hi for lo, hi in self.pieces)
        return any((y - lo) % self.period <= hi - lo for lo, hi in self.pieces)

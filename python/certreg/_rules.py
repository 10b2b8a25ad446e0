"""Prediction intervals, and their threshold rules."""

from __future__ import annotations

import ctypes as C
import dataclasses
from typing import Any, Iterable

import numpy as np

from . import _structs as S
from ._arguments import number
from ._library import lib
from ._optional import needed
from ._types import Frame
from .errors import check
from .frames import Index
from .results import _Result


@dataclasses.dataclass(frozen=True)
class Rule(_Result):
    """A threshold rule for prediction intervals, and the settings for which it is valid.

    Experimental.

    Attributes
    ----------
    alpha : float
        Probability of a miss.
    radius : float
        Norm of the adversary's shift.
    threshold : float
        Largest score within a set; infinite if there was no calibration, or if too many of its
        scores are infinite.
    samples : int
        Samples of a new input.
    sample_rank : int
        Rank of the score of a new input that is compared with the threshold.
    least_points : int
        Least number of calibration points for such a rule."""

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
    """Compute the rule for a planned calibration, to choose the numbers of points and samples.

    Experimental.

    It takes at most about 0.1 s. Intervals of this rule miss the truth with probability at most
    alpha.

    Parameters
    ----------
    radius : float
        Norm of the adversary's shift, >= 0, in units of the input divided by its scale.
    sigma : float
        Noise level > 0.
    points : int
        Number of calibration points.
    alpha : float
        Probability of a miss.
    samples, calibration_samples : int
        Number of samples of a new input, and of each calibration point.

    Returns
    -------
    Rule
        With an infinite threshold.

    Raises
    ------
    CertregError
        If there are too few points or samples; the text has the remedy.

    Examples
    --------
    >>> certreg.interval_rule(0.1, 0.25, 300, alpha=0.1).least_points
    10"""
    counts = dict(points=points, calibration_samples=calibration_samples, samples=samples)
    return Rule._of(rule_of(None, radius=radius, sigma=sigma, alpha=alpha, **counts))


def rule_of(calibration: S.Calibration | None, **coverage_fields: float) -> S.Rule:
    """The struct of a rule, for a calibration or a planned one."""
    if number(coverage_fields["alpha"], "alpha") == 0:
        raise ValueError("alpha is 0, and no interval is right for certain: give at least 1e-6")
    coverage, why, out = S.Coverage(**coverage_fields), S.Error(), S.Rule()
    of = None if calibration is None else C.byref(calibration)
    check(lib.certreg_interval_rule(C.byref(coverage), of, C.byref(why), C.byref(out)), why)
    return out


@dataclasses.dataclass(frozen=True)
class Interval:
    """A set that contains the true output with probability at least 1 - alpha. Experimental.

    An adversary may have moved the input by up to `radius`. ``y in interval`` is True if y is in
    one of the pieces.

    Attributes
    ----------
    output : int
        Index of the output.
    lo, hi : float
        Least interval that contains all pieces; nan if there is none. An arc if the output is an
        angle: lo is within the turn, and hi may be beyond it.
    period : float
        A full turn; 0 for a number.
    alpha : float
        Proven probability of a miss.
    radius : float
        Largest norm of the adversary's shift.
    threshold : float
        Largest score of a truth within the set.
    pieces : tuple of tuple
        The set itself: pairs (lo, hi).
    samples, failed : int
        Samples behind the set, and the number of them that failed. Each failure makes the set
        larger."""

    output: int
    lo: float
    hi: float
    period: float
    alpha: float
    radius: float
    threshold: float
    pieces: tuple[tuple[float, float], ...]
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


class IntervalList(list[Any]):
    """The intervals of many inputs: a list with an element for each, as `interval` returns it.

    Experimental."""

    def __init__(self, intervals: Iterable[Any] = (), index: Index = None) -> None:
        super().__init__(intervals)
        self._index = index

    @property
    def ends(self) -> np.ndarray:
        """Least lower and largest upper ends, (rows, 2), or (rows, outputs, 2) for several outputs;
        NaN for an empty set."""
        ends: Any = [
            [(one.lo, one.hi) for one in each] if isinstance(each, list) else (each.lo, each.hi)
            for each in self
        ]
        return np.array(ends) if ends else np.empty((0, 2))

    def __str__(self) -> str:
        each = [one for some in self for one in (some if isinstance(some, list) else [some])]
        widths = np.array([one.width for one in each])
        finite = widths[np.isfinite(widths)]
        middle = f", median width {np.median(finite):.5g}" if len(finite) else ""
        return f"{len(each)} intervals, {len(finite)} of finite width{middle}"

    def to_frame(self) -> Frame:
        """Return the intervals as a DataFrame.

        Returns
        -------
        DataFrame
            A line for each row and output with the fields of Interval, and with the number of
            pieces. The index is the one of the inputs if they were a DataFrame, else the row.

        Raises
        ------
        ImportError
            If pandas is missing."""
        each = [one if isinstance(one, list) else [one] for one in self]
        names = [field.name for field in dataclasses.fields(Interval)]
        lines = [{**vars(one), "pieces": len(one.pieces)} for some in each for one in some]
        frame = needed("pandas", "to_frame").DataFrame(lines, columns=names)
        places = [i for i, some in enumerate(each) for _ in some]
        frame.index = places if self._index is None else self._index.take(places)
        return frame

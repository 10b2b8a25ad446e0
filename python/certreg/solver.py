"""Computes worst cases and radii from bounds, without a model."""

from __future__ import annotations

import ctypes as C
from typing import Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import structs as S
from .arguments import Struct, f64, instance, listed, number
from .arrays import array_of
from .constants import Side, constraints_of, member
from .library import Handle
from .results import Bounds, MeanChange, Radius, SolveInfo, WorstFunction


def _struct(bounds: object) -> S.Bounds:
    return instance(bounds, Bounds, "bounds")._struct()


class _Searcher(Handle):
    """A handle that takes bounds and needs no model."""

    def __init__(self, plan: Struct) -> None:
        super().__init__()
        why = S.Error()
        given = C.byref(plan), C.byref(why), C.byref(self._handle)
        self._made(self._function("create")(*given), why)

    def info(self) -> SolveInfo:
        """Return the cost of the last call that computed something."""
        return self._result(SolveInfo, "info")


class Solver(_Searcher):
    """Computes from bounds and a radius how far the mean can move.

    Parameters
    ----------
    max_evaluations : int
        Most evaluations of the dual function in one call, at least LEAST_WORST_CASE_EVALUATIONS; 0:
        WORST_CASE_EVALUATIONS.

    Examples
    --------
    >>> bounds = certreg.Bounds(1.0, mean_lo=0.0, mean_hi=0.0, variance_hi=1.0)
    >>> change = certreg.Solver().worst_case(bounds, 0.5)
    >>> print(f"{change.drop:.6f}")
    0.532940"""

    _NAME = "solver"

    def __init__(self, max_evaluations: int = 0) -> None:
        super().__init__(S.SolverPlan(max_evaluations=max_evaluations))

    def worst_case(self, bounds: Bounds, radius: float, constraints: int | str = 0) -> MeanChange:
        """Bound how far the mean can move within a radius.

        Parameters
        ----------
        bounds : Bounds
            Bounds of the function.
        radius : float
            Radius >= 0, in units of the input divided by its scale.
        constraints : int or str
            Constraints to use; 0: all in `bounds`.

        Returns
        -------
        MeanChange
            Rounded outward.

        Raises
        ------
        CertregError
            If the bounds are wrong or contradict each other."""
        given = C.byref(_struct(bounds)), constraints_of(constraints), number(radius, "radius")
        return self._result(MeanChange, "worst_case", *given)

    def worst_function(
        self,
        bounds: Bounds,
        radius: float,
        side: Side | str = Side.LOWER,
        constraints: int | str = 0,
    ) -> WorstFunction:
        """Return the function with the largest change of its mean within a radius. Experimental.

        Parameters
        ----------
        bounds, radius, constraints
            As for `worst_case`; the radius must be positive.
        side : Side or str
            "lower": the function with the largest drop; "upper": with the largest rise.

        Raises
        ------
        CertregError
            As for `worst_case`; also if nothing bounds the change, or no such function was
            found."""
        given = C.byref(_struct(bounds)), constraints_of(constraints), number(radius, "radius")
        return self._result(WorstFunction, "worst_function", *given, member(Side, side, "side"))


class Bisection(_Searcher):
    """Computes from bounds and a limit for the mean the largest radius.

    Parameters
    ----------
    max_evaluations : int
        Most evaluations of the dual function in one call, at least LEAST_RADIUS_EVALUATIONS; 0:
        RADIUS_EVALUATIONS.
    accuracy : float
        Relative accuracy, 1e-9 to 0.5; 0: 1e-9. The radius is at most this much below the largest
        that can be proved.
    cap : float
        Radius at which the search ends, in units of sigma, at most 10; 0: 10.

    Examples
    --------
    >>> bounds = certreg.Bounds(1.0, mean_lo=0.0, mean_hi=0.0, variance_hi=1.0)
    >>> print(f"{certreg.Bisection().within(bounds, 0.5).radius:.6f}")
    0.472381"""

    _NAME = "bisection"

    def __init__(self, max_evaluations: int = 0, accuracy: float = 0.0, cap: float = 0.0) -> None:
        plan = S.BisectionPlan(max_evaluations=max_evaluations, accuracy=accuracy, cap=cap)
        super().__init__(plan)

    def within(self, bounds: Bounds, tolerance: float, constraints: int | str = 0) -> Radius:
        """Find the largest radius within which the mean moves by at most a tolerance.

        Parameters
        ----------
        bounds, constraints
            As for `Solver.worst_case`.
        tolerance : float
            Tolerance > 0, in units of the function.

        Returns
        -------
        Radius
            Rounded down."""
        limit, used = number(tolerance, "tolerance"), constraints_of(constraints)
        return self._result(Radius, "within", C.byref(_struct(bounds)), used, limit)

    def above(
        self,
        bounds: Bounds | Sequence[Bounds],
        threshold: ArrayLike | None = None,
        constraints: int | str = 0,
    ) -> Radius:
        """Find the largest radius within which means stay above thresholds.

        Parameters
        ----------
        bounds : Bounds or sequence of Bounds
            Bounds of each function.
        threshold : array_like, optional
            A number for all functions, or one for each; by default 0.
        constraints : int or str
            As for `Solver.worst_case`.

        Returns
        -------
        Radius
            Rounded down."""
        each = [bounds] if isinstance(bounds, Bounds) else listed(bounds, "bounds")
        count, limits = len(each), None
        structs = (S.Bounds * count)(*map(_struct, each))
        if threshold is not None:
            limits = (f64 * count)(*array_of(threshold, (count,), np.float64, "threshold"))
        return self._result(Radius, "above", structs, limits, count, constraints_of(constraints))

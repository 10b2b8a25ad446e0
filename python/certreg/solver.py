"""Computes worst cases and radii from bounds, without a model."""

from __future__ import annotations

import ctypes as C
from typing import Any, Sequence, Union

import numpy as np

from . import _structs as S
from ._arrays import array_of
from ._calls import Handle
from .results import Bounds, MeanChange, Radius, SolveInfo, WorstFunction
from ._arguments import constraints_of, instance, listed, member, number
from ._ctypes import f64
from .constants import Side


def _struct(bounds: Any) -> Any:
    return instance(bounds, Bounds, "bounds")._struct()


class _Searcher(Handle):
    """A handle that takes bounds and needs no model."""

    def _create(self, plan: Any) -> None:
        why = S.Error()
        self._made(
            self._function("create")(C.byref(plan), C.byref(why), C.byref(self._handle)), why
        )

    def info(self) -> SolveInfo:
        """The cost of the last call that computed something."""
        out = S.SolveInfo()
        self._call("info", C.byref(out))
        return SolveInfo._of(out)


class Solver(_Searcher):
    """Computes from bounds and a radius how far the mean can move.

    max_evaluations  most evaluations of the dual function in one call, at least
                     LEAST_WORST_CASE_EVALUATIONS; 0: WORST_CASE_EVALUATIONS"""

    _NAME = "solver"

    def __init__(self, max_evaluations: int = 0) -> None:
        super().__init__()
        self._create(S.SolverPlan(max_evaluations=max_evaluations))

    def worst_case(
        self, bounds: Bounds, radius: float, constraints: Union[int, str] = 0
    ) -> MeanChange:
        """How far the mean can move within the radius, >= 0, in units of the input divided by its
        scale. `constraints` names those to use; 0: all that `bounds` has. Raises CertregError if
        the bounds are wrong or contradict each other."""
        b, out, radius = _struct(bounds), S.MeanChange(), number(radius, "radius")
        self._call("worst_case", C.byref(b), constraints_of(constraints), radius, C.byref(out))
        return MeanChange._of(out)

    def worst_function(
        self,
        bounds: Bounds,
        radius: float,
        side: Union[Side, str] = Side.LOWER,
        constraints: Union[int, str] = 0,
    ) -> WorstFunction:
        """The function whose mean changes most within the radius, > 0: whose mean drops most
        (side="lower") or rises most ("upper"). The rest is as in worst_case. Raises CertregError
        also where nothing bounds the change, or where no such function was found."""
        b, out, way = _struct(bounds), S.WorstFunction(), member(Side, side, "side")
        used, radius = constraints_of(constraints), number(radius, "radius")
        self._call("worst_function", C.byref(b), used, radius, way, C.byref(out))
        return WorstFunction._of(out)


class Bisection(_Searcher):
    """Computes from bounds and a limit for the mean the largest radius.

    max_evaluations  most evaluations of the dual function in one call, at least
                     LEAST_RADIUS_EVALUATIONS; 0: RADIUS_EVALUATIONS
    accuracy         relative: the radius is at most this much below the largest that can be
                     proved, 1e-9 to 0.5; 0: 1e-9
    cap              radius at which the search ends, in units of sigma, at most 10; 0: 10"""

    _NAME = "bisection"

    def __init__(self, max_evaluations: int = 0, accuracy: float = 0.0, cap: float = 0.0) -> None:
        super().__init__()
        self._create(S.BisectionPlan(max_evaluations=max_evaluations, accuracy=accuracy, cap=cap))

    def within(self, bounds: Bounds, tolerance: float, constraints: Union[int, str] = 0) -> Radius:
        """The largest radius within which the mean moves by at most the tolerance, > 0."""
        b, out, used = _struct(bounds), S.Radius(), constraints_of(constraints)
        self._call("within", C.byref(b), used, number(tolerance, "tolerance"), C.byref(out))
        return Radius._of(out)

    def above(
        self,
        bounds: Union[Bounds, Sequence[Bounds]],
        threshold: Any = None,
        constraints: Union[int, str] = 0,
    ) -> Radius:
        """The largest radius within which the mean of each of several functions stays above its
        threshold. `threshold` has one number for each function, or one for all; None: 0."""
        bounds = [bounds] if isinstance(bounds, Bounds) else listed(bounds, "bounds")
        count, out, limits = len(bounds), S.Radius(), None
        structs = (S.Bounds * count)(*map(_struct, bounds))
        if threshold is not None:
            limits = (f64 * count)(*array_of(threshold, (count,), np.float64, "threshold"))
        self._call("above", structs, limits, count, constraints_of(constraints), C.byref(out))
        return Radius._of(out)

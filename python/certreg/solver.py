"""From bounds to worst cases and radii, without a model."""

from __future__ import annotations

import ctypes as C
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _structs as S
from ._calls import Handle
from .answers import Bounds, MeanChange, Radius, SolveInfo
from .constants import constraints_of


class _Searcher(Handle):
    """A handle that takes bounds and needs no model."""

    def _create(self, plan: Any) -> None:
        why = S.Error()
        self._made(
            self._function("create")(C.byref(plan), C.byref(why), C.byref(self._handle)), why
        )

    def info(self) -> SolveInfo:
        """What the last call that computed something has cost."""
        out = S.SolveInfo()
        self._call("info", C.byref(out))
        return SolveInfo._of(out)


class Solver(_Searcher):
    """Bounds and a radius -> how far the mean can move.

    max_evaluations  of the dual in one call; 0: the default"""

    _NAME = "solver"

    def __init__(self, max_evaluations: int = 0) -> None:
        super().__init__()
        self._create(S.SolverPlan(max_evaluations=max_evaluations))

    def worst_case(
        self, bounds: Bounds, radius: float, constraints: Union[int, str] = 0
    ) -> MeanChange:
        """How far the mean can move within the radius. constraints: those to use; 0: all."""
        b, out = bounds._struct(), S.MeanChange()
        self._call("worst_case", C.byref(b), constraints_of(constraints), radius, C.byref(out))
        return MeanChange._of(out)


class Bisection(_Searcher):
    """Bounds and a limit for the mean -> the largest radius. With BISECTION_WARM_START as flags
    a search begins where the last one ended: results then agree to 1e-9, not bit for bit."""

    _NAME = "bisection"

    def __init__(
        self, max_evaluations: int = 0, accuracy: float = 0.0, cap: float = 0.0, flags: int = 0
    ) -> None:
        super().__init__()
        self._create(
            S.BisectionPlan(
                max_evaluations=max_evaluations, accuracy=accuracy, cap=cap, flags=flags
            )
        )

    def within(self, bounds: Bounds, tolerance: float, constraints: Union[int, str] = 0) -> Radius:
        """The largest radius at which the mean moves by at most the tolerance either way."""
        b, out = bounds._struct(), S.Radius()
        self._call("within", C.byref(b), constraints_of(constraints), tolerance, C.byref(out))
        return Radius._of(out)

    def above(
        self,
        bounds: Union[Bounds, Sequence[Bounds]],
        threshold: Any = None,
        constraints: Union[int, str] = 0,
    ) -> Radius:
        """The largest radius at which the mean of every one of several functions stays above
        its threshold. threshold: one for each or for all; None: 0."""
        bounds = [bounds] if isinstance(bounds, Bounds) else list(bounds)
        count, out, limits = len(bounds), S.Radius(), None
        structs = (S.Bounds * count)(*[b._struct() for b in bounds])
        if threshold is not None:
            limits = (S.f64 * count)(*np.broadcast_to(threshold, count))
        self._call("above", structs, limits, count, constraints_of(constraints), C.byref(out))
        return Radius._of(out)

"""Attacks on the input of an estimator, which show how tight its certificate is."""

from __future__ import annotations

import contextlib
import ctypes as C
import dataclasses
import math
from typing import Any, Callable, ContextManager

import numpy as np

from . import structs as S
from .arguments import Shape, field_names, size_t
from .arrays import Memory
from .constants import Attack, Side, Stop, enum_value, member
from .display import HtmlTable
from .library import Calls, CertregError, Handle, lib
from .questions import Asked, question_of


@dataclasses.dataclass(frozen=True)
class AttackResult(HtmlTable):
    """The result of an attack. str() of it is one line: certified 0.772, broken at 0.941.

    Experimental.

    Attributes
    ----------
    outcome : Attack
        BROKEN or NOT_BROKEN.
    stop : Stop
        ALL, DEADLINE or CANCELLED.
    side : Side
        UPPER: the smoothed prediction leaves the tolerance upwards; LOWER: downwards; 0: the attack
        ended before it chose a side.
    radius : float
        ``||(z' - z) / scale||`` with z' = z + shift, added in float32; rounded up. The smoothed
        prediction is out of the tolerance at z', except with probability alpha. Infinite unless
        broken.
    forecast : float
        Forecast of the breaking radius, from the record alone, without a guarantee; NaN: unknown.
    cosine : float
        Estimated cosine of the angle between the record's gradient and the true gradient.
    prediction, tolerance, sigma : float
        From the question and the record.
    alpha : float
        Probability that the radius is too small.
    calls : int
        Rows of the model that were used.
    samples : int
        Samples in the record, pilot included.
    certified_radius : float
        Radius of the question's certificate from the same record.
    shift : ndarray or Series
        float32 of the input's shape, for DataFrames a Series; zeros unless broken."""

    outcome: Attack
    stop: Stop
    side: Side  # 0: none
    radius: float
    forecast: float
    cosine: float
    prediction: float
    tolerance: float
    sigma: float
    alpha: float
    calls: int
    samples: int
    certified_radius: float
    shift: np.ndarray = dataclasses.field(repr=False, compare=False)

    @property
    def broken(self) -> bool:
        """True if a shift was proved to break the tolerance."""
        return self.outcome == Attack.BROKEN

    def __str__(self) -> str:
        found = f"certified {self.certified_radius:g}, "
        if self.broken:
            return found + f"broken at {self.radius:g}"
        if not self.calls:
            return found + f"forecast {self.forecast:g}"
        return found + "not broken"


class Attacks(Handle):
    """The library's handle of attacks on one estimator. It shares the lock of the estimator."""

    _NAME = "attack"

    def __init__(self, estimator: C.c_void_p, calls: Calls, max_calls: int) -> None:
        super().__init__()
        self._calls, self.max_calls = calls, max_calls
        why, plan, size = S.Error(), S.AttackPlan(max_calls=max_calls), size_t()
        with calls:
            if not lib.certreg_attack_size(estimator, C.byref(plan), C.byref(size), None):
                self.memory = Memory(size.value)
                plan.memory, plan.memory_bytes = self.memory.address, size.value
            status = lib.certreg_attack_create(
                estimator, C.byref(plan), C.byref(why), C.byref(self._handle)
            )
        self._made(status, why)

    def attack(
        self,
        question: Asked,
        options: S.AttackOptions,
        certify: Callable[[int, Asked], Any],
        shape: Shape,
        callbacks: ContextManager[None],
    ) -> AttackResult:
        """Attacks the present input. `certify` is the estimator's method, and `callbacks` a context
        around the call."""
        out, struct = S.AttackResult(), question_of(question)._struct()
        shift = np.zeros(shape, np.float32)
        where = shift.ctypes.data, C.byref(out)
        self._call("run", C.byref(struct), C.byref(options), *where, around=callbacks)
        names = field_names(AttackResult)
        found: dict[str, Any] = {n: enum_value(n, getattr(out, n, None)) for n in names}
        found.update(outcome=Attack(out.outcome), shift=shift, certified_radius=math.nan)
        with contextlib.suppress(CertregError):  # the record does not answer the question
            found["certified_radius"] = float(certify(0, question).radius)
        return AttackResult(**found)

    def gradient(self, question: Asked, side: Side | int | str, shape: Shape) -> np.ndarray:
        """The gradient of a question's score at the present input."""
        out, struct = np.empty(shape, np.float64), question_of(question)._struct()
        self._call("gradient", C.byref(struct), member(Side, side, "side"), out.ctypes.data)
        return out

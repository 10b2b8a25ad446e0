"""What the library answers."""

from __future__ import annotations

import ctypes as C
import dataclasses
from typing import Any, Optional, Sequence, Type, TypeVar

from . import _structs as S
from ._library import lib
from .constants import Center, Constraint, Method, Outcome, Side, Statistic, Status, Stop, named
from .errors import check
from .questions import Asked, question_of

Answer = TypeVar("Answer", bound="_Answer")


class _Answer:
    """A dataclass with the names of a struct."""

    @classmethod
    def _of(cls: Type[Answer], struct: Any) -> Answer:
        names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: named(name, getattr(struct, name)) for name in names})


@dataclasses.dataclass(frozen=True)
class Certificate(_Answer):
    """|T(z + delta) - prediction| < tolerance for every delta with ||delta / scale|| < radius.

    The radius is 0, and an output bound infinite, unless proved. `estimate` is T(z) from all
    samples and carries no guarantee. output_lo and output_hi are where T stays within the radius.
    radius_l1, radius_l2, radius_linf are balls within the certified ellipsoid, in units of the
    input. `noise_id` is the noise that was used, `question` the question_digest of what was asked.
    The other fields are those of certreg_certificate."""

    status: Status
    outcome: Outcome
    stop: Stop
    radius: float
    prediction: float
    estimate: float
    output_lo: float
    output_hi: float
    radius_l1: float
    radius_l2: float
    radius_linf: float
    sigma: float
    tolerance: float
    alpha: float
    samples: int
    noise_id: int
    question: int
    output: int
    statistic: Statistic
    method: Method
    center: Center
    constraints: Constraint
    limiting_side: Side  # 0: none

    @property
    def certified(self) -> bool:
        """Whether there is a radius."""
        return self.radius > 0

    def _struct(self) -> Any:
        return S.Certificate(**dataclasses.asdict(self))


@dataclasses.dataclass(frozen=True)
class Run(_Answer):
    """What all certificates of one input have in common. The seed is a secret unless it was given;
    so it is not in the repr."""

    seed: int = dataclasses.field(repr=False)
    noise_id: int
    level: int
    samples: int
    pilot: int
    batch: int
    sigma: float
    model_seconds: float
    library_seconds: float

    def _struct(self) -> Any:
        return S.Run(**dataclasses.asdict(self))


@dataclasses.dataclass(frozen=True)
class Forecast(_Answer):
    """How many samples a target takes, pilot included. least_samples is 0 where max_samples
    cannot prove it."""

    least_samples: int
    expected_samples: float


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Bounds of a scalar function under the noise, estimated or filled by hand. None is
    unknown."""

    sigma: float
    mean_lo: Optional[float] = None
    mean_hi: Optional[float] = None
    variance_hi: Optional[float] = None
    gradient_lo: Optional[float] = None
    gradient_hi: Optional[float] = None
    range_lo: Optional[float] = None
    range_hi: Optional[float] = None
    alpha: float = 0.0
    samples: int = 0
    second_order_hi: Optional[float] = None
    moment_center: Optional[float] = None
    moment_hi: Optional[float] = None

    _FIELDS = {
        Constraint.MEAN: ("mean_lo", "mean_hi"),
        Constraint.VARIANCE: ("variance_hi",),
        Constraint.GRADIENT: ("gradient_lo", "gradient_hi"),
        Constraint.RANGE: ("range_lo", "range_hi"),
        Constraint.SECOND_ORDER: ("second_order_hi",),
        Constraint.MOMENT: ("moment_center", "moment_hi"),
    }

    @property
    def constraints(self) -> Constraint:
        """The constraints that hold."""
        held = Constraint(0)
        for constraint, names in self._FIELDS.items():
            given = [getattr(self, name) is not None for name in names]
            if any(given) and not all(given):
                raise ValueError(f"{' and '.join(names)} have to be given together")
            held |= constraint if all(given) else Constraint(0)
        return held

    def _struct(self) -> Any:
        given = {k: v for k, v in dataclasses.asdict(self).items() if v is not None}
        return S.Bounds(constraints=self.constraints, **given)

    @classmethod
    def _of(cls, struct: Any) -> "Bounds":
        known = {name: getattr(struct, name) for name in ("sigma", "alpha", "samples")}
        for constraint, names in cls._FIELDS.items():
            if struct.constraints & constraint:
                known.update({name: getattr(struct, name) for name in names})
        return cls(**known)


@dataclasses.dataclass(frozen=True)
class MeanChange(_Answer):
    """How far a mean can move within a radius."""

    constraints: Constraint
    drop: float
    rise: float
    mean_least: float
    mean_greatest: float


@dataclasses.dataclass(frozen=True)
class Radius(_Answer):
    """The largest radius, 0 unless proved, and what limits it: the side where a tolerance was
    asked for, and the index of a function where thresholds were."""

    outcome: Outcome
    radius: float
    limiting_side: Side
    limiting: int


@dataclasses.dataclass(frozen=True)
class SolveInfo(_Answer):
    """What the last call on a solver or bisection has cost."""

    evaluations: int
    points: int
    loose: int
    refinements: int
    fallbacks: int
    warm_starts: int
    seconds: float


def to_json(
    question: Optional[Asked] = None,
    run: Optional[Run] = None,
    certificate: Optional[Certificate] = None,
    flags: int = 0,
) -> str:
    """What a program keeps, as one line of JSON, which certreg_write_json writes. The seed is
    left out unless flags is JSON_SEED."""
    asked = None if question is None else question_of(question)
    said = [None if part is None else part._struct() for part in (asked, run, certificate)]
    refs = [None if struct is None else C.byref(struct) for struct in said]
    size = S.size_t(0)
    check(lib.certreg_write_json(*refs, flags, None, C.byref(size)))
    buffer = C.create_string_buffer(size.value)
    check(lib.certreg_write_json(*refs, flags, buffer, C.byref(size)))
    return buffer.value.decode()


def choose_sigma(certificates: Sequence[Sequence[Certificate]]) -> tuple[int, list[float]]:
    """The index of the noise level with the greatest mean radius, and all mean radii. Takes a
    list for each input, of a certificate for each level. Deploy the level on other inputs."""
    inputs, levels = len(certificates), len(certificates[0]) if certificates else 0
    flat = [c._struct() for row in certificates for c in row]
    if len(flat) != inputs * levels:
        raise ValueError("every input needs a certificate for every level")
    return chosen_sigma((S.Certificate * len(flat))(*flat), inputs, levels)


def chosen_sigma(structs: Any, inputs: int, levels: int) -> tuple[int, list[float]]:
    """choose_sigma from an array of structs, input by input."""
    means, level = (S.f64 * max(levels, 1))(), S.size_t()
    why = S.Error(
        text=b"give certificates that did not fail, with the same noise levels for every "
        b"input, all different"
    )
    check(lib.certreg_choose_sigma(structs, inputs, levels, means, C.byref(level)), why)
    return int(level.value), list(means[:levels])

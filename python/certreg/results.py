"""Certificates and other results of the library."""

from __future__ import annotations

import ctypes as C
import dataclasses
import functools
import json
import math
from typing import Any, Container, Optional, Sequence, Type, TypeVar

import numpy as np

from . import _structs as S
from ._arrays import array_of, numbers, scale_of, unnamed
from ._library import lib
from ._tables import HtmlTable
from ._arguments import enum_value, field_names, instance, integer, listed
from ._ctypes import f64, size_t, u64
from .constants import JSON_SEED, Center, Constraint, Method, Outcome, Region, Side, Statistic
from .constants import Status, Stop
from .errors import check
from .questions import Asked, question_of

Result = TypeVar("Result", bound="_Result")


class _Result:
    """A dataclass that has fields of a struct, with the same names."""

    @classmethod
    def _of(cls: Type[Result], struct: Any) -> Result:
        names = field_names(cls)  # type: ignore[arg-type]
        return cls(**{name: enum_value(name, getattr(struct, name)) for name in names})

    def _struct(self) -> Any:
        given: Any = self
        return getattr(S, type(self).__name__)(**dataclasses.asdict(given))


@dataclasses.dataclass(frozen=True)
class Certificate(_Result, HtmlTable):
    """|T(z + delta) - prediction| < tolerance for every delta with ||delta / scale|| < radius.

    T(z) is the smoothed prediction at the input z. Where nothing is proved, the radius is 0 and the
    output bounds are infinite. Unless the status is OK, prediction, estimate, tolerance and alpha
    are NaN.

    radius                 in units of the input divided by its scale
    estimate               T(z) as computed from all samples, without a guarantee
    output_lo, output_hi   T(z + delta) stays between them for every delta within the radius
    radius_l1, radius_l2, radius_linf   radii of the largest balls of these norms inside the
                           certified ellipsoid, in units of the input
    samples                in the record, pilot included
    noise_id               noise id of the input
    question               question_digest of the question
    input                  digest of z and the scale, by which `moved` knows them

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
    input: int

    @property
    def certified(self) -> bool:
        """Whether the radius is positive."""
        return self.radius > 0

    def moved(self, z: Any, to: Any, scale: Any = None) -> Certificate:
        """The certificate at an input `to` near z, without a call of the model: its radius is
        shorter by the norm of (to - z) / scale, and 0 where nothing is left. This is part of the
        same promise: no alpha is added, whatever `to` is chosen by. Serving near `to` still needs
        fresh noise.

        z      the input that the certificate is about
        to     an input of the same shape, equal to z where the scale is 0
        scale  of the Estimator or of certify_rows; None: 1

        They are rounded to float32 as the Estimator rounds them. Raises TypeError or ValueError for
        wrong shapes, and CertregError with the status MISMATCH if z or scale is not that of the
        certificate, and INVALID for other inputs or certificates that cannot be moved, such as one
        about the true mean."""
        z, to = np.atleast_1d(unnamed(z, "z")), np.atleast_1d(unnamed(to, "to"))
        kept = [array_of(part, z.shape, np.float32, name) for part, name in ((z, "z"), (to, "to"))]
        scales = scale_of(scale, z.shape)
        out, why = S.Certificate(), S.Error()
        at = [None if part is None else part.ctypes for part in (scales, *kept)]
        struct = C.byref(self._struct())
        check(lib.certreg_move_certificate(struct, z.size, *at, C.byref(out), C.byref(why)), why)
        return self._of(out)


@dataclasses.dataclass(frozen=True)
class Run(_Result):
    """What all certificates of one input have in common; the fields are those of certreg_run. The
    repr leaves out the seed, which is a secret."""

    seed: int = dataclasses.field(repr=False)
    noise_id: int
    level: int
    samples: int
    pilot: int
    batch: int
    sigma: float
    model_seconds: float
    library_seconds: float


@dataclasses.dataclass(frozen=True)
class Forecast(_Result):
    """How many samples a target is expected to take, pilot included.

    least_samples     smallest number of samples that can prove it; 0: more than max_samples
    expected_samples  expected number, if outputs stay as they are in the record; can be infinite"""

    least_samples: int
    expected_samples: float


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Bounds of a scalar function under the noise: by an estimator or filled in by hand. The fields
    are those of certreg_bounds. None means that a bound is not known."""

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
    moment_center: Optional[float] = None
    moment_hi: Optional[float] = None

    _FIELDS = {
        Constraint.MEAN: ("mean_lo", "mean_hi"),
        Constraint.VARIANCE: ("variance_hi",),
        Constraint.GRADIENT: ("gradient_lo", "gradient_hi"),
        Constraint.RANGE: ("range_lo", "range_hi"),
        Constraint.MOMENT: ("moment_center", "moment_hi"),
    }

    @property
    def constraints(self) -> Constraint:
        """The constraints whose bounds are known. Raises ValueError if one of two bounds that
        belong together is missing."""
        held = Constraint(0)
        for constraint, names in self._FIELDS.items():
            given = [getattr(self, name) is not None for name in names]
            if any(given) and not all(given):
                only_upper = constraint == Constraint.GRADIENT and given[1]
                raise ValueError(
                    f"{' and '.join(names)} must be given together"
                    + ("; give gradient_lo=0 if only an upper bound is known" if only_upper else "")
                )
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
class MeanChange(_Result):
    """How far a mean can fall (drop) and grow (rise) within a radius, in units of the function, and
    the least and greatest mean that are possible there."""

    constraints: Constraint
    drop: float
    rise: float
    mean_least: float
    mean_greatest: float


@dataclasses.dataclass(frozen=True)
class WorstFunction(_Result):
    """A worst function: the one whose mean changes most within a radius, as a function of t, the
    component of the noise along the shift.

    change       of its mean within the radius
    bound        no function with these constraints changes by more
    breakpoints  values of t at which it passes from one region to the next
    regions      what it does in each of them, one more than breakpoints

    The other fields are those of certreg_worst_function."""

    constraints: Constraint
    side: Side
    radius: float
    change: float
    bound: float
    mean: float
    variance: float
    gradient: float
    by_variance: float
    by_mean: float
    by_gradient: float
    offset: float
    slope: float
    rest: float
    tilt: float
    range_lo: float
    range_hi: float
    breakpoints: tuple[float, ...]
    regions: tuple[Region, ...]

    @classmethod
    def _of(cls, struct: Any) -> "WorstFunction":
        count = struct.region_count
        return dataclasses.replace(
            super()._of(struct),
            breakpoints=tuple(struct.breakpoints[: count - 1]),
            regions=tuple(Region(region) for region in struct.regions[:count]),
        )

    def values(self, t: Any) -> Any:
        """The values at t, an array of finite numbers of any shape, or one number. At the shifted
        input, t has the mean radius / sigma instead of 0."""
        given = np.ascontiguousarray(numbers(t, np.float64, "t"))
        out = np.empty_like(given)
        struct = C.byref(self._struct())
        check(lib.certreg_worst_function_values(struct, out.size, given.ctypes, out.ctypes))
        return out.reshape(np.shape(t))[()]

    def _struct(self) -> Any:
        fields = dataclasses.asdict(self)
        for name in ("breakpoints", "regions"):
            fields[name] = S.WorstFunction.kinds[name](*fields[name])
        return S.WorstFunction(region_count=len(self.regions), **fields)


@dataclasses.dataclass(frozen=True)
class Radius(_Result):
    """The largest radius that is proved, or 0, and what limits it: limiting_side in a result of
    `within`, and in a result of `above` the index of a function, `limiting`."""

    outcome: Outcome
    radius: float
    limiting_side: Side
    limiting: int


@dataclasses.dataclass(frozen=True)
class SolveInfo(_Result):
    """The cost of the last call on a solver or bisection."""

    evaluations: int
    points: int
    loose: int
    refinements: int
    fallbacks: int
    seconds: float


@functools.lru_cache(maxsize=None)
def refused_certificate() -> S.Certificate:
    """A certificate as the library leaves it after it refuses a call: it claims nothing, and has no
    numbers that a table could average."""
    unknown = dict.fromkeys("prediction estimate sigma tolerance alpha".split(), math.nan)
    return S.Certificate(status=Status.BUSY, output_lo=-math.inf, output_hi=math.inf, **unknown)


def to_json(
    question: Optional[Asked] = None,
    run: Optional[Run] = None,
    certificate: Optional[Certificate] = None,
    flags: int = 0,
) -> str:
    """A question, run and certificate as one line of JSON: the fields of the structs of C, enums as
    numbers, 64-bit integers as texts, infinities and NaN as null. The seed is left out unless flags
    is JSON_SEED."""
    asked = None if question is None else question_of(question)
    for part, kind, name in ((run, Run, "run"), (certificate, Certificate, "certificate")):
        if part is not None:
            instance(part, kind, name)
    left_out = set() if integer(flags, "flags", 0, JSON_SEED) else {"seed"}
    parts = {"question": asked, "run": run, "certificate": certificate}
    structs = {name: part._struct() for name, part in parts.items() if part is not None}
    found = {name: _fields(struct, left_out) for name, struct in structs.items()}
    if asked is not None:
        found["question"].update(_behind(structs["question"]))
    return json.dumps(found, separators=(",", ":"), allow_nan=False)


def _fields(struct: Any, left_out: Container[str] = ()) -> dict[str, Any]:
    """The numbers of a struct, in types of JSON."""
    found: dict[str, Any] = {}
    for name, kind in struct.kinds.items():
        if name in left_out or name in ("struct_size", "reserved") or name.endswith("_count"):
            continue
        value = getattr(struct, name)
        if kind in (u64, size_t):
            found[name] = str(value)  # of which many readers would lose bits
        elif isinstance(value, (int, float)):
            found[name] = _number(value)
    return found


def _number(value: float) -> Optional[float]:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value if math.isfinite(value) else None


def _behind(question: Any) -> dict[str, Any]:
    """What a question points to."""
    count, given, target, serving = question.prediction_count, question.prediction, None, None
    several = [_number(given[i]) for i in range(max(count, 1))] if given else None
    if question.target:
        target = _fields(question.target[0])
        looks, length = question.target[0].looks, question.target[0].look_count
        target["looks"] = [str(looks[i]) for i in range(length)] if looks else None
    if question.serving:
        serving = _fields(question.serving[0])
        pairs = serving.pop("pairs")
        serving.update({"pairs": pairs} if pairs else {})
    return {
        "output_count": str(question.output_count),
        "prediction": several if count or several is None else several[0],
        "target": target,
        "serving": serving,
    }


def choose_sigma(certificates: Sequence[Sequence[Certificate]]) -> tuple[int, list[float]]:
    """The index of the noise level with the greatest mean radius, and all mean radii.
    `certificates` has one list for each input, with one certificate for each level. Deploy the
    level on other inputs only.

    Raises ValueError if the lists differ in length, and CertregError if a certificate has failed
    or the levels are not the same for every input."""
    name = "certificates"
    rows = [listed(row, name) for row in listed(certificates, name)]
    inputs, levels = len(rows), len(rows[0]) if rows else 0
    flat = [instance(c, Certificate, name)._struct() for row in rows for c in row]
    if len(flat) != inputs * levels:
        raise ValueError("give every input one certificate for each level")
    return chosen_sigma((S.Certificate * len(flat))(*flat), inputs, levels)


def chosen_sigma(structs: Any, inputs: int, levels: int) -> tuple[int, list[float]]:
    """choose_sigma from a flat array of structs, first all levels of the first input."""
    means, level = (f64 * max(levels, 1))(), size_t()
    why = S.Error(
        text=b"give certificates that did not fail, with the same noise levels for every "
        b"input, all different"
    )
    check(lib.certreg_choose_sigma(structs, inputs, levels, means, C.byref(level)), why)
    return int(level.value), list(means[:levels])

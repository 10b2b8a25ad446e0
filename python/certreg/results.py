"""Certificates and other results of single calls of the library."""

from __future__ import annotations

import ctypes as C
import dataclasses
import functools
import json
import math
from typing import Any, NamedTuple, Sequence, TypeAlias, TypeVar, Union, cast

import numpy as np
from numpy.typing import ArrayLike

from . import structs as S
from .arguments import Struct, f64, field_names, instance, integer, listed, size_t, u64
from .arrays import array_of, numbers, optional_scale, unnamed
from .constants import JSON_SEED, Center, Constraint, Method, Outcome, Reason, Region, Side
from .constants import Statistic, Status, Stop, enum_value
from .display import HtmlTable, Table, floored
from .frames import put_placeholders
from .library import check, in_python, lib, version
from .questions import Asked, question_of

Result = TypeVar("Result", bound="_Result")
Json: TypeAlias = "Union[None, float, str, list[Json], dict[str, Json]]"


class _Result:
    """The base of dataclasses with the fields of a struct, under the same names."""

    @classmethod
    def _of(cls: type[Result], struct: Struct) -> Result:
        names = field_names(cls)  # type: ignore[arg-type]
        values = ((name, getattr(struct, name)) for name in names)
        return cls(
            **{name: tuple(value) if isinstance(value, C.Array) else enum_value(name, value)
               for name, value in values}
        )

    def _struct(self, **more: object) -> Struct:
        return cast(Struct, getattr(S, type(self).__name__)(**vars(self), **more))


@dataclasses.dataclass(frozen=True)
class Certificate(_Result, HtmlTable):
    """A prediction, and the radius within which the smoothed prediction stays near it.

    ``|T(z + delta) - prediction| < tolerance`` for every delta with ``||delta / scale|| < radius``.
    T(z) is the smoothed prediction at the input z. If nothing is proved, the radius is 0 and the
    output bounds are infinite. Unless the status is OK, prediction, estimate, tolerance and alpha
    are NaN.

    Attributes
    ----------
    status : Status
        OK, or the failure of this question.
    outcome : Outcome
        Certified, abstained or capped.
    stop : Stop
        Why sampling stopped.
    radius : float
        The radius, in units of the input divided by its scale.
    prediction : float
        The value on which the guarantee is centered; NaN for a vector.
    estimate : float
        T(z) as computed from all samples, without a guarantee; NaN for a vector.
    output_lo, output_hi : float
        T(z + delta) stays between them for every delta within the radius.
    radius_l1, radius_l2, radius_linf : float
        Radii of the largest balls of these norms inside the certified ellipsoid, for features of
        one unit. If units differ, the least scale bounds them: use `radius`.
    sigma, tolerance, alpha : float
        The noise level, the tolerance, and alpha after all divisions.
    samples : int
        Samples in the record, pilot included.
    noise_id : int
        Noise id of the input.
    question_digest : int
        question_digest of the question.
    output : int
        Index of the output.
    statistic, method, center, constraints : Statistic, Method, Center, Constraint
        From the question, with the constraints that were used.
    limiting_side : Side
        The condition that limits the radius; 0 if there is none.
    input_digest : int
        Digest of z and the scale, for `moved`.
    reason : Reason
        Why it abstains.
    share_out, share_allowed : float
        After an abstention about counted outputs, as of a median, else 0: an upper bound of the
        share of outputs that are out at `limiting_side`, and the share that has to be above it.
    samples_needed : int
        The number of samples that would have a radius if the share out stays; 0: none is known.
    audited : int
        The number of outputs for which the model was asked again, of all inputs whose samples were
        audited together; 0: the premise was not tested.
    audit_change, audit_band : float
        The largest difference. Outputs within this band of out counted as out; 0 with a difference:
        it is not bounded.
    audit_share : float
        If this share of outputs had differed by more, it would have been found with a probability
        of 0.95.
    counted, counted_out : int
        The number of main samples, and how many of them are out at most, if outputs were counted,
        as for a median; else 0.
    counted_required : float
        The largest share of outputs inside that a condition of counted outputs requires.
    faults : int
        Of the question; of `Estimator.certify_masks` the number of units that may be wrong.
    fault_radius : tuple of float
        With Faulty: the radius with k units of arbitrary values, for k from 0 to 7, all at one
        alpha; 0 if nothing is proved.
    served_samples, served_failure_rate : int, float
        Of Question.serving: the number of fresh outputs of a served value, and the part of requests
        that may miss; 0 and 0: the certificate is about the statistic itself."""

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
    question_digest: int
    output: int
    statistic: Statistic
    method: Method
    center: Center
    constraints: Constraint
    limiting_side: Side  # 0: none
    input_digest: int
    reason: Reason = Reason.NONE  # pickles of 0.2.0 end before it
    share_out: float = 0.0
    share_allowed: float = 0.0
    samples_needed: int = 0
    audited: int = 0
    audit_change: float = 0.0
    audit_band: float = 0.0
    audit_share: float = 0.0
    counted: int = 0
    counted_out: int = 0
    counted_required: float = 0.0
    faults: int = 0
    fault_radius: tuple[float, ...] = (0.0,) * 8
    served_samples: int = 0
    served_failure_rate: float = 0.0

    def __str__(self) -> str:
        audit = self.audited, self.audit_change, self.audit_band, self.audit_share
        claims = self.radius > 0 or math.isfinite(self.output_hi - self.output_lo)
        claims &= not self._is_of_all_sets  # which are not asked again
        return self._claim() + (f"; {premise_text(*audit)}" if claims else "")

    def _claim(self) -> str:
        if self.status != Status.OK:
            return f"no certificate: {self.status.name}"
        if self._is_of_all_sets and self.certified:
            return (
                f"the median of all {self.samples} sets stays between "
                f"{floored(self.output_lo, 6)} and {floored(self.output_hi, 6, True)} whatever "
                f"values {self.faults} of the units have"
            )
        if self._is_of_all_sets:
            return (
                f"nothing is proved about wrong units at tolerance {self.tolerance:g}: "
                f"{self.counted_out} of {self.counted} outputs are out"
            )
        if not self.radius > 0:
            text = f"nothing is proved at tolerance {self.tolerance:g} and sigma {self.sigma:g}"
            return text + self._because()
        center = "its prediction" if self.center == Center.PREDICTION else "its value at the input"
        place = f"within {self.tolerance:g} of {center}"  # a vector, or centered on the true mean
        if math.isfinite(self.output_lo) or math.isfinite(self.output_hi):
            ends = [floored(end, 6, up) or f"{end:g}" for end, up in
                    ((self.output_lo, False), (self.output_hi, True))]
            place = f"between {ends[0]} and {ends[1]}"
        statistic = self.statistic.name.lower().replace("_", " ")
        if self.method == Method.BASELINE:  # what it proves differs, and depends on serving
            return (
                f"the published certificate of the {statistic}, for comparison, has the radius "
                f"{floored(self.radius, 6)} at tolerance {self.tolerance:g} and "
                f"sigma {self.sigma:g}"
            )
        proved = self.method in (Method.FINITE, Method.ANYTIME)
        how = "" if proved else f" by the method {self.method.name}, which can be wrong more often"
        if self.faults:
            how += f", whatever values {self.faults} of the units have besides"
        what = f"smoothed {statistic}"
        if self.served_samples:
            what = f"{statistic} of {self.served_samples} fresh outputs"
            place += f", except in a part of {self.served_failure_rate:g} of requests,"
        return (
            f"the {what} stays {place} for every shift with a norm below "
            f"{floored(self.radius, 6)}, each feature divided by its scale "
            f"(alpha {self.alpha:g}{how})"
        )

    def _because(self) -> str:
        """The reason of an abstention, and the numbers that decide."""
        text = f"; {reason_text(self.reason)}" if self.reason else ""
        if self.share_allowed:
            out, allowed = 100 * self.share_out, 100 * self.share_allowed
            text += f"; up to {out:.4g} % of the outputs may be out, {allowed:.4g} % is too much"
        if self.samples_needed:
            text += f"; {self.samples_needed} samples would do if the share stays"
        return text

    def _texts(self) -> Sequence[str]:
        return [str(self)]

    def _table(self) -> Table:
        """Without the radii of balls, which have no unit if the units of the features differ."""
        return [line for line in super()._table() if not line["field"].startswith("radius_")]

    @property
    def _is_of_all_sets(self) -> bool:
        """True for an answer of Estimator.certify_masks, which alone has no alpha."""
        return self.alpha == 0

    @property
    def certified(self) -> bool:
        """True if the radius is positive, or if something is proved about wrong units alone."""
        return self.radius > 0 or self.outcome == Outcome.CERTIFIED

    def moved(self, z: ArrayLike, to: ArrayLike, scale: ArrayLike | None = None) -> Certificate:
        """Return the certificate about an input near z, without a call of the model.

        The radius becomes shorter by the norm of (to - z) / scale, and 0 if nothing is left. This
        is part of the same promise: it costs no alpha for any choice of `to`. Serving near `to`
        still needs fresh noise. Inputs and scale are rounded to float32 as by the Estimator.

        Parameters
        ----------
        z : array_like
            The input that the certificate is about.
        to : array_like
            An input of the same shape, equal to z for features of scale 0, with the same missing
            cells.
        scale : array_like, optional
            Scale of the Estimator or of certify_rows; by default 1.

        Raises
        ------
        TypeError, ValueError
            For wrong shapes.
        CertregError
            With the status MISMATCH if z or scale is not the certificate's; with the status INVALID
            for other inputs, and for certificates that cannot be moved, such as one about the true
            mean."""
        first, last = np.atleast_1d(unnamed(z, "z")), np.atleast_1d(unnamed(to, "to"))
        scales = optional_scale(scale, first.shape)
        named = ((first, "z"), (last, "to"))
        ends = [array_of(end, first.shape, np.float32, name).copy() for end, name in named]
        put_placeholders(*ends)
        out, why = S.Certificate(), S.Error()
        given = [None if part is None else part.ctypes for part in (scales, *ends)]
        check(lib.certreg_move_certificate(self._struct(), first.size, *given, why, out), why)
        return self._of(out)


def premise_text(audited: int, change: float, band: float, share: float) -> str:
    """What was tested of the premise of certificates, from their fields."""
    if not audited:
        return "premise not tested: the model was not asked again"
    counts = f"outputs within {band:.3g} of out count as out" if band else "it is not bounded"
    found = f"the largest difference is {change:.3g}, and {counts}" if change else "none differs"
    return f"{audited} outputs asked again: {found}; a share of {share:.2g} would have been found"


def reason_text(reason: int) -> str:
    """The library's sentence on a reason."""
    return in_python(lib.certreg_reason_text(reason).decode())


@dataclasses.dataclass(frozen=True)
class Run(_Result):
    """Facts that all certificates of one input share. The repr leaves out the seed, a secret.

    Attributes
    ----------
    seed, noise_id, level : int
        They determine the noise.
    samples, pilot, batch : int
        Samples in the record, samples of the pilot, and rows of one call.
    sigma : float
        The noise level.
    model_seconds, library_seconds : float
        Time since the input began, in the model and in the library."""

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
    """The number of samples for a target, pilot included.

    Attributes
    ----------
    least_samples : int
        The smallest number of samples that can prove it; 0: more than `max_samples`.
    expected_samples : float
        The expected number, if outputs keep the distribution of the record; it can be infinite."""

    least_samples: int
    expected_samples: float


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Bounds of a scalar function under the noise, from an estimator or filled in by hand.

    None means that a bound is not known.

    Parameters
    ----------
    sigma : float
        The noise level.
    mean_lo, mean_hi : float, optional
        Bounds of the mean.
    variance_hi : float, optional
        Upper bound of the variance.
    gradient_lo, gradient_hi : float, optional
        Bounds of sigma times the norm of the scaled gradient of the mean.
    range_lo, range_hi : float, optional
        Limits of the values.
    alpha : float
        Probability that the bounds are false; 0 by hand.
    samples : int
        Samples behind the bounds; 0 by hand.
    moment_center, moment_hi : float, optional
        A point, and an upper bound of the second moment about it.

    Examples
    --------
    >>> bounds = certreg.Bounds(0.25, mean_lo=0.9, mean_hi=1, range_lo=0, range_hi=1)
    >>> certreg.Solver().worst_case(bounds, 0.1).mean_least > 0.8
    True"""

    sigma: float
    mean_lo: float | None = None
    mean_hi: float | None = None
    variance_hi: float | None = None
    gradient_lo: float | None = None
    gradient_hi: float | None = None
    range_lo: float | None = None
    range_hi: float | None = None
    alpha: float = 0.0
    samples: int = 0
    moment_center: float | None = None
    moment_hi: float | None = None

    _FIELDS = {
        Constraint.MEAN: ("mean_lo", "mean_hi"),
        Constraint.VARIANCE: ("variance_hi",),
        Constraint.GRADIENT: ("gradient_lo", "gradient_hi"),
        Constraint.RANGE: ("range_lo", "range_hi"),
        Constraint.MOMENT: ("moment_center", "moment_hi"),
    }

    @property
    def constraints(self) -> Constraint:
        """The constraints with known bounds. Raises ValueError if one of two bounds that belong
        together is missing."""
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

    def _struct(self) -> S.Bounds:
        given = {k: v for k, v in vars(self).items() if v is not None}
        return S.Bounds(constraints=self.constraints, **given)

    @classmethod
    def _of(cls, struct: S.Bounds) -> "Bounds":
        known = {name: getattr(struct, name) for name in ("sigma", "alpha", "samples")}
        for constraint, names in cls._FIELDS.items():
            if struct.constraints & constraint:
                known.update({name: getattr(struct, name) for name in names})
        return cls(**known)


@dataclasses.dataclass(frozen=True)
class MeanChange(_Result):
    """Bounds of the change of a mean within a radius.

    Attributes
    ----------
    constraints : Constraint
        The constraints that were used.
    drop, rise : float
        The mean falls by at most `drop`, and grows by at most `rise`, in units of the function.
    mean_least, mean_greatest : float
        The least and the greatest mean that are possible within the radius."""

    constraints: Constraint
    drop: float
    rise: float
    mean_least: float
    mean_greatest: float


@dataclasses.dataclass(frozen=True)
class WorstFunction(_Result):
    """A worst function: its mean changes most within a radius. Experimental.

    It is a function of t, the component of the noise along the shift.

    Attributes
    ----------
    constraints : Constraint
        The constraints that were used.
    side : Side
        LOWER: the mean drops; UPPER: it rises.
    radius, change : float
        The radius, and the change of the mean within it.
    bound : float
        No function with these constraints changes by more.
    mean, variance, gradient : float
        Mean, variance and E[u t] of the function u.
    by_variance, by_mean, by_gradient : float
        The multipliers lambda, nu and mu of theory 3.6.
    offset, slope, rest, tilt : float
        The curve between the ends of the range (theory 3.6).
    range_lo, range_hi : float
        The ends of the range; infinite if no range is used.
    breakpoints : tuple of float
        Values of t between two regions.
    regions : tuple of Region
        The values in each region, one more than breakpoints."""

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
    def _of(cls, struct: Struct) -> "WorstFunction":
        count = struct.region_count
        return dataclasses.replace(
            super()._of(struct),
            breakpoints=tuple(struct.breakpoints[: count - 1]),
            regions=tuple(Region(region) for region in struct.regions[:count]),
        )

    def values(self, t: ArrayLike) -> Any:
        """Return values of the function, in the shape of t.

        Parameters
        ----------
        t : array_like
            Finite numbers of any shape. At the shifted input, t has the mean radius / sigma instead
            of 0."""
        given = np.ascontiguousarray(numbers(t, np.float64, "t"))
        out = np.empty_like(given)
        struct = self._struct(region_count=len(self.regions))
        check(lib.certreg_worst_function_values(struct, out.size, given.ctypes, out.ctypes))
        return out.reshape(np.shape(t))[()]


@dataclasses.dataclass(frozen=True)
class Radius(_Result):
    """The largest radius that is proved, and the condition that limits it.

    Attributes
    ----------
    outcome : Outcome
        Certified, abstained or capped.
    radius : float
        The radius; 0 if nothing is proved.
    limiting_side : Side
        The limiting side in a result of `within`.
    limiting : int
        The index of the limiting function in a result of `above`."""

    outcome: Outcome
    radius: float
    limiting_side: Side
    limiting: int


@dataclasses.dataclass(frozen=True)
class SolveInfo(_Result):
    """The cost of the last call on a solver or bisection.

    Attributes
    ----------
    evaluations, points : int
        Evaluations of the dual function, and points of quadratures.
    loose : int
        Searches that may not have found the best result; more evaluations may tighten it.
    refinements : int
        Bounds that were computed again with a finer quadrature.
    fallbacks : int
        Bounds that were replaced by a closed form. Fewer constraints may then be as tight.
    seconds : float
        Time."""

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
    question: Asked | None = None,
    run: Run | None = None,
    certificate: Certificate | None = None,
    flags: int = 0,
) -> str:
    """Return a question, run and certificate as one line of JSON.

    It has the fields of the structs of C: enumerations as numbers, 64-bit integers as texts,
    infinities and NaN as null. Last comes the version of the library, as a number.

    Parameters
    ----------
    question, run, certificate : Question or float, Run, Certificate, optional
        The parts of the line, each of them optional.
    flags : int
        JSON_SEED: with the seed.

    Examples
    --------
    >>> certreg.to_json(0.5)[:31]
    '{"question":{"output":0,"tolera'"""
    asked = None if question is None else question_of(question)
    for part, kind, name in ((run, Run, "run"), (certificate, Certificate, "certificate")):
        if part is not None:
            instance(part, kind, name)
    parts = {"question": asked, "run": run, "certificate": certificate}
    structs = {name: part._struct() for name, part in parts.items() if part is not None}
    found: dict[str, Any] = {name: _fields(struct) for name, struct in structs.items()}
    if asked is not None:
        found["question"].update(_pointed_at(structs["question"]))
    if not integer(flags, "flags", 0, JSON_SEED) and run is not None:
        del found["run"]["seed"]
    found["version"] = version()
    return json.dumps(found, separators=(",", ":"), allow_nan=False)


def _fields(struct: Struct) -> dict[str, Json]:
    """The numbers of a struct, in types of JSON."""
    found: dict[str, Json] = {}
    for name, kind in struct.kinds.items():
        if name in ("struct_size", "reserved") or name.endswith("_count"):
            continue
        value = getattr(struct, name)
        if kind in (u64, size_t):
            found[name] = str(value)  # many readers would lose bits of a number
        elif isinstance(value, (int, float)):
            found[name] = _number(value)
        elif isinstance(value, C.Array):
            found[name] = list(map(_number, value))
    return found


def _number(value: float) -> float | None:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value if math.isfinite(value) else None


def _pointed_at(question: Struct) -> dict[str, Json]:
    """The structs and numbers that a question points to."""
    count, given = question.prediction_count, question.prediction
    several: list[Json] = [_number(n) for n in given[: max(count, 1)]] if given else [None]
    target: dict[str, Json] | None = None
    serving: dict[str, Json] | None = None
    if question.target:
        asked = question.target[0]
        looks = [str(n) for n in asked.looks[: asked.look_count]] if asked.looks else None
        target = {**_fields(asked), "looks": cast(Json, looks)}
    if question.serving:
        serving = _fields(question.serving[0])
        pairs = serving.pop("pairs")
        serving.update({"pairs": pairs} if pairs else {})
    return {
        "output_count": str(question.output_count),
        "prediction": several if count else several[0],
        "target": target,
        "serving": serving,
    }


class _SigmaChoice(NamedTuple):
    level: int
    means: list[float]
    left_out: int = 0


class SigmaChoice(_SigmaChoice, HtmlTable):
    """The noise level that choose_sigma chooses.

    Attributes
    ----------
    level : int
        Index of the noise level.
    means : list of float
        The mean radius of each level.
    left_out : int
        Number of rows that failed at some level, and are left out at every level, so that all
        levels are compared on the same rows. 0 for certificates, which must not have failed."""

    _about: tuple[tuple[str, Sequence[float]], ...] = ()  # more columns

    def _table(self) -> Table:
        return [
            {"level": k, "mean_radius": mean, "chosen": "yes" if k == self.level else ""}
            | {name: each[k] for name, each in self._about}
            for k, mean in enumerate(self.means)
        ]

    __str__ = HtmlTable._text

    def _texts(self) -> Sequence[str]:
        left_out = f"{self.left_out} rows failed at some level, and are left out at every level"
        return [left_out] if self.left_out else []


def choose_sigma(certificates: Sequence[Sequence[Certificate]]) -> SigmaChoice:
    """Choose the noise level with the greatest mean radius, for other inputs than these.

    Parameters
    ----------
    certificates : sequence of sequence of Certificate
        A list for each input, with a certificate for each level.

    Returns
    -------
    SigmaChoice
        A tuple (level, means, left_out): the index of the level, the mean radius of each level, and
        0.

    Raises
    ------
    ValueError
        If the lists differ in length.
    CertregError
        If a certificate has failed, or the levels are not the same for every input.

    Examples
    --------
    >>> with certreg.Estimator(lambda x: x[:, 0], 1, 500, seed=1) as e:
    ...     each = [e.certify_sigmas([z], [0.1, 0.3], 500, 0.5) for z in (0.0, 1.0)]
    >>> chosen = certreg.choose_sigma(each)
    >>> chosen.means[chosen.level] == max(chosen.means)
    True"""
    name = "certificates"
    rows = [listed(row, name) for row in listed(certificates, name)]
    inputs, levels = len(rows), len(rows[0]) if rows else 0
    flat = [S.Certificate(**vars(instance(c, Certificate, name))) for row in rows for c in row]
    if not flat or len(flat) != inputs * levels:
        raise ValueError("certificates need a list for each input, with one for each level")
    return chosen_sigma((S.Certificate * len(flat))(*flat), inputs, levels)


def chosen_sigma(
    structs: "C.Array[S.Certificate]", inputs: int, levels: int
) -> SigmaChoice:
    """choose_sigma for a flat array of structs, beginning with all levels of the first input."""
    means, level, why = (f64 * max(levels, 1))(), size_t(), S.Error()
    check(lib.certreg_choose_sigma(structs, inputs, levels, why, means, C.byref(level)), why)
    return SigmaChoice(int(level.value), list(means[:levels]))

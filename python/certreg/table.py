"""The result of certify_rows: certificates of many inputs, remarks, files and exceptions."""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import enum
import functools
import itertools
import json
import math
import statistics
from typing import Any, Iterator, Mapping, NamedTuple, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from . import structs as S
from .alternatives import Found
from .arguments import Axes, Data, Frame, Function, Names, Path, Shape, needed, not_negative, number
from .arguments import instance, integer, path_of, positive
from .arrays import arrays_in_file, check_finite, flat_dtype, numbers, scale_of
from .constants import Center, Domain, Outcome, Output, Reason, Statistic, Status, Stop
from .constants import enum_value, version_text
from .display import HtmlTable, Line, Table, aligned, by_name, floored, printable, warn
from .estimator import Estimator, kinds_of, pilot_for
from .files import replace, replace_arrays
from .frames import TABLE, Index, feature_name, in_order, index_of, is_frame, listed, noise_on
from .frames import split_frame, step_of
from .inputs import Inputs, known_cells
from .library import in_words, lib, version
from .plots import curve_of, marked, plot_accuracy, plot_error, plot_radii
from .questions import NAN_MARKER, Faulty, Question, Serving, Target, digests_of, divided
from .questions import stated_tolerance, tolerance_text, typical_tolerance
from .report_page import page
from .results import Certificate, SigmaChoice, chosen_sigma, premise_text, reason_text
from .results import refused_certificate

CERTIFICATE = flat_dtype(S.Certificate)  # of a structured array
FIELDS = [name for name in CERTIFICATE.names or () if name not in ("struct_size", "reserved")]
COUNTS = ("counted", "counted_out", "counted_required")
ADDED = FIELDS[FIELDS.index("reason") :]  # since 0.3.0: the last columns of tables


def recorded(data: bytes) -> np.ndarray:
    """The outputs of all samples of a record, (samples, outputs), with NaN for failed samples.
    docs/stability.md describes the bytes."""
    words = np.frombuffer(data, "<u8", 18)  # magic, 15 words, and the first range
    outputs, samples = int(words[7]), int(words[17])
    return np.frombuffer(data, "<f4", samples * outputs, words.nbytes).reshape(samples, outputs)


class Record(NamedTuple):
    """The outputs of the model for one row and sigma, or for one of its alternatives."""

    row: int
    sigma_index: int
    data: bytes | None  # as Estimator.export returns it; None: sampling failed
    status: int  # of the failure, and its text
    error: str | None
    number: int = 0  # of the alternative; 0: the row itself
    depth: int = 0  # of a part of it, and its path
    path: int = 0
    picks: int = 0  # 1: it has only the samples that are asked again

    def outputs(self, outputs: int) -> np.ndarray:
        """The outputs of all samples, (samples, outputs), with NaN for failed samples; empty if
        sampling failed. Raises ValueError if the model has another number of outputs."""
        if self.data is None:
            return np.empty((0, outputs), np.float32)
        found = recorded(self.data)
        if outputs != found.shape[1]:
            held = found.shape[1]
            raise ValueError(f"outputs is {outputs}; the model of this record has {held}")
        return found


@dataclasses.dataclass(frozen=True)
class Sampling:
    """The arguments that determine the samples of all rows, beside the model and the inputs."""

    shape: Shape
    sigmas: tuple[float, ...]
    levels: tuple[int, ...]  # of the noise, one for each sigma
    samples: int
    seed: int = dataclasses.field(repr=False)
    scale: ArrayLike | None = None
    outputs: int = 1
    kind: np.ndarray | None = None
    lo: ArrayLike | None = None
    hi: ArrayLike | None = None
    batch: int = 0
    pilot: int = 0
    constraints: int = 0
    flags: int = 0
    noise_id: int = 0  # of row 0
    faulty: Faulty | None = None

    def turn(self, output: int) -> float:
        """The full turn of an angle; infinite for a number."""
        kinds = kinds_of(self.kind, self.outputs)
        if kinds is None or output < 0 or kinds[output] == Output.REAL:
            return math.inf
        lo, hi = -math.pi if self.lo is None else self.lo, math.pi if self.hi is None else self.hi
        turns: np.ndarray = np.broadcast_to(np.subtract(hi, lo), self.outputs)
        return float(turns[output])

    @property
    def nan_marker(self) -> str:
        """The end of a text about NaN if hidden features are NaN; empty otherwise."""
        return NAN_MARKER if self.faulty and self.faulty.marker is None else ""

    def estimator(self, model: Function | None, check: bool = False) -> Estimator:
        """A new estimator for this model, with `check` as its."""
        own = ("shape", "sigmas", "levels", "samples", "noise_id")
        more = {name: value for name, value in vars(self).items() if name not in own}
        return Estimator(model, self.shape, self.samples, check=check, **more)


def empty_certificates(*shape: int) -> np.ndarray:
    """Certificates that claim nothing."""
    return np.full(shape, np.frombuffer(bytes(refused_certificate()), CERTIFICATE)[0])


def claims_of(certificates: np.ndarray, of_bounds: bool) -> np.ndarray:
    """True for each certificate that claims something."""
    if of_bounds:
        return np.asarray(np.isfinite(certificates["output_hi"] - certificates["output_lo"]))
    return np.asarray(certificates["radius"] > 0)


_BLOCK = 1 << 14  # rows that are checked at a time
MOST_SIGMAS = 10  # of a radius: CERTREG_OUTCOME_CAPPED


def check_ranges(rows: Rows, done: np.ndarray) -> None:
    """Raises ValueError if the library never returns one of these certificates for the arguments of
    the rows. This does not depend on checksums."""
    sigmas = np.array(rows.sigmas)[:, None]
    longest = MOST_SIGMAS * sigmas * (1 + 1e-9) if rows.at_radius is None else rows.at_radius
    kinds = {"status": Status, "outcome": Outcome, "stop": Stop, "reason": Reason}
    each = np.flatnonzero(done)
    for first in range(0, len(each), _BLOCK):  # a copy of all certificates may be too large
        places = each[first : first + _BLOCK]
        found, ids = rows.certificates[places], rows.numbers[places] + rows.sampling.noise_id
        radius, failed = found["radius"], found["status"] != Status.OK
        possible = (
            (found["sigma"] == sigmas)
            & (found["noise_id"] == ids[:, None, None].astype(np.uint64))
            & (found["question_digest"] == digests_of(rows.questions, places))
            & (found["samples"] <= rows.samples)
            & ((radius >= 0) & (radius <= longest))
            & ((radius == 0) | ~failed & (found["outcome"] != Outcome.ABSTAINED))
        )
        for name, members in kinds.items():
            possible &= (found[name] >= 0) & (found[name] <= max(members))
        if not possible.all():
            row = places[~possible.all(axis=(1, 2))][0]
            raise ValueError(f"row {row} has values that no certificate has")


# ---- remarks
TOO_LITTLE = "float32 noise"  # in the error of an input that is too far from 0 for its noise
UNITS = "; scale='std' puts sigma in units of each feature"


def not_covered(sets: bool) -> str:
    """About features without noise, with or without alternatives."""
    rest = ", beyond the named alternatives" if sets else ""
    return f"changes of these are not certified{rest}"


def bytes_remark(values: np.ndarray, sigmas: Sequence[float]) -> str:
    """A text if the noise is less than one step of pictures in bytes; empty otherwise."""
    steps = values.ndim > 2 and values.max(initial=0) > 1 and values.min(initial=0) >= 0
    if max(sigmas) >= 1 or not steps or values.max() > 255 or (values != np.rint(values)).any():
        return ""
    return (
        "X has whole numbers from 0 to 255, and sigma and radii count in their units, so this "
        "noise is less than one step: for units of [0, 1] divide X by 255, which the model then "
        "gets"
    )


# A remark is an empty text, or there is none, if there is nothing to say.
def _output_remark(rows: Rows) -> str:
    """The outputs that no question is about."""
    outputs = rows.sampling.outputs
    left = set(range(outputs))
    for question in rows.questions:
        first = max(0, question.output)  # ALL_OUTPUTS begins at 0
        left -= set(range(first, first + question.outputs_of(outputs)))
    if not left:
        return ""
    names = f"output{'s' if len(left) > 1 else ''} {listed(sorted(left))}"
    return f"no question is about {names} of {outputs}: nothing is certified there"


def _premise_remark(rows: Rows) -> str:
    """What was tested of the premise, where least was tested."""
    claims = claims_of(rows.certificates, rows.at_radius is not None) & rows.done[:, None, None]
    if not claims.any():
        return ""
    audited, *measured = (
        rows.certificates[name][claims]
        for name in ("audited", "audit_change", "audit_band", "audit_share")
    )
    text = premise_text(int(audited.min()), *(each.max() for each in measured))
    some = np.count_nonzero(audited == 0)
    return f"{text}, for {some} of {audited.size} certificates" if 0 < some < audited.size else text


def _noise_remark(rows: Rows) -> str:
    """The features that get noise, for an array only if some get none."""
    noisy = rows._noisy()
    if noisy.all() and rows.columns is None:
        return ""
    text = noise_on(rows._named(np.ones_like(noisy)), noisy)
    if not noisy.all():
        text += f": {not_covered(bool(rows.alternatives))}"
    if rows.inputs and rows.inputs.guessed:
        text += f" (guessed from {rows.inputs.rows} rows)"
    return text


def _fault_remarks(rows: Rows) -> list[str]:
    """How many rows have a radius with wrong units."""
    texts = []
    for k, q in rows._answers() if rows.sampling.faulty else ():
        for wrong in range(1, 8):
            radius = rows[f"fault_radius_{wrong}"][:, k, q]
            if radius.any():
                texts.append(
                    f"with {wrong} unit{'s' * (wrong > 1)} of any values {(radius > 0).sum()} rows "
                    f"have a radius, {radius.mean():.3g} in the mean of all rows "
                    f"(sigma {rows.sigmas[k]:g}, question {q})"
                )
    return texts


def _missing_remark(rows: Rows) -> str:
    """The missing cells of features with noise."""
    missing = np.empty((0, 0), bool) if rows.missing is None else rows.missing[rows.done]
    if not missing.any():
        return ""
    features = listed(rows._named(np.asarray(missing.any(axis=0))))
    return (
        f"cells are missing in {missing.any(axis=1).sum()} of {len(missing)} rows, in {features}: "
        "their certificates are about inputs with the same cells missing"
    )


def _failure_remark(rows: Rows) -> str:
    """The number of failed rows and the first reason."""
    failed = (rows.certificates["status"][rows.done] != Status.OK).any(axis=(1, 2))
    if not failed.any():
        return ""
    unknown = (-1, 0), "the library gave no reason"
    (row, _), why = min(rows.errors.items(), default=unknown)
    place = f", the first in row {rows.numbers[row]}" if row >= 0 else ""
    own_units = bool(np.isin(rows.scale, (0, 1)).all())
    remedy = UNITS if own_units and TOO_LITTLE in why else ""
    return f"{failed.sum()} of {len(failed)} rows failed{place}: {in_words(why)}{remedy}"


def _name_of(reason: int) -> str:
    name = getattr(enum_value("reason", reason), "name", f"reason {reason}")
    return name.lower().replace("_", " ") if reason else "without a reason"


def _small(rows: Rows, k: int, q: int) -> str:
    """The end of a remark if the tolerance is below 1 % of the median size of the predictions."""
    predictions, tolerances = rows._fields("prediction tolerance", k, q)
    known = ~np.isnan(predictions)
    if rows.questions[q].relative_tolerance or not known.any():
        return ""
    size = np.median(np.abs(predictions[known]), overwrite_input=True)
    if np.median(tolerances[known]) >= 0.01 * size:
        return ""
    return (
        f"; this one is below 1 % of the median |prediction|, {size:.4g}: a tolerance like '10%' "
        "is a part of the prediction"
    )


def _unbounded_remarks(rows: Rows) -> Iterator[str]:
    """For each sigma and question without finite output bounds, if the radius is above the
    ceiling."""
    radius, samples = cast(float, rows.at_radius), rows.samples
    for k, q in rows._answers():
        lo, hi, status = rows._fields("output_lo output_hi status", k, q)
        if np.isfinite(hi - lo).any() or not (status == Status.OK).any():
            continue
        sigma, ceiling = rows.sigmas[k], _ceiling(rows, k, q)
        if ceiling <= radius and ceiling < MOST_SIGMAS * sigma:
            yield (
                f"no output is bounded at radius {radius:.5g}, above the ceiling {ceiling:.5g} of "
                f"sigma {sigma:g} and {samples} samples: give a smaller radius, a larger sigma or "
                "more samples"
            )


def _served_remarks(rows: Rows) -> Iterator[str]:
    """For each question that is about served values: what of."""
    for question in rows.questions:
        served = question.serving
        if served is not None:
            kind = "pairs of opposite noise" if served.pairs else "fresh outputs"
            yield (
                f"tolerance {tolerance_text(question)} is about values from {served.samples} "
                f"{kind}, of which a part of {served.failure_rate:g} may miss it"
            )


def _ceiling_remarks(rows: Rows) -> Iterator[str]:
    """For each question, if half of the rows have the longest radius that the largest sigma
    allows."""
    largest = int(np.argmax(rows.sigmas))
    for q, question in enumerate(rows.questions):
        radii, ceiling = rows._fields("radius", largest, q)[0], _ceiling(rows, largest, q)
        there = int(np.sum(radii >= ceiling * (1 - 1e-9)))
        if 0 < len(radii) <= 2 * there:
            yield (
                f"{there} of {len(radii)} radii are at the ceiling {ceiling:.5g} of sigma "
                f"{rows.sigmas[largest]:g} and {rows.samples} samples{_which(rows, question)}: a "
                "larger sigma may give longer radii"
            )


def _which(rows: Rows, question: Question) -> str:
    """The question, for a remark; empty if it is the only one."""
    return f" (tolerance {tolerance_text(question)})" if len(rows.questions) > 1 else ""


def _more_remarks(rows: Rows) -> Iterator[str]:
    """What four times the samples would do for the longest median radius, if the shares of outputs
    stay as they are. They do more: the worse of two counts becomes less bad, and a longer pilot
    predicts better. A question with a target chooses its samples."""
    done = np.flatnonzero(rows.done)
    for q, question in enumerate(rows.questions):
        radii = rows.certificates["radius"][done, :, q]
        if not radii.any() or question.target is not None:
            continue
        middle = np.argsort(radii, axis=0)[len(radii) // 2]
        k = int(np.argmax(np.take_along_axis(radii, middle[None], 0)))
        one = rows.certificates[done[middle[k]], k, q]
        radius, required, n, out = (
            one[name].item() for name in ("radius", "counted_required", "counted", "counted_out")
        )
        if not (out and radius):
            continue
        sigma = rows.sigmas[k]
        level = lib.certreg_count_level(n, required, radius / sigma, out)

        def of_longer(percent: int) -> float:
            longer = radius / sigma * (1 + percent / 100)
            return float(lib.certreg_count_level(4 * n, required, longer, 4 * out))

        gain = bisect.bisect(range(1, 200), level, key=of_longer)
        if gain:
            yield (
                f"{4 * rows.samples} samples would make the median radius at sigma {sigma:g} "
                f"about {gain}% longer, or more{_which(rows, question)}"
            )


def _ceiling(rows: Rows, k: int, q: int) -> float:
    """The longest radius, or the longest one with output bounds. For a median it is the radius of a
    constant model: no outputs satisfy more of its conditions. Otherwise it is the limit of the
    search."""
    plan, sigma, asked = rows.sampling, rows.sigmas[k], rows.questions[q]
    limit = MOST_SIGMAS * sigma
    chosen = asked.prediction is not None or asked.target is not None
    if chosen or asked.is_vector or asked.statistic != Statistic.MEDIAN:
        return limit
    low, high = (
        None if ends is None else float(np.broadcast_to(ends, plan.outputs)[asked.output])
        for ends in (plan.lo, plan.hi)
    )
    kind = None if plan.kind is None else plan.kind[[asked.output]]
    one: dict[str, Any] = {"shape": (1,), "outputs": 1, "kind": kind, "lo": low, "hi": high}
    plan = dataclasses.replace(plan, seed=1, batch=0, scale=None, **one)
    (asked,) = divided([asked._of_rows(0)], len(plan.sigmas))  # one ceiling for all tolerances
    asked = dataclasses.replace(asked, output=0)
    value = max(1 if high is None else min(1, high), -math.inf if low is None else low)
    columns = 2 if kind is not None and kind[0] == Output.ANGLE_PAIR else 1
    try:
        with plan.estimator(lambda x: np.full((len(x), columns), value)) as e:
            e.begin([0.0], sigma, 0)
            if rows.at_radius is None:
                return cast(Certificate, e.certify(plan.samples, asked)).radius or limit
            steps = 1 << 30

            def unbounded(step: int) -> bool:
                c = e.output_bounds(plan.samples, limit * step / steps, asked)
                return not math.isfinite(c.output_hi - c.output_lo)

            return limit * bisect.bisect_left(range(steps), True, lo=1, key=unbounded) / steps
    except Exception:  # such as too little memory: print must not fail
        return limit


# ---- files
_VERSION = 2  # 1 had no certreg
_ARRAYS = ("scale", "kind", "lo", "hi")  # fields of Sampling, None or numbers
_FACTS = ("at_radius", "domain", "model_id", "resume", "columns", "certreg")  # of Rows, as they are
_LATER = ("made", "doubt")  # facts that older files lack


def _with_all_fields(found: np.ndarray) -> np.ndarray:
    """Certificates of this version, also from those of 0.2.0, which end before `reason`."""
    first = np.dtype(CERTIFICATE.descr[: CERTIFICATE.descr.index((ADDED[0], "<i4"))])
    if found.dtype != first:
        return found
    made = empty_certificates(*found.shape)
    for name in (first.names or ())[1:]:
        made[name] = found[name]
    return made


def _question_of(facts: dict[str, Any]) -> Question:
    parts: dict[str, Any] = {name: enum_value(name, value) for name, value in facts.items()}
    if isinstance(facts["target"], dict):
        parts["target"] = Target(**{"growth": 0.0, **facts["target"]})  # files of 0.2.0 have none
    if facts["serving"] is not None:
        parts["serving"] = Serving(**facts["serving"])
    return Question(**parts)


def _check(rows: Rows) -> None:
    """Raises ValueError unless the parts fit together, and each certificate is possible."""
    count = len(rows.done)
    shape = (count, len(rows.sigmas), len(rows.questions))
    parts = ((rows.certificates, CERTIFICATE, shape), (rows.done, np.dtype(bool), (count,)))
    if any(array.dtype != dtype or array.shape != wanted for array, dtype, wanted in parts):
        raise ValueError("its arrays do not fit together")
    if rows.numbers.dtype.kind != "i" or rows.numbers.shape != (count,):
        raise ValueError("its rows have no numbers")
    cells, table = rows.missing, (count, *rows.sampling.shape)
    if cells is not None and (cells.dtype != bool or cells.shape != table):
        raise ValueError("its missing cells do not fit")
    each = [asked.tolerance for asked in rows.questions]
    if any(isinstance(of, tuple) and len(of) != count for of in each):
        raise ValueError("its tolerances do not fit")
    if rows.index is not None and len(rows.index) != count:
        raise ValueError("its index does not fit")
    if not np.isin(rows.certificates["struct_size"], (0, S.Certificate().struct_size)).all():
        raise ValueError("another version wrote its certificates; make it again")
    check_ranges(rows, rows.done)


# ---- the index of a DataFrame
def _facts_of_index(index: Index) -> dict[str, Any]:
    """The index as lists for JSON. Raises ValueError if they would make another index."""
    if index is None:
        return {"index": None}
    with contextlib.suppress(Exception):  # pandas raises various classes
        values = (index.astype("int64") if index.dtype.kind == "M" else index).tolist()
        facts = {"index": values, "index_dtype": str(index.dtype), "index_name": index.name}
        again = _index_of(json.loads(json.dumps(facts)))
        if again.equals(index) and again.dtype == index.dtype and again.name == index.name:
            return facts
    raise ValueError(
        f"the index of X ({type(index).__name__} of {index.dtype}) cannot be kept: set "
        "rows.index = None, or give X an index of numbers or texts"
    )


def _index_of(facts: dict[str, Any]) -> Index:
    if facts["index"] is None:
        return None
    pandas = needed("pandas", "the index of these rows")
    return pandas.Index(facts["index"], dtype=facts["index_dtype"], name=facts["index_name"])


ONLY = type("Only", (int,), {})()  # 0, for the only question
BETS = 0.5 ** np.arange(1, 11)[:, None]  # (p_j - alpha) / (1 - alpha) of theory 12.8
MARGIN = 1e-6  # above the rounding of tails
RULE, MOST_LEVEL = 0.25, 0.7  # the level of a count without another choice, and of a plan
LEAST_PILOT, LEAST_COUNTED = 60, 64  # rows that plan, and outputs of each


def population(
    rows: Rows,
    *,
    confidence: float = 0.95,
    radius: float | None = None,
    question: int | str = ONLY,
    labels: Data | None = None,
    error: float | None = None,
    limits: int | Rows | None = None,
) -> Table:
    """Bound from below the share of the population that has a breaking radius of at least r.

    The rows have to be independent draws from the population, and must have chosen nothing: neither
    sigma, scale, question, model or limit, nor themselves by their radii. That is the caller's
    promise (theory 12.8). Refused are the domain "calibration", a scale "std" or "iqr" or of
    tune_scale or a denoiser that was made from the rows, selected or unfinished rows, and noise ids
    that occur twice. Rows that failed or abstained count as radius 0.

    At one radius, outputs that are counted need no certificates: a row passes if at most "limit" of
    its outputs are out. Counted are outputs of medians by the method "finite", without a target,
    pairs and alternatives.

    Parameters
    ----------
    rows : Rows
        The result of certify_rows.
    confidence : float
        Probability that a bound holds, from 0.5 to less than 1. "population" holds for all radii
        and sigmas together, and so does "rows".
    radius : float, optional
        One radius > 0, fixed before the rows were seen; the bound of the population is then higher.
        By default all radii of the rows together.
    question : int or str
        Index or name of the question, which is needed if there are several. If one of several is
        chosen by its bounds, divide 1 - confidence by their number.
    labels : array_like or Series, optional
        True outputs, as for `Rows.label_errors`: count only rows with a prediction near the label.
    error : float, optional
        With labels: the largest distance that counts as near; by default the tolerance.
    limits : int or Rows, optional
        With a radius and counted outputs: how many outputs of a row may be out, fixed beforehand;
        or other rows, at the same sigmas, from which plan_population takes it. By default the limit
        whose level is nearest to 0.25, which depends on samples, radius and sigma alone. Rows with
        fewer samples, or that require more than half of their outputs inside, have the largest
        limit of no higher level.

    Returns
    -------
    list of dict
        A dict for each sigma: "sigma"; "radius", as of `Rows.curve`, or the one that was given;
        "share" of the rows with a certified radius of at least r, or that pass; "population", a
        lower bound, not an estimate, of the share of the population with a true radius of at least
        r; "rows", how many of these rows at least have one. If outputs were counted at a radius
        also "limit", the largest one of a row, and "level", the probability at most that a row
        passes whose true radius is less.

    Raises
    ------
    ValueError, IndexError
        For rows or arguments for which nothing could be promised.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> rows = certreg.certify_rows(lambda x: x[:, 0], X, 0.25, 0.5, seed=1, progress=False)
    >>> line = certreg.population(rows, radius=0.4)[0]
    >>> line["share"], round(line["population"], 3), line["rows"], line["limit"]
    (1.0, 0.98, 195, 41)"""
    if radius is not None:
        radius = positive(radius, "radius")
    confidence = _confidence_of(confidence)
    if error is not None and labels is None:
        raise ValueError("error needs labels")
    question = instance(rows, Rows, "rows")._question(question)
    _refuse(rows, question, labels)
    certificates = rows.certificates[:, :, question]
    near = np.ones(certificates.shape, bool)
    if labels is not None:
        most = certificates["tolerance"] if error is None else not_negative(error, "error")
        near = rows._errors_of(question, labels) <= most
    gamma = (1 - confidence) / len(rows.sigmas)
    is_counted = radius is not None and certificates["counted"].any() and not rows.alternatives
    if limits is not None and not is_counted:
        raise ValueError(
            "limits are for one radius and counted outputs: of medians by the method 'finite', "
            "without a target, pairs and alternatives"
        )
    limit, plans, lines = None, list[Line](), list[Line]()
    if isinstance(limits, Rows) and radius is not None:
        _refuse_shared(rows, limits)
        more = {"samples": rows.samples, "count": len(rows), "question": question}
        plans = plan_population(limits, radius=radius, confidence=confidence, **more)
    elif limits is not None:
        limit = integer(limits, "limits")
    for k, sigma in enumerate(rows.sigmas):
        answers, test = certificates[:, k], None
        if radius is not None and is_counted:
            level = plans[k]["level"] if plans else _level(answers, radius / sigma, limit)
            test = _test(answers, radius / sigma, level)
        lines.append({"sigma": sigma, **_bounds(answers, near[:, k], gamma, radius, test)})
    return lines


def _confidence_of(given: float) -> float:
    confidence = number(given, "confidence")
    if not 0.5 <= confidence < 1:
        raise ValueError(f"confidence is {confidence:g}; it must be from 0.5 to less than 1")
    return confidence


def _refuse(rows: Rows, question: int, labels: Data | None) -> None:
    """Raises ValueError or IndexError for rows that prove nothing about a population."""
    rows._check_radii()
    if not len(rows):
        raise ValueError("there are no rows")
    asked, numbers = rows.questions[question], np.sort(rows.numbers)
    if rows.domain == Domain.CALIBRATION:
        raise ValueError(
            "rows of the domain 'calibration' choose sigma or scale, so their radii are too long "
            "for a population: certify other rows"
        )
    if rows["faults"][:, :, question].any():
        raise ValueError("these radii are about wrong features too: ask with faults 0")
    if rows.made:
        raise ValueError(
            f"{rows.made} came from these rows, so their radii may be longer than those of the "
            "population: take it from elsewhere (feature_scale of other inputs, values by name)"
        )
    if rows._is_loose(question):
        raise ValueError(
            "certificates by the methods 'paper', 'asymptotic' and 'baseline', and about the "
            "center 'sample_median', have no bound of this kind: ask with the method 'finite'"
        )
    if labels is not None and asked.center != Center.PREDICTION:
        raise ValueError(
            "with labels the center must be 'prediction', which the pilot fixes: the estimate of "
            "the true mean comes from the samples that make the radius"
        )
    if not rows.done.all():
        raise ValueError(
            f"{int((~rows.done).sum())} of {len(rows)} rows are not finished, and every row "
            "counts: call certify_rows again with the same `resume`"
        )
    if (np.diff(numbers) != 1).any():
        raise ValueError(
            "the rows are a selection, and every row counts: give all rows, or a slice like "
            "rows[:500] that does not depend on the results"
        )
    ids = rows["noise_id"][:, 0, question][rows["status"][:, 0, question] == 0]
    found, count = np.unique(ids, return_counts=True)
    if (count > 1).any():
        raise ValueError(
            f"several rows have the noise ids {listed(found[count > 1].tolist())}, so their "
            "certificates fail together: give each part of a table its own noise_id"
        )


def _refuse_shared(rows: Rows, other: Rows) -> None:
    """Raises ValueError if rows that choose limits have other sigmas, or inputs or noise of these
    rows."""
    if other.sigmas != rows.sigmas:
        raise ValueError(f"limits has the sigmas {other.sigmas}; they must be {rows.sigmas}")
    for key, what in (("input_digest", "inputs"), ("noise_id", "noise ids and the seed")):
        own, others = (of[key][of["status"] == Status.OK] for of in (rows, other))
        is_drawn_alike = rows.seed and (rows.seed, rows.domain) == (other.seed, other.domain)
        if np.isin(own, others).any() and (key == "input_digest" or is_drawn_alike):
            raise ValueError(
                f"limits has {what} of these rows, which must not choose their own limit: give "
                "others, or a number that was fixed beforehand"
            )


def _limit(n: int, required: float, radius: float, level: float) -> int:
    """The largest count with at most this level; -1 if there is none."""
    key = functools.partial(lib.certreg_count_level, n, required, radius)
    return bisect.bisect(range(n), level, key=key) - 1


def _level(answers: np.ndarray, radius: float, limit: int | None) -> float:
    """The level of a limit, or the one nearest to that of the rule; the radius is in units of
    sigma."""
    n = int(answers["counted"].max())
    least = max(_limit(n, 0.5, radius, RULE), 0)
    each = [least, least + 1] if limit is None else [limit]
    levels = [lib.certreg_count_level(n, 0.5, radius, c) for c in each]
    return float(min(levels, key=lambda level: abs(level - RULE)))


def _test(answers: np.ndarray, radius: float, level: float) -> tuple[np.ndarray, Line]:
    """The rows that pass, and the largest limit with the level, which is fixed. The level of a
    row's own count is at most as high, because its pilot may choose what the row requires."""
    counted, required, out = (answers[f"counted{of}"] for of in ("", "_required", "_out"))
    counts = zip(counted.tolist(), required.tolist(), out.tolist())
    levels = np.array([lib.certreg_count_level(n, p, radius, k) for n, p, k in counts])
    least = float(np.min(required, where=counted > 0, initial=1))
    limit = _limit(int(counted.max()), least, radius, level)
    return (levels <= level) & (level < 1), {"limit": limit, "level": level}


def _bounds(
    answers: np.ndarray, near: np.ndarray, gamma: float, radius: float | None,
    test: tuple[np.ndarray, Line] | None,
) -> Line:  # fmt: skip
    """The bounds at one sigma, at all radii or at one, by certificates or by a test of counts."""
    radii, total, most = answers["radius"], len(answers), int(near.sum())
    alpha = float(np.max(answers["alpha"], where=answers["status"] == 0, initial=0.0))
    passed, more = test or (None, {})
    if passed is not None:
        radii, alpha = np.where(passed, np.inf, 0.0), more["level"] if passed.any() else 0.0
    proved = np.sort(radii[near & (radii > 0)])
    at = np.unique(np.append(radii[radii > 0], 0)) if radius is None else np.array([radius])
    counts = len(proved) - np.searchsorted(proved, at)
    if radius is None:
        least = counts / total - math.sqrt(-math.log(gamma) / (2 * total))
    else:
        least = np.array([binomial_lower(int(counts[0]), total, gamma)])
    line: Line = {
        "radius": at,
        "share": counts / total,
        "population": np.maximum((least - alpha) / (1 - alpha) - 1e-12, 0.0),
        "rows": most - most_wrong(most - counts, most, alpha, gamma),
    }
    if radius is not None:
        line = {name: values[0].item() for name, values in line.items()}
    return {**line, **more}


# ---- theory 12.8
def binomial_tail(count: int, trials: int, p: float) -> float:
    """P(Bin(trials, p) >= count), rounded up; 1 if the count is at most the mean."""
    if count <= trials * p:
        return 1.0
    if p <= 0:
        return 0.0
    gammas = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
    first = gammas + count * math.log(p) + (trials - count) * math.log1p(-p)
    j = np.arange(count, trials)
    rest = float(np.cumprod((trials - j) / (j + 1) * (p / (1 - p))).sum())
    return math.exp(min(first, 0.0)) * (1 + rest) * (1 + MARGIN)


def binomial_lower(count: int, trials: int, gamma: float) -> float:
    """The lower bound of Clopper and Pearson at level gamma <= 1/2."""
    low, high = 0.0, count / trials
    for _ in range(60):
        middle = (low + high) / 2
        if binomial_tail(count, trials, middle) <= gamma:
            low = middle
        else:
            high = middle
    return low


def most_wrong(refused: np.ndarray, rows: int, alpha: float, gamma: float) -> np.ndarray:
    """The most rows with a true radius below r, for all r together, with the numbers of rows that
    are not certified there."""
    if not alpha:  # no certificate
        return np.asarray(refused)
    p: np.ndarray = alpha + (1 - alpha) * BETS
    win, lose = np.log(p / alpha), np.log((1 - p) / (1 - alpha))
    most = math.log(len(BETS)) - math.log(gamma) + MARGIN
    low, high = refused, np.full_like(refused, rows)  # a bisection: the wealth grows with n
    while (low < high).any():
        n = (low + high + 1) // 2
        fine = np.logaddexp.reduce((n - refused) * win + refused * lose, axis=0) < most
        low, high = np.where(fine, n, low), np.where(fine, high, n - 1)
    return low


def plan_population(
    rows: Rows,
    *,
    radius: float,
    samples: int,
    count: int,
    confidence: float = 0.95,
    question: int | str = ONLY,
) -> Table:
    """Forecast the bound of `population` at one radius for other rows, and choose their limit.

    Experimental. The share of outputs that are out on the worse side of a row is taken to have a
    beta distribution, which is fitted to the counts of these rows. In trials the forecast had a
    standard deviation of .03 to .09 from pilot to pilot, and one was wrong by .47.

    Parameters
    ----------
    rows : Rows
        At least 60 rows with at least 64 counted outputs each, of which the bound is not.
    radius : float
        The radius > 0, fixed beforehand.
    samples, count : int
        Samples of each of the other rows, pilot included, and the number of these rows.
    confidence, question
        As for `population`.

    Returns
    -------
    list of dict
        A dict for each sigma: "sigma"; "limit", the best one, and its "level"; "population", the
        bound that is expected; "low" and "high", which contain 90% of the forecasts from resampled
        rows.

    Raises
    ------
    ValueError, IndexError
        For wrong arguments, and for too few rows or counted outputs.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 1))
    >>> rows = certreg.certify_rows(lambda x: x[:, 0], X, 0.25, 0.5, seed=1, progress=False)
    >>> plan = certreg.plan_population(rows, radius=0.4, samples=100, count=300)[0]
    >>> plan["low"] <= plan["population"] <= plan["high"]
    True"""
    radius, confidence = positive(radius, "radius"), _confidence_of(confidence)
    samples, count = integer(samples, "samples", 2), integer(count, "count", 1)
    instance(rows, Rows, "rows")._check_radii()
    question = rows._question(question)
    main = samples - (rows.sampling.pilot or pilot_for(samples, False))
    if main < 1:
        raise ValueError(f"samples is {samples}; the pilot takes all of them")
    gamma = (1 - confidence) / len(rows.sigmas)
    each = rows.certificates[:, :, question]
    return [
        {"sigma": sigma, **_planned(each[:, k], radius / sigma, main, count, gamma)}
        for k, sigma in enumerate(rows.sigmas)
    ]


def _planned(answers: np.ndarray, radius: float, main: int, count: int, gamma: float) -> Line:
    """The plan at one sigma for so many main samples and rows; the radius is in units of sigma."""
    n = int(answers["counted"].max(initial=0))
    if len(answers) < LEAST_PILOT or n < LEAST_COUNTED:
        raise ValueError(
            f"a plan needs at least {LEAST_PILOT} rows with at least {LEAST_COUNTED} counted "
            f"outputs each: there are {len(answers)} with {n}"
        )
    out = np.where(answers["counted"] == n, answers["counted_out"], n)  # failed rows are out
    k, times = np.unique(out.astype(float), return_counts=True)
    u, v = np.exp(np.linspace(-6, 5, 67)), np.exp(np.linspace(-4, 9, 79))  # of a beta distribution
    likelihood = _log_beta_binomial(k, n, u[:, None, None], v[:, None]).reshape(-1, k.size)
    resampled = np.random.default_rng(0).multinomial(len(out), times / len(out), 200)
    best = (likelihood @ np.vstack([times, resampled]).T).argmax(0)  # the first by the rows
    fits, of = np.unique(best, return_inverse=True)
    u, v = u[fits // v.size, None], v[fits % v.size, None]
    required = float(answers["counted_required"].max())
    rising = (lib.certreg_count_level(main, required, radius, c) for c in range(main))
    levels = [next(rising), *itertools.takewhile(lambda level: level <= MOST_LEVEL, rising)]
    a = np.minimum(levels, 1 - MARGIN)
    passed = np.exp(_log_beta_binomial(np.arange(a.size), main, u, v)).cumsum(-1).clip(0, 1)
    root = statistics.NormalDist().inv_cdf(1 - gamma) * np.sqrt(passed * (1 - passed) / count)
    expected = (passed - root - 1 / count - a) / (1 - a)
    level, each = levels[int(expected[of[0]].argmax())], expected.max(-1).clip(0)[of].tolist()
    low, high = np.quantile(each[1:], (0.05, 0.95)).tolist()
    bounds = {"population": each[0], "low": low, "high": high}
    return {"limit": _limit(main, 0.5, radius, level), "level": level, **bounds}


def _log_beta_binomial(k: np.ndarray, n: int, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """ln P(K = k) of n samples if the probability has a beta distribution."""
    chosen = _lgamma(n + 1.0) - _lgamma(k + 1.0) - _lgamma(n - k + 1.0)
    fitted = _lgamma(k + u) + _lgamma(n - k + v) - _lgamma(n + u + v)
    return np.asarray(chosen + fitted + _lgamma(u + v) - _lgamma(u) - _lgamma(v))


_lgamma = np.vectorize(math.lgamma, otypes=[float])


class Allowances(HtmlTable, list[Line]):
    """The result of `Rows.allowances`, which is shown rounded down."""

    def _table(self) -> Table:
        down = ("alone", "together")
        return by_name({**line, **{name: floored(line[name]) for name in down}} for line in self)

    def __str__(self) -> str:
        return printable(aligned(self._table())) if self else "no row is finished"


@dataclasses.dataclass
class Rows(HtmlTable):
    """The certificates of many inputs.

    ``rows["radius"]`` is short for ``rows.certificates["radius"]``. ``rows[10:20]``,
    ``rows[rows.radius > 0.1]`` and ``rows[[4, 2]]`` are Rows of some inputs.

    Attributes
    ----------
    certificates : ndarray
        Structured array of shape (rows, sigmas, questions), with the fields of Certificate.
    done : ndarray
        True for finished rows, (rows,); unfinished rows claim nothing.
    errors : dict
        A text for each failure, by (row, index of sigma).
    sampling : Sampling
        The arguments that determine the samples: sigmas, samples, seed and so on.
    questions : tuple of Question
        The questions in their order.
    at_radius : float or None
        The radius of output bounds; None if radii were computed.
    domain, model_id, resume
        As they were given.
    records : list
        With keep_records and without a resume file: a record for each finished row and sigma, and
        for each alternative (`number`, 0 for the row itself, `depth` and `path`);
        ``outputs(n)`` of a record has the outputs of all samples for a model with n outputs.
    index, columns
        Index and columns of the DataFrame of the inputs, columns as texts; None for an array.
    numbers : ndarray
        The index in X of each row, (rows,).
    missing : ndarray or None
        True for each missing cell in a feature that gets noise, (rows, features); None if there is
        none. A certificate is about inputs with the same cells missing.
    made : str
        What was computed from some of these rows: "the scale", by "std" or "iqr", "the denoiser",
        "the set of alternatives", by "any", or nothing.
    doubt : str
        The text of the ModelWarning of this call; empty without one.
    alternatives : dict
        For rows with alternatives, by (row, index of sigma): `count` of alternatives, `calls`, the
        `limiting` alternative for each question, `proved`, with a target the number before the
        first one that failed, their `names`, and for each question their `estimates`, without a
        guarantee. Experimental.
    inputs : Inputs or None
        Description of the inputs, for other calls: as given, or as the rows and the model decided.
    certreg : str
        Version of the library that made the certificates, also in rows of a file.

    Examples
    --------
    >>> model = lambda x: x[:, 0]
    >>> rows = certreg.certify_rows(model, [[1.0], [2.0]], 0.25, 0.5, seed=1, progress=False)
    >>> rows.certificate(0).certified, len(rows[rows.radius > 9])
    (True, 0)"""

    certificates: np.ndarray
    done: np.ndarray
    errors: dict[tuple[int, int], str]
    sampling: Sampling
    questions: tuple[Question, ...]
    at_radius: float | None = None
    domain: Domain = Domain.CERTIFY
    model_id: str = ""
    resume: str | None = None
    records: list[Record] = dataclasses.field(default_factory=list)
    index: Index = None
    numbers: np.ndarray = cast(np.ndarray, None)
    columns: Names = None
    missing: np.ndarray | None = None
    made: str = ""
    alternatives: dict[tuple[int, int], Found] = dataclasses.field(default_factory=dict)
    doubt: str = ""
    inputs: Inputs | None = None
    certreg: str = dataclasses.field(default_factory=lambda: version_text(version()))

    def __post_init__(self) -> None:
        if cast(np.ndarray | None, self.numbers) is None:
            self.numbers = np.arange(len(self))

    @property
    def sigmas(self) -> tuple[float, ...]:
        """The noise levels."""
        return self.sampling.sigmas

    @property
    def samples(self) -> int:
        """The number of samples of each row at each sigma, pilot included."""
        return self.sampling.samples

    @property
    def scale(self) -> ArrayLike:
        """The noise of each feature in units of sigma, as certify_rows takes it."""
        scale = self.sampling.scale
        return np.ones(self.sampling.shape) if scale is None else scale

    @property
    def seed(self) -> int | None:
        """The seed of the noise; None in rows of a file without it. Keep it secret: it determines
        the noise."""
        return self.sampling.seed or None

    @property
    def radius(self) -> np.ndarray:
        """The radius of each row, (rows,), if there is one sigma and one question; otherwise
        rows["radius"], (rows, sigmas, questions). It is 0 if nothing is certified."""
        return self._alone("radius")

    @property
    def prediction(self) -> np.ndarray:
        """The prediction of each row, in the shape of `radius`. It is NaN for rows that failed, and
        for vectors."""
        return self._alone("prediction")

    def _alone(self, field: str) -> np.ndarray:
        values: np.ndarray = self[field]
        return values[:, 0, 0] if values.shape[1:] == (1, 1) else values

    def __len__(self) -> int:
        return len(self.certificates)

    def __iter__(self) -> Iterator[Certificate]:
        """The certificates of the rows, if there is one sigma and one question."""
        if self.certificates.shape[1:] != (1, 1):
            raise ValueError(
                f"each row has {math.prod(self.certificates.shape[1:])} certificates: use "
                "certificate(row, question, sigma), or the lines of to_dicts()"
            )
        return map(self.certificate, range(len(self)))

    def __getitem__(self, field: Any) -> Any:
        if np.ndim(field) > 1:
            raise IndexError(
                f"an array of the shape {np.shape(field)} cannot choose rows: give a flag for each "
                f"of the {len(self)} rows, such as rows['radius'][:, sigma, question] > 0.1"
            )
        if isinstance(field, (slice, list)) or np.ndim(field):
            return self._some(np.arange(len(self))[field])
        if field not in (CERTIFICATE.names or ()):
            raise KeyError(
                f"there is no field {field!r}: certificate(row) returns one certificate, and "
                f"rows[name] a field, {', '.join(FIELDS)}"
            )
        values: np.ndarray = self.certificates[field]
        return values

    def _some(self, which: np.ndarray) -> "Rows":
        """The rows at these places, without records, since `sampling` is about all rows."""
        places = [(i, row, k) for i, row in enumerate(which) for k in range(len(self.sigmas))]

        def taken(known: dict[tuple[int, int], Any]) -> dict[tuple[int, int], Any]:
            return {(i, k): known[row, k] for i, row, k in places if (row, k) in known}

        return dataclasses.replace(
            self,
            certificates=self.certificates[which],
            done=self.done[which],
            errors=taken(self.errors),
            questions=tuple(question._of_rows(which) for question in self.questions),
            resume=None,
            records=[],
            index=None if self.index is None else self.index.take(which),
            numbers=self.numbers[which],
            missing=None if self.missing is None else self.missing[which],
            alternatives=taken(self.alternatives),
        )

    def _question(self, given: int | str | None) -> int:
        """The index of a question by its index or name; of the only one by None or ONLY."""
        names = [asked.name for asked in self.questions]
        if isinstance(given, str) and names.count(given) == 1:
            return names.index(given)
        if isinstance(given, str) or len(names) > 1 and (given is None or given is ONLY):
            each = "; ".join(f"{q}{name}" for q, name in enumerate(self._names()))
            alone = ", the only one" * (len(names) == 1)
            remedy = f"give question, an index or a name, of {each}{alone}"
            if isinstance(given, str):
                raise IndexError(f"question is {given!r}: {remedy}")
            raise ValueError(f"there are {len(names)} questions: {remedy}")
        at = 0 if given is None else given
        _check_index("question", at, len(names))
        return at % len(names)

    def certificate(self, row: int, question: int | str = 0, sigma: int = 0) -> Certificate:
        """Return the certificate of a row.

        Parameters
        ----------
        row, question, sigma : int
            Indices, from the end if they are negative; a question also by its name.

        Raises
        ------
        IndexError
            If there is none."""
        question = self._question(question)
        labels = "" if self.index is None else ": rows.index.get_loc(label) is that of a label"
        _check_index("row", row, len(self), labels)
        _check_index("sigma", sigma, len(self.sigmas))
        one = self.certificates[row, sigma, question]
        return Certificate._of(S.Certificate.from_buffer_copy(one.tobytes()))

    def to_dicts(self) -> Table:
        """Return the certificates as dicts.

        Returns
        -------
        list of dict
            A dict for each finished row, sigma and question: "row", "sigma", "question" (an index),
            the fields of the certificate without digests and counts, with members of enumerations
            as names in lower case, and "error", which is empty if nothing failed. If some features
            get no noise, "exact" has their names. If cells are missing, "missing" has their
            names. "name", if there is one, is that of the question."""
        columns = self._results()
        return [dict(zip(columns, line)) for line in zip(*(c.tolist() for c in columns.values()))]

    def _results(self) -> dict[str, np.ndarray]:
        """The keys of to_dicts, with the values for all finished rows, sigmas and questions."""
        done, answers = np.flatnonzero(self.done), np.array([*self._answers()])
        rows, (ks, qs) = np.repeat(done, len(answers)), np.tile(answers, (len(done), 1)).T
        left_out = {"sigma", "question_digest", "input_digest", *COUNTS}
        if self.sampling.faulty is None:
            left_out |= {name for name in FIELDS if name.startswith("fault")}
        if all(of.serving is None for of in self.questions):
            left_out |= {"served_samples", "served_failure_rate"}
        out = {"row": self.numbers[rows], "sigma": np.array(self.sigmas)[ks], "question": qs}
        fields = [name for name in FIELDS if name not in left_out]
        out |= {name: _words(name, self.certificates[name][done]) for name in fields}
        every, out["error"] = [], np.full(len(rows), "", object)
        if self.errors or self.alternatives:
            every = [*zip(rows.tolist(), ks.tolist(), qs.tolist())]
            out["error"] = _objects([self.errors.get(at[:2], "") for at in every])
        exact = listed(self._named(~self._noisy()))
        if exact:
            out["exact"] = _objects([exact] * len(rows))
        if self.alternatives:  # a failed row has none
            found = [(self.alternatives.get(at[:2]), at[2]) for at in every]
            out["alternatives"] = np.array([each.count if each else 0 for each, _ in found])
            limiting = [each.limiting[q] if each else "" for each, q in found]
            out["limiting_alternative"] = _objects(limiting)
        if self.missing is not None:
            cells = [", ".join(self._named(self.missing[row])) for row in done]
            out["missing"] = np.repeat(_objects(cells), len(answers))
        out |= {name: out.pop(name) for name in ADDED if name in out}
        if self.alternatives:
            estimates = [each.estimate(q) if each else math.nan for each, q in found]
            out["limiting_estimate"] = np.array(estimates)
        if any(of.name for of in self.questions):
            out["name"] = _objects([of.name for of in self.questions])[qs]
        return out

    def to_frame(self) -> Frame:
        """Return the certificates as a DataFrame.

        Returns
        -------
        DataFrame
            The columns are the keys of `to_dicts`, and the index is the one of the inputs if they
            were a DataFrame.

        Raises
        ------
        ImportError
            If pandas is missing."""
        columns = {n: c if c.ndim == 1 else [*c] for n, c in self._results().items()}
        frame = needed("pandas", "to_frame").DataFrame(columns)
        if self.index is not None:
            each = np.prod(self.certificates.shape[1:], dtype=int)
            frame.index = self.index.take(np.repeat(np.flatnonzero(self.done), each))
        return frame

    def save(self, path: Path, keep_seed: bool = False) -> None:
        """Write the rows to an .npz file, which keeps everything but records and the seed.

        Other versions of the package may refuse the file; for archives use `to_frame`.

        Parameters
        ----------
        path : str or path
            Path of the file.
        keep_seed : bool
            Keep the seed too. The file is then for its owner alone: whoever knows the seed can make
            certificates false.

        Raises
        ------
        ValueError
            If there are records, or an index such as a MultiIndex, which the file cannot keep."""
        if self.records:
            raise ValueError("a file of rows keeps no records: save rows[:], which has none")
        sampling = self.sampling if keep_seed else dataclasses.replace(self.sampling, seed=0)
        plan = {**vars(sampling), "faulty": sampling.faulty and vars(sampling.faulty)}
        optional = {name: plan.pop(name) for name in _ARRAYS} | {"missing": self.missing}
        arrays = {name: np.asarray(value) for name, value in optional.items() if value is not None}
        described = None
        with contextlib.suppress(ValueError):  # a file cannot keep every description
            described = self.inputs and self.inputs._facts()
        facts = {
            **{name: getattr(self, name) for name in _FACTS + _LATER},
            "arrays": list(arrays),
            "sampling": plan,
            "questions": [dataclasses.asdict(question) for question in self.questions],
            "errors": [[row, k, text] for (row, k), text in self.errors.items()],
            "alternatives": [
                [row, k, *vars(found).values()] for (row, k), found in self.alternatives.items()
            ],
            "inputs": described,
            **_facts_of_index(self.index),
        }
        replace_arrays(
            path_of(path),
            keep_seed,
            version=_VERSION,
            facts=np.array(json.dumps(facts, default=lambda value: value.tolist())),
            certificates=np.ascontiguousarray(self.certificates),
            done=self.done,
            numbers=self.numbers,
            **arrays,
        )

    @classmethod
    def load(cls, path: Path) -> "Rows":
        """Read the rows of a file. Checks find damage, not forgery.

        Parameters
        ----------
        path : str or path
            A file of `save`.

        Returns
        -------
        Rows
            The rows; `seed` is None if the file does not have it.

        Raises
        ------
        ValueError
            If the file is of another kind or damaged.

        Examples
        --------
        >>> rows = certreg.certify_rows(lambda x: x[:, 0], [[1.0], [2.0]], 0.25, 0.5, seed=1)
        >>> rows.save("two.npz")
        >>> str(certreg.Rows.load("two.npz")) == str(rows)
        True"""
        with arrays_in_file(path, "file of rows", _VERSION) as kept:
            if not {"facts", "certificates", "done", "numbers"} <= set(kept):
                raise ValueError("it holds something else")
            facts = json.loads(str(kept["facts"]))
            if not set(facts.get("arrays", ())) <= set(kept):
                raise ValueError("it has lost an array")
            arrays = {name: kept[name] for name in _ARRAYS if name in kept}
            if any(values.dtype.kind not in "biuf" for values in arrays.values()):
                raise ValueError("an array of its plan holds no numbers")
            plan = {**facts["sampling"], **arrays}
            plan.pop("group", None)  # which 0.2.0 wrote
            plan.update((name, tuple(plan[name])) for name in ("shape", "sigmas", "levels"))
            if plan.get("faulty") is not None:
                plan["faulty"] = Faulty(**plan["faulty"])._of(math.prod(plan["shape"]), None)
            made = cls(
                certificates=_with_all_fields(kept["certificates"]),
                done=kept["done"],
                numbers=kept["numbers"],
                missing=kept.get("missing"),
                errors={(row, k): str(text) for row, k, text in facts["errors"]},
                sampling=Sampling(**plan),
                questions=tuple(map(_question_of, facts["questions"])),
                index=_index_of(facts),
                alternatives={
                    (row, k): Found.of_lists(*parts)
                    for row, k, *parts in facts.get("alternatives", [])
                },
                inputs=Inputs._of_facts(facts["inputs"]) if facts.get("inputs") else None,
                **{name: facts[name] for name in _FACTS},
                **{name: facts[name] for name in _LATER if name in facts},
            )
            made.domain = Domain(made.domain)
            _check(made)
        return made

    def _called(self, q: int) -> Line:
        """The name of a question as the last column, if some question has one."""
        return {"name": self.questions[q].name} if any(of.name for of in self.questions) else {}

    def _promised(self, q: int) -> Line:
        """The last columns of a summary: what questions promise, if it differs, and names."""
        each = [(of.method, of._promise()) for of in self.questions]
        method, promise = each[q]
        more = {"method": _word("method", method), "promise": promise} if len({*each}) > 1 else {}
        return more | self._called(q)

    def _table(self) -> Table:
        """The summary with names in place of numbers."""
        return by_name(self.summary())

    def summary(self) -> Table:
        """Summarize finished rows.

        Returns
        -------
        list of dict
            A dict for each sigma and question: the numbers of rows that were certified, abstained
            or failed, and the mean and median radius, with radius 0 for rows that abstained or
            failed. For output bounds the numbers of rows with two finite bounds and of failed rows,
            and the median width between finite bounds; infinite if no row has them. If methods
            differ, "method" and in a word the "promise" of its certificates; and the "name", if a
            question has one."""
        one = self._summary_of_radii if self.at_radius is None else self._summary_of_bounds
        return [{**one(k, q), **self._promised(q)} for k, q in self._answers()]

    def _summary_of_bounds(self, k: int, q: int) -> Line:
        lo, hi, status = self._fields("output_lo output_hi status", k, q)
        widths = hi - lo
        finite = widths[np.isfinite(widths)]
        return {
            "sigma": self.sigmas[k],
            "question": q,
            "statistic": _word("statistic", self.questions[q].statistic),
            "radius": self.at_radius,
            "rows": len(status),
            "bounded": len(finite),
            "failed": int(np.sum(status != 0)),
            "median_width": float(np.median(finite)) if len(finite) else math.inf,
        }

    def _summary_of_radii(self, k: int, q: int) -> Line:
        asked = self.questions[q]
        radii, status = self._fields("radius status", k, q)
        return {
            "sigma": self.sigmas[k],
            "question": q,
            "tolerance": stated_tolerance(asked),
            "statistic": _word("statistic", asked.statistic),
            "rows": len(radii),
            "certified": int(np.sum(radii > 0)),
            "mean_radius": float(np.mean(radii)) if len(radii) else 0.0,
            "median_radius": float(np.median(radii)) if len(radii) else 0.0,
            "abstained": int(np.sum(self._abstained(k, q))),
            "failed": int(np.sum(status != 0)),
        }

    def _abstained(self, k: int, q: int) -> np.ndarray:
        """True for finished rows that abstained. Failed rows have this outcome too."""
        status, outcome = self._fields("status outcome", k, q)
        return np.asarray((status == Status.OK) & (outcome == Outcome.ABSTAINED))

    def _answers(self) -> Iterator[tuple[int, ...]]:
        """The indices of each sigma and question."""
        return np.ndindex(self.certificates.shape[1:])

    def _noisy(self) -> np.ndarray:
        """True for features that get noise, (features,)."""
        return np.asarray(np.broadcast_to(self.scale, self.sampling.shape) != 0).ravel()

    def _places(self) -> Table:
        """The number of each row, and its label in the index of a DataFrame if one differs."""
        each = self.numbers.tolist()
        if self.index is None or list(self.index) == each:
            return [{"row": number} for number in each]
        return [{"row": number, "index": label} for number, label in zip(each, self.index)]

    def _named(self, which: np.ndarray) -> list[str]:
        """The names of these features, which are counted if they have no names."""
        names, shape = self.columns, self.sampling.shape
        at = np.flatnonzero(which).tolist()
        return [names[j] if names else feature_name(j, shape) for j in at]

    def _fields(self, names: str, k: int, q: int) -> list[np.ndarray]:
        """Fields of the finished rows. Whole certificates would be copied."""
        return [self.certificates[name][self.done, k, q] for name in names.split()]

    def remarks(self) -> list[str]:
        """Return what `print` adds to the summary.

        Returns
        -------
        list of str
            A text about outputs without a question; the text of a ModelWarning; what was tested of
            the premise; a text about features without noise; a text about missing cells; for each
            question a text if at least half of the radii at the largest sigma are as long as it
            allows, and how much longer the median radius would be with four times the samples; with
            Faulty the radii with wrong units; for each sigma and question the reasons of rows that
            abstained, or a text if no output is bounded because sigma and samples allow no such
            radius; and a text about failed rows, with the first reason. Features without names are
            counted from 0."""
        first, last = _output_remark(self), _failure_remark(self)
        return [text for text in [first, *self._remarks(), *self._abstentions(), last] if text]

    _texts = remarks

    def _remarks(self) -> list[str]:
        """The remarks that are neither on outputs without a question nor on failures."""
        texts = [self.doubt, _premise_remark(self), _noise_remark(self), _missing_remark(self)]
        texts += [*_fault_remarks(self), *_served_remarks(self)]
        if self.at_radius is None:
            texts += [*_ceiling_remarks(self), *_more_remarks(self)]
        else:
            texts += _unbounded_remarks(self)
        return [text for text in texts if text]

    def _abstentions(self) -> Iterator[str]:
        """For each sigma and question at which rows abstained, for radii: their number for each
        reason, the library's sentence on the most frequent one, and what would do."""
        for k, q in self._answers() if self.at_radius is None else ():
            abstained = self._abstained(k, q)
            if not abstained.any():
                continue
            each = np.unique(self._fields("reason", k, q)[0][abstained], return_counts=True)
            counts = sorted(zip(*each), key=lambda pair: -pair[1])
            why = ", ".join(f"{count} {_name_of(reason)}" for reason, count in counts)
            if counts[0][0]:
                why += f"; {reason_text(counts[0][0])}"
            needed = self._fields("samples_needed", k, q)[0]
            some = needed[abstained & (needed > 0)]
            if len(some):
                why += f"; for {len(some)} of them {some.max()} samples would do if the shares stay"
            if not self._fields("radius", k, q)[0].any():
                why += _small(self, k, q)
            level = f" and sigma {self.sigmas[k]:g}" if len(self.sigmas) > 1 else ""
            place = f"at tolerance {tolerance_text(self.questions[q])}{level}"
            place += f", question {self.questions[q].name}" if self.questions[q].name else ""
            yield f"{abstained.sum()} of {len(abstained)} rows abstained {place}: {why}"

    __str__ = __repr__ = HtmlTable._text

    def label_errors(self, labels: Data) -> np.ndarray:
        """Compute the distance of each prediction from the label of its row.

        Parameters
        ----------
        labels : array_like or Series
            The true outputs, (rows,), in the order of the rows. If the inputs were a DataFrame, a
            Series must have its index.

        Returns
        -------
        ndarray
            The distances, (rows, sigmas, questions), along the circle for angles; NaN without a
            prediction, as in failed rows.

        Raises
        ------
        ValueError
            For a wrong shape, and for a question about several outputs, which has no single
            prediction."""
        each = [self._errors_of(q, labels) for q in range(len(self.questions))]
        return np.stack(each, axis=2)

    def _errors_of(self, q: int, labels: Data) -> np.ndarray:
        """label_errors of one question, (rows, sigmas)."""
        output = self.questions[q].output
        if self.questions[q].is_vector:
            raise ValueError(
                f"question {q} has no single prediction, so labels cannot be compared with it"
            )
        truth = labels_of(labels, len(self), self.index)
        turn = self.sampling.turn(output)
        away = np.abs(self["prediction"][:, :, q] - truth[:, None])
        errors: np.ndarray = np.minimum(away % turn, -away % turn)
        return errors

    def _check_radii(self) -> None:
        if self.at_radius is not None:
            raise ValueError(
                "these rows are output bounds, which have no radii: rows['output_lo'] and "
                "rows['output_hi'] have them, and plot_reach draws the bounds of one input"
            )

    def allowances(
        self,
        X: Data | None = None,
        *,
        question: int | str | None = None,
        sigma: int | None = None,
    ) -> Table:
        """Compute how far each column of each finished row may be off, in its own unit.

        Numbers are rounded down, also when the list is printed. Experimental.

        Parameters
        ----------
        X : array_like or DataFrame, optional
            The inputs of the rows: their rounding to float32 is then included, and steps of up to
            64 columns are found. Otherwise steps are those of `inputs`.
        question, sigma : int, optional
            Indices, which are needed if there are several; a question also by its name.

        Returns
        -------
        list of dict
            A dict for each row and column: "row", its label as "index" if a DataFrame has another
            one, "sigma", "question", "column"; "alone", how far it may be off if all other columns
            are exact; "together", if all columns are off, each by at most its number; "step", and
            the two numbers in whole steps, NaN if there is none; "note": "exact" for a column of
            scale 0, or "missing" for a cell with NaN as its numbers, because no change of it is
            covered; and the question's "name", if a question has one.

        Raises
        ------
        ValueError, IndexError
            For output bounds, other inputs, and a wrong or missing choice.

        Examples
        --------
        >>> model = lambda x: x[:, 0] + x[:, 1]
        >>> rows = certreg.certify_rows(model, [[1.0, 20.0]], 0.25, 0.5, scale=[1, 0], seed=1)
        >>> [(line["column"], line["note"], line["alone"] > 0.3) for line in rows.allowances()]
        [('feature 0', '', True), ('feature 1', 'exact', False)]"""
        self._check_radii()
        if sigma is None and len(self.sigmas) > 1:
            raise ValueError(f"there are {len(self.sigmas)} sigmas: give sigma, an index")
        _check_index("sigma", sigma or 0, len(self.sigmas))
        k, q = (sigma or 0) % len(self.sigmas), self._question(question)
        if self._is_loose(q):
            raise ValueError(
                "radii by the methods 'paper', 'asymptotic' and 'baseline', and about the center "
                "'sample_median', can be too long more often than alpha: ask with 'finite'"
            )
        sizes, steps, noisy = self._allowed(X, k, q), self._steps(X), self._noisy()
        whole = np.floor(sizes / steps * (1 - 1e-12))
        heads = "column note alone together step alone_steps together_steps".split()
        places, lines = self._places(), Allowances()
        for i in np.flatnonzero(self.done).tolist():
            first = {**places[i], "sigma": self.sigmas[k], "question": q}
            notes = np.where(noisy, np.where(np.isnan(sizes[0, i]), "missing", ""), "exact")
            counts = ([n if n != n else int(n) for n in part.tolist()] for part in whole[:, i])
            parts = (notes.tolist(), *sizes[:, i].tolist(), steps.tolist(), *counts)
            each = zip(self._named(noisy | True), *parts)
            lines += [{**first, **dict(zip(heads, line)), **self._called(q)} for line in each]
        return lines

    def _is_loose(self, question: int) -> bool:
        """True if certificates about this question may be false more often than alpha."""
        return self.questions[question]._promise() != "proved"

    def _allowed(self, X: Data | None, k: int, q: int) -> np.ndarray:
        """How far each feature of each row may be off alone, and together with all others, (2,
        rows, features); NaN for missing cells."""
        noisy, radii = self._noisy(), np.nan_to_num(self["radius"][:, k, q])[:, None]
        lacks = np.zeros((len(self), noisy.size), bool)
        lacks |= False if self.missing is None else self.missing.reshape(lacks.shape)
        moving = np.maximum(1, np.sum(noisy & ~lacks, axis=1, keepdims=True))
        scale = scale_of(self.scale, self.sampling.shape).astype(np.float64)
        sizes = np.stack([radii * scale, radii / np.sqrt(moving) * scale])
        if X is not None:  # both ends of a change may be rounded to float32
            sizes -= np.spacing((np.abs(self._values_of(X)) + sizes[0]).astype(np.float32))
        sizes = np.nextafter(np.maximum(sizes * (1 - 1e-12), 0), 0)
        return np.where(lacks, np.nan, np.where(noisy, sizes, 0))

    def _values_of(self, X: Data) -> np.ndarray:
        """The inputs of the rows as numbers, (rows, features), with NaN for missing cells."""
        names, wanted = self.columns, (len(self), *self.sampling.shape)
        if names is not None and is_frame(X) and list(map(str, X.columns)) != list(names):
            raise ValueError(f"X has other columns than {listed(names)}, those of the rows")
        known = known_cells(X, self.inputs.marks if self.inputs else {})
        given, _, _ = split_frame(known, self.scale)
        if given.shape != wanted:
            raise ValueError(f"X has shape {given.shape}; the inputs of the rows have {wanted}")
        index = index_of(X)
        if index is not None and self.index is not None and not index.equals(self.index):
            raise ValueError("X has another index than the rows: give their inputs, in their order")
        return given.reshape(len(self), -1).astype(np.float64)

    def _steps(self, X: Data | None) -> np.ndarray:
        """The step of each feature with noise, not below the one that is shown; NaN: unknown."""
        noisy = self._noisy()
        steps = np.full(noisy.size, np.nan) if self.inputs is None else self.inputs.steps.ravel()
        if X is not None and noisy.size <= TABLE:
            found = [step_of(values[~np.isnan(values)]) for values in self._values_of(X).T]
            steps = np.where(np.isnan(steps), found, steps)
        steps = np.where(noisy, steps, np.nan)
        return np.asarray(np.fmax(steps, [float(f"{step:.5g}") for step in steps]))

    def report(self, path: Path, X: Data | None = None, *, title: str = "Certificates") -> None:
        """Write a report as one HTML page, which needs no other file. Experimental.

        It has the question, results, inputs, failures, the worst and best rows, the columns that
        limit, alternatives, what is not covered, and how to repeat it, without the seed; and a plot
        if matplotlib is there.

        Parameters
        ----------
        path : str or path
            The file.
        X : array_like or DataFrame, optional
            The inputs of the rows: allowances are then compared with the range of each column.
        title : str
            Heading of the page.

        Raises
        ------
        ValueError
            For a name without .html, other inputs than those of the rows, or no finished row."""
        if not (name := path_of(path)).lower().endswith((".html", ".htm")):
            raise ValueError(f"path is {name!r}; the page is HTML: let its name end with .html")
        replace(name, page(self, X, title).encode("utf-8", "backslashreplace"))

    def useful_radii(self, labels: Data) -> np.ndarray:
        """Compute radii that count only predictions near the label.

        Parameters
        ----------
        labels : array_like or Series
            As for `label_errors`.

        Returns
        -------
        ndarray
            The radius if the prediction is within the tolerance of the label, else 0, (rows,
            sigmas, questions).

        Raises
        ------
        ValueError
            As for `label_errors`, and for output bounds."""
        self._check_radii()
        return np.where(self.label_errors(labels) <= self["tolerance"], self["radius"], 0.0)

    def choose_sigma(
        self, question: int | str = 0, *, labels: Data | None = None, slack: float = 0.1
    ) -> SigmaChoice:
        """Choose the sigma with the greatest mean radius.

        Deploy it on inputs that are not among these rows, and calibrate intervals with other points
        (theory 12.6). At a large sigma the model may no longer depend on the input; radii are then
        long but useless. Labels exclude such a sigma.

        Parameters
        ----------
        question : int or str
            Index or name of the question.
        labels : array_like or Series, optional
            True outputs: the choice is among sigmas with a mean error near the least.
        slack : float
            Such a mean error is at most this many tolerances above the least; a percentage counts
            as a part of the labels' mean size.

        Returns
        -------
        SigmaChoice
            A tuple (level, means, left_out): the index of the sigma, the mean radius of each sigma,
            and the number of rows that failed at some sigma, which are left out at every sigma.

        Raises
        ------
        ValueError
            As for `useful_radii`, and if no row is left.
        TypeError, IndexError
            If there is no such question."""
        self._check_radii()
        if not isinstance(question, (int, np.integer, str)):
            raise TypeError("question must be an index or a name; give labels as labels=...")
        question = self._question(question)
        slack = not_negative(slack, "slack")
        whole = self.done & (self["status"][:, :, question] == 0).all(axis=1)
        left_out = int(self.done.sum() - whole.sum())
        if not whole.any():
            raise ValueError(f"each of the {left_out} rows failed at some sigma")
        some = self.certificates[whole][:, :, question]
        structs = (S.Certificate * some.size).from_buffer_copy(some.tobytes())
        chosen = chosen_sigma(structs, *some.shape)._replace(left_out=left_out)
        chosen._about = (("sigma", self.sigmas),)
        if labels is None:
            return chosen
        each = self._errors_of(question, labels)[whole]
        errors = np.nanmean(each, axis=0)
        if not (each <= self["tolerance"][whole, :, question]).any():
            warn(
                f"no prediction is within its tolerance of its label (least mean error "
                f"{np.nanmin(errors):.4g}): have labels the unit of the outputs?"
            )
        truth = labels_of(labels, len(self), self.index)[whole]
        slack *= typical_tolerance(self.questions[question], truth)
        accurate = errors <= np.nanmin(errors) + slack
        chosen = chosen._replace(level=int(np.argmax(np.where(accurate, chosen.means, -1.0))))
        chosen._about = ("sigma", self.sigmas), ("mean_error", errors.tolist())
        return chosen

    def curve(
        self,
        question: int | str = 0,
        *,
        labels: Data | None = None,
        confidence: float | None = None,
    ) -> Table:
        """Compute the share of rows that are certified at each radius, as `plot` draws it.

        Parameters
        ----------
        question : int or str
            Index or name of the question.
        labels : array_like or Series, optional
            True outputs, as for `label_errors`.
        confidence : float, optional
            Add "population" and "rows", the bounds of certreg.population, which with labels count
            only predictions within the tolerance of the label.

        Returns
        -------
        list of dict
            A dict for each sigma: "sigma", and arrays with a value for each "radius", which are 0
            and the radii of the rows in ascending order. "share" is the share of finished rows with
            at least this radius. With labels, "accuracy" is the share of those that also have a
            prediction within the tolerance of the label, and "error" the mean error of rows with at
            least this radius; NaN if there is none. Between two radii the values are those at the
            larger one; above the last one no row is certified.

        Raises
        ------
        ValueError
            As for `useful_radii`, and with `confidence` as for certreg.population.
        IndexError
            If there is no such question.

        Examples
        --------
        >>> rows = certreg.certify_rows(lambda x: x[:, 0], [[1.0], [2.0]], 0.25, 0.5, seed=1)
        >>> rows.curve(labels=[1.0, 9.0])[0]["accuracy"].tolist()
        [0.5, 0.5, 0.5]"""
        self._check_radii()
        question = self._question(question)
        errors: Any = [None] * len(self.sigmas)
        if labels is not None:
            errors = self._errors_of(question, labels)[self.done].T
        radii, most = (self[name][self.done, :, question].T for name in ("radius", "tolerance"))
        each = zip(self.sigmas, radii, errors, most)
        lines: Table = [{"sigma": sigma, **curve_of(*of)} for sigma, *of in each]
        if confidence is not None:
            band = population(self, confidence=confidence, question=question, labels=labels)
            for line, bounds in zip(lines, band):
                line.update(population=bounds["population"], rows=bounds["rows"])
        return lines

    def plot(
        self,
        correct: Data | None = None,
        *,
        labels: Data | None = None,
        error: bool = False,
        confidence: float | None = None,
        also: Mapping[str, Data] | None = None,
        **more: Any,
    ) -> Axes:
        """Plot the share of rows that are certified at each radius.

        There is a curve for each sigma and question, at most eight. Vertical lines mark the longest
        radii that sigma and samples allow, up to twice the longest of the rows.

        Parameters
        ----------
        correct : array_like, optional
            True for correct predictions, (rows, sigmas, questions), such as
            ``rows.label_errors(y) < 5``: plot the certified accuracy. Lengths of 1 at the end of
            the shape may be left out.
        labels : array_like or Series, optional
            True outputs: plot the certified accuracy, with predictions within the tolerance of the
            label as correct.
        error : bool
            With labels: plot the mean error of the rows with at least each radius.
        confidence : float, optional
            Also draw the lower band for the population, of certreg.population: "at least, 95 %" in
            the legend.
        also : mapping, optional
            More curves by their names, such as those of another method: radii, (rows,), in the
            order of the rows, with 0 for a prediction that should not count. Experimental.
        **more
            Other arguments of plot_radii, such as `path`.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError
            For a wrong shape, for output bounds (plot_reach draws them), for `error` without
            labels, and as for certreg.population.

        Examples
        --------
        >>> questions = [certreg.Question(0.5, name="wide"), certreg.Question(0.1, name="narrow")]
        >>> rows = certreg.certify_rows(lambda x: x[:, 0], [[1.0], [2.0]], 0.25, questions, seed=1)
        >>> ax = rows.plot(also={"mine": [0.2, 0.0]})
        >>> [text.get_text() for text in ax.get_legend().get_texts()][2]
        'mine'"""
        self._check_radii()
        if error and labels is None or labels is not None and correct is not None:
            raise ValueError("error needs labels, and labels take the place of correct")
        if confidence is not None and (error or correct is not None):
            raise ValueError("confidence is for shares of rows: give labels, or neither")
        if error and also:
            raise ValueError("the errors of other curves are not known: leave out also or error")
        also = {} if also is None else also
        if not isinstance(also, Mapping) or any(isinstance(r, Rows) for r in also.values()):
            raise TypeError("also must be a dict of radii by name, as {'mine': other.radius}")
        if {"question", "sigma"} & set(more):
            remedy = "give plot_radii({'mine': rows['radius'][:, sigma, question]})"
            raise TypeError(f"plot has a curve for each question and sigma: for one {remedy}")
        names, done, path = self._names(), self.done, more.pop("path", None)
        curves = {f"sigma {self.sigmas[k]:g}{names[q]}": (k, q) for k, q in self._answers()}
        radii = {name: self["radius"][done, k, q] for name, (k, q) in curves.items()}
        others = {
            n: numbers(in_order(r, self.index, n), np.float64, f"also[{n!r}]")
            for n, r in also.items()
        }
        for n, each in others.items():
            if each.shape != done.shape or not (np.isfinite(each) & (each >= 0)).all():
                raise ValueError(
                    f"also[{n!r}] must have {len(self)} radii, finite numbers of at least 0, one "
                    "for each row (0: none was proved)"
                )
        others = {n: each[done] for n, each in others.items()}

        def pairs(values: np.ndarray) -> dict[str, tuple[np.ndarray, Any]]:
            own = {name: (radii[name], values[done, k, q]) for name, (k, q) in curves.items()}
            return own | {name: (each, True) for name, each in others.items()}

        def finished(ax: Axes) -> Axes:
            noisy = np.ravel(self.scale)[self._noisy()]
            unit = "the inputs" if (noisy == 1).all() else "the scale of each feature"
            most = 2 * max((each.max(initial=0) for each in radii.values()), default=0)
            ceilings = {_ceiling(self, k, q) for k, q in curves.values()}
            return marked(ax, [c for c in sorted(ceilings) if c <= most], unit, path)

        if confidence is not None:
            found = [
                population(self, confidence=confidence, question=q, labels=labels)
                for q in range(len(self.questions))
            ]
            more["bands"] = {
                name: (found[q][k]["radius"], found[q][k]["population"], confidence)
                for name, (k, q) in curves.items()
            }
        if labels is not None:
            errors = self.label_errors(labels)
            if error:
                return finished(plot_error(pairs(errors), **more))
            correct = errors <= self["tolerance"]
        if correct is None:
            return finished(plot_radii(radii | others, **more))
        shape = self["radius"].shape
        right = np.asarray(in_order(correct, self.index, "correct"), bool)
        if right.shape + (1,) * (3 - right.ndim) != shape:
            raise ValueError(
                f"correct has shape {right.shape}; it must be {shape}, with True for each row, "
                "sigma and question with a correct prediction (a file is path=, labels are labels=)"
            )
        return finished(plot_accuracy(pairs(right.reshape(shape)), **more))

    def _names(self) -> list[str]:
        """Names of the questions for a legend: their own, and else what distinguishes them, with
        numbers if names would be equal."""
        asked, names = self.questions, [""] * len(self.questions)
        tolerances = [tolerance_text(one) for one in asked]
        if len(set(tolerances)) > 1:
            names = [f", tolerance {text}" for text in tolerances]
        if len({one.statistic for one in asked}) > 1:
            names = [f"{n}, {_word('statistic', q.statistic)}" for n, q in zip(names, asked)]
        own = [f", {one.name}" if one.name else "" for one in asked]
        names = [o if o and own.count(o) == 1 else o + n for o, n in zip(own, names)]
        return [f"{n}, question {q}" if names.count(n) > 1 else n for q, n in enumerate(names)]


def labels_of(labels: Data, count: int, index: Index = None) -> np.ndarray:
    """The true outputs of `count` rows, with this index if they were a DataFrame. Raises TypeError
    or ValueError for a wrong type or shape."""
    truth = numbers(in_order(labels, index, "labels"), np.float64, "labels")
    if truth.shape != (count,):
        raise ValueError(
            f"labels has shape {truth.shape}; it must be ({count},), the true output of each row"
        )
    check_finite(truth, truth, "labels")
    return truth


def mean_error(errors: np.ndarray) -> float:
    """The mean of label errors, without rows that have no prediction; NaN if there is none."""
    known = errors[~np.isnan(errors)]
    return float(known.mean()) if known.size else math.nan


def _check_index(name: str, index: object, count: int, hint: str = "") -> None:
    whole = isinstance(index, (int, np.integer)) and not isinstance(index, bool)
    if not whole or not -count <= cast(int, index) < count:
        raise IndexError(f"{name} is {index!r}; it must be an index from 0 to {count - 1}{hint}")


def _word(field: str, value: Any) -> float | str:
    value = enum_value(field, value)
    if field == "constraints":
        return int(value)
    return value.name.lower() if isinstance(value, enum.Enum) else value


def _words(field: str, values: np.ndarray) -> np.ndarray:
    """The values of a field for tables: words for members of enumerations."""
    each = values.reshape(-1, *values.shape[3:])
    if values.dtype.itemsize == 4:
        known, at = np.unique(each, return_inverse=True)
        words = [_word(field, value) for value in known.tolist()]
        numbers = all(isinstance(word, int) for word in words)
        return (np.array(words, int) if numbers else _objects(words))[at]
    if each.dtype == np.uint64 and each.max(initial=0) < 2**63:
        return each.astype(np.int64)
    return each


def _objects(values: Sequence[Any]) -> np.ndarray:
    out = np.empty(len(values), object)
    out[:] = values
    return out


# ---- failures
class RowsError(RuntimeError):
    """An end of certify_rows before all rows were done.

    The model raised an exception, its outputs depend on other rows or change with time, a process
    ended or has other versions of certreg, or the executor was shut down. ``__cause__`` is the
    original exception. If outputs depend on more than their row, no row is done.

    Attributes
    ----------
    row : int
        Index of the row at which it happened; -1 if it is not known.
    rows : Rows
        The rows that are done."""

    def __init__(self, text: str, row: int = -1, rows: Rows | None = None) -> None:
        super().__init__(text)
        self.row, self.rows = row, rows


class ResumeError(ValueError):
    """A resume file cannot be used, was made with other arguments, or is in use by another process.

    The file is not changed.

    Attributes
    ----------
    rows : Rows or None
        The rows that are done, if certify_rows raised the error."""

    rows: Rows | None = None

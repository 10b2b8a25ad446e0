"""Remarks about the certificates of a table, beside its summary."""

from __future__ import annotations

import ctypes as C
import dataclasses
import math
from typing import Any, Callable, Mapping, Sequence, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from . import _structs as S
from ._arguments import enum_value
from ._integrity import MOST_SIGMAS
from ._types import Names
from ._worker import Job, Sampling, empty_certificates
from .constants import Outcome, Output, Statistic, Status
from .estimator import Estimator
from .names import listed, noise_on
from .questions import Question, tolerance_text
from .results import premise_text, reason_text

TOO_LITTLE = "float32 noise"  # in the error of an input that is too far from 0 for its noise
UNITS = "; scale='std' puts sigma in units of each feature"
Fields: TypeAlias = Callable[[str, int, int], list[np.ndarray]]  # Rows._fields
RELATIVE = (Statistic.MEDIAN, Statistic.MEAN)  # statistics that take relative tolerances


def noise_remark(sampling: Sampling, names: Names, sets: bool = False) -> str:
    """A text with the features that get noise, for an array only if some get none."""
    exact = exact_features(sampling, names)
    if not exact and names is None:
        return ""
    scales = _scales(sampling, names) or [(name, 1.0) for name in names or ()]
    covered = noise_on([name for name, _ in scales], [scale for _, scale in scales])
    return f"{covered}: {not_covered(sets)}" if exact else covered


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


def exact_features(sampling: Sampling, names: Names) -> str:
    """The names of the features without noise, which are counted if they have no names."""
    return listed([name for name, scale in _scales(sampling, names) if not scale])


def _scales(sampling: Sampling, names: Names) -> list[tuple[str, float]]:
    """Names and scales of the features; empty if all scales are 1."""
    if sampling.scale is None:
        return []
    scale = np.broadcast_to(sampling.scale, sampling.shape).ravel().tolist()
    return list(zip(names or [f"feature {i}" for i in range(len(scale))], scale))


def missing_remark(missing: np.ndarray, names: Names) -> str:
    """A text about the missing cells of features with noise, by Rows.missing; empty if there is
    none."""
    features = named(np.asarray(missing.any(axis=0)), names)
    if not features:
        return ""
    some = f"{missing.any(axis=1).sum()} of {len(missing)} rows, in {listed(features)}"
    return (
        f"cells are missing in {some}: their certificates are about inputs with the same cells "
        "missing"
    )


def named(which: np.ndarray, names: Names) -> list[str]:
    """The names of these features, which are counted if they have no names."""
    return [names[j] if names else f"feature {j}" for j in np.flatnonzero(which).tolist()]


def premise_remark(certificates: np.ndarray, claims: np.ndarray) -> str:
    """What was tested of the premise, where least was tested; empty without a claim."""
    if not claims.any():
        return ""
    audited = certificates["audited"][claims]
    worst = (certificates[f"audit_{name}"][claims].max() for name in ("change", "band", "share"))
    text, some = premise_text(int(audited.min()), *worst), np.count_nonzero(audited == 0)
    return f"{text}, for {some} of {audited.size} certificates" if 0 < some < audited.size else text


def output_remark(sampling: Sampling, questions: Sequence[Question]) -> str:
    """A text with the outputs that no question is about; empty if there is none."""
    left = set(range(sampling.outputs))
    for question in questions:
        first = max(0, question.output)  # ALL_OUTPUTS begins at 0
        left -= set(range(first, first + question.outputs_of(sampling.outputs)))
    if not left:
        return ""
    names = f"output{'s' if len(left) > 1 else ''} {listed(sorted(left))}"
    return f"no question is about {names} of {sampling.outputs}: nothing is certified there"


def failure_remark(
    errors: Mapping[tuple[int, int], str],
    numbers: np.ndarray,
    statuses: np.ndarray,
    scale: ArrayLike | None,
) -> str:
    """A text with the number of failed rows and the first reason; empty if no row failed."""
    failed = int((statuses != Status.OK).any(axis=(1, 2)).sum())
    if not failed:
        return ""
    (row, _), why = min(errors.items(), default=((-1, 0), "the library gave no reason"))
    place = f", the first in row {numbers[row]}" if row >= 0 else ""
    own_units = scale is None or bool(np.isin(scale, (0, 1)).all())
    remedy = UNITS if own_units and TOO_LITTLE in why else ""
    return f"{failed} of {len(statuses)} rows failed{place}: {why}{remedy}"


def abstention_remarks(
    sampling: Sampling, questions: Sequence[Question], fields: Fields
) -> list[str]:
    """A text for each sigma and question at which rows abstained: their number for each reason, and
    the library's sentence on the most frequent one."""
    texts = []
    for k, sigma in enumerate(sampling.sigmas):
        for q, question in enumerate(questions):
            rows = _abstained(*fields("status outcome", k, q))
            if not rows.any():
                continue
            level = f" and sigma {sigma:g}" if len(sampling.sigmas) > 1 else ""
            place = f"at tolerance {tolerance_text(question)}{level}"
            each = (fields(name, k, q)[0][rows] for name in ("reason", "samples_needed"))
            why = _reasons(*each)
            if not fields("radius", k, q)[0].any():
                why += _small(sampling, question, lambda name: fields(name, k, q)[0])
            texts.append(f"{rows.sum()} of {len(rows)} rows abstained {place}: {why}")
    return texts


def _abstained(statuses: np.ndarray, outcomes: np.ndarray) -> np.ndarray:
    """Failed rows have this outcome too."""
    found: np.ndarray = (statuses == Status.OK) & (outcomes == Outcome.ABSTAINED)
    return found


def _reasons(reasons: np.ndarray, needed: np.ndarray) -> str:
    """The number of rows with each reason, the sentence on the first, and what would do."""
    each = sorted(zip(*np.unique(reasons, return_counts=True)), key=lambda pair: -pair[1])
    text = ", ".join(f"{count} {_name_of(reason)}" for reason, count in each)
    if each[0][0]:
        text += f"; {reason_text(each[0][0])}"
    some = needed[needed > 0]
    if len(some):
        text += f"; for {len(some)} of them {some.max()} samples would do if the shares stay"
    return text


def _name_of(reason: int) -> str:
    name = getattr(enum_value("reason", reason), "name", f"reason {reason}")
    return name.lower().replace("_", " ") if reason else "without a reason"


def _small(
    sampling: Sampling, question: Question, field: Callable[[str], np.ndarray]
) -> str:
    """The end of a remark if the tolerance is below 1 % of the median size of the predictions."""
    size, typical = (_median_size(field(name)) for name in ("prediction", "tolerance"))
    an_angle = math.isfinite(sampling.turn(question.output))
    relative = question.relative_tolerance or question.statistic not in RELATIVE
    if an_angle or relative or not typical < 0.01 * size:
        return ""
    return (
        f"; this one is below 1 % of the median |prediction|, {size:.4g}: a tolerance like '10%' "
        "is a part of the prediction"
    )


def _median_size(values: np.ndarray) -> float:
    """The median absolute value, without NaN; 0 if there is none."""
    known = values[~np.isnan(values)]
    np.abs(known, out=known)
    return float(np.median(known, overwrite_input=True)) if len(known) else 0.0


def unbounded_remarks(
    sampling: Sampling, questions: Sequence[Question], radius: float, fields: Fields
) -> list[str]:
    """A text for each sigma and question without finite output bounds, if the radius is above the
    ceiling."""
    texts = []
    for k, sigma in enumerate(sampling.sigmas):
        for q, question in enumerate(questions):
            lo, hi, status = fields("output_lo output_hi status", k, q)
            if np.isfinite(hi - lo).any() or not (status == Status.OK).any():
                continue
            ceiling = ceiling_of(sampling, question, k, of_bounds=True)
            if ceiling <= radius and ceiling < MOST_SIGMAS * sigma:
                texts.append(
                    f"no output is bounded at radius {radius:.5g}, above the ceiling {ceiling:.5g} "
                    f"of sigma {sigma:g} and {sampling.samples} samples: give a smaller radius, a "
                    "larger sigma or more samples"
                )
    return texts


def ceiling_remarks(
    sampling: Sampling, questions: Sequence[Question], radii: np.ndarray
) -> list[str]:
    """A text for each question if half of the rows have the longest radius that the largest sigma
    allows. `radii` has the shape (rows, sigmas, questions)."""
    largest, texts = int(np.argmax(sampling.sigmas)), []
    for q, question in enumerate(questions):
        ceiling = ceiling_of(sampling, question, largest)
        there = int(np.sum(radii[:, largest, q] >= ceiling * (1 - 1e-9)))
        if 0 < len(radii) <= 2 * there:
            which = f" (tolerance {tolerance_text(question)})" if len(questions) > 1 else ""
            texts.append(
                f"{there} of {len(radii)} radii are at the ceiling {ceiling:.5g} of sigma "
                f"{sampling.sigmas[largest]:g} and {sampling.samples} samples{which}: a larger "
                "sigma may give longer radii"
            )
    return texts


def ceiling_of(
    sampling: Sampling, question: Question, level: int, of_bounds: bool = False
) -> float:
    """The longest radius at this index of sigma, or the longest one with output bounds. For a
    median it is the radius of a constant model: no outputs satisfy more of its conditions.
    Otherwise it is the limit of the search."""
    sigma = sampling.sigmas[level]
    limit = MOST_SIGMAS * sigma
    chosen = question.prediction is not None or question.target is not None
    if chosen or question.is_vector or question.statistic != Statistic.MEDIAN:
        return limit
    low, high = (_of_output(end, sampling, question.output) for end in (sampling.lo, sampling.hi))
    question = question._of_rows(0)  # all tolerances have the same ceiling
    kind = None if sampling.kind is None else sampling.kind[[question.output]]
    one: dict[str, Any] = {"shape": (1,), "outputs": 1, "kind": kind, "lo": low, "hi": high}
    plan = dataclasses.replace(sampling, seed=1, batch=0, scale=None, **one)
    asked = dataclasses.replace(question, output=0)
    value = max(1 if high is None else min(1, high), -math.inf if low is None else low)
    columns = 2 if kind is not None and kind[0] == Output.ANGLE_PAIR else 1
    structs = Job(None, None, plan, (asked,), None, "").structs()
    found = empty_certificates(1, 1)
    try:
        with plan.estimator(lambda x: np.full((len(x), columns), value)) as e:
            e.begin(np.zeros(1), sigma, 0)
            first = S.Certificate.from_buffer(found.data)
            if of_bounds:
                return _longest_bounded(e, plan.samples, structs, first, limit)
            e._certify_into(plan.samples, structs, None, first)
    except Exception:  # such as too little memory: print must not fail
        return limit
    radius = float(found["radius"][0, 0])
    return radius if radius > 0 else limit


def _longest_bounded(
    e: Estimator, samples: int, asked: "C.Array[S.Question]", first: S.Certificate, limit: float
) -> float:
    """The longest radius up to the limit with finite output bounds, by bisection."""
    below, above = 0.0, limit
    for _ in range(30):
        middle = (below + above) / 2
        e._certify_into(samples, asked, middle, first)
        bounded = math.isfinite(first.output_hi - first.output_lo)
        below, above = (middle, above) if bounded else (below, middle)
    return above


def _of_output(ends: ArrayLike | None, sampling: Sampling, output: int) -> float | None:
    """The limit of an output; None without limits."""
    return None if ends is None else float(np.broadcast_to(ends, sampling.outputs)[output])

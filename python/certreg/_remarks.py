"""Remarks about the certificates of a table, beside its summary."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import _structs as S
from ._integrity import MOST_SIGMAS
from ._types import Names
from ._worker import Job, Sampling, empty_certificates
from .constants import Output, Statistic, Status
from .names import listed, noise_on
from .questions import Question, tolerance_text


def noise_remark(sampling: Sampling, names: Names) -> str:
    """A text with the features that get noise, for an array only if some get none."""
    exact = exact_features(sampling, names)
    if not exact and names is None:
        return ""
    scales = _scales(sampling, names) or [(name, 1.0) for name in names or ()]
    covered = noise_on([name for name, _ in scales], [scale for _, scale in scales])
    return f"{covered}: changes of these are not certified" if exact else covered


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


def failure_remark(
    errors: Mapping[tuple[int, int], str], numbers: np.ndarray, statuses: np.ndarray
) -> str:
    """A text with the number of failed rows and the first reason; empty if no row failed."""
    failed = int((statuses != Status.OK).any(axis=(1, 2)).sum())
    if not failed:
        return ""
    (row, _), why = min(errors.items(), default=((-1, 0), "the library gave no reason"))
    place = f", the first in row {numbers[row]}" if row >= 0 else ""
    return f"{failed} of {len(statuses)} rows failed{place}: {why}"


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


def ceiling_of(sampling: Sampling, question: Question, level: int) -> float:
    """The longest radius at this index of sigma. For a median it is the radius of a constant model:
    no outputs satisfy more of its conditions. Otherwise it is the limit of the search."""
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
    structs = Job(None, None, plan, (asked,), None, False).structs()
    found = empty_certificates(1, 1)
    try:
        with plan.estimator(lambda x: np.full((len(x), columns), value)) as e:
            e.begin(np.zeros(1), sigma, 0)
            e._certify_into(plan.samples, structs, None, S.Certificate.from_buffer(found.data))
    except Exception:  # such as too little memory: print must not fail
        return limit
    radius = float(found["radius"][0, 0])
    return radius if radius > 0 else limit


def _of_output(ends: ArrayLike | None, sampling: Sampling, output: int) -> float | None:
    """The limit of an output; None without limits."""
    return None if ends is None else float(np.broadcast_to(ends, sampling.outputs)[output])

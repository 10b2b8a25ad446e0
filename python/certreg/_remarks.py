"""Remarks about the certificates of a table, beside its summary."""

from __future__ import annotations

import dataclasses
import math
from typing import Mapping, Sequence

import numpy as np

from . import _structs as S
from ._integrity import MOST_SIGMAS
from ._types import Names
from ._worker import Job, Sampling, empty_certificates
from .constants import Output, Statistic, Status
from .names import listed, noise_on
from .questions import Question


def exact_features(sampling: Sampling, names: Names) -> list[str]:
    """The names of features without noise, which have numbers if they have no names."""
    return [n for n, scale in zip(_names(sampling, names), _scales(sampling)) if not scale]


def noise_remark(sampling: Sampling, names: Names) -> str:
    """A text with the features that get noise; empty if all of them do."""
    if not exact_features(sampling, names):
        return ""
    covered = noise_on(_names(sampling, names), _scales(sampling))
    return f"{covered}: changes of these are not certified"


def _scales(sampling: Sampling) -> list[float]:
    """The scale of each feature; empty if it is 1 for all of them."""
    scale = sampling.scale
    return [] if scale is None else np.broadcast_to(scale, sampling.shape).ravel().tolist()


def _names(sampling: Sampling, names: Names) -> Sequence[str]:
    if names is not None:
        return names
    return [f"feature {i}" for i in range(math.prod(sampling.shape))]


def exact_text(sampling: Sampling, names: Names) -> str:
    """The features without noise, for a table."""
    return listed(exact_features(sampling, names))


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
            which = f" (tolerance {question.tolerance:g})" if len(questions) > 1 else ""
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
    low, high = (-math.inf if sampling.lo is None else sampling.lo), sampling.hi
    value = np.clip(np.ones(sampling.outputs), low, math.inf if high is None else high)
    if sampling.kind is not None:  # the model returns two columns for a pair
        value = np.repeat(value, np.where(sampling.kind == Output.ANGLE_PAIR, 2, 1))
    plan = dataclasses.replace(sampling, shape=(1,), scale=None, seed=1)
    structs = Job(None, None, plan, (question,), None, False).structs()
    found = empty_certificates(1, 1)
    try:
        with plan.estimator(lambda x: np.tile(value, (len(x), 1))) as e:
            e.begin(np.zeros(1), sigma, 0)
            e._certify_into(plan.samples, structs, None, S.Certificate.from_buffer(found.data))
    except Exception:  # such as too little memory: print must not fail
        return limit
    radius = float(found["radius"][0, 0])
    return radius if radius > 0 else limit

"""Estimates how much groups of features limit a radius, from records and noise (theory 1.8)."""

from __future__ import annotations

import math
from typing import Iterable, Iterator

import numpy as np

from ._arrays import PIECE
from ._worker import Record, Sampling
from .certified_rows import Rows
from .estimator import Estimator


def sensitivities(rows: Rows, groups: np.ndarray) -> np.ndarray:
    """The relative change of the mean radius when the scale of a group shrinks, (groups,), at fixed
    sigma. For a linear model they are the shares of the groups in the squared gradient, with the
    sum 1; at the best sigma the sum is 1 for every model.

    rows    Rows at one sigma, with their records and one question about one output
    groups  (features, groups) of float32: 1 if a feature belongs to a group"""
    total, change = float(rows["radius"].sum()), np.zeros(groups.shape[1])
    with rows.sampling.with_unit_noise().estimator(None) as e:
        for record in sorted(rows.records, key=lambda record: record.row):
            certificate = rows.certificates[record.row, 0, 0]
            if certificate["radius"] > 0:
                inside = _inside(rows, record)
                slope = 1 / _density(certificate["radius"] / rows.sigmas[0])
                noise = _noise(e, rows.sampling, record.row, len(inside))
                change -= slope * _correlated(inside, noise, groups)
    return rows.sigmas[0] * change / total if total else change


def _density(x: float) -> float:
    """The density of the standard normal distribution."""
    return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def _inside(rows: Rows, record: Record) -> np.ndarray:
    """True for outputs within the tolerance on the side that limits the radius, or on both sides if
    none is limiting, (samples,). False for failed outputs."""
    question, certificate = rows.questions[0], rows.certificates[record.row, 0, 0]
    turn = rows.sampling.turn(question.output)
    outputs: np.ndarray = record.outputs(rows.sampling.outputs)[:, question.output]
    away: np.ndarray = outputs.astype(np.float64) - certificate["prediction"]
    if math.isfinite(turn):
        away = (away + turn / 2) % turn - turn / 2
    side = np.sign(certificate["limiting_side"])
    return np.asarray((side * away if side else np.abs(away)) < certificate["tolerance"])


def _noise(e: Estimator, of: Sampling, row: int, count: int) -> Iterator[tuple[slice, np.ndarray]]:
    """The noise of the samples from 1 on, in pieces. Sample 0 has none."""
    e.begin(np.zeros(e.shape), 1.0, of.noise_id + row, of.levels[0])
    for first in range(1, count, PIECE):
        some = slice(first, min(first + PIECE, count))
        yield some, e.draw(first, some.stop - first).reshape(some.stop - first, -1)


def _correlated(
    inside: np.ndarray, noise: Iterable[tuple[slice, np.ndarray]], groups: np.ndarray
) -> np.ndarray:
    """The covariance of `inside` with the squared noise of each group, (groups,)."""
    centered, sums = inside - inside[1:].mean(), np.zeros(groups.shape[1])
    for some, drawn in noise:
        sums += centered[some] @ ((drawn * drawn) @ groups)
    return sums / (len(inside) - 1)

"""Outputs of the model for a few rows: a resume file recognizes it by them, or they check it."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable, Sequence

import numpy as np

from ._arrays import array_of
from ._processes import is_worker_death
from ._worker import Sampling
from .constants import Status
from .errors import ModelWarning


def probed(
    place: Any,
    sampling: Sampling,
    matrix: np.ndarray,
    rows: list[int],
    crashed: Callable[[int, BaseException], None],
) -> np.ndarray:
    """The outputs for these rows, and then for the same rows moved, (2 * rows, columns). A row that
    ends two processes is given to `crashed`, as in Run, and has NaN."""
    clean = matrix[rows]
    pairs = np.stack([clean, _moved(clean, sampling)], axis=1)
    each = [_outputs(place, row, pair, crashed) for row, pair in zip(rows, pairs)]
    columns = max(outputs.shape[1] for outputs in each)
    same = [np.broadcast_to(outputs, (2, columns)) for outputs in each]
    return np.concatenate([some[:1] for some in same] + [some[1:] for some in same])


def _moved(clean: np.ndarray, sampling: Sampling) -> np.ndarray:
    """The rows moved as far as the noise moves them: models that agree on clean inputs may differ
    there."""
    scale = 1 if sampling.scale is None else sampling.scale
    step = sampling.sigmas[0] * array_of(scale, sampling.shape, np.float64, "scale")
    angles = np.arange(clean.size, dtype=np.float64).reshape(clean.shape)
    moved: np.ndarray = clean + step.reshape(sampling.shape) * math.sqrt(2) * np.cos(angles)
    return moved.astype(np.float32)


def _outputs(
    place: Any, row: int, pair: np.ndarray, crashed: Callable[[int, BaseException], None]
) -> np.ndarray:
    for attempt in range(2):
        try:
            outputs: np.ndarray = place.call("probe", pair)
            return outputs
        except Exception as error:
            if not is_worker_death(error):
                raise
            place.restart([row])
            if attempt:
                crashed(row, error)
    return np.full((2, 1), np.nan, np.float32)


def check_at(
    place: Any, rows: Sequence[int], matrix: np.ndarray, fail: Callable[[BaseException, int], None]
) -> None:
    """Checks the model at the first, middle or last of the rows: at the first of these that can be
    begun and that no process ends at. `fail` takes why the model is refused, and the row."""
    for row in dict.fromkeys([*rows[:1], *rows[len(rows) // 2 :][:1], *rows[-1:]]):
        try:
            chunk = place.call("check", np.array([row]), matrix[[row]])
        except Exception as error:
            if not is_worker_death(error):
                raise
            place.restart([row])
            continue
        if getattr(chunk.failure, "status", None) == Status.INVALID:
            continue
        if chunk.failure is not None:
            fail(chunk.failure, row)
        for _, _, said in chunk.errors:
            warnings.warn(said, ModelWarning, stacklevel=5)
        return

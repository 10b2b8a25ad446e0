"""Outputs of the model for a few rows, by which a resume file recognizes it."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from ._arrays import array_of
from ._processes import is_death
from ._worker import Sampling


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
            if not is_death(error):
                raise
            place.restart([row])
            if attempt:
                crashed(row, error)
    return np.full((2, 1), np.nan, np.float32)

"""Outputs of the model for a few rows, which identify it in a resume file, and its check."""

from __future__ import annotations

import math
import warnings
from typing import Callable, cast

import numpy as np

from ._arrays import array_of
from ._worker import Chunk, Sampling
from .constants import Status
from .errors import ModelWarning
from .workers import Runner, is_lost, one_by_one


def probed(
    runner: Runner,
    sampling: Sampling,
    matrix: np.ndarray,
    rows: list[int],
    crashed: Callable[[int, BaseException], None],
) -> np.ndarray:
    """The outputs for these rows, and then for the same rows moved, (2 * rows, columns). A row that
    ends processes is passed to `crashed`, as in Scheduler, and has NaN."""
    clean = matrix[rows]
    pairs = dict(zip(rows, np.stack([clean, _moved(clean, sampling)], axis=1)))

    def outputs_of(row: int) -> np.ndarray:
        return cast(np.ndarray, runner.call("probe", pairs[row]))

    found = dict(one_by_one(runner, rows, outputs_of, crashed))
    none = np.full((2, 1), np.nan, np.float32)
    each = [none if found[row] is None else cast(np.ndarray, found[row]) for row in rows]
    columns = max(outputs.shape[1] for outputs in each)
    same = [np.broadcast_to(outputs, (2, columns)) for outputs in each]
    return np.concatenate([some[:1] for some in same] + [some[1:] for some in same])


def _moved(clean: np.ndarray, sampling: Sampling) -> np.ndarray:
    """The rows moved as far as the noise moves them, since models that agree on clean inputs may
    differ there."""
    scale = 1 if sampling.scale is None else sampling.scale
    step = sampling.sigmas[0] * array_of(scale, sampling.shape, np.float64, "scale")
    angles = np.arange(clean.size, dtype=np.float64).reshape(clean.shape)
    moved: np.ndarray = clean + step.reshape(sampling.shape) * math.sqrt(2) * np.cos(angles)
    return moved.astype(np.float32)


def check_at(
    runner: Runner,
    rows: np.ndarray,
    matrix: np.ndarray,
    fail: Callable[[BaseException, int], None],
) -> str:
    """Checks the model at the first, middle or last row: at the first of these three that can begin
    and ends no process. Returns the text of the ModelWarning, empty without one. `fail` takes the
    exception that refuses the model, and the row."""
    some = [*rows[:1].tolist(), *rows[len(rows) // 2 :][:1].tolist(), *rows[-1:].tolist()]
    for row in dict.fromkeys(some):
        try:
            chunk = cast(Chunk, runner.call("check", np.array([row]), matrix[[row]]))
        except Exception as error:
            if not is_lost(error):
                raise
            runner.restart([row])
            continue
        if getattr(chunk.failure, "status", None) == Status.INVALID:
            continue
        if chunk.failure is not None:
            fail(chunk.failure, row)
        for _, _, text in chunk.errors:
            warnings.warn(text, ModelWarning, stacklevel=6)
        return " ".join(text for _, _, text in chunk.errors)
    return ""

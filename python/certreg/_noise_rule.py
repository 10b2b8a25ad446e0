"""Features of a table that get no noise by default, because they have few values (docs/guide/
choosing.md has the whole rule)."""

from __future__ import annotations

from typing import Callable

import numpy as np

from ._quantization import TABLE

MOST = 2  # values of a feature without noise
FEWEST = 50  # different rows: in fewer a quantity may have two values by chance
_LOOK = 4096  # rows at a time

Part = Callable[[int, slice], np.ndarray]  # some rows of a feature, float32


def few_values(part: Part, count: int, rows: int) -> np.ndarray:
    """True for each of `count` features with at most two values, NaN aside, if the table has fewer
    than 64 features, as images have, and at least 50 different rows."""
    few = np.zeros(count, bool)
    if count < TABLE and rows >= FEWEST:
        for j in range(count):
            few[j] = _has_few(part(j, slice(_LOOK))) and _has_few(part(j, slice(None)))
        if few.any() and not _varied(part, count, rows):
            few[:] = False
    return few


def few_values_of(X: np.ndarray) -> np.ndarray:
    """few_values of an array; False for features of other arrays than tables of numbers."""
    if X.ndim != 2 or X.dtype.kind not in "buif":
        return np.zeros(X.shape[1:], bool)

    def part(j: int, rows: slice) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(X[rows, j].astype(np.float32))

    return few_values(part, X.shape[1], len(X))


def _has_few(values: np.ndarray) -> bool:
    left = values[~np.isnan(values)]
    for _ in range(MOST):
        left = left[left != left[0]] if left.size else left
    return not left.size


def _varied(part: Part, count: int, rows: int) -> bool:
    """Returns True if enough rows differ."""
    found: set[bytes] = set()
    for first in range(0, rows, _LOOK):
        some = slice(first, first + _LOOK)
        block = np.stack([part(j, some) for j in range(count)], axis=1)
        for row in block:
            found.add(row.tobytes())
            if len(found) >= FEWEST:
                return True
    return False

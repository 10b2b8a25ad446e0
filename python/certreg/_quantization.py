"""The steps of inputs that were rounded, found from the values alone."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple

import numpy as np

FEWEST = 8  # distinct values: fewer may lie on a lattice by chance
OFF = 0.02  # of a step, how far a value may lie beside the lattice
PARTS = 10  # neighbouring values may be up to so many steps apart
FLOATS = 64  # a step is so many steps of float32 at least, or it may be that of float32
LOOKED_AT = 1 << 18  # values that choose a step, before all are compared with it
TABLE = 64  # up to so many features have no need of a step in common
MANY = 1000  # and more than so many have no steps of their own, which takes a while to see
LEVELS = 255  # steps from black to white
DARK = 32  # images whose values are not whole and go from 0 to less are not in [0, 255]


def quantization_steps(X: np.ndarray) -> np.ndarray:
    """The step of each feature of X, float32 of shape (rows, *shape); NaN where there is none.
    Many features, as of images or sound, have one in common if there is one."""
    shape, count = X.shape[1:], X[0].size
    common = common_step(X) if count > TABLE else math.nan
    if count > MANY or not math.isnan(common):
        return np.full(shape, common)
    steps = [quantization_step(column) for column in X.reshape(len(X), -1).T]
    return np.array(steps).reshape(shape)


def common_step(X: np.ndarray) -> float:
    """The greatest step on whose multiples, from the first value on, all values of X lie; NaN if
    there is none."""
    some = X.reshape(-1)
    if some.size > LOOKED_AT:
        some = some[np.random.default_rng(0).integers(0, some.size, LOOKED_AT)]
    step = quantization_step(some)
    return step if _lie_on(X, float(some[0]), step) else math.nan


def quantization_step(values: np.ndarray) -> float:
    """The greatest step of which all differences of the values are multiples; NaN if there is none,
    or if the values are too few or too fine to tell."""
    distinct = np.unique(values).astype(np.float64)
    if len(distinct) < FEWEST:
        return math.nan
    positions, least = distinct - distinct[0], float(np.diff(distinct).min())
    if least < FLOATS * np.spacing(np.float32(np.abs(distinct[[0, -1]]).max())):
        return math.nan
    for part in range(1, PARTS + 1):
        step, end = least / part, 2
        while end < 2 * len(positions):  # the farther from the first value, the more exact
            near = positions[1:end]
            counts = np.rint(near / step)
            step, end = float(near @ counts / (counts @ counts)), 2 * end
        if _lie_on(positions, 0.0, step):
            return step
    return math.nan


def _lie_on(values: np.ndarray, origin: Any, step: Any) -> bool:
    parts = np.array_split(values, math.ceil(values.size / LOOKED_AT))
    levels = ((part.astype(np.float64) - origin) / step for part in parts)
    return all((np.abs(x - np.rint(x)) < OFF).all() for x in levels)  # NaN is not less


# ---- images
def channel_axis(shape: Tuple[int, ...]) -> Optional[int]:
    """Which axis of (rows, *shape) has the 1 or 3 channels of images; None if there is none."""
    return next((axis for axis in (3, 1) if len(shape) == 3 and shape[axis - 1] in (1, 3)), None)


def image_levels(X: np.ndarray) -> Optional[Tuple[np.ndarray, np.ndarray]]:
    """What black is, and the step to the next of 256 levels, of images, float32 of shape (rows,
    *shape). White is the last. They are [0, 1], [0, 255] or [-1, 1], where values may lie between
    the levels; or what the least and greatest value of X or of each channel are, if their lattice
    has exactly 256. None if there are none."""
    low, high = float(X.min()), float(X.max())
    least, most = (-1, 1) if low < 0 else (0, 1 if high <= 1 else LEVELS)
    usual = np.array(float(least)), np.array((most - least) / LEVELS)
    within = least <= low and high <= most
    if within and _lie_on(X, *usual):
        return usual
    for axis in (None, channel_axis(X.shape[1:])):
        parts = X[None] if axis is None else np.moveaxis(X, axis, 0)
        steps = np.array([common_step(part) for part in parts])
        black, white = (np.array([f(p) for p in parts], np.float64) for f in (np.min, np.max))
        if (np.abs((white - black) / steps - LEVELS) < 0.5).all():
            shape = [-1 if k == axis else 1 for k in range(1, X.ndim)]
            return black.reshape(shape), ((white - black) / LEVELS).reshape(shape)
    return usual if within and not 1 < high < DARK else None

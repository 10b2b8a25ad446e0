"""Estimates the quantization steps of inputs from their values."""

from __future__ import annotations

import math

import numpy as np

from ._types import Shape

FEWEST = 8  # distinct values: fewer may lie on a lattice by chance
OFF = 0.02  # greatest distance of a value from the lattice, in steps
PARTS = 10  # neighbouring values are at most this many steps apart
FLOATS = 64  # least step, in units of the spacing of float32
LOOKED_AT = 1 << 18  # values that choose a step, before all values are compared with it
TABLE = 64  # with at most this many features, each feature has its own step
MANY = 1000  # with more features only a common step is estimated, to save time
LEVELS = 255  # steps from black to white
DARK = 32  # images of fractions with a maximum from 1 to this are not in [0, 255]


def quantization_steps(X: np.ndarray) -> np.ndarray:
    """The step of each feature of X, float32 of shape (rows, *shape); NaN if there is none. Images
    and sound, with many features, have a common step if there is one."""
    shape, count = X.shape[1:], X[0].size
    common = common_step(X) if count > TABLE else math.nan
    if count > MANY or not math.isnan(common):
        return np.full(shape, common)
    steps = [quantization_step(column) for column in X.reshape(len(X), -1).T]
    return np.array(steps).reshape(shape)


def common_step(X: np.ndarray) -> float:
    """The greatest step such that the differences of all values of X are multiples of it; NaN if
    there is none."""
    some = X.reshape(-1)
    if some.size > LOOKED_AT:
        some = some[np.random.default_rng(0).integers(0, some.size, LOOKED_AT)]
    step = quantization_step(some)
    return step if _lie_on(X, float(some[0]), step) else math.nan


def quantization_step(values: np.ndarray) -> float:
    """The greatest step such that all differences of the values are multiples of it; NaN if there
    is none, or if the values are too few or too fine for an estimate."""
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


def _lie_on(values: np.ndarray, origin: float, step: float) -> bool:
    parts = np.array_split(values, math.ceil(values.size / LOOKED_AT))
    levels = ((part.astype(np.float64) - origin) / step for part in parts)
    return all((np.abs(x - np.rint(x)) < OFF).all() for x in levels)  # NaN is not less


# ---- images
def channel_axis(shape: Shape) -> int | None:
    """The axis of (rows, *shape) with the 1 or 3 channels of images; None if there is none."""
    return next((axis for axis in (3, 1) if len(shape) == 3 and shape[axis - 1] in (1, 3)), None)


def image_levels(X: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The value of black, and the step between the 256 levels, of images, float32 of shape (rows,
    *shape). The levels are in [0, 1], [0, 255] or [-1, 1], and values may lie between them; or they
    go from the least to the greatest value of X, or of each channel, if their lattice has exactly
    256 levels. None if there are no levels."""
    low, high = float(X.min()), float(X.max())
    least, most = (-1.0, 1.0) if low < 0 else (0.0, 1.0 if high <= 1 else float(LEVELS))
    usual = np.array(least), np.array((most - least) / LEVELS)
    within = least <= low and high <= most
    if within and _lie_on(X, least, (most - least) / LEVELS):
        return usual
    for axis in (None, channel_axis(X.shape[1:])):
        parts = X[None] if axis is None else np.moveaxis(X, axis, 0)
        steps = np.array([common_step(part) for part in parts])
        black, white = (np.array([f(p) for p in parts], np.float64) for f in (np.min, np.max))
        if (np.abs((white - black) / steps - LEVELS) < 0.5).all():
            shape = [-1 if k == axis else 1 for k in range(1, X.ndim)]
            return black.reshape(shape), ((white - black) / LEVELS).reshape(shape)
    return usual if within and not 1 < high < DARK else None

"""The resolution of inputs: the steps of values that were rounded, found from the values alone."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Optional, Tuple

import numpy as np

FEWEST = 8  # distinct values: fewer may lie on a lattice by chance
OFF = 0.02  # of a step, how far a value may lie beside the lattice
PARTS = 10  # neighbouring values may be up to so many steps apart
FLOATS = 64  # a step is so many steps of float32 at least, or it may be that of float32
LOOKED_AT = 1 << 18  # values that choose a step, before all are compared with it
TABLE = 64  # up to so many features are looked at one by one
LEVELS = 255.0  # steps from black to white
DARK = 32  # images whose values are not whole and go from 0 to less are not in [0, 255]
SOUND = 1 / 32768  # the step of 16 bits, in [-1, 1]
Shape = Tuple[int, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Resolution:
    """How finely inputs are given.

    kind   "image", "sound" or "table"
    bits   8 for images and 16 for sound; 0 if this is not known
    steps  of each feature, NaN where none is known
    black  of an image, what the lowest of its 256 levels is, for all features or for each channel;
           None if this is not known"""

    kind: str
    bits: int
    steps: np.ndarray
    black: Optional[np.ndarray] = None


def resolution(X: np.ndarray, kind: Optional[str]) -> Resolution:
    """The resolution of X, float32 of shape (rows, *shape), as `kind` or as what its values show.
    Images and sound that are named so have 8 and 16 bits, although their values may be finer.
    Raises ValueError if they are in none of the usual ranges."""
    shape = X.shape[1:]
    if kind == "image" or (kind is None and is_image(shape)):
        levels = _levels_of(X)
        if kind and not levels and not 1 < X.max() < DARK:
            levels = _usual_levels(X)
        if levels:
            black, step = levels
            return Resolution("image", 8, np.broadcast_to(step, shape), black)
    if kind == "image":
        raise ValueError(f"{_span(X)}, not as in [0, 1], [0, 255] or [-1, 1]: give step")
    if kind == "sound":
        if np.abs(X).max() > 1:
            raise ValueError(f"{_span(X)}, not within [-1, 1] as sound is: give step")
        return Resolution(kind, 16, np.full(shape, SOUND))
    steps = _steps_of(X, kind == "table" or X[0].size <= TABLE)
    if kind is None and X[0].size > TABLE and np.abs(X).max() <= 1 and _near(steps, SOUND):
        return Resolution("sound", 16, np.full(shape, SOUND))
    return Resolution("table", 0, steps)


def _span(X: np.ndarray) -> str:
    return f"values of X are from {X.min():.4g} to {X.max():.4g}"


def _near(steps: np.ndarray, step: float) -> bool:
    return bool((np.abs(steps / step - 1) < 1e-3).all())  # some divide by 32767


# ---- any values -------------------------------------------------------------------------------
def step_of(values: np.ndarray) -> float:
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
    levels = (values.astype(np.float64) - origin) / step
    return bool((np.abs(levels - np.rint(levels)) < OFF).all())


def _steps_of(X: np.ndarray, each: bool) -> np.ndarray:
    """The step of each feature, or one that all have in common; NaN where there is none."""
    if each:
        steps = [step_of(column) for column in X.reshape(len(X), -1).T]
        return np.array(steps).reshape(X.shape[1:])
    flat = X.reshape(-1)
    if flat.size > LOOKED_AT:
        flat = flat[np.random.default_rng(0).integers(0, flat.size, LOOKED_AT)]
    step, origin = step_of(flat), float(flat[0])
    common = not math.isnan(step) and all(_lie_on(row, origin, step) for row in X)
    return np.full(X.shape[1:], step if common else math.nan)


# ---- images -----------------------------------------------------------------------------------
Levels = Tuple[np.ndarray, np.ndarray]  # what black is, and the step to the next of 256 levels


def is_image(shape: Shape) -> bool:
    """Whether this is (h, w), (h, w, 1 or 3) or (1 or 3, h, w), with at least 8 pixels a side."""
    last = has_channels_last(shape)
    sides = shape[:2] if last or len(shape) == 2 else shape[1:]
    known = last or len(shape) == 2 or (len(shape) == 3 and shape[0] in (1, 3))
    return known and min(sides) >= 8


def has_channels_last(shape: Shape) -> bool:
    """Whether this is (h, w, 1 or 3)."""
    return len(shape) == 3 and shape[2] in (1, 3)


def _usual_levels(X: np.ndarray) -> Optional[Levels]:
    """The levels of images with values in [0, 1], [0, 255] or [-1, 1]; None for other values."""
    low, high = float(X.min()), float(X.max())
    black, white = (-1.0, 1.0) if low < 0 else (0.0, 1.0 if high <= 1 else LEVELS)
    within = black <= low and high <= white
    return (np.array(black), np.array((white - black) / LEVELS)) if within else None


def _levels_of(X: np.ndarray) -> Optional[Levels]:
    """The levels on which all values lie: the usual ones, or those of images that an affine
    function changed, the same for all channels or one for each. None if there are none, or if no
    value is black or none is white, and so they are not known."""
    usual = _usual_levels(X)
    if usual and _all_on(X, *usual):
        return usual
    shape, axes = X.shape[1:], [tuple(range(X.ndim))]
    if len(shape) == 3 and is_image(shape):
        axes.append((0, 1, 2) if has_channels_last(shape) else (0, 2, 3))
    for axis in axes:
        black, white = (f(X, axis=axis, keepdims=True)[0].astype(float) for f in (np.min, np.max))
        step = (white - black) / LEVELS
        if (step > 0).all() and _all_on(X, black, step):
            return black, step
    return None


def _all_on(X: np.ndarray, black: Any, step: Any) -> bool:
    some = X[: max(1, LOOKED_AT // X[0].size)]
    return len(np.unique(some)) >= FEWEST and all(_lie_on(row, black, step) for row in X)

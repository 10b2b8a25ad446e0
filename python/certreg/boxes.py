"""Boxes around inputs, which have a bound for each feature, and the radii that contain them."""

from __future__ import annotations

import numpy as np

from .arguments import Data, Names, Scale, Shape
from .arrays import array_of, inputs_of, norm_above, numbers, scale_of
from .frames import Columns, by_names, is_frame, scale_from


def bounds_of(X: Data, bounds: Scale, what: str) -> np.ndarray:
    """The bound of each feature, float64 of the shape of an input. Raises TypeError or ValueError
    for wrong ones."""
    if is_frame(X):
        names = list(X.columns)
        return checked_bounds(by_names(names, bounds, what), (len(names),), what, names)
    if hasattr(bounds, "keys"):
        raise TypeError(f"{what} has names, and X has none: give a DataFrame as X, or an array")
    return checked_bounds(bounds, inputs_of(X).shape[1:], what)


def checked_bounds(bounds: object, shape: Shape, what: str, names: Names = None) -> np.ndarray:
    flat = array_of(bounds, shape, np.float64, what)
    bad = np.flatnonzero(~((flat >= 0) & (flat < np.inf)))
    if bad.size:
        name = f"feature {bad[0]}" if names is None else f"column {names[bad[0]]!r}"
        raise ValueError(f"{what} is {flat[bad[0]]:g} for {name}; it must be finite and at least 0")
    if not flat.any():
        raise ValueError(f"{what} has no number above 0: give a bound to a feature that may change")
    return flat.reshape(shape)


def radius_of_box(X: Data, bounds: np.ndarray, scale: Scale) -> tuple[float, float]:
    """A radius of this scale at which the box around every row is inside the open ball, also after
    inputs and moved inputs were rounded to float32; and the norm of bounds / scale, for which no
    input matters. Raises ValueError if a feature with a bound has no noise."""
    shape, half = bounds.shape, bounds.ravel()
    given = scale_from(X, scale)
    each = Columns(X, given).scale if is_frame(X) else scale_of(given, shape)
    still = np.flatnonzero((half > 0) & (each == 0))
    if still.size:
        name = repr(X.columns[still[0]]) if is_frame(X) else still[0]
        raise ValueError(f"feature {name} has a bound and the scale 0: give it noise, or no bound")
    moves = half > 0
    if is_frame(X):
        some = X.iloc[:, moves].to_numpy(np.float64, na_value=np.nan)
    else:
        rows = inputs_of(X)
        some = rows.reshape(len(rows), -1)[:, moves]
    reach = _reach(numbers(some, np.float64, "X"), half[moves])
    radius = norm_above(reach / each[moves], len(half))
    if not 0 < radius < np.inf:
        raise ValueError("bounds reach beyond the numbers of a float32: give smaller ones")
    return radius, float(np.linalg.norm(half[moves] / each[moves]))


def _reach(x: np.ndarray, half: np.ndarray) -> np.ndarray:
    """How far the inputs of a box may be from its center at most, over all rows, if each of them
    may be rounded to float32. Missing cells, NaN, stay missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        center = x.astype(np.float32).astype(np.float64)
        up = np.nextafter(x + half, np.inf).astype(np.float32) - center
        down = center - np.nextafter(x - half, -np.inf).astype(np.float32)
        moves = np.concatenate([half[None], up, down, half + np.abs(x - center)])
        return np.asarray(np.fmax.reduce(moves))

"""Boxes: every feature may move within a bound of its own."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._arguments import refuse
from ._arrays import array_of, inputs_of, norm_above, numbers, scale_of
from ._categorical import scale_by_rule
from ._types import Inputs, Model, Names, Scale, Shape
from .certified_rows import Rows
from .frames import Columns, by_names, is_frame, scale_from
from .options import Options, with_options
from .questions import Asked, Question
from .rows import certify_rows


def within(
    model: Model,
    X: Inputs,
    bounds: Scale,
    sigma: float | None = None,
    *,
    question: Asked | None = None,
    scale: Scale = None,
    **more: Any,
) -> Rows:
    """Bound how far the prediction moves if every feature moves within a bound of its own.

    The smoothed prediction stays between ``output_lo`` and ``output_hi`` for all inputs x' with
    ``|x'_j - x_j| <= bounds_j``, except with probability alpha for each row. These are output
    bounds at the radius of the least ellipsoid of the scale that contains the box (theory 1.8),
    which `at_radius` of the result has.

    Parameters
    ----------
    model : object
        As for certify_rows.
    X : array_like or DataFrame
        One input, (features,), or inputs as for certify_rows.
    bounds : float, array_like, mapping or Series
        Bound >= 0 of each feature, in its own unit, as a scale is given. A feature with 0 is exact:
        its changes are not covered; missing cells stay missing. For a DataFrame also by the names
        of columns, with 0 for names that are left out.
    sigma : float, optional
        Noise level; by default half of the norm of bounds / scale. Together with the scale it
        defines the smoothed prediction: serve with both.
    question : Question or float, optional
        The question, as for ``Options(radius=...)``; by default about the median of output 0.
    scale : array_like, mapping, Series or {"std", "iqr"}, optional
        Scale, above 0 for each feature with a bound. The default is `bounds`; the scale of
        ``tune_scale(..., box=bounds)`` bounds the prediction more closely.
    **more
        Other arguments of certify_rows.

    Returns
    -------
    Rows
        The output bounds of each row.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments.

    Examples
    --------
    >>> model = lambda x: x[:, 0] + 10 * x[:, 1]  # moves by at most 0.2 + 10 * 0.03
    >>> rows = certreg.within(model, [1.0, 2.0], [0.2, 0.03], samples=10_000, seed=1)
    >>> lo, hi = rows["output_lo"][0, 0, 0], rows["output_hi"][0, 0, 0]
    >>> lo < 21 - 0.5 and 21 + 0.5 < hi and bool(hi - lo < 1.3)
    True"""
    refuse("within", more, "questions")
    if not is_frame(X) and np.ndim(X) == 1:
        X = inputs_of([X])
    half = bounds_of(X, bounds, "bounds")
    each, texts = scale_by_rule(model, X, half if scale is None else scale)
    for text in texts:
        warnings.warn(text, stacklevel=2)
    radius, norm = radius_of_box(X, half, each)
    asked = Question(0.0) if question is None else question
    level = norm / 2 if sigma is None else sigma  # the same for all inputs
    options = with_options(more.pop("options", Options()), radius=radius)
    return certify_rows(model, X, level, asked, scale=each, options=options, **more)


def bounds_of(X: Inputs, bounds: Scale, what: str) -> np.ndarray:
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


def radius_of_box(X: Inputs, bounds: np.ndarray, scale: Scale) -> tuple[float, float]:
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

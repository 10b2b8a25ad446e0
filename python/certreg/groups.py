"""Groups of features, with a factor for the scale of each group."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import array_of, check_finite, numbers
from ._optional import needed
from ._types import Frame, Inputs, Scale, Series, Shape
from .boxes import bounds_of, radius_of_box
from .frames import is_frame, split_frame

LEAST_ROWS, MOST_GROUPS = 12, 64


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """Inputs, the scale at the start, and the groups of features.

    X       as it was given, an array or a DataFrame
    start   scale of the features at the start, flat
    shape   shape of an input
    names   names of the groups
    member  (features, groups) of float32: 1 if a feature belongs to a group; features without
            noise belong to none
    limit   largest factor
    box     bound of each feature, flat, None: the volume counts; then the scale is 0 without one"""

    X: np.ndarray | Frame
    start: np.ndarray
    shape: Shape
    names: tuple[object, ...]
    member: np.ndarray
    limit: float
    box: np.ndarray | None = None

    @classmethod
    def of(
        cls, X: Inputs, scale: Scale, groups: ArrayLike | None, limit: float, box: Scale = None
    ) -> "Groups":
        """Raises ValueError or TypeError if scale, groups, limit or box do not suit X."""
        bounds = None if box is None else bounds_of(X, box, "box")
        matrix, columns, given_scale = split_frame(X, scale)
        shape, inputs = matrix.shape[1:], X
        if columns is None:
            inputs = numbers(matrix, np.float64, "X")
            check_finite(inputs, matrix, "X", missing=True)
        start = array_of(1.0 if given_scale is None else given_scale, shape, np.float64, "scale")
        if not np.isfinite(start).all() or (start < 0).any() or not start.any():
            raise ValueError("scale must hold finite numbers of at least 0, not all of them 0")
        if bounds is not None:
            radius_of_box(X, bounds, start)  # raises ValueError
            start = np.where(bounds.ravel() > 0, start, 0)
        if len(matrix) < LEAST_ROWS:
            raise ValueError(
                f"X has {len(matrix)} rows; give at least {LEAST_ROWS}, better some hundreds"
            )
        if not 1 < limit < math.inf:
            raise ValueError(f"limit is {limit:g}; it must be a number above 1")
        if groups is None and is_frame(X) and X.columns.is_unique:
            groups = [str(name) for name in X.columns]
        names, member = _members(groups, shape, start > 0)
        flat = None if bounds is None else bounds.ravel()
        return cls(inputs, start, shape, names, member, limit, flat)

    @property
    def rows(self) -> int:
        """The number of inputs."""
        return len(self.X)

    def inputs(self, rows: np.ndarray) -> Inputs:
        """The inputs with these indices."""
        return self.X.iloc[rows] if is_frame(self.X) else self.X[rows]

    def parts(self, logs: np.ndarray) -> np.ndarray:
        """The share of each group in the features that have noise, or in the squared norm of the
        box in units of the scale for these factors, (groups,)."""
        sizes = self._sizes() * (1.0 if self.box is None else np.exp(-2 * logs))
        return np.asarray(sizes / sizes.sum())

    def _sizes(self) -> np.ndarray:
        """The number of features of each group, or the part of a box at the start."""
        if self.box is None:
            return np.asarray(self.member.sum(0, dtype=np.float64))
        ratios = np.divide(self.box, self.start, out=np.zeros_like(self.start), where=self.box > 0)
        return np.asarray(ratios**2 @ self.member)

    def _growth(self, logs: np.ndarray) -> float:
        """Positive if factors with these logarithms are larger than 1 on the whole."""
        sizes = self._sizes()
        return float(sizes @ logs) if self.box is None else float(sizes @ -np.expm1(-2 * logs))

    def scale(self, logs: np.ndarray) -> np.ndarray | Series:
        """The scale for the logarithms of the factors, float32 of the shape of an input; for a
        DataFrame with different names of columns a Series by these names."""
        each: np.ndarray = (self.start * np.exp(self.member @ logs)).astype(np.float32)
        if is_frame(self.X) and self.X.columns.is_unique:
            return needed("pandas", "a DataFrame").Series(each, self.X.columns)
        return each.reshape(self.shape)

    def bounded(self, logs: np.ndarray) -> np.ndarray:
        """The logarithms of factors within the limit, of geometric mean 1 over the features, or
        that leave the radius of the box as it is. The given ones are all moved by the same amount,
        and then cut off."""
        most = math.log(self.limit)
        reach = most + float(np.abs(logs).max())
        low, high = -reach, reach
        for _ in range(60):
            middle = (low + high) / 2
            if self._growth(np.clip(logs + middle, -most, most)) < 0:
                low = middle
            else:
                high = middle
        return np.asarray(np.clip(logs + high, -most, most))


def _members(
    groups: ArrayLike | None, shape: Shape, noisy: np.ndarray
) -> tuple[tuple[object, ...], np.ndarray]:
    """The names of the groups, and the features that belong to each."""
    if groups is None:
        groups = np.arange(noisy.size).reshape(shape)
    try:
        each = np.broadcast_to(np.asarray(groups), shape).reshape(-1)
    except ValueError:
        raise ValueError(
            f"groups has shape {np.shape(groups)}; it must be {shape}, the shape of an input"
        ) from None
    if each.dtype.kind not in "biuUS" and not _whole(each):
        raise TypeError("groups must hold names or whole numbers")
    names, first, codes = np.unique(each[noisy], return_index=True, return_inverse=True)
    if len(names) > MOST_GROUPS:
        raise ValueError(
            f"there are {len(names)} groups; give at most {MOST_GROUPS}, by groups, since more "
            "factors cannot be learned from a few inputs"
        )
    order = np.argsort(first)  # as they appear
    member = np.zeros((noisy.size, len(names)), np.float32)
    member[np.flatnonzero(noisy), np.argsort(order)[codes.reshape(-1)]] = 1
    return tuple(names[order].tolist()), member


def _whole(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and bool((values == np.round(values)).all())

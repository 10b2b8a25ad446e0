"""Sets of changes for which one radius holds: other categories, dead sensors, brighter images.
Theory 1.11 has the proofs. All names are experimental."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math
from statistics import NormalDist
from typing import Any, Callable, Iterator, Mapping, Sequence, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Shape, abbreviated, instance, integer, listed, number
from .arrays import norm_above, numbers, scale_of
from .constants import NO_PILOT, Method, Statistic
from .display import HtmlTable, Table
from .frames import Columns, channel_axis, check_exact
from .questions import Question, Target

MOST = 1 << 16  # alternatives of an input
MOST_DIVISIONS = 3  # of a cell: nodes have numbers below 2^20
TYPICAL = 0.6  # of the longest radius that a number of samples allows, when cells are chosen
ROUNDING = 1e-13  # of corners in double, relative to the sizes of their terms
Column: TypeAlias = Union[int, str]
Change: TypeAlias = "tuple[str, np.ndarray]"  # a name, empty for no change, and an input
_NORMAL = NormalDist()


@dataclasses.dataclass(frozen=True, repr=False)
class Found(HtmlTable):
    """What a row with alternatives has beside its certificates, at one sigma. Only the certificates
    are proved. `estimates` has a number of each alternative for each question, or None."""

    count: int  # alternatives, no change included
    calls: int  # rows of the model
    limiting: tuple[str, ...]  # for each question the alternative that limits its radius
    proved: int  # alternatives before the first one that failed
    names: tuple[str, ...]  # the alternatives in their order, without divisions
    estimates: tuple[tuple[float | None, ...], ...] = ()

    @classmethod
    def of_lists(cls, *parts: Any) -> "Found":
        """From the values of its fields, with lists of JSON for tuples. 0.2.0 had no estimates."""
        made = cls(*map(_as_tuple, parts))
        none = ((None,) * len(made.names),) * len(made.limiting)
        return made if made.estimates else dataclasses.replace(made, estimates=none)

    def estimate(self, question: int = 0) -> float:
        """The estimate at the limiting alternative; NaN if there is none."""
        found = self.estimates[question][self.names.index(self.limiting[question])]
        return math.nan if found is None else found

    def _table(self) -> Table:
        each = enumerate(zip(self.limiting, self.estimates))
        return [
            {"question": q, "limited_by": name, "estimate": here[0], "there": self.estimate(q)}
            for q, (name, here) in each
        ]

    def _texts(self) -> Sequence[str]:
        return [f"{self.count:,} alternatives, {self.calls:,} samples"]

    def __repr__(self) -> str:
        texts = [f"{self.count} alternatives, {self.calls} samples"]
        for question, name in enumerate(self.limiting):
            here, there = self.estimates[question][0], self.estimate(question)
            change = f", {100 * (there - here) / abs(here):+.3g} %" if here else ""
            texts.append(f"limited by {name}: {there:.6g}{change}")
        return "; ".join(texts)


class Space:
    """The features of the inputs of a run: names, noise, and the values that columns hold."""

    def __init__(
        self,
        shape: Shape,
        scale: ArrayLike | None,
        columns: Columns | None,
        X: np.ndarray | None,
        marks: Mapping[int, Sequence[float]] = {},
    ) -> None:
        """`marks`: the numbers that mark missing cells, by the index of the feature."""
        self.marks = marks
        self.shape, self.size, self.columns = shape, math.prod(shape), columns
        flat = scale_of(scale, shape)
        self.scale: np.ndarray = np.asarray(flat, np.float64).reshape(-1)
        self.X = None if X is None else X.reshape(len(X), -1)
        self.is_of_rows = False  # if the values of X choose the alternatives
        self.is_table = len(shape) == 1  # whose cells may be missing

    def place(self, column: Column, what: str) -> int:
        """The index of a column."""
        names = None if self.columns is None else self.columns.names
        if isinstance(column, str):
            if names is None or column not in names:
                known = "X has no names: give an index" if names is None else f"choose from {names}"
                raise ValueError(f"{what} names {column!r}, which is no column; {known}")
            return names.index(column)
        at = integer(column, f"the column of {what}")
        if at >= self.size:
            raise ValueError(f"{what} names column {at}, and inputs have {self.size} features")
        return at

    def name(self, at: int) -> str:
        """The name of a column, or its index."""
        return f"feature {at}" if self.columns is None else self.columns.names[at]

    def exact_place(self, column: Column, what: str) -> int:
        """The index of a column without noise."""
        at = self.place(column, what)
        if self.scale[at] > 0:
            raise ValueError(
                f"{what} is about {self.name(at)!r}, which gets noise (scale {self.scale[at]:g}): "
                "give a category the scale 0; other numbers of a quantity are Replaced or Listed"
            )
        return at

    def value(self, at: int, code: float) -> object:
        """The value of a column that a number of an input stands for."""
        if self.columns is not None and not self.scale[at]:
            return self.columns.value(at, code)
        return code

    def text(self, at: int, code: float) -> str:
        """A number of an input as a text that differs for different values."""
        value = self.value(at, code)
        return f"{at} {type(value).__name__} {value}"

    def label(self, at: int, code: float) -> str:
        """The same as a text."""
        value = self.value(at, code)
        return f"{code:g}" if value is code else str(value)

    def code(self, at: int, value: object, what: str, known: bool) -> float:
        """The number of an input that stands for a value of a column, NaN for a missing one. Raises
        ValueError if `known` and the column does not hold the value."""
        if self.columns is not None and not self.scale[at]:
            found = self.columns.code(at, value, add=not known)
        elif self.is_table and not known and _is_missing(value):
            return math.nan
        else:
            found = number(value, what)
            if not abs(found) <= np.finfo(np.float32).max:
                raise ValueError(f"{what} is {found:g}; it must be a finite float32")
            check_exact(np.array([[value]]), self.scale[[at]], what)
            found = float(np.float32(found))
            if known and self.X is not None:  # bits: models can tell 0.0 from -0.0
                has_it = self.X[:, at].view(np.uint32) == np.float32(found).view(np.uint32)
                found = found if has_it.any() else None
        if found is None:
            raise ValueError(
                f"{what} is {abbreviated(value)}, a value that {self.name(at)!r} never has in X "
                "nor in the categories of its dtype, so the model may not know it: leave it out, "
                "or give check=False if the model was trained with it"
            )
        return found

    def all_codes(self, at: int, what: str) -> list[float]:
        """The numbers that stand for all values of a column: of its dtype, or else in X."""
        if self.columns is not None:
            found = self.columns.all_codes(at)
            self.is_of_rows |= not self.columns.has_categories(at)
        else:
            found = [] if self.X is None else _different(np.sort(self.X[:, at]).tolist())
            self.is_of_rows = True
        if not 2 <= len(found) <= MOST:
            raise ValueError(
                f"{what} are 'any', and X has {len(found)} for {self.name(at)!r}: name the values"
            )
        return found

    def norm(self, change: np.ndarray) -> float:
        """The norm of a change in units of the scale, rounded up. Infinite if a feature without
        noise changes."""
        if change[self.scale == 0].any():
            return math.inf
        some = self.scale > 0
        return norm_above(change[some] / self.scale[some], self.size)


def _as_tuple(part: Any) -> Any:
    return tuple(map(_as_tuple, part)) if isinstance(part, list) else part


def _is_missing(value: object) -> bool:
    """Whether a value is None, NaN or pandas.NA."""
    is_nan = isinstance(value, (float, np.floating)) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ == "NAType"


def _different(codes: Sequence[float]) -> list[float]:
    """The different codes. 0.0 and -0.0 are two, since models can tell them apart."""
    return list({repr(code): code for code in codes}.values())


@dataclasses.dataclass(frozen=True, eq=False)
class Cell:
    """An alternative: an input, and the radius around it that belongs to the set."""

    name: str
    input: np.ndarray | None  # float32, flat; None: of the cover, since cells may be many
    margin: float = 0.0
    cover: "_Cover | None" = None  # of a cell of a family
    lo: tuple[float, ...] = ()
    hi: tuple[float, ...] = ()

    @property
    def z(self) -> np.ndarray:
        """The input, float32 and flat."""
        if self.input is not None:
            return self.input
        assert self.cover is not None
        return self.cover.center(self.lo, self.hi)[1]

    @property
    def divisions(self) -> int:
        """The number of times that it may be divided."""
        return 0 if self.cover is None else self.cover.divisions

    def part(self, depth: int, path: int) -> "Cell":
        """A part after so many divisions: the halves of part p are 2 p and 2 p + 1."""
        if not depth:
            return self
        assert self.cover is not None
        return self.cover.halves(self.part(depth - 1, path >> 1))[path & 1]


class Budget:
    """The samples of an input with alternatives at one sigma, and what they have to prove."""

    def __init__(
        self, questions: Sequence[Question], samples: int, pilot: int, sigma: float,
        kind: np.ndarray | None,
    ) -> None:  # fmt: skip
        self.samples, self.pilot, self.sigma = samples, 0 if pilot == NO_PILOT else pilot, sigma
        self.alpha = min(q.alpha / q.bonferroni for q in questions)
        target = questions[0].target
        self.target = target.radius if isinstance(target, Target) else float(target or 0)
        counted = all(q.statistic == Statistic.MEDIAN and not q.is_vector for q in questions)
        counted &= all(q.method in (Method.FINITE, Method.ANYTIME) for q in questions)
        self.has_pilots = not counted or kind is not None and bool(np.any(kind))  # alternatives

    def main_samples(self, nodes: int) -> int:
        """The samples of each node beyond its pilot."""
        if self.has_pilots:
            return self.samples // nodes - self.pilot
        return (self.samples - self.pilot) // nodes

    def least_for(self, cell: Cell, radius: float) -> int:
        """The main samples that prove a radius around a cell, for a median without failures."""
        alpha = self.alpha * (0.5 if cell.divisions else 1)
        miss = _NORMAL.cdf(-(cell.margin + radius) / self.sigma)
        return math.ceil(math.log(alpha) / math.log1p(-miss) * (1 - 1e-12)) if miss else 1 << 62

    def value(self, cells: Sequence[Cell], nodes: int) -> float:
        """The quality of a partition: minus the samples for a target, or the typical radius that is
        left of the one with these samples."""
        if self.target:
            return -float(sum(self.least_for(cell, self.target) for cell in cells))
        outside = self.alpha ** (1 / max(self.main_samples(nodes), 1e-3))
        longest = _NORMAL.inv_cdf(min(max(outside, 1e-9), 1 - 1e-12))
        return TYPICAL * self.sigma * longest - max(cell.margin for cell in cells)

    def check(self, cells: Sequence[Cell], nodes: int) -> None:
        """Raises ValueError if the samples are too few."""
        goal, margin = self.target or self.sigma / 4, max(cell.margin for cell in cells)
        begun = self.pilot * (nodes if self.has_pilots else 1)
        least = [max(self.least_for(cell, radius) for cell in cells) for radius in (0, goal)]
        radii, to_prove = (begun + nodes * each for each in least)
        if (to_prove if self.target else radii) > self.samples:
            beyond = f" with margins up to {margin:.3g}" if margin else ""
            need = "" if self.target else f"radii take at least {_calls(radii)}, and "
            raise ValueError(
                f"samples is {self.samples}, too few for {len(cells)} alternatives{beyond}: {need}"
                f"a target of {goal:.3g} takes {_calls(to_prove)} if none fails"
            )


def _calls(count: int) -> str:
    return f"{count} samples" if count < 1 << 50 else "more samples than any computer draws"


# ---- sets
class ChangeSet:
    """A set of changes of an input; no change always belongs to it. ``a * b`` is the set of all
    changes by a and then by b. Experimental."""

    def __mul__(self, other: "ChangeSet") -> "Product":
        if not isinstance(other, ChangeSet):
            return NotImplemented
        return Product((*_factors(self), *_factors(other)))


@dataclasses.dataclass(frozen=True)
class _Moves:
    """The changes that a finite set makes: in at most k groups one of some assignments of numbers
    to columns. A set whose changes depend on the input has `changes` and `text` of its own."""

    groups: Sequence[Sequence[Sequence[tuple[int, float]]]]
    k: int = 1

    def count(self) -> int:
        """The number of changes of one input, at most."""
        counts = [1] + [0] * self.k  # by the number of groups that change
        for group in self.groups:
            for i in range(self.k, 0, -1):
                counts[i] += counts[i - 1] * len(group)
        return sum(counts)

    def text(self, space: Space) -> str:
        """The set: equal texts are equal sets, one of which may go on with a file of the other."""
        each = [[[space.text(*pair) for pair in move] for move in group] for group in self.groups]
        return f"{self.k} of {each}"

    def changes(self, z: np.ndarray, space: Space) -> Iterator[Change]:
        """The changes of an input, first no change."""
        for i in range(self.k + 1):
            for some in itertools.combinations(self.groups, i):
                for moves in itertools.product(*some):
                    change = [pair for move in moves for pair in move]
                    moved = z.copy()
                    for at, code in change:
                        moved[at] = code
                    names = [f"{space.name(at)}={space.label(at, code)}" for at, code in change]
                    if not i or moved.tobytes() != z.tobytes():
                        yield ", ".join(names), moved


class _Finite(ChangeSet):
    """A set of finitely many changes, which move no two inputs apart."""

    def _moves(self, space: Space) -> _Moves:
        """Its changes. Raises ValueError or TypeError if it does not fit these features."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class OneOf(_Finite):
    """Any one of some values in a column of categories, which has scale 0.

    Parameters
    ----------
    column : str or int
        Name of the column; its index if inputs are arrays.
    values : "any" or sequence
        The values. "any": all categories of the column's dtype; without such a dtype all values of
        the column in X.
    check : bool
        Refuse values that the column never has in X, since the model may not know them.

    Examples
    --------
    >>> X = np.array([[0.2, 0], [0.4, 1], [0.1, 2]])
    >>> rows = certreg.certify_rows(
    ...     lambda x: x[:, 0] + 0.1 * x[:, 1], X, 0.25, 0.5, scale=[1, 0], samples=900, seed=1,
    ...     alternatives=certreg.OneOf(1, "any"), progress=False)
    >>> rows.alternatives[0, 0].count, bool(rows.radius.min() > 0)
    (3, True)"""

    column: Column
    values: str | Sequence[object] = "any"
    check: bool = True

    def _moves(self, space: Space) -> _Moves:
        return _Moves([[[pair] for pair in self._codes(space, f"OneOf({self.column!r})")]])

    def _codes(self, space: Space, what: str) -> list[tuple[int, float]]:
        """The index of the column, with each number that it may hold."""
        at, name = space.exact_place(self.column, what), f"the values of {what}"
        if isinstance(self.values, str):
            if self.values != "any":
                raise ValueError(f"{name} are {self.values!r}: give 'any' or a list")
            return [(at, code) for code in space.all_codes(at, name)]
        given = listed(self.values, name)
        if not given:
            raise ValueError(f"{what} has no values")
        codes = [space.code(at, value, f"a value of {what}", self.check) for value in given]
        return [(at, code) for code in _different(codes)]


@dataclasses.dataclass(frozen=True)
class AtMost(_Finite):
    """Any other values in at most k of some columns of categories, which have scale 0.

    Every combination is an alternative; none is inferred from single changes.

    Parameters
    ----------
    k : int
        Most columns that change, at least 1.
    columns : sequence of str, int or OneOf
        The columns; a OneOf names the values of its column, which are otherwise "any".

    Examples
    --------
    >>> certreg.AtMost(2, ["cut", "color", certreg.OneOf("clarity", ["SI1", "SI2"])]).k
    2"""

    k: int
    columns: Sequence[Column | OneOf]

    def _moves(self, space: Space) -> _Moves:
        given = listed(_several(self.columns, "AtMost"), "the columns of AtMost")
        each = [one if isinstance(one, OneOf) else OneOf(one) for one in given]
        k = integer(self.k, "k of AtMost", 1)
        if k > len(each):
            raise ValueError(f"k of AtMost is {k}, and it has {len(each)} columns")
        codes = [one._codes(space, f"AtMost({k})") for one in each]
        if len({some[0][0] for some in codes}) < len(codes):
            raise ValueError("AtMost names a column twice")
        return _Moves([[[pair] for pair in some] for some in codes], k)


@dataclasses.dataclass(frozen=True)
class Replaced(_Finite):
    """Columns that hold fixed values, all at once, such as the number of a dead sensor.

    Parameters
    ----------
    values : dict
        The value of each column, by name or index. Columns may have noise. None and NaN are missing
        values, for models of tables that take them.

    Examples
    --------
    >>> dead = [certreg.Replaced({"gps": 0.0}), certreg.Replaced({"left": 0.0, "right": 0.0})]"""

    values: dict[Column, object]

    def _moves(self, space: Space) -> _Moves:
        if not isinstance(self.values, dict) or not self.values:
            raise TypeError("Replaced takes a dict with a value for each column")
        places = {space.place(column, "Replaced"): v for column, v in self.values.items()}
        if len(places) < len(self.values):
            raise ValueError("Replaced names a column twice")
        return _Moves([[[(at, space.code(at, v, "Replaced", False)) for at, v in places.items()]]])


def _several(columns: Sequence[Any], what: str) -> Sequence[Any]:
    if isinstance(columns, (str, int)):
        raise TypeError(f"the columns of {what} must be a sequence, not {columns!r}")
    return columns


@dataclasses.dataclass(frozen=True)
class Listed(ChangeSet):
    """Inputs that the program gives, each with a radius around it that belongs to the set.

    Parameters
    ----------
    inputs : array_like or callable
        Inputs of shape ``(count, *shape)``, equal to the certified input in features of scale 0
        unless the change is meant; or a function of the certified input, an array of its shape,
        that returns them. It is called several times, and must return equal inputs each time.
    margins : float or sequence of float
        Margins >= 0, in units of the input divided by its scale.

    Examples
    --------
    >>> rows = certreg.certify_rows(
    ...     lambda x: x[:, 0], [[0.1, 0.2]], 0.25, 0.5, samples=600, seed=1, progress=False,
    ...     alternatives=certreg.Listed(lambda z: [z[::-1]], margins=0.05))
    >>> rows.alternatives[0, 0].names
    ('no change', 'input 0')"""

    inputs: ArrayLike | Callable[[np.ndarray], ArrayLike]
    margins: float | Sequence[float] = 0.0

    def _cells(self, z: np.ndarray, space: Space) -> list[Cell]:
        """The cells for an input."""
        own = z.reshape(space.shape).copy()  # which the function may change
        given = self.inputs(own) if callable(self.inputs) else self.inputs
        inputs = numbers(given, np.float32, "the inputs of Listed").copy()
        if inputs.shape[1:] != space.shape or not len(inputs):
            wanted = ("count", *space.shape)
            raise ValueError(f"the inputs of Listed have shape {inputs.shape}, not {wanted}")
        if not np.isfinite(inputs).all():
            raise ValueError("the inputs of Listed must be finite")
        check_exact(np.asarray(given), space.scale, "the inputs of Listed")
        margins = np.broadcast_to(numbers(self.margins, np.float64, "margins"), len(inputs))
        if not (np.isfinite(margins) & (margins >= 0)).all():
            raise ValueError("margins must be finite numbers of at least 0")
        flat = inputs.reshape(len(inputs), -1)
        return [Cell(f"input {i}", x, float(h)) for i, (x, h) in enumerate(zip(flat, margins))]

    def _text(self, X: np.ndarray, space: Space) -> str:
        """The inputs for all rows, since a function has no text."""
        each = X if callable(self.inputs) else X[:1]
        return repr([[(c.z.tobytes(), c.margin) for c in self._cells(z, space)] for z in each])


# ---- families
class Family(ChangeSet):
    """A set of changes with real parameters, in which inputs are affine one by one between
    `knots`. Experimental."""

    cells: int
    refine: int
    clip: tuple[float, float] | None = None

    def _box(self) -> list[tuple[float, float]]:
        """The range of each parameter; 0 is no change."""
        raise NotImplementedError

    def _check(self, space: Space) -> None:
        """Raises ValueError if it does not fit these features."""
        places = np.flatnonzero(self._moving(space) & (space.scale == 0))
        if places.size:
            raise ValueError(
                f"{self!r} moves {space.name(int(places[0]))!r}, which gets no noise (scale 0), so "
                "no radius around a cell would cover it: name the columns that it moves, or give "
                "the feature noise"
            )
        if not 0 <= integer(self.refine, "refine") <= MOST_DIVISIONS:
            raise ValueError(f"refine is {self.refine}; it must be from 0 to {MOST_DIVISIONS}")
        integer(self.cells, "cells", most=MOST)

    def _moving(self, space: Space) -> np.ndarray:
        """True for features that change."""
        return np.ones(space.size, bool)

    def _check_input(self, z: np.ndarray) -> None:
        """Raises ValueError if the family is not defined at an input."""

    def _at(self, x: np.ndarray, p: Sequence[float], space: Space) -> np.ndarray:
        """The input for parameters, in double and before clipping."""
        raise NotImplementedError

    def _sizes(self, bounds: Any) -> Any:
        """Bounds of all terms of the sums that `_at` computes, from bounds of the input."""
        raise NotImplementedError

    def _step(self) -> float:
        """The width of the steps to which changed inputs are rounded."""
        return 0.0

    def _text(self, lo: Sequence[float], hi: Sequence[float]) -> str:
        """The name of a cell."""
        raise NotImplementedError

    def _knots(self) -> list[list[float]]:
        """For each parameter the numbers at which cells are divided."""
        return [[] for _ in self._box()]


def _range(lo: object, hi: object, what: str) -> tuple[float, float]:
    low, high = number(lo, f"lo of {what}"), number(hi, f"hi of {what}")
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"{what} is from {low:g} to {high:g}: give finite numbers, lo <= hi")
    return low, high


@dataclasses.dataclass(frozen=True)
class Gain(Family):
    """Features that are multiplied by one factor: the gain of a sensor, a brighter or darker image.

    Parameters
    ----------
    lo, hi : float
        Range of the factor, such as 0.9 and 1.1. It contains 1, which changes nothing.
    columns : sequence of str or int, optional
        The features; by default all.
    clip : (float, float), optional
        Black and white of an image. Each pixel becomes black + factor * (pixel - black), with a
        factor of at least 0, and is clipped to this range, which the image itself keeps. By default
        black is 0, and nothing is clipped.
    levels : int
        Number of steps between black and white to which changed pixels are rounded, such as 255; 0:
        no rounding.
    cells : int
        Number of cells; 0: chosen for the number of samples.
    refine : int
        With a target: number of times that a cell that misses it may be divided, 0 to 3. Alpha is
        then divided by the depth of cells (theory 1.11).

    Examples
    --------
    >>> sensors = certreg.Replaced({"gps": 0.0}) * certreg.Gain(0.9, 1.1, ["left", "right"])
    >>> image = np.full((1, 4, 4), 0.5)
    >>> rows = certreg.certify_rows(
    ...     lambda x: x.mean(axis=(1, 2)), image, 0.5, 0.4, samples=1000, seed=1, progress=False,
    ...     alternatives=certreg.Gain(0.9, 1.1, clip=(0, 1)))
    >>> bool(rows.radius[0] > 0)
    True"""

    lo: float
    hi: float
    columns: Sequence[Column] | None = None
    clip: tuple[float, float] | None = None
    levels: int = 0
    cells: int = 0
    refine: int = 0

    def __post_init__(self) -> None:
        self._box()

    def _box(self) -> list[tuple[float, float]]:
        low, high = _range(self.lo, self.hi, "Gain")
        if not low <= 1 <= high:
            raise ValueError(
                f"Gain is from {low:g} to {high:g}, without 1, the factor that changes nothing: "
                "give factors on both sides of it, such as 0.9 and 1.1 for 10 per cent"
            )
        return [(low - 1, high - 1)]

    def _check(self, space: Space) -> None:
        super()._check(space)
        if self.clip is None:
            if integer(self.levels, "levels"):
                raise ValueError("levels of Gain are between black and white: give clip")
            return
        black, white = _range(*self.clip, "clip")
        if black == white:
            raise ValueError("clip of Gain must be black and white")
        if self.columns is not None:
            raise ValueError("clip of Gain is about all pixels of an image: leave out columns")
        if self.lo < 0:
            raise ValueError(f"lo of Gain is {self.lo:g}; 0 is black, and nothing is darker")

    def _check_input(self, z: np.ndarray) -> None:
        if self.clip is None:
            return
        black, white = self.clip
        if z.min() < black or z.max() > white:
            raise ValueError(
                f"Gain clips to [{black:g}, {white:g}], and the image has values from "
                f"{z.min():.6g} to {z.max():.6g}: give the range of its pixels as clip, or "
                "leave out clip if nothing clips them"
            )

    def _moving(self, space: Space) -> np.ndarray:
        if self.columns is None:
            return super()._moving(space)
        moves = np.zeros(space.size, bool)
        moves[[space.place(column, "Gain") for column in _several(self.columns, "Gain")]] = True
        return moves

    @property
    def _black(self) -> float:
        return 0.0 if self.clip is None else self.clip[0]

    def _at(self, x: np.ndarray, p: Sequence[float], space: Space) -> np.ndarray:
        return np.where(self._moving(space), self._black + (1 + p[0]) * (x - self._black), x)

    def _sizes(self, bounds: Any) -> Any:
        return (2 + max(abs(self.lo), abs(self.hi))) * (bounds + 2 * abs(self._black))

    def _step(self) -> float:
        return (self.clip[1] - self.clip[0]) / self.levels if self.levels and self.clip else 0.0

    def _text(self, lo: Sequence[float], hi: Sequence[float]) -> str:
        return f"gain {1 + lo[0]:.4g} to {1 + hi[0]:.4g}"


@dataclasses.dataclass(frozen=True)
class Translated(Family):
    """An image that is moved by parts of pixels, with bilinear interpolation.

    Inputs are images of shape (height, width), (height, width, channels) or (channels, height,
    width) with 1 or 3 channels, or flat with `shape`.

    Parameters
    ----------
    right, down : float
        The image moves by up to so many pixels to each side.
    fill : float, optional
        Value of pixels that come from outside of the image; by default that of the nearest pixel of
        the border.
    shape : tuple of int, optional
        Shape of the image if inputs are flat.
    channels_last : bool, optional
        If True, the last axis has the channels, else the first one. Needed if both are 1 or 3 long.
    cells, refine : int
        As for Gain; `cells` is about each parameter.

    Examples
    --------
    >>> shaken = certreg.Translated(1, 0.5, fill=0.0) * certreg.Gain(0.9, 1.1, clip=(0, 1))"""

    right: float
    down: float
    fill: float | None = None
    shape: tuple[int, ...] | None = None
    channels_last: bool | None = None
    cells: int = 0
    refine: int = 0

    def _box(self) -> list[tuple[float, float]]:
        ends = number(self.right, "right of Translated"), number(self.down, "down of Translated")
        if not all(0 <= end < math.inf for end in ends):
            raise ValueError("Translated takes numbers of pixels of at least 0")
        return [(-end, end) for end in ends]

    def _check(self, space: Space) -> None:
        super()._check(space)
        shape = self._shape(space)
        if self.channels_last is not None:
            instance(self.channels_last, bool, "channels_last")
        doubtful = len(shape) == 3 and shape[0] in (1, 3) and shape[2] in (1, 3)
        if doubtful and self.channels_last is None:
            raise ValueError(
                f"Translated cannot infer the axis of the channels from the shape {shape}: give "
                "channels_last"
            )
        if math.prod(shape) != space.size or not (len(shape) == 2 or self._channels(shape)):
            raise ValueError(
                "Translated takes images, (height, width) or with 1 or 3 channels, and inputs have "
                f"the shape {space.shape}: give shape"
            )
        if self.fill is not None and not math.isfinite(number(self.fill, "fill")):
            raise ValueError("fill of Translated must be finite")

    def _shape(self, space: Space) -> Shape:
        given = space.shape if self.shape is None else self.shape
        return tuple(integer(length, "shape of Translated", 1) for length in given)

    def _channels(self, shape: Shape) -> int | None:
        """The axis of (rows, *shape) with the channels; None if there is none."""
        if self.channels_last is None or len(shape) != 3:
            return channel_axis(shape)
        return 3 if self.channels_last else 1

    def _at(self, x: np.ndarray, p: Sequence[float], space: Space) -> np.ndarray:
        image = x.reshape(self._shape(space))
        rows = 1 if self._channels(image.shape) == 1 else 0  # channels first
        for axis, move in ((rows + 1, p[0]), (rows, p[1])):
            whole = math.floor(move)
            near, far = (self._by_pixels(image, axis, whole + i) for i in (0, 1))
            image = (1 - (move - whole)) * near + (move - whole) * far
        return image.reshape(-1)

    def _by_pixels(self, image: np.ndarray, axis: int, move: int) -> np.ndarray:
        length = image.shape[axis]
        sources = np.arange(length) - move
        moved = image.take(np.clip(sources, 0, length - 1), axis)
        if self.fill is not None:
            outside = (sources < 0) | (sources >= length)
            moved[(slice(None),) * axis + (outside,)] = self.fill
        return moved

    def _sizes(self, bounds: Any) -> Any:
        return 4 * (np.max(bounds) + abs(self.fill or 0.0)) + 0 * bounds

    def _text(self, lo: Sequence[float], hi: Sequence[float]) -> str:
        return f"moved {lo[0]:+.4g} to {hi[0]:+.4g} right, {lo[1]:+.4g} to {hi[1]:+.4g} down"

    def _knots(self) -> list[list[float]]:
        ends = [(math.ceil(low), math.floor(high)) for low, high in self._box()]
        return [[float(k) for k in range(low, high + 1)] for low, high in ends]


@dataclasses.dataclass(frozen=True)
class Product(ChangeSet):
    """The changes by several sets one after another; ``a * b`` makes it. Finite sets come first,
    and then families. Experimental."""

    factors: tuple[ChangeSet, ...]


def _factors(one: ChangeSet) -> tuple[ChangeSet, ...]:
    return one.factors if isinstance(one, Product) else (one,)


# ---- cells
class _Cover:
    """The cells of a family about one input."""

    def __init__(
        self, name: str, z: np.ndarray, families: Sequence[Family], space: Space
    ) -> None:
        self.name, self.z, self.space, self.clip = name, z, space, families[-1].clip
        self.box = [ends for family in families for ends in family._box()]
        self.divisions = max(family.refine for family in families)
        given = [family.cells for family in families for _ in family._box()]
        self._asked = given if all(given) else []
        self._knots = [k for family in families for k in family._knots()]
        self._parts, first = list[tuple[Family, slice]](), 0
        sizes: Any = np.abs(z.astype(np.float64))
        self._moving = np.any([family._moving(space) for family in families], axis=0)
        for family in families:
            moved = np.flatnonzero(family._moving(space)).tolist()
            if any(math.isnan(z[j]) or float(z[j]) in space.marks.get(j, ()) for j in moved):
                raise ValueError(f"cells are missing in features that {family!r} moves")
            family._check_input(z)
            sizes = family._sizes(sizes)
            self._parts.append((family, slice(first, first + len(family._box()))))
            first += len(family._box())
        self._check_marks(families)
        rounding = (ROUNDING * len(families) + 2**-24) * sizes + families[-1]._step() / 2
        self._slack = self._norm(rounding)

    def _check_marks(self, families: Sequence[Family]) -> None:
        """Raises ValueError if a change may end on the mark of a missing cell."""
        marks = {j: each for j, each in self.space.marks.items() if self._moving[j]}
        if not marks:
            return
        corners = np.array([self._at(p) for p in itertools.product(*self.box)])
        low, high = corners.min(0), corners.max(0)
        if self.clip is not None:
            low, high = np.clip(low, *self.clip), np.clip(high, *self.clip)
        for j, each in marks.items():
            for mark in each:
                if low[j] <= mark <= high[j]:
                    raise ValueError(
                        f"a change by {families[-1]!r} may make {self.space.name(j)} {mark:g}, "
                        "which marks a missing cell: give smaller changes"
                    )

    def _norm(self, change: np.ndarray) -> float:
        """The norm of a change of the features that move; elsewhere cells may be missing."""
        return self.space.norm(np.where(self._moving, change, 0.0))

    def _at(self, p: Sequence[float]) -> np.ndarray:
        """The input for parameters, before clipping."""
        x = self.z.astype(np.float64)
        for family, some in self._parts:
            x = family._at(x, p[some], self.space)
        return x

    def center(self, lo: Sequence[float], hi: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """The input at the center of a box: in double before clipping, and as it is certified."""
        y = self._at(tuple((a + b) / 2 for a, b in zip(lo, hi)))
        return y, (y if self.clip is None else np.clip(y, *self.clip)).astype(np.float32)

    def cell(self, lo: tuple[float, ...], hi: tuple[float, ...]) -> Cell:
        """The cell of a box of parameters."""
        y, z = self.center(lo, hi)
        clipped = y if self.clip is None else np.clip(y, *self.clip)
        corners = itertools.product(*({a, b} for a, b in zip(lo, hi)))
        reach = max(self._norm(self._at(corner) - y) for corner in corners)
        margin = (reach + self._norm(clipped - z) + self._slack) * (1 + 1e-12)
        texts = [family._text(lo[some], hi[some]) for family, some in self._parts]
        name = ", ".join(([self.name] if self.name else []) + texts)
        return Cell(name, None, margin, self, lo, hi)

    def halves(self, cell: Cell) -> list[Cell]:
        """The two cells of which a cell consists."""
        i = self._longest(cell.lo, cell.hi)
        middle = (cell.lo[i] + cell.hi[i]) / 2
        left = tuple(middle if k == i else end for k, end in enumerate(cell.hi))
        right = tuple(middle if k == i else end for k, end in enumerate(cell.lo))
        return [self.cell(cell.lo, left), self.cell(right, cell.hi)]

    def _longest(self, lo: Sequence[float], hi: Sequence[float]) -> int:
        """The parameter that moves the input most within a box."""
        center = [(a + b) / 2 for a, b in zip(lo, hi)]
        ends = [[*center[:i], end[i], *center[i + 1 :]] for i in range(len(lo)) for end in (lo, hi)]
        moves = [self._norm(self._at(a) - self._at(b)) for a, b in zip(ends[::2], ends[1::2])]
        return int(np.argmax(moves))

    def partitions(self) -> Iterator[list[Cell]]:
        """Partitions of the box into more and more cells."""
        counts = self._asked or [1] * len(self.box)
        while True:
            edges = list(map(_edges, self.box, counts, self._knots))
            if math.prod(len(e) - 1 for e in edges) > MOST:
                return
            yield self._grid(edges)
            if self._asked:
                return
            longest = self._longest([e[0] for e in edges], [e[1] for e in edges])
            counts[longest] += max(1, counts[longest] // 4)

    def chosen(self, budget: Budget, others: int, covers: int) -> list[Cell]:
        """The best partition for the samples, beside other cells and as many covers."""
        best, cells, worse = -math.inf, list[Cell](), 0
        for some in self.partitions():
            nodes = others + covers * len(some) * _nodes(self.divisions)
            value, worse = budget.value(some, nodes), worse + 1
            if value > best:
                best, cells, worse = value, some, 0
            if worse > 3 or budget.main_samples(nodes) < 1:
                break
        if not cells:
            raise ValueError(f"a family has more than {MOST} cells: give a smaller one")
        return cells

    def _grid(self, edges: Sequence[np.ndarray]) -> list[Cell]:
        """The cells between these edges, from no change outwards."""
        sides = [list(zip(e[:-1].tolist(), e[1:].tolist())) for e in edges]
        boxes = [tuple(zip(*box)) for box in itertools.product(*sides)]
        widths = [max(high - low, 1e-300) for low, high in self.box]
        boxes.sort(key=lambda b: max(abs(x + y) / w for x, y, w in zip(b[0], b[1], widths)))
        return [self.cell(lo, hi) for lo, hi in boxes]


def _edges(ends: tuple[float, float], count: int, knots: list[float]) -> np.ndarray:
    """Edges of cells from one end to the other."""
    if ends[0] == ends[1]:
        return np.array(ends)
    return np.unique(np.concatenate([np.linspace(*ends, count + 1), knots]))


def _nodes(divisions: int) -> int:
    """The cells of a tree that is divided so often."""
    return int(2 ** (divisions + 1) - 1)


class Alternatives:
    """Sets of changes for the inputs of a run. No change always belongs to them."""

    def __init__(self, given: object, space: Space) -> None:
        self.space = space
        many: Any = [given] if isinstance(given, ChangeSet) else given
        several = listed(many, "alternatives")
        if not several:
            raise ValueError("alternatives is empty: give a set of changes")
        self._parts = [self._part(one) for one in several]
        space.X = None  # other processes do not need it

    def know_marks(self, marks: Mapping[int, set[float]]) -> None:
        """Adds marks that only the model in this process knows."""
        known = self.space.marks
        more = {j: (*known.get(j, ()), *each) for j, each in marks.items()}
        self.space.marks = {**known, **more}

    def _part(self, one: object) -> tuple[list[_Moves], list[Family], Listed | None]:
        if isinstance(one, Listed):
            if self.space.columns is not None:
                raise ValueError("Listed takes arrays: X is a DataFrame, and its values have codes")
            return [], [], one
        if not isinstance(one, ChangeSet):
            raise TypeError(
                "alternatives must be OneOf, AtMost, Replaced, Gain, Translated, "
                f"Listed, or products or a list of them, not {abbreviated(one)}"
            )
        finite: list[_Moves] = []
        families: list[Family] = []
        for factor in _factors(one):
            if isinstance(factor, Listed):
                raise ValueError("Listed in a product: list the changed inputs instead")
            if isinstance(factor, _Finite) and families:
                raise ValueError(
                    f"{factor!r} comes after {families[-1]!r} in a product: finite sets come first"
                )
            if isinstance(factor, _Finite):
                finite.append(factor._moves(self.space))
            elif isinstance(factor, Family):
                if families and families[-1].clip is not None:
                    raise ValueError(
                        f"{families[-1]!r} clips, so it has to be the last one in a product"
                    )
                factor._box()
                factor._check(self.space)
                families.append(factor)
        return finite, families, None

    def cells(self, z: np.ndarray, budget: Budget) -> tuple[list[Cell], int]:
        """An input, flat, and its alternatives; and the number of samples of the input itself.
        Raises ValueError if they take more samples than there are."""
        cells, covers = self.of(z)
        cells.insert(0, Cell("no change", z))
        finite = len(cells)
        for cover in covers:
            if cover.divisions and not budget.target:
                raise ValueError("refine divides cells that miss a target: give one, or refine=0")
            cells += cover.chosen(budget, finite, len(covers))
        if len(cells) > MOST:
            raise ValueError(f"the set has {len(cells)} alternatives; at most {MOST} are possible")
        nodes = sum(_nodes(cell.divisions) for cell in cells)
        budget.check(cells, nodes)
        return cells, budget.pilot + budget.main_samples(nodes)

    def text(self, X: np.ndarray) -> str:
        """The set for these inputs. Equal texts are equal sets."""
        space, texts = self.space, list[str]()
        for finite, families, given in self._parts:
            texts += [moves.text(space) for moves in finite]
            texts.append(f"{families} {None if given is None else given._text(X, space)}")
        return hashlib.sha256("; ".join(texts).encode()).hexdigest()

    def count(self) -> int:
        """The number of alternatives of one input, without the cells of families, at most."""
        return sum(math.prod(f.count() for f in finite) for finite, _, _ in self._parts)

    def of(self, z: np.ndarray) -> tuple[list[Cell], list[_Cover]]:
        """The cells for a flat input, of finite sets and lists; and the covers of families."""
        if self.count() > 2 * MOST:
            raise ValueError(
                f"the set has up to {self.count():.3g} alternatives; at most {MOST} are possible"
            )
        cells: dict[bytes, Cell] = {}
        covers: list[_Cover] = []
        for finite, families, given in self._parts:
            if given is not None:
                for cell in given._cells(z, self.space):
                    cells.setdefault(cell.z.tobytes() + repr(cell.margin).encode(), cell)
            for name, x in _combined("", z, finite, self.space):
                if families:
                    covers.append(_Cover(name, x, families, self.space))
                elif name:
                    cells.setdefault(x.tobytes() + b"0.0", Cell(name, x))
        cells.pop(z.tobytes() + b"0.0", None)
        return list(cells.values()), covers


def _combined(
    name: str, z: np.ndarray, finite: Sequence[_Moves], space: Space
) -> Iterator[Change]:
    if not finite:
        yield name, z
        return
    for own, x in finite[0].changes(z, space):
        joined = f"{name}, {own}" if name and own else name or own
        yield from _combined(joined, x, finite[1:], space)

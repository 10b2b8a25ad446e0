"""DataFrames as inputs: some columns move under the noise, others stay exactly what they are."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ._arrays import array_of
from ._optional import needed, of_class

MOST_VALUES = 1 << 24  # as far as float32 counts


def is_frame(X: Any) -> bool:
    """Whether it is a DataFrame of pandas."""
    return of_class(X, "pandas", "DataFrame")


class Columns:
    """A DataFrame as an array, and the way back.

    frame  of n rows and d columns
    scale  noise of each column in units of sigma. None: 1 for columns of floats, 0 for all others;
           or a dict by the names of columns, where those that are not named get 0; or one number
           for all columns; or d numbers

    A column with scale 0 never moves. It may have any dtype and missing values; `matrix` has the
    numbers of its values. The other columns must hold finite numbers. Integers that move become
    float64. What does not fit raises ValueError.

    matrix  float32 of shape (n, d)
    scale   float32 of shape (d,)"""

    def __init__(self, frame: Any, scale: Any = None) -> None:
        self.scale = _scales(frame, scale)
        self.matrix = np.empty(frame.shape, np.float32)
        self._names, self._ways = frame.columns, []
        for j, moves in enumerate(self.scale != 0):
            column = frame.iloc[:, j]
            self.matrix[:, j], way = _numbers(column) if moves else _codes(column)
            self._ways.append(way)

    def told(self) -> str:
        """What `matrix` does not tell: the names of the columns, and the values that stay."""
        values = [way.table.tolist() if isinstance(way, _Kept) else None for way in self._ways]
        return repr((list(self._names), values))

    def wrap(self, function: Callable[[Any], Any]) -> "OnFrames":
        """A function of rows like those of `matrix`, float32 of shape (rows, d), that returns what
        `function` returns for a DataFrame of these rows, with the columns and dtypes of the
        original. It can be pickled if `function` can."""
        return OnFrames(function, self._names, self._ways)


class OnFrames:
    """A function of a DataFrame as one of an array: see Columns.wrap."""

    def __init__(self, function: Callable[[Any], Any], names: Any, ways: list[Any]) -> None:
        self._function, self._names, self._ways = function, names, ways

    def __call__(self, x: np.ndarray) -> Any:
        return self._function(self.frame(x))

    def frame(self, x: np.ndarray) -> Any:
        """The DataFrame of such rows."""
        pandas = needed("pandas", "a DataFrame")
        columns = {j: way(x[:, j]) for j, way in enumerate(self._ways)}
        frame = pandas.DataFrame(columns, copy=False)
        frame.columns = self._names
        return frame


class _Moved:
    """Numbers as a column of a dtype."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __call__(self, x: np.ndarray) -> Any:
        if isinstance(self.dtype, np.dtype):
            return x.astype(self.dtype)
        return needed("pandas", "a DataFrame").array(x.astype(np.float64), self.dtype)


class _Kept:
    """Codes as the values of a table."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __call__(self, x: np.ndarray) -> Any:
        return self.table.take(x.astype(np.intp))


def _scales(frame: Any, scale: Any) -> np.ndarray:
    """A number for each column."""
    types, names = needed("pandas.api.types", "a DataFrame"), list(frame.columns)
    if scale is None:
        scale = [float(types.is_float_dtype(dtype)) for dtype in frame.dtypes]
    elif isinstance(scale, dict):
        unknown = [name for name in scale if name not in names]
        if unknown:
            raise ValueError(f"scale names {unknown[0]!r}, which is no column; there are {names}")
        scale = [scale.get(name, 0) for name in names]
    return np.asarray(array_of(scale, (len(names),), np.float32, "scale"))


def _numbers(column: Any) -> tuple[np.ndarray, _Moved]:
    """A column that moves in float32, and the way back."""
    types = needed("pandas.api.types", "a DataFrame")
    floats = types.is_float_dtype(column.dtype)
    if not floats and not types.is_integer_dtype(column.dtype):
        raise ValueError(
            f"column {column.name!r} is {column.dtype}, and only numbers can move: give it scale 0"
        )
    with np.errstate(over="ignore"):
        values = column.to_numpy(np.float64, na_value=np.nan).astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"column {column.name!r} is {column.iloc[bad[0]]} in row {bad[0]}, and only finite "
            "numbers can move: fill it, or give the column scale 0"
        )
    return values, _Moved(column.dtype if floats else np.dtype(np.float64))


def _codes(column: Any) -> tuple[np.ndarray, _Kept]:
    """A column that stays as numbers of its distinct values, and the way back."""
    _, first, codes = np.unique(_keys(column), return_index=True, return_inverse=True)
    if len(first) > MOST_VALUES:
        raise ValueError(
            f"column {column.name!r} has {len(first)} distinct values, more than {MOST_VALUES}: "
            "certify fewer rows at a time"
        )
    values = column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array
    return codes.reshape(-1), _Kept(values.take(first))


def _keys(column: Any) -> np.ndarray:
    """Integers that differ wherever values do. What is merely equal (1, True and 1.0, or the two
    zeros) is told apart."""
    if column.dtype == object:
        return _keys_of_objects(column)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        column = column.to_numpy().view(f"i{column.dtype.itemsize}")
    return np.asarray(needed("pandas", "a DataFrame").factorize(column)[0])


def _keys_of_objects(column: Any) -> np.ndarray:
    numbers: dict[Any, int] = {}
    try:
        return np.array(
            [numbers.setdefault((type(v), v, repr(v)), len(numbers)) for v in column], np.intp
        )
    except TypeError:  # lists, for instance, cannot be keys
        return np.arange(len(column))

"""DataFrames as inputs: some columns get noise, the others stay exactly as they are."""

from __future__ import annotations

import warnings
from typing import Any, Callable, Tuple

import numpy as np

from ._arrays import inputs_of, scale_of
from ._optional import needed, of_class
from .names import by_position, names_of, order, takes_by_position

MOST_VALUES = 1 << 24  # up to here float32 has all integers


def is_frame(X: Any) -> bool:
    """Whether X is a pandas DataFrame."""
    return of_class(X, "pandas", "DataFrame")


class Columns:
    """Converts a DataFrame to an array, and rows of the array back to DataFrames.

    frame  a DataFrame of n rows and d columns
    scale  noise of each column in units of sigma, >= 0: one number for all columns; d numbers; or
           a dict or Series by the names of columns, where columns that are not named get 0.
           None: 1 for columns of floats, 0 for all others

    A column with scale 0 gets no noise. It may have any dtype and missing values; `matrix` has an
    integer code for each distinct value. The other columns must hold finite numbers. If they hold
    integers, the model gets them as float64. Raises ValueError if frame or scale is not like this.

    Attributes:
    matrix  float32 of shape (n, d)
    scale   float32 of shape (d,)
    names   of the columns, as texts"""

    def __init__(self, frame: Any, scale: Any = None) -> None:
        self.scale = _scales(frame, scale)
        self.matrix = np.empty(frame.shape, np.float32)
        self._names, self._ways = frame.columns, []
        self.names = [str(name) for name in frame.columns]
        for j, moves in enumerate(self.scale != 0):
            column = frame.iloc[:, j]
            self.matrix[:, j], way = _numbers(column) if moves else _codes(column)
            self._ways.append(way)

    def told(self) -> str:
        """A text of what `matrix` does not contain: the names of the columns, and the values of
        columns without noise."""
        return repr((list(self._names), [way.told() for way in self._ways]))

    def wrap(self, function: Callable[[Any], Any]) -> "OnFrames":
        """Turns a function of DataFrames, as as_model returns it, into a function of float32 arrays
        of shape (rows, d). The DataFrames have the columns and dtypes of the original, in the order
        in which the model names them. Raises ValueError if it names others. Warns if it takes
        columns by position. The result can be pickled if `function` can."""
        return OnFrames(function, self._names, self._ways, self._order(function))

    def _order(self, function: Callable[[Any], Any]) -> list[int]:
        names = self.names
        wanted = names_of(function, names)
        if wanted is not None:
            return order(names, wanted, "X", "the model")
        if takes_by_position(function):
            warnings.warn(by_position("the model", "X", names), stacklevel=2)
        return list(range(len(names)))


def parted(X: Any, scale: Any) -> Tuple[np.ndarray, Any, Any]:
    """X as an array of shape (rows, ...), its Columns if it is a DataFrame or else None, and the
    scale."""
    columns = None
    if is_frame(X):
        columns = Columns(X, scale)
        X, scale = columns.matrix, columns.scale
    return inputs_of(X), columns, scale


class OnFrames:
    """A function of DataFrames as a function of arrays; see Columns.wrap."""

    def __init__(
        self, function: Callable[[Any], Any], names: Any, ways: list[Any], order: list[int]
    ) -> None:
        self._function, self._names = function, names.take(order)
        self._ways = [(j, ways[j]) for j in order]

    def __call__(self, x: np.ndarray) -> Any:
        return self._function(self.frame(x))

    def frame(self, x: np.ndarray) -> Any:
        """The DataFrame of these rows, x of shape (rows, d)."""
        pandas = needed("pandas", "a DataFrame")
        columns = {j: way(x[:, j]) for j, way in self._ways}
        frame = pandas.DataFrame(columns, copy=False)
        frame.columns = self._names
        return frame


class _Moved:
    """Converts a column with noise to its dtype."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def told(self) -> Any:
        return self.dtype

    def __call__(self, x: np.ndarray) -> Any:
        if isinstance(self.dtype, np.dtype):
            return x.astype(self.dtype)
        return needed("pandas", "a DataFrame").array(x.astype(np.float64), self.dtype)


class _Kept:
    """Converts codes of a column without noise to the values in a table."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def told(self) -> Any:
        kinds = getattr(self.table.dtype, "categories", ())
        return self.table.dtype, list(kinds), self.table.tolist()

    def __call__(self, x: np.ndarray) -> Any:
        return self.table.take(x.astype(np.intp))


def _scales(frame: Any, scale: Any) -> np.ndarray:
    """The scale of each column, float32 of shape (d,)."""
    types, names = needed("pandas.api.types", "a DataFrame"), list(frame.columns)
    if of_class(scale, "pandas", "Series"):
        if not scale.index.is_unique:
            raise ValueError("scale names a column twice: give it one number for each column")
        scale = scale.to_dict()
    if scale is None:
        scale = [float(types.is_float_dtype(dtype)) for dtype in frame.dtypes]
    elif isinstance(scale, dict):
        unknown = [name for name in scale if name not in names]
        if unknown:
            raise ValueError(f"scale names {unknown[0]!r}, which is no column: choose from {names}")
        scale = [scale.get(name, 0) for name in names]
    return np.asarray(scale_of(scale, (len(names),)))


def _numbers(column: Any) -> tuple[np.ndarray, _Moved]:
    """A column with noise as float32, and the way back."""
    types = needed("pandas.api.types", "a DataFrame")
    floats = types.is_float_dtype(column.dtype)
    if not floats and not types.is_integer_dtype(column.dtype):
        raise ValueError(
            f"column {column.name!r} is {column.dtype}, and only numbers can get noise: give it "
            "scale 0"
        )
    with np.errstate(over="ignore"):
        values = column.to_numpy(np.float64, na_value=np.nan).astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(
            f"column {column.name!r} is {column.iloc[bad[0]]} in row {bad[0]}, and only finite "
            "numbers can get noise: fill it, or give the column scale 0"
        )
    return values, _Moved(column.dtype if floats else np.dtype(np.float64))


def _codes(column: Any) -> tuple[np.ndarray, _Kept]:
    """A column without noise as codes of its distinct values, and the way back."""
    _, first, codes = np.unique(_keys(column), return_index=True, return_inverse=True)
    if len(first) > MOST_VALUES:
        raise ValueError(
            f"column {column.name!r} has {len(first)} distinct values, more than {MOST_VALUES}: "
            "certify fewer rows at a time"
        )
    values = column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array
    return codes.reshape(-1), _Kept(values.take(first))


def _keys(column: Any) -> np.ndarray:
    """Integers that differ where the values differ, also where these compare as equal: 1, True and
    1.0, or the two zeros."""
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

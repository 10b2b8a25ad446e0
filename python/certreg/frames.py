"""Tables as inputs: names, values and codes of columns, and the steps of numbers."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from typing import Any, Callable, Iterable, Iterator, Mapping, Protocol, Sequence, TypeAlias
from typing import TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike

from .arguments import DType, Data, Frame, Function, Names, Package, Scale, Series, Shape, needed
from .arguments import of_class
from .arrays import inputs_of, scale_of, unusable
from .display import warn

_OF_PACKAGES: tuple[tuple[str, str, Callable[[Any], Sequence[object]]], ...] = (
    ("xgboost", "Booster", lambda model: model.feature_names),
    ("xgboost", "XGBModel", lambda model: model.get_booster().feature_names),
    ("lightgbm", "Booster", lambda model: model.feature_name()),
    ("lightgbm", "LGBMModel", lambda model: model.booster_.feature_name()),
)
_MADE_UP = (("", 0), ("f", 0), ("Column_", 0), ("x", 1))  # names of models fitted to arrays


def names_of(model: object, beside: Names = None) -> Names:
    """The names of the features of a model, a function as as_model returns it. Names that its
    package made up count only if `beside` has the same names."""
    owner = owner_of(model)
    found: Sequence[object] | None
    for module, name, named in _OF_PACKAGES:
        if of_class(owner, module, name):
            found = named(owner)
            break
    else:
        found = getattr(owner, "feature_names_in_", None)  # as in scikit-learn
        if found is None:
            found = getattr(owner, "feature_names_", None)  # as in CatBoost
        if found is None and not _has_formula(owner):
            found = getattr(getattr(owner, "model", None), "exog_names", None)  # of statsmodels
    if found is None:
        return None
    names = [str(name) for name in found]
    own = [name for name in names if name != "const"]  # a name of statsmodels
    made_up = any(own == [f"{b}{i + first}" for i in range(len(own))] for b, first in _MADE_UP)
    return None if made_up and sorted(names) != sorted(beside or ()) else names


def takes_by_position(model: object) -> bool:
    """Returns True if a model without names ignores the names of a DataFrame. Functions and
    formulas may use them."""
    owner = owner_of(model)
    ours = type(owner).__module__ == "certreg.models"
    return ours or hasattr(owner, "predict") and not _has_formula(owner)


def _has_formula(owner: object) -> bool:
    """Returns True for results of a formula of statsmodels, which finds its columns itself."""
    return getattr(getattr(owner, "model", None), "formula", None) is not None


def owner_of(model: object) -> Any:
    """The object that a method belongs to; for a plain function the function itself."""
    while True:
        inner: object = model.func if isinstance(model, functools.partial) else model
        inner = getattr(inner, "__self__", inner)
        if inner is model:
            return model
        model = inner


def order(names: Sequence[str], expected: Sequence[str], owner: str, other: str) -> list[int]:
    """For each expected name, the index of the feature among `names`. If names differ, a space
    counts as an underscore, since LightGBM replaces it by one, and spaces at the ends are ignored.
    Raises ValueError if `owner`, with `names`, or `other`, with the expected names, lacks a name or
    has a name twice."""
    key = str if set(map(str, names)) == set(map(str, expected)) else _alike
    have, need = _places(names, owner, key), _places(expected, other, key)
    missing = [expected[place] for key, place in need.items() if key not in have]
    extra = [names[place] for key, place in have.items() if key not in need]
    if missing and extra:
        raise ValueError(
            f"{owner} has no feature named {missing[0]!r}, as {other} has, but {extra[0]!r}: "
            "give both the same names"
        )
    if missing:
        raise ValueError(f"{owner} has no feature named {missing[0]!r}, as {other} has: add it")
    if extra:
        raise ValueError(
            f"{owner} has a feature named {extra[0]!r}, which {other} has not: leave it out"
        )
    return [have[key] for key in need]


def _alike(name: object) -> str:
    return str(name).strip().replace(" ", "_")


def _places(names: Sequence[str], owner: str, key: Callable[[object], str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        if places.setdefault(key(name), place) != place:
            raise ValueError(f"{owner} has two features named {name!r}: give them other names")
    return places


def noise_on(names: Sequence[str], moves: Iterable[object]) -> str:
    """A text with the columns that get noise, by `moves`, and with the exact columns."""
    each = list(zip(names, moves))
    noisy, exact = ([n for n, m in each if bool(m) == does] for does in (True, False))
    return f"noise on {listed(noisy)}{'; none on ' + listed(exact) if exact else ''}"


def listed(names: Sequence[object]) -> str:
    return ", ".join(map(str, names[:8])) + (f", ... ({len(names)})" if len(names) > 8 else "")


def by_position(nameless: str, named: str, names: Sequence[str]) -> str:
    """A text with the order in which columns are passed to a model without names."""
    order = f"taken in the order of {named}, {listed(names)}"
    return f"{nameless} has no names for its features: {order}"


FEWEST_LEVELS = 8  # distinct values: fewer may lie on a lattice by chance
OFF = 0.02  # greatest distance of a value from the lattice, in steps
PARTS = 10  # neighbouring values are at most this many steps apart
FLOATS = 64  # least step, in units of the spacing of float32
LOOKED_AT = 1 << 18  # values that choose a step, before all values are compared with it
TABLE = 64  # with at most this many features, each feature has its own step
MANY_FEATURES = 1000  # with more features only a common step is estimated, to save time
LEVELS = 255  # steps from black to white
DARK = 32  # images of fractions with a maximum from 1 to this are not in [0, 255]


def quantization_steps(X: np.ndarray) -> np.ndarray:
    """The step of each feature of X, float32 of shape (rows, *shape); NaN if there is none. Images
    and sound, with many features, have a common step if there is one."""
    shape, count = X.shape[1:], X[0].size
    common = common_step(X) if count > TABLE else math.nan
    if count > MANY_FEATURES or not math.isnan(common):
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
    if len(distinct) < FEWEST_LEVELS:
        return math.nan
    positions, least = distinct - distinct[0], float(np.diff(distinct).min())
    spacing = float(np.spacing(np.float32(np.abs(distinct[[0, -1]]).max())))
    if least < FLOATS * spacing:
        return math.nan
    for part in range(1, PARTS + 1):
        step, end = least / part, 2
        while end < 2 * len(positions):  # the farther from the first value, the more exact
            near = positions[1:end]
            counts = np.rint(near / step)
            step, end = float(near @ counts / (counts @ counts)), 2 * end
        if _lie_on(positions, 0.0, step):
            decimal = float(f"{step:.5g}")  # 0.05 for 0.0500000007, if floats are the same
            return decimal if abs(decimal / step - 1) * positions[-1] < spacing else step
    return math.nan


def step_of(values: np.ndarray) -> float:
    """quantization_step; if it finds none, as for few values, the greatest of 1, 0.1, 0.01 and
    0.001 that divides all values, at least three multiples of it."""
    step = quantization_step(values)
    decimals = (10.0**-places for places in range(4 if math.isnan(step) else 0))
    several = (size for size in decimals if len(np.unique(np.rint(values / size))) > 2)
    return next((size for size in several if _lie_on(values, 0.0, size)), step)


def _lie_on(values: np.ndarray, origin: float, step: float) -> bool:
    parts = np.array_split(values, math.ceil(values.size / LOOKED_AT))
    levels = ((part.astype(np.float64) - origin) / step for part in parts)
    return all((np.abs(x - np.rint(x)) < OFF).all() for x in levels)  # NaN is not less


# ---- images
def channel_axis(shape: Shape) -> int | None:
    """The axis of (rows, *shape) with the 1 or 3 channels of images; None if there is none."""
    return next((axis for axis in (3, 1) if len(shape) == 3 and shape[axis - 1] in (1, 3)), None)


def feature_name(j: int, shape: Shape) -> str:
    """The name of a feature without one, by its place in an input of this shape."""
    if len(shape) == 1:
        return f"feature {j}"
    axes = {2: "row column", 3: "row column channel"}.get(len(shape), "")
    axes = "channel row column" if channel_axis(shape) == 1 else axes
    place = [int(at) for at in np.unravel_index(j, shape)]
    return " ".join(f"{axis} {at}" for axis, at in zip(axes.split(), place)) or f"feature {place}"


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


FEW = 2  # most values of a feature that gets no noise
FEWEST_ROWS = 50  # different rows: in fewer a quantity may have two values by chance
_LOOK = 4096  # rows that mostly show that a feature has more


def few_values_of(X: np.ndarray) -> np.ndarray:
    """True for each feature with at most two values in float32, NaN aside, if X is a table of
    numbers with fewer than 64 features, unlike images, and at least 50 different rows."""
    is_table = X.ndim == 2 and X.shape[1] < TABLE and X.dtype.kind in "buif"
    if not is_table or len(X) < FEWEST_ROWS:
        return np.zeros(X.shape[1:], bool)
    with np.errstate(over="ignore"):
        table = X.astype(np.float32, copy=False)
    few = np.array([_has_few(x[:_LOOK]) and _has_few(x) for x in table.T], bool)
    return few & (few.any() and _varied(table))


def _has_few(values: np.ndarray) -> bool:
    left = values[~np.isnan(values)]
    for _ in range(FEW):
        left = left[left != left[0]] if left.size else left
    return not left.size


def _varied(table: np.ndarray) -> bool:
    """Returns True if enough rows differ."""
    found: set[bytes] = set()
    for row in table:
        found.add(row.tobytes())
        if len(found) >= FEWEST_ROWS:
            return True
    return False


Index: TypeAlias = Any  # of pandas
MOST_VALUES = 1 << 24  # float32 has all integers up to this one


def is_frame(X: object) -> TypeGuard[Frame]:
    """Returns True if X is a pandas DataFrame."""
    return of_class(X, "pandas", "DataFrame")


class Columns:
    """Converts a DataFrame to an array, and rows of the array back to DataFrames.

    frame  a DataFrame of n rows and d columns
    scale  noise of each column in units of sigma, >= 0: one number for all columns; d numbers; or
           a dict or Series by the names of columns, with 0 for columns that are not named.
           None: 1 for columns of numbers, 0 for all other columns
    values  by default, columns of numbers with few values get 0 too: see few_values_of

    A column with scale 0 gets no noise. It may have any dtype and missing values; `matrix` has an
    integer code for each distinct value. Columns with noise must hold finite numbers, or missing
    values, which are NaN in `matrix`. If they hold integers, the model gets them as float64. Raises
    ValueError for other frames and scales.

    Attributes:
    matrix  float32 of shape (n, d)
    scale   float32 of shape (d,)
    names   names of the columns, as texts"""

    def __init__(self, frame: Frame, scale: Scale = None, values: bool = True) -> None:
        self.scale = _scales(frame, scale, values)
        self.matrix = np.empty(frame.shape, np.float32)
        self.layout = FrameLayout(frame.columns, [])
        self.names = [str(name) for name in frame.columns]
        known = enumerate(zip(frame.dtypes, self.scale))
        self.dtypes = {j: t for j, (t, moves) in known if hasattr(t, "categories") and not moves}
        for j, moves in enumerate(self.scale != 0):
            column = frame.iloc[:, j]
            converter: Converter
            self.matrix[:, j], converter = _numbers(column) if moves else _codes(column)
            self.layout.converters.append(converter)

    @classmethod
    def of_names(
        cls, names: Sequence[str], scale: np.ndarray, dtypes: Mapping[int, Any]
    ) -> "Columns":
        """Columns without rows. `dtypes` has the dtypes of columns of categories, by index."""
        made, pandas = cls.__new__(cls), needed("pandas", "a DataFrame")
        made.scale, made.names = np.asarray(scale, np.float32), list(names)
        made.matrix = np.empty((0, len(names)), np.float32)
        made.layout = FrameLayout(pandas.Index(names), [])
        made.dtypes = dict(dtypes)
        return made

    def row(self, x: Data, what: str) -> tuple[np.ndarray, "FrameLayout"]:
        """A DataFrame of one row with these columns, in any order, as an array; and its layout,
        which functions of wrap need: see `become`. A column without noise is 24 bits of a digest of
        its value, which identifies the input in records and certificates."""
        if not is_frame(x) or len(x) != 1:
            raise TypeError(
                f"{what} must be a DataFrame of one row, as X.iloc[[0]] is, because the inputs "
                "were given as one"
            )
        found = self.table(x, what)
        for j in np.flatnonzero(found.scale == 0):
            value = repr(found.layout.converters[j].fingerprint()).encode()
            digest = hashlib.blake2b(value, digest_size=3).digest()
            found.matrix[0, j] = int.from_bytes(digest, "little")
        return found.matrix[0], found.layout

    def table(self, x: Data, what: str) -> "Columns":
        """A DataFrame with these columns, in any order, in the order of these columns."""
        return Columns(self.ordered(x, what), self.scale)

    def ordered(self, x: Data, what: str) -> Frame:
        """The DataFrame with these columns in this order, and with these categories."""
        if not is_frame(x):
            raise TypeError(f"{what} must be a DataFrame, because the inputs were given as one")
        names = [str(name) for name in x.columns]
        if names != self.names:
            x = x.take(order(names, self.names, what, "the DataFrame of the inputs"), axis=1)
        return self._with_categories(x, what)

    def _with_categories(self, x: Frame, what: str) -> Frame:
        """A DataFrame with the categories of the first one in the same order, since a model may
        read their codes. Raises ValueError for a value that was no category there."""
        x = x.copy(deep=False) if self.dtypes else x
        for j, dtype in self.dtypes.items():
            column = x.iloc[:, j]
            if column.dtype == dtype and _categories(column.dtype) == _categories(dtype):
                continue
            unknown = column[column.notna() & ~column.isin(dtype.categories)]
            if len(unknown):
                raise ValueError(
                    f"{what} has {unknown.iloc[0]!r} in column {self.names[j]!r}, which is no "
                    "category of the DataFrame of the inputs"
                )
            x.isetitem(j, column.astype(object).astype(dtype))  # or equal dtypes stay as they are
        return x

    def value(self, j: int, code: float) -> object:
        """The value of a column without noise that a code stands for."""
        return self._exact(j).table[int(code)]

    def code(self, j: int, value: object, add: bool) -> float | None:
        """The code of a value of a column without noise. A value that the column has in no row is
        added if its dtype has it as a category, or if `add`; else None."""
        column = self._exact(j)
        dtype, pandas = column.table.dtype, needed("pandas", "a DataFrame")
        cannot = f"column {self.names[j]!r} cannot hold {value!r} ({dtype})"
        if dtype.kind == "f" and isinstance(value, (int, float)):  # rounds
            given, value = value, pandas.Series([value], dtype=dtype)[0]
            if _is_changed(given, value):
                raise ValueError(cannot)
        for code, known in enumerate(column.table):
            if _same_value(known, value, pandas):
                return float(code)
        if not add and value not in getattr(dtype, "categories", ()):
            return None
        try:
            more = pandas.Series([value], dtype=dtype)
            held = _same_value(more[0], value, pandas)
        except (TypeError, ValueError):
            held = False
        if not held:  # as for an unknown category
            raise ValueError(cannot)
        both = pandas.concat([pandas.Series(column.table), more], ignore_index=True)
        column.table = both.to_numpy() if isinstance(dtype, np.dtype) else both.array
        return float(len(column.table) - 1)

    def all_codes(self, j: int) -> list[float]:
        """The codes of all categories of the dtype of a column without noise, or else of all its
        values."""
        if not self.has_categories(j):
            return [float(code) for code in range(len(self._exact(j).table))]
        values: Any = self._exact(j).table.dtype.categories
        return [cast(float, self.code(j, value, add=True)) for value in list(values)]

    def has_categories(self, j: int) -> bool:
        """True if the dtype of a column names its values."""
        return hasattr(self._exact(j).table.dtype, "categories")

    def _exact(self, j: int) -> "_ExactColumn":
        return cast(_ExactColumn, self.layout.converters[j])

    def series(self, values: np.ndarray) -> Series:
        """A number for each column, by their names."""
        return needed("pandas", "a DataFrame").Series(values, self.layout.labels)

    def fingerprint(self, matrix: np.ndarray) -> str:
        """A text of the facts that the first rows of `matrix` lack: the names of the columns, and
        the values of columns without noise up to the last code."""
        exact = self.scale == 0
        codes = [int(matrix[:, j].max()) + 1 if exact[j] else 0 for j in range(len(exact))]
        values = [of.fingerprint(count) for of, count in zip(self.layout.converters, codes)]
        return repr((list(self.layout.labels), values))

    def wrap(self, function: Function) -> "FrameFunction":
        """Turns a function of DataFrames, as as_model returns it, into a function of float32 arrays
        of shape (rows, d). The DataFrames have the columns and dtypes of the original, in the order
        of the model's names. Raises ValueError if the model names other columns. Warns if the model
        takes columns by position. The result can be pickled if `function` can."""
        if names_of(function, self.names) is None and takes_by_position(function):
            warn(by_position("the model", "X", self.names))
        return self.wrapped(function)

    def wrapped(self, function: Function) -> "FrameFunction":
        """wrap without a warning."""
        names, wanted = self.names, names_of(function, self.names)
        if wanted is None:
            return FrameFunction(function, self.layout, list(range(len(names))))
        return FrameFunction(function, self.layout, order(names, wanted, "X", "the model"))


def _same_value(known: Any, value: Any, pandas: Package) -> bool:
    """Returns True if a column holds a value as it was given. 1 is 1.0, and no bool or text; 0.0 is
    not -0.0."""
    if known is value or pandas.isna(known) and pandas.isna(value):
        return True
    if pandas.isna(known) or pandas.isna(value):
        return False
    alike = isinstance(known, str) == isinstance(value, str)
    for kinds in ((bool, np.bool_), (int, float, np.integer, np.floating)):
        if isinstance(known, kinds) or isinstance(value, kinds):
            alike = isinstance(known, kinds) and isinstance(value, kinds)
            break
    if not alike or not known == value:
        return False
    floats = isinstance(known, (float, np.floating))  # with two zeros
    return not floats or bool(np.signbit(known) == np.signbit(value))


def split_frame(
    X: Data, scale: Scale, values: bool = True
) -> tuple[np.ndarray, Columns | None, ArrayLike | None]:
    """X as an array of shape (rows, ...), its Columns if it is a DataFrame or else None, and the
    scale as numbers; None if all features of an array get noise by default. `values`: features with
    few values get none."""
    scale = scale_from(X, scale)
    if not is_frame(X):
        given = inputs_of(X)
        if scale is None and values:
            few = few_values_of(given)
            scale = np.where(few, 0.0, 1.0) if few.any() else None
        if scale is not None:
            check_exact(given, cast(ArrayLike, scale))
        return given, None, cast(ArrayLike | None, scale)
    columns = Columns(X, scale, values)
    return inputs_of(columns.matrix), columns, columns.scale


def check_exact(values: np.ndarray, scale: ArrayLike, what: str = "X") -> None:
    """Raises ValueError if float32 changes an integer of these inputs in a feature without noise,
    since the model has to get it unchanged. Floats may be integers too."""
    still, count = np.ravel(np.asarray(scale) == 0), values[0].size
    if len(still) != count or values.dtype.kind not in "iufO":
        return
    some = values.reshape(len(values), count)[:, still]
    try:
        with np.errstate(over="ignore"):
            got = some.astype(np.float32)
    except (TypeError, ValueError, OverflowError):  # no numbers, which others refuse
        return
    large = np.isfinite(got) & (np.abs(got) >= MOST_VALUES)
    for value, one in zip(some[large].tolist(), got[large].tolist()):
        if _is_changed(value, one):
            raise ValueError(
                f"{what} has {int(value)} in a feature without noise, and float32 would make it "
                f"{int(one)}: give a DataFrame, which keeps it, or smaller codes"
            )


def _is_changed(value: Any, rounded: Any) -> bool:
    """Returns True for an integer, which may be a float, that rounding made another number."""
    whole = isinstance(value, (int, np.integer)) or float(value).is_integer()
    # numpy would compare them as floats
    return whole and not (np.isfinite(rounded) and int(value) == int(rounded))


def index_of(X: Data) -> Index:
    """The index of a DataFrame; None for an array."""
    return X.index if is_frame(X) else None


def in_order(values: Data, index: Index, what: str) -> Data:
    """The values for the rows of a DataFrame with this index, by position. Raises ValueError for a
    Series or DataFrame with another index, or the same one in another order: after a shuffle the
    positions may be right or the labels of the index, and nothing tells which."""
    data: Series = values
    named = is_frame(values) or of_class(values, "pandas", "Series")
    if index is None or not named or data.index.equals(index):
        return values
    raise ValueError(
        f"{what} has another index than X, or the same one in another order: give "
        f"{what}.to_numpy() if it is in the order of the rows, or {what}.loc[X.index] to match the "
        "index"
    )


def rows_of(X: Data) -> Iterator[Data]:
    """The inputs one by one: arrays, or DataFrames of one row."""
    return (X.iloc[[i]] for i in range(len(X))) if is_frame(X) else iter(inputs_of(X))


# ---- scales from data
SPREADS = {
    "std": lambda values: values.std(0, dtype=np.float64),
    "iqr": lambda values: np.subtract(*np.quantile(values, (0.75, 0.25), axis=0)),
}


def spread_of(values: np.ndarray, kind: str) -> np.ndarray:
    """The spread of each feature, without missing cells; NaN for a feature without values."""
    missing = np.isnan(values)
    if not missing.any():
        return np.asarray(SPREADS[kind](values))
    known = [column[~lacks] for column, lacks in zip(values.T, missing.T)]
    return np.array([SPREADS[kind](column) if column.size else np.nan for column in known])


def feature_scale(X: Data, kind: str = "std") -> Any:
    """Compute the spread of each feature, for the argument `scale`.

    sigma is then in units of the spread, and units like euros or years do not matter. The scale is
    a constant of the deployment: compute it once, from inputs that nobody else can choose, and
    certify and serve all inputs with it.

    Parameters
    ----------
    X : array_like or DataFrame
        Inputs of shape (rows, features) or ``(rows, *shape)``; cells may be missing.
    kind : {"std", "iqr"}
        The standard deviation, or the range of the middle half of the values.

    Returns
    -------
    ndarray or Series
        float64 of the shape of an input; for a DataFrame a Series by the names of the columns. It
        is 0 for columns without numbers, and for features with at most two values in a table of
        fewer than 64 features and at least 50 different rows.

    Raises
    ------
    ValueError
        If a feature does not vary.

    Examples
    --------
    >>> certreg.feature_scale([[1, 100], [3, 500]]).tolist()
    [1.0, 200.0]"""
    if kind not in SPREADS:
        raise ValueError(f"scale is {kind!r}; it must be 'std', 'iqr' or numbers")
    columns = Columns(X) if is_frame(X) else None
    values = inputs_of(X) if columns is None else columns.matrix.astype(np.float64)
    if not np.issubdtype(values.dtype, np.number) or unusable(values).any():
        raise ValueError("X must hold finite numbers for a scale from their spread")
    moves = ~few_values_of(values) if columns is None else columns.scale > 0
    spread: np.ndarray = np.where(moves, spread_of(values, kind), 0)
    flat = np.flatnonzero(moves & ~(spread > 0) | ~np.isfinite(spread))
    if flat.size:
        name = f"feature {flat[0]}" if columns is None else f"column {columns.names[flat[0]]!r}"
        raise ValueError(
            f"{name} has the {kind} {spread.flat[flat[0]]:g} in {len(values)} rows, which is no "
            "scale: give the scale as numbers, or compute it from rows in which the feature varies"
        )
    return spread if columns is None else columns.series(spread)


def weighted_scale(X: Data, kind: str, weights: np.ndarray | None) -> Any:
    """feature_scale of rows with weights. Raises ValueError for another kind than "std"."""
    if weights is None:
        return feature_scale(X, kind)
    if kind != "std":
        raise ValueError(f"scale is {kind!r}; with sample_weight it must be 'std' or numbers")
    used = np.flatnonzero(weights)
    values = feature_scale(X.iloc[used] if is_frame(X) else np.asarray(X)[used], kind)
    matrix = Columns(X).matrix.astype(np.float64) if is_frame(X) else np.asarray(X, np.float64)
    known = np.ma.masked_invalid(matrix)
    mean = np.ma.average(known, 0, weights)
    spread = np.ma.sqrt(np.ma.average((known - mean) ** 2, 0, weights)).filled(0)
    return values * 0 + np.where(np.asarray(values) > 0, spread, 0)


def scale_from(X: Data, scale: Scale) -> Scale:
    """The scale; the feature_scale of X for "std" and "iqr"."""
    return feature_scale(X, scale) if isinstance(scale, str) else scale


class Converter(Protocol):
    """Converts a column of an array to a column of a DataFrame."""

    def fingerprint(self, codes: int | None = None) -> object:
        """The facts on which the result depends beside the numbers, for the first codes."""

    def __call__(self, x: np.ndarray) -> Series:
        """The column for these numbers."""


class FrameLayout:
    """The labels of the columns of a DataFrame, and the converter of each."""

    def __init__(self, labels: Index, converters: list[Converter]) -> None:
        self.labels, self.converters = labels, converters

    def become(self, other: "FrameLayout") -> None:
        """Copies the layout of another DataFrame."""
        self.labels, self.converters = other.labels, other.converters


class FrameFunction:
    """A function of DataFrames as a function of arrays; see Columns.wrap."""

    def __init__(self, function: Function, layout: FrameLayout, order: list[int]) -> None:
        self.function, self._layout, self.order = function, layout, order

    def __call__(self, x: np.ndarray) -> Any:
        return self.function(self.frame(x))

    def frame(self, x: np.ndarray) -> Frame:
        """The DataFrame of these rows, x of shape (rows, d)."""
        pandas = needed("pandas", "a DataFrame")
        columns = {j: self._layout.converters[j](x[:, j]) for j in self.order}
        frame = pandas.DataFrame(columns, copy=False)
        frame.columns = self._layout.labels.take(self.order)
        return frame


class _NoisyColumn:
    """Converts a column with noise to its dtype."""

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def fingerprint(self, codes: int | None = None) -> object:
        return self.dtype

    def __call__(self, x: np.ndarray) -> Series:
        if isinstance(self.dtype, np.dtype):
            return x.astype(self.dtype)
        return needed("pandas", "a DataFrame").array(x.astype(np.float64), self.dtype)


class _ExactColumn:
    """Converts codes of a column without noise to the values in a table. If the table has only one
    value, every code stands for it."""

    def __init__(self, table: Series) -> None:
        self.table = table

    def fingerprint(self, codes: int | None = None) -> object:
        kinds = getattr(self.table.dtype, "categories", ())
        return self.table.dtype, list(kinds), self.table[:codes].tolist()

    def __call__(self, x: np.ndarray) -> Series:
        hidden = np.isnan(x)  # by a mask
        codes = np.where(hidden, 0, x).astype(np.intp) * (len(self.table) > 1)
        if not hidden.any():
            return self.table.take(codes)
        take = needed("pandas.api.extensions", "a DataFrame").take
        table = self.table.astype(float) if self.table.dtype == bool else self.table
        return take(table, np.where(hidden, -1, codes), allow_fill=True)


def by_names(names: Sequence[object], values: Scale, what: str) -> Scale:
    """For a dict or Series a number for each name, 0 if it is missing; other values unchanged."""
    found: Series = values
    if of_class(found, "pandas", "Series"):
        if not found.index.is_unique:
            raise ValueError(f"{what} names a column twice: give it one number for each column")
        found = found.to_dict()
    if not isinstance(found, Mapping):
        return values
    unknown = [name for name in found if name not in names]
    if unknown:
        raise ValueError(f"{what} names {unknown[0]!r}, which is no column: choose from {names}")
    return [found.get(name, 0) for name in names]


def number_columns(frame: Frame) -> np.ndarray:
    """True for each column that holds integers or floats, (d,)."""
    types = needed("pandas.api.types", "a DataFrame")
    is_number = (types.is_float_dtype, types.is_integer_dtype)
    return np.array([any(is_one(dtype) for is_one in is_number) for dtype in frame.dtypes], bool)


def _scales(frame: Frame, scale: Scale, values: bool) -> np.ndarray:
    """The scale of each column, float32 of shape (d,)."""
    names = list(frame.columns)
    if scale is None:
        moves = number_columns(frame)
        at = np.flatnonzero(moves)
        if values and 0 < len(at) < TABLE:
            moves[at] = ~few_values_of(np.stack([_floats(frame.iloc[:, j]) for j in at], axis=1))
        scale = moves.astype(np.float32)
    return scale_of(by_names(names, scale, "scale"), (len(names),))


def _floats(column: Series) -> np.ndarray:
    """A column of numbers as float32, with NaN for missing values."""
    with np.errstate(over="ignore"):
        values: np.ndarray = column.to_numpy(np.float64, na_value=np.nan).astype(np.float32)
    return values


def _numbers(column: Series) -> tuple[np.ndarray, _NoisyColumn]:
    """A column with noise as float32, and the way back."""
    types = needed("pandas.api.types", "a DataFrame")
    floats = types.is_float_dtype(column.dtype)
    if not floats and not types.is_integer_dtype(column.dtype):
        raise ValueError(
            f"column {column.name!r} is {column.dtype}, and only numbers can get noise: give it "
            "scale 0"
        )
    values = _floats(column)
    bad = np.flatnonzero(np.isinf(values))
    if bad.size:
        raise ValueError(
            f"column {column.name!r} is {column.iloc[bad[0]]} in row {bad[0]}, and only finite "
            "numbers can get noise: repair it, or give the column scale 0"
        )
    return values, _NoisyColumn(column.dtype if floats else np.dtype(np.float64))


def _codes(column: Series) -> tuple[np.ndarray, _ExactColumn]:
    """A column without noise as codes of its distinct values, and the way back."""
    _, first, codes = np.unique(_keys(column), return_index=True, return_inverse=True)
    if len(first) > MOST_VALUES:
        raise ValueError(
            f"column {column.name!r} has {len(first)} distinct values, more than {MOST_VALUES}: "
            "certify fewer rows at a time"
        )
    values = column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array
    return codes.reshape(-1), _ExactColumn(values.take(first))


def _keys(column: Series) -> np.ndarray:
    """An integer for each value, which differs also between values that compare as equal: 1, True
    and 1.0, or the two zeros."""
    if column.dtype == object:
        return _keys_of_objects(column)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "f":
        column = column.to_numpy().view(f"i{column.dtype.itemsize}")
    try:
        return np.asarray(needed("pandas", "a DataFrame").factorize(column)[0])
    except (NotImplementedError, TypeError):  # lists of Arrow
        return np.arange(len(column))


def _keys_of_objects(column: Series) -> np.ndarray:
    numbers: dict[object, int] = {}
    try:
        return np.array(
            [numbers.setdefault((type(v), v, repr(v)), len(numbers)) for v in column], np.intp
        )
    except TypeError:  # lists, for instance, cannot be keys
        return np.arange(len(column))


# ---- rows in a file
def text_of_rows(frame: Frame) -> str:
    """A few rows as JSON; empty if they would not be read as they were, such as dates."""
    facts = [
        [name, str(column.dtype), column.astype(object).tolist(), _categories(column.dtype)]
        for name, column in frame.items()
    ]
    try:
        text = json.dumps(facts)
        same = rows_of_text(text).equals(frame.reset_index(drop=True))
    except Exception:  # pandas raises various classes
        return ""
    return text if same else ""


def rows_of_text(text: str) -> Frame:
    """The rows of `text_of_rows`."""
    pandas = needed("pandas", "the rows of a DataFrame")
    facts = json.loads(text)
    columns = [
        pandas.Series(values, dtype=pandas.CategoricalDtype(*known) if known else dtype)
        for _, dtype, values, known in facts
    ]
    return pandas.concat(columns, axis=1).set_axis([name for name, *_ in facts], axis=1)


def text_of_categories(columns: Columns) -> str:
    """The dtypes of columns of categories as JSON. Raises ValueError for categories that JSON does
    not keep, such as dates."""
    facts = {str(j): _categories(dtype) for j, dtype in columns.dtypes.items()}
    try:
        text = json.dumps(facts)
    except TypeError:
        text = ""
    if not text or json.loads(text) != facts:
        names = [columns.names[int(j)] for j in facts]
        raise ValueError(
            f"the categories of the columns {names} cannot be kept in a file: make them texts, "
            "integers or floats, and calibrate again"
        )
    return text


def categories_of_text(text: str) -> dict[int, Any]:
    """The dtypes of `text_of_categories`."""
    facts = json.loads(text).items()
    return {int(j): needed("pandas", "a DataFrame").CategoricalDtype(*each) for j, each in facts}


def _categories(dtype: Any) -> list[object] | None:
    """The categories of a dtype, and whether they are ordered; None for other dtypes."""
    return [list(dtype.categories), dtype.ordered] if hasattr(dtype, "categories") else None


# ---- missing cells
# It can carry any noise, and distinguishes inputs in records and certificates: no quantity has this
# value by chance.
PLACEHOLDER = np.uint32(0x00C0FFEE).view(np.float32)


def put_placeholders(*inputs: np.ndarray) -> None:
    """Fills the missing cells of inputs. Raises ValueError if they are not the same in all."""
    lacks = [np.isnan(each) for each in inputs]
    for each, missing in zip(inputs, lacks):
        if (missing != lacks[0]).any():
            raise ValueError("the inputs lack different cells: no radius covers their difference")
        each[missing] = PLACEHOLDER

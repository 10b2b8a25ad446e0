"""Describes the inputs of a model: names, kinds, noise, marks and missing cells of its features."""

from __future__ import annotations

import contextlib
import copy
import json
import math
import os
import re
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Data, Model, Names, Path, Scale, Shape, abbreviated, integer, of_class
from .arguments import path_of
from .arrays import array_of, check_finite, inputs_of, numbers, scale_of, unnamed
from .constants import VERSION_NUMBER, Status, version_text
from .denoise import Denoised, check_use, check_whole
from .display import HtmlTable, Table, aligned, warn
from .files import replace, warn_of_name
from .frames import FEWEST_ROWS, PLACEHOLDER, TABLE, Columns, FrameFunction, by_names, by_position
from .frames import categories_of_text, is_frame, listed, names_of, number_columns, owner_of
from .frames import quantization_step, quantization_steps, split_frame, spread_of
from .frames import text_of_categories
from .library import CertregError, with_column_names
from .models import as_model, is_factory

Facts = Mapping[int, Any]  # about some features, by index
MOST_ROWS = 4096  # that are examined
FEWEST_ONES = 5  # rows: with fewer, a quantity may be 0 and 1 by chance
SHARE = 0.05  # least share of rows with a value that marks something
MOST_APART = 100  # the deviations of two features
MOST_DEVIATIONS = 3.0  # of features, as noise on most of them, until a text says so
BEYOND = 10  # ranges of a model's thresholds: a whole number so far outside may be a mark
SOME_TREES, FEWEST_THRESHOLDS = 50, 8  # that show what a model expects of a feature
_VERSION = 1  # of files


# ---- missing cells
class MissingCells:
    """The cells of an input that are missing: NaN, or marked by a number.

    z      the input, float32 of shape (features,)
    codes  for each feature 0, 1 if its cell is NaN, or 2 + the number of the mark
    noisy  True for each feature that gets noise
    some   True if a cell of such a feature is missing"""

    def __init__(self, z: np.ndarray, codes: np.ndarray, noisy: np.ndarray) -> None:
        self.at = np.flatnonzero(codes)
        self.values = z[self.at]
        sign = self.values.view(np.uint32) & np.where(codes[self.at] > 1, 1 << 31, 0)
        places = PLACEHOLDER.view(np.uint32) + codes[self.at] - 1
        self._places = (places | sign).astype(np.uint32).view(np.float32)
        self.some = bool(noisy[self.at].any())
        self._nothing_left = self.some and not (noisy & (codes == 0)).any()

    def check(self) -> None:
        """Raises CertregError if no change of the input can be certified."""
        if self._nothing_left:
            text = "all cells that get noise are missing: no change of the input is left to certify"
            raise CertregError(Status.INVALID, text=text)

    def filled(self, z: np.ndarray) -> np.ndarray:
        """The input for the library. Placeholders differ between marks, since records and
        certificates know an input by its bits."""
        if self.at.size:
            z = z.copy()
            z[self.at] = self._places
        return z

    def restore(self, x: np.ndarray) -> None:
        """Puts the missing cells back into noisy inputs, (rows, features). A cell that a mask hides
        is NaN, and stays so: hidden cells must not tell what is missing."""
        if self.at.size:
            x[:, self.at] = np.where(np.isnan(x[:, self.at]), np.nan, self.values)


WHOLE = MissingCells(np.empty(0, np.float32), np.empty(0, np.int64), np.empty(0, bool))  # no cell


# ---- facts that a model knows about its features
def of_lightgbm(booster: Any) -> dict[int, str]:
    """The file of LightGBM has lists of categories, and ranges of numbers in brackets."""
    text = booster.model_to_string(num_iteration=1)
    line = next((line for line in text.splitlines() if line.startswith("feature_infos=")), "=")
    infos = line.partition("=")[2].split()
    return {j: "categories" for j, info in enumerate(infos) if info[:1] not in ("[", "n")}


def _of_xgboost(booster: Any) -> dict[int, str]:
    kinds = {"c": "categories", "i": "an indicator"}
    return {j: kinds[kind] for j, kind in enumerate(booster.feature_types or ()) if kind in kinds}


_OF_PACKAGES: tuple[tuple[str, str, Callable[[Any], dict[int, str]]], ...] = (
    ("lightgbm", "Booster", of_lightgbm),
    ("lightgbm", "LGBMModel", lambda model: of_lightgbm(model.booster_)),
    ("xgboost", "Booster", _of_xgboost),
    ("xgboost", "XGBModel", lambda model: _of_xgboost(model.get_booster())),
    ("certreg.models", "SessionModel", lambda model: model.exact),
)
_ENCODERS = ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder")  # of categories
_Classes = Sequence[tuple[str, Sequence[str]]]  # by their modules
_IMPUTERS: _Classes = (
    ("sklearn.impute", ("SimpleImputer", "KNNImputer")),
    ("sklearn.impute._iterative", ("IterativeImputer",)),
)
_IN_PLACE: _Classes = (  # steps that pass on feature j as feature j
    *_IMPUTERS,
    (
        "sklearn.preprocessing",
        ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer",
         "PowerTransformer"),
    ),
)  # fmt: skip
_INSIDE = ("best_estimator_", "regressor_")  # inner models with the same features


def _inner(owner: object) -> Any:
    """The model within searches and regressors of transformed targets; other models unchanged."""
    for name in _INSIDE:
        if hasattr(owner, name):
            return _inner(owner_of(getattr(owner, name)))
    return owner


def _kinds(owner: Any) -> Facts:
    """The kind of each feature that is no quantity, by its index."""
    owner = _inner(owner)
    for module, name, kinds in _OF_PACKAGES:
        if of_class(owner, module, name):
            return kinds(owner)
    if of_class(owner, "sklearn.pipeline", "Pipeline"):
        return _of_pipeline([step for _, step in owner.steps], _kinds)
    if of_class(owner, "sklearn.compose", "ColumnTransformer"):
        return _encoded(owner)
    if any(of_class(owner, "sklearn.preprocessing", name) for name in _ENCODERS):
        return {j: "categories" for j in range(owner.n_features_in_)}
    found = getattr(owner, "is_categorical_", None)  # of HistGradientBoostingRegressor
    if found is not None:
        return {int(j): "categories" for j in np.flatnonzero(found)}
    return _of_ensemble(owner, _kinds)


def _of_pipeline(steps: Sequence[Any], facts: Callable[[Any], Facts]) -> Facts:
    """The facts for the first step, and facts for the next steps about the features that it passes
    on. Scalers change the numbers, so marks do not pass them."""
    if not steps:
        return {}
    passing = _IN_PLACE if facts is _kinds else _IMPUTERS
    after = _through(steps[0], _of_pipeline(steps[1:], facts), passing)
    return _merged(facts, [after, facts(steps[0])])


def _through(step: Any, kinds: Facts, passing: _Classes) -> Facts:
    """The facts about the features of a fitted step, from facts about the features that it returns,
    as far as it passes them on."""
    if not kinds or step in (None, "passthrough") or getattr(step, "func", step) is None:
        return kinds  # the last one is a FunctionTransformer
    if of_class(step, "sklearn.pipeline", "Pipeline"):
        for _, inner in reversed(step.steps):
            kinds = _through(inner, kinds, passing)
        return kinds
    if of_class(step, "sklearn.compose", "ColumnTransformer"):
        return dict(_through_columns(step, kinds, passing))
    selects = hasattr(step, "get_support")
    kept = any(of_class(step, module, name) for module, names in passing for name in names)
    if not kept and not selects:
        return {}
    try:
        given = list(getattr(step, "feature_names_in_", ()))
        given = given or [f"x{j}" for j in range(step.n_features_in_)]
        names = list(step.get_feature_names_out())
    except (AttributeError, ValueError):  # not fitted, or an older scikit-learn
        return {}
    known = {j: kind for j, kind in kinds.items() if j < len(names) and names[j] in given}
    return {given.index(names[j]): kind for j, kind in known.items()}


def _through_columns(
    transformer: Any, kinds: Facts, passing: _Classes
) -> Iterator[tuple[int, Any]]:
    """_through for a ColumnTransformer."""
    for name, step, which in getattr(transformer, "transformers_", ()):
        place, columns = transformer.output_indices_[name], _columns_of(transformer, which)
        own = {j - place.start: k for j, k in kinds.items() if place.start <= j < place.stop}
        yield from ((columns[j], kind) for j, kind in _through(step, own, passing).items())


def _of_ensemble(owner: Any, facts: Callable[[Any], Facts]) -> Facts:
    """The facts about the features of the members of an ensemble of scikit-learn."""
    parts: list[Facts] = []
    members: Any = getattr(owner, "estimators_", ())
    count = getattr(owner, "n_features_in_", math.inf)  # a member of a chain gets more
    places: Any = getattr(owner, "estimators_features_", None)  # of each member
    # An array would be made of the members of members, which are sequences.
    for i, member in enumerate(np.ravel(members) if isinstance(members, np.ndarray) else members):
        own = {j: fact for j, fact in facts(member).items() if j < count}
        parts.append(own if places is None else {int(places[i][j]): own[j] for j in own})
    return _merged(facts, parts)


def _columns_of(transformer: Any, which: Any) -> list[int]:
    """The indices of the columns that a ColumnTransformer names."""
    names = list(getattr(transformer, "feature_names_in_", []))
    some: Any = [which] if isinstance(which, (str, int)) else which
    if isinstance(some, slice):  # the last name is included
        first, last = some.start, some.stop
        some = slice(
            names.index(first) if isinstance(first, str) else first,
            names.index(last) + 1 if isinstance(last, str) else last,
            some.step,
        )
    elif any(isinstance(name, str) for name in some):
        some = [names.index(name) for name in some]
    places: list[int] = np.arange(transformer.n_features_in_)[some].tolist()
    return places


def _encoded(transformer: Any) -> dict[int, str]:
    """The features that a fitted ColumnTransformer passes to an encoder of categories."""
    kinds: dict[int, str] = {}
    for _, step, which in getattr(transformer, "transformers_", ()):
        steps = [s for _, s in step.steps] if hasattr(step, "steps") else [step]
        if any(of_class(s, "sklearn.preprocessing", name) for s in steps for name in _ENCODERS):
            kinds.update((j, "categories") for j in _columns_of(transformer, which))
    return kinds


def _merged(facts: Callable[[Any], Facts], parts: Sequence[Facts]) -> Facts:
    """The facts of all parts: all their marks, or for each feature its last kind."""
    if facts is _marks:
        return _united(*parts)
    return {j: fact for part in parts for j, fact in part.items()}


def _united(*several: Facts) -> Facts:
    """The marks of several descriptions."""
    found: dict[int, tuple[float, ...]] = {}
    for marks in several:
        for j, each in marks.items():
            found[j] = tuple(sorted({*found.get(j, ()), *each}))
    return found


def _own_marks(owner: Any) -> tuple[float, ...]:
    """The numbers that mark missing cells for a model or a step of a pipeline."""
    kind = type(owner).__module__.partition(".")[0]
    mark: Any = math.nan
    if type(owner).__module__.startswith("sklearn.impute"):
        mark = getattr(owner, "missing_values", math.nan)
    elif kind == "xgboost":
        mark = getattr(owner, "missing", math.nan)
    elif kind == "lightgbm":
        booster = getattr(owner, "booster_", owner)
        text = getattr(booster, "model_to_string", lambda **_: "")(num_iteration=1)
        mark = 0.0 if "[zero_as_missing: 1]" in text else math.nan
    return (float(mark),) if _is_mark(mark) else ()


def _is_mark(mark: object) -> bool:
    is_number = isinstance(mark, (int, float, np.number)) and not isinstance(mark, bool)
    return is_number and not math.isnan(cast(float, mark))


def _marks(owner: Any) -> Facts:
    """The numbers that mark missing cells of each feature, by imputers and by trees."""
    owner = _inner(owner)
    if of_class(owner, "sklearn.pipeline", "Pipeline"):
        return _of_pipeline([step for _, step in owner.steps], _marks)
    if of_class(owner, "sklearn.pipeline", "FeatureUnion"):
        return _united(*(_marks(step) for _, step in owner.transformer_list))
    if of_class(owner, "sklearn.compose", "ColumnTransformer"):
        parts = []
        for _, step, which in getattr(owner, "transformers_", ()):
            columns = _columns_of(owner, which)
            parts.append({columns[j]: each for j, each in _marks(step).items()})
        return _united(*parts)
    own = _own_marks(owner)
    if own:
        count = getattr(owner, "n_features_in_", None) or owner.num_feature()
        return dict.fromkeys(range(count), own)
    return _of_ensemble(owner, _marks)


def _is_of_sklearn(owner: Any) -> bool:
    return type(owner).__module__.startswith("sklearn.")


def _all_marks(owner: Any, depth: int = 8) -> set[float]:
    """The marks of all parts of a model, also of parts with other features than X."""
    found = set(_own_marks(owner))
    if not depth or not _is_of_sklearn(owner):
        return found
    parts: list[Any] = list(vars(owner).values())
    while parts:
        part = parts.pop()
        if isinstance(part, (list, tuple)) and len(part) < 1000:
            parts += part
        elif hasattr(part, "get_params") and not isinstance(part, type):
            found |= _all_marks(part, depth - 1)
    return found


def _thresholds(owner: Any) -> dict[int, list[float]]:
    """Numbers with which trees of XGBoost compare each feature. A file of XGBoost does not keep
    what marks a missing cell."""
    if of_class(owner, "xgboost", "XGBModel"):
        owner = owner.get_booster()
    found: dict[int, list[float]] = {}
    if not of_class(owner, "xgboost", "Booster"):
        return found
    names = owner.feature_names or [f"f{j}" for j in range(owner.num_features())]
    places = {name: j for j, name in enumerate(names)}
    with contextlib.suppress(ValueError):  # a linear one has no trees
        owner = owner[: min(SOME_TREES, owner.num_boosted_rounds())]
    for tree in owner.get_dump():
        for name, value in re.findall(r"\[(.+)<([-+.e\d]+)\]", tree):
            found.setdefault(places.get(name, -1), []).append(float(value))
    return found


# ---- the description
class Inputs(HtmlTable):
    """Describes the inputs of a model, so that noise does not depend on the rows of a call.

    Experimental. Without a description the rows of a call decide which features get noise, and rows
    of another call may decide otherwise. A description also knows more than rows do: the order of
    columns, their categories, and the numbers that mark missing cells. A marked cell stays as it
    is, like a cell that is NaN, and gets no noise. Make it by `of` or `load`. It can be pickled.

    Attributes
    ----------
    shape : tuple of int
        Shape of an input.
    names : tuple of str or None
        Names of the columns, in order; None if inputs are arrays.
    scale : ndarray
        Noise of each feature in units of sigma, float32 of this shape.
    kinds : dict
        A text for each feature without noise by default, by index: why it gets none.
    marks : dict
        The numbers that mark missing cells, a tuple for each feature that has some, by index.
    steps : ndarray
        The step between neighbouring values of each feature, 1 for integers; NaN: none is known.
        Only `of` looks for steps.
    missing : ndarray
        True for each feature that lacked cells in the rows.
    rows : int
        Number of rows of `of`, or of the call that made it.
    guessed : bool
        True if the rows of a call decided which features get noise.

    Examples
    --------
    >>> X = np.c_[np.arange(100) / 7, np.arange(100) % 2]
    >>> inputs = certreg.Inputs.of(None, X)
    >>> inputs.scale.tolist(), inputs.kinds
    ([1.0, 0.0], {1: 'at most two values'})
    >>> model = lambda x: x[:, 0] + 9 * x[:, 1]
    >>> rows = certreg.certify_rows(model, [[0.5, 1]], 0.25, 0.5, inputs=inputs, seed=1)
    >>> rows.scale.tolist()
    [1.0, 0.0]"""

    def __init__(
        self, shape: Shape, scale: ArrayLike | None = None, _columns: Columns | None = None
    ) -> None:
        if not isinstance(shape, tuple):
            raise TypeError("Inputs takes a shape: Inputs.of(model, X) describes inputs")
        self.shape = shape
        self._columns = _columns  # without rows
        self.names = None if _columns is None else tuple(_columns.names)
        self._set_scale(scale)
        self.kinds: dict[int, str] = {}
        self.by_model: Facts = {}
        self.marks: dict[int, tuple[float, ...]] = {}
        self.untraced: tuple[float, ...] = ()  # marks of parts of the model, of unknown features
        self.by_trees: Facts | None = None  # the marks that XGBoost knows
        self.steps, self.missing = np.full(shape, np.nan), np.zeros(shape, bool)
        self.rows, self.guessed = 0, False

    @classmethod
    def of(cls, model: Model, X: Data, scale: Scale = None) -> "Inputs":
        """Return a description of inputs by a table, such as the rows of the training.

        Parameters
        ----------
        model : object
            The model, which may know more than the rows: categories, and marks of missing cells by
            its imputers or by XGBoost. With None or a factory only X counts.
        X : array_like or DataFrame
            Inputs, as for certify_rows.
        scale : array_like, mapping, Series or {"std", "iqr"}, optional
            As for certify_rows; "std" and "iqr" are those of X.

        Raises
        ------
        ValueError, TypeError
            For wrong inputs, or a scale with noise for categories."""
        read = prepare(model, X, scale)
        made, matrix = read.inputs, rows_in_float32(read)
        made._refuse()
        known, made.rows = made._with_nan(matrix), len(matrix)
        for text in doubts(model, read, known, scale is None):
            warn(text)
        if matrix.ndim == 2:
            made.missing = np.isnan(known).any(0)
        if made.missing.any():
            made.steps = np.array([quantization_step(x[~np.isnan(x)]) for x in known.T])
        else:
            made.steps = quantization_steps(known)
        return made

    def with_scale(self, scale: Scale) -> "Inputs":
        """Return a copy with another scale.

        Parameters
        ----------
        scale : array_like, mapping or Series
            As for certify_rows."""
        if isinstance(scale, str):
            raise ValueError(f"scale is {scale!r}, which needs rows: give it to Inputs.of")
        made = copy.copy(self)
        if self.names and hasattr(scale, "items"):  # names of columns may be numbers
            scale = {str(name): value for name, value in cast(Any, scale).items()}
        made._set_scale(by_names(list(self.names or ()), scale, "scale"))
        return made

    def _set_scale(self, scale: object) -> None:
        flat = scale_of(scale, self.shape)
        self.scale: np.ndarray = flat.reshape(self.shape)
        if self._columns is not None:
            self._columns = Columns.of_names(self._columns.names, flat, self._columns.dtypes)

    def _scale_for(self, X: Data) -> Any:
        """The scale for X, by names if its columns have another order."""
        if not self._is_reordered(X):
            return self.scale
        return dict(zip(cast(Names, self.names) or (), self.scale.tolist()))

    def _is_reordered(self, X: Data) -> bool:
        """Returns True for a DataFrame with another order of columns."""
        if not is_frame(X) or self.names is None:
            return False
        return [str(name) for name in X.columns] != list(self.names)

    def _with_facts_of(self, other: "Inputs") -> "Inputs":
        """A copy with the facts that another description knows too."""
        made = copy.copy(other)
        made.scale, made._columns, made.guessed = self.scale, self._columns, False
        made.by_model = {**other.by_model, **self.by_model}
        made.marks = dict(_united(other.marks, self.marks))
        made.untraced, made.by_trees = self.untraced, self.by_trees
        made.steps, made.missing = other.steps.copy(), other.missing.copy()
        made.kinds = {**other.kinds, **self.kinds}
        return made

    def _of_arrays(self) -> "Inputs":
        """A copy for rows of `Columns.matrix`, which keeps the names of features."""
        made = copy.copy(self)
        made._columns = None
        return made

    def _taken(self, X: Data) -> Data:
        """X with the columns in this order and with these categories. Raises TypeError or
        ValueError if X does not fit."""
        if self._columns is not None:
            if not is_frame(X):
                raise TypeError(
                    "X has no names, and the description has the columns "
                    f"{listed(self._columns.names)}: give a DataFrame, since nothing tells whether "
                    "X has this order"
                )
            return self._as_numbers(self._columns.ordered(X, "X"))
        if is_frame(X) and self.names is not None:
            return Columns.of_names(self.names, self.scale, {}).ordered(X, "X")
        shape = np.shape(unnamed(X, "X"))[1:]
        if shape != self.shape:
            raise ValueError(f"rows of X have shape {shape}; the description has {self.shape}")
        return X

    def _as_numbers(self, table: Any) -> Any:
        """A DataFrame with numbers in columns that get noise: one row that lacks a cell there may
        hold None."""
        for j in np.flatnonzero(self.scale > 0).tolist():
            column = table.iloc[:, j]
            if column.dtype == object and all(v is None or _is_mark(v) or v != v for v in column):
                table = table.copy(deep=False)
                table.isetitem(j, column.astype(np.float64))
        return table

    # ---- noise
    def _refuse(self) -> None:
        """Raises ValueError if a feature that holds no quantities by the model gets noise."""
        for j, kind in self.by_model.items():
            if (self.scale.reshape(-1)[j : j + 1] > 0).any():
                text = (
                    f"feature {j} of the input holds {kind} by the model's description, and noise "
                    "would change it: give it scale 0"
                )
                raise ValueError(with_column_names(text, self.names))

    def _codes(self, X: np.ndarray) -> np.ndarray:
        """For each cell of a table 0, 1 if it is NaN, or 2 + the number of its mark."""
        codes = np.asarray(np.isnan(X), np.int64)
        for number, mark in enumerate(sorted({m for each in self.marks.values() for m in each})):
            at = [j for j, each in self.marks.items() if mark in each]
            marked = X[..., at] == np.float32(mark)
            if float(np.float32(mark)) != mark and marked.any():
                raise ValueError(
                    f"{mark:.17g} marks missing cells of X, and float32 cannot hold it, so the "
                    "model would get another number: use another mark, such as NaN or -999"
                )
            codes[..., at] = np.where(marked, number + 2, codes[..., at])
        return codes

    def _with_nan(self, X: np.ndarray) -> np.ndarray:
        """A table with NaN for its marks."""
        if not self.marks or len(self.shape) != 1:
            return X
        return np.asarray(np.where(self._codes(X) > 0, np.float32(np.nan), X))

    def _marks_in(self, X: np.ndarray) -> list[list[Any]] | None:
        """The features with a marked cell in these rows, and their marks; None if there is none."""
        if not self.marks or len(self.shape) != 1:
            return None
        marked = np.flatnonzero((self._codes(X) > 1).any(0)).tolist()
        return [[j, *self.marks[j]] for j in marked] or None

    def _missing_in(self, z: np.ndarray) -> MissingCells:
        """The missing cells of an input, flat."""
        if len(self.shape) != 1 or not (self.marks or np.isnan(z).any()):
            return WHOLE
        codes = self._codes(z)
        return MissingCells(z, codes, self.scale > 0) if codes.any() else WHOLE

    # ---- shown and kept
    def _table(self) -> Table:
        if self.scale.size > TABLE:
            noisy = int((self.scale > 0).sum())
            return [{"shape": self.shape, "features": self.scale.size, "with noise": noisy}]
        names = self.names or range(self.scale.size)
        steps, missing = self.steps.reshape(-1).tolist(), self.missing.reshape(-1).tolist()
        return [
            {
                "feature": name,
                "noise": float(scale),
                "kind": "quantity" if scale else self.kinds.get(j, "exact"),
                "step": "" if math.isnan(steps[j]) else steps[j],
                "missing cells": self._cells(j, missing[j]),
            }
            for j, (name, scale) in enumerate(zip(names, self.scale.reshape(-1).tolist()))
        ]

    def _cells(self, j: int, some: bool) -> str:
        marks = [f"{mark:g}" for mark in self.marks.get(j, ())]
        mark = f" (NaN or {', '.join(marks)})" if marks else ""
        return f"{'some' if some else 'none'}{mark}"

    def __repr__(self) -> str:
        return aligned(self._table())

    def save(self, path: Path) -> None:
        """Write the description to a file in JSON.

        Parameters
        ----------
        path : str or path
            Path of the file."""
        warn_of_name(path_of(path), ".json", "let its name end with .json")
        replace(path_of(path), (json.dumps(self._facts(), indent=1) + "\n").encode())

    def _facts(self) -> dict[str, Any]:
        """The description in types of JSON. Raises ValueError for categories that JSON does not
        keep."""
        return {
            "inputs": _VERSION,
            "certreg": version_text(VERSION_NUMBER),
            "shape": self.shape,
            "names": self.names,
            "scale": _short(self.scale),
            "kinds": self.kinds,
            "by_model": dict(self.by_model),
            "marks": self.marks,
            "steps": _short(self.steps),
            "missing": np.flatnonzero(self.missing).tolist(),
            "rows": self.rows,
            "guessed": self.guessed,
            "categories": None if self._columns is None else text_of_categories(self._columns),
        }

    @classmethod
    def load(cls, path: Path) -> "Inputs":
        """Return the description in a file.

        Parameters
        ----------
        path : str or path
            A file of `save`.

        Raises
        ------
        ValueError
            If the file is of another kind or damaged."""
        with open(path_of(path), "rb") as file:
            data = file.read()
        try:
            return cls._of_facts(json.loads(data.decode()))
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            why = " ".join(str(error).split())
            raise ValueError(f"{os.fsdecode(path)} is no description of inputs: {why}") from None

    @classmethod
    def _of_facts(cls, facts: dict[str, Any]) -> "Inputs":
        """The description with these `facts`."""
        if facts["inputs"] != _VERSION:
            raise ValueError("it is of another version; make it again")
        shape, columns = tuple(integer(n, "a length", 1) for n in facts["shape"]), None
        scale = scale_of(np.array(facts["scale"], np.float64), shape)
        if not ((scale >= 0) & np.isfinite(scale)).all():
            raise ValueError("its scale must hold finite numbers of at least 0")
        names = None if facts["names"] is None else tuple(map(str, facts["names"]))
        if names is not None and len(names) != scale.size:
            raise ValueError("its names do not fit")
        if names is not None and facts["categories"] is not None:
            columns = Columns.of_names(names, scale, categories_of_text(facts["categories"]))
        made = cls(shape, scale, columns)
        made.names = names
        features = range(scale.size)
        made.kinds = {features.index(int(j)): str(kind) for j, kind in facts["kinds"].items()}
        made.by_model = {features.index(int(j)): str(k) for j, k in facts["by_model"].items()}
        made.marks = {
            features.index(int(j)): tuple(map(float, each)) for j, each in facts["marks"].items()
        }
        steps = np.array(facts["steps"], np.float64)  # NaN for None
        made.steps = array_of(steps, shape, np.float64, "steps").reshape(shape)
        made.rows = int(facts["rows"])
        made.guessed = facts["guessed"] is True
        lacking = [features.index(integer(j, "missing")) for j in facts["missing"]]
        made.missing.reshape(-1)[lacking] = True
        return made


def _short(values: np.ndarray) -> Any:
    """Numbers for JSON, one if all are equal, with None for NaN."""
    each = [None if value != value else value for value in values.reshape(-1).tolist()]
    return each[0] if len(set(each)) == 1 else each


# ---- the inputs of a call
class Prepared(NamedTuple):
    """The inputs of a call, read once.

    given    the rows as they were given, (rows, *shape), or codes of a DataFrame
    columns  the Columns of a DataFrame, else None
    scale    noise of the features as numbers; None if all features of an array get noise by default
    inputs   their description
    texts    about features of numbers that get no noise by default"""

    given: np.ndarray
    columns: Columns | None
    scale: ArrayLike | None
    inputs: Inputs
    texts: list[str]


def is_default(scale: Scale) -> bool:
    """Returns True if the scale does not name the features that get noise."""
    return scale is None or isinstance(scale, str)


def prepare(
    model: Model, X: Data, scale: Scale = None, inputs: Inputs | None = None, names: Names = None,
    values: bool = True,
) -> Prepared:  # fmt: skip
    """Reads inputs: numbers, noise, and facts that the model knows. A scale that names no features
    is 0 for features with few values, if `values`, and for features that are no quantities by the
    model. Factories are not called. `names`: names of the features of an array, for texts."""
    if inputs is not None:
        X = taken(inputs, X, scale=scale)
        scale = inputs.with_scale(scale).scale if scale is not None else inputs.scale
    X = X if is_frame(X) else inputs_of(X)
    told = _told_of(model, X)
    told = told if inputs is None else told._with_facts_of(inputs)
    known = known_cells(X, told.marks)  # no mark decides about a scale
    given, columns, found = split_frame(known, scale, values)
    if known is not X:
        columns = columns and Columns(X, columns.scale)
        given = inputs_of(X) if columns is None else columns.matrix
    shape, texts = given.shape[1:], list[str]()
    if is_default(scale):
        flat = np.ones(math.prod(shape)) if found is None else np.array(np.ravel(found), np.float64)
        kept, by_model = flat > 0, _without_noise(model, told, flat.size)
        flat[list(by_model)] = 0
        if columns is not None and (kept != (flat > 0)).any():
            columns = Columns(X, flat)
            given = columns.matrix
        numeric = number_columns(X) if is_frame(X) else np.ones(flat.size, bool)
        shown = names or (None if columns is None else columns.names)
        kinds, texts = _by_rule(kept, by_model, numeric, shown)
        told.kinds = {**told.kinds, **kinds}
        if columns is not None:
            found = columns.scale
        elif found is not None or not flat.all():
            found = flat.reshape(shape)
    told._columns = columns
    if names is not None and told.names is None:
        told.names = tuple(map(str, names))
    told._set_scale(found)
    return Prepared(given, columns, found, told, texts)


def taken(inputs: Inputs | None, X: Data, **values: Any) -> Data:
    """X in the order of a description; unchanged without one. Raises TypeError for another object,
    and ValueError if X does not fit, or if values of features may have either of two orders."""
    if inputs is None:
        return X
    if not isinstance(inputs, Inputs):
        remedy = "Inputs.of(model, X) makes one, and Inputs.load(path) reads it"
        raise TypeError(f"inputs must be a certreg.Inputs, not {abbreviated(inputs)}: {remedy}")
    for what, each in values.items():
        if np.ndim(each) and not hasattr(each, "items") and inputs._is_reordered(X):
            raise ValueError(
                f"{what} may be in the order of the columns of X, or in that of the description: "
                f"give {what} by the names of the columns"
            )
    return inputs._taken(X)


def told_by(model: Model, shape: Shape, columns: Columns | None) -> Inputs:
    """The inputs of a model by its own description: categories and marks."""
    made = Inputs(shape, None, columns)
    if model is None or is_factory(model):
        return made
    function, owner, place = _owner_of(model, columns)
    size = math.prod(shape)
    made.by_model = {place(j): kind for j, kind in _kinds(owner).items()}
    marks = _marks(owner)
    mark = getattr(function, "keywords", {}).get("missing")  # of functools.partial
    if _is_mark(mark):
        marks = dict.fromkeys(range(size), (float(cast(float, mark)),))
    made.marks = {place(j): each for j, each in marks.items() if j < size}
    if type(owner).__module__.partition(".")[0] == "xgboost":
        made.by_trees = made.marks
    if _is_of_sklearn(owner):  # all marks of another model are its own
        made.untraced = tuple(_all_marks(owner) - {m for each in marks.values() for m in each})
    return made


def _told_of(model: Model, X: Data) -> Inputs:
    """told_by for the rows of an array or of a DataFrame."""
    if not is_frame(X):
        return told_by(model, inputs_of(X).shape[1:], None)
    names = [str(name) for name in X.columns]
    return told_by(model, (len(names),), Columns.of_names(names, np.zeros(len(names)), {}))


def known_to(model: Model, X: Data) -> Data:
    """X with NaN for the marks that a model knows."""
    return known_cells(X, _told_of(model, X).marks)


def known_cells(X: Data, marks: Mapping[int, Sequence[float]]) -> Data:
    """X with NaN for its marks."""
    if is_frame(X):
        table = X.copy(deep=False)
        for j in [j for j in marks if number_columns(X.iloc[:, [j]])[0]]:
            column = X.iloc[:, j]
            table.isetitem(j, column.mask(column.isin(marks[j])))
        return table if marks else X
    values = inputs_of(X)
    if not marks or values.ndim != 2 or values.dtype.kind not in "iuf":
        return X
    known = values.astype(np.result_type(values, np.float32))
    for j, each in marks.items():
        known[np.isin(values[:, j], each), j] = np.nan
    return known


def _owner_of(model: Model, columns: Columns | None) -> tuple[Any, Any, Callable[[int], int]]:
    """The function of a model, the object behind it, and the place of each of its features."""
    function: Any = model._inner() if isinstance(model, Denoised) else as_model(model)
    if columns is not None:
        function = columns.wrapped(function)
    if not isinstance(function, FrameFunction):
        return function, _inner(owner_of(function)), lambda j: j
    order, function = function.order, function.function
    return function, _inner(owner_of(function)), order.__getitem__


def _without_noise(model: Model, told: Inputs, count: int) -> dict[int, str]:
    """The kind of each feature that gets no noise because of the model."""
    if isinstance(model, Denoised):
        still = np.flatnonzero(np.ravel(model.scale) == 0).tolist()
        return {j: "exact values" for j in still if j < count}
    return {j: kind for j, kind in told.by_model.items() if j < count}


def _by_rule(
    kept: np.ndarray, by_model: Mapping[int, str], numeric: np.ndarray, names: Names
) -> tuple[dict[int, str], list[str]]:
    """Why features get no noise by default, and texts about features of numbers. `kept`: features
    that get noise by the values of the rows."""
    few = [j for j in np.flatnonzero(~kept).tolist() if j not in by_model]
    kinds = {j: "at most two values" if numeric[j] else "no numbers" for j in few}
    kinds.update((j, f"{kind} by the model's description") for j, kind in by_model.items())
    reasons: dict[str, list[int]] = {}
    for j, why in kinds.items():
        if numeric[j] or kept[j]:
            reasons.setdefault(why, []).append(j)
    return kinds, [
        f"{why} in the features {_shown(which, names)}: they get no noise, and changes of them are "
        "not certified; a scale names the features with noise"
        for why, which in reasons.items()
    ]


def _shown(which: Sequence[int], names: Sequence[object] | None) -> str:
    return listed([repr(names[j]) if names else j for j in which])


def scale_by_rule(model: Model, X: Data, scale: Scale, inputs: Inputs | None = None) -> Scale:
    """The scale that `prepare` finds, for other inputs too: a Series for a DataFrame with different
    names of columns, numbers for an array. Warns by its texts."""
    if scale is None and inputs is not None:
        scale = inputs._scale_for(X)
    if not is_default(scale):
        return scale
    read = prepare(model, X, scale, inputs)
    for text in read.texts:
        warn(text)
    columns, found = read.columns, read.scale
    if columns is not None and len(set(columns.names)) == len(columns.names):
        return columns.series(columns.scale)
    return np.ones(np.shape(X)[1:]) if found is None else found


def rows_in_float32(read: Prepared) -> np.ndarray:
    """The rows as float32 without gaps, in memory of their own. Raises ValueError if a number is
    neither finite nor a missing cell."""
    with np.errstate(over="ignore"):
        matrix = numbers(read.given, np.float32, "X")
    if read.columns is None and np.may_share_memory(matrix, read.given):
        matrix = matrix.copy()  # the caller's array may change
    check_finite(matrix, read.given, "X", "a finite float32", missing=True)
    np.copyto(matrix, np.float32(np.nan), where=np.isnan(matrix))  # of other bits
    return np.ascontiguousarray(matrix)


def check_rows(
    model: Model, read: Prepared, known: np.ndarray, own_units: bool, sigmas: Sequence[float]
) -> list[str]:
    """Texts about the rows of a call, with NaN for marks, and its model. `own_units`: neither a
    scale nor a description was given. Raises ValueError if they do not fit."""
    check_use(model, read.inputs.shape, read.scale, read.columns, sigmas)
    check_whole(model, known)
    read.inputs._refuse()
    return [*read.texts, *_by_place(model, read), *doubts(model, read, known, own_units, sigmas)]


def doubts(
    model: Model, read: Prepared, X: np.ndarray, guessed: bool = False,
    sigmas: Sequence[float] = (),
) -> Iterator[str]:  # fmt: skip
    """Texts about features that get noise and may hold no quantities, or too much noise by all of
    these sigmas. Marks in X are NaN."""
    told, said = read.inputs, False
    for text in (*suspected_categorical(X, told.scale, told.names, guessed), *_far(model, read, X)):
        yield text
        said = True
    if told.by_trees is not None:
        foreign = {j for j, each in told.marks.items() if {*each} - {*told.by_trees.get(j, ())}}
        lacking = [j for j in foreign if told.scale[j] > 0 and np.isnan(X[:, j]).any()]
        if lacking:
            yield (
                f"cells of the features {_shown(sorted(lacking), told.names)} are marked by the "
                "description, and the model does not know these marks: give the model its `missing`"
            )
    for mark in told.untraced if len(told.shape) == 1 else ():
        at = np.flatnonzero((X == np.float32(mark)).any(0) & (told.scale > 0)).tolist()
        if at:
            yield (
                f"{mark:g} in the features {_shown(at, told.names)}: a part of the model takes "
                "this number for a missing cell, perhaps of other features: if it marks one here, "
                "set `marks` of Inputs, or give these features scale 0"
            )
            said = True
    if not said:
        differ = different_units(X, told.scale > 0, told.names) if guessed else ()
        noise = min(sigmas, default=0.0) * told.scale
        yield from [text for text, _ in differ] or _too_much_noise(X, noise, told.names)


def _by_place(model: Model, read: Prepared) -> Iterator[str]:
    """A text if a model with names gets an array."""
    if read.columns is None and len(read.inputs.shape) == 1 and not isinstance(model, Denoised):
        names = None if model is None or is_factory(model) else names_of(as_model(model))
        if names is not None and not type(owner_of(model)).__module__.startswith("certreg."):
            yield by_position("X", "the model", names)


# ---- kinds of features, from the values
def suspected_categorical(
    X: np.ndarray, scale: ArrayLike | None, names: Sequence[object] | None, guessed: bool = False
) -> Iterator[str]:
    """Texts about features of a table that get noise and seem to be no quantities. `guessed`: no
    scale was given, so that the rows of a longer table could decide otherwise."""
    if X.ndim != 2 or X.shape[1] >= TABLE:  # small images have this size
        return
    at = np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(int)
    some = np.asarray(X)[at].astype(np.float32)
    noisy = np.flatnonzero(np.ones(X.shape[1]) if scale is None else np.ravel(scale) > 0)
    known = {j: some[~np.isnan(some[:, j]), j] for j in noisy.tolist()}
    values = {j: np.unique(v, return_counts=True) for j, v in known.items() if v.size}
    found: dict[str, list[int]] = {}
    ones = [j for j, (v, _) in values.items() if np.isin(v, (0, 1)).all()]
    guessed &= len(X) < FEWEST_ROWS
    both = len({float(v) for j in ones for v in values[j][0]}) == 2 and len(X) > 1
    if both if guessed else any(len(values[j][0]) == 2 for j in ones) and len(X) >= FEWEST_ONES:
        found["only 0 and 1"] = ones
    named = found.get("only 0 and 1", ())
    for j, (distinct, counts) in values.items():
        apart = _apart(distinct, counts)
        if apart is not None:
            found.setdefault(f"{apart:g} in many rows, far from all other values,", []).append(j)
        elif j not in named and len(distinct) <= 2 and len(X) >= FEWEST_ROWS:
            found.setdefault("at most two values", []).append(j)
    longer = (
        f"; a table of {FEWEST_ROWS} rows would decide it otherwise, and "
        "inputs=certreg.Inputs.of(model, X_train) decides it for any number of rows"
    )
    for what, which in found.items():
        yield (
            f"{what} in the features {_shown(which, names)}: if these are codes or marks instead "
            "of quantities, noise turns them into numbers that no input has, so give them scale 0"
            f"{longer if guessed and which is named else ''}"
        )


def _apart(distinct: np.ndarray, counts: np.ndarray) -> float | None:
    """The least or greatest value, if many rows hold it and its distance from all other values is
    larger than their range; None if there is none."""
    for at, others in ((0, distinct[1:]), (-1, distinct[:-1])):
        many = counts[at] >= max(3, SHARE * counts.sum())
        if len(others) > 1 and many and abs(distinct[at] - others[at]) > others[-1] - others[0]:
            return float(distinct[at])
    return None


def _far(model: Model, read: Prepared, X: np.ndarray) -> Iterator[str]:
    """Texts about values that are far from all numbers with which the model compares them."""
    if model is None or is_factory(model) or X.ndim != 2:
        return
    _, owner, place = _owner_of(model, read.columns)
    for at, found in _thresholds(owner).items():
        if at < 0 or len(set(found)) < FEWEST_THRESHOLDS:
            continue
        j, low, high = place(at), min(found), max(found)
        room = BEYOND * (high - low)
        far = X[(X[:, j] < low - room) | (X[:, j] > high + room), j]
        far = far[far == np.rint(far)]
        if far.size and read.inputs.scale[j] > 0:
            yield (
                f"{far[0]:g} in the feature {_shown([j], read.inputs.names)}: the model compares "
                f"this feature with {low:.4g} to {high:.4g} only. If {far[0]:g} marks a missing "
                "cell, noise would change it: give the model its `missing`, or the feature scale 0"
            )


def different_units(
    X: np.ndarray, moves: np.ndarray, names: Names
) -> Iterator[tuple[str, float]]:
    """A text, and the ratio of the deviations, if one sigma cannot suit all features of a table in
    their own units."""
    if X.ndim != 2 or X.shape[1] > TABLE or len(X) < FEWEST_ONES:
        return
    sizes = np.where(moves, spread_of(X.astype(np.float64), "std"), 0)
    if not (sizes > 0).any():
        return
    text, ratio = ends_of(sizes, names)
    if ratio > MOST_APART:
        yield (
            f"standard deviations of features are from {text}, so noise of one sigma is too much "
            "for one or nothing for another: give scale='std', or a scale of your own"
        ), ratio


def _too_much_noise(X: np.ndarray, noise: np.ndarray, names: Names) -> Iterator[str]:
    """A text if most features of a table vanish in their noise."""
    if X.ndim != 2 or X.shape[1] > TABLE or len(X) < FEWEST_ONES:
        return
    sizes = spread_of(X.astype(np.float64), "std")
    varied = np.flatnonzero((noise > 0) & (sizes > 0))
    ratios = noise[varied] / sizes[varied]
    if 2 * np.count_nonzero(ratios > MOST_DEVIATIONS) > len(varied):
        j = int(varied[np.argsort(ratios)[len(varied) // 2]])
        yield (
            f"noise is {noise[j] / sizes[j]:.3g} times the standard deviation of the feature "
            f"{_shown([j], names)}, {sizes[j]:.3g}, and for most features more than "
            f"{MOST_DEVIATIONS:g} times: little of the inputs is left, so give a smaller sigma"
        )


def ends_of(sizes: np.ndarray, names: Names) -> tuple[str, float]:
    """The least and the greatest positive size of a feature, and their ratio."""
    flat = sizes.reshape(-1)
    some = np.flatnonzero(flat > 0)
    ends = [int(some[flat[some].argmin()]), int(some[flat[some].argmax()])]
    named = [repr(names[j]) if names else str(j) for j in ends]
    text = " to ".join(f"{flat[j]:.3g} (feature {name})" for j, name in zip(ends, named))
    return text, float(flat[ends[1]] / flat[ends[0]])


def missing_with_noise(X: np.ndarray, scale: np.ndarray) -> np.ndarray | None:
    """True for each missing cell of a table, (rows, features), in a feature that gets noise; None
    if there is none. Marks are NaN."""
    missing = np.isnan(X) & (scale > 0) if X.ndim == 2 else np.zeros(0, bool)
    return missing if missing.any() else None

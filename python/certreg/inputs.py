"""Features that get no noise, and missing cells."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, Mapping, NoReturn, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Inputs, Model, Names, Scale, of_class
from .arrays import optional_scale
from .constants import Status
from .denoise import Denoised, check_whole
from .frames import FEWEST_ROWS, TABLE, Columns, FrameFunction, is_frame, listed, number_columns
from .frames import owner_of, put_placeholders, split_frame
from .library import CertregError, with_column_names
from .models import as_model, is_factory


class MissingCells:
    """The missing cells of an input.

    z      the input, float32 of shape (features,)
    noisy  True for each feature that gets noise
    some   True if the cell of such a feature is missing

    Raises ValueError if the model's denoiser needs a cell that is missing."""

    def __init__(self, z: np.ndarray, noisy: np.ndarray, model: Model = None) -> None:
        missing = np.isnan(z)
        self.at = np.flatnonzero(missing)
        self.values = z[self.at]
        self.some = bool(noisy[self.at].any())
        self._nothing_left = self.some and not (noisy & ~missing).any()
        if self.some:
            check_whole(model, z[None])

    def check(self) -> None:
        """Raises CertregError if no change of the input can be certified."""
        if self._nothing_left:
            text = "all cells that get noise are missing: no change of the input is left to certify"
            raise CertregError(Status.INVALID, text=text)

    def filled(self, z: np.ndarray) -> np.ndarray:
        """The input for the library."""
        if not self.at.size:
            return z
        z = z.copy()
        put_placeholders(z)
        return z

    def restore(self, x: np.ndarray) -> None:
        """Puts the missing cells back into noisy inputs, (rows, features)."""
        if self.at.size:
            x[:, self.at] = self.values


WHOLE = MissingCells(np.empty(0, np.float32), np.empty(0, bool))  # no cell is missing


def missing_with_noise(X: np.ndarray, scale: ArrayLike | None) -> np.ndarray | None:
    """True for each missing cell of a table, (rows, features), in a feature that gets noise; None
    if there is none."""
    missing = np.isnan(X) if X.ndim == 2 else np.zeros(0, bool)
    scales = optional_scale(scale, X.shape[1:])
    if missing.any() and scales is not None:
        missing &= scales > 0
    return missing if missing.any() else None


MOST_ROWS = 4096  # that are examined
FEWEST_ONES = 5  # rows: with fewer, a quantity may be 0 and 1 by chance
SHARE = 0.05  # least share of rows with a value that marks something


# ---- kinds of features, from the model
def _of_lightgbm(booster: Any) -> dict[int, str]:
    """The file of LightGBM has lists of categories, and ranges of numbers in brackets."""
    text = booster.model_to_string(num_iteration=1)
    line = next((line for line in text.splitlines() if line.startswith("feature_infos=")), "=")
    infos = line.partition("=")[2].split()
    return {j: "categories" for j, info in enumerate(infos) if info[:1] not in ("[", "n")}


def _of_xgboost(booster: Any) -> dict[int, str]:
    kinds = {"c": "categories", "i": "an indicator"}
    return {j: kinds[kind] for j, kind in enumerate(booster.feature_types or ()) if kind in kinds}


_OF_PACKAGES: tuple[tuple[str, str, Callable[[Any], dict[int, str]]], ...] = (
    ("lightgbm", "Booster", _of_lightgbm),
    ("lightgbm", "LGBMModel", lambda model: _of_lightgbm(model.booster_)),
    ("xgboost", "Booster", _of_xgboost),
    ("xgboost", "XGBModel", lambda model: _of_xgboost(model.get_booster())),
    ("certreg.models", "SessionModel", lambda model: model.exact),
)
_ENCODERS = ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder")  # of categories
_IN_PLACE = (  # steps that pass on feature j as feature j
    ("sklearn.impute", ("SimpleImputer", "KNNImputer")),
    ("sklearn.impute._iterative", ("IterativeImputer",)),
    (
        "sklearn.preprocessing",
        ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer",
         "PowerTransformer"),
    ),
)  # fmt: skip
_INSIDE = ("best_estimator_", "regressor_")  # inner models with the same features


def _inner(owner: object) -> object:
    """The model within searches and regressors of transformed targets; other models unchanged."""
    for name in _INSIDE:
        if hasattr(owner, name):
            return _inner(owner_of(getattr(owner, name)))
    return owner


def _kinds(owner: object) -> Mapping[int, str]:
    """The kind of each feature that is no quantity, by its index."""
    owner = _inner(owner)
    for module, name, kinds in _OF_PACKAGES:
        if of_class(owner, module, name):
            return kinds(owner)
    if of_class(owner, "sklearn.pipeline", "Pipeline"):
        return _of_pipeline([step for _, step in cast(Any, owner).steps])
    if of_class(owner, "sklearn.compose", "ColumnTransformer"):
        return _encoded(owner)
    if any(of_class(owner, "sklearn.preprocessing", name) for name in _ENCODERS):
        return {j: "categories" for j in range(cast(Any, owner).n_features_in_)}
    found = getattr(owner, "is_categorical_", None)  # of HistGradientBoostingRegressor
    if found is not None:
        return {int(j): "categories" for j in np.flatnonzero(found)}
    return _of_ensemble(owner)


def _of_pipeline(steps: Sequence[Any]) -> dict[int, str]:
    """The kinds for the first step, and those for the next ones of the features that it passes
    on."""
    if not steps:
        return {}
    return {**_through(steps[0], _of_pipeline(steps[1:])), **_kinds(steps[0])}


def _through(step: Any, kinds: Mapping[int, str]) -> Mapping[int, str]:
    """The kinds of the features of a fitted step, from those of the features that it returns, as
    far as it passes them on."""
    if not kinds or step in (None, "passthrough") or getattr(step, "func", step) is None:
        return kinds  # the last one is a FunctionTransformer
    if of_class(step, "sklearn.pipeline", "Pipeline"):
        for _, inner in reversed(step.steps):
            kinds = _through(inner, kinds)
        return kinds
    if of_class(step, "sklearn.compose", "ColumnTransformer"):
        return dict(_through_columns(step, kinds))
    if not any(of_class(step, module, name) for module, names in _IN_PLACE for name in names):
        return {}
    try:
        given = list(getattr(step, "feature_names_in_", ()))
        given = given or [f"x{j}" for j in range(step.n_features_in_)]
        names = list(step.get_feature_names_out())
    except (AttributeError, ValueError):  # not fitted, or an older scikit-learn
        return {}
    known = {j: kind for j, kind in kinds.items() if j < len(names) and names[j] in given}
    return {given.index(names[j]): kind for j, kind in known.items()}


def _through_columns(transformer: Any, kinds: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """_through for a ColumnTransformer."""
    for name, step, which in getattr(transformer, "transformers_", ()):
        place, columns = transformer.output_indices_[name], _columns_of(transformer, which)
        own = {j - place.start: k for j, k in kinds.items() if place.start <= j < place.stop}
        yield from ((columns[j], kind) for j, kind in _through(step, own).items())


def _of_ensemble(owner: Any) -> Mapping[int, str]:
    """The kinds for the members of an ensemble of scikit-learn."""
    kinds: dict[int, str] = {}
    members: Any = getattr(owner, "estimators_", ())
    count = getattr(owner, "n_features_in_", math.inf)  # a member of a chain gets more
    places: Any = getattr(owner, "estimators_features_", None)  # of each member
    # An array would be made of the members of members, which are sequences.
    for i, member in enumerate(np.ravel(members) if isinstance(members, np.ndarray) else members):
        for j, kind in _kinds(member).items():
            if j < count:
                kinds[j if places is None else int(places[i][j])] = kind
    return kinds


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


def _missing(function: object, owner: object) -> float:
    """The number that marks a missing value for a model; NaN if there is none."""
    given = getattr(function, "keywords", {}).get("missing")  # of functools.partial
    if given is None and of_class(owner, "xgboost", "XGBModel"):
        given = getattr(owner, "missing")
    return math.nan if given is None else float(given)


class CategoricalFeatures:
    """The features that are no quantities by the model's own description: `kinds`, by index.

    function  a function as as_model returns it, or a frames.FrameFunction
    scale     noise of the features, flat; None: all features get noise
    names     names of the features, for error texts"""

    def __init__(
        self, function: object, scale: ArrayLike | None = None, names: Names = None
    ) -> None:
        self._scale, self._names = scale, names
        order = None
        if isinstance(function, FrameFunction):
            order = function.order
            function = function.function
        owner = _inner(owner_of(function))
        self._value = _missing(function, owner)
        self.kinds = {j if order is None else order[j]: k for j, k in _kinds(owner).items()}

    def refuse(self) -> "CategoricalFeatures":
        """Raises ValueError if one of the features gets noise."""
        for at, kind in self.kinds.items():
            if self._scale is None or (np.ravel(self._scale)[at : at + 1] > 0).any():
                self._refuse(at, f"holds {kind} by the model's description")
        return self

    def check(self, X: np.ndarray) -> None:
        """Raises ValueError if a value of these inputs, (rows, features), marks a missing value for
        the model and would get noise."""
        if math.isnan(self._value):
            return
        marks = np.reshape(X, (len(X) if X.ndim > 1 else 1, -1)) == np.float32(self._value)
        noisy = marks.any(0) if self._scale is None else marks.any(0) & (np.ravel(self._scale) > 0)
        for j in np.flatnonzero(noisy):
            self._refuse(int(j), f"is {self._value:g}, which marks a missing value for the model")

    def _refuse(self, j: int, why: str) -> NoReturn:
        text = f"feature {j} of the input {why}, and noise would change it: give it scale 0"
        raise ValueError(with_column_names(text, self._names))


def categorical_features_of(
    model: Model, columns: Columns | None, scale: ArrayLike | None
) -> CategoricalFeatures:
    """The CategoricalFeatures of a model that is no factory. Raises ValueError if one gets
    noise."""
    return _described(model, columns, scale).refuse()


def _described(
    model: Model, columns: Columns | None, scale: ArrayLike | None
) -> CategoricalFeatures:
    function = model._inner() if isinstance(model, Denoised) else as_model(model)
    if columns is None:
        return CategoricalFeatures(function, scale)
    return CategoricalFeatures(columns.wrapped(function), scale, columns.names)


# ---- the default scale
def is_default(scale: Scale) -> bool:
    """Returns True if the scale does not name the features that get noise."""
    return scale is None or isinstance(scale, str)


def split_by_rule(
    model: Model, X: Inputs, scale: Scale, names: Names = None, values: bool = True
) -> tuple[np.ndarray, Columns | None, ArrayLike | None, list[str]]:
    """split_frame with a scale of 0, by default, also for features that the model marks; and texts
    about the features of numbers that get no noise by default. Factories mark nothing here."""
    matrix, columns, found = split_frame(X, scale, values)
    if not is_default(scale):
        return matrix, columns, found, []
    shape = matrix.shape[1:]
    flat = np.ones(math.prod(shape)) if found is None else np.array(np.ravel(found), np.float64)
    kept = flat > 0
    by_model = _without_noise(model, columns, len(flat))
    flat[list(by_model)] = 0
    if columns is not None and (kept != (flat > 0)).any():
        columns = Columns(X, flat)
        matrix = columns.matrix
    counted = np.flatnonzero(~kept & (number_columns(X) if is_frame(X) else True))
    shown = names or (None if columns is None else columns.names)
    reasons = {"at most two values": [j for j in counted.tolist() if j not in by_model]}
    for j, kind in by_model.items():
        if kept[j] or j in counted:
            reasons.setdefault(f"{kind} by the model's description", []).append(j)
    texts = [_exact(why, which, shown) for why, which in reasons.items() if which]
    if columns is None and found is None and flat.all():
        return matrix, columns, None, texts
    return matrix, columns, flat.reshape(shape) if columns is None else columns.scale, texts


def _without_noise(model: Model, columns: Columns | None, count: int) -> dict[int, str]:
    """The kind of each feature that gets no noise because of the model."""
    if model is None or is_factory(model):
        return {}
    if isinstance(model, Denoised):
        still = np.flatnonzero(np.ravel(model.scale) == 0).tolist()
        return {j: "exact values" for j in still if j < count}
    return {j: kind for j, kind in _described(model, columns, None).kinds.items() if j < count}


def _exact(why: str, which: Sequence[int], names: Names) -> str:
    shown = listed([repr(names[j]) if names else j for j in which])
    return (
        f"{why} in the features {shown}: they get no noise, and changes of them are not certified; "
        "a scale names the features with noise"
    )


def scale_by_rule(model: Model, X: Inputs, scale: Scale) -> tuple[Scale, list[str]]:
    """The scale by which split_by_rule decides, for other inputs too: a Series for a DataFrame with
    different names of columns, numbers for an array; and the texts."""
    if not is_default(scale):
        return scale, []
    _, columns, found, texts = split_by_rule(model, X, scale)
    if columns is not None and len(set(columns.names)) == len(columns.names):
        return columns.series(columns.scale), texts
    return np.ones(np.shape(X)[1:]) if found is None else found, texts


# ---- kinds of features, from the values
def suspected_categorical(
    X: np.ndarray, scale: ArrayLike | None, names: Sequence[object] | None
) -> Iterator[str]:
    """Texts about features of a table that get noise and seem to be no quantities."""
    if X.ndim != 2 or X.shape[1] >= TABLE:  # small images have this size
        return
    at = np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(int)
    some = np.asarray(X)[at].astype(np.float32)
    noisy = np.flatnonzero(np.ones(X.shape[1]) if scale is None else np.ravel(scale) > 0)
    known = {j: some[~np.isnan(some[:, j]), j] for j in noisy.tolist()}
    values = {j: np.unique(v, return_counts=True) for j, v in known.items() if v.size}
    found: dict[str, list[int]] = {}
    ones = [j for j, (v, _) in values.items() if np.isin(v, (0, 1)).all()]
    if any(len(values[j][0]) == 2 for j in ones) and len(X) >= FEWEST_ONES:
        found["only 0 and 1"] = ones
    named = found.get("only 0 and 1", ())
    for j, (distinct, counts) in values.items():
        apart = _apart(distinct, counts)
        if apart is not None:
            found.setdefault(f"{apart:g} in many rows, far from all other values,", []).append(j)
        elif j not in named and len(distinct) <= 2 and len(X) >= FEWEST_ROWS:
            found.setdefault("at most two values", []).append(j)
    for what, which in found.items():
        shown = listed([repr(names[j]) if names else j for j in which])
        yield (
            f"{what} in the features {shown}: if these are codes or marks instead of quantities, "
            "noise turns them into numbers that no input has, so give them scale 0"
        )


def _apart(distinct: np.ndarray, counts: np.ndarray) -> float | None:
    """The least or greatest value, if many rows hold it and its distance from all other values is
    larger than their range; None if there is none."""
    for at, others in ((0, distinct[1:]), (-1, distinct[:-1])):
        many = counts[at] >= max(3, SHARE * counts.sum())
        if len(others) > 1 and many and abs(distinct[at] - others[at]) > others[-1] - others[0]:
            return float(distinct[at])
    return None


def check_categorical(
    model: Model, X: np.ndarray, columns: Columns | None, scale: ArrayLike | None
) -> Iterator[str]:
    """The texts of suspected_categorical. Raises ValueError as CategoricalFeatures does. Factories
    are not checked here."""
    numbers = optional_scale(scale, X.shape[1:])
    if model is not None and not is_factory(model):
        categorical_features_of(model, columns, numbers).check(X)
    yield from suspected_categorical(X, numbers, None if columns is None else columns.names)

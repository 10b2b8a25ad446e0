"""Features that hold marks, such as codes of categories, and no quantities. Noise makes other marks
of them, so they need scale 0."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, Optional, Sequence, Tuple

import numpy as np

from ._arrays import scale_of
from ._optional import of_class
from ._messages import with_column_names
from ._quantization import TABLE
from .denoised import Denoised
from .frames import FrameFunction
from .models import as_model, is_factory
from .names import Names, listed, owner_of

MOST_ROWS = 4096  # that are looked at
FEWEST_ONES = 5  # rows in which only 0 and 1 are no chance
FEWEST = 50  # rows in which a quantity has more than two values
SHARE = 0.05  # of the rows that hold a value which stands for something else


# ---- what models say
def _of_lightgbm(booster: Any) -> dict[int, str]:
    """Values of categories are listed, those of numbers are in brackets."""
    text = booster.model_to_string(num_iteration=1)
    line = next((line for line in text.splitlines() if line.startswith("feature_infos=")), "=")
    infos = line.partition("=")[2].split()
    return {j: "categories" for j, info in enumerate(infos) if info[:1] not in ("[", "n")}


def _of_xgboost(booster: Any) -> dict[int, str]:
    kinds = {"c": "categories", "i": "an indicator"}
    return {j: kinds[kind] for j, kind in enumerate(booster.feature_types or ()) if kind in kinds}


_OF_PACKAGES: Tuple[Tuple[str, str, Callable[[Any], dict[int, str]]], ...] = (
    ("lightgbm", "Booster", _of_lightgbm),
    ("lightgbm", "LGBMModel", lambda model: _of_lightgbm(model.booster_)),
    ("xgboost", "Booster", _of_xgboost),
    ("xgboost", "XGBModel", lambda model: _of_xgboost(model.get_booster())),
    ("certreg._onnx", "SessionModel", lambda model: model.exact),
)
_INSIDE = ("best_estimator_", "regressor_")  # what gets the same features, as in scikit-learn


def _kinds(owner: Any) -> dict[int, str]:
    """What features of a model hold that are no quantities, by their indices."""
    for module, name, kinds in _OF_PACKAGES:
        if of_class(owner, module, name):
            return kinds(owner)
    found = getattr(owner, "is_categorical_", None)  # of HistGradientBoostingRegressor
    return {} if found is None else {int(j): "categories" for j in np.flatnonzero(found)}


def _missing(function: Any, owner: Any) -> float:
    """The number that marks a missing value for a model; NaN if none does."""
    given = getattr(function, "keywords", {}).get("missing")  # of functools.partial
    if given is None and of_class(owner, "xgboost", "XGBModel"):
        given = owner.missing
    return math.nan if given is None else float(given)


class CategoricalFeatures:
    """The marks of which a model says so. Raises ValueError if one gets noise.

    function  as as_model returns it, or frames.FrameFunction
    scale     noise of the features, flat; None: all get noise
    names     of the features, for the sentences"""

    def __init__(self, function: Any, scale: Any = None, names: Names = None) -> None:
        self._scale, self._names, order = scale, names, None
        if isinstance(function, FrameFunction):
            function, order = function.function, function.order
        owner = owner_of(function)
        for name in _INSIDE:
            owner = owner_of(getattr(owner, name, owner))
        self._value = _missing(function, owner)
        for j, kind in _kinds(owner).items():
            at = j if order is None else order[j]
            if scale is None or (np.ravel(scale)[at : at + 1] > 0).any():
                self._refuse(at, f"holds {kind}, as the model says")

    def check(self, X: np.ndarray) -> None:
        """Raises ValueError if a value of these inputs, (rows, features), is missing for the model
        and would get noise."""
        if math.isnan(self._value):
            return
        marks = np.reshape(X, (len(X) if X.ndim > 1 else 1, -1)) == np.float32(self._value)
        noisy = marks.any(0) if self._scale is None else marks.any(0) & (np.ravel(self._scale) > 0)
        for j in np.flatnonzero(noisy):
            self._refuse(j, f"is {self._value:g}, which marks a missing value for the model")

    def _refuse(self, j: Any, why: str) -> None:
        said = f"feature {j} of the input {why}, and noise would change it: give it scale 0"
        raise ValueError(with_column_names(said, self._names))


def categorical_features_of(model: Any, columns: Any, scale: Any) -> CategoricalFeatures:
    """The CategoricalFeatures of a model that is no factory. columns: frames.Columns, or None."""
    function = model._inner() if isinstance(model, Denoised) else as_model(model)
    if columns is None:
        return CategoricalFeatures(function, scale)
    return CategoricalFeatures(columns.wrapped(function), scale, columns.names)


# ---- what values look like
def suspected_categorical(
    X: np.ndarray, scale: Any, names: Optional[Sequence[Any]]
) -> Iterator[str]:
    """Sentences about features of a table that get noise and whose values look like marks."""
    if X.ndim != 2 or X.shape[1] >= TABLE:  # as small images have
        return
    at = np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(int)
    some = np.asarray(X)[at].astype(np.float32)
    noisy = np.flatnonzero(np.ones(X.shape[1]) if scale is None else np.ravel(scale) > 0)
    values = {j: np.unique(some[:, j], return_counts=True) for j in noisy}
    found: dict[str, list[Any]] = {}
    ones = [j for j, (v, _) in values.items() if np.isin(v, (0, 1)).all()]
    if any(len(values[j][0]) == 2 for j in ones) and len(X) >= FEWEST_ONES:
        found["only 0 and 1"] = ones
    for j, (distinct, counts) in values.items():
        apart = _apart(distinct, counts)
        if apart is not None:
            found.setdefault(f"{apart:g} in many rows, far from all other values,", []).append(j)
        elif len(distinct) <= 2 and len(X) >= FEWEST and j not in found.get("only 0 and 1", ()):
            found.setdefault("at most two values", []).append(j)
    for what, which in found.items():
        shown = listed([repr(names[j]) if names else j for j in which])
        yield (
            f"{what} in the features {shown}: if they mark something, and are no quantities, noise "
            "makes numbers of them that no input has, so give scale 0 there"
        )


def _apart(distinct: np.ndarray, counts: np.ndarray) -> Optional[float]:
    """The least or greatest value, if many rows hold it and it lies farther from the others than
    these lie apart; None if there is none."""
    for at, others in ((0, distinct[1:]), (-1, distinct[:-1])):
        many = counts[at] >= max(3, SHARE * counts.sum())
        if len(others) > 1 and many and abs(distinct[at] - others[at]) > others[-1] - others[0]:
            return float(distinct[at])
    return None


def check_categorical(model: Any, X: np.ndarray, columns: Any, scale: Any) -> Iterator[str]:
    """The sentences of suspected_categorical. Raises ValueError as CategoricalFeatures does.
    Factories are not checked here."""
    scale = scale_of(scale, X.shape[1:])
    if model is not None and not is_factory(model):
        categorical_features_of(model, columns, scale).check(X)
    yield from suspected_categorical(X, scale, getattr(columns, "names", None))

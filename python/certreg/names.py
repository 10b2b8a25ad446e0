"""Names of features: finds the names of a model, and matches them with the names of inputs."""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterable, Sequence

from ._optional import of_class
from ._types import Names

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
    ours = type(owner).__module__ in ("certreg._onnx", "certreg.models")
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

"""Names of features: those of a model, and how they are matched with those of inputs."""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterable, Optional, Sequence

from ._optional import of_class

Names = Optional[Sequence[str]]  # in order; None: what has the features has no names for them

_OF_PACKAGES: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("xgboost", "Booster", lambda model: model.feature_names),
    ("xgboost", "XGBModel", lambda model: model.get_booster().feature_names),
    ("lightgbm", "Booster", lambda model: model.feature_name()),
    ("lightgbm", "LGBMModel", lambda model: model.booster_.feature_name()),
)
_MADE_UP = (("", 0), ("f", 0), ("Column_", 0), ("x", 1))  # names of models fitted to arrays


def names_of(model: Callable[..., Any], beside: Names = None) -> Names:
    """The names of the features of a model, which is a function as as_model returns it. Names that
    its package made up count only if `beside` has the same ones."""
    owner = owner_of(model)
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
    own = [name for name in names if name != "const"]  # which statsmodels names itself
    made_up = any(own == [f"{b}{i + first}" for i in range(len(own))] for b, first in _MADE_UP)
    return None if made_up and sorted(names) != sorted(beside or ()) else names


def takes_by_position(model: Callable[..., Any]) -> bool:
    """Whether a model without names ignores those of a DataFrame. Functions and formulas may do
    with a DataFrame what they like."""
    owner = owner_of(model)
    ours = type(owner).__module__ in ("certreg._onnx", "certreg.models")
    return ours or hasattr(owner, "predict") and not _has_formula(owner)


def _has_formula(owner: Any) -> bool:
    """Whether these are results of a formula of statsmodels, which finds its columns itself."""
    return getattr(getattr(owner, "model", None), "formula", None) is not None


def owner_of(model: Any) -> Any:
    """The object whose method a function is, or the function."""
    while True:
        inner = model.func if isinstance(model, functools.partial) else model
        inner = getattr(inner, "__self__", inner)
        if inner is model:
            return model
        model = inner


def order(names: Sequence[str], wanted: Sequence[str], owner: str, wanting: str) -> list[int]:
    """For each wanted name, the index of the feature among `names`. If names differ, a space counts
    as an underscore, to which LightGBM changes it, and spaces at the ends count nothing. `owner`
    and `wanting` say whose names they are. Raises ValueError if one of them has a name that the
    other has not, or a name twice."""
    key = str if set(map(str, names)) == set(map(str, wanted)) else _alike
    have, want = _places(names, owner, key), _places(wanted, wanting, key)
    missing = [wanted[place] for key, place in want.items() if key not in have]
    extra = [names[place] for key, place in have.items() if key not in want]
    if missing and extra:
        raise ValueError(
            f"{owner} has no feature named {missing[0]!r}, as {wanting} has, but {extra[0]!r}: "
            "give both the same names"
        )
    if missing:
        raise ValueError(f"{owner} has no feature named {missing[0]!r}, as {wanting} has: add it")
    if extra:
        raise ValueError(
            f"{owner} has a feature named {extra[0]!r}, which {wanting} has not: leave it out"
        )
    return [have[key] for key in want]


def _alike(name: Any) -> str:
    return str(name).strip().replace(" ", "_")


def _places(names: Sequence[str], owner: str, key: Callable[[Any], str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        if places.setdefault(key(name), place) != place:
            raise ValueError(f"{owner} has two features named {name!r}: give them other names")
    return places


def noise_on(names: Sequence[str], moves: Iterable[Any]) -> str:
    """The sentence that says which columns get noise, `moves`, and which do not."""
    each = list(zip(names, moves))
    noisy, exact = ([n for n, m in each if bool(m) == does] for does in (True, False))
    return f"noise on {listed(noisy)}{'; none on ' + listed(exact) if exact else ''}"


def listed(names: Sequence[Any]) -> str:
    return ", ".join(map(str, names[:8])) + (f", ... ({len(names)})" if len(names) > 8 else "")


def by_position(nameless: str, named: str, names: Sequence[str]) -> str:
    """The sentence that says in which order columns went in."""
    order = f"taken in the order of {named}, {listed(names)}"
    return f"{nameless} has no names for its features: {order}"

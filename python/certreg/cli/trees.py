"""Boosted trees in files that XGBoost or LightGBM saved."""

from __future__ import annotations

import functools
import re
from typing import Any, TypeAlias

from ..arguments import Function, needed
from ..models import as_model
from .failure import RAISED, Failure, described

Booster: TypeAlias = Any  # of XGBoost
ENDINGS = (".json", ".ubj", ".txt")
# "version":[3,2,0] in .json, and in .ubj version[#L, a count of 8 bytes, each number behind an i
_SAVED_BY = re.compile(rb'version(?:" ?: ?\[ ?(\d+) ?, ?(\d+)|\[#L.{8}i(.)i(.))', re.DOTALL)
_IN_PYTHON = "write a .py file with a function that calls it as your application does"


@functools.lru_cache
def opened(path: str, **marks: float) -> Function:
    """The model in a file, for one thread. `marks` may have the number that marks a missing value
    for XGBoost. Raises Failure if the file cannot be opened, or does not determine the
    prediction."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        found = (_lightgbm if path.lower().endswith(".txt") else _xgboost)(path, data)
        return functools.partial(as_model(found), **marks)
    except (Failure, ImportError) as error:
        raise Failure(error) from None
    except RAISED as error:
        raise Failure(f"{path} cannot be opened: {described(error)}") from None


def _xgboost(path: str, data: bytes) -> Booster:
    xgboost = needed("xgboost", path)
    own = tuple(int(part) for part in xgboost.__version__.split(".")[:2])
    saved = [(int(a), int(b)) if a else (c[0], d[0]) for a, b, c, d in _SAVED_BY.findall(data)]
    if not saved:
        raise Failure(f"{path} is no model that XGBoost saved: it has no version")
    if max(saved) > own:
        later = ".".join(map(str, max(saved)))
        raise Failure(
            f"XGBoost {later} saved {path}, which XGBoost {xgboost.__version__} may misread: pip "
            f"install 'xgboost>={later}'"
        )
    booster = xgboost.Booster({"nthread": 1}, model_file=path)
    if booster.attr("best_iteration") is not None:
        raise Failure(f"{path} was stopped early, and its last trees may count: {_IN_PYTHON}")
    if "c" in (booster.feature_types or ()):
        raise Failure(f"{path} has categories, which noise cannot change: {_IN_PYTHON}")
    return booster


def _lightgbm(path: str, data: bytes) -> Function:
    lightgbm = needed("lightgbm", path)
    if not data.startswith(b"tree"):
        raise Failure(f"{path} is no model that LightGBM saved")
    if re.search(rb"^num_cat=[1-9]", data, re.MULTILINE):
        raise Failure(f"{path} has categories, which noise cannot change: {_IN_PYTHON}")
    booster = lightgbm.Booster(model_file=path)
    return functools.partial(booster.predict, num_threads=1)

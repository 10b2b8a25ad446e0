"""Files of trees, which XGBoost or LightGBM saved, on the command line."""

import shutil
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from kit import ASKED, X, certify_refused, package, parametrize, root, rows_of, table_of, write

ENGINES = root / "tests/engines"
CALLED = "write a .py file with a function that calls it as"


@pytest.fixture(autouse=True)
def inputs(folder):
    np.save("x.npy", X[:6])


def trees(x):
    """What trees.json says, as in tests/engines/models.h."""
    a, b, c = x.T
    first = np.where(a < 0.5, np.where(b < -0.25, 1, 2), np.where(c < 1, 4, 8))
    second = np.where(c < 0, np.where(a < 0.75, -0.5, 0.25), np.where(b < 0.5, 0.125, 16))
    return 0.5 + first + second


def refused(sentence, path):
    certify_refused(sentence, model=path)


def certified(path, *more, x="x.npy"):
    """Radii by the command."""
    return [float(row["radius"]) for row in table_of("certify", path, x, *ASKED, *more)]


def by_a_function(f):
    return rows_of(f, X[:6], samples=200, seed=7)["radius"].ravel().tolist()


# ---- without the packages
def test_a_package_that_is_missing_is_named(monkeypatch):
    write("t.txt", "tree\n")
    for path, needs in (
        *((ENGINES / name, "xgboost") for name in ("trees.json", "trees.ubj")),
        ("t.txt", "lightgbm"),
    ):
        monkeypatch.setitem(sys.modules, needs, None)
        refused(f"{path} needs {needs}: pip install {needs}", path)


def test_other_files_are_refused(monkeypatch):
    for name in ("xgboost", "lightgbm"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(__version__="3.2.0"))
    for name in ("newer.json", "newer.ubj"):
        later = rf"XGBoost 99.\d saved .*{name}, which XGBoost 3.2.0 may misread: pip"
        refused(later, ENGINES / name)
    for name, text, sentence in (
        ("a.json", "{}", "a.json is no model that XGBoost saved"),
        ("a.txt", "1 2 3", "a.txt is no model that LightGBM saved"),
        ("b.txt", "tree\nnum_cat=0\nnum_cat=2\n", f"b.txt has categories.*{CALLED}"),
    ):
        write(name, text)
        refused(sentence, name)
    refused("there is no file none.json", "none.json")
    certify_refused("--columns is for .onnx files", "--columns", "0:1", model="a.json")


# ---- with them
@parametrize("name", "trees.json", "trees.ubj")
def test_trees_of_xgboost(name):
    package("xgboost")
    shutil.copy(ENGINES / name, name)
    assert certified(name) == certified(name, "--jobs", 2) == by_a_function(trees)


def test_early_stopping_and_categories_of_xgboost_are_refused():
    xgboost = package("xgboost")
    y = trees(X)
    data = xgboost.DMatrix(X, y)
    quiet = dict(evals=[(data, "x")], verbose_eval=False)
    stopped = xgboost.train({"nthread": 1}, data, 3, early_stopping_rounds=2, **quiet)
    stopped.save_model("stopped.json")
    refused(f"stopped.json was stopped early.*{CALLED}", "stopped.json")
    coded = xgboost.DMatrix(np.abs(X).round(), y, feature_types=["q", "q", "c"])
    options = {"nthread": 1, "tree_method": "hist"}
    xgboost.train(options, coded, 2).save_model("coded.ubj")
    refused(f"coded.ubj has categories.*{CALLED}", "coded.ubj")
    write("cut.json", (ENGINES / "trees.json").read_text()[:-40] + '"version":[1,6,0]')
    refused("cut.json cannot be opened: XGBoostError", "cut.json")


def test_trees_of_lightgbm_take_columns_by_their_names():
    lightgbm, pandas = package("lightgbm"), package("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    quiet = dict(n_estimators=9, min_child_samples=3, n_jobs=1, verbose=-1)
    fitted = lightgbm.LGBMRegressor(**quiet).fit(frame, trees(X))
    fitted.booster_.save_model("t.txt")
    wanted = by_a_function(lambda x: fitted.booster_.predict(x, num_threads=1))
    assert certified("t.txt") == wanted
    frame[["c", "a", "b"]].head(6).to_csv("turned.csv", index=False)
    assert certified("t.txt", x="turned.csv") == wanted

"""Features that hold marks, and not quantities: refused where a model says so, said otherwise."""

import functools

import numpy as np
import pytest

import kit
from kit import ASKED, certify_refused, command_refused, no_warnings, package, parametrize
from kit import rows_of, said, table_of
from certreg import Calibrated, Estimator, Inputs, check_model, tune_scale
from certreg.inputs import suspected_categorical, told_by

RANDOM = np.random.default_rng(0)
CODES = RANDOM.integers(0, 4, 200)
X = np.c_[RANDOM.normal(size=(200, 2)), CODES].astype(np.float32)
Y = X[:, 0] + np.array([0, 150, -100, 80])[CODES]
EXACT_BY_MODEL = "categories by the model's description in the features 2: they get no noise"
CATEGORIES = "feature 2 of the input holds categories.*: give it scale 0"


class Fitted:
    """A model that says of its third feature that it is a category, as scikit-learn's do."""

    is_categorical_ = np.array([False, False, True])

    def predict(self, x):
        x = np.asarray(x)
        return x[:, 0] + 100 * np.floor(x[:, 2])


class Searched:
    best_estimator_ = Fitted()
    predict = best_estimator_.predict


def of_lightgbm():
    quiet = dict(n_estimators=20, verbose=-1, n_jobs=1)
    return package("lightgbm").LGBMRegressor(**quiet).fit(X, Y, categorical_feature=[2])


def of_xgboost(kinds="qqc"):
    xgboost = package("xgboost")
    data = xgboost.DMatrix(X, Y, feature_types=[*kinds])
    return xgboost.train({"nthread": 1, "tree_method": "hist"}, data, 40)


def of_scikit_learn():
    trees = package("sklearn.ensemble").HistGradientBoostingRegressor
    return trees(max_iter=9, categorical_features=[2]).fit(X, Y)


MAKERS = (
    Fitted,
    Searched,
    lambda: Fitted().predict,
    of_lightgbm,
    lambda: of_lightgbm().booster_,
    lambda: functools.partial(of_lightgbm().booster_.predict, num_threads=1),
    of_xgboost,
    of_scikit_learn,
)


# ---- what models say
@parametrize("make", *MAKERS)
def test_categories_get_no_noise(make):
    model, exact = make(), [1, 1, 0]
    for call in (
        lambda: rows_of(model, X[:5], scale=1),
        lambda: rows_of(lambda: model, X[:5]),  # a factory
        lambda: rows_of(model, X[:5], scale=[0, 1, 0.1]),
        lambda: Estimator(model, 3, 100),
        lambda: Calibrated(model, X, Y, 0.1, samples=5, scale=1),
        lambda: tune_scale(model, X, [0.1], 50.0, samples=100, progress=False, scale=1),
    ):
        with pytest.raises(ValueError, match=CATEGORIES):
            call()
    found = check_model(model, X, sigma=0.1, scale=1)
    assert [f.kind for f in found][-1] == "marks" and "categories" in found[-1].text
    found = check_model(model, X, sigma=0.01)
    assert "categories by the model's description in the features 2" in str(found)
    assert "marks" not in [f.kind for f in found]
    with pytest.warns(UserWarning, match=EXACT_BY_MODEL):
        assert rows_of(model, X[:9], 0.01, 50).sampling.scale.tolist() == exact
    with pytest.warns(UserWarning, match=EXACT_BY_MODEL):
        Calibrated(model, X, Y, 0.1, samples=5)
    with pytest.warns(UserWarning, match=EXACT_BY_MODEL):
        tuned = tune_scale(model, X, [0.5], 0.5, samples=100, progress=False)
    assert tuned.scale[2] == 0 < tuned.scale[0]
    with no_warnings():
        rows = rows_of(model, X[:9], 0.01, 50, scale=exact)
    wanted = np.asarray(kit.certreg.as_model(model)(X[:9])).ravel()
    assert np.abs(rows["prediction"].ravel() - wanted).max() < 20 and rows.radius.min() > 0
    assert "marks" not in [f.kind for f in check_model(model, X, scale=exact, sigma=0.01)]


def test_an_indicator_is_no_quantity():
    with pytest.raises(ValueError, match="feature 1 of the input holds an indicator"):
        rows_of(of_xgboost("qiq"), X[:5], scale=1)


def test_columns_of_a_table_have_their_names():
    """Also in another order than that of the model."""

    class Named(Fitted):
        feature_names_in_ = np.array(["a", "b", "town"], object)

    frame = package("pandas").DataFrame(X[:9], columns=["a", "b", "town"])[["town", "b", "a"]]
    for call in (
        lambda: rows_of(Named(), frame, scale=1),
        lambda: Estimator(Named(), frame, 100),
    ):
        with pytest.raises(ValueError, match="column 'town' holds categories"):
            call()
    assert rows_of(Named(), frame, 0.1, 50, scale={"a": 1}).radius.min() > 0
    with pytest.warns(UserWarning, match="in the features 'town': they get no noise"):
        assert rows_of(Named(), frame, 0.1, 50).sampling.scale.tolist() == [0, 1, 1]


def missing(value=-999.0):
    """A model of XGBoost to which a number marks a missing value, and inputs."""
    x, lost = X.copy(), np.arange(200) % 2 == 0
    x[lost, 0] = -999
    make, y = package("xgboost").XGBRegressor, np.where(lost, 200, 50 * X[:, 0])
    return make(n_estimators=20, max_depth=3, missing=value, n_jobs=1).fit(x, y), x


def test_a_number_that_marks_missing_cells_stays():
    """It is in the rows that the model gets, as it is, and the radius is about the other cells."""
    model, x = missing()
    seen = []

    class Watched(type(model)):
        def predict(self, rows, **more):
            seen.append(np.array(rows)[:, 0])
            return super().predict(rows, **more)

    booster = functools.partial(model.get_booster().inplace_predict, missing=-999)
    watched = Watched()
    watched.__dict__.update(vars(model))
    for one in (watched, booster, lambda: booster):
        seen.clear()
        with no_warnings():
            rows = rows_of(one, x[:8], 0.01, 20, scale=1, inputs=Inputs.of(model, x, 1))
        assert np.abs(rows["prediction"].ravel() - model.predict(x[:8])).max() < 20
        assert rows.radius.min() > 0
        there = np.concatenate(seen) if seen else np.array([-999, 1])
        assert ((there == -999) | (there > -9)).all() and (there == -999).any()
    remarks = "".join(rows_of(model, x[:8]).remarks())
    assert "cells are missing in 4 of 8 rows, in feature 0" in remarks
    with Estimator(model, 3, 100, seed=1) as e:
        e.begin(x[0], 0.1)
        assert (e.draw(0, 9)[:, 0] == -999).all()
        e.begin(x[1], 0.1)
        assert (e.draw(0, 9)[1:, 0] != x[1, 0]).all()
    intervals = Calibrated(model, x, Y, 0.1, samples=5, seed=1, inputs_seed=2)
    assert intervals.interval(x[0], 0).hi > 0


def test_marks_differ_from_each_other_and_from_nan():
    """Certificates and records know an input by the bits that the library gets."""
    told, z = Inputs((2,)), np.float32([[-1, 3], [-2, 3], [np.nan, 3], [5, 3]])
    told.marks = {0: (-1.0,), 1: (-2.0, -3.0)}
    filled = [told._missing_in(one).filled(one).tobytes() for one in np.r_[z, z[:, ::-1]]]
    assert len(set(filled)) == 8 and filled[3] == z[3].tobytes()
    assert filled[1] == z[1].tobytes()  # -2 marks nothing in the first column


def test_files_of_xgboost_are_told_what_is_missing(folder):
    """They do not keep it."""
    model, x = missing()
    model.save_model("m.json")
    np.save("x.npy", x[:6])
    np.save("scale.npy", [0.0, 1, 1])
    more = ("--missing", "-999", "--tolerance", "20")
    words = ("certify", "m.json", "x.npy", *ASKED, "--scale", "scale.npy")
    wanted, far = model.predict(x[:6]), []
    for some in (more, ("--tolerance", "20")):
        found = [float(row["prediction"]) for row in table_of(*words, *some)]
        far.append(np.abs(found - wanted).max())
    assert far[0] < 20 < far[1]
    said(*words, *more, "--resume", "r.sqlite", "-q")
    command_refused(4, "model_id", *words, "--tolerance", "20", "--resume", "r.sqlite", "-q")
    for name, value, sentence in (
        ("m.onnx", "0", "--missing is for files of XGBoost: leave it out"),
        ("m.json", "none", "--missing is 'none'; it must be a number"),
    ):
        certify_refused(sentence, "--missing", value, model=name)


# ---- what values look like
COUNT = np.arange(60)
LOST = np.where(COUNT % 4 == 0, -999, COUNT / 7)
EXACT = (1, 0, 1)


def table(column, rows=60):
    """Features in which one is this column."""
    return np.c_[X[:rows, 0], column[:rows], X[:rows, 1]]


@parametrize(
    "column, rows, sentence",
    (LOST, 60, "^-999 in many rows, far from all other values, in the features 1: if these are"),
    (np.where(COUNT % 9 == 0, 99999, COUNT), 60, "^99999 in many rows"),
    (COUNT % 2, 20, "^only 0 and 1 in the features 1: .* give them scale 0"),
    (COUNT % 2, 60, "^only 0 and 1"),
    (3 + COUNT % 2, 60, "^at most two values in the features 1"),
    (np.full(60, 7), 60, "^at most two values"),
    (3 + COUNT % 2, 49, None),
    (COUNT % 2, 4, None),
    (np.ones(60), 40, None),
    (COUNT % 3, 60, None),
    (np.where(COUNT == 5, -999, COUNT / 7), 60, None),  # a single row
    (np.where(COUNT % 2, 0, 1 + COUNT / 7), 60, None),  # many are 0, as of rain
    (COUNT % 6, 60, None),
    (np.where(COUNT % 4, 3, COUNT / 7), 60, None),  # in between
)
def test_values_that_may_be_marks_are_found(column, rows, sentence):
    found = list(suspected_categorical(table(column, rows), None, None))
    assert len(found) == (sentence is not None)
    given, first = table(column, rows), lambda x: x[:, 0]
    with pytest.warns(UserWarning, match=sentence) if sentence else no_warnings():
        rows_of(first, given, samples=50, scale=1)
    marks = [f.text for f in check_model(first, given, sigma=0.1, scale=1) if f.kind == "marks"]
    assert marks == found == list(suspected_categorical(given, None, None))
    for other, scale in ((given, EXACT), (given[:, :, None], None), (np.tile(given, 30), None)):
        assert not list(suspected_categorical(other, scale, None))  # the last two are no tables


def test_columns_with_an_equal_reason_are_named_together():
    """Also those of which these rows have one value only."""
    kinds = np.eye(4)[COUNT % 3]
    frame = package("pandas").DataFrame(kinds, columns=["north", "south", "east", "west"])
    frame["area"] = RANDOM.normal(size=60)
    with pytest.warns(UserWarning, match="only 0 and 1 .* 'north', 'south', 'east', 'west': if"):
        rows_of(lambda f: f["area"], frame, samples=50, scale=1)
    with no_warnings():
        rows_of(lambda f: f["area"], frame.assign(west=0), samples=50, scale={"area": 1})


def test_the_command_says_it_once(models):
    np.save("x.npy", table(LOST))
    np.save("x0.npy", LOST)
    words = ("certify", "models.py:product", "x.npy", *ASKED)
    with no_warnings():
        assert said(*words, "-q")[1] == ""
        _, err = said(*words)
    assert err.startswith("certreg: -999 in many rows") and err.count("many rows") == 1
    with no_warnings():
        tuned = said("scale", *words[1:], "--rounds", 1, "--labels", "x0.npy")[1]
    assert tuned.count("many rows, far") == 1
    np.save("scale.npy", EXACT)
    assert "many rows" not in said(*words, "--scale", "scale.npy")[1]
    out, err = said("check", "models.py:product", "x.npy", "--sigma", ".1", status=1)
    assert "marks: -999 in many" in out and err == ""


class Untold:
    """A step without n_features_in_."""

    def fit(self, x, y=None):
        return self

    def transform(self, x):
        return x


def in_pipelines():
    """Models that treat the third feature as a category behind other steps, or in an ensemble."""
    package("sklearn")
    from sklearn.compose import TransformedTargetRegressor, make_column_transformer
    from sklearn.ensemble import BaggingRegressor, VotingRegressor
    from sklearn.impute import KNNImputer, SimpleImputer
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    trees, impute = of_scikit_learn(), SimpleImputer()
    encoded = make_column_transformer((OneHotEncoder(), [2]), remainder="passthrough")
    several = VotingRegressor([("line", LinearRegression()), ("trees", trees)])
    search = GridSearchCV(trees, {"max_iter": [5]}, cv=2)
    yield make_pipeline(impute, "passthrough", trees)
    yield Pipeline([("none", None), ("trees", trees)])
    yield make_pipeline(make_pipeline(impute, KNNImputer()), trees)
    yield make_pipeline(impute, several)
    yield make_pipeline(impute, encoded, LinearRegression())
    yield make_pipeline(impute, search)
    yield VotingRegressor([("search", TransformedTargetRegressor(search))])
    scaled = make_column_transformer((StandardScaler(), [0, 1]), ("passthrough", [2]))
    yield make_pipeline(scaled, trees)
    scaled = make_column_transformer((StandardScaler(), [1]), (impute, [0, 2]))
    yield make_pipeline(scaled, trees)  # which returns 1, 0, 2
    inner = make_pipeline(encoded, LinearRegression())
    yield BaggingRegressor(inner, n_estimators=2)
    plain = Pipeline([("none", "passthrough"), ("trees", trees)])  # has no n_features_in_
    yield VotingRegressor([("plain", plain), ("trees", trees)])
    yield make_pipeline(Pipeline([("none", "passthrough"), ("impute", impute)]), trees)
    prepared = make_pipeline(Untold(), StandardScaler())
    some = make_column_transformer((prepared, [0]), (impute, slice(1, None)), (impute, []))
    yield make_pipeline(some, trees)


def test_categories_behind_other_steps_get_no_noise():
    for model in in_pipelines():
        with pytest.warns(UserWarning, match=EXACT_BY_MODEL):
            assert rows_of(model.fit(X, Y), X[:60], samples=100).scale.tolist() == [1, 1, 0]
        with pytest.raises(ValueError, match=CATEGORIES):
            Estimator(model, 3, 100)


def test_steps_that_move_features_tell_nothing():
    package("sklearn")
    from sklearn.decomposition import PCA
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

    for step, kinds in (
        (PCA(), {}),
        (KBinsDiscretizer(encode="ordinal"), {}),  # the category is made of a quantity
        (StandardScaler(), {2: "categories"}),
        (SimpleImputer(add_indicator=True), {2: "categories"}),
    ):
        model = make_pipeline(step.fit(X), "passthrough", Fitted())
        assert told_by(model.predict, (3,), None).by_model == kinds
    lost = np.c_[X[:, :2], np.full(len(X), np.nan), X[:, 2]]
    with no_warnings():
        model = make_pipeline(SimpleImputer().fit(lost), "passthrough", Fitted())
    assert told_by(model.predict, (4,), None).by_model == {3: "categories"}  # the third is dropped

"""Smoothed models as estimators of scikit-learn."""

import pickle
import re
from functools import partial

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import estimator_checks

from certreg import CertregError
from certreg.regressor import SmoothedRegressor
from kit import package, parametrize, raising

random = np.random.default_rng(1)
X = random.normal(size=(400, 3)) * [1, 10, 0.1] + [0, 5, 1]
Y = X @ [1, 0.1, 0] + 0.1 * random.normal(size=400)
OLDER = partial(estimator_checks.check_estimator, generate_only=True)  # before scikit-learn 1.6
CHECKS = getattr(estimator_checks, "estimator_checks_generator", OLDER)
CHECKS = [
    (estimator, check)
    for share in (0, 0.2)
    for estimator, check in CHECKS(SmoothedRegressor(samples=11, calibration=share))
    if not share or not re.search("weight(_eq|s_inv)", str(check))  # no row moves to another share
]


@parametrize("number", *range(len(CHECKS)))
def test_it_keeps_the_rules_of_estimators(number):
    estimator, check = CHECKS[number]
    check(estimator)


def fitted(x=X, **more):
    return SmoothedRegressor(**{"sigma": 0.2, "random_state": 0, **more}).fit(x, Y)


def test_it_predicts_under_noise_in_units_of_the_spread():
    model = fitted()
    np.testing.assert_allclose(model.scale_, X.std(0), rtol=0.15)
    assert model.score(X, Y) > 0.95
    assert isinstance(model.regressor_, LinearRegression)


def test_noise_is_fresh_unless_the_state_is_given():
    for state, equal in ((0, True), (None, False)):
        model = fitted(random_state=state)
        assert np.array_equal(model.predict(X[:5]), model.predict(X[:5])) == equal
    np.testing.assert_array_equal(fitted().predict(X[4:5]), fitted().predict(X[:5])[4:])
    model = fitted(scale=None, random_state=None)  # without a scale the inputs decide nothing
    rows = model.certify(np.where([True, True, False], X[:60], 0.5), 5.0, samples=300)
    assert rows.scale.tolist() == model.scale_.tolist() == [1, 1, 1]


def test_what_is_served_is_what_was_certified():
    model = fitted(samples=51, failure_rate=0.05, random_state=None)
    rows = model.certify(X[:8], 0.6, samples=2000)
    radius, told = rows.radius, rows["prediction"][:, 0, 0]
    assert np.all(radius > 0)
    moved = X[:8] + model.scale_ * [0.99, 0, 0] * radius[:, None]
    missed = [np.abs(model.predict(moved) - told) >= 0.6 for _ in range(50)]
    assert np.mean(missed) <= 0.05
    assert np.all(radius > fitted(samples=51, pairs=False).certify(X[:8], 0.6).radius)


def test_an_array_has_the_tolerance_of_each_row():
    pandas = package("pandas")
    model, each = fitted(), np.linspace(0.3, 0.9, 9)
    rows = model.certify(X[:9], each)
    alone = [model.certify(X[:9], t).radius[i] for i, t in enumerate(each)]
    assert rows.radius.tolist() == alone
    assert model.certify(X[:9], [0.3, 0.9])["radius"].shape == (9, 1, 2)
    with pytest.raises(ValueError, match="has 9 numbers, one for each row of X: an array"):
        model.certify(X[:9], list(each))
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model, named = fitted(x=frame), pandas.Series(each)
    rows = model.certify(frame[:9], named)
    assert rows.radius.tolist() == model.certify(frame[:9], each).radius.tolist()
    for wrong in (named[::-1], named.rename(lambda i: i + 1)):
        with pytest.raises(ValueError, match="tolerance has another index than X"):
            model.certify(frame[:9], wrong)


def test_intervals_are_arrays_and_contain_the_truth():
    model = fitted(calibration=0.5)
    ends = model.predict_interval(X, alpha=0.2)
    assert ends.shape == (400, 2)
    assert 0.7 < np.mean((ends[:, 0] <= Y) & (Y <= ends[:, 1])) < 0.95
    wider = model.predict_interval(X[:5], radius=0.1, alpha=0.2)
    assert np.all(np.diff(wider) > np.diff(ends[:5]))
    with pytest.raises(ValueError, match="calibration is 0"):
        fitted(calibration=0).predict_interval(X)
    with pytest.raises(ValueError, match="alpha is 0"):
        model.predict_interval(X[:1], alpha=0)


@parametrize(
    "name, wrong, sentence",
    *(("sigma", wrong, f"sigma is {wrong}") for wrong in (0, -1, np.inf, np.nan)),
    *(("calibration", c, f"is {c}; it must be a share") for c in (1, -0.1, 1.5, np.nan)),
)
def test_wrong_settings_are_refused_before_the_fit(name, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted(**{name: wrong})


def test_intervals_are_about_the_parameters_of_predictions():
    model = fitted(calibration=0.5)
    before = model.predict_interval(X[:4])
    after = model.set_params(sigma=2.0).predict_interval(X[:4])
    assert np.all(np.diff(after) > 2 * np.diff(before))


def test_a_copy_and_a_file_are_the_same_model():
    model = fitted(sigma=0.3)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X[:3]), model.predict(X[:3]))
    np.testing.assert_array_equal(again.predict_interval(X[:3]), model.predict_interval(X[:3]))
    assert clone(model).get_params()["sigma"] == 0.3


class Interrupted(LinearRegression):
    def fit(self, x, y):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    "call, at",
    [
        (lambda model: model.set_params(regressor=Interrupted()).fit(X[:, :2], Y), 0),
        (lambda model: model.predict(X[:9]), 1),
        (lambda model: model.predict_interval(X[:9]), 1),  # of the calibration
        (lambda model: model.predict_interval(X[:9]), 2),
    ],
)
def test_it_can_be_used_after_an_interrupt(call, at):
    model, other = fitted(), fitted()
    model.regressor_.predict = raising(at, KeyboardInterrupt(), model.regressor_.predict)
    with pytest.raises(KeyboardInterrupt):
        call(model)
    del model.regressor_.predict
    for ask in ("predict", "predict_interval"):
        np.testing.assert_array_equal(getattr(model, ask)(X[:9]), getattr(other, ask)(X[:9]))


def test_it_can_be_searched_and_put_into_pipelines():
    pipe = make_pipeline(StandardScaler(), SmoothedRegressor(samples=11, scale=None))
    search = GridSearchCV(pipe, {"smoothedregressor__sigma": [0.1, 2.0]}, cv=2).fit(X, Y)
    assert search.best_params_ == {"smoothedregressor__sigma": 0.1}


def test_tables_have_the_columns_of_fit_and_numbers():
    pandas = package("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = SmoothedRegressor(samples=11).fit(frame, Y)
    for other in (frame.rename(columns={"a": "z"}), frame[["a", "b"]]):
        with pytest.raises(ValueError, match="fit had a DataFrame.*'a', 'b', 'c'"):
            model.predict(other[:3])
    with pytest.raises(ValueError, match="; missing or too many: a, z$"):
        model.predict(frame[:3].rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="row 2 has a missing cell: .*contains NaN"):
        model.predict(frame[:3].assign(b=[1.0, 2.0, np.nan]))
    with pytest.raises(ValueError, match="column 'b' is inf in row 2"):
        model.predict(frame[:3].assign(b=[1.0, 2.0, np.inf]))
    with pytest.raises(ValueError, match="should be a 1d array"):
        model.fit(frame, np.c_[Y, Y])
    assert model.fit(X[:, :2], Y).predict(X[:3, :2]).shape == (3,)


UNNAMED = "X does not have valid feature names, but SmoothedRegressor was fitted with feature names"


@parametrize("scale", "std", None, [1.0, 10.0, 0.1])
def test_an_array_goes_by_the_columns_of_fit(scale):
    pandas = package("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(b=(X[:, 1] * 10).astype(int))
    model = SmoothedRegressor(scale=scale, samples=11, random_state=0).fit(frame, Y)
    with pytest.warns(UserWarning, match=UNNAMED) as caught:
        found = model.predict(frame.to_numpy()[:3])
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(found, model.predict(frame.astype({"b": float})[:3]))
    np.testing.assert_array_equal(found, model.predict(frame[["c", "a", "b"]][:3]))
    with pytest.warns(UserWarning, match=UNNAMED):
        radius = model.certify(frame.to_numpy()[:3], 0.5).radius
    np.testing.assert_array_equal(radius, model.certify(frame[:3], 0.5).radius)
    for wrong in (X[:, :2], np.c_[X, X]):
        with pytest.raises(ValueError, match="features, but SmoothedRegressor is expecting 3"):
            model.predict(wrong)


def test_targets_in_another_order_of_the_index_are_refused():
    """As after a shuffle and a scaler that counts the rows anew, which keeps positions right."""
    pandas = package("pandas")
    frame, y = pandas.DataFrame(X, columns=["a", "b", "c"]), pandas.Series(Y)
    shuffled = y.set_axis(y.index[::-1])
    models = [SmoothedRegressor(random_state=0).fit(frame, t) for t in (y, shuffled.to_numpy())]
    np.testing.assert_array_equal(*(model.predict(frame[:4]) for model in models))
    for wrong in (shuffled, y.rename(lambda i: i + 1)):
        with pytest.raises(ValueError, match="y has another index than X"):
            SmoothedRegressor().fit(frame, wrong)
        with pytest.raises(ValueError, match="sample_weight has another index than X"):
            SmoothedRegressor().fit(frame, y, sample_weight=wrong)


@parametrize("dtype", "category", object, str)
def test_an_array_may_hold_labels(dtype):
    pandas = package("pandas")
    kind = pandas.Series(["u", "v"] * 200, dtype=dtype)
    frame = pandas.DataFrame({"a": X[:, 0], "kind": kind})
    encoder = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("kind", encoder, ["kind"])], remainder="passthrough")
    model = SmoothedRegressor(make_pipeline(columns, LinearRegression()), random_state=0)
    model.fit(frame, Y + 5 * (kind == "u"))
    with pytest.warns(UserWarning, match=UNNAMED):
        found = model.predict(np.array([[0.5, "u"], [0.5, "v"]], object))
        assert np.isfinite(model.predict(np.zeros((1, 2)))).all()  # as MAPIE calls it
    assert 3 < found[0] - found[1] < 7
    assert found.tolist() == model.predict(frame.assign(a=0.5)[:2]).tolist()


@parametrize("row", *range(0, 40, 5))
def test_fit_names_a_missing_value_by_its_row_in_either_share(row):
    pandas = package("pandas")
    values = X[:40].copy()
    values[row, 1] = np.nan
    for given in (values, pandas.DataFrame(values, columns=["a", "b", "c"])):
        for scale in ("std", None):
            with pytest.raises(ValueError, match=f"row {row} has a missing cell: .*contains NaN"):
                SmoothedRegressor(scale=scale, random_state=0).fit(given, Y[:40])


def test_errors_name_the_row_of_the_callers_table():
    values, row = X.copy(), fitted()._kept[2][3]
    values[row, 0] = 1e30  # too large for its noise
    model = SmoothedRegressor(scale=[1.0, 1.0, 1.0], random_state=0, check=False).fit(values, Y)
    with pytest.raises(ValueError, match=f"^row {row} of fit's X: "):
        model.predict_interval(X[:2])
    with pytest.raises(CertregError, match="^row 1: "):
        model.predict(np.r_[X[:1], values[row : row + 1]])


def test_weights_reach_the_regressor_and_the_scale():
    weights = np.arange(400) % 3
    for scale in ("std", None):
        one = fitted(scale=scale, calibration=0).fit(X, Y, weights)
        repeated = np.repeat(X, weights, 0), np.repeat(Y, weights)
        two = fitted(scale=scale, calibration=0).fit(*repeated)
        np.testing.assert_allclose(one.regressor_.coef_, two.regressor_.coef_)
        if scale:
            np.testing.assert_allclose(one.scale_, two.scale_)
    assert fitted(calibration=0.5).fit(X, Y, weights).predict_interval(X[:3]).shape == (3, 2)
    assert fitted().fit(X, Y, np.ones(400)).predict(X[:1]) == fitted().predict(X[:1])
    pandas = package("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(count=np.arange(400))
    frame["flag"] = np.arange(400) % 2
    with pytest.warns(UserWarning, match="'flag': they get no noise"):
        model = SmoothedRegressor(calibration=0).fit(frame, Y, pandas.Series(weights))
    np.testing.assert_allclose(model.scale_[:3], fitted(calibration=0).fit(X, Y, weights).scale_)
    assert model.scale_["count"] > 0 == model.scale_["flag"]  # integers get noise too


@pytest.mark.parametrize(
    "more, weights, error, text",
    [
        ({"scale": "iqr"}, np.ones(400), ValueError, "scale is 'iqr'; with sample_weight"),
        ({"regressor": KNeighborsRegressor()}, np.ones(400), TypeError, "Regressor.fit takes no"),
        ({}, np.ones(399), ValueError, "sample_weight.shape"),
        ({}, -np.ones(400), ValueError, "Negative values in data passed to `sample_weight`"),
        ({}, np.r_[np.nan, np.ones(399)], ValueError, "sample_weight contains NaN"),
    ],
)
def test_wrong_weights_are_named(more, weights, error, text):
    with pytest.raises(error, match=text):
        SmoothedRegressor(**more).fit(X, Y, weights)


def test_the_names_of_scikit_learn_reach_certify_rows():
    model = fitted(random_state=None)
    one = model.certify(X[:3], 0.5, random_state=6, n_jobs=None, verbose=0)
    two = model.certify(X[:3], 0.5, seed=7, jobs=1, progress=False)
    np.testing.assert_array_equal(one.radius, two.radius)
    own = (dict(seed=7), dict(random_state=7), dict(sigma=0.1), dict(questions=1))
    for more in (*own, dict(scale=None), dict(lo=None), dict(hi=None)):
        with pytest.raises(TypeError, match="certify takes no .*, because it sets it itself"):
            fitted(random_state=3).certify(X[:3], 0.5, **more)


def test_classifiers_and_targets_that_float32_changes_are_refused():
    with pytest.raises(TypeError, match="classifier .LogisticRegression.*predict_proba"):
        SmoothedRegressor(LogisticRegression()).fit(X, Y > 0)
    with pytest.raises(ValueError, match="y is rounded to float32 by up to .*: subtract a"):
        SmoothedRegressor().fit(X, Y + 1.7e9)

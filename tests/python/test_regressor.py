"""Smoothed models as estimators of scikit-learn."""

import pickle
from functools import partial

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

from certreg.regressor import SmoothedRegressor
from kit import raising

random = np.random.default_rng(1)
X = random.normal(size=(400, 3)) * [1, 10, 0.1] + [0, 5, 1]
Y = X @ [1, 0.1, 0] + 0.1 * random.normal(size=400)
OLDER = partial(estimator_checks.check_estimator, generate_only=True)  # before scikit-learn 1.6
CHECKS = getattr(estimator_checks, "estimator_checks_generator", OLDER)
CHECKS = list(CHECKS(SmoothedRegressor(samples=11)))


@pytest.mark.parametrize("number", range(len(CHECKS)))
def test_it_keeps_the_rules_of_estimators(number):
    estimator, check = CHECKS[number]
    check(estimator)


def fitted(**more):
    return SmoothedRegressor(**{"sigma": 0.2, "random_state": 0, **more}).fit(X, Y)


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


def test_what_is_served_is_what_was_certified():
    model = fitted(samples=51, failure_rate=0.05, random_state=None)
    rows = model.certify(X[:8], 0.6, samples=2000)
    radius, told = rows.radius, rows["prediction"][:, 0, 0]
    assert np.all(radius > 0)
    moved = X[:8] + model.scale_ * [0.99, 0, 0] * radius[:, None]
    missed = [np.abs(model.predict(moved) - told) >= 0.6 for _ in range(50)]
    assert np.mean(missed) <= 0.05
    assert np.all(radius > fitted(samples=51, pairs=False).certify(X[:8], 0.6).radius)


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


@pytest.mark.parametrize("wrong", [0, -1, np.inf, np.nan])
def test_a_sigma_that_is_no_noise_level_is_refused_before_the_fit(wrong):
    with pytest.raises(ValueError, match=f"sigma is {wrong}"):
        fitted(sigma=wrong)


@pytest.mark.parametrize("wrong", [1, -0.1, 1.5, float("nan")])
def test_calibration_is_a_share(wrong):
    with pytest.raises(ValueError, match=f"calibration is {wrong}; it must be a share"):
        fitted(calibration=wrong)


def test_intervals_are_about_the_parameters_of_predictions():
    model = fitted(calibration=0.5)
    before = model.predict_interval(X[:4])
    after = model.set_params(sigma=2.0).predict_interval(X[:4])
    assert np.all(np.diff(after) > 2 * np.diff(before))


@pytest.mark.parametrize("name", ["scale", "lo", "hi"])
def test_no_certificate_is_about_another_model_than_that_served(name):
    with pytest.raises(TypeError, match=name):
        fitted().certify(X[:1], 0.5, **{name: None})


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
        (lambda model: model.predict(X[:9]), 5),
        (lambda model: model.predict_interval(X[:9]), 30),  # of 80 calibration points
        (lambda model: model.predict_interval(X[:9]), 85),
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


def test_tables_go_through_with_their_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(kind=["u", "v"] * 200)
    frame = frame.iloc[:, [3, 0, 1, 2]]

    class ByName(GradientBoostingRegressor):
        def fit(self, table, y):
            assert list(table.columns) == ["kind", "a", "b", "c"]
            return super().fit(self._numbers(table), y)

        def predict(self, table):
            return super().predict(self._numbers(table))

        @staticmethod
        def _numbers(table):
            return table[["a", "b", "c"]].to_numpy() + (table["kind"] == "u").to_numpy()[:, None]

    model = SmoothedRegressor(ByName(n_estimators=30), sigma=0.1).fit(frame, Y)
    assert model.predict(frame[:4]).shape == (4,)
    assert model.predict_interval(frame[:4]).shape == (4, 2)
    assert len(model.certify(frame[:4], 1.0)["radius"]) == 4


def test_tables_have_the_columns_of_fit_and_numbers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = SmoothedRegressor(samples=11).fit(frame, Y)
    for other in (frame.rename(columns={"a": "z"}), frame[["a", "b"]], X):
        with pytest.raises(ValueError, match="fit had a DataFrame.*'a', 'b', 'c'"):
            model.predict(other[:3])
    with pytest.raises(ValueError, match="; missing or too many: a, z$"):
        model.predict(frame[:3].rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="column 'b' is nan in row 2"):
        model.predict(frame[:3].assign(b=[1.0, 2.0, np.nan]))
    with pytest.raises(ValueError, match="should be a 1d array"):
        model.fit(frame, np.c_[Y, Y])
    assert model.fit(X[:, :2], Y).predict(X[:3, :2]).shape == (3,)


def test_targets_go_by_their_index():
    pandas = pytest.importorskip("pandas")
    frame, y = pandas.DataFrame(X, columns=["a", "b", "c"]), pandas.Series(Y)
    models = [SmoothedRegressor(random_state=0).fit(frame, t) for t in (y, y[::-1])]
    np.testing.assert_array_equal(*(model.predict(frame[:4]) for model in models))
    with pytest.raises(ValueError, match="y has another index than X"):
        SmoothedRegressor().fit(frame, y.rename(lambda i: i + 1))

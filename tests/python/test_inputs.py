"""Inputs that are described once, and features that hold marks, and not quantities: refused if a
model says so, said otherwise."""

import functools
import json

import numpy as np
import pytest

import kit
from kit import ASKED, bits, certify_refused, command_refused, no_warnings, package, parametrize
from kit import rows_of, said, table_of
from certreg import Calibrated, Estimator, Inputs, certify_rows, check_model, compare_denoised
from certreg import tune_scale, within
from certreg.inputs import suspected_categorical, told_by

RANDOM = np.random.default_rng(3)
X = np.c_[RANDOM.normal(size=(300, 2)), RANDOM.integers(0, 2, 300)].astype(np.float32)
ONCE = dict(seed=7, progress=False, samples=200)


def first(x):
    return np.asarray(x)[:, 0] + 9 * (np.asarray(x)[:, 2] > 0.5)


def of_sklearn(name, *arguments, **more):
    """What this class or function of scikit-learn makes: impute.SimpleImputer, for example."""
    place, _, kind = name.rpartition(".")
    return getattr(package(f"sklearn.{place}"), kind)(*arguments, **more)


imputer = functools.partial(of_sklearn, "impute.SimpleImputer")
piped = functools.partial(of_sklearn, "pipeline.make_pipeline")
scaler = functools.partial(of_sklearn, "preprocessing.StandardScaler")
columns_of = functools.partial(of_sklearn, "compose.make_column_transformer")
ridge = functools.partial(of_sklearn, "linear_model.Ridge")


def frame():
    names = dict(zip("abc", X.T.astype(float)))
    towns = np.array(["x", "y", "z"])[np.arange(300) % 3]
    return package("pandas").DataFrame(names).assign(town=towns)


def of_frames(t):
    return t["a"].to_numpy() + 9 * (t["c"] > 0.5) + (t["town"] == "x")


def fitted(table):
    """A pipeline in which -1 marks a missing cell of the first column."""
    numbers = piped(imputer(missing_values=-1.0), scaler())
    some = columns_of((numbers, ["a", "b"]), (of_sklearn("preprocessing.OneHotEncoder"), ["town"]))
    return piped(some, ridge()).fit(table, X[:, 0])


def marked():
    """A model to which -999 marks missing cells, and inputs in which every second row has one."""
    x = X.copy()
    x[::2, 0] = -999
    return piped(imputer(missing_values=-999), ridge()).fit(x, X[:, 1]), x


# ---- one row, one certificate
def test_a_row_has_one_certificate_alone_and_among_all():
    table = frame()
    inputs = Inputs.of(None, table)
    assert inputs.scale.tolist() == [1, 1, 0, 0] and inputs.names == ("a", "b", "c", "town")
    assert inputs.kinds == {2: "at most two values", 3: "no numbers"}
    with no_warnings():
        whole = certify_rows(of_frames, table[:60], 0.3, 0.5, inputs=inputs, **ONCE)
        for i in (0, 1, 59):
            one = table.iloc[[i]][["town", "c", "a", "b"]]  # in another order
            alone = certify_rows(of_frames, one, 0.3, 0.5, inputs=inputs, noise_id=i, **ONCE)
            assert alone.scale.tolist() == inputs.scale.tolist()
            assert alone.inputs.names == inputs.names
            assert alone.radius == whole.radius[i] and alone.prediction == whole.prediction[i]
    assert whole.radius.min() > 0 and whole.inputs.rows == 300


def test_without_a_description_the_rows_decide_and_say_so():
    with pytest.warns(UserWarning, match="a table of 50 rows would decide it otherwise"):
        few = rows_of(first, X[:4])
    with pytest.warns(UserWarning, match="at most two values in the features 2: they get no noise"):
        many = rows_of(first, X[:60])
    assert few.scale.tolist() == [1, 1, 1] and many.scale.tolist() == [1, 1, 0]
    assert few.inputs.guessed and "(guessed from 60 rows)" in "".join(many.remarks())
    with no_warnings():
        again = rows_of(first, X[:4], inputs=many.inputs)
        assert again.scale.tolist() == [1, 1, 0]
        other = rows_of(first, X[:4], inputs=many.inputs, scale=[2, 1, 0])
        assert np.ravel(other.scale).tolist() == [2, 1, 0]
        rows_of(first, X[:4], scale=[1, 1, 0])
        rows_of(lambda x: x[:, 0], X[:1, :2] + 2, samples=50)  # neither 0 nor 1
    assert "guessed" not in "".join(again.remarks())


def test_warnings_name_the_line_of_the_caller():
    x = np.c_[X[:60, 0], X[:60, 2]]
    f, more = (lambda x: x[:, 0]), dict(seed=1, progress=False, samples=50)
    for call in (
        lambda: certify_rows(f, x, 0.3, 0.5, **more),
        lambda: tune_scale(f, x, [0.3], 0.5, rounds=1, **more),
        lambda: Inputs.of(f, x[:9]),
    ):
        with pytest.warns(UserWarning) as told:
            call()
        assert told[0].filename == __file__


def test_everything_takes_a_description():
    inputs, model = Inputs.of(None, X, [1, 2, 0]), lambda x: first(x)
    found = []
    for given in ({"inputs": inputs}, {"inputs": 3, "scale": [1, 2, 0]}):
        with Estimator(model, max_samples=200, seed=1, **given) as e:
            found.append(e.certify(X[0], 0.3, 200, 0.5).radius)
    assert found[0] == found[1] > 0
    with Estimator(model, inputs, 200, scale=[1, 0, 0], seed=1) as e:
        e.begin(X[0], 0.3)
        assert np.ptp(e.draw(0, 9), axis=0).astype(bool).tolist() == [True, False, False]
    y = first(X)
    with Calibrated(model, X, y, 0.1, samples=5, seed=1, inputs=inputs) as c:
        assert c._estimator._scale.tolist() == [1, 2, 0]
    tuned = tune_scale(model, X[:30], [0.3], 0.5, inputs=inputs, rounds=1, **ONCE)
    assert tuned.scale[2] == 0 < tuned.scale[0]
    assert within(model, X[:2], [0.1, 0.1, 0], inputs=inputs, **ONCE).radius.shape == (2,)
    found = check_model(model, X * [1, 999, 1], sigma=1, inputs=inputs)
    assert "units" not in [f.kind for f in found]
    package("sklearn")
    from certreg.regressor import SmoothedRegressor

    smoothed = SmoothedRegressor(sigma=0.1, inputs=inputs, random_state=1).fit(X, y)
    assert smoothed.scale_.tolist() == [1, 2, 0] and smoothed.predict(X[:2]).shape == (2,)
    assert smoothed.certify(X[:2], 0.5).scale.tolist() == [1, 2, 0]
    assert smoothed.predict_interval(X[:2]).shape == (2, 2)


# ---- what is known of the inputs
def test_a_pipeline_knows_its_marks_and_categories():
    table = frame()
    table.loc[::2, "a"] = -1.0
    model = fitted(table)
    inputs = Inputs.of(model, table, "std")
    assert inputs.marks == {0: (-1.0,), 1: (-1.0,)} and inputs.by_model == {3: "categories"}
    assert inputs.missing.tolist() == [True, False, False, False] and inputs.scale[0] < 1.1
    with no_warnings():
        rows = certify_rows(model, table[:6], 0.01, 5, inputs=inputs, **ONCE)
    assert np.abs(rows.prediction - model.predict(table[:6])).max() < 0.1 < rows.radius.min() + 0.1
    shown = repr(inputs)
    assert "some (NaN or -1)" in shown and "categories by the model's description" in shown
    assert "<th>missing cells</th>" in inputs._repr_html_()
    assert Inputs.of(None, np.zeros((9, 3, 8, 8))).scale.shape == (3, 8, 8)


def test_marks_before_a_scaler_are_not_those_behind_it():
    first_marks, best = imputer(missing_values=-1), of_sklearn("feature_selection.SelectKBest", k=2)
    indicator = of_sklearn("impute.MissingIndicator", missing_values=-5)
    for steps, marks in (
        ((first_marks,), (-1.0,)),
        ((scaler(), first_marks), ()),
        ((of_sklearn("impute.KNNImputer"), first_marks), (-1.0,)),
        ((imputer(),), ()),
        ((first_marks, imputer(missing_values=-999)), (-999.0, -1.0)),
        ((of_sklearn("pipeline.make_union", first_marks, indicator),), (-5.0, -1.0)),
        ((best, first_marks), (-1.0,)),
    ):
        model = piped(*steps, ridge()).fit(X, X[:, 0])
        features = np.flatnonzero(best.get_support()) if best in steps else range(3)
        inputs = Inputs.of(model, X)
        assert inputs.marks == ({int(j): marks for j in features} if marks else {})
        assert inputs.untraced == ((-1.0,) if not marks and len(steps) == 2 else ())
        if inputs.untraced:
            with pytest.warns(UserWarning, match="-1 in the features 0: a part of the model takes"):
                rows_of(model, [[-1.0, 2, 1]], scale=1, samples=50)


def test_marks_decide_about_no_scale():
    """They are left out of spreads, of few values, and of what families of changes move."""
    x = X.copy()
    x[::2] = -999
    model = piped(imputer(missing_values=-999), ridge()).fit(x, X[:, 0])
    table = package("pandas").DataFrame(x.astype(float), columns=list("abc"))
    for given in (x, table, x.astype(float)):
        assert np.allclose(Inputs.of(model, given, "std").scale[:2], x[1::2, :2].std(0), rtol=1e-5)
        with pytest.warns(UserWarning, match="at most two values in the features"):
            rows = rows_of(model, given, 0.1, 5, samples=20)
        assert np.ravel(rows.scale).tolist() == [1, 1, 0]
    gain = kit.certreg.Gain(0.9, 1.1)
    rows = rows_of(model, x[1:3], 0.1, 5, scale=1, samples=900, alternatives=gain)
    assert "cells are missing in features that" in rows.errors[1, 0] and (0, 0) not in rows.errors


def test_marks_are_no_sizes_of_changes():
    x = X[:9, :2].copy()
    x[3, 0] = -999
    inputs = Inputs.of(None, X[:, :2])
    inputs.marks = {0: (-999.0,)}
    rows = rows_of(lambda x: x[:, 1], x, inputs=inputs)
    with pytest.raises(ValueError, match="feature 0 is missing in row 3"):
        kit.certreg.compare_radius(x, rows)
    kept = np.delete(np.arange(9), 3)
    assert len(kit.certreg.compare_radius(x[kept], rows[kept]).lines)


def test_a_description_is_kept(folder):
    table = frame().assign(kind=lambda t: t["town"].astype("category"))
    table.loc[::2, "a"] = -1.0
    made = Inputs.of(fitted(table), table)
    made.save("i.json")
    again = Inputs.load("i.json")
    assert repr(again) == repr(made) and again.names == made.names and again.marks == made.marks
    assert again._columns.dtypes[4] == table["kind"].dtype
    images = Inputs.of(None, np.random.default_rng(0).random((5, 1, 9, 9)))
    images.save("j.json")
    assert Inputs.load("j.json").scale.shape == (1, 9, 9)
    rows = certify_rows(of_frames, table[:2], 0.3, 0.5, inputs=again, **ONCE)
    rows.save("rows.npz")
    assert repr(kit.certreg.Rows.load("rows.npz").inputs) == repr(rows.inputs)
    table = np.c_[np.arange(60), np.arange(60) / 4, RANDOM.normal(size=60)]
    assert Inputs.of(None, table).steps[:2].tolist() == [1, 0.25]
    facts = Inputs.of(None, X)._facts()
    wrong = [("missing", [7]), ("missing", None), ("marks", {"-1": [2]}), ("shape", [3.7])]
    wrong += [("scale", [-1, 1, 1]), ("by_model", {"9": "categories"}), ("names", ["a"])]
    texts = [json.dumps({**facts, name: value}) for name, value in wrong]
    for text in ("{", "[1]", '{"inputs": 9}', "\udcff", 99999 * "[", *texts):
        with open("k.json", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        with pytest.raises(ValueError, match="k.json is no description of inputs: "):
            Inputs.load("k.json")


def test_marks_are_part_of_what_a_file_is_about(folder):
    """Other marks are other noise."""
    x = X.copy()
    x[0, 0] = -1
    inputs = Inputs.of(None, x)
    rows_of(first, x[:2], inputs=inputs, resume="r.sqlite")
    inputs.marks = {0: (-1.0,)}
    with pytest.raises(kit.certreg.ResumeError, match="different arguments .*marks"):
        rows_of(first, x[:2], inputs=inputs, resume="r.sqlite")
    rows_of(first, x[:2], inputs=inputs, resume="s.sqlite")
    with pytest.raises(kit.certreg.ResumeError, match="different arguments .*marks"):
        rows_of(first, x[:2], scale=[1, 1, 0], resume="s.sqlite")


def test_members_and_boosters_know_their_marks():
    one = piped(imputer(missing_values=-999), ridge())
    several = of_sklearn("ensemble.BaggingRegressor", one, n_estimators=4).fit(X, X[:, 0])
    assert Inputs.of(several, X).marks == {j: (-999.0,) for j in range(3)}
    for zero, marks in ((True, {j: (0.0,) for j in range(3)}), (False, {})):
        quiet = dict(n_estimators=3, verbose=-1, n_jobs=1, zero_as_missing=zero)
        model = package("lightgbm").LGBMRegressor(**quiet).fit(X, X[:, 0])
        for each in (model, model.booster_):
            assert Inputs.of(each, X).marks == marks


def test_weights_leave_marks_out_of_spreads():
    package("sklearn")
    from certreg.regressor import SmoothedRegressor

    model, x = missing()
    scales = [
        SmoothedRegressor(model, calibration=0).fit(x, x[:, 1], sample_weight=w).scale_
        for w in (None, np.ones(200))
    ]
    assert np.allclose(*scales, rtol=1e-5) and scales[0][0] < 2


def test_checks_and_records_leave_marks_as_they_are(folder):
    model, x = marked()
    for rows in (x[:1], x):
        assert "float32" not in [f.kind for f in check_model(model, rows, sigma=0.1)]
    more = dict(scale=1, keep_records=True, resume="r.sqlite", samples=100)
    rows = rows_of(model, x[:4], **more)
    again = rows_of(None, x[:4], questions=0.3, **more)
    assert again.missing.tolist() == rows.missing.tolist() and not again.errors


def test_marks_that_trees_do_not_know_are_said():
    model = package("xgboost").XGBRegressor(n_estimators=3, n_jobs=1).fit(X, X[:, 0])
    inputs, x = Inputs.of(model, X, 1), X[:2].copy()
    inputs.marks, x[0, 1] = {1: (-999.0,)}, -999
    with pytest.warns(UserWarning, match="marked by the description, and the model does not know"):
        rows_of(model, x, inputs=inputs)
    with no_warnings():
        rows_of(model, x[1:], inputs=inputs)


# ---- refusals and warnings
class Table:
    """A table of another package."""

    columns = ("a", "b")

    def to_pandas(self):
        return frame()


def described(marks={}):
    inputs = Inputs.of(None, X)
    inputs.marks = marks
    return inputs


@parametrize(
    "kind, sentence, call",
    *(
        (kind, said, lambda t=t: rows_of(of_frames, t(frame()), inputs=Inputs.of(None, frame())))
        for kind, said, t in (
            (TypeError, "X has no names, .* a, b, c, town: give a", lambda t: t.to_numpy()),
            (ValueError, "X has no feature named 'a'", lambda t: t.rename(columns={"a": "z"})),
            (ValueError, "a feature named 'more'", lambda t: t.assign(more=1)),
        )
    ),
    *(
        (TypeError, "inputs must be a certreg.Inputs", lambda given=given: rows_of(inputs=given))
        for given in ("i.json", 3, None.__class__)
    ),
    (ValueError, "scale is 'std', which needs rows: give it to Inputs.of",
     lambda: rows_of(first, X[:60], inputs=described(), scale="std")),
    (ValueError, "needs rows", lambda: described().with_scale("std")),
    (ValueError, r"shape \(2,\); the description has \(3,\)",
     lambda: rows_of(first, X[:3, :2], inputs=described())),
    (TypeError, "X is a DataFrame", lambda: rows_of(first, frame()[:3], inputs=described())),
    (TypeError, r"X is a test_inputs.Table, .*: give X.to_pandas\(\)",
     lambda: rows_of(of_frames, Table())),
    (ValueError, "-999.89.* marks missing cells .* float32 cannot hold it",
     lambda: rows_of(first, [[-999.9, 0.5, 1]], inputs=described({0: (-999.9,)}))),
)
def test_what_does_not_fit_is_refused(kind, sentence, call):
    with pytest.raises(kind, match=sentence):
        call()


def test_tables_may_have_any_names_of_columns():
    table = frame()
    for names in (range(4), [("a", 1), ("a", 2), ("b", 1), ("b", 2)], list("aabb")):
        given = table.set_axis(list(names), axis=1)
        if len(set(names)) < 4:
            given.columns = package("pandas").Index(names)
        inputs = Inputs.of(None, given)
        rows = certify_rows(lambda t: t.iloc[:, 0], given[:2], 0.3, 0.5, inputs=inputs, **ONCE)
        assert rows.scale.tolist() == [1, 1, 0, 0]
    assert inputs.with_scale([1, 0, 0, 0]).scale.tolist() == [1, 0, 0, 0]
    numbered = Inputs.of(None, table.set_axis(range(4), axis=1)).with_scale({0: 3})
    assert numbered.scale.tolist() == [3, 0, 0, 0]


def test_other_orders_of_columns_change_nothing():
    """Numbers for each feature may then be in either order, so they are given by names."""
    package("sklearn")
    from certreg.regressor import SmoothedRegressor

    table = frame()[["a", "b"]] * [1, 100]
    other, f = table[["b", "a"]], lambda t: t["b"].to_numpy()
    inputs = Inputs.of(None, table, {"a": 1, "b": 100})
    more = dict(inputs=inputs, **ONCE)
    bounds = {"a": 0.01, "b": 50}
    one, two = (within(f, t[:3], bounds, **more) for t in (table, other))
    assert bits(one) == bits(two) and one.scale.tolist() == two.scale.tolist()
    for call in (
        lambda: within(f, other[:3], [50, 0.01], **more),
        lambda: certify_rows(f, other[:3], 0.3, 50, scale=[100, 1], **more),
        lambda: tune_scale(f, other[:30], [0.3], 50, groups=[0, 1], **more),
        lambda: compare_denoised(f, other[:30], 0.3, 50, examples=table, scale=[1, 2], **more),
    ):
        with pytest.raises(ValueError, match="may be in the order of the columns of X, or in that"):
            call()
    tuned = tune_scale(f, other[:30], [0.3], 50, rounds=1, **more)
    assert tuned.scale["b"] > 5 * tuned.scale["a"]
    model = SmoothedRegressor(inputs=inputs, random_state=1).fit(other, other["b"])
    rows = model.certify(table[:3], 50.0)
    assert dict(zip(rows.columns, np.ravel(rows.scale))) == {"a": 1, "b": 100}
    assert model.predict_interval(other[:3]).shape == (3, 2)


def test_one_row_with_an_empty_cell_is_read_as_among_others():
    pandas = package("pandas")
    inputs = Inputs.of(None, frame()[["a", "b"]])
    one = pandas.DataFrame([{"a": None, "b": 1.0}])
    assert one["a"].dtype == object
    f = lambda t: t["b"].to_numpy()  # noqa: E731
    rows = certify_rows(f, one, 0.3, 0.5, inputs=inputs, **ONCE)
    assert rows.radius[0] > 0 and rows.missing.tolist() == [[True, False]]


def test_a_change_that_may_end_on_a_mark_is_refused():
    more = dict(inputs=described({0: (0.0,)}), samples=900)
    for low, wrong in ((0.0, True), (0.5, False)):
        gain = kit.certreg.Gain(low, 1.0, columns=[0])
        with pytest.raises(ValueError, match="marks a missing") if wrong else no_warnings():
            rows_of(first, X[:1], alternatives=gain, **more)
    trees = package("xgboost").XGBRegressor(n_estimators=9, missing=0.0, n_jobs=1)
    model = trees.fit(X, X[:, 0])
    more = dict(scale=1, samples=900, alternatives=kit.certreg.Gain(0.0, 1.0, columns=[0]))
    with pytest.warns(UserWarning, match="all rows failed.*marks a missing cell"):
        rows_of(lambda: model, X[:1], **more)


def test_marks_that_only_a_factory_knows_are_refused():
    model, x = missing()
    with pytest.warns(UserWarning, match="2 of 4|all rows failed|-999 in many rows"):
        rows = rows_of(lambda: model, x[:8], 0.01, 20, scale=1)
    assert "a factory is called only afterwards: give inputs=" in rows.errors[0, 0]
    assert (1, 0) not in rows.errors
    rows = rows_of(lambda: model, x[:2], 0.01, 20, inputs=Inputs.of(model, x, 1))
    assert not rows.errors and rows.missing.tolist()[0] == [True, False, False]


def test_an_array_under_a_model_with_names_is_said():
    class Named:
        feature_names_in_ = np.array(["t", "p"], object)

        def predict(self, x):
            return np.asarray(x)[:, 0]

    x = X[:9, :2] + 5
    with pytest.warns(UserWarning, match="X has no names .* order of the model, t, p"):
        rows_of(Named(), x)
    with no_warnings():
        rows_of(Named(), package("pandas").DataFrame(x, columns=["t", "p"]))


def test_units_that_differ_much_are_said():
    x = X[:60] * [1, 200, 1]
    scale, model = [1, 1, 0], lambda t: t[:, 0]
    with pytest.warns(UserWarning, match="standard deviations of features are from .*scale='std'"):
        rows_of(model, X[:60, :2] * [1, 200], samples=50)
    with no_warnings():
        rows_of(model, x, samples=50, scale=scale)
        rows_of(model, x[:, :2], samples=50, scale="std")
        rows_of(model, x[:, :2] * [1, 0.25], samples=50)


def test_noise_of_many_deviations_is_said():
    model = lambda t: t[:, 0]  # noqa: E731
    with pytest.warns(UserWarning, match="noise is .* standard deviation of the feature [01], 0.0"):
        rows_of(model, X[:60, :2] * [0.04, 0.05], samples=50)
    with no_warnings():
        rows_of(model, X[:60, :2] * [1, 0.05], samples=50)
        rows_of(model, X[:60, :2] * 0.05, samples=50, scale="std")


def test_a_value_beyond_all_thresholds_of_a_model_is_said():
    """Files of XGBoost do not keep what marks a missing cell."""
    make = package("xgboost").XGBRegressor
    x = X.copy()
    x[::2, 0] = -999
    model = make(n_estimators=9, max_depth=2, missing=-999.0, n_jobs=1).fit(x, X[:, 0])
    booster = model.get_booster()
    with pytest.warns(UserWarning, match="-999 in the feature 0: the model compares this"):
        rows_of(booster, x[:1], scale=1)
    with no_warnings():
        rows_of(booster, x[1:2], scale=1)
        rows_of(booster, x[:1], scale=[0, 1, 1])
        names = ["f1", "age", "b p"]
        table = package("pandas").DataFrame(x, columns=names)
        rows_of(make(n_estimators=9, n_jobs=1).fit(table, X[:, 0]), table[1:2], scale=1)


DICE = np.random.default_rng(0)
CODES = DICE.integers(0, 4, 200)
CODED = np.c_[DICE.normal(size=(200, 2)), CODES].astype(np.float32)
Y = CODED[:, 0] + np.array([0, 150, -100, 80])[CODES]
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
    return package("lightgbm").LGBMRegressor(**quiet).fit(CODED, Y, categorical_feature=[2])


def of_xgboost(kinds="qqc"):
    xgboost = package("xgboost")
    data = xgboost.DMatrix(CODED, Y, feature_types=[*kinds])
    return xgboost.train({"nthread": 1, "tree_method": "hist"}, data, 40)


def of_scikit_learn():
    trees = functools.partial(of_sklearn, "ensemble.HistGradientBoostingRegressor")
    return trees(max_iter=5, max_leaf_nodes=8, categorical_features=[2]).fit(CODED, Y)


MAKERS = (
    Fitted,
    Searched,
    of_lightgbm,
    lambda: functools.partial(of_lightgbm().booster_.predict, num_threads=1),
    of_xgboost,
    of_scikit_learn,
)


# ---- what models say
@parametrize("make", *MAKERS)
def test_categories_get_no_noise(make):
    model, exact = make(), [1, 1, 0]
    for call in (
        lambda: rows_of(model, CODED[:5], scale=1),
        lambda: rows_of(lambda: model, CODED[:5]),  # a factory
        lambda: rows_of(model, CODED[:5], scale=[0, 1, 0.1]),
        lambda: Estimator(model, 3, 100),
        lambda: Calibrated(model, CODED, Y, 0.1, samples=5, scale=1),
        lambda: tune_scale(model, CODED, [0.1], 50.0, samples=100, progress=False, scale=1),
    ):
        with pytest.raises(ValueError, match=CATEGORIES):
            call()
    found = check_model(model, CODED, sigma=0.1, scale=1)
    assert [f.kind for f in found][-1] == "marks" and "categories" in found[-1].text
    found = check_model(model, CODED, sigma=0.01)
    assert "categories by the model's description in the features 2" in str(found)
    assert "marks" not in [f.kind for f in found]
    with pytest.warns(UserWarning, match=EXACT_BY_MODEL):
        assert rows_of(model, CODED[:9], 0.01, 50).sampling.scale.tolist() == exact
    with pytest.warns(UserWarning, match=EXACT_BY_MODEL):
        Calibrated(model, CODED, Y, 0.1, samples=5)
    with pytest.warns(UserWarning, match=EXACT_BY_MODEL):
        tuned = tune_scale(model, CODED, [0.5], 0.5, samples=100, progress=False)
    assert tuned.scale[2] == 0 < tuned.scale[0]
    with no_warnings():
        rows = rows_of(model, CODED[:9], 0.01, 50, scale=exact)
    wanted = np.asarray(kit.certreg.as_model(model)(CODED[:9])).ravel()
    assert np.abs(rows["prediction"].ravel() - wanted).max() < 20 and rows.radius.min() > 0
    assert "marks" not in [f.kind for f in check_model(model, CODED, scale=exact, sigma=0.01)]


def test_columns_of_a_table_have_their_names():
    """Also in another order than that of the model."""

    class Named(Fitted):
        feature_names_in_ = np.array(["a", "b", "town"], object)

    frame = package("pandas").DataFrame(CODED[:9], columns=["a", "b", "town"])[["town", "b", "a"]]
    for call in (lambda: rows_of(Named(), frame, scale=1), lambda: Estimator(Named(), frame, 100)):
        with pytest.raises(ValueError, match="column 'town' holds categories"):
            call()
    with pytest.raises(ValueError, match="feature 1 of the input holds an indicator"):
        rows_of(of_xgboost("qiq"), CODED[:5], scale=1)
    assert rows_of(Named(), frame, 0.1, 50, scale={"a": 1}).radius.min() > 0
    with pytest.warns(UserWarning, match="in the features 'town': they get no noise"):
        assert rows_of(Named(), frame, 0.1, 50).sampling.scale.tolist() == [0, 1, 1]


def missing(value=-999.0):
    """A model of XGBoost to which a number marks a missing value, and inputs."""
    x, lost = CODED.copy(), np.arange(200) % 2 == 0
    x[lost, 0] = -999
    make, y = package("xgboost").XGBRegressor, np.where(lost, 200, 50 * CODED[:, 0])
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
    told = Inputs((2,))
    z = np.float32([[-1, 3], [-2, 3], [-3, 3], [np.nan, 3], [5, 3]])
    told.marks = {0: (-1.0,), 1: (-2.0, -3.0)}
    filled = [told._missing_in(one).filled(one).tobytes() for one in np.r_[z, z[:, ::-1]]]
    assert len(set(filled)) == 10 and filled[4] == z[4].tobytes()
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


def beside(column, rows=60):
    """Features in which one is this column."""
    return np.c_[CODED[:rows, 0], column[:rows], CODED[:rows, 1]]


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
    found = list(suspected_categorical(beside(column, rows), None, None))
    assert len(found) == (sentence is not None)
    given, first = beside(column, rows), lambda x: x[:, 0]
    with pytest.warns(UserWarning, match=sentence) if sentence else no_warnings():
        rows_of(first, given, samples=50, scale=1)
    marks = [f.text for f in check_model(first, given, sigma=0.1, scale=1) if f.kind == "marks"]
    assert marks == found == list(suspected_categorical(given, None, None))
    for other, scale in ((given, EXACT), (given[:, :, None], None), (np.tile(given, 30), None)):
        assert not list(suspected_categorical(other, scale, None))  # the last two are no tables


class Untold:
    """A step without n_features_in_."""

    def fit(self, x, y=None):
        return self

    def transform(self, x):
        return x


def in_pipelines():
    """Models that treat the third feature as a category behind other steps, or in an ensemble."""
    trees, impute, line = of_scikit_learn(), imputer(), of_sklearn("linear_model.LinearRegression")
    encoder = of_sklearn("preprocessing.OneHotEncoder")
    voting = functools.partial(of_sklearn, "ensemble.VotingRegressor")
    named = functools.partial(of_sklearn, "pipeline.Pipeline")
    encoded = columns_of((encoder, [2]), remainder="passthrough")
    search = of_sklearn("model_selection.GridSearchCV", trees, {"max_iter": [5]}, cv=2)
    yield piped(impute, "passthrough", trees)
    yield named([("none", None), ("trees", trees)])
    yield piped(piped(impute, of_sklearn("impute.KNNImputer")), trees)
    yield piped(impute, voting([("line", line), ("trees", trees)]))
    yield piped(impute, encoded, line)
    yield piped(impute, search)
    yield voting([("search", of_sklearn("compose.TransformedTargetRegressor", search))])
    yield piped(columns_of((scaler(), [0, 1]), ("passthrough", [2])), trees)
    yield piped(columns_of((scaler(), [1]), (impute, [0, 2])), trees)  # which returns 1, 0, 2
    yield of_sklearn("ensemble.BaggingRegressor", piped(encoded, line), n_estimators=2)
    plain = named([("none", "passthrough"), ("trees", trees)])  # has no n_features_in_
    yield voting([("plain", plain), ("trees", trees)])
    yield piped(named([("none", "passthrough"), ("impute", impute)]), trees)
    prepared = piped(Untold(), scaler())
    yield piped(columns_of((prepared, [0]), (impute, slice(1, None)), (impute, [])), trees)


def test_categories_behind_other_steps_get_no_noise():
    for model in in_pipelines():
        with pytest.warns(UserWarning, match=EXACT_BY_MODEL):
            assert rows_of(model.fit(CODED, Y), CODED[:9], samples=20).scale.tolist() == [1, 1, 0]
        with pytest.raises(ValueError, match=CATEGORIES):
            Estimator(model, 3, 100)


def test_steps_that_move_features_tell_nothing():
    for step, kinds in (
        (of_sklearn("decomposition.PCA"), {}),
        (of_sklearn("preprocessing.KBinsDiscretizer", encode="ordinal"), {}),  # of a quantity
        (scaler(), {2: "categories"}),
        (imputer(add_indicator=True), {2: "categories"}),
    ):
        model = piped(step.fit(CODED), "passthrough", Fitted())
        assert told_by(model.predict, (3,), None).by_model == kinds
    lost = np.c_[CODED[:, :2], np.full(len(CODED), np.nan), CODED[:, 2]]
    with no_warnings():
        model = piped(imputer().fit(lost), "passthrough", Fitted())
    assert told_by(model.predict, (4,), None).by_model == {3: "categories"}  # the third is dropped


# ---- the command
MODEL = "import numpy as np\n\n\ndef f(x):\n    return x[:, 0] + 9 * (x[:, 2] > 0.5)\n"


@pytest.fixture
def files(models):
    """A model, the table that it was trained with, and three of its rows in another order."""
    kit.write("models.py", MODEL)
    kit.write("train.csv", csv("abc", X))
    kit.write("x.csv", csv("cba", X[:3, ::-1]))


def csv(names, rows):
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows.tolist())]
    return "\n".join(lines) + "\n"


def test_the_command_describes_inputs_and_takes_them(files):
    out, err = said("inputs", "models.py:f", "train.csv", "-o", "i.json")
    assert "at most two values" in out and out.count("quantity") == 2
    inputs = Inputs.load("i.json")
    assert inputs.names == ("a", "b", "c") and inputs.scale.tolist() == [1, 1, 0]
    words = ("models.py:f", "x.csv", "--inputs", "i.json", *ASKED)
    out, err = said("certify", *words)
    assert "none on c" in out and "otherwise" not in err
    given = {float(line["radius"]) for line in table_of("certify", *words)}
    with no_warnings():
        rows = rows_of(first, X[:3], samples=200, seed=7, inputs=inputs)
    assert given == set(rows.radius.tolist())
    table = package("pandas").DataFrame(X[:3].astype(float), columns=list("abc"))
    named = rows_of(lambda t: first(t.to_numpy()), table[["c", "b", "a"]], 0.3, inputs=inputs)
    assert named.scale.tolist() == [1, 1, 0] and named.radius.min() > 0
    err = said("certify", "models.py:f", "x.csv", *ASKED)[1]
    assert "decide it otherwise, and --inputs, a file of certreg inputs, decides" in err
    scaled = ("certify", *words, "--scale", "2")
    assert "none on" not in said(*scaled)[0]
    command_refused(2, "std may .*, or give --scale std:FILE", "certify", *words, "--scale", "std")
    for command in ("sigma", "bounds --radius .1", "attack --calls 2000"):
        name, *more = command.split()
        kept = [w for w in words if name != "bounds" or w not in ("--tolerance", ".5")]
        said(name, *kept, *more)
    shown = said("inputs", "models.py:f", "train.csv", "--json")[0]
    assert '"kind": "at most two values"' in shown


@parametrize(
    "text, status, sentence",
    (None, 2, "i.json cannot be read: No such file"),
    ("{}", 2, "i.json is no description of inputs"),
    ("abd", 2, "x.csv has no feature named 'd', as i.json has, but"),
)
def test_the_command_refuses_other_descriptions(files, text, status, sentence):
    if text == "abd":
        Inputs.of(None, package("pandas").DataFrame(X, columns=list(text))).save("i.json")
    elif text:
        kit.write("i.json", text)
    words = ("certify", "models.py:f", "x.csv", "--inputs", "i.json", *ASKED)
    command_refused(status, sentence, *words)


@parametrize("words", ("certify", "x.npy"), ("scale", "x.npy", "--rounds", 1, "--labels", "x0.npy"))
def test_the_command_says_once_what_values_look_like(models, words):
    np.save("x.npy", beside(LOST))
    np.save("x0.npy", LOST)
    words = (words[0], "models.py:product", *words[1:], *ASKED)
    with no_warnings():
        assert said(*words)[1].count("many rows, far") == 1
    np.save("scale.npy", EXACT)
    assert "many rows" not in said(*words, "--scale", "scale.npy")[1]
    out, err = said("check", *words[1:3], "--sigma", ".1", status=1)
    assert "marks: -999 in many" in out and err == ""

"""Inputs that are described once."""


import functools
import json

import numpy as np
import pytest

import kit
from kit import ASKED, bits, command_refused, no_warnings, package, parametrize, rows_of, said
from kit import table_of
from certreg import Calibrated, Estimator, Inputs, certify_rows, check_model, compare_denoised
from certreg import tune_scale, within

RANDOM = np.random.default_rng(3)
X = np.c_[RANDOM.normal(size=(300, 2)), RANDOM.integers(0, 2, 300)].astype(np.float32)
ONCE = dict(seed=7, progress=False, samples=200)


def first(x):
    return np.asarray(x)[:, 0] + 9 * (np.asarray(x)[:, 2] > 0.5)


def frame():
    names = dict(zip("abc", X.T.astype(float)))
    towns = np.array(["x", "y", "z"])[np.arange(300) % 3]
    return package("pandas").DataFrame(names).assign(town=towns)


def of_frames(t):
    return t["a"].to_numpy() + 9 * (t["c"] > 0.5) + (t["town"] == "x")


def piped(table):
    """A pipeline in which -1 marks a missing cell of the first column."""
    package("sklearn")
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(missing_values=-1.0), StandardScaler())
    some = make_column_transformer((numbers, ["a", "b"]), (OneHotEncoder(), ["town"]))
    return make_pipeline(some, Ridge()).fit(table, X[:, 0])


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


def test_a_keyword_with_another_meaning_marks_nothing():
    def f(x, missing):
        return x[:, 0]

    for value in ("mean", [-1], True, None):
        assert Inputs.of(functools.partial(f, missing=value), X).marks == {}


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
    model = piped(table)
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
    package("sklearn")
    from sklearn.feature_selection import SelectKBest
    from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.preprocessing import StandardScaler

    imputer = SimpleImputer(missing_values=-1)
    other, best = SimpleImputer(missing_values=-999), SelectKBest(k=2)
    for steps, marks in (
        ((imputer,), (-1.0,)),
        ((StandardScaler(), imputer), ()),
        ((KNNImputer(), imputer), (-1.0,)),
        ((SimpleImputer(),), ()),
        ((imputer, other), (-999.0, -1.0)),
        ((make_union(imputer, MissingIndicator(missing_values=-5)),), (-5.0, -1.0)),
        ((best, imputer), (-1.0,)),
    ):
        model = make_pipeline(*steps, Ridge()).fit(X, X[:, 0])
        features = np.flatnonzero(best.get_support()) if best in steps else range(3)
        inputs = Inputs.of(model, X)
        assert inputs.marks == ({int(j): marks for j in features} if marks else {})
        assert inputs.untraced == ((-1.0,) if steps[0].__class__ is StandardScaler else ())
        if inputs.untraced:
            with pytest.warns(UserWarning, match="-1 in the features 0: a part of the model takes"):
                rows_of(model, [[-1.0, 2, 1]], scale=1, samples=50)


def test_marks_decide_about_no_scale():
    """They are left out of spreads, of few values, and of what families of changes move."""
    package("sklearn")
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    x = X.copy()
    x[::2] = -999
    model = make_pipeline(SimpleImputer(missing_values=-999), Ridge()).fit(x, X[:, 0])
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


def test_marks_that_float32_changes_are_refused():
    inputs = Inputs.of(None, X[:, :2])
    inputs.marks = {0: (-999.9,)}
    with pytest.raises(ValueError, match="-999.89.* marks missing cells .* float32 cannot hold it"):
        rows_of(lambda x: x[:, 0], [[-999.9, 0.5]], inputs=inputs)
    with no_warnings():
        rows_of(lambda x: x[:, 0], [[0.3, 0.5]], inputs=inputs)


def test_integers_have_steps():
    table = np.c_[np.arange(60), np.arange(60) / 4, RANDOM.normal(size=60)]
    table[3, 0] = np.nan
    assert Inputs.of(None, table).steps[:2].tolist() == [1, 0.25]


def test_a_description_is_kept(folder):
    table = frame().assign(kind=lambda t: t["town"].astype("category"))
    table.loc[::2, "a"] = -1.0
    made = Inputs.of(piped(table), table)
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
    package("sklearn")
    from sklearn.ensemble import BaggingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    one = make_pipeline(SimpleImputer(missing_values=-999), Ridge())
    several = BaggingRegressor(one, n_estimators=4).fit(X, X[:, 0])
    assert Inputs.of(several, X).marks == {j: (-999.0,) for j in range(3)}
    for zero, marks in ((True, {j: (0.0,) for j in range(3)}), (False, {})):
        quiet = dict(n_estimators=3, verbose=-1, n_jobs=1, zero_as_missing=zero)
        model = package("lightgbm").LGBMRegressor(**quiet).fit(X, X[:, 0])
        for each in (model, model.booster_):
            assert Inputs.of(each, X).marks == marks


def marked_pipeline():
    """A model to which -999 marks missing cells, and inputs in which every second row has one."""
    package("sklearn")
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    x = X.copy()
    x[::2, 0] = -999
    return make_pipeline(SimpleImputer(missing_values=-999), Ridge()).fit(x, X[:, 1]), x


def test_weights_leave_marks_out_of_spreads():
    package("sklearn")
    from certreg.regressor import SmoothedRegressor
    from test_categorical import missing

    model, x = missing()
    scales = [
        SmoothedRegressor(model, calibration=0).fit(x, x[:, 1], sample_weight=w).scale_
        for w in (None, np.ones(200))
    ]
    assert np.allclose(*scales, rtol=1e-5) and scales[0][0] < 2


def test_checks_leave_marks_as_they_are():
    model, x = marked_pipeline()
    for rows in (x[:1], x):
        assert "float32" not in [f.kind for f in check_model(model, rows, sigma=0.1)]


def test_records_of_marked_rows_answer_without_the_model(folder):
    model, x = marked_pipeline()
    more = dict(scale=1, keep_records=True, resume="r.sqlite", samples=100)
    rows = rows_of(model, x[:4], **more)
    again = rows_of(None, x[:4], questions=0.3, **more)
    assert again.missing.tolist() == rows.missing.tolist() and not again.errors


def test_families_of_changes_meet_the_marks_of_factories():
    trees = package("xgboost").XGBRegressor(n_estimators=9, missing=0.0, n_jobs=1)
    model = trees.fit(X, X[:, 0])
    gain = kit.certreg.Gain(0.0, 1.0, columns=[0])
    more = dict(scale=1, samples=900, alternatives=gain)
    with pytest.warns(UserWarning, match="all rows failed.*marks a missing cell"):
        rows_of(lambda: model, X[:1], **more)
    with pytest.raises(ValueError, match="marks a missing cell"):
        rows_of(model, X[:1], **more)


def test_marks_that_trees_do_not_know_are_said():
    model = package("xgboost").XGBRegressor(n_estimators=3, n_jobs=1).fit(X, X[:, 0])
    inputs, x = Inputs.of(model, X, 1), X[:2].copy()
    inputs.marks, x[0, 1] = {1: (-999.0,)}, -999
    with pytest.warns(UserWarning, match="marked by the description, and the model does not know"):
        rows_of(model, x, inputs=inputs)
    with no_warnings():
        rows_of(model, x[1:], inputs=inputs)


# ---- refusals and warnings
@parametrize(
    "given, kind, sentence",
    (lambda t: t.to_numpy(), TypeError, "X has no names, .* a, b, c, town: give a DataFrame"),
    (lambda t: t.rename(columns={"a": "z"}), ValueError, "X has no feature named 'a'"),
    (lambda t: t.assign(more=1), ValueError, "a feature named 'more'"),
)
def test_tables_that_do_not_fit_are_refused(given, kind, sentence):
    table = frame()
    with pytest.raises(kind, match=sentence):
        rows_of(of_frames, given(table[:3]), inputs=Inputs.of(None, table))


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
    for fitted in (table, other):
        model = SmoothedRegressor(inputs=inputs, random_state=1).fit(fitted, fitted["b"])
        rows = model.certify(other[:3], 50.0)
        assert dict(zip(rows.columns, np.ravel(rows.scale))) == {"a": 1, "b": 100}
        assert model.predict(other[:3]).shape == (3,)
        assert model.predict_interval(table[:3]).shape == (3, 2)


def test_one_row_with_an_empty_cell_is_read_as_among_others():
    pandas = package("pandas")
    inputs = Inputs.of(None, frame()[["a", "b"]])
    one = pandas.DataFrame([{"a": None, "b": 1.0}])
    assert one["a"].dtype == object
    f = lambda t: t["b"].to_numpy()  # noqa: E731
    rows = certify_rows(f, one, 0.3, 0.5, inputs=inputs, **ONCE)
    assert rows.radius[0] > 0 and rows.missing.tolist() == [[True, False]]


@parametrize("given", "i.json", 3, None.__class__)
def test_what_is_no_description_is_refused(given):
    with pytest.raises(TypeError, match="inputs must be a certreg.Inputs, not"):
        rows_of(first, X[:2], inputs=given)


def test_a_spread_of_rows_beside_a_description_is_refused():
    with pytest.raises(ValueError, match="scale is 'std', which needs rows: give it to Inputs.of"):
        rows_of(first, X[:60], inputs=Inputs.of(None, X), scale="std")


def test_a_change_that_may_end_on_a_mark_is_refused():
    inputs = Inputs.of(None, X)
    inputs.marks = {0: (0.0,)}
    for low, wrong in ((0.0, True), (0.5, False)):
        more = dict(inputs=inputs, samples=900)
        gain = kit.certreg.Gain(low, 1.0, columns=[0])
        with pytest.raises(ValueError, match="marks a missing") if wrong else no_warnings():
            rows_of(first, X[:1], alternatives=gain, **more)


def test_marks_that_only_a_factory_knows_are_refused():
    package("xgboost")
    from test_categorical import missing

    model, x = missing()
    with pytest.warns(UserWarning, match="2 of 4|all rows failed|-999 in many rows"):
        rows = rows_of(lambda: model, x[:8], 0.01, 20, scale=1)
    assert "a factory is called only afterwards: give inputs=" in rows.errors[0, 0]
    assert (1, 0) not in rows.errors
    rows = rows_of(lambda: model, x[:2], 0.01, 20, inputs=Inputs.of(model, x, 1))
    assert not rows.errors and rows.missing.tolist()[0] == [True, False, False]


def test_arrays_that_do_not_fit_are_refused():
    inputs = Inputs.of(None, X)
    with pytest.raises(ValueError, match=r"shape \(2,\); the description has \(3,\)"):
        rows_of(first, X[:3, :2], inputs=inputs)
    with pytest.raises(TypeError, match="X is a DataFrame"):
        rows_of(first, frame()[:3], inputs=inputs)
    with pytest.raises(ValueError, match="needs rows"):
        inputs.with_scale("std")
    assert inputs.with_scale([1, 2, 3]).scale.tolist() == [1, 2, 3] != inputs.scale.tolist()


def test_tables_of_other_packages_are_refused_with_a_way():
    class Table:
        columns = ("a", "b")

        def to_pandas(self):
            return frame()

    with pytest.raises(TypeError, match=r"X is a test_inputs.Table, .*: give X.to_pandas\(\)"):
        rows_of(of_frames, Table())


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
    scaled = ("certify", *words, "--scale", "2")
    assert "none on" not in said(*scaled)[0]
    for command in ("sigma", "bounds --radius .1", "attack --calls 2000"):
        name, *more = command.split()
        kept = [w for w in words if name != "bounds" or w not in ("--tolerance", ".5")]
        said(name, *kept, *more)
    shown = said("inputs", "models.py:f", "train.csv", "--json")[0]
    assert '"kind": "at most two values"' in shown


def test_the_command_leaves_marks_out_of_spreads(files):
    package("xgboost")
    from test_categorical import missing

    model, x = missing()
    model.save_model("m.json")
    kit.write("marked.csv", csv("abc", x))
    more = ("--missing", "-999", "--scale", "std")
    said("inputs", "m.json", "marked.csv", *more, "-o", "i.json")
    scale = Inputs.load("i.json").scale
    assert np.allclose(scale[:2], Inputs.of(model, x, "std").scale[:2]) and scale[0] < 2
    said("certify", "m.json", "marked.csv", *more, *ASKED, "--rows", ":4")


def test_the_command_has_the_scale_of_a_description(files):
    kit.write("scale.csv", "a,b,c\n1,100,0\n")
    kit.write("other.csv", csv("abc", X[100:]))
    said("inputs", "models.py:f", "train.csv", "--scale", "scale.csv", "-o", "i.json")
    found = []
    for more in (("--scale", "scale.csv"), ("--inputs", "i.json")):
        words = ("certify", "models.py:f", "train.csv", *more, *ASKED, "--rows", ":3")
        out, _ = said(*words, "--units", "0.1", "--denoise", "other.csv", "-o", "o.json")
        with open("o.json", encoding="utf-8") as file:
            found.append((out, json.load(file)["rows"][0]["radius"]))
    assert found[0] == found[1]


def test_the_command_and_python_share_descriptions(files):
    table = package("pandas").DataFrame(X.astype(float), columns=list("abc"))
    Inputs.of(None, table).save("i.json")
    said("certify", "models.py:f", "x.csv", "--inputs", "i.json", *ASKED)
    said("inputs", "models.py:f", "train.csv", "-o", "j.json")
    rows = certify_rows(of_frames_of_numbers, table[["c", "b", "a"]][:2], 0.3, 0.5,
                        inputs=Inputs.load("j.json"), **ONCE)
    assert rows.scale.tolist() == [1, 1, 0] and rows.radius.min() > 0


def of_frames_of_numbers(t):
    return t["a"].to_numpy() + 9 * (t["c"].to_numpy() > 0.5)


def test_the_command_says_what_a_longer_table_would_decide(files):
    err = said("certify", "models.py:f", "x.csv", *ASKED)[1]
    assert "decide it otherwise, and --inputs, a file of certreg inputs, decides" in err


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

"""DataFrames, with columns that get noise or not, as arrays and back."""

import dataclasses
import functools
import pickle
from unittest import mock

import numpy as np
import pytest

from kit import certreg, no_warnings, package, parametrize, refused, rows_of, same
from certreg import as_model, frames
from certreg.frames import Columns, names_of, order

pandas = package("pandas")
RANDOM = np.random.default_rng(1).normal(size=(20, 3))


def itself(frame):
    """A function that can be pickled."""
    return frame


def houses(rows=300):
    """What a house costs, by columns of several kinds."""
    random = np.random.default_rng(5)
    frame = pandas.DataFrame(
        {
            "area": random.uniform(40, 200, rows),
            "town": random.choice(["north", "south", "east"], rows),
            "heating": pandas.Categorical(random.choice(["gas", "wood"], rows)),
            "age": random.uniform(0, 80, rows),
            "rooms": random.integers(1, 9, rows),
            "garden": random.random(rows) < 0.5,
        }
    )
    price = 3.2 * frame["area"] - frame["age"] + 40 * (frame["town"] == "north") + frame["rooms"]
    return frame, price.to_numpy(float)


# ---- round trips
DAYS = pandas.to_datetime(["2020-01-01", "2021-01-01", None])
KINDS = pandas.Categorical(["u", "v", None], categories=["w", "v", "u"], ordered=True)
FRAME = pandas.DataFrame(
    {
        "f8": [1.5, 2, 3],
        "f4": np.array([1, 2, 3], np.float32),
        "F8": pandas.array([1.0, 2, 3], dtype="Float64"),
        "i8": [2**60 + 1, 2**60 + 3, 5],
        "I8": pandas.array([1, None, 2**60 + 1], dtype="Int64"),
        "text": ["x", None, "y"],
        "kind": KINDS,
        "day": DAYS,
        "zone": DAYS.tz_localize("UTC"),
        "yes": [True, False, True],
        "zero": [0.0, -0.0, np.nan],
        "equal": pandas.Series([True, 1, 1.0], dtype=object),
        "lists": [[1], [2], [3]],
        "complex": [1j, 2, 3],
    }
)
MOVING = {"f8": 1, "f4": 2, "F8": 0.5}


@parametrize("rows", [0, 1, 2], [2, 2, 0], [1], [])
def test_rows_come_back_exactly(rows):
    columns = Columns(FRAME, MOVING)
    assert (columns.matrix.dtype, columns.scale.tolist()) == (np.float32, [1, 2, 0.5] + [0] * 11)
    with no_warnings():
        back = columns.wrap(itself)(columns.matrix[rows])
    wanted = FRAME.iloc[rows].reset_index(drop=True)
    pandas.testing.assert_frame_equal(back, wanted, check_exact=True)
    for name, what in (("equal", type), ("zero", np.signbit)):
        assert [*map(what, back[name])] == [*map(what, wanted[name])]


def test_lists_and_structs_of_arrow_come_back():
    arrow = package("pyarrow")
    kinds = {"tags": arrow.list_(arrow.float64()), "place": arrow.struct({"x": arrow.int64()})}
    values = {"tags": [[1.0, 2], None, []], "place": [{"x": 1}, {"x": 1}, None]}
    frame = pandas.DataFrame({"area": [1.5, 2, 3]})
    for name, kind in kinds.items():
        frame[name] = pandas.array(values[name], pandas.ArrowDtype(kind))
    columns = Columns(frame)
    back = columns.wrap(itself)(columns.matrix[[2, 0]])
    assert same(back.to_dict("list"), frame.iloc[[2, 0]].to_dict("list"))
    assert back.dtypes.tolist() == frame.dtypes.tolist()


def test_what_moves_arrives():
    columns = Columns(FRAME.assign(n=[1, 2, 3]), {**MOVING, "n": 1})
    moved = columns.matrix[:2] + np.float32(0.25) * (columns.scale > 0)
    back = columns.wrap(itself)(moved)
    for name in MOVING:
        assert back[name].tolist() == [v + 0.25 for v in FRAME[name][:2]]
    assert back.dtypes[:-1].tolist() == FRAME.dtypes.tolist()
    assert (back["n"].dtype, back["n"].tolist()) == (np.float64, [1.25, 2.25])


def test_it_travels_by_pickle_with_distinct_values_only():
    columns = Columns(FRAME, MOVING)
    again = pickle.loads(pickle.dumps(columns.wrap(itself)))
    pandas.testing.assert_frame_equal(again(columns.matrix), FRAME)
    frame = pandas.DataFrame({"x": np.zeros(10_000), "town": ["a", "b"] * 5000})
    assert len(pickle.dumps(Columns(frame).wrap(itself))) < 3000
    with mock.patch.object(frames, "MOST_VALUES", 2):
        Columns(pandas.DataFrame({"n": [1, 2, 2]}), 0)
        with pytest.raises(ValueError, match="column 'n' has 3 distinct values, more than"):
            Columns(pandas.DataFrame({"n": [1, 2, 3]}), 0)


# ---- scales
@parametrize(
    "scale, error, text",
    ({"height": 1}, ValueError, "'height', which is no column"),
    ({"town": 1}, ValueError, "column 'town' is .*only numbers can get noise: give it"),
    ({"heating": 1}, ValueError, "column 'heating' is category"),
    ({"garden": 1}, ValueError, "column 'garden' is bool"),
    (1, ValueError, "column 'town'"),
    (None, ValueError, "column 'age' is inf in row 2"),
    ([1, 2], ValueError, r"scale has shape \(2,\); it must be \(6,\)"),
    ({"area": "much"}, TypeError, "scale must hold numbers"),
    (pandas.Series([1.0, 2], ["age", "age"]), ValueError, "names a column twice"),
)
def test_scales_that_do_not_fit_are_refused(scale, error, text):
    frame, _ = houses(4)
    frame.loc[2, "age"] = np.inf
    with pytest.raises(error, match=text), no_warnings():
        Columns(frame, scale)
    named = pandas.Series({"rooms": 3, "area": 1})
    assert Columns(frame, named).scale.tolist() == [1, 0, 0, 0, 3, 0]  # infinity may stay
    assert Columns(frame, 0).scale.tolist() == [0] * 6
    assert Columns(frame[["area", "rooms"]], 3).scale.tolist() == [3, 3]
    with pytest.raises(ValueError, match="no column gets noise: .* scale"):
        certreg.certify_rows(price_of, frame[["town"]], 0.1, 1.0)
    with pytest.raises(ValueError, match=r"column 'big' is 1e\+300 in row 0, and only finite"):
        Columns(pandas.DataFrame({"big": [1e300]}))


# ---- names of models
class Positions:
    """A model that looks at the positions of columns only, as those of LightGBM do."""

    def __init__(self, *names):
        self.feature_names_in_ = np.array(names, object)

    def predict(self, x):
        return np.asarray(x) @ [1.0, 10.0, 100.0]


GIVEN = ["a b", "c", "d"]


def output(model, names, own=GIVEN):
    """The output for columns in this order."""
    columns = Columns(pandas.DataFrame([[1.0, 2.0, 3.0]], columns=own)[names])
    return float(columns.wrap(as_model(model))(columns.matrix)[0])


@parametrize("names", ["d", "c", "a b"], ["c", "d", "a b"])
def test_columns_go_in_as_the_model_names_them(names):
    with no_warnings():
        assert output(Positions("a b", "c", "d"), names) == 321
        assert output(Positions("d", "a_b", "c"), names) == 213
        assert output(Positions("c", "d", "a_b").predict, names) == 132
    frame = pandas.DataFrame(RANDOM[:4], columns=GIVEN)[names]
    fitted = Positions(*GIVEN)
    rows = rows_of(fitted, frame, 0.1, 1.0, scale={"a b": 1})
    assert np.abs(rows["prediction"][:, 0, 0] - fitted.predict(RANDOM[:4])).max() < 0.5
    assert rows["radius"].min() > 0
    both = ["a b", "a_b", " c"]  # which differ by an underscore
    assert order(both[::-1], both, "X", "the model") == [2, 1, 0]
    assert order(["c", "a b"], ["a_b", " c"], "X", "the model") == [1, 0]
    with pytest.raises(ValueError, match="X has two features named 'a_b'"):
        order(both, ["a_b", "d"], "X", "the model")


@parametrize(
    "names, text",
    (("a b", "c", "e"), "X has no feature named 'e', as the model has, but 'd': give both"),
    (("a b", "c"), "X has a feature named 'd', which the model has not: leave it out"),
    (("a b", "c", "d", "e"), "X has no feature named 'e', as the model has: add it"),
    (("a b", "c", "c"), "the model has two features named 'c'"),
)
def test_other_names_are_refused(names, text):
    with pytest.raises(ValueError, match=text):
        output(Positions(*names), GIVEN)
    with pytest.raises(ValueError, match=text):
        frame = pandas.DataFrame([[1.0, 2.0, 3.0]], columns=GIVEN)
        certreg.certify_rows(Positions(*names), frame, 0.1, 1.0, samples=100)


def test_names_are_refused_where_nothing_looks_at_them():
    X, fitted = RANDOM, Positions(*"abc")
    frame, truths = pandas.DataFrame(X, columns=list("cba")), X[:, 0]
    one = "its names would be ignored: give [xX].to_nu"
    scale = pandas.Series([1, 2, 0], list("cba"))
    with certreg.Calibrated(fitted, X, truths, 0.1, samples=11) as calibrated:
        for said, call in (
            (one, lambda: calibrated.intervals(frame[:2], 0, 0.5)),
            (one, lambda: calibrated.interval(frame.iloc[0], 0, 0.5)),
            ("scale is a Series, and its names would be ignored",
             lambda: certreg.certify_rows(fitted, X, 0.1, 1.0, scale=scale)),
        ):
            with pytest.raises(TypeError, match=said):
                call()


class Model:
    """What results of statsmodels have as their `model`."""

    def __init__(self, names, formula=None):
        self.exog_names, self.formula = names, formula


class Results(Positions):
    def __init__(self, names, formula=None):
        self.model = Model(names, formula)


NAMELESS = "the model has no names for its features: taken in the order of X, d, c, a b$"


class Boosted(Positions):
    """As CatBoost names features."""

    def __init__(self, *names):
        self.feature_names_ = names


def test_models_of_other_packages_name_their_columns():
    with no_warnings():
        assert output(Boosted("d", "a b", "c"), ["c", "d", "a b"]) == 213
        assert output(Results(GIVEN), ["d", "c", "a b"]) == 321
        assert output(Results(GIVEN).predict, ["c", "d", "a b"]) == 321
        assert output(Results(["const", "x1", "x2"]), ["x2", "const", "x1"], ["const", "x1", "x2"])
        assert output(Results(["a", "b"], "y ~ a"), ["d", "c", "a b"]) == 123  # it finds its own
    for model in (Results(["x1", "x2", "x3"]), Results(["const", "x1", "x2"]), Boosted(*"012")):
        with pytest.warns(UserWarning, match=NAMELESS):  # they were fitted to arrays
            assert output(model, ["d", "c", "a b"]) == 123
    with pytest.raises(ValueError, match="X has no feature named 'const', as the model has, but"):
        output(Results(["const", "c", "d"]), GIVEN)
    for begin in ("f", "Column_", ""):  # a package made them up
        made_up = [f"{begin}{i}" for i in range(3)]
        with pytest.warns(UserWarning, match="taken in the order of X, d, c, a b$"):
            assert output(Positions(*made_up), ["d", "c", "a b"]) == 123
        assert names_of(Positions(*made_up)) is None
        assert output(Positions(*made_up), made_up[::-1], made_up) == 321
    nameless = Results(None)  # as those of pygam
    for model in (nameless, nameless.predict):
        with pytest.warns(UserWarning, match=NAMELESS):
            assert output(model, ["d", "c", "a b"]) == 123
    with no_warnings():
        assert output(lambda x: nameless.predict(x), ["d", "c", "a b"]) == 123


# ---- labels and answers by their positions
def test_labels_with_another_order_of_the_index_are_refused():
    frame, price = houses(60)
    frame.index = [f"h{i}" for i in range(60)]
    labels = pandas.Series(price, frame.index)
    turned, some = labels[::-1], np.arange(60) % 2 == 0
    rows = certreg.certify_rows(price_of, frame, [0.5, 1], 20.0, scale=AREAS, seed=1, samples=100)
    right, few = pandas.Series(some, frame.index), dict(samples=99, seed=1)
    two = lambda x: np.stack([price_of(x)] * 2, 1)  # noqa: E731
    tuning = (price_of, frame, [0.5], 20.0)
    tune = functools.partial(certreg.tune_scale, *tuning, scale=AREAS, rounds=1, **few)
    for call in (
        lambda y: rows.label_errors(y),
        lambda y: rows[some].label_errors(y[np.isin(y.index, [f"h{i}" for i in range(0, 60, 2)])]),
        lambda y: rows.useful_radii(y),
        lambda y: rows.choose_sigma(labels=y),
        lambda y: certreg.Calibrated(price_of, frame, y, 0.1, **few).scores,
        lambda y: certreg.Calibrated(two, frame, pandas.concat([y, y], axis=1), 0.1, **few).scores,
        lambda y: tune(labels=y).history[0].mean_error,
    ):
        call(labels)
        for wrong in (turned, labels.reset_index(drop=True), labels.rename(index={"h3": "h4"})):
            with pytest.raises(ValueError, match=r"order: give (y|labels)\.to_numpy\(\) if .*X\.i"):
                call(wrong)
    found = rows.label_errors(labels)
    assert same(found, rows.label_errors(turned.loc[frame.index]))  # both remedies
    assert same(found, rows.label_errors(labels.to_numpy()))
    package("matplotlib")
    one = certreg.certify_rows(price_of, frame, 0.5, 20.0, scale=AREAS, seed=1, samples=100)
    drawn = [one.plot(r).get_lines()[0].get_xydata().tolist() for r in (right, some, ~right)]
    assert drawn[0] == drawn[1] != drawn[2]
    with pytest.raises(ValueError, match="correct has another index than X, or the same one in"):
        one.plot(right[::-1])


def test_rows_say_which_columns_they_cover():
    frame, _ = houses(5)
    rows = rows_of(price_of, frame, 0.1, 20.0, scale="std")
    said = "noise on area, age, rooms; none on town, heating, garden: changes of these are not"
    assert said in str(rows) and said in rows._repr_html_() and said in str(rows[:2])
    rows = rows_of(lambda f: f["area"], frame[["area", "age"]], 0.1, 20.0)
    assert "\nnoise on area, age (guessed from 5 rows)\n" in str(rows)
    assert "noise on area, age (" in rows._repr_html_()
    rows.columns = ["area\x1b[2J", "age"]  # a terminal would be erased
    assert r"noise on area\x1b[2J, age" in str(rows)
    assert r"column 'a\x9b" in str(certreg.Finding("calls", "column 'a\x9b'", 1.0))
    assert "exact" not in rows.to_frame()
    rows = rows_of(lambda x: x[:, 0], RANDOM, 0.1, 20.0, scale=[1, 0, 0])
    assert "noise on feature 0; none on feature 1, feature 2: changes" in str(rows)
    assert {line["exact"] for line in rows.to_dicts()} == {"feature 1, feature 2"}
    image = rows_of(lambda x: x[:, 0, 0], RANDOM[:, None], 0.1, 20.0, scale=[[1, 1, 0]])
    assert "none on row 0 column 2: changes" in str(image)
    rows = rows_of(lambda x: x[:, 0], RANDOM, 0.1, 20.0)
    assert "noise" not in str(rows)


# ---- inputs one by one
def price_of(frame):
    """A model of houses; another town is another price, whatever its code is."""
    town = frame["town"].map({"north": 40, "south": 0, "east": 5, "west": -300})
    return (3.2 * frame["area"] - frame["age"] + town + frame["rooms"]).to_numpy(float)


AREAS = {"area": 8, "age": 5}


def of_houses(frame, **more):
    return certreg.Estimator(price_of, frame, 300, scale=AREAS, seed=1, **more)


def test_an_estimator_takes_rows_of_a_frame_as_certify_rows_does():
    frame, _ = houses(6)
    more = dict(samples=300, scale=AREAS, seed=1, progress=False)
    rows = certreg.certify_rows(price_of, frame, 0.5, 20.0, **more)
    with of_houses(frame[:1]) as e:  # which has one town
        for i in (5, 0, 3):  # also with its columns in another order
            found = e.certify(frame.iloc[[i]][frame.columns[::-1]], 0.5, 300, 20.0, noise_id=i)
            both = (dataclasses.replace(c, input_digest=0) for c in (found, rows.certificate(i)))
            assert same(*both)  # codes of categories are in the input
        west = frame.iloc[[0]].assign(town="west")
        levels = [e.certify(west, 0.5, 300, 20.0), *e.certify_sigmas(west, [0.5, 0.25], 300, 20.0)]
        assert max(abs(c.prediction - price_of(west)[0]) for c in levels) < 20
        assert e.draw(1, 2)["town"].tolist() == ["west"] * 2


@parametrize("labels", ["a", "k"], [("a", 1), ("a", 2)], ["c", "c"], ids=str)
def test_a_row_of_its_own_has_the_codes_of_the_first_frame(labels):
    frame = pandas.DataFrame({0: [0.0, 1, 2], 1: pandas.Categorical(list("xyz"))})
    frame.columns, row = labels, frame.iloc[[1]].copy()
    row.columns = labels
    model = lambda f: f.iloc[:, 0] + 10 * f.iloc[:, 1].cat.codes  # noqa: E731
    with certreg.Estimator(model, frame, 100, seed=1) as e:
        for kinds in ("z", "zyx", "xyz"):  # pandas calls the last ones equal to those of the frame
            row.isetitem(1, pandas.Categorical(["z"], categories=list(kinds)))
            assert 20 < e.certify(row, 0.25, 100, 1.0).prediction < 22
        row.isetitem(1, pandas.Categorical(["w"]))
        with pytest.raises(ValueError, match="has 'w' in column .*, which is no category"):
            e.certify(row, 0.25, 100, 1.0)


def test_a_begin_that_fails_leaves_no_other_categories():
    frame, _ = houses(6)
    west = frame.iloc[[0]].assign(town="west")
    with of_houses(frame) as e, of_houses(frame) as plain:
        for one in (e, plain):
            one.begin(frame.iloc[[0]], 0.5, 7)
            one.sample(0, 100)
        for wrong in (lambda: e.begin(west, "x"), lambda: e.certify_sigmas(west, [0.5], 9, "x")):
            with pytest.raises(TypeError):
                wrong()
        assert same(e.certify(300, 20.0), plain.certify(300, 20.0))
        with pytest.raises(certreg.CertregError):
            e.begin(west, -1)
        with pytest.raises(certreg.CertregError, match="begin"):
            e.certify(300, 20.0)


def test_records_know_the_categories_of_their_input():
    frame, _ = houses(6)
    west = frame.iloc[[0]].assign(town="west")
    with of_houses(frame) as e, of_houses(west) as other:
        found = e.certify(frame.iloc[[0]], 0.5, 300, 20.0)
        for again, status in ((west, "MISMATCH"), (frame.iloc[[0]], "OK")):
            other.begin(again, 0.5, 0)
            with refused(certreg.Status[status]) if status != "OK" else no_warnings():
                other.import_(e.export())
        assert same(other.certify(300, 20.0), found)
        assert other.certify(west, 0.5, 300, 20.0, noise_id=0).input_digest != found.input_digest


def test_gradients_and_shifts_have_the_names():
    frame, _ = houses(6)
    with of_houses(frame) as e:
        e.certify(frame.iloc[[0]], 0.5, 300, 20.0)
        gradient = e.gradient(20.0, "upper")
        assert gradient.index.tolist() == frame.columns.tolist()
        assert abs(gradient["area"]) > abs(gradient["age"]) > gradient["town"] == 0
        along = {"area": gradient["area"]}
        found = e.attack(20.0, 2000, direction=along)
        assert found.broken and found.shift["area"] and not found.shift.drop("area").any()
        assert found.outcome is certreg.Attack.BROKEN
        with pytest.raises(ValueError, match="direction names 'attic', which is no column"):
            e.attack(20.0, 2000, direction={"attic": 1})


def test_intervals_of_frames(tmp_path):
    frame, price = houses(60)
    more = dict(seed=2, inputs_seed=3, samples=41)
    columns = Columns(frame, AREAS)
    plain = certreg.Calibrated(columns.wrap(price_of), columns.matrix, price, 0.1,
                               scale=columns.scale, **more)
    with certreg.Calibrated(price_of, frame, price, 0.1, scale=AREAS, **more) as ours:
        wanted = plain.intervals(columns.matrix[:3], 0.01, 0.2)
        assert same(ours.intervals(frame[:3], 0.01, 0.2), wanted)
        ours.save(tmp_path / "kept.npz")
    with pytest.raises(ValueError, match="break the promise.*the feature_scale of other inputs"):
        certreg.Calibrated(price_of, frame, price, 0.1, scale="std")
    del more["samples"], more["seed"]
    with certreg.Calibrated.load(tmp_path / "kept.npz", price_of, **more) as again:
        west = frame.iloc[[0]].assign(town="west")
        assert again.covers(west, price_of(west)[0], 0.01, 0.2)
        with pytest.raises(ValueError, match="x has no feature named 'town', as the DataFrame of"):
            again.interval(west.drop(columns="town"), 0.01, 0.2)


def test_what_is_no_row_of_the_frame_is_refused():
    frame, _ = houses(6)
    with of_houses(frame) as e:
        for wrong in (frame, frame.iloc[0], frame[:1].to_numpy(), [1] * 6):
            with pytest.raises(TypeError, match="z must be a DataFrame of one row, as X.iloc"):
                e.begin(wrong, 0.5)
    with pytest.raises(ValueError, match="leave out device"):
        of_houses(frame, device=0)


def test_refusals_name_the_column():
    frame, _ = houses(2)
    frame["area"] *= 1e8
    text = "all rows failed: column 'area' .*; scale='std' puts sigma"
    with pytest.warns(UserWarning, match=text):
        rows = rows_of(price_of, frame, 0.5, 20.0)
    assert rows.errors[1, 0].startswith("column 'area' = ")
    with of_houses(frame) as e, pytest.raises(certreg.CertregError, match="^column 'area' = "):
        e.begin(frame[:1], 0.5)
    rows = rows_of(price_of, frame, 0.5, 2e8, scale="std")
    assert rows.radius.min() > 0


def test_results_and_scales_have_the_names():
    frame, _ = houses(5)
    frame.index = list("abcde")
    more = dict(samples=100, progress=False, seed=1)
    rows = certreg.certify_rows(price_of, frame, [0.5, 0.25], 20.0, scale=AREAS, **more)
    assert rows.to_frame().index.tolist() == list("aabbccddee")
    some = rows[[4, 1]].to_frame()
    assert (some.index.tolist(), some["row"].tolist()) == (list("eebb"), [4, 4, 1, 1])


# ---- scales from data
@parametrize(
    "X, kind, text",
    ([[1, 2], [1, 3]], "std", "feature 0 has the std 0 in 2 rows, which is no scale: give the"),
    ([[1, 2]], "std", "feature 0 has the std 0 in 1 rows"),
    ([[1, 2], [np.inf, 3]], "std", "X must hold finite numbers"),
    ([[np.nan, 2], [np.nan, 3]], "std", "feature 0 has the std nan in 2 rows"),
    ([[1, 2], [2, 3]], "variance", "scale is 'variance'; it must be 'std', 'iqr' or numbers"),
)
def test_no_spread_is_refused(X, kind, text):
    with pytest.raises(ValueError, match=text):
        certreg.certify_rows(lambda x: x[:, 0], X, 0.1, 1.0, scale=kind)
    with pytest.raises(ValueError, match="column 'b' has the iqr 0"):
        certreg.feature_scale(pandas.DataFrame({"a": [1.0, 2], "b": [1.0, 1]}), "iqr")


ENABLED = dict(enable_categorical=True, tree_method="hist")


@parametrize("kind, more", ("lightgbm.LGBM", {"verbose": -1}), ("xgboost.XGB", ENABLED))
def test_a_model_that_takes_columns_by_position_is_told_of(kind, more):
    name, _, prefix = kind.partition(".")
    kind = getattr(package(name), prefix + "Regressor")
    X, y = np.random.default_rng(1).normal(size=(2, 100, 3))
    text = "the model has no names for its features: taken in the order of X, d, c, a b$"
    fitted = kind(n_estimators=3, n_jobs=1, **more).fit(X, y[:, 0])
    with pytest.warns(UserWarning, match=text) as told:
        output(fitted, ["d", "c", "a b"])
    assert told[0].filename == __file__  # not a line of the package
    named = pandas.DataFrame(X, columns=GIVEN)
    fitted = kind(n_estimators=3, n_jobs=1, **more).fit(named, y[:, 0])
    booster = getattr(fitted, "booster_", None) or fitted.get_booster()
    for model in (fitted, booster):
        with no_warnings():
            assert output(model, ["d", "c", "a b"]) == output(model, GIVEN)
        with pytest.raises(ValueError, match="X has no feature named"):
            output(model, ["d", "c"])
    frame, price = houses(100)  # categories arrive as they were
    frame["town"] = frame["town"].astype("category")
    fitted = kind(n_estimators=9, n_jobs=1, **more).fit(frame, price)
    booster = getattr(fitted, "booster_", None) or fitted.get_booster()
    for model in (fitted, booster):
        columns = Columns(frame, AREAS)
        found = columns.wrap(as_model(model))(columns.matrix[[8, 3]])
        np.testing.assert_allclose(found, fitted.predict(frame.iloc[[8, 3]]), rtol=1e-6)

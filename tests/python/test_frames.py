"""DataFrames, with columns that get noise or not, as arrays and back."""

import os
import pickle
import unittest
import unittest.mock

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")  # several programs run at a time

from support import certreg, no_warnings, package, run, same
from certreg import as_model, frames
from certreg.frames import Columns, is_frame
from certreg.names import names_of, order

pandas = None


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


class NoFrames(unittest.TestCase):
    def test_arrays_are_no_frames(self):
        self.assertFalse(is_frame(np.zeros((2, 2))))
        self.assertFalse(is_frame([[1]]))


class Frames(unittest.TestCase):
    def setUp(self):
        global pandas
        pandas = package("pandas")


class RoundTrips(Frames):
    def frame(self):
        p = pandas
        return p.DataFrame(
            {
                "f8": [1.5, 2, 3],
                "f4": np.array([1, 2, 3], np.float32),
                "F8": p.array([1.0, 2, 3], dtype="Float64"),
                "i8": [2**60 + 1, 2**60 + 3, 5],
                "I8": p.array([1, None, 2**60 + 1], dtype="Int64"),
                "text": ["x", None, "y"],
                "kind": p.Categorical(["u", "v", None], categories=["w", "v", "u"], ordered=True),
                "day": p.to_datetime(["2020-01-01", "2021-01-01", None]),
                "zone": p.to_datetime(["2020-01-01", "2021-01-01", None]).tz_localize("UTC"),
                "yes": [True, False, True],
                "zero": [0.0, -0.0, np.nan],
                "equal": p.Series([True, 1, 1.0], dtype=object),
                "lists": [[1], [2], [3]],
                "complex": [1j, 2, 3],
            }
        )

    moving = {"f8": 1, "f4": 2, "F8": 0.5}

    def test_rows_come_back_exactly(self):
        frame = self.frame()
        columns = Columns(frame, self.moving)
        self.assertEqual((columns.matrix.dtype, columns.matrix.shape), (np.float32, (3, 14)))
        self.assertEqual(columns.scale.tolist(), [1, 2, 0.5] + [0] * 11)
        for rows in ([0, 1, 2], [2, 2, 0], [1], []):
            with no_warnings():
                back = columns.wrap(itself)(columns.matrix[rows])
            wanted = frame.iloc[rows].reset_index(drop=True)
            pandas.testing.assert_frame_equal(back, wanted, check_exact=True)
        back = columns.wrap(itself)(columns.matrix)
        self.assertEqual([type(v) for v in back["equal"]], [bool, int, float])
        self.assertTrue(np.signbit(back["zero"][1]) and not np.signbit(back["zero"][0]))

    def test_what_moves_arrives(self):
        columns = Columns(self.frame(), self.moving)
        moved = columns.matrix[:2].copy()
        moved[:, :3] += 0.25
        back = columns.wrap(itself)(moved)
        for name in self.moving:
            self.assertEqual(back[name].tolist(), [v + 0.25 for v in self.frame()[name][:2]])
        self.assertEqual(back.dtypes.tolist(), self.frame().dtypes.tolist())

    def test_integers_that_move_become_floats(self):
        columns = Columns(pandas.DataFrame({"n": [1, 2]}), 1)
        back = columns.wrap(itself)(columns.matrix + np.float32(0.5))
        self.assertEqual((back["n"].dtype, back["n"].tolist()), (np.float64, [1.5, 2.5]))

    def test_it_travels_by_pickle(self):
        columns = Columns(self.frame(), self.moving)
        again = pickle.loads(pickle.dumps(columns.wrap(itself)))
        pandas.testing.assert_frame_equal(again(columns.matrix), self.frame())

    def test_tables_have_distinct_values_only(self):
        frame = pandas.DataFrame({"x": np.zeros(10_000), "town": ["a", "b"] * 5000})
        self.assertLess(len(pickle.dumps(Columns(frame).wrap(itself))), 3000)

    def test_more_values_than_float32_counts_are_refused(self):
        with unittest.mock.patch.object(frames, "MOST_VALUES", 2):
            Columns(pandas.DataFrame({"n": [1, 2, 2]}))
            with self.assertRaisesRegex(ValueError, "column 'n' has 3 distinct values, more than"):
                Columns(pandas.DataFrame({"n": [1, 2, 3]}))

    def test_names_may_be_anything(self):
        for names in (["a", "a"], [1, 2], pandas.MultiIndex.from_tuples([("p", 1), ("p", 2)])):
            frame = pandas.DataFrame([[1.0, 2.0]])
            frame.columns = names
            columns = Columns(frame, 1)
            pandas.testing.assert_frame_equal(columns.wrap(itself)(columns.matrix), frame)


class Scales(Frames):
    def test_scales(self):
        frame, _ = houses(4)
        for scale, wanted in (
            (None, [1, 0, 0, 1, 0, 0]),
            ({"age": 5, "rooms": 0.5}, [0, 0, 0, 5, 0.5, 0]),
            (0, [0] * 6),
            ([8, 0, 0, 5, 0, 0], [8, 0, 0, 5, 0, 0]),
        ):
            self.assertEqual(Columns(frame, scale).scale.tolist(), wanted)
        self.assertEqual(Columns(frame[["area", "rooms"]], 3).scale.tolist(), [3, 3])

    def test_what_does_not_fit_is_refused(self):
        frame, _ = houses(4)
        frame.loc[2, "age"] = np.nan
        big = pandas.DataFrame({"big": [1e300]})
        for f, scale, error, text in (
            (frame, {"height": 1}, ValueError, "'height', which is no column"),
            (
                frame,
                {"town": 1},
                ValueError,
                "column 'town' is .*only numbers can get noise: give it",
            ),
            (frame, {"heating": 1}, ValueError, "column 'heating' is category"),
            (frame, {"garden": 1}, ValueError, "column 'garden' is bool"),
            (frame, 1, ValueError, "column 'town'"),
            (frame, None, ValueError, "column 'age' is nan in row 2"),
            (frame, [1, 2], ValueError, r"scale has shape \(2,\); it must be \(6,\)"),
            (frame, {"area": "much"}, TypeError, "scale must hold numbers"),
            (big, None, ValueError, r"column 'big' is 1e\+300 in row 0, and only finite"),
        ):
            with self.assertRaisesRegex(error, text), no_warnings():
                Columns(f, scale)
        self.assertEqual(Columns(frame, {"area": 1}).scale.sum(), 1)  # NaN may stay


class Positions:
    """A model that looks at the positions of columns only, as those of LightGBM do."""

    def __init__(self, *names):
        self.feature_names_in_ = np.array(names, object)

    def predict(self, x):
        return np.asarray(x) @ [1.0, 10.0, 100.0]


class NamesOfModels(Frames):
    def setUp(self):
        super().setUp()
        self.frame = pandas.DataFrame([[1.0, 2.0, 3.0]], columns=["a b", "c", "d"])

    def output(self, model, names):
        """The output for columns in this order."""
        columns = Columns(self.frame[names])
        return float(columns.wrap(as_model(model))(columns.matrix)[0])

    def test_columns_go_in_as_the_model_names_them(self):
        for names in (["a b", "c", "d"], ["d", "c", "a b"], ["c", "d", "a b"]):
            with no_warnings():
                self.assertEqual(self.output(Positions("a b", "c", "d"), names), 321)
                self.assertEqual(self.output(Positions("d", "a_b", "c"), names), 213)
                self.assertEqual(self.output(Positions("c", "d", "a_b").predict, names), 132)

    def test_certificates_are_about_the_columns_with_these_names(self):
        X = np.random.default_rng(1).normal(size=(4, 3))
        frame, fitted = pandas.DataFrame(X, columns=list("abc")), Positions(*"abc")
        more = dict(samples=100, seed=1, progress=False, scale={"a": 1})
        for names in ("abc", "acb", "cba"):
            rows = certreg.certify_rows(fitted, frame[[*names]], 0.1, 1.0, **more)
            away = rows["prediction"][:, 0, 0] - fitted.predict(X)
            self.assertLess(np.abs(away).max(), 0.5)
            self.assertGreater(rows["radius"].min(), 0)

    def test_other_names_are_refused(self):
        for names, text in (
            (("a b", "c", "e"), "X has no feature named 'e', as the model has, but 'd': give both"),
            (("a b", "c"), "X has a feature named 'd', which the model has not: leave it out"),
            (("a b", "c", "d", "e"), "X has no feature named 'e', as the model has: add it"),
            (("a b", "c", "c"), "the model has two features named 'c'"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                self.output(Positions(*names), ["a b", "c", "d"])
            with self.assertRaisesRegex(ValueError, text):
                certreg.certify_rows(Positions(*names), self.frame, 0.1, 1.0, samples=100)

    def test_names_that_a_package_made_up_count_if_both_have_them(self):
        for begin in ("f", "Column_", ""):
            made_up = [f"{begin}{i}" for i in range(3)]
            with no_warnings():
                self.assertEqual(self.output(Positions(*made_up), ["d", "c", "a b"]), 123)
            self.assertIsNone(names_of(Positions(*made_up)))
            self.frame.columns = made_up
            self.assertEqual(self.output(Positions(*made_up), made_up[::-1]), 321)
            self.frame.columns = ["a b", "c", "d"]

    def test_names_are_refused_where_nothing_looks_at_them(self):
        X = np.random.default_rng(1).normal(size=(20, 3))
        said = "X is a DataFrame: give X.to_numpy"
        with self.assertRaisesRegex(TypeError, said):
            certreg.Calibrated(Positions(*"abc"), pandas.DataFrame(X), X[:, 0], 0.1)
        with certreg.Calibrated(Positions(*"abc"), X, X[:, 0], 0.1, samples=11) as calibrated:
            self.assertEqual(len(calibrated.intervals(X[:2], 0, 0.5)), 2)
            with self.assertRaisesRegex(TypeError, said):
                calibrated.intervals(pandas.DataFrame(X[:2], columns=list("cba")), 0, 0.5)
            frame = pandas.DataFrame(X, columns=list("cba"))
            for z in (frame[:1], frame.iloc[0]):
                with self.assertRaisesRegex(TypeError, "nothing looks at its names: give x.to_nu"):
                    calibrated.interval(z, 0, 0.5)
        scale = pandas.Series([1, 2, 0], list("cba"))
        with self.assertRaisesRegex(TypeError, "scale is a Series, and nothing looks at its names"):
            certreg.certify_rows(Positions(*"abc"), X, 0.1, 1.0, scale=scale)

    def test_a_model_that_takes_columns_by_position_is_told_of(self):
        lightgbm, xgboost = package("lightgbm"), package("xgboost")
        X, y = np.random.default_rng(1).normal(size=(2, 100, 3))
        y = y[:, 0]
        text = "the model has no names for its features: taken in the order of X, d, c, a b$"
        for kind, more in ((lightgbm.LGBMRegressor, {"verbose": -1}), (xgboost.XGBRegressor, {})):
            fitted = kind(n_estimators=3, n_jobs=1, **more).fit(X, y)
            with self.assertWarnsRegex(UserWarning, text):
                self.output(fitted, ["d", "c", "a b"])
            named = pandas.DataFrame(X, columns=["a b", "c", "d"])
            fitted = kind(n_estimators=3, n_jobs=1, **more).fit(named, y)
            booster = getattr(fitted, "booster_", None) or fitted.get_booster()
            for model in (fitted, booster):
                with no_warnings():
                    turned = self.output(model, ["d", "c", "a b"])
                    self.assertEqual(turned, self.output(model, ["a b", "c", "d"]))
                with self.assertRaisesRegex(ValueError, "X has no feature named"):
                    self.output(model, ["d", "c"])

    def test_models_of_scikit_learn_without_names_are_told_of_too(self):
        """Also those that were fitted to a DataFrame whose names are numbers."""
        package("sklearn")
        from sklearn.linear_model import LinearRegression

        X, y = np.random.default_rng(1).normal(size=(2, 100, 3))
        self.frame.columns = [7, 8, 9]
        fitted = LinearRegression().fit(pandas.DataFrame(X, columns=self.frame.columns), y[:, 0])
        text = "the model has no names for its features: taken in the order of X, 9, 7, 8$"
        with self.assertWarnsRegex(UserWarning, text):
            self.output(fitted, [9, 7, 8])

    def test_names_that_differ_by_an_underscore_are_told_apart(self):
        names = ["a b", "a_b", " c"]
        self.assertEqual(order(names[::-1], names, "X", "the model"), [2, 1, 0])
        self.assertEqual(order(["c", "a b"], ["a_b", " c"], "X", "the model"), [1, 0])
        with self.assertRaisesRegex(ValueError, "X has two features named 'a_b'"):
            order(names, ["a_b", "d"], "X", "the model")

    def test_a_scale_that_was_chosen_has_the_names(self):
        X = np.random.default_rng(1).normal(size=(12, 3))
        frame, names = pandas.DataFrame(X, columns=list("abc")), list("cab")
        more = dict(samples=100, seed=1, progress=False, rounds=1)
        t = certreg.tune_scale(Positions(*"abc"), frame, 5.0, [0.1], **more)
        self.assertEqual(list(t.scale.index), list("abc"))
        turned = Columns(frame[names], t.scale).scale
        self.assertEqual(turned.tolist(), [t.scale[name] for name in names])


class Pipelines(Frames):
    """Certificates of rows of a DataFrame with a model that was fitted to it."""

    def certificates(self, function, columns, rows=5):
        """By one Estimator for all rows."""
        with (
            no_warnings(),
            certreg.Estimator(columns.wrap(function), 6, 600, scale=columns.scale, seed=1) as e,
        ):
            return [e.certify(z, 0.5, 600, 20.0) for z in columns.matrix[:rows]]

    def by_hand(self, function, frame, row):
        """The same by a function for each row, with the values of columns without noise inside."""

        def f(x):
            part = pandas.concat([frame.iloc[[row]]] * len(x), ignore_index=True)
            part["area"], part["age"] = x[:, 0].astype(float), x[:, 3].astype(float)
            return function(part)

        z = [frame["area"][row], 0, 0, frame["age"][row], 0, 0]
        with certreg.Estimator(f, 6, 600, scale=[8, 0, 0, 5, 0, 0], seed=1) as e:
            return e.certify(z, 0.5, 600, 20.0, noise_id=row)

    def agrees(self, function, frame):
        found = self.certificates(function, Columns(frame, {"area": 8, "age": 5}))
        self.assertTrue(all(c.certified for c in found))
        self.assertGreater(len({c.prediction for c in found}), 4)
        self.assertTrue(same(found, [self.by_hand(function, frame, row) for row in range(5)]))

    def test_a_pipeline_of_scikit_learn(self):
        package("sklearn")
        from sklearn.compose import ColumnTransformer
        from sklearn.ensemble import GradientBoostingRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        frame, price = houses()
        fitted = make_pipeline(
            ColumnTransformer(
                [
                    ("kinds", OneHotEncoder(), ["town", "heating"]),
                    ("numbers", StandardScaler(), ["area", "age", "rooms"]),
                ],
                remainder="passthrough",
            ),
            GradientBoostingRegressor(n_estimators=30, random_state=0),
        ).fit(frame, price)
        self.agrees(as_model(fitted), frame)

    def test_categories_of_lightgbm(self):
        lightgbm = package("lightgbm")
        frame, price = houses()
        frame["town"] = frame["town"].astype("category")
        fitted = lightgbm.LGBMRegressor(n_estimators=30, verbose=-1, n_jobs=1).fit(frame, price)
        for given in (fitted, fitted.booster_):
            self.agrees(as_model(given), frame)
        self.assertTrue(
            same(
                self.certificates(as_model(fitted), Columns(frame), 1),
                self.certificates(fitted.predict, Columns(frame), 1),
            )
        )

    def test_categories_of_xgboost(self):
        xgboost = package("xgboost")
        frame, price = houses()
        frame["town"] = frame["town"].astype("category")
        fitted = xgboost.XGBRegressor(n_estimators=30, n_jobs=1, enable_categorical=True)
        fitted.fit(frame, price)
        for given in (fitted, fitted.get_booster()):
            self.agrees(as_model(given), frame)


if __name__ == "__main__":
    run()

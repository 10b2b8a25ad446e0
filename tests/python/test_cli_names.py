"""Columns are matched by their names, or refused; where one side has none, their order is said."""

import unittest

import numpy as np

from support import drawn_from, run
from support_cli import ASKED, InFolder, X, certreg, read

NAMED = """
class Fitted:
    feature_names_in_ = np.array(["age", "sex", "bmi"], dtype=object)
    def predict(self, x):
        x = np.asarray(x)
        return x[:, 0] + 3 * x[:, 1] * x[:, 2]
fitted = Fitted()
"""
NAMES = ("age", "sex", "bmi")


class Named(InFolder):
    def setUp(self):
        super().setUp()
        with open("models.py", "a", encoding="utf-8") as file:
            file.write(NAMED)
        self.write("x.csv", NAMES, X)
        self.write("turned.csv", NAMES[::-1], X[:, ::-1])

    def write(self, name, names, values):
        with open(name, "w", encoding="utf-8") as file:
            file.write(", ".join(names) + "\n")
            np.savetxt(file, np.atleast_2d(values), delimiter=",")

    def radii(self, model, x, *more, says=""):
        """The table of a command that says one thing at most on standard error."""
        status, _, err = certreg("certify", f"models.py:{model}", x, *ASKED, *more, "-o", "r.csv")
        self.assertEqual(status, 0, err)
        self.assertRegex(err, rf"\Acertreg: {says}\n\Z" if says else r"\A\Z")
        return read("r.csv")


class Inputs(Named):
    def test_they_go_in_as_the_model_names_them(self):
        wanted = self.radii("fitted", "x.csv")
        self.assertEqual(self.radii("fitted", "turned.csv"), wanted)
        self.assertNotEqual(self.radii("product", "x.csv", "-q"), wanted)

    def test_other_names_are_refused(self):
        for names, sentence in (
            (("age", "sex", "BMI"), "no feature named 'bmi', as .*:fitted has, but 'BMI': give"),
            (("age", "sex"), "x.csv has no feature named 'bmi', as models.py:fitted has: add it"),
            (("age", "sex", "bmi", "id"), "named 'id', which models.py:fitted has not: leave it"),
            (("age", "sex", "sex"), "x.csv has two features named 'sex'"),
        ):
            self.write("x.csv", names, np.ones((6, len(names))))
            self.certify_refused(sentence, model="models.py:fitted", x="x.csv")

    def test_a_model_without_names_is_told_of(self):
        says = "models.py:product has no names for its features: taken in the order of "
        for x, order in (("x.csv", "age, sex, bmi"), ("turned.csv", "bmi, sex, age")):
            self.radii("product", x, says=f"{says}{x}, {order}")
            self.radii("product", x, "-q")
        self.write("wide.csv", [f"x{i}" for i in range(20)], np.ones((6, 20)))
        self.radii("product", "wide.csv", says=says + r"wide.csv, x0, .*, x7, \.\.\. \(20\)")

    def test_inputs_without_names_are_told_of(self):
        said = "x.npy has no names for its features: taken in the order of models.py:fitted, "
        self.assertEqual(
            self.radii("fitted", "x.npy", says=said + "age, sex, bmi"),
            self.radii("fitted", "x.csv"),
        )
        self.radii("product", "x.npy")  # where neither has names there is nothing to say

    def test_names_that_are_numbers_are_not_taken_for_an_input(self):
        with open("models.py", "a", encoding="utf-8") as file:
            file.write('class Years(Fitted):\n    feature_names_in_ = ["2019", "2020", "2021"]\n')
            file.write("years = Years()\n")
        self.write("years.csv", ("2021", "2019", "2020"), X)
        said = "years.csv begins with the names of models.py:years, which are numbers: leave out"
        self.certify_refused(said, model="models.py:years", x="years.csv")

    def test_a_run_continues_with_the_same_columns_in_another_order(self):
        more = ("--resume", "r.sqlite")
        wanted = self.radii("fitted", "x.csv", *more)
        self.assertEqual(self.radii("fitted", "turned.csv", *more), wanted)
        self.radii("product", "x.csv", "--resume", "r", "-q")
        self.certify_refused("arguments .X.", "--resume", "r", "-q", x="turned.csv", status=4)

    def test_check_speaks_of_them(self):
        self.write("x.csv", NAMES[::-1], X + np.array([1.7e9, 0, 0]))
        status, out, err = certreg("check", "models.py:fitted", "x.csv", "--sigma", 1)
        self.assertEqual((status, err), (1, ""))
        self.assertIn("feature 'bmi' is 1700000", out)

    def test_calibration_points(self):
        inputs = np.random.default_rng(6).normal(size=(60, 3))
        self.write("points.csv", NAMES, inputs)
        self.write("points_turned.csv", NAMES[::-1], inputs[:, ::-1])
        np.save("truths.npy", inputs.sum(1))
        tables = []
        for model, x, points in (
            ("fitted", "x.csv", "points.csv"),
            ("fitted", "turned.csv", "points_turned.csv"),
            ("product", "x.csv", "points_turned.csv"),
            ("product", "x.csv", "points.csv"),
        ):
            asked = ("--truths", "truths.npy", "--sigma", ".3", "--radius", ".05", "--alpha", ".2")
            words = ("interval", f"models.py:{model}", x, "--calibration", points, *asked)
            with drawn_from(5):
                tables.append(self.rows_of(*words, "--samples", 31, "--seed", 3)[0]["width"])
        self.assertEqual(tables[0], tables[1])
        self.assertEqual(tables[2], tables[3])


class Scales(Named):
    def test_they_are_those_of_the_features_with_their_names(self):
        self.write("scale.csv", NAMES, [1, 0.5, 4])
        self.write("scale_turned.csv", NAMES[::-1], [4, 0.5, 1])
        np.save("scale.npy", [1, 0.5, 4])
        wanted = self.radii("fitted", "x.csv", "--scale", "scale.csv")
        for x, scale in (("turned.csv", "scale.csv"), ("x.csv", "scale_turned.csv")):
            self.assertEqual(self.radii("fitted", x, "--scale", scale), wanted)
        says = "scale.npy has no names for its features: taken in the order of models.py:fitted"
        more = ("--scale", "scale.npy")
        says += ", age, sex, bmi"
        self.assertEqual(self.radii("fitted", "turned.csv", *more, says=says), wanted)
        plain = self.radii("product", "x.csv", "--scale", "scale.csv", "-q")
        again = self.radii("product", "x.csv", "--scale", "scale_turned.csv", "-q")
        self.assertEqual(plain, again)

    def test_other_names_are_refused(self):
        self.write("scale.csv", ("age", "sex", "height"), [1, 1, 1])
        for model, owner in (("fitted", "models.py:fitted"), ("product", "x.csv")):
            said = f"scale.csv has no feature named 'bmi', as {owner} has, but 'height'"
            more = ("--scale", "scale.csv", "-q")
            self.certify_refused(said, *more, model=f"models.py:{model}", x="x.csv")

    def test_a_column_of_numbers_names_no_features(self):
        self.write("scale.csv", ("noise",), np.array([[1], [0.5], [4]]))
        says = "scale.csv has no names for its features: taken in the order of models.py:fit.*"
        self.radii("fitted", "x.csv", "--scale", "scale.csv", says=says)

    def test_a_scale_that_was_chosen_keeps_the_names(self):
        held = np.random.default_rng(6).normal(size=(24, 3))
        self.write("held.csv", NAMES[::-1], held[:, ::-1])
        self.write("groups.csv", NAMES[::-1], [2, 1, 1])
        tune = ("--sigma", ".2", "--tolerance", 2, "--samples", 100, "--seed", 3, "--rounds", 2)
        words = ("scale", "models.py:fitted", "held.csv", *tune, "-o", "scale.csv")
        status, out, err = certreg(*words)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"\A *group .*\n *age .*\n *sex .*\n *bmi ")
        with open("scale.csv", encoding="utf-8") as file:
            self.assertEqual(file.readline(), "age,sex,bmi\n")
        self.radii("fitted", "turned.csv", "--scale", "scale.csv")
        certreg(*words, "--groups", "groups.csv")
        age, sex, _ = scale = tuple(float(read("scale.csv")[0][name]) for name in NAMES)
        self.assertEqual(age, sex)
        certreg(*words[:-1], "scale.npy", "--groups", "groups.csv")
        self.assertEqual(np.load("scale.npy").tolist(), list(np.float32(scale)))


if __name__ == "__main__":
    run()

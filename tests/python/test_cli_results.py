"""What the commands certify, sigma and bounds write."""

import csv
import io
import json
import os
import sys

import numpy as np

from support import run
from support_cli import ASKED, MODELS, STEPS, InFolder, X, certreg
from certreg import Estimator, Question
from certreg.cli import tables


class Results(InFolder):
    def test_rows_are_those_of_the_library(self):
        table = self.rows_of("certify", "models.py:product", "x.npy", *ASKED)
        question = Question(tolerance=0.5)
        with Estimator(lambda x: x[:, 0] + x[:, 1] * x[:, 2], 3, 200, seed=7, batch=200) as e:
            for i, row in enumerate(table):
                c = e.certify(X[i], 0.25, 200, question, noise_id=i)
                self.assertEqual((row["row"], row["outcome"]), (str(i), c.outcome.name.lower()))
                self.assertEqual(float(row["radius"]), c.radius)
                self.assertEqual(float(row["prediction"]), c.prediction)
        self.assertEqual(len(table), 6)

    def test_constraints_may_be_named(self):
        ask = ("certify", "models.py:product", "x.npy", *ASKED, "--samples", 1500)
        default, named = (
            [(row["radius"], row["constraints"]) for row in self.rows_of(*ask, *more)]
            for more in ((), ("--constraints", "ecgm"))
        )
        self.assertNotEqual(default, named)

    def test_the_pilot_may_have_another_length(self):
        ask = ("certify", "models.py:product", "x.npy", *ASKED)
        with Estimator(lambda x: x[:, 0] + x[:, 1] * x[:, 2], 3, 200, seed=7, pilot=9) as e:
            c = e.certify(X[0], 0.25, 200, 0.5, noise_id=0)
        self.assertEqual(float(self.rows_of(*ask, "--pilot", 9)[0]["radius"]), c.radius)
        self.assertNotEqual(float(self.rows_of(*ask)[0]["radius"]), c.radius)

    def test_kinds_of_models_and_inputs_agree(self):
        wanted = self.rows_of("certify", "models.py:product", "x.npy", *ASKED)
        np.savez("x.npz", x=X, other=X)
        np.savetxt("x.csv", X, delimiter=",", header="a,b,c", comments="")
        np.savetxt("bare.csv", X, delimiter=";")
        for model in ("models:product", "models.py:two", "models.py:makes_two"):
            self.assertEqual(self.rows_of("certify", model, "x.npy", *ASKED), wanted)
        for x in (("x.csv",), ("bare.csv",), ("x.npz", "--array", "x")):
            self.assertEqual(self.rows_of("certify", "models.py:product", *x, *ASKED), wanted)
        twice = self.rows_of(
            *("certify", "models.py:two", "x.npy", *ASKED, "--output", 1, "--tolerance", 1)
        )
        for a, b in zip(wanted, twice):
            self.assertAlmostEqual(float(a["radius"]), float(b["radius"]), places=9)

    def test_parts_are_those_of_the_whole(self):
        ask = ("certify", "models.py:product", "x.npy", *ASKED)
        parts = [self.rows_of(*ask, "--rows", rows) for rows in (":2", "2:")]
        self.assertEqual(parts[0] + parts[1], self.rows_of(*ask))

    def test_labels(self):
        labels = X[:, 0] + X[:, 1] * X[:, 2] + 5 * (np.arange(6) % 2)
        np.save("y.npy", labels)
        ask = ("certify", "models.py:product", "x.npy", *ASKED, "--labels", "y.npy")
        table = self.rows_of(*ask, "--rows", "1:6")
        right = 0
        for row in table:
            self.assertEqual(float(row["label"]), labels[int(row["row"])])
            error = abs(float(row["prediction"]) - float(row["label"]))
            self.assertAlmostEqual(float(row["label_error"]), error)
            right += error <= 0.5 and float(row["radius"]) > 0
        self.assertTrue(0 < right < 5)
        out = certreg(*ask, "--rows", "1:6")[1]
        self.assertEqual(float(out.split()[-1]), right / 5)

    def test_labels_of_angles_go_round(self):
        np.save("turn.npy", [[3.1, 0, 0]])  # 177.6 degrees
        np.save("label.npy", [-175.0])
        row = self.rows_of(
            *("certify", "models.py:pair", "turn.npy", "--pair", "--labels", "label.npy"),
            *("--sigma", ".05", "--tolerance", "20", "--seed", "1"),
        )[0]
        self.assertAlmostEqual(float(row["label_error"]), 7.4, delta=1)
        self.assertGreater(float(row["radius"]), 0)

    def test_json_has_everything_but_the_seed(self):
        ask = ("certify", "models.py:product", "x.npy", *ASKED, "--seed", "987654321")
        self.assertEqual(certreg(*ask, "-o", "r.json")[0], 0)
        with open("r.json", encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("987654321", text)
        said = json.loads(text)
        self.assertEqual(
            (said["complete"], len(said["rows"]), said["plan"]["sigma"]), (True, 6, 0.25)
        )
        self.assertEqual(said["summary"][0]["certified"], 6)
        self.assertEqual(certreg(*ask, "-o", "r.json", "--keep-seed")[0], 0)
        with open("r.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["plan"]["seed"], "987654321")

    def test_rows_on_standard_output(self):
        status, out, err = certreg("certify", "models.py:product", "x.npy", *ASKED, "-o", "-")
        self.assertEqual((status, len(list(csv.DictReader(io.StringIO(out))))), (0, 6))
        self.assertIn("mean radius", err)

    def test_rows_without_an_answer(self):
        ask = ("certify", "models.py:sometimes_nan", "steps.npy", *ASKED)
        status, out, err = certreg(*ask)
        self.assertEqual(status, 1)
        self.assertRegex(err, "certificates are missing.* row [567].*nan.*--count-failures")
        table = self.rows_of(*ask, status=1)
        self.assertEqual([bool(row["error"]) for row in table][-3:], [True] * 3)
        self.assertEqual([float(row["radius"]) for row in table][-3:], [0] * 3)
        table = self.rows_of(*ask, "--count-failures")
        self.assertEqual({row["error"] for row in table}, {""})

    def test_rows_without_an_answer_have_no_numbers_and_enter_no_mean(self):
        np.save("y.npy", np.where(STEPS[:, 0] > 4, 1000, STEPS[:, 0] + 1))
        ask = ("certify", "models.py:sometimes_nan", "steps.npy", *ASKED, "--labels", "y.npy")
        table = self.rows_of(*ask, status=1)
        for row in table:
            numbers = [row[name] for name in ("prediction", "tolerance", "alpha", "label_error")]
            self.assertEqual([n == "nan" for n in numbers], [bool(row["error"])] * 4)
        self.rows_of(*ask, name="r.json", status=1)
        with open("r.json", encoding="utf-8") as file:
            said = json.load(file)
        for name in ("prediction", "tolerance", "alpha", "label_error"):
            self.assertIs(said["rows"][-1][name], None)
        known = [float(row["label_error"]) for row in table if not row["error"]]
        summary = said["summary"][0]
        self.assertEqual(summary["failed"], len(table) - len(known))
        self.assertAlmostEqual(summary["mean_error"], np.mean(known))
        (name,) = tables.curves(said["rows"], False)
        self.assertEqual(name, "sigma 0.25, tolerance 0.5")

    def test_where_no_row_has_an_answer_there_is_no_mean_error(self):
        np.save("far.npy", STEPS[8:])
        np.save("y.npy", [1, 2])
        ask = ("certify", "models.py:sometimes_nan", "far.npy", *ASKED, "--labels", "y.npy")
        status, out, err = certreg(*ask)
        self.assertEqual((status, out.split()[-3]), (1, "nan"))
        self.assertNotIn("Warning", err)

    def test_a_failing_model_loses_nothing(self):
        ask = ("certify", "models.py:fails_late", "steps.npy", *ASKED)
        files = ("-o", "r.json", "--resume", "r.sqlite")
        self.refused(3, "row 3: ValueError: three is .*; 3 of 10 .*r.json and r", *ask, *files)
        with open("r.json", encoding="utf-8") as file:
            said = json.load(file)
        self.assertEqual((said["complete"], len(said["rows"])), (False, 3))
        with open("models.py", "w", encoding="utf-8") as file:
            file.write(MODELS.replace("< 0.5", "< -1"))
        del sys.modules["models"]
        resumed = self.rows_of(*ask, "--resume", "r.sqlite")
        self.assertEqual(resumed, self.rows_of("certify", "models.py:product", *ask[2:]))

    def test_sigma_recommends_the_greatest_mean_radius(self):
        ask = ("sigma", "models.py:product", "x.npy", *ASKED, "--sigma", ".05,.25,2")
        table = self.rows_of(*ask)
        means = {}
        for row in table:
            means.setdefault(row["sigma"], []).append(float(row["radius"]))
        best = max(means, key=lambda sigma: np.mean(means[sigma]))
        self.assertEqual((len(table), best), (18, "0.25"))
        self.assertIn(
            f"Deploy sigma 0.25 for tolerance 0.5. Its mean radius, {np.mean(means[best]):.5g}, is "
            "the greatest.\n",
            certreg(*ask)[1],
        )
        np.save("y.npy", X[:, 0] + X[:, 1] * X[:, 2])
        said = certreg(*ask, "--labels", "y.npy", "--tolerance", ".8,.2")[1]
        rule = "among the sigmas whose mean error is at most 0.1 tolerances above the least."
        for sigma, tolerance in ((0.25, 0.8), (0.05, 0.2)):
            self.assertRegex(said, f"Deploy sigma {sigma} for tolerance {tolerance}. .* {rule}")
        self.assertIn("mean error  useful radius  certified accuracy", said)
        self.assertIn("Try larger ones", certreg(*ask, "--sigma", ".01,.05")[1])
        self.assertRegex(
            certreg(*ask, "--sigma", "20,40")[1], "No sigma certifies .*: try a larger tolerance"
        )

    def test_sigma_leaves_out_rows_that_failed_at_some_level(self):
        ask = ("sigma", "models.py:sometimes_nan", "steps.npy", *ASKED, "--sigma", ".05,.2")
        table = self.rows_of(*ask, status=1)
        failed = {row["row"] for row in table if row["error"]}
        self.assertTrue({"7", "8", "9"} <= failed < {str(row) for row in range(10)})
        kept = [row for row in table if row["sigma"] == "0.2" and row["row"] not in failed]
        mean = np.mean([float(row["radius"]) for row in kept])
        status, out, _ = certreg(*ask)
        said = out.splitlines()[-1]
        self.assertRegex(said, rf"\ADeploy sigma 0.2 .* mean radius, {mean:.5g}, is the greatest")
        self.assertIn(f"failed at some sigma are left out at all of them: {len(failed)}.", said)
        self.assertEqual(status, 1)
        said = certreg(*ask, "--rows", "8:")[1]
        self.assertIn("No sigma is recommended, since each of the 2 rows failed at some", said)

    def test_sigma_has_noise_of_its_own(self):
        words = ("models.py:product", "x.npy", *ASKED)
        a, b = (self.rows_of(command, *words)[0]["estimate"] for command in ("sigma", "certify"))
        self.assertNotEqual(a, b)

    def test_bounds(self):
        ask = ("bounds", "models.py:product", "x.npy", "--sigma", ".25", "--samples", "200")
        row = self.rows_of(*ask, "--radius", ".2", "--seed", "7")[2]
        with Estimator(lambda x: x[:, 0] + x[:, 1] * x[:, 2], 3, 200, seed=7, batch=200) as e:
            e.begin(X[2], 0.25, 2)
            c = e.output_bounds(200, 0.2, Question(tolerance=0))
        got = (float(row["output_lo"]), float(row["output_hi"]))
        self.assertEqual(got, (c.output_lo, c.output_hi))
        self.assertIn("median width", certreg(*ask, "--radius", ".2")[1])
        self.assertRegex(certreg(*ask, "--radius", "2.4")[1], r" 0 +0 +inf\n\Z")  # none is bounded

    def test_a_file_is_whole_or_as_it_was(self):
        self.rows_of("certify", "models.py:product", "x.npy", *ASKED)
        with open("r.csv", encoding="utf-8") as file:
            before = file.read()
        words = ("certify", "models.py:fails", "x.npy", *ASKED, "-o", "r.csv")
        self.assertEqual(certreg(*words)[0], 3)
        with open("r.csv", encoding="utf-8") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(sorted(os.listdir()), ["models.py", "r.csv", "steps.npy", "x.npy"])


if __name__ == "__main__":
    run()

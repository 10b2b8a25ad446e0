"""The command certreg interval."""

import csv
import json
import os
import unittest

import numpy as np

from support import run
from support_cli import InFolder, certreg

MORE_MODELS = """
WEIGHTS = np.array([1, 0.5, -0.5], np.float32)
def linear(x): return x @ WEIGHTS
def second(x): return np.stack([0 * x[:, 0], x @ WEIGHTS], 1)
def turn(x): return 170 + x @ WEIGHTS
"""
INTERVAL = ("--calibration", "points.npy", "--truths", "truths.npy", "--sigma", ".3")
MORE = ("--radius", ".1", "--alpha", ".1", "--samples", 31, "--seed", 3)
INPUTS = np.random.default_rng(6).normal(size=(240, 3))
TRUTHS = INPUTS @ np.array([1, 0.5, -0.5]) + 0.5 * np.random.default_rng(7).normal(size=240)


class Intervals(InFolder):
    def setUp(self):
        super().setUp()
        with open("models.py", "a", encoding="utf-8") as file:
            file.write(MORE_MODELS)
        np.save("points.npy", INPUTS[:160])
        np.save("truths.npy", TRUTHS[:160])
        np.save("new.npy", INPUTS[160:])
        np.save("labels.npy", TRUTHS[160:])

    def printed(self, *more, model="models.py:linear", new="new.npy"):
        status, out, err = certreg("interval", model, new, *INTERVAL, *MORE, *more, "-q")
        self.assertEqual((status, err), (0, ""))
        return out

    def wrong(self, sentence, *more, model="models.py:linear", status=2):
        self.refused(status, sentence, "interval", model, "new.npy", *INTERVAL, *MORE, *more)

    def test_intervals_and_their_coverage_are_told(self):
        out = self.printed("--labels", "labels.npy", "-o", "intervals.csv")
        names = "sigma radius alpha rows empty infinite".split()
        self.assertEqual(out.split()[:6], names)
        self.assertGreater(float(out.split()[-1]), 0.85)
        with open("intervals.csv", newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual([int(line["row"]) for line in lines], list(range(80)))
        for line in lines:
            inside = float(line["lo"]) <= float(line["label"]) <= float(line["hi"])
            self.assertEqual(int(line["covered"]), inside)

    def test_a_seed_fixes_the_calibration_and_not_the_noise_of_new_inputs(self):
        tables = []
        for name in ("one.csv", "other.csv"):
            self.printed("-o", name, "--rows", "0:20")
            tables.append(np.genfromtxt(name, delimiter=",", names=True))
        self.assertTrue((tables[0]["lo"] != tables[1]["lo"]).all())

    def test_results_have_other_forms(self):
        self.printed("-o", "intervals.json", "--rows", "3:5")
        with open("intervals.json", encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual([line["row"] for line in document["rows"]], [3, 4])
        self.assertEqual(document["summary"][0]["rows"], 2)
        status, out, err = certreg("interval", "models.py:linear", "new.npy", *INTERVAL, *MORE,
                                   *("-q", "-o", "-"))  # fmt: skip
        self.assertEqual(status, 0)
        self.assertIn("row,lo,hi,width", out)
        self.assertIn("mean width", err)

    def test_another_output_and_angles(self):
        plain = self.printed()
        second = self.printed("--output", 1, model="models.py:second")
        widths = [float(out.split()[-2]) for out in (plain, second)]  # medians
        self.assertAlmostEqual(widths[1] / widths[0], 1, delta=0.05)
        np.save("truths.npy", TRUTHS[:160] + 170)
        self.printed("--angle", "deg", "-o", "arcs.csv", model="models.py:turn")
        with open("arcs.csv", newline="", encoding="utf-8") as file:
            widths = [float(line["width"]) for line in csv.DictReader(file)]
        self.assertLess(max(widths), 10)

    def test_refusals(self):
        self.wrong("radius is '-1'; it must be a number of at least 0", "--radius", "-1")
        self.wrong("sigma is '0'", "--sigma", 0)
        self.wrong("no number of points is enough", "--radius", 9)
        self.wrong("need at least", "--alpha", "0.001")
        self.wrong("for each of the 160 inputs", "--truths", "labels.npy")
        self.wrong("for each of the 80 inputs", "--labels", "truths.npy")
        self.wrong("there is no file|cannot be read", "--calibration", "nowhere.npy")
        self.wrong("returns 1 column", "--output", 1)
        self.wrong("--range cannot be combined", "--range", "0,1", "--angle", "deg")
        said = "row 0: ValueError: first line second line"
        self.wrong(said, model="models.py:fails", status=3)
        self.assertFalse(os.path.exists("intervals.csv"))


if __name__ == "__main__":
    run()

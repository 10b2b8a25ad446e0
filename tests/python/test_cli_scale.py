"""The command certreg scale."""

import os
import unittest

import numpy as np

from support import run
from support_cli import InFolder, certreg

MORE_MODELS = """
def linear(x): return x @ [4, 2, 1]
def even(x): return x.sum(1)
def constant(x): return x[:, 0] * 0
def both(x): return np.stack([x.sum(1), x @ [1, 9, 1]], 1)
"""
TUNE = ("--sigma", ".1,.2,.4", "--tolerance", 1, "--samples", 200, "--seed", 3)
INPUTS = np.random.default_rng(6).normal(size=(24, 3)).astype(np.float32)


class Scale(InFolder):
    def setUp(self):
        super().setUp()
        with open("models.py", "a", encoding="utf-8") as file:
            file.write(MORE_MODELS)
        np.save("held.npy", INPUTS)

    def tune_refused(self, sentence, *more, model="models.py:linear", status=2):
        self.refused(status, sentence, "scale", model, "held.npy", *TUNE, *more)

    def tuned(self, *more, model="models.py:linear"):
        status, out, err = certreg("scale", model, "held.npy", *TUNE, *more, "-q")
        self.assertEqual((status, err), (0, ""))
        return out

    def test_the_scale_serves_certify(self):
        out = self.tuned("-o", "scale.npy")
        self.assertRegex(out, r"^group +share +factor\n")
        self.assertRegex(out, r"\nDeploy sigma 0\.\d with this scale\. .* is 1\.\d+ times")
        scale = np.load("scale.npy")
        np.testing.assert_allclose(scale, np.array([0.5, 1, 2]), rtol=0.15)
        lines = self.rows_of(
            *("certify", "models.py:linear", "held.npy", "--sigma", ".2", "--tolerance", 1),
            *("--scale", "scale.npy"),
        )
        self.assertEqual(len(lines), len(INPUTS))

    def test_groups_start_and_labels(self):
        np.save("groups.npy", [5, 5, 9])
        np.save("start.npy", [1, 1, 0.5])
        np.save("labels.npy", INPUTS @ np.array([4, 2, 1]))
        more = ("--groups", "groups.npy", "--scale", "start.npy", "--labels", "labels.npy")
        self.assertRegex(self.tuned(*more, "--samples", 1000, "-o", "scale.npy"), r"\n +5 .*\n +9 ")
        a, b, c = np.load("scale.npy")
        self.assertEqual(a, b)
        self.assertAlmostEqual(c / a, np.sqrt(10), delta=0.4)

    def test_no_gain_is_said(self):
        out = self.tuned("--rounds", 1, "-o", "scale.npy", model="models.py:even")
        if "no clear gain" in out:
            np.testing.assert_array_equal(np.load("scale.npy"), 1)
        self.assertRegex(out, r"is (0\.9|1\.0)\d+ times")

    def test_refusals(self):
        self.tune_refused("--tolerance must be one number", "--tolerance", "1,2")
        self.tune_refused(r"must end with one of \.npy", "-o", "scale.txt")
        self.tune_refused("names another file", "-o", "held.npy")
        self.tune_refused("the group of each of the 3", "--groups", "steps.npy")
        self.tune_refused("limit is '1'; it must be a number above 1", "--limit", 1)
        self.tune_refused("rounds is '0'; it must be an integer", "--rounds", 0)
        self.tune_refused("2 rows; give at least 12", "--rows", ":2")
        self.tune_refused("no output leaves the tolerance", model="models.py:constant")
        self.tune_refused("returns 1 column", "--output", 1)
        said = "row 0: ValueError: first line second line"
        self.tune_refused(said, model="models.py:fails", status=3)
        self.assertFalse(os.path.exists("scale.npy"))

    def test_another_output(self):
        self.tuned("--output", 1, "-o", "scale.npy", model="models.py:both")
        scale = np.load("scale.npy")
        self.assertEqual(scale.argmin(), 1)


if __name__ == "__main__":
    run()

"""The command attack."""

import math
import os
import unittest

import numpy as np
from support import run
from support_cli import ASKED, InFolder, certreg, read


class Attack(InFolder):
    def test_each_row_has_both_ends(self):
        words = ("attack", "models.py:product", "x.npy", *ASKED, "--calls", "1000")
        status, out, err = certreg(*words, "-o", "r.csv")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("median ratio", out)
        rows = read("r.csv")
        self.assertEqual([row["row"] for row in rows], list("012345"))
        for row in rows:
            self.assertGreater(float(row["broken"]), float(row["certified"]))
            self.assertLessEqual(int(row["calls"]), 1000)
            self.assertIn(row["side"], ("lower", "upper"))
            self.assertEqual(row["error"], "")
        certreg(*words, "-o", "again.csv")
        self.assertEqual(rows, read("again.csv"))
        certreg(*words, "-o", "some.csv", "--rows", "2:4")
        self.assertEqual(rows[2:4], read("some.csv"))

    def test_json_has_plan_and_summary(self):
        status, _, _ = certreg(
            "attack", "models.py:product", "x.npy", *ASKED, "--calls", "500", "-o", "r.json"
        )
        self.assertEqual(status, 0)
        with open("r.json", encoding="utf-8") as file:
            text = file.read()
        self.assertIn('"calls": 500', text)
        self.assertNotIn('"seed"', text)

    def test_angles_and_scales(self):
        np.save("scale.npy", np.array([1, 1, 0]))
        status, out, _ = certreg(
            "attack", "models.py:pair", "x.npy", "--pair", "deg", "--scale", "scale.npy",
            "--sigma", ".25", "--tolerance", "20", "--calls", "600", "--seed", "1",
        )  # fmt: skip
        self.assertEqual(status, 0)
        self.assertIn("20", out)

    def test_wrong_options_are_refused(self):
        words = ("attack", "models.py:product", "x.npy", *ASKED)
        for more, said in (
            (("--method", "baseline"), "for an attack use"),
            (("--serve", "101,.01"), "--serve"),
            (("--calls", "0"), "--calls"),
            (("--calls", "50"), "--calls is 50; an attack at alpha 0.05 takes at least 124"),
            (("--statistic", "mean", "--method", "asymptotic"), "declare --range: without a range"),
            (("--tolerance", "1,2"), "one"),
        ):
            status, _, err = certreg(*words, *more)
            self.assertEqual(status, 2, more)
            self.assertIn(said, err)

    def test_rows_that_fail_are_named(self):
        words = ("--sigma", ".25", "--tolerance", ".5", "--samples", "200", "--seed", "7")
        status, _, err = certreg(
            "attack", "models.py:sometimes_nan", "steps.npy", *words, "--calls", "400",
            "-o", "r.csv",
        )  # fmt: skip
        self.assertEqual(status, 1)
        self.assertIn("attacks failed, the first in row", err)
        rows = read("r.csv")
        self.assertEqual(len(rows), 10)
        self.assertIn("--count-failures", rows[9]["error"])
        self.assertTrue(math.isnan(float(rows[9]["broken"])))
        status, _, err = certreg("attack", "models.py:fails", "x.npy", *words)
        self.assertEqual(status, 3)
        self.assertFalse(os.path.exists("called"))


if __name__ == "__main__":
    run()

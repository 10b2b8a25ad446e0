"""The options of the command line, and what is refused before the work begins."""

import argparse
import math
import os
import re
import shlex
import subprocess
import sys
import unittest

import numpy as np

from support import root, run
from support_cli import ASKED, InFolder, X, certreg, read
from certreg import Method, Statistic
from certreg.cli import options, parser as described
from certreg.cli.failure import Failure
from certreg.cli.loading import Model
from certreg.cli.values import understood


class Options(unittest.TestCase):
    def given(self, *words):
        return understood(described.parsed(["certify", "m:f", "x", *ASKED, *words]))

    def test_texts_become_values(self):
        for words, name, value in (
            (("--serve", "101,.01"), "serve", (101, 0.01)),
            (("--trim", ".49"), "trim", 0.49),
            (("--core", ".1"), "core", 0.1),
            (("--pilot", "30"), "pilot", 30),
            (("--range", "-1,2"), "range", (-1, 2)),
            (("--range", "-inf,inf"), "range", (-math.inf, math.inf)),
            (("--rows", ":9"), "rows", (0, 9)),
            (("--rows", "3:"), "rows", (3, None)),
            (("--pair",), "pair", "deg"),
            (("--samples", "1e4"), "samples", 10000),
            (("--seed", str(2**64 - 1)), "seed", 2**64 - 1),
            (("--tolerance", "1,2"), "tolerance", (1, 2)),
            ((), "alpha", 0.05),
        ):
            self.assertEqual(getattr(self.given(*words), name), value)

    def test_names_are_those_of_the_library(self):
        for names, members in (
            ((*options.STATISTICS, "ball-center", "projection-median"), Statistic),  # of vectors
            (options.METHODS, Method),
        ):
            self.assertEqual(
                {name.replace("-", "_").upper() for name in names}, set(members.__members__)
            )

    def test_names_may_be_written_as_in_python(self):
        for words, name, value in (
            (("--statistic", "TRIMMED_MEAN"), "statistic", "trimmed-mean"),
            (("--method", "Baseline"), "method", "baseline"),
            (("--constraints", "ECGM"), "constraints", "ecgm"),
        ):
            self.assertEqual(getattr(self.given(*words), name), value)

    def parsers(self):
        """Those of all commands."""
        top = described.parser()
        commands = next(
            action.choices
            for action in top._actions
            if isinstance(action, argparse._SubParsersAction)
        )
        return (top, *commands.values())

    def test_lines_of_help_are_whole(self):
        for parser in self.parsers():
            for line in (parser.description + parser.epilog).splitlines():
                if not re.match(r"  \S+ {2,}\S", line):  # two columns
                    self.assertNotRegex(line, r"\S {2,}\S", parser.prog)
            for option in parser._actions:
                self.assertNotRegex(option.help or "", r" {2}|[a-z][.;,][A-Z]|[a-z][;,][a-z]")

    def test_examples_of_help_are_commands(self):
        for parser in self.parsers():
            epilog = parser.epilog.replace("\\\n", "")
            examples = re.findall(r"^  (certreg (?!--help).*)$", epilog, re.MULTILINE)
            self.assertTrue(examples, parser.prog)
            for example in examples:
                understood(described.parsed(shlex.split(example)[1:]))

    @unittest.skipUnless(os.path.exists(os.path.join(root, "python", "certreg")), "no sources")
    def test_the_parser_needs_the_standard_library_only(self):
        path = os.path.join(root, "python", "manpage.py")
        code = (
            "import runpy, sys; m = runpy.run_path(sys.argv[1]); "
            "assert 'exit status' in m['top']().format_help(); "
            "assert not {'numpy', 'certreg'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-ISc", code, path], check=True)

    def test_help_and_version(self):
        for command in ("certify", "sigma", "scale", "bounds", "check", "info"):
            status, out, err = certreg(command, "--help")
            self.assertEqual((status, err), (0, ""))
            self.assertIn("example", out)
        self.assertRegex(certreg("--version")[1], r"^certreg \d+\.\d+\.\d+(\.dev0)?\n$")
        self.assertEqual(certreg("nonsense")[0], 2)
        self.assertEqual(certreg()[0], 2)


class Refusals(InFolder):
    def test_models(self):
        for model, sentence in (
            ("none.onnx", "there is no file none.onnx"),
            ("none.py:f", "there is no file none.py"),
            ("models.py", "give model.onnx, file.py:name"),
            ("models.py:none", "nothing named none"),
            ("models.py:number", "models.py:number is int"),
            ("no.such.module:f", "cannot be imported"),
        ):
            self.certify_refused(sentence, model=model)
        with open("broken.py", "w", encoding="utf-8") as file:
            file.write("1 / 0")
        self.certify_refused("broken.py cannot be imported: ZeroDivision", model="broken.py:f")
        with open("json.py", "w", encoding="utf-8") as file:
            file.write("f = 1")
        self.certify_refused("name of another module, json", model="json.py:f")

    def test_models_that_fail(self):
        self.certify_refused(
            "row 0: ValueError: first line second line", model="models.py:fails", status=3
        )
        self.certify_refused("must return numbers", model="models.py:text", status=3)
        self.certify_refused("returns 1 column", "--output", 1)
        self.certify_refused("returns 1 column", "--pair")

    def test_models_that_end_the_program(self):
        """They fail: a command ends with its own status and says why."""
        calibrated = ("--calibration", "x.npy", "--truths", "y.npy", "--sigma", ".3")
        np.save("y.npy", np.ones(6))
        for model in ("models.py:leaves", "models.py:makes_none"):
            for command, *more in (
                ("check",),
                ("certify", *ASKED),
                ("certify", *ASKED, "--jobs", 2),
                ("bounds", "--sigma", ".25", "--radius", ".2"),
                ("sigma", *ASKED),
                ("scale", *ASKED),
                ("attack", *ASKED, "--calls", 500),
                ("interval", *calibrated, "--radius", ".1"),
            ):
                sentence = "the model failed.*: SystemExit: 0"
                self.refused(3, sentence, command, model, "x.npy", *more)
        with open("ends.py", "w", encoding="utf-8") as file:
            file.write("raise SystemExit(0)")
        self.certify_refused("ends.py cannot be imported: SystemExit: 0", model="ends.py:f")

    def test_rows_before_a_model_that_ends_the_program_are_kept(self):
        said = "the model failed in row 3: SystemExit: 0; 3 of 10 rows are done and in r.csv"
        model, steps = "models.py:leaves_late", "steps.npy"
        self.certify_refused(said, "-o", "r.csv", model=model, x=steps, status=3)
        self.assertEqual(len(read("r.csv")), 3)
        said = "the model failed in row 3: SystemExit: 0"
        more = ("--calls", 500, *ASKED)
        self.refused(3, said, "attack", model, steps, *more)

    def test_inputs(self):
        bad = X.copy()
        bad[4, 1] = np.nan
        np.save("nan.npy", bad)
        np.save("line.npy", X[0])
        np.save("text.npy", np.array([["a"]]))
        np.save("objects.npy", np.array([[None]]), allow_pickle=True)
        np.save("none_of_them.npy", X[:0])
        np.savez("two.npz", a=X, b=X)
        for name, text in {
            "damaged.npy": "not an array",
            "damaged.npz": "not arrays",
            "word.csv": "a,b\n1,2\n3,x\n",
            "short.csv": "1,2\n3\n",
            "empty.csv": "a,b\n",
            "index.csv": ",a,b,c\n0,1,2,3\n",
            "numbered.csv": "0,1,2\n1,2,3\n",
        }.items():
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        for x, sentence in (
            ("none.npy", "cannot be read: No such file"),
            ("x.txt", r"must end with one of \.npy"),
            ("damaged.npy", "damaged"),
            ("damaged.npz", "damaged"),
            ("objects.npy", "not an .npy file of numbers"),
            ("text.npy", "must hold numbers"),
            ("line.npy", r"shape \(3,\)"),
            ("none_of_them.npy", "none_of_them.npy has no rows"),
            ("nan.npy", "NaN.* in row 4"),
            ("two.npz", "arrays a, b; choose one with --array"),
            ("word.csv", "'x' in line 3, column 'b'"),
            ("short.csv", "2 columns in line 1, but 1 in line 2"),
            ("empty.csv", "has no rows"),
            ("index.csv", "column without a name"),
            ("numbered.csv", "may be a header or an input"),
        ):
            self.certify_refused(sentence, x=x)
        self.certify_refused("only one", "--array", "a")

    def test_images_of_another_layout(self):
        taking = Model("models.py:product")
        taking.shape = (1, 4, 5)
        for shape in ((1, 4, 5), (20,), (4, 5), (4, 5, 1)):
            self.assertEqual(taking.fitted(np.ones((2, *shape)), "x").shape, (2, 1, 4, 5))
        for shape in ((5, 4), (1, 5, 4), (2, 10)):
            with self.assertRaisesRegex(Failure, r"takes inputs of shape \(1, 4, 5\)"):
                taking.fitted(np.ones((2, *shape)), "x")
        taking.shape = (20,)
        self.assertEqual(taking.fitted(np.ones((2, 4, 5)), "x").shape, (2, 20))

    def test_what_goes_with_inputs(self):
        np.save("five.npy", np.ones(5))
        np.save("labels.npy", [1, 2, 3, 4, 5, np.nan])
        for more, sentence in (
            (("--labels", "five.npy"), "label for each of the 6 inputs"),
            (("--labels", "labels.npy"), "a label that is NaN"),
            (("--scale", "five.npy"), "five.npy has 5 numbers.* 3 features"),
            (("--scale", "-1"), "at least 0"),
            (("--scale", "0"), "not all of them 0"),
            (("--scale", "none.npy"), "cannot be read"),
            (("--rows", "4:7"), "x.npy, which has 6 rows"),
            (("--rows", "4:4"), "with rows in it"),
            (("--rows", "4"), "range of rows"),
        ):
            self.certify_refused(sentence, *more)

    def test_questions(self):
        for option, value, sentence in (
            *(("--sigma", s, "--sigma is .*a positive number") for s in ("0", "-1", "nan", "x")),
            *(("--tolerance", t, "positive number") for t in ("0", "-1", "inf", "1,")),
            ("--tolerance", "1,1", "different"),
            ("--statistic", "mode", "'mode'.*'median'"),
            ("--statistic", "huber", "--huber-width is 0"),
            ("--statistic", "mean", "declare --range"),
            ("--statistic", "circular-mean", "--angle or --pair"),
            ("--huber-width", "1", "--statistic huber"),
            ("--method", "paper", "--method: for --statistic median use"),
            ("--constraints", "all", "'all'.*'ecgm'"),
            ("--alpha", "0.7", "at most 0.5"),
            ("--samples", "0", "at least 1"),
            ("--samples", "1.5", "an integer"),
            ("--seed", "0", "from 1 to .*; without it one is drawn"),
            ("--serve", "101", "like 101,0.01"),
            ("--statistic", "trimmed-mean", "use --method baseline"),
            ("--statistic", "ball-center", "invalid choice: 'ball-center'"),
            ("--pilot", "200", "--pilot must be below --samples"),
            ("--trim", "0.5", "below 0.5"),
            ("--trim", "0.1", "need --serve"),
            ("--core", "0.1", "need --serve"),
            ("--range", "1,-1", "lower one first"),
            ("--output", "r.csv", "-o names the file"),
            ("--plot-kind", "accuracy", "--labels"),
        ):
            more = ("--plot", "p.svg") if option == "--plot-kind" else ()
            self.certify_refused(sentence, option, value, *more)
        self.certify_refused("half a turn", "--angle", "deg", "--tolerance", "180")
        self.certify_refused("--range cannot be combined", "--angle", "deg", "--range", "0,1")
        self.certify_refused("needs --resume", "--keep-records")
        mean = ("--statistic", "mean", "--range", "-9,9")
        self.certify_refused("for a target use", "--target", ".2", "--method", "paper", *mean)
        bounds = ("bounds", "models.py:product", "x.npy", "--sigma", ".25", "--radius", ".2")
        self.refused(2, "--tolerance is 0; give the largest", *bounds, "--method", "anytime")
        self.refused(2, "for output bounds use", *bounds, "--method", "paper", *mean)
        self.certify_refused("FILE.json", "--keep-seed", "-o", "r.csv")

    def test_files_that_cannot_be_written(self):
        os.mkdir("folder.csv")
        for name, status, sentence in (
            ("none/r.csv", 4, "none/r.csv cannot be written: No such file"),
            ("x.npy/r.csv", 4, "Not a directory"),
            ("folder.csv", 4, "not a regular file"),
            ("r.xls", 2, r"r.xls must end with one of \.csv"),
        ):
            # No model is called: this one would fail.
            self.certify_refused(sentence, "-o", name, model="models.py:fails", status=status)
        self.certify_refused(r"must end with one of \.svg", "--plot", "p.gif")
        np.savetxt("x.csv", X)
        self.certify_refused("names another file", "-o", "./x.csv", x="x.csv")
        self.certify_refused("names another file", "-o", "r.csv", "--resume", "r.csv")

    def test_resume_files_of_something_else(self):
        with open("damaged.sqlite", "w", encoding="utf-8") as file:
            file.write("no database" * 100)
        self.certify_refused("damaged", "--resume", "damaged.sqlite", status=4)
        self.certify_refused("no folder none", "--resume", "none/r.sqlite", status=4)
        self.assertEqual(
            certreg("certify", "models.py:product", "x.npy", *ASKED, "--resume", "r")[0], 0
        )
        self.certify_refused(
            "arguments .model_id=", "--resume", "r", model="models.py:fails_late", status=4
        )
        self.certify_refused(r"arguments \(seed\)", "--resume", "r", "--seed", 8, status=4)
        self.certify_refused("other questions", "--resume", "r", "--tolerance", 2, status=4)


if __name__ == "__main__":
    run()

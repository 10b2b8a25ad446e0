"""Shared by the tests of the command line: a folder with models and inputs, and its commands."""

import contextlib
import csv
import io
import os
import sys
import tempfile
import unittest

import numpy as np

import support  # noqa: F401
from certreg import library_path
from certreg.cli import main

if os.path.exists(library_path):  # tests change the current folder
    os.environ["CERTREG_LIB"] = os.path.abspath(library_path)

MODELS = """
import os, time
import numpy as np
def product(x): return x[:, 0] + x[:, 1] * x[:, 2]
def pair(x): return np.stack([np.cos(x[:, 0]), np.sin(x[:, 0])], 1)
class Two:
    def predict(self, x): return np.stack([product(x), 2 * product(x)], 1)
two = Two()
def makes_two(): return Two()
def text(x): return ["a"] * len(x)
def fails(x): raise ValueError("first line\\nsecond line")
def fails_late(x):
    if abs(x[:, 0].mean() - 3) < 0.5: raise ValueError("three is too much")
    return product(x)
def leaves(x): raise SystemExit(0)
def leaves_late(x):
    if abs(x[:, 0].mean() - 3) < 0.5: raise SystemExit(0)
    return product(x)
def makes_none(): raise SystemExit(0)
def sometimes_nan(x): return np.where(x[:, 0] > 6, np.nan, product(x))
def slow(x):
    with open("called", "a") as file: file.write(".")
    if os.path.getsize("called") > 12:
        while os.path.exists("hold"): time.sleep(0.01)
        time.sleep(float(os.environ.get("NAP", "0")))
    return product(x)
def depends_on_its_batch(x): return product(x) + x[:, 0].mean()
class Unsent:
    unsent = staticmethod(lambda x: product(x))
number = 7
"""
X = np.random.default_rng(5).normal(size=(6, 3)).astype(np.float32)
STEPS = np.c_[np.arange(10.0), np.ones((10, 2))]  # first feature 0, 1, 2, ...
ASKED = ("--sigma", ".25", "--tolerance", ".5", "--samples", "200", "--seed", "7")


def certreg(*words):
    """Exit status, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(word) for word in words])
    return status, out.getvalue(), err.getvalue()


def read(name):
    """The lines of a table as dicts."""
    with open(name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class InFolder(unittest.TestCase):
    """A test whose current folder has models.py and x.npy."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.addCleanup(sys.modules.pop, "models", None)
        self.addCleanup(setattr, sys, "path", list(sys.path))
        os.chdir(folder.name)
        with open("models.py", "w", encoding="utf-8") as file:
            file.write(MODELS)
        np.save("x.npy", X)
        np.save("steps.npy", STEPS)

    def rows_of(self, *words, name="r.csv", status=0):
        """The table that a command writes."""
        done, _, err = certreg(*words, "-o", name, "-q")
        self.assertEqual((done, err), (status, ""))
        return read(name)

    def refused(self, status, sentence, *words):
        """The command prints one sentence on standard error, which matches, and nothing on standard
        output."""
        got, out, err = certreg(*words)
        self.assertRegex(err, sentence)
        self.assertRegex(err, r"\Acertreg: [^\n]+\n\Z")
        self.assertEqual((got, out), (status, ""))

    def certify_refused(self, sentence, *more, model="models.py:product", x="x.npy", status=2):
        self.refused(status, sentence, "certify", model, x, *ASKED, *more)

"""Shared by the tests of the resume file."""

import contextlib
import pathlib
import shutil
import sqlite3
import tempfile
import unittest

import numpy as np

from support import model
from certreg import Question, Serving, certify_rows

X = np.random.default_rng(5).normal(size=(30, 3)).astype(np.float32)
ASKED = [Question(0.5, serving=Serving(101, 0.01)), Question(0.5, target=0.1, alpha=0.1)]


def table(path):
    """All certificates in the file, by its documented schema."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT * FROM certificates ORDER BY 1, 2, 3, 4").fetchall()


def overwrite(path, data):
    """Makes these the bytes of a file, which is not emptied first: some file systems then wait."""
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate()


class Resuming(unittest.TestCase):
    """Has a folder, and in it the path of a resume file."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / "rows.sqlite"

    def rows(self, f=model, questions=ASKED, path=None, **more):
        more = dict(dict(x=X, sigma=[0.25, 0.5], samples=300, progress=False), **more)
        x, sigma = more.pop("x"), more.pop("sigma")
        return certify_rows(f, x, sigma, questions, resume=path or self.path, **more)

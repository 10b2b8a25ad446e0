"""Files of others: whatever their bytes, they are refused by one sentence or read. Mutations follow
from a seed; HOSTILE_FILES=N tries N of each kind (default 120)."""

import contextlib
import io
import os
import pathlib
import pickle
import random
import sqlite3
import tempfile
import unittest
import warnings
import zipfile

import numpy as np

from support import model, run
from certreg import Calibrated, CertregError, Question, ResumeError, RowsError, certify_rows
from certreg.cli.failure import Failure
from certreg.cli.features import Features
from certreg.cli.files import read_groups, read_labels, read_rows, read_scale
from certreg.store import ResumeFile

COUNT = int(os.environ.get("HOSTILE_FILES", "120"))
X = np.random.default_rng(5).normal(size=(12, 3)).astype(np.float32)
TOKENS = [
    *(b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x80", b"\n", b",", b";", b'"', b"nan", b"1e999"),
    *(b"'descr': '|O'", b"<f8", b"<U9", b"(", b")", b"99999999999", b"-1", b"PK\x01\x02", b"NULL"),
    *(b"\x93NUMPY", b"\x01\x00", b"\x03\x00", b"True", b"\xef\xbb\xbf", b"\r\n", b"inf", b"0x10"),
]
MARK = "unpickled"


class Marks:
    """Leaves a file where it is unpickled."""

    def __reduce__(self):
        return (open, (MARK, "w"))


def changed(dice, good, other):
    """A few changes of the bytes: other values, tokens, pieces cut out, doubled or of another."""
    data = bytearray(good)
    for _ in range(dice.choice([1, 1, 2, 4])):
        at, size = dice.randrange(len(data) + 1), dice.choice([1, 2, 4, 16, 200])
        how = dice.randrange(7)
        if how == 0:
            data[at : at + 1] = bytes([dice.randrange(256)])
        elif how == 1 and data:
            data[at % len(data)] ^= 1 << dice.randrange(8)
        elif how == 2:
            token = dice.choice(TOKENS)
            data[at : at + dice.choice([0, len(token)])] = token
        elif how == 3:
            del data[at : at + size]
        elif how == 4:
            data[at:at] = data[at : at + size]
        elif how == 5:
            start = dice.randrange(len(other))
            data[at : at + size] = other[start : start + size]
        else:
            del data[dice.randrange(len(data) + 1) :]
    return bytes(data)


def archive(files, dice=None):
    """A zip file of bytes by name, of which some may be stored as no zip file should be."""
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as packed:
        warnings.simplefilter("ignore")
        for name, data in files.items():
            how = dice.choice([0, 0, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]) if dice else 0
            packed.writestr(name, data, how)
    return out.getvalue()


def array_bytes(array, pickled=False):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=pickled)
    return out.getvalue()


def pickles():
    """A pickle, arrays of objects, and what numpy would take for either."""
    objects = array_bytes(np.array([Marks()], object), pickled=True)
    packed = archive({"scores.npy": objects, "version.npy": objects})
    return [pickle.dumps(Marks()), objects, packed]


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.dice = random.Random(self.id())
        self.read = self.refused = 0
        ignored = warnings.catch_warnings()
        ignored.__enter__()
        self.addCleanup(ignored.__exit__, None, None, None)
        warnings.simplefilter("ignore")

    def tearDown(self):
        self.assertFalse(os.path.exists(MARK), "a file was unpickled")

    def tries(self, path, data, read, refusals):
        """Reads the file; of refusals only these."""
        pathlib.Path(path).write_bytes(data)
        try:
            read(path)
            self.read += 1
        except refusals as error:
            self.assertTrue(str(error).strip())
            self.assertNotIn("\n", str(error))
            self.refused += 1
        except Exception as error:
            pathlib.Path(path + ".bad").write_bytes(data)
            raise AssertionError(f"{path}: {type(error).__name__}: {error}\n{data!r}") from error


class Calibrations(InFolder):
    def test_they_are_refused_or_read(self):
        linear, y = lambda x: x[:, 0], X[:, 0].astype(float)
        with Calibrated(linear, X, y, 0.5, samples=15, scale=[1, 2, 1], units=2) as calibrated:
            calibrated.save("good.npz")
        good = pathlib.Path("good.npz").read_bytes()
        with zipfile.ZipFile("good.npz") as packed:
            files = {name: packed.read(name) for name in packed.namelist()}

        def load(path):
            with Calibrated.load(path, linear) as loaded:
                with contextlib.suppress(CertregError):
                    loaded.interval(X[0], 0.1, 0.4)

        self.tries("c.npz", good, load, ())
        for data in pickles():
            self.tries("c.npz", data, load, ValueError)
        for i in range(COUNT):
            names = self.dice.sample(sorted(files), 2)
            within = dict(files)
            within[names[0]] = changed(self.dice, files[names[0]], files[names[1]])
            if i % 5 == 0:
                within[names[0]] = files[names[1]]
            data = archive(within, self.dice) if i % 2 else changed(self.dice, good, good)
            self.tries("c.npz", data, load, (ValueError, CertregError))
        self.assertTrue(self.refused > COUNT / 3 and self.read > 1, (self.read, self.refused))


class Inputs(InFolder):
    def test_arrays_and_tables_are_refused_or_read(self):
        npy, text = array_bytes(X), "\n".join(["a,b,c", *("%g,%g,%g" % tuple(x) for x in X)])
        npz = archive({"x.npy": npy, "y.npy": array_bytes(X[:, 0])})
        good = {"x.npy": npy, "x.npz": npz, "x.csv": text.encode()}

        def read(path):
            read_rows(path, "x" if path.endswith("z") else None)

        for path, data in good.items():
            self.tries(path, data, read, ())
            for other in [*pickles(), b"", *good.values()]:
                self.tries(path, other, read, Failure)
            for _ in range(COUNT):
                self.tries(path, changed(self.dice, data, npy), read, Failure)
        for reader in (
            lambda path: read_labels(path, 12),
            lambda path: read_scale(path, (3,), Features("the model", None, str)),
            lambda path: read_groups(path, (3,), Features("the model", None, str)),
        ):
            for path, data in good.items():
                for _ in range(COUNT // 12):
                    self.tries(path, changed(self.dice, data, npy), reader, Failure)
        self.assertTrue(self.refused > COUNT and self.read > 3, (self.read, self.refused))


class ResumeFiles(InFolder):
    ASKED = [Question(0.5)]

    def rows(self, path):
        """Results are those of the sound file, where there are any."""
        rows = certify_rows(
            model, X[:4], 0.5, self.ASKED, samples=20, seed=7, resume=path, keep_records=True
        )
        self.whole = getattr(self, "whole", rows.certificates)
        self.assertEqual(rows.certificates.tobytes(), self.whole.tobytes())

    def test_they_are_refused_or_go_on(self):
        self.rows("good.sqlite")
        good = pathlib.Path("good.sqlite").read_bytes()
        for _ in range(max(COUNT // 8, 1)):
            data = changed(self.dice, good, good)
            with contextlib.suppress(FileNotFoundError):
                os.remove("r.sqlite-journal")
            self.tries("r.sqlite", data, self.rows, (ResumeError, RowsError))

    def test_other_values_are_refused_or_go_on(self):
        """The file is sound for SQLite, and what is in it is not."""
        values = [None, "", "x", b"\x00\xff", -1, 2**62, 1e308, "[", "{}", "[1]", "null", b""]
        self.rows("good.sqlite")
        good = pathlib.Path("good.sqlite").read_bytes()
        with contextlib.closing(sqlite3.connect("good.sqlite")) as db:
            columns = [
                (table, column[1])
                for table in ("runs", "certificates", "records")
                for column in db.execute(f"PRAGMA table_info({table})")
            ]
        for _ in range(max(COUNT // 4, 1)):
            (table, column), value = self.dice.choice(columns), self.dice.choice(values)
            pathlib.Path("r.sqlite").write_bytes(good)
            with contextlib.closing(sqlite3.connect("r.sqlite")) as db:
                with contextlib.suppress(sqlite3.IntegrityError):
                    db.execute(f"UPDATE {table} SET {column} = ?", (value,))
                    db.commit()
            data = pathlib.Path("r.sqlite").read_bytes()
            with self.subTest(table=table, column=column, value=value):
                self.tries("r.sqlite", data, self.rows, (ResumeError, RowsError))
                with contextlib.closing(ResumeFile("r.sqlite")) as file:
                    file.rows_with_records(1)


if __name__ == "__main__":
    run()

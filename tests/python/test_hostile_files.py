"""Files of others, and damaged ones: whatever their bytes, they are refused by one sentence, or
read and change no result. Mutations follow from a seed; HOSTILE_FILES=N tries N of each kind."""

import contextlib
import dataclasses
import io
import os
import pathlib
import pickle
import random
import sqlite3
import warnings
import zipfile
from unittest import mock

import numpy as np
import pytest

from kit import bits, parametrize
import test_resume
from test_resume import ASKED, X, connected, contents, rows_of
from certreg import Calibrated, CertregError, Denoised, ResumeError, RowsError
from certreg.cli.streams import Failure
from certreg.cli.files import Features, read_groups, read_labels, read_rows, read_scale
from certreg.store import ResumeFile

COUNT = int(os.environ.get("HOSTILE_FILES", "120"))
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
        start, token = dice.randrange(len(other)), dice.choice(TOKENS)
        width, piece = dice.choice(
            [
                (1, bytes([dice.randrange(256)])),
                (1, bytes([data[at] ^ 1 << dice.randrange(8)]) if at < len(data) else b""),
                (dice.choice([0, len(token)]), token),
                (size, b""),
                (0, data[at : at + size]),
                (size, other[start : start + size]),
                (len(data), b""),
            ]
        )
        data[at : at + width] = piece
    return bytes(data)


def archive(files, dice=None):
    """A zip file of bytes by name, of which some may be stored as no zip file should be."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
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


class Tries:
    """Reads files, and counts those that were read and those that were refused."""

    def __init__(self, name):
        self.dice, self.read, self.refused = random.Random(name), 0, 0

    def __call__(self, path, data, read, refusals):
        """Of refusals only these."""
        pathlib.Path(path).write_bytes(data)
        try:
            read(path)
            self.read += 1
        except refusals as error:
            assert str(error).strip() and "\n" not in str(error)
            self.refused += 1
        except Exception as error:
            pathlib.Path(path + ".bad").write_bytes(data)
            raise AssertionError(f"{path}: {type(error).__name__}: {error}\n{data!r}") from error


@pytest.fixture
def tries(folder, request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield Tries(request.node.name)
    assert not os.path.exists(MARK), "a file was unpickled"


def linear(x):
    return x[:, 0]


def calibration(path):
    more = dict(samples=15, scale=[1, 2, 1], units=2)
    with Calibrated(linear, X[:12], linear(X[:12]), 0.5, **more) as calibrated:
        calibrated.save(path)


def interval(path):
    with Calibrated.load(path, linear) as loaded, contextlib.suppress(CertregError):
        loaded.interval(X[0], 0.1, 0.4)


def denoiser(path):
    Denoised(linear, X, 0.5, scale=[1, 0, 2]).save(path)


def denoised(path):
    Denoised.load(path, linear).apply(X)


@parametrize("save, load", (calibration, interval), (denoiser, denoised))
def test_saved_files_are_refused_or_read(tries, save, load):
    save("good.npz")
    good = contents("good.npz")
    with zipfile.ZipFile("good.npz") as packed:
        files = {name: packed.read(name) for name in packed.namelist()}

    tries("c.npz", good, load, ())
    for data in pickles():
        tries("c.npz", data, load, ValueError)
    for i in range(COUNT):
        one, other = tries.dice.sample(sorted(files), 2)
        within = files[other] if i % 5 == 0 else changed(tries.dice, files[one], files[other])
        packed = archive({**files, one: within}, tries.dice)
        data = packed if i % 2 else changed(tries.dice, good, good)
        tries("c.npz", data, load, (ValueError, CertregError))
    assert tries.refused > COUNT / 3 and tries.read > 1, (tries.read, tries.refused)


def test_arrays_and_tables_are_refused_or_read(tries):
    x, features = X[:12], Features("the model", None, str)
    npy, text = array_bytes(x), "\n".join(["a,b,c", *("%g,%g,%g" % tuple(row) for row in x)])
    npz = archive({"x.npy": npy, "y.npy": array_bytes(x[:, 0])})
    good = {"x.npy": npy, "x.npz": npz, "x.csv": text.encode()}
    readers = [
        (COUNT, lambda path: read_rows(path, "x" if path.endswith("z") else None)),
        (COUNT // 12, lambda path: read_labels(path, 12)),
        (COUNT // 12, lambda path: read_scale(path, (3,), features)),
        (COUNT // 12, lambda path: read_groups(path, (3,), features)),
    ]
    for path, data in good.items():
        tries(path, data, readers[0][1], ())
        for other in [*pickles(), b"", *good.values()]:
            tries(path, other, readers[0][1], Failure)
        for count, reader in readers:
            for _ in range(count):
                tries(path, changed(tries.dice, data, npy), reader, Failure)
    assert tries.refused > COUNT and tries.read > 3, (tries.read, tries.refused)


# ---- resume files
def small(**more):
    return rows_of(**{**dict(questions=ASKED[:1], x=X[:6], samples=40), **more})


@parametrize(
    "kept, again",
    (False, {}),
    (True, dict(keep_records=True)),
    (True, dict(f=None, questions=0.3)),
    ids=["certificates", "records", "other questions"],
)
def test_resume_files_are_refused_or_give_the_same_results(tries, kept, again):
    """One changed bit, or a few changes of bytes."""
    small(seed=7, keep_records=kept, resume="r.sqlite")
    good = contents("r.sqlite")
    whole = small(**again, resume="r.sqlite")

    def read(path):
        rows = small(**again, resume=path)
        assert bits(rows) == bits(whole)
        assert (rows.errors, rows.seed) == (whole.errors, whole.seed)

    for i in range(COUNT // 2 if kept == ("keep_records" in again) else COUNT // 6):
        bad, bit = bytearray(good), tries.dice.randrange(8 * len(good))
        bad[bit // 8] ^= 1 << bit % 8
        with contextlib.suppress(FileNotFoundError):
            os.remove("r.sqlite-journal")
        data = bytes(bad) if i % 4 else changed(tries.dice, good, good)
        tries("r.sqlite", data, read, (ResumeError, RowsError))
    assert tries.refused > COUNT // 60 and tries.read > 1, (tries.read, tries.refused)


def execute(*statements, values=()):
    with connected() as db:
        for statement in ("PRAGMA synchronous = OFF", *statements):
            db.execute(statement, values if "?" in statement else ())
        db.commit()


OTHERS = [None, "", "x", b"\x00\xff", -1, 2**62, 1e308, "[", "{}", "[1]", "null", b""]
ONE_OF = {  # a row of each table
    "runs": "run = 1",
    "certificates": "(row, sigma_index, question_index) = (3, 1, 0)",
    "records": "(row, sigma_index) = (3, 1)",
}


def test_every_changed_value_is_noticed(folder):
    """The file is sound for SQLite, and what is in it is not."""
    small(keep_records=True)
    good, dice = contents(), random.Random(3)
    with connected() as db:
        columns = [(t, c[1]) for t in ONE_OF for c in db.execute(f"PRAGMA table_info({t})")]
    columns.remove(("certificates", "run"))  # then it is missing in this run
    for table, column in columns:
        for value in (99, dice.choice(OTHERS)):
            with open("rows.sqlite", "r+b") as file:  # not emptied first: some file systems wait
                file.write(good)
                file.truncate()
            try:
                changes = f"UPDATE {table} SET {column} = ? WHERE {ONE_OF[table]}"
                execute(changes, values=(value,))
            except sqlite3.IntegrityError:
                continue
            bad = contents()
            if bad == good:
                continue
            with pytest.raises(ResumeError) as caught:
                small(questions=0.4 if table == "records" else ASKED[:1])
            assert "\n" not in str(caught.value), (table, column, value)
            assert contents() == bad
            with contextlib.closing(ResumeFile("rows.sqlite")) as file:
                with contextlib.suppress(ResumeError):
                    file.rows_with_records(1)


def test_a_file_whose_end_is_empty_is_refused(folder):
    rows_of()
    whole = contents()
    pathlib.Path("rows.sqlite").write_bytes(whole[:4096] + bytes(len(whole) - 4096))
    with pytest.raises(ResumeError, match="is damaged"):
        rows_of()


@parametrize("keep_records", False, True)
def test_a_run_that_is_gone_is_noticed(folder, keep_records):
    rows_of(keep_records=keep_records)
    execute("DELETE FROM runs")
    before = contents()
    with pytest.raises(ResumeError, match="there are rows, but no run"):
        rows_of()
    assert contents() == before


@parametrize(
    "keep_records, lost, f",
    (False, " WHERE row = 3 AND question_index = 1", test_resume.model),
    (True, "", None),
)
def test_what_is_missing_is_computed_again(folder, keep_records, lost, f):
    """By the model, or from records."""
    whole = rows_of(keep_records=keep_records)
    execute("DELETE FROM certificates" + lost)
    assert bits(rows_of(f)) == bits(whole)


def forged(row=0, **fields):
    """Writes a file whose checksums are right and whose first row is not."""
    add = ResumeFile.add

    def forging(file, chunk):
        forged = chunk.certificates.copy()
        for name, value in fields.items():
            forged[name][0] = value
        rows = np.where(chunk.rows == 0, row, chunk.rows)
        add(file, dataclasses.replace(chunk, rows=rows, certificates=forged))

    with mock.patch.object(ResumeFile, "add", forging):
        rows_of(x=X[:1], samples=100)


@parametrize(
    "wrong",
    *(dict(radius=value, outcome=1) for value in (5.1, -0.1, np.inf, np.nan)),
    *(dict(row=-1), dict(row=1), dict(outcome=3), dict(status=99), dict(stop=-1)),
    *(dict(radius=0.5, outcome=0), dict(radius=0.5, outcome=1, status=5)),
    *(dict(samples=101), dict(sigma=0.3), dict(noise_id=1), dict(question_digest=1)),
)
def test_values_that_no_certificate_has_are_refused(folder, wrong):
    forged(**wrong)
    with pytest.raises(ResumeError, match="is damaged"):
        rows_of(x=X[:1], samples=100)


def test_values_that_a_certificate_may_have_are_read(folder):
    forged(radius=[[2.5], [5]], outcome=2)
    assert rows_of(x=X[:1], samples=100)["radius"].max() == 5

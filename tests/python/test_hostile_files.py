"""Files of others, and damaged ones: whatever their bytes, they are refused by one sentence, or
read and change no result. Mutations follow from a seed; HOSTILE_FILES=N tries N of each kind. Own
files are complete or as they were, whoever writes them, and private if they have a seed."""

import contextlib
import dataclasses
import errno
import io
import os
import pathlib
import pickle
import random
import re
import resource
import signal
import sqlite3
import stat
import threading
import warnings
import zipfile
from unittest import mock

import numpy as np
import pytest

import kit
import test_resume
from kit import CERTIFY, bits, parametrize, run, said
from test_resume import ASKED, X, connected, contents, rows_of
from certreg import Calibrated, CertregError, Denoised, ResumeError, Rows, RowsError
from certreg.cli.streams import Failure
from certreg.cli.files import Destination, Features
from certreg.cli.files import read_groups, read_labels, read_rows, read_scale
from certreg.files import replace
from certreg.plots import plot_radii
from certreg.store import ResumeFile

COUNT = int(os.environ.get("HOSTILE_FILES", "60"))
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


def certified(path):
    rows_of(x=X[:3], scale=[1, 2, 3], resume=None, samples=50, seed=1).save(path)


def said_of(path):
    str(Rows.load(path))


@parametrize("save, load", (calibration, interval), (denoiser, denoised), (certified, said_of))
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


@parametrize("keep_records", False, True)
def test_what_is_gone_is_noticed(folder, keep_records):
    small(keep_records=keep_records)
    whole = contents()
    execute("DELETE FROM runs")
    for before, said in ((contents(), "there are rows, but no run"),
                         (whole[:4096] + bytes(len(whole) - 4096), "is damaged")):
        pathlib.Path("rows.sqlite").write_bytes(before)
        with pytest.raises(ResumeError, match=said):
            small()
        assert contents() == before


@parametrize("keep_records, lost, f",
             (False, " WHERE row = 3 AND question_index = 1", test_resume.model), (True, "", None))
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
    os.remove("rows.sqlite")
    forged(radius=[[2.5], [5]], outcome=2)  # which a certificate may have
    assert rows_of(x=X[:1], samples=100)["radius"].max() == 5


# ---- files of one's own
def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@contextlib.contextmanager
def full_disk(size):
    """No file may get longer than so many bytes; that of pytest's own output included."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


WRITERS = {
    "kept.npz": lambda path: test_resume.rows_of(resume=None).save(path),
    "kept.denoiser": lambda path: Denoised(linear, X, 0.25).save(path),
    "kept.svg": lambda path: kit.package("matplotlib") and plot_radii({"a": [0.1]}, path),
    "kept.npy": lambda path: Destination(path, [".npy"]).write_array(np.ones(500)),
    "kept.csv": lambda path: Destination(path, [".csv"]).write_text("a,b\n" * 500),
}


@parametrize("name, write", *WRITERS.items())
def test_a_save_that_fails_leaves_the_file_as_it_was(folder, name, write):
    write(name)
    before, there = contents(name), sorted(os.listdir())
    with full_disk(100), pytest.raises(Exception, match="File too large"):
        write(name)
    assert contents(name) == before and sorted(os.listdir()) == there


def test_links_are_followed_and_modes_kept(models, usual_umask):
    kit.write("real.npz", "old")
    os.chmod("real.npz", 0o640)
    os.symlink("real.npz", "link.npz")
    os.symlink("new.npz", "ahead.npz")
    kit.write("real.npz.new", "of the user")
    for path in ("link.npz", "ahead.npz"):
        replace(path, b"new")
        assert os.path.islink(path) and contents(path) == b"new"
    assert (mode("real.npz"), mode("new.npz")) == (0o640, 0o644)
    assert contents("real.npz.new") == b"of the user"
    replace("/dev/null", b"new")
    assert not os.path.isfile("/dev/null")
    kit.package("matplotlib")
    os.symlink("data", "r.svg")  # a plot has the format of its name
    assert run(*CERTIFY, "--plot", "r.svg")[0] == 0
    assert contents("data").startswith(b"<?xml")


def of_another_user(path, lstat=os.lstat):
    found = lstat(path)
    return os.stat_result([*found[:4], found.st_uid + 1, *found[5:]])


@parametrize("mode, refused", (0o1777, True), (0o755, False), (0o1775, False))
def test_links_of_others_in_a_folder_for_all_are_not_followed(models, mode, refused, monkeypatch):
    """Whether it is the last part of a path, a folder, or behind a link of one's own."""
    os.makedirs("all/own")
    for name in ("kept", "seed", "r.sqlite-journal"):
        kit.write(name, "7\n")
        os.symlink(f"../{name}", f"all/{name}")
    os.symlink("..", "all/out")
    os.symlink("all/kept", "near")
    os.chmod("all", mode)
    monkeypatch.setattr(os, "lstat", of_another_user)
    said = "is a link of another user in a folder for all: remove it, or give another path"
    for path in ("all/kept", "all/out/kept", "near", "all/own/../kept"):
        with pytest.raises(OSError, match=said) if refused else contextlib.nullcontext():
            replace(path, b"new")
        assert contents("kept") == (b"7\n" if refused else b"new")
    if refused:
        asked = ("certify", *kit.PRODUCT, "--sigma", ".25", "--tolerance", ".5")
        kit.command_refused(4, said, *asked, "--seed-file", "all/seed")
        kit.command_refused(4, said, *asked, "--resume", "all/r.sqlite")


def test_failures_name_the_file(folder):
    os.symlink("loop", "loop")
    for path, error, why in (("nowhere/a", FileNotFoundError, ""), (".", IsADirectoryError, ""),
                             ("loop", OSError, "Too many levels of symbolic links: ")):
        with pytest.raises(error, match=f"{why}{re.escape(repr(path))}"):
            replace(path, b"new")
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with mock.patch.object(os, "fsync", side_effect=full):
        with pytest.raises(OSError, match="No space left on device; free space: 'new'"):
            replace("new", b"new")
    kit.write("kept", "old")
    os.chmod("kept", 0o444)
    if os.geteuid():  # root may write it
        with pytest.raises(PermissionError, match="'kept'"):
            replace("kept", b"new")
        assert contents("kept") == b"old"


def test_writers_of_one_file_do_not_disturb_one_another(folder):
    def write(letter):
        for _ in range(20):
            replace("shared", letter * 100_000)
            data = contents("shared")
            mixed.append((len(data), len(set(data))))

    mixed = []
    writers = [threading.Thread(target=write, args=(letter,)) for letter in (b"A", b"B")]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert set(mixed) == {(100_000, 1)} and len(mixed) == 40


@parametrize("command", ("certify",), ("attack", "--calls", "500"))
def test_a_file_with_a_seed_is_for_its_owner_alone(models, usual_umask, command):
    ask = (command[0], *CERTIFY[1:], *command[1:], "-o")
    said(*ask, "r.json")
    assert mode("r.json") == 0o644  # it has none
    said(*ask, "r.json", "--keep-seed")
    assert mode("r.json") == 0o600 and '"seed"' in contents("r.json").decode()

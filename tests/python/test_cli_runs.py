"""The command line as a program: signals, streams, files that do not fit, child processes, and
models and files of other packages."""

import contextlib
import csv
import fcntl
import gzip
import io
import json
import logging
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

import kit
from kit import PRODUCT, certify_refused, command_refused, engine_files, environment, main, package
from kit import parametrize, read, root, rows_of, run, said, table_of, ungrouped, write
from certreg.cli import streams
from certreg.cli.files import Destination

X = kit.X[:12]
ASKED = tuple("--sigma .25 --tolerance .5 --samples 100 --batch 50 -q".split())
SEEDED = (*ASKED, "--seed", "5")
CERTIFY = ("certify", *PRODUCT, *kit.ASKED)
ROTATION = root / "examples/models/rotation.onnx"


@pytest.fixture(autouse=True)
def inputs(models):
    np.save("x.npy", X)


def start(*words, before=(), **more):
    command = [*before, sys.executable, "-m", "certreg", *map(str, words)]
    streams = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return subprocess.Popen(command, env=environment(**more), **streams)


def interrupt(process, number):
    """A signal, once the model waits for the file `hold` to go."""
    while process.poll() is None:
        if os.path.exists("called") and os.path.getsize("called") > 16:
            break
        time.sleep(0.01)
    process.send_signal(number)


@parametrize(
    "number, status, more, nap",
    (signal.SIGINT, 130, (), 0),
    (signal.SIGINT, 130, ("--jobs", 2), 0.3),  # goes on slowly
    (signal.SIGTERM, 143, (), 0),
)
def test_a_signal_keeps_rows_and_the_repeated_command_does_the_rest(number, status, more, nap):
    pathlib.Path("hold").touch()
    ask = ("certify", "models.py:slow", "x.npy", *ASKED, "--resume", "r.sqlite", "--batch", 100)
    process = start(*ask, "--seed", "5", "-o", "r.csv", *more, NAP=str(nap))
    interrupt(process, number)
    if nap:
        os.remove("hold")
    out, err = process.communicate()
    if not nap:
        os.remove("hold")
    assert (process.returncode, out) == (status, ""), err
    assert re.fullmatch(
        r"certreg: interrupted; \d+ of 12 rows are done and in r.csv and r.sqlite; "
        r"repeat the command to compute the missing rows\n",
        err,
    )
    part = ungrouped(read("r.csv"))
    assert 0 < len(part) < 12
    rest, whole = table_of(*ask), table_of("certify", *PRODUCT, *SEEDED)
    assert rest == whole
    assert part == [row for row in whole if row in part]


def test_ctrl_c_that_is_ignored_stays_so():
    pathlib.Path("hold").touch()
    ignoring = ("sh", "-c", "trap '' INT; exec \"$@\"", "sh")
    words = ("certify", "models.py:slow", "x.npy", *SEEDED, "-o", "r.csv")
    process = start(*words, before=ignoring)
    interrupt(process, signal.SIGINT)
    os.remove("hold")
    assert process.communicate()[1] == ""
    assert (process.returncode, len(read("r.csv"))) == (0, 12)


def test_nobody_reads():
    process = start("--version")
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 4


# ---- streams: what a command writes is complete, or the exit status says that it is not
HOSTILE = "b\x1b]0;t\x07\x7f\x9b2J\u202e\u2028x"  # a title, erasing, a direction, a line
SHOWN = r"b\x1b]0;t\x07\x7f\x9b2J\u202e\u2028x"
LETTERS = "größe نمی\u200cخواهم 価格"
F_SETPIPE_SZ = 1031  # of Linux; fcntl names it from Python 3.10 on
LOST = "certreg: standard output cannot be written: No space left on device; free space"
FAILS = ("certify", "models.py:fails", "x.npy", *kit.ASKED)
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
buffered = parametrize("unbuffered", True, False)
every_command = parametrize("words", ("check", "--help"), ("--version",), CERTIFY,
                            (*CERTIFY, "-o", "-"), ids=" ".join)


def stream(place, unbuffered=False):
    """A stream as Python makes standard output; without a buffer as with PYTHONUNBUFFERED."""
    raw = io.FileIO(place, "w")
    buffer = raw if unbuffered else io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, encoding="utf-8", write_through=unbuffered)


def full(unbuffered=False):
    return stream(os.open("/dev/full", os.O_WRONLY), unbuffered)


def status_of(words, out, err):
    """The exit status of a command with these streams."""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        return main([str(word) for word in words])


@buffered
def test_a_pipe_that_takes_little_at_a_time_gets_everything(unbuffered):
    """It does not block and has little room. Its other end is read, 64 bytes at a time, once the
    writer waits or has ended."""
    np.save("many.npy", np.random.default_rng(1).normal(size=(40, 3)))
    words = ("certify", PRODUCT[0], "many.npy", *kit.ASKED, "-o", "-")
    wanted, _ = said(*words)
    assert len(wanted) > 2 * 4096
    source, sink = os.pipe()
    fcntl.fcntl(sink, F_SETPIPE_SZ, 4096)
    os.set_blocking(sink, False)
    parts, wait = [], select.select
    read = lambda: parts.extend(iter(lambda: os.read(source, 64), b""))  # noqa: E731
    reader = threading.Thread(target=read)

    def waiting(*where):
        if not reader.ident:
            reader.start()
        return wait(*where)

    with stream(sink, unbuffered) as out, mock.patch.object(select, "select", waiting):
        assert status_of(words, out, io.StringIO()) == 0
    reader.join()
    os.close(source)
    assert b"".join(parts).decode() == wanted


@buffered
@every_command
def test_a_reader_that_ends_is_no_news(words, unbuffered):
    source, sink = os.pipe()
    os.close(source)
    err = io.StringIO()
    with stream(sink, unbuffered) as out:
        assert status_of(words, out, err) == 4
    assert "certreg:" not in err.getvalue()


@needs_full
@buffered
@every_command
def test_standard_output_on_a_full_disk(words, unbuffered):
    err = io.StringIO()
    with full(unbuffered) as out:
        assert status_of(words, out, err) == 4
    assert re.search(rf"(\A|\n){LOST}\n\Z", err.getvalue())


LOUD = """
import ctypes, os
def loud(x):
    print("called"), os.write(1, b"called"), ctypes.CDLL(None).printf(b"called")
    return x[:, 0]
"""


@parametrize("more", (), ("--jobs", "2"))
def test_what_the_model_prints_is_no_result(more):
    write("models.py", LOUD, "a")
    words = ("certify", "models.py:loud", "x.npy", *SEEDED, *more, "--json")
    out, err = start(*words, PYTHONWARNINGS="always").communicate()
    assert json.loads(out)["complete"] and err.count("called") > 2 and "unclosed" not in err


@needs_full
@parametrize(
    "words, status",
    (("certify", "none.onnx", "x.npy", *kit.ASKED), 2),
    ((*FAILS, "--traceback"), 3),
    (("nonsense",), 2),
    ((*CERTIFY, "-o", "-"), 4),  # the summary is lost
)
def test_a_status_stays_where_nobody_reads_standard_error(words, status):
    with full(True) as err:
        assert status_of(words, io.StringIO(), err) == status


def test_streams_that_were_closed_before_the_start():
    assert status_of(("--version",), None, io.StringIO()) == 4
    assert status_of(("--version",), io.StringIO(), None) == 0
    assert status_of(FAILS, io.StringIO(), None) == 3


@parametrize("name", "r.csv", "r.json")
def test_results_that_do_not_fit_are_not_left_behind(name):
    """Files cannot grow beyond a size, as on a disk with little room."""
    files, before = sorted(os.listdir()), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        status, _, err = run(*CERTIFY, "-o", name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert status == 4, err
    assert err.endswith(f"certreg: {name} cannot be written: File too large\n")
    assert sorted(os.listdir()) == files


def test_names_cells_and_exceptions_never_reach_a_terminal_raw():
    write("t.csv", f"{HOSTILE},{LETTERS},c\n1.5,2,2.5\n3,4.5,1\n2,1,1\n")
    warns = f"__import__('warnings').warn({HOSTILE!r}); return x[:, 0]"
    write("models.py", f"def hostile(x): raise ValueError({HOSTILE!r})\ndef warns(x): {warns}", "a")
    asked = ("certify", PRODUCT[0], "t.csv", *kit.ASKED)
    for words, status in (
        ((*asked, "--units", "-o", "r.json"), 0),
        (("check", PRODUCT[0], "t.csv", "--sigma", "1e-9"), 1),
        (("scale", PRODUCT[0], HOSTILE, "--sigma", ".4", "--tolerance", "1"), 2),
        (("certify", "models.py:hostile", "x.npy", *kit.ASKED, "--traceback"), 3),
    ):
        _, out, err = got = run(*words)
        assert got[0] == status and SHOWN in out + err, got
        assert all(one.isprintable() or one in "\n\u200c" for one in out + err)
    with pytest.warns(UserWarning, match=re.escape(SHOWN)):
        said("certify", "models.py:warns", "x.npy", *kit.ASKED)
    assert LETTERS in said(*asked)[0]
    write("exact.csv", "0,1,1\n")
    for terminal in (True, False):  # on standard output a table is data unless that is a terminal
        out = io.StringIO()
        out.isatty = lambda: terminal  # noqa: B023
        assert status_of((*asked, "--scale", "exact.csv", "-o", "-", "-q"), out, io.StringIO()) == 0
        found = out.getvalue()
        assert (HOSTILE in found, SHOWN in found) == (not terminal, terminal)
    said(*asked, "--scale", "exact.csv", "-o", "r.csv")
    assert HOSTILE in read("r.csv")[0]["exact"]  # a file keeps names as they are


# ---- child processes
@parametrize("model, jobs", ("models.py:product", 2), ("models.py:Unsent.unsent", -1))
def test_jobs_do_not_change_results(model, jobs):
    """Also of a model that cannot be sent, which each process imports."""
    ask = ("certify", model, "x.npy", *SEEDED)
    assert table_of(*ask, "--jobs", jobs) == table_of(*ask)


def test_jobs_without_loky_are_refused():
    with mock.patch("certreg.workers.installed", lambda *names: None):
        certify_refused("processes for the model need loky: pip install loky", "--jobs", 2)


def test_a_row_that_ends_its_process_is_named_or_skipped():
    write("models.py", "def ends(x): return os._exit(9) if x[:, 0].mean() > 9 else x[:, 0]\n", "a")
    np.save("x.npy", np.where(np.arange(36).reshape(12, 3) == 15, 10, X))
    ask = ("certify", "models.py:ends", "x.npy", *ASKED, "--rows", "4:7", "--jobs", 2)
    sentence = "the model failed in row 5: 3 processes ended .*; --on-crash skip goes on without it"
    command_refused(3, sentence + "; . of 3 rows are done", *ask)
    table = table_of(*ask, "--on-crash", "skip", status=1)
    failed = [row["row"] for row in table if row["status"] == "model_failed"]
    assert (len(table), failed) == (3, ["5"])


# ---- files of other packages, and plots
def test_parquet():
    pandas = package("pandas")
    package("pyarrow")
    pandas.DataFrame(X, columns=["a", "b", "c"]).to_parquet("x.parquet")
    ask = ("certify", "models.py:product", "x.parquet", *SEEDED)
    said(*ask, "-o", "r.parquet")
    kept = pandas.read_parquet("r.parquet")
    assert kept["radius"].tolist() == [float(row["radius"]) for row in table_of(*ask)]


def test_plots():
    np.save("y.npy", X[:, 0] + X[:, 1] * X[:, 2])
    ask = (*PRODUCT, *ASKED, "--labels", "y.npy")
    package("matplotlib")
    for kind, what in (("radii", "share of inputs"), ("accuracy", "share right"),
                       ("error", "mean error of inputs")):
        said("sigma", *ask, "--sigma", ".1,.2", "--plot", "p.svg", "--plot-kind", kind)
        drawn = read("p.svg")
        assert "<svg" in drawn and f"{what} " in drawn and "sigma 0.2" in drawn


def test_a_plot_that_fails_leaves_the_results_and_their_status(monkeypatch):
    package("matplotlib")
    from certreg import table

    monkeypatch.setattr(table, "plot_radii", mock.Mock(side_effect=ValueError("no ink")))
    _, err = said("certify", *PRODUCT, *ASKED, "--plot", "p.svg", "-o", "r.csv")
    assert err == "certreg: there is no plot: no ink\n" and len(read("r.csv")) == 12


def json_lines(text):
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_lines_of_rows_are_those_of_json_and_written_as_rows_finish():
    np.save("y.npy", X[:, 0])
    ask = ("certify", "models.py:slow", "x.npy", *SEEDED, "--labels", "y.npy", "--rows", "2:")
    said(*ask, "-o", "r.json")
    said(*ask, "-o", "r.jsonl", "--jobs", 2)
    lines = ungrouped(json_lines(read("r.jsonl")))
    assert lines == ungrouped(read("r.json")["rows"]) and lines[0]["row"] == 2
    pathlib.Path("hold").touch()
    os.remove("called")
    process = start(*ask, "-o", "r.jsonl", "--batch", 100)
    interrupt(process, signal.SIGKILL)
    process.communicate()
    os.remove("hold")
    some = json_lines(read("r.jsonl"))
    assert 0 < len(some) < 10 and [row["row"] for row in some] == list(range(2, 2 + len(some)))


def test_rows_that_are_taken_back_leave_no_lines(monkeypatch):
    late = "\ndef late(x, n=[0]):\n    n[0] += 1\n    return x[:, 0] + (n[0] > 14)\n"
    write("models.py", late, "a")
    append = mock.Mock(side_effect=Destination.append)
    monkeypatch.setattr(Destination, "append", lambda table, text: append(table, text))
    command = "certify", "models.py:late", "x.npy", *ASKED, "--batch", 100, "-o", "r.jsonl"
    command_refused(3, "; 0 of 12 rows are done", *command)
    assert append.called and read("r.jsonl") == ""


def test_csv_may_be_compressed_or_come_from_standard_input(monkeypatch):
    table = "a,b,c\n" + "".join(",".join(map(str, row)) + "\n" for row in X.tolist())
    with gzip.open("x.csv.gz", "wt") as file:
        file.write(table)
    ask = ("--scale", "std", *SEEDED)
    wanted = table_of("certify", PRODUCT[0], "x.csv.gz", *ask)
    given = SimpleNamespace(buffer=io.BytesIO(table.encode()))
    monkeypatch.setattr(sys, "stdin", given)
    said("certify", PRODUCT[0], "-", *ask, "-o", "r.csv.gz")
    with gzip.open("r.csv.gz", "rt", newline="") as file:
        assert ungrouped(list(csv.DictReader(file))) == wanted
    pathlib.Path("x.csv.gz").write_bytes(pathlib.Path("x.csv.gz").read_bytes()[:-20])
    command_refused(2, "x.csv.gz is not a CSV file", "certify", PRODUCT[0], "x.csv.gz", *ask)


def test_a_run_speaks_to_a_log(monkeypatch):
    warns = "__import__('warnings').warn('careful'); return x[:, 0]"
    write("models.py", f"def warns(x): {warns}\n", "a")
    ask = [word for word in SEEDED if word != "-q"]
    assert said("certify", *PRODUCT, *ask)[1] == ""  # it is short
    events = json_lines(said("certify", *PRODUCT, *ask, "--log", "json", "--output", "0")[1])
    assert {"time", "event", "text"} <= set(events[0])
    assert [e["done"] for e in events if e["event"] == "progress"][-1] == 12
    wrong = ("models.py:none", *ask, "--traceback"), ("models.py:none", "--sigma"), (PRODUCT[0],)
    for model, *more in wrong:
        status, _, err = run("certify", model, "x.npy", *more, "--log", "json")
        assert status == 2 and json_lines(err)[-1]["event"] == "failure"
    for more, text in (((), "careful"), (("-q", "-o", "-"), "sigma  tolerance")):  # the summary
        words = ("certify", "models.py:warns", "x.npy", *ask, "--log", "json", *more)
        assert text in " ".join(event["text"] for event in json_lines(run(*words)[2]))
    monkeypatch.setattr(streams, "SILENT_SECONDS", 0)
    assert said("certify", "models.py:slow", "x.npy", *ask)[1].endswith("certreg: 12 of 12 rows\n")
    assert said("certify", "models.py:slow", "x.npy", *SEEDED)[1] == ""  # --quiet
    assert not logging.getLogger("certreg").level


@parametrize(
    "package, model, more",
    ("onnxruntime", ROTATION, ("--alpha", ".1")),
    ("matplotlib", "models.py:slow", ("--plot", "p.svg")),
    ("pandas", "models.py:slow", ("-o", "r.parquet")),
)
def test_missing_packages_are_named_before_a_call(monkeypatch, package, model, more):
    monkeypatch.setitem(sys.modules, package, None)
    command_refused(2, package, "certify", model, "x.npy", *ASKED, *more)
    assert not os.path.exists("called")


# ---- files of trees, which XGBoost or LightGBM saved
ENGINES = engine_files()
CALLED = "write a .py file with a function that calls it as"


def trees(x):
    """What trees.json says, as in tests/engines/models.h."""
    a, b, c = x.T
    first = np.where(a < 0.5, np.where(b < -0.25, 1, 2), np.where(c < 1, 4, 8))
    second = np.where(c < 0, np.where(a < 0.75, -0.5, 0.25), np.where(b < 0.5, 0.125, 16))
    return 0.5 + first + second


def trees_refused(sentence, path):
    certify_refused(sentence, model=path)


def certified(path, *more, x="x.npy"):
    """Radii by the command."""
    ask = ("certify", path, x, *kit.ASKED, "--rows", ":6", *more)
    return [float(row["radius"]) for row in table_of(*ask)]


def by_a_function(f):
    return rows_of(f, X[:6], samples=200, seed=7)["radius"].ravel().tolist()


def test_packages_of_trees_and_other_files_are_named(monkeypatch):
    write("t.txt", "tree\n")
    for path, needs in (*((ENGINES / name, "xgboost") for name in ("trees.json", "trees.ubj")),
                        ("t.txt", "lightgbm")):
        monkeypatch.setitem(sys.modules, needs, None)
        trees_refused(f"{path} needs {needs}: pip install {needs}", path)
    for name in ("xgboost", "lightgbm"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(__version__="3.2.0"))
    for name in ("newer.json", "newer.ubj"):
        later = rf"XGBoost 99.\d saved .*{name}, which XGBoost 3.2.0 may misread: pip"
        trees_refused(later, ENGINES / name)
    for name, text, sentence in (
        ("a.json", "{}", "a.json is no model that XGBoost saved"),
        ("a.txt", "1 2 3", "a.txt is no model that LightGBM saved"),
        ("b.txt", "tree\nnum_cat=0\nnum_cat=2\n", f"b.txt has categories.*{CALLED}"),
    ):
        write(name, text)
        trees_refused(sentence, name)
    trees_refused("there is no file none.json", "none.json")
    certify_refused("--columns is for .onnx files", "--columns", "0:1", model="a.json")


def test_trees_of_xgboost():
    package("xgboost")
    for name in ("trees.json", "trees.ubj"):
        shutil.copy(ENGINES / name, name)
        assert certified(name) == by_a_function(trees)
    assert certified(name, "--jobs", 2) == by_a_function(trees)


def test_early_stopping_and_categories_of_xgboost_are_refused():
    xgboost = package("xgboost")
    y = trees(kit.X)
    data = xgboost.DMatrix(kit.X, y)
    quiet = dict(evals=[(data, "x")], verbose_eval=False)
    stopped = xgboost.train({"nthread": 1}, data, 3, early_stopping_rounds=2, **quiet)
    stopped.save_model("stopped.json")
    trees_refused(f"stopped.json was stopped early.*{CALLED}", "stopped.json")
    coded = xgboost.DMatrix(np.abs(kit.X).round(), y, feature_types=["q", "q", "c"])
    options = {"nthread": 1, "tree_method": "hist"}
    xgboost.train(options, coded, 2).save_model("coded.ubj")
    trees_refused(f"coded.ubj has categories.*{CALLED}", "coded.ubj")
    write("cut.json", (ENGINES / "trees.json").read_text()[:-40] + '"version":[1,6,0]')
    trees_refused("cut.json cannot be opened: XGBoostError", "cut.json")


def test_trees_of_lightgbm_take_columns_by_their_names():
    lightgbm, pandas = package("lightgbm"), package("pandas")
    frame = pandas.DataFrame(kit.X, columns=["a", "b", "c"])
    quiet = dict(n_estimators=9, min_child_samples=3, n_jobs=1, verbose=-1)
    fitted = lightgbm.LGBMRegressor(**quiet).fit(frame, trees(kit.X))
    fitted.booster_.save_model("t.txt")
    wanted = by_a_function(lambda x: fitted.booster_.predict(x, num_threads=1))
    assert certified("t.txt") == wanted
    assert re.search("(?m)^features +a, b, c$", run("info", "t.txt")[1])
    frame[["c", "a", "b"]].head(6).to_csv("turned.csv", index=False)
    assert certified("t.txt", x="turned.csv") == wanted


def test_trees_of_lightgbm_have_their_categories():
    lightgbm, pandas = package("lightgbm"), package("pandas")
    table = pandas.DataFrame({"a": kit.X[:, 0], "kind": list("xyz" * 13 + "x")})
    kinds = table.astype({"kind": "category"})
    quiet = dict(n_estimators=9, min_child_samples=3, min_data_per_group=1, n_jobs=1, verbose=-1)
    fitted = lightgbm.LGBMRegressor(**quiet).fit(kinds, kinds["kind"].cat.codes * 9)
    fitted.booster_.save_model("t.txt")
    table.to_csv("t.csv", index=False)
    rows = table_of("certify", "t.txt", "t.csv", *SEEDED)
    assert {row["exact"] for row in rows} == {"kind"}
    found = [float(row["prediction"]) for row in rows]
    assert found == pytest.approx(fitted.predict(kinds), abs=1e-5)
    pathlib.Path("t.csv").write_text("a,kind\n1,x\n2,new\n3,y\n")
    status, _, err = run("certify", "t.txt", "t.csv", *SEEDED)
    assert status == 3 and "in row 1: ValueError: column 'kind' has other categories than" in err

"""The command line as a process: signals, child processes, ONNX models, plots."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest.mock

import numpy as np
import pytest

from kit import X, certify_refused, command_refused, environment, package, parametrize, read, root
from kit import said, table_of, ungrouped, write

X = X[:12]
ASKED = tuple("--sigma .25 --tolerance .5 --samples 100 --batch 50 -q".split())
SEEDED = (*ASKED, "--seed", "5")
ROTATION = root / "examples/models/rotation.onnx"


@pytest.fixture(autouse=True)
def inputs(models):
    np.save("x.npy", X)


def start(*words, before=(), **more):
    command = [*before, sys.executable, "-m", "certreg", *map(str, words)]
    streams = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return subprocess.Popen(command, env=environment(**more), **streams)


def in_a_process(*words, status=0, **more):
    """Standard output and standard error of a command in a new process."""
    process = start(*words, **more)
    out, err = process.communicate()
    assert (process.returncode, "Traceback" in err) == (status, False), err
    return out, err


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
    rest, whole = table_of(*ask), table_of("certify", "models.py:product", "x.npy", *SEEDED)
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
    process = start("info")
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 4


# ---- child processes
@parametrize("model", "models.py:product", "models.py:Unsent.unsent")  # it cannot be sent
def test_jobs_do_not_change_results(model):
    ask = ("certify", model, "x.npy", *SEEDED)
    for jobs in (2, -1, 0):
        assert table_of(*ask, "--jobs", jobs) == table_of(*ask)


def test_jobs_without_loky_are_refused():
    with unittest.mock.patch("certreg.workers.installed", lambda *names: None):
        certify_refused("processes for the model need loky: pip install loky", "--jobs", 2)


def test_a_row_that_ends_its_process_is_named_or_skipped():
    write("models.py", "def ends(x): return os._exit(9) if x[:, 0].mean() > 9 else x[:, 0]\n", "a")
    np.save("x.npy", np.where(np.arange(36).reshape(12, 3) == 15, 10, X))
    ask = ("certify", "models.py:ends", "x.npy", *ASKED, "--rows", "1:8", "--jobs", 2)
    sentence = "the model failed in row 5: 3 processes ended .*; --on-crash skip goes on without it"
    command_refused(3, sentence + "; . of 7 rows are done", *ask)
    table = table_of(*ask, "--on-crash", "skip", status=1)
    failed = [row["row"] for row in table if row["status"] == "model_failed"]
    assert (len(table), failed) == (7, ["5"])


# ---- other packages
def test_a_regressor_of_scikit_learn():
    """Made by tests/data/make_regressor.py."""
    package("onnxruntime")
    shutil.copy(root / "tests/data/regressor.onnx", "model.onnx")
    ask = ("model.onnx", "x.npy", *SEEDED)
    slope = np.linalg.norm([3, -1, 0.5])
    for row in table_of("certify", *ask, "--tolerance", "2"):
        # The median of a linear model moves by at most its slope times the radius.
        assert 0.5 * 2 / slope < float(row["radius"]) < 2.3 / slope
    assert "Nothing" in said("check", *ask[:2], "--sigma", ".25")[0]
    assert re.search(r"input +X \(rows, 3\)", said("info", "model.onnx")[0])
    np.save("wide.npy", np.ones((2, 4)))
    wide = r"wide.npy has .*\(4\); model.onnx takes .*\(3\)"
    command_refused(2, wide, "certify", "model.onnx", "wide.npy", *ASKED)
    write("damaged.onnx", "no model")
    command_refused(2, "", "certify", "damaged.onnx", "x.npy", *ASKED)


def test_parquet():
    pandas = package("pandas")
    package("pyarrow")
    pandas.DataFrame(X, columns=["a", "b", "c"]).to_parquet("x.parquet")
    ask = ("certify", "models.py:product", "x.parquet", *SEEDED)
    said(*ask, "-o", "r.parquet")
    kept = pandas.read_parquet("r.parquet")
    assert kept["radius"].tolist() == [float(row["radius"]) for row in table_of(*ask)]


@parametrize(
    "more",
    "certify",
    "certify --plot-kind accuracy",
    "sigma --sigma .1,.2 --plot-kind error",
)
def test_plots(more):
    package("matplotlib")
    np.save("y.npy", X[:, 0] + X[:, 1] * X[:, 2])
    command, *more = more.split()
    ask = ("models.py:product", "x.npy", *ASKED, "--labels", "y.npy", "--plot", "p.svg")
    said(command, *ask, *more)
    drawn = read("p.svg")
    assert "<svg" in drawn and ("mean error of inputs with" in drawn) == ("error" in more)


@parametrize(
    "package, model, more",
    ("onnxruntime", ROTATION, ("--alpha", ".1")),
    ("matplotlib", "models.py:slow", ("--plot", "p.svg")),
    ("pandas", "models.py:slow", ("-o", "r.parquet")),
)
def test_packages_that_are_missing_are_named_before_the_model_is_called(package, model, more):
    write(f"{package}.py", "raise ImportError('hidden')")
    path = os.pathsep.join((str(root / "python"), os.getcwd()))
    _, err = in_a_process("certify", model, "x.npy", *ASKED, *more, status=2, PYTHONPATH=path)
    assert re.fullmatch(rf"certreg: [^\n]*{package}[^\n]*\n", err)
    assert not os.path.exists("called")

"""What the tests share: models, estimators and rows with fixed seeds, and the command line."""

import atexit
import contextlib
import csv
import functools
import io
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest.mock
import warnings

import numpy as np
import pytest

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "python"))
import certreg  # noqa: E402
from certreg.structs import Plan  # noqa: E402
from certreg.cli.main import main  # noqa: E402
from certreg.rows import grouped  # noqa: E402

if os.path.exists(certreg.library_path):  # tests change the current folder
    os.environ["CERTREG_LIB"] = os.path.abspath(certreg.library_path)

package = pytest.importorskip
as_it_is = Plan.__init__  # the library draws a seed of 0
Z, ORIGIN = [1, 0.5, -0.25], [0, 0, 0]
X = np.random.default_rng(5).normal(size=(40, 3)).astype(np.float32)
SAMPLES = 2000
GROUPED = "audited", "audit_change", "audit_band", "audit_share"
SOURCES = (root / "python/certreg").exists()
needs_sources = pytest.mark.skipif(not SOURCES, reason="the sources of the package are not here")


def parametrize(names, *rows, **more):
    """One test for each row of arguments with these names."""
    return pytest.mark.parametrize(names, rows, **more)


def model(x):
    return x[:, 0] + x[:, 1] * x[:, 2]


def estimator(f=model, inputs=3, **more):
    """An estimator with the same seed in all tests, unless a test gives another."""
    return certreg.Estimator(f, inputs, **{"max_samples": SAMPLES, "seed": 42, **more})


def rows_of(f=model, x=X, sigma=0.25, questions=0.5, **more):
    """Rows with the same noise in all tests, unless a test gives another seed, and with calls of
    their own: test_rows.py has calls that rows share."""
    more = {"samples": 300, "seed": 42, "progress": False, **more}
    more.setdefault("batch", more["samples"])
    return certreg.certify_rows(f, x, sigma, questions, **grouped(more))


def bits(rows):
    """Without the fields that depend on the rows that were audited together."""
    found = rows.certificates.copy()
    for name in GROUPED:
        found[name] = 0
    return found.tobytes()


def same(a, b):
    """Whether two results are equal in every field but these, where NaN equals NaN."""
    texts = [re.sub(rf"({'|'.join(GROUPED)})=[^,)]*", "", repr(one)) for one in (a, b)]
    return texts[0] == texts[1]


def near(wanted, within=5e-8):
    return pytest.approx(wanted, rel=0, abs=float(within))


def never(x):
    raise AssertionError("the model was called")


def counting(f=model):
    """A model, and the numbers of rows of its calls."""
    calls = []
    return lambda x: (calls.append(len(x)), f(x))[1], calls


def raising(at, error, f=model):
    """A model that raises in its call number `at`."""
    calls = []

    def raises(x):
        calls.append(1)
        if len(calls) == at:
            raise error
        return f(x)

    return raises


def undefined(of, beyond, f=model):
    """A model whose output is NaN where a feature is large."""
    return lambda x: np.where(x[:, of] > beyond, np.nan, f(x))


def on_a_thread(call, *arguments):
    thread = threading.Thread(target=call, args=arguments)
    thread.start()
    thread.join()


@contextlib.contextmanager
def no_warnings():
    """A context in which warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@contextlib.contextmanager
def refused(status, *names):
    """The library refuses by a sentence with this status, which has these words."""
    with pytest.raises(certreg.CertregError) as caught:
        yield caught
    assert caught.value.status == status
    assert str(caught.value) and all(name in str(caught.value) for name in names)


@contextlib.contextmanager
def drawn_from(seed):
    """A context in which a generator gives the seeds that the package or the library would draw."""
    drawn, patch = random.Random(seed), unittest.mock.patch

    def plan(self, **fields):
        as_it_is(self, **{**fields, "seed": fields.get("seed") or drawn.getrandbits(64)})

    with patch("secrets.randbelow", drawn.randrange), patch.object(Plan, "__init__", plan):
        yield


def environment(*before, **more):
    """The variables of a program that imports the package, and modules of these folders first."""
    path = [*before, root / "python", *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    path = os.pathsep.join(str(folder) for folder in path if str(folder))
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **more}


def node(operator, inputs, *outputs, **attributes):
    """A node of an ONNX file."""
    return package("onnx.helper").make_node(operator, inputs, outputs, **attributes)


def onnx_file(path, nodes, inputs, outputs, constants={}, ir=8, opset=13):
    """Writes an ONNX file and returns its path. Inputs and outputs are (name, shape), and a type if
    they are no floats."""
    make, arrays, onnx = package("onnx.helper"), package("onnx.numpy_helper"), package("onnx")
    ends = [
        [make.make_tensor_value_info(name, *(*kind, 1)[:1], shape) for name, shape, *kind in one]
        for one in (inputs, outputs)
    ]
    values = [arrays.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = make.make_graph(nodes, "graph", *ends, values)
    versions = dict(ir_version=ir, opset_imports=[make.make_opsetid("", opset)])
    onnx.save(make.make_model(graph, **versions), path)
    return path


# ---- the command line
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
def makes_none(): raise SystemExit(0)
def sometimes_nan(x): return np.where(x[:, 0] > 6, np.nan, product(x))
def slow(x):
    with open("called", "a") as file: file.write(".")
    if os.path.getsize("called") > 16:
        while os.path.exists("hold"): time.sleep(0.01)
        time.sleep(float(os.environ.get("NAP", "0")))
    return product(x)
def depends_on_its_batch(x): return product(x) + x[:, 0].mean()
class Unsent:
    unsent = staticmethod(lambda x: product(x))
number = 7
"""
STEPS = np.c_[np.arange(10.0), np.ones((10, 2))]  # first feature 0, 1, 2, ...
ASKED = ("--sigma", ".25", "--tolerance", ".5", "--samples", "200", "--seed", "7")
OWN_CALLS = ("--batch", "200")  # each row has calls of its own
PRODUCT = ("models.py:product", "x.npy")
CERTIFY = ("certify", *PRODUCT, *ASKED)


def write(name, text, how="w"):
    with open(name, how, encoding="utf-8") as file:
        file.write(text)


def read(name):
    """What a command wrote: the lines of a table as dicts, a document, or a text."""
    with open(name, newline="", encoding="utf-8") as file:
        if name.endswith(".csv"):
            return list(csv.DictReader(file))
        return json.load(file) if name.endswith(".json") else file.read()


def run(*words):
    """Exit status, standard output and standard error of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(word) for word in words])
    return status, out.getvalue(), err.getvalue()


def said(*words, status=0):
    """What a command that ends as it should says on standard output and standard error."""
    got, out, err = run(*words)
    assert got == status, err
    return out, err


def table_of(*words, name="r.csv", status=0):
    """The table that a command writes, without what depends on rows that were audited together."""
    assert said(*words, "-o", name, "-q", status=status)[1] == "", words
    return ungrouped(read(name))


def ungrouped(lines):
    if isinstance(lines, dict):  # of JSON
        return lines
    return [{n: v for n, v in line.items() if n not in GROUPED} for line in lines]


def command_refused(status, sentence, *words):
    """The command prints one sentence on standard error, which matches, and nothing else."""
    got, out, err = run(*words)
    assert re.search(sentence, err), err
    assert re.fullmatch(r"certreg: [^\n]+\n", err), err
    assert (got, out) == (status, "")


def certify_refused(sentence, *more, model=PRODUCT[0], x=PRODUCT[1], status=2):
    command_refused(status, sentence, "certify", model, x, *ASKED, *more)


# ---- the programs of bench
sys.path[:0] = [str(root / "bench"), str(root / "examples/models")]
DRAWINGS = root / os.environ.get("OBJ", "nowhere") / "libdigits.so"


def needs_drawings():
    """Skips the test where digits cannot be drawn, or the network cannot be run."""
    package("onnxruntime")
    if not DRAWINGS.exists():
        pytest.skip("the demo's drawings are not built: make check does it")


def started(module, out, *words, before=(), **more):
    """A program of bench that keeps what it finds in this folder. None unsets a variable."""
    found = (*before, root / "bench", root / "examples/models", root / "lib/deps")
    usual = dict(QUICK="2", REPRODUCE_JOBS="1", REPRODUCE_DIGITS=str(DRAWINGS))
    given = {"CERTREG_MNIST": None, "REPRODUCE_OUT": str(out), **usual, **more}
    env = {k: v for k, v in environment(*found, **given).items() if v is not None}
    command = [sys.executable, "-m", module, *words]
    streams = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return subprocess.Popen(command, env=env, **streams)


def program(*words, **more):
    """The same once it has ended, with what it printed."""
    process = started(*words, **more)
    out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@functools.cache
def engine_files():
    """The folder of the files that the tests of engines open, made if make has not made it."""
    folder = root / "lib/.obj/engines"
    if not (folder / "newer.ubj").exists():
        folder = pathlib.Path(tempfile.mkdtemp(prefix="certreg-engines-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        subprocess.run([sys.executable, root / "tests/engines/make_models.py", folder], check=True)
    return folder

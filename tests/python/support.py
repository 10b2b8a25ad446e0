"""Shared by the tests of the Python package: a model, an estimator of it, optional packages, and
`run`, which runs the tests of a file and prints a line of counts as Check does."""

import contextlib
import importlib
import pathlib
import random
import signal
import sys
import unittest
import unittest.mock
import warnings

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "python"))
import certreg  # noqa: E402
from certreg._structs import Plan  # noqa: E402

as_it_is = Plan.__init__  # the library draws a seed of 0
Z, ORIGIN = [1, 0.5, -0.25], [0, 0, 0]
SAMPLES = 2000


def model(x):
    return x[:, 0] + x[:, 1] * x[:, 2]


def estimator(f=model, inputs=3, **more):
    """An estimator with the same seed in all tests, unless a test gives another."""
    return certreg.Estimator(
        f, inputs, more.pop("max_samples", SAMPLES), seed=more.pop("seed", 42), **more
    )


def same(a, b):
    """Whether two results are equal in every field, where NaN equals NaN."""
    return repr(a) == repr(b)


def package(name):
    """Imports a package, or skips the test if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed") from None


@contextlib.contextmanager
def no_warnings():
    """A context in which warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@contextlib.contextmanager
def drawn_from(seed):
    """A context in which a generator gives the seeds that the package or the library would draw."""
    drawn, patch = random.Random(seed), unittest.mock.patch

    def plan(self, **fields):
        as_it_is(self, **{**fields, "seed": fields.get("seed") or drawn.getrandbits(64)})

    with patch("secrets.randbelow", drawn.randrange), patch.object(Plan, "__init__", plan):
        yield


def run():
    """Runs the tests of the program's file. A secret seed is the same in every run, so that no test
    fails by chance."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    with drawn_from(1):
        result = unittest.TextTestRunner(verbosity=1).run(tests)
    for test, why in result.skipped:
        print(f"skip {test}: {why}")
    failures, errors = len(result.failures), len(result.errors)
    print(f"100%: Checks: {result.testsRun}, Failures: {failures}, Errors: {errors}", flush=True)
    sys.exit(not result.wasSuccessful())

"""The package where the system has what Windows has: names that Windows lacks are removed from
Python's modules, and its C library has another name. It shows that the package imports and
certifies there, as far as Linux can show it."""

import os
import pathlib
import subprocess
import sys

import certreg

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples/python/example.py"
PROGRAM = """
import ctypes, os, pathlib, signal, subprocess, sys
import concurrent.futures.process, multiprocessing.resource_tracker
import numpy as np
real = ctypes.CDLL.__init__
def init(self, name, *rest, **named):
    if name is None:
        raise TypeError("Windows has no library of that name")
    real(self, None if name == "ucrtbase" else name, *rest, **named)
ctypes.CDLL.__init__ = init
for module, names in (
    (signal, ("pthread_sigmask", "SIG_BLOCK", "SIG_SETMASK", "SIGKILL", "sigpending")),
    (os, ("sched_getaffinity", "fork", "geteuid", "getuid")),
):
    for name in names:
        delattr(module, name)
sys.platform = "win32"
import certreg
from certreg import workers
with workers._no_interrupts():
    pass
rows = certreg.certify_rows(lambda x: x[:, 0], np.zeros((2, 3)), 0.25, 0.5, samples=500)
assert (np.asarray(rows.radius) > 0).all()
exec(pathlib.Path(sys.argv[1]).read_text())
"""


def test_package_needs_nothing_that_windows_lacks():
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(EXAMPLE)],
        env={**os.environ, "CERTREG_LIB": certreg.library_path},
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("within 0.5 of 0.870862"), said.stdout

"""What importing the package gives, also on Windows, and what is installed for it."""

import ast
import re
import subprocess
import sys

from kit import certreg, environment, parametrize, pathlib, root
from certreg import cli

PACKAGE = pathlib.Path(certreg.__file__).parent


def test_what_is_imported_later_is_what_type_checkers_see():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    seen = {
        node.module: " ".join(name.name for name in node.names)
        for branch in tree.body
        if isinstance(branch, ast.If)
        for node in branch.body
    }
    assert seen == certreg._LATER


def test_names_are_there_when_they_are_asked_for():
    script = """import sys, certreg
assert not {"numpy", "certreg.rows", "multiprocessing"} & {*sys.modules}
assert {*certreg.__all__, "__doc__"} <= {*dir(certreg)} and not hasattr(certreg, "Row")
assert all(getattr(certreg, name) is getattr(certreg, name) for name in certreg.__all__)
from certreg import *
assert certify_rows is certreg.rows.certify_rows"""
    subprocess.run([sys.executable, "-c", script], check=True, env=environment())


def imports_of(path):
    """The modules of the package that a module imports, in functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found.update([node.module] if node.module else [one.name for one in node.names])
    return found


@parametrize("doc, folder, more", (certreg.__doc__, PACKAGE, {"cli"}),
             (cli.__doc__, PACKAGE / "cli", set()))
def test_layers_are_those_of_the_docstring(doc, folder, more):
    drawing = doc.rpartition("::\n\n")[2]
    rows = re.split(r"\n {4}(?! )", "\n" + drawing)[1:]
    layers = [re.sub(r"^\S+(?: \S+)? {2,}", "", row).split() for row in rows]
    place = {name: i for i, name in enumerate(name for names in layers for name in names)}
    modules = {path.stem: path for path in folder.glob("*.py") if path.stem[:2] != "__"}
    assert set(place) == {*modules, *more}
    for name, path in modules.items():
        for used in imports_of(path):
            assert place[used] < place[name], (name, used)


# ---- Windows
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
    """Names that Windows lacks are removed from Python's modules, and its C library has another
    name. It shows that the package imports and certifies there, as far as Linux can show it."""
    command = [sys.executable, "-c", PROGRAM, root / "examples/python/example.py"]
    said = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("within 0.5 of 0.870862"), said.stdout


# ---- what make deps, deps-real and deps-all let pip install is named file by file
SETS = sorted(p.parent for p in root.glob("*/*/packages.txt"))


def wanted(folder):
    """name: the beginning of its version, as "4." of "lightgbm==4.*"."""
    lines = (folder / "packages.txt").read_text().splitlines()
    asked = [re.sub(r"\[.*\]", "", line).split("==") for line in lines if line[:1] not in "#"]
    return {name: version.rstrip("*") for name, version in asked}


def pinned(folder):
    """name: its version, and the hashes of its files."""
    entries = (folder / "pins.txt").read_text().replace("\\\n", "").splitlines()
    for entry in entries:
        if not entry.startswith("#"):
            pin, *hashes = entry.split()
            name, version = pin.split("==")
            yield name, (version, hashes)


@parametrize("folder", *SETS, ids=lambda folder: folder.name)
def test_pins_are_those_of_the_packages(folder):
    pins = dict(pinned(folder))
    for name, version in wanted(folder).items():
        assert pins[name][0].startswith(version), f"{folder}/packages.txt was edited: make pins"
    for name, (_, hashes) in pins.items():
        assert hashes and all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", h) for h in hashes), name


def test_recipes_install_nothing_else():
    recipes = "".join((root / name).read_text() for name in ("Makefile", "python/python.mk"))
    installs = re.findall(r"pip install .*", recipes)
    assert len(SETS) == 3 and len(installs) == 2
    for line in installs:
        assert "--no-deps --require-hashes" in line, line

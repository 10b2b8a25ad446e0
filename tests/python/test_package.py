"""What importing the package gives."""

import ast
import re
import subprocess
import sys

from kit import certreg, environment, parametrize, pathlib
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
assert not {"certreg.rows", "multiprocessing"} & {*sys.modules}
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


@parametrize(
    "doc, folder, more", (certreg.__doc__, PACKAGE, {"cli"}), (cli.__doc__, PACKAGE / "cli", set())
)
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

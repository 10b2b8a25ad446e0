"""The modules of the package depend on one another in one direction."""

import ast
import subprocess
import sys

from kit import certreg, environment, pathlib

PACKAGE = pathlib.Path(certreg.__file__).parent
LAYERS = (  # each may import those before it
    "_files constants _structs _library _said errors _dlpack _optional _arrays _tables questions "
    "answers _calls names _tensors _onnx models frames parametric denoised _steps _marks attacks "
    "_asking estimator _changes _rules intervals solver check plots _worker result _damage "
    "_database _plan store shards _processes _probes _shown _graphs _network training joining "
    "rows groups sensitivity tuning comparison units regressor __init__ cli __main__"
).split()


def imported(file):
    """The modules of the package that a file imports, by their names within it."""
    depth = len(file.relative_to(PACKAGE).parts) - 1
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth + 1:
            yield from [node.module.split(".")[0]] if node.module else (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("certreg"):
            yield node.module.partition(".")[2].split(".")[0]


def test_modules_import_only_those_below():
    seen = 0
    for file in sorted(PACKAGE.rglob("*.py")):
        place = LAYERS.index(file.relative_to(PACKAGE).with_suffix("").parts[0])
        for other in imported(file):
            seen += 1
            known = other if other in LAYERS else "__init__"  # a name of the package itself
            assert LAYERS.index(known) <= place, f"{file.name} imports {other}"
    assert seen > 40


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

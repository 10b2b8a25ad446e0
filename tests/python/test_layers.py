"""The modules of the package depend on one another in one direction."""

import ast

from kit import certreg, pathlib

PACKAGE = pathlib.Path(certreg.__file__).parent
LAYERS = (  # each may import those before it
    "constants _structs _library _said errors _dlpack _optional _arrays _tables questions answers "
    "_calls names _tensors _onnx models frames parametric denoised attacks _asking estimator "
    "_steps _changes _rules intervals solver check plots _worker result _damage _lock store "
    "shards _schedule _probes _shown _graphs _network training joining rows groups sensitivity "
    "tuning comparison units regressor __init__ cli __main__"
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

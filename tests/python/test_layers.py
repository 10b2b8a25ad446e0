"""The modules of the package depend on one another in one direction."""

import ast
import pathlib
import unittest

from support import certreg, run

PACKAGE = pathlib.Path(certreg.__file__).parent
LAYERS = [  # each may import those before it
    "constants",
    "_structs",
    "_library",
    "_said",
    "errors",
    "_dlpack",
    "_optional",
    "_arrays",
    "questions",
    "answers",
    "_calls",
    "names",
    "_onnx",
    "models",
    "frames",
    "attacks",
    "estimator",
    "intervals",
    "solver",
    "check",
    "plots",
    "_worker",
    "result",
    "_damage",
    "_lock",
    "store",
    "_schedule",
    "_probes",
    "_shown",
    "rows",
    "groups",
    "sensitivity",
    "tuning",
    "",  # the package itself
    "cli",
    "__main__",
]


def imported(file):
    """The modules of the package that a file imports, by their names within it."""
    depth = len(file.relative_to(PACKAGE).parts) - 1
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth + 1:
            yield from [node.module.split(".")[0]] if node.module else (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("certreg"):
            yield node.module.partition(".")[2].split(".")[0]


class Layers(unittest.TestCase):
    def test_modules_import_only_those_below(self):
        seen = 0
        for file in sorted(PACKAGE.rglob("*.py")):
            module = file.relative_to(PACKAGE).with_suffix("").parts[0]
            place = LAYERS.index(module.replace("__init__", ""))
            for other in imported(file):
                seen += 1
                known = other if other in LAYERS else ""  # a name of the package itself
                self.assertLessEqual(LAYERS.index(known), place, f"{file.name} imports {other}")
        self.assertGreater(seen, 40)


if __name__ == "__main__":
    run()

"""What a program was built with stays: the fields and constants of every released header are in the
present ones, at the same place, with the same type and value. tests/abi/VERSION.txt has them.
`test_abi.py record` writes the file of the present version, once, when it is released."""

import re
import sys
import unittest

from support import certreg, root, run
from test_header import printed_by_c, structs, text

KINDS = {
    "int32_t": "int32",
    "int64_t": "int64",
    "uint32_t": "uint32",
    "uint64_t": "uint64",
    "float": "float32",
    "double": "float64",
}


def present():
    """Lines such as "plan.seed 8 uint64" (its offset) and "CERTREG_E_BUSY 18". A pointer has the
    kind pointer, an array the kind of its elements and their number."""
    lines = []
    kinds = ", ".join(f'{c}: "{name}"' for c, name in KINDS.items())
    for name, fields in sorted(structs().items()):
        for field in fields:
            there = f"((certreg_{name} *)0)->{field}"
            # The first element of an array has the kind; of a pointer or a number it is itself.
            lines.append(
                f'printf("{name}.{field} %zu %s %zu\\n", offsetof(certreg_{name}, {field}), '
                f'_Generic({there}, {kinds}, char *: "text", int32_t *: "int32", '
                f'double *: "float64", default: "pointer"), sizeof {there});'
            )
    constants = dict(re.findall(r"(CERTREG_\w+)\s*=\s*(-?\d+)", text))
    return printed_by_c(lines).splitlines() + [f"{n} {v}" for n, v in sorted(constants.items())]


class Abi(unittest.TestCase):
    def test_fields_and_constants_of_releases_are_there(self):
        now = set(present())
        releases = list((root / "tests/abi").glob("*.*.*.txt"))
        self.assertTrue(releases)
        for release in releases:
            lines = release.read_text().splitlines()
            self.assertGreater(len(lines), 200)
            self.assertEqual([line for line in lines if line not in now], [], release.name)


if __name__ == "__main__":
    if sys.argv[1:] == ["record"]:
        (root / f"tests/abi/{certreg.__version__}.txt").write_text("\n".join(present()) + "\n")
    else:
        run()

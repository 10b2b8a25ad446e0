"""What a program was written with stays: the fields and constants of every released header are in
the present ones, at the same place, with the same type and value; and every name of the Python
package with its arguments, and every option of the command. tests/abi/VERSION.txt has them.
`test_abi.py record` writes the file of the present version, once, when it is released."""

import enum
import inspect
import re
import sys
import unittest

from certreg.cli import parser
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


def arguments(name, made):
    """Lines such as "python Question tolerance 0": a name, an argument, its default."""
    try:
        signature = inspect.signature(made)
    except (TypeError, ValueError):
        return [f"python {name}"]
    given = [p for p in signature.parameters.values() if p.name != "self"]
    empty = inspect.Parameter.empty
    return [f"python {name}"] + [
        f"python {name} {p.name}" + ("" if p.default is empty else f" {p.default!r}") for p in given
    ]


def package():
    lines = []
    for name in certreg.__all__:
        made = getattr(certreg, name)
        if not callable(made) or (inspect.isclass(made) and issubclass(made, enum.Enum)):
            members = getattr(made, "__members__", ())  # their values are those of the header
            lines += [f"python {name}", *(f"python {name}.{member}" for member in members)]
            continue
        lines += arguments(name, made)
        for method in vars(made) if inspect.isclass(made) else ():
            if not method.startswith("_"):
                lines += arguments(f"{name}.{method}", getattr(made, method))
    return lines


def command():
    """Lines such as "certreg certify --tolerance"."""
    lines = []
    for action in parser.parser()._actions:
        for name, sub in (getattr(action, "choices", None) or {}).items():
            for option in sub._actions:
                for word in option.option_strings or [option.dest]:
                    lines.append(f"certreg {name} {word}")
    return lines


def headers():
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


def present():
    return sorted(set(headers() + package() + command()))


class Abi(unittest.TestCase):
    def test_fields_and_constants_of_releases_are_there(self):
        now = set(present())
        releases = list((root / "tests/abi").glob("*.*.*.txt"))
        self.assertTrue(releases)
        for release in releases:
            lines = release.read_text().splitlines()
            self.assertGreater(len(lines), 600)
            self.assertEqual([line for line in lines if line not in now], [], release.name)


if __name__ == "__main__":
    if sys.argv[1:] == ["record"]:
        (root / f"tests/abi/{certreg.__version__}.txt").write_text("\n".join(present()) + "\n")
    else:
        run()

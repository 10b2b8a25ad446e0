"""generate.py: writes what the package takes from include/certreg: structs and functions for ctypes
(structs.py), and the members and numbers of constants.py, whose docstrings stay. `generate.py
--check` writes nothing; it prints the files that would change, and fails if there are any."""

from __future__ import annotations

import itertools
import pathlib
import re
import sys
import textwrap
from typing import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = '''"""The structs and functions of include/certreg, for ctypes.

Written by python/generate.py; change the headers instead."""

from __future__ import annotations

import ctypes as C

from .arguments import Struct, f64, fields, i32, i64, pointer, size_t, u32, u64
from .constants import {constants}

ref = C.POINTER


'''
NUMBERS = {
    "int32_t": "i32", "int64_t": "i64", "uint32_t": "u32", "uint64_t": "u64", "double": "f64",
    "size_t": "size_t", "certreg_status": "i32", "char": "C.c_char", "float": "C.c_float",
}  # fmt: skip
IN_C = ("ALTERNATIVE_", "AUDIT_", "CALL_", "QUEUE_")  # constants that Python need not name
# Set to arrays of ctypes, which a typed pointer keeps alive. Other pointers hold addresses.
TYPED = ("looks", "prediction")


def headers(folder: pathlib.Path) -> str:
    """The code of all C headers, without comments and directives, in the order of their names."""
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.h")))
    code = re.sub(r"^#define (CERTREG_VERSION_NUMBER) ", r"\1 = ", code, flags=re.M)
    return re.sub(r"/\*.*?\*/|^#.*?$", "", code, flags=re.S | re.M)


def python_name(name: str) -> str:
    return name.removeprefix("certreg_").title().replace("_", "")


# ---- structs and functions
def type_of(declaration: str, known: dict[str, str]) -> str:
    """The ctypes type of a field, parameter or result: "const double *lo" is a pointer."""
    kind, stars, name, length = re.fullmatch(
        r"(?:const )?(?:struct )?(\w+) ?(\**)(\w*)(?:\[(.*)\])?", " ".join(declaration.split())
    ).groups()  # type: ignore[union-attr]
    if not stars:
        number = NUMBERS.get(kind) or ("None" if kind == "void" else python_name(kind).upper())
        size = re.sub(r"CERTREG_", "", length or "")
        return number if not size else f"{number} * {f'({size})' if ' ' in size else size}"
    if kind == "char":
        return "C.c_char_p"
    if python_name(kind) in known and stars == "*":
        return f"ref({python_name(kind)})"
    if stars == "**":
        return "ref(pointer)"
    return f"ref({NUMBERS[kind]})" if name in TYPED else "pointer"


def fields_of(body: str, known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Name and type of each field."""
    for declaration in filter(str.strip, body.split(";")):
        callback = re.search(r"\(\*(\w+)\)", declaration)
        if callback:
            yield callback[1], callback[1].upper()
            continue
        base, *more = declaration.split(",")
        kind = re.match(r"\s*((?:const )?\w+)", base)[1]  # type: ignore[index]
        for one in (base, *(f"{kind} {name.strip()}" for name in more)):
            yield re.sub(r"\[.*", "", one).split()[-1].lstrip("*"), type_of(one, known)


def class_text(name: str, body: str, known: dict[str, str]) -> str:
    """A struct as a class; neighbouring fields of one type are together."""
    groups = itertools.groupby(fields_of(body, known), key=lambda field: field[1])
    parts = (
        f'({kind}, "{part}")'.replace(" ", "~")
        for kind, group in groups
        for part in textwrap.wrap(" ".join(field for field, _ in group), 75)
    )
    line = f"    _fields_ = fields({', '.join(parts)})"
    lines = textwrap.fill(line, 99, subsequent_indent=" " * 8).replace("~", " ")
    return f"class {name}(Struct):\n{lines}\n"


def declarations(code: str) -> str:
    """The text of structs.py: callbacks and structs, each after what it names; then functions."""
    known = {python_name(n): body for n, body in re.findall(r"struct (\w+) \{(.*?)\}", code, re.S)}
    waiting = {name: class_text(name, body, known) for name, body in known.items()}
    for name, given in re.findall(r"int \(\*(\w+)\)\(([^)]*)\);", code):
        name, types = python_name(name).upper(), [type_of(one, known) for one in given.split(",")]
        waiting[name] = f"{name} = C.CFUNCTYPE(C.c_int, {', '.join(types)})\n"
    written: list[str] = []
    while waiting:
        for name, text in list(waiting.items()):
            if not set(re.findall(r"\w+", text)) & (waiting.keys() - {name}):
                written.append(waiting.pop(name))
    out = "\n\n".join(written) + "\n\n# Result and parameters of each function.\nFUNCTIONS = {\n"
    for result, name, given in re.findall(r"^CERTREG_API ([^;(]*?)\b(\w+)\(([^;]*)\);", code, re.M):
        types = [type_of(one, known) for one in (result, *given.split(",")) if one != "void"]
        line = f'"{name}": ({", ".join(types)}{"," if len(types) == 1 else ""}),'
        out += textwrap.indent("\n    ".join(textwrap.wrap(line, 92)), "    ") + "\n"
    used = set(re.findall(r"CERTREG_(\w+)", code)) & set(re.findall(r"\(([A-Z_]+) [+-]", out))
    return HEAD.format(constants=", ".join(sorted(used))) + out + "}\n"


# ---- constants
def constants(code: str, text: str) -> str:
    """The text of constants.py with the members and numbers of the headers."""
    numbers = re.findall(r"CERTREG_(\w+)\s*=\s*(-?\d+)", code)
    members: dict[str, str] = {}
    for name, value in numbers:
        kind, _, member = name.partition("_")
        kind = "Status" if kind in ("OK", "E") else kind.title()
        if re.search(rf"^class {kind}\(", text, re.M):
            members[kind] = members.get(kind, "") + f"    {member or name} = {value}\n"
            continue
        text, count = re.subn(rf"^({name}\b.* =) -?\d+", rf"\1 {value}", text, flags=re.M)
        if not count and not name.startswith(IN_C):
            sys.exit(f"generate.py: add {name} to python/certreg/constants.py, with its meaning")
    for kind, lines in members.items():
        body = rf'(^class {kind}\(.*?""".*?"""\n\n)(?:    \w+ = [^\n]*\n)*'
        text = re.sub(body, lambda found: found[1] + lines, text, count=1, flags=re.M | re.S)
    return text


def main() -> None:
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    root = pathlib.Path(arguments[0]) if arguments else ROOT
    package, code = root / "python/certreg", headers(root / "include/certreg")
    made = {package / "structs.py": declarations(code)}
    numbers = package / "constants.py"
    made[numbers] = constants(code, numbers.read_text(encoding="utf-8"))
    changed = [path for path, text in made.items() if path.read_text(encoding="utf-8") != text]
    for path in changed:
        print(path)
        if "--check" not in sys.argv:
            path.write_text(made[path], encoding="utf-8")
    sys.exit(bool(changed) if "--check" in sys.argv else 0)


if __name__ == "__main__":
    main()

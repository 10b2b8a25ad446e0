"""generate.py: writes what other languages take from include/certreg: for the package structs and
functions for ctypes (structs.py), and the members and numbers of constants.py, whose docstrings
stay; for Rust all of them (c.rs). `generate.py --check` writes nothing; it prints the files that
would change, and fails if there are any."""

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
RUST_HEAD = """\
//! The constants, structs and functions of include/certreg, whose headers are the manual.
//! Written by python/generate.py; change the headers instead.
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_int, c_void};

/// The default of a struct: all zero but struct_size.
macro_rules! zeroed {
    ($($name:ident),*) => {$(impl Default for $name {
        fn default() -> Self {
            Self { struct_size: size_of::<Self>() as u32, ..unsafe { zeroed() } }
        }
    })*};
}
"""
RUST = {"size_t": "usize", "char": "c_char", "float": "f32", "int": "c_int", "void": "c_void"}
UNSIGNED = re.compile(r"CERTREG_(CONSTRAINT|PLAN_|AUDIT_|QUEUE_|VERSION_|\w+_EVALUATIONS)")
IN_C = ("ALTERNATIVE_", "AUDIT_", "CALL_", "QUEUE_")  # constants that Python need not name
STRUCT = re.compile(r"struct (\w+) \{(.*?)\}", re.S)
CALLBACK = re.compile(r"int \(\*(\w+)\)\(([^)]*)\);")
FUNCTION = re.compile(r"^CERTREG_API ([^;(]*?)\b(\w+)\(([^;]*)\);", re.M)
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
def words_of(declaration: str) -> tuple[str, ...]:
    """Of "const double *lo" or "char text[256]" the const, type, stars, name and length."""
    return re.fullmatch(
        r"(const )?(?:struct )?(\w+) ?(\**)(\w*)(?:\[(.*)\])?", " ".join(declaration.split())
    ).groups("")  # type: ignore[union-attr]


def type_of(declaration: str, known: dict[str, str]) -> str:
    """The ctypes type of a field, parameter or result: "const double *lo" is a pointer."""
    _, kind, stars, name, length = words_of(declaration)
    if not stars:
        number = NUMBERS.get(kind) or ("None" if kind == "void" else python_name(kind).upper())
        size = length.replace("CERTREG_", "")
        return number if not size else f"{number} * {f'({size})' if ' ' in size else size}"
    if kind == "char":
        return "C.c_char_p"
    if python_name(kind) in known and stars == "*":
        return f"ref({python_name(kind)})"
    if stars == "**":
        return "ref(pointer)"
    return f"ref({NUMBERS[kind]})" if name in TYPED else "pointer"


def fields_of(body: str) -> Iterator[tuple[str, str]]:
    """Name and declaration of each field."""
    for declaration in filter(str.strip, body.split(";")):
        base, *more = declaration.split(",")
        kind = re.match(r"\s*((?:const )?\w+)", base)[1]  # type: ignore[index]
        for one in (base, *(f"{kind} {name.strip()}" for name in more)):
            yield re.sub(r"\[.*", "", one).split()[-1].lstrip("*"), one


def class_text(name: str, body: str, known: dict[str, str]) -> str:
    """A struct as a class; neighbouring fields of one type are together."""
    groups = itertools.groupby(fields_of(body), key=lambda field: type_of(field[1], known))
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
    known = {python_name(name): body for name, body in STRUCT.findall(code)}
    waiting = {name: class_text(name, body, known) for name, body in known.items()}
    for name, given in CALLBACK.findall(code):
        name, types = python_name(name).upper(), [type_of(one, known) for one in given.split(",")]
        waiting[name] = f"{name} = C.CFUNCTYPE(C.c_int, {', '.join(types)})\n"
    written: list[str] = []
    while waiting:
        for name, text in list(waiting.items()):
            if not set(re.findall(r"\w+", text)) & (waiting.keys() - {name}):
                written.append(waiting.pop(name))
    out = "\n\n".join(written) + "\n\n# Result and parameters of each function.\nFUNCTIONS = {\n"
    for result, name, given in FUNCTION.findall(code):
        types = [type_of(one, known) for one in (result, *given.split(",")) if one != "void"]
        line = f'"{name}": ({", ".join(types)}{"," if len(types) == 1 else ""}),'
        out += textwrap.indent("\n    ".join(textwrap.wrap(line, 92)), "    ") + "\n"
    used = set(re.findall(r"CERTREG_(\w+)", code)) & set(re.findall(r"\(([A-Z_]+) [+-]", out))
    return HEAD.format(constants=", ".join(sorted(used))) + out + "}\n"


# ---- Rust
def rust_type(declaration: str) -> str:
    """The type of a field, parameter or result in Rust."""
    const, kind, stars, _, length = words_of(declaration)
    made = {**NUMBERS, **RUST}.get(kind) or python_name(kind)
    for level in range(len(stars)):
        made = f"*{'const' if const and not level else 'mut'} {made}"
    length = f"({length}) as usize" if " " in length else length
    return f"[{made}; {length}]" if length else made


def rust_parameter(declaration: str) -> str:
    """A parameter; without a name it has that of its type."""
    _, kind, _, name, _ = words_of(declaration)
    return f"{name or kind.removeprefix('certreg_')}: {rust_type(declaration)}"


def rust_function(head: str, given: str, result: str) -> str:
    listed = ", ".join(rust_parameter(one) for one in given.split(",") if one != "void")
    back = "" if result.strip() == "void" else f" -> {rust_type(result)}"
    return f"{head}({listed}){back}"


def rust(code: str) -> str:
    """The text of c.rs."""
    structs = {python_name(name): body for name, body in STRUCT.findall(code)}
    handles = {python_name(name) for name in re.findall(r"typedef struct (\w+) \w+;", code)}
    out = RUST_HEAD
    for name, value in re.findall(r"(CERTREG_\w+)\s*=\s*(-?\d+)", code):
        out += f"pub const {name}: {'u32' if UNSIGNED.match(name) else 'i32'} = {value};\n"
    out += "// Handles, which nobody looks into.\n"
    for name in sorted(handles - structs.keys()):
        out += f"pub enum {name} {{}}\n"
    for name, given in CALLBACK.findall(code):
        call = rust_function('unsafe extern "C" fn', given, "int")
        out += wrapped(f"pub type {python_name(name)} = Option<{call}>;")
    for name, body in structs.items():
        fields = (f"pub {field}: {rust_type(one)}," for field, one in fields_of(body))
        listed = wrapped(" ".join(fields), first="    ")
        out += f"#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct {name} {{\n{listed}}}\n"
    out += "zeroed! {\n" + wrapped(", ".join(structs), first="    ") + "}\n"
    out += '#[link(name = "certreg")]\nextern "C" {\n'
    for result, name, given in FUNCTION.findall(code):
        out += wrapped(rust_function(f"pub fn {name}", given, result) + ";", "    ", " " * 8)
    return out + "}\n"


def wrapped(text: str, first: str = "", more: str = "    ") -> str:
    """Lines of at most 100 columns, which end after a comma."""
    text = re.sub(r"(?<!,) ", "~", text)
    text = textwrap.fill(
        text, 100, initial_indent=first, subsequent_indent=more, break_on_hyphens=False
    )
    return text.replace("~", " ") + "\n"


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
    crate = root / "examples/bindings/rust/src/c.rs"
    made = {package / "structs.py": declarations(code), crate: rust(code)}
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

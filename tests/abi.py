#!/usr/bin/env python3
"""abi.py LIBRARY [write]: the C interface is the one in tests/abi/interface.txt: functions with
their version node, result and parameters; structs with their size and the offset of each field;
the values of enums. Offsets, sizes and values come from the compiler, nodes from the library.
`write`, for make interface, writes the file anew, unless programs of a release would break. A name
that a release after 0.2.0 brought has "since" and its version."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
import generate  # noqa: E402

HEADERS = ROOT / "include/certreg"
FILE = ROOT / "tests/abi/interface.txt"
FIRST, EXPERIMENTAL, SINCE = "0.2.0", " experimental", " since "
CC = os.environ.get("CC", "cc").split()


def compiled(lines: list[str]) -> dict[str, str]:
    """The lines "name value" that a program in C prints."""
    names = "".join(f"#include <certreg/{file.name}>\n" for file in sorted(HEADERS.glob("*.h")))
    source = f"#define CERTREG_EXPERIMENTAL\n{names}#include <stdio.h>\n"
    source += "int main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n"
    with tempfile.TemporaryDirectory() as folder:
        file, program = pathlib.Path(folder, "abi.c"), pathlib.Path(folder, "abi")
        file.write_text(source)
        subprocess.run([*CC, f"-I{ROOT / 'include'}", file, "-o", program], check=True)
        said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return dict(line.split(" ", 1) for line in said.splitlines())


def stable() -> set[str]:
    """The words of the headers as a program sees them that does not define CERTREG_EXPERIMENTAL."""
    words: set[str] = set()
    for header in HEADERS.glob("*.h"):
        command = [*CC, "-E", "-P", f"-I{HEADERS.parent}", str(header)]
        seen = subprocess.run(command, capture_output=True, text=True)
        words |= set() if seen.returncode else set(re.findall(r"\w+", seen.stdout))
    return words


def kind_of(field: str, body: str) -> str:
    """The type of a field: "const float *" of "const float *lo, *hi", a callback as it is."""
    (words,) = (part for part in body.split(";") if re.search(rf"\b{field}\b *($|[,)[])", part))
    words = " ".join(words.split())
    plain = re.match(r"((?:const |struct )?\w+ \**)[\w, *]*$", words)
    return plain[1].strip() if plain else words


def structs(bodies: dict[str, str]) -> dict[str, str]:
    """Size, offsets and types. No field is missing, since each begins where the last one ends."""
    fields = {name: [f for f, _ in generate.fields_of(body, {})] for name, body in bodies.items()}
    lines = [f'printf("{name} %zu\\n", sizeof({name}));' for name in bodies]
    for name in bodies:
        for f in fields[name]:
            at = f"offsetof({name}, {f}), sizeof (({name} *)0)->{f}"
            lines.append(f'printf("{name}.{f} %zu %zu\\n", {at});')
    found, made = compiled(lines), {}
    for name, body in bodies.items():
        made[name], end = f"struct {found[name]}", 0
        for field in fields[name]:
            offset, size = map(int, found[f"{name}.{field}"].split())
            if offset != end:
                sys.exit(f"abi.py: bytes {end} to {offset} of {name} are no field")
            made[f"{name}.{field}"], end = f"{offset} {kind_of(field, body)}", offset + size
        if end % 8 or str(end) != found[name] or made[f"{name}.struct_size"] != "0 uint32_t":
            sys.exit(f"abi.py: {name} needs struct_size in front, and whole words without padding")
    return made


def unnamed(parameter: str) -> str:
    named = re.fullmatch(r"(.*\S[ *]+)\w+", " ".join(parameter.split()))
    return (named[1] if named else " ".join(parameter.split())).strip()


def present(library: str) -> dict[str, str]:
    """Each name with what a program relies on."""
    code, made = generate.headers(HEADERS), {}
    listed = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE)
    nodes = dict(re.findall(r" [^A] (\w+)(?:@@(\w+(?:\.\d+)*))?$", listed.stdout.decode(), re.M))
    for result, name, given in re.findall(r"^CERTREG_API ([^;(]*?)\b(\w+)\(([^;]*)\);", code, re.M):
        kinds = ", ".join(map(unnamed, given.split(",")))
        made[name] = f"{nodes.pop(name, 'missing') or 'unversioned'} {result.strip()} ({kinds})"
    made |= {name: f"{node} exported without a declaration" for name, node in nodes.items()}
    for words in re.findall(r"^typedef (?!struct)([^;{]*);", code, re.M):
        words = " ".join(words.split())
        made[re.search(r"certreg_\w+(?=\)|$)", words)[0]] = f"typedef {words}"
    made |= structs(dict(re.findall(r"struct (\w+) \{(.*?)\}", code, re.S)))
    enums = re.findall(r"enum (\w+) \{(.*?)\}", code, re.S)
    members = {tag: re.findall(r"(CERTREG_\w+)\s*=", body) for tag, body in enums}
    values = compiled([f'printf("{m} %d\\n", {m});' for tag in members for m in members[tag]])
    for tag, names in members.items():
        made[tag] = "enum"
        for name in names:  # numbers of effort may change
            made[f"{tag}.{name}"] = "any" if name.endswith("_EVALUATIONS") else values[name]
    known = stable()
    return {k: v + EXPERIMENTAL * (k not in known and "." not in k) for k, v in made.items()}


# ---- the file: "NAME VALUE | FIELD VALUE | FIELD VALUE"; lines that begin with spaces go on
HEAD = "# The C interface, compared by tests/abi.py. Written by make interface.\n"


def text(interface: dict[str, str]) -> str:
    lines: dict[str, str] = {}
    for name, value in interface.items():
        owner, _, field = name.partition(".")
        lines[owner] = f"{lines[owner]} | {field} {value}" if field else f"{name} {value}"
    wrap = textwrap.TextWrapper(130, subsequent_indent="    ", break_on_hyphens=False)
    whole = (re.sub(r"(?<!,) (?!\|)", "~", lines[name]) for name in sorted(lines))
    return HEAD + "".join(wrap.fill(line).replace("~", " ") + "\n" for line in whole)


def read(content: str) -> dict[str, str]:
    made = {}
    for line in re.sub(r"\n +", " ", content).splitlines()[1:]:
        first, *fields = line.split(" | ")
        owner, _, value = first.partition(" ")
        made[owner] = value
        made |= {f"{owner}.{f.split(' ', 1)[0]}": f.split(" ", 1)[1] for f in fields}
    return made


# ---- what changed
def since(value: str) -> str:
    return value.partition(SINCE)[2] or FIRST


def dated(before: dict[str, str], now: dict[str, str], version: str) -> dict[str, str]:
    """The present interface, with the versions that brought its names."""
    made = {}
    for name, value in now.items():
        came = since(before[name]) if name in before else version.removesuffix("-dev")
        made[name] = value + (SINCE + came if came != FIRST else "")
    return made


def nodes(interface: dict[str, str], experimental: bool) -> set[str]:
    """The version nodes of functions."""
    return {
        value.split()[0]
        for value in interface.values()
        if value.startswith("CERTREG_") and (EXPERIMENTAL in value) is experimental
    }


def breaks(before: dict[str, str], now: dict[str, str], version: str) -> list[str]:
    """What docs/stability.md forbids, if the library is of this version. Programs that know an
    experimental function as it was must not find its node."""
    found = []
    released = {k: v for k, v in before.items() if since(v) + "-dev" != version}
    kept = nodes(released, True) & nodes(now, True)
    for name, value in released.items():
        plain, at = value.partition(SINCE)[0], now.get(name, "gone")
        if EXPERIMENTAL in before[name.partition(".")[0]]:
            plain, at = (text.replace(EXPERIMENTAL, "") for text in (plain, at))
            moved = plain.startswith("CERTREG_") and at.split()[0] != plain.split()[0]
            if moved or not kept:
                continue
        grown = value.startswith("struct ") and at.startswith("struct ")
        if at != plain and not grown:
            found.append(f"{name} of {since(value)} was: {plain}; now: {at}")
    for name, value in now.items():
        new = name not in before or EXPERIMENTAL in before[name] and EXPERIMENTAL not in value
        if new and value.split()[0] in nodes(released, False):
            found.append(f"{name} is new: give it a version node of its own in src/certreg.map")
    for node in nodes(now, True) & nodes(now, False):
        found.append(f"{node} has experimental functions and others: src/certreg.map")
    return found


def changes(before: dict[str, str], now: dict[str, str]) -> list[str]:
    return [
        f"{name} was: {before.get(name, 'not there')}; now: {now.get(name, 'gone')}"
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    ]


def main() -> None:
    before = read(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    version = re.search(r"  Version (\S+)$", (HEADERS / "certreg.h").read_text(), re.M)[1]
    found = present(sys.argv[1])
    now, broken = dated(before, found, version), breaks(before, found, version)
    differs = changes(before, now)
    print(*(broken or differs), sep="\n", end="\n" * bool(broken or differs))
    if broken:
        sys.exit("not ok interface: programs of a release break; docs/stability.md forbids it")
    if sys.argv[2:] == ["write"]:
        FILE.write_text(text(now), encoding="utf-8")
    elif differs:
        sys.exit("not ok interface: run make interface if docs/stability.md allows this")
    else:
        print(f"ok interface: {len(now)} names as in {FILE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

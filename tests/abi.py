#!/usr/bin/env python3
"""abi.py LIBRARY: programs of every release find in this library what they know: functions with
their version node, result and parameters; structs with their size and the offset of each field;
the values of enums. tests/abi/VERSION.tar.gz has the headers of a release and its certreg.map.
Offsets, sizes and values come from the compiler, the nodes of this library from its symbols."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
import generate  # noqa: E402

Names = dict[str, str]  # each with what a program relies on
EXPERIMENTAL = " experimental"
CC = os.environ.get("CC", "cc").split()


def compiled(headers: pathlib.Path, lines: list[str]) -> Names:
    """The lines "name value" that a program in C prints."""
    names = "".join(f"#include <certreg/{file.name}>\n" for file in sorted(headers.glob("*.h")))
    source = f"#define CERTREG_EXPERIMENTAL\n{names}#include <stdio.h>\n"
    source += "int main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n"
    with tempfile.TemporaryDirectory() as folder:
        file, program = pathlib.Path(folder, "abi.c"), pathlib.Path(folder, "abi")
        file.write_text(source)
        subprocess.run([*CC, f"-I{headers.parent}", file, "-o", program], check=True)
        said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return dict(line.split(" ", 1) for line in said.splitlines())


def stable(headers: pathlib.Path) -> set[str]:
    """The words of the headers as a program sees them that does not define CERTREG_EXPERIMENTAL."""
    words: set[str] = set()
    for header in headers.glob("*.h"):
        command = [*CC, "-E", "-P", f"-I{headers.parent}", str(header)]
        seen = subprocess.run(command, capture_output=True, text=True)
        words |= set() if seen.returncode else set(re.findall(r"\w+", seen.stdout))
    return words


def kind_of(field: str, body: str) -> str:
    """The type of a field: "const float *" of "const float *lo, *hi", a callback as it is."""
    (words,) = (part for part in body.split(";") if re.search(rf"\b{field}\b *($|[,)[])", part))
    words = " ".join(words.split())
    plain = re.match(r"((?:const |struct )?\w+ \**)[\w, *]*$", words)
    return plain[1].strip() if plain else words


def structs(headers: pathlib.Path) -> Names:
    """Size, offsets and types. No field is missing, since each begins where the last one ends."""
    bodies = dict(re.findall(r"struct (\w+) \{(.*?)\}", generate.headers(headers), re.S))
    fields = {name: [f for f, _ in generate.fields_of(body)] for name, body in bodies.items()}
    lines = [f'printf("{name} %zu\\n", sizeof({name}));' for name in bodies]
    for name in bodies:
        for f in fields[name]:
            at = f"offsetof({name}, {f}), sizeof (({name} *)0)->{f}"
            lines.append(f'printf("{name}.{f} %zu %zu\\n", {at});')
    found, made = compiled(headers, lines), {}
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


def exported(library: str) -> Names:
    """The version nodes of the functions of a library."""
    listed = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE)
    return dict(re.findall(r" [^A] (\w+)(?:@@(\w+(?:\.\d+)*))?$", listed.stdout.decode(), re.M))


def mapped(script: str) -> Names:
    """The version nodes of a linker script; that of certreg_* is for all others."""
    return {
        name: node
        for node, body in re.findall(r"^(\w+) \{(.*?)\}", script, re.S | re.M)
        for name in re.findall(r"\b(certreg_[\w*]+);", body)
    }


def interface(headers: pathlib.Path, nodes: Names) -> Names:
    """Each name with what a program relies on."""
    code, made = generate.headers(headers), {}
    other = nodes.pop("certreg_*", "missing")
    for result, name, given in re.findall(r"^CERTREG_API ([^;(]*?)\b(\w+)\(([^;]*)\);", code, re.M):
        kinds = ", ".join(map(unnamed, given.split(",")))
        made[name] = f"{nodes.pop(name, other) or 'unversioned'} {result.strip()} ({kinds})"
    made |= {name: f"{node} exported without a declaration" for name, node in nodes.items()}
    for words in re.findall(r"^typedef (?!struct)([^;{]*);", code, re.M):
        words = " ".join(words.split())
        made[re.search(r"certreg_\w+(?=\)|$)", words)[0]] = f"typedef {words}"
    made |= structs(headers)
    enums = re.findall(r"enum (\w+) \{(.*?)\}", code, re.S)
    members = {tag: re.findall(r"(CERTREG_\w+)\s*=", body) for tag, body in enums}
    print_each = [f'printf("{m} %d\\n", {m});' for tag in members for m in members[tag]]
    values = compiled(headers, print_each)
    for tag, names in members.items():
        made[tag] = "enum"
        for name in names:  # numbers of effort may change
            made[f"{tag}.{name}"] = "any" if name.endswith("_EVALUATIONS") else values[name]
    known = stable(headers)
    return {k: v + EXPERIMENTAL * (k not in known and "." not in k) for k, v in made.items()}


def releases() -> dict[str, Names]:
    made = {}
    for archive in sorted(ROOT.glob("tests/abi/*.tar.gz")):
        with tempfile.TemporaryDirectory() as folder, tarfile.open(archive) as packed:
            packed.extractall(folder)
            release = pathlib.Path(folder, archive.name.removesuffix(".tar.gz"))
            nodes = mapped((release / "src/certreg.map").read_text())
            made[release.name] = interface(release / "include/certreg", nodes)
    return made


def nodes_of(names: Names, experimental: bool) -> set[str]:
    """The version nodes of functions."""
    return {
        value.split()[0]
        for value in names.values()
        if value.startswith("CERTREG_") and (EXPERIMENTAL in value) is experimental
    }


def breaks(before: Names, now: Names) -> list[str]:
    """What docs/stability.md forbids after a release. Programs that know an experimental function
    as it was must not find its node."""
    found = []
    kept = nodes_of(before, True) & nodes_of(now, True)
    for name, value in before.items():
        plain, at = value, now.get(name, "gone")
        if EXPERIMENTAL in before[name.partition(".")[0]]:
            plain, at = (text.replace(EXPERIMENTAL, "") for text in (plain, at))
            moved = plain.startswith("CERTREG_") and at.split()[0] != plain.split()[0]
            if moved or not kept:
                continue
        grown = value.startswith("struct ") and at.startswith("struct ")
        if at != plain and not grown:
            found.append(f"{name} was: {plain}; now: {at}")
    for name, value in now.items():
        new = name not in before or EXPERIMENTAL in before[name] and EXPERIMENTAL not in value
        if new and value.split()[0] in nodes_of(before, False):
            found.append(f"{name} is new: give it a version node of its own in src/certreg.map")
        if "missing" in value or "exported without" in value:
            found.append(f"{name} is {value}: src/certreg.map and the headers")
    for node in nodes_of(now, True) & nodes_of(now, False):
        found.append(f"{node} has experimental functions and others: src/certreg.map")
    return found


def main() -> None:
    now, bad = interface(ROOT / "include/certreg", exported(sys.argv[1])), 0
    for release, before in releases().items():
        found = breaks(before, now)
        verdict = "not ok" if found else "ok"
        print(*found, f"{verdict} interface of {release}: {len(before)} names", sep="\n")
        bad += len(found)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()

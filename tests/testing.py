"""The figures of docs/testing.md. `testing.py` writes them between the markers of the page: what
can be counted from the files, and tests/results.txt. `testing.py check` says whether the page has
them, for make check; it takes a second, and changes nothing."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/testing.md"
RESULTS = ROOT / "tests/results.txt"
BEGIN, END = "<!-- testing.py: begin -->\n", "<!-- testing.py: end -->\n"
CODE = {".c", ".h", ".cpp", ".hpp", ".cu", ".py", ".sh"}
PROGRAMS = {
    "unit": "of one part of the inside",
    "api": "of the public interface only",
    "prop": "of properties on random problems",
    "cover": "of simulated coverage",
    "fault": "of failing surroundings",
}


def files(pattern):
    """The files of the project that match, without what was built and what was published before."""
    left_out = {"__pycache__", "abi"}
    return [p for p in sorted(ROOT.glob(pattern)) if p.is_file() and not left_out & {*p.parts}]


def text(paths):
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


def lines(*patterns):
    paths = [p for pattern in patterns for p in files(pattern) if p.suffix in CODE]
    return sum(path.read_bytes().count(b"\n") for path in paths)


def number(n):
    return f"{n:,}"


def programs():
    for kind, about in PROGRAMS.items():
        found = files(f"tests/{kind}_*.c")
        tests = re.findall(r"^(?:START_)?TEST\w*\((?!\")", text(found), re.M)
        yield (
            f"programs `{kind}_*`, {about}",
            f"{len(found)}, with {number(len(tests))} tests",
        )
    cpp = files("tests/cpp/*.cpp")
    count = len(re.findall(r"^TEST\(", text(cpp), re.M))
    yield "tests of the headers for C++", number(count)
    python = files("tests/python/test_*.py") + files("tests/python/heavy/test_*.py")
    count = len(re.findall(r"^def test_", text(python), re.M))
    yield "files of tests of the Python package", f"{len(python)}, with {number(count)} tests"


def gates():
    helpers = {"run.sh", "tell.sh", "apart.sh", "setup.sh"}
    scripts = [p for p in files("tests/**/*.sh") if p.name not in helpers]
    yield "scripts that test the build, the interface, pages and packages", number(len(scripts))
    golden = re.findall(r"^[^#\n].* :", text(files("tests/data/golden.txt")), re.M)
    yield "certificates that are kept and repeated", number(len(golden))


def fuzzers():
    corpora = files("tests/fuzz/corpus/*.hex")
    count = text(corpora).count("\n")
    yield "inputs kept for fuzzers", f"{number(count)} for {len(corpora)}"


def sizes():
    parts = (("src/**/*", "include/**/*"), ("python/**/*",), ("tests/**/*",))
    counts = ", ".join(number(round(lines(*patterns), -3)) for patterns in parts)
    yield "lines of the library, the Python package, tests", f"about {counts}"


def results():
    """The rows of tests/results.txt."""
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            row = [part.strip() for part in line.split("|")]
            if len(row) != 3:
                sys.exit(f"not ok tests/results.txt: no line of three parts: {line}")
            yield row


def figures():
    parts = ["| in the files | |\n|---|---|\n"]
    for count in (programs, gates, fuzzers, sizes):
        parts += [f"| {name} | {found} |\n" for name, found in count()]
    parts.append("\n| long run | what it did | what it found |\n|---|---|---|\n")
    parts += [f"| `{command}` | {what} | {found} |\n" for command, what, found in results()]
    return "".join(parts)


def differences(was, wanted):
    was, wanted = was.split("\n"), wanted.split("\n")
    return [f"- {x}" for x in was if x not in wanted] + [f"+ {x}" for x in wanted if x not in was]


def check(now, wanted):
    found = differences(now, wanted)
    if found:
        print("not ok docs/testing.md has other figures than the files; `make testing` mends it")
        print("\n".join(found))
    else:
        print("ok docs/testing.md has the figures of the files")
    planted = re.sub(r"\b\d+\b", lambda n: str(int(n[0]) + 1), wanted, count=1)
    seen = len(differences(planted, wanted)) == 2
    print("ok" if seen else "not ok", "another figure is found")
    return bool(found) or not seen


def main():
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    now, after = rest.split(END)
    wanted = "\n" + figures() + "\n"
    if sys.argv[1:] == ["check"]:
        return check(now, wanted)
    PAGE.write_text(before + BEGIN + wanted + END + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""structure.py [check]: writes what the sources say about themselves.

The table of public functions in src/README.md, with the file and the tests of each, and the two
drawings of design.md: the rooms by their includes, and a certificate's way through them by the
numbered steps of the two drivers. With `check` it only compares, and reports what has changed.
"""

import re
import sys
from collections import Counter
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC, FIGURES = ROOT / "src", ROOT / "docs" / "figures"
DRIVERS = [("certify/certify.c", "cr_certify"), ("certify/evaluate.c", "cr_evaluate_question")]
DEFINED = re.compile(r"^(?!static|typedef|return|else)[a-z][\w *]*?\b((?:certreg|cr)_\w+)\(", re.M)

sources = {p.relative_to(SRC): p.read_text(encoding="utf-8")
           for p in sorted(SRC.rglob("*.[ch]"))}


def homes() -> dict[str, Path]:
    """The .c file that defines each function."""
    found = {}
    for path, text in sources.items():
        for m in DEFINED.finditer(text):
            tail = text[m.end():]
            end = min((tail.find(c) for c in "{;" if c in tail), default=-1)
            if path.suffix == ".c" and end >= 0 and tail[end] == "{":
                found[m[1]] = path
    return found


# ---- the table of public functions
def tests_of(functions: list[str]) -> dict[str, list[str]]:
    """The programs that name a function, those that are most about it first."""
    counts: dict[str, Counter[str]] = {f: Counter() for f in functions}
    for path in sorted((ROOT / "tests").glob("*_*.c")):
        words = Counter(re.findall(r"\bcertreg_\w+", path.read_text(encoding="utf-8")))
        for f in functions:
            if words[f]:
                counts[f][path.stem] = words[f]
    return {f: [name for name, _ in c.most_common()] for f, c in counts.items()}


def table(home: dict[str, Path]) -> str:
    public = sorted(f for f in home if f.startswith("certreg_"))
    tests = tests_of(public)
    rows = ["| function | file | tests |", "|---|---|---|"]
    for f in public:
        named = [f"`{t}`" for t in tests[f][:3]]
        more = len(tests[f]) - len(named)
        rows.append(f"| `{f}` | `{home[f]}` | {', '.join(named)}"
                    f"{f' and {more} more' if more else ''} |")
    return "\n".join(rows)


# ---- drawings, which follow the reader's light or dark mode
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}"
 role="img" aria-label="{label}" font-family="sans-serif" font-size="13">
<style>.b{{fill:#eef3f8;stroke:#4a6785}}.t{{fill:#1b2733}}.s{{fill:#51606e}}
.l{{stroke:#8a9aab;fill:none}}
@media (prefers-color-scheme:dark){{.b{{fill:#1f2b37;stroke:#7f9cb8}}
.t{{fill:#e6edf3}}.s{{fill:#a9b7c4}}}}
</style>
<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
 orient="auto"><path d="M0 0L8 4L0 8z" fill="#8a9aab"/></marker></defs>
"""


def text(x: float, y: float, words: str, kind: str = "t", more: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}" {more}>{escape(words)}</text>\n'


def room_edges() -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {}
    for path, content in sources.items():
        edges.setdefault(path.parts[0], set())
        for m in re.finditer(r'^#\s*include "(\w+)/', content, re.M):
            if m[1] not in ("base", "certreg", path.parts[0]) and (SRC / m[1]).is_dir():
                edges[path.parts[0]].add(m[1])
    edges.pop("base")
    return edges


def layers(edges: dict[str, set[str]]) -> list[list[str]]:
    """Rooms by the longest chain of includes below them, the top layer first."""
    def depth(room: str) -> int:
        return 1 + max((depth(r) for r in edges[room]), default=-1)

    found: dict[int, list[str]] = {}
    for room in sorted(edges):
        found.setdefault(depth(room), []).append(room)
    return [found[d] for d in sorted(found, reverse=True)]


def direct(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without edges that another path implies, which would only cover the drawing with lines."""
    def below(room: str) -> set[str]:
        return {x for r in edges[room] for x in {r} | below(r)}

    return {a: {b for b in to if not any(b in below(c) for c in to if c != b)}
            for a, to in edges.items()}


def draw_rooms() -> str:
    edges = room_edges()
    rows, width, step = layers(edges), 760, 78
    place = {room: (width * (i + 0.5) / len(row), 30 + step * k)
             for k, row in enumerate(rows) for i, room in enumerate(row)}
    height = 30 + step * (len(rows) - 1) + 60
    out = HEAD.format(w=width, h=height, label="Rooms of src and their includes")
    for a, to in direct(edges).items():
        for b in sorted(to):
            (x, y), (u, v) = place[a], place[b]
            line = f"M{x:.0f} {y + 15} L{u:.0f} {v - 15}"
            out += f'<path class="l" marker-end="url(#a)" d="{line}"/>\n'
    for room, (x, y) in place.items():
        out += f'<rect class="b" rx="5" x="{x - 52:.0f}" y="{y - 14}" width="104" height="28"/>\n'
        out += text(x, y + 5, room, "t", 'text-anchor="middle"')
    out += text(8, height - 8, "An arrow leads to a room that is included; implied arrows are left "
                "out, and base, which every room includes.", "s")
    return out + "</svg>\n"


def steps(path: str, function: str, home: dict[str, Path]) -> list[tuple[str, list[str]]]:
    """The numbered comments of a driver, each with the functions of other files below it."""
    body = sources[Path(path)]
    body = body[body.index(f" {function}("):]
    body = body[:body.index("\n}\n")]
    found = []
    pieces = re.split(r"/\* (?=\d+'?\. )", body)
    for piece in pieces[1:]:
        comment, _, code = piece.partition("*/")
        title = re.split(r"(?<=[a-z)])[.:;] ", re.sub(r"\s*\n\s*\*? ?", " ", comment).strip())[0]
        called = [f for f in dict.fromkeys(re.findall(r"\bcr_\w+(?=\()", code))
                  if f in home and str(home[f]) != path]
        found.append((title.rstrip(". "), [f"{home[f]}: {f}" for f in called]))
    return found


def draw_way(home: dict[str, Path]) -> str:
    width, y, out = 760, 24, ""
    for path, function in DRIVERS:
        out += text(10, y, f"{function}, {path}", "t", 'font-weight="bold"')
        y += 12
        for title, calls in steps(path, function, home):
            height = 26 + 16 * len(calls)
            out += f'<rect class="b" rx="5" x="10" y="{y}" width="{width - 20}" '
            out += f'height="{height}"/>\n'
            out += text(20, y + 18, title)
            for i, call in enumerate(calls):
                out += text(38, y + 35 + 16 * i, call, "s")
            y += height + 8
        y += 22
    label = "The steps of a certificate, and the files of each"
    return HEAD.format(w=width, h=y - 10, label=label) + out + "</svg>\n"


def main(check: bool) -> int:
    home, readme = homes(), SRC / "README.md"
    begin, end = "<!-- functions: begin -->\n", "\n<!-- functions: end -->"
    before, _, rest = readme.read_text(encoding="utf-8").partition(begin)
    made = {readme: before + begin + table(home) + end + rest.partition(end)[2],
            FIGURES / "rooms.svg": draw_rooms(), FIGURES / "way.svg": draw_way(home)}
    stale = [p for p, words in made.items() if not p.exists() or p.read_text("utf-8") != words]
    for p in stale:
        name = p.relative_to(ROOT)
        if check:
            print(f"not ok {name} is older than the sources: make structure")
        else:
            p.write_text(made[p], encoding="utf-8")
            print(f"wrote {name}")
    if check and not stale:
        print("ok the table of functions and two drawings are those of the sources")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main("check" in sys.argv))

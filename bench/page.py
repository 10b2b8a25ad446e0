"""The tables of docs/benchmarks.md. `make bench-page` writes each between its markers, `<!-- NAME:
begin -->` and `<!-- NAME: end -->`, as a measurement left it in lib/bench*.md. A table stays as it
is if nothing was measured, or only with other settings than the page says."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE, LIB = ROOT / "docs/benchmarks.md", ROOT / "lib"
BLOCK = re.compile(r"<!-- (\S+): begin -->\n(.*?)<!-- \1: end -->\n", re.S)


def table(head, *lines):
    rows = ("|" + "".join(f" {x} |" if x != "" else " |" for x in row) for row in (head, *lines))
    first, *rest = rows
    return "\n".join([first, "|" + "---|" * len(head), *rest, ""])


def show(name, head, *lines, keep=True):
    """Prints a measurement's table, and keeps it for the page if its settings are the page's."""
    text = f"<!-- {name}: begin -->\n{table(head, *lines)}<!-- {name}: end -->\n"
    if keep:
        (LIB / f"bench_{name}.md").write_text(text, encoding="utf-8")
    print(text)


def filled(page, found):
    """The page with what was found between its markers, and the names of all markers."""

    def block(match):
        text = found[match[1]].rstrip("\n") + "\n" if match[1] in found else match[2]
        return f"<!-- {match[1]}: begin -->\n{text}<!-- {match[1]}: end -->\n"

    return BLOCK.sub(block, page), [match[1] for match in BLOCK.finditer(page)]


def measured():
    """The tables that measurements left."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(LIB.glob("bench*.md"))]
    return {match[1]: match[2] for text in texts for match in BLOCK.finditer(text)}


def main():
    found = measured()
    page, places = filled(PAGE.read_text(encoding="utf-8"), found)
    PAGE.write_text(page, encoding="utf-8")
    missing = set(found) - set(places)
    for name in places:
        print(f"{name}: {'written' if name in found else 'left as it is'}")
    return f"no page has a place for {sorted(missing)}" if missing else 0


if __name__ == "__main__":
    sys.exit(main())

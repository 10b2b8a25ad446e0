"""Where the sources of the library are mutated, and how: found by patterns, chosen by a digest.

A mutant is one edit of one file. Its name is (file, old line, new line), so that it stays the same
when other lines move. A digest of the name and the seed decides whether it is among the chosen.
"""

import hashlib
import pathlib
import re
from typing import Iterator, NamedTuple

ROOMS = "bounds solver question bisection certify statistics attack intervals".split()
# The share of each kind that is chosen, in percent.
KINDS = {
    "never": 5,  # a condition is never true: what it guards against goes through
    "always": 2,  # a condition is always true
    "compare": 2,  # < for <=, == for !=
    "logic": 3,  # && for ||
    "last": 4,  # a loop leaves out its last turn
    "one": 6,  # a number one less or one more
    "rounded": 30,  # to the other side
    "slack": 25,  # a margin for rounding is 0
    "alpha": 14,  # twice the probability of error
    "term": 1.2,  # of a sum is left out
    "extreme": 6,  # fmin for fmax
    "constant": 25,  # a named constant is doubled
}
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SLACK = r"CR_ROUNDING|CR_TINY|DBL_EPSILON|DBL_MIN|FLT_EPSILON|\w+_ROUNDING|\w*slack\w*"
FACTOR = r"[\w.>-]+(?:\([^()]*\))?"


class Site(NamedTuple):
    kind: str
    file: str
    start: int  # in the text of the file
    end: int
    text: str  # what replaces [start, end)
    line: int
    old: str  # the line before and after, without its indentation
    new: str

    @property
    def name(self) -> tuple[str, str, str]:
        return self.file, self.old, self.new


def mask(text: str) -> str:
    """The text with blanks for comments, strings and directives, in the same places."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0])

    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^#(?:\\\n|[^\n])*'
    return re.sub(pattern, blank, text, flags=re.S | re.M)


def closing(code: str, opened: int) -> int:
    """Where the parenthesis at `opened` is closed."""
    depth = 0
    for at in range(opened, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    raise ValueError("a parenthesis is not closed")


def conditions(code: str) -> Iterator[tuple[str, int, int, str]]:
    for found in re.finditer(r"\b(?:if|while) \(", code):
        first = found.end()
        last = closing(code, first - 1)
        inside = code[first:last]
        yield "never", first, last, f"0 && ({inside})"
        if found[0].startswith("if"):
            yield "always", first, last, f"1 || ({inside})"


def comparisons(code: str) -> Iterator[tuple[str, int, int, str]]:
    loops = [(m.end() - 1, closing(code, m.end() - 1)) for m in re.finditer(r"\bfor \(", code)]
    for found in re.finditer(r"(?<=[\w)\]] )(<=|>=|<|>|==|!=)(?= [\w(*&!-])", code):
        at, operator = found.start(), found[0]
        if any(first < at < last for first, last in loops):
            if operator == "<":
                yield "last", at, found.end(), "+ 1 <"
        else:
            yield "compare", at, found.end(), SWAPS[operator]


def replaced(code: str) -> Iterator[tuple[str, int, int, str]]:
    """Whatever one pattern finds."""
    patterns = [
        ("logic", r"&&", lambda m: "||"),
        ("logic", r"\|\|", lambda m: "&&"),
        ("one", r"(?<=[\w)\]]) [+-] 1(?=[ ;,)\]])", lambda m: ""),
        ("rounded", r"(?<=, )INFINITY(?=\))", lambda m: "-INFINITY"),
        ("rounded", r"(?<=, )-INFINITY(?=\))", lambda m: "INFINITY"),
        ("rounded", rf"(?<=\(1 )[+](?= (?:[\d.]+ \* )?(?:{SLACK})\b)", lambda m: "-"),
        ("rounded", rf"(?<=\(1 )[-](?= (?:[\d.]+ \* )?(?:{SLACK})\b)", lambda m: "+"),
        ("slack", rf"\b(?:{SLACK})\b(?! =)(?!\()", lambda m: "0.0"),
        ("alpha", r"(?<=[(,*=] )\w*(?:alpha|share|tail|rate)(?=[,;)])", lambda m: f"(2 * {m[0]})"),
        ("alpha", r"(?<=alpha) / [\w.>-]+(?=[,;) ])", lambda m: ""),
        ("term", rf" [+-] {FACTOR}(?: \* {FACTOR})*(?=[;,)]| [+-] )", lambda m: ""),
        ("extreme", r"\bfmin\(", lambda m: "fmax("),
        ("extreme", r"\bfmax\(", lambda m: "fmin("),
        ("constant", r"(?<=const double )\w+ = (?=[\d.e-]+[;,])", lambda m: f"{m[0]}2 * "),
    ]
    for kind, pattern, change in patterns:
        for found in re.finditer(pattern, code):
            if kind != "rounded" or "1 " in code[found.start() - 2 : found.start()] or \
                    "nextafter" in code[max(0, found.start() - 200) : found.start()].split(";")[-1]:
                yield kind, found.start(), found.end(), change(found)


def sites_of(file: str, text: str) -> Iterator[Site]:
    code = mask(text)
    for generate in (conditions, comparisons, replaced):
        for kind, start, end, change in generate(code):
            line = text.count("\n", 0, start) + 1
            begin = text.rfind("\n", 0, start) + 1
            old = text[begin : text.find("\n", start)]
            changed = text[:start] + change + text[end:]
            new = changed[begin : changed.find("\n", start)]
            if old != new:
                yield Site(kind, file, start, end, change, line, old.strip(), new.strip())


def every(root: pathlib.Path) -> list[Site]:
    """All there are, one per name."""
    found: dict[tuple[str, str, str], Site] = {}
    for room in ROOMS:
        for path in sorted((root / "src" / room).glob("*.[ch]")):
            file = str(path.relative_to(root))
            for site in sites_of(file, path.read_text()):
                found.setdefault(site.name, site)
    return list(found.values())


def is_chosen(site: Site, seed: int, share: float) -> bool:
    """At a share of 1 as many as KINDS says; at 0 none, at 100 all."""
    digest = hashlib.sha256("\n".join([*site.name, str(seed)]).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48 * 100 < KINDS[site.kind] * share

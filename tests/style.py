#!/usr/bin/env python3
"""style.py [-l]: sentences and functions that make a reader read twice stay rare (CONTRIBUTING).

Six patterns are symptoms of a hard English sentence; each kind of file has a limit for the share
of its sentences that match one. In the library no function outside kernels and the public headers
has more than six parameters, no statement assigns to several variables by commas, no return does,
and no expression chains more than two conditional operators. A test has a name of at most 60
characters. -l lists everything that matches.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HARD = re.compile(
    r"^(?:What(?:ever)?|Who(?:ever)?|Whether|How)\b(?!.*\?$)"  # opens with a question
    r"|\b[Ww]here\b"  # a condition takes if or when
    r"|\b(?:(?:so|as) many|likewise|the others?|the rest|those|that of)\b"  # no noun
    r"|\b(?:tells?|told|says?|said|asks?|asked|wants?|wanted)\b"  # functions do not speak
    r"|^(?:Of|By)\b"  # opens without subject
    r"|\b(?:of|by) which\b|\bwhose\b"
)
KINDS = {  # limits in per cent of the sentences
    "src": (4, ["src/**/*.[ch]", "src/**/*.cu"]),
    "include": (3, ["include/**/*.h*"]),
    "python": (5, ["python/certreg/**/*.py"]),
    "pages": (6, ["*.md", "src/*.md", "docs/**/*.md"]),
}


def blocks(path: Path) -> list[str]:
    """Comments, docstrings or paragraphs of a file; not its code."""
    text = path.read_text(encoding="utf-8", errors="ignore")
    if path.suffix == ".py":
        return re.findall(r'"""(.*?)"""', text, re.S) + re.findall(r"(?m)#\s(.*)$", text)
    if path.suffix == ".md":
        return [re.sub(r"```.*?```|^    [^\n]*$|^\|[^\n]*$", " ", text, flags=re.M | re.S)]
    return [a or b for a, b in re.findall(r"/\*(.*?)\*/|//([^\n]*)", text, re.S)]


def sentences(path: Path) -> list[str]:
    flat = (re.sub(r"\s+", " ", re.sub(r"\n\s*\*? ?", " ", b)).strip(" *-=!") for b in blocks(path))
    every = (s for b in flat for s in re.split(r"(?<=[.;:?!])\s+(?=[A-Z`(])", b))
    return [s for s in every if len(s.split()) > 2]


def english(listing: bool) -> bool:
    good = True
    for kind, (limit, patterns) in KINDS.items():
        found = [(p, s) for g in patterns for p in sorted(ROOT.glob(g)) for s in sentences(p)]
        hard = [(p, s) for p, s in found if HARD.search(s)]
        share = 100 * len(hard) / max(1, len(found))
        good &= share <= limit
        for p, s in hard if listing else ():
            print(f"{p.relative_to(ROOT)}: {s[:160]}")
        print(f"{'' if share <= limit else 'not '}ok {kind}: {share:.1f} % of {len(found)} "
              f"sentences match, at most {limit}")
    return good


KERNEL = re.compile(r"backend/(cpu_|simd|lanes|box_muller|normal4|philox|grid|cell|double|precise"
                    r"|cuda/(body|device|.*kernels|launch))")
ASSIGNS = re.compile(r"(?<![=!<>])(?:[-+*/|&^]|<<|>>)?=(?!=)")
DECLARES = re.compile(r"\s*(?:(?:static|const|struct|enum|unsigned)\s+)*[a-z]\w*(?:\s+const)?"
                      r"(?:\s+|\s*\*+\s*(?:const\s+)?)\w+")


def code(text: str) -> str:
    """The text without comments, strings and preprocessor lines, of the same length in lines."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"', '""', text)
    return re.sub(r"(?m)^\s*#.*(?:\\\n.*)*", "", text)


def parts(text: str) -> list[str]:
    """Split at the commas that are in no bracket."""
    out, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            out.append("")
        else:
            out[-1] += c
    return out


NESTED = r"\((?:[^()]|\([^()]*\)|\((?:[^()]|\([^()]*\))*\))*\)"
HEADING = re.compile(
    rf"^\s*(?:else\s+)?(?:if|while)\s*{NESTED}|^\s*else\b|^\s*(?:case[^:]*|default)\s*:"
)


def faults(text: str) -> list[tuple[int, str]]:
    found = []
    for m in re.finditer(r"^[a-z][\w *]*?\b(\w+)\(([^;{}]*)\)\s*[;{]", text, re.M):
        if len(parts(m[2])) > 6 and not m[1].startswith("certreg_"):
            found.append((m.start(), f"{m[1]} has more than six parameters"))
    for m in re.finditer(r"[^;{}]+(?=;)", text):
        s, at = m[0], m.end() - len(m[0].lstrip())
        if s.count("?") > 2:
            found.append((at, "more than two conditional operators"))
        if s.count("(") != s.count(")") or re.search(r"\bfor\s*\(", s):
            continue  # a piece of a for
        s = HEADING.sub("", s).strip()
        several = parts(s)
        if s.startswith("return") and len(several) > 1:
            found.append((at, "a return with a comma"))
        elif sum(bool(ASSIGNS.search(p)) for p in several) > 1 and not DECLARES.match(s):
            found.append((at, "several assignments in one statement"))
    return found


def shape() -> bool:
    bad = 0
    for path in sorted((ROOT / "src").rglob("*")):
        name = str(path.relative_to(ROOT / "src"))
        if path.suffix not in (".c", ".h", ".cu") or KERNEL.match(name):
            continue
        text = code(path.read_text(encoding="utf-8"))
        for at, fault in faults(text):
            print(f"not ok src/{name}:{text.count(chr(10), 0, at) + 1}: {fault}")
            bad += 1
    if not bad:
        print("ok statements assign once, and parameters are few")
    return not bad


def names() -> bool:
    tests = ((p, p.read_text(encoding="utf-8")) for p in sorted(ROOT.glob("tests/**/*.c")))
    long = [(p.name, n) for p, t in tests for n in re.findall(r"TEST(?:_[A-Z]+)?\((\w{61,})", t)]
    print(*[f"not ok {p}: {n} is too long" for p, n in long] or ["ok names of tests"], sep="\n")
    return not long


if __name__ == "__main__":
    good = [english("-l" in sys.argv), shape(), names()]
    sys.exit(not all(good))

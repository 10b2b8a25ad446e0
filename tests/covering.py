#!/usr/bin/env python3
"""covering.py src/ROOM/FILE: the C test programs that cover a source file (make test FOR=...).

A program covers a file if it has its name, includes its header or names one of its functions,
itself or in tests/support. If no program does, those of the files that call it are printed.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
from structure import SRC, homes  # noqa: E402


def text_of(path: Path, seen: set[Path]) -> str:
    """A test with the helpers that it includes; the kit, which every test has, says nothing."""
    seen.add(path)
    text = path.read_text(encoding="utf-8")
    helpers = [ROOT / "tests" / h for h in re.findall(r'#include "((?:support|gpu)/\w+\.h)"', text)]
    return text + "".join(text_of(h, seen) for h in helpers
                          if h not in seen and h.name not in ("api_kit.h", "suite.h"))


programs = {p.stem: text_of(p, set()) for p in sorted((ROOT / "tests").glob("*_*.c"))}
home, source = homes(), Path(sys.argv[1]).resolve()
if SRC not in source.parents or not source.is_file():
    sys.exit(f"{sys.argv[1]}: give a file of src, as src/statistics/normal.c")
files = {source.relative_to(SRC)}
while files:
    mine = {f for f, h in home.items() if h in files}
    words = [rf'"{f.parent}/{f.stem}\.h"' for f in files] + [rf"\b{f}\b" for f in mine]
    covers = re.compile("|".join(words))
    found = [name for name, text in programs.items() if covers.search(text)
             or any(re.fullmatch(rf"[a-z]+_{f.stem}(_\w+)?", name) for f in files)]
    if found:
        print(*found)
        break
    named = re.compile("|".join(rf"\b{f}\b" for f in mine) or "$^")
    files = {p.relative_to(SRC) for p in SRC.rglob("*.c")
             if p.relative_to(SRC) not in files and named.search(p.read_text(encoding="utf-8"))}
    print("no program names it; those of its callers:", *sorted(map(str, files)), file=sys.stderr)

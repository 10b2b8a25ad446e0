"""docs/reproduction.md with the tables of a run, and beside it those that are too long for it."""

from __future__ import annotations

from types import ModuleType
from typing import Iterable

import page

from . import methods, summary
from .settings import ROOT, Settings
from .tables import Beside, markdown

PAGE = ROOT / "docs" / "reproduction.md"
SMALL = "**The tables are those of a small run; the text is about the full one.**"


def write(settings: Settings, parts: Iterable[ModuleType]) -> None:
    """Writes both, unless a part has not been computed yet."""
    beside, blocks = Beside(), {"promises": _promises()}
    try:
        for part in parts:
            blocks.update(part.report(settings, beside))
        blocks.update(summary.report(settings))
    except FileNotFoundError as missing:
        print(f"no page yet: {missing.filename} is missing")
        return
    text, places = page.filled(PAGE.read_text(encoding="utf-8"), blocks)
    if set(places) != set(blocks):
        raise ValueError(f"{PAGE} has no place for {sorted(set(blocks) - set(places))}")
    if not (settings.full and settings.mnist):
        text = text.replace("\n", f"\n\n{SMALL}\n", 1)
    path = settings.path(PAGE.name)
    path.write_text(text, encoding="utf-8")
    beside.write(settings.path(PAGE.stem))
    print(f"written: {path}")


def _promises() -> str:
    lines = []
    for key, text in methods.PROMISES.items():
        names = [method.name for method in methods.EVERY if method.promise == key]
        lines.append(["; ".join(names), text])
    return markdown(("methods", "guarantee for every shift below the radius"), lines)

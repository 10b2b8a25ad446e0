"""reproduction.md from the sections of the parts."""

from __future__ import annotations

import importlib
from typing import Iterable

from . import rows, summary
from .methods import PROMISES
from .settings import Settings
from .tables import markdown

HEAD = """# Reproduction

The experiments of Zhang and Frank, *Higher-Order Certified Robustness for Regression*
(ICML 2026), by this library. Each table has three things side by side: the paper's
procedure run literally, the best published methods, and the library's own certificates.

    CERTREG_MNIST=<folder of the MNIST files> make reproduce    # {minutes} on two cores
    QUICK=1 make reproduce                                      # under three minutes

The command writes CSV files, plots and this page to `lib/reproduce`. A run that is
interrupted goes on where it stopped. `PARTS=rotation` and the like compute one part. The
networks and their errors are in [examples/models](../examples/models/README.md)."""

PROMISE_TEXT = """## What is promised

The methods guarantee different things for every shift below the radius. Compare radii
with this table in mind."""


def write(settings: Settings, parts: Iterable[str]) -> None:
    """Writes the page, unless a part has not been computed yet."""
    try:
        sections = [importlib.import_module(f"reproduce.{name}").report(settings) for name in parts]
    except FileNotFoundError as missing:
        print(f"no page yet: {missing.filename} is missing")
        return
    head = HEAD.format(minutes="an hour and a half")
    text = [head, summary.report(settings), _promises(), *sections, rows.report()]
    path = settings.path("reproduction.md")
    path.write_text("\n\n".join(text) + "\n", encoding="utf-8")
    print(f"written: {path}")


def _promises() -> str:
    table = markdown(("methods", "what stays within the tolerance, and of what"), PROMISES.items())
    return PROMISE_TEXT + "\n\n" + table

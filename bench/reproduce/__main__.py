"""python -m reproduce [PART ...]: computes the parts, and writes reproduction.md once all of them
are there."""

from __future__ import annotations

import importlib
import sys
import time
from types import ModuleType
from typing import Sequence

from . import report
from .parts import run
from .settings import Settings

PARTS = "synthetic rotation slant convergence tightness intervals denoise real".split()


def main(names: list[str]) -> int:
    return run(names, PARTS, _work, "run it again to go on where it stopped")


def _work(settings: Settings, names: Sequence[str]) -> None:
    parts = {name: importlib.import_module(f"reproduce.{name}") for name in PARTS}
    for name in names:
        _compute(name, parts[name], settings)
    report.write(settings, parts.values())


def _compute(name: str, part: ModuleType, settings: Settings) -> None:
    print(f"== {name}", flush=True)
    began = time.monotonic()
    part.compute(settings)
    print(f"  {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

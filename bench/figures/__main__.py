"""python -m figures [PART ...]: draws the figures of these parts, or of all."""

from __future__ import annotations

import importlib
import os
import pathlib
import sys
import time
from typing import Sequence

from certreg.arguments import needed
from reproduce import figures
from reproduce.parts import run
from reproduce.settings import ROOT, Settings, SettingsError

PARTS = ("certificate", "worst_function", "radii", "attacked", "digit", "control_loop", "episode")


def main(names: list[str]) -> int:
    return run(names, PARTS, _work, "the figures of this part are as they were")


def _work(settings: Settings, names: Sequence[str]) -> None:
    folder = _folder(settings)
    for name in names:
        _draw(name, settings, folder)


def _folder(settings: Settings) -> pathlib.Path:
    usual = ROOT / "docs" / "figures" if settings.full else settings.path("figures")
    folder = pathlib.Path(os.environ.get("FIGURES_OUT") or usual)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        text = f"the folder {folder} cannot be made: {error.strerror} (FIGURES_OUT)"
        raise SettingsError(text) from None
    return folder


def _draw(name: str, settings: Settings, folder: pathlib.Path) -> None:
    """Draws what can be drawn here. Where something is missing it says so, and old figures stay."""
    print(f"== {name}", flush=True)
    began = time.monotonic()
    try:
        needed("matplotlib", "a figure")
        part = importlib.import_module(f"figures.{name}")
        if part.OF_DIGITS and settings.full and not settings.mnist:
            print("  left as it was: CERTREG_MNIST, the folder of the MNIST files, is not given")
            return
        found = part.found(settings)
    except ImportError as error:
        print(f"  left as it was: {error}")
        return
    for figure, drawn in part.DRAWINGS.items():
        figures.save(drawn(found), folder / f"{figure}.svg")
    print(f"  {', '.join(part.DRAWINGS)}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""python -m figures [PART ...]: draws the figures of these parts, or of all."""

from __future__ import annotations

import importlib
import os
import pathlib
import sys
import time

from certreg import CertregError
from certreg._optional import needed
from reproduce import figures, settings as _settings

PARTS = ("certificate", "worst_function", "radii", "attacked", "digit")


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    try:
        settings = _settings.read()
        folder = _folder(settings)
        for name in names or PARTS:
            _draw(name, settings, folder)
    except (_settings.SettingsError, CertregError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: the figures of this part are as they were", file=sys.stderr)
        return 130
    return 0


def _folder(settings: _settings.Settings) -> pathlib.Path:
    usual = _settings.ROOT / "docs" / "figures" if settings.full else settings.path("figures")
    folder = pathlib.Path(os.environ.get("FIGURES_OUT") or usual)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        text = f"the folder {folder} cannot be made: {error.strerror} (FIGURES_OUT)"
        raise _settings.SettingsError(text) from None
    return folder


def _draw(name: str, settings: _settings.Settings, folder: pathlib.Path) -> None:
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

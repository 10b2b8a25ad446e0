"""python -m reproduce [PART ...]: computes the parts, and writes reproduction.md once all of them
are there."""

from __future__ import annotations

import importlib
import sys
import time
from types import ModuleType

from certreg import CertregError

from . import report, settings as _settings

PARTS = ("synthetic", "rotation", "slant", "convergence", "tightness", "intervals")


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    try:
        settings = _settings.read()
        parts = {name: importlib.import_module(f"reproduce.{name}") for name in PARTS}
        for name in names or PARTS:
            _compute(name, parts[name], settings)
        report.write(settings, parts.values())
    except (_settings.SettingsError, CertregError, ImportError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: run it again to go on where it stopped", file=sys.stderr)
        return 130
    return 0


def _compute(name: str, part: ModuleType, settings: _settings.Settings) -> None:
    print(f"== {name}", flush=True)
    began = time.monotonic()
    part.compute(settings)
    print(f"  {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

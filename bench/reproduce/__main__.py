"""python -m reproduce [PART ...]: computes the parts and writes reproduction.md."""

from __future__ import annotations

import importlib
import sys
import time

from certreg import CertregError

from . import settings as _settings

PARTS = ("synthetic",)


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    began = time.monotonic()
    try:
        settings = _settings.read()
        for name in names or PARTS:
            print(f"== {name}", flush=True)
            importlib.import_module(f"reproduce.{name}").compute(settings)
    except (_settings.SettingsError, CertregError, ImportError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: run it again to go on where it stopped", file=sys.stderr)
        return 130
    print(f"{time.monotonic() - began:.0f} s; results are in {settings.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

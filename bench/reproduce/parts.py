"""How a program of several parts runs those that it is asked for, and says how it ends."""

from __future__ import annotations

import sys
from typing import Callable, Sequence

from certreg import CertregError

from .settings import Settings, SettingsError, read


def run(
    names: Sequence[str],
    known: Sequence[str],
    work: Callable[[Settings, Sequence[str]], None],
    interrupted: str,
) -> int:
    """Does the work for these parts, or for all, and returns the status of the program."""
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"there is no part {unknown[0]!r}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    try:
        work(read(), names or known)
    except (SettingsError, CertregError, ImportError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"interrupted: {interrupted}", file=sys.stderr)
        return 130
    return 0

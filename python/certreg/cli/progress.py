"""Progress on standard error."""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any


def progress() -> Any:
    """What certify_rows shows: a bar by tqdm, where present, or else a count. Nothing where nobody
    looks at it."""
    if importlib.util.find_spec("tqdm") is not None:
        return True
    return _Count() if sys.stderr.isatty() else False


class _Count:
    """The number of rows that are done, on a line that is written again and again."""

    def __init__(self) -> None:
        self.shown = 0.0

    def __call__(self, done: int, rows: int) -> None:
        now = time.monotonic()
        if done == rows or now - self.shown > 0.2:
            end = "\n" if done == rows else ""
            print(f"\r{done} of {rows} rows", end=end, file=sys.stderr, flush=True)
            self.shown = now

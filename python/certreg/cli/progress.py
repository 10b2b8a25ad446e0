"""Progress on standard error."""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any


def progress() -> Any:
    """The argument `progress` of certify_rows: a bar if tqdm is installed, otherwise a count. The
    count is shown on terminals only."""
    if importlib.util.find_spec("tqdm") is not None:
        return True
    return _Count() if sys.stderr.isatty() else False


def counter(quiet: bool) -> Any:
    """A function of the rows that are done and of all rows, which shows them."""
    return _Count() if not quiet and sys.stderr.isatty() else lambda done, rows: None


class _Count:
    """Prints the number of rows that are done, on one line that it overwrites."""

    def __init__(self) -> None:
        self.shown = 0.0

    def __call__(self, done: int, rows: int) -> None:
        now = time.monotonic()
        if done == rows or now - self.shown > 0.2:
            end = "\n" if done == rows else ""
            print(f"\r{done} of {rows} rows", end=end, file=sys.stderr, flush=True)
            self.shown = now

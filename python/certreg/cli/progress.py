"""Progress on standard error."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from typing import Any

from .failure import Failure
from .streams import aside


def progress() -> Any:
    """The argument `progress` of certify_rows: a bar if tqdm is installed, otherwise a count. They
    are shown on terminals only."""
    if not _on_a_terminal():
        return False
    return True if importlib.util.find_spec("tqdm") is not None else _Count()


def counter(quiet: bool, what: str = "rows") -> Any:
    """A function of the rows, or whatever, that are done and of all of them, which shows them."""
    return _Count(what) if not quiet and _on_a_terminal() else lambda done, rows: None


def _on_a_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


class _Count:
    """Prints how many are done, on one line that is overwritten, be it by a sentence."""

    def __init__(self, what: str = "rows") -> None:
        self.what, self.shown = what, 0.0

    def __call__(self, done: int, rows: int) -> None:
        now = time.monotonic()
        if done == rows or now - self.shown > 0.2:
            end = "\n" if done == rows else "\r"
            with contextlib.suppress(Failure, OSError):
                aside(f"{done} of {rows} {self.what}{end}")
            self.shown = now

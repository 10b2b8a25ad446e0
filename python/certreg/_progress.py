"""Progress of long calls."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Callable

from ._types import Progress


class ProgressLine:
    """Prints the number of units that are done, in terminals and notebooks only. It overwrites one
    line of standard error, which a message may overwrite too."""

    def __init__(self, what: str = "rows") -> None:
        self.what, self.shown = what, 0.0
        there = sys.stderr
        notebook = type(there).__module__.partition(".")[0] == "ipykernel"
        self.seen = there is not None and (notebook or there.isatty())

    def __call__(self, done: int, rows: int) -> None:
        now = time.monotonic()
        if self.seen and (done == rows or now - self.shown > 0.2):
            end = "\n" if done == rows else "\r"
            with contextlib.suppress(OSError, ValueError):  # standard error is closed
                print(f"{done} of {rows} {self.what}", end=end, file=sys.stderr, flush=True)
            self.shown = now


class Reporter:
    """Reports progress to a line of standard error, to the caller's function, or not at all."""

    def __init__(self, progress: Progress, done: int, rows: int, what: str = "rows") -> None:
        self.done, self.rows = done, rows
        self.call = ProgressLine(what) if progress is True else progress

    def advance(self, rows: int) -> None:
        self.done += rows
        if callable(self.call):
            self.call(self.done, self.rows)

    def part(self) -> Callable[..., None]:
        """A function for the progress of a part that begins now, with a count from 0."""
        before = self.done

        def count(done: int, _: int = 0) -> None:
            if before + done > self.done:
                self.advance(before + done - self.done)

        return count

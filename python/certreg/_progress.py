"""Progress of long calls."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Union

Progress = Union[bool, Callable[[int, int], Any]]


class ProgressLine:
    """Prints how many are done, on one line of standard error that is overwritten, be it by a
    sentence; in terminals and notebooks only."""

    def __init__(self, what: str = "rows") -> None:
        self.what, self.shown = what, 0.0
        there = sys.stderr
        notebook = type(there).__module__.partition(".")[0] == "ipykernel"
        self.seen = there is not None and (notebook or there.isatty())

    def __call__(self, done: int, rows: int) -> None:
        now = time.monotonic()
        if self.seen and (done == rows or now - self.shown > 0.2):
            end = "\n" if done == rows else "\r"
            with contextlib.suppress(OSError, ValueError):  # nobody reads it
                print(f"{done} of {rows} {self.what}", end=end, file=sys.stderr, flush=True)
            self.shown = now


class Reporter:
    """Reports progress: by a count, by the caller's function, or not at all."""

    def __init__(self, progress: Progress, done: int, rows: int, what: str = "rows") -> None:
        self.done, self.rows = done, rows
        self.call: Any = progress if callable(progress) else None
        if progress is True:
            self.call = ProgressLine(what)

    def advance(self, rows: int) -> None:
        self.done += rows
        if self.call is not None:
            self.call(self.done, self.rows)

    def part(self) -> Callable[..., None]:
        """The progress of a part that begins now, whose own count begins with 0."""
        before = self.done

        def count(done: int, _: int = 0) -> None:
            if before + done > self.done:
                self.advance(before + done - self.done)

        return count

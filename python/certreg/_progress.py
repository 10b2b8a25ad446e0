"""Progress of long calls."""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from typing import Any, Callable

from ._types import Progress


class ProgressLine:
    """Shows the number of units that are done and the time that is left, in terminals and notebooks
    only. In a terminal it overwrites one line of standard error, which a message may overwrite too.
    In a notebook each run has one output that is updated, so that an exported one has one line."""

    def __init__(self, what: str = "rows") -> None:
        self.what, self.width = what, 0
        there = sys.stderr
        self.notebook = type(there).__module__.partition(".")[0] == "ipykernel"
        self.seen = there is not None and (self.notebook or there.isatty())
        self._end_run()

    def _end_run(self) -> None:
        self.first: tuple[float, int] | None = None  # time and units of the first call of a run
        self.shown = 0.0  # the time of the last text
        self.output: Any = None  # of a notebook

    def __call__(self, done: int, rows: int) -> None:
        now = time.monotonic()
        self.first = self.first or (now, done)
        if self.seen and (done == rows or now - self.shown > 0.2):
            text = f"{done} of {rows} {self.what}{self._left(now, done, rows)}"
            with contextlib.suppress(OSError, ValueError):  # standard error is closed
                self._show(text, done == rows)
            self.shown = now
        if done == rows:
            self._end_run()

    def _left(self, now: float, done: int, rows: int) -> str:
        """The time that is left if units go on as since the first call."""
        begun, before = self.first or (now, done)
        if done == before or done == rows:
            return ""
        seconds = round((now - begun) * (rows - done) / (done - before))
        return f", {seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02} left"

    def _show(self, text: str, last: bool) -> None:
        if self.notebook and self._shown_in_notebook({"text/plain": text}):
            return
        cleared = " " * self.width + "\r" if self.width > len(text) else ""
        print(cleared + text, end="\n" if last else "\r", file=sys.stderr, flush=True)
        self.width = 0 if last else len(text)

    def _shown_in_notebook(self, data: dict[str, str]) -> bool:
        try:
            shell: Any = importlib.import_module("IPython").get_ipython()
            display: Any = importlib.import_module("IPython.display").display
        except ImportError:
            return False
        if shell is None:
            return False
        if self.output is None:
            self.output = display(data, raw=True, display_id=True)
        else:
            self.output.update(data, raw=True)
        return True


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

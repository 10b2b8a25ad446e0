"""Texts, tables, progress and the events of a run."""

from __future__ import annotations

import contextlib
import dataclasses
import decimal
import enum
import errno
import html
import importlib
import logging
import math
import os
import re
import sys
import time
import types
import warnings
from typing import Any, Callable, Iterable, Sequence, TypeAlias, cast

# These types are here because this file needs the standard library only.
Line: TypeAlias = "dict[str, Any]"  # of a table, by the names of its columns
Table: TypeAlias = "list[dict[str, Any]]"
Progress: TypeAlias = bool | Callable[[int, int], object]

PACKAGE = os.path.dirname(__file__)
LOG = logging.getLogger("certreg")
LOG.addHandler(logging.NullHandler())  # without a handler of the user nothing is printed

# C0, DEL, C1, marks of direction and ends of lines; not the joiners that some languages need
_CONTROLS = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text without characters that a terminal obeys, which names, cells and exceptions of
    others may hold: they are escaped as repr does it. Ends of lines and tabs stay."""
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


def tell(event: str, text: str, level: int = logging.INFO, **facts: Any) -> None:
    """Passes an event of a run to the logger; `certreg` of its record has the facts."""
    LOG.log(level, text, extra={"certreg": {"event": event, **facts}})


def warn(text: str, kind: type[Warning] = UserWarning) -> None:
    """Warns at the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame and frame.f_code.co_filename.startswith((PACKAGE, contextlib.__file__)):
        level, frame = level + 1, cast(types.FrameType, frame.f_back)
    warnings.warn(text, kind, stacklevel=level)


def reason(error: Exception) -> str:
    """The reason of a failure with a file, and the remedy if the disk is full."""
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    full = getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT) or "disk is full" in text
    return f"{text}; free space" if full else text


def aligned(table: Table) -> str:
    """A table as text with aligned columns."""
    cells = _cells(table, _cell)
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in cells
    )


def _cells(table: Table, cell: Callable[[object], str]) -> list[list[str]]:
    heading = [name.replace("_", " ") for name in (table[0] if table else ())]
    return [heading, *(list(map(cell, line.values())) for line in table)]


def _cell(value: object) -> str:
    if isinstance(value, enum.Enum):
        return value.name.lower() if value.name else str(int(value.value))
    return f"{value:.5g}" if isinstance(value, float) else printable(str(value))


def _readable(value: object) -> str:
    """A cell with commas between thousands, except in digests and seeds."""
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_readable, value))})"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e5 <= abs(value) < 1e10 else f"{value:,.5g}"
    is_count = isinstance(value, int) and not isinstance(value, (bool, enum.Enum))
    return f"{value:,}" if is_count and cast(int, value) < 1e12 else _cell(value)


def by_name(lines: Iterable[Line]) -> Table:
    """Lines with the name of the question in place of its number."""
    each = [(line, line.pop("name", "")) for line in map(dict, lines)]
    return [{**line, "question": name} if name else line for line, name in each]


class HtmlTable:
    """The base of classes that notebooks show as a table, with texts below: by default the fields
    of a dataclass, digests last."""

    def _table(self) -> Table:
        fields = dataclasses.fields(cast(Any, self))
        shown = [field.name for field in fields if field.repr]
        shown.sort(key=lambda name: "digest" in name)
        return [{"field": name, "value": getattr(self, name)} for name in shown]

    def _texts(self) -> Sequence[str]:
        return ()

    def _text(self) -> str:
        """The table and the texts for a terminal."""
        return printable("\n".join(filter(None, [aligned(self._table()), *self._texts()])))

    def _repr_html_(self) -> str:
        texts = "".join(f"<p>{html.escape(text)}</p>" for text in self._texts())
        return html_table(self._table()) + texts


def html_table(table: Table) -> str:
    """A table as HTML."""
    heading, *lines = (map(html.escape, line) for line in _cells(table, _readable))
    rows = [f"<th>{'</th><th>'.join(heading)}</th>"]
    rows += [f"<td>{'</td><td>'.join(line)}</td>" for line in lines]
    return f"<table><tr>{'</tr><tr>'.join(rows)}</tr></table>"


class ProgressLine:
    """Shows the number of units that are done and the time that is left, in terminals and notebooks
    only. In a terminal it overwrites one line of standard error, which a message may overwrite too.
    In a notebook each run has one output that is updated, so that an exported one has one line."""

    hidden = False  # by --log json

    def __init__(self, what: str = "rows") -> None:
        self.what, self.width = what, 0
        there = sys.stderr
        self.notebook = type(there).__module__.partition(".")[0] == "ipykernel"
        shown = there is not None and (self.notebook or there.isatty())
        self.seen = shown and not self.hidden
        self._end_run()

    def _end_run(self) -> None:
        self.first: tuple[float, int] | None = None  # time and units of the first call of a run
        self.shown = 0.0  # the time of the last text
        self.output: Any = None  # of a notebook

    def __call__(self, done: int, rows: int) -> None:
        now = time.monotonic()
        self.first = self.first or (now, done)
        if self.seen and (done == rows or now - self.shown > 0.2):
            text = self.text(now, done, rows)
            with contextlib.suppress(OSError, ValueError):  # standard error is closed
                self._show(text, done == rows)
            self.shown = now
        if done == rows:
            self._end_run()

    def text(self, now: float, done: int, rows: int) -> str:
        """The count, and the time that is left if units go on as since the first call."""
        begun, before = self.first or (now, done)
        if done == before or done == rows:
            return f"{done} of {rows} {self.what}"
        seconds = round((now - begun) * (rows - done) / (done - before))
        time_left = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return f"{done} of {rows} {self.what}, {time_left} left"

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
    """Reports progress: always as events, at the start, after each tenth or minute, and at the end;
    and to a line of standard error, or to the caller's function. `kept` is the resume file that has
    the units that are done."""

    def __init__(
        self, progress: Progress, done: int, rows: int, what: str = "rows", kept: str | None = None
    ) -> None:
        self.done, self.rows, self.failed, self.kept = done, rows, 0, kept
        self.line = ProgressLine(what)
        self.call = self.line if progress is True else progress
        self._tell(time.monotonic())

    def advance(self, rows: int, failed: int = 0) -> None:
        self.done, self.failed = self.done + rows, self.failed + failed
        now, (time_told, done_told) = time.monotonic(), self.told
        tenth = 10 * (self.done - done_told) >= self.rows or self.done == self.rows
        if tenth or now - time_told >= 60:
            self._tell(now)
        if isinstance(self.call, Part):
            self.call.whole.failed += failed
        if callable(self.call):
            self.call(self.done, self.rows)

    def _tell(self, now: float) -> None:
        self.told = now, self.done
        self.line.first = self.line.first or self.told
        text = self.line.text(now, self.done, self.rows)
        text += f", {self.failed} failed" if self.failed else ""
        text += f", kept in {self.kept}" if self.kept and self.done else ""
        if self.rows and not isinstance(self.call, Part):
            facts = {"done": self.done, "rows": self.rows, "failed": self.failed}
            tell("progress", text, unit=self.line.what, resume=self.kept, **cast(Any, facts))


class Part:
    """A function for the progress of a part of a run, with a count from 0."""

    def __init__(self, whole: Reporter) -> None:
        self.whole, self.before = whole, whole.done

    def __call__(self, done: int, _: int = 0) -> None:
        if self.before + done > self.whole.done:
            self.whole.advance(self.before + done - self.whole.done)


def rounded(value: float, up: bool) -> str:
    """A number with four digits, rounded up or down."""
    return floored(float(f"{value:.11g}"), up=up) or f"{value:g}"  # 1 + 1e-12 is shown as 1


def floored(value: float, digits: int = 4, up: bool = False) -> str:
    """The value rounded down, or up, to at most so many digits; empty if it is not finite."""
    if not math.isfinite(value):
        return ""
    to = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR
    return f"{float(decimal.Context(digits, to).create_decimal(repr(float(value)))):.{digits}g}"

"""Standard output, standard error, and failures with their exit status. This file imports the
standard library only."""

from __future__ import annotations

import contextlib
import argparse
import errno
import json
import logging
import math
import os
import select
import sys
import threading
import time
import warnings
from typing import Callable, TextIO

from ..constants import __version__
from ..display import LOG, Line, ProgressLine, Table, printable, reason

# The exit status; the epilog of the parser explains it.
DONE, FOUND, USAGE, MODEL, FILE, OTHER, SHORT = range(7)
INTERRUPTED, TERMINATED = 130, 143
RAISED = (Exception, SystemExit)  # of a model: its sys.exit() must not end a command


class StandardInput(str):
    """The name of standard input in messages, with its contents, which may be read twice."""

    data = b""


class Failure(Exception):
    """A failure of a command: a message for the user, and the exit status."""

    def __init__(self, message: object, status: int = USAGE) -> None:
        super().__init__(one_line(message))
        self.status = status


def described(error: BaseException) -> str:
    """An exception of other code as part of a message, with its class."""
    return one_line(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def model_failed(error: BaseException, where: str = "") -> Failure:
    """The failure for an exception of the model."""
    return Failure(f"the model failed{where}: {described(error)}", MODEL)


def one_line(text: object) -> str:
    """A message of other code as part of a message, without line ends."""
    return " ".join(printable(str(text)).split())


def print_result(text: str, data: bool = False) -> None:
    """Writes to standard output, data as it is unless to a terminal. Raises Failure unless all of
    it was written, and BrokenPipeError if the reader has ended, as in `| head`."""
    raw = data and results.stream is not None and not results.stream.isatty()
    _write(results.stream, "standard output", text if raw else printable(text))


def print_error(text: str, **facts: object) -> None:
    """Writes to standard error, as `print_result` does to standard output; with --log json as an
    event with these facts."""
    if log.as_json:
        about = {"event": "message", **facts, "text": text.rstrip()}
        text = json.dumps({"time": round(time.time(), 3), **about}) + "\n"
    _write(sys.stderr, "standard error", printable(text))


def warn(message: object, **facts: object) -> None:
    """Writes a message as one line to standard error. Failures are ignored, since the exit status
    reports them."""
    with contextlib.suppress(Failure, OSError):
        print_error(f"{'' if log.as_json else 'certreg: '}{one_line(message)}\n", **facts)


def as_json(document: Line) -> str:
    """A document as JSON. Infinities and NaN are null."""
    return json.dumps(_plain(document), indent=1, allow_nan=False) + "\n"


def as_json_lines(table: Table) -> str:
    """A table as lines of JSON."""
    return "".join(json.dumps(_plain(line), allow_nan=False) + "\n" for line in table)


def answer(given: argparse.Namespace, text: str, document: Line) -> None:
    """Prints a text, or with --json the document, to standard output; to standard error if the
    table goes there."""
    body = as_json({"certreg": __version__, **document}) if given.json else f"{text}\n"
    (print_error if given.out == "-" else print_result)(body)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Results:
    """Standard output. In this context it is for results alone, and a model prints to standard
    error."""

    stream: TextIO | None = None

    def __enter__(self) -> None:
        self.stream, sys.stdout = sys.stdout, sys.stderr

    def __exit__(self, *_: object) -> None:
        sys.stdout = self.stream

    def of_program(self) -> None:
        """Until the program ends, code in C and child processes print to standard error too."""
        if self.stream is not None:
            place, encoding = self.stream.fileno(), self.stream.encoding
            self.stream = open(os.dup(place), "w", encoding=encoding, closefd=False)
            os.dup2(sys.stderr.fileno() if sys.stderr else os.open(os.devnull, os.O_WRONLY), place)


results = _Results()


SILENT_SECONDS = 5.0  # at the start of a run


class _Log(logging.Handler):
    """The events of a run on standard error: with --log json all of them; otherwise, if it is no
    terminal, on which a count is shown, lines about lost processes and, in runs that are not short,
    progress. A context, which `begin` opens to the events unless --quiet is given."""

    as_json = False

    def begin(self, given: argparse.Namespace, in_options: Callable[[str], str]) -> None:
        self.as_json, self.in_options = given.log == "json", in_options
        ProgressLine.hidden, quiet = self.as_json, getattr(given, "quiet", True)
        if self.as_json:
            warnings.showwarning = lambda text, *_: None if quiet else warn(text)
        if not quiet:
            LOG.addHandler(self)
            LOG.setLevel(logging.INFO)
            self.timer.start()

    def __enter__(self) -> None:
        self.level_before, self.last = LOG.level, ""
        self.show_before = warnings.showwarning
        LOG.propagate = False  # a model may have set up logging
        self.timer = threading.Timer(SILENT_SECONDS, self._end_silence)
        self.timer.daemon = True

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        self.as_json = ProgressLine.hidden = False
        warnings.showwarning = self.show_before
        LOG.removeHandler(self)
        LOG.setLevel(self.level_before)
        LOG.propagate = True

    def emit(self, record: logging.LogRecord) -> None:
        facts, text = getattr(record, "certreg", {}), record.getMessage()
        progress = facts.get("event") == "progress"
        if self.as_json:
            warn(self.in_options(text), **facts)
        elif progress and not self.timer.finished.is_set():
            self.last = text
        elif progress or facts.get("event") == "restart":
            self._write(text)

    def _end_silence(self) -> None:
        if self.last:
            self._write(self.last)

    def _write(self, text: str) -> None:
        if sys.stderr is not None and not sys.stderr.isatty():
            warn(text)


log = _Log()


def _write(stream: TextIO | None, name: str, text: str) -> None:
    try:
        _write_all(stream, text)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise Failure(f"{name} cannot be written: {reason(error)}", FILE) from None


def _write_all(stream: TextIO | None, text: str) -> None:
    """Writes all of a text. Python's own streams may write only a part, without an error, if they
    have no buffer (PYTHONUNBUFFERED) or the pipe does not block."""
    if stream is None:  # it was closed before Python began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    stream.flush()  # on standard error output of the model comes first
    try:
        place = stream.fileno()
    except (AttributeError, OSError):  # a stream without a file, such as io.StringIO
        stream.write(text)
        return
    left = memoryview(text.encode(stream.encoding, "backslashreplace"))
    while left:
        try:
            left = left[os.write(place, left) :]
        except BlockingIOError:
            select.select([], [place], [])

"""Standard output, standard error, and failures with their exit status. This file imports the
standard library only."""

from __future__ import annotations

import contextlib
import argparse
import errno
import json
import logging
import os
import select
import sys
import threading
import time
from typing import Callable, TextIO

from ..display import LOG, ProgressLine, printable, reason

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
    raw = data and sys.stdout is not None and not sys.stdout.isatty()
    _write(sys.stdout, "standard output", text if raw else printable(text))


def print_error(text: str) -> None:
    """Writes to standard error, as `print_result` does to standard output."""
    _write(sys.stderr, "standard error", printable(text))


def warn(message: str, **facts: object) -> None:
    """Writes a message to standard error, with --log json as an event with these facts. Failures
    are ignored, since the exit status reports them."""
    text = f"certreg: {one_line(message)}"
    if log.as_json:
        about = {"event": "message", **facts, "text": one_line(message)}
        text = json.dumps({"time": round(time.time(), 3), **about})
    with contextlib.suppress(Failure, OSError):
        print_error(f"{text}\n")


SILENT_SECONDS = 5.0  # at the start of a run


class _Log(logging.Handler):
    """The events of a run on standard error: with --log json all of them; otherwise, if it is no
    terminal, on which a count is shown, lines about lost processes and, in runs that are not short,
    progress. A context, which `begin` opens to the events unless --quiet is given."""

    as_json = False

    def begin(self, given: argparse.Namespace, in_options: Callable[[str], str]) -> None:
        self.as_json, self.in_options = given.log == "json", in_options
        ProgressLine.hidden = self.as_json
        if not getattr(given, "quiet", True):
            LOG.addHandler(self)
            LOG.setLevel(logging.INFO)
            self.timer.start()

    def __enter__(self) -> None:
        self.level_before, self.last = LOG.level, ""
        LOG.propagate = False  # a model may have set up logging
        self.timer = threading.Timer(SILENT_SECONDS, self._end_silence)
        self.timer.daemon = True

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        self.as_json = ProgressLine.hidden = False
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
        if stream is not None and stream is sys.stdout:  # Python's flush at the end fails no more
            with contextlib.suppress(AttributeError, OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise Failure(f"{name} cannot be written: {reason(error)}", FILE) from None


def _write_all(stream: TextIO | None, text: str) -> None:
    """Writes all of a text. Python's own streams may write only a part, without an error, if they
    have no buffer (PYTHONUNBUFFERED) or the pipe does not block."""
    if stream is None:  # it was closed before Python began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    stream.flush()  # output of the model comes first
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

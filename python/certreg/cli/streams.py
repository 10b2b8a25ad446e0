"""Standard output and standard error. This file imports the standard library only."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import sys
from typing import TextIO

from ..display import printable, reason
from .failure import FILE, Failure, one_line


def print_result(text: str, data: bool = False) -> None:
    """Writes to standard output, data as it is unless to a terminal. Raises Failure unless all of
    it was written, and BrokenPipeError if the reader has ended, as in `| head`."""
    try:
        raw = data and sys.stdout is not None and not sys.stdout.isatty()
        _write(sys.stdout, text if raw else printable(text))
    except OSError as error:
        _give_up(sys.stdout)
        raise _failure("standard output", error) from None


def print_error(text: str) -> None:
    """Writes to standard error, as `print_result` does to standard output."""
    try:
        _write(sys.stderr, printable(text))
    except OSError as error:
        raise _failure("standard error", error) from None


def warn(message: str) -> None:
    """Writes a message to standard error. Failures are ignored, since the exit status reports
    them."""
    with contextlib.suppress(Failure, OSError):
        print_error(f"certreg: {one_line(message)}\n")


def _write(stream: TextIO | None, text: str) -> None:
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


def _failure(name: str, error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return error
    return Failure(f"{name} cannot be written: {reason(error)}", FILE)


def _give_up(stream: TextIO | None) -> None:
    """Redirects a stream, so that Python's flush at the end does not fail again."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        if stream is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

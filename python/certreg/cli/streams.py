"""Standard output and standard error. This file imports the standard library only."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import sys
from typing import Any

from .failure import FILE, Failure


def say(text: str) -> None:
    """Writes to standard output. Raises Failure unless all of it was written, and BrokenPipeError
    if the reader has ended, as in `| head`."""
    try:
        _write(sys.stdout, text)
    except OSError as error:
        _give_up(sys.stdout)
        raise _failure("standard output", error) from None


def aside(text: str) -> None:
    """Writes to standard error, as `say` does to standard output."""
    try:
        _write(sys.stderr, text)
    except OSError as error:
        raise _failure("standard error", error) from None


def complain(sentence: str) -> None:
    """Writes a sentence to standard error. If nobody can read it, the exit status still says what
    has happened."""
    with contextlib.suppress(Failure, OSError):
        aside(f"certreg: {sentence}\n")


def _write(stream: Any, text: str) -> None:
    """Python's own streams may write a part only and say so to nobody, above all without a buffer
    (PYTHONUNBUFFERED), or to a pipe that does not block."""
    if stream is None:  # it was closed before Python began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    stream.flush()  # what the model has printed
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
    return Failure(f"{name} cannot be written: {error.strerror or error}", FILE)


def _give_up(stream: Any) -> None:
    """Redirects a stream, so that Python's flush at the end does not fail again."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

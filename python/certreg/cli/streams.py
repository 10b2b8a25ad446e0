"""Standard output and standard error. This file imports the standard library only."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import sys
from typing import Any


def say(text: str) -> None:
    """Writes to standard output. Raises OSError unless all of it was written."""
    _write(sys.stdout, text)


def aside(text: str) -> None:
    """Writes to standard error. Raises OSError unless all of it was written."""
    _write(sys.stderr, text)


def complain(sentence: str) -> None:
    """Writes a sentence to standard error. If nobody can read it, the exit status still says what
    has happened."""
    with contextlib.suppress(OSError):
        aside(f"certreg: {sentence}\n")


def _write(stream: Any, text: str) -> None:
    """Python's own streams may write a part only and say so to nobody, above all without a buffer
    (PYTHONUNBUFFERED), or to a pipe that does not block."""
    if stream is None:  # it was closed before Python began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    try:
        place = stream.fileno()
    except (AttributeError, OSError):  # a stream without a file, such as io.StringIO
        stream.write(text)
        return
    stream.flush()
    left = memoryview(text.encode(stream.encoding, "backslashreplace"))
    while left:
        try:
            left = left[os.write(place, left) :]
        except BlockingIOError:
            select.select([], [place], [])

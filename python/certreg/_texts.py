"""Texts for people. This file imports the standard library only."""

from __future__ import annotations

import errno
import re

# C0, DEL, C1, marks of direction and ends of lines; not the joiners that some languages need
_CONTROLS = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text without characters that a terminal obeys, which names, cells and exceptions of
    others may hold: they are escaped as repr does it. Ends of lines and tabs stay."""
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


def reason(error: Exception) -> str:
    """The reason of a failure with a file, and the remedy if the disk is full."""
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    full = getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT) or "disk is full" in text
    return f"{text}; free space" if full else text

"""Texts for people. This file imports the standard library only."""

from __future__ import annotations

import errno


def reason(error: Exception) -> str:
    """The reason of a failure with a file, and the remedy if the disk is full."""
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    full = getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT) or "disk is full" in text
    return f"{text}; free space" if full else text

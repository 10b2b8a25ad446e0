"""Files that hold the seed of the noise, which other users could read on a command line."""

from __future__ import annotations

import contextlib
import os
import re

from ..arguments import seed_or_random
from ..files import place_of, replace
from .failure import FILE, Failure


def seed_in(path: str) -> int:
    """The seed in a file. If there is no such file, it is made with a secret seed, and only its
    owner can read it. Commands that make the file at the same time get the same seed."""
    try:
        if not os.path.exists(path):
            line = f"{seed_or_random(None)}\n".encode()
            with contextlib.suppress(FileExistsError):  # another command was faster
                replace(path, line, secret=True, commit=os.link)
        with open(place_of(path), encoding="ascii", errors="replace") as file:
            text = file.read(100)
    except OSError as error:
        why = error.strerror or error
        raise Failure(
            f"--seed-file {path} can neither be read nor made: {why}; give a file with a seed", FILE
        ) from None
    if not re.fullmatch(r"\d+\n", text, re.ASCII) or not 0 < int(text) < 2**64:
        raise Failure(
            f"--seed-file {path} holds no seed; it must be one line, with its end: an integer from "
            "1 to 2^64 - 1",
            FILE,
        )
    return int(text)

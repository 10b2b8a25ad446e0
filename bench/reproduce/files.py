"""Files that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import pathlib
from typing import BinaryIO, Iterator


@contextlib.contextmanager
def whole(path: pathlib.Path) -> Iterator[BinaryIO]:
    """A file to write, which takes its name, and the place of an older one, once it is complete."""
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)

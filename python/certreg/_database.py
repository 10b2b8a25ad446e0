"""Opens databases of SQLite, which processes share by SQLite's own locks."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import sqlite3
import tempfile

from ._files import place_of
from .errors import ResumeError

APPLICATION = 0x63723037  # "cr07": owner and format of a file, in the header of SQLite


def is_foreign(path: str) -> bool:
    """Returns True if a file is the database of another program or version. SQLite reads the file
    alone, since a journal beside it could alter it. (If Python closed the file, this process would
    lose its locks.)"""
    if not os.path.exists(path) or not os.path.getsize(path):
        return False
    with contextlib.closing(opened(path, "mode=ro&immutable=1")) as db:
        owner = db.execute("PRAGMA application_id").fetchone()[0]
    return bool(owner != APPLICATION)


def opened(path: str, how: str) -> sqlite3.Connection:
    """Opens a database that exists."""
    address = pathlib.Path(_place(path)).as_uri()
    return sqlite3.connect(f"{address}?{how}", uri=True)


def _place(path: str) -> str:
    """The path without links of a database, beside which no journal is a link of another user."""
    place = place_of(path)
    for end in ("-journal", "-wal", "-shm"):
        place_of(place + end)
    return place


def check_locks(path: str) -> None:
    """Raises ResumeError if the file system of a file has no locks: SQLite would wait for them."""
    with tempfile.TemporaryFile(dir=os.path.dirname(path) or ".") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ResumeError(
                f"{path} is on a file system without locks ({error.strerror}): give a path on "
                "another one, such as a local disk"
            ) from error


def database(path: str, timeout: float) -> sqlite3.Connection:
    """Opens a database. A new one can be read by its owner alone. Names that are special in SQLite,
    such as :memory:, are names of files here."""
    path = _place(path)
    with contextlib.suppress(FileExistsError):  # closing an existing file would lose its locks
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return sqlite3.connect(path, timeout=timeout, isolation_level=None)

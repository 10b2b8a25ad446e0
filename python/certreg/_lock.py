"""A lock by which one process at a time works on a file."""

from __future__ import annotations

import contextlib
import os
import platform
import sqlite3

from .errors import ResumeError


class Lock:
    """A lock on a file: SQLite's lock on a small database beside it, `path`.lock, which says who
    holds it. The system releases it when the process ends, however it ends, also on another host
    that shares the folder; a fork of the process does not hold it. Two processes must not make or
    release locks on a file at the same moment: a transaction on that file sees to it."""

    def __init__(self, path: str) -> None:
        """Raises ResumeError with the process and host that hold the lock."""
        self.file, self.path = path, os.path.realpath(path) + ".lock"
        self.db = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        try:
            self.db.execute("PRAGMA synchronous = OFF")  # what is lost with the host is of no use
            self._take()
        except sqlite3.DatabaseError as error:
            with contextlib.closing(self.db):
                self._refuse(error)

    def _take(self) -> None:
        holder = f"process {os.getpid()} on {platform.node()}"
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("DROP TABLE IF EXISTS holder")
        self.db.execute("CREATE TABLE holder AS SELECT ? AS name", (holder,))
        self.db.execute("COMMIT")  # so that others can read it
        self.db.execute("BEGIN IMMEDIATE")  # which others cannot while this goes on

    def _refuse(self, error: sqlite3.DatabaseError) -> None:
        if type(error) is sqlite3.DatabaseError:
            raise ResumeError(f"{self.path} is no lock ({error}): remove it") from error
        if "locked" not in str(error):
            raise error
        holder = self.db.execute("SELECT name FROM holder").fetchone()[0]
        raise ResumeError(
            f"{self.file} is in use by {holder}: wait until that ends, give another path, or, if "
            f"it has ended, remove {self.path}"
        ) from error

    def release(self) -> None:
        self.db.close()
        with contextlib.suppress(OSError):
            os.remove(self.path)

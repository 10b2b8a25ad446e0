"""A lock by which one process at a time works on a file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import platform
import sqlite3
import tempfile

from .errors import ResumeError

APPLICATION = 0x63723034  # "cr04", by which SQLite tells the owner and format of a file


def is_foreign(path: str) -> bool:
    """Whether a file is the database of another program or version. SQLite reads it as it stands:
    a journal beside it could alter it. (If Python closed it, this process would lose its locks.)"""
    if not os.path.exists(path) or not os.path.getsize(path):
        return False
    address = pathlib.Path(path).resolve().as_uri() + "?mode=ro&immutable=1"
    with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
        owner = db.execute("PRAGMA application_id").fetchone()[0]
    return bool(owner != APPLICATION)


def check_locks(path: str) -> None:
    """Raises ResumeError if the file system of a file has no locks, for which SQLite would wait."""
    with tempfile.TemporaryFile(dir=os.path.dirname(path) or ".") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ResumeError(
                f"{path} is on a file system without locks ({error.strerror}): give a path on "
                "another one, such as a local disk"
            ) from error


def database(path: str, timeout: float) -> sqlite3.Connection:
    """Opens a database. If there is none, it is made, and its owner alone can read it. The names
    that SQLite takes for other things than files, such as :memory:, are names of files here."""
    path = os.path.realpath(path)
    with contextlib.suppress(FileExistsError):  # an open file that is there would lose its locks
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return sqlite3.connect(path, timeout=timeout, isolation_level=None)


class Lock:
    """A lock on a file: SQLite's lock on a small database beside it, `path`.lock, which says who
    holds it. The system releases it when the process ends, however it ends, also on another host
    that shares the folder; a fork of the process does not hold it. The caller holds a transaction
    on that file while it makes or releases a lock, so that two processes never do so at once."""

    def __init__(self, path: str) -> None:
        """Raises ResumeError with the process and host that hold the lock."""
        self.file, self.path, self.process = path, os.path.realpath(path) + ".lock", os.getpid()
        try:
            if is_foreign(self.path):
                raise sqlite3.DatabaseError("it belongs to another program or version")
            self.db = database(self.path, timeout=0)
        except (OSError, sqlite3.OperationalError) as error:
            raise self._unusable(error) from error
        except sqlite3.DatabaseError as error:
            raise self._no_lock(error) from error
        try:
            self.db.execute("PRAGMA synchronous = OFF")  # what is lost with the host is of no use
            self._take()
        except BaseException as error:  # an interrupt too, whose traceback would keep the lock
            with contextlib.closing(self.db):
                if isinstance(error, sqlite3.DatabaseError):
                    self._refuse(error)
                raise

    def _take(self) -> None:
        holder = f"process {os.getpid()} on {platform.node()}"
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("DROP TABLE IF EXISTS holder")
        self.db.execute("CREATE TABLE holder AS SELECT ? AS name", (holder,))
        self.db.execute(f"PRAGMA application_id = {APPLICATION}")
        self.db.execute("COMMIT")  # so that others can read it
        self.db.execute("BEGIN IMMEDIATE")  # which others cannot while this goes on

    def _refuse(self, error: sqlite3.DatabaseError) -> None:
        if type(error) is sqlite3.DatabaseError:
            raise self._no_lock(error) from error
        if "locked" not in str(error):
            raise self._unusable(error) from error
        holder = self.db.execute("SELECT name FROM holder").fetchone()[0]
        raise ResumeError(
            f"{self.file} is in use by {holder}: wait until that ends, give another path, or, if "
            f"that host is gone, remove {self.path}"
        ) from error

    def _no_lock(self, error: Exception) -> ResumeError:
        return ResumeError(f"{self.path} is no lock ({error}): remove it")

    def _unusable(self, error: Exception) -> ResumeError:
        said = getattr(error, "strerror", None) or error
        return ResumeError(
            f"{self.path}, the lock of {self.file}, cannot be written ({said}): remove it, or "
            "give another path"
        )

    def release(self) -> None:
        self.db.close()
        if self.process == os.getpid():  # a fork must not remove the lock of its parent
            with contextlib.suppress(OSError):
                os.remove(self.path)

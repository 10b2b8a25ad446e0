"""Writes files."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import stat
from typing import Callable, Union

import numpy as np

AnyPath = Union[str, bytes, "os.PathLike[str]"]


def replace(
    path: AnyPath,
    data: bytes,
    secret: bool = False,
    commit: Callable[[str, str], object] = os.replace,
) -> None:
    """Writes a file that is either complete or as it was, also if the disk is full or the process
    is killed. Links are followed, and an existing file keeps its mode; only the owner can read a
    secret. A file that is not regular, such as /dev/stdout, is written directly. The complete file
    is first written beside `path`, and `commit` renames it. Raises OSError with this path."""
    place = os.path.realpath(os.fsdecode(path))
    made = os.path.join(os.path.dirname(place), f".certreg.{secrets.token_hex(8)}")
    try:
        there = os.path.exists(place)
        if there and not os.path.isfile(place):
            with open(path, "wb") as file:
                file.write(data)
            return
        if there and not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(os.open(made, flags, 0o600 if secret or there else 0o666), "wb") as file:
            if there and not secret:
                with contextlib.suppress(OSError):  # some file systems have no modes
                    os.fchmod(file.fileno(), stat.S_IMODE(os.stat(place).st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        commit(made, place)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fsdecode(path)) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(made)


def replace_arrays(path: AnyPath, **arrays: object) -> None:
    """Writes an .npz file, as `replace` does."""
    replace(path, archive_of(**arrays))


def archive_of(**arrays: object) -> bytes:
    """The bytes of an .npz file."""
    data = io.BytesIO()
    np.savez(data, **arrays)  # type: ignore[arg-type]
    return data.getvalue()

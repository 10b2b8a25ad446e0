"""Writes files in one step."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import stat
from typing import Callable, Union

import numpy as np

from .display import reason, warn

AnyPath = Union[str, bytes, "os.PathLike[str]"]


def place_of(path: AnyPath) -> str:
    """The path without links of a file that is written or resumed. In a folder that all may write
    to, such as /tmp, another user could lay a link under the expected name, and the file behind it
    would be lost; Linux refuses such links only with fs.protected_symlinks, and only if it follows
    them itself. Raises OSError for them, and for links without an end."""
    given = os.fsdecode(path)
    if os.name == "nt":
        return os.path.realpath(given)
    place = os.sep if os.path.isabs(given) else os.getcwd()
    rest, left = given.split(os.sep)[::-1], 40  # links, as in Linux
    while rest:
        folder, place = place, os.path.normpath(os.path.join(place, rest.pop()))
        if os.path.islink(place):
            _check_link(place, folder)
            left -= 1
            if not left:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), given)
            target = os.readlink(place)
            place = os.sep if os.path.isabs(target) else folder
            rest += target.split(os.sep)[::-1]
    return place


def _check_link(link: str, folder: str) -> None:
    """Raises OSError for a link that belongs neither to this user nor to the owner of a folder in
    which all may write."""
    there, for_all = os.stat(folder), stat.S_ISVTX | stat.S_IWOTH
    if there.st_mode & for_all == for_all:
        if os.lstat(link).st_uid not in (os.geteuid(), there.st_uid):
            why = "is a link of another user in a folder for all: remove it, or give another path"
            raise OSError(errno.EPERM, f"{link} {why}", link)


def replace(
    path: AnyPath,
    data: bytes,
    secret: bool = False,
    commit: Callable[[str, str], object] = os.replace,
) -> None:
    """Writes a file that is either complete or as it was, also if the disk is full or the process
    is killed. Links are followed by `place_of`, and an existing file keeps its mode; only the owner
    can read a secret. A file that is not regular, such as /dev/stdout, is written directly. The
    complete file is first written beside `path`, and `commit` renames it. Raises OSError with this
    path."""
    made = ""
    try:
        place = place_of(path)
        made = os.path.join(os.path.dirname(place), f".certreg.{secrets.token_hex(8)}")
        there = os.path.exists(place)
        if there and not os.path.isfile(place):
            with open(place, "wb") as file:
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
        raise OSError(error.errno, reason(error), os.fsdecode(path)) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(made)


def warn_of_name(path: AnyPath, own: str, remedy: str) -> None:
    """Warns if the name of a file is that of another format than its own."""
    name = os.fsdecode(path)
    is_known = name.lower().endswith((".csv", ".csv.gz", ".json", ".npz", ".parquet", ".xlsx"))
    if is_known and not name.lower().endswith(own):
        warn(f"{name} is written in the format {own}: {remedy}")


def replace_arrays(path: AnyPath, secret: bool = False, **arrays: object) -> None:
    """Writes an .npz file, as `replace` does. Warns of another name."""
    warn_of_name(path, ".npz", "for a table use to_frame().to_csv(path)")
    data = io.BytesIO()
    np.savez(data, **arrays)  # type: ignore[arg-type]
    replace(path, data.getvalue(), secret)

"""Finds and opens the shared library."""

from __future__ import annotations

import ctypes as C
import os
import pathlib
import sys

from ._ctypes import u32
from ._structs import FUNCTIONS
from .constants import VERSION_NUMBER

MAJOR = VERSION_NUMBER // 10000
NAME = {"darwin": f"libcertreg.{MAJOR}.dylib", "win32": "libcertreg.dll"}.get(
    sys.platform, f"libcertreg.so.{MAJOR}"
)


def _path() -> str:
    """CERTREG_LIB if it is set, else the library inside the package or in the repository around it,
    else the name of an installed library."""
    here = pathlib.Path(__file__).resolve().parent
    for path in (here / "lib" / NAME, here.parents[1] / "lib" / NAME):
        if path.exists():
            return os.environ.get("CERTREG_LIB") or str(path)
    return os.environ.get("CERTREG_LIB") or NAME


def _opened() -> tuple[str, C.CDLL]:
    path = _path()
    try:
        lib = C.CDLL(path)  # other threads can run during its calls
    except OSError as error:
        raise ImportError(f"{error}; set CERTREG_LIB to the path of the library") from None
    lib.certreg_version.restype = u32
    found = lib.certreg_version()
    if found // 10000 != VERSION_NUMBER // 10000 or found < VERSION_NUMBER:
        raise ImportError(
            f"{path} has version {found}; this package needs {VERSION_NUMBER} "
            "or a later one of the same major version"
        )
    for name, (result, *parameters) in FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, parameters
    return path, lib


library_path, lib = _opened()  # the file of the library, and its functions


def version() -> int:
    """Return the version number of the loaded library: 10000 * major + 100 * minor + patch."""
    return int(lib.certreg_version())

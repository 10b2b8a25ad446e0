"""Optional packages."""

from __future__ import annotations

import importlib
import sys

from ._types import Package


def needed(name: str, what: str) -> Package:
    """Imports a package for `what`. Raises ImportError if the package is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install {package} ({error})") from None


def installed(*names: str) -> Package | None:
    """Imports the first of these modules that is installed. Returns None if there is none."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    return None


def of_class(thing: object, module: str, name: str) -> bool:
    """Returns True if `thing` is an instance of a class in a module. The module is not imported:
    before an import there are no instances."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(thing, kind)

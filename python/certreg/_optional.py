"""Optional packages."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Optional


def needed(name: str, what: str) -> Any:
    """Imports a package that `what` needs. Raises ImportError if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install {package} ({error})") from None


def installed(*names: str) -> Optional[Any]:
    """Imports the first of these modules that is installed; None if none is."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    return None


def of_class(thing: Any, module: str, name: str) -> bool:
    """Whether `thing` is an instance of a class in a module. Does not import the module: without
    it there are no instances."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(thing, kind)

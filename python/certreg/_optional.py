"""Packages that are used where they are installed."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def needed(name: str, what: str) -> Any:
    """A package that `what` cannot do without."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install {package} ({error})") from None


def of_class(thing: Any, module: str, name: str) -> bool:
    """Whether something is an instance of a class. Whoever has an instance has imported its
    module, so it need not be imported to know."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(thing, kind)

"""The model that a word of the command line means, and what it takes and returns."""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import sys
from typing import Any, Optional, Tuple

import numpy as np

from ..models import OnnxModel, as_model, is_factory
from .failure import MODEL, Failure, described

Shape = Tuple[Optional[int], ...]


class Model:
    """A model as certify_rows takes it.

    function  an OnnxModel, or a factory
    shape     of an input, where the model says it; None for a length that is free
    digest    of its file, SHA-256
    identity  what a resume file calls it. A Python file may be mended without being another model,
              which the resume file finds out by its outputs"""

    def __init__(self, word: str) -> None:
        self.word = word
        self.shape: Optional[Shape] = None
        if word.lower().endswith(".onnx"):
            self.function = self._onnx()
            self.digest = self.identity = _digest(word)
        else:
            self.function, path = _python(word)
            self.digest, self.identity = _digest(path), os.path.basename(word)

    def _onnx(self) -> Any:
        if not os.path.isfile(self.word):
            raise Failure(f"{self.word} is no file; give the model as .onnx or as file.py:name")
        try:
            model = OnnxModel(self.word)
        except (ImportError, OSError, ValueError) as error:
            raise Failure(error) from None
        self.shape = tuple(model.shape)
        return model

    def fitted(self, X: np.ndarray, name: str) -> np.ndarray:
        """The inputs in the shape that the model takes."""
        shape, wanted = X.shape[1:], self.shape
        if wanted is None or _agree(shape, wanted):
            return X
        lengths = [length for length in wanted if length is not None]
        if len(lengths) == len(wanted) and np.prod(shape) == np.prod(lengths):
            return X.reshape(len(X), *lengths)
        said = ", ".join("any" if length is None else str(length) for length in wanted)
        raise Failure(
            f"{name} has inputs of shape {_said(shape)}; {self.word} takes inputs of shape ({said})"
        )

    def columns(self, X: np.ndarray, first: int) -> int:
        """How many columns the model returns, from a call with the first row."""
        try:
            model = self.function() if isinstance(self.function, Named) else self.function
            answer = np.asarray(as_model(model)(X[:1]))
        except Exception as error:
            raise Failure(f"the model failed in row {first}: {described(error)}", MODEL) from error
        if answer.dtype.kind not in "buif" or answer.ndim not in (1, 2) or len(answer) != 1:
            raise Failure(
                f"the model returned {answer.dtype} of shape {answer.shape} for one row; it must "
                "return numbers of shape (rows,) or (rows, outputs)",
                MODEL,
            )
        return 1 if answer.ndim == 1 else answer.shape[1]


def _digest(path: Optional[str]) -> str:
    """Of a file; empty where a module has none."""
    if path is None:
        return ""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _agree(shape: Tuple[int, ...], wanted: Shape) -> bool:
    return len(shape) == len(wanted) and all(b in (None, a) for a, b in zip(shape, wanted))


def _said(shape: Tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


class Named:
    """A factory of the Python model with a name. Another process makes it from the name again, so
    that the model itself need not be sent there."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name
        self.model: Any = None

    def __reduce__(self) -> Any:
        return Named, (self.module, self.name)

    def __call__(self) -> Any:
        if self.model is None:
            found = self.found()
            self.model = found() if is_factory(found) else found
        return self.model

    def found(self) -> Any:
        """What the name stands for. AttributeError: nothing."""
        return functools.reduce(getattr, self.name.split("."), importlib.import_module(self.module))


def _python(word: str) -> Tuple[Named, Optional[str]]:
    """What a name in a Python file or module stands for, and the path of the file."""
    place, _, name = word.rpartition(":")
    if not place or not name:
        raise Failure(f"{word} is no model: give model.onnx, file.py:name or package.module:name")
    module = _module(place)
    named = Named(module.__name__, name)
    try:
        found = named.found()
    except AttributeError:
        raise Failure(f"{place} has nothing named {name}") from None
    if not callable(found) and not hasattr(found, "predict"):
        raise Failure(f"{word} is {type(found).__name__}; a model is a function or has .predict")
    return named, getattr(module, "__file__", None)


def _module(place: str) -> Any:
    """The module, imported under its own name, by which processes can import it too."""
    is_file = place.endswith(".py")
    if is_file and not os.path.isfile(place):
        raise Failure(f"{place} is no file")
    folder, name = os.path.split(place[:-3]) if is_file else ("", place)
    sys.path.insert(0, os.path.abspath(folder))
    try:
        module = importlib.import_module(name)
    except Exception as error:
        raise Failure(f"{place} cannot be imported: {described(error)}") from error
    if is_file and not os.path.samefile(module.__file__ or "/", place):
        raise Failure(f"{place} has the name of another module, {name}; rename the file")
    return module

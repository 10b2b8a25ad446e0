"""Loads the model of a command, and matches shapes of files with its shapes."""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import importlib
import os
import re
import sys
import warnings
from typing import Any, Callable, Iterator, Mapping, Sequence, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Frame, Function, Names, Shape, needed
from ..frames import is_frame, names_of, owner_of
from ..inputs import of_lightgbm
from ..models import OnnxModel, as_model, is_factory, session_of
from ..onnx_file import Lengths, agree, reshaped, shape_text
from ..onnx_file import described as tensor_text
from .files import read_array
from .report import in_options
from .streams import MODEL, RAISED, Failure, described, model_failed

Module: TypeAlias = Any  # of Python
Booster: TypeAlias = Any  # of XGBoost
Factory = Callable[[], object]
TREES = (".json", ".ubj", ".txt")  # files of trees


class Model:
    """A model as certify_rows takes it.

    function  an OnnxModel, or a factory
    shape     shape of an input, with None for free lengths; None if it is unknown
    digest    SHA-256 of its file, in hexadecimal
    settings  options for parts of a file, as a text
    remarks   texts about choices that no option has made
    by_columns   True for an .onnx file with an input for each column of a table, and for trees of
             LightGBM with categories
    identity  name in a resume file: digest and settings of a model's own file; for Python only the
              name of the model, since its file may be edited without changing the outputs

    Raises Failure if there is no such model."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.word = word = given.model
        self.function: OnnxModel | Factory
        self.shape: Lengths | None = None
        self.settings, self.by_columns = "", False
        self.remarks: list[str] = []
        missing = getattr(given, "missing", None)
        if missing is not None and not word.lower().endswith((".json", ".ubj")):
            raise Failure("--missing is for files of XGBoost: leave it out")
        if is_onnx(word):
            model = self._onnx(given)
            self.function, self.by_columns = model, isinstance(model.input, list)
            self.settings = model._told()
        else:
            if given.constant or given.columns:
                raise Failure(
                    f"--{'constant' if given.constant else 'columns'} is for .onnx files; in "
                    "file.py:name a function can supply other inputs and return some columns"
                )
            if given.tensor:
                raise Failure(
                    f"--output is {given.tensor!r}; for {word} it must be the index of an output "
                    "(-o names the file of results)"
                )
            if is_python_name(word):
                self.function, path = _python(word)
                self.digest, self.identity = _digest(path), os.path.basename(word)
                return
            _check_file(word)
            marks = {} if missing is None else {"missing": missing}
            self.function = functools.partial(_trees, os.path.abspath(word), **marks)
            self.by_columns = bool(getattr(owner_of(self.function()), "pandas_categorical", None))
            self.settings = "".join(f"missing={value!r}" for value in marks.values())
        self.digest = _digest(word)
        self.identity = f"{self.digest} {self.settings}".strip()

    def _onnx(self, given: argparse.Namespace) -> OnnxModel:
        with _failures(self.word), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model = OnnxModel(
                self.word,
                output=given.tensor,
                constants=_constants(given.constant or []),
                columns=range(*given.columns) if given.columns else None,
            )
        self.remarks = [in_options(warning.message) for warning in warned]
        self.shape = tuple(model.shape)
        return model

    def made(self) -> object:
        """The model itself, for use in this process."""
        return self.function if isinstance(self.function, OnnxModel) else self.function()

    def names(self, beside: Names) -> Names:
        """The names of its features; see names_of."""
        try:
            return names_of(as_model(self.made()), beside)
        except RAISED as error:
            raise model_failed(error) from error

    def fitted(self, X: Frame, name: str) -> Frame:
        """The inputs of the file `name` in the shape of the model. Either shape may be flat.
        Raises Failure if the shapes do not fit."""
        shape, expected = X.shape[1:], self.shape
        if expected is None or agree(shape, expected):
            return X
        if None not in expected:
            with contextlib.suppress(ValueError):
                return reshaped(X, cast(Shape, expected))
        text = f"{self.word} takes inputs of shape {shape_text(expected)}"
        if agree(X.shape, expected):
            text += f"; a file of one input has the shape {shape_text((1, *X.shape))}"
        if len(shape) == 3 and agree((shape[2], *shape[:2]), expected):
            text += "; X.transpose(0, 3, 1, 2) puts the channels first"
        raise Failure(f"{name} has inputs of shape {shape_text(shape)}; {text}")

    def columns(self, X: Frame, first: int) -> int:
        """The number of columns of the model. Calls it with the first row, which has the number
        `first`."""
        try:
            answer = np.asarray(as_model(self.made())(X[:1]))
        except RAISED as error:
            raise model_failed(error, f" in row {first}") from error
        if answer.dtype.kind not in "buif" or answer.ndim not in (1, 2) or len(answer) != 1:
            raise Failure(
                f"the model returned {answer.dtype} of shape {answer.shape} for one row; it must "
                "return numbers of shape (rows,) or (rows, outputs)",
                MODEL,
            )
        return 1 if answer.ndim == 1 else answer.shape[1]


def _check_file(path: str) -> None:
    if not os.path.isfile(path):
        raise Failure(f"there is no file {path}; give a model.onnx or file.py:name")


@contextlib.contextmanager
def _failures(path: str) -> Iterator[None]:
    """Turns exceptions of an .onnx file into a Failure."""
    _check_file(path)
    try:
        yield
    except (ImportError, OSError, TypeError, ValueError) as error:
        raise Failure(in_options(error)) from None


def facts(given: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """What the command info tells of a model."""
    if not is_onnx(given.model):
        other = Model(given)
        yield from (("model", given.model), ("sha256", other.digest))
        yield "features", ", ".join(other.names(None) or ["without names"])
        return
    with _failures(given.model):
        session = session_of(given.model)
    inputs, outputs = session.get_inputs(), session.get_outputs()
    yield "model", given.model
    try:
        model = Model(given)
    except Failure as why:  # print the tensors all the same
        yield from (("input", tensor_text(tensor)) for tensor in inputs)
        yield from (("output", tensor_text(tensor)) for tensor in outputs)
        yield "refused", str(why)
        return
    yield "sha256", model.digest
    network = cast(OnnxModel, model.function)
    rows = network.batch or "rows"
    if model.by_columns:
        columns = (tensor for tensor in inputs if tensor.name in network.input)
        yield from (("column", tensor_text(tensor)) for tensor in columns)
    else:
        yield "input", f"{network.input} {shape_text((rows, *network.shape))}"
    yield "output", f"{network.output} {shape_text((rows, network.columns))}"
    if model.settings:
        yield "settings", model.settings
    others = (tensor for tensor in outputs if tensor.name != network.output)
    yield from (("other output", tensor_text(tensor)) for tensor in others)
    if network.feature_names_in_ and not model.by_columns:
        yield "features", ", ".join(network.feature_names_in_)
    yield "batch", "free" if network.batch is None else f"fixed, {network.batch} at a time"


def _constants(options: Sequence[str]) -> dict[str, ArrayLike]:
    """The constants of --constant by their names."""
    found: dict[str, ArrayLike] = {}
    for option in options:
        name, _, text = option.partition("=")
        if not name or not text:
            raise Failure(f"--constant is {option!r}; it must be NAME=VALUE")
        if name in found:
            raise Failure(f"--constant {name} is given twice")
        try:
            if text.lower().endswith(".npy"):
                found[name] = read_array(text)[0]
            else:
                found[name] = int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
        except ValueError:
            raise Failure(
                f"--constant is {option!r}; its value must be a number or a .npy file"
            ) from None
    return found


def _digest(path: str | None) -> str:
    """SHA-256 of a file in hexadecimal; empty for a module without a file."""
    if path is None:
        return ""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def is_onnx(word: str) -> bool:
    return word.lower().endswith(".onnx")


def is_python_name(word: str) -> bool:
    """Returns True if a model is a name in Python."""
    return not word.lower().endswith((".onnx", *TREES))


class Named:
    """A factory of a Python model by its name. Other processes get the name only, and import the
    model again."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name
        self.model: object = None

    def __reduce__(self) -> tuple[object, ...]:
        return Named, (self.module, self.name)

    def __call__(self) -> object:
        if self.model is None:
            found = self.found()
            self.model = cast(Factory, found)() if is_factory(found) else found
        return self.model

    def found(self) -> object:
        """The object with this name. Raises AttributeError if there is none."""
        found: object = importlib.import_module(self.module)
        for name in self.name.split("."):
            found = getattr(found, name)
        return found


def _python(word: str) -> tuple[Named, str | None]:
    """The factory for a name in a Python file or module, and the path of the file."""
    place, _, name = word.rpartition(":")
    if not place or not name:
        raise Failure(
            f"{word} is no model: give model.onnx, file.py:name (which may load a pickle) or "
            "package.module:name"
        )
    module = _module(place)
    named = Named(module.__name__, name)
    try:
        found = named.found()
    except AttributeError:
        raise Failure(f"{place} has nothing named {name}") from None
    if not callable(found) and not hasattr(found, "predict"):
        raise Failure(f"{word} is {type(found).__name__}; it must be a function or have .predict")
    return named, getattr(module, "__file__", None)


def _module(place: str) -> Module:
    """Imports a module or file under its own name, so that other processes can import it too."""
    is_file = place.endswith(".py")
    if is_file and not os.path.isfile(place):
        raise Failure(f"there is no file {place}")
    folder, name = os.path.split(place[:-3]) if is_file else ("", place)
    sys.path.insert(0, os.path.abspath(folder))
    try:
        module = importlib.import_module(name)
    except RAISED as error:
        other = os.path.isfile(place) and not is_file
        why = "it is no Python file; file.py:name may load it" if other else described(error)
        raise Failure(f"{place} cannot be imported: {why}") from error
    if is_file and not os.path.samefile(module.__file__ or "/", place):
        raise Failure(f"{place} has the name of another module, {name}; rename the file")
    return module


# ---- trees
# "version":[3,2,0] in .json, and in .ubj version[#L, a count of 8 bytes, each number behind an i
_SAVED_BY = re.compile(rb'version(?:" ?: ?\[ ?(\d+) ?, ?(\d+)|\[#L.{8}i(.)i(.))', re.DOTALL)
_IN_PYTHON = "write a .py file with a function that calls it as your application does"


@functools.lru_cache
def _trees(path: str, **marks: float) -> Function:
    """The model in a file, for one thread. `marks` may have the number that marks a missing value
    for XGBoost. Raises Failure if the file cannot be opened, or does not determine the
    prediction."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        found = (_lightgbm if path.lower().endswith(".txt") else _xgboost)(path, data)
        return functools.partial(as_model(found), **marks)
    except (Failure, ImportError) as error:
        raise Failure(error) from None
    except RAISED as error:
        raise Failure(f"{path} cannot be opened: {described(error)}") from None


def _xgboost(path: str, data: bytes) -> Booster:
    xgboost = needed("xgboost", path)
    own = tuple(int(part) for part in xgboost.__version__.split(".")[:2])
    saved = [(int(a), int(b)) if a else (c[0], d[0]) for a, b, c, d in _SAVED_BY.findall(data)]
    if not saved:
        raise Failure(f"{path} is no model that XGBoost saved: it has no version")
    if max(saved) > own:
        later = ".".join(map(str, max(saved)))
        raise Failure(
            f"XGBoost {later} saved {path}, which XGBoost {xgboost.__version__} may misread: pip "
            f"install 'xgboost>={later}'"
        )
    booster = xgboost.Booster({"nthread": 1}, model_file=path)
    if booster.attr("best_score") is not None:  # others have a best_iteration too, of XGBoost 1
        raise Failure(f"{path} was stopped early, and its last trees may count: {_IN_PYTHON}")
    if "c" in (booster.feature_types or ()):
        raise Failure(f"{path} has categories, which noise cannot change: {_IN_PYTHON}")
    return booster


def _lightgbm(path: str, data: bytes) -> Function:
    lightgbm = needed("lightgbm", path)
    if not data.startswith(b"tree"):
        raise Failure(f"{path} is no model that LightGBM saved")
    coded = re.search(rb"^num_cat=[1-9]", data, re.MULTILINE)
    if coded and not re.search(rb"^pandas_categorical:\[\[", data, re.MULTILINE):
        raise Failure(f"{path} has categories, and not their names: {_IN_PYTHON}")
    booster = lightgbm.Booster(model_file=path)
    if coded:
        kinds = dict(zip(of_lightgbm(booster), booster.pandas_categorical, strict=True))
        booster.__class__ = _with_categories(lightgbm.Booster, kinds, path)
    return functools.partial(booster.predict, num_threads=1)


def _with_categories(base: Any, kinds: Mapping[int, Sequence[object]], path: str) -> Any:
    """The class of a Booster that takes tables with these categories, which its file keeps."""

    class Coded(base):  # type: ignore[misc]
        def predict(self, x: Frame, **more: Any) -> Any:
            if not is_frame(x):
                raise TypeError(f"{path} has categories: give a table with names of columns")
            coded, pandas = x.copy(deep=False), needed("pandas", path)
            for j, known in kinds.items():
                column = x.iloc[:, j]
                if not (column.isin(known) | column.isna()).all():
                    raise ValueError(f"column {x.columns[j]!r} has other categories than {path}")
                coded.isetitem(j, pandas.Categorical(column, known))
            return super().predict(coded, **more)

    return Coded

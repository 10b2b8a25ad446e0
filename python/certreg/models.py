"""Models of other packages as functions of arrays."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import json
import math
import os
import re
import sys
import threading
import types
from typing import Any, Callable, Iterator, Mapping, Sequence, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Data, Frame, Function, Model, Names, Path, Session, Shape, Tensor
from .arguments import abbreviated, needed, of_class
from .arrays import DeviceArray, frame_as_array, in_pieces, rows_at_once
from .display import warn
from .library import ModelWarning
from .onnx_file import DTYPES, Constants, columns_of, lengths, reshaped, taken, varied
from .onnx_file import warn_of_others

HIDDEN = 10  # times the input: the largest layer of a network that does not show its layers
LEAST_PIECE = rows_at_once(sys.maxsize)
_RANGE = "a range, such as range(3, 6) for the columns 3, 4 and 5"
Provider = str | tuple[str, Mapping[str, object]]  # of ONNX Runtime, with options


def _names(session: Session) -> list[str] | None:
    """The JSON list of texts under the key feature_names of the file's metadata; None if there is
    none."""
    try:
        names = json.loads(session.get_modelmeta().custom_metadata_map["feature_names"])
    except (KeyError, ValueError):
        return None
    return names if isinstance(names, list) and all(isinstance(n, str) for n in names) else None


class SessionModel:
    """An onnxruntime.InferenceSession as a function of an array, or of a DataFrame."""

    def __init__(
        self,
        session: Session,
        input: str | None = None,
        output: str | None = None,
        constants: Mapping[str, ArrayLike] | None = None,
        columns: range | None = None,
    ) -> None:
        inputs, outputs, fixed = session.get_inputs(), session.get_outputs(), dict(constants or {})
        self._entries, given = varied(inputs, input, fixed), taken(outputs, output, "output")
        entry, several = self._entries[0], len(self._entries) > 1
        sides = lengths(entry.shape)
        if len(sides) < 2 and not several:
            raise ValueError(
                f"input {entry.name!r} of the model has shape {entry.shape}; its first dimension "
                "must be the rows and others the features: export it so"
            )
        self.session, self.output = session, given.name
        self.input = [one.name for one in self._entries] if several else entry.name
        self.batch = sides[0]
        self.shape = (len(self._entries),) if several else sides[1:]
        self._chosen = _checked(columns)
        self._constants = Constants(inputs, fixed, entry.shape[0])
        self._on_cpu = session.get_providers()[:1] == ["CPUExecutionProvider"]
        self.columns = self._count(lengths(given.shape))
        self.feature_names_in_ = self.input if several else _names(session)
        if output is None:
            warn_of_others(outputs)

    @property
    def exact(self) -> dict[int, str]:
        """The kind of each feature that holds no floats and so cannot get noise."""
        kinds = {j: t.type[7:-1] for j, t in enumerate(self._entries) if t.type not in DTYPES}
        return {j: f"values of type {kind}" for j, kind in kinds.items()}

    def _count(self, sides: Sequence[int | None]) -> int | None:
        """The number of columns that are returned; None if it is not in the file."""
        of_row = sides if self.batch == 1 else sides[1:]
        free = not sides or None in of_row  # an unknown shape has no lengths
        count = None if free else math.prod(of_row)  # type: ignore[arg-type]
        if count is not None:
            self._check_range(count)
        return count if self._chosen is None else len(self._chosen)

    def _check_range(self, count: int) -> None:
        if self._chosen is not None and self._chosen.stop > count:
            some = f"{self._chosen.start}:{self._chosen.stop}"
            raise ValueError(
                f"columns {some} of output {self.output!r} are not there: it has {count} in a row"
            )

    def __call__(self, x: Data) -> np.ndarray:
        rows: Frame = x if hasattr(x, "shape") else np.asarray(x)
        fed, count = self._fed(rows), len(rows)
        batch = self.batch or self._piece(fed, count)
        if count == batch:
            return self._run(fed, count)
        parts = [self._part(fed, first, batch) for first in range(0, count, batch)]
        whole: np.ndarray = np.concatenate(parts)[:count]
        return whole

    def _piece(self, fed: Mapping[str, np.ndarray], count: int) -> int:
        """The rows of a call. A file does not show its layers."""
        width = HIDDEN * sum(x.nbytes for x in fed.values()) // max(1, count)
        return min(count, rows_at_once(width)) if self._on_cpu and width else count

    def _fed(self, x: Frame) -> dict[str, np.ndarray]:
        """The inputs that vary, by their names."""
        if len(self._entries) > 1:
            return columns_of(self._entries, x)
        values = frame_as_array(x, DTYPES[self._entries[0].type])
        if None not in self.shape and values.shape[1:] != self.shape:
            values = reshaped(values, cast(Shape, self.shape))
        return {self._entries[0].name: values}

    def _part(self, fed: Mapping[str, np.ndarray], first: int, batch: int) -> np.ndarray:
        """The outputs of the next `batch` rows. If the model takes just so many, the last row is
        repeated until they are there."""
        part = {name: x[first : first + batch] for name, x in fed.items()}
        count = len(next(iter(part.values())))
        missing = batch - count if self.batch else 0
        if missing:
            part = {n: np.concatenate([x, np.repeat(x[-1:], missing, 0)]) for n, x in part.items()}
        return self._run(part, count + missing)

    def _run(self, fed: Mapping[str, np.ndarray], count: int) -> np.ndarray:
        given = {**fed, **self._constants.for_rows(count)}
        y: np.ndarray = np.asarray(self.session.run([self.output], given)[0])
        if y.shape[:1] != (count,):
            if self.batch != 1:
                raise ValueError(
                    f"output {self.output!r} of the model has shape {y.shape} for {count} rows; "
                    "it must have one row for each of them"
                )
            y = y[np.newaxis]  # all of it belongs to the only row
        if self._chosen is None:
            return y if y.ndim <= 2 else y.reshape(len(y), -1)
        y = y.reshape(len(y), -1)
        self._check_range(y.shape[1])  # a slice would be shorter without an error
        return y[:, self._chosen.start : self._chosen.stop]


def _checked(columns: range | None) -> range | None:
    if columns is None:
        return None
    if not isinstance(columns, range):
        raise TypeError(f"columns is {abbreviated(columns)}; it must be {_RANGE}")
    if columns.step != 1 or not 0 <= columns.start < columns.stop:
        raise ValueError(f"columns is {columns}; it must be {_RANGE}")
    return columns


class OnnxModel(SessionModel):
    """A model in an ONNX file, run by ONNX Runtime.

    Call it with float32 of shape ``(rows, *shape)`` or (rows, features); it returns (rows,) or
    (rows, columns). If the file has an input of shape (rows, 1) for each column of a table, call it
    with DataFrames that have the names of the inputs, or with an array if all inputs are numbers.
    It can be pickled: another process then opens the file again.

    Parameters
    ----------
    path : str or path
        Path of the file.
    input : str, optional
        Name of the input that varies; by default the only one without a constant, or all inputs
        that are columns.
    output : str, optional
        Name of the output; by default the first one, with a warning if there are several.
    constants : mapping, optional
        Values of all other inputs by their names, such as ``{"fmin": 46.9}``: numbers, or arrays of
        the shape of the input. A number fills the array if the file fixes its shape. If a length of
        such an input has the name of the batch in the file, give the value for one row.
    columns : range, optional
        The columns of the output to return, such as ``range(3, 6)``; by default all. The outputs of
        a row are flattened first.
    threads : int
        Threads of one call; 0: the default of ONNX Runtime.
    providers : sequence, optional
        Execution providers of ONNX Runtime; by default the CPU.

    Attributes
    ----------
    shape : tuple
        Shape of a row, with None for free lengths.
    columns : int or None
        Number of columns that it returns; None if it is not in the file.
    batch : int or None
        Rows of one call; None: free. If it is fixed, the last call repeats a row until the batch is
        full. If it is 1, an output of any shape is one row.
    input, output : str
        Names of the tensors; a list for columns.
    feature_names_in_ : list of str or None
        Names of the features: the inputs that are columns, or a JSON list under the key
        feature_names of the file's metadata.
    path : str
        Absolute path of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not an ONNX model, if its inputs or output have other types and shapes, or if a
        constant is missing or does not fit.
    TypeError
        For a constant that is no number.
    ImportError
        If onnxruntime is missing."""

    def __init__(
        self,
        path: Path,
        *,
        input: str | None = None,
        output: str | None = None,
        constants: Mapping[str, ArrayLike] | None = None,
        columns: range | None = None,
        threads: int = 1,
        providers: Sequence[Provider] | None = None,
    ) -> None:
        self.path = os.path.abspath(path)
        session = session_of(self.path, threads, providers)
        super().__init__(session, input, output, constants, columns)
        self._again = functools.partial(
            OnnxModel,
            self.path,
            input=input,
            output=self.output,  # so that no other process warns again
            constants=self._constants.values,
            columns=columns,
            threads=threads,
            providers=providers,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return self._again, ()

    def _told(self) -> str:
        """A text that identifies output, columns and constants; empty for the first output of a
        model with one input."""
        first = self.session.get_outputs()[0].name
        output = "" if self.output == first else f"output={self.output} "
        columns = f"columns={self._chosen.start}:{self._chosen.stop} " if self._chosen else ""
        return f"{output}{columns}{self._constants.fingerprint()}".strip()


def session_of(path: str, threads: int = 1, providers: Sequence[Provider] | None = None) -> Session:
    """An onnxruntime.InferenceSession; see OnnxModel."""
    runtime = needed("onnxruntime", "OnnxModel")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path}")
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 4  # not errors, which are raised as exceptions
    try:
        return runtime.InferenceSession(
            path, options, providers=list(providers or ["CPUExecutionProvider"])
        )
    except Exception as error:  # its classes cannot be imported by name
        why = str(error).splitlines()[0].split(" failed:")[-1]  # after its own text on the path
        why = _newer(str(error), runtime.__version__) or why
        raise ValueError(f"{path} cannot be opened as an ONNX model: {why}") from None


def _newer(message: str, version: str) -> str:
    """The reason and remedy if ONNX Runtime refuses a newer file; empty otherwise."""
    opset, form = r"Opset (\d+) .*till (opset) (\d+)", r"(\d+), max supported (IR version): (\d+)"
    found = re.search(opset, message) or re.search(form, message)
    if not found:
        return ""
    has, what, knows = found.groups()
    return (
        f"it has {what} {has}, and ONNX Runtime {version} reads versions up to {knows}: export it "
        f"with {what} {knows}, or pip install -U onnxruntime"
    )


TorchModule: TypeAlias = Any  # a torch.nn.Module
Estimator: TypeAlias = Any  # of scikit-learn, XGBoost or LightGBM


def writable(x: np.ndarray) -> np.ndarray:
    """An array in the same memory without the mark that it is read-only. It keeps x alive."""
    if x.flags.writeable:
        return x
    there = {**x.__array_interface__, "data": (x.ctypes.data, False)}
    return np.asarray(types.SimpleNamespace(owner=x, __array_interface__=there))


_MODES = threading.Lock()
_CALLS: dict[int, tuple[int, list[TorchModule]]] = {}  # of a module: their number, parts to restore


@contextlib.contextmanager
def _evaluating(module: TorchModule) -> Iterator[None]:
    """A context in which a module is in evaluation mode. After it, or the last of those in several
    threads, each part has its own mode again. An exported program keeps the mode of its export, and
    refuses a change."""
    with _MODES:
        count, parts = _CALLS.get(id(module), (0, []))
        training = [part for part in module.modules() if part.training]
        _CALLS[id(module)] = count + 1, parts + training
        if training:
            with contextlib.suppress(NotImplementedError):
                module.eval()
    try:
        yield
    finally:
        with _MODES:
            count, parts = _CALLS.pop(id(module))
            if count > 1:
                _CALLS[id(module)] = count - 1, parts
            else:
                for part in parts:
                    part.training = True  # train() would change its children too


class TorchModel:
    """A torch.nn.Module as a function of float32 arrays (rows, *shape). Each call is in evaluation
    mode, on the module's device and in its precision. DataFrames are passed as arrays.

    The module works on the memory of the batch without a copy. The array is passed without the
    mark that it is read-only, because torch would warn about it. Modules may write there, as
    ReLU(inplace=True) does. This does no harm: the library draws each batch just before the call,
    reads only the outputs after it, and draws the noise again from the seed if it needs it."""

    def __init__(self, module: TorchModule) -> None:
        torch, self.module = sys.modules["torch"], module
        places = [(p.device, p.dtype) for p in module.parameters() if p.is_floating_point()]
        self.place = places[0] if places else (torch.device("cpu"), torch.float32)
        self.piece = 0  # rows that are computed at once; 0: not yet known

    def __call__(self, x: np.ndarray) -> np.ndarray:
        torch, module = sys.modules["torch"], self.module
        with _evaluating(module), torch.inference_mode():
            rows = torch.from_numpy(writable(frame_as_array(x, np.float32)))
            if not self.piece and len(rows) > LEAST_PIECE:
                self.piece = self._fitting(rows[:LEAST_PIECE])
            y = in_pieces(self._called, rows, self.piece or len(rows), torch.clone, torch.cat)
            kept = y.dtype if y.dtype == torch.float64 else torch.float32
            answer: np.ndarray = y.to("cpu", kept).numpy()
        return answer


    def _called(self, rows: Tensor) -> Tensor:
        """The outputs for rows. Raises ValueError for a module that was exported for another
        number of rows."""
        try:
            return _tensor(self.module(rows.to(*self.place)))
        except AssertionError as error:
            if not str(error).startswith("Guard failed"):
                raise
            raise ValueError(
                f"the exported program refuses {tuple(rows.shape)} ({error}): export it for any "
                "number of rows, torch.export.export(..., dynamic_shapes=({0: "
                "torch.export.Dim('rows')},))"
            ) from None

    def _fitting(self, rows: Tensor) -> int:
        """The number of rows that suits the largest layer on a CPU, which a call with these rows
        shows. A scripted module does not show its layers."""
        torch, sizes = sys.modules["torch"], [4 * rows.numel()]
        mode = getattr(torch.overrides, "TorchFunctionMode", None)  # not before 1.13
        if self.place[0].type != "cpu" or mode is None:
            return sys.maxsize
        if isinstance(self.module, torch.jit.ScriptModule):
            return rows_at_once(HIDDEN * sizes[0] // len(rows))

        class Watched(mode):  # type: ignore[misc,valid-type]
            """The functions that a module calls."""

            def __torch_function__(
                self, function: Function, types: object, args: Any = (), kwargs: Any = None
            ) -> object:
                made = function(*args, **(kwargs or {}))
                for y in made if isinstance(made, tuple) else (made,):
                    if isinstance(y, torch.Tensor):
                        sizes.append(y.numel() * y.element_size())
                return made

        with Watched():
            self._called(rows)
        return rows_at_once(max(sizes) // len(rows))


def _tensor(y: object) -> Tensor:
    if not of_class(y, "torch", "Tensor"):
        raise TypeError(
            f"the module returned {type(y).__name__}; it must return one tensor: wrap it in a "
            "module that selects one"
        )
    dtype = str(getattr(y, "dtype"))
    if dtype in ("torch.float16", "torch.bfloat16"):
        text = (
            f"the module returns {dtype}, with 3 digits or fewer: tolerances near its rounding "
            "mean little; more digits take a last layer in float32"
        )
        warn(text, ModelWarning)
    return y


DeviceFunction = Callable[[DeviceArray, DeviceArray], object]


def device_model(model: Model) -> DeviceFunction:
    """The function that Estimator(device=...) calls as model(x, y), from a torch.nn.Module or from
    such a function. Raises TypeError for other objects."""
    if of_class(model, "torch.nn", "Module"):
        return torch_on_device(model)
    if callable(model):
        return model
    raise TypeError(
        f"model is {type(model).__name__}; on a device it must be a function of x and y, or a "
        "torch.nn.Module"
    )


def torch_on_device(module: TorchModule) -> DeviceFunction:
    """A torch.nn.Module as a function of x and y for Estimator(device=...). It works on the
    library's stream and in the library's memory. The module gets rows of its own precision, and its
    outputs become float32. Raises ValueError if the module is not on the estimator's device."""
    torch = sys.modules["torch"]
    first = next((p for p in module.parameters() if p.is_floating_point()), None)
    if first is not None and first.device.type != "cuda":
        raise ValueError(f"the module is on {first.device}: move it to the device, module.cuda()")
    # The library's stream does not wait for the upload of the module on another stream.
    torch.cuda.synchronize(None if first is None else first.device)

    def model(x: DeviceArray, y: DeviceArray) -> None:
        place = f"cuda:{x.device}"
        if first is not None and first.device.index not in (None, x.device):
            raise ValueError(
                f"the module is on {first.device}, and the noise on {place}: give "
                f"device={first.device.index}, or move the module, module.to('{place}')"
            )
        stream = torch.cuda.ExternalStream(x.stream, device=place)
        with _evaluating(module), torch.inference_mode(), torch.cuda.stream(stream):
            rows = torch.as_tensor(x, device=place)
            answer = _tensor(module(rows if first is None else rows.to(first.dtype)))
            shape = tuple(answer.shape)
            if shape != y.shape and (*shape, 1) != y.shape:
                raise ValueError(f"the model returned shape {shape}; it must be {y.shape}")
            torch.as_tensor(y, device=place).copy_(answer.reshape(y.shape))

    return model


class _Predict:
    """The predict function of a network of scikit-learn, or of a model that was fitted to a
    DataFrame. Arrays are then turned into DataFrames, since scikit-learn would warn at every call
    with an array."""

    def __init__(self, model: Estimator, names: Names, piece: int) -> None:
        """piece: the rows that are predicted at once; 0: all."""
        self.__self__, self.names, self.piece = model, names, piece  # for frames.owner_of

    def __call__(self, x: Any) -> Any:
        if self.names and isinstance(x, np.ndarray) and x.shape[1:] == (len(self.names),):
            x = needed("pandas", "the model").DataFrame(x, columns=self.names, copy=False)
        predict = self.__self__.predict
        return in_pieces(predict, x, self.piece or len(x), np.copy, np.concatenate)


def _predictor(model: Estimator) -> Function:
    pandas = importlib.util.find_spec("pandas")
    names = None if pandas is None else getattr(model, "feature_names_in_", None)
    last = model.steps[-1][1] if of_class(model, "sklearn.pipeline", "Pipeline") else model
    piece = 0
    if of_class(last, "sklearn.neural_network", "MLPRegressor") and hasattr(last, "coefs_"):
        piece = rows_at_once(max(max(w.shape) * w.itemsize for w in last.coefs_))
    if names is None and not piece:
        predict: Function = model.predict
        return predict
    return _Predict(model, None if names is None else list(names), piece)


def _own(model: Estimator, module: str, name: str) -> bool:
    """Returns True if `predict` is the package's. A subclass or an object that replaces it is
    another model."""
    kind = getattr(sys.modules[module], name)
    return "predict" not in vars(model) and type(model).predict is kind.predict


class _Linear:
    """A linear Booster of XGBoost, which takes no arrays."""

    def __init__(self, booster: Estimator) -> None:
        self.__self__ = booster

    def __call__(self, x: np.ndarray, missing: float = math.nan) -> Any:
        booster = self.__self__
        kinds = {"feature_names": booster.feature_names, "feature_types": booster.feature_types}
        return booster.predict(sys.modules["xgboost"].DMatrix(x, missing=missing, **kinds))


def _booster(model: Estimator) -> Function:
    if not _own(model, "xgboost", "Booster"):
        return _predictor(model)
    kind = json.loads(model.save_config())["learner"]["gradient_booster"]["name"]
    function: Function = _Linear(model) if kind == "gblinear" else model.inplace_predict
    return function


def _lightgbm(model: Estimator) -> Function:
    """The predict function of LightGBM's own Booster. The checks of LGBMRegressor.predict take
    longer than a small model."""
    if not _own(model, "lightgbm", "LGBMRegressor"):
        return _predictor(model)
    threads = {} if model.n_jobs is None else {"num_threads": model.n_jobs}
    return functools.partial(model.booster_.predict, **threads)


_ADAPTERS: tuple[tuple[str, str, Callable[[Any], Function]], ...] = (
    ("torch.nn", "Module", TorchModel),
    ("torch.export", "ExportedProgram", lambda program: TorchModel(program.module())),
    ("onnxruntime", "InferenceSession", SessionModel),
    ("xgboost", "Booster", _booster),
    ("xgboost", "XGBModel", lambda model: model.predict),  # takes arrays without column names
    ("lightgbm", "LGBMRegressor", _lightgbm),
)


def refuse_classifier(model: Model) -> None:
    """Raises TypeError for a classifier of scikit-learn's kind. The function
    `model.predict` is accepted, because its labels may be numbers to be certified."""
    kind = getattr(model, "_estimator_type", None)
    if of_class(model, "sklearn.base", "BaseEstimator"):
        kind = "classifier" if sys.modules["sklearn.base"].is_classifier(model) else None
    if kind == "classifier":
        raise TypeError(
            f"model is a classifier ({type(model).__name__}), and certificates are about numbers: "
            "give the probability of a class, lambda x: model.predict_proba(x)[:, 1]"
        )


def refuse_class(model: Model) -> None:
    """Raises TypeError for a class of models, whose instance would have its first weights."""
    module = getattr(sys.modules.get("torch.nn"), "Module", ())
    if isinstance(model, type) and (hasattr(model, "predict") or issubclass(model, module)):
        name = model.__name__
        raise TypeError(
            f"model is the class {name}: give an instance, the trained one, or as a factory "
            f"lambda: {name}()"
        )


def _adapter(model: Model) -> Callable[[Any], Function] | None:
    """The adapter for an object of a known class or with `predict`; None for other objects."""
    for module, name, adapter in _ADAPTERS:
        if of_class(model, module, name):
            return adapter
    return _predictor if hasattr(model, "predict") and not isinstance(model, type) else None


def as_model(model: Model) -> Function:
    """Turn a model into a function of arrays.

    Parameters
    ----------
    model : object
        One of these:

        - a ``torch.nn.Module``, or a program of ``torch.export``. Each call is in evaluation mode,
          and the modes of all parts are restored after it. The module gets the memory of the rows
          without a copy, and may write to it.
        - an ``onnxruntime.InferenceSession``; see also OnnxModel
        - an ``xgboost.Booster`` or ``lightgbm.Booster``
        - an object with `predict`, such as a model of scikit-learn, XGBoost or LightGBM
        - any other callable, which is returned unchanged

    Returns
    -------
    callable
        A function that takes float32 of shape (rows, inputs) or ``(rows, *shape)`` and returns
        (rows,) or (rows, columns). For modules, Boosters and models with `predict` it takes
        DataFrames too.

    Raises
    ------
    TypeError
        For other objects, and for classifiers: give a function of a probability.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> model = certreg.as_model(LinearRegression().fit([[0.0], [1.0]], [1.0, 3.0]))
    >>> model([[2.0]]).round(6).tolist()
    [5.0]"""
    refuse_class(model)
    refuse_classifier(model)
    adapter = _adapter(model)
    if adapter:
        return adapter(model)
    if callable(model):
        return model
    raise TypeError(
        f"model is {type(model).__name__}; it must be a function of an array, a torch.nn.Module "
        "(for a state_dict or .pt file build the module, call its load_state_dict, and give it), "
        "certreg.OnnxModel(path), an xgboost.Booster, or have `predict`"
    )


def is_factory(model: Model) -> bool:
    """Returns True for a factory: a function that can be called without arguments. A model takes
    one argument."""
    refuse_class(model)
    if not callable(model) or _adapter(model):
        return False
    try:
        parameters = inspect.signature(model).parameters.values()
    except (TypeError, ValueError):  # some functions in C have no signature
        return False
    return all(p.kind is p.VAR_KEYWORD or p.default is not p.empty for p in parameters)

"""Models of other packages as functions of arrays. Their packages are not imported here."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import json
import math
import sys
import threading
import warnings
from typing import Any, Callable, Iterator, TypeAlias, cast

import numpy as np

from ._arrays import DeviceArray, frame_as_array, in_pieces
from ._onnx import OnnxModel, SessionModel
from ._optional import needed, of_class
from ._types import Function, Model, Names, Tensor
from .errors import ModelWarning

TorchModule: TypeAlias = Any  # a torch.nn.Module
Estimator: TypeAlias = Any  # of scikit-learn, XGBoost or LightGBM


class _Writable:
    """The array interface of an array, without the mark that it is read-only."""

    def __init__(self, x: np.ndarray) -> None:
        self.owner, there = x, x.__array_interface__
        there["data"] = (there["data"][0], False)
        self.__array_interface__ = there


def writable(x: np.ndarray) -> np.ndarray:
    """An array in the same memory without the mark that it is read-only. It keeps x alive."""
    return x if x.flags.writeable else np.asarray(_Writable(x))


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
        of_batches = (torch.device("cpu"), torch.float32)
        self.place = None if places[:1] in ([], [of_batches]) else places[0]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        torch, module = sys.modules["torch"], self.module
        with _evaluating(module), torch.inference_mode():
            rows = torch.from_numpy(writable(frame_as_array(x, np.float32)))
            if self.place is None:
                call = functools.partial(_called, module)
                y = in_pieces(lambda some: _tensor(call(some)), rows, torch.clone, torch.cat)
            else:
                y = _tensor(_called(module, rows.to(*self.place)))
            kept = y.dtype if y.dtype == torch.float64 else torch.float32
            answer: np.ndarray = y.to("cpu", kept).numpy()
        return answer


def _called(module: TorchModule, rows: Tensor) -> Tensor:
    """The result of a module. Raises ValueError if it was exported for another number of rows."""
    try:
        return module(rows)
    except AssertionError as error:
        if not str(error).startswith("Guard failed"):
            raise
        raise ValueError(
            f"the exported program refuses {tuple(rows.shape)} ({error}): export it for any number "
            "of rows, torch.export.export(..., dynamic_shapes=({0: torch.export.Dim('rows')},))"
        ) from None


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
        warnings.warn(text, ModelWarning, stacklevel=2)
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


class _Named:
    """The predict function of a model that was fitted to a DataFrame. Arrays are turned into
    DataFrames, since scikit-learn would warn at every call with an array."""

    def __init__(self, predict: Function, names: Names) -> None:
        self.predict, self.feature_names_in_ = predict, names
        self.__self__ = getattr(predict, "__self__", self)  # for names.owner_of

    def __call__(self, x: np.ndarray) -> Any:
        names = self.feature_names_in_ or ()
        if isinstance(x, np.ndarray) and x.shape[1:] == (len(names),):
            x = needed("pandas", "the model").DataFrame(x, columns=names, copy=False)
        return self.predict(x)


class _InPieces:
    """The predict function of a network of scikit-learn."""

    def __init__(self, predict: Function) -> None:
        self.predict, self.__self__ = predict, getattr(predict, "__self__", self)

    def __call__(self, x: Any) -> Any:
        return in_pieces(self.predict, x, np.copy, np.concatenate)


def _is_network(model: Estimator) -> bool:
    """Returns True for a network of scikit-learn, also at the end of a pipeline."""
    if of_class(model, "sklearn.pipeline", "Pipeline"):
        model = model.steps[-1][1]
    return of_class(model, "sklearn.neural_network", "MLPRegressor")


def _predictor(model: Estimator) -> Function:
    names = getattr(model, "feature_names_in_", None)
    predict: Function = _InPieces(model.predict) if _is_network(model) else model.predict
    no_frames = names is None or importlib.util.find_spec("pandas") is None
    return predict if no_frames else _Named(predict, list(cast(Any, names)))


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
    refuse_classifier(model)
    adapter = _adapter(model)
    if adapter:
        return adapter(model)
    if callable(model):
        return model
    raise TypeError(
        f"model is {type(model).__name__}; it must be a function of an array, a torch.nn.Module, "
        "an onnxruntime.InferenceSession, an xgboost.Booster, or have `predict`"
    )


def is_factory(model: Model) -> bool:
    """Returns True for a factory: a function that can be called without arguments. A model takes
    one argument."""
    if not callable(model) or _adapter(model):
        return False
    try:
        parameters = inspect.signature(model).parameters.values()
    except (TypeError, ValueError):  # some functions in C have no signature
        return False
    return all(p.kind is p.VAR_KEYWORD or p.default is not p.empty for p in parameters)


__all__ = ["OnnxModel", "as_model", "device_model", "is_factory", "torch_on_device"]

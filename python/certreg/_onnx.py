"""Models in ONNX files."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, Sequence, Union

import numpy as np

from ._optional import needed

_DTYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64}


def _chosen(found: Sequence[Any], name: Optional[str], what: str) -> Any:
    """The input or output with this name, or the first one. Raises ValueError if there is none, or
    if it is not a tensor of floats."""
    names = [tensor.name for tensor in found]
    if name is not None and name not in names:
        raise ValueError(f"the model has no {what} {name!r}; it has {', '.join(names)}")
    tensor = found[0 if name is None else names.index(name)]
    if tensor.type not in _DTYPES:
        others = [t.name for t in found if t.type in _DTYPES]
        remedy = f": choose {' or '.join(others)}" if others else ""
        raise ValueError(
            f"{what} {tensor.name!r} of the model is {tensor.type}; it must be float or "
            f"double{remedy}"
        )
    return tensor


def _names(session: Any) -> Optional[list[str]]:
    """The JSON list of texts that the metadata of the file have as feature_names; None if they have
    none."""
    try:
        names = json.loads(session.get_modelmeta().custom_metadata_map["feature_names"])
    except (KeyError, ValueError):
        return None
    return names if isinstance(names, list) and all(isinstance(n, str) for n in names) else None


def _lengths(shape: Sequence[Any]) -> tuple[Optional[int], ...]:
    """The lengths of a tensor's dimensions; None where a length is free."""
    return tuple(length if isinstance(length, int) and length > 0 else None for length in shape)


class SessionModel:
    """An onnxruntime.InferenceSession as a function of an array."""

    def __init__(
        self, session: Any, input: Optional[str] = None, output: Optional[str] = None
    ) -> None:
        inputs, outputs = session.get_inputs(), session.get_outputs()
        if len(inputs) != 1:
            names = ", ".join(tensor.name for tensor in inputs) or "none"
            raise ValueError(
                f"the model must have one input; it has {names}: write a function that supplies "
                "the others"
            )
        taken, given = _chosen(inputs, input, "input"), _chosen(outputs, output, "output")
        lengths, columns = _lengths(taken.shape), _lengths(given.shape)
        if len(lengths) < 2:
            raise ValueError(
                f"input {taken.name!r} of the model has shape {taken.shape}; its first dimension "
                "must be the rows and others the features"
            )
        self.session, self.input, self.output = session, taken.name, given.name
        self.batch, self.shape = lengths[0], lengths[1:]
        self.columns = 1 if len(columns) == 1 else columns[1] if len(columns) == 2 else None
        self._dtype = _DTYPES[taken.type]
        self.feature_names_in_ = _names(session)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, self._dtype)
        if None not in self.shape and x.shape[1:] != self.shape:
            x = self._shaped(x)
        if self.batch is None or len(x) == self.batch:
            return self._run(x)
        parts = [
            self._padded(x[first : first + self.batch]) for first in range(0, len(x), self.batch)
        ]
        return np.concatenate(parts)[: len(x)]

    def _shaped(self, x: np.ndarray) -> np.ndarray:
        try:
            return x.reshape(len(x), *self.shape)
        except ValueError:
            raise ValueError(
                f"the model takes rows of shape {self.shape}, not {x.shape[1:]}"
            ) from None

    def _padded(self, x: np.ndarray) -> np.ndarray:
        """The outputs of at most `batch` rows. The last row is repeated until there are `batch`."""
        missing = self.batch - len(x)  # type: ignore[operator]
        return self._run(np.concatenate([x, np.repeat(x[-1:], missing, 0)]) if missing else x)

    def _run(self, x: np.ndarray) -> np.ndarray:
        y: np.ndarray = self.session.run([self.output], {self.input: x})[0]
        if y.shape[:1] != x.shape[:1]:
            raise ValueError(
                f"output {self.output!r} of the model has shape {y.shape} for {len(x)} rows; it "
                "must have one row for each of them"
            )
        return y if y.ndim <= 2 else y.reshape(len(y), -1)


class OnnxModel(SessionModel):
    """A model in an ONNX file, run by ONNX Runtime. Call it with float32 of shape (rows, *shape) or
    (rows, features); it returns (rows,) or (rows, columns). It can be pickled: the other process
    then opens the file again.

    path       path of the file
    input      name of the input; None: any. The model must have one input only
    output     name of the output; None: the first one
    threads    threads of one call; 0: ONNX Runtime's default
    providers  execution providers of ONNX Runtime; None: the CPU

    Attributes:
    shape          shape of a row, with None for free lengths
    columns        columns of the output; None: free
    batch          rows of one call; None: free. If it is fixed, the last call repeats a row until
                   the batch is full
    input, output  names of the tensors
    feature_names_in_  names of the features, a list of texts; None: the file has none. The file has
                   them as a JSON list in its metadata, with the key feature_names
    path           absolute path of the file

    Raises FileNotFoundError if there is no such file; ValueError if it is not an ONNX model, or if
    the model does not map one tensor of floats to another; ImportError if onnxruntime is
    missing."""

    def __init__(
        self,
        path: Union[str, "os.PathLike[str]"],
        *,
        input: Optional[str] = None,
        output: Optional[str] = None,
        threads: int = 1,
        providers: Optional[Sequence[Any]] = None,
    ) -> None:
        self.path = os.path.abspath(path)
        self._options = (input, output, threads, providers)
        super().__init__(_session(self.path, threads, providers), input, output)

    def __reduce__(self) -> Any:
        return _opened, (self.path, *self._options)


def _opened(path: str, input: Any, output: Any, threads: int, providers: Any) -> OnnxModel:
    return OnnxModel(path, input=input, output=output, threads=threads, providers=providers)


def _session(path: str, threads: int, providers: Optional[Sequence[Any]]) -> Any:
    runtime = needed("onnxruntime", "OnnxModel")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path}")
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3  # errors; they are raised as exceptions too
    try:
        return runtime.InferenceSession(
            path, options, providers=list(providers or ["CPUExecutionProvider"])
        )
    except Exception as error:  # its classes cannot be imported by name
        said = str(error).splitlines()[0]
        raise ValueError(f"{path} cannot be opened as an ONNX model: {said}") from None

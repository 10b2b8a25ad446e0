"""Models in ONNX files."""

from __future__ import annotations

import functools
import json
import math
import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._optional import needed
from ._tensors import DTYPES, Constants, lengths, taken, varied
from .constants import shown

_RANGE = "a range, such as range(3, 6) for the columns 3, 4 and 5"


def _names(session: Any) -> Optional[list[str]]:
    """The JSON list of texts that the metadata of the file have as feature_names; None if they have
    none."""
    try:
        names = json.loads(session.get_modelmeta().custom_metadata_map["feature_names"])
    except (KeyError, ValueError):
        return None
    return names if isinstance(names, list) and all(isinstance(n, str) for n in names) else None


class SessionModel:
    """An onnxruntime.InferenceSession as a function of an array."""

    def __init__(
        self,
        session: Any,
        input: Optional[str] = None,
        output: Optional[str] = None,
        constants: Optional[Mapping[str, Any]] = None,
        columns: Optional[range] = None,
    ) -> None:
        inputs, outputs, fixed = session.get_inputs(), session.get_outputs(), dict(constants or {})
        entry, given = varied(inputs, input, fixed), taken(outputs, output, "output")
        sides = lengths(entry.shape)
        if len(sides) < 2:
            raise ValueError(
                f"input {entry.name!r} of the model has shape {entry.shape}; its first dimension "
                "must be the rows and others the features: export it so"
            )
        self.session, self.input, self.output = session, entry.name, given.name
        self.batch, self.shape = sides[0], sides[1:]
        self._chosen, self._dtype = _checked(columns), DTYPES[entry.type]
        self._constants = Constants(inputs, fixed, entry.shape[0])
        self.columns = self._count(lengths(given.shape))
        self.feature_names_in_ = _names(session)

    def _count(self, sides: Sequence[Optional[int]]) -> Optional[int]:
        """How many columns are returned; None if the file does not say it."""
        of_row = sides if self.batch == 1 else sides[1:]
        free = not sides or None in of_row  # a shape that is not known has no lengths
        count = None if free else math.prod(of_row)  # type: ignore[arg-type]
        if self._chosen is None:
            return count
        if count is not None:
            self._check_range(count)
        return len(self._chosen)

    def _check_range(self, count: int) -> None:
        if self._chosen is not None and self._chosen.stop > count:
            said = f"{self._chosen.start}:{self._chosen.stop}"
            raise ValueError(
                f"columns {said} of output {self.output!r} are not there: it has {count} in a row"
            )

    def __call__(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, self._dtype)
        if None not in self.shape and x.shape[1:] != self.shape:
            x = self._shaped(x)
        if self.batch is None or len(x) == self.batch:
            return self._run(x)
        parts = [
            self._padded(x[first : first + self.batch]) for first in range(0, len(x), self.batch)
        ]
        whole: np.ndarray = np.concatenate(parts)[: len(x)]
        return whole

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
        given = {self.input: x, **self._constants.for_rows(len(x))}
        y: np.ndarray = np.asarray(self.session.run([self.output], given)[0])
        if y.shape[:1] != x.shape[:1]:
            if self.batch != 1:
                raise ValueError(
                    f"output {self.output!r} of the model has shape {y.shape} for {len(x)} rows; "
                    "it must have one row for each of them"
                )
            y = y[np.newaxis]  # all of it belongs to the only row
        if self._chosen is None:
            return y if y.ndim <= 2 else y.reshape(len(y), -1)
        y = y.reshape(len(y), -1)
        self._check_range(y.shape[1])  # a slice would be shorter without a word
        return y[:, self._chosen.start : self._chosen.stop]


def _checked(columns: Optional[range]) -> Optional[range]:
    if columns is None:
        return None
    if not isinstance(columns, range):
        raise TypeError(f"columns is {shown(columns)}; it must be {_RANGE}")
    if columns.step != 1 or not 0 <= columns.start < columns.stop:
        raise ValueError(f"columns is {columns}; it must be {_RANGE}")
    return columns


class OnnxModel(SessionModel):
    """A model in an ONNX file, run by ONNX Runtime. Call it with float32 of shape (rows, *shape) or
    (rows, features); it returns (rows,) or (rows, columns). It can be pickled: the other process
    then opens the file again.

    path       path of the file
    input      name of the input that varies; None: the only one without a constant
    output     name of the output; None: the first one
    constants  values of all other inputs by their names, {"fmin": 46.9}: numbers, or arrays of the
               shape of the input. A number fills the array if the file fixes its shape. If the file
               gives the first length of such an input the name of the batch, give the value for one
               row
    columns    which columns of the output are returned, as range(3, 6); None: all. The outputs of a
               row are flattened first
    threads    threads of one call; 0: ONNX Runtime's default
    providers  execution providers of ONNX Runtime; None: the CPU

    Attributes:
    shape          shape of a row, with None for free lengths
    columns        how many columns it returns; None: the file does not say it
    batch          rows of one call; None: free. If it is fixed, the last call repeats a row until
                   the batch is full. If it is 1, an output of any shape is one row
    input, output  names of the tensors
    feature_names_in_  names of the features, a list of texts; None: the file has none. The file has
                   them as a JSON list in its metadata, with the key feature_names
    path           absolute path of the file

    Raises FileNotFoundError if there is no such file; ValueError if it is not an ONNX model, if
    its inputs or output are not tensors of such types and shapes, or if a constant is missing or
    does not fit; TypeError for a constant that is no number; ImportError if onnxruntime is
    missing."""

    def __init__(
        self,
        path: Union[str, "os.PathLike[str]"],
        *,
        input: Optional[str] = None,
        output: Optional[str] = None,
        constants: Optional[Mapping[str, Any]] = None,
        columns: Optional[range] = None,
        threads: int = 1,
        providers: Optional[Sequence[Any]] = None,
    ) -> None:
        self.path = os.path.abspath(path)
        session = session_of(self.path, threads, providers)
        super().__init__(session, input, output, constants, columns)
        chosen: dict[str, Any] = dict(input=input, output=output, columns=columns, threads=threads)
        self._options = {**chosen, "constants": self._constants.values, "providers": providers}

    def __reduce__(self) -> Any:
        return functools.partial(OnnxModel, self.path, **self._options), ()

    def told(self) -> str:
        """A text that is the same only for the same output, columns and constants; empty for the
        first output of a model of one input."""
        first = self.session.get_outputs()[0].name
        output = "" if self.output == first else f"output={self.output} "
        columns = f"columns={self._chosen.start}:{self._chosen.stop} " if self._chosen else ""
        return f"{output}{columns}{self._constants.told()}".strip()


def session_of(path: str, threads: int = 1, providers: Optional[Sequence[Any]] = None) -> Any:
    """An onnxruntime.InferenceSession; see OnnxModel."""
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

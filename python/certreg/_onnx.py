"""Models in ONNX files."""

from __future__ import annotations

import functools
import json
import math
import os
import re
from typing import Mapping, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from ._arguments import abbreviated
from ._arrays import frame_as_array
from ._onnx_tensors import DTYPES, Constants, columns_of, lengths, taken, varied, warn_of_others
from ._optional import needed
from ._types import Frame, Inputs, Path, Session

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
        if self._chosen is None:
            return count
        if count is not None:
            self._check_range(count)
        return len(self._chosen)

    def _check_range(self, count: int) -> None:
        if self._chosen is not None and self._chosen.stop > count:
            some = f"{self._chosen.start}:{self._chosen.stop}"
            raise ValueError(
                f"columns {some} of output {self.output!r} are not there: it has {count} in a row"
            )

    def __call__(self, x: Inputs) -> np.ndarray:
        rows: Frame = x if hasattr(x, "shape") else np.asarray(x)
        fed, count, batch = self._fed(rows), len(rows), self.batch
        if batch is None or count == batch:
            return self._run(fed, count)
        parts = [self._padded(fed, first, batch) for first in range(0, count, batch)]
        whole: np.ndarray = np.concatenate(parts)[:count]
        return whole

    def _fed(self, x: Frame) -> dict[str, np.ndarray]:
        """The inputs that vary, by their names."""
        if len(self._entries) > 1:
            return columns_of(self._entries, x)
        values = frame_as_array(x, DTYPES[self._entries[0].type])
        if None not in self.shape and values.shape[1:] != self.shape:
            values = self._shaped(values)
        return {self._entries[0].name: values}

    def _shaped(self, x: np.ndarray) -> np.ndarray:
        """Rows as the model takes them. They may be flat on either side, and may lack axes of one
        number: in other shapes numbers would get another meaning."""
        given, wanted = x.shape[1:], cast("tuple[int, ...]", self.shape)
        sides = [[n for n in shape if n != 1] for shape in (given, wanted)]
        flat = len(given) == 1 or len(wanted) == 1
        if math.prod(given) != math.prod(wanted) or not (flat or sides[0] == sides[1]):
            raise ValueError(f"the model takes rows of shape {wanted}, not {given}")
        return x.reshape(len(x), *wanted)

    def _padded(self, fed: Mapping[str, np.ndarray], first: int, batch: int) -> np.ndarray:
        """The outputs of the next `batch` rows. The last is repeated until there are `batch`."""
        part = {name: x[first : first + batch] for name, x in fed.items()}
        missing = batch - len(next(iter(part.values())))
        if missing:
            part = {n: np.concatenate([x, np.repeat(x[-1:], missing, 0)]) for n, x in part.items()}
        return self._run(part, batch)

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

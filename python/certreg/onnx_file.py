"""Inputs, outputs and constants of models in ONNX files."""

from __future__ import annotations

import hashlib
import math
from typing import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .arguments import DType, Frame, Session, Shape, abbreviated
from .arrays import numbers
from .display import warn

Lengths = tuple[int | None, ...]  # of dimensions; None: free
DTYPES: dict[str, DType] = {  # of inputs that may vary, and of outputs
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
}
_WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_OF_COLUMNS: dict[str, DType] = {  # and of constants, which are no strings
    **DTYPES,
    **{f"tensor({name})": np.dtype(name) for name in ("bool", *_WHOLE)},
    "tensor(string)": np.dtype(object),
}
_CAST = {
    "input": "export it with such an input, which noise can change, and round and cast behind it",
    "output": "export it with a cast to float at its end",
}
OTHER_OUTPUT = "OnnxModel(path, output=NAME)"
REMEDY = "OnnxModel(path, constants={name: value})"  # replaced by options in cli/report.py


def described(tensor: Session) -> str:
    """A tensor for a message: its name, its type, and its lengths, which may have names."""
    kind = tensor.type[len("tensor(") : -1] if tensor.type.startswith("tensor(") else tensor.type
    return f"{tensor.name} {kind} {shape_text(tensor.shape)}"


def lengths(shape: Sequence[object]) -> Lengths:
    """The lengths of a shape, with None for free ones, which are names or missing."""
    return tuple(length if isinstance(length, int) and length > 0 else None for length in shape)


def shape_text(shape: Sequence[object]) -> str:
    """A shape for a message."""
    return "(" + ", ".join("any" if n in (None, "") else str(n) for n in shape) + ")"


def agree(shape: Sequence[int], expected: Lengths) -> bool:
    """Returns True if an array of this shape has these lengths."""
    return len(shape) == len(expected) and all(b in (None, a) for a, b in zip(shape, expected))


def reshaped(x: np.ndarray, wanted: Shape) -> np.ndarray:
    """Rows as a model takes them. They may be flat on either side, and may lack axes of one number:
    in other shapes numbers would get another meaning."""
    given = x.shape[1:]
    sides = [[n for n in shape if n != 1] for shape in (given, wanted)]
    flat = len(given) == 1 or len(wanted) == 1
    if math.prod(given) != math.prod(wanted) or not (flat or sides[0] == sides[1]):
        raise ValueError(f"the model takes rows of shape {wanted}, not {given}")
    return x.reshape(len(x), *wanted)


def _named(found: Sequence[Session], name: str, what: str) -> Session:
    """The input or output with this name. Raises ValueError if there is none."""
    for tensor in found:
        if tensor.name == name:
            return tensor
    names = ", ".join(tensor.name for tensor in found) or "none"
    raise ValueError(f"the model has no {what} {name!r}; it has {names}")


def taken(found: Sequence[Session], name: str | None, what: str) -> Session:
    """The input or output with this name, or the first one. Raises ValueError if there is none, or
    if it is not a tensor of floats."""
    tensor = found[0] if name is None else _named(found, name, what)
    if tensor.type not in DTYPES:
        others = " or ".join(t.name for t in found if t.type in DTYPES)
        raise ValueError(
            f"{what} {tensor.name!r} of the model is {tensor.type}, not float, double or float16: "
            + (f"choose {others}" if others else _CAST[what])
        )
    return tensor


def warn_of_others(outputs: Sequence[Session]) -> None:
    """Warns that the first of several outputs is taken."""
    names = [tensor.name for tensor in outputs if tensor.type in DTYPES]
    if len(names) > 1:
        text = f"the model has the outputs {', '.join(names)}, and only the first is used"
        warn(f"{text}; {OTHER_OUTPUT} takes another")


def varied(
    inputs: Sequence[Session], name: str | None, constants: Mapping[str, object]
) -> list[Session]:
    """The input that varies: the one with this name, or the only one without a constant; or several
    that are columns of a table. Raises ValueError if the choice is ambiguous, or if another input
    has no constant."""
    for known in (*constants, *([] if name is None else [name])):
        _named(inputs, known, "input")
    if name in constants:
        raise ValueError(f"input {name!r} is to vary, and has a constant: leave the constant out")
    left = [tensor for tensor in inputs if tensor.name not in constants]
    if not left:
        raise ValueError("no input of the model is left to vary: leave out the constant of one")
    if name is None and len(left) > 1 and _are_columns(left):
        return left
    missing = [tensor for tensor in left if tensor.name != name]
    if len(left) > 1:
        some = "all but one of them" if name is None else "them"
        raise ValueError(
            f"inputs of the model have no value: {', '.join(map(described, missing))}; only one "
            f"input can vary, so give {some} a constant, {REMEDY}"
        )
    return [taken(left, None, "input")]


def _are_columns(tensors: Sequence[Session]) -> bool:
    """Returns True if inputs are columns of a table: each has a number or text for each row."""
    first = tensors[0].shape[:1]
    return all(
        t.shape[:1] == first != [] and tuple(t.shape[1:]) in ((), (1,)) and t.type in _OF_COLUMNS
        for t in tensors
    )


def columns_of(tensors: Sequence[Session], x: Frame) -> dict[str, np.ndarray]:
    """The columns of a DataFrame or array, in the order of these inputs, for each input."""
    if len(x.shape) != 2 or x.shape[1] != len(tensors):
        names = ", ".join(tensor.name for tensor in tensors)
        raise ValueError(f"the model takes rows of the columns {names}, not {x.shape[1:]}")
    frame = hasattr(x, "iloc")
    each = (x.iloc[:, j].to_numpy() if frame else x[:, j] for j in range(len(tensors)))
    return {
        tensor.name: _column(tensor, values).reshape(len(x), *lengths(tensor.shape)[1:])
        for tensor, values in zip(tensors, each)
    }


def _column(tensor: Session, values: np.ndarray) -> np.ndarray:
    """A column in the type of its input. Raises TypeError or ValueError for another type."""
    dtype, what = _OF_COLUMNS[tensor.type], f"column {tensor.name!r}"
    if dtype == object:
        wrong = [value for value in values if not isinstance(value, str)]
        if wrong:
            raise TypeError(f"{what} holds {abbreviated(wrong[0])}; the model takes texts there")
        return values.astype(object)
    given = numbers(values, None, what)
    cast = numbers(given, dtype, what)
    if tensor.type not in DTYPES and not np.array_equal(cast, given):
        raise ValueError(f"{what} holds numbers that are no {cast.dtype}; the model takes these")
    return cast


class Constants:
    """The values of the inputs that do not vary."""

    def __init__(
        self, inputs: Sequence[Session], given: Mapping[str, ArrayLike], batch: object
    ) -> None:
        """batch: the first length of the input that varies. Inputs with a length of the same name
        get their constant for each row, along that dimension."""
        self.values: dict[str, np.ndarray] = {}  # copies
        self._by_row: dict[str, int] = {}
        for name, constant in given.items():
            tensor = _named(inputs, name, "input")
            expected, value = list(lengths(tensor.shape)), _cast(tensor, constant)
            if isinstance(batch, str) and batch in tensor.shape:
                self._by_row[name] = axis = tensor.shape.index(batch)
                del expected[axis]
                if value.ndim == len(tensor.shape) and value.shape[axis] == 1:
                    value = np.take(value, 0, axis)
            self.values[name] = _shaped(tensor, value, tuple(expected))

    def for_rows(self, count: int) -> dict[str, np.ndarray]:
        """The values for `count` rows, by the names of the inputs."""
        each = {
            name: np.repeat(np.expand_dims(self.values[name], axis), count, axis)
            for name, axis in self._by_row.items()
        }
        return {**self.values, **each}

    def fingerprint(self) -> str:
        """A text that is the same only for the same values."""
        values = sorted(self.values.items())
        return " ".join(f"{name}={_digest(v) if v.ndim else v}" for name, v in values)


def _digest(value: np.ndarray) -> str:
    return hashlib.sha256(f"{value.shape}".encode() + value.tobytes()).hexdigest()


def _cast(tensor: Session, value: ArrayLike) -> np.ndarray:
    """A constant in the type of its input. Raises ValueError if this changes the constant by more
    than rounding."""
    dtype = _OF_COLUMNS.get(tensor.type, object)
    what = f"the constant for input {described(tensor)}"
    if dtype == object:
        raise ValueError(f"{what} cannot be given: it would not be numbers")
    given = numbers(value, None, what)
    if given.dtype.kind not in "buif":
        raise TypeError(f"{what} is {abbreviated(value)}; it must be a number or an array")
    with np.errstate(all="ignore"):
        cast = given.astype(dtype)
    is_float = cast.dtype.kind == "f"  # masks may hold infinities; casting must not add any
    kept = (np.isinf(cast) == np.isinf(given)) & ~np.isnan(cast) if is_float else cast == given
    if not kept.all():
        raise ValueError(f"{what} is {abbreviated(value)}, which is no {cast.dtype}")
    return cast


def _shaped(tensor: Session, value: np.ndarray, expected: Lengths) -> np.ndarray:
    """A constant in the shape of its input; a number fills an array."""
    sides = [length for length in expected if length is not None]
    if value.size == 1 and len(sides) == len(expected):
        return np.full(sides, value.reshape(()))
    if not agree(value.shape, expected):
        raise ValueError(
            f"the constant for input {described(tensor)} has shape {value.shape}; it must have "
            f"shape {shape_text(expected)}"
        )
    return value

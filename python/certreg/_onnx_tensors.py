"""Inputs and outputs of ONNX files: which one varies, which is taken, and the constants for the
others."""

from __future__ import annotations

import hashlib
import warnings
from typing import Any, Mapping, Optional, Sequence, Tuple

import numpy as np

from ._arrays import numbers
from ._arguments import abbreviated

Lengths = Tuple[Optional[int], ...]  # of dimensions; None: free
DTYPES: dict[str, Any] = {  # of inputs that may vary, and of outputs
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
}
_WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_OF_CONSTANTS: dict[str, Any] = {
    **DTYPES,
    **{f"tensor({name})": np.dtype(name) for name in ("bool", *_WHOLE)},
}
_CAST = {
    "input": "export it with such an input, which noise can change, and round and cast behind it",
    "output": "export it with a cast to float at its end",
}
_OF_COLUMNS = {**_OF_CONSTANTS, "tensor(string)": np.dtype(object)}
OTHER_OUTPUT = "OnnxModel(path, output=NAME)"
REMEDY = "OnnxModel(path, constants={name: value})"  # which the command says in its own words


def told(tensor: Any) -> str:
    """A tensor in a sentence: its name, its type, and its lengths, which may have names."""
    kind = tensor.type[len("tensor(") : -1] if tensor.type.startswith("tensor(") else tensor.type
    return f"{tensor.name} {kind} {said_shape(tensor.shape)}"


def lengths(shape: Sequence[Any]) -> Lengths:
    return tuple(length if isinstance(length, int) and length > 0 else None for length in shape)


def said_shape(shape: Sequence[Any]) -> str:
    """A shape in a sentence."""
    return "(" + ", ".join("any" if n in (None, "") else str(n) for n in shape) + ")"


def agree(shape: Sequence[int], wanted: Lengths) -> bool:
    """Whether an array of this shape has these lengths."""
    return len(shape) == len(wanted) and all(b in (None, a) for a, b in zip(shape, wanted))


def _named(found: Sequence[Any], name: str, what: str) -> Any:
    """The input or output with this name. Raises ValueError if there is none."""
    for tensor in found:
        if tensor.name == name:
            return tensor
    names = ", ".join(tensor.name for tensor in found) or "none"
    raise ValueError(f"the model has no {what} {name!r}; it has {names}")


def taken(found: Sequence[Any], name: Optional[str], what: str) -> Any:
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


def warn_of_others(outputs: Sequence[Any]) -> None:
    """Warns that the first of several outputs is taken."""
    names = [tensor.name for tensor in outputs if tensor.type in DTYPES]
    if len(names) > 1:
        said = f"the model has the outputs {', '.join(names)}, of which only the first is used"
        warnings.warn(f"{said}; {OTHER_OUTPUT} takes another", stacklevel=4)


def varied(inputs: Sequence[Any], name: Optional[str], constants: Mapping[str, Any]) -> list[Any]:
    """The input that varies: the one with this name, or the only one without a constant; or several
    that are columns of a table. Raises ValueError if it cannot be told, or if another input has no
    constant."""
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
            f"inputs of the model have no value: {', '.join(map(told, missing))}; only one input "
            f"can vary, so give {some} a constant, {REMEDY}"
        )
    return [taken(left, None, "input")]


def _are_columns(tensors: Sequence[Any]) -> bool:
    """Whether inputs are columns of a table: each of a number or text for each row."""
    first = tensors[0].shape[:1]
    return all(
        t.shape[:1] == first != [] and tuple(t.shape[1:]) in ((), (1,)) and t.type in _OF_COLUMNS
        for t in tensors
    )


def columns_of(tensors: Sequence[Any], x: Any) -> dict[str, np.ndarray]:
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


def _column(tensor: Any, values: np.ndarray) -> np.ndarray:
    """A column in the type of its input. Raises TypeError or ValueError if it has another one."""
    dtype, what = _OF_COLUMNS[tensor.type], f"column {tensor.name!r}"
    if dtype == object:
        others = [value for value in values if not isinstance(value, str)]
        if others:
            raise TypeError(f"{what} holds {abbreviated(others[0])}; the model takes texts there")
        return values.astype(object)
    given = numbers(values, None, what)
    cast = numbers(given, dtype, what)
    if tensor.type not in DTYPES and not np.array_equal(cast, given):
        raise ValueError(f"{what} holds other numbers than {cast.dtype}, which the model takes")
    return cast


class Constants:
    """What the inputs get that do not vary."""

    def __init__(self, inputs: Sequence[Any], given: Mapping[str, Any], batch: Any) -> None:
        """batch: the first length of the input that varies. Inputs that have a length of the same
        name get their constant for each row, along that dimension."""
        self.values: dict[str, np.ndarray] = {}  # nobody else changes them
        self._by_row: dict[str, int] = {}
        for name, value in given.items():
            tensor = _named(inputs, name, "input")
            wanted, value = list(lengths(tensor.shape)), _cast(tensor, value)
            if isinstance(batch, str) and batch in tensor.shape:
                self._by_row[name] = axis = tensor.shape.index(batch)
                del wanted[axis]
                if value.ndim == len(tensor.shape) and value.shape[axis] == 1:
                    value = np.take(value, 0, axis)
            self.values[name] = _shaped(tensor, value, tuple(wanted))

    def for_rows(self, count: int) -> dict[str, np.ndarray]:
        """The values for so many rows, by the names of the inputs."""
        each = {
            name: np.repeat(np.expand_dims(self.values[name], axis), count, axis)
            for name, axis in self._by_row.items()
        }
        return {**self.values, **each}

    def told(self) -> str:
        """A text that is the same only for the same values."""
        values = sorted(self.values.items())
        return " ".join(f"{name}={_digest(v) if v.ndim else v}" for name, v in values)


def _digest(value: np.ndarray) -> str:
    return hashlib.sha256(f"{value.shape}".encode() + value.tobytes()).hexdigest()


def _cast(tensor: Any, value: Any) -> np.ndarray:
    """A constant in the type of its input. Raises ValueError where this would change it by more
    than rounding."""
    dtype, what = _OF_CONSTANTS.get(tensor.type), f"the constant for input {told(tensor)}"
    if dtype is None:
        raise ValueError(f"{what} cannot be given: it would not be numbers")
    given = numbers(value, None, what)
    if given.dtype.kind not in "buif":
        raise TypeError(f"{what} is {abbreviated(value)}; it must be a number or an array")
    with np.errstate(all="ignore"):
        cast = given.astype(dtype)
    is_float = cast.dtype.kind == "f"  # infinities are marks in masks, but only where given
    kept = (np.isinf(cast) == np.isinf(given)) & ~np.isnan(cast) if is_float else cast == given
    if not kept.all():
        raise ValueError(f"{what} is {abbreviated(value)}, which is no {cast.dtype}")
    return cast


def _shaped(tensor: Any, value: np.ndarray, wanted: Lengths) -> np.ndarray:
    """A constant in the shape of its input; a number stands for an array of it."""
    sides = [length for length in wanted if length is not None]
    if value.size == 1 and len(sides) == len(wanted):
        return np.full(sides, value.reshape(()))
    if not agree(value.shape, wanted):
        raise ValueError(
            f"the constant for input {told(tensor)} has shape {value.shape}; it must have shape "
            f"{said_shape(wanted)}"
        )
    return value

"""Arrays that the library and a model share."""

from __future__ import annotations

import contextlib
import ctypes as C
import math
import sys
from typing import Any, Callable, Iterator, TypeVar

import numpy as np

from . import structs as S
from .arguments import DType, Function, Path, Shape, Turns, abbreviated, of_class, path_of
from .causes import cause
from .constants import Output, Status

CPU, CUDA = 1, 2  # kDLCPU, kDLCUDA
_NAME, _USED = b"dltensor", b"used_dltensor"  # of a capsule before and after it has been taken
_FLOAT = 2  # kDLFloat


class _Tensor(C.Structure):  # DLTensor
    _fields_ = [
        ("data", C.c_void_p),
        ("device_type", C.c_int32),
        ("device_id", C.c_int32),
        ("ndim", C.c_int32),
        ("code", C.c_uint8),
        ("bits", C.c_uint8),
        ("lanes", C.c_uint16),
        ("shape", C.c_void_p),
        ("strides", C.c_void_p),
        ("byte_offset", C.c_uint64),
    ]


class _Managed(C.Structure):  # DLManagedTensor
    _fields_ = [("tensor", _Tensor), ("context", C.c_void_p), ("deleter", C.c_void_p)]


def _python(name: str, result: type, *arguments: type) -> Callable[..., object]:
    """A function of Python's C interface, declared for this file alone."""
    return C.PYFUNCTYPE(result, *arguments)((name, C.pythonapi))


_new = _python("PyCapsule_New", C.py_object, C.c_void_p, C.c_char_p, C.c_void_p)
_is_valid = _python("PyCapsule_IsValid", C.c_int, C.py_object, C.c_char_p)
_pointer = _python("PyCapsule_GetPointer", C.c_void_p, C.py_object, C.c_char_p)
_rename = _python("PyCapsule_SetName", C.c_int, C.py_object, C.c_char_p)

# The structs are in one block that malloc returned, and their deleter is `free`. So a consumer can
# call the deleter on any thread, and also after Python has ended.
_c = C.CDLL("ucrtbase" if sys.platform == "win32" else None)
_malloc = C.CFUNCTYPE(C.c_void_p, C.c_size_t)(("malloc", _c))
_free = C.CFUNCTYPE(None, C.c_void_p)(("free", _c))
_FREE = C.cast(_free, C.c_void_p).value


def capsule(address: int, shape: Shape, device: tuple[int, int]) -> object:
    """A capsule for a float32 array of this shape at an address, row by row and without gaps.
    `device` is (CPU or CUDA, number of the device). The capsule does not keep the memory alive.
    `withdraw` must be called at the end. Raises MemoryError."""
    count = len(shape)
    lengths = (C.c_int64 * count)(*shape)
    strides = (C.c_int64 * count)(*[math.prod(shape[axis + 1 :]) for axis in range(count)])
    at = _malloc(C.sizeof(_Managed) + 2 * C.sizeof(lengths))
    if not at:
        raise MemoryError("no memory for a DLPack capsule")
    first = at + C.sizeof(_Managed)
    second = first + C.sizeof(lengths)
    tensor = _Tensor(address, *device, count, _FLOAT, 32, 1, first, second, 0)
    block = bytes(_Managed(tensor, None, _FREE)) + bytes(lengths) + bytes(strides)
    C.memmove(at, block, len(block))
    return _new(at, _NAME, None)


def withdraw(made: object) -> None:
    """Frees the structs of a capsule unless a consumer has taken it. No consumer can take it
    afterwards."""
    if _is_valid(made, _NAME):
        at = _pointer(made, _NAME)
        _rename(made, _USED)
        _free(at)


Value = TypeVar("Value", bound=Any)


class DeviceArray:
    """A float32 array in the memory of a CUDA device, valid during one call of the model.

    Packages that know ``__cuda_array_interface__`` or DLPack can use it:
    ``torch.as_tensor(x, device="cuda")``, ``torch.from_dlpack(x)``, ``cupy.asarray(x)``. Work on
    the array must be enqueued on its stream. The model must not write to x: the interface does not
    mark x as read-only, because torch refuses such arrays.

    Attributes
    ----------
    shape, device, stream
        Shape of the array, number of the device, and address of the CUDA stream."""

    def __init__(self, address: int, shape: Shape, batch: S.Batch) -> None:
        self.shape, self.device, self.stream = shape, batch.device, batch.stream or 0
        self.__cuda_array_interface__ = dict(
            version=3, shape=shape, typestr="<f4", data=(address, False), strides=None, stream=None
        )
        self._address: int | None = address  # None after the call
        self._capsules: list[object] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Return a DLPack capsule. Other streams do not wait for the noise, so the consumer has to
        work on `stream`. Raises BufferError for another stream or device, for a copy, and after the
        call of the model."""
        if self._address is None:
            raise BufferError("the array is valid only during the call of the model: copy it there")
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("the array cannot be exported as a copy: import it, then copy it")
        legacy = 1  # CUDA's default stream, which None stands for
        if stream != -1 and (legacy if stream is None else stream) != self.stream:
            raise BufferError(
                "the array is imported on another stream than x.stream: make it the current one "
                "first, for torch by torch.cuda.stream(torch.cuda.ExternalStream(x.stream))"
            )
        self._capsules.append(capsule(self._address, self.shape, self.__dlpack_device__()))
        return self._capsules[-1]

    def _end(self) -> None:
        """Ends the array: later uses of it raise an exception."""
        del self.__cuda_array_interface__
        self._address = None
        while self._capsules:
            withdraw(self._capsules.pop())


def device_address(array: object, shape: Shape, what: str) -> int:
    """The address of a float32 array on a device. Raises ValueError for another type or shape, or
    if the array has gaps."""
    there = getattr(array, "__cuda_array_interface__")
    if tuple(there["shape"]) != shape or there["typestr"] != "<f4" or there.get("strides"):
        raise ValueError(
            f"{what} is {there['typestr']} of shape {tuple(there['shape'])}; "
            f"it must be float32 of shape {shape} without gaps"
        )
    return int(there["data"][0])


class Memory:
    """The memory of an estimator, `size` bytes. The arrays that the model gets are views of it and
    keep it alive. So an array that outlasts the estimator never refers to freed memory."""

    def __init__(self, size: int) -> None:
        room = np.empty(size + 64, np.uint8)
        self.bytes = room[-room.ctypes.data % 64 :][:size]
        self.address = self.bytes.ctypes.data

    def holds(self, address: int) -> bool:
        """Returns True if an address is in this memory."""
        return 0 <= address - self.address < self.bytes.size

    def array(self, address: int, shape: Shape) -> np.ndarray:
        """The float32 array of this shape at an address."""
        first = address - self.address
        part = self.bytes[first : first + 4 * math.prod(shape)]
        return part.view(np.float32).reshape(shape)


def columns_of(outputs: int, kind: np.ndarray | None) -> int:
    """The number of columns of a model: one for each output, and two for an ANGLE_PAIR."""
    return outputs + (0 if kind is None else int(np.sum(kind == Output.ANGLE_PAIR)))


def turns_of(kind: np.ndarray | None, lo: np.ndarray | None, hi: np.ndarray | None) -> Turns:
    """The turns of the outputs of kind ANGLE, by default from -pi to pi."""
    turns, column = [], 0
    for i, one in enumerate(() if kind is None else kind):
        if one == Output.ANGLE:
            first = -math.pi if lo is None or not math.isfinite(lo[i]) else float(lo[i])
            last = math.pi if hi is None or not math.isfinite(hi[i]) else float(hi[i])
            turns.append((column, first, last))
        column += 2 if one == Output.ANGLE_PAIR else 1
    return turns


def inputs_of(X: object) -> np.ndarray:
    """X as an array of shape (rows, ...). Raises TypeError or ValueError if X is sparse, masked,
    complex, ragged or empty, or if X is a DataFrame, since its names would be ignored."""
    if hasattr(X, "toarray"):
        raise TypeError("X is sparse: give X.toarray()")
    if isinstance(X, (list, tuple)) and any(of_class(x, "torch", "Tensor") for x in X):
        raise TypeError(
            "X is a list of tensors: give X[0] if it is a batch of inputs and labels, as from a "
            "DataLoader, or torch.stack(X) if each tensor is a row"
        )
    if isinstance(X, dict):
        names = ", ".join(map(repr, X))
        raise TypeError(
            f"X is a dict of {names:.60}: give one of its arrays, or pandas.DataFrame(X) of columns"
        )
    X = _from_torch(X)
    for kind, each in (("DataLoader", "np.concatenate"), ("Dataset", "np.stack")):
        if of_class(X, "torch.utils.data", kind):
            rows = f"{each}([x.numpy() for x, *_ in X])"
            raise TypeError(f"X is a {type(X).__name__} of torch: give its inputs, as {rows}")
    if isinstance(X, Iterator):
        raise TypeError(f"X is a {type(X).__name__}, which can be read once: give list(X)")
    if callable(X) or hasattr(X, "predict"):
        raise TypeError(f"X is a {type(X).__name__}: the model comes before X")
    if hasattr(X, "certificates"):
        raise TypeError("X is the Rows of certify_rows: give the inputs, which come before them")
    if of_class(X, "pandas", "Series"):
        raise TypeError("X is a Series: give rows of a DataFrame, one row as X.iloc[[0]] is")
    if hasattr(X, "columns"):
        if hasattr(X, "to_pandas"):  # of polars, Arrow and others
            kind = f"{type(X).__module__.partition('.')[0]}.{type(X).__name__}"
            raise TypeError(f"X is a {kind}, and must be one of pandas: give X.to_pandas()")
        raise TypeError(
            "X is a DataFrame: give X.to_numpy(), in the order of the model's features, and a "
            "model that takes arrays"
        )
    try:
        given = np.asanyarray(X)
    except ValueError:
        raise TypeError("X must hold numbers, in rows of the same length") from None
    _check_whole(given, "X")
    values: np.ndarray = np.asarray(given)
    kind = values.dtype.kind
    if kind in "US" or kind == "O" and any(isinstance(v, (str, bytes)) for v in values.flat):
        raise TypeError("X must hold numbers, not texts: a DataFrame may, and they get no noise")
    if values.ndim > 1 and not len(values):
        raise ValueError(f"X has shape {values.shape}; it must have at least one row")
    if values.ndim < 2 or not values.size:
        remedy = "X[None], or X.iloc[[0]] of a DataFrame, has one row"
        raise ValueError(
            f"X has shape {values.shape}; it must be (rows, features), or more: {remedy}"
        )
    return values


def _from_torch(values: Any) -> Any:
    """A tensor of torch as an array, of bfloat16 as float32; other values unchanged."""
    if not of_class(values, "torch", "Tensor"):
        return values
    tensor = values.detach().cpu()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


def unnamed(values: Value, what: str) -> Value:
    """The values. Raises TypeError for a DataFrame or Series, since its names would be ignored."""
    if hasattr(values, "columns") or of_class(values, "pandas", "Series"):
        raise TypeError(
            f"{what} is a {type(values).__name__}, and its names would be ignored: give "
            f"{what}.to_numpy(), in the order of the model"
        )
    return values


def _check_whole(values: object, what: str) -> None:
    """Raises ValueError or TypeError for masks, imaginary parts and units of time, since numpy
    would drop them without an exception."""
    if np.ma.is_masked(values):
        raise ValueError(f"{what} has masked values: fill them, or leave them out")
    dtype = getattr(values, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind == "c":
        raise TypeError(f"{what} holds complex numbers: give real and imaginary parts apart")
    if kind in ("m", "M"):
        raise TypeError(f"{what} holds {dtype}: give numbers of one unit")


def numbers(values: object, dtype: DType, what: str) -> np.ndarray:
    """The values as an array. Raises TypeError or ValueError if they are not real numbers."""
    _check_whole(values, what)
    values = _from_torch(values)
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError, OverflowError):
        remedy = f": give its {what}" if hasattr(values, what) else ""  # of a TunedScale
        raise TypeError(f"{what} must hold numbers, not {abbreviated(values)}{remedy}") from None


def frame_as_array(x: object, dtype: DType) -> np.ndarray:
    """An array or a DataFrame as an array. Raises TypeError if a column holds no numbers."""
    try:
        return np.asarray(x, dtype)
    except (TypeError, ValueError):
        raise TypeError(
            "the model takes arrays of numbers, and a column of X holds other values: leave it "
            "out, or give a function of DataFrames that encodes it"
        ) from None


def norm_above(values: np.ndarray, features: int) -> float:
    """The Euclidean norm of numbers of inputs with so many features, rounded up (theory 1.9)."""
    return float(np.linalg.norm(values)) * (1 + 1e-12 + 1e-16 * features)


def unusable(values: np.ndarray) -> np.ndarray:
    """True for values that are not finite, except for missing cells, which are NaN in a table."""
    return np.asarray(np.isinf(values) if values.ndim == 2 else ~np.isfinite(values))


def check_finite(
    values: np.ndarray, given: np.ndarray, what: str, wanted: str = "finite", missing: bool = False
) -> None:
    """Raises ValueError with the first value that is not finite, as it was given. With `missing`
    cells of a table may be NaN."""
    bad = np.argwhere(unusable(values) if missing else ~np.isfinite(values))
    if len(bad):
        at = tuple(bad[0].tolist())
        where = ", ".join(map(str, at))
        raise ValueError(f"{what}[{where}] is {given[at]}; it must be {wanted}")


def array_of(values: object, shape: Shape, dtype: DType, what: str) -> np.ndarray:
    """A contiguous flat array with a number for each element of `shape`. The values are one number
    for all elements, an array of this shape, or a flat array. Raises TypeError if they are not
    numbers, and ValueError if their shape is wrong."""
    given = numbers(unnamed(values, what), dtype, what)
    if given.ndim == 0:
        given = np.broadcast_to(given, shape)
    size = math.prod(shape)
    if given.shape not in (shape, (size,)):
        column = (-1, *[1] * (len(shape) - 1))
        remedy = f"; for channels give np.broadcast_to(np.reshape({what}, {column}), {shape})"
        remedy *= given.shape == shape[:1]
        raise ValueError(f"{what} has shape {given.shape}; it must be {shape}{remedy}")
    return np.ascontiguousarray(given.reshape(size))


def optional_array(values: object, shape: Shape, dtype: DType, what: str) -> np.ndarray | None:
    """array_of; None for None."""
    return None if values is None else array_of(values, shape, dtype, what)


def scale_of(values: object, shape: Shape) -> np.ndarray:
    """The scale of the noise, by default 1, flat and in float32, rounded up. Rounded down it would
    prove less in its units, or nothing if it became 0."""
    given = array_of(1 if values is None else values, shape, np.float64, "scale")
    nearest = numbers(given, np.float32, "scale")
    return np.where(nearest < given, np.nextafter(nearest, np.float32(np.inf)), nearest)


def optional_scale(values: object, shape: Shape) -> np.ndarray | None:
    """scale_of; None for None."""
    return None if values is None else scale_of(values, shape)


def flat_dtype(struct: Any) -> np.dtype[np.void]:
    """The dtype of a struct, with a field for each number of an array: fault_radius_0 and so on."""
    flat: list[tuple[str, str]] = []
    for name, kind, *shape in np.dtype(struct).descr:
        each = [f"{name}_{k}" for k in range(shape[0][0])] if shape else [name]
        flat += [(one, kind) for one in each]
    return np.dtype(flat)


def address_of(values: np.ndarray | None) -> int | None:
    """The address of an array; None for None."""
    return None if values is None else values.ctypes.data


@contextlib.contextmanager
def arrays_in_file(given: Path, what: str, version: int) -> Iterator[dict[str, np.ndarray]]:
    """The arrays of an .npz file of this package. Raises ValueError if the file is of another kind,
    or if an exception within the context shows that it is damaged."""
    path = path_of(given)
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            kept = {name: file[name] for name in file.files}
        if kept["version"] != version:
            raise ValueError("it is of another kind or version; make it again")
        yield kept
    except FileNotFoundError:
        raise
    except Exception as error:  # numpy and zipfile raise various classes for damaged files
        if getattr(error, "status", 0) == Status.PLATFORM:  # of this machine, not of the file
            raise
        why = "it is no .npz file" if "pickle" in str(error) else " ".join(str(error).split())
        raise ValueError(f"{path} is no {what}: {why}") from None


def call_on_a_device(model: Callable[..., object], batch: S.Batch, shape: Shape) -> None:
    """Calls the model with arrays x and y on the device. The model enqueues work that reads x and
    fills y."""
    x = DeviceArray(batch.x, (batch.rows, *shape), batch)
    y = DeviceArray(batch.y, (batch.rows, batch.columns), batch)
    try:
        if model(x, y) is not None:
            raise ValueError("on a device the model fills y and returns None")
    finally:
        x._end()
        y._end()


def call_on_the_host(
    model: Function,
    batch: S.Batch,
    shape: Shape,
    memory: Memory,
    restore: Callable[[np.ndarray], None],
    turns: Turns,
) -> None:
    """Calls the model with the rows of the batch that are needed, after restore(rows), and stores
    its outputs."""
    first, rows, count, columns = batch.used_first, batch.rows, batch.used_count, batch.columns
    x = memory.array(batch.x, (rows, *shape))[first : first + count]
    restore(x)
    x.flags.writeable = False
    y = memory.array(batch.y, (rows, columns))[first : first + count]
    y[...] = outputs_in_float32(outputs_of(model, x, columns), turns)


def shared_rows(batch: int, inputs: int, frames: bool = False) -> int:
    """The largest number of rows in a call of the model that several inputs share: `batch`; if that
    is 0, all float32 rows that fit into 16 MiB, at least 1 and at most 16,384. Calls with
    DataFrames have 32,768, since pipelines spend milliseconds on a call of any size."""
    return batch or max(1, min(2**15 if frames else 2**14, 2**22 // inputs))


def rows_at_once(width: int) -> int:
    """The rows that a network on a CPU computes at once, if its largest layer has `width` bytes for
    a row: those of 1.5 MiB, so that layers stay in the caches of a core, from 32 to 2,048."""
    return max(32, min(2**11, 3 * 2**19 // width))


def in_pieces(
    call: Callable[[Value], Value],
    rows: Value,
    piece: int,
    copy: Callable[[Value], Value],
    join: Callable[..., Value],
) -> Value:
    """The joined results of a network for pieces of the rows. They are copied, since a network may
    return memory that its next call overwrites."""
    if len(rows) <= piece:
        return call(rows)
    return join([copy(call(rows[at : at + piece])) for at in range(0, len(rows), piece)])


def outputs_in_float32(outputs: np.ndarray, turns: Turns) -> np.ndarray:
    """Outputs of shape (rows, columns) as float32. Angles beyond their turn [lo, hi) are moved into
    it first, since float32 would round them more coarsely."""
    if turns and outputs.dtype != np.float32:
        outputs = outputs.astype(np.float64)
        for column, lo, hi in turns:
            angles, turn = outputs[:, column], hi - lo
            beyond = np.isfinite(angles) & ((angles < lo) | (angles > hi))
            moved = np.remainder(angles[beyond], turn)
            angles[beyond] = moved + turn * np.ceil((lo - moved) / turn)
    return np.ascontiguousarray(outputs, np.float32)


def outputs_of(model: Function, x: np.ndarray, columns: int) -> np.ndarray:
    """The outputs of the model for the rows of x, of shape (rows, columns). Raises ValueError or
    TypeError if they are not that many real numbers."""
    try:
        return _real_outputs(model(x), len(x), columns)
    except Exception as error:
        with contextlib.suppress(Exception):  # its class may be anything
            (text,) = error.args
            error.args = (text + cause(model, text),)
        raise


def _real_outputs(returned: object, count: int, columns: int) -> np.ndarray:
    wanted, answer = (count, columns), np.asarray(returned)
    if np.ma.is_masked(returned):
        raise ValueError("the model returned masked values: fill them, with NaN if they failed")
    if answer.dtype.kind in "USMmc":
        raise TypeError(f"the model returned {answer.dtype}; it must return real numbers")
    if answer.shape != wanted and (answer.shape != (count,) or columns != 1):
        remedy = ""
        if answer.ndim == 2 and len(answer) == count:
            got = answer.shape[1]
            remedy = f": for {got} numbers in a row give outputs={got}"
            if got % 2 == 0:
                pairs = "a cosine and a sine" if got == 2 else f"{got // 2} of cosine and sine"
                remedy += f", for {pairs} outputs={got // 2} and kind='angle_pair'"
        raise ValueError(
            f"the model returned shape {answer.shape}; it must be {wanted}, by the arguments "
            f"outputs and kind{remedy}"
        )
    return answer.reshape(wanted)

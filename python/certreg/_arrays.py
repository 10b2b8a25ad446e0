"""Arrays that the library and a model share."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Callable, Iterator, Optional, Tuple

import numpy as np

from . import _dlpack
from ._optional import of_class
from ._arguments import abbreviated, path_of
from .constants import Output

Shape = Tuple[int, ...]


class DeviceArray:
    """A float32 array in the memory of a CUDA device, valid during one call of the model. Packages
    that know __cuda_array_interface__ or DLPack can use it: torch.as_tensor(x, device="cuda"),
    torch.from_dlpack(x), cupy.asarray(x). `device` is the number of the device. All work on the
    array must be enqueued on `stream`, the address of a CUDA stream. The model must not write to
    x. The interface does not say so, because torch refuses read-only arrays."""

    def __init__(self, address: int, shape: Shape, batch: Any) -> None:
        self.shape, self.device, self.stream = shape, batch.device, batch.stream or 0
        self.__cuda_array_interface__ = dict(
            version=3, shape=shape, typestr="<f4", data=(address, False), strides=None, stream=None
        )
        self._address: Optional[int] = address  # None after the call
        self._capsules: list[Any] = []

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _dlpack.CUDA, self.device

    def __dlpack__(
        self,
        *,
        stream: Optional[int] = None,
        max_version: Optional[Tuple[int, int]] = None,
        dl_device: Optional[Tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """A DLPack capsule. Other streams do not wait for the noise, so the consumer has to work on
        `stream`. Raises BufferError if it names another stream or device, if it wants a copy, or
        if the call of the model is over."""
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
        self._capsules.append(_dlpack.capsule(self._address, self.shape, self.__dlpack_device__()))
        return self._capsules[-1]

    def _end(self) -> None:
        """Ends the array: later uses of it raise an exception."""
        del self.__cuda_array_interface__
        self._address = None
        while self._capsules:
            _dlpack.withdraw(self._capsules.pop())


def device_address(array: Any, shape: Shape) -> int:
    """The address of a float32 array on a device. Raises ValueError if its type or shape is another
    one, or if it has gaps."""
    there = array.__cuda_array_interface__
    if tuple(there["shape"]) != shape or there["typestr"] != "<f4" or there.get("strides"):
        raise ValueError(
            f"out is {there['typestr']} of shape {tuple(there['shape'])}; "
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
        self.views: dict[Tuple[int, Shape], np.ndarray] = {}

    def holds(self, address: int) -> bool:
        """Whether an address lies in it."""
        return 0 <= address - self.address < self.bytes.size

    def array(self, address: int, shape: Shape) -> np.ndarray:
        """The float32 array of this shape at an address. There are few addresses, so views are
        reused."""
        view = self.views.get((address, shape))
        if view is None:
            first = address - self.address
            part = self.bytes[first : first + 4 * math.prod(shape)]
            view = self.views[address, shape] = part.view(np.float32).reshape(shape)
        return view


def columns_of(outputs: int, kind: Optional[np.ndarray]) -> int:
    """How many columns a model returns: one for each output, and two for an ANGLE_PAIR."""
    return outputs + (0 if kind is None else int(np.sum(kind == Output.ANGLE_PAIR)))


def inputs_of(X: Any) -> np.ndarray:
    """X as an array of shape (rows, ...). Raises TypeError or ValueError if it is sparse, masked,
    complex, ragged, has no rows, or has names for its columns, which would be ignored."""
    if hasattr(X, "toarray"):
        raise TypeError("X is sparse: give X.toarray()")
    if hasattr(X, "columns"):
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
    if values.ndim > 1 and not len(values):
        raise ValueError(f"X has shape {values.shape}; it must have at least one row")
    if values.ndim < 2 or not values.size:
        raise ValueError(f"X has shape {values.shape}; it must be (rows, features), or more")
    return values


def unnamed(values: Any, what: str) -> Any:
    """The values. Raises TypeError if they have names, as a DataFrame or Series, which would be
    ignored."""
    if hasattr(values, "columns") or of_class(values, "pandas", "Series"):
        raise TypeError(
            f"{what} is a {type(values).__name__}, and nothing looks at its names: give "
            f"{what}.to_numpy(), in the order of the model"
        )
    return values


def _check_whole(values: Any, what: str) -> None:
    """Raises ValueError or TypeError for masks, imaginary parts and units of time, which numpy
    would drop without an exception."""
    if np.ma.is_masked(values):
        raise ValueError(f"{what} has masked values: fill them, or leave them out")
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if kind == "c":
        raise TypeError(f"{what} holds complex numbers: give real and imaginary parts apart")
    if kind in ("m", "M"):
        raise TypeError(f"{what} holds {values.dtype}: give numbers of one unit")


def numbers(values: Any, dtype: Any, what: str) -> np.ndarray:
    """`values` as an array. Raises TypeError or ValueError if they are not real numbers."""
    _check_whole(values, what)
    try:
        return np.asarray(values, dtype)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{what} must hold numbers, not {abbreviated(values)}") from None


def of_frame(x: Any, dtype: Any) -> np.ndarray:
    """An array, or a DataFrame of numbers, as an array for a model that takes no other. Raises
    TypeError if a column holds no numbers."""
    try:
        return np.asarray(x, dtype)
    except (TypeError, ValueError):
        raise TypeError(
            "the model takes arrays of numbers, and a column of X holds others: leave it out, or "
            "give a function of DataFrames that encodes it"
        ) from None


def check_finite(values: np.ndarray, given: Any, what: str, wanted: str = "finite") -> None:
    """Raises ValueError with the first of the values that is not finite, as it was given."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        at = tuple(bad[0].tolist())
        where = ", ".join(map(str, at))
        raise ValueError(f"{what}[{where}] is {given[at]}; it must be {wanted}")


def array_of(values: Any, shape: Shape, dtype: Any, what: str) -> Any:
    """`values` as a contiguous flat array with a number for each element of `shape`. Values are one
    number for all elements, an array of this shape, or a flat one; None stays None. Raises
    TypeError if they are not numbers, and ValueError if their shape is wrong."""
    if unnamed(values, what) is None:
        return None
    values = numbers(values, dtype, what)
    if values.ndim == 0:
        values = np.broadcast_to(values, shape)
    size = math.prod(shape)
    if values.shape not in (shape, (size,)):
        raise ValueError(f"{what} has shape {values.shape}; it must be {shape}")
    return np.ascontiguousarray(values.reshape(size))


def scale_of(values: Any, shape: Shape) -> Any:
    """The scale of the noise as array_of gives it, in float32. It is rounded up: less noise than
    was asked for would prove less in its units, and a scale that became 0 nothing."""
    given = array_of(values, shape, np.float64, "scale")
    if given is None:
        return None
    nearest = numbers(given, np.float32, "scale")
    return np.where(nearest < given, np.nextafter(nearest, np.float32(np.inf)), nearest)


def address_of(values: Optional[np.ndarray]) -> Optional[int]:
    """The address of an array; None for None."""
    return None if values is None else values.ctypes.data


@contextlib.contextmanager
def kept_in(path: Any, what: str, version: int) -> Iterator[dict[str, np.ndarray]]:
    """The arrays of an .npz file of this package. Raises ValueError if it is none, or if an
    exception shows within the context that its values are damaged."""
    path = path_of(path)
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            kept = {name: file[name] for name in file.files}
        if kept["version"] != version:
            raise ValueError("another version wrote it; make it again")
        yield kept
    except FileNotFoundError:
        raise
    except Exception as error:  # what numpy and zipfile raise for damaged files is not told
        said = " ".join(str(error).split())
        raise ValueError(f"{path} is no {what}: {said}") from None


def call_on_a_device(model: Callable[..., Any], batch: Any, shape: Shape) -> None:
    """Calls the model with arrays x and y on the device. It enqueues work that reads x and fills
    y."""
    x = DeviceArray(batch.x, (batch.rows, *shape), batch)
    y = DeviceArray(batch.y, (batch.rows, batch.columns), batch)
    try:
        if model(x, y) is not None:
            raise ValueError("on a device the model fills y and returns None")
    finally:
        x._end()
        y._end()


def call_on_the_host(model: Callable[..., Any], batch: Any, shape: Shape, memory: Memory) -> None:
    """Calls the model with the rows of the batch that are needed, and stores what it returns."""
    first, rows, count, columns = batch.used_first, batch.rows, batch.used_count, batch.columns
    x = memory.array(batch.x, (rows, *shape))[first : first + count]
    x.flags.writeable = False
    y = memory.array(batch.y, (rows, columns))[first : first + count]
    returned = model(x)
    answer = np.asarray(returned)
    if np.ma.is_masked(returned):
        raise ValueError("the model returned masked values: fill them, with NaN if they failed")
    if answer.dtype.kind in "USMmc":
        raise TypeError(f"the model returned {answer.dtype}; it must return real numbers")
    if answer.shape != y.shape and (answer.shape != (count,) or columns != 1):
        remedy = ""
        if answer.ndim == 2 and len(answer) == count:
            remedy = f": for {answer.shape[1]} numbers in a row give outputs={answer.shape[1]}"
        raise ValueError(
            f"the model returned shape {answer.shape}; it must be {y.shape}, as the arguments "
            f"outputs and kind say{remedy}"
        )
    y[...] = answer.reshape(y.shape)

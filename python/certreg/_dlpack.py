"""DLPack by ctypes: capsules for torch.from_dlpack and other consumers."""

from __future__ import annotations

import ctypes as C
import math
import sys
from typing import Callable

from ._types import Shape

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

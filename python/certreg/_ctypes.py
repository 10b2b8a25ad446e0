"""The number types of the library for ctypes, and the base class of its structs."""

from __future__ import annotations

import ctypes as C
from typing import Any, ClassVar, TypeAlias

from ._arguments import integer, number

Kind: TypeAlias = Any  # a type of ctypes, which no common class describes
i32, u32, i64, u64 = C.c_int32, C.c_uint32, C.c_int64, C.c_uint64
f64, size_t, pointer = C.c_double, C.c_size_t, C.c_void_p
_INTEGERS = {kind: (C.sizeof(kind), kind in (i32, i64)) for kind in (i32, u32, i64, u64, size_t)}
if C.sizeof(pointer) != 8:
    raise ImportError("this package needs a 64-bit Python")


def fields(*groups: tuple[Kind, str]) -> list[tuple[str, Kind]]:
    """The `_fields_` of a struct. Each group is a type and the names of its fields."""
    return [(name, kind) for kind, names in groups for name in names.split()]


def _checked(kind: Kind, name: str, value: object) -> object:
    """The value of a field. Raises TypeError for a wrong type, and ValueError for an integer out of
    range, since ctypes would keep its lowest bits."""
    if type(value) is float and kind is f64 or type(value) is int and 0 <= value < 2**31:
        return value
    if kind in _INTEGERS:
        size, signed = _INTEGERS[kind]
        bits = 8 * size - signed
        return integer(value, name, -(2**bits) if signed else 0, 2**bits - 1)
    return number(value, name) if kind is f64 else value


class Struct(C.Structure):
    """A struct of the library. The constructor sets `struct_size`; other fields are zero unless
    they are given."""

    kinds: ClassVar[dict[str, Kind]]

    def __init_subclass__(cls) -> None:
        cls.kinds = dict(cls._fields_)  # type: ignore[arg-type]

    def __init__(self, **given: object) -> None:
        checked = {name: _checked(self.kinds[name], name, value) for name, value in given.items()}
        super().__init__(struct_size=C.sizeof(self), **checked)

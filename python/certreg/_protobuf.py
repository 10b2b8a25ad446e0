"""Reads and writes ONNX files as protobuf messages, without the package onnx. The numbers of fields
are from onnx.proto."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from ._files import replace as replace

Field = tuple[int, int, Any]  # number, wire type, and value: an integer for VARINT, else bytes
Attribute = int | Sequence[int]  # of a node
Message = Sequence[Field]
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
FLOAT, INT64, BOOL = 1, 7, 9  # types of tensors
NODE, CONSTANT, INPUT, OUTPUT = 1, 5, 11, 12  # of a graph
IR_VERSION, GRAPH, OPSET, METADATA = 1, 7, 8, 14  # of a model
_TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64, np.dtype(np.bool_): BOOL}


# ---- bytes
def packed(message: Iterable[Field]) -> bytes:
    """The bytes of a message."""
    out = bytearray()
    for number, kind, value in message:
        out += _varint(number << 3 | kind)
        out += _varint(len(value)) if kind == BYTES else b""
        out += _varint(value) if kind == VARINT else value
    return bytes(out)


def _varint(value: int) -> bytes:
    value, out = value % 2**64, bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes((*out, value))


def parsed(data: bytes) -> list[Field]:
    """The fields of a message. Raises ValueError for other bytes."""
    at = 0
    found: list[Field] = []
    while at < len(data):
        key, at = _number(data, at)
        kind, size = key & 7, {FIXED64: 8, FIXED32: 4}.get(key & 7, len(data) + 1)
        if kind in (VARINT, BYTES):
            size, at = _number(data, at)
        if kind == VARINT:
            found.append((key >> 3, kind, size))
        else:
            found.append((key >> 3, kind, data[at : at + size]))
            at += size
    if at > len(data):
        raise ValueError("it is damaged, or no ONNX model")
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A varint, and the position of its end."""
    value = 0
    for place, byte in enumerate(data[at : at + 10]):
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, at + place + 1
    raise ValueError("it is damaged, or no ONNX model")


# ---- reading
def of(message: Message, number: int, kind: int = BYTES) -> list[Any]:
    """The values of the fields with this number; messages as their fields."""
    return [value for at, found, value in message if (at, found) == (number, kind)]


def parts(message: Message, *numbers: int) -> list[Message]:
    """The messages in the fields with the first number, then the messages in their fields with the
    next number, and so on."""
    found = [message]
    for number in numbers:
        found = [parsed(data) for one in found for data in of(one, number)]
    return found


def number_in(message: Message, number: int) -> int:
    """A number; 0 if there is none."""
    return int((of(message, number, VARINT) or [0])[-1])


def text_in(message: Message, number: int) -> str:
    """A text; empty if there is none."""
    return str((of(message, number) or [b""])[-1], "utf-8", "replace")


# ---- writing
def whole(number: int, value: int) -> Field:
    return number, VARINT, value


def text(number: int, value: str) -> Field:
    return number, BYTES, value.encode()


def part(number: int, message: Iterable[Field]) -> Field:
    return number, BYTES, packed(message)


def node(operator: str, inputs: Sequence[str], output: str, **attributes: Attribute) -> Field:
    """A node."""
    of_it = [part(5, _attribute(*pair)) for pair in attributes.items()]
    names = [*(text(1, name) for name in inputs), text(2, output), text(4, operator)]
    return part(NODE, names + of_it)


def _attribute(name: str, value: Attribute) -> Message:
    values = [whole(3, value)] if isinstance(value, int) else [whole(8, v) for v in value]
    return [text(1, name), *values, whole(20, 2 if isinstance(value, int) else 7)]


def constant(name: str, values: np.ndarray) -> Field:
    """An array that nodes read by its name."""
    lengths = [whole(1, length) for length in values.shape]
    data = (9, BYTES, np.ascontiguousarray(values).tobytes())
    return part(CONSTANT, [*lengths, whole(2, _TYPES[values.dtype]), text(8, name), data])


def tensor(number: int, name: str, lengths: Sequence[int | str], kind: int = FLOAT) -> Field:
    """An INPUT or OUTPUT. Free lengths are names."""
    sides = [part(1, [whole(1, n) if isinstance(n, int) else text(2, n)]) for n in lengths]
    return part(number, [text(1, name), part(2, [part(1, [whole(1, kind), part(2, sides)])])])


def model(graph: Iterable[Field], metadata: Mapping[str, str], others: Message) -> bytes:
    """The bytes of a file. `others` are versions and other fields."""
    entries = [part(METADATA, [text(1, key), text(2, value)]) for key, value in metadata.items()]
    return packed([*others, part(GRAPH, graph), *entries])

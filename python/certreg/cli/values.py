"""Converts the texts of options to numbers."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
from typing import Any, Callable

from ..questions import percentage
from .failure import Failure

Kind = Callable[[str], Any]  # reads the text of an option


class _Wrong(Exception):
    """The text of an option is wrong; the message has the expected kind."""


def _number(text: str, expected: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _Wrong(expected) from None


def _between(expected: str, holds: Callable[[float], bool]) -> Kind:
    """Reads a number that satisfies a condition."""

    def read(text: str) -> float:
        value = _number(text, expected)
        if not holds(value):
            raise _Wrong(expected)
        return value

    return read


_positive = _between("a positive number", lambda x: 0 < x < math.inf)
_not_negative = _between("a number of at least 0", lambda x: 0 <= x < math.inf)
_above_one = _between("a number above 1", lambda x: 1 < x < math.inf)
_probability = _between("a probability above 0 and at most 0.5", lambda x: 0 < x <= 0.5)
_trim = _between("a share of at least 0 and below 0.5", lambda x: 0 <= x < 0.5)


def _integer(least: int, most: int, expected: str) -> Kind:
    """Reads an integer from least to most, which may be written like 1e4."""

    def read(text: str) -> int:
        exact = re.fullmatch(r"\d+", text)
        value: float = int(text) if exact else _number(text, expected)
        if not least <= value <= most or value != int(value):
            raise _Wrong(expected)
        return int(value)

    return read


def _list_of(kind: Kind) -> Kind:
    def read(text: str) -> tuple[object, ...]:
        values = tuple(kind(part) for part in text.split(","))
        if len(set(values)) < len(values):
            raise _Wrong("a list of different numbers")
        return values

    return read


def _tolerance(text: str) -> float | str:
    """Reads a positive number, or a percentage, which Question reads."""
    if not text.endswith("%"):
        return _positive(text)  # type: ignore[no-any-return]
    try:
        percentage(text)
    except ValueError:
        raise _Wrong("a positive number, or a percentage like 10%") from None
    return text


def _tensor(text: str) -> str:
    with contextlib.suppress(ValueError):
        float(text)
        raise _Wrong("the name of an output of an .onnx file")
    return text


def _output(text: str) -> object:
    try:
        return _tensor(text)
    except _Wrong:
        return _index(text)


def _columns(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,9}):(\d{1,9})", text)
    if not found or int(found[1]) >= int(found[2]):
        raise _Wrong("a range of columns like 3:6, which are the columns 3, 4 and 5")
    return int(found[1]), int(found[2])


def _rows(text: str) -> tuple[int, int | None]:
    found = re.fullmatch(r"(\d*):(\d*)", text)
    if not found:
        raise _Wrong("a range of rows like 0:100, :100 or 100:")
    first, end = int(found[1] or 0), int(found[2]) if found[2] else None
    if end is not None and end <= first:
        raise _Wrong("a range with rows in it")
    return first, end


def _serving(text: str) -> tuple[int, float, bool]:
    count, comma, rest = text.partition(",")
    rate, _, mode = rest.partition(",")
    if not comma or mode not in ("", "pairs"):
        raise _Wrong("a number of samples and a probability, like 101,0.01 or 101,0.01,pairs")
    return _count(count), _probability(rate), mode == "pairs"


def _requirement(text: str) -> tuple[float, float]:
    expected = "a share above 0 and at most 1, or a share and a radius, like 0.95@0.2"
    share, _, radius = text.partition("@")
    least = _number(radius, expected) if radius else 0.0
    if "@" in text and not radius or not 0 <= least < math.inf:
        raise _Wrong(expected)
    return _between(expected, lambda x: 0 < x <= 1)(share), least


def _range(text: str) -> tuple[float, float]:
    expected = "two numbers, the lower one first, like -1,1"
    low, _, high = text.partition(",")
    limits = _number(low, expected), _number(high, expected)
    if not limits[0] < limits[1]:
        raise _Wrong(expected)
    return limits


def _levels(text: str) -> tuple[float, ...]:
    expected = "the lowest and the highest noise level, like .1,.7"
    levels = tuple(_number(part, expected) for part in text.split(","))
    if len(levels) != 2 or not 0 < levels[0] <= levels[1] < math.inf:
        raise _Wrong(expected)
    return levels


def _shape(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"[1-9]\d{0,8}(,[1-9]\d{0,8})*", text):
        raise _Wrong("lengths, like 28,28")
    return tuple(map(int, text.split(",")))


def _units(text: str) -> tuple[object, str | None]:
    """The step and the kind of inputs, as Perturbations takes them."""
    if text in ("image", "sound"):
        return None, text
    expected = "image, sound or a positive step"
    return _between(expected, lambda x: 0 < x < math.inf)(text), None


_index = _integer(0, 2**31 - 1, "the index of an output (-o names the file of results)")
_count = _integer(1, 2**53, "an integer of at least 1")
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("sigma", "radius", "target", "huber_width", "core"), _positive),
    **dict.fromkeys("bonferroni samples calls batch pilot rounds steps".split(), _count),
    "jobs": _integer(-1, 2**53, "a number of processes; 0, -1: one for each processor"),
    "tolerance": _list_of(_tolerance),
    "alpha": _probability,
    "serve": _serving,
    "trim": _trim,
    "seed": _integer(1, 2**64 - 1, "an integer from 1 to 2^64 - 1; without it one is drawn"),
    "output": _output,
    "columns": _columns,
    "range": _range,
    "rows": _rows,
    "limit": _above_one,
    "missing": _between("a number", math.isfinite),
    "shape": _shape,
    "units": _units,
    "require": _requirement,
}


def converted(given: argparse.Namespace) -> argparse.Namespace:
    """Converts the texts of options in `given`. Defaults stay as they are. Raises Failure for a
    wrong text."""
    kinds = dict(_KINDS)
    if given.command in ("sigma", "scale", "certify", "bounds"):
        kinds["sigma"] = _list_of(_positive)
    if given.command == "denoise train":
        kinds["sigma"] = _levels
    if given.command in ("check", "info"):
        kinds["output"] = _tensor
    if given.command == "check":
        kinds["calls"] = _integer(19, 2**53, "an integer of at least 19")
    if given.command == "interval":
        kinds["radius"] = _not_negative
    for name, text in vars(given).items():
        if name in kinds and isinstance(text, str):
            setattr(given, name, _value(kinds[name], name, text))
    if given.command in ("certify", "bounds") and len(given.sigma) == 1:
        given.sigma = given.sigma[0]  # a single level has the first noise of its domain
    output = getattr(given, "output", None)
    given.index_given = isinstance(output, int)
    if isinstance(output, str):
        given.tensor = output
    given.output = output if given.index_given else 0
    return given


def _value(kind: Kind, name: str, text: str) -> object:
    try:
        return kind(text)
    except _Wrong as wrong:
        option = "--" + name.replace("_", "-")
        raise Failure(f"{option} is {text!r}; it must be {wrong}") from None

"""The sets of changes that --any, --at-most and --brightness name."""

from __future__ import annotations

import argparse
import math
import re
from typing import Callable, cast

import numpy as np

from ..alternatives import AtMost, ChangeSet, Gain, OneOf
from ..arguments import Frame, Names
from ..frames import is_frame
from .failure import Failure

_PER_CENT = re.compile(r"([+-]?[\d.]+)%")


def alternatives_of(
    given: argparse.Namespace,
    X: Frame,
    names: Names,
    whole: Callable[[], Frame],
    remark: Callable[[str], object],
) -> list[ChangeSet] | None:
    """The sets, about inputs with these names of features; None if no option names any. `whole`
    returns all inputs of the file, of which X may be a part."""

    def column(text: str) -> int | str:
        if is_frame(X):
            return text
        if names and text in names:
            return list(map(str, names)).index(text)
        if text.isdecimal():
            return int(text)
        raise Failure(f"there is no column {text!r}: give a name, or an index from 0")

    def one_of(text: str) -> OneOf:
        at = column(text)
        if not given.rows or at not in (X.columns if is_frame(X) else range(X.shape[1])):
            return OneOf(at)
        every = whole()[at] if is_frame(X) else whole()[:, cast(int, at)]
        if hasattr(every.dtype, "categories"):
            return OneOf(at)
        if not is_frame(X):
            every = every[~np.isnan(every)]
        return OneOf(at, list(dict.fromkeys(every.tolist())), check=False)

    found: list[ChangeSet] = [one_of(text) for text in given.any or ()]
    for text in given.at_most or ():
        count, colon, columns = text.partition(":")
        if not colon or not count.isdecimal():
            raise Failure(f"--at-most is {text!r}; it must be a number and columns, like 2:a,b,c")
        found.append(AtMost(int(count), [one_of(part) for part in columns.split(",")]))
    if given.brightness:
        lo, hi = _range(given.brightness)
        white = 1.0 if is_frame(X) or np.max(X) <= 1 else 255.0
        remark(f"brightness clips pixels to 0 and {white:g}")
        found.append(Gain(lo, hi, clip=(0.0, white)))
    return found or None


def _range(text: str) -> tuple[float, float]:
    parts = [_PER_CENT.fullmatch(part.strip()) for part in text.split(",")]
    try:
        ends = [float(part[1]) / 100 if part else math.nan for part in parts]
    except ValueError:
        ends = []
    if len(ends) == 1:
        ends = [-ends[0], ends[0]]
    if len(ends) != 2 or not ends[0] <= 0 <= ends[1] or ends[0] == ends[1]:
        raise Failure(
            f"--brightness is {text!r}; it must be a percentage like 25%, or two around 0 like "
            "-10%,25%"
        )
    return 1 + ends[0], 1 + ends[1]

"""Plots of the experiments, where matplotlib is installed."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from certreg._optional import needed
from certreg.plots import plot_radii

from .files import whole


@contextlib.contextmanager
def where_possible() -> Iterator[None]:
    """Leaves the plots out, with a line that says so, where matplotlib is missing."""
    try:
        yield
    except ImportError as error:
        print(f"  no plots: {error}")


def radii(path: pathlib.Path, curves: Mapping[str, np.ndarray], title: str) -> None:
    """The share of images certified at each radius."""
    ax = axes("", "", title)
    plot_radii(curves, ax=ax)
    save(ax, path)


def lines(
    path: pathlib.Path,
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    labels: tuple[str, str],
    title: str,
    log: bool = False,
) -> None:
    """One line with marks for each curve."""
    ax = axes(*labels, title)
    for name, (x, y) in curves.items():
        ax.plot(x, y, marker="o", markersize=3, label=name)
    if log:
        ax.set_xscale("log")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    save(ax, path)


def axes(x: str, y: str, title: str) -> Any:
    """Axes of a figure of their own."""
    (ax,) = panels((y,), x, (6.4, 4))
    ax.set_title(title, fontsize=10)
    return ax


def panels(y: Sequence[str], x: str, size: tuple[float, float]) -> Sequence[Any]:
    """Axes beside each other in one figure, with these labels."""
    # The same file every time, with text as text.
    needed("matplotlib", "a plot").rcParams.update(
        {"svg.hashsalt": "certreg", "svg.fonttype": "none"}
    )
    figure = needed("matplotlib.figure", "a plot").Figure(figsize=size, layout="constrained")
    row: Sequence[Any] = figure.subplots(1, len(y), squeeze=False)[0]
    for ax, label in zip(row, y):
        ax.set_xlabel(x)
        ax.set_ylabel(label)
    return row


def save(ax: Any, path: pathlib.Path) -> None:
    """Writes the figure without the date, and makes its folder."""
    path.parent.mkdir(exist_ok=True)
    text = io.StringIO()
    ax.figure.savefig(text, format="svg", metadata={"Date": None})
    with whole(path) as file:
        file.write(shortened(text.getvalue()).encode())


def shortened(svg: str) -> str:
    """Coordinates to a hundredth of a point, which halves the file."""
    return _COORDINATES.sub(lambda found: _DECIMALS.sub(_rounded, found[0]), svg)


_COORDINATES = re.compile(r'(?<=[ \n])(d|x|y)="[^"]*"')
_DECIMALS = re.compile(r"-?\d+\.\d+")


def _rounded(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # no -0

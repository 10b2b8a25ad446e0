"""Plots of the experiments, where matplotlib is installed."""

from __future__ import annotations

import contextlib
import pathlib
from typing import Iterator, Mapping, Sequence

import numpy as np

from certreg.plots import plot_radii


@contextlib.contextmanager
def where_possible() -> Iterator[None]:
    """Leaves the plots out, with a line that says so, where matplotlib is missing."""
    try:
        yield
    except ImportError as error:
        print(f"  no plots: {error}")


def radii(path: pathlib.Path, curves: Mapping[str, np.ndarray], title: str) -> None:
    """The share of images certified at each radius."""
    plot_radii(curves, path, _axes("", "", title))


def lines(
    path: pathlib.Path,
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    labels: tuple[str, str],
    title: str,
    log: bool = False,
) -> None:
    """One line with marks for each curve."""
    ax = _axes(*labels, title)
    for name, (x, y) in curves.items():
        ax.plot(x, y, marker="o", markersize=3, label=name)
    if log:
        ax.set_xscale("log")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8)
    ax.figure.savefig(path)


def _axes(x: str, y: str, title: str):  # type: ignore[no-untyped-def]
    from certreg._optional import needed

    needed("matplotlib", "a plot").rcParams["svg.hashsalt"] = "certreg"  # the same file every time
    figure = needed("matplotlib.figure", "a plot").Figure(figsize=(6.4, 4), layout="constrained")
    ax = figure.add_subplot()
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title, fontsize=10)
    return ax

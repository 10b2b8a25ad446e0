"""Plots of certificates, by matplotlib. They do not touch pyplot and its windows."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Tuple, Union

import numpy as np

from ._optional import needed

Path = Union[str, "os.PathLike[str]", None]


def plot_radii(
    curves: Mapping[str, Any], path: Path = None, ax: Any = None, title: Optional[str] = None
) -> Any:
    """The share of inputs that are certified up to a radius, over the radius.

    curves  radii of the inputs, by the name of the curve. Radii that are 0 or NaN are no
            certificates
    path    where to write the plot, in the format of its suffix; None: nowhere
    ax      Axes of matplotlib to draw into; None: those of a new figure

    Returns the Axes. Without matplotlib there is an ImportError."""
    everything = {name: (radii, True) for name, radii in curves.items()}
    return _plot_shares(everything, "share of inputs certified", path, ax, title)


def plot_accuracy(
    curves: Mapping[str, Tuple[Any, Any]],
    path: Path = None,
    ax: Any = None,
    title: Optional[str] = None,
) -> Any:
    """The certified accuracy: the share of inputs that are answered correctly and certified up to a
    radius. curves: radii of the inputs, and whether their answers are correct, by the name of the
    curve. The rest is as in plot_radii."""
    return _plot_shares(curves, "certified accuracy", path, ax, title)


def plot_reach(
    radii: Any,
    lo: Any,
    hi: Any,
    prediction: float,
    path: Path = None,
    ax: Any = None,
    title: Optional[str] = None,
) -> Any:
    """Where the output of one input stays, over the radius.

    radii   ascending
    lo, hi  the output bounds at each radius, infinite or NaN where there is none
    prediction  of the input

    The rest is as in plot_radii."""
    radii, lo, hi = (np.asarray(values, np.float64) for values in (radii, lo, hi))
    if not radii.shape == lo.shape == hi.shape == (radii.size,):
        raise ValueError(
            f"radii, lo and hi have shapes {radii.shape}, {lo.shape} and {hi.shape}; "
            "they must be rows of the same length"
        )
    ax = _axes(ax, "output", title)
    ax.fill_between(radii, lo, hi, alpha=0.3, label="certified")
    ax.axhline(prediction, color="black", linewidth=1, label="prediction")
    return _finished(ax, path)


def _plot_shares(
    curves: Mapping[str, Tuple[Any, Any]], what: str, path: Path, ax: Any, title: Optional[str]
) -> Any:
    points = {name: shares(*of, name) for name, of in curves.items()}
    ax = _axes(ax, what, title)
    for name, (radii, share) in points.items():
        ax.plot(radii, share, drawstyle="steps-pre", label=name)
    ax.set_ylim(0, 1.02)
    return _finished(ax, path)


def shares(radii: Any, correct: Any, name: str = "a curve") -> tuple[np.ndarray, np.ndarray]:
    """The corners of a curve: radii from 0, and the share of inputs that are correct and certified
    up to each. Between two corners the share is that of the larger radius."""
    radii, correct = np.asarray(radii, np.float64), np.asarray(correct, bool)
    if radii.ndim != 1 or not radii.size:
        raise ValueError(
            f"{name!r} has radii of shape {radii.shape}; they must be a row of numbers"
        )
    if correct.shape not in ((), radii.shape):
        raise ValueError(
            f"{name!r} has {radii.size} radii, but {correct.size} answers that are correct or not"
        )
    certified = np.sort(radii[correct & (radii > 0)])
    corners = np.concatenate([[0], certified, certified[-1:]])
    count = np.concatenate([[len(certified)], np.arange(len(certified), -1, -1)])
    return corners, count[: len(corners)] / radii.size


def _axes(ax: Any, what: str, title: Optional[str]) -> Any:
    if ax is None:
        figure = needed("matplotlib.figure", "a plot").Figure(layout="constrained")
        ax = figure.add_subplot()
    ax.set_xlabel("radius")
    ax.set_ylabel(what)
    if title is not None:
        ax.set_title(title)
    return ax


def _finished(ax: Any, path: Path) -> Any:
    ax.set_xlim(left=0)
    ax.grid(alpha=0.3)
    ax.legend()
    if path is not None:
        ax.figure.savefig(path)
    return ax

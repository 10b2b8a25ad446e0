"""Plots of certificates by matplotlib, without pyplot and its windows."""

from __future__ import annotations

import functools
import io
import os
from typing import Any, Mapping, Optional, Tuple, Union

import numpy as np

from ._files import replace
from ._optional import needed
from .results import WorstFunction

Path = Union[str, "os.PathLike[str]", None]


def plot_radii(
    curves: Mapping[str, Any], path: Path = None, ax: Any = None, title: Optional[str] = None
) -> Any:
    """Plots the share of inputs whose certified radius is at least r, as a function of r.

    curves  a dict from the name of each curve to the radii of the inputs, (inputs,). A radius of 0
            or NaN means that the input is not certified
    path    file to write the plot to, in the format of its suffix; None: none
    ax      Axes of matplotlib to draw into; None: those of a new figure
    title   of the plot; None: none

    Returns the Axes. Raises ImportError if matplotlib is missing, and ValueError for a wrong
    shape."""
    everything = {name: (radii, True) for name, radii in curves.items()}
    return _plot_shares(everything, "share of inputs with radius ≥ r", path, ax, title)


def plot_accuracy(
    curves: Mapping[str, Tuple[Any, Any]],
    path: Path = None,
    ax: Any = None,
    title: Optional[str] = None,
) -> Any:
    """Plots the certified accuracy: the share of inputs whose answer is correct and whose certified
    radius is at least r, as a function of r.

    curves  a dict from the name of each curve to a pair: the radii of the inputs, (inputs,), and
            whether their answers are correct, (inputs,) of bool

    The rest is as in plot_radii."""
    return _plot_shares(curves, "share right and with radius ≥ r", path, ax, title)


def plot_reach(
    radii: Any,
    lo: Any,
    hi: Any,
    prediction: float,
    path: Path = None,
    ax: Any = None,
    title: Optional[str] = None,
) -> Any:
    """Plots the output bounds of one input as a function of the radius.

    radii       ascending, (n,)
    lo, hi      output bounds at each radius, (n,); infinite or NaN where there are none
    prediction  of the input

    The rest is as in plot_radii."""
    radii, lo, hi = (np.asarray(values, np.float64) for values in (radii, lo, hi))
    if not radii.shape == lo.shape == hi.shape == (radii.size,):
        raise ValueError(
            f"radii, lo and hi have shapes {radii.shape}, {lo.shape} and {hi.shape}; "
            "they must have one dimension and the same length"
        )
    ax = _axes(ax, "output", title)
    ax.fill_between(radii, lo, hi, alpha=0.3, label="certified")
    ax.axhline(prediction, color="black", linewidth=1, label="prediction")
    return _finished(ax, path)


def plot_worst_function(
    curves: Union[WorstFunction, Mapping[str, WorstFunction]],
    path: Path = None,
    ax: Any = None,
    title: Optional[str] = None,
) -> Any:
    """Plots worst functions as functions of the noise along the shift.

    curves  a WorstFunction, or a dict from the name of each curve to one

    The rest is as in plot_radii."""
    if isinstance(curves, WorstFunction):
        curves = {f"radius {curves.radius:g}": curves}
    ax = _axes(ax, "worst function", title, "noise along the shift / σ")
    right = max([4.0, *(3 + function.tilt for function in curves.values())])
    for name, function in curves.items():
        breakpoints = np.asarray(function.breakpoints)
        t = np.concatenate([np.linspace(-4, right, 801), breakpoints, breakpoints + 1e-9])
        t = np.sort(t[(t >= -4) & (t <= right)])
        ax.plot(t, function.values(t), label=name)
    return _finished(ax, path, -4)


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
    """The corners of a curve: ascending radii from 0, and for each the share of inputs that are
    correct and certified at this radius. Between two corners the share is the one at the larger
    radius."""
    radii, correct = np.asarray(radii, np.float64), np.asarray(correct, bool)
    if radii.ndim != 1 or not radii.size:
        raise ValueError(
            f"{name!r} has radii of shape {radii.shape}; they must be a list of numbers"
        )
    if correct.shape not in ((), radii.shape):
        raise ValueError(f"{name!r} has {radii.size} radii, but {correct.size} values in `correct`")
    certified = np.sort(radii[correct & (radii > 0)])
    corners = np.concatenate([[0], certified, certified[-1:]])
    count = np.concatenate([[len(certified)], np.arange(len(certified), -1, -1)])
    return corners, count[: len(corners)] / radii.size


def _axes(ax: Any, what: str, title: Optional[str], across: str = "radius r") -> Any:
    if ax is None:
        figure = needed("matplotlib.figure", "a plot").Figure(layout="constrained")
        ax = figure.add_subplot()
        ax._repr_png_ = functools.partial(_drawn, figure)  # by which notebooks show the result
    ax.set_xlabel(across)
    ax.set_ylabel(what)
    if title is not None:
        ax.set_title(title)
    return ax


def _drawn(figure: Any, kind: str = "png") -> bytes:
    """The figure as a file."""
    file = io.BytesIO()
    figure.savefig(file, format=kind)
    return file.getvalue()


def _finished(ax: Any, path: Path, left: float = 0) -> Any:
    ax.set_xlim(left=left)
    ax.grid(alpha=0.3)
    if ax.figure.get_layout_engine():
        legend_above(ax)
    else:  # nobody would make room above
        ax.legend()
    if path is not None:
        name, kind = os.path.splitext(os.fsdecode(path))
        kind = kind or f".{ax.figure.canvas.get_default_filetype()}"
        replace(name + kind, _drawn(ax.figure, kind[1:]))
    return ax


def legend_above(ax: Any, columns: int = 1) -> None:
    """A legend between axes and title, where it covers nothing."""
    names = ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncol=columns, frameon=False)
    rows, size = -(-len(names.get_texts()) // columns), names.get_texts()[0].get_fontsize()
    ax.set_title(ax.get_title(), pad=(1.5 * rows + 1) * size)

"""Plots of certificates by matplotlib, without pyplot and its windows."""

from __future__ import annotations

import functools
import io
import itertools
import math
import os
from typing import Any, Mapping, Sequence, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Axes, Figure, Path, needed
from .display import warn
from .files import replace
from .results import WorstFunction

Band: TypeAlias = tuple[ArrayLike, ArrayLike] | tuple[ArrayLike, ArrayLike, float]

STYLES: Sequence[Any] = ("-", "-.", (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))  # "--" and ":" are taken
MOST_CURVES = 2 * len(STYLES)


def plot_radii(
    curves: Mapping[str, ArrayLike],
    path: Path | None = None,
    ax: Axes = None,
    title: str | None = None,
    bands: Mapping[str, Band] | None = None,
) -> Axes:
    """Plot the share of inputs with a certified radius of at least r, as a function of r.

    Parameters
    ----------
    curves : mapping
        The radii of the inputs, (inputs,), by the name of each curve, at most eight. A radius of 0
        or NaN means that the input is not certified.
    path : str or path, optional
        File to write the plot to, in the format of its suffix.
    ax : Axes, optional
        Axes of matplotlib to draw into; by default of a new figure.
    title : str, optional
        Title of the plot.
    bands : mapping, optional
        Ascending radii, the lower bound of the share at each, and if given the confidence for the
        legend, by the name of a curve: drawn as dashed lines, as by ``Rows.plot(confidence=...)``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        For a wrong shape.

    Examples
    --------
    >>> ax = certreg.plot_radii({"model": [0.1, 0.0, 0.3]}, title="radii")
    >>> ax.get_xlabel()
    'radius r'"""
    points = {name: shares(radii, True, name) for name, radii in curves.items()}
    return _plot_steps(points, "share of inputs with radius ≥ r", path, ax, title, bands, 1.02)


def plot_accuracy(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    path: Path | None = None,
    ax: Axes = None,
    title: str | None = None,
    bands: Mapping[str, Band] | None = None,
) -> Axes:
    """Plot the certified accuracy as a function of r.

    The certified accuracy is the share of inputs with a correct answer and a certified radius of at
    least r.

    Parameters
    ----------
    curves : mapping
        A pair by the name of each curve: the radii of the inputs, (inputs,), and an array (inputs,)
        that is True for correct answers.
    path, ax, title, bands
        As for plot_radii.

    Returns
    -------
    matplotlib.axes.Axes"""
    points = {name: shares(*of, name) for name, of in curves.items()}
    return _plot_steps(points, "share right and with radius ≥ r", path, ax, title, bands, 1.02)


def plot_error(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    path: Path | None = None,
    ax: Axes = None,
    title: str | None = None,
) -> Axes:
    """Plot the mean error of the inputs with a certified radius of at least r. A curve is a pair of
    the radii and the errors of the inputs."""
    each = {name: curve_of(*of) for name, of in curves.items()}
    points = {name: (curve["radius"], curve["error"]) for name, curve in each.items()}
    return _plot_steps(points, "mean error of inputs with radius ≥ r", path, ax, title)


def plot_reach(
    radii: ArrayLike,
    lo: ArrayLike,
    hi: ArrayLike,
    prediction: float,
    path: Path | None = None,
    ax: Axes = None,
    title: str | None = None,
) -> Axes:
    """Plot the output bounds of one input as a function of the radius.

    Parameters
    ----------
    radii : array_like
        Ascending radii, (n,).
    lo, hi : array_like
        Output bounds at each radius, (n,); infinite or NaN without bounds.
    prediction : float
        Prediction of the input.
    path, ax, title
        As for plot_radii.

    Returns
    -------
    matplotlib.axes.Axes"""
    each, low, high = (np.asarray(values, np.float64) for values in (radii, lo, hi))
    if not each.shape == low.shape == high.shape == (each.size,):
        raise ValueError(
            f"radii, lo and hi have shapes {each.shape}, {low.shape} and {high.shape}; "
            "they must have one dimension and the same length"
        )
    ax = _axes(ax, "output", title)
    ax.fill_between(each, low, high, alpha=0.3, label="certified")
    ax.axhline(prediction, color="black", linewidth=1, label="prediction")
    return _finished(ax, path)


def plot_worst_function(
    curves: WorstFunction | Mapping[str, WorstFunction],
    path: Path | None = None,
    ax: Axes = None,
    title: str | None = None,
) -> Axes:
    """Plot worst functions as functions of the noise along the shift. Experimental.

    Parameters
    ----------
    curves : WorstFunction or mapping
        A worst function, or one by the name of each curve.
    path, ax, title
        As for plot_radii.

    Returns
    -------
    matplotlib.axes.Axes"""
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


def _plot_steps(
    points: Mapping[str, tuple[ArrayLike, ArrayLike]],
    what: str,
    path: Path | None,
    ax: Axes,
    title: str | None,
    bands: Mapping[str, Band] | None = None,
    top: float | None = None,
) -> Axes:
    """Curves that differ in style too, for eyes and printers without colors; with bands, which are
    dashed, in color alone."""
    if len(points) > MOST_CURVES:
        warn(
            f"there are {len(points)} curves, and more than {MOST_CURVES} cannot be told apart: "
            "give plot_radii some of them, such as {'a': rows['radius'][:, 0, 0]}"
        )
    ax = _axes(ax, what, title)
    for i, (name, (radii, values)) in enumerate(points.items()):
        style = "-" if bands else STYLES[i % len(STYLES)]
        width = None if i < len(STYLES) else 2.5
        how = {"drawstyle": "steps-pre", "label": name}
        (line,) = ax.plot(radii, values, linestyle=style, linewidth=width, **how)
        if bands and name in bands:
            at, least, *confidence = map(np.asarray, bands[name])
            label = ", ".join([name, "at least", *(f"{100 * of:.6g} %" for of in confidence)])
            how = {"color": line.get_color(), "linestyle": "--", "label": label}
            ax.plot([*at, at[-1]], [*least, 0], drawstyle="steps-pre", **how)
    ax.set_ylim(0, top)
    return _finished(ax, path)


def marked(ax: Axes, ceilings: Sequence[float], unit: str, path: Path | None) -> Axes:
    """The plot with the longest possible radii and the unit of radii, and its file."""
    ax.set_xlabel(f"radius r, in units of {unit}")
    if ceilings:
        label = "longest r that σ and samples allow"
        how = {"color": "gray", "linestyle": ":", "label": label}
        ax.vlines(ceilings, 0, 1, transform=ax.get_xaxis_transform(), **how)
    return _finished(ax, path)


def shares(
    radii: ArrayLike, correct: ArrayLike, name: str = "a curve"
) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a curve: ascending radii from 0, and for each the share of inputs that are
    correct and certified at this radius. Between two corners the share is the one at the larger
    radius."""
    each, right = np.asarray(radii, np.float64), np.asarray(correct, bool)
    if each.ndim != 1 or not each.size:
        raise ValueError(
            f"{name!r} has radii of shape {each.shape}; they must be a list of numbers"
        )
    if right.shape not in ((), each.shape):
        raise ValueError(f"{name!r} has {each.size} radii, but {right.size} values in `correct`")
    curve = curve_of(np.where(right & (each > 0), each, 0))
    return np.append(curve["radius"], curve["radius"][-1]), np.append(curve["share"], 0)


def curve_of(
    radii: ArrayLike, errors: ArrayLike | None = None, tolerance: ArrayLike = math.inf
) -> dict[str, np.ndarray]:
    """The columns of Rows.curve, at 0 and at each certified radius in ascending order."""
    each = np.asarray(radii, np.float64)
    order, at = np.argsort(each), np.unique(np.append(each[each > 0], 0))
    first = np.searchsorted(each[order], np.maximum(at, np.nextafter(0, 1)))

    def total(values: np.ndarray) -> np.ndarray:
        """The sum over the rows with at least each radius."""
        found: np.ndarray = np.append(np.cumsum(values[order][::-1])[::-1], 0)[first]
        return found

    curve = {"radius": at, "share": (each.size - first) / max(each.size, 1)}
    if errors is None:
        return curve
    away = np.asarray(errors, np.float64)
    curve["accuracy"] = total(away <= np.asarray(tolerance)) / max(each.size, 1)
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN
        curve["error"] = total(np.nan_to_num(away)) / total(~np.isnan(away))
    return curve


def _axes(ax: Axes, what: str, title: str | None, across: str = "radius r") -> Axes:
    if ax is None:
        figure = needed("matplotlib.figure", "a plot").Figure(layout="constrained")
        ax = figure.add_subplot()
        ax._repr_png_ = functools.partial(drawn, figure)  # for notebooks
    ax.set_xlabel(across)
    ax.set_ylabel(what)
    if title is not None:
        ax.set_title(title)
    return ax


def drawn(figure: Figure, kind: str = "png") -> bytes:
    """The bytes of a file with the figure."""
    file = io.BytesIO()
    figure.savefig(file, format=kind)
    return file.getvalue()


def _name_ends(ax: Axes) -> None:
    """Writes the names of curves at their ends, unless one would cover another one or a curve."""
    for text in [text for text in ax.texts if text.get_gid() == "end"]:
        text.remove()
    lines = [line for line in ax.get_lines() if line.get_drawstyle() == "steps-pre"]
    place = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "gid": "end"}
    texts = []
    for line in lines if len(lines) > 1 else ():
        x, y = line.get_xdata(), np.nan_to_num(line.get_ydata())
        at = x[-1], y[-1] or y[-2:][0]  # shares end with a fall to 0
        texts.append(ax.annotate(line.get_label(), at, color=line.get_color(), **place))
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in texts]
    paths = [line.get_transform().transform_path(line.get_path()) for line in lines]
    covered = [a.overlaps(b) for a, b in itertools.combinations(boxes, 2)]
    covered += [path.intersects_bbox(box, False) for path in paths for box in boxes]
    for text in texts if any(covered) else ():
        text.remove()


def _finished(ax: Axes, path: Path | None, left: float = 0) -> Axes:
    ax.set_xlim(left=left)
    ax.grid(alpha=0.3)
    if ax.figure.get_layout_engine():
        legend_above(ax)
    else:  # without a layout there is no room above
        ax.legend()
    if hasattr(ax, "_repr_png_"):  # the figure is its own
        _name_ends(ax)
    if path is not None:
        name, kind = os.path.splitext(os.fsdecode(path))
        kind = kind or f".{ax.figure.canvas.get_default_filetype()}"
        replace(name + kind, drawn(ax.figure, kind[1:]))
    return ax


def legend_above(ax: Axes, columns: int = 1) -> None:
    """A legend between axes and title, to leave the curves visible."""
    names = ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncol=columns, frameon=False)
    rows, size = -(-len(names.get_texts()) // columns), names.get_texts()[0].get_fontsize()
    ax.set_title(ax.get_title(), pad=(1.5 * rows + 1) * size)

"""Plots of the experiments, where matplotlib is installed."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
from typing import Any, BinaryIO, Iterator, Mapping, Sequence

import numpy as np

from certreg.arguments import needed
from certreg.plots import legend_above, plot_radii

# Letters of 10 points in a figure this wide are 9 pixels high on a telephone's page, which leaves a
# figure 338 pixels. The same file every time, with text as text. It has a ground of its own, light
# or dark, so that it can be read on every page, also where a browser does not know the page's mode.
# Curves that lie on each other are seen, since dashed thin ones come after broad ones.
WIDTH = 5.2  # inches
STYLE = {
    "svg.hashsalt": "certreg",
    "svg.fonttype": "none",
    "savefig.facecolor": "white",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "lines.markersize": 3,
    "axes.prop_cycle": """cycler(
        color=["#E69F00", "#56B4E9", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "k", "#666",
            "#840"],
        linewidth=[3.5, 3.5, 1.3, 1.6, 1.8, 3, 1.2, 2, 1.2],
        linestyle=["-", "-", "--", ":", "-", "-", ":", "-", "-."])""",
}

# What the colours of figures become on dark pages: the ground dark, lines and letters light.
DARK = {
    "#ffffff": "#131416",
    "#000000": "#e6edf3",
    "#b0b0b0": "#8b949e",
    "#cccccc": "#8b949e",
    "#dddddd": "#3d444d",
    "#666666": "#a9b1b9",
    "#0072b2": "#3fa0ea",
    "#56b4e9": "#9bdcff",
    "#884400": "#c98a4b",
}


@contextlib.contextmanager
def whole(path: pathlib.Path) -> Iterator[BinaryIO]:
    """A file to write, which takes its name, and the place of an older one, once it is complete."""
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def where_possible() -> Iterator[None]:
    """Leaves the plots out, with a line that says so, where matplotlib is missing."""
    try:
        yield
    except ImportError as error:
        print(f"  no plots: {error}")


def radii(path: pathlib.Path, curves: Mapping[str, np.ndarray], title: str) -> None:
    """The share of images with a radius of at least r."""
    ax = axes("", "", title, 5.4)
    plot_radii(curves, ax=ax)
    save(ax, path)


def lines(
    path: pathlib.Path,
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    labels: tuple[str, str],
    title: str,
) -> None:
    """One line with marks for each curve."""
    ax = axes(*labels, title)
    for name, (x, y) in curves.items():
        ax.plot(x, y, marker="o", label=name)
    legend_above(ax)
    save(ax, path)


def axes(x: str, y: str, title: str, height: float = 4.4) -> Any:
    """Axes of a figure of their own."""
    (ax,) = panels((y,), x, height)
    ax.set_title(title)
    return ax


def panels(y: Sequence[str], x: str, height: float, beside: bool = False) -> Sequence[Any]:
    """Axes below or beside each other in one figure, with these labels."""
    needed("matplotlib", "a plot").rcParams.update(STYLE)
    of = needed("matplotlib.figure", "a plot").Figure
    figure = of(figsize=(WIDTH, height), layout="constrained")
    shape = (1, len(y)) if beside else (len(y), 1)
    every: Sequence[Any] = figure.subplots(*shape, squeeze=False).ravel()
    for ax, label in zip(every, y):
        ax.set_ylabel(label)
    every[-1].set_xlabel(x)
    return every


def save(ax: Any, path: pathlib.Path) -> None:
    """Writes the figure without the date, and makes its folder."""
    path.parent.mkdir(exist_ok=True)
    text = io.StringIO()
    ax.figure.savefig(text, format="svg", metadata={"Date": None})
    with whole(path) as file:
        file.write(both_modes(shortened(text.getvalue())).encode())


def both_modes(svg: str) -> str:
    """With colours for readers who prefer dark pages."""
    rules = "".join(
        f'[style*="{of}: {light}"]{{{of}:{dark}!important}}'
        for light, dark in DARK.items()
        for of in ("fill", "stroke")
    )
    dark = f"@media (prefers-color-scheme:dark){{text{{fill:{DARK['#000000']}}}{rules}}}"
    return svg.replace("</style>", f"{dark}</style>", 1)


def shortened(svg: str) -> str:
    """Coordinates to a hundredth of a point, which halves the file."""
    return _COORDINATES.sub(lambda found: _DECIMALS.sub(_rounded, found[0]), svg)


_COORDINATES = re.compile(r'(?<=[ \n])(d|x|y)="[^"]*"')
_DECIMALS = re.compile(r"-?\d+\.\d+")


def _rounded(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # no -0

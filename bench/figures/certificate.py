"""What a certificate says: a model of one input, its smoothed prediction, which is known here by
quadrature, and where the certificate says that it stays."""

from __future__ import annotations

import dataclasses
from statistics import NormalDist
from typing import Any

import numpy as np

from certreg import Certificate, Estimator
from reproduce import figures
from reproduce.settings import SEED, Settings

from .style import BLUE, GREY, VERMILION, certified

Z, SIGMA, TOLERANCE = 5.0, 0.5, 1.0
NODES, POINTS = 20_001, 141  # of the quadrature, and of the curves
SPIKES = ((4.66, -2.2), (5.41, 2.6), (6.3, -2.4))  # middle and height
HALF = 0.05  # the width of a spike to either side
SHOWN = 1.75  # the inputs to either side of Z


def model(x: np.ndarray) -> np.ndarray:
    """A slow trend with spikes, as models that learn from data may have them. (rows, 1) to
    (rows,)."""
    at = x[:, 0].astype(np.float64)
    y = 4 + 1.15 * (at - Z) + 0.2 * np.sin(6 * at)
    for middle, height in SPIKES:
        y += height * (np.abs(at - middle) < HALF)
    return np.asarray(y)


def smoothed(at: np.ndarray) -> np.ndarray:
    """The median of the outputs under noise at each of these inputs, by quadrature."""
    normal = NormalDist()
    noise = np.array([normal.inv_cdf((i + 0.5) / NODES) for i in range(NODES)])
    return np.array([np.median(model((z + SIGMA * noise)[:, None])) for z in at])


@dataclasses.dataclass(frozen=True)
class Found:
    """The certificate at Z, and what the model and the smoothed model answer at other inputs."""

    certificate: Certificate
    at: np.ndarray
    clean: np.ndarray
    smooth: np.ndarray


def found(settings: Settings) -> Found:
    samples = settings.size.samples
    with Estimator(model, 1, samples, seed=SEED) as e:
        certificate = e.certify([Z], SIGMA, samples, TOLERANCE)
    ends = [middle + HALF * end for middle, _ in SPIKES for end in (-1.001, -0.999, 0.999, 1.001)]
    at = np.sort(np.concatenate([np.linspace(Z - SHOWN, Z + SHOWN, POINTS), ends]))
    return Found(certificate, at, model(at[:, None]), smoothed(at))


def drawn(of: Found) -> Any:
    (ax,) = figures.panels(("output",), "input", 4.4)
    c = of.certificate
    left, right, floor = Z - c.radius, Z + c.radius, -0.9
    ax.fill_between([left, right], c.output_lo, c.output_hi, color=BLUE, alpha=0.15, linewidth=0)
    for level in (c.output_lo, c.output_hi):
        ax.axhline(level, color=BLUE, linewidth=1, linestyle=":")
    ax.plot(of.at, of.clean, color=GREY, linewidth=1, label="f")
    ax.plot(of.at, of.smooth, color=BLUE, linewidth=2.5, label="T")
    ax.plot(Z, c.prediction, "o", color=VERMILION, markersize=8, zorder=5)
    x = np.linspace(Z - 3.2 * SIGMA, Z + 3.2 * SIGMA, 81)
    density = np.exp(-0.5 * ((x - Z) / SIGMA) ** 2)
    ax.fill_between(x, floor, floor + density, color=GREY, alpha=0.25, linewidth=0)
    ax.text(Z, floor + 0.25, f"noise, σ = {SIGMA:g}", ha="center")
    ax.vlines([left, right], 0.45, c.output_hi, color=BLUE, linewidth=1)
    for end, shift in ((left, -65), (right, 65)):
        _arrow(ax, (Z, 0.6), (end, 0.6), f"radius {certified(c.radius)}", (shift, 0))
    beside = Z - SHOWN + 0.12
    tolerance = f"tolerance {c.tolerance:g}"
    _arrow(ax, (beside, c.prediction), (beside, c.output_hi), tolerance, (40, 0))
    for text, *places, color in (
        (f"prediction {c.prediction:.2f}", (Z, c.prediction), (4.38, 5.4), VERMILION),
        ("the model f: a\nspike moves its\nanswer far", (5.42, 7.0), (5.66, 6.7), GREY),
        ("smoothed prediction T,\nmedian of f under noise:\nstays in the box within\nthe radius",
         (4.5, 3.45), (3.35, 6.2), BLUE),
    ):
        line = {"arrowstyle": "-", "color": color, "linewidth": 0.8}
        ax.annotate(text, *places, color=color, arrowprops=line)
    ax.set_xlim(Z - SHOWN, Z + SHOWN)
    ax.set_ylim(floor, 8.2)
    return ax


def _arrow(ax: Any, start: Any, stop: Any, text: str, shift: Any) -> None:
    """A line with two heads, and words beside its middle."""
    heads = {"arrowstyle": "<->", "color": BLUE, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", stop, start, arrowprops=heads)
    middle = tuple(0.5 * (a + b) for a, b in zip(start, stop))
    place = {"xytext": shift, "textcoords": "offset points", "ha": "center", "va": "center"}
    ax.annotate(text, middle, color=BLUE, **place)


OF_DIGITS = False
DRAWINGS = {"certificate": drawn}

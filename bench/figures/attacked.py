"""How often prediction intervals contain the truth when inputs are moved."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterator

import numpy as np

from certreg import Calibrated
from certreg.plots import legend_above
from reproduce import figures, moved
from reproduce.labelled import SIGMA, Task, of_friedman
from reproduce.settings import SEED, Settings

from .style import BLUE, GREY, VERMILION

ALPHA, RADIUS = 0.1, 0.5  # the radius of the intervals in units of σ
STRENGTHS = (0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0)
SETS, TESTS = 10, 100  # calibrations, and inputs tested with each
NAMES = (f"certreg, made for shifts up to {RADIUS:g} σ", "split conformal prediction")


@dataclasses.dataclass(frozen=True)
class Found:
    """inside: (inputs, strengths, 2) of bool, for each name; width: (inputs, strengths, 2)."""

    strengths: np.ndarray
    inside: np.ndarray
    width: np.ndarray


def found(settings: Settings) -> Found:
    task = of_friedman(settings)
    sets = task.sets[:SETS]
    strengths = np.array(STRENGTHS)
    print(f"  {task.name}, {len(sets)} calibrations of {len(sets[0][0])} points")
    rows = [row for s, of in enumerate(sets) for row in _tested(task, s, *of)]
    inside, width = (np.array(values) for values in zip(*rows))
    return Found(strengths, inside, width)


def _tested(task: Task, s: int, points: Any, tests: Any) -> Iterator[tuple[Any, Any]]:
    """For each input and strength: whether the intervals contain the truth, and their widths."""
    x, y, outputs = task.inputs[points], task.truth[points], task.model.outputs
    seeds = {"seed": SEED + s, "inputs_seed": SEED + SETS + s}
    calibrated = Calibrated(outputs, x, y, SIGMA, **seeds)
    rank = int(np.ceil((1 - ALPHA) * (len(y) + 1)))
    half = float(np.sort(np.abs(outputs(x) - y))[rank - 1])  # of split conformal prediction
    adversary = np.random.default_rng(SEED + s)
    for i in tests[:TESTS]:
        z, truth, inside, width = task.inputs[i], float(task.truth[i]), [], []
        for strength in STRENGTHS:
            noisy, exact = moved.places(task.model, z, truth, strength * SIGMA, half, adversary)
            interval = calibrated.interval(noisy, RADIUS * SIGMA, ALPHA)
            away = abs(float(outputs(exact[None])[0]) - truth)
            inside.append((truth in interval, away <= half))
            width.append((interval.width, 2 * half))
        yield inside, width


def drawn(of: Found) -> Any:
    (ax,) = figures.panels(("share of truths in the interval",), "length of the shift / σ", 4)
    ax.axvspan(0, RADIUS, color=BLUE, alpha=0.1, linewidth=0)
    promise = f"promised: {1 - ALPHA:.0%}, in the blue range"
    ax.axhline(1 - ALPHA, color=GREY, linewidth=1, linestyle="--", label=promise)
    looks = ({"color": BLUE, "marker": "o"}, {"color": VERMILION, "marker": "s"})
    for j, (name, look) in enumerate(zip(NAMES, looks)):
        label = f"{name}, mean width {of.width[:, 0, j].mean():.1f}"
        ax.plot(of.strengths, of.inside[:, :, j].mean(0), label=label, linewidth=2, **look)
    ax.set_xlim(0, of.strengths[-1])
    ax.set_ylim(0, 1.04)
    legend_above(ax)
    return ax


OF_DIGITS = False
DRAWINGS = {"intervals_attacked": drawn}

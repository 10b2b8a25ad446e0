"""Rotated digits with three networks, and random angles as a warning."""

from __future__ import annotations

from typing import Any

import numpy as np

from certreg.models import OnnxModel

from . import images, methods, sweep, tables
from .digits import Digits, load
from .settings import MODELS, Settings

TOLERANCE = 10.0
NETWORKS = {
    "rotation": "trained under noise of σ up to 0.8",
    "rotation_clean": "the same architecture, trained without noise",
    "rotation_equivariant": "equivariant under quarter turns, trained without noise",
}
RANDOM = "rotation_random"
RANDOM_SIGMAS = (1.5, 3.0, 6.0)  # beyond the others


class Directions:
    """The directions that a network answers as (cos, sin), in degrees. One column is enough for
    angles as numbers and on the circle alike."""

    def __init__(self, path: str) -> None:
        self.network = OnnxModel(path)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        y = self.network(x)
        return np.degrees(np.arctan2(y[:, 1], y[:, 0]))


class RandomAngles:
    """An angle that has nothing to do with the image: a sum of the pixels with large weights,
    modulo a turn. Under noise it is uniform."""

    def __call__(self, x: np.ndarray) -> np.ndarray:
        weights = np.random.default_rng(0).normal(size=x.shape[1])
        return (x.astype(np.float64) @ weights * 1e4) % 360.0 - 180.0


def task(name: str, digits: Digits) -> sweep.Task:
    """Turned digits, and the angles by which they were turned."""
    model = RandomAngles() if name == RANDOM else Directions(str(MODELS / f"{name}.onnx"))
    return sweep.Task(name, model, digits.turned, digits.degrees, TOLERANCE, -180, 180, "angle")


def compute(settings: Settings) -> None:
    digits = load(settings.mnist, settings.size.images)
    print(f"  {len(digits.turned)} {digits.source}, {settings.size.samples} samples each")
    tasks = [task(name, digits) for name in (*NETWORKS, RANDOM)]
    images.compute(
        settings,
        "rotation",
        tasks,
        lambda t: methods.asked(methods.OF_ANGLES, t.tolerance),
        settings.size.samples,
        NETWORKS,
        lambda t: (*settings.size.sigmas, *(RANDOM_SIGMAS if t.name == RANDOM else ())),
    )


# ---- the report
# As printed in the paper, by σ: 97.5%, 95%, and 90%.
PRINTED = {
    "(E,C)+M, 97.5%": {0.06: 0.090, 0.12: 0.058, 0.25: 0.045, 0.5: 0.059, 0.75: 0.064},
    "(E,C,G)+M, 95%": {0.06: 0.078, 0.12: 0.068, 0.25: 0.081, 0.5: 0.156, 0.75: 0.207},
    "α-smoothing, 90%": {0.06: 0.120, 0.12: 0.049, 0.25: 0.002, 0.5: 0.0, 0.75: 0.0},
}
MEASURED = {
    "(E,C)+M, 97.5%": ("(E,C)+M", 0.025),
    "(E,C,G)+M, 95%": ("(E,C,G)+M", 0.05),
    "α-smoothing, 90%": ("α-smoothing 0.49", 0.1),
}
ACCURACY = {"absolute": 0, "conditional": 0, "mae": 2}  # digits
VALUES = ("mean_radius", "useful_radius")


def report(settings: Settings, beside: tables.Beside) -> dict[str, str]:
    summary = images.read(settings, "rotation", "summary")
    accuracy = images.read(settings, "rotation", "accuracy")
    images.add(beside, settings, "rotation", NETWORKS)
    for value in VALUES:
        beside.add("by_sigma", images.by_sigma(summary, RANDOM, value, images.CHIEF))
    for name in NETWORKS:
        beside.add("levels", _levels(summary, name))
        beside.add("accuracy", images.accuracy(accuracy, name, ACCURACY))
    beside.add("printed", _printed(summary))
    return {}


def _printed(summary: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The radii printed in the paper, beside the same procedures on the three networks."""
    rows = []
    for label, (method, alpha) in MEASURED.items():
        found = {"printed": PRINTED[label]}
        for row in summary:
            if (row["method"], row["alpha"]) == (method, alpha) and row["task"] in NETWORKS:
                found.setdefault(row["task"], {})[row["sigma"]] = row["mean_radius"]
        for name, radii in found.items():
            by_sigma = {f"{sigma:g}": radii.get(sigma) for sigma in sorted(PRINTED[label])}
            rows.append({"method, level": label, "network": name, **by_sigma})
    return rows


def _levels(summary: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Each method at the levels of the paper, each at its best σ."""
    lines = []
    for method in methods.AT_ALL_LEVELS:
        line: dict[str, Any] = {"network": name, "method": method.name}
        for alpha in methods.LEVELS:
            key = (name, method.name, alpha)
            at = [r for r in summary if (r["task"], r["method"], r["alpha"]) == key]
            for value in VALUES:
                line[f"{value}, {1 - alpha:.1%}"] = max(row[value] for row in at)
        lines.append(line)
    return lines

"""Rotated digits with three networks, and random angles as a warning."""

from __future__ import annotations

import numpy as np

from certreg.models import OnnxModel

from . import images, methods, sweep
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
    return sweep.Task(
        name, model, digits.turned, digits.degrees, TOLERANCE, -180, 180, "angle", 360.0
    )


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
        lambda t: (*settings.size.sigmas, *(RANDOM_SIGMAS if t.name == RANDOM else ())),
    )

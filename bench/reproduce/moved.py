"""A white-box attack on prediction intervals: an input is moved so that its truth falls outside."""

from __future__ import annotations

from typing import Any

import numpy as np

from .labelled import SIGMA

STEPS, ROWS = 6, 64  # of each climb: gradients, and samples of each


def climb(
    model: Any, x: np.ndarray, y: float, radius: float, edge: float, side: int, noise: np.ndarray
) -> np.ndarray:
    """A shift of this norm that moves outputs beyond `edge` from the truth on one side. noise:
    (steps, rows, features), all 0 for an attack on the model itself. Each step goes to where the
    sphere touches the mean gradient of a sigmoid of the outputs, averaged with the steps before."""
    delta, total = np.zeros_like(x), np.zeros(len(x))
    for e in noise:
        f, g = model.slopes(x + delta + np.float32(SIGMA) * e)
        u = np.abs(side * (f.astype(float) - y) - edge) / max(float(f.std()), 1e-3 * edge)
        weights = np.exp(u.min() - u) / (1 + np.exp(-u)) ** 2
        gradient = side * (weights @ g)
        norm = float(np.linalg.norm(gradient))
        if norm > 0:
            total = 0.5 * total + gradient / norm
            delta = (radius * 0.999999 / np.linalg.norm(total) * total).astype(np.float32)
    return delta


def places(
    model: Any, z: np.ndarray, y: float, radius: float, edge: float, adversary: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Where an adversary moves an input against smoothed outputs, and against the model itself: to
    the side that its own evaluations show to be worse."""
    clean = np.zeros((STEPS, 1, len(z)), np.float32)
    noise = adversary.normal(size=(STEPS, ROWS, len(z))).astype(np.float32)
    noisy, exact = (
        [z + climb(model, z, y, radius, edge, side, e) for side in (1, -1)] for e in (noise, clean)
    )
    seen = np.float32(SIGMA) * noise.reshape(-1, len(z))
    harm = [abs(float(np.median(model.outputs(at + seen))) - y) for at in noisy]
    away = np.abs(model.outputs(np.array(exact)) - y)
    return noisy[int(np.argmax(harm))], exact[int(np.argmax(away))]

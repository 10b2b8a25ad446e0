"""White-box attacks on prediction intervals: an input is moved so that the truth falls outside, and
the methods then see the moved input with fresh noise."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from certreg import Domain, Estimator, Question
from certreg.constants import NO_PILOT

from .conformal import BOUNDS_ALPHA, OURS, PLAIN, Asked, Record, signed
from .labelled import Task
from .published import METHODS
from .settings import SEED

SAMPLES, JUDGED = 1001, 200  # outputs of a record, and of the adversary's
RATIOS = (0.25, 0.5, 1.0)  # radii in units of sigma
MOVED = 1 << 32  # noise ids of moved inputs begin here
BATCH = 512  # rows of one call of the model


class Noisy:
    """Records of one task, by the library's noise. Every purpose and input has its own."""

    def __init__(self, task: Task, seed: int = SEED) -> None:
        self.task = task
        features = task.inputs.shape[1]
        options = {"seed": seed, "pilot": NO_PILOT, **task.output}
        self.estimator = Estimator(None, features, SAMPLES, **options)

    def outputs(self, x: np.ndarray, noise_id: int, level: int, count: int = SAMPLES) -> np.ndarray:
        self.estimator.begin(x, self.task.sigma, noise_id, level)
        noisy = self.estimator.draw(0, count)
        model = self.task.model.outputs
        return np.concatenate([model(noisy[i : i + BATCH]) for i in range(0, count, BATCH)])

    def record(self, x: np.ndarray, noise_id: int, level: int, count: int = SAMPLES) -> Record:
        clean = float(self.task.model.outputs(x[None])[0])
        f = self.outputs(x, noise_id, level, count)
        return Record(clean, f, self.task.period, self.task.unit)

    def with_bounds(self, x: np.ndarray, noise_id: int, ratios: Any = RATIOS) -> Record:
        """With bounds of the smoothed prediction at these radii, infinite at the others."""
        one = self.record(x, noise_id, Domain.CERTIFY)
        self.estimator.record(0, one.outputs)
        bounds = np.array([(-np.inf, np.inf)] * len(RATIOS))
        half = 0.499 * self.task.period or 1.0
        question = Question(half, alpha=BOUNDS_ALPHA, prediction=one.clean)
        for i, ratio in enumerate(RATIOS):
            if ratio in ratios:
                c = self.estimator.output_bounds(0, ratio * self.task.sigma, question)
                bounds[i] = c.output_lo, c.output_hi
        return dataclasses.replace(one, bounds=bounds)

    def noise(self, index: int, purpose: int, count: int) -> np.ndarray:
        """Standard normal noise of an adversary."""
        zero = np.zeros(self.task.inputs.shape[1], np.float32)
        self.estimator.begin(zero, 1.0, index, Domain.ATTACK + 1 + purpose)
        return np.asarray(self.estimator.draw(0, count))


def scores(task: Task, indices: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(indices, methods, what is kept) of calibration points."""
    noisy = Noisy(task)
    records = (noisy.record(z, int(i), Domain.CALIBRATION) for i, z in zip(indices, x))
    return np.array([[m.kept(r, truth) for m in METHODS] for r, truth in zip(records, y)])


def climb(
    task: Task, x: np.ndarray, y: float, radius: float, edge: float, side: int, noise: np.ndarray
) -> np.ndarray:
    """A shift of this norm that moves outputs beyond `edge` from the truth on one side. noise:
    (steps, rows, features), all 0 for an attack on the model itself. Each step goes to where the
    sphere touches the mean gradient of a sigmoid of the outputs, averaged with the steps before."""
    delta, total = np.zeros_like(x), np.zeros(len(x))
    for e in noise:
        f, g = task.model.slopes(x + delta + np.float32(task.sigma) * e)
        beyond = side * signed(f.astype(float) - y, task.period) - edge
        u = np.abs(beyond) / max(float(f.std()), 1e-3 * edge)
        weights = np.exp(u.min() - u) / (1 + np.exp(-u)) ** 2
        gradient = side * (weights @ g)
        norm = float(np.linalg.norm(gradient))
        if norm > 0:
            total = 0.5 * total + gradient / norm
            delta = (radius * 0.999999 / np.linalg.norm(total) * total).astype(np.float32)
    return delta


def values(
    task: Task, indices: np.ndarray, x: np.ndarray, y: np.ndarray, thresholds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For points to test. thresholds: (methods, radii), which the adversary knows. Returns values
    without an attack and under attack, (indices, methods, radii); outputs without an attack, with
    the bounds of the smoothed prediction and the clean output in front."""
    noisy = Noisy(task)
    edges = thresholds[METHODS.index(OURS[-1])]
    shape = (len(indices), len(METHODS), len(RATIOS))
    still, moved = np.empty(shape), np.empty(shape)
    outputs, bounds = [], []
    for row, (i, z, truth) in enumerate(zip(indices.tolist(), x, y)):
        one = noisy.with_bounds(z, i)
        outputs.append(np.append(np.float32(one.clean), one.outputs))
        bounds.append(one.bounds)
        for k, ratio in enumerate(RATIOS):
            asked = Asked(k, ratio * task.sigma, task.sigma, task.points)
            still[row, :, k] = [m.value(one, truth, asked) for m in METHODS]
            moved[row, :, k] = _moved(task, noisy, i, z, truth, asked, edges[k])
    return still, moved, np.array(outputs), np.array(bounds)


def _moved(
    task: Task, noisy: Noisy, i: int, x: Any, y: float, asked: Asked, edge: float
) -> list[float]:
    """The value of each method at the shift that harms it most: of the model itself the worst one,
    of its noisy outputs the one that the adversary's own noise shows. There is a shift towards each
    side by the model's own gradient, and one by that of noisy outputs."""
    clean, shape = np.zeros((8, 1, len(x)), np.float32), (task.steps, task.rows, len(x))
    places, exact = [], []
    for side in (1, -1):
        purpose = 2 * asked.index + (side > 0)
        noise = noisy.noise(i, purpose, task.steps * task.rows).reshape(shape)
        places.append(x + climb(task, x, y, asked.radius, edge, side, noise))
        exact.append(x + climb(task, x, y, asked.radius, edge, side, clean))
    level = Domain.ATTACK + 100 + 10 * asked.index
    own = [noisy.record(z, i, level + c, JUDGED) for c, z in enumerate(places)]
    worst = [int(np.argmax([m.harm(r, y, asked) for r in own])) for m in METHODS]
    ratio = RATIOS[asked.index]
    seen = {
        c: noisy.with_bounds(places[c], i + MOVED * (1 + 10 * asked.index + c), (ratio,))
        for c in set(worst)
    }
    found = [m.value(seen[c], y, asked) for m, c in zip(METHODS, worst)]
    outputs = task.model.outputs(np.array(places + exact)).astype(float)
    found[METHODS.index(PLAIN)] = float(np.abs(signed(outputs - y, task.period)).max())
    return found

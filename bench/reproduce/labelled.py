"""Tables with true outputs, for prediction intervals: models with gradients, inputs, and which of
them serve for calibration and for tests."""

from __future__ import annotations

import dataclasses
from typing import Iterator

import numpy as np

from certreg.arguments import needed

from .settings import SEED, Settings

SET = tuple[np.ndarray, np.ndarray]  # indices of the calibration points, and of those to test
SIGMA = 0.5  # of the noise, in standardised features


class Perceptron:
    """One hidden layer of tanh, trained under noise by Adam: all in NumPy."""

    HIDDEN, BATCH, DECAY = 64, 128, 1e-4

    def __init__(self, x: np.ndarray, y: np.ndarray, steps: int) -> None:
        random = np.random.default_rng(SEED)
        self.shift, self.scale = float(y.mean()), float(y.std())
        wanted = (y - self.shift) / self.scale
        weights = [
            random.normal(size=(x.shape[1], self.HIDDEN)) / np.sqrt(x.shape[1]),
            np.zeros(self.HIDDEN),
            random.normal(size=self.HIDDEN) / np.sqrt(self.HIDDEN),
        ]
        moments = [(np.zeros_like(w), np.zeros_like(w)) for w in weights]
        for step in range(1, steps + 1):
            some = random.integers(0, len(x), self.BATCH)
            noisy = x[some] + SIGMA * random.normal(size=(self.BATCH, x.shape[1]))
            rate = 0.01 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for i, g in enumerate(self._descent(weights, noisy, wanted[some])):
                m, v = moments[i]
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                bias = (1 - 0.9**step) / np.sqrt(1 - 0.999**step)
                weights[i] -= rate * (m / (np.sqrt(v) + 1e-8) / bias + self.DECAY * weights[i])
        self.weights = [w.astype(np.float32) for w in weights]

    @staticmethod
    def _descent(weights: list[np.ndarray], x: np.ndarray, y: np.ndarray) -> Iterator[np.ndarray]:
        inner, offset, outer = weights
        h = np.tanh(x @ inner + offset)
        error = (h @ outer - y) / len(x)
        back = error[:, None] * outer * (1 - h * h)
        return iter((x.T @ back, back.sum(0), h.T @ error))

    def outputs(self, x: np.ndarray) -> np.ndarray:
        inner, offset, outer = self.weights
        y: np.ndarray = np.tanh(x @ inner + offset) @ (self.scale * outer) + self.shift
        return y.astype(np.float32)

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The outputs with their gradients."""
        inner, offset, outer = self.weights
        h = np.tanh(x @ inner + offset)
        outer = self.scale * outer
        return h @ outer + self.shift, ((1 - h * h) * outer) @ inner.T


@dataclasses.dataclass(frozen=True)
class Task:
    """unit: of distances, for RSCP: about half the width of an interval."""

    name: str
    model: Perceptron
    inputs: np.ndarray
    truth: np.ndarray
    unit: float
    sets: list[SET]


def friedman(count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's first function of ten features, of which five count, with standard normal noise.
    The features are standardised."""
    u = random.uniform(size=(count, 10))
    y = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2
    y += 10 * u[:, 3] + 5 * u[:, 4] + random.normal(size=count)
    return ((u - 0.5) * np.sqrt(12)).astype(np.float32), y


def of_friedman(settings: Settings) -> Task:
    """Each set has points of its own."""
    size, random = settings.size, np.random.default_rng(SEED)
    model = Perceptron(*friedman(3000, random), 3000)
    m, tests = size.interval_points, size.interval_points // 5
    x, y = friedman(size.interval_sets * (m + tests), random)
    every = np.arange(len(x)).reshape(size.interval_sets, m + tests)
    return Task("Friedman", model, x, y, 3, [(one[:m], one[m:]) for one in every])


def of_diabetes(settings: Settings) -> Task:
    """The sets are random halves of the same points."""
    data = needed("sklearn.datasets", "the task of diabetes data").load_diabetes()
    order = np.random.default_rng(SEED).permutation(len(data.target))
    x, y = data.data[order], data.target[order].astype(float)
    x, train = ((x - x.mean(0)) / x.std(0)).astype(np.float32), 192
    model, random = Perceptron(x[:train], y[:train], 300), np.random.default_rng(SEED)
    orders = [random.permutation(len(x) - train) for _ in range(settings.size.interval_sets)]
    sets = [(order[:150], order[150:]) for order in orders]
    return Task("diabetes", model, x[train:], y[train:], 100, sets)


def tasks(settings: Settings) -> list[Task]:
    """Those whose packages are there; a line says which ones are left out."""
    some = []
    for make in (of_friedman, of_diabetes):
        try:
            some.append(make(settings))
        except ImportError as error:
            print(f"  left out: {error}")
    return some

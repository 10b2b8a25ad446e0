"""Tasks with true outputs, for prediction intervals: models with gradients, inputs, and what serves
for calibration and for tests."""

from __future__ import annotations

import dataclasses
import zlib
from typing import Any, Iterator

import numpy as np

from certreg import Output
from certreg._optional import needed
from certreg.models import OnnxModel

from . import digits
from .network import Network
from .settings import MODELS, SEED, Settings

SET = tuple[np.ndarray, np.ndarray]  # indices of the calibration points, and of those to test
NOISY = 0.5  # σ of the tabular tasks, in standardised features


@dataclasses.dataclass(frozen=True)
class Task:
    """model has outputs(x), (rows,), and slopes(x), the outputs with their gradients.

    period  a full turn of an angle, which begins at -period/2; 0 for numbers
    unit    of distances, for RSCP: about half the width of an interval
    points  of each calibration
    sets    calibrations, each with the points to test. In a task of few points the sets are random
            halves of the same points
    chunk   inputs that a process handles at once
    steps, rows    of each climb of the attack: gradients, and samples of each"""

    name: str
    model: Any
    inputs: np.ndarray
    truth: np.ndarray
    sigma: float
    period: float
    unit: float
    points: int
    sets: list[SET]
    chunk: int
    steps: int = 6
    rows: int = 64

    @property
    def output(self) -> dict[str, Any]:
        """The kind of the output, and its limits, as for Estimator."""
        if not self.period:
            return {}
        return {"kind": Output.ANGLE, "lo": -0.5 * self.period, "hi": 0.5 * self.period}

    @property
    def identity(self) -> int:
        """A number that tells apart everything but the inputs."""
        return zlib.crc32(f"{self.name} {self.model.identity} {self.steps} {self.rows}".encode())


# ---- tables
class Perceptron:
    """One hidden layer of tanh, trained under noise by Adam: all in NumPy."""

    HIDDEN, BATCH, DECAY = 64, 128, 1e-4

    def __init__(self, x: np.ndarray, y: np.ndarray, sigma: float, steps: int) -> None:
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
            noisy = x[some] + sigma * random.normal(size=(self.BATCH, x.shape[1]))
            rate = 0.01 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for i, g in enumerate(self._descent(weights, noisy, wanted[some])):
                m, v = moments[i]
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                bias = (1 - 0.9**step) / np.sqrt(1 - 0.999**step)
                weights[i] -= rate * (m / (np.sqrt(v) + 1e-8) / bias + self.DECAY * weights[i])
        self.weights = [w.astype(np.float32) for w in weights]
        self.identity = zlib.crc32(b"".join(w.tobytes() for w in self.weights))

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
        inner, offset, outer = self.weights
        h = np.tanh(x @ inner + offset)
        outer = self.scale * outer
        return h @ outer + self.shift, ((1 - h * h) * outer) @ inner.T


def friedman(count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's first function of ten features, of which five count, with standard normal noise.
    The features are standardised."""
    u = random.uniform(size=(count, 10))
    y = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2
    y += 10 * u[:, 3] + 5 * u[:, 4] + random.normal(size=count)
    return ((u - 0.5) * np.sqrt(12)).astype(np.float32), y


def of_friedman(settings: Settings) -> Task:
    """Sets of points of their own."""
    size, random = settings.size, np.random.default_rng(SEED)
    x, y = friedman(3000, random)
    model = Perceptron(x, y, NOISY, 3000)
    m, tests = size.interval_points, size.interval_points // 5
    x, y = friedman(size.interval_sets * (m + tests), random)
    every = np.arange(len(x)).reshape(size.interval_sets, m + tests)
    sets = [(one[:m], one[m:]) for one in every]
    return Task("Friedman", model, x, y, NOISY, 0, 3, m, sets, 500)


def of_diabetes(settings: Settings) -> Task:
    data = needed("sklearn.datasets", "the task of diabetes data").load_diabetes()
    order = np.random.default_rng(SEED).permutation(len(data.target))
    x, y = data.data[order], data.target[order].astype(float)
    x, train = ((x - x.mean(0)) / x.std(0)).astype(np.float32), 192
    model = Perceptron(x[:train], y[:train], NOISY, 300)
    sets = halves(len(x) - train, 150, settings.size.interval_sets)
    return Task("diabetes", model, x[train:], y[train:], NOISY, 0, 100, 150, sets, 50)


def halves(count: int, points: int, sets: int) -> list[SET]:
    """Random calibration points, and the rest."""
    random = np.random.default_rng(SEED)
    orders = (random.permutation(count) for _ in range(sets))
    return [(order[:points], order[points:]) for order in orders]


class Linear:
    """A linear model of ten features."""

    identity = 1

    def __init__(self) -> None:
        self.slope = np.random.default_rng(SEED).normal(size=10).astype(np.float32)

    def outputs(self, x: np.ndarray) -> np.ndarray:
        return x @ self.slope

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x @ self.slope, np.broadcast_to(self.slope, x.shape)


def of_linear(count: int) -> Task:
    """Without sets, for a comparison with the library."""
    random, model = np.random.default_rng(SEED), Linear()
    x = random.normal(size=(count, 10)).astype(np.float32)
    y = model.outputs(x) + random.laplace(size=count)
    return Task("linear", model, x, y, 0.5, 0, 1, 0, [], 1)


# ---- images
class Directions:
    """The network for rotations: outputs by ONNX Runtime, in degrees, and gradients by NumPy."""

    def __init__(self) -> None:
        needed("onnxruntime", "the task of digits")  # said before anything is computed
        self.identity = zlib.crc32((MODELS / "rotation.onnx").read_bytes())
        self._open: dict[str, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"identity": self.identity, "_open": {}}  # each process opens the files

    def outputs(self, x: np.ndarray) -> np.ndarray:
        if "onnx" not in self._open:
            self._open["onnx"] = OnnxModel(MODELS / "rotation.onnx", threads=1)
        y = self._open["onnx"](x)
        degrees: np.ndarray = np.degrees(np.arctan2(y[:, 1], y[:, 0]))
        return degrees.astype(np.float32)

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if "network" not in self._open:
            self._open["network"] = Network(MODELS / "rotation.onnx")
        return self._open["network"].slopes(x)  # type: ignore[no-any-return]


def of_digits(settings: Settings) -> Task:
    """Turned digits, and the angles by which they were turned."""
    count = settings.size.interval_images
    some = digits.load(settings.mnist, count)
    points = min(settings.size.interval_points, count * 3 // 4)
    sets = halves(count, points, settings.size.interval_sets)
    data = some.turned, some.degrees
    return Task("digits", Directions(), *data, 0.35, 360, 25, points, sets, 10, 3, 16)


def tasks(settings: Settings) -> list[Task]:
    """Those whose packages are there; a line says which ones are left out."""
    some = []
    for make in (of_friedman, of_diabetes, of_digits):
        try:
            some.append(make(settings))
        except ImportError as error:
            print(f"  left out: {error}")
    return some

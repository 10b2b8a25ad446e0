"""Functions on the plane whose smoothed values are known, and the true radius of each promise.

Each function depends on one number, its position: the first coordinate, or the distance from the
origin. A shift of length t moves the position by at most t, so the true radius of a promise is the
least distance from the position of the input to one at which the promise fails."""

from __future__ import annotations

import abc
import dataclasses
import math
from typing import Callable, Optional

import numpy as np

_erf = np.frompyfunc(math.erf, 1, 1)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def normal_cdf(x: np.ndarray) -> np.ndarray:
    return 0.5 + 0.5 * np.asarray(_erf(np.asarray(x) / math.sqrt(2)), float)


def _normal_pdf(x: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * np.square(x)) / math.sqrt(2 * math.pi)


def _hinge_mean(p: np.ndarray, sigma: float) -> np.ndarray:
    """The mean of max(0, p + sigma e)."""
    return p * normal_cdf(p / sigma) + sigma * _normal_pdf(p / sigma)


@dataclasses.dataclass(frozen=True)
class Function(abc.ABC):
    """name, formula: as in the report. top: the largest output of a function in [0, top]."""

    name: str
    formula: str
    top: Optional[float] = None

    @abc.abstractmethod
    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The outputs, (rows,), of inputs (rows, 2)."""

    def position(self, z: np.ndarray) -> float:
        return float(z[0])

    @abc.abstractmethod
    def mean(self, p: np.ndarray, sigma: float) -> np.ndarray:
        """The mean of the outputs under noise at these positions."""

    @abc.abstractmethod
    def share(self, p: np.ndarray, sigma: float, level: float) -> np.ndarray:
        """The share of outputs that are at most `level`, which is at least 0 and below `top`."""

    def at_most(self, p: np.ndarray, sigma: float, level: float) -> np.ndarray:
        if level < 0:
            return np.zeros_like(p)
        if self.top is not None and level >= self.top:
            return np.ones_like(p)
        return self.share(p, sigma, level)

    def below(self, p: np.ndarray, sigma: float, level: float) -> np.ndarray:
        return self.at_most(p, sigma, math.nextafter(level, -math.inf))


class Quadratic(Function):
    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.square(x).sum(1)

    def position(self, z: np.ndarray) -> float:
        return math.hypot(*z)

    def mean(self, p: np.ndarray, sigma: float) -> np.ndarray:
        return p * p + 2 * sigma**2

    def share(self, p: np.ndarray, sigma: float, level: float) -> np.ndarray:
        """The integral over the coordinate along the position, r sin(u), of the probability that
        the other one is at most r cos(u); Gauss-Legendre in u."""
        r, u = math.sqrt(level), 0.5 * math.pi * _NODES
        across = 2 * normal_cdf(r * np.cos(u) / sigma) - 1
        weights = 0.5 * math.pi * _WEIGHTS * r * np.cos(u) / sigma * across
        return _normal_pdf((r * np.sin(u) - np.asarray(p)[..., None]) / sigma) @ weights


class Slice(Function):
    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.maximum(x[:, 0], 0)

    def mean(self, p: np.ndarray, sigma: float) -> np.ndarray:
        return _hinge_mean(p, sigma)

    def share(self, p: np.ndarray, sigma: float, level: float) -> np.ndarray:
        return normal_cdf((level - p) / sigma)


class Sandwich(Slice):
    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.clip(x[:, 0], 0, 1)

    def mean(self, p: np.ndarray, sigma: float) -> np.ndarray:
        return _hinge_mean(p, sigma) - _hinge_mean(p - 1, sigma)


class Slab(Function):
    def __call__(self, x: np.ndarray) -> np.ndarray:
        return (np.abs(x[:, 0]) < 0.5).astype(np.float32)

    def mean(self, p: np.ndarray, sigma: float) -> np.ndarray:
        return normal_cdf((0.5 - p) / sigma) - normal_cdf((-0.5 - p) / sigma)

    def share(self, p: np.ndarray, sigma: float, level: float) -> np.ndarray:
        return 1 - self.mean(p, sigma)


FUNCTIONS = (
    Quadratic("quadratic", "‖x‖²"),
    Slice("slice", "max(0, x₁)"),
    Sandwich("sandwich", "max(0, min(1, x₁)), as printed", 1.0),
    Slab("slab", "1 where |x₁| < ½, else 0", 1.0),
)

# ---- true radii
_STEPS = 0.01 * np.arange(1, 601)


def reach(holds: Callable[[np.ndarray], np.ndarray], position: float) -> float:
    """The least t at which `holds` is false at position - t or position + t; infinite beyond 6.
    Looks at steps of 0.01 and at position 0, the only place where anything here can turn."""
    if not holds(np.array([position]))[0]:
        return 0.0
    steps = np.sort(np.append(_STEPS, abs(position)))
    fails = [~holds(position + way * steps) for way in (-1, 1)]
    if not np.any(fails):
        return math.inf
    first = int(np.argmax(fails[0] | fails[1]))
    way = [way for way, failed in zip((-1, 1), fails) if failed[first]]
    low, high = steps[first - 1] if first else 0.0, steps[first]
    for _ in range(40):
        middle = 0.5 * (low + high)
        if holds(position + middle * np.array(way, float)).all():
            low = middle
        else:
            high = middle
    return float(high)


def of_mean(f: Function, p: float, sigma: float, tolerance: float, center: float) -> float:
    """How far the mean stays within the tolerance of `center`."""
    return reach(lambda at: np.abs(f.mean(at, sigma) - center) <= tolerance, p)


def of_median(f: Function, p: float, sigma: float, tolerance: float, center: float) -> float:
    """How far every median stays within the tolerance of `center`: less than half of the outputs
    lie beyond it, on either side."""

    def holds(at: np.ndarray) -> np.ndarray:
        above = 1 - f.at_most(at, sigma, center + tolerance)
        return (f.below(at, sigma, center - tolerance) <= 0.5) & (above <= 0.5)

    return reach(holds, p)


def of_share(f: Function, p: float, sigma: float, lo: float, hi: float, share: float) -> float:
    """How far at least this share of the outputs stays within [lo, hi]."""
    return reach(lambda at: f.at_most(at, sigma, hi) - f.below(at, sigma, lo) >= share, p)

"""Ways to make prediction intervals from calibration points. Each gives a calibration point a
score, takes a threshold among the scores, and covers a truth if its value is at most the
threshold."""

from __future__ import annotations

import abc
import dataclasses
import functools
import math
from statistics import NormalDist
from typing import Any, Optional

import numpy as np

from certreg import CALIBRATION_SCORES, Calibrated, CertregError, interval_rule
from certreg._rules import rule_of
from certreg._structs import Calibration

ALPHA = 0.1
BOUNDS_ALPHA = 0.01  # of certified bounds; the rest is for the calibration
NORMAL = NormalDist()


@dataclasses.dataclass(frozen=True)
class Record:
    """Outputs of a model around one input.

    clean    the output without noise
    outputs  with noise
    period   a full turn, or 0 for numbers
    unit     of distances
    bounds   certified, of the smoothed prediction at each of the radii, or None"""

    clean: float
    outputs: np.ndarray
    period: float
    unit: float
    bounds: Optional[np.ndarray] = None

    @functools.cached_property
    def center(self) -> float:
        """The smoothed prediction: the median, on a circle cut opposite to the mean."""
        f = self.outputs.astype(float)
        if not self.period:
            return float(np.median(f))
        turn = 2j * np.pi / self.period
        mean = float(np.angle(np.exp(turn * f).mean()) / abs(turn))
        return mean + float(np.median(signed(f - mean, self.period)))

    def distances(self, y: float) -> np.ndarray:
        away: np.ndarray = np.abs(signed(self.outputs.astype(float) - y, self.period))
        return away


def signed(difference: Any, period: float) -> Any:
    """A difference of two outputs; on a circle the short way."""
    if not period:
        return difference
    return (difference + 0.5 * period) % period - 0.5 * period


@dataclasses.dataclass(frozen=True)
class Asked:
    """For what radius, number `index` of the radii, and from how many points."""

    index: int
    radius: float
    sigma: float
    points: int


def rank_of(alpha: float, points: int) -> float:
    """The rank of the threshold among the scores, in split conformal prediction; infinite: there is
    none."""
    rank = math.ceil((1 - alpha) * (points + 1) - 1e-9)
    return rank if rank <= points else math.inf


class Method(abc.ABC):
    """calls: of the model at a new input."""

    name: str
    calls: int

    def rank(self, asked: Asked) -> float:
        return rank_of(ALPHA, asked.points)

    def threshold(self, scores: np.ndarray, asked: Asked) -> float:
        """scores: what was kept of each point."""
        rank = self.rank(asked)
        return float(np.sort(scores[:, 0])[int(rank) - 1]) if rank <= len(scores) else math.inf

    def kept(self, record: Record, y: float) -> np.ndarray:
        """What is kept of a point: its score, and room for more."""
        return np.append(self.score(record, y), np.zeros(CALIBRATION_SCORES - 1))

    @abc.abstractmethod
    def score(self, record: Record, y: float) -> float: ...

    @abc.abstractmethod
    def value(self, record: Record, y: float, asked: Asked) -> float:
        """The truth y is covered if this is at most the threshold."""

    def harm(self, record: Record, y: float, asked: Asked) -> float:
        """What an adversary makes large, from a record of its own."""
        return self.value(record, y, asked)

    @abc.abstractmethod
    def width(self, record: Record, threshold: float, asked: Asked) -> float:
        """How wide the interval is."""


# ---- split conformal prediction
class Plain(Method):
    """By the model itself."""

    name, calls = "split conformal on f", 1

    def score(self, record: Record, y: float) -> float:
        return abs(float(signed(record.clean - y, record.period)))

    def value(self, record: Record, y: float, asked: Asked) -> float:
        return self.score(record, y)

    def width(self, record: Record, threshold: float, asked: Asked) -> float:
        return _within_a_turn(2 * threshold, record.period)


class Smoothed(Plain):
    """By the smoothed prediction."""

    name, calls = "split conformal on the smoothed prediction", 1001

    def score(self, record: Record, y: float) -> float:
        return abs(float(signed(record.center - y, record.period)))


class Bounded(Smoothed):
    """Certified bounds of the smoothed prediction, extended by the threshold of Smoothed."""

    name = "output bounds ± q"

    def rank(self, asked: Asked) -> float:
        return rank_of(ALPHA - BOUNDS_ALPHA, asked.points)

    def value(self, record: Record, y: float, asked: Asked) -> float:
        lo, hi = self._bounds(record, asked)
        if not hi - lo < math.inf:
            return 0.0
        middle = 0.5 * (lo + hi)
        away = abs(float(signed(middle - y, record.period)))
        return max(away - 0.5 * (hi - lo), 0.0)

    def harm(self, record: Record, y: float, asked: Asked) -> float:
        return self.score(record, y)

    def width(self, record: Record, threshold: float, asked: Asked) -> float:
        lo, hi = self._bounds(record, asked)
        return _within_a_turn(hi - lo + 2 * threshold, record.period)

    @staticmethod
    def _bounds(record: Record, asked: Asked) -> tuple[float, float]:
        assert record.bounds is not None
        lo, hi = record.bounds[asked.index]
        return float(lo), float(hi)


def _within_a_turn(width: float, period: float) -> float:
    return min(width, period) if period else width


# ---- order statistics of noisy scores
class Counting(Method):
    """A truth is covered if so many noisy outputs are within the threshold of it."""

    def __init__(self, name: str, samples: int) -> None:
        self.name, self.calls, self.samples = name, samples, samples

    @abc.abstractmethod
    def sample_rank(self, asked: Asked) -> int: ...

    def score(self, record: Record, y: float) -> float:
        return self._smallest(record, y, (self.samples + 1) // 2)

    def value(self, record: Record, y: float, asked: Asked) -> float:
        return self._smallest(record, y, self.sample_rank(asked))

    def _smallest(self, record: Record, y: float, rank: int) -> float:
        d = record.distances(y)[: self.samples]
        return float(np.partition(d, rank - 1)[rank - 1])

    def harm(self, record: Record, y: float, asked: Asked) -> float:
        """At the same share of the adversary's samples; of one sample their median."""
        d = np.sort(record.distances(y))
        share = self.sample_rank(asked) / self.samples if self.samples > 1 else 0.5
        return float(d[max(math.ceil(share * len(d)), 1) - 1])

    def width(self, record: Record, threshold: float, asked: Asked) -> float:
        f = np.sort(record.outputs[: self.samples].astype(float))
        return hull(f, self.sample_rank(asked), threshold, record.period)


class Ruled(Counting):
    """The library's rule, with these numbers of samples of each point and of a new input."""

    def __init__(self, before: int, samples: int) -> None:
        name = f"certreg, {samples:,} call{'s' if samples > 1 else ''}"
        super().__init__(name if before == samples else f"{name}, {before:,} before", samples)
        self.before = before

    def kept(self, record: Record, y: float) -> np.ndarray:
        d = np.sort(record.distances(y)[: self.before])[_levels(self.before)]
        return np.append(d, np.zeros(CALIBRATION_SCORES - len(d)))

    def threshold(self, scores: np.ndarray, asked: Asked) -> float:
        if not self.is_possible(asked):
            return math.inf
        scores = np.ascontiguousarray(scores[:, : min(self.before, CALIBRATION_SCORES)])
        counts = dict(samples=self.before, count=len(scores), capacity=len(scores))
        known = Calibration(scores=scores.ctypes.data, sigma=asked.sigma, **counts)
        rule = rule_of(known, radius=asked.radius, alpha=ALPHA, samples=self.samples)
        return float(rule.threshold)

    def is_possible(self, asked: Asked) -> bool:
        return self._rule(asked) is not None

    def sample_rank(self, asked: Asked) -> int:
        rule = self._rule(asked)
        return int(rule.sample_rank) if rule else 1

    def _rule(self, asked: Asked) -> Any:
        return _rule(asked.radius / asked.sigma, asked.points, self.before, self.samples)


class Oracle(Counting):
    """The limit for infinitely many samples and points, from 1,001 samples and all points."""

    def __init__(self) -> None:
        super().__init__("oracle", 1001)
        self.calls = 0

    def threshold(self, scores: np.ndarray, asked: Asked) -> float:
        return float(np.quantile(scores[:, 0], 1 - ALPHA))

    def sample_rank(self, asked: Asked) -> int:
        return max(round(NORMAL.cdf(-asked.radius / asked.sigma) * self.samples), 1)


@functools.lru_cache(maxsize=None)
def _levels(samples: int) -> np.ndarray:
    """Which of the ascending scores of a point the library keeps: of scores 0, 1 and so on."""
    outputs = np.arange(samples, dtype=np.float32)
    options = {"samples": samples, "batch": samples, "seed": 1, "check": False}
    with Calibrated(lambda x: outputs[: len(x)], [[0.0]], [0.0], 1.0, **options) as one:
        levels: np.ndarray = one.scores[0].astype(int)
    return levels


@functools.lru_cache(maxsize=None)
def _rule(ratio: float, points: int, before: int, samples: int) -> Any:
    """None if there are too few points."""
    counts = {"samples": samples, "calibration_samples": before}
    try:
        return interval_rule(ratio, 1.0, points, alpha=ALPHA, **counts)
    except CertregError as error:
        if "points" not in str(error):
            raise
        return None


def hull(f: np.ndarray, k: int, q: float, period: float) -> float:
    """The length of the least interval, or arc, that contains every y within q of at least k of the
    ascending outputs f; 0 if there is none."""
    if q == math.inf or (period and 2 * q >= period):
        return period or math.inf
    ends = f + q if period else f[: len(f) - k + 1] + q
    starts = (np.concatenate([f, f + period]) if period else f)[k - 1 : k - 1 + len(ends)] - q
    some = starts <= ends
    starts, ends = starts[some], ends[some]
    if not len(starts):
        return 0.0
    if not period:
        return float(ends[-1] - starts[0])
    gaps = np.append(starts[1:], starts[0] + period) - ends
    return float(period - max(gaps.max(), 0.0))


OURS = (Ruled(101, 101), Ruled(1001, 1001))
FEWER = (Ruled(1001, 101), Ruled(101, 11), Ruled(11, 11), Ruled(101, 1))
PLAIN, SMOOTHED, ORACLE = Plain(), Smoothed(), Oracle()

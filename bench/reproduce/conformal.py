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

from certreg import CertregError, interval_ranks

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
        rank = self.rank(asked)
        return float(np.sort(scores)[int(rank) - 1]) if rank <= len(scores) else math.inf

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


# ---- ranks among noisy scores
class Ranks(Method):
    """The library's ranks, with this number of samples of each point and of a new input. With one
    sample it is RCP1."""

    def __init__(self, samples: int) -> None:
        self.samples = self.calls = samples
        self.name = "RCP1" if samples == 1 else f"certreg, {samples:,} calls"

    def ranks(self, asked: Asked) -> Any:
        return _ranks(asked.radius / asked.sigma, asked.points, self.samples)

    def rank(self, asked: Asked) -> float:
        ranks = self.ranks(asked)
        return ranks.point_rank if ranks else math.inf

    def score(self, record: Record, y: float) -> float:
        return self._smallest(record, y, (self.samples + 1) // 2)

    def value(self, record: Record, y: float, asked: Asked) -> float:
        return self._smallest(record, y, self.sample_rank(asked))

    def sample_rank(self, asked: Asked) -> int:
        ranks = self.ranks(asked)
        return int(ranks.sample_rank) if ranks else 1

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


class Oracle(Ranks):
    """The limit of the ranks for infinitely many samples and points, from 1,001 samples and all
    points."""

    def __init__(self) -> None:
        super().__init__(1001)
        self.name, self.calls = "oracle", 0

    def threshold(self, scores: np.ndarray, asked: Asked) -> float:
        return float(np.quantile(scores, 1 - ALPHA))

    def sample_rank(self, asked: Asked) -> int:
        return max(round(NORMAL.cdf(-asked.radius / asked.sigma) * self.samples), 1)


@functools.lru_cache(maxsize=None)
def _ranks(ratio: float, points: int, samples: int) -> Any:
    """None if there are too few points."""
    try:
        return interval_ranks(
            ratio, 1.0, points, alpha=ALPHA, samples=samples, calibration_samples=samples
        )
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


OURS = (Ranks(101), Ranks(1001))
PLAIN, SMOOTHED, ORACLE = Plain(), Smoothed(), Oracle()

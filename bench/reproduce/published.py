"""Published ways to make prediction intervals that hold under attack, by their formulas. All are
corrected for sampling as RSCP+ is. The scores of calibration points stay as they are, and of a new
input two bounds hold, before and after the attack; their errors are taken from α. The authors of
CAS and BinCP bound the score of each calibration point too, which makes intervals wider."""

from __future__ import annotations

import functools
import math
from typing import Callable

import numpy as np

from .conformal import (
    ALPHA,
    FEWER,
    NORMAL,
    ORACLE,
    OURS,
    PLAIN,
    SMOOTHED,
    Asked,
    Bounded,
    Counting,
    Method,
    Record,
    rank_of,
)
from .synthetic import share_with
from .truth import normal_cdf

ERROR = 0.001  # of a bound, as in the authors' code; 0: what was sampled is taken for exact
FAR = 1024.0  # units, beyond which an interval is everything


# ---- means of a score in [0, 1)
class Rscp(Method):
    """The score of an output at the distance d is d⁴ / (d⁴ + u⁴), with a unit u that is fixed
    beforehand. Its mean over the noise is taken of 1,001 samples. No shift up to r changes Φ⁻¹ of
    the exact mean by more than r/σ. RSCP+ has Hoeffding's bound of means."""

    POWER = 4

    calls = 1001

    def __init__(self, name: str, error: float) -> None:
        self.name, self.error = name, error

    def rank(self, asked: Asked) -> float:
        return rank_of(ALPHA - 2 * self.error, asked.points)

    def score(self, record: Record, y: float) -> float:
        return float(self._scores(record, y).mean())

    def value(self, record: Record, y: float, asked: Asked) -> float:
        less = _hoeffding(self.error, len(record.outputs))
        mean = min(max(self.score(record, y) - less, 1e-12), 1 - 1e-12)
        return NORMAL.cdf(NORMAL.inv_cdf(mean) - asked.radius / asked.sigma) - less

    def _scores(self, record: Record, y: float) -> np.ndarray:
        d = (record.distances(y) / record.unit) ** self.POWER
        scores: np.ndarray = d / (d + 1)
        return scores

    def width(self, record: Record, threshold: float, asked: Asked) -> float:
        def inside(y: float) -> bool:
            return self.value(record, y, asked) <= threshold

        center, most = record.center, 0.5 * record.period or FAR * record.unit
        if not inside(center):
            return 0.0
        ends = [_end(lambda away: inside(center + side * away), most) for side in (1, -1)]
        return sum(ends) if record.period or max(ends) < most else math.inf


def _end(inside: Callable[[float], bool], most: float) -> float:
    """How far an interval extends from its center to one side."""
    low, high = (most, most) if inside(most) else (0.0, most)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if inside(middle) else (low, middle)
    return high


class Cas(Rscp):
    """The mean of these scores at the input that was moved is at least what the whole distribution
    of the scores allows, by the bound of Dvoretzky, Kiefer and Wolfowitz."""

    def value(self, record: Record, y: float, asked: Asked) -> float:
        scores, ratio = np.sort(self._scores(record, y)), asked.radius / asked.sigma
        masses = _least_masses(len(scores), ratio, self.error)
        return float(masses @ scores) - _hoeffding(self.error, len(scores))


@functools.lru_cache(maxsize=None)
def _least_masses(count: int, ratio: float, error: float) -> np.ndarray:
    """The probabilities of the ascending scores where they are as small as a shift of `ratio` σ can
    make them; the rest is at 0."""
    shares = np.arange(count) / count + _hoeffding(error, count)
    below = [NORMAL.inv_cdf(max(share, 1e-300)) for share in shares if share < 1]
    shares = np.ones(count + 1)
    shares[: len(below)] = normal_cdf(np.array(below) + ratio)
    return np.diff(shares)


def _hoeffding(error: float, count: int) -> float:
    return math.sqrt(math.log(1 / error) / (2 * count)) if error else 0.0


# ---- numbers of outputs near the truth
class Rcp1(Counting):
    """One noisy output of each input. The calibration is at the level that a shift lowers to 1 -
    α."""

    def __init__(self) -> None:
        super().__init__("RCP1", 1)

    def rank(self, asked: Asked) -> float:
        alpha = NORMAL.cdf(NORMAL.inv_cdf(ALPHA) - asked.radius / asked.sigma)
        return rank_of(alpha, asked.points)

    def sample_rank(self, asked: Asked) -> int:
        return 1


class BinCp(Counting):
    """A score is the threshold that SHARE of the outputs reach. A shift lowers this probability to
    a level, which that of a new input has to reach; the bounds are those of Clopper and Pearson."""

    SHARE = 0.7  # favourable among 0.5 to 0.8

    def __init__(self, samples: int, error: float) -> None:
        name = f"BinCP, {samples:,} calls" + ("" if error else ", not corrected")
        super().__init__(name, samples)
        self.own, self.error = math.ceil(self.SHARE * samples), error

    def rank(self, asked: Asked) -> float:
        return rank_of(ALPHA - 2 * self.error, asked.points)

    def threshold(self, scores: np.ndarray, asked: Asked) -> float:
        return super().threshold(scores, asked) if self._enough(asked) else math.inf

    def score(self, record: Record, y: float) -> float:
        return self._smallest(record, y, self.own)

    def sample_rank(self, asked: Asked) -> int:
        return max(self._enough(asked), 1)

    def _enough(self, asked: Asked) -> int:
        return _enough(self.samples, self.own, asked.radius / asked.sigma, self.error)


@functools.lru_cache(maxsize=None)
def _enough(samples: int, own: int, ratio: float, error: float) -> int:
    share = share_with(error, samples, samples - own) if error else own / samples
    level = NORMAL.cdf(NORMAL.inv_cdf(share) - ratio)
    if not error:
        return math.ceil(level * samples - 1e-9)
    return next(k for k in range(samples + 1) if 1 - share_with(error, samples, k) >= level)


BINCP = tuple(BinCp(samples, error) for samples in (101, 1001) for error in (ERROR, 0.0))
OTHERS = (Rcp1(), Rscp("RSCP", 0.0), Rscp("RSCP+", ERROR), Cas("CAS", ERROR), *BINCP, Bounded())
METHODS: tuple[Method, ...] = (PLAIN, SMOOTHED, *OTHERS, *FEWER, *OURS, ORACLE)

"""Coverage of prediction intervals on linear models, where the worst attack is known exactly: it
moves the output away from the truth by the radius times the norm of the slope."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Callable, Iterator

import numpy as np

from certreg import interval_ranks

from .conformal import ALPHA, NORMAL, rank_of
from .truth import normal_cdf

RATIOS = (0.0, 0.25, 0.5, 1.0)  # radii in units of sigma
SAMPLES = ((1, 1), (11, 11), (101, 101), (1001, 101))  # of a calibration point and a new input
NOISE = (0.5, 2.0)  # sigma times the norm of the slope, in units of the residuals
POINTS, TESTED, BATCH = 500, 400, 10  # of each set; sets at once
FEW, MORE = 101, 4  # with up to so many samples of a point, so many times as many sets

Draw = Callable[[np.random.Generator, Any], Any]
# Residuals y - f(x). Two points have one distance, so that every input is missed as often: on this
# law nothing is to spare. An outlier has the probability of a miss.
SHAPES: dict[str, Draw] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "Laplace": lambda random, shape: random.laplace(size=shape),
    "two points": lambda random, shape: random.choice([-1.0, 1.0], shape),
    "outliers": lambda random, shape: 3.0 * (random.random(shape) < ALPHA),
    "Cauchy": lambda random, shape: random.standard_cauchy(shape),
}


@dataclasses.dataclass(frozen=True)
class Rule:
    """Ranks: of the scores of a point, of the threshold, and of the score of a new input."""

    name: str
    calibration_samples: int
    samples: int
    ratio: float
    calibration_rank: int
    point_rank: int
    sample_rank: int


@functools.lru_cache(maxsize=None)
def rules() -> tuple[Rule, ...]:
    """The library's, and naive ones without its correction."""
    return tuple(_rules())


def _rules() -> Iterator[Rule]:
    for before, after in SAMPLES:
        name = f"{before:,}, {after:,}"
        for ratio in RATIOS:
            r = interval_ranks(
                ratio, 1.0, POINTS, alpha=ALPHA, samples=after, calibration_samples=before
            )
            own = (r.calibration_rank, r.point_rank, r.sample_rank)
            yield Rule(name, before, after, ratio, *own)
            naive = max(math.floor(after * NORMAL.cdf(-ratio)), 1)
            if after == before == 101:
                plain = ((before + 1) // 2, int(rank_of(ALPHA, POINTS)), naive)
                yield Rule("naive " + name, before, after, ratio, *plain)


def _scores(
    random: np.random.Generator, residuals: np.ndarray, noise: float, rules: list[Rule]
) -> dict[int, np.ndarray]:
    """From residuals (sets, POINTS), ascending, for each rank of a score that the rules have."""
    ranks = sorted({rule.calibration_rank for rule in rules})
    f = random.standard_normal((*residuals.shape, rules[0].calibration_samples), np.float32)
    distances = np.abs(residuals[..., None].astype(np.float32) - np.float32(noise) * f)
    distances.partition([k - 1 for k in ranks], axis=-1)
    return {k: np.sort(distances[..., k - 1].astype(float), axis=-1) for k in ranks}


def coverage(shape: str, noise: float, sets: int, seed: int) -> list[dict[str, Any]]:
    """One line for each rule, from this many sets, or more where samples are few. An output at the
    moved input is normal, and its mean is as far from the truth as the attack can bring it; of the
    outputs of a new input, those beyond the threshold are drawn as a number."""
    random, lines = np.random.default_rng(seed), []
    for samples in sorted({rule.calibration_samples for rule in rules()}):
        some = [rule for rule in rules() if rule.calibration_samples == samples]
        more = sets * (MORE if samples <= FEW else 1)
        means: dict[Rule, list[float]] = {rule: [] for rule in some}
        for first in range(0, more, BATCH):
            size = min(BATCH, more - first)
            scores = _scores(random, SHAPES[shape](random, (size, POINTS)), noise, some)
            away = np.abs(SHAPES[shape](random, (size, TESTED)))
            for rule in some:
                q = scores[rule.calibration_rank][:, rule.point_rank - 1, None]
                means[rule] += _covered(random, rule, away + noise * rule.ratio, q, noise)
        lines += [_line(shape, noise, sets, *one) for one in means.items()]
    return lines


def _covered(random: Any, rule: Rule, far: np.ndarray, q: np.ndarray, noise: float) -> list[float]:
    """The shares of covered truths, which are `far` from the mean of the outputs, by sets."""
    share = normal_cdf((far - q) / noise) + normal_cdf((-far - q) / noise)
    beyond = random.binomial(rule.samples, np.clip(share, 0, 1))
    covered: list[float] = (beyond <= rule.samples - rule.sample_rank).mean(1).tolist()
    return covered


def _line(shape: str, noise: float, asked: int, rule: Rule, means: list[float]) -> dict[str, Any]:
    return {
        "residuals": shape,
        "noise": noise,
        "asked": asked,
        "samples": rule.name,
        "ratio": rule.ratio,
        "sets": len(means),
        "points": len(means) * TESTED,
        "coverage": float(np.mean(means)),
        "error": float(np.std(means) / math.sqrt(len(means))),
    }

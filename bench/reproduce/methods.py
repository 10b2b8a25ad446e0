"""The certificates that are compared, as questions about one record, and the promise of each."""

from __future__ import annotations

import dataclasses
from typing import Callable

from certreg import Question, Serving

PAPER, PUBLISHED, OURS = "Zhang and Frank", "published", "this library"

# The guarantee for every shift below the radius.
PROMISES = {
    "mean": "the mean of the outputs stays within the tolerance of its value at the unshifted "
    "input",
    "single": "one fresh output is within the tolerance of the clean output f(z), with probability "
    "1 - β",
    "trimmed": "a trimmed mean of 500 (or 200) fresh outputs is within the tolerance of the clean "
    "output f(z), with probability 1 - β",
    "rise": "as the mean, but it may drop farther",
    "sample": "the median of the outputs stays within the tolerance of the pilot's sample median; "
    "for an angle, the median on the circle cut opposite that sample median",
    "coded": "the median of the outputs stays within the tolerance of the sample median of all "
    "outputs; proved at 1 - 2α for one radius that is fixed beforehand, not for the reported "
    "radius, and not at all for angles",
    "statistic": "the statistic of the outputs stays within the tolerance of the reported "
    "prediction",
    "served": "the median of 501 fresh outputs is within the tolerance of the reported prediction, "
    "with probability 1 - β",
}


@dataclasses.dataclass(frozen=True)
class Method:
    """make: from the tolerance and the level α to the question. promise: a key of PROMISES."""

    name: str
    whose: str
    promise: str
    make: Callable[[float, float], Question]


def _paper(constraints: str) -> Callable[[float, float], Question]:
    return lambda tolerance, alpha: Question(
        tolerance,
        alpha=alpha,
        statistic="mean",
        method="paper",
        center="true_mean",
        constraints=constraints,
    )


def _alpha_smoothing(trim: float, samples: int, confidence: float) -> Callable[..., Question]:
    """The level is the probability that a served value misses; p_A has its own confidence."""
    return lambda tolerance, alpha: Question(
        tolerance,
        alpha=confidence or alpha,
        statistic="trimmed_mean",
        method="baseline",
        serving=Serving(samples, alpha, trim=trim),
    )


def _ours(statistic: str = "median", constraints: str = "") -> Callable[..., Question]:
    return lambda tolerance, alpha: Question(
        tolerance,
        alpha=alpha,
        statistic=statistic,
        constraints=constraints or 0,
        huber_width=tolerance / 2 if statistic == "huber" else 0,
    )


def _centered(tolerance: float, alpha: float) -> Question:
    """As in the paper, but the outputs are centered before they meet the noise."""
    return Question(
        tolerance, alpha=alpha, statistic="mean", method="asymptotic", center="true_mean"
    )


def _median_smoothing(center: str) -> Callable[[float, float], Question]:
    return lambda tolerance, alpha: Question(
        tolerance, alpha=alpha, method="baseline", center=center
    )


def _served(confidence: float, pairs: bool = False) -> Callable[[float, float], Question]:
    """α-smoothing's two error probabilities: one for p_A, one for each request."""
    return lambda tolerance, alpha: Question(
        tolerance, alpha=confidence or alpha, serving=Serving(501, alpha, pairs=pairs)
    )


FAMILIES = tuple(
    Method(name, PAPER, "mean", _paper(constraints))
    for name, constraints in (
        ("(C)", "C"),
        ("(C,G)", "CG"),
        ("(E,C)+M", "ECM"),
        ("(E,C,G)+M", "ECGM"),
    )
)
ALPHA_49 = Method("α-smoothing 0.49", PUBLISHED, "trimmed", _alpha_smoothing(0.49, 500, 0.001))
# p_A, the share of outputs within the tolerance, is bounded with confidence 0.999 as published.
# Here it is at the level of the other methods.
ALPHA_EASY = Method(
    "α-smoothing 0.49, p_A at 1 - α", PUBLISHED, "trimmed", _alpha_smoothing(0.49, 500, 0)
)
ALPHA_35 = Method("α-smoothing 0.35", PUBLISHED, "trimmed", _alpha_smoothing(0.35, 200, 0.001))
RS_REG = Method("RS-Reg", PUBLISHED, "single", _alpha_smoothing(0.0, 1, 0.001))
SAMPLE_MEDIAN = Method("median smoothing", PUBLISHED, "sample", _median_smoothing("prediction"))
CODED = Method("median smoothing, as coded", PUBLISHED, "coded", _median_smoothing("sample_median"))
MEDIAN = Method("median", OURS, "statistic", _ours())
GRADIENT = Method("median, gradient", OURS, "statistic", _ours(constraints="ECGM"))
SERVED = Method("median, served", OURS, "served", _served(0.001))
SERVED_EASY = Method("median, served, at 1 - α", OURS, "served", _served(0))
IN_PAIRS = Method("median, served in pairs, at 1 - α", OURS, "served", _served(0, pairs=True))
HUBER = Method("Huber", OURS, "statistic", _ours("huber"))
MEAN = Method("mean", OURS, "statistic", _ours("mean"))
CENTERED = Method("(E,C,G)+M, centered", OURS, "mean", _centered)
CIRCULAR = Method("circular mean", OURS, "statistic", _ours("circular_mean"))

# What the paper prints for families with a range, by the family; sweeps have it from their records
# (upward.py).
UPWARD = {
    family.name: dataclasses.replace(family, name=f"{family.name}, upwards only", promise="rise")
    for family in FAMILIES[2:]
}

# The paper's (E,C)+M for ages (appendix J.4): also the mean has an interval, and each of the two
# intervals has half of α (upward.py).
OWN_SPLIT = dataclasses.replace(FAMILIES[2], name=f"{FAMILIES[2].name}, its own split")

# For the functions whose true radii are known; those in RANGED use the range of the outputs.
RANGED = (FAMILIES[3], MEAN)
OF_FUNCTIONS = (FAMILIES[1], ALPHA_35, ALPHA_49, RS_REG, SAMPLE_MEDIAN, CODED, MEDIAN)

OF_REALS = (
    *FAMILIES,
    ALPHA_35,
    ALPHA_49,
    ALPHA_EASY,
    SAMPLE_MEDIAN,
    CODED,
    MEDIAN,
    GRADIENT,
    SERVED,
    SERVED_EASY,
    IN_PAIRS,
    HUBER,
    MEAN,
)
OF_ANGLES = (*OF_REALS, CIRCULAR)
EVERY = (*OF_ANGLES, OWN_SPLIT, RS_REG, *UPWARD.values())
# At every level of the paper; the others at the first one only.
AT_ALL_LEVELS = (FAMILIES[2], FAMILIES[3], ALPHA_49, SAMPLE_MEDIAN, CODED, MEDIAN, SERVED)
LEVELS = (0.1, 0.05, 0.025)


@dataclasses.dataclass(frozen=True)
class Asked:
    """A method at a level, as a question."""

    method: Method
    alpha: float
    question: Question


def asked(methods: tuple[Method, ...], tolerance: float) -> tuple[Asked, ...]:
    """Every method at 0.1, and some at the other levels."""
    pairs = [(method, LEVELS[0]) for method in methods]
    pairs += [(method, alpha) for alpha in LEVELS[1:] for method in AT_ALL_LEVELS]
    return tuple(Asked(method, alpha, method.make(tolerance, alpha)) for method, alpha in pairs)

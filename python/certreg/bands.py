"""What the certificates of some rows prove about their population, and about these rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ._arguments import not_negative, number, positive
from ._types import Inputs, Line, Table
from .constants import Center, Domain, Method
from .names import listed

if TYPE_CHECKING:
    from .certified_rows import Rows

BETS = 0.5 ** np.arange(1, 11)[:, None]  # (p_j - alpha) / (1 - alpha) of theory 12.8
MARGIN = 1e-6  # above the rounding of tails


def population(
    rows: Rows,
    *,
    confidence: float = 0.95,
    radius: float | None = None,
    question: int = 0,
    labels: Inputs | None = None,
    error: float | None = None,
) -> Table:
    """Bound from below the share of the population that has a breaking radius of at least r.

    The rows have to be independent draws from the population, and must have chosen nothing: neither
    sigma, scale, question or model, nor themselves by their radii. That is the caller's promise
    (theory 12.8). Refused are the domain "calibration", a scale "std" or "iqr" or a denoiser that
    was made from the rows, selected or unfinished rows, and noise ids that occur twice. Rows that
    failed or abstained count as radius 0.

    Parameters
    ----------
    rows : Rows
        The result of certify_rows.
    confidence : float
        Probability that a bound holds, from 0.5 to less than 1. "population" holds for all radii
        and sigmas together, and so does "rows".
    radius : float, optional
        One radius > 0, fixed before the rows were seen; the bound of the population is then higher.
        By default all radii of the rows together.
    question : int
        Index of the question. If one of several is chosen by its bounds, divide 1 - confidence by
        their number.
    labels : array_like or Series, optional
        True outputs, as for `Rows.label_errors`: count only rows with a prediction near the label.
    error : float, optional
        With labels: the largest distance that counts as near; by default the tolerance.

    Returns
    -------
    list of dict
        A dict for each sigma: "sigma"; "radius", as of `Rows.curve`, or the one that was given;
        "share" of the rows with a certified radius of at least r; "population", a lower bound, not
        an estimate, of the share of the population with a true radius of at least r; "rows", how
        many of these rows at least have one.

    Raises
    ------
    ValueError, IndexError
        For rows or arguments for which nothing could be promised.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> rows = certreg.certify_rows(lambda x: x[:, 0], X, 0.25, 0.5, seed=1, progress=False)
    >>> line = certreg.population(rows, radius=0.4)[0]
    >>> line["share"], round(line["population"], 3), line["rows"]
    (0.985, 0.96, 195)"""
    if radius is not None:
        radius = positive(radius, "radius")
    confidence = number(confidence, "confidence")
    if not 0.5 <= confidence < 1:
        raise ValueError(f"confidence is {confidence:g}; it must be from 0.5 to less than 1")
    if error is not None and labels is None:
        raise ValueError("error needs labels")
    _refuse(rows, question, labels)
    certificates = rows.certificates[:, :, question]
    near = np.ones(certificates.shape, bool)
    if labels is not None:
        most = certificates["tolerance"] if error is None else not_negative(error, "error")
        near = rows._errors_of(question, labels) <= most
    gamma = (1 - confidence) / len(rows.sigmas)
    return [
        {"sigma": sigma, **_bounds(certificates[:, k], near[:, k], gamma, radius)}
        for k, sigma in enumerate(rows.sigmas)
    ]


def _refuse(rows: Rows, question: int, labels: Inputs | None) -> None:
    """Raises ValueError or IndexError for rows that prove nothing about a population."""
    rows._check_radii()
    if not len(rows):
        raise ValueError("there are no rows")
    rows.certificate(0, question)  # raises IndexError
    asked, numbers = rows.questions[question], np.sort(rows.numbers)
    if rows.domain == Domain.CALIBRATION:
        raise ValueError(
            "rows of the domain 'calibration' choose sigma or scale, so their radii are too long "
            "for a population: certify other rows"
        )
    if rows.made:
        raise ValueError(
            f"{rows.made} came from these rows, so their radii may be longer than those of the "
            "population: take it from elsewhere (feature_scale of other inputs, values by name)"
        )
    loose = {Method.PAPER, Method.ASYMPTOTIC, Method.BASELINE}
    if asked.method in loose or asked.center == Center.SAMPLE_MEDIAN:
        raise ValueError(
            "certificates by the methods 'paper', 'asymptotic' and 'baseline', and about the "
            "center 'sample_median', have no bound of this kind: ask with the method 'finite'"
        )
    if labels is not None and asked.center != Center.PREDICTION:
        raise ValueError(
            "with labels the center must be 'prediction', which the pilot fixes: the estimate of "
            "the true mean comes from the samples that make the radius"
        )
    if not rows.done.all():
        raise ValueError(
            f"{int((~rows.done).sum())} of {len(rows)} rows are not finished, and every row "
            "counts: call certify_rows again with the same `resume`"
        )
    if (np.diff(numbers) != 1).any():
        raise ValueError(
            "the rows are a selection, and every row counts: give all rows, or a slice like "
            "rows[:500] that does not depend on the results"
        )
    ids = rows["noise_id"][:, 0, question][rows["status"][:, 0, question] == 0]
    found, count = np.unique(ids, return_counts=True)
    if (count > 1).any():
        raise ValueError(
            f"several rows have the noise ids {listed(found[count > 1].tolist())}, so their "
            "certificates fail together: give each part of a table its own noise_id"
        )


def _bounds(answers: np.ndarray, near: np.ndarray, gamma: float, radius: float | None) -> Line:
    """The bounds at one sigma, at all radii or at one."""
    radii, total, most = answers["radius"], len(answers), int(near.sum())
    proved = np.sort(radii[near & (radii > 0)])
    alpha = float(np.max(answers["alpha"], where=answers["status"] == 0, initial=0.0))
    at = np.unique(np.append(radii[radii > 0], 0)) if radius is None else np.array([radius])
    counts = len(proved) - np.searchsorted(proved, at)
    if radius is None:
        least = counts / total - math.sqrt(-math.log(gamma) / (2 * total))
    else:
        least = np.array([binomial_lower(int(counts[0]), total, gamma)])
    line: Line = {
        "radius": at,
        "share": counts / total,
        "population": np.maximum((least - alpha) / (1 - alpha) - 1e-12, 0.0),
        "rows": most - most_wrong(most - counts, most, alpha, gamma),
    }
    return line if radius is None else {name: values[0].item() for name, values in line.items()}


# ---- theory 12.8
def binomial_tail(count: int, trials: int, p: float) -> float:
    """P(Bin(trials, p) >= count), rounded up; 1 if the count is at most the mean."""
    if count <= trials * p:
        return 1.0
    if p <= 0:
        return 0.0
    gammas = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
    first = gammas + count * math.log(p) + (trials - count) * math.log1p(-p)
    j = np.arange(count, trials)
    rest = float(np.cumprod((trials - j) / (j + 1) * (p / (1 - p))).sum())
    return math.exp(min(first, 0.0)) * (1 + rest) * (1 + MARGIN)


def binomial_lower(count: int, trials: int, gamma: float) -> float:
    """The lower bound of Clopper and Pearson at level gamma <= 1/2."""
    low, high = 0.0, count / trials
    for _ in range(60):
        middle = (low + high) / 2
        if binomial_tail(count, trials, middle) <= gamma:
            low = middle
        else:
            high = middle
    return low


def most_wrong(refused: np.ndarray, rows: int, alpha: float, gamma: float) -> np.ndarray:
    """The most rows with a true radius below r, for all r together, with the numbers of rows that
    are not certified there."""
    if not alpha:  # no certificate
        return np.asarray(refused)
    p: np.ndarray = alpha + (1 - alpha) * BETS
    win, lose = np.log(p / alpha), np.log((1 - p) / (1 - alpha))
    most = math.log(len(BETS)) - math.log(gamma) + MARGIN
    low, high = refused, np.full_like(refused, rows)  # a bisection: the wealth grows with n
    while (low < high).any():
        n = (low + high + 1) // 2
        fine = np.logaddexp.reduce((n - refused) * win + refused * lose, axis=0) < most
        low, high = np.where(fine, n, low), np.where(fine, high, n - 1)
    return low

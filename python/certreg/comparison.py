"""Compares a model with and without a denoiser, on inputs that are set aside."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any, Sequence

import numpy as np

from ._arguments import not_negative, refuse, seed_or_random, with_habits
from ._categorical import scale_by_rule
from ._progress import Reporter
from ._tables import aligned
from ._types import Inputs, Line, Model, Progress, Scale
from .certified_rows import Rows, labels_of, mean_error
from .constants import Domain
from .denoised import Denoised, check_use, check_whole, examples_among
from .frames import index_of, split_frame
from .options import Options, with_options
from .questions import Asked, typical_tolerance
from .rows import certify_rows
from .tuning import question_about_one, ratio_of_means, sigmas_of


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison:
    """The result of compare_denoised, for certify_rows(c.model, ..., sigma=c.sigma). Experimental.

    Attributes
    ----------
    helps : bool
        True if the denoiser is useful: the gain is above 1 by two standard errors.
    model : object
        The model behind a denoiser for `sigma` if it helps, otherwise the bare model.
    sigma : float
        Its best noise level.
    gain : float
        Ratio of the mean radii with and without a denoiser, each at its best sigma; with labels of
        the useful radii, which are 0 unless the prediction is within the tolerance of the label. 0
        if the errors of the denoiser are too large at all sigmas.
    gain_error : float
        Standard error of the gain.
    lines : tuple of dict
        The table, with a dict for each sigma, without and with a denoiser; `left` is the mean
        squared error of a denoised feature, divided by the mean square of its noise."""

    helps: bool
    model: Model
    sigma: float
    gain: float
    gain_error: float
    lines: tuple[Line, ...]

    def __str__(self) -> str:
        what = "useful radius" if "useful_radius" in self.lines[0] else "mean radius"
        gain = f"{self.gain:.3f} times (standard error {self.gain_error:.3f}) that without"
        text = f"With the denoiser the {what} is {gain}, each at its best sigma."
        advice = f" Deploy sigma {self.sigma:g} {'with' if self.helps else 'without'} it."
        if not self.helps:
            text += " That is no clear gain; models trained under noise mostly lose by one."
        if what == "mean radius":
            advice += " Errors were not measured: that takes labels."
        return f"{aligned(list(self.lines))}\n{text}{advice}"


@with_habits
def compare_denoised(
    model: Model,
    X: Inputs,
    sigmas: float | Sequence[float],
    question: Asked,
    *,
    examples: Inputs,
    labels: Inputs | None = None,
    slack: float = 0.1,
    scale: Scale = None,
    components: int = 0,
    seed: int | None = None,
    progress: Progress = True,
    **more: Any,
) -> Comparison:
    """Certify inputs at several noise levels, with and without a denoiser in front of the model.

    Experimental.

    Each radius holds with all of alpha on its own.

    Parameters
    ----------
    model : object
        As for certify_rows, not a Denoised.
    X : array_like or DataFrame
        At least 2 inputs, as for certify_rows. Neither certify them later nor use them as
        calibration points.
    sigmas, question, seed
        As for tune_scale.
    examples : array_like or DataFrame
        Examples for denoisers, as for Denoised: other inputs than X.
    labels : array_like or Series, optional
        True outputs of X: the choice is among sigmas with a mean error near the least.
    slack : float
        Such a mean error is at most this many tolerances above the least without a denoiser.
    scale, components
        As for Denoised.
    progress : bool or callable
        As for certify_rows; an input counts twice for each sigma.
    **more
        Other arguments of certify_rows.

    Returns
    -------
    Comparison
        The measurements, and the better model with its sigma.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments.
    RowsError, CertregError
        If the model raises an exception, or the library fails.

    Examples
    --------
    >>> some = np.random.default_rng(0).normal(size=(230, 1)) * [1.0, 0.1, 0.1]
    >>> c = certreg.compare_denoised(
    ...     lambda x: 3 * x[:, 0] * x[:, 1], some[:30], [0.2, 0.4], 0.5, examples=some[30:],
    ...     samples=200, seed=1, progress=False)
    >>> c.helps, c.model.sigma
    (True, 0.4)"""
    refuse("compare_denoised", more, "questions resume")
    own = with_options(
        more.pop("options", Options()), domain=Domain.CALIBRATION, keep_records=False, radius=None
    )
    one, levels = question_about_one(question), sigmas_of(sigmas)
    slack = not_negative(slack, "slack")
    scale, texts = scale_by_rule(model, X, scale)
    for text in texts:
        warnings.warn(text, stacklevel=2)
    fronts = [_denoised(model, examples, sigma, scale, components) for sigma in levels]
    count = _check_apart(fronts[0], X, scale)
    truth = None if labels is None else labels_of(labels, count, index_of(X))
    more.update(questions=one, scale=scale, seed=seed_or_random(seed), options=own)
    measured = []
    reporter = Reporter(progress, 0, 2 * len(levels) * count)
    for sigma, front in zip(levels, fronts):
        for each in (model, front):
            rows = certify_rows(each, X, sigma, progress=reporter.part(), **more)
            measured.append(_measured(each, sigma, rows, truth))
    return _compared(measured, slack * typical_tolerance(one, truth))


def _denoised(
    model: Model, examples: Inputs, sigma: float, scale: Scale, components: int
) -> Denoised:
    try:
        return Denoised(model, examples, sigma, scale, components)
    except (TypeError, ValueError) as error:
        raise type(error)(f"examples make no denoiser: {error}") from error


def _check_apart(front: Denoised, X: Inputs, scale: Scale) -> int:
    """The number of rows of X. Raises ValueError if X has another form, or examples among it."""
    matrix, columns, numbers_of_scale = split_frame(X, scale)
    if len(matrix) < 2:
        raise ValueError("X has 1 row; give at least 2, better some hundreds")
    try:
        check_use(front, matrix.shape[1:], numbers_of_scale, columns)
    except ValueError as error:
        raise ValueError(f"X and examples differ: {error}") from None
    check_whole(front, matrix)
    known = examples_among(front, matrix)
    if len(known):
        raise ValueError(
            f"row {known[0]} of X is among the examples, which have longer radii: set other "
            "inputs aside"
        )
    return len(matrix)


@dataclasses.dataclass(frozen=True, eq=False)
class _Measured:
    """A model, its radii (with labels the useful radii), its mean error (0 without labels), and its
    line of the table."""

    model: Model
    radii: np.ndarray
    error: float
    line: Line


def _measured(model: Model, sigma: float, rows: Rows, truth: np.ndarray | None) -> _Measured:
    radii, error = rows["radius"], 0.0
    left = model.error if isinstance(model, Denoised) else math.nan
    line: Line = {"sigma": sigma, "denoised": "yes" if isinstance(model, Denoised) else "no"}
    line["mean_radius"] = float(radii.mean())
    if truth is not None:
        radii, error = rows.useful_radii(truth), mean_error(rows.label_errors(truth))
        line.update(useful_radius=float(radii.mean()), mean_error=error)
    line.update(failed=len(rows.errors), left=left)
    return _Measured(model, radii.ravel(), error, line)


def _compared(trials: Sequence[_Measured], slack: float) -> Comparison:
    most = slack + min((t.error for t in trials[::2] if t.error >= 0), default=0.0)  # not NaN

    def best(some: Sequence[_Measured]) -> _Measured:
        accurate = [trial for trial in some if trial.error <= most]
        nothing = dataclasses.replace(some[0], radii=0 * some[0].radii)
        return max(accurate, key=lambda trial: float(trial.radii.mean()), default=nothing)

    before, after = best(trials[::2]), best(trials[1::2])
    gain, error = ratio_of_means(after.radii, before.radii)
    helps = gain > 1 + 2 * error
    chosen, lines = after if helps else before, tuple(trial.line for trial in trials)
    return Comparison(helps, chosen.model, chosen.line["sigma"], gain, error, lines)

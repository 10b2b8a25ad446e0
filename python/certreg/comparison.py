"""Whether a denoiser helps a model, measured on inputs that are set aside."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._progress import Progress, Reporter
from ._arguments import not_negative, seed_or_random
from .constants import Domain
from .denoised import Denoised, check_use, examples_among
from .frames import index_of, split_frame, scale_from
from .questions import Asked
from ._tables import aligned
from .certified_rows import Rows, labels_of, mean_error
from .rows import certify_rows
from .tuning import question_about_one, ratio_of_means, refuse, sigmas_of


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison:
    """What compare_denoised has measured: certify_rows(c.model, ..., sigma=c.sigma).

    helps       whether the denoiser is worth its place: the gain is above 1 by two standard errors
    model       the model behind a denoiser for `sigma` if it helps, otherwise the bare model
    sigma       its best noise level
    gain        mean radius with a denoiser at its best sigma, divided by that without one at its
                own best sigma; with labels of the useful radius, which is 0 where the prediction is
                not within the tolerance of the label. 0 if its errors are too large at all sigmas
    gain_error  standard error of the gain
    lines       the table: a dict for each sigma, without and with a denoiser. left is the mean
                squared error of a denoised feature in units of the noise"""

    helps: bool
    model: Any
    sigma: float
    gain: float
    gain_error: float
    lines: Tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        what = "useful radius" if "useful_radius" in self.lines[0] else "mean radius"
        gain = f"{self.gain:.3f} times (standard error {self.gain_error:.3f}) that without"
        said = f"With the denoiser the {what} is {gain}, each at its best sigma."
        advice = f" Deploy sigma {self.sigma:g} {'with' if self.helps else 'without'} it."
        if not self.helps:
            said += " That is no clear gain; models trained under noise mostly lose by one."
        if what == "mean radius":
            advice += " Errors were not measured: that takes labels."
        return f"{aligned(list(self.lines))}\n{said}{advice}"


def compare_denoised(
    model: Any,
    X: Any,
    question: Asked,
    sigmas: Sequence[float],
    *,
    examples: Any,
    labels: Any = None,
    slack: float = 0.1,
    scale: Any = None,
    components: int = 0,
    seed: Optional[int] = None,
    progress: Progress = True,
    **more: Any,
) -> Comparison:
    """Certifies inputs at several noise levels, with and without a denoiser in front of the model.

    model     as for certify_rows, not a Denoised
    X         at least 2 inputs, as for certify_rows, that are not certified later, nor points of
              a Calibrated
    examples  what denoisers are made of, as for Denoised: other inputs than X
    labels    true outputs of X. Then a sigma is chosen only if the mean error is at most `slack`
              tolerances above the least without a denoiser
    scale, components   as for Denoised
    progress  as for certify_rows; an input counts twice for each sigma

    question, sigmas and seed are as for tune_scale, and the other arguments as for certify_rows.
    Each radius holds with all of alpha on its own.

    Raises ValueError and TypeError for wrong arguments; RowsError if the model raises an exception;
    CertregError if the library fails."""
    refuse("compare_denoised", more, "questions domain resume keep_records radius")
    asked, levels = question_about_one(question), sigmas_of(sigmas)
    most = asked.tolerance * not_negative(slack, "slack")
    scale = scale_from(X, scale)
    fronts = [_made(model, examples, sigma, scale, components) for sigma in levels]
    _check_apart(fronts[0], X, scale)
    truth = None if labels is None else labels_of(labels, len(X), index_of(X))
    more.update(questions=asked, scale=scale, seed=seed_or_random(seed), domain=Domain.CALIBRATION)
    trials = []
    shown = Reporter(progress, 0, 2 * len(levels) * len(X))
    for sigma, front in zip(levels, fronts):
        for one in (model, front):
            rows = certify_rows(one, X, sigma, progress=shown.part(), **more)
            trials.append(_measured(one, sigma, rows, truth))
    return _compared(trials, most)


def _made(model: Any, examples: Any, *setting: Any) -> Denoised:
    try:
        return Denoised(model, examples, *setting)
    except (TypeError, ValueError) as error:
        raise type(error)(f"examples make no denoiser: {error}") from error


def _check_apart(front: Denoised, X: Any, scale: Any) -> None:
    matrix, columns, scale = split_frame(X, scale)
    if len(matrix) < 2:
        raise ValueError("X has 1 row; give at least 2, better some hundreds")
    try:
        check_use(front, matrix.shape[1:], scale, columns)
    except ValueError as error:
        raise ValueError(f"X and examples differ: {error}") from None
    known = examples_among(front, matrix)
    if len(known):
        raise ValueError(
            f"row {known[0]} of X is among the examples, on which radii are longer: set other "
            "inputs aside"
        )


@dataclasses.dataclass(frozen=True, eq=False)
class _Measured:
    """A model, the radii of which the mean counts, the mean error (0 without labels) and the line
    of the table."""

    model: Any
    radii: np.ndarray
    error: float
    line: dict[str, Any]


def _measured(model: Any, sigma: float, rows: Rows, truth: Optional[np.ndarray]) -> _Measured:
    radii, error = rows["radius"], 0.0
    with_it = isinstance(model, Denoised)
    line: dict[str, Any] = {"sigma": sigma, "denoised": "yes" if with_it else "no"}
    line["mean_radius"] = float(radii.mean())
    if truth is not None:
        radii, error = rows.useful_radii(truth), mean_error(rows.label_errors(truth))
        line.update(useful_radius=float(radii.mean()), mean_error=error)
    line.update(failed=len(rows.errors), left=model.error if with_it else math.nan)
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

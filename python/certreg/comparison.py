"""Whether a denoiser helps a model, measured on inputs that are set aside."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from typing import Any, Callable, Optional, Sequence, Tuple

import numpy as np

from ._arrays import inputs_of
from ._shown import Progress, Shown
from .constants import Domain, not_negative, shared_seed
from .denoised import Denoised, check_use, examples_among
from .frames import Columns, is_frame
from .questions import Asked
from .result import Rows, aligned, labels_of, mean_error
from .rows import certify_rows
from .tuning import question_about_one, ratio_of_means, sigmas_of


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

    def table(self) -> list[dict[str, Any]]:
        """The lines."""
        return list(self.lines)

    def __str__(self) -> str:
        what = "useful radius" if "useful_radius" in self.lines[0] else "mean radius"
        gain = f"{self.gain:.3f} times (standard error {self.gain_error:.3f}) that without"
        said = f"With the denoiser the {what} is {gain}, each at its best sigma."
        advice = f" Deploy sigma {self.sigma:g} {'with' if self.helps else 'without'} it."
        if not self.helps:
            said += " That is no clear gain; models trained under noise mostly lose by one."
        if what == "mean radius":
            advice += " Errors were not measured: that takes labels."
        return f"{aligned(self.table())}\n{said}{advice}"


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
    X         at least 2 inputs, as for certify_rows, that are not certified later
    question  one question about one output, without a target; a number is a tolerance
    sigmas    noise levels > 0 to choose from, one or several different ones
    examples  what denoisers are made of, as for Denoised: other inputs than X
    labels    true outputs of X. Then a sigma is chosen only if the mean error is at most `slack`
              tolerances above the least without a denoiser
    scale, components   as for Denoised
    seed      of the noise; None: a secret one is drawn. The noise is that of Domain.CALIBRATION,
              which no certificate uses
    progress  True: a bar, if tqdm is installed; or a function of (inputs done, inputs), where an
              input counts twice for each sigma

    The other arguments are those of certify_rows. Each radius holds with all of alpha on its own.

    Raises ValueError and TypeError for wrong arguments; RowsError if the model raises an exception;
    CertregError if the library fails."""
    wrong = sorted(set(more) & {"questions", "domain", "resume", "keep_records", "radius"})
    if wrong:
        raise TypeError(f"compare_denoised takes no {wrong[0]}: it sets that itself")
    asked, levels = question_about_one(question), sigmas_of(sigmas)
    most = asked.tolerance * not_negative(slack, "slack")
    fronts = [_made(model, examples, sigma, scale, components) for sigma in levels]
    X = X if is_frame(X) else inputs_of(X)
    if len(X) < 2:
        raise ValueError("X has 1 row; give at least 2, better some hundreds")
    _check_apart(fronts[0], X, scale)
    truth = None if labels is None else labels_of(labels, len(X))
    more.update(questions=asked, scale=scale, seed=shared_seed(seed), domain=Domain.CALIBRATION)
    with contextlib.closing(Shown(progress, 0, 2 * len(levels) * len(X))) as shown:
        trials = [
            _Trial.of(
                one, sigma, certify_rows(one, X, sigma, progress=_after(shown), **more), truth
            )
            for sigma, front in zip(levels, fronts)
            for one in (model, front)
        ]
    return _compared(trials, most)


def _made(model: Any, examples: Any, *setting: Any) -> Denoised:
    try:
        return Denoised(model, examples, *setting)
    except (TypeError, ValueError) as error:
        raise type(error)(f"examples make no denoiser: {error}") from error


def _check_apart(front: Denoised, X: Any, scale: Any) -> None:
    columns = Columns(X, scale) if is_frame(X) else None
    matrix = X if columns is None else columns.matrix
    try:
        check_use(front, matrix.shape[1:], front.scale, columns)
    except ValueError as error:
        raise ValueError(f"X and examples differ: {error}") from None
    known = examples_among(front, matrix)
    if len(known):
        raise ValueError(
            f"row {known[0]} of X is among the examples, on which radii are longer: set other "
            "inputs aside"
        )


def _after(shown: Shown) -> Callable[[int, int], None]:
    """Progress of rows that come after those that are done."""
    before = shown.done
    return lambda done, _: shown.advance(before + done - shown.done)


@dataclasses.dataclass(frozen=True, eq=False)
class _Trial:
    """A model at one noise level."""

    model: Any
    sigma: float
    radii: np.ndarray  # of which the mean counts
    mean_error: float  # 0 without labels
    line: dict[str, Any]

    @classmethod
    def of(cls, model: Any, sigma: float, rows: Rows, truth: Optional[np.ndarray]) -> "_Trial":
        radii, error = rows["radius"][:, 0, 0], 0.0
        with_it = isinstance(model, Denoised)
        line: dict[str, Any] = {"sigma": sigma, "denoised": "yes" if with_it else "no"}
        line["mean_radius"] = float(radii.mean())
        if truth is not None:
            radii = rows.useful_radii(truth)[:, 0, 0]
            error = mean_error(rows.label_errors(truth))
            line["useful_radius"], line["mean_error"] = float(radii.mean()), error
        line["failed"] = len(rows.errors)
        line["left"] = model.error if with_it else math.nan
        return cls(model, sigma, radii, error, line)


def _compared(trials: Sequence[_Trial], slack: float) -> Comparison:
    bare, denoised = trials[::2], trials[1::2]
    known = [trial.mean_error for trial in bare if trial.mean_error >= 0]  # not NaN
    most = slack + min(known, default=0.0)

    def best(some: Sequence[_Trial]) -> _Trial:
        accurate = [trial for trial in some if trial.mean_error <= most]
        nothing = dataclasses.replace(some[0], radii=0 * some[0].radii)
        return max(accurate, key=lambda trial: float(trial.radii.mean()), default=nothing)

    before, after = best(bare), best(denoised)
    gain, error = ratio_of_means(after.radii, before.radii)
    helps = gain > 1 + 2 * error
    chosen = after if helps else before
    lines = tuple(trial.line for trial in trials)
    return Comparison(helps, chosen.model, chosen.sigma, gain, error, lines)

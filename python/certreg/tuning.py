"""Chooses the scale of the noise, and sigma with it, on inputs that are set aside."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Callable, Optional, Sequence, Tuple

import numpy as np

from ._progress import Progress, Reporter
from ._arguments import integer, not_negative, number, seed_or_random
from .constants import Domain
from .denoised import digest_of
from .errors import RowsError, of_model
from .frames import index_of
from .groups import Groups
from .questions import Asked, Question, question_of
from ._tables import aligned
from .certified_rows import Rows, labels_of, mean_error
from .rows import certify_rows
from .sensitivity import sensitivities

HELD_BACK = 3  # every third row only measures the gain
SMALL_STEP = 0.05  # of the logarithm of a factor: the search has ended


@dataclasses.dataclass(frozen=True, eq=False)
class Trial:
    """A scale and sigma that were tried.

    factors      of the groups
    sigma        noise level
    mean_radius  of the rows that choose, where rows without a certificate count as 0
    mean_error   mean distance of their predictions from the labels; NaN without labels
    failed       how many of them failed; the trial is then not chosen
    kept         whether it was the best so far"""

    factors: np.ndarray
    sigma: float
    mean_radius: float
    mean_error: float
    failed: int
    kept: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class TunedScale:
    """What tune_scale has chosen: certify_rows(..., sigma=t.sigma, scale=t.scale).

    scale       noise of each feature in units of sigma, float32 of the shape of an input; for a
                DataFrame a Series by the names of its columns, if they differ
    sigma       noise level
    changed     whether this is another scale than the one at the start. If the gain is not above 1
                by two standard errors, scale and sigma are the best ones without a change
    gain        mean radius of the best trial, divided by that of the scale at the start at its own
                best sigma; both on the rows that are held back, which chose nothing
    gain_error  standard error of the gain
    groups      names of the groups
    factors     of the scale of each group in the best trial. Their geometric mean over the features
                is 1, so radii before and after are in the same unit
    shares      of the groups in what limits the radius at the start; the best scale makes each
                equal to the group's share of the features
    history     all trials
    model_calls rows with which the model was called"""

    scale: Any
    sigma: float
    changed: bool
    gain: float
    gain_error: float
    groups: Tuple[Any, ...]
    factors: np.ndarray
    shares: np.ndarray
    history: Tuple[Trial, ...]
    model_calls: int

    def table(self) -> list[dict[str, Any]]:
        """One dict for each group: its name, share and factor."""
        lines = zip(self.groups, self.shares.tolist(), self.factors.tolist())
        return [{"group": name, "share": share, "factor": factor} for name, share, factor in lines]

    def __str__(self) -> str:
        said = f"sigma {self.sigma:g}, gain {self.gain:.3f} +- {self.gain_error:.3f}"
        kept = "" if self.changed else ", so the scale stays as it was"
        return f"{aligned(self.table())}\n{said}{kept}"


def tune_scale(
    model: Any,
    X: Any,
    question: Asked,
    sigmas: Sequence[float],
    *,
    groups: Any = None,
    scale: Any = None,
    samples: int = 1000,
    rounds: int = 8,
    limit: float = 4.0,
    labels: Any = None,
    slack: float = 0.1,
    seed: Optional[int] = None,
    progress: Progress = True,
    **more: Any,
) -> TunedScale:
    """Chooses a scale and sigma with a long mean radius, for other inputs than these.

    model     as for certify_rows
    X         at least 12 inputs, as for certify_rows, that are not certified later, nor points of
              a Calibrated. Two thirds of them choose, and every third one measures the gain
    question  one question about one output, without a target; a number is a tolerance
    sigmas    noise levels > 0 to choose from, one or several different ones
    groups    the group of each feature: names or whole numbers, at most 64 different ones, in the
              shape of an input or one that is broadcast to it. Features of a group keep the ratios
              of their scales. None: each feature is a group of its own
    scale     scale at the start, as for certify_rows. Features with 0 stay without noise
    samples   samples of each input and trial, pilot included
    rounds    most changes of the scale that are tried
    limit     largest factor for a group, > 1, and the inverse of the smallest. Without a limit, the
              noise of a feature that the model ignores would grow forever
    labels    true outputs of the inputs. Then only trials are kept whose mean error is at most
              `slack` tolerances above the least error of the scale at the start
    seed      of the noise; None: a secret one is drawn. The noise is that of Domain.CALIBRATION,
              which no certificate uses
    progress  True: a count; or a function of (inputs done, most inputs), where
              an input counts once for each trial. To cancel, it may raise an exception

    The other arguments are those of certify_rows: outputs, kind, lo, hi, batch, pilot, constraints,
    flags, executor, jobs, check. With k sigmas, n inputs that choose and m that are held back, the
    model is called with at most ((2 k + 2 rounds) n + 2 m) samples rows, and 19 for the check.

    Certificates with the result hold with all of alpha, because scale and sigma are fixed before
    their noise is drawn (theory 1.8).

    Raises ValueError and TypeError for wrong arguments; ValueError too if no input can be certified
    at any sigma, or if all outputs stay within the tolerance, so that no scale is better than
    another; RowsError if the model raises an exception; CertregError if the library fails."""
    refuse("tune_scale", more, "domain keep_records noise_id questions radius resume sigma")
    if digest_of(model):
        raise ValueError(
            "a denoiser is for one scale: give the model without it, and make a denoiser for the "
            "scale that is chosen"
        )
    asked = question_about_one(question)
    setting = Groups.of(X, scale, groups, number(limit, "limit"))
    levels = sigmas_of(sigmas)
    rounds, count = integer(rounds, "rounds", 1), setting.rows
    allowance = asked.tolerance * not_negative(slack, "slack")
    truth = None if labels is None else labels_of(labels, count, index_of(X))
    more.update(questions=asked, samples=samples, domain=Domain.CALIBRATION)
    more["seed"] = seed_or_random(seed)
    check = more.pop("check", True)
    certify = functools.partial(certify_rows, model, **more)
    held = np.arange(count) % HELD_BACK == HELD_BACK - 1
    choosing, measuring = np.flatnonzero(~held), np.flatnonzero(held)
    most = (2 * len(levels) + 2 * rounds) * len(choosing) + 2 * len(measuring)
    shown = Reporter(progress, 0, most)
    search = _Search(_Trials(setting, certify, truth, shown, check), choosing, levels, allowance)
    search.improve(rounds)
    search.sweep()
    found = search.result(measuring)
    shown.advance(most - shown.done)
    return found


def refuse(function: str, given: dict[str, Any], own: str) -> None:
    """Raises TypeError if one of these arguments is given, which a function sets itself."""
    wrong = sorted(set(given) & set(own.split()))
    if wrong:
        raise TypeError(f"{function} takes no {wrong[0]}: it sets that itself")


def question_about_one(asked: Asked) -> Question:
    question = question_of(asked)
    if question.output < 0:
        raise ValueError("the question is about all outputs; ask about the most important one")
    if question.target is not None:
        raise ValueError("the question has a target, where all radii end: leave it out")
    return question


def sigmas_of(sigmas: Any) -> Tuple[float, ...]:
    """The noise levels in ascending order. certify_rows checks their values."""
    levels = tuple(sorted(number(sigma, "sigmas") for sigma in np.ravel(sigmas).tolist()))
    if not levels or len(set(levels)) < len(levels):
        raise ValueError("sigmas must be one number or several different ones")
    return levels


class _Trials:
    """Certifies the rows of a trial. All trials have the same noise."""

    def __init__(
        self,
        setting: Groups,
        certify: Callable[..., Rows],
        labels: Any,
        shown: Reporter,
        check: Any,
    ) -> None:
        self.setting, self.certify, self.labels = setting, certify, labels
        self.check = check  # the model, at the first trial
        self.shown, self.calls = shown, 0

    def certified(self, which: np.ndarray, logs: np.ndarray, sigma: float, **more: Any) -> Rows:
        """The certificates of some rows. Row i of the table has noise id noise_id + i."""
        X, scale = self.setting.inputs(which), self.setting.scale(logs)
        more.update(sigma=sigma, scale=scale, progress=self.shown.part(), check=self.check)
        try:
            rows = self.certify(X=X, **more)
        except RowsError as error:
            if error.row < 0 or error.__cause__ is None:
                raise
            row = int(which[error.row])
            said = f"row {row}: {of_model(error.__cause__)}"
            raise RowsError(said, row) from error.__cause__
        self.check = False
        self.calls += int(rows["samples"].sum())
        return rows

    def tried(self, which: np.ndarray, logs: np.ndarray, sigma: float) -> "_Evaluated":
        """A trial with these rows."""
        rows = self.certified(which, logs, sigma, keep_records=True)
        error = math.nan
        if self.labels is not None:
            error = mean_error(rows.label_errors(self.labels[which]))
        radius = float(rows["radius"].mean())
        trial = Trial(np.exp(logs), sigma, radius, error, len(rows.errors))
        limits = sensitivities(rows, self.setting.member)
        failures = [f"row {which[row]}: {text}" for (row, _), text in sorted(rows.errors.items())]
        return _Evaluated(trial, logs, limits, failures[:1])


@dataclasses.dataclass(frozen=True, eq=False)
class _Evaluated:
    """A trial, the logarithms of its factors, the sensitivities of the groups in it, and the first
    row that failed in it, if one did."""

    trial: Trial
    logs: np.ndarray
    limits: np.ndarray
    failure: list[str]


class _Search:
    """Looks for the longest mean radius: for the scale by steps that would reach the best one if
    the model were linear, for sigma among the levels."""

    def __init__(
        self, trials: _Trials, rows: np.ndarray, sigmas: Tuple[float, ...], allowance: float
    ) -> None:
        self.trials, self.setting, self.rows, self.sigmas = trials, trials.setting, rows, sigmas
        self.history: list[Trial] = []
        self.most_error = math.inf
        none = np.zeros(len(self.setting.names))
        tried = [trials.tried(rows, none, sigma) for sigma in sigmas]
        errors = [one.trial.mean_error for one in tried if not one.failure]
        self.most_error = allowance + min(errors, default=math.inf)
        self.start = self.best = max(tried, key=self.value)
        self.history = [dataclasses.replace(t.trial, kept=t is self.start) for t in tried]
        self._check_start(tried)

    def _check_start(self, tried: Sequence["_Evaluated"]) -> None:
        if all(one.failure for one in tried):
            why = tried[0].failure[0]
            raise ValueError(f"some inputs fail at every sigma, the first because {why}")
        if self.value(self.start) <= 0:
            raise ValueError(
                "no input is certified at a sigma that can be chosen: give smaller sigmas, a "
                "larger tolerance or more samples"
            )
        if not self.start.limits.any():
            raise ValueError(
                f"at sigma {self.start.trial.sigma:g} no output leaves the tolerance, so every "
                "scale is as good as another: give larger sigmas or a smaller tolerance"
            )

    def value(self, tried: "_Evaluated") -> float:
        """The mean radius; -1 if rows failed or the predictions are too wrong."""
        trial = tried.trial
        wrong = trial.failed or trial.mean_error > self.most_error
        return -1.0 if wrong else trial.mean_radius

    def _try(self, logs: np.ndarray, sigma: float) -> bool:
        """Tries a scale and sigma, unless it was done before. Returns whether they are the best so
        far."""
        factors = np.exp(logs)
        if any(t.sigma == sigma and np.array_equal(t.factors, factors) for t in self.history):
            return False
        tried = self.trials.tried(self.rows, logs, sigma)
        kept = self.value(tried) > self.value(self.best)
        self.history.append(dataclasses.replace(tried.trial, kept=kept))
        if kept:
            self.best = tried
        return kept

    def improve(self, rounds: int) -> None:
        """Changes the scale, and sigma by one level, until neither helps."""
        step = 1.0
        for _ in range(rounds):
            logs = self.setting.bounded(self.best.logs + step * self._toward())
            if np.abs(logs - self.best.logs).max() < SMALL_STEP:
                return
            step = 1.0 if self._try(logs, self.best.trial.sigma) else step / 2
            if not self._try_next_sigma() and step < 0.25:
                return

    def _toward(self) -> np.ndarray:
        """The step that makes the shares of the groups in what limits the radius equal to their
        shares of the features, if the model is linear: at most a factor of 2 for each group."""
        limits, parts = self.best.limits, self.setting.parts
        wanted = parts * max(float(limits.sum()), 0.0)
        ratio = np.clip(wanted / np.maximum(limits, 1e-9), 0.25, 4.0)
        return np.asarray(0.5 * np.log(ratio))

    def _try_next_sigma(self) -> bool:
        """Tries the next level in the direction in which the radius grows."""
        at = self.sigmas.index(self.best.trial.sigma)
        at += 1 if self.best.limits.sum() < 1 else -1
        inside = 0 <= at < len(self.sigmas)
        return inside and self._try(self.best.logs, self.sigmas[at])

    def sweep(self) -> None:
        """Tries all levels with the best scale, as was done with the scale at the start."""
        logs = self.best.logs
        for sigma in self.sigmas:
            self._try(logs, sigma)

    def result(self, held: np.ndarray) -> TunedScale:
        """Compares the best trial with the start on the rows that are held back."""
        start, best = self.start, self.best
        gain, error, changed = 1.0, 0.0, False
        if best.logs.any():
            before, after = (self._radii(held, one) for one in (start, best))
            gain, error = ratio_of_means(after, before)
            changed = gain > 1 + 2 * error
        chosen = best if changed else start
        return TunedScale(
            scale=self.setting.scale(chosen.logs),
            sigma=chosen.trial.sigma,
            changed=changed,
            gain=gain,
            gain_error=error,
            groups=self.setting.names,
            factors=np.exp(best.logs),
            shares=start.limits / start.limits.sum(),
            history=tuple(self.history),
            model_calls=self.trials.calls,
        )

    def _radii(self, rows: np.ndarray, tried: "_Evaluated") -> np.ndarray:
        """The radii of other rows, with noise that no trial has used."""
        unused = self.setting.rows
        done = self.trials.certified(rows, tried.logs, tried.trial.sigma, noise_id=unused)
        return np.asarray(done["radius"][:, 0, 0])


def ratio_of_means(after: np.ndarray, before: np.ndarray) -> Tuple[float, float]:
    """The ratio of the means, and its standard error."""
    if not before.any():
        return (math.inf if after.any() else 1.0), math.inf
    ratio = float(after.mean() / before.mean())
    spread = float(np.std(after - ratio * before, ddof=1))
    return ratio, spread / (math.sqrt(len(after)) * float(before.mean()))

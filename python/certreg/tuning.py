"""Chooses sigma, and the scale of groups of features; and compares models with and without a
denoiser."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Data, Frame, Model, Scale, Series, Shape, integer, needed, not_negative
from .arguments import number, refuse, seed_or_random, with_habits
from .arrays import array_of, check_finite, numbers
from .constants import Domain
from .denoise import Denoised, check_use, check_whole, digest_of, digests_of_rows
from .denoise import examples_among
from .display import HtmlTable, Line, Part, Progress, Reporter, Table
from .estimator import Estimator
from .frames import index_of, is_frame, split_frame
from .inputs import scale_by_rule, taken
from .library import of_model
from .questions import Asked, Question, question_of, typical_tolerance
from .rows import ChosenScale, Options, certify_rows, with_options
from .table import Record, Rows, RowsError, labels_of, mean_error
from .units import bounds_of, radius_of_box

LEAST_ROWS, MOST_GROUPS = 12, 64


class Groups:
    """Inputs, the scale at the start, and the groups of features. Raises ValueError or TypeError if
    scale, groups, limit or box do not suit X.

    X       as it was given, an array or a DataFrame
    start   scale of the features at the start, flat; 0 without a bound if there is a box
    shape   shape of an input
    names   names of the groups
    member  (features, groups) of float32: 1 if a feature belongs to a group; features without
            noise belong to none
    sizes   number of features of each group, or its part of the squared norm of box / start
    digests of the features with noise of each row of X
    limit   largest factor"""

    def __init__(
        self, X: Data, scale: Scale, groups: ArrayLike | None, limit: float, box: Scale
    ) -> None:
        bounds = None if box is None else bounds_of(X, box, "box")
        matrix, columns, given_scale = split_frame(X, scale)
        self.shape = shape = matrix.shape[1:]
        self.X: np.ndarray | Frame = X
        if columns is None:
            self.X = numbers(matrix, np.float64, "X")
            check_finite(self.X, matrix, "X", missing=True)
        start = array_of(1.0 if given_scale is None else given_scale, shape, np.float64, "scale")
        if not np.isfinite(start).all() or (start < 0).any() or not start.any():
            raise ValueError("scale must hold finite numbers of at least 0, not all of them 0")
        if bounds is not None:
            radius_of_box(X, bounds, start)  # raises ValueError
            start = np.where(bounds.ravel() > 0, start, 0)
        if len(matrix) < LEAST_ROWS:
            raise ValueError(
                f"X has {len(matrix)} rows; give at least {LEAST_ROWS}, better some hundreds"
            )
        if not 1 < limit < math.inf:
            raise ValueError(f"limit is {limit:g}; it must be a number above 1")
        if groups is None and is_frame(X) and X.columns.is_unique:
            groups = [str(name) for name in X.columns]
        self.names, self.member = _members(groups, shape, start > 0)
        self.start, self.limit, self.has_box = start, limit, bounds is not None
        self.digests = frozenset(digests_of_rows(matrix, start).tolist())
        if bounds is None:
            self.sizes: np.ndarray = self.member.sum(0, dtype=np.float64)
        else:
            ratios = np.divide(bounds.ravel(), start, out=np.zeros_like(start), where=start > 0)
            self.sizes = ratios**2 @ self.member

    def parts(self, logs: np.ndarray) -> np.ndarray:
        """The share of each group in the features that have noise, or in the squared norm of the
        box in units of the scale for these factors, (groups,)."""
        sizes = self.sizes * (np.exp(-2 * logs) if self.has_box else 1.0)
        return np.asarray(sizes / sizes.sum())

    def scale(self, logs: np.ndarray) -> np.ndarray | Series:
        """The scale for the logarithms of the factors, float32 of the shape of an input; for a
        DataFrame with different names of columns a Series by these names."""
        each: np.ndarray = (self.start * np.exp(self.member @ logs)).astype(np.float32)
        if is_frame(self.X) and self.X.columns.is_unique:
            return needed("pandas", "a DataFrame").Series(each, self.X.columns)
        return each.reshape(self.shape)

    def bounded(self, logs: np.ndarray) -> np.ndarray:
        """The logarithms of factors within the limit, of geometric mean 1 over the features, or
        that leave the radius of the box as it is. The given ones are all moved by the same amount,
        and then cut off."""
        most = math.log(self.limit)
        reach = most + float(np.abs(logs).max())
        low, high = -reach, reach
        for _ in range(60):
            middle = (low + high) / 2
            moved = np.clip(logs + middle, -most, most)
            if self.sizes @ (-np.expm1(-2 * moved) if self.has_box else moved) < 0:
                low = middle
            else:
                high = middle
        return np.asarray(np.clip(logs + high, -most, most))


def _members(
    groups: ArrayLike | None, shape: Shape, noisy: np.ndarray
) -> tuple[tuple[object, ...], np.ndarray]:
    """The names of the groups, and the features that belong to each."""
    if groups is None:
        groups = np.arange(noisy.size).reshape(shape)
    try:
        each = np.broadcast_to(np.asarray(groups), shape).reshape(-1)
    except ValueError:
        raise ValueError(
            f"groups has shape {np.shape(groups)}; it must be {shape}, the shape of an input"
        ) from None
    is_whole = each.dtype.kind == "f" and (each == np.round(each)).all()
    if each.dtype.kind not in "biuUS" and not is_whole:
        raise TypeError("groups must hold names or whole numbers")
    names, first, codes = np.unique(each[noisy], return_index=True, return_inverse=True)
    if len(names) > MOST_GROUPS:
        raise ValueError(
            f"there are {len(names)} groups; give at most {MOST_GROUPS}, by groups, since more "
            "factors cannot be learned from a few inputs"
        )
    order = np.argsort(first)  # as they appear
    member = np.zeros((noisy.size, len(names)), np.float32)
    member[np.flatnonzero(noisy), np.argsort(order)[codes.reshape(-1)]] = 1
    return tuple(names[order].tolist()), member


def sensitivities(rows: Rows, groups: np.ndarray) -> np.ndarray:
    """The relative change of the mean radius when the scale of a group shrinks, (groups,), at fixed
    sigma. For a linear model they are the shares of the groups in the squared gradient, with the
    sum 1; at the best sigma the sum is 1 for every model.

    rows    Rows at one sigma, with their records and one question about one output
    groups  (features, groups) of float32: 1 if a feature belongs to a group"""
    of, total = rows.sampling, float(rows["radius"].sum())
    change = np.zeros(groups.shape[1])
    with dataclasses.replace(of, scale=None).estimator(None) as e:
        for record in sorted(rows.records, key=lambda record: record.row):
            certificate = rows.certificates[record.row, 0, 0]
            if certificate["radius"] > 0:
                x = certificate["radius"] / rows.sigmas[0]
                density = math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
                e.begin(np.zeros(e.shape), 1.0, of.noise_id + record.row, of.levels[0])
                change -= 1 / density * _correlated(_inside(rows, record), e, groups)
    return rows.sigmas[0] * change / total if total else change


def _inside(rows: Rows, record: Record) -> np.ndarray:
    """True for outputs within the tolerance on the side that limits the radius, or on both sides if
    none is limiting, (samples,). False for failed outputs."""
    question, certificate = rows.questions[0], rows.certificates[record.row, 0, 0]
    turn = rows.sampling.turn(question.output)
    outputs: np.ndarray = record.outputs(rows.sampling.outputs)[:, question.output]
    away: np.ndarray = outputs.astype(np.float64) - certificate["prediction"]
    if math.isfinite(turn):
        away = (away + turn / 2) % turn - turn / 2
    side = np.sign(certificate["limiting_side"])
    return np.asarray((side * away if side else np.abs(away)) < certificate["tolerance"])


PIECE = 2048  # rows of noise that are in memory


def _correlated(inside: np.ndarray, e: Estimator, groups: np.ndarray) -> np.ndarray:
    """The covariance of `inside` with the squared noise of each group, (groups,). Sample 0 has no
    noise."""
    centered, sums = inside - inside[1:].mean(), np.zeros(groups.shape[1])
    for first in range(1, len(inside), PIECE):
        drawn = e.draw(first, min(PIECE, len(inside) - first)).reshape(-1, len(groups))
        sums += centered[first : first + PIECE] @ ((drawn * drawn) @ groups)
    return sums / (len(inside) - 1)


HELD_BACK = 3  # every third row only measures the gain
SMALL_STEP = 0.05  # of the logarithm of a factor: the search has ended


@dataclasses.dataclass(frozen=True, eq=False)
class Trial:
    """A scale and sigma that were tried.

    Attributes
    ----------
    factors : ndarray
        The factor of each group.
    sigma : float
        Noise level.
    mean_radius : float
        Mean radius of the rows that choose; rows without a certificate count as 0.
    mean_error : float
        Mean distance of their predictions from the labels; NaN without labels.
    failed : int
        Number of them that failed; the trial is then not chosen.
    kept : bool
        True if it was the best so far."""

    factors: np.ndarray
    sigma: float
    mean_radius: float
    mean_error: float
    failed: int
    kept: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class TunedScale(ChosenScale, HtmlTable):
    """The result of tune_scale, for certify_rows(..., sigma=t.sigma, scale=t).

    Attributes
    ----------
    scale : ndarray or Series
        Noise of each feature in units of sigma, float32 of the shape of an input; for a DataFrame a
        Series by the names of its columns, if they differ.
    sigma : float
        Noise level.
    changed : bool
        True if the scale differs from the one at the start. If the gain is not above 1 by two
        standard errors, scale and sigma are the best ones without a change.
    gain : float
        Ratio of the mean radii of the best trial and of the scale at the start at its best sigma,
        on the rows that are held back, which chose nothing.
    gain_error : float
        Standard error of the gain.
    groups : tuple
        Names of the groups.
    factors : ndarray
        Factor of the scale of each group in the best trial. Their geometric mean over the features
        is 1, so radii before and after are in the same unit. With a box, the radius that contains
        it stays the same instead.
    shares : ndarray
        Share of each group in limiting the radius at the start; the best scale makes it equal to
        the group's share of the features, or of ``sum((box / scale)**2)``.
    history : tuple of Trial
        All trials.
    model_calls : int
        Rows with which the model was called.
    digests : frozenset of int
        Of the rows of X, so that certify_rows knows them."""

    scale: np.ndarray | Series
    sigma: float
    changed: bool
    gain: float
    gain_error: float
    groups: tuple[object, ...]
    factors: np.ndarray
    shares: np.ndarray
    history: tuple[Trial, ...]
    model_calls: int
    digests: frozenset[int] = dataclasses.field(default=frozenset(), repr=False)

    def table(self) -> Table:
        """Return a dict with the name, share and factor of each group."""
        lines = zip(self.groups, self.shares.tolist(), self.factors.tolist())
        return [{"group": name, "share": share, "factor": factor} for name, share, factor in lines]

    _table = table

    def _texts(self) -> Sequence[str]:
        measured = (
            f"{self.gain:.3f} times (standard error {self.gain_error:.3f}) that of the scale at "
            "the start, on rows that chose nothing"
        )
        if self.changed:
            return [f"Deploy sigma {self.sigma:g} with this scale. The mean radius is {measured}."]
        return [
            f"Deploy sigma {self.sigma:g} with the scale as it was. With these factors the mean "
            f"radius is {measured}, which is no clear gain."
        ]

    __str__ = HtmlTable._text


@with_habits
def tune_scale(
    model: Model,
    X: Data,
    sigmas: float | Sequence[float],
    question: Asked,
    *,
    groups: ArrayLike | None = None,
    scale: Scale = None,
    box: Scale = None,
    samples: int = 1000,
    rounds: int = 8,
    limit: float = 4.0,
    labels: Data | None = None,
    slack: float = 0.1,
    seed: int | None = None,
    progress: Progress = True,
    **more: Any,
) -> TunedScale:
    """Choose a scale and sigma with a long mean radius, for other inputs than these.

    Certificates with the result hold with all of alpha, because scale and sigma are fixed before
    their noise is drawn (theory 1.8). With k sigmas, n inputs that choose and m that are held back,
    the model is called with at most ((2 k + 2 rounds) n + 2 m) samples rows, and 19 for the check.

    Parameters
    ----------
    model : object
        As for certify_rows.
    X : array_like or DataFrame
        At least 12 inputs, as for certify_rows. Neither certify them later nor use them as
        calibration points. Two thirds of them choose, and every third one measures the gain.
    sigmas : float or sequence of float
        Noise levels > 0 to choose from, one or several different ones.
    question : Question or float
        One question about one output, without a target; a number is a tolerance.
    groups : array_like, optional
        The group of each feature: names or whole numbers, at most 64 different ones, in the shape
        of an input or one that is broadcast to it. Features of a group keep the ratios of their
        scales. The default is a group for each feature.
    scale : array_like, mapping, Series or {"std", "iqr"}, optional
        Scale at the start, as for certify_rows. Features with 0 stay without noise.
    box : float, array_like, mapping or Series, optional
        Bound >= 0 of each feature, as for certreg.within; features with 0 get no noise. The search
        then maximizes the box of these proportions inside the certified ellipsoids instead of their
        volume (theory 1.8), and the default of `scale` is `box`.
    samples : int
        Samples of each input and trial, pilot included.
    rounds : int
        Most changes of the scale that are tried.
    limit : float
        Largest factor for a group, > 1, and the inverse of the smallest. Without a limit, the noise
        of a feature that the model ignores would grow forever.
    labels : array_like or Series, optional
        True outputs of the inputs: the choice is among trials with a mean error near the least.
    slack : float
        Such a mean error is at most this many tolerances above the least at the start.
    seed : int, optional
        Seed of the noise, of Domain.CALIBRATION, which no certificate uses; by default a secret one
        is drawn.
    progress : bool or callable
        Show a count, or call a function of (inputs done, most inputs); an input counts once for
        each trial. To cancel, the function may raise an exception.
    **more
        Other arguments of certify_rows: inputs, batch, jobs, options, n_jobs, random_state,
        verbose.

    Returns
    -------
    TunedScale
        Scale and sigma, and the gain on the rows that are held back.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments; ValueError also if no input can be certified at any sigma, or if all
        outputs stay within the tolerance, so that no scale is better than another.
    RowsError, CertregError
        If the model raises an exception, or the library fails.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(24, 2))
    >>> model = lambda x: x[:, 0] + 0.1 * x[:, 1]
    >>> t = certreg.tune_scale(model, X, [0.25], 0.5, samples=200, seed=1, progress=False)
    >>> bool(t.factors[1] > t.factors[0])
    True"""
    refuse("tune_scale", more, "noise_id questions resume sigma")
    if "y" in more:
        raise TypeError("tune_scale takes no y: give true outputs as labels")
    options = with_options(
        more.pop("options", Options()), domain=Domain.CALIBRATION, keep_records=False, radius=None
    )
    if digest_of(model):
        raise ValueError(
            "a denoiser is for one scale: give the model without it, and make a denoiser for the "
            "scale that is chosen"
        )
    one = question_about_one(question)
    start = box if scale is None and box is not None else scale
    inputs = more.get("inputs")
    X = taken(inputs, X, box=box, scale=scale, groups=groups)
    scale = scale_by_rule(model, X, start, inputs)
    setting = Groups(X, scale, groups, number(limit, "limit"), box)
    levels = sigmas_of(sigmas)
    rounds, count = integer(rounds, "rounds", 1), len(setting.X)
    slack = not_negative(slack, "slack")
    truth = None if labels is None else labels_of(labels, count, index_of(X))
    allowance = typical_tolerance(one, truth) * slack
    more.update(questions=one, samples=samples)
    more["seed"] = seed_or_random(seed)
    certify = functools.partial(certify_rows, model, **more)
    held = np.arange(count) % HELD_BACK == HELD_BACK - 1
    choosing, measuring = np.flatnonzero(~held), np.flatnonzero(held)
    most = (2 * len(levels) + 2 * rounds) * len(choosing) + 2 * len(measuring)
    reporter = Reporter(progress, 0, most)
    search = _Search(setting, certify, options, truth, reporter, choosing, levels, allowance)
    search.improve(rounds)
    found = search.result(measuring)
    reporter.advance(most - reporter.done)
    return found


def question_about_one(asked: Asked) -> Question:
    question = question_of(asked)
    if question.output < 0:
        raise ValueError("the question is about all outputs: give one about the most important one")
    if isinstance(question.tolerance, tuple):
        raise ValueError("the question has a tolerance for each row: give one, such as their mean")
    if question.target is not None:
        raise ValueError("the question has a target, which limits all radii: leave it out")
    return question


def sigmas_of(sigmas: float | Sequence[float]) -> tuple[float, ...]:
    """The noise levels in ascending order. certify_rows checks their values."""
    levels = tuple(sorted(number(sigma, "sigmas") for sigma in np.ravel(sigmas).tolist()))
    if not levels or len(set(levels)) < len(levels):
        raise ValueError("sigmas must be one number or several different ones")
    return levels


@dataclasses.dataclass(frozen=True, eq=False)
class _Evaluated:
    """A trial, the logarithms of its factors, the sensitivities of the groups in it, and its first
    failed row, if there is one."""

    trial: Trial
    logs: np.ndarray
    limits: np.ndarray
    failure: list[str]


class _Search:
    """Searches the longest mean radius: for the scale by steps that are optimal for a linear model,
    for sigma among the levels. All trials have the same noise."""

    def __init__(
        self,
        setting: Groups,
        certify: Callable[..., Rows],
        options: Options,
        labels: np.ndarray | None,
        reporter: Reporter,
        rows: np.ndarray,
        sigmas: tuple[float, ...],
        allowance: float,
    ) -> None:
        self.setting, self.certify, self.labels = setting, certify, labels
        self.options = options  # which check the model at the first trial
        self.reporter, self.calls, self.rows, self.sigmas = reporter, 0, rows, sigmas
        none = np.zeros(len(setting.names))
        tried = [self.evaluated(none, sigma) for sigma in sigmas]
        errors = [one.trial.mean_error for one in tried if not one.failure]
        self.most_error = allowance + min(errors, default=math.inf)
        self.start = self.best = max(tried, key=self.value)
        self.history = [dataclasses.replace(t.trial, kept=t is self.start) for t in tried]
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

    def certified(self, which: np.ndarray, logs: np.ndarray, sigma: float, **more: Any) -> Rows:
        """The certificates of some rows. Row i of the table has noise id noise_id + i."""
        X, scale = self.setting.X.take(which, axis=0), self.setting.scale(logs)
        more = {"options": self.options, "progress": Part(self.reporter), **more}
        try:
            rows = self.certify(X=X, sigma=sigma, scale=scale, **more)
        except RowsError as error:
            if error.row < 0 or error.__cause__ is None:
                raise
            row = int(which[error.row])
            text = f"row {row}: {of_model(error.__cause__)}"
            raise RowsError(text, row) from error.__cause__
        self.options = dataclasses.replace(self.options, check=False)
        self.calls += int(rows["samples"].sum())
        return rows

    def evaluated(self, logs: np.ndarray, sigma: float) -> _Evaluated:
        """A trial with the rows that choose."""
        keeps = dataclasses.replace(self.options, keep_records=True)
        rows, error = self.certified(self.rows, logs, sigma, options=keeps), math.nan
        if self.labels is not None:
            error = mean_error(rows.label_errors(self.labels[self.rows]))
        radius = float(rows["radius"].mean())
        trial = Trial(np.exp(logs), sigma, radius, error, len(rows.errors))
        failures = [f"row {self.rows[i]}: {text}" for (i, _), text in sorted(rows.errors.items())]
        return _Evaluated(trial, logs, sensitivities(rows, self.setting.member), failures[:1])

    def value(self, tried: _Evaluated) -> float:
        """The mean radius; -1 if rows failed or the predictions are too wrong."""
        trial = tried.trial
        wrong = trial.failed or trial.mean_error > self.most_error
        return -1.0 if wrong else trial.mean_radius

    def _try(self, logs: np.ndarray, sigma: float) -> bool:
        """Tries a scale and sigma, unless they were tried before. Returns True if they are the best
        so far."""
        factors = np.exp(logs)
        if any(t.sigma == sigma and np.array_equal(t.factors, factors) for t in self.history):
            return False
        tried = self.evaluated(logs, sigma)
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
        """The step, at most a factor of 2 for each group. For a linear model it makes the share of
        each group in limiting the radius equal to its share of the features, or of the box."""
        limits, parts = self.best.limits, self.setting.parts(self.best.logs)
        goal = parts * max(float(limits.sum()), 0.0)
        ratio = np.clip(goal / np.maximum(limits, 1e-9), 0.25, 4.0)
        power = 0.25 if self.setting.has_box else 0.5  # the share of the box falls meanwhile
        return np.asarray(power * np.log(ratio))

    def _try_next_sigma(self) -> bool:
        """Tries the next level in the direction of longer radii."""
        at = self.sigmas.index(self.best.trial.sigma)
        at += 1 if self.best.limits.sum() < 1 else -1
        inside = 0 <= at < len(self.sigmas)
        return inside and self._try(self.best.logs, self.sigmas[at])

    def result(self, held: np.ndarray) -> TunedScale:
        """Tries all levels with the best scale, as with the scale at the start. Compares the best
        trial with the start on the rows that are held back, with noise that no trial has used."""
        logs, unused = self.best.logs, len(self.setting.X)
        for sigma in self.sigmas:
            self._try(logs, sigma)
        start, best = self.start, self.best
        gain, error, changed = 1.0, 0.0, False
        if best.logs.any():
            before, after = (
                self.certified(held, one.logs, one.trial.sigma, noise_id=unused)["radius"].ravel()
                for one in (start, best)
            )
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
            model_calls=self.calls,
            digests=self.setting.digests,
        )


def ratio_of_means(after: np.ndarray, before: np.ndarray) -> tuple[float, float]:
    """The ratio of the means, and its standard error."""
    if not before.any():
        return (math.inf if after.any() else 1.0), math.inf
    ratio = float(after.mean() / before.mean())
    spread = float(np.std(after - ratio * before, ddof=1))
    return ratio, spread / (math.sqrt(len(after)) * float(before.mean()))


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison(HtmlTable):
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

    def _table(self) -> Table:
        return list(self.lines)

    def _texts(self) -> Sequence[str]:
        what = "useful radius" if "useful_radius" in self.lines[0] else "mean radius"
        gain = f"{self.gain:.3f} times (standard error {self.gain_error:.3f}) that without"
        text = f"With the denoiser the {what} is {gain}, each at its best sigma."
        advice = f" Deploy sigma {self.sigma:g} {'with' if self.helps else 'without'} it."
        if not self.helps:
            text += " That is no clear gain; models trained under noise mostly lose by one."
        if what == "mean radius":
            advice += " Errors were not measured: that takes labels."
        return [text + advice]

    __str__ = HtmlTable._text


@with_habits
def compare_denoised(
    model: Model,
    X: Data,
    sigmas: float | Sequence[float],
    question: Asked,
    *,
    examples: Data,
    labels: Data | None = None,
    slack: float = 0.1,
    scale: Scale = None,
    components: int = 0,
    seed: int | None = None,
    progress: Progress = True,
    **more: Any,
) -> Comparison:
    """Certify inputs at several noise levels, with and without a denoiser in front of the model.

    Experimental. Each radius holds with all of alpha on its own.

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
    inputs = more.get("inputs")
    X, examples = taken(inputs, X, scale=scale), taken(inputs, examples, scale=scale)
    scale = scale_by_rule(model, X, scale, inputs)
    try:
        fronts = [Denoised(model, examples, sigma, scale, components) for sigma in levels]
    except (TypeError, ValueError) as error:
        raise type(error)(f"examples make no denoiser: {error}") from error
    count = _check_apart(fronts[0], X, scale)
    truth = None if labels is None else labels_of(labels, count, index_of(X))
    more.update(questions=one, scale=scale, seed=seed_or_random(seed), options=own)
    reporter = Reporter(progress, 0, 2 * len(levels) * count)
    models = [each for front in fronts for each in (model, front)]
    lines: list[Line] = []
    errors, radii = np.zeros(len(models)), np.empty((len(models), count))
    for k, each in enumerate(models):
        sigma, is_denoised = levels[k // 2], k % 2 == 1
        rows = certify_rows(each, X, sigma, progress=Part(reporter), **more)
        radii[k] = rows["radius"].ravel()
        line: Line = {"sigma": sigma, "denoised": "yes" if is_denoised else "no"}
        line["mean_radius"] = float(radii[k].mean())
        if truth is not None:
            radii[k] = rows.useful_radii(truth).ravel()
            errors[k] = mean_error(rows.label_errors(truth))
            line.update(useful_radius=float(radii[k].mean()), mean_error=float(errors[k]))
        left = fronts[k // 2].error if is_denoised else math.nan
        lines.append({**line, "failed": len(rows.errors), "left": left})
    bare = errors[::2]
    most = slack * typical_tolerance(one, truth) + min(bare[bare >= 0], default=0.0)  # not NaN
    means = np.where(errors <= most, radii.mean(1), -1)
    radii[means < 0] = 0
    before, after = (k + 2 * int(means[k::2].argmax()) for k in (0, 1))
    gain, gain_error = ratio_of_means(radii[after], radii[before])
    helps = gain > 1 + 2 * gain_error
    chosen = after if helps else before
    return Comparison(helps, models[chosen], levels[chosen // 2], gain, gain_error, tuple(lines))


def _check_apart(front: Denoised, X: Data, scale: Scale) -> int:
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

"""Tests the assumptions of the library about a model: an output depends on its own row only, and
float32 can represent the noise."""

from __future__ import annotations

import dataclasses
from typing import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Data, Function, Model, Names, Scale, integer, optional_function, positive
from .arrays import array_of, unusable
from .causes import cause
from .constants import Dependence
from .denoise import check_use, function_of_rows, made_of
from .display import printable, rounded
from .estimator import Estimator
from .frames import LOOKED_AT, quantization_steps, spread_of
from .inputs import Inputs, Prepared, different_units, doubts, ends_of, prepare

NOTICEABLE = 1e-3  # of the standard deviation of the outputs under the noise
ROUNDING = 1e-5  # of the outputs: models compute in float32, and in any order
MOST_STEPS = 2**24 - 2**13  # of the grid, from 0 to a feature (certreg.h)
SAMPLES = 1000  # as certify_rows takes


@dataclasses.dataclass(frozen=True)
class Finding:
    """A fact that makes certificates of a model wrong, impossible or of little use.

    Attributes
    ----------
    kind : str
        - "shape": the outputs have a wrong shape or type
        - "not finite": outputs are NaN or infinite
        - "calls": a second call with the same rows gives other outputs
        - "batch": an output depends on other rows or on their number
        - "order": an output depends on the position of its row
        - "float32": rounding errors are not small compared with the noise
        - "radius": no radius at this sigma is above a typical rounding error of the inputs
        - "units": features vary so differently that one sigma does not suit all of them
        - "marks": features that get noise hold no quantities, such as codes of categories
    text : str
        The fact, and the remedy.
    size : float
        "calls", "batch" and "order": the largest change of an output, infinite if it became or
        ceased to be finite or the call failed; "shape": the number of outputs; "not finite": the
        number of rows; "float32": the noise in steps of float32, or the change of the output by one
        step; "radius": the norm of the rounding error; "units": the ratio of deviations; "marks":
        1."""

    kind: str
    text: str
    size: float

    def __str__(self) -> str:
        return printable(f"{self.kind}: {self.text}")


class Findings(list[Finding]):
    """The findings of check_model, a list; `noise` is a text about the noise that it used."""

    def __init__(self, found: Iterable[Finding], noise: str) -> None:
        super().__init__(found)
        self.noise = noise

    def __str__(self) -> str:
        none = "Nothing was found that would make certificates of this model wrong."
        return printable("\n".join([*(map(str, self) if self else [none]), self.noise]))

    __repr__ = __str__


def check_model(
    model: Model,
    X: Data,
    *,
    scale: Scale = None,
    sigma: float | None = None,
    calls: int = 300,
    seed: int = 0,
    names: Names = None,
    progress: Callable[[int, int], object] | None = None,
    inputs: Inputs | None = None,
) -> Findings:
    """Call a model with noisy rows in several ways, and list the problems.

    Parameters
    ----------
    model : object
        As for as_model, or a factory: a function without parameters that makes the model.
    X : array_like or DataFrame
        Inputs as for certify_rows, of shape (n, features) or ``(n, *shape)``; some are used.
    scale : array_like, mapping, Series or {"std", "iqr"}, optional
        Noise of each feature in units of sigma, >= 0, as for certify_rows.
    sigma : float, optional
        Noise level > 0; by default the noise of a feature is a tenth of its standard deviation
        among the rows that are used.
    calls : int
        Most rows with which the model is called, at least 19; a sixth of them in one call.
    seed : int
        Seed of the noise, >= 0.
    names : sequence of str, optional
        Names of the features, for the texts.
    progress : callable, optional
        Function that is called with (rows used, calls), before the first call too.
    inputs : Inputs, optional
        As for certify_rows.

    Returns
    -------
    Findings
        A list of Finding. If it is empty, nothing was found, but this is not a proof. `str` of it
        also describes the noise.

    Raises
    ------
    ValueError
        If X has a wrong shape or is not finite, or if no feature gets noise. An exception of the
        model's first call is passed on.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> [finding.kind for finding in certreg.check_model(lambda x: x[:, 0] - x.mean(), X)]
    ['batch']"""
    own_units = scale is None and inputs is None
    made = made_of(model)
    read = prepare(made, X, scale, inputs, names)
    given, columns, given_scale, texts, told = (
        read.given, read.columns, read.scale, read.texts, read.inputs
    )
    shape = given.shape[1:]
    names = names or (None if columns is None else columns.names)
    function = function_of_rows(made, columns)
    calls, seed = integer(calls, "calls", 19), integer(seed, "seed")
    sigma = None if sigma is None else positive(sigma, "sigma")
    check_use(made, shape, given_scale, columns, [] if sigma is None else [sigma])
    # At most six calls or seven with half the rows, one of 1; and once the same number beside them.
    z = _rows_of(given, (calls - 1) // 6)
    noise = np.random.default_rng(seed).standard_normal((2 * len(z), *z.shape[1:]))
    report = optional_function(progress, "progress") or (lambda done, calls: None)
    known = told._with_nan(z)
    step = _noise_of_features(known, given_scale, sigma)
    trial = _ProbedModel(
        function, z, told._with_nan, step, noise, lambda done: report(done, calls)
    )
    trial.report(0)
    found = list(_findings(trial, names))
    if sigma is not None:
        found += _short(given, trial.step, sigma)
    found += _categorical(made, read)
    if own_units:
        units = different_units(known, told.scale > 0, names)
        found += (Finding("units", text, ratio) for text, ratio in units)
    trial.report(calls)
    return Findings(found, "\n".join([_noise_of(trial, sigma, own_units, names), *texts]))


def _rows_of(X: np.ndarray, count: int) -> np.ndarray:
    """`count` rows, evenly spread over X; rows are repeated if X has fewer rows."""
    z: np.ndarray = X[np.linspace(0, len(X) - 1, count).astype(int)].astype(np.float64)
    if unusable(z).any():
        raise ValueError("X holds values that are not finite: fill them")
    return z


def _filled(z: np.ndarray) -> np.ndarray:
    """The rows with the first known value of a feature, or 0, in place of missing cells."""
    first = np.take_along_axis(z, np.isnan(z).argmin(0)[None], 0)
    return np.where(np.isnan(z), np.nan_to_num(first), z)


def _noise_of_features(z: np.ndarray, scale: ArrayLike | None, sigma: float | None) -> np.ndarray:
    """The standard deviation of the noise of each feature, in units of the feature."""
    known, shape = _filled(z), z.shape[1:]
    scales = array_of(1 if scale is None else scale, shape, np.float64, "scale").reshape(shape)
    if not (scales >= 0).all():
        raise ValueError("scale must not be negative")
    varies = (known.max(0) > known.min(0)) & (scales > 0)
    step = np.where(varies, 0.1 * spread_of(z, "std"), 0) if sigma is None else sigma * scales
    if not (step > 0).any():
        raise ValueError("no feature of X gets noise: give sigma, and a scale that is not 0")
    return np.asarray(step)


def _named(j: int, names: Names) -> str:
    return f"feature {(names[j] if names else j)!r}"


def _least(size: np.ndarray) -> np.ndarray:
    """The least noise of features of this size that float32 can carry (certreg.h)."""
    with np.errstate(divide="ignore"):
        return np.asarray(256 * 2 ** np.ceil(np.log2(np.abs(size) / MOST_STEPS)))


def _noise_of(trial: "_ProbedModel", sigma: float | None, own_units: bool, names: Names) -> str:
    """A text about the noise that was used, and about the least sigma."""
    if sigma is not None:
        return f"Noise: sigma {sigma:g} times the scale."
    text = (
        "Noise: no sigma was given, so the noise of each feature was a tenth of its standard "
        f"deviation, {ends_of(trial.step, names)[0]}: scale='std' at sigma 0.1."
    )
    if own_units:
        least = np.where(trial.step > 0, _least(trial.z).max(0), 0).reshape(-1)
        j = int(least.argmax())
        text += f" In units of its own {_named(j, names)} needs a sigma of at least {least[j]:.3g}."
    return text


class _ProbedModel:
    """A model, and the noisy rows with which it is called."""

    def __init__(
        self,
        model: Function,
        z: np.ndarray,
        with_nan: Callable[[np.ndarray], np.ndarray],
        step: np.ndarray,
        noise: np.ndarray,
        report: Callable[[int], object],
    ) -> None:
        self.model, self.step, self.report, self.done = model, step, report, 0
        self.with_nan, known = with_nan, with_nan(z)
        self.z = _filled(known)  # a missing cell stays missing in x, NaN or marked
        both = np.r_[z, np.roll(z, 1, axis=0)]
        noisy = np.r_[known, np.roll(known, 1, axis=0)] + step * noise
        # x, and as many rows beside it
        self.both = np.where(np.isnan(noisy), both, noisy).astype(np.float32)
        self.x = self.both[: len(z)]
        self.y = np.empty((0, 0))  # (rows, columns), once its shape is checked

    def call(self, x: np.ndarray) -> np.ndarray:
        """Calls the model as an Estimator does, with a copy, which the model may keep."""
        x = x.copy()
        x.flags.writeable = False
        y = np.array(self.model(x))
        self.done += len(x)
        self.report(self.done)
        return y

    def moved(self, x: np.ndarray) -> np.ndarray:
        """Rows with a change by one step of float32 in each feature that has noise."""
        signs = np.where(np.arange(x.size).reshape(x.shape) % 3, np.inf, -np.inf)
        moves = (self.step > 0) & ~np.isnan(self.with_nan(x))
        return np.where(moves, np.nextafter(x, signs.astype(np.float32)), x)


class _RowLookup:
    """The model as a function of random numbers on a grid. Each new set of numbers is replaced by
    the next row of the trial; off the grid, by the same row moved by a step of float32. So
    certreg_model_check, which uses copies of one input, checks noisy rows of all inputs."""

    def __init__(self, trial: _ProbedModel) -> None:
        self.trial = trial
        self.places: dict[bytes, int] = {}
        self.failed: Finding | None = None

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        trial, total, count = self.trial, len(self.trial.x), len(numbers)
        if not self.places:  # the trial has made the first call
            self.places = {row.tobytes(): place for place, row in enumerate(numbers)}
            return trial.y
        grid = np.rint(numbers * 256) / np.float32(256) + np.float32(0)  # and no -0
        at = [self.places.setdefault(row.tobytes(), len(self.places)) for row in grid]
        x = trial.both[at] if (grid == numbers).all() else trial.moved(trial.both[at])
        try:
            y = trial.call(x)
        except Exception as error:
            if count == total:
                raise
            text = f"a call with {count} of {total} rows failed: {error}"
            self.failed = Finding("batch", text, np.inf)
        else:
            self.failed = _shape(y, count)
        return np.full(trial.y[:1].shape, np.nan).repeat(count, 0) if self.failed else y


def _findings(trial: _ProbedModel, names: Names) -> Iterator[Finding]:
    first = trial.call(trial.x)
    if wrong := _shape(first, len(trial.x)):
        yield wrong
        return
    trial.y = first.astype(np.float64).reshape(len(first), -1)
    yield from _not_finite(trial)
    narrow = list(_narrow(trial, names))
    yield from narrow
    if depends := _depends(trial):
        yield depends
    elif not narrow:
        yield from _rough(trial)  # which compares two calls


def _shape(y: np.ndarray, rows: int) -> Finding | None:
    if y.ndim in (1, 2) and len(y) == rows and y.size and y.dtype.kind in "fiub":
        return None
    text = f"the model returned {y.dtype} of shape {y.shape} for {rows} rows; it must return "
    text += f"numbers of shape ({rows},) or ({rows}, columns)"
    return Finding("shape", text + cause(None, text), float(y.size))


def _not_finite(trial: _ProbedModel) -> Iterator[Finding]:
    bad = np.logical_not(np.isfinite(trial.y).all(axis=1))
    if bad.any():
        yield Finding(
            "not finite",
            f"outputs of {bad.sum()} of {len(bad)} rows are NaN or infinite: lower sigma, let the "
            "model clip its inputs, or count such outputs as failures (PLAN_COUNT_FAILURES)",
            float(bad.sum()),
        )


def _categorical(model: Model, read: Prepared) -> Iterator[Finding]:
    """The features about which certify_rows raises an exception or warns."""
    try:
        read.inputs._refuse()
    except ValueError as error:
        yield Finding("marks", str(error), 1.0)
    texts = doubts(model, read, read.inputs._with_nan(read.given))
    yield from (Finding("marks", text, 1.0) for text in texts)


def _narrow(trial: _ProbedModel, names: Names) -> Iterator[Finding]:
    """Features that are too far from 0 for the grid of their noise."""
    _, power = np.frexp(trial.step)
    grid = np.where(trial.step > 0, np.ldexp(1.0, power - 9), np.inf)
    steps = (np.abs(trial.z) / grid).reshape(len(trial.z), -1)
    row, j = np.unravel_index(steps.argmax(), steps.shape)
    if steps[row, j] > MOST_STEPS:
        value, noise = trial.z.reshape(steps.shape)[row, j], trial.step.reshape(-1)[j]
        yield Finding(
            "float32",
            f"{_named(int(j), names)} is {value:.10g}, too far from 0 for float32 to carry its "
            f"noise of {noise:.3g}, which must be at least {_least(value):.9g}: subtract a "
            "constant from the feature and add it again inside the model, or raise sigma or the "
            "scale of the feature",
            float(noise / np.spacing(np.abs(value).astype(np.float32))),
        )


def _rough(trial: _ProbedModel) -> Iterator[Finding]:
    """A finding if outputs change much when features with noise change by a step of float32."""
    y = trial.call(trial.moved(trial.x)).astype(np.float64).reshape(len(trial.x), -1)
    known = np.where(np.isfinite(trial.y), trial.y, 0)
    least = 10 * (NOTICEABLE * known.std(0) + ROUNDING * np.abs(known).max(0))
    with np.errstate(invalid="ignore"):
        # The median ignores single rows that are next to a jump of the model.
        change = np.median(np.nan_to_num(np.abs(y - trial.y)), 0)
    worst = int((change - least).argmax())
    if change[worst] > least[worst]:
        yield Finding(
            "float32",
            f"one step of float32 in the features changes the output by {change[worst]:.3g}, while "
            f"the noise changes it by {np.nanstd(trial.y[:, worst]):.3g}: the model enlarges "
            "rounding errors. Subtract large constants from the features and raise sigma",
            float(change[worst]),
        )


def _depends(trial: _ProbedModel) -> Finding | None:
    """A finding if outputs depend on more than their row."""
    rows, (count, columns) = _RowLookup(trial), trial.y.shape
    with Estimator(rows, 8, count + 1, outputs=columns, batch=count + 1, check=False) as e:
        e.begin(np.zeros(8), 1.0)
        found, why = e._model_checked(count)
    if rows.failed:
        return rows.failed
    if why.status and not found:
        raise why
    kinds = {Dependence.CALL: "calls", Dependence.ORDER: "order"}
    return Finding(kinds.get(found, "batch"), str(why), why.value) if found else None


def _short(X: np.ndarray, noise: np.ndarray, sigma: float) -> Iterator[Finding]:
    """A finding if even a constant model has a radius below the rounding of the inputs."""
    at = np.random.default_rng(0).integers(0, len(X), max(100, LOOKED_AT // X[0].size))
    with np.errstate(over="ignore"):
        some = X[at].astype(np.float32)
    steps = quantization_steps(np.where(np.isfinite(some), some, 0))
    ratios = np.divide(steps, noise, out=np.zeros(noise.shape), where=(noise > 0) & (steps > 0))
    typical = sigma * float(np.sqrt(np.sum(ratios**2) / 12))
    with Estimator(lambda x: np.zeros(len(x)), 1, SAMPLES, seed=1, check=False) as e:
        most = sigma * e.certify(np.zeros(1), 1.0, SAMPLES, 1.0).radius
    if most <= typical:
        yield Finding(
            "radius",
            f"with {SAMPLES} samples and alpha 0.05 the radius of a median is at most "
            f"{rounded(most, up=True)} at sigma {sigma:g}, not above the norm of a typical "
            f"rounding error, {typical:.4g}, if inputs are rounded to the steps that their values "
            "show: raise sigma, or give the model fewer and better inputs (docs/guide/units.md)",
            typical,
        )

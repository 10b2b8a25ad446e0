"""What the library takes for granted about a model, tried out: that an output depends on its own
row alone, and that float32 carries the noise."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator, Optional

import numpy as np

from ._arrays import array_of
from .constants import integer
from .frames import Columns, is_frame
from .models import as_model, is_factory

NOTICEABLE = 1e-3  # of the standard deviation of the outputs under the noise
ROUNDING = 1e-5  # of the outputs, which models compute in float32 and in any order
LEAST_STEPS = 1024  # of float32 that the noise of a feature has to span, as in certreg.h


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that spoils certificates of a model.

    kind  "shape", "not finite", "calls" (a second call differs), "batch" (an output depends on the
          other rows or on their number), "order" (on the place of its row), or "float32" (rounding
          is not small beside the noise)
    text  what was seen, and what to do
    size  the largest change of an output, infinite where there was none to compare; for "shape" and
          "not finite" the number of outputs; for "float32" the noise in steps of float32, or the
          change that one step makes"""

    kind: str
    text: str
    size: float

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def check_model(
    model: Any,
    X: Any,
    *,
    scale: Any = None,
    sigma: Optional[float] = None,
    rows: int = 64,
    seed: int = 0,
) -> list[Finding]:
    """Calls the model with noisy rows in several ways, and returns what was found. An empty list
    says that nothing was found; it is no proof.

    model  what as_model takes, or a function without arguments that makes it
    X      finite inputs of shape (n, ...), or a DataFrame; the model is tried on some of them
    scale  noise of each feature in units of sigma, as Estimator takes it, or Columns
    sigma  noise level > 0. None: the noise of a feature is a tenth of its standard deviation in X
    rows   of one call, 4 or more
    seed   of the noise

    An exception of the first call arrives as it is. ValueError: X does not fit, or nothing in it
    moves."""
    function, names = as_model(model() if is_factory(model) else model), None
    if is_frame(X):
        columns = Columns(X, scale)
        function, names = columns.wrap(function), list(X.columns)
        X, scale = columns.matrix, columns.scale
    z = _rows_of(np.asarray(X), integer(rows, "rows", 4))
    noise = np.random.default_rng(seed).standard_normal(z.shape)
    trial = _Trial(function, z, _steps(z, scale, sigma), noise)
    first = trial.call(trial.x)
    wrong = _shape(first, len(z))
    if wrong:
        return [wrong]
    trial.y = first.astype(np.float64).reshape(len(z), -1)
    return list(_findings(trial, names))


def _rows_of(X: np.ndarray, count: int) -> np.ndarray:
    """So many rows from all of X, repeated where it has fewer."""
    if X.ndim < 2 or not X.size:
        raise ValueError(f"X has shape {X.shape}; it must be (n, ...), with a row for each input")
    z: np.ndarray = X[np.linspace(0, len(X) - 1, count).astype(int)].astype(np.float64)
    if not np.isfinite(z).all():
        raise ValueError("X holds NaN or infinite values: fill them")
    return z


def _steps(z: np.ndarray, scale: Any, sigma: Optional[float]) -> np.ndarray:
    """The noise of each feature, in units of the feature."""
    shape = z.shape[1:]
    scales = np.asarray(array_of(1 if scale is None else scale, shape, np.float64, "scale"))
    scales = scales.reshape(shape)
    varies = (z.max(0) > z.min(0)) & (scales > 0)
    step = np.where(varies, 0.1 * z.std(0), 0) if sigma is None else sigma * scales
    if not (step > 0).any():
        raise ValueError("nothing in X moves: give sigma, and a scale that is not 0")
    return np.asarray(step)


class _Trial:
    """A model, and the noisy rows on which it is tried."""

    def __init__(
        self, model: Callable[..., Any], z: np.ndarray, step: np.ndarray, noise: np.ndarray
    ) -> None:
        self.model, self.z, self.step = model, z, step
        self.x = (z + step * noise).astype(np.float32)
        self.y = np.empty((0, 0))  # (rows, columns), as soon as the shape is known to be right

    def call(self, x: np.ndarray) -> np.ndarray:
        """Calls the model as an Estimator does. What the model may keep is a copy."""
        x = x.copy()
        x.flags.writeable = False
        return np.array(self.model(x))

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """The model's outputs in one shape."""
        return self.call(x).astype(np.float64).reshape(len(x), -1)

    def noticeable(self) -> np.ndarray:
        """The smallest change that counts, of each column."""
        y = np.where(np.isfinite(self.y), self.y, 0)
        return np.asarray(NOTICEABLE * y.std(0) + ROUNDING * np.abs(y).max(0))

    def change(self, y: np.ndarray, of: np.ndarray) -> tuple[float, int]:
        """The largest change that counts between outputs, and its row. 0: none does."""
        with np.errstate(invalid="ignore"):
            change = np.abs(y - of)
        change[np.isfinite(y) != np.isfinite(of)] = np.inf
        largest = np.where(change > self.noticeable(), change, 0).max(1)  # NaN is not greater
        return float(largest.max()), int(largest.argmax())


def _findings(trial: _Trial, names: Optional[list[Any]]) -> Iterator[Finding]:
    yield from _not_finite(trial)
    narrow, calls = list(_narrow(trial, names)), list(_calls(trial))
    yield from [*narrow, *calls]
    if calls:
        return  # if two equal calls differ, other calls tell nothing
    if not narrow:
        yield from _rough(trial)
    yield from _batch(trial)
    yield from _order(trial)


def _shape(y: np.ndarray, rows: int) -> Optional[Finding]:
    if y.ndim in (1, 2) and len(y) == rows and y.size and y.dtype.kind in "fiub":
        return None
    return Finding(
        "shape",
        f"the model returned {y.dtype} of shape {y.shape} for {rows} rows; it must return numbers "
        f"of shape ({rows},) or ({rows}, columns)",
        float(y.size),
    )


def _not_finite(trial: _Trial) -> Iterator[Finding]:
    bad = np.logical_not(np.isfinite(trial.y).all(axis=1))
    if bad.any():
        yield Finding(
            "not finite",
            f"outputs of {bad.sum()} of {len(bad)} rows are NaN or infinite: lower sigma, let the "
            "model clip its inputs, or count such outputs as failures (PLAN_COUNT_FAILURES)",
            float(bad.sum()),
        )


def _narrow(trial: _Trial, names: Optional[list[Any]]) -> Iterator[Finding]:
    """Features whose noise spans too few steps of float32."""
    ulp = np.spacing(np.abs(trial.z).astype(np.float32)).astype(np.float64)
    steps = np.where(trial.step > 0, trial.step / ulp, np.inf).reshape(len(trial.z), -1)
    row, j = np.unravel_index(steps.argmin(), steps.shape)
    if steps[row, j] < LEAST_STEPS:
        value, noise = trial.z.reshape(steps.shape)[row, j], trial.step.reshape(-1)[j]
        yield Finding(
            "float32",
            f"feature {names[j] if names else int(j)!r} is {value:.10g}, where float32 has steps "
            f"of {noise / steps[row, j]:.3g}. Its noise of {noise:.3g} must span {LEAST_STEPS} of "
            "them: subtract a constant from the feature and add it again inside the model, or "
            "raise sigma or the scale of the feature",
            float(steps[row, j]),
        )


def _rough(trial: _Trial) -> Iterator[Finding]:
    """One step of float32 more or less in each feature that moves."""
    signs = np.where(np.arange(trial.x.size).reshape(trial.x.shape) % 3, np.inf, -np.inf)
    beside = np.nextafter(trial.x, signs.astype(np.float32))
    y = trial.outputs(np.where(trial.step > 0, beside, trial.x))
    with np.errstate(invalid="ignore"):
        # The median is not moved by single rows beside a jump of the model.
        change = np.median(np.nan_to_num(np.abs(y - trial.y)), 0)
    worst = int((change - 10 * trial.noticeable()).argmax())
    if change[worst] > 10 * trial.noticeable()[worst]:
        yield Finding(
            "float32",
            f"one step of float32 in the features changes the output by {change[worst]:.3g}, while "
            f"the noise changes it by {np.nanstd(trial.y[:, worst]):.3g}: the model enlarges "
            "rounding errors. Subtract large constants from the features and raise sigma",
            float(change[worst]),
        )


def _calls(trial: _Trial) -> Iterator[Finding]:
    change, row = trial.change(trial.outputs(trial.x), trial.y)
    if change:
        yield Finding(
            "calls",
            f"a second call with the same rows changed the output of row {row} by {change:.3g}: "
            "switch off dropout and other noise, and keep no state between calls. The other checks "
            "need two equal calls to agree, and were left out",
            change,
        )


def _batch(trial: _Trial) -> Iterator[Finding]:
    """The first rows again, in their places, without the others."""
    total = len(trial.x)
    found = _without(trial, 1, "it is alone") or _without(
        trial, total // 2, f"a call has {total // 2} rows instead of {total}"
    )
    if found:
        yield found


def _without(trial: _Trial, count: int, where: str) -> Optional[Finding]:
    try:
        y = trial.call(trial.x[:count])
    except Exception as error:
        said = f"a call with {count} of {len(trial.x)} rows failed: {error}"
        return Finding("batch", said, np.inf)
    wrong = _shape(y, count)
    if wrong:
        return wrong
    change, row = trial.change(y.astype(np.float64).reshape(count, -1), trial.y[:count])
    if not change:
        return None
    return Finding(
        "batch",
        f"the output of row {row} changes by {change:.3g} if {where}: switch off batch "
        "normalisation in training mode, and whatever else relates rows to each other",
        change,
    )


def _order(trial: _Trial) -> Iterator[Finding]:
    change, row = trial.change(trial.outputs(trial.x[::-1])[::-1], trial.y)
    if change:
        yield Finding(
            "order",
            f"the output of row {row} changes by {change:.3g} if the rows are in reverse order: "
            "an output must depend on its row alone, wherever the row is",
            change,
        )

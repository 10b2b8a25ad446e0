"""Radii in units that people know: boxes, and perturbations of a known size."""

from __future__ import annotations

import dataclasses
import functools
import io
import math
from typing import Any, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Data, Model, Names, Package, Scale, Shape, abbreviated, installed, listed
from .arguments import refuse
from .arrays import array_of, check_finite, inputs_of, norm_above, numbers, scale_of
from .display import HtmlTable, Line, Table, rounded
from .frames import OFF, TABLE, Columns, Index, by_names, channel_axis, image_levels, index_of
from .frames import is_frame
from .frames import listed as named
from .frames import quantization_steps, scale_from, split_frame
from .inputs import known_cells, scale_by_rule, taken
from .questions import Asked, Question
from .rows import Options, certify_rows, with_options
from .table import Rows

BITS = {None: 0, "image": 8, "sound": 16}
SOUND = 1 / 32768  # the step of 16 bits, in [-1, 1]
MOST_LINES = 12  # of single features
QUALITIES = (95, 90)  # of JPEG
FINER = " Give step if the inputs are known more exactly."
OUTWARD = 1 + 1e-12  # norms are computed in float64, and rounded up
Norms = Iterator[tuple[str, ArrayLike]]


class MissingCell(ValueError):
    """A table of inputs lacks cells, so the sizes of changes are unknown. `rows` are the indices of
    the rows that lack one, and `column` is that of the first cell."""

    def __init__(self, column: str, rows: np.ndarray, label: object) -> None:
        self.column, self.rows = column, rows
        super().__init__(
            f"{column} is missing in row {label}: give X[keep], rows[keep] with the rows that lack "
            "nothing, keep = X.notna().all(axis=1) of a DataFrame"
        )


class Perturbations:
    """Known perturbations of inputs, with the arguments of compare_radius.

    steps    step of each feature; NaN if none is known
    black    lowest of the 256 levels of images, for all features or each channel; None if unknown
    typical  root mean square of the norm of rounding errors; NaN if no step is known
    notes    texts about the steps, and about perturbations that are left out"""

    black: np.ndarray | None = None

    def __init__(
        self,
        X: Data,
        scale: Scale,
        step: ArrayLike | None,
        kind: str | None,
        names: Sequence[object] | None,
    ) -> None:
        if kind is not None and (not isinstance(kind, str) or kind not in BITS):
            raise ValueError(f"kind is {abbreviated(kind)}; it must be image or sound")
        given, columns, scale = split_frame(X, scale)
        with np.errstate(over="ignore"):
            self.X = numbers(given, np.float32, "X")
        shape = self.X.shape[1:]
        self.names = listed(getattr(columns, "names", ()) if names is None else names, "names")
        self._check_missing(index_of(X))
        check_finite(self.X, given, "X", "a finite float32")
        self.scale = _not_negative(scale_of(scale, shape), shape, "scale")
        self.moves = self.scale > 0
        if not self.moves.any():
            raise ValueError("scale is 0 for all features, so no radius covers a change")
        self.names = self.names or [f"feature {j}" for j in range(self.scale.size)]
        if len(self.names) != self.scale.size:
            raise ValueError(f"X has {self.scale.size} features, but names has {len(self.names)}")
        self.table = self.X.ndim == 2 and self.scale.size <= TABLE  # if so, texts name features
        self.kind, self.bits = kind, BITS[kind] if step is None else 0
        self.steps = self._steps(step)
        self.known = self.moves & (self.steps > 0)  # NaN is not greater
        self.typical = self._norm(np.where(self.known, self.steps / math.sqrt(12), 0)) or math.nan
        self.notes = list(self._notes("" if step is not None else FINER))

    def _check_missing(self, index: Index) -> None:
        """Raises MissingCell for the first cell that is missing, in a table."""
        at = np.argwhere(np.isnan(self.X))
        if len(at) and self.X.ndim == 2:
            row, column = at[0].tolist()
            has_name = column < len(self.names)
            named = f"column {self.names[column]!r}" if has_name else f"feature {column}"
            raise MissingCell(named, np.unique(at[:, 0]), row if index is None else index[row])

    def _steps(self, step: ArrayLike | None) -> np.ndarray:
        shape, low, high = self.X.shape[1:], self.X.min(), self.X.max()
        if step is not None:
            return _not_negative(array_of(step, shape, np.float64, "step"), shape, "step")
        if self.kind is None:
            return quantization_steps(self.X)
        levels = image_levels(self.X) if self.kind == "image" else (None, np.array(SOUND))
        if not levels or (self.kind == "sound" and max(-low, high) > 1):
            usual = "[0, 1], [0, 255] or [-1, 1]" if self.kind == "image" else "[-1, 1]"
            raise ValueError(f"X is from {low:.4g} to {high:.4g}, not in {usual}: give step")
        self.black = levels[0]
        return np.broadcast_to(levels[1], shape)

    def _norm(self, change: ArrayLike) -> float:
        """The norm of a change of an input in units of the scale; infinite if the change moves a
        feature of scale 0."""
        size = np.abs(np.broadcast_to(change, self.scale.shape).astype(np.float64))
        with np.errstate(divide="ignore"):
            units = np.divide(size, self.scale, out=np.zeros(size.shape), where=size > 0)
        return float(np.linalg.norm(units.reshape(-1))) * OUTWARD

    def _notes(self, finer: str) -> Iterator[str]:
        known, unknown = np.flatnonzero(self.known), np.flatnonzero(np.isnan(self.steps))
        steps = [f"{step:.4g}" for step in self.steps.reshape(-1)[known]]
        texts = sorted(set(steps), key=float)
        if len(texts) > 1 and self.table:
            texts = [f"{self.names[j]}: {step}" for j, step in zip(known.tolist(), steps)]
        if steps:
            yield f"Steps: {named(texts)}.{finer}"
        if self.black is not None:
            white = np.max(self.black + 255 * self.steps)
            yield f"Black is taken to be {np.min(self.black):.4g}, and white {white:.4g}."
        left_out = [self.names[j] for j in unknown.tolist() if self.moves.flat[j]]
        if left_out:
            some = named(left_out) if steps else "all features"
            remedy = "give step" if self.table else "give step or kind"
            yield f"Rounding leaves out {some}, since the values show no step: {remedy}."
        elif self.kind is None and self.X.ndim > 2:
            yield "If these are images, give kind: brightness and JPEG are compared too."
        if not self.moves.all():
            still, count = int(np.sum(~self.moves)), self.scale.size
            have, them = ("has", "it") if still == 1 else ("have", "them")
            yield (
                f"{still} of {count} features {have} scale 0. No radius covers a change of {them}; "
                "rounding and deviations are about the moving features."
            )

    @functools.cached_property
    def norms(self) -> list[tuple[str, np.ndarray]]:
        """Each perturbation, and its norm for all inputs or for each input."""
        return [(change, np.asarray(norms)) for change, norms in self._changes()]

    def _changes(self) -> Norms:
        if self.known.any():
            what = f"rounding to {f'{self.bits} bits' if self.bits else 'steps'}"
            yield f"{what}, typical", self.typical
            yield f"{what}, at most", math.sqrt(3) * self.typical * OUTWARD
        if self.kind == "image":
            yield from self._of_images()
        pieces = np.array_split(self.X, math.ceil(self.X.size / (1 << 20)))
        mean = self.X.mean(0, dtype=np.float64)
        squares = sum(np.sum((piece - mean) ** 2, axis=0) for piece in pieces)
        deviations = np.where(self.moves, np.sqrt(squares / len(self.X)), 0)
        each = np.divide(deviations, self.scale, out=np.zeros(mean.shape), where=self.moves)
        order = np.argsort(each, axis=None, kind="stable") if self.table else ()
        for j in [j for j in order if each.flat[j]][:MOST_LINES]:
            yield f"{self.names[j]} by one deviation", each.flat[j] * OUTWARD
        if deviations.any():
            yield "all by one deviation", self._norm(deviations)

    def _of_images(self) -> Norms:
        """Brightness, and each image after JPEG, with the settings of Pillow except for the
        quality."""
        yield "one step brighter", self._norm(self.steps)
        shape, images = self.X.shape[1:], installed("PIL.Image")
        if not images or self.black is None or not (len(shape) == 2 or channel_axis(shape)):
            takes = "Pillow, shape (h, w), (h, w, 1 or 3) or (1 or 3, h, w), and no step"
            self.notes.append(f"JPEG is left out: it takes {takes}.")
            return
        for quality in QUALITIES:
            of_each = [self._norm(self._jpeg(images, row, quality)) for row in self.X]
            yield f"JPEG of quality {quality}", of_each

    def _jpeg(self, images: Package, row: np.ndarray, quality: int) -> np.ndarray:
        """The difference that JPEG makes to an image; exactly 0 for unchanged pixels."""
        levels = (row - self.black) / self.steps
        pixels = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
        planes = channel_axis(row.shape) == 1
        picture, file = np.moveaxis(pixels, 0, 2) if planes else pixels, io.BytesIO()
        grey = picture[..., 0] if picture.shape[2:] == (1,) else picture
        images.fromarray(grey).save(file, "JPEG", quality=quality)
        back = np.asarray(images.open(file)).reshape(picture.shape)
        back = np.moveaxis(back, 2, 0) if planes else back
        same = (back == pixels) & (np.abs(levels - pixels) < OFF)
        return np.where(same, 0, self.black + back * self.steps - row)

    def noise_ratios(self, radii: np.ndarray) -> np.ndarray:
        """The signal-to-noise ratio, in dB, of a change as long as the radius, for each input."""
        signals = np.array([self._norm(np.where(self.moves, row, 0)) for row in self.X])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(20 * np.log10(signals / radii))


def _not_negative(values: np.ndarray, shape: Shape, what: str) -> np.ndarray:
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"{what} must hold finite numbers of at least 0")
    return values.reshape(shape).astype(np.float64)


# ---- boxes, which have a bound for each feature
def bounds_of(X: Data, bounds: Scale, what: str) -> np.ndarray:
    """The bound of each feature, float64 of the shape of an input. Raises TypeError or ValueError
    for wrong ones."""
    if is_frame(X):
        names = list(X.columns)
        return checked_bounds(by_names(names, bounds, what), (len(names),), what, names)
    if hasattr(bounds, "keys"):
        raise TypeError(f"{what} has names, and X has none: give a DataFrame as X, or an array")
    return checked_bounds(bounds, inputs_of(X).shape[1:], what)


def checked_bounds(bounds: object, shape: Shape, what: str, names: Names = None) -> np.ndarray:
    flat = array_of(bounds, shape, np.float64, what)
    bad = np.flatnonzero(~((flat >= 0) & (flat < np.inf)))
    if bad.size:
        name = f"feature {bad[0]}" if names is None else f"column {names[bad[0]]!r}"
        raise ValueError(f"{what} is {flat[bad[0]]:g} for {name}; it must be finite and at least 0")
    if not flat.any():
        raise ValueError(f"{what} has no number above 0: give a bound to a feature that may change")
    return flat.reshape(shape)


def radius_of_box(X: Data, bounds: np.ndarray, scale: Scale) -> tuple[float, float]:
    """A radius of this scale at which the box around every row is inside the open ball, also after
    inputs and moved inputs were rounded to float32; and the norm of bounds / scale, for which no
    input matters. Raises ValueError if a feature with a bound has no noise."""
    shape, half = bounds.shape, bounds.ravel()
    given = scale_from(X, scale)
    each = Columns(X, given).scale if is_frame(X) else scale_of(given, shape)
    still = np.flatnonzero((half > 0) & (each == 0))
    if still.size:
        name = repr(X.columns[still[0]]) if is_frame(X) else still[0]
        raise ValueError(f"feature {name} has a bound and the scale 0: give it noise, or no bound")
    moves = half > 0
    if is_frame(X):
        some = X.iloc[:, moves].to_numpy(np.float64, na_value=np.nan)
    else:
        rows = inputs_of(X)
        some = rows.reshape(len(rows), -1)[:, moves]
    reach = _reach(numbers(some, np.float64, "X"), half[moves])
    radius = norm_above(reach / each[moves], len(half))
    if not 0 < radius < np.inf:
        raise ValueError("bounds reach beyond the numbers of a float32: give smaller ones")
    return radius, float(np.linalg.norm(half[moves] / each[moves]))


def _reach(x: np.ndarray, half: np.ndarray) -> np.ndarray:
    """How far the inputs of a box may be from its center at most, over all rows, if each of them
    may be rounded to float32. Missing cells, NaN, stay missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        center = x.astype(np.float32).astype(np.float64)
        up = np.nextafter(x + half, np.inf).astype(np.float32) - center
        down = center - np.nextafter(x - half, -np.inf).astype(np.float32)
        moves = np.concatenate([half[None], up, down, half + np.abs(x - center)])
        return np.asarray(np.fmax.reduce(moves))


def within(
    model: Model,
    X: Data,
    bounds: Scale,
    sigma: float | None = None,
    *,
    question: Asked | None = None,
    scale: Scale = None,
    **more: Any,
) -> Rows:
    """Bound how far the prediction moves if every feature moves within a bound of its own.

    The smoothed prediction stays between ``output_lo`` and ``output_hi`` for all inputs x' with
    ``|x'_j - x_j| <= bounds_j``, except with probability alpha for each row. These are output
    bounds at the radius of the least ellipsoid of the scale that contains the box (theory 1.8),
    which `at_radius` of the result has.

    Parameters
    ----------
    model : object
        As for certify_rows.
    X : array_like or DataFrame
        One input, (features,), or inputs as for certify_rows.
    bounds : float, array_like, mapping or Series
        Bound >= 0 of each feature, in its own unit, as a scale is given. A feature with 0 is exact:
        its changes are not covered; missing cells stay missing. For a DataFrame also by the names
        of columns, with 0 for names that are left out.
    sigma : float, optional
        Noise level; by default half of the norm of bounds / scale. Together with the scale it
        defines the smoothed prediction: serve with both.
    question : Question or float, optional
        The question, as for ``Options(radius=...)``; by default about the median of output 0.
    scale : array_like, mapping, Series or {"std", "iqr"}, optional
        Scale, above 0 for each feature with a bound. The default is `bounds`; the scale of
        ``tune_scale(..., box=bounds)`` bounds the prediction more closely.
    **more
        Other arguments of certify_rows.

    Returns
    -------
    Rows
        The output bounds of each row.

    Examples
    --------
    >>> model = lambda x: x[:, 0] + 10 * x[:, 1]  # moves by at most 0.2 + 10 * 0.03
    >>> rows = certreg.within(model, [1.0, 2.0], [0.2, 0.03], samples=10_000, seed=1)
    >>> lo, hi = rows["output_lo"][0, 0, 0], rows["output_hi"][0, 0, 0]
    >>> lo < 21 - 0.5 and 21 + 0.5 < hi and bool(hi - lo < 1.3)
    True"""
    refuse("within", more, "questions")
    if not is_frame(X) and np.ndim(X) == 1:
        X = inputs_of([X])
    X = taken(more.get("inputs"), X, bounds=bounds, scale=scale)
    half = bounds_of(X, bounds, "bounds")
    each = scale_by_rule(model, X, half if scale is None else scale)
    radius, norm = radius_of_box(X, half, each)
    asked = Question(0.0) if question is None else question
    level = norm / 2 if sigma is None else sigma  # the same for all inputs
    options = with_options(more.pop("options", Options()), radius=radius)
    return certify_rows(model, X, level, asked, scale=each, options=options, **more)


@dataclasses.dataclass(frozen=True, eq=False)
class RadiusComparison(HtmlTable):
    """The result of compare_radius.

    Attributes
    ----------
    lines : tuple of dict
        The table, with a dict for each change. `norm` is the norm of the change in units of the
        radius, the median over the inputs; infinite if the change moves a feature of scale 0.
        `covered` counts the inputs with a radius above the norm of their change.
    radii : ndarray
        The radius of each input, (rows,).
    noise_ratios : ndarray or None
        For sound the signal-to-noise ratio in dB of a change as long as the radius, (rows,):
        infinite for radius 0, -infinite for silence, NaN for both.
    notes : tuple of str
        Texts about the radii and the steps, and about changes that were left out."""

    lines: tuple[Line, ...]
    radii: np.ndarray
    noise_ratios: np.ndarray | None
    notes: tuple[str, ...]

    def _table(self) -> Table:
        return [{**line, "norm": rounded(line["norm"], up=True)} for line in self.lines]

    def _texts(self) -> Sequence[str]:
        return self.notes

    __str__ = HtmlTable._text


def compare_radius(
    X: Data,
    radius: ArrayLike | Rows,
    *,
    scale: Scale = None,
    step: ArrayLike | None = None,
    kind: str | None = None,
    names: Sequence[object] | None = None,
) -> RadiusComparison:
    """Compare radii with known changes of the inputs.

    The changes are rounding, and one standard deviation of features; for images also brightness,
    and JPEG if Pillow is installed; for sound the signal-to-noise ratio of a change as long as the
    radius is computed. Norms are rounded up.

    Parameters
    ----------
    X : array_like or DataFrame
        The certified inputs: finite numbers of shape (rows, features) or ``(rows, *shape)``.
    radius : float, array_like or Rows
        A finite number >= 0, or one for each input, 0 if nothing was certified; or Rows with one
        sigma and one question, which have the scale too.
    scale : array_like, mapping, Series or {"std", "iqr"}, optional
        As for certify_rows.
    step : array_like, optional
        Distance between neighbouring values of an input: one number, or one for each feature, 0 for
        an exact feature. The default depends on the kind.
    kind : {"image", "sound"}, optional
        "image": 8 bits in [0, 1], [0, 255] or [-1, 1], or from the least to the greatest value if
        these have exactly 256 levels; of shape (h, w), (h, w, c) or (c, h, w) with c = 1 or 3.
        "sound": 16 bits in [-1, 1]. The values may be finer. Without a kind the step is estimated
        from the values, one for each feature, or a common one for more than 64 features.
    names : sequence, optional
        Names of the features; by default the names of a DataFrame, or numbers.

    Returns
    -------
    RadiusComparison
        A table; `str` of it is a text.

    Examples
    --------
    >>> found = certreg.compare_radius([[1.0, 20.0], [2.0, 30.0]], 0.4, step=[1, 10], scale=[1, 10])
    >>> [(line["change"], line["covered"]) for line in found.lines][:2]
    [('rounding to steps, typical', 0), ('rounding to steps, at most', 0)]"""
    if isinstance(radius, Rows):
        if scale is not None:
            raise ValueError("the rows have their scale: leave scale out")
        scale = radius.sampling.scale
        X = X if radius.inputs is None else known_cells(X, radius.inputs.marks)
    changes = Perturbations(X, scale, step, kind, names)
    if isinstance(radius, Rows) and radius.sampling.shape != changes.X.shape[1:]:
        raise ValueError(f"the rows are about inputs of shape {radius.sampling.shape}: give them")
    return compared(changes, radius)


def compared(changes: Perturbations, radius: ArrayLike | Rows) -> RadiusComparison:
    """The comparison of changes with a radius, as for compare_radius."""
    radii = _radii(radius, len(changes.X))
    lines = [
        {"change": what, "norm": float(np.median(n)), "covered": int(np.sum(radii > n))}
        for what, n in changes.norms
    ]
    middle = _spread(radii, up=False)
    notes = [f"The radius is {middle}. It covers changes of an input with a norm below it."]
    short = int(np.sum(radii <= changes.typical))  # NaN, if no step is known, is not less
    if short:
        subject = f"On {short} of {len(radii)} inputs it" if len(radii) > 1 else "It"
        notes.append(
            f"{subject} is not above a typical rounding error, if inputs are rounded to these "
            "steps, and so is of little use: see docs/guide/units.md."
        )
    noise = changes.noise_ratios(radii) if changes.kind == "sound" else None
    if noise is not None and np.isfinite(noise).any():
        ratio = _spread(noise[np.isfinite(noise)], up=True, unit=" dB")
        notes.append(f"A change as long has a signal-to-noise ratio of {ratio}; lower is better.")
    return RadiusComparison(tuple(lines), radii, noise, (*notes, *changes.notes))


def radii_of(rows: Rows, sigma: int = 0, question: int = 0) -> np.ndarray:
    """The radius of each row at one sigma and question, by their indices; 0 if there is none."""
    rows._check_radii()
    return np.where(rows.done, np.nan_to_num(rows["radius"][:, sigma, question]), 0)


def _radii(radius: ArrayLike | Rows, count: int) -> np.ndarray:
    """The radius of each of `count` inputs."""
    if isinstance(radius, Rows):
        if radius.certificates.shape[1:] != (1, 1):
            raise ValueError(
                "several sigmas or questions: give rows['radius'][:, k, q], and scale=rows.scale"
            )
        radius = radii_of(radius)
    radii = numbers(radius, np.float64, "radius")
    if radii.shape not in ((), (count,)):
        raise ValueError(f"radius has shape {radii.shape}; it must be one number, or ({count},)")
    if not (np.isfinite(radii) & (radii >= 0)).all():
        raise ValueError("radius must be finite and at least 0 (0: nothing was certified)")
    return np.broadcast_to(radii, (count,)).copy()


def _spread(values: np.ndarray, up: bool, unit: str = "") -> str:
    middle, *ends = (rounded(float(f(values)), up) for f in (np.median, np.min, np.max))
    if len(values) == 1:
        return middle + unit
    return f"{middle}{unit} (median of {len(values)} inputs, {' to '.join(ends)})"

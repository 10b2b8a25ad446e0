"""Perturbations of inputs with a known size, such as rounding, and their norms."""

from __future__ import annotations

import decimal
import functools
import importlib
import io
import math
from typing import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ._arguments import abbreviated, listed
from ._arrays import array_of, check_finite, numbers, scale_of
from ._quantization import OFF, TABLE, channel_axis, image_levels, quantization_steps
from ._types import Inputs, Package, Scale, Shape
from .frames import Index, index_of, split_frame

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
        X: Inputs,
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
        self.scale = _not_negative(scale_of(1 if scale is None else scale, shape), shape, "scale")
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
            yield f"Steps: {_listed(texts)}.{finer}"
        if self.black is not None:
            white = np.max(self.black + 255 * self.steps)
            yield f"Black is taken to be {np.min(self.black):.4g}, and white {white:.4g}."
        left_out = [self.names[j] for j in unknown.tolist() if self.moves.flat[j]]
        if left_out:
            some = _listed(left_out) if steps else "all features"
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
        parts = (self._roundings(), self._of_images(), self._deviations())
        return [(change, np.asarray(norms)) for part in parts for change, norms in part]

    def _roundings(self) -> Norms:
        if self.known.any():
            what = f"rounding to {f'{self.bits} bits' if self.bits else 'steps'}"
            yield f"{what}, typical", self.typical
            yield f"{what}, at most", math.sqrt(3) * self.typical * OUTWARD

    def _of_images(self) -> Norms:
        """Brightness, and each image after JPEG, with the settings of Pillow except for the
        quality."""
        if self.kind != "image":
            return
        yield "one step brighter", self._norm(self.steps)
        shape = self.X.shape[1:]
        try:
            images = importlib.import_module("PIL.Image")
        except ImportError:
            images = None
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

    def _deviations(self) -> Norms:
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

    def noise_ratios(self, radii: np.ndarray) -> np.ndarray:
        """The signal-to-noise ratio, in dB, of a change as long as the radius, for each input."""
        signals = np.array([self._norm(np.where(self.moves, row, 0)) for row in self.X])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(20 * np.log10(signals / radii))


def _not_negative(values: np.ndarray, shape: Shape, what: str) -> np.ndarray:
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"{what} must hold finite numbers of at least 0")
    return values.reshape(shape).astype(np.float64)


def _listed(names: Sequence[object]) -> str:
    more = f", ... ({len(names)})" if len(names) > MOST_LINES else ""
    return ", ".join(map(str, names[:MOST_LINES])) + more


def rounded(value: float, up: bool) -> str:
    """A number with four digits, rounded up or down."""
    context = decimal.Context(4, decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR)
    return f"{float(context.create_decimal(f'{value:.11g}')):.4g}"  # 1 + 1e-12 is shown as 1

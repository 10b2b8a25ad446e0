"""Changes of inputs whose size is known, such as rounding, and their norms."""

from __future__ import annotations

import decimal
import functools
import importlib
import io
import math
from typing import Any, Iterator, Optional, Sequence, Tuple

import numpy as np

from ._arrays import array_of, check_finite, numbers, scale_of
from ._steps import OFF, TABLE, Resolution, has_channels_last, is_image, resolution
from .constants import several, shown
from .frames import parted

KINDS = ("image", "sound", "table")
MOST_LINES = 12  # of single features
QUALITIES = (95, 90)  # of JPEG
OUTWARD = 1 + 1e-12  # norms are computed in float64, and rounded up
Norms = Iterator[Tuple[str, np.ndarray]]


class Changes:
    """Known changes of inputs. The arguments are those of compare_radius.

    of        the resolution of the inputs
    rounding  the greatest norm of a rounding error; NaN if no step is known
    typical   the root of its mean square, if each error is uniform within a step
    notes     sentences about the steps, and about what is left out"""

    def __init__(
        self,
        X: Any,
        scale: Any,
        step: Any = None,
        kind: Optional[str] = None,
        names: Optional[Sequence[Any]] = None,
    ) -> None:
        if kind is not None and (not isinstance(kind, str) or kind not in KINDS):
            raise ValueError(f"kind is {shown(kind)}; it must be one of {', '.join(KINDS)}")
        given, columns, scale = parted(X, scale)
        with np.errstate(over="ignore"):
            self.X = numbers(given, np.float32, "X")
        check_finite(self.X, given, "X", "a finite float32")
        shape = self.X.shape[1:]
        self.scale = _not_negative(scale_of(1 if scale is None else scale, shape), shape, "scale")
        self.moves = self.scale > 0
        if not self.moves.any():
            raise ValueError("scale is 0 for all features, so no radius covers a change")
        named = getattr(columns, "names", None) if names is None else several(names, "names")
        self.names = named or [f"feature {j}" for j in range(self.scale.size)]
        if len(self.names) != self.scale.size:
            raise ValueError(f"X has {self.scale.size} features, but names has {len(self.names)}")
        if columns is not None and kind not in (None, "table"):
            raise ValueError(f"X is a DataFrame, so kind cannot be {kind!r}")
        self.of = self._resolution(step, kind if columns is None else "table")
        self.known = self.moves & (self.of.steps > 0)  # whose step is known; NaN is not greater
        self.rounding = self._norm(np.where(self.known, self.of.steps / 2, 0)) or math.nan
        self.typical = self.rounding / math.sqrt(3)  # of errors that are uniform within a step
        self.notes = list(self._notes())

    def _resolution(self, step: Any, kind: Optional[str]) -> Resolution:
        if step is None:
            return resolution(self.X, kind)
        shape = self.X.shape[1:]
        steps = _not_negative(array_of(step, shape, np.float64, "step"), shape, "step")
        return Resolution(kind or "table", 0, steps)

    def _norm(self, change: Any) -> float:
        """The norm of a change of an input in units of the scale."""
        size = np.abs(np.broadcast_to(change, self.scale.shape).astype(np.float64))
        if size[~self.moves].any():
            return math.inf
        units = size[self.moves] / self.scale[self.moves]
        most = float(units.max())
        if not 0 < most < math.inf:
            return most
        return most * float(np.sqrt(np.sum((units / most) ** 2))) * OUTWARD

    def _notes(self) -> Iterator[str]:
        if self.known.any():
            yield f"Steps of the inputs: {self._said_steps()}."
        unknown = [self.names[j] for j in np.flatnonzero(self.moves & np.isnan(self.of.steps))]
        if unknown and self.known.any():
            yield f"Rounding leaves out {_listed(unknown)}, whose values show no step: give step."
        elif unknown:
            yield "Rounding is left out, since the values show no step: give step."
        if not self.moves.all():
            yield (
                "No radius covers a change of features with scale 0, which are "
                f"{int(np.sum(~self.moves))} of {self.scale.size}; rounding and deviations are "
                "those of the others."
            )

    def _said_steps(self) -> str:
        steps, names = self.of.steps[self.known], np.array(self.names, object)
        least, most = f"{steps.min():.4g}", f"{steps.max():.4g}"
        if least == most:
            return least
        if not self._is_table():
            return f"{least} to {most}"
        named = zip(names[self.known.reshape(-1)], steps)
        return _listed([f"{name}: {step:.4g}" for name, step in named])

    # ---- the changes
    @functools.cached_property
    def norms(self) -> list[Tuple[str, np.ndarray]]:
        """What changes, and its norm for all inputs or for each."""
        parts = (self._roundings(), self._brightness(), self._jpeg(), self._deviations())
        return [change for part in parts for change in part]

    def _roundings(self) -> Norms:
        if self.known.any():
            what = f"rounding to {self.of.bits} bits" if self.of.bits else "rounding to steps"
            yield f"{what}, typical", np.array(self.typical)
            yield f"{what}, at most", np.array(self.rounding)

    def _is_table(self) -> bool:
        """Whether it is worth while to name features."""
        return self.X.ndim == 2 and self.scale.size <= TABLE

    def _brightness(self) -> Norms:
        if self.of.kind == "image":
            yield "one step brighter", np.array(self._norm(self.of.steps))

    def _jpeg(self) -> Norms:
        """Each image as it is after JPEG, with the settings of Pillow except for the quality."""
        if self.of.kind != "image":
            return
        try:
            images = importlib.import_module("PIL.Image")
        except ImportError:
            self.notes.append("JPEG is left out: it needs the package Pillow.")
            return
        if self.of.black is None or not is_image(self.X.shape[1:]):
            self.notes.append(
                "JPEG is left out: it takes X of shape (rows, h, w), (rows, h, w, c) or (rows, c, "
                "h, w), with at least 8 pixels a side and 1 or 3 channels, on 256 known levels."
            )
            return
        for quality in QUALITIES:
            norms = [self._norm(_jpeg_change(images, row, self.of, quality)) for row in self.X]
            yield f"JPEG of quality {quality}", np.array(norms)

    def _deviations(self) -> Norms:
        mean = self.X.mean(0, dtype=np.float64)
        variance = sum(np.square(row - mean) for row in self.X) / len(self.X)
        deviations = np.where(self.moves, np.sqrt(variance), 0).reshape(-1)
        if not deviations.any():
            return
        if self._is_table():
            scaled = deviations[self.moves] / self.scale[self.moves]
            order = np.flatnonzero(self.moves)[np.argsort(scaled, kind="stable")]
            some = [j for j in order if deviations[j]][:MOST_LINES]
            for j in some:
                alone = np.where(np.arange(deviations.size) == j, deviations, 0)
                yield f"{self.names[j]} by one deviation", np.array(self._norm(alone))
        yield "all by one deviation", np.array(self._norm(deviations.reshape(mean.shape)))

    def noise_ratios(self, radii: np.ndarray) -> np.ndarray:
        """For each input, in dB, that of a change as long as its radius."""
        signals = np.array([self._norm(np.where(self.moves, row, 0)) for row in self.X])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(20 * np.log10(signals / radii))


def _jpeg_change(images: Any, row: np.ndarray, of: Resolution, quality: int) -> np.ndarray:
    """What JPEG adds to an image; exactly 0 where a pixel comes back as it was."""
    levels = (row - of.black) / of.steps
    pixels = np.clip(np.rint(levels), 0, 255).astype(np.uint8)
    planes = row.ndim == 3 and not has_channels_last(row.shape)
    picture = np.moveaxis(pixels, 0, 2) if planes else pixels
    grey = picture.ndim == 2 or picture.shape[2] == 1
    file = io.BytesIO()
    images.fromarray(picture[..., 0] if grey and picture.ndim == 3 else picture).save(
        file, "JPEG", quality=quality
    )
    back = np.asarray(images.open(file)).reshape(picture.shape)
    back = np.moveaxis(back, 2, 0) if planes else back
    same = (back == pixels) & (np.abs(levels - pixels) < OFF)
    return np.where(same, 0, of.black + back * of.steps - row)


def _not_negative(values: np.ndarray, shape: Tuple[int, ...], what: str) -> np.ndarray:
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"{what} must hold finite numbers of at least 0")
    return values.reshape(shape).astype(np.float64)


def _listed(names: Sequence[Any]) -> str:
    more = f", ... ({len(names)})" if len(names) > MOST_LINES else ""
    return ", ".join(map(str, names[:MOST_LINES])) + more


def rounded_up(value: float) -> str:
    """A number with four digits, rounded up."""
    return _digits(value, decimal.ROUND_UP)


def rounded_down(value: float) -> str:
    """A number with four digits, rounded down."""
    return _digits(value, decimal.ROUND_DOWN)


def _digits(value: float, how: str) -> str:
    shown = decimal.Context(4, how).create_decimal(f"{value:.11g}")  # 1 + 1e-12 is shown as 1
    return f"{float(shown):.4g}"

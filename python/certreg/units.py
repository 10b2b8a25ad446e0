"""How long radii are, next to changes of an input whose size is known."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterator, Optional, Sequence, Tuple

import numpy as np

from ._arrays import numbers
from ._changes import Changes, rounded_down, rounded_up
from .result import Rows, aligned


@dataclasses.dataclass(frozen=True, eq=False)
class RadiusComparison:
    """What compare_radius returns.

    lines    the table: a dict for each change. norm and longest are the median and the greatest
             norm of the change over the inputs, in units of the radius; infinite if it moves a
             feature of scale 0. covered is on how many inputs the radius is above the norm
    radii    the radius of each input, (rows,)
    typical  norm of a typical rounding error; NaN if no step is known
    noise_ratios   for sound the signal-to-noise ratio in dB of a change as long as the radius,
             (rows,): infinite for radius 0, -infinite for silence, NaN for both; otherwise None
    notes    sentences about the steps, and about what was left out"""

    lines: Tuple[dict[str, Any], ...]
    radii: np.ndarray
    typical: float
    noise_ratios: Optional[np.ndarray]
    notes: Tuple[str, ...]

    @property
    def short(self) -> int:
        """On how many inputs the radius is not above a typical rounding error; 0 if no step is
        known."""
        return int(np.sum(self.radii <= self.typical))  # NaN is not less

    def table(self) -> list[dict[str, Any]]:
        """The lines."""
        return list(self.lines)

    def __str__(self) -> str:
        norms = ("norm", "longest")
        lines = [{**line, **{n: rounded_up(line[n]) for n in norms}} for line in self.lines]
        return "\n".join([*([aligned(lines)] if lines else []), *self._sentences()])

    def _sentences(self) -> Iterator[str]:
        count = len(self.radii)
        least, middle, most = (rounded_down(f(self.radii)) for f in (np.min, np.median, np.max))
        spread = "" if least == most else f", {least} to {most}"
        inputs = "1 input" if count == 1 else f"median of {count} inputs"
        yield (
            f"The radius is {middle} ({inputs}{spread}). It covers a change of an "
            "input if it is longer than the norm."
        )
        if self.noise_ratios is not None:
            yield _said_of_noise(self.noise_ratios)
        if self.short:
            yield (
                f"On {self.short} of {count} inputs it is not above a typical rounding error, and "
                "so says little. Fewer and better inputs, a scale with masks, a denoiser, training "
                "under noise or a larger tolerance can lengthen it (docs/guide/units.md)."
            )
        yield from self.notes


def compare_radius(
    X: Any,
    radius: Any,
    *,
    scale: Any = None,
    step: Any = None,
    kind: Optional[str] = None,
    names: Optional[Sequence[Any]] = None,
) -> RadiusComparison:
    """Compares radii with known changes of the inputs: rounding, and one standard deviation of
    features; for images also brightness, and JPEG if Pillow is installed; for sound the
    signal-to-noise ratio of a change as long as the radius.

    X       the inputs as they were certified: finite numbers of shape (rows, features) or
            (rows, *shape), or a DataFrame
    radius  a finite number >= 0, or one for each input, 0 where nothing was certified; or Rows with
            one sigma and one question, which have the scale too
    scale   as for certify_rows
    step    from a value of an input to the next one that it can have: one number, or one for each
            feature, 0 for a feature that is exact. None: the steps that the values show
    kind    "image", of shape (h, w), (h, w, c) or (c, h, w) with 1 channel or with red, green and
            blue; "sound"; or "table". None: what the values show. Images and sound that are named
            are compared with 8 and 16 bits, although their own values may be finer
    names   of the features; None: those of a DataFrame, or numbers

    Norms are rounded up. Raises ValueError and TypeError for wrong arguments."""
    if isinstance(radius, Rows):
        if scale is not None:
            raise ValueError("the rows have their scale: leave scale out")
        scale = radius.sampling.scale
    changes = Changes(X, scale, step, kind, names)
    if isinstance(radius, Rows) and radius.sampling.shape != changes.X.shape[1:]:
        raise ValueError(f"the rows are about inputs of shape {radius.sampling.shape}: give them")
    return compared(changes, radius)


def compared(changes: Changes, radius: Any) -> RadiusComparison:
    """The comparison of changes with a radius, as for compare_radius."""
    radii = _radii(radius, len(changes.X))
    lines = [
        {
            "change": change,
            "norm": float(np.median(norms)),
            "longest": float(np.max(norms)),
            "covered": int(np.sum(radii > norms)),
        }
        for change, norms in changes.norms
    ]
    noise = changes.noise_ratios(radii) if changes.of.kind == "sound" else None
    return RadiusComparison(tuple(lines), radii, changes.typical, noise, tuple(changes.notes))


def radii_of(rows: Rows, sigma: int = 0, question: int = 0) -> np.ndarray:
    """The radius of each row at one sigma and question, by their indices; 0 where there is none."""
    rows._check_radii()
    return np.where(rows.done, np.nan_to_num(rows["radius"][:, sigma, question]), 0)


def _radii(radius: Any, count: int) -> np.ndarray:
    """The radius of each of this many inputs."""
    if isinstance(radius, Rows):
        if radius.certificates.shape[1:] != (1, 1):
            raise ValueError(
                "the rows have several sigmas or questions: give rows['radius'][:, k, q]"
            )
        radius = radii_of(radius)
    radii = numbers(radius, np.float64, "radius")
    if radii.shape not in ((), (count,)):
        raise ValueError(f"radius has shape {radii.shape}; it must be one number, or ({count},)")
    if not (np.isfinite(radii) & (radii >= 0)).all():
        raise ValueError("radius must be finite and at least 0 (0: nothing was certified)")
    return np.broadcast_to(radii, (count,)).copy()


def _said_of_noise(ratios: np.ndarray) -> str:
    known = ratios[np.isfinite(ratios)]
    if not known.size:
        return "There is no signal-to-noise ratio: all inputs are silent or have radius 0."
    middle, least, most = (np.ceil(10 * f(known)) / 10 for f in (np.median, np.min, np.max))
    others = "; the others are silent or have radius 0" if known.size < len(ratios) else ""
    return (
        f"A change as long as the radius has a signal-to-noise ratio of {middle:.1f} dB (median of "
        f"{known.size} inputs, {least:.1f} to {most:.1f}{others}); lower is better."
    )

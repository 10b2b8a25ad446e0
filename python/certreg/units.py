"""How long radii are, next to changes of an input whose size is known."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._arrays import numbers
from ._perturbations import Perturbations, rounded
from ._tables import aligned
from .certified_rows import Rows


@dataclasses.dataclass(frozen=True, eq=False)
class RadiusComparison:
    """What compare_radius returns.

    lines         the table: a dict for each change. norm is the norm of the change in units of the
                  radius, the median over the inputs; infinite if it moves a feature of scale 0.
                  covered counts the inputs whose radius is above their norm
    radii         the radius of each input, (rows,)
    noise_ratios  for sound the signal-to-noise ratio in dB of a change as long as the radius,
                  (rows,): infinite for radius 0, -infinite for silence, NaN for both; otherwise
                  None
    notes         sentences about the radii and the steps, and about what was left out"""

    lines: Tuple[dict[str, Any], ...]
    radii: np.ndarray
    noise_ratios: Optional[np.ndarray]
    notes: Tuple[str, ...]

    def __str__(self) -> str:
        lines = [{**line, "norm": rounded(line["norm"], up=True)} for line in self.lines]
        return "\n".join([*([aligned(lines)] if lines else []), *self.notes])


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
    step    distance between neighbouring values that an input can have: one number, or one for each
            feature, 0 for a feature that is exact. None: that of the kind
    kind    "image": 8 bits in [0, 1], [0, 255] or [-1, 1], or from the least to the greatest value
            if they have exactly 256 levels; of shape (h, w), (h, w, c) or (c, h, w) with c = 1 or
            3. "sound": 16 bits in [-1, 1]. The values may be finer. None: the steps on which the
            values lie, one for each feature, or one in common for more than 64
    names   of the features; None: those of a DataFrame, or numbers

    Norms are rounded up. Raises ValueError and TypeError for wrong arguments."""
    if isinstance(radius, Rows):
        if scale is not None:
            raise ValueError("the rows have their scale: leave scale out")
        scale = radius.sampling.scale
    changes = Perturbations(X, scale, step, kind, names)
    if isinstance(radius, Rows) and radius.sampling.shape != changes.X.shape[1:]:
        raise ValueError(f"the rows are about inputs of shape {radius.sampling.shape}: give them")
    return compared(changes, radius)


def compared(changes: Perturbations, radius: Any) -> RadiusComparison:
    """The comparison of changes with a radius, as for compare_radius."""
    radii = _radii(radius, len(changes.X))
    lines = [
        {"change": what, "norm": float(np.median(n)), "covered": int(np.sum(radii > n))}
        for what, n in changes.norms
    ]
    middle = _spread(radii, up=False)
    said = [f"The radius is {middle}. It covers a change of an input whose norm is below it."]
    short = int(np.sum(radii <= changes.typical))  # NaN, if no step is known, is not less
    if short:
        where = f"On {short} of {len(radii)} inputs it" if len(radii) > 1 else "It"
        said.append(
            f"{where} is not above a typical rounding error, if inputs are rounded to these steps, "
            "and so says little: see docs/guide/units.md."
        )
    noise = changes.noise_ratios(radii) if changes.kind == "sound" else None
    if noise is not None and np.isfinite(noise).any():
        ratio = _spread(noise[np.isfinite(noise)], up=True, unit=" dB")
        said.append(f"A change as long has a signal-to-noise ratio of {ratio}; lower is better.")
    return RadiusComparison(tuple(lines), radii, noise, (*said, *changes.notes))


def radii_of(rows: Rows, sigma: int = 0, question: int = 0) -> np.ndarray:
    """The radius of each row at one sigma and question, by their indices; 0 where there is none."""
    rows._check_radii()
    return np.where(rows.done, np.nan_to_num(rows["radius"][:, sigma, question]), 0)


def _radii(radius: Any, count: int) -> np.ndarray:
    """The radius of each of this many inputs."""
    if isinstance(radius, Rows):
        if radius.certificates.shape[1:] != (1, 1):
            raise ValueError("several sigmas or questions: give rows['radius'][:, k, q]")
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

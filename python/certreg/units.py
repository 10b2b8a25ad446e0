"""Compares radii with known changes of an input."""

from __future__ import annotations

import dataclasses
from typing import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import numbers
from ._perturbations import Perturbations, rounded
from ._tables import aligned
from ._texts import printable
from ._types import Inputs, Line, Scale
from .certified_rows import Rows


@dataclasses.dataclass(frozen=True, eq=False)
class RadiusComparison:
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

    def __str__(self) -> str:
        lines = [{**line, "norm": rounded(line["norm"], up=True)} for line in self.lines]
        return printable("\n".join([*([aligned(lines)] if lines else []), *self.notes]))


def compare_radius(
    X: Inputs,
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

    Raises
    ------
    ValueError, TypeError
        For wrong arguments.

    Examples
    --------
    >>> found = certreg.compare_radius([[1.0, 20.0], [2.0, 30.0]], 0.4, step=[1, 10], scale=[1, 10])
    >>> [(line["change"], line["covered"]) for line in found.lines][:2]
    [('rounding to steps, typical', 0), ('rounding to steps, at most', 0)]"""
    if isinstance(radius, Rows):
        if scale is not None:
            raise ValueError("the rows have their scale: leave scale out")
        scale = radius.sampling.scale
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

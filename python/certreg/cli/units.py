"""The option --units: radii next to known changes of the inputs."""

from __future__ import annotations

from typing import Any, Iterator, Optional, Tuple

from .._perturbations import Perturbations
from ..units import compared, radii_of


def perturbations_of(work: Any) -> Optional[Perturbations]:
    """The changes with which a command compares its radii, before it certifies; None without
    --units. Raises Failure if the inputs are not what the option says."""
    if work.given.units is None:
        return None
    step, kind = work.given.units
    with work.failures():
        return Perturbations(work.X, work.scale, step, kind, work.features.names)


def units_of(rows: Any, levels: Any, changes: Perturbations) -> Iterator[Tuple[str, Any]]:
    """The comparison for each tolerance, at each of these levels of it, and a title."""
    for q, question in enumerate(rows.questions[: len(levels)]):
        for level in levels[q]:
            title = f"Radii at sigma {rows.sigmas[level]:g} and tolerance {question.tolerance:g}:"
            yield title, compared(changes, radii_of(rows, level, q))

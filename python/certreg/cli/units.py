"""The option --units: radii next to known changes of the inputs."""

from __future__ import annotations

from typing import Any, Optional

from .._changes import Changes
from ..units import compared, radii_of
from .said import in_options


def changes_of(work: Any) -> Optional[Changes]:
    """The changes with which a command compares its radii, before it certifies; None without
    --units. Raises Failure if the inputs are not what the option says."""
    if work.given.units is None:
        return None
    step, kind = work.given.units
    with work.failures():
        return Changes(work.X, work.scale, step, kind, work.features.names)


def tell_units(work: Any, changes: Changes, rows: Any) -> None:
    """Prints the comparison for each tolerance, at the sigma that is recommended, if one is."""
    for q, question in enumerate(rows.questions):
        level = 0
        if work.given.command == "sigma":
            try:
                level, means, _ = rows.choose_sigma(q, labels=work.labels)
            except ValueError:  # each row failed, which has been said
                continue
            if not means[level]:
                continue
        said = f"Radii at sigma {rows.sigmas[level]:g} and tolerance {question.tolerance:g}:"
        work.tell(f"{said}\n{in_options(compared(changes, radii_of(rows, level, q)))}")

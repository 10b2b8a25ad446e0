"""The option --units: radii next to known changes of the inputs."""

from __future__ import annotations

from typing import Any, Optional

from .._changes import Changes
from ..units import compared, radii_of
from .failure import Failure
from .said import in_options


def changes_of(work: Any) -> Optional[Changes]:
    """The changes with which a command compares its radii, before it certifies; None without
    --units. Raises Failure if the inputs are not what the option says."""
    if work.given.units is None:
        return None
    try:
        return Changes(work.X, work.scale, names=work.features.names, **work.given.units)
    except ValueError as error:
        raise Failure(in_options(error)) from None


def tell_units(work: Any, changes: Changes, rows: Any) -> None:
    """Prints the comparison for each tolerance, at the sigma that is recommended."""
    for q, question in enumerate(rows.questions):
        level = 0
        if len(rows.sigmas) > 1:
            try:
                level, _, _ = rows.choose_sigma(q, labels=work.labels)
            except ValueError:  # no sigma is recommended, which has been said
                continue
        said = f"Radii at sigma {rows.sigmas[level]:g} and tolerance {question.tolerance:g}:"
        work.tell(f"{said}\n{in_options(compared(changes, radii_of(rows, level, q)))}")

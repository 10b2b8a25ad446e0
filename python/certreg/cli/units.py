"""The option --units: compares radii with known changes of the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, Sequence

import numpy as np

from ..questions import tolerance_text
from ..table import Rows
from ..units import MissingCell, Perturbations, RadiusComparison, compared, radii_of

if TYPE_CHECKING:
    from .commands import CommandInputs


def perturbations_of(work: CommandInputs) -> tuple[Perturbations | None, np.ndarray]:
    """The changes for a comparison with radii, computed before the radii; None without --units. And
    the rows that are compared: those that lack no cell. Raises Failure if the inputs contradict the
    option."""
    kept = np.arange(len(work.X))
    if work.given.units is None:
        return None, kept
    step, kind = work.given.units
    scale = 1 if work.scale is None else work.scale
    with work.failures():
        try:
            return Perturbations(work.X, scale, step, kind, work.features.names), kept
        except MissingCell as cell:
            kept = np.delete(kept, cell.rows)
            text = (
                f"--units compares {len(kept)} of {len(work.X)} rows, because the others lack "
                f"cells, first row {work.first + cell.rows[0]} {cell.column}."
            )
        if not len(kept):
            work.remark(text)
            return None, kept
        whole = work.X.take(kept, axis=0)
        changes = Perturbations(whole, scale, step, kind, work.features.names)
        changes.notes.append(text)
        return changes, kept


def units_of(
    rows: Rows, levels: Sequence[Sequence[int]], changes: Perturbations, kept: np.ndarray
) -> Iterator[tuple[str, RadiusComparison]]:
    """Titles and comparisons of the kept rows, for each tolerance at its levels."""
    for q, question in enumerate(rows.questions[: len(levels)]):
        for level in levels[q]:
            tolerance = tolerance_text(question)
            title = f"Radii at sigma {rows.sigmas[level]:g} and tolerance {tolerance}:"
            yield title, compared(changes, radii_of(rows, level, q)[kept])

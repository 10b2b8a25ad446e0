"""The option --units: compares radii with known changes of the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, Sequence

from .._perturbations import MissingCell, Perturbations
from ..certified_rows import Rows
from ..questions import tolerance_text
from ..units import RadiusComparison, compared, radii_of
from .failure import Failure

if TYPE_CHECKING:
    from .commands import CommandInputs


def perturbations_of(work: CommandInputs) -> Perturbations | Failure | None:
    """The changes for a comparison with radii, computed before the radii; None without --units; the
    Failure to raise after the results are written if cells are missing. Raises Failure if the
    inputs contradict the option."""
    if work.given.units is None:
        return None
    step, kind = work.given.units
    with work.failures():
        scale = 1 if work.scale is None else work.scale
        try:
            return Perturbations(work.X, scale, step, kind, work.features.names)
        except MissingCell as cell:
            return Failure(
                f"--units needs all cells, and {cell.column} is missing in row "
                f"{work.first + cell.row}: give the rows that lack nothing; other results are "
                "complete"
            )


def units_of(
    rows: Rows, levels: Sequence[Sequence[int]], changes: Perturbations
) -> Iterator[tuple[str, RadiusComparison]]:
    """Titles and comparisons, for each tolerance at its levels."""
    for q, question in enumerate(rows.questions[: len(levels)]):
        for level in levels[q]:
            tolerance = tolerance_text(question)
            title = f"Radii at sigma {rows.sigmas[level]:g} and tolerance {tolerance}:"
            yield title, compared(changes, radii_of(rows, level, q))

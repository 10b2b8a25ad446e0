"""The worst functions of the four families at one setting, and the slab to which they tend where
nothing is known of the variance."""

from __future__ import annotations

from typing import Any, Union

from certreg import Bounds, Constraint, Solver, WorstFunction, plot_worst_function
from certreg.plots import legend_above
from reproduce import figures
from reproduce.settings import Settings

BOUNDS = Bounds(
    1.0,
    mean_lo=0.3,
    mean_hi=0.3,
    variance_hi=0.2,
    gradient_lo=0.25,
    gradient_hi=0.25,
    range_lo=0.0,
    range_hi=1.0,
)
RADIUS = 0.5
FAMILIES: dict[str, Union[str, int]] = {
    "(C)": "C",
    "(C,G)": "CG",
    "(E,C)+M": "ECM",
    "(E,C,G)+M": "ECGM",
    "(E,G)+M, the slab": Constraint.MEAN | Constraint.GRADIENT | Constraint.RANGE,
}
SIDES = {"lower": "greatest drop", "upper": "greatest rise"}


def found(_: Settings) -> dict[str, dict[str, WorstFunction]]:
    """For each side the worst function of each family."""
    with Solver() as solver:
        return {
            side: {
                name: solver.worst_function(BOUNDS, RADIUS, side, constraints)
                for name, constraints in FAMILIES.items()
            }
            for side in SIDES
        }


def drawn(of: dict[str, dict[str, WorstFunction]]) -> Any:
    row = figures.panels(("", ""), "", 7)
    for ax, (side, title) in zip(row, SIDES.items()):
        curves = {f"{name}: {f.change:.3f}": f for name, f in of[side].items()}
        plot_worst_function(curves, ax=ax)
        ax.set_ylabel(f"{title} at r = {RADIUS}")
        ax.set_xlim(-4, 4)
        ax.set_ylim(-0.75, 2.6)
        legend_above(ax, 2)
    return row[0]


OF_DIGITS = False
DRAWINGS = {"worst_function": drawn}

"""Draws worst_function.svg: the worst functions of the four families at one setting, and the slab
to which they tend where nothing is known of the variance. Needs certreg and matplotlib.

    python3 docs/figures/worst_function.py"""

import pathlib

import matplotlib
from matplotlib.figure import Figure

from certreg import Bounds, Constraint, Solver, plot_worst_function

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
FAMILIES = {
    "(C)": "C",
    "(C,G)": "CG",
    "(E,C)+M": "ECM",
    "(E,C,G)+M": "ECGM",
    "(E,G)+M, the slab": Constraint.MEAN | Constraint.GRADIENT | Constraint.RANGE,
}
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "certreg", "font.size": 9})
figure = Figure(figsize=(9, 3.6), layout="constrained")
for ax, side, verb in zip(figure.subplots(1, 2, sharey=True), ("lower", "upper"), ("drop", "rise")):
    with Solver() as solver:
        functions = {
            name: solver.worst_function(BOUNDS, RADIUS, side, constraints)
            for name, constraints in FAMILIES.items()
        }
    curves = {f"{name}: {f.change:.3f}": f for name, f in functions.items()}
    plot_worst_function(curves, ax=ax, title=f"greatest {verb} at r = {RADIUS}")
    ax.set_xlim(-4, 4)
    ax.set_ylim(-0.75, 1.75)
    ax.legend(loc="upper right" if side == "lower" else "upper center")
path = pathlib.Path(__file__).with_suffix(".svg")
figure.savefig(path, metadata={"Date": None})

"""The paper's statements, algorithms and experiments, row by row: where each is in the library, and
the command that shows it."""

from __future__ import annotations

from . import tables

# What the paper has, what is here, and the command or the test that shows it.
ROWS = (
    (
        "Smoothed mean, ℓ2 threat, the goal of certification",
        "[theory 1](theory/01-guarantee.md)",
        "`examples/quickstart.c`",
    ),
    (
        "Worst change of the mean at a radius",
        "`certreg_solver_worst_case`, equal to the closed form to 1e-15",
        "`make check` (`unit_solver`)",
    ),
    ("(C), Proposition 1", "`CERTREG_CONSTRAINTS_C`", "`make check` (`unit_solver`)"),
    (
        "(C,G), Propositions 2 and 3, corollary, Algorithm 1",
        "`CERTREG_CONSTRAINTS_CG`",
        "`make check` (`unit_solver`), `make reproduce PARTS=synthetic`",
    ),
    (
        "Worst-case functions f* and φ*",
        "`certreg_solver_worst_function`, [guide](guide/paper.md#the-worst-function)",
        "`make check` (`unit_worst_function`)",
    ),
    (
        "(E,C)+M, Algorithm 2",
        "`CERTREG_CONSTRAINTS_ECM`, in both directions; upwards only, as printed, "
        "[above](#in-short)",
        "`make check` (`unit_solver`)",
    ),
    (
        "(E,C,G)+M, alignment, Algorithms 3 and 4",
        "`CERTREG_CONSTRAINTS_ECGM`, likewise, with a proof for bounded functions",
        "`make check` (`unit_solver`)",
    ),
    (
        "Stein's lemma, lower bound of the variance, infeasibility",
        "`CERTREG_E_INFEASIBLE`, [theory 2](theory/02-worst-case.md)",
        "`make check` (`unit_solver_refusals`)",
    ),
    (
        "Calculus of variations",
        "weak duality instead, [theory 3](theory/03-solver.md)",
        "`make check` (`prop_solver`)",
    ),
    (
        "Shift invariance, supremum over an unknown mean",
        "an interval of means",
        "`make check` (`unit_solver`)",
    ),
    (
        "Two-valued solutions, regimes of the variance",
        "`solver/two_valued.c`",
        "`make check` (`unit_solver`)",
    ),
    (
        "Monotone in the radius, bisection",
        "[theory 2.3](theory/02-worst-case.md), `certreg_bisection_within`",
        "`make check` (`unit_bisection`)",
    ),
    (
        "40 Gauss–Hermite nodes, tolerance 1e-6",
        "exact panels, whose rounding is proved",
        "`make bench` (the peer of `bench_solver`)",
    ),
    (
        "U-statistics of variance and gradient",
        "`statistics/moments.c`, `gradient.c`",
        "`make reproduce PARTS=convergence`",
    ),
    (
        "Interval of the variance",
        "`CERTREG_METHOD_PAPER`, literally, one misprint corrected",
        "`make check` (`unit_paper`)",
    ),
    (
        "Interval of the gradient norm",
        "`CERTREG_METHOD_PAPER`, literally",
        "`make check` (`unit_paper`)",
    ),
    (
        "Split of α, union bound (0.75 α is used)",
        "as printed with `CERTREG_METHOD_PAPER`",
        "`make check` (`unit_paper`)",
    ),
    (
        "The mean as a point; for ages with an interval",
        "a point with `CERTREG_METHOD_PAPER`, an interval with the other methods",
        "`make reproduce PARTS=slant`",
    ),
    ("Synthetic functions", "[above](#synthetic-functions)", "`make reproduce PARTS=synthetic`"),
    (
        "True radii by global search",
        "by quadrature, for each promise",
        "`make reproduce PARTS=synthetic`",
    ),
    ("Table 1", "[above](#synthetic-functions)", "`make reproduce PARTS=synthetic`"),
    (
        "α-smoothing, binomial mapping, grids",
        "`CERTREG_STATISTIC_TRIMMED_MEAN`, [theory 9](theory/09-baselines.md)",
        "`make reproduce PARTS='synthetic rotation slant'`",
    ),
    (
        "RS-Reg",
        "`CERTREG_STATISTIC_TRIMMED_MEAN` with trim 0, [theory 9](theory/09-baselines.md)",
        "`make reproduce PARTS=synthetic`",
    ),
    (
        "Median smoothing",
        "`CERTREG_STATISTIC_MEDIAN`, `CERTREG_METHOD_BASELINE`; as its authors coded it with "
        "`CERTREG_CENTER_SAMPLE_MEDIAN`",
        "`make reproduce PARTS='rotation slant'`",
    ),
    (
        "Rotated digits, 100 stratified images, seed 42",
        "[above](#rotated-digits): the same selection, other images, our networks; no printed "
        "figure of rows 26 to 31 is reproduced",
        "`make reproduce PARTS=rotation`",
    ),
    (
        "Equivariant network without noise, MAE 4.53°",
        "**not reproduced**: `rotation_equivariant.onnx` has 6.4° on these 100 images, and 7.1° on "
        "all 10,000 test images ([errors](../examples/models/README.md))",
        "`make reproduce PARTS=rotation`",
    ),
    (
        "Figure 1a, certified shares",
        "`figures/rotation*_cdf.svg`, of our networks, **not the printed curves**",
        "`make reproduce PARTS=rotation`",
    ),
    (
        "Mean radius by σ",
        "**not reproduced**: the printed radii are beside those of three other networks "
        "[above](#the-printed-table-by-σ), and no network's row agrees",
        "`make reproduce PARTS=rotation`",
    ),
    (
        "2.33 and 1.76 times, 94 of 100 images",
        "**not reproduced**: 1.02 to 1.43 and 0.65 to 1.02 times, on 34 to 100 and 18 to 45 "
        "images; paired tables of each network [above](#rotated-digits)",
        "`make reproduce PARTS=rotation`",
    ),
    (
        "Certified accuracy, absolute and conditional, MAE",
        "[above](#certified-accuracy), of our networks; the printed values are **not reproduced**",
        "`make reproduce PARTS=rotation`",
    ),
    (
        "Tightness under attack, histogram",
        "[above](#tightness), of our networks, beside the printed line",
        "`make reproduce PARTS=tightness`",
    ),
    (
        "Soundness rate",
        "[above](#tightness) (*at least 1*), of our networks, beside the printed 98%",
        "`make reproduce PARTS='synthetic tightness'`",
    ),
    (
        "Convergence in N",
        "[above](#convergence): the variance as printed; the radius of (E,C,G)+M on a digit is "
        "slower",
        "`make reproduce PARTS=convergence`",
    ),
    (
        "Sweep over σ, and its choice",
        "tables by σ [above](#rotated-digits); on held-out inputs `certreg_choose_sigma`",
        "`make reproduce PARTS=rotation`",
    ),
    (
        "Several ε and N from one record",
        "`certreg_certify` takes many questions; few calls [above](#in-short)",
        "`make reproduce PARTS='rotation slant'`",
    ),
    (
        "Run time, 5 to 10 s on an A100",
        "not comparable, with another network on one core: [time next to the network]"
        "(benchmarks.md#time-and-memory-next-to-the-network)",
        "`make bench` (`bench_network`)",
    ),
    (
        "GPU",
        "CUDA backend, tested on an emulated device only",
        "`make check-gpu`, `make bench-gpu`",
    ),
    (
        "Face age, both tables, convergence, trade-off, Figure 1b",
        "[the slant of digits](#an-aperiodic-task-the-slant-of-a-digit) instead",
        "`make reproduce PARTS='slant convergence'`",
    ),
    (
        "Radius against accuracy",
        "`figures/slant_mae.svg` and useful radii",
        "`make reproduce PARTS=slant`",
    ),
    (
        "Limitation: intervals are asymptotic",
        "`CERTREG_METHOD_FINITE`, the default",
        "`make check` (`cover_finite`)",
    ),
    (
        "Limitation: periodic outputs are numbers",
        "statistics on the circle, [theory 7](theory/07-angles.md)",
        "`make check` (`cover_circle`)",
    ),
    (
        "Limitation: radii fall as σ/√d",
        "the same here: radii are in units of σ, and accuracy limits σ",
        "`make reproduce PARTS=rotation`",
    ),
    (
        "Limitation of others: anchored at f(z)",
        "the guarantee is about the served statistic (`question.serving`)",
        "`make check` (`cover_promises`)",
    ),
)


def report() -> str:
    lines = [(number, *row) for number, row in enumerate(ROWS, 1)]
    return "## Every row of the paper\n\n" + tables.markdown(
        ("#", "in the paper", "here", "command"), lines
    )

"""What the parts about images have in common: a sweep of each task, its CSV files, and the tables
of the report."""

from __future__ import annotations

from typing import Any, Callable, Container, Iterable, Optional, Sequence

import numpy as np

from . import figures, sweep, tables, upward
from .methods import (
    ALPHA_49,
    ALPHA_EASY,
    CODED,
    FAMILIES,
    LEVELS,
    MEDIAN,
    SAMPLE_MEDIAN,
    SERVED,
    SERVED_EASY,
    Asked,
)
from .settings import Settings

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
WORSE = 0.1  # "error first": so much of the tolerance above the least error over σ
CHOICES = (("longest", "mean_radius"), ("accurate", "mean_radius"), ("useful", "useful_radius"))
LITERAL = FAMILIES[3].name  # (E,C,G)+M, the paper's best family
CHIEF = (
    *(family.name for family in FAMILIES),
    ALPHA_49.name,
    SAMPLE_MEDIAN.name,
    CODED.name,
    MEDIAN.name,
    SERVED.name,
)
# Pairs for the paired comparison, image by image.
PAIRS = (
    (LITERAL, FAMILIES[2].name),
    (LITERAL, ALPHA_49.name),
    (ALPHA_49.name, LITERAL),
    (MEDIAN.name, LITERAL),
    (MEDIAN.name, SAMPLE_MEDIAN.name),
    (MEDIAN.name, CODED.name),
    (SERVED.name, ALPHA_49.name),
    (SERVED_EASY.name, ALPHA_EASY.name),
)
FEW = (64, 1000)  # calls for each image and noise level


def compute(
    settings: Settings,
    name: str,
    tasks: Iterable[sweep.Task],
    asked: Callable[[sweep.Task], tuple[Asked, ...]],
    samples: int,
    plotted: Container[str],
    sigmas: Optional[Callable[[sweep.Task], Sequence[float]]] = None,
) -> None:
    """Writes NAME_summary.csv, _each.csv, _accuracy.csv and _wins.csv; and of the tasks that are
    plotted the plots, NAME_few.csv, and what the paper prints for families with a range."""
    summary: list[dict[str, Any]] = []
    every, accuracy, wins, few = list(summary), list(summary), list(summary), list(summary)
    for task in tasks:
        levels = sigmas(task) if sigmas else settings.size.sigmas
        done = sweep.run(settings, task, levels, asked(task), samples, lambda s: print(" ", s))
        label = {"task": task.name}
        if task.name in plotted:
            done = upward.added(settings, done, samples)
            few += [{**label, **row} for row in _few(settings, task, levels, done.asked)]
        summary += [{**label, **row} for row in sweep.summary(done)]
        every += [{**label, **row} for row in sweep.each(done)]
        accuracy += [{**label, **row} for row in sweep.accuracy(done, THRESHOLDS)]
        known = {one.method.name for one in done.asked}
        wins += [
            {**label, **sweep.wins(done, *pair, useful=useful)}
            for pair in PAIRS
            if known.issuperset(pair)
            for useful in (False, True)
        ]
        if task.name in plotted:
            with figures.where_possible():
                _plot(settings, done)
    kinds = {"summary": summary, "each": every, "accuracy": accuracy, "wins": wins, "few": few}
    for kind, rows in kinds.items():
        tables.write_csv(settings.path(f"{name}_{kind}.csv"), rows)


def _few(
    settings: Settings, task: sweep.Task, levels: Sequence[float], asked: Sequence[Asked]
) -> list[dict[str, Any]]:
    """The median, and as it is served, from records of few samples."""
    some = tuple(
        one for one in asked if one.method in (MEDIAN, SERVED_EASY) and one.alpha == LEVELS[0]
    )
    return [
        {"samples": samples, **row}
        for samples in FEW
        for row in sweep.summary(
            sweep.run(settings, task, levels, some, samples, mark=f"_{samples}")
        )
    ]


def _plot(settings: Settings, done: sweep.Sweep) -> None:
    chief = [name for name in CHIEF if any(one.method.name == name for one in done.asked)]
    at = {name: done.index(name) for name in chief}
    title = f"{done.task.name}: each method at the σ of its longest mean radius"
    curves = {
        f"{name}, σ = {done.sigmas[done.best(q)]:g}": done.radius[:, done.best(q), q]
        for name, q in at.items()
    }
    figures.radii(settings.figure(f"{done.task.name}_cdf"), curves, title)
    error = {n: (done.sigmas, np.nanmean(done.error[:, :, q], 0)) for n, q in at.items()}
    figures.lines(
        settings.figure(f"{done.task.name}_mae"),
        error,
        ("σ", "mean absolute error of the prediction"),
        f"{done.task.name}: what smoothing costs in accuracy",
    )


# ---- the report
def read(settings: Settings, name: str, kind: str) -> list[dict[str, Any]]:
    return tables.read_csv(settings.path(f"{name}_{kind}.csv"))


def by_sigma(
    rows: Iterable[dict[str, Any]], task: str, value: str, only: Sequence[str] = ()
) -> str:
    """The table of one task at the first level: a line for each method, a column for each σ."""
    some = [
        row
        for row in rows
        if row["task"] == task and row["alpha"] == LEVELS[0] and (not only or row["method"] in only)
    ]
    return tables.pivoted(some, "method", "sigma", value, "method \\ σ")


def chosen(rows: Iterable[dict[str, Any]], task: str, alpha: float = LEVELS[0]) -> dict[str, Any]:
    """For each method its lines at three σ: "longest", with the greatest mean radius; "accurate",
    the greatest of those whose error is at most WORSE tolerances above the method's least; and
    "useful", with the greatest useful radius."""
    found: dict[str, Any] = {}
    for row in rows:
        if row["task"] == task and row["alpha"] == alpha:
            found.setdefault(row["method"], []).append(row)
    return {method: _chosen(own) for method, own in found.items()}


def _chosen(own: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    most = min(row["mae"] for row in own) + WORSE * own[0]["tolerance"]
    accurate = [row for row in own if row["mae"] <= most]
    return {
        "longest": max(own, key=lambda row: row["mean_radius"]),
        "accurate": max(accurate, key=lambda row: row["mean_radius"]),
        "useful": max(own, key=lambda row: row["useful_radius"]),
    }


def best(rows: Iterable[dict[str, Any]], task: str) -> str:
    """Radius, σ and error of each method, by each way to choose σ."""
    lines = []
    for method, of in chosen(rows, task).items():
        line: list[Any] = [method]
        for choice, value in CHOICES:
            line += [of[choice][value], f"{of[choice]['sigma']:g}", f"{of[choice]['mae']:.1f}"]
        lines.append(line)
    heading = ["method", "longest radius", "σ", "MAE"]
    heading += ["error first", "σ", "MAE", "useful radius", "σ", "MAE"]
    return tables.markdown(heading, lines)


def of_metric(rows: Iterable[dict[str, Any]], task: str, metric: str, digits: int) -> str:
    """One metric of certified accuracy: a line for each method, a column for each radius."""
    some = [
        {
            **row,
            "value": _rounded(row["value"], digits),
            "name": f"{row['method']} ({row['sigma']:g})",
        }
        for row in rows
        if row["task"] == task and row["metric"] == metric and row["method"] in CHIEF
    ]
    return tables.pivoted(some, "name", "radius", "value", "method (σ) \\ radius")


def of_network(settings: Settings, name: str, task: str, heading: str) -> list[str]:
    """The tables and plots of one network."""
    summary, wins = (read(settings, name, kind) for kind in ("summary", "wins"))
    return [
        f"### {heading}",
        best(summary, task),
        "Mean radius by σ:",
        by_sigma(summary, task, "mean_radius"),
        "Mean absolute error by σ, of all predictions:",
        by_sigma(summary, task, "mae", CHIEF[3:]),
        f"![Share of images certified at each radius](figures/{task}_cdf.svg)",
        f"![Error of the prediction by σ](figures/{task}_mae.svg)",
        "Image by image, each method at its best σ:",
        paired(wins, task),
    ]


def _rounded(value: Any, digits: int) -> Any:
    return f"{value:.{digits}f}" if isinstance(value, float) and value == value else None


def paired(rows: Iterable[dict[str, Any]], task: str) -> str:
    """Two methods, each at its best σ, image by image."""
    lines = [
        [
            f"{row['first']} to {row['second']}",
            "useful" if row["useful"] else "plain",
            row["mean_first"],
            row["mean_second"],
            f"{row['ratio']:.2f}",
            f"{row['wins']:.0f}",
            f"{row['ties']:.0f}",
        ]
        for row in rows
        if row["task"] == task
    ]
    heading = ["methods", "radius", "first", "second", "ratio", "longer", "equal"]
    return tables.markdown(heading, lines)

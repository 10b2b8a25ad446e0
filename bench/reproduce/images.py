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
    IN_PAIRS,
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
# Whose errors by σ differ, unlike those of the other families and of the served median.
ERRORS = (LITERAL, ALPHA_49.name, SAMPLE_MEDIAN.name, CODED.name, MEDIAN.name)
# Pairs for the paired comparison, image by image.
PAIRS = (
    (LITERAL, FAMILIES[2].name),
    (LITERAL, ALPHA_49.name),
    (MEDIAN.name, LITERAL),
    (MEDIAN.name, SAMPLE_MEDIAN.name),
    (MEDIAN.name, CODED.name),
    (SERVED.name, ALPHA_49.name),
    (SERVED_EASY.name, ALPHA_EASY.name),
    (IN_PAIRS.name, ALPHA_EASY.name),
)
KINDS = ("summary", "accuracy", "wins", "few")  # of CSV files
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
    """Writes NAME_summary.csv, _accuracy.csv and _wins.csv; and of the tasks that are plotted the
    plots, NAME_few.csv, and the methods of upward.py."""
    rows: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for task in tasks:
        levels = sigmas(task) if sigmas else settings.size.sigmas
        done = sweep.run(settings, task, levels, asked(task), samples, lambda s: print(" ", s))
        own: dict[str, list[dict[str, Any]]] = {}
        if task.name in plotted:
            done = upward.added(settings, done, samples)
            own["few"] = _few(settings, task, levels, done.asked)
            with figures.where_possible():
                _plot(settings, done)
        own["summary"], own["wins"] = sweep.summary(done), _wins(done)
        own["accuracy"] = sweep.accuracy(done, THRESHOLDS)
        for kind, some in own.items():
            rows[kind] += [{"task": task.name, **row} for row in some]
    for kind in KINDS:
        tables.write_csv(settings.path(f"{name}_{kind}.csv"), rows[kind])


def _wins(done: sweep.Sweep) -> list[dict[str, Any]]:
    known = {one.method.name for one in done.asked}
    pairs = [pair for pair in PAIRS if known.issuperset(pair)]
    both = (False, True)
    return [sweep.wins(done, *pair, useful=useful) for pair in pairs for useful in both]


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
    title = f"{done.task.name}: each method at its best σ"
    curves = {
        f"{name}, σ = {done.sigmas[done.best(q)]:g}": done.radius[:, done.best(q), q]
        for name, q in at.items()
    }
    figures.radii(settings.figure(f"{done.task.name}_cdf"), curves, title)
    error = {
        name: (done.sigmas, np.nanmean(done.error[:, :, q], 0))
        for name, q in at.items()
        if name in ERRORS
    }
    figures.lines(
        settings.figure(f"{done.task.name}_mae"),
        error,
        ("σ", "mean absolute error, degrees"),
        f"{done.task.name}: what smoothing costs in accuracy",
    )


# ---- the report
def read(settings: Settings, name: str, kind: str) -> list[dict[str, Any]]:
    return tables.read_csv(settings.path(f"{name}_{kind}.csv"))


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


def add(beside: tables.Beside, settings: Settings, name: str, networks: Iterable[str]) -> None:
    """The tables of these networks: best, by_sigma and pairs."""
    summary, wins = (read(settings, name, kind) for kind in ("summary", "wins"))
    for task in networks:
        beside.add("best", best(summary, task))
        beside.add("by_sigma", by_sigma(summary, task, "mean_radius"))
        beside.add("by_sigma", by_sigma(summary, task, "mae", ERRORS))
        beside.add("pairs", _paired(wins, task))


def best(rows: Iterable[dict[str, Any]], task: str) -> list[dict[str, Any]]:
    """Radius, σ and error of each method, by each way to choose σ."""
    lines = []
    for method, of in chosen(rows, task).items():
        line: dict[str, Any] = {"network": task, "method": method}
        for choice, value in CHOICES:
            line[choice] = of[choice][value]
            line[f"{choice}_sigma"] = f"{of[choice]['sigma']:g}"
            line[f"{choice}_mae"] = f"{of[choice]['mae']:.1f}"
        lines.append(line)
    return lines


def by_sigma(
    rows: Iterable[dict[str, Any]], task: str, value: str, only: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """One value at the first level: a line for each method, a column for each σ."""
    some = [
        {"network": task, "value": value, **row}
        for row in rows
        if row["task"] == task and row["alpha"] == LEVELS[0] and (not only or row["method"] in only)
    ]
    return tables.wide(some, ("network", "value", "method"), "sigma", value)


def accuracy(
    rows: Sequence[dict[str, Any]], task: str, digits: dict[str, int]
) -> list[dict[str, Any]]:
    """Metrics of certified accuracy, with so many digits: a line for each method, a column for
    each radius."""
    some = [
        {**row, "network": task, "sigma": f"{row['sigma']:g}", "value": _rounded(row, digits)}
        for metric in digits
        for row in rows
        if (row["task"], row["metric"]) == (task, metric) and row["method"] in CHIEF
    ]
    return tables.wide(some, ("network", "metric", "method", "sigma"), "radius", "value")


def _rounded(row: dict[str, Any], digits: dict[str, int]) -> Any:
    value = row["value"]
    known = isinstance(value, float) and value == value
    return f"{value:.{digits[row['metric']]}f}" if known else None


def _paired(rows: Iterable[dict[str, Any]], task: str) -> list[dict[str, Any]]:
    """Two methods, each at its best σ, image by image."""
    lines: dict[Any, dict[str, Any]] = {}
    for row in rows:
        if row["task"] == task:
            names = {"network": task, "first": row["first"], "second": row["second"]}
            line = lines.setdefault((row["first"], row["second"]), names)
            kind = "useful_" if row["useful"] else ""
            line[f"{kind}mean_first"] = row["mean_first"]
            line[f"{kind}mean_second"] = row["mean_second"]
            line[f"{kind}ratio"] = f"{row['ratio']:.2f}"
            line[f"{kind}paired_mean_gain"] = row["paired_mean_gain"]
            line[f"{kind}gain_loss_ratio"] = f"{row['gain_loss_ratio']:.2f}"
            line[f"{kind}longer"] = f"{row['wins']:.0f}"
            line[f"{kind}equal"] = f"{row['ties']:.0f}"
    return list(lines.values())

"""Prediction intervals that contain the truth under attack, beside other ways to make intervals."""

from __future__ import annotations

import math
import time
from typing import Any

from certreg.plots import legend_above

from . import coverage, figures, tables
from .conformal import ALPHA, FEWER, SMOOTHED, Method
from .coverage import COMPARED
from .labelled import of_linear, tasks
from .moved import RATIOS
from .published import METHODS
from .settings import Settings

Line = dict[str, Any]
# With one call or 1,001, and corrected where that is published.
DRAWN = [
    one
    for one in METHODS
    if one.calls in (1, 1001) and getattr(one, "error", 1) and one not in FEWER
]
TICKS = (1, 1.25, 1.5, 2, 3, 5)
MARKS: dict[str, Any] = {"marker": "o", "markersize": 4, "linewidth": 1}


def compute(settings: Settings) -> None:
    every = tasks(settings)
    beside = [x for task in (*every, of_linear(COMPARED)) for x in coverage.compared(task)]
    tables.write_csv(settings.path("intervals_compared.csv"), beside)
    lines: list[Line] = []
    for task in every:
        print(f"  {task.name}, {len(task.sets)} calibrations of {task.points} points", flush=True)
        began = time.monotonic()
        lines += coverage.lines_of(*coverage.find(settings, task))
        print(f"  {time.monotonic() - began:.0f} s", flush=True)
    tables.write_csv(settings.path("intervals.csv"), lines)
    with figures.where_possible():
        _plot(settings, lines)


# ---- the lines of one task
def _of(lines: list[Line], task: str, method: Method) -> dict[float, Line]:
    """By radius."""
    own = [x for x in lines if (x["task"], x["method"]) == (task, method.name)]
    return {line["ratio"]: line for line in own}


def _relative(lines: list[Line], task: str, method: Method, other: Method) -> dict[float, float]:
    """The ratios of the widths of two methods."""
    own, base = (_of(lines, task, one) for one in (method, other))
    return {ratio: own[ratio]["width"] / base[ratio]["width"] for ratio in RATIOS}


def _plot(settings: Settings, lines: list[Line]) -> None:
    """For each task the coverage under attack against the width, with a mark for each radius."""
    names = list(dict.fromkeys(line["task"] for line in lines))
    labels = [f"{name}:\ncoverage under attack" for name in names]
    across = "width, relative to split conformal (smoothed)"
    panels = figures.panels(labels, across, 2 + 2.3 * len(names))
    for ax, name in zip(panels, names):
        for method in DRAWN:
            own, width = _of(lines, name, method), _relative(lines, name, method, SMOOTHED)
            x, y = [width[r] for r in RATIOS], [own[r]["attacked"] for r in RATIOS]
            ax.plot(x, y, label=method.name, **MARKS)
        ax.axhline(1 - ALPHA, color="black", linestyle=":")
        ax.set_xscale("log")
        ax.set_xticks(TICKS, [f"{x:g}" for x in TICKS])
        ax.minorticks_off()
    legend_above(panels[0])
    figures.save(panels[0], settings.figure("intervals"))


# ---- the report
def report(settings: Settings, beside: tables.Beside) -> dict[str, str]:
    files = ("intervals", "intervals_compared")
    lines, compared = (tables.read_csv(settings.path(f"{name}.csv")) for name in files)
    names = list(dict.fromkeys(line["task"] for line in lines))
    for name in names:
        beside.add("intervals", _table(lines, name))
    return {"intervals": _short(lines, names), "library": _library(compared)}


def _short(lines: list[Line], names: list[str]) -> str:
    """At σ/2: under attack, and beside split conformal prediction."""
    rows = []
    for method in METHODS:
        row = [method.name]
        for name in names:
            row.append(f"{_of(lines, name, method)[0.5]['attacked']:.3f}")
            row.append(f"{_relative(lines, name, method, SMOOTHED)[0.5]:.2f}")
        rows.append(row)
    heading = [f"{name}: {what}" for name in names for what in ("covered", "width")]
    return tables.markdown(["method", *heading], rows)


def _table(lines: list[Line], name: str) -> list[dict[str, Any]]:
    rows = []
    for method in METHODS:
        own, relative = _of(lines, name, method), _relative(lines, name, method, SMOOTHED)
        row: dict[str, Any] = {"task": name, "method": method.name, "calls": method.calls or None}
        row["clean, r = σ/2"] = _pm(own[0.5]["clean"], own[0.5]["clean_error"])
        for ratio, label in zip(RATIOS, ("σ/4", "σ/2", "σ")):
            line = own[ratio]
            row[f"attacked, r = {label}"] = _pm(line["attacked"], line["attacked_error"])
            digits = 1 if line["width"] > 20 else 2
            row[f"width, r = {label}"] = _pm(line["width"], line["width_error"], digits)
            row[f"relative, r = {label}"] = f"{relative[ratio]:.2f}"
        rows.append(row)
    return rows


def _pm(value: float, error: float, digits: int = 3) -> str:
    if not math.isfinite(value):
        return "∞"
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def _library(lines: list[Line]) -> str:
    keys = ("tested", "agree")
    tested, agree = (int(sum(line[key] for line in lines)) for key in keys)
    return tables.paragraph(
        f"They differ by at most {max(line['differs'] for line in lines):.1g}, and contain the "
        f"truth in the same cases, {agree} of {tested}."
    )

"""The first tables of the page: each task, each method at its best σ, radius and useful radius, and
the ratios that are worth a sentence."""

from __future__ import annotations

import math
from typing import Any

from . import images, tables
from .methods import (
    ALPHA_EASY,
    CODED,
    FAMILIES,
    MEDIAN,
    SAMPLE_MEDIAN,
    SERVED_EASY,
    UPWARD,
)
from .settings import Settings

COLUMNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("the paper, best family", tuple(family.name for family in FAMILIES)),
    ("the same, upwards only", tuple(method.name for method in (*FAMILIES[:2], *UPWARD.values()))),
    ("median smoothing", (SAMPLE_MEDIAN.name,)),
    ("the same, as coded", (CODED.name,)),
    ("median", (MEDIAN.name,)),
    ("α-smoothing", (ALPHA_EASY.name,)),
    ("median, served", (SERVED_EASY.name,)),
)
TASKS = (
    ("rotation", "rotation"),
    ("rotation", "rotation_clean"),
    ("rotation", "rotation_equivariant"),
    ("slant", "slant"),
    ("slant", "slant_clean"),
)
RATIOS = (
    ("median", "the paper, best family"),
    ("the same, upwards only", "the paper, best family"),
    ("median", "median smoothing"),
    ("median", "the same, as coded"),
    ("median, served", "α-smoothing"),
    ("α-smoothing", "the paper, best family"),
)
KINDS = (
    ("longest", "mean_radius", "radius"),
    ("accurate", "mean_radius", "radius, error first"),
    ("useful", "useful_radius", "useful radius"),
)
SHOWN = ("longest", "useful")  # as tables; the other is in best.csv
Best = dict[str, dict[str, float]]  # of a task and a column


def report(settings: Settings) -> dict[str, str]:
    rows = {part: images.read(settings, part, "summary") for part in ("rotation", "slant")}
    few = {part: images.read(settings, part, "few") for part in rows}
    blocks, found = {}, []
    for choice, value, corner in KINDS:
        found.append({task: best(rows[part], task, choice, value) for part, task in TASKS})
        if choice in SHOWN:
            blocks[choice] = table(found[-1], corner)
    ratios = [_ratio(first, second, found) for first, second in RATIOS]
    heading = ["ratio", *(corner for _, _, corner in KINDS)]
    return {**blocks, "few": _few(few, found[0]), "ratios": tables.markdown(heading, ratios)}


def best(rows: list[dict[str, Any]], task: str, choice: str, value: str) -> dict[str, float]:
    """By column; the longest of its methods."""
    chosen = images.chosen(rows, task)
    return {column: max(chosen[name][choice][value] for name in names) for column, names in COLUMNS}


def table(best: Best, corner: str) -> str:
    lines = [[f"`{task}`", *columns.values()] for task, columns in best.items()]
    return tables.markdown([corner, *(name for name, _ in COLUMNS)], lines)


def _ratio(first: str, second: str, found: list[Best]) -> list[str]:
    """The least and the greatest over the tasks, by each choice of σ."""
    cells = []
    for best in found:
        pairs = [(columns[first], columns[second]) for columns in best.values()]
        values = [a / b if b > 0 else math.inf for a, b in pairs]
        cells.append(f"{min(values):.2f} to {max(values):.2f}")
    known = {name: name.replace("the same, ", "") for name, _ in COLUMNS}
    return [f"{known[first]} / {known[second]}", *cells]


def _few(few: dict[str, list[dict[str, Any]]], longest: Best) -> str:
    lines = []
    for part, task in TASKS:
        cells: list[Any] = [f"`{task}`", longest[task]["the paper, best family"]]
        cells += [_longest(few[part], task, MEDIAN.name, samples) for samples in images.FEW]
        cells += [longest[task]["α-smoothing"]]
        cells += [_longest(few[part], task, SERVED_EASY.name, images.FEW[-1])]
        lines.append(cells)
    heading = ["radius", "the paper, all calls"]
    heading += [f"median, {samples:,} calls" for samples in images.FEW]
    heading += ["α-smoothing, all calls", f"median, served, {images.FEW[-1]:,} calls"]
    return tables.markdown(heading, lines)


def _longest(rows: list[dict[str, Any]], task: str, method: str, samples: int) -> float:
    return max(
        float(row["mean_radius"])
        for row in rows
        if (row["task"], row["method"], row["samples"]) == (task, method, samples)
    )

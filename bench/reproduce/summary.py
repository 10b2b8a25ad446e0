"""The first table of the page: each task, each method at its best σ, radius and useful radius."""

from __future__ import annotations

from typing import Any

from . import images, tables
from .methods import ALPHA_35, ALPHA_49, BY_PILOT, FAMILIES, LEVELS, MEDIAN, SAMPLE_MEDIAN, SERVED
from .settings import Settings

COLUMNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("the paper, best family", tuple(family.name for family in FAMILIES)),
    ("α-smoothing", (ALPHA_35.name, ALPHA_49.name)),
    ("median smoothing", (SAMPLE_MEDIAN.name,)),
    ("median", (MEDIAN.name, BY_PILOT.name)),
    ("median, served", (SERVED.name,)),
)
TASKS = (
    ("rotation", "rotation"),
    ("rotation", "rotation_clean"),
    ("rotation", "rotation_equivariant"),
    ("slant", "slant"),
    ("slant", "slant_clean"),
)
TEXT = """## In short

Mean radius of each method at its best σ, and the mean *useful* radius, which counts a
radius only where the prediction lies within the tolerance of the truth. α-smoothing and
the served median have the same two error probabilities."""


def report(settings: Settings) -> str:
    rows = {part: images.read(settings, part, "summary") for part in ("rotation", "slant")}
    return "\n\n".join(
        [TEXT, *(_table(rows, value) for value in ("mean_radius", "useful_radius"))]
    )


def _table(rows: dict[str, list[dict[str, Any]]], value: str) -> str:
    lines = [
        [f"`{task}`", *(_best(rows[part], task, names, value) for _, names in COLUMNS)]
        for part, task in TASKS
    ]
    corner = "radius" if value == "mean_radius" else "useful radius"
    return tables.markdown([corner, *(name for name, _ in COLUMNS)], lines)


def _best(rows: list[dict[str, Any]], task: str, names: tuple[str, ...], value: str) -> float:
    return max(
        float(row[value])
        for row in rows
        if row["task"] == task and row["method"] in names and row["alpha"] == LEVELS[0]
    )

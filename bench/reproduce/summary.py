"""The first table of the page: each task, each method at its best σ, radius and useful radius."""

from __future__ import annotations

from typing import Any

from . import images, tables
from .methods import (
    ALPHA_35,
    ALPHA_49,
    ALPHA_EASY,
    BY_PILOT,
    FAMILIES,
    MEDIAN,
    SAMPLE_MEDIAN,
    SERVED,
)
from .settings import Settings

COLUMNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("the paper, best family", tuple(family.name for family in FAMILIES)),
    ("α-smoothing", (ALPHA_35.name, ALPHA_49.name, ALPHA_EASY.name)),
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
TEXT = """
Mean radius of each method, an abstention counted as 0, at the σ where it is longest. α-smoothing
is the best of three variants. With p_A at 0.999, as published, it has the same two error
probabilities as the served median."""
ACCURATE = """
The same with σ chosen *by error first*: the longest radius among the σ at which the error of the
method's predictions is at most a tenth of the tolerance above its least. A radius alone says
little, since the mean of outputs that have nothing to do with the input is the most stable of all
([below](#a-warning-random-angles))."""
USEFUL = """
The mean *useful* radius counts a radius only where the prediction lies within the tolerance of
the truth, each method at its best σ for that:"""


def report(settings: Settings) -> str:
    rows = {part: images.read(settings, part, "summary") for part in ("rotation", "slant")}
    kinds = (
        (TEXT, "longest", "mean_radius", "radius"),
        (ACCURATE, "accurate", "mean_radius", "radius, error first"),
        (USEFUL, "useful", "useful_radius", "useful radius"),
    )
    parts = ["## In short"]
    for text, *which in kinds:
        parts += [tables.paragraph(text), _table(rows, *which)]
    return "\n\n".join(parts)


def _table(rows: dict[str, list[dict[str, Any]]], choice: str, value: str, corner: str) -> str:
    lines = []
    for part, task in TASKS:
        chosen = images.chosen(rows[part], task)
        best = [max(chosen[name][choice][value] for name in names) for _, names in COLUMNS]
        lines.append([f"`{task}`", *best])
    return tables.markdown([corner, *(name for name, _ in COLUMNS)], lines)

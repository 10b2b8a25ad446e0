"""CSV files and Markdown tables."""

from __future__ import annotations

import csv
import pathlib
import textwrap
from typing import Any, Iterable, Mapping, Sequence


def write_csv(path: pathlib.Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """One line for each dict; the keys of the first are the heading."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        lines.writeheader()
        lines.writerows({key: _plain(value) for key, value in row.items()} for row in rows)


def _plain(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def read_csv(path: pathlib.Path) -> list[dict[str, Any]]:
    """The lines of write_csv, numbers as floats."""
    with open(path, newline="", encoding="utf-8") as file:
        return [{key: _number(text) for key, text in row.items()} for row in csv.DictReader(file)]


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def paragraph(text: str) -> str:
    """Text in lines of the length that the documents have."""
    return textwrap.fill(" ".join(text.split()), 88, break_long_words=False, break_on_hyphens=False)


def markdown(heading: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """A table; floats get three decimals."""
    rows = [list(heading), ["---"] * len(heading)]
    rows += [[_cell(value) for value in line] for line in lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def pivot(
    rows: Iterable[Mapping[str, Any]], line: str, column: str, value: str
) -> tuple[list[Any], dict[Any, dict[Any, Any]]]:
    """The columns that occur, in their order, and for each line a dict from column to value."""
    columns: list[Any] = []
    lines: dict[Any, dict[Any, Any]] = {}
    for row in rows:
        if row[column] not in columns:
            columns.append(row[column])
        lines.setdefault(row[line], {})[row[column]] = row[value]
    return columns, lines


def pivoted(
    rows: Iterable[Mapping[str, Any]], line: str, column: str, value: str, corner: str
) -> str:
    """The Markdown table of `pivot`."""
    columns, lines = pivot(rows, line, column, value)
    heading = [corner, *(f"{c:g}" if isinstance(c, float) else str(c) for c in columns)]
    return markdown(heading, ([name, *(of.get(c) for c in columns)] for name, of in lines.items()))

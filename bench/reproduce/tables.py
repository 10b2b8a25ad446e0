"""CSV files and Markdown tables."""

from __future__ import annotations

import csv
import pathlib
from typing import Any, Callable, Iterable, Mapping, Sequence


def _plain(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value


def write_csv(
    path: pathlib.Path, rows: Sequence[Mapping[str, Any]], cell: Callable[[Any], Any] = _plain
) -> None:
    """One line for each dict; all keys that occur are the heading."""
    heading = dict.fromkeys(key for row in rows for key in row)
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.DictWriter(file, list(heading), lineterminator="\n")
        lines.writeheader()
        lines.writerows({key: cell(value) for key, value in row.items()} for row in rows)


def read_csv(path: pathlib.Path) -> list[dict[str, Any]]:
    """The lines of write_csv, numbers as floats."""
    with open(path, newline="", encoding="utf-8") as file:
        return [{key: _number(text) for key, text in row.items()} for row in csv.DictReader(file)]


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def markdown(heading: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """A table; floats get three decimals."""
    rows = [list(heading), ["---"] * len(heading)]
    rows += [[_cell(value) for value in line] for line in lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


class Beside:
    """Tables that are too long for the page: CSV files in a folder beside it."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Mapping[str, Any]]] = {}

    def add(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """More rows of the table of this name."""
        self.rows.setdefault(name, []).extend(rows)

    def write(self, folder: pathlib.Path) -> None:
        folder.mkdir(exist_ok=True)
        for name, rows in self.rows.items():
            write_csv(folder / f"{name}.csv", rows, _cell)


def wide(
    rows: Iterable[Mapping[str, Any]], line: Sequence[str], column: str, value: str
) -> list[dict[str, Any]]:
    """One row for each combination of the keys in `line`, with the values by column."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[name] for name in line)
        found.setdefault(key, dict(zip(line, key)))[f"{row[column]:g}"] = row[value]
    return list(found.values())

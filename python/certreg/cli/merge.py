"""The command `certreg merge`: tables of parts of the inputs become one."""

from __future__ import annotations

import argparse
import csv
from typing import Optional

from .failure import DONE, FILE, Failure, one_line
from .files import Destination
from .streams import say
from .tables import as_lines

Line = dict[str, str]
_ASKED = ("sigma", "question", "output")  # with the row they tell lines apart
_SAME = ("tolerance", "alpha", "statistic", "method", "center")  # for all that were asked alike


def run(given: argparse.Namespace) -> int:
    """Writes the table of all parts, or nothing."""
    destination = Destination(given.out, (".csv",))
    lines: dict[int, dict[tuple[str, ...], Line]] = {}
    same: dict[tuple[str, ...], dict[str, str]] = {}
    of_row: dict[int, str] = {}
    header: list[str] = []
    for path in given.parts:
        names, table = _read(path)
        if header and names != header:
            raise Failure(f"{path} has other columns than {given.parts[0]}: merge parts of one run")
        header = names
        for line in table:
            row, asked = int(line["row"]), tuple(line.get(name, "") for name in _ASKED)
            if of_row.setdefault(row, path) != path or asked in lines.get(row, {}):
                raise Failure(f"row {row} is in {of_row[row]} and in {path}: leave one of them out")
            lines.setdefault(row, {})[asked] = line
            _check_same(path, line, same.setdefault(asked, {}))
    _check_rows(lines, given.count)
    whole = (line for row in sorted(lines) for line in lines[row].values())
    destination.write_text(as_lines([header, *(list(line.values()) for line in whole)]))
    say(f"{len(lines)} rows of {len(given.parts)} tables are in {given.out}\n")
    return DONE


def _read(path: str) -> tuple[list[str], list[Line]]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            names, *lines = list(csv.reader(file, strict=True)) or [[]]
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, csv.Error) as error:
        raise Failure(f"{path} is no table of certreg: {one_line(error)}") from None
    if names[:1] != ["row"]:
        raise Failure(f"{path} is no table of certreg: its first column is not named row")
    for number, line in enumerate(lines, 2):
        if len(line) != len(names) or not line[0].isdecimal():
            raise Failure(f"{path} is damaged in line {number}: make it again", FILE)
    return names, [dict(zip(names, line)) for line in lines]


def _check_same(path: str, line: Line, before: dict[str, str]) -> None:
    """A row that failed does not know what was asked."""
    for name in _SAME:
        known = line.get(name) if not line.get("error") else None
        if known and before.setdefault(name, known) != known:
            raise Failure(
                f"row {line['row']} of {path} has {name} {known}, and other rows {before[name]}: "
                "merge parts of one run"
            )


def _check_rows(lines: dict[int, dict[tuple[str, ...], Line]], count: Optional[int]) -> None:
    """No row is missing, and each has answers to the same questions."""
    wanted = max(lines, default=-1) + 1 if count is None else count
    missing = [row for row in range(wanted) if row not in lines]
    if missing:
        raise Failure(
            f"{len(missing)} of {wanted} rows are missing, the first is row {missing[0]}: do their "
            "parts and merge again"
        )
    if len(lines) > wanted:
        raise Failure(f"there is a row {max(lines)}, but --count is {count}")
    most = max(lines.values(), key=len, default={})
    for row, answers in lines.items():
        if answers.keys() != most.keys():
            raise Failure(
                f"row {row} has answers to {len(answers)} questions, and others to {len(most)}: "
                "merge parts of one run"
            )

"""Tables, as text and as HTML for notebooks."""

from __future__ import annotations

import dataclasses
import enum
import html
from typing import Any, cast

from ._texts import printable
from ._types import Table


def aligned(table: Table) -> str:
    """A table as text with aligned columns."""
    cells = _cells(table)
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in cells
    )


def _cells(table: Table) -> list[list[str]]:
    heading = [name.replace("_", " ") for name in table[0]]
    return [heading, *([_cell(value) for value in line.values()] for line in table)]


def _cell(value: object) -> str:
    if isinstance(value, enum.Enum):
        return value.name.lower() if value.name else str(int(value.value))
    return f"{value:.5g}" if isinstance(value, float) else printable(str(value))


class HtmlTable:
    """The base of classes that notebooks show as a table: by default the fields of a dataclass."""

    def _table(self) -> Table:
        fields = dataclasses.fields(cast(Any, self))
        shown = [field.name for field in fields if field.repr]
        return [{"field": name, "value": getattr(self, name)} for name in shown]

    def _repr_html_(self) -> str:
        heading, *lines = (map(html.escape, line) for line in _cells(self._table()))
        rows = [f"<th>{'</th><th>'.join(heading)}</th>"]
        rows += [f"<td>{'</td><td>'.join(line)}</td>" for line in lines]
        return f"<table><tr>{'</tr><tr>'.join(rows)}</tr></table>"

"""Tables of certificates, and summaries of them."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import operator
from typing import Sequence

import numpy as np

from ..arguments import Names
from ..constants import __version__
from ..display import Line, Table
from ..library import with_column_names
from ..table import ADDED, Rows, mean_error
from .messages import in_options
from .streams import print_error, print_result


def certificate_table(
    rows: Rows, first: int, labels: np.ndarray | None, names: Names = None
) -> Table:
    """A line for each certificate of finished rows. `first` is the number of the first row in the
    file of inputs, and `names` are the names of features."""
    table = rows.to_dicts()
    if labels is not None:
        errors = rows.label_errors(labels)[rows.done].ravel()
        for line, error in zip(table, errors):
            line["label"], line["label_error"] = float(labels[line["row"]]), float(error)
    for line in table:
        line["row"] += first
        line["error"] = with_column_names(in_options(line["error"]), names)
        if "limiting_alternative" in line:
            for j, name in enumerate(names or ()):
                text = line["limiting_alternative"].replace(f"feature {j}=", f"{name}=")
                line["limiting_alternative"] = text
        last = [name for name in ("exact", "missing", *ADDED) if name in line]  # columns
        line.update({name: line.pop(name) for name in last})
    return table


def correct(line: Line) -> bool:
    """Returns True if the prediction is within the tolerance of the label."""
    return bool(line["label_error"] <= line["tolerance"])


def radius_summary(rows: Rows, labels: np.ndarray | None) -> Table:
    """The summary of radii, a line for each sigma and tolerance."""
    counts = ("rows", "certified", "abstained", "failed")
    names = ("sigma", "tolerance", *counts, "mean_radius", "median_radius")
    lines = [{name: summary[name] for name in names} for summary in rows.summary()]
    if labels is None:
        return lines
    # (finished rows, lines)
    errors = rows.label_errors(labels)[rows.done].reshape(-1, len(lines))
    useful = rows.useful_radii(labels)[rows.done].reshape(-1, len(lines))
    for k, line in enumerate(lines):
        line["mean_error"] = mean_error(errors[:, k])
        line["useful_radius"] = float(np.mean(useful[:, k]))
        line["certified_accuracy"] = float(np.mean(useful[:, k] > 0))
    return lines


def bounds_summary(rows: Rows, _: np.ndarray | None) -> Table:
    """The summary of output bounds, a line for each sigma and question."""
    names = ("sigma", "radius", "rows", "bounded", "failed", "median_width")
    return [{name: summary[name] for name in names} for summary in rows.summary()]


def as_csv(table: Table) -> str:
    """A table as CSV, numbers with all their digits."""
    return as_lines([list(table[0]), *(list(line.values()) for line in table)]) if table else ""


def as_lines(lines: Sequence[Sequence[object]]) -> str:
    """Lines as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def as_json(document: Line) -> str:
    """A document as JSON. Infinities and NaN are null."""
    return json.dumps(_plain(document), indent=1, allow_nan=False) + "\n"


def answer(given: argparse.Namespace, text: str, document: Line) -> None:
    """Prints a text, or with --json the document, to standard output; to standard error if the
    table goes there."""
    body = as_json({"certreg": __version__, **document}) if given.json else f"{text}\n"
    (print_error if getattr(given, "out", None) == "-" else print_result)(body)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def curves(table: Table, kind: str) -> Line:
    """The curves of a plot by their names in the legend: radii, or pairs of radii and an array that
    is True for correct predictions ("accuracy") or has the errors ("error")."""
    lines: dict[tuple[float, int], Table] = {}
    for line in table:
        lines.setdefault((line["sigma"], line["question"]), []).append(line)
    groups = {_name_of(some): some for some in lines.values()}
    radii: Line = {name: np.array([c["radius"] for c in some]) for name, some in groups.items()}
    if kind == "radii":
        return radii
    value = correct if kind == "accuracy" else operator.itemgetter("label_error")
    return {name: (radii[name], np.array([value(c) for c in groups[name]])) for name in groups}


def _name_of(lines: Table) -> str:
    """The name of a curve. Failed lines have no tolerance, and each row its own if it is a part of
    the prediction."""
    known = [line["tolerance"] for line in lines if not line["error"]]
    if len(set(known)) > 1:
        return f"sigma {lines[0]['sigma']:g}, question {lines[0]['question']}"
    return f"sigma {lines[0]['sigma']:g}, tolerance {(known or [math.nan])[0]:g}"

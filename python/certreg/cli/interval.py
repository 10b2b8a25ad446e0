"""The command interval."""

from __future__ import annotations

import argparse
import math

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Inputs, Model
from ..constants import PLAN_COUNT_FAILURES
from ..display import Line, ProgressLine, Table, aligned
from ..intervals import Calibrated, Interval
from ..models import as_model
from . import arguments, tables
from .commands import CommandInputs, destinations
from .denoise import denoised
from .failure import DONE, MODEL, RAISED, Failure, described
from .files import read_labels

_SHOWN = "lo hi width pieces failed samples radius alpha".split()  # of an interval


def run(given: argparse.Namespace) -> int:
    """Calibrates, prints a summary of the intervals, and writes them."""
    arguments.check_options(given)
    table, _ = destinations(given)
    work = CommandInputs(given)
    lines = _lines(work, _intervals(work))
    summary = [_summary(work, lines)]
    work.put(table, lines, lambda: {"summary": summary, "rows": lines})
    tables.answer(given, aligned(summary), {"summary": summary})
    return DONE


def _intervals(work: CommandInputs) -> list[Interval]:
    given = work.given
    X, names, count = work.read(given.calibration)
    X, truths = work.taken(X, names, given.calibration), read_labels(given.truths, count)
    outputs = work.outputs(X, 0)
    model = denoised(work, _Guarded(work.model.made()))
    with (
        work.failures(),
        Calibrated(
            model,
            X,
            truths,
            given.sigma,
            samples=given.samples,
            batch=given.batch,
            check=not given.no_check,
            seed=given.seed,
            scale=work.scale,
            output=given.output,
            flags=PLAN_COUNT_FAILURES if given.count_failures else 0,
            progress=None if given.quiet else ProgressLine(),
            **outputs,
        ) as calibrated,
    ):
        found: list[Interval] = calibrated.intervals(work.X, given.radius, given.alpha)
    return found


class _Guarded:
    """A model that raises Failure for its exceptions, to distinguish them from the library's."""

    def __init__(self, model: Model) -> None:
        self.model = as_model(model)

    def __call__(self, x: Inputs) -> ArrayLike:
        try:
            return self.model(x)
        except RAISED as error:
            raise Failure(f"the model failed: {described(error)}", MODEL) from error


def _lines(work: CommandInputs, found: list[Interval]) -> Table:
    """A line for each row."""
    lines: Table = []
    for i, interval in enumerate(found):
        line: Line = {"row": work.first + i}
        line.update({name: getattr(interval, name) for name in _SHOWN})
        line["pieces"] = len(interval.pieces)
        if work.labels is not None:
            label = float(work.labels[i])
            line["label"], line["covered"] = label, int(label in interval)
        lines.append(line)
    return lines


def _summary(work: CommandInputs, lines: Table) -> Line:
    widths = np.array([line["width"] for line in lines])
    finite = widths[np.isfinite(widths)]
    summary: Line = {
        "sigma": work.given.sigma,
        "radius": work.given.radius,
        "alpha": lines[0]["alpha"],
        "rows": len(lines),
        "empty": sum(not line["pieces"] for line in lines),
        "infinite": len(widths) - len(finite),
        "mean_width": float(finite.mean()) if len(finite) else math.inf,
        "median_width": float(np.median(widths)),
    }
    if work.labels is not None:
        summary["covered"] = float(np.mean([line["covered"] for line in lines]))
    return summary

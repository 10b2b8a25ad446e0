"""The command interval."""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from ..constants import PLAN_COUNT_FAILURES
from .._rules import Interval
from .._progress import ProgressLine
from ..intervals import Calibrated
from ..models import as_model
from .._tables import aligned
from . import arguments, tables
from .commands import Inputs, destinations
from .denoise import denoised
from .failure import DONE, MODEL, RAISED, Failure, described
from .files import read_labels

_SHOWN = "lo hi width pieces failed samples radius alpha".split()  # of an interval


def run(given: argparse.Namespace) -> int:
    """Calibrates, prints a summary of the intervals, and writes them."""
    arguments.check_options(given)
    table, _ = destinations(given)
    work = Inputs(given)
    lines = _lines(work, _intervals(work))
    summary = [_summary(work, lines)]
    work.put(table, lines, lambda: {"summary": summary, "rows": lines})
    tables.answer(given, aligned(summary), {"summary": summary})
    return DONE


def _intervals(work: Inputs) -> list[Interval]:
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
    """A model whose exceptions are told from those of the library."""

    def __init__(self, model: Any) -> None:
        self.model = as_model(model)

    def __call__(self, x: Any) -> Any:
        try:
            return self.model(x)
        except RAISED as error:
            raise Failure(f"the model failed: {described(error)}", MODEL) from error


def _lines(work: Inputs, found: list[Interval]) -> tables.Table:
    """A line for each row."""
    lines: tables.Table = []
    for i, interval in enumerate(found):
        line = {"row": work.first + i, **{name: getattr(interval, name) for name in _SHOWN}}
        line["pieces"] = len(interval.pieces)
        if work.labels is not None:
            label = float(work.labels[i])
            line["label"], line["covered"] = label, int(label in interval)
        lines.append(line)
    return lines


def _summary(work: Inputs, lines: tables.Table) -> dict[str, Any]:
    widths = np.array([line["width"] for line in lines])
    finite = widths[np.isfinite(widths)]
    summary = {
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

"""The commands attack and interval."""

from __future__ import annotations

import argparse
import math
import statistics

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Data, Model
from ..attacks import AttackResult
from ..constants import PLAN_COUNT_FAILURES, Status
from ..display import Line, Reporter, Table, aligned
from ..estimator import Estimator
from ..frames import rows_of
from ..intervals import Calibrated, Interval
from ..library import CertregError
from ..models import as_model
from ..questions import Question
from .files import read_labels
from .report import in_options
from .run import Work, questions, sampling
from .streams import DONE, INTERRUPTED, RAISED, Failure, answer, model_failed

_SHOWN = "lo hi width pieces failed samples radius alpha".split()  # of an interval


def attack(given: argparse.Namespace) -> int:
    """Attacks row by row. Prints a summary, and writes a table."""
    work = Work(given)
    question, *others = questions(given)
    if others:
        raise Failure("--tolerance has several numbers; an attack takes one")
    table: Table = []
    with _estimator(work) as estimator:
        _check(work, estimator, question)
        seed = estimator.info().seed
        interrupted = _attack_rows(work, estimator, question, table)
    summary = [_summary(given, table)] if table else []
    document = work.document(seed, len(table) == len(work.X), summary)
    work.write(document, table)
    if interrupted:
        raise Failure(f"interrupted; {len(table)} of {len(work.X)} rows are done", INTERRUPTED)
    answer(given, aligned(summary), document)
    return work.ended(table, "attacks")


def _estimator(work: Work) -> Estimator:
    given = work.given
    settings = sampling(given)
    work.function = work.denoised(work.model.made())
    with work.failures():
        return Estimator(
            work.function,
            work.inputs,
            given.samples,
            scale=work.scale,
            **work.outputs(work.X, work.first),
            **{name: settings[name] for name in ("batch", "seed", "pilot", "flags", "check")},
        )


def _check(work: Work, estimator: Estimator, question: Question) -> None:
    """Raises Failure for arguments that are wrong for every row, before the first is sampled. If
    only the record is missing, the attack is refused for its state."""
    given = work.given
    try:
        with work.failures():
            estimator.begin(next(rows_of(work.X)), given.sigma)
        estimator.attack(question, given.calls, alpha=given.alpha)
    except CertregError as error:
        if error.status != Status.WRONG_STATE:
            raise Failure(in_options(error)) from error


def _attack_rows(work: Work, estimator: Estimator, question: Question, table: Table) -> bool:
    """Adds a line for each row to the table. Returns True after an interruption."""
    given, reporter = work.given, Reporter(not work.given.quiet, 0, len(work.X))
    for index, z in enumerate(rows_of(work.X)):
        row = work.first + index
        found, why = None, ""
        try:
            estimator.begin(z, given.sigma, row)
            estimator.certify(given.samples, question)
            found = estimator.attack(question, given.calls, alpha=given.alpha)
        except CertregError as error:
            why = in_options(error, work.features.names)
        except KeyboardInterrupt:
            return True
        except RAISED as error:
            raise model_failed(error, f" in row {row}") from error
        table.append(_line(row, given, found, why))
        reporter.advance(1)
    return False


def _line(row: int, given: argparse.Namespace, found: AttackResult | None, why: str) -> Line:
    asked = given.tolerance[0]
    if isinstance(asked, str):  # such as "10%": the attack resolved it
        asked = getattr(found, "tolerance", math.nan)
    line: Line = {"row": row, "sigma": given.sigma, "tolerance": asked}
    for name in ("prediction", "certified_radius", "radius", "forecast", "cosine"):
        line[name if name != "radius" else "broken"] = getattr(found, name, math.nan)
    line["side"] = getattr(getattr(found, "side", None), "name", "").lower()
    line["calls"] = getattr(found, "calls", 0)
    line["error"] = why
    return line


def _summary(given: argparse.Namespace, table: Table) -> Line:
    """The medians are over certified rows; a row that is not broken counts as infinite."""
    certified = [line for line in table if line["certified_radius"] > 0]

    def median(values: list[float]) -> float:
        return statistics.median(values) if values else math.nan

    return {
        "sigma": given.sigma,
        "tolerance": given.tolerance[0],
        "rows": len(table),
        "certified": len(certified),
        "broken": sum(math.isfinite(line["broken"]) for line in table),
        "failed": sum(bool(line["error"]) for line in table),
        "median_certified": median([line["certified_radius"] for line in certified]),
        "median_broken": median([line["broken"] for line in certified]),
        "median_ratio": median([line["broken"] / line["certified_radius"] for line in certified]),
    }


def interval(given: argparse.Namespace) -> int:
    """Calibrates, prints a summary of the intervals, and writes them."""
    work = Work(given)
    lines = _interval_lines(work, _intervals(work))
    summary = [_interval_summary(work, lines)]
    work.put(lines, {"summary": summary, "rows": lines})
    answer(given, aligned(summary), {"summary": summary})
    return DONE


def _intervals(work: Work) -> list[Interval]:
    given = work.given
    X, names, count = work.read(given.calibration)
    X, truths = work.taken(X, names, given.calibration), read_labels(given.truths, count)
    outputs = work.outputs(X, 0)
    model = work.denoised(_Guarded(work.model.made()))
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
            inputs=work.inputs,
            output=given.output,
            flags=PLAN_COUNT_FAILURES if given.count_failures else 0,
            progress=not given.quiet,
            **outputs,
        ) as calibrated,
    ):
        found: list[Interval] = calibrated.intervals(work.X, given.radius, given.alpha)
    return found


class _Guarded:
    """A model that raises Failure for its exceptions, to distinguish them from the library's."""

    def __init__(self, model: Model) -> None:
        self.model = as_model(model)

    def __call__(self, x: Data) -> ArrayLike:
        try:
            return self.model(x)
        except RAISED as error:
            raise model_failed(error) from error


def _interval_lines(work: Work, found: list[Interval]) -> Table:
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


def _interval_summary(work: Work, lines: Table) -> Line:
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

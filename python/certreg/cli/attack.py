"""The command attack."""

from __future__ import annotations

import argparse
import math
import statistics

from ..attacks import AttackResult
from ..constants import Status
from ..display import Line, Reporter, Table, aligned
from ..estimator import Estimator
from ..frames import is_frame, rows_of
from ..library import CertregError, with_column_names
from ..questions import Question
from . import arguments, tables
from .commands import Work
from .denoise import denoised
from .failure import INTERRUPTED, MODEL, RAISED, Failure, described
from .messages import in_options


def attack(given: argparse.Namespace) -> int:
    """Attacks row by row. Prints a summary, and writes a table."""
    work = Work(given)
    questions = arguments.questions(given)
    if len(questions) != 1:
        raise Failure("--tolerance has several numbers; an attack takes one")
    table: Table = []
    with _estimator(work) as estimator:
        _check(work, estimator, questions[0])
        seed = estimator.info().seed
        interrupted = _attack_rows(work, estimator, questions[0], table)
    summary = [_summary(given, table)] if table else []
    document = work.document(seed, len(table) == len(work.X), summary)
    work.write(document, table)
    if interrupted:
        raise Failure(f"interrupted; {len(table)} of {len(work.X)} rows are done", INTERRUPTED)
    tables.answer(given, aligned(summary), document)
    return work.ended(table, "attacks failed")


def _estimator(work: Work) -> Estimator:
    given = work.given
    plan = arguments.plan(given)
    work.function = denoised(work, work.model.made())
    with work.failures():
        return Estimator(
            work.function,
            work.X if is_frame(work.X) else work.X.shape[1:],
            given.samples,
            scale=work.scale,
            **work.outputs(work.X, work.first),
            **{name: plan[name] for name in ("batch", "seed", "pilot", "flags", "check")},
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
            why = with_column_names(in_options(error), work.features.names)
        except KeyboardInterrupt:
            return True
        except RAISED as error:
            raise Failure(f"the model failed in row {row}: {described(error)}", MODEL) from error
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

"""The commands certify, sigma and bounds. They call certify_rows in the same way, and differ in
what they print."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import warnings
from typing import Any, Callable, Iterator, Optional

import numpy as np

from ..constants import __version__
from ..comparison import compare_denoised
from ..denoised import digest_of
from ..errors import CertregError, ResumeError, RowsError
from ..names import Names
from ..rows import certify_rows
from .._tables import aligned
from . import asked, tables
from .denoise import denoised, examples, is_saved
from .failure import DONE, FILE, FOUND, INTERRUPTED, MODEL, Failure, described, one_line
from .features import Features
from .files import ALL, Destination, pandas_for, read_labels, read_rows, read_scale
from .loading import Model
from .said import in_options
from .seeds import seed_in
from .streams import aside, complain, say
from .units import changes_of, tell_units

_NOT_IN_PLAN = set(
    "version seed seed_file keep_seed out plot plot_kind quiet traceback jobs on_crash resume "
    "keep_records keep_denoiser units index_given".split()
)


def _of_the_model(error: BaseException) -> str:
    """Why a RowsError was raised, as part of a sentence."""
    cause = error.__cause__ or error
    if isinstance(cause, CertregError):
        return one_line(in_options(cause))
    return in_options(described(cause)) if cause is error else described(cause)


class Inputs:
    """The model, inputs, labels and scale of a command."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        rows = given.rows or ALL
        self.first = rows[0]
        X, names, count = read_rows(given.inputs, given.array, rows)
        self.labels: Optional[np.ndarray] = None
        if given.labels:
            self.labels = read_labels(given.labels, count, rows)
        self.model = Model(given)
        self.features = Features(given.model, self.model.names(names), self.remark)
        self.X = self.taken(X, names, given.inputs)
        self.scale: Optional[np.ndarray] = None
        if given.scale:
            self.scale = read_scale(given.scale, self.X.shape[1:], self.features)
        if given.seed_file:
            given.seed = seed_in(given.seed_file)

    def taken(self, X: np.ndarray, names: Names, path: str) -> np.ndarray:
        """The inputs of a file as the model takes them."""
        return self.model.fitted(self.features.ordered(X, names, path), path)

    def outputs(self, X: np.ndarray, first: int) -> dict[str, Any]:
        """Number, kinds and limits of the model's outputs, after a remark if most of them are left
        out and nobody asked for that. Calls the model with the first row, whose number is
        `first`."""
        columns = self.model.columns(X, first)
        arguments = asked.outputs(self.given, columns)
        said = asked.left_out(self.given, columns)
        if said:
            self.remark(said)
        return arguments

    @contextlib.contextmanager
    def failures(self, saved: Callable[[Any], str] = lambda rows: "") -> Iterator[None]:
        """Makes a Failure of what the package raises. `saved` ends the sentence, for the rows that
        are done."""
        try:
            yield
        except RowsError as error:
            where = f" in row {self.first + error.row}" if error.row >= 0 else ""
            why = f"the model failed{where}: {_of_the_model(error)}{saved(error.rows)}"
            raise Failure(why, MODEL) from error
        except KeyboardInterrupt as error:
            said = saved(getattr(error, "rows", None))
            raise Failure(f"interrupted{said}", INTERRUPTED) from error
        except ResumeError as error:
            raise Failure(error, FILE) from error
        except (CertregError, ValueError, TypeError) as error:
            raise Failure(in_options(error)) from error

    def put(self, file: Optional[Destination], table: tables.Table, document: Any) -> None:
        """Writes a table to the file of -o, or to standard output for -. `document()` is what a
        .json file contains."""
        if file is None:
            if self.given.out:
                say(tables.as_csv(table))
        elif file.suffix == ".json":
            file.write_text(tables.as_json(document()))
        elif file.suffix == ".csv":
            file.write_text(tables.as_csv(table))
        else:
            frame = pandas_for(file.name).DataFrame(table)
            file.write(lambda path: frame.to_parquet(path, index=False))

    def tell(self, text: str) -> None:
        """Prints a text to standard output; to standard error if the table goes there."""
        (aside if self.given.out == "-" else say)(text + "\n")

    def ended(self, table: tables.Table, what: str) -> int:
        """The exit status, after a remark on the lines that have an error."""
        failed = [line for line in table if line["error"]]
        if not failed:
            return DONE
        first = f"the first in row {failed[0]['row']}: {failed[0]['error']}"
        self.remark(f"{len(failed)} {what}, {first}")
        return FOUND

    def remark(self, sentence: str) -> None:
        """Prints a sentence to standard error, unless --quiet is given."""
        if not self.given.quiet:
            complain(sentence)


class Work(Inputs):
    """One run of a command, from its options to its results."""

    def __init__(self, given: argparse.Namespace) -> None:
        asked.check_options(given)
        self.table, self.plot = destinations(given)
        super().__init__(given)
        self.function = self.model.function

    def done(self) -> Any:
        """The certificates. After an error or an interruption the rows that are done are written
        before Failure is raised."""
        given = self.given
        arguments = {
            **self.outputs(self.X, self.first),
            **asked.plan(given),
            "scale": self.scale,
            "model_id": given.model_id or self.model.identity,
        }
        self.function = denoised(self, self.function)
        with self.failures(self.saved), warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* made the denoiser")  # a remark has said it
            return certify_rows(
                self.function, self.X, given.sigma, asked.questions(given), **arguments
            )

    def saved(self, rows: Any) -> str:
        """Writes the rows that are done. Returns how many they are, where they are, and how to
        continue, as the end of a sentence."""
        done = 0 if rows is None else int(rows.done.sum())
        if done:
            self.write(rows, tables.full(rows, self.first, self.labels), [])
        files = (self.given.out if self.table else None, self.given.resume)
        kept = [name for name in files if name and done]
        where = f" and in {' and '.join(kept)}" if kept else ""
        go_on = (
            "repeat the command to do the rest"
            if self.given.resume
            else "with --resume FILE a run can be continued"
        )
        return f"; {done} of {len(self.X)} rows are done{where}; {go_on}"

    def write(self, rows: Any, table: tables.Table, summary: tables.Table) -> None:
        """Writes the files of -o and --plot."""
        self.put(self.table, table, lambda: self.document(rows, table, summary))
        if self.plot is not None:
            _draw(self.plot, self.given.plot_kind, table)

    def document(self, rows: Any, table: tables.Table, summary: tables.Table) -> dict[str, Any]:
        """The contents of a .json file: the plan, the summary and all rows."""
        plan = {n: v for n, v in vars(self.given).items() if n not in _NOT_IN_PLAN}
        plan["model_sha256"] = self.model.digest
        if self.model.settings:
            plan["model_settings"] = self.model.settings
        if digest_of(self.function):
            plan["denoiser"] = digest_of(self.function)
        if self.given.keep_seed:
            plan["seed"] = str(rows.seed)
        complete = bool(rows.done.all())
        said = {"certreg": __version__, "complete": complete, "plan": plan}
        return {**said, "summary": summary, "rows": table}


def run(given: argparse.Namespace) -> int:
    """The commands certify, sigma and bounds."""
    if given.command == "sigma" and given.denoise:
        return _compare(given)
    work = Work(given)
    changes = changes_of(work)
    rows = work.done()
    table = tables.full(rows, work.first, work.labels)
    shortened = tables.short_of_radii if given.radius is None else tables.short_of_bounds
    summary = shortened(rows, work.labels)
    work.write(rows, table, summary)
    work.tell(aligned(summary))
    if given.command == "sigma":
        work.tell(_recommendation(rows, work.labels))
    elif given.radius is None and not given.target:
        _tell_abstained(work, summary)
    if changes:
        tell_units(work, changes, rows)
    return work.ended(table, "certificates are missing")


def _compare(given: argparse.Namespace) -> int:
    """The command sigma with --denoise: the levels with and without a denoiser."""
    if is_saved(given.denoise):
        raise Failure(f"{given.denoise} is a denoiser for one sigma: give the examples")
    others = (given.resume, given.plot, given.target, given.units)
    if any(others) or len(given.tolerance) > 1:
        raise Failure(
            "--denoise takes one --tolerance, and no --resume, --plot, --target or --units"
        )
    work = Work(given)
    with work.failures():
        found = compare_denoised(
            work.function,
            work.X,
            asked.questions(given)[0],
            given.sigma,
            examples=examples(work),
            labels=work.labels,
            scale=work.scale,
            **work.outputs(work.X, work.first),
            **asked.sampling(given),
        )
    lines = found.table()
    work.put(work.table, lines, lambda: {"helps": found.helps, "rows": lines})
    work.tell(str(found))
    return DONE


def _tell_abstained(work: Work, summary: tables.Table) -> None:
    """What helps, for each tolerance at which no row is certified although the model works."""
    for line in summary:
        if line["abstained"] and not line["certified"]:
            work.remark(
                f"nothing is certified at tolerance {line['tolerance']:g}: try a larger tolerance, "
                "a smaller --sigma or more --samples"
            )


def _recommendation(rows: Any, labels: Optional[np.ndarray]) -> str:
    """Which sigma to deploy, for each tolerance."""
    try:
        chosen = [rows.choose_sigma(q, labels=labels) for q in range(len(rows.questions))]
    except ValueError as error:
        return f"No sigma is recommended, since {error}."
    accurate = " among the sigmas whose mean error is at most 0.1 tolerances above the least"
    said = []
    for question, (level, means, left_out) in zip(rows.questions, chosen):
        if means[level] > 0:
            line = (
                f"Deploy sigma {rows.sigmas[level]:g} for tolerance {question.tolerance:g}. Its "
                f"mean radius, {means[level]:.5g}, is the greatest"
                f"{'' if labels is None else accurate}.{_at_the_edge(rows.sigmas, level)}"
            )
        else:
            line = (
                f"No sigma certifies anything at tolerance {question.tolerance:g}: try a larger "
                "tolerance, smaller sigmas or more samples."
            )
        said.append(line + _left_out(left_out))
    return "\n".join(said)


def _left_out(rows: int) -> str:
    if not rows:
        return ""
    return f" Rows that failed at some sigma are left out at all of them: {rows}."


def _at_the_edge(sigmas: Any, level: int) -> str:
    chosen, others = sigmas[level], [s for s in sigmas if s != sigmas[level]]
    if others and chosen > max(others):
        return " Try larger ones too."
    return " Try smaller ones too." if others and chosen < min(others) else ""


def destinations(given: argparse.Namespace) -> Any:
    """The files of -o and --plot; None where there is none."""
    table = plot = None
    if given.out and given.out != "-":
        table = Destination(given.out, (".csv", ".json", ".parquet"))
    if given.plot:
        plot = Destination(given.plot, (".svg", ".pdf", ".png"))
        try:
            importlib.import_module("matplotlib")
        except ImportError as error:
            raise Failure(f"--plot needs the package matplotlib: {error}") from None
    return table, plot


def _draw(destination: Destination, kind: str, table: tables.Table) -> None:
    from .. import plots

    draw = plots.plot_accuracy if kind == "accuracy" else plots.plot_radii
    shown = tables.curves(table, kind == "accuracy")
    destination.write(lambda path: draw(shown, path=path))

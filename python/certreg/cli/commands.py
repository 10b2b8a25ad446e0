"""The commands certify, sigma and bounds. They call certify_rows in the same way, and differ in
what they print."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import warnings
from typing import Any, Callable, Iterator, Optional, Tuple

import numpy as np

from ..constants import Status, __version__
from ..comparison import compare_denoised
from ..denoised import digest_of
from .._messages import with_column_names
from ..errors import CertregError, ModelWarning, ResumeError, RowsError
from ..frames import SPREADS
from ..names import Names
from ..rows import certify_rows
from .._tables import aligned
from . import arguments, noise, tables
from .denoise import denoised, examples, is_saved
from .failure import DONE, FILE, FOUND, INTERRUPTED, MODEL, Failure, Mixed, described, one_line
from .features import Features
from .files import ALL, Destination, pandas_for, read_frame, read_labels, read_rows, read_scale
from .loading import Model, is_python_name
from .messages import in_options
from .seeds import seed_in
from .streams import complain, say
from .units import perturbations_of, units_of

_SAID = ".* made the denoiser|all rows failed|.* if they mark something|the model has no names"
_NOT_IN_PLAN = set(
    "version seed seed_file keep_seed out plot plot_kind quiet traceback jobs on_crash resume "
    "keep_records keep_denoiser no_check units index_given json".split()
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
        X, names, count = self.read(given.inputs, given.array, rows)
        self.labels: Optional[np.ndarray] = None
        if given.labels:
            self.labels = read_labels(given.labels, count, rows)
        for said in self.model.remarks:
            self.remark(said)
        self.features = Features(given.model, self.model.names(names), self.remark)
        self.X = self.taken(X, names, given.inputs)
        self.scale: Optional[np.ndarray] = None
        if given.scale:
            self.scale = read_scale(given.scale, self.X.shape[1:], self.features, self.reference)
        noise.tell(self, names is not None)
        if given.seed_file:
            given.seed = seed_in(given.seed_file)

    @functools.cached_property
    def model(self) -> Model:
        """The model, which is opened when it is needed first."""
        return Model(self.given)

    def read(self, path: str, name: Optional[str] = None, rows: Any = ALL) -> Any:
        """The inputs of a file; see read_rows. A model in Python may take DataFrames. One with an
        input for each column gets them where columns have names, so that whole numbers are
        exact."""
        try:
            found = read_rows(path, name, rows)
            if found[1] is None or not self._by_columns():
                return found
            self.mixed = f"{self.given.model} has an input for each column"
        except Mixed as why:
            if not (is_python_name(self.given.model) or self._by_columns()):
                raise
            self.mixed = str(why)
        return read_frame(path, rows)

    def _by_columns(self) -> bool:
        return self.given.model.lower().endswith(".onnx") and self.model.by_columns

    def reference(self, path: str) -> Any:
        """All inputs of a file, by default of the command's, whose spread is the scale."""
        given, name = self.given, None if path else self.given.array
        path = path or given.inputs
        known = arguments.files([given.calibration, given.calibration and given.inputs])
        if arguments.files([path]) & known:
            raise Failure(
                "--scale needs a file of other inputs, like std:FILE: a scale from calibration "
                "points or the inputs would break the promise"
            )
        X, names, _ = self.read(path, name)
        return self.taken(X, names, path)

    def taken(self, X: Any, names: Names, path: str) -> Any:
        """The inputs of a file as the model takes them."""
        return self.model.fitted(self.features.ordered(X, names, path), path)

    def outputs(self, X: Any, first: int) -> dict[str, Any]:
        """Number, kinds and limits of the model's outputs, after a remark if most of them are left
        out and nobody asked for that. Calls the model with the first row, whose number is
        `first`."""
        columns = self.model.columns(X, first)
        found = arguments.outputs(self.given, columns)
        said = arguments.left_out(self.given, columns)
        if said:
            self.remark(said)
        return found

    @contextlib.contextmanager
    def failures(self, saved: Callable[[Any], str] = lambda rows: "") -> Iterator[None]:
        """Makes a Failure of what the package raises, and a remark of a ModelWarning; other
        warnings of the package are said by remarks already. `saved` ends the sentence, for the rows
        that are done."""
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", _SAID)
                shown = warnings.showwarning
                warnings.showwarning = lambda text, kind, *where: (
                    self.remark(str(text)) if kind is ModelWarning else shown(text, kind, *where)
                )
                yield
        except RowsError as error:
            where = f" in row {self.first + error.row}" if error.row >= 0 else ""
            why = f"the model failed{where}: {_of_the_model(error)}{saved(error.rows)}"
            raise Failure(why, MODEL) from error
        except KeyboardInterrupt as error:
            said = saved(getattr(error, "rows", None))
            raise Failure(f"interrupted{said}", INTERRUPTED) from error
        except ResumeError as error:
            done = error.rows is not None and error.rows.done.any()
            raise Failure(f"{error}{saved(error.rows) if done else ''}", FILE) from error
        except (CertregError, ImportError, ValueError, TypeError) as error:
            said = with_column_names(in_options(error), self.features.names)
            if getattr(error, "status", None) == Status.MODEL_FAILED:  # by a check of the model
                raise Failure(f"the model failed: {said}", MODEL) from error
            raise Failure(said) from error

    def put(self, file: Optional[Destination], table: tables.Table, document: Any) -> None:
        """Writes a table to the file of -o, or to standard output for -. `document()` is what a
        .json file contains."""
        if file is None:
            if self.given.out:
                say(tables.as_csv(table))
        elif file.suffix == ".json":
            made = document()
            secret = "seed" in made.get("plan", {})  # of --keep-seed
            file.write_text(tables.as_json(made), secret=secret)
        elif file.suffix == ".csv":
            file.write_text(tables.as_csv(table))
        else:
            frame = pandas_for(file.name).DataFrame(table)
            file.write_bytes(frame.to_parquet(index=False))

    def ended(self, table: tables.Table, what: str) -> int:
        """The exit status, after a remark on the lines that have an error."""
        failed = [line for line in table if line["error"]]
        if not failed:
            return DONE
        first = f"the first in row {failed[0]['row']}: {failed[0]['error']}"
        if failed == table and failed[0].get("status") == "invalid" and not self.given.scale:
            first += "; --scale std puts --sigma in units of each feature"
        self.remark(f"{len(failed)} {what}, {first}")
        return FOUND

    def remark(self, sentence: str) -> None:
        """Prints a sentence to standard error, unless --quiet is given."""
        if not self.given.quiet:
            complain(sentence)


class Work(Inputs):
    """One run of a command, from its options to its results."""

    def __init__(self, given: argparse.Namespace) -> None:
        arguments.check_options(given)
        self.table, self.plot = destinations(given)
        super().__init__(given)
        self.function = self.model.function

    def done(self) -> Any:
        """The certificates. After an error or an interruption the rows that are done are written
        before Failure is raised."""
        given = self.given
        options = {
            **self.outputs(self.X, self.first),
            **arguments.plan(given),
            "scale": self.scale,
            "model_id": given.model_id or self.model.identity,
        }
        self.function = denoised(self, self.function)
        with self.failures(self.saved):
            return certify_rows(
                self.function, self.X, given.sigma, arguments.questions(given), **options
            )

    def saved(self, rows: Any) -> str:
        """Writes the rows that are done. Returns how many they are, where they are, and how to
        continue, as the end of a sentence."""
        done = 0 if rows is None else int(rows.done.sum())
        if done:
            table = tables.full(rows, self.first, self.labels, self.features.names)
            self.write(self.document(rows, []), table)
        files = (self.given.out if self.table else None, self.given.resume)
        kept = [name for name in files if name and done]
        where = f" and in {' and '.join(kept)}" if kept else ""
        go_on = (
            "repeat the command to do the rest"
            if self.given.resume
            else "with --resume FILE a run can be continued"
        )
        return f"; {done} of {len(self.X)} rows are done{where}; {go_on}"

    def write(self, document: dict[str, Any], table: tables.Table) -> None:
        """Writes the files of -o and --plot."""
        self.put(self.table, table, lambda: {**document, "rows": table})
        if self.plot is not None:
            _draw(self.plot, self.given.plot_kind, table)

    def document(self, rows: Any, summary: tables.Table) -> dict[str, Any]:
        """The contents of a .json file without the rows: the plan and the summary."""
        plan = {n: v for n, v in vars(self.given).items() if n not in _NOT_IN_PLAN}
        plan["model_sha256"] = self.model.digest
        if self.model.settings:
            plan["model_settings"] = self.model.settings
        if digest_of(self.function):
            plan["denoiser"] = digest_of(self.function)
        if str(self.given.scale).partition(":")[0] in SPREADS:
            plan["scale"] = self.scale
        if self.given.keep_seed:
            plan["seed"] = str(rows.seed)
        complete = bool(rows.done.all())
        return {"certreg": __version__, "complete": complete, "plan": plan, "summary": summary}


def run(given: argparse.Namespace) -> int:
    """The commands certify, sigma and bounds."""
    if given.command == "sigma" and given.denoise:
        return _compare(given)
    work = Work(given)
    changes = perturbations_of(work)
    rows = work.done()
    table = tables.full(rows, work.first, work.labels, work.features.names)
    shortened = tables.short_of_radii if given.radius is None else tables.short_of_bounds
    summary, said = shortened(rows, work.labels), []
    chosen: tables.Table = []
    units: tables.Table = []
    levels = [list(range(len(rows.sigmas)))] * len(rows.questions)
    if given.command == "sigma":
        chosen, advice = _chosen(rows, work.labels)
        levels = [[rows.sigmas.index(line["sigma"])] if line["sigma"] else [] for line in chosen]
        said.append(advice)
    document = {**work.document(rows, summary), **({"chosen": chosen} if chosen else {})}
    work.write(document, table)
    for title, comparison in units_of(rows, levels, changes) if changes else ():
        units.append({"about": title, "lines": comparison.lines, "notes": comparison.notes})
        said.append(f"{title}\n{in_options(comparison)}")
    document.update({"units": units} if changes else {})
    tables.answer(given, "\n".join([aligned(summary), *said]), document)
    if given.command != "sigma" and given.radius is None and not given.target:
        _tell_abstained(work, summary)
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
            arguments.questions(given)[0],
            given.sigma,
            examples=examples(work),
            labels=work.labels,
            scale=work.scale,
            **work.outputs(work.X, work.first),
            **arguments.sampling(given),
        )
    lines = list(found.lines)
    document = {"helps": found.helps, "sigma": found.sigma, "gain": found.gain, "rows": lines}
    work.put(work.table, lines, lambda: document)
    tables.answer(given, str(found), document)
    return DONE


def _tell_abstained(work: Work, summary: tables.Table) -> None:
    """What helps, for each tolerance at which no row is certified although the model works."""
    for line in summary:
        if line["abstained"] and not line["certified"]:
            work.remark(
                f"nothing is certified at tolerance {line['tolerance']:g}: try a larger tolerance, "
                "a smaller --sigma or more --samples"
            )


def _chosen(rows: Any, labels: Optional[np.ndarray]) -> Tuple[tables.Table, str]:
    """Which sigma to deploy, a line for each tolerance, with None where nothing is certified; no
    line if every row failed. And the same in sentences."""
    try:
        found = [rows.choose_sigma(q, labels=labels) for q in range(len(rows.questions))]
    except ValueError as error:
        return [], f"No sigma is recommended, since {error}."
    accurate = " among the sigmas whose mean error is at most 0.1 tolerances above the least"
    lines, said = [], []
    for question, (level, means, left_out) in zip(rows.questions, found):
        sigma, tolerance = rows.sigmas[level] if means[level] > 0 else None, question.tolerance
        lines.append(
            dict(tolerance=tolerance, sigma=sigma, mean_radius=means[level], left_out=left_out)
        )
        text = (
            f"No sigma certifies anything at tolerance {tolerance:g}: try a larger "
            "tolerance, smaller sigmas or more samples."
        )
        if sigma is not None:
            text = (
                f"Deploy sigma {sigma:g} for tolerance {tolerance:g}. Its "
                f"mean radius, {means[level]:.5g}, is the greatest"
                f"{'' if labels is None else accurate}.{_at_the_edge(rows.sigmas, sigma)}"
            )
        said.append(text + _left_out(left_out))
    return lines, "\n".join(said)


def _left_out(rows: int) -> str:
    if not rows:
        return ""
    return f" Rows that failed at some sigma are left out at all of them: {rows}."


def _at_the_edge(sigmas: Any, chosen: float) -> str:
    others = [s for s in sigmas if s != chosen]
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

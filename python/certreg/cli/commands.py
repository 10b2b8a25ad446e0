"""The commands certify, sigma and bounds. They call certify_rows in the same way, and print
different summaries."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import warnings
from typing import Callable, Iterator, Sequence

import numpy as np

from ..arguments import Frame, Names
from ..boxes import radius_of_box
from ..constants import Status, __version__
from ..denoise import digest_of
from ..display import Line, Table, aligned, printable
from ..frames import number_columns
from ..library import CertregError, ModelWarning, with_column_names
from ..questions import stated_tolerance, tolerance_text
from ..rows import certify_rows, grouped
from ..table import TOO_LITTLE, ResumeError, Rows, RowsError
from ..tuning import compare_denoised
from . import arguments, noise, tables
from .alternatives import alternatives_of
from .arguments import Options
from .denoise import denoised, examples, is_saved
from .failure import DONE, FILE, FOUND, INTERRUPTED, MODEL, SHORT, Failure, Mixed, described
from .failure import one_line
from .features import Features
from .files import ALL, Destination, RowRange, pandas_for, read_box, read_frame, read_labels
from .files import read_rows, read_scale
from .loading import Model, is_python_name
from .messages import in_options
from .seeds import seed_in
from .streams import print_result, warn
from .units import perturbations_of, units_of

_REPEATED = "|".join(  # warnings with the same texts as remarks
    [
        ".* made the denoiser",
        "all rows failed",
        ".* if these are codes",
        ".*: they get no noise",
        "the model has no names",
    ]
)
_NOT_IN_PLAN = set(
    "version seed seed_file keep_seed out plot plot_kind quiet traceback jobs on_crash resume "
    "keep_records keep_denoiser no_check units index_given json require".split()
)


def _of_the_model(error: BaseException) -> str:
    """The reason of a RowsError, as part of a message."""
    cause = error.__cause__ or error
    if isinstance(cause, CertregError):
        return one_line(in_options(cause))
    return in_options(described(cause)) if cause is error else described(cause)


class CommandInputs:
    """The model, inputs, labels and scale of a command."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        rows = given.rows or ALL
        self.first = rows[0]
        X, names, count = self.read(given.inputs, given.array, rows)
        self.labels: np.ndarray | None = None
        if given.labels:
            self.labels = read_labels(given.labels, count, rows)
        for text in self.model.remarks:
            self.remark(text)
        self.features = Features(given.model, self.model.names(names), self.remark)
        self.X = self.taken(X, names, given.inputs)
        self.scale: np.ndarray | None = None
        if given.scale:
            self.scale = read_scale(given.scale, self.X.shape[1:], self.features, self.reference)
        self.box: np.ndarray | None = None
        if given.box:
            self.box = read_box(given.box, self.X.shape[1:], self.features)
            self.scale = self.box if self.scale is None else self.scale
        noise.decide_noise(self, names is not None)
        if given.seed_file:
            given.seed = seed_in(given.seed_file)

    @functools.cached_property
    def model(self) -> Model:
        """The model, which is opened on demand."""
        return Model(self.given)

    def read(
        self, path: str, name: str | None = None, rows: RowRange = ALL
    ) -> tuple[Frame, Names, int]:
        """The inputs of a file; see read_rows. A model in Python may take DataFrames. A model with
        an input for each column gets a DataFrame if columns have names, so that whole numbers are
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
        table = read_frame(path, rows)
        if not number_columns(table[0]).any():  # a scale would be 0, or refused without the cell
            raise Failure(f"{self.mixed}, and no column holds numbers to get noise: repair it")
        return table

    def _by_columns(self) -> bool:
        return self.given.model.lower().endswith(".onnx") and self.model.by_columns

    def reference(self, path: str) -> Frame:
        """All inputs of a file, by default of the command's file, for a scale from their spread."""
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

    def taken(self, X: Frame, names: Names, path: str) -> Frame:
        """The inputs of a file as the model takes them."""
        return self.model.fitted(self.features.ordered(X, names, path), path)

    def outputs(self, X: Frame, first: int) -> Options:
        """Number, kinds and limits of the model's outputs, after a remark on columns that are not
        used. Calls the model with the first row, which has the number `first`."""
        columns = self.model.columns(X, first)
        found = arguments.outputs(self.given, columns)
        text = arguments.left_out(self.given, columns)
        if text:
            self.remark(text)
        return found

    @contextlib.contextmanager
    def failures(self, saved: Callable[[Rows | None], str] = lambda rows: "") -> Iterator[None]:
        """Turns exceptions of the package into a Failure, and a ModelWarning into a remark. Other
        warnings of the package repeat remarks, and are ignored. `saved` returns the end of the
        message, about finished rows."""
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", _REPEATED)
                show = warnings.showwarning
                warnings.showwarning = lambda text, kind, *place: (
                    self.remark(str(text))
                    if kind is ModelWarning
                    else show(printable(str(text)), kind, *place)
                )
                yield
        except RowsError as error:
            place = f" in row {self.first + error.row}" if error.row >= 0 else ""
            why = f"the model failed{place}: {_of_the_model(error)}{saved(error.rows)}"
            raise Failure(why, MODEL) from error
        except KeyboardInterrupt as error:
            end = saved(getattr(error, "rows", None))
            raise Failure(f"interrupted{end}", INTERRUPTED) from error
        except ResumeError as error:
            done = error.rows is not None and error.rows.done.any()
            raise Failure(f"{error}{saved(error.rows) if done else ''}", FILE) from error
        except (CertregError, ImportError, ValueError, TypeError) as error:
            text = with_column_names(in_options(error), self.features.names)
            if getattr(error, "status", None) == Status.MODEL_FAILED:  # by a check of the model
                raise Failure(f"the model failed: {text}", MODEL) from error
            raise Failure(text) from error

    def put(self, file: Destination | None, table: Table, document: Callable[[], Line]) -> None:
        """Writes a table to the file of -o, or to standard output for -. `document()` returns the
        contents of a .json file."""
        if file is None:
            if self.given.out:
                print_result(tables.as_csv(table), data=True)
        elif file.suffix == ".json":
            made = document()
            secret = "seed" in made.get("plan", {})  # of --keep-seed
            file.write_text(tables.as_json(made), secret=secret)
        elif file.suffix == ".csv":
            file.write_text(tables.as_csv(table))
        else:
            frame = pandas_for(file.name).DataFrame(table)
            file.write_bytes(frame.to_parquet(index=False))

    def ended(self, table: Table, what: str) -> int:
        """The exit status, after a remark on lines with an error."""
        failed = [line for line in table if line["error"]]
        if not failed:
            return DONE
        first = f"the first in row {failed[0]['row']}: {failed[0]['error']}"
        everything = failed == table and failed[0].get("status") == "invalid"
        if not self.given.scale and (everything or TOO_LITTLE in failed[0]["error"]):
            first += "; --scale std puts --sigma in units of each feature"
        self.remark(f"{len(failed)} {what}, {first}")
        return FOUND

    def remark(self, text: str) -> None:
        """Prints a text to standard error, unless --quiet is given."""
        if not self.given.quiet:
            warn(text)


class Work(CommandInputs):
    """One run of a command, from its options to its results."""

    def __init__(self, given: argparse.Namespace) -> None:
        arguments.check_options(given)
        self.table, self.plot = destinations(given)
        super().__init__(given)
        self.function: object = self.model.function
        if self.box is not None:
            with self.failures():
                given.radius, _ = radius_of_box(self.X, self.box, self.scale)

    def done(self) -> Rows:
        """The certificates. After an error or an interruption finished rows are written before
        Failure is raised."""
        given = self.given
        options = {
            **self.outputs(self.X, self.first),
            **arguments.plan(given),
            "scale": self.scale,
            "model_id": given.model_id or self.model.identity,
        }
        self.function = denoised(self, self.function)
        sets = None
        if given.command == "certify":
            names, whole = self.features.names, functools.partial(self.reference, "")
            sets = alternatives_of(given, self.X, names, whole, self.remark)
        with self.failures(self.saved):
            options.update({} if sets is None else {"alternatives": sets})
            return certify_rows(
                self.function, self.X, given.sigma, arguments.questions(given), **grouped(options)
            )

    def saved(self, rows: Rows | None) -> str:
        """Writes finished rows. Returns the end of a message: their number, their files, and the
        remedy."""
        done = 0 if rows is None else int(rows.done.sum())
        if rows is not None and done:
            self.write(self.document(rows.seed, bool(rows.done.all()), []), self.lines(rows))
        files = (self.given.out if self.table else None, self.given.resume)
        kept = [name for name in files if name and done]
        places = f" and in {' and '.join(kept)}" if kept else ""
        remedy = (
            "repeat the command to compute the missing rows"
            if self.given.resume
            else "with --resume FILE a run can be continued"
        )
        return f"; {done} of {len(self.X)} rows are done{places}; {remedy}"

    def lines(self, rows: Rows) -> Table:
        """The table of these certificates, after their features got the names of the file."""
        rows.columns = rows.columns or self.features.names
        return tables.certificate_table(rows, self.first, self.labels, self.features.names)

    def write(self, document: Line, table: Table) -> None:
        """Writes the files of -o and --plot."""
        self.put(self.table, table, lambda: {**document, "rows": table})
        if self.plot is not None:
            _draw(self.plot, self.given.plot_kind, table)

    def document(self, seed: int | None, complete: bool, summary: Table) -> Line:
        """The contents of a .json file without the rows: the plan and the summary."""
        plan = {n: v for n, v in vars(self.given).items() if n not in _NOT_IN_PLAN}
        plan["model_sha256"] = self.model.digest
        if self.model.settings:
            plan["model_settings"] = self.model.settings
        if digest_of(self.function):
            plan["denoiser"] = digest_of(self.function)
        if noise.by_rule(self.given.scale) and self.scale is not None:
            plan["scale"] = self.scale
        if self.given.keep_seed:
            plan["seed"] = str(seed)
        return {"certreg": __version__, "complete": complete, "plan": plan, "summary": summary}


def run(given: argparse.Namespace) -> int:
    """The commands certify, sigma and bounds."""
    if given.command == "sigma" and given.denoise:
        return _compare(given)
    work = Work(given)
    changes, whole = perturbations_of(work)
    rows = work.done()
    table = work.lines(rows)
    summarize = tables.radius_summary if given.radius is None else tables.bounds_summary
    summary, remarks = summarize(rows, work.labels), rows._remarks()
    texts = list(remarks)
    chosen: Table = []
    units: Table = []
    levels = [list(range(len(rows.sigmas)))] * len(rows.questions)
    if given.command == "sigma":
        chosen, advice = _chosen(rows, work.labels)
        levels = [[rows.sigmas.index(line["sigma"])] if line["sigma"] else [] for line in chosen]
        texts.append(advice)
    document = work.document(rows.seed, bool(rows.done.all()), summary)
    document.update({"chosen": chosen} if chosen else {})
    document.update({"remarks": remarks} if remarks else {})
    work.write(document, table)
    for title, comparison in units_of(rows, levels, changes, whole) if changes else ():
        units.append({"about": title, "lines": comparison.lines, "notes": comparison.notes})
        texts.append(f"{title}\n{in_options(comparison)}")
    document.update({"units": units} if changes else {})
    tables.answer(given, "\n".join([aligned(summary), *texts]), document)
    for text in [] if given.command == "sigma" else rows._abstentions():
        work.remark(in_options(text))
    status = work.ended(table, "certificates are missing")
    return status if _met(work, rows) else SHORT


def _met(work: Work, rows: Rows) -> bool:
    """Returns True unless fewer rows than --require demands have its radius, at some sigma and
    tolerance; then after a remark on it."""
    share, least = work.given.require or (0.0, 0.0)
    radii = rows["radius"]
    shares = np.mean((radii >= least) & (radii > 0), axis=0)
    worst = np.unravel_index(np.argmin(shares), shares.shape)
    if shares[worst] >= share - 1e-12:
        return True
    work.remark(
        f"--require is not met: {shares[worst]:.4g} of the rows have a radius of at least "
        f"{least:g} at sigma {rows.sigmas[worst[0]]:g} and tolerance "
        f"{tolerance_text(rows.questions[worst[1]])}, and {share:g} are required"
    )
    return False


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
            given.sigma,
            arguments.questions(given)[0],
            examples=examples(work),
            labels=work.labels,
            scale=work.scale,
            **grouped({**work.outputs(work.X, work.first), **arguments.sampling(given)}),
        )
    lines = list(found.lines)
    document = {"helps": found.helps, "sigma": found.sigma, "gain": found.gain, "rows": lines}
    work.put(work.table, lines, lambda: document)
    tables.answer(given, str(found), document)
    return DONE


def _chosen(rows: Rows, labels: np.ndarray | None) -> tuple[Table, str]:
    """The sigma to deploy for each tolerance, as a table and as a text. sigma is None if nothing is
    certified; the table is empty if every row failed."""
    try:
        found = [rows.choose_sigma(q, labels=labels) for q in range(len(rows.questions))]
    except ValueError as error:
        return [], f"No sigma is recommended, since {error}."
    accurate = " among the sigmas whose mean error is at most 0.1 tolerances above the least"
    lines, texts = [], []
    for question, (level, means, left_out) in zip(rows.questions, found):
        sigma = rows.sigmas[level] if means[level] > 0 else None
        tolerance = tolerance_text(question)
        stated = stated_tolerance(question)
        lines.append(
            dict(tolerance=stated, sigma=sigma, mean_radius=means[level], left_out=left_out)
        )
        text = (
            f"No sigma certifies anything at tolerance {tolerance}: try a larger "
            "tolerance, smaller sigmas or more samples."
        )
        if sigma is not None:
            text = (
                f"Deploy sigma {sigma:g} for tolerance {tolerance}. Its "
                f"mean radius, {means[level]:.5g}, is the greatest"
                f"{'' if labels is None else accurate}.{_at_the_edge(rows.sigmas, sigma)}"
            )
        texts.append(text + _left_out(left_out))
    return lines, "\n".join(texts)


def _left_out(rows: int) -> str:
    if not rows:
        return ""
    return f" Rows that failed at some sigma are left out at all of them: {rows}."


def _at_the_edge(sigmas: Sequence[float], chosen: float) -> str:
    others = [s for s in sigmas if s != chosen]
    if others and chosen > max(others):
        return " Try larger ones too."
    return " Try smaller ones too." if others and chosen < min(others) else ""


def destinations(given: argparse.Namespace) -> tuple[Destination | None, Destination | None]:
    """The files of -o and --plot; None without the option."""
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


def _draw(destination: Destination, kind: str, table: Table) -> None:
    from .. import plots

    draw: Callable[..., object] = getattr(plots, f"plot_{kind}")
    curves = tables.curves(table, kind)
    destination.write(lambda path: draw(curves, path=path))

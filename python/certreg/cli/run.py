"""The commands certify, sigma, bounds, check and inputs, and what other commands share with them:
the model, the inputs and their noise, and the arguments of certify_rows from the options."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import importlib
import math
import os
import re
import warnings
from typing import Any, Callable, Iterator, Sequence, TypeAlias, cast

import numpy as np

from ..alternatives import AtMost, ChangeSet, Gain, OneOf
from ..arguments import Frame, Names
from ..arguments import Model as Function
from ..check import check_model
from ..constants import PLAN_COUNT_FAILURES, Center, Domain, Output, Status, __version__
from ..denoise import Denoised, digest_of, remark_on_examples
from ..display import Line, Part, ProgressLine, Reporter, Table, aligned, printable
from ..frames import MOST_VALUES, SPREADS, Columns, by_position, feature_name, is_frame, listed
from ..frames import names_of, noise_on, number_columns, takes_by_position
from ..inputs import Inputs, doubts, known_cells, prepare
from ..library import CertregError, ModelWarning
from ..models import as_model
from ..questions import Faulty, Question, Serving, stated_tolerance, tolerance_text
from ..report_page import page
from ..rows import certify_rows, grouped
from ..store import default_in, plan_in
from ..table import TOO_LITTLE, ResumeError, Rows, RowsError, not_covered
from ..tuning import compare_denoised
from ..units import MissingCell, Perturbations, compared, radii_of, radius_of_box
from . import report
from .files import ALL, Destination, Features, Mixed, RowRange, pandas_for, read_box, read_frame
from .files import read_labels, read_rows, read_scale, seed_in
from .loading import Model, is_onnx, is_python_name
from .report import in_options
from .streams import DONE, FILE, FOUND, INTERRUPTED, MODEL, RAISED, SHORT, Failure, answer, as_json
from .streams import as_json_lines, described, model_failed, one_line, print_result, warn

Options: TypeAlias = "dict[str, Any]"  # arguments of a function, by name

SAVED = ".denoiser"  # files of --keep-denoiser
TABLES = (".csv", ".csv.gz", ".json", ".jsonl", ".parquet")
_PER_CENT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+))%\s*")
_REPEATED = "|".join(  # warnings with the same texts as remarks
    [
        ".* made the denoiser",
        "all rows failed",
        ".* if these are codes",
        ".*: they get no noise",
        "the model has no names",
        "X has no names",
        ".* the model compares this feature with",
        ".* a part of the model takes",
        "standard deviations of features",
        "noise is .* times the standard deviation",
    ]
)
_NOT_IN_PLAN = set(
    "version seed seed_file keep_seed out plot plot_kind quiet traceback jobs on_crash resume "
    "keep_records keep_denoiser no_check units index_given json require described allowances "
    "report log names".split()
)
_READ = "model inputs labels scale resume seed_file box groups denoise calibration truths".split()
_WRITTEN = "out plot keep_denoiser allowances report".split()


class Work:
    """One run of a command: its model and inputs, with their labels and scale, and its results."""

    def __init__(self, given: argparse.Namespace, suffixes: Sequence[str] = TABLES) -> None:
        check_options(given)
        self.given = given
        self.table: Destination | None = None
        self.plot: Destination | None = None
        self.extras = {  # by option
            name: Destination(getattr(given, name), (suffix,))
            for name, suffix in (("allowances", ".csv"), ("report", ".html"))
            if getattr(given, name)
        }
        if given.out and (given.out != "-" or suffixes != TABLES):
            self.table = Destination(given.out, suffixes)
        if given.plot:
            self.plot = Destination(given.plot, (".svg", ".pdf", ".png"))
            try:
                importlib.import_module("matplotlib")
            except ImportError as error:
                raise Failure(f"--plot needs the package matplotlib: {error}") from None
        rows = given.rows or ALL
        self.first = rows[0]
        X, names, count = self.read(given.inputs, given.array, rows)
        self.labels: np.ndarray | None = None
        if given.labels:
            self.labels = read_labels(given.labels, count, rows)
        for text in self.model.remarks:
            self.remark(text)
        self.function: Function = self.model.function
        self.features = Features(given.model, self.model.names(names), self.remark)
        self.described = self._described() if given.described else None
        self.X = self.taken(X, names, given.inputs)
        if self.described is not None and not is_frame(self.X):
            self.described = self.described._of_arrays()
        shape = self.X.shape[1:]
        self.scale: np.ndarray | None = None
        if given.scale:
            self.scale = read_scale(given.scale, shape, self.features, self.known)
        self.box: np.ndarray | None = None
        if given.box:
            self.box = read_box(given.box, shape, self.features)
            self.scale = self.box if self.scale is None else self.scale
        self.kinds: dict[int, str] = {}  # why features get no noise by default
        self.inputs = _decide_noise(self, names is not None)
        if self.described is not None and self.scale is None:
            self.scale = self.inputs.scale
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
                raise Failure(
                    f"{why}: leave out columns that {self.given.model} does not take, and give the "
                    "others as numbers with a decimal point"
                ) from None
            self.mixed = str(why)
        table = read_frame(path, rows)
        if not number_columns(table[0]).any():  # a scale would be 0, or refused without the cell
            raise Failure(f"{self.mixed}, and no column holds numbers to get noise: repair it")
        return table

    def _described(self) -> Inputs:
        """The description of --inputs, with the names of the features."""
        path, features = self.given.described, self.features
        try:
            found = Inputs.load(path)
        except OSError as error:
            raise Failure(f"{path} cannot be read: {error.strerror or error}") from None
        except ValueError as error:
            raise Failure(error) from None
        if features.names is None and found.names is not None:
            features.owner, features.names = path, list(found.names)
        if found.names is not None and list(found.names) != list(features.names or ()):
            raise Failure(f"{path} describes other features than {features.owner}: make it again")
        return found

    def _by_columns(self) -> bool:
        word = self.given.model
        trees = word.lower().endswith(".txt") and os.path.isfile(word)
        return (trees or is_onnx(word)) and self.model.by_columns

    def reference(self, path: str = "") -> Frame:
        """All inputs of a file, by default of the command's file, for a scale from their spread."""
        given, name = self.given, None if path else self.given.array
        path = path or given.inputs
        if given.calibration and _files(path) & _files(given.calibration, given.inputs):
            raise Failure(
                "--scale needs a file of other inputs, like std:FILE: a scale from calibration "
                "points or the inputs would break the promise"
            )
        X, names, _ = self.read(path, name)
        return self.taken(X, names, path)

    def known(self, path: str) -> Frame:
        """`reference` with NaN for the marks of missing cells, which have no part in a spread."""
        X = self.reference(path)
        with self.failures():
            read = prepare(self.model.made(), X, None, self.described, values=False)
        return known_cells(X, read.inputs.marks)

    def taken(self, X: Frame, names: Names, path: str) -> Frame:
        """The inputs of a file as the model takes them."""
        return self.model.fitted(self.features.ordered(X, names, path), path)

    def outputs(self, X: Frame, first: int) -> Options:
        """Number, kinds and limits of the model's outputs. All but the certified one are numbers
        without limits. Calls the model with the first row, which has the number `first`. Prints a
        remark if columns are not used, and no option has chosen any."""
        given = self.given
        columns = self.model.columns(X, first)
        index, pair = given.output, bool(given.pair)
        count = columns - pair
        if index >= count:
            option = f"--output {index} with --pair" if pair else f"--output {index}"
            returned = "1 column" if columns == 1 else f"{columns} columns"
            raise Failure(f"{option} is not possible: {given.model} returns {returned}")
        if count > 1 and not given.index_given:
            used = "the first two are" if pair else "the first is"
            remedy = "--columns A:B takes others" if given.tensor else "--output K takes another"
            self.remark(f"{given.model} returns {columns} columns, and only {used} used; {remedy}")
        kind = [Output.REAL] * count
        lo, hi = [-math.inf] * count, [math.inf] * count
        limits = given.range
        if given.angle or given.pair:
            kind[index] = Output.ANGLE_PAIR if pair else Output.ANGLE
            half_turn = {"deg": 180.0, "rad": math.pi}[given.angle or given.pair]
            limits = (-half_turn, half_turn)
        if limits:
            lo[index], hi[index] = limits
        return {"outputs": count, "kind": kind, "lo": lo, "hi": hi}

    def denoised(self, model: Function) -> Function:
        """The model behind the denoiser of --denoise; unchanged without this option."""
        given = self.given
        if not given.denoise:
            return model
        kept = Destination(given.keep_denoiser, (SAVED,)) if given.keep_denoiser else None
        with self.failures():
            if is_saved(given.denoise):
                try:
                    made = Denoised.load(given.denoise, model)
                except OSError as error:
                    why = error.strerror or error
                    raise Failure(f"{given.denoise} cannot be read: {why}") from None
            else:
                scale = 1 if self.scale is None else self.scale
                made = Denoised(model, self.examples(), given.sigma, scale)
        facts = f"{made.components} directions, {made.error:.3g} of the noise is left"
        if kept:
            kept.write(made.save)
        elif not is_saved(given.denoise):
            facts += "; --keep-denoiser FILE keeps it, to serve with it"
        self.remark(f"denoiser {made.digest}: {facts}")
        for known in remark_on_examples(made, self.X):
            self.remark(known)
        return made

    def examples(self) -> Frame:
        """The examples for a denoiser."""
        path = self.given.denoise
        return self.taken(*read_rows(path)[:2], path)

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
            end = saved(error.rows) if done else ""
            raise Failure(f"{in_options(error)}{end}", FILE) from error
        except (CertregError, ImportError, ValueError, TypeError) as error:
            text = in_options(error, self.features.names)
            if getattr(error, "status", None) == Status.MODEL_FAILED:  # by a check of the model
                raise Failure(f"the model failed: {text}", MODEL) from error
            raise Failure(text) from error

    def certificates(self) -> Rows:
        """The certificates. After an error or an interruption finished rows are written before
        Failure is raised."""
        given = self.given
        options = {
            **self.outputs(self.X, self.first),
            **sampling(given),
            "noise_id": self.first,
            "domain": Domain.CALIBRATION if given.command == "sigma" else Domain.CERTIFY,
            "radius": given.radius,
            "resume": given.resume,
            "keep_records": given.keep_records,
            "scale": self.scale,
            "inputs": self.inputs,
            "model_id": given.model_id or self.model.identity,
        }
        self.function = self.denoised(self.function)
        sets = _change_sets(self) if given.command == "certify" else None
        with self.failures(self.saved):
            options.update({"alternatives": sets} if sets else {})
            if self.table is not None and self.table.suffix == ".jsonl":
                options["progress"] = _Appending(self.table, self.lines, options["progress"])
            if given.command == "certify" and given.faulty:
                options["faulty"] = _faulty(self)
            return certify_rows(
                self.function, self.X, given.sigma, questions(given), **grouped(options)
            )

    def saved(self, rows: Rows | None) -> str:
        """Writes finished rows. Returns the end of a message: their number, their files, and the
        remedy."""
        done = 0 if rows is None else int(rows.done.sum())
        if rows is not None and done:
            document = self.document(rows.seed, bool(rows.done.all()), [])
            self.write(document, self.lines(rows), rows)
        elif self.table is not None and self.table.begun:
            self.table.write_text("")  # its rows were taken back
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
        return report.certificate_table(rows, self.first, self.labels, self.features.names)

    def document(self, seed: int | None, complete: bool, summary: Table) -> Line:
        """The contents of a .json file without the rows: the plan and the summary."""
        plan = {n: v for n, v in vars(self.given).items() if n not in _NOT_IN_PLAN}
        plan["model_sha256"] = self.model.digest
        if self.model.settings:
            plan["model_settings"] = self.model.settings
        if digest_of(self.function):
            plan["denoiser"] = digest_of(self.function)
        if _by_rule(self.given.scale) and self.scale is not None:
            plan["scale"] = self.scale
        if self.given.keep_seed:
            plan["seed"] = str(seed)
        return {"certreg": __version__, "complete": complete, "plan": plan, "summary": summary}

    def write(self, document: Line, table: Table, rows: Rows | None = None) -> None:
        """Writes the files of -o and --plot."""
        self.put(table, {**document, "rows": table})
        if self.plot is not None and rows is not None:
            kind = self.given.plot_kind
            how: Options = {} if kind == "radii" else {"labels": self.labels}
            try:  # the results are complete without it
                self.plot.write(lambda path: rows.plot(path=path, error=kind == "error", **how))
            except Exception as error:
                warn(f"there is no plot: {error}")

    def write_extras(self, rows: Rows, plan: Line) -> None:
        """Writes the files of --allowances and --report. The results are complete, so a failure is
        only printed."""
        rows = dataclasses.replace(rows, numbers=rows.numbers + self.first)
        title, known = f"Certificates of {self.given.model}", {**plan, "seed": None}
        makers: dict[str, Callable[[], str]] = {
            "allowances": lambda: report.allowances_of(rows, self.X),
            "report": lambda: page(rows, self.X, title, known),
        }
        for name, destination in self.extras.items():
            try:
                destination.write_text(makers[name]())
            except Exception as error:
                warn(f"--{name} is not written, and the results are complete: {error}")

    def put(self, table: Table, document: Line) -> None:
        """Writes a table to the file of -o, or to standard output for -; and the document instead
        if it is a .json file."""
        if self.table is None:
            if self.given.out:
                print_result(report.as_csv(table), data=True)
        elif self.table.suffix == ".json":
            secret = "seed" in document.get("plan", {})  # of --keep-seed
            self.table.write_text(as_json(document), secret=secret)
        elif self.table.suffix == ".jsonl":
            self.table.write_text(as_json_lines(table))
        elif self.table.suffix in (".csv", ".csv.gz"):
            self.table.write_text(report.as_csv(table))
        else:
            frame = pandas_for(self.table.name).DataFrame(table)
            self.table.write_bytes(frame.to_parquet(index=False))

    def ended(self, table: Table, what: str) -> int:
        """The exit status, after a remark on lines with an error, which are `what`."""
        failed = [line for line in table if line["error"]]
        if not failed:
            return DONE
        first = f"the first in row {failed[0]['row']}: {failed[0]['error']}"
        everything = failed == table and failed[0].get("status") == "invalid"
        if not self.given.scale and (everything or TOO_LITTLE in failed[0]["error"]):
            first += "; --scale std puts --sigma in units of each feature"
        self.remark(f"{len(failed)} of {len(table)} {what} failed, {first}")
        return FOUND

    def remark(self, text: str) -> None:
        """Prints a text to standard error, unless --quiet is given."""
        if not self.given.quiet:
            warn(text)


class _Appending(ProgressLine):
    """The progress of certify_rows, which also writes the lines of finished rows."""

    def __init__(self, table: Destination, lines: Callable[[Rows], Table], shown: bool) -> None:
        super().__init__()
        self.table, self.lines, self.seen = table, lines, self.seen and shown

    def took(self, rows: Rows, which: np.ndarray) -> None:
        self.table.append(as_json_lines(self.lines(rows[which])))


# ---- options
def check_options(given: argparse.Namespace) -> None:
    """Raises Failure for options that contradict or need each other. The library itself checks the
    settings of questions."""
    turn, by_labels = given.angle or given.pair, given.plot and given.plot_kind != "radii"
    several = given.denoise and given.command != "sigma" and isinstance(given.sigma, tuple)
    tolerances = given.command == "scale" and len(given.tolerance) > 1
    nameless = given.command in ("attack", "scale") or given.denoise and given.command == "sigma"
    is_json, scale = str(given.out).lower().endswith(".json"), f"--scale {given.scale}"
    for wrong, message in (
        (given.range and turn, "--range cannot be combined with --angle or --pair: leave it out"),
        ((given.trim or given.core) and not given.serve, "--trim and --core need --serve"),
        (given.pilot and given.pilot >= given.samples, "--pilot must be below --samples"),
        (given.described and given.scale in SPREADS, f"{scale} may mean the inputs of the "
         f"description or these: give it to certreg inputs, or give {scale}:FILE"),
        (several, "--sigma must be one number with --denoise: a denoiser is for one"),
        (nameless and given.names, "--tolerance takes names in certify, sigma and bounds alone"),
        (tolerances, "--tolerance must be one number: the best scale depends on it"),
        (given.keep_records and not given.resume, "--keep-records needs --resume FILE"),
        (given.keep_seed and not is_json, "--keep-seed needs -o FILE.json"),
        (by_labels and not given.labels, f"--plot-kind {given.plot_kind} needs --labels"),
        (given.keep_denoiser and not given.denoise, "--keep-denoiser needs --denoise"),
    ):
        if wrong:
            raise Failure(message)
    _check_files(given)


def _check_files(given: argparse.Namespace) -> None:
    """Raises Failure if a file that is written is another file of the command too."""
    seen: dict[str, str] = {}
    for name in (*_READ, *_WRITTEN):
        file, option = getattr(given, name), {"out": "-o"}.get(name, "--" + name.replace("_", "-"))
        option = f"the {name}" if name in ("model", "inputs") else option
        other = seen.setdefault(os.path.realpath(file), option) if file else option
        if other != option and name in _WRITTEN:
            raise Failure(f"{option} {file} names another file, that of {other}: give another name")


def _files(*names: str | None) -> set[str]:
    return {os.path.realpath(name) for name in names if name}


def questions(given: argparse.Namespace) -> list[Question]:
    """One question for each tolerance."""
    serving = None
    if given.serve:
        samples, failure_rate, pairs = given.serve
        serving = Serving(samples, failure_rate, given.trim or 0.0, given.core or 0.0, pairs)
    asked = given.tolerance or (0.0,)
    return [
        Question(
            tolerance,
            output=given.output,
            alpha=given.alpha,
            statistic=given.statistic,
            method=given.method,
            huber_width=given.huber_width or 0.0,
            center=Center.TRUE_MEAN if given.method == "paper" else Center.PREDICTION,
            constraints=given.constraints or 0,
            bonferroni=given.bonferroni,
            target=given.target,
            serving=serving,
            name=name,
        )
        for tolerance, name in zip(asked, given.names or [""] * len(asked))
    ]


def sampling(given: argparse.Namespace) -> Options:
    """The arguments of certify_rows and tune_scale about samples."""
    return {
        "samples": given.samples,
        "batch": given.batch,
        "seed": given.seed,
        "jobs": given.jobs,
        "on_crash": given.on_crash,
        "pilot": given.pilot or 0,
        "flags": PLAN_COUNT_FAILURES if given.count_failures else 0,
        "progress": not given.quiet,
        "check": not given.no_check,
    }


def is_saved(name: str) -> bool:
    """Returns True for a file of --keep-denoiser, by its name."""
    return name.lower().endswith(SAVED)


def _of_the_model(error: BaseException) -> str:
    """The reason of a RowsError, as part of a message."""
    cause = error.__cause__ or error
    if isinstance(cause, CertregError):
        return one_line(in_options(cause))
    return in_options(described(cause)) if cause is error else described(cause)


# ---- sets of changes, and wrong features
def _column(work: Work, text: str) -> int | str:
    """A column by its name or index."""
    names = work.features.names
    if is_frame(work.X):
        return text
    if names and text in names:
        return list(map(str, names)).index(text)
    if text.isdecimal():
        return int(text)
    raise Failure(f"there is no column {text!r}: give a name, or an index from 0")


def _count_of(option: str, text: str) -> tuple[int, list[str]]:
    count, colon, columns = text.partition(":")
    if not colon or not count.isdecimal():
        raise Failure(f"{option} is {text!r}; it must be a number and columns, like 2:a,b,c")
    return int(count), columns.split(",")


def _faulty(work: Work) -> Faulty:
    """The units that --faulty names."""
    shown, units = _count_of("--faulty", work.given.faulty)
    return Faulty([[_column(work, one) for one in unit.split("+")] for unit in units], shown)


def _change_sets(work: Work) -> list[ChangeSet]:
    """The sets of changes that --any, --at-most and --brightness name."""
    given, X = work.given, work.X

    def one_of(text: str) -> OneOf:
        at = _column(work, text)
        if not given.rows or at not in (X.columns if is_frame(X) else range(X.shape[1])):
            return OneOf(at)
        whole = work.reference()
        every = whole[at] if is_frame(X) else whole[:, cast(int, at)]
        if hasattr(every.dtype, "categories"):
            return OneOf(at)
        if not is_frame(X):
            every = every[~np.isnan(every)]
        return OneOf(at, list(dict.fromkeys(every.tolist())), check=False)

    found: list[ChangeSet] = [one_of(text) for text in given.any or ()]
    for text in given.at_most or ():
        count, columns = _count_of("--at-most", text)
        found.append(AtMost(count, [one_of(part) for part in columns]))
    if given.brightness:
        lo, hi = _brightness(given.brightness)
        white = 1.0 if is_frame(X) or np.max(X) <= 1 else 255.0
        work.remark(f"brightness clips pixels to 0 and {white:g}")
        found.append(Gain(lo, hi, clip=(0.0, white)))
    return found


def _brightness(text: str) -> tuple[float, float]:
    parts = map(_PER_CENT.fullmatch, text.split(","))
    ends = [float(part[1]) / 100 if part else math.nan for part in parts]
    if len(ends) == 1:
        ends = [-ends[0], ends[0]]
    if len(ends) != 2 or not ends[0] <= 0 <= ends[1] or ends[0] == ends[1]:
        raise Failure(
            f"--brightness is {text!r}; it must be a percentage like 25%, or two around 0 like "
            "-10%,25%"
        )
    return 1 + ends[0], 1 + ends[1]


# ---- noise
def _by_rule(scale: str | None) -> bool:
    """Returns True if --scale does not name the features that get noise."""
    return scale is None or scale.partition(":")[0] in SPREADS


def _decide_noise(work: Work, named: bool) -> Inputs:
    """Decides which features get noise if neither --scale nor --inputs names them, from all rows of
    the file, and prints it if it is not obvious; and which seem to be no quantities. Returns the
    description of the inputs. `named`: the file of inputs has names of columns."""
    given, names = work.given, work.features.names
    own_units = given.scale is None and work.box is None and work.described is None
    texts: list[str] = []
    with work.failures():
        if _by_rule(given.scale) and work.box is None and work.described is None:
            texts = _scale_by_rule(work)
        read = prepare(work.model.made(), work.X, work.scale, work.described, names, values=False)
        columns, scale, told = read.columns, read.scale, read.inputs
        known = told._with_nan(read.given)
        if given.command != "check":  # prints the same as findings
            told._refuse()
            sigmas = np.ravel(getattr(given, "sigma", None) or ()).tolist()
            texts += doubts(work.model.made(), read, known, own_units, sigmas)
            for text in texts:
                work.remark(in_options(text, names))
    shape = known.shape[1:]
    moves = np.reshape(np.ones(shape) if scale is None else np.asarray(scale), shape) > 0
    if columns is not None:
        _of_a_table(work, columns, moves)
        return told
    if not moves.any():
        raise Failure("no column gets noise: give --scale")
    if names and named and not os.path.exists(given.scale or ""):
        known = np.nan_to_num(known)
        whole = moves & ((known == np.rint(known)) & (np.abs(known) < MOST_VALUES)).all(0)
        if whole.any():
            integers = listed([name for name, is_whole in zip(names, whole.tolist()) if is_whole])
            work.remark(
                f"{noise_on(names, moves)}. Whole numbers get it too, in {integers}: if they are "
                "exact, give a file with 0 for them as --scale"
            )
            return told
    if _by_rule(given.scale) and not moves.all() and not texts:
        shown = names or [feature_name(j, shape) for j in range(moves.size)]
        sets = any(getattr(given, name, None) for name in ("any", "at_most"))
        work.remark(f"{noise_on(shown, moves.flat)}: {not_covered(sets)}")
    return told


def _scale_by_rule(work: Work) -> list[str]:
    """Sets the scale by the rule. Returns texts about it."""
    given, spread = work.given, work.scale
    interval = given.command == "interval"  # values of calibration points must decide nothing
    X = work.X if interval or not given.rows or spread is not None else work.reference()
    kept = default_in(plan_in(given.resume), np.shape(work.X)[1:]) if spread is None else None
    if kept is not None:
        work.scale = kept[0]
        return []
    values = not interval and spread is None
    read = prepare(work.model.made(), X, None, None, work.features.names, values)
    scale, texts, work.kinds = read.scale, read.texts, read.inputs.kinds
    if scale is None and given.rows and values:
        scale = np.ones(np.shape(X)[1:])  # so that the values of some rows decide nothing
    if spread is not None and scale is not None:
        scale = np.where(np.reshape(np.asarray(scale), spread.shape) > 0, spread, 0)
    work.scale = spread if scale is None else np.asarray(scale)
    return texts


def _of_a_table(work: Work, columns: Columns, moves: np.ndarray) -> None:
    if not moves.any():
        raise Failure(f"{work.mixed}, and no other column gets noise: repair it, or give --scale")
    function = as_model(work.model.made())
    if names_of(function, columns.names) is None and takes_by_position(function):
        work.remark(by_position(work.given.model, work.given.inputs, columns.names))
    noisy = ", ".join(np.array(columns.names)[moves])
    work.remark(f"{work.mixed}: the model gets a DataFrame, and only {noisy} get noise")


# ---- commands
def certify(given: argparse.Namespace) -> int:
    """The commands certify, sigma and bounds."""
    if given.command == "sigma" and given.denoise:
        return _compare(given)
    work = Work(given)
    if work.box is not None:
        with work.failures():
            given.radius, _ = radius_of_box(work.X, work.box, work.scale)
    changes, kept = _perturbations(work)
    rows = work.certificates()
    table, remarks = work.lines(rows), rows._remarks()
    summary = report.summary_of(rows, work.labels, given.radius is not None)
    document = work.document(rows.seed, bool(rows.done.all()), summary)
    texts = [aligned(summary), *remarks]
    compared_at = list(np.ndindex(len(rows.questions), len(rows.sigmas)))
    if given.command == "sigma":
        chosen, advice = _chosen(rows, work.labels)
        best = [(q, line["sigma"]) for q, line in enumerate(chosen) if line["sigma"]]
        compared_at = [(q, rows.sigmas.index(sigma)) for q, sigma in best]
        document.update({"chosen": chosen} if chosen else {})
        texts.append(advice)
    document.update({"remarks": remarks} if remarks else {})
    work.write(document, table, rows)
    if changes:
        document["units"] = []
        for q, level in compared_at:
            found = compared(changes, radii_of(rows, level, q)[kept])
            tolerance = tolerance_text(rows.questions[q])
            title = f"Radii at sigma {rows.sigmas[level]:g} and tolerance {tolerance}:"
            document["units"].append({"about": title, "lines": found.lines, "notes": found.notes})
            texts.append(f"{title}\n{in_options(found)}")
    answer(given, "\n".join(texts), document)
    for text in [] if given.command == "sigma" else rows._abstentions():
        work.remark(in_options(text))
    work.write_extras(rows, document["plan"])
    status = work.ended(table, "certificates")
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
            questions(given)[0],
            examples=work.examples(),
            labels=work.labels,
            scale=work.scale,
            inputs=work.inputs,
            **grouped({**work.outputs(work.X, work.first), **sampling(given)}),
        )
    lines = list(found.lines)
    document = {"helps": found.helps, "sigma": found.sigma, "gain": found.gain, "rows": lines}
    work.put(lines, document)
    answer(given, str(found), document)
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
    for q, (question, (level, means, left_out)) in enumerate(zip(rows.questions, found)):
        sigma = rows.sigmas[level] if means[level] > 0 else None
        tolerance = tolerance_text(question)
        stated = stated_tolerance(question)
        line = dict(tolerance=stated, sigma=sigma, mean_radius=means[level], left_out=left_out)
        lines.append({**line, **rows._called(q)})
        text = (
            f"No sigma certifies anything at tolerance {tolerance}: try a larger "
            "tolerance, smaller sigmas or more samples."
        )
        if sigma is not None:
            text = (
                f"Deploy sigma {sigma:g} for tolerance {tolerance}. Its mean radius, "
                f"{means[level]:.5g}, is the greatest{'' if labels is None else accurate}."
            )
            if sigma == max(rows.sigmas) > min(rows.sigmas):
                text += " Try larger ones too."
            elif sigma == min(rows.sigmas) < max(rows.sigmas):
                text += " Try smaller ones too."
        if left_out:
            text += f" Rows that failed at some sigma are left out at all of them: {left_out}."
        texts.append(text)
    return lines, "\n".join(texts)


def _perturbations(work: Work) -> tuple[Perturbations | None, np.ndarray]:
    """The changes for a comparison with radii, computed before the radii; None without --units. And
    the rows that are compared: those that lack no cell. Raises Failure if the inputs contradict the
    option."""
    X: Frame = known_cells(work.X, work.inputs.marks)
    kept = np.arange(len(X))
    if work.given.units is None:
        return None, kept
    step, kind = work.given.units
    scale = 1 if work.scale is None else work.scale
    with work.failures():
        try:
            return Perturbations(X, scale, step, kind, work.features.names), kept
        except MissingCell as cell:
            kept = np.delete(kept, cell.rows)
            text = (
                f"--units compares {len(kept)} of {len(X)} rows, because the others lack "
                f"cells, first row {work.first + cell.rows[0]} {cell.column}."
            )
        if not len(kept):
            work.remark(text)
            return None, kept
        whole = X.take(kept, axis=0)
        changes = Perturbations(whole, scale, step, kind, work.features.names)
        changes.notes.append(text)
        return changes, kept


def check(given: argparse.Namespace) -> int:
    """Prints the findings of check_model."""
    work = Work(given)
    if given.sigma is None and not is_frame(work.X) and (work.X == work.X[:1]).all():
        raise Failure(f"all rows of {given.inputs} are the same: give --sigma")
    try:
        findings = check_model(
            work.model.function,
            work.X,
            scale=work.scale if given.scale else None,
            names=work.features.names,
            sigma=given.sigma,
            calls=given.calls,
            progress=None if given.quiet else Part(Reporter(True, 0, given.calls, "calls")),
            inputs=work.described,
        )
    except RAISED as error:
        raise model_failed(error) from error
    document = {"findings": [vars(finding) for finding in findings], "noise": findings.noise}
    answer(given, in_options(findings), document)
    return FOUND if findings else DONE


def inputs(given: argparse.Namespace) -> int:
    """Describes the inputs of a model, prints the description, and writes it."""
    work = Work(given, (".json",))
    with work.failures():
        made = Inputs.of(work.model.made(), work.X, work.scale)
    made.kinds.update(work.kinds)
    if work.features.names is not None:
        made.names = tuple(map(str, work.features.names))
    if work.table is not None:
        work.table.write(made.save)
    answer(given, repr(made), {"inputs": made._table()})
    return DONE

"""Certificates for many inputs at once."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import hashlib
import logging
import os
import re
from typing import Any, Callable, Iterator, Mapping, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from .alternatives import Alternatives, ChangeSet, Space
from .arguments import Call, Data, Executor, Model, Path, Scale, Series, abbreviated, field_names
from .arguments import instance, integer, number, own_names, positive, seed_or_random
from .causes import cause
from .constants import LEVELS_OF_A_DOMAIN, Domain, Method, Statistic, Status, constraints_of
from .constants import member, no_member
from .denoise import digests_of_rows, function_of_rows, made_of, remark_on_examples
from .display import Part, Progress, Reporter, tell, warn
from .estimator import Kinds, kinds_of, pilot_for
from .frames import Columns, index_of
from .inputs import Inputs, check_rows, is_default, missing_with_noise, prepare, rows_in_float32
from .library import CertregError, ModelWarning, in_words, of_model, refusal_of, value_error
from .questions import Asked, Faulty, Question, needed_constraints, question_of, structs_of
from .queue import MOST_ROW, check_alternatives
from .results import to_json
from .store import ResumeFile, StoredRun, default_in, in_shards, is_folder, plan_in, plan_of
from .store import stored_run
from .table import UNITS, Record, ResumeError, Rows, RowsError, Sampling, bytes_remark
from .table import empty_certificates
from .workers import ATTEMPTS, Chunk, ExecutorBroken, ExecutorRunner, Job, LocalRunner, Runner
from .workers import Scheduler, executor_or_jobs, fastest, is_worker_death, one_by_one


@dataclasses.dataclass(frozen=True, eq=False)
class Options:
    """Arguments of certify_rows that few calls need, by name.

    Attributes
    ----------
    outputs, kind, lo, hi, pilot, flags
        As for Estimator; without a pilot questions that all have targets get one of 30 samples,
        or a quarter of all samples, unless records are kept.
    constraints : int or str
        As for Estimator; 0: with the gradient if a question names it or has the method "paper".
    domain : Domain or str
        Purpose of the noise: "certify", "calibration" (to choose sigma) or "attack". Domains never
        share noise, nor do they share noise with Calibrated.
    radius : float, optional
        Compute output bounds at this radius instead of the largest radius.
    model_id : str
        Name of the model in the resume file, which refuses other names. If no model is given, only
        this name shows whether the parts in a folder are of several models.
    keep_records : bool
        Keep the outputs of the model, in the resume file or else in the result. Other questions can
        then be answered later with ``model=None``.
    on_crash : {"stop", "skip"}
        Action for a row that ends three processes, one after another, while it is computed alone.
        "skip": the row fails with ``Status.MODEL_FAILED``, also in the resume file, and the run
        goes on. The model then always runs in other processes. A caller's executor must replace
        processes, as dask does.
    check : bool
        Call Estimator.model_check for a row, and ask the model again for some samples of rows that
        are certified, and of rows that the resume file has (docs/guide/engines.md).

    Examples
    --------
    >>> reach = certreg.Options(radius=0.1)
    >>> rows = certreg.certify_rows(lambda x: x[:, 0], [[1.0]], 0.25, 0.5, seed=1, options=reach)
    >>> rows.certificate(0).output_lo < 1 < rows.certificate(0).output_hi
    True"""

    outputs: int = 1
    kind: Kinds = None
    lo: ArrayLike | None = None
    hi: ArrayLike | None = None
    pilot: int = 0
    constraints: int | str = 0
    flags: int = 0
    domain: Domain | str = Domain.CERTIFY
    radius: float | None = None
    model_id: str = ""
    keep_records: bool = False
    on_crash: str = "stop"
    check: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.on_crash, str) or self.on_crash not in ("stop", "skip"):
            raise ValueError(f"on_crash is {self.on_crash!r}; it must be 'stop' or 'skip'")


def with_other_names(function: Call) -> Call:
    """certify_rows, which also takes the names of scikit-learn, and tolerance for questions. Raises
    TypeError for an argument of Options, and for an executor, with the way to give it."""

    @functools.wraps(function)
    def named(*arguments: Any, **given: Any) -> Any:
        if "tolerance" in given:
            if "questions" in given or len(arguments) > 3:
                raise TypeError("tolerance is another name of questions: give one of them")
            given["questions"] = given.pop("tolerance")
        for name in given:
            if name in field_names(Options):
                raise TypeError(f"{name} is an option: give options=Options({name}=...)")
        if len(arguments) > 4 or {"labels", "y"} & set(given):
            remedy = "give rows.label_errors(labels), and other arguments by name"
            raise TypeError(f"labels belong to the result: {remedy}")
        if "executor" in given:
            raise TypeError("an executor takes the place of a number of jobs: give it as jobs")
        return function(*arguments, **own_names(given))

    return cast(Call, named)


def options_of(given: object) -> Options:
    """The options. Raises TypeError for another object."""
    if not isinstance(given, Options):
        raise TypeError(f"options must be certreg.Options(...), not {abbreviated(given)}")
    return given


def with_options(options: object, **fixed: Any) -> Options:
    """The caller's options with the fields that a function sets itself. Raises TypeError if the
    caller has set one of them."""
    given = options_of(options)
    for name in fixed:
        if getattr(given, name) is not getattr(Options(), name):
            raise TypeError(f"{name} is set by this function itself: leave it out of options")
    return dataclasses.replace(given, **fixed)


def grouped(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments of certify_rows, in which Options replace its fields."""
    fields = field_names(Options)
    own = {name: value for name, value in arguments.items() if name not in fields}
    more = {name: value for name, value in arguments.items() if name in fields}
    return {**own, "options": Options(**more)} if more else own


class ChosenScale:
    """The base of a scale that knows the rows that chose it, by digests."""

    scale: np.ndarray | Series
    digests: frozenset[int]


MOST_NAMED = 8  # rows in a message
MANY = 8  # numbers that are meant for rows if there is one for each
PER_FEATURE = ": give noise per feature as scale"
ASKED = 1000  # rows of a file that are asked again together


@with_other_names
def certify_rows(
    model: Model,
    X: Data,
    sigma: float | Sequence[float],
    questions: Asked | Sequence[Asked],
    *,
    alpha: float | None = None,
    samples: int = 1000,
    scale: Scale | ChosenScale = None,
    batch: int | str = 0,
    seed: int | None = None,
    noise_id: int = 0,
    jobs: int | Executor = 1,
    progress: Progress = True,
    resume: Path | None = None,
    alternatives: ChangeSet | Sequence[ChangeSet] | None = None,
    inputs: Inputs | None = None,
    faulty: Faulty | None = None,
    options: Options = Options(),
) -> Rows:
    """Certify every row of X.

    Parameters
    ----------
    model : object
        As for Estimator; or a factory, a function without parameters that makes the model once in
        each process. None: see Options.keep_records.
    X : array_like or DataFrame
        Finite numbers (rows, features), with NaN for missing cells, which get no noise; or ``(rows,
        *shape)`` for a model of such arrays. With a DataFrame the model gets DataFrames.
    sigma : float or sequence of float
        Noise level > 0, or several. The certificates of one question about a row at all sigmas hold
        together: alpha is divided by the number of sigmas.
    questions : Question, float, str or sequence
        One or several questions; a number, or a percentage of the prediction like "10%", is a
        question with this tolerance. ``Question(tolerances)`` has a tolerance for each row. Also
        tolerance.
    alpha : float, optional
        As for Question, for questions that are given as numbers or percentages.
    samples : int
        Number of samples of each row at each sigma, pilot included.
    scale : array_like, mapping, Series, TunedScale or {"std", "iqr"}, optional
        Noise of each feature in units of sigma, >= 0. For a DataFrame also a dict or Series by the
        names of columns, with 0 for missing names. By default 1, but 0 for columns without numbers,
        categories and features with few values (docs/guide/choosing.md). "std" and "iqr" are the
        feature_scale of X; better use reference data: serving needs ``rows.scale``. A TunedScale
        knows the rows that chose it: `population` then refuses them.
    batch : int or "measure"
        Most noisy rows of one call of the model, which inputs share; 0: up to 16 MiB or 16,384, of
        DataFrames 32,768. "measure": the fastest of 256, 2,048 and these, or that of the resume
        file. With a target the samples of a row depend on the batch, rows.sampling.batch.
    seed : int, optional
        Seed of the noise, 1 to 2^64 - 1; by default a secret one is drawn. Result and resume file
        contain it. The noise of a row depends on seed and noise id only. Also random_state, which
        is one less.
    noise_id : int
        Row i has the noise id noise_id + i. So parts of a table that are certified separately, with
        the same seed, can have the noise of the whole table.
    jobs : int or concurrent.futures.Executor
        Number of processes, also n_jobs; 1: none; 0, -1: one per processor. Or an executor of this
        interface, for example of dask or mpi4py.futures: the model has to be picklable, or a
        factory.
    progress : bool or callable
        Show a count in terminals and notebooks, or call it with (rows done, rows). Also verbose.
    resume : path, optional
        File that keeps finished rows; the same call then computes the missing rows, also those that
        were added at the end of X. Programs that use one file at a time share the rows. A folder,
        or a path that ends with a slash: a file for each 10,000 rows.
    alternatives : ChangeSet or sequence of ChangeSet, optional
        Changes of an input, such as other categories or brightness: the radius of a row then holds
        around the input and all changed inputs (docs/guide/alternatives.md), and `samples` is the
        number of samples of all of them. Experimental.
    inputs : Inputs, optional
        Description of the inputs, so that certificates are about the same changes whether a row is
        alone or among thousands. Its scale is the default of `scale`. Without a description the
        rows of X decide which features get noise. Experimental.
    faulty : Faulty, optional
        Features that may have any values, such as those of broken sensors, and how samples hide
        them: certificates then have the radius with k wrong units, `fault_radius[k]`
        (docs/guide/faults.md). Experimental.
    options : Options
        What few calls need: outputs and their ranges, the pilot, output bounds, kept records.

    Returns
    -------
    Rows
        The certificates. A row with outputs that are not finite or out of range fails alone;
        `errors` has the reasons.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments, before the model is called.
    RowsError
        If the model raises an exception or its outputs depend on other rows, if a row ends
        processes, or if the executor is shut down, cannot replace processes, or has other versions
        of certreg. It has the finished rows as `rows`; so has every other exception that ends the
        run, such as ResumeError and KeyboardInterrupt.
    ResumeError
        If the resume file cannot be used or belongs to other arguments.
    ImportError
        If `jobs` needs loky, which is not installed.
    CertregError
        If the library fails otherwise.

    Examples
    --------
    >>> rows = certreg.certify_rows(lambda x: x[:, 0], [[1.0], [2.0]], 0.25, 0.5, seed=1)
    >>> rows.radius.round(2).tolist()
    [0.47, 0.46]"""
    chosen_by: frozenset[int] = frozenset()
    if isinstance(scale, ChosenScale):
        chosen_by, scale = scale.digests, scale.scale
    faulty = instance(faulty, Faulty, "faulty") if faulty is not None else None
    own_units = scale is None and inputs is None
    plan = plan_in(resume)
    if own_units and plan:
        kept = default_in(plan, np.shape(X)[1:])  # the default of the rows that are done
        scale = None if kept is None else 1.0 if kept[0] is None else kept[0]
    read = prepare(model, X, scale, inputs)
    matrix, columns, numbers_of_scale = rows_in_float32(read), read.columns, read.scale
    shape, told = matrix.shape[1:], read.inputs
    if model is None and inputs is None:
        told.marks = {j: tuple(each) for j, *each in plan.get("marks") or ()}
    if not told.scale.any() and (columns is not None or is_default(scale)):
        raise ValueError("no column gets noise: name the columns that may change in scale")
    if columns is None and (told.scale == 1).all():
        numbers_of_scale = None  # so that rows.scale resumes the same rows
    asked = _questions(questions, len(matrix), alpha)
    more = options_of(options)
    domain = _domain(more.domain)
    sigmas, levels = _noise_levels(sigma, domain, len(matrix))
    samples, outputs = integer(samples, "samples", 1), integer(more.outputs, "outputs", 1)
    pilot, keeps = integer(more.pilot, "pilot"), more.keep_records or model is None
    stops = all(question.target is not None for question in asked) and not keeps
    if not pilot and (stops or alternatives is not None):
        pilot = pilot_for(samples, stops)  # kept records may serve other questions too
    rows_of_call = _rows_of_call(batch, model, columns, matrix, plan.get("batch"))
    sampling = Sampling(
        shape, sigmas, levels, samples, seed_or_random(seed), numbers_of_scale, outputs,
        kinds_of(more.kind, outputs), more.lo, more.hi, rows_of_call, pilot,
        constraints_of(more.constraints) or needed_constraints(asked), integer(more.flags, "flags"),
        integer(noise_id, "noise_id"),
        faulty and faulty._of(matrix[0].size, told.names, columns is not None),
    )  # fmt: skip
    sampling = copy.deepcopy(sampling)  # the caller's arrays may change
    if sampling.noise_id + len(matrix) > 2**63:
        raise ValueError(
            f"noise_id is {sampling.noise_id}; the ids of all rows must be below 2**63"
        )
    radius = None if more.radius is None else number(more.radius, "radius")
    noisy = (np.count_nonzero(columns.scale),) if columns else shape
    if own_units and len(sigmas) > 1 and (len(sigmas),) in (shape, noisy):
        text = (
            f"sigma has {len(sigmas)} numbers, one for each feature, and each of them is a noise "
            "level for all features: if you mean noise per feature, give it as scale"
        )
        warn(text)
    if own_units and (text := bytes_remark(matrix[:100], sigmas)):
        warn(text)
    known, remarks = told._with_nan(matrix), remark_on_examples(model, matrix)
    for text in (*remarks, *check_rows(model, read, known, own_units, sigmas)):
        warn(text)
    if faulty is not None and np.isnan(known).any():
        faulty._refuse_missing()
    if faulty is not None and alternatives is not None:
        faulty._refuse_missing("alternatives may lack cells")
    sets = None
    if alternatives is not None:
        if radius is not None:
            raise ValueError("radius cannot be combined with alternatives: leave one of them out")
        if sampling.noise_id + len(matrix) > MOST_ROW:
            raise ValueError(f"with alternatives noise ids of rows must be below {MOST_ROW}")
        space = Space(shape, numbers_of_scale, columns, matrix, told.marks)
        sets = Alternatives(alternatives, space)
    skips = more.on_crash == "skip"
    executor, jobs = executor_or_jobs(jobs, skips)
    kept_outputs = "records" if more.keep_records else "picks" if resume and more.check else ""
    job = Job(
        model, columns, sampling, asked, radius, kept_outputs, len(matrix), sets, more.check, told
    )
    _check_set(job, matrix[0])
    work = _Certification(job, matrix, domain, more.model_id, seed is not None, skips)
    work.rows.index = index_of(X)
    chose = chosen_by and not chosen_by.isdisjoint(digests_of_rows(matrix, told.scale).tolist())
    made = {"the scale": isinstance(scale, str) or bool(chose), "the denoiser": bool(remarks)}
    made["the set of alternatives"] = sets is not None and sets.space.is_of_rows
    work.rows.made = " and ".join(name for name, was_made in made.items() if was_made)
    if inputs is None:
        told.rows, told.guessed = len(matrix), is_default(scale)
        told.missing = np.isnan(known).any(0) if known.ndim == 2 else told.missing
    work.rows.inputs = told
    work.rows.columns = None if columns is None else columns.names
    work.rows.missing = missing_with_noise(known, told.scale)
    rows = work.certified(executor, jobs, progress, resume)
    if rows["status"].all():
        remedy = UNITS if own_units and (rows["status"] == Status.INVALID).all() else ""
        remedy += sampling.nan_marker if (rows["status"] == Status.NOT_FINITE).all() else ""
        warn(f"all rows failed: {in_words(min(rows.errors.items())[1])}{remedy}")
    return rows


# ---- arguments --------------------------------------------------------------------------------
def _check_set(job: Job, z: np.ndarray) -> None:
    """Raises ValueError if the alternatives of the first row cannot be certified, before the model
    is called."""
    if not job.alternatives:
        return
    for k in range(len(job.sampling.sigmas)):
        try:
            job.alternatives.cells(z.reshape(-1), job.budget(k))
        except ValueError as error:
            raise ValueError(f"row 0: {error}") from error
    with job.sampling.estimator(None) as e, value_error():
        check_alternatives(e, structs_of(job.asked()), job.sampling.samples)


def _rows_of_call(
    batch: int | str, model: Model, columns: Columns | None, matrix: np.ndarray, kept: int | None
) -> int:
    if not isinstance(batch, str):
        return integer(batch, "batch")
    if batch != "measure":
        raise ValueError(f'batch is {batch!r}; it must be a number or "measure"')
    if kept is not None or model is None:
        return kept or 0
    return fastest(function_of_rows(made_of(model), columns), matrix, columns is not None)


def _domain(domain: Domain | str) -> Domain:
    value = member(Domain, domain, "domain")
    if value == Domain.INTERVALS:
        raise ValueError("domain 'intervals' is for Calibrated alone: give 'calibration'")
    if value not in list(Domain):
        raise no_member(Domain, domain, "domain")
    return Domain(value)


def _questions(
    questions: Asked | Sequence[Asked], rows: int, alpha: float | None
) -> tuple[Question, ...]:
    several = questions if isinstance(questions, (list, tuple)) else [questions]
    about_all = "[Question(t) for t in tolerances] is about every row"
    check_several(several, rows, "questions", "Question(tolerances)", about_all)
    if not several:
        raise ValueError("questions is empty: give a question or a tolerance")
    asked = tuple(question_of(question) for question in several)
    if alpha is not None:
        if any(isinstance(question, Question) for question in several):
            raise TypeError(
                f"alpha is given beside a Question, which has its own: give Question(tolerance, "
                f"alpha={abbreviated(alpha)}), or tolerances as numbers"
            )
        alpha = number(alpha, "alpha")
        asked = tuple(dataclasses.replace(question, alpha=alpha) for question in asked)
    names = [one.name for one in asked if one.method != Method.PAPER]  # of families, by default
    for name in filter(None, names):
        if names.count(name) > 1:
            raise ValueError(f"several questions have the name {name!r}: give them other names")
    for index, question in enumerate(asked):
        each = question.tolerance
        if isinstance(each, tuple) and len(each) != rows:
            raise ValueError(
                f"question {index} has {len(each)} tolerances, and X has {rows} rows: give one "
                "number, one for each row, or a list of questions"
            )
        if question.statistic == Statistic.BALL_CENTER and question.prediction is None:
            raise ValueError(
                f"question {index} is about a vector, and rows have numbers only: use Estimator, "
                "and Estimator.prediction for the vector that the certificate is about, or give "
                "prediction"
            )
    return asked


def check_several(given: Sequence[object], rows: int, what: str, each: str, all_: str) -> None:
    """Raises ValueError for a list of numbers that may be tolerances of the rows."""
    numbers_alone = not any(isinstance(one, (Question, str)) for one in given)
    if len(given) == rows >= MANY and numbers_alone:
        raise ValueError(
            f"{what} has {rows} numbers, one for each row of X: {each} has a tolerance for each "
            f"row, and {all_}"
        )


def _noise_levels(
    sigma: float | Sequence[float], domain: Domain, rows: int
) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """The sigmas, and the level of noise for each."""
    if isinstance(sigma, Question):
        raise TypeError("sigma is a Question: it comes before the questions")
    each = np.ravel(sigma).tolist()
    if len(each) == rows >= MANY and each not in (sorted(each), sorted(each)[::-1]):
        raise ValueError(
            f"sigma has {rows} numbers in no order, one for each row of X: labels belong to the "
            "result, as rows.label_errors(labels)"
        )
    if isinstance(sigma, (str, dict)):
        raise TypeError(f"sigma must be a number, not {sigma!r}{PER_FEATURE}")
    different = len(set(each)) == len(each) and 0 < len(each) < LEVELS_OF_A_DOMAIN
    if not different or (len(each) > 1 and 0 in each):
        raise ValueError(f"sigma must be one number or several different ones > 0{PER_FEATURE}")
    sigmas = tuple(positive(value, "sigma") for value in each)
    if np.ndim(sigma) == 0:
        return sigmas, (int(domain),)
    return sigmas, tuple(int(domain) + 1 + k for k in range(len(sigmas)))


def _text_of(question: Question) -> str:
    """A question in a resume file. The tolerances of rows have a digest."""
    text = to_json(question._of_rows(0))
    if isinstance(question.tolerance, tuple):
        text += f" tolerances {hashlib.sha256(repr(question.tolerance).encode()).hexdigest()}"
    return text


# ---- one call ---------------------------------------------------------------------------------
class _Certification:
    """One call of certify_rows."""

    def __init__(
        self, job: Job, matrix: np.ndarray, domain: Domain, model_id: str, seeded: bool,
        skips: bool, first: int = 0,
    ) -> None:  # fmt: skip
        self.job, self.matrix, self.seeded, self.skips = job, matrix, seeded, skips
        self.first = first  # the number of the first row, within the whole table
        shape = (len(matrix), len(job.sampling.sigmas), len(job.questions))
        self.rows = Rows(
            empty_certificates(*shape),
            np.zeros(len(matrix), bool),
            {},
            job.sampling,
            job.questions,
            job.radius,
            domain,
            model_id,
        )
        self.file: ResumeFile | None = None
        self.added: list[int] = []  # rows that this call wrote to the file
        self.reporter = Reporter(False, 0, 0)
        self.crashed: dict[int, list[Record]] = {}  # the failures of rows that end processes
        self.took: Callable[[Rows, np.ndarray], object] | None = None  # takes finished rows

    def certified(
        self, executor: Executor, jobs: int, progress: Progress, resume: Path | None
    ) -> Rows:
        try:
            certify = self._in_shards if is_folder(resume) else self._run
            certify(executor, jobs, progress, resume)
        except BaseException as error:
            if isinstance(error, RowsError) and refusal_of(error.__cause__):
                self._forget()
            self._attach(error)
            done = int(self.rows.done.sum())
            tell("stopped", self._finished(), logging.WARNING, done=done, resume=self.rows.resume)
            if isinstance(error, RowsError):  # the number of finished rows is final now
                error.args = (f"{error}; {self._finished()}",)
            raise
        return self.rows

    def _in_shards(
        self, executor: Executor, jobs: int, progress: Progress, folder: Path | None
    ) -> None:
        reporter = Reporter(progress, 0, len(self.matrix), kept=str(folder))

        def certified(first: int, last: int, path: str, seed: int | None) -> Rows:
            known, ids = self.job.sampling, self.job.sampling.noise_id + first
            seed = known.seed if self.seeded or seed is None else seed
            some = np.arange(first, last)
            job = dataclasses.replace(
                self.job,
                sampling=dataclasses.replace(known, noise_id=ids, seed=seed),
                questions=tuple(question._of_rows(some) for question in self.job.questions),
                rows=last - first,
            )
            of_all = self.rows.domain, self.rows.model_id, self.seeded, self.skips
            part = _Certification(job, self.matrix[first:last], *of_all, first)
            count = Part(reporter)
            part._run(executor, jobs, count, path)
            count(last - first)  # with rows of an earlier call
            return part.rows

        in_shards(folder, self.rows, self.job.model is not None, certified)

    def _run(self, executor: Executor, jobs: int, progress: Progress, resume: Path | None) -> None:
        jobs = min(jobs, len(self.matrix))
        with self._failures(executor is None), contextlib.ExitStack() as stack:
            self._check(resume)
            if resume is not None:
                self.file = stack.enter_context(contextlib.closing(ResumeFile(resume)))
                self.rows.resume = self.file.path
                self._take_seed(self.file)
            local = executor is None and jobs == 1 and not self.skips
            runner: Runner = (
                LocalRunner(self.job) if local else ExecutorRunner(self.job, executor, jobs)
            )
            stack.callback(runner.close)
            if self.file:
                self._open_run(self.file, runner)
            self._check_records(np.flatnonzero(~self.rows.done))
            done = np.flatnonzero(self.rows.done)
            self.reporter = Reporter(progress, len(done), len(self.rows), kept=self.rows.resume)
            self.took = getattr(progress, "took", None)  # of the command
            if self.took and len(done):
                self.took(self.rows, done)
            first = self.job.batch // (self.rows.samples * len(self.rows.sigmas))
            scheduler = Scheduler(runner, self._task, self._keep, self._crashed, first)
            try:
                scheduler.compute(np.flatnonzero(~self.rows.done))
            except RowsError as error:
                if self.file and refusal_of(error.__cause__):
                    self.file.forget(self.added)
                raise

    def _take_seed(self, file: ResumeFile) -> None:
        known = file.seed()
        if known is not None and not self.seeded:
            sampling = dataclasses.replace(self.job.sampling, seed=known)
            self.job = dataclasses.replace(self.job, sampling=sampling)
            self.rows.sampling = sampling

    def _check(self, resume: Path | None) -> None:
        """Raises ValueError for a wrong plan or question, before the model is called."""
        job = self.job
        if job.model is None and resume is None:
            raise ValueError("model is None: give a model, or a `resume` file that has records")
        if job.model is None and not os.path.exists(resume or ""):
            raise ResumeError(f"there is no file {resume}: give the model too")
        each = [question.tolerance for question in job.questions]
        ends = {of.index(f(of)) for of in each if isinstance(of, tuple) for f in (min, max)}
        with job.sampling.estimator(None) as e:
            with contextlib.suppress(CertregError), value_error():
                e.begin(np.zeros(e.shape), job.sampling.sigmas[0], 0)
            for row in sorted(ends | {0}):
                for q, one in enumerate(job.asked(row)):  # several end at the first without samples
                    which = f"question {q}: " if len(job.questions) > 1 else ""
                    with contextlib.suppress(CertregError), value_error(which):
                        if job.radius is None:
                            e.certify(0, one)
                        else:
                            e.output_bounds(0, job.radius, one)

    def _open_run(self, file: ResumeFile, runner: Runner) -> None:
        if self.job.model is None and file.seed() is None:
            raise ResumeError(f"{file.path} is new and has no records: give the model too")
        plan = functools.lru_cache(lambda count: plan_of(self.job, self.matrix[:count]))

        def run_of(count: int) -> StoredRun:
            texts, some = self._texts(count), self.rows
            return stored_run(some.model_id, some.sampling.seed, plan(count), texts)

        if self.job.model is not None and self.job.audits:
            file.begin(run_of, self.rows, adds=False)
            self._ask_again(file, runner)
        file.begin(run_of, self.rows)

    def _ask_again(self, file: ResumeFile, runner: Runner) -> None:
        """Asks the model again for samples of the rows that are done. Raises ResumeError if it has
        other outputs."""
        done = np.flatnonzero(self.rows.done)
        parts = {int(done[at]): done[at : at + ASKED] for at in range(0, len(done), ASKED)}

        def asked(first: int) -> Chunk:
            rows = parts[first]
            known = file.records(first, int(rows[-1]), picks=1)
            given = rows, self.matrix[rows], known, self.rows.certificates[rows]
            return cast(Chunk, runner.call("answer", *given))

        for row, chunk in one_by_one(runner, list(parts), asked, self._crashed):
            refusal = refusal_of(chunk and chunk.failure)
            if refusal:
                self._forget()
                place = f"row {refusal.row + self.first}, " if refusal.row >= 0 else ""
                found = str(refusal).rpartition(":")[0]  # without the likely cause
                raise ResumeError(
                    f"{file.path} was made with another model, or the model changes from call to "
                    f"call: {place}{found}: give another resume file"
                ) from refusal
            if chunk and chunk.failure:
                self._fail(chunk.failure, row)

    def _texts(self, count: int) -> list[str]:
        """What is asked about the first rows, in a resume file."""
        some = np.arange(count)
        texts = [_text_of(question._of_rows(some)) for question in self.job.questions]
        texts += [] if self.job.radius is None else [f"radius {self.job.radius!r}"]
        named = self.job.sampling.constraints  # no record depends on them
        return texts + ([f"constraints {named}"] if named else [])

    def _check_records(self, left: np.ndarray) -> None:
        """Raises ValueError if some of these rows have to be sampled, and there is no model."""
        if self.job.model is not None or not self.file:
            return
        known = self.file.rows_with_records(len(self.rows.sigmas))
        new = np.setdiff1d(left, known, assume_unique=True)
        if new.size:
            raise ValueError(
                f"{self.rows.resume} has no records of {len(new)} rows, the first is row "
                f"{new[0] + self.first}: give the model too"
            )

    def _task(self, rows: np.ndarray) -> tuple[np.ndarray, list[Record]]:
        known = self.file.records(int(rows[0]), int(rows[-1])) if self.file else []
        for row in rows.tolist():
            known += self.crashed.get(row, [])
        return self.matrix[rows], known

    def _keep(self, chunk: Chunk) -> None:
        refusal = refusal_of(chunk.failure)
        if refusal:
            self._fail(refusal, refusal.row)
        if chunk.doubt and not self.rows.doubt:
            self.rows.doubt = chunk.doubt
            warn(chunk.doubt, ModelWarning)
        done = chunk.rows[: len(chunk.certificates)]
        if self.file and len(done):
            self.file.add(chunk)
            self.added += done.tolist()
        elif not self.file:
            self.rows.records += chunk.records
        self.rows.certificates[done] = chunk.certificates
        self.rows.done[done] = True
        self.rows.errors.update({(row, k): text for row, k, text in chunk.errors})
        self.rows.alternatives.update({(row, k): found for row, k, found in chunk.found})
        for row, k, text in chunk.errors:
            named = self.job.sampling.noise_id + row
            facts = {"row": named, "sigma": self.rows.sigmas[k]}
            tell("failed", f"row {named} failed: {text}", logging.WARNING, **facts)
        if self.took and len(done):
            self.took(self.rows, done)
        self.reporter.advance(len(done), len({row for row, _, _ in chunk.errors}))
        if chunk.failure is not None:
            self._fail(chunk.failure, int(chunk.rows[len(done)]))

    def _fail(self, failure: BaseException, row: int) -> None:
        if isinstance(failure, KeyboardInterrupt):
            raise failure
        row = row + self.first if row >= 0 else -1  # -1: in the check
        place, text = f"row {row}: " if row >= 0 else "", of_model(failure)
        text += cause(None, f"{text}; X has shape {self.matrix.shape}")
        text += self.job.sampling.nan_marker if re.search(r"(?i)\bnan\b", text) else ""
        raise RowsError(f"{place}{text}", row) from failure

    def _forget(self) -> None:
        """Takes back the rows that are done."""
        self.rows.done[:] = False
        self.rows.certificates[:] = empty_certificates(*self.rows.certificates.shape[1:])
        for known in (self.rows.errors, self.rows.records, self.rows.alternatives):
            known.clear()

    def _crashed(self, row: int, error: BaseException) -> None:
        """Fails, or skips a row that has ended processes."""
        text = (
            f"{ATTEMPTS} processes ended while each computed it alone (the model ended them, or "
            "something outside, for example a lack of memory)"
        )
        if not self.skips:
            hint = "; on_crash='skip' goes on without it"
            failure = CertregError(Status.MODEL_FAILED, text=text + hint)
            failure.__cause__ = error
            self._fail(failure, row)
        status, sigmas = int(Status.MODEL_FAILED), range(len(self.rows.sigmas))
        self.crashed[row] = [Record(row, k, None, status, text) for k in sigmas]

    def _finished(self) -> str:
        text = f"{int(self.rows.done.sum())} of {len(self.rows)} rows are done"
        if self.rows.resume and self.rows.done.any():
            text += f" and kept in {self.rows.resume}: call again to compute the missing rows"
        return text

    def _ended(self, error: BaseException, ours: bool) -> str:
        """A text about processes that cannot be replaced, or an executor that takes no tasks."""
        cause = error.__cause__ or error
        if ours:
            return "each process ended while it made the model: try jobs=1, or give a factory"
        if not is_worker_death(cause):
            return (
                f"the executor runs no more tasks ({str(cause) or 'it cancels them'}): keep it "
                "open until certify_rows returns"
            )
        rows = [row + self.first for row in getattr(error, "rows", [])]
        more = ", ..." if len(rows) > MOST_NAMED else ""
        named = ", ".join(map(str, rows[:MOST_NAMED])) + more
        when = f" while it computed one of the rows {named}" if rows else ""
        return (
            f"a process that ran the model has ended{when} (jobs=2 in place of the executor "
            "finds the row)"
        )

    @contextlib.contextmanager
    def _failures(self, ours: bool) -> Iterator[None]:
        """Adds the rows that are done to an exception that ends the work."""
        try:
            yield
        except BaseException as error:
            left = ~self.rows.done  # an interrupt may have come before a row was marked as done
            self.rows.certificates[left] = empty_certificates(*self.rows.certificates.shape[1:])
            if isinstance(error, ExecutorBroken):
                raise RowsError(self._ended(error, ours), rows=self.rows) from error
            self._attach(error)
            raise

    def _attach(self, error: BaseException) -> None:
        with contextlib.suppress(AttributeError):  # the class of a caller's exception is frozen
            error.rows = self.rows  # type: ignore[attr-defined]

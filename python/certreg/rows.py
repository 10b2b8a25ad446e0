"""Certificates for many inputs at once."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import warnings
from typing import Any, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as S
from ._arrays import check_finite, numbers
from ._categorical import check_categorical
from ._plan import plan_of
from ._probes import check_at, probed
from ._processes import ExecutorRunner, LocalRunner, Scheduler, check_executor, cores
from ._processes import is_worker_death
from ._progress import Progress, Reporter
from ._worker import Chunk, Job, Record, Sampling, empty_certificates
from .results import to_json
from ._arguments import constraints_of, integer, member, no_member, number, positive, seed_or_random
from .constants import LEVELS_OF_A_DOMAIN, Domain, Statistic, Status
from .denoised import check_use, remark_on_examples
from .errors import CertregError, ResumeError, RowsError, of_model
from .estimator import kinds_of
from .frames import index_of, split_frame
from .questions import Asked, Question, needed_constraints, question_of
from .certified_rows import Rows
from .shards import in_shards, is_folder
from .store import Probe, ResumeFile, stored_run

MOST_NAMED = 8  # rows in a sentence


def certify_rows(
    model: Any,
    X: Any,
    sigma: Union[float, Sequence[float]],
    questions: Union[Asked, Sequence[Asked]],
    *,
    samples: int = 1000,
    scale: Any = None,
    outputs: int = 1,
    kind: Any = None,
    lo: Any = None,
    hi: Any = None,
    batch: int = 0,
    pilot: int = 0,
    constraints: Union[int, str] = 0,
    flags: int = 0,
    seed: Optional[int] = None,
    noise_id: int = 0,
    domain: Union[Domain, str] = Domain.CERTIFY,
    radius: Optional[float] = None,
    model_id: str = "",
    executor: Any = None,
    jobs: int = 1,
    on_crash: str = "stop",
    progress: Progress = True,
    resume: Union[str, "os.PathLike[str]", None] = None,
    keep_records: bool = False,
    check: bool = True,
) -> Rows:
    """Certifies every row of X.

    model      as for Estimator; or a factory, that is a function without parameters that makes the
               model. A factory is called once in each process. None: see keep_records
    X          finite numbers of shape (rows, features), or (rows, *shape) for a model that takes
               (batch, *shape); or a DataFrame: the model then gets DataFrames with its columns
    sigma      noise level > 0, or several different ones. The certificates of one question about
               a row at all sigmas hold together: alpha is divided by the number of sigmas
    questions  one or several; a number is a question with this tolerance
    samples    number of samples of each row at each sigma, pilot included
    scale      noise of each feature in units of sigma, >= 0. For a DataFrame it may be a dict or
               Series by the names of columns, where the others get no noise. "std" and "iqr"
               are the feature_scale of X; better that of a reference set, since whatever is
               served needs the same scale (rows.sampling.scale). Default: 1; for a DataFrame 1
               for columns of floats and 0 for all others
    batch      most rows of one call of the model; 0: as many as 16 MiB hold, up to 1,000
    seed       seed of the noise, 1 to 2^64 - 1; None: a secret one is drawn. The result and the
               resume file contain it
    constraints   as for Estimator. 0: with the gradient if a question names it or has the method
               "paper"; otherwise without
    noise_id   noise id of row 0; row i has noise_id + i. So parts of a table that are certified
               separately, with the same seed, can have the noise that they would have together
    domain     purpose of the noise: "certify", "calibration" (to choose sigma) or "attack".
               Different domains never share noise, nor do they with Calibrated
    radius     computes output_lo and output_hi, between which the output stays within this
               radius, instead of the largest radius
    executor   object with the interface of concurrent.futures.Executor, for example of dask or
               mpi4py.futures. The model has to be picklable, or a factory
    jobs       how many processes to start, 1 for none, 0 for one per processor. Not with an
               executor, whose size is learned
    on_crash   what to do with a row that ends two processes, for example by a segmentation fault:
               "stop", or "skip": the row fails with Status.MODEL_FAILED, stays so in the resume
               file, and the others are computed. With "skip" the model always runs in other
               processes. A caller's executor must replace a process that has ended, as dask does
    progress   True: a count in terminals and notebooks; or a function of (rows done, rows)
    resume     path of a file that keeps the rows that are done; the same call then does the
               missing rows. store.py describes its tables. Programs that use one file at the same
               time all do its rows, and the first to write a row counts; give each its own.
               A folder, or a path that ends with a slash: a file for each 10,000 rows, one
               after the other, beside those that are there for parts (shards.py)
    model_id   name of the model in the resume file. A file with another name is refused. Without a
               model, nothing else tells parts of several models in a folder apart
    keep_records   keeps the outputs of the model in the resume file. Other questions can then be
               answered later with model=None. Without a resume file the result has them
    check      calls Estimator.model_check for the first row, before it is certified. False: not

    The other arguments are those of Estimator. The noise of a row depends on its index only, not
    on the order of rows, on chunks, processes or interruptions.

    A row with outputs that are not finite or out of range fails alone; `errors` of the result
    says why. Raises ValueError and TypeError for wrong arguments, before the model is called;
    RowsError if the model raises an exception or its outputs depend on other rows, if a row ends
    two processes, if processes cannot be replaced or have other versions of certreg; ResumeError if
    the resume file cannot be used or belongs to other arguments; ImportError if `jobs` needs loky,
    which is not installed; CertregError if the library fails otherwise. RowsError, ResumeError and
    KeyboardInterrupt have the rows that are done in their attribute `rows`."""
    own_units = scale is None
    matrix, columns, scale, shape = _inputs(X, scale)
    asked = _questions(questions)
    domain = _domain(domain)
    sigmas, levels = _noise_levels(sigma, domain)
    samples, outputs = integer(samples, "samples", 1), integer(outputs, "outputs", 1)
    batch = integer(batch, "batch") or max(1, min(1000, 2**22 // math.prod(shape)))
    sampling = Sampling(
        shape, sigmas, levels, samples, seed_or_random(seed), scale, outputs,
        kinds_of(kind, outputs), lo, hi, min(batch, samples), integer(pilot, "pilot"),
        constraints_of(constraints) or needed_constraints(asked), integer(flags, "flags"),
        integer(noise_id, "noise_id"),
    )  # fmt: skip
    if sampling.noise_id + len(matrix) > 2**63:
        raise ValueError(
            f"noise_id is {sampling.noise_id}; the ids of all rows must be below 2**63"
        )
    if radius is not None:
        radius = number(radius, "radius")
    check_use(model, shape, scale, columns, sigmas)
    remarks = remark_on_examples(model, matrix)
    for said in (*remarks, *check_categorical(model, matrix, columns, scale)):
        warnings.warn(said, stacklevel=2)
    if not isinstance(on_crash, str) or on_crash not in ("stop", "skip"):
        raise ValueError(f"on_crash is {on_crash!r}; it must be 'stop' or 'skip'")
    check_executor(executor, integer(jobs, "jobs"), on_crash == "skip")
    jobs = integer(jobs, "jobs") or cores()
    job = Job(model, columns, sampling, asked, radius, keep_records)
    work = _Certification(
        job, matrix, domain, model_id, seed is not None, on_crash == "skip", check=check
    )
    work.rows.index, work.rows.columns = index_of(X), getattr(columns, "names", None)
    rows = work.certified(executor, jobs, progress, resume)
    if rows["status"].all():
        refused = own_units and (rows["status"] == Status.INVALID).all()
        remedy = "; scale='std' puts sigma in units of each feature" if refused else ""
        warnings.warn(f"all rows failed: {min(rows.errors.items())[1]}{remedy}", stacklevel=2)
    return rows


# ---- arguments --------------------------------------------------------------------------------
def _inputs(X: Any, scale: Any) -> Tuple[np.ndarray, Any, Any, Tuple[int, ...]]:
    """The rows as float32; the frames.Columns of a DataFrame, or None; the scale; the shape of a
    row."""
    X, columns, scale = split_frame(X, scale)
    if columns is not None and not scale.any():
        raise ValueError("no column gets noise: name those that may change in scale")
    with np.errstate(over="ignore"):
        matrix = numbers(X, np.float32, "X").copy("C")  # which nobody else changes
    check_finite(matrix, X, "X", "a finite float32")
    return matrix, columns, scale, matrix.shape[1:]


def _domain(domain: Any) -> Domain:
    value = member(Domain, domain, "domain")
    if value == Domain.INTERVALS:
        raise ValueError("domain 'intervals' is that of Calibrated alone: give 'calibration'")
    if value not in list(Domain):
        raise no_member(Domain, domain, "domain")
    return Domain(value)


def _questions(questions: Any) -> Tuple[Question, ...]:
    several = questions if isinstance(questions, (list, tuple)) else [questions]
    if not several:
        raise ValueError("questions is empty: give a question or a tolerance")
    asked = tuple(question_of(question) for question in several)
    for index, question in enumerate(asked):
        if question.statistic == Statistic.BALL_CENTER and question.prediction is None:
            raise ValueError(
                f"question {index} is about a vector, which rows do not have; use Estimator and "
                "Estimator.prediction, which return the vector that the certificate is about, or "
                "give prediction"
            )
    return asked


def _noise_levels(sigma: Any, domain: Domain) -> Tuple[Tuple[float, ...], Tuple[int, ...]]:
    """The sigmas, and for each the level of its noise."""
    sigmas = tuple(positive(value, "sigma") for value in np.ravel(sigma).tolist())
    if len(set(sigmas)) < len(sigmas) or not 0 < len(sigmas) < LEVELS_OF_A_DOMAIN:
        raise ValueError("sigma must be one number or several different ones")
    if np.ndim(sigma) == 0:
        return sigmas, (int(domain),)
    return sigmas, tuple(int(domain) + 1 + k for k in range(len(sigmas)))


# ---- the work ---------------------------------------------------------------------------------
class _Certification:
    """One call of certify_rows."""

    def __init__(
        self, job: Job, matrix: np.ndarray, domain: Domain, model_id: str, seeded: bool,
        skips: bool, first: int = 0, check: bool = True,
    ) -> None:  # fmt: skip
        self.job, self.matrix, self.seeded, self.skips = job, matrix, seeded, skips
        self.check = check and job.model is not None
        self.first = first  # the number of the first row, of which there may be others before
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
        self.file: Optional[ResumeFile] = None
        self.shown = Reporter(False, 0, 0)
        self.crashed: dict[int, list[Record]] = {}  # the failures of rows that end processes

    def certified(self, executor: Any, jobs: int, progress: Progress, resume: Any) -> Rows:
        try:
            certify = self._in_shards if is_folder(resume) else self._done
            certify(executor, jobs, progress, resume)
        except (RowsError, ResumeError, KeyboardInterrupt) as error:
            error.rows = self.rows  # type: ignore[union-attr]
            if isinstance(error, RowsError):  # only now it is known how many are done
                error.args = (f"{error}; {self._kept()}",)
            raise
        return self.rows

    def _in_shards(self, executor: Any, jobs: int, progress: Progress, folder: Any) -> None:
        shown = Reporter(progress, 0, len(self.matrix))

        def certified(first: int, last: int, path: str, seed: Optional[int]) -> Rows:
            known, ids = self.job.sampling, self.job.sampling.noise_id + first
            seed = known.seed if self.seeded or seed is None else seed
            job = dataclasses.replace(
                self.job, sampling=dataclasses.replace(known, noise_id=ids, seed=seed)
            )
            of_all = self.rows.domain, self.rows.model_id, self.seeded, self.skips
            part = _Certification(job, self.matrix[first:last], *of_all, first, self.check)
            count = shown.part()
            part._done(executor, jobs, count, path)
            count(last - first)  # what was done before
            return part.rows

        in_shards(folder, self.rows, self.job.model is not None, certified)

    def _done(self, executor: Any, jobs: int, progress: Progress, resume: Any) -> None:
        jobs = min(jobs, len(self.matrix))
        with self._failures(executor is None), contextlib.ExitStack() as stack:
            self._check(resume)
            if resume is not None:
                self.file = stack.enter_context(contextlib.closing(ResumeFile(resume)))
                self.rows.resume = self.file.path
                self._take_seed(self.file)
            alone = executor is None and jobs == 1 and not self.skips
            place: Any = (
                LocalRunner(self.job) if alone else ExecutorRunner(self.job, executor, jobs)
            )
            stack.callback(place.close)
            if self.file:
                self._open_run(self.file, place)
            left = np.flatnonzero(~self.rows.done)
            new = self._without_records(left)
            if self.check:
                check_at(place, new, self.matrix, self._fail)
            self.shown = Reporter(progress, len(self.rows) - len(left), len(self.rows))
            Scheduler(place, self._task, self._keep, self._crashed).compute(left)

    def _take_seed(self, file: ResumeFile) -> None:
        known = file.seed()
        if known is not None and not self.seeded:
            sampling = dataclasses.replace(self.job.sampling, seed=known)
            self.job = dataclasses.replace(self.job, sampling=sampling)
            self.rows.sampling = sampling

    def _check(self, resume: Any) -> None:
        """Raises ValueError for a wrong plan or question, before the model is called."""
        job = self.job
        if job.model is None and resume is None:
            raise ValueError("model is None: give a model, or a `resume` file that has records")
        if job.model is None and not os.path.exists(resume):
            raise ResumeError(f"there is no file {resume}: give the model too")
        first = S.Certificate.from_buffer(empty_certificates(len(job.questions)).data)
        try:
            with job.sampling.estimator(None) as e:
                e.begin(np.zeros(e.shape), job.sampling.sigmas[0], 0)
                e._answer(0, job.asked(), job.radius, first)
        except CertregError as error:
            if error.status in (Status.INVALID, Status.VERSION):
                raise ValueError(str(error)) from error

    def _open_run(self, file: ResumeFile, place: Any) -> None:
        probe = None
        if self.job.model is not None:
            rows = sorted({0, len(self.matrix) // 2, len(self.matrix) - 1})
            outputs = probed(place, self.job.sampling, self.matrix, rows, self._crashed)
            probe = Probe(tuple(rows), outputs)
        asked = [to_json(question) for question in self.job.questions]
        asked += [] if self.job.radius is None else [f"radius {self.job.radius!r}"]
        named = self.job.sampling.constraints  # no record depends on them
        asked += [f"constraints {named}"] if named else []
        plan = plan_of(self.job, self.matrix)
        file.begin(stored_run(self.rows.model_id, self.rows.seed, plan, asked, probe), self.rows)

    def _without_records(self, left: np.ndarray) -> list[int]:
        """The rows that have to be sampled. Raises ValueError if there are some and no model."""
        known = self.file.rows_with_records(len(self.rows.sigmas)) if self.file else set()
        new = [row for row in left.tolist() if row not in known]
        if new and self.job.model is None:
            raise ValueError(
                f"{self.rows.resume} has no records of {len(new)} rows, the first is row "
                f"{new[0] + self.first}: give the model too"
            )
        return new

    def _task(self, rows: np.ndarray) -> Tuple[Any, ...]:
        known = self.file.records(int(rows[0]), int(rows[-1])) if self.file else []
        for row in rows.tolist():
            known += self.crashed.get(row, [])
        return self.matrix[rows], known

    def _keep(self, chunk: Chunk) -> None:
        done = chunk.rows[: len(chunk.certificates)]
        if self.file and len(done):
            self.file.add(chunk)
        elif not self.file:
            self.rows.records += chunk.records
        self.rows.certificates[done] = chunk.certificates
        self.rows.done[done] = True
        self.rows.errors.update({(row, k): text for row, k, text in chunk.errors})
        self.shown.advance(len(done))
        if chunk.failure is not None:
            self._fail(chunk.failure, int(chunk.rows[len(done)]))

    def _fail(self, failure: BaseException, row: int) -> None:
        if isinstance(failure, KeyboardInterrupt):
            raise failure
        row += self.first
        raise RowsError(f"row {row}: {of_model(failure)}", row) from failure

    def _crashed(self, row: int, error: BaseException) -> None:
        """What to do with a row that has ended two processes."""
        said = "two processes ended while they computed it"
        if not self.skips:
            hint = "; on_crash='skip' goes on without it"
            failure = CertregError(Status.MODEL_FAILED, text=said + hint)
            failure.__cause__ = error
            self._fail(failure, row)
        status, sigmas = int(Status.MODEL_FAILED), range(len(self.rows.sigmas))
        self.crashed[row] = [Record(row, k, None, status, said) for k in sigmas]

    def _kept(self) -> str:
        said = f"{int(self.rows.done.sum())} of {len(self.rows)} rows are done"
        if self.rows.resume:
            said += f" and kept in {self.rows.resume}: call again to do the rest"
        return said

    def _ended(self, error: BaseException, ours: bool) -> str:
        """A sentence about a process that has ended and cannot be replaced."""
        if ours:
            return "each process ended while it made the model: try jobs=1, or give a factory"
        rows = [row + self.first for row in getattr(error, "rows", [])]
        more = ", ..." if len(rows) > MOST_NAMED else ""
        named = ", ".join(map(str, rows[:MOST_NAMED])) + more
        which = f" while it computed one of the rows {named}" if rows else ""
        return (
            f"a process that ran the model has ended{which} (jobs= instead of executor= finds the "
            "row)"
        )

    @contextlib.contextmanager
    def _failures(self, ours: bool) -> Iterator[None]:
        """Adds the rows that are done to an exception that ends the work."""
        try:
            yield
        except BaseException as error:
            left = ~self.rows.done  # an interrupt may have come before a row was marked as done
            self.rows.certificates[left] = empty_certificates(*self.rows.certificates.shape)[left]
            if is_worker_death(error):
                raise RowsError(self._ended(error, ours), rows=self.rows) from error
            if isinstance(error, (RowsError, ResumeError, KeyboardInterrupt)):
                error.rows = self.rows  # type: ignore[union-attr]
            raise

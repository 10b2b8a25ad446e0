"""Certifies rows in one process: the job of a worker, the worker, and its results."""

from __future__ import annotations

import ctypes as C
import contextlib
import dataclasses
import functools
import math
import os
import pickle
import socket
import threading
import time
from typing import ContextManager, Mapping, NamedTuple, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _structs as S
from ._covering import Covering, Found, RowRefused, pilot_of_others
from ._library import version
from ._records import recorded
from ._types import Function, Model, Shape
from .alternatives import Alternatives
from .constants import Output, Status, __version__, version_text
from .denoised import function_of_rows, made_of
from .errors import CertregError, RowsError, SharedCallError, of_model, raised
from .estimator import Estimator, kinds_of
from .frames import Columns
from .questions import Question, digests_of, divided, structs_of
from .results import refused_certificate

CERTIFICATE = cast("np.dtype[np.void]", np.dtype(S.Certificate))  # of a structured array
FIELDS = [name for name in CERTIFICATE.names or () if name not in ("struct_size", "reserved")]
ADDED = FIELDS[FIELDS.index("reason") :]  # since 0.3.0: the last columns of tables


class Record(NamedTuple):
    """The outputs of the model for one row and sigma."""

    row: int
    sigma_index: int
    data: bytes | None  # as Estimator.export returns it; None: sampling failed
    status: int  # of the failure, and its text
    error: str | None

    def outputs(self, outputs: int) -> np.ndarray:
        """The outputs of all samples, (samples, outputs), with NaN for failed samples; empty if
        sampling failed. Raises ValueError if the model has another number of outputs."""
        if self.data is None:
            return np.empty((0, outputs), np.float32)
        found = recorded(self.data)
        if outputs != found.shape[1]:
            held = found.shape[1]
            raise ValueError(f"outputs is {outputs}; the model of this record has {held}")
        return found


@dataclasses.dataclass(frozen=True)
class Sampling:
    """The arguments that determine the samples of all rows, beside the model and the inputs."""

    shape: Shape
    sigmas: tuple[float, ...]
    levels: tuple[int, ...]  # of the noise, one for each sigma
    samples: int
    seed: int = dataclasses.field(repr=False)
    scale: ArrayLike | None = None
    outputs: int = 1
    kind: np.ndarray | None = None
    lo: ArrayLike | None = None
    hi: ArrayLike | None = None
    batch: int = 0
    pilot: int = 0
    constraints: int = 0
    flags: int = 0
    noise_id: int = 0  # of row 0
    group: int = 0  # consecutive rows whose samples share calls of the model; 0: none do

    def turn(self, output: int) -> float:
        """The full turn of an angle; infinite for a number."""
        kinds = kinds_of(self.kind, self.outputs)
        if kinds is None or output < 0 or kinds[output] == Output.REAL:
            return math.inf
        lo, hi = -math.pi if self.lo is None else self.lo, math.pi if self.hi is None else self.hi
        turns: np.ndarray = np.broadcast_to(np.subtract(hi, lo), self.outputs)
        return float(turns[output])

    def with_unit_noise(self) -> "Sampling":
        """A copy with noise of standard deviation sigma for every feature."""
        return dataclasses.replace(self, scale=None)

    def estimator(self, model: Function | None) -> Estimator:
        """A new estimator for this model."""
        more = dict(vars(self))
        for name in ("shape", "sigmas", "levels", "samples", "noise_id", "group"):
            del more[name]
        return Estimator(model, self.shape, self.samples, check=False, **more)


@dataclasses.dataclass(frozen=True)
class Job:
    """The arguments that are the same for all rows."""

    model: Model  # None: all outputs come from records
    columns: Columns | None
    sampling: Sampling
    questions: tuple[Question, ...]
    radius: float | None  # None: compute radii; otherwise output bounds at this radius
    keeps_records: bool
    rows: int = 0  # of the whole table
    alternatives: Alternatives | None = None

    @property
    def group(self) -> int:
        """The number of consecutive rows that are sampled together; 0: each row has calls of its
        own, also if questions have targets, because each row then stops by itself."""
        targets = any(question.target is not None for question in self.questions)
        alone = self.model is None or targets or self.alternatives is not None
        return 0 if alone else self.sampling.group

    def covering(self, nominal: Estimator, function: Function | None) -> Covering | None:
        """For rows with alternatives, the object that certifies them."""
        if self.alternatives is None:
            return None
        questions = divided(self.questions, len(self.sampling.sigmas))
        pilot = pilot_of_others(questions, self.sampling.kind, 0)
        estimator = dataclasses.replace(self.sampling, pilot=pilot).estimator(function)
        estimator._categorical = nominal._categorical
        return Covering(self.alternatives, nominal, estimator, questions, self.sampling.samples)

    def structs(self, row: int = 0) -> "C.Array[S.Question]":
        """The questions about a row as structs. The certificates of all sigmas hold together: each
        has a share of alpha."""
        about_it = [question._of_rows(row) for question in self.questions]
        return structs_of(divided(about_it, len(self.sampling.sigmas)))

    def function(self) -> Function | None:
        """The model as a function of arrays; None if there is none. Raises RowsError if the factory
        raises an exception."""
        if self.model is None:
            return None
        try:
            made = made_of(self.model)
        except Exception as error:
            raise RowsError(raised("the factory of the model", error)) from error
        return function_of_rows(made, self.columns)


@dataclasses.dataclass
class Chunk:
    """The results of some rows. `failure` is None, or the exception that ended the chunk before row
    rows[len(certificates)] was done."""

    rows: np.ndarray
    certificates: np.ndarray  # (rows done, sigmas, questions)
    errors: list[tuple[int, int, str]]
    records: list[Record]
    failure: BaseException | None
    seconds: float
    found: list[tuple[int, int, Found]] = dataclasses.field(default_factory=list)  # alternatives


def empty_certificates(*shape: int) -> np.ndarray:
    """Certificates that claim nothing."""
    return np.full(shape, np.frombuffer(bytes(refused_certificate()), CERTIFICATE)[0])


class Worker:
    """Certifies rows with one estimator, row by row."""

    def __init__(self, job: Job) -> None:
        self.job, self.function = job, job.function()
        self.samples = job.sampling.samples
        self.of_one_row = {Status.NOT_FINITE, Status.OUT_OF_RANGE}
        if self.function is None:  # answers come from records, and some may have too few samples
            self.samples = 0
            self.of_one_row.add(Status.WRONG_STATE)
        self.estimator = job.sampling.estimator(self.function)
        self.estimator._names = getattr(job.columns, "names", None)
        self.outputs: dict[tuple[int, int], np.ndarray] = {}  # of rows that were sampled together
        self.failed: dict[int, BaseException] = {}  # rows that fail alone as in a shared call
        self.covering = job.covering(self.estimator, self.function)
        self.questions = job.structs()
        each = [question.tolerance for question in job.questions]
        self.tolerances = {q: of for q, of in enumerate(each) if isinstance(of, tuple)}

    def probe(self, X: np.ndarray) -> np.ndarray:
        """The outputs of the model for inputs without noise, of shape (rows, columns)."""
        if self.function is None:
            raise ValueError("without a model there is nothing to probe")
        try:
            return np.array(self.function(X), np.float32).reshape(len(X), -1)
        except Exception as error:
            raise RowsError(raised("the model", error)) from error

    def check(self, rows: np.ndarray, X: np.ndarray) -> Chunk:
        """Checks the model at an input. `errors` of the result has remarks, and `failure` the
        exception if the model is refused."""
        chunk, e = Chunk(rows, np.empty(0), [], [], None, 0.0), self.estimator
        try:
            e._begin(X[0].ravel(), self.job.sampling.sigmas[0], 0, 0)
            e._missing[0].check()
            found, why = e._model_checked(0)
            if why.status:
                raise why
            if found:
                chunk.errors.append((int(rows[0]), 0, str(why)))
        except BaseException as error:
            chunk.failure = error
        return chunk

    def answer(self, rows: np.ndarray, X: np.ndarray, records: Sequence[Record] = ()) -> Chunk:
        """Certifies the rows with these indices and the inputs X. Rows in `records` are not sampled
        again."""
        begun = time.perf_counter()
        sampling, failure, done = self.job.sampling, None, 0
        group = self.job.group
        self.outputs.clear()
        self.failed.clear()
        out = empty_certificates(len(rows), len(sampling.sigmas), len(self.questions))
        chunk = Chunk(rows, out, [], [], None, 0.0)
        known = {(record.row, record.sigma_index): record for record in records}
        try:
            X = np.ascontiguousarray(X, np.float32)
            with self.estimator._callbacks.holding_interrupts():
                for done, row in enumerate(rows.tolist()):
                    if self.estimator._categorical:
                        self.estimator._categorical.check(X[done])
                    if group and row % group == 0:
                        self._sample_group(rows[done : done + group], X[done:], known)
                    if row in self.failed:
                        raise self.failed[row]
                    z = X[done].ravel()
                    if self.covering:
                        self._cover(self.covering, row, z, out[done], known, chunk)
                        continue
                    self._row(row, z, out[done], known, chunk)
            done = len(rows)
        except BaseException as error:  # KeyboardInterrupt as well: results are kept
            failure = error
        out["question_digest"] = digests_of(self.job.questions, rows)
        chunk.certificates, chunk.failure = out[:done], failure
        chunk.seconds = time.perf_counter() - begun
        return chunk

    def _sample_group(
        self, rows: np.ndarray, X: np.ndarray, known: Mapping[tuple[int, int], Record]
    ) -> None:
        """Calls the model once for all samples of a group of rows, and keeps their outputs for
        `_certify`. If the group is not complete, or one of its rows fails alone too, it keeps none,
        and each row has calls of its own."""
        sampling, e = self.job.sampling, self.estimator
        first = int(rows[0])
        if int(rows[-1]) - first + 1 != min(self.job.group, self.job.rows - first):
            return
        units = [(i, k) for i in range(len(rows)) for k in range(len(sampling.sigmas))]
        if all((first + i, k) in known for i, k in units):
            return
        begins = [
            functools.partial(
                e._begin, X[i].ravel(), sampling.sigmas[k],
                sampling.noise_id + first + i, sampling.levels[k],
            )
            for i, k in units
        ]  # fmt: skip
        try:
            y = e._sample_together(begins, sampling.samples)
        except SharedCallError as error:
            (unit,), cause = error.args, cast(BaseException, error.__cause__)
            if unit is None:
                text = f"{of_model(cause)}, in a call for {len(rows)} rows and in no call for one"
                raise CertregError(Status.MODEL_FAILED, text=text) from cause
            # This row explains the failure of the call, so no sample of the others has failed.
            self.failed[first + units[unit][0]] = cause
            return
        if y is not None:
            self.outputs = {(first + i, k): y[unit] for unit, (i, k) in enumerate(units)}

    def _cover(
        self, covering: Covering, row: int, z: np.ndarray, out: np.ndarray,
        known: Mapping[tuple[int, int], Record], chunk: Chunk,
    ) -> None:  # fmt: skip
        """Certifies a row with its alternatives."""
        sampling = self.job.sampling
        for k, (sigma, level) in enumerate(zip(sampling.sigmas, sampling.levels)):
            noise_id = sampling.noise_id + row
            try:
                if (row, k) in known:  # it has ended processes
                    raise CertregError(known[row, k].status, text=known[row, k].error)
                certificates, found = covering.certify(z, sigma, noise_id, level)
            except (CertregError, RowRefused) as error:
                status = getattr(error, "status", Status.INVALID)
                failed = isinstance(error, CertregError) and status not in self.of_one_row
                if failed and (row, k) not in known:
                    raise
                out[k]["status"], out[k]["noise_id"], out[k]["sigma"] = status, noise_id, sigma
                chunk.errors.append((row, k, str(error)))
                continue
            for q, certificate in enumerate(certificates):
                out[k, q] = np.frombuffer(bytes(certificate), CERTIFICATE)[0]
            chunk.found.append((row, k, found))

    def _row(
        self,
        row: int,
        z: np.ndarray,
        out: np.ndarray,
        known: Mapping[tuple[int, int], Record],
        chunk: Chunk,
    ) -> None:
        sampling = self.job.sampling
        errors, kept = [], []
        for q, each in self.tolerances.items():
            self.questions[q].tolerance = each[row]
        for k, (sigma, level) in enumerate(zip(sampling.sigmas, sampling.levels)):
            record = known.get((row, k))
            outputs = self.outputs.pop((row, k), None)
            error = self._certify(z, sigma, row, level, record, outputs, out[k])
            if error is not None:
                errors.append((row, k, str(error)))
            if self.job.keeps_records and (record is None or record.data is None):
                kept.append(record or self._record(row, k, error))
        chunk.errors += errors
        chunk.records += kept

    def _certify(
        self,
        z: np.ndarray,
        sigma: float,
        row: int,
        level: int,
        record: Record | None,
        outputs: np.ndarray | None,
        out: np.ndarray,
    ) -> CertregError | None:
        """Writes the certificates of the input z, at one sigma, to `out`. Returns the
        failure of this row if its input or outputs cannot be used. Raises all other failures, for
        example an exception of the model or a wrong question."""
        e, noise_id = self.estimator, self.job.sampling.noise_id + row
        recorded: ContextManager[None] = contextlib.nullcontext()
        try:
            if record is not None and record.data is None:
                raise CertregError(record.status, text=record.error)
            e._begin(z, sigma, noise_id, level)
            e._missing[0].check()
        except CertregError as error:
            out["status"], out["noise_id"], out["sigma"] = error.status, noise_id, sigma
            return error
        if record is not None and record.data is not None:
            e.import_(record.data)
        elif outputs is not None:
            recorded = e._recorded(lambda: e._begin(z, sigma, noise_id, level), outputs)
        first = S.Certificate.from_buffer(out.data)
        try:
            with recorded:
                e._certify_into(self.samples, self.questions, self.job.radius, first)
        except CertregError as error:
            if error.status not in self.of_one_row:
                raise
            return error
        return None

    def _record(self, row: int, k: int, error: CertregError | None) -> Record:
        """The outputs to keep. If sampling failed, only the failure is kept, so that other
        questions fail too and are not answered from an incomplete record."""
        of_question = error and error.status == Status.OUT_OF_RANGE and error.sample < 0
        if error is not None and not of_question:  # a tolerance too small for steps of float32
            return Record(row, k, None, int(error.status), str(error))
        return Record(row, k, self.estimator.export(), 0, None)


# ---- in other processes -----------------------------------------------------------------------
KEPT_JOBS = 4  # for runs that take turns in a process

Process = tuple[str, int]  # machine and number


class Token(NamedTuple):
    """The name of a job, and the versions of its sender."""

    job: str
    versions: str


class Reply(NamedTuple):
    """The result of a task."""

    value: object  # of a method of Worker; None: the process lacks the job
    number: int = 0  # of the task
    process: Process = ("", 0)
    thread: int = 0


def versions() -> str:
    """The versions of the package and of the library that this process uses."""
    return f"certreg {__version__} with library {version_text(version())}"


class _ThreadWorker(threading.local):
    """The worker of a thread for its last job."""

    job: str | None = None
    worker: Worker | None = None


_thread_worker = _ThreadWorker()
_jobs: dict[str, bytes] = {}  # the packed jobs of this process, the last one at the end


def begin_process(parent: int, token: Token, packed: bytes) -> None:
    """Prepares a process of loky, which ends when its parent ends."""

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    _jobs[token.job] = packed


def _worker_of(job: str) -> Worker | None:
    """The worker of this thread for a job; None if this process lacks the job."""
    if _thread_worker.job != job:
        packed = _jobs.get(job)
        if packed is None:
            return None
        _thread_worker.worker = _thread_worker.job = None
        _thread_worker.worker, _thread_worker.job = Worker(pickle.loads(packed)), job
    return _thread_worker.worker


def work(token: Token, packed: bytes | None, number: int, method: str, *task: object) -> Reply:
    """Runs a method of Worker in any process of an executor. `packed` is the job for a process that
    lacks it. Raises RowsError if this process has other versions than the sender."""
    if versions() != token.versions:
        raise RowsError(
            f"a worker has {versions()}, but its work was sent by {token.versions}: install the "
            "same versions in both places"
        )
    if packed is not None:
        _jobs[token.job] = packed
        for old in list(_jobs)[:-KEPT_JOBS]:
            _jobs.pop(old, None)
    worker = _worker_of(token.job)
    value = None if worker is None else getattr(worker, method)(*task)
    if isinstance(value, Chunk) and value.failure is not None:
        value.failure = _portable(value.failure)
    return Reply(value, number, (socket.gethostname(), os.getpid()), threading.get_ident())


def _portable(error: BaseException) -> BaseException:
    """The exception, or a RuntimeError with its text if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")

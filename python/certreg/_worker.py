"""Certifies rows in one process: the job of a worker, the worker, and its results."""

from __future__ import annotations

import ctypes as C
import dataclasses
import math
import os
import pickle
import socket
import threading
import time
from typing import Any, Mapping, NamedTuple, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _structs as S
from ._arrays import shared_rows
from ._library import version
from ._queue import ITSELF, Input, Node, Queue
from ._types import Function, Model, Shape
from .alternatives import Alternatives, Budget, Cell, Found
from .constants import CHECK_ROWS, Dependence, Output, Status, __version__, version_text
from .denoised import function_of_rows, made_of
from .errors import CertregError, RowsError, raised, refusal_of
from .estimator import Estimator, kinds_of
from .frames import Columns
from .questions import Question, digests_of, divided, structs_of
from .results import refused_certificate

CERTIFICATE = cast("np.dtype[np.void]", np.dtype(S.Certificate))  # of a structured array
FIELDS = [name for name in CERTIFICATE.names or () if name not in ("struct_size", "reserved")]
ADDED = FIELDS[FIELDS.index("reason") :]  # since 0.3.0: the last columns of tables


def recorded(data: bytes) -> np.ndarray:
    """The outputs of all samples of a record, (samples, outputs), with NaN for failed samples.
    docs/stability.md describes the bytes."""
    words = np.frombuffer(data, "<u8", 18)  # magic, 15 words, and the first range
    outputs, samples = int(words[7]), int(words[17])
    return np.frombuffer(data, "<f4", samples * outputs, words.nbytes).reshape(samples, outputs)


class Record(NamedTuple):
    """The outputs of the model for one row and sigma, or for one of its alternatives."""

    row: int
    sigma_index: int
    data: bytes | None  # as Estimator.export returns it; None: sampling failed
    status: int  # of the failure, and its text
    error: str | None
    number: int = 0  # of the alternative; 0: the row itself
    depth: int = 0  # of a part of it, and its path
    path: int = 0
    picks: int = 0  # 1: it has only the samples that are asked again

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

    def estimator(self, model: Function | None, check: bool = False) -> Estimator:
        """A new estimator for this model, with `check` as its."""
        more = dict(vars(self))
        for name in ("shape", "sigmas", "levels", "samples", "noise_id"):
            del more[name]
        return Estimator(model, self.shape, self.samples, check=check, **more)


@dataclasses.dataclass(frozen=True)
class Job:
    """The arguments that are the same for all rows."""

    model: Model  # None: all outputs come from records
    columns: Columns | None
    sampling: Sampling
    questions: tuple[Question, ...]
    radius: float | None  # None: compute radii; otherwise output bounds at this radius
    keeps: str  # "records", or their "picks" to ask the model again; or nothing
    rows: int = 0  # of the whole table
    alternatives: Alternatives | None = None
    audits: bool = True  # whether the model is asked again for some samples

    @property
    def batch(self) -> int:
        """The rows of a call of the model."""
        plan = self.sampling
        most = shared_rows(plan.batch, math.prod(plan.shape), self.columns is not None)
        return min(most, max(1, self.rows) * len(plan.sigmas) * plan.samples)

    def budget(self, k: int) -> Budget:
        """The samples of a row with alternatives at a sigma."""
        plan, questions = self.sampling, divided(self.questions, len(self.sampling.sigmas))
        return Budget(questions, plan.samples, plan.pilot, plan.sigmas[k], plan.kind)

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
    doubt: str = ""  # of the check of the model


def empty_certificates(*shape: int) -> np.ndarray:
    """Certificates that claim nothing."""
    return np.full(shape, np.frombuffer(bytes(refused_certificate()), CERTIFICATE)[0])


def claims_of(certificates: np.ndarray, of_bounds: bool) -> np.ndarray:
    """True for each certificate that claims something."""
    if of_bounds:
        return np.asarray(np.isfinite(certificates["output_hi"] - certificates["output_lo"]))
    return np.asarray(certificates["radius"] > 0)


class Worker:
    """Certifies rows by one queue, in which they share calls of the model."""

    def __init__(self, job: Job) -> None:
        self.job, self.function = job, job.function()
        self.of_one_row = {Status.NOT_FINITE, Status.OUT_OF_RANGE}
        if self.function is None:  # answers come from records, and some may have too few samples
            self.of_one_row.add(Status.WRONG_STATE)
        if job.alternatives:
            self.of_one_row.add(Status.INVALID)
        self.unchecked = job.audits and self.function is not None
        self.estimator = job.sampling.estimator(self.function or _no_model, self.unchecked)
        self.estimator._unchecked = False
        self.estimator._names = getattr(job.columns, "names", None)
        self.random = 0.0  # the change of equal rows in another call
        self.queue = self._queue(0)
        self.questions = job.structs()
        each = [question.tolerance for question in job.questions]
        self.tolerances = {q: of for q, of in enumerate(each) if isinstance(of, tuple)}

    def _queue(self, alternatives: int) -> Queue:
        """A queue for rows with so many alternatives."""
        job, plan = self.job, self.job.sampling
        inputs = 2 * max(1, job.rows) * len(plan.sigmas)  # an audit is for half of them
        more = inputs, alternatives, None, job.keeps, self.random
        return Queue(self.estimator, len(job.questions), plan.samples, job.batch, *more)

    def close(self) -> None:
        """Frees memory."""
        self.queue.close()
        self.estimator.close()

    def _check(self, X: np.ndarray) -> None:
        """Checks the model at the first row that has no record and can begin, once."""
        e = self.estimator
        for row, z in zip(self.chunk.rows.tolist(), X):
            if not self.unchecked or self.done is not None or (row, 0) in self.known:
                continue
            try:
                e._begin(z.ravel(), self.job.sampling.sigmas[0], 0, 0)
                e._missing[0].check()
            except Exception:  # the row fails when it is added
                continue
            found, why = e._model_checked(CHECK_ROWS)
            why.row = row
            if why.status:
                raise why
            self.unchecked, self.chunk.doubt = False, str(why) if found else ""
            if found == Dependence.CALL:  # the audit compares no outputs of a random model
                self.random = why.value
                self.queue.close()
                self.queue = self._queue(0)

    def answer(
        self, rows: np.ndarray, X: np.ndarray, records: Sequence[Record] = (),
        done: np.ndarray | None = None,
    ) -> Chunk:  # fmt: skip
        """Certifies the rows with these indices and the inputs X. Rows in `records` are not sampled
        again. `done`: the certificates of these rows, if the model is only asked again for samples
        in `records`; `failure` of the result is then the refusal."""
        begun, plan = time.perf_counter(), self.job.sampling
        shape = len(rows), len(plan.sigmas), len(self.questions)
        self.chunk = Chunk(rows, empty_certificates(*shape), [], [], None, 0.0)
        self.known: dict[tuple[int, int], list[Record]] = {}
        for record in records:
            self.known.setdefault(record[:2], []).append(record)
        self.left, self.end, self.done = np.full(shape[0], shape[1]), shape[0], done
        try:
            with self.estimator._callbacks.holding_interrupts():
                self._check(X)
                self._compute(np.ascontiguousarray(X, np.float32))
        except BaseException as error:  # KeyboardInterrupt as well: results are kept
            self.chunk.failure = error
        return self._chunk_of_done(time.perf_counter() - begun)

    def _chunk_of_done(self, seconds: float) -> Chunk:
        """The results before the first row that is not done."""
        chunk, count = self.chunk, next(iter(np.flatnonzero(self.left[: self.end])), self.end)
        done = set(chunk.rows[:count].tolist())
        out = chunk.certificates[:count]
        out["question_digest"] = digests_of(self.job.questions, chunk.rows[:count])
        errors = [error for error in chunk.errors if error[0] in done]
        found = [one for one in chunk.found if one[0] in done]
        kept = [record for record in chunk.records if record.row in done]
        return Chunk(chunk.rows, out, errors, kept, chunk.failure, seconds, found, chunk.doubt)

    def _compute(self, X: np.ndarray) -> None:
        """Adds rows while there is room, and computes until all have results, or all before one
        that fails. The tag of a row counts its sigmas too."""
        self.queue.clear()
        sigmas, tag = len(self.job.sampling.sigmas), 0
        while tag < self.end * sigmas or self.queue.inputs:
            while tag < self.end * sigmas and self._add(tag, X[tag // sigmas].ravel()):
                tag += 1
            result = self.queue.take()
            if result and result.error and result.error.status not in self.of_one_row:
                self._end(result.tag, result.error)  # for example a wrong question
            elif result:
                self._note(*result)
            elif self.queue.inputs:
                for failed, error in self.queue.compute().items():
                    self._end(failed, error)

    def _end(self, tag: int, error: BaseException) -> None:
        """Ends the chunk before a row. Raises the refusal of a model, with the row of the table in
        place of the tag."""
        sigmas, refusal = len(self.job.sampling.sigmas), refusal_of(error)
        if refusal:
            known = refusal.row >= 0
            refusal.row = int(self.chunk.rows[refusal.row // sigmas]) if known else -1
            raise refusal
        if tag // sigmas < self.end:
            self.end, self.chunk.failure = tag // sigmas, error
            self.queue.drop(self.end * sigmas)

    def _add(self, tag: int, z: np.ndarray) -> bool:
        """Adds a row at a sigma, unless the queue is full: then it returns False."""
        plan = self.job.sampling
        i, k = divmod(tag, len(plan.sigmas))
        row = int(self.chunk.rows[i])
        known = self.known.get((row, k), [])
        if self.done is not None:
            return self._ask(tag, z, known, self.done[i, k])
        failed = next((record for record in known if record.data is None), None)
        try:
            if failed:
                raise CertregError(failed.status, text=failed.error)
            if self.estimator._categorical:
                self.estimator._categorical.check(z)
            cells, samples = self._cells(z, k, known)
            if len(cells) - 1 > self.queue.alternatives:
                if self.queue.inputs:
                    return False
                self.queue.close()
                self.queue = self._queue(len(cells) - 1)
            for q, each in self.tolerances.items():
                self.questions[q].tolerance = each[row]
            given = tag, cells, plan.sigmas[k], plan.noise_id + row, plan.levels[k], samples
            data = {record[5:8]: cast(bytes, record.data) for record in known}
            return self.queue.add(Input(*given, self.questions, self.job.radius or 0.0, data))
        except CertregError as error:
            if not failed and error.status not in (*self.of_one_row, Status.INVALID):
                self._end(tag, error)
                return True
            none = empty_certificates(len(self.questions))
            none["status"], none["sigma"] = error.status, plan.sigmas[k]
            none["noise_id"] = plan.noise_id + row
            self._note(tag, error, none, None, {})
        except Exception as error:
            self._end(tag, error)
        return True

    def _ask(self, tag: int, z: np.ndarray, known: list[Record], done: np.ndarray) -> bool:
        """Adds a row that is done, to ask the model again, unless the queue is full."""
        plan = self.job.sampling
        i, k = divmod(tag, len(plan.sigmas))
        own = [record.data for record in known if record.data and record[5:8] == ITSELF]
        bounds = self.job.radius is not None
        claims = np.flatnonzero(claims_of(done, bounds)).tolist()
        if not own or not claims:
            return True
        asked = (S.Question * len(claims))(*[self.questions[q] for q in claims])
        for struct, c in zip(asked, done[claims]):
            struct.tolerance = (c["output_hi"] - c["output_lo"]) / 2 if bounds else c["tolerance"]
            struct.relative_tolerance = 0
        noise = plan.sigmas[k], plan.noise_id + int(self.chunk.rows[i]), plan.levels[k]
        more: Any = dict(records={ITSELF: own[0]}, asks_again=True)
        return self.queue.add(Input(tag, [Cell("", z)], *noise, plan.samples, asked, **more))

    def _cells(self, z: np.ndarray, k: int, known: list[Record]) -> tuple[list[Cell], int]:
        """A row and its alternatives, and the number of its samples; without a model that of its
        record."""
        if self.job.alternatives:
            try:
                return self.job.alternatives.cells(z, self.job.budget(k))
            except ValueError as error:
                raise CertregError(Status.INVALID, text=str(error)) from error
        samples = self.job.sampling.samples
        if self.function is None:
            samples = len(recorded(cast(bytes, known[0].data)))
        return [Cell("", z)], samples

    def _note(
        self, tag: int, error: CertregError | None, certificates: np.ndarray, found: Found | None,
        records: Mapping[Node, bytes],
    ) -> None:  # fmt: skip
        """Notes a result. If sampling failed, only the failure is kept, so that other questions
        fail too and are not answered from an incomplete record."""
        if self.done is not None:
            return
        i, k = divmod(tag, len(self.job.sampling.sigmas))
        row, chunk = int(self.chunk.rows[i]), self.chunk
        self.left[i] -= 1
        chunk.certificates[i, k] = certificates
        chunk.errors += [(row, k, str(error))] if error else []
        chunk.found += [(row, k, found)] if found else []
        whole = self.job.keeps == "records"
        kept = [
            Record(row, k, data, 0, None, *node, picks=int(not whole))
            for node, data in records.items()
            if whole or node == ITSELF
        ]
        # A tolerance that is too small for steps of float32 is a failure of the question.
        if error and not (error.status == Status.OUT_OF_RANGE and error.sample < 0):
            kept = [Record(row, k, None, int(error.status), str(error))] if whole else []
        chunk.records += kept


def _no_model(x: np.ndarray) -> np.ndarray:
    text = "a record has too few samples: give the model too"
    raise CertregError(Status.WRONG_STATE, text=text)


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

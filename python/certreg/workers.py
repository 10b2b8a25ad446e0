"""Certifies rows in chunks, in this process or by an executor.

A task has a result, raises an exception, or is lost: a process ended, the task was cancelled, or
the executor returned None. Lost rows are computed again, alone."""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import dataclasses
import logging
import math
import os
import pickle
import secrets
import signal
import socket
import threading
import time
from multiprocessing import resource_tracker
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence, TypeAlias
from typing import TypeVar, Union, cast

import numpy as np

from . import structs as S
from .alternatives import Alternatives, Budget, Cell, Found
from .arguments import Executor, Function, Model, Package, abbreviated, installed, integer, of_class
from .arrays import shared_rows
from .constants import CHECK_ROWS, Dependence, Status, __version__, version_text
from .denoise import function_of_rows, made_of
from .display import tell, warn
from .frames import Columns
from .inputs import Inputs
from .library import CertregError, cores, raised, refusal_of, version
from .questions import Question, digests_of, divided, structs_of
from .queue import ITSELF, Input, Node, Queue
from .table import Record, RowsError, Sampling, claims_of, empty_certificates, recorded


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
    inputs: Inputs | None = None  # what is known of them

    @property
    def batch(self) -> int:
        """The rows of a call of the model."""
        plan = self.sampling
        most = shared_rows(plan.batch, math.prod(plan.shape), self.columns is not None)
        return min(most, max(1, self.rows) * len(plan.sigmas) * plan.samples)

    def budget(self, k: int) -> Budget:
        """The samples of a row with alternatives at a sigma."""
        plan = self.sampling
        return Budget(self.asked(), plan.samples, plan.pilot, plan.sigmas[k], plan.kind)

    def asked(self, row: int = 0) -> list[Question]:
        """The questions about a row. The certificates of all sigmas hold together: each has a share
        of alpha."""
        about_it = [question._of_rows(row) for question in self.questions]
        return divided(about_it, len(self.sampling.sigmas))

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


def fastest(call: Function, rows: np.ndarray, frames: bool) -> int:
    """The number of rows in a call, 256, 2,048 or those of the default, with the least time for a
    row, by the faster of two calls after one that is not timed."""
    most = shared_rows(0, rows[0].size, frames)

    def seconds(count: int) -> float:
        some, times = np.resize(rows, (count, *rows.shape[1:])), []
        some.flags.writeable = False
        for _ in range(3):
            begun = time.perf_counter()
            call(some)
            times.append(time.perf_counter() - begun)
        return min(times[1:]) / count

    return min(sorted({min(count, most) for count in (256, 2048, most)}), key=seconds)


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
        self.estimator._describe(job.inputs)
        if job.alternatives:
            job.alternatives.know_marks(self.estimator._unknown)
        self.random = 0.0  # the change of equal rows in another call
        self.queue = self._queue(0)
        self.questions = structs_of(job.asked())
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


CHUNK_SECONDS = 1.0  # of a chunk: an interruption loses little, and overhead is small
STOP_SECONDS = 3.0  # after a stop, for chunks that are being computed
LEAST_WORKERS = 16  # assumed size of the caller's executor
LOOK_SECONDS = 1.0  # between two looks at pending tasks
QUIET_SECONDS = 60.0  # without a sign of life, until it is said
ATTEMPTS = 3  # of a row alone, and of a restart
PAUSE_SECONDS = 0.5  # before the second attempt; each later pause is twice as long
Future = futures.Future[Reply]
Result = TypeVar("Result")


def packed(job: Job) -> bytes:
    """The job as bytes for another process. With cloudpickle, which loky brings, the model may be
    a function of the main program. Raises TypeError if the model cannot be pickled."""
    pickler: Package = installed("cloudpickle", "joblib.externals.cloudpickle") or pickle
    try:
        return bytes(pickler.dumps(job))
    except Exception as error:
        raise TypeError(
            f"the model cannot be sent to another process ({error}): give a factory, a function "
            "without parameters that makes the model there"
        ) from error


def _loky() -> Package:
    """The executors of joblib. Their processes start anew: a fork of this process would have the
    locks, but not the threads, of libraries that the model uses."""
    loky = installed("loky", "joblib.externals.loky")
    if loky is None:
        raise ImportError("other processes for the model need loky: pip install loky (or joblib)")
    return loky


def executor_or_jobs(jobs: int | Executor, skips: bool) -> tuple[Executor, int]:
    """The caller's executor, or None, and the number of processes beside it. Raises TypeError if
    the object is neither a number nor an executor, and ImportError if processes cannot be
    started."""
    if hasattr(jobs, "get_executor"):
        raise TypeError("jobs is a client of dask: give client.get_executor()")
    if callable(getattr(jobs, "submit", None)):
        return jobs, 1
    try:
        count = integer(jobs, "jobs", -1)
    except TypeError as error:
        text = f"{error}, or an executor like those of concurrent.futures"
        raise TypeError(text) from None
    if count != 1 or skips:
        _loky()
    return None, count if count > 0 else cores()


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """A context in which Ctrl-C waits in this thread, and never reaches processes that start. A
    terminal sends Ctrl-C to all its processes, and this one ends its workers itself."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # its start would let Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ExecutorBroken(futures.BrokenExecutor):
    """A runner has lost tasks and loses new ones too; the cause is the last exception. One of
    `rows`, which were being computed, may have ended a process."""

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__("tasks were lost")
        self.rows = rows


class TaskLost(Exception):
    """The executor did not take a task, or has no result of it."""


def is_worker_death(error: BaseException | None) -> bool:
    """Returns True if a task failed because a process ended."""
    of_dask = of_class(error, "distributed.scheduler", "KilledWorker")
    return of_dask or isinstance(error, futures.BrokenExecutor)


def is_lost(error: BaseException) -> bool:
    """Returns True if a task was lost, and may succeed when it is sent again."""
    return is_worker_death(error) or isinstance(error, (futures.CancelledError, TaskLost))


def _pause(attempt: int) -> None:
    """Waits before attempt number 1, 2, ...: whatever ended processes from outside may pass."""
    time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1) if attempt else 0)


def _ended(pending: Sequence[Future], quiet: Callable[[Sequence[Future]], None]) -> list[Future]:
    """Waits until some of the tasks, if there are any, have ended, and returns these. Calls
    quiet(pending) after each minute without one."""
    begun = time.monotonic()
    while pending and not any(future.done() for future in pending):
        # It never sees that a shutdown of the executor has cancelled a task.
        futures.wait(pending, LOOK_SECONDS, futures.FIRST_COMPLETED)
        if time.monotonic() - begun > QUIET_SECONDS:
            quiet(pending)
            begun = time.monotonic()
    return [future for future in pending if future.done()]


class LocalRunner:
    """Runs methods of a Worker in this process."""

    workers = 1  # the number of tasks that run at a time
    window = 1  # the number of tasks that may be pending

    def __init__(self, job: Job) -> None:
        self.worker = Worker(job)

    def submit(self, method: str, *task: object, job: bytes | None = None) -> Future:
        """Starts a method."""
        future: Future = futures.Future()
        future.set_result(Reply(self.call(method, *task)))
        return future

    def received(self, future: Future) -> Reply:
        """The reply to a task that is done."""
        return future.result()

    def quiet(self, pending: Sequence[Future]) -> None:
        """Warns if nothing shows that these tasks are being computed."""

    def job_for(self, reply: Reply) -> bytes | None:
        """The job for a process without it; None if it was sent in the meantime."""
        return None

    def call(self, method: str, *task: object) -> object:
        """The result of a method, while no other task is pending."""
        return getattr(self.worker, method)(*task)

    def restart(self, suspects: Sequence[int]) -> None:
        """Starts new processes after one has ended that computed these rows."""
        raise ExecutorBroken(suspects)

    def stop(self, pending: Iterable[Future]) -> None:
        """Cancels tasks that have not begun, and waits some seconds for running tasks."""

    def close(self) -> None:
        """Ends processes and frees memory."""
        self.worker.close()


class ExecutorRunner:
    """Runs methods of Workers by an executor: the caller's, or one of loky with `jobs` processes.

    Processes of loky get the job when they start. A process of the caller's executor that lacks the
    job returns its rows, which are sent again with the job; so a large model is sent about once to
    each process. With dask the job is a shared result. The size of the executor is learned from the
    workers that replied."""

    def __init__(self, job: Job, executor: Executor, jobs: int) -> None:
        self.token, self.job = Token(secrets.token_hex(8), versions()), packed(job)
        self.no_rows = np.empty(0, np.int64), np.empty((0, *job.sampling.shape), np.float32)
        self.own, self.jobs, self.sent = executor is None, jobs, 0
        self.replied: set[tuple[Process, int]] = set()  # the workers
        self.carried: dict[Process, int] = {}  # the last task with the job because of a process
        self.executor = self._pool() if self.own else executor
        client: Package = getattr(executor, "_client", None)
        self.dask = client if of_class(client, "distributed", "Client") else None
        self.shared = self._shared()

    @property
    def workers(self) -> int:
        return self.jobs if self.own else max(LEAST_WORKERS, len(self.replied))

    @property
    def window(self) -> int:
        return (2 if self.own else 4) * self.workers  # loky's queue holds 2 for each process

    def _shared(self) -> bytes | None:
        """The job as a result of dask, which is sent once to each process."""
        return self.dask.submit(bytes, self.job, pure=False) if self.dask else None

    def _pool(self) -> Executor:
        # Several models with many threads each would slow each other down.
        threads = {"OMP_NUM_THREADS": str(max(1, cores() // self.jobs)), **os.environ}
        begin = dict(initializer=begin_process, initargs=(os.getpid(), self.token, self.job))
        return _loky().ProcessPoolExecutor(self.jobs, env=threads, **begin)

    def submit(self, method: str, *task: object, job: bytes | None = None) -> Future:
        self.sent += 1  # makes each task a new one for dask, which keeps results of equal tasks
        job = self.shared if job is None else job
        try:
            with _no_interrupts() if self.own else contextlib.nullcontext():
                future = self.executor.submit(work, self.token, job, self.sent, method, *task)
        except futures.BrokenExecutor:
            raise
        except RuntimeError as error:
            raise TaskLost(str(error)) from error
        if not isinstance(future, futures.Future):
            raise TypeError(
                f"executor.submit returned {type(future).__name__}; it must return a "
                "concurrent.futures.Future, which has `result` and `cancel`"
            )
        return future

    def received(self, future: Future) -> Reply:
        reply = future.result()
        if not isinstance(reply, Reply):
            raise TaskLost(f"the result of a task is {abbreviated(reply)}")
        self.replied.add((reply.process, reply.thread))
        return reply

    def quiet(self, pending: Sequence[Future]) -> None:
        if self.own or any(future.running() for future in pending):
            return
        if self.dask and self.dask.nthreads():  # its futures do not tell that they are running
            if not self.dask.call_stack():  # it may forget tasks whose inputs ended with a process
                for future in pending:
                    future.cancel()
            return
        warn(
            f"no worker of the executor has begun or finished a task for {QUIET_SECONDS:.0f} s: "
            "certify_rows goes on waiting for one; after Ctrl-C, KeyboardInterrupt has the "
            "finished rows"
        )

    def job_for(self, reply: Reply) -> bytes | None:
        if reply.number < self.carried.get(reply.process, 0):
            return None
        self.carried[reply.process] = self.sent + 1
        return self.job

    def call(self, method: str, *task: object) -> object:
        reply = self._reply(self.submit(method, *task))
        if reply.value is None:
            reply = self._reply(self.submit(method, *task, job=self.job))
        return reply.value

    def _reply(self, future: Future) -> Reply:
        _ended([future], self.quiet)
        return self.received(future)

    def restart(self, suspects: Sequence[int]) -> None:
        """Raises ExecutorBroken if processes end, or tasks are lost, before a model is called."""
        for attempt in range(ATTEMPTS):
            _pause(attempt)
            some = f"{len(suspects)} row{'s' * (len(suspects) > 1)}"
            text = f"a process or a task was lost, and {some} with it: computed again, one by one"
            tell("restart", text, logging.WARNING, rows=len(suspects), attempt=attempt + 1)
            if self.own:
                self.close()
                self.executor = self._pool()
            self.shared = self._shared()
            try:
                self.call("answer", *self.no_rows)
                return
            except Exception as error:
                if not is_lost(error):
                    raise
                last = error
        raise ExecutorBroken(suspects) from last

    def stop(self, pending: Iterable[Future]) -> None:
        # A cancelled task of loky would end the thread that ends its processes.
        futures.wait([f for f in pending if self.own or not f.cancel()], STOP_SECONDS)

    def close(self) -> None:
        if self.own:
            self.executor.shutdown(kill_workers=True)  # a model may hang


Runner: TypeAlias = Union[LocalRunner, ExecutorRunner]


def one_by_one(
    runner: Runner,
    rows: Sequence[int],
    compute: Callable[[int], Result],
    crashed: Callable[[int, BaseException], None],
) -> Iterator[tuple[int, Result | None]]:
    """Each row with compute(row), while no other task is pending. A row whose task is lost has
    other attempts after the other rows and a pause, since processes may be ended from outside. A
    row that has ended a process each time is passed to `crashed`, and has None."""
    lost: dict[int, BaseException] = {}
    for attempt in range(ATTEMPTS):
        _pause(attempt)
        rows, before, lost = list(lost) or rows, lost, {}
        for row in rows:
            try:
                found = compute(row)
            except Exception as error:
                if not is_lost(error):
                    raise
                earlier = before.get(row, error)
                lost[row] = error if is_worker_death(earlier) else earlier
                runner.restart([row])
            else:
                yield row, found
        if not lost:
            return
    for row, last in lost.items():
        if not is_worker_death(last):
            raise ExecutorBroken([row]) from last
        crashed(row, last)
        yield row, None


class _ChunkSizes:
    """Chooses the number of rows of the next chunk. The first chunks, to measure the time, have as
    many as a call of the model. The last ones are small, so that all workers end at about the same
    time."""

    def __init__(self, first: int) -> None:
        self.first, self.rows, self.seconds = first, 0, 0.0

    def learn(self, chunk: Chunk) -> None:
        self.rows += len(chunk.certificates)
        self.seconds += chunk.seconds

    def next(self, left: int, workers: int) -> int:
        wanted = CHUNK_SECONDS * self.rows / max(self.seconds, 1e-9) if self.rows else self.first
        share = left if workers == 1 else left / (2 * workers) + 1
        return int(max(1, min(wanted, share)))


class Scheduler:
    """Computes rows by a runner.

    task      returns the inputs and records of some rows, as for Worker.answer
    keep      takes each chunk of results
    crashed   takes a row that has ended processes while nothing else was pending, and the
              exception. It raises, or makes `task` answer the row by a record
    first     rows of the first chunks

    If a task is lost, no rows are sent until nothing is pending. Then the lost rows are computed
    one by one, so that the next crash identifies its row."""

    def __init__(
        self,
        runner: Runner,
        task: Callable[[np.ndarray], tuple[object, ...]],
        keep: Callable[[Chunk], None],
        crashed: Callable[[int, BaseException], None],
        first: int = 1,
    ) -> None:
        self.runner, self.task, self.keep, self.crashed = runner, task, keep, crashed
        self.sizes = _ChunkSizes(first)
        self.left: np.ndarray = np.empty(0, np.int64)  # rows that have not been sent
        self.pending: dict[Future, np.ndarray] = {}  # the rows of each future
        self.lost: list[int] = []

    def compute(self, rows: np.ndarray) -> None:
        """Computes these rows. After a failure it keeps the chunks that end within some seconds,
        and then raises the exception."""
        self.left = rows
        try:
            while len(self.left) or self.pending or self.lost:
                while len(self.left) and not self.lost and len(self.pending) < self.runner.window:
                    count = self.sizes.next(len(self.left), self.runner.workers)
                    some, self.left = np.split(self.left, [count])
                    self._send(some)
                for future in _ended(list(self.pending), self.runner.quiet):
                    self._take(future, self.pending.pop(future))
                if self.lost and not self.pending:
                    self._one_by_one()
        except BaseException:
            self._keep_done()
            raise

    def _send(self, rows: np.ndarray, job: bytes | None = None) -> None:
        try:
            future = self.runner.submit("answer", rows, *self.task(rows), job=job)
        except Exception as error:
            if not is_lost(error):
                raise
            self.lost += rows.tolist()
        else:
            self.pending[future] = rows

    def _take(self, future: Future, rows: np.ndarray) -> None:
        try:
            reply = self.runner.received(future)
        except RowsError:
            raise
        except Exception:
            self.lost += rows.tolist()
            return
        if reply.value is None:
            self._send(rows, self.runner.job_for(reply))
            return
        chunk = cast(Chunk, reply.value)
        self.sizes.learn(chunk)
        self.keep(chunk)

    def _one_by_one(self) -> None:
        lost, self.lost = sorted(self.lost), []
        self.runner.restart(lost)
        for row, chunk in one_by_one(self.runner, lost, self._alone, self.crashed):
            self.keep(chunk or self._alone(row))

    def _alone(self, row: int) -> Chunk:
        rows = np.array([row])
        return cast(Chunk, self.runner.call("answer", rows, *self.task(rows)))

    def _keep_done(self) -> None:
        self.runner.stop(self.pending)
        for future in self.pending:
            try:
                chunk = self.runner.received(future).value if future.done() else None
            except BaseException:  # cancelled, or without a result
                continue
            if isinstance(chunk, Chunk):
                chunk.failure = None
                self.keep(chunk)

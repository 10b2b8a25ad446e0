"""Divides rows into chunks, and computes them in this process or by an executor.

A task has a result, raises an exception, or is lost: a process ended, the task was cancelled, or
the executor returned None. Lost rows are computed again, alone."""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import os
import pickle
import secrets
import signal
import time
import warnings
from multiprocessing import resource_tracker
from typing import Callable, Iterable, Iterator, Sequence, TypeAlias, TypeVar, Union, cast

import numpy as np

from ._arguments import abbreviated, integer
from ._optional import installed, of_class
from ._types import Executor, Package
from ._worker import Chunk, Job, Process, Reply, Token, Worker, begin_process, versions, work
from .errors import RowsError

CHUNK_SECONDS = 1.0  # of a chunk: an interruption loses little, and overhead is small
STOP_SECONDS = 3.0  # after a stop, for chunks that are being computed
LEAST_WORKERS = 16  # assumed size of the caller's executor
LOOK_SECONDS = 1.0  # between two looks at pending tasks
QUIET_SECONDS = 60.0  # without a sign of life, until it is said
ATTEMPTS = 3  # of a row alone, and of a restart
PAUSE_SECONDS = 0.5  # before the second attempt; each later pause is twice as long
Future = futures.Future[Reply]
Found = TypeVar("Found")


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
        warnings.warn(
            f"no worker of the executor has begun or finished a task for {QUIET_SECONDS:.0f} s: "
            "certify_rows goes on waiting for one; after Ctrl-C, KeyboardInterrupt has the "
            "finished rows",
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
    compute: Callable[[int], Found],
    crashed: Callable[[int, BaseException], None],
) -> Iterator[tuple[int, Found | None]]:
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

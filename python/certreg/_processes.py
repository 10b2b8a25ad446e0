"""Divides rows into chunks, and has them computed here or by an executor."""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import os
import pickle
import secrets
import signal
from multiprocessing import resource_tracker
from typing import Any, Callable, Iterator, Optional, Sequence, Set, Tuple

import numpy as np

from ._optional import installed, of_class
from ._worker import Chunk, Job, Process, Reply, Token, Worker, begin_process, versions, work
from .errors import RowsError

CHUNK_SECONDS = 1.0  # of a chunk: an interruption loses little, and overhead is small
STOP_SECONDS = 3.0  # for chunks that are being computed when the work is stopped
LEAST_WORKERS = 16  # that the caller's executor is assumed to have


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def packed(job: Job) -> bytes:
    """The job as bytes for another process. With cloudpickle, which loky brings, the model may be
    a function of the main program. Raises TypeError if the model cannot be pickled."""
    pickler: Any = installed("cloudpickle", "joblib.externals.cloudpickle") or pickle
    try:
        return bytes(pickler.dumps(job))
    except Exception as error:
        raise TypeError(
            f"the model cannot be sent to another process ({error}): give a factory, a function "
            "without parameters that makes the model there"
        ) from error


def _loky() -> Any:
    """The executors of joblib, whose processes begin anew: a fork of this process would have the
    locks, but not the threads, of libraries that the model uses."""
    loky = installed("loky", "joblib.externals.loky")
    if loky is None:
        raise ImportError("other processes for the model need loky: pip install loky (or joblib)")
    return loky


def check_executor(executor: Any, jobs: Any, skips: bool) -> None:
    """Raises TypeError for what is no executor, ValueError for a number of processes to start
    beside one, and ImportError if processes cannot be started."""
    if executor is None:
        if jobs != 1 or skips:
            _loky()
        return
    if hasattr(executor, "get_executor"):
        raise TypeError("executor is a client of dask: give client.get_executor()")
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor is {type(executor).__name__}; it must be like a concurrent.futures.Executor"
        )
    if jobs != 1:
        raise ValueError(f"jobs is {jobs}, and an executor is given: leave out one of them")


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """A context in which Ctrl-C waits, in this thread, and never comes to processes that start: it
    goes to all processes of a terminal, and this one ends the others."""
    resource_tracker.ensure_running()  # which would let Ctrl-C through when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ExecutorBroken(futures.BrokenExecutor):
    """The place cannot go on after a process has ended. `rows` are those that were being computed,
    one of which may be the cause."""

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__("a process that ran the model has ended")
        self.rows = rows


def is_worker_death(error: BaseException) -> bool:
    """Whether a task failed because a process ended."""
    of_dask = of_class(error, "distributed.scheduler", "KilledWorker")
    return of_dask or isinstance(error, futures.BrokenExecutor)


class LocalRunner:
    """Computes in this process."""

    window = workers = 1

    def __init__(self, job: Job) -> None:
        self.worker = Worker(job)

    def submit(self, method: str, *task: Any, job: Any = None) -> "futures.Future[Reply]":
        future: "futures.Future[Reply]" = futures.Future()
        future.set_result(Reply(getattr(self.worker, method)(*task)))
        return future

    def received(self, future: "futures.Future[Reply]") -> Reply:
        return future.result()

    def call(self, method: str, *task: Any) -> Any:
        return getattr(self.worker, method)(*task)

    def stop(self, pending: Any) -> None:
        pass

    def close(self) -> None:
        self.worker.estimator.close()


class ExecutorRunner:
    """Computes by an executor: the caller's, or one of loky with `jobs` processes.

    Processes of loky get the job when they start. One of the caller's executor that has not got it
    returns its rows, which go out again with the job: so a large model travels about once to each.
    Dask has a way of its own for this. How many tasks the executor runs at a time is learned from
    the workers that replied."""

    def __init__(self, job: Job, executor: Any, jobs: int) -> None:
        self.token, self.job = Token(secrets.token_hex(8), versions()), packed(job)
        nothing = np.empty((0, *job.sampling.shape), np.float32)
        self.no_rows: Tuple[Any, ...] = np.empty(0, np.int64), nothing
        self.own, self.jobs, self.sent = executor is None, jobs, 0
        self.replied: Set[Any] = set()  # the workers
        self.carried: dict[Process, int] = {}  # the last task with the job because of a process
        self.executor = self._pool() if self.own else executor
        client: Any = getattr(executor, "_client", None)
        self.shared: Any = None  # a result, which dask takes once to each process that needs it
        if of_class(client, "distributed", "Client"):
            self.shared = client.submit(bytes, self.job, pure=False)

    @property
    def workers(self) -> int:
        """How many tasks run at a time."""
        return self.jobs if self.own else max(LEAST_WORKERS, len(self.replied))

    @property
    def window(self) -> int:
        """How many tasks may be pending. loky's queue holds as many as its processes have here."""
        return (2 if self.own else 4) * self.workers

    def _pool(self) -> Any:
        # Several models with many threads each would slow each other down.
        threads = {"OMP_NUM_THREADS": str(max(1, cores() // self.jobs)), **os.environ}
        begin = dict(initializer=begin_process, initargs=(os.getpid(), self.token, self.job))
        return _loky().ProcessPoolExecutor(self.jobs, env=threads, **begin)

    def submit(self, method: str, *task: Any, job: Optional[bytes] = None) -> Any:
        """Starts a method of Worker in some process. The number makes each task a new one for
        dask, which remembers the results of equal ones."""
        self.sent += 1
        job = self.shared if job is None else job
        with _no_interrupts() if self.own else contextlib.nullcontext():
            future = self.executor.submit(work, self.token, job, self.sent, method, *task)
        if not isinstance(future, futures.Future):
            raise TypeError(
                f"executor.submit returned {type(future).__name__}; it must return a "
                "concurrent.futures.Future, which has `result` and `cancel`"
            )
        return future

    def received(self, future: Any) -> Reply:
        """The reply to a task that is done."""
        reply: Reply = future.result()
        self.replied.add((reply.process, reply.thread))
        return reply

    def job_for(self, reply: Reply) -> Optional[bytes]:
        """The job for a process that lacks it; None if it has been sent since."""
        if reply.number < self.carried.get(reply.process, 0):
            return None
        self.carried[reply.process] = self.sent + 1
        return self.job

    def call(self, method: str, *task: Any) -> Any:
        """What a method of Worker returns, while no other task is pending."""
        reply = self.received(self.submit(method, *task))
        if reply.value is None:
            reply = self.received(self.submit(method, *task, job=self.job))
        return reply.value

    def restart(self, suspects: Sequence[int]) -> None:
        """Begins anew after a process has ended that computed these rows. Raises ExecutorBroken
        if this fails: the caller's executor is broken, or processes end before they have made
        the model."""
        if self.own:
            self.close()
            self.executor = self._pool()
        try:
            self.call("answer", *self.no_rows)
        except Exception as error:
            if is_worker_death(error):
                raise ExecutorBroken(suspects) from error
            raise

    def stop(self, pending: Any) -> None:
        """Cancels tasks that have not begun, and waits for the others, but not for long. One of
        loky that is cancelled would end the thread that ends its processes."""
        futures.wait([f for f in pending if self.own or not f.cancel()], STOP_SECONDS)

    def close(self) -> None:
        if self.own:
            self.executor.shutdown(kill_workers=True)  # a model may hang


class _ChunkSizes:
    """Chooses the number of rows of the next chunk. The first chunks have one row, to measure its
    time. The last chunks are small, so that all workers end at about the same time."""

    def __init__(self) -> None:
        self.rows, self.seconds = 0, 0.0

    def learn(self, chunk: Chunk) -> None:
        self.rows += len(chunk.certificates)
        self.seconds += chunk.seconds

    def next(self, left: int, workers: int) -> int:
        if not self.rows:
            return 1
        wanted = CHUNK_SECONDS * self.rows / max(self.seconds, 1e-9)
        share = left if workers == 1 else left / (2 * workers) + 1
        return int(max(1, min(wanted, share)))


class Scheduler:
    """Computes rows at a place.

    task      the inputs and records of some rows, as for Worker.answer
    keep      takes each chunk of results
    crashed   takes a row that has ended two processes, the second one while nothing else was
              pending, and the exception. It raises, or makes `task` answer the row by a record

    If a process ends, or the executor loses a task in another way, no rows are sent until nothing
    is pending. Then the rows that were lost are computed one by one, so that a second death names
    its row."""

    def __init__(
        self,
        place: Any,
        task: Callable[[np.ndarray], Tuple[Any, ...]],
        keep: Callable[[Chunk], None],
        crashed: Callable[[int, BaseException], None],
    ) -> None:
        self.place, self.task, self.keep, self.crashed = place, task, keep, crashed
        self.sizes = _ChunkSizes()
        self.left: np.ndarray = np.empty(0, np.int64)  # rows that have not been sent
        self.pending: dict[Any, np.ndarray] = {}  # the rows of each future
        self.lost: list[int] = []

    def compute(self, rows: np.ndarray) -> None:
        """Computes these rows. If something fails, the chunks that are still being computed are
        kept too, if this takes seconds, and then the exception is raised."""
        self.left = rows
        try:
            while len(self.left) or self.pending or self.lost:
                while len(self.left) and not self.lost and len(self.pending) < self.place.window:
                    count = self.sizes.next(len(self.left), self.place.workers)
                    some, self.left = np.split(self.left, [count])
                    self._send(some)
                done = futures.wait(self.pending, None, futures.FIRST_COMPLETED).done
                for future in [future for future in self.pending if future in done]:
                    self._take(future, self.pending.pop(future))
                if self.lost and not self.pending:
                    self._one_by_one()
        except BaseException:
            self._keep_done()
            raise

    def _send(self, rows: np.ndarray, job: Optional[bytes] = None) -> None:
        try:
            future = self.place.submit("answer", rows, *self.task(rows), job=job)
        except Exception as error:
            if not is_worker_death(error):
                raise
            self.lost += rows.tolist()
        else:
            self.pending[future] = rows

    def _take(self, future: Any, rows: np.ndarray) -> None:
        try:
            reply = self.place.received(future)
        except RowsError:
            raise
        except Exception:
            self.lost += rows.tolist()
            return
        if reply.value is None:
            self._send(rows, self.place.job_for(reply))
            return
        self.sizes.learn(reply.value)
        self.keep(reply.value)

    def _one_by_one(self) -> None:
        lost, self.lost = sorted(self.lost), []
        self.place.restart(lost)
        for row in lost:
            try:
                chunk = self._alone(row)
            except Exception as error:
                if not is_worker_death(error):
                    raise
                self.crashed(row, error)
                self.place.restart([row])
                chunk = self._alone(row)
            self.keep(chunk)

    def _alone(self, row: int) -> Any:
        rows = np.array([row])
        return self.place.call("answer", rows, *self.task(rows))

    def _keep_done(self) -> None:
        self.place.stop(self.pending)
        for future in self.pending:
            try:
                chunk = self.place.received(future).value if future.done() else None
            except BaseException:  # cancelled, or nothing came
                continue
            if chunk is not None:
                chunk.failure = None
                self.keep(chunk)

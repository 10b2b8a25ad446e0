"""Divides rows into chunks, and has them computed here or by an executor."""

from __future__ import annotations

import concurrent.futures as futures
import multiprocessing
import multiprocessing.forkserver
import os
import pickle
import pickletools
import secrets
import sys
from typing import Any, Callable, Optional, Sequence, Set, Tuple

import numpy as np

from ._optional import needed, of_class
from ._worker import (
    Chunk,
    Job,
    Process,
    Reply,
    Token,
    Worker,
    begin_process,
    check_versions,
    versions,
    work,
)
from .errors import RowsError

MAIN = "put the main part of your program below `if __name__ == '__main__':`"
CHUNK_SECONDS = 1.0  # of a chunk: an interruption loses little, and overhead is small
ATTEMPTS = 4  # to send the job to a process
LEAST_WORKERS = 16  # that the caller's executor is assumed to have


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def packed(job: Job) -> bytes:
    """The job as bytes for another process. With cloudpickle installed, the model may be a function
    of a notebook. Raises TypeError if the model cannot be pickled."""
    try:
        dumps = needed("cloudpickle", "a function of a notebook").dumps
    except ImportError:
        dumps = pickle.dumps
    try:
        return bytes(dumps(job))
    except Exception as error:
        raise TypeError(
            f"the model cannot be sent to another process ({error}): give a factory, a function "
            "without parameters that makes the model there"
        ) from error


def _preload(context: Any, job: bytes) -> None:
    """Has the fork server import the modules that the job names, so that not every process has to.
    A server that already runs stays as it is. The caller's own list of modules is restored."""
    named = {text for _, text, _ in pickletools.genops(job) if isinstance(text, str)}
    server = getattr(multiprocessing.forkserver, "_forkserver", None)
    before = getattr(server, "_preload_modules", ["__main__"])
    context.set_forkserver_preload([*before, *sorted(named & set(sys.modules) - {"__main__"})])
    try:
        multiprocessing.forkserver.ensure_running()
    finally:
        context.set_forkserver_preload(before)


def check_executor(executor: Any, jobs: Any) -> None:
    """Raises TypeError for what is no executor, and ValueError for a number of processes to start
    beside one."""
    if executor is None:
        return
    if hasattr(executor, "get_executor"):
        raise TypeError("executor is a client of dask: give client.get_executor()")
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor is {type(executor).__name__}; it must be like a concurrent.futures.Executor"
        )
    if jobs != 1:
        raise ValueError(f"jobs is {jobs}, and an executor is given: leave out one of them")


def _importing_main() -> bool:
    """Whether this is a new process that is importing the main program."""
    return bool(getattr(multiprocessing.current_process(), "_inheriting", False))


class Broken(futures.BrokenExecutor):
    """The place cannot go on after a process has ended. `rows` are those that were being computed,
    one of which may be the cause."""

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__("a process that ran the model has ended")
        self.rows = rows


def is_death(error: BaseException) -> bool:
    """Whether a task failed because a process ended."""
    of_dask = of_class(error, "distributed.scheduler", "KilledWorker")
    return of_dask or isinstance(error, futures.BrokenExecutor)


class Here:
    """Computes in this process."""

    window = workers = 1
    carrying = False

    def __init__(self, job: Job) -> None:
        self.worker = Worker(job)

    def submit(self, method: str, *task: Any) -> "futures.Future[Reply]":
        future: "futures.Future[Reply]" = futures.Future()
        future.set_result(Reply(getattr(self.worker, method)(*task)))
        return future

    def received(self, future: "futures.Future[Reply]") -> Reply:
        return future.result()

    def call(self, method: str, *task: Any) -> Any:
        return getattr(self.worker, method)(*task)

    def close(self) -> None:
        self.worker.estimator.close()


class Elsewhere:
    """Computes by an executor: the caller's, or a pool of `jobs` processes that is made here.

    A process of the caller's executor that has not got the job says so, and then gets it by a task
    without rows: a large model travels about once for each process. Dask has a way of its own for
    this. How many tasks the executor runs at a time is learned from the workers that replied."""

    def __init__(self, job: Job, executor: Any, jobs: int) -> None:
        self.token, self.job = Token(secrets.token_hex(8), versions()), packed(job)
        nothing = np.empty((0, *job.sampling.shape), np.float32)
        self.no_rows: Tuple[Any, ...] = np.empty(0, np.int64), nothing
        self.own, self.jobs, self.sent = executor is None, jobs, 0
        self.replied: Set[Any] = set()  # the workers
        self.carried: dict[Process, Tuple[int, int]] = {}  # the last task for it, and how many
        self.carrying: Set[int] = set()  # such tasks that are on their way
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
        """How many tasks may be pending."""
        return (2 if self.own else 4) * self.workers

    def _pool(self) -> Any:
        # A fork of this process would have the locks, but not the threads, of libraries that the
        # model uses. The fork server has imported the modules of the model and has run nothing.
        if _importing_main():
            raise RuntimeError(MAIN)
        context = multiprocessing.get_context("forkserver")
        _preload(context, self.job)
        told = (self.token, self.job, max(1, cores() // self.jobs))
        return futures.ProcessPoolExecutor(self.jobs, context, begin_process, told)

    def submit(self, method: str, *task: Any, job: Optional[bytes] = None) -> Any:
        """Starts a method of Worker in some process. The number makes each task a new one for
        dask, which remembers the results of equal ones."""
        self.sent += 1
        job = self.shared if job is None else job
        try:
            future = self.executor.submit(work, self.token, job, self.sent, method, *task)
        except (ConnectionError, EOFError) as error:
            raise futures.BrokenExecutor(f"the fork server has ended ({error})") from None
        if not isinstance(future, futures.Future):
            raise TypeError(
                f"executor.submit returned {type(future).__name__}; it must return a "
                "concurrent.futures.Future, which has `result` and `cancel`"
            )
        return future

    def received(self, future: Any) -> Reply:
        """The reply to a task that is done. Raises RowsError if the worker has other versions."""
        reply: Reply = future.result()
        check_versions(reply.versions, self.token.versions)
        self.replied.add((reply.process, reply.thread))
        self.carrying.discard(reply.number)
        return reply

    def carry(self, process: Process) -> Any:
        """Sends the job for a process, in a task without rows that another one may take."""
        future = self.submit("answer", *self.no_rows, job=self.job)
        self.carried[process] = self.sent, self.carried.get(process, (0, 0))[1] + 1
        self.carrying.add(self.sent)
        return future

    def call(self, method: str, *task: Any) -> Any:
        """What a method of Worker returns, while no other task is pending."""
        reply = self.received(self.submit(method, *task))
        if reply.value is None:
            reply = self.received(self.submit(method, *task, job=self.job))
        return reply.value

    def restart(self, suspects: Sequence[int]) -> None:
        """Begins anew after a process has ended that computed these rows. Raises Broken if this
        fails: the caller's executor is broken, or processes end before they have made the model."""
        self.carried.clear()
        self.carrying.clear()
        if self.own:
            self.close()
            self.executor = self._pool()
        try:
            self.call("answer", *self.no_rows)
        except Exception as error:
            if is_death(error):
                raise Broken(suspects) from error
            raise

    def close(self) -> None:
        if self.own:
            processes = list((getattr(self.executor, "_processes", None) or {}).values())
            try:
                self.executor.shutdown(wait=True)
            except BaseException:  # Ctrl-C again: nobody would end them later
                for process in processes:
                    process.terminate()
                raise


class _Sizes:
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


class Run:
    """Computes rows at a place.

    task      the inputs and records of some rows, as for Worker.answer
    keep      takes each chunk of results
    crashed   takes a row that has ended two processes, the second one while nothing else was
              pending, and the exception. It raises, or makes `task` answer the row by a record

    While the job is on its way to a process no rows are sent: this process would return them, and
    others would take the job in its place. If a process ends, or the executor loses a task in
    another way, no rows are sent until nothing is pending. Then the rows of the tasks that were
    lost are computed one at a time: another death names its row."""

    def __init__(
        self,
        place: Any,
        task: Callable[[np.ndarray], Tuple[Any, ...]],
        keep: Callable[[Chunk], None],
        crashed: Callable[[int, BaseException], None],
    ) -> None:
        self.place, self.task, self.keep, self.crashed = place, task, keep, crashed
        self.sizes = _Sizes()
        self.left: np.ndarray = np.empty(0, np.int64)  # rows that have not been sent
        self.pending: dict[Any, np.ndarray] = {}  # the rows of each future
        self.suspects: list[int] = []
        self.lost = False

    def compute(self, rows: np.ndarray) -> None:
        """Computes these rows. If something fails, the chunks that are still being computed are
        kept too, and then the exception is raised."""
        self.left = rows
        try:
            while len(self.left) or self.pending or self.suspects:
                self._fill()
                for future in futures.wait(self.pending, None, futures.FIRST_COMPLETED).done:
                    self._take(future, self.pending.pop(future))
                if self.lost and not self.pending:
                    self.place.restart(self.suspects)
                    self.lost = False
        except BaseException:
            self._settle()
            raise

    def _fill(self) -> None:
        """Sends as many rows as may be pending."""
        if self.suspects and not self.pending:
            self._send(np.array(self.suspects[:1]))
        while self._may_send():
            some = self.left[: self.sizes.next(len(self.left), self.place.workers)]
            self.left = self.left[len(some) :]
            self._send(some)

    def _may_send(self) -> bool:
        waits = self.lost or self.suspects or self.place.carrying
        return len(self.left) > 0 and not waits and len(self.pending) < self.place.window

    def _send(self, rows: np.ndarray, **more: Any) -> None:
        try:
            future = self.place.submit("answer", rows, *self.task(rows), **more)
        except Exception as error:
            if not is_death(error):
                raise
            self._suspect(rows)
        else:
            self.pending[future] = rows

    def _take(self, future: Any, rows: np.ndarray) -> None:
        try:
            reply = self.place.received(future)
        except RowsError:
            raise
        except Exception as error:
            if len(rows) and rows.tolist() == self.suspects[:1]:
                self._failed_alone(error)
            self._suspect(rows)
            return
        if reply.value is None:
            self._returned(rows, reply)
            return
        self.sizes.learn(reply.value)
        self.keep(reply.value)
        self.suspects = sorted({*self.suspects}.difference(rows.tolist()))

    def _returned(self, rows: np.ndarray, reply: Reply) -> None:
        """Rows that came back from a process without the job, which gets it. If others take it too
        often, the rows take the job along: so they are computed wherever they go."""
        last, times = self.place.carried.get(reply.process, (0, 0))
        if reply.number > last and times >= ATTEMPTS:
            self._send(rows, job=self.place.job)
            return
        if reply.number > last:
            self.pending[self.place.carry(reply.process)] = rows[:0]
        if rows.tolist() != self.suspects[:1]:
            self.left = np.sort(np.concatenate([self.left, rows]))

    def _failed_alone(self, error: Exception) -> None:
        if not is_death(error):
            raise error
        self.crashed(self.suspects[0], error)

    def _suspect(self, rows: np.ndarray) -> None:
        self.lost = True
        self.suspects = sorted({*self.suspects, *rows.tolist()})

    def _settle(self) -> None:
        """Cancels the chunks that have not begun, and keeps the results of the others."""
        for future in self.pending:
            future.cancel()
        for future in self.pending:
            try:
                chunk = self.place.received(future).value
            except Exception:  # cancelled, or nothing came
                continue
            if chunk is not None:
                chunk.failure = None
                self.keep(chunk)

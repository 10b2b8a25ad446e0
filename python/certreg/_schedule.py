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
from typing import Any, Callable, Set

import numpy as np

from ._optional import needed
from ._worker import Chunk, Job, Worker, answer_rows, begin_process, probe_model

MAIN = "put the main part of your program below `if __name__ == '__main__':`"
CHUNK_SECONDS = 1.0  # of a chunk: an interruption loses little, and overhead is small


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


def check_executor(executor: Any) -> None:
    """Raises TypeError for what is no executor."""
    if hasattr(executor, "get_executor"):
        raise TypeError("executor is a client of dask: give client.get_executor()")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor is {type(executor).__name__}; it must be like a concurrent.futures.Executor"
        )


def _importing_main() -> bool:
    """Whether this is a new process that is importing the main program."""
    return bool(getattr(multiprocessing.current_process(), "_inheriting", False))


class Here:
    """Computes in this process."""

    window = workers = 1

    def __init__(self, job: Job) -> None:
        self.worker = Worker(job)

    def submit(self, *task: Any) -> "futures.Future[Chunk]":
        future: "futures.Future[Chunk]" = futures.Future()
        future.set_result(self.worker.answer(*task))
        return future

    def probe(self, X: np.ndarray) -> np.ndarray:
        return self.worker.probe(X)

    def close(self) -> None:
        self.worker.estimator.close()


class Elsewhere:
    """Computes by an executor: the caller's, or a pool of `jobs` processes that is made here. It is
    not known how many tasks the caller's executor runs at a time, so it gets many tasks, and each
    of them contains the job."""

    def __init__(self, job: Job, executor: Any, jobs: int) -> None:
        self.token, self.job = secrets.token_hex(8), packed(job)
        self.own = executor is None
        self.executor = executor if executor is not None else self._pool(jobs)
        self.workers = jobs if self.own else max(16, jobs)
        self.window = 2 * jobs if self.own else 4 * self.workers

    def _pool(self, jobs: int) -> Any:
        # A fork of this process would have the locks, but not the threads, of libraries that the
        # model uses. The fork server has imported the modules of the model and has run nothing.
        if _importing_main():
            raise RuntimeError(MAIN)
        context = multiprocessing.get_context("forkserver")
        _preload(context, self.job)
        told = (self.token, self.job, max(1, cores() // jobs))
        return futures.ProcessPoolExecutor(jobs, context, begin_process, told)

    def _sent(self) -> Any:
        return self.token, None if self.own else self.job

    def submit(self, *task: Any) -> Any:
        return self._submitted(answer_rows, *task)

    def probe(self, X: np.ndarray) -> Any:
        return self._submitted(probe_model, X).result()

    def _submitted(self, function: Callable[..., Any], *task: Any) -> Any:
        try:
            return self.executor.submit(function, *self._sent(), *task)
        except (ConnectionError, EOFError) as error:
            raise futures.BrokenExecutor(f"the fork server has ended ({error})") from None

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

    def __init__(self, workers: int) -> None:
        self.workers, self.rows, self.seconds = workers, 0, 0.0

    def learn(self, chunk: Chunk) -> None:
        self.rows += len(chunk.certificates)
        self.seconds += chunk.seconds

    def next(self, left: int) -> int:
        if not self.rows:
            return 1
        wanted = CHUNK_SECONDS * self.rows / max(self.seconds, 1e-9)
        share = left if self.workers == 1 else left / (2 * self.workers) + 1
        return int(max(1, min(wanted, share)))


def run_chunks(
    place: Any,
    rows: np.ndarray,
    task: Callable[[np.ndarray], Any],
    keep: Callable[[Chunk], None],
) -> None:
    """Computes all rows, and gives every chunk to `keep`. If something fails, the chunks that are
    still being computed are kept too, and then the exception is raised."""
    sizes, at = _Sizes(place.workers), 0
    pending: Set[Any] = set()
    try:
        while at < len(rows) or pending:
            while at < len(rows) and len(pending) < place.window:
                some = rows[at : at + sizes.next(len(rows) - at)]
                pending.add(place.submit(some, *task(some)))
                at += len(some)
            for future in futures.wait(pending, return_when=futures.FIRST_COMPLETED).done:
                pending.discard(future)
                chunk = future.result()
                sizes.learn(chunk)
                keep(chunk)
    except BaseException:
        _settle(pending, keep)
        raise


def _settle(pending: Set[Any], keep: Callable[[Chunk], None]) -> None:
    """Cancels the chunks that have not begun, and keeps the results of the others."""
    for future in pending:
        future.cancel()
    for future in pending:
        try:
            chunk = future.result()
        except Exception:  # cancelled, or nothing came
            continue
        chunk.failure = None
        keep(chunk)

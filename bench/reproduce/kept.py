"""Work on the inputs of a task in several processes. Its results are kept in files, so that a run
which was interrupted goes on where it stopped."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import multiprocessing
import pathlib
import zlib
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from .files import whole
from .labelled import Task
from .settings import Settings


@dataclasses.dataclass(frozen=True)
class Job:
    """A function of a task and of some of its inputs; the name of its file tells apart all that
    the result depends on."""

    work: Callable[..., Any]
    task: Task
    indices: np.ndarray
    more: tuple[np.ndarray, ...] = ()

    @functools.cached_property
    def arguments(self) -> tuple[np.ndarray, ...]:
        inputs, truth = self.task.inputs[self.indices], self.task.truth[self.indices]
        return (self.indices, inputs, truth, *self.more)

    @functools.cached_property
    def name(self) -> str:
        key = self.task.identity
        for array in self.arguments:
            key = zlib.crc32(np.ascontiguousarray(array).tobytes(), key)
        return f"intervals_{self.task.name}_{self.work.__name__}_{key:08x}.npz"


def _write(path: pathlib.Path, work: Callable[..., Any], *arguments: Any) -> None:
    found = work(*arguments)
    with whole(path) as file:
        np.savez(file, *(found if isinstance(found, tuple) else (found,)))


def done(settings: Settings, jobs: Sequence[Job]) -> list[np.ndarray]:
    """The results of the jobs, one below the other. What was computed before is read."""
    paths = [settings.path(job.name) for job in jobs]
    todo = []
    for path, job in zip(paths, jobs):
        if not path.exists():
            x, y = job.arguments[1:3]
            few = dataclasses.replace(job.task, inputs=x, truth=y, sets=[])
            todo.append((path, job.work, few, *job.arguments))
    list(everywhere(settings.jobs, _write, todo))
    found = []
    for path in paths:
        with np.load(path) as file:
            found.append([file[name] for name in file.files])
    return [np.concatenate(columns) for columns in zip(*found)]


def everywhere(processes: int, function: Any, calls: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
    """The results of the calls, in their order, made by several processes."""
    if processes == 1 or len(calls) < 2:
        yield from (function(*call) for call in calls)
        return
    pool = concurrent.futures.ProcessPoolExecutor(
        min(processes, len(calls)), multiprocessing.get_context("spawn")
    )
    try:
        for future in [pool.submit(function, *call) for call in calls]:
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)

"""Calls in several processes."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
from typing import Any, Iterator, Sequence


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

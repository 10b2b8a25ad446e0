"""Progress of long calls."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Union

from ._optional import needed

Progress = Union[bool, Callable[[int, int], Any]]


class Shown:
    """Reports progress: by a bar, by the caller's function, or not at all."""

    def __init__(self, progress: Progress, done: int, rows: int) -> None:
        self.done, self.rows, self.bar = done, rows, None
        self.call = progress if callable(progress) else None
        if progress is True:
            with contextlib.suppress(ImportError):
                self.bar = needed("tqdm.auto", "a bar").tqdm(
                    total=rows, initial=done, unit="row", disable=None
                )

    def advance(self, rows: int) -> None:
        self.done += rows
        if self.bar is not None:
            self.bar.update(rows)
        if self.call is not None:
            self.call(self.done, self.rows)

    def part(self) -> Callable[[int, int], None]:
        """The progress of a part that begins now, whose own count begins with 0."""
        before = self.done
        return lambda done, _: self.advance(before + done - self.done)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()

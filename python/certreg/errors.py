"""Failures of the library as exceptions."""

from __future__ import annotations

import copyreg
from typing import Any

from ._library import lib
from .constants import Status, named


class CertregError(RuntimeError):
    """A call that gave no answer.

    status      a Status: what kind of failure it was
    sample, row, output, model_code, value    where and what; -1 where they do not apply
    certificates    the answers to all questions of a call in which one of them failed"""

    def __init__(self, status: int, why: Any = None) -> None:
        text = why.text.decode() if why else ""
        super().__init__(text or lib.certreg_status_text(status).decode())
        self.status: Status = named("status", status)
        self.sample: int = why.sample if why else -1
        self.row: int = why.row if why else -1
        self.output: int = why.output if why else -1
        self.model_code: int = why.model_code if why else -1
        self.value: float = why.value if why else -1
        self.certificates: list[Any] = []

    def __reduce__(self) -> Any:  # pickle would call __init__ with the sentence as a status
        rebuild = getattr(copyreg, "__newobj__")
        return rebuild, (type(self), *self.args), self.__dict__


def check(status: int, why: Any = None) -> None:
    """Raises the failure that a status reports."""
    if status:
        raise CertregError(status, why)


class RowsError(RuntimeError):
    """What ended certify_rows: the model failed, or a process that ran it.

    row     where it happened; -1: not known
    rows    the Rows that were done until then
    __cause__    the exception itself"""

    def __init__(self, text: str, row: int = -1, rows: Any = None) -> None:
        super().__init__(text)
        self.row, self.rows = row, rows


def raised(what: str, error: BaseException) -> str:
    """What an exception says, after what raised it."""
    return f"{what} raised {type(error).__name__}: {error}"

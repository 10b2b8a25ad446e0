"""Failures of the library as exceptions."""

from __future__ import annotations

import copyreg
import ctypes as C
from typing import Any, Callable, Optional, cast

from ._library import lib
from ._messages import in_python
from ._arguments import enum_value
from .constants import Status


class CertregError(RuntimeError):
    """A call of the library failed. The text says why, and what to do.

    status        a Status: the kind of failure
    sample, row, output, model_code, value   as in certreg_error; -1 if they do not apply
    certificates  the certificates of all questions of this call; some may not have failed"""

    def __init__(self, status: int, why: Any = None, text: Optional[str] = None) -> None:
        self._raw: str = why.text.decode() if why else ""  # with the names of C
        told = self._raw or text or lib.certreg_status_text(status).decode()
        super().__init__(in_python(told))
        self.status = cast(Status, enum_value("status", status))
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
    """Raises CertregError unless the status is OK."""
    if status:
        raise CertregError(status, why)


def written(call: Callable[[Any, Any], Any]) -> bytes:
    """What a call(buffer, size) writes. Without a buffer it tells the size."""
    size = C.c_size_t(0)
    call(None, C.byref(size))
    buffer = C.create_string_buffer(size.value)
    call(buffer, C.byref(size))
    return buffer.raw[: size.value]


class ModelWarning(UserWarning):
    """The same rows have other outputs if they come again: the model is random, or has a state."""


class RowsError(RuntimeError):
    """certify_rows has ended because the model raised an exception, because its outputs depend on
    other rows, or because a process ended or has other versions of certreg.

    row        index of the row at which it happened; -1: not known
    rows       Rows, with the rows that are done
    __cause__  the original exception"""

    def __init__(self, text: str, row: int = -1, rows: Any = None) -> None:
        super().__init__(text)
        self.row, self.rows = row, rows


class ResumeError(ValueError):
    """A resume file that cannot be used, that was made with other arguments, or that another
    process works on. The file is not changed.

    rows       Rows, with the rows that are done; None where no call of certify_rows has ended"""

    rows: Any = None


def raised(what: str, error: BaseException) -> str:
    """A sentence that `what` raised this exception."""
    return f"{what} raised {type(error).__name__}: {error}"


def of_model(error: BaseException) -> str:
    """A sentence about a failure of the model, or of the library that called it."""
    return str(error) if isinstance(error, CertregError) else raised("the model", error)

"""Exceptions and warnings."""

from __future__ import annotations

import contextlib
import copyreg
import ctypes as C
from typing import TYPE_CHECKING, Callable, Iterator, cast

from . import _structs as S
from ._arguments import enum_value
from ._library import lib
from ._messages import in_python
from .constants import Status

if TYPE_CHECKING:
    from .certified_rows import Rows
    from .results import Certificate


class CertregError(RuntimeError):
    """A failed call of the library. The text has the reason and the remedy.

    Attributes
    ----------
    status : Status
        The kind of failure.
    sample, row, output, code : int
        The sample, its row in the batch, the output, and the code that the model or CUDA returned
        (10000 more than its number for cuBLAS); -1 if they do not apply.
    value : float
        The number that was refused; -1 if this does not apply.
    certificates : list of Certificate
        The certificates of all questions of this call. Some may not have failed.

    Examples
    --------
    >>> try:
    ...     certreg.interval_rule(0.1, 0.25, 5)
    ... except certreg.CertregError as error:
    ...     print(error.status)
    invalid"""

    def __init__(self, status: int, why: S.Error | None = None, text: str | None = None) -> None:
        self._raw: str = why.text.decode() if why else ""  # with the names of C
        super().__init__(in_python(self._raw or text or lib.certreg_status_text(status).decode()))
        self.status = cast(Status, enum_value("status", status))
        self.sample: int = why.sample if why else -1
        self.row: int = why.row if why else -1
        self.output: int = why.output if why else -1
        self.code: int = why.code if why else -1
        self.value: float = why.value if why else -1
        self.certificates: list[Certificate] = []

    def __reduce__(self) -> tuple[object, ...]:  # pickle would call __init__ with the text
        rebuild = getattr(copyreg, "__newobj__")
        return rebuild, (type(self), *self.args), self.__dict__


def check(status: int, why: S.Error | None = None) -> None:
    """Raises CertregError unless the status is OK."""
    if status:
        raise CertregError(status, why)


@contextlib.contextmanager
def value_error(which: str = "") -> Iterator[None]:
    """Raises ValueError for an argument that the library refuses."""
    try:
        yield
    except CertregError as error:
        if error.status in (Status.INVALID, Status.VERSION):
            raise ValueError(f"{which}{error}") from error
        raise


def exported(call: Callable[..., object]) -> bytes:
    """The bytes that call(buffer, size) writes. Without a buffer it sets only the size."""
    size = C.c_size_t(0)
    call(None, C.byref(size))
    buffer = C.create_string_buffer(size.value)
    call(buffer, C.byref(size))
    return buffer.raw[: size.value]


class ModelWarning(UserWarning):
    """A model is random or has a state: the same rows have other outputs in a second call."""


class RowsError(RuntimeError):
    """An end of certify_rows before all rows were done.

    The model raised an exception, its outputs depend on other rows or change with time, a process
    ended or has other versions of certreg, or the executor was shut down. ``__cause__`` is the
    original exception. If outputs depend on more than their row, no row is done.

    Attributes
    ----------
    row : int
        Index of the row at which it happened; -1 if it is not known.
    rows : Rows
        The rows that are done."""

    def __init__(self, text: str, row: int = -1, rows: Rows | None = None) -> None:
        super().__init__(text)
        self.row, self.rows = row, rows


class ResumeError(ValueError):
    """A resume file cannot be used, was made with other arguments, or is in use by another process.

    The file is not changed.

    Attributes
    ----------
    rows : Rows or None
        The rows that are done, if certify_rows raised the error."""

    rows: Rows | None = None


def raised(what: str, error: BaseException) -> str:
    """A text about an exception that `what` raised."""
    return f"{what} raised {type(error).__name__}: {error}"


def refusal_of(error: object) -> CertregError | None:
    """The error if the model was asked again, or checked, and has another output; else None."""
    failed = isinstance(error, CertregError) and error.status == Status.MODEL_FAILED
    return error if failed and error.value > 0 else None  # type: ignore[attr-defined, return-value]


def of_model(error: BaseException) -> str:
    """A text about a failure of the model, or of the library that called it."""
    return str(error) if isinstance(error, CertregError) else raised("the model", error)

"""Calls of the library, one at a time. Exceptions and Ctrl-C in callbacks reach the caller."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import Any, Callable, Iterator, Optional, TypeVar

from . import _structs as S
from ._ctypes import pointer
from ._library import lib
from .constants import Status
from .errors import CertregError


class _Interrupts:
    """Replaces the handler of Ctrl-C while the library computes, where an exception would be lost.
    In the model (while `inside` is set) Ctrl-C is delivered at once, and otherwise by `settle` or
    `end`."""

    def __init__(self) -> None:
        self.waiting: Any = None
        self.inside, self.handler = False, None
        before: Any = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(before):
            self.handler = before
            signal.signal(signal.SIGINT, self.arrived)

    def arrived(self, *what: Any) -> None:
        self.waiting = what
        if self.inside:
            self.deliver()

    def deliver(self) -> None:
        what, self.waiting, self.inside = self.waiting, None, False
        self.handler(*what)  # type: ignore[misc]
        self.inside = True

    def settle(self) -> None:
        """Delivers a Ctrl-C that arrived while the library was computing."""
        what, self.waiting = self.waiting, None
        if what:
            self.handler(*what)  # type: ignore[misc]

    def end(self) -> None:
        if self.handler:
            signal.signal(signal.SIGINT, self.handler)
        self.settle()


class Calls:
    """A context around every call on a handle, including close, and around several that belong
    together: a begin and what is asked about its input. Meanwhile it refuses every call from
    another thread or from a callback. So no answer is about another input, and nothing is freed
    while a call is using it."""

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        self.process, self.called_back = os.getpid(), False
        # Reentrant: if Ctrl-C arrives after acquire but before `with` has begun, the lock stays
        # acquired, but the thread that holds it can acquire it again.
        self.lock = threading.RLock()

    def __enter__(self) -> None:
        if self.process != os.getpid():
            self._renew()  # in a forked child, where nobody would release the parent's lock
        if not self.lock.acquire(blocking=False):
            raise CertregError(Status.BUSY)
        if self.called_back:
            self.lock.release()
            raise CertregError(Status.BUSY)

    def __exit__(self, *_: Any) -> None:
        self.lock.release()


class Callbacks:
    """A context around calls that may call back. After the call it raises the exception of a
    callback again. No exception may arise in a callback outside `guarded`, since ctypes would lose
    it."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.error: Optional[BaseException] = None
        self.interrupts: Any = None
        self.held: Optional[_Interrupts] = None

    @contextlib.contextmanager
    def holding_interrupts(self) -> Iterator[None]:
        """A context around many calls. It replaces the handler of Ctrl-C once for all of them."""
        self.held = _Interrupts()
        try:
            yield
        finally:
            held, self.held = self.held, None
            held.end()

    def guarded(self, call: Callable[..., Any], *arguments: Any) -> int:
        """Makes a call that the library asked for. Returns 1, which stops the library, after an
        exception or a true answer; else 0."""
        interrupts = self.interrupts
        try:
            interrupts.inside = True
            if interrupts.waiting:
                interrupts.deliver()
            stop = call(*arguments)
            interrupts.inside = False
            return 1 if stop else 0
        except BaseException as error:  # KeyboardInterrupt and SystemExit as well
            interrupts.inside = False
            self.error = error
            return 1

    def __enter__(self) -> None:
        interrupts = self.held or _Interrupts()
        try:
            self.calls.__enter__()
        except CertregError:
            if not self.held:
                interrupts.end()
            raise
        self.calls.called_back, self.error, self.interrupts = True, None, interrupts

    def __exit__(self, *_: Any) -> None:
        error, self.error = self.error, None
        interrupts, self.interrupts, self.calls.called_back = self.interrupts, None, False
        self.calls.__exit__()
        if self.held:
            interrupts.settle()
        else:
            interrupts.end()
        if error is not None:
            raise error


Self = TypeVar("Self", bound="Handle")


class Handle:
    """The common part of all handles: a context manager with close, calls and errors."""

    _NAME = ""  # as in certreg_NAME_destroy

    def __init__(self) -> None:
        self._handle: Any = pointer()
        self._calls = Calls()
        self._alive = threading.RLock()  # for cancel, which does not wait for calls

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_alive"):
            self._free()

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{type(self).__name__} cannot be pickled or copied: make one in every process; "
            "export and import_ move a record"
        )

    def close(self) -> None:
        """Frees the handle. Closing it twice does no harm. While a call is running, in the model or
        in another thread, close raises CertregError with Status.BUSY."""
        with self._calls:
            self._free()

    def _free(self) -> None:
        self._freed("_handle", self._function("destroy"))

    def _freed(self, name: str, function: Callable[[Any], Any]) -> None:
        """Frees one handle of the library."""
        with self._alive:
            handle = getattr(self, name, None)
            setattr(self, name, None)
            if handle:
                function(handle)

    def _function(self, verb: str) -> Any:
        return getattr(lib, f"certreg_{self._NAME}_{verb}")

    def _open(self) -> Any:
        if not self._handle:
            raise ValueError(f"{type(self).__name__} is closed")
        return self._handle

    def _made(self, status: int, why: Any) -> None:
        if status:
            self._free()
            raise self._error(status, why)

    def _error(self, status: int, why: Any) -> CertregError:
        return CertregError(status, why)

    def _call(self, verb: str, *arguments: Any, around: Any = None) -> None:
        self._called(self._function(verb), *arguments, around=around)

    def _called(self, function: Any, *arguments: Any, around: Any = None) -> None:
        """Calls a function of the library on the handle. Raises CertregError if it fails."""
        with around or self._calls:
            status = function(self._open(), *arguments)
            failure = self._failure(status) if status else None
        if failure:
            raise failure

    def _failure(self, status: int) -> CertregError:
        return self._error(status, self._function("error")(self._handle)[0])

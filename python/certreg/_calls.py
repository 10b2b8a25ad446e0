"""Calls into the library: one at a time, with exceptions and Ctrl-C carried across."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import Any, Callable, Iterator, Optional, TypeVar

from . import _structs as S
from ._library import lib
from .constants import Status
from .errors import CertregError


class _Interrupts:
    """Ctrl-C waits until it can be delivered: in the model (while `inside` is set), which is
    interrupted at once, or else at `end`."""

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
        """Delivers what came while the library was computing."""
        what, self.waiting = self.waiting, None
        if what:
            self.handler(*what)  # type: ignore[misc]

    def end(self) -> None:
        if self.handler:
            signal.signal(signal.SIGINT, self.handler)
        self.settle()


class Calls:
    """`with` around every call, close included: one at a time, so that nobody frees what a call
    is using."""

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        self.process, self.called_back = os.getpid(), False
        # It belongs to a thread: if Ctrl-C hits between acquire and `with`, that thread goes on.
        self.lock = threading.RLock()

    def __enter__(self) -> None:
        if self.process != os.getpid():
            self._renew()  # a forked child, to whom the library says so
        if not self.lock.acquire(blocking=False):
            raise CertregError(Status.BUSY)
        if self.called_back:
            self.lock.release()
            raise CertregError(Status.BUSY)

    def __exit__(self, *_: Any) -> None:
        self.lock.release()


class Callbacks:
    """`with` around calls that may call back. It carries exceptions of callbacks across the
    library. Nothing may be raised outside `guarded`, because ctypes loses an exception on the
    way into or out of a callback."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.error: Optional[BaseException] = None
        self.interrupts: Any = None
        self.held: Optional[_Interrupts] = None

    @contextlib.contextmanager
    def holding_interrupts(self) -> Iterator[None]:
        """`with` around many calls: Ctrl-C is taken over once, and not by each of them."""
        self.held = _Interrupts()
        try:
            yield
        finally:
            held, self.held = self.held, None
            held.end()

    def guarded(self, call: Callable[..., Any], *arguments: Any) -> int:
        """0, or 1 after an exception."""
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
    """What all handles share: `with`, close, calls, and errors."""

    _NAME = ""  # as in certreg_NAME_destroy

    def __init__(self) -> None:
        self._handle: Any = S.pointer()
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
            "records travel by export and import_"
        )

    def close(self) -> None:
        """Frees everything. It does no harm to close twice. During a call, from its model or
        another thread, closing is refused."""
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
            raise CertregError(status, why)

    def _call(self, verb: str, *arguments: Any, around: Any = None) -> None:
        self._called(self._function(verb), *arguments, around=around)

    def _called(self, function: Any, *arguments: Any, around: Any = None) -> None:
        """Calls a function of the library on the handle, and raises its failure."""
        with around or self._calls:
            status = function(self._open(), *arguments)
            failure = self._failure(status) if status else None
        if failure:
            raise failure

    def _failure(self, status: int) -> CertregError:
        return CertregError(status, self._function("error")(self._handle)[0])

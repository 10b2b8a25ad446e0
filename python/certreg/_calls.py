"""Calls of the library, one at a time. Exceptions and Ctrl-C in callbacks reach the caller."""

from __future__ import annotations

import contextlib
import ctypes as C
import os
import signal
import threading
import types
from typing import Callable, ContextManager, Iterator, NoReturn, Sequence
from typing import TypeVar

from . import _structs as S
from ._ctypes import pointer
from ._library import lib
from .constants import Status
from .errors import CertregError


class _Interrupts:
    """Replaces the handler of Ctrl-C while the library computes, since an exception would be lost
    there. Ctrl-C is delivered at once in the model (while `inside` is set), and otherwise by
    `settle` or `end`."""

    def __init__(self) -> None:
        self.waiting: tuple[int, types.FrameType | None] | None = None
        self.inside = False
        self.handler: Callable[[int, types.FrameType | None], object] | None = None
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(before):
            self.handler = before
            signal.signal(signal.SIGINT, self.arrived)

    def arrived(self, number: int, frame: types.FrameType | None) -> None:
        self.waiting = number, frame
        if self.inside:
            self.deliver()

    def deliver(self) -> None:
        self.inside = False
        self.settle()
        self.inside = True

    def settle(self) -> None:
        """Delivers a Ctrl-C that arrived while the library was computing."""
        signalled, self.waiting = self.waiting, None
        if signalled and self.handler:
            self.handler(*signalled)

    def end(self) -> None:
        if self.handler:
            signal.signal(signal.SIGINT, self.handler)
        self.settle()


class Calls:
    """A context around every call on a handle, including close, and around calls that belong
    together, such as begin and the questions about its input. Meanwhile it refuses every call from
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
            self._renew()  # in a forked child nobody would release the parent's lock
        if not self.lock.acquire(blocking=False):
            raise CertregError(Status.BUSY)
        if self.called_back:
            self.lock.release()
            raise CertregError(Status.BUSY)

    def __exit__(self, *_: object) -> None:
        self.lock.release()


class Callbacks:
    """A context around calls that may call back. After the call it raises the exception of a
    callback again. Callbacks must run in `guarded`: ctypes would lose an exception outside of
    it."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.error: BaseException | None = None
        self.interrupts: _Interrupts | None = None
        self.held: _Interrupts | None = None

    @contextlib.contextmanager
    def holding_interrupts(self) -> Iterator[None]:
        """A context around many calls. It replaces the handler of Ctrl-C once for all of them."""
        held = self.held = _Interrupts()
        try:
            yield
        finally:
            self.held = None
            held.end()

    @contextlib.contextmanager
    def in_model(self) -> Iterator[None]:
        """A context around a call of the model outside of the library, while interrupts are held:
        Ctrl-C is delivered at once, and calls on the handle are refused."""
        interrupts = self.held
        assert interrupts is not None
        interrupts.inside = self.calls.called_back = True
        try:
            if interrupts.waiting:
                interrupts.deliver()
            yield
        finally:
            interrupts.inside = self.calls.called_back = False

    def guarded(self, call: Callable[..., object], *arguments: object) -> int:
        """Runs a callback of the library. Returns 1, which stops the library, after an exception or
        a true result, else 0."""
        interrupts = self.interrupts
        assert interrupts is not None
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

    def __exit__(self, *_: object) -> None:
        error, self.error = self.error, None
        interrupts, self.interrupts, self.calls.called_back = self.interrupts, None, False
        self.calls.__exit__()
        if interrupts:
            (interrupts.settle if self.held else interrupts.end)()
        if error is not None:
            raise error


Self = TypeVar("Self", bound="Handle")


class Handle:
    """The base of all handles: a context manager with close, calls and errors."""

    _NAME = ""  # as in certreg_NAME_destroy

    def __init__(self) -> None:
        self._handle = pointer()
        self._calls = Calls()
        self._alive = threading.RLock()  # for cancel, which does not wait for calls

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_alive"):
            self._free()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} cannot be pickled or copied: make one in every process; "
            "export and import_ move a record"
        )

    def close(self) -> None:
        """Free the memory. A second call has no effect.

        Raises
        ------
        CertregError
            With ``Status.BUSY`` while a call is running, in the model or in another thread."""
        with self._calls:
            self._free()

    def _free(self) -> None:
        self._freed("_handle", self._function("destroy"))

    def _freed(self, name: str, function: Callable[[C.c_void_p], object]) -> None:
        """Frees the library's handle in an attribute."""
        with self._alive:
            handle = getattr(self, name, None)
            setattr(self, name, pointer())
            if handle:
                function(handle)

    def _function(self, verb: str) -> Callable[..., int]:
        function: Callable[..., int] = getattr(lib, f"certreg_{self._NAME}_{verb}")
        return function

    def _open(self) -> C.c_void_p:
        if not self._handle:
            raise ValueError(f"{type(self).__name__} is closed")
        return self._handle

    def _made(self, status: int, why: S.Error) -> None:
        """Frees the handle and raises CertregError if its creation failed."""
        if status:
            self._free()
            raise self._error(status, why)

    def _error(self, status: int, why: S.Error) -> CertregError:
        return CertregError(status, why)

    def _call(
        self, verb: str, *arguments: object, around: ContextManager[None] | None = None
    ) -> None:
        self._called(self._function(verb), *arguments, around=around)

    def _called(
        self,
        function: Callable[..., int],
        *arguments: object,
        around: ContextManager[None] | None = None,
    ) -> None:
        """Calls a function of the library on the handle. Raises CertregError if it fails."""
        with around or self._calls:
            status = function(self._open(), *arguments)
            failure = self._failure(status) if status else None
        if failure:
            raise failure

    def _failure(self, status: int) -> CertregError:
        last: Callable[..., Sequence[S.Error]] = getattr(lib, f"certreg_{self._NAME}_error")
        return self._error(status, last(self._handle)[0])

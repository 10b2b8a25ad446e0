"""Calls of the library, one at a time. Exceptions and Ctrl-C in callbacks reach the caller."""

from __future__ import annotations

import contextlib
import ctypes as C
import signal
import sys
import threading
import types
from typing import Callable, ContextManager, Iterator, NamedTuple, NoReturn, Sequence
from typing import TypeVar

from . import _structs as S
from ._ctypes import pointer
from ._library import lib
from .constants import Status
from .errors import CertregError

Result = TypeVar("Result")


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


class _Entered(NamedTuple):
    """A function that has entered Calls."""

    thread: int
    frame: types.FrameType
    alone: bool  # no call is allowed within this one

    def is_running(self) -> bool:
        frame = sys._current_frames().get(self.thread)
        while frame is not None and frame is not self.frame:
            frame = frame.f_back
        return frame is not None


class Calls:
    """A context around every call on a handle, including close, and around calls that belong
    together, such as begin and the questions about its input. Meanwhile it refuses every call from
    another thread or from a callback. So no answer is about another input, and nothing is freed
    while a call is using it.

    Ctrl-C may arrive before `with` has begun, and at the first line of __exit__. So a function that
    entered counts only while it is on the stack, and no lock can stay acquired: the first in the
    list is the one that may call."""

    def __init__(self) -> None:
        self.entered: list[_Entered] = []

    def enter(self, frame: types.FrameType, alone: bool = False) -> None:
        """Enters for the function with this frame, which is no generator."""
        new = _Entered(threading.get_ident(), frame, alone)
        self._check(new)  # one that is refused must not disturb others
        self.entered.append(new)
        try:
            self._check(new)
        except CertregError:
            self._forget(new)
            raise

    def _check(self, new: _Entered) -> None:
        """Raises CertregError if functions that entered before this one refuse it."""
        before = list(self.entered)
        before = before[: before.index(new)] if new in before else before
        for one in [one for one in before if not one.is_running()]:
            before.remove(one)
            self._forget(one)
        own = [one for one in before if one.thread == new.thread]
        if any(one.alone for one in own) or own[:1] != before[:1]:
            raise CertregError(Status.BUSY)

    def _forget(self, one: _Entered) -> None:
        with contextlib.suppress(ValueError):  # another thread was faster
            self.entered.remove(one)

    def leave(self, frame: types.FrameType) -> None:
        for one in [one for one in self.entered if one.frame is frame][-1:]:
            self._forget(one)

    def __enter__(self) -> None:
        self.enter(sys._getframe(1))

    def __exit__(self, *_: object) -> None:
        self.leave(sys._getframe(1))


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

    def in_model(self, call: Callable[..., Result], *arguments: object) -> Result:
        """Calls the model outside of the library, while interrupts are held: Ctrl-C is delivered at
        once, and calls on the handle are refused."""
        interrupts = self.held
        assert interrupts is not None
        self.calls.enter(sys._getframe(), alone=True)
        try:
            interrupts.inside = True
            if interrupts.waiting:
                interrupts.deliver()
            return call(*arguments)
        finally:
            interrupts.inside = False
            self.calls.leave(sys._getframe())

    def guarded(self, call: Callable[..., object], *arguments: object) -> int:
        """Runs a callback of the library. Returns 1, which stops the library, after an exception or
        a true result, else 0."""
        interrupts = self.interrupts
        assert interrupts is not None
        if self.error is not None:  # of an earlier callback
            return 1
        try:
            self.error = KeyboardInterrupt()  # if it comes in `except`, ctypes loses it
            interrupts.inside = True
            if interrupts.waiting:
                interrupts.deliver()
            stop = call(*arguments)
            interrupts.inside = False
            self.error = None
            return 1 if stop else 0
        except BaseException as error:  # KeyboardInterrupt and SystemExit as well
            interrupts.inside = False
            self.error = error
            return 1

    def __enter__(self) -> None:
        interrupts = self.held or _Interrupts()
        try:
            self.calls.enter(sys._getframe(1), alone=True)
        except CertregError:
            if not self.held:
                interrupts.end()
            raise
        self.error, self.interrupts = None, interrupts

    def __exit__(self, *_: object) -> None:
        error, self.error = self.error, None
        interrupts, self.interrupts = self.interrupts, None
        self.calls.leave(sys._getframe(1))
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

"""Finds and opens the library, calls it, and passes on failures, exceptions and Ctrl-C."""

from __future__ import annotations

import contextlib
import copyreg
import ctypes as C
import enum
import os
import pathlib
import re
import signal
import sys
import threading
import types
from typing import Any, Callable, ContextManager, Iterator, NamedTuple, NoReturn, TypeVar, cast

from . import structs as S
from .arguments import Names, pointer, u32
from .constants import VERSION_NUMBER, Center, Constraint, Constraints, Method, Output, Score, Side
from .constants import Statistic, Status, enum_value

MAJOR = VERSION_NUMBER // 10000
NAME = {"darwin": f"libcertreg.{MAJOR}.dylib", "win32": "libcertreg.dll"}.get(
    sys.platform, f"libcertreg.so.{MAJOR}"
)


def _opened() -> tuple[str, C.CDLL]:
    """The path, and the library: CERTREG_LIB if it is set, else the one inside the package or in
    the repository around it, else an installed one."""
    here = pathlib.Path(__file__).resolve().parent
    known = (here / "lib" / NAME, here.parents[1] / "lib" / NAME)
    there = next((str(path) for path in known if path.exists()), NAME)
    path = os.environ.get("CERTREG_LIB") or there
    try:
        lib = C.CDLL(path)  # other threads can run during its calls
    except OSError as error:
        raise ImportError(f"{error}; set CERTREG_LIB to the path of the library") from None
    lib.certreg_version.restype = u32
    found = lib.certreg_version()
    if found // 10000 != VERSION_NUMBER // 10000 or found < VERSION_NUMBER:
        raise ImportError(
            f"{path} has version {found}; this package needs {VERSION_NUMBER} "
            "or a later one of the same major version"
        )
    for name, (result, *parameters) in S.FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, parameters
    return path, lib


library_path, lib = _opened()  # the file of the library, and its functions


def version() -> int:
    """Return the version number of the loaded library: 10000 * major + 100 * minor + patch."""
    return int(lib.certreg_version())


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_ENUMS: dict[str, type[enum.Enum]] = {
    kind.__name__.upper(): kind
    for kind in (Center, Constraint, Constraints, Method, Output, Score, Side, Statistic)
}
_STRUCTS = "question|plan|model|options|coverage|calibration|rule"
_FIELD = re.compile(rf"\b({_STRUCTS})\.(\w+)(?:->(\w+))?")
_CONSTANT = re.compile(r"\bCERTREG_([A-Z_]+)(\.\.\.)?|(?<!\w)_([A-Z_]+)\b")
_PATH = re.compile(r"(\S*/\S*|\S+\.so\b\S*)")
_FEATURE = re.compile(r"((?:sigma\*|--)?\b(?:z|to|scale))\[(\d+)\]")


class MessageTranslator:
    """Replaces names of C by names of Python."""

    _PLAIN: tuple[tuple["re.Pattern[str]", str], ...] = (
        (re.compile(r"\bNULL\b"), "None"),
        (re.compile(r"\bSIZE_MAX\b"), "NO_PILOT"),
        (re.compile(r"\bcertreg_(?:estimator_)?(?=[a-z])|(?<!\w)_(?=[a-z])"), ""),
        (re.compile(r"(?<=\s)\.(?=[a-z])"), ""),
    )

    def field(self, struct: str, name: str, part: str | None) -> str:
        """A field of a struct, or of the struct to which it points."""
        if name == "constraints":  # the name of two arguments
            return f"constraints of the {'question' if struct == 'question' else 'estimator'}"
        if part == "look_count":
            return f"len({name}.looks)"
        name = {"eval": "model", "masks": "faulty"}.get(name, name)
        return f"{name}.{part}" if part else name

    def member(self, kind: str, name: str) -> str:
        """A member of an enumeration, by its name in upper case."""
        return f"{_ENUMS[kind].__name__}.{name}"

    def constant(self, name: str) -> str:
        """A constant without an enumeration."""
        return name

    def feature(self, of: str, index: str) -> str:
        """One of the numbers of an input or a scale."""
        return f"feature {index} of {of}"

    def translate(self, text: str) -> str:
        """The text with these names. Paths stay as they are."""
        parts = _PATH.split(text)
        parts[::2] = map(self._named, parts[::2])
        return "".join(parts)

    def _named(self, text: str) -> str:
        last = ""

        def constant(found: "re.Match[str]") -> str:
            nonlocal last  # the enumeration of a short name such as _UPPER
            if found[3]:
                return self.member(last, found[3]) if last else found[0]
            kind, _, name = found[1].partition("_")
            if kind not in _ENUMS:
                return self.constant(found[1])
            last = kind
            if found[2]:
                return ", ".join(known.lower() for known in _ENUMS[kind].__members__)
            return self.member(kind, name)

        text = _FIELD.sub(lambda found: self.field(*found.groups()), text)
        text = _CONSTANT.sub(constant, text)
        text = _FEATURE.sub(lambda found: self.feature(found[1], found[2]), text)
        for pattern, by in self._PLAIN:
            text = pattern.sub(by, text)
        return text


in_python = MessageTranslator().translate


def in_words(error: str) -> str:
    """The error of a row with the argument that the remedy means."""
    flag = "PLAN_COUNT_FAILURES"
    return error.replace(flag, f"options=Options(flags=certreg.{flag})")


_NUMBERED = re.compile(r"\bfeature (\d+) of ((?:\S*\bscale)?)(?:z|to|the input)?(?!\w)")


def with_column_names(text: str, names: Names) -> str:
    """The text with the names of features instead of their numbers; unchanged without names."""
    if names is None:
        return text
    known = list(names)

    def named(found: "re.Match[str]") -> str:
        at, of = int(found[1]), f" of {found[2]}" if found[2] else ""
        return f"column {known[at]!r}{of}" if at < len(known) else found[0]

    return _NUMBERED.sub(named, text)


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
        self.certificates: list[Any] = []

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

    def in_model(self, call: Callable[..., Result], *arguments: object) -> Result:
        """Calls the model, in which Ctrl-C is delivered at once."""
        try:
            self.inside = True
            if self.waiting:
                self.deliver()
            return call(*arguments)
        finally:
            self.inside = False

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
        first = None
        for one in list(self.entered):
            if one == new:
                break
            if one.is_running():
                first, own = first or one, one.thread == new.thread
                if first.thread != new.thread or own and one.alone:
                    raise CertregError(Status.BUSY)
            else:
                self._forget(one)

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
            return interrupts.in_model(call, *arguments)
        finally:
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
            stop = interrupts.in_model(call, *arguments)
            self.error = None
            return 1 if stop else 0
        except BaseException as error:  # KeyboardInterrupt and SystemExit as well
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

    def _function(self, verb: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(lib, f"certreg_{self._NAME}_{verb}")
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
        self,
        call: str | Callable[..., int],
        *arguments: object,
        around: ContextManager[None] | None = None,
    ) -> None:
        """Calls a function of the library, given itself or by its verb, on the handle. Raises
        CertregError if it fails."""
        function = self._function(call) if isinstance(call, str) else call
        with around or self._calls:
            status = function(self._open(), *arguments)
            failure = self._failure(status) if status else None
        if failure:
            raise failure

    def _result(self, kind: type[Result], verb: str, *arguments: object) -> Result:
        """The result of a call that fills a struct with the name of this class."""
        out = getattr(S, kind.__name__)()
        self._call(verb, *arguments, C.byref(out))
        result: Result = cast(Any, kind)._of(out)
        return result

    def _failure(self, status: int) -> CertregError:
        return self._error(status, self._function("error")(self._handle)[0])

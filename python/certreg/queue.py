"""The queue of the library: inputs, and inputs with alternatives, that share calls of a model."""

from __future__ import annotations

import ctypes as C
import math
import re
from typing import Any, Mapping, NamedTuple, Sequence, TypeAlias, cast

import numpy as np

from . import structs as S
from .alternatives import Cell, Found
from .arguments import i32, size_t, u32, u64
from .arrays import Memory, flat_dtype, outputs_in_float32
from .constants import CALL_IDLE, CALL_ROWS, QUEUE_KEEP_PICKS, Status
from .inputs import WHOLE, MissingCells
from .library import CertregError, Handle, lib, of_model

FIRST_ID = 1 << 63  # of noise of alternatives; rows have smaller noise ids
NUMBER_BITS = 20  # of the nodes of a row
MOST_ROW = 1 << 43  # noise ids of rows with alternatives are below
MOST_OPEN, MOST_BYTES = 1 << 10, 1 << 26  # records that are open, and their memory
Node = tuple[int, int, int]  # number, depth and path of a record of an input
ITSELF = 0, 0, 0
OF_CHECK = 2**64 - 1  # the sample of a row of the check before the run
_Dtypes: TypeAlias = "list[np.dtype[np.void]]"
ROW, CERTIFICATE, EACH = cast(
    _Dtypes, [flat_dtype(one) for one in (S.QueueRow, S.Certificate, S.AlternativeResult)]
)


class Input(NamedTuple):
    """An input at one sigma: cell 0 is the input itself, without a name if there is no set of
    alternatives; these follow."""

    tag: int
    cells: Sequence[Cell]
    sigma: float
    noise_id: int
    level: int
    samples: int
    questions: "C.Array[S.Question]"
    radius: float = 0.0  # > 0: of output bounds
    records: Mapping[Node, bytes] = {}
    asks_again: bool = False  # the model, for samples of its record


class Result(NamedTuple):
    """The result of an input. `records`: those that were kept."""

    tag: int
    error: CertregError | None
    certificates: np.ndarray
    found: Found | None
    records: Mapping[Node, bytes]


class _Open(NamedTuple):
    given: Input
    lacks: Mapping[int, MissingCells]  # by the number of the cell
    kept: dict[Node, bytes]


class Queue(Handle):
    """Inputs that share calls of the model of an estimator, while it holds interrupts.

    questions     most of an input
    samples       most of a record
    batch         rows of a call
    inputs        that may be open
    alternatives  most of an input, beside itself
    pilot         None: that of the estimator
    keeps         "records" or "picks" that results have; or nothing
    random        the change of equal rows in another call"""

    _NAME = "queue"

    def __init__(
        self, e: Any, questions: int, samples: int, batch: int, inputs: int,
        alternatives: int = 0, pilot: int | None = None, keeps: str = "", random: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.alternatives, self._estimator = alternatives, e
        self._calls, self._callbacks = e._calls, e._callbacks
        self.inputs: dict[int, _Open] = {}  # by their tags
        self._any_lacks = False  # whether one of them had missing cells
        self._checked: MissingCells | None = None  # the missing cells of the rows of the check
        self._out = S.QueueCall()
        self._make_functions(bool(keeps))
        m, p = (type(one).from_buffer_copy(one) for one in e._plan[:2])
        m.batch, p.progress, p.max_samples = batch, S.PROGRESS(), samples
        p.pilot = p.pilot if pilot is None else pilot
        each = 4 * samples * e.outputs + 8 * e.inputs + 2048 * questions
        most = max(1, min(MOST_OPEN, MOST_BYTES // each))
        plan = S.QueuePlan(
            capacity=min(most, inputs * (alternatives + 1)), questions=questions,
            sets=min(most, inputs), alternatives=alternatives, keep=self._keep,
            flags=QUEUE_KEEP_PICKS if keeps == "picks" else 0, random=random,
        )  # fmt: skip
        size, why = size_t(), S.Error()
        given = e._backend, *map(C.byref, (m, p, plan, why))
        self._made(lib.certreg_queue_size(*given, C.byref(size), None), why)
        self._memory = Memory(size.value)
        p.memory, p.memory_bytes = self._memory.address, size.value
        self._made(lib.certreg_queue_create(*given, C.byref(self._handle)), why)
        room = (alternatives + 1) * questions
        self._certificates = (S.Certificate * questions)()
        self._each = (S.AlternativeResult * room)()
        self._limiting, self._why = (u32 * questions)(), S.Error()
        self._certificates[0], self._each[0] = S.Certificate(), S.AlternativeResult()
        self._taken = S.QueueResult(
            error=C.pointer(self._why), room=questions, certificates=self._certificates,
            limiting=C.addressof(self._limiting), alternative_room=room, alternatives=self._each,
        )  # fmt: skip

    def _make_functions(self, keeps: bool) -> None:
        """Makes the callbacks, which do not refer to self."""
        inputs, guarded = self.inputs, self._callbacks.guarded

        def write(a: S.Alternative) -> None:
            one = inputs[a.tag]
            record = one.given.records.get((a.number, a.depth, a.path))
            if record is not None:
                a.record, a.record_bytes = _address(record), len(record)
            if a.number:
                cell = one.given.cells[a.number].part(a.depth, a.path)
                z = one.lacks.get(a.number, WHOLE).filled(cell.z)
                C.memmove(a.z, z.ctypes.data, z.nbytes)
                a.margin, a.halvings = cell.margin, cell.divisions

        def keep(of: S.QueueRow, data: int, size: int) -> None:
            inputs[of.tag].kept[of.number, of.depth, of.path] = C.string_at(data, size)

        self._write = S.ALTERNATIVEWRITE(lambda _, a: guarded(write, a[0]))
        kept = S.QUEUEKEEP(lambda _, of, data, size: guarded(keep, of[0], data, size))
        self._keep = kept if keeps else S.QUEUEKEEP()

    def _error(self, status: int, why: S.Error) -> CertregError:
        return cast(CertregError, self._estimator._error(status, why))

    def clear(self) -> None:
        """Drops all inputs, also after an exception or an interrupt of a call."""
        self._call("drop", None)
        self.inputs.clear()
        if self._out.state == CALL_ROWS:
            self._give(None)

    def drop(self, first: int) -> None:
        """Drops the inputs with tags from `first` on."""
        for tag in [tag for tag in self.inputs if tag >= first]:
            self._call("drop", C.byref(u64(tag)))
            del self.inputs[tag]

    # ---- inputs
    def add(self, one: Input) -> bool:
        """Opens an input, unless the queue is full: then it returns False. Raises CertregError if
        the input is refused."""
        lacks, count, full = self._lacks(one.cells), len(one.cells) - 1, i32()
        z = lacks.get(0, WHOLE).filled(one.cells[0].z)
        given = S.QueueInput(
            tag=one.tag, z=z.ctypes.data, sigma=one.sigma, noise_id=one.noise_id, level=one.level,
            samples=one.samples, questions=one.questions, count=len(one.questions),
            at_radius=one.radius, asks_again=one.asks_again,
        )  # fmt: skip
        if count:
            given.alternatives = C.pointer(S.Alternatives(
                count=count, write=self._write, estimate_all=1,
                halvings=max(cell.divisions for cell in one.cells),
                first_noise_id=FIRST_ID + (one.noise_id << NUMBER_BITS),
            ))  # fmt: skip
        elif ITSELF in one.records:
            record = one.records[ITSELF]
            given.record, given.record_bytes = _address(record), len(record)
        self.inputs[one.tag] = _Open(one, lacks, {})
        self._any_lacks |= bool(lacks)
        try:
            self._call("add", C.byref(given), C.byref(full), around=self._callbacks)
        except BaseException as error:
            del self.inputs[one.tag]
            raise _named(error, one.cells)
        if full.value:
            del self.inputs[one.tag]
        return not full.value

    def _lacks(self, cells: Sequence[Cell]) -> dict[int, MissingCells]:
        """The missing cells of an input and its alternatives. Raises CertregError if an alternative
        cannot be used."""
        e, lacks = self._estimator, dict[int, MissingCells]()
        for number, cell in enumerate(cells):
            try:
                found = e._missing_in(cell.z)
                found.check()
            except (CertregError, ValueError) as error:
                text = f"{cell.name}: {error}" if number else str(error)
                raise CertregError(Status.INVALID, text=text) from error
            if found is not WHOLE:
                lacks[number] = found
        return lacks

    def certified(self, one: Input) -> Result:
        """The result of one input. Raises CertregError, or the exception of the model."""
        self.add(one)
        while (result := self.take()) is None:
            for error in self.compute().values():
                raise error
        if result.error:
            raise result.error
        return result

    # ---- calls of the model
    def compute(self) -> dict[int, BaseException]:
        """Calls the model for the next rows, if there are some. Returns the exceptions of the model
        by the tags of inputs, which are dropped."""
        call = self._out
        if self._estimator.on_device:  # its callback takes the rows of the device
            self._call("run", around=self._callbacks)
            return {}
        self._call("next", 0, C.byref(call), around=self._callbacks)
        if call.state == CALL_IDLE:
            raise RuntimeError("the queue has neither rows nor results of its inputs")
        if call.state != CALL_ROWS:
            return {}
        x = self._memory.array(call.x, (call.rows, *self._estimator.shape))[: call.used]
        of = np.frombuffer(C.string_at(call.row, call.used * ROW.itemsize), ROW)
        checks, checked = of["sample"] == OF_CHECK, self._checked
        if checks.all() and checked is None:
            checked = self.inputs[int(of["tag"][0])].lacks.get(0, WHOLE)
        self._restore(x, of, checks, checked or WHOLE)
        x.flags.writeable = False
        y, failed = self._outputs(x, of["tag"])
        for tag, error in failed.items():
            if checks.all() or tag not in self.inputs:
                raise error
            self._call("drop", C.byref(u64(tag)))  # so that nothing is taken from its rows
            del self.inputs[tag]
        self._give(y)
        self._checked = checked
        return failed

    def _restore(
        self, x: np.ndarray, of: np.ndarray, checks: np.ndarray, checked: MissingCells
    ) -> None:
        """Puts missing cells back into the rows of a call. The rows of the check, which come back
        in the calls of audits, keep those of the first input."""
        if checked is WHOLE and not self._any_lacks:
            return
        node = np.stack([of["tag"], of["number"], checks], axis=1)
        changes = (node[1:] != node[:-1]).any(axis=1)
        ends = [0, *(np.flatnonzero(changes) + 1).tolist(), len(x)]
        for first, last in zip(ends, ends[1:]):
            tag, number, is_check = node[first].tolist()
            lacks = checked if is_check else self.inputs[tag].lacks.get(number, WHOLE)
            lacks.restore(x[first:last])

    def _outputs(
        self, x: np.ndarray, tags: np.ndarray
    ) -> tuple[np.ndarray, dict[int, BaseException]]:
        """The outputs for these rows, and the exceptions of inputs without. If the model raises an
        exception, it is called once more for the rows of each input, to name those that fail alone;
        no output of others is missing, since these explain the failure."""
        e, failed = self._estimator, dict[int, BaseException]()
        try:
            return e._outputs_of(x), failed
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit as well
            cause = error
        y, each = np.zeros((len(x), e.columns)), list(dict.fromkeys(tags.tolist()))
        if len(each) == 1:
            return y, {each[0]: cause}
        for tag in each:
            some = np.ascontiguousarray(x[tags == tag])
            some.flags.writeable = False
            try:
                y[tags == tag] = e._outputs_of(some)
            except KeyboardInterrupt:
                raise
            except BaseException as own:
                failed[tag] = own
        if not failed:
            text = f"{of_model(cause)}, in a call for {len(each)} rows and in no call for one"
            raise CertregError(Status.MODEL_FAILED, text=text) from cause
        return y, failed

    def _give(self, outputs: np.ndarray | None) -> None:
        """Gives the outputs of the call that is out; None: it failed."""
        why, y, data = S.Error(), outputs, None
        if y is not None:
            y = outputs_in_float32(y, self._estimator._turns)
            data = y.ctypes.data
        given = self._open(), self._out.ticket, data, y is None, C.byref(why)
        status, self._out.state = lib.certreg_queue_give(*given), 0
        if status:
            raise self._error(status, why)

    # ---- results
    def take(self) -> Result | None:
        """The result of an input that is decided; None if there is none."""
        r = self._taken
        self._call("take", C.byref(r), around=self._callbacks)
        if not r.state:
            return None
        one = self.inputs.pop(r.tag)
        cells = one.given.cells
        error: Any = _named(self._error(r.status, self._why), cells) if r.status else None
        size = r.count * CERTIFICATE.itemsize
        certificates = np.frombuffer(C.string_at(self._certificates, size), CERTIFICATE)
        found = self._found(r, cells, certificates) if cells[0].name and not error else None
        return Result(r.tag, error, certificates, found, one.kept)

    def _found(self, r: S.QueueResult, cells: Sequence[Cell], certificates: np.ndarray) -> Found:
        names = tuple(cell.name for cell in cells)
        data = C.string_at(self._each, r.alternative_count * EACH.itemsize)
        each = np.frombuffer(data, EACH)["estimate"] if data else certificates["estimate"]
        each = each.reshape(len(cells), r.count)
        known = tuple(tuple(None if math.isnan(v) else v for v in some) for some in each.T.tolist())
        limiting = tuple(names[number] for number in self._limiting[: r.count])
        samples = int(certificates["samples"][0])
        return Found(len(names), samples, limiting, int(r.proved), names, known)


def _address(data: bytes) -> int | None:
    return C.cast(C.c_char_p(data), C.c_void_p).value


def _named(error: BaseException, cells: Sequence[Cell]) -> BaseException:
    """A failure with the name of the alternative, in place of its number, and without its tag."""
    if isinstance(error, CertregError):
        text = re.sub(r"^alternative (\d+)(?=:)", lambda n: cells[int(n[1])].name, str(error))
        text = re.sub(r"^input \d+( \(an alternative\))?, ", "", text)
        error.args = (text,)
    return error


def check_alternatives(e: Any, questions: "C.Array[S.Question]", samples: int) -> None:
    """Raises CertregError if questions cannot be about alternatives."""
    cells = [Cell(name, np.zeros(e.inputs, np.float32)) for name in ("no change", "moved")]
    with Queue(e, len(questions), samples, 1, 1, 1) as queue, e._callbacks.holding_interrupts():
        queue.add(Input(0, cells, 1.0, 0, 0, samples, questions))

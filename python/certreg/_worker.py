"""Certifies rows in one process: the job of a worker, the worker, and its results."""

from __future__ import annotations

import dataclasses
import math
import os
import pickle
import socket
import threading
import time
from typing import Any, Callable, NamedTuple, Optional, Sequence, Tuple, cast

import numpy as np

from . import _structs as S
from ._library import version
from ._arguments import integer
from .constants import Output, Status, __version__, version_text
from .results import refused_certificate
from .denoised import function_of_rows, made_of
from .errors import CertregError, RowsError, raised
from .estimator import Estimator, kinds_of
from .questions import Question, question_digest, structs_of

CERTIFICATE = cast("np.dtype[np.void]", np.dtype(S.Certificate))  # of a structured array
_RECORD_OUTPUTS = 8 + 6 * 8  # where the bytes of a record have the number of outputs
_RECORD_HEADER = 8 + 15 * 8  # bytes before the first range of a record
FIELDS = [name for name in CERTIFICATE.names or () if name != "struct_size"]


class Record(NamedTuple):
    """The outputs of the model for one row and sigma."""

    row: int
    sigma_index: int
    data: Optional[bytes]  # as Estimator.export returns it; None: sampling failed
    status: int  # of the failure, and its sentence
    error: Optional[str]

    def outputs(self, outputs: int) -> np.ndarray:
        """The outputs of all samples, (samples, outputs); NaN where one failed; none if sampling
        failed. docs/stability.md describes the bytes. Raises ValueError if the model has another
        number of outputs."""
        if self.data is None:
            return np.empty((0, outputs), np.float32)
        held, _, samples = (
            int.from_bytes(self.data[at : at + 8], "little")
            for at in (_RECORD_OUTPUTS, _RECORD_HEADER, _RECORD_HEADER + 8)
        )
        if outputs != held:
            raise ValueError(f"outputs is {outputs}; the model of this record has {held}")
        values = np.frombuffer(self.data, "<f4", samples * outputs, _RECORD_HEADER + 16)
        return values.reshape(samples, outputs)


@dataclasses.dataclass(frozen=True)
class Sampling:
    """What determines the samples of all rows, except the model and the inputs."""

    shape: Tuple[int, ...]
    sigmas: Tuple[float, ...]
    levels: Tuple[int, ...]  # of the noise, one for each sigma
    samples: int
    seed: int = dataclasses.field(repr=False)
    scale: Any = None
    outputs: int = 1
    kind: Any = None
    lo: Any = None
    hi: Any = None
    batch: int = 0
    pilot: int = 0
    constraints: int = 0
    flags: int = 0
    noise_id: int = 0  # of row 0

    def turn(self, output: int) -> float:
        """A full turn of an output that is an angle; infinite for a number."""
        kinds = kinds_of(self.kind, self.outputs)
        if kinds is None or output < 0 or kinds[output] == Output.REAL:
            return math.inf
        lo, hi = -math.pi if self.lo is None else self.lo, math.pi if self.hi is None else self.hi
        turns: np.ndarray = np.broadcast_to(np.subtract(hi, lo), self.outputs)
        return float(turns[output])

    def with_unit_noise(self) -> "Sampling":
        """The same with noise of standard deviation sigma for every feature."""
        return dataclasses.replace(self, scale=None)

    def estimator(self, model: Optional[Callable[[Any], Any]]) -> Estimator:
        """A new estimator for this model."""
        more = dict(vars(self))
        for name in ("shape", "sigmas", "levels", "samples", "noise_id"):
            del more[name]
        return Estimator(model, self.shape, self.samples, check=False, **more)


@dataclasses.dataclass(frozen=True)
class Job:
    """What is the same for all rows."""

    model: Any  # None: all outputs come from records
    columns: Any  # frames.Columns, or None
    sampling: Sampling
    questions: Tuple[Question, ...]
    radius: Optional[float]  # None: compute radii; otherwise output bounds at this radius
    keeps_records: bool

    def asked(self) -> Any:
        """The questions as structs. The certificates of all sigmas hold together: each gets its
        share of alpha."""
        structs = structs_of(self.questions)
        for struct in structs:
            shares = max(1, struct.bonferroni) * len(self.sampling.sigmas)
            struct.bonferroni = integer(shares, "bonferroni times the number of sigmas", 1, 2**53)
        return structs

    def function(self) -> Optional[Callable[[Any], Any]]:
        """The model as a function of arrays; None if there is none. Raises RowsError if the factory
        raises an exception."""
        if self.model is None:
            return None
        try:
            made = made_of(self.model)
        except Exception as error:
            raise RowsError(raised("the factory of the model", error)) from error
        return function_of_rows(made, self.columns)


@dataclasses.dataclass
class Chunk:
    """The results of some rows. If `failure` is not None, this exception ended the chunk before row
    rows[len(certificates)] was done."""

    rows: np.ndarray
    certificates: np.ndarray  # (rows done, sigmas, questions)
    errors: list[Tuple[int, int, str]]
    records: list[Record]
    failure: Optional[BaseException]
    seconds: float


def empty_certificates(*shape: int) -> np.ndarray:
    """Certificates that claim nothing."""
    return np.full(shape, np.frombuffer(bytes(refused_certificate()), CERTIFICATE)[0])


class Worker:
    """Certifies rows with one estimator, one row after the other."""

    def __init__(self, job: Job) -> None:
        self.job, self.function = job, job.function()
        self.samples = job.sampling.samples
        self.of_one_row = {Status.NOT_FINITE, Status.OUT_OF_RANGE}
        if self.function is None:  # answers come from records, and some may have too few samples
            self.samples = 0
            self.of_one_row.add(Status.WRONG_STATE)
        self.estimator = job.sampling.estimator(self.function)
        self.estimator._names = getattr(job.columns, "names", None)
        self.asked = job.asked()
        self.digests = [question_digest(question) for question in job.questions]

    def probe(self, X: np.ndarray) -> np.ndarray:
        """The outputs of the model for inputs without noise, of shape (rows, columns)."""
        if self.function is None:
            raise ValueError("without a model there is nothing to probe")
        try:
            return np.asarray(self.function(X), np.float32).reshape(len(X), -1)
        except Exception as error:
            raise RowsError(raised("the model", error)) from error

    def check(self, rows: np.ndarray, X: np.ndarray) -> Chunk:
        """Checks the model at an input. `errors` has what it says without refusing the model, and
        `failure` why it refuses it."""
        chunk, e = Chunk(rows, np.empty(0), [], [], None, 0.0), self.estimator
        try:
            e._begin(X.ctypes.data, self.job.sampling.sigmas[0], 0, 0)
            found, why = e._model_checked(0)
            if why.status:
                raise why
            if found:
                chunk.errors.append((int(rows[0]), 0, str(why)))
        except BaseException as error:
            chunk.failure = error
        return chunk

    def answer(self, rows: np.ndarray, X: np.ndarray, records: Sequence[Record] = ()) -> Chunk:
        """Certifies the rows with these indices and the inputs X. Rows in `records` are not sampled
        again."""
        begun = time.perf_counter()
        sampling, failure, done = self.job.sampling, None, 0
        out = empty_certificates(len(rows), len(sampling.sigmas), len(self.asked))
        chunk = Chunk(rows, out, [], [], None, 0.0)
        known = {(record.row, record.sigma_index): record for record in records}
        try:
            X = np.ascontiguousarray(X, np.float32)
            with self.estimator._callbacks.holding_interrupts():
                for done, row in enumerate(rows.tolist()):
                    if self.estimator._categorical:
                        self.estimator._categorical.check(X[done])
                    self._row(row, X.ctypes.data + done * X.strides[0], out[done], known, chunk)
            done = len(rows)
        except BaseException as error:  # KeyboardInterrupt as well: what is done is kept
            failure = error
        out["question"] = self.digests
        chunk.certificates, chunk.failure = out[:done], failure
        chunk.seconds = time.perf_counter() - begun
        return chunk

    def _row(self, row: int, z: int, out: np.ndarray, known: Any, chunk: Chunk) -> None:
        sampling = self.job.sampling
        errors, kept = [], []
        for k, (sigma, level) in enumerate(zip(sampling.sigmas, sampling.levels)):
            record = known.get((row, k))
            error = self._asked(z, sigma, row, level, record, out[k])
            if error is not None:
                errors.append((row, k, str(error)))
            if self.job.keeps_records and (record is None or record.data is None):
                kept.append(record or self._record(row, k, error))
        chunk.errors += errors
        chunk.records += kept

    def _asked(
        self, z: int, sigma: float, row: int, level: int, record: Any, out: np.ndarray
    ) -> Optional[CertregError]:
        """Writes the certificates of the input at address z, at one sigma, to `out`. Returns the
        failure of this row if its input or outputs cannot be used. Raises all other failures, for
        example an exception of the model or a wrong question."""
        e, noise_id = self.estimator, self.job.sampling.noise_id + row
        try:
            if record is not None and record.data is None:
                raise CertregError(record.status, text=record.error)
            e._begin(z, sigma, noise_id, level)
        except CertregError as error:
            out["status"], out["noise_id"], out["sigma"] = error.status, noise_id, sigma
            return error
        if record is not None:
            e.import_(record.data)
        first = S.Certificate.from_buffer(out.data)
        try:
            e._answer(self.samples, self.asked, self.job.radius, first)
        except CertregError as error:
            if error.status not in self.of_one_row:
                raise
            return error
        return None

    def _record(self, row: int, k: int, error: Optional[CertregError]) -> Record:
        """What to keep of the outputs. A record that sampling could not complete is not kept, or
        other questions could be answered from it: only the failure is, and they fail as well."""
        if error is not None:
            return Record(row, k, None, int(error.status), str(error))
        return Record(row, k, self.estimator.export(), 0, None)


# ---- in other processes -----------------------------------------------------------------------
KEPT_JOBS = 4  # of several runs that take turns in a process

Process = Tuple[str, int]  # its machine and number


class Token(NamedTuple):
    """The name of a job, and the versions that sent it."""

    job: str
    versions: str


class Reply(NamedTuple):
    """What comes back from a task."""

    value: Any  # of a method of Worker; None: the process has not got the job
    number: int = 0  # of the task
    process: Process = ("", 0)
    thread: int = 0


def versions() -> str:
    """The versions of the package and of the library that this process uses."""
    return f"certreg {__version__} with library {version_text(version())}"


class _ThreadWorker(threading.local):
    """The worker of a thread for its last job."""

    job: Any = None
    worker: Any = None


_thread_worker = _ThreadWorker()
_jobs: dict[str, bytes] = {}  # the packed jobs of this process, the last one at the end


def begin_process(parent: int, token: Token, packed: bytes) -> None:
    """Prepares a process of loky, which ends when its parent ends."""

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    _jobs[token.job] = packed


def _worker_of(job: str) -> Optional[Worker]:
    """The worker of this thread for a job; None if this process has not got the job."""
    if _thread_worker.job != job:
        packed = _jobs.get(job)
        if packed is None:
            return None
        _thread_worker.worker = _thread_worker.job = None
        _thread_worker.worker, _thread_worker.job = Worker(pickle.loads(packed)), job
    worker: Worker = _thread_worker.worker
    return worker


def work(token: Token, packed: Optional[bytes], number: int, method: str, *task: Any) -> Reply:
    """A method of Worker in any process of an executor. `packed` is the job for a process that has
    not got it. Raises RowsError if this process has other versions than the sender."""
    if versions() != token.versions:
        raise RowsError(
            f"a worker has {versions()}, but its work was sent by {token.versions}: install the "
            "same versions in both places"
        )
    if packed is not None:
        _jobs[token.job] = packed
        for old in list(_jobs)[:-KEPT_JOBS]:
            _jobs.pop(old, None)
    worker = _worker_of(token.job)
    value = None if worker is None else getattr(worker, method)(*task)
    if isinstance(value, Chunk) and value.failure is not None:
        value.failure = _portable(value.failure)
    return Reply(value, number, (socket.gethostname(), os.getpid()), threading.get_ident())


def _portable(error: BaseException) -> BaseException:
    """The exception, or a RuntimeError with its text if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")

"""libcertreg from Python: certified radii for noise-smoothed regression, on ctypes and NumPy.

    with Estimator(model, inputs=3, max_samples=10_000) as e:
        c = e.certify(z, 0.25, 10_000, Question(tolerance=0.5))
        print(c.prediction, c.radius)

The model takes a float32 array of shape (rows, inputs) and returns one of shape (rows,) or
(rows, columns). certreg.h says what the numbers mean. Names are those of the header:
CERTREG_METHOD_FINITE is Method.FINITE, CERTREG_E_BUSY is Status.BUSY, and other constants
lose CERTREG_ only. Zero means the default everywhere, with two exceptions that keep the noise
secret and fresh: without a seed an estimator draws one, and without a noise_id every input
gets one of its own.

This file can be copied to where it is needed. It opens the library that CERTREG_LIB names, or
else lib/libcertreg.so.0 of the repository that it lies in, or else the system's.
"""

import copyreg
import ctypes as C
import dataclasses
import enum
import math
import operator
import os
import pathlib
import secrets
import signal
import threading

import numpy as np

# ---- enums ----------------------------------------------------------------------------------
VERSION_NUMBER = 100  # of the header that this file follows
NO_PILOT = C.c_size_t(-1).value  # Estimator(pilot=NO_PILOT): every question gives its prediction
ALL_OUTPUTS = -1  # Question(output=ALL_OUTPUTS): all outputs as one vector, in the 2-norm
PLAN_COUNT_FAILURES = (
    1  # Estimator(flags=...): an output that is NaN or infinite is the worst value
)
BISECTION_WARM_START = 1  # Bisection(flags=...)
JSON_SEED = 1  # to_json(flags=...): write the seed too
WORST_CASE_EVALUATIONS, LEAST_WORST_CASE_EVALUATIONS = 2000, 1000
RADIUS_EVALUATIONS, LEAST_RADIUS_EVALUATIONS = 14000, 4000

Status = enum.IntEnum(
    "Status",
    "OK INVALID NO_MEMORY SMALL_MEMORY MODEL_FAILED NOT_FINITE OUT_OF_RANGE INFEASIBLE WRONG_STATE "
    "NO_BACKEND NO_DEVICE DEVICE_FAILED VERSION CORRUPT MISMATCH TOO_MANY CANCELLED DEADLINE BUSY",
    start=0,
)
Output = enum.IntEnum("Output", "REAL ANGLE ANGLE_PAIR", start=0)
Constraint = enum.IntFlag("Constraint", "MEAN VARIANCE GRADIENT RANGE SECOND_ORDER MOMENT")
Constraints = enum.IntEnum("Constraints", dict(C=2, CG=6, ECM=11, ECGM=15, ECGHM=31))
Statistic = enum.IntEnum("Statistic", "MEDIAN HUBER MEAN CIRCULAR_MEAN", start=0)
Method = enum.IntEnum("Method", "FINITE ASYMPTOTIC PAPER ANYTIME", start=0)
Center = enum.IntEnum("Center", "PREDICTION TRUE_MEAN", start=0)
Side = enum.IntEnum("Side", dict(NEAR_LOWER=-2, LOWER=-1, UPPER=1, NEAR_UPPER=2))
Outcome = enum.IntEnum("Outcome", "ABSTAINED CERTIFIED CAPPED", start=0)
Stop = enum.IntEnum("Stop", "ALL TARGET HOPELESS DEADLINE CANCELLED", start=0)

_ENUMS = {  # of the fields with these names
    "status": Status,
    "outcome": Outcome,
    "stop": Stop,
    "statistic": Statistic,
    "method": Method,
    "center": Center,
    "constraints": Constraint,
    "limiting_side": Side,
}


def _named(field, value):
    """The value of a field as a member of its enum, or as it is where it has no name."""
    try:
        return _ENUMS[field](value)
    except (KeyError, ValueError):
        return value


# ---- structs --------------------------------------------------------------------------------
_i32, _u32, _i64, _u64 = C.c_int32, C.c_uint32, C.c_int64, C.c_uint64
_f64, _size, _ptr = C.c_double, C.c_size_t, C.c_void_p


def _natural(value, what):
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {value!r}") from None
    if not 0 <= value < 2**64:
        raise ValueError(f"{what} is {value}, which does not fit")
    return value


class _Struct(C.Structure):
    def __init__(self, **fields):
        super().__init__(struct_size=C.sizeof(self), **fields)
        for name, value in fields.items():  # ctypes silently keeps the lowest bits
            if isinstance(getattr(self, name), int) and getattr(self, name) != value:
                raise ValueError(f"{name} is {value}, which does not fit")


def _struct(name, size, *groups):
    """A struct of the header. A group is (type, "names of fields"). The header's size holds on
    64-bit machines."""
    fields = [("struct_size", _u32)]
    fields += [(field, kind) for kind, names in groups for field in names.split()]
    made = type(name, (_Struct,), {"_fields_": fields})
    if C.sizeof(made) != size:
        raise ImportError(
            f"{name} takes {C.sizeof(made)} bytes here, but {size} in the library: "
            "this file needs a 64-bit Python"
        )
    return made


_Error = _struct(
    "certreg_error",
    296,
    (_i32, "status"),
    (_i64, "sample row"),
    (_i32, "output model_code"),
    (_f64, "value"),
    (C.c_char * 256, "text"),
)
_Batch = _struct(
    "certreg_batch",
    80,
    (_i32, "device"),
    (_size, "rows inputs columns"),
    (_u64, "first"),
    (_size, "used_first used_count"),
    (_ptr, "x y stream"),
)
_EVAL = C.CFUNCTYPE(C.c_int, _ptr, C.POINTER(_Batch))
_PROGRESS = C.CFUNCTYPE(C.c_int, _ptr, _u64, _u64)
_Model = _struct(
    "certreg_model",
    80,
    (_i32, "reserved"),
    (_EVAL, "eval"),
    (_ptr, "user"),
    (_size, "inputs outputs batch"),
    (_ptr, "scale kind lo hi"),
)
_Plan = _struct(
    "certreg_plan",
    88,
    (_u32, "constraints"),
    (_u64, "seed"),
    (_size, "max_samples pilot blocks"),
    (_PROGRESS, "progress"),
    (_ptr, "progress_user memory"),
    (_size, "memory_bytes"),
    (_u32, "flags reserved"),
    (_size, "second_order_bytes"),
)
_Target = _struct(
    "certreg_target", 24, (_u32, "look_count"), (_f64, "radius"), (C.POINTER(_u64), "looks")
)
_Serving = _struct(
    "certreg_serving", 24, (_i32, "reserved"), (_size, "samples"), (_f64, "failure_rate")
)
_Question = _struct(
    "certreg_question",
    80,
    (_i32, "output"),
    (_f64, "tolerance alpha"),
    (_i32, "statistic method"),
    (_f64, "huber_width"),
    (_i32, "center"),
    (_u32, "constraints"),
    (_u64, "bonferroni"),
    (C.POINTER(_f64), "prediction"),
    (C.POINTER(_Target), "target"),
    (C.POINTER(_Serving), "serving"),
)
_Certificate = _struct(
    "certreg_certificate",
    152,
    (_i32, "status outcome stop"),
    (_f64, "radius prediction estimate output_lo output_hi radius_l1 radius_l2 radius_linf"),
    (_f64, "sigma tolerance alpha"),
    (_u64, "samples noise_id question"),
    (_i32, "output statistic method center"),
    (_u32, "constraints"),
    (_i32, "limiting_side"),
)
_Run = _struct(
    "certreg_run",
    80,
    (_i32, "reserved"),
    (_u64, "seed noise_id level samples pilot batch"),
    (_f64, "sigma model_seconds library_seconds"),
)
_Forecast = _struct(
    "certreg_forecast", 24, (_i32, "reserved"), (_u64, "least_samples"), (_f64, "expected_samples")
)
_Bounds = _struct(
    "certreg_bounds",
    112,
    (_u32, "constraints"),
    (_f64, "sigma mean_lo mean_hi variance_hi gradient_lo gradient_hi range_lo range_hi alpha"),
    (_u64, "samples"),
    (_f64, "second_order_hi moment_center moment_hi"),
)
_SolverPlan = _struct(
    "certreg_solver_plan", 24, (_u32, "max_evaluations"), (_ptr, "memory"), (_size, "memory_bytes")
)
_MeanChange = _struct(
    "certreg_mean_change", 40, (_u32, "constraints"), (_f64, "drop rise mean_least mean_greatest")
)
_SolveInfo = _struct(
    "certreg_solve_info",
    40,
    (_u32, "evaluations"),
    (_u64, "points"),
    (_u32, "loose refinements fallbacks warm_starts"),
    (_f64, "seconds"),
)
_BisectionPlan = _struct(
    "certreg_bisection_plan",
    48,
    (_u32, "max_evaluations"),
    (_f64, "accuracy cap"),
    (_u32, "flags reserved"),
    (_ptr, "memory"),
    (_size, "memory_bytes"),
)
_Radius = _struct(
    "certreg_radius",
    32,
    (_i32, "outcome"),
    (_f64, "radius"),
    (_i32, "limiting_side reserved"),
    (_size, "limiting"),
)


# ---- the library ----------------------------------------------------------------------------
def _open_library():
    asked = os.environ.get("CERTREG_LIB")
    near = None
    if "__file__" in globals():
        near = pathlib.Path(__file__).resolve().parents[2] / "lib" / "libcertreg.so.0"
    path = asked or (str(near) if near and near.exists() else "libcertreg.so.0")
    try:
        lib = C.CDLL(path)  # which lets other threads run during calls
    except OSError as error:
        raise ImportError(f"{error}; name the library in CERTREG_LIB") from None
    lib.certreg_version.restype = _u32
    version = lib.certreg_version()
    if version // 10000 != VERSION_NUMBER // 10000 or version < VERSION_NUMBER:
        raise ImportError(
            f"{path} has version {version}; this file needs {VERSION_NUMBER} "
            "or a later one of the same major version"
        )
    return lib


def _declare(lib):
    """Tells ctypes what the functions take. Those that are not named return a status."""
    ref, out = C.POINTER, C.POINTER(_ptr)
    asked, certificates = (ref(_Question), _size), ref(_Certificate)
    shape = (_ptr, ref(_Model), ref(_Plan))
    for name, arguments in {
        "backend_open_cpu": (_i32, ref(_Error), out),
        "backend_open_cuda": (_i32, _ptr, C.c_char_p, ref(_Error), out),
        "estimator_size": (*shape, ref(_size)),
        "estimator_create": (*shape, ref(_Error), out),
        "estimator_begin_level": (_ptr, _ptr, _f64, _u64, _u64),
        "estimator_sample": (_ptr, _u64, _size),
        "estimator_draw": (_ptr, _u64, _size, _ptr),
        "estimator_record": (_ptr, _u64, _size, _ptr),
        "estimator_export": (_ptr, _ptr, ref(_size)),
        "estimator_import": (_ptr, C.c_char_p, _size),
        "estimator_set_deadline": (_ptr, _f64),
        "estimator_run": (_ptr, ref(_Run)),
        "estimator_bounds": (_ptr, ref(_Question), _i32, ref(_Bounds)),
        "estimator_forecast": (_ptr, ref(_Question), ref(_Forecast)),
        "certify": (_ptr, _size, *asked, certificates),
        "certify_outputs": (_ptr, _size, *asked, certificates, certificates),
        "certify_sigmas": (_ptr, _ptr, _ptr, _size, _u64, _size, *asked, certificates),
        "output_bounds": (_ptr, _size, *asked, _f64, certificates),
        "choose_sigma": (certificates, _size, _size, _ptr, ref(_size)),
        "question_digest": (ref(_Question), ref(_u64)),
        "write_json": (ref(_Question), ref(_Run), certificates, _u32, _ptr, ref(_size)),
        "solver_create": (ref(_SolverPlan), ref(_Error), out),
        "solver_worst_case": (_ptr, ref(_Bounds), _u32, _f64, ref(_MeanChange)),
        "solver_info": (_ptr, ref(_SolveInfo)),
        "bisection_create": (ref(_BisectionPlan), ref(_Error), out),
        "bisection_within": (_ptr, ref(_Bounds), _u32, _f64, ref(_Radius)),
        "bisection_above": (_ptr, ref(_Bounds), ref(_f64), _size, _u32, ref(_Radius)),
        "bisection_info": (_ptr, ref(_SolveInfo)),
    }.items():
        function = getattr(lib, "certreg_" + name)
        function.restype, function.argtypes = _i32, arguments
    lib.certreg_status_text.restype, lib.certreg_status_text.argtypes = C.c_char_p, (_i32,)
    lib.certreg_backend_close.restype, lib.certreg_backend_close.argtypes = None, (_ptr,)
    lib.certreg_estimator_cancel.restype, lib.certreg_estimator_cancel.argtypes = None, (_ptr,)
    for handle in ("estimator", "solver", "bisection"):
        destroy = getattr(lib, f"certreg_{handle}_destroy")
        destroy.restype, destroy.argtypes = None, (_ptr,)
        error = getattr(lib, f"certreg_{handle}_error")
        error.restype, error.argtypes = ref(_Error), (_ptr,)
    return lib


_lib = _declare(_open_library())


def version():
    """VERSION_NUMBER of the library."""
    return _lib.certreg_version()


class CertregError(RuntimeError):
    """A call that gave no answer. `status` says what kind of failure it was. sample, row and
    output are -1 where they do not apply. `certificates` are the answers to all questions of a
    call in which one of them failed."""

    def __init__(self, status, why=None):
        text = why.text.decode() if why else ""
        super().__init__(text or _lib.certreg_status_text(status).decode())
        self.status = _named("status", status)
        for field in ("sample", "row", "output", "model_code", "value"):
            setattr(self, field, getattr(why, field) if why else -1)
        self.certificates = []

    def __reduce__(self):  # pickle would call __init__ with the sentence as a status
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__


def _check(status, why=None):
    if status:
        raise CertregError(status, why)


# ---- questions ------------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class Target:
    """Sampling stops once this radius is proved or ruled out."""

    radius: float
    looks: tuple = None  # numbers of samples at which the record may be examined; None: default

    def _struct(self):
        if self.looks is None:
            return _Target(radius=self.radius)
        looks = [_natural(count, "looks") for count in self.looks]
        return _Target(radius=self.radius, look_count=len(looks), looks=(_u64 * len(looks))(*looks))


@dataclasses.dataclass(frozen=True)
class Serving:
    """The certificate is about the statistic of so many fresh samples, which misses the
    tolerance with probability at most failure_rate."""

    samples: int
    failure_rate: float

    def _struct(self):
        return _Serving(samples=self.samples, failure_rate=self.failure_rate)


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked about a record. Everything but the tolerance has a default: the median with
    exact bounds, and a false certificate with probability at most 0.05."""

    tolerance: float
    output: int = 0
    alpha: float = 0.0
    statistic: int = Statistic.MEDIAN
    method: int = Method.FINITE
    huber_width: float = 0.0
    center: int = Center.PREDICTION
    constraints: int = 0  # those that the method uses by default
    bonferroni: int = 0
    prediction: float = None  # None: the pilot chooses it
    target: Target = None  # a Target, or its radius
    serving: Serving = None

    _POINTERS = ("prediction", "target", "serving")

    def _struct(self):
        names = [field.name for field in dataclasses.fields(self)]
        q = _Question(**{n: getattr(self, n) for n in names if n not in self._POINTERS})
        if self.prediction is not None:
            q.prediction = C.pointer(_f64(self.prediction))
        if self.target is not None:
            target = self.target if isinstance(self.target, Target) else Target(self.target)
            q.target = C.pointer(target._struct())
        if self.serving is not None:
            if not isinstance(self.serving, Serving):
                raise TypeError("serving must be Serving(samples, failure_rate)")
            q.serving = C.pointer(self.serving._struct())
        return q

    @classmethod
    def _of(cls, asked):
        """A number is a question with this tolerance."""
        return asked if isinstance(asked, Question) else cls(asked)


def question_digest(question):
    """A 64-bit digest of everything that is asked, with defaults resolved. Certificates have it
    as `question`."""
    digest, struct = _u64(), Question._of(question)._struct()
    _check(_lib.certreg_question_digest(C.byref(struct), C.byref(digest)))
    return digest.value


# ---- answers --------------------------------------------------------------------------------
class _Answer:
    """A dataclass with the names of a struct."""

    @classmethod
    def _of(cls, struct):
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(**{name: _named(name, getattr(struct, name)) for name in names})


@dataclasses.dataclass(frozen=True)
class Certificate(_Answer):
    """|T(z + delta) - prediction| < tolerance for every delta with ||delta / scale|| < radius.
    The radius is 0, and an output bound infinite, unless proved."""

    status: int
    outcome: int
    stop: int
    radius: float
    prediction: float
    estimate: float
    output_lo: float
    output_hi: float
    radius_l1: float
    radius_l2: float
    radius_linf: float
    sigma: float
    tolerance: float
    alpha: float
    samples: int
    noise_id: int
    question: int  # its question_digest
    output: int
    statistic: int
    method: int
    center: int
    constraints: int
    limiting_side: int  # 0: none

    @property
    def certified(self):
        """Whether there is a radius."""
        return self.radius > 0

    def _struct(self):
        return _Certificate(**dataclasses.asdict(self))


@dataclasses.dataclass(frozen=True)
class Run(_Answer):
    """What all certificates of one input have in common."""

    seed: int = dataclasses.field(repr=False)  # a secret, unless it was given
    noise_id: int
    level: int
    samples: int
    pilot: int
    batch: int
    sigma: float
    model_seconds: float
    library_seconds: float

    def _struct(self):
        return _Run(**dataclasses.asdict(self))


@dataclasses.dataclass(frozen=True)
class Forecast(_Answer):
    """How many samples a target takes, pilot included. least_samples is 0 where max_samples
    cannot prove it."""

    least_samples: int
    expected_samples: float


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Bounds of a scalar function under the noise, estimated or filled by hand. None is
    unknown."""

    sigma: float
    mean_lo: float = None
    mean_hi: float = None
    variance_hi: float = None
    gradient_lo: float = None
    gradient_hi: float = None
    range_lo: float = None
    range_hi: float = None
    alpha: float = 0.0
    samples: int = 0
    second_order_hi: float = None
    moment_center: float = None
    moment_hi: float = None

    _FIELDS = {
        Constraint.MEAN: ("mean_lo", "mean_hi"),
        Constraint.VARIANCE: ("variance_hi",),
        Constraint.GRADIENT: ("gradient_lo", "gradient_hi"),
        Constraint.RANGE: ("range_lo", "range_hi"),
        Constraint.SECOND_ORDER: ("second_order_hi",),
        Constraint.MOMENT: ("moment_center", "moment_hi"),
    }

    @property
    def constraints(self):
        """The constraints that hold."""
        held = Constraint(0)
        for constraint, names in self._FIELDS.items():
            given = [getattr(self, name) is not None for name in names]
            if any(given) and not all(given):
                raise ValueError(f"{' and '.join(names)} have to be given together")
            held |= constraint if all(given) else 0
        return held

    def _struct(self):
        given = {k: v for k, v in dataclasses.asdict(self).items() if v is not None}
        return _Bounds(constraints=self.constraints, **given)

    @classmethod
    def _of(cls, struct):
        known = {name: getattr(struct, name) for name in ("sigma", "alpha", "samples")}
        for constraint, names in cls._FIELDS.items():
            if struct.constraints & constraint:
                known.update({name: getattr(struct, name) for name in names})
        return cls(**known)


@dataclasses.dataclass(frozen=True)
class MeanChange(_Answer):
    """How far a mean can move within a radius."""

    constraints: int
    drop: float
    rise: float
    mean_least: float
    mean_greatest: float


@dataclasses.dataclass(frozen=True)
class Radius(_Answer):
    """The largest radius, 0 unless proved, and what limits it: the side where a tolerance was
    asked for, and the index of a function where thresholds were."""

    outcome: int
    radius: float
    limiting_side: int
    limiting: int


@dataclasses.dataclass(frozen=True)
class SolveInfo(_Answer):
    """What the last call on a solver or bisection has cost."""

    evaluations: int
    points: int
    loose: int
    refinements: int
    fallbacks: int
    warm_starts: int
    seconds: float


def to_json(question=None, run=None, certificate=None, flags=0):
    """What a program keeps, as one line of JSON, which certreg_write_json writes. The seed is
    left out unless flags is JSON_SEED."""
    question = None if question is None else Question._of(question)
    said = [None if part is None else part._struct() for part in (question, run, certificate)]
    refs = [None if struct is None else C.byref(struct) for struct in said]
    size = _size(0)
    _check(_lib.certreg_write_json(*refs, flags, None, C.byref(size)))
    buffer = C.create_string_buffer(size.value)
    _check(_lib.certreg_write_json(*refs, flags, buffer, C.byref(size)))
    return buffer.value.decode()


def choose_sigma(certificates):
    """The index of the noise level with the greatest mean radius, and all mean radii. Takes a
    list for each input, of a certificate for each level. Deploy the level on other inputs."""
    inputs, levels = len(certificates), len(certificates[0]) if certificates else 0
    flat = [c._struct() for row in certificates for c in row]
    if len(flat) != inputs * levels:
        raise ValueError("every input needs a certificate for every level")
    structs, means, level = (_Certificate * len(flat))(*flat), (_f64 * max(levels, 1))(), _size()
    why = _Error(
        text=b"give certificates that did not fail, with the same noise levels for every "
        b"input, all different"
    )
    _check(_lib.certreg_choose_sigma(structs, inputs, levels, means, C.byref(level)), why)
    return level.value, list(means[:levels])


# ---- Python called from C --------------------------------------------------------------------
class _Interrupts:
    """Ctrl-C waits until it can be delivered: in the model (while `inside` is set), which is
    interrupted at once, or else at `end`."""

    def __init__(self):
        self.waiting, self.inside, self.handler = None, False, None
        before, main = signal.getsignal(signal.SIGINT), threading.main_thread()
        if threading.current_thread() is main and callable(before):
            self.handler = before
            signal.signal(signal.SIGINT, self.arrived)

    def arrived(self, *what):
        self.waiting = what
        if self.inside:
            self.deliver()

    def deliver(self):
        what, self.waiting, self.inside = self.waiting, None, False
        self.handler(*what)
        self.inside = True

    def end(self):
        if self.handler:
            signal.signal(signal.SIGINT, self.handler)
        if self.waiting:
            self.handler(*self.waiting)


class _Calls:
    """`with` around every call, close included: one at a time, so that nobody frees what a call
    is using."""

    def __init__(self):
        self.process, self.called_back = os.getpid(), False
        # It belongs to a thread: if Ctrl-C hits between acquire and `with`, that thread goes on.
        self.lock = threading.RLock()

    def __enter__(self):
        if self.process != os.getpid():
            self.__init__()  # a forked child, to whom the library says so
        if not self.lock.acquire(blocking=False):
            raise CertregError(Status.BUSY)
        if self.called_back:
            self.lock.release()
            raise CertregError(Status.BUSY)

    def __exit__(self, *_):
        self.lock.release()


class _Callbacks:
    """`with` around a call that may call back. It carries exceptions of callbacks across the
    library. Nothing may be raised outside `guarded`, because ctypes loses an exception on the
    way into or out of a callback."""

    def __init__(self, calls):
        self.calls, self.error, self.interrupts = calls, None, None

    def guarded(self, call, *arguments):
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

    def __enter__(self):
        interrupts = _Interrupts()
        try:
            self.calls.__enter__()
        except CertregError:
            interrupts.end()
            raise
        self.calls.called_back, self.error, self.interrupts = True, None, interrupts

    def __exit__(self, *_):
        error, self.error = self.error, None
        interrupts, self.interrupts, self.calls.called_back = self.interrupts, None, False
        self.calls.__exit__()
        interrupts.end()
        if error is not None:
            raise error


# ---- handles --------------------------------------------------------------------------------
class _Handle:
    """What all handles share: `with`, close, calls, and errors."""

    _NAME = ""  # as in certreg_NAME_destroy

    def __init__(self):
        self._handle = _ptr()
        self._calls = _Calls()
        self._alive = threading.RLock()  # for cancel, which does not wait for calls

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if hasattr(self, "_alive"):
            self._free()

    def __reduce__(self):
        raise TypeError(
            f"{type(self).__name__} cannot be pickled or copied: make one in every process; "
            "records travel by export and import_"
        )

    def close(self):
        """Frees everything. It does no harm to close twice. During a call, from its model or
        another thread, closing is refused."""
        with self._calls:
            self._free()

    def _free(self):
        self._freed("_handle", self._function("destroy"))

    def _freed(self, name, function):
        """Frees one handle of the library."""
        with self._alive:
            handle = getattr(self, name, None)
            setattr(self, name, None)
            if handle:
                function(handle)

    def _function(self, verb):
        return getattr(_lib, f"certreg_{self._NAME}_{verb}")

    def _open(self):
        if not self._handle:
            raise ValueError(f"{type(self).__name__} is closed")
        return self._handle

    def _made(self, status, why):
        if status:
            self._free()
            raise CertregError(status, why)

    def _call(self, verb, *arguments, around=None):
        self._called(self._function(verb), *arguments, around=around)

    def _called(self, function, *arguments, around=None):
        """Calls a function of the library on the handle, and raises its failure."""
        with around or self._calls:
            status = function(self._open(), *arguments)
            why = self._function("error")(self._handle)[0] if status else None
            failure = CertregError(status, why) if status else None
        if failure:
            raise failure


class DeviceArray:
    """Memory of a CUDA device during a call of the model, for whatever understands
    __cuda_array_interface__: torch.as_tensor(x, device="cuda"), cupy.asarray(x). Work on it
    belongs on `stream`, an address; `device` is the number of the device. The model must not
    write to x. The interface does not say so, because torch refuses read-only arrays."""

    def __init__(self, address, shape, batch):
        self.shape, self.device, self.stream = shape, batch.device, batch.stream or 0
        self.__cuda_array_interface__ = dict(
            version=3, shape=shape, typestr="<f4", data=(address, False), strides=None, stream=None
        )

    def _end(self):
        del self.__cuda_array_interface__  # whoever kept the array gets an AttributeError


def _device_address(array, shape):
    there = array.__cuda_array_interface__
    if tuple(there["shape"]) != shape or there["typestr"] != "<f4" or there.get("strides"):
        raise ValueError(
            f"out is {there['typestr']} of shape {tuple(there['shape'])}; "
            f"it must be float32 of shape {shape} without gaps"
        )
    return there["data"][0]


class _Memory:
    """What an estimator lives in. Arrays for its model are views of it and keep it alive. So an
    array that outlasts the estimator has old contents, but is no freed memory."""

    def __init__(self, size):
        room = np.empty(size + 64, np.uint8)
        self.bytes = room[-room.ctypes.data % 64 :][:size]
        self.address = self.bytes.ctypes.data

    def array(self, address, rows, columns):
        first = address - self.address
        bytes = self.bytes[first : first + 4 * rows * columns]
        return bytes.view(np.float32).reshape(rows, columns)


def _columns(outputs, kind):
    kinds = [] if kind is None else np.broadcast_to(kind, outputs)
    return outputs + sum(k == Output.ANGLE_PAIR for k in kinds)


def _array(values, length, dtype, what):
    """One number for all, or one for each; None for None."""
    if values is None:
        return None
    if np.ndim(values) == 0:
        values = np.broadcast_to(np.asarray(values, dtype), (length,))
    values = np.ascontiguousarray(values, dtype)
    if values.shape != (length,):
        raise ValueError(f"{what} has shape {values.shape}; it must be ({length},)")
    return values


def _address(values):
    return None if values is None else values.ctypes.data


def _called_on_a_device(model, batch):
    x = DeviceArray(batch.x, (batch.rows, batch.inputs), batch)
    y = DeviceArray(batch.y, (batch.rows, batch.columns), batch)
    try:
        if model(x, y) is not None:
            raise ValueError("on a device the model fills y and returns None")
    finally:
        x._end(), y._end()


def _called_on_the_host(model, batch, memory):
    used = slice(batch.used_first, batch.used_first + batch.used_count)
    x = memory.array(batch.x, batch.rows, batch.inputs)[used]
    y = memory.array(batch.y, batch.rows, batch.columns)
    x.flags.writeable = False
    answer, shape = np.asarray(model(x)), (len(x), batch.columns)
    if answer.shape != shape and (answer.shape != shape[:1] or batch.columns != 1):
        raise ValueError(f"the model returned shape {answer.shape}; it must be {shape}")
    y[used] = answer.reshape(shape)


# ---- estimator ------------------------------------------------------------------------------
class Estimator(_Handle):
    """Samples a model around one input after another, and answers questions about each.

    model     takes (rows, inputs) in float32 and returns (rows,) or (rows, columns). The next
              batch overwrites what the model was given: copy what has to stay. None: the
              program uses draw and record
    inputs    number of features
    max_samples    most samples of one input, pilot included
    outputs   how many there are. The model returns a column for each, and one more for each
              Output.ANGLE_PAIR
    kind, lo, hi   an Output and limits, for each output or for all
    scale     noise of each feature, or of all, in units of sigma; 0: never moved
    seed      of the noise. None: a secret one is drawn, which run() reports
    constraints   that questions may use. The gradient and the second order have to be named
    progress  called with (done, total) after each batch; a true answer cancels
    threads   that draw noise. None: the calling thread; 0: one per processor
    device    number of a CUDA device. The noise is drawn there, and the model is called as
              model(x, y) with two DeviceArrays. It fills y by work on x.stream, and need not
              wait. stream: address of a CUDA stream, 0: the library's own. module: path of
              the CUDA module

    The other arguments are those of certreg_plan and certreg_model. An estimator takes one call
    at a time. Another one, from the model or another thread, is refused with Status.BUSY. Only
    cancel may be called at any time."""

    _NAME = "estimator"

    def __init__(
        self,
        model,
        inputs,
        max_samples,
        *,
        outputs=1,
        batch=0,
        scale=None,
        kind=None,
        lo=None,
        hi=None,
        seed=None,
        pilot=0,
        constraints=0,
        blocks=0,
        flags=0,
        second_order_bytes=0,
        threads=None,
        device=None,
        stream=0,
        module=None,
        progress=None,
    ):
        super().__init__()
        self._backend, self._unused_noise = _ptr(), 0
        self.on_device = device is not None
        self.inputs, self.outputs, self.columns = inputs, outputs, _columns(outputs, kind)
        self._memory = []  # a _Memory, as soon as its size is known
        self._callbacks = _Callbacks(self._calls)
        self._eval, self._progress = self._functions(model, progress)
        arrays = {
            "scale": _array(scale, inputs, np.float32, "scale"),
            "kind": _array(kind, outputs, np.int32, "kind"),
            "lo": _array(lo, outputs, np.float64, "lo"),
            "hi": _array(hi, outputs, np.float64, "hi"),
        }
        addresses = {name: _address(array) for name, array in arrays.items()}
        m = _Model(eval=self._eval, inputs=inputs, outputs=outputs, batch=batch, **addresses)
        p = _Plan(
            constraints=constraints,
            seed=secrets.randbits(64) if seed is None else seed,
            max_samples=max_samples,
            pilot=pilot,
            blocks=blocks,
            progress=self._progress,
            flags=flags,
            second_order_bytes=second_order_bytes,
        )
        self._open_backend(threads, device, stream, module)
        self._create(m, p)

    def _functions(self, model, progress):
        # They do not refer to self: an estimator without references goes at once.
        callbacks, memory = self._callbacks, self._memory

        def run(batch):
            if batch[0].device >= 0:
                _called_on_a_device(model, batch[0])
            else:
                _called_on_the_host(model, batch[0], memory[0])

        evaluate = _EVAL(lambda _, batch: callbacks.guarded(run, batch)) if model else _EVAL()
        if not progress:
            return evaluate, _PROGRESS()
        return evaluate, _PROGRESS(lambda _, *counts: callbacks.guarded(progress, *counts))

    def _open_backend(self, threads, device, stream, module):
        why, out = _Error(), C.byref(self._backend)
        if threads is not None and device is not None:
            raise ValueError("give threads or device: on a device no threads draw noise")
        if threads is not None:
            self._made(_lib.certreg_backend_open_cpu(threads, C.byref(why), out), why)
        if device is not None:
            path = os.fsencode(module) if module else None
            status = _lib.certreg_backend_open_cuda(device, stream or None, path, C.byref(why), out)
            self._made(status, why)

    def _create(self, m, p):
        size, why, asked = _size(), _Error(), (self._backend, C.byref(m), C.byref(p))
        if not _lib.certreg_estimator_size(*asked, C.byref(size)):  # else create says why
            self._memory.append(_Memory(size.value))
            p.memory, p.memory_bytes = self._memory[0].address, size.value
        self._made(_lib.certreg_estimator_create(*asked, C.byref(why), C.byref(self._handle)), why)

    def _free(self):
        super()._free()
        self._freed("_backend", _lib.certreg_backend_close)

    def _noise(self, noise_id):
        """The number of the noise of a new input."""
        noise_id = _natural(self._unused_noise if noise_id is None else noise_id, "noise_id")
        self._unused_noise = max(self._unused_noise, noise_id + 1)
        return noise_id

    # ---- one input
    def begin(self, z, sigma, noise_id=None, level=0):
        """Starts a new input and empties the record. Without a noise_id the input gets the next
        number above all that this estimator has used: 0, 1, 2, ... A call that fails may
        skip one. Give the noise_id to repeat an input, or to import its record. sigmas[k] of
        certify_sigmas has the noise of level k + 1."""
        z, level = _array(np.ravel(z), self.inputs, np.float32, "z"), _natural(level, "level")
        with self._calls:
            self._call("begin_level", z.ctypes.data, sigma, self._noise(noise_id), level)

    def run(self):
        """What all certificates of the present input have in common, its seed among it."""
        out = _Run()
        self._call("run", C.byref(out))
        return Run._of(out)

    # ---- questions
    def certify(self, *arguments, noise_id=None):
        """certify(total_samples, *questions) samples until the record has total_samples, pilot
        included, and answers the questions. With 0 it only answers.
        certify(z, sigma, total_samples, *questions, noise_id=None) calls begin first. z is an
        array, which tells the two apart.

        One question has one certificate, several have a list. A number is a question with this
        tolerance."""
        begins = bool(arguments) and np.ndim(arguments[0]) > 0
        if len(arguments) < (3 if begins else 1) or (noise_id is not None and not begins):
            raise TypeError(
                "certify takes (total_samples, *questions) or "
                "(z, sigma, total_samples, *questions, noise_id=None)"
            )
        if begins:
            self.begin(*arguments[:2], noise_id)
            arguments = arguments[2:]
        total, questions = _natural(arguments[0], "total_samples"), arguments[1:]
        certificates = self._asked(
            questions,
            1,
            lambda e, asked, count, out: _lib.certreg_certify(e, total, asked, count, out),
        )
        return certificates[0] if len(questions) == 1 else certificates

    def certify_outputs(self, total_samples, *questions):
        """One radius for all outputs together, each asked about once. Returns the combined
        certificate and a list of those of the outputs."""
        combined, total = _Certificate(), _natural(total_samples, "total_samples")
        each = self._asked(
            questions,
            1,
            lambda e, *asked: _lib.certreg_certify_outputs(e, total, *asked, C.byref(combined)),
        )
        return Certificate._of(combined), each

    def certify_sigmas(self, z, sigmas, total_samples, *questions, noise_id=None):
        """The same input at several noise levels; all certificates hold together. Returns a
        certificate for each level, or a list for each where there are several questions."""
        z = _array(np.ravel(z), self.inputs, np.float32, "z")
        sigmas = np.ravel(np.asarray(sigmas, np.float64))
        total = _natural(total_samples, "total_samples")

        def call(e, *asked):
            levels = (z.ctypes.data, sigmas.ctypes.data, len(sigmas))
            return _lib.certreg_certify_sigmas(e, *levels, self._noise(noise_id), total, *asked)

        flat, count = self._asked(questions, len(sigmas), call), len(questions)
        return flat if count == 1 else [flat[i : i + count] for i in range(0, len(flat), count)]

    def output_bounds(self, total_samples, radius, *questions):
        """Where the statistic stays within the radius: output_lo and output_hi of the
        certificates, as certify returns them."""
        total = _natural(total_samples, "total_samples")
        certificates = self._asked(
            questions,
            1,
            lambda e, asked, count, out: _lib.certreg_output_bounds(
                e, total, asked, count, radius, out
            ),
        )
        return certificates[0] if len(questions) == 1 else certificates

    def _asked(self, questions, times, call):
        """The certificates, `times` for each question, of a
        call(estimator, questions, their number, certificates)."""
        structs = [Question._of(q)._struct() for q in questions]
        if not structs or not times:
            raise ValueError("there is nothing to ask: give a question, and a noise level")
        nothing = _Certificate(status=Status.BUSY, output_lo=-math.inf, output_hi=math.inf)
        asked, times = (_Question * len(structs))(*structs), times * len(structs)
        out = (_Certificate * times)(*[nothing] * times)
        try:
            self._called(call, asked, len(structs), out, around=self._callbacks)
        except CertregError as error:
            error.certificates = [Certificate._of(c) for c in out]
            raise
        return [Certificate._of(c) for c in out]

    def bounds(self, question, side):
        """The bounds behind one Side of a question, as certificate.limiting_side. They have no
        constraints where the method abstains."""
        out, struct = _Bounds(), Question._of(question)._struct()
        self._call("bounds", C.byref(struct), side, C.byref(out))
        return Bounds._of(out)

    def forecast(self, question):
        """How many samples the target of the question takes: a Forecast, no guarantee."""
        out, struct = _Forecast(), Question._of(question)._struct()
        self._call("forecast", C.byref(struct), C.byref(out))
        return Forecast._of(out)

    # ---- sampling by hand, records, deadlines
    def sample(self, first, count):
        """Calls the model for those of the samples first .. first+count-1 that are missing."""
        first, count = _natural(first, "first"), _natural(count, "count")
        self._call("sample", first, count, around=self._callbacks)

    def draw(self, first, count, out=None):
        """The noisy inputs of samples first .. first+count-1, for models that are not called
        back. On a device they go to `out`, which has __cuda_array_interface__: float32 of shape
        (count, inputs) without gaps."""
        if out is not None and not self.on_device:
            raise ValueError("out is memory of a CUDA device: make the estimator with device=")
        x = np.empty((count, self.inputs), np.float32) if out is None else out
        address = x.ctypes.data if out is None else _device_address(out, (count, self.inputs))
        self._call("draw", _natural(first, "first"), count, address)
        return x

    def record(self, first, y):
        """Records the outputs of the samples from `first` on."""
        y = np.ascontiguousarray(y, np.float32)
        if y.shape != (len(y), self.columns) and (y.shape != (len(y),) or self.columns != 1):
            raise ValueError(f"y has shape {y.shape}; it must be (count, {self.columns})")
        self._call("record", _natural(first, "first"), len(y), y.ctypes.data)

    def export(self):
        """The record as bytes."""
        size = _size(0)
        self._call("export", None, C.byref(size))
        buffer = C.create_string_buffer(size.value)
        self._call("export", buffer, C.byref(size))
        return buffer.raw[: size.value]

    def import_(self, data):
        """Adds an exported record, to resume it or to merge shards. Call begin with the same z,
        sigma, noise_id and level first; the seed has to be the same, too."""
        self._call("import", bytes(data), len(data))

    def set_deadline(self, seconds):
        """A deadline for sampling and answers, from now on; 0: none."""
        self._call("set_deadline", seconds)

    def cancel(self):
        """Stops the running or next call after its batch. Any thread may call it."""
        with self._alive:
            _lib.certreg_estimator_cancel(self._open())


# ---- solver and bisection -------------------------------------------------------------------
class _Searcher(_Handle):
    """A handle that takes bounds and needs no model."""

    def _create(self, plan):
        why = _Error()
        self._made(
            self._function("create")(C.byref(plan), C.byref(why), C.byref(self._handle)), why
        )

    def info(self):
        """What the last call that computed something has cost."""
        out = _SolveInfo()
        self._call("info", C.byref(out))
        return SolveInfo._of(out)


class Solver(_Searcher):
    """Bounds and a radius -> how far the mean can move."""

    _NAME = "solver"

    def __init__(self, max_evaluations=0):
        super().__init__()
        self._create(_SolverPlan(max_evaluations=max_evaluations))

    def worst_case(self, bounds, radius, constraints=0):
        """How far the mean can move within the radius. constraints: those to use; 0: all."""
        b, out = bounds._struct(), _MeanChange()
        self._call("worst_case", C.byref(b), constraints, radius, C.byref(out))
        return MeanChange._of(out)


class Bisection(_Searcher):
    """Bounds and a limit for the mean -> the largest radius. With BISECTION_WARM_START as flags
    a search begins where the last one ended: results then agree to 1e-9, not bit for bit."""

    _NAME = "bisection"

    def __init__(self, max_evaluations=0, accuracy=0.0, cap=0.0, flags=0):
        super().__init__()
        self._create(
            _BisectionPlan(max_evaluations=max_evaluations, accuracy=accuracy, cap=cap, flags=flags)
        )

    def within(self, bounds, tolerance, constraints=0):
        """The largest radius at which the mean moves by at most the tolerance either way."""
        b, out = bounds._struct(), _Radius()
        self._call("within", C.byref(b), constraints, tolerance, C.byref(out))
        return Radius._of(out)

    def above(self, bounds, threshold=None, constraints=0):
        """The largest radius at which the mean of every one of several functions stays above
        its threshold. threshold: one for each or for all; None: 0."""
        bounds = [bounds] if isinstance(bounds, Bounds) else list(bounds)
        count, out, limits = len(bounds), _Radius(), None
        structs = (_Bounds * count)(*[b._struct() for b in bounds])
        if threshold is not None:
            limits = (_f64 * count)(*np.broadcast_to(threshold, count))
        self._call("above", structs, limits, count, constraints, C.byref(out))
        return Radius._of(out)

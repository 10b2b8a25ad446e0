"""Certified radii for noise-smoothed regression: libcertreg from Python, in one file on ctypes and NumPy.

    with Estimator(model, inputs=3, max_samples=10_000) as e:
        c = e.certify(z, 0.25, 10_000, Question(tolerance=0.5))
        print(c.prediction, c.radius)

`model` takes a float32 array of shape (rows, inputs) and returns one of (rows,) or (rows, columns). What the numbers mean is said
in certreg.h, whose names and defaults are kept: zero means the default, everywhere. Copy this file to where it is needed; the
library is the one that CERTREG_LIB names, or lib/libcertreg.so.0 of the repository this file lies in, or the system's.
"""
import copyreg
import ctypes as C
import dataclasses
import enum
import os
import pathlib
import signal
import threading

import numpy as np

HEADER = 100  # CERTREG_VERSION_NUMBER of the header that this file follows
NO_PILOT = C.c_size_t(-1).value  # Estimator(pilot=NO_PILOT): every question gives its prediction
ALL_OUTPUTS = -1  # Question(output=ALL_OUTPUTS): all outputs as one vector, in the 2-norm
COUNT_FAILURES = 1  # Estimator(flags=COUNT_FAILURES): outputs that are NaN or infinite count as the worst value

# ---- names of numbers ------------------------------------------------------------------------------------------------------------
Status = enum.IntEnum("Status", "OK INVALID NO_MEMORY SMALL_MEMORY MODEL_FAILED NOT_FINITE OUT_OF_RANGE INFEASIBLE NUMERICAL "
                      "WRONG_STATE NO_BACKEND NO_DEVICE DEVICE_FAILED VERSION CORRUPT MISMATCH TOO_MANY CANCELLED "
                      "DEADLINE BUSY", start=0)
Kind = enum.IntEnum("Kind", "REAL ANGLE ANGLE_PAIR", start=0)
Constraint = enum.IntFlag("Constraint", "MEAN VARIANCE GRADIENT RANGE SECOND_ORDER MOMENT")
Constraints = enum.IntEnum("Constraints", {"C": 2, "CG": 6, "ECM": 11, "ECGM": 15, "ECGHM": 31})
Statistic = enum.IntEnum("Statistic", "MEDIAN HUBER MEAN CIRCULAR_MEAN", start=0)
Method = enum.IntEnum("Method", "FINITE ASYMPTOTIC PAPER ANYTIME", start=0)
Center = enum.IntEnum("Center", "PREDICTION TRUE_MEAN REACH", start=0)
Side = enum.IntEnum("Side", "LOWER OUTPUT UPPER", start=-1)
Outcome = enum.IntEnum("Outcome", "ABSTAINED CERTIFIED CAPPED", start=0)
Stop = enum.IntEnum("Stop", "ALL TARGET HOPELESS DEADLINE CANCELLED", start=0)


def _named(names, value):
    """The name of a number, or the number where a later library has more of them."""
    try:
        return names(value)
    except ValueError:
        return value


# ---- structs ---------------------------------------------------------------------------------------------------------------------
_i32, _u32, _i64, _u64, _f64, _size, _ptr = C.c_int32, C.c_uint32, C.c_int64, C.c_uint64, C.c_double, C.c_size_t, C.c_void_p


class _Struct(C.Structure):
    def __init__(self, **fields):
        super().__init__(struct_size=C.sizeof(self), **fields)
        for name, value in fields.items():  # ctypes would keep the lowest bits of what does not fit, without a word
            if isinstance(getattr(self, name), int) and getattr(self, name) != value:
                raise ValueError(f"{name} is {value}, which does not fit")


def _natural(value, what):
    if not 0 <= value < 2 ** 64:
        raise ValueError(f"{what} is {value}, which does not fit")
    return value


def _struct(name, size, *groups):
    """A struct of the header. Groups are (type, "names of fields"); the size is that of the header, on 64-bit machines."""
    fields = [("struct_size", _u32)] + [(field, kind) for kind, names in groups for field in names.split()]
    made = type(name, (_Struct,), {"_fields_": fields})
    if C.sizeof(made) != size:
        raise ImportError(f"{name} takes {C.sizeof(made)} bytes here, {size} in the library: this file needs 64-bit Python")
    return made


_Error = _struct("certreg_error", 296, (_i32, "status"), (_i64, "sample row"), (_i32, "output model_code"), (_f64, "value"),
                 (C.c_char * 256, "text"))
_Batch = _struct("certreg_batch", 80, (_i32, "device"), (_size, "rows inputs columns"), (_u64, "first"),
                 (_size, "used_first used_count"), (_ptr, "x y stream"))
_EVAL = C.CFUNCTYPE(C.c_int, _ptr, C.POINTER(_Batch))
_PROGRESS = C.CFUNCTYPE(C.c_int, _ptr, _u64, _u64)
_Model = _struct("certreg_model", 80, (_i32, "reserved"), (_EVAL, "eval"), (_ptr, "user"), (_size, "inputs outputs batch"),
                 (_ptr, "scale kind lo hi"))
_Plan = _struct("certreg_plan", 88, (_u32, "constraints"), (_u64, "seed"), (_size, "max_samples pilot blocks"), (_PROGRESS, "progress"),
                (_ptr, "progress_user memory"), (_size, "memory_bytes"), (_u32, "flags reserved"), (_size, "second_order_bytes"))
_Question = _struct("certreg_question", 112, (_i32, "output statistic method center"), (_u32, "constraints"),
                    (_f64, "tolerance huber_width alpha"), (_u32, "bonferroni"), (_i32, "prediction_given"),
                    (_f64, "prediction wanted at_radius"), (_size, "served_samples"), (_f64, "served_beta"),
                    (C.POINTER(_u64), "looks"), (_size, "look_count"))
_Bounds = _struct("certreg_bounds", 112, (_u32, "constraints"),
                  (_f64, "sigma mean_lo mean_hi variance_hi gradient_lo gradient_hi range_lo range_hi alpha"), (_u64, "samples"),
                  (_f64, "second_order_hi moment_center moment_hi"))
_MeanChange = _struct("certreg_mean_change", 40, (_u32, "constraints"), (_f64, "drop rise mean_least mean_greatest"))
_Radius = _struct("certreg_radius", 32, (_i32, "outcome"), (_f64, "radius"), (_i32, "limiting_side reserved"), (_size, "limiting"))
_Certificate = _struct("certreg_certificate", 296, (_i32, "status outcome stop"), (_f64, "radius prediction estimate output_lo output_hi"),
                       (_i32, "output statistic method center"), (_u32, "constraints side"),
                       (_f64, "tolerance huber_width alpha sigma mean_lo mean_hi variance_hi gradient_lo gradient_hi"),
                       (_u64, "seed noise_id samples pilot batch"), (_f64, "model_seconds library_seconds"),
                       (_f64, "radius_l1 radius_l2 radius_linf second_order_hi moment_center moment_hi wanted at_radius"),
                       (_u64, "served_samples"), (_f64, "served_beta"), (_u64, "level"))
_Forecast = _struct("certreg_forecast", 24, (_i32, "reserved"), (_u64, "least_samples"), (_f64, "expected_samples"))


# ---- the library -----------------------------------------------------------------------------------------------------------------
def _load():
    asked = os.environ.get("CERTREG_LIB")
    near = pathlib.Path(__file__).resolve().parents[2] / "lib" / "libcertreg.so.0" if "__file__" in globals() else None
    path = asked or (str(near) if near and near.exists() else "libcertreg.so.0")
    try:
        lib = C.CDLL(path)  # which lets other threads run during calls
    except OSError as error:
        raise ImportError(f"{error}; name the library in CERTREG_LIB") from None
    lib.certreg_version.restype = _u32
    version = lib.certreg_version()
    if version // 10000 != HEADER // 10000 or version < HEADER:
        raise ImportError(f"{path} has version {version}; this file needs {HEADER} or a later one of the same major version")
    ref, out = C.POINTER, C.POINTER(_ptr)
    for name, result, *arguments in [
            ("status_text", C.c_char_p, _i32),
            ("backend_open_cpu", _i32, _i32, ref(_Error), out), ("backend_close", None, _ptr),
            ("backend_open_cuda", _i32, _i32, _ptr, C.c_char_p, ref(_Error), out),
            ("estimator_size", _i32, _ptr, ref(_Model), ref(_Plan), ref(_size)),
            ("estimator_create", _i32, _ptr, ref(_Model), ref(_Plan), ref(_Error), out), ("estimator_destroy", None, _ptr),
            ("estimator_begin_level", _i32, _ptr, _ptr, _f64, _u64, _u64), ("estimator_sample", _i32, _ptr, _u64, _size),
            ("estimator_draw", _i32, _ptr, _u64, _size, _ptr), ("estimator_record", _i32, _ptr, _u64, _size, _ptr),
            ("estimator_export", _i32, _ptr, _ptr, ref(_size)), ("estimator_import", _i32, _ptr, C.c_char_p, _size),
            ("estimator_set_deadline", _i32, _ptr, _f64),
            ("estimator_cancel", None, _ptr), ("estimator_error", ref(_Error), _ptr),
            ("estimator_bounds", _i32, _ptr, ref(_Question), _i32, ref(_Bounds)),
            ("solver_create", _i32, _ptr, ref(_Error), out), ("solver_destroy", None, _ptr), ("solver_error", ref(_Error), _ptr),
            ("solver_worst_case", _i32, _ptr, ref(_Bounds), _u32, _f64, ref(_MeanChange)),
            ("bisection_create", _i32, _ptr, ref(_Error), out), ("bisection_destroy", None, _ptr), ("bisection_error", ref(_Error), _ptr),
            ("bisection_within", _i32, _ptr, ref(_Bounds), _u32, _f64, ref(_Radius)),
            ("bisection_above", _i32, _ptr, ref(_Bounds), ref(_f64), _size, _u32, ref(_Radius)),
            ("certify", _i32, _ptr, _ptr, _size, ref(_Question), _size, ref(_Certificate)),
            ("certify_outputs", _i32, _ptr, _ptr, _size, ref(_Question), _size, ref(_Certificate), ref(_Certificate)),
            ("certify_sigmas", _i32, _ptr, _ptr, _ptr, _ptr, _size, _u64, _size, ref(_Question), _size, ref(_Certificate)),
            ("choose_sigma", _i32, ref(_Certificate), _size, _size, _ptr, ref(_size)),
            ("estimator_forecast", _i32, _ptr, ref(_Question), ref(_Forecast))]:
        function = getattr(lib, "certreg_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


_lib = _load()
VERSION = _lib.certreg_version()


class CertregError(RuntimeError):
    """A call that gave no answer. `status` says what kind of failure; sample, row and output are -1 where they do not apply;
    `certificates` are the answers to all questions of a certify in which one failed."""

    def __init__(self, status, why=None):
        text = why.text.decode() if why else ""
        super().__init__(text or _lib.certreg_status_text(status).decode())
        self.status = _named(Status, status)
        for field in ("sample", "row", "output", "model_code", "value"):
            setattr(self, field, getattr(why, field) if why else -1)
        self.certificates = []

    def __reduce__(self):  # pickle would call __init__ with the sentence for a status
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__


# ---- questions and answers -------------------------------------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked of a record. All but the tolerance has a default: the median with exact bounds, wrong with probability .05."""
    tolerance: float
    output: int = 0
    statistic: int = Statistic.MEDIAN
    method: int = Method.FINITE
    center: int = Center.PREDICTION
    constraints: int = 0
    huber_width: float = 0.0
    alpha: float = 0.0
    bonferroni: int = 0
    prediction: float = None  # None: the pilot chooses
    wanted: float = 0.0  # sampling stops when this radius is proven or out of reach
    at_radius: float = 0.0  # Center.REACH
    served_samples: int = 0  # the center is about an estimate from so many fresh samples
    served_beta: float = 0.0  # which fails with at most this probability
    looks: tuple = ()  # numbers of samples at which `wanted` is looked for; (): the default

    def _struct(self):
        fields = dataclasses.asdict(self)
        fields["look_count"] = len(self.looks)
        fields["looks"] = (_u64 * len(self.looks))(*(_natural(int(n), "looks") for n in self.looks)) if len(self.looks) else None
        fields["prediction_given"] = int(self.prediction is not None)
        fields["prediction"] = self.prediction if self.prediction is not None else 0.0
        return _Question(**fields)

    @classmethod
    def _of(cls, asked):
        """A number is a question with this tolerance."""
        return asked if isinstance(asked, Question) else cls(asked)


@dataclasses.dataclass(frozen=True)
class Certificate:
    """|T(z + delta) - prediction| < tolerance for every shift with ||delta / scale|| < radius; and all that led there."""
    status: int
    outcome: int
    stop: int
    radius: float
    prediction: float
    estimate: float  # where there is none, the prediction that was given: the next tick's prediction in any case; nan without one
    output_lo: float
    output_hi: float
    output: int
    statistic: int
    method: int
    center: int
    constraints: int
    side: int
    tolerance: float
    huber_width: float
    alpha: float
    sigma: float
    mean_lo: float
    mean_hi: float
    variance_hi: float
    gradient_lo: float
    gradient_hi: float
    seed: int
    noise_id: int
    samples: int
    pilot: int
    batch: int
    model_seconds: float
    library_seconds: float
    radius_l1: float
    radius_l2: float
    radius_linf: float
    second_order_hi: float
    moment_center: float
    moment_hi: float
    wanted: float
    at_radius: float
    served_samples: int
    served_beta: float
    level: int

    @classmethod
    def _of(cls, c):
        names = dict(status=Status, outcome=Outcome, stop=Stop, statistic=Statistic, method=Method, center=Center, constraints=Constraint)
        fields = {f.name: getattr(c, f.name) for f in dataclasses.fields(cls)}
        return cls(**{name: _named(names[name], v) if name in names else v for name, v in fields.items()})

    @property
    def certified(self):
        """Is there a radius at all?"""
        return self.radius > 0

    def reach(self, scale=1.0):
        """How far each feature may move alone, in its own unit."""
        return self.radius * np.asarray(scale, float)


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Constraints about a scalar function under the noise; None is unknown. mean, gradient and range are pairs (from, to)."""
    sigma: float
    mean: tuple = None
    variance: float = None
    gradient: tuple = None
    range: tuple = None
    alpha: float = 0.0
    samples: int = 0
    second_order: float = None
    moment: tuple = None  # (center, bound of the second moment about it)

    def _struct(self):
        b = _Bounds(sigma=self.sigma, alpha=self.alpha, samples=self.samples)
        for constraint, name in ((Constraint.MEAN, "mean"), (Constraint.GRADIENT, "gradient"), (Constraint.RANGE, "range")):
            if getattr(self, name) is not None:
                lo, hi = getattr(self, name)
                b.constraints |= constraint
                setattr(b, name + "_lo", lo)
                setattr(b, name + "_hi", hi)
        if self.variance is not None:
            b.constraints |= Constraint.VARIANCE
            b.variance_hi = self.variance
        if self.second_order is not None:
            b.constraints |= Constraint.SECOND_ORDER
            b.second_order_hi = self.second_order
        if self.moment is not None:
            b.constraints |= Constraint.MOMENT
            b.moment_center, b.moment_hi = self.moment
        return b

    @classmethod
    def _of(cls, b):
        pair = lambda constraint, name: (getattr(b, name + "_lo"), getattr(b, name + "_hi")) if b.constraints & constraint else None
        return cls(b.sigma, pair(Constraint.MEAN, "mean"), b.variance_hi if b.constraints & Constraint.VARIANCE else None,
                   pair(Constraint.GRADIENT, "gradient"), pair(Constraint.RANGE, "range"), b.alpha, b.samples,
                   b.second_order_hi if b.constraints & Constraint.SECOND_ORDER else None,
                   (b.moment_center, b.moment_hi) if b.constraints & Constraint.MOMENT else None)


@dataclasses.dataclass(frozen=True)
class MeanChange:
    """How far a mean can move: at most down by `drop` and up by `rise`, ending between `least` and `greatest`."""
    drop: float
    rise: float
    least: float
    greatest: float
    constraints: int


@dataclasses.dataclass(frozen=True)
class Radius:
    """A largest radius; 0 unless proven. What limits it: the Side, where asked within a tolerance, or
    the index of a function, where asked above thresholds."""
    radius: float
    outcome: int
    limiting_side: int
    limiting: int


def choose_sigma(certificates):
    """The index of the noise level with the greatest mean radius, and all mean radii, of one list of certificates per input, a level each.
    Deploy it on other inputs: the best level of each input would serve different functionals at z and z + delta."""
    inputs, levels = len(certificates), len(certificates[0]) if certificates else 0
    flat = [c for row in certificates for c in row]
    if len(flat) != inputs * levels:
        raise ValueError("every input needs a certificate for every level")
    out, means, level = (_Certificate * len(flat))(), (_f64 * max(levels, 1))(), _size()
    for struct, c in zip(out, flat):
        struct.struct_size, struct.status, struct.sigma, struct.radius = C.sizeof(_Certificate), c.status, c.sigma, c.radius
    status = _lib.certreg_choose_sigma(out, inputs, levels, means, C.byref(level))
    if status:
        raise CertregError(status, _Error(text=b"the certificates are no answers at the same noise levels, all different, for every input"))
    return level.value, list(means[:levels])


# ---- Python called from C --------------------------------------------------------------------------------------------------------
class _Interrupts:
    """From its making to `end` Ctrl-C waits until it can be delivered: while `inside` is set, where
    the model is interrupted at once, or else at the end."""

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
    """`with` around every call: one at a time, the closing of the handle included, so that nobody
    frees what a call is using."""

    def __init__(self):
        self.process, self.called_back = os.getpid(), False
        # A thread's: should Ctrl-C hit between taking it and `with`, that thread can go on.
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
    """`with` around a call that may call back. Carries exceptions of callbacks across the library:
    nothing may be raised but inside `guarded`, since an exception on the way into or out of a
    callback would be lost in ctypes."""

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


def _columns(inputs, outputs, kind):
    return outputs + (0 if kind is None else sum(k == Kind.ANGLE_PAIR for k in np.broadcast_to(kind, outputs)))


def _array(values, length, dtype, what):
    """One number for all, or one for each; NULL for None."""
    if values is None:
        return None
    values = np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype), (length,)) if np.ndim(values) == 0 else values, dtype)
    if values.shape != (length,):
        raise ValueError(f"{what} has shape {values.shape}; it must be ({length},)")
    return values


def _address(values):
    return None if values is None else values.ctypes.data


class _Handle:
    """What all handles share: `with`, close, calls, and errors."""

    def __init__(self):
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
        raise TypeError(f"{type(self).__name__} cannot be pickled or copied: make one in every process; "
                        "records travel by export and merge")

    def close(self):
        """Frees everything. More than once does no harm; during a call, from its model or another
        thread, it is refused."""
        with self._calls:
            self._free()

    def _open(self, handle):
        if not handle:
            raise ValueError(f"{type(self).__name__} is closed")
        return handle

    def _freed(self, name, function):
        """Frees one handle of the library."""
        with self._alive:
            handle = getattr(self, name, None)
            setattr(self, name, None)
            if handle:
                function(handle)

    def _called(self, name, function, *arguments, around=None):
        """One call on a handle of the library; its failure is raised."""
        with around or self._calls:
            status = function(self._open(getattr(self, name)), *arguments)
            failure = self._failure(name, status) if status else None
        if failure:
            raise failure

    def _failure(self, name, status):
        return CertregError(status, getattr(_lib, f"certreg{name}_error")(getattr(self, name))[0])


def _room_there(array, shape):
    there = array.__cuda_array_interface__
    if tuple(there["shape"]) != shape or there["typestr"] != "<f4" or there.get("strides"):
        raise ValueError(f"out is {there['typestr']} of shape {tuple(there['shape'])}; it must be float32 of shape {shape} without gaps")
    return there["data"][0]


class DeviceArray:
    """Memory of a CUDA device during a call of the model, for whatever understands __cuda_array_interface__: torch.as_tensor(x, device="cuda"),
    cupy.asarray(x). Work upon it belongs on `stream`, an address; `device` is the number. The model must not write to x; that is not marked
    there, since torch refuses arrays that are marked."""

    def __init__(self, address, shape, batch):
        self.shape, self.device, self.stream = shape, batch.device, batch.stream or 0
        self.__cuda_array_interface__ = dict(version=3, shape=shape, typestr="<f4", data=(address, False), strides=None, stream=None)

    def _end(self):
        del self.__cuda_array_interface__  # whoever kept it gets an AttributeError


class _Memory:
    """What an estimator lives in. Arrays for its model are views of it and keep it alive, so that
    one which outlasts the estimator is old news, and no use of freed memory."""

    def __init__(self, size):
        room = np.empty(size + 64, np.uint8)
        self.bytes = room[-room.ctypes.data % 64:][:size]
        self.address = self.bytes.ctypes.data

    def array(self, address, rows, columns):
        first = address - self.address
        return self.bytes[first:first + 4 * rows * columns].view(np.float32).reshape(rows, columns)


class Estimator(_Handle):
    """Samples a model around one input after another, and answers questions about each.

    model     takes (rows, inputs) in float32 and returns (rows,) or (rows, columns); None: draw and
              record. The next batch overwrites what it was given: copy what shall stay
    inputs    number of features; max_samples: most samples of one input
    outputs   number of outputs; columns are as many, and one more for every Kind.ANGLE_PAIR
    scale     noise per feature in units of sigma, or one number; 0: never moved
    kind, lo, hi   per output, or one for all
    threads   of the backend; None: the calling thread, 0: one per processor
    device    number of a CUDA device: noise is drawn there, and the model is called as model(x, y) with two DeviceArrays; it fills y by
              work on x.stream and need not wait. stream: address of a CUDA stream to work in, 0: an own one. module: of the backend
    progress  called with (done, total) after each batch; a true answer cancels
    The other arguments are those of certreg_plan and certreg_model. One call at a time: another one,
    close among them, from the model or another thread is refused with Status.BUSY; only cancel may
    come at any time."""

    def __init__(self, model, inputs, max_samples, *, outputs=1, batch=0, scale=None, kind=None, lo=None, hi=None, seed=0, pilot=0,
                 constraints=0, blocks=0, flags=0, second_order_bytes=0, threads=None, device=None, stream=0, module=None, progress=None):
        super().__init__()
        self._estimator, self._backend, why = _ptr(), _ptr(), _Error()
        self.on_device = device is not None
        self.inputs, self.outputs, self.columns = inputs, outputs, _columns(inputs, outputs, kind)
        if threads is not None:
            self._made(_lib.certreg_backend_open_cpu(threads, C.byref(why), C.byref(self._backend)), why)
        if device is not None:
            path = os.fsencode(module) if module else None
            self._made(_lib.certreg_backend_open_cuda(device, stream or None, path, C.byref(why), C.byref(self._backend)), why)
        scale, kind = _array(scale, inputs, np.float32, "scale"), _array(kind, outputs, np.int32, "kind")
        lo, hi = _array(lo, outputs, np.float64, "lo"), _array(hi, outputs, np.float64, "hi")
        here = []  # the memory, when there is some
        self._callbacks = _Callbacks(self._calls)
        self._eval, self._progress = self._functions(model, progress, here)
        m = _Model(eval=self._eval, inputs=inputs, outputs=outputs, batch=batch, scale=_address(scale), kind=_address(kind),
                   lo=_address(lo), hi=_address(hi))
        p = _Plan(constraints=constraints, seed=seed, max_samples=max_samples, pilot=pilot, blocks=blocks, progress=self._progress, flags=flags,
                  second_order_bytes=second_order_bytes)
        size, asked = _size(), (self._backend, C.byref(m), C.byref(p))
        if not _lib.certreg_estimator_size(*asked, C.byref(size)):  # else create says why
            here.append(_Memory(size.value))
            p.memory, p.memory_bytes = here[0].address, size.value
        self._memory = here
        made = _lib.certreg_estimator_create(*asked, C.byref(why), C.byref(self._estimator))
        self._made(made, why)

    def _functions(self, model, progress, here):
        # Not self: an estimator that nobody needs shall go at once.
        calls, columns = self._callbacks, self.columns

        def run(batch):
            b = batch[0]
            if b.device >= 0:
                x, y = DeviceArray(b.x, (b.rows, b.inputs), b), DeviceArray(b.y, (b.rows, b.columns), b)
                try:
                    if model(x, y) is not None:
                        raise ValueError("on a device the model fills y and returns None")
                finally:
                    x._end(), y._end()
                return
            used = slice(b.used_first, b.used_first + b.used_count)
            x, y = here[0].array(b.x, b.rows, b.inputs)[used], here[0].array(b.y, b.rows, b.columns)
            x.flags.writeable = False
            answer = np.asarray(model(x))
            if answer.shape != (len(x), columns) and (answer.shape != (len(x),) or columns != 1):
                raise ValueError(f"the model returned shape {answer.shape}; it must be ({len(x)}, {columns})")
            y[used] = answer.reshape(len(x), columns)

        return (_EVAL(lambda _, batch: calls.guarded(run, batch)) if model else _EVAL(),
                _PROGRESS(lambda _, done, total: calls.guarded(progress, done, total)) if progress else _PROGRESS())

    def _made(self, status, why):
        if status:
            self._free()
            raise CertregError(status, why)

    def _call(self, verb, *arguments, around=None):
        function = getattr(_lib, "certreg_estimator_" + verb)
        self._called("_estimator", function, *arguments, around=around)

    def _free(self):
        self._freed("_estimator", _lib.certreg_estimator_destroy)
        self._freed("_backend", _lib.certreg_backend_close)

    def begin(self, z, sigma, noise_id=0, level=0):
        """A new input, with noise of its own if `noise_id` is new. Empties the record. sigmas[k] of certify_sigmas has the noise of level k + 1."""
        z = _array(np.ravel(z), self.inputs, np.float32, "z")
        noise_id, level = _natural(noise_id, "noise_id"), _natural(level, "level")
        self._call("begin_level", z.ctypes.data, sigma, noise_id, level)

    def sample(self, first, count):
        """Calls the model for those of the samples first .. first+count-1 that are missing."""
        first, count = _natural(first, "first"), _natural(count, "count")
        self._call("sample", first, count, around=self._callbacks)

    def answer(self, *questions, samples=0):
        """Has `samples` samples in the record and answers questions from it; a number is a question with this tolerance. One
        question has one certificate, several have a list."""
        samples = _natural(samples, "samples")
        certificates = self._asked(questions, 1, lambda e, *asked:
                                   _lib.certreg_certify(e, None, samples, *asked))
        return certificates[0] if len(questions) == 1 else certificates

    def _asked(self, questions, times, call):
        """The certificates of a call(estimator, questions, their number, certificates) that gives
        `times` of them for each question."""
        structs = [Question._of(q)._struct() for q in questions]
        if not structs or not times:
            raise ValueError("there is nothing to ask: give a question, and a noise level")
        asked, out = (_Question * len(structs))(*structs), (_Certificate * (times * len(structs)))()
        for c in out:
            c.struct_size = C.sizeof(_Certificate)
        try:
            self._called("_estimator", call, asked, len(structs), out, around=self._callbacks)
        except CertregError as error:
            error.certificates = [Certificate._of(c) for c in out]
            raise
        return [Certificate._of(c) for c in out]

    def answer_outputs(self, *questions, samples=0):
        """One radius for all outputs, each asked once: (the bonferroni certificate, those of the outputs)."""
        bonferroni, samples = _Certificate(), _natural(samples, "samples")
        each = self._asked(questions, 1, lambda e, *asked:
                           _lib.certreg_certify_outputs(e, None, samples, *asked, C.byref(bonferroni)))
        return Certificate._of(bonferroni), each

    def certify_sigmas(self, z, sigmas, samples, *questions, noise_id=0):
        """The same input at several noise levels, with confidence for all of them: a list of certificates (one question: a certificate) per level."""
        z = _array(np.ravel(z), self.inputs, np.float32, "z")
        sigmas, noise_id, samples = np.ravel(np.asarray(sigmas, np.float64)), _natural(noise_id, "noise_id"), _natural(samples, "samples")
        flat = self._asked(questions, len(sigmas), lambda e, *asked: _lib.certreg_certify_sigmas(
            e, None, z.ctypes.data, sigmas.ctypes.data, len(sigmas), noise_id, samples, *asked))
        count = len(questions)
        return flat if count == 1 else [flat[i:i + count] for i in range(0, len(flat), count)]

    def forecast(self, question):
        """(least, expected) number of samples that question.wanted takes; least 0: none within the max_samples."""
        f, q = _Forecast(), Question._of(question)._struct()
        self._call("forecast", C.byref(q), C.byref(f))
        return f.least_samples, f.expected_samples

    def certify(self, z, sigma, samples, *questions, noise_id=0):
        """begin and answer: certificates for one input."""
        self.begin(z, sigma, noise_id)
        return self.answer(*questions, samples=samples)

    def draw(self, first, count, out=None):
        """The noisy inputs of samples first .. first+count-1, for models that are not called back. On a device they go to `out`, which has
        __cuda_array_interface__, float32, count*inputs of them without gaps."""
        if out is not None and not self.on_device:
            raise ValueError("out is memory of a CUDA device: it goes with an estimator made with device=")
        x = np.empty((count, self.inputs), np.float32) if out is None else out
        address = x.ctypes.data if out is None else _room_there(out, (count, self.inputs))
        self._call("draw", _natural(first, "first"), count, address)
        return x

    def record(self, first, y):
        """Outputs of the samples from `first` on."""
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
        return buffer.raw[:size.value]

    def merge(self, data):
        """Adds a record that was exported, to resume it or to join shards."""
        self._call("import", bytes(data), len(data))

    def bounds(self, question, side=Side.UPPER):
        """The bounds behind a certificate; without any constraint where the method abstains."""
        b = _Bounds()
        q = Question._of(question)._struct()
        self._call("bounds", C.byref(q), side, C.byref(b))
        return Bounds._of(b)

    def deadline(self, seconds):
        """So many seconds from now on, for sampling and answering; 0: none."""
        self._call("set_deadline", seconds)

    def cancel(self):
        """Stops the running or next call after its batch. From any thread."""
        with self._alive:
            _lib.certreg_estimator_cancel(self._open(self._estimator))


class Solver(_Handle):
    """From bounds to worst shifts and largest radii; no model, no samples. `constraints` is a mask of constraints, 0 all there are."""

    def __init__(self):
        super().__init__()
        self._solver, self._bisection = _ptr(), _ptr()
        status = _lib.certreg_solver_create(None, None, C.byref(self._solver))
        status = status or _lib.certreg_bisection_create(None, None, C.byref(self._bisection))
        if status:
            self._free()
            raise CertregError(status)

    def _free(self):
        self._freed("_bisection", _lib.certreg_bisection_destroy)
        self._freed("_solver", _lib.certreg_solver_destroy)

    def shift(self, bounds, radius, constraints=0):
        """How far the mean can move within a radius."""
        b, s = bounds._struct(), _MeanChange()
        self._called("_solver", _lib.certreg_solver_worst_case, C.byref(b), constraints, radius, C.byref(s))
        return MeanChange(s.drop, s.rise, s.mean_least, s.mean_greatest, _named(Constraint, s.constraints))

    def _radius(self, function, *arguments):
        r = _Radius()
        self._called("_bisection", function, *arguments, C.byref(r))
        return Radius(r.radius, _named(Outcome, r.outcome), r.limiting_side, r.limiting)

    def within(self, bounds, tolerance, constraints=0):
        """The largest radius at which the mean moves by at most `tolerance` either way."""
        b = C.byref(bounds._struct())
        return self._radius(_lib.certreg_bisection_within, b, constraints, tolerance)

    def above(self, bounds, thresholds=None, constraints=0):
        """The largest radius at which the mean of every one of several functions stays above its threshold (0)."""
        bounds = [bounds] if isinstance(bounds, Bounds) else list(bounds)
        several = (_Bounds * len(bounds))(*[b._struct() for b in bounds])
        limits = None if thresholds is None else (_f64 * len(bounds))(*np.broadcast_to(thresholds, len(bounds)))
        return self._radius(_lib.certreg_bisection_above, several, limits, len(bounds), constraints)

"""Samples a model around inputs, and certifies them."""

from __future__ import annotations

import ctypes as C
import math
import os
from typing import Any, Callable, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as S
from ._arrays import (
    Memory,
    address_of,
    array_of,
    call_on_a_device,
    call_on_the_host,
    columns_of,
    device_address,
    numbers,
    unnamed,
)
from ._calls import Callbacks, Handle
from ._library import lib
from .answers import Bounds, Certificate, Forecast, Run
from .attacks import AttackResult, Attacks, options_of
from .constants import (
    LEVELS_OF_A_DOMAIN,
    Output,
    Side,
    constraints_of,
    function_of,
    given_seed,
    integer,
    member,
    number,
    path_of,
    shown,
)
from .errors import CertregError
from .models import as_model, device_model
from .questions import Asked, question_of, structs_of


def kinds_of(kind: Any, outputs: int) -> Optional[np.ndarray]:
    """The kinds of the outputs as int32 of shape (outputs,), from one member or name of Output for
    all outputs, or one for each. None stays None."""
    if kind is None:
        return None
    if isinstance(kind, (list, tuple)) or np.ndim(kind):
        kind = [member(Output, k, "kind") for k in kind]
    else:
        kind = member(Output, kind, "kind")
    return np.asarray(array_of(kind, (outputs,), np.int32, "kind"))


class Estimator(Handle):
    """Samples a model around one input after another, and answers questions about each.

    model        a function that takes float32 of shape (rows, inputs) and returns (rows,) or
                 (rows, columns). It must not write to the array. The next batch overwrites the
                 array, so it has to copy what it keeps. Or a model of PyTorch, ONNX Runtime,
                 scikit-learn, XGBoost or LightGBM; see as_model. None: the program uses draw and
                 record
    inputs       number of features; or a shape such as (3, 32, 32), and the model then takes
                 (rows, 3, 32, 32)
    max_samples  most samples of one input, pilot included
    outputs      number of outputs. The model returns a column for each, and one more for each
                 Output.ANGLE_PAIR
    batch        rows of one call of the model; 0: 256
    kind         an Output or its name, for all outputs or for each
    lo, hi       limits of the outputs, for all outputs or for each; for angles the ends of the turn
    scale        noise of the features in units of sigma, >= 0, for all features or for each; None:
                 1. A feature with 0 gets no noise, and changes to it are not covered
    seed         seed of the noise, 1 to 2^64 - 1, to repeat a run: neither the model nor whoever
                 chooses inputs may know it. None: a secret one is drawn; run() reports it
    constraints  constraints that questions may use, as a number or name. The gradient and the
                 second order must be named here
    progress     function that is called with (done, total) after each batch. A true result cancels
    threads      number of threads that draw noise. None: the calling thread; 0: one per processor
    device       number of a device. The noise is drawn there. The model is then a torch.nn.Module
                 on this device, or a function that is called as model(x, y) with two DeviceArrays.
                 The function fills y by work on x.stream, for which it need not wait
    stream       address of a CUDA stream; 0: the library's own
    module       what opens the device: "cuda", or the path of a module, with a slash if it is a str

    The other arguments are those of certreg_plan. Raises CertregError for what the library refuses,
    ValueError for wrong shapes and names, and TypeError for wrong types.

    An estimator handles one call at a time. A second call, from the model or from another thread,
    raises CertregError with Status.BUSY. Only cancel may be called at any time."""

    _NAME = "estimator"

    def __init__(
        self,
        model: Any,
        inputs: Union[int, Sequence[int]],
        max_samples: int,
        *,
        outputs: int = 1,
        batch: int = 0,
        scale: Any = None,
        kind: Any = None,
        lo: Any = None,
        hi: Any = None,
        seed: Optional[int] = None,
        pilot: int = 0,
        constraints: Union[int, str] = 0,
        blocks: int = 0,
        flags: int = 0,
        second_order_bytes: int = 0,
        threads: Optional[int] = None,
        device: Optional[int] = None,
        stream: int = 0,
        module: Union[str, "os.PathLike[str]"] = "cuda",
        progress: Optional[Callable[[int, int], Any]] = None,
    ) -> None:
        super().__init__()
        self._backend, self._unused_noise = S.pointer(), 0
        self._attacks: Optional[Attacks] = None  # made when it is needed
        self.on_device = device is not None
        shape = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        self.shape = tuple(integer(length, "inputs", 1) for length in shape)
        self.inputs = math.prod(self.shape)
        self.outputs = integer(outputs, "outputs")
        arrays = {
            "scale": array_of(scale, self.shape, np.float32, "scale"),
            "kind": kinds_of(kind, self.outputs),
            "lo": array_of(lo, (self.outputs,), np.float64, "lo"),
            "hi": array_of(hi, (self.outputs,), np.float64, "hi"),
        }
        self.columns = columns_of(self.outputs, arrays["kind"])
        self._memory: list[Memory] = []  # the estimator's, and that of its attacks
        self._callbacks = Callbacks(self._calls)
        self._eval, self._progress = self._functions(model, function_of(progress, "progress"))
        addresses = {name: address_of(array) for name, array in arrays.items()}
        m = S.Model(
            eval=self._eval, inputs=self.inputs, outputs=self.outputs, batch=batch, **addresses
        )
        p = S.Plan(
            constraints=constraints_of(constraints),
            seed=0 if seed is None else given_seed(seed),  # 0: the library draws one
            max_samples=max_samples,
            pilot=pilot,
            blocks=blocks,
            progress=self._progress,
            flags=flags,
            second_order_bytes=second_order_bytes,
        )
        self._open_backend(threads, device, stream, module)
        self._create(m, p)

    def _functions(self, model: Any, progress: Any) -> Tuple[Any, Any]:
        # The functions do not refer to self, so that no cycle keeps an unused estimator alive.
        callbacks, memory, shape = self._callbacks, self._memory, self.shape

        def run(batch: Any) -> None:
            if batch[0].device >= 0:
                call_on_a_device(model, batch[0], shape)
            else:
                block = next(block for block in memory if block.holds(batch[0].x))
                call_on_the_host(model, batch[0], shape, block)

        evaluate = S.EVAL()
        if model is not None:
            model = (device_model if self.on_device else as_model)(model)
            evaluate = S.EVAL(lambda _, batch: callbacks.guarded(run, batch))
        if not progress:
            return evaluate, S.PROGRESS()
        return evaluate, S.PROGRESS(lambda _, *counts: callbacks.guarded(progress, *counts))

    def _open_backend(self, threads: Any, device: Any, stream: int, module: Any) -> None:
        why, out = S.Error(), C.byref(self._backend)
        if threads is not None and device is not None:
            raise ValueError("give threads or device: on a device no threads draw noise")
        if threads is not None:
            threads = integer(threads, "threads", -(2**31), 2**31 - 1)
            self._made(lib.certreg_backend_open_cpu(threads, C.byref(why), out), why)
        if device is not None:
            if not isinstance(module, str):
                module = os.path.abspath(path_of(module, "module"))
            where = integer(device, "device", -(2**31), 2**31 - 1), integer(stream, "stream")
            status = lib.certreg_backend_open(os.fsencode(module), *where, C.byref(why), out)
            self._made(status, why)

    def _create(self, m: Any, p: Any) -> None:
        size, why, asked = S.size_t(), S.Error(), (self._backend, C.byref(m), C.byref(p))
        if not lib.certreg_estimator_size(*asked, C.byref(size), None):  # else create says why
            self._memory.append(Memory(size.value))
            p.memory, p.memory_bytes = self._memory[0].address, size.value
        self._made(lib.certreg_estimator_create(*asked, C.byref(why), C.byref(self._handle)), why)

    def _free(self) -> None:
        attacks = getattr(self, "_attacks", None)
        if attacks:
            attacks._free()
        super()._free()
        self._freed("_backend", lib.certreg_backend_close)

    def _noise(self, noise_id: Optional[int]) -> int:
        """The noise id of a new input."""
        noise_id = integer(self._unused_noise if noise_id is None else noise_id, "noise_id")
        self._unused_noise = max(self._unused_noise, noise_id + 1)
        return noise_id

    def _input(self, z: Any, what: str = "z") -> Any:
        """An input as a flat float32 array. An array (1, *shape) is one input too."""
        z = np.atleast_1d(unnamed(z, what))
        return array_of(z[0] if z.shape == (1, *self.shape) else z, self.shape, np.float32, what)

    # ---- one input
    def begin(self, z: Any, sigma: float, noise_id: Optional[int] = None, level: int = 0) -> None:
        """Starts a new input and empties the record.

        z         the input: finite numbers of shape (inputs,), or of the shape given as inputs
        sigma     noise level > 0
        noise_id  noise id of the input. None: one more than the largest that this estimator has
                  used, beginning with 0. A call that fails may skip one. Give it to repeat an
                  input or to import its record
        level     0; or k + 1 for the noise of sigmas[k] in certify_sigmas; or a level from a
                  Domain on

        Raises ValueError for a wrong shape, TypeError for a DataFrame or Series, whose names would
        be ignored, and CertregError for numbers that the library refuses."""
        z, sigma, level = self._input(z), number(sigma, "sigma"), integer(level, "level")
        with self._calls:
            self._begin(z.ctypes.data, sigma, self._noise(noise_id), level)

    def info(self) -> Run:
        """What all certificates of the current input have in common, the seed included."""
        out = S.Run()
        self._call("info", C.byref(out))
        return Run._of(out)

    # ---- questions
    def certify(self, *arguments: Any, noise_id: Optional[int] = None) -> Any:
        """certify(total_samples, *questions) samples until the record has total_samples, pilot
        included, and answers the questions. With 0 it answers without sampling.
        certify(z, sigma, total_samples, *questions, noise_id=None) calls begin first.

        A question may be a number, its tolerance. Returns one Certificate for one question, and a
        list for several. Raises CertregError if the library refuses the call or sampling fails, an
        exception of the model as it is, and TypeError or ValueError for wrong arguments."""
        begins = bool(arguments) and np.ndim(arguments[0]) > 0
        if len(arguments) < (3 if begins else 1) or (noise_id is not None and not begins):
            raise TypeError(
                "certify takes (total_samples, *questions) or "
                "(z, sigma, total_samples, *questions, noise_id=None)"
            )
        with self._calls:
            if begins:
                self.begin(arguments[0], arguments[1], noise_id)
                arguments = arguments[2:]
            total, questions = integer(arguments[0], "total_samples"), arguments[1:]
            certificates = self._asked(
                questions,
                1,
                lambda e, asked, count, out: lib.certreg_certify(e, total, asked, count, out),
            )
        return certificates[0] if len(questions) == 1 else certificates

    def certify_outputs(
        self, total_samples: int, *questions: Asked
    ) -> Tuple[Certificate, list[Certificate]]:
        """One radius for all outputs together. Every output has one question, alone or within a
        vector. Returns the combined certificate, and a list with one certificate for each
        question."""
        combined, total = S.Certificate(), integer(total_samples, "total_samples")
        each = self._asked(
            questions,
            1,
            lambda e, *asked: lib.certreg_certify_outputs(e, total, *asked, C.byref(combined)),
        )
        return Certificate._of(combined), each

    def certify_sigmas(
        self,
        z: Any,
        sigmas: Any,
        total_samples: int,
        *questions: Asked,
        noise_id: Optional[int] = None,
    ) -> Any:
        """Certifies one input at several different noise levels > 0. The certificates of one
        question at all levels hold together: alpha is divided by the number of levels. Returns a
        list with one certificate for each level, or with one list for each level if there are
        several questions."""
        z = self._input(z)
        sigmas = np.ravel(numbers(sigmas, np.float64, "sigmas"))
        if len(sigmas) >= LEVELS_OF_A_DOMAIN:  # the next one would be noise of Domain.CALIBRATION
            raise ValueError(f"{len(sigmas)} sigmas; give at most {LEVELS_OF_A_DOMAIN - 1}")
        total = integer(total_samples, "total_samples")

        def call(e: Any, *asked: Any) -> int:
            levels = (z.ctypes.data, sigmas.ctypes.data, len(sigmas))
            return int(lib.certreg_certify_sigmas(e, *levels, self._noise(noise_id), total, *asked))

        flat, count = self._asked(questions, len(sigmas), call), len(questions)
        return flat if count == 1 else [flat[i : i + count] for i in range(0, len(flat), count)]

    def output_bounds(self, total_samples: int, radius: float, *questions: Asked) -> Any:
        """Bounds the statistic for all shifts shorter than the radius, > 0. Returns certificates as
        certify does, in which output_lo and output_hi are the bounds."""
        total, radius = integer(total_samples, "total_samples"), number(radius, "radius")
        certificates = self._asked(
            questions,
            1,
            lambda e, asked, count, out: lib.certreg_output_bounds(
                e, total, asked, count, radius, out
            ),
        )
        return certificates[0] if len(questions) == 1 else certificates

    def _asked(
        self, questions: Sequence[Asked], times: int, call: Callable[..., int]
    ) -> list[Certificate]:
        """Makes a call(estimator, questions, their number, certificates) of the library. Returns
        the certificates, `times` for each question."""
        asked = structs_of([question_of(q) for q in questions])
        if not questions or not times:
            raise ValueError("no question or no noise level is given: give at least one of each")
        times *= len(questions)
        out = (S.Certificate * times)(*[S.refused()] * times)
        try:
            self._called(call, asked, len(questions), out, around=self._callbacks)
        except CertregError as error:
            error.certificates = [Certificate._of(c) for c in out]
            raise
        return [Certificate._of(c) for c in out]

    def _begin(self, address: int, sigma: float, noise_id: int, level: int) -> None:
        """begin with the address of an input."""
        self._call("begin_level", address, sigma, noise_id, level)

    def _answer(self, total: int, asked: Any, radius: Optional[float], first: Any) -> None:
        """certify, or output_bounds if there is a radius, with structs, which are fast to make.
        `asked` is an array of questions, and `first` the first of as many certificates."""
        what = (total, asked, len(asked))
        if radius is None:
            self._called(lib.certreg_certify, *what, C.byref(first), around=self._callbacks)
        else:
            bounds = lib.certreg_output_bounds
            self._called(bounds, *what, radius, C.byref(first), around=self._callbacks)

    def bounds(self, question: Asked, side: Union[Side, int, str]) -> Bounds:
        """The bounds that were used for one Side of a question, for example for
        certificate.limiting_side. They have no constraints if the method abstains."""
        out, struct = S.Bounds(), question_of(question)._struct()
        self._call("bounds", C.byref(struct), member(Side, side, "side"), C.byref(out))
        return Bounds._of(out)

    def prediction(self, question: Asked) -> Any:
        """The prediction that a question is about, from the pilot or as given: a float, or for a
        vector an array with one number for each of its outputs. The pilot must be complete; no
        other sample is read."""
        return self._told("prediction", question)

    def estimate(self, question: Asked) -> Any:
        """The statistic of all noisy samples of the record, as a float or array like prediction().
        This is what a server returns: take an estimator with pilot=NO_PILOT, begin with a new
        noise_id, sample, and call this with the certified question; with serving it needs exactly
        serving.samples noisy samples. Beside a certificate it has no guarantee of its own, and it
        is an evaluation of the record. Target and constraints are not used. Without samples it is
        the prediction of the question, or nan."""
        return self._told("estimate", question)

    def _told(self, call: str, question: Asked) -> Any:
        """One number of a question, or as many as its vector has."""
        asked = question_of(question)
        # What exceeds the outputs is refused by the call.
        count = min(asked.outputs_of(self.outputs), self.outputs)
        out, struct = (S.f64 * count)(), asked._struct()
        self._call(call, C.byref(struct), out)
        return np.array(out) if asked.is_vector else float(out[0])

    def forecast(self, question: Asked) -> Forecast:
        """Predicts how many samples the target of the question takes. This is not a guarantee."""
        out, struct = S.Forecast(), question_of(question)._struct()
        self._call("forecast", C.byref(struct), C.byref(out))
        return Forecast._of(out)

    # ---- attacks
    def attack(
        self,
        question: Asked,
        calls: int = 0,
        *,
        alpha: float = 0,
        number: int = 0,
        direction: Any = None,
    ) -> AttackResult:
        """Looks for a short shift of the current input that breaks the tolerance of a question, and
        proves with fresh noise that it does. The record is only read, and has to answer the
        question. Example: print(e.attack(0.5, 2000)).

        calls      most rows of the model, 0: only the forecast; too few are refused
        alpha      probability that the radius is too small; 0: 0.05
        number     another number is another noise: give one for a direction or a question that was
                   chosen after an earlier attack. The best of several is a choice: divide alpha
        direction  the shift is a positive multiple of scale * direction. The steepest way is scale
                   times the gradient by z, or its negative. None: it is found by the attack"""
        options, kept = options_of(calls, alpha, number, direction, self.shape)
        with self._calls:
            handle = self._attacked(options.calls)
            result = handle.attack(question, options, self.certify, self.shape, self._callbacks)
        del kept  # the array of the direction, until here
        return result

    def gradient(self, question: Asked, side: Union[Side, int, str]) -> np.ndarray:
        """Estimates the derivatives of E u by the inputs divided by their scale, from the record; u
        is the score of the question for this Side (see bounds). Float64 of the input's shape,
        without a guarantee; the error of each number is about (deviation of u) / (sigma *
        sqrt(samples))."""
        with self._calls:
            return self._attacked(0).gradient(question, side, self.shape)

    def _attacked(self, calls: int) -> Attacks:
        """The handle of attacks, with room for these calls."""
        handle = self._open()
        if not self._attacks or self._attacks.max_calls < calls:
            larger = Attacks(handle, self._calls, calls)  # if it fails, the old one still serves
            if self._attacks:
                self._attacks.close()
            self._attacks = larger
            self._memory[1:] = [larger.memory]
        return self._attacks

    # ---- sampling by hand, records, deadlines
    def sample(self, first: int, count: int) -> None:
        """Calls the model for the samples first .. first+count-1, except those in the record."""
        first, count = integer(first, "first"), integer(count, "count")
        self._call("sample", first, count, around=self._callbacks)

    def draw(self, first: int, count: int, out: Any = None) -> Any:
        """The noisy inputs of the samples first .. first+count-1, for programs that call the model
        themselves: float32 of shape (count, inputs) or (count, *shape). On a device they are
        written to `out`, an array of this shape with __cuda_array_interface__ and no gaps."""
        if out is not None and not self.on_device:
            raise ValueError("out is for memory of a CUDA device: make the estimator with device=")
        shape = (integer(count, "count"), *self.shape)
        x = np.empty(shape, np.float32) if out is None else out
        address = x.ctypes.data if out is None else device_address(out, shape)
        self._call("draw", integer(first, "first"), shape[0], address)
        return x

    def record(self, first: int, y: Any) -> None:
        """Records the outputs y, (count,) or (count, columns), of the samples first ..
        first+count-1."""
        y = np.ascontiguousarray(numbers(y, np.float32, "y"))
        if y.shape != (len(y), self.columns) and (y.shape != (len(y),) or self.columns != 1):
            raise ValueError(f"y has shape {y.shape}; it must be (count, {self.columns})")
        self._call("record", integer(first, "first"), len(y), y.ctypes.data)

    def export(self) -> bytes:
        """The record as bytes. They contain the seed, so keep them secret."""
        size = S.size_t(0)
        with self._calls:
            self._call("export", None, C.byref(size))
            buffer = C.create_string_buffer(size.value)
            self._call("export", buffer, C.byref(size))
        return buffer.raw[: size.value]

    def import_(self, data: bytes) -> None:
        """Adds an exported record, to resume it or to merge shards. Make the estimator with the
        record's seed, and first call begin with the same z, sigma, noise_id and level. Otherwise
        raises CertregError with Status.MISMATCH."""
        try:
            data = bytes(memoryview(data))
        except TypeError:
            raise TypeError(
                f"data must be bytes, as export returns them, not {shown(data)}"
            ) from None
        self._call("import", data, len(data))

    def set_deadline(self, seconds: float) -> None:
        """Sets a deadline for sampling and answers, in seconds from now; 0: none."""
        self._call("set_deadline", number(seconds, "seconds"))

    def cancel(self) -> None:
        """Stops the running or next call after its batch. Any thread may call it."""
        with self._alive:
            lib.certreg_estimator_cancel(self._open())

"""Sampling a model around inputs, and certificates."""

from __future__ import annotations

import ctypes as C
import math
import os
import secrets
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
)
from ._calls import Callbacks, Handle
from ._library import lib
from .answers import Bounds, Certificate, Forecast, Run
from .constants import Output, Side, Status, constraints_of, integer, member
from .errors import CertregError
from .models import as_model, device_model
from .questions import Asked, question_of, structs_of


def kinds_of(kind: Any, outputs: int) -> Optional[np.ndarray]:
    """The kinds of the outputs as numbers, from members or names of Output, one for all or one for
    each."""
    if kind is None:
        return None
    if isinstance(kind, (list, tuple, np.ndarray)):
        kind = [member(Output, k, "kind") for k in kind]
    else:
        kind = member(Output, kind, "kind")
    return np.asarray(array_of(kind, (outputs,), np.int32, "kind"))


class Estimator(Handle):
    """Samples a model around one input after another, and answers questions about each.

    model     takes (rows, inputs) in float32, read-only, and returns (rows,) or (rows, columns).
              The next batch overwrites what the model was given: copy what has to stay. Or a
              model of PyTorch, ONNX Runtime, scikit-learn, XGBoost or LightGBM: see as_model.
              None: the program uses draw and record
    inputs    number of features; or their shape, such as (3, 32, 32): the model then gets
              (rows, 3, 32, 32)
    max_samples    most samples of one input, pilot included
    outputs   how many there are. The model returns a column for each, and one more for each
              Output.ANGLE_PAIR
    batch     rows of one call of the model; 0: 256
    kind, lo, hi   an Output or its name, and limits, for each output or for all
    scale     noise of each feature, or of all, in units of sigma; 0: never moved
    seed      of the noise. None: a secret one is drawn, which run() reports
    constraints   that questions may use. The gradient and the second order have to be named
    progress  called with (done, total) after each batch; a true answer cancels
    threads   that draw noise. None: the calling thread; 0: one per processor
    device    number of a CUDA device. The noise is drawn there, and the model is called as
              model(x, y) with two DeviceArrays. It fills y by work on x.stream, and need not
              wait. Or it is a torch.nn.Module on that device. stream: address of a CUDA stream,
              0: the library's own. module: path of the CUDA module

    The other arguments are those of certreg_plan and certreg_model. What the library refuses raises
    CertregError; wrong shapes and names raise ValueError, wrong types TypeError.

    An estimator takes one call at a time. Another one, from the model or another thread, is refused
    with Status.BUSY. Only cancel may be called at any time."""

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
        module: Union[str, "os.PathLike[str]", None] = None,
        progress: Optional[Callable[[int, int], Any]] = None,
    ) -> None:
        super().__init__()
        self._backend, self._unused_noise = S.pointer(), 0
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
        self._memory: list[Memory] = []  # one, as soon as its size is known
        self._callbacks = Callbacks(self._calls)
        self._eval, self._progress = self._functions(model, progress)
        addresses = {name: address_of(array) for name, array in arrays.items()}
        m = S.Model(
            eval=self._eval, inputs=self.inputs, outputs=self.outputs, batch=batch, **addresses
        )
        p = S.Plan(
            constraints=constraints_of(constraints),
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

    def _functions(self, model: Any, progress: Any) -> Tuple[Any, Any]:
        # They do not refer to self: an estimator without references goes at once.
        callbacks, memory, shape = self._callbacks, self._memory, self.shape

        def run(batch: Any) -> None:
            if batch[0].device >= 0:
                call_on_a_device(model, batch[0], shape)
            else:
                call_on_the_host(model, batch[0], shape, memory[0])

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
            self._made(lib.certreg_backend_open_cpu(threads, C.byref(why), out), why)
        if device is not None:
            path = os.fsencode(module) if module else None
            status = lib.certreg_backend_open_cuda(device, stream or None, path, C.byref(why), out)
            self._made(status, why)

    def _create(self, m: Any, p: Any) -> None:
        size, why, asked = S.size_t(), S.Error(), (self._backend, C.byref(m), C.byref(p))
        if not lib.certreg_estimator_size(*asked, C.byref(size)):  # else create says why
            self._memory.append(Memory(size.value))
            p.memory, p.memory_bytes = self._memory[0].address, size.value
        self._made(lib.certreg_estimator_create(*asked, C.byref(why), C.byref(self._handle)), why)

    def _free(self) -> None:
        super()._free()
        self._freed("_backend", lib.certreg_backend_close)

    def _noise(self, noise_id: Optional[int]) -> int:
        """The number of the noise of a new input."""
        noise_id = integer(self._unused_noise if noise_id is None else noise_id, "noise_id")
        self._unused_noise = max(self._unused_noise, noise_id + 1)
        return noise_id

    def _input(self, z: Any) -> Any:
        """An input as the library takes it; a single row of a table is one too."""
        z = np.atleast_1d(z)
        return array_of(z[0] if z.shape == (1, *self.shape) else z, self.shape, np.float32, "z")

    # ---- one input
    def begin(self, z: Any, sigma: float, noise_id: Optional[int] = None, level: int = 0) -> None:
        """Starts a new input and empties the record.

        z         the input, `inputs` finite numbers
        sigma     noise level > 0
        noise_id  of its noise. None: the next number above all that this estimator has used: 0,
                  1, 2, ... A call that fails may skip one. Give it to repeat an input, or to
                  import its record
        level     sigmas[k] of certify_sigmas has the noise of level k + 1; noise for other purposes
                  begins at a Domain"""
        z, level = self._input(z), integer(level, "level")
        with self._calls:
            self._begin(z.ctypes.data, sigma, self._noise(noise_id), level)

    def run(self) -> Run:
        """What all certificates of the present input have in common, its seed among it."""
        out = S.Run()
        self._call("run", C.byref(out))
        return Run._of(out)

    # ---- questions
    def certify(self, *arguments: Any, noise_id: Optional[int] = None) -> Any:
        """certify(total_samples, *questions) samples until the record has total_samples, pilot
        included, and answers the questions. With 0 it only answers.
        certify(z, sigma, total_samples, *questions, noise_id=None) calls begin first. z is an
        array, which tells the two apart.

        One question has one Certificate, several have a list. A number is a question with this
        tolerance."""
        begins = bool(arguments) and np.ndim(arguments[0]) > 0
        if len(arguments) < (3 if begins else 1) or (noise_id is not None and not begins):
            raise TypeError(
                "certify takes (total_samples, *questions) or "
                "(z, sigma, total_samples, *questions, noise_id=None)"
            )
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
        """One radius for all outputs together, each asked about once. Returns the combined
        certificate and a list of those of the outputs."""
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
        """The same input at several noise levels; all certificates hold together. Returns a
        certificate for each level, or a list for each where there are several questions."""
        z = self._input(z)
        sigmas = np.ravel(np.asarray(sigmas, np.float64))
        total = integer(total_samples, "total_samples")

        def call(e: Any, *asked: Any) -> int:
            levels = (z.ctypes.data, sigmas.ctypes.data, len(sigmas))
            return int(lib.certreg_certify_sigmas(e, *levels, self._noise(noise_id), total, *asked))

        flat, count = self._asked(questions, len(sigmas), call), len(questions)
        return flat if count == 1 else [flat[i : i + count] for i in range(0, len(flat), count)]

    def output_bounds(self, total_samples: int, radius: float, *questions: Asked) -> Any:
        """Where the statistic stays within the radius: output_lo and output_hi of the
        certificates, as certify returns them."""
        total = integer(total_samples, "total_samples")
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
        """The certificates, `times` for each question, of a
        call(estimator, questions, their number, certificates)."""
        asked = structs_of([question_of(q) for q in questions])
        if not questions or not times:
            raise ValueError("there is nothing to ask: give a question, and a noise level")
        nothing = S.Certificate(status=Status.BUSY, output_lo=-math.inf, output_hi=math.inf)
        times *= len(questions)
        out = (S.Certificate * times)(*[nothing] * times)
        try:
            self._called(call, asked, len(questions), out, around=self._callbacks)
        except CertregError as error:
            error.certificates = [Certificate._of(c) for c in out]
            raise
        return [Certificate._of(c) for c in out]

    def _begin(self, address: int, sigma: float, noise_id: int, level: int) -> None:
        """begin with an input that lies at an address."""
        self._call("begin_level", address, sigma, noise_id, level)

    def _answer(self, total: int, asked: Any, radius: Optional[float], first: Any) -> None:
        """certify, or output_bounds with a radius, from structs to structs: without objects for
        every answer. `first` is the first of the certificates."""
        what = (total, asked, len(asked))
        if radius is None:
            self._called(lib.certreg_certify, *what, C.byref(first), around=self._callbacks)
        else:
            bounds = lib.certreg_output_bounds
            self._called(bounds, *what, radius, C.byref(first), around=self._callbacks)

    def bounds(self, question: Asked, side: Union[Side, int, str]) -> Bounds:
        """The bounds behind one Side of a question, as certificate.limiting_side. They have no
        constraints where the method abstains."""
        out, struct = S.Bounds(), question_of(question)._struct()
        self._call("bounds", C.byref(struct), member(Side, side, "side"), C.byref(out))
        return Bounds._of(out)

    def forecast(self, question: Asked) -> Forecast:
        """How many samples the target of the question takes: a Forecast, no guarantee."""
        out, struct = S.Forecast(), question_of(question)._struct()
        self._call("forecast", C.byref(struct), C.byref(out))
        return Forecast._of(out)

    # ---- sampling by hand, records, deadlines
    def sample(self, first: int, count: int) -> None:
        """Calls the model for those of the samples first .. first+count-1 that are missing."""
        first, count = integer(first, "first"), integer(count, "count")
        self._call("sample", first, count, around=self._callbacks)

    def draw(self, first: int, count: int, out: Any = None) -> Any:
        """The noisy inputs of samples first .. first+count-1, for models that are not called
        back: float32 of shape (count, inputs), or (count, *shape). On a device they go to `out`,
        which has __cuda_array_interface__ and no gaps."""
        if out is not None and not self.on_device:
            raise ValueError("out is memory of a CUDA device: make the estimator with device=")
        shape = (integer(count, "count"), *self.shape)
        x = np.empty(shape, np.float32) if out is None else out
        address = x.ctypes.data if out is None else device_address(out, shape)
        self._call("draw", integer(first, "first"), shape[0], address)
        return x

    def record(self, first: int, y: Any) -> None:
        """Records the outputs of the samples from `first` on: (count,) or (count, columns)."""
        y = np.ascontiguousarray(y, np.float32)
        if y.shape != (len(y), self.columns) and (y.shape != (len(y),) or self.columns != 1):
            raise ValueError(f"y has shape {y.shape}; it must be (count, {self.columns})")
        self._call("record", integer(first, "first"), len(y), y.ctypes.data)

    def export(self) -> bytes:
        """The record as bytes. They contain the seed."""
        size = S.size_t(0)
        self._call("export", None, C.byref(size))
        buffer = C.create_string_buffer(size.value)
        self._call("export", buffer, C.byref(size))
        return buffer.raw[: size.value]

    def import_(self, data: bytes) -> None:
        """Adds an exported record, to resume it or to merge shards. Call begin with the same z,
        sigma, noise_id and level first; the seed has to be the same, too."""
        self._call("import", bytes(data), len(data))

    def set_deadline(self, seconds: float) -> None:
        """A deadline for sampling and answers, from now on; 0: none."""
        self._call("set_deadline", seconds)

    def cancel(self) -> None:
        """Stops the running or next call after its batch. Any thread may call it."""
        with self._alive:
            lib.certreg_estimator_cancel(self._open())

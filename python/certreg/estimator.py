"""Samples a model around inputs, and certifies them."""

from __future__ import annotations

import ctypes as C
import dataclasses
import math
import os
from typing import Any, Callable, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as S
from ._arrays import Memory, address_of, array_of, call_on_a_device, call_on_the_host, columns_of
from ._arrays import device_address, numbers, scale_of
from ._evaluation import Evaluator
from ._calls import Callbacks
from ._library import lib
from ._categorical import categorical_features_of
from ._optional import of_class
from .attacks import AttackResult, Attacks, options_of
from ._arguments import constraints_of, given_seed, integer, member, optional_function
from .constants import Output, Side
from ._arguments import abbreviated, number, path_of
from ._ctypes import pointer, size_t
from .denoised import check_use, function_of_rows
from .errors import written
from .frames import Columns, by_names, is_frame, split_frame
from .models import device_model
from .questions import Asked


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


class Estimator(Evaluator):
    """Samples a model around one input after another, and answers questions about each.

    model        a function that takes float32 of shape (rows, inputs) and returns (rows,) or
                 (rows, columns). It must not write to the array. The next batch overwrites the
                 array, so it has to copy what it keeps. Or a model of PyTorch, ONNX Runtime,
                 scikit-learn, XGBoost or LightGBM; see as_model. None: the program uses draw and
                 record
    inputs       number of features; or a shape such as (3, 32, 32), and the model then takes
                 (rows, 3, 32, 32); or a DataFrame: inputs are then DataFrames of one row with its
                 columns, which the model gets as in certify_rows, and scale is as there
    max_samples  most samples of one input, pilot included
    outputs      number of outputs. The model returns a column for each, and one more for each
                 Output.ANGLE_PAIR
    batch        rows of one call of the model; 0: 256
    kind         an Output or its name, for all outputs or for each
    lo, hi       limits of the outputs, for all outputs or for each; for angles the ends of the turn
    scale        noise of the features in units of sigma, >= 0, for all features or for each; None:
                 1. It is rounded up to float32. A feature with 0 gets no noise, and changes to it
                 are not covered
    seed         seed of the noise, 1 to 2^64 - 1, to repeat a run: neither the model nor whoever
                 chooses inputs may know it. None: a secret one is drawn; info() reports it
    constraints  constraints that questions may use, as a number or name. The gradient must be named
                 here
    progress     function that is called with (done, total) after each batch. A true result cancels
    check        calls model_check at the first input. False: not
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
        threads: Optional[int] = None,
        device: Optional[int] = None,
        stream: int = 0,
        module: Union[str, "os.PathLike[str]"] = "cuda",
        progress: Optional[Callable[[int, int], Any]] = None,
        check: bool = True,
    ) -> None:
        super().__init__()
        self._backend = pointer()
        self._attacks: Optional[Attacks] = None  # made when it is needed
        self.on_device = device is not None
        if is_frame(inputs):
            inputs = split_frame(inputs, scale)[1]
        if isinstance(inputs, Columns):
            self._columns = Columns.of_names(inputs.names, inputs.scale)
            self._names, scale = inputs.names, inputs.scale
            inputs = len(inputs.names)
        shape = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        self.shape = tuple(integer(length, "inputs", 1) for length in shape)
        self.inputs = math.prod(self.shape)
        self.outputs = integer(outputs, "outputs")
        arrays = {
            "scale": scale_of(scale, self.shape),
            "kind": kinds_of(kind, self.outputs),
            "lo": array_of(lo, (self.outputs,), np.float64, "lo"),
            "hi": array_of(hi, (self.outputs,), np.float64, "hi"),
        }
        self.columns = columns_of(self.outputs, arrays["kind"])
        check_use(model, self.shape, arrays["scale"], self._columns, on_device=self.on_device)
        self._model, self._unchecked = model, check and model is not None
        if self.on_device and not of_class(model, "torch.nn", "Module"):
            self._whole = integer(batch, "batch") or 256  # a function may replay a graph of them
        self._memory: list[Memory] = []  # the estimator's, and that of its attacks
        self._callbacks = Callbacks(self._calls)
        if model is not None and not self.on_device:
            self._categorical = categorical_features_of(model, self._columns, arrays["scale"])
        self._eval, self._progress = self._functions(model, optional_function(progress, "progress"))
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
            model = self._of_arrays(model)
            evaluate = S.EVAL(lambda _, batch: callbacks.guarded(run, batch))
        if not progress:
            return evaluate, S.PROGRESS()
        return evaluate, S.PROGRESS(lambda _, *counts: callbacks.guarded(progress, *counts))

    def _of_arrays(self, model: Any) -> Any:
        """The model as a function of what the library has."""
        if not self.on_device:
            return function_of_rows(model, self._columns)
        if self._columns is not None:
            raise ValueError("a DataFrame cannot be on a device: leave out device")
        return device_model(model)

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
        size, why, asked = size_t(), S.Error(), (self._backend, C.byref(m), C.byref(p))
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
        direction  the shift is a positive multiple of scale * direction, for DataFrames a Series
                   or dict by columns. The steepest way is scale times the gradient by z, or its
                   negative. None: it is found by the attack"""
        if self._columns is not None:
            direction = by_names(list(self._columns.form.labels), direction, "direction")
        options, kept = options_of(calls, alpha, number, direction, self.shape)
        with self._calls:
            handle = self._attacked(options.calls)
            result = handle.attack(question, options, self.certify, self.shape, self._callbacks)
        del kept  # the array of the direction, until here
        return dataclasses.replace(result, shift=self._by_column(result.shift))

    def gradient(self, question: Asked, side: Union[Side, int, str]) -> Any:
        """Estimates the derivatives of E u by the inputs divided by their scale, from the record; u
        is the score of the question for this Side (see bounds). Float64 of the input's shape, for
        DataFrames a Series, without a guarantee; the error of each number is about (deviation of
        u) / (sigma * sqrt(samples))."""
        with self._calls:
            return self._by_column(self._attacked(0).gradient(question, side, self.shape))

    def _by_column(self, values: np.ndarray) -> Any:
        """Numbers of an input; for DataFrames by the names of the columns."""
        return values if self._columns is None else self._columns.series(values)

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
        themselves: float32 of shape (count, inputs) or (count, *shape); or a DataFrame. On a device
        they are
        written to `out`, an array of this shape with __cuda_array_interface__ and no gaps."""
        if out is not None and not self.on_device:
            raise ValueError("out is for memory of a CUDA device: make the estimator with device=")
        shape = (integer(count, "count"), *self.shape)
        x = np.empty(shape, np.float32) if out is None else out
        address = x.ctypes.data if out is None else device_address(out, shape)
        self._call("draw", integer(first, "first"), shape[0], address)
        return x if self._columns is None else self._columns.wrap(lambda frame: frame)(x)

    def record(self, first: int, y: Any) -> None:
        """Records the outputs y, (count,) or (count, columns), of the samples first ..
        first+count-1."""
        y = np.ascontiguousarray(numbers(y, np.float32, "y"))
        if y.shape != (len(y), self.columns) and (y.shape != (len(y),) or self.columns != 1):
            raise ValueError(f"y has shape {y.shape}; it must be (count, {self.columns})")
        self._call("record", integer(first, "first"), len(y), y.ctypes.data)

    def export(self) -> bytes:
        """The record as bytes. They contain the seed, so keep them secret."""
        with self._calls:
            return written(lambda *out: self._call("export", *out))

    def import_(self, data: bytes) -> None:
        """Adds an exported record, to resume it or to merge shards. Make the estimator with the
        record's seed, and first call begin with the same z, sigma, noise_id and level. Otherwise
        raises CertregError with Status.MISMATCH."""
        try:
            data = data if isinstance(data, bytes) else bytes(memoryview(data))
        except TypeError:
            said = f"data must be bytes, as export returns them, not {abbreviated(data)}"
            raise TypeError(said) from None
        self._call("import", data, len(data))

    def set_deadline(self, seconds: float) -> None:
        """Sets a deadline for sampling and answers, in seconds from now; 0: none."""
        self._call("set_deadline", number(seconds, "seconds"))

    def cancel(self) -> None:
        """Stops the running or next call after its batch. Any thread may call it."""
        with self._alive:
            lib.certreg_estimator_cancel(self._open())

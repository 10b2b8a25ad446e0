"""Samples a model around inputs, and certifies them."""

from __future__ import annotations

import ctypes as C
import dataclasses
import functools
import math
import os
import sys
from typing import Any, Callable, Iterable, Sequence, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _structs as S
from ._arguments import abbreviated, constraints_of, given_seed, integer, member, number
from ._arguments import optional_function, path_of
from ._arrays import Memory, address_of, array_of, call_on_a_device, call_on_the_host, columns_of
from ._arrays import device_address, numbers, optional_array, optional_scale, outputs_in_float32
from ._arrays import outputs_of, shared_rows, turns_of
from ._calls import Callbacks
from ._categorical import categorical_features_of
from ._ctypes import pointer, size_t
from ._evaluation import Evaluator
from ._library import lib
from ._optional import of_class
from ._types import Frame, Inputs, Model, Path, Scale
from .attacks import AttackResult, Attacks, options_of
from .constants import AUDIT_DEFAULT, AUDIT_WHOLE, PLAN_ROUNDED, Output, Side, Status
from .denoised import check_use, function_of_rows
from .errors import CertregError, exported
from .frames import Columns, by_names, is_frame, split_frame
from .models import device_model
from .questions import Asked


Callback: TypeAlias = Any  # a function of ctypes, which the library calls
Kinds = Output | int | str | Sequence[Output | int | str] | np.ndarray | None


def kinds_of(kind: Kinds, outputs: int) -> np.ndarray | None:
    """The kinds of the outputs as int32 of shape (outputs,), from one member or name of Output for
    all outputs, or one for each. None stays None."""
    if kind is None:
        return None
    kinds: int | list[int]
    if isinstance(kind, (list, tuple)) or np.ndim(kind):
        each = cast(Sequence[object], kind)
        kinds = [member(Output, one, "kind") for one in each]
    else:
        kinds = member(Output, kind, "kind")
    return array_of(kinds, (outputs,), np.int32, "kind")


class Estimator(Evaluator):
    """Samples a model around one input after another, and answers questions about each input.

    An estimator handles one call at a time. A second call, from the model or from another thread,
    raises CertregError with ``Status.BUSY``. Only `cancel` may be called at any time.

    Parameters
    ----------
    model : object
        A function that takes float32 of shape (rows, inputs) and returns (rows,) or (rows,
        columns). It must not write to the array, and has to copy values that it keeps, since the
        next batch overwrites the array. Or a model of PyTorch, ONNX Runtime, scikit-learn, XGBoost
        or LightGBM; see as_model. None: the program uses `draw` and `record`.
    inputs : int, tuple or DataFrame
        Number of features; or a shape such as (3, 32, 32), and the model then takes (rows, 3, 32,
        32); or a DataFrame. Inputs are then DataFrames of one row with its columns; model and scale
        are as for certify_rows.
    max_samples : int
        Most samples of one input, pilot included.
    outputs : int
        Number of outputs. The model returns a column for each, and one more for each
        ``Output.ANGLE_PAIR``.
    batch : int
        Rows of one call of the model; 0: 256, on a device those of 16 MiB, 256 to 4,096.
    scale : array_like, optional
        Noise of the features in units of sigma, >= 0, for all features or for each; by default 1.
        It is rounded up to float32. A feature with 0 gets no noise, and changes to it are not
        covered.
    kind : Output or str, optional
        Kind of all outputs, or a sequence with the kind of each.
    lo, hi : array_like, optional
        Limits of the outputs, for all outputs or for each; for angles the ends of the turn, by
        default -pi and pi; for degrees give -180 and 180.
    seed : int, optional
        Seed of the noise, 1 to 2^64 - 1, to repeat a run; by default a secret one is drawn, which
        info() reports. The model, and everybody who chooses inputs, must not know it.
    pilot : int
        Samples that choose the prediction; 0: about 15 per cent, less of few; NO_PILOT: none.
    constraints : int or str
        Constraints that questions may use. The gradient must be named here.
    blocks : int
        Blocks of samples for the gradient's asymptotic interval, 64 to 65536; 0: 64.
    flags : int
        PLAN_COUNT_FAILURES, to which PLAN_PAIRS, PLAN_EPISODE or PLAN_DEPLOYED can be added, or 0.
    threads : int, optional
        Number of threads that draw noise; by default the calling thread; 0: one per processor.
    device : int, optional
        Number of a device on which the noise is drawn. The model is then a torch.nn.Module on this
        device, or a function that is called as model(x, y) with two DeviceArrays. The function
        fills y by work on ``x.stream``, and need not wait for it.
    stream : int
        Address of a CUDA stream; 0: the library's own.
    module : str or path
        Module that opens the device: "cuda", or a path, with a slash if it is a str.
    progress : callable, optional
        Function that is called with (done, total) after each batch. A true result cancels.
    check : bool
        Call `model_check` at the first input, and ask the model again for some samples after
        each run, so that certificates have `audited` and its differences (docs/guide/concepts.md).

    Raises
    ------
    CertregError
        For arguments that the library refuses.
    ValueError, TypeError
        For wrong shapes, names and types.

    Examples
    --------
    >>> model = lambda x: x[:, 0] + x[:, 1] * x[:, 2]
    >>> with certreg.Estimator(model, inputs=3, max_samples=1000, seed=42) as e:
    ...     c = e.certify([1, 0.5, -0.25], 0.25, 1000, 0.5)
    >>> c.outcome
    <Outcome.CERTIFIED: 1>"""

    _NAME = "estimator"

    def __init__(
        self,
        model: Model,
        inputs: int | Sequence[int] | Frame,
        max_samples: int,
        *,
        outputs: int = 1,
        batch: int = 0,
        scale: Scale = None,
        kind: Kinds = None,
        lo: ArrayLike | None = None,
        hi: ArrayLike | None = None,
        seed: int | None = None,
        pilot: int = 0,
        constraints: int | str = 0,
        blocks: int = 0,
        flags: int = 0,
        threads: int | None = None,
        device: int | None = None,
        stream: int = 0,
        module: Path = "cuda",
        progress: Callable[[int, int], object] | None = None,
        check: bool = True,
    ) -> None:
        super().__init__()
        self._backend = pointer()
        self._attacks: Attacks | None = None  # made on demand
        self.on_device, self._has_stream = device is not None, integer(stream, "stream") > 0
        if is_frame(inputs):
            inputs = split_frame(inputs, scale, values=False)[1]
        if isinstance(inputs, Columns):
            self._columns = Columns.of_names(inputs.names, inputs.scale, inputs.dtypes)
            self._names, scale = inputs.names, inputs.scale
            inputs = len(inputs.names)
        shape = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        self.shape = tuple(integer(length, "inputs", 1) for length in shape)
        self.inputs = math.prod(self.shape)
        self.outputs = integer(outputs, "outputs")
        arrays = {
            "scale": optional_scale(scale, self.shape),
            "kind": kinds_of(kind, self.outputs),
            "lo": optional_array(lo, (self.outputs,), np.float64, "lo"),
            "hi": optional_array(hi, (self.outputs,), np.float64, "hi"),
        }
        self._scale = arrays["scale"]
        self._kind, self._pilot = arrays["kind"], pilot
        self.columns = columns_of(self.outputs, arrays["kind"])
        check_use(model, self.shape, arrays["scale"], self._columns, on_device=self.on_device)
        self._model, self._unchecked = model, check and model is not None
        self._batch = integer(batch, "batch")
        self._turns = turns_of(arrays["kind"], arrays["lo"], arrays["hi"])
        self._missing, self._noisy = [], None
        if len(self.shape) == 1 and not self.on_device:
            scales = arrays["scale"]
            self._noisy = np.ones(self.inputs, bool) if scales is None else scales > 0
        if self.on_device and not of_class(model, "torch.nn", "Module"):
            # all rows of a batch: a function may replay a graph of them
            self._whole = self._batch or sys.maxsize
        self._memory: list[Memory] = []  # of the estimator and of its attacks
        self._callbacks = Callbacks(self._calls)
        self._model_functions: list[Callable[..., Any]] = []
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
            flags=integer(flags, "flags") | PLAN_ROUNDED,  # most models compute in float64
            audit=(AUDIT_WHOLE if self._whole else AUDIT_DEFAULT) if check else 0,
        )
        self._open_backend(threads, device, stream, module)
        self._create(m, p)
        self._plan = m, p, arrays  # which their addresses need

    def _functions(
        self, model: Model, progress: Callable[..., object] | None
    ) -> tuple[Callback, Callback]:
        # The functions do not refer to self, so that no cycle keeps an unused estimator alive.
        callbacks, memory, shape = self._callbacks, self._memory, self.shape
        missing, turns = self._missing, self._turns
        evaluate, report = S.EVAL(), S.PROGRESS()
        if model is not None:
            functions = self._model_functions
            functions.append(self._function_of(model))

            def run(batch: "C._Pointer[S.Batch]") -> None:
                if batch[0].device >= 0:
                    call_on_a_device(functions[0], batch[0], shape)
                else:
                    block = next(block for block in memory if block.holds(batch[0].x))
                    with_cells = batch[0], shape, block, missing[0].restore
                    call_on_the_host(functions[0], *with_cells, turns)

            evaluate = S.EVAL(lambda _, batch: callbacks.guarded(run, batch))
        if progress:
            call = progress
            report = S.PROGRESS(lambda _, *counts: callbacks.guarded(call, *counts))
        return evaluate, report

    def _function_of(self, model: Model) -> Callable[..., Any]:
        """The model as a function of arrays on the host or on the device."""
        if not self.on_device:
            return function_of_rows(model, self._columns)
        if self._columns is not None:
            raise ValueError("a DataFrame cannot be on a device: leave out device")
        return device_model(model)

    def _open_backend(
        self, threads: int | None, device: int | None, stream: int, module: Path
    ) -> None:
        why, out = S.Error(), C.byref(self._backend)
        if threads is not None and device is not None:
            raise ValueError("give threads or device: on a device no threads draw noise")
        if threads is not None:
            threads = integer(threads, "threads", -(2**31), 2**31 - 1)
            self._made(lib.certreg_backend_open_cpu(threads, C.byref(why), out), why)
        if device is not None:
            if not isinstance(module, str):
                module = os.path.abspath(os.fsdecode(path_of(module, "module")))
            numbers = integer(device, "device", -(2**31), 2**31 - 1), integer(stream, "stream")
            status = lib.certreg_backend_open(os.fsencode(module), *numbers, C.byref(why), out)
            self._made(status, why)

    def _create(self, m: S.Model, p: S.Plan) -> None:
        size, why = size_t(), S.Error()
        given = self._backend, C.byref(m), C.byref(p), C.byref(why)
        self._made(lib.certreg_estimator_size(*given, C.byref(size), None), why)
        self._memory.append(Memory(size.value))
        p.memory, p.memory_bytes = self._memory[0].address, size.value
        self._made(lib.certreg_estimator_create(*given, C.byref(self._handle)), why)

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
        alpha: float | None = None,
        number: int = 0,
        direction: Scale = None,
    ) -> AttackResult:
        """Search for a short shift of the current input that breaks the tolerance of a question.

        Experimental.

        Fresh noise proves that the shift breaks the tolerance. The record is only read, and has to
        answer the question.

        Parameters
        ----------
        question : Question or float
            The question.
        calls : int
            Most rows of the model; 0: only the forecast. Too few are refused.
        alpha : float, optional
            Probability > 0 that the radius is too small; by default 0.05.
        number : int
            Another number is another noise. Give another one for a direction or a question that was
            chosen after an earlier attack. The best of several attacks is a choice: divide alpha.
        direction : array_like, mapping or Series, optional
            The shift is a positive multiple of scale * direction. The steepest direction is scale
            times the gradient by z, or its negative. The default is found by the attack.

        Returns
        -------
        AttackResult
            The shift and its norm.

        Examples
        --------
        >>> with certreg.Estimator(lambda x: x[:, 0], 1, 2000, seed=1) as e:
        ...     c = e.certify([0.0], 0.5, 2000, 1.0)
        ...     result = e.attack(1.0, 2000)
        >>> result.broken and c.radius < result.radius
        True"""
        if self._columns is not None:
            direction = by_names(list(self._columns.layout.labels), direction, "direction")
        along = cast(ArrayLike | None, direction)
        options, kept = options_of(calls, alpha, number, along, self.shape)
        with self._calls:
            handle = self._attacked(options.calls)
            result = handle.attack(question, options, self.certify, self.shape, self._callbacks)
        del kept  # the array of the direction, until here
        return dataclasses.replace(result, shift=self._by_column(result.shift))

    def gradient(self, question: Asked, side: Side | int | str) -> Any:
        """Estimate a gradient from the record, without a guarantee.

        Parameters
        ----------
        question : Question or float
            A question that the record answers.
        side : Side, int or str
            The side of the score u that is differentiated; see `bounds`.

        Returns
        -------
        ndarray or Series
            The derivatives of E u by the inputs divided by their scale: float64 of the input's
            shape, for DataFrames a Series. The error of each number is about (deviation of u) /
            (sigma * sqrt(samples))."""
        with self._calls:
            return self._by_column(self._attacked(0).gradient(question, side, self.shape))

    def _by_column(self, values: np.ndarray) -> Any:
        """Numbers of an input; for DataFrames by the names of the columns."""
        return values if self._columns is None else self._columns.series(values)

    def _attacked(self, calls: int) -> Attacks:
        """The handle of attacks, with room for these calls. Raises CertregError if a cell with
        noise is missing, since attacks and gradients are about all features with noise."""
        handle = self._open()
        if any(cells.some for cells in self._missing):
            text = "cells that get noise are missing in the input: give their features scale 0"
            raise CertregError(Status.INVALID, text=text)
        if not self._attacks or self._attacks.max_calls < calls:
            larger = Attacks(handle, self._calls, calls)  # if it fails, the old one still serves
            if self._attacks:
                self._attacks.close()
            self._attacks = larger
            self._memory[1:] = [larger.memory]
        return self._attacks

    # ---- sampling by hand, records, deadlines
    def sample(self, first: int, count: int) -> None:
        """Call the model for samples that are not in the record.

        Parameters
        ----------
        first, count : int
            The samples first .. first+count-1."""
        first, count = integer(first, "first"), integer(count, "count")
        self._call("sample", first, count, around=self._callbacks)

    def _sample_together(
        self, begins: Sequence[Callable[[], None]], samples: int
    ) -> np.ndarray | None:
        """The outputs of `samples` samples of several inputs, (inputs, samples, columns), by one
        call of the model. Each of `begins` begins an input; DataFrames have one layout. None if the
        call cannot be shared: on a device, or if an input is refused. If the model raises an
        exception, it is called once more for each input, and fails at the one that fails alone."""
        if self.on_device or len(begins) < 2:
            return None
        x = np.empty((len(begins) * samples, *self.shape), np.float32)
        each = np.split(x, len(begins))
        try:
            for begin, some in zip(begins, each):
                begin()
                self._call("draw", 0, samples, some.ctypes.data)
                self._missing[0].restore(some)
        except CertregError:
            return None
        x.flags.writeable = False
        try:
            y = outputs_in_float32(self._outputs_of(x), self._turns)
        except Exception:  # no second try replaces it
            for some in each:
                self._outputs_of(some)
            raise
        return y.reshape(len(begins), samples, self.columns)

    def _sample_each(
        self,
        X: Inputs,
        sigma: float,
        samples: int,
        use: Callable[[], object],
        noise_ids: Iterable[int | None],
        level: int = 0,
    ) -> None:
        """Begins and samples the rows of X one after another, in calls that they share, and calls
        use() after each."""
        with self._calls, self._callbacks.holding_interrupts():
            begins = [
                functools.partial(self._begin_flat, z, sigma, self._noise(noise_id), level)
                for z, noise_id in zip(self._inputs_of(X), noise_ids)
            ]
            most = shared_rows(self._batch, self.inputs, self._columns is not None)
            group = max(1, most // samples)
            for first in range(0, len(begins), group):
                some = begins[first : first + group]
                outputs = self._sample_together(some, samples)
                for i, begin in enumerate(some):
                    begin()
                    if outputs is None:
                        self.sample(0, samples)
                    else:
                        self._call("record", 0, samples, outputs[i].ctypes.data)
                    if begin is some[-1]:
                        self._audit()
                    use()

    def _audit(self) -> None:
        """Asks the model again for samples of the record, while interrupts are held. Raises
        CertregError if it has other outputs."""
        if self._plan[1].audit:
            rows = size_t()  # none is left: the library calls the model
            given = None, C.byref(rows)
            self._called(lib.certreg_audit_next, *given, around=self._callbacks)

    def _outputs_of(self, x: np.ndarray) -> np.ndarray:
        """Calls the model outside of the library, which is not busy meanwhile."""
        model = self._model_functions[0]
        return self._callbacks.in_model(outputs_of, model, x, self.columns)

    def draw(self, first: int, count: int, out: object = None) -> Any:
        """Draw noisy inputs, for programs that call the model themselves.

        Parameters
        ----------
        first, count : int
            The samples first .. first+count-1.
        out : array, optional
            On a device: an array of this shape with ``__cuda_array_interface__`` and no gaps. If
            the estimator has a `stream`, the draw is enqueued there, and nothing waits for it.

        Returns
        -------
        ndarray or DataFrame
            float32 of shape (count, inputs) or ``(count, *shape)``; or `out`.

        Examples
        --------
        >>> with certreg.Estimator(None, 2, 500, seed=1) as e:
        ...     e.begin([0.0, 1.0], 0.5)
        ...     x = e.draw(0, 500)
        ...     e.record(0, x.sum(axis=1))
        ...     e.certify(0, 1.0).certified
        True"""
        if out is not None and not self.on_device:
            raise ValueError("out is for memory of a CUDA device: make the estimator with device=")
        shape = (integer(count, "count"), *self.shape)
        if out is not None:
            address = device_address(out, shape, "out")
            self._call("draw", integer(first, "first"), shape[0], address)
            return out
        x = np.empty(shape, np.float32)
        self._call("draw", integer(first, "first"), shape[0], x.ctypes.data)
        self._missing[0].restore(x)
        return x if self._columns is None else self._columns.wrap(lambda frame: frame)(x)

    def record(self, first: int, y: ArrayLike) -> None:
        """Record outputs of the model.

        Parameters
        ----------
        first : int
            The first sample.
        y : array_like
            The outputs of the samples from `first` on, of shape (count,) or (count, columns). If
            the estimator has a `stream`, also an array on the device of at most `batch` rows, with
            ``__cuda_array_interface__``: work that writes it must be on the stream or finished."""
        if self.on_device and hasattr(y, "__cuda_array_interface__"):
            if not self._has_stream:
                raise ValueError("y is on a device, and nothing orders the work there: give stream")
            count = int(y.__cuda_array_interface__["shape"][0])
            address = device_address(y, (count, self.columns), "y")
            self._call("record", integer(first, "first"), count, address)
            return
        exact = self._turns and getattr(y, "dtype", None) != np.float32
        given = np.atleast_1d(numbers(y, np.float64 if exact else np.float32, "y"))
        shape, count = given.shape, len(given)
        if shape != (count, self.columns) and (shape != (count,) or self.columns != 1):
            raise ValueError(f"y has shape {shape}; it must be (count, {self.columns})")
        outputs = outputs_in_float32(given.reshape(count, self.columns), self._turns)
        self._call("record", integer(first, "first"), count, outputs.ctypes.data)

    def export(self) -> bytes:
        """Return the record as bytes for `import_`. Keep them secret, as they have the seed."""
        with self._calls:
            return exported(lambda *out: self._call("export", *out))

    def import_(self, data: bytes) -> None:
        """Add an exported record, to resume it or to merge shards.

        Make the estimator with the record's seed, and first call `begin` with the same z, sigma,
        noise_id and level.

        Parameters
        ----------
        data : bytes
            The result of `export`.

        Raises
        ------
        CertregError
            With ``Status.MISMATCH`` if the record is about another input or noise."""
        try:
            data = data if isinstance(data, bytes) else bytes(memoryview(data))
        except TypeError:
            text = f"data must be bytes, as export returns them, not {abbreviated(data)}"
            raise TypeError(text) from None
        self._call("import", data, len(data))

    def set_deadline(self, seconds: float | None) -> None:
        """Set a deadline for sampling and answers.

        Parameters
        ----------
        seconds : float or None
            Seconds from now; 0 or below: it has passed already; None: no deadline."""
        self._call("set_deadline", math.inf if seconds is None else number(seconds, "seconds"))

    def cancel(self) -> None:
        """Stop the running or next call after its batch. Any thread may call it."""
        with self._alive:
            lib.certreg_estimator_cancel(self._open())

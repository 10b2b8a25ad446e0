"""Samples a model around inputs, and certifies them."""

from __future__ import annotations

import ctypes as C
import dataclasses
import functools
import math
import os
import sys
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from . import structs as S
from .alternatives import Alternatives, Budget, ChangeSet, Found, Space
from .arguments import Data, Frame, Model, Names, Path, Scale, abbreviated, f64, given_seed, i32
from .arguments import integer, number, of_class, optional_function, path_of, pointer
from .arguments import positive, size_t
from .arrays import Memory, address_of, array_of, call_on_a_device, call_on_the_host, columns_of
from .arrays import device_address, numbers, optional_array, optional_scale, outputs_in_float32
from .arrays import outputs_of, shared_rows, turns_of, unnamed
from .attacks import AttackResult, Attacks
from .causes import cause
from .constants import AUDIT_DEFAULT, AUDIT_WHOLE, CHECK_ROWS, LEVELS_OF_A_DOMAIN, PLAN_ROUNDED
from .constants import Dependence, Output, Side, Status, constraints_of, member
from .denoise import check_sigmas, check_use, check_whole, function_of_rows
from .display import warn
from .frames import Columns, FrameLayout, by_names, check_exact, is_frame, rows_of, split_frame
from .inputs import WHOLE, Inputs, MissingCells, told_by
from .library import Callbacks, CertregError, Handle, ModelWarning, exported, lib, with_column_names
from .models import device_model
from .questions import Asked, Faulty, question_of, structs_of
from .queue import MOST_ROW, Input, Queue
from .results import Bounds, Certificate, Forecast, Run, refused_certificate

Answers: TypeAlias = Any  # a Certificate for one question, or a list for several
Values: TypeAlias = Any  # a float, or an array if the question is about a vector
FlatInput = tuple[np.ndarray, FrameLayout | None]
TARGET_PILOT = 30  # samples before the looks at a target (docs/benchmarks.md)
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


class Estimator(Handle):
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
    inputs : int, tuple, DataFrame or Inputs
        Number of features; or a shape such as (3, 32, 32), and the model then takes (rows, 3, 32,
        32); or a DataFrame. Inputs are then DataFrames of one row with its columns; model and scale
        are as for certify_rows. Or a description of the inputs, with the default of `scale`.
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
    faulty : Faulty, optional
        Features that may have any values, and how samples hide them. Experimental.
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

    Examples
    --------
    >>> model = lambda x: x[:, 0] + x[:, 1] * x[:, 2]
    >>> with certreg.Estimator(model, inputs=3, max_samples=1000, seed=42) as e:
    ...     c = e.certify([1, 0.5, -0.25], 0.25, 1000, 0.5)
    >>> c.outcome
    <Outcome.CERTIFIED: 1>"""

    _NAME = "estimator"
    _columns: Columns | None = None  # if inputs are DataFrames
    _names: Names = None  # of the features
    _told: Inputs  # what is known of the inputs
    _missing: list[MissingCells]  # of the input that has begun; the model is never called before
    _whole = 0  # rows of every call, of a model that takes no fewer
    _unknown: Mapping[int, set[float]] = {}  # marks that the description of rows lacks
    _unused_noise = 0  # greater than every noise id that was used
    _plan: tuple[S.Model, S.Plan, object]  # by which it was made, and the arrays of the model
    alternatives: Found | None = None  # of the last certify with alternatives

    def __init__(
        self,
        model: Model,
        inputs: int | Sequence[int] | Frame | Inputs,
        max_samples: int,
        *,
        outputs: int = 1,
        batch: int = 0,
        scale: Scale = None,
        kind: Kinds = None,
        lo: ArrayLike | None = None,
        hi: ArrayLike | None = None,
        faulty: Faulty | None = None,
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
        told = inputs if isinstance(inputs, Inputs) else None
        if is_frame(inputs):
            columns = cast(Columns, split_frame(inputs, scale, values=False)[1])
            told, scale = Inputs((len(columns.names),), None, columns), columns.scale
        if told:
            told = told.with_scale(told.scale if scale is None else scale)
            self._columns, self._names, inputs = told._columns, told.names, told.shape
            scale = told.scale if self._columns or (told.scale != 1).any() else None
        shape = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        if np.ndim(shape[0] if shape else 0):
            raise TypeError("inputs holds an array: give the shape of an input, X.shape[1:]")
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
        self._missing = []
        if self.on_device and not of_class(model, "torch.nn", "Module"):
            # all rows of a batch: a function may replay a graph of them
            self._whole = self._batch or sys.maxsize
        self._memory: list[Memory] = []  # of the estimator and of its attacks
        self._callbacks = Callbacks(self._calls)
        self._model_functions: list[Callable[..., Any]] = []
        own = told_by(None if self.on_device else model, self.shape, self._columns)
        self._told = (own if told is None else own._with_facts_of(told)).with_scale(arrays["scale"])
        self._told._refuse()
        self._eval, self._progress = self._functions(model, optional_function(progress, "progress"))
        addresses = {name: address_of(array) for name, array in arrays.items()}
        m = S.Model(
            eval=self._eval, inputs=self.inputs, outputs=self.outputs, batch=batch, **addresses
        )
        self._faulty = None if faulty is None else faulty._of(
            self.inputs, self._told.names, self._columns is not None
        )
        masks = None if self._faulty is None else self._faulty._struct(self.inputs)
        if masks:
            m.masks = C.pointer(masks[0])
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
        self._plan = m, p, (arrays, masks)  # which their addresses need

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

    def _noise(self, noise_id: int | None) -> int:
        """The noise id of a new input."""
        noise_id = integer(self._unused_noise if noise_id is None else noise_id, "noise_id")
        self._unused_noise = max(self._unused_noise, noise_id + 1)
        return noise_id

    def _input(self, given: Data, what: str = "z") -> FlatInput:
        """An input as a flat float32 array, and the layout of a DataFrame. An array (1, *shape) is
        one input too."""
        layout = None
        if self._columns is not None:
            z, layout = self._columns.row(given, what)
        else:
            each = np.atleast_1d(unnamed(given, what))
            each = each[0] if each.shape == (1, *self.shape) else each
            z = array_of(each, self.shape, np.float32, what)
            if self._scale is not None and each.shape == self.shape:
                check_exact(each[np.newaxis], self._scale, what)
        return z, layout

    def _inputs_of(self, X: Data) -> Iterator[FlatInput]:
        """The rows of X as _input returns them. Rows of a DataFrame have one layout, so that they
        can share batches, and codes instead of digests."""
        if self._columns is None:
            yield from (self._input(z, "X") for z in rows_of(X))
            return
        table = self._columns.table(X, "X")
        yield from ((z, table.layout) for z in table.matrix)

    def _error(self, status: int, why: S.Error) -> CertregError:
        """A failure, with the names of the columns and the likely cause in its text."""
        error = super()._error(status, why)
        error._raw += (more := cause(self._model, error._raw))
        error.args = (with_column_names(f"{error}{more}", self._names),)
        return error

    def _describe(self, told: Inputs | None) -> None:
        """Adds what is known of the inputs, which are arrays. Marks that only a model in this
        process knows are refused later, since nothing else has left them out."""
        if told is not None:
            own = self._told.marks.items()
            lacking = ((j, {*each} - {*told.marks.get(j, ())}) for j, each in own)
            self._unknown = {j: each for j, each in lacking if each}
            self._told = self._told._with_facts_of(told._of_arrays())
            self._names, self._told.marks = told.names, told.marks

    def _set_layout(self, layout: FrameLayout | None) -> None:
        """Sets the layout of the next batches, just before the library begins the input: batches of
        another input never have this layout."""
        if layout is not None and self._columns is not None:
            self._columns.layout.become(layout)

    def _missing_in(self, z: np.ndarray) -> MissingCells:
        """The missing cells of an input."""
        for j, each in self._unknown.items():
            if self._told.scale.flat[j] > 0 and float(z[j]) in each:
                raise ValueError(
                    f"feature {j} of the input is {z[j]:g}, which marks a missing cell for the "
                    "model; this was not known, since a factory is called only afterwards: give "
                    "inputs=certreg.Inputs.of(model, X) with the model itself"
                )
        found = WHOLE if self.on_device else self._told._missing_in(z)
        if found.some:
            check_whole(self._model, self._told._with_nan(z[None]))
        if found.at.size and self._faulty:
            self._faulty._refuse_missing()
        return found

    # ---- one input
    def begin(self, z: Data, sigma: float, noise_id: int | None = None, level: int = 0) -> None:
        """Start a new input and empty the record.

        Parameters
        ----------
        z : array_like or DataFrame
            The input: finite numbers of shape (inputs,), or of the shape given as inputs; or a
            DataFrame of one row, such as ``X.iloc[[0]]``, if the estimator was made with one. It is
            rounded to float32, and the certificate is about the rounded input. Features of a table
            may be NaN, which the model gets without noise: the certificate is about inputs with NaN
            for the same features.
        sigma : float
            Noise level > 0.
        noise_id : int, optional
            Noise id of the input; by default one more than the largest that this estimator has
            used, from 0. A call that fails may skip one. Give it to repeat an input or to import
            its record.
        level : int
            0; or k + 1 for the noise of ``sigmas[k]`` in `certify_sigmas`; or a level from a Domain
            on.

        Raises
        ------
        ValueError, TypeError
            For a wrong shape, or names that would be ignored.
        CertregError
            For numbers that the library refuses."""
        self._begin_flat(self._input(z), sigma, noise_id, level)

    def _begin_flat(self, z: FlatInput, sigma: float, noise_id: int | None, level: int = 0) -> None:
        """begin with an input as _input returns it."""
        sigma, level = number(sigma, "sigma"), integer(level, "level")
        with self._calls:
            self._begin(z[0], sigma, self._noise(noise_id), level, z[1])

    def info(self) -> Run:
        """Return the facts that all certificates of the current input share, with the seed."""
        return self._result(Run, "info")

    # ---- questions
    def certify(
        self,
        *arguments: object,
        noise_id: int | None = None,
        alternatives: ChangeSet | Sequence[ChangeSet] | None = None,
    ) -> Answers:
        """Certify the current input, or a new one.

        ``certify(total_samples, *questions)`` samples until the record has `total_samples`, pilot
        included, and answers the questions. With 0 it answers without sampling.
        ``certify(z, sigma, total_samples, *questions, noise_id=None)`` calls `begin` first.

        Parameters
        ----------
        *arguments
            See above. A question may be a number, its tolerance.
        noise_id : int, optional
            As for `begin`.
        alternatives : ChangeSet or sequence of ChangeSet, optional
            As for certify_rows, with a new input: `total_samples` is for all of them, and the
            attribute `alternatives` has what Rows.alternatives has. They use noise ids from 2^63
            on. The record of this estimator is empty afterwards. Experimental.

        Returns
        -------
        Certificate or list of Certificate
            One certificate for one question, and a list for several questions.

        Raises
        ------
        CertregError
            If the library refuses the call, or sampling fails.
        TypeError, ValueError
            For wrong arguments. An exception of the model is passed on.

        Examples
        --------
        >>> model = lambda x: x[:, 0] + x[:, 1] * x[:, 2]
        >>> with certreg.Estimator(model, inputs=3, max_samples=10_000, seed=42) as e:
        ...     c = e.certify([1, 0.5, -0.25], 0.25, 10_000, 0.5)
        >>> print(f"{c.prediction:.6f} {c.radius:.6f}")
        0.870862 0.407213"""
        begins = bool(arguments) and np.ndim(arguments[0]) > 0  # type: ignore[arg-type]
        if len(arguments) < (3 if begins else 1) or (noise_id is not None and not begins):
            raise TypeError(
                "certify takes (total_samples, *questions) or "
                "(z, sigma, total_samples, *questions, noise_id=None)"
            )
        if alternatives is not None:
            if not begins:
                raise TypeError("alternatives need a new input: give z and sigma too")
            return self._certify_all(arguments, noise_id, alternatives)
        with self._calls:
            if begins:
                z, sigma, *arguments = arguments  # type: ignore[assignment]
                self.begin(z, sigma, noise_id)  # type: ignore[arg-type]
            total, *questions = arguments
            samples = integer(total, "total_samples")
            certificates = self._certificates(
                questions, 1, lambda e, *a: int(lib.certreg_certify(e, samples, *a))
            )
        return certificates[0] if len(questions) == 1 else certificates

    def _certify_all(
        self, arguments: Sequence[Any], noise_id: int | None, given: object
    ) -> Answers:
        """certify with alternatives."""
        z, sigma, total, *asked = arguments
        flat, layout = self._input(z)
        columns = self._columns
        if columns is not None:  # values have codes in place of digests
            columns = columns.table(z, "z")
            flat, layout = columns.matrix[0], columns.layout
        space = Space(self.shape, self._scale, columns, None, self._told.marks)
        sets = Alternatives(given, space)
        questions = [question_of(question) for question in asked]
        samples = integer(total, "total_samples", 1)
        sigma, noise_id = number(sigma, "sigma"), self._noise(noise_id)
        if noise_id >= MOST_ROW:
            raise ValueError(f"with alternatives noise_id must be below {MOST_ROW}")
        stops = all(question.target is not None for question in questions)
        pilot = self._pilot or pilot_for(samples, stops)
        with self._calls:
            self._begin(flat, sigma, noise_id, 0, layout)  # no record of an earlier input is left
            self._plan[1].seed = self.info().seed
            cells, each = sets.cells(flat, Budget(questions, samples, pilot, sigma, self._kind))
            structs = structs_of(questions)
            plan = len(structs), samples, self._plan[0].batch or samples, 1, len(cells) - 1, pilot
            with Queue(self, *plan) as queue, self._callbacks.holding_interrupts():
                result = queue.certified(Input(0, cells, sigma, noise_id, 0, each, structs))
        self.alternatives = result.found
        made = [Certificate._of(S.Certificate.from_buffer_copy(c)) for c in result.certificates]
        return made[0] if len(made) == 1 else made

    def certify_outputs(
        self, total_samples: int, *questions: Asked
    ) -> tuple[Certificate, list[Certificate]]:
        """Certify one radius for all outputs together.

        Parameters
        ----------
        total_samples : int
            As for `certify`.
        *questions : Question or float
            Every output has one question, alone or within a vector.

        Returns
        -------
        combined : Certificate
            The certificate of all outputs.
        each : list of Certificate
            A certificate for each question."""
        combined, total = S.Certificate(), integer(total_samples, "total_samples")

        def call(e: C.c_void_p, *structs: object) -> int:
            return int(lib.certreg_certify_outputs(e, total, *structs, C.byref(combined)))

        each = self._certificates(questions, 1, call)
        return Certificate._of(combined), each

    def certify_sigmas(
        self,
        z: Data,
        sigmas: ArrayLike,
        total_samples: int,
        *questions: Asked,
        noise_id: int | None = None,
    ) -> list[Answers]:
        """Certify one input at several noise levels.

        The certificates of one question at all levels hold together: alpha is divided by the
        number of levels.

        Parameters
        ----------
        z, noise_id
            As for `begin`.
        sigmas : array_like
            Different noise levels > 0.
        total_samples : int
            Samples at each level, pilot included.
        *questions : Question or float
            The questions.

        Returns
        -------
        list
            For each level a certificate, or a list of certificates if there are several
            questions."""
        flat, layout = self._input(z)
        levels = np.ravel(numbers(sigmas, np.float64, "sigmas"))
        if len(levels) >= LEVELS_OF_A_DOMAIN:  # the next one would be noise of Domain.CALIBRATION
            raise ValueError(f"{len(levels)} sigmas; give at most {LEVELS_OF_A_DOMAIN - 1}")
        check_sigmas(self._model, levels.tolist())
        total = integer(total_samples, "total_samples")
        cells = self._missing_in(flat)
        z = cells.filled(flat)

        if self._unchecked and len(levels):
            with self._calls:
                self._begin(flat, float(levels[0]), 0, 0, layout)

        def call(e: C.c_void_p, *structs: object) -> int:
            self._set_layout(layout)
            self._missing[:] = [cells]
            given = (z.ctypes.data, levels.ctypes.data, len(levels), self._noise(noise_id))
            return int(lib.certreg_certify_sigmas(e, *given, total, *structs))

        found, count = self._certificates(questions, len(levels), call, cells), len(questions)
        if count == 1:
            return list(found)
        return [found[i : i + count] for i in range(0, len(found), count)]

    def certify_masks(self, z: Data, question: Asked) -> Certificate:
        """Certify an input against wrong features alone, without noise and alpha. Experimental.

        The model is evaluated for every set of `Faulty.shown` units, and the prediction is the
        median of these outputs. `faults` is the largest number of units that may have any values
        while the median of all sets stays within the tolerance of the prediction; the radius is 0.
        The record is empty afterwards. The model is not asked again, so test it by `model_check`.

        Parameters
        ----------
        z : array_like or DataFrame
            As for `begin`. max_samples must be at least the number of sets.
        question : Question or float
            About the median of one output.

        Returns
        -------
        Certificate
            `faults` above 0 if something is proved; `samples` is the number of sets.

        Examples
        --------
        >>> model = lambda x: np.nanmean(x, axis=1)
        >>> each = certreg.Faulty(shown=1)
        >>> with certreg.Estimator(model, inputs=5, max_samples=5, faulty=each) as e:
        ...     e.certify_masks([20.1, 20.2, 20.0, 19.9, 20.1], 1.0).faults
        2"""
        flat, layout = self._input(z)
        q = question_of(question)._struct()
        out = S.Certificate.from_buffer_copy(refused_certificate())
        with self._calls:
            cells = self._missing_in(flat)
            self._set_layout(layout)
            self._missing[:] = [cells]
            given = cells.filled(flat).ctypes.data, C.byref(q), C.byref(out)
            self._call(lib.certreg_certify_masks, *given, around=self._callbacks)
        return Certificate._of(out)

    def output_bounds(self, total_samples: int, radius: float, *questions: Asked) -> Answers:
        """Bound the statistic for all shifts that are shorter than a radius.

        Parameters
        ----------
        total_samples : int
            As for `certify`.
        radius : float
            Radius > 0, in units of the input divided by its scale.
        *questions : Question or float
            The questions.

        Returns
        -------
        Certificate or list of Certificate
            As for `certify`; `output_lo` and `output_hi` are the bounds."""
        total, radius = integer(total_samples, "total_samples"), number(radius, "radius")

        def call(e: C.c_void_p, structs: object, count: object, out: object) -> int:
            return int(lib.certreg_output_bounds(e, total, structs, count, radius, out))

        certificates = self._certificates(questions, 1, call)
        return certificates[0] if len(questions) == 1 else certificates

    def _certificates(
        self,
        questions: Sequence[object],
        times: int,
        call: Callable[..., int],
        cells: MissingCells | None = None,
    ) -> list[Certificate]:
        """Makes a call(estimator, questions, their number, certificates) of the library. Returns
        the certificates, `times` for each question. `cells`: of the input that the call begins."""
        structs = structs_of([question_of(question) for question in questions])
        if not questions or not times:
            raise ValueError("no question or no noise level is given: give at least one of each")
        for present in self._missing if cells is None else [cells]:
            present.check()
        times *= len(questions)
        out = (S.Certificate * times)(*[refused_certificate()] * times)
        try:
            self._call(call, structs, len(questions), out, around=self._callbacks)
        except CertregError as error:
            error.certificates = [Certificate._of(c) for c in out]
            raise
        return [Certificate._of(c) for c in out]

    def _begin(
        self,
        z: np.ndarray,
        sigma: float,
        noise_id: int,
        level: int,
        layout: FrameLayout | None = None,
    ) -> None:
        """begin with a flat float32 array without gaps."""
        check_sigmas(self._model, [sigma])
        self._open()
        cells = self._missing_in(z)
        self._set_layout(layout)
        with self._calls:
            self._missing.clear()  # an exception, such as Ctrl-C, must leave no cells of another z
            self._call("begin_level", cells.filled(z).ctypes.data, sigma, noise_id, level)
            self._missing.append(cells)
        if self._unchecked:
            self.model_check(self._whole or CHECK_ROWS)

    def model_check(self, rows: int = 0) -> Dependence:
        """Check that outputs of the model depend on their own row only.

        Other dependences make certificates false. The check uses 19 noisy copies of the input that
        has begun, before its first sample, and by default one call of a whole batch. It is no
        proof.

        Parameters
        ----------
        rows : int
            Rows of the largest small call; 0: 4, and a call of a whole batch. The number of rows of
            a batch: rows of every call.

        Returns
        -------
        Dependence
            ``Dependence.NONE``; or ``Dependence.CALL``, with a ModelWarning, if a second call with
            the same rows gives other outputs: the model is random, or has a state. A state then
            holds these rows.

        Raises
        ------
        CertregError
            If an output depends on other rows or on their order."""
        found, why = self._model_checked(integer(rows, "rows"))
        if why.status:
            raise why
        self._unchecked = False
        if found:  # a remark
            warn(str(why), ModelWarning)
        return found

    def _model_checked(self, rows: int) -> tuple[Dependence, CertregError]:
        """The result of model_check, and the text about it."""
        found = i32()
        with self._callbacks:
            status = lib.certreg_model_check(self._open(), rows, C.byref(found))
            why = self._failure(status)
        return Dependence(found.value), why

    def bounds(self, question: Asked, side: Side | int | str) -> Bounds:
        """Return the bounds that were used for one side of a question.

        Parameters
        ----------
        question : Question or float
            A question that the record answers.
        side : Side, int or str
            For example `limiting_side` of the certificate.

        Returns
        -------
        Bounds
            Without constraints if the method abstains."""
        struct = question_of(question)._struct()
        return self._result(Bounds, "bounds", C.byref(struct), member(Side, side, "side"))

    def prediction(self, question: Asked) -> Values:
        """Return the prediction that a question is about, from the pilot or as given.

        Parameters
        ----------
        question : Question or float
            The question. The pilot must be complete; no other sample is read.

        Returns
        -------
        float or ndarray
            A number; for a vector an array with a number for each of its outputs."""
        return self._values("prediction", question)

    def estimate(self, question: Asked) -> Values:
        """Return the statistic of all noisy samples of the record, which a server returns.

        Make the server's estimator with ``pilot=NO_PILOT``, begin with a new noise id, sample, and
        call this with the certified question. Beside a certificate it has no guarantee of its own,
        and it is an evaluation of the record.

        Parameters
        ----------
        question : Question or float
            The question; its target and constraints are not used. With serving it needs exactly
            ``serving.samples`` noisy samples.

        Returns
        -------
        float or ndarray
            As for `prediction`. Without samples it is the prediction of the question, or nan."""
        return self._values("estimate", question)

    def _values(self, call: str, question: Asked) -> Values:
        """One number of a question, or one for each output of its vector."""
        asked = question_of(question)
        # The call itself refuses a question about more outputs than there are.
        count = min(asked.outputs_of(self.outputs), self.outputs)
        out, struct = (f64 * count)(), asked._struct()
        self._call(call, C.byref(struct), out)
        return np.array(out) if asked.is_vector else float(out[0])

    def forecast(self, question: Asked) -> Forecast:
        """Return a forecast of the samples that a target takes, without a guarantee.

        Parameters
        ----------
        question : Question
            A question about the median, with a target."""
        return self._result(Forecast, "forecast", C.byref(question_of(question)._struct()))

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

        Experimental. Fresh noise proves that the shift breaks the tolerance. The record is only
        read, and has to answer the question.

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
        along = optional_array(cast(Any, direction), self.shape, np.float32, "direction")
        options = S.AttackOptions(
            calls=integer(calls, "calls"), number=integer(number, "number"),
            alpha=0.0 if alpha is None else positive(alpha, "alpha"), direction=address_of(along),
        )  # fmt: skip
        with self._calls:
            handle = self._attacked(options.calls)
            result = handle.attack(question, options, self.certify, self.shape, self._callbacks)
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
        X: Data,
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
            self._call(lib.certreg_audit_next, *given, around=self._callbacks)

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


def pilot_for(samples: int, stops: bool) -> int:
    """The pilot before the looks at a target, or that the library chooses for so many samples."""
    if stops:
        return min(TARGET_PILOT, samples // 4)
    with Estimator(None, 1, samples) as estimator:
        estimator.begin([0.0], 1.0)
        return estimator.info().pilot

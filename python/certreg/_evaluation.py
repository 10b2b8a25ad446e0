"""The part of an Estimator that begins inputs and answers questions about them."""

from __future__ import annotations

import ctypes as C
import warnings
from typing import Any, Callable, Iterator, Sequence, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _structs as S
from ._arguments import integer, member, number
from ._arrays import array_of, numbers, unnamed
from ._calls import Callbacks, Handle
from ._categorical import CategoricalFeatures
from ._causes import cause
from ._ctypes import f64, i32
from ._library import lib
from ._missing import WHOLE, MissingCells
from ._messages import with_column_names
from ._queue import MOST_ROW, Input, Queue, pilot_for
from ._types import Inputs, Model, Names, Shape
from .alternatives import Alternatives, Budget, ChangeSet, Found, Space
from .constants import CHECK_ROWS, LEVELS_OF_A_DOMAIN, Dependence, Side
from .denoised import check_sigmas
from .errors import CertregError, ModelWarning
from .frames import Columns, FrameLayout, check_exact, rows_of
from .questions import Asked, Question, question_of, structs_of
from .results import Bounds, Certificate, Forecast, Run, refused_certificate

Answers: TypeAlias = Any  # a Certificate for one question, or a list for several
Values: TypeAlias = Any  # a float, or an array if the question is about a vector
FlatInput = tuple[np.ndarray, FrameLayout | None]


class Evaluator(Handle):
    """The part of an Estimator that begins inputs and answers questions."""

    shape: Shape
    outputs: int
    _callbacks: Callbacks
    _model: Model = None
    _columns: Columns | None = None  # if inputs are DataFrames
    _names: Names = None  # of the features
    _categorical: CategoricalFeatures | None = None  # of the model
    on_device = False
    _unchecked = False  # if the model has to be checked at the next input
    _missing: list[MissingCells]  # of the input that has begun; the model is never called before
    _noisy: np.ndarray | None  # True for each feature with noise; None: no cell may be missing
    _whole = 0  # rows of every call, of a model that takes no fewer
    _unused_noise = 0  # greater than every noise id that was used
    _scale: np.ndarray | None = None
    _kind: np.ndarray | None = None
    _pilot = 0  # as it was given
    _plan: tuple[S.Model, S.Plan, object]  # by which it was made, and the arrays of the model
    alternatives: Found | None = None  # of the last certify with alternatives

    def _noise(self, noise_id: int | None) -> int:
        """The noise id of a new input."""
        noise_id = integer(self._unused_noise if noise_id is None else noise_id, "noise_id")
        self._unused_noise = max(self._unused_noise, noise_id + 1)
        return noise_id

    def _input(self, given: Inputs, what: str = "z") -> FlatInput:
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
        if self._categorical:
            self._categorical.check(z)
        return z, layout

    def _inputs_of(self, X: Inputs) -> Iterator[FlatInput]:
        """The rows of X as _input returns them. Rows of a DataFrame have one layout, so that they
        can share batches, and codes instead of digests."""
        if self._columns is None:
            yield from (self._input(z, "X") for z in rows_of(X))
            return
        table = self._columns.table(X, "X")
        if self._categorical:
            self._categorical.check(table.matrix)
        yield from ((z, table.layout) for z in table.matrix)

    def _error(self, status: int, why: S.Error) -> CertregError:
        """A failure, with the names of the columns and the likely cause in its text."""
        error = super()._error(status, why)
        error._raw += (more := cause(self._model, error._raw))
        error.args = (with_column_names(f"{error}{more}", self._names),)
        return error

    def _set_layout(self, layout: FrameLayout | None) -> None:
        """Sets the layout of the next batches, just before the library begins the input: batches of
        another input never have this layout."""
        if layout is not None and self._columns is not None:
            self._columns.layout.become(layout)

    def _missing_in(self, z: np.ndarray) -> MissingCells:
        """The missing cells of an input."""
        if self._noisy is None or not np.isnan(z).any():
            return WHOLE
        return MissingCells(z, self._noisy, self._model)

    # ---- one input
    def begin(self, z: Inputs, sigma: float, noise_id: int | None = None, level: int = 0) -> None:
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
        out = S.Run()
        self._call("info", C.byref(out))
        return Run._of(out)

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
        sets = Alternatives(given, Space(self.shape, self._scale, columns, None))
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
            with Queue(cast(Any, self), *plan) as queue, self._callbacks.holding_interrupts():
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
        z: Inputs,
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
            self._called(call, structs, len(questions), out, around=self._callbacks)
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
            warnings.warn(str(why), ModelWarning, stacklevel=4)
        return found

    def _model_checked(self, rows: int) -> tuple[Dependence, CertregError]:
        """The result of model_check, and the text about it."""
        found = i32()
        with self._callbacks:
            status = lib.certreg_model_check(self._open(), rows, C.byref(found))
            why = self._failure(status)
        return Dependence(found.value), why

    def _certify_into(
        self,
        total: int,
        questions: "C.Array[S.Question]",
        radius: float | None,
        first: S.Certificate,
    ) -> None:
        """certify, or output_bounds if there is a radius, with structs, which are fast to make.
        `first` is the first certificate of an array with one for each question."""
        call = lib.certreg_certify if radius is None else lib.certreg_output_bounds
        radii = [] if radius is None else [radius]
        given = total, questions, len(questions), *radii, C.byref(first)
        self._called(call, *given, around=self._callbacks)

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
        out, struct = S.Bounds(), question_of(question)._struct()
        self._call("bounds", C.byref(struct), member(Side, side, "side"), C.byref(out))
        return Bounds._of(out)

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
        """Predict the number of samples for the target of a question, without a guarantee.

        Parameters
        ----------
        question : Question
            A question about the median, with a target.

        Returns
        -------
        Forecast
            The least and the expected number of samples."""
        out, struct = S.Forecast(), question_of(question)._struct()
        self._call("forecast", C.byref(struct), C.byref(out))
        return Forecast._of(out)

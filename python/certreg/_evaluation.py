"""Inputs of an estimator, and answers to questions about each."""

from __future__ import annotations

import ctypes as C
import warnings
from typing import Any, Callable, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as S
from ._arrays import Shape, array_of, numbers, unnamed
from ._calls import Callbacks, Handle
from ._library import lib
from ._messages import with_column_names
from .results import Bounds, Certificate, Forecast, Run, refused_certificate
from ._arguments import integer, member, number
from ._ctypes import f64, i32
from .constants import LEVELS_OF_A_DOMAIN, Dependence, Side
from .denoised import check_sigmas
from .errors import CertregError, ModelWarning
from .names import Names
from .questions import Asked, question_of, structs_of


class Evaluator(Handle):
    """The part of an Estimator that begins inputs and answers questions."""

    shape: Shape
    outputs: int
    _callbacks: Callbacks
    _model: Any = None
    _columns: Any = None  # frames.Columns, if inputs are DataFrames
    _names: Names = None  # of the features
    _categorical: Any = None  # CategoricalFeatures of the model
    _unchecked = False  # whether the model has to be checked at the next input
    _whole = 0  # rows of every call, of a model that takes no fewer
    _unused_noise = 0  # greater than every noise id that was used

    def _noise(self, noise_id: Optional[int]) -> int:
        """The noise id of a new input."""
        noise_id = integer(self._unused_noise if noise_id is None else noise_id, "noise_id")
        self._unused_noise = max(self._unused_noise, noise_id + 1)
        return noise_id

    def _input(self, z: Any, what: str = "z") -> Tuple[Any, Any]:
        """An input as a flat float32 array, and its form if it is a DataFrame. An array (1, *shape)
        is one input too."""
        form = None
        if self._columns is not None:
            z, form = self._columns.row(z, what)
        else:
            z = np.atleast_1d(unnamed(z, what))
            z = z[0] if z.shape == (1, *self.shape) else z
            z = array_of(z, self.shape, np.float32, what)
        if self._categorical:
            self._categorical.check(z)
        return z, form

    def _error(self, status: int, why: Any) -> CertregError:
        """A failure, in a sentence with the names of the columns."""
        error = super()._error(status, why)
        error.args = (with_column_names(str(error), self._names),)
        return error

    def _takes(self, form: Any) -> None:
        """The next batches are of an input of this form. It is called just before the library
        begins the input, so that no batch of another one has its form."""
        if form is not None:
            self._columns.form.becomes(form)

    # ---- one input
    def begin(self, z: Any, sigma: float, noise_id: Optional[int] = None, level: int = 0) -> None:
        """Starts a new input and empties the record.

        z         the input: finite numbers of shape (inputs,), or of the shape given as inputs; or
                  a DataFrame of one row, as X.iloc[[0]], if a DataFrame was given as inputs.
                  They are rounded to float32, and the certificate is about the rounded input
        sigma     noise level > 0
        noise_id  noise id of the input. None: one more than the largest that this estimator has
                  used, beginning with 0. A call that fails may skip one. Give it to repeat an
                  input or to import its record
        level     0; or k + 1 for the noise of sigmas[k] in certify_sigmas; or a level from a
                  Domain on

        Raises ValueError for a wrong shape, TypeError for names that would be ignored, and
        CertregError for numbers that the library refuses."""
        self._begin_flat(self._input(z), sigma, noise_id, level)

    def _begin_flat(
        self, z: Tuple[Any, Any], sigma: float, noise_id: Optional[int], level: int = 0
    ) -> None:
        """begin with an input as _input returns it."""
        sigma, level = number(sigma, "sigma"), integer(level, "level")
        with self._calls:
            self._begin(z[0].ctypes.data, sigma, self._noise(noise_id), level, z[1])

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
                questions, 1, lambda e, *a: lib.certreg_certify(e, total, *a)
            )
        return certificates[0] if len(questions) == 1 else certificates

    def certify_outputs(
        self, total_samples: int, *questions: Asked
    ) -> Tuple[Certificate, list[Certificate]]:
        """One radius for all outputs together. Every output has one question, alone or within a
        vector. Returns the combined certificate, and a list with one certificate for each
        question."""
        combined, total = S.Certificate(), integer(total_samples, "total_samples")

        def call(e: Any, *asked: Any) -> int:
            return int(lib.certreg_certify_outputs(e, total, *asked, C.byref(combined)))

        each = self._asked(questions, 1, call)
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
        z, form = self._input(z)
        sigmas = np.ravel(numbers(sigmas, np.float64, "sigmas"))
        if len(sigmas) >= LEVELS_OF_A_DOMAIN:  # the next one would be noise of Domain.CALIBRATION
            raise ValueError(f"{len(sigmas)} sigmas; give at most {LEVELS_OF_A_DOMAIN - 1}")
        check_sigmas(self._model, sigmas.tolist())
        total = integer(total_samples, "total_samples")

        if self._unchecked and len(sigmas):
            with self._calls:
                self._begin(z.ctypes.data, float(sigmas[0]), 0, 0, form)

        def call(e: Any, *asked: Any) -> int:
            self._takes(form)
            levels = (z.ctypes.data, sigmas.ctypes.data, len(sigmas))
            return int(lib.certreg_certify_sigmas(e, *levels, self._noise(noise_id), total, *asked))

        flat, count = self._asked(questions, len(sigmas), call), len(questions)
        return flat if count == 1 else [flat[i : i + count] for i in range(0, len(flat), count)]

    def output_bounds(self, total_samples: int, radius: float, *questions: Asked) -> Any:
        """Bounds the statistic for all shifts shorter than the radius, > 0. Returns certificates as
        certify does, in which output_lo and output_hi are the bounds."""
        total, radius = integer(total_samples, "total_samples"), number(radius, "radius")

        def call(e: Any, asked: Any, count: int, out: Any) -> int:
            return int(lib.certreg_output_bounds(e, total, asked, count, radius, out))

        certificates = self._asked(questions, 1, call)
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
        out = (S.Certificate * times)(*[refused_certificate()] * times)
        try:
            self._called(call, asked, len(questions), out, around=self._callbacks)
        except CertregError as error:
            error.certificates = [Certificate._of(c) for c in out]
            raise
        return [Certificate._of(c) for c in out]

    def _begin(
        self, address: int, sigma: float, noise_id: int, level: int, form: Any = None
    ) -> None:
        """begin with the address of an input."""
        check_sigmas(self._model, [sigma])
        self._open()
        self._takes(form)
        self._call("begin_level", address, sigma, noise_id, level)
        if self._unchecked:
            self.model_check(self._whole)

    def model_check(self, rows: int = 0) -> Dependence:
        """Looks for outputs that depend on more than their row, which makes certificates false, by
        19 noisy copies of the input that has begun; none of its samples may be taken yet. Warns
        if the same rows once more have other outputs (Dependence.CALL): the model is random, or
        has a state, which then holds these rows. Raises CertregError if an output depends on other
        rows or their order. It is no proof.

        rows  of the largest call; 0: 4. As many as a batch has: of every call"""
        found, why = self._model_checked(integer(rows, "rows"))
        if why.status:
            raise why
        self._unchecked = False
        if found == Dependence.CALL:
            warnings.warn(str(why), ModelWarning, stacklevel=4)
        return found

    def _model_checked(self, rows: int) -> Tuple[Dependence, CertregError]:
        """What model_check finds, and the sentence about it."""
        found = i32()
        with self._callbacks:
            status = lib.certreg_model_check(self._open(), rows, C.byref(found))
            why = self._failure(status)
        return Dependence(found.value), why

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
        out, struct = (f64 * count)(), asked._struct()
        self._call(call, C.byref(struct), out)
        return np.array(out) if asked.is_vector else float(out[0])

    def forecast(self, question: Asked) -> Forecast:
        """Predicts how many samples the target of the question takes. This is not a guarantee."""
        out, struct = S.Forecast(), question_of(question)._struct()
        self._call("forecast", C.byref(struct), C.byref(out))
        return Forecast._of(out)

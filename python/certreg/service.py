"""Deployed loops, each bound to its certificate."""

from __future__ import annotations

import ctypes as C
import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import structs as S
from .arguments import integer, not_negative, number, size_t
from .arrays import Memory, array_of, optional_scale
from .constants import Source
from .estimator import Estimator, Values
from .library import Handle, lib
from .questions import Asked, question_of
from .results import Certificate, _Result


@dataclasses.dataclass(frozen=True)
class Tick:
    """A tick of a service. Experimental.

    Attributes
    ----------
    value : float or ndarray
        The action, for a vector an array; of `sense` the noisy reading.
    source : Source
        ANSWERED, or why the value is the fallback.
    number : int
        Number of the tick since the start.
    left : float
        The radius that is left about the reading; in an episode the certificate's radius.
    seconds : float
        Time that the call took."""

    value: Any
    source: Source
    number: int
    left: float
    seconds: float


@dataclasses.dataclass(frozen=True)
class ServiceLog(_Result):
    """Counts of a service since it was made. Experimental. The repr leaves out the seed.

    Attributes
    ----------
    seed : int
        Seed of the noise since the last start; `start` repeats a log with it. Keep it secret until
        the run has ended.
    question_digest, input_digest : int
        Digests of the certificate that is served.
    starts, ticks : int
        Ticks of all starts.
    answered, outside, failed : int
        Ticks by source, without LATE.
    late : int
        Ticks that took longer than the deadline, or were LATE."""

    seed: int = dataclasses.field(repr=False)
    question_digest: int
    input_digest: int
    starts: int
    ticks: int
    answered: int
    outside: int
    failed: int
    late: int


class Service(Handle):
    """A deployed loop, bound to what an estimator has certified. Experimental.

    It takes noise, scale, sigma, masks and statistic from the estimator, and refuses a question or
    an input that the certificate is not about. Call `start`, and then in each tick `sense` for an
    episode (the estimator has PLAN_EPISODE), else `act`: with ``Question(serving=...)`` it gives
    the statistic of fresh samples, otherwise the certified prediction, and both only within the
    certified ball. Its calls and the estimator's take turns.

    Parameters
    ----------
    estimator : Estimator
        The one that certified, with the certified input begun. It has to stay open.
    question : Question or float
        The certified question.
    certificate : Certificate, optional
        Its answer. None: there is no anchor yet, and every act is OUTSIDE.
    ticks : int
        Ticks of an episode; its rows have ``inputs / ticks`` readings of each.
    deadline : float, optional
        Seconds that a tick may take.
    reading_error : float
        The length, in ``||delta / scale||``, below which the error of a reading stays: at least
        this radius has to be left about it. Not for episodes.
    fallback : float or sequence of float, optional
        The action of a tick without an answer, for each output; by default NaN.

    Raises
    ------
    CertregError
        With ``Status.MISMATCH`` if question, input, scale or sigma is not the certificate's.

    Examples
    --------
    >>> with certreg.Estimator(lambda x: x[:, 0] + x[:, 1], inputs=2, max_samples=1000) as e:
    ...     c = e.certify([1.0, 2.0], 0.25, 1000, 0.5)
    ...     with certreg.Service(e, 0.5, c, fallback=0.0) as service:
    ...         service.start()
    ...         near, far = service.act([1.0, 2.1]), service.act([5.0, 2.0])
    >>> near.value == c.prediction, far.value, far.source.name
    (True, 0.0, 'OUTSIDE')"""

    _NAME = "service"

    def __init__(
        self,
        estimator: Estimator,
        question: Asked,
        certificate: Certificate | None = None,
        *,
        ticks: int = 0,
        deadline: float | None = None,
        reading_error: float = 0.0,
        fallback: ArrayLike | None = None,
    ) -> None:
        super().__init__()
        self._estimator = estimator
        if estimator._columns is not None:
            raise ValueError(
                "a service takes arrays, and the estimator DataFrames: make one with inputs=, the "
                "number of columns, and a model of arrays"
            )
        asked, why, size = question_of(question), S.Error(), size_t()
        self._calls = estimator._calls
        self._outputs = min(asked.outputs_of(estimator.outputs), estimator.outputs)
        self._ticks = integer(ticks, "ticks")
        plan = S.ServicePlan(
            ticks=self._ticks,
            deadline=0.0 if deadline is None else number(deadline, "deadline"),
            reading_error=not_negative(reading_error, "reading_error"),
        )
        if fallback is not None:
            instead = array_of(np.atleast_1d(fallback), (self._outputs,), np.float64, "fallback")
            plan.fallback = instead.ctypes.data
        answer = None if certificate is None else C.byref(certificate._struct())
        with self._calls:
            given = self._certified(), C.byref(asked._struct())
            status = lib.certreg_service_size(*given, C.byref(plan), why, C.byref(size))
            self._made(status, why)
            self._memory = Memory(size.value)
            plan.memory, plan.memory_bytes = self._memory.address, size.value
            made = answer, C.byref(plan), why, C.byref(self._handle)
            self._made(lib.certreg_service_create(*given, *made), why)
            estimator._memory.append(self._memory)  # the model's arrays are in it

    def _free(self) -> None:
        super()._free()
        of_model = self._estimator._memory
        of_model[:] = [block for block in of_model if block is not getattr(self, "_memory", None)]

    def _certified(self) -> C.c_void_p:
        """The handle of the estimator. Raises ValueError if it is closed, or if cells of the
        certified input are missing, which a reading does not have."""
        handle = self._estimator._open()
        if any(cells.some for cells in self._estimator._missing):
            raise ValueError("cells of the certified input are missing: a service takes whole rows")
        return handle

    def start(self, seed: int | None = None) -> None:
        """Start the first or the next run: an episode, or any number of acts.

        Parameters
        ----------
        seed : int, optional
            None: secret noise. Else the seed of a log (`info`), to repeat its ticks; such noise
            serves nobody."""
        if seed == 0:
            raise ValueError("seed is 0: leave it out for secret noise")
        self._call("start", 0 if seed is None else integer(seed, "seed", 1))

    def sense(self, reading: ArrayLike) -> Tick:
        """Add the noise of an episode's next tick to a reading.

        Parameters
        ----------
        reading : array_like
            ``inputs / ticks`` finite numbers.

        Returns
        -------
        Tick
            The noisy reading, float32; NaN for a sensor that is hidden in this episode.

        Raises
        ------
        CertregError
            With ``Status.OUT_OF_RANGE`` if a reading is NaN or far away: the episode then counts as
            outside the tolerance. With ``Status.TOO_MANY`` after all ticks."""
        sensors = self._estimator.inputs // (self._ticks or 1)
        given = array_of(np.atleast_1d(reading), (sensors,), np.float32, "reading")
        return self._tick("sense", given, np.empty(sensors, np.float32))

    def act(self, reading: Any) -> Tick:
        """Answer about one reading: the statistic of fresh samples, or the prediction.

        Parameters
        ----------
        reading : array_like
            As z of `Estimator.begin`, without missing cells. With ``Question(faults=k)`` any k
            units may have any values, also NaN.

        Returns
        -------
        Tick
            The action, or the fallback.

        Raises
        ------
        CertregError
            If the reading cannot carry noise, or the model fails. Act on your fallback then."""
        with self._calls:
            given, _ = self._estimator._input(reading, "reading")
            return self._tick("act", given, np.empty(self._outputs, np.float64))

    def _tick(self, verb: str, given: np.ndarray, out: np.ndarray) -> Tick:
        tick = S.Tick()
        self._certified()
        arrays = given.ctypes.data, out.ctypes.data
        self._call(verb, *arrays, C.byref(tick), around=self._estimator._callbacks)
        value: Values = float(out[0]) if verb == "act" and out.size == 1 else out
        return Tick(value, Source(tick.source), tick.number, tick.left, tick.seconds)

    def anchor(self, z: Any, certificate: Certificate) -> None:
        """Replace the certificate and its input, as after a tick OUTSIDE.

        Parameters
        ----------
        z : array_like
            The certified input.
        certificate : Certificate
            The answer to the same question at the same sigma."""
        given, _ = self._estimator._input(z)
        self._call("anchor", given.ctypes.data, C.byref(certificate._struct()))

    def certificate(self) -> Certificate:
        """Return the certificate that is served.

        For an episode it is shorter by the part of the grid: it holds for the deployed loop."""
        return self._result(Certificate, "certificate")

    def info(self) -> ServiceLog:
        """Return what the service has done, for logs."""
        return self._result(ServiceLog, "info")


def episode_sense(
    reading: ArrayLike, noise: ArrayLike, sigma: float, scale: ArrayLike | None = None
) -> np.ndarray:
    """Add the noise of rows to readings, in the model of an episode. Experimental.

    It is what `Service.sense` does in the deployed loop.

    Parameters
    ----------
    reading : array_like
        Shape (episodes, sensors): what the sensors report in one tick of each simulated episode.
    noise : array_like
        The same shape: the numbers of this tick in the rows that the model got.
    sigma : float
        Noise level of the certificate.
    scale : array_like, optional
        Scale of each sensor; by default 1.

    Returns
    -------
    ndarray
        float32 of this shape. A row of NaN is an episode that failed, since a reading is not finite
        or too far away: return NaN for it.

    Examples
    --------
    >>> certreg.episode_sense([[1.0, 2.0]], [[0.25, -0.5]], 0.5)
    array([[1.25, 1.5 ]], dtype=float32)"""
    noises = np.ascontiguousarray(noise, np.float32)
    if noises.ndim != 2:
        raise ValueError(f"noise has shape {noises.shape}; it must be (episodes, sensors)")
    readings = array_of(reading, noises.shape, np.float32, "reading")
    scales = optional_scale(scale, noises.shape[1:])
    out, (rows, sensors) = np.empty_like(noises), noises.shape
    each = None if scales is None else scales.ctypes.data
    arrays = noises.ctypes.data, sensors, readings.ctypes.data, out.ctypes.data
    lib.certreg_episode_sense(number(sigma, "sigma"), each, sensors, rows, *arrays)
    return out

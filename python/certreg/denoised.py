"""A denoiser in front of a model that was not trained under noise."""

from __future__ import annotations

import ctypes as C
import hashlib
import os
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _structs as S
from . import frames
from ._arrays import Shape, address_of, kept_in, numbers, scale_of
from ._calls import Callbacks, Calls
from ._files import replace_arrays
from ._library import lib
from ._arguments import integer, number, path_of
from ._ctypes import pointer
from .errors import check, written
from .models import as_model, is_factory

_VERSION = 1  # of files
_CHUNK = 256  # rows at a time


class _Filter:
    """The library's denoiser. No call changes it, so any number of threads can use it at once."""

    def __init__(self, make: Callable[[Any, Any], int]) -> None:
        """`make(why, out)` is a call of certreg_denoiser_create or certreg_denoiser_import."""
        why, self.handle, self.facts = S.Error(), pointer(), S.DenoiserFacts()
        check(make(C.byref(why), C.byref(self.handle)), why)
        check(lib.certreg_denoiser_info(self.handle, C.byref(self.facts)))

    def __del__(self) -> None:
        lib.certreg_denoiser_destroy(self.handle)

    def __reduce__(self) -> Any:
        return _imported, (self.export(),)

    def export(self) -> bytes:
        return written(lambda *out: check(lib.certreg_denoiser_export(self.handle, *out)))


def _imported(data: bytes) -> _Filter:
    return _Filter(lambda why, out: lib.certreg_denoiser_import(data, len(data), why, out))


def _fitted(X: np.ndarray, sigma: float, scale: np.ndarray, components: int) -> _Filter:
    callbacks = Callbacks(Calls())

    def copied(first: int, count: int, address: int) -> None:
        there = (C.c_float * (count * scale.size)).from_address(address)
        np.frombuffer(there, np.float32)[:] = _flat(X[first : first + count]).ravel()

    plan = S.DenoiserPlan(
        inputs=scale.size,
        rows=len(X),
        read=S.READ(lambda _, *where: callbacks.guarded(copied, *where)),
        sigma=sigma,
        scale=address_of(scale),
        components=components,
    )
    with callbacks:
        return _Filter(lambda *out: int(lib.certreg_denoiser_create(C.byref(plan), *out)))


def _flat(X: np.ndarray) -> np.ndarray:
    """Some rows as float32 of shape (rows, features)."""
    with np.errstate(over="ignore"):
        return numbers(X, np.float32, "X").reshape(len(X), -1)


def _marks(X: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """64 bits for each row, by which it is known again: by its features with noise, since codes of
    other columns differ from one DataFrame to the next."""
    marks = []
    for at in range(0, len(X), _CHUNK):
        rows = _flat(X[at : at + _CHUNK])[:, scale.ravel() > 0] + np.float32(0)  # -0 becomes 0
        marks += [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows]
    return np.frombuffer(b"".join(marks), "<u8")


class Denoised:
    """A model behind a denoiser, which takes most of the noise away before the model sees it. For
    models that were not trained under noise: these have short radii. It is a model as others are,
    for certify_rows, Estimator, Calibrated and check_model, at its own sigma and scale.

        denoised = Denoised(model, examples, sigma=0.25)
        rows = certify_rows(denoised, X, denoised.sigma, 0.5)

    The certificates are about the model behind this denoiser: whoever serves the prediction has to
    use the same one (compare `digest`), after the noise. They tell how stable the prediction is,
    not how good: compare_denoised compares errors and radii with and without it.

    model       as for Estimator, or a factory
    X           examples of inputs without labels, as for certify_rows; they are read a few at a
                time, so X may be a memory map. They must not be calibration points of Calibrated,
                and on rows that are among them radii are longer than on others
    sigma       noise level > 0 of the certificates
    scale       as for certify_rows. Features that have scale 0 stay as they are, and change no
                other
    components  most directions in which the examples vary that are kept; 0: 256

    `shape` is that of an input, and `scale` has it, in float32. It can be pickled if the model can,
    or is a factory. Several threads may use it at once if they may use the model. Raises ValueError
    and TypeError for wrong shapes and types, and CertregError for what the library refuses, or if
    its module for BLAS is missing."""

    def __init__(
        self, model: Any, X: Any, sigma: float, scale: Any = None, components: int = 0
    ) -> None:
        self._set_model(model)
        X, columns, scale = frames.split_frame(X, scale)
        self.shape: Shape = X.shape[1:]
        self._names: Optional[Sequence[str]] = None if columns is None else columns.names
        self.scale: np.ndarray = _scale(scale, self.shape)
        components = integer(components, "components")
        self._filter = _fitted(X, number(sigma, "sigma"), self.scale, components)
        self._seen = np.unique(_marks(X, self.scale))

    def _set_model(self, model: Any) -> None:
        self._model = _bare(model)
        self._function: Any = None
        if not is_factory(model):
            self._inner()

    def _inner(self) -> Callable[[Any], Any]:
        """The model as a function. A factory makes it when it is first needed."""
        if self._function is None:
            made = _bare(self._model()) if is_factory(self._model) else self._model
            self._function = as_model(made)
        function: Callable[[Any], Any] = self._function
        return function

    @property
    def sigma(self) -> float:
        """The noise level that it was made for."""
        return float(self._filter.facts.sigma)

    @property
    def digest(self) -> str:
        """Of the denoiser without the model, as certreg_denoiser_info has it: 16 hexadecimal
        digits."""
        return f"{self._filter.facts.digest:016x}"

    @property
    def components(self) -> int:
        """The number of directions that are kept."""
        return int(self._filter.facts.components)

    @property
    def error(self) -> float:
        """Mean squared error of a denoised feature in units of the noise, estimated from examples
        that were held back. 1: it is of no use; 0: nothing is left of the noise."""
        return float(self._filter.facts.error)

    def __repr__(self) -> str:
        said = f"sigma={self.sigma:g}, components={self.components}, error={self.error:.3g}"
        return f"Denoised({said}, digest={self.digest})"

    def __getstate__(self) -> Any:
        return {**vars(self), "_function": None}  # made again by _inner

    def apply(self, x: Any) -> Any:
        """Denoises noisy inputs, (rows, *shape), or a DataFrame with the columns of X. A row of the
        result depends on its own row only, and has the same bits everywhere."""
        if frames.is_frame(x):
            columns = frames.Columns(x, self.scale)
            self._check_names(columns)
            return columns.wrap(lambda frame: frame)(self.apply(columns.matrix))
        x = np.ascontiguousarray(numbers(x, np.float32, "x"))
        if x.shape[1:] != self.shape:
            raise ValueError(f"x has shape {x.shape}; it must be (rows, {str(self.shape)[1:]}")
        y = np.empty_like(x)
        addresses = x.ctypes.data, len(x), y.ctypes.data
        check(lib.certreg_denoiser_apply(self._filter.handle, *addresses))
        return y

    def __call__(self, x: Any) -> Any:
        """The outputs of the model for the denoised inputs."""
        return self._inner()(self.apply(x))

    def _check_names(self, columns: Any) -> None:
        if columns.names != self._names:
            made = "an array" if self._names is None else f"the columns {', '.join(self._names)}"
            raise ValueError(
                f"the denoiser was made from {made}, not from {', '.join(columns.names)}: give "
                "the same columns in the same order"
            )

    def export(self) -> bytes:
        """The denoiser as bytes, for certreg_denoiser_import in other languages. They contain
        neither the model nor the examples."""
        return self._filter.export()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the denoiser to a file, with 64 bits of each example, and without the model."""
        kept: dict[str, Any] = dict(version=_VERSION, scale=self.scale, examples=self._seen)
        kept["denoiser"] = np.frombuffer(self.export(), np.uint8)
        replace_arrays(path_of(path), names=np.array(self._names or [], str), **kept)

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"], model: Any) -> "Denoised":
        """The denoiser of a file of save, before this model. Raises ValueError if the file is
        none."""
        made = cls.__new__(cls)
        made._set_model(model)
        with kept_in(path, "denoiser", _VERSION) as kept:
            made.scale = np.ascontiguousarray(kept["scale"], np.float32)
            made.shape, made._names = made.scale.shape, kept["names"].tolist() or None
            made._filter, made._seen = _imported(kept["denoiser"].tobytes()), kept["examples"]
            if made._filter.facts.inputs != made.scale.size:
                raise ValueError("its scale does not fit")
        return made


def _bare(model: Any) -> Any:
    """The model. Raises ValueError if it has a denoiser."""
    if isinstance(model, Denoised):
        raise ValueError("the model denoises already, and a second denoiser gains nothing")
    return model


def _scale(scale: Any, shape: Shape) -> np.ndarray:
    return np.asarray(scale_of(1 if scale is None else scale, shape)).reshape(shape)


# ---- where models are used ----------------------------------------------------------------------
def made_of(model: Any) -> Any:
    """The model itself, in this process, if it is a factory. Raises ValueError if a factory makes a
    Denoised, which has to be known beforehand."""
    if isinstance(model, Denoised):
        model._inner()
        return model
    made = model() if is_factory(model) else model
    if isinstance(made, Denoised):
        raise ValueError("the factory makes a Denoised: give Denoised(factory, ...) instead")
    return made


def function_of_rows(model: Any, columns: Any) -> Callable[[Any], Any]:
    """A model as a function of arrays, whose rows stand for those of a DataFrame if these are its
    frames.Columns."""
    if columns is None:
        return as_model(model)
    if not isinstance(model, Denoised):
        return columns.wrap(as_model(model))  # type: ignore[no-any-return]
    inner = columns.wrap(model._inner())
    return lambda x: inner(model.apply(x))


def check_use(
    model: Any,
    shape: Shape,
    scale: Any,
    columns: Any = None,
    sigmas: Sequence[float] = (),
    on_device: bool = False,
) -> None:
    """Raises ValueError if a Denoised was made for another shape, scale, frames.Columns or noise
    level."""
    if not isinstance(model, Denoised):
        return
    if on_device:
        raise ValueError("a denoiser works in the memory of the host: leave out device")
    if columns is not None:
        model._check_names(columns)
    if shape != model.shape:
        raise ValueError(
            f"inputs (rows of X) have shape {shape}, and the denoiser was made for {model.shape}"
        )
    if not np.array_equal(_scale(scale, shape), model.scale):
        raise ValueError("scale is not the one of the denoiser: give that, or make another one")
    check_sigmas(model, sigmas)


def check_sigmas(model: Any, sigmas: Sequence[float]) -> None:
    """Raises ValueError if a Denoised was made for another noise level."""
    others = [s for s in sigmas if s != model.sigma] if isinstance(model, Denoised) else []
    if others:
        raise ValueError(
            f"sigma is {others[0]}, and the denoiser was made for {model.sigma} alone: give that, "
            "or make a denoiser for each"
        )


def digest_of(model: Any) -> str:
    """The digest of a Denoised; empty for other models."""
    return model.digest if isinstance(model, Denoised) else ""


def examples_among(model: Any, X: np.ndarray) -> np.ndarray:
    """The indices of the rows of X that made the denoiser of a model, if it has one."""
    if not isinstance(model, Denoised) or X.shape[1:] != model.shape:
        return np.empty(0, np.intp)
    return np.flatnonzero(np.isin(_marks(X, model.scale), model._seen))


def remark_on_examples(model: Any, X: np.ndarray) -> list[str]:
    """A sentence if rows of X made the denoiser of a model."""
    known = len(examples_among(model, X))
    said = f"{known} of the {len(X)} rows made the denoiser: their radii are longer than others"
    return [said] if known else []

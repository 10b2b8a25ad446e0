"""A denoiser in front of a model that was not trained under noise."""

from __future__ import annotations

import copy
import ctypes as C
import hashlib
import os
from typing import Any, Callable, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as S
from . import frames
from ._arrays import Shape, address_of, inputs_of, numbers, scale_of
from ._calls import Callbacks, Calls
from ._library import lib
from .constants import Status, integer, path_of, positive
from .errors import CertregError, check
from .models import as_model, is_factory

_VERSION = 1  # of files
_CHUNK = 256  # rows at a time


class _Filter:
    """The library's denoiser. No call changes it, so any number of threads can use it at once."""

    def __init__(self, make: Callable[[Any, Any], int]) -> None:
        """`make(why, out)` is a call of certreg_denoiser_create or certreg_denoiser_import."""
        why, self._handle, self.facts = S.Error(), S.pointer(), S.DenoiserFacts()
        check(make(C.byref(why), C.byref(self._handle)), why)
        check(lib.certreg_denoiser_info(self._handle, C.byref(self.facts)))

    def __del__(self) -> None:
        lib.certreg_denoiser_destroy(self._handle)

    def __reduce__(self) -> Any:
        return _imported, (self.export(),)

    def export(self) -> bytes:
        size = S.size_t(0)
        check(lib.certreg_denoiser_export(self._handle, None, C.byref(size)))
        buffer = C.create_string_buffer(size.value)
        check(lib.certreg_denoiser_export(self._handle, buffer, C.byref(size)))
        return buffer.raw[: size.value]

    def apply(self, x: np.ndarray) -> np.ndarray:
        """Denoises float32 of shape (rows, *shape)."""
        x = np.ascontiguousarray(x)
        y = np.empty_like(x)
        check(lib.certreg_denoiser_apply(self._handle, x.ctypes.data, len(x), y.ctypes.data))
        return y


def _imported(data: bytes) -> _Filter:
    return _Filter(lambda why, out: lib.certreg_denoiser_import(data, len(data), why, out))


def _fitted(examples: "_Examples", sigma: float, scale: np.ndarray, components: int) -> _Filter:
    """Makes a filter. Raises ValueError for examples or a scale that the library refuses, and
    CertregError if it fails otherwise."""
    callbacks = Callbacks(Calls())

    def copied(first: int, count: int, x: Any) -> None:
        rows = examples.rows(first, count)
        np.ctypeslib.as_array(x, rows.shape)[...] = rows

    plan = S.DenoiserPlan(
        inputs=scale.size,
        rows=len(examples),
        read=S.READ(lambda _, *where: callbacks.guarded(copied, *where)),
        sigma=sigma,
        scale=address_of(scale),
        components=components,
    )

    def create(why: Any, out: Any) -> int:
        with callbacks:
            return int(lib.certreg_denoiser_create(C.byref(plan), why, out))

    try:
        return _Filter(create)
    except CertregError as error:
        if error.status != Status.INVALID:
            raise
        raise ValueError(str(error)) from error


class _Examples:
    """Rows of an array as float32, a few at a time: it may be larger than memory."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X

    def __len__(self) -> int:
        return len(self.X)

    def rows(self, first: int, count: int) -> np.ndarray:
        """Of shape (count, features)."""
        with np.errstate(over="ignore"):
            some = numbers(self.X[first : first + count], np.float32, "X")
        return some.reshape(len(some), -1)

    def marks(self, noisy: np.ndarray) -> np.ndarray:
        """64 bits for each row, by which it is known again: by its features with noise, since codes
        of other columns differ from one DataFrame to the next."""
        marks = [self._marks(at, noisy) for at in range(0, len(self), _CHUNK)]
        return np.frombuffer(b"".join(marks), "<u8")

    def _marks(self, first: int, noisy: np.ndarray) -> bytes:
        rows = self.rows(first, _CHUNK)[:, noisy] + np.float32(0)  # the two zeros are one number
        return b"".join(hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows)


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
    X           examples of inputs without labels, finite numbers of shape (rows, features) or
                (rows, *shape), or a DataFrame; they are read a few at a time, so X may be a memory
                map. They must not be calibration points of Calibrated, and on rows that are among
                them radii are longer than on others
    sigma       noise level > 0 of the certificates
    scale       as for certify_rows. Features that have scale 0 stay as they are, and change no
                other
    components  most directions in which the examples vary that are kept; 0: 256

    `shape` is that of an input, and `scale` has it, in float32. It can be pickled if the model can,
    or is a factory. Several threads may use it at once if they may use the model. Raises ValueError
    and TypeError for wrong arguments, and CertregError with Status.NO_BACKEND if the library's
    module for BLAS is missing."""

    def __init__(
        self, model: Any, X: Any, sigma: float, scale: Any = None, components: int = 0
    ) -> None:
        self._set_model(model)
        sigma, columns = positive(sigma, "sigma"), None
        if frames.is_frame(X):
            columns = frames.Columns(X, scale)
            X, scale = columns.matrix, columns.scale
        X = inputs_of(X)
        if len(X) < 2:
            raise ValueError("X has 1 row; a denoiser needs at least 2 examples")
        given = scale_of(1 if scale is None else scale, X.shape[1:])
        if not (np.isfinite(given) & (given >= 0)).all() or not given.any():
            raise ValueError("scale must hold finite numbers of at least 0, not all of them 0")
        self._set(X.shape[1:], given, None if columns is None else columns.names)
        examples = _Examples(X)
        self._filter = _fitted(examples, sigma, given, integer(components, "components"))
        self._marks = np.unique(examples.marks(given > 0))

    def _set_model(self, model: Any) -> None:
        _check_bare(model)
        self._model, self._factory = model, is_factory(model)
        self._function: Any = None if self._factory else as_model(model)

    def _set(self, shape: Any, scale: np.ndarray, names: Optional[Sequence[str]]) -> None:
        self.shape: Shape = tuple(int(length) for length in shape)
        self.scale, self._names = scale.reshape(self.shape), names

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

    # ---- use
    def apply(self, x: Any) -> Any:
        """Denoises noisy inputs, (rows, *shape), or a DataFrame with the columns of X. A row of the
        result depends on its own row only, and has the same bits everywhere."""
        if frames.is_frame(x):
            columns = frames.Columns(x, self.scale)
            self._check_names(columns)
            return columns.wrap(lambda frame: frame)(self.apply(columns.matrix))
        x = numbers(x, np.float32, "x")
        if x.shape[1:] != self.shape:
            raise ValueError(f"x has shape {x.shape}; it must be (rows, {str(self.shape)[1:]}")
        return self._filter.apply(x)

    def __call__(self, x: Any) -> Any:
        """The outputs of the model for the denoised inputs."""
        return self._inner()(self.apply(x))

    def _inner(self) -> Callable[[Any], Any]:
        """The model as a function. A factory makes it when it is first needed."""
        if self._function is None:
            made = self._model() if self._factory else self._model
            _check_bare(made)
            self._function = as_model(made)
        function: Callable[[Any], Any] = self._function
        return function

    def _on(self, columns: Any) -> "Denoised":
        """The same for rows of an array that stand for those of a DataFrame."""
        on = copy.copy(self)
        on._function = columns.wrap(self._inner())
        return on

    def _check_names(self, columns: Any) -> None:
        if columns.names != self._names:
            made = "an array" if self._names is None else f"the columns {', '.join(self._names)}"
            raise ValueError(
                f"the denoiser was made from {made}, not from {', '.join(columns.names)}: give "
                "the same columns in the same order"
            )

    # ---- files
    def export(self) -> bytes:
        """The denoiser as bytes, for certreg_denoiser_import in other languages. They contain
        neither the model nor the examples."""
        return self._filter.export()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the denoiser to a file, with 64 bits of each example, and without the model."""
        with open(path_of(path), "wb") as file:
            np.savez(
                file,
                version=_VERSION,
                denoiser=np.frombuffer(self.export(), np.uint8),
                scale=self.scale,
                names=np.array(self._names or [], str),
                examples=self._marks,
            )

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"], model: Any) -> "Denoised":
        """The denoiser of a file of save, before this model. Raises ValueError if the file is
        none."""
        path, made = path_of(path), cls.__new__(cls)
        made._set_model(model)
        try:
            with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                kept = {name: file[name] for name in file.files}
            if kept["version"] != _VERSION:
                raise ValueError("another version wrote it; make the denoiser again")
            scale, names = np.ascontiguousarray(kept["scale"], np.float32), kept["names"].tolist()
            made._set(scale.shape, scale.ravel(), names or None)
            made._filter, made._marks = _imported(kept["denoiser"].tobytes()), kept["examples"]
            if made._filter.facts.inputs != scale.size:
                raise ValueError("its scale does not fit")
        except FileNotFoundError:
            raise
        except Exception as error:  # what numpy and zipfile raise for damaged files is not told
            said = " ".join(str(error).split())
            raise ValueError(f"{path} is no denoiser: {said}") from None
        return made


def _check_bare(model: Any) -> None:
    if isinstance(model, Denoised):
        raise ValueError("the model denoises already, and a second denoiser gains nothing")


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
    return model._on(columns) if isinstance(model, Denoised) else columns.wrap(as_model(model))


def check_use(
    model: Any, shape: Shape, scale: Any, columns: Any = None, on_device: bool = False
) -> None:
    """Raises ValueError if a Denoised was made for another shape, scale or frames.Columns."""
    if not isinstance(model, Denoised):
        return
    if on_device:
        raise ValueError("a denoiser works in the memory of the host: leave out device")
    if columns is not None:
        model._check_names(columns)
    if tuple(shape) != model.shape:
        raise ValueError(
            f"inputs (rows of X) have shape {tuple(shape)}, and the denoiser was made for "
            f"{model.shape}"
        )
    given = scale_of(1 if scale is None else scale, model.shape)
    if not np.array_equal(given, model.scale.ravel()):
        raise ValueError("scale is not the one of the denoiser: give that, or make another one")


def check_sigmas(model: Any, sigmas: Sequence[float]) -> None:
    """Raises ValueError if a Denoised was made for another noise level."""
    others = [s for s in sigmas if s != model.sigma] if isinstance(model, Denoised) else []
    if others:
        raise ValueError(
            f"sigma is {others[0]}, and the denoiser was made for {model.sigma} alone: give that, "
            "or make a denoiser for each"
        )


def digest_of(model: Any) -> Optional[str]:
    """The digest of a Denoised; None for other models."""
    return model.digest if isinstance(model, Denoised) else None


def of_examples(model: Any, X: np.ndarray) -> str:
    """A sentence if rows of X made the denoiser of a model."""
    known = len(examples_among(model, X))
    said = f"{known} of the {len(X)} rows made the denoiser: their radii are longer than others"
    return said if known else ""


def examples_among(model: Any, X: np.ndarray) -> np.ndarray:
    """The indices of the rows of X that made the denoiser of a model, if it has one."""
    if not isinstance(model, Denoised):
        return np.empty(0, np.intp)
    noisy = model.scale.ravel() > 0
    return np.flatnonzero(np.isin(_Examples(X).marks(noisy), model._marks))

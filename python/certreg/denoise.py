"""A denoiser in front of a model that was not trained under noise."""

from __future__ import annotations

import ctypes as C
import hashlib
from typing import Any, Callable, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from . import structs as S
from . import frames
from .arguments import Data, Function, Model, Names, Path, Scale, Shape, integer, number, path_of
from .arguments import pointer
from .arrays import address_of, arrays_in_file, numbers, scale_of
from .files import replace_arrays
from .library import Callbacks, Calls, check, exported, lib
from .models import as_model, is_factory

_VERSION = 1  # of files
_CHUNK = 256  # rows at a time


def _flat(X: np.ndarray) -> np.ndarray:
    """Some rows as float32 of shape (rows, features)."""
    with np.errstate(over="ignore"):
        return numbers(X, np.float32, "X").reshape(len(X), -1)


def digests_of_rows(X: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """A digest of 64 bits for each row, of its features with noise: codes of exact columns differ
    from one DataFrame to the next."""
    digests = []
    for at in range(0, len(X), _CHUNK):
        rows = _flat(X[at : at + _CHUNK])[:, scale.ravel() > 0] + np.float32(0)  # -0 becomes 0
        digests += [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows]
    return np.frombuffer(b"".join(digests), "<u8")


class Denoised:
    """A model behind a denoiser, which removes most of the noise before the model gets the input.

    Experimental. Models that were not trained under noise have short radii; a denoiser makes them
    longer. It is a model for certify_rows, Estimator, Calibrated and check_model, at its own sigma
    and scale. The certificates are about the model behind this denoiser: a server must apply the
    same denoiser (compare `digest`), after the noise. They show how stable the prediction is, not
    how good: compare_denoised compares errors and radii with and without it. It can be pickled if
    the model can, or is a factory. Several threads may use it at once if they may use the model.

    Parameters
    ----------
    model : object
        As for Estimator, or a factory.
    X : array_like or DataFrame
        Examples of inputs without labels, as for certify_rows. They are read a few at a time, so X
        may be a memory map. They must not be calibration points of Calibrated. Radii of these rows
        are longer than radii of other rows.
    sigma : float
        Noise level > 0 of the certificates.
    scale : array_like, mapping, Series or {"std", "iqr"}, optional
        As for certify_rows. Features with scale 0 stay unchanged, and change no other feature.
    components : int
        Most directions of variation among the examples that are kept; 0: 256.

    Attributes
    ----------
    shape : tuple of int
        Shape of an input.
    scale : ndarray
        The scale, float32 of this shape.

    Raises
    ------
    CertregError
        For arguments that the library refuses, or if its module for BLAS is missing.

    Examples
    --------
    >>> examples = np.linspace(0, 1, 100)[:, None] * [1.0, 2.0]
    >>> denoised = certreg.Denoised(lambda x: x.sum(axis=1), examples, sigma=0.25)
    >>> denoised.components, denoised.shape
    (1, (2,))"""

    def __init__(
        self, model: Model, X: Data, sigma: float, scale: Scale = None, components: int = 0
    ) -> None:
        self._set_model(model)
        examples, columns, numbers_of_scale = frames.split_frame(X, scale)
        self.shape: Shape = examples.shape[1:]
        self._names: Names = None if columns is None else columns.names
        self.scale = scale_of(numbers_of_scale, self.shape).reshape(self.shape)
        callbacks = Callbacks(Calls())

        def copied(first: int, count: int, address: int) -> None:
            there = (C.c_float * (count * self.scale.size)).from_address(address)
            np.ctypeslib.as_array(there)[:] = _flat(examples[first : first + count]).ravel()

        plan = S.DenoiserPlan(
            inputs=self.scale.size,
            rows=len(examples),
            read=S.READ(lambda _, *where: callbacks.guarded(copied, *where)),
            sigma=number(sigma, "sigma"),
            scale=address_of(self.scale),
            components=integer(components, "components"),
        )
        with callbacks:
            self._open(lambda *out: int(lib.certreg_denoiser_create(C.byref(plan), *out)))
        self._examples = np.unique(digests_of_rows(examples, self.scale))

    def _open(self, make: Callable[..., int]) -> None:
        """Takes the library's denoiser, which no call changes, so any number of threads can use it
        at once. `make(why, out)` calls certreg_denoiser_create or certreg_denoiser_import."""
        why, self._handle, self._facts = S.Error(), pointer(), S.DenoiserFacts()
        check(make(C.byref(why), C.byref(self._handle)), why)
        check(lib.certreg_denoiser_info(self._handle, C.byref(self._facts)))

    def _import(self, data: bytes) -> None:
        self._open(lambda *out: int(lib.certreg_denoiser_import(data, len(data), *out)))

    def __del__(self) -> None:
        lib.certreg_denoiser_destroy(getattr(self, "_handle", None))

    def __getstate__(self) -> dict[str, object]:
        made = {"_function": None, "_handle": None, "_facts": self.export()}  # made again
        return {**vars(self), **made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop("_facts")
        self.__dict__.update(state)
        self._import(data)

    def _set_model(self, model: Model) -> None:
        self._model = _bare(model)
        self._function: Function | None = None
        if not is_factory(model):
            self._inner()

    def _inner(self) -> Function:
        """The model as a function. A factory makes it on demand."""
        if self._function is None:
            self._function = as_model(_bare(_made(self._model)))
        return self._function

    @property
    def sigma(self) -> float:
        """The noise level of the denoiser."""
        return float(self._facts.sigma)

    @property
    def digest(self) -> str:
        """Digest of the denoiser without the model: 16 hexadecimal digits."""
        return f"{self._facts.digest:016x}"

    @property
    def components(self) -> int:
        """The number of directions that are kept."""
        return int(self._facts.components)

    @property
    def error(self) -> float:
        """Mean squared error of a denoised feature, divided by the mean square of its noise;
        estimated from examples that were held back. 1: the denoiser is useless; 0: all noise is
        removed."""
        return float(self._facts.error)

    def __repr__(self) -> str:
        facts = f"sigma={self.sigma:g}, components={self.components}, error={self.error:.3g}"
        return f"Denoised({facts}, digest={self.digest})"

    def apply(self, x: Data) -> Any:
        """Denoise noisy inputs.

        Parameters
        ----------
        x : array_like or DataFrame
            Inputs ``(rows, *shape)``, or a DataFrame with the columns of the examples.

        Returns
        -------
        ndarray or DataFrame
            The denoised inputs, in the shape of x. Each row depends on its own row of x only, and
            has the same bits on every platform."""
        if frames.is_frame(x):
            columns = frames.Columns(x, self.scale)
            self._check_names(columns)
            return columns.wrap(lambda frame: frame)(self.apply(columns.matrix))
        noisy = np.ascontiguousarray(numbers(x, np.float32, "x"))
        if noisy.shape[1:] != self.shape:
            raise ValueError(f"x has shape {noisy.shape}; it must be (rows, {str(self.shape)[1:]}")
        y = np.empty_like(noisy)
        addresses = noisy.ctypes.data, len(noisy), y.ctypes.data
        check(lib.certreg_denoiser_apply(self._handle, *addresses))
        return y

    def __call__(self, x: Data) -> Any:
        """The outputs of the model for the denoised inputs."""
        return self._inner()(self.apply(x))

    def _check_names(self, columns: frames.Columns) -> None:
        if columns.names != self._names:
            made = "an array" if self._names is None else f"the columns {', '.join(self._names)}"
            raise ValueError(
                f"the denoiser was made from {made}, not from {', '.join(columns.names)}: give "
                "the same columns in the same order"
            )

    def export(self) -> bytes:
        """Return the denoiser as bytes for other languages, without the model and the examples."""
        return exported(lambda *out: check(lib.certreg_denoiser_export(self._handle, *out)))

    def save(self, path: Path) -> None:
        """Write the denoiser to a file, with 64 bits of each example, without the model.

        Parameters
        ----------
        path : str or path
            Path of the file."""
        replace_arrays(
            path_of(path),
            version=_VERSION,
            scale=self.scale,
            examples=self._examples,
            denoiser=np.frombuffer(self.export(), np.uint8),
            names=np.array(self._names or [], str),
        )

    @classmethod
    def load(cls, path: Path, model: Model) -> "Denoised":
        """Return a model behind the denoiser of a file.

        Parameters
        ----------
        path : str or path
            A file of `save`.
        model : object
            The model.

        Raises
        ------
        ValueError
            If the file is of another kind or damaged."""
        made = cls.__new__(cls)
        made._set_model(model)
        with arrays_in_file(path, "denoiser", _VERSION) as kept:
            made.scale = np.ascontiguousarray(kept["scale"], np.float32)
            made.shape, made._names = made.scale.shape, kept["names"].tolist() or None
            made._examples = kept["examples"]
            made._import(kept["denoiser"].tobytes())
            if made._facts.inputs != made.scale.size:
                raise ValueError("its scale does not fit")
        return made


def _made(model: Model) -> Model:
    """The model of a factory, made in this process; another model unchanged."""
    return cast(Callable[[], Model], model)() if is_factory(model) else model


def _bare(model: Model) -> Model:
    """The model. Raises ValueError if it has a denoiser."""
    if isinstance(model, Denoised):
        raise ValueError("the model denoises already, and a second denoiser gains nothing")
    return model


# ---- uses of models -----------------------------------------------------------------------------
def made_of(model: Model) -> Model:
    """_made. Raises ValueError if a factory makes a Denoised, which has to be known beforehand."""
    if isinstance(model, Denoised):
        model._inner()
        return model
    made = _made(model)
    if isinstance(made, Denoised):
        raise ValueError("the factory makes a Denoised: give Denoised(factory, ...) instead")
    return made


def function_of_rows(model: Model, columns: frames.Columns | None) -> Function:
    """A model as a function of arrays; with `columns` the arrays are rows of a DataFrame."""
    if columns is None:
        return as_model(model)
    if not isinstance(model, Denoised):
        return columns.wrap(as_model(model))
    denoised, inner = model, columns.wrap(model._inner())
    return lambda x: inner(denoised.apply(x))


def check_use(
    model: Model,
    shape: Shape,
    scale: ArrayLike | None,
    columns: frames.Columns | None = None,
    sigmas: Sequence[float] = (),
    on_device: bool = False,
) -> None:
    """Raises ValueError if a Denoised was made for another shape, scale or noise level, or for
    other columns."""
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
    if not np.array_equal(scale_of(scale, shape), model.scale.ravel()):
        raise ValueError("scale is not the denoiser's: give its scale, or make another denoiser")
    check_sigmas(model, sigmas)


def check_sigmas(model: Model, sigmas: Sequence[float]) -> None:
    """Raises ValueError if a Denoised was made for another noise level."""
    for sigma in sigmas:
        if isinstance(model, Denoised) and sigma != model.sigma:
            raise ValueError(
                f"sigma is {sigma}, and the denoiser was made for {model.sigma} alone: give this "
                "sigma, or make a denoiser for each sigma"
            )


def check_whole(model: Model, X: np.ndarray) -> None:
    """Raises ValueError if a cell of X that gets noise is missing and the model has a denoiser,
    which mixes all features with noise."""
    if isinstance(model, Denoised) and X.ndim == 2:
        bad = np.argwhere(np.isnan(X) & (model.scale > 0))
        if len(bad):
            raise ValueError(
                f"X[{bad[0, 0]}, {bad[0, 1]}] is missing, and the denoiser mixes it with other "
                "features: fill it, or leave out the denoiser"
            )


def digest_of(model: Model) -> str:
    """The digest of a Denoised; empty for other models."""
    return model.digest if isinstance(model, Denoised) else ""


def examples_among(model: Model, X: np.ndarray) -> np.ndarray:
    """The indices of the rows of X among the examples of the model's denoiser, if it has one."""
    if not isinstance(model, Denoised) or X.shape[1:] != model.shape:
        return np.empty(0, np.intp)
    return np.flatnonzero(np.isin(digests_of_rows(X, model.scale), model._examples))


def remark_on_examples(model: Model, X: np.ndarray) -> list[str]:
    """A text if rows of X are among the examples of the model's denoiser."""
    known = len(examples_among(model, X))
    text = f"{known} of the {len(X)} rows made the denoiser: they have longer radii than other rows"
    return [text] if known else []

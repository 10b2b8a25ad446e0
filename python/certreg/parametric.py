"""Models of a few parameters from which inputs are made, such as the box of a crop of an image.
Their certificates are about the parameters."""

from __future__ import annotations

import math
from typing import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .arguments import DType, Data, Model, Names, abbreviated, integer, listed, optional_function
from .arrays import check_finite, numbers
from .frames import is_frame, order
from .models import as_model
from .onnx_file import agree, lengths, shape_text

_BYTES = 1 << 24  # of inputs at a time
_MOST_DECIBELS = 200.0
_MOST_PERCENT = 400.0  # a side of 1/55 to 55 times the box


class Parametric:
    """A model of the parameters from which its inputs are made: g(p) = model(make(p)).

    It is a model for certify_rows, Estimator, Calibrated and check_model. Its certificates are
    about changes of p and of nothing else. Inputs are made a few at a time, at most 16 MiB or one
    row. It can be pickled if model, make and back can.

    Parameters
    ----------
    model : object
        As for Estimator.
    make : callable
        Function from parameters, float64 of shape (rows, parameters), to inputs of the model,
        (rows, ...): Crops, GainAndShift, Combinations or another one. It must return an input for
        all finite parameters, since the noise is Gaussian, and each row must depend on its own
        parameters only. It is called once with parameters of 0, to check its shape.
    names : sequence of str, optional
        Names of the parameters, for DataFrames; by default ``make.names``.
    back : callable, optional
        Function of the outputs of the model and of the parameters, both float64 of shape (rows,
        ...), that returns the outputs to certify; by default the outputs of the model.

    Examples
    --------
    >>> loudness = certreg.Parametric(
    ...     lambda x: abs(x).max(axis=1), certreg.GainAndShift([0.0, 1.0, 0.0]))
    >>> rows = certreg.certify_rows(loudness, [[0.0, 0.0]], 1, 0.5, seed=1, progress=False)
    >>> loudness.feature_names_in_, rows.certificate(0).certified
    (['gain', 'shift'], True)"""

    def __init__(
        self,
        model: Model,
        make: Callable[[np.ndarray], ArrayLike],
        names: Names = None,
        back: Callable[[np.ndarray, np.ndarray], ArrayLike] | None = None,
    ) -> None:
        if not callable(make):
            raise TypeError(f"make must be a function, not {abbreviated(make)}")
        self._model, self._make, self._back = as_model(model), make, optional_function(back, "back")
        own = list(getattr(make, "names", ()))
        self.feature_names_in_ = _named(own if names is None else names)
        if own and len(own) != len(self.feature_names_in_):
            raise ValueError(f"names must be {len(own)} names, for {', '.join(own)}")
        first = self._made(np.zeros((1, len(self.feature_names_in_))))
        self._rows = max(1, _BYTES // max(1, first.nbytes))

    def __call__(self, p: Data) -> np.ndarray:
        """The outputs for parameters of shape (rows, parameters), or for a DataFrame."""
        names, given = self.feature_names_in_, p
        if is_frame(p):
            given = p.iloc[:, order(list(p.columns), names, "the DataFrame", "the model")]
        rows = numbers(given, np.float64, "p")
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise ValueError(f"p has shape {rows.shape}; it must be (rows, {len(names)}): {names}")
        check_finite(rows, rows, "p")
        # Without rows there is one empty piece, which shows the number of outputs.
        pieces = [rows[at : at + self._rows] for at in range(0, max(1, len(rows)), self._rows)]
        # A model may return its own memory, which the next call overwrites.
        return np.concatenate([self._outputs(piece).copy() for piece in pieces])

    def _outputs(self, p: np.ndarray) -> np.ndarray:
        y = numbers(self._model(self._made(p)), np.float64, "the output of the model")
        if y.ndim < 1 or len(y) != len(p):
            raise ValueError(f"the model returned shape {y.shape} for {len(p)} rows")
        if self._back is None:
            return y
        return numbers(self._back(y, p), np.float64, "the result of back")

    def _made(self, p: np.ndarray) -> np.ndarray:
        x = numbers(self._make(p), np.float32, "the result of make")
        if x.ndim < 2 or len(x) != len(p):
            raise ValueError(f"make returned shape {x.shape}; it must be ({len(p)}, ...)")
        return np.ascontiguousarray(x)


class Crops:
    """Makes inputs by cropping an image at a box that is moved, resized and turned.

    The parameters are `right` and `down`, which move the center of the box, in pixels of the image;
    `size`, which multiplies its sides by exp(size / 100), clamped at +-400, so that small changes
    are per cent; and `roll`, which turns it clockwise, in degrees. The inputs are float32 of shape
    ``(rows, *size, channels)``, or ``(rows, *size)`` without channels. Interpolation is bilinear
    between the centers of pixels; outside of the image it uses the nearest pixel of the border.
    Nothing is smoothed: a crop that is much smaller than the box takes single pixels of it.

    Parameters
    ----------
    image : array_like
        Numbers of shape (height, width) or (height, width, channels), as the model takes them:
        pixels of 8 bits divided by 255, if it takes [0, 1].
    box : (float, float, float, float)
        (left, top, right, bottom) in pixels of the image, within it at least in part; 0 is the left
        or top edge of the first pixel.
    size : int or (int, int)
        (height, width) of the inputs, or one number for both.

    Examples
    --------
    >>> crops = certreg.Crops(np.eye(8), (2, 2, 6, 6), 4)
    >>> crops(np.zeros((1, 4)))[0, :2].tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]"""

    names = ("right", "down", "size", "roll")

    def __init__(self, image: ArrayLike, box: ArrayLike, size: int | tuple[int, int]) -> None:
        sides = ("height", "width")
        pixels = _given(image, "image", sides, (*sides, "channels"))
        self._height, self._width = pixels.shape[:2]
        self.box = _given(box, "box", dtype=np.float64)
        if self.box.shape != (4,):
            raise ValueError(f"box has shape {self.box.shape}: give left, top, right and bottom")
        left, top, right, bottom = self.box.tolist()
        if not (left < right and top < bottom):
            raise ValueError("box is empty: give left < right and top < bottom")
        if right <= 0 or bottom <= 0 or left >= self._width or top >= self._height:
            raise ValueError(
                f"box lies outside of the image, which is {self._width} pixels wide and "
                f"{self._height} high"
            )
        pair = size if isinstance(size, (tuple, list)) else (size, size)
        if len(pair) != 2:
            raise ValueError("size must be (height, width), or one number for both")
        self.size = integer(pair[0], "size", 1), integer(pair[1], "size", 1)
        self._shape = (*self.size, *pixels.shape[2:])
        self._pixels = pixels.reshape(self._height * self._width, -1).T.copy()  # by channels

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """The crops for parameters of shape (rows, 4)."""
        height, width = self.size
        v, u = np.divmod(np.arange(height * width), width)
        centers = np.stack([u + 0.5, v + 0.5], axis=1)
        crops = np.empty((len(p), *self._shape), np.float32)
        for crop, row in zip(crops, p.tolist()):
            values = self._at(self._moved(centers, row))
            crop[...] = np.stack(list(values), axis=1).reshape(self._shape)
        return crops

    def to_image(self, points: ArrayLike, p: np.ndarray) -> np.ndarray:
        """Return the points of the image for points of crops, as float64.

        Parameters
        ----------
        points : array_like
            Points (x, y) in pixels of each crop, from 0 at the left or top edge, of shape (rows,
            points, 2).
        p : ndarray
            Parameters of the crops."""
        given = np.asarray(points, np.float64)
        moved = [self._moved(of_row, row) for of_row, row in zip(given, p.tolist())]
        return np.array(moved).reshape(given.shape)

    def _moved(self, points: np.ndarray, row: Sequence[float]) -> np.ndarray:
        """Points of the crop, (points, 2), in the image. It computes one row at a time by functions
        of numbers: functions of arrays may round differently at other places of a batch."""
        right, down, size, roll = row
        factor = math.exp(max(-_MOST_PERCENT, min(_MOST_PERCENT, size)) / 100)
        cos, sin = math.cos(math.radians(roll)), math.sin(math.radians(roll))
        x0, y0, x1, y1 = self.box.tolist()
        height, width = self.size
        across = (points[:, 0] - width / 2) * ((x1 - x0) / width * factor)
        along = (points[:, 1] - height / 2) * ((y1 - y0) / height * factor)
        x = (x0 + x1) / 2 + right + across * cos - along * sin
        y = (y0 + y1) / 2 + down + across * sin + along * cos
        return np.stack([x, y], axis=1)

    def _at(self, points: np.ndarray) -> Iterator[np.ndarray]:
        """The values of each channel at points of the image, float32 of shape (points,)."""
        x, left, right = _between(points[:, 0] - 0.5, self._width)
        y, above, below = _between(points[:, 1] - 0.5, self._height)
        above, below = above * self._width, below * self._width
        for channel in self._pixels:
            upper = _part_way(x, channel.take(above + left), channel.take(above + right))
            lower = _part_way(x, channel.take(below + left), channel.take(below + right))
            yield _part_way(y, upper, lower)


class GainAndShift:
    """Makes inputs from a signal that is amplified and moved in time.

    The parameters are `gain` in dB, clamped at +-200, and `shift` in samples, positive to later
    samples. The inputs are float32 of shape (rows, samples - 2 * margin, ...). Interpolation
    between samples is linear, and beyond its ends the signal is 0.

    Parameters
    ----------
    signal : array_like
        Numbers of shape (samples,) or (samples, channels).
    margin : int
        Samples at both ends that are outside of the inputs until the signal is moved.

    Examples
    --------
    >>> certreg.GainAndShift([0, 1, 0])(np.array([[0.0, 0.0], [20.0, 0.5]])).tolist()
    [[0.0, 1.0, 0.0], [0.0, 5.0, 5.0]]"""

    names = ("gain", "shift")

    def __init__(self, signal: ArrayLike, margin: int = 0) -> None:
        self._signal = _given(signal, "signal", ("samples",), ("samples", "channels"))
        self._margin = integer(margin, "margin")
        self._length = len(self._signal) - 2 * self._margin
        if self._length < 1:
            raise ValueError(f"margin is {margin}, and the signal has {len(self._signal)} samples")
        silence = np.zeros((1, *self._signal.shape[1:]), np.float32)
        self._signal = np.concatenate([silence, self._signal, silence]).T.copy()

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """The signals for parameters of shape (rows, 2)."""
        made = np.empty((len(p), self._length, *self._signal.shape[:-1]), np.float32)
        places = np.arange(self._length) + (self._margin + 1.0)
        for out, (gain, shift) in zip(made, p.tolist()):
            part, before, after = _between(places - shift, self._signal.shape[-1])
            moved = _part_way(part, self._signal.take(before, -1), self._signal.take(after, -1))
            decibels = max(-_MOST_DECIBELS, min(_MOST_DECIBELS, gain))
            out[...] = moved.T * np.float32(math.pow(10, decibels / 20))
        return made


class Combinations:
    """Makes inputs that are a base plus multiples of directions, the sum of c[k] basis[k].

    The parameters are the coefficients c. The inputs are float32 of shape ``(rows, *base.shape)``,
    clamped at the largest float32.

    Parameters
    ----------
    base : array_like
        An input of the model, of any shape.
    basis : array_like
        Directions, of shape ``(directions, *base.shape)``.
    names : sequence of str, optional
        Names of the coefficients; by default c0, c1, ...

    Examples
    --------
    >>> certreg.Combinations([1, 1], [[1, 0]])(np.array([[0.5]])).tolist()
    [[1.5, 1.0]]"""

    def __init__(self, base: ArrayLike, basis: ArrayLike, names: Names = None) -> None:
        self._base = _given(base, "base")
        self._basis = _given(basis, "basis for this base", ("directions", *self._base.shape))
        count = len(self._basis)
        self.names = _named([f"c{k}" for k in range(count)] if names is None else names)
        if len(self.names) != count:
            raise ValueError(f"names has {len(self.names)} names for {count} directions")

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """The inputs for coefficients of shape (rows, directions)."""
        made = np.empty((len(p), *self._base.shape), np.float32)
        most = np.finfo(np.float32).max
        for out, row in zip(made, p.tolist()):
            total = self._base.astype(np.float64)
            for coefficient, direction in zip(row, self._basis):  # rounding of a matrix product
                total += coefficient * direction.astype(np.float64)  # would depend on the place
            out[...] = np.clip(total, -most, most)
        return made


def _named(names: Sequence[object]) -> list[str]:
    """The names of parameters, which must differ."""
    found = [str(name) for name in listed(names, "names")]
    if isinstance(names, (str, bytes)) or not found or len(set(found)) < len(found):
        raise ValueError("names must be a list with a name of its own for each parameter")
    return found


def _given(
    values: ArrayLike, what: str, *shapes: Sequence[object], dtype: DType = np.float32
) -> np.ndarray:
    """A copy of finite numbers, with one of these shapes; free lengths are words. Raises ValueError
    or TypeError for other values."""
    given = numbers(values, dtype, what).copy()
    if not given.size:
        raise ValueError(f"{what} is empty")
    if shapes and not any(agree(given.shape, lengths(shape)) for shape in shapes):
        expected = " or ".join(map(shape_text, shapes))
        raise ValueError(f"{what} has shape {given.shape}; it must be {expected}")
    check_finite(given, given, what)
    return given


def _between(places: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each place among `count` samples, clamped to the ends: the fraction between two samples,
    float32, and their indices."""
    places = np.clip(places, 0, count - 1)
    first = places.astype(np.intp)
    return (places - first).astype(np.float32), first, np.minimum(first + 1, count - 1)


def _part_way(part: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    return np.asarray(start + (end - start) * part)

"""Inputs that are made from a few parameters, as a crop of an image is made from its box. A model
of the parameters is a model like any other, and its certificates are about the parameters."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import check_finite, numbers
from ._onnx_tensors import agree, lengths, said_shape
from ._arguments import abbreviated, integer, listed, optional_function
from .frames import is_frame
from .models import as_model
from .names import order

_BYTES = 1 << 24  # of inputs at a time
_MOST_DECIBELS = 200.0
_MOST_PERCENT = 400.0  # a side of 1/55 to 55 times the box


class Parametric:
    """A model of the parameters from which its inputs are made: g(p) = model(make(p)). It is a
    model like any other for certify_rows, Estimator, Calibrated and check_model. Its certificates
    are about changes of p and of nothing else.

        moved = Parametric(network, Crops(image, box, 192))
        rows = certify_rows(moved, [[0, 0, 0, 0]], 1, 0.5, scale=[3, 3, 5, 4])

    model  as for Estimator
    make   a function from parameters, float64 of shape (rows, parameters), to the inputs of the
           model, of shape (rows, ...): Crops, GainAndShift, Combinations or your own. It must
           return an input for all finite parameters, since the noise is Gaussian, and each row must
           depend on its own parameters only
    names  of the parameters, for DataFrames; None: make.names
    back   a function of the outputs of the model and of the parameters, both float64 of shape
           (rows, ...), that returns the outputs to certify; None: those of the model

    Inputs are made a few at a time, at most 16 MiB or one row. It can be pickled if model, make
    and back can. Raises ValueError and TypeError for wrong arguments; make is called once, with
    parameters of 0, to check its shape."""

    def __init__(
        self,
        model: Any,
        make: Callable[[np.ndarray], Any],
        names: Optional[Sequence[str]] = None,
        back: Optional[Callable[[np.ndarray, np.ndarray], Any]] = None,
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

    def __call__(self, p: Any) -> np.ndarray:
        """The outputs for parameters of shape (rows, parameters), or for a DataFrame."""
        names = self.feature_names_in_
        if is_frame(p):
            p = p.iloc[:, order(list(p.columns), names, "the DataFrame", "the model")]
        p = numbers(p, np.float64, "p")
        if p.ndim != 2 or p.shape[1] != len(names):
            raise ValueError(f"p has shape {p.shape}; it must be (rows, {len(names)}): {names}")
        check_finite(p, p, "p")
        # No row gives one empty piece, so that the model says its number of outputs.
        pieces = [p[at : at + self._rows] for at in range(0, max(1, len(p)), self._rows)]
        return np.concatenate([self._outputs(piece) for piece in pieces])

    def _outputs(self, p: np.ndarray) -> np.ndarray:
        y = numbers(self._model(self._made(p)), np.float64, "the output of the model")
        if y.ndim < 1 or len(y) != len(p):
            raise ValueError(f"the model returned shape {y.shape} for {len(p)} rows")
        return y if self._back is None else numbers(self._back(y, p), np.float64, "what back gives")

    def _made(self, p: np.ndarray) -> np.ndarray:
        x = numbers(self._make(p), np.float32, "what make returns")
        if x.ndim < 2 or len(x) != len(p):
            raise ValueError(f"make returned shape {x.shape}; it must be ({len(p)}, ...)")
        return np.ascontiguousarray(x)


class Crops:
    """Makes inputs by cropping an image at a box that is moved, resized and turned, by bilinear
    interpolation between the centers of pixels. What lies outside of the image gets the nearest
    pixel of its border. Nothing is smoothed first: a crop that is much smaller than the box takes
    single pixels of it.

    image  numbers of shape (height, width) or (height, width, channels), as the model takes them:
           pixels of 8 bits divided by 255, if it takes [0, 1]
    box    (left, top, right, bottom) in pixels of the image, within it at least in part; 0 is the
           left or top edge of the first pixel
    size   (height, width) of the inputs, or one number for both

    The parameters are `right` and `down`, which move the center of the box, in pixels of the image;
    `size`, which multiplies its sides by exp(size / 100), clamped at +-400: small changes are per
    cent; and `roll`, which turns it clockwise, in degrees. The inputs are
    float32 of shape (rows, *size, channels), or (rows, *size) without channels."""

    names = ("right", "down", "size", "roll")

    def __init__(self, image: Any, box: Any, size: Union[int, Tuple[int, int]]) -> None:
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

    def to_image(self, points: Any, p: np.ndarray) -> np.ndarray:
        """Where points of crops lie in the image: float64 of shape (rows, points, 2) from (x, y) in
        pixels of the crop, both from 0 at the left or top edge. `p` are the parameters of the
        crops."""
        points = np.asarray(points, np.float64)
        moved = [self._moved(of_row, row) for of_row, row in zip(points, p.tolist())]
        return np.array(moved).reshape(points.shape)

    def _moved(self, points: np.ndarray, row: Sequence[float]) -> np.ndarray:
        """Points of the crop, (points, 2), in the image. One row at a time, by functions of single
        numbers: those of arrays may round differently at other places of a batch."""
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
    """Makes inputs from a signal that is made louder and moved in time, by linear interpolation
    between samples.

    signal  numbers of shape (samples,) or (samples, channels)
    margin  samples at both ends that come into view only when the signal is moved; the inputs are
            shorter by twice as many. Beyond its ends the signal is 0

    The parameters are `gain` in dB, clamped at +-200, and `shift` in samples, positive to later
    ones. The inputs are float32 of shape (rows, samples - 2 * margin, ...)."""

    names = ("gain", "shift")

    def __init__(self, signal: Any, margin: int = 0) -> None:
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
    """Makes inputs that are a base plus multiples of directions: base + sum of c[k] * basis[k].

    base   numbers of any shape: an input of the model
    basis  numbers of shape (directions, *shape of base)
    names  of the coefficients; None: c0, c1, ...

    The parameters are the coefficients c. The inputs are float32 of shape (rows, *shape of base),
    clamped at the largest float32."""

    def __init__(self, base: Any, basis: Any, names: Optional[Sequence[str]] = None) -> None:
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
            for coefficient, direction in zip(row, self._basis):  # a product of matrices rounds
                total += coefficient * direction.astype(np.float64)  # differently by place
            out[...] = np.clip(total, -most, most)
        return made


def _named(names: Any) -> list[str]:
    """The names of parameters, which differ."""
    found = [str(name) for name in listed(names, "names")]
    if isinstance(names, (str, bytes)) or not found or len(set(found)) < len(found):
        raise ValueError("names must be a list with a name of its own for each parameter")
    return found


def _given(values: Any, what: str, *shapes: Sequence[Any], dtype: Any = np.float32) -> np.ndarray:
    """Numbers that nobody else changes, with one of these shapes; a length that is free is a word.
    Raises ValueError or TypeError if they are none, or not finite."""
    given = numbers(values, dtype, what).copy()
    if not given.size:
        raise ValueError(f"{what} is empty")
    if shapes and not any(agree(given.shape, lengths(shape)) for shape in shapes):
        wanted = " or ".join(map(said_shape, shapes))
        raise ValueError(f"{what} has shape {given.shape}; it must be {wanted}")
    check_finite(given, given, what)
    return given


def _between(places: np.ndarray, count: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each place among `count` samples, or the nearest end: the part of the way between two
    samples, float32, and their indices."""
    places = np.clip(places, 0, count - 1)
    first = places.astype(np.intp)
    return (places - first).astype(np.float32), first, np.minimum(first + 1, count - 1)


def _part_way(part: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    return np.asarray(start + (end - start) * part)

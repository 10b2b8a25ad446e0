"""The network for rotations once more, in NumPy: its angle, and the gradient by backpropagation,
which white-box attacks follow."""

from __future__ import annotations

import math
import pathlib
import struct
from typing import NamedTuple

import numpy as np

HEAD = struct.Struct("<8s3I")


class Layer(NamedTuple):
    """A convolution with a square kernel. weights: (kernel * kernel * inputs, channels)."""

    kernel: int
    stride: int
    padding: int
    weights: np.ndarray
    biases: np.ndarray


class Network:
    """path: of a weight file, as examples/models/convert.py describes it."""

    def __init__(self, path: pathlib.Path) -> None:
        data = path.read_bytes()
        magic, version, self.side, layers = HEAD.unpack_from(data)
        if (magic, version) != (b"certregw", 1):
            raise ValueError(f"{path} is not a weight file")
        shapes = [struct.unpack_from("<4I", data, HEAD.size + 16 * i) for i in range(layers)]
        at, inputs = HEAD.size + 16 * layers, 1
        self.layers: list[Layer] = []
        for channels, kernel, stride, padding in shapes:
            rows = kernel * kernel * inputs
            numbers = np.frombuffer(data, "<f4", (rows + 1) * channels, at)
            at, inputs = at + numbers.nbytes, channels
            weights = numbers[: rows * channels].reshape(channels, rows).T.copy()
            self.layers.append(
                Layer(kernel, stride, padding, weights, numbers[rows * channels :].copy())
            )

    def slopes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The angles in degrees, (rows,), of inputs (rows, pixels), and their gradients, (rows,
        pixels)."""
        at = x.astype(np.float32).reshape(len(x), self.side, self.side, 1)
        inputs = []
        for i, layer in enumerate(self.layers):
            inputs.append(at)
            at = _forward(layer, at if i == 0 else np.maximum(at, 0))
        y = at.reshape(len(x), 2)
        cos, sin = y.T
        back = np.stack([-sin, cos], axis=1) / (cos**2 + sin**2)[:, None]
        back = back.reshape(at.shape)
        for i, layer in reversed(list(enumerate(self.layers))):
            back = _backward(layer, back, inputs[i].shape)
            if i > 0:
                back = back * (inputs[i] > 0)
        return np.degrees(np.arctan2(sin, cos)), np.degrees(back.reshape(x.shape))


def _forward(layer: Layer, x: np.ndarray) -> np.ndarray:
    """(rows, height, width, inputs) to (rows, height, width, channels)."""
    some = _patches(layer, _padded(layer, x))
    columns = some.reshape(math.prod(some.shape[:3]), -1)
    out: np.ndarray = columns @ layer.weights + layer.biases
    return out.reshape(*some.shape[:3], -1)


def _padded(layer: Layer, x: np.ndarray) -> np.ndarray:
    p = layer.padding
    return np.pad(x, ((0, 0), (p, p), (p, p), (0, 0)))


def _patches(layer: Layer, x: np.ndarray) -> np.ndarray:
    """What each output reads: (rows, height, width, kernel, kernel, inputs)."""
    shape = (layer.kernel, layer.kernel)
    windows = np.lib.stride_tricks.sliding_window_view(x, shape, axis=(1, 2))
    return windows[:, :: layer.stride, :: layer.stride].transpose(0, 1, 2, 4, 5, 3)


def _backward(layer: Layer, back: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """From the gradient with respect to the outputs to that with respect to the inputs."""
    k, s, p = layer.kernel, layer.stride, layer.padding
    rows, high, wide, inputs = shape
    out = np.zeros((rows, high + 2 * p, wide + 2 * p, inputs), np.float32)
    flat = back.reshape(-1, back.shape[-1]) @ layer.weights.T
    parts = flat.reshape(*back.shape[:3], k, k, inputs)
    for i in range(k):
        for j in range(k):
            ends = i + s * (back.shape[1] - 1) + 1, j + s * (back.shape[2] - 1) + 1
            out[:, i : ends[0] : s, j : ends[1] : s] += parts[:, :, :, i, j]
    return out[:, p : p + high, p : p + wide]

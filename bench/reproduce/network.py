"""The network for rotations once more, in NumPy: its angle, and the gradient by backpropagation,
which white-box attacks follow."""

from __future__ import annotations

import math
import pathlib
from typing import NamedTuple

import numpy as np

from certreg import _graphs as G

KNOWN = {"Reshape", "Conv", "Relu", "Flatten", "Gemm"}


class Layer(NamedTuple):
    """A convolution with a square kernel; a dense layer is one whose kernel covers its whole input.

    weights: (kernel * kernel * inputs, channels).
    """

    kernel: int
    stride: int
    padding: int
    weights: np.ndarray
    biases: np.ndarray


class Network:
    """path: of an ONNX file as export_chain of examples/models writes it."""

    def __init__(self, path: pathlib.Path) -> None:
        (graph,) = G.parts(G.parsed(path.read_bytes()), G.GRAPH)
        constants = {G.text_in(t, 8): array(t) for t in G.parts(graph, G.CONSTANT)}
        nodes = G.parts(graph, G.NODE)
        if {G.text_in(node, 4) for node in nodes} - KNOWN:
            raise ValueError(f"{path} has nodes other than {', '.join(sorted(KNOWN))}")
        _, inputs, self.side, side = constants[inputs_of(nodes[0])[1]]
        self.layers: list[Layer] = []
        for node in nodes:
            if G.text_in(node, 4) not in ("Conv", "Gemm"):
                continue
            given = lists(node)
            weights, biases = (constants[name] for name in inputs_of(node)[1:])
            weights = weights.reshape(len(biases), inputs, *given.get("kernel_shape", (side, side)))
            kernel, stride = weights.shape[3], given.get("strides", [1])[0]
            padding = given.get("pads", [0])[0]
            rows = weights.transpose(2, 3, 1, 0).reshape(-1, len(biases))
            self.layers.append(Layer(kernel, stride, padding, rows, biases))
            inputs, side = len(biases), (side + 2 * padding - kernel) // stride + 1

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


def array(tensor: G.Message) -> np.ndarray:
    """A constant of the file."""
    kind = {G.FLOAT: np.float32, G.INT64: np.int64}[G.number_in(tensor, 2)]
    return np.frombuffer(G.of(tensor, 9)[-1], kind).reshape(G.of(tensor, 1, G.VARINT))


def inputs_of(node: G.Message) -> list[str]:
    """The names of what a node reads."""
    return [name.decode() for name in G.of(node, 1)]


def lists(node: G.Message) -> dict[str, list[int]]:
    """The attributes of a node that are lists of integers, by name."""
    return {G.text_in(a, 1): G.of(a, 8, G.VARINT) for a in G.parts(node, 5)}


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

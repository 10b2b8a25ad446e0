"""The networks that take noise away. They are written once, and run by torch or traced as nodes of
ONNX."""

from __future__ import annotations

import functools
import math
import types
from typing import Any, Mapping, Sequence, Tuple

import numpy as np

from . import _graphs

Shape = Tuple[int, ...]
FINE, COARSE, HIDDEN = {1: 48, 2: 24}, {1: 72, 2: 40}, 128  # channels, by dimensions; of vectors
SHORTEST = 4  # side of an image
LAST = ("up1", "linear", "dense2")
PREFIX = "certreg_denoiser/"  # of names, so that a model has none of them


def at_first(inner: Shape, dice: np.random.Generator) -> dict[str, np.ndarray]:
    """Weights and biases with which training begins, for inputs of this shape: (channels, length),
    (channels, height, width) or (features,). What comes last is 0, so that inputs stay as they
    are."""
    found = {}
    for name, shape in _shapes(inner).items():
        up = name.startswith("up")  # a transposed convolution of stride 2
        reads = shape[0] * 2 ** (len(shape) - 2) if up else math.prod(shape[1:])
        spread = 0.0 if name in LAST else math.sqrt(2 / reads)
        found[name] = (dice.normal(size=shape) * spread).astype(np.float32)
        found[f"{name}_bias"] = np.zeros(shape[1 if up else 0], np.float32)
    return found


def _shapes(inner: Shape) -> dict[str, Shape]:
    if len(inner) == 1:
        sizes = (*inner, HIDDEN, HIDDEN, *inner)
        return {f"dense{i}": (sizes[i + 1], sizes[i]) for i in range(3)}
    rank, channels = len(inner) - 1, inner[0]
    fine, coarse, wide, narrow = FINE[rank], COARSE[rank], (4,) * rank, (3,) * rank
    return {
        "fine0": (fine, channels, *wide),
        "fine1": (fine, fine, *narrow),
        "coarse0": (coarse, fine, *wide),
        "coarse1": (coarse, coarse, *narrow),
        "coarse2": (coarse, coarse, *narrow),
        "up0": (coarse, fine, *wide),
        "fine2": (fine, fine, *narrow),
        "up1": (fine, channels, *wide),
        "linear": (channels, channels, *narrow),
    }


def denoised(f: Any, w: Any, x: Any, inner: Shape) -> Any:
    """Inputs without their noise, as far as the network can tell. Features without noise pass."""
    rest = x - noise(f, w, x, inner) * w["step"]
    return f.where(w["noisy"], rest, x) if "noisy" in w else rest


def noise(f: Any, w: Any, x: Any, inner: Shape) -> Any:
    """The noise in inputs, in units of `step`. f: the functions; w: what has a name."""

    def layer(call: Any, name: str, x: Any, *how: Any) -> Any:
        return call(x, w[name], w[f"{name}_bias"], *how)

    u = (x - w["mean"]) * w["inverse"]
    if len(inner) == 1:
        u = f.relu(layer(f.linear, "dense1", f.relu(layer(f.linear, "dense0", u))))
        return layer(f.linear, "dense2", u)
    odd, odd_half = [s % 2 for s in inner[1:]], [s // 2 % 2 for s in inner[1:]]  # one more, up
    kept = f.relu(layer(f.conv, "fine1", f.relu(layer(f.conv, "fine0", u, 2, 1)), 1, 1))
    h = f.relu(layer(f.conv, "coarse0", kept, 2, 1))
    h = f.relu(layer(f.conv, "coarse2", f.relu(layer(f.conv, "coarse1", h, 1, 1)), 1, 1))
    h = f.relu(layer(f.up, "up0", h, 2, 1, odd_half) + kept)
    h = f.relu(layer(f.conv, "fine2", h, 1, 1))
    return layer(f.up, "up1", h, 2, 1, odd) + layer(f.conv, "linear", u, 1, 1)


def of_torch(torch: Any, inner: Shape) -> Any:
    """The functions that run a network on tensors."""
    functions, rank = torch.nn.functional, len(inner) - 1
    return types.SimpleNamespace(
        relu=torch.relu,
        where=torch.where,
        linear=functions.linear,
        conv=getattr(functions, f"conv{rank}d", None),  # none for vectors
        up=getattr(functions, f"conv_transpose{rank}d", None),
    )


class Nodes:
    """The functions that write a network as nodes of ONNX. A tensor is a Name."""

    def __init__(self, inner: Shape) -> None:
        self.rank = len(inner) - 1
        self.fields: list[_graphs.Field] = []
        self.kernels: dict[str, list[int]] = {}

    def constants(self, arrays: Mapping[str, np.ndarray]) -> dict[str, "Name"]:
        self.fields += [_graphs.constant(PREFIX + name, array) for name, array in arrays.items()]
        self.kernels.update((PREFIX + name, [*array.shape[2:]]) for name, array in arrays.items())
        return {name: Name(self, PREFIX + name) for name in arrays}

    def call(self, operator: str, *inputs: "Name", **attributes: Any) -> "Name":
        output, names = f"{PREFIX}{len(self.fields)}", [one.text for one in inputs]
        self.fields.append(_graphs.node(operator, names, output, **attributes))
        return Name(self, output)

    def shaped(self, x: "Name", shape: Sequence[int]) -> "Name":
        """Rows of this shape."""
        lengths = self.constants({f"lengths{len(self.fields)}": np.array([-1, *shape])})
        return self.call("Reshape", x, *lengths.values())

    relu = functools.partialmethod(call, "Relu")
    where = functools.partialmethod(call, "Where")
    linear = functools.partialmethod(call, "Gemm", transB=1)

    def conv(self, x: Any, w: Any, b: Any, stride: int, padding: int, **more: Any) -> "Name":
        operator = "ConvTranspose" if more else "Conv"
        sides = dict(strides=[stride] * self.rank, pads=[padding] * 2 * self.rank)
        return self.call(operator, x, w, b, **more, kernel_shape=self.kernels[w.text], **sides)

    def up(self, x: Any, w: Any, b: Any, stride: int, padding: int, odd: Any) -> "Name":
        return self.conv(x, w, b, stride, padding, output_padding=odd)


class Name:
    """The name of a tensor, with which one calculates as with the tensor."""

    def __init__(self, nodes: Nodes, text: str) -> None:
        self.nodes, self.text = nodes, text

    def _with(self, operator: str, other: "Name") -> "Name":
        return self.nodes.call(operator, self, other)

    __add__ = functools.partialmethod(_with, "Add")
    __sub__ = functools.partialmethod(_with, "Sub")
    __mul__ = functools.partialmethod(_with, "Mul")

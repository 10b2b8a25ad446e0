"""Denoising networks. Each is one function: torch runs it, and it is traced as nodes of ONNX."""

from __future__ import annotations

import functools
import math
import types
from typing import Any, Callable, Mapping, Sequence, TypeAlias

import numpy as np

from . import _protobuf
from ._types import Package, Shape, Tensor

FINE, COARSE, HIDDEN = {1: 48, 2: 24}, {1: 72, 2: 40}, 128  # channels, by dimensions; of vectors
SHORTEST = 4  # side of an image
LAST = ("up1", "linear", "dense2")
PREFIX = "certreg_denoiser/"  # of names, which no model has


Functions: TypeAlias = Any  # add, sub, mul, relu, where, linear, conv and up


def at_first(inner: Shape, dice: np.random.Generator) -> dict[str, np.ndarray]:
    """Initial weights and biases, for inputs of this shape: (channels, length), (channels, height,
    width) or (features,). The last layers are 0, so that inputs pass unchanged."""
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


def denoised(f: Functions, w: Mapping[str, Tensor], x: Tensor, inner: Shape) -> Tensor:
    """Inputs without the estimated noise. Features without noise pass unchanged."""
    clean = f.sub(x, f.mul(noise(f, w, x, inner), w["step"]))
    return f.where(w["noisy"], clean, x) if "noisy" in w else clean


def noise(f: Functions, w: Mapping[str, Tensor], x: Tensor, inner: Shape) -> Tensor:
    """The estimated noise of inputs, in units of `step`. w: weights and constants by name."""

    def layer(call: Callable[..., Tensor], name: str, x: Tensor, *settings: object) -> Tensor:
        return call(x, w[name], w[f"{name}_bias"], *settings)

    u = f.mul(f.sub(x, w["mean"]), w["inverse"])
    if len(inner) == 1:
        u = f.relu(layer(f.linear, "dense1", f.relu(layer(f.linear, "dense0", u))))
        return layer(f.linear, "dense2", u)
    odd, odd_half = [s % 2 for s in inner[1:]], [s // 2 % 2 for s in inner[1:]]  # one more, up
    kept = f.relu(layer(f.conv, "fine1", f.relu(layer(f.conv, "fine0", u, 2, 1)), 1, 1))
    h = f.relu(layer(f.conv, "coarse0", kept, 2, 1))
    h = f.relu(layer(f.conv, "coarse2", f.relu(layer(f.conv, "coarse1", h, 1, 1)), 1, 1))
    h = f.relu(f.add(layer(f.up, "up0", h, 2, 1, odd_half), kept))
    h = f.relu(layer(f.conv, "fine2", h, 1, 1))
    return f.add(layer(f.up, "up1", h, 2, 1, odd), layer(f.conv, "linear", u, 1, 1))


def of_torch(torch: Package, inner: Shape) -> Functions:
    """The functions that run a network on tensors."""
    functions, rank = torch.nn.functional, len(inner) - 1
    names = ("add", "sub", "mul", "relu", "where")
    return types.SimpleNamespace(
        **{name: getattr(torch, name) for name in names},
        linear=functions.linear,
        conv=getattr(functions, f"conv{rank}d", None),  # none for vectors
        up=getattr(functions, f"conv_transpose{rank}d", None),
    )


class Nodes:
    """The functions that write a network as nodes of ONNX. A tensor is its name."""

    def __init__(self, inner: Shape) -> None:
        self.rank = len(inner) - 1
        self.fields: list[_protobuf.Field] = []
        self.kernels: dict[str, list[int]] = {}

    def constants(self, arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
        self.fields += [_protobuf.constant(PREFIX + name, array) for name, array in arrays.items()]
        self.kernels.update((PREFIX + name, [*array.shape[2:]]) for name, array in arrays.items())
        return {name: PREFIX + name for name in arrays}

    def call(self, operator: str, *inputs: str, **attributes: _protobuf.Attribute) -> str:
        output = f"{PREFIX}{len(self.fields)}"
        self.fields.append(_protobuf.node(operator, inputs, output, **attributes))
        return output

    def shaped(self, x: str, shape: Sequence[int]) -> str:
        """Rows of this shape."""
        lengths = self.constants({f"lengths{len(self.fields)}": np.array([-1, *shape])})
        return self.call("Reshape", x, *lengths.values())

    add = functools.partialmethod(call, "Add")
    sub = functools.partialmethod(call, "Sub")
    mul = functools.partialmethod(call, "Mul")
    relu = functools.partialmethod(call, "Relu")
    where = functools.partialmethod(call, "Where")
    linear = functools.partialmethod(call, "Gemm", transB=1)

    def conv(
        self, x: str, w: str, b: str, stride: int, padding: int, **more: _protobuf.Attribute
    ) -> str:
        operator = "ConvTranspose" if more else "Conv"
        more.update(kernel_shape=self.kernels[w], strides=[stride] * self.rank)
        return self.call(operator, x, w, b, **more, pads=[padding] * 2 * self.rank)

    def up(self, x: str, w: str, b: str, stride: int, padding: int, odd: list[int]) -> str:
        return self.conv(x, w, b, stride, padding, output_padding=odd)

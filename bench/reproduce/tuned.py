"""Networks of examples/models that were trained a little further under noise, by
examples/python/fine_tune.py: their own answers are the targets. Importing this needs torch."""

from __future__ import annotations

import pathlib
import runpy

import numpy as np
import torch
from torch.nn import functional as F

from certreg import _graphs
from certreg._graphs import CONSTANT, GRAPH, NODE, OUTPUT, parsed, parts, text_in

from .network import array, inputs_of, lists
from .settings import ROOT

MOST = 0.8  # noise level


class Chain(torch.nn.Module):
    """The network in a file: convolutions, dense layers and ReLU, with weights to train."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.fields = parsed(path.read_bytes())
        self.graph = parts(self.fields, GRAPH)[0]
        self.nodes = parts(self.graph, NODE)
        self.values = {text_in(c, 8): _tensor(c) for c in parts(self.graph, CONSTANT)}
        weights = [value for name, value in self.values.items() if name[0] in "wb"]
        self.weights = torch.nn.ParameterList(weights)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = {**self.values, "x": x}
        for node in self.nodes:
            inputs = [values[name] for name in inputs_of(node)]
            values[text_in(node, 2)] = _run(node, *inputs)
        return values[text_in(parts(self.graph, OUTPUT)[0], 1)]

    def write(self, path: pathlib.Path) -> None:
        """The file with the weights as they are now."""
        graph = [field for field in self.graph if field[0] != CONSTANT]
        for name, value in self.values.items():
            graph.append(_graphs.constant(name, value.detach().numpy()))
        others = [field for field in self.fields if field[0] != GRAPH]
        _graphs.replace(str(path), _graphs.model(graph, {}, others))


def _tensor(constant: _graphs.Message) -> torch.Tensor:
    value = torch.from_numpy(array(constant).copy())
    return torch.nn.Parameter(value) if value.is_floating_point() else value


def _run(node: _graphs.Message, x: torch.Tensor, *more: torch.Tensor) -> torch.Tensor:
    attributes, operator = lists(node), text_in(node, 4)
    if operator == "Conv":
        return F.conv2d(x, *more, attributes["strides"], attributes["pads"][:2])
    if operator == "Clip":
        return torch.clamp(x, *(float(end) for end in more))
    known = {"Reshape": lambda x, shape: x.reshape(shape.tolist()), "Gemm": F.linear,
             "Relu": torch.relu, "Flatten": lambda x: x.flatten(1)}  # fmt: skip
    return known[operator](x, *more)


def make(source: pathlib.Path, path: pathlib.Path, inputs: np.ndarray, steps: int) -> None:
    """Writes a network, trained further on these inputs, unless it is there."""
    if path.exists():
        return
    print(f"  {source.stem} is trained further under noise, {steps} steps", flush=True)
    torch.set_num_threads(1)  # so that the bits are the same on every machine with this processor
    program = runpy.run_path(str(ROOT / "examples/python/fine_tune.py"))
    network = Chain(source)
    program["fine_tune"](network, inputs, MOST, steps=steps)
    network.write(path)

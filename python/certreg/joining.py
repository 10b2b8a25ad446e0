"""A denoiser and a model as one ONNX file."""

from __future__ import annotations

import math
import os
from typing import Any, Sequence

import numpy as np

from . import _protobuf
from ._protobuf import BYTES, CONSTANT, GRAPH, INPUT, IR_VERSION, METADATA, NODE, OPSET, OUTPUT
from ._protobuf import VARINT, number_in, parts, text_in
from ._network import PREFIX
from ._arguments import path_of
from .training import MARK, OPSET_13, Path

OLDEST_OPSET, OLDEST_IR = 9, 4  # with the nodes of denoisers; with constants that are no inputs


class _OnnxFile:
    """An ONNX file: its graph, metadata, and its only input. The length of a side is a name where
    it is free."""

    def __init__(self, path: Any, what: str) -> None:
        self.path = os.fsdecode(path_of(path, what))
        with open(self.path, "rb") as file:
            self.data = file.read()
        try:
            self._read(_protobuf.parsed(self.data))
        except ValueError as error:
            raise ValueError(f"{self.path} cannot be joined: {error}") from None

    def _read(self, fields: _protobuf.Message) -> None:
        self.fields, graphs = fields, parts(fields, GRAPH)
        if len(graphs) != 1:
            raise ValueError("it is no ONNX model")
        self.graph = graphs[0]
        self.metadata = {text_in(one, 1): text_in(one, 2) for one in parts(fields, METADATA)}
        opsets = {text_in(one, 1) or "ai.onnx": number_in(one, 2) for one in parts(fields, OPSET)}
        self.opset = opsets.get("ai.onnx", 0)
        constants = parts(self.graph, CONSTANT)
        if any(number_in(one, 14) for one in constants):
            raise ValueError("some of its constants are in another file; save it as one file")
        known = {text_in(one, 8) for one in constants}  # which older files list as inputs too
        entries = [(data, _protobuf.parsed(data)) for data in _protobuf.of(self.graph, INPUT)]
        inputs = [entry for entry in entries if text_in(entry[1], 1) not in known]
        outputs = parts(self.graph, OUTPUT)
        if len(inputs) != 1 or not outputs:
            counts = f"it has {len(inputs)} inputs and {len(outputs)} outputs"
            raise ValueError(f"{counts}; it must have one input, and an output")
        self.output = text_in(outputs[0], 1)
        self.entry, tensor = inputs[0]
        sides = [(number_in(s, 1), text_in(s, 2)) for s in parts(tensor, 2, 1, 2, 1)]
        self.lengths: list[Any] = [n if 0 < n < 1 << 31 else name for n, name in sides]
        self.input = text_in(tensor, 1)
        kinds = [number_in(one, 1) for one in parts(tensor, 2, 1)]
        if kinds != [_protobuf.FLOAT] or len(self.lengths) < 2:
            raise ValueError("its input must be a tensor of floats, (rows, features) or more")


def join_denoiser(denoiser: Path, model: Path, path: Path) -> None:
    """Writes one ONNX file in which a denoiser is in front of a model, so that every engine runs
    both as one model. It needs no other package.

    denoiser  ONNX file of train_denoiser
    model     ONNX file of a model with one input of floats. Its rows may have another shape than
              those of the denoiser if they have as many features
    path      of the joined file. It has the outputs and metadata of the model. The name of its
              input is that of the model's with "_noisy" behind it, and "_" if that is taken

    Raises ValueError if the files do not fit, or the model has a denoiser in front already."""
    front, behind = _OnnxFile(denoiser, "denoiser"), _OnnxFile(model, "model")
    if MARK not in front.metadata or not front.input.startswith(PREFIX):
        raise ValueError(f"{front.path} is no denoiser of train_denoiser")
    if MARK.encode() in behind.data:  # as metadata, or in names that both would have
        raise ValueError(f"{behind.path} has a denoiser in front already: join the model alone")
    metadata = {**behind.metadata, MARK: front.metadata[MARK]}
    data = _protobuf.model(_joined(front, behind), metadata, _others(behind))
    _protobuf.replace(os.fsdecode(path_of(path)), data)


def _others(behind: _OnnxFile) -> list[_protobuf.Field]:
    """The fields of the model beside its graph, with versions that can do what a denoiser needs."""
    if 0 < behind.opset < OLDEST_OPSET:
        raise ValueError(f"{behind.path} has opset {behind.opset}: convert it to 9 or later")
    least = max(number_in(behind.fields, IR_VERSION), OLDEST_IR)
    own = [f for f in behind.fields if f[0] not in (IR_VERSION, GRAPH, METADATA)]
    return [(IR_VERSION, VARINT, least), *own, *([] if behind.opset else [OPSET_13])]


def _joined(front: _OnnxFile, behind: _OnnxFile) -> list[_protobuf.Field]:
    """The fields of the joined graph, nodes in the order in which they run. The model gets, under
    the name of its input, what the denoiser has made."""
    shape, clean = _shape(front, behind), behind.input
    noisy = f"{clean}_noisy"
    while noisy.encode() in behind.data:  # another tensor may have the name
        noisy += "_"
    return [
        _protobuf.tensor(INPUT, noisy, [behind.lengths[0], *shape]),
        *_shaped(noisy, front.input, front.lengths[1:]),
        *(field for field in front.graph if field[0] in (NODE, CONSTANT)),
        *_shaped(front.output, clean, shape),
        *(field for field in behind.graph if field != (INPUT, BYTES, behind.entry)),
    ]


def _shaped(x: str, y: str, shape: Sequence[int]) -> list[_protobuf.Field]:
    lengths = f"{PREFIX}of {y}"
    sides = _protobuf.constant(lengths, np.array([-1, *shape]))
    return [sides, _protobuf.node("Reshape", [x, lengths], y)]


def _shape(front: _OnnxFile, behind: _OnnxFile) -> list[Any]:
    """The shape of a row of the model; where a length is free, that of the denoiser."""
    ours, theirs = front.lengths[1:], behind.lengths[1:]
    if len(ours) == len(theirs):
        theirs = [a if isinstance(b, str) else b for a, b in zip(ours, theirs)]
    free = any(isinstance(length, str) for length in (*ours, *theirs))
    if free or math.prod(ours) != math.prod(theirs):
        rows = f"{front.path} takes rows of shape {ours}, and {behind.path} of {theirs}"
        raise ValueError(f"{rows}: train the denoiser on inputs of the model")
    return theirs

"""A denoiser and a model as one ONNX file."""

from __future__ import annotations

import math
import os
from typing import Sequence

import numpy as np

from . import _protobuf
from ._arguments import path_of
from ._network import PREFIX
from ._protobuf import BYTES, CONSTANT, GRAPH, INPUT, IR_VERSION, METADATA, NODE, OPSET, OUTPUT
from ._protobuf import VARINT, number_in, parts, text_in
from ._types import Path
from .training import MARK, OPSET_13

OLDEST_OPSET, OLDEST_IR = 9, 4  # with the nodes of denoisers; with constants that are no inputs
Length = int | str  # a free length is a name


class _OnnxFile:
    """An ONNX file: its graph, metadata, and its only input. Free lengths are names."""

    def __init__(self, path: Path, what: str) -> None:
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
        known = {text_in(one, 8) for one in constants}  # older files list these as inputs too
        entries = [(data, _protobuf.parsed(data)) for data in _protobuf.of(self.graph, INPUT)]
        inputs = [entry for entry in entries if text_in(entry[1], 1) not in known]
        outputs = parts(self.graph, OUTPUT)
        if len(inputs) != 1 or not outputs:
            counts = f"it has {len(inputs)} inputs and {len(outputs)} outputs"
            raise ValueError(f"{counts}; it must have one input, and an output")
        self.output = text_in(outputs[0], 1)
        self.entry, tensor = inputs[0]
        sides = [(number_in(s, 1), text_in(s, 2)) for s in parts(tensor, 2, 1, 2, 1)]
        self.lengths: list[Length] = [n if 0 < n < 1 << 31 else name for n, name in sides]
        self.input = text_in(tensor, 1)
        kinds = [number_in(one, 1) for one in parts(tensor, 2, 1)]
        if kinds != [_protobuf.FLOAT] or len(self.lengths) < 2:
            raise ValueError("its input must be a tensor of floats, (rows, features) or more")


def join_denoiser(denoiser: Path, model: Path, path: Path) -> None:
    """Write one ONNX file with a denoiser in front of a model, for every engine. Experimental.

    It needs no other package.

    Parameters
    ----------
    denoiser : str or path
        ONNX file of train_denoiser.
    model : str or path
        ONNX file of a model with one input of floats. Its rows may have another shape than rows of
        the denoiser if the number of features is equal.
    path : str or path
        Path of the joined file. It has the outputs and metadata of the model. The name of its input
        is the name of the model's input, "_noisy", and "_" if the name is taken.

    Raises
    ------
    ValueError
        If the files do not fit, or the model has a denoiser in front already."""
    front, behind = _OnnxFile(denoiser, "denoiser"), _OnnxFile(model, "model")
    if MARK not in front.metadata or not front.input.startswith(PREFIX):
        raise ValueError(f"{front.path} is no denoiser of train_denoiser")
    if MARK.encode() in behind.data:  # as metadata, or in names that both would have
        raise ValueError(f"{behind.path} has a denoiser in front already: join the model alone")
    metadata = {**behind.metadata, MARK: front.metadata[MARK]}
    data = _protobuf.model(_joined(front, behind), metadata, _others(behind))
    _protobuf.replace(os.fsdecode(path_of(path)), data)


def _others(behind: _OnnxFile) -> list[_protobuf.Field]:
    """The fields of the model beside its graph, with versions that have the nodes of a denoiser."""
    if 0 < behind.opset < OLDEST_OPSET:
        raise ValueError(f"{behind.path} has opset {behind.opset}: convert it to 9 or later")
    least = max(number_in(behind.fields, IR_VERSION), OLDEST_IR)
    own = [f for f in behind.fields if f[0] not in (IR_VERSION, GRAPH, METADATA)]
    return [(IR_VERSION, VARINT, least), *own, *([] if behind.opset else [OPSET_13])]


def _joined(front: _OnnxFile, behind: _OnnxFile) -> list[_protobuf.Field]:
    """The fields of the joined graph, with nodes in the order of their evaluation. The output of
    the denoiser has the name of the model's input."""
    shape, clean = _shape(front, behind), behind.input
    noisy = f"{clean}_noisy"
    while noisy.encode() in behind.data:  # another tensor may have this name
        noisy += "_"
    return [
        _protobuf.tensor(INPUT, noisy, [behind.lengths[0], *shape]),
        *_shaped(noisy, front.input, front.lengths[1:]),
        *(field for field in front.graph if field[0] in (NODE, CONSTANT)),
        *_shaped(front.output, clean, shape),
        *(field for field in behind.graph if field != (INPUT, BYTES, behind.entry)),
    ]


def _shaped(x: str, y: str, shape: Sequence[Length]) -> list[_protobuf.Field]:
    lengths = f"{PREFIX}of {y}"
    sides = _protobuf.constant(lengths, np.array([-1, *shape]))
    return [sides, _protobuf.node("Reshape", [x, lengths], y)]


def _shape(front: _OnnxFile, behind: _OnnxFile) -> list[Length]:
    """The shape of a row of the model, with the denoiser's lengths instead of free ones."""
    ours, theirs = front.lengths[1:], behind.lengths[1:]
    if len(ours) == len(theirs):
        theirs = [a if isinstance(b, str) else b for a, b in zip(ours, theirs)]
    sizes = [math.prod(n for n in one if isinstance(n, int)) for one in (ours, theirs)]
    free = any(isinstance(length, str) for length in (*ours, *theirs))
    if free or sizes[0] != sizes[1]:
        rows = f"{front.path} takes rows of shape {ours}, and {behind.path} of {theirs}"
        raise ValueError(f"{rows}: train the denoiser on inputs of the model")
    return theirs

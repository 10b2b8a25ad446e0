#!/usr/bin/env python3
"""Write the weight file of a network beside its .onnx file.

    python3 convert.py [rotation.onnx]

A weight file is what the built-in engine (examples/engines/builtin.c) reads. It holds numbers of
four bytes, little-endian, without gaps:

    "certregw"                            eight letters
    version = 1, side, layers             unsigned; the input is one grey image of side x side
    channels, kernel, stride, padding     unsigned; for each layer
    weights, biases                       float32; for each layer, as [channels][row][column][input
                                          channel] and [channels]

Every layer is a convolution with a square kernel. A dense layer is one whose kernel covers its
whole input. max(0, .) follows every layer except the last. Needs onnx.
"""
import pathlib
import struct
import sys

MAGIC, VERSION = b"certregw", 1


def is_chain(order):
    """Reshape, then layers with Relu between."""
    return (order[0] == "Reshape" and set(order[1::2]) <= {"Conv", "Gemm"}
            and set(order[2::2]) <= {"Relu"} and order[-1] != "Relu")


def read_onnx(path):
    """The side of the images; kernel, stride, padding, weights [output][input][row][column] and
    biases of each layer."""
    import onnx
    graph = onnx.load(path).graph
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
    nodes = [node for node in graph.node if node.op_type != "Flatten"]
    if not is_chain([node.op_type for node in nodes]):
        raise SystemExit(f"{path} is not a chain of Reshape, Conv, Relu, Flatten and Gemm")
    _, channels, first, side = constants[nodes[0].input[1]]
    layers = []
    for node in nodes[1::2]:
        weights, biases = (constants[name] for name in node.input[1:])
        lists = {a.name: a.ints for a in node.attribute}
        stride, padding = lists.get("strides", [1])[0], lists.get("pads", [0])[0]
        if node.op_type == "Gemm":
            weights = weights.reshape(len(weights), channels, side, side)
        layers.append((weights.shape[3], stride, padding, weights, biases))
        channels, side = len(weights), (side + 2 * padding - weights.shape[3]) // stride + 1
    return first, layers


def convert(path):
    side, layers = read_onnx(path)
    data = MAGIC + struct.pack("<3I", VERSION, side, len(layers))
    for kernel, stride, padding, weights, _ in layers:
        data += struct.pack("<4I", len(weights), kernel, stride, padding)
    for *_, weights, biases in layers:
        data += weights.transpose(0, 2, 3, 1).astype("<f4").tobytes()
        data += biases.astype("<f4").tobytes()
    pathlib.Path(path).with_suffix(".weights").write_bytes(data)


if __name__ == "__main__":
    convert(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("rotation.onnx"))

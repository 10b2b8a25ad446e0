"""Trains the network of the control loop: 16 pixels of a line camera to the angle of the pole, two
layers of 64. Writes weights.f32, little-endian floats layer by layer, weights before biases. They
are rounded to multiples of 2^-8, far coarser than what linear algebra differs by from machine to
machine, so the bytes are the same everywhere. Needs NumPy alone, and takes two seconds.

    python3 train.py [FILE]; and with the package onnx --onnx FILE"""

import pathlib
import sys

import numpy as np

PIXELS, HIDDEN, STEPS, ROWS, SIGMA = 16, 64, 400, 1024, 0.15
SHAPES = ((PIXELS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 1))


def images(angle, light):
    """What the camera sees, as camera in plant.c."""
    place = -0.45 + 0.06 * np.arange(PIXELS)
    return light[:, None] / (1 + ((place - angle[:, None]) / 0.06) ** 2)


def noisy(dice):
    """Angles in light and shadow, and their pixels under the noise of certificates."""
    angle, light = dice.uniform(-0.4, 0.4, ROWS), dice.uniform(0.1, 1.1, ROWS)
    return images(angle, light) + SIGMA * dice.standard_normal((ROWS, PIXELS)), angle[:, None]


def layers(weights, x):
    """The inputs of every layer, and the output."""
    found = [x]
    for i in range(0, len(weights), 2):
        x = x @ weights[i] + weights[i + 1]
        x = np.maximum(x, 0) if i < 4 else x
        found.append(x)
    return found


def slopes(weights, x, y):
    """The gradient of the mean squared error."""
    found, (*inputs, output) = [], layers(weights, x)
    back = 2 / ROWS * (output - y)
    for i, h in zip((4, 2, 0), inputs[::-1]):
        found += [back.sum(0), h.T @ back]
        back = (back @ weights[i].T) * (h > 0)
    return found[::-1]


def train():
    """Adam, with a rate that falls to 0."""
    dice = np.random.default_rng(1)
    weights = []
    for shape in SHAPES:
        weights += [dice.standard_normal(shape) * np.sqrt(2 / shape[0]), np.zeros(shape[1])]
    mean, square = [0 * w for w in weights], [0 * w for w in weights]
    for step in range(1, STEPS + 1):
        rate = 0.003 * (1 - step / (STEPS + 1))
        for w, g, m, v in zip(weights, slopes(weights, *noisy(dice)), mean, square):
            m += 0.1 * (g - m)
            v += 0.01 * (g * g - v)
            w -= rate * m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.99**step)) + 1e-8)
    return [np.round(256 * w) / 256 for w in weights]


def onnx(weights):
    """The same network as an ONNX model."""
    from onnx import TensorProto, helper, numpy_helper

    def end(name, columns):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", columns])

    nodes, at = [], "x"
    for i in range(0, len(weights), 2):
        layer, inputs = [f"h{i}" if i < 4 else "y"], [at, f"w{i}", f"w{i + 1}"]
        nodes.append(helper.make_node("Gemm", inputs, layer))
        if i < 4:
            nodes.append(helper.make_node("Relu", layer, [at := f"r{i}"]))
    constants = [numpy_helper.from_array(w.astype("f4"), f"w{k}") for k, w in enumerate(weights)]
    graph = helper.make_graph(nodes, "control", [end("x", PIXELS)], [end("y", 1)], constants)
    opset = helper.make_opsetid("", 13)
    return helper.make_model(graph, ir_version=8, opset_imports=[opset]).SerializeToString()


if __name__ == "__main__":
    found = train()
    if sys.argv[1:2] == ["--onnx"]:
        pathlib.Path(sys.argv[2]).write_bytes(onnx(found))
    else:
        out = sys.argv[1] if sys.argv[1:] else pathlib.Path(__file__).with_name("weights.f32")
        pathlib.Path(out).write_bytes(b"".join(w.astype("<f4").tobytes() for w in found))

"""The network of examples/control_loop."""

import runpy

import numpy as np
import pytest

from kit import certreg, near, package, root

FOLDER = root / "examples/control_loop"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(FOLDER / "train.py"))


@pytest.fixture(scope="module")
def weights(script):
    return script["train"]()


def test_the_script_makes_the_weights_again(weights):
    data = b"".join(w.astype("<f4").tobytes() for w in weights)
    assert data == (FOLDER / "weights.f32").read_bytes()


def test_it_reads_angles_in_onnx_too(script, weights, folder):
    angle = np.linspace(-0.3, 0.3, 7)
    x = script["images"](angle, np.full(7, 1.0)).astype(np.float32)
    y = script["layers"](weights, x)[-1]
    assert y[:, 0] == near(angle, 0.05)
    package("onnxruntime")
    (folder / "n.onnx").write_bytes(script["onnx"](weights))
    assert certreg.OnnxModel(folder / "n.onnx")(x).ravel() == near(y[:, 0], 1e-5)

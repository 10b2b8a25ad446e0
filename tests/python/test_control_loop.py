"""The network of examples/control_loop."""

import runpy

import numpy as np

from kit import certreg, near, package, root

FOLDER = root / "examples/control_loop"
SCRIPT = runpy.run_path(str(FOLDER / "train.py"))
WEIGHTS = SCRIPT["train"]()


def test_the_script_makes_the_weights_again():
    data = b"".join(w.astype("<f4").tobytes() for w in WEIGHTS)
    assert data == (FOLDER / "weights.f32").read_bytes()


def test_it_reads_angles_in_onnx_too(folder):
    angle = np.linspace(-0.3, 0.3, 7)
    x = SCRIPT["images"](angle, np.full(7, 1.0)).astype(np.float32)
    y = SCRIPT["layers"](WEIGHTS, x)[-1]
    assert y[:, 0] == near(angle, 0.05)
    package("onnx")
    package("onnxruntime")
    (folder / "n.onnx").write_bytes(SCRIPT["onnx"](WEIGHTS))
    assert certreg.OnnxModel(folder / "n.onnx")(x).ravel() == near(y[:, 0], 1e-5)

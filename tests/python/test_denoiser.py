"""Denoisers that are trained, and joined with models as ONNX files."""

import random
import re
import subprocess
import sys

import numpy as np
import pytest

from kit import command_refused, environment, node, package, parametrize, root, said
from test_hostile_files import changed
from test_types import WRONG, answered
from certreg import OnnxModel, join_denoiser, train_denoiser
from certreg import training
from certreg.training import denoiser_file

MODELS, ENGINES = root / "examples/models", root / "tests/engines"
dice = np.random.default_rng  # (seed)
KINDS = (
    ((5,), {}),
    ((9, 7), {}),
    ((3, 8, 10), {}),
    ((21,), dict(signals=True)),
    ((2, 17), dict(signals=True)),
    ((5,), dict(scale=[1, 0, 2, 0, 0.5])),
)


@pytest.fixture
def onnx():
    return package("onnx")


@pytest.fixture
def torch(onnx):
    package("onnxruntime")
    return package("torch")


def smooth(shape, rows=60, seed=0):
    """Inputs with neighbours that are alike, so that noise can be told from them. The first feature
    is constant."""
    X = dice(seed).normal(size=(rows, *(1,) * len(shape))) + np.linspace(0, 1, shape[-1])
    X = np.broadcast_to(X, (rows, *shape)).copy()
    X.reshape(rows, -1)[:, 0] = 3
    return X


def trained(X, path="d.onnx", **more):
    given = dict(sigmas=(0.2, 1), steps=120, progress=False, **more)
    return train_denoiser(X, path, **given)


@parametrize("shape, more", *KINDS)
def test_noise_is_taken_away_from_each_row_alone(torch, folder, shape, more):
    X = smooth(shape)
    found = trained(X, **more)
    assert found.sigmas == pytest.approx([0.2 * 5 ** (i / 4) for i in range(5)])
    assert found.errors[-1] < 0.7
    f, scale = OnnxModel("d.onnx"), np.reshape(more.get("scale", np.ones(shape)), shape)
    x = (X[:9] + scale * dice(1).normal(size=(9, *shape))).astype(np.float32)
    x[0, ..., 1] = -0.0
    y = f(x).reshape(x.shape)
    left = (np.square(y - X[:9]).mean(0) / np.where(scale, scale, 1) ** 2)[scale > 0].mean()
    assert left < 0.7
    for i in range(9):
        np.testing.assert_array_equal(f(x[i : i + 1]).reshape(shape), y[i])
    exact = scale == 0
    assert (y[:, exact].view(np.int32) == x[:, exact].view(np.int32)).all()
    assert (y[:, ~exact] != x[:, ~exact]).any()


def until(step):
    """A progress function that interrupts a run."""

    def stop(done, steps):
        if done == step:
            raise KeyboardInterrupt

    return stop


def test_an_interrupted_training_goes_on_where_it_stopped(torch, folder, monkeypatch):
    monkeypatch.setattr(training, "KEPT_EVERY", 50)
    X = smooth((6, 4))
    given = dict(sigmas=(0.2, 1), steps=130)
    train_denoiser(X, "whole.onnx", **given, progress=False)
    for step in (1, 70, 130):
        with pytest.raises(KeyboardInterrupt):
            train_denoiser(X, "parts.onnx", **given, progress=until(step))
        assert not (folder / "parts.onnx").exists()
    state = (folder / "parts.onnx.partial").read_bytes()
    for other in (dict(seed=2), dict(steps=99), dict(sigmas=(0.3, 1)), dict(scale=2)):
        with pytest.raises(ValueError, match=r"parts.onnx.partial is the state of another run"):
            train_denoiser(X, "parts.onnx", **{**given, **other})
    with pytest.raises(ValueError, match="state of another run"):
        train_denoiser(X + 1, "parts.onnx", **given)
    (folder / "parts.onnx.partial").write_bytes(state[: len(state) // 2])
    with pytest.raises(ValueError, match=r"parts.onnx.partial is damaged: delete it"):
        train_denoiser(X, "parts.onnx", **given)
    (folder / "parts.onnx.partial").write_bytes(state)
    seen = []
    train_denoiser(X, "parts.onnx", **given, progress=lambda done, steps: seen.append(done))
    assert seen == list(range(101, 131))
    assert (folder / "parts.onnx").read_bytes() == (folder / "whole.onnx").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["parts.onnx", "whole.onnx"]
    trained(X, "other.onnx", seed=2)
    trained(X, "again.onnx", seed=2)
    both = [(folder / f"{name}.onnx").read_bytes() for name in ("other", "again")]
    assert both[0] == both[1] != (folder / "whole.onnx").read_bytes()


FLAT, WIDE = np.ones((3, 2)), np.arange(32.0).reshape(2, 4, 4)


@parametrize(
    "X, more, text",
    ([[1, np.nan], [2, 3]], {}, r"X\[0, 1\] is nan; it must be finite in float32"),
    (np.array([[1, 2], [3, 1e39]]), {}, r"X\[1, 1\] is 1e\+39; it must be finite"),
    (np.ones((1, 3)), {}, "X must have at least 2 rows that differ"),
    (FLAT, {}, "X must have at least 2 rows that differ"),
    (WIDE.reshape(2, 1, 1, 4, 4), {}, r"shape .2, 1, 1, 4, 4.; it must be .n, channels, height"),
    (WIDE[:, None], dict(signals=True), r"X has shape .2, 1, 4, 4.; it must be .n, channels, len"),
    (WIDE[:, :3], {}, r"shape .3, 4.; a side must be at least 4: give X.reshape"),
    (WIDE, dict(sigmas=(1, 0.5)), r"sigmas is .1, 0.5.; it must be .lowest, highest"),
    (WIDE, dict(sigmas=(0, 1)), r"sigmas\[0\] is 0; it must be positive"),
    (WIDE, dict(sigmas=(1,)), "it must be .lowest, highest"),
    (WIDE, dict(scale=-1), r"scale \* sigma must be 0 or from 1e-15 to"),
    (WIDE, dict(scale=0), "not 0 for all features"),
    (WIDE, dict(scale=np.ones(5)), r"scale has shape \(5,\); it must be \(4, 4\)"),
    *(
        (WIDE, dict(sigmas=s, scale=[1, *[at] * 15]), r"scale \* sigma must be 0 or from 1e-15")
        for s, at in (((1e-50, 1), 1), ((1, 1e200), 1), ((1e-3, 1), 1e-45), ((1, 10), 3e38))
    ),
    (WIDE, dict(steps=0), "steps is 0"),
)
def test_what_cannot_be_trained_is_refused(folder, X, more, text):
    with pytest.raises(ValueError, match=text):
        train_denoiser(X, "d.onnx", **{**dict(sigmas=(0.1, 1), steps=1), **more})
    assert not list(folder.iterdir())


def test_every_wrong_argument_is_named(torch, folder):
    given = dict(X=WIDE, path="d.onnx", sigmas=(0.1, 1), scale=1, steps=1, seed=1)
    for name in given:
        for wrong in WRONG[1:4] if name == "path" else WRONG:
            answered(lambda **all: train_denoiser(**all, progress=False), given, name, wrong)


def test_without_torch_it_is_said_what_is_missing(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="train_denoiser needs torch: pip install torch"):
        train_denoiser(WIDE, "d.onnx", sigmas=(0.1, 1))


@pytest.fixture
def without_onnx(monkeypatch):
    for name in ("onnx", "onnx.numpy_helper"):
        monkeypatch.setitem(sys.modules, name, None)
    return pytest.raises(ImportError, match="a trained denoiser needs onnx: pip install onnx")


def test_without_onnx_it_is_said_what_is_missing(without_onnx, folder):
    with without_onnx:
        join_denoiser(ENGINES / "dense.onnx", ENGINES / "dense.onnx", "j.onnx")


def test_without_onnx_nothing_is_trained(torch, without_onnx, folder):
    with without_onnx:
        train_denoiser(WIDE, "d.onnx", sigmas=(0.1, 1), progress=until(0))


def test_training_further_without_labels(torch):
    env = environment(OMP_NUM_THREADS="1")
    command = [sys.executable, root / "examples/python/fine_tune.py"]
    out = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    (radius, error), (longer, error_then) = re.findall(r"radius (\S+), mean error (\S+)", out)
    assert float(longer) > 1.1 * float(radius)
    assert float(error_then) < float(error) + 0.05  # a tenth of the tolerance


# ---- joined files, which need no torch
def denoiser(shape, inner=None, path="d.onnx"):
    """A denoiser with arbitrary weights."""
    inner = inner or shape
    arrays = training.at_first(inner, dice(4))
    for name in training.LAST:
        if name in arrays:
            arrays[name] += dice(5).normal(size=arrays[name].shape).astype(np.float32)
    arrays |= {name: np.ones((1,) * len(inner), np.float32) for name in ("mean", "inverse", "step")}
    with open(path, "wb") as file:
        file.write(denoiser_file(arrays, inner, shape, {}))


def in_order(onnx, path):
    """Whether each node of a file reads what was made before, as ONNX wants it."""
    graph = onnx.load(path).graph
    known = {one.name for one in (*graph.initializer, *graph.input)}
    for node in graph.node:
        if not {*node.input} <= known | {""}:
            return False
        known |= {*node.output}
    return True


@parametrize(
    "model, shape, inner",
    (MODELS / "rotation.onnx", (28, 28), (1, 28, 28)),
    (MODELS / "slant_clean.onnx", (784,), None),
    *((ENGINES / f"{name}.onnx", (6,), None) for name in ("dense", "older", "fixed", "image")),
    (ENGINES / "open.onnx", (1, 2, 3), (6,)),
    (ENGINES / "centred.onnx", (1, 6), (1, 6)),
    ids=lambda value: getattr(value, "stem", ""),
)
def test_a_joined_file_is_both(onnx, folder, model, shape, inner):
    package("onnxruntime")
    denoiser(shape, inner)
    join_denoiser("d.onnx", model, "j.onnx")
    f, g, both = OnnxModel(model), OnnxModel("d.onnx"), OnnxModel("j.onnx")
    assert (both.input, both.output, both.batch) == (f"{f.input}_noisy", f.output, f.batch)
    assert both.shape == (shape if None in f.shape else f.shape)
    x = dice(6).normal(size=(8, *both.shape)).astype(np.float32)
    clean = g(x).reshape(x.shape)
    assert in_order(onnx, "j.onnx")
    assert abs(clean - x).max() > 0.1
    np.testing.assert_array_equal(both(x), f(clean))


@parametrize(
    "model, shape, text",
    (ENGINES / "dense.onnx", (5,), r"takes rows of shape \[5\], and .*dense.onnx of \[6\]: train"),
    (ENGINES / "open.onnx", (6,), r"and .*open.onnx of \[1, 'H', 'W'\]"),
    (ENGINES / "two_inputs.onnx", (3,), "two_inputs.onnx cannot be joined: it has 2 inputs and"),
    (ENGINES / "no_output.onnx", (3,), "it has 1 inputs and 0 outputs"),
    (ENGINES / "float64.onnx", (6,), "its input must be a tensor of floats"),
    (ENGINES / "no_batch.onnx", (6,), r"must be .*, \(rows, features\) or more"),
    (ENGINES / "external.onnx", (6,), "constants are in another file; save it as one"),
    ("j.onnx", (6,), "j.onnx has a denoiser in front already"),
    ("old.onnx", (6,), "old.onnx has opset 8: convert it to 9 or later"),
    ("cut.onnx", (6,), "cut.onnx cannot be joined: it is damaged"),
    ("empty.onnx", (6,), "empty.onnx cannot be joined: it is no ONNX model"),
    ("bare.onnx", (6,), "bare.onnx has a denoiser in front already"),
)
def test_what_cannot_be_joined_is_refused(onnx, folder, model, shape, text):
    data = (ENGINES / "dense.onnx").read_bytes()
    denoiser((6,))
    join_denoiser("d.onnx", ENGINES / "dense.onnx", "j.onnx")
    (folder / "old.onnx").write_bytes(data.replace(b"B\x04\n\x00\x10\r", b"B\x04\n\x00\x10\x08"))
    (folder / "cut.onnx").write_bytes(data[:-3])
    (folder / "empty.onnx").write_bytes(b"")
    bare = onnx.load("j.onnx")
    bare.ClearField("metadata_props")
    onnx.save(bare, "bare.onnx")
    denoiser(shape)
    with pytest.raises(ValueError, match=text) as caught:
        join_denoiser("d.onnx", model, "out.onnx")
    assert "\n" not in str(caught.value)
    for other in (ENGINES / "dense.onnx", "j.onnx"):
        with pytest.raises(ValueError, match=r"(dense|j).onnx is no denoiser of train_denoiser"):
            join_denoiser(other, ENGINES / "dense.onnx", "out.onnx")
    assert not (folder / "out.onnx").exists()


def test_names_of_the_model_and_odd_fields_do_no_harm(onnx, folder):
    package("onnxruntime")
    model = onnx.load(ENGINES / "dense.onnx")
    (name,) = (x.name for x in model.graph.input)
    model.graph.node.append(node("Relu", [name], f"{name}_noisy"))
    odd = b"\x3a\x02\x58\x05"  # in the graph a number as an input
    (folder / "m.onnx").write_bytes(model.SerializeToString() + odd)
    denoiser((6,))
    join_denoiser("d.onnx", "m.onnx", b"j.onnx")
    (folder / "out.onnx").mkdir()
    with pytest.raises(OSError):
        join_denoiser("d.onnx", "m.onnx", "out.onnx")
    assert not list(folder.glob("*.new"))
    both, f, g = (OnnxModel(path) for path in ("j.onnx", "m.onnx", "d.onnx"))
    x = dice(6).normal(size=(8, 6)).astype(np.float32)
    assert both.input == f"{name}_noisy_"
    np.testing.assert_array_equal(both(x), f(g(x)))


@parametrize("damaged", "d.onnx", "m.onnx")
def test_damaged_files_are_refused_or_joined(onnx, folder, damaged):
    denoiser((6,))
    (folder / "m.onnx").write_bytes((ENGINES / "image.onnx").read_bytes())
    chance, good, refused = random.Random(7), (folder / damaged).read_bytes(), 0
    other = good[-400:] + good[:400]  # where there is more than weights
    for _ in range(300):
        (folder / damaged).write_bytes(changed(chance, good, other))
        try:
            join_denoiser("d.onnx", "m.onnx", "j.onnx")
        except ValueError as error:
            assert damaged in str(error)
            refused += 1
    assert 30 < refused < 300


# ---- the command
def test_the_command(torch, folder):
    np.save("x.npy", smooth((2, 3)).reshape(60, 6))
    words = ("--sigma", ".2,1", "--steps", "60", "-q")
    out, _ = said("denoise", "train", "x.npy", *words, "-o", "d.onnx")
    assert re.match(r" *sigma +error\n +0\.2 +0\.\d+\n", out) and "certreg sigma" in out
    said("denoise", "join", "d.onnx", ENGINES / "image.onnx", "-o", "j.onnx")
    assert OnnxModel("j.onnx").shape == (1, 2, 3)
    np.save("noise.npy", dice(0).normal(size=(60, 16)))
    words = ("--shape", "4,4", "--sigma", ".2,1", "--steps", "1")
    out, _ = said("denoise", "train", "noise.npy", *words, "-o", "n.onnx")
    assert "It is useless" in out
    assert OnnxModel("n.onnx").shape == (4, 4)


TRAIN = "denoise train x.npy --sigma .2,1"


@parametrize(
    "words, sentence",
    (f"{TRAIN} -o d.txt", r"d.txt must end with one of \.onnx"),
    (f"{TRAIN} -o d.onnx --shape 5,2", r"--shape is \(5, 2\), but x.npy has rows of 6"),
    (f"{TRAIN} -o d.onnx --shape 2x3", "--shape is '2x3'; it must be lengths, like 28,28"),
    (f"{TRAIN}", "required: -o"),
    ("denoise train x.npy -o d.onnx --sigma 1,.2", "--sigma is '1,.2'; it must be the lowest and"),
    ("denoise train x.npy -o d.onnx --sigma .2", "it must be the lowest and the highest"),
    ("denoise join x.npy x.npy -o j.onnx", "x.npy cannot be joined"),
    ("denoise", "choose from"),
    ("denoise away", "choose from"),
)
def test_what_the_command_refuses(onnx, folder, words, sentence):
    np.save("x.npy", smooth((6,)))
    command_refused(2, sentence, *words.split())
    command_refused(4, "No such file", "denoise", "join", "none.onnx", "x", "-o", "j.onnx")
    assert [path.name for path in folder.iterdir()] == ["x.npy"]

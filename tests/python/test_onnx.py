"""Models in ONNX files, and the networks of examples/models."""

import itertools
import sys

import numpy as np
import pytest

from kit import node, onnx_file, package, parametrize, root
from test_models import agrees, read_only, table
from certreg import OnnxModel, as_model
from certreg.frames import names_of

FOLDER, REGRESSOR = root / "examples/models", root / "tests/data/regressor.onnx"
sys.path.append(str(FOLDER))
from data import slant  # noqa: E402

FLOAT, INT64, FLOAT16, DOUBLE = 1, 7, 10, 11
numbers = itertools.count()


@pytest.fixture
def runtime(folder):
    return package("onnxruntime")


@pytest.fixture
def means(runtime, folder):
    """Makes the path of a model that returns the mean of a row, and minus that."""

    def made(batch, shape=(3,), kind=FLOAT, outputs=("y",)):
        axes = list(range(1, len(shape) + 1))
        whole = node("Identity", ["x"], "y")
        nodes = [
            node("ReduceMean", ["x"], "y", axes=axes, keepdims=0) if axes else whole,
            node("Neg", ["y"], "z"),
            node("Concat", ["y", "y"], "twice", axis=0),
            node("Cast", ["y"], "n", to=INT64),
        ]
        got = [(name, [batch], INT64 if name == "n" else kind) for name in outputs]
        return onnx_file(f"{next(numbers)}.onnx", nodes, [("x", [batch, *shape], kind)], got)

    return made


def test_a_network_with_a_free_batch(runtime):
    path = FOLDER / "rotation.onnx"
    f = OnnxModel(path)
    assert (f.shape, f.columns, f.batch) == ((784,), 2, None)
    assert (f.input, f.output, f.path) == ("x", "y", str(path))
    x = np.random.default_rng(2).random((5, 784), dtype=np.float32)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted = session.run(None, {"x": x})[0]
    for found in (f(x), f(x.reshape(5, 28, 28)), as_model(session)(x)):
        np.testing.assert_array_equal(found, wanted)
    agrees(f, lambda x: session.run(None, {"x": x})[0], 784, outputs=1, kind="angle_pair")


def test_models_of_skl2onnx(runtime, folder):
    skl2onnx, ensemble = package("skl2onnx"), package("sklearn.ensemble")
    X, y = table()
    fitted = ensemble.GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    path = folder / "gb.onnx"
    path.write_bytes(skl2onnx.to_onnx(fitted, X[:1].astype(np.float32)).SerializeToString())
    f = OnnxModel(path)
    assert (f.shape, f.columns, f.batch) == ((3,), 1, None)
    assert f(read_only()).shape == (200, 1)
    np.testing.assert_allclose(f(read_only())[:, 0], fitted.predict(X), atol=1e-3)
    agrees(f, lambda x: f(x)[:, 0])


@parametrize(
    "value, names",
    ('["a", "b", "c"]', ["a", "b", "c"]),
    ("a,b,c", None),
    ("[1, 2, 3]", None),
    (None, None),
)
def test_features_are_named_in_the_metadata(runtime, folder, value, names):
    path, entry = folder / "named.onnx", b""
    if value:
        pairs = ((0x0A, "feature_names"), (0x12, value))
        entry = b"".join(bytes([tag, len(text)]) + text.encode() for tag, text in pairs)
        entry = bytes([0x72, len(entry)]) + entry  # ModelProto, field 14
    path.write_bytes(REGRESSOR.read_bytes() + entry)
    assert OnnxModel(path).feature_names_in_ == names
    assert names_of(as_model(OnnxModel(path))) == names


@parametrize("batch", 1, 16, 200, 256)
def test_a_fixed_batch_is_filled(means, batch):
    f, free, x = OnnxModel(means(batch)), OnnxModel(means("N")), read_only()
    assert (f.batch, f.columns) == (batch, 1)
    for rows in (1, 15, 16, 17, 200):
        np.testing.assert_array_equal(f(x[:rows]), free(x[:rows]))
    agrees(f, free)


@parametrize("batch", "N", 16)  # filled, the first outputs would be there and be wrong
def test_outputs_have_a_row_for_each(means, batch):
    f = OnnxModel(means(batch, outputs=("twice",)))
    with pytest.raises(ValueError, match=r"'twice' .* shape \(32,\) for 16 rows"):
        f(read_only()[:16])


def test_rows_have_the_shape_of_the_model(means):
    f, x = OnnxModel(means("", (1, 3, 2))), np.arange(24, dtype=np.float32)
    wanted = x.reshape(4, 6).mean(1)
    for shape in ((4, 6), (4, 1, 3, 2), (4, 3, 2)):
        np.testing.assert_array_equal(f(x.reshape(shape)), wanted)
    with pytest.raises(ValueError, match=r"rows of shape \(1, 3, 2\), not \(8,\)"):
        f(x.reshape(3, 8))
    free = OnnxModel(means("N", ("H", "W")))
    assert free.shape == (None, None)
    np.testing.assert_array_equal(free(x.reshape(4, 3, 2)), wanted)


@parametrize("kind, dtype, within", (DOUBLE, np.float64, 1e-12), (FLOAT16, np.float16, 4e-3))
def test_other_precisions(means, kind, dtype, within):
    f, x = OnnxModel(means("N", kind=kind)), read_only()
    assert f(x).dtype == dtype
    wanted = x.astype(dtype).mean(1, dtype=np.float64)
    np.testing.assert_allclose(f(x), wanted, rtol=within, atol=within**2)
    agrees(f, lambda x: f(x))


def test_outputs_have_names(means):
    path, x = means("N", outputs=("y", "z")), read_only()
    assert OnnxModel(path).output == "y"
    np.testing.assert_array_equal(OnnxModel(path, output="z")(x), -OnnxModel(path)(x))
    with pytest.raises(ValueError, match="no output 'q'; it has y, z"):
        OnnxModel(path, output="q")
    with pytest.raises(ValueError, match="'n' of the model is tensor.int64.*: choose y"):
        OnnxModel(means("N", outputs=("n", "y")))


@parametrize(
    "wrong, error, text",
    ("none.onnx", FileNotFoundError, "there is no file .*none.onnx"),
    ("damaged.onnx", ValueError, "damaged.onnx cannot be opened as an ONNX model"),
    (dict(kind=INT64), ValueError, "x' of the model is tensor.int64.*: export it with such an in"),
    (dict(shape=()), ValueError, "first dimension must be the rows"),
)
def test_what_is_no_model_is_refused(means, folder, wrong, error, text):
    (folder / "damaged.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(error, match=text) as caught:
        OnnxModel(wrong if isinstance(wrong, str) else means("N", **wrong))
    assert "\n" not in str(caught.value)


def test_without_onnxruntime_it_is_said_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match="pip install onnxruntime"):
        OnnxModel("model.onnx")


# ---- the networks of examples/models
def images(count=20):
    return np.random.default_rng(3).normal(0.2, 0.5, (count, 28, 28)).astype(np.float32)


def bar(lean):
    """An image of a bar whose top is moved to the right by `lean` times its height."""
    image = np.zeros((28, 28), np.float32)
    for row in range(6, 22):
        at = 14 + round(lean * (14 - row))
        image[row, at - 1 : at + 2] = 1
    return image


def test_all_read_rows_of_784_pixels(runtime):
    for path in sorted([*FOLDER.glob("rotation*.onnx"), *FOLDER.glob("slant*.onnx")]):
        f, columns = OnnxModel(path), 1 if path.stem.startswith("slant") else 2
        assert (f.shape, f.columns, f.batch) == ((784,), columns, None)


def test_the_equivariant_answer_turns_with_the_image(runtime):
    f, x = OnnxModel(FOLDER / "rotation_equivariant.onnx"), images()
    y = f(x)
    for turns in range(1, 4):
        y = np.stack((-y[:, 1], y[:, 0]), 1)
        got = f(np.rot90(x, turns, (1, 2)))
        assert abs(got - y).max() < 1e-4 * abs(y).max()


def test_the_slant_of_a_bar():
    got = slant(np.stack([bar(0), bar(0.5), bar(-0.5), bar(1.0)]))
    np.testing.assert_allclose(got, [0, 26.6, -26.6, 45], atol=1.5)
    np.testing.assert_array_equal(slant([np.fliplr(np.eye(28)), np.eye(28)]), [45, -45])

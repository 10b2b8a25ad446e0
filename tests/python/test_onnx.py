"""Models in ONNX files."""

import pathlib
import pickle
import tempfile
import unittest

import numpy as np

from support import package, root, run
from test_models import Models, table
from certreg import OnnxModel, as_model
from certreg.names import names_of


class Onnx(Models):
    def setUp(self):
        self.runtime = package("onnxruntime")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def means(self, batch, shape=(3,), kind=np.float32, inputs=1, outputs=("y",), **more):
        """The path of a model that returns the mean of a row, and minus that."""
        onnx = package("onnx")
        make, tensor = onnx.helper, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        given = [
            make.make_tensor_value_info(f"x{i}", tensor, [batch, *shape]) for i in range(inputs)
        ]
        axes = list(range(1, len(shape) + 1))
        mean = (
            make.make_node("ReduceMean", ["x0"], ["y"], axes=axes, keepdims=0)
            if axes
            else (make.make_node("Identity", ["x0"], ["y"]))
        )
        nodes = [
            mean,
            make.make_node("Neg", ["y"], ["z"]),
            make.make_node("Concat", ["y", "y"], ["twice"], axis=0),
            make.make_node("Cast", ["y"], ["n"], to=onnx.TensorProto.INT64),
        ]
        kinds = {"n": onnx.TensorProto.INT64}
        got = [make.make_tensor_value_info(o, kinds.get(o, tensor), [batch]) for o in outputs]
        graph = make.make_graph(nodes, "mean", given, got)
        opset = [make.make_opsetid("", 13)]
        path = self.folder / f"{len(list(self.folder.iterdir()))}.onnx"
        onnx.save(make.make_model(graph, opset_imports=opset, ir_version=8), str(path))
        return path

    def test_a_network_with_a_free_batch(self):
        path = root / "examples" / "models" / "rotation.onnx"
        f = OnnxModel(path)
        self.assertEqual((f.shape, f.columns, f.batch), ((784,), 2, None))
        self.assertEqual((f.input, f.output, f.path), ("x", "y", str(path)))
        x = np.random.default_rng(2).random((5, 784), dtype=np.float32)
        session = self.runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        wanted = session.run(None, {"x": x})[0]
        np.testing.assert_array_equal(f(x), wanted)
        np.testing.assert_array_equal(f(x.reshape(5, 28, 28)), wanted)
        np.testing.assert_array_equal(as_model(session)(x), wanted)
        self.agrees(f, lambda x: session.run(None, {"x": x})[0], 784, outputs=1, kind="angle_pair")

    def test_models_of_skl2onnx(self):
        skl2onnx = package("skl2onnx")
        from sklearn.ensemble import GradientBoostingRegressor

        X, y = table()
        fitted = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
        path = self.folder / "gb.onnx"
        path.write_bytes(skl2onnx.to_onnx(fitted, X[:1].astype(np.float32)).SerializeToString())
        f = OnnxModel(path)
        self.assertEqual((f.shape, f.columns, f.batch), ((3,), 1, None))
        self.assertEqual(f(self.read_only()).shape, (200, 1))
        np.testing.assert_allclose(f(self.read_only())[:, 0], fitted.predict(X), atol=1e-3)
        self.agrees(f, lambda x: f(x)[:, 0])

    def test_features_are_named_in_the_metadata(self):
        plain = (root / "tests" / "data" / "regressor.onnx").read_bytes()
        path = self.folder / "named.onnx"
        for value, names in (
            ('["a", "b", "c"]', ["a", "b", "c"]),
            ("a,b,c", None),
            ("[1, 2, 3]", None),
        ):
            entry = b"".join(
                bytes([tag, len(text)]) + text.encode()
                for tag, text in ((0x0A, "feature_names"), (0x12, value))
            )
            path.write_bytes(plain + bytes([0x72, len(entry)]) + entry)  # ModelProto, field 14
            self.assertEqual(OnnxModel(path).feature_names_in_, names)
            self.assertEqual(names_of(as_model(OnnxModel(path))), names)
        self.assertIsNone(OnnxModel(root / "tests" / "data" / "regressor.onnx").feature_names_in_)

    def test_a_fixed_batch_is_filled(self):
        for batch in (1, 16, 200, 256):
            f = OnnxModel(self.means(batch))
            self.assertEqual((f.batch, f.columns), (batch, 1))
            x = self.read_only()
            for rows in (1, 15, 16, 17, 200):
                np.testing.assert_array_equal(f(x[:rows]), OnnxModel(self.means("N"))(x[:rows]))
        self.agrees(f, OnnxModel(self.means("N")))

    def test_outputs_have_a_row_for_each(self):
        for batch in ("N", 16):  # filled, the first outputs would be there and be wrong
            f = OnnxModel(self.means(batch, outputs=("twice",)))
            with self.assertRaisesRegex(ValueError, r"'twice' .* shape \(32,\) for 16 rows"):
                f(self.read_only()[:16])

    def test_rows_have_the_shape_of_the_model(self):
        f = OnnxModel(self.means(None, (1, 3, 2)))
        x = np.arange(24, dtype=np.float32)
        wanted = x.reshape(4, 6).mean(1)
        for shape in ((4, 6), (4, 1, 3, 2), (4, 3, 2)):
            np.testing.assert_array_equal(f(x.reshape(shape)), wanted)
        with self.assertRaisesRegex(ValueError, r"rows of shape \(1, 3, 2\), not \(8,\)"):
            f(x.reshape(3, 8))
        free = OnnxModel(self.means("N", ("H", "W")))
        self.assertEqual(free.shape, (None, None))
        np.testing.assert_array_equal(free(x.reshape(4, 3, 2)), wanted)

    def test_double_precision(self):
        f = OnnxModel(self.means("N", kind=np.float64))
        x = self.read_only()
        self.assertEqual(f(x).dtype, np.float64)
        np.testing.assert_allclose(f(x), x.mean(1, dtype=np.float64), rtol=1e-12)

    def test_outputs_have_names(self):
        path = self.means("N", outputs=("y", "z"))
        self.assertEqual(OnnxModel(path).output, "y")
        x = self.read_only()
        np.testing.assert_array_equal(OnnxModel(path, output="z")(x), -OnnxModel(path)(x))
        with self.assertRaisesRegex(ValueError, "no output 'q'; it has y, z"):
            OnnxModel(path, output="q")
        with self.assertRaisesRegex(ValueError, "'n' of the model is tensor.int64.*: choose y"):
            OnnxModel(self.means("N", outputs=("n", "y")))

    def test_models_travel_by_pickle(self):
        f = OnnxModel(self.means("N", outputs=("y", "z")), output="z")
        again = pickle.loads(pickle.dumps(f))
        self.assertIsNot(again.session, f.session)
        self.assertEqual((again.path, again.output), (f.path, "z"))
        np.testing.assert_array_equal(again(self.read_only()), f(self.read_only()))

    def test_what_is_no_model_is_refused(self):
        damaged = self.folder / "damaged.onnx"
        damaged.write_bytes(b"\xff" * 100)
        for wrong, error, text in (
            (self.folder / "none.onnx", FileNotFoundError, "there is no file .*none.onnx"),
            (damaged, ValueError, "damaged.onnx cannot be opened as an ONNX model"),
            (self.means("N", inputs=2), ValueError, "one input; it has x0, x1"),
            (self.means("N", kind=np.float16), ValueError, "is tensor.float16.; it must be float"),
            (self.means("N", ()), ValueError, "first dimension must be the rows"),
        ):
            with self.assertRaisesRegex(error, text) as caught:
                OnnxModel(wrong)
            self.assertNotIn("\n", str(caught.exception))


class WithoutOnnx(unittest.TestCase):
    def test_it_is_said_what_is_missing(self):
        try:
            import onnxruntime  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, "pip install onnxruntime"):
                OnnxModel("model.onnx")
        else:
            self.skipTest("onnxruntime is installed")


if __name__ == "__main__":
    run()

"""The networks of examples/models."""

import sys
import unittest

import numpy as np

from support import package, root, run
from certreg import OnnxModel

folder = root / "examples" / "models"
sys.path.append(str(folder))
from data import SLANT_RANGE, slant  # noqa: E402


def images(count=20):
    return np.random.default_rng(3).normal(0.2, 0.5, (count, 28, 28)).astype(np.float32)


def bar(lean):
    """An image of a bar whose top is moved to the right by `lean` times its height."""
    image = np.zeros((28, 28), np.float32)
    for row in range(6, 22):
        at = 14 + round(lean * (14 - row))
        image[row, at - 1 : at + 2] = 1
    return image


class Networks(unittest.TestCase):
    def network(self, name):
        package("onnxruntime")
        return OnnxModel(folder / f"{name}.onnx")

    def test_all_read_rows_of_784_pixels(self):
        for path in sorted(folder.glob("*.onnx")):
            with self.subTest(path.name):
                f = self.network(path.stem)
                columns = 1 if path.stem.startswith("slant") else 2
                self.assertEqual((f.shape, f.columns, f.batch), ((784,), columns, None))

    def test_the_equivariant_answer_turns_with_the_image(self):
        f, x = self.network("rotation_equivariant"), images()
        y = f(x)
        for turns in range(1, 4):
            y = np.stack((-y[:, 1], y[:, 0]), 1)
            got = f(np.rot90(x, turns, (1, 2)))
            self.assertLess(abs(got - y).max(), 1e-4 * abs(y).max())

    def test_an_angle_is_given_under_noise_too(self):
        for path in sorted(folder.glob("rotation*.onnx")):
            with self.subTest(path.name):
                y = self.network(path.stem)(images(500))
                self.assertGreater(np.hypot(*y.T).min(), 0)

    def test_a_slant_keeps_to_its_range(self):
        for name in "slant", "slant_clean":
            with self.subTest(name):
                y = self.network(name)(100 * images())
                self.assertGreaterEqual(y.min(), SLANT_RANGE[0])
                self.assertLessEqual(y.max(), SLANT_RANGE[1])

    def test_the_slant_of_a_bar(self):
        got = slant(np.stack([bar(0), bar(0.5), bar(-0.5), bar(1.0)]))
        np.testing.assert_allclose(got, [0, 26.6, -26.6, 45], atol=1.5)
        np.testing.assert_array_equal(slant([np.fliplr(np.eye(28)), np.eye(28)]), [45, -45])


if __name__ == "__main__":
    run()

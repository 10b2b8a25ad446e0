"""make reproduce, with as little of everything as possible: drawn digits, few samples."""

import csv
import gzip
import math
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

from support import package, root, run
from certreg import Bisection, Estimator, Question, Rows
from certreg._worker import Sampling, empty_certificates

sys.path[:0] = [str(root / "bench"), str(root / "examples" / "models")]
from page import BLOCK  # noqa: E402
from reproduce import digits, summary, sweep, tables, upward  # noqa: E402
from reproduce.methods import FAMILIES, MEDIAN, Asked  # noqa: E402
from reproduce.settings import SettingsError  # noqa: E402

DRAWINGS = root / os.environ.get("OBJ", "nowhere") / "libdigits.so"


def environment(out, **more):
    path = [str(root / name) for name in ("python", "bench", "examples/models", "lib/deps")]
    known = {k: v for k, v in os.environ.items() if k != "CERTREG_MNIST"}
    usual = {"QUICK": "2", "REPRODUCE_OUT": str(out), "REPRODUCE_JOBS": "1"}
    drawings = {"PYTHONPATH": os.pathsep.join(path), "REPRODUCE_DIGITS": str(DRAWINGS)}
    return {**known, **usual, **drawings, **more}


def reproduce(out, *parts, **more):
    return subprocess.run(
        [sys.executable, "-m", "reproduce", *parts],
        env=environment(out, **more),
        capture_output=True,
        text=True,
    )


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        package("onnxruntime")
        if not DRAWINGS.exists():
            raise unittest.SkipTest("the demo's drawings are not built: make check does it")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.out = pathlib.Path(cls.folder.name) / "out"
        cls.done = reproduce(cls.out)

    def test_every_part_and_the_page(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        page = (self.out / "reproduction.md").read_text(encoding="utf-8")
        published = (root / "docs" / "reproduction.md").read_text(encoding="utf-8")
        for match in BLOCK.finditer(page):
            self.assertNotEqual(match[2], "", match[1])
        self.assertNotEqual(BLOCK.findall(page), BLOCK.findall(published))

    def test_the_long_tables_are_those_beside_the_published_page(self):
        names = [path.name for path in (root / "docs" / "reproduction").iterdir()]
        for name in names:
            both = (self.out / "reproduction" / name, root / "docs" / "reproduction" / name)
            first, second = (path.read_text(encoding="utf-8").splitlines() for path in both)
            if name not in ("by_sigma.csv", "inside.csv"):  # other σ; none may be inside
                self.assertEqual(first[0], second[0])
        written = [path.name for path in (self.out / "reproduction").iterdir()]
        self.assertEqual(sorted(names), sorted(written))

    def test_radii_in_the_files_are_radii(self):
        with open(self.out / "rotation_summary.csv", newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual({line["task"] for line in lines} >= {"rotation", "rotation_random"}, True)
        for line in lines:
            radius, useful = float(line["mean_radius"]), float(line["useful_radius"])
            self.assertTrue(0 <= useful <= radius < 10 * float(line["sigma"]), line)
        medians = [float(line["mean_radius"]) for line in lines if line["method"] == "median"]
        self.assertGreater(max(medians), 0)

    def test_a_second_run_changes_nothing(self):
        before = {path.name: path.read_bytes() for path in self.out.glob("*.csv")}
        again = reproduce(self.out, "rotation", "intervals")
        self.assertEqual(again.returncode, 0, again.stderr)
        after = {path.name: path.read_bytes() for path in self.out.glob("*.csv")}
        self.assertEqual(before, after)

    def test_an_interrupted_run_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            command = [sys.executable, "-m", "reproduce", "slant"]
            first = subprocess.Popen(
                command, env=environment(out), stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            while not list(out.glob("slant_*.sqlite")) and first.poll() is None:
                time.sleep(0.01)
            first.send_signal(signal.SIGINT)
            said = first.communicate()[1].decode()
            if first.returncode != 0:  # else it had ended before the signal
                self.assertEqual(first.returncode, 130, said)
                self.assertEqual(said.count("\n"), 1, said)
            second = reproduce(out, "slant")
            self.assertEqual(second.returncode, 0, second.stderr)
            for name in ("slant_summary.csv", "slant_each.csv"):
                self.assertEqual((out / name).read_bytes(), (self.out / name).read_bytes())


class Readme(unittest.TestCase):
    def test_its_results_are_those_of_the_page(self):
        readme, page = (
            (root / name).read_text("utf-8") for name in ("README.md", "docs/reproduction.md")
        )
        results = readme.partition("## Results")[2].partition("\n## ")[0]
        lines = [line for line in results.splitlines() if line.startswith("|")]
        self.assertGreater(len(lines), len(summary.TASKS))
        self.assertLessEqual(set(lines), set(page.splitlines()))


class Upwards(unittest.TestCase):
    """The paper's algorithm as printed bounds one direction."""

    def asked(self, y, tolerance=0.2):
        with Estimator(None, 1, len(y), lo=-1, hi=1, seed=1) as e, Bisection() as search:
            e.begin([0.0], 1.0)
            e.record(0, np.asarray(y, np.float32))
            question = FAMILIES[2].make(tolerance, 0.1)
            both = e.certify(0, question).radius
            return upward.radius(search, e.bounds(question, "upper"), tolerance), both

    def test_the_shorter_direction_is_both(self):
        y = np.random.default_rng(3).normal(size=1000)
        skewed = np.where(y > 1, 0.9, -0.9)  # the mean is near the lower end: it rises further
        for sign in (1, -1):
            up, both = self.asked(sign * skewed)
            down, again = self.asked(-sign * skewed)
            self.assertAlmostEqual(both, min(up, down), delta=1e-9)
            self.assertAlmostEqual(again, both, delta=1e-9)
            self.assertGreater(sign * (down - up), 0.1)

    def test_equal_outputs_have_no_limit_there_and_no_radius_here(self):
        up, both = self.asked(np.full(100, 0.5))
        self.assertAlmostEqual(up, 10, delta=1e-9)
        self.assertEqual(both, 0)


class Mistakes(unittest.TestCase):
    def refused(self, part, *parts, status=1, **more):
        with tempfile.TemporaryDirectory() as folder:
            done = reproduce(pathlib.Path(folder) / "out", *parts, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(part, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_each_is_answered_by_one_sentence(self):
        self.refused("there is no part 'rotations'", "rotations", status=2)
        self.refused("QUICK is '7'", QUICK="7")
        self.refused("REPRODUCE_JOBS is 'many'", REPRODUCE_JOBS="many")
        self.refused("there is no t10k-images-idx3-ubyte", "rotation", CERTREG_MNIST="/nowhere")
        self.refused("cannot be made", REPRODUCE_OUT="/dev/null/x")


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        labels = np.arange(20, dtype=np.uint8) % 10
        pixels = np.random.default_rng(0).integers(0, 256, (20, 784), np.uint8)
        self.pixels = struct.pack(">4I", 0x803, 20, 28, 28) + pixels.tobytes()
        self.labels = struct.pack(">2I", 0x801, 20) + labels.tobytes()

    def load(self, pixels, labels, count=10):
        (self.folder / "t10k-images-idx3-ubyte").write_bytes(pixels)
        (self.folder / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
        return digits.load(self.folder, count)

    def test_images_are_stratified_and_none_is_taken_twice(self):
        found = self.load(self.pixels, self.labels, 20)
        self.assertEqual(found.label.tolist(), [*range(10), *range(10)])
        self.assertEqual(len({row.tobytes() for row in found.upright}), 20)
        with self.assertRaisesRegex(SettingsError, "too few images of digit 0"):
            self.load(self.pixels, self.labels, 21)

    def test_damaged_files_are_refused(self):
        for pixels, labels, part in (
            (self.pixels[:-1], self.labels, "truncated"),
            (self.pixels, self.labels[:5], "not an IDX file"),
            (b"", self.labels, "not an IDX file"),
            (struct.pack(">4I", 0x803, 20, 14, 56) + self.pixels[16:], self.labels, "shape"),
            (self.pixels, struct.pack(">2I", 0x801, 19) + self.labels[8:27], "differ"),
        ):
            with self.assertRaisesRegex(SettingsError, part):
                self.load(pixels, labels)
        (self.folder / "t10k-images-idx3-ubyte").unlink()
        (self.folder / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(self.pixels)[:-9])
        with self.assertRaisesRegex(SettingsError, "damaged"):
            digits.load(self.folder, 10)

    def test_turning(self):
        image = np.random.default_rng(1).random(784).astype(np.float32)
        quarter = digits.turned(image, math.pi / 2).reshape(28, 28)
        np.testing.assert_allclose(quarter, np.rot90(image.reshape(28, 28)), atol=1e-5)


class Summaries(unittest.TestCase):
    """Two images, two sigmas, one method."""

    def setUp(self):
        task = sweep.Task(
            "t", None, np.zeros((2, 1)), np.array([175.0, 0.0]), 10, -180, 180, "angle"
        )
        radius = np.array([[[0.1], [0.3]], [[0.2], [0.0]]])
        of_output = {"kind": task.kind, "lo": task.lo, "hi": task.hi}
        sampling = Sampling((1,), (0.25, 0.5), (1, 2), 100, seed=1, **of_output)
        answers, question = empty_certificates(2, 2, 1), Question(10)
        answers["prediction"] = [[[-180.0], [-170.0]], [[20.0], [1.0]]]
        rows = Rows(answers, np.ones(2, bool), {}, sampling, (question,))
        error = rows.label_errors(task.truth)
        asked = (Asked(MEDIAN, 0.1, None),)
        self.sweep = sweep.Sweep(task, (0.25, 0.5), asked, radius, error)

    def test_errors_are_arcs(self):
        self.assertEqual(self.sweep.error[:, :, 0].tolist(), [[5, 15], [20, 1]])

    def test_means_and_useful_radii(self):
        lines = sweep.summary(self.sweep)
        self.assertEqual([line["mean_radius"] for line in lines], [0.15000000000000002, 0.15])
        self.assertEqual([line["useful_radius"] for line in lines], [0.05, 0])
        self.assertEqual([line["mae_certified"] for line in lines], [12.5, 15])

    def test_the_paper_chooses_sigma_by_sums(self):
        lines = sweep.accuracy(self.sweep, (0.05, 0.15))
        found = {(line["metric"], line["radius"]): (line["sigma"], line["value"]) for line in lines}
        self.assertEqual(found["absolute", 0.05], (0.25, 50))
        self.assertEqual(found["absolute", 0.15], (0.25, 0))
        self.assertEqual(found["mae", 0.05], (0.5, 15))

    def test_tables(self):
        rows = [{"m": "a", "s": 0.5, "v": 1.0}, {"m": "a", "s": 1.0, "v": float("nan")}]
        beside = tables.Beside()
        beside.add("x", tables.wide(rows, ("m",), "s", "v"))
        with tempfile.TemporaryDirectory() as folder:
            beside.write(pathlib.Path(folder))
            written = (pathlib.Path(folder) / "x.csv").read_text(encoding="utf-8")
        self.assertEqual(written, "m,0.5,1\na,1.000,\n")


if __name__ == "__main__":
    run()

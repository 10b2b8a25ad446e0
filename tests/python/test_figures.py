"""The figures of the pages: make figures in small, and what is in docs/figures."""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

import numpy as np

from support import package, root, run
from certreg import Estimator
from certreg.plots import shares

sys.path[:0] = [str(root / "bench"), str(root / "examples" / "models")]
from figures import attacked, certificate, digit, radii, style  # noqa: E402
from figures.__main__ import PARTS  # noqa: E402
from reproduce import figures, labelled, methods, rotation, settings  # noqa: E402

DRAWINGS = root / os.environ.get("OBJ", "nowhere") / "libdigits.so"
LARGEST = 60 * 1024  # bytes
PUBLISHED = root / "docs" / "figures"
NAMES = {"certificate", "worst_function", "radii_by_sigma", "certified_accuracy"}
NAMES |= {"intervals_attacked", "attacked_digit"}


def small(out, size=settings.LEAST):
    return settings.Settings(size, None, pathlib.Path(out), 1)


def environment(out, **more):
    path = [str(root / name) for name in ("python", "bench", "examples/models", "lib/deps")]
    known = {k: v for k, v in os.environ.items() if k not in ("CERTREG_MNIST", "QUICK")}
    usual = {"REPRODUCE_OUT": str(out / "kept"), "FIGURES_OUT": str(out), "REPRODUCE_JOBS": "1"}
    path[:0] = more.pop("before", [])
    more |= {"PYTHONPATH": os.pathsep.join(path), "REPRODUCE_DIGITS": str(DRAWINGS)}
    return {**known, **usual, **more}


def drawings():
    """Skips the test where digits cannot be drawn."""
    if not DRAWINGS.exists():
        raise unittest.SkipTest("the demo's drawings are not built: make check does it")


def drawn_digits():
    """Skips the test also where the network cannot be run. A context in which digits are drawn."""
    package("onnxruntime")
    package("matplotlib")
    drawings()
    return unittest.mock.patch.dict(os.environ, REPRODUCE_DIGITS=str(DRAWINGS))


class Published(unittest.TestCase):
    """What is in docs/figures."""

    def test_every_figure_is_on_a_page_and_every_page_has_its_figures(self):
        shown = set()
        for page in [root / "README.md", *(root / "docs").rglob("*.md")]:
            for alt, link in re.findall(r"!\[([^]]*)\]\(([^)]+\.svg)\)", page.read_text("utf-8")):
                self.assertGreater(len(alt), 20, f"{page}: {link} needs a text for who cannot see")
                shown.add((page.parent / link).resolve())
        self.assertEqual(shown, set(PUBLISHED.glob("*.svg")))

    def test_those_that_are_made_are_there(self):
        self.assertLessEqual(NAMES, {path.stem for path in PUBLISHED.glob("*.svg")})

    def test_they_are_small_white_and_say_nothing_about_machine_or_date(self):
        for path in PUBLISHED.glob("*.svg"):
            with self.subTest(path.name):
                data, text = path.read_bytes(), path.read_text("utf-8")
                xml.fromstring(data)
                self.assertLess(len(data), LARGEST)
                self.assertIn("fill: #ffffff", text[:2000])  # legible on dark pages
                for private in ("<dc:date>", "file:", "/home", "/root", "/tmp", "/work", str(root)):
                    self.assertNotIn(private, text)
                self.assertEqual(figures.shortened(text), text)


    def test_captions_have_the_numbers_of_their_figures(self):
        page = (root / "docs" / "guide" / "tightness.md").read_text("utf-8")
        caption = page.split("attacked_digit.svg)\n\n")[1].split("\n\n")[0]
        drawing = (PUBLISHED / "attacked_digit.svg").read_text("utf-8")
        numbers = re.findall(r"\d+\.\d\d\d|\d+\.\d°", caption)
        self.assertEqual(len(numbers), 3)
        for number in numbers:
            self.assertIn(number, drawing)


class Certificate(unittest.TestCase):
    """The figure shows the certificate, and the true smoothed prediction stays in its box."""

    def test_the_smoothed_prediction_is_the_median(self):
        z = np.linspace(4.2, 5.8, 5)
        noise = certificate.SIGMA * np.random.default_rng(1).normal(size=200_000)
        for at, median in zip(z, certificate.smoothed(z)):
            below = np.mean(certificate.model((at + noise)[:, None]) <= median)
            self.assertAlmostEqual(below, 0.5, delta=0.006)

    def test_the_box_is_the_certificate_and_holds(self):
        package("matplotlib")
        for size in (settings.LEAST, settings.FULL):
            found = certificate.found(small("", size))
            c = found.certificate
            self.assertEqual(c.samples, size.samples)
            ax = certificate.drawn(found)
            box = ax.collections[0].get_paths()[0].get_extents()
            np.testing.assert_allclose(box.intervalx - certificate.Z, (-c.radius, c.radius))
            np.testing.assert_allclose(box.intervaly - c.prediction, (-1, 1))
            lines = {line.get_label(): np.array(line.get_data()) for line in ax.get_lines()}
            x, smooth = lines["T"]
            within = (x > box.x0) & (x < box.x1)
            self.assertTrue(within.sum() > 10)
            self.assertTrue(np.all((smooth > box.y0) & (smooth < box.y1) | ~within))
            f = lines["f"][1][within]
            self.assertTrue(np.any((f < box.y0) | (f > box.y1)))  # what the figure is to show
            self.assertTrue(np.any((smooth < box.y0) | (smooth > box.y1)))
        said = f"radius {style.certified(c.radius)}<"
        self.assertIn(said, (PUBLISHED / "certificate.svg").read_text("utf-8"))


    def test_radii_are_rounded_to_the_safe_side(self):
        for radius, below, above in ((0.6077, "0.607", "0.608"), (1.2999, "1.299", "1.300")):
            self.assertEqual(style.certified(radius), below)
            self.assertEqual(style.broken(radius), above)


class Radii(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        with drawn_digits(), unittest.mock.patch("builtins.print"):
            cls.done = radii.found(small(cls.folder.name))

    def test_they_are_those_of_the_certificates(self):
        done = self.done
        questions = [m.make(rotation.TOLERANCE, 0.1) for m in radii.ASKED]
        options = {"kind": "angle", "lo": -180, "hi": 180, "constraints": "ECGM"}
        with Estimator(done.task.model, 784, 200, seed=settings.SEED, **options) as e:
            for i, image in enumerate(done.task.inputs):
                for k, sigma in enumerate(done.sigmas):
                    e.begin(image, sigma, k * len(done.task.inputs) + i)
                    for q, c in enumerate(e.certify(200, *questions)):
                        self.assertEqual(done.radius[i, k, q], c.radius)
        self.assertGreater(done.radius.max(), 0)

    def test_curves_are_their_means(self):
        ax = radii.by_sigma(self.done)
        for panel, radius in zip(ax.figure.axes, (self.done.radius, self.done.useful)):
            for q, line in enumerate(panel.get_lines()):
                np.testing.assert_array_equal(line.get_xdata(), self.done.sigmas)
                np.testing.assert_array_equal(line.get_ydata(), radius[:, :, q].mean(0))
        self.assertEqual(len(panel.get_lines()), len(radii.ASKED))

    def test_accuracy_counts_digits_that_are_right(self):
        random = np.random.default_rng(3)
        shape = (50, 2, len(radii.ASKED))
        radius, error = random.uniform(0, 1, shape), random.uniform(0, 20, shape)
        done = dataclasses.replace(self.done, radius=radius, error=error)
        lines = radii.accuracy(done).get_lines()
        self.assertEqual(len(lines), len(radii.ASKED))
        for q, line in enumerate(lines):
            best = np.argmax(np.where(error <= 10, radius, 0)[:, :, q].mean(0))
            self.assertIn(f"σ = {done.sigmas[best]:g}", line.get_label())
            wanted = shares(radius[:, best, q], error[:, best, q] <= 10)
            np.testing.assert_array_equal(line.get_data(), wanted)
            r, share = (np.asarray(values) for values in line.get_data())
            area = np.sum(np.diff(r) * share[1:])  # a step has the share of its right end
            self.assertAlmostEqual(area, done.useful[:, best, q].mean())


class Attacked(unittest.TestCase):
    def test_shifts_have_their_length_and_do_harm(self):
        task = labelled.of_friedman(small(""))
        random, worse = np.random.default_rng(1), []
        for z, y in zip(task.inputs[:5], task.truth):
            for radius in (0.1, 0.5):
                for at in attacked._places(task, z, float(y), radius, 2.7, random):
                    length = np.linalg.norm((at - z).astype(float))
                    self.assertTrue(0.99 * radius < length <= radius)
            away = np.abs(task.model.outputs(np.array([z, at])) - y)
            worse.append(away[1] > away[0])
        self.assertEqual(worse, [True] * 5)

    def test_the_curves_are_shares(self):
        package("matplotlib")
        with unittest.mock.patch("builtins.print"):
            found = attacked.found(small(""))
        still, moved = found.inside[:, 0].mean(0), found.inside[:, -1].mean(0)
        self.assertTrue(np.all(moved <= still))
        self.assertLess(moved[1], still[1])
        self.assertTrue(np.all(found.width > 0))
        lines = attacked.drawn(found).get_lines()[1:]
        self.assertEqual(len(lines), 2)
        for j, line in enumerate(lines):
            np.testing.assert_array_equal(line.get_xdata(), attacked.STRENGTHS)
            np.testing.assert_array_equal(line.get_ydata(), found.inside[:, :, j].mean(0))


class Digit(unittest.TestCase):
    def test_what_is_drawn_is_what_was_found(self):
        with drawn_digits():
            size = dataclasses.replace(settings.LEAST, samples=1000)
            found = digit.found(small("", size))
        self.assertTrue(found.attack.broken)
        self.assertLess(found.certificate.radius, found.attack.radius)
        length = np.linalg.norm(found.attack.shift.astype(float))
        self.assertAlmostEqual(length / found.attack.radius, 1, delta=1e-6)
        panels = digit.drawn(found).figure.axes[:3]
        pictures = [panel.get_images()[0].get_array().ravel() for panel in panels]
        np.testing.assert_array_equal(pictures[0], found.image)
        np.testing.assert_array_equal(pictures[1], found.attack.shift)
        np.testing.assert_array_equal(pictures[2], found.image + found.attack.shift)
        for panel, angle in zip(panels[::2], (found.certificate.prediction, found.moved)):
            (foot, top), (low, high) = (line for line in panel.get_lines()[2].get_data())
            seen = np.degrees(np.arctan2(foot - top, low - high))  # counter-clockwise from upright
            self.assertAlmostEqual(np.cos(np.radians(seen - angle)), 1)


class Files(unittest.TestCase):
    def setUp(self):
        package("matplotlib")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def make(self, *parts, **more):
        return subprocess.run(
            [sys.executable, "-m", "figures", *parts],
            env=environment(self.out, **more),
            capture_output=True,
            text=True,
        )

    def written(self):
        return {path.stem for path in self.out.glob("*.*")}

    def test_everything_in_small_and_the_same_again(self):
        drawn_digits()
        done = self.make(QUICK="2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.written(), NAMES)
        first = {path: path.read_bytes() for path in self.out.glob("*.svg")}
        parts = [part for part in PARTS if part != "attacked"]
        self.assertEqual(self.make(*parts, QUICK="2").returncode, 0)
        for path, data in first.items():
            self.assertEqual(path.read_bytes(), data, path.name)
            xml.fromstring(data)

    def test_without_mnist_old_figures_stay(self):
        (self.out / "attacked_digit.svg").write_text("old")
        done = self.make("radii", "digit")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("left as it was: CERTREG_MNIST, the folder"), 2)
        self.assertEqual(self.written(), {"attacked_digit"})
        self.assertEqual((self.out / "attacked_digit.svg").read_text(), "old")

    def test_without_a_package_old_figures_stay(self):
        for name, part, figure in (
            ("matplotlib", "certificate", "certificate"),
            ("onnxruntime", "digit", "attacked_digit"),
        ):
            with self.subTest(name), tempfile.TemporaryDirectory() as hidden:
                if part == "digit":
                    drawings()
                (pathlib.Path(hidden) / f"{name}.py").write_text("raise ImportError")
                (self.out / f"{figure}.svg").write_text("old")
                done = self.make(part, before=[hidden], QUICK="2")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, f"left as it was: .*needs.* {name}")
                self.assertEqual((self.out / f"{figure}.svg").read_text(), "old")

    def test_mistakes(self):
        done = self.make("digits")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no part 'digits'; there are certificate,", done.stderr)
        done = self.make("digit", CERTREG_MNIST="/nowhere")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertIn("there is no t10k-images-idx3-ubyte", done.stderr)
        (self.out / "file").write_text("mine")
        done = self.make("certificate", FIGURES_OUT=str(self.out / "file"))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertRegex(done.stderr, "the folder .* cannot be made: .*FIGURES_OUT")
        self.assertEqual((self.out / "file").read_text(), "mine")

    def test_no_file_is_half_written(self):
        path = self.out / "a.svg"
        path.write_text("old")
        ax = figures.axes("x", "y", "")
        with unittest.mock.patch("os.replace", side_effect=OSError("full")):
            with self.assertRaises(OSError):
                figures.save(ax, path)
        self.assertEqual(path.read_text(), "old")
        self.assertEqual(os.listdir(self.out), ["a.svg"])
        figures.save(ax, path)
        xml.fromstring(path.read_bytes())

    def test_only_coordinates_are_shortened(self):
        svg = '<path d="M 1.23456 -0.001\nL 2.50001 3" id="d1.23456"/><text x="1.999">0.1234</text>'
        short = '<path d="M 1.23 0\nL 2.5 3" id="d1.23456"/><text x="2">0.1234</text>'
        self.assertEqual(figures.shortened(svg), short)


if __name__ == "__main__":
    run()

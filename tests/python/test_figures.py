"""The figures of the pages: make figures in small, and what is in docs/figures."""

import dataclasses
import os
import pathlib
import re
import xml.etree.ElementTree as xml
from unittest import mock

import numpy as np
import pytest

from kit import DRAWINGS, near, needs_drawings, package, parametrize, program, root
from certreg import Estimator
from certreg.plots import shares

from figures import attacked, certificate, control_loop, digit, radii, style
from figures.__main__ import PARTS
from reproduce import figures, labelled, moved, rotation, settings

LARGEST = 60 * 1024  # bytes
PUBLISHED = root / "docs" / "figures"
NAMES = {"certificate", "worst_function", "radii_by_sigma", "certified_accuracy"}
NAMES |= {"intervals_attacked", "attacked_digit", "control_loop"}


def small(out, size=settings.LEAST):
    return settings.Settings(size, None, pathlib.Path(out), 1)


@pytest.fixture(scope="module")
def digits():
    """Skips the test where digits cannot be drawn, or the network cannot be run."""
    package("matplotlib")
    needs_drawings()
    with mock.patch.dict(os.environ, REPRODUCE_DIGITS=str(DRAWINGS)):
        yield


def test_every_figure_is_on_a_page_and_every_page_has_its_figures():
    there = set()  # shown, or led to
    for page in [root / "README.md", *(root / "docs").rglob("*.md")]:
        text = page.read_text("utf-8")
        for shown, alt, link in re.findall(r"(!?)\[([^]]*)\]\(([^)]+\.svg)\)", text):
            if shown:
                assert len(alt) > 20, f"{page}: {link} needs a text for who cannot see"
            there.add((page.parent / link).resolve())
    assert there == set(PUBLISHED.glob("*.svg"))
    assert NAMES <= {path.stem for path in there}


def test_they_are_small_white_and_say_nothing_about_machine_or_date():
    for path in PUBLISHED.glob("*.svg"):
        data, text = path.read_bytes(), path.read_text("utf-8")
        assert xml.fromstring(data).get("width") == "374.4pt"  # legible on a telephone
        assert len(data) < LARGEST
        assert "fill: #ffffff" in text[:2000]  # legible on dark pages
        for private in ("<dc:date>", "file:", "/home", "/root", "/tmp", "/work", str(root)):
            assert private not in text
        assert figures.shortened(text) == text


def test_captions_have_the_numbers_of_their_figures():
    page = (root / "docs" / "guide" / "tightness.md").read_text("utf-8")
    caption = page.split("attacked_digit.svg)\n\n")[1].split("\n\n")[0]
    drawing = (PUBLISHED / "attacked_digit.svg").read_text("utf-8")
    numbers = re.findall(r"\d+\.\d\d\d|\d+\.\d°", caption)
    assert len(numbers) == 3
    for number in numbers:
        assert number in drawing


def test_the_smoothed_prediction_is_the_median():
    z = np.linspace(4.2, 5.8, 5)
    noise = certificate.SIGMA * np.random.default_rng(1).normal(size=200_000)
    for at, median in zip(z, certificate.smoothed(z)):
        below = np.mean(certificate.model((at + noise)[:, None]) <= median)
        assert below == near(0.5, 0.006)


def test_the_box_is_the_certificate_and_holds():
    package("matplotlib")
    for size in (settings.LEAST, settings.FULL):
        found = certificate.found(small("", size))
        c = found.certificate
        assert c.samples == size.samples
        ax = certificate.drawn(found)
        box = ax.collections[0].get_paths()[0].get_extents()
        np.testing.assert_allclose(box.intervalx - certificate.Z, (-c.radius, c.radius))
        np.testing.assert_allclose(box.intervaly - c.prediction, (-1, 1))
        lines = {line.get_label(): np.array(line.get_data()) for line in ax.get_lines()}
        x, smooth = lines["T"]
        within = (x > box.x0) & (x < box.x1)
        assert within.sum() > 10
        assert np.all((smooth > box.y0) & (smooth < box.y1) | ~within)
        f = lines["f"][1][within]
        assert np.any((f < box.y0) | (f > box.y1))  # what the figure is to show
        assert np.any((smooth < box.y0) | (smooth > box.y1))
    said = f"radius {style.certified(c.radius)}<"
    assert said in (PUBLISHED / "certificate.svg").read_text("utf-8")


def test_radii_are_rounded_to_the_safe_side():
    for radius, below, above in ((0.6077, "0.607", "0.608"), (1.2999, "1.299", "1.300")):
        assert style.certified(radius) == below
        assert style.broken(radius) == above


# ---- radii
@pytest.fixture(scope="module")
def done(digits, tmp_path_factory):
    with mock.patch("builtins.print"):
        return radii.found(small(tmp_path_factory.mktemp("radii")))


def test_they_are_those_of_the_certificates(done):
    questions = [m.make(rotation.TOLERANCE, 0.1) for m in radii.ASKED]
    options = {"kind": "angle", "lo": -180, "hi": 180, "constraints": "ECGM"}
    with Estimator(done.task.model, 784, 200, seed=settings.SEED, **options) as e:
        for i, image in enumerate(done.task.inputs):
            for k, sigma in enumerate(done.sigmas):
                e.begin(image, sigma, k * len(done.task.inputs) + i)
                for q, c in enumerate(e.certify(200, *questions)):
                    assert done.radius[i, k, q] == c.radius
    assert done.radius.max() > 0


def test_curves_are_their_means(done):
    ax = radii.by_sigma(done)
    for panel, radius in zip(ax.figure.axes, (done.radius, done.useful)):
        for q, line in enumerate(panel.get_lines()):
            np.testing.assert_array_equal(line.get_xdata(), done.sigmas)
            np.testing.assert_array_equal(line.get_ydata(), radius[:, :, q].mean(0))
    assert len(panel.get_lines()) == len(radii.ASKED)


def test_accuracy_counts_digits_that_are_right(done):
    random = np.random.default_rng(3)
    shape = (50, 2, len(radii.ASKED))
    radius, error = random.uniform(0, 1, shape), random.uniform(0, 20, shape)
    done = dataclasses.replace(done, radius=radius, error=error)
    lines = radii.accuracy(done).get_lines()
    assert len(lines) == len(radii.ASKED)
    for q, line in enumerate(lines):
        best = np.argmax(np.where(error <= 10, radius, 0)[:, :, q].mean(0))
        assert f"σ = {done.sigmas[best]:g}" in line.get_label()
        wanted = shares(radius[:, best, q], error[:, best, q] <= 10)
        np.testing.assert_array_equal(line.get_data(), wanted)
        r, share = (np.asarray(values) for values in line.get_data())
        area = np.sum(np.diff(r) * share[1:])  # a step has the share of its right end
        assert area == near(done.useful[:, best, q].mean())


def test_shifts_have_their_length_and_do_harm():
    task = labelled.of_friedman(small(""))
    random, worse = np.random.default_rng(1), []
    for z, y in zip(task.inputs[:5], task.truth):
        for radius in (0.1, 0.5):
            for at in moved.places(task.model, z, float(y), radius, 2.7, random):
                length = np.linalg.norm((at - z).astype(float))
                assert 0.99 * radius < length <= radius
        away = np.abs(task.model.outputs(np.array([z, at])) - y)
        worse.append(away[1] > away[0])
    assert worse == [True] * 5


def test_the_curves_are_shares():
    package("matplotlib")
    with mock.patch("builtins.print"):
        found = attacked.found(small(""))
    still, under = found.inside[:, 0].mean(0), found.inside[:, -1].mean(0)
    assert np.all(under <= still)
    assert under[1] < still[1]
    assert np.all(found.width > 0)
    lines = attacked.drawn(found).get_lines()[1:]
    assert len(lines) == 2
    for j, line in enumerate(lines):
        np.testing.assert_array_equal(line.get_xdata(), attacked.STRENGTHS)
        np.testing.assert_array_equal(line.get_ydata(), found.inside[:, :, j].mean(0))


def test_what_is_drawn_is_what_was_found(digits):
    found = digit.found(small("", dataclasses.replace(settings.LEAST, samples=1000)))
    assert found.attack.broken
    assert found.certificate.radius < found.attack.radius
    length = np.linalg.norm(found.attack.shift.astype(float))
    assert length / found.attack.radius == near(1, 1e-6)
    panels = digit.drawn(found).figure.axes[:3]
    pictures = [panel.get_images()[0].get_array().ravel() for panel in panels]
    np.testing.assert_array_equal(pictures[0], found.image)
    np.testing.assert_array_equal(pictures[1], found.attack.shift)
    np.testing.assert_array_equal(pictures[2], found.image + found.attack.shift)
    for panel, angle in zip(panels[::2], (found.certificate.prediction, found.moved)):
        (foot, top), (low, high) = (line for line in panel.get_lines()[2].get_data())
        seen = np.degrees(np.arctan2(foot - top, low - high))  # counter-clockwise from upright
        assert np.cos(np.radians(seen - angle)) == near(1)


def test_the_loop_falls_where_it_trusts_the_network():
    package("matplotlib")
    trace = control_loop.found(small(""))
    upper, lower = control_loop.drawn(trace).figure.axes
    last = {line.get_label(): line.get_xdata()[-1] for line in upper.get_lines()}
    assert last["network"] < 9 < last["network, certified"]
    left = lower.get_lines()[0].get_ydata()
    used = trace[trace["trust"] == 2]["source"] > 0
    np.testing.assert_array_equal(used, left >= control_loop.BOUND)


# ---- files
def make(out, *parts, **more):
    """The status of make figures, and what it says."""
    done = program(
        "figures", out / "kept", *parts, **{"QUICK": None, "FIGURES_OUT": str(out), **more}
    )
    return done.returncode, done.stdout, done.stderr


def written(out):
    return {path.stem for path in out.glob("*.*")}


def test_everything_in_small_and_the_same_again(digits, tmp_path):
    status, _, err = make(tmp_path, QUICK="2")
    assert (status, err) == (0, "")
    assert written(tmp_path) == NAMES
    first = {path: path.read_bytes() for path in tmp_path.glob("*.svg")}
    parts = [part for part in PARTS if part != "attacked"]
    assert make(tmp_path, *parts, QUICK="2")[0] == 0
    for path, data in first.items():
        assert path.read_bytes() == data, path.name
        xml.fromstring(data)


def test_without_mnist_old_figures_stay(tmp_path):
    package("matplotlib")
    (tmp_path / "attacked_digit.svg").write_text("old")
    status, out, err = make(tmp_path, "radii", "digit")
    assert (status, err) == (0, "")
    assert out.count("left as it was: CERTREG_MNIST, the folder") == 2
    assert written(tmp_path) == {"attacked_digit"}
    assert (tmp_path / "attacked_digit.svg").read_text() == "old"


@parametrize(
    "name, part, figure",
    ("matplotlib", "certificate", "certificate"),
    ("onnxruntime", "digit", "attacked_digit"),
)
def test_without_a_package_old_figures_stay(digits, tmp_path, name, part, figure):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{name}.py").write_text("raise ImportError")
    (tmp_path / f"{figure}.svg").write_text("old")
    status, out, err = make(tmp_path, part, before=[hidden], QUICK="2")
    assert (status, err) == (0, "")
    assert re.search(f"left as it was: .*needs.* {name}", out)
    assert (tmp_path / f"{figure}.svg").read_text() == "old"


@parametrize(
    "part, status, sentence, more",
    ("digits", 2, "there is no part 'digits'; there are certificate,", {}),
    ("digit", 1, "there is no t10k-images-idx3-ubyte", dict(CERTREG_MNIST="/nowhere")),
    ("certificate", 1, "the folder .* cannot be made: .*FIGURES_OUT", dict(FIGURES_OUT="file")),
)
def test_mistakes(folder, part, status, sentence, more):
    package("matplotlib")
    (folder / "file").write_text("mine")
    found, _, err = make(folder, part, **more)
    assert (found, err.count("\n")) == (status, 1)
    assert re.search(sentence, err)
    assert (folder / "file").read_text() == "mine"


def test_no_file_is_half_written(tmp_path):
    package("matplotlib")
    path = tmp_path / "a.svg"
    path.write_text("old")
    ax = figures.axes("x", "y", "")
    with mock.patch("os.replace", side_effect=OSError("full")), pytest.raises(OSError):
        figures.save(ax, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.svg"]
    figures.save(ax, path)
    xml.fromstring(path.read_bytes())


def test_only_coordinates_are_shortened():
    svg = '<path d="M 1.23456 -0.001\nL 2.50001 3" id="d1.23456"/><text x="1.999">0.1234</text>'
    short = '<path d="M 1.23 0\nL 2.5 3" id="d1.23456"/><text x="2">0.1234</text>'
    assert figures.shortened(svg) == short

"""The figures of the pages: make figures in small, and what is in docs/figures."""

import os
import pathlib
import re
import xml.etree.ElementTree as xml
from unittest import mock

import numpy as np
import pytest

from kit import DRAWINGS, needs_drawings, package, parametrize, program, root

from figures import certificate, style
from figures.__main__ import PARTS
from reproduce import settings

PUBLISHED = root / "docs" / "figures"
NAMES = {"certificate", "worst_function", "radii_by_sigma", "certified_accuracy"}
NAMES |= {"intervals_attacked", "attacked_digit", "control_loop", "episode"}


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
                assert alt, f"{page}: {link} needs a text for who cannot see"
            there.add((page.parent / link).resolve())
    assert there == set(PUBLISHED.glob("*.svg"))
    assert NAMES <= {path.stem for path in there}
    for path in there:
        text = path.read_text("utf-8")
        for private in ("<dc:date>", "file:", "/home", "/root", "/tmp", "/work", str(root)):
            assert private not in text, path
        assert "prefers-color-scheme:dark" in text, path


def test_the_box_is_the_certificate_and_holds():
    package("matplotlib")
    found = certificate.found(small(""))
    c = found.certificate
    assert c.samples == settings.LEAST.samples
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


def test_radii_are_rounded_to_the_safe_side():
    for radius, below, above in ((0.6077, "0.607", "0.608"), (1.2999, "1.299", "1.300")):
        assert style.certified(radius) == below
        assert style.broken(radius) == above


# ---- files
def make(out, *parts, **more):
    """The status of make figures, and what it says."""
    done = program("figures", out / "kept", *parts,
                   **{"QUICK": None, "FIGURES_OUT": str(out), **more})
    return done.returncode, done.stdout, done.stderr


def written(out):
    return {path.stem for path in out.glob("*.*")}


def test_everything_in_small_and_the_same_again(digits, tmp_path):
    status, _, err = make(tmp_path, QUICK="2")
    assert (status, err) == (0, "")
    assert written(tmp_path) == NAMES
    first = {path: path.read_bytes() for path in tmp_path.glob("*.svg")}
    parts = [part for part in PARTS if part in ("certificate", "radii")]
    assert make(tmp_path, *parts, QUICK="2")[0] == 0
    for path, data in first.items():
        assert path.read_bytes() == data, path.name
        xml.fromstring(data)


@parametrize("name, needs", ("matplotlib", ".*needs.* matplotlib"), ("no", "CERTREG_MNIST, the"))
def test_without_a_package_or_digits_old_figures_stay(tmp_path, name, needs):
    package("matplotlib")
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{name}.py").write_text("raise ImportError")
    (tmp_path / "attacked_digit.svg").write_text("old")
    status, out, err = make(tmp_path, "digit", before=[hidden])
    assert (status, err) == (0, "")
    assert re.search(f"left as it was: {needs}", out)
    assert (tmp_path / "attacked_digit.svg").read_text() == "old"

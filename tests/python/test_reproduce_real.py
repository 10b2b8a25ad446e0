"""The part of make reproduce about the models of examples/real, with one that needs no package."""

import csv

import numpy as np
import pytest

from kit import needs_sources
from reproduce import real, settings, tables

pytestmark = needs_sources
TOY = """
import numpy as np
NAME, TOLERANCE, SCALE, SIGMAS, RANGE = "toy", 1.0, np.array([1, 10, 0]), (0.1, 0.2, 0.4), (-3, 3)
def inputs():
    return np.array([[0, 0, 1], [1, 20, 0], [9, 9, 9]]), np.array([1, 3, 9])
def make_model():
    return lambda x: x[:, 0] + x[:, 1] / 10 + x[:, 2]
"""


@pytest.fixture
def computed(folder, monkeypatch):
    """The settings of a run with this example and with one that lacks its package."""
    for name, text in (("toy", TOY), ("lacking", "import there_is_no_such_package")):
        (folder / f"examples/real/{name}").mkdir(parents=True)
        (folder / f"examples/real/{name}/{name}.py").write_text(text)
    monkeypatch.setattr(real, "ROOT", folder)
    monkeypatch.setattr(real.sys, "path", list(real.sys.path))
    of_both = (1, lambda module: module.RANGE)
    monkeypatch.setattr(real, "EXAMPLES", {"lacking": of_both, "toy": of_both})
    few = settings.Settings(settings.LEAST, None, folder, 1)
    real.compute(few)
    yield few
    real.sys.modules.pop("toy", None)


def test_what_lacks_a_package_is_left_out(computed, capsys):
    real.compute(computed)
    said = capsys.readouterr().out
    assert "lacking is left out: No module named 'there_is_no_such_package'" in said
    beside = tables.Beside()
    blocks = real.report(computed, beside)
    assert [line.split(" | ")[0] for line in blocks["real_useful"].splitlines()[2:]] == ["| `toy`"]
    assert {row["network"] for rows in beside.rows.values() for row in rows} == {"toy"}


def test_radii_are_in_units_of_the_scale(computed):
    """The model moves by a tolerance of 1 at a radius of 0.71, as its two features with noise."""
    with open(computed.path("real_summary.csv"), newline="", encoding="utf-8") as file:
        (row,) = (row for row in csv.DictReader(file) if row["method"] == "median")
    assert row["sigma"] == "0.2"  # with QUICK=2 every other one
    assert row["images"] == row["certified"] == "2"
    assert 0.4 < float(row["mean_radius"]) < np.sqrt(0.5)


def test_outputs_are_clipped(computed):
    model = real.clipped("toy", -1, 1)
    assert model(np.array([[5.0, 0, 0], [-5.0, 0, 0], [0.5, 0, 0]])).tolist() == [1, -1, 0.5]


def test_without_any_example_the_page_says_so(computed):
    real.EXAMPLES.pop("toy")
    real.compute(computed)
    beside = tables.Beside()
    assert set(real.report(computed, beside).values()) == {real.NONE}
    assert not any(beside.rows.values())

"""Plots of certificates."""

import io
import sys

import numpy as np
import pytest

from kit import no_warnings, package, parametrize
from certreg import Bounds, Solver, plot_accuracy, plot_radii, plot_reach, plot_worst_function
from certreg.plots import shares

RADII = [0.5, 0.0, 0.25, 0.5, np.nan]


@pytest.fixture
def matplotlib():
    return package("matplotlib")


def share_at(corners, share, radius):
    """The share that the steps show at a radius, which is the share at the next corner."""
    return share[np.searchsorted(corners, radius)]


def test_they_count_the_inputs():
    corners, share = shares(RADII, True)
    for radius, wanted in ((0.1, 0.6), (0.25, 0.6), (0.26, 0.4), (0.5, 0.4)):
        assert share_at(corners, share, radius) == wanted
    assert (corners[0], share[0], corners[-1], share[-1]) == (0, 0.6, 0.5, 0)
    assert share_at(*shares(RADII, [True, True, False, False, True]), 0.2) == 0.2
    assert [part.tolist() for part in shares([0, 0], True)] == [[0], [0]]  # nothing is certified


@parametrize("name, begins", ("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF"))
def test_they_are_written_in_the_format_of_the_suffix(matplotlib, folder, name, begins):
    with no_warnings():
        plot_radii({"mine": RADII}, folder / name)
    assert (folder / name).read_bytes().startswith(begins)


def test_curves_are_what_was_given(matplotlib):
    with no_warnings():
        ax = plot_accuracy({"a": (RADII, [True] * 5), "b": ([1], [False])}, title="Two")
    assert ax.get_title() == "Two"
    assert [line.get_label() for line in ax.get_lines()] == ["a", "b"]
    for line, of in zip(ax.get_lines(), ((RADII, True), ([1], False))):
        np.testing.assert_array_equal(line.get_data(), shares(*of))
        assert line.get_drawstyle() == "steps-pre"  # the share of the next corner


def test_they_draw_into_axes_and_leave_windows_alone(matplotlib):
    from matplotlib.figure import Figure

    left, right = Figure().subplots(1, 2)
    assert plot_radii({"a": RADII}, ax=left) is left
    assert plot_reach([1], [2], [3], 2.5, ax=right) is right
    assert left.get_lines() and right.get_lines()
    plot_radii({"a": RADII})
    assert "matplotlib.pyplot" not in sys.modules


def test_reach_leaves_out_what_is_not_bounded(matplotlib):
    inf = np.inf
    with no_warnings():
        ax = plot_reach([0, 1, 2, 3], [0.9, 0.5, 0, -inf], [1.1, 1.5, inf, inf], 1.0)
        ax.figure.savefig(io.BytesIO(), format="png")
    drawn = np.concatenate([path.vertices for path in ax.collections[0].get_paths()])
    assert np.isfinite(drawn).all()
    assert drawn[:, 0].max() == 1
    assert (drawn[:, 1].min(), drawn[:, 1].max()) == (0.5, 1.5)
    with pytest.raises(ValueError, match="one dimension and the same length"):
        plot_reach([0, 1], [0], [1], 0.5)


def test_worst_functions_have_their_steps(matplotlib):
    bounds = Bounds(1.0, mean_lo=0.3, mean_hi=0.3, range_lo=0.0, range_hi=1.0)
    with Solver() as s:
        f = s.worst_function(bounds, 0.5, "upper")
    with no_warnings():
        ax = plot_worst_function({"half-space": f}, title="Worst")
        alone = plot_worst_function(f).get_lines()[0]
    t, u = ax.get_lines()[0].get_data()
    assert t[np.searchsorted(u, 0.5) - 1] == f.breakpoints[0]
    assert (t[0], u[0], u[-1], ax.get_xlim()[0]) == (-4, 0, 1, -4)
    np.testing.assert_array_equal(u, f.values(t))
    assert alone.get_label() == "radius 0.5"
    np.testing.assert_array_equal(alone.get_data(), (t, u))


def test_without_matplotlib_it_is_said_what_is_missing(monkeypatch):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="a plot needs matplotlib: pip install"):
        plot_radii({"a": RADII})

"""Plots of certificates."""

import io
import pathlib
import sys
import tempfile
import unittest

import numpy as np

from support import no_warnings, package, run
from certreg import Bounds, plot_accuracy, plot_radii, plot_reach, plot_worst_function, Solver
from certreg.plots import shares

RADII = [0.5, 0.0, 0.25, 0.5, np.nan]


class Shares(unittest.TestCase):
    def share_at(self, corners, share, radius):
        """The share that the steps show at a radius, which is the share at the next corner."""
        return share[np.searchsorted(corners, radius)]

    def test_they_count_the_inputs(self):
        corners, share = shares(RADII, True)
        for radius, wanted in ((0.1, 0.6), (0.25, 0.6), (0.26, 0.4), (0.5, 0.4)):
            self.assertEqual(self.share_at(corners, share, radius), wanted)
        self.assertEqual((corners[0], share[0], corners[-1], share[-1]), (0, 0.6, 0.5, 0))
        corners, share = shares(RADII, [True, True, False, False, True])
        self.assertEqual(self.share_at(corners, share, 0.2), 0.2)

    def test_random_radii(self):
        random = np.random.default_rng(2)
        radii, correct = np.maximum(random.normal(size=200), 0), random.random(200) < 0.7
        corners, share = shares(radii, correct)
        for radius in random.uniform(0.001, corners[-1], 50):
            wanted = np.mean((radii >= radius) & correct)
            self.assertAlmostEqual(self.share_at(corners, share, radius), wanted)

    def test_nothing_certified(self):
        corners, share = shares([0, 0], True)
        self.assertEqual((corners.tolist(), share.tolist()), ([0], [0]))

    def test_what_does_not_fit_is_refused(self):
        with self.assertRaisesRegex(ValueError, "'mine' has radii of shape"):
            shares([], True, "mine")
        with self.assertRaisesRegex(ValueError, "2 radii, but 3 values"):
            shares([1, 2], [True] * 3)


class Plots(unittest.TestCase):
    def setUp(self):
        package("matplotlib")

    def test_they_are_written_in_the_format_of_the_suffix(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, begins in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
                path = pathlib.Path(folder) / name
                with no_warnings():
                    plot_radii({"mine": RADII}, path)
                self.assertTrue(path.read_bytes().startswith(begins))

    def test_curves_are_what_was_given(self):
        with no_warnings():
            ax = plot_accuracy({"a": (RADII, [True] * 5), "b": ([1], [False])}, title="Two")
        self.assertEqual(ax.get_title(), "Two")
        self.assertEqual([line.get_label() for line in ax.get_lines()], ["a", "b"])
        for line, of in zip(ax.get_lines(), ((RADII, True), ([1], False))):
            np.testing.assert_array_equal(line.get_data(), shares(*of))
            self.assertEqual(line.get_drawstyle(), "steps-pre")  # the share of the next corner

    def test_they_draw_into_axes(self):
        from matplotlib.figure import Figure

        left, right = Figure().subplots(1, 2)
        for draw, ax in (
            (lambda ax: plot_radii({"a": RADII}, ax=ax), left),
            (lambda ax: plot_reach([1], [2], [3], 2.5, ax=ax), right),
        ):
            self.assertIs(draw(ax), ax)
            self.assertTrue(ax.get_lines())

    def test_reach_leaves_out_what_is_not_bounded(self):
        inf = np.inf
        with no_warnings():
            ax = plot_reach([0, 1, 2, 3], [0.9, 0.5, 0, -inf], [1.1, 1.5, inf, inf], 1.0)
            ax.figure.savefig(io.BytesIO(), format="png")
        drawn = np.concatenate([path.vertices for path in ax.collections[0].get_paths()])
        self.assertTrue(np.isfinite(drawn).all())
        self.assertEqual(drawn[:, 0].max(), 1)
        self.assertEqual((drawn[:, 1].min(), drawn[:, 1].max()), (0.5, 1.5))
        with self.assertRaisesRegex(ValueError, "one dimension and the same length"):
            plot_reach([0, 1], [0], [1], 0.5)

    def test_worst_functions_have_their_steps(self):
        bounds = Bounds(1.0, mean_lo=0.3, mean_hi=0.3, range_lo=0.0, range_hi=1.0)
        with Solver() as s:
            f = s.worst_function(bounds, 0.5, "upper")
        with no_warnings():
            ax = plot_worst_function({"half-space": f}, title="Worst")
        t, u = ax.get_lines()[0].get_data()
        self.assertEqual(t[np.searchsorted(u, 0.5) - 1], f.breakpoints[0])
        self.assertEqual((t[0], u[0], u[-1]), (-4, 0, 1))
        np.testing.assert_array_equal(u, f.values(t))
        with no_warnings():
            alone = plot_worst_function(f).get_lines()[0]
        self.assertEqual(alone.get_label(), "radius 0.5")
        np.testing.assert_array_equal(alone.get_data(), (t, u))
        self.assertEqual(ax.get_xlim()[0], -4)

    def test_windows_are_left_alone(self):
        plot_radii({"a": RADII})
        self.assertNotIn("matplotlib.pyplot", sys.modules)


class WithoutMatplotlib(unittest.TestCase):
    def test_it_is_said_what_is_missing(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, "a plot needs matplotlib: pip install"):
                plot_radii({"a": RADII})
        else:
            self.skipTest("matplotlib is installed")


if __name__ == "__main__":
    run()

"""What make reproduce compares the library with: true radii, and estimates in NumPy."""

import math
import sys
import unittest

import numpy as np

from support import package, root, run

sys.path[:0] = [str(root / "bench"), str(root / "examples" / "models")]
from reproduce import methods, synthetic, truth  # noqa: E402

QUADRATIC, SLICE, SANDWICH, SLAB = truth.FUNCTIONS
SHIFTS = np.linspace(-3, 3, 6001)


class Truth(unittest.TestCase):
    def test_means_and_shares_are_those_of_samples(self):
        random = np.random.default_rng(5)
        noise = random.normal(size=(100_000, 2))
        for f in truth.FUNCTIONS:
            for sigma, level in ((0.2, 0.3), (0.5, 0.8)):
                z = random.uniform(-1, 1, 2)
                y, p = f(z + sigma * noise).astype(float), np.array(f.position(z))
                with self.subTest(f.name, sigma=sigma):
                    self.assertAlmostEqual(y.mean(), float(f.mean(p, sigma)), delta=0.01)
                    share = float(f.at_most(p, sigma, level))
                    self.assertAlmostEqual(np.mean(y <= level), share, delta=0.01)

    def test_the_mean_of_a_quadratic_has_a_closed_form(self):
        for p in (0.0, 0.3, 1.2):
            center = float(QUADRATIC.mean(np.array(p), 0.2))
            got = truth.of_mean(QUADRATIC, p, 0.2, 0.5, center)
            self.assertAlmostEqual(got, math.sqrt(p * p + 0.5) - p, delta=1e-9)

    def test_true_radii_are_the_first_shifts_that_fail(self):
        for f in truth.FUNCTIONS[1:]:
            for p in (-0.8, 0.0, 0.4):
                change = np.abs(f.mean(p + SHIFTS, 0.3) - f.mean(np.array(p), 0.3))
                failed = np.abs(SHIFTS[change > 0.2])
                want = failed.min() if failed.size else math.inf
                got = truth.of_mean(f, p, 0.3, 0.2, float(f.mean(np.array(p), 0.3)))
                with self.subTest(f.name, p=p):
                    self.assertTrue(got == want or abs(got - want) <= 0.001, (got, want))

    def test_the_median_of_a_slice_moves_as_far_as_the_tolerance(self):
        self.assertAlmostEqual(truth.of_median(SLICE, 0.7, 0.2, 0.3, 0.7), 0.3, delta=1e-9)

    def test_a_promise_that_fails_at_once_has_no_radius(self):
        self.assertEqual(truth.of_share(SLICE, 0.7, 0.5, 0.65, 0.75, 0.9), 0.0)

    def test_a_promise_that_never_fails(self):
        self.assertEqual(truth.of_mean(SANDWICH, 0.5, 0.2, 0.9, 0.5), math.inf)


class Published(unittest.TestCase):
    def test_bounds_of_a_share(self):
        self.assertAlmostEqual(synthetic.share_with(0.05, 100, 0), 0.05**0.01, places=12)
        self.assertAlmostEqual(synthetic.share_with(0.3, 1, 0), 0.3, places=12)
        self.assertEqual(synthetic.share_with(0.1, 10, 10), 0.0)

    def test_what_one_output_needs_is_the_share_itself(self):
        self.assertAlmostEqual(synthetic.needed_share(methods.RS_REG), 0.9, places=12)

    def test_radii_of_outputs_within_the_tolerance(self):
        y = np.zeros(200)
        y[100:110] = 1
        got = synthetic.published_radius(methods.ALPHA_49, y, 30, 0.5, 0.2)
        self.assertGreater(got, 0)
        self.assertLess(got, synthetic.published_radius(methods.ALPHA_49, 0 * y, 30, 0.5, 0.2))


class Estimates(unittest.TestCase):
    def test_they_are_the_u_statistics(self):
        package("onnxruntime")
        from reproduce.convergence import Sums

        random = np.random.default_rng(6)
        y, e = random.normal(3, 1, 6), random.normal(size=(6, 4))
        sums = Sums()
        sums.add(y[:2], e[:2])
        sums.add(y[2:], e[2:])
        pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
        self.assertAlmostEqual(sums.variance(), np.mean([(y[i] - y[j]) ** 2 / 2 for i, j in pairs]))
        theta = np.mean([y[i] * y[j] * (e[i] @ e[j]) for i, j in pairs])
        self.assertAlmostEqual(sums.theta(), theta)


if __name__ == "__main__":
    run()

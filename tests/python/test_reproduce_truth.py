"""What make reproduce compares the library with: true radii, and estimates in NumPy."""

import math

import numpy as np

from kit import near, package
from reproduce import methods, synthetic, truth

QUADRATIC, SLICE, SANDWICH, SLAB = truth.FUNCTIONS
SHIFTS = np.linspace(-3, 3, 6001)


def test_means_and_shares_are_those_of_samples():
    random = np.random.default_rng(5)
    noise = random.normal(size=(100_000, 2))
    for f in truth.FUNCTIONS:
        for sigma, level in ((0.2, 0.3), (0.5, 0.8)):
            z = random.uniform(-1, 1, 2)
            y, p = f(z + sigma * noise).astype(float), np.array(f.position(z))
            assert y.mean() == near(float(f.mean(p, sigma)), 0.01)
            share = float(f.at_most(p, sigma, level))
            assert np.mean(y <= level) == near(share, 0.01)


def test_the_mean_of_a_quadratic_has_a_closed_form():
    for p in (0.0, 0.3, 1.2):
        center = float(QUADRATIC.mean(np.array(p), 0.2))
        got = truth.of_mean(QUADRATIC, p, 0.2, 0.5, center)
        assert got == near(math.sqrt(p * p + 0.5) - p, 1e-9)


def test_true_radii_are_the_first_shifts_that_fail():
    for f in truth.FUNCTIONS[1:]:
        for p in (-0.8, 0.0, 0.4):
            change = np.abs(f.mean(p + SHIFTS, 0.3) - f.mean(np.array(p), 0.3))
            failed = np.abs(SHIFTS[change > 0.2])
            want = failed.min() if failed.size else math.inf
            got = truth.of_mean(f, p, 0.3, 0.2, float(f.mean(np.array(p), 0.3)))
            assert got == want or abs(got - want) <= 0.001, (got, want)


def test_radii_that_are_known():
    assert truth.of_median(SLICE, 0.7, 0.2, 0.3, 0.7) == near(0.3, 1e-9)  # moves as the tolerance
    assert truth.of_share(SLICE, 0.7, 0.5, 0.65, 0.75, 0.9) == 0.0  # it fails at once
    assert truth.of_mean(SANDWICH, 0.5, 0.2, 0.9, 0.5) == math.inf  # it never fails


def test_bounds_of_a_share():
    assert synthetic.share_with(0.05, 100, 0) == near(0.05**0.01, 5e-13)
    assert synthetic.share_with(0.3, 1, 0) == near(0.3, 5e-13)
    assert synthetic.share_with(0.1, 10, 10) == 0.0
    assert synthetic.needed_share(methods.RS_REG) == near(0.9, 5e-13)  # of one output


def test_radii_of_outputs_within_the_tolerance():
    y = np.zeros(200)
    y[100:110] = 1
    got = synthetic.published_radius(methods.ALPHA_49, y, 30, 0.5, 0.2)
    assert got > 0
    assert got < synthetic.published_radius(methods.ALPHA_49, 0 * y, 30, 0.5, 0.2)


def test_they_are_the_u_statistics():
    package("onnxruntime")
    from reproduce.convergence import Sums

    random = np.random.default_rng(6)
    y, e = random.normal(3, 1, 6), random.normal(size=(6, 4))
    sums = Sums()
    sums.add(y[:2], e[:2])
    sums.add(y[2:], e[2:])
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    assert sums.variance() == near(np.mean([(y[i] - y[j]) ** 2 / 2 for i, j in pairs]), 5e-8)
    theta = np.mean([y[i] * y[j] * (e[i] @ e[j]) for i, j in pairs])
    assert sums.theta() == near(theta)

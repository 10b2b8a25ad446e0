"""The prediction intervals of make reproduce: published formulas and the attack, on outputs and
models for which they are known."""

import dataclasses
import math

import numpy as np

from kit import near
from reproduce import intervals, labelled, moved, settings
from reproduce.intervals import NORMAL, RATIO, Outputs

RANDOM = np.random.default_rng(3)
N = intervals.SAMPLES


def outputs(*rows, unit=1.0):
    return Outputs(np.zeros(len(rows)), np.array(rows, float), unit)


class Linear:
    def __init__(self):
        self.slope = np.random.default_rng(5).normal(size=10).astype(np.float32)

    def outputs(self, x):
        return x @ self.slope

    def slopes(self, x):
        return x @ self.slope, np.broadcast_to(self.slope, x.shape)


class Bent:
    """It rises slowly with one feature, and steeply with another where that is large."""

    def slopes(self, x):
        slopes = np.zeros_like(x)
        slopes[:, 0], slopes[:, 1] = 5 * (x[:, 0] > 0.5), 1
        return (x[:, 1] + 5 * np.maximum(x[:, 0] - 0.5, 0)).astype(np.float32), slopes


def test_hulls_are_those_of_counting():
    grid = np.arange(-180, 180, 0.01)
    for k, q in ((1, 5.0), (3, 20.0), (5, 40.0), (7, 40.0), (7, 10.0)):
        f = np.sort(RANDOM.uniform(-60, 60, 7))
        inside = grid[(np.abs(grid[:, None] - f) <= q).sum(1) >= k]
        want = inside[-1] - inside[0] if len(inside) else 0.0
        assert intervals.hull(f, k, q) == near(want, 0.03)


def test_thresholds_of_split_conformal_prediction():
    of_model = intervals.METHODS[0]
    o = Outputs(np.arange(1.0, 500.0), np.zeros((499, 1)), 1.0)
    assert of_model.threshold(o, np.zeros(499)) == 450
    few = outputs(*np.zeros((8, N)))
    for method in intervals.METHODS:
        assert method.threshold(few, np.zeros(8)) == math.inf
        assert method.widths(few, math.inf)[0] == math.inf


def test_the_end_of_an_interval_of_rscp():
    away = RANDOM.normal(0, 3, N // 2)
    o = outputs(170 + np.concatenate([away, -away, [0.0]]), unit=2.0)
    exact = intervals.Rscp("RSCP", 0.0)
    threshold = float(exact.score(o, np.array([176.0]))[0])
    half = 0.5 * exact.widths(o, threshold)[0]
    assert half > 6  # a shift may have lowered the score
    ends = 170 + half * np.array([0.99, 1.01])
    assert [exact.value(o, y[None])[0] <= threshold for y in ends] == [True, False]


def test_published_bounds_of_a_shift():
    """Of two values the distribution is known, and of one the bounds of a probability."""
    less = math.sqrt(math.log(1 / intervals.ERROR) / (2 * N))
    o = outputs(np.repeat([0.0, 1e6], [701, 300]))
    share = NORMAL.cdf(NORMAL.inv_cdf(300 / N - less) - RATIO) - less
    for method in (intervals.Rscp("RSCP+", intervals.ERROR), intervals.Cas("", intervals.ERROR)):
        assert method.value(o, np.zeros(1))[0] == near(share, 1e-9)
    method = intervals.BinCp(N, intervals.ERROR)
    share = intervals.share_with(intervals.ERROR, N, N - method.own)
    level, k = NORMAL.cdf(NORMAL.inv_cdf(share) - RATIO), method.needed
    chances = [math.comb(N, i) * level**i * (1 - level) ** (N - i) for i in range(k + 1)]
    assert sum(chances[:-1]) < intervals.ERROR <= sum(chances)


def test_a_linear_model_moves_as_far_as_it_can():
    model, x = Linear(), np.ones(10, np.float32)
    noise = RANDOM.normal(size=(6, 64, 10)).astype(np.float32)
    for side in (1, -1):
        delta = moved.climb(model, x, 0.0, 0.25, 3.0, side, noise)
        away = side * float(delta @ model.slope) / np.linalg.norm(model.slope)
        assert float(np.linalg.norm(delta.astype(float))) <= 0.25
        assert away == near(0.25, 1e-3)
    y = float(model.outputs(x))
    for place in moved.places(model, x, y - 1, 0.25, 3.0, RANDOM):  # upwards it is farther
        assert float(model.outputs(place)) - y == near(0.25 * np.linalg.norm(model.slope), 1e-3)


def test_noisy_outputs_at_the_edge_are_followed():
    x, noise = np.zeros(10, np.float32), RANDOM.normal(size=(6, 64, 10)).astype(np.float32)
    assert moved.climb(Bent(), x, 0.0, 0.25, 3.0, 1, noise)[0] > 0.9 * 0.25


def test_the_gradients_of_a_perceptron():
    x, y = labelled.friedman(300, np.random.default_rng(1))
    model, h = labelled.Perceptron(x, y, 50), 1e-2
    f, slopes = model.slopes(x[:20])
    np.testing.assert_allclose(f, model.outputs(x[:20]), rtol=1e-5)
    way = RANDOM.normal(size=10).astype(np.float32)
    differences = (model.outputs(x[:20] + h * way) - model.outputs(x[:20] - h * way)) / (2 * h)
    np.testing.assert_allclose(slopes @ way, differences, atol=0.05, rtol=0.02)


def test_methods_with_a_guarantee_keep_their_level_and_others_do_not(folder):
    size = dataclasses.replace(settings.LEAST, interval_sets=4, interval_points=100)
    task = labelled.of_friedman(settings.Settings(size, None, folder, 1))
    found = [intervals.tested(task, s) for s in range(4)]
    covered = {row[0][0]: np.mean([one[1] for one in row]) for row in zip(*found)}
    width = {row[0][0]: np.mean([one[2] for one in row]) for row in zip(*found)}
    plain = intervals.METHODS[1].name
    for name, share in covered.items():
        if name.startswith("split"):
            assert share < 0.85, name
        elif "corrected" not in name and name != "RSCP":
            assert share > 0.82, (name, share)  # of 80 truths 90%, by 2.4 standard errors
            assert width[plain] < width[name] < 3 * width[plain], name

"""The parts of make reproduce, where answers are known: attacks on models with known shortest
shifts, prediction intervals, true radii, estimates in NumPy, and the models of examples/real."""

import csv
import dataclasses
import math
from unittest import mock

import numpy as np
import pytest

from kit import near, needs_sources
from reproduce import ascent, attacks, digits, intervals, labelled, methods, real, settings
from reproduce import synthetic, tables, tightness, truth
from reproduce.intervals import NORMAL, RATIO, Outputs

SIGMA, FEATURES, CALLS = 0.5, 100, 8000
SLOPE = np.random.default_rng(1).normal(size=FEATURES)
SLOPE *= 14.0 / np.linalg.norm(SLOPE)  # degrees per unit of the input


def linear(x):
    return (x @ SLOPE).astype(np.float64)


def attack(angles, statistic, center=None, tolerance=10.0, start=0.4, other=None):
    random = np.random.default_rng(7)

    def noise(rows):
        return random.standard_normal((rows, FEATURES)).astype(np.float32)

    z = np.zeros(FEATURES, np.float32)
    e = noise(int(ascent.AT_Z * CALLS))
    target = ascent.Target(statistic, tolerance, center)
    one = ascent.Attack(angles, noise, z, SIGMA, target)
    return one.run((e, angles(z + np.float32(SIGMA) * e)), start, CALLS, other)


def close(found, exact):
    """Within four standard errors of the shortest shift, or up to 5 % longer."""
    assert not found.capped
    assert found.error < 0.03 * exact
    assert found.radius > exact - 4 * found.error
    assert found.radius < 1.05 * exact + 4 * found.error
    assert found.calls <= CALLS


def test_every_statistic_of_a_linear_model():
    for statistic in (ascent.MEAN, ascent.CIRCULAR_MEAN, ascent.MEDIAN, ascent.huber(5.0)):
        for center in (None, 0.0) if statistic in (ascent.MEAN, ascent.CIRCULAR_MEAN) else (0,):
            close(attack(linear, statistic, center), 10 / 14)


def test_angles_on_both_sides_of_the_jump():
    def turned(x):
        return ascent.wrapped(linear(x) + 180.0)

    for statistic in (ascent.CIRCULAR_MEAN, ascent.MEDIAN):
        close(attack(turned, statistic, -180.0), 10 / 14)
    # The plain mean of these is near 0, and moves by 36 degrees where a tenth of them cross.
    found = attack(turned, ascent.MEAN, tolerance=36.0)
    assert found.radius < 0.3 * 36 / 14


def test_what_does_not_leave_is_capped():
    for angles in (lambda x: np.sign(linear(x)), lambda x: 0.0 * linear(x)):
        for statistic in (ascent.MEAN, ascent.MEDIAN, ascent.huber(1.0)):
            found = attack(angles, statistic, 0.0)
            assert found.capped
            assert found.radius == ascent.FARTHEST
            assert found.calls <= CALLS


def test_every_statistic_of_each_network_is_attacked():
    slope = np.zeros(digits.PIXELS)
    slope[:FEATURES] = SLOPE

    def network(x):
        turn = np.radians(x @ slope)
        return np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)

    z = np.zeros(digits.PIXELS, np.float32)
    with mock.patch.object(attacks, "_network", lambda name: network):
        for name, attacked in attacks.OF_NETWORK.items():
            lines = attacks.attack_image(attacks.Job(name, 3, 1, z, 500, 4000))
            assert [line["statistic"] for line in lines] == [a.name for a in attacked]
            for line in lines:
                assert line["certified"] > 0.1
                assert line["attack"] + 4 * line["error"] > line["certified"]


def test_an_attack_that_is_clearly_inside_a_certificate_is_counted():
    for ratio, clear in ((0.5, 1), (0.98, 0), (1.1, 0)):
        line = dict(network="rotation", image=1, certified=0.5, attack=0.5 * ratio, error=0.01)
        lines = [dict(line, capped=0, statistic=o.name) for o in attacks.OF_NETWORK["rotation"]]
        columns = tightness._columns(lines)
        assert {len(column.below) for column in columns.values()} == {clear}


# ---- prediction intervals
N = intervals.SAMPLES


def outputs(*rows, unit=1.0):
    return Outputs(np.zeros(len(rows)), np.array(rows, float), unit)


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


# ---- true radii, and estimates in NumPy
QUADRATIC, SLICE, SANDWICH, _ = truth.FUNCTIONS
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


def test_true_radii_are_the_first_shifts_that_fail():
    for f in truth.FUNCTIONS[1:]:
        for p in (-0.8, 0.0, 0.4):
            change = np.abs(f.mean(p + SHIFTS, 0.3) - f.mean(np.array(p), 0.3))
            failed = np.abs(SHIFTS[change > 0.2])
            want = failed.min() if failed.size else math.inf
            got = truth.of_mean(f, p, 0.3, 0.2, float(f.mean(np.array(p), 0.3)))
            assert got == want or abs(got - want) <= 0.001, (got, want)


def test_radii_and_bounds_that_are_known():
    assert truth.of_median(SLICE, 0.7, 0.2, 0.3, 0.7) == near(0.3, 1e-9)  # moves as the tolerance
    assert truth.of_share(SLICE, 0.7, 0.5, 0.65, 0.75, 0.9) == 0.0  # it fails at once
    assert truth.of_mean(SANDWICH, 0.5, 0.2, 0.9, 0.5) == math.inf  # it never fails
    assert synthetic.share_with(0.05, 100, 0) == near(0.05**0.01, 5e-13)
    assert synthetic.share_with(0.3, 1, 0) == near(0.3, 5e-13)
    assert synthetic.share_with(0.1, 10, 10) == 0.0
    assert synthetic.needed_share(methods.RS_REG) == near(0.9, 5e-13)  # of one output
    y = np.zeros(200)
    y[100:110] = 1
    got = synthetic.published_radius(methods.ALPHA_49, y, 30, 0.5, 0.2)
    assert 0 < got < synthetic.published_radius(methods.ALPHA_49, 0 * y, 30, 0.5, 0.2)


# ---- the models of examples/real, with one that needs no package
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


@needs_sources
def test_what_lacks_a_package_is_left_out(computed, capsys):
    real.compute(computed)
    said = capsys.readouterr().out
    assert "lacking is left out: No module named 'there_is_no_such_package'" in said
    beside = tables.Beside()
    blocks = real.report(computed, beside)
    assert [line.split(" | ")[0] for line in blocks["real_useful"].splitlines()[2:]] == ["| `toy`"]
    assert {row["network"] for rows in beside.rows.values() for row in rows} == {"toy"}


@needs_sources
def test_radii_are_in_units_of_the_scale(computed):
    """The model moves by a tolerance of 1 at a radius of 0.71, as its two features with noise."""
    with open(computed.path("real_summary.csv"), newline="", encoding="utf-8") as file:
        (row,) = (row for row in csv.DictReader(file) if row["method"] == "median")
    assert row["sigma"] == "0.2"  # with QUICK=2 every other one
    assert row["images"] == row["certified"] == "2"
    assert 0.4 < float(row["mean_radius"]) < np.sqrt(0.5)

"""The attacks of make reproduce, on models whose shortest shifts are known."""

from unittest import mock

import numpy as np

import kit  # finds the modules of bench
from reproduce import ascent, attacks, digits, tightness

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


def test_the_nearer_side_and_a_start_far_from_the_exit():
    for side in (4.0, -4.0):
        close(attack(linear, ascent.MEDIAN, side), 6 / 14)
    for start in (0.02, 2.5):
        close(attack(linear, ascent.CIRCULAR_MEAN, 0.0, start=start), 10 / 14)


def test_angles_on_both_sides_of_the_jump():
    def turned(x):
        return ascent.wrapped(linear(x) + 180.0)

    for statistic in (ascent.CIRCULAR_MEAN, ascent.MEDIAN, ascent.huber(5.0)):
        close(attack(turned, statistic, -180.0), 10 / 14)
    # The plain mean of these is near 0, and moves by 36 degrees where a tenth of them cross.
    found = attack(turned, ascent.MEAN, tolerance=36.0)
    assert found.radius < 0.3 * 36 / 14


def test_the_climb_of_another_attack():
    def jumping(x):  # in one direction, in which there is no gradient before the jump
        return np.where(x[:, 0] > 2.5, 20.0, 0.1 * linear(x))

    assert attack(jumping, ascent.MEDIAN, 0.0).radius > 3.0
    jump = ascent.Climb(1, 2.0, np.eye(FEATURES)[0])
    close(attack(jumping, ascent.MEDIAN, 0.0, other=jump), 2.5)
    across = ascent.Climb(1, 0.7, np.roll(SLOPE, 1))
    close(attack(linear, ascent.MEDIAN, 0.0, other=across), 10 / 14)


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

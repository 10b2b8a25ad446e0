"""The attacks of make reproduce, on models whose shortest shifts are known."""

import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np

from support import root, run

sys.path[:0] = [str(root / "bench"), str(root / "examples" / "models")]
from reproduce import ascent, attacks, digits, tables, tightness  # noqa: E402

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


class Attacks(unittest.TestCase):
    def near(self, found, exact):
        """Within four standard errors of the shortest shift, or up to 5 % longer."""
        self.assertFalse(found.capped)
        self.assertLess(found.error, 0.03 * exact)
        self.assertGreater(found.radius, exact - 4 * found.error)
        self.assertLess(found.radius, 1.05 * exact + 4 * found.error)
        self.assertLessEqual(found.calls, CALLS)

    def test_every_statistic_of_a_linear_model(self):
        for statistic in (ascent.MEAN, ascent.CIRCULAR_MEAN, ascent.MEDIAN, ascent.huber(5.0)):
            for center in (None, 0.0) if statistic in (ascent.MEAN, ascent.CIRCULAR_MEAN) else (0,):
                self.near(attack(linear, statistic, center), 10 / 14)

    def test_the_nearer_side(self):
        self.near(attack(linear, ascent.MEDIAN, 4.0), 6 / 14)
        self.near(attack(linear, ascent.MEDIAN, -4.0), 6 / 14)

    def test_a_start_far_from_the_exit(self):
        for start in (0.02, 2.5):
            self.near(attack(linear, ascent.CIRCULAR_MEAN, 0.0, start=start), 10 / 14)

    def test_angles_on_both_sides_of_the_jump(self):
        def turned(x):
            return ascent.wrapped(linear(x) + 180.0)

        for statistic in (ascent.CIRCULAR_MEAN, ascent.MEDIAN, ascent.huber(5.0)):
            self.near(attack(turned, statistic, -180.0), 10 / 14)
        # The plain mean of these is near 0, and moves by 36 degrees where a tenth of them cross.
        found = attack(turned, ascent.MEAN, tolerance=36.0)
        self.assertLess(found.radius, 0.3 * 36 / 14)

    def test_the_climb_of_another_attack(self):
        def jumping(x):  # in one direction, in which there is no gradient before the jump
            return np.where(x[:, 0] > 2.5, 20.0, 0.1 * linear(x))

        self.assertTrue(attack(jumping, ascent.MEDIAN, 0.0).radius > 3.0)
        jump = ascent.Climb(1, 2.0, np.eye(FEATURES)[0])
        self.near(attack(jumping, ascent.MEDIAN, 0.0, other=jump), 2.5)
        across = ascent.Climb(1, 0.7, np.roll(SLOPE, 1))
        self.near(attack(linear, ascent.MEDIAN, 0.0, other=across), 10 / 14)

    def test_what_does_not_leave_is_capped(self):
        for angles in (lambda x: np.sign(linear(x)), lambda x: 0.0 * linear(x)):
            for statistic in (ascent.MEAN, ascent.MEDIAN, ascent.huber(1.0)):
                found = attack(angles, statistic, 0.0)
                self.assertTrue(found.capped)
                self.assertEqual(found.radius, ascent.FARTHEST)
                self.assertLessEqual(found.calls, CALLS)


class Images(unittest.TestCase):
    def test_every_statistic_of_each_network_is_attacked(self):
        slope = np.zeros(digits.PIXELS)
        slope[:FEATURES] = SLOPE

        def network(x):
            turn = np.radians(x @ slope)
            return np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)

        z = np.zeros(digits.PIXELS, np.float32)
        with unittest.mock.patch.object(attacks, "_network", lambda name: network):
            for name, attacked in attacks.OF_NETWORK.items():
                lines = attacks.attack_image(attacks.Job(name, 3, 1, z, 500, 4000))
                self.assertEqual([line["statistic"] for line in lines], [a.name for a in attacked])
                for line in lines:
                    self.assertGreater(line["certified"], 0.1)
                    self.assertGreater(line["attack"] + 4 * line["error"], line["certified"])


class Lines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / tightness.NAME

    def lines(self, image, ratio=1.5, samples=200):
        fields = dict.fromkeys(("image", "digit"), image)
        numbers = {"certified": 0.5, "attack": 0.5 * ratio, "error": 0.01, "capped": 0, "calls": 9}
        means = dict.fromkeys(("plain_mean", "circular_mean", "resultant", "across"), 0.25)
        return [
            {
                "network": "rotation",
                **fields,
                "samples": samples,
                "budget": 2000,
                "statistic": one.name,
                **numbers,
                **means,
            }
            for one in attacks.OF_NETWORK["rotation"]
        ]

    def test_only_images_that_are_complete_and_alike_are_kept(self):
        tables.write_csv(self.path, self.lines(0) + self.lines(1, samples=300) + self.lines(2))
        whole = self.path.read_bytes()
        for broken in (5, 60, 120):
            self.path.write_bytes(whole[:-broken])
            kept = tightness._kept(self.path, 200, 2000, 10)
            self.assertEqual({line["image"] for line in kept}, {0})
        self.path.write_bytes(whole)
        self.assertEqual({x["image"] for x in tightness._kept(self.path, 200, 2000, 10)}, {0, 2})
        self.assertEqual({x["image"] for x in tightness._kept(self.path, 200, 2000, 2)}, {0})

    def test_an_attack_inside_a_certificate_is_listed(self):
        for ratio, clear in ((0.5, True), (0.98, False)):
            columns = tightness._columns(self.lines(0) + self.lines(1, ratio=ratio))
            inside = [(x["statistic"], x["image"]) for x in tightness._inside(columns)]
            every = attacks.OF_NETWORK["rotation"]
            self.assertEqual(inside, [(o.name, "1") for o in every if o is not attacks.OTHER])
            for one in every:
                self.assertEqual(len(columns["rotation", one.name].below), clear)
        sound = tightness._columns(self.lines(0) + self.lines(1, ratio=1.1))
        self.assertEqual(tightness._inside(sound), [])


if __name__ == "__main__":
    run()

"""The Python wrapper's structs are those of the header, and its answers those of the library."""

import re
import subprocess
import sys
import unittest

import numpy as np

from support import certreg, estimator, model, root, run, same, SAMPLES, Z
from certreg import (
    Bounds,
    CertregError,
    Constraints,
    Method,
    Kind,
    Outcome,
    Center,
    Question,
    Statistic,
    Side,
    Solver,
    Status,
    Stop,
)


class Header(unittest.TestCase):
    text = re.sub(r"/\*.*?\*/", "", "".join((root / "include/certreg" / name).read_text() for name in ("certreg.h", "solver.h")), flags=re.S)

    def test_structs_have_the_fields_of_the_header_in_its_order(self):
        names = "error batch model plan question bounds mean_change radius certificate forecast"
        for name in names.split():
            body = re.search(
                r"typedef struct certreg_%s \{(.*?)\} certreg_%s;" % (name, name), self.text, re.S
            ).group(1)
            fields = [
                re.sub(r"\[.*", "", word.split("*")[-1].split()[-1])
                for line in body.split(";")
                for word in re.sub(r"\(\*(\w+)\)\(.*\)", r"\1", line, flags=re.S).split(",")
                if word.strip()
            ]
            ours = [
                field[0] for field in getattr(certreg, "_" + name.title().replace("_", ""))._fields_
            ]
            self.assertEqual(ours, fields, name)

    def test_numbers_have_the_names_of_the_header(self):
        numbers = dict(re.findall(r"CERTREG_(\w+) = (-?\d+)", self.text))
        self.assertEqual(
            certreg.HEADER, int(re.search(r"CERTREG_VERSION_NUMBER (\d+)", self.text).group(1))
        )
        self.assertEqual(certreg.COUNT_FAILURES, int(numbers["PLAN_COUNT_FAILURES"]))
        prefixes = {
            "Constraints": "CONSTRAINTS_",
            "Constraint": "CONSTRAINT_",
            "Statistic": "STATISTIC_",
            "Method": "METHOD_",
            "Center": "CENTER_",
            "Side": "SIDE_",
            "Stop": "STOP_",
            "Status": "E_",
            "Kind": "OUTPUT_",
            "Outcome": "OUTCOME_",
        }
        numbers["E_OK"] = numbers["OK"]
        for name, prefix in prefixes.items():
            members = list(getattr(certreg, name))
            for member in members:
                self.assertEqual(int(numbers[prefix + member.name]), member.value, member)
            self.assertEqual(len(members), sum(word.startswith(prefix) for word in numbers), name)

    def test_version_is_that_of_the_library(self):
        self.assertEqual(certreg.VERSION, certreg.HEADER)


class Typical(unittest.TestCase):
    def test_one_question_has_one_certificate(self):
        with estimator() as e:
            c = e.certify(Z, 0.25, SAMPLES, Question(tolerance=0.5))
        self.assertTrue(c.certified)
        self.assertEqual((c.outcome, c.stop, c.status), (Outcome.CERTIFIED, Stop.ALL, Status.OK))
        self.assertAlmostEqual(c.prediction, 0.875, delta=0.05)
        self.assertEqual((c.samples, c.tolerance, c.alpha, c.sigma), (SAMPLES, 0.5, 0.05, 0.25))
        np.testing.assert_array_equal(c.reach([1, 0, 2]), [c.radius, 0, 2 * c.radius])

    def test_several_questions_are_answered_from_one_record(self):
        rows = []
        with estimator(lambda x: (rows.append(len(x)), model(x))[1]) as e:
            asked = [
                Question(0.5),
                Question(0.5, statistic=Statistic.MEAN, method=Method.ASYMPTOTIC),
                Question(
                    0.5, statistic=Statistic.HUBER, huber_width=0.25, method=Method.ASYMPTOTIC
                ),
                Question(
                    0.5,
                    statistic=Statistic.MEAN,
                    method=Method.PAPER,
                    center=Center.TRUE_MEAN,
                    constraints=Constraints.CG,
                ),
                Question(0.1),
            ]
            several = e.certify(Z, 0.25, SAMPLES, *asked)
            self.assertEqual(len(several), 5)
            self.assertEqual(
                [c.statistic for c in several],
                [
                    Statistic.MEDIAN,
                    Statistic.MEAN,
                    Statistic.HUBER,
                    Statistic.MEAN,
                    Statistic.MEDIAN,
                ],
            )
            self.assertLess(several[4].radius, several[0].radius)
            self.assertTrue(same(several[0], e.answer(0.5)))  # a number is a tolerance
            self.assertEqual(sum(rows), SAMPLES)

    def test_streams_are_independent_and_repeatable(self):
        with estimator(seed=7, threads=2) as e:
            a, b, again = (e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=s) for s in (1, 2, 1))
            self.assertTrue(same(a, again))
            self.assertNotEqual(a.estimate, b.estimate)
            self.assertEqual((a.seed, b.noise_id), (7, 2))

    def test_angle_pairs_pass_the_ends_of_the_turn(self):
        def north(x):
            return np.stack([4 + x[:, 0], x[:, 1]], axis=1)

        with estimator(north, 2, kind=Kind.ANGLE_PAIR, lo=0, hi=360, scale=0.5) as e:
            c = e.certify(
                [0, -0.01],
                0.5,
                SAMPLES,
                Question(20),
                Question(20, statistic=Statistic.CIRCULAR_MEAN, method=Method.ASYMPTOTIC),
            )
        for answer in c:
            self.assertTrue(answer.certified)
            self.assertLess(abs((answer.prediction + 180) % 360 - 180), 2)

    def test_several_outputs(self):
        with estimator(lambda x: np.stack([x[:, 0], 10 * x[:, 1]], axis=1), 2, outputs=2) as e:
            a, b = e.certify([1, 2], 0.25, SAMPLES, Question(0.5), Question(5, output=1))
        self.assertAlmostEqual(a.prediction, 1, delta=0.1)
        self.assertAlmostEqual(b.prediction, 20, delta=1)

    def test_a_masked_feature_never_moves(self):
        seen = []
        with estimator(
            lambda x: (seen.append(np.ptp(x, axis=0)), x[:, 0])[1], 2, scale=[1, 0]
        ) as e:
            e.certify([3, 5], 0.25, SAMPLES, 1)
        self.assertTrue(all(move[0] > 0 and move[1] == 0 for move in seen if len(seen) > 1))

    def test_given_predictions(self):
        with estimator(pilot=certreg.NO_PILOT) as e:
            c = e.certify(Z, 0.25, SAMPLES, Question(0.5, prediction=0.9))
            self.assertEqual((c.prediction, c.pilot), (0.9, 0))
            with self.assertRaises(CertregError):
                e.answer(0.5)

    def test_draw_and_record_replace_the_callback(self):
        with estimator(seed=3) as e:
            called = e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=9)
        with estimator(None, seed=3) as e:
            e.begin(Z, 0.25, 9)
            for first in (1024, 0):
                x = e.draw(first, min(1024, SAMPLES - first))
                self.assertEqual((x.dtype, x.shape[1]), (np.float32, 3))
                e.record(first, model(x))
            self.assertTrue(same(called, e.answer(0.5)))

    def test_records_are_exported_merged_and_resumed(self):
        with estimator() as e, estimator(lambda x: self.fail("asked again")) as other:
            whole = e.certify(Z, 0.25, SAMPLES, 0.5)
            data = e.export()
            self.assertIsInstance(data, bytes)
            other.begin(Z, 0.25)
            other.merge(data)
            other.sample(0, SAMPLES)
            self.assertTrue(same(whole, other.answer(0.5)))
            self.assertEqual(other.export(), data)
        with estimator() as e:
            parts = []
            for first in (0, 512, 1024):
                e.begin(Z, 0.25)
                e.sample(first, min(512, SAMPLES - first) if first < 1024 else SAMPLES - first)
                parts.append(e.export())
            e.begin(Z, 0.25)
            for part in reversed(parts):
                e.merge(part)
            self.assertTrue(same(whole, e.answer(0.5)))
            self.assertEqual(e.export(), data)  # which remembers that it was asked

    def test_a_certificate_names_the_noise_of_its_level(self):
        with estimator() as e:
            levels = e.certify_sigmas(Z, [0.25, 0.5], SAMPLES, Question(0.5), noise_id=3)
            for k, c in enumerate(levels):
                self.assertEqual((c.noise_id, c.level), (3, k + 1))
                e.begin(Z, c.sigma, c.noise_id, c.level)
                e.sample(0, SAMPLES)
                self.assertEqual(e.answer(Question(0.5, bonferroni=2)).radius, c.radius)

    def test_bounds_of_a_record_give_its_radius(self):
        q = Question(0.5, statistic=Statistic.MEAN, method=Method.ASYMPTOTIC)
        with estimator() as e, Solver() as s:
            c = e.certify(Z, 0.25, SAMPLES, q)
            sides = [e.bounds(q, side) for side in (Side.UPPER, Side.LOWER)]
            self.assertEqual(s.above(sides).radius, c.radius)
            self.assertIsNotNone(sides[0].mean)
            self.assertGreater(sides[0].gradient[1], sides[0].gradient[0])

    def test_solver_by_hand(self):
        u = Bounds(0.5, mean=(0.95, 1.05), variance=2, gradient=(0.7, 0.85), range=(-3.2, 3.2))
        with Solver() as s:
            r = s.within(u, 0.5)
            self.assertEqual((r.outcome, r.limiting_side, r.limiting), (Outcome.CERTIFIED, Side.LOWER, 0))
            self.assertLessEqual(s.shift(u, r.radius).drop, 0.5)
            self.assertGreater(s.shift(u, r.radius * 1.001).drop, 0.5)
            self.assertLess(s.within(u, 0.5, Constraints.C).radius, r.radius)
            self.assertEqual(s.above(u, 0.45).radius, s.above([u], [0.45]).radius)
            self.assertEqual(
                s.shift(u, 0.1, Constraints.C).constraints, certreg.Constraint.VARIANCE
            )

    def test_the_example_prints_what_readme_shows(self):
        source = root / "examples/python/example.py"
        said = subprocess.run(
            [sys.executable, source], capture_output=True, text=True, check=True
        ).stdout
        self.assertIn("garden alone: about 0.0", said)
        readme = (root / "README.md").read_text()
        self.assertTrue(
            "```python\n" + source.read_text() + "```" in readme, "README.md shows another program"
        )
        shown = [
            line[4:]
            for line in readme.partition("python3 examples/python/example.py")[2].splitlines()[1:6]
        ]
        number = r"\d+(?:\.\d+)?"  # last digits may differ between versions of NumPy
        self.assertEqual(
            [re.sub(number, "#", line) for line in shown],
            [re.sub(number, "#", line) for line in said.splitlines()],
        )
        np.testing.assert_allclose(
            [float(n) for n in re.findall(number, " ".join(shown))],
            [float(n) for n in re.findall(number, said)],
            rtol=0.05,
        )


if __name__ == "__main__":
    run()

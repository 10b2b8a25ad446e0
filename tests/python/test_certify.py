"""Certificates of one input: typical questions, noise ids and seeds, records and JSON."""

import dataclasses
import json
import math
import os
import re
import subprocess
import sys
import unittest
import unittest.mock

import numpy as np

from support import as_it_is, certreg, estimator, model, Plan, root, run, same, SAMPLES, Z
from certreg import (
    Center,
    CertregError,
    Constraints,
    Method,
    Outcome,
    Output,
    Question,
    Side,
    Statistic,
    Status,
    Stop,
    to_json,
)


class Typical(unittest.TestCase):
    def test_one_question_has_one_certificate(self):
        with estimator() as e:
            c = e.certify(Z, 0.25, SAMPLES, Question(tolerance=0.5))
        self.assertTrue(c.certified)
        self.assertEqual((c.outcome, c.stop, c.status), (Outcome.CERTIFIED, Stop.ALL, Status.OK))
        self.assertAlmostEqual(c.prediction, 0.875, delta=0.05)
        self.assertEqual((c.samples, c.tolerance, c.alpha, c.sigma), (SAMPLES, 0.5, 0.05, 0.25))
        self.assertIn(c.limiting_side, (Side.LOWER, Side.UPPER))
        self.assertTrue(c.prediction - 0.5 <= c.output_lo < c.output_hi <= c.prediction + 0.5)

    def test_several_questions_are_answered_from_one_record(self):
        rows = []
        with estimator(
            lambda x: (rows.append(len(x)), model(x))[1], constraints=Constraints.ECGM
        ) as e:
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
            self.assertTrue(same(several[0], e.certify(0, 0.5)))  # a number is a tolerance
            self.assertTrue(same(several, e.certify(0, *asked)))
            self.assertEqual(sum(rows), SAMPLES)

    def test_angle_pairs_pass_the_ends_of_the_turn(self):
        def north(x):
            return np.stack([4 + x[:, 0], x[:, 1]], axis=1)

        with estimator(north, 2, kind=Output.ANGLE_PAIR, lo=0, hi=360, scale=0.5) as e:
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
            self.assertEqual((c.prediction, e.run().pilot), (0.9, 0))
            with self.assertRaises(CertregError):
                e.certify(0, 0.5)

    def test_draw_and_record_replace_the_callback(self):
        with estimator() as e:
            called = e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=9)
        with estimator(None) as e:
            e.begin(Z, 0.25, 9)
            for first in (1024, 0):
                x = e.draw(first, min(1024, SAMPLES - first))
                self.assertEqual((x.dtype, x.shape[1]), (np.float32, 3))
                e.record(first, model(x))
            self.assertTrue(same(called, e.certify(0, 0.5)))

    def test_records_are_exported_imported_and_resumed(self):
        with estimator() as e, estimator(lambda x: self.fail("asked again")) as other:
            whole = e.certify(Z, 0.25, SAMPLES, 0.5)
            data = e.export()
            self.assertIsInstance(data, bytes)
            other.begin(Z, 0.25)
            other.import_(data)
            other.sample(0, SAMPLES)
            self.assertTrue(same(whole, other.certify(0, 0.5)))
            self.assertEqual(other.export(), data)

    def test_shards_are_merged_by_import(self):
        with estimator() as e:
            whole, data, parts = e.certify(Z, 0.25, SAMPLES, 0.5), e.export(), []
            for first, end in ((0, 512), (512, 1024), (1024, SAMPLES)):
                e.begin(Z, 0.25, 0)
                e.sample(first, end - first)
                parts.append(e.export())
            e.begin(Z, 0.25, 0)
            for part in reversed(parts):
                e.import_(part)
            self.assertTrue(same(whole, e.certify(0, 0.5)))
            self.assertEqual(e.export(), data)  # which remembers that it was asked

    def test_the_example_prints_what_readme_shows(self):
        source = root / "examples/python/example.py"
        said = subprocess.run(
            [sys.executable, source],
            capture_output=True,
            text=True,
            check=True,
            env=dict(os.environ, PYTHONPATH=str(root / "python")),
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


class Noise(unittest.TestCase):
    @unittest.mock.patch.object(Plan, "__init__", as_it_is)
    def test_seeds_are_secret_and_reported(self):
        seeds, estimates = set(), set()
        for _ in range(3):
            with estimator(seed=None) as e:
                c, run = e.certify(Z, 0.25, SAMPLES, 0.5), e.run()
                self.assertNotIn(str(run.seed), repr(run))
                with estimator(seed=run.seed) as again:
                    self.assertTrue(same(c, again.certify(Z, 0.25, SAMPLES, 0.5)))
            seeds.add(run.seed)
            estimates.add(c.estimate)
        self.assertEqual((len(seeds), len(estimates)), (3, 3))
        self.assertGreater(max(seeds), 2**32)  # 64 bits: less once in 10^29 runs

    def test_a_given_seed_is_used_as_it_is(self):
        for seed in (1, 7, 2**64 - 1):
            with estimator(seed=seed) as e:
                e.begin(Z, 0.25)
                self.assertEqual(e.run().seed, seed)

    def test_no_seed_of_zero_is_given(self):
        """The library would draw one, and the run would not repeat."""
        X = np.zeros((3, 3), np.float32)
        for call in (
            lambda: estimator(seed=0),
            lambda: certreg.certify_rows(model, X, 0.25, 0.5, seed=0),
            lambda: certreg.Calibrated(model, X, X[:, 0], 0.25, seed=0),
        ):
            with self.assertRaisesRegex(ValueError, r"seed \(None: one is drawn\) is 0; .* from 1"):
                call()

    def test_every_input_has_noise_of_its_own_by_default(self):
        with estimator(threads=2) as e:
            first, second = (e.certify(Z, 0.25, SAMPLES, 0.5) for _ in range(2))
            self.assertEqual((first.noise_id, second.noise_id), (0, 1))
            self.assertNotEqual(first.estimate, second.estimate)
            e.begin(Z, 0.25)
            self.assertEqual(e.run().noise_id, 2)
            levels = e.certify_sigmas(Z, [0.25, 0.5], SAMPLES, 0.5)
            self.assertEqual([c.noise_id for c in levels], [3, 3])

    def test_a_given_noise_id_is_used_as_it_is_and_not_again_by_default(self):
        with estimator() as e:
            ids = [
                e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=i) for i in (None, 5, 3, None, 0, None)
            ]
            self.assertEqual([c.noise_id for c in ids], [0, 5, 3, 6, 0, 7])
            self.assertTrue(same(ids[0], ids[4]))
            e.begin(Z, 0.25, 2**64 - 1)
            with self.assertRaisesRegex(ValueError, "noise_id"):
                e.begin(Z, 0.25)

    def test_a_certificate_of_a_level_is_repeated_with_its_noise(self):
        with estimator() as e:
            levels = e.certify_sigmas(Z, [0.25, 0.5], SAMPLES, Question(0.5), noise_id=3)
            for k, c in enumerate(levels):
                self.assertEqual(c.noise_id, 3)
                e.begin(Z, c.sigma, c.noise_id, k + 1)
                self.assertEqual(e.certify(SAMPLES, Question(0.5, bonferroni=2)).radius, c.radius)
                self.assertEqual((e.run().level, e.run().noise_id), (k + 1, 3))


class Kept(unittest.TestCase):
    question = Question(
        0.5,
        prediction=0.9,
        target=certreg.Target(0.1, looks=(400, 2000)),
        serving=certreg.Serving(101, 0.01),
    )

    def test_a_line_of_json_holds_question_run_and_certificate(self):
        with estimator() as e:
            c, run = e.certify(Z, 0.25, SAMPLES, self.question), e.run()
        line = to_json(self.question, run, c)
        self.assertNotIn("\n", line)
        said = json.loads(line)
        self.assertEqual(set(said), {"question", "run", "certificate"})
        for name, whole in (("run", run), ("certificate", c)):
            fields = dataclasses.asdict(whole)
            fields.pop("seed", None)
            for field, value in said[name].items():
                wanted = fields.pop(field)
                self.assertEqual(int(value) if isinstance(value, str) else value, wanted, field)
            self.assertFalse(fields, name)
        asked = said["question"]
        self.assertEqual((asked["tolerance"], asked["prediction"]), (0.5, 0.9))
        self.assertEqual(asked["target"], {"radius": 0.1, "looks": ["400", "2000"]})
        self.assertEqual(
            asked["serving"], {"samples": "101", "failure_rate": 0.01, "trim": 0, "core": 0}
        )

    def test_the_seed_is_in_the_line_only_if_asked_for(self):
        with estimator() as e:
            e.begin(Z, 0.25)
            run = e.run()
        self.assertNotIn("seed", json.loads(to_json(run=run))["run"])
        said = json.loads(to_json(run=run, flags=certreg.JSON_SEED))
        self.assertEqual((set(said), said["run"]["seed"]), ({"run"}, "42"))

    def test_what_is_not_known_is_null(self):
        with estimator() as e:
            c = e.certify(Z, 0.25, SAMPLES, 0.001)
        self.assertEqual((c.outcome, c.output_hi), (Outcome.ABSTAINED, math.inf))
        said = json.loads(to_json(0.001, certificate=c))
        self.assertIsNone(said["certificate"]["output_hi"])
        self.assertIsNone(said["question"]["prediction"])

    def test_a_certificate_has_the_digest_of_its_question(self):
        with estimator() as e:
            c, other = e.certify(Z, 0.25, SAMPLES, self.question, Question(0.5))
        self.assertEqual(c.question, certreg.question_digest(self.question))
        self.assertEqual(other.question, certreg.question_digest(Question(0.5, alpha=0.05)))
        self.assertNotEqual(c.question, other.question)

    def test_a_run_has_what_its_certificates_share(self):
        with estimator(batch=100, pilot=250) as e:
            with self.assertRaises(CertregError):
                e.run()
            e.certify(Z, 0.25, SAMPLES, 0.5)
            run = e.run()
        self.assertEqual((run.samples, run.pilot, run.batch, run.sigma), (SAMPLES, 250, 100, 0.25))
        self.assertGreater(run.model_seconds, 0)


if __name__ == "__main__":
    run()

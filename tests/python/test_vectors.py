"""Several outputs as one vector: radii, predictions, estimates, poses, refusals."""

import math
import unittest

import numpy as np

from support import certreg, run
from certreg import (
    ALL_OUTPUTS,
    NO_PILOT,
    CertregError,
    Estimator,
    Outcome,
    Question,
    Serving,
    Status,
    question_digest,
    to_json,
)

SAMPLES, SIGMA = 2000, 0.5
WHERE = [0.2, -0.1, 0.4]
AXES = [(math.cos(k * math.pi / 6), math.sin(k * math.pi / 6)) for k in range(6)]


def make(**more):
    settings = dict(inputs=3, outputs=3, max_samples=SAMPLES, lo=-9.0, hi=9.0, seed=1)
    return Estimator(lambda x: x, **{**settings, **more})


def projection_median(outputs):
    """Of two outputs, as a server without the library computes it."""
    return sum(np.array(v) * np.median(outputs @ np.array(v)) for v in AXES) / 3


class Vectors(unittest.TestCase):
    def setUp(self):
        self.e = make()
        self.e.begin(WHERE, SIGMA)
        self.addCleanup(self.e.close)

    def test_a_vector_has_one_radius_and_a_prediction_for_each_output(self):
        for statistic in ("median", "projection_median", "mean"):
            q = Question(1.5, ALL_OUTPUTS, statistic=statistic)
            c = self.e.certify(SAMPLES, q)
            self.assertEqual(c.outcome, Outcome.CERTIFIED)
            self.assertTrue(0.3 < c.radius < 1.5, (statistic, c.radius))
            self.assertTrue(math.isnan(c.prediction) and math.isnan(c.estimate))
            psi = self.e.prediction(q)
            self.assertEqual(psi.shape, (3,))
            self.assertTrue(np.allclose(psi, WHERE, atol=0.15), psi)
            given = Question(1.5, ALL_OUTPUTS, statistic=statistic, prediction=psi)
            self.assertEqual(self.e.certify(0, given).radius, c.radius)

    def test_an_identity_has_radii_below_its_tolerance(self):
        radii = [
            self.e.certify(SAMPLES, Question(1.5, ALL_OUTPUTS, statistic=s)).radius
            for s in ("median", "projection_median")
        ]
        self.assertLess(radii[0], radii[1])
        self.assertLess(radii[1], 1.5)

    def test_a_group_is_about_its_outputs_only(self):
        q = Question(1.5, output=1, output_count=2)
        self.assertTrue(q.is_vector)
        self.assertEqual(q.outputs_of(3), 2)
        self.assertGreater(
            self.e.certify(SAMPLES, q).radius,
            self.e.certify(0, Question(1.5, ALL_OUTPUTS)).radius,
        )
        self.assertEqual(self.e.prediction(q).shape, (2,))
        self.assertEqual(self.e.estimate(q).shape, (2,))
        self.assertNotEqual(question_digest(q), question_digest(Question(1.5, output=1)))
        self.assertIn('"output_count":"2"', to_json(q))

    def test_estimates_are_floats_or_vectors(self):
        self.e.sample(0, SAMPLES)
        one = self.e.estimate(0.5)
        self.assertIsInstance(one, float)
        self.assertEqual(one, self.e.estimate(Question(1.5, ALL_OUTPUTS))[0])
        with self.assertRaisesRegex(CertregError, "BALL_CENTER") as caught:
            self.e.estimate(
                Question(1.5, ALL_OUTPUTS, statistic="ball_center", method="baseline")
            )
        self.assertEqual(caught.exception.status, Status.INVALID)

    def test_more_outputs_than_the_model_has_are_refused_without_memory_for_them(self):
        self.e.sample(0, SAMPLES)
        for ask in (self.e.estimate, self.e.prediction):
            with self.assertRaisesRegex(CertregError, "output_count"):
                ask(Question(1, output_count=10**13))

    def test_a_server_returns_the_projection_median_of_its_samples(self):
        seen = []

        def model(x):
            y = x[:, :2] * [1.0, 0.5]
            seen.append(np.asarray(y, np.float32).astype(np.float64))
            return y

        q = Question(1.5, ALL_OUTPUTS, statistic="projection_median", serving=Serving(101, 0.01))
        with Estimator(
            model, inputs=3, outputs=2, max_samples=101, batch=101, pilot=NO_PILOT
        ) as server:
            server.begin(WHERE, SIGMA, noise_id=7)
            server.sample(0, 101)
            served = server.estimate(q)
        self.assertTrue(np.allclose(served, projection_median(seen[0]), atol=1e-12), served)

    def test_a_pose_has_one_radius(self):
        with make(kind=["real", "real", "angle"], lo=None, hi=None) as e:
            e.begin(WHERE, SIGMA)
            position, heading = Question(1.5, output=0, output_count=2), Question(1.2, output=2)
            both, each = e.certify_outputs(SAMPLES, position, heading)
            self.assertEqual(both.radius, min(c.radius for c in each))
            self.assertGreater(both.radius, 0)
            for wrong in ((position,), (position, Question(1, output=1))):
                with self.assertRaisesRegex(CertregError, "each output"):
                    e.certify_outputs(SAMPLES, *wrong)
            with self.assertRaisesRegex(CertregError, "is an angle"):
                e.certify(SAMPLES, Question(1.5, ALL_OUTPUTS))

    def test_what_makes_no_sense_is_refused(self):
        for sentence, question in (
            ("output_count", Question(1, output=2, output_count=2)),
            ("output_count", Question(1, ALL_OUTPUTS, output_count=2)),
            ("projection_median|PROJECTION", Question(1, statistic="projection_median")),
            ("has 2 numbers", Question(1, ALL_OUTPUTS, prediction=[0.0, 0.0])),
            ("tolerance", Question(0, ALL_OUTPUTS)),
        ):
            with self.assertRaisesRegex(CertregError, sentence):
                self.e.certify(SAMPLES, question)
        with self.assertRaisesRegex(CertregError, "output bounds"):
            self.e.output_bounds(SAMPLES, 0.1, Question(1, ALL_OUTPUTS))
        with self.assertRaisesRegex(ValueError, "output_count"):
            self.e.certify(SAMPLES, Question(1, output_count=-1))

    def test_many_rows_have_vectors(self):
        rows = certreg.certify_rows(
            lambda x: x,
            np.zeros((3, 3), np.float32),
            SIGMA,
            [Question(1.5, ALL_OUTPUTS), Question(1.5, output=0, output_count=2)],
            samples=400,
            outputs=3,
        )
        self.assertTrue(np.all(rows["radius"] > 0))
        for q in (0, 1):
            with self.assertRaisesRegex(ValueError, "no single prediction"):
                rows._errors_of(q, np.zeros(3))


if __name__ == "__main__":
    run()

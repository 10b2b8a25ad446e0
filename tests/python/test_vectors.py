"""Several outputs as one vector: radii, predictions, estimates, poses, refusals."""

import math

import numpy as np
import pytest

from kit import SAMPLES, certreg, parametrize
from certreg import ALL_OUTPUTS, CertregError, Outcome, Question, Serving, Status

SIGMA, WHERE = 0.5, [0.2, -0.1, 0.4]
AXES = np.array([(math.cos(k * math.pi / 6), math.sin(k * math.pi / 6)) for k in range(6)])


def itself(x):
    return x


def begun(f=itself, noise_id=0, **more):
    settings = dict(inputs=3, outputs=3, max_samples=SAMPLES, lo=-9.0, hi=9.0, seed=1)
    made = certreg.Estimator(f, **{**settings, **more})
    made.begin(WHERE, SIGMA, noise_id)
    return made


@pytest.fixture
def e():
    with begun() as made:
        yield made


def of_all(statistic="median", tolerance=1.5, **more):
    return Question(tolerance, ALL_OUTPUTS, statistic=statistic, **more)


@parametrize("statistic", "median", "projection_median", "mean")
def test_a_vector_has_one_radius_and_a_prediction_for_each_output(e, statistic):
    c = e.certify(SAMPLES, of_all(statistic))
    assert c.outcome == Outcome.CERTIFIED
    assert 0.3 < c.radius < 1.5, c.radius
    assert math.isnan(c.prediction) and math.isnan(c.estimate)
    psi = e.prediction(of_all(statistic))
    assert psi.shape == (3,)
    assert np.allclose(psi, WHERE, atol=0.15), psi
    assert e.certify(0, of_all(statistic, prediction=psi)).radius == c.radius


def test_an_identity_has_radii_below_its_tolerance(e):
    radii = [e.certify(SAMPLES, of_all(s)).radius for s in ("median", "projection_median")]
    assert radii[0] < radii[1] < 1.5


def test_a_group_is_about_its_outputs_only(e):
    q = Question(1.5, output=1, output_count=2)
    assert q.is_vector
    assert q.outputs_of(3) == 2
    assert e.certify(SAMPLES, q).radius > e.certify(0, of_all()).radius
    assert e.prediction(q).shape == e.estimate(q).shape == (2,)
    assert certreg.question_digest(q) != certreg.question_digest(Question(1.5, output=1))
    assert '"output_count":"2"' in certreg.to_json(q)


def test_estimates_are_floats_or_vectors(e):
    e.sample(0, SAMPLES)
    one = e.estimate(0.5)
    assert isinstance(one, float)
    assert one == e.estimate(of_all())[0]
    with pytest.raises(CertregError, match="BALL_CENTER") as caught:
        e.estimate(of_all("ball_center", method="baseline"))
    assert caught.value.status == Status.INVALID


def test_more_outputs_than_the_model_has_are_refused_without_memory_for_them(e):
    e.sample(0, SAMPLES)
    for ask in (e.estimate, e.prediction):
        with pytest.raises(CertregError, match="output_count"):
            ask(Question(1, output_count=10**13))


def test_a_server_returns_the_projection_median_of_its_samples():
    seen = []

    def model(x):
        y = x[:, :2] * [1.0, 0.5]
        seen.append(np.asarray(y, np.float32).astype(np.float64))
        return y

    q = of_all("projection_median", serving=Serving(101, 0.01))
    one = dict(outputs=2, max_samples=101, batch=101, pilot=certreg.NO_PILOT, lo=None, hi=None)
    one["check"] = False
    with begun(model, 7, **one) as server:
        server.sample(0, 101)
        served = server.estimate(q)
    wanted = sum(axis * np.median(seen[0] @ axis) for axis in AXES) / 3
    assert np.allclose(served, wanted, atol=1e-12), served


def test_a_pose_has_one_radius():
    with begun(kind=["real", "real", "angle"], lo=None, hi=None) as e:
        position, heading = Question(1.5, output=0, output_count=2), Question(1.2, output=2)
        both, each = e.certify_outputs(SAMPLES, position, heading)
        assert both.radius == min(c.radius for c in each) > 0
        for wrong in ((position,), (position, Question(1, output=1))):
            with pytest.raises(CertregError, match="each output"):
                e.certify_outputs(SAMPLES, *wrong)
        with pytest.raises(CertregError, match="is an angle"):
            e.certify(SAMPLES, of_all())


@parametrize(
    "sentence, question",
    ("output_count", Question(1, output=2, output_count=2)),
    ("output_count", Question(1, ALL_OUTPUTS, output_count=2)),
    ("statistic: for an output that is no angle", Question(1, statistic="projection_median")),
    ("has 2 numbers", Question(1, ALL_OUTPUTS, prediction=[0.0, 0.0])),
    ("tolerance", Question(0, ALL_OUTPUTS)),
)
def test_what_makes_no_sense_is_refused(e, sentence, question):
    with pytest.raises(CertregError, match=sentence):
        e.certify(SAMPLES, question)


def test_output_bounds_of_a_vector_are_refused(e):
    with pytest.raises(CertregError, match="output bounds"):
        e.output_bounds(SAMPLES, 0.1, of_all())


def test_many_rows_have_vectors():
    asked = [of_all(), Question(1.5, output=0, output_count=2)]
    rows = certreg.certify_rows(itself, np.zeros((3, 3)), SIGMA, asked, samples=400, outputs=3)
    assert np.all(rows["radius"] > 0)
    for q in (0, 1):
        with pytest.raises(ValueError, match="no single prediction"):
            rows._errors_of(q, np.zeros(3))

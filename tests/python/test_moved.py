"""Certificates at other inputs, without a call of the model."""

import math

import numpy as np
import pytest

from certreg import CertregError, Estimator, Question, Status, certify_rows
from kit import parametrize

Z = np.array([[0.5, -0.0], [3, 1]])
NEAR = np.array([[0.7, -0.0], [3, 0.8]])
SCALE = np.array([[2, 0], [0.5, 1]])


def model(x):
    return x[:, 0, 0] - x[:, 1, 1]


def certificate(question=1.5, **more):
    with Estimator(model, (2, 2), 600, seed=1, scale=SCALE, lo=-50, hi=50, **more) as e:
        return e.certify(Z, 0.25, 600, question)


def test_the_radius_is_shorter_by_the_distance():
    c, to = certificate(), NEAR
    m = c.moved(Z, to, SCALE)
    assert m.radius == pytest.approx(c.radius - math.hypot(0.1, 0.2), abs=1e-6)  # float32
    assert m.radius_l2 == pytest.approx(m.radius / 2)
    assert (m.prediction, m.tolerance, m.alpha) == (c.prediction, c.tolerance, c.alpha)
    assert math.isnan(m.estimate) and m.certified
    same = m.moved(to.ravel(), to.ravel(), SCALE.ravel())
    assert (same.radius, same.input) == (m.radius, m.input)


def test_nothing_is_left_far_away():
    m = certificate().moved(Z, Z + [[0, -0.0], [3, 0]], SCALE)
    assert m.radius == 0 and not m.certified and m.output_hi == math.inf
    assert m.status == Status.OK


def test_rows_have_certificates_that_move():
    rows = certify_rows(model, Z[None], 0.25, 1.5, samples=600, scale=SCALE, progress=False)
    assert rows.certificate(0).moved(Z, Z, rows.sampling.scale).radius == rows["radius"][0, 0, 0]
    assert "input" not in rows.to_dicts()[0]


@parametrize("scale", 0.7, [[0.7, 0.3], [0.1, 1]], np.full(4, 0.7, np.float32))
def test_scales_are_rounded_as_the_estimator_rounds_them(scale):
    with Estimator(model, (2, 2), 600, seed=1, scale=scale, lo=-50, hi=50) as e:
        c = e.certify(Z, 0.25, 600, 1.5)
    assert c.moved(Z, Z, scale).radius == c.radius


@parametrize(
    "status, words, z, to, scale",
    ("MISMATCH", "about another input", Z + 1, Z, SCALE),
    ("MISMATCH", "about another input", Z, Z, None),
    ("MISMATCH", "about another input", Z, Z, 2),
    ("INVALID", "feature 0 of to is nan", Z, Z * [[math.nan, 0], [1, 1]], SCALE),
    ("INVALID", "feature 1 of to = 0 is not", Z, Z + 0.0, SCALE),
)
def test_what_is_not_covered_is_refused(status, words, z, to, scale):
    with pytest.raises(CertregError, match=words) as error:
        certificate().moved(z, to, scale)
    assert error.value.status == Status[status]


def test_what_is_not_about_a_prediction_is_refused():
    c = certificate(Question(1.5, statistic="mean", center="true_mean"))
    with pytest.raises(CertregError, match="only what is about a prediction"):
        c.moved(Z, Z, SCALE)


@parametrize(
    "words, z, to",
    ("to has shape", Z, Z[0]),
    ("to has shape", Z, 1.0),
    ("z must hold numbers", "a", Z),
)
def test_wrong_shapes_are_refused(words, z, to):
    with pytest.raises((TypeError, ValueError), match=words):
        certificate().moved(z, to, SCALE)

"""Serving from pairs of opposite noise."""

import numpy as np
import pytest
from certreg import (
    NO_PILOT,
    PLAN_PAIRS,
    CertregError,
    Estimator,
    Question,
    Serving,
    question_digest,
)

SERVED = 101
PAIRS, ALONE = (Serving(SERVED, 0.01, pairs=pairs) for pairs in (True, False))


def first(x):
    return x[:, 0]


def server(flags=PLAN_PAIRS):
    e = Estimator(first, inputs=3, max_samples=SERVED, pilot=NO_PILOT, seed=5, flags=flags)
    e.begin(np.zeros(3, np.float32), 0.3)
    e.sample(0, SERVED)
    return e


def test_pairs_cost_a_served_median_half_of_the_radius():
    with Estimator(first, inputs=3, max_samples=2000, seed=5) as e:
        e.begin(np.zeros(3, np.float32), 0.3)
        plain, alone, pairs = (
            e.certify(2000, Question(0.7, prediction=0.0, serving=serving)).radius / 0.3
            for serving in (None, ALONE, PAIRS)
        )
    assert plain - alone > 0.29
    assert plain - pairs < 0.17


def test_a_server_returns_the_median_of_pairs():
    with server() as e:
        x = e.draw(0, SERVED)
        assert np.array_equal(x[0:100:2], -x[1:101:2])
        assert e.estimate(Question(0.7, serving=PAIRS)) == np.median(x[:, 0])


@pytest.mark.parametrize("flags, serving", [(PLAN_PAIRS, ALONE), (0, PAIRS), (PLAN_PAIRS, None)])
def test_servers_answer_no_questions_of_the_other_kind(flags, serving):
    with server(flags) as e, pytest.raises(CertregError, match="pairs"):
        e.estimate(Question(0.7, serving=serving))


def test_nothing_is_certified_from_pairs():
    with server() as e, pytest.raises(CertregError, match="without it"):
        e.certify(0, Question(0.7, prediction=0.0, serving=PAIRS))


def test_the_question_names_pairs():
    a, b = (Question(0.7, serving=serving) for serving in (ALONE, PAIRS))
    assert question_digest(a) != question_digest(b)


@pytest.mark.parametrize("samples", [10, 10002])
def test_numbers_of_samples_that_are_refused(samples):
    with Estimator(first, inputs=3, max_samples=200) as e:
        e.begin(np.zeros(3, np.float32), 0.3)
        with pytest.raises(CertregError, match="11 to 10,001"):
            e.certify(200, Question(0.7, serving=Serving(samples, 0.1, pairs=True)))

"""Attacks: both ends of the truth for models that break at a known radius."""

import math

import numpy as np
import pytest

from kit import certreg, counting, near, parametrize, refused
from certreg import CertregError, Status, Stop

SCALE = np.array([1, 2, 0, 0.5], np.float32)
WEIGHTS = np.array([1, -0.5, 7, 0.5], np.float32)
Z = np.array([0.2, 0.4, 0, 1])
BREAKS = 0.8 / np.linalg.norm(WEIGHTS[[0, 1, 3]] * SCALE[[0, 1, 3]])


def linear(x):
    return x @ WEIGHTS


QUESTION = certreg.Question(0.8, prediction=float(linear(Z.astype(np.float32))))


def make(model=linear, **more):
    return certreg.Estimator(model, 4, 2000, scale=SCALE, seed=3, batch=10, **more)


def certified(model=linear, **more):
    """An estimator that has certified, and its certificate."""
    e = make(model, **more)
    return e, e.certify(Z, 0.5, 2000, QUESTION)


def test_the_truth_lies_between_certified_and_broken():
    e, c = certified()
    with e:
        found = e.attack(QUESTION, 1500)
        assert found.broken
        assert found.certified == c.radius <= BREAKS <= found.radius < 1.4 * BREAKS
        assert found.forecast / BREAKS == near(1, 0.15)
        assert found.stop is Stop.ALL
        assert found.side in (certreg.Side.LOWER, certreg.Side.UPPER)
        moving = SCALE > 0
        norm = np.linalg.norm(found.shift[moving].astype(float) / SCALE[moving])
        assert norm == near(found.radius, 1e-6)
        assert found.shift[2] == 0
        assert str(found) == f"certified {found.certified:g}, broken at {found.radius:g}"
        assert e.attack(QUESTION, 1500) == found
        assert e.attack(QUESTION, 1500, number=1).radius != found.radius


def test_calls_are_counted():
    f, calls = counting(linear)
    e, _ = certified(f)
    with e:
        calls.clear()
        found = e.attack(QUESTION)
        assert (calls, found.calls, found.radius) == ([], 0, math.inf)
        assert "forecast" in str(found)
        few = e.attack(QUESTION, 400)
        assert few.calls <= 400
        more = e.attack(QUESTION, 1500, alpha=0.01)
        assert more.alpha == 0.01
        assert sum(calls) == few.calls + more.calls > few.calls + 400


def test_a_direction_is_followed():
    along = WEIGHTS * SCALE
    e, _ = certified()
    with e:
        found = e.attack(QUESTION, 600, direction=along)
        length = np.linalg.norm(found.shift / np.where(SCALE, SCALE, 1))
        wanted = length * along / np.linalg.norm(along) * SCALE
        np.testing.assert_allclose(found.shift, wanted, atol=1e-5)
        assert found.cosine == 1
        with pytest.raises(ValueError):
            e.attack(QUESTION, 600, direction=[1, 2])


def test_gradients_have_the_shape_of_the_input():
    plan = dict(lo=-99, hi=99, seed=1)
    model = lambda x: linear(x.reshape(len(x), 4))  # noqa: E731
    with certreg.Estimator(model, (2, 2), 40_000, **plan) as e:
        question = certreg.Question(0.8, statistic="mean")
        e.certify(Z.reshape(2, 2), 0.5, 40_000, question)
        gradient = e.gradient(question, "lower")
        assert gradient.shape == (2, 2)
        np.testing.assert_allclose(gradient.ravel(), WEIGHTS, atol=0.2)
        np.testing.assert_array_equal(e.gradient(question, "upper"), -gradient)


def test_what_cannot_be_attacked_is_refused():
    with make() as e, pytest.raises(CertregError, match="begin"):
        e.attack(0.8, 500)
    e, _ = certified()
    with e:
        with pytest.raises(CertregError, match="at least"):
            e.attack(0.8, 3)
        with pytest.raises(CertregError, match="BASELINE|baseline|Method"):
            e.attack(certreg.Question(0.8, method="baseline"), 500)
        with pytest.raises(TypeError):
            e.attack(0.8, "many")


@parametrize("calls, refusal", (3, "at least"), (1500, None))
def test_a_refused_attack_is_no_evaluation_of_the_record(calls, refusal):
    with make() as e:
        e.begin(Z, 0.5)
        e.sample(0, 900)
        if refusal is None:
            e.attack(QUESTION, calls)
            with pytest.raises(CertregError, match="900"):
                e.certify(1000, QUESTION)
        else:
            with pytest.raises(CertregError, match=refusal):
                e.attack(QUESTION, calls)
            assert e.certify(1000, QUESTION).radius > 0


def test_an_attack_that_does_not_fit_into_memory_spoils_no_other():
    e, _ = certified()
    with e:
        assert e.attack(QUESTION, 1500).broken
        with pytest.raises(CertregError, match="memory"):
            e.attack(QUESTION, 10**18)
        assert e.attack(QUESTION, 1500).broken
        assert e.attack(QUESTION, 1600).broken


def test_the_model_may_raise_but_not_call_its_estimator():
    attacked, seen = [], []

    def asks(x):
        for call in (lambda: e.attack(0.8, 500), e.info, e.close) if attacked else ():
            with refused(Status.BUSY):
                call()
            seen.append(call)
        if attacked == ["fails"]:
            raise KeyError("from the model")
        return linear(x)

    e, _ = certified(asks)
    with e:
        attacked.append("asks")
        assert e.attack(QUESTION, 500).calls
        assert seen
        attacked[:] = ["fails"]
        with pytest.raises(KeyError, match="from the model"):
            e.attack(QUESTION, 500)


def test_a_progress_function_stops():
    e, _ = certified(progress=lambda done, total: total == 500 and done > 100)
    with e:
        found = e.attack(QUESTION, 500)
        assert found.stop is Stop.CANCELLED
        assert not found.broken
        assert "not broken" in str(found)

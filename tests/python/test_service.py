"""Services: what C tests of them holds in Python too, for its models, arrays and closed handles."""

import certreg
import numpy as np
import pytest

TICKS, SENSORS = 4, 2
UNIT = np.array([0.5, 2.0], np.float32)
HERE = [1.0, 2.0]


def plus(x):
    return x[:, 0] + x[:, 1]


@pytest.fixture
def single():
    with certreg.Estimator(plus, 2, 1000, seed=1) as e:
        yield e


def test_episode_of_a_service_is_the_one_that_is_simulated():
    def model(rows):
        readings = np.full((len(rows), SENSORS), [0.25, 1.5], np.float32)
        noise = rows.reshape(-1, TICKS, SENSORS)
        seen = [certreg.episode_sense(readings, noise[:, t], 0.5, UNIT) for t in range(TICKS)]
        np.testing.assert_array_equal(seen[1], readings + noise[:, 1])  # on the grid
        return np.sum(seen, axis=(0, 2))

    flags = certreg.PLAN_EPISODE | certreg.PLAN_COUNT_FAILURES
    given = dict(flags=flags, pilot=certreg.NO_PILOT, check=False, scale=np.tile(UNIT, TICKS))
    with certreg.Estimator(model, TICKS * SENSORS, 1000, seed=1, **given) as e:
        question = certreg.Question(20, prediction=7.0)
        c = e.certify(np.zeros(TICKS * SENSORS), 0.5, 1000, question)
        with certreg.Service(e, question, c, ticks=TICKS) as service:
            assert 0 < c.radius - service.certificate().radius < 0.01
            service.start()
            first = [service.sense([0.25, 1.5]) for _ in range(TICKS)]
            assert [tick.number for tick in first] == [0, 1, 2, 3]
            with pytest.raises(certreg.CertregError, match="ended after 4 ticks"):
                service.sense([0.25, 1.5])
            service.start(service.info().seed)
            again = service.sense([0.25, 1.5])
            np.testing.assert_array_equal(again.value, first[0].value)
            assert not np.array_equal(again.value, first[1].value)
            with pytest.raises(certreg.CertregError, match="reading.1. is nan"):
                service.sense([0.25, np.nan])
            assert service.info().failed == 1
    failed = certreg.episode_sense([[1, np.inf], [1, 1]], np.zeros((2, 2)), 0.5)
    assert np.isnan(failed[0]).all() and failed[1].tolist() == [1, 1]


def test_service_serves_fresh_samples_of_the_model(single):
    question = certreg.Question(2, serving=certreg.Serving(11, 0.1))
    c = single.certify(HERE, 0.25, 1000, question)
    with certreg.Service(single, question, c, fallback=-1) as service:
        service.start(seed=7)
        with certreg.Estimator(plus, 2, 11, pilot=certreg.NO_PILOT, seed=7) as server:
            for number in range(3):
                server.begin(HERE, 0.25, noise_id=number)
                server.sample(0, 11)
                assert service.act(HERE).value == server.estimate(question)
        far = service.act([9, 9])
        assert (far.value, far.source) == (-1, certreg.Source.OUTSIDE)
        other = single.certify([9, 9], 0.25, 1000, question)
        service.anchor([9, 9], other)
        assert service.act([9, 9]).source == certreg.Source.ANSWERED
        assert (service.info().answered, service.info().outside) == (4, 1)


def test_exception_of_the_model_leaves_an_act():
    def model(x):
        if broken:
            raise ArithmeticError("lost")
        return plus(x)

    broken = False
    question = certreg.Question(2, serving=certreg.Serving(11, 0.1))
    with certreg.Estimator(model, 2, 1000, seed=1) as e:
        c = e.certify(HERE, 0.25, 1000, question)
        with certreg.Service(e, question, c) as service:
            service.start()
            broken = True
            with pytest.raises(ArithmeticError, match="lost"):
                service.act(HERE)
            broken = False
            assert service.act(HERE).source == certreg.Source.ANSWERED


def test_service_refuses_what_was_not_certified(single):
    c = single.certify(HERE, 0.25, 1000, 0.5)
    with pytest.raises(certreg.CertregError, match="another question"):
        certreg.Service(single, 0.6, c)
    with pytest.raises(certreg.CertregError, match="no\\W+PLAN_EPISODE"):
        certreg.Service(single, 0.5, c, ticks=2)
    service = certreg.Service(single, 0.5, c)
    with pytest.raises(certreg.CertregError, match="start"):
        service.act(HERE)
    service.start()
    with pytest.raises(ValueError, match="must be \\(2,\\)"):
        service.act([1, 2, 3])
    with pytest.raises(certreg.CertregError, match="must be finite"):
        service.act([1, np.nan])
    assert service.info().failed == 1
    single.close()
    with pytest.raises(ValueError, match="Estimator is closed"):
        service.act(HERE)


def test_service_acts_although_a_sensor_is_wrong():
    faulty = certreg.Faulty(shown=1, marker=0.0)
    question = certreg.Question(2, faults=1, prediction=0.0)
    with certreg.Estimator(lambda x: 0 * x[:, 0], 4, 1000, faulty=faulty, seed=1) as e:
        c = e.certify([0.0] * 4, 0.25, 1000, question)
        with certreg.Service(e, question, c) as service:
            service.start()
            ticks = [service.act([0, 0, wrong, 0]) for wrong in (np.nan, 1e9)]
            assert [tick.source for tick in ticks] == [certreg.Source.ANSWERED] * 2
            assert service.act([9, 0, np.nan, 0]).source == certreg.Source.OUTSIDE


def test_service_takes_no_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    with certreg.Estimator(lambda x: x["a"], frame, 1000) as e:
        with pytest.raises(ValueError, match="a service takes arrays"):
            certreg.Service(e, 0.5)

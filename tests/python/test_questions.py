"""Questions beyond one radius of one output: targets, serving, levels, shapes, stops, threads."""

import gc
import math
import time
import weakref

import numpy as np
import pytest

from kit import ORIGIN, SAMPLES, Z, certreg, estimator, model, near, on_a_thread, parametrize
from kit import refused, same
from certreg import (
    CertregError,
    Constraint,
    Constraints,
    Method,
    Outcome,
    Question,
    Statistic,
    Status,
    Stop,
)
from certreg.constants import LEVELS_OF_A_DOMAIN

PLAIN = dict(tolerance=0.5, alpha=0.1)


@parametrize("method", "finite", "anytime")
def test_a_target_stops_sampling_early_and_is_forecast(method):
    q = Question(**PLAIN, target=0.2, method=method)
    with estimator(max_samples=4000, batch=8, pilot=16) as e:
        e.begin(ORIGIN, 0.25)
        forecast = e.forecast(q)
        assert 16 < forecast.least_samples < 200
        assert forecast.expected_samples == math.inf
        c = e.certify(4000, q)
        assert c.stop == Stop.TARGET
        assert 0.2 <= c.radius <= 0.5
        assert forecast.least_samples <= c.samples < 500


def test_looks_are_the_callers():
    def at(looks):
        target = certreg.Target(0.05, looks=looks)
        return e.certify(ORIGIN, 0.25, 400, Question(**PLAIN, target=target))

    with estimator(max_samples=400, batch=1, pilot=16) as e:
        for looks in ((100, 250, 400), np.array([100, 250, 400])):
            assert (at(looks).samples, at(looks).stop) == (100, Stop.TARGET)
        for looks, why in (((250, 100), "must exceed"), ((), "len.target.looks")):
            with pytest.raises(CertregError, match=why):
                at(looks)


def test_what_is_served_has_a_smaller_radius():
    with estimator(max_samples=4000) as e:
        plain = e.certify(ORIGIN, 0.25, 4000, Question(**PLAIN))
        serving = certreg.Serving(samples=101, failure_rate=0.01)
        assert 0 < e.certify(0, Question(**PLAIN, serving=serving)).radius < plain.radius


def test_output_bounds_hold_at_a_given_radius():
    with estimator(max_samples=4000) as e:
        e.begin(ORIGIN, 0.25)
        c = e.output_bounds(4000, 0.2, Question(1, alpha=0.1))
        assert -0.3 < c.output_lo < -0.2 and 0.2 < c.output_hi < 0.3, c
        assert (c.radius, c.samples, c.limiting_side) == (0.2, 4000, 0)
        closer, _ = e.output_bounds(0, 0.1, Question(1, alpha=0.1), Question(1))
        assert c.output_lo < closer.output_lo < closer.output_hi < c.output_hi


def test_several_sigmas_share_alpha_and_one_is_chosen():
    sigmas = [0.1, 0.2, 0.4]
    with estimator(max_samples=1000) as e:
        rows = [
            e.certify_sigmas(ORIGIN, sigmas, 1000, Question(**PLAIN), noise_id=10 * i)
            for i in range(4)
        ]
    assert [c.sigma for c in rows[0]] == sigmas
    assert rows[0][0].alpha == near(0.1 / 3)
    level, means = certreg.choose_sigma(rows)
    assert level == int(np.argmax(means))
    assert means[level] == near(np.mean([row[level].radius for row in rows]))
    with pytest.raises(CertregError, match="same noise levels"):
        certreg.choose_sigma([rows[0], rows[1][::-1]])
    with pytest.raises(ValueError, match="for each level"):
        certreg.choose_sigma([rows[0], rows[1][1:]])


def test_names_stand_for_members():
    asked = Question(
        0.5, statistic="Huber", huber_width=0.25, method="anytime", center="prediction"
    )
    assert (asked.statistic, asked.method) == (Statistic.HUBER, Method.ANYTIME)
    assert Question(1, statistic="circular mean").statistic == Statistic.CIRCULAR_MEAN
    assert Question(1, constraints="ECGM").constraints == Constraints.ECGM
    assert Question(1, constraints="gradient").constraints == 4
    with estimator(lambda x: x[:, :2] + 4, kind="angle-pair", constraints="cg") as e:
        assert e.columns == 2
        assert e.certify(ORIGIN, 0.25, SAMPLES, 0.5).certified
        e.bounds(0.5, "upper")
    estimator(kind=np.array(0), progress=False).close()


def test_integers_may_come_as_floats():
    with estimator(inputs=3.0, max_samples=2e3, batch=np.float64(100), pilot=250.0) as e:
        c = e.certify(Z, 0.25, 2e3, Question(0.5, bonferroni=2.0), noise_id=np.int8(3))
        assert (c.samples, c.alpha, c.noise_id) == (2000, 0.025, 3)


def test_inputs_may_have_a_shape():
    seen, image = set(), np.arange(12.0).reshape(3, 2, 2) / 12

    def first(x):
        seen.add(x.shape[1:])
        return x[:, 0, 0, 1]

    with estimator(first, (3, 2, 2)) as e, estimator(lambda x: x[:, 1], 12) as flat:
        c = e.certify(image, 0.25, SAMPLES, 0.5)
        assert same(c, flat.certify(image.ravel(), 0.25, SAMPLES, 0.5))
        assert e.draw(0, 5).shape == (5, 3, 2, 2)
        with pytest.raises(ValueError, match=r"z has shape \(3, 4\); it must be \(3, 2, 2\)"):
            e.begin(image.reshape(3, 4), 0.25)
    assert seen == {(3, 2, 2)}


def test_domains_of_noise_share_nothing():
    with estimator() as e:
        drawn = []
        for level in (0, 1, certreg.Domain.CALIBRATION, certreg.Domain.ATTACK):
            e.begin(Z, 0.25, 0, level)
            drawn.append(e.draw(1, 50))  # sample 0 has no noise
        rows = np.concatenate(drawn)
        assert len(np.unique(rows, axis=0)) == len(rows)


def test_domains_of_noise_end_where_the_next_one_begins():
    begin = [*sorted(certreg.Domain), 1 << 20]  # the first level that there is not
    for domain, following in zip(begin, begin[1:]):
        assert domain + LEVELS_OF_A_DOMAIN <= following
    with estimator() as e:
        e.begin(Z, 0.25, 0, begin[-1] - 1)
        with pytest.raises(CertregError, match="level is 1048576"):
            e.begin(Z, 0.25, 0, begin[-1])
        with pytest.raises(ValueError, match="262144 sigmas; .* at most 262143"):
            e.certify_sigmas(Z, np.linspace(0.1, 1, LEVELS_OF_A_DOMAIN), SAMPLES, 0.5)


def test_outputs_share_one_radius_and_a_norm():
    lo, hi = [-9.0] * 3, [9.0] * 3
    norm = dict(output=certreg.ALL_OUTPUTS, statistic="mean", center="true_mean")
    with estimator(lambda x: x, outputs=3, lo=lo, hi=hi) as e:
        e.begin(ORIGIN, 0.25)
        asked = [Question(0.3 + 0.1 * k, output=k, alpha=0.1) for k in range(3)]
        combined, each = e.certify_outputs(2000, *asked)
        assert combined.radius == min(c.radius for c in each)
        assert combined.alpha == 0.1
        for method in ("asymptotic", "finite"):
            assert 0 < e.certify(0, Question(0.5, **norm, method=method)).radius < 0.5
        with pytest.raises(CertregError, match="each output"):
            e.certify_outputs(0, Question(0.3))


@parametrize(
    "more",
    dict(statistic="huber", huber_width=0.25),
    dict(statistic="mean"),
    dict(constraints=Constraint.MEAN | Constraint.RANGE),
)
def test_finite_bounds_of_every_statistic(more):
    with estimator(max_samples=4000, lo=-5.0, hi=5.0) as e:
        assert 0.1 < e.certify(ORIGIN, 0.25, 4000, Question(**PLAIN, **more)).radius < 0.5


def test_radii_in_other_norms():
    with estimator(max_samples=1000, scale=[1.0, 2.0, 0.0]) as e:
        c = e.certify(ORIGIN, 0.25, 1000, 0.5)
    assert c.radius_l2 == near(c.radius)
    assert c.radius_linf == near(c.radius / np.sqrt(1 + 0.25))


def test_a_constant_is_certified():
    with estimator(lambda x: np.zeros(len(x))) as e:
        assert e.certify(Z, 0.25, SAMPLES, 100).certified


def test_batches_of_one_row():
    with estimator(batch=1, max_samples=100) as e:
        e.certify(Z, 0.25, 100, 0.5)
        assert e.info().batch == 1


def test_progress_counts_and_cancels():
    seen = []
    with estimator(progress=lambda done, total: seen.append((done, total))) as e:
        e.certify(Z, 0.25, SAMPLES, 0.5)
    assert seen[-1] == (SAMPLES, SAMPLES)
    with estimator(progress=lambda done, total: done >= 1000) as e:
        c = e.certify(Z, 0.25, SAMPLES, 0.5)
        assert c.stop == Stop.CANCELLED and c.samples < SAMPLES


def test_cancel_and_deadline_stop_early():
    with estimator() as e:
        e.cancel()
        assert e.certify(Z, 0.25, SAMPLES, 0.5).stop == Stop.CANCELLED
        e.begin(Z, 0.25)
        e.cancel()
        with refused(Status.CANCELLED):
            e.sample(0, SAMPLES)
        assert e.certify(Z, 0.25, SAMPLES, 0.5).stop == Stop.ALL
    with estimator(lambda x: (time.sleep(0.02), model(x))[1]) as e:
        e.begin(Z, 0.25)
        e.set_deadline(0.05)
        assert e.certify(SAMPLES, 0.5).stop == Stop.DEADLINE


def test_cancel_may_come_from_the_model_and_from_another_thread():
    for cancel in (lambda: e.cancel(), lambda: on_a_thread(e.cancel)):
        with estimator(lambda x, cancel=cancel: (cancel(), model(x))[1]) as e:
            c = e.certify(Z, 0.25, SAMPLES, 0.5)
            assert c.stop == Stop.CANCELLED and c.samples < SAMPLES


def test_a_tick_without_samples_hands_its_prediction_on():
    with estimator() as e:
        e.set_deadline(1e-9)
        c = e.certify(Z, 0.25, SAMPLES, Question(0.5, prediction=0.75))
        assert (c.stop, c.samples, c.estimate) == (Stop.DEADLINE, 0, 0.75)
        e.set_deadline(0)
        next_tick = e.certify(Z, 0.25, SAMPLES, Question(0.5, prediction=c.estimate))
        assert (next_tick.prediction, next_tick.noise_id) == (0.75, 1)


def test_an_estimator_goes_with_its_last_reference():
    gone = weakref.ref(estimator())
    gc.disable()
    assert gone() is None
    gc.enable()


def test_outputs_that_are_not_finite_or_out_of_range_are_named():
    def broken(x):
        y = model(x)
        y[17:18] = np.nan
        return y

    with estimator(broken) as e, refused(Status.NOT_FINITE) as caught:
        e.certify(Z, 0.25, SAMPLES, 0.5)
    error = caught.value
    assert (error.sample, error.row, error.output) == (17, 17, 0)
    assert math.isnan(error.value)
    assert [c.radius for c in error.certificates] == [0]
    with estimator(broken, flags=certreg.PLAN_COUNT_FAILURES) as e:
        assert e.certify(Z, 0.25, SAMPLES, 0.5).certified
    with estimator(lo=-1, hi=1) as e, refused(Status.OUT_OF_RANGE) as caught:
        e.certify(Z, 0.25, SAMPLES, 0.5)
    assert caught.value.value > 1


def test_certificates_of_a_refusal_claim_nothing():
    with estimator() as e, refused(Status.INVALID, "tolerance") as caught:
        e.certify(Z, 0.25, SAMPLES, Question(-1), Question(0.5))
    first = caught.value.certificates[0]
    assert (first.status, first.outcome) == (Status.INVALID, Outcome.ABSTAINED)

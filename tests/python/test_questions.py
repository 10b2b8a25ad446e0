"""What Python adds to the calls of an estimator: names, shapes, domains, stops and errors."""

import gc
import math
import time
import weakref

import numpy as np
import pytest

from kit import ORIGIN, SAMPLES, X, Z, bits, certreg, estimator, model, on_a_thread, package
from kit import parametrize, refused, rows_of, same
from certreg.questions import tolerance_text
from certreg import CertregError, Constraints, Method, Outcome, Question, Statistic, Status, Stop
from certreg.constants import LEVELS_OF_A_DOMAIN


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


def test_a_percentage_is_a_part_of_the_prediction():
    with estimator() as e:
        c = e.certify(Z, 0.25, SAMPLES, "60%", noise_id=1)
        assert c.certified and c.tolerance == pytest.approx(0.6 * abs(c.prediction), rel=1e-12)
        assert same(c, e.certify(Z, 0.25, SAMPLES, Question(" 60 %"), noise_id=1))
        asked = Question(0, relative_tolerance=0.6)
        assert same(c, e.certify(Z, 0.25, SAMPLES, asked, noise_id=1))
        with refused(Status.INVALID, "relative_tolerance"):
            e.certify(Z, 0.25, SAMPLES, Question("60%", target=0.1))
    for text in ("60", "-1%", "0%", "nan%", "1e3%", "%"):
        with pytest.raises(ValueError, match="a percentage like '10%'"):
            Question(text)


def test_a_percentage_is_resolved_for_each_row():
    rows = rows_of(questions=["60%", 0.5])
    tolerances = rows["tolerance"][:, 0]
    assert np.allclose(tolerances[:, 0], 0.6 * np.abs(rows["prediction"][:, 0, 0]), rtol=1e-12)
    assert (tolerances[:, 1] == 0.5).all()
    assert [line["tolerance"] for line in rows.summary()] == ["60%", 0.5]
    truth = rows["prediction"][:, 0, 0] * 1.5
    assert (rows.useful_radii(truth)[:, 0, 0] == rows["radius"][:, 0, 0]).all()
    assert (rows.useful_radii(truth * 1.1)[:, 0, 0] == 0).all()
    assert rows.choose_sigma(labels=truth)[0] == 0


def test_each_row_may_have_its_own_tolerance(folder):
    each = np.linspace(0.1, 2, len(X))
    asked = [Question(each, alpha=0.1), 0.5]
    rows = rows_of(questions=asked)
    for i in (0, 7, 39):
        alone = rows_of(x=X[i : i + 1], questions=[Question(each[i], alpha=0.1), 0.5], noise_id=i)
        assert bits(alone) == bits(rows[[i]])
    assert [line["tolerance"] for line in rows.summary()] == ["0.1 to 2", 0.5]
    truth = rows["prediction"][:, 0, 0] + 0.3
    useful = rows.useful_radii(truth)[:, 0, 0]
    assert (useful == np.where(each >= 0.3, rows.radius[:, 0, 0], 0)).all()
    assert rows[[7, 3]].questions[0].tolerance == (each[7], each[3])
    rows[5:].save("rows.npz")
    assert str(certreg.Rows.load("rows.npz")) == str(rows[5:])
    for file in ("rows.sqlite", "rows/"):
        for _ in range(2):
            again = rows_of(questions=asked, resume=file)
            assert bits(again) == bits(rows)
        with pytest.raises(certreg.ResumeError, match="with other questions"):
            rows_of(questions=[Question(each[::-1], alpha=0.1), 0.5], resume=file)
    for count in (30, 40, 30):
        rows_of(x=X[:count], questions=Question(each[:count]), resume="more")
    each[37] = 9
    with pytest.raises(certreg.ResumeError, match="made with other questions about row 37"):
        rows_of(questions=Question(each), resume="more")


@parametrize(
    "sentence, wrong",
    (r"question 0 has 39 tolerances, and X has 40 rows: give", lambda: Question([1] * 39)),
    (r"tolerance\[2\] is -1; it must be positive", lambda: Question([1, 1, -1])),
    (r"tolerance has shape \(40, 1\); it must be a number, or", lambda: Question(X[:, :1])),
    ("give Question.tolerances. for a tolerance of each row", lambda: X[:, 0]),
    ("give Question.tolerances. for a tolerance of each row", lambda: [0.5, X[:, 0]]),
)
def test_tolerances_that_are_not_one_for_each_row(sentence, wrong):
    with pytest.raises((TypeError, ValueError), match=sentence):
        rows_of(lambda x: 1 / 0, questions=wrong())


def test_tolerances_of_rows_are_for_tables():
    with estimator() as e, pytest.raises(TypeError, match="and the question has 40, for the rows"):
        e.certify(Z, 0.25, SAMPLES, Question([0.5] * 40))
    with pytest.raises(ValueError, match="a tolerance for each row: give one"):
        certreg.tune_scale(model, X, [0.25], Question([0.5] * 40))
    series = package("pandas").Series([0.5] * 40)
    with pytest.raises(TypeError, match="give tolerance.to_numpy"):
        Question(series)


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
    with estimator() as e:
        for seconds, stop in ((0, Stop.DEADLINE), (None, Stop.ALL)):
            e.begin(Z, 0.25)
            e.set_deadline(seconds)
            assert e.certify(SAMPLES, 0.5).stop == stop


def test_cancel_may_come_from_the_model_and_from_another_thread():
    for cancel in (lambda: e.cancel(), lambda: on_a_thread(e.cancel)):
        with estimator(lambda x, cancel=cancel: (cancel(), model(x))[1]) as e:
            c = e.certify(Z, 0.25, SAMPLES, 0.5)
            assert c.stop == Stop.CANCELLED and c.samples < SAMPLES


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
    with estimator(broken, flags=certreg.PLAN_COUNT_FAILURES, check=False) as e:
        assert e.certify(Z, 0.25, SAMPLES, 0.5).certified
    with estimator(lo=-1, hi=1) as e, refused(Status.OUT_OF_RANGE) as caught:
        e.certify(Z, 0.25, SAMPLES, 0.5)
    assert caught.value.value > 1


def test_certificates_of_a_refusal_claim_nothing():
    with estimator() as e, refused(Status.INVALID, "tolerance") as caught:
        e.certify(Z, 0.25, SAMPLES, Question(-1), Question(0.5))
    first = caught.value.certificates[0]
    assert (first.status, first.outcome) == (Status.INVALID, Outcome.ABSTAINED)


# ---- attacks, moved certificates and vectors: what Python adds to their calls
def test_attacks_read_as_a_sentence_and_have_the_shape_of_the_input():
    flat = lambda x: x.reshape(len(x), 3) @ np.float32([1, -0.5, 0.5])  # noqa: E731
    with estimator(flat, (1, 3)) as e:
        c = e.certify([Z], 0.25, SAMPLES, 0.5)
        assert e.gradient(0.5, "lower").shape == (1, 3)
        forecast, found = e.attack(0.5), e.attack(0.5, 1500)
        assert str(forecast) == f"certified {c.radius:g}, forecast {forecast.forecast:g}"
        assert str(found) == f"certified {c.radius:g}, broken at {found.radius:g}"
        assert (found.broken, found.shift.shape, found.certified_radius) == (True, (1, 3), c.radius)


def test_a_refused_attack_is_no_evaluation_of_the_record_and_spoils_no_other():
    with estimator() as e:
        e.begin(Z, 0.25)
        e.sample(0, 900)
        for calls, sentence in ((3, "at least"), (10**18, "memory")):
            with pytest.raises(CertregError, match=sentence):
                e.attack(0.5, calls)
        assert e.certify(1000, 0.5).radius > 0
        for calls in (1500, 1600):
            assert e.attack(0.5, calls).calls > 0


def test_a_progress_function_stops_an_attack():
    with estimator(progress=lambda done, total: total == 500 and done > 100) as e:
        e.certify(Z, 0.25, SAMPLES, 0.5)
        found = e.attack(0.5, 500)
        assert (found.stop, found.broken) == (Stop.CANCELLED, False)
        assert "not broken" in str(found)


@parametrize("scale", 0.7, [[0.7, 0.3, 0.1]], np.full(3, 0.7, np.float32))
def test_certificates_move_with_scales_and_shapes_as_those_of_the_estimator(scale):
    z = np.float32([Z])
    to = z + [[1 / 16, 0, 0]]
    with estimator(lambda x: x[:, 0, 0], (1, 3), scale=scale) as e:
        c = e.certify(z, 0.25, SAMPLES, 0.5)
    assert c.moved(z, z, scale).radius == c.radius > c.moved(z, to, scale).radius > 0
    if np.ndim(scale):
        flat = c.moved(z.ravel(), to.ravel(), np.ravel(scale))
        assert same(flat, c.moved(z, to, scale))
    with pytest.raises(CertregError, match="about another input"):
        c.moved(z + 1, z, scale)


def test_certificates_of_rows_move():
    rows = rows_of(x=X[:2], scale=[1, 2, 0])
    assert rows.certificate(1).moved(X[1], X[1], rows.sampling.scale).radius == rows.radius[1]


def test_estimates_are_floats_or_vectors():
    q = Question(1.5, output=1, output_count=2)
    assert q.is_vector and q.outputs_of(3) == 2
    with estimator(lambda x: x, outputs=3) as e:
        e.certify(Z, 0.25, SAMPLES, 0.5)
        assert isinstance(e.estimate(0.5), float)
        assert e.prediction(q).shape == e.estimate(q).shape == (2,)
        for ask in (e.estimate, e.prediction):  # without memory for them
            with pytest.raises(CertregError, match="output_count"):
                ask(Question(1, output_count=10**13))


@parametrize("text", "10%", "7%", "0.5%", "12.34564%", "200%")
def test_a_percentage_is_shown_with_all_its_digits(text):
    assert tolerance_text(Question(text)) == text

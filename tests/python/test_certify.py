"""Certificates of one input: questions, noise ids and seeds, records, stops, and JSON."""

import contextlib
import dataclasses
import gc
import json
import math
import weakref

import numpy as np
import pytest

from kit import ORIGIN, SAMPLES, X, Z, bits, certreg, estimator, model, never, on_a_thread
from kit import package, Plan, as_it_is, parametrize, refused, rows_of, same
from certreg import CertregError, Constraints, Method, Outcome, Question, Statistic, Status, Stop
from certreg import to_json
from certreg.constants import LEVELS_OF_A_DOMAIN
from certreg.questions import tolerance_text
from certreg.cli.files import read_scale


def test_the_noise_is_never_less_than_its_scale():
    """Or a radius in units of the scale would be too long, and a tiny scale would be none."""
    for scale in (0.7, 0.1, 1 / 3):
        for given in (scale, [scale] * 3, read_scale(str(scale), (3,), None)):
            with estimator(scale=given) as e:
                c = e.certify(Z, 0.25, SAMPLES, 0.5)
            assert scale * c.radius <= c.radius_l2 < scale * c.radius * (1 + 2**-22)
    with estimator(scale=[1, 1, 1e-46]) as e, pytest.raises(CertregError, match="feature 2 of z"):
        e.certify(Z, 0.25, SAMPLES, 0.5)


def test_records_are_exported_imported_and_resumed():
    with estimator(check=False) as e, estimator(never, check=False) as other:
        whole = e.certify(Z, 0.25, SAMPLES, 0.5)
        data = e.export()
        assert isinstance(data, bytes)
        for same_bytes in (data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)):
            other.begin(Z, 0.25, 0)
            other.import_(same_bytes)
            other.sample(0, SAMPLES)
            assert same(whole, other.certify(0, 0.5)) and other.export() == data
        for sigma, wrong, told in ((0.5, data, refused(Status.MISMATCH, "sigma")),
                                   (0.25, data[:-1], refused(Status.CORRUPT))):
            e.begin(Z, sigma, 0)
            with told:
                e.import_(wrong)


def test_seeds_are_secret_and_reported(monkeypatch):
    monkeypatch.setattr(Plan, "__init__", as_it_is)
    seeds, estimates = set(), set()
    for _ in range(3):
        with estimator(seed=None) as e:
            c, run = e.certify(Z, 0.25, SAMPLES, 0.5), e.info()
            assert str(run.seed) not in repr(run)
            with estimator(seed=run.seed) as again:
                assert same(c, again.certify(Z, 0.25, SAMPLES, 0.5))
        rows = rows_of(seed=None)
        assert str(rows.seed) not in repr(rows) + str(rows)
        assert bits(rows_of(seed=rows.seed)) == bits(rows)
        seeds |= {run.seed, rows.seed}
        estimates.add(c.estimate)
    assert (len(seeds), len(estimates)) == (6, 3)
    assert max(seeds) > 2**32  # 64 bits: less once in 10^29 runs


def test_every_input_has_noise_of_its_own_by_default():
    with estimator(threads=2) as e:
        found = [e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=i) for i in (None, None, 5, 3, None, 0)]
        assert [c.noise_id for c in found] == [0, 1, 5, 3, 6, 0]
        assert found[0].estimate != found[1].estimate and same(found[0], found[5])
        e.begin(Z, 0.25)
        assert e.info().noise_id == 7
        levels = e.certify_sigmas(Z, [0.25, 0.5], SAMPLES, 0.5)
        assert [c.noise_id for c in levels] == [8, 8]
        e.begin(Z, 0.25, 2**64 - 1)
        with pytest.raises(ValueError, match="noise_id"):
            e.begin(Z, 0.25)


TARGET = certreg.Target(0.1, looks=(400, 2000))
FULL = Question(0.5, prediction=0.9, target=TARGET, serving=certreg.Serving(101, 0.01))


def test_a_line_of_json_holds_question_run_and_certificate():
    with estimator() as e:
        c, run = e.certify(Z, 0.25, SAMPLES, FULL), e.info()
    line = to_json(FULL, run, c)
    assert "\n" not in line
    said = json.loads(line)
    assert list(said) == ["question", "run", "certificate", "version"]
    assert said["version"] == certreg.version()
    for name, whole in (("run", run), ("certificate", c)):
        fields = dataclasses.asdict(whole)
        fields.pop("seed", None)
        fields.update({k: list(v) for k, v in fields.items() if isinstance(v, tuple)})
        plain = {k: int(v) if isinstance(v, str) else v for k, v in said[name].items()}
        assert plain == fields
    asked = said["question"]
    assert (asked["tolerance"], asked["prediction"]) == (0.5, 0.9)
    assert asked["target"] == {"radius": 0.1, "looks": ["400", "2000"], "growth": 0}
    assert asked["serving"] == {"samples": "101", "failure_rate": 0.01, "trim": 0, "core": 0}
    assert "seed" not in said["run"]
    said = json.loads(to_json(run=run, flags=certreg.JSON_SEED))
    assert (set(said), said["run"]["seed"]) == ({"run", "version"}, "42")
    served = certreg.Serving(101, 0.01, pairs=True)
    q = Question(1 / 3, prediction=[0.1, 2, 1e300], target=0.1, serving=served, bonferroni=2**60)
    said = json.loads(to_json(q))["question"]
    assert said["tolerance"] == 1 / 3 and said["prediction"] == [0.1, 2, 1e300]
    assert said["target"] == {"radius": 0.1, "looks": None, "growth": 1.5}
    assert said["serving"]["pairs"] == 1 and said["bonferroni"] == str(2**60)
    assert '"alpha":0.05,"statistic":0,' in to_json(q) and '"huber_width":0,' in to_json(q)
    with estimator() as e:
        c = e.certify(Z, 0.25, SAMPLES, 0.001)  # a question abstains without an exception
    found = (c.outcome, c.radius, c.certified, c.output_hi)
    assert found == (Outcome.ABSTAINED, 0, False, math.inf)
    said = json.loads(to_json(0.001, certificate=c))
    assert said["certificate"]["output_hi"] is None and said["question"]["prediction"] is None


# ---- float32
def arrival(x):
    return 1.7e9 + 30 * np.asarray(x[:, 0], np.float64)


def test_outputs_that_float32_changes_are_refused(tmp_path):
    """Also those that others recorded; only the question is at fault, so others are answered."""
    X = np.array([[0.0], [1.0]], np.float32)
    with pytest.warns(UserWarning, match="all rows failed"):
        rows = rows_of(arrival, X, 1, 10, samples=300)
    assert rows.radius.tolist() == [0, 0] and "less than 50 steps:" in rows.errors[0, 0]
    for exact in (False, True):
        model = (lambda x: arrival(x).astype(object)) if exact else arrival
        with certreg.Estimator(model, 1, 300, seed=1) as e:
            with pytest.raises(CertregError, match="has steps of 128 .* less than 50") as refused:
                e.certify(X[0], 1, 300, 10, 1e5)
            assert (refused.value.status, refused.value.sample) == (Status.OUT_OF_RANGE, -1)
            assert [c.radius > 0 for c in refused.value.certificates] == [False, True]
            bounds = e.output_bounds(300, 0.5, 1.0)
            assert bounds.output_lo < 1.7e9 - 15 < 1.7e9 + 15 < bounds.output_hi
    moved = rows_of(lambda x: arrival(x) - 1.7e9, X, 1, 10, samples=300)
    assert (moved.radius > 0).all() and (moved.radius < 1 / 3).all()
    keep = dict(samples=300, seed=1, resume=tmp_path / "r", keep_records=True)
    for f, tolerance, good in ((arrival, 10, False), (None, 1e5, True), (None, 20, False)):
        with contextlib.nullcontext() if good else pytest.warns(UserWarning, match="all rows fail"):
            assert (rows_of(f, X[:1], 1, tolerance, **keep).radius > 0) == good
    with certreg.Estimator(None, 1, 300, seed=1) as e:
        e.begin(X[0], 1.0)
        e.record(0, arrival(e.draw(0, 300)))
        with pytest.raises(CertregError, match="less than 50 steps"):
            e.certify(0, 10)


def test_every_sigma_of_a_vector_has_its_own_steps():
    def model(x):  # at the larger sigma nearly all outputs are small
        large = np.where(np.abs(x[:, 0]) < 1, 1e6, 0) + np.pi * 1e-3
        return np.c_[large, large]

    asked = certreg.Question(1.0, output=certreg.ALL_OUTPUTS)
    with certreg.Estimator(model, 3, 3000, outputs=2, seed=1) as e:
        for sigmas in ([0.1], [0.1, 20.0]):
            with pytest.raises(CertregError, match="less than 50 steps") as refused:
                e.certify_sigmas([0, 0, 0], sigmas, 3000, asked)
            assert all(c.radius > 0 for c in refused.value.certificates[1:])


def test_angles_of_many_turns_are_moved_before_they_are_rounded():
    turns = 360 * 10_000_000
    of = dict(kind="angle", lo=-180, hi=180, seed=1)
    found = []
    for more in (0, turns, -turns):
        model = lambda x: 100.0 * x[:, 0].astype(np.float64) + more  # noqa: E731, B023
        with certreg.Estimator(model, 1, 300, **of) as e:
            found.append(e.certify([1.7], 0.01, 300, 5.0))
        with certreg.Estimator(None, 1, 300, **of) as e:
            e.begin([1.7], 0.01)
            e.record(0, model(e.draw(0, 300)))
            found.append(e.certify(0, 5.0))
    for one in found:
        assert abs(one.radius - found[0].radius) < 1e-6 and one.radius > 0
        assert abs(one.prediction - found[0].prediction) < 1e-4


def test_integers_that_float32_changes_are_refused():
    X = np.array([[2**24 + 1, 3]])
    mixed = np.array([[np.int64(2**24 + 1), 3]], object)
    floats = X.astype(float)  # as DataFrame.to_numpy gives them
    for given in (X, floats, X.astype(object), mixed, X + np.array([[2**60 - 2**24, 0]])):
        with pytest.raises(ValueError, match="[17] in a feature without noise, .* it .*6:"):
            rows_of(lambda x: x[:, 1], given, scale=[0, 1])
    with certreg.Estimator(lambda x: x[:, 1], 2, 100, scale=[0, 1]) as e:
        with pytest.raises(ValueError, match="16777217 in a feature without noise"):
            e.begin(X[0], 0.25)
        e.begin(X[0] - 1, 0.25)
    with pytest.raises(TypeError, match="X must hold numbers, not texts"):
        rows_of(lambda x: x[:, 0], np.array([[0.5, "02139"]], object))


# ---- what Python adds to the calls of an estimator
def test_names_stand_for_members():
    asked = Question(0.5, statistic="Huber", huber_width=0.25, method="anytime",
                     center="prediction")
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
    for text in ("10%", "7%", "0.5%", "12.34564%", "200%"):
        assert tolerance_text(Question(text)) == text
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
        assert bits(rows_of(questions=asked, resume=file)) == bits(rows)
        with pytest.raises(certreg.ResumeError, match="with other questions"):
            rows_of(questions=[Question(each[::-1], alpha=0.1), 0.5], resume=file)
    for count in (30, 40):
        rows_of(x=X[:count], questions=Question(each[:count]), resume="more")
    each[37] = 9
    with pytest.raises(certreg.ResumeError, match="made with other questions about row 37"):
        rows_of(questions=Question(each), resume="more")


@parametrize(
    "sentence, wrong",
    (r"question 0 has 39 tolerances, and X has 40 rows: give", lambda: Question([1] * 39)),
    (r"tolerance\[2\] is -1; it must be positive", lambda: Question([1, 1, -1])),
    (r"tolerance has shape \(40, 1\); it must be a number, or", lambda: Question(X[:, :1])),
    ("give tolerance.to_numpy", lambda: Question(package("pandas").Series([0.5] * 40))),
    ("give Question.tolerances. for a tolerance of each row", lambda: X[:, 0]),
    ("give Question.tolerances. for a tolerance of each row", lambda: [0.5, X[:, 0]]),
)
def test_tolerances_that_are_not_one_for_each_row(sentence, wrong):
    with pytest.raises((TypeError, ValueError), match=sentence):
        rows_of(lambda x: 1 / 0, questions=wrong())
    with estimator() as e, pytest.raises(TypeError, match="and the question has 40, for the rows"):
        e.certify(Z, 0.25, SAMPLES, Question([0.5] * 40))
    with pytest.raises(ValueError, match="a tolerance for each row: give one"):
        certreg.tune_scale(model, X, [0.25], Question([0.5] * 40))


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
    whole = dict(inputs=3.0, max_samples=2e3, batch=np.float64(100), pilot=250.0)  # as floats
    with estimator(**whole) as e:
        c = e.certify(Z, 0.25, 2e3, Question(0.5, bonferroni=2.0), noise_id=np.int8(3))
        assert (c.samples, c.alpha, c.noise_id) == (2000, 0.025, 3)


def test_cancel_and_deadline_stop_early():
    with estimator() as e:
        e.cancel()
        assert e.certify(Z, 0.25, SAMPLES, 0.5).stop == Stop.CANCELLED
        e.begin(Z, 0.25)
        e.cancel()
        with refused(Status.CANCELLED):
            e.sample(0, SAMPLES)
        for seconds, stop in ((0, Stop.DEADLINE), (1e-9, Stop.DEADLINE), (None, Stop.ALL)):
            e.begin(Z, 0.25)
            e.set_deadline(seconds)
            assert e.certify(SAMPLES, 0.5).stop == stop
    gone = weakref.ref(estimator())  # it goes with its last reference
    gc.disable()
    assert gone() is None
    gc.enable()


def test_cancel_may_come_from_the_model_and_from_another_thread():
    for cancel in (lambda: e.cancel(), lambda: on_a_thread(e.cancel)):
        with estimator(lambda x, cancel=cancel: (cancel(), model(x))[1]) as e:
            c = e.certify(Z, 0.25, SAMPLES, 0.5)
            assert c.stop == Stop.CANCELLED and c.samples < SAMPLES


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

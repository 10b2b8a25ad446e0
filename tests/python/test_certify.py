"""Certificates of one input: typical questions, noise ids and seeds, records and JSON."""

import dataclasses
import json
import math

import numpy as np
import pytest

from kit import SAMPLES, Z, certreg, counting, estimator, never, same
from kit import Plan, as_it_is, bits, refused, rows_of
from certreg import CertregError, Outcome, Question, Status, to_json
from certreg.cli.files import read_scale

MEAN = dict(statistic="mean", method="asymptotic")
HUBER = dict(statistic="huber", huber_width=0.25, method="asymptotic")
PAPER = dict(statistic="mean", method="paper", center="true_mean", constraints="CG")


def test_several_questions_are_answered_from_one_record():
    f, calls = counting()
    with estimator(f, constraints="ECGM", check=False) as e:
        asked = [Question(0.5, **more) for more in ({}, MEAN, HUBER, PAPER)] + [Question(0.1)]
        several = e.certify(Z, 0.25, SAMPLES, *asked)
        assert [c.statistic.name for c in several] == ["MEDIAN", "MEAN", "HUBER", "MEAN", "MEDIAN"]
        assert several[4].radius < several[0].radius
        assert same(several[0], e.certify(0, 0.5))  # a number is a tolerance
        assert same(several, e.certify(0, *asked))
        assert sum(calls) == SAMPLES


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
        other.begin(Z, 0.25)
        other.import_(data)
        other.sample(0, SAMPLES)
        assert same(whole, other.certify(0, 0.5))
        assert other.export() == data


def test_foreign_and_damaged_records_are_refused():
    with estimator() as e:
        e.begin(Z, 0.25)
        e.sample(0, 512)
        data = e.export()
        e.begin(Z, 0.5, 0)
        with refused(Status.MISMATCH, "sigma"):
            e.import_(data)
        e.begin(Z, 0.25, 0)
        with refused(Status.CORRUPT):
            e.import_(data[:-1])
        for same_bytes in (data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)):
            e.import_(same_bytes)


def test_seeds_are_secret_and_reported(monkeypatch):
    monkeypatch.setattr(Plan, "__init__", as_it_is)
    seeds, estimates = set(), set()
    for _ in range(3):
        with estimator(seed=None) as e:
            c, run = e.certify(Z, 0.25, SAMPLES, 0.5), e.info()
            assert str(run.seed) not in repr(run)
            with estimator(seed=run.seed) as again:
                assert same(c, again.certify(Z, 0.25, SAMPLES, 0.5))
        seeds.add(run.seed)
        estimates.add(c.estimate)
    assert (len(seeds), len(estimates)) == (3, 3)
    assert max(seeds) > 2**32  # 64 bits: less once in 10^29 runs


def test_seeds_of_rows_are_secret_and_reported():
    one, two = rows_of(seed=None), rows_of(seed=None)
    assert one.seed != two.seed
    assert str(one.seed) not in repr(one) + str(one)
    assert bits(rows_of(seed=one.seed)) == bits(one)


def test_every_input_has_noise_of_its_own_by_default():
    with estimator(threads=2) as e:
        first, second = (e.certify(Z, 0.25, SAMPLES, 0.5) for _ in range(2))
        assert (first.noise_id, second.noise_id) == (0, 1)
        assert first.estimate != second.estimate
        e.begin(Z, 0.25)
        assert e.info().noise_id == 2
        levels = e.certify_sigmas(Z, [0.25, 0.5], SAMPLES, 0.5)
        assert [c.noise_id for c in levels] == [3, 3]


def test_a_given_noise_id_is_used_as_it_is_and_not_again_by_default():
    with estimator() as e:
        ids = [e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=i) for i in (None, 5, 3, None, 0, None)]
        assert [c.noise_id for c in ids] == [0, 5, 3, 6, 0, 7]
        assert same(ids[0], ids[4])
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
        plain = {k: int(v) if isinstance(v, str) else v for k, v in said[name].items()}
        assert plain == fields
    asked = said["question"]
    assert (asked["tolerance"], asked["prediction"]) == (0.5, 0.9)
    assert asked["target"] == {"radius": 0.1, "looks": ["400", "2000"], "growth": 0}
    assert asked["serving"] == {"samples": "101", "failure_rate": 0.01, "trim": 0, "core": 0}


def test_lists_pairs_and_doubles_are_written_as_they_are():
    served = certreg.Serving(101, 0.01, pairs=True)
    q = Question(1 / 3, prediction=[0.1, 2, 1e300], target=0.1, serving=served, bonferroni=2**60)
    said = json.loads(to_json(q))["question"]
    assert said["tolerance"] == 1 / 3 and said["prediction"] == [0.1, 2, 1e300]
    assert said["target"] == {"radius": 0.1, "looks": None, "growth": 1.5}
    assert said["serving"]["pairs"] == 1 and said["bonferroni"] == str(2**60)
    assert '"alpha":0.05,"statistic":0,' in to_json(q) and '"huber_width":0,' in to_json(q)


def test_the_seed_is_in_the_line_only_if_asked_for():
    with estimator() as e:
        e.begin(Z, 0.25)
        run = e.info()
    assert "seed" not in json.loads(to_json(run=run))["run"]
    said = json.loads(to_json(run=run, flags=certreg.JSON_SEED))
    assert (set(said), said["run"]["seed"]) == ({"run", "version"}, "42")


def test_what_is_not_known_is_null():
    with estimator() as e:
        c = e.certify(Z, 0.25, SAMPLES, 0.001)  # a question abstains without an exception
    assert (c.outcome, c.radius, c.certified) == (Outcome.ABSTAINED, 0, False)
    assert c.output_hi == math.inf
    said = json.loads(to_json(0.001, certificate=c))
    assert said["certificate"]["output_hi"] is None
    assert said["question"]["prediction"] is None


# ---- float32
def arrival(x):
    return 1.7e9 + 30 * np.asarray(x[:, 0], np.float64)


def test_outputs_that_float32_changes_are_refused():
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


def test_outputs_that_others_recorded_are_refused_too(tmp_path):
    """Only the question is at fault, so that others are answered."""
    X, kept = np.array([[0.0]]), tmp_path / "kept.sqlite"
    keep = dict(samples=300, seed=1, resume=kept, options=certreg.Options(keep_records=True))
    with pytest.warns(UserWarning, match="all rows failed"):
        assert rows_of(arrival, X, 1, 10, **keep).radius == 0
    assert rows_of(None, X, 1, 1e5, **keep).radius > 0
    with pytest.warns(UserWarning, match="all rows failed"):
        assert rows_of(None, X, 1, 20, **keep).radius == 0
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


def test_each_output_has_its_own_steps():
    model = lambda x: np.c_[arrival(x), x[:, 0]]  # noqa: E731
    with certreg.Estimator(model, 1, 300, outputs=2, seed=1) as e:
        e.begin([0.0], 0.1)
        assert e.certify(300, certreg.Question(0.2, output=1)).radius > 0
        for output in (0, certreg.ALL_OUTPUTS):
            with pytest.raises(CertregError, match="steps of 128"):
                e.certify(300, certreg.Question(30, output=output))
    mean = certreg.Question(0.2, output=-1, statistic="mean", center="true_mean")
    model = lambda x: np.sin(x[:, :2].astype(float)) + 1e6  # noqa: E731
    with certreg.Estimator(model, 2, 900, outputs=2, lo=1e6 - 1, hi=1e6 + 1, seed=1) as e:
        with pytest.raises(CertregError, match="0.0884"):  # about two estimates
            e.certify([0.0, 0.0], 0.5, 900, mean)
    with certreg.Estimator(lambda x: np.where(x[:, 0] > 0.7, 1e30, x[:, 0]), 1, 300, seed=1) as e:
        assert e.certify([0.0], 0.25, 300, 0.3).radius > 0  # other outputs do not matter


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


def test_texts_in_arrays_are_refused():
    with pytest.raises(TypeError, match="X must hold numbers, not texts"):
        rows_of(lambda x: x[:, 0], np.array([[0.5, "02139"]], object))

"""certify_rows gives the same certificates as one Estimator, by any number of processes."""

import concurrent.futures
import functools
import math
import pickle
import threading
import tracemalloc

import numpy as np
import pytest

from kit import X, bits, certreg, model, near, no_warnings, package, parametrize, raising, rows_of
from kit import same, undefined
from certreg import ALL_OUTPUTS, Constraint, Question, ResumeError, RowsError
from certreg import Status, arguments, workers

HUBER = Question(0.5, statistic="huber", huber_width=0.2)
TWO = dict(sigma=[0.25, 0.5], questions=[0.5, HUBER])
EACH = [{}, dict(jobs=2)]  # in this process and in others


def one(samples=300):
    """An estimator with the noise of the rows."""
    return certreg.Estimator(model, 3, samples, seed=42, batch=samples)


class Made:
    """A model that cannot be pickled, and how often it was made in this process."""

    count = 0

    def __init__(self):
        type(self).count += 1
        self.lock = threading.Lock()

    def __call__(self, x):
        return model(x)


def makes_a_model():
    return Made()


def makes_nothing():
    return 1 / 0


def fails_at_row_7(x):
    if np.allclose(x.mean(axis=0), X[7], atol=0.2):
        raise OSError("the disk is gone")
    return model(x)


@functools.lru_cache(None)
def two():
    """Rows for two sigmas and questions, computed once."""
    return rows_of(**TWO)


def test_they_are_those_of_an_estimator():
    asked = [Question(0.5), HUBER, Question(0.1)]
    rows = rows_of(questions=asked)
    with one() as e:
        for i in (0, 7, 39):
            wanted = e.certify(X[i], 0.25, 300, *asked, noise_id=i)
            assert same([rows.certificate(i, question=q) for q in range(3)], wanted)
    assert rows.done.all()
    assert (len(rows), rows["radius"].shape, rows.errors) == (40, (40, 1, 3), {})


def test_parts_have_the_noise_that_they_have_together():
    whole, parts = rows_of(), [rows_of(x=X[:25]), rows_of(x=X[25:], noise_id=25)]
    assert b"".join(map(bits, parts)) == bits(whole)


def test_processes_threads_and_executors_give_the_same_bits():
    assert bits(rows_of(**TWO, jobs=3)) == bits(two())
    for kind in (concurrent.futures.ThreadPoolExecutor, concurrent.futures.ProcessPoolExecutor):
        with kind(2) as executor:
            assert bits(rows_of(**TWO, jobs=executor)) == bits(two())


def test_several_sigmas_hold_together():
    rows = two()
    with one() as e:
        wanted = e.certify_sigmas(X[3], [0.25, 0.5], 300, 0.5, HUBER, noise_id=3)
    assert same([[rows.certificate(3, q, k) for q in range(2)] for k in range(2)], wanted)
    assert rows.certificate(3).alpha == 0.025


def test_output_bounds_at_a_radius():
    rows = rows_of(questions=[0.5, HUBER], radius=0.1)
    with one() as e:
        e.begin(X[3], 0.25, 3)
        wanted = e.output_bounds(300, 0.1, 0.5, HUBER)
    got = [rows.certificate(3, q) for q in range(2)]
    assert [c.output_hi for c in got] == [c.output_hi for c in wanted]
    assert got[0].radius == 0.1
    assert got[0].output_lo < got[0].estimate < got[0].output_hi < math.inf
    said = rows.summary()[0]
    assert (said["bounded"], said["failed"], said["radius"]) == (40, 0, 0.1)
    assert said["median_width"] == np.median((rows["output_hi"] - rows["output_lo"])[:, 0, 0])
    said = rows_of(radius=2.4).summary()[0]
    assert (said["bounded"], said["median_width"]) == (0, math.inf)


def test_models_of_images_get_images():
    shapes, images = set(), np.random.default_rng(1).random((4, 2, 3, 5))

    def first_pixel(x):
        shapes.add(x.shape[1:])
        return x[:, 0, 0, 0]

    rows = rows_of(first_pixel, images, scale=np.ones((2, 3, 5)))
    assert shapes == {(2, 3, 5)}
    np.testing.assert_allclose(rows["estimate"][:, 0, 0], images[:, 0, 0, 0], atol=0.1)


def test_factories_are_called_once_where_they_are_used():
    Made.count = 0
    wanted = bits(rows_of())
    for how in EACH:  # the others are made in other processes
        assert bits(rows_of(makes_a_model, **how)) == wanted
        assert Made.count == 1


def test_the_gradient_comes_with_the_questions_that_need_it():
    mean, wide = dict(statistic="mean", method="paper", center="true_mean"), dict(x=X[:6])
    for question, more in (
        (Question(0.5, constraints="ECGM"), {}),
        (Question(0.5, **mean), dict(lo=-99, hi=99)),
    ):
        more = dict(more, samples=1500, questions=[0.5, question], **wide)
        rows = rows_of(**more)
        assert bits(rows) == bits(rows_of(constraints="ECGM", **more))
        assert (rows["constraints"][:, 0, 1] & Constraint.GRADIENT).any()
    for question in (0.5, Question(0.5, constraints="ECM")):
        assert rows_of(questions=question, **wide).sampling.constraints == 0


def test_vectors_need_a_prediction():
    ask = dict(statistic="ball_center", method="baseline", output=ALL_OUTPUTS)
    given = [0.5, Question(9, prediction=(0, 0), **ask)]
    rows = rows_of(lambda x: x[:, :2], questions=given, outputs=2)
    assert (rows["radius"][:, 0, 1] > 0).all()
    labels = np.zeros(40)
    choose = lambda labels: rows.choose_sigma(1, labels=labels)  # noqa: E731
    for call in (rows.label_errors, rows.useful_radii, choose):
        with pytest.raises(ValueError, match="question 1 has no single prediction, so labels"):
            call(labels)
    assert rows.choose_sigma(0, labels=labels)[0] == 0


def test_inputs_are_copied():
    x = X.copy()
    assert bits(rows_of(x=x, progress=lambda done, rows: x.fill(7))) == bits(rows_of())
    scale = np.array([0.0, 1.0, 2.0])
    rows = rows_of(scale=scale)
    scale.fill(7)
    assert rows.scale.tolist() == [0, 1, 2]


# ---- rows of a frame in which some columns get no noise
def priced(frame):
    return 10 * frame["area"] + (frame["kind"] == "castle") * 3.0 + len(frame.columns)


def houses():
    kinds = np.array(["flat", "house", "castle"])[np.arange(40) % 3]
    columns = dict(area=X[:, 0].astype(float), kind=kinds, rooms=range(40))
    return package("pandas").DataFrame(columns)


def test_models_get_frames_in_every_process():
    frame = houses().astype({"kind": "category"})
    wanted, other = (rows_of(priced, frame, questions=5, scale={"area": 2}, **how) for how in EACH)
    assert bits(wanted) == bits(other)
    assert (wanted["radius"] > 0).all()
    np.testing.assert_allclose(wanted["estimate"][:, 0, 0], priced(frame), atol=1)


def test_other_values_that_stay_are_other_inputs(folder):
    frame, more = houses(), dict(questions=5, resume=folder / "rows.sqlite")
    rows_of(priced, frame, **more)
    for other in (frame.replace("castle", "palace"), frame.rename(columns=dict(rooms="floors"))):
        with pytest.raises(ResumeError, match=r"arguments \(X\)"):
            rows_of(priced, other, **more)


# ---- failures
def test_rows_with_bad_outputs_fail_alone():
    at_row_5 = lambda x: np.where(np.abs(x[:, 0] - X[5, 0]) < 1e-5, np.nan, model(x))  # noqa: E731
    rows = rows_of(at_row_5, sigma=[0.25, 0.5])
    failed = np.flatnonzero((rows["status"] != 0).any(axis=(1, 2)))
    assert 5 in failed and len(failed) < 20
    assert (rows.certificate(5).status, rows.certificate(5).radius) == (Status.NOT_FINITE, 0)
    for name in ("prediction", "estimate", "tolerance", "alpha"):  # no table averages them
        np.testing.assert_array_equal(np.isnan(rows[name]), rows["status"] != 0)
    assert "nan" in rows.errors[5, 0]
    assert set(failed) == {row for row, _ in rows.errors}
    assert rows.summary()[0]["failed"] == sum(k == 0 for _, k in rows.errors)
    assert rows.done.all()


@parametrize("how", *EACH)
def test_a_model_that_raises_ends_the_work_and_loses_nothing(how):
    with pytest.raises(RowsError, match="row 7: the model raised OSError: the disk") as caught:
        rows_of(fails_at_row_7, **how)
    error, whole = caught.value, rows_of()
    kept = error.rows.done
    assert (error.row, type(error.__cause__)) == (7, OSError)
    assert kept[:7].all() or how
    assert str(error).endswith(f"; {kept.sum()} of 40 rows are done")
    assert not kept[7]
    assert bits(error.rows[kept]) == bits(whole[kept])
    assert (error.rows["radius"][~kept] == 0).all()
    assert np.isinf(error.rows["output_hi"][~kept]).all()


def test_an_interrupt_keeps_what_is_done():
    with pytest.raises(KeyboardInterrupt) as caught:
        rows_of(raising(10, KeyboardInterrupt), check=False)
    assert int(caught.value.rows.done.sum()) == 9


def test_a_table_needs_the_memory_of_its_certificates(monkeypatch):
    def answer(worker, rows, x, records=()):
        out = workers.empty_certificates(len(rows), 1, 1)
        out["status"] = Status.OK
        return workers.Chunk(rows, out, [], [], None, len(rows) / 500)

    monkeypatch.setattr(workers.Worker, "answer", answer)
    x = np.random.default_rng(0).normal(size=(100_000, 3)).astype(np.float32)
    run = functools.partial(rows_of, lambda x: x[:, 0], samples=20, batch=2000)
    str(run(x[:2000]))  # what the first call needs alone
    tracemalloc.start()
    try:
        rows = run(x)
        str(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    least = len(rows) * (224 + x[0].nbytes)
    assert least < peak < least + 60 * len(rows) + 4e6  # of a queue


def test_models_that_cannot_travel_are_named():
    lock = threading.Lock()
    with pytest.raises(TypeError, match="give a factory"):
        rows_of(lambda x: model(x) if lock else None, jobs=2)


@parametrize("how", *EACH)
def test_a_factory_that_fails_says_why(how):
    with pytest.raises(RowsError, match="factory of the model raised ZeroDivisionError"):
        rows_of(makes_nothing, **how)


# ---- what is told
def test_it_is_told_in_dicts_and_in_a_summary():
    rows = rows_of(sigma=[0.25, 2.0], questions=[0.5, HUBER])
    list_ = rows.to_dicts()
    assert len(list_) == 160
    first = list_[0]
    assert (first["row"], first["sigma"], first["question"]) == (0, 0.25, 0)
    assert (first["statistic"], first["outcome"]) == ("median", "certified")
    assert first["radius"] == rows.certificate(0).radius
    assert {s["sigma"] for s in rows.summary()} == {0.25, 2.0}
    for said, radii in zip(rows.summary(), rows["radius"].reshape(40, 4).T):
        assert said["mean_radius"] == near(radii.mean())
        assert said["certified"] + said["abstained"] == 40
    assert len(str(rows).splitlines()) == 5 + 3  # nothing is certified at sigma 2


def test_it_is_plotted():
    package("matplotlib")
    rows = rows_of(sigma=[0.25, 0.5])
    line = rows.plot().get_lines()[1]
    assert line.get_label() == "sigma 0.5"
    names = [line.get_label() for line in two().plot().get_lines()[:2]]
    assert names == ["sigma 0.25, median", "sigma 0.25, huber"]
    names = [line.get_label() for line in rows_of(questions=[0.5, 1, 1]).plot().get_lines()]
    assert names[0].endswith(", tolerance 0.5") and len(set(names)) == 3
    assert line.get_xdata().max() == near(rows["radius"][:, 1, 0].max())
    right = np.arange(40) % 2 == 0
    assert rows_of().plot(right).get_lines()[0].get_ydata().max() == near(0.5)
    each = np.stack([right, np.arange(40) % 4 == 0], 1)  # other predictions at another sigma
    for correct in (each, each[:, :, None]):
        tops = [line.get_ydata().max() for line in rows.plot(correct).get_lines()]
        assert tops == near([0.5, 0.25])
    for correct in (right, each.T, each[:, :, None, None]):
        with pytest.raises(ValueError, match=r"it must be \(40, 2, 1\), with True for"):
            rows.plot(correct)


def test_it_survives_pickle():
    again = pickle.loads(pickle.dumps(two()))
    assert (bits(again), again.seed) == (bits(two()), two().seed)


def test_progress_is_told():
    told = []
    rows_of(progress=lambda done, rows: told.append((done, rows)))
    assert told[-1] == (40, 40)
    assert sorted(told) == told


# ---- the choice of sigma, and labels
def test_rows_that_failed_at_one_sigma_are_left_out_at_all():
    far = lambda x: np.where(np.abs(x[:, 0]) > 3, np.nan, model(x))  # noqa: E731
    rows = rows_of(far, sigma=[0.25, 0.5], samples=100)
    failed = (rows["status"][:, :, 0] != 0).any(axis=1)
    assert 0 < failed.sum() < 40
    radii, labels = rows["radius"][~failed, :, 0], rows["prediction"][:, 0, 0]
    assert radii.mean(axis=0)[0] > rows["radius"].mean(axis=0)[0, 0]
    labels[failed] = 1e6
    for chosen in (rows.choose_sigma(), rows.choose_sigma(labels=labels, slack=9)):
        np.testing.assert_allclose(chosen.means, radii.mean(axis=0))
        assert (*chosen[:1], chosen.left_out) == (chosen.level, failed.sum())
    none = rows_of(undefined(0, -math.inf), x=X[:3], sigma=[0.25, 0.5])
    with pytest.raises(ValueError, match="each of the 3 rows failed at some sigma"):
        none.choose_sigma()


def test_with_labels_only_right_predictions_count():
    rows = rows_of(sigma=[0.25, 2.0], questions=[0.5, 2.0])
    labels = rows["prediction"][:, 0, 0] + 0.4
    labels[::2] += 1
    errors = rows.label_errors(labels)
    np.testing.assert_allclose(errors, np.abs(rows["prediction"] - labels[:, None, None]))
    useful = rows.useful_radii(labels)
    assert not useful[::2, 0, 0].any()
    np.testing.assert_array_equal(useful[1::2, 0, 0], rows["radius"][1::2, 0, 0])
    np.testing.assert_array_equal(useful[:, 0, 1], rows["radius"][:, 0, 1])
    with pytest.raises(ValueError, match=r"labels has shape \(3,\); it must be \(40,\)"):
        rows.useful_radii([1, 2, 3])


def test_sigma_is_chosen_by_error_first():
    x = np.zeros((5, 1), np.float32)
    rows = rows_of(lambda x: x[:, 0] ** 2, x, [0.05, 0.1, 0.8], 3.0)  # the median forgets
    labels = rows["prediction"][:, 0, 0]
    assert rows.choose_sigma()[0] == 2
    errors = rows.label_errors(labels).mean(axis=(0, 2))
    assert errors[0] < errors[1] < errors[0] + 0.3 < errors[2], errors
    for more, level in (({}, 1), (dict(slack=0), 0), (dict(slack=9), 2)):
        assert rows.choose_sigma(labels=labels, **more)[0] == level


@parametrize("lo, hi", (-180, 180), ([-180], [180]))
def test_errors_of_angles_go_round(lo, hi):
    more = dict(kind="angle", lo=lo, hi=hi, questions=5)
    rows = rows_of(lambda x: np.full(len(x), 179.0), X[:2], **more)
    assert rows.label_errors([-179, 170]).ravel().tolist() == [2, 9]
    assert (rows.useful_radii([-179, 170]) > 0).ravel().tolist() == [True, False]


def test_the_names_of_scikit_learn_are_other_names():
    given = dict(samples=300, n_jobs=None, random_state=41, verbose=False)
    assert bits(certreg.certify_rows(model, X, 0.25, 0.5, **given)) == bits(rows_of())
    same = dict(samples=300, seed=42, tolerance=0.5, progress=False)
    assert bits(certreg.certify_rows(model, X, 0.25, **same)) == bits(rows_of())
    names = arguments.own_names(dict(verbose=2, batch=3))
    assert names == dict(progress=True, batch=3)
    for processes in (dict(jobs=-1), dict(n_jobs=-1), dict(n_jobs=2)):
        assert bits(rows_of(**processes)) == bits(rows_of())


FEATURE = "sigma has 3 numbers, one for each feature, and .* give it as scale"


def test_sigmas_that_may_be_meant_per_feature_are_noticed():
    with pytest.warns(UserWarning, match=FEATURE) as caught:
        rows_of(sigma=[0.1, 0.2, 0.3], samples=50)
    assert caught[0].filename.endswith("kit.py")
    frame = package("pandas").DataFrame(X, columns=list("abc")).assign(kind="u")
    with pytest.warns(UserWarning, match=FEATURE):  # three columns with noise
        rows_of(lambda x: x["a"], frame, [0.1, 0.2, 0.3], samples=50)
    with no_warnings():
        rows_of(sigma=[0.1, 0.2, 0.3], samples=50, scale=1)
        rows_of(sigma=[0.1, 0.2], samples=50)


def test_noise_below_one_step_of_bytes_is_noticed():
    def first(x):
        return x[:, 0, 0]

    pixels = np.full((2, 3, 1), 128, np.uint8)
    with pytest.warns(UserWarning, match="less than one step: .* divide X by 255"):
        rows_of(first, pixels, 0.25, samples=50)
    with no_warnings():
        rows_of(first, pixels, 8, samples=50)
        rows_of(first, pixels / 255, 0.25, samples=50)

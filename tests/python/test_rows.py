"""certify_rows gives the same certificates as one Estimator, by any number of processes."""

import concurrent.futures
import functools
import math
import pickle
import threading
import tracemalloc

import numpy as np
import pytest

from kit import X, bits, certreg, grouped, model, near, no_warnings, package, parametrize, rows_of
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


def fails_at_row_7(x):
    if np.allclose(x.mean(axis=0), X[7], atol=0.2):
        raise OSError("the disk is gone")
    return model(x)


@functools.lru_cache(None)
def two():
    """Rows for two sigmas and questions, computed once."""
    return rows_of(**TWO)


def test_they_are_those_of_an_estimator():
    """Also as parts, and of inputs that are changed on the way."""
    asked, told, x = [Question(0.5), HUBER, Question(0.1)], [], X.copy()
    rows = rows_of(x=x, questions=asked, progress=lambda *now: told.append(now) or x.fill(7))
    assert told[-1] == (40, 40) and sorted(told) == told
    with one() as e:
        for i in (0, 7, 39):
            wanted = e.certify(X[i], 0.25, 300, *asked, noise_id=i)
            assert same([rows.certificate(i, question=q) for q in range(3)], wanted)
    assert rows.done.all()
    assert (len(rows), rows["radius"].shape, rows.errors) == (40, (40, 1, 3), {})
    parts = rows_of(x=X[:25], questions=asked), rows_of(x=X[25:], questions=asked, noise_id=25)
    assert b"".join(map(bits, parts)) == bits(rows) == bits(pickle.loads(pickle.dumps(rows)))


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


def test_factories_are_called_once_where_they_are_used():
    Made.count = 0
    wanted = bits(rows_of())
    for how in EACH:  # the others are made in other processes
        assert bits(rows_of(makes_a_model, **how)) == wanted
        assert Made.count == 1
    with pytest.raises(RowsError, match="factory of the model raised ZeroDivisionError"):
        rows_of(lambda: 1 / 0)


def test_the_gradient_comes_with_the_questions_that_need_it():
    mean, wide = dict(statistic="mean", method="paper", center="true_mean"), dict(x=X[:6])
    for question, more in ((Question(0.5, constraints="ECGM"), {}),
                           (Question(0.5, **mean), dict(lo=-99, hi=99))):
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
    least = len(rows) * (336 + x[0].nbytes)
    assert least < peak < least + 60 * len(rows) + 4e6  # of a queue


def test_models_that_cannot_travel_are_named():
    lock = threading.Lock()
    with pytest.raises(TypeError, match="give a factory"):
        rows_of(lambda x: model(x) if lock else None, jobs=2)


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
    assert len(str(rows).splitlines()) == 5 + 4  # nothing is certified at sigma 2


def test_questions_have_names(folder):
    ours, weak = Question(0.5, name="ours"), Question(0.5, method="baseline", name="theirs")
    assert ours == Question(0.5) and certreg.question_digest(ours) == certreg.question_digest(0.5)
    assert pickle.loads(pickle.dumps(ours)).name == "ours" and ours != weak
    rows = rows_of(questions=[ours, weak, 0.5], resume="r.sqlite")
    assert [line["question"] for line in rows.to_dicts()[:3]] == [0, 1, 2]
    for lines in (rows.to_dicts()[:3], rows.summary()):
        assert [line["name"] for line in lines] == ["ours", "theirs", ""]
    assert [line["promise"] for line in rows.summary()] == ["proved", "published", "proved"]
    assert [line.split()[1] for line in str(rows).splitlines()[1:4]] == ["ours", "theirs", "2"]
    rows.save("r.npz")
    assert str(certreg.Rows.load("r.npz")) == str(rows) and rows._repr_html_().count("theirs") == 1
    again = rows_of(None, questions=[Question(0.5, name="new"), weak, 0.5], resume="r.sqlite")
    assert bits(again) == bits(rows) and again.questions[0].name == "new"
    assert rows._names() == [", ours", ", theirs", ""]
    tight = [Question.paper("(C)", t, alpha=0.1) for t in (0.5, 0.1)]
    both = rows_of(questions=[*tight, Question.paper("(C,G)", 0.5)], x=X[:2])
    assert both._names() == [", (C), tolerance 0.5", ", (C), tolerance 0.1", ", (C,G)"]
    assert rows.certificate(3, question="theirs") == rows.certificate(3, 1)
    assert rows.certificate(3, question=-1) == rows.certificate(3, 2)
    assert rows.choose_sigma("theirs") == rows.choose_sigma(1)
    np.testing.assert_equal(rows.curve("theirs"), rows.curve(1))
    with pytest.raises(IndexError, match="question is 'o': give .* of 0, ours; 1, theirs; 2$"):
        rows.certificate(3, question="o")
    with pytest.raises(IndexError, match=r"is '\(C\)': .* of 0, \(C\), tolerance 0.5; 1, "):
        both.certificate(0, question="(C)")
    with pytest.raises(ValueError, match="several questions have the name 'ours'"):
        rows_of(questions=[ours, Question(0.1, name="ours")])
    assert "promise" not in both.summary()[0] and "name" not in two().summary()[0]
    with pytest.raises(TypeError, match="name must be a str"):
        Question(0.5, name=5)


def test_a_plot_marks_what_is_possible_and_takes_other_curves():
    package("matplotlib")
    rows = rows_of(lambda x: np.sign(x[:, 0]), questions=[0.5, Question(0.1, name="narrow")])
    mine = np.linspace(0, 1, 40)
    ax = rows.plot(also={"mine": mine})
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    ceiling = "longest r that σ and samples allow"
    assert names == ["sigma 0.25, tolerance 0.5", "sigma 0.25, narrow", "mine", ceiling]
    assert ax.collections[0].get_segments()[0][0, 0] == near(rows["radius"].max())
    assert len({line.get_linestyle() for line in ax.get_lines()}) == 3
    assert ax.get_xlabel() == "radius r, in units of the inputs"
    label = rows_of(scale=[2, 1, 1]).plot().get_xlabel()
    assert label == "radius r, in units of the scale of each feature"
    assert ax.get_lines()[2].get_xdata().max() == 1
    lines = rows_of().plot(X[:, 0] > 0, also={"mine": mine}).get_lines()
    assert lines[1].get_ydata().max() == near(0.975)
    for wrong, text in (
        *(
            ({"also": {"mine": each}}, r"also\['mine'\] must have 40 radii, finite numbers of at")
            for each in (mine[:3], -mine, mine * math.nan, mine * math.inf)
        ),
        ({"also": {"mine": mine}, "labels": X[:, 0], "error": True}, "errors of other curves"),
    ):
        with pytest.raises(ValueError, match=text):
            rows.plot(**wrong)
    with pytest.warns(UserWarning, match="there are 9 curves, and more than 8 cannot be told"):
        rows.plot(also=dict.fromkeys("abcdefg", mine))


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
    assert arguments.own_names(dict(n_jobs=-1)) == dict(jobs=-1)
    assert bits(rows_of(x=X[:4], jobs=-1)) == bits(rows_of(x=X[:4]))


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


# ---- rows share calls of the model
LINE = np.column_stack([np.linspace(-1, 1, 60), np.arange(60)]).astype(np.float32)
RUN = dict(sigma=0.25, questions=[0.5, 1.0], samples=300, seed=42, scale=[1, 0], progress=False)
TARGET = dict(questions=Question(0.5, target=0.1), samples=2000)


class Counted:
    """The first feature, and the rows of each call."""

    def __init__(self, answer=lambda x: x[:, 0]):
        self.answer, self.calls = answer, []

    def __call__(self, x):
        self.calls.append(len(x))
        return self.answer(x)


def certified(model, **more):
    return certreg.certify_rows(model, LINE, **grouped({**RUN, "check": False, **more}))


def test_rows_share_calls_and_keep_their_bits(few_chunks):
    shared, alone = Counted(), Counted()
    together = certified(shared)
    one_by_one = certified(alone, batch=300)
    assert shared.calls == [54 * 300, 6 * 300]
    assert alone.calls == [300] * 60
    assert bits(together) == bits(one_by_one)
    model = Counted()
    rows = certified(model, questions=Question(5.0, target=0.1), samples=1000)
    assert (rows.radius >= 0.1).all() and sum(model.calls) < 60 * 50
    assert max(model.calls) >= 59 * 30 and len(model.calls) < 20


@pytest.fixture
def few_chunks(monkeypatch):
    """Chunks do not depend on the speed of the machine: one row, and then all that are left."""
    monkeypatch.setattr(workers, "CHUNK_SECONDS", 1e9)


@parametrize("sigma", 0.25, [0.25, 0.5])
@parametrize("samples", 100, 7, 300)
def test_batch_is_the_most_rows_of_a_call(few_chunks, sigma, samples):
    model = Counted()
    certified(model, sigma=sigma, samples=samples, batch=900, pilot=0)
    each = samples * np.size(sigma)
    assert max(model.calls) == min(60 * each, 900)
    assert sum(model.calls) == 60 * each


# ---- the same results, however rows are divided
@parametrize("asked", {}, TARGET, dict(sigma=[0.25, 0.5], questions=[0.5, Question("10%")]))
def test_results_do_not_depend_on_calls_processes_and_interruptions(folder, few_chunks, asked):
    def interrupted(rows, of):
        if rows:
            raise KeyboardInterrupt

    whole, kept = certified(Counted(), **asked), dict(asked, batch=900, resume="s")
    for more in (dict(batch=64), dict(batch=64, jobs=2, resume="r")):
        assert bits(certified(Counted(), **asked, **more)) == bits(whole)
    with pytest.raises(KeyboardInterrupt) as stopped:
        certified(Counted(), progress=interrupted, **kept)
    assert 0 < stopped.value.rows.done.sum() < 60
    assert bits(certified(Counted(), **kept)) == bits(whole)
    with pytest.raises(ResumeError, match="batch"):
        certified(Counted(), **{**kept, "batch": 600})


# ---- failures
def test_an_exception_names_its_row(few_chunks):
    def model(x):
        if (x[:, 1] == 50).any():
            raise OverflowError("too hot")
        return x[:, 0]

    with pytest.raises(RowsError, match="row 50: .*OverflowError: too hot") as failed:
        certified(model)
    done = failed.value.rows.done
    assert failed.value.row == 50 and done[:50].all() and not done[50:].any()
    assert bits(failed.value.rows[:50]) == bits(certified(Counted())[:50])


def test_no_second_try_replaces_a_failed_call(few_chunks):
    def model(x):
        if len(x) > 300:
            raise OverflowError("too many")
        return x[:, 0]

    with pytest.raises(RowsError, match="too many, in a call for 54 rows and in no call for one"):
        certified(model)


@parametrize("answer", lambda x: x[:5, 0], lambda x: x, lambda x: "text", lambda x: x.fill(0))
def test_wrong_outputs_are_refused_as_in_a_call_of_one_row(answer):
    """So are models that write to what they get."""
    with pytest.raises(RowsError) as shared:
        certified(answer)
    with pytest.raises(RowsError) as alone:
        certified(answer, batch=300)
    assert str(shared.value) == str(alone.value)


# ---- a served regressor, and DataFrames
FRAME_ROWS = 40
FILE = [64] * 3  # calls for the file of a calibration


class Linear:
    """A regressor of DataFrames or arrays whose outputs have the same bits in each batch."""

    def fit(self, X, y):
        return self

    def get_params(self, deep=False):
        return {}

    def predict(self, X):
        CALLS.append(len(X))
        if not hasattr(X, "columns"):
            return X[:, 0] * np.float32(2)
        assert X["kind"].dtype == KINDS and set(X["kind"]) <= {"a", "b"}
        return X["x"].to_numpy() * np.where(X["kind"] == "a", 2.0, 3.0)


CALLS: list[int] = []
KINDS = "category"


def table(frame):
    x = np.linspace(-1, 1, FRAME_ROWS)
    if not frame:
        return np.column_stack([x, x**2]).astype(np.float32)
    pandas = package("pandas")
    return pandas.DataFrame({"x": x, "kind": pandas.Categorical(list("ab") * (FRAME_ROWS // 2))})


@parametrize("frame", False, True)
def test_rows_of_predict_and_intervals_share_calls_and_keep_their_bits(frame):
    package("sklearn")
    from certreg.regressor import SmoothedRegressor

    X, y = table(frame), np.linspace(-2, 2, FRAME_ROWS)
    model = SmoothedRegressor(Linear(), calibration=0.5, random_state=1, check=False).fit(X, y)
    for serve in (model.predict, functools.partial(model.predict_interval, alpha=0.2)):
        serve(X)  # the first intervals sample the kept rows too
        CALLS.clear()
        shared = serve(X)
        assert CALLS == [FRAME_ROWS * 101]
        alone = np.concatenate([serve(X[row : row + 1]) for row in range(FRAME_ROWS)])
        assert CALLS[1:] == [101] * FRAME_ROWS
        assert shared.tobytes() == alone.tobytes()


def test_a_calibration_with_dataframes_shares_calls_and_keeps_its_bits():
    X, y = table(True), np.linspace(-2, 2, FRAME_ROWS)
    make = functools.partial(certreg.Calibrated, Linear(), X, y, 0.25, seed=1, inputs_seed=2,
                             check=False)
    CALLS.clear()
    with make() as shared, make(batch=101) as alone:
        assert CALLS == [FRAME_ROWS * 101, *FILE] + [101] * FRAME_ROWS + FILE
        assert shared.scores.tobytes() == alone.scores.tobytes()
        backwards = X[["kind", "x"]]
        together = shared.intervals(backwards, 0.1, 0.2)
        assert CALLS[-1] == FRAME_ROWS * 101
        assert together == [alone.interval(X.iloc[[i]], 0.1, 0.2) for i in range(FRAME_ROWS)]


def test_the_model_cannot_call_the_calibration_during_a_shared_call():
    def model(x):
        if len(x) == 60 * 101 and asked:
            asked[0].interval(LINE[0], 0.1, 0.2)
        return x[:, 0]

    asked = []
    with certreg.Calibrated(model, LINE, LINE[:, 0], 0.25, scale=[1, 0], check=False) as c:
        asked.append(c)
        with pytest.raises(certreg.CertregError) as refused:
            c.intervals(LINE, 0.1, 0.2)
        assert refused.value.status == certreg.Status.BUSY
        asked.clear()
        assert len(c.intervals(LINE, 0.1, 0.2)) == 60


def test_failures_in_shared_intervals_are_raised():
    def model(x):
        if (x[:, 1] == 70).any():
            raise OverflowError("too hot")
        return np.where(x[:, 1] == 80, np.nan, x[:, 0])

    with certreg.Calibrated(model, LINE, LINE[:, 0], 0.25, scale=[1, 0], check=False) as c:
        failures = (70, OverflowError, "too hot"), (80, certreg.CertregError, "nan")
        for value, error, text in failures:
            with pytest.raises(error, match=text):
                c.intervals(np.vstack([LINE, [0, value]]), 0.1, 0.2)


def test_a_network_of_scikit_learn_computes_pieces_of_a_batch():
    network = package("sklearn.neural_network")
    pipeline = package("sklearn.pipeline")
    model = pipeline.make_pipeline(network.MLPRegressor(max_iter=1))
    x = np.random.default_rng(1).normal(size=(5000, 2))
    model.fit(x[:9], x[:9, 0])
    model.predict = Counted(lambda x: x[:, 0])
    assert (certreg.as_model(model)(x) == x[:, 0]).all()
    assert model.predict.calls == [1966, 1966, 1068]  # layers of 100 doubles in 1.5 MiB


def test_the_fastest_batch_is_measured_and_resumed(tmp_path, monkeypatch):
    """A model that is fastest with the numbers of `costs`, by the clock of the test."""
    clock, costs, model = [0.0], {256: 3, 2048: 1, 16_384: 2}, Counted(lambda x: x[:, 0])
    monkeypatch.setattr("certreg.workers.time.perf_counter", lambda: clock[0])

    def slow(x):
        clock[0] += len(x) * costs.get(len(x), 0)
        return model(x)

    def run(**more):
        given = dict(samples=1000, batch="measure", seed=1, progress=False)
        return certreg.certify_rows(slow, np.ones((9, 2)), 0.25, 0.5, **(given | more))

    path = tmp_path / "rows"
    first = run(resume=path)
    assert first.sampling.batch == 2048 and max(model.calls[9:]) == 2048
    costs[256] = 0.1
    assert run(resume=path).sampling.batch == 2048  # of the file
    assert run().sampling.batch == 256
    np.testing.assert_array_equal(run(batch=2048).certificates, first.certificates)
    with pytest.raises(ValueError, match='batch is .best.; it must be a number or "measure"'):
        run(batch="best")


def test_dataframes_have_larger_batches():
    CALLS.clear()
    run = dict(sigma=0.25, questions=0.5, samples=2000, seed=1, progress=False)
    certreg.certify_rows(Linear(), table(True), **run, options=certreg.Options(check=False))
    assert CALLS == [32_000, 32_768, 80_000 - 64_768]

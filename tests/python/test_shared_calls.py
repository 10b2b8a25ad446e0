"""Rows share calls of the model: fewer calls, and the same results as with calls of their own."""

import functools
import os

import numpy as np
import pytest

from kit import bits, certreg, grouped, parametrize
from certreg import Question, RowsError, workers

ROWS = np.column_stack([np.linspace(-1, 1, 60), np.arange(60)]).astype(np.float32)
RUN = dict(sigma=0.25, questions=[0.5, 1.0], samples=300, seed=42, scale=[1, 0], progress=False)
TARGET = dict(questions=Question(0.5, target=0.1), samples=2000)


@pytest.fixture(autouse=True)
def few_chunks(monkeypatch):
    """Chunks do not depend on the speed of the machine: one row, and then all that are left."""
    monkeypatch.setattr(workers, "CHUNK_SECONDS", 1e9)


class Counted:
    """The first feature, and the rows of each call."""

    def __init__(self, answer=lambda x: x[:, 0]):
        self.answer, self.calls = answer, []

    def __call__(self, x):
        self.calls.append(len(x))
        return self.answer(x)


def certified(model, **more):
    return certreg.certify_rows(model, ROWS, **grouped({**RUN, "check": False, **more}))


def same_certificates(a, b):
    return bits(a) == bits(b) and a.errors == b.errors


def test_rows_share_calls_and_keep_their_bits():
    shared, alone = Counted(), Counted()
    together = certified(shared)
    one_by_one = certified(alone, batch=300)
    assert shared.calls == [54 * 300, 6 * 300]
    assert alone.calls == [300] * 60
    assert same_certificates(together, one_by_one)


@parametrize("sigma", 0.25, [0.25, 0.5])
@parametrize("samples", 100, 7, 300)
def test_batch_is_the_most_rows_of_a_call(sigma, samples):
    model = Counted()
    certified(model, sigma=sigma, samples=samples, batch=900, pilot=0)
    each = samples * np.size(sigma)
    assert max(model.calls) == min(60 * each, 900)
    assert sum(model.calls) == 60 * each


def test_rows_with_targets_share_calls():
    model = Counted()
    rows = certified(model, questions=Question(5.0, target=0.1), samples=1000)
    assert (rows.radius >= 0.1).all() and sum(model.calls) < 60 * 50
    assert max(model.calls) >= 59 * 30 and len(model.calls) < 20


# ---- the same results, however rows are divided
@parametrize("asked", {}, TARGET, dict(sigma=[0.25, 0.5], questions=[0.5, Question("10%")]))
@parametrize("more", dict(jobs=2), dict(batch=64), dict(batch=64, jobs=2, resume="r"))
@pytest.mark.usefixtures("folder")
def test_results_do_not_depend_on_calls_and_processes(asked, more):
    rows = certified(Counted(), **asked, **more)
    assert same_certificates(certified(Counted(), **asked), rows)


def test_results_do_not_depend_on_interruptions(tmp_path):
    def interrupted(rows, of):
        if rows:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        certified(Counted(), samples=100, batch=900, resume=tmp_path / "r", progress=interrupted)
    done = stopped.value.rows.done
    assert 0 < done.sum() < 60
    rows = certified(Counted(), samples=100, batch=900, resume=tmp_path / "r")
    assert same_certificates(rows, certified(Counted(), samples=100))


def test_rows_keep_their_certificates_when_rows_are_added(tmp_path):
    def run(count, model):
        run = grouped({**RUN, "check": False, "samples": 100})
        return certreg.certify_rows(model, ROWS[:count], resume=tmp_path / "r", **run)

    first, model = run(12, Counted()), Counted()
    longer = run(16, model)
    assert bits(longer[:12]) == bits(first) and longer.done.all()
    assert sum(model.calls) == 100 * 4  # the new rows


def test_a_resumed_run_refuses_another_batch(tmp_path):
    certified(Counted(), resume=tmp_path / "r")
    with pytest.raises(certreg.ResumeError, match="batch"):
        certified(Counted(), resume=tmp_path / "r", batch=600)


# ---- failures
def test_an_exception_names_its_row():
    def model(x):
        if (x[:, 1] == 50).any():
            raise OverflowError("too hot")
        return x[:, 0]

    with pytest.raises(RowsError, match="row 50: .*OverflowError: too hot") as failed:
        certified(model)
    done = failed.value.rows.done
    assert failed.value.row == 50 and done[:50].all() and not done[50:].any()
    assert bits(failed.value.rows[:50]) == bits(certified(Counted())[:50])


def test_no_second_try_replaces_a_failed_call():
    def model(x):
        if len(x) > 300:
            raise OverflowError("too many")
        return x[:, 0]

    with pytest.raises(RowsError, match="too many, in a call for 54 rows and in no call for one"):
        certified(model)


def test_outputs_that_are_not_finite_fail_their_row_alone():
    rows = certified(lambda x: np.where(x[:, 1] == 50, np.nan, x[:, 0]))
    assert list(rows.errors) == [(50, 0)]
    good = np.arange(60) != 50
    whole = certified(Counted())
    assert bits(rows[good]) == bits(whole[good])


@parametrize("answer", lambda x: x[:5, 0], lambda x: x, lambda x: "text")
def test_wrong_outputs_are_refused_as_in_a_call_of_one_row(answer):
    with pytest.raises(RowsError) as shared:
        certified(answer)
    with pytest.raises(RowsError) as alone:
        certified(answer, batch=300)
    assert str(shared.value) == str(alone.value)


def test_the_model_cannot_write_to_a_shared_batch():
    def writes(x):
        x[:] = 0
        return x[:, 0]

    with pytest.raises(RowsError, match="read-only"):
        certified(writes)


def ends_at_row_50(x, rows=(50,)):
    if np.isin(x[:, 1], rows).any():
        os._exit(3)
    return x[:, 0]


def test_a_row_that_ends_processes_is_found():
    rows = certified(ends_at_row_50, jobs=1, on_crash="skip")
    others = np.arange(60) != 50
    assert rows.done.all() and list(rows.errors) == [(50, 0)]
    whole = certified(Counted())
    assert bits(rows[others]) == bits(whole[others])


def test_a_row_that_ended_processes_is_not_sampled_when_the_others_go_on(tmp_path):
    def interrupted(rows, of):
        if rows >= 59:
            raise KeyboardInterrupt

    def model(x):
        assert not (x[:, 1] == 50).any()
        return x[:, 0]

    more = dict(resume=tmp_path / "r", on_crash="skip")
    with pytest.raises(KeyboardInterrupt) as stopped:
        certified(lambda x: ends_at_row_50(x, (50, 51)), progress=interrupted, **more)
    assert np.flatnonzero(~stopped.value.rows.done).tolist() == [51]
    rows = certified(model, resume=tmp_path / "r")
    assert rows.done.all() and list(rows.errors) == [(50, 0)]


# ---- calibration
def test_points_of_a_calibration_share_calls():
    make = functools.partial(
        certreg.Calibrated, X=ROWS, y=ROWS[:, 0], sigma=0.25, scale=[1, 0], seed=1, inputs_seed=2,
        check=False,
    )  # fmt: skip
    shared, alone = Counted(), Counted()
    with make(shared) as a, make(alone, batch=101) as b:
        assert a.scores.tobytes() == b.scores.tobytes()
    assert (len(shared.calls), len(alone.calls)) == (4, 63)  # three for files
    assert sum(shared.calls) == sum(alone.calls) == 60 * 101 + 3 * 64


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
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"x": x, "kind": pandas.Categorical(list("ab") * (FRAME_ROWS // 2))})


def part(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


@parametrize("frame", False, True)
def test_rows_of_predict_and_intervals_share_calls_and_keep_their_bits(frame):
    pytest.importorskip("sklearn")
    from certreg.regressor import SmoothedRegressor

    X, y = table(frame), np.linspace(-2, 2, FRAME_ROWS)
    model = SmoothedRegressor(Linear(), calibration=0.5, random_state=1, check=False).fit(X, y)
    for serve in (model.predict, functools.partial(model.predict_interval, alpha=0.2)):
        serve(X)  # the first intervals sample the kept rows too
        CALLS.clear()
        shared = serve(X)
        assert CALLS == [FRAME_ROWS * 101]
        alone = np.concatenate([serve(part(X, [row])) for row in range(FRAME_ROWS)])
        assert CALLS[1:] == [101] * FRAME_ROWS
        assert shared.tobytes() == alone.tobytes()


def test_a_calibration_with_dataframes_shares_calls_and_keeps_its_bits():
    X, y = table(True), np.linspace(-2, 2, FRAME_ROWS)
    make = functools.partial(
        certreg.Calibrated, Linear(), X, y, 0.25, seed=1, inputs_seed=2, check=False
    )
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
            asked[0].interval(ROWS[0], 0.1, 0.2)
        return x[:, 0]

    asked = []
    with certreg.Calibrated(model, ROWS, ROWS[:, 0], 0.25, scale=[1, 0], check=False) as c:
        asked.append(c)
        with pytest.raises(certreg.CertregError) as refused:
            c.intervals(ROWS, 0.1, 0.2)
        assert refused.value.status == certreg.Status.BUSY
        asked.clear()
        assert len(c.intervals(ROWS, 0.1, 0.2)) == 60


def test_failures_in_shared_intervals_are_raised():
    def model(x):
        if (x[:, 1] == 70).any():
            raise OverflowError("too hot")
        return np.where(x[:, 1] == 80, np.nan, x[:, 0])

    with certreg.Calibrated(model, ROWS, ROWS[:, 0], 0.25, scale=[1, 0], check=False) as c:
        failures = (70, OverflowError, "too hot"), (80, certreg.CertregError, "nan")
        for value, error, text in failures:
            with pytest.raises(error, match=text):
                c.intervals(np.vstack([ROWS, [0, value]]), 0.1, 0.2)


# ---- batches by default
def test_dataframes_have_larger_batches():
    CALLS.clear()
    run = dict(sigma=0.25, questions=0.5, samples=2000, seed=1, progress=False)
    certreg.certify_rows(Linear(), table(True), **run, options=certreg.Options(check=False))
    assert CALLS == [32_000, 32_768, 80_000 - 64_768]


def test_a_network_of_scikit_learn_computes_pieces_of_a_batch():
    network = pytest.importorskip("sklearn.neural_network")
    pipeline = pytest.importorskip("sklearn.pipeline")
    model = pipeline.make_pipeline(network.MLPRegressor(max_iter=1))
    model.predict = Counted(lambda x: x[:, 0])
    x = np.random.default_rng(1).normal(size=(5000, 2))
    assert (certreg.as_model(model)(x) == x[:, 0]).all()
    assert model.predict.calls == [2048, 2048, 904]

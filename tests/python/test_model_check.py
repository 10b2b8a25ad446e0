"""What makes certificates false is refused, before the first row or by the audit after the last,
wherever a model is given."""

import functools
import warnings

import numpy as np
import pytest

from kit import SAMPLES, X, Z, bits, command_refused, counting, estimator, model, no_warnings
from kit import ASKED, certreg, package, parametrize, refused, rows_of, said, same, write
from certreg import Calibrated, Dependence, ModelWarning, ResumeError, RowsError, Status, tune_scale

ORDER, OTHERS = "if the rows are in another order", "if other rows are beside it"
AGAIN = "if the same rows come again"
SEE = "rows seem to see each other"


def by_columns(x):
    return x.ravel().reshape(x.shape, order="F") @ np.array([1, 2, 4], "f4")


def centred(x):
    return x[:, 0] - x[:, 0].mean()


def many(x):
    return model(x) - (len(x) >= 8) * model(x).mean()


class Filtered:
    """A state that is not reset."""

    def __init__(self):
        self.state = 0.0

    def __call__(self, x):
        y = x[:, 0] + self.state
        self.state = 0.5 * self.state + float(x[:, 0].mean())
        return y


def among_many(x):
    return model(x) + (x[:, 0] > 1) * (len(x) > 64)


class Shaken:
    """Other last digits in each call."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return model(x) + 1e-3 * (self.calls % 2)


def test_an_estimator_checks_its_first_input_and_no_other():
    f, calls = counting()
    with no_warnings(), estimator(f) as e:
        e.begin(Z, 0.25)
        assert calls == [4, 4, 4, 4, 1, 2]
        e.begin(Z, 0.25)
        assert sum(calls) == 19
        assert e.model_check() == Dependence.NONE
        again = e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=3)
    with estimator(f, check=False) as e:
        calls.clear()
        alone = e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=3)
        assert sum(calls) == SAMPLES
    assert same(again, alone) and again.audited > alone.audited == 0  # no sample is the check's


@parametrize("f, sentence", (by_columns, ORDER), (centred, OTHERS))
def test_an_estimator_refuses_every_input_until_it_is_told_not_to_check(f, sentence):
    with estimator(f) as e:
        for _ in range(2):
            with refused(Status.MODEL_FAILED, sentence) as caught:
                e.certify(Z, 0.25, SAMPLES, 0.5)
            assert caught.value.value > 0 and caught.value.output == 0
        with refused(Status.MODEL_FAILED, sentence):
            e.certify_sigmas(Z, [0.1, 0.2], SAMPLES, 0.5)
    with estimator(f, check=False) as e:
        assert e.certify(Z, 0.25, SAMPLES, 0.5).samples == SAMPLES


def test_states_and_randomness_are_said_once_and_no_premise_is_tested():
    rng = np.random.default_rng(1)
    noisy = lambda size: lambda x: model(x) + size * rng.normal(size=len(x))  # noqa: E731
    for f in (Filtered(), noisy(0.5), noisy(1e-3)):
        with estimator(f) as e, pytest.warns(ModelWarning, match=AGAIN) as seen:
            c = e.certify(Z, 0.25, SAMPLES, 3.0)
            assert c.samples == SAMPLES and c.audited == 0
            e.begin(Z, 0.25)
        assert len(seen) == 1 and "nothing else was judged" in str(seen[0].message)


@parametrize("more", {}, dict(jobs=2), dict(resume="r.sqlite"), dict(on_crash="skip"))
def test_rows_are_refused_before_the_first(folder, more):
    with pytest.raises(RowsError, match=f"row [01]: .*{ORDER}.* 0 of 40 rows") as caught:
        rows_of(by_columns, **more)
    assert caught.value.__cause__.status == Status.MODEL_FAILED
    with pytest.warns(ModelWarning, match=AGAIN):
        rows = rows_of(Shaken(), **{**more, "resume": more.get("resume") and "s.sqlite"})
    assert rows.done.all() and AGAIN in rows.remarks()[0] and not rows["audited"].any()
    rows[:].save("rows.npz")
    assert str(certreg.Rows.load("rows.npz")) == str(rows)
    with no_warnings():
        assert rows_of(Filtered(), check=False, **{**more, "resume": None}).done.all()


@parametrize("more", {}, dict(jobs=2), dict(resume="r.sqlite"), dict(resume="r/"))
def test_a_refusal_names_its_row_and_leaves_no_certificate(folder, more):
    """Rows with a large feature have another output in large calls."""
    with pytest.raises(RowsError, match=r"^row \d+: sample \d+: output 0 .*; 0 of 40") as caught:
        rows_of(among_many, batch=0, **more)
    error = caught.value
    assert X[error.row, 0] > 0.2 and SEE in str(error)
    assert (error.__cause__.row, error.__cause__.sample >= 0) == (error.row, True)
    assert not error.rows.done.any() and not error.rows["radius"].any() and not error.rows.errors
    assert rows_of(among_many, batch=0, check=False).done.all()


@parametrize("more", {}, dict(jobs=2), dict(keep_records=True), dict(questions=["30%", 0.7]))
@parametrize("resume", "r.sqlite", "r/")
def test_rows_that_are_done_are_asked_again(folder, more, resume):
    """Another model begins where no clean input is."""
    run = functools.partial(rows_of, resume=resume, **more)
    first = run(x=X[:25])
    other = lambda x: model(x) + (x[:, 0] > 0.02 + X[:25, 0].max())  # noqa: E731
    assert (other(X[:25]) == model(X[:25])).all()
    said = r"made with another model, or .*: row \d+, sample \d+: output 0 was .* asked again: give"
    for count in (25, 40)[: 1 + (resume == "r.sqlite")]:  # a folder's files get no more rows
        with pytest.raises(ResumeError, match=said) as caught:
            run(other, X[:count])
        assert not caught.value.rows.done.any() and caught.value.__cause__.row < 25
    assert bits(run(x=X[:25])) == bits(run(other, X[:25], check=False)) == bits(first)


def test_rows_are_checked_once_at_the_first_that_can_begin():
    f, calls = counting()
    assert (rows_of(f)["samples"] == 300).all()
    assert 40 * 300 + 19 < sum(calls) < 40 * 300 * 17 / 16 + 19 + 9 * 8
    far = X.copy()
    far[0] = 1e9  # too far from 0 for its noise
    with pytest.raises(RowsError, match="row 1: .*beside"):
        rows_of(centred, far)
    assert len(rows_of(model, far).errors) == 1


def test_intervals_and_scales():
    y = X[:, 0]
    f, calls = counting()
    with no_warnings(), Calibrated(f, X, y, 0.25, samples=32, seed=1) as calibrated:
        calibrated.interval(Z, 0.1, 0.2)
    assert 41 * 32 + 2 * 19 < sum(calls) < 41 * 32 * 1.15
    for wrong, sentence in ((centred, OTHERS), (many, SEE)):
        with refused(Status.MODEL_FAILED, sentence):
            Calibrated(wrong, X, y, 0.25, samples=32)
        Calibrated(wrong, X, y, 0.25, samples=32, check=False).close()
    with Calibrated(model, X, y, 0.25, samples=32) as calibrated:
        calibrated._estimator._model_functions[0] = many
        for ask, x in ((calibrated.interval, Z), (calibrated.intervals, X)):
            with refused(Status.MODEL_FAILED, SEE):
                ask(x, 0.1, 0.2)
    how = dict(samples=100, rounds=1, progress=False, seed=1)
    with pytest.raises(RowsError, match=OTHERS):
        tune_scale(centred, X, [0.25], 0.5, **how)
    unchecked = certreg.Options(check=False)
    tune_scale(lambda x: x[:, 0] + 1e-2 * x.mean(), X, [0.25], 0.5, options=unchecked, **how)


def test_a_smoothed_regressor_is_asked_again():
    base = package("sklearn.base")
    from certreg.regressor import SmoothedRegressor

    class Wrong(base.RegressorMixin, base.BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return many(X)

    for pairs in (True, False):
        checked = SmoothedRegressor(Wrong(), pairs=pairs, random_state=1).fit(X, X[:, 0])
        for predict in (checked.predict, functools.partial(checked.predict_interval, alpha=0.2)):
            with refused(Status.MODEL_FAILED, SEE):
                predict(X[:2])
        unchecked = SmoothedRegressor(Wrong(), check=False, pairs=pairs).fit(X, X[:, 0])
        assert unchecked.predict(X[:2]).shape == (2,)
        right = SmoothedRegressor(sigma=0.3, pairs=pairs).fit(X, X[:, 0])
        assert right.predict(X).shape == (40,) == right.predict_interval(X, alpha=0.2)[:, 0].shape


def test_the_command(models):
    bad = ("models.py:depends_on_its_batch", "x.npy", *ASKED)
    np.save("many.npy", X)
    for command in ("certify", "sigma", "scale"):
        words = (command, bad[0], "many.npy", *ASKED)
        command_refused(3, f"the model failed in row 0: .*{OTHERS}", *words)
    command_refused(3, f"the model failed: .*{OTHERS}", "attack", *bad)
    np.save("y.npy", np.zeros(6))
    points = ("--calibration", "x.npy", "--truths", "y.npy", "--radius", ".1", "--alpha", ".5")
    interval = ("interval", *bad[:4], *points)
    command_refused(3, f"the model failed: .*{OTHERS}", *interval)
    said("certify", *bad, "--no-check")
    said(*interval, "--no-check")
    write("drawn.py", "import numpy as np\nrng = np.random.default_rng(1)\n")
    write("drawn.py", "def drawn(x): return x[:, 0] + 1e-3 * rng.normal(size=len(x))\n", "a")
    out, err = said("certify", "drawn.py:drawn", "x.npy", *ASKED)
    assert err.count("certreg: an output changes by") == 1 and AGAIN in err
    assert "premise not tested" in out
    assert "outputs asked again" in said("certify", "models.py:product", "x.npy", *ASKED)[0]
    assert "premise not tested" in said("certify", *bad, "--no-check")[0]


def test_other_warnings_of_a_command_stay(models):
    write("warns.py", "import warnings\n")
    write("warns.py", "def warns(x): warnings.warn('of my own'); return x[:, 0]\n", "a")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        said("certify", "warns.py:warns", "x.npy", *ASKED)
    assert {str(warning.message) for warning in seen} == {"of my own"}


def test_the_sentences_fit_the_error():
    """None is cut at the end of certreg_error.text."""
    for f in (by_columns, centred):
        with estimator(f) as e, pytest.raises(certreg.CertregError, match="(time|other)$"):
            e.begin(Z, 0.25)

"""What makes certificates false is refused, or said, before the first row, wherever a model is
given."""

import warnings

import numpy as np
import pytest

from kit import SAMPLES, X, Z, command_refused, counting, estimator, model, no_warnings, package
from kit import ASKED, certreg, parametrize, refused, rows_of, said, write
from certreg import Calibrated, Dependence, ModelWarning, RowsError, Status, tune_scale

ORDER, OTHERS = "if the rows are in another order", "if other rows are beside it"
AGAIN = "if the same rows come again"


def by_columns(x):
    return x.ravel().reshape(x.shape, order="F") @ np.array([1, 2, 4], "f4")


def centred(x):
    return x[:, 0] - x[:, 0].mean()


class Filtered:
    """A state that is not reset."""

    def __init__(self):
        self.state = 0.0

    def __call__(self, x):
        y = x[:, 0] + self.state
        self.state = 0.5 * self.state + float(x[:, 0].mean())
        return y


def test_an_estimator_checks_its_first_input_and_no_other():
    f, calls = counting()
    with no_warnings(), estimator(f) as e:
        e.begin(Z, 0.25)
        assert calls == [4, 4, 4, 4, 1, 2]
        e.begin(Z, 0.25)
        assert sum(calls) == 19
        assert e.model_check() == Dependence.NONE and len(calls) == 12
        again = e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=3)
    with estimator(f, check=False) as e:
        calls.clear()
        alone = e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=3)
        assert sum(calls) == SAMPLES
    assert repr(again) == repr(alone)  # no sample is the check's


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


def test_states_and_randomness_are_said_once_and_not_refused():
    rng = np.random.default_rng(1)
    for f in (Filtered(), lambda x: model(x) + rng.normal(size=len(x))):
        with estimator(f) as e, pytest.warns(ModelWarning, match=AGAIN) as seen:
            assert e.certify(Z, 0.25, SAMPLES, 0.5).samples == SAMPLES
            e.begin(Z, 0.25)
        assert len(seen) == 1 and "nothing else was judged" in str(seen[0].message)


@parametrize("more", {}, dict(jobs=2), dict(resume="r.sqlite"), dict(on_crash="skip"))
def test_rows_are_refused_before_the_first(folder, more):
    with pytest.raises(RowsError, match=f"row 0: .*{ORDER}.* 0 of 40 rows") as caught:
        rows_of(by_columns, **more)
    assert caught.value.__cause__.status == Status.MODEL_FAILED
    with pytest.warns(ModelWarning, match=AGAIN):
        rows = rows_of(Filtered(), **{**more, "resume": more.get("resume") and "s.sqlite"})
    assert rows.done.all() and AGAIN in rows.remarks()[0]
    rows[:].save("rows.npz")
    assert str(certreg.Rows.load("rows.npz")) == str(rows)
    with no_warnings():
        assert rows_of(Filtered(), check=False, **{**more, "resume": None}).done.all()


def test_rows_are_checked_once_at_the_first_that_can_begin():
    f, calls = counting()
    assert (rows_of(f)["samples"] == 300).all()
    assert sum(calls) == 40 * 300 + 19
    far = X.copy()
    far[0] = 1e9  # too far from 0 for its noise
    with pytest.raises(RowsError, match="row 20: .*beside"):
        rows_of(centred, far)
    assert len(rows_of(model, far).errors) == 1


def test_intervals_and_scales():
    y = X[:, 0]
    f, calls = counting()
    with no_warnings(), Calibrated(f, X, y, 0.25, samples=11, seed=1) as calibrated:
        calibrated.interval(Z, 0.1, 0.2)
    assert sum(calls) == 19 + 41 * 11
    with refused(Status.MODEL_FAILED, OTHERS):
        Calibrated(centred, X, y, 0.25, samples=11)
    Calibrated(centred, X, y, 0.25, samples=11, check=False).close()
    how = dict(samples=100, rounds=1, progress=False, seed=1)
    with pytest.raises(RowsError, match=OTHERS):
        tune_scale(centred, X, [0.25], 0.5, **how)
    unchecked = certreg.Options(check=False)
    tune_scale(lambda x: x[:, 0] + 1e-2 * x.mean(), X, [0.25], 0.5, options=unchecked, **how)


def test_a_smoothed_regressor_is_checked_by_fit():
    base = package("sklearn.base")
    from certreg.regressor import SmoothedRegressor

    class Centred(base.RegressorMixin, base.BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return centred(X)

    with refused(Status.MODEL_FAILED, OTHERS):
        SmoothedRegressor(Centred()).fit(X, X[:, 0])
    unchecked = SmoothedRegressor(Centred(), check=False).fit(X, X[:, 0])
    assert unchecked.predict(X[:2]).shape == (2,)


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
    write("drawn.py", "def drawn(x): return x[:, 0] + rng.normal(size=len(x))\n", "a")
    err = said("certify", "drawn.py:drawn", "x.npy", *ASKED)[1]
    assert err.count("certreg: an output changes by") == 1 and AGAIN in err


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

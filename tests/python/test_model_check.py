"""What makes certificates false is refused, before the first row or by the audit after the last,
wherever a model is given."""

import functools
import re
import warnings

import numpy as np
import pytest

from kit import SAMPLES, X, Z, bits, command_refused, counting, estimator, model, no_warnings
from kit import ASKED, certreg, node, onnx_file, package, parametrize, refused, rows_of, said, same
from kit import write
from certreg import Calibrated, Dependence, ModelWarning, OnnxModel, ResumeError, RowsError, Status
from certreg import check_model, tune_scale
from certreg.causes import cause

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
            assert str(caught.value).endswith(("time", "other"))  # it fits certreg_error.text
        with refused(Status.MODEL_FAILED, sentence):
            e.certify_sigmas(Z, [0.1, 0.2], SAMPLES, 0.5)
    with estimator(f, check=False) as e:
        assert e.certify(Z, 0.25, SAMPLES, 0.5).samples == SAMPLES


@parametrize("more", {}, dict(jobs=2), dict(resume="r.sqlite"))
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


@parametrize("resume, more", ("r.sqlite", dict(jobs=2, questions=["30%", 0.7])),
             ("r.sqlite", dict(keep_records=True)), ("r/", {}), ("r/", dict(keep_records=True)))
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


def test_intervals_and_scales():
    y = X[:, 0]
    f, calls = counting()
    assert (rows_of(f)["samples"] == 300).all()
    assert 40 * 300 + 19 < sum(calls) < 40 * 300 * 17 / 16 + 19 + 9 * 8
    far = X.copy()
    far[0] = 1e9  # too far from 0 for its noise: the next one is checked
    with pytest.raises(RowsError, match="row 1: .*beside"):
        rows_of(centred, far)
    calls.clear()
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
    said(*interval, "--no-check")
    write("drawn.py", "import numpy as np\nrng = np.random.default_rng(1)\n")
    write("drawn.py", "def drawn(x): return x[:, 0] + 1e-3 * rng.normal(size=len(x))\n", "a")
    out, err = said("certify", "drawn.py:drawn", "x.npy", *ASKED)
    assert err.count("certreg: an output changes by") == 1 and AGAIN in err
    assert "premise not tested" in out
    assert "outputs asked again" in said("certify", "models.py:product", "x.npy", *ASKED)[0]
    write("warns.py", "import warnings\n")
    write("warns.py", "def warns(x): warnings.warn('of my own'); return x[:, 0]\n", "a")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert "premise not tested" in said("certify", "warns.py:warns", *bad[1:], "--no-check")[0]
    assert {str(warning.message) for warning in seen} == {"of my own"}


# ---- a refusal names what the model does, and a model that is mended as it says is certified
Scaler = type("Scaler", (), {"fit_transform": lambda self, x: x - x.mean(0)})
DICE, LIKELY = np.random.default_rng(1), "the likely cause is "


def layer(kind, forward, **state):  # a function that uses an object like a module of torch
    made = type(kind, (), {"forward": forward})()
    vars(made).update({"hidden": 0, "training": False, "batch_first": True, **state})
    return functools.partial(lambda made, x: made.forward(x)[:, 0], made)


def mix(self, x):
    return x - x.mean(0) * (self.training or not self.batch_first)


def drop(self, x):
    return x * (DICE.random(x.shape) > 0.5) if self.training else x


def keep(self, x):
    self.hidden = x.mean() + self.hidden * self.keeps
    return x + self.hidden * self.keeps


def seeded(x):
    return model(x) + np.random.default_rng(7).normal(size=len(x))


def half(weights, x):
    return x @ weights + np.finfo(weights.dtype).eps * len(x)  # rounds by the number of rows


def refusal(f, *more, **others):
    with pytest.raises(RowsError, match=LIKELY) as caught:
        rows_of(f, *more, **others)
    return str(caught.value).split(LIKELY, 1)[1]


def certifies(f, *more, **others):
    with no_warnings():
        return rows_of(f, *more, **others).done.all()


@parametrize(
    "words, wrong, right",
    ("BatchNorm: call", *(layer("BatchNorm1d", mix, training=on) for on in (True, False))),
    ("a layer whose first", *(layer("LSTM", mix, batch_first=on) for on in (False, True))),
    ("dropout or other randomness with a seed set in forward (default_rng)", seeded, model),
    ("low precision (float16)", *(functools.partial(half, np.ones(3, k)) for k in ("f2", "f4"))),
    ("fit_transform(): fit before", lambda x: Scaler().fit_transform(x)[:, 0], model),
)
def test_rows_that_see_each_other(words, wrong, right):
    assert refusal(wrong).startswith(words)
    assert words in check_model(wrong, X)[0].text
    with estimator(wrong) as e, pytest.raises(certreg.CertregError, match=LIKELY):
        e.begin(Z, 0.25)
    assert certifies(right)


@parametrize(
    "words, wrong, right",
    ("dropout: call", *(layer("Dropout", drop, training=on) for on in (True, False))),
    ("the state that is kept in hidden", *(layer("A", keep, keeps=on) for on in (True, False))),
)
def test_outputs_that_change_with_time(words, wrong, right):
    with pytest.warns(ModelWarning, match=LIKELY + words):
        rows_of(wrong)
    assert certifies(right)


def test_one_row_without_its_dimension():
    words = "squeeze() of one row: write squeeze(-1), or reshape(len(x), -1)"
    assert refusal(lambda: lambda x: x[:, :1].squeeze(), X[:1], jobs=2).startswith(words)
    assert refusal(lambda x: x[:, :2].squeeze(), outputs=2).startswith(words)
    assert words in str(check_model(lambda x: x[:, :1].squeeze(), X))
    assert certifies(lambda x: x[:, :1].squeeze(-1).reshape(len(x), -1), X[:1])


def test_dynamic_quantisation(folder):
    package("onnxruntime")
    first = node("DynamicQuantizeLinear", ["x"], "q", "s", "z")
    nodes = [first, node("DequantizeLinear", ["q", "s", "z"], "y")]
    f = OnnxModel(onnx_file("q.onnx", nodes, [("x", ["N", 3])], [("y", ["N", 3])]))
    assert refusal(f.session, outputs=3).startswith("dynamic quantisation: give batch=1")
    assert certifies(f, outputs=3, batch=1)
    np.save("x.npy", X)
    command = "certify", "q.onnx", "x.npy", *ASKED, "--columns", "0:1"
    command_refused(3, "dynamic quantisation: give --batch 1", *command)
    said(*command, "--batch", "1")


def test_modules_of_torch():
    torch = package("torch")
    net = torch.nn.Sequential(torch.nn.Linear(3, 1))
    torch.nn.init.constant_(net[0].weight, 2.0)
    f = lambda x: net(torch.tensor(x)).detach()  # noqa: E731
    assert refusal(lambda x: net(x)).startswith("an array given to torch: give the module itself")
    assert refusal(lambda x: (x[:, 0], x)).startswith("several outputs: return one array")
    assert refusal(lambda x: f(x).bfloat16()).endswith("y.float(); 0 of 40 rows are done")
    assert certifies(lambda x: f(x).bfloat16().float())
    quantised = torch.ao.quantization.quantize_dynamic(net, {torch.nn.Linear})
    assert refusal(quantised).startswith("dynamic quantisation") and certifies(quantised, batch=1)
    net.append(torch.nn.BatchNorm1d(1))
    assert refusal(f).startswith("BatchNorm") and certifies(net) and certifies(net.eval() and f)


def test_images_in_another_layout():
    torch = package("torch")
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 1, 3), torch.nn.Flatten(), torch.nn.Linear(36, 1))
    images = np.random.default_rng(5).normal(size=(6, 8, 8, 3))
    for x, remedy in ((images, "give X.transpose(0, 3, 1, 2)"), (images[0].T, "give X[None]")):
        with pytest.raises(RowsError, match=f"the likely cause is .*{re.escape(remedy)}"):
            rows_of(net, x)
    grey = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 3), torch.nn.Flatten())
    with pytest.raises(RowsError, match=r"without a channel: give X\[:, None\]"):
        rows_of(grey, images[..., 0])
    with pytest.raises(RowsError, match=r"flat images: give X.reshape\(-1, 1, 28, 28\), or"):
        rows_of(grey, images.reshape(6, -1))
    data = torch.utils.data.TensorDataset(torch.zeros(8, 3))
    for given, call in ((torch.utils.data.DataLoader(data, 4), "concatenate"), (data, "stack")):
        with pytest.raises(TypeError, match="of torch: give its inputs, as np") as refused:
            rows_of(x=given)
        made = eval(str(refused.value).partition(", as ")[2], {"np": np, "X": given})
        assert made.shape == (8, 3) and call in str(refused.value)
    for given in ([images[0], 0], list(torch.zeros(4, 3))):
        with pytest.raises(TypeError, match=r"give X\[0\] if it is a batch .* torch.stack\(X\) if"):
            rows_of(x=[torch.tensor(each) for each in given])
    with pytest.raises(TypeError, match="X is a dict of 'x': give one of its arrays"):
        rows_of(x={"x": X})
    exact = torch.tensor(X).bfloat16().float().numpy()
    for given in (torch.tensor(X).bfloat16(), torch.tensor(exact, requires_grad=True)):
        assert bits(rows_of(x=given)) == bits(rows_of(x=exact))


def test_nothing_is_said_without_evidence():
    hostile = type("Hostile", (), dict.fromkeys(("__dict__", "dtype"), property(lambda _: 1 / 0)))
    seen = "an output changes by 1 if other rows are beside it"
    assert cause(hostile(), seen) == cause(lambda x: x - x.mean(), seen) == cause(seeded, "") == ""

"""Models of other packages as functions of arrays, without warnings."""

import functools
import gc
import pickle
import threading
import warnings

import numpy as np
import pytest

from kit import SAMPLES, X, Z, certreg, estimator, model, no_warnings, package, parametrize, rows_of
from kit import same
from certreg import OnnxModel, as_model
from certreg.models import device_model, is_factory, writable
from certreg.frames import names_of


def table(inputs=3, rows=200):
    """Features and a target, the same for all."""
    X = np.random.default_rng(7).normal(size=(rows, inputs))
    return X, X[:, 0] + X[:, 1] * X[:, 2]


def framed(names="abc"):
    """The same in a DataFrame."""
    X, y = table()
    return package("pandas").DataFrame(X, columns=list(names)), y


def agrees(given, plain, inputs=3, **more):
    """Certificates of a model of another package are the same as with a plain function, and
    there are no warnings."""
    z = np.resize(Z, inputs)
    with certreg.Estimator(plain, inputs, 600, seed=3, **more) as e:
        wanted = e.certify(z, 0.25, 600, 1.0)
    with no_warnings(), certreg.Estimator(given, inputs, 600, seed=3, **more) as e:
        assert same(e.certify(z, 0.25, 600, 1.0), wanted)
    assert wanted.prediction != 0


def read_only(inputs=3):
    x = table(inputs)[0].astype(np.float32)
    x.flags.writeable = False
    return x


def test_classifiers_are_refused_with_what_to_give():
    linear = package("sklearn.linear_model")
    pipeline, (x, y) = package("sklearn.pipeline"), table()
    classifier = linear.LogisticRegression().fit(x, y > 0)
    for model in (classifier, pipeline.make_pipeline(classifier)):
        with pytest.raises(TypeError, match="is a classifier .*, lambda x: model.predict_proba"):
            rows_of(model)
    other = type("Other", (Fitted,), {"_estimator_type": "classifier"})()  # as CatBoost has it
    with pytest.raises(TypeError, match="is a classifier .Other"):
        as_model(other)
    assert as_model(classifier.predict) and as_model(Fitted())  # labels may be meant as numbers
    assert rows_of(lambda x: classifier.predict_proba(x)[:, 1]).radius.max() > 0


class Fitted:
    def predict(self, x):
        return model(x)


class Empty:
    def __call__(self, x):
        return model(x)

    def __len__(self):
        return 0  # which makes it false


class Made:
    def __call__(self, x):
        return x


@parametrize("f", model, np.sum, functools.partial(np.mean, axis=1))
def test_functions_stay_as_they_are(f):
    assert as_model(f) is f
    with pytest.raises(TypeError, match="class Fitted: give an instance.* lambda: Fitted()"):
        as_model(Fitted)


@parametrize("made", Fitted(), Empty())
def test_what_has_predict_or_a_call_is_a_model(made):
    agrees(made, model)


@parametrize("thing", 3, "model.onnx", [model])
def test_anything_else_is_refused(thing):
    with pytest.raises(TypeError, match="model is (int|str|list); it must be"):
        certreg.Estimator(thing, 3, 100)
    with pytest.raises(TypeError, match="on a device"):
        device_model(thing)


LOAD = functools.partial(OnnxModel, "model.onnx")


@parametrize(
    "f, factory",
    *((f, True) for f in (lambda: 0, lambda path="m.onnx": 0, Made, lambda **more: 0, LOAD)),
    *((f, False) for f in (model, Made(), lambda *x: x, lambda *, path: path, lambda x: x)),
    *((f, False) for f in (np.sum, np.exp, 3, OnnxModel)),
)
def test_factories_need_no_argument(f, factory):
    assert is_factory(f) == factory


# ---- arrays that may be written to
def test_writable_is_the_same_memory():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)[:, 1:3]
    assert writable(x) is x
    x.flags.writeable = False
    y = writable(x)
    assert y.flags.writeable and not x.flags.writeable
    assert (y.shape, y.strides, y.dtype) == (x.shape, x.strides, x.dtype)
    assert y.ctypes.data == x.ctypes.data
    y[0, 0] = 9
    assert x[0, 0] == 9
    x = np.full(1 << 16, 5, np.float32)
    x.flags.writeable = False
    y = writable(x)
    del x
    gc.collect()  # the memory is kept
    others = [np.zeros(1 << 16, np.float32) for _ in range(8)]
    assert (y == 5).all(), len(others)


def test_models_may_overwrite_their_rows():
    """Nothing reads them again: the gradient's noise is drawn anew from the seed."""

    def spoils(x):
        y = model(x)
        writable(x)[:] = np.nan
        return y

    ask, answers = certreg.Question(0.5, method="asymptotic", constraints="ECGM"), []
    for f in (model, spoils):
        with estimator(f, lo=-9, hi=9, constraints="ECGM") as e:
            answers.append(e.certify(Z, 0.25, SAMPLES, ask))
    assert same(*answers)
    assert answers[0].certified


# ---- PyTorch
@pytest.fixture
def torch():
    found = package("torch")
    found.manual_seed(0)
    return found


def net(torch, *more):
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 16), nn.Tanh(), *more, nn.Linear(16, 1))


def plain(torch, net):
    """As NumPy sees it, by a copy."""

    def f(x):
        with torch.no_grad():
            return net(torch.tensor(np.array(x))).numpy()

    return f


def test_modules_are_models(torch):
    with pytest.raises(TypeError, match="class Tanh: give an instance.* factory lambda: Tanh()"):
        rows_of(torch.nn.Tanh)
    one = net(torch)
    agrees(one, plain(torch, one))


def test_calls_of_modules_are_in_evaluation_mode_and_leave_each_part_in_its_own(torch):
    one, x = net(torch, torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(16)), read_only()
    f, batches = as_model(one), one[3].num_batches_tracked
    y = f(x)
    assert all(part.training for part in one.modules())
    one[2].eval()
    np.testing.assert_array_equal(f(x), y)
    assert [part.training for part in one] == [True, True, False, True, True] and one.training
    one.eval()[3].train()
    np.testing.assert_array_equal(f(x), y)
    assert [part.training for part in one] == [False] * 3 + [True, False] and not one.training
    assert batches == 0
    with pytest.raises(RuntimeError):
        f(x[:, :2])
    assert one[3].training


def test_threads_share_a_module_in_evaluation_mode(torch):
    one, modes, both = net(torch, torch.nn.Dropout(0.5)), [], threading.Barrier(2)
    begun, over = threading.Event(), threading.Event()

    def forward(module, given):
        begun.set()
        both.wait(9)
        if threading.current_thread() is second:
            over.wait(9)  # the first call, which found the module in training mode
        modes.append(one[2].training)

    one.register_forward_pre_hook(forward)
    first, second = (threading.Thread(target=as_model(one), args=[X[:32]]) for _ in range(2))
    first.start()
    begun.wait(9)
    second.start()
    first.join()
    over.set()
    second.join()
    assert modes == [False] * 2 and all(part.training for part in one.modules())


@pytest.mark.parametrize("scripted", [False, True])
def test_a_network_computes_rows_that_suit_its_largest_layer(torch, scripted):
    widths, sizes, x = [1000, 8000], [], np.zeros((5000, 4), np.float32)
    for width in widths:
        one = torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.Linear(width, 1))
        f = as_model(torch.jit.script(one) if scripted else one)
        f(x[:32])
        assert f.piece == 0  # nothing is to be divided yet
        f(x)
        sizes.append(f.piece)
    assert sizes == ([2048, 2048] if scripted else [393, 49])


def test_networks_may_return_their_own_memory(torch):
    class Own(torch.nn.Module):
        def forward(self, x):
            return own[: len(x)].copy_(x[:, :1])

    count = 3 * 2**12
    own, x = torch.empty(count, 1), np.arange(count, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(as_model(Own())(x), x)


def test_nothing_is_copied_and_nothing_warned_about(torch):
    seen, x = [], read_only()[:32]

    class Same(torch.nn.Module):
        def forward(self, x):
            seen.append(x.data_ptr())
            return x[:, :1]

    with no_warnings():
        y = as_model(Same())(x)
    assert (seen, y.ctypes.data) == ([x.ctypes.data], x.ctypes.data)


def test_other_precisions_are_met(torch):
    double, x = net(torch).double(), read_only()
    with no_warnings():
        y = as_model(double)(x)
    with torch.no_grad():
        wanted = double(torch.tensor(x.astype(np.float64))).numpy()
    np.testing.assert_array_equal(y, wanted)
    assert as_model(net(torch).bfloat16())(x).dtype == np.float32


def test_modules_travel_by_pickle(torch):
    f, x = as_model(net(torch)), read_only()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(x), f(x))
    assert not (is_factory(net(torch)) or is_factory(f))


def test_several_results_and_modules_elsewhere_are_refused(torch):
    class Two(torch.nn.Module):
        def forward(self, x):
            return x, x

    with pytest.raises(TypeError, match="returned tuple"):
        as_model(Two())(read_only())
    with pytest.raises(ValueError, match="on cpu"):
        device_model(net(torch))


def exported(torch, rows=True):
    """A program of torch.export, for any number of rows or for two."""
    export = package("torch.export")
    free = {"dynamic_shapes": ({0: export.Dim("rows")},)} if rows else {}
    return export.export(net(torch).eval(), (torch.ones(2, 3),), **free)


def test_exported_programs_are_models(torch):
    program = exported(torch)
    torch.manual_seed(0)
    wanted = plain(torch, net(torch).eval())
    for given in (program, program.module()):
        agrees(given, wanted)
        assert not is_factory(given)
    f = as_model(exported(torch, rows=False))
    assert f(read_only()[:2]).shape == (2, 1)
    with pytest.raises(ValueError, match=r"refuses \(200, 3\) .*export it for any number of rows"):
        f(read_only())


def test_modules_take_frames_of_numbers(torch):
    one, (frame, _) = net(torch), framed()
    with pytest.warns(UserWarning, match="the model has no names .* taken in the order of X, a, b"):
        rows = rows_of(one, frame[:9])
    assert same(rows.radius.tolist(), rows_of(one, frame[:9].to_numpy()).radius.tolist())
    with pytest.raises(TypeError, match="takes arrays of numbers, and a column of X holds other"):
        as_model(one)(frame.assign(a="text"))


# ---- scikit-learn
def pipeline():
    ensemble = package("sklearn.ensemble")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    trees = ensemble.GradientBoostingRegressor(n_estimators=20, random_state=0)
    return make_pipeline(StandardScaler(), trees)


def test_pipelines_are_models():
    fitted = pipeline().fit(*table())
    agrees(fitted, fitted.predict)
    assert as_model(fitted) == fitted.predict  # nothing comes between


def test_models_that_were_fitted_to_frames_do_not_warn():
    (X, y), (frame, _) = table(), framed()
    fitted = pipeline().fit(frame, y)
    with pytest.raises(UserWarning, match="feature names"), no_warnings():
        fitted.predict(X)  # which is why
    agrees(fitted, pipeline().fit(X, y).predict)
    f = as_model(fitted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(frame), fitted.predict(frame))
    with pytest.raises(ValueError, match="features"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f(X[:, :2])


# ---- boosting, fitted to arrays and to frames, and called with arrays
@parametrize("fitted_to", table, framed)
def test_xgboost(fitted_to):
    xgboost = package("xgboost")
    fitted = xgboost.XGBRegressor(n_estimators=20, n_jobs=1).fit(*fitted_to())
    booster = fitted.get_booster()
    names = booster.feature_names

    def plain(x):
        return booster.predict(xgboost.DMatrix(np.array(x), feature_names=names))

    agrees(fitted, plain)
    agrees(booster, plain)
    assert callable(pickle.loads(pickle.dumps(as_model(booster))))
    assert not is_factory(booster)


@parametrize("fitted_to", table, framed)
def test_linear_boosters_of_xgboost(fitted_to):
    """Which take no arrays."""
    xgboost, (x, y) = package("xgboost"), fitted_to()
    data = xgboost.DMatrix(x, y)
    booster = xgboost.train({"booster": "gblinear", "nthread": 1}, data, 9)

    def plain(x):
        return booster.predict(xgboost.DMatrix(np.array(x), feature_names=data.feature_names))

    agrees(booster, plain)
    f = pickle.loads(pickle.dumps(as_model(booster)))
    np.testing.assert_array_equal(f(x), booster.predict(data))
    assert names_of(f, "abc") == data.feature_names


@parametrize("fitted_to, threads", (table, 1), (framed, None))
def test_lightgbm(fitted_to, threads):
    lightgbm, (X, y) = package("lightgbm"), fitted_to()
    fitted = lightgbm.LGBMRegressor(n_estimators=20, verbose=-1, n_jobs=threads).fit(X, y)
    agrees(fitted, fitted.booster_.predict)
    agrees(fitted.booster_, fitted.booster_.predict)
    np.testing.assert_array_equal(as_model(fitted)(X), fitted.predict(X))
    assert as_model(fitted).func == fitted.booster_.predict


def test_a_predict_of_its_own_is_the_model():
    """It is another function than that of the package, which the adapters would call faster."""
    lightgbm, xgboost = package("lightgbm"), package("xgboost")
    X, y = table()

    class Log(lightgbm.LGBMRegressor):
        def predict(self, X, **more):
            return np.exp(super().predict(X, **more))

    fitted = Log(n_estimators=5, verbose=-1).fit(X, y)
    short = lightgbm.LGBMRegressor(n_estimators=9, verbose=-1).fit(X, y)
    short.predict = functools.partial(short.predict, num_iteration=3)
    for one in (fitted, short):
        np.testing.assert_array_equal(as_model(one)(X), one.predict(X))

    class Twice(xgboost.Booster):
        def predict(self, X):
            return 2 * super().inplace_predict(X)

    booster, twice = xgboost.XGBRegressor(n_estimators=5).fit(X, y).get_booster(), Twice()
    twice.load_model(booster.save_raw())
    np.testing.assert_allclose(as_model(twice)(X), 2 * as_model(booster)(X))


def test_lightgbm_stops_where_it_was_stopped():
    lightgbm, (X, y) = package("lightgbm"), table()
    fitted = lightgbm.LGBMRegressor(n_estimators=200, verbose=-1, learning_rate=0.5)
    stop = lightgbm.early_stopping(2, verbose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the argument has another name in later versions
        fitted.fit(X, y, eval_set=[(X[:50], -y[:50])], callbacks=[stop])
    assert fitted.best_iteration_ < 200
    np.testing.assert_array_equal(as_model(fitted)(X), fitted.predict(X))

"""Models of other packages as functions of arrays, without warnings."""

import functools
import gc
import os
import pickle
import unittest
import warnings

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")  # several programs run at a time

from support import certreg, estimator, model, no_warnings, package, run, same, SAMPLES, Z
from certreg import OnnxModel, as_model
from certreg.models import device_model, is_factory, writable


def table(inputs=3, rows=200):
    """Features and a target, the same for all."""
    X = np.random.default_rng(7).normal(size=(rows, inputs))
    return X, X[:, 0] + X[:, 1] * X[:, 2]


class Models(unittest.TestCase):
    def agrees(self, given, plain, inputs=3, **more):
        """Certificates of a model of another package are the same as with a plain function, and
        there are no warnings."""
        z = np.resize(Z, inputs)
        with certreg.Estimator(plain, inputs, 600, seed=3, **more) as e:
            wanted = e.certify(z, 0.25, 600, 1.0)
        with no_warnings(), certreg.Estimator(given, inputs, 600, seed=3, **more) as e:
            self.assertTrue(same(e.certify(z, 0.25, 600, 1.0), wanted))
        self.assertNotEqual(wanted.prediction, 0)

    def read_only(self, inputs=3):
        x = table(inputs)[0].astype(np.float32)
        x.flags.writeable = False
        return x


class Plain(Models):
    def test_functions_stay_as_they_are(self):
        for f in (model, np.sum, functools.partial(np.mean, axis=1)):
            self.assertIs(as_model(f), f)

    def test_what_has_predict_is_a_model(self):
        class Fitted:
            def predict(self, x):
                return model(x)

        class Empty:
            def __call__(self, x):
                return model(x)

            def __len__(self):
                return 0  # which makes it false

        self.agrees(Fitted(), model)
        self.agrees(Empty(), model)
        self.assertIs(as_model(Fitted), Fitted)  # a class is a callable, and fitted it is not

    def test_anything_else_is_refused(self):
        for thing in (3, "model.onnx", [model]):
            with self.assertRaisesRegex(TypeError, "model is (int|str|list); it must be"):
                certreg.Estimator(thing, 3, 100)
            with self.assertRaisesRegex(TypeError, "on a device"):
                device_model(thing)
        with estimator(None) as e:
            e.begin(Z, 0.25)
            self.assertEqual(e.draw(0, 2).shape, (2, 3))

    def test_factories_need_no_argument(self):
        class Made:
            def __call__(self, x):
                return x

        def anything(*x):
            return x

        def named(*, path):
            return path

        load = functools.partial(OnnxModel, "model.onnx")
        for factory in (lambda: 0, lambda path="model.onnx": 0, Made, lambda **more: 0, load):
            self.assertTrue(is_factory(factory), factory)
        for other in (model, Made(), anything, named, lambda x: x, np.sum, np.exp, 3, OnnxModel):
            self.assertFalse(is_factory(other), other)


class Writable(unittest.TestCase):
    def test_it_is_the_same_memory(self):
        x = np.arange(12, dtype=np.float32).reshape(3, 4)[:, 1:3]
        self.assertIs(writable(x), x)
        x.flags.writeable = False
        y = writable(x)
        self.assertTrue(y.flags.writeable)
        self.assertFalse(x.flags.writeable)
        self.assertEqual((y.shape, y.strides, y.dtype), (x.shape, x.strides, x.dtype))
        self.assertEqual(y.ctypes.data, x.ctypes.data)
        y[0, 0] = 9
        self.assertEqual(x[0, 0], 9)

    def test_it_keeps_the_memory(self):
        x = np.full(1 << 16, 5, np.float32)
        x.flags.writeable = False
        y = writable(x)
        del x
        gc.collect()
        others = [np.zeros(1 << 16, np.float32) for _ in range(8)]
        self.assertTrue((y == 5).all(), len(others))

    def test_models_may_overwrite_their_rows(self):
        """Nothing reads them again: the gradient's noise is drawn anew from the seed."""

        def spoils(x):
            y = model(x)
            writable(x)[:] = np.nan
            return y

        ask = certreg.Question(0.5, method="asymptotic", constraints="ECGM")
        answers = []
        for f in (model, spoils):
            with estimator(f, lo=-9, hi=9, constraints="ECGM") as e:
                answers.append(e.certify(Z, 0.25, SAMPLES, ask))
        self.assertTrue(same(*answers))
        self.assertTrue(answers[0].certified)


class Torch(Models):
    def setUp(self):
        self.torch = package("torch")
        self.torch.manual_seed(0)

    def net(self, *more):
        nn = self.torch.nn
        return nn.Sequential(nn.Linear(3, 16), nn.Tanh(), *more, nn.Linear(16, 1))

    def plain(self, net):
        """As NumPy sees it, by a copy."""

        def f(x):
            with self.torch.no_grad():
                return net(self.torch.tensor(np.array(x))).numpy()

        return f

    def test_modules_are_models(self):
        net = self.net()
        self.agrees(net, self.plain(net))

    def test_modules_are_put_into_evaluation_mode(self):
        net = self.net(self.torch.nn.Dropout(0.5), self.torch.nn.BatchNorm1d(16))
        f = as_model(net)
        self.assertFalse(net.training or net[2].training)
        x = self.read_only()
        y = f(x)
        net.train()
        np.testing.assert_array_equal(f(x), y)
        self.assertFalse(net.training or net[2].training)

    def test_nothing_is_copied_and_nothing_warned_about(self):
        seen = []

        class Same(self.torch.nn.Module):
            def forward(self, x):
                seen.append(x.data_ptr())
                return x[:, :1]

        x = self.read_only()
        with no_warnings():
            y = as_model(Same())(x)
        self.assertEqual((seen, y.ctypes.data), ([x.ctypes.data], x.ctypes.data))

    def test_modules_may_work_in_place(self):
        def net(inplace):
            self.torch.manual_seed(1)
            nn = self.torch.nn
            return nn.Sequential(nn.ReLU(inplace=inplace), nn.Linear(3, 1))

        self.agrees(net(True), self.plain(net(False)))

    def test_other_precisions_are_met(self):
        net = self.net().double()
        x = self.read_only()
        with no_warnings():
            y = as_model(net)(x)
        with self.torch.no_grad():
            wanted = net(self.torch.tensor(x.astype(np.float64))).numpy()
        np.testing.assert_array_equal(y, wanted.astype(np.float32))
        self.assertEqual(as_model(self.net().bfloat16())(x).dtype, np.float32)

    def test_modules_travel_by_pickle(self):
        f, x = as_model(self.net()), self.read_only()
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(x), f(x))
        self.assertFalse(is_factory(self.net()) or is_factory(f))

    def test_several_results_are_refused(self):
        class Two(self.torch.nn.Module):
            def forward(self, x):
                return x, x

        with self.assertRaisesRegex(TypeError, "returned tuple"):
            as_model(Two())(self.read_only())

    def test_a_module_for_a_device_lies_there(self):
        with self.assertRaisesRegex(ValueError, "on cpu"):
            device_model(self.net())

    def test_dlpack_reaches_torch(self):
        from certreg import _dlpack

        a = np.arange(6, dtype=np.float32).reshape(2, 3)
        made = _dlpack.capsule(a.ctypes.data, a.shape, (_dlpack.CPU, 0))
        tensor = self.torch.utils.dlpack.from_dlpack(made)
        _dlpack.withdraw(made)
        self.assertEqual(tensor.data_ptr(), a.ctypes.data)
        np.testing.assert_array_equal(tensor.numpy(), a)


class ScikitLearn(Models):
    def setUp(self):
        package("sklearn")

    def pipeline(self):
        from sklearn.ensemble import GradientBoostingRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(
            StandardScaler(), GradientBoostingRegressor(n_estimators=20, random_state=0)
        )

    def test_pipelines_are_models(self):
        fitted = self.pipeline().fit(*table())
        self.agrees(fitted, fitted.predict)
        self.assertEqual(as_model(fitted), fitted.predict)  # nothing comes between

    def test_models_that_were_fitted_to_frames_do_not_warn(self):
        pandas = package("pandas")
        X, y = table()
        fitted = self.pipeline().fit(pandas.DataFrame(X, columns=list("abc")), y)
        with self.assertRaisesRegex(UserWarning, "feature names"), no_warnings():
            fitted.predict(X)  # which is why
        self.agrees(fitted, self.pipeline().fit(X, y).predict)
        f = as_model(fitted)
        frame = pandas.DataFrame(X, columns=list("abc"))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(frame), fitted.predict(frame))
        with self.assertRaisesRegex(ValueError, "features"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            f(X[:, :2])

    def test_several_outputs_stay_several(self):
        from sklearn.linear_model import LinearRegression

        X, y = table()
        fitted = LinearRegression().fit(X, np.stack([y, -y], 1))
        self.agrees(fitted, fitted.predict, outputs=2)


class Boosting(Models):
    """Fitted to arrays and to frames, and called with arrays."""

    def both(self):
        pandas = package("pandas")
        X, y = table()
        return (X, y), (pandas.DataFrame(X, columns=list("abc")), y)

    def test_xgboost(self):
        xgboost = package("xgboost")
        for X, y in self.both():
            fitted = xgboost.XGBRegressor(n_estimators=20, n_jobs=1).fit(X, y)
            booster = fitted.get_booster()
            names = booster.feature_names

            def plain(x):
                return booster.predict(xgboost.DMatrix(np.array(x), feature_names=names))

            self.agrees(fitted, plain)
            self.agrees(booster, plain)
            self.assertTrue(callable(pickle.loads(pickle.dumps(as_model(booster)))))
            self.assertFalse(is_factory(booster))

    def test_lightgbm(self):
        lightgbm = package("lightgbm")
        for X, y in self.both():
            for threads in (1, None):
                fitted = lightgbm.LGBMRegressor(n_estimators=20, verbose=-1, n_jobs=threads)
                fitted.fit(X, y)
                self.agrees(fitted, fitted.booster_.predict)
                self.agrees(fitted.booster_, fitted.booster_.predict)
                np.testing.assert_array_equal(as_model(fitted)(X), fitted.predict(X))
                self.assertEqual(as_model(fitted).func, fitted.booster_.predict)

    def test_a_predict_of_its_own_is_the_model(self):
        """It is another function than that of the package, which the adapters would call faster."""
        lightgbm, xgboost = package("lightgbm"), package("xgboost")
        X, y = table()

        class Log(lightgbm.LGBMRegressor):
            def predict(self, X, **more):
                return np.exp(super().predict(X, **more))

        fitted = Log(n_estimators=5, verbose=-1).fit(X, y)
        np.testing.assert_array_equal(as_model(fitted)(X), fitted.predict(X))
        short = lightgbm.LGBMRegressor(n_estimators=9, verbose=-1).fit(X, y)
        short.predict = functools.partial(short.predict, num_iteration=3)
        np.testing.assert_array_equal(as_model(short)(X), short.predict(X))

        class Twice(xgboost.Booster):
            def predict(self, X):
                return 2 * super().inplace_predict(X)

        booster = xgboost.XGBRegressor(n_estimators=5).fit(X, y).get_booster()
        twice = Twice()
        twice.load_model(booster.save_raw())
        np.testing.assert_allclose(as_model(twice)(X), 2 * as_model(booster)(X))

    def test_lightgbm_stops_where_it_was_stopped(self):
        lightgbm = package("lightgbm")
        X, y = table()
        fitted = lightgbm.LGBMRegressor(n_estimators=200, verbose=-1, learning_rate=0.5)
        stop = lightgbm.early_stopping(2, verbose=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the argument has another name in later versions
            fitted.fit(X, y, eval_set=[(X[:50], -y[:50])], callbacks=[stop])
        self.assertLess(fitted.best_iteration_, 200)
        np.testing.assert_array_equal(as_model(fitted)(X), fitted.predict(X))


if __name__ == "__main__":
    run()

"""check_model finds what makes certificates wrong, and nothing in models that are right."""

import unittest

import numpy as np

from support import certreg, model, no_warnings, package, run, Z
from certreg import Finding, check_model

X = np.random.default_rng(3).normal(size=(100, 3))


def kinds(f, given=X, **more):
    """What was found. Every sentence has a number of its size, and is one line."""
    with no_warnings():
        found = check_model(f, given, **more)
    for finding in found:
        assert finding.size > 0 and "\n" not in finding.text, finding
    return [finding.kind for finding in found]


class Sane(unittest.TestCase):
    def test_nothing_is_found(self):
        net = np.random.default_rng(4).normal(size=(3, 50)).astype(np.float32)
        for f in (
            model,
            lambda x: np.tanh(x @ net).sum(1),
            lambda x: np.tanh(x @ net)[:, :3],
            lambda x: np.floor(x[:, 0]),
            lambda x: np.zeros(len(x)),
            lambda x: 1e6 + x[:, 0],
            lambda x: 1000 + 1e-6 * (x[:, 0] + len(x)),  # a change as by rounding in another order
            lambda: model,  # a factory
        ):
            self.assertEqual(kinds(f), [])
            self.assertEqual(kinds(f, sigma=0.25), [])
            self.assertEqual(kinds(f, [Z], sigma=0.25, scale=[1, 0, 2], calls=19), [])

    def test_inputs_have_any_shape(self):
        images = np.random.default_rng(5).random((10, 4, 4))
        self.assertEqual(kinds(lambda x: x.mean((1, 2)), images), [])

    def test_large_inputs_with_room_for_the_noise(self):
        self.assertEqual(kinds(lambda x: x[:, 0] - 1e4, 1e4 + X, sigma=1), [])
        times = np.array([[1.7e9, 3.0], [1.7e9 + 100, 2.0]])
        self.assertEqual(kinds(lambda x: x[:, 1], times, sigma=1, scale=[0, 1]), [])

    def test_models_of_trees(self):
        package("sklearn")
        from sklearn.ensemble import GradientBoostingRegressor

        fitted = GradientBoostingRegressor(random_state=0).fit(X, model(X))
        self.assertEqual(kinds(fitted), [])
        self.assertEqual(kinds(fitted, sigma=0.01), [])

    def test_frames(self):
        pandas = package("pandas")
        frame = pandas.DataFrame({"a": X[:, 0], "town": ["n", "s"] * 50})
        self.assertEqual(kinds(lambda f: f["a"] + (f["town"] == "n"), frame), [])
        self.assertEqual(kinds(lambda f: f["a"] + (f["town"] == "n").mean(), frame), ["batch"])
        found = check_model(lambda f: f["a"], frame.assign(a=1.7e9), sigma=1)
        self.assertIn("feature 'a' is 1700000000", found[0].text)

    def test_modules_of_torch(self):
        torch = package("torch")
        nn = torch.nn
        net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 1))
        self.assertEqual(kinds(net), [])

        def training(x):
            with torch.no_grad():
                return net.train()(torch.tensor(x)).numpy()

        net[2].p = 0.0
        self.assertEqual(kinds(training), ["batch"])
        net[2].p = 0.5
        self.assertEqual(kinds(training), ["calls"])


class Insane(unittest.TestCase):
    def test_statistics_of_the_batch(self):
        for f in (
            lambda x: x[:, 0] - x[:, 0].mean(),
            lambda x: (x[:, 0] - 0.1) / x.std(),
            lambda x: x[:, 0] * len(x),
            lambda x: x[:, 0] + 0.01 * x.max(),
        ):
            self.assertEqual(kinds(f), ["batch"])
            self.assertEqual(kinds(f, sigma=0.25), ["batch"])

    def test_batches_of_other_sizes_that_fail(self):
        def fixed(x):
            return x.reshape(66, 3)[:, 0]

        self.assertEqual(kinds(fixed), ["batch"])
        self.assertIn("a call with 1 of 66 rows failed", check_model(fixed, X)[0].text)

    def test_outputs_that_are_lost_in_other_batches(self):
        found = check_model(lambda x: np.where(len(x) == 66, x[:, 0], np.nan), X)
        self.assertEqual([(f.kind, f.size) for f in found], [("batch", np.inf)])

    def test_the_order_of_rows(self):
        self.assertEqual(kinds(lambda x: x[:, 0] + np.arange(len(x))), ["order"])
        self.assertEqual(kinds(lambda x: np.cumsum(x[:, 0])), ["order"])
        self.assertEqual(kinds(lambda x: np.r_[x[:-1, 0], x[-1, 1]]), ["batch", "order"])

    def test_state_between_calls(self):
        calls = []

        def counts(x):
            calls.append(0)
            return model(x) + np.random.default_rng(len(calls)).normal(size=len(x))

        self.assertEqual(kinds(counts), ["calls"])
        self.assertEqual(kinds(lambda x: (calls.append(0), model(x) * len(calls))[1]), ["calls"])

    def test_rounding(self):
        times = 1.7e9 + np.random.default_rng(6).uniform(0, 86400, (50, 1))
        for more in (dict(scale=1, sigma=1), dict(sigma=100), dict()):
            self.assertEqual(kinds(lambda x: (x[:, 0] - 1.7e9) / 60, times, **more), ["float32"])
        found = check_model(lambda x: x[:, 0], times, sigma=1)[0]
        self.assertAlmostEqual(found.size, 1 / 128)
        self.assertRegex(found.text, "feature 0 is 17000[0-9.]+, .*noise of 1, .* at least 32768:")
        found = check_model(lambda x: x[:, 0], times, calls=226)[0]
        self.assertAlmostEqual(found.size, 0.1 * times.std() / 128)
        self.assertEqual(kinds(lambda x: np.sin(1e7 * x[:, 0])), ["float32"])

    def test_the_library_refuses_where_the_check_warns(self):
        """Noise just above and just below the least that float32 can represent."""
        for sigma, refused in ((32768, False), (32767, True)):
            found = kinds(lambda x: x[:, 0], [[1.7e9]], sigma=sigma)
            self.assertEqual(found, ["float32"] if refused else [])
            with certreg.Estimator(lambda x: x[:, 0], 1, 300) as e:
                if refused:
                    with self.assertRaisesRegex(certreg.CertregError, "cannot carry"):
                        e.begin([1.7e9], sigma)
                else:
                    e.begin([1.7e9], sigma)

    def test_outputs_that_are_not_finite(self):
        def root(x):
            with np.errstate(invalid="ignore"):
                return np.sqrt(x[:, 0])

        self.assertEqual(kinds(root), ["not finite"])
        found = check_model(lambda x: np.where(x[:, 0] > 0, np.inf, 0), X)
        self.assertEqual([f.kind for f in found], ["not finite"])
        self.assertEqual(kinds(lambda x: np.full(len(x), np.nan)), ["not finite"])
        beside = kinds(lambda x: root(x) + x[:, 1].mean())
        self.assertEqual(beside, ["not finite", "batch"])

    def test_shapes(self):
        for f in (
            lambda x: x.sum(),
            lambda x: x[:-1, 0],
            lambda x: x[:, :, None],
            lambda x: x[:, :0],
            lambda x: np.full(len(x), "a"),
            lambda x: None,
        ):
            with no_warnings():
                self.assertEqual([finding.kind for finding in check_model(f, X)], ["shape"])
        self.assertEqual(kinds(lambda x: x[:, 0].squeeze()), ["shape"])  # of one row


class Calls(unittest.TestCase):
    def used(self, f, calls):
        """How many rows the model gets, and what is told about them."""
        rows, told = [], []

        def counted(x):
            rows.append(len(x))
            return f(x)

        check_model(counted, X, calls=calls, progress=lambda *counts: told.append(counts))
        return sum(rows), told

    def test_they_are_as_many_as_were_asked_for(self):
        for calls in (19, 20, 57, 300, 1000):
            used, told = self.used(model, calls)
            self.assertTrue(0.8 * calls <= used <= calls, (used, calls))
            self.assertEqual((told[0], told[-1]), ((0, calls), (calls, calls)))
            self.assertEqual(told, sorted(told))
            self.assertGreater(len(told), 6)

    def test_progress_ends_though_the_model_is_refused(self):
        self.assertEqual(self.used(lambda x: x.sum(), 300)[1], [(0, 300), (66, 300), (300, 300)])


class Arguments(unittest.TestCase):
    def test_a_finding_reads_as_a_sentence(self):
        self.assertEqual(str(Finding("order", "rows matter", 1.0)), "order: rows matter")

    def test_the_seed_decides(self):
        found = [check_model(lambda x: x - x.mean(0), X, seed=s)[0].size for s in (1, 1, 2)]
        self.assertEqual(found[0], found[1])
        self.assertNotEqual(found[0], found[2])

    def test_what_does_not_fit_is_refused(self):
        for given, more, text in (
            (X[0], {}, r"X has shape \(3,\); it must be \(rows, features\)"),
            (X[:0], {}, "X has shape"),
            (X[:1], {}, "no feature of X gets noise: give sigma"),
            (X, dict(scale=0), "no feature of X gets noise"),
            (X, dict(sigma=-1), "sigma is -1; it must be positive"),
            (X, dict(scale=-1), "scale must not be negative"),
            (X, dict(scale=[1, 2]), "scale has shape"),
            (X, dict(calls=18), "calls is 18; it must be from 19"),
            (X * np.nan, {}, "NaN or infinite"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                check_model(model, given, **more)
        with self.assertRaises(ZeroDivisionError):
            check_model(lambda x: 1 // 0, X)

    def test_the_model_gets_rows_as_from_an_estimator(self):
        def writes(x):
            x += 1
            return model(x)

        with (
            self.assertRaisesRegex(ValueError, "read-only"),
            certreg.Estimator(writes, 3, 300) as e,
        ):
            e.certify(Z, 0.25, 300, 0.5)
        with self.assertRaisesRegex(ValueError, "read-only"):
            check_model(writes, X)


if __name__ == "__main__":
    run()

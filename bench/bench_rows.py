"""What certify_rows costs beyond the library and the model: 50 rows of a scikit-learn model, 1,000
samples, 12 features, and one call of the model for each row, by certify_rows and by bare calls of
the library's functions, whose callback only calls the model. The table has the median of 21 pairs.
Then what one certificate takes, and the import; the least of some, of the processor.

    make bench-rows"""

import ctypes as C
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge

from certreg import Estimator, Question, structs as S, certify_rows
from certreg.library import lib
from page import show

FEATURES, SAMPLES, FEW, RUNS = 12, 1000, 50, 21
RNG = np.random.default_rng(0)
X = RNG.normal(size=(10_000, FEATURES)).astype(np.float32)
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=len(X))


class Bare:
    """The library by its functions alone."""

    def __init__(self, model):
        predict, shape = model.predict, (SAMPLES, FEATURES)

        def evaluate(_, batch):
            b = batch[0]
            x = np.frombuffer((C.c_float * (SAMPLES * FEATURES)).from_address(b.x), np.float32)
            y = np.frombuffer((C.c_float * SAMPLES).from_address(b.y), np.float32)
            y[:] = predict(x.reshape(shape))
            return 0

        self.evaluate, self.handle = S.EVAL(evaluate), S.pointer()
        m = S.Model(eval=self.evaluate, inputs=FEATURES, outputs=1, batch=SAMPLES)
        plan = S.Plan(max_samples=SAMPLES, seed=1)
        why = S.Error()
        made = C.byref(self.handle)
        if lib.certreg_estimator_create(None, C.byref(m), C.byref(plan), C.byref(why), made):
            raise SystemExit(why.text.decode())

    def rows(self):
        question, out = S.Question(tolerance=0.5), S.Certificate()
        ask = C.byref(question), 1, C.byref(out)
        for i in range(FEW):
            address = X.ctypes.data + i * X.strides[0]
            bad = lib.certreg_estimator_begin_level(self.handle, address, 0.25, i, 0)
            if bad or lib.certreg_certify(self.handle, SAMPLES, *ask):
                raise SystemExit("the library failed")
        return out.radius


def by_package(model):
    rows = certify_rows(
        model, X[:FEW], 0.25, 0.5, samples=SAMPLES, batch=SAMPLES, seed=1, progress=False
    )
    return rows["radius"][-1, 0, 0]


def timed(call):
    begun = time.perf_counter()
    answer = call()
    return time.perf_counter() - begun, answer


def overhead(model):
    bare, pairs = Bare(model), []
    for _ in range(RUNS):
        (package, one), (library, other) = timed(lambda: by_package(model)), timed(bare.rows)
        if one != other:
            raise SystemExit(f"the package says {one}, the library {other}")
        pairs.append((package, library))
    spent = statistics.median(1e6 * (p - q) / FEW for p, q in pairs)
    share = statistics.median(100 * (p / q - 1) for p, q in pairs)
    return [f"`{type(model).__name__}`", f"{spent:.0f} µs", f"{share:.1f}%"]


def one():
    """Microseconds of begin and certify, with a model that costs next to nothing."""
    times, question = [], Question(0.5)
    with Estimator(lambda x: x[:, 0], 16, max_samples=64, batch=64, seed=1) as e:
        for i in range(2000):
            begun = time.process_time()
            e.begin(np.zeros(16, np.float32), 0.25, i)
            e.certify(64, question)
            times.append(time.process_time() - begun)
    return 1e6 * min(times)


def imported():
    """Milliseconds of the import, of bytecode that is there, where NumPy is imported already."""
    script = "import time, numpy; t = time.process_time(); import certreg; "
    command = [sys.executable, "-c", script + "print(1e3 * (time.process_time() - t))"]
    with tempfile.TemporaryDirectory() as folder:
        changed = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
        env = {**os.environ, **changed}
        return min(float(subprocess.check_output(command, env=env)) for _ in range(9))


def main():
    fitted = (model.fit(X[:2000], Y[:2000]) for model in (Ridge(), GradientBoostingRegressor()))
    rows = [overhead(model) for model in fitted]
    show("rows", ["model", "for each row", "share"], *rows)
    lines = (
        ["[python] begin and certify, 64 samples", f"{one():.0f} µs", "150 µs"],
        ["[python] for each row of certify_rows", rows[0][1], "40 µs"],
        ["[python] import", f"{imported():.0f} ms", "40 ms"],
    )
    show("python", ["", "time", "aim"], *lines)


if __name__ == "__main__":
    main()

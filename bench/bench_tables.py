"""What tables cost beyond the model: certify_rows on models of other packages, 1,000 samples for
each row, next to the model alone, on the same number of noisy rows in batches of its best size, and
to NumPy's noise with such calls. Processor time of one thread, the least of several runs that take
turns. Models without their package are skipped.

    make bench-rows PYTHON=..."""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before NumPy is imported

import pathlib  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402

import numpy as np  # noqa: E402

from certreg import OnnxModel, as_model, certify_rows  # noqa: E402
from page import show  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
SAMPLES, SIGMA, SIZES, RUNS, AIM = 1000, 0.25, (1024, 4096, 16_384, 65_536), 5, 1.15
RNG = np.random.default_rng(0)


def numbers(columns, rows=2000):
    X = RNG.normal(size=(rows, columns))
    return X, X[:, 0] + X[:, 1] * X[:, 2]


def pipeline():
    import pandas
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    X, y = numbers(8)
    X = pandas.DataFrame(X, columns=list("abcdefgh"))
    city, kind = (RNG.choice(labels, len(X)) for labels in (["Bonn", "Oslo", "Rome"], [*"uvwx"]))
    X = X.assign(city=city, kind=kind)
    columns = (StandardScaler(), [*"abcdefgh"]), (OneHotEncoder(), ["city", "kind"])
    whole = make_pipeline(make_column_transformer(*columns), GradientBoostingRegressor())
    return whole.fit(X, y), X


def lightgbm():
    import lightgbm

    X, y = numbers(12)
    return lightgbm.LGBMRegressor(verbose=-1).fit(X, y), X


def mlp():
    from sklearn.neural_network import MLPRegressor

    X, y = numbers(12)
    return MLPRegressor(hidden_layer_sizes=(100, 100), max_iter=20).fit(X, y), X


def onnx():
    import onnxruntime  # noqa: F401

    network = OnnxModel(ROOT / "examples/models/rotation.onnx", columns=range(1))
    return network, RNG.uniform(size=(10, 784))


def torch():
    import torch
    from torch.nn import Linear, Sequential, Tanh

    torch.manual_seed(0)
    hidden = Linear(12, 128), Tanh(), Linear(128, 128), Tanh()
    return Sequential(*hidden, Linear(128, 1)), numbers(12)[0]


CASES = {
    "pipeline": ("ColumnTransformer and GradientBoostingRegressor", pipeline, 400),
    "lightgbm": ("LGBMRegressor", lightgbm, 100),
    "mlp": ("MLPRegressor, 12-100-100-1", mlp, 100),
    "onnx": ("ONNX, 784 inputs", onnx, 3),
    "torch": ("PyTorch, 12-128-128-1", torch, 100),
}


def noisy(X):
    """SAMPLES noisy rows around each row."""
    some = np.repeat(np.arange(len(X)), SAMPLES)
    if not hasattr(X, "iloc"):
        noise = RNG.standard_normal((len(some), *X.shape[1:]), np.float32)
        return X[some].astype(np.float32) + SIGMA * noise
    moved = X.select_dtypes("number").columns
    noise = SIGMA * RNG.standard_normal((len(moved), len(some)), np.float32)
    columns = {name: X[name].to_numpy()[some] + e for name, e in zip(moved, noise)}
    return X.iloc[some].assign(**columns)


def timed(call):
    begun = time.process_time()
    call()
    return time.process_time() - begun


def measured(model, X):
    """Microseconds for each noisy row: the model alone, NumPy and the model, certify_rows."""
    function = as_model(model)
    direct = getattr(model, "predict", function)
    rows = noisy(X)

    def alone(size):
        for at in range(0, len(rows), size):
            direct(rows[at : at + size])

    best = min(SIZES, key=lambda size: min(timed(lambda: alone(size)) for _ in range(3)))
    each = max(1, best // SAMPLES)

    def peer():
        for at in range(0, len(X), each):
            direct(noisy(X[at : at + each]))

    def certified():
        certify_rows(model, X, SIGMA, 0.5, samples=SAMPLES, seed=1, progress=False)

    calls = (lambda: alone(best)), peer, certified
    times = [min(run) for run in zip(*([timed(call) for call in calls] for _ in range(RUNS)))]
    return best, [1e6 * spent / len(rows) for spent in times]


def main():
    lines = []
    for name in sys.argv[1:] or CASES:
        text, make, rows = CASES[name]
        try:
            model, X = make()
        except ImportError as error:
            print(f"tables_{name}: skipped, {error}")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best, (alone, peer, ours) = measured(model, X[:rows])
        ratios = [f"{spent / alone:.2f}" for spent in (peer, ours)]
        lines.append([f"[tables_{name}] {text}", f"{best}", f"{alone:.3g} µs", *ratios, f"{AIM}"])
        print(*lines[-1], flush=True)
    peer = "NumPy and the model"
    head = "", "best batch", "the model, a noisy row", peer, "`certify_rows`", "aim"
    show("tables", head, *lines)


if __name__ == "__main__":
    main()

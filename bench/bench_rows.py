"""What certify_rows costs beyond the library and the model, and how it scales over processes.

    make bench-rows; or bench/bench_rows.py ROWS, where ROWS is for part 2, by default 10,000

1. The overhead of the package: 50 rows of a scikit-learn model, 1,000 samples, 12 features, and
   one call of the model for each row. The overhead is the total time less the time in predict and
   the time that the library reports for the same rows. The median of 21 runs is printed.
2. ROWS rows by one process and by four. With fewer than 4 idle cores compare the processor times,
   not the times on the clock."""

import os
import pathlib
import statistics
import sys
import time

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge

from certreg import Estimator, certify_rows

FEATURES, SAMPLES, FEW, RUNS = 12, 1000, 50, 21
RNG = np.random.default_rng(0)
X = RNG.normal(size=(10_000, FEATURES)).astype(np.float32)
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=len(X))


class Timed:
    """A model that adds up its own time."""

    def __init__(self, model):
        self.function, self.seconds = model.predict, 0.0

    def __call__(self, x):
        begun = time.perf_counter()
        answer = self.function(x)
        self.seconds += time.perf_counter() - begun
        return answer


def by_package(model):
    """Seconds of certify_rows in all, and in the model."""
    timed, begun = Timed(model), time.perf_counter()
    certify_rows(timed, X[:FEW], 0.25, 0.5, samples=SAMPLES, batch=1000, seed=1, progress=False)
    return time.perf_counter() - begun, timed.seconds


def by_library(model):
    """Seconds that the library reports for the same rows."""
    with Estimator(model.predict, FEATURES, SAMPLES, seed=1, batch=1000) as e:
        seconds = 0.0
        for i in range(FEW):
            e.certify(X[i], 0.25, SAMPLES, 0.5, noise_id=i)
            seconds += e.run().library_seconds
    return seconds


def overhead(model):
    rows, shares = [], []
    for _ in range(RUNS):
        (whole, inside), library = by_package(model), by_library(model)
        rows.append(1e6 * (whole - inside - library) / FEW)
        shares.append(100 * (whole / (inside + library) - 1))
    print(
        f"  {type(model).__name__:<28}{statistics.median(rows):>8.1f} us a row"
        f"{statistics.median(shares):>8.1f} %"
    )


def used():
    """Processor seconds of this process, its children and theirs."""
    children = pathlib.Path("/proc/self/task", str(os.getpid()), "children").read_text().split()
    ticks = 0
    for process in ("self", *children):
        fields = pathlib.Path("/proc", process, "stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))  # its own, and of its children that have ended
    return ticks / os.sysconf("SC_CLK_TCK")


def run(model, rows, jobs):
    """Seconds on the clock, and processor seconds."""
    begun, before = time.perf_counter(), used()
    certify_rows(model, rows, 0.25, 0.5, samples=SAMPLES, seed=1, jobs=jobs, progress=False)
    return time.perf_counter() - begun, used() - before


def scaling(model, count):
    rows = np.resize(X, (count, FEATURES))
    one, four = run(model, rows, 1), run(model, rows, 4)
    print(
        f"  {type(model).__name__:<28}{one[0]:>8.1f} s by one,{four[0]:>7.1f} s by four:"
        f"{one[0] / four[0]:>6.2f} times; processor time{four[1] / one[1]:>6.2f} times"
    )


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else len(X)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"overhead of the package, {FEW} rows, {SAMPLES} samples, {FEATURES} features")
    for model in (Ridge(), GradientBoostingRegressor()):
        overhead(model.fit(X[:2000], Y[:2000]))
    print(f"{count} rows over four processes")
    for model in (GradientBoostingRegressor(), RandomForestRegressor(50, n_jobs=1)):
        scaling(model.fit(X[:2000], Y[:2000]), count)


if __name__ == "__main__":
    main()

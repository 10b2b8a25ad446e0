"""How much longer radii are with a scale from tune_scale.

    make bench-scale; or bench/bench_scale.py SEEDS, by default 5

Each task draws inputs to learn from, 150 to tune on, and 300 others that are certified. The columns
are about these others. `before` is scale 1 at the sigma that is best on the inputs for tuning, and
`after` the scale and sigma of tune_scale. Features are standardised, and scales have the geometric
mean 1 over the features with noise (of diabetes all but sex): a radius is the geometric-mean radius
of the certified ellipsoid. Labels are given, so that errors come first. `relevant` is the same
ratio of geometric-mean radii, over the features on which the truth depends. `told` is the gain that
tune_scale measured itself.

The models are ridge regressions on random cosines, which need NumPy only. The tasks of
scikit-learn, gradient boosting and diabetes, follow if it is installed."""

import math
import sys
import time

import numpy as np

from certreg import certify_rows, tune_scale
from page import show

SIGMAS = [0.06, 0.12, 0.25, 0.5, 1.0]
SAMPLES, TUNING, OTHERS = 1000, 150, 300


def friedman(rng, rows, features):
    """Friedman #1 on standardised features; those from the sixth on are irrelevant."""
    u = rng.random((rows, features))
    y = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2
    y += 10 * u[:, 3] + 5 * u[:, 4]
    return (u - 0.5) * math.sqrt(12), y


def unequal(rng, rows, features):
    """A saturating function to which all features matter, the last one a twelfth of the first."""
    x = rng.normal(size=(rows, features))
    slopes = np.geomspace(6, 0.5, features)
    return x, 8 * np.tanh(x @ slopes / 8) + 0.3 * slopes[0] * np.sin(x[:, 1])


def equal(rng, rows, features):
    """All features matter alike."""
    x = rng.normal(size=(rows, features))
    return x, 8 * np.tanh(x.sum(1) * 2 / 8)


class Cosines:
    """Ridge regression on random cosines."""

    def __init__(self, rng, x, y, count=400, width=4.0, ridge=1e-2):
        self.w = rng.normal(size=(x.shape[1], count)).astype(np.float32) / np.float32(width)
        self.b = rng.uniform(0, 2 * np.pi, count).astype(np.float32)
        z = self.features(x.astype(np.float32)).astype(np.float64)
        a = z.T @ z + ridge * len(x) / count * np.eye(z.shape[1])
        self.c = np.linalg.solve(a, z.T @ y).astype(np.float32)

    def features(self, x):
        return np.c_[np.cos(x @ self.w + self.b), x, np.ones(len(x), np.float32)]

    def __call__(self, x):
        return self.features(x) @ self.c


def smooth(rng, x, y):
    return Cosines(rng, x, y, ridge=100)


def boosted(_, x, y):
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(n_estimators=150, random_state=0).fit(x, y)


def diabetes(rng, rows, _):
    from sklearn.datasets import load_diabetes

    x, y = load_diabetes(return_X_y=True)
    order = rng.permutation(len(x))[:rows]
    return ((x - x.mean(0)) / x.std(0))[order], y[order]


def measured(task, seed):
    """One line of numbers, as main heads them."""
    draw, learn, features, relevant, learning, others, tolerance, exact = task
    start = np.ones(features, np.float32)
    start[exact] = 0
    rng = np.random.default_rng(seed)
    x, y = draw(rng, learning + TUNING + others, features)
    x = x.astype(np.float32)
    model = learn(rng, x[:learning], y[:learning] + rng.normal(size=learning))
    held = slice(learning, learning + TUNING)
    begun = time.perf_counter()
    same = dict(samples=SAMPLES, seed=seed, progress=False)
    t = tune_scale(model, x[held], tolerance, SIGMAS, scale=start, labels=y[held], **same)
    seconds = time.perf_counter() - begun
    sigma = [trial for trial in t.history[: len(SIGMAS)] if trial.kept][0].sigma
    inputs, truth = x[learning + TUNING :], y[learning + TUNING :]
    rows = [
        certify_rows(model, inputs, s, tolerance, scale=scale, **same)
        for s, scale in ((sigma, start), (t.sigma, t.scale))
    ]
    before, after = (float(r["radius"].mean()) for r in rows)
    useful = [float(r.useful_radii(truth).mean()) for r in rows]
    errors = [float(r.label_errors(truth).mean()) for r in rows]
    those = t.scale[:relevant]
    those = math.exp(np.log(those[those > 0]).mean())
    gain = after / before
    return (
        *(before, after, gain, gain * those, useful[1] / useful[0], t.gain),
        *(*errors, len(t.history), seconds),
    )


def main():
    seeds = range(1, 1 + (int(sys.argv[1]) if len(sys.argv) > 1 else 5))
    tasks = [
        ("friedman, 10 features", friedman, Cosines, 10, 5, 1500, OTHERS, 2.0, []),
        ("friedman, the 5 relevant", friedman, Cosines, 5, 5, 1500, OTHERS, 2.0, []),
        ("unequal, 8 features", unequal, Cosines, 8, 8, 1500, OTHERS, 2.0, []),
        ("equal, 8 features", equal, Cosines, 8, 8, 1500, OTHERS, 2.0, []),
    ]
    try:
        import sklearn  # noqa: F401

        sex = [1]
        tasks += [
            ("friedman, boosted trees", friedman, boosted, 10, 5, 1500, OTHERS, 2.0, []),
            ("diabetes, cosines", diabetes, smooth, 10, 10, 200, 92, 40.0, sex),
            ("diabetes, boosted trees", diabetes, boosted, 10, 10, 200, 92, 40.0, sex),
        ]
    except ImportError:
        print("scikit-learn is not installed: without its tasks")
    lines = []
    for name, *task in tasks:
        found = np.array([measured(task, seed) for seed in seeds])
        radii, gains, errors, effort = np.split(found.mean(0), [2, 6, 8])
        cells = [f"{v:.3f}" for v in radii] + [f"{v:.2f}" for v in (*gains, found[:, 2].std())]
        cells += [f"{v:.2f}" if v < 10 else f"{v:.1f}" for v in errors]
        lines.append([name, *cells, *(f"{v:.0f}" for v in effort)])
        print(*lines[-1], sep="  ", flush=True)
    gains = "gain, in relevant features, in useful radius, told, spread over the seeds".split(", ")
    head = ["", "before", "after", *gains, "error before", "after", "trials", "seconds"]
    show("scale", head, *lines, keep=len(seeds) == 5 and len(tasks) == 7)


if __name__ == "__main__":
    main()

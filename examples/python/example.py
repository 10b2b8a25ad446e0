import numpy as np
from certreg import Estimator


def model(x):  # (rows, 3) -> (rows,)
    return x[:, 0] + x[:, 1] * x[:, 2]


with Estimator(model, inputs=3, max_samples=10_000, seed=42) as estimator:
    c = estimator.certify(np.array([1, 0.5, -0.25]), 0.25, 10_000, 0.5)  # sigma, calls, tolerance
print(f"within {c.tolerance:g} of {c.prediction:g} for every shift below {c.radius:g}")

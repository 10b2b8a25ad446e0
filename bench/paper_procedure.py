#!/usr/bin/env python3
"""The paper's radius procedure in SciPy, as bench_solver.c's peer: the bounded (E,C,G) dual by 40
Gauss-Hermite nodes, minimised by scipy.optimize, inside 50 bisection steps, for the upward and the
downward shift. Reads rows "m C kappa lo hi sigma tolerance" from standard input and prints the
median of seconds per radius. (Its quadrature errs by up to 2e-3 once clipping starts; it is here
for speed.)
"""

import sys
import time
import numpy as np
from scipy.optimize import minimize

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def shift(mean, variance, gradient, lo, hi, r, start):
    w = np.exp(r * NODES - 0.5 * r * r) - 1

    def dual(x):
        lam, nu, mu = np.exp(x[0]), x[1], x[2]
        v = w - nu - mu * NODES
        y = np.clip(v / (2 * lam), lo - mean, hi - mean)
        value = WEIGHTS @ (y * v - lam * y * y) + lam * variance + mu * gradient
        slope = np.array(
            [lam * (variance - WEIGHTS @ (y * y)), -(WEIGHTS @ y), gradient - WEIGHTS @ (y * NODES)]
        )
        return value, slope

    found = minimize(dual, start, jac=True, method="L-BFGS-B")
    return found.fun, found.x


def radius(mean, variance, gradient, lo, hi, sigma, tolerance):
    low, high = 0.0, 10 * sigma
    starts = [np.zeros(3), np.zeros(3)]
    for _ in range(50):
        middle = 0.5 * (low + high)
        worst = 0.0
        for i, (m, a, b) in enumerate(((mean, lo, hi), (-mean, -hi, -lo))):
            value, at = shift(m, variance, gradient, a, b, middle / sigma, starts[i])
            starts[i] = at if np.all(np.isfinite(at)) else np.zeros(3)
            worst = max(worst, value)
        if worst <= tolerance:
            low = middle
        else:
            high = middle
    return low


def main():
    times = []
    for line in sys.stdin:
        row = [float(x) for x in line.split()]
        start = time.perf_counter()
        with np.errstate(all="ignore"):
            radius(*row)
        times.append(time.perf_counter() - start)
    print(float(np.median(times)))


main()

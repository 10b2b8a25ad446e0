#!/usr/bin/env python3
"""A certificate of the median by NumPy alone: noise of 16 features, the model, how many outputs are
out, and a radius by Wilson's bound, which is no proof. Prints microseconds for each number of
samples given."""

import math
import statistics
import sys
import time
import numpy as np

NORMAL, SIGMA, TOLERANCE = statistics.NormalDist(), 0.25, 1.0
QUANTILE = NORMAL.inv_cdf(1 - 0.05 / 2)


def certificate(generator, z, count):
    x = z + np.float32(SIGMA) * generator.standard_normal((count, 16), np.float32)
    y = np.clip(x[:, 0] + x[:, 1] - x[:, 2] + x[:, 3] ** 2, -3, 3)
    middle, square = np.median(y), QUANTILE**2
    out = max((y <= middle - TOLERANCE).sum(), (y >= middle + TOLERANCE).sum()) / count
    half = QUANTILE * math.sqrt(out * (1 - out) / count + square / (4 * count**2))
    return -SIGMA * NORMAL.inv_cdf((out + square / (2 * count) + half) / (1 + square / count))


for n in map(int, sys.argv[1:]):
    source, times = np.random.Generator(np.random.SFC64(1)), []
    for _ in range(200):
        begun = time.process_time()
        certificate(source, np.zeros(16, np.float32), n)
        times.append(time.process_time() - begun)
    print(1e6 * min(times))

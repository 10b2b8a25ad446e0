#!/usr/bin/env python3
"""The same quantities as bench_noise.c by NumPy, in float32, one thread. Prints two lines of
seconds: normals, certificate noise."""

import sys
import time
import numpy as np

BATCH = 256


def best(task, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def normals(generator, samples, inputs):
    e = np.empty((BATCH, inputs), np.float32)
    for first in range(0, samples, BATCH):
        generator.standard_normal(dtype=np.float32, out=e[: min(BATCH, samples - first)])


def certificate(generator, samples, inputs, blocks, outputs, z, step):
    """x = z + step e for every batch; for two functions of the outputs their moments and the sums
    of (u - c) e over each block."""
    x = np.empty((BATCH, inputs), np.float32)
    sums = np.zeros((blocks, 2, inputs))
    block = samples // blocks
    center = outputs.mean(axis=1, dtype=np.float64)
    weights = (outputs - center[:, None]).astype(np.float32)
    for first in range(0, samples, block):
        count = min(block, samples - first)
        e = generator.standard_normal((count, inputs), dtype=np.float32)
        np.multiply(e, step, out=x[:count])
        x[:count] += z
        sums[min(first // block, blocks - 1)] += weights[:, first : first + count] @ e
    return center, weights.var(axis=1, dtype=np.float64), sums


def main():
    samples, inputs, blocks, repeats = (int(a) for a in sys.argv[1:5])
    generator = np.random.default_rng(1)
    outputs = generator.standard_normal((2, samples), dtype=np.float32)
    z = generator.standard_normal(inputs, dtype=np.float32)
    step = np.full(inputs, 0.25, np.float32)
    print(best(lambda: normals(generator, samples, inputs), repeats))
    print(best(lambda: certificate(generator, samples, inputs, blocks, outputs, z, step), repeats))


main()

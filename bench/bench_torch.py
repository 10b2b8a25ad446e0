"""The batch of a PyTorch model on a CPU: processor time of certify_rows for a noisy row, by rows of
a call (`batch`), on one thread; the least of several runs that take turns. Skipped without torch.

    make bench-rows PYTHON=..."""

import sys
import time

import numpy as np

from certreg import certify_rows
from page import show

ROWS, SAMPLES, RUNS = 16, 1000, 5
BATCHES = 100, 250, 1000, 4000, 16_000


def networks(torch):
    from torch.nn import Conv2d, Flatten, Linear, ReLU, Sequential, Tanh

    torch.manual_seed(0)
    hidden = Linear(12, 128), Tanh(), Linear(128, 128), Tanh()
    yield "12-128-128-1", Sequential(*hidden, Linear(128, 1)), (ROWS, 12)
    layers = Conv2d(1, 8, 5, 2), ReLU(), Conv2d(8, 16, 5, 2), ReLU(), Flatten()
    yield "2 convolutions, 28 × 28", Sequential(*layers, Linear(256, 1)), (ROWS // 4, 1, 28, 28)


def spent(net, X, batch):
    begun = time.process_time()
    more = dict(samples=SAMPLES, batch=batch, seed=1, progress=False)
    certify_rows(net, X, 0.25, 1e3, **more)
    return 1e6 * (time.process_time() - begun) / (len(X) * SAMPLES)


def main():
    try:
        import torch
    except ImportError as error:
        return print(f"torch: skipped, {error}")
    torch.set_num_threads(1)
    lines = []
    for name, net, shape in networks(torch):
        X = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        runs = [[spent(net, X, batch) for batch in BATCHES] for _ in range(RUNS)]
        lines.append([name, *(f"{least:.2g} µs" for least in map(min, zip(*runs)))])
    show("torch", ["network", *(f"`batch={batch}`" for batch in BATCHES)], *lines, keep=False)


if __name__ == "__main__":
    sys.exit(main())

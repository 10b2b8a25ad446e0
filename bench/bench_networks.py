"""Rows that a network on a CPU computes at once: processor time of a row by the package's rule,
next to calls of the network with its best number of rows; on one thread, the least of several runs
that take turns. By PyTorch, and by ONNX Runtime if it is there.

    make bench-rows PYTHON=..."""

import io
import sys
import time
import warnings

import numpy as np

from certreg import as_model
from page import show

ROWS, RUNS, AIM = 4096, 3, 1.1
SIZES = [2**k for k in range(4, 13)]


def networks(torch):
    from torch.nn import Conv2d, Flatten, LazyLinear, ReLU, Sequential, TransformerEncoderLayer

    def dense(*widths):
        return [layer for width in widths for layer in (LazyLinear(width), ReLU())]

    def convolutions(width, *wider):
        layers = Conv2d(width, wider[0], 3, 1 if width < 4 else 2, 1), ReLU()
        return [*layers, *convolutions(*wider)] if wider[1:] else [*layers, Flatten()]

    attention = TransformerEncoderLayer(64, 4, 128, batch_first=True), Flatten()
    for name, shape, layers in (
        ("dense, 12-64-64-1", (12,), dense(64, 64)),
        ("dense, 30-256-256-1", (30,), dense(256, 256)),
        ("dense, 784-1024-256-1", (784,), dense(1024, 256)),
        ("3 convolutions, 28 × 28", (1, 28, 28), convolutions(1, 8, 16, 32)),
        ("4 convolutions, 3 × 64 × 64", (3, 64, 64), convolutions(3, 16, 32, 64, 128)),
        ("attention, 32 × 64", (32, 64), attention),
    ):
        net = Sequential(*layers, LazyLinear(1)).eval()
        with torch.no_grad():
            net(torch.zeros(2, *shape))
        yield name, net, np.random.default_rng(0).normal(size=(ROWS, *shape)).astype(np.float32)


def session(torch, net, x):
    import onnxruntime

    file, options = io.BytesIO(), onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    named = dict(input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
    torch.onnx.export(net, torch.from_numpy(x[:2]), file, **named)
    made = onnxruntime.InferenceSession(file.getvalue(), options)
    return made, lambda rows: made.run(None, {"x": rows})


def spent(call, x, size):
    count = max(size, min(len(x), 2**22 // x[0].size))  # rows of large inputs take long
    begun = time.process_time()
    for at in range(0, count, size):
        call(x[at : at + size])
    return 1e6 * (time.process_time() - begun) / count


def line(name, ours, call, x):
    runs = [[spent(call, x, n) for n in SIZES] + [spent(ours, x, ROWS)] for _ in range(RUNS)]
    *times, rule = map(min, zip(*runs))
    best = min(times)
    times = f"{SIZES[times.index(best)]}", f"{best:.3g} µs", f"{times[-1] / best:.2f}"
    print(name, *times, f"{rule / best:.2f}", flush=True)
    return [name, *times, f"{rule / best:.2f}", f"{AIM}"]


def main():
    try:
        import torch
    except ImportError as error:
        return print(f"networks: skipped, {error}")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    warnings.simplefilter("ignore")
    lines = []
    for name, net, x in networks(torch):
        call = torch.inference_mode()(lambda rows: net(torch.from_numpy(rows)))
        lines.append(line(f"PyTorch: {name}", as_model(net), call, x))
        try:
            made, call = session(torch, net, x)
        except ImportError as error:
            print(f"ONNX: skipped, {error}")
        else:
            lines.append(line(f"ONNX: {name}", as_model(made), call, x))
    head = "", "best rows", "a row", f"in calls of {ROWS}", "by the rule", "aim"
    show("networks", head, *lines)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Print the errors of networks on the test images of MNIST, by noise level, as Markdown tables.

    python3 errors.py MNIST_DIR [--time] [FILE.onnx ...]

The files default to all of this folder. Every network reads the same noise, and every rotation
network the same turned images; *_behind.onnx read what the denoiser makes of them. --time prints
the time per row, too, without a denoiser. Needs torch, numpy and onnxruntime.
"""

import argparse
import pathlib
import time

import numpy as np
import onnxruntime
import torch

from tasks import Rotation, Slant

SIGMAS = (0.0, 0.03, 0.06, 0.12, 0.25, 0.35, 0.5, 0.75)
ROWS = 1000
FOLDER = pathlib.Path(__file__).parent
DENOISER = FOLDER / "denoiser.onnx"


def session(path, threads=1):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def answers(network, images):
    """The outputs for images [N, 1, 28, 28]."""
    entry = network.get_inputs()[0]
    rows, name = images.reshape(-1, *entry.shape[1:]).numpy(), entry.name
    parts = [network.run(None, {name: rows[at : at + ROWS]})[0] for at in range(0, len(rows), ROWS)]
    return torch.from_numpy(np.concatenate(parts))


def errors(path, task):
    """The absolute errors in degrees on all images of the task, for each noise level."""
    generator = torch.Generator().manual_seed(7)
    clean, target = task.batch(torch.arange(len(task.images)), generator)
    network = session(path)
    denoiser = session(DENOISER) if pathlib.Path(path).stem.endswith("_behind") else None
    for sigma in SIGMAS:
        noisy = clean + sigma * torch.randn(clean.shape, generator=generator)
        seen = answers(denoiser, noisy) if denoiser else noisy
        yield sigma, task.error(answers(network, seen), target)


def report(path, task):
    print(f"\n{pathlib.Path(path).name}\n")
    print("| σ | median | mean | within 10 degrees |\n|---|---|---|---|")
    for sigma, error in errors(path, task):
        within = 100.0 * (error < 10.0).float().mean()
        print(f"| {sigma:g} | {error.median():.2f} | {error.mean():.2f} | {within:.1f}% |")


def microseconds(path, rows=256, repeats=20):
    """The time per row on one thread, the least of several runs."""
    network = session(path)
    x = np.random.default_rng(1).random((rows, 784), dtype=np.float32)
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        network.run(None, {network.get_inputs()[0].name: x})
        best = min(best, time.perf_counter() - began)
    return 1e6 * best / rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mnist")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--time", action="store_true")
    options = parser.parse_intermixed_args()
    torch.set_num_threads(1)
    files = options.files or [path for path in sorted(FOLDER.glob("*.onnx")) if path != DENOISER]
    for path in files:
        report(path, (Slant if path.stem.startswith("slant") else Rotation)(options.mnist, "t10k"))
    for path in files if options.time else []:
        print(f"{path.name}: {microseconds(path):.1f} microseconds a row")


if __name__ == "__main__":
    main()

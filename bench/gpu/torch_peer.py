#!/usr/bin/env python3
"""The straightforward way in PyTorch, beside the rows noise_..._ms that bench_gpu left in a file.

Noise by randn, and again for the gradient sums, which are 64 block means of weighted noise.
Milliseconds per certificate of two scores, without the model. The target is three times our time.
python bench/gpu/torch_peer.py [lib/bench_gpu.csv]"""

import csv
import pathlib
import sys

try:
    import torch
except ImportError:
    sys.exit("torch_peer: skipped, torch is not installed")
if not torch.cuda.is_available():
    sys.exit("torch_peer: skipped, torch sees no CUDA device")

BLOCKS, BATCH, ROUNDS = 64, 2500, 20


def noise(generator, rows, d):
    return torch.randn(rows, d, generator=generator, device="cuda")


def certificate(n, d, z, weights):
    generator = torch.Generator("cuda")
    generator.manual_seed(1)
    for _ in range(0, n, BATCH):
        x = z + 0.25 * noise(generator, BATCH, d)  # what the model would get
    outputs = weights[0]
    mean, second, fourth = outputs.mean(), (outputs**2).mean(), (outputs**4).mean()
    generator.manual_seed(1)
    sums = torch.zeros(2, BLOCKS, d, dtype=torch.float64, device="cuda")
    length = n // BLOCKS
    e = noise(generator, length * BLOCKS, d).view(BLOCKS, length, d)
    for f in range(2):
        sums[f] = torch.einsum(
            "bl,bld->bd", weights[f, : length * BLOCKS].view(BLOCKS, length), e
        ).double()
    gram = sums @ sums.transpose(1, 2)
    return x, mean, second, fourth, gram.cpu()


for n, d in ((10000, 784), (10000, 12288)):
    z, weights = torch.rand(d, device="cuda"), torch.randn(2, n, device="cuda")
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    best = float("inf")
    for _ in range(ROUNDS):
        begin.record()
        certificate(n, d, z, weights)
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end))
    print(f"torch {torch.__version__}, n = {n}, d = {d}: {best:.3f} ms")
    file = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "lib/bench_gpu.csv")
    for row in csv.reader(file.read_text().splitlines() if file.exists() else ()):
        if row[0] == f"noise_{d}_ms":
            print(
                f"{row[0]:28} {float(row[1]):10.4g}   peer {best:10.4g}   "
                f"ratio {best / float(row[1]):7.3f}   target 3"
            )

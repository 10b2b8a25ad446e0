#!/usr/bin/env python3
"""The straightforward way in PyTorch beside the CUDA backend.

Noise: randn, and randn again for gradient sums, which are 64 block means of weighted noise. The
rows noise_..._ms that bench_gpu left in FILE are what it is compared with.
The demo's network: median smoothing (sorted angles of 10,000 noisy copies) beside a certificate for
the same samples, and the time that the network alone takes for them.

    python bench/gpu/torch_peer.py [FILE] [--rehearse]

adds rows "name,ours,peer,ratio,target" to FILE, milliseconds. --rehearse runs everything on the CPU
in small, to find mistakes before a device is there; its figures mean nothing."""

import csv
import math
import pathlib
import sys
import time

try:
    import torch
except ImportError:
    print("torch_peer: skipped, torch is not installed")
    sys.exit()
REHEARSAL = "--rehearse" in sys.argv[1:]
if not REHEARSAL and not torch.cuda.is_available():
    print("torch_peer: skipped, torch sees no CUDA device")
    sys.exit()

PLACE = "cpu" if REHEARSAL else "cuda"
BLOCKS, ROUNDS = 64, 2 if REHEARSAL else 20
SAMPLES = 640 if REHEARSAL else 10_000
BATCH = SAMPLES // 4
SIGMA, ALPHA, TOLERANCE = 0.25, 0.1, 10.0  # of the demo's question, degrees
HERE = pathlib.Path(__file__).resolve().parent
FILES = [pathlib.Path(a) for a in sys.argv[1:] if not a.startswith("-")]
FILE = FILES[0] if FILES else pathlib.Path("lib/bench_gpu.csv")


def least(function):
    """Milliseconds, the least of several rounds after one that does not count."""
    best = math.inf
    function()
    for _ in range(ROUNDS):
        wait()
        began = time.perf_counter()
        function()
        wait()
        best = min(best, time.perf_counter() - began)
    return 1e3 * best


def wait():
    if PLACE == "cuda":
        torch.cuda.synchronize()


def keep(name, ours, peer, ratio, target):
    print(f"{name:28} {ours:10.4g}   peer {peer:10.4g}   ratio {ratio:7.3f}   target {target:g}")
    with FILE.open("a", encoding="utf-8") as file:
        file.write(f"{name},{ours:g},{peer:g},{ratio:.4f},{target:g}\n")


def noise(generator, rows, d):
    return torch.randn(rows, d, generator=generator, device=PLACE)


def noise_of_certificate(d):
    z, weights = torch.rand(d, device=PLACE), torch.randn(2, SAMPLES, device=PLACE)
    generator, length = torch.Generator(PLACE), SAMPLES // BLOCKS
    sums = torch.zeros(2, BLOCKS, d, dtype=torch.float64, device=PLACE)

    def run():
        generator.manual_seed(1)
        for _ in range(0, SAMPLES, BATCH):
            z + SIGMA * noise(generator, BATCH, d)  # what the model would get
        generator.manual_seed(1)
        e = noise(generator, length * BLOCKS, d).view(BLOCKS, length, d)
        for f in range(2):
            w = weights[f, : length * BLOCKS].view(BLOCKS, length)
            sums[f] = torch.einsum("bl,bld->bd", w, e).double()
        (sums @ sums.transpose(1, 2)).cpu()

    return least(run)


class Chain(torch.nn.Module):
    """An ONNX file of convolutions, dense layers and ReLU in a row, such as the demo's network."""

    def __init__(self, path):
        super().__init__()
        import onnx

        graph = onnx.load(path).graph
        held = {c.name: onnx.numpy_helper.to_array(c).copy() for c in graph.initializer}
        layers = []
        for node in graph.node:
            given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            weights = [torch.from_numpy(held[n]) for n in node.input[1:] if n in held]
            layers.append(self.layer(node.op_type, given, weights))
        self.layers = torch.nn.Sequential(*layers)

    @staticmethod
    def layer(kind, given, weights):
        if kind == "Reshape":
            return torch.nn.Unflatten(1, weights[0].tolist()[1:])
        if kind == "Relu":
            return torch.nn.ReLU()
        if kind == "Flatten":
            return torch.nn.Flatten()
        weight, bias = weights
        if kind == "Conv":
            out, channels, side = weight.shape[:3]
            pad, stride = given["pads"][0], given["strides"][0]
            layer = torch.nn.Conv2d(channels, out, side, stride, pad)
        elif kind == "Gemm":
            layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
        else:
            raise ValueError(f"a layer {kind} is not expected")
        layer.weight.data, layer.bias.data = weight, bias
        return layer

    def forward(self, x):
        return self.layers(x)


def rank(n):
    """The number of an order statistic below which the lower median is with probability at most
    ALPHA / 2, by the normal approximation: median smoothing without a radius yet."""
    return max(0, math.floor(n / 2 - 1.645 * math.sqrt(n) / 2))


def network():
    from certreg import Estimator, Question

    net = Chain(HERE / "rotation.onnx").eval().to(PLACE)
    z = torch.rand(784, generator=torch.Generator().manual_seed(3))
    there = z.to(PLACE)
    generator = torch.Generator(PLACE)

    @torch.inference_mode()
    def alone():  # the network, for noisy copies that are there
        for _ in range(0, SAMPLES, BATCH):
            net(copies)

    @torch.inference_mode()
    def smoothing():
        y = [net(there + SIGMA * noise(generator, BATCH, 784)) for _ in range(0, SAMPLES, BATCH)]
        y = torch.cat(y)
        m = y.mean(0)
        turned = torch.atan2(y[:, 1] * m[0] - y[:, 0] * m[1], y @ m)
        angles = turned.sort().values
        return angles[[rank(SAMPLES), SAMPLES // 2, SAMPLES - 1 - rank(SAMPLES)]].cpu()

    with torch.inference_mode():
        copies = there + SIGMA * noise(generator, BATCH, 784)
    model = least(alone)
    peer = least(smoothing)
    how = {"outputs": 1, "kind": "angle_pair", "lo": -180, "hi": 180, "batch": BATCH, "seed": 1}
    if not REHEARSAL:
        how["device"] = 0
    question = Question(tolerance=TOLERANCE, alpha=ALPHA)
    with Estimator(net, 784, SAMPLES, **how) as estimator:
        ours = least(lambda: estimator.certify(z.numpy(), SIGMA, SAMPLES, question))
        c = estimator.certify(z.numpy(), SIGMA, SAMPLES, question)
        print(f"prediction {c.prediction:.3f} degrees, radius {c.radius:.4f}")
    keep("network_certificate_ms", ours, 20, 20 / ours, 1)
    keep("network_library_share", (ours - model) / model, 0.05, 0.05 * model / (ours - model), 1)
    keep("network_smoothing_ms", ours, peer, peer / ours, 3)


def main():
    print(f"torch {torch.__version__}, {SAMPLES} samples on {PLACE}")
    rows = csv.reader(FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else ())
    ours = {row[0]: float(row[1]) for row in rows if row[0].startswith("noise_")}
    for d in (784, 12288):
        peer = noise_of_certificate(d)
        print(f"noise of two scores, d = {d}: {peer:.3f} ms")
        if f"noise_{d}_ms" in ours:
            mine = ours[f"noise_{d}_ms"]
            keep(f"noise_{d}_beside_torch", mine, peer, peer / mine, 3)
    network()


main()

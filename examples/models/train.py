#!/usr/bin/env python3
"""Train the rotation regressor of the demo; write it as an .onnx file and as a weight file.

    python3 train.py MNIST_DIR [--steps 18000] [--range 180] [--out rotation.onnx]

The network reads a handwritten digit, 28x28 numbers in [0,1], that was turned about its center by
an unknown angle, and answers (cos, sin) of the angle up to a positive factor. It is trained for
noise-smoothed use: every training image is turned by a uniform angle in [-range, range) degrees
(bilinear, positive is counter-clockwise on the screen), and is shown twice, each time under
Gaussian pixel noise of its own sigma, uniform in [0, 0.8].

Loss. With e the error of the angle, sqrt(sin(e/2)^2 + delta^2): close to |e|/2, so that a few large
errors do not rule, and concave from one mode to another: where a digit reads alike after half a
turn (0, 1, 8, and 6 against 9), committing to one reading costs less than answering in between. The
same loss between the two noisy views of one image asks for an answer that does not depend on the
noise; certified radii live on that. Batch normalisation is folded into the convolutions on export,
and the exported weights are an exponential moving average over the last part of the training.

Needs torch, numpy and onnx; MNIST_DIR holds the four IDX files, gzipped or not. About 20 minutes on
two cores with bfloat16. Prints the absolute angular error on the turned test images, by sigma.
"""
import argparse
import copy
import gzip
import math
import pathlib
import struct
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from convert import convert

SIGMA_MOST = 0.8
REPORTED = (0.0, 0.12, 0.25, 0.35, 0.5, 0.75)
# (output channels, kernel, stride) of each convolution, then the widths of the dense layers.
CONVOLUTIONS = ((32, 5, 2), (32, 3, 1), (48, 3, 2), (48, 3, 1))
DENSE = (24, 2)


def read_idx(folder, name):
    """One IDX file of unsigned bytes, plain or gzipped."""
    plain = pathlib.Path(folder) / name
    packed = pathlib.Path(folder) / (name + ".gz")
    data = plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes())
    zero, kind, rank = struct.unpack(">HBB", data[:4])
    if zero != 0 or kind != 8:
        raise ValueError(f"{name}: not an IDX file of bytes")
    shape = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def images_of(folder, split):
    raw = read_idx(folder, f"{split}-images-idx3-ubyte")
    return torch.from_numpy(raw.astype(np.float32) / 255.0).unsqueeze(1)


def turn(images, angle):
    """Turn each image about its center by its angle (radians, counter-clockwise), bilinear, black
    outside."""
    cos, sin, zero = torch.cos(angle), torch.sin(angle), torch.zeros_like(angle)
    theta = torch.stack((torch.stack((cos, -sin, zero), 1), torch.stack((sin, cos, zero), 1)), 1)
    grid = F.affine_grid(theta, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


def network():
    layers, channels, side = [], 1, 28
    for out, kernel, stride in CONVOLUTIONS:
        layers += [nn.Conv2d(channels, out, kernel, stride, kernel // 2, bias=False),
                   nn.BatchNorm2d(out), nn.ReLU()]
        channels, side = out, (side + 2 * (kernel // 2) - kernel) // stride + 1
    layers.append(nn.Flatten())
    width = channels * side * side
    for out in DENSE:
        layers += [nn.Linear(width, out), nn.ReLU()]
        width = out
    return nn.Sequential(*layers[:-1])


def angle_loss(y, target, delta=0.02):
    """sqrt(sin^2(e/2) + delta^2) between the direction of y and the unit vectors of target."""
    cosine = (F.normalize(y, dim=1, eps=1e-4) * target).sum(1)
    return torch.sqrt((1.0 - cosine).clamp_min(0.0) / 2.0 + delta * delta).mean()


def train(images, options):
    torch.manual_seed(options.seed)
    model, count = network(), options.batch
    average = copy.deepcopy(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.rate, options.steps,
                                                   pct_start=0.05)
    began, total = time.time(), 0.0
    for step in range(options.steps):
        pick = torch.randint(len(images), (count,))
        angle = (torch.rand(count) * 2.0 - 1.0) * math.radians(options.range)
        clean = turn(images[pick], angle)
        sigma = torch.rand(2 * count, 1, 1, 1) * SIGMA_MOST
        noisy = torch.cat((clean, clean)) + sigma * torch.randn(2 * count, 1, 28, 28)
        with torch.autocast("cpu", torch.bfloat16, enabled=not options.full_precision):
            y = model(noisy)
        y = y.float()
        unit = torch.stack((torch.cos(angle), torch.sin(angle)), 1).repeat(2, 1)
        other = F.normalize(y, dim=1, eps=1e-4).roll(count, 0)
        loss = angle_loss(y, unit) + options.agree * angle_loss(y, other)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        keep = min(0.999, step / (step + 50.0))
        with torch.no_grad():
            for mean, now in zip(average.state_dict().values(), model.state_dict().values()):
                mean.copy_(now if not now.is_floating_point() else keep * mean + (1.0 - keep) * now)
        total += loss.item()
        if step % 500 == 499:
            print(f"step {step + 1} loss {total / 500:.4f} {time.time() - began:.0f} s", flush=True)
            total = 0.0
    return average.eval()


def folded(model):
    """Weights and biases in order, each batch normalisation folded into the convolution before
    it."""
    weights, layers = [], list(model)
    for at, layer in enumerate(layers):
        if isinstance(layer, nn.Conv2d):
            norm = layers[at + 1]
            factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            weights.append((layer.weight * factor.view(-1, 1, 1, 1),
                            norm.bias - norm.running_mean * factor))
        elif isinstance(layer, nn.Linear):
            weights.append((layer.weight, layer.bias))
    return [tuple(part.detach().numpy().astype(np.float32) for part in pair) for pair in weights]


def export(model, path):
    """A straight chain of Reshape, Conv, Relu, Flatten and Gemm, which convert.py understands."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    constants = [numpy_helper.from_array(np.array([-1, 1, 28, 28], np.int64), "shape")]
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["image"])]
    last = "image"
    for at, (weight, bias) in enumerate(folded(model)):
        constants += [numpy_helper.from_array(weight, f"w{at}"),
                      numpy_helper.from_array(bias, f"b{at}")]
        done = at == len(CONVOLUTIONS) + len(DENSE) - 1
        if at < len(CONVOLUTIONS):
            _, kernel, stride = CONVOLUTIONS[at]
            nodes.append(helper.make_node("Conv", [last, f"w{at}", f"b{at}"], [f"a{at}"],
                                          kernel_shape=[kernel, kernel],
                                          strides=[stride, stride], pads=[kernel // 2] * 4))
        else:
            if at == len(CONVOLUTIONS):
                nodes.append(helper.make_node("Flatten", [last], ["flat"], axis=1))
                last = "flat"
            nodes.append(helper.make_node("Gemm", [last, f"w{at}", f"b{at}"],
                                          ["y" if done else f"a{at}"], transB=1))
        if not done:
            nodes.append(helper.make_node("Relu", [f"a{at}"], [f"r{at}"]))
            last = f"r{at}"
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 784])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])
    graph = helper.make_graph(nodes, "rotation", [x], [y], constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8,
                              producer_name="libcertreg")
    onnx.checker.check_model(proto)
    onnx.save(proto, path)


@torch.no_grad()
def report(model, images, limit):
    generator = torch.Generator().manual_seed(7)
    angle = (torch.rand(len(images), generator=generator) * 2.0 - 1.0) * math.radians(limit)
    clean = turn(images, angle)
    for sigma in REPORTED:
        y = model(clean + sigma * torch.randn(clean.shape, generator=generator))
        error = torch.atan2(y[:, 1], y[:, 0]) - angle
        error = torch.rad2deg(torch.atan2(torch.sin(error), torch.cos(error)).abs())
        print(f"sigma {sigma:.2f}: median error {error.median():.2f} degrees, "
              f"mean {error.mean():.2f}, "
              f"within 10 degrees {100.0 * (error < 10.0).float().mean():.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mnist")
    parser.add_argument("--out", default=str(pathlib.Path(__file__).with_name("rotation.onnx")))
    parser.add_argument("--steps", type=int, default=18000)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--agree", type=float, default=0.5,
                        help="weight of the agreement between two noisy views")
    parser.add_argument("--range", type=float, default=180.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--full-precision", action="store_true", help="no bfloat16 in the training")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    images = images_of(options.mnist, "train")
    model = train(images, options)
    export(model, options.out)
    convert(options.out)
    print("parameters", sum(w.size + b.size for w, b in folded(model)))
    report(model, images_of(options.mnist, "t10k"), options.range)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Train a network of the examples; write it as an .onnx file.

    python3 train.py NETWORK MNIST_DIR [--steps N] [--range 180] [--out NETWORK.onnx]

NETWORK is one of
  rotation              reads the angle of a turned digit, under noise
  rotation_clean        the same network, trained without noise
  rotation_equivariant  a network whose answer turns with the digit, trained without noise
  slant                 reads the slant of an upright digit, under noise
  slant_clean           the same network, trained without noise
  rotation_behind, slant_behind
                        the networks trained without noise, trained further behind denoiser.onnx

tasks.py says what is learned, and networks.py has the layers. Every turned digit has a uniform
angle in [-range, range) degrees. For noise-smoothed use every image is shown twice, each time under
Gaussian pixel noise of its own sigma, uniform in [0, 0.8]; a network behind the denoiser sees what
the denoiser makes of these views.

Loss. With e the error of the angle, sqrt(sin(e/2)^2 + delta^2): close to |e|/2, so that a few large
errors do not rule, and concave from one mode to another: where a digit reads alike after half a
turn (0, 1, 8, and 6 against 9), committing to one reading costs less than answering in between. The
slant has the Huber loss. The same loss between the two noisy views of one image asks for an answer
that does not depend on the noise; certified radii live on that. Batch normalisation is folded into
the convolutions on export, and the exported weights are an exponential moving average over the last
part of the training.

Needs torch, numpy, onnx and onnxruntime; MNIST_DIR holds the four IDX files, gzipped or not. The
README has the times. Prints the absolute error on the test images, by sigma.
"""

import argparse
import copy
import time
from dataclasses import dataclass
from typing import Callable

import torch

import networks
from data import SLANT_RANGE
from errors import DENOISER, FOLDER, answers, report, session
from export import export_chain, export_equivariant, load_chain
from tasks import Rotation, Slant

NOISY = 0.8


def rotation_network():
    return networks.chain(*networks.ROTATION)


def equivariant_network():
    return networks.equivariant(networks.EQUIVARIANT)


def slant_network():
    return networks.chain(*networks.SLANT)


def export_slant(model, name, path):
    export_chain(model, name, path, scale=Slant.UNIT, bounds=SLANT_RANGE)


@dataclass
class Recipe:
    task: type
    network: Callable
    export: Callable
    sigma_most: float
    steps: int
    start: str = ""  # the network that is trained further, behind the denoiser
    rate: float = 3e-3


RECIPES = {
    "rotation": Recipe(Rotation, rotation_network, export_chain, NOISY, 18000),
    "rotation_clean": Recipe(Rotation, rotation_network, export_chain, 0.0, 14000),
    "rotation_equivariant": Recipe(Rotation, equivariant_network, export_equivariant, 0.0, 3000),
    "slant": Recipe(Slant, slant_network, export_slant, NOISY, 6000),
    "slant_clean": Recipe(Slant, slant_network, export_slant, 0.0, 6000),
    "rotation_behind": Recipe(
        Rotation, rotation_network, export_chain, NOISY, 600, "rotation_clean", 5e-4
    ),
    "slant_behind": Recipe(Slant, slant_network, export_slant, NOISY, 3000, "slant_clean", 1e-3),
}


def noisy_views(clean, sigma_most):
    """Every image twice, each time under noise of its own sigma."""
    sigma = torch.rand(2 * len(clean), 1, 1, 1) * sigma_most
    return torch.cat((clean, clean)) + sigma * torch.randn(2 * len(clean), 1, 28, 28)


def started(recipe):
    """The network as it is before the training."""
    model = recipe.network()
    if recipe.start:
        load_chain(model, FOLDER / f"{recipe.start}.onnx", getattr(recipe.task, "UNIT", 1.0))
    return model


def loss_of(model, task, options, recipe, denoiser):
    """The loss of one batch."""
    sigma_most = recipe.sigma_most
    clean, target = task.batch(torch.randint(len(task.images), (options.batch,)))
    noisy = noisy_views(clean, sigma_most) if sigma_most > 0.0 else clean
    if denoiser:
        noisy = answers(denoiser, noisy).view_as(noisy)
    with torch.autocast("cpu", torch.bfloat16, enabled=not options.full_precision):
        y = model(noisy)
    y = y.float()
    if sigma_most == 0.0:
        return task.loss(y, target)
    other = task.answer(y).roll(options.batch, 0)
    return task.loss(y, target.repeat(2, 1)) + options.agree * task.loss(y, other)


@torch.no_grad()
def follow(average, model, keep):
    """Move the averaged weights towards those of the model."""
    for mean, now in zip(average.state_dict().values(), model.state_dict().values()):
        mean.copy_(now if not now.is_floating_point() else keep * mean + (1.0 - keep) * now)


def train(model, task, options, recipe):
    """The model with the averaged weights."""
    denoiser = session(DENOISER, options.threads) if recipe.start else None
    average = copy.deepcopy(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, options.rate, options.steps, pct_start=0.05
    )
    began, total = time.time(), 0.0
    for step in range(options.steps):
        loss = loss_of(model, task, options, recipe, denoiser)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        follow(average, model, min(0.999, step / (step + 50.0)))
        total += loss.item()
        if step % 500 == 499:
            print(f"step {step + 1} loss {total / 500:.4f} {time.time() - began:.0f} s", flush=True)
            total = 0.0
    return average.eval()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("network", choices=RECIPES)
    parser.add_argument("mnist")
    parser.add_argument("--out", help="default: NETWORK.onnx beside this file")
    parser.add_argument("--steps", type=int, help="default: as in the README")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rate", type=float, help="default: RECIPES")
    parser.add_argument(
        "--agree", type=float, default=0.5, help="weight of the agreement between two noisy views"
    )
    parser.add_argument("--range", type=float, default=180.0, help="of the angles, in degrees")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--full-precision", action="store_true", help="no bfloat16 in the training")
    options = parser.parse_args()
    options.out = options.out or FOLDER / f"{options.network}.onnx"
    return options


def task_of(recipe, options, split):
    more = {"limit": options.range} if recipe.task is Rotation else {}
    return recipe.task(options.mnist, split, **more)


def main():
    options = arguments()
    recipe = RECIPES[options.network]
    options.steps = options.steps or recipe.steps
    options.rate = options.rate or recipe.rate
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    model = started(recipe)
    print("parameters", sum(p.numel() for p in model.parameters()))
    model = train(model, task_of(recipe, options, "train"), options, recipe)
    recipe.export(model, options.network, options.out)
    report(options.out, task_of(recipe, options, "t10k"))


if __name__ == "__main__":
    main()

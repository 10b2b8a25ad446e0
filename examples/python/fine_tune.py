"""Trains a network further under noise. Its own answers to clean inputs are the targets, so no
labels are needed. The program shows it with a small network, before and after; it needs torch.

With another network: fine_tune(network, X, most), where X are inputs as the network takes them and
`most` is the greatest noise level, a little above that of the certificates. X must have no input of
a certificate or calibration."""

import copy
import sys

import numpy as np
from certreg import Question, certify_rows

try:
    import torch
except ImportError:
    print("skipped: torch is not installed")
    sys.exit()


def fine_tune(network, X, most, scale=1.0, steps=3000, rate=1e-3, batch=32, seed=1):
    """Trains the network in place. Each row gets noise of its own level, uniform up to `most` and
    in units of the scale of each feature. Layers that behave otherwise in training, such as batch
    normalisation, stay as they are in use."""
    network.eval()
    teacher, X = copy.deepcopy(network), torch.as_tensor(np.asarray(X, np.float32))
    dice, scale = torch.Generator().manual_seed(seed), torch.as_tensor(scale, dtype=torch.float32)
    with torch.no_grad():
        unit = teacher(X[:1000]).std(0, keepdim=True).clamp_min(1e-12)
    optimiser = torch.optim.AdamW(network.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        x = X[torch.randint(len(X), (batch,), generator=dice)]
        level = most * torch.rand((batch, *(1,) * (X.ndim - 1)), generator=dice)
        with torch.no_grad():
            wanted = teacher(x)
        answers = network(x + level * scale * torch.randn(x.shape, generator=dice))
        # Far answers count by their distance, not its square: the median has to be right.
        loss = torch.nn.functional.smooth_l1_loss(answers / unit, wanted / unit, beta=0.1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()


def main():
    """A network that saw no noise, and the same after fine-tuning."""
    torch.manual_seed(1)
    X = np.random.default_rng(1).normal(size=(2100, 2)) @ np.random.default_rng(2).normal(
        size=(2, 10)
    )  # ten features that depend on two
    X = torch.as_tensor(X, dtype=torch.float32)
    y = torch.tanh(X[:, :1]) + 0.5 * torch.sin(3 * X[:, 1:2])
    layer = torch.nn.Linear
    network = torch.nn.Sequential(
        layer(10, 64), torch.nn.ReLU(), layer(64, 64), torch.nn.ReLU(), layer(64, 1)
    )
    optimiser = torch.optim.AdamW(network.parameters(), 3e-3)
    for _ in range(300):
        optimiser.zero_grad()
        ((network(X[100:]) - y[100:]) ** 2).mean().backward()
        optimiser.step()
    for when in ("before", "after"):
        rows = certify_rows(network, X[:100].numpy(), 0.5, Question(0.5), seed=42, progress=False)
        error = rows.label_errors(y[:100, 0].numpy()).mean()
        print(f"{when}: mean radius {rows['radius'].mean():.3f}, mean error {error:.3f}")
        if when == "before":
            fine_tune(network, X[100:], 0.7)


if __name__ == "__main__":
    main()

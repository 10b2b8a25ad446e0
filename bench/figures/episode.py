"""A run of the cart of examples/python/episode.py: how far readings may be changed, as certified
and as an adversary finds out who learns to use past readings."""

from __future__ import annotations

import dataclasses
import importlib.util
from typing import Any, Callable

import numpy as np

from certreg import Serving
from certreg.plots import legend_above
from reproduce import figures
from reproduce.settings import ROOT, SEED, Settings

from .style import BLUE, ORANGE, SKY, VERMILION

SIGMAS = (0.2, 0.4, 0.8, 1.6, 3.2)
SHARES = (0.5, 0.05)  # of the runs that may stray
PAST = 9  # what the adversary multiplies: two past readings of four numbers, and 1
Sense = Callable[[int, np.ndarray], np.ndarray]


@dataclasses.dataclass
class Found:
    sigmas: tuple[float, ...]
    certified: np.ndarray  # for each share and sigma
    broken: np.ndarray


def _example() -> Any:
    spec = importlib.util.spec_from_file_location("episode", ROOT / "examples/python/episode.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Adversary:
    """Changes readings before the noise is added, by the same length in every tick, along a linear
    function of the last two readings with their noise."""

    def __init__(self, loop: Any, sigma: float, full: bool) -> None:
        self.loop, self.sigma = loop, sigma
        self.generations, self.runs = (12, 1000) if full else (2, 50)
        self.random = np.random.default_rng(SEED)

    def sense(self, policy: np.ndarray, budget: float) -> Sense:
        """policy: (runs, 4, PAST), another one in every run."""
        runs, unit, ticks = len(policy), self.loop.UNIT, self.loop.TICKS
        noise = self.sigma * unit * self.random.standard_normal((runs, ticks, 4))
        past = np.hstack((np.zeros((runs, PAST - 1)), np.ones((runs, 1))))

        def noisy(tick: int, reading: np.ndarray) -> np.ndarray:
            push = np.einsum("rij,rj->ri", policy, past)
            push *= budget / np.sqrt(ticks) / np.linalg.norm(push, axis=1, keepdims=True)
            seen = reading + unit * push + noise[:, tick]
            past[:, 4:8], past[:, :4] = past[:, :4], seen / unit
            return seen

        return noisy

    def strays(self, policy: np.ndarray, budget: float, runs: int) -> np.ndarray:
        """How far the cart strays, (policies, runs); a pole that falls strays 3 m."""
        each = np.repeat(policy, runs, axis=0)
        far = self.loop.farthest(len(each), self.sense(each, budget))
        return np.nan_to_num(far, nan=3.0).reshape(-1, runs)

    def learn(self, budget: float) -> np.ndarray:
        """The cross-entropy method: draws policies, and goes on around the best of them."""
        mean, spread = np.zeros((4, PAST)), np.ones((4, PAST))
        for _ in range(self.generations):
            tried = mean + spread * self.random.standard_normal((40, 4, PAST))
            best = np.argsort(self.strays(tried, budget, 50).mean(1))[-8:]
            mean, spread = tried[best].mean(0), tried[best].std(0) + 0.02
        return mean[None]

    def breaks(self, policy: np.ndarray, share: float) -> float:
        """The least budget at which this share of runs was seen to stray."""
        low, high = 0.0, 64.0
        while high - low > 0.01 * high:
            budget = (low + high) / 2
            out = (self.strays(policy, budget, self.runs) >= self.loop.LIMIT).mean() >= share
            low, high = (low, budget) if out else (budget, high)
        return high


def found(settings: Settings) -> Found:
    np.random.seed(SEED)  # of the gusts
    loop = _example()
    loop.EPISODES = min(loop.EPISODES, settings.size.samples)
    sigmas = SIGMAS if settings.full else SIGMAS[3:4]
    certified, broken = np.zeros((2, len(SHARES), len(sigmas)))
    for k, sigma in enumerate(sigmas):
        adversary = Adversary(loop, sigma, settings.full)
        policies = [adversary.learn(budget) for budget in (12.0, 25.0)]
        for i, share in enumerate(SHARES):
            serving = None if i == 0 else Serving(1, share)
            certified[i, k] = loop.certified(sigma, serving, seed=SEED + i)[0]
            broken[i, k] = min(adversary.breaks(policy, share) for policy in policies)
            print(f"  σ {sigma:g}, share {share:g}: certified {certified[i, k]:.2f}, "
                  f"broken at {broken[i, k]:.2f}")  # fmt: skip
    return Found(sigmas, certified, broken)


LOOKS = (("half of the runs", BLUE, VERMILION, 2.5), ("one run in 20", SKY, ORANGE, 1.6))


def drawn(done: Found) -> Any:
    (ax,) = figures.panels(("change of all readings of a run",), "noise level σ", 4.6)
    for i, (who, proved, attacked, width) in enumerate(LOOKS):
        ax.plot(done.sigmas, done.broken[i], "--s", c=attacked, lw=width, label=f"{who} stray")
        name = f"proved: less than {who}"
        ax.plot(done.sigmas, done.certified[i], "-o", c=proved, lw=width, label=name)
    ax.set_xscale("log")
    ax.set_xticks(done.sigmas, [f"{sigma:g}" for sigma in done.sigmas])
    ax.minorticks_off()
    ax.set_ylim(0, None)
    legend_above(ax)
    return ax


OF_DIGITS = False
DRAWINGS = {"episode": drawn}

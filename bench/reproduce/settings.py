"""What a run does, from environment variables:

CERTREG_MNIST     folder of the MNIST files; without it digits are drawn, for which the figures of
                  docs/reproduction.md are not meant
QUICK=1           fewer inputs, samples and noise levels
QUICK=2           as few as the tests of the repository need
REPRODUCE_OUT     folder of the results; lib/reproduce, or lib/reproduce-quick with QUICK
REPRODUCE_JOBS    processes; one per processor by default"""

from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import Optional

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "examples" / "models"
SEED = 42  # of the noise; public, because the results are to be repeated


@dataclasses.dataclass(frozen=True)
class Size:
    """How much of everything."""

    images: int  # a multiple of ten is stratified by digit
    samples: int  # of each image and noise level of the rotation task
    sigmas: tuple[float, ...]
    trials: int  # of the study of convergence
    numbers: tuple[int, ...]  # of samples there; the last is the reference
    attacked: int  # images
    attack_calls: int  # of the model for each attack
    points: int  # of each synthetic function
    synthetic_samples: int
    interval_sets: int  # calibrations of each task
    interval_points: int  # of each


FULL = Size(
    images=100,
    samples=10_000,
    sigmas=(0.03, 0.06, 0.12, 0.25, 0.35, 0.5, 0.75),
    trials=10,
    numbers=(100, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000),
    attacked=100,
    attack_calls=40_000,
    points=10,
    synthetic_samples=5000,
    interval_sets=100,
    interval_points=500,
)
QUICK = Size(
    images=10,
    samples=2000,
    sigmas=(0.06, 0.25, 0.5, 0.75),
    trials=4,
    numbers=(100, 500, 1000, 2000, 5000),
    attacked=5,
    attack_calls=10_000,
    points=10,
    synthetic_samples=2000,
    interval_sets=10,
    interval_points=100,
)
LEAST = Size(
    images=2,
    samples=200,
    sigmas=(0.25, 0.5),
    trials=2,
    numbers=(100, 200),
    attacked=1,
    attack_calls=2000,
    points=3,
    synthetic_samples=300,
    interval_sets=2,
    interval_points=40,
)
SIZES = (FULL, QUICK, LEAST)


class SettingsError(Exception):
    """A setting that cannot be used; its text says why."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """mnist is None where digits are drawn."""

    size: Size
    mnist: Optional[pathlib.Path]
    out: pathlib.Path
    jobs: int

    @property
    def full(self) -> bool:
        return self.size is FULL

    def path(self, name: str) -> pathlib.Path:
        return self.out / name

    def figure(self, name: str) -> pathlib.Path:
        """Where the plot of this name goes; the report links to it."""
        return self.out / "figures" / f"{name}.svg"


def _whole(name: str, default: int, most: int) -> int:
    text = os.environ.get(name, "").strip() or str(default)
    if not text.isdigit() or int(text) > most:
        raise SettingsError(f"{name} is {text!r}; it must be a whole number from 0 to {most}")
    return int(text)


def read() -> Settings:
    """The settings of this run. Makes the folder of the results. Raises SettingsError."""
    quick = _whole("QUICK", 0, len(SIZES) - 1)
    jobs = _whole("REPRODUCE_JOBS", 0, 1024) or len(os.sched_getaffinity(0))
    mnist = os.environ.get("CERTREG_MNIST")
    usual = ROOT / "lib" / ("reproduce-quick" if quick else "reproduce")
    out = pathlib.Path(os.environ.get("REPRODUCE_OUT") or usual)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"the folder {out} cannot be made: {error.strerror}") from None
    return Settings(SIZES[quick], pathlib.Path(mnist) if mnist else None, out, jobs)

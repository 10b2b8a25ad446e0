"""An aperiodic bounded task on real images, in place of face age: the slant of a digit."""

from __future__ import annotations

from data import SLANT_RANGE, slant  # examples/models

from certreg.models import OnnxModel

from . import images, methods, sweep, tables
from .digits import SIDE, Digits, load
from .settings import MODELS, Settings

TOLERANCE = 5.0  # degrees, of a range of 105; the paper has 6 of 116 years
NETWORKS = {
    "slant": "trained under noise of σ up to 0.8",
    "slant_clean": "trained without noise",
}
MOST = max(-SLANT_RANGE[0], SLANT_RANGE[1])
RANGES = {"": SLANT_RANGE, "_symmetric": (-MOST, MOST)}
SAMPLES = 0.5  # of those of the rotation task, as in the paper


def task(network: str, range_: str, digits: Digits) -> sweep.Task:
    """Upright digits and their slants in degrees, with one of RANGES declared."""
    lo, hi = RANGES[range_]
    truth = slant(digits.upright.reshape(-1, SIDE, SIDE))
    model = OnnxModel(MODELS / f"{network}.onnx")
    return sweep.Task(network + range_, model, digits.upright, truth, TOLERANCE, lo, hi)


def compute(settings: Settings) -> None:
    digits = load(settings.mnist, settings.size.images)
    samples = int(SAMPLES * settings.size.samples)
    print(f"  {len(digits.upright)} {digits.source}, {samples} samples each")
    images.compute(
        settings,
        "slant",
        [task(network, range_, digits) for network in NETWORKS for range_ in RANGES],
        lambda t: methods.asked(methods.OF_REALS, t.tolerance),
        samples,
        NETWORKS,
    )


# ---- the report
OF_RANGE = ("(E,C)+M", "(E,C,G)+M", "mean", "median")  # what uses the range, and what does not


def report(settings: Settings, beside: tables.Beside) -> dict[str, str]:
    summary = images.read(settings, "slant", "summary")
    accuracy = images.read(settings, "slant", "accuracy")
    images.add(beside, settings, "slant", NETWORKS)
    for name in NETWORKS:
        symmetric = images.by_sigma(summary, name + "_symmetric", "mean_radius", OF_RANGE)
        beside.add("by_sigma", symmetric)
        beside.add("accuracy", images.accuracy(accuracy, name, {"absolute": 0}))
    return {}

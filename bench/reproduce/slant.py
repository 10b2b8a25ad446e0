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
HEADINGS = {
    "slant": "The network trained under noise",
    "slant_clean": "The network trained without noise",
}
HEAD = """
`make reproduce PARTS=slant`: {images} upright images, tolerance {tolerance}, α = 0.1, {samples}
samples for each image and σ. The task stands in for the paper's face ages, whose images may not be
passed on. The slant follows from the pixels (`slant` in `examples/models/data.py`). Its declared
range is {declared}. The last table of each network compares with the range {symmetric}, as the
paper's method asks for a bound M of the absolute value. Columns are as above."""


def report(settings: Settings) -> str:
    summary, accuracy = (images.read(settings, "slant", kind) for kind in ("summary", "accuracy"))
    lo, hi = SLANT_RANGE
    head = HEAD.format(
        images=settings.size.images,
        samples=f"{int(SAMPLES * settings.size.samples):,}",
        tolerance=f"{TOLERANCE:g}°",
        declared=f"[{lo:g}, {hi:g}]",
        symmetric=f"[{-MOST:g}, {MOST:g}]",
    )
    parts = ["## An aperiodic task: the slant of a digit", tables.paragraph(head)]
    for name, heading in HEADINGS.items():
        parts += [
            *images.of_network(settings, "slant", name, heading),
            f"Certified accuracy, absolute, in percent of the images ({TOLERANCE:g}°):",
            images.of_metric(accuracy, name, "absolute", 0),
            "What a symmetric range costs, mean radius by σ:",
            images.by_sigma(summary, name + "_symmetric", "mean_radius", OF_RANGE),
        ]
    return "\n\n".join(parts)

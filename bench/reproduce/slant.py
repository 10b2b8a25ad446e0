"""An aperiodic bounded task on real images, in place of face age: the slant of a digit."""

from __future__ import annotations

from data import SLANT_RANGE, slant  # examples/models

from certreg.models import OnnxModel

from . import images, methods, sweep
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
    )


# ---- the report
OF_RANGE = ("(E,C)+M", "(E,C,G)+M", "mean", "median")  # what uses the range, and what does not
HEADINGS = {
    "slant": "The network trained under noise",
    "slant_clean": "The network trained without noise",
}


def report(settings: Settings) -> str:
    summary, accuracy, wins = (
        images.read(settings, "slant", kind) for kind in ("summary", "accuracy", "wins")
    )
    lo, hi = SLANT_RANGE
    parts = [
        "## An aperiodic task: the slant of a digit",
        f"`make reproduce PARTS=slant`: {settings.size.images} upright images, tolerance\n"
        f"{TOLERANCE:g}°, α = 0.1, {int(SAMPLES * settings.size.samples):,} samples for each "
        "image and σ. The task stands in\n"
        "for the paper's face ages, whose network and images cannot be had freely. The slant\n"
        "follows from the pixels (`slant` in `examples/models/data.py`). The declared range is\n"
        f"[{lo:g}, {hi:g}], and [{-MOST:g}, {MOST:g}] where the table says *symmetric*.\n"
        "Columns are as above.",
    ]
    for name, heading in HEADINGS.items():
        parts += [
            f"### {heading}",
            images.best(summary, name),
            "Mean radius by σ:",
            images.by_sigma(summary, name, "mean_radius"),
            "Mean absolute error by σ, of all predictions:",
            images.by_sigma(summary, name, "mae", images.CHIEF[3:]),
            f"![Share of images certified at each radius](figures/{name}_cdf.svg)",
            f"![Error of the prediction by σ](figures/{name}_mae.svg)",
            "Image by image, each method at its best σ:",
            images.paired(wins, name),
            f"Certified accuracy, absolute, in percent of the images ({TOLERANCE:g}°):",
            images.of_metric(accuracy, name, "absolute", 0),
            "What a symmetric range costs, mean radius by σ:",
            images.by_sigma(summary, name + "_symmetric", "mean_radius", OF_RANGE),
        ]
    return "\n\n".join(parts)

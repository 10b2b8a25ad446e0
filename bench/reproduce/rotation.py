"""Rotated digits with three networks, and random angles as a warning."""

from __future__ import annotations

from typing import Any

import numpy as np

from certreg.models import OnnxModel

from . import images, methods, sweep, tables
from .digits import Digits, load
from .settings import MODELS, Settings

TOLERANCE = 10.0
NETWORKS = {
    "rotation": "trained under noise of σ up to 0.8",
    "rotation_clean": "the same architecture, trained without noise",
    "rotation_equivariant": "equivariant under quarter turns, trained without noise",
}
RANDOM = "rotation_random"
RANDOM_SIGMAS = (1.5, 3.0, 6.0)  # beyond the others


class Directions:
    """The directions that a network answers as (cos, sin), in degrees. One column is enough for
    angles as numbers and on the circle alike."""

    def __init__(self, path: str) -> None:
        self.network = OnnxModel(path)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        y = self.network(x)
        return np.degrees(np.arctan2(y[:, 1], y[:, 0]))


class RandomAngles:
    """An angle that has nothing to do with the image: a sum of the pixels with large weights,
    modulo a turn. Under noise it is uniform."""

    def __call__(self, x: np.ndarray) -> np.ndarray:
        weights = np.random.default_rng(0).normal(size=x.shape[1])
        return (x.astype(np.float64) @ weights * 1e4) % 360.0 - 180.0


def task(name: str, digits: Digits) -> sweep.Task:
    """Turned digits, and the angles by which they were turned."""
    model = RandomAngles() if name == RANDOM else Directions(str(MODELS / f"{name}.onnx"))
    return sweep.Task(name, model, digits.turned, digits.degrees, TOLERANCE, -180, 180, "angle")


def compute(settings: Settings) -> None:
    digits = load(settings.mnist, settings.size.images)
    print(f"  {len(digits.turned)} {digits.source}, {settings.size.samples} samples each")
    tasks = [task(name, digits) for name in (*NETWORKS, RANDOM)]
    images.compute(
        settings,
        "rotation",
        tasks,
        lambda t: methods.asked(methods.OF_ANGLES, t.tolerance),
        settings.size.samples,
        NETWORKS,
        lambda t: (*settings.size.sigmas, *(RANDOM_SIGMAS if t.name == RANDOM else ())),
    )


# ---- the report
# As printed in the paper, by σ: 97.5%, 95%, and 90%.
PRINTED = {
    "(E,C)+M, 97.5%": {0.06: 0.090, 0.12: 0.058, 0.25: 0.045, 0.5: 0.059, 0.75: 0.064},
    "(E,C,G)+M, 95%": {0.06: 0.078, 0.12: 0.068, 0.25: 0.081, 0.5: 0.156, 0.75: 0.207},
    "α-smoothing, 90%": {0.06: 0.120, 0.12: 0.049, 0.25: 0.002, 0.5: 0.0, 0.75: 0.0},
}
MEASURED = {
    "(E,C)+M, 97.5%": ("(E,C)+M", 0.025),
    "(E,C,G)+M, 95%": ("(E,C,G)+M", 0.05),
    "α-smoothing, 90%": ("α-smoothing 0.49", 0.1),
}
HEADINGS = {
    "rotation": "The network trained under noise",
    "rotation_clean": "The same architecture, trained without noise",
    "rotation_equivariant": "An equivariant network, trained without noise",
}
HEAD = """
`make reproduce PARTS=rotation`: {images} images, tolerance 10°, α = 0.1, {samples} samples for
each image and σ. A radius is the mean over all images, where an abstention counts as 0. *MAE* is
the mean absolute error of the prediction against the angle by which the image was turned. The
prediction is the value that the promise is about. For α-smoothing it is the clean output f(z),
although other values are served. For the library's median the pilot chooses it so that both tails
balance; where outputs scatter it may differ from the median. *Error first* is the longest radius
among the σ at which the MAE is at most a tenth of the tolerance above the method's least. The
*useful radius* counts a radius only where the prediction lies within 10° of the true angle. σ is
chosen on the images that are reported."""
AT_LEVELS = """
All methods at the three levels of the paper, each at its best σ, with the useful radius beside
the plain one. For α-smoothing and the served median the level is the probability that a served
value keeps to the tolerance."""
METRICS = """
*Absolute* is the share of images, in percent, whose prediction lies within 10° of the truth and
whose radius is at least R. *Conditional* is the same share among the images with such a radius.
The last table of each network has the mean absolute error of these images in degrees. σ, in
parentheses, has the greatest sum of accuracies, or the least sum of errors, over the columns.
This is the paper's rule."""
WARNING = """
This model ignores the image. Its answer is a sum of the pixels with large random weights, modulo
a turn, so under noise it is uniform. The mean of such outputs hardly moves with the input. The
paper's families certify it, and the radius grows with σ without end: the best σ is wherever the
grid ends. The printed radii of (E,C,G)+M at σ = 0.25, 0.5 and 0.75 (0.081, 0.156, 0.207, at 95%)
are 0.83 to 0.98 times those of this model (at 90%).
On the circle the median of such outputs is near no value, and the library certifies nothing about
it. Median smoothing, which cuts the circle once and for all, certifies a little."""


def report(settings: Settings) -> str:
    summary, accuracy = (
        images.read(settings, "rotation", kind) for kind in ("summary", "accuracy")
    )
    head = HEAD.format(images=settings.size.images, samples=f"{settings.size.samples:,}")
    parts = ["## Rotated digits", tables.paragraph(head)]
    for name, heading in HEADINGS.items():
        parts += images.of_network(settings, "rotation", name, heading)
    parts += [*_printed(summary), *_accuracy(accuracy), *_random(summary)]
    return "\n\n".join(parts)


def _printed(summary: list[dict[str, Any]]) -> list[str]:
    """The paper's table by σ, beside the same procedures on the three networks."""
    sigmas = sorted(next(iter(PRINTED.values())))
    lines = []
    for label, (method, alpha) in MEASURED.items():
        lines.append([label, "printed", *(PRINTED[label][sigma] for sigma in sigmas)])
        for name in NETWORKS:
            found = {
                row["sigma"]: row["mean_radius"]
                for row in summary
                if (row["task"], row["method"], row["alpha"]) == (name, method, alpha)
            }
            lines.append(["", name, *(found.get(sigma) for sigma in sigmas)])
    heading = ["method, level", "network", *(f"{sigma:g}" for sigma in sigmas)]
    return [
        "### The printed table by σ",
        "The paper has a different level for each method in this table.",
        tables.markdown(heading, lines),
        tables.paragraph(AT_LEVELS),
        *(f"`{name}`:\n\n" + _levels(summary, name) for name in NETWORKS),
    ]


def _levels(summary: list[dict[str, Any]], name: str) -> str:
    names = [method.name for method in methods.AT_ALL_LEVELS]
    lines = []
    for method in names:
        own = [row for row in summary if row["task"] == name and row["method"] == method]
        cells: list[Any] = [method]
        for alpha in methods.LEVELS:
            at = [row for row in own if row["alpha"] == alpha]
            cells += [max(row[key] for row in at) for key in ("mean_radius", "useful_radius")]
        lines.append(cells)
    heading = ["method"]
    for alpha in methods.LEVELS:
        heading += [f"{1 - alpha:.1%}", "useful"]
    return tables.markdown(heading, lines)


def _accuracy(accuracy: list[dict[str, Any]]) -> list[str]:
    parts = [
        "### Certified accuracy",
        tables.paragraph(METRICS),
    ]
    for name in NETWORKS:
        for metric, what, digits in (
            ("absolute", "absolute", 0),
            ("conditional", "conditional", 0),
            ("mae", "mean absolute error", 2),
        ):
            table = images.of_metric(accuracy, name, metric, digits)
            parts += [f"`{name}`, {what}:", table]
    return parts


def _random(summary: list[dict[str, Any]]) -> list[str]:
    return [
        "### A warning: random angles",
        tables.paragraph(WARNING),
        images.by_sigma(summary, RANDOM, "mean_radius", images.CHIEF),
        "The useful radius shows the difference:",
        images.by_sigma(summary, RANDOM, "useful_radius", images.CHIEF),
    ]

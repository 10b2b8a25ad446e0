"""The shortest shift of a digit that an attack found: the digit, the shift, and their sum."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from certreg import AttackResult, Certificate, Estimator, Question
from reproduce import digits, figures, rotation
from reproduce.settings import MODELS, SEED, Settings

from .style import MIDDLE, VERMILION, broken, certified

IMAGE, SIGMA, ALPHA = 4, 0.5, 0.1
CALLS_PER_SAMPLE = 3  # of the attack
AFTER = 1 << 20  # noise id of the shifted digit


@dataclasses.dataclass(frozen=True)
class Found:
    """truth: the angle by which the digit was turned. moved: the estimate at the shifted digit."""

    image: np.ndarray
    truth: float
    certificate: Certificate
    attack: AttackResult
    moved: float


def found(settings: Settings) -> Found:
    some = digits.load(settings.mnist, IMAGE + 1)
    image, samples = some.turned[IMAGE], settings.size.samples
    model = rotation.Directions(str(MODELS / "rotation.onnx"))
    question = Question(rotation.TOLERANCE, alpha=ALPHA)
    options: dict[str, Any] = {"kind": "angle", "lo": -180, "hi": 180, "seed": SEED}
    with Estimator(model, digits.PIXELS, samples, **options) as e:
        certificate = e.certify(image, SIGMA, samples, question, noise_id=IMAGE)
        attack = e.attack(question, CALLS_PER_SAMPLE * samples, alpha=ALPHA)
        e.begin(image + attack.shift, SIGMA, AFTER)
        e.sample(0, samples)
        moved = e.estimate(question)
    return Found(image, float(some.degrees[IMAGE]), certificate, attack, moved)


def drawn(of: Found) -> Any:
    row = figures.panels(("", "", ""), "", 3.2, beside=True)
    c, attack, shift = of.certificate, of.attack, of.attack.shift
    most = float(np.abs(shift).max()) or 1.0
    ink: dict[str, Any] = {"cmap": "gray_r", "vmin": 0, "vmax": 1}
    change: dict[str, Any] = {"cmap": "PuOr", "vmin": -most, "vmax": most}
    length = f"a shift of length\n{broken(attack.radius)}" if attack.broken else "no shift\nfound"
    titles = (
        f"the digit:\nprediction {c.prediction:.1f}°\n",
        f"{length}\n(certified: {certified(c.radius)})",
        f"the shifted digit:\nout of\n{c.prediction:.1f}° ± {c.tolerance:g}°",
    )
    pictures = (of.image, shift, of.image + shift)
    for ax, image, look, title in zip(row, pictures, (ink, change, ink), titles):
        square = image.reshape(digits.SIDE, digits.SIDE)
        shown = ax.imshow(square, interpolation="none", **look)
        ax.set_title(title)
        ax.set(xticks=[], yticks=[])
        if look is change:
            bar = ax.inset_axes((0.05, -0.09, 0.9, 0.05))
            ax.figure.colorbar(shown, bar, orientation="horizontal", label="change of a pixel")
    for ax, angle in ((row[0], c.prediction), (row[2], of.moved)):
        _direction(ax, of.truth, MIDDLE, "--", f"true angle {of.truth:.1f}°")
        _direction(ax, angle, VERMILION, "-", f"prediction {angle:.1f}°")
        ax.legend(loc="upper left", bbox_to_anchor=(0, -0.01), handlelength=0.8, frameon=False)
    return row[0]


def _direction(ax: Any, degrees: float, color: str, style: str, label: str) -> None:
    """A line through the centre, from the foot of the digit to its top if this were its angle."""
    angle, middle = np.radians(degrees), 0.5 * (digits.SIDE - 1)
    length = 0.93 * middle
    along = np.array([-1, 1]) * length
    x, y = middle - np.sin(angle) * along, middle - np.cos(angle) * along
    ax.plot(x, y, color=color, linestyle=style, linewidth=1.8, label=label)
    ax.plot(x[1], y[1], "o", color=color, markersize=5)


OF_DIGITS = True
DRAWINGS = {"attacked_digit": drawn}

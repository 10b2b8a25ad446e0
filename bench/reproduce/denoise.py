"""What a denoiser in front gains for networks that were not trained under noise, for networks that
were, and for networks that were trained behind it."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterable, Iterator, Sequence

from certreg import CertregError, Denoised, Status, join_denoiser
from certreg.models import OnnxModel

from . import digits, methods, rotation, slant, sweep, tables
from .settings import FULL, LEAST, MODELS, QUICK, Settings

BEHIND = "_behind"  # a network that was trained further behind DENOISER, and is only used there
NETWORKS = {
    "rotation_clean": rotation,
    "rotation_behind": rotation,
    "slant_clean": slant,
    "slant_behind": slant,
    "rotation": rotation,
    "slant": slant,
}
SAMPLES = 1000  # of each image and noise level, as certificates have them by default
LOWEST = 0.12  # noise level; below all radii are shorter
DENOISER = MODELS / "denoiser.onnx"
SIZES = {FULL: 8000, QUICK: 1000, LEAST: 64}  # unlabelled digits
Models = Iterable[tuple[Sequence[float], Any]]  # noise levels, and the model for them


def compute(settings: Settings) -> None:
    """Writes denoise_summary.csv."""
    some = digits.load(settings.mnist, settings.size.images)
    samples, rows = min(SAMPLES, settings.size.samples), []
    print(f"  {len(some.turned)} {some.source}, {samples} samples each")
    for network in NETWORKS:
        task = _task(network, some)
        asked = methods.asked((methods.MEDIAN,), task.tolerance)[:1]
        for front, models in _fronts(settings, network):
            name = f"denoise_{network}_{front}"
            for levels, model in models:
                own = dataclasses.replace(task, name=name, model=model)
                done = sweep.run(settings, own, levels, asked, samples, lambda s: print(" ", s))
                rows += [{"network": network, "front": front, **r} for r in sweep.summary(done)]
    tables.write_csv(settings.path("denoise_summary.csv"), rows)


def _task(network: str, some: digits.Digits) -> sweep.Task:
    if NETWORKS[network] is rotation:
        return rotation.task(network, some)
    return slant.task(network, "", some)


def _fronts(settings: Settings, network: str) -> Iterator[tuple[str, Models]]:
    """What is in front of a network."""
    levels = [sigma for sigma in settings.size.sigmas if sigma >= LOWEST]
    turned, source = NETWORKS[network] is rotation, MODELS / f"{network}.onnx"
    opened: Callable[[Any], Any] = rotation.Directions if turned else OnnxModel
    if not network.endswith(BEHIND):
        inputs = digits.unlabelled(settings.mnist, SIZES[settings.size], turned)
        model = opened(str(source))
        yield "none", [(levels, model)]
        yield "linear", _linear(model, inputs, levels)
    joined = settings.path(f"denoise_{network}.onnx")
    join_denoiser(DENOISER, source, joined)
    yield "trained", [(levels, opened(str(joined)))]


def _linear(model: Any, inputs: Any, levels: Iterable[float]) -> Models:
    """The linear denoiser is made for one noise level."""
    try:
        for sigma in levels:
            yield (sigma,), Denoised(model, inputs, sigma)
    except CertregError as error:
        if error.status != Status.NO_BACKEND:
            raise
        print(f"  no linear denoiser: {error}")


# ---- the report
def report(settings: Settings, beside: tables.Beside) -> dict[str, str]:
    """The table of the page: the longest radius; the longest useful radius, and there σ and the
    error."""
    heading = ("network", "denoiser", "radius", "useful radius", "σ", "error there")
    rows = tables.read_csv(settings.path("denoise_summary.csv"))
    beside.add("denoise", rows)
    lines = []
    for network, front in dict.fromkeys((row["network"], row["front"]) for row in rows):
        own = [row for row in rows if (row["network"], row["front"]) == (network, front)]
        best = max(own, key=lambda row: row["useful_radius"])
        longest = max(row["mean_radius"] for row in own)
        said = f"{best['sigma']:g}", f"{best['mae']:.1f}°"
        lines.append((f"`{network}`", front, longest, best["useful_radius"], *said))
    return {"denoise": tables.markdown(heading, lines)}

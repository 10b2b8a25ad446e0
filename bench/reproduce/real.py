"""Certificates of the models of examples/real, which were not made for this. Examples that lack a
package are left out, with a sentence."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import sys
from types import ModuleType
from typing import Any, Callable, Optional

import numpy as np

from . import images, methods, summary, sweep, tables, upward
from .settings import ROOT, Settings

Range = tuple[float, float]


@dataclasses.dataclass(frozen=True)
class Example:
    """samples: of those of the rotation task. range: of the outputs, which are clipped to it."""

    name: str
    samples: float
    range: Callable[[ModuleType], Range]


EXAMPLES = (
    Example("diamonds", 0.5, lambda module: module.RANGE),
    Example("face", 0.05, lambda module: (0, 512)),  # the photograph
    Example("pitch", 0.1, lambda module: tuple(module.cents(f) for f in module.RANGE.values())),
)
LEAST_SAMPLES = 100
ORDER = ("useful", "longest", "accurate")  # keys of summary.KINDS
NONE = "No example has been computed: `make deps-real` installs what they need."


def module_of(name: str) -> ModuleType:
    """Raises ImportError or OSError where an example lacks something, SystemExit if it ends the
    program for that."""
    folder = str(ROOT / "examples" / "real" / name)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


@functools.lru_cache
def clipped(name: str, lo: float, hi: float) -> Callable[[np.ndarray], np.ndarray]:
    """The model of an example. Each process makes its own, once."""
    model = module_of(name).make_model()
    return lambda x: np.clip(model(x), lo, hi)


def task(example: Example, count: int) -> tuple[sweep.Task, tuple[float, ...]]:
    """An example with at most so many inputs, and its noise levels. Raises as module_of does."""
    module = module_of(example.name)
    lo, hi = example.range(module)
    clipped(example.name, lo, hi)  # it must be possible here
    inputs, truth = (np.asarray(part)[:count] for part in module.inputs())
    made = sweep.Task(
        example.name,
        functools.partial(clipped, example.name, lo, hi),
        inputs,
        truth,
        module.TOLERANCE,
        lo,
        hi,
        scale=np.broadcast_to(np.float32(module.SCALE), inputs.shape[1:]),
    )
    return made, module.SIGMAS


def compute(settings: Settings) -> None:
    rows: dict[str, list[dict[str, Any]]] = {"summary": [], "each": [], "wins": []}
    for example in EXAMPLES:
        done = _done(settings, example)
        if done:
            own = {
                "summary": sweep.summary(done),
                "each": sweep.each(done),
                "wins": images.wins(done),
            }
            for kind, some in own.items():
                rows[kind] += [{"task": example.name, **row} for row in some]
    for kind, some in rows.items():
        tables.write_csv(settings.path(f"real_{kind}.csv"), some)


def _done(settings: Settings, example: Example) -> Optional[sweep.Sweep]:
    try:
        found, sigmas = task(example, settings.size.images)
    except (ImportError, OSError, SystemExit) as why:
        print(f"  {example.name} is left out: {why}")
        return None
    samples = max(LEAST_SAMPLES, int(example.samples * settings.size.samples))
    levels = sigmas if settings.full else sigmas[1::2][: len(settings.size.sigmas)]
    asked = methods.asked(methods.OF_REALS, found.tolerance)
    asked = tuple(one for one in asked if one.alpha == methods.LEVELS[0])
    print(f"  {len(found.inputs)} inputs, {samples} samples each")
    done = sweep.run(settings, found, levels, asked, samples, lambda s: print(" ", s, flush=True))
    return upward.added(settings, done, samples)


# ---- the report
def report(settings: Settings, beside: tables.Beside) -> dict[str, str]:
    rows, won = (images.read(settings, "real", kind) for kind in ("summary", "wins"))
    computed = list(dict.fromkeys(row["task"] for row in rows))
    for name in computed:
        beside.add("best", images.best(rows, name))
        beside.add("pairs", images.paired(won, name))
    kinds = {choice: rest for choice, *rest in summary.KINDS}
    blocks = {}
    for choice in ORDER:
        value, corner = kinds[choice]
        best = {name: summary.best(rows, name, choice, value) for name in computed}
        blocks[f"real_{choice}"] = summary.table(best, corner) if best else NONE
    return blocks

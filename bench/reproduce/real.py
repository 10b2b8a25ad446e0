"""Certificates of the models of examples/real, which were not made for this. Examples that lack a
package are left out, with a sentence."""

from __future__ import annotations

import functools
import importlib
import sys
from types import ModuleType
from typing import Callable, Iterator

import numpy as np

from . import images, methods, summary, sweep, tables, upward
from .settings import ROOT, Settings

# By name: samples, as a share of those of the rotation task, and the range of the outputs, which
# are clipped to it.
EXAMPLES: dict[str, tuple[float, Callable[[ModuleType], tuple[float, float]]]] = {
    "diamonds": (0.5, lambda module: module.RANGE),
    "face": (0.05, lambda module: (0, 512)),  # the photograph
    "pitch": (0.1, lambda module: tuple(module.cents(f) for f in module.RANGE.values())),
}
LEAST_SAMPLES = 100
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


def task(name: str, count: int) -> sweep.Task:
    """An example with at most so many inputs. Raises as module_of does."""
    module = module_of(name)
    ends = EXAMPLES[name][1](module)
    clipped(name, *ends)  # it must be possible here
    inputs, truth = (np.asarray(part)[:count] for part in module.inputs())
    scale = np.broadcast_to(np.float32(module.SCALE), inputs.shape[1:])
    model = functools.partial(clipped, name, *ends)
    return sweep.Task(name, model, inputs, truth, module.TOLERANCE, *ends, scale=scale)


def compute(settings: Settings) -> None:
    found = [done for name in EXAMPLES for done in _done(settings, name)]
    rows = [{"task": done.task.name, **row} for done in found for row in sweep.summary(done)]
    tables.write_csv(settings.path("real_summary.csv"), rows)


def _done(settings: Settings, name: str) -> Iterator[sweep.Sweep]:
    try:
        found = task(name, settings.size.images)
    except (ImportError, OSError, SystemExit) as why:
        print(f"  {name} is left out: {why}")
        return
    samples = max(LEAST_SAMPLES, int(EXAMPLES[name][0] * settings.size.samples))
    levels = module_of(name).SIGMAS
    levels = levels if settings.full else levels[1::2][: len(settings.size.sigmas)]
    asked = methods.asked(methods.OF_REALS, found.tolerance)[: len(methods.OF_REALS)]
    print(f"  {len(found.inputs)} inputs, {samples} samples each")
    done = sweep.run(settings, found, levels, asked, samples, lambda s: print(" ", s, flush=True))
    yield upward.added(settings, done, samples)


# ---- the report
def report(settings: Settings, beside: tables.Beside) -> dict[str, str]:
    rows = images.read(settings, "real", "summary")
    computed = list(dict.fromkeys(row["task"] for row in rows))
    for name in computed:
        beside.add("best", images.best(rows, name))
    blocks = dict.fromkeys((f"real_{choice}" for choice in summary.SHOWN), NONE)
    for choice, value, corner in summary.KINDS:
        if computed and choice in summary.SHOWN:
            best = {name: summary.best(rows, name, choice, value) for name in computed}
            blocks[f"real_{choice}"] = summary.table(best, corner)
    return blocks

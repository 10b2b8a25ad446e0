"""How often prediction intervals contain the truth, without and under attack, and how wide they
are."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Sequence

import numpy as np

from certreg import Calibrated, Domain

from . import moved
from .conformal import ALPHA, ORACLE, OURS, Asked, Record
from .kept import Job, done
from .labelled import Task
from .moved import RATIOS
from .published import METHODS
from .settings import SEED, Settings

WIDTHS = 20  # inputs of each set whose widths are taken
COMPARED = 60  # inputs of each task for the comparison with the library's own intervals


@dataclasses.dataclass(frozen=True)
class Found:
    """scores: of calibration points, (inputs, methods, what is kept). still, moved: values without
    and under attack, (inputs, methods, radii), of those that were tested. outputs: without an
    attack, the clean one first. bounds: (inputs, radii, 2). Rows of other inputs are NaN."""

    task: Task
    scores: np.ndarray
    still: np.ndarray
    moved: np.ndarray
    outputs: np.ndarray
    bounds: np.ndarray

    def record(self, i: int) -> Record:
        one = self.outputs[i]
        return Record(float(one[0]), one[1:], self.task.period, self.task.unit, self.bounds[i])


def _asked(task: Task, index: int) -> Asked:
    return Asked(index, RATIOS[index] * task.sigma, task.sigma, task.points)


def _thresholds(task: Task, scores: np.ndarray) -> np.ndarray:
    """(sets, methods, radii)."""
    found = np.empty((len(task.sets), len(METHODS), len(RATIOS)))
    known = ~np.isnan(scores[:, 0, 0])
    for s, (points, _) in enumerate(task.sets):
        for j, method in enumerate(METHODS):
            some = scores[known if method is ORACLE else points, j]
            found[s, j] = [method.threshold(some, _asked(task, k)) for k in range(len(RATIOS))]
    return found


def _spread_out(values: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Among `count` rows of NaN."""
    out = np.full((count, *values.shape[1:]), np.nan, values.dtype)
    out[rows] = values
    return out


def _jobs(work: Any, task: Task, indices: np.ndarray, *more: np.ndarray) -> list[Job]:
    pieces = np.array_split(indices, max(len(indices) // task.chunk, 1))
    return [Job(work, task, piece, more) for piece in pieces]


def find(settings: Settings, task: Task) -> tuple[Found, np.ndarray]:
    """What was found for all inputs of a task, and the thresholds."""
    count = len(task.inputs)
    scored, tested = (np.unique(np.concatenate(some)) for some in zip(*task.sets))
    (scores,) = done(settings, _jobs(moved.scores, task, scored))
    scores = _spread_out(scores, scored, count)
    thresholds = _thresholds(task, scores)
    jobs = _jobs(moved.values, task, tested, thresholds.mean(0))
    rest = [_spread_out(values, tested, count) for values in done(settings, jobs)]
    return Found(task, scores, *rest), thresholds


def mean_and_error(values: Sequence[np.ndarray], sets: Sequence[np.ndarray]) -> tuple[float, float]:
    """From values of each set, whose inputs have these indices: the mean over the sets, and the
    larger one of its standard errors, by sets and by inputs."""
    means = np.array([np.mean(some) for some in values])
    flat, which = np.concatenate(values), np.concatenate(sets)
    count = np.bincount(which)
    each = np.bincount(which, flat)[count > 0] / count[count > 0]
    if not np.isfinite(flat).all():
        return float(means.mean()), math.inf
    errors = [np.std(some) / math.sqrt(len(some)) for some in (means, each)]
    return float(means.mean()), float(max(errors))


def lines_of(found: Found, thresholds: np.ndarray) -> list[dict[str, Any]]:
    """One for each method and radius."""
    task, lines = found.task, []
    tests = [some for _, some in task.sets]
    few = [some[:WIDTHS] for some in tests]
    for j, method in enumerate(METHODS):
        for k, ratio in enumerate(RATIOS):
            line = {"task": task.name, "method": method.name, "calls": method.calls}
            line.update(sigma=task.sigma, ratio=ratio, sets=len(tests), points=task.points)
            line["tested"] = len(np.unique(np.concatenate(tests)))
            q = thresholds[:, j, k]
            for name, values in (("clean", found.still), ("attacked", found.moved)):
                inside = [values[some, j, k] <= one for some, one in zip(tests, q)]
                line[name], line[f"{name}_error"] = mean_and_error(inside, tests)
            widths = [
                np.array([method.width(found.record(i), one, _asked(task, k)) for i in some])
                for some, one in zip(few, q)
            ]
            line["width"], line["width_error"] = mean_and_error(widths, few)
            lines.append(line)
    return lines


# ---- the library's own intervals
def compared(task: Task) -> list[dict[str, Any]]:
    """The library's scores and intervals beside those in NumPy, from the same noise: of the first
    inputs of a task, one line for each number of samples with which there are intervals."""
    noisy, x, y = moved.Noisy(task), task.inputs[:COMPARED], task.truth[:COMPARED]
    points = 2 * len(x) // 3
    asked = Asked(1, RATIOS[1] * task.sigma, task.sigma, points)
    lines = []
    for method in OURS:
        if not method.is_possible(asked):
            continue
        seeds = {"seed": SEED + 1, "inputs_seed": SEED}  # new inputs have the noise of `noisy`
        options = {"samples": method.samples, **seeds, **task.output}
        calibrated = Calibrated(task.model.outputs, x[:points], y[:points], task.sigma, **options)
        before = moved.Noisy(task, calibrated.calibration_seed)
        own = (before.record(x[i], i, Domain.INTERVALS) for i in range(points))
        scores = np.array([method.kept(record, y[i]) for i, record in enumerate(own)])
        away, agree = [np.abs(scores[:, : calibrated.scores.shape[1]] - calibrated.scores).max()], 0
        for i in range(points, len(x)):
            q, record = method.threshold(scores, asked), noisy.record(x[i], i, Domain.CERTIFY)
            interval = calibrated.interval(x[i], asked.radius, ALPHA, noise_id=i)
            away.append(abs(method.width(record, q, asked) - interval.width))
            agree += (method.value(record, y[i], asked) <= q) == (y[i] in interval)
        line = {"task": task.name, "samples": method.samples, "points": points}
        line.update(tested=len(x) - points, agree=int(agree), differs=float(max(away)))
        lines.append(line)
    return lines

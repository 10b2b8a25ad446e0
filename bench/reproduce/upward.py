"""Variants of the paper's families with a range, from the records of a sweep: the direction that it
prints (how far the mean rises, and not how far it drops), and (E,C)+M with its own split of α."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
import statistics
from typing import Sequence

import numpy as np

from certreg import Bisection, Bounds, CertregError, Estimator, Question, Status

from .everywhere import everywhere
from .methods import FAMILIES, OWN_SPLIT, UPWARD
from .settings import SEED, Settings
from .sweep import Sweep, Task, noise_id, resume_file

ROWS = 10  # of one call of a process
CAP = 10.0  # no radius of the library exceeds so many sigma
# Each with its family. Only the first one is shorter than that.
VARIANTS = ((FAMILIES[2].name, OWN_SPLIT), *UPWARD.items())


def added(settings: Settings, done: Sweep, samples: int) -> Sweep:
    """The sweep with VARIANTS, from the same records, with the predictions of the families."""
    own = [done.index(family) for family, _ in VARIANTS]
    task = dataclasses.replace(done.task, model=None)  # for the other processes
    questions = [done.asked[q].question for q in own]
    calls = [
        (settings, task, done.sigmas, samples, questions, first)
        for first in range(0, len(task.inputs), ROWS)
    ]
    radius = np.concatenate(list(everywhere(settings.jobs, _radii, calls)))
    of_families = done.radius[:, :, own]
    if (radius < of_families * (1 - 1e-6))[:, :, 1:].any():
        raise RuntimeError(f"{task.name}: one direction has a shorter radius than both together")
    if (radius > of_families * (1 + 1e-6))[:, :, 0].any():
        raise RuntimeError(f"{task.name}: an interval of E has a longer radius than E itself")
    asked = [
        dataclasses.replace(done.asked[q], method=method) for q, (_, method) in zip(own, VARIANTS)
    ]
    behind = np.argsort([*range(len(done.asked)), *(q + 0.5 for q in own)], kind="stable")
    return Sweep(
        done.task,
        done.sigmas,
        tuple([*done.asked, *asked][q] for q in behind),
        np.concatenate([done.radius, radius], axis=2)[:, :, behind],
        np.concatenate([done.error, done.error[:, :, own]], axis=2)[:, :, behind],
    )


def _radii(
    settings: Settings,
    task: Task,
    sigmas: Sequence[float],
    samples: int,
    questions: Sequence[Question],
    first: int,
) -> np.ndarray:
    """(inputs, sigmas, questions), of ROWS inputs from `first` on."""
    inputs, count = task.inputs[first : first + ROWS], len(task.inputs)
    out = np.zeros((len(inputs), len(sigmas), len(questions)))
    more = {**task.output, "constraints": "ECGM", "seed": SEED}
    with Estimator(None, inputs.shape[1], samples, **more) as e, Bisection() as search:
        for k, sigma in enumerate(sigmas):
            kept = resume_file(settings, task.name, sigma)
            with contextlib.closing(sqlite3.connect(kept)) as file:
                records = dict(file.execute("SELECT row, record FROM records"))
            for i, z in enumerate(inputs):
                e.begin(z, sigma, noise_id(k, first + i, count))
                e.import_(records[first + i])
                out[i, k, 0] = own_split(search, e, questions[0])
                for q, question in enumerate(questions[1:], start=1):
                    out[i, k, q] = radius(search, e.bounds(question, "upper"), question.tolerance)
    return out


def own_split(search: Bisection, e: Estimator, question: Question) -> float:
    """The radius of (E,C)+M where E has an interval: appendix J.4 of the paper divides α evenly
    between E and C. Both have two-sided normal intervals, as in appendix I.1."""
    level, other = question.alpha / 2, 0.5
    b, wide = (e.bounds(dataclasses.replace(question, alpha=a), "upper") for a in (level, other))
    if not b.constraints:
        return 0.0  # all outputs are equal
    z, z_wide = (statistics.NormalDist().inv_cdf(1 - a / 2) for a in (level, other))
    # The bounds of C are linear in the quantile, and without it the sample variance.
    variance = (wide.variance_hi * z - b.variance_hi * z_wide) / (z - z_wide)
    half = z * (variance / b.samples) ** 0.5
    lo, hi = max(b.mean_lo - half, b.range_lo), min(b.mean_hi + half, b.range_hi)
    b = dataclasses.replace(b, mean_lo=lo, mean_hi=hi)
    return float(search.within(b, question.tolerance).radius)


def radius(search: Bisection, b: Bounds, tolerance: float) -> float:
    """The largest radius within which the mean rises by at most the tolerance: the drop of the
    function with the other sign."""
    if not b.constraints:
        return CAP * b.sigma  # all outputs are equal, so nothing limits the algorithm
    mirrored = dataclasses.replace(
        b, mean_lo=-b.mean_hi, mean_hi=-b.mean_lo, range_lo=-b.range_hi, range_hi=-b.range_lo
    )
    try:
        return float(search.above(mirrored, mirrored.mean_lo - tolerance).radius)
    except CertregError as error:
        if error.status != Status.INFEASIBLE:
            raise
        return 0.0  # the estimates contradict each other

"""The direction that the paper prints for the families with a range: how far the mean rises, and
not how far it drops."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
from typing import Sequence

import numpy as np

from certreg import Bisection, Bounds, CertregError, Estimator, Question, Status

from .everywhere import everywhere
from .methods import UPWARD
from .settings import SEED, Settings
from .sweep import Sweep, Task, noise_id, resume_file

ROWS = 10  # of one call of a process
CAP = 10.0  # no radius of the library exceeds so many sigma


def added(settings: Settings, done: Sweep, samples: int) -> Sweep:
    """The sweep with the methods of UPWARD, from the same records. Their predictions are those of
    the families."""
    own = [done.index(family) for family in UPWARD]
    task = dataclasses.replace(done.task, model=None)  # for the other processes
    questions = [done.asked[q].question for q in own]
    calls = [
        (settings, task, done.sigmas, samples, questions, first)
        for first in range(0, len(task.inputs), ROWS)
    ]
    radius = np.concatenate(list(everywhere(settings.jobs, _radii, calls)))
    if (radius < done.radius[:, :, own] * (1 - 1e-6)).any():
        raise RuntimeError(f"{task.name}: one direction has a shorter radius than both together")
    asked = [
        dataclasses.replace(done.asked[q], method=method) for q, method in zip(own, UPWARD.values())
    ]
    behind = np.argsort([*range(len(done.asked)), *(q + 0.5 for q in own)])
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
                for q, question in enumerate(questions):
                    out[i, k, q] = radius(search, e.bounds(question, "upper"), question.tolerance)
    return out


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

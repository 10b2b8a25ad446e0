"""The arguments that determine the samples of a run. Resume files are compared by them."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any, Mapping

import numpy as np

from ._worker import Job
from .denoised import digest_of


def plan_of(job: Job, matrix: np.ndarray) -> dict[str, Any]:
    """The arguments that determine the samples, in types of JSON, without seed and model."""
    plan = dataclasses.asdict(job.sampling)
    del plan["seed"], plan["constraints"]
    digest = hashlib.sha256(matrix.tobytes())
    if job.columns is not None:
        digest.update(job.columns.fingerprint().encode())
    plan["X"] = digest.hexdigest()
    plan["rows"] = len(matrix)
    if job.model is not None:  # records answer without it
        plan["denoiser"] = digest_of(job.model) or None
    for name in ("scale", "kind", "lo", "hi"):
        if plan[name] is not None:
            values = np.asarray(plan[name], np.float64)
            small = values.size <= 16
            plan[name] = values.tolist() if small else hashlib.sha256(values.tobytes()).hexdigest()
    return plan


def differing(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """The names of the arguments that differ between two plans."""
    changed = [name for name in now if now[name] != before.get(name)]
    # These may change with others:
    follows = {"levels": "sigmas", "batch": "samples", "rows": "X", "group": "sigmas samples"}
    changed = [name for name in changed if not set(follows.get(name, "").split()) & set(changed)]
    arguments = {"sigmas": "sigma", "levels": "domain", "group": "batch"}
    return [arguments.get(name, name) for name in changed]

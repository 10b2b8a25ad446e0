"""The arguments that determine the samples of a run. Resume files are compared by them."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from typing import Any, Mapping

import numpy as np
from numpy.typing import ArrayLike

from ._types import Shape
from ._worker import Job
from .denoised import digest_of


def plan_of(job: Job, matrix: np.ndarray) -> dict[str, Any]:
    """The arguments that determine the samples, in types of JSON, without seed and model."""
    plan = dataclasses.asdict(job.sampling)
    del plan["seed"], plan["constraints"]
    digest = hashlib.sha256(np.ascontiguousarray(matrix).view(np.uint8))  # type: ignore[arg-type]
    if job.columns is not None:
        digest.update(job.columns.fingerprint(matrix).encode())
    plan["X"] = digest.hexdigest()
    plan["rows"] = len(matrix)
    if job.alternatives is not None:
        plan["alternatives"] = job.alternatives.text(matrix)
    if job.model is not None:  # records answer without it
        plan["denoiser"] = digest_of(job.model) or None
    if plan["scale"] is not None:
        plan["exact"] = np.flatnonzero(np.ravel(plan["scale"]) == 0).tolist()
    for name in ("scale", "kind", "lo", "hi"):
        if plan[name] is not None:
            plan[name] = _values(plan[name])
    return plan


def _values(numbers: ArrayLike) -> object:
    """Numbers, or their digest if they are many."""
    values = np.asarray(numbers, np.float64)
    return values.tolist() if values.size <= 16 else hashlib.sha256(values.tobytes()).hexdigest()


def default_scale(plan: Mapping[str, Any], shape: Shape) -> tuple[np.ndarray | None] | None:
    """The scale of a plan for inputs of this shape, in a tuple, if it is 1 for all features with
    noise, as by default; else None."""
    if list(plan.get("shape", ())) != list(shape):
        return None
    scale, kept = np.ones(math.prod(shape)), plan["scale"]
    if kept is None:
        return (None,)
    if isinstance(kept, list) and len(kept) == scale.size:
        scale = np.where(np.asarray(kept) == 0, 0.0, 1.0)
    else:
        scale[plan.get("exact", [])] = 0
    return (scale.reshape(shape),) if _values(scale) == kept else None


def differing(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """The names of the arguments that differ between two plans."""
    same = ("exact",)  # follows from the scale
    changed = [name for name in now if name not in same and now[name] != before.get(name)]
    # These may change with others:
    follows = {"levels": "sigmas", "batch": "samples", "rows": "X"}
    changed = [name for name in changed if not set(follows.get(name, "").split()) & set(changed)]
    arguments = {"sigmas": "sigma", "levels": "domain"}
    return [arguments.get(name, name) for name in changed]

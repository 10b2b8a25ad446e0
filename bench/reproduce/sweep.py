"""Certificates of many images at several noise levels, by many methods, and what follows from
them: mean and useful radii, errors of the predictions, certified accuracy."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any, Callable, Optional, Sequence

import numpy as np

from certreg import certify_rows
from certreg.rows import grouped

from .methods import Asked
from .settings import SEED, Settings


@dataclasses.dataclass(frozen=True)
class Task:
    """A model, its inputs, and the truth about them.

    name       of the resume file and the CSV files
    model      as for certify_rows
    inputs     (n, features)
    truth      (n,), in units of the output
    tolerance  of the certificates, and of a correct prediction
    kind, lo, hi    of the output
    scale      of the noise of each feature, in units of sigma; None: 1"""

    name: str
    model: Any
    inputs: np.ndarray
    truth: np.ndarray
    tolerance: float
    lo: float
    hi: float
    kind: str = "real"
    scale: Optional[np.ndarray] = None

    @property
    def output(self) -> dict[str, Any]:
        """The output and the noise, as for certify_rows."""
        return {"kind": self.kind, "lo": self.lo, "hi": self.hi, "scale": self.scale}


@dataclasses.dataclass(frozen=True)
class Sweep:
    """radius, error: (images, sigmas, questions)."""

    task: Task
    sigmas: tuple[float, ...]
    asked: tuple[Asked, ...]
    radius: np.ndarray
    error: np.ndarray

    @property
    def right(self) -> np.ndarray:
        """Whether the prediction lies within the tolerance of the truth."""
        return np.asarray(self.error <= self.task.tolerance)

    @property
    def useful(self) -> np.ndarray:
        """The radius where the prediction is right, else 0."""
        return np.where(self.right, self.radius, 0.0)

    def index(self, name: str, alpha: float = 0.1) -> int:
        return next(
            i for i, a in enumerate(self.asked) if a.method.name == name and a.alpha == alpha
        )

    def best(self, question: int, useful: bool = False) -> int:
        """The index of the sigma with the greatest mean (useful) radius."""
        radius = self.useful if useful else self.radius
        return int(np.argmax(radius[:, :, question].mean(0)))


def resume_file(settings: Settings, name: str, sigma: float, mark: str = "") -> pathlib.Path:
    """Where the certificates and records of a task are kept."""
    return settings.path(f"{name}{mark}_{sigma:g}.sqlite")


def noise_id(level: int, row: int, count: int) -> int:
    """The noise of an image at a noise level."""
    return level * count + row


def run(
    settings: Settings,
    task: Task,
    sigmas: Sequence[float],
    asked: tuple[Asked, ...],
    samples: int,
    progress: Optional[Callable[[str], Any]] = None,
    mark: str = "",
) -> Sweep:
    """Certifies all images at all noise levels. Each level is a run of its own, at the full α:
    which of them is reported best is a choice, and the text says so. `mark` is part of the names
    of the files."""
    radius, error = [], []
    for k, sigma in enumerate(sigmas):
        own = {"constraints": "ECGM", "model_id": task.name, "keep_records": True}
        if progress:
            progress(f"{task.name}, sigma {sigma:g}")
        rows = certify_rows(
            task.model,
            task.inputs,
            sigma,
            [a.question for a in asked],
            samples=samples,
            seed=SEED,
            noise_id=noise_id(k, 0, len(task.inputs)),
            jobs=settings.jobs,
            progress=False,
            resume=resume_file(settings, task.name, sigma, mark),
            **grouped({**task.output, **own}),
        )
        if rows.errors:
            raise RuntimeError(f"{task.name}: {next(iter(rows.errors.values()))}")
        radius.append(rows["radius"][:, 0])
        error.append(rows.label_errors(task.truth)[:, 0])
    stacked = [np.stack(values, axis=1) for values in (radius, error)]
    return Sweep(task, tuple(sigmas), asked, *stacked)


# ---- summaries, as rows of CSV files
def summary(sweep: Sweep) -> list[dict[str, Any]]:
    """For each method, level and sigma the mean radius, abstentions counted as 0."""
    rows = []
    for q, one in enumerate(sweep.asked):
        for k, sigma in enumerate(sweep.sigmas):
            radius, error = sweep.radius[:, k, q], sweep.error[:, k, q]
            rows.append(
                {
                    "method": one.method.name,
                    "alpha": one.alpha,
                    "tolerance": sweep.task.tolerance,
                    "sigma": sigma,
                    "images": len(radius),
                    "certified": int((radius > 0).sum()),
                    "mean_radius": float(radius.mean()),
                    "useful_radius": float(sweep.useful[:, k, q].mean()),
                    "mae": float(np.nanmean(error)),
                }
            )
    return rows


def accuracy(sweep: Sweep, thresholds: Sequence[float]) -> list[dict[str, Any]]:
    """Certified accuracy, absolute and conditional, and the mean absolute error of the certified
    predictions, at each radius. For each method and metric sigma is the one that the paper's rule
    chooses: the greatest sum of accuracies, or the least sum of errors, over the thresholds."""
    rows = []
    for q, one in enumerate(sweep.asked):
        if one.alpha != sweep.asked[0].alpha:
            continue
        tables = [_metrics(sweep, k, q, thresholds) for k in range(len(sweep.sigmas))]
        for metric in ("absolute", "conditional", "mae"):
            k = _chosen([table[metric] for table in tables], metric == "mae")
            for threshold, value in zip(thresholds, tables[k][metric]):
                rows.append(
                    {
                        "metric": metric,
                        "method": one.method.name,
                        "sigma": sweep.sigmas[k],
                        "radius": threshold,
                        "value": value,
                    }
                )
    return rows


def _metrics(sweep: Sweep, k: int, q: int, thresholds: Sequence[float]) -> dict[str, list[float]]:
    radius, error = sweep.radius[:, k, q], sweep.error[:, k, q]
    right = sweep.right[:, k, q]
    held = [radius >= threshold for threshold in thresholds]
    return {
        "absolute": [100.0 * float((right & some).mean()) for some in held],
        "conditional": [100.0 * _mean(right[some]) for some in held],
        "mae": [_mean(error[some]) for some in held],
    }


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _chosen(tables: list[list[float]], least: bool) -> int:
    """A sigma at which nothing is certified at some threshold loses to one that has numbers at
    all of them."""
    keys = [(int(np.isnan(t).sum()), np.nansum(t) * (1 if least else -1)) for t in tables]
    return min(range(len(tables)), key=keys.__getitem__)


def wins(sweep: Sweep, first: str, second: str, useful: bool = False) -> dict[str, Any]:
    """Two methods, each at its best sigma, image by image; paired mean gain and gain/loss ratio as
    in section 7.3 and appendix J.4 of the paper."""
    a, b = sweep.index(first), sweep.index(second)
    radius = sweep.useful if useful else sweep.radius
    at_a, at_b = sweep.best(a, useful), sweep.best(b, useful)
    x, y = radius[:, at_a, a], radius[:, at_b, b]
    gains = x - y
    return {
        "first": first,
        "second": second,
        "useful": int(useful),
        "sigma_first": sweep.sigmas[at_a],
        "sigma_second": sweep.sigmas[at_b],
        "mean_first": float(x.mean()),
        "mean_second": float(y.mean()),
        "ratio": _quotient(x.mean(), y.mean()),
        "paired_mean_gain": float(gains.mean()),
        "gain_loss_ratio": _quotient(gains[gains > 0].sum(), -gains[gains < 0].sum()),
        "wins": int((x > y).sum()),
        "ties": int((x == y).sum()),
    }


def _quotient(a: float, b: float) -> float:
    return float(a / b) if b > 0 else float("inf" if a > 0 else "nan")

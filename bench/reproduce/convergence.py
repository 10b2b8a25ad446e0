"""How the paper's estimates and the radii converge in the number of samples, on one image."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import math
from typing import Any, Iterator

import numpy as np

from certreg import Estimator, Question
from certreg.plots import legend_above

from . import figures, methods, rotation, slant, tables
from .digits import load
from .settings import SEED, Settings
from .sweep import Task

ALPHA, CHUNK = 0.05, 5000
PAPER = methods.FAMILIES[3]  # (E,C,G)+M
RADII = (PAPER, methods.CENTERED, methods.MEDIAN, methods.CIRCULAR)


@dataclasses.dataclass(frozen=True)
class Case:
    """The first image of a task at one noise level."""

    task: Task
    sigma: float

    @property
    def name(self) -> str:
        return f"{self.task.name}_{self.sigma:g}"

    def questions(self) -> dict[str, Question]:
        some = RADII if self.task.kind == "angle" else RADII[:3]
        return {method.name: method.make(self.task.tolerance, ALPHA) for method in some}


def cases(settings: Settings) -> Iterator[Case]:
    digits = load(settings.mnist, 1)
    for task, sigmas in (
        (rotation.task("rotation", digits), (0.5,)),
        (slant.task("slant", "", digits), (0.06, 0.25)),
    ):
        yield from (Case(task, sigma) for sigma in sigmas)


# ---- one trial
@dataclasses.dataclass
class Sums:
    """The paper's estimates, computed from the noisy samples apart from the library: of the outputs
    y and of W = y e, with the noise e. A constant that is taken from y does not change the mean of
    W, but its variance."""

    count: int = 0
    y: float = 0.0
    squares: float = 0.0
    w: Any = 0.0
    lengths: float = 0.0

    def add(self, y: np.ndarray, e: np.ndarray) -> None:
        self.count += len(y)
        self.y += float(y.sum())
        self.squares += float(y @ y)
        self.w = self.w + y @ e
        self.lengths += float((y * y) @ np.einsum("ij,ij->i", e, e))

    def variance(self) -> float:
        return (self.squares - self.y**2 / self.count) / (self.count - 1)

    def theta(self) -> float:
        """The U-statistic of the square of κ = σ ‖∇g‖."""
        return float(self.w @ self.w - self.lengths) / (self.count * (self.count - 1))


def trial(case: Case, samples: int, number: int) -> dict[str, Any]:
    task, z, questions = case.task, case.task.inputs[0], case.questions()
    literal, centered = Sums(), Sums()
    clean = float(np.ravel(task.model(z[None]))[0])
    with Estimator(None, z.size, samples, **task.output, constraints="ECGM", seed=SEED) as e:
        e.begin(z, case.sigma, 1000 * samples + number)
        for first in range(0, samples, CHUNK):
            x = e.draw(first, min(CHUNK, samples - first))
            y = np.asarray(task.model(x), np.float32).reshape(len(x))
            e.record(first, y)
            noisy = slice(1 if first == 0 else 0, None)  # sample 0 has no noise
            outputs, noise = y[noisy].astype(float), (x[noisy].astype(float) - z) / case.sigma
            literal.add(outputs, noise)
            centered.add(outputs - clean, noise)
        radii = e.certify(0, *questions.values())
        bounds = e.bounds(questions[PAPER.name], "upper")
    lo, hi = bounds.gradient_lo or 0.0, bounds.gradient_hi or math.nan
    return {
        "samples": samples,
        "variance": literal.variance(),
        "variance_hi": bounds.variance_hi or math.nan,
        "theta": literal.theta(),
        "theta_centered": centered.theta(),
        "theta_lo": lo**2,
        "theta_hi": hi**2,
        **{method.name: math.nan for method in RADII},
        **{name: c.radius for name, c in zip(questions, radii)},
    }


# ---- the experiment
def compute(settings: Settings) -> None:
    flat: list[dict[str, Any]] = []
    with concurrent.futures.ThreadPoolExecutor(settings.jobs) as pool:
        for case in cases(settings):
            print(f"  {case.name}, {settings.size.trials} trials", flush=True)
            keys = [(n, t) for n in settings.size.numbers for t in range(settings.size.trials)]
            rows = list(pool.map(lambda key: trial(case, *key), keys))
            flat += [{"case": case.name, **line} for line in summary(settings, rows)]
    tables.write_csv(settings.path("convergence_summary.csv"), flat)
    with figures.where_possible():
        draw(settings)


def draw(settings: Settings) -> None:
    """The figures of convergence_summary.csv."""
    for name, lines in _by_case(settings).items():
        _plot(settings.figure(f"convergence_{name}"), name, lines)


def _by_case(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for line in tables.read_csv(settings.path("convergence_summary.csv")):
        found.setdefault(line["case"], []).append(line)
    return found


def summary(settings: Settings, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each number of samples. The reference is the mean over all trials at the
    largest one, for κ² of the centered estimates."""

    def of(samples: int, key: str) -> np.ndarray:
        return np.array([row[key] for row in rows if row["samples"] == samples], float)

    most, lines = settings.size.numbers[-1], []
    variance, theta = (float(of(most, key).mean()) for key in ("variance", "theta_centered"))
    for samples in settings.size.numbers:
        line: dict[str, Any] = {"samples": samples, "kappa": math.sqrt(max(0.0, theta))}
        for key, true in (("variance", variance), ("theta", theta), ("theta_centered", theta)):
            away = of(samples, key) / true - 1
            line[key] = float(of(samples, key).mean())
            line[f"{key}_bias"] = float(away.mean())
            line[f"{key}_error"] = float(np.sqrt(np.square(away).mean()))
        lo, hi, upper = (of(samples, key) for key in ("theta_lo", "theta_hi", "variance_hi"))
        line["variance_hi"], line["theta_hi"] = float(upper.mean()), float(hi.mean())
        line["variance_covered"] = float(np.mean(upper >= variance))
        line["theta_covered"] = float(np.mean((lo <= theta) & (theta <= hi)))
        # The middle of the library's interval, unless it was cut at 0.
        differs = np.abs(0.5 * (lo + hi) / of(samples, "theta") - 1)[lo > 0]
        line["theta_differs"] = float(differs.max()) if differs.size else math.nan
        for method in RADII:
            radius, last = (float(of(n, method.name).mean()) for n in (samples, most))
            line[method.name] = radius
            line[f"{method.name}, ratio"] = radius / last if last > 0 else math.nan
        lines.append(line)
    return lines


def _plot(path: Any, name: str, lines: list[dict[str, Any]]) -> None:
    numbers = [line["samples"] for line in lines]
    labels = ("variance C", "κ = σ ‖∇g‖", "radius / radius at the last N")
    every = variance, kappa, radius = figures.panels(labels, "samples N, of one image", 9.0)
    network, sigma = name.rsplit("_", 1)
    for ax, what in zip(every, ("variance of the outputs", "slope of the mean output", "radii")):
        ax.set_title(f"{network}, σ = {sigma}: {what} by samples")
    for ax, key, power in ((variance, "variance", 1.0), (kappa, "theta", 0.5)):
        mean = np.array([line[key] for line in lines])
        spread = lines[-1]["theta_centered" if key == "theta" else key]
        spread *= np.array([line[f"{key}_error"] for line in lines])
        low, high = (np.maximum(mean + way * spread, 0) ** power for way in (-1, 1))
        ax.plot(numbers, np.maximum(mean, 0) ** power, marker="o", label="mean")
        ax.fill_between(numbers, low, high, alpha=0.3, label="root mean square error")
        upper = [line[f"{key}_hi"] ** power for line in lines]
        ax.plot(numbers, upper, "--", label="the paper's upper bound")
    for method in RADII:
        ratio = [line[f"{method.name}, ratio"] for line in lines]
        if not np.isnan(ratio[-1]):
            radius.plot(numbers, ratio, marker="o", label=method.name)
    for ax in every:
        ax.set_xscale("log")
        legend_above(ax)
    figures.save(radius, path)


# ---- the report
COLUMNS = {
    "C bias": "variance_bias",
    "C error": "variance_error",
    "C covered": "variance_covered",
    "κ² bias": "theta_bias",
    "κ² error": "theta_error",
    "κ² covered": "theta_covered",
    "centered κ² error": "theta_centered_error",
}


def report(settings: Settings, beside: tables.Beside) -> dict[str, str]:
    by_case, references = _by_case(settings), []
    for name, own in by_case.items():
        radii = _known(own[-1])
        references.append([f"`{name}`", *_reference(own[-1])])
        columns = {**COLUMNS, **{method: f"{method}, ratio" for method in radii}}
        for line in own:
            cells = {title: _percent(line[key]) for title, key in columns.items()}
            beside.add("convergence", [{"case": name, "N": f"{line['samples']:.0f}", **cells}])
    heading = ["case", "C", "κ", *(method.name for method in RADII)]
    known = [line["theta_differs"] for own in by_case.values() for line in own]
    known = [differs for differs in known if differs > 0]
    away = max(known, default=math.nan)
    return {
        "references": tables.markdown(heading, references),
        "agrees": f"It equals the middle of the library's interval of κ², up to {away:.1g}.",
    }


def _known(line: dict[str, Any]) -> list[str]:
    return [m.name for m in RADII if line[f"{m.name}, ratio"] == line[f"{m.name}, ratio"]]


def _reference(line: dict[str, Any]) -> list[str]:
    radii = [f"{line[m.name]:.3f}" if m.name in _known(line) else "" for m in RADII]
    return [f"{line['variance']:.4g}", f"{line['kappa']:.3g}", *radii]


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.1f}%" if abs(ratio) < 10 else f"{ratio:.0f} times"

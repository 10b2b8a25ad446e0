"""The paper's functions on the plane, where every promise has a true radius that is known."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from certreg import Estimator, Options, certify_rows

from . import methods, tables, truth
from .methods import Method
from .settings import SEED, Settings
from .truth import Function

ALPHA, TOLERANCES, SIGMAS = 0.1, (0.2, 0.5), (0.1, 0.2, 0.5)
CONFIDENCE = 0.001  # of the share within the tolerance, in the published methods
CG, ALPHA_SMOOTHING = methods.FAMILIES[1].name, "α-smoothing"
# (C,G) and α-smoothing, by function and tolerance: mean radius and best sigma.
PRINTED = {
    ("quadratic", 0.2): {CG: (0.114, 0.2), ALPHA_SMOOTHING: (0.073, 0.1)},
    ("quadratic", 0.5): {CG: (0.250, 0.5), ALPHA_SMOOTHING: (0.231, 0.1)},
    ("slice", 0.2): {CG: (0.351, 0.5), ALPHA_SMOOTHING: (0.233, 0.2)},
    ("slice", 0.5): {CG: (0.603, 0.5), ALPHA_SMOOTHING: (0.489, 0.5)},
    ("sandwich", 0.2): {CG: (0.241, 0.5), ALPHA_SMOOTHING: (0.102, 0.5)},
    ("sandwich", 0.5): {CG: (0.448, 0.5), ALPHA_SMOOTHING: (0.186, 0.2)},
}
PRINTED.update({("slab", e): PRINTED["sandwich", e] for e in TOLERANCES})


def points(count: int) -> np.ndarray:
    return np.random.default_rng(SEED).uniform(-1, 1, (10, 2))[:count].astype(np.float32)


# ---- the published methods once more, in NumPy
@functools.lru_cache(maxsize=None)
def share_with(probability: float, count: int, beyond: int) -> float:
    """The share q at which at most `beyond` of `count` outputs lie outside with this probability.
    With a small probability it is the Clopper-Pearson lower bound of the share inside."""
    if beyond >= count:
        return 0.0
    k = np.arange(beyond + 1)
    ways = np.concatenate([[0.0], np.cumsum(np.log((count - k[:-1]) / k[1:]))])
    low, high = 0.0, 1.0
    for _ in range(60):
        q = 0.5 * (low + high)
        at_most = float(np.exp(ways + k * math.log1p(-q) + (count - k) * math.log(q)).sum())
        low, high = (low, q) if at_most > probability else (q, high)
    return low


def needed_share(method: Method) -> float:
    """The share of outputs within the tolerance that what the method serves needs."""
    serving = method.make(1.0, ALPHA).serving
    beyond = int(serving.trim * serving.samples)
    return share_with(1 - serving.failure_rate, serving.samples, beyond)


def published_radius(method: Method, y: np.ndarray, pilot: int, sigma: float, e: float) -> float:
    """From the outputs, of which the first is f(z)."""
    main, normal = y[pilot:], NormalDist()
    if method in (methods.SAMPLE_MEDIAN, methods.CODED):
        coded = method is methods.CODED
        main = y[1:] if coded else main
        center = float(np.median(main if coded else y[1:pilot]))
        beyond = max(np.sum(main >= center + e), np.sum(main <= center - e))
        share, needed = share_with(ALPHA if coded else 0.5 * ALPHA, len(main), int(beyond)), 0.5
    else:
        beyond = np.sum(np.abs(main - y[0]) >= e)  # on the grid of the noise some are equal
        share = share_with(CONFIDENCE, len(main), int(beyond))
        needed = needed_share(method)
    return sigma * (normal.inv_cdf(share) - normal.inv_cdf(needed)) if share > needed else 0.0


# ---- the experiment
@dataclass(frozen=True)
class Record:
    """The samples of one function around one point."""

    function: Function
    sigma: float
    at: float  # the point's position
    y: np.ndarray  # f(z), the noisy pilot and the other samples
    pilot: int


def of_function(function: Function) -> tuple[Method, ...]:
    return (*methods.OF_FUNCTIONS, *(methods.RANGED if function.top is not None else ()))


def records(f: Function, sigma: float, z: np.ndarray, samples: int, first: int) -> list[Record]:
    """The same samples as certify_rows takes with this noise id of the first point."""
    out = []
    with Estimator(None, 2, samples, seed=SEED) as e:
        for i, one in enumerate(z):
            e.begin(one, sigma, first + i)
            y = f(e.draw(0, samples)).astype(np.float32)
            e.record(0, y)
            out.append(Record(f, sigma, f.position(one), y.astype(float), e.info().pilot))
    return out


def true_radius(method: Method, record: Record, e: float, prediction: float) -> float:
    """The largest radius at which the method's promise about this prediction holds."""
    f, at, sigma = record.function, record.at, record.sigma
    if method.promise == "mean":
        return truth.of_mean(f, at, sigma, e, float(f.mean(np.array(at), sigma)))
    if method.promise in ("trimmed", "single"):
        clean = record.y[0]
        return truth.of_share(f, at, sigma, clean - e, clean + e, needed_share(method))
    if method is methods.MEAN:
        return truth.of_mean(f, at, sigma, e, prediction)
    return truth.of_median(f, at, sigma, e, prediction)


def lines_of(
    settings: Settings, f: Function, sigma: float, z: np.ndarray, first: int
) -> list[dict[str, Any]]:
    """One line for each tolerance and method."""
    samples = settings.size.synthetic_samples
    pairs = [(e, method) for e in TOLERANCES for method in of_function(f)]
    rows = certify_rows(
        f,
        z,
        sigma,
        [method.make(e, ALPHA) for e, method in pairs],
        samples=samples,
        seed=SEED,
        noise_id=first,
        progress=False,
        options=Options(
            lo=None if f.top is None else 0.0, hi=f.top, constraints="ECGM", model_id=f.name
        ),
        resume=settings.path(f"synthetic_{f.name}_{sigma:g}_{samples}.sqlite"),
    )
    of = records(f, sigma, z, samples, first)
    lines = []
    for q, (e, method) in enumerate(pairs):
        radius, center = rows["radius"][:, 0, q], rows["prediction"][:, 0, q]
        true = np.array([true_radius(method, r, e, c) for r, c in zip(of, center)])
        again = [
            published_radius(method, r.y, r.pilot, sigma, e)
            for r in of
            if method.whose == methods.PUBLISHED
        ]
        some = (true > 0) & np.isfinite(true)
        lines.append(
            {
                "function": f.name,
                "tolerance": e,
                "sigma": sigma,
                "method": method.name,
                "points": len(z),
                "radius": float(radius.mean()),
                "sound": int(np.sum(radius <= true)),
                "of_true": float(np.mean(radius[some] / true[some])) if some.any() else math.nan,
                "differs": float(np.abs(radius - again).max()) if again else math.nan,
            }
        )
    return lines


def compute(settings: Settings) -> None:
    z = points(settings.size.points)
    lines: list[dict[str, Any]] = []
    for k, f in enumerate(truth.FUNCTIONS):
        print(f"  {f.name}, {len(z)} points, {settings.size.synthetic_samples} samples")
        for j, sigma in enumerate(SIGMAS):
            lines += lines_of(settings, f, sigma, z, 1000 * (len(SIGMAS) * k + j))
    tables.write_csv(settings.path("synthetic.csv"), lines)
    away = max(line["differs"] for line in lines if line["differs"] == line["differs"])
    print(f"  the published methods once more, in NumPy: radii differ by at most {away:.1g}")


# ---- the report
def report(settings: Settings, beside: tables.Beside) -> dict[str, str]:
    lines = tables.read_csv(settings.path("synthetic.csv"))
    for f in truth.FUNCTIONS:
        beside.add("synthetic", _table([line for line in lines if line["function"] == f.name]))
    return {"soundness": _soundness(lines)}


def _named(method: str) -> str:
    """Both trims together."""
    return ALPHA_SMOOTHING if method.startswith(ALPHA_SMOOTHING) else method


def _table(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One function: each method at its best σ, beside what the paper printed."""
    out = []
    for name in dict.fromkeys(_named(line["method"]) for line in lines):
        for e in TOLERANCES:
            own = [row for row in lines if (_named(row["method"]), row["tolerance"]) == (name, e)]
            best = max(own, key=lambda row: row["radius"])
            printed, at = PRINTED[best["function"], e].get(name, (None, None))
            told = best["of_true"] == best["of_true"]
            out.append(
                {
                    "function": best["function"],
                    "method": name,
                    "tolerance": f"{e:g}",
                    "radius": best["radius"],
                    "sigma": f"{best['sigma']:g}",
                    "printed": printed,
                    "printed_sigma": f"{at:g}" if at else None,
                    "of_true": f"{best['of_true']:.2f}" if told else None,
                }
            )
    return out


def _soundness(lines: list[dict[str, Any]]) -> str:
    """How many of all certificates are sound, at every sigma and both tolerances."""
    out = []
    for name in dict.fromkeys(line["method"] for line in lines):
        own = [line for line in lines if line["method"] == name]
        total, sound = (int(sum(line[key] for line in own)) for key in ("points", "sound"))
        differs = max(line["differs"] for line in own)
        again = f"{differs:.1g}" if differs == differs else None
        out.append([name, total, total - sound, f"{100 * sound / total:.1f}%", again])
    heading = ["method", "certificates", "above the true radius", "sound", "NumPy differs by"]
    return tables.markdown(heading, out)

"""How often prediction intervals contain the truth under attack, and how wide they are, beside
published methods by their formulas. All are corrected for sampling as RSCP+ is: the scores of
calibration points stay as they are, and of a new input two bounds hold, before and after the
attack; their errors are taken from α. The authors of CAS and BinCP bound the score of each
calibration point too, which makes intervals wider."""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from statistics import NormalDist
from typing import Any, Iterator

import numpy as np

from certreg import Calibrated

from . import moved, tables
from .everywhere import everywhere
from .labelled import SIGMA, Task, tasks
from .settings import SEED, Settings
from .synthetic import share_with
from .truth import normal_cdf

ALPHA, RATIO = 0.1, 0.5  # of misses; the radius in units of σ
SAMPLES, WIDTHS = 1001, 20  # outputs of a record; inputs of each set whose widths are taken
ERROR = 0.001  # of a bound, as in the authors' code; 0: what was sampled is taken for exact
OURS = {1001: (1001, 101), 101: (101, 11, 1), 11: (11,)}  # calls for each point: for a new input
NORMAL = NormalDist()
quantile = np.vectorize(NORMAL.inv_cdf, otypes=[float])


@dataclasses.dataclass(frozen=True)
class Outputs:
    """Of some inputs: without noise, (inputs,), and with it, (inputs, samples). unit: of distances,
    for RSCP."""

    clean: np.ndarray
    noisy: np.ndarray
    unit: float

    def distances(self, y: np.ndarray) -> np.ndarray:
        return np.abs(self.noisy - y[:, None])


def rank_of(alpha: float, points: int) -> float:
    """The rank of the threshold among the scores, in split conformal prediction; infinite: there is
    none."""
    rank = math.ceil((1 - alpha) * (points + 1) - 1e-9)
    return rank if rank <= points else math.inf


class Split:
    """Split conformal prediction, by the model itself or by the smoothed prediction. A truth is
    covered if its value is at most the threshold among the scores of the calibration points."""

    error, alpha = 0.0, ALPHA

    def __init__(self, name: str, smoothed: bool) -> None:
        self.name, self.smoothed = name, smoothed

    def threshold(self, o: Outputs, y: np.ndarray) -> float:
        scores, rank = np.sort(self.score(o, y)), rank_of(self.alpha - 2 * self.error, len(y))
        return float(scores[int(rank) - 1]) if rank < math.inf else math.inf

    def score(self, o: Outputs, y: np.ndarray) -> np.ndarray:
        center: np.ndarray = np.median(o.noisy, 1) if self.smoothed else o.clean
        return np.abs(center - y)

    def value(self, o: Outputs, y: np.ndarray) -> np.ndarray:
        return self.score(o, y)

    def widths(self, o: Outputs, q: float) -> np.ndarray:
        return np.full(len(o.clean), 2 * q)


class Rscp(Split):
    """The score of an output at the distance d is d⁴ / (d⁴ + u⁴), with a unit u that is fixed
    beforehand. Its mean over the noise is taken of 1,001 samples. No shift up to r changes Φ⁻¹ of
    the exact mean by more than r/σ. RSCP+ has Hoeffding's bound of means."""

    def __init__(self, name: str, error: float) -> None:
        super().__init__(name, True)
        self.error = error

    def score(self, o: Outputs, y: np.ndarray) -> np.ndarray:
        return _scores(o, y).mean(1)

    def value(self, o: Outputs, y: np.ndarray) -> np.ndarray:
        less = _hoeffding(self.error, SAMPLES)
        mean = np.clip(self.score(o, y) - less, 1e-12, 1 - 1e-12)
        return normal_cdf(quantile(mean) - RATIO) - less

    def widths(self, o: Outputs, q: float) -> np.ndarray:
        """By bisection to either side of the median; an interval without it is empty."""
        center = np.median(o.noisy, 1)
        width, inside = np.zeros(len(center)), self.value(o, center) <= q
        for side in (1, -1):
            low, high = np.zeros_like(width), np.full_like(width, 1024 * o.unit)
            for _ in range(40):
                middle = 0.5 * (low + high)
                within = self.value(o, center + side * middle) <= q
                low, high = np.where(within, middle, low), np.where(within, high, middle)
            width += np.where(low < 1023 * o.unit, high, math.inf)
        return np.where(inside, width, 0.0)


class Cas(Rscp):
    """The mean of these scores at the input that was moved is at least what the whole distribution
    of the scores allows, by the bound of Dvoretzky, Kiefer and Wolfowitz."""

    def value(self, o: Outputs, y: np.ndarray) -> np.ndarray:
        scores = np.sort(_scores(o, y), 1)
        least: np.ndarray = scores @ _least_masses(SAMPLES, self.error)
        return least - _hoeffding(self.error, SAMPLES)


def _scores(o: Outputs, y: np.ndarray) -> np.ndarray:
    d = (o.distances(y) / o.unit) ** 4
    return d / (d + 1)


@functools.lru_cache(maxsize=None)
def _least_masses(count: int, error: float) -> np.ndarray:
    """The probabilities of the ascending scores where they are as small as a shift can make them;
    the rest is at 0."""
    below = np.arange(count) / count + _hoeffding(error, count)
    below, shares = below[below < 1], np.ones(count + 1)
    shares[: len(below)] = normal_cdf(quantile(np.maximum(below, 1e-300)) + RATIO)
    return np.diff(shares)


def _hoeffding(error: float, count: int) -> float:
    return math.sqrt(math.log(1 / error) / (2 * count)) if error else 0.0


class BinCp(Split):
    """A score is the threshold that SHARE of the outputs reach. A shift lowers this probability to
    a level, which that of a new input has to reach; the bounds are those of Clopper and Pearson."""

    SHARE = 0.7  # favourable among 0.5 to 0.8

    def __init__(self, samples: int, error: float) -> None:
        name = f"BinCP, {samples:,} calls" + ("" if error else ", not corrected")
        super().__init__(name, True)
        self.samples, self.error = samples, error
        self.own = math.ceil(self.SHARE * samples)
        self.needed = self._needed()

    def _needed(self) -> int:
        n, own = self.samples, self.own
        share = share_with(self.error, n, n - own) if self.error else own / n
        level = NORMAL.cdf(NORMAL.inv_cdf(share) - RATIO)
        if not self.error:
            return math.ceil(level * n - 1e-9)
        return next(k for k in range(n + 1) if 1 - share_with(self.error, n, k) >= level)

    def score(self, o: Outputs, y: np.ndarray) -> np.ndarray:
        return self._smallest(o, y, self.own)

    def value(self, o: Outputs, y: np.ndarray) -> np.ndarray:
        return self._smallest(o, y, self.needed)

    def _smallest(self, o: Outputs, y: np.ndarray, rank: int) -> np.ndarray:
        d: np.ndarray = np.sort(o.distances(y)[:, : self.samples], 1)
        return d[:, rank - 1]

    def widths(self, o: Outputs, q: float) -> np.ndarray:
        return np.array([hull(np.sort(f[: self.samples]), self.needed, q) for f in o.noisy])


class Rcp1(BinCp):
    """One noisy output of each input. The calibration is at the level that a shift lowers to 1 -
    α."""

    alpha = NORMAL.cdf(NORMAL.inv_cdf(ALPHA) - RATIO)

    def __init__(self) -> None:
        super().__init__(1, 0.0)
        self.name = "RCP1"

    def _needed(self) -> int:
        return 1


def hull(f: np.ndarray, k: int, q: float) -> float:
    """The length of the least interval that contains every y within q of at least k of the
    ascending outputs f; 0 if there is none."""
    ends, starts = f[: len(f) - k + 1] + q, f[k - 1 :] - q
    some = starts <= ends
    return float(ends[some][-1] - starts[some][0]) if some.any() else 0.0


METHODS = (
    Split("split conformal on f", False),
    Split("split conformal on the smoothed prediction", True),
    Rcp1(),
    Rscp("RSCP", 0.0),
    Rscp("RSCP+", ERROR),
    Cas("CAS", ERROR),
    *(BinCp(samples, error) for samples in (101, 1001) for error in (ERROR, 0.0)),
)


# ---- one calibration
def tested(task: Task, s: int) -> list[tuple[str, float, float]]:
    """For each method the share of truths that are covered under attack, and the mean width."""
    random, (points, tests) = np.random.default_rng((SEED, s)), task.sets[s]
    x, y, truth = task.inputs[points], task.truth[points], task.truth[tests]
    before, still = (_outputs(task, z, z, random) for z in (x, task.inputs[tests[:WIDTHS]]))
    edge = METHODS[-1].threshold(before, y)
    at = [
        moved.places(task.model, task.inputs[i], float(task.truth[i]), RATIO * SIGMA, edge, random)
        for i in tests
    ]
    noisy, exact = (np.array(places) for places in zip(*at))
    after, rows = _outputs(task, exact, noisy, random), []
    for method in METHODS:
        q = method.threshold(before, y)
        covered = float((method.value(after, truth) <= q).mean())
        rows.append((method.name, covered, float(method.widths(still, q).mean())))
    return rows + list(_ours(task, s, noisy))


def _outputs(task: Task, exact: np.ndarray, noisy: np.ndarray, random: Any) -> Outputs:
    shape = (SAMPLES, noisy.shape[1])
    rows = [z + SIGMA * random.standard_normal(shape, np.float32) for z in noisy]
    f = np.array([task.model.outputs(z.astype(np.float32)) for z in rows], float)
    return Outputs(task.model.outputs(exact).astype(float), f, task.unit)


def _ours(task: Task, s: int, noisy: np.ndarray) -> Iterator[tuple[str, float, float]]:
    """By the library itself, with noise of its own."""
    (points, tests), model = task.sets[s], task.model.outputs
    x, y = task.inputs[points], task.truth[points]
    for before, calls in OURS.items():
        seeds = {"seed": SEED + s, "inputs_seed": SEED + len(task.sets) + s}
        with Calibrated(model, x, y, SIGMA, samples=before, batch=before, **seeds) as known:
            for samples in calls:
                name = f"certreg, {samples:,} call{'s' if samples > 1 else ''}"
                name += f", {before:,} before" if before != samples else ""
                asked = {"radius": RATIO * SIGMA, "alpha": ALPHA, "samples": samples}
                found = known.intervals(noisy, **asked)
                covered = np.mean([y in one for y, one in zip(task.truth[tests], found)])
                some = known.intervals(task.inputs[tests[:WIDTHS]], **asked)
                yield name, float(covered), float(np.mean([one.width for one in some]))


# ---- all of them
def compute(settings: Settings) -> None:
    lines = []
    for task in tasks(settings):
        print(f"  {task.name}, {len(task.sets)} calibrations of {len(task.sets[0][0])} points")
        began, calls = time.monotonic(), [(task, s) for s in range(len(task.sets))]
        found = list(everywhere(settings.jobs, tested, calls))
        for of_method in zip(*found):
            covered, width = np.mean([row[1:] for row in of_method], 0)
            lines.append(
                {"task": task.name, "method": of_method[0][0], "covered": covered, "width": width}
            )
        print(f"  {time.monotonic() - began:.0f} s", flush=True)
    tables.write_csv(settings.path("intervals.csv"), lines)


def report(settings: Settings, beside: tables.Beside) -> dict[str, str]:
    """Widths beside those of split conformal prediction by the smoothed prediction."""
    lines = tables.read_csv(settings.path("intervals.csv"))
    known = {(line["task"], line["method"]): line for line in lines}
    names, methods = (dict.fromkeys(line[key] for line in lines) for key in ("task", "method"))
    rows = []
    for method in methods:
        row = [method]
        for name in names:
            own, base = known[name, method], known[name, METHODS[1].name]
            row += [f"{own['covered']:.3f}", f"{own['width'] / base['width']:.2f}"]
        rows.append(row)
    heading = [f"{name}: {what}" for name in names for what in ("covered", "width")]
    return {"intervals": tables.markdown(["method", *heading], rows)}

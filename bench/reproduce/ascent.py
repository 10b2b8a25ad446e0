"""A black-box attack: the shortest shift of an input that moves a statistic of the noisy angles out
of its tolerance.

The statistic leaves the tolerance on one side where the mean of a score, which rises with the
angle, reaches 0. The shortest shift to there is parallel to the gradient of this mean, which is
E[score e] / sigma for standard normal noise e. So the attack follows this gradient, estimated at
the unshifted input and at the points where the statistic seems to leave the tolerance. The
direction that results is judged on fresh noise."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Optional

import numpy as np

Array = np.ndarray
Angles = Callable[[Array], Array]  # from inputs (n, features) to degrees (n,)

FARTHEST = 5.0  # the search ends there, as in the paper
ROUNDS, ON_BOTH_SIDES = 6, 2  # rounds of the ascent; the nearer side takes the later ones
AT_Z, JUDGED = 0.2, 0.25  # parts of the calls: for the first gradient, and for the judgement
WALKED = 0.02  # of the calls, for each step of a walk along the final direction
GROUPS = 20  # of the jackknife


def wrapped(degrees: Any) -> Any:
    """Angles in [-180, 180)."""
    return (degrees + 180.0) % 360.0 - 180.0


def circular_mean(f: Array, w: Optional[Array] = None) -> float:
    turn = np.average(np.exp(1j * np.radians(f)), weights=w)
    return math.degrees(np.angle(turn))


@dataclasses.dataclass(frozen=True)
class Statistic:
    """A statistic of angles that lies beyond a value where the mean of `score` is at least 0.

    circular  whether the angles are cut opposite to their circular mean, else they are numbers
    score     of the degrees by which an angle lies beyond the value
    smooth    a score of the same kind that is followed instead"""

    circular: bool
    score: Callable[[Array], Array]
    smooth: Callable[[Array], Array]

    def value(self, f: Array) -> float:
        """One of the two means."""
        return circular_mean(f) if self.circular else float(f.mean())


def _sine(x: Array) -> Array:
    return np.sin(np.radians(x))


def _identity(x: Array) -> Array:
    return x


MEAN = Statistic(False, _identity, _identity)
CIRCULAR_MEAN = Statistic(True, _sine, _sine)
MEDIAN = Statistic(True, np.sign, lambda x: np.tanh(5.0 * _sine(x)))


def huber(width: float) -> Statistic:
    def score(x: Array) -> Array:
        return np.clip(x, -width, width)

    return Statistic(True, score, score)


@dataclasses.dataclass(frozen=True)
class Target:
    """What has to leave its tolerance. center: where the tolerance lies; None: at the statistic of
    the unshifted input."""

    statistic: Statistic
    tolerance: float
    center: Optional[float] = None


@dataclasses.dataclass
class Climb:
    """One side of the tolerance: the sum of gradients so far, the radius at which to look next,
    and the one at which the statistic seems to leave."""

    side: int
    radius: float
    gradient: Array
    exit: float = math.inf

    @property
    def direction(self) -> Array:
        unit: Array = (self.gradient / np.linalg.norm(self.gradient)).astype(np.float32)
        return unit


@dataclasses.dataclass(frozen=True)
class Found:
    """The norm of the shift, its standard error, and how many calls it took. capped: no
    exit was found up to this norm. climb: where the search ended."""

    radius: float
    error: float
    capped: bool
    calls: int
    climb: Climb


@dataclasses.dataclass(frozen=True)
class Sample:
    """Angles f at z + radius * direction + sigma * e. t: e along the direction. unshifted: the
    angles at z + sigma * e, or None."""

    radius: float
    e: Array
    t: Array
    f: Array
    unshifted: Optional[Array] = None

    def weights(self, radius: float, sigma: float) -> Array:
        """With them the sample has the distribution at another radius along the direction."""
        return np.exp(self.t * ((radius - self.radius) / sigma))


class Attack:
    """An attack on one target at one input.

    angles  the model
    noise   a function from a number of rows to standard normal noise (rows, features), which never
            repeats any
    z       the input
    center  of the target at z"""

    def __init__(
        self, angles: Angles, noise: Callable[[int], Array], z: Array, sigma: float, target: Target
    ) -> None:
        self.angles, self.noise, self.z, self.sigma = angles, noise, z, sigma
        self.target, self.calls = target, 0
        self.center = 0.0

    def run(
        self, at_z: tuple[Array, Array], start: float, calls: int, other: Optional[Climb] = None
    ) -> Found:
        """at_z: noise and the angles at z with it. start: where to look first. calls: of the
        model, the ones at z included. other: where the attack on another statistic ended, which
        is tried too."""
        e, f = at_z
        self.calls = len(f)
        given = self.target.center
        self.center = self.target.statistic.value(f) if given is None else given
        each = int((1.0 - JUDGED) * calls - len(f)) // (2 * (ROUNDS + ON_BOTH_SIDES)) * 2
        climbs = [Climb(side, start, np.zeros(e.shape[1])) for side in (1, -1)]
        for climb in climbs:
            self._add_unshifted(climb, e, f)
            for _ in range(ON_BOTH_SIDES):
                self._ascend(climb, each)
        climb = min(climbs, key=lambda c: c.exit)
        for _ in range(ROUNDS - ON_BOTH_SIDES):
            self._ascend(climb, each)
        return self._judge([climb] if other is None else [climb, other], calls)

    # ---- ascent
    def _add_unshifted(self, climb: Climb, e: Array, f: Array) -> None:
        score = self._smooth(climb.side, f)
        score = score - score.mean()
        gradient = score @ e / len(f)
        noise = score.var() / len(f)
        if not noise > 0.0:  # no output is near the edge: any direction may do
            climb.gradient += e[0]
            return
        norm = math.sqrt(max(gradient @ gradient - len(gradient) * noise, noise))
        climb.gradient += norm / noise * gradient

    def _ascend(self, climb: Climb, rows: int) -> None:
        """Adds the gradient at the present point, weighted by its precision, and moves on."""
        d = climb.direction
        s = self._sample(d, climb.radius, rows)
        score = self._smooth(climb.side, s.f)
        slope = score @ s.t / (s.t @ s.t)
        rest = score - score.mean() - slope * s.t
        gradient = rest @ s.e / rows
        gradient += (slope - gradient @ d) * d
        climb.gradient += rows * max(slope, 0.0) / max(rest.var(), 1e-12) * gradient
        climb.exit = self._exit(climb.side, s)
        climb.radius = self._next(climb.radius, climb.exit)

    def _smooth(self, side: int, f: Array) -> Array:
        statistic = self.target.statistic
        beyond = wrapped(f - self.center) if statistic.circular else f - self.center
        return statistic.smooth(side * beyond - self.target.tolerance)

    def _sample(self, d: Array, radius: float, rows: int, unshifted: bool = False) -> Sample:
        """In pairs whose noise differs in the sign of its component along d only."""
        e = self.noise(rows // 2)
        t = e @ d
        e, t = np.concatenate([e, e - 2 * t[:, None] * d]), np.concatenate([t, -t])
        self.calls += len(e) * (1 + unshifted)
        noisy = self.z + self.sigma * e
        before = self.angles(noisy) if unshifted else None
        return Sample(radius, e, t, self.angles(noisy + radius * d), before)

    # ---- where the statistic leaves
    def _margin(self, side: int, s: Sample, radius: float, some: Any = slice(None)) -> float:
        """Not below 0 where the statistic lies beyond the tolerance; of some of the sample."""
        statistic, f = self.target.statistic, s.f[some]
        center = self.center if s.unshifted is None else statistic.value(s.unshifted[some])
        w = s.weights(radius, self.sigma)[some]
        if statistic.circular:
            mu = circular_mean(f, w)
            f = wrapped(f - mu) + wrapped(mu - center)
        else:
            f = f - center
        score = statistic.score(side * f - self.target.tolerance)
        return float(score @ w / w.sum())

    def _exit(self, side: int, s: Sample) -> float:
        """The radius at which the margin crosses 0: by bisection within half a sigma of the
        sample's radius, by a straight line beyond; infinite if the margin does not grow."""
        near, far = max(s.radius - 0.5 * self.sigma, 0.0), s.radius + 0.5 * self.sigma
        at_near, at_far = (self._margin(side, s, r) for r in (near, far))
        if at_near >= 0.0 or at_far < 0.0:
            growth = (at_far - at_near) / (far - near)
            return max(far - at_far / growth, 0.0) if growth > 0.0 else math.inf
        while far - near > 1e-5:
            middle = 0.5 * (near + far)
            if self._margin(side, s, middle) >= 0.0:
                far = middle
            else:
                near = middle
        return far

    def _next(self, radius: float, exit: float) -> float:
        """The radius at which to look next: not far from the last one."""
        farthest = max(1.5 * radius, radius + 0.5 * self.sigma)
        return min(max(exit, 0.5 * radius), farthest, FARTHEST)

    def _walk(self, climb: Climb, rows: int, calls: int) -> float:
        """Walks along the direction to where the statistic leaves, each step with fresh noise.
        Infinite if it does not before the search or these calls end."""
        radius, d = climb.radius, climb.direction
        while self.calls + rows <= calls:
            s = self._sample(d, radius, rows)
            exit = self._exit(climb.side, s)
            if radius == FARTHEST and exit > FARTHEST:
                break
            if abs(exit - radius) <= 0.5 * self.sigma:
                return exit
            radius = self._next(radius, exit)
        return math.inf

    def _judge(self, climbs: list[Climb], calls: int) -> Found:
        """The climb that leaves first, measured there by all calls that are left, on fresh
        noise."""
        rows = int(WALKED * calls) // 2 * 2
        each = (calls - self.calls) // (2 * len(climbs))
        exits = [self._walk(climb, rows, self.calls + each) for climb in climbs]
        radius, climb = min(zip(exits, climbs), key=lambda pair: pair[0])
        if radius < FARTHEST:
            own = self.target.center is None
            left = (calls - self.calls) // (4 if own else 2) * 2
            s = self._sample(climb.direction, radius, left, own)
            exit = self._exit(climb.side, s)
            if exit < FARTHEST:
                return Found(exit, self._error(climb.side, s, exit), False, self.calls, climb)
        return Found(FARTHEST, 0.0, True, self.calls, climb)

    def _error(self, side: int, s: Sample, radius: float) -> float:
        """The jackknife's standard error of the margin, over the margin's slope. Pairs stay
        together."""
        pair = np.arange(len(s.t)) % (len(s.t) // 2)
        margins = [self._margin(side, s, radius, pair % GROUPS != g) for g in range(GROUPS)]
        error = math.sqrt((GROUPS - 1) * float(np.var(margins)))
        h = 0.1 * self.sigma
        ends = [self._margin(side, s, radius + x) for x in (-h, h)]
        return error * 2.0 * h / max(ends[1] - ends[0], 1e-12)

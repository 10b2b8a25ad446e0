"""Certifies an image by several methods, and attacks the statistics of these certificates."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from typing import Any, Optional

import numpy as np

from certreg import Certificate, Domain, Estimator
from certreg.models import OnnxModel

from . import ascent, digits
from .methods import CIRCULAR, FAMILIES, HUBER, MEDIAN, Method
from .settings import MODELS, SEED

SIGMA, TOLERANCE, ALPHA = 0.5, 10.0, 0.1
BATCH = 500  # rows of one call of the network
FIRST_RADIUS = 1.15  # of the search, in certified radii


@dataclasses.dataclass(frozen=True)
class Attacked:
    """A certificate, and the statistic that is attacked."""

    name: str
    method: Method
    statistic: ascent.Statistic


FULL_FAMILY = FAMILIES[3]
PLAIN = Attacked("(E,C,G)+M: plain mean", FULL_FAMILY, ascent.MEAN)
# As in the paper, which certifies the plain mean and attacks the circular one.
OTHER = Attacked("(E,C,G)+M: circular mean", FULL_FAMILY, ascent.CIRCULAR_MEAN)
OF_THE_MEAN = (OTHER, PLAIN)
OURS = (
    Attacked("median", MEDIAN, ascent.MEDIAN),
    Attacked("Huber", HUBER, ascent.huber(TOLERANCE / 2)),
    Attacked("circular mean", CIRCULAR, ascent.CIRCULAR_MEAN),
)
OF_NETWORK = {"rotation": OF_THE_MEAN + OURS, "rotation_clean": OF_THE_MEAN}


@dataclasses.dataclass(frozen=True)
class Job:
    network: str
    image: int
    digit: int
    z: np.ndarray
    samples: int
    budget: int


@functools.lru_cache(maxsize=None)
def _network(name: str) -> OnnxModel:
    return OnnxModel(path_of(name), threads=1)


def path_of(network: str) -> pathlib.Path:
    return MODELS / f"{network}.onnx"


def _angles(model: OnnxModel, x: np.ndarray) -> np.ndarray:
    """Degrees in [-180, 180]."""
    y = np.concatenate([model(x[first : first + BATCH]) for first in range(0, len(x), BATCH)])
    angles: np.ndarray = np.degrees(np.arctan2(y[:, 1], y[:, 0]).astype(np.float64))
    return angles


class _Noise:
    """The library's noise for attacks; the certificates' never occurs in it. Each of them has its
    own."""

    def __init__(self, image: int, attack: int, rows: int) -> None:
        self.estimator = Estimator(None, digits.PIXELS, rows, seed=SEED)
        self.estimator.begin(np.zeros(digits.PIXELS), 1.0, image, Domain.ATTACK + attack)
        self.used = 0

    def __call__(self, rows: int) -> np.ndarray:
        first, self.used = self.used, self.used + rows
        noise: np.ndarray = self.estimator.draw(first, rows)
        return noise


def _certificates(model: OnnxModel, job: Job) -> dict[str, Certificate]:
    """By method; several questions about one record cost no calls."""
    methods = {one.method.name: one.method for some in OF_NETWORK.values() for one in some}
    with Estimator(
        model,
        digits.PIXELS,
        job.samples,
        batch=BATCH,
        kind="angle_pair",
        lo=-180,
        hi=180,
        constraints="ECGM",
        seed=SEED,
    ) as e:
        e.begin(job.z, SIGMA, job.image)
        questions = [method.make(TOLERANCE, ALPHA) for method in methods.values()]
        return dict(zip(methods, e.certify(job.samples, *questions)))


def attack_image(job: Job) -> list[dict[str, Any]]:
    """Certifies an image and attacks what has a radius; a line of the CSV file for each."""
    model, attacked = _network(job.network), OF_NETWORK[job.network]
    certificates = _certificates(model, job)
    angles = functools.partial(_angles, model)
    e = _Noise(job.image, 0, job.budget)(int(ascent.AT_Z * job.budget))
    at_z = e, angles(job.z + np.float32(SIGMA) * e)
    lines: list[dict[str, Any]] = []
    climb: Optional[ascent.Climb] = None
    for index, one in enumerate(attacked, start=1):
        certificate, found = certificates[one.method.name], None
        if certificate.radius > 0:
            about_itself = one.method.promise == "mean"
            center = None if about_itself else certificate.prediction
            target = ascent.Target(one.statistic, TOLERANCE, center)
            noise = _Noise(job.image, index, job.budget)
            attack = ascent.Attack(angles, noise, job.z, SIGMA, target)
            start = FIRST_RADIUS * certificate.radius
            found = attack.run(at_z, start, job.budget, climb)
            climb = found.climb
        lines.append(_line(job, one, certificate, found))
    return lines


def _line(
    job: Job, one: Attacked, certificate: Certificate, found: Optional[ascent.Found]
) -> dict[str, Any]:
    return {
        "network": job.network,
        "image": job.image,
        "digit": job.digit,
        "statistic": one.name,
        "certified": certificate.radius,
        "attack": found.radius if found else "",
        "error": found.error if found else "",
        "capped": int(found.capped) if found else 0,
    }

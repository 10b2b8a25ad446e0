"""Radii of vectors, in units of sigma, of normal outputs about their middle with unlimited samples,
and from 10,000 by the library: center smoothing; balls with half of the outputs, which are as small
as possible; the outputs' medians; the projection median.

    make bench-vectors"""

import math

import numpy as np
from page import show
from certreg import ALL_OUTPUTS, Estimator, Method, Question, Statistic

SAMPLES, ALPHA = 10_000, 0.1
LOSS = {1: {2: math.sqrt(2), 3: math.sqrt(3)}, 6: {2: 1.28790, 3: 1.52096}}  # C of theory 7.3


def quantile(share):
    """The normal quantile."""
    low, high = -40.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        if 0.5 * math.erfc(-middle / math.sqrt(2)) < share:
            low = middle
        else:
            high = middle
    return low


def in_ball(outputs, radius):
    """The probability that a standard normal vector of two or three numbers is as short."""
    beyond = math.exp(-(radius**2) / 2)
    if outputs == 2:
        return 1 - beyond
    return math.erf(radius / math.sqrt(2)) - math.sqrt(2 / math.pi) * radius * beyond


def of_population(outputs, tolerance):
    """Radii in units of sigma for outputs that scatter with deviation 1 in every direction."""
    return (
        max(0.0, quantile(in_ball(outputs, tolerance / 3))),
        max(0.0, quantile(in_ball(outputs, tolerance / 2))),
        tolerance / LOSS[1][outputs],
        tolerance / LOSS[6][outputs],
    )


def linear(x):
    return x


def of_record(outputs, tolerance):
    """The same from samples of the identity, averaged over ten inputs."""
    asked = (
        dict(statistic=Statistic.BALL_CENTER, method=Method.BASELINE),
        dict(statistic=Statistic.MEDIAN),
        dict(statistic=Statistic.PROJECTION_MEDIAN),
    )
    questions = [Question(tolerance, ALL_OUTPUTS, alpha=ALPHA, **more) for more in asked]
    radii = []
    with Estimator(linear, inputs=outputs, outputs=outputs, max_samples=SAMPLES, seed=1) as e:
        for noise_id in range(10):
            e.begin([0.0] * outputs, 1.0, noise_id)
            radii.append([c.radius for c in e.certify(SAMPLES, *questions)])
    return np.mean(radii, axis=0)


def row(*cells):
    return [f"{c:.3f}" if isinstance(c, float) else c for c in cells]


def main():
    lines = []
    for outputs in (2, 3):
        lines.append(row(f"{outputs}, unlimited", *of_population(outputs, 4.0)))
        ball, *medians = map(float, of_record(outputs, 4.0))
        lines.append(row(f"{outputs}, {SAMPLES:,}", ball, "", *medians))
    kinds = ["center smoothing", "half-mass ball", "medians", "projection median"]
    show("vectors", ["outputs, samples", *kinds], *lines)


if __name__ == "__main__":
    main()

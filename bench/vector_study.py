"""What the three certificates of vectors are worth (docs/benchmarks.md, "Vectors").

  1. Radii, in units of sigma, of normal outputs about their middle with unlimited samples, and from
     10,000 by the library: center smoothing; balls with half of the outputs, which are as small as
     possible; the outputs' medians; the projection median.
  2. Means of tanh models: the net of directions, by finite-sample bounds, against the norm of the
     change as a whole, by the trace of the covariance as if that were known.

    make bench-vectors

It prints two tables and takes about 15 seconds."""

import math

import numpy as np
from page import show
from certreg import ALL_OUTPUTS, Center, Estimator, Method, Question, Statistic

SAMPLES, ALPHA, INPUTS = 10_000, 0.1, 20
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


def tanh_model(outputs, mixed):
    """Outputs tanh(w x) of their own, or sums of 30 of them."""
    random = np.random.default_rng(5)
    hidden = 30 if mixed else outputs
    inner = random.standard_normal((INPUTS, hidden)) / math.sqrt(INPUTS)
    outer = np.eye(hidden)
    if mixed:
        outer = random.standard_normal((hidden, outputs)) / math.sqrt(hidden)
    reach = np.abs(outer).sum(axis=0)
    return (lambda x: np.tanh(x @ inner) @ outer), reach


def by_norm(model, z, sigma, tolerance):
    """Where sqrt(trace of the covariance) T0(r) comes to the tolerance (theory 7.3)."""
    noise = np.random.default_rng(1).standard_normal((SAMPLES, INPUTS))
    trace = np.var(model(z + sigma * noise), axis=0).sum()
    return sigma * math.sqrt(math.log1p(tolerance**2 / trace))


def of_means(outputs, tolerance, mixed, sigma):
    """Radii of the mean: about its true value by the norm and by the net, and by the net about the
    prediction."""
    model, reach = tanh_model(outputs, mixed)
    about = dict(output=ALL_OUTPUTS, statistic=Statistic.MEAN, alpha=ALPHA)
    questions = [
        Question(tolerance, center=Center.TRUE_MEAN, **about),
        Question(tolerance, **about),
    ]
    radii = []
    with Estimator(
        model, inputs=INPUTS, outputs=outputs, max_samples=SAMPLES, lo=-reach, hi=reach, seed=1
    ) as e:
        for noise_id in range(5):
            z = 0.3 * np.random.default_rng(noise_id).standard_normal(INPUTS)
            e.begin(z, sigma, noise_id)
            norm = by_norm(model, z, sigma, tolerance)
            radii.append([norm] + [c.radius for c in e.certify(SAMPLES, *questions)])
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
    lines = []
    for outputs, tolerance in ((2, 0.6), (3, 0.5)):
        for mixed in (False, True):
            for sigma in (0.25, 0.5, 1.0):
                norm, net, about = map(float, of_means(outputs, tolerance, mixed, sigma))
                name = f"{outputs}, {'sums' if mixed else 'single'}, {sigma}"
                lines.append(row(name, norm, net, net / norm, about))
    kinds = ["norm", "net", "ratio", "net, about the prediction"]
    show("vector-means", ["outputs, model, σ", *kinds], *lines)


if __name__ == "__main__":
    main()

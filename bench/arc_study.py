"""Which arc serves angles best where no pilot has seen the outputs (theory 7)? Needs NumPy and
SciPy; a minute.

Outputs are normal about the prediction with some share of uniform outliers. For each tolerance,
number of samples and scatter the radius of the exact median is worked out for every setting (A,
arc), and compared with the best of them.
"""

import itertools

import numpy as np
from scipy.stats import beta, binom, norm

ALPHA = 0.05
QUANTILES = (np.arange(15) + 0.5) / 15  # of the number of failures


def setting(a, factor, least, greatest):
    return a, lambda tolerance: min(greatest, max(least, factor * tolerance))


SETTINGS = {
    "first of the pilot's": setting(80, 1, 25, 45),
    "second of the pilot's": setting(90, 1.2, 0, 45),
    "without a pilot": setting(85, 2, 10, 40),
}
for a, factor, least, greatest in itertools.product(
    (80, 82.5, 85, 87.5, 90), (1.5, 2, 2.5), (0, 10), (30, 35, 40)
):
    SETTINGS[f"{a} {factor} {least} {greatest}"] = setting(a, factor, least, greatest)


def share(scatter, outliers, lo, hi):
    """Probability of an output between lo and hi degrees from the prediction."""
    inside = sum(
        norm.cdf((hi + turn) / scatter) - norm.cdf((lo + turn) / scatter) for turn in (-360, 0, 360)
    )
    return (1 - outliers) * inside + outliers * (hi - lo) / 360


def mean_radius(failure, samples, needed):
    """In units of sigma; the threshold is a share `needed` of the outputs."""
    failures = binom.ppf(QUANTILES, samples, min(1, failure))
    upper = np.where(
        failures < samples,
        beta.ppf(1 - ALPHA, failures + 1, np.maximum(samples - failures, 1e-9)),
        1,
    )
    return np.maximum(0, -norm.ppf(np.minimum(upper, 1 - 1e-15)) - norm.ppf(needed)).mean()


def radius(tolerance, scatter, outliers, samples, a, arc):
    tail = mean_radius(1 - share(scatter, outliers, -tolerance, 180 - a), samples, 0.5)
    needed = 1 / (1 + np.sin(np.radians(a - arc)))
    return min(
        tail, mean_radius(1 - share(scatter, outliers, -arc, 180 - 2 * a + arc), samples, needed)
    )


def main():
    rows = []
    cases = itertools.product(
        (50, 100, 400, 2000, 10000),
        (2, 5, 10, 20, 40),
        (0.5, 0.8, 1.2, 1.6, 2, 2.5, 3.5),
        (0, 0.02, 0.1, 0.3),
    )
    for samples, tolerance, ratio, outliers in cases:
        found = [
            radius(tolerance, tolerance / ratio, outliers, samples, a, arc(tolerance))
            for a, arc in SETTINGS.values()
        ]
        if max(found) >= 0.1:
            rows.append(found)
    rows = np.array(rows)
    total = rows.sum(axis=0) / rows.max(axis=1).sum()
    print(f"{len(rows)} cases; part of the best setting's radius")
    for place in sorted(range(len(SETTINGS)), key=lambda k: -total[k]):
        name = list(SETTINGS)[place]
        if place < 3 or total[place] > total.max() - 0.001:
            print(
                f"  {name:24} {total[place]:.4f}   mean of ratios "
                f"{(rows[:, place] / rows.max(axis=1)).mean():.4f}"
            )


if __name__ == "__main__":
    main()

"""Known answers for tests/unit_binomial.c, by mpmath at 60 digits.

The Makefile runs this.
Every argument is a double, and every answer is the double nearest to the true value there.
"""

from mpmath import mp, mpf, erfc, exp, pi, sqrt

mp.dps = 60


def upper(x):
    return erfc(mpf(x) / sqrt(mpf(2))) / 2


def quantile(p):
    """x with P(t <= x) = p: bisection on the tail, which is always the one below one half."""
    p = mpf(p)
    if p == mpf(1) / 2:
        return mpf(0)
    tail = p if p < mpf(1) / 2 else 1 - p
    low, high = mpf(0), mpf(60)
    for _ in range(210):
        middle = (low + high) / 2
        if upper(middle) > tail:
            low = middle
        else:
            high = middle
    return -low if p < mpf(1) / 2 else low


def number(value):
    return float(value).hex()


points = [
    0.0,
    1e-300,
    1e-12,
    0.1,
    0.5,
    2 / 3,
    1.0,
    1.1,
    1.959963984540054,
    2.5,
    3.3333,
    5.0,
    7.77,
    8.3,
    12.0,
    20.3,
    30.1,
    36.9,
    37.5,
]
points = [-x for x in reversed(points) if x] + points
levels = [
    5e-324,
    1e-308,
    1e-200,
    1e-137,
    1e-136,
    1e-135,
    1e-100,
    1e-50,
    1e-20,
    1e-10,
    1e-5,
    0.001,
    0.025,
    0.1,
    0.2,
    0.25,
    0.26,
    0.4,
    0.49,
    0.499999,
    0.5 - 2.0**-54,
    0.5,
    0.5 + 2.0**-53,
    0.5000001,
    0.6,
    0.74,
    0.75,
    0.76,
    0.9,
    0.975,
    0.999,
    1 - 1e-7,
    1 - 1e-12,
    1 - 2.0**-53,
]


def main():
    print("/* Made by make_normal.py. */")
    print("static const struct { double x, pdf, cdf, sf; } point_rows[] = {")
    for x in points:
        density = exp(-mpf(x) ** 2 / 2) / sqrt(2 * pi)
        print(
            "    {%s, %s, %s, %s},"
            % (number(x), number(density), number(upper(-x)), number(upper(x)))
        )
    print("};")
    print("static const struct { double p, x; } quantile_rows[] = {")
    for p in levels:
        print("    {%s, %s}," % (number(p), number(quantile(p))))
    print("};")


if __name__ == "__main__":
    main()

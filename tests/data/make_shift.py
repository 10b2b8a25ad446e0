"""Radii for tests/unit_gaussian_shift.c, by mpmath at 50 digits: from, to, and the shift between.

The Makefile runs this. An argument is another number of points.
"""

import math
import random
import sys
from statistics import NormalDist

from mpmath import erfc, exp, log, mp, mpf, pi, sqrt

mp.dps = 50


def level(p):
    """x with P(t > x) = p, by Newton's method on the logarithm of the tail."""
    start = -NormalDist().inv_cdf(p) if p > 1e-15 else math.sqrt(-2 * math.log(p))
    x, p = mpf(start), mpf(p)
    while True:
        tail = erfc(x / sqrt(2)) / 2
        step = (log(tail) - log(p)) * tail * sqrt(2 * pi) * exp(x * x / 2)
        x += step
        if abs(step) < mpf(10) ** -45 * (1 + abs(x)):
            return x


draw = random.Random(1)
for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
    to = (0.5, draw.random(), 10 ** (-16 * draw.random()))[i % 3]
    power = (300 * draw.random(), 4 * draw.random(), draw.random())[i % 4 % 3]
    close = 1 - 10 ** (-12 * draw.random())
    start = max(to * (close if i % 4 == 3 else 10**-power), 1e-300)
    print(f"{{{start.hex()}, {to.hex()}, {mp.nstr(level(start) - level(to), 30)}L}},")

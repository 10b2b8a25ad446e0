"""Arguments and values of src/base/libm_table.inc, by mpmath at 60 digits.

    python3 tests/data/make_libm.py >src/base/libm_table.inc

Among many arguments it chooses those at which a careless computation of the function errs most, so
that a careless libm is found by few rows.
"""

import math
import random
import re

from mpmath import mp, mpf

mp.dps = 60
LN2, LOG2E = math.log(2), 1.4426950408889634


def f2xm1(x):
    """The expm1 of mingw-w64: a product that is rounded, and then 2^p - 1."""
    return float(mpf(2) ** (x * LOG2E) - 1) if abs(x) < LN2 else math.exp(x) - 1


def by_square(x):
    return float(mp.erfc(x) * mp.exp(mpf(x) ** 2)) * math.exp(-x * x)


# Name, function, careless function, rows of each range, bits of an argument, ranges.
CARELESS = [
    ("exp", mp.exp, lambda x: 2 ** (x * LOG2E), 2, 12, (-700, -1), (-1, 1), (1, 700)),
    ("expm1", mp.expm1, f2xm1, 2, 12, (-0.69, -0.01), (0.01, 0.69), (0.7, 3), (-30, -0.7)),
    ("log", mp.log, lambda x: math.log2(x) * LN2, 2, 12, (0.51, 0.99), (1.01, 2), (2, 1e6)),
    ("log1p", mp.log1p, lambda x: math.log(1 + x), 2, 40, (-0.1, -1e-4), (1e-4, 0.1), (0.1, 50)),
    ("erfc", mp.erfc, by_square, 2, 50, (-3, 0.8), (0.8, 3), (3, 9), (9, 26)),
    ("erf", mp.erf, lambda x: 1 - math.erfc(x), 1, 12, (0.001, 0.5), (-3, -0.5)),
    ("sin", mp.sin, lambda x: math.sin(x - math.pi), 1, 12, (3, 3.3), (-7, 7)),
    ("cos", mp.cos, lambda x: math.sin(x + math.pi / 2), 1, 12, (1.5, 1.6), (2, 7)),
    ("asin", mp.asin, lambda x: math.acos(-x) - math.pi / 2, 1, 12, (-1, -0.5), (0.001, 1)),
    ("cbrt", mp.cbrt, lambda x: x ** (1 / 3), 1, 12, (1e-9, 1), (1, 1e9)),
    ("exp2", lambda x: mpf(2) ** x, lambda x: math.exp(x * LN2), 1, 12, (-900, -2), (-2, 900)),
    ("log2", lambda x: mp.log(x, 2), lambda x: math.log(x) * LOG2E, 1, 12, (0.5, 2), (2, 1e6)),
    ("log10", mp.log10, lambda x: math.log2(x) / math.log2(10), 1, 12, (0.5, 2), (2, 1e6)),
    ("tanh", mp.tanh, lambda x: 1 - 2 / (1 + math.exp(2 * x)), 1, 12, (0.001, 0.5), (-9, -0.5)),
    ("pow", mp.power, lambda x, y: math.exp(y * math.log(x)), 2, 12, (0.01, 99, -40, 40)),
    ("atan2", mp.atan2, lambda x, y: math.atan(x / y), 2, 12, (-9, 9, -9, 9)),
    ("hypot", mp.hypot, lambda x, y: math.sqrt(x * x + y * y), 1, 12, (1e-170, 9e-170) * 2,
     (0.01, 9) * 2),
]
# Those that round once: arguments by hand.
EXACT = [
    ("fma", lambda x, y, z: mpf(x) * y + z, (1 + 2**-26, 1 + 2**-27, 2.0**-120),
     (1 + 2**-30, 1 - 2**-30, -1.0), (1 + 2**-27, 1 + 2**-27, 2.0**-120)),
    ("sqrt", mp.sqrt, (2.0,), (1 - 2**-53,), (3e-300,)),
    ("fmaf", lambda x, y, z: mpf(x) * y + z, (1 + 2**-12, 1 + 2**-12, 2.0**-60)),
    ("fmod", math.fmod, (1e18, 3.7), (5.3, 2.0**-9)),
    ("rint", mp.nint, (2.5,), (-3.5,), (2.0**51 + 0.5,)),
    ("remainder", math.remainder, (1e18, 3.7), (5.0, 2.0)),
    ("nextafter", math.nextafter, (1.0, 0.0), (0.0, 1.0)),
]


def argument(low, high, bits, chance):
    """A number of the range; of a range of one sign, each size is as likely as another."""
    x = chance.uniform(low, high)
    if low * high > 0:
        logarithms = sorted(math.log(abs(end)) for end in (low, high))
        x = math.copysign(math.exp(chance.uniform(*logarithms)), x)
    mantissa, exponent = math.frexp(x)
    return math.ldexp(round(mantissa * 2**bits), exponent - bits)


def worst(exact, careless, count, bits, ends, chance):
    """The rows of a range. Near a power of two, units of the last place are not those of bits."""
    found = {}
    for _ in range(1500):
        at = tuple(argument(*ends[i:i + 2], bits, chance) for i in range(0, len(ends), 2))
        wanted = exact(*map(mpf, at))
        value = float(wanted)
        rest = float((wanted - value) / math.ulp(value))
        mantissa = abs(math.frexp(value)[0])
        if 0.5001 < mantissa < 0.9999 and abs(rest) < 0.49:
            off = abs((careless(*at) - value) / math.ulp(value) - rest)
            found[at] = off, value, rest
    return [(at, *found[at][1:]) for at in sorted(found, key=found.get)[-count:]]


def number(x):
    return re.sub(r"p\+", "p", re.sub(r"\.?0*p", "p", x.hex())) if x else "0"


def main():
    chance, line = random.Random(2026), ""
    rows = [(name, *row) for name, exact, careless, count, bits, *ranges in CARELESS
            for ends in ranges for row in worst(exact, careless, count, bits, ends, chance)]
    for name, exact, *arguments in EXACT:
        for at in arguments:
            value = mpf(exact(*at))
            with mp.workprec(24 if name == "fmaf" else 53):
                rows.append((name, at, float(+value), 0.0))
    print("/* Arguments, value and rest of each row. tests/data/make_libm.py writes this file. */")
    for name, at, value, rest in rows:
        text = ", ".join([*map(number, (*at, value)), f"{rest:.2f}".replace("0.", ".")]) + ", "
        if len(line + text) > 101:
            print(line.rstrip())
            line = ""
        line += text
    print(line.rstrip())


if __name__ == "__main__":
    main()

"""Known answers for tests/unit_binomial.c, by mpmath at 60 digits.

Run: python3 make_binomial.py > binomial.inc
Tails are summed term by term, all positive, so that no incomplete beta routine has to be trusted.
Quantiles are roots of them. Upper bounds are rounded up to the next double and lower ones down, so
a bound is outward if and only if it passes them.
"""

import math
from mpmath import mp, mpf, loggamma, log, exp, betainc

mp.dps = 60


def tail(a, b, x, y):
    """I_x(a, b) for whole a, b and x below the mean."""
    lead = exp(loggamma(a + b) - loggamma(a + 1) - loggamma(b) + a * log(x) + (b - 1) * log(y))
    term = total = mpf(1)
    odds = x / y
    for i in range(1, int(b)):
        term *= odds * (b - i) / (a + i)
        total += term
        if term < total * mpf(10) ** -40:
            break
    return lead * total


def cdf(k, n, p):
    return tail(mpf(n - k), mpf(k + 1), 1 - p, p) if k < n else mpf(1)


def quantile(a, b, alpha):
    """x with I_x(a, b) = alpha: Newton in log x on the logarithm, from the normal approximation."""
    mean = a / (a + b)
    lo, hi = mpf(0), mpf(1)
    x = mean * mpf("0.9")
    for _ in range(300):
        value = tail(a, b, x, 1 - x)
        gap = log(value / alpha)
        if gap > 0:
            hi = x
        else:
            lo = x
        if abs(gap) < mpf(10) ** -35:
            break
        density = exp(
            loggamma(a + b) - loggamma(a) - loggamma(b) + a * log(x) + (b - 1) * log(1 - x)
        )
        following = x * exp(-gap * value / density)
        x = following if lo < following < hi else (lo + hi) / 2
    return x


def rounded(value, up):
    near = float(value)
    if up and mpf(near) < value:
        near = math.nextafter(near, math.inf)
    if not up and mpf(near) > value:
        near = math.nextafter(near, -math.inf)
    return near


def upper(k, n, alpha):
    """Largest p with cdf >= alpha.

    Solved for 1 - p where p is near 1, else for p by the mirrored tail.
    """
    lo, hi = mpf(0), mpf(1)
    p = min((mpf(k) + 1) / (n + 1) + 5 * mpf(1) / n, 1 - mpf(10) ** -25)
    a, b = mpf(n - k), mpf(k + 1)
    for _ in range(400):
        value = cdf(k, n, p)
        gap = log(value / alpha)
        if gap > 0:
            lo = p
        else:
            hi = p
        if abs(gap) < mpf(10) ** -35:
            break
        density = exp(
            loggamma(a + b) - loggamma(a) - loggamma(b) + (a - 1) * log(1 - p) + b * log(p)
        )
        following = p * exp(gap * value / density)
        p = following if lo < following < hi else (lo + hi) / 2
    return p


def student(q, degrees):
    """Bisection in log t, then Newton: the logarithm of the tail is concave there."""
    nu = mpf(degrees)

    def tail_of(t):
        return betainc(nu / 2, mpf(1) / 2, 0, nu / (nu + t * t), regularized=True) / 2

    lo, hi = log(mpf(10) ** -3), log(mpf(10) ** 22)
    for _ in range(14):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if tail_of(exp(middle)) > q else (lo, middle)
    s = lo
    for _ in range(60):
        t = exp(s)
        value = tail_of(t)
        density = exp(
            loggamma((nu + 1) / 2) - loggamma(nu / 2) - (nu + 1) / 2 * log(1 + t * t / nu)
        ) / mp.sqrt(nu * mp.pi)
        step = log(value / q) * value / (t * density)
        s += step
        if abs(step) < mpf(10) ** -30:
            break
    assert abs(tail_of(exp(s)) / q - 1) < mpf(10) ** -25
    return exp(s)


def main():
    print("/* Made by make_binomial.py (mpmath, 60 digits); see there. */")
    print("static const struct { uint64_t k, n; double p, cdf; } cdf_rows[] = {")
    for k, n, p in [
        (0, 1, 0.5),
        (0, 10, 0.1),
        (3, 10, 0.5),
        (9, 10, 0.99),
        (2, 64, 0.25),
        (31, 64, 0.7),
        (100, 1000, 0.125),
        (0, 10**6, 1e-5),
        (499, 1000, 0.9),
        (4000, 10**4, 0.5),
        (4900, 10**4, 0.5),
        (10, 10**9, 1e-7),
        (1, 10**9, 4e-9),
        (5 * 10**8 - 10**5, 10**9, 0.5),
        (10**5, 10**9, 1.02e-4),
    ]:
        print(
            f"    {{{k}u, {n}u, {p.hex()}, {float(cdf(k, n, mpf(p))).hex()}}}, "
            f"/* {float(cdf(k, n, mpf(p))):.6g} */"
        )
    print("};")
    rows = []
    for n, ks in [
        (1, [0, 1]),
        (10, [0, 1, 5, 9, 10]),
        (64, [0, 1, 31, 63]),
        (1000, [0, 3, 100, 500, 999]),
        (10**4, [0, 1, 1500, 5000]),
        (10**6, [0, 17, 10**5]),
        (10**9, [0, 1, 1000, 10**6]),
    ]:
        for k in ks:
            for alpha in [0.5, 0.1, 0.05, 1e-3, 1e-10, 1e-20]:
                rows.append((k, n, alpha))
    rows += [(5 * 10**8, 10**9, 0.05), (5 * 10**8, 10**9, 1e-20)]
    print("static const struct { uint64_t k, n; double alpha, upper, lower; } bound_rows[] = {")
    for k, n, alpha in rows:
        high = rounded(upper(k, n, mpf(alpha)), True) if k < n else 1.0
        low = rounded(quantile(mpf(k), mpf(n - k + 1), mpf(alpha)), False) if k else 0.0
        print(f"    {{{k}u, {n}u, {alpha!r}, {high.hex()}, {low.hex()}}},")
    print("};")
    print("static const struct { double q, degrees, t; } student_rows[] = {")
    for degrees in [1, 2, 3.5, 10, 63, 127, 1023, 1e5]:
        for q in [0.45, 0.25, 0.1, 0.05, 0.0125, 1e-3, 1e-5, 1e-10, 1e-20]:
            print(f"    {{{q!r}, {degrees!r}, {float(student(mpf(q), degrees)).hex()}}},")
    print("};")
    print("static const struct { double a, b, x, value; } beta_rows[] = {")
    for a, b, x in [
        (0.5, 0.5, 0.25),
        (1, 1, 0.3),
        (31.5, 0.5, 0.8),
        (31.5, 0.5, 0.99),
        (2.5, 7, 0.1),
        (100, 300, 0.2),
        (5000, 5000, 0.49),
        (0.5, 31.5, 0.001),
        (63.5, 0.5, 0.5),
    ]:
        print(
            f"    {{{a!r}, {b!r}, {x!r}, "
            f"{float(betainc(mpf(a), mpf(b), 0, mpf(x), regularized=True)).hex()}}},"
        )
    print("};")


if __name__ == "__main__":
    main()

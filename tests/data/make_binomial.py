"""Known answers for tests/unit_binomial.c, by mpmath at 60 digits.

The Makefile runs this.
Tails are summed term by term, all positive, so that no incomplete beta routine has to be trusted.
Quantiles are roots of them. Upper bounds are rounded up to the next double and lower ones down, so
a bound is outward if and only if it passes them.
"""

import math
import textwrap
from mpmath import mp, mpf, loggamma, log, exp, betainc

mp.dps = 60


def tail(a, b, x, y):
    """I_x(a, b) for whole a, b and x below the mean, in whole numbers of 2^-256."""
    lead = exp(loggamma(a + b) - loggamma(a + 1) - loggamma(b) + a * log(x) + (b - 1) * log(y))
    first, more, odds = int(a), int(b), int(x / y * 2**200)
    term = total = 1 << 256
    for i in range(1, more):
        term = term * odds * (more - i) // (first + i << 200)
        total += term
        if term << 133 < total:
            break
    return lead * total / 2**256


def cdf(k, n, p):
    return tail(mpf(n - k), mpf(k + 1), 1 - p, p) if k < n else mpf(1)


def beta_cdf(a, b, x):
    if a == int(a) and b == int(b):
        return tail(a, b, x, 1 - x)
    return betainc(a, b, 0, x, regularized=True)


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
        if abs(gap) < mpf(10) ** -25:
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
        if abs(gap) < mpf(10) ** -25:
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


def high(k, n, alpha):
    """0 at alpha 0: not computed."""
    return (rounded(upper(k, n, alpha), True) if k < n else 1.0).hex() if alpha else 0


def low(k, n, alpha):
    return rounded(quantile(mpf(k), mpf(n - k + 1), alpha), False).hex() if k and alpha else 0


def listed(numbers):
    return "{" + ", ".join(str(number) for number in numbers) + "}"


def row(*fields):
    text = "{" + ", ".join(str(field) for field in fields) + "},"
    print(textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="     "))


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
    alphas = [0.5, 0.1, 0.05, 1e-3, 1e-10, 1e-20]
    print(f"enum {{ ALPHAS = {len(alphas)}, SHARES = 9 }};")
    print(f"static const double alphas[ALPHAS] = {listed(alphas)};")
    print("static const struct { uint64_t k, n; double upper[ALPHAS], lower[ALPHAS]; }")
    print("    bound_rows[] = {")
    for n, ks in [
        (1, [0, 1]),
        (10, [0, 1, 5, 9, 10]),
        (64, [0, 1, 31, 63]),
        (1000, [0, 3, 100, 500, 999]),
        (10**4, [0, 1, 1500, 5000]),
        (10**6, [0, 17, 10**5]),
        (10**9, [0, 1, 1000, 10**6, 5 * 10**8]),
    ]:
        for k in ks:
            some = [alpha if k < 10**8 or alpha in (0.05, 1e-20) else 0 for alpha in alphas]
            row(k, n, *(listed(bound(k, n, mpf(alpha)) for alpha in some) for bound in (high, low)))
    print("};")
    shares = [0.45, 0.25, 0.1, 0.05, 0.0125, 1e-3, 1e-5, 1e-10, 1e-20]
    print("static const double student_shares[SHARES] =")
    print(f"    {listed(shares)};")
    print("static const struct { double degrees, t[SHARES]; } student_rows[] = {")
    for degrees in [1, 2, 3.5, 10, 63, 127, 1023, 1e5]:
        row(degrees, listed(float(student(mpf(q), degrees)).hex() for q in shares))
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
        row(a, b, x, float(beta_cdf(mpf(a), mpf(b), mpf(x))).hex())
    print("};")


if __name__ == "__main__":
    main()

"""Known answers for tests/api_known_answers.c, by mpmath at 60 digits.

The Makefile runs this.
Radii are rounded down to a double, and changes of a mean up, so that the library's number is on the
safe side of the true one if and only if it is on the safe side of the one here.
"""

import make_binomial
from make_binomial import upper
from make_normal import quantile, upper as tail
from mpmath import mpf, expm1, log1p, sqrt


def rounded(value, up):
    return make_binomial.rounded(value, up).hex()


def rows(name, fields, lines):
    print(f"static const struct {{ {fields}; }} {name}[] = {{")
    for line in lines:
        print("    {" + ", ".join(str(field) for field in line) + "},")
    print("};")


def medians():
    """sigma times the quantile of the share that Clopper and Pearson leave."""
    for n in (100, 1000, 20000):
        for k in (0, 1, n // 20, n * 3 // 10):
            for alpha in (0.05, 1e-3, 1e-10):
                for sigma in (0.25, 1.0):
                    p = upper(k, n, mpf(alpha))
                    radius = -quantile(p) * mpf(sigma) if p < mpf(1) / 2 else mpf(0)
                    yield n, k, alpha, sigma, rounded(radius, False)


def changes():
    for r in (1e-6, 0.01, 0.3, 1.0, 2.5, 5.0):
        x = mpf(r) ** 2
        for variance in (1e-8, 0.04, 0.9):
            c = mpf(variance)
            yield "CERTREG_CONSTRAINTS_C", r, variance, 0.0, 0.0, rounded(sqrt(c * expm1(x)), True)
            for share in (0.01, 0.25):
                gradient = float(sqrt(c)) * share
                k = min(mpf(gradient), sqrt(c / expm1(x)) * r)  # more is of no use
                change = r * k + sqrt((c - k * k) * (expm1(x) - x))
                yield "CERTREG_CONSTRAINTS_CG", r, variance, gradient, 0.0, rounded(change, True)
        for mean in (0.5, 0.75, 0.999):
            m = mpf(mean)
            change = m - tail(r - quantile(m))
            rise = tail(-quantile(m) - r) - m
            yield "MEAN_AND_RANGE", r, 0.0, 0.0, mean, rounded(max(change, rise), True)


def radii():
    for tolerance in (0.001, 0.05, 0.2):
        for variance in (1e-4, 0.01, 0.5):
            radius = sqrt(log1p(mpf(tolerance) ** 2 / mpf(variance)))
            yield "CERTREG_CONSTRAINTS_C", tolerance, variance, 0.0, rounded(radius, False)
        for mean in (0.5, 0.625, 0.75):
            m, t = mpf(mean), mpf(tolerance)
            radius = min(quantile(m) - quantile(m - t), quantile(m + t) - quantile(m))
            yield "MEAN_AND_RANGE", tolerance, 0.0, mean, rounded(radius, False)


def main():
    print("/* Made by make_exact.py (mpmath, 60 digits); see there. */")
    rows("median_rows", "uint64_t n, k; double alpha, sigma, radius", medians())
    rows("change_rows", "uint32_t known; double r, variance, gradient, mean, change", changes())
    rows("radius_rows", "uint32_t known; double tolerance, variance, mean, radius", radii())


main()

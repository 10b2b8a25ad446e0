#!/usr/bin/env python3
"""Do parity (antithetic pairs +-e) and the second order enlarge radii, at equal numbers of
evaluations?   (theory 8)

    python bench/second_order_study.py --mnist FOLDER [--images 12] [--evaluations 10000] [--check]

Turned MNIST digits through examples/models/rotation.onnx (needs numpy, scipy, onnxruntime). For
every digit and sigma it draws `pairs` antithetic pairs, and computes the radius of the mean angle
(about the noise-free output, tolerance 10 degrees; without a range, and with the turn as range) and
of the Huber location (scores clip((t +- tolerance)/width), range [-1, 1]) from

    first      mean, variance, gradient norm             C, kappa
    parity     and the variance split by parity          C_o, C_e, kappa
    second     and the Frobenius norm of second order    C, kappa, a
    both       all of it                                 C_o, C_e, kappa, a

once with point estimates from all pairs ("population") and once with 90 % intervals from
`evaluations` calls: independent samples for first and second, half as many pairs for parity and
both. It needs no library: closed forms, and a dual on a grid for ranges. Each digit and sigma takes
about ten seconds of one core. --check compares the closed forms with explicit functions instead."""

import argparse
import gzip
import os
import sys
import numpy as np
from page import show
from scipy.ndimage import rotate
from scipy.optimize import minimize
from scipy.stats import norm, t as student

METHODS = ("first", "parity", "second", "both")
SQUARES = ("odd", "even", "square")
ALPHA, BLOCKS, TILE = 0.1, 64, 2000
HERE = os.path.dirname(os.path.abspath(__file__))


# ---- worst shifts --------------------------------------------------------------------------------
def split(budget, weights, caps):
    """max sum weights*x over sum x^2 <= budget, 0 <= x <= caps: a concave problem; the last cap is
    infinite."""
    best, n = 0.0, len(weights)
    for held in range(2 ** (n - 1)):
        x = np.array([caps[i] if held >> i & 1 else 0.0 for i in range(n)])
        left, free = budget - x @ x, [i for i in range(n) if not held >> i & 1]
        if left < 0:
            continue
        w = weights[free]
        x[free] = np.sqrt(left) * w / max(np.linalg.norm(w), 1e-300)
        if all(x[i] <= caps[i] * (1 + 1e-12) for i in range(n - 1)):
            best = max(best, weights @ x)
    return best


def closed(r, b, method):
    s = r * r
    kappa, a, free = b["kappa"], b["second"] if method in ("second", "both") else None, np.inf
    if method in ("first", "second"):
        w, caps = [r], [kappa]
        rest = np.expm1(s) - s
        if a is not None:
            w, caps, rest = w + [s / np.sqrt(2)], caps + [a], rest - s * s / 2
        return split(b["all"], np.array(w + [np.sqrt(max(rest, 0))]), caps + [free])
    odd = split(b["odd"], np.array([r, np.sqrt(max(np.sinh(s) - s, 0))]), [kappa, free])
    if a is None:
        return odd + np.sqrt(b["even"] * (np.cosh(s) - 1))
    return odd + split(
        b["even"],
        np.array([s / np.sqrt(2), np.sqrt(max(np.cosh(s) - 1 - s * s / 2, 0))]),
        [a, free],
    )


GRID = (np.arange(500) + 0.5) * 0.02
DENSITY = norm.pdf(GRID) * 0.02


def box_max(v, vm, lo, hi, lam_o, lam_e):
    """max over p, q in [lo, hi] of p v + q vm - lam_o (p-q)^2/2 - lam_e (p+q)^2/2: inside, or on
    one of the four edges."""
    s, c = lam_o + lam_e, lam_e - lam_o

    def value(p, q):
        return p * v + q * vm - s * (p * p + q * q) / 2 - c * p * q

    x, y = (v + vm) / (4 * lam_e), (v - vm) / (4 * lam_o)
    p, q = x + y, x - y
    bp, bq = np.clip(p, lo, hi), np.clip(q, lo, hi)
    inside = (bp == p) & (bq == q)
    best = np.where(inside, value(bp, bq), -np.inf)
    for edge in (lo, hi):
        other = np.clip((vm - c * edge) / s, lo, hi)
        new = value(edge, other)
        bp, bq, best = (
            np.where(new > best, edge, bp),
            np.where(new > best, other, bq),
            np.maximum(new, best),
        )
        other = np.clip((v - c * edge) / s, lo, hi)
        new = value(other, edge)
        bp, bq, best = (
            np.where(new > best, other, bp),
            np.where(new > best, edge, bq),
            np.maximum(new, best),
        )
    return best, bp, bq


def ranged(r, b, method, start):
    """The dual over functions of one variable with mean b["mean"] and range; x = log lam_o, log
    lam_e, nu, mu_1, mu_2+, mu_2-."""
    w, wm = np.expm1(r * GRID - r * r / 2), np.expm1(-r * GRID - r * r / 2)
    h2 = (GRID * GRID - 1) / np.sqrt(2)
    lo, hi = b["lo"] - b["mean"], b["hi"] - b["mean"]
    tied, a = method in ("first", "second"), b["second"] if method in ("second", "both") else None

    def dual(x):
        lo_, le, nu, m1, mp, mm = (
            np.exp(x[0]),
            np.exp(x[0] if tied else x[1]),
            x[2],
            x[3],
            x[4],
            x[5],
        )
        bent = nu + (mp - mm) * h2
        best, p, q = box_max(w - bent - m1 * GRID, wm - bent + m1 * GRID, lo, hi, lo_, le)
        odd, even = DENSITY @ ((p - q) ** 2) / 2, DENSITY @ ((p + q) ** 2) / 2
        second = DENSITY @ ((p + q) * h2)
        cap = a if a is not None else 0.0
        budget = lo_ * b["all"] if tied else lo_ * b["odd"] + le * b["even"]
        value = DENSITY @ best + budget + m1 * b["kappa"] + (mp + mm) * cap
        slope = np.array(
            [
                lo_ * (b["all"] - odd - even) if tied else lo_ * (b["odd"] - odd),
                0 if tied else le * (b["even"] - even),
                -(DENSITY @ (p + q)),
                b["kappa"] - DENSITY @ ((p - q) * GRID),
                cap - second,
                cap + second,
            ]
        )
        if a is None:
            slope[4:] = 0
        return value, slope

    bounds = [(-14, 14), (-14, 14), (None, None), (0, None), (0, None), (0, None)]
    found = minimize(
        dual, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100}
    )
    return found.fun, found.x


def radius(ok, top=4.0):
    low, high = 0.0, top
    for _ in range(13):
        middle = (low + high) / 2
        low, high = (middle, high) if ok(middle) else (low, middle)
    return low


def mirrored(b):
    return {**b, "mean": -b["mean"], "lo": -b["hi"], "hi": -b["lo"]}


def ranged_ok(b, method, least):
    """Whether the rise of b's function stays within `least`; keeps its multipliers from call to
    call."""
    start = [np.array([np.log(0.5), np.log(0.5), 0.0, 0.0, 0.0, 0.0])]

    def ok(r):
        value, x = ranged(r, b, method, start[0])
        start[0] = x if np.all(np.isfinite(x)) else start[0]
        return value <= least

    return ok


# ---- bounds from samples -------------------------------------------------------------------------
def hall(q, skewness, n):
    """Quantile of a studentised mean of skewed values; twice the skewness that a sample of products
    shows, as in the library."""
    g = 2 * skewness / np.sqrt(n)
    return q if not g > 1e-6 else max(q, 3 / g * (1 - np.cbrt(1 - g * q - g * g / 6)))


def statistics(rows, squares, n, self_mean, p, fourth, tail):
    """U and the bound that solves x - U = q sqrt(4 x v/n + D2), theory 5.1, from row sums without
    the diagonal and the mean of squared products; `fourth` bounds the variance v along any
    direction where U is not clear of its noise.
    """
    total, pairs = rows.sum(), n * (n - 1)
    u = total / pairs
    shared = ((rows @ rows) - pairs * squares) / (pairs * (n - 2))
    four = (total**2 - 4 * (rows @ rows) + 2 * pairs * squares) / (pairs * (n - 2) * (n - 3))
    zeta, energy = max(0, shared - four), max(0, squares - 2 * shared + four)
    d2, average = 2 * energy / pairs, max(0, self_mean - u) / p
    spread = (n - 1) ** 2 * zeta + (n - 1) * energy / 2
    q = hall(student.isf(tail, n - 1), ((rows - rows.mean()) ** 3).mean() / spread**1.5, n)
    if u > 2 * np.sqrt(d2):
        v = max(average, zeta / u)
    else:
        v = min(
            average + np.sqrt(max(0, energy - average**2 * p) + 2 * q * energy / np.sqrt(n)), fourth
        )
    a, u0 = 4 * q * q * v / n, max(u, 0)
    return u, np.sqrt(u0 + a / 2 + np.sqrt(a * a / 4 + a * u0 + q * q * d2))


def gradient(e, w, tail):
    length = len(w) // BLOCKS
    s = (w[: length * BLOCKS, None] * e[: length * BLOCKS]).reshape(BLOCKS, length, -1).mean(1)
    k = (s @ s.T).astype(float)
    diagonal = np.diag(k).mean()
    np.fill_diagonal(k, 0)
    kurtosis = (w**4).mean() / max((w**2).mean() ** 2, 1e-300)
    return statistics(
        k.sum(1),
        (k**2).sum() / (BLOCKS * (BLOCKS - 1)),
        BLOCKS,
        diagonal,
        e.shape[1],
        diagonal / e.shape[1] * np.sqrt(3 * kurtosis),
        tail,
    )


def second(e, w, tail):
    n, d = e.shape
    w = w.astype(np.float32)
    m = e.T @ (w[:, None] * e) - np.float32(w.sum()) * np.eye(d, dtype=np.float32)
    norms = np.einsum("ij,ij->i", e, e).astype(float)
    own = w.astype(float) ** 2 * (norms**2 - 2 * norms + d) / 2
    rows = w * (np.einsum("ij,ij->i", e @ m, e).astype(float) - np.trace(m)) / 2 - own
    squares = 0.0
    for i in range(0, n, TILE):
        t = slice(i, i + TILE)
        g = (e[t] @ e[t].T).astype(float)
        k = np.outer(w[t], w[t]) * (g**2 - norms[t, None] - norms[None, t] + d) / 2
        np.fill_diagonal(k, 0)
        squares += (k**2).sum() / (len(g) - 1)
    u, hi = statistics(
        rows,
        squares / n,
        n,
        own.mean(),
        d * (d + 1) / 2,
        np.sqrt(15 * (w.astype(float) ** 4).mean()),
        tail,
    )
    return u, hi, np.abs(np.linalg.eigvalsh(m / (n * np.sqrt(2)))).max()


def variance_hi(x, tail, center=None):
    c = x.mean() if center is None else center
    g = (x - c) ** 2
    q = hall(norm.isf(tail), ((g - g.mean()) ** 3).mean() / max(g.std() ** 3, 1e-300), len(x))
    return (
        g.mean()
        + q * g.std() / np.sqrt(len(x))
        + (center is None) * norm.isf(tail) ** 2 * g.mean() / len(x)
    )


def bounds_of(e, plus, minus, pairs, n, interval, center, lo, hi):
    """One dict of constraints; None for `minus`: independent samples."""
    b = {"lo": lo, "hi": hi}
    tail = {"all": 0.25, "mean": 0.25, "kappa": 0.5, "second": 0.0}
    if not interval:
        odd, even = (plus - minus) / 2, (plus + minus) / 2
        b["mean"], b["odd"], b["even"] = even.mean(), (odd**2).mean(), even.var()
        b["all"] = b["odd"] + b["even"]
        b["kappa"] = np.sqrt(max(gradient(e, odd, 0.5)[0], 0))
        b["square"] = second(e, even - even.mean(), 0.5)[0]
        b["second"] = np.sqrt(min(max(b["square"], 0), b["even"]))
        return b
    out = {}
    for method in METHODS:
        shares = {**tail, **({"kappa": 0.3, "second": 0.2} if method in ("second", "both") else {})}
        x = dict(b)
        if method in ("first", "second"):
            f = plus[:n]
            x["mean"] = f.mean() - norm.isf(ALPHA * shares["mean"]) * f.std() / np.sqrt(n)
            x["all"], g, h = variance_hi(f, ALPHA * shares["all"]), f - center, f - center
            es = e[:n]
        else:
            odd, even = (plus[: n // 2] - minus[: n // 2]) / 2, (
                plus[: n // 2] + minus[: n // 2]
            ) / 2
            x["mean"] = even.mean() - norm.isf(ALPHA * shares["mean"]) * even.std() / np.sqrt(
                n // 2
            )
            x["odd"], x["even"] = (
                variance_hi(odd, ALPHA * shares["all"] / 2, 0.0),
                variance_hi(even, ALPHA * shares["all"] / 2),
            )
            g, h, es = odd, even - center, e[: n // 2]
        x["kappa"] = gradient(es, g, ALPHA * shares["kappa"])[1]
        if shares["second"]:
            _, x["second"], x["top"] = second(es, h, ALPHA * shares["second"])
        out[method] = x
    return out


# ---- the model -----------------------------------------------------------------------------------
def digits(folder, count):
    def read(name, skip):
        path = os.path.join(folder, name)
        with gzip.open(path + ".gz") if os.path.exists(path + ".gz") else open(path, "rb") as f:
            return np.frombuffer(f.read(), np.uint8, offset=skip)

    images, labels = read("t10k-images-idx3-ubyte", 16).reshape(-1, 28, 28), read(
        "t10k-labels-idx1-ubyte", 8
    )
    rng = np.random.default_rng(42)
    for i in range(count):
        one = images[rng.choice(np.flatnonzero(labels == i % 10))] / 255.0
        yield rotate(one, rng.uniform(-180, 180), reshape=False, order=1).astype(np.float32).ravel()


def model():
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(
        os.path.join(HERE, "..", "examples", "models", "rotation.onnx"), options
    )

    def angle(x):
        y = np.concatenate(
            [session.run(None, {"x": x[i : i + TILE]})[0] for i in range(0, len(x), TILE)]
        )
        return np.arctan2(y[:, 1], y[:, 0]).astype(float)

    return angle


def wrap(a):
    return (a + np.pi) % (2 * np.pi) - np.pi


def mean_radii(b, method, eps, sigma):
    within = radius(lambda r: closed(r, b, method) <= eps)
    sides = [radius(ranged_ok(x, method, eps), 2 * within + 1) for x in (b, mirrored(b))]
    return sigma * within, sigma * min(sides)


def huber_radius(per_side, method, sigma):
    """per_side: bounds of u_+ and u_-; the drop of u must stay below its mean."""
    return sigma * min(
        radius(ranged_ok(mirrored(b), method, b["mean"])) if b["mean"] > 0 else 0.0
        for b in per_side
    )


def study(args):
    angle, eps = model(), np.radians(args.tolerance)
    width, pairs, n, lines = 0.5 * eps, args.pairs, args.evaluations, []
    for sigma in args.sigmas:
        table = {}
        for index, z in enumerate(digits(args.mnist, args.images)):
            rng = np.random.default_rng([index, int(1000 * sigma)])
            center = angle(z[None])[0]
            pilot = wrap(angle(z + sigma * rng.standard_normal((1500, 784), np.float32)) - center)
            e = rng.standard_normal((pairs, 784), np.float32)
            plus, minus = (wrap(angle(z + s * sigma * e) - center) for s in (1, -1))
            prediction = np.median(pilot)
            scores = [
                lambda t: np.clip((t - prediction + eps) / width, -1, 1),
                lambda t: np.clip((prediction + eps - t) / width, -1, 1),
            ]
            for interval in (False, True):
                f = bounds_of(e, plus, minus, pairs, n, interval, pilot.mean(), -np.pi, np.pi)
                u = [
                    bounds_of(e, s(plus), s(minus), pairs, n, interval, s(pilot).mean(), -1, 1)
                    for s in scores
                ]
                for method in METHODS:
                    pick = (lambda b: b[method]) if interval else (lambda b: b)
                    row = (
                        *mean_radii(pick(f), method, eps, sigma),
                        huber_radius([pick(b) for b in u], method, sigma),
                    )
                    table.setdefault((interval, method), []).append(row)
                for name, b in (("mean", f), ("Huber", u[0])):
                    b = b["second"] if interval else b
                    parts = ("second", "top") if interval else ("odd", "kappa", "even", "square")
                    if b["all"] > 0:  # a score that is always 1 has no shares
                        table.setdefault((interval, name), []).append(
                            [b[k] / b["all"] ** (1 if k in SQUARES else 0.5) for k in parts]
                        )
            print("sigma %.2f: %d of %d digits" % (sigma, index + 1, args.images), file=sys.stderr)
        print_table(sigma, table, n)
        lines += [page_line(sigma, table, n, interval) for interval in (False, True)]
    gains = ["+ parity", "+ second order", "+ both"]
    head = ["σ", "", "mean: first order", *gains, "Huber: first order", *gains]
    keep = (args.images, args.evaluations, args.tolerance) == (12, 10000, 10)
    show("second-order", head, *lines, keep=keep)


def page_line(sigma, table, n, interval):
    """Mean radii of the mean with its range, and of Huber; and what the others add to the first."""
    means = [np.mean(table[interval, method], axis=0)[1:] for method in METHODS]
    gains = [100 * (m / means[0] - 1) for m in means[1:]]
    cells = ([f"{means[0][k]:.3f}", *(f"{g[k]:+.1f}%" for g in gains)] for k in (0, 1))
    return [f"{sigma:g}", f"N = {n:,}" if interval else "population", *sum(cells, [])]


def print_table(sigma, table, n):
    for name in ("mean", "Huber"):
        odd, kappa, even, square = np.array(table[False, name]).T
        print(
            "sigma %.2f  %-5s shares of the variance: odd %.3f (linear %.3f), "
            "even %.3f (second order %.3f)"
            % (sigma, name, odd.mean(), (kappa**2).mean(), even.mean(), square.mean())
        )
        print(
            "                  in standard deviations, N = %d: bound of the Frobenius norm %.3f, "
            "top eigenvalue without any margin %.3f"
            % (n, *np.mean(table[True, name], axis=0))
        )
    print(
        "sigma %.2f  %-26s %-18s %-18s %-18s"
        % (sigma, "", "mean, no range", "mean, range", "Huber")
    )
    for interval in (False, True):
        base = np.array(table[interval, "first"])
        for method in METHODS:
            rows = np.array(table[interval, method])
            gain, error = 100 / base.mean(0) * (rows - base).mean(0), 100 / base.mean(0) * (
                rows - base
            ).std(0) / np.sqrt(len(rows))
            cells = "".join(
                "%.3f (%+5.1f +- %.1f %%)   " % cell for cell in zip(rows.mean(0), gain, error)
            )
            print(
                "            %-11s %-14s %s"
                % ("N = %d" % n if interval else "population", method, cells),
                flush=True,
            )


# ---- proof by example ----------------------------------------------------------------------------
def check():
    """Functions of two variables, by Gauss-Hermite sums: no shift exceeds the closed forms, and the
    extremal function reaches them."""
    x, w = np.polynomial.hermite_e.hermegauss(80)
    w = w / w.sum()
    X, Y, W = x[:, None] + 0 * x[None], x[None] + 0 * x[:, None], np.outer(w, w)
    rng, worst, reached = np.random.default_rng(1), -np.inf, 0.0
    for trial in range(4000):
        r, k = rng.uniform(0.05, 1.5), rng.normal(size=10)
        ratio = np.exp(r * X - r * r / 2) - 1
        odd, even = (
            k[0] * X + k[1] * Y + k[2] * np.sin(k[3] * X + k[4] * Y),
            k[5] * np.cos(k[6] * X + k[7] * Y) + k[8] * (X * X - 1) + k[9] * X * Y,
        )
        if (
            trial % 2
        ):  # extremal: the likelihood ratio's own odd and even parts, with weights of their own
            o, v = np.exp(-r * r / 2) * np.sinh(r * X), np.exp(-r * r / 2) * np.cosh(r * X) - 1
            odd, even = abs(k[0]) * X + abs(k[1]) * (o - r * X), abs(k[2]) * (X * X - 1) + abs(
                k[3]
            ) * (v - r * r / 2 * (X * X - 1))
        f = odd + even
        mean = (W * f).sum()
        matrix = np.array(
            [
                [(W * f * (X * X - 1)).sum(), (W * f * X * Y).sum()],
                [(W * f * X * Y).sum(), (W * f * (Y * Y - 1)).sum()],
            ]
        )
        b = {
            "all": (W * (f - mean) ** 2).sum(),
            "odd": (W * odd**2).sum(),
            "even": (W * (even - mean) ** 2).sum(),
            "kappa": np.hypot((W * f * X).sum(), (W * f * Y).sum()),
            "second": np.linalg.norm(matrix) / np.sqrt(2),
        }
        shift = (W * f * ratio).sum()
        for method in METHODS:
            value = closed(r, b, method)
            worst = max(worst, shift / value)
        if trial % 2:
            reached = max(reached, shift / closed(r, b, "both"))
    print(
        "greatest shift/bound over 4000 functions and all methods: %.9f (at most 1); "
        "extremal functions reach %.9f"
        % (worst, reached)
    )
    assert worst < 1 + 1e-9 and reached > 0.999
    gaps = []
    for _ in range(40):  # where no range binds, the dual on the grid is the closed form
        b = dict(
            zip(("odd", "even", "kappa", "second"), rng.uniform(0.1, 1, 4)),
            mean=0.0,
            lo=-1e9,
            hi=1e9,
        )
        b["all"] = b["odd"] + b["even"]
        b["kappa"], b["second"], r = (
            b["kappa"] * np.sqrt(b["odd"]),
            b["second"] * np.sqrt(b["even"]),
            rng.uniform(0.1, 2),
        )
        gaps += [
            ranged(r, b, m, np.array([-0.7, -0.7, 0, 0, 0, 0]))[0] / closed(r, b, m) - 1
            for m in METHODS
        ]
    print(
        "grid dual against closed forms: relative difference %.1e to %.1e" % (min(gaps), max(gaps))
    )
    assert -1e-4 < min(gaps) and max(gaps) < 1e-2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnist", default=os.environ.get("CERTREG_MNIST"))
    parser.add_argument("--images", type=int, default=12)
    parser.add_argument(
        "--pairs", type=int, default=15000, help="antithetic pairs behind the population values"
    )
    parser.add_argument("--evaluations", type=int, default=10000)
    parser.add_argument("--tolerance", type=float, default=10.0, help="degrees")
    parser.add_argument("--sigmas", type=float, nargs="+", default=[0.25, 0.5, 0.75])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.check:
        return check()
    if args.pairs < args.evaluations:
        parser.error(
            "--pairs must be at least --evaluations: "
            "the first member of each pair is an independent sample"
        )
    if not args.mnist:
        parser.error("give the folder of the MNIST files: --mnist")
    study(args)


main()

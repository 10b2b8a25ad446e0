"""How wrong may the measurements of a diamond be before its estimated price moves by more than
10 %? `make real NAME=diamonds` trains LightGBM on the prices of 49,775 diamonds, and certifies its
estimates for others.

A radius is in steps of the measurements, such as 0.01 carat and 0.01 mm: no errors whose norm in
these steps is below it move the smoothed estimate out of the tolerance. Cut, color and clarity are
taken as they are."""

import csv
import functools
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import shared
import numpy as np
from certreg import Calibrated, Estimator, Faulty, Options, certify_rows, compare_radius
from certreg import plot_radii, population, tune_scale

GRADES = {  # ascending
    "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
    "color": list("JIHGFED"),
    "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
}
STEPS = {"carat": 0.01, "depth": 0.1, "table": 1.0, "x": 0.01, "y": 0.01, "z": 0.01}
UNITS = {"carat": "", "depth": " %", "table": " %", "x": " mm", "y": " mm", "z": " mm"}
FEATURES = [*STEPS, *GRADES]
GROUPS = ["carat", "depth", "table", *["mm"] * 3, *GRADES]  # a scale is tuned for each
SCALE = np.array([*STEPS.values(), *(0 for _ in GRADES)], np.float32)  # 0: exact
ROUNDING = math.sqrt(len(STEPS)) / 2  # all measurements wrong by half a step

# The model answers with 100 times the logarithm of the price in dollars, where 1 is about 1 %.
TOLERANCE = 100 * math.log(1.1)
RANGE = (100 * math.log(300), 100 * math.log(20_000))  # it is clipped; prices are 326 to 18,823
SIGMAS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
TEST, HELD_OUT, CALIBRATION = slice(2000), slice(2000, 2300), slice(3000, 4000)
TRAINING = slice(4000, None)
TREES, MOST_NOISE = 200, 8.0  # of training, and of training under noise
SEED = 42  # so that the example can be repeated; without one a secret one is drawn


def read(path):
    """The features (n, 9) and prices in dollars (n,) of diamonds that differ and have no length of
    0."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = csv.DictReader(file)
        try:
            rows = dict.fromkeys(_numbers(line) for line in lines)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"line {lines.line_num} of {path}: {error!r}") from None
    table = np.array([row for row in rows if min(row[3:6]) > 0])
    return table[:, :-1].astype(np.float32), table[:, -1]


def _numbers(line):
    measured = [float(line[name]) for name in STEPS]
    grades = [float(order.index(line[name])) for name, order in GRADES.items()]
    return (*measured, *grades, float(line["price"]))


@functools.lru_cache
def load():
    """Features (n, 9) and true outputs (n,), in an order drawn with a fixed seed."""
    X, price = read(shared.file_of("plotnine", "data", "diamonds.csv"))
    order = np.random.default_rng(1).permutation(len(X))
    return X[order], 100 * np.log(price[order])


def inputs():
    """Features (2000, 9) and true outputs (2000,) of diamonds that trained, tuned and calibrated
    nothing."""
    return tuple(part[TEST] for part in load())


class Price:
    """A model that can be sent to other processes: (rows, 9) to (rows,), in RANGE."""

    def __init__(self, booster):
        self.booster = booster

    def __call__(self, x):
        return np.clip(self.booster.predict(x, num_threads=1), *RANGE)


def make_model(noise=0.0, masks=None):
    """Trained on the measurements as they are; with `noise` also on three copies of each diamond,
    under noise of a level of its own up to this one. With `masks`, features and the number that is
    shown, on four copies that lack the other ones."""
    import lightgbm

    X, y = (part[TRAINING] for part in load())
    rng, copies = np.random.default_rng(SEED), [] if masks else [X]
    for _ in range(3 if noise else 0):
        level = noise * rng.uniform(size=(len(X), 1)) * SCALE
        copies.append((X + level * rng.normal(size=X.shape)).astype(np.float32))
    for _ in range(4 if masks else 0):
        names, shown = masks
        hidden = rng.random((len(X), len(names))).argsort(axis=1) >= shown
        copies.append(X.copy())
        for k, name in enumerate(names):
            copies[-1][hidden[:, k], FEATURES.index(name)] = np.nan
    settings = {"objective": "regression", "learning_rate": 0.1, "num_leaves": 31, "verbose": -1}
    same = {"deterministic": True, "force_row_wise": True, "num_threads": 1, "seed": SEED}
    examples = lightgbm.Dataset(np.concatenate(copies), np.tile(y, len(copies)), params=same)
    return Price(lightgbm.train({**settings, **same}, examples, TREES))


# ---- certificates
def certified(model, X, sigma, options, scale=SCALE, domain="certify"):
    how = {"samples": options.samples, "jobs": options.jobs, "seed": SEED, "progress": False}
    how["options"] = Options(domain=domain)
    return certify_rows(model, X, sigma, TOLERANCE, scale=scale, **how)


def chosen_sigma(model, X, y, options):
    """Error first, on diamonds that are not certified later. Returns also what it chooses from."""
    rows = certified(model, X, SIGMAS, options, domain="calibration")
    errors, useful = rows.label_errors(y)[:, :, 0], rows.useful_radii(y)[:, :, 0]
    index, means, _ = rows.choose_sigma(labels=y)
    lines = [f"{'sigma':>7}{'radius':>9}{'useful':>9}{'error':>9}"]
    for k, sigma in enumerate(SIGMAS):
        error, mark = percent(np.nanmean(errors[:, k])), " <- chosen" if k == index else ""
        lines.append(f"{sigma:7g}{means[k]:9.2f}{useful[:, k].mean():9.2f}{error:>9}{mark}")
    return SIGMAS[index], "\n".join(lines)


def factor(difference):
    return math.exp(difference / 100)


def percent(difference):
    return f"{100 * (factor(difference) - 1):.1f} %"


def tell(name, rows, X, y):
    """A line about certificates, and how far each measurement may be off if it alone is wrong.
    Returns the radii."""
    radius, useful = rows["radius"][:, 0, 0], rows.useful_radii(y)[:, 0, 0]
    changes = compare_radius(X, rows, step=SCALE, names=FEATURES).lines
    (wrong,) = (c for c in changes if c["change"] == "rounding to steps, at most")
    (proved,) = population(rows, radius=np.nextafter(wrong["norm"], np.inf))
    of_all = f"{math.floor(1000 * proved['population']) / 10:.1f} %"
    alone = np.reshape([line["alone"] for line in rows.allowances()], X.shape).mean(axis=0)
    alone = [f"{size:.2g}{unit}" for size, unit in zip(alone, UNITS.values())]
    print(
        f"{name:<20}{rows.sigmas[0]:5g}{percent(np.nanmean(rows.label_errors(y))):>8}"
        f"{radius.mean():9.2f}{useful.mean():9.2f}{wrong['covered']:9d}{of_all:>8}   "
        + " ".join(f"{text:>8}" for text in alone)
    )
    return radius


# ---- a wrong measurement
MASKS = {
    "carat, x, y or z": (["carat", "x", "y", "z"], 1),
    "one of six numbers": (list(STEPS), 2),
    "any of all nine": (FEATURES, 3),
}


def worst_constant(model, X):
    """By how much the estimate of half of the diamonds moves if one feature of all of them has the
    constant that moves it most."""
    moves = []
    for j, values in enumerate(load()[0][TRAINING].T):
        for value in (0, 1e6, values.min(), values.max(), np.nan):
            wrong = X.copy()
            wrong[:, j] = value
            moves.append(np.median(np.abs(model(wrong) - model(X))))
    return max(moves)


def tell_faults(X, y):
    """For each choice of features: how many diamonds have a useful price whatever one of them
    says."""
    moved = worst_constant(make_model(), X)
    print(
        f"One wrong feature: with the worst constant the plain model moves by {percent(moved)} or "
        "more for half of\nthe diamonds. A model that was trained with masks, by all of them and "
        "without noise: calls for each\ndiamond, median error, and the share within a tolerance of "
        "the price whatever one feature says"
    )
    tolerances = [100 * math.log(1 + part) for part in (0.1, 0.2, 0.3)]
    print(f"{'wrong may be':<20}{'calls':>7}{'error':>8}{'10 %':>8}{'20 %':>8}{'30 %':>8}")
    for name, (names, shown) in MASKS.items():
        calls, model = math.comb(len(names), shown), make_model(masks=(names, shown))
        faulty = Faulty([FEATURES.index(one) for one in names], shown=shown)
        useful, errors = np.zeros(3), []
        with Estimator(model, len(FEATURES), calls, faulty=faulty) as e:
            for x, price in zip(X, y):
                found = [e.certify_masks(x, tolerance) for tolerance in tolerances]
                errors.append(abs(found[0].prediction - price))
                useful += [c.faults > 0 and errors[-1] <= c.tolerance for c in found]
        shares = "".join(f"{share:8.2f}" for share in useful / len(X))
        print(f"{name:<20}{calls:7d}{percent(np.median(errors)):>8}{shares}")


# ---- prediction intervals
def worst_moves(model, X, y, sigma, radius):
    """For each diamond the move of this length, among two along the slope of the smoothed estimate
    and 100 at random, that takes the estimate farthest from the price; and the one of the two that
    takes the smoothed estimate farthest."""
    rng = np.random.default_rng(SEED)
    plain, smoothed = X.copy(), X.copy()
    for i, (x, truth) in enumerate(zip(X, y)):
        noise = rng.normal(size=(400, len(x))) * (SCALE > 0)
        outputs = model((x + sigma * SCALE * noise).astype(np.float32))
        slope = (outputs - outputs.mean()) @ noise
        ways = np.concatenate([[slope, -slope], rng.normal(size=(100, len(x))) * (SCALE > 0)])
        ways /= np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-12)
        moved = (x + radius * SCALE * ways).astype(np.float32)
        plain[i] = moved[np.abs(model(moved) - truth).argmax()]
        copies = moved[:2, None] + (sigma * SCALE * noise).astype(np.float32)
        medians = np.median(model(copies.reshape(-1, len(x))).reshape(2, -1), axis=1)
        smoothed[i] = moved[np.abs(medians - truth).argmax()]
    return plain, smoothed


def tell_intervals(model, X, y, sigma, alpha=0.1):
    """Split conformal prediction beside intervals that allow for moves."""
    known, prices = (part[CALIBRATION] for part in load())
    scores = np.sort(np.abs(model(known) - prices))
    half = np.append(scores, np.inf)[math.ceil((len(scores) + 1) * (1 - alpha)) - 1]
    seeds = {"seed": SEED, "inputs_seed": SEED + 1}  # to be repeated
    calibrated = Calibrated(model, known, prices, sigma, scale=SCALE, **seeds)
    error = math.sqrt(alpha * (1 - alpha) * (1 / len(X) + 1 / len(known)))
    print(
        f"\nIntervals for the price, at {1 - alpha:.0%}, from {len(known)} other diamonds: the "
        "estimate times or divided by a\nfactor, share with the price inside, as measured and "
        f"after the worst moves found (standard error {error:.1%})"
    )
    with calibrated:
        for wrong, what in ((1, "half a step"), (2, "one step")):
            radius = wrong * ROUNDING
            plain, smoothed = worst_moves(model, X, y, sigma, radius)
            inside = [np.mean(np.abs(model(x) - y) <= half) for x in (X, plain)]
            print(f"  moves up to {radius:.2f}, such as all measurements wrong by {what}")
            print(f"    split conformal{factor(half):9.3f}{inside[0]:8.1%}{inside[1]:8.1%}")
            found = [calibrated.intervals(x, radius, alpha) for x in (X, smoothed)]
            inside = [np.mean([price in one for one, price in zip(some, y)]) for some in found]
            width = np.median([one.hi - one.lo for one in found[0]])
            print(f"    certreg        {factor(width / 2):9.3f}{inside[0]:8.1%}{inside[1]:8.1%}")


# ---- the program
def run(options):
    if options.faults:
        return tell_faults(*(part[: options.diamonds] for part in inputs()))
    model, noisy = make_model(), make_model(MOST_NOISE)
    X, y = (part[: options.diamonds] for part in inputs())
    tuning = [part[HELD_OUT] for part in load()]
    off = np.abs(model(X) - y)
    print(
        f"LightGBM was trained on {len(load()[0][TRAINING]):,} diamonds. Of its estimates for "
        f"{len(X)} others\nhalf are within {percent(np.median(off))} of the price, and "
        f"{np.mean(off <= TOLERANCE):.0%} within 10 %."
    )
    sigma, choices = chosen_sigma(model, *tuning, options)
    print(f"\nSigma is chosen on {len(tuning[0])} further ones, error first:\n{choices}")
    how = {"samples": 500, "scale": SCALE, "seed": SEED, "progress": False, "jobs": options.jobs}
    tuned = tune_scale(
        model, tuning[0], SIGMAS[:6], TOLERANCE, groups=GROUPS, labels=tuning[1], **how
    )
    print(
        f"\nThe {len(X)} others: mean error of the smoothed estimate, mean radius, mean useful "
        "radius, how many\nradii cover rounding of all measurements, for which share of all "
        "diamonds this is proved at 95 %,\nand how far one alone may be off at the mean radius\n"
        f"{'':<20}sigma   error   radius   useful rounding  of all   "
        + " ".join(f"{name:>8}" for name in STEPS)
    )
    radii = {}
    for name, one, level, scale in (
        ("as it is", model, sigma, SCALE),
        ("with a tuned scale", model, tuned.sigma, tuned),
        ("trained under noise", noisy, chosen_sigma(noisy, *tuning, options)[0], SCALE),
    ):
        radii[name] = tell(name, certified(one, X, level, options, scale), X, y)
    tell_intervals(model, X, y, sigma)
    if options.plot:
        plot({name: radii[name] for name in radii if "tuned" not in name}, options.plot)


def plot(curves, path):
    """The share of diamonds by radius. Every tenth radius keeps the file small."""
    curves = {name: np.sort(radius)[4::10] for name, radius in curves.items()}
    ax = plot_radii(curves, title="Estimated price stays within 10 %")
    ax.axvline(ROUNDING, color="black", linewidth=1)
    ax.text(ROUNDING + 0.2, 0.02, "rounding")
    ax.set_xlabel("radius r, in steps of the measurements")
    ax.set_ylabel("share of diamonds with radius ≥ r")
    ax.figure.set_size_inches(shared.WIDTH, 4)
    shared.save(ax.figure, path)


OPTIONS = {
    "--diamonds": {"type": shared.above_0, "default": 1000, "help": "that are certified"},
    "--samples": {"type": shared.above_0, "default": 1000, "help": "of each diamond and sigma"},
    "--faults": {"action": "store_true", "help": "one wrong feature instead of small errors"},
    **shared.JOBS,
    **shared.PLOT,
}

if __name__ == "__main__":
    shared.main(__doc__, OPTIONS, run)

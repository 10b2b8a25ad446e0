"""How far can a picture be changed before a network misreads it? `make demo` certifies a network
that reads the angle by which a digit was turned (examples/models), on digits that are drawn here.

For every digit and noise level it is called on one set of noisy copies. These outputs answer
thirteen questions; each certificate is a radius, in the 2-norm of the pixels, within which the
smoothed angle moves by at most 10 degrees. Prints tables, and plots some of the radii."""

import argparse
import ctypes
import math
import pathlib
import sys
import time

try:
    import numpy as np
    from certreg import Question, RowsError, certify_rows
    from certreg.models import OnnxModel
    from certreg.plots import plot_radii
except ImportError as error:
    sys.exit(f"{error}; make deps installs what is missing")

HERE = pathlib.Path(__file__).parent
SIDE, SEED = 28, 42  # a seed, so that the demo can be repeated; without one a secret one is drawn
SIGMAS = (0.06, 0.12, 0.25, 0.35, 0.5, 0.75)
ASKED = {"tolerance": 10, "alpha": 0.1}  # degrees; for all noise levels together


def paper(constraints):
    """The true mean of the angle, as a number, moves by at most the tolerance."""
    given = {"method": "paper", "center": "true_mean", "constraints": constraints}
    return Question(statistic="mean", **given, **ASKED)


def ours(statistic, method="finite", constraints=0):
    """The smoothed angle stays within the tolerance of the prediction."""
    width = ASKED["tolerance"] / 2 if statistic == "huber" else 0
    return Question(
        statistic=statistic, method=method, huber_width=width, constraints=constraints, **ASKED
    )


QUESTIONS = {
    "Zhang and Frank, with constraints on": {
        "mean, variance, gradient, range": paper("ECGM"),
        "variance": paper("C"),
        "variance, gradient": paper("CG"),
        "mean, variance, range": paper("ECM"),
    },
    "Asymptotic (approximate), with gradient": {
        "mean": ours("mean", "asymptotic", "ECGM"),
        "circular mean": ours("circular_mean", "asymptotic"),
        "Huber location": ours("huber", "asymptotic"),
        "median": ours("median", "asymptotic"),
    },
    "Finite-sample (no assumptions)": {
        "mean": ours("mean"),
        "circular mean": ours("circular_mean"),
        "Huber location": ours("huber"),
        "median": ours("median"),
        "median, gradient": ours("median", constraints="ECGM"),
    },
}
NAMES = [(method, name) for method, asked in QUESTIONS.items() for name in asked]
PAPER, _, FINITE = QUESTIONS


def turned_digits(library, count):
    """Digits, (count, pixels), each turned by its own angle; and these angles in degrees."""
    draw = ctypes.CDLL(library)
    degrees = np.random.default_rng(SEED).uniform(-180, 180, count)
    upright, turned = np.zeros((2, count, SIDE * SIDE), np.float32)
    for i, angle in enumerate(degrees):
        at, to = (ctypes.c_void_p(image[i].ctypes.data) for image in (upright, turned))
        draw.digits_draw(i % 10, ctypes.c_uint64(SEED + i), at)
        draw.digits_turn(at, ctypes.c_double(math.radians(angle)), to)
    return turned, degrees


def table_of_radii(radii):
    """radii: (sigmas, questions)."""
    best = radii.max(0)
    published = max(r for r, (method, _) in zip(best, NAMES) if method is PAPER)
    print(f"\n{'times the best of':>101}\nMean certified radius, noise sigma =", end="")
    print("".join(f"{sigma:7g}" for sigma in SIGMAS), f"{'best':>8}{'Zhang, Frank':>14}")
    for method, asked in QUESTIONS.items():
        print(f"{'-' * 101}\n{method}")
        for name in asked:
            q = NAMES.index((method, name))
            each = "".join(f"{radius:7.3f}" for radius in radii[:, q])
            print(f"  {name:<34}{each}{best[q]:9.3f}{best[q] / published:14.2f}")
    print("-" * 101)


def table_of_errors(predictions, degrees):
    """predictions: (images, sigmas, questions). Constraints do not move them."""
    print("Distance of the prediction from the true angle, degrees, mean over the images")
    errors = abs((predictions - degrees[:, None, None] + 180) % 360 - 180)
    for name in ("mean", "circular mean", "Huber location", "median"):
        each = errors[:, :, NAMES.index((FINITE, name))].mean(0)
        print(f"  {name:<34}" + "".join(f"{error:7.1f}" for error in each))
    print("""
Radii are distances in the 2-norm of the pixels, means over the images; an abstention counts as 0.
A radius says that the prediction is stable, not that it is right. The mean wins where outputs jump
between a few values, the median where they cluster with outliers. A mean decays first: see its
distance.""")


def plot(radii, path):
    """Zhang and Frank's radii with all constraints, and the finite-sample ones, each at its best
    noise level. radii: (images, sigmas, questions)."""
    shown = [0, *(q for q, (method, _) in enumerate(NAMES) if method is FINITE)]
    names = [NAMES[q][1] if q else "Zhang and Frank" for q in shown]
    at = radii.mean(0).argmax(0)
    curves = {f"{n}, sigma {SIGMAS[at[q]]:g}": radii[:, at[q], q] for n, q in zip(names, shown)}
    figure = plot_radii(curves, title=f"Certified radii of {len(radii)} turned digits").figure
    figure.set_size_inches(5.2, 5)  # legible on a telephone
    figure.savefig(path)


def run(options):
    began = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    model = OnnxModel(options.model)
    digits, degrees = turned_digits(options.digits, options.images)
    print(
        f"{options.images} drawn digits, {len(SIGMAS)} noise levels, {options.samples} calls for "
        f"each\nnetwork: {options.model}; tolerance 10 degrees, alpha 0.1 for all levels together",
        flush=True,
    )
    asked = [question for of in QUESTIONS.values() for question in of.values()]
    angle = {"kind": "angle_pair", "lo": -180, "hi": 180, "seed": SEED}
    how = {"samples": options.samples, "jobs": options.jobs, **angle}
    rows = certify_rows(model, digits, SIGMAS, asked, **how)
    table_of_radii(rows["radius"].mean(0))
    table_of_errors(rows["prediction"], degrees)
    for (image, sigma), why in rows.errors.items():
        print(f"image {image} at sigma {SIGMAS[sigma]:g} failed and counts as 0: {why}")
    plot(rows["radius"], options.out / "radii.svg")
    print(f"\n{time.monotonic() - began:.0f} s in all; plotted: {options.out / 'radii.svg'}")


def whole(text):
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")


def main():
    parser = argparse.ArgumentParser(prog="demo", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--images", type=whole, default=20)
    parser.add_argument("--samples", type=whole, default=4000, help="of each image and noise level")
    parser.add_argument("--jobs", type=int, default=0, help="processes; 0: one for each processor")
    parser.add_argument(
        "--model",
        default=HERE.parent / "models/rotation.onnx",
        type=pathlib.Path,
        help="ONNX file of a network from 784 pixels to cosine and sine of the angle",
    )
    parser.add_argument("--out", default="lib/demo", type=pathlib.Path, help="folder of the plot")
    parser.add_argument("--digits", required=True, help="libdigits.so, made of digits.c")
    try:
        run(parser.parse_args())
    except ImportError as error:
        sys.exit(f"{error}; make deps installs it")
    except (OSError, RowsError, ValueError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted")


if __name__ == "__main__":
    main()

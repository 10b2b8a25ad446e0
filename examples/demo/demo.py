"""How far can a picture be changed before a network misreads it? `make demo` certifies a network
that reads the angle by which a digit was turned (examples/models), on digits that are drawn here.

For every digit and noise level the network is called on one set of noisy copies. Their outputs
answer seven questions: the paper's mean with each of its four families of constraints, and three
smoothed angles of the library. Prints a table of radii, and plots a digit and some of the radii."""

import argparse
import ctypes
import math
import pathlib
import sys
import time

try:
    import numpy as np
    from certreg import Options, Question, RowsError, certify_rows
    from certreg.models import OnnxModel
    from certreg.plots import plot_radii
    from matplotlib.figure import Figure
except ImportError as error:
    sys.exit(f"{error}; make deps installs what is missing")

HERE = pathlib.Path(__file__).parent
SIDE, SEED = 28, 42  # a seed, so that the demo can be repeated; without one a secret one is drawn
SIGMAS = (0.06, 0.12, 0.25, 0.35, 0.5, 0.75)
ASKED = {"tolerance": 10, "alpha": 0.1}  # degrees; for all noise levels together


def ours(statistic):
    """The smoothed angle stays within the tolerance of the prediction."""
    return Question(statistic=statistic, **ASKED)


PAPER = [Question.paper(family, **ASKED) for family in ("(C)", "(C,G)", "(E,C)+M", "(E,C,G)+M")]
OURS = {"mean": ours("mean"), "circular mean": ours("circular_mean"), "median": ours("median")}


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


def line(name, numbers, form):
    print(f"  {name:<30}" + "".join(format(number, form) for number in numbers))


def table(radii, errors):
    """radii: of each row, by noise level. errors: of the median, degrees."""
    print("\nnoise sigma" + " " * 21 + "".join(f"{sigma:8g}" for sigma in SIGMAS) + "    best")
    print("mean radius")
    for name, row in radii.items():
        line(name, [*row, row.max()], "8.3f")
    print("mean distance of the prediction from the true angle, degrees")
    line("median", errors, "8.1f")


def plot(digit, certificate, curves, path):
    """A digit, the same with a change as long as its radius, and how many digits reach a radius."""
    figure = Figure((9.5, 3.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, 1.5))
    prediction, radius = certificate
    change = np.random.default_rng(SEED).normal(size=digit.shape)
    change *= radius / np.linalg.norm(change)
    titles = (
        f"the smoothed network\nreads {prediction:.0f} degrees",
        f"changed by {radius:.2f}: still\nwithin {ASKED['tolerance']} degrees of that",
    )
    for ax, picture, title in zip((left, middle), (digit, digit + change), titles):
        ax.imshow(picture.reshape(SIDE, SIDE), cmap="gray_r", vmin=0, vmax=1)
        ax.set(title=title, xticks=[], yticks=[])
    plot_radii(curves, ax=right, title="Digits that may be changed by r")
    figure.savefig(path)


NEXT = """
No change of a digit that is shorter than its radius (in the 2-norm of the pixels) moves the
smoothed angle by more than {tolerance} degrees. More noise certifies longer changes, and reads
angles less exactly. A radius says that the prediction is stable, not that it is right.

Next, a model of your own (ONNX, scikit-learn, LightGBM, XGBoost) and a few of its inputs:
    pip install .
    certreg check model.onnx inputs.npy --sigma 0.25
    certreg certify model.onnx inputs.npy --sigma 0.25 --tolerance 1
docs/guide/README.md says how to choose sigma and the tolerance, and how to do this in Python."""


def run(options):
    began = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    model = OnnxModel(options.model)
    digits, degrees = turned_digits(options.digits, options.images)
    print(
        f"{options.images} drawn digits, each turned by an angle that a network reads. How far may "
        "a digit be\nchanged before the smoothed angle moves by more than "
        f"{ASKED['tolerance']} degrees? {options.samples} calls for each.",
        flush=True,
    )
    how = {"samples": options.samples, "jobs": options.jobs, "seed": SEED}
    how["options"] = Options(kind="angle_pair", lo=-180, hi=180)
    rows = certify_rows(model, digits, SIGMAS, [*PAPER, *OURS.values()], **how)
    every = np.nan_to_num(rows["radius"])  # (images, sigmas, questions)
    mean, first = every.mean(0).T, len(PAPER)
    radii = {"the paper's, best family": mean[:first].max(0)}
    radii.update({f"the {name}'s": mean[first + i] for i, name in enumerate(OURS)})
    errors = abs((rows["prediction"][:, :, -1] - degrees[:, None] + 180) % 360 - 180)
    table(radii, errors.mean(0))
    for (image, sigma), why in rows.errors.items():
        print(f"image {image} at sigma {SIGMAS[sigma]:g} failed and counts as 0: {why}")
    at = mean.argmax(1)
    best = max(range(first), key=lambda q: mean[q].max())
    shown = {"the paper's": best, **{f"the {n}'s": first + i for i, n in enumerate(OURS)}}
    curves = {f"{n}, sigma {SIGMAS[at[q]]:g}": every[:, at[q], q] for n, q in shown.items()}
    typical = int(np.argsort(every[:, at[-1], -1])[len(digits) // 2])
    certificate = rows["prediction"][typical, at[-1], -1], every[typical, at[-1], -1]
    plot(digits[typical], certificate, curves, options.out / "radii.svg")
    print(NEXT.format(**ASKED))
    print(f"{time.monotonic() - began:.0f} s in all; plotted: {options.out / 'radii.svg'}")


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

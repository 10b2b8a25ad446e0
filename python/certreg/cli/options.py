"""The options of the commands in groups, with the texts of --help and of the manual page. This file
imports the standard library only."""

from __future__ import annotations

from typing import Any

STATISTICS = ("median", "huber", "mean", "circular-mean", "trimmed-mean")
METHODS = ("finite", "anytime", "asymptotic", "paper", "baseline")
CONSTRAINTS = ("c", "cg", "ecm", "ecgm")


def _add(group: Any, option: str, about: str, **more: Any) -> None:
    """Adds an option, such as "--rows A:B" or "-q, --quiet"."""
    names, _, metavar = option.replace(", -", ",-").partition(" ")
    taken = {"metavar": metavar} if metavar else {}
    group.add_argument(*names.split(","), help=about, **taken, **more)


def model_and_inputs(command: Any) -> None:
    command.add_argument("model", help="model.onnx, file.py:name or package.module:name")
    inputs(command)


def inputs(command: Any) -> Any:
    command.add_argument(
        "inputs", help="file of inputs, one in each row: .npy, .npz, .csv or .parquet"
    )
    group = command.add_argument_group("inputs")
    _add(group, "--array NAME", "which array of an .npz file")
    _add(group, "--rows A:B", "only rows A to B-1, counted from 0; either number may be left out")
    _add(
        group,
        "--scale FILE|NUMBER",
        "noise of each feature in units of sigma; 0: the feature is exact and gets no noise "
        "(default: 1)",
    )
    traceback(command)
    return group


def denoiser(command: Any) -> None:
    group = inputs(command)
    _add(group, "--shape L,...", "shape of an input, if the file has them flat; 28,28 for images")
    _add(
        group,
        "--signals",
        "inputs are signals, (length) or (channels, length), and not images or features",
        action="store_true",
    )
    group = command.add_argument_group("training")
    _add(group, "--sigma LOW,HIGH", "lowest and highest noise level", required=True)
    _add(group, "--steps N", "steps of 16 inputs each (default: %(default)s)", default=16000)
    _add(
        group,
        "--seed N",
        "seed of weights, order and noise; this is not the seed of a certificate (default: "
        "%(default)s)",
        default=1,
    )
    group = command.add_argument_group("results")
    onnx_file(group)
    quiet(group)


def onnx_file(group: Any) -> None:
    _add(group, "-o FILE", "the .onnx file that is written", dest="out", required=True)


def traceback(command: Any) -> None:
    _add(
        command, "--traceback", "after an error print the traceback of Python", action="store_true"
    )


def _name(text: str) -> str:
    """A name as it is listed; it may also be written as in Python."""
    return text.lower().replace("_", "-")


def question(command: Any, what: str) -> Any:
    group = command.add_argument_group("question")
    _add(group, "--sigma S", what, required=True)
    _add(
        group,
        "--statistic NAME",
        "which statistic of the noisy outputs is certified: %(choices)s; the last one needs "
        "--method baseline (default: %(default)s)",
        type=_name,
        choices=STATISTICS,
        default="median",
    )
    _add(
        group,
        "--huber-width W",
        "width of the statistic huber, in units of the output; often half the tolerance",
    )
    _add(
        group,
        "--method NAME",
        "how bounds are computed: %(choices)s. finite and anytime hold for every distribution "
        "of outputs; asymptotic can be wrong if there are rare values; paper and baseline, the "
        "published certificate of the statistic, are for comparison only (default: %(default)s)",
        type=_name,
        choices=METHODS,
        default="finite",
    )
    _add(
        group,
        "--constraints SET",
        "which constraints the bounds use: %(choices)s (default: those of the method, without "
        "the gradient)",
        type=_name,
        choices=CONSTRAINTS,
    )
    _add(
        group,
        "--alpha P",
        "probability that a certificate is false, at most 0.5 (default: %(default)s)",
        default=0.05,
    )
    _add(
        group,
        "--bonferroni K",
        "how many certificates have to hold together: alpha is divided by it "
        "(default: %(default)s)",
        default=1,
    )
    _add(
        group,
        "--serve N,P",
        "certify what is served, the statistic of N fresh samples; it may miss the tolerance "
        "with probability P",
    )
    _add(
        group,
        "--trim SHARE",
        "for trimmed-mean: share of the N outputs that is cut off at each end, below 0.5 "
        "(default: 0)",
    )
    _add(
        group,
        "--core T",
        "for trimmed-mean: outputs count as near within this distance; less than the "
        "tolerance needs --range or an angle (default: the tolerance)",
    )
    return group


def tolerance(group: Any, required: bool) -> None:
    about = (
        "how far the answer may move, in units of the output; several are separated by commas"
        if required
        else "largest deviation that is searched, for angles and for statistics other than median "
        "and mean (default: the whole range, or half a turn)"
    )
    _add(group, "--tolerance T", about, required=required)


def outputs(command: Any) -> None:
    group = command.add_argument_group("output of the model")
    _add(
        group,
        "--output K",
        "index of the output that is certified; the first is 0 (default: %(default)s)",
        default=0,
    )
    kinds = group.add_mutually_exclusive_group()
    _add(kinds, "--angle", "the output is an angle in this unit", choices=("deg", "rad"))
    _add(
        kinds,
        "--pair",
        "columns K and K+1 of the model are cosine and sine of an angle, up to a positive "
        "factor; prediction and tolerance are in this unit (default: deg)",
        nargs="?",
        const="deg",
        choices=("deg", "rad"),
    )
    _add(
        group,
        "--range LO,HI",
        "limits of the output; they give longer radii for the statistic mean only. A row with "
        "an output beyond them gets no certificate",
    )
    _add(
        group,
        "--count-failures",
        "count an output that is NaN or infinite as the worst value; without this option the "
        "row gets no certificate",
        action="store_true",
    )


def _batch(group: Any) -> None:
    _add(group, "--batch N", "most rows of one call of the model", default=0)


def _seed(group: Any) -> None:
    given = group.add_mutually_exclusive_group()
    _add(
        given,
        "--seed N",
        "seed of the noise, to repeat a run; neither an adversary nor the model may know it, "
        "and other users can see it here (default: a secret one is drawn)",
    )
    _add(
        given,
        "--seed-file FILE",
        "take the seed from this file; if there is none, make it with a secret seed. The jobs "
        "of an array can share it",
    )


def samples(command: Any) -> Any:
    group = command.add_argument_group("sampling")
    _add(
        group, "--samples N", "samples for each row and sigma (default: %(default)s)", default=1000
    )
    _batch(group)
    _add(group, "--pilot N", "how many of the samples choose the prediction (default: about 15%%)")
    _seed(group)
    return group


def sampling(command: Any) -> None:
    group = samples(command)
    _add(group, "--jobs N", "number of processes (default: %(default)s)", default=1)
    _add(
        group,
        "--on-crash",
        "what to do with a row that ends two processes: stop, or skip, which records that the "
        "row failed and goes on (default: %(default)s)",
        choices=("stop", "skip"),
        default="stop",
    )


def calibration(command: Any) -> None:
    group = command.add_argument_group("calibration and coverage")
    _add(group, "--calibration FILE", "inputs of the calibration points", required=True)
    _add(group, "--truths FILE", "their true outputs", required=True)
    _add(
        group,
        "--labels FILE",
        "true outputs of the inputs, if they are known: the share that is covered is printed",
    )
    _add(group, "--sigma S", "noise level, in units of the input divided by scale", required=True)
    _add(
        group,
        "--radius R",
        "norm of the change by which an input may have been moved; 0: no attack",
        required=True,
    )
    _add(
        group,
        "--alpha P",
        "probability of a miss, at most 0.5 (default: %(default)s)",
        default=0.05,
    )
    _add(
        group,
        "--samples N",
        "samples for each calibration point and input (default: %(default)s)",
        default=101,
    )
    _batch(group)
    _add(
        group,
        "--seed N",
        "seed of the calibration, to repeat it; new inputs always draw theirs from the "
        "system's randomness (default: one is drawn)",
    )


def denoising(command: Any, compares: bool = False) -> None:
    group = command.add_argument_group("denoiser")
    compared = "compare the levels with and without it, each with all of alpha"
    about = compared if compares else "certify the model behind it"
    _add(
        group,
        "--denoise FILE",
        "make a denoiser for models that were not trained under noise, from a file of inputs "
        f"without labels that are not among the others, and {about}",
    )
    if not compares:
        _add(
            group,
            "--keep-denoiser FILE",
            "write it to this .denoiser file, to serve with it; --denoise takes such files too",
        )


def resuming(command: Any) -> None:
    group = command.add_argument_group("long runs")
    _add(
        group,
        "--resume FILE",
        "keep the rows that are done in this file; the same command then does the missing " "rows",
    )
    _add(
        group,
        "--keep-records",
        "keep the model's outputs in the resume file too; the same command with other "
        "questions then needs no new samples",
        action="store_true",
    )
    _add(
        group,
        "--model-id TEXT",
        "name of the model in the resume file (default: a digest of an .onnx file, or the "
        "name in Python)",
    )


def destination(group: Any) -> None:
    _add(
        group,
        "-o FILE",
        "write all rows to this .csv, .json or .parquet file; - writes CSV to standard "
        "output, and the summary to standard error",
        dest="out",
    )


def results(command: Any) -> None:
    group = command.add_argument_group("results")
    destination(group)
    _add(group, "--keep-seed", "write the seed into the .json file too", action="store_true")
    quiet(group)


def quiet(group: Any) -> None:
    _add(group, "-q, --quiet", "no progress and no remarks on standard error", action="store_true")


def tuning(command: Any) -> None:
    group = command.add_argument_group("tuning")
    _add(
        group,
        "--groups FILE",
        "group of each feature, whole numbers. Features of a group share a factor (default: "
        "each feature has its own)",
    )
    _add(
        group,
        "--rounds N",
        "most changes of the scale that are tried (default: %(default)s)",
        default=8,
    )
    _add(
        group,
        "--limit F",
        "largest factor of a group, and the inverse of the smallest (default: %(default)s)",
        default=4.0,
    )
    _add(
        group,
        "--labels FILE",
        "true outputs of the rows. Then only scales and sigmas are considered at which the "
        "mean error is at most 0.1 tolerances above the least at the scale that is given",
    )


def labels_and_plots(command: Any) -> None:
    group = command.add_argument_group("labels and plots")
    _add(
        group,
        "--labels FILE",
        "true outputs of the rows. The table then has the columns label and label_error. The "
        "summary has the mean error, the certified accuracy (the share of rows that are certified "
        "and whose prediction is within the tolerance of the label) and the useful radius (the "
        "mean radius where all other rows count as 0). sigma considers errors first",
    )
    _add(group, "--plot FILE", "draw a plot: .svg, .pdf or .png")
    _add(
        group,
        "--plot-kind",
        "radii: share of rows by radius; accuracy: certified accuracy by radius, from labels "
        "(default: %(default)s)",
        choices=("radii", "accuracy"),
        default="radii",
    )

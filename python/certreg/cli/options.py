"""The options of the commands in groups, with the texts of --help and of the manual page. This file
imports the standard library only."""

from __future__ import annotations

from typing import Any

STATISTICS = ("median", "huber", "mean", "circular-mean", "trimmed-mean")
METHODS = ("finite", "anytime", "asymptotic", "paper", "baseline")
CONSTRAINTS = ("c", "cg", "ecm", "ecgm")


def model_and_inputs(command: Any) -> None:
    command.add_argument("model", help="model.onnx, file.py:name or package.module:name")
    command.add_argument(
        "inputs", help="file of inputs, one in each row: .npy, .npz, .csv or .parquet"
    )
    group = command.add_argument_group("inputs")
    group.add_argument("--array", metavar="NAME", help="which array of an .npz file")
    group.add_argument(
        "--rows",
        metavar="A:B",
        help="only rows A to B-1, counted from 0; either number may be left out",
    )
    group.add_argument(
        "--scale",
        metavar="FILE|NUMBER",
        help="noise of each feature in units of sigma; 0: the feature is exact and gets no noise "
        "(default: 1)",
    )
    traceback(command)


def traceback(command: Any) -> None:
    command.add_argument(
        "--traceback", action="store_true", help="after an error print the traceback of Python"
    )


def _name(text: str) -> str:
    """A name as it is listed; it may also be written as in Python."""
    return text.lower().replace("_", "-")


def question(command: Any, what: str) -> Any:
    group = command.add_argument_group("question")
    group.add_argument("--sigma", required=True, metavar="S", help=what)
    group.add_argument(
        "--statistic",
        type=_name,
        choices=STATISTICS,
        default="median",
        help="which statistic of the noisy outputs is certified: %(choices)s; the last one needs "
        "--method baseline (default: %(default)s)",
        metavar="NAME",
    )
    group.add_argument(
        "--huber-width",
        metavar="W",
        help="width of the statistic huber, in units of the output; often half the tolerance",
    )
    group.add_argument(
        "--method",
        type=_name,
        choices=METHODS,
        default="finite",
        help="how bounds are computed: %(choices)s. finite and anytime hold for every distribution "
        "of outputs; asymptotic can be wrong if there are rare values; paper and baseline, the "
        "published certificate of the statistic, are for comparison only (default: %(default)s)",
        metavar="NAME",
    )
    group.add_argument(
        "--constraints",
        type=_name,
        choices=CONSTRAINTS,
        help="which constraints the bounds use: %(choices)s (default: those of the method, without "
        "the gradient)",
        metavar="SET",
    )
    group.add_argument(
        "--alpha",
        default=0.05,
        metavar="P",
        help="probability that a certificate is false, at most 0.5 (default: %(default)s)",
    )
    group.add_argument(
        "--bonferroni",
        default=1,
        metavar="K",
        help="how many certificates have to hold together: alpha is divided by it "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--serve",
        metavar="N,P",
        help="certify what is served, the statistic of N fresh samples; it may miss the tolerance "
        "with probability P",
    )
    group.add_argument(
        "--trim",
        metavar="SHARE",
        help="for trimmed-mean: share of the N outputs that is cut off at each end, below 0.5 "
        "(default: 0)",
    )
    group.add_argument(
        "--core",
        metavar="T",
        help="for trimmed-mean: outputs count as near within this distance; less than the "
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
    group.add_argument("--tolerance", required=required, metavar="T", help=about)


def outputs(command: Any) -> None:
    group = command.add_argument_group("output of the model")
    group.add_argument(
        "--output",
        default=0,
        metavar="K",
        help="index of the output that is certified; the first is 0 (default: %(default)s)",
    )
    kinds = group.add_mutually_exclusive_group()
    kinds.add_argument(
        "--angle", choices=("deg", "rad"), help="the output is an angle in this unit"
    )
    kinds.add_argument(
        "--pair",
        nargs="?",
        const="deg",
        choices=("deg", "rad"),
        help="columns K and K+1 of the model are cosine and sine of an angle, up to a positive "
        "factor; prediction and tolerance are in this unit (default: deg)",
    )
    group.add_argument(
        "--range",
        metavar="LO,HI",
        help="limits of the output; they give longer radii for the statistic mean only. A row with "
        "an output beyond them gets no certificate",
    )
    group.add_argument(
        "--count-failures",
        action="store_true",
        help="count an output that is NaN or infinite as the worst value; without this option the "
        "row gets no certificate",
    )


def _batch(group: Any) -> None:
    group.add_argument("--batch", default=0, metavar="N", help="most rows of one call of the model")


def _seed(group: Any) -> None:
    given = group.add_mutually_exclusive_group()
    given.add_argument(
        "--seed",
        metavar="N",
        help="seed of the noise, to repeat a run; neither an adversary nor the model may know it, "
        "and other users can see it here (default: a secret one is drawn)",
    )
    given.add_argument(
        "--seed-file",
        metavar="FILE",
        help="take the seed from this file; if there is none, make it with a secret seed. The jobs "
        "of an array can share it",
    )


def samples(command: Any) -> Any:
    group = command.add_argument_group("sampling")
    group.add_argument(
        "--samples",
        default=1000,
        metavar="N",
        help="samples for each row and sigma (default: %(default)s)",
    )
    _batch(group)
    group.add_argument(
        "--pilot",
        metavar="N",
        help="how many of the samples choose the prediction (default: about 15%%)",
    )
    _seed(group)
    return group


def sampling(command: Any) -> None:
    group = samples(command)
    group.add_argument(
        "--jobs",
        default=1,
        metavar="N",
        help="number of processes (default: %(default)s)",
    )
    group.add_argument(
        "--on-crash",
        choices=("stop", "skip"),
        default="stop",
        help="what to do with a row that ends two processes: stop, or skip, which records that the "
        "row failed and goes on (default: %(default)s)",
    )


def calibration(command: Any) -> None:
    group = command.add_argument_group("calibration and coverage")
    group.add_argument(
        "--calibration", required=True, metavar="FILE", help="inputs of the calibration points"
    )
    group.add_argument("--truths", required=True, metavar="FILE", help="their true outputs")
    group.add_argument(
        "--labels",
        metavar="FILE",
        help="true outputs of the inputs, if they are known: the share that is covered is printed",
    )
    group.add_argument(
        "--sigma",
        required=True,
        metavar="S",
        help="noise level, in units of the input divided by scale",
    )
    group.add_argument(
        "--radius",
        required=True,
        metavar="R",
        help="norm of the change by which an input may have been moved; 0: no attack",
    )
    group.add_argument(
        "--alpha",
        default=0.05,
        metavar="P",
        help="probability of a miss, at most 0.5 (default: %(default)s)",
    )
    group.add_argument(
        "--samples",
        default=101,
        metavar="N",
        help="samples for each calibration point and input (default: %(default)s)",
    )
    _batch(group)
    group.add_argument(
        "--seed",
        metavar="N",
        help="seed of the calibration, to repeat it; new inputs always draw theirs from the "
        "system's randomness (default: one is drawn)",
    )


def resuming(command: Any) -> None:
    group = command.add_argument_group("long runs")
    group.add_argument(
        "--resume",
        metavar="FILE",
        help="keep the rows that are done in this file; the same command then does the missing "
        "rows",
    )
    group.add_argument(
        "--keep-records",
        action="store_true",
        help="keep the model's outputs in the resume file too; the same command with other "
        "questions then needs no new samples",
    )
    group.add_argument(
        "--model-id",
        metavar="TEXT",
        help="name of the model in the resume file (default: a digest of an .onnx file, or the "
        "name in Python)",
    )


def destination(group: Any) -> None:
    group.add_argument(
        "-o",
        dest="out",
        metavar="FILE",
        help="write all rows to this .csv, .json or .parquet file; - writes CSV to standard "
        "output, and the summary to standard error",
    )


def results(command: Any) -> None:
    group = command.add_argument_group("results")
    destination(group)
    group.add_argument(
        "--keep-seed", action="store_true", help="write the seed into the .json file too"
    )
    quiet(group)


def quiet(group: Any) -> None:
    group.add_argument(
        "-q", "--quiet", action="store_true", help="no progress and no remarks on standard error"
    )


def tuning(command: Any) -> None:
    group = command.add_argument_group("tuning")
    group.add_argument(
        "--groups",
        metavar="FILE",
        help="group of each feature, whole numbers. Features of a group share a factor (default: "
        "each feature has its own)",
    )
    group.add_argument(
        "--rounds",
        default=8,
        metavar="N",
        help="most changes of the scale that are tried (default: %(default)s)",
    )
    group.add_argument(
        "--limit",
        default=4.0,
        metavar="F",
        help="largest factor of a group, and the inverse of the smallest (default: %(default)s)",
    )
    group.add_argument(
        "--labels",
        metavar="FILE",
        help="true outputs of the rows. Then only scales and sigmas are considered at which the "
        "mean error is at most 0.1 tolerances above the least at the scale that is given",
    )


def labels_and_plots(command: Any) -> None:
    group = command.add_argument_group("labels and plots")
    group.add_argument(
        "--labels",
        metavar="FILE",
        help="true outputs of the rows. The table then has the columns label and label_error. The "
        "summary has the mean error, the certified accuracy (the share of rows that are certified "
        "and whose prediction is within the tolerance of the label) and the useful radius (the "
        "mean radius where all other rows count as 0). sigma considers errors first",
    )
    group.add_argument("--plot", metavar="FILE", help="draw a plot: .svg, .pdf or .png")
    group.add_argument(
        "--plot-kind",
        choices=("radii", "accuracy"),
        default="radii",
        help="radii: share of rows by radius; accuracy: certified accuracy by radius, from labels "
        "(default: %(default)s)",
    )

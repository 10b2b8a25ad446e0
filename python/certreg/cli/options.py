"""The options of the commands in groups, with the texts of --help. This file imports the standard
library only."""

from __future__ import annotations

import argparse
import re
from typing import Any, Mapping, TypeAlias

Group: TypeAlias = "argparse._ActionsContainer"  # a command, or a group of its options
Settings: TypeAlias = "dict[str, Any]"  # arguments of add_argument
Options: TypeAlias = "Mapping[str, Any]"  # a text, or a text and settings, by names and default

STATISTICS = ("median", "huber", "mean", "circular-mean", "trimmed-mean")
METHODS = ("finite", "anytime", "asymptotic", "paper", "baseline")
CONSTRAINTS = ("c", "cg", "ecm", "ecgm")
ONE_LEVEL = "noise level, in units of the input divided by scale"
SOME_LEVELS = ONE_LEVEL + "; several, separated by commas, share alpha and hold together"
LEVELS = "noise levels, separated by commas"
_REQUIRED = {"required": True}


def _name(text: str) -> str:
    """A name in the form of the lists above, from a name as in Python, or from a family of
    constraints as in the paper, (E,C,G)+M."""
    return re.sub(r"[(),+\s]", "", text).lower().replace("_", "-")


def _one_of(*names: str) -> Settings:
    return {"choices": names, "type": _name}


def add(group: Group, options: Options) -> None:
    """Adds options with their texts: "--rows A:B", "--jobs N = 1" with a default, or "-q, --quiet",
    a flag. A text may be a pair, with more arguments of add_argument."""
    for option, about in options.items():
        text, more = (about, {}) if isinstance(about, str) else about
        words, _, default = option.partition(" = ")
        names, _, metavar = words.replace(", -", ",-").partition(" ")
        if metavar:
            more = {"metavar": metavar, **more}
        if default:
            more = {"default": default, **more}
        flag: Settings = {} if more else {"action": "store_true"}
        group.add_argument(*names.split(","), help=text, **flag, **more)


def _group(command: Group, title: str, options: Options) -> Group:
    group = command.add_argument_group(title)
    add(group, options)
    return group


def model_and_inputs(command: Group) -> None:
    about = (
        "model.onnx, trees of XGBoost (.json, .ubj) or LightGBM (.txt), file.py:name or "
        "package.module:name"
    )
    command.add_argument("model", help=about)
    inputs(command)
    onnx_model(command)
    missing = "the number that marks a missing value, if it was trained with one (default: NaN)"
    _group(command, "files of XGBoost", {"--missing VALUE": missing})


def onnx_model(command: Group) -> Group:
    options = {
        "--constant NAME=VALUE": (
            "value of an input that does not vary: a number, or a .npy file. Give this option once "
            "for each input but one",
            {"action": "append"},
        ),
        "--columns A:B": "only columns A to B-1 of an output, counted from 0; a row of more "
        "dimensions is flattened first",
    }
    return _group(command, "ONNX files", options)


def tensor(group: Group) -> None:
    add(group, {"--output NAME": "name of the output (default: the first one)"})


def inputs(command: Group) -> Group:
    command.add_argument(
        "inputs", help="file of inputs, one in each row: .npy, .npz, .csv or .parquet"
    )
    options = {
        "--array NAME": "which array of an .npz file",
        "--rows A:B": "only rows A to B-1, counted from 0; either number may be left out",
        "--scale FILE|NUMBER|std|iqr": "noise of each feature in units of sigma; 0: the feature is "
        "exact and gets no noise. std is the standard deviation of each feature in the file of "
        "inputs, std:FILE that in another file, and iqr the range of the middle half (default: 1)",
    }
    group = _group(command, "inputs", options)
    common(command)
    return group


def denoiser(command: Group) -> None:
    shapes = {
        "--shape L,...": "shape of an input, if the file has them flat; 28,28 for images",
        "--signals": "inputs are signals, (length) or (channels, length), and not images or "
        "features",
    }
    training = {
        "--sigma LOW,HIGH": ("lowest and highest noise level", _REQUIRED),
        "--steps N = 16000": "steps of 16 inputs each (default: %(default)s)",
        "--seed N = 1": "seed of weights, order and noise; this is not the seed of a certificate "
        "(default: %(default)s)",
    }
    add(inputs(command), shapes)
    _group(command, "training", training)
    group = command.add_argument_group("results")
    onnx_file(group)
    quiet(group)


def onnx_file(group: Group) -> None:
    add(group, {"-o FILE": ("the .onnx file that is written", {"dest": "out", **_REQUIRED})})


def common(command: Group) -> None:
    about = {
        "--json": "print the result as JSON; the rows of a table go to -o FILE.json",
        "--traceback": "after an error print the traceback of Python",
    }
    add(command, about)


def question(command: Group, sigma: str) -> Group:
    options = {
        "--sigma S": (sigma, _REQUIRED),
        "--statistic NAME = median": (
            "which statistic of the noisy outputs is certified: %(choices)s; trimmed-mean needs "
            "--method baseline (default: %(default)s)",
            _one_of(*STATISTICS),
        ),
        "--huber-width W": "width of the statistic huber, in units of the output; often half the "
        "tolerance",
        "--method NAME = finite": (
            "how bounds are computed: %(choices)s. finite and anytime hold for every distribution "
            "of outputs; asymptotic can be wrong if there are rare values; paper and baseline, the "
            "published certificate of the statistic, are for comparison only "
            "(default: %(default)s)",
            _one_of(*METHODS),
        ),
        "--constraints SET": (
            "which constraints the bounds use: %(choices)s (default: those of the method, without "
            "the gradient)",
            _one_of(*CONSTRAINTS),
        ),
        "--alpha P = 0.05": "probability that a certificate is false, at most 0.5 "
        "(default: %(default)s)",
        "--bonferroni K = 1": "how many certificates have to hold together: alpha is divided by it "
        "(default: %(default)s)",
        "--serve N,P[,pairs]": "certify what is served, the statistic of N fresh samples, or of "
        "pairs of opposite noise; it may miss the tolerance with probability P",
        "--trim SHARE": "for trimmed-mean: share of the N outputs that is cut off at each end, "
        "below 0.5 (default: 0)",
        "--core T": "for trimmed-mean: outputs count as near within this distance; less than the "
        "tolerance needs --range or an angle (default: the tolerance)",
    }
    return _group(command, "question", options)


def tolerance(group: Group, required: bool) -> None:
    about = (
        "how far the answer may move, in units of the output, or a percentage of the prediction "
        "like 10%%; several are separated by commas"
        if required
        else "largest deviation that is searched, for angles and for statistics other than median "
        "and mean (default: the whole range, or half a turn)"
    )
    add(group, {"--tolerance T": (about, {"required": required})})


def alternatives(command: Group) -> None:
    several = {"action": "append"}
    options = {
        "--any COLUMN": (
            "the radius also holds for every other value that this column of categories has in the "
            "file; the column needs scale 0. Give this option once for each such column",
            several,
        ),
        "--at-most K:A,B,...": (
            "the radius also holds if at most K of these columns have other values at once",
            several,
        ),
        "--brightness P%|LO%,HI%": "the radius also holds for images that are darker and brighter "
        "by up to this percentage",
    }
    _group(command, "other changes, which share the samples of a row (experimental)", options)


def reach(group: Group) -> None:
    options = {
        "--radius R": "norm of the changes",
        "--box FILE|NUMBER": "bound of the change of each feature, in its own unit; 0: it is "
        "exact. The default of --scale is the box; then try half of the root of the number of "
        "features as --sigma",
    }
    add(group.add_mutually_exclusive_group(required=True), options)


def outputs(command: Group) -> None:
    first = {
        "--output K|NAME": "index of the output that is certified; the first is 0. Or the name of "
        "an output of an ONNX file, whose first column is certified (default: 0)"
    }
    units = {"choices": ("deg", "rad")}
    kinds = {
        "--angle": ("the output is an angle in this unit", units),
        "--pair": (
            "columns K and K+1 of the model are cosine and sine of an angle, up to a positive "
            "factor; prediction and tolerance are in this unit (default: deg)",
            {"nargs": "?", "const": "deg", **units},
        ),
    }
    others = {
        "--range LO,HI": "limits of the output; they give longer radii for the statistic mean "
        "only. A row with an output beyond them gets no certificate",
        "--count-failures": "count an output that is NaN or infinite as the worst value; without "
        "this option the row gets no certificate",
    }
    group = _group(command, "output of the model", first)
    add(group.add_mutually_exclusive_group(), kinds)
    add(group, others)


_BATCH = {
    "--batch N": ("most rows of one call of the model", {"default": 0}),
    "--no-check": "do not test whether outputs depend on other rows: neither before the run, by 19 "
    "rows in six calls, nor by asking again for some outputs at the end",
}


def samples(command: Group) -> Group:
    options = {
        "--samples N = 1000": "samples for each row and sigma (default: %(default)s)",
        **_BATCH,
        "--pilot N": "how many of the samples choose the prediction (default: 15%%, less of few)",
    }
    seeds = {
        "--seed N": "seed of the noise, to repeat a run; neither an adversary nor the model may "
        "know it, and other users can see it here (default: a secret one is drawn)",
        "--seed-file FILE": "take the seed from this file; if there is none, make it with a secret "
        "seed. The jobs of an array can share it",
    }
    group = _group(command, "sampling", options)
    add(group.add_mutually_exclusive_group(), seeds)
    return group


def sampling(command: Group) -> None:
    options = {
        "--jobs N = 1": "number of processes; 0, -1: one for each processor (default: %(default)s)",
        "--on-crash = stop": (
            "what to do with a row that ends three processes: stop, or skip, which records that "
            "the row failed and goes on (default: %(default)s)",
            {"choices": ("stop", "skip")},
        ),
    }
    add(samples(command), options)


def calibration(command: Group) -> None:
    options = {
        "--calibration FILE": ("inputs of the calibration points", _REQUIRED),
        "--truths FILE": ("their true outputs", _REQUIRED),
        "--labels FILE": "true outputs of the inputs, if they are known: the share that is covered "
        "is printed",
        "--sigma S": (ONE_LEVEL, _REQUIRED),
        "--radius R": (
            "norm of the change by which an input may have been moved; 0: no attack",
            _REQUIRED,
        ),
        "--alpha P = 0.05": "probability of a miss, at most 0.5 (default: %(default)s)",
        "--samples N = 101": "samples for each calibration point and input (default: %(default)s)",
        **_BATCH,
        "--seed N": "seed of the calibration, to repeat it; new inputs always draw theirs from the "
        "system's randomness (default: one is drawn)",
    }
    _group(command, "calibration and coverage", options)


def denoising(command: Group, compares: bool = False) -> None:
    compared = "compare the levels with and without it, each with all of alpha"
    options = {
        "--denoise FILE": "make a denoiser for models that were not trained under noise, from a "
        "file of inputs without labels that are not among the others, and "
        + (compared if compares else "certify the model behind it"),
        "--keep-denoiser FILE": "write it to this .denoiser file, to serve with it; --denoise "
        "takes such files too",
    }
    if compares:
        del options["--keep-denoiser FILE"]
    _group(command, "denoiser", options)


def resuming(command: Group) -> None:
    options = {
        "--resume FILE": "keep the rows that are done in this file; the same command then does the "
        "missing rows",
        "--keep-records": "keep the model's outputs in the resume file too; the same command with "
        "other questions then needs no new samples",
        "--model-id TEXT": "name of the model in the resume file (default: a digest of an .onnx "
        "file, or the name in Python)",
    }
    _group(command, "long runs", options)


def destination(group: Group) -> None:
    about = (
        "write all rows to this .csv, .json or .parquet file; - writes CSV to standard output, and "
        "the summary to standard error"
    )
    add(group, {"-o FILE": (about, {"dest": "out"})})


def results(command: Group) -> None:
    group = command.add_argument_group("results")
    destination(group)
    add(group, {"--keep-seed": "write the seed into the .json file too"})
    quiet(group)


def required(command: Group) -> None:
    about = (
        "exit with status 6 if less than this share of the rows has a radius of at least R, at any "
        "sigma or tolerance; without R: any radius. Failed rows count as 0"
    )
    _group(command, "demands", {"--require SHARE[@R]": (about, {})})


def quiet(group: Group) -> None:
    add(group, {"-q, --quiet": "no progress and no remarks on standard error"})


def tuning(command: Group) -> None:
    options = {
        "--groups FILE": "group of each feature, whole numbers. Features of a group share a factor "
        "(default: each feature has its own)",
        "--rounds N = 8": "most changes of the scale that are tried (default: %(default)s)",
        "--limit F = 4.0": "largest factor of a group, and the inverse of the smallest "
        "(default: %(default)s)",
        "--box FILE|NUMBER": "bound of the change of each feature; 0: it is exact. The scale is "
        "chosen for a large box of these proportions; the default of --scale is the box",
        "--labels FILE": "true outputs of the rows. Then only scales and sigmas are considered at "
        "which the mean error is at most 0.1 tolerances above the least at the scale that is given",
    }
    _group(command, "tuning", options)


def labels_and_plots(command: Group) -> None:
    options = {
        "--labels FILE": "true outputs of the rows. The table then has the columns label and "
        "label_error. The summary has the mean error, the certified accuracy (the share of rows "
        "that are certified and whose prediction is within the tolerance of the label) and the "
        "useful radius (the mean radius where all other rows count as 0). sigma considers errors "
        "first",
        "--plot FILE": "draw a plot: .svg, .pdf or .png",
        "--plot-kind = radii": (
            "radii: share of rows by radius; from labels accuracy: certified accuracy by radius, "
            "and error: mean error of the rows with at least each radius (default: %(default)s)",
            {"choices": ("radii", "accuracy", "error")},
        ),
    }
    _group(command, "labels and plots", options)


def units(command: Group) -> None:
    about = (
        "compare the radii with known changes of the inputs, such as rounding to their steps. "
        "KIND is image or sound, or the step of the inputs as a number; without it the steps are "
        "found from the values. sigma compares the radii at the level that it recommends"
    )
    _group(command, "units", {"--units KIND": (about, {"nargs": "?", "const": (None, None)})})

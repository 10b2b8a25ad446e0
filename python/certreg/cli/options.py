"""The options of the commands, with the texts of --help, and how their values are read. This file
imports the standard library only."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
import sys
from typing import Any, Callable, Mapping, Sequence, TypeAlias

from .streams import Failure, StandardInput

Options: TypeAlias = "Mapping[str, Any]"  # texts by options; see `add`

STATISTICS = ("median", "huber", "mean", "circular-mean", "trimmed-mean")
METHODS = ("finite", "anytime", "asymptotic", "paper", "baseline")
CONSTRAINTS = ("c", "cg", "ecm", "ecgm")
ABSENT: dict[str, object] = {  # values of options that a command lacks
    **dict.fromkeys(
        "radius target labels plot resume model_id seed_file denoise keep_denoiser calibration "
        "truths groups box serve trim core pilot constant columns tensor units require out range "
        "angle pair described allowances report log".split()
    ),
    **dict.fromkeys(("keep_records", "keep_seed"), False),
    **{"jobs": 1, "on_crash": "stop", "plot_kind": "radii"},
}


def _name(text: str) -> str:
    """A name in the form of the lists above, from a name as in Python, or from a family of
    constraints as in the paper, (E,C,G)+M."""
    return re.sub(r"[(),+\s]", "", text).lower().replace("_", "-")


_SETTINGS: dict[str, dict[str, Any]] = {  # more arguments of add_argument
    "--statistic": {"choices": STATISTICS, "type": _name},
    "--method": {"choices": METHODS, "type": _name},
    "--constraints": {"choices": CONSTRAINTS, "type": _name},
    "--angle": {"choices": ("deg", "rad")},
    "--pair": {"choices": ("deg", "rad"), "nargs": "?", "const": "deg"},
    "--on-crash": {"choices": ("stop", "skip")},
    "--plot-kind": {"choices": ("radii", "accuracy", "error")},
    "--units": {"nargs": "?", "const": (None, None)},
    **dict.fromkeys(("--any", "--at-most", "--constant", "--tolerance"), {"action": "append"}),
    "--batch": {"default": 0},
    "-o": {"dest": "out"},
    "--inputs": {"dest": "described"},
    "--log": {"choices": ("json",)},
}
_BATCH = {
    "--batch N": "most rows of one call of the model",
    "--no-check": "do not test whether outputs depend on other rows: neither before the run, by 19 "
    "rows in six calls, nor by asking again for some outputs at the end",
}
_ONE_LEVEL = "noise level, in units of the input divided by scale"
_DENOISE = (
    "make a denoiser for models that were not trained under noise, from a file of inputs without "
    "labels that are not among the others, and "
)
_ALL_ROWS = (
    "write all rows to this .csv, .csv.gz, .json, .jsonl or .parquet file; - writes CSV to "
    "standard output, and the summary to standard error. certify, sigma and bounds add the lines "
    "of .jsonl as rows finish, unless they resume from a folder"
)
_ONNX_FILE = {"-o FILE!": "the .onnx file that is written"}
_QUIET = {
    "-q, --quiet": "no progress and no remarks on standard error, also none on failed rows: the "
    "summary counts them, and the exit status is 1",
    "--log json": "progress, failed rows, lost processes, messages and warnings as lines of JSON "
    "on standard error",
}
_GROUPS: dict[str, Options] = {  # by title; behind a slash is the name of a part
    "/model": {
        "model": "model.onnx, trees of XGBoost (.json, .ubj) or LightGBM (.txt), file.py:name or "
        "package.module:name"
    },
    "/inputs": {
        "inputs": "file of inputs, one in each row: .npy, .npz, .csv, .csv.gz or .parquet; - is "
        "CSV from standard input"
    },
    "inputs": {
        "--array NAME": "which array of an .npz file",
        "--rows A:B": "only rows A to B-1, counted from 0; either number may be left out",
        "--scale FILE|NUMBER|std|iqr": "noise of each feature in units of sigma; 0: the feature is "
        "exact and gets no noise. std is the standard deviation of each feature in the file of "
        "inputs, std:FILE that in another file, and iqr the range of the middle half (default: 1)",
    },
    "inputs/described": {
        "--inputs FILE": "description of the inputs, a .json file of certreg inputs. Its scale is "
        "the default of --scale"
    },
    "/common": {
        "--json": "print the result as JSON, with -o - to standard error; the rows of a table go "
        "to -o FILE.json",
        "--traceback": "after an error print the traceback of Python",
    },
    "ONNX files": {
        "--constant NAME=VALUE": "value of an input that does not vary: a number, or a .npy file. "
        "Give this option once for each input but one",
        "--columns A:B": "only columns A to B-1 of an output, counted from 0; a row of more "
        "dimensions is flattened first",
    },
    "files of XGBoost": {
        "--missing VALUE": "the number that marks a missing value, if it was trained with one "
        "(default: NaN)"
    },
    "question/one level": {"--sigma S!": _ONE_LEVEL},
    "question/some levels": {
        "--sigma S!": f"{_ONE_LEVEL}; several, separated by commas, share alpha and hold together"
    },
    "question/levels": {"--sigma S!": "noise levels, separated by commas"},
    "question": {
        "--statistic NAME = median": "which statistic of the noisy outputs is certified: "
        "%(choices)s; trimmed-mean needs --method baseline",
        "--huber-width W": "width of the statistic huber, in units of the output; often half the "
        "tolerance",
        "--method NAME = finite": "how bounds are computed: %(choices)s. finite and anytime hold "
        "for every distribution of outputs; asymptotic can be wrong if there are rare values; "
        "paper and baseline, the published certificate of the statistic, are for comparison only",
        "--constraints SET": "which constraints the bounds use: %(choices)s (default: those of the "
        "method, without the gradient)",
        "--alpha P = 0.05": "probability that a certificate is false, at most 0.5",
        "--bonferroni K = 1": "how many certificates have to hold together: alpha is divided by it",
        "--serve N,P[,pairs]": "certify what is served, the statistic of N fresh samples, or of "
        "pairs of opposite noise; it may miss the tolerance with probability P",
        "--trim SHARE": "for trimmed-mean: share of the N outputs that is cut off at each end, "
        "below 0.5 (default: 0)",
        "--core T": "for trimmed-mean: outputs count as near within this distance; less than the "
        "tolerance needs --range or an angle (default: the tolerance)",
    },
    "question/tolerance": {
        "--tolerance T!": "how far the answer may move, in units of the output, or a percentage of "
        "the prediction like 10%%; several are separated by commas, and may have names for the "
        "tables, like tight=1,loose=5. If the output is a logarithm, 0.0953, which is log(1.1), "
        "allows a factor of 1.1"
    },
    "question/target": {
        "--target R": "radius at which sampling of a row stops, once it is proved or ruled out"
    },
    "question/reach": {
        "exactly one of": {
            "--radius R": "norm of the changes",
            "--box FILE|NUMBER": "bound of the change of each feature, in its own unit; 0: it is "
            "exact. The default of --scale is the box; then try half of the root of the number of "
            "features as --sigma",
        },
        "--tolerance T": "largest deviation that is searched, for angles and for statistics other "
        "than median and mean (default: the whole range, or half a turn)",
    },
    "output of the model": {
        "--output K|NAME": "index of the output that is certified; the first is 0. Or the name of "
        "an output of an ONNX file, whose first column is certified (default: 0)",
        "one of": {
            "--angle": "the output is an angle in this unit",
            "--pair": "columns K and K+1 of the model are cosine and sine of an angle, up to a "
            "positive factor; prediction and tolerance are in this unit (default: deg)",
        },
        "--range LO,HI": "limits of the output; they give longer radii for the statistic mean "
        "only. A row with an output beyond them gets no certificate",
        "--count-failures": "count an output that is NaN or infinite as the worst value; without "
        "this option the row gets no certificate",
    },
    "sampling": {
        "--samples N = 1000": "samples for each row and sigma",
        **_BATCH,
        "--pilot N": "how many of the samples choose the prediction (default: 15%%, less of few)",
        "one of": {
            "--seed N": "seed of the noise, to repeat a run; neither an adversary nor the model "
            "may know it, and other users can see it here (default: a secret one is drawn)",
            "--seed-file FILE": "take the seed from this file; if there is none, make it with a "
            "secret seed. The jobs of an array can share it",
        },
    },
    "sampling/processes": {
        "--jobs N = 1": "number of processes; 0, -1: one for each processor",
        "--on-crash = stop": "what to do with a row that ends three processes: stop, or skip, "
        "which records that the row failed and goes on",
    },
    "sampling/attack": {
        "--calls N = 2000": "calls of the model in the attack on a row, beyond the samples"
    },
    "calibration and coverage": {
        "--calibration FILE!": "inputs of the calibration points",
        "--truths FILE!": "their true outputs",
        "--labels FILE": "true outputs of the inputs, if they are known: the share that is covered "
        "is printed",
        "--sigma S!": _ONE_LEVEL,
        "--radius R!": "norm of the change by which an input may have been moved; 0: no attack",
        "--alpha P = 0.05": "probability of a miss, at most 0.5",
        "--samples N = 101": "samples for each calibration point and input",
        **_BATCH,
        "--seed N": "seed of the calibration, to repeat it; new inputs always draw theirs from the "
        "system's randomness (default: one is drawn)",
    },
    "denoiser/comparison": {
        "--denoise FILE": f"{_DENOISE}compare the levels with and without it, each with all of "
        "alpha"
    },
    "denoiser": {
        "--denoise FILE": f"{_DENOISE}certify the model behind it",
        "--keep-denoiser FILE": "write it to this .denoiser file, to serve with it; --denoise "
        "takes such files too",
    },
    "long runs": {
        "--resume FILE": "keep the rows that are done in this file; the same command then does the "
        "missing rows",
        "--keep-records": "keep the model's outputs in the resume file too; the same command with "
        "other questions then needs no new samples",
        "--model-id TEXT": "name of the model in the resume file (default: a digest of an .onnx "
        "file, or the name in Python)",
    },
    "tuning": {
        "--groups FILE": "group of each feature, whole numbers. Features of a group share a factor "
        "(default: each feature has its own)",
        "--rounds N = 8": "most changes of the scale that are tried",
        "--limit F = 4.0": "largest factor of a group, and the inverse of the smallest",
        "--box FILE|NUMBER": "bound of the change of each feature; 0: it is exact. The scale is "
        "chosen for a large box of these proportions; the default of --scale is the box",
        "--labels FILE": "true outputs of the rows. Then only scales and sigmas are considered at "
        "which the mean error is at most 0.1 tolerances above the least at the scale that is given",
    },
    "training": {
        "--sigma LOW,HIGH!": "lowest and highest noise level",
        "--steps N = 16000": "steps of 16 inputs each",
        "--seed N = 1": "seed of weights, order and noise; this is not the seed of a certificate",
    },
    "inputs/training": {
        "--shape L,...": "shape of an input, if the file has them flat; 28,28 for images",
        "--signals": "inputs are signals, (length) or (channels, length), and not images or "
        "features",
    },
    "results": {
        "-o FILE": _ALL_ROWS,
        "--keep-seed": "write the seed into the .json file too",
        **_QUIET,
    },
    "results/certify": {
        "--allowances FILE": "write how far each column of each row may be off, alone and together "
        "with all others, in its own unit, to this .csv file (experimental)",
        "--report FILE": "write a report for people to this .html file (experimental)",
    },
    "results/intervals": {"-o FILE": _ALL_ROWS, **_QUIET},
    "results/scale": {
        "-o FILE": "write the scale to this .csv file, with the names of the features, or .npy "
        "file",
        **_QUIET,
    },
    "results/inputs": {"-o FILE": "write the description to this .json file", **_QUIET},
    "results/denoiser": {**_ONNX_FILE, **_QUIET},
    "labels and plots": {
        "--labels FILE": "true outputs of the rows. The table then has the columns label and "
        "label_error. The summary has the mean error, the certified accuracy (the share of rows "
        "that are certified and whose prediction is within the tolerance of the label) and the "
        "useful radius (the mean radius where all other rows count as 0). sigma considers errors "
        "first",
        "--plot FILE": "draw a plot: .svg, .pdf or .png",
        "--plot-kind = radii": "radii: share of rows by radius; from labels accuracy: certified "
        "accuracy by radius, and error: mean error of the rows with at least each radius",
    },
    "units": {
        "--units KIND": "compare the radii with known changes of the inputs, such as rounding to "
        "their steps. KIND is image or sound, or the step of the inputs as a number; without it "
        "the steps are found from the values. sigma compares the radii at the level that it "
        "recommends"
    },
    "other changes, which share the samples of a row (experimental)": {
        "--any COLUMN": "the radius also holds for every other value that this column of "
        "categories has in the file; the column needs scale 0. Give this option once for each such "
        "column",
        "--at-most K:A,B,...": "the radius also holds if at most K of these columns have other "
        "values at once",
        "--brightness P%|LO%,HI%": "the radius also holds for images that are darker and brighter "
        "by up to this percentage",
        "--faulty K:A,B+C,...": "units of columns that may have any values: each noisy sample "
        "shows K of them, and the others are NaN. Tables then have the radius with 0 to 7 wrong "
        "units",
    },
    "demands": {
        "--require SHARE[@R]": "exit with status 6 if less than this share of the rows has a "
        "radius of at least R, at any sigma or tolerance; without R: any radius. Failed rows count "
        "as 0"
    },
    "/check": {
        "--output NAME": "name of the output (default: the first one)",
        "--sigma S": "noise level at which it will be used",
        "--calls N = 300": "calls of the model with one input, in a few batches; at least 19, "
        "fewer for a slow model",
        **_QUIET,
    },
    "/info": {"model?": "a model, as for certreg certify (default: none)"},
    "ONNX files/info": {"--output NAME": "name of the output (default: the first one)"},
    "/join": {
        "denoiser": "an .onnx file of certreg denoise train",
        "model": "an .onnx file",
        **_ONNX_FILE,
    },
}


def add(command: argparse.ArgumentParser, groups: Sequence[str]) -> None:
    """Adds the options of groups. Parts of a group come under one title, and those without a title
    under that of argparse."""
    made: dict[str, argparse._ActionsContainer] = {"": command}
    for name in groups:
        title = name.partition("/")[0]
        if title not in made:
            made[title] = command.add_argument_group(title)
        _add_options(made[title], _GROUPS[name])


def _add_options(group: argparse._ActionsContainer, options: Options) -> None:
    """Adds options with their texts: "inputs" or "model?", a position, "--rows A:B", "--sigma S!",
    which is required, "--jobs N = 1" with a default, or "-q, --quiet", a flag. Options behind "one
    of" exclude each other."""
    for option, about in options.items():
        if isinstance(about, dict):
            required = option == "exactly one of"
            _add_options(group.add_mutually_exclusive_group(required=required), about)
            continue
        words, _, default = option.partition(" = ")
        names, _, metavar = words.rstrip("!?").replace(", -", ",-").partition(" ")
        more = dict(_SETTINGS.get(names, ()))
        if metavar:
            more["metavar"] = metavar
        if default:
            more["default"] = default
            about += " (default: %(default)s)"
        if words.endswith("!"):
            more["required"] = True
        elif words.endswith("?"):
            more["nargs"] = "?"
        elif not more and names.startswith("-"):
            more["action"] = "store_true"
        group.add_argument(*names.split(","), help=about, **more)


# ---- values
Kind = Callable[[str], Any]  # reads the text of an option


class _Wrong(Exception):
    """The text of an option is wrong; the message has the expected kind."""


def _numbers(expected: str, holds: Callable[..., bool], count: int = 1) -> Kind:
    """Reads a number that satisfies a condition, or several."""

    def read(text: str) -> float | tuple[float, ...]:
        try:
            values = tuple(map(float, text.split(",")))
        except ValueError:
            values = ()
        if len(values) != count or not holds(*values):
            raise _Wrong(expected)
        return values if count > 1 else values[0]

    return read


_positive = _numbers("a positive number", lambda x: 0 < x < math.inf)
_probability = _numbers("a probability above 0 and at most 0.5", lambda x: 0 < x <= 0.5)


def _integer(least: int, most: int, expected: str) -> Kind:
    """Reads an integer from least to most, which may be written like 1e4."""

    def read(text: str) -> int:
        value = int(text) if re.fullmatch(r"\d+", text) else _numbers(expected, math.isfinite)(text)
        if not least <= value <= most or value != int(value):
            raise _Wrong(expected)
        return int(value)

    return read


_index = _integer(0, 2**31 - 1, "the index of an output (-o names the file of results)")
_count = _integer(1, 2**53, "an integer of at least 1")


def _list_of(kind: Kind) -> Kind:
    def read(text: str) -> tuple[object, ...]:
        try:
            values = tuple(map(kind, text.split(",")))
        except _Wrong as wrong:
            raise _Wrong(f"{wrong}, or several separated by commas") from None
        if len(set(values)) < len(values):
            raise _Wrong("a list of different numbers")
        return values

    return read


def _tolerance(text: str) -> Any:
    """Reads a positive number, or a percentage, which Question reads."""
    if not text.endswith("%"):
        return _positive(text)
    from ..questions import percentage  # which needs NumPy

    try:
        percentage(text)
    except ValueError:
        raise _Wrong("a positive number, or a percentage like 10%") from None
    return text


def _names_apart(text: str) -> tuple[tuple[str, ...], str]:
    """The names of tolerances like tight=1,loose=5, none if no "=" is there, and the text without
    them. Refuses what may be a name or a tolerance."""
    if "=" not in text:
        return (), text
    parts = [re.fullmatch(r"([^\W\d_][^=]*)=([^=]*)", part) for part in text.split(",")]
    names = tuple(part[1].strip() for part in parts if part)
    if len(set(names)) < len(parts):
        raise _Wrong(
            "a name before each number, like tight=1,loose=5, or before none; names differ, and "
            "begin with a letter"
        )
    return names, ",".join(part[2] for part in parts if part)


def _tensor(text: str) -> str:
    with contextlib.suppress(ValueError):
        float(text)
        raise _Wrong("the name of an output of an .onnx file")
    return text


def _output(text: str) -> object:
    try:
        return _tensor(text)
    except _Wrong:
        return _index(text)


def _columns(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,9}):(\d{1,9})", text)
    if not found or int(found[1]) >= int(found[2]):
        raise _Wrong("a range of columns like 3:6, which are the columns 3, 4 and 5")
    return int(found[1]), int(found[2])


def _rows(text: str) -> tuple[int, int | None]:
    found = re.fullmatch(r"(\d*):(\d*)", text)
    if not found:
        raise _Wrong("a range of rows like 0:100, :100 or 100:")
    first, end = int(found[1] or 0), int(found[2]) if found[2] else None
    if end is not None and end <= first:
        raise _Wrong("a range with rows in it")
    return first, end


def _serving(text: str) -> tuple[int, float, bool]:
    count, comma, rest = text.partition(",")
    rate, _, mode = rest.partition(",")
    if not comma or mode not in ("", "pairs"):
        raise _Wrong("a number of samples and a probability, like 101,0.01 or 101,0.01,pairs")
    return _count(count), _probability(rate), mode == "pairs"


def _requirement(text: str) -> tuple[float, float]:
    expected = "a share above 0 and at most 1, or a share and a radius, like 0.95@0.2"
    share, given, radius = text.partition("@")
    least = _numbers(expected, lambda x: 0 <= x < math.inf)(radius) if given else 0.0
    return _numbers(expected, lambda x: 0 < x <= 1)(share), least


def _shape(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"[1-9]\d{0,8}(,[1-9]\d{0,8})*", text):
        raise _Wrong("lengths, like 28,28")
    return tuple(map(int, text.split(",")))


def _units(text: str) -> tuple[float | None, str | None]:
    """The step and the kind of inputs, as Perturbations takes them."""
    if text in ("image", "sound"):
        return None, text
    step = _numbers("image, sound or a positive step", lambda x: 0 < x < math.inf)
    return step(text), None


_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("sigma", "radius", "target", "huber_width", "core"), _positive),
    **dict.fromkeys("bonferroni samples calls batch pilot rounds steps".split(), _count),
    "jobs": _integer(-1, 2**53, "a number of processes; 0, -1: one for each processor"),
    "tolerance": _list_of(_tolerance),
    "alpha": _probability,
    "serve": _serving,
    "trim": _numbers("a share of at least 0 and below 0.5", lambda x: 0 <= x < 0.5),
    "seed": _integer(1, 2**64 - 1, "an integer from 1 to 2^64 - 1; without it one is drawn"),
    "output": _output,
    "columns": _columns,
    "range": _numbers("two numbers, the lower one first, like -1,1", lambda a, b: a < b, 2),
    "rows": _rows,
    "limit": _numbers("a number above 1", lambda x: 1 < x < math.inf),
    "missing": _numbers("a number", math.isfinite),
    "shape": _shape,
    "units": _units,
    "require": _requirement,
}
_several = {"sigma": _list_of(_positive)}
_KINDS_OF: dict[str, dict[str, Kind]] = {  # of options with another meaning in a command
    **dict.fromkeys(("sigma", "scale", "certify", "bounds"), _several),
    "denoise train": {
        "sigma": _numbers(
            "the lowest and the highest noise level, like .1,.7",
            lambda low, high: 0 < low <= high < math.inf,
            2,
        )
    },
    "check": {"output": _tensor, "calls": _integer(19, 2**53, "an integer of at least 19")},
    "info": {"output": _tensor},
    "interval": {"radius": _numbers("a number of at least 0", lambda x: 0 <= x < math.inf)},
}


def converted(given: argparse.Namespace) -> argparse.Namespace:
    """Converts the texts of options in `given`. Defaults stay as they are. Raises Failure for a
    wrong text."""
    kinds = {**_KINDS, **_KINDS_OF.get(given.command, {})}
    given.names = ()  # of tolerances
    if tolerances := getattr(given, "tolerance", None):
        named = [text for text in tolerances if "=" in text]
        if len(named) > 1:
            raise Failure(f"--tolerance is given twice: give --tolerance {','.join(named)}")
        given.tolerance = tolerances[-1]
    for name, text in list(vars(given).items()):
        if name in kinds and isinstance(text, str):
            try:
                value = text
                if name == "tolerance":
                    given.names, value = _names_apart(text)
                setattr(given, name, kinds[name](value))
            except _Wrong as wrong:
                option = "--" + name.replace("_", "-")
                raise Failure(f"{option} is {text!r}; it must be {wrong}") from None
    if given.command in ("certify", "bounds") and len(given.sigma) == 1:
        given.sigma = given.sigma[0]  # a single level has the first noise of its domain
    output = getattr(given, "output", None)
    given.index_given = isinstance(output, int)
    if isinstance(output, str):
        given.tensor = output
    given.output = output if given.index_given else 0
    if getattr(given, "inputs", None) == "-":
        given.inputs = StandardInput("standard input")
        given.inputs.data = sys.stdin.buffer.read()
    return given

"""The commands and options, with the texts of --help and of the manual page. This file imports the
standard library only."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from typing import Any, NoReturn, Sequence

STATISTICS = ("median", "huber", "mean", "circular-mean", "trimmed-mean")
METHODS = ("finite", "anytime", "asymptotic", "paper", "baseline")
CONSTRAINTS = ("c", "cg", "ecm", "ecgm", "by-pilot")

DESCRIPTION = """\
Certifies how far an input of a regression model may be changed before its
smoothed answer moves by more than a tolerance. The smoothed answer is the
median (or another statistic) of the model's outputs when Gaussian noise of
standard deviation sigma is added to the input. A certificate is a prediction
and a radius. It says that the smoothed answer stays within the tolerance of the
prediction for every change of the input whose Euclidean norm is below the
radius, after each feature is divided by its scale. The certificate is false
with probability at most alpha. It says that the answer is stable, not that it
is right."""

EPILOG = """\
models:
  model.onnx           a network or regressor; this needs the package onnxruntime
  file.py:name         a name in a Python file
  package.module:name  a name in a Python module
  The name stands for a function that takes a float32 array (rows, features) and
  returns (rows,) or (rows, outputs); or for an object with .predict; or for a
  function without parameters that makes one of these.

files:
  Inputs, labels and scales are files of numbers: .npy, .npz, .csv (with or
  without a header) or .parquet. A file of inputs has one input in each row.
  Images are arrays of shape (n, c, h, w) in .npy or .npz. Results are written
  to .csv, .json or .parquet. Parquet needs the packages pandas and pyarrow, and
  plots need matplotlib.
  A resume file contains the seed of the noise. An adversary who knows the seed
  can make inputs for which certificates are false, so keep the file secret.

tables of results:
  Each line is about one row, sigma and tolerance. "row" is counted from 0, and
  "question" is the index of the tolerance. "outcome" is certified, abstained
  (nothing is proved) or capped (10 sigma is proved, where the search stops).
  "radius" is in units of the input divided by its scale, and 0 if nothing is
  proved. "estimate" is the smoothed answer as computed from the samples, without
  a guarantee. "output_lo" and "output_hi" are bounds of the smoothed answer.
  "radius_l1", "radius_l2" and "radius_linf" are radii of balls in the units of
  the input. "error" says why a row has no certificate. The other columns are
  the fields of certreg_certificate in certreg.h.

exit status:
  0    done
  1    "check" found something, or some rows have no certificate
  2    wrong usage or input
  3    the model failed
  4    a result or resume file cannot be used
  5    a failure that is none of these, such as too little memory
  130  interrupted by Ctrl-C; 143 by SIGTERM. The rows that are done are written

examples:
  certreg check model.onnx heldout.npy
  certreg sigma model.onnx heldout.npy --sigma .06,.12,.25,.5 --tolerance 10
  certreg certify model.onnx inputs.npy --sigma .25 --tolerance 10 -o radii.csv
  certreg bounds model.onnx inputs.npy --sigma .25 --radius .3 -o bounds.csv
"""


class Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one sentence."""

    def __init__(self, **more: Any) -> None:
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(allow_abbrev=False, formatter_class=formatter, **more)

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"certreg: {message} (see {self.prog} --help)\n")
        raise SystemExit(2)


def parser() -> argparse.ArgumentParser:
    """The parser of `certreg`."""
    top = Parser(prog="certreg", description=DESCRIPTION, epilog=EPILOG)
    top.add_argument("--version", action="store_true", help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="command", parser_class=Parser)
    for add in (_certify, _sigma, _bounds, _check, _info):
        add(commands)
    return top


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options that are given. Raises SystemExit after --help or a mistake."""
    top = parser()
    given = top.parse_args(_joined(arguments))
    if not given.command and not given.version:
        top.error("give a command: certify, sigma, bounds, check or info")
    return given


def _joined(arguments: Sequence[str]) -> list[str]:
    """Joins --range -1,1 to --range=-1,1, because argparse would take -1,1 for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and re.match(r"--[a-z]+$", joined[-1]) and re.match(r"-[\d.i]", argument):
            joined[-1] += "=" + argument
        else:
            joined.append(argument)
    return joined


# ---- commands
def _certify(commands: Any) -> None:
    command = _command(
        commands,
        "certify",
        "certified radii of inputs",
        "Computes for each input how far it may be changed before the smoothed answer leaves the "
        "tolerance around the prediction. Prints a summary. With -o the certificates of all rows "
        "are written to a file.",
        "certreg certify model.onnx inputs.npy --sigma .25 --tolerance 10 -o radii.csv\n"
        "  certreg certify rotation.onnx digits.npy --sigma .35 --tolerance 10 --pair deg \\\n"
        "      --labels angles.npy --jobs 4 --resume digits.sqlite -o digits.parquet\n"
        "  certreg certify price.py:price houses.csv --sigma .5 --tolerance 40 \\\n"
        "      --scale scale.csv --plot radii.svg",
    )
    _asks_for_radii(command, "noise level, in units of the input divided by scale")


def _sigma(commands: Any) -> None:
    command = _command(
        commands,
        "sigma",
        "which noise level to deploy",
        "Certifies held-out inputs at several noise levels, prints the mean radius at each level "
        "and recommends the level with the greatest one. With --labels, only levels are considered "
        "at which the mean error of the predictions is at most 0.1 tolerances above the least. For "
        "each tolerance the certificates of a row at all levels hold together, because alpha is "
        "divided by the number of levels. Deploy the recommended level on other inputs. Do not "
        "choose the best level for each input: no such guarantee would hold. The command certify "
        "never uses the same noise.",
        "certreg sigma model.onnx heldout.npy --sigma .06,.12,.25,.5 --tolerance 10",
    )
    _asks_for_radii(command, "noise levels, separated by commas")


def _asks_for_radii(command: Any, sigma: str) -> None:
    _model_and_inputs(command)
    question = _question(command, sigma)
    _tolerance(question, required=True)
    question.add_argument(
        "--target",
        metavar="R",
        help="radius at which sampling of a row stops, once it is proved or ruled out",
    )
    _outputs(command)
    _sampling(command)
    _results(command)
    _labels_and_plots(command)
    command.set_defaults(radius=None)


def _bounds(commands: Any) -> None:
    command = _command(
        commands,
        "bounds",
        "where the output stays at a given radius",
        "Bounds the smoothed answer for all changes of the input whose norm is below the given "
        "radius. The bounds are output_lo and output_hi in the table, and infinite where nothing "
        "is proved.",
        "certreg bounds model.onnx inputs.npy --sigma .25 --radius .3 -o bounds.csv",
    )
    _model_and_inputs(command)
    question = _question(command, "noise level, in units of the input divided by scale")
    command.set_defaults(target=None, labels=None, plot=None)
    question.add_argument("--radius", required=True, metavar="R", help="norm of the changes")
    _tolerance(question, required=False)
    _outputs(command)
    _sampling(command)
    _results(command)


def _check(commands: Any) -> None:
    command = _command(
        commands,
        "check",
        "whether a model can be certified",
        "Calls the model with some inputs and looks for what makes certificates wrong or "
        "impossible: outputs that depend on other rows of their batch or differ from call to call, "
        "noise that float32 cannot represent, and outputs that are not finite. Prints a line for "
        "each finding. The exit status is 1 if there is one.",
        "certreg check model.onnx inputs.npy --sigma .25",
    )
    _model_and_inputs(command)
    command.add_argument("--sigma", metavar="S", help="noise level at which it will be used")


def _info(commands: Any) -> None:
    command = _command(
        commands,
        "info",
        "versions, modules, and the shape of a model",
        "Prints the versions of the package and the library, processors and instruction set, which "
        "optional modules can be opened (or why not), and the input and output of a model.",
        "certreg info\n  certreg info model.onnx",
    )
    command.add_argument("model", nargs="?", help="an .onnx file")
    _traceback(command)


def _command(commands: Any, name: str, brief: str, description: str, example: str) -> Any:
    epilog = (
        f"example:\n  {example}\n\ncertreg --help explains models, files, tables and exit status."
    )
    filled = textwrap.fill(description, 80)
    return commands.add_parser(name, help=brief, description=filled, epilog=epilog)


# ---- groups of options
def _model_and_inputs(command: Any) -> None:
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
    _traceback(command)


def _traceback(command: Any) -> None:
    command.add_argument(
        "--traceback", action="store_true", help="after an error print the traceback of Python"
    )


def _name(text: str) -> str:
    """A name as it is listed; it may also be written as in Python."""
    return text.lower().replace("_", "-")


def _question(command: Any, what: str) -> Any:
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
        "the gradient). With by-pilot the pilot of each row chooses whether to use the gradient",
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


def _tolerance(group: Any, required: bool) -> None:
    about = (
        "how far the answer may move, in units of the output; several are separated by commas"
        if required
        else "largest deviation that is searched, for angles and for statistics other than median "
        "and mean (default: the whole range, or half a turn)"
    )
    group.add_argument("--tolerance", required=required, metavar="T", help=about)


def _outputs(command: Any) -> None:
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


def _sampling(command: Any) -> None:
    group = command.add_argument_group("sampling")
    group.add_argument(
        "--samples",
        default=1000,
        metavar="N",
        help="samples for each row and sigma (default: %(default)s)",
    )
    group.add_argument("--batch", default=0, metavar="N", help="most rows of one call of the model")
    group.add_argument(
        "--pilot",
        metavar="N",
        help="how many of the samples choose the prediction (default: about 15%%)",
    )
    group.add_argument(
        "--seed",
        metavar="N",
        help="seed of the noise, to repeat a run; an adversary must not know it (default: a secret "
        "one is drawn)",
    )
    group.add_argument(
        "--jobs",
        default=1,
        metavar="N",
        help="number of processes (default: %(default)s)",
    )
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


def _results(command: Any) -> None:
    group = command.add_argument_group("results")
    group.add_argument(
        "-o",
        dest="out",
        metavar="FILE",
        help="write all rows to this .csv, .json or .parquet file; - writes CSV to standard "
        "output, and the summary to standard error",
    )
    group.add_argument(
        "--keep-seed", action="store_true", help="write the seed into the .json file too"
    )
    group.add_argument(
        "-q", "--quiet", action="store_true", help="no progress and no remarks on standard error"
    )


def _labels_and_plots(command: Any) -> None:
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

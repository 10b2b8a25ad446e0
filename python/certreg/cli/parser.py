"""The commands and options, with the texts of --help. This file imports the standard library
only."""

from __future__ import annotations

import argparse
import contextlib
import re
import textwrap
from typing import Any, Callable, NamedTuple, NoReturn, Sequence

from . import options, streams

DESCRIPTION = """\
Certifies how far an input of a regression model may be changed before its
smoothed answer moves by more than a tolerance. The smoothed answer is the
median (or another statistic) of the model's outputs when Gaussian noise of
standard deviation sigma is added to the input. A certificate is a prediction
and a radius: the smoothed answer stays within the tolerance of the prediction
for every change of the input with a Euclidean norm below the radius, after each
feature is divided by its scale. The certificate is false with probability at
most alpha. It proves that the answer is stable, not that it is right."""

EPILOG = """\
models:
  model.onnx           a network or regressor; this needs the package onnxruntime
  model.json           trees of XGBoost (or .ubj); this needs the package xgboost
  model.txt            trees of LightGBM; this needs the package lightgbm
  file.py:name         a name in a Python file
  package.module:name  a name in a Python module
  The name stands for a function that takes a float32 array (rows, features) and
  returns (rows,) or (rows, outputs); or for an object with .predict; or for a
  function without parameters that makes one of these.

files:
  Inputs, labels and scales are files of numbers: .npy, .npz, .csv (with or
  without a header) or .parquet. A file of inputs has one input in each row.
  A model in Python gets a table with texts or dates as a DataFrame. An empty cell of
  a table is missing: the model gets NaN there, and no noise.
  Images are arrays of shape (n, c, h, w) or (n, h, w, c), as the model takes
  them, in .npy or .npz. Results are written to .csv, .json or .parquet. Parquet
  needs the packages pandas and pyarrow, and plots need matplotlib.
  Columns with names (a header, or Parquet) are matched with the names that the
  model has for its features, if both have names; otherwise columns are matched by
  their positions, with a remark.
  A seed file holds the seed of the noise as a line; a resume file contains it, and
  the .json file of --keep-seed. An adversary or a model that knows the seed can make
  certificates false, so these files are for their owner alone: keep them secret.

tables of results:
  Each line is about one row, sigma and tolerance. "row" is counted from 0, and
  "question" is the index of the tolerance. "outcome" is certified, abstained
  (nothing is proved) or capped (the radius is 10 sigma, at which the search stops).
  "radius" is in units of the input divided by its scale, and 0 if nothing is
  proved. "estimate" is the smoothed answer as computed from the samples, without
  a guarantee. "output_lo" and "output_hi" are bounds of the smoothed answer.
  "radius_l1", "radius_l2" and "radius_linf" are radii of balls in the units of
  the input. "error" has the failure of a row without a certificate. "exact" has the
  features without noise, if there are any. "missing" has all other features whose
  cell is empty in the row: the certificate is about inputs without these cells.
  "reason" says why a row abstained. All other columns are the fields of
  certreg_certificate in certreg.h.

exit status:
  0    done
  1    "check" found something, or some rows have no certificate
  2    wrong usage or input
  3    the model failed
  4    a result, resume or seed file cannot be used, or standard output
  5    a failure that is none of these, such as too little memory
  6    the results are written, and fewer rows have the radius of --require
  130  interrupted by Ctrl-C; 143 by SIGTERM. Finished rows are written

examples:
  certreg check model.onnx heldout.npy
  certreg sigma model.onnx heldout.npy --sigma .06,.12,.25,.5 --tolerance 10
  certreg scale model.onnx heldout.npy --sigma .12,.25,.5 --tolerance 10 \\
      -o scale.npy
  certreg certify model.onnx inputs.npy --sigma .25 --tolerance 10 -o radii.csv
  certreg bounds model.onnx inputs.npy --sigma .25 --radius .3 -o bounds.csv
  certreg attack model.onnx inputs.npy --sigma .25 --tolerance 10 --calls 2000
"""

MORE = "certreg --help explains models, files, tables and exit status."
ABSENT: dict[str, object] = {  # values of options that a command lacks
    **dict.fromkeys(
        "radius target labels plot resume model_id seed_file denoise keep_denoiser calibration "
        "truths groups box serve trim core pilot constant columns tensor units require".split()
    ),
    **dict.fromkeys(("keep_records", "keep_seed"), False),
    **{"jobs": 1, "on_crash": "stop", "plot_kind": "radii"},
}


class Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one sentence."""

    def __init__(self, **more: Any) -> None:
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(allow_abbrev=False, formatter_class=formatter, **more)

    def error(self, message: str) -> NoReturn:
        streams.warn(f"{message} (see {self.prog} --help)")
        raise SystemExit(2)

    def print_help(self, file: object = None) -> None:
        streams.print_result(self.format_help())


def parser() -> argparse.ArgumentParser:
    """The parser of `certreg`."""
    top = Parser(prog="certreg", description=DESCRIPTION, epilog=EPILOG)
    top.add_argument("--version", action="store_true", help="print the version and exit")
    top.set_defaults(traceback=False)
    commands = top.add_subparsers(dest="command", metavar="command", parser_class=Parser)
    for name, texts in COMMANDS.items():
        epilog = f"example:\n  {texts.example}\n\n{MORE}"
        filled = textwrap.fill(texts.description, 80)
        command = commands.add_parser(name, help=texts.brief, description=filled, epilog=epilog)
        command.register("type", None, _filled)  # for all options and positions without a type
        command.set_defaults(**ABSENT)
        texts.add(command)
    return top


def _filled(text: str) -> str:
    """The text of an option. An empty one is mostly a variable of the shell that is not set."""
    if not text:
        raise argparse.ArgumentTypeError("the value is empty: give one (is a variable not set?)")
    return text


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options that are given. Raises SystemExit after --help or a mistake."""
    top = parser()
    words = _one_word(arguments)
    if words[:1] in (["denoise -h"], ["denoise --help"]):
        for name in (name for name in COMMANDS if " " in name):
            with contextlib.suppress(SystemExit):
                top.parse_args([name, "--help"])
        raise SystemExit(0)
    given, unknown = top.parse_known_args(_joined(words))
    if unknown:
        top.prog += f" {given.command}" if given.command else ""
        top.error(f"unrecognized arguments: {' '.join(unknown)}")
    if not given.command and not given.version:
        *names, last = COMMANDS
        top.error(f"give a command: {', '.join(names)} or {last}")
    return given


def _one_word(arguments: Sequence[str]) -> list[str]:
    """Joins the two words of a command, because argparse has commands of one word."""
    two = list(arguments[:2])
    return [" ".join(two), *arguments[2:]] if two[:1] == ["denoise"] else list(arguments)


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
Adds = Callable[[options.Group], None]


class Command(NamedTuple):
    """The texts of a command, and the function that adds its options."""

    brief: str
    description: str
    example: str
    add: Adds


COMMANDS: dict[str, Command] = {}


def _command(name: str, brief: str, description: str, example: str) -> Callable[[Adds], Adds]:
    """Registers a command with the decorated function, which adds its options."""

    def register(add: Adds) -> Adds:
        COMMANDS[name] = Command(brief, description, example, add)
        return add

    return register


@_command(
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
def _certify(command: options.Group) -> None:
    _asks_for_radii(command, options.SOME_LEVELS)
    options.alternatives(command)
    options.required(command)


@_command(
    "sigma",
    "which noise level to deploy",
    "Certifies held-out inputs at several noise levels, prints the mean radius at each level "
    "and recommends the level with the greatest one. With --labels, only levels are considered "
    "at which the mean error of the predictions is at most 0.1 tolerances above the least. "
    "A row that failed at some level is left out at all of them. For "
    "each tolerance the certificates of a row at all levels hold together, because alpha is "
    "divided by the number of levels. Deploy the recommended level on other inputs. Do not "
    "choose the best level for each input: no such guarantee would hold. The command certify "
    "never uses the same noise.",
    "certreg sigma model.onnx heldout.npy --sigma .06,.12,.25,.5 --tolerance 10",
)
def _sigma(command: options.Group) -> None:
    _asks_for_radii(command, options.LEVELS)


@_command(
    "scale",
    "which noise level and scale of the features to deploy",
    "Chooses on held-out inputs the noise level and the factors by which the scale of each "
    "feature, or group of features, is multiplied, so that the mean radius is long. The "
    "geometric mean of the factors is 1, so the volume that is certified grows with the "
    "radius. Two thirds of the rows choose; every third row measures the gain. If there is "
    "none, the scale stays as it was. Deploy both on other inputs, as with sigma.",
    "certreg scale model.onnx heldout.npy --scale start.npy --sigma .12,.25,.5 \\\n"
    "      --tolerance 10 -o scale.npy",
)
def _scale(command: options.Group) -> None:
    options.model_and_inputs(command)
    question = options.question(command, options.LEVELS)
    options.tolerance(question, required=True)
    options.outputs(command)
    options.sampling(command)
    options.tuning(command)
    group = command.add_argument_group("results")
    about = "write the scale to this .csv file, with the names of the features, or .npy file"
    options.add(group, {"-o FILE": (about, {"dest": "out"})})
    options.quiet(group)


def _asks_for_radii(command: options.Group, sigma: str) -> None:
    options.model_and_inputs(command)
    question = options.question(command, sigma)
    options.tolerance(question, required=True)
    target = "radius at which sampling of a row stops, once it is proved or ruled out"
    options.add(question, {"--target R": target})
    options.outputs(command)
    options.sampling(command)
    options.denoising(command, sigma == options.LEVELS)
    options.resuming(command)
    options.results(command)
    options.labels_and_plots(command)
    options.units(command)


@_command(
    "bounds",
    "where the output stays at a given radius",
    "Bounds the smoothed answer for all changes of the input whose norm is below the given "
    "radius, or with --box for all changes of each feature by at most a bound of its own. The "
    "bounds are output_lo and output_hi in the table, and infinite where nothing is proved.",
    "certreg bounds model.onnx inputs.npy --sigma .25 --radius .3 -o bounds.csv\n"
    "  certreg bounds price.py:price houses.csv --sigma 1.5 --box errors.csv",
)
def _bounds(command: options.Group) -> None:
    options.model_and_inputs(command)
    question = options.question(command, options.SOME_LEVELS)
    options.reach(question)
    options.tolerance(question, required=False)
    options.outputs(command)
    options.sampling(command)
    options.denoising(command)
    options.resuming(command)
    options.results(command)


@_command(
    "attack",
    "how tight certificates are",
    "Certifies each input, and then looks for a short change that moves the smoothed answer "
    "out of the tolerance, by calls of the model alone. That it does is proved with fresh "
    "noise. In the table, certified_radius is that of the certificate, and broken the norm of "
    "the change that was found, infinite if none was proved. Each of the two is wrong with "
    "probability at most alpha. forecast is where the answer may leave, from the samples of "
    "the certificate alone.",
    "certreg attack model.onnx inputs.npy --sigma .25 --tolerance 40 --calls 2000",
)
def _attack(command: options.Group) -> None:
    options.model_and_inputs(command)
    question = options.question(command, options.ONE_LEVEL)
    options.tolerance(question, required=True)
    options.outputs(command)
    about = "calls of the model in the attack on a row, beyond the samples (default: %(default)s)"
    options.add(options.samples(command), {"--calls N = 2000": about})
    options.denoising(command)
    options.results(command)


@_command(
    "interval",
    "where the true output is, also under attack",
    "Computes for each input an interval that contains the true output with probability at "
    "least 1 - alpha, although an adversary may have moved the input by up to the given "
    "radius. It needs calibration points: inputs with known true outputs, which the model was "
    "not trained on and which are like the inputs. Shuffle sorted data before.",
    "certreg interval model.onnx inputs.npy --calibration heldout.npy --truths truths.npy \\\n"
    "      --sigma .25 --radius .1 --alpha .1 -o intervals.csv",
)
def _interval(command: options.Group) -> None:
    options.model_and_inputs(command)
    options.calibration(command)
    options.outputs(command)
    options.denoising(command)
    group = command.add_argument_group("results")
    options.destination(group)
    options.quiet(group)


@_command(
    "check",
    "whether a model can be certified",
    "Calls the model with some inputs and looks for what makes certificates wrong or "
    "impossible: outputs that depend on other rows of their batch or differ from call to call, "
    "noise that float32 cannot represent, outputs that are not finite, and with --sigma a level "
    "at which no radius is above the rounding of the inputs. Prints a line for each finding. The "
    "exit status is 1 if there is one.",
    "certreg check model.onnx inputs.npy --sigma .25",
)
def _check(command: options.Group) -> None:
    options.model_and_inputs(command)
    options.tensor(command)
    how = {
        "--sigma S": "noise level at which it will be used",
        "--calls N = 300": "calls of the model with one input, in a few batches; at least 19, "
        "fewer for a slow model (default: %(default)s)",
    }
    options.add(command, how)
    options.quiet(command)


@_command(
    "info",
    "versions, modules, and the shape of a model",
    "Prints the versions of the package and the library, processors and instruction set, which "
    "optional modules can be opened (or why not), and the input and output of a model.",
    "certreg info\n  certreg info model.onnx",
)
def _info(command: options.Group) -> None:
    command.add_argument("model", nargs="?", help="an .onnx file (default: none)")
    options.tensor(options.onnx_model(command))
    options.common(command)


@_command(
    "denoise train",
    "a network that takes noise away, for models that were not trained under noise",
    "Trains a network that takes the noise out of noisy inputs, from inputs without labels, "
    "and writes it as an ONNX file. It needs the package torch, and takes minutes. Prints the "
    "error that is left on inputs that were held back, as a share of that of the noise. A run "
    "that was interrupted goes on where it stopped if it is repeated.",
    "certreg denoise train unlabelled.npy --shape 28,28 --sigma .1,.7 -o denoiser.onnx",
)
def _denoise_train(command: options.Group) -> None:
    options.denoiser(command)


@_command(
    "denoise join",
    "a denoiser and a model as one ONNX file",
    "Writes one ONNX file in which a denoiser is in front of a model. Certify and serve this "
    "file as any other model, and measure its error again.",
    "certreg denoise join denoiser.onnx model.onnx -o joined.onnx",
)
def _denoise_join(command: options.Group) -> None:
    command.add_argument("denoiser", help="an .onnx file of certreg denoise train")
    command.add_argument("model", help="an .onnx file")
    options.onnx_file(command)
    options.common(command)

"""The command `certreg`: its subcommands with the texts of --help, and its exit status. The modules
that compute are imported on demand, so that --help is fast and works without NumPy."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
import textwrap
import threading
import traceback
from importlib import import_module
from typing import Any, NamedTuple, NoReturn, Sequence

from ..constants import __version__
from . import options
from .streams import DONE, FILE, INTERRUPTED, MODEL, OTHER, TERMINATED, Failure, described
from .streams import log, model_failed, print_error, print_result, results, warn

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
  them, in .npy or .npz. Results are written to .csv, .json, .jsonl or .parquet, and
  .csv.gz is .csv with gzip, also of inputs. Parquet needs the packages pandas and
  pyarrow, and plots need matplotlib. - as the file of inputs is CSV from standard
  input.
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
  cell is empty in the row, or holds the number that marks a missing value for the
  model: the certificate is about inputs that lack the same cells.
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


class Command(NamedTuple):
    """The texts of a command, and the groups of its options."""

    brief: str
    description: str
    example: str
    groups: Sequence[str]


_FILES = ("/model", "/inputs", "inputs", "/common", "ONNX files", "files of XGBoost")
_MODEL = (*_FILES, "inputs/described")
_SAMPLING = ("output of the model", "sampling", "sampling/processes")
_RADII = ("question", "question/tolerance", "question/target", *_SAMPLING)
_RESULTS = ("long runs", "results", "labels and plots", "units")
COMMANDS = {
    "certify": Command(
        "certified radii of inputs",
        "Computes for each input how far it may be changed before the smoothed answer leaves the "
        "tolerance around the prediction. Prints a summary. With -o the certificates of all rows "
        "are written to a file.",
        "certreg certify model.onnx inputs.npy --sigma .25 --tolerance 10 -o radii.csv\n"
        "  certreg certify rotation.onnx digits.npy --sigma .35 --tolerance 10 --pair deg \\\n"
        "      --labels angles.npy --jobs 4 --resume digits.sqlite -o digits.parquet\n"
        "  certreg certify price.py:price houses.csv --sigma .5 --tolerance 40 \\\n"
        "      --scale scale.csv --plot radii.svg",
        (
            *(*_MODEL, "question/some levels", *_RADII, "denoiser", *_RESULTS, "results/certify"),
            "other changes, which share the samples of a row (experimental)",
            "demands",
        ),
    ),
    "sigma": Command(
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
        (*_MODEL, "question/levels", *_RADII, "denoiser/comparison", *_RESULTS),
    ),
    "scale": Command(
        "which noise level and scale of the features to deploy",
        "Chooses on held-out inputs the noise level and the factors by which the scale of each "
        "feature, or group of features, is multiplied, so that the mean radius is long. The "
        "geometric mean of the factors is 1, so the volume that is certified grows with the "
        "radius. Two thirds of the rows choose; every third row measures the gain. If there is "
        "none, the scale stays as it was. Deploy both on other inputs, as with sigma.",
        "certreg scale model.onnx heldout.npy --scale start.npy --sigma .12,.25,.5 \\\n"
        "      --tolerance 10 -o scale.npy",
        (
            *(*_MODEL, "question/levels", "question", "question/tolerance", *_SAMPLING),
            "tuning",
            "results/scale",
        ),
    ),
    "bounds": Command(
        "where the output stays at a given radius",
        "Bounds the smoothed answer for all changes of the input whose norm is below the given "
        "radius, or with --box for all changes of each feature by at most a bound of its own. The "
        "bounds are output_lo and output_hi in the table, and infinite where nothing is proved.",
        "certreg bounds model.onnx inputs.npy --sigma .25 --radius .3 -o bounds.csv\n"
        "  certreg bounds price.py:price houses.csv --sigma 1.5 --box errors.csv",
        (
            *(*_MODEL, "question/some levels", "question", "question/reach", *_SAMPLING),
            "denoiser",
            "long runs",
            "results",
        ),
    ),
    "attack": Command(
        "how tight certificates are",
        "Certifies each input, and then looks for a short change that moves the smoothed answer "
        "out of the tolerance, by calls of the model alone. That it does is proved with fresh "
        "noise. In the table, certified_radius is that of the certificate, and broken the norm of "
        "the change that was found, infinite if none was proved. Each of the two is wrong with "
        "probability at most alpha. forecast is where the answer may leave, from the samples of "
        "the certificate alone.",
        "certreg attack model.onnx inputs.npy --sigma .25 --tolerance 40 --calls 2000",
        (
            *(*_MODEL, "question/one level", "question", "question/tolerance"),
            *("output of the model", "sampling", "sampling/attack", "denoiser", "results"),
        ),
    ),
    "interval": Command(
        "where the true output is, also under attack",
        "Computes for each input an interval that contains the true output with probability at "
        "least 1 - alpha, although an adversary may have moved the input by up to the given "
        "radius. It needs calibration points: inputs with known true outputs, which the model was "
        "not trained on and which are like the inputs. Shuffle sorted data before.",
        "certreg interval model.onnx inputs.npy --calibration heldout.npy --truths truths.npy \\\n"
        "      --sigma .25 --radius .1 --alpha .1 -o intervals.csv",
        (
            *(*_MODEL, "calibration and coverage", "output of the model", "denoiser"),
            "results/intervals",
        ),
    ),
    "check": Command(
        "whether a model can be certified",
        "Calls the model with some inputs and looks for what makes certificates wrong or "
        "impossible: outputs that depend on other rows of their batch or differ from call to call, "
        "noise that float32 cannot represent, outputs that are not finite, and with --sigma a "
        "level at which no radius is above the rounding of the inputs. Prints a line for each "
        "finding. The exit status is 1 if there is one.",
        "certreg check model.onnx inputs.npy --sigma .25",
        (*_MODEL, "/check"),
    ),
    "inputs": Command(
        "a description of the inputs, for the other commands",
        "Finds order, categories, noise and steps of the features, and the numbers that mark "
        "missing cells, from the model and a file of inputs, such as the rows that the model was "
        "trained with. Other commands take this description as --inputs. Certificates are then "
        "about the same changes, whether a row is alone or among thousands.",
        "certreg inputs model.onnx train.csv --scale std -o inputs.json\n"
        "  certreg certify model.onnx inputs.csv --inputs inputs.json --sigma .25 --tolerance 10",
        (*_FILES, "results/inputs"),
    ),
    "info": Command(
        "versions, modules, and the shape of a model",
        "Prints the versions of the package and the library, processors and instruction set, which "
        "optional modules can be opened (or why not), and the input and output of a model.",
        "certreg info\n  certreg info model.onnx",
        ("/info", "ONNX files", "ONNX files/info", "/common"),
    ),
    "denoise train": Command(
        "a network that takes noise away, for models that were not trained under noise",
        "Trains a network that takes the noise out of noisy inputs, from inputs without labels, "
        "and writes it as an ONNX file. It needs the packages torch and onnx, and takes minutes. "
        "Prints the error that is left on inputs that were held back, as a share of that of the "
        "noise. A run that was interrupted goes on where it stopped if it is repeated.",
        "certreg denoise train unlabelled.npy --shape 28,28 --sigma .1,.7 -o denoiser.onnx",
        ("/inputs", "inputs", "/common", "inputs/training", "training", "results/denoiser"),
    ),
    "denoise join": Command(
        "a denoiser and a model as one ONNX file",
        "Writes one ONNX file in which a denoiser is in front of a model. Certify and serve this "
        "file as any other model, and measure its error again. It needs the package onnx.",
        "certreg denoise join denoiser.onnx model.onnx -o joined.onnx",
        ("/join", "/common"),
    ),
}

_FUNCTIONS = {
    **dict.fromkeys(("certify", "sigma", "bounds"), "run.certify"),
    "scale": "train.scale",
    "attack": "attack.attack",
    "interval": "attack.interval",
    "check": "run.check",
    "inputs": "run.inputs",
    "info": "info.info",
    "denoise train": "train.train",
    "denoise join": "train.join",
}


def _run(given: argparse.Namespace) -> int:
    if given.version:
        print_result(f"certreg {__version__}\n")
        return DONE
    log.begin(given, lambda text: str(_found("report.in_options")(text)))
    return int(_found(_FUNCTIONS[given.command])(options.converted(given)))


def _found(place: str) -> Any:
    module, name = place.split(".")
    return getattr(import_module(f"{__package__}.{module}"), name)


class Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one sentence."""

    def __init__(self, **more: Any) -> None:
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(allow_abbrev=False, formatter_class=formatter, **more)

    def error(self, message: str) -> NoReturn:
        warn(f"{message} (see {self.prog} --help)", event="failure")
        raise SystemExit(2)

    def print_help(self, file: object = None) -> None:
        print_result(self.format_help())


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
        command.set_defaults(**options.ABSENT)
        options.add(command, texts.groups)
    return top


def _filled(text: str) -> str:
    """The text of an option. An empty one is mostly a variable of the shell that is not set."""
    if not text:
        raise argparse.ArgumentTypeError("the value is empty: give one (is a variable not set?)")
    return text


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options that are given. Raises SystemExit after --help or a mistake."""
    top = parser()
    words = list(arguments)
    log.as_json = "--log=json" in words or ("--log", "json") in zip(words, words[1:])
    if words[:1] == ["denoise"]:  # argparse has commands of one word
        words[:2] = [" ".join(words[:2])]
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


def _joined(arguments: Sequence[str]) -> list[str]:
    """Joins --range -1,1 to --range=-1,1, because argparse would take -1,1 for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and re.match(r"--[a-z]+$", joined[-1]) and re.match(r"-[\d.i]", argument):
            joined[-1] += "=" + argument
        else:
            joined.append(argument)
    return joined


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command, and returns the exit status."""
    given: argparse.Namespace | None = None
    with _Signals() as signals, log, results:
        if argv is None:
            results.of_program()
        try:
            given = parsed(sys.argv[1:] if argv is None else argv)
            return _run(given)
        except BrokenPipeError:
            return FILE
        except KeyboardInterrupt:
            warn("interrupted")
            return signals.status
        except SystemExit as end:
            if given is None:  # after --help, or a mistake in the options
                return int(end.code or 0)
            _explain(model_failed(end), given)
            return MODEL
        except Exception as error:
            _explain(error, given)
            if isinstance(error, Failure):
                return signals.status if error.status == INTERRUPTED else error.status
            return FILE if isinstance(error, OSError) else OTHER


def _explain(error: Exception, given: argparse.Namespace | None) -> None:
    if given is not None and given.traceback:
        with contextlib.suppress(Failure, OSError):
            lines = traceback.format_exception(type(error), error, error.__traceback__)
            print_error("".join(lines))
    text = str(error) if isinstance(error, Failure) else described(error)
    warn(text, event="failure")


class _Signals:
    """SIGTERM interrupts a command as Ctrl-C does, which is delayed while the library computes. If
    Ctrl-C is ignored, as in background jobs of a shell, it stays ignored."""

    def __init__(self) -> None:
        self.status = INTERRUPTED
        self.ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        self.before: dict[int, Any] = {}  # handlers

    def __enter__(self) -> "_Signals":
        if threading.current_thread() is threading.main_thread():
            for number, handler in (
                (signal.SIGTERM, self._terminate),
                (signal.SIGINT, self._interrupt),
            ):
                self.before[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _terminate(self, *_: object) -> None:
        self.status = TERMINATED
        os.kill(os.getpid(), signal.SIGINT)

    def _interrupt(self, *_: object) -> None:
        if not self.ignored or self.status == TERMINATED:
            raise KeyboardInterrupt

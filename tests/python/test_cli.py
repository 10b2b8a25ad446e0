"""The options of the command line, and its help."""

import argparse
import math
import re
import shlex
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from kit import ASKED, CERTIFY, command_refused, needs_sources, parametrize, root, run
from certreg import Method, Statistic
from certreg.cli import main as described, options
from certreg.cli.streams import Failure
from certreg.cli.loading import Model
from certreg.cli.options import converted

TOP = described.parser()
(COMMANDS,) = (a.choices for a in TOP._actions if isinstance(a, argparse._SubParsersAction))
every_parser = parametrize("parser", TOP, *COMMANDS.values(), ids=lambda parser: parser.prog)


@parametrize(
    "words, name, value",
    ("--serve 101,.01", "serve", (101, 0.01, False)),
    ("--serve 101,.01,pairs", "serve", (101, 0.01, True)),
    ("--trim .49", "trim", 0.49),
    ("--core .1", "core", 0.1),
    ("--pilot 30", "pilot", 30),
    ("--range -1,2", "range", (-1, 2)),
    ("--range -inf,inf", "range", (-math.inf, math.inf)),
    ("--rows :9", "rows", (0, 9)),
    ("--rows 3:", "rows", (3, None)),
    ("--pair", "pair", "deg"),
    ("--samples 1e4", "samples", 10000),
    (f"--seed {2**64 - 1}", "seed", 2**64 - 1),
    ("--tolerance 1,2", "tolerance", (1, 2)),
    ("--tolerance 10%,2", "tolerance", ("10%", 2)),
    ("", "alpha", 0.05),
    ("--statistic TRIMMED_MEAN", "statistic", "trimmed-mean"),  # as in Python
    ("--method Baseline", "method", "baseline"),
    ("--constraints ECGM", "constraints", "ecgm"),
    ("--constraints (E,C,G)+M", "constraints", "ecgm"),
)
def test_texts_become_values(words, name, value):
    given = converted(described.parsed(["certify", "m:f", "x", *ASKED, *words.split()]))
    assert getattr(given, name) == value


@parametrize(
    "names, members",
    ((*options.STATISTICS, "ball-center", "projection-median"), Statistic),  # of vectors
    (options.METHODS, Method),
)
def test_names_are_those_of_the_library(names, members):
    assert {name.replace("-", "_").upper() for name in names} == set(members.__members__)


@every_parser
def test_examples_of_help_are_commands(parser):
    epilog = parser.epilog.replace("\\\n", "")
    examples = re.findall(r"^  (certreg (?!--help).*)$", epilog, re.MULTILINE)
    assert examples
    for example in examples:
        converted(described.parsed(shlex.split(example)[1:]))


@needs_sources
def test_the_parser_needs_the_standard_library_only():
    code = (  # in empty packages, since the __init__ of both needs NumPy
        "import sys, types\n"
        "for name in 'certreg', 'certreg.cli':\n"
        "    package = sys.modules[name] = types.ModuleType(name)\n"
        "    package.__path__ = [sys.argv[1] + '/' + name.replace('.', '/')]\n"
        "from certreg.cli.main import parser\n"
        "assert 'exit status' in parser().format_help() and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-ISc", code, root / "python"], check=True)


@parametrize("command", *COMMANDS, "denoise")
def test_help(command):
    status, out, err = run(command, "--help")
    assert (status, err) == (0, "")
    assert "example" in out


def test_version_and_words_that_are_no_command():
    assert re.fullmatch(r"certreg \d+\.\d+\.\d+(\.dev0)?\n", run("--version")[1])
    assert run("nonsense")[0] == run()[0] == 2


def test_words_that_are_no_option_name_the_help_of_their_command(models):
    for words, where in ((CERTIFY, "certreg certify"), (("info",), "certreg info")):
        command_refused(2, rf": --epsilon \(see {where} --help\)", *words, "--epsilon")
    command_refused(2, r": --epsilon \(see certreg --help\)", "--version", "--epsilon")


@parametrize(
    "taken, given, fitted",
    *(((1, 4, 5), given, (1, 4, 5)) for given in ((1, 4, 5), (20,), (4, 5), (4, 5, 1))),
    *(((1, 4, 5), given, None) for given in ((5, 4), (1, 5, 4), (2, 10))),
    ((20,), (4, 5), (20,)),
)
def test_images_of_another_layout(models, taken, given, fitted):
    options = dict.fromkeys(("constant", "columns", "tensor"))
    taking = Model(SimpleNamespace(model="models.py:product", **options))
    taking.shape = taken
    if fitted:
        assert taking.fitted(np.ones((2, *given)), "x").shape == (2, *fitted)
    else:
        with pytest.raises(Failure, match=r"takes inputs of shape \(1, 4, 5\)$"):
            taking.fitted(np.ones((2, *given)), "x")


def test_one_image_is_told_which_shape_a_file_has(models):
    options = dict.fromkeys(("constant", "columns", "tensor"))
    taking = Model(SimpleNamespace(model="models.py:product", **options))
    taking.shape = (3, 4, 5)
    with pytest.raises(Failure, match=r"; a file of one input has the shape \(1, 3, 4, 5\)$"):
        taking.fitted(np.ones((3, 4, 5)), "x")

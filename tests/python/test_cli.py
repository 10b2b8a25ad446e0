"""The options of the command line and its help, and what commands refuse before the work begins, by
one sentence and an exit status."""

import argparse
import math
import os
import re
import shlex
import subprocess
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from kit import ASKED, CERTIFY, OWN_CALLS, PRODUCT, X, certify_refused, command_refused
from kit import environment, parametrize, read, run, write
from certreg import Method, ResumeError, Statistic
from certreg.cli import main as described, options
from certreg.cli.files import seed_in
from certreg.cli.loading import Model
from certreg.cli.options import converted
from certreg.cli.streams import Failure
from certreg.store import ResumeFile

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
    ("--tolerance tight=10%,loose=2", "tolerance", ("10%", 2)),
    ("--tolerance tight=10%,loose=2", "names", ("tight", "loose")),
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


@parametrize("words", "--help", "--version", "certify --help", "info")
def test_what_computes_nothing_needs_no_numpy(words):
    """Nor does info load cuBLAS, of 0.2 GB, without a driver."""
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from certreg.cli.main import main\n"
        "assert main(sys.argv[1].split()) == 0\n"
        "loaded = open('/proc/self/maps').read()\n"
        "assert 'libcuda.so' in loaded or 'libcublas' not in loaded"
    )
    subprocess.run([sys.executable, "-c", code, words], check=True, env=environment())


def test_help_version_and_words_that_are_no_command():
    for command in ("certify", "denoise"):
        status, out, err = run(command, "--help")
        assert (status, err) == (0, "") and "example" in out
    assert re.fullmatch(r"certreg \d+\.\d+\.\d+(\.dev0)?\n", run("--version")[1])
    assert run("nonsense")[0] == run()[0] == 2


def test_words_that_are_no_option_name_the_help_of_their_command(models):
    for words, where in ((CERTIFY, "certreg certify"), (("info",), "certreg info")):
        command_refused(2, rf": --epsilon \(see {where} --help\)", *words, "--epsilon")
    command_refused(2, r": --epsilon \(see certreg --help\)", "--version", "--epsilon")


IMAGE = (1, 4, 5)
OTHER_LAYOUT = r"takes inputs of shape \(1, 4, 5\)$"
ONE_IMAGE = r"; a file of one input has the shape \(1, 3, 4, 5\)$"


@parametrize(
    "taken, given, fitted",  # the shapes of the model and of the file; of the inputs, or a sentence
    *((IMAGE, (2, *given), (2, *IMAGE)) for given in (IMAGE, (20,), (4, 5), (4, 5, 1))),
    *((IMAGE, (2, *given), OTHER_LAYOUT) for given in ((5, 4), (1, 5, 4), (2, 10))),
    ((20,), (2, 4, 5), (2, 20)),
    ((3, 4, 5), (3, 4, 5), ONE_IMAGE),
    ((3, 4, 5), (2, 4, 5, 3), r"\(3, 4, 5\); X.transpose\(0, 3, 1, 2\) puts the channels first$"),
)
def test_images_of_another_layout(models, taken, given, fitted):
    options = dict.fromkeys(("constant", "columns", "tensor"))
    taking = Model(SimpleNamespace(model="models.py:product", **options))
    taking.shape = taken
    if isinstance(fitted, tuple):
        assert taking.fitted(np.ones(given), "x").shape == fitted
    else:
        with pytest.raises(Failure, match=fitted):
            taking.fitted(np.ones(given), "x")


# ---- what is refused
MORE_MODELS = """
def linear(x): return x @ [4, 2, 1]
"""
FILES = {
    "broken.py": "1 / 0",
    "json.py": "f = 1",
    "ends.py": "raise SystemExit(0)",
    "damaged.npy": "not an array",
    "damaged.npz": "not arrays",
    "word.csv": "b\n2\nx\n",
    "bare.csv": "1,flat\n2,house\n",
    "short.csv": "1,2\n3\n",
    "empty.csv": "a,b\n",
    "index.csv": ",a,b,c\n0,1,2,3\n",
    "numbered.csv": "0,1,2\n1,2,3\n",
    "damaged.sqlite": "no database" * 100,
}
RNG = np.random.default_rng(6)
ARRAYS = {
    "inf.npy": np.where(np.arange(18).reshape(6, 3) == 13, np.inf, X[:6]),
    "nan.npy": np.where(np.arange(18).reshape(6, 3, 1) == 13, np.nan, X[:6, :, None]),
    "line.npy": X[0],
    "text.npy": np.array([["a"]]),
    "objects.npy": np.array([[None]]),
    "none_of_them.npy": X[:0],
    "five.npy": np.ones(5),
    "seven.npy": np.ones(7),
    "labels.npy": np.array([1, 2, 3, 4, 5, np.nan]),
    "held.npy": RNG.normal(size=(24, 3)),
    "truths.npy": RNG.normal(size=24),
    "y.npy": np.ones(6),
}


@pytest.fixture
def files(models):
    write("models.py", MORE_MODELS, "a")
    for name, text in FILES.items():
        write(name, text)
    for name, array in ARRAYS.items():
        np.save(name, array)
    np.savez("two.npz", a=X, b=X)
    np.savetxt("x.csv", X)
    os.mkdir("folder.csv")


MEAN = "--statistic mean --range -9,9"
AS_COMMAND = [  # the model, the inputs, or more words; the sentence; the exit status if it is not 2
    ("none.onnx", "there is no file none.onnx"),
    ("none.py:f", "there is no file none.py"),
    ("models.py", r"give model.onnx, file.py:name \(which may load a pickle\)"),
    ("models.py:none", "nothing named none"),
    ("models.py:number", "models.py:number is int"),
    ("no.such.module:f", "cannot be imported"),
    ("damaged.npy:f", "damaged.npy cannot .* it is no Python file; file.py:name may load it"),
    ("broken.py:f", "broken.py cannot be imported: ZeroDivision"),
    ("json.py:f", "name of another module, json"),
    ("ends.py:f", "ends.py cannot be imported: SystemExit: 0"),
    ("models.py:fails", "row 0: ValueError: first line second line", 3),
    ("models.py:text", "must return numbers", 3),
    ("none.npy", "cannot be read: No such file"),
    ("x.txt", r"must end with one of \.npy"),
    ("damaged.npy", "damaged"),
    ("damaged.npz", "damaged"),
    ("objects.npy", "not an .npy file of numbers"),
    ("text.npy", "must hold numbers"),
    ("line.npy", r"shape \(3,\)"),
    ("none_of_them.npy", "none_of_them.npy has no rows"),
    ("inf.npy", "infinite or too.* in row 4"),
    ("nan.npy", "NaN, infinite or too.* in row 4"),
    ("two.npz", "arrays a, b; choose one with --array"),
    ("word.csv", "'x' in line 3, column 'b'"),
    ("bare.csv", "a table with texts needs a header"),
    ("short.csv", "2 columns in line 1, but 1 in line 2"),
    ("empty.csv", "has no rows"),
    ("index.csv", "column without a name"),
    ("numbered.csv", "may be a header or an input"),
    ("--array a", "only one"),
    ("--labels five.npy", "label for each of the 6 inputs"),
    ("--labels seven.npy", "first line of numbers is no header"),
    ("--labels labels.npy", "a label that is NaN"),
    ("--scale five.npy", "five.npy has 5 numbers; without std: before it .* 3 features"),
    ("--scale -1", "at least 0"),
    ("--scale 0", "not all of them 0"),
    *((f"--scale {s}", f"'{s}'; it must be a number, std, iqr") for s in ("none.npy", "iqrr")),
    ("--rows 4:7", "x.npy, which has 6 rows"),
    ("--rows 4:4", "with rows in it"),
    ("--rows 4", "range of rows"),
    *((f"--sigma {s}", "--sigma is .*a positive number") for s in ("0", "-1", "nan", "x")),
    *((f"--tolerance {t}", "positive number") for t in ("0", "-1", "inf", "1,")),
    ("--tolerance 1,1", "different"),
    ("--tolerance 20,000", "number, or several separated by commas"),
    *((f"--tolerance {t}", "name before each") for t in "a=1,2 1,a=2 =1 1=2 10%=1 a=b=1".split()),
    ("--tolerance a=1,a=2", "names differ"),
    *((f"--tolerance {t}", "percentage like 10%") for t in ("0%", "-1%", "x%", "1e3%")),
    ("--tolerance 10% --target .1", "percentage of --tolerance is 0.1; give .* as a number"),
    ("--tolerance a=1 --tolerance b=2", "twice: give --tolerance a=1,b=2"),
    ("--units image", "the inputs are from -.*: give --units STEP"),
    ("--statistic mode", "'mode'.*'median'"),
    ("--statistic huber", "--huber-width is 0"),
    ("--statistic mean", "declare --range"),
    ("--method paper", "--method paper certifies .*: give --statistic mean .and --range [^']*$"),
    ("--constraints all", "'all'.*'ecgm'"),
    ("--samples 0", "at least 1"),
    ("--samples 1.5", "an integer"),
    ("--seed 0", "from 1 to .*; without it one is drawn"),
    ("--serve 101", "like 101,0.01"),
    ("--serve 101,.01,alone", "like 101,0.01"),
    ("--statistic trimmed-mean", "use --method baseline"),
    ("--statistic ball-center", "invalid choice: 'ball-center'"),
    ("--pilot 200", "--pilot must be below --samples"),
    ("--trim 0.1", "need --serve"),
    ("--range 1,-1", "lower one first"),
    ("--output r.csv", "-o names the file"),
    ("--output 1", "returns 1 column"),
    ("--pair", "returns 1 column"),
    ("--plot p.svg --plot-kind accuracy", "--plot-kind accuracy needs --labels"),
    ("--plot p.svg --plot-kind error", "--plot-kind error needs --labels"),
    ("--jobs -2", "a number of processes; 0, -1: one for each"),
    ("--angle deg --range 0,1", "--range cannot be combined"),
    ("--keep-records", "needs --resume"),
    (f"--target .2 --method paper {MEAN}", "for a target use"),
    ("--keep-seed -o r.csv", "FILE.json"),
    # files; no model is called, as this one would fail
    ("models.py:fails -o none/r.csv", "none/r.csv cannot be written: No such file", 4),
    ("models.py:fails -o x.npy/r.csv", "Not a directory", 4),
    ("models.py:fails -o folder.csv", "not a regular file", 4),
    ("models.py:fails -o r.xls", r"r.xls must end with one of \.csv"),
    ("--plot p.gif", r"must end with one of \.svg"),
    ("x.csv -o ./x.csv", "-o ./x.csv names another file, that of the inputs: give"),
    ("-o r.csv --allowances ./r.csv", "--allowances ./r.csv names another file, that of -o"),
    ("--resume damaged.sqlite", "damaged", 4),
    ("--resume none/r.sqlite", "no folder none", 4),
    # what the library refuses, with the names of options
    ("--bonferroni 1e12", re.escape("--alpha divided by bonferroni is 5e-14; it")),
    ("--angle deg --tolerance 200",
     re.escape("it must be below half a turn (pi in radians, 180 in degrees)")),
    ("--serve 1e10,.1", re.escape("--serve is 1e+10; it must not exceed 1e9")),
    ("--statistic mean --method asymptotic --serve 9,.1",
     "--serve with --statistic mean needs the range of the output; declare --range"),
    ("--seed-file seed", "not allowed with argument --seed"),
    ("--sigma .1,.25 --denoise x.npy", "--sigma must be one number with --denoise"),
]


@parametrize("words, sentence, status", *((*row, 2)[:3] for row in AS_COMMAND))
def test_certify_refuses(files, words, sentence, status):
    first, *more = words.split()
    named = {}
    if not first.startswith("-"):
        place = "x" if first.endswith((".npy", ".npz", ".csv", ".txt")) else "model"
        named, words = {place: first}, " ".join(more)
    certify_refused(sentence, *words.split(), status=status, **named)


@parametrize("name", *COMMANDS)
def test_no_option_takes_an_empty_value(models, name):
    """As of a variable of the shell that is not set."""
    for action in (one for one in COMMANDS[name]._actions if one.nargs != 0):
        for words in [[option, ""] for option in action.option_strings] or [[""]]:
            command_refused(2, "value is empty: give one|invalid choice: ''", *name.split(), *words)


BOUNDS = "bounds models.py:product x.npy --sigma .25 --radius .2"
ATTACK = " ".join(("attack", *PRODUCT, *ASKED))
INTERVAL = (
    "interval models.py:product held.npy --calibration held.npy --truths truths.npy --sigma .3 "
    "--radius .1 --alpha .2 --samples 31 --seed 3"
)
SCALE = "held.npy --sigma .1,.2,.4 --tolerance 1 --samples 200 --seed 3"
TUNE = f"scale models.py:linear {SCALE}"


@parametrize(
    "command, more, sentence",
    (BOUNDS, "--method anytime", "--tolerance is 0; give the largest"),
    (BOUNDS, f"--method paper {MEAN}", "for output bounds use"),
    (ATTACK, "--method baseline", "for an attack use"),
    (ATTACK, "--serve 101,.01", "--serve"),
    (ATTACK, "--calls 0", "--calls"),
    (ATTACK, "--calls 50", "--calls is 50; an attack at alpha 0.05 takes at least 124"),
    (ATTACK, "--tolerance 1,2", "one"),
    (ATTACK, "--tolerance a=1", "names in certify, sigma and bounds alone"),
    (ATTACK, "--samples 1", "no pilot to choose the prediction: set --pilot, or take"),
    (INTERVAL, "--radius -1", "radius is '-1'; it must be a number of at least 0"),
    (INTERVAL, "--sigma 0", "sigma is '0'"),
    (INTERVAL, "--truths five.npy", "for each of the 24 inputs"),
    (INTERVAL, "--labels five.npy", "for each of the 24 inputs"),
    (INTERVAL, "--calibration nowhere.npy", "there is no file|cannot be read"),
    (INTERVAL, "--output 1", "returns 1 column"),
    (INTERVAL, "--range 0,1 --angle deg", "--range cannot be combined"),
    (TUNE, "--tolerance 1,2", "--tolerance must be one number"),
    (TUNE, "-o scale.txt", r"must end with one of \.npy"),
    (TUNE, "-o held.npy", "names another file"),
    (TUNE, "--groups steps.npy", "the group of each of the 3"),
    (TUNE, "--limit 1", "limit is '1'; it must be a number above 1"),
    (TUNE, "--rounds 0", "rounds is '0'; it must be an integer"),
    (TUNE, "--rows :2", "2 rows; give at least 12"),
    (TUNE, "--output 1", "returns 1 column"),
    ("check m x", "--calls 18", "at least 19"),
)
def test_other_commands_refuse(files, command, more, sentence):
    before = sorted(os.listdir())
    command_refused(2, sentence, *command.split(), *more.split())
    assert sorted(name for name in os.listdir() if name != "__pycache__") == before


NOISE = "--sigma .25 --tolerance .5"
POINTS = "--calibration x.npy --truths y.npy --sigma .3 --radius .1"
CALLING = (
    "check {}",
    f"certify {{}} {NOISE}",
    "bounds {} --sigma .25 --radius .2",
    f"sigma {{}} {NOISE}",
    f"scale {{}} {NOISE}",
    f"attack {{}} {NOISE} --calls 500",
    f"interval {{}} {POINTS}",
)


@parametrize(
    "command, model, said",
    *((command, "fails", "ValueError: first line") for command in CALLING[1:]),
    *((command, "leaves", "SystemExit: 0") for command in CALLING),
    *((command, "makes_none", "SystemExit: 0") for command in CALLING),
    (f"{CALLING[1]} --jobs 2", "leaves", "SystemExit: 0"),
)
def test_models_that_fail_or_end_the_program(files, command, model, said):
    """A command ends with its own status and says why."""
    words = command.format(f"models.py:{model} x.npy").split()
    command_refused(3, f"the model failed.*: {said}", *words)


def test_rows_before_a_resume_file_cannot_be_written_are_kept(models):
    add, full = ResumeFile.add, ResumeError("r.sqlite cannot be written (disk is full)")

    def adds(file, chunk):
        if chunk.rows[0]:
            raise full
        add(file, chunk)

    kept = r"disk is full\); 1 of 6 rows are done and in r.csv and r.sqlite; repeat the command"
    with mock.patch.object(ResumeFile, "add", adds):
        command_refused(4, kept, *CERTIFY, *OWN_CALLS, "-o", "r.csv", "--resume", "r.sqlite")
    assert len(read("r.csv")) == 1
    command_refused(4, "there is no folder nowhere$", *CERTIFY, "--resume", "nowhere/r.sqlite")


def test_resume_files_of_something_else(models):
    assert run(*CERTIFY, "--resume", "r")[0] == 0
    late = dict(model="models.py:fails_late", status=4)
    certify_refused("arguments .model_id=", "--resume", "r", **late)
    certify_refused(r"arguments \(seed\)", "--resume", "r", "--seed", 8, status=4)
    other = "other questions and without --keep-records"
    certify_refused(other, "--resume", "r", "--tolerance", 2, status=4)


# ---- files of seeds
SEEDED = ("certify", *PRODUCT, "--sigma", ".25", "--tolerance", ".5", "--seed-file")


@parametrize("text", "", "12", "0\n", "-1\n", "1e3\n", "18446744073709551616\n", "1\n2\n", "٣\n")
def test_files_without_a_seed(models, text):
    write("seed", text)
    said = "--seed-file seed holds no seed; it must be one line, with its end: an integer"
    command_refused(4, said, *SEEDED, "seed")


def test_the_greatest_seed_and_files_that_hold_none(models):
    write("seed", f"{2**64 - 1}\n")
    assert seed_in("seed") == 2**64 - 1
    missing = "--seed-file none/seed can neither be read nor made: No such file"
    command_refused(4, missing, *SEEDED, "none/seed")
    command_refused(2, "names another file", *SEEDED, "r.csv", "-o", "r.csv")

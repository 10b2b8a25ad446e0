"""A job array on one machine, and tables of parts as one."""

import os
import subprocess
import sys

import kit
import pytest
from kit import CERTIFY, command_refused, parametrize, said, table_of

SCRIPT = kit.pathlib.Path(__file__).parents[2] / "examples/cluster/certify.slurm"
ASK = ("models.py:product", "x.npy", "6", "parts", "--sigma=.25", "--tolerance=.5", "--samples=200")
pytestmark = pytest.mark.usefixtures("models")


def test_a_job_array_gives_the_table_of_one_run(folder):
    kit.write("certreg", f'#!/bin/sh\nexec {sys.executable} -m certreg "$@"\n')
    os.chmod("certreg", 0o755)
    os.mkdir("parts")
    kit.write("parts/seed", "7\n")
    for task in (5, 6, 7, 7, 8):  # Slurm starts one of them twice
        array = f"SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_ID={task}"
        words = ["env", f"PATH={folder}:{os.environ['PATH']}", *array.split(), str(SCRIPT), *ASK]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    parts = sorted(map(str, kit.pathlib.Path("parts").glob("*.csv")))
    said("merge", *parts, "--count", 6, "-o", "all.csv")
    table_of(*CERTIFY)
    assert kit.pathlib.Path("all.csv").read_text() == kit.pathlib.Path("r.csv").read_text()


@pytest.fixture
def parts():
    for first in (0, 2, 4):
        table_of(*CERTIFY, "--rows", f"{first}:{first + 2}")
        os.rename("r.csv", f"{first}.csv")
    return ["0.csv", "2.csv", "4.csv"]


@parametrize(
    "change, sentence",
    (lambda parts: parts[:2] + ["--count", "6"], "2 of 6 rows are missing, the first is row 4"),
    (lambda parts: parts[1:], "2 of 6 rows are missing, the first is row 0"),
    (lambda parts: parts + ["4.csv"], "row 4 is in 4.csv and in 4.csv"),
    (lambda parts: parts + ["--count", "5"], "there is a row 5, but --count is 5"),
    (lambda parts: parts + ["x.npy"], "x.npy is no table of certreg"),
    (lambda parts: parts + ["models.py"], "models.py is no table of certreg"),
    (lambda parts: parts + ["none.csv"], "none.csv cannot be read"),
)
def test_what_is_no_whole_is_refused(parts, change, sentence):
    command_refused(2, sentence, "merge", *change(parts), "-o", "all.csv")
    assert not os.path.exists("all.csv")


@parametrize(
    "other, sentence",
    (("--tolerance", ".4"), "row 2 of r.csv has tolerance 0.4, and other rows 0.5"),
    (("--alpha", ".01"), "row 2 of r.csv has alpha 0.01, and other rows 0.05"),
    (("--tolerance", ".5,.6"), "row 0 has answers to 1 questions, and others to 2"),
)
def test_parts_of_different_runs_are_refused(parts, other, sentence):
    table_of(*CERTIFY, "--rows", "2:4", *other)
    command_refused(2, sentence, "merge", "0.csv", "r.csv", "4.csv", "-o", "all.csv")


def test_a_part_that_broke_off_is_refused(parts):
    text = kit.pathlib.Path("2.csv").read_text()
    kit.write("2.csv", text[:-200])
    command_refused(4, "2.csv is damaged in line 3", "merge", *parts, "-o", "all.csv")


def test_an_empty_part_is_no_table(parts):
    open("empty.csv", "w").close()
    sentence = "empty.csv is no table of certreg: its first column is not named row"
    command_refused(2, sentence, "merge", parts[0], "empty.csv", "-o", "all.csv")

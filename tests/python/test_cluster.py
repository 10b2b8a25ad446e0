"""A job array on one machine: a file of each task in one folder, read as a whole."""

import os
import subprocess
import sys

import kit
import pytest
from kit import CERTIFY, parametrize, table_of

SCRIPT = kit.pathlib.Path(__file__).parents[2] / "examples/cluster/certify.slurm"
ASK = ("models.py:product", "x.npy", "6", "parts", "--sigma=.25", "--tolerance=.5", "--samples=200")
WHOLE = (*CERTIFY, "--resume", "parts", "--quiet")
pytestmark = pytest.mark.usefixtures("models")


@pytest.fixture
def task(folder):
    """A task of the array, as Slurm starts it."""
    kit.write("certreg", f'#!/bin/sh\nexec {sys.executable} -m certreg "$@"\n')
    os.chmod("certreg", 0o755)
    os.mkdir("parts")
    kit.write("parts/seed", "7\n")

    def start(number, *more):
        array = f"SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_ID={number}"
        words = ["env", f"PATH={folder}:{os.environ['PATH']}", *array.split(), str(SCRIPT)]
        return subprocess.Popen([*words, *ASK, *more], stdout=subprocess.DEVNULL)

    return start


@parametrize("tasks", (5, 6, 7, 7, 8), (8, 5, 7))  # one is repeated, or missing: the rows are done
def test_a_job_array_gives_the_table_of_one_run(task, tasks):
    assert [process.wait() for process in map(task, tasks)] == [0] * len(tasks)
    files = sorted(name for name in os.listdir("parts") if name != "seed")
    assert files == [f"{number - 5}.sqlite" for number in sorted({*tasks})]
    assert table_of(*WHOLE) == table_of(*CERTIFY)


@parametrize(
    "more, sentence",
    (("--samples=100",), "has another samples than parts/0.sqlite"),
    (("--tolerance=.4",), "parts/2.sqlite was made with other questions"),
    (("--seed-file=other",), "has another seed than parts/0.sqlite"),
)
def test_parts_of_different_runs_are_refused(task, more, sentence):
    kit.write("other", "8\n")
    for process in task(5), task(6), task(7, *more), task(8):
        process.wait()
    kit.command_refused(4, sentence, *WHOLE)

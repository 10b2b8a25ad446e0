"""A resume file outlives the processes that work on it, and several at a time do it no harm."""

import functools
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

from kit import bits, environment, model, parametrize, write
from test_resume import X, rows_of, table
from certreg import ResumeError
from certreg.store import ResumeFile

pytestmark = pytest.mark.usefixtures("folder")
TESTS = pathlib.Path(__file__).parent


def at_row_20(x):
    return np.allclose(x.mean(axis=0), X[20], atol=0.2)


def killed_once(once, x):
    """A model that kills its process once: it removes the file with this name first."""
    if at_row_20(x) and os.path.exists(once):
        os.remove(once)
        os.kill(os.getpid(), signal.SIGKILL)
    return model(x)


def killing(x):
    """Kills the program at row 20, and leaves a fork of it until its standard input is closed."""
    if at_row_20(x):
        program = multiprocessing.parent_process()
        if program is None and os.fork() == 0:
            sys.stdin.read()
            os._exit(0)
        os.kill(program.pid if program else os.getpid(), signal.SIGKILL)
    return model(x)


def program(path, jobs, **more):
    """A program that kills itself."""
    code = "import test_resume_programs as t; "
    code += f"t.rows_of(t.killing, seed=7, resume={path!r}, jobs={jobs})"
    return subprocess.Popen([sys.executable, "-c", code], env=environment(TESTS), **more)


def test_a_process_that_is_killed_once_loses_nothing():
    whole = rows_of(seed=7, resume="whole.sqlite")
    write("once", "")
    rows = rows_of(functools.partial(killed_once, os.path.abspath("once")), seed=7, jobs=2)
    assert not os.path.exists("once")
    assert bits(rows) == bits(whole)
    assert table() == table("whole.sqlite")


@parametrize("jobs", 1, 2)
def test_a_killed_program_goes_on(jobs):
    """Also while a fork of it is still there."""
    whole = rows_of(seed=7, resume="whole.sqlite")
    with program("rows.sqlite", jobs, stdin=subprocess.PIPE) as process:
        assert process.wait() == -signal.SIGKILL
        assert 0 < len(table()) < len(whole) * 4
        assert bits(rows_of(jobs=2)) == bits(whole)


# ---- two programs on one file
def nested(at, second, **more):
    """A run that calls `second` in its call number `at` of the model."""
    calls = []

    def calling(x):
        calls.append(1)
        if len(calls) == at:
            second()
        return model(x)

    return rows_of(calling, **more)


@parametrize("more", {}, dict(keep_records=True))
def test_two_programs_on_one_file_give_the_same_rows(more):
    whole = rows_of(seed=7, resume="whole.sqlite", **more)
    others = []
    rows = nested(30, lambda: others.append(rows_of(seed=None, jobs=2, **more)), seed=7, **more)
    assert bits(rows) == bits(others[0]) == bits(whole)
    assert table() == table("whole.sqlite")
    assert sorted(os.listdir()) == ["rows.sqlite", "whole.sqlite"]


@parametrize(
    "differs, more", ("seed", dict(seed=8)), ("other questions", dict(questions=0.4, seed=7))
)
def test_two_programs_that_ask_otherwise_never_share_a_file(differs, more):
    def refused():
        with pytest.raises(ResumeError, match=differs):
            rows_of(**more)

    whole = nested(30, refused, seed=7)
    assert whole.done.all()


def test_another_name_is_the_same_file():
    os.symlink("rows.sqlite", "link.sqlite")
    rows = nested(30, lambda: rows_of(resume="link.sqlite"), seed=7)
    assert bits(rows) == bits(rows_of()) and not os.path.exists("link.sqlite-journal")


def test_an_interrupt_while_a_file_is_opened_leaves_it_free():
    def interrupted(opened, done=ResumeFile._prepare):
        done(opened)
        raise KeyboardInterrupt

    with mock.patch.object(ResumeFile, "_prepare", interrupted):
        with pytest.raises(KeyboardInterrupt) as kept:
            rows_of()
    assert rows_of().done.all() and kept.traceback  # which refers to what was opened


def test_the_file_can_be_read_during_a_run():
    counts = []
    rows_of(progress=lambda done, rows: counts.append(len(table())))
    assert counts[-1] == 4 * len(X)


def test_a_fork_that_ends_like_a_run_does_no_harm():
    def forking(x):
        if os.path.exists("rows.sqlite") and not children:
            children.append(os.fork())
            if children[0] == 0:
                raise ValueError("the end of the fork")
            os.waitpid(children[0], 0)
        return model(x)

    children, parent = [], os.getpid()
    try:
        rows = rows_of(forking, seed=7)
    finally:
        if os.getpid() != parent:
            os._exit(0)
    assert rows.done.all() and bits(rows_of()) == bits(rows)


def test_files_of_a_run_are_for_their_owner_alone(usual_umask):
    """They hold or name the seed."""
    modes = {}

    def mode(path):
        return os.stat(path).st_mode & 0o777

    rows_of(progress=lambda done, rows: modes.update((p, mode(p)) for p in os.listdir()))
    assert modes == {"rows.sqlite": 0o600}
    os.chmod("rows.sqlite", 0o640)  # what the owner chooses later stays
    rows_of()
    assert mode("rows.sqlite") == 0o640


@parametrize("name", ":memory:", "file:x?mode=memory")
def test_names_that_sqlite_takes_for_memory_are_files(name):
    rows_of(resume=name)
    assert os.path.getsize(name) > 0

"""A resume file outlives the processes that work on it, and only one program at a time does."""

import contextlib
import functools
import multiprocessing
import os
import pathlib
import platform
import signal
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

from kit import bits, environment, model, parametrize, write
from test_resume import X, rows_of, table
from certreg import ResumeError
from certreg._lock import Lock
from certreg.store import ResumeFile

pytestmark = pytest.mark.usefixtures("folder")
USER = f"process {os.getpid()} on {platform.node()}"
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
    """A run that calls `second` in its call number `at` of the model, and what that raised."""
    calls, raised = [], []

    def calling(x):
        calls.append(1)
        if len(calls) == at:
            with pytest.raises(ResumeError) as caught:
                second()
            raised.append(str(caught.value))
        return model(x)

    return rows_of(calling, **more), raised


@parametrize("at, seed", (1, None), (10, None), (10, 7))  # before the first has a seed, and later
def test_a_second_program_is_refused(at, seed):
    rows, said = nested(at, rows_of, seed=seed)
    assert rows.done.all()
    assert f"rows.sqlite is in use by {USER}: wait until that ends" in said[0]
    assert bits(rows_of()) == bits(rows)
    assert os.listdir() == ["rows.sqlite"], "locks are left"


def test_another_process_is_refused_also_by_another_name():
    os.symlink("rows.sqlite", "link.sqlite")

    def second():
        process = program("link.sqlite", 1, stderr=subprocess.PIPE, text=True)
        said = process.communicate()[1]
        assert process.returncode == 1
        raise ResumeError(said)

    assert f"is in use by {USER}" in nested(10, second)[1][0]


@parametrize("kind, step", (Lock, "_take"), (ResumeFile, "_prepare"))
def test_an_interrupt_while_a_file_is_opened_leaves_it_free(kind, step):
    def interrupted(opened, done=getattr(kind, step)):
        done(opened)
        raise KeyboardInterrupt

    with mock.patch.object(kind, step, interrupted), pytest.raises(KeyboardInterrupt) as kept:
        rows_of()
    assert rows_of().done.all() and kept.traceback  # which refers to what was opened


def test_a_second_look_of_this_process_does_not_release_its_lock():
    """As closing a file does that SQLite has not opened."""
    program = "from certreg.store import ResumeFile; ResumeFile('rows.sqlite')"
    with contextlib.closing(ResumeFile("rows.sqlite")):
        with pytest.raises(ResumeError, match=f"is in use by {USER}"):
            rows_of()
        more = dict(env=environment(), capture_output=True, text=True)
        other = subprocess.run([sys.executable, "-c", program], **more)
        assert f"is in use by {USER}" in other.stderr


def test_the_file_can_be_read_during_a_run():
    counts = []
    rows_of(progress=lambda done, rows: counts.append(len(table())))
    assert counts[-1] == 4 * len(X)


def test_a_fork_that_ends_like_a_run_leaves_the_lock():
    def forking(x):
        if os.path.exists("rows.sqlite") and not children:
            children.append(os.fork())
            if children[0] == 0:
                raise ValueError("the end of the fork")
            os.waitpid(children[0], 0)
            with pytest.raises(ResumeError, match="is in use by"):
                rows_of()
        return model(x)

    children, parent = [], os.getpid()
    try:
        rows = rows_of(forking)
    finally:
        if os.getpid() != parent:
            os._exit(0)
    assert rows.done.all()


def test_files_of_a_run_are_for_their_owner_alone(usual_umask):
    """They hold or name the seed."""
    modes = {}

    def mode(path):
        return os.stat(path).st_mode & 0o777

    rows_of(progress=lambda done, rows: modes.update((p, mode(p)) for p in os.listdir()))
    assert modes == {"rows.sqlite": 0o600, "rows.sqlite.lock": 0o600}
    os.chmod("rows.sqlite", 0o640)  # what the owner chooses later stays
    rows_of()
    assert mode("rows.sqlite") == 0o640


@parametrize("name", ":memory:", "file:x?mode=memory")
def test_names_that_sqlite_takes_for_memory_are_files(name):
    rows_of(resume=name)
    assert os.path.getsize(name) > 0


def test_a_lock_that_cannot_be_made_or_is_none_is_named():
    os.mkdir("rows.sqlite.lock")
    with pytest.raises(ResumeError, match="rows.sqlite.lock, the lock of .*: remove it"):
        rows_of()
    os.rmdir("rows.sqlite.lock")
    write("rows.sqlite.lock", "This is a letter to my grandmother. " * 50)
    with pytest.raises(ResumeError, match="rows.sqlite.lock is no lock .*: remove it"):
        rows_of()
    os.remove("rows.sqlite.lock")
    assert rows_of().done.all()

"""certify_rows by dask and by MPI gives the same bits as one process, also after SIGKILL of a
worker, of the program and of mpirun."""

import contextlib
import itertools
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

import executors_program as program
from kit import bits, environment, package, parametrize
from certreg import Options, RowsError, certify_rows

HERE = pathlib.Path(__file__).parent
BOTH = parametrize("how", "dask", "mpi")


def needs(how):
    package({"dask": "distributed", "mpi": "mpi4py"}[how])
    if how == "mpi" and not shutil.which("mpirun"):
        pytest.skip("mpirun is not installed")


def table(path):
    """All certificates in a resume file, without what was asked again, which depends on the rows
    that a process computes together; an empty list before it exists."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            found = db.execute("SELECT * FROM certificates ORDER BY 1, 2, 3, 4")
            same = [not c[0].startswith(("audit", "checksum")) for c in found.description]
            return [tuple(itertools.compress(line, same)) for line in found]
    except sqlite3.OperationalError:
        return []


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The rows of one process, and their certificates in its file."""
    path = tmp_path_factory.mktemp("whole") / "whole.sqlite"
    rows = certify_rows(*program.TASK, **program.HOW, resume=path)
    return rows, table(path)


def start(how):
    """A program that certifies the rows, slowly."""
    command = [sys.executable, "-m", "executors_program", how, "rows.sqlite"]
    if how == "mpi":
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable]
        command += ["-m", "mpi4py.futures", program.__file__, how, "rows.sqlite"]
    return subprocess.Popen(command, env=environment(HERE), start_new_session=True)


def ends_well(how, whole):
    assert start(how).wait() == 0
    assert table("rows.sqlite") == whole[1]


@BOTH
def test_a_killed_program_goes_on(folder, whole, how):
    needs(how)
    process = start(how)
    while not table("rows.sqlite"):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 0 < len(table("rows.sqlite")) < len(whole[1]), "it was killed too late"
    ends_well(how, whole)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # processes that survived SIGKILL


def test_dask_survives_sigkill_of_a_worker(folder, whole):
    needs("dask")
    told = []

    def kill_once(done, rows):
        if not told:
            told.append(os.kill(next(iter(workers.values())), signal.SIGKILL))

    with program.dask_client() as client:
        workers = client.run(os.getpid)
        with client.get_executor() as executor:
            how = dict(program.HOW, progress=kill_once, jobs=executor, resume="rows.sqlite")
            certify_rows(*program.SLOW, **how)
    assert told
    assert table("rows.sqlite") == whole[1]


def test_dask_skips_a_row_that_ends_its_process(folder, whole):
    needs("dask")
    import dask

    ask = (program.ends_at_row_7, *program.TASK[1:])
    few = {"distributed.scheduler.allowed-failures": 0}  # processes that a task may end
    with dask.config.set(few), program.dask_client() as client:
        with client.get_executor() as executor:
            how = dict(program.HOW, jobs=executor, resume="rows.sqlite")
            with pytest.raises(RowsError, match="row 7: 3 processes ended"):
                certify_rows(*ask, **how)
            rows = certify_rows(*ask, **how, options=Options(on_crash="skip"))
    assert {row for row, _ in rows.errors} == {7}
    others = [row for row in range(len(rows)) if row != 7]
    assert bits(rows[others]) == bits(whole[0][others])

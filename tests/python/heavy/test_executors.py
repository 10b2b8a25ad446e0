"""certify_rows by dask and by MPI gives the same bits as one process, also after SIGKILL of a
worker, of the program and of mpirun. Tests of packages that are not installed are skipped."""

import contextlib
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import root, run
import executors_program as program
from certreg import RowsError, certify_rows


def has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


MPIRUN = shutil.which("mpirun") if has("mpi4py") else None


def table(path):
    """All certificates in a resume file; an empty list before it exists."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            return db.execute("SELECT * FROM certificates ORDER BY 1, 2, 3, 4").fetchall()
    except sqlite3.OperationalError:
        return []


class Executors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.whole = certify_rows(*program.TASK, **program.HOW, resume=cls.folder / "whole.sqlite")

    def path(self, name):
        return self.folder / f"{self.id()}.{name}.sqlite"

    def same(self, path):
        self.assertEqual(table(path), table(self.folder / "whole.sqlite"))

    def start(self, how, path):
        """A program that certifies the rows, slowly."""
        command = [sys.executable, "-m", "executors_program", how, str(path)]
        if how == "mpi":
            command = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable]
            command += ["-m", "mpi4py.futures", program.__file__, how, str(path)]
        where = dict(os.environ, PYTHONPATH=f"{root}/python:{pathlib.Path(__file__).parent}")
        return subprocess.Popen(command, env=where, start_new_session=True)

    def wait_for_rows(self, path):
        while not table(path):
            time.sleep(0.05)

    def ends_well(self, how, path):
        process = self.start(how, path)
        self.assertEqual(process.wait(), 0)
        self.same(path)

    def goes_on_after_sigkill(self, how):
        path = self.path("killed")
        process = self.start(how, path)
        self.wait_for_rows(path)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue(0 < len(table(path)) < len(self.whole), "it was killed too late")
        self.ends_well(how, path)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # processes that survived SIGKILL

    def test_processes_go_on_after_sigkill(self):
        self.goes_on_after_sigkill("processes")

    @unittest.skipUnless(has("distributed"), "dask.distributed is not installed")
    def test_dask(self):
        self.ends_well("dask", self.path("done"))

    @unittest.skipUnless(has("distributed"), "dask.distributed is not installed")
    def test_dask_goes_on_after_sigkill(self):
        self.goes_on_after_sigkill("dask")

    @unittest.skipUnless(has("distributed"), "dask.distributed is not installed")
    def test_dask_survives_sigkill_of_a_worker(self):
        path = self.path("worker")
        with program.dask_client() as client:
            workers = client.run(os.getpid)
            with client.get_executor() as executor:
                told = []

                def kill_once(done, rows):
                    if not told:
                        told.append(os.kill(next(iter(workers.values())), signal.SIGKILL))

                how = dict(program.HOW, progress=kill_once)
                certify_rows(*program.SLOW, **how, executor=executor, resume=path)
        self.assertTrue(told)
        self.same(path)

    @unittest.skipUnless(has("distributed"), "dask.distributed is not installed")
    def test_dask_skips_a_row_that_ends_its_process(self):
        import dask

        path, ask = self.path("skipped"), (program.ends_at_row_7, *program.TASK[1:])
        few = {"distributed.scheduler.allowed-failures": 0}  # processes that a task may end
        with dask.config.set(few), program.dask_client() as client:
            with client.get_executor() as executor:
                how = dict(program.HOW, executor=executor, resume=path)
                with self.assertRaisesRegex(RowsError, "row 7: two processes ended"):
                    certify_rows(*ask, **how)
                rows = certify_rows(*ask, **how, on_crash="skip")
        self.assertEqual({row for row, _ in rows.errors}, {7})
        others = [row for row in range(len(rows)) if row != 7]
        wanted = self.whole.certificates[others]
        self.assertEqual(rows.certificates[others].tobytes(), wanted.tobytes())

    @unittest.skipUnless(MPIRUN, "mpi4py or mpirun is not installed")
    def test_mpi(self):
        self.ends_well("mpi", self.path("done"))

    @unittest.skipUnless(MPIRUN, "mpi4py or mpirun is not installed")
    def test_mpi_goes_on_after_sigkill_of_mpirun(self):
        self.goes_on_after_sigkill("mpi")


if __name__ == "__main__":
    run()

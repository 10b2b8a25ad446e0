"""A resume file outlives the processes that work on it."""

import functools
import multiprocessing
import os
import signal
import subprocess
import sys

import numpy as np

from support import model, root, run
from support_resume import ASKED, X, Resuming, table
from certreg import RowsError, certify_rows


def killed_at_row_20(once, x):
    """A model that kills its process once: it removes the file with this name first."""
    if np.allclose(x.mean(axis=0), X[20], atol=0.2) and once.exists():
        once.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return model(x)


def killing(x):
    """Kills the program at row 20, and leaves a fork of it until its standard input is closed."""
    if np.allclose(x.mean(axis=0), X[20], atol=0.2):
        program = multiprocessing.parent_process()
        if program is None and os.fork() == 0:
            sys.stdin.read()
            os._exit(0)
        os.kill(program.pid if program else os.getpid(), signal.SIGKILL)
    return model(x)


def go(path, jobs):
    """In a process that kills itself."""
    asked = dict(samples=300, progress=False, resume=path, jobs=jobs, seed=7)
    certify_rows(killing, X, [0.25, 0.5], ASKED, **asked)


class Programs(Resuming):
    def test_killed_processes_lose_only_what_they_were_doing(self):
        once = self.folder / "once"
        killed = functools.partial(killed_at_row_20, once)
        whole = self.rows(seed=7, path=self.folder / "whole.sqlite")
        once.touch()
        with self.assertRaisesRegex(
            RowsError, "a process that ran the model has ended; .* kept in"
        ):
            self.rows(killed, seed=7, jobs=2)
        self.assertLess(len(table(self.path)), len(table(self.folder / "whole.sqlite")))
        again = self.rows(killed, jobs=2)
        self.assertEqual(again.certificates.tobytes(), whole.certificates.tobytes())
        self.assertEqual(table(self.path), table(self.folder / "whole.sqlite"))

    def test_a_killed_program_goes_on(self):
        """Also while a fork of it is still there."""
        whole = self.rows(seed=7, path=self.folder / "whole.sqlite")
        for jobs in (1, 2):
            path = self.folder / f"{jobs}.sqlite"
            program = f"import test_resume_programs as t; t.go({str(path)!r}, {jobs})"
            where = dict(os.environ, PYTHONPATH=f"{root}/python:{root}/tests/python")
            command = [sys.executable, "-c", program]
            with subprocess.Popen(command, env=where, stdin=subprocess.PIPE) as process:
                self.assertEqual(process.wait(), -signal.SIGKILL)
                self.assertTrue(0 < len(table(path)) < len(whole) * 4)
                again = self.rows(path=path, jobs=2)
                self.assertEqual(again.certificates.tobytes(), whole.certificates.tobytes())


if __name__ == "__main__":
    run()

"""A resume file outlives the processes that work on it, and only one program at a time does."""

import functools
import multiprocessing
import os
import platform
import signal
import subprocess
import sys

import numpy as np

from support import model, root, run
from support_resume import ASKED, X, Resuming, table
from certreg import ResumeError, certify_rows


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
    def test_a_process_that_is_killed_once_loses_nothing(self):
        once = self.folder / "once"
        killed = functools.partial(killed_at_row_20, once)
        whole = self.rows(seed=7, path=self.folder / "whole.sqlite")
        once.touch()
        rows = self.rows(killed, seed=7, jobs=2)
        self.assertFalse(once.exists())
        self.assertEqual(rows.certificates.tobytes(), whole.certificates.tobytes())
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

    # ---- two programs on one file
    def nested(self, at, second, **more):
        """A run that calls `second` in its call number `at` of the model, and what that raised."""
        calls, raised = [], []

        def calling(x):
            calls.append(1)
            if len(calls) == at:
                with self.assertRaises(ResumeError) as caught:
                    second()
                raised.append(str(caught.exception))
            return model(x)

        return self.rows(calling, **more), raised

    def test_a_second_program_is_refused(self):
        """Before the first has a seed, and later."""
        named = f"process {os.getpid()} on {platform.node()}"
        for at, seed in ((1, None), (10, None), (10, 7)):
            with self.subTest(at=at, seed=seed):
                path = self.folder / f"{at}.{seed}.sqlite"
                rows, said = self.nested(at, lambda: self.rows(path=path), path=path, seed=seed)
                self.assertTrue(rows.done.all())
                self.assertIn(f"{path} is in use by {named}: wait until that ends", said[0])
                again = self.rows(path=path)
                self.assertEqual(again.certificates.tobytes(), rows.certificates.tobytes())
        self.assertEqual(len(list(self.folder.iterdir())), 3, "locks are left")

    def test_another_process_is_refused_also_by_another_name(self):
        link = self.folder / "link.sqlite"
        link.symlink_to(self.path)
        program = f"import test_resume_programs as t; t.go({str(link)!r}, 1)"
        where = dict(os.environ, PYTHONPATH=f"{root}/python:{root}/tests/python")

        def second():
            command = [sys.executable, "-c", program]
            done = subprocess.run(command, env=where, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            raise ResumeError(done.stderr)

        _, said = self.nested(10, second)
        self.assertIn(f"is in use by process {os.getpid()} on {platform.node()}", said[0])

    def test_the_file_can_be_read_during_a_run(self):
        counts = []
        self.rows(progress=lambda done, rows: counts.append(len(table(self.path))))
        self.assertEqual(counts[-1], 4 * len(X))

    def test_a_fork_that_ends_like_a_run_leaves_the_lock(self):
        def forking(x):
            if self.path.exists() and not children:
                children.append(os.fork())
                if children[0] == 0:
                    raise ValueError("the end of the fork")
                os.waitpid(children[0], 0)
                with self.assertRaisesRegex(ResumeError, "is in use by"):
                    self.rows()
            return model(x)

        children, program = [], os.getpid()
        try:
            rows = self.rows(forking)
        finally:
            if os.getpid() != program:
                os._exit(0)
        self.assertTrue(rows.done.all())

    def test_files_of_a_run_are_for_their_owner_alone(self):
        """They hold or name the seed."""
        modes = {}

        def looking(done, rows):
            for path in self.folder.iterdir():
                modes[path.name] = path.stat().st_mode & 0o777

        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        self.rows(progress=looking)
        self.assertEqual(modes, {"rows.sqlite": 0o600, "rows.sqlite.lock": 0o600})
        self.path.chmod(0o640)  # what the owner chooses later stays
        self.rows()
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o640)

    def test_names_that_sqlite_takes_for_memory_are_files(self):
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        for name in (":memory:", "file:x?mode=memory"):
            self.rows(path=name)
            self.assertGreater(os.path.getsize(name), 0)
        with self.assertRaisesRegex(ResumeError, "resume is empty: give the path of a file"):
            certify_rows(model, X, 0.25, 0.5, resume="")

    def test_a_lock_that_cannot_be_made_is_named(self):
        self.rows()
        lock = self.folder / "rows.sqlite.lock"
        lock.mkdir()
        with self.assertRaisesRegex(ResumeError, "rows.sqlite.lock, the lock of .*: remove it"):
            self.rows()

    def test_a_lock_that_is_no_lock_is_named(self):
        lock = self.folder / "rows.sqlite.lock"
        lock.write_text("This is a letter to my grandmother. " * 50)
        with self.assertRaisesRegex(ResumeError, "rows.sqlite.lock is no lock .*: remove it"):
            self.rows()
        lock.unlink()
        self.assertTrue(self.rows().done.all())


if __name__ == "__main__":
    run()

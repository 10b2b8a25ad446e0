"""The resume file: rows that are done are kept, and results have the same bits as without it."""

import contextlib
import functools
import json
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

import numpy as np

from support import model, root, run
from certreg import Constraint, Question, ResumeError, RowsError, Serving, certify_rows
from certreg.store import ResumeFile

X = np.random.default_rng(5).normal(size=(30, 3)).astype(np.float32)
ASKED = [Question(0.5, serving=Serving(101, 0.01)), Question(0.5, target=0.1, alpha=0.1)]


def table(path):
    """All certificates in the file, by its documented schema."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT * FROM certificates ORDER BY 1, 2, 3, 4").fetchall()


def slow(x):
    """0.02 s a call: time to be killed in."""
    time.sleep(0.02)
    return model(x)


def killed_at_row_20(once, x):
    """A model that kills its process once: it removes the file with this name first."""
    if np.allclose(x.mean(axis=0), X[20], atol=0.2) and once.exists():
        once.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return model(x)


class Resume(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / "rows.sqlite"

    def rows(self, f=model, questions=ASKED, path=None, **more):
        more = dict(dict(x=X, sigma=[0.25, 0.5], samples=300, progress=False), **more)
        x, sigma = more.pop("x"), more.pop("sigma")
        return certify_rows(f, x, sigma, questions, resume=path or self.path, **more)

    def interrupted(self, at, **more):
        """A run whose model fails in its call number `at`."""
        calls = []

        def failing(x):
            calls.append(1)
            if len(calls) == at:
                raise OSError("the disk is gone")
            return model(x)

        with self.assertRaises(RowsError) as caught:
            self.rows(failing, **more)
        return caught.exception

    def test_the_rest_is_done_with_the_same_bits(self):
        whole = self.rows(seed=7, path=self.folder / "whole.sqlite")
        error = self.interrupted(25, seed=7)
        kept = int(error.rows.done.sum())
        self.assertTrue(5 < kept < 25)
        self.assertIn(f"{kept} of 30 rows are done and kept in {self.path}: call again", str(error))
        calls = []
        again = self.rows(lambda x: (calls.append(len(x)), model(x))[1])
        self.assertEqual(again.certificates.tobytes(), whole.certificates.tobytes())
        self.assertEqual(again.seed, 7)
        self.assertLess(len(calls), 2 * (30 - kept) + 2)
        self.assertEqual(table(self.path), table(self.folder / "whole.sqlite"))
        calls.clear()
        third = self.rows(lambda x: (calls.append(len(x)), model(x))[1], jobs=1)
        self.assertEqual(third.certificates.tobytes(), whole.certificates.tobytes())
        self.assertEqual(calls, [6])  # the probe

    def test_failed_rows_are_kept_with_their_sentences(self):
        def undefined(x):
            return np.where(np.abs(x[:, 0] - X[5, 0]) < 1e-6, np.nan, model(x))

        first, second = self.rows(undefined), self.rows(undefined)
        self.assertTrue(first.errors)
        self.assertEqual(first.errors, second.errors)
        self.assertEqual(first.certificates.tobytes(), second.certificates.tobytes())

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
        for jobs in (1, 2):
            path = self.folder / f"{jobs}.sqlite"
            whole = self.rows(seed=7, path=self.folder / f"whole{jobs}.sqlite")
            program = f"import test_resume as t; t.go({str(path)!r}, {jobs})"
            where = dict(os.environ, PYTHONPATH=f"{root}/python:{root}/tests/python")
            with subprocess.Popen([sys.executable, "-c", program], env=where) as process:
                end = time.monotonic() + 60
                while time.monotonic() < end and not (path.exists() and self.count(path)):
                    time.sleep(0.05)
                process.send_signal(signal.SIGKILL)
            self.assertTrue(0 < self.count(path) < len(whole) * 4, "too late, or too soon")
            again = self.rows(slow, path=path, jobs=2)
            self.assertEqual(again.certificates.tobytes(), whole.certificates.tobytes())

    @staticmethod
    def count(path):
        with contextlib.suppress(sqlite3.OperationalError):  # the table is not there yet
            return len(table(path))
        return 0

    def test_another_thing_is_refused_and_nothing_is_lost(self):
        self.rows(model_id="a")
        before = self.path.read_bytes()
        x = X.copy()
        x[3, 1] += 1
        for sentence, wrong in (
            (r"arguments \(X\): give another resume file", dict(x=x)),
            (r"arguments \(X\)", dict(x=X[:20])),
            (r"arguments \(sigma\)", dict(sigma=0.25)),
            (r"arguments \(samples\)", dict(samples=200)),
            (r"arguments \(scale\)", dict(scale=2.0)),
            (r"arguments \(seed\)", dict(seed=8)),
            (r"arguments \(model_id='a'\)", dict(model_id="b")),
            (r"arguments \(domain\)", dict(domain="calibration")),
            ("another model, whose outputs for rows 0, 15, 29", dict(f=lambda x: x[:, 0])),
            ("other questions and without keep_records", dict(questions=0.5)),
        ):
            with self.assertRaisesRegex(ResumeError, sentence):
                self.rows(**wrong)
        self.assertEqual(self.path.read_bytes(), before)

    def test_what_is_no_resume_file_is_refused_and_unchanged(self):
        self.path.write_bytes(b"This is a letter to my grandmother.\n" * 50)
        before = self.path.read_bytes()
        with self.assertRaisesRegex(ResumeError, "is damaged or no resume file"):
            self.rows()
        self.assertEqual(self.path.read_bytes(), before)
        other = self.folder / "other.sqlite"
        with contextlib.closing(sqlite3.connect(other)) as db:
            db.execute("CREATE TABLE letters (text)")
            db.commit()
        with self.assertRaisesRegex(ResumeError, "belongs to another program"):
            self.rows(path=other)
        with self.assertRaisesRegex(ResumeError, "nowhere/rows.sqlite cannot be written"):
            self.rows(path=self.folder / "nowhere" / "rows.sqlite")

    def test_a_damaged_file_is_refused(self):
        self.rows()
        whole = self.path.read_bytes()
        self.path.write_bytes(whole[:4096] + bytes(len(whole) - 4096))
        with self.assertRaisesRegex(ResumeError, "is damaged"):
            self.rows()

    def test_a_model_that_fails_at_once_leaves_the_file_usable(self):
        with self.assertRaisesRegex(RowsError, "the model raised OSError: no disk"):
            self.rows(no_disk)
        self.assertTrue(self.rows().done.all())

    def test_models_that_differ_under_noise_alone_are_told_apart(self):
        self.interrupted(25)

        def same_at_clean_inputs(x):
            return model(x) + 5 * (np.abs(x[:, None] - X).max(axis=2).min(axis=1) > 0.01)

        with self.assertRaisesRegex(ResumeError, "was made with another model"):
            self.rows(same_at_clean_inputs)

    def test_what_failed_stays_failed_for_other_questions(self):
        """An output outside its range, or NaN, is no reason to stop early and be certified."""
        asked = Question(0.5, statistic="mean", method="anytime")

        def jumps(x):
            return np.where(x[:, 1] > X[3, 1] + 0.5, 100.0, np.tanh(x[:, 0]))

        plan = dict(lo=-1, hi=1, keep_records=True)
        first = self.rows(jumps, questions=asked, **plan)
        failed = {row for row, _ in first.errors}
        self.assertTrue(0 < len(failed))
        later = self.rows(None, questions=Question(0.6, statistic="mean", method="anytime"), **plan)
        self.assertEqual(later.errors, first.errors)
        self.assertFalse((later["radius"][later["status"] != 0] > 0).any())
        np.testing.assert_array_equal(later["status"], first["status"])

    def test_an_input_that_cannot_begin_fails_alone_with_records_too(self):
        x = X.copy()
        x[4, 1] = 1e9
        for _ in range(2):
            rows = self.rows(x=x, keep_records=True)
            self.assertEqual({row for row, _ in rows.errors}, {4})
        later = self.rows(None, x=x, questions=0.3)
        self.assertEqual({row for row, _ in later.errors}, {4})

    def test_a_file_learns_the_name_of_its_model_once(self):
        self.rows()
        self.rows(model_id="a")
        with self.assertRaisesRegex(ResumeError, r"model_id='a'"):
            self.rows(model_id="b")

    def test_a_new_file_needs_a_model(self):
        with self.assertRaisesRegex(ResumeError, "there is no file .*: give the model too"):
            self.rows(None)
        self.assertFalse(os.path.exists(self.path))
        open(self.path, "wb").close()
        with self.assertRaisesRegex(ResumeError, "is new and has no records: give the model too"):
            self.rows(None)
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            self.assertEqual(db.execute("SELECT count(*) FROM runs").fetchone()[0], 0)

    def test_rows_without_records_stay_without_other_questions(self):
        self.interrupted(25)
        self.rows(keep_records=True)
        with self.assertRaisesRegex(ResumeError, "other questions and without keep_records"):
            self.rows(questions=0.4, keep_records=True)

    def test_another_version_of_the_library_is_refused(self):
        self.rows()
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            db.execute("UPDATE runs SET library = '0.0.9'")
            db.commit()
        with self.assertRaisesRegex(ResumeError, "library 0.0.9"):
            self.rows()

    def test_a_failing_transaction_is_rolled_back_whoever_ends_it(self):
        with contextlib.closing(ResumeFile(self.path)) as file:
            for end in (None, "ROLLBACK"):
                with self.assertRaises(KeyboardInterrupt), file._transaction():
                    file.db.execute("DELETE FROM runs")
                    if end:
                        file.db.execute(end)
                    raise KeyboardInterrupt
                self.assertFalse(file.db.in_transaction)

    def test_records_answer_other_questions_without_the_model(self):
        self.rows(keep_records=True, questions=0.5, seed=7)
        later = self.rows(None, questions=[0.5, Question(0.3)])
        wanted = self.rows(
            seed=7, questions=[0.5, Question(0.3)], path=self.folder / "other.sqlite"
        )
        self.assertEqual(later.certificates.tobytes(), wanted.certificates.tobytes())
        bounds = self.rows(None, questions=0.5, radius=0.1)
        self.assertTrue((bounds["radius"] == 0.1).any())
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            self.assertEqual(db.execute("SELECT count(*) FROM runs").fetchone()[0], 3)
            self.assertEqual(db.execute("SELECT count(*) FROM records").fetchone()[0], 60)

    def test_records_answer_questions_that_need_the_gradient(self):
        ask = Question(0.5, constraints="ECGM")
        self.rows(keep_records=True, questions=0.5, seed=7)
        again = self.rows(None, questions=ask)
        direct = self.rows(questions=ask, seed=7, path=self.folder / "direct.sqlite")
        self.assertEqual(again.certificates.tobytes(), direct.certificates.tobytes())
        self.assertTrue((again["constraints"] & Constraint.GRADIENT).any())

    def test_rows_without_records_need_the_model(self):
        self.interrupted(25, keep_records=True, questions=0.5)
        with self.assertRaisesRegex(ValueError, "no records of .* rows.*: give the model too"):
            self.rows(None, questions=0.4)
        self.assertTrue(self.rows(questions=0.4, keep_records=True).done.all())
        self.assertTrue(self.rows(None, questions=0.3).done.all())

    def test_a_run_says_how_it_was_made(self):
        rows = self.rows(model_id="three features")
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            db.row_factory = sqlite3.Row
            made = dict(db.execute("SELECT * FROM runs").fetchone())
            first = dict(db.execute("SELECT * FROM certificates LIMIT 1").fetchone())
        self.assertEqual((made["model_id"], int(made["seed"])), ("three features", rows.seed))
        self.assertEqual(json.loads(made["plan"])["sigmas"], [0.25, 0.5])
        questions = [json.loads(line)["question"] for line in json.loads(made["questions"])]
        self.assertEqual([q["tolerance"] for q in questions], [0.5, 0.5])
        probed = np.frombuffer(made["probe_outputs"], "<f4")[:3]
        np.testing.assert_allclose(probed, model(X[json.loads(made["probe_rows"])]), rtol=1e-6)
        self.assertEqual(first["radius"], rows.certificate(0).radius)
        self.assertEqual(int(first["question"]), rows.certificate(0).question)


def no_disk(x):
    raise OSError("no disk")


def go(path, jobs):
    """In a process that will be killed."""
    asked = dict(samples=300, progress=False, resume=path, jobs=jobs, seed=7)
    certify_rows(slow, X, [0.25, 0.5], ASKED, **asked)


if __name__ == "__main__":
    run()

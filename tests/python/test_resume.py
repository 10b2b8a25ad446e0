"""The resume file: rows that are done are kept, and results have the same bits as without it."""

import contextlib
import json
import os
import sqlite3
from unittest import mock

import numpy as np

from support import model, run
from support_resume import X, Resuming, table
from certreg import Constraint, Question, ResumeError, RowsError
from certreg.store import ResumeFile


class Resume(Resuming):
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
        self.assertLess(len(calls), 2 * (30 - kept) + 4)
        self.assertEqual(table(self.path), table(self.folder / "whole.sqlite"))
        calls.clear()
        third = self.rows(lambda x: (calls.append(len(x)), model(x))[1], jobs=1)
        self.assertEqual(third.certificates.tobytes(), whole.certificates.tobytes())
        self.assertEqual(calls, [2, 2, 2])  # the probes

    def test_failed_rows_are_kept_with_their_sentences(self):
        def undefined(x):
            return np.where(np.abs(x[:, 0] - X[5, 0]) < 1e-6, np.nan, model(x))

        first, second = self.rows(undefined), self.rows(undefined)
        self.assertTrue(first.errors)
        self.assertEqual(first.errors, second.errors)
        self.assertEqual(first.certificates.tobytes(), second.certificates.tobytes())

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
        with self.assertRaisesRegex(ResumeError, "belongs to another program or version"):
            self.rows(path=other)
        with contextlib.closing(sqlite3.connect(other)) as db:
            db.execute(f"PRAGMA application_id = {0x63723031}")  # of the format without checksums
        with self.assertRaisesRegex(ResumeError, "belongs to another program or version"):
            self.rows(path=other)
        with self.assertRaisesRegex(ResumeError, "nowhere/rows.sqlite cannot be written"):
            self.rows(path=self.folder / "nowhere" / "rows.sqlite")

    def test_the_sign_of_zero_is_kept(self):
        first, again = [self.rows(questions=Question(9, prediction=-0.0)) for _ in range(2)]
        self.assertTrue(np.signbit(first["prediction"]).all())
        self.assertEqual(first.certificates.tobytes(), again.certificates.tobytes())

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
        with mock.patch("certreg.store.version_text", return_value="0.0.9"):
            self.rows()
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


if __name__ == "__main__":
    run()

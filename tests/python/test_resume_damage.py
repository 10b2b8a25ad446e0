"""Damage of a resume file never changes a result: the file is refused, or what it still has is
right."""

import contextlib
import dataclasses
import random
import sqlite3
from unittest import mock

import numpy as np

from support import model, run
from support_resume import ASKED, X, Resuming, overwrite
from certreg import ResumeError
from certreg.store import ResumeFile


class Damage(Resuming):
    def test_a_damaged_file_is_refused(self):
        self.rows()
        whole = self.path.read_bytes()
        self.path.write_bytes(whole[:4096] + bytes(len(whole) - 4096))
        with self.assertRaisesRegex(ResumeError, "is damaged"):
            self.rows()

    def changed(self, *statements):
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            for statement in ("PRAGMA synchronous = OFF", *statements):
                db.execute(statement)
            db.commit()

    def test_every_changed_value_is_noticed(self):
        self.rows(keep_records=True)
        good = self.path.read_bytes()
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            columns = [
                (table, column[1], where)
                for table, where in (
                    ("runs", "run = 1"),
                    ("certificates", "(row, sigma_index, question_index) = (3, 1, 0)"),
                    ("records", "(row, sigma_index) = (3, 1)"),
                )
                for column in db.execute(f"PRAGMA table_info({table})")
            ]
        columns.remove(("certificates", "run", columns[10][2]))  # then it is missing in this run
        for table, column, where in columns:
            with self.subTest(table=table, column=column):
                overwrite(self.path, good)
                self.changed(f"UPDATE {table} SET {column} = 99 WHERE {where}")
                bad = self.path.read_bytes()
                with self.assertRaises(ResumeError):
                    self.rows(questions=0.4 if table == "records" else ASKED)
                self.assertEqual(self.path.read_bytes(), bad)

    def test_a_run_that_is_gone_is_noticed(self):
        for keep_records in (False, True):
            path = self.path = self.folder / f"{keep_records}.sqlite"
            self.rows(keep_records=keep_records)
            self.changed("DELETE FROM runs")
            before = path.read_bytes()
            with self.assertRaisesRegex(ResumeError, "there are rows, but no run"):
                self.rows()
            self.assertEqual(path.read_bytes(), before)

    def test_what_is_missing_of_a_row_is_done_again(self):
        whole = self.rows()
        self.changed("DELETE FROM certificates WHERE row = 3 AND question_index = 1")
        again = self.rows()
        self.assertEqual(again.certificates.tobytes(), whole.certificates.tobytes())

    def test_certificates_can_be_computed_again_from_records(self):
        whole = self.rows(keep_records=True)
        self.changed("DELETE FROM certificates")
        again = self.rows(None)
        self.assertEqual(again.certificates.tobytes(), whole.certificates.tobytes())

    def forged(self, row=0, **fields):
        """Writes a file whose checksums are right and whose first row is not."""
        add = ResumeFile.add

        def forging(file, chunk):
            forged = chunk.certificates.copy()
            for name, value in fields.items():
                forged[name][0] = value
            rows = np.where(chunk.rows == 0, row, chunk.rows)
            add(file, dataclasses.replace(chunk, rows=rows, certificates=forged))

        self.path.unlink(missing_ok=True)
        with mock.patch.object(ResumeFile, "add", forging):
            self.rows(x=X[:1], samples=100)

    def test_values_that_no_certificate_has_are_refused(self):
        for wrong in (
            *(dict(radius=value, outcome=1) for value in (5.1, -0.1, np.inf, np.nan)),
            *(dict(row=-1), dict(row=1), dict(outcome=3), dict(status=99), dict(stop=-1)),
            *(dict(radius=0.5, outcome=0), dict(radius=0.5, outcome=1, status=5)),
            *(dict(samples=101), dict(sigma=0.3), dict(noise_id=1), dict(question=1)),
        ):
            with self.subTest(**wrong):
                self.forged(**wrong)
                with self.assertRaisesRegex(ResumeError, "is damaged"):
                    self.rows(x=X[:1], samples=100)
        self.forged(radius=[[2.5], [5]], outcome=2)
        self.assertEqual(self.rows(x=X[:1], samples=100)["radius"].max(), 5)


class Flips(Resuming):
    FLIPS = 500  # of each of the two files

    def small(self, f=model, questions=ASKED[:1], **more):
        return self.rows(f, questions, x=X[:6], samples=40, **more)

    def written(self, keep_records):
        """Writes a file; what the store then gets for it, and what it reads from it."""
        self.small(seed=7, keep_records=keep_records)
        with mock.patch.object(ResumeFile, "begin", autospec=True) as begin:
            begin.side_effect = InterruptedError
            with self.assertRaises(InterruptedError):
                self.small()
        return begin.call_args.args[1:]

    def read(self, origin, rows):
        """What is read from the file: certificates, which rows are done, errors and records."""
        rows.certificates[:] = rows.certificates[0, 0, 0]
        rows.errors.clear()
        with contextlib.closing(ResumeFile(self.path)) as file:
            file.begin(origin, rows)
            return rows.certificates.copy(), rows.done, dict(rows.errors), set(file.records(0, 99))

    def flipped(self, good, dice):
        bad, bit = bytearray(good), dice.randrange(8 * len(good))
        bad[bit // 8] ^= 1 << bit % 8
        overwrite(self.path, bad)
        return bit, bytes(bad)

    def tries(self, keep_records):
        origin, rows = self.written(keep_records)
        good, dice = self.path.read_bytes(), random.Random(self.id())
        whole, done, errors, records = self.read(origin, rows)
        self.assertTrue(done.all())
        refused = 0
        for _ in range(self.FLIPS):
            bit, bad = self.flipped(good, dice)
            try:
                found = self.read(origin, rows)
            except ResumeError as error:
                self.assertNotIn("\n", str(error))
                self.assertEqual(self.path.read_bytes(), bad)
                refused += 1
                continue
            with self.subTest(bit=bit):
                done = found[1]
                self.assertEqual(found[0][done].tobytes(), whole[done].tobytes())
                self.assertEqual(found[2], errors)
                self.assertLessEqual(found[3], records)
        self.assertGreater(refused, self.FLIPS // 20)

    def test_certificates(self):
        self.tries(keep_records=False)

    def test_records(self):
        self.tries(keep_records=True)


if __name__ == "__main__":
    run()

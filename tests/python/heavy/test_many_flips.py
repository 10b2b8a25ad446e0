"""The flips of test_resume_damage.py, 10,000 of them, and others through certify_rows."""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import run
import test_resume_damage
from certreg import ResumeError


class ManyFlips(test_resume_damage.Flips):
    FLIPS = 5000

    COUNT = 2000  # of each kind of call

    def runs(self, kept, **again):
        """Flips, and then calls of certify_rows that have the result of the whole file."""
        self.small(seed=7, keep_records=kept)
        good, dice = self.path.read_bytes(), random.Random(self.id())
        whole = self.small(**again)
        refused = 0
        for _ in range(self.COUNT):
            bit, _ = self.flipped(good, dice)
            try:
                rows = self.small(**again)
            except ResumeError:
                refused += 1
                continue
            with self.subTest(bit=bit):
                self.assertEqual(rows.certificates.tobytes(), whole.certificates.tobytes())
                self.assertEqual((rows.errors, rows.seed), (whole.errors, whole.seed))
        self.assertGreater(refused, self.COUNT // 20)

    def test_the_same_call(self):
        self.runs(False)

    def test_the_same_call_with_records(self):
        self.runs(True, keep_records=True)

    def test_other_questions(self):
        self.runs(True, f=None, questions=0.3)


if __name__ == "__main__":
    run()

"""A seed file keeps the seed off the command line, and is the same for all jobs of an array."""

import os
import stat
import unittest
import unittest.mock

from support import run
from support_cli import InFolder, certreg
from certreg.cli.seeds import seed_in

ASKED = ("--sigma", ".25", "--tolerance", ".5", "--samples", "100")
CERTIFY = ("certify", "models.py:product", "x.npy", *ASKED)


class SeedFiles(InFolder):
    def test_the_first_command_makes_it_and_others_read_it(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        whole = self.rows_of(*CERTIFY, "--seed-file", "seed")
        self.assertEqual(stat.S_IMODE(os.stat("seed").st_mode), 0o600)
        with open("seed", encoding="ascii") as file:
            seed = file.read()
        self.assertEqual(self.rows_of(*CERTIFY, "--seed", seed.strip()), whole)
        parts = [self.rows_of(*CERTIFY, "--seed-file", "seed", "--rows", r) for r in (":2", "2:")]
        self.assertEqual(sum(parts, []), whole)
        with open("seed", encoding="ascii") as file:
            self.assertEqual(file.read(), seed)
        self.rows_of(*CERTIFY, "--seed-file", "other")
        self.assertNotEqual(seed_in("other"), int(seed))

    def test_every_command_with_noise_takes_it(self):
        attack, bounds = ("--calls", 500), ("bounds", "--sigma", ".25", "--radius", ".2")
        for i, words in enumerate((("attack", *ASKED, *attack), bounds, ("sigma", *ASKED))):
            words = (words[0], "models.py:product", "x.npy", *words[1:], "-q")
            self.assertEqual(certreg(*words, "--seed-file", f"{i}")[0], 0, words)
            self.assertTrue(os.path.exists(f"{i}"), words)

    def test_jobs_that_make_it_at_the_same_time_get_one_seed(self):
        """Each finds no file, though another is just making it."""
        with unittest.mock.patch("os.path.exists", lambda path: False):
            self.assertEqual(len({seed_in("seed") for _ in range(5)}), 1)
        self.assertEqual([name for name in os.listdir(".") if "seed" in name], ["seed"])

    def test_it_is_not_told(self):
        words = (*CERTIFY, "--seed-file", "secret", "-o", "r.json")
        _, out, err = certreg(*words)
        with open("r.json", encoding="utf-8") as file:
            told = out + err + file.read()
        self.assertNotIn(str(seed_in("secret")), told)
        self.assertNotIn("secret", told)

    def test_refusals(self):
        for text in ("", "12", "0\n", "-1\n", "1e3\n", "18446744073709551616\n", "1\n2\n", "٣\n"):
            with open("seed", "w", encoding="utf-8") as file:
                file.write(text)
            said = "--seed-file seed holds no seed; it must be one line, with its end: an integer"
            self.certify_refused(said, "--seed-file", "seed", seeded=False, status=4)
        with open("seed", "w", encoding="utf-8") as file:
            file.write("18446744073709551615\n")
        self.assertEqual(seed_in("seed"), 2**64 - 1)
        said = "--seed-file none/seed can neither be read nor made: No such file"
        self.certify_refused(said, "--seed-file", "none/seed", seeded=False, status=4)
        self.certify_refused("not allowed with argument --seed", "--seed-file", "seed")
        both = ("--seed-file", "r.csv", "-o", "r.csv")
        self.certify_refused("names another file", *both, seeded=False)

    def certify_refused(self, sentence, *more, seeded=True, status=2):
        more = (*more, "--seed", 1) if seeded else more
        self.refused(status, sentence, *CERTIFY, *more)


if __name__ == "__main__":
    run()

"""What a command writes is complete, or the exit status says that it is not."""

import contextlib
import fcntl
import io
import os
import resource
import select
import sys
import threading
import unittest
import unittest.mock

import numpy as np

from support import run
from support_cli import ASKED, InFolder, certreg
from certreg.cli import main

F_SETPIPE_SZ = 1031  # of Linux; fcntl names it from Python 3.10 on
FULL = os.path.exists("/dev/full")
LOST = "certreg: standard output cannot be written: No space left on device"
COMMANDS = (
    ("--help",),
    ("check", "--help"),
    ("--version",),
    ("check", "models.py:product", "x.npy", "--sigma", ".25"),
    ("certify", "models.py:product", "x.npy", *ASKED),
    ("certify", "models.py:product", "x.npy", *ASKED, "-o", "-"),
)


def stream(place, unbuffered=False):
    """A stream as Python makes standard output; without a buffer as with PYTHONUNBUFFERED."""
    raw = io.FileIO(place, "w")
    buffer = raw if unbuffered else io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, encoding="utf-8", write_through=unbuffered)


def status_of(words, out, err):
    """The exit status of a command with these streams."""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        return main([str(word) for word in words])


class Pipe:
    """A pipe that does not block and has little room. Its other end is read, 64 bytes at a time,
    once the writer waits or has ended."""

    def __init__(self):
        self.source, self.sink = os.pipe()
        fcntl.fcntl(self.sink, F_SETPIPE_SZ, 4096)
        os.set_blocking(self.sink, False)
        self.parts, self.reader = [], threading.Thread(target=self.read)

    def read(self):
        for part in iter(lambda: os.read(self.source, 64), b""):
            self.parts.append(part)

    def start(self):
        if not self.reader.ident:
            self.reader.start()

    def waiting(self, *where, wait=select.select):
        self.start()
        return wait(*where)

    def everything(self):
        """What was read, once nobody writes."""
        self.start()
        self.reader.join()
        os.close(self.source)
        return b"".join(self.parts).decode()


class Pipes(InFolder):
    def through(self, unbuffered, *words):
        """Status and output of a command through a pipe."""
        pipe = Pipe()
        with stream(pipe.sink, unbuffered) as out:
            with unittest.mock.patch.object(select, "select", pipe.waiting):
                status = status_of(words, out, io.StringIO())
        return status, pipe.everything()

    def test_a_pipe_that_takes_little_at_a_time_gets_everything(self):
        np.save("many.npy", np.random.default_rng(1).normal(size=(40, 3)))
        words = ("certify", "models.py:product", "many.npy", *ASKED, "-o", "-")
        _, wanted, _ = certreg(*words)
        self.assertGreater(len(wanted), 2 * 4096)
        for unbuffered in (True, False):
            self.assertEqual(self.through(unbuffered, *words), (0, wanted))

    def test_a_reader_that_ends_is_no_news(self):
        for unbuffered in (True, False):
            for words in COMMANDS:
                source, sink = os.pipe()
                os.close(source)
                err = io.StringIO()
                with stream(sink, unbuffered) as out:
                    self.assertEqual(status_of(words, out, err), 4, words)
                self.assertEqual(err.getvalue().count("certreg:"), 0, words)


@unittest.skipUnless(FULL, "there is no /dev/full")
class FullDisks(InFolder):
    def full(self, unbuffered=False):
        return stream(os.open("/dev/full", os.O_WRONLY), unbuffered)

    def test_standard_output(self):
        for unbuffered in (True, False):
            for words in COMMANDS:
                err = io.StringIO()
                with self.full(unbuffered) as out:
                    self.assertEqual(status_of(words, out, err), 4, words)
                self.assertRegex(err.getvalue(), rf"(\A|\n){LOST}\n\Z")

    def test_what_the_model_prints(self):
        with open("loud.py", "w", encoding="utf-8") as file:
            file.write("def loud(x):\n    print('called')\n    return x[:, 0]\n")
        self.addCleanup(sys.modules.pop, "loud", None)
        err = io.StringIO()
        with self.full() as out:
            words = ("certify", "loud.py:loud", "x.npy", *ASKED, "-o", "r.csv")
            self.assertEqual(status_of(words, out, err), 4)
        self.assertRegex(err.getvalue(), rf"\A{LOST}\n\Z")

    def test_a_failure_keeps_its_status_where_nobody_reads_it(self):
        for words, status in (
            (("certify", "none.onnx", "x.npy", *ASKED), 2),
            (("certify", "models.py:fails", "x.npy", *ASKED, "--traceback"), 3),
            (("nonsense",), 2),
        ):
            with self.full(True) as err:
                self.assertEqual(status_of(words, io.StringIO(), err), status, words)

    def test_a_summary_that_is_lost_on_standard_error(self):
        words = ("certify", "models.py:product", "x.npy", *ASKED, "-o", "-")
        with self.full(True) as err:
            self.assertEqual(status_of(words, io.StringIO(), err), 4)


class Closed(InFolder):
    def test_streams_that_were_closed_before_the_start(self):
        self.assertEqual(status_of(("--version",), None, io.StringIO()), 4)
        self.assertEqual(status_of(("--version",), io.StringIO(), None), 0)
        words = ("certify", "models.py:fails", "x.npy", *ASKED)
        self.assertEqual(status_of(words, io.StringIO(), None), 3)


class Files(InFolder):
    def limited(self, most, *words):
        """A command while files cannot grow beyond this size, as on a disk with little room."""
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            return certreg(*words)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    def test_results_that_do_not_fit_are_not_left_behind(self):
        np.save("held.npy", np.random.default_rng(6).normal(size=(12, 30)))
        with open("models.py", "a", encoding="utf-8") as file:
            file.write("\ndef sums(x): return x.sum(1)\n")
        tune = ("--sigma", ".4", "--tolerance", 1, "--samples", 50, "--rounds", 1, "--seed", 3)
        for words, name, room in (
            (("certify", "models.py:product", "x.npy", *ASKED), "r.csv", 300),
            (("certify", "models.py:product", "x.npy", *ASKED), "r.json", 300),
            (("scale", "models.py:sums", "held.npy", *tune, "-q"), "r.npy", 200),
        ):
            before = sorted(os.listdir("."))
            status, _, err = self.limited(room, *words, "-o", name)
            self.assertEqual(status, 4, (name, err))
            self.assertRegex(err, rf"certreg: {name} cannot be written: File too large\n\Z")
            self.assertEqual(sorted(os.listdir(".")), before)


if __name__ == "__main__":
    run()

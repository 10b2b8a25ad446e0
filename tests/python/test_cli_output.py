"""What a command writes is complete, or the exit status says that it is not."""

import contextlib
import fcntl
import io
import os
import re
import resource
import select
import sys
import threading
from unittest import mock

import numpy as np
import pytest

from kit import ASKED, CERTIFY, PRODUCT, main, parametrize, read, run, said, write

HOSTILE = "b\x1b]0;t\x07\x7f\x9b2J\u202e\u2028x"  # a title, erasing, a direction, a line
SHOWN = r"b\x1b]0;t\x07\x7f\x9b2J\u202e\u2028x"
LETTERS = "größe نمی\u200cخواهم 価格"
F_SETPIPE_SZ = 1031  # of Linux; fcntl names it from Python 3.10 on
LOST = "certreg: standard output cannot be written: No space left on device; free space"
COMMANDS = (
    ("--help",),
    ("check", "--help"),
    ("--version",),
    ("check", *PRODUCT, "--sigma", ".25"),
    CERTIFY,
    (*CERTIFY, "-o", "-"),
)
FAILS = ("certify", "models.py:fails", "x.npy", *ASKED)
pytestmark = pytest.mark.usefixtures("models")
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
buffered = parametrize("unbuffered", True, False)
every_command = parametrize("words", *COMMANDS, ids=" ".join)


def stream(place, unbuffered=False):
    """A stream as Python makes standard output; without a buffer as with PYTHONUNBUFFERED."""
    raw = io.FileIO(place, "w")
    buffer = raw if unbuffered else io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, encoding="utf-8", write_through=unbuffered)


def full(unbuffered=False):
    return stream(os.open("/dev/full", os.O_WRONLY), unbuffered)


def status_of(words, out, err):
    """The exit status of a command with these streams."""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        return main([str(word) for word in words])


@buffered
def test_a_pipe_that_takes_little_at_a_time_gets_everything(unbuffered):
    """It does not block and has little room. Its other end is read, 64 bytes at a time, once the
    writer waits or has ended."""
    np.save("many.npy", np.random.default_rng(1).normal(size=(40, 3)))
    words = ("certify", PRODUCT[0], "many.npy", *ASKED, "-o", "-")
    wanted, _ = said(*words)
    assert len(wanted) > 2 * 4096
    source, sink = os.pipe()
    fcntl.fcntl(sink, F_SETPIPE_SZ, 4096)
    os.set_blocking(sink, False)
    parts, wait = [], select.select
    read = lambda: parts.extend(iter(lambda: os.read(source, 64), b""))  # noqa: E731
    reader = threading.Thread(target=read)

    def waiting(*where):
        if not reader.ident:
            reader.start()
        return wait(*where)

    with stream(sink, unbuffered) as out, mock.patch.object(select, "select", waiting):
        assert status_of(words, out, io.StringIO()) == 0
    reader.join()
    os.close(source)
    assert b"".join(parts).decode() == wanted


@buffered
@every_command
def test_a_reader_that_ends_is_no_news(words, unbuffered):
    source, sink = os.pipe()
    os.close(source)
    err = io.StringIO()
    with stream(sink, unbuffered) as out:
        assert status_of(words, out, err) == 4
    assert "certreg:" not in err.getvalue()


@needs_full
@buffered
@every_command
def test_standard_output_on_a_full_disk(words, unbuffered):
    err = io.StringIO()
    with full(unbuffered) as out:
        assert status_of(words, out, err) == 4
    assert re.search(rf"(\A|\n){LOST}\n\Z", err.getvalue())


@needs_full
def test_what_the_model_prints_on_a_full_disk(monkeypatch):
    write("loud.py", "def loud(x):\n    print('called')\n    return x[:, 0]\n")
    monkeypatch.setitem(sys.modules, "loud", None)
    monkeypatch.delitem(sys.modules, "loud")
    err = io.StringIO()
    with full() as out:
        words = ("certify", "loud.py:loud", "x.npy", *ASKED, "-o", "r.csv")
        assert status_of(words, out, err) == 4
    assert err.getvalue() == f"{LOST}\n"


@needs_full
@parametrize(
    "words, status",
    (("certify", "none.onnx", "x.npy", *ASKED), 2),
    ((*FAILS, "--traceback"), 3),
    (("nonsense",), 2),
    ((*CERTIFY, "-o", "-"), 4),  # the summary is lost
)
def test_a_status_stays_where_nobody_reads_standard_error(words, status):
    with full(True) as err:
        assert status_of(words, io.StringIO(), err) == status


def test_streams_that_were_closed_before_the_start():
    assert status_of(("--version",), None, io.StringIO()) == 4
    assert status_of(("--version",), io.StringIO(), None) == 0
    assert status_of(FAILS, io.StringIO(), None) == 3


TUNE = "--sigma .4 --tolerance 1 --samples 60 --rounds 1 --seed 3 -q".split()


@parametrize(
    "words, name, room",
    (CERTIFY, "r.csv", 300),
    (CERTIFY, "r.json", 300),
    (("scale", "models.py:sums", "held.npy", *TUNE), "r.npy", 200),
)
def test_results_that_do_not_fit_are_not_left_behind(words, name, room):
    """Files cannot grow beyond a size, as on a disk with little room."""
    np.save("held.npy", np.random.default_rng(6).normal(size=(12, 30)))
    write("models.py", "\ndef sums(x): return x.sum(1)\n", "a")
    files, before = sorted(os.listdir()), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        status, _, err = run(*words, "-o", name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert status == 4, err
    assert err.endswith(f"certreg: {name} cannot be written: File too large\n")
    assert sorted(os.listdir()) == files


def test_names_cells_and_exceptions_never_reach_a_terminal_raw():
    write("t.csv", f"{HOSTILE},{LETTERS},c\n1.5,2,2.5\n3,4.5,1\n2,1,1\n")
    write("models.py", f"def hostile(x): raise ValueError({HOSTILE!r})\n", "a")
    warns = f"__import__('warnings').warn({HOSTILE!r}); return x[:, 0]"
    write("models.py", f"def warns(x): {warns}", "a")
    asked = ("certify", PRODUCT[0], "t.csv", *ASKED)
    for words, status in (
        ((*asked, "--units", "-o", "r.json"), 0),
        (("check", *PRODUCT[:1], "t.csv", "--sigma", "1e-9"), 1),
        (("scale", PRODUCT[0], HOSTILE, "--sigma", ".4", "--tolerance", "1"), 2),
        (("certify", "models.py:hostile", "x.npy", *ASKED, "--traceback"), 3),
    ):
        _, out, err = got = run(*words)
        assert got[0] == status and SHOWN in out + err, got
        assert all(one.isprintable() or one in "\n\u200c" for one in out + err)
    with pytest.warns(UserWarning, match=re.escape(SHOWN)):
        said("certify", "models.py:warns", "x.npy", *ASKED)
    assert LETTERS in said(*asked)[0]
    write("exact.csv", "0,1,1\n")
    said(*asked, "--scale", "exact.csv", "-o", "r.csv")
    assert HOSTILE in read("r.csv")[0]["exact"]  # a file keeps names as they are


@parametrize("terminal", True, False)
def test_a_table_on_standard_output_is_data_unless_that_is_a_terminal(terminal):
    write("t.csv", f"{HOSTILE},b,c\n1.5,2,2.5\n3,4.5,1\n2,1,1\n")
    write("exact.csv", "0,1,1\n")
    out = io.StringIO()
    out.isatty = lambda: terminal
    words = ("certify", PRODUCT[0], "t.csv", *ASKED, "--scale", "exact.csv", "-o", "-", "-q")
    assert status_of(words, out, io.StringIO()) == 0
    assert (HOSTILE in out.getvalue(), SHOWN in out.getvalue()) == (not terminal, terminal)

"""Files are complete or as they were, whoever writes them; those with a seed are private."""

import contextlib
import errno
import os
import re
import resource
import signal
import stat
import threading
from unittest import mock

import numpy as np
import pytest

import kit
from kit import CERTIFY, certreg, parametrize, run, said
from certreg.files import replace
from certreg.cli.files import Destination
from certreg.plots import plot_radii

pytestmark = pytest.mark.usefixtures("models", "usual_umask")


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def contents(path):
    return kit.pathlib.Path(path).read_bytes()


@contextlib.contextmanager
def full_disk(size):
    """No file may get longer than so many bytes; that of pytest's own output included."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


def calibrated():
    return certreg.Calibrated(kit.model, kit.X, kit.model(kit.X), 0.25, samples=11, seed=1)


def plotted(path):
    kit.package("matplotlib")
    plot_radii({"a": [0.1, 0.2]}, path)


WRITERS = {
    "kept.npz": lambda path: calibrated().save(path),
    "kept.denoiser": lambda path: certreg.Denoised(kit.model, kit.X, 0.25).save(path),
    "kept.svg": plotted,
    "kept.npy": lambda path: Destination(path, [".npy"]).write_array(np.ones(500)),
    "kept.csv": lambda path: Destination(path, [".csv"]).write_text("a,b\n" * 500),
}


@parametrize("name, write", *WRITERS.items())
def test_a_save_that_fails_leaves_the_file_as_it_was(name, write):
    write(name)
    before, there = contents(name), sorted(os.listdir())
    with full_disk(100), pytest.raises(Exception, match="File too large"):
        write(name)
    assert contents(name) == before and sorted(os.listdir()) == there


def test_links_are_followed_and_modes_kept():
    kit.write("real.npz", "old")
    os.chmod("real.npz", 0o640)
    os.symlink("real.npz", "link.npz")
    os.symlink("new.npz", "ahead.npz")
    kit.write("real.npz.new", "of the user")
    for path in ("link.npz", "ahead.npz"):
        replace(path, b"new")
        assert os.path.islink(path) and contents(path) == b"new"
    assert (mode("real.npz"), mode("new.npz")) == (0o640, 0o644)
    assert contents("real.npz.new") == b"of the user"
    replace("/dev/null", b"new")
    assert not os.path.isfile("/dev/null")


def of_another_user(path, lstat=os.lstat):
    found = lstat(path)
    return os.stat_result([*found[:4], found.st_uid + 1, *found[5:]])


@parametrize("mode, refused", (0o1777, True), (0o755, False), (0o1775, False))
def test_a_link_of_another_user_in_a_folder_for_all_is_not_followed(mode, refused, monkeypatch):
    """Whether it is the last part of a path, a folder, or behind a link of one's own."""
    os.makedirs("all/own")
    for name in ("kept", "seed", "r.sqlite-journal"):
        kit.write(name, "7\n")
        os.symlink(f"../{name}", f"all/{name}")
    os.symlink("..", "all/out")
    os.symlink("all/kept", "near")
    os.chmod("all", mode)
    monkeypatch.setattr(os, "lstat", of_another_user)
    said = "is a link of another user in a folder for all: remove it, or give another path"
    for path in ("all/kept", "all/out/kept", "near", "all/own/../kept"):
        with pytest.raises(OSError, match=said) if refused else contextlib.nullcontext():
            replace(path, b"new")
        assert contents("kept") == (b"7\n" if refused else b"new")
    if refused:
        asked = ("certify", *kit.PRODUCT, "--sigma", ".25", "--tolerance", ".5")
        kit.command_refused(4, said, *asked, "--seed-file", "all/seed")
        kit.command_refused(4, said, *asked, "--resume", "all/r.sqlite")


def test_failures_name_the_file():
    os.symlink("loop", "loop")
    for path, error, why in (
        ("nowhere/a", FileNotFoundError, ""),
        (".", IsADirectoryError, ""),
        ("loop", OSError, "Too many levels of symbolic links: "),
    ):
        with pytest.raises(error, match=f"{why}{re.escape(repr(path))}"):
            replace(path, b"new")
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with mock.patch.object(os, "fsync", side_effect=full):
        with pytest.raises(OSError, match="No space left on device; free space: 'new'"):
            replace("new", b"new")
    kit.write("kept", "old")
    os.chmod("kept", 0o444)
    if os.geteuid():  # root may write it
        with pytest.raises(PermissionError, match="'kept'"):
            replace("kept", b"new")
        assert contents("kept") == b"old"


def test_writers_of_one_file_do_not_disturb_one_another():
    def write(letter):
        for _ in range(50):
            replace("shared", letter * 100_000)
            data = contents("shared")
            mixed.append((len(data), len(set(data))))

    mixed = []
    writers = [threading.Thread(target=write, args=(letter,)) for letter in (b"A", b"B")]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert set(mixed) == {(100_000, 1)} and len(mixed) == 100


@parametrize("command", ("certify",), ("attack", "--calls", "500"))
def test_a_file_with_a_seed_is_for_its_owner_alone(command):
    ask = (command[0], *CERTIFY[1:], *command[1:], "-o")
    said(*ask, "r.json")
    assert mode("r.json") == 0o644  # it has none
    said(*ask, "r.json", "--keep-seed")
    assert mode("r.json") == 0o600 and '"seed"' in contents("r.json").decode()


def test_a_plot_has_the_format_of_its_name_not_of_the_file_behind_it():
    kit.package("matplotlib")
    os.symlink("data", "r.svg")
    assert run(*CERTIFY, "--plot", "r.svg")[0] == 0
    assert contents("data").startswith(b"<?xml")

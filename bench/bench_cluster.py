"""What certifying a million inputs by 10,000 samples each takes on k nodes: the constants, measured
here with a model that costs nothing, and the table that follows from them.

    make bench-cluster"""

import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

from certreg import Estimator, Question, certify_rows
from page import show

INPUTS, SAMPLES, CORES, MODEL = 1_000_000, 10_000, 32, 1e-5  # of a node; seconds of a call
FEATURES, ROWS, FEW, NODES = 64, 5000, 20, (1, 10, 100, 1000)
X = np.zeros((ROWS, FEATURES), np.float32)


def model(x):
    return x[:, 0]


def least(*calls, clock=time.process_time):
    """The least seconds of each, of three that take turns."""
    times = [[] for _ in calls]
    for _ in range(3):
        for call, found in zip(calls, times):
            begun = clock()
            call()
            found.append(clock() - begun)
    return map(min, times)


def library():
    """Seconds for a sample, and for an answer."""
    with Estimator(model, FEATURES, SAMPLES, batch=1000, seed=1) as e:

        def draw():
            e.begin(X[0], 0.25)
            e.sample(0, SAMPLES)

        drawn, answered = least(draw, lambda: e.certify(0, Question(0.5)))
    return drawn / SAMPLES, answered


def by_package(folder):
    """Seconds to write a row, with a record, to read it again; bytes of it, and of a record beyond
    its outputs."""
    paths = map(folder.joinpath, map(str, range(9)))
    rows = functools.partial(certify_rows, model, X, 0.25, 0.5, samples=FEW, progress=False)
    whole, kept = folder / "whole", folder / "kept"
    rows(seed=1, resume=whole)
    rows(seed=1, resume=kept, keep_records=True)
    size, size_kept = (path.stat().st_size / ROWS for path in (whole, kept))
    bare, wrote, recorded, read = least(
        rows,
        lambda: rows(resume=next(paths)),
        lambda: rows(resume=next(paths), keep_records=True),
        lambda: rows(resume=whole),
    )
    times = (seconds / ROWS for seconds in (wrote - bare, recorded - bare, read))
    return *times, size, size_kept - size - 4 * FEW


def by_mpi(folder, program):
    """Seconds in which rank 0 hands out and writes a unit of one row, without messages and without
    the row's own work, since it is refused; and bytes of a row."""
    np.full((ROWS, 5), np.nan, "<f4").tofile(folder / "none")
    np.zeros((FEW, 5), "<f4").tofile(folder / "x")
    paths = map("out{}".format, range(9))

    def call(inputs):
        words = [program, inputs, next(paths), ".25", ".5", str(FEW), "--chunk", "1"]
        subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    started, wrote = least(lambda: call("x"), lambda: call("none"), clock=time.perf_counter)
    return (wrote - started) / (ROWS - FEW), (folder / "out0").stat().st_size / FEW


def duration(seconds):
    for unit, name in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.2g} s"


def main():
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        sample, answer = library()
        wrote, recorded, read, size, beyond = by_package(folder)
        unit, line = by_mpi(folder, sys.argv[1]) if os.path.exists(sys.argv[1]) else (np.nan,) * 2
    record = beyond + 4 * SAMPLES
    constants = [
        [f"noise of a sample, {FEATURES} features", f"{1e9 * sample:.0f} ns", ""],
        [f"an answer, median of {SAMPLES:,}", f"{1e6 * answer:.0f} µs", ""],
        ["resume file: a row written", f"{1e6 * wrote:.0f} µs", f"{size:.0f}"],
        [f"the same with a record, of {FEW} samples", f"{1e6 * recorded:.0f} µs",
         f"{size + record:.0f} with {SAMPLES:,}"],
        ["resume file: a row read again", f"{1e6 * read:.0f} µs", ""],
        ["`examples/mpi`: a row written by rank 0", f"{1e6 * unit:.0f} µs", f"{line:.0f}"],
    ]  # fmt: skip
    show("constants", ["measured", "time", "bytes of a row"], *constants)
    lines = []
    for nodes in NODES:
        rows = INPUTS / nodes  # of a node
        model_s, library_s = SAMPLES * MODEL, SAMPLES * sample + answer
        lines.append(
            [nodes, f"{rows * SAMPLES:.0e}", duration(rows * model_s / CORES),
             duration(rows * library_s / CORES), f"{rows * size / 1e6:.3g} MB",
             f"{rows * record / 1e9:.2g} GB", duration(INPUTS * wrote), duration(rows * wrote),
             duration(INPUTS * unit)]
        )  # fmt: skip
    head = "nodes,calls,model,library,rows,records,one writer,one each,MPI".split(",")
    show("cluster", head, *lines)


if __name__ == "__main__":
    main()

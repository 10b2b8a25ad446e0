"""The commands scale, denoise train and denoise join."""

from __future__ import annotations

import argparse
import contextlib
import math
from typing import Iterator

import numpy as np

from ..arguments import Names
from ..display import aligned
from ..rows import grouped
from ..training import join_denoiser, train_denoiser
from ..tuning import tune_scale
from .files import Destination, Features, read_groups, read_rows, read_scale
from .report import as_lines
from .run import Work, questions, sampling
from .streams import DONE, FILE, Failure, answer, warn

NO_GAIN = 0.95  # an error above it
NO_USE = "It is useless: an error of 1 means that all noise is left. Give more inputs."
USE = (
    "An error of 1 means that all noise is left. Join it with the model, and compare both by "
    "certreg sigma with --labels, on inputs that did not train it."
)


def scale(given: argparse.Namespace) -> int:
    """Chooses a scale and sigma, prints them, and writes the scale."""
    work = Work(given, (".npy", ".csv"))
    names, shape = work.features.names, work.X.shape[1:]
    groups = None if names is None else np.reshape(names, shape)  # each feature under its name
    if given.groups:
        groups = read_groups(given.groups, shape, work.features)
    with work.failures():
        tuned = tune_scale(
            work.function,
            work.X,
            given.sigma,
            questions(given)[0],
            groups=groups,
            scale=work.scale,
            inputs=work.inputs,
            box=work.box,
            rounds=given.rounds,
            limit=given.limit,
            labels=work.labels,
            **grouped({**work.outputs(work.X, work.first), **sampling(given)}),
        )
    if work.table is not None:
        _write(work.table, np.asarray(tuned.scale, np.float32), work.features.names)
    fields = "sigma changed gain gain_error scale".split()
    document = {name: getattr(tuned, name) for name in fields}
    document.update(scale=np.asarray(tuned.scale), groups=tuned.table())
    answer(given, str(tuned), document)
    return DONE


def _write(destination: Destination, scale: np.ndarray, names: Names) -> None:
    if destination.suffix == ".npy":
        destination.write_array(scale)
        return
    numbers = scale.ravel().astype(np.float64).tolist()  # all digits: fewer would be rounded up
    destination.write_text(as_lines([*([] if names is None else [names]), numbers]))


@contextlib.contextmanager
def _failures(given: argparse.Namespace) -> Iterator[None]:
    """Turns exceptions of the package into a Failure."""
    Destination(given.out, (".onnx",))
    try:
        yield
    except OSError as error:
        raise Failure(error, FILE) from error
    except (ImportError, TypeError, ValueError) as error:
        raise Failure(error) from error


def train(given: argparse.Namespace) -> int:
    """Trains a denoiser, writes it, and prints its errors."""
    with _failures(given):
        X, names, _ = read_rows(given.inputs, given.array, given.rows or (0, None))
        features = Features(given.inputs, names, warn)
        scale = None
        if given.scale:
            scale = read_scale(
                given.scale, X.shape[1:], features, lambda path: read_rows(path)[0] if path else X
            )
        shape: tuple[int, ...] = given.shape or X.shape[1:]
        if math.prod(shape) != X[0].size:
            raise Failure(f"--shape is {shape}, but {given.inputs} has rows of {X[0].size} numbers")
        made = train_denoiser(
            X.reshape(len(X), *shape),
            given.out,
            sigmas=given.sigma,
            scale=scale,
            signals=given.signals,
            steps=given.steps,
            seed=given.seed,
            progress=not given.quiet,
        )
    advice = NO_USE if min(made.errors) > NO_GAIN else USE
    answer(given, f"{aligned(made.table())}\n{advice}", {"errors": made.table()})
    return DONE


def join(given: argparse.Namespace) -> int:
    """Writes a denoiser and a model as one file."""
    with _failures(given):
        join_denoiser(given.denoiser, given.model, given.out)
    if given.json:
        answer(given, "", {"joined": given.out})
    return DONE

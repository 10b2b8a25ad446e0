"""The commands denoise train and denoise join."""

from __future__ import annotations

import argparse
import contextlib
import math
from typing import Iterator, Optional

import numpy as np

from ..joining import join_denoiser
from ..result import aligned
from ..training import train_denoiser
from .failure import DONE, FILE, INTERRUPTED, Failure, one_line
from .features import Features
from .files import Destination, read_rows, read_scale
from .progress import counter
from .streams import complain, say

NO_GAIN = 0.95  # an error above it


@contextlib.contextmanager
def _failures(given: argparse.Namespace) -> Iterator[None]:
    """Makes a Failure of what the package raises."""
    Destination(given.out, (".onnx",))
    try:
        yield
    except KeyboardInterrupt as error:
        raise Failure("interrupted; repeat the command to go on", INTERRUPTED) from error
    except OSError as error:
        raise Failure(error, FILE) from error
    except (ImportError, TypeError, ValueError) as error:
        raise Failure(one_line(error).replace("sigmas is", "--sigma is")) from error


def train(given: argparse.Namespace) -> int:
    """Trains a denoiser, writes it, and prints its errors."""
    with _failures(given):
        X, names, _ = read_rows(given.inputs, given.array, given.rows or (0, None))
        features = Features(given.inputs, names, complain)
        scale = read_scale(given.scale, X.shape[1:], features) if given.scale else None
        made = train_denoiser(
            _shaped(given, X),
            given.out,
            sigmas=given.sigma,
            scale=scale,
            signals=given.signals,
            steps=given.steps,
            seed=given.seed,
            progress=counter(given.quiet, "steps"),
        )
    say(f"{aligned(made.table())}\n{_advice(made.errors)}\n")
    return DONE


def _shaped(given: argparse.Namespace, X: np.ndarray) -> np.ndarray:
    shape: Optional[tuple[int, ...]] = given.shape
    if shape is None:
        return X
    if math.prod(shape) != X[0].size:
        raise Failure(f"--shape is {shape}, but {given.inputs} has rows of {X[0].size} numbers")
    return X.reshape(len(X), *shape)


def _advice(errors: tuple[float, ...]) -> str:
    """What the errors mean."""
    if min(errors) > NO_GAIN:
        return "It is of no use: an error of 1 is that of the noise itself. Give more inputs."
    return (
        "An error of 1 is that of the noise itself. Join it with the model, and compare both by "
        "certreg sigma with --labels, on inputs that did not train it."
    )


def join(given: argparse.Namespace) -> int:
    """Writes a denoiser and a model as one file."""
    with _failures(given):
        join_denoiser(given.denoiser, given.model, given.out)
    return DONE

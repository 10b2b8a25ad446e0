"""Trains a denoising network for models that were not trained under noise: by torch, on inputs
without labels. The result is an ONNX file."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import os
from typing import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import _network, _protobuf
from ._arguments import integer, listed, path_of, positive
from ._arrays import check_finite, inputs_of, numbers, scale_of
from ._files import replace_arrays
from ._optional import needed
from ._progress import Reporter
from ._types import Package, Path, Progress, Shape, Table, Tensor

Plan = tuple[float, float, int, int]  # lowest and highest sigma, steps, seed
MARK = "certreg_denoiser"  # in the metadata of a file
ROWS, RATE, KEPT_EVERY = 16, 2e-3, 500  # of a step; largest rate; steps between two states
HELD_BACK, MOST_HELD_BACK, LEVELS = 8, 1000, 5  # every eighth row only measures the error
TINY, HUGE = 1e-15, 1e15  # limits of noise: squares and quotients must fit into float32
OPSET_13 = _protobuf.part(_protobuf.OPSET, [_protobuf.whole(2, 13)])


@dataclasses.dataclass(frozen=True)
class TrainedDenoiser:
    """The result of train_denoiser. Experimental.

    Attributes
    ----------
    path : str
        Path of the ONNX file.
    sigmas : tuple of float
        Noise levels, from the lowest to the highest of the training.
    errors : tuple of float
        Share of the variance of the noise that is left at each level, measured on inputs that were
        held back. 1: the denoiser is useless."""

    path: str
    sigmas: tuple[float, ...]
    errors: tuple[float, ...]

    def table(self) -> Table:
        """Return a dict with sigma and the error of each noise level."""
        return [{"sigma": s, "error": e} for s, e in zip(self.sigmas, self.errors)]


def train_denoiser(
    X: ArrayLike,
    path: Path,
    *,
    sigmas: Sequence[float],
    scale: ArrayLike | None = None,
    signals: bool = False,
    steps: int = 16_000,
    seed: int = 1,
    progress: Progress = True,
) -> TrainedDenoiser:
    """Train a denoising network by torch, and write it as an ONNX file for join_denoiser.

    Experimental.

    It takes minutes for 28x28 images. After an interruption the same call goes on from the file
    path.partial, which has the state of the run until its end.

    Parameters
    ----------
    X : array_like
        Inputs without noise and without labels, at least 2, better thousands; not inputs of
        certificates or calibrations. Images are (n, height, width) or (n, channels, height, width),
        other inputs (n, features).
    path : str or path
        Path of the ONNX file.
    sigmas : (float, float)
        Lowest and highest noise level; certificates may use any level between.
    scale : array_like, optional
        Noise of each feature in units of sigma, as for certify_rows. A feature with scale 0 passes
        bit for bit, and helps to estimate the noisy features.
    signals : bool
        Rows are signals in time, (n, length) or (n, channels, length).
    steps : int
        Training steps, of 16 inputs each.
    seed : int
        Seed of weights, order and noise. The same seed makes the same file with the same torch,
        processor and number of threads.
    progress : bool or callable
        Show a count, or call a function of (steps done, steps).

    Returns
    -------
    TrainedDenoiser
        The path, and errors at several noise levels.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments, and for a state of another run.
    ImportError
        If torch is missing."""
    plan = *_range(sigmas), integer(steps, "steps", 1, 10**9), integer(seed, "seed")
    name, (matrix, inner) = os.fsdecode(path_of(path)), _inputs(X, signals)
    rows = matrix.reshape(-1, *inner)
    run = _Training(rows, _scale(scale, matrix.shape[1:], inner, plan[:2]), plan)
    _train(run, f"{name}.partial", progress)
    errors = run.errors()
    _protobuf.replace(name, _file(run, matrix, errors))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{name}.partial")
    return TrainedDenoiser(name, tuple(errors), tuple(errors.values()))


def _range(sigmas: Sequence[float]) -> tuple[float, float]:
    found = [positive(sigma, f"sigmas[{i}]") for i, sigma in enumerate(listed(sigmas, "sigmas"))]
    if len(found) != 2 or found[0] > found[1]:
        raise ValueError(f"sigmas is {sigmas!r}; it must be (lowest, highest)")
    return found[0], found[1]


def _inputs(X: ArrayLike, signals: bool) -> tuple[np.ndarray, Shape]:
    """The inputs as float32, and the shape of a row for the network."""
    given = inputs_of(X)
    with np.errstate(over="ignore"):
        matrix = np.ascontiguousarray(numbers(given, np.float32, "X"))
    check_finite(matrix, given, "X", "finite in float32")
    if (matrix == matrix[0]).all():
        raise ValueError("X must have at least 2 rows that differ, better thousands")
    shape, lengths = matrix.shape[1:], "length" if signals else "height, width"
    if len(shape) == 1 and not signals:
        return matrix, shape
    inner = (1, *shape) if len(shape) == (1 if signals else 2) else shape
    if len(inner) != (2 if signals else 3):
        raise ValueError(f"X has shape {matrix.shape}; it must be (n, channels, {lengths})")
    if min(inner[1:]) < _network.SHORTEST:
        too_short = f"rows of X have shape {shape}; a side must be at least {_network.SHORTEST}"
        raise ValueError(f"{too_short}: give X.reshape(len(X), -1)")
    return matrix, inner


def _scale(
    scale: ArrayLike | None, shape: Shape, inner: Shape, levels: tuple[float, float]
) -> np.ndarray:
    values: np.ndarray = scale_of(1.0 if scale is None else scale, shape).astype(np.float64)
    fine = (values >= TINY / levels[0]) & (values <= HUGE / levels[1]) | (values == 0)
    if not fine.all() or not values.any():
        raise ValueError("scale * sigma must be 0 or from 1e-15 to 1e15, not 0 for all features")
    return values.reshape(inner)


def _constants(rows: np.ndarray, scale: np.ndarray, unit: float) -> dict[str, np.ndarray]:
    """The constants of the network: center and width of its inputs, for each channel or feature;
    the noise at a middle level; the features that have noise."""
    values: np.ndarray = rows.astype(np.float64)
    over, step = tuple(range(2, rows.ndim)), unit * scale
    width = np.sqrt(values.var((0, *over)) + (step[None] ** 2).mean((0, *over)))
    each = (-1, *(1,) * len(over))
    found = {
        "mean": values.mean((0, *over)).reshape(each),
        "inverse": (1 / np.where(width > 0, width, 1)).reshape(each),
        "step": step if np.ptp(step) else step[(slice(0, 1),) * step.ndim],
    }
    single = {name: array.astype(np.float32) for name, array in found.items()}
    return single if scale.all() else {**single, "noisy": scale > 0}


class _Training:
    """A network, its training data and its state, with tensors by name. `unit` is the noise level
    of `step`, which is 0 for features without noise."""

    def __init__(self, rows: np.ndarray, scale: np.ndarray, plan: Plan) -> None:
        self.plan, self.levels, (self.steps, self.seed) = plan, plan[:2], plan[2:]
        self.unit, self.inner = math.sqrt(plan[0] * plan[1]), rows.shape[1:]
        self.constants = _constants(rows, scale, self.unit)
        torch = self.torch = needed("torch", "train_denoiser")
        held = np.arange(len(rows)) % HELD_BACK == 0
        self.rows = torch.from_numpy(rows[~held])
        self.held = torch.from_numpy(rows[held][:MOST_HELD_BACK])
        self.fixed = _tensors(torch, self.constants)
        first = _network.at_first(self.inner, np.random.default_rng(self.seed))
        self.means, self.learned = _tensors(torch, first), _tensors(torch, first)
        self.optimiser = torch.optim.AdamW(self.learned.values(), RATE, weight_decay=1e-4)
        for weights in self.learned.values():
            weights.requires_grad_()
            moments = {key: torch.zeros_like(weights.data) for key in ("exp_avg", "exp_avg_sq")}
            self.optimiser.state[weights] = {"step": torch.tensor(0.0), **moments}

    def tensors(self) -> dict[str, Tensor]:
        """The tensors that change in a step, by name."""
        found = {f"{name} mean": mean for name, mean in self.means.items()}
        for name, weights in self.learned.items():
            state = self.optimiser.state[weights]
            found |= {name: weights.data, **{f"{name} {key}": state[key] for key in state}}
        return found

    def fingerprint(self) -> str:
        """A digest of everything on which the steps depend."""
        digest = hashlib.sha256(repr((self.torch.__version__, self.plan)).encode())
        for array in (self.rows.numpy(), *self.constants.values()):
            digest.update(repr(array.shape).encode() + array.tobytes())
        return digest.hexdigest()

    def dice(self, *number: int) -> Tensor:
        """A generator for a step, which does not depend on interruptions."""
        state = np.random.SeedSequence((self.seed, *number)).generate_state(1, np.uint64)
        return self.torch.Generator().manual_seed(int(state[0]) >> 1)

    def step(self, number: int) -> None:
        """One step of the training: the rate rises at first, and then falls to 0."""
        torch, dice, (low, high) = self.torch, self.dice(0, number), self.levels
        rows = self.rows[torch.randint(len(self.rows), (ROWS,), generator=dice)]
        share = torch.rand((ROWS, *(1,) * len(self.inner)), generator=dice)
        sigma = low + share * (high - low)
        loss = (self.left(self.learned, rows, sigma, dice) * (self.unit / sigma)).mean()
        self.optimiser.zero_grad()
        loss.backward()
        ahead = (number + 1) / self.steps
        falling = 0.5 + 0.5 * math.cos(math.pi * ahead)
        self.optimiser.param_groups[0]["lr"] = RATE * min(20 * ahead, falling)
        self.optimiser.step()
        with torch.no_grad():
            for mean, now in zip(self.means.values(), self.learned.values()):
                mean.lerp_(now, max(0.002, 10 / (number + 10)))

    def left(
        self, weights: Mapping[str, Tensor], rows: Tensor, sigma: Tensor, dice: Tensor
    ) -> Tensor:
        """The squares of the noise that is left, in units of `step`; 0 without noise. Without
        weights all noise is left."""
        step = self.fixed["step"]
        noise = self.torch.randn(rows.shape, generator=dice) * (sigma / self.unit)
        if weights:
            functions = _network.of_torch(self.torch, self.inner)
            values, x = {**self.fixed, **weights}, rows + noise * step
            noise = noise - _network.noise(functions, values, x, self.inner)
        return (noise * (step > 0)) ** 2

    def errors(self) -> dict[float, float]:
        """The error of the averaged weights on the rows that were held back, by sigma."""
        with self.torch.no_grad():
            levels = np.geomspace(*self.levels, LEVELS).tolist()
            return {s: self._all(self.means, s) / self._all({}, s) for s in levels}

    def _all(self, weights: Mapping[str, Tensor], sigma: float) -> float:
        parts = enumerate(self.held.split(ROWS))
        left = (self.left(weights, rows, sigma, self.dice(1, at)) for at, rows in parts)
        return sum(float(squares.double().sum()) for squares in left)


def _tensors(torch: Package, arrays: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}


def _train(run: _Training, path: str, progress: Progress) -> None:
    """All steps, or the steps that an earlier run has left."""
    fingerprint = run.fingerprint()
    done = _read(run, path, fingerprint) if os.path.exists(path) else 0
    reporter = Reporter(progress, done, run.steps, "steps")
    for number in range(done, run.steps):
        run.step(number)
        if (number + 1) % KEPT_EVERY == 0:
            _write(run, path, dict(told=fingerprint, done=number + 1))
        reporter.advance(1)


def _read(run: _Training, path: str, fingerprint: str) -> int:
    """Sets the run to the state in a file. Returns the number of steps that are done."""
    try:
        with np.load(path, allow_pickle=False) as file:
            kept = dict(file)
        theirs, done = str(kept["told"]), int(kept["done"])
    except Exception:  # numpy and zipfile raise various classes for damaged files
        raise ValueError(f"{path} is damaged: delete it") from None
    if theirs != fingerprint:
        raise ValueError(f"{path} is the state of another run: repeat that run, or delete it")
    for name, tensor in run.tensors().items():
        tensor.copy_(run.torch.from_numpy(kept[name]))
    return done


def _write(run: _Training, path: str, facts: Mapping[str, object]) -> None:
    replace_arrays(path, **facts, **{name: t.numpy() for name, t in run.tensors().items()})


def _file(run: _Training, matrix: np.ndarray, errors: dict[float, float]) -> bytes:
    """The network with the averaged weights, as the bytes of its file."""
    if not np.isfinite(list(errors.values())).all():
        raise ValueError("the training failed: give X in units in which its numbers are near 1")
    facts = {
        "sigmas": [*errors],
        "errors": [*errors.values()],
        "rows": len(matrix),
        "seed": run.seed,
        "inputs_sha256": hashlib.sha256(matrix.tobytes()).hexdigest(),
    }
    weights = {name: values.numpy() for name, values in run.means.items()}
    return denoiser_file({**run.constants, **weights}, run.inner, matrix.shape[1:], facts)


def denoiser_file(
    arrays: Mapping[str, np.ndarray], inner: Shape, shape: Shape, facts: Mapping[str, object]
) -> bytes:
    """An ONNX file of a network with these weights and constants, for rows of this shape."""
    nodes, x = _network.Nodes(inner), _network.PREFIX + "x"
    made = _network.denoised(nodes, nodes.constants(arrays), nodes.shaped(x, inner), inner)
    lengths: list[int | str] = ["N", *shape]
    y = nodes.shaped(made, shape)
    entry = _protobuf.tensor(_protobuf.INPUT, x, lengths)
    ends = [entry, _protobuf.tensor(_protobuf.OUTPUT, y, lengths)]
    graph = [*nodes.fields, _protobuf.text(2, "denoiser"), *ends]
    versions = [_protobuf.whole(_protobuf.IR_VERSION, 8), _protobuf.text(2, "libcertreg"), OPSET_13]
    return _protobuf.model(graph, {MARK: json.dumps(facts)}, versions)

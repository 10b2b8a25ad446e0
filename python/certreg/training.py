"""Trains denoisers, and joins them with models."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
import math
import os
import types
from typing import Any, Callable, Mapping, Sequence, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .arguments import Package, Path, Shape, Tensor, integer, listed, needed, path_of, positive
from .arrays import check_finite, inputs_of, numbers, scale_of
from .display import Progress, Reporter, Table
from .files import replace, replace_arrays

FINE, COARSE, HIDDEN = {1: 48, 2: 24}, {1: 72, 2: 40}, 128  # channels, by dimensions; of vectors
SHORTEST = 4  # side of an image
LAST = ("up1", "linear", "dense2")
PREFIX = "certreg_denoiser/"  # of names, which no model has


Functions: TypeAlias = Any  # add, sub, mul, relu, where, linear, conv and up
Attribute = int | Sequence[int] | None  # of a node; None: it has none
Length = int | str  # a free length is a name
Proto: TypeAlias = Any  # a message of ONNX


def at_first(inner: Shape, dice: np.random.Generator) -> dict[str, np.ndarray]:
    """Initial weights and biases, for inputs of this shape: (channels, length), (channels, height,
    width) or (features,). The last layers are 0, so that inputs pass unchanged."""
    found = {}
    for name, shape in _shapes(inner).items():
        up = name.startswith("up")  # a transposed convolution of stride 2
        reads = shape[0] * 2 ** (len(shape) - 2) if up else math.prod(shape[1:])
        spread = 0.0 if name in LAST else math.sqrt(2 / reads)
        found[name] = (dice.normal(size=shape) * spread).astype(np.float32)
        found[f"{name}_bias"] = np.zeros(shape[1 if up else 0], np.float32)
    return found


def _shapes(inner: Shape) -> dict[str, Shape]:
    if len(inner) == 1:
        sizes = (*inner, HIDDEN, HIDDEN, *inner)
        return {f"dense{i}": (sizes[i + 1], sizes[i]) for i in range(3)}
    rank, channels = len(inner) - 1, inner[0]
    fine, coarse, wide, narrow = FINE[rank], COARSE[rank], (4,) * rank, (3,) * rank
    return {
        "fine0": (fine, channels, *wide),
        "fine1": (fine, fine, *narrow),
        "coarse0": (coarse, fine, *wide),
        "coarse1": (coarse, coarse, *narrow),
        "coarse2": (coarse, coarse, *narrow),
        "up0": (coarse, fine, *wide),
        "fine2": (fine, fine, *narrow),
        "up1": (fine, channels, *wide),
        "linear": (channels, channels, *narrow),
    }


def denoised(f: Functions, w: Mapping[str, Tensor], x: Tensor, inner: Shape) -> Tensor:
    """Inputs without the estimated noise. Features without noise pass unchanged."""
    clean = f.sub(x, f.mul(noise(f, w, x, inner), w["step"]))
    return f.where(w["noisy"], clean, x) if "noisy" in w else clean


def noise(f: Functions, w: Mapping[str, Tensor], x: Tensor, inner: Shape) -> Tensor:
    """The estimated noise of inputs, in units of `step`. w: weights and constants by name."""

    def layer(call: Callable[..., Tensor], name: str, x: Tensor, *settings: object) -> Tensor:
        return call(x, w[name], w[f"{name}_bias"], *settings)

    u = f.mul(f.sub(x, w["mean"]), w["inverse"])
    if len(inner) == 1:
        u = f.relu(layer(f.linear, "dense1", f.relu(layer(f.linear, "dense0", u))))
        return layer(f.linear, "dense2", u)
    odd, odd_half = [s % 2 for s in inner[1:]], [s // 2 % 2 for s in inner[1:]]  # one more, up
    kept = f.relu(layer(f.conv, "fine1", f.relu(layer(f.conv, "fine0", u, 2, 1)), 1, 1))
    h = f.relu(layer(f.conv, "coarse0", kept, 2, 1))
    h = f.relu(layer(f.conv, "coarse2", f.relu(layer(f.conv, "coarse1", h, 1, 1)), 1, 1))
    h = f.relu(f.add(layer(f.up, "up0", h, 2, 1, odd_half), kept))
    h = f.relu(layer(f.conv, "fine2", h, 1, 1))
    return f.add(layer(f.up, "up1", h, 2, 1, odd), layer(f.conv, "linear", u, 1, 1))


def of_torch(torch: Package, inner: Shape) -> Functions:
    """The functions that run a network on tensors."""
    functions, rank = torch.nn.functional, len(inner) - 1
    names = ("add", "sub", "mul", "relu", "where")
    return types.SimpleNamespace(
        **{name: getattr(torch, name) for name in names},
        linear=functions.linear,
        conv=getattr(functions, f"conv{rank}d", None),  # none for vectors
        up=getattr(functions, f"conv_transpose{rank}d", None),
    )


def _onnx() -> Package:
    """The package onnx. Raises ImportError if it is missing."""
    needed("onnx.numpy_helper", "a trained denoiser")  # not every version imports it by itself
    return needed("onnx", "a trained denoiser")


class Nodes:
    """The functions that write a network as nodes of ONNX. A tensor is its name."""

    def __init__(self, inner: Shape) -> None:
        self.rank, self.onnx = len(inner) - 1, _onnx()
        self.graph = self.onnx.GraphProto(name="denoiser")

    def _count(self) -> int:
        return len(self.graph.initializer) + len(self.graph.node)

    def constants(self, arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
        names = {name: PREFIX + name for name in arrays}
        tensors = map(self.onnx.numpy_helper.from_array, arrays.values(), names.values())
        self.graph.initializer.extend(tensors)
        return names

    def call(self, operator: str, *inputs: str, output: str = "", **attributes: Attribute) -> str:
        output = output or f"{PREFIX}{self._count()}"
        node = self.onnx.helper.make_node(operator, inputs, [output], **attributes)
        self.graph.node.append(node)
        return output

    def shaped(self, x: str, shape: Sequence[Length], output: str = "") -> str:
        """Rows of this shape."""
        name = f"of {output}" if output else f"lengths{self._count()}"
        lengths = self.constants({name: np.array([-1, *shape], np.int64)})
        return self.call("Reshape", x, *lengths.values(), output=output)

    add = functools.partialmethod(call, "Add")
    sub = functools.partialmethod(call, "Sub")
    mul = functools.partialmethod(call, "Mul")
    relu = functools.partialmethod(call, "Relu")
    where = functools.partialmethod(call, "Where")
    linear = functools.partialmethod(call, "Gemm", transB=1)

    def conv(
        self, x: str, w: str, b: str, stride: int, padding: int, odd: Sequence[int] | None = None
    ) -> str:
        """A convolution, or with `odd` a transposed one."""
        operator = "Conv" if odd is None else "ConvTranspose"
        return self.call(
            *(operator, x, w, b),
            kernel_shape=next(list(c.dims[2:]) for c in self.graph.initializer if c.name == w),
            strides=[stride] * self.rank,
            pads=[padding] * 2 * self.rank,
            output_padding=odd,
        )

    up = conv

    def floats(self, name: str, lengths: Sequence[Length]) -> Proto:
        """An input or output."""
        kind = self.onnx.TensorProto.FLOAT
        return self.onnx.helper.make_tensor_value_info(name, kind, lengths)


Plan = tuple[float, float, int, int]  # lowest and highest sigma, steps, seed
MARK = "certreg_denoiser"  # in the metadata of a file
ROWS, RATE, KEPT_EVERY = 16, 2e-3, 500  # of a step; largest rate; steps between two states
HELD_BACK, MOST_HELD_BACK, LEVELS = 8, 1000, 5  # every eighth row only measures the error
TINY, HUGE = 1e-15, 1e15  # limits of noise: squares and quotients must fit into float32


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

    Experimental. It takes minutes for 28x28 images. After an interruption the same call goes on
    from the file path.partial, which has the state of the run until its end.

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
        onnx, processor and number of threads.
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
        If torch or onnx is missing."""
    levels = [positive(sigma, f"sigmas[{i}]") for i, sigma in enumerate(listed(sigmas, "sigmas"))]
    if len(levels) != 2 or levels[0] > levels[1]:
        raise ValueError(f"sigmas is {sigmas!r}; it must be (lowest, highest)")
    low, high = levels
    plan = low, high, integer(steps, "steps", 1, 10**9), integer(seed, "seed")
    name, (matrix, inner) = os.fsdecode(path_of(path)), _inputs(X, signals)
    values: np.ndarray = scale_of(scale, matrix.shape[1:])
    values = values.astype(np.float64)
    fine = (values >= TINY / low) & (values <= HUGE / high) | (values == 0)
    if not fine.all() or not values.any():
        raise ValueError("scale * sigma must be 0 or from 1e-15 to 1e15, not 0 for all features")
    run = _Training(matrix.reshape(-1, *inner), values.reshape(inner), plan)
    _onnx()  # not missed only after the training
    _train(run, f"{name}.partial", progress)
    errors = run.errors()
    replace(name, _file(run, matrix, errors))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{name}.partial")
    return TrainedDenoiser(name, tuple(errors), tuple(errors.values()))


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
    if min(inner[1:]) < SHORTEST:
        too_short = f"rows of X have shape {shape}; a side must be at least {SHORTEST}"
        raise ValueError(f"{too_short}: give X.reshape(len(X), -1)")
    return matrix, inner


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
        first = at_first(self.inner, np.random.default_rng(self.seed))
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
        left = self.torch.randn(rows.shape, generator=dice) * (sigma / self.unit)
        if weights:
            functions = of_torch(self.torch, self.inner)
            values, x = {**self.fixed, **weights}, rows + left * step
            left = left - noise(functions, values, x, self.inner)
        return (left * (step > 0)) ** 2

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
            arrays = {name: tensor.numpy() for name, tensor in run.tensors().items()}
            replace_arrays(path, told=fingerprint, done=number + 1, **arrays)
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
    nodes, x = Nodes(inner), PREFIX + "x"
    made = denoised(nodes, nodes.constants(arrays), nodes.shaped(x, inner), inner)
    nodes.graph.input.append(nodes.floats(x, ["N", *shape]))
    nodes.graph.output.append(nodes.floats(nodes.shaped(made, shape), ["N", *shape]))
    model = nodes.onnx.ModelProto(ir_version=8, producer_name="libcertreg", graph=nodes.graph)
    model.opset_import.add(version=13)
    model.metadata_props.add(key=MARK, value=json.dumps(facts))
    return bytes(model.SerializeToString())


OLDEST_OPSET, OLDEST_IR = 9, 4  # with the nodes of denoisers; with constants that are no inputs
DAMAGED = "it is damaged, or no ONNX model"


class _OnnxFile:
    """An ONNX file: its graph, its only input, and the facts of a denoiser. Free lengths are
    names."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = os.fsdecode(path_of(path, what))
        with open(self.path, "rb") as file:
            self.data = file.read()
        onnx, errors = _onnx(), needed("google.protobuf.message", "onnx")
        try:
            self._read(onnx.ModelProto.FromString(self.data))
        except (errors.DecodeError, ValueError) as error:
            why = error if isinstance(error, ValueError) else DAMAGED
            raise ValueError(f"{self.path} cannot be joined: {why}") from None

    def _read(self, model: Proto) -> None:
        self.model, self.graph = model, model.graph
        if not model.HasField("graph"):
            raise ValueError("it is no ONNX model")
        self.facts = {entry.key: entry.value for entry in model.metadata_props}.get(MARK)
        opsets = [o.version for o in model.opset_import if o.domain in ("", "ai.onnx")]
        self.opset = max(opsets, default=0)
        constants = self.graph.initializer
        if any(constant.data_location for constant in constants):
            raise ValueError("some of its constants are in another file; save it as one file")
        known = {constant.name for constant in constants}  # older files list these as inputs too
        inputs = [entry for entry in self.graph.input if entry.name not in known]
        outputs = self.graph.output
        if len(inputs) != 1 or not outputs:
            counts = f"it has {len(inputs)} inputs and {len(outputs)} outputs"
            raise ValueError(f"{counts}; it must have one input, and an output")
        self.entry, self.input, self.output = inputs[0], inputs[0].name, outputs[0].name
        tensor = self.entry.type.tensor_type
        self.lengths: list[Length] = [
            side.dim_value if 0 < side.dim_value < 1 << 31 else side.dim_param
            for side in tensor.shape.dim
        ]
        if tensor.elem_type != _onnx().TensorProto.FLOAT or len(self.lengths) < 2:
            raise ValueError("its input must be a tensor of floats, (rows, features) or more")
        texts = [self.facts, self.input, self.output, *self.lengths]
        if any(isinstance(text, bytes) for text in texts):  # of protobuf, if it is no UTF-8
            raise ValueError(DAMAGED)


def join_denoiser(denoiser: Path, model: Path, path: Path) -> None:
    """Write one ONNX file with a denoiser in front of a model, for every engine. Experimental.

    It needs the package onnx, but not torch.

    Parameters
    ----------
    denoiser : str or path
        ONNX file of train_denoiser.
    model : str or path
        ONNX file of a model with one input of floats. Its rows may have another shape than rows of
        the denoiser if the number of features is equal.
    path : str or path
        Path of the joined file. It has the outputs and metadata of the model. The name of its input
        is the name of the model's input, "_noisy", and "_" if the name is taken.

    Raises
    ------
    ValueError
        If the files do not fit, or the model has a denoiser in front already.
    ImportError
        If onnx is missing."""
    front, behind = _OnnxFile(denoiser, "denoiser"), _OnnxFile(model, "model")
    if front.facts is None or not front.input.startswith(PREFIX):
        raise ValueError(f"{front.path} is no denoiser of train_denoiser")
    if MARK.encode() in behind.data:  # as metadata, or in names that both would have
        raise ValueError(f"{behind.path} has a denoiser in front already: join the model alone")
    nodes, shape = Nodes(()), _shape(front, behind)
    if 0 < behind.opset < OLDEST_OPSET:
        raise ValueError(f"{behind.path} has opset {behind.opset}: convert it to 9 or later")
    noisy = f"{behind.input}_noisy"
    while noisy.encode() in behind.data:  # another tensor may have this name
        noisy += "_"
    graph, joined = nodes.graph, behind.model
    graph.input.append(nodes.floats(noisy, [behind.lengths[0], *shape]))
    nodes.shaped(noisy, front.lengths[1:], front.input)
    graph.node.extend(front.graph.node)
    graph.initializer.extend(front.graph.initializer)
    nodes.shaped(front.output, shape, behind.input)
    joined.graph.input.remove(behind.entry)
    graph.MergeFrom(joined.graph)  # behind, as ONNX wants nodes in the order of evaluation
    joined.graph.CopyFrom(graph)
    joined.ir_version = max(joined.ir_version, OLDEST_IR)
    if not behind.opset:
        joined.opset_import.add(version=13)
    joined.metadata_props.add(key=MARK, value=front.facts)
    replace(os.fsdecode(path_of(path)), joined.SerializeToString())


def _shape(front: _OnnxFile, behind: _OnnxFile) -> list[Length]:
    """The shape of a row of the model, with the denoiser's lengths instead of free ones."""
    ours, theirs = front.lengths[1:], behind.lengths[1:]
    if len(ours) == len(theirs):
        theirs = [a if isinstance(b, str) else b for a, b in zip(ours, theirs)]
    sizes = [math.prod(n for n in one if isinstance(n, int)) for one in (ours, theirs)]
    free = any(isinstance(length, str) for length in (*ours, *theirs))
    if free or sizes[0] != sizes[1]:
        rows = f"{front.path} takes rows of shape {ours}, and {behind.path} of {theirs}"
        raise ValueError(f"{rows}: train the denoiser on inputs of the model")
    return theirs

"""Prediction intervals that contain the true output, also if an adversary has moved the input."""

from __future__ import annotations

import ctypes as C
import dataclasses
import functools
import os
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _structs as S
from ._arrays import address_of, array_of, kept_in, numbers
from ._files import replace_arrays
from ._rules import Interval, Rule, rule_of
from ._tables import Table, HtmlTable
from ._arguments import given_seed, integer, member, number, optional_function, path_of
from ._ctypes import i32
from .constants import CALIBRATION_SCORES, NO_PILOT, Domain, Score, Status
from .denoised import digest_of, examples_among
from .errors import CertregError
from .estimator import Estimator, kinds_of
from .frames import Columns, in_order, index_of, split_frame, rows_of

_VERSION = 5  # of files; 4 had noise by which sigma may have been chosen, and 3 no digest
_FIELDS = (
    "score output outputs sigma seed model samples first_noise last_noise digest count"
).split()
_KEPT = ("kind", "lo", "hi", "scale")  # options of an estimator that are part of a calibration


class Calibrated(HtmlTable):
    """A model with calibration points, which gives prediction intervals under attack.

        calibrated = Calibrated(model, X, y, sigma=0.25)
        print(calibrated.interval(x, radius=0.1, alpha=0.1))

    Creating it samples the model around every row of X.

    model    as for Estimator; must not have been trained on X
    X, y     calibration points, on which neither the model was trained nor sigma, scale, units or
             score chosen: inputs of shape (rows, features) or (rows, *shape), or a DataFrame
             as for certify_rows, and new inputs are then DataFrames too; and their true outputs,
             (rows,) or (rows, outputs), beside a DataFrame by their index if they have one.
             They must be like the inputs to come: shuffle data that are sorted
    sigma    noise level > 0
    samples  number of samples of each point
    score    a Score or its name: "norm" and "largest" are about the distances of the outputs from
             their truths. With "quantiles" the model returns two columns, estimates of a lower and
             an upper quantile of one truth
    output   index of the first output that has a truth
    outputs  number of outputs of the model; None: up to the last that has a truth
    units    of the outputs, > 0: distances are divided by them
    most_samples   most samples of a new input; None: `samples`
    progress  function that is called with (points done, points). A true result cancels: raises
              CertregError with Status.CANCELLED
    seed      seed of the calibration's noise, which need not be secret; None: one is drawn. Never
              that of another Calibrated by which sigma, scale, units, score or model were chosen.
              New inputs always draw theirs from the system's randomness
    inputs_seed    for tests only: the seed of new inputs, which whoever moves them must not know

    The other options, such as scale, kind, lo and hi, are those of Estimator. Raises ValueError and
    TypeError for wrong arguments, an exception of the model as it is, and CertregError for what the
    library refuses. Like an Estimator it handles one call at a time, and refuses a second one with
    Status.BUSY."""

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        sigma: float,
        *,
        samples: int = 101,
        score: Union[Score, str] = Score.NORM,
        output: int = 0,
        outputs: Optional[int] = None,
        units: Any = None,
        most_samples: Optional[int] = None,
        progress: Optional[Callable[[int, int], Any]] = None,
        seed: Optional[int] = None,
        inputs_seed: Optional[int] = None,
        **options: Any,
    ) -> None:
        if isinstance(options.get("scale"), str):
            raise ValueError(
                "a scale from calibration points would break the promise, as a model that was "
                "trained on them: give the feature_scale of other inputs"
            )
        matrix, columns, options["scale"] = split_frame(X, options.get("scale"))
        truths = numbers(in_order(y, index_of(X), "y"), np.float64, "y")
        if truths.ndim not in (1, 2) or len(truths) != len(matrix):
            raise ValueError(
                f"y has shape {truths.shape}; it must have a row for each of the {len(matrix)} "
                "rows of X"
            )
        if not np.isfinite(truths).all():
            row = int(np.argwhere(~np.isfinite(truths))[0, 0])
            raise ValueError(f"row {row} of y is {truths[row]}; it must be finite")
        truths = np.ascontiguousarray(truths.reshape(len(truths), -1))
        rule, progress = member(Score, score, "score"), optional_function(progress, "progress")
        if rule == Score.QUANTILES and truths.shape[1] != 1:
            raise ValueError('y must have one column for the score "quantiles"')
        scored = 2 if rule == Score.QUANTILES else truths.shape[1]
        output = integer(output, "output", 0, 2**31 - 1)
        outputs = output + scored if outputs is None else integer(outputs, "outputs", 1)
        samples = integer(samples, "samples", 1, 10**7)
        most = samples if most_samples is None else integer(most_samples, "most_samples", samples)
        self._make(model, columns or matrix.shape[1:], outputs, most, inputs_seed, options)
        known = examples_among(model, matrix)
        if len(known):
            raise ValueError(
                f"row {known[0]} of X made the denoiser, which must not know calibration points: "
                "make it from other inputs"
            )
        fields: dict[str, float] = dict(score=rule, output=output, outputs=scored)
        fields["sigma"] = number(sigma, "sigma")
        units = array_of(units, (scored,), np.float64, "units")
        self._set(np.empty((len(matrix), min(samples, CALIBRATION_SCORES))), units, fields)
        self._calibrate(rows_of(X), truths, samples, seed, progress)

    def _make(
        self, model: Any, shape: Any, outputs: int, most: int, inputs_seed: Any, options: Any
    ) -> None:
        """Notes how estimators are made, and makes the one for new inputs."""
        if inputs_seed is not None:
            inputs_seed = given_seed(inputs_seed, "inputs_seed")
        self._denoiser = digest_of(model)
        self._options = options
        self._made = functools.partial(
            Estimator, model, shape, most, outputs=outputs, pilot=NO_PILOT, **options
        )
        self._estimator = self._made(seed=inputs_seed)

    def _set(self, scores: Any, units: Any, fields: Any) -> None:
        self.scores, self._units, self.sigma = scores, units, float(fields["sigma"])
        self._calibration = S.Calibration(
            scores=scores.ctypes.data, capacity=len(scores), units=address_of(units), **fields
        )
        self._known: dict[Any, Any] = {}

    def _calibrate(self, rows: Any, truths: Any, samples: int, seed: Any, progress: Any) -> None:
        with self._made(seed=seed) as e:
            for i, (z, truth) in enumerate(zip(rows, truths)):
                e.begin(z, self.sigma, noise_id=i, level=Domain.INTERVALS)
                e.sample(0, samples)
                e._call("calibrate", C.byref(self._calibration), truth.ctypes.data)
                if progress and progress(i + 1, len(truths)):
                    raise CertregError(Status.CANCELLED)
        self._estimator._unchecked = False  # the same model

    # ---- files
    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the calibration to an .npz file. It contains the seed of the calibration's noise,
        which need not be secret: new inputs always draw theirs from the system's randomness. It
        does not contain the model."""
        kept = {name: self._options[name] for name in _KEPT if self._options.get(name) is not None}
        kind = kinds_of(kept.pop("kind", None), self._estimator.outputs)
        units = {} if self._units is None else {"units": self._units}
        fields = {name: getattr(self._calibration, name) for name in _FIELDS}
        arrays = dict(units, scores=self.scores, shape=np.array(self._estimator.shape))
        arrays["model_outputs"] = np.array(self._estimator.outputs)
        if kind is not None:
            arrays["kind"] = kind
        if self._estimator._columns is not None:
            arrays["names"] = np.array(self._estimator._columns.names)
        if self._denoiser:
            arrays["denoiser"] = np.array(self._denoiser)
        replace_arrays(path_of(path), version=_VERSION, **kept, **arrays, **fields)

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"], model: Any, **options: Any) -> "Calibrated":
        """A calibration from a file of save, for the same model. The options are most_samples,
        inputs_seed and those of Estimator, such as device; kind, lo, hi and scale come from the
        file. Raises ValueError if the file is no calibration."""
        if "seed" in options:
            raise TypeError("load takes no seed: the calibration keeps its own, so leave it out")
        with kept_in(path, "calibration", _VERSION) as kept:
            fields: dict[str, Any] = {name: kept[name].item() for name in _FIELDS}
            S.Calibration(**fields)  # whether they are numbers
            shape: Any = tuple(int(length) for length in kept["shape"].ravel())
            outputs = int(kept["model_outputs"].item())
            each = (fields["count"], min(fields["samples"], CALIBRATION_SCORES))
            scores = array_of(kept["scores"], each, np.float64, "scores").reshape(each)
            units = array_of(kept.get("units"), (fields["outputs"],), np.float64, "units")
            limits = {name: kept[name] for name in _KEPT if name in kept}
            for name, values in limits.items():
                if values.dtype.kind not in "biuf":
                    raise ValueError(f"{name} holds no numbers")
            if "names" in kept:
                shape = Columns.of_names(list(map(str, kept["names"].tolist())), limits["scale"])
        made, inputs_seed = cls.__new__(cls), options.pop("inputs_seed", None)
        given = options.pop("most_samples", None)
        most = integer(0 if given is None else given, "most_samples") or fields["samples"]
        try:
            made._make(model, shape, outputs, most, inputs_seed, {**limits, **options})
        except MemoryError as error:
            raise ValueError(f"{path} needs too much memory: {error}") from None
        made._set(scores, units, fields)
        wanted = str(kept.get("denoiser", ""))
        if made._denoiser != wanted:
            raise ValueError(
                f"{path} was made with {_denoiser(wanted)}, not with {_denoiser(made._denoiser)}: "
                "calibrate again"
            )
        return made

    # ---- new inputs
    def _table(self) -> Table:
        c = self._calibration
        score = Score(c.score).name.lower()
        said = dict(points=c.count, samples=c.samples, sigma=self.sigma, score=score)
        return [dict(said, features=self._estimator.inputs, outputs=self._estimator.outputs)]

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self._table()[0].items())
        return f"Calibrated({said})"

    @property
    def points(self) -> int:
        """The number of calibration points."""
        return int(self._calibration.count)

    @property
    def calibration_seed(self) -> int:
        """The seed of the calibration's noise, in which point i has the noise id i and the level
        Domain.INTERVALS."""
        return int(self._calibration.seed)

    @property
    def _truths(self) -> int:
        """How many numbers a truth has."""
        c = self._calibration
        return 1 if c.score == Score.QUANTILES else int(c.outputs)

    def rule(self, radius: float, alpha: float = 0.05, samples: Optional[int] = None) -> Rule:
        """The rule for intervals at this radius. Raises CertregError if there are too few points
        or samples."""
        return Rule._of(self._rule(radius, alpha, samples))

    def _rule(self, radius: float, alpha: float, samples: Optional[int]) -> Any:
        c = self._calibration
        samples = c.samples if samples is None else integer(samples, "samples", 1)
        key = (number(radius, "radius"), number(alpha, "alpha"), samples)
        if key not in self._known:
            self._known[key] = rule_of(c, **dict(zip(("radius", "alpha", "samples"), key)))
        return self._known[key]

    def _sampled(self, x: Any, rule: Any, noise_id: Optional[int]) -> None:
        self._estimator._begin_flat(self._estimator._input(x, "x"), self.sigma, noise_id)
        self._estimator.sample(0, rule.samples)

    def interval(
        self,
        x: Any,
        radius: float,
        alpha: float = 0.05,
        *,
        samples: Optional[int] = None,
        noise_id: Optional[int] = None,
    ) -> Any:
        """Where the true output of one input is: an Interval, or a list with one for each output,
        which hold together. Samples the model around x with fresh noise.

        Another call for the same input is a second try, which is right or wrong on its own. If you
        may ask again, for example with more samples because an interval was wide, divide alpha
        among all calls that are possible, and fix their numbers of samples beforehand.

        radius    norm of the shift by which x may have been moved, >= 0, in units of the input
                  divided by its scale
        alpha     probability of a miss
        samples   of the model; None: as many as for each calibration point
        noise_id  None: one that was not used before. Never give one twice"""
        rule, first = self._rule(radius, alpha, samples), self._calibration.output
        with self._estimator._calls:
            self._sampled(x, rule, noise_id)
            found = [self._interval(rule, first + i) for i in range(self._truths)]
        return found[0] if len(found) == 1 else found

    def intervals(
        self, X: Any, radius: float, alpha: float = 0.05, *, samples: Optional[int] = None
    ) -> list[Any]:
        """The interval of every row of X. Each holds with probability 1 - alpha on its own."""
        return [self.interval(x, radius, alpha, samples=samples) for x in rows_of(X)]

    def covers(
        self,
        x: Any,
        truth: Any,
        radius: float,
        alpha: float = 0.05,
        *,
        samples: Optional[int] = None,
        noise_id: Optional[int] = None,
    ) -> bool:
        """Whether this truth, one number or one for each output, is in the set of an input. For
        several outputs the set is smaller than the box of their intervals. Every call samples
        the model with fresh noise, so it is about another set than that of an earlier call."""
        rule, inside = self._rule(radius, alpha, samples), i32()
        values = np.asarray(array_of(np.atleast_1d(truth), (self._truths,), np.float64, "truth"))
        asked = (C.byref(self._calibration), C.byref(rule))
        with self._estimator._calls:
            self._sampled(x, rule, noise_id)
            self._estimator._call("covers", *asked, values.ctypes.data, C.byref(inside))
        return bool(inside.value)

    def _interval(self, rule: Any, output: int) -> Interval:
        room = 2 * int(rule.samples)
        lo, hi, out = np.empty(room), np.empty(room), S.Interval()
        asked = (C.byref(self._calibration), C.byref(rule))
        space = (lo.ctypes.data, hi.ctypes.data, room)
        self._estimator._call("interval", *asked, output, *space, C.byref(out))
        pieces = tuple(zip(lo[: out.pieces].tolist(), hi[: out.pieces].tolist()))
        names = [field.name for field in dataclasses.fields(Interval) if field.name != "pieces"]
        return Interval(pieces=pieces, **{name: getattr(out, name) for name in names})

    def close(self) -> None:
        """Frees the estimator."""
        self._estimator.close()

    def __enter__(self) -> "Calibrated":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _denoiser(digest: str) -> str:
    return f"the denoiser {digest}" if digest else "no denoiser"

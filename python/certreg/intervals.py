"""Prediction intervals under attack."""

from __future__ import annotations

import ctypes as C
import dataclasses
import functools
import inspect
import itertools
import json
import os
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from . import structs as S
from .arguments import Data, Frame, Model, Path, given_seed, i32, integer, needed, number
from .arguments import optional_function, path_of, refuse, with_habits
from .arrays import address_of, array_of, arrays_in_file, numbers, optional_array
from .constants import CALIBRATION_SCORES, NO_PILOT, Domain, Score, Status, member
from .denoise import digest_of, examples_among
from .display import HtmlTable, Part, Progress, Reporter, Table, warn
from .estimator import Estimator, kinds_of
from .files import replace_arrays
from .frames import Index, in_order, index_of, is_frame, rows_of_text, text_of_rows
from .inputs import Inputs, prepare
from .library import CertregError, check, lib, refusal_of, value_error
from .results import _Result


@dataclasses.dataclass(frozen=True)
class Rule(_Result, HtmlTable):
    """A threshold rule for prediction intervals, and the settings for which it is valid.

    Experimental.

    Attributes
    ----------
    alpha : float
        Probability of a miss.
    radius : float
        Norm of the adversary's shift.
    threshold : float
        Largest score within a set; infinite if there was no calibration, or if too many of its
        scores are infinite.
    samples : int
        Samples of a new input.
    sample_rank : int
        Rank of the score of a new input that is compared with the threshold.
    least_points : int
        Least number of calibration points for such a rule."""

    alpha: float
    radius: float
    threshold: float
    samples: int
    sample_rank: int
    least_points: int


def interval_rule(
    radius: float,
    sigma: float,
    points: int,
    *,
    alpha: float = 0.05,
    samples: int = 101,
    calibration_samples: int = 101,
) -> Rule:
    """Compute the rule for a planned calibration, to choose the numbers of points and samples.

    Experimental. It takes at most about 0.1 s. Intervals of this rule miss the truth with
    probability at most alpha.

    Parameters
    ----------
    radius : float
        Norm of the adversary's shift, >= 0, in units of the input divided by its scale.
    sigma : float
        Noise level > 0.
    points : int
        Number of calibration points.
    alpha : float
        Probability of a miss.
    samples, calibration_samples : int
        Number of samples of a new input, and of each calibration point.

    Returns
    -------
    Rule
        With an infinite threshold.

    Raises
    ------
    CertregError
        If there are too few points or samples; the text has the remedy.

    Examples
    --------
    >>> certreg.interval_rule(0.1, 0.25, 300, alpha=0.1).least_points
    10"""
    counts = dict(points=points, calibration_samples=calibration_samples, samples=samples)
    return Rule._of(rule_of(None, radius=radius, sigma=sigma, alpha=alpha, **counts))


def rule_of(calibration: S.Calibration | None, **coverage_fields: float) -> S.Rule:
    """The struct of a rule, for a calibration or a planned one."""
    if number(coverage_fields["alpha"], "alpha") == 0:
        raise ValueError("alpha is 0, and no interval is right for certain: give at least 1e-6")
    coverage, why, out = S.Coverage(**coverage_fields), S.Error(), S.Rule()
    of = None if calibration is None else C.byref(calibration)
    check(lib.certreg_interval_rule(C.byref(coverage), of, C.byref(why), C.byref(out)), why)
    return out


@dataclasses.dataclass(frozen=True)
class Interval(HtmlTable):
    """A set that contains the true output with probability at least 1 - alpha. Experimental.

    An adversary may have moved the input by up to `radius`. ``y in interval`` is True if y is in
    one of the pieces.

    Attributes
    ----------
    output : int
        Index of the output.
    lo, hi : float
        Least interval that contains all pieces; nan if there is none. An arc if the output is an
        angle: lo is within the turn, and hi may be beyond it.
    period : float
        A full turn; 0 for a number.
    alpha : float
        Proven probability of a miss.
    radius : float
        Largest norm of the adversary's shift.
    threshold : float
        Largest score of a truth within the set.
    pieces : tuple of tuple
        The set itself: pairs (lo, hi).
    samples, failed : int
        Samples behind the set, and the number of them that failed. Each failure makes the set
        larger."""

    output: int
    lo: float
    hi: float
    period: float
    alpha: float
    radius: float
    threshold: float
    pieces: tuple[tuple[float, float], ...]
    samples: int
    failed: int

    @property
    def width(self) -> float:
        """hi - lo; 0 if the set is empty."""
        return self.hi - self.lo if self.pieces else 0.0

    def __contains__(self, y: float) -> bool:
        if not self.period:
            return any(lo <= y <= hi for lo, hi in self.pieces)
        return any((y - lo) % self.period <= hi - lo for lo, hi in self.pieces)


class IntervalList(list[Any], HtmlTable):
    """The intervals of many inputs: a list with an element for each, as `interval` returns it.

    Experimental."""

    def __init__(self, intervals: Iterable[Any] = (), index: Index = None) -> None:
        super().__init__(intervals)
        self._index = index

    @property
    def ends(self) -> np.ndarray:
        """Least lower and largest upper ends, (rows, 2), or (rows, outputs, 2) for several outputs;
        NaN for an empty set."""
        ends: Any = [
            [(one.lo, one.hi) for one in each] if isinstance(each, list) else (each.lo, each.hi)
            for each in self
        ]
        return np.array(ends) if ends else np.empty((0, 2))

    def _lines(self) -> Iterator[tuple[int, Interval]]:
        """Each interval with the place of its input."""
        for i, some in enumerate(self):
            yield from ((i, one) for one in (some if isinstance(some, list) else [some]))

    def _table(self) -> Table:
        names = range(len(self)) if self._index is None else self._index
        return [
            {"row": names[i], "output": one.output, "lo": one.lo, "hi": one.hi, "width": one.width}
            for i, one in itertools.islice(self._lines(), 20)
        ]

    def _texts(self) -> Sequence[str]:
        return [str(self)]

    def __str__(self) -> str:
        widths = np.array([one.width for _, one in self._lines()])
        finite = widths[np.isfinite(widths)]
        middle = f", median width {np.median(finite):.5g}" if len(finite) else ""
        return f"{len(widths)} intervals, {len(finite)} of finite width{middle}"

    def to_frame(self) -> Frame:
        """Return the intervals as a DataFrame.

        Returns
        -------
        DataFrame
            A line for each row and output with the fields of Interval, and with the number of
            pieces. The index is the one of the inputs if they were a DataFrame, else the row.

        Raises
        ------
        ImportError
            If pandas is missing."""
        names = [field.name for field in dataclasses.fields(Interval)]
        lines = [{**vars(one), "pieces": len(one.pieces)} for _, one in self._lines()]
        frame = needed("pandas", "to_frame").DataFrame(lines, columns=names)
        places = [i for i, _ in self._lines()]
        frame.index = places if self._index is None else self._index.take(places)
        return frame


_VERSION = 9  # of files
_KEPT_SAMPLES = 64  # of a point, for which `load` asks the model again
_FIELDS = (
    "score output outputs sigma seed model samples first_noise last_noise digest count"
).split()
_KEPT = ("kind", "lo", "hi")  # options of an estimator that are part of a calibration


Intervals: TypeAlias = Any  # an Interval, or a list with one for each output
_Points: TypeAlias = tuple[Data, list[int], list[bytes]]  # with noise ids, and records


class Calibrated(HtmlTable):
    """A model with calibration points, for prediction intervals under attack. Experimental.

    The constructor samples the model around every row of X. Like an Estimator it handles one call
    at a time, and refuses a second one with ``Status.BUSY``. It can be pickled if the model can; a
    copy draws noise of its own, without inputs_seed.

    Parameters
    ----------
    model : object
        As for Estimator; it must not have been trained on X.
    X : array_like or DataFrame
        Inputs of the calibration points, (rows, features) or ``(rows, *shape)``, or a DataFrame as
        for certify_rows; new inputs are then DataFrames too. The model must not be trained on these
        points, nor sigma, scale, units or score be chosen by them. They must be like the inputs to
        come: shuffle sorted data. Cells may be missing, as for certify_rows.
    y : array_like or Series
        The true outputs, (rows,) or (rows, outputs), in the order of the rows. Beside a DataFrame
        an index must be that of X.
    sigma : float
        Noise level > 0.
    samples : int
        Number of samples of each point.
    score : Score or str
        "norm" and "largest" measure the distances of outputs from their truths. With "quantiles"
        the model returns two columns, estimates of a lower and an upper quantile of one truth.
    output : int
        Index of the first output that has a truth.
    outputs : int, optional
        Number of outputs of the model; by default up to the last that has a truth.
    units : array_like, optional
        Units of the outputs, > 0: distances are divided by them.
    most_samples : int, optional
        Most samples of a new input; by default `samples`.
    progress : bool or callable, optional
        Show a count in terminals and notebooks, or call it with (points done, points). A true
        result cancels: it raises CertregError with ``Status.CANCELLED``. Also verbose.
    seed : int, optional
        Seed of the calibration's noise, which need not be secret; by default one is drawn. Never
        use the seed of another Calibrated that has chosen sigma, scale, units, score or model.
        New inputs always draw their noise from the system's randomness. Also random_state, which is
        one less.
    inputs_seed : int, optional
        For tests only: the seed of new inputs. An adversary must not know it.
    inputs : Inputs, optional
        As for certify_rows.
    **options
        Other arguments of Estimator, such as scale, kind, lo and hi.

    Raises
    ------
    ValueError, TypeError
        For wrong arguments. An exception of the model is passed on.
    CertregError
        If the library fails otherwise.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = X.sum(axis=1)
    >>> model = lambda x: x.sum(axis=1)
    >>> with certreg.Calibrated(model, X, y, sigma=0.25, seed=1, inputs_seed=2) as calibrated:
    ...     interval = calibrated.interval([0.5, 0.5], radius=0.05, alpha=0.1)
    >>> 1.0 in interval
    True"""

    @with_habits
    def __init__(
        self,
        model: Model,
        X: Data,
        y: Data,
        sigma: float,
        *,
        samples: int = 101,
        score: Score | str = Score.NORM,
        output: int = 0,
        outputs: int | None = None,
        units: ArrayLike | None = None,
        most_samples: int | None = None,
        progress: Progress | None = None,
        seed: int | None = None,
        inputs_seed: int | None = None,
        inputs: Inputs | None = None,
        **options: Any,
    ) -> None:
        if options.pop("jobs", 1) != 1:
            raise TypeError("Calibrated computes in one process: leave out jobs or n_jobs")
        if isinstance(options.get("scale"), str):
            raise ValueError(
                "a scale from calibration points would break the promise, as a model that was "
                "trained on them: give the feature_scale of other inputs"
            )
        if np.ndim(X) == 1 and np.ndim(y) == 2:
            raise ValueError("X has one dimension and y has two: X comes before y")
        # The values of calibration points must not decide which features get noise (theory 12.1).
        read = prepare(model, X, options.get("scale"), inputs, values=False)
        matrix, options["scale"] = read.given, read.scale
        for text in read.texts:
            warn(text)
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
        counts = progress is True
        report = Part(Reporter(True, 0, len(matrix), "points")) if counts else progress
        rule, report = member(Score, score, "score"), optional_function(report, "progress")
        if rule == Score.QUANTILES and truths.shape[1] != 1:
            raise ValueError('y must have one column for the score "quantiles"')
        scored = 2 if rule == Score.QUANTILES else truths.shape[1]
        output = integer(output, "output", 0, 2**31 - 1)
        outputs = output + scored if outputs is None else integer(outputs, "outputs", 1)
        samples = integer(samples, "samples", 1, 10**7)
        most = samples if most_samples is None else integer(most_samples, "most_samples", samples)
        self._set_model(model, read.inputs, outputs, most, inputs_seed, options)
        known = examples_among(model, matrix)
        if len(known):
            raise ValueError(
                f"row {known[0]} of X made the denoiser, which must not know calibration points: "
                "make it from other inputs"
            )
        fields: dict[str, float] = dict(score=rule, output=output, outputs=scored)
        fields["sigma"] = number(sigma, "sigma")
        each = optional_array(units, (scored,), np.float64, "units")
        self._set_calibration(
            np.empty((len(matrix), min(samples, CALIBRATION_SCORES))), each, fields
        )
        self._calibrate(X, truths, samples, seed, report)

    @value_error()
    def _set_model(
        self,
        model: Model,
        inputs: Inputs,
        outputs: int,
        most: int,
        inputs_seed: int | None,
        options: Mapping[str, Any],
    ) -> None:
        """Keeps the arguments of estimators, and makes the estimator for new inputs."""
        refuse("Calibrated", options, "inputs max_samples pilot")
        for name in options.keys() - inspect.signature(Estimator).parameters.keys():
            raise TypeError(f"Calibrated has no argument {name}: give radius and alpha to interval")
        if inputs_seed is not None:
            inputs_seed = given_seed(inputs_seed, "inputs_seed")
        self._denoiser = digest_of(model)
        self._options = options
        self._new_estimator = functools.partial(
            Estimator, model, inputs, most, outputs=outputs, pilot=NO_PILOT, **options
        )
        self._estimator = self._new_estimator(seed=inputs_seed)

    def _set_calibration(
        self, scores: np.ndarray, units: np.ndarray | None, fields: Mapping[str, float]
    ) -> None:
        self.scores, self._units, self.sigma = scores, units, float(fields["sigma"])
        self._calibration = S.Calibration(
            scores=scores.ctypes.data, capacity=len(scores), units=address_of(units), **fields
        )
        self._rules: dict[tuple[float, float, int], S.Rule] = {}

    @value_error()
    def _calibrate(
        self,
        X: Data,
        truths: np.ndarray,
        samples: int,
        seed: int | None,
        progress: Callable[..., object] | None,
    ) -> None:
        done, some = 0, sorted({0, len(truths) // 2, len(truths) - 1})
        rows = X.iloc[some] if is_frame(X) else numbers(X, np.float32, "X")[some]
        self._points = rows.copy(), some, list[bytes]()
        with self._new_estimator(seed=seed) as e:

            def calibrate() -> None:
                nonlocal done
                e._call("calibrate", C.byref(self._calibration), truths[done].ctypes.data)
                done += 1
                if progress and progress(done, len(truths)):
                    raise CertregError(Status.CANCELLED)

            ids = range(len(truths))
            e._sample_each(X, self.sigma, samples, calibrate, ids, Domain.INTERVALS)
            for z, noise_id in zip(e._inputs_of(rows), some):
                e._begin_flat(z, self.sigma, noise_id, Domain.INTERVALS)
                e.sample(0, min(samples, _KEPT_SAMPLES))
                self._points[2].append(e.export())

    # ---- files
    def save(self, path: Path) -> None:
        """Write the calibration to an .npz file, without the model.

        The file contains the seed of the calibration's noise, which need not be secret, and up to
        three calibration points with their records, by which `load` recognizes the model.

        Parameters
        ----------
        path : str or path
            Path of the file."""
        kept = {name: self._options[name] for name in _KEPT if self._options.get(name) is not None}
        kind = kinds_of(kept.pop("kind", None), self._estimator.outputs)
        units = {} if self._units is None else {"units": self._units}
        fields = {name: getattr(self._calibration, name) for name in _FIELDS}
        arrays: dict[str, Any] = dict(units, scores=self.scores)
        arrays["inputs"] = np.array(json.dumps(self._estimator._told._facts()))
        arrays["model_outputs"] = np.array(self._estimator.outputs)
        if kind is not None:
            arrays["kind"] = kind
        rows, ids, records = self._points
        arrays["point_ids"] = np.array(ids)
        arrays.update((f"record_{i}", np.frombuffer(d, np.uint8)) for i, d in enumerate(records))
        arrays["points"] = np.array(text_of_rows(rows)) if is_frame(rows) else rows
        if self._denoiser:
            arrays["denoiser"] = np.array(self._denoiser)
        replace_arrays(path_of(path), version=_VERSION, **kept, **arrays, **fields)

    @classmethod
    def load(cls, path: Path, model: Model, **options: Any) -> "Calibrated":
        """Return the same model with its calibration from a file.

        Parameters
        ----------
        path : str or path
            A file of `save`. It has kind, lo, hi and scale.
        model : object
            The same model.
        **options
            most_samples, inputs_seed, and other arguments of Estimator, such as device. With
            check=False the model is not called here, so another one is not noticed.

        Raises
        ------
        ValueError
            If the file is of another kind or damaged, or the outputs of the model differ."""
        for name in ("seed", "units", "names", "scale", *_FIELDS, *_KEPT):
            if name in options:
                raise TypeError(
                    f"load takes no {name}: the calibration keeps its own, so leave it out"
                )
        with arrays_in_file(path, "calibration", _VERSION) as kept:
            fields: dict[str, Any] = {name: kept[name].item() for name in _FIELDS}
            S.Calibration(**fields)  # raises an exception unless they are numbers
            inputs = Inputs._of_facts(json.loads(str(kept["inputs"])))
            outputs = int(kept["model_outputs"].item())
            each = (fields["count"], min(fields["samples"], CALIBRATION_SCORES))
            scores = array_of(kept["scores"], each, np.float64, "scores").reshape(each)
            units = optional_array(kept.get("units"), (fields["outputs"],), np.float64, "units")
            limits = {name: kept[name] for name in _KEPT if name in kept}
            for name, values in limits.items():
                if values.dtype.kind not in "biuf":
                    raise ValueError(f"{name} holds no numbers")
            points = _points_of(kept, inputs)
        made, inputs_seed = cls.__new__(cls), options.pop("inputs_seed", None)
        given = options.pop("most_samples", None)
        most = max(integer(0 if given is None else given, "most_samples"), int(fields["samples"]))
        try:
            made._set_model(model, inputs, outputs, most, inputs_seed, {**limits, **options})
        except MemoryError as error:
            raise ValueError(f"{path} needs too much memory: {error}") from None
        made._set_calibration(scores, units, fields)
        before = str(kept.get("denoiser", ""))
        if made._denoiser != before:
            raise ValueError(
                f"{path} was made with the denoiser {before or 'none'}, not with "
                f"{made._denoiser or 'none'}: calibrate again"
            )
        made._points = points
        if options.get("check", True):
            made._check_model(path)
        return made

    @value_error()
    def _check_model(self, path: Path) -> None:
        """Raises ValueError if the model has other outputs for the kept points."""
        rows, ids, records = self._points
        where = os.fsdecode(path_of(path))
        if not len(rows):
            raise ValueError(
                f"{where} has no rows by which to recognize the model, since their columns cannot "
                "be kept: give check=False if it is the same"
            )
        with self._new_estimator(seed=self.calibration_seed) as e:
            e._unchecked = False
            for z, noise_id, record in zip(e._inputs_of(rows), ids, records):
                e._begin_flat(z, self.sigma, noise_id, Domain.INTERVALS)
                e.import_(record)
                try:
                    with e._callbacks.holding_interrupts():
                        e._audit()
                except CertregError as error:
                    if not refusal_of(error):
                        raise
                    raise ValueError(
                        f"{where} was made with another model: row {noise_id}, {error}: give the "
                        "same model, or calibrate again"
                    ) from error

    # ---- new inputs
    def _table(self) -> Table:
        c = self._calibration
        score = Score(c.score).name.lower()
        line = dict(points=c.count, samples=c.samples, sigma=self.sigma, score=score)
        return [dict(line, features=self._estimator.inputs, outputs=self._estimator.outputs)]

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value}" for name, value in self._table()[0].items())
        return f"Calibrated({facts})"

    @property
    def points(self) -> int:
        """The number of calibration points."""
        return int(self._calibration.count)

    @property
    def calibration_seed(self) -> int:
        """The seed of the calibration's noise. Point i has the noise id i and the level
        Domain.INTERVALS."""
        return int(self._calibration.seed)

    @property
    def _truths(self) -> int:
        """The number of numbers of a truth."""
        c = self._calibration
        return 1 if c.score == Score.QUANTILES else int(c.outputs)

    def rule(self, radius: float, alpha: float = 0.05, samples: int | None = None) -> Rule:
        """Return the rule for intervals.

        Parameters
        ----------
        radius, alpha, samples
            As for `interval`.

        Raises
        ------
        CertregError
            If there are too few points or samples."""
        return Rule._of(self._rule(radius, alpha, samples))

    @value_error()
    def _rule(self, radius: float, alpha: float, samples: int | None) -> S.Rule:
        c = self._calibration
        samples = int(c.samples) if samples is None else integer(samples, "samples", 1)
        key = (number(radius, "radius"), number(alpha, "alpha"), samples)
        if key not in self._rules:
            self._rules[key] = rule_of(c, radius=key[0], alpha=key[1], samples=samples)
        return self._rules[key]

    def _sampled(self, x: Data, rule: S.Rule, noise_id: int | None) -> None:
        self._estimator._begin_flat(self._estimator._input(x, "x"), self.sigma, noise_id)
        self._estimator.sample(0, rule.samples)
        with self._estimator._callbacks.holding_interrupts():
            self._estimator._audit()

    @value_error()
    def interval(
        self,
        x: Data,
        radius: float,
        alpha: float = 0.05,
        *,
        samples: int | None = None,
        noise_id: int | None = None,
    ) -> Intervals:
        """Compute the interval of the true output of one input.

        It samples the model around x with fresh noise. Another call for the same input is a second
        try, which is right or wrong on its own. If more calls are possible, for example with more
        samples after a wide interval, divide alpha among all of them, and fix their numbers of
        samples beforehand.

        Parameters
        ----------
        x : array_like or DataFrame
            The input.
        radius : float
            Largest norm of the shift that may have moved x, >= 0, in units of the input divided by
            its scale.
        alpha : float
            Probability of a miss.
        samples : int, optional
            Samples of the model; by default the number of each calibration point.
        noise_id : int, optional
            By default one that was not used before. Never give one twice.

        Returns
        -------
        Interval or list of Interval
            For several outputs an interval of each; they hold together."""
        rule = self._rule(radius, alpha, samples)
        with self._estimator._calls:
            self._sampled(x, rule, noise_id)
            return self._found(rule)

    @value_error()
    def intervals(
        self, X: Data, radius: float, alpha: float = 0.05, *, samples: int | None = None
    ) -> IntervalList:
        """Compute the interval of every row.

        Parameters
        ----------
        X : array_like or DataFrame
            The inputs.
        radius, alpha, samples
            As for `interval`.

        Returns
        -------
        IntervalList
            A list with the result of `interval` for each row. Each holds with probability 1 - alpha
            on its own. `ends` is an array (rows, 2), and `to_frame()` a DataFrame."""
        found: list[Intervals] = []
        self._each_interval(X, self._rule(radius, alpha, samples), found.append)
        return IntervalList(found, index_of(X))

    def _each_interval(
        self,
        X: Data,
        rule: S.Rule,
        use: Callable[[Intervals], object],
        noise_ids: Iterable[int | None] = itertools.repeat(None),
    ) -> None:
        """Calls use(interval) for every row, in order. Rows share calls of the model."""
        given = (X, self.sigma, int(rule.samples), lambda: use(self._found(rule)), noise_ids)
        self._estimator._sample_each(*given)

    @value_error()
    def covers(
        self,
        x: Data,
        truth: ArrayLike,
        radius: float,
        alpha: float = 0.05,
        *,
        samples: int | None = None,
        noise_id: int | None = None,
    ) -> bool:
        """Return True if a truth is in the set of an input.

        For several outputs the set is smaller than the box of their intervals. Every call samples
        the model with fresh noise, so it is about another set than an earlier call.

        Parameters
        ----------
        x : array_like or DataFrame
            The input.
        truth : float or array_like
            A number, or a number for each output.
        radius, alpha, samples, noise_id
            As for `interval`."""
        rule, inside = self._rule(radius, alpha, samples), i32()
        values = array_of(np.atleast_1d(truth), (self._truths,), np.float64, "truth")
        given = (C.byref(self._calibration), C.byref(rule))
        with self._estimator._calls:
            self._sampled(x, rule, noise_id)
            self._estimator._call("covers", *given, values.ctypes.data, C.byref(inside))
        return bool(inside.value)

    def _found(self, rule: S.Rule) -> Intervals:
        """The interval of each output of the input that was sampled."""
        first = self._calibration.output
        found = [self._interval(rule, first + i) for i in range(self._truths)]
        return found[0] if len(found) == 1 else found

    def _interval(self, rule: S.Rule, output: int) -> Interval:
        room = 2 * int(rule.samples)
        lo, hi, out = np.empty(room), np.empty(room), S.Interval()
        given = (C.byref(self._calibration), C.byref(rule))
        space = (lo.ctypes.data, hi.ctypes.data, room)
        self._estimator._call("interval", *given, output, *space, C.byref(out))
        pieces = tuple(zip(lo[: out.pieces].tolist(), hi[: out.pieces].tolist()))
        names = [field.name for field in dataclasses.fields(Interval) if field.name != "pieces"]
        return Interval(pieces=pieces, **{name: getattr(out, name) for name in names})

    def close(self) -> None:
        """Free the memory. A second call has no effect."""
        self._estimator.close()

    def __getstate__(self) -> tuple[Any, ...]:
        """The calibration with its model. A copy draws noise of its own, as after `load`."""
        make = self._new_estimator
        options = {name: make.keywords[name] for name in ("outputs", *self._options)}
        fields = {name: getattr(self._calibration, name) for name in _FIELDS}
        return *make.args, options, self.scores, self._units, fields, self._points

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        model, inputs, most, options, *calibration, self._points = state
        self._set_model(model, inputs, options.pop("outputs"), most, None, options)
        self._set_calibration(*calibration)

    def __enter__(self) -> "Calibrated":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _points_of(kept: Mapping[str, np.ndarray], described: Inputs) -> _Points:
    """The points of a file. Raises ValueError if they do not fit together."""
    ids, inputs = kept["point_ids"], kept["points"]
    if not ids.size:
        raise ValueError("it has no points")
    found = ids.ravel().tolist(), [kept[f"record_{i}"].tobytes() for i in range(ids.size)]
    if described.names is not None:
        rows: Data = rows_of_text(str(inputs)) if inputs.item() else ()
        return rows, *found
    each = ids.size, *described.shape
    return array_of(inputs, each, np.float32, "points").reshape(each), *found

"""A smoothed model as an estimator of scikit-learn, which this module needs."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import itertools
from typing import Any, Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone  # type: ignore[import-untyped]
from sklearn.linear_model import LinearRegression  # type: ignore[import-untyped]
from sklearn.model_selection import train_test_split  # type: ignore[import-untyped]
from sklearn.utils import check_array, check_consistent_length  # type: ignore[import-untyped]
from sklearn.utils import check_X_y, column_or_1d
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]
from sklearn.utils.validation import _check_sample_weight, has_fit_parameter

from .arguments import Data, Frame, Model, Scale, needed, number, own_names, refuse, seed_of_state
from .constants import NO_PILOT, PLAN_PAIRS, Statistic
from .display import warn
from .estimator import Estimator
from .frames import Columns, in_order, is_frame, rows_of, weighted_scale
from .inputs import Inputs, known_to, scale_by_rule
from .intervals import Calibrated
from .library import CertregError
from .models import refuse_classifier
from .questions import Question, Serving
from .rows import Options, certify_rows, check_several, with_options
from .table import Rows

_FINITE = "ensure_all_finite"  # before scikit-learn 1.6 "force_all_finite"
_NEW = _FINITE in inspect.signature(check_array).parameters
_MISSING = {_FINITE if _NEW else "force_all_finite": "allow-nan"}


class SmoothedRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the median of a regressor's outputs under noise, with certificates and intervals.

    Intervals hold although inputs were moved. Cells may be missing if the regressor takes them, and
    get no noise. A new regressor, scale or calibration takes effect at the next fit.

    Parameters
    ----------
    regressor : estimator, optional
        A regressor of scikit-learn, or a pipeline; by default LinearRegression. A copy is fitted.
    sigma : float
        Noise level > 0, in units of the scale.
    scale : {"std", "iqr"} or array_like
        Noise of each feature: the spread among the rows that the regressor was fitted to, or
        numbers; None: 1, but 0 for the features that get no noise in certify_rows(X) of these rows.
    statistic : Statistic or str
        Statistic of the outputs. The mean needs lo and hi.
    samples : int
        Calls of the regressor for each prediction.
    failure_rate : float
        A prediction may miss the certified tolerance with this probability.
    pairs : bool
        Predict from pairs of opposite noise, which reduces the radius less.
    calibration : float
        Share of the rows that fit keeps for intervals, without fitting the regressor to them. 0: no
        intervals.
    lo, hi : float, optional
        Range of the outputs.
    check : bool
        Ask the regressor again for some samples, in predictions, certificates and intervals.
    random_state : int, optional
        By default every prediction has fresh noise. An int: an input always gets the same noise,
        for tests. A server must not use it, because an adversary who knows it can find inputs with
        wrong predictions.
    inputs : Inputs, optional
        Description of the inputs. Its scale takes the place of `scale`.

    Attributes
    ----------
    regressor_, scale_, n_features_in_
        The fitted copy, the scale and the number of features.

    Examples
    --------
    >>> from certreg.regressor import SmoothedRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = SmoothedRegressor(sigma=0.25, random_state=1).fit(X, X.sum(axis=1))
    >>> model.certify([[0.5, 0.5]], 0.5, samples=2000).certificate(0).certified
    True"""

    inputs: Inputs | None = None  # in pickles of earlier releases
    _kept: tuple[Data, np.ndarray, np.ndarray] | None  # rows, truths, numbers of the rows
    _labels: dict[str, object]  # dtypes of the columns of categories and of texts
    _calibrated: Calibrated | None

    def __init__(
        self,
        regressor: Model = None,
        *,
        sigma: float = 0.25,
        scale: Scale = "std",
        statistic: Statistic | int | str = "median",
        samples: int = 101,
        failure_rate: float = 0.01,
        pairs: bool = True,
        calibration: float = 0.2,
        lo: ArrayLike | None = None,
        hi: ArrayLike | None = None,
        random_state: int | None = None,
        check: bool = True,
        inputs: Inputs | None = None,
    ) -> None:
        self.regressor, self.sigma, self.scale, self.statistic = regressor, sigma, scale, statistic
        self.samples, self.failure_rate, self.pairs = samples, failure_rate, pairs
        self.calibration, self.lo, self.hi = calibration, lo, hi
        self.random_state, self.check, self.inputs = random_state, check, inputs

    # ---- fitting
    def fit(
        self, X: Data, y: Data, sample_weight: Data | None = None
    ) -> "SmoothedRegressor":
        """Fit a copy of the regressor, and keep a share of the rows for intervals.

        Parameters
        ----------
        X : array_like or DataFrame
            Inputs, (rows, features).
        y : array_like or Series
            True outputs, (rows,).
        sample_weight : array_like or Series, optional
            Weights of the rows, >= 0, for the regressor and the scale "std". Intervals count every
            kept row once, whatever its weight.

        Returns
        -------
        self"""
        if not 0 <= number(self.calibration, "calibration") < 1:
            raise ValueError(
                f"calibration is {self.calibration}; it must be a share of the rows, from 0 to "
                "below 1"
            )
        if not 0 < number(self.sigma, "sigma") < np.inf:
            raise ValueError(f"sigma is {self.sigma}; it must be positive and finite")
        if self.random_state is not None:
            seed_of_state(self.random_state)
        refuse_classifier(self.regressor)
        X, y, weights = self._rows(X, y, sample_weight)
        lacking = _with_missing(X)
        example = _taken(X, lacking[:1])
        named: dict[str, Any] = {}
        scale: Scale = None if isinstance(self.scale, str) else self.scale
        if is_frame(X):  # the whole table, so that an error names its row
            named = {"feature_names_in_": np.asarray(X.columns, object), "_labels": _labels(X)}
            Columns(X, scale)
        kept = None
        if self.calibration:
            sizes = dict(test_size=self.calibration, random_state=self.random_state)
            fit, held = train_test_split(np.arange(len(y)), **sizes)
            kept = _taken(X, held), y[held], held
            X, y, weights = _taken(X, fit), y[fit], weights if weights is None else weights[fit]
        regressor = LinearRegression() if self.regressor is None else clone(self.regressor)
        more = {} if weights is None else {"sample_weight": weights}
        if more and not has_fit_parameter(regressor, "sample_weight"):
            raise TypeError(f"{type(regressor).__name__}.fit takes no sample_weight: leave it out")
        with _naming(lacking):
            fitted: dict[str, Any] = dict(named, regressor_=regressor.fit(X, y, **more))
            if len(lacking):  # perhaps among the rows that are kept
                regressor.predict(example)
        given: Any = self.scale if self.inputs is None else self.inputs._scale_for(X)
        fitted["scale_"] = scale_by_rule(fitted["regressor_"], X, given)
        if weights is not None and isinstance(given, str):
            moves = np.asarray(fitted["scale_"]) > 0
            known = known_to(fitted["regressor_"], X)
            fitted["scale_"] = weighted_scale(known, given, weights) * moves
        fitted.update(n_features_in_=np.shape(X)[1], _kept=kept, _calibrated=None)
        others = {name: vars(self)[name] for name in vars(self) if name != "feature_names_in_"}
        self.__dict__ = {**others, **fitted}  # at once: an earlier Ctrl-C changes nothing
        return self

    def _rows(
        self, X: Data, y: Data, weights: Data | None
    ) -> tuple[Data, np.ndarray, np.ndarray | None]:
        """The rows, targets and weights of fit, checked."""
        several = 2 if self.calibration or isinstance(self.scale, str) else 1
        if is_frame(X):
            y, weights = in_order(y, X.index, "y"), in_order(weights, X.index, "sample_weight")
            least = dict(ensure_min_samples=several, input_name="y")
            y = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, **least), warn=True)
        else:
            X, y = check_X_y(X, y, y_numeric=True, ensure_min_samples=several, **_MISSING)
        check_consistent_length(X, y)
        lost = np.max(np.abs(y - np.asarray(y, np.float32)))
        if lost > 0.01 * np.std(y) and len(np.unique(y)) > 1:
            raise ValueError(
                f"y is rounded to float32 by up to {lost:.3g}, and its standard deviation is "
                f"{np.std(y):.3g}: subtract a constant from y, and add it to the predictions"
            )
        if weights is None:
            return X, y, None
        checked = _check_sample_weight(weights, y)
        if (checked < 0).any():
            raise ValueError("Negative values in data passed to `sample_weight`")
        return X, y, checked

    def _checked(self, X: Data) -> Frame:
        """X as a DataFrame or an array. DataFrames are not converted, since pipelines choose
        columns by their names."""
        check_is_fitted(self, "regressor_")
        names = list(getattr(self, "feature_names_in_", []))
        if names and is_frame(X) and set(X.columns) != set(names):
            other = ", ".join(sorted(map(str, set(X.columns) ^ set(names))))
            raise ValueError(
                f"fit had a DataFrame: give one with the columns {names}; missing or too many: "
                f"{other}"
            )
        X = X if is_frame(X) else check_array(X, dtype=None if names else "numeric", **_MISSING)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but SmoothedRegressor is expecting "
                f"{self.n_features_in_} features as input"
            )
        if names and not is_frame(X):  # as estimators of scikit-learn take arrays
            warn(
                "X does not have valid feature names, but SmoothedRegressor was fitted with "
                "feature names"
            )
            X = needed("pandas", "X").DataFrame(X, columns=names).infer_objects()
            for name, kind in self._labels.items():
                labels = X[name]
                known = labels.isin(getattr(kind, "categories", labels))
                X[name] = labels.where(known).astype(kind)
        if names and list(X.columns) != names:
            X = X[names]  # a scale of numbers is in the order of fit
        lacking = _with_missing(X)
        if len(lacking):
            with _naming(lacking):
                self.regressor_.predict(_taken(X, lacking[:1]))
        if is_frame(X):
            Columns(X, self.scale_)  # refuses values that cannot get noise, and names the row
        return X

    def set_params(self, **params: Any) -> "SmoothedRegressor":
        """Set parameters, as for all estimators. Intervals need a new calibration then.

        Parameters
        ----------
        **params
            Parameters of the constructor.

        Returns
        -------
        self"""
        self._calibrated = None
        super().set_params(**params)
        return self

    # ---- serving
    def predict(self, X: Data) -> np.ndarray:
        """Predict the statistic of `samples` noisy outputs around each row.

        Parameters
        ----------
        X : array_like or DataFrame
            Inputs, (rows, features).

        Returns
        -------
        ndarray
            Predictions, (rows,)."""
        rows, question = self._checked(X), self._question(1.0)
        if not len(rows):
            return np.empty(0)
        values, options = list[float](), self._options(served=True)
        first = rows.iloc[[0]] if is_frame(rows) else rows.shape[1:]
        first = options.pop("inputs") or first
        with Estimator(self.regressor_, first, self.samples, **options) as e:
            e._unchecked = False  # it is asked again instead
            each = (self.samples, lambda: values.append(float(e.estimate(question))))
            with _at(lambda: f"row {len(values)}"):
                e._sample_each(rows, self.sigma, *each, self._noises_of(rows))
        return np.array(values)

    def _noises_of(self, X: Data) -> Iterator[int | None]:
        """The noise id of each row; None for fresh noise."""
        fresh = self.random_state is None
        return itertools.repeat(None) if fresh else map(self._noise_of, rows_of(X))

    def _noise_of(self, z: Data) -> int:
        """The noise id of an input, by a digest."""
        row = np.asarray(z).ravel()
        data = repr(row.tolist()).encode() if row.dtype == object else np.float32(row).tobytes()
        return int.from_bytes(hashlib.sha256(data).digest()[:7], "little")

    def _question(self, tolerance: Any, alpha: float = 0.05) -> Question:
        serving = Serving(self.samples, self.failure_rate, pairs=self.pairs)
        return Question(tolerance, alpha=alpha, statistic=self.statistic, serving=serving)

    def _options(self, served: bool = False) -> dict[str, Any]:
        options: dict[str, Any] = {"scale": self.scale_, "lo": self.lo, "hi": self.hi}
        options.update(check=self.check, inputs=self.inputs)
        if self.random_state is not None:
            options["seed"] = seed_of_state(self.random_state)
        if served:
            options.update(pilot=NO_PILOT, flags=PLAN_PAIRS if self.pairs else 0)
        return options

    # ---- guarantees
    def certify(
        self, X: Data, tolerance: float | str | ArrayLike, *, alpha: float = 0.05, **options: Any
    ) -> Rows:
        """Certify the radius within which predictions stay within a tolerance.

        Parameters
        ----------
        X : array_like or DataFrame
            Inputs, (rows, features).
        tolerance : float, str, list, ndarray or Series
            Tolerance > 0; a percentage like "10%" is a part of the prediction. A list has several
            for every row, each with certificates of its own. An array, or a Series with the index
            of X, has the tolerance of each row.
        alpha : float
            Probability that a certificate is false.
        **options
            Other arguments of certify_rows, such as samples and jobs. sigma and scale, lo and hi
            among its options, and a seed beside random_state are refused, since predictions have
            their own.

        Returns
        -------
        Rows
            The certificates."""
        rows, own = self._checked(X), self._options()
        questions = [self._question(t, alpha) for t in _tolerances(tolerance, X)]
        more = {"progress": False, **own_names(options)}
        refuse("certify", more, f"questions sigma {' '.join(own)}")
        fixed = {name: own.pop(name) for name in ("lo", "hi", "check")}
        more["options"] = with_options(more.get("options", Options()), **fixed)
        return certify_rows(self.regressor_, rows, self.sigma, questions, **own, **more)

    def predict_interval(
        self, X: Data, *, radius: float = 0.0, alpha: float = 0.05
    ) -> np.ndarray:
        """Predict intervals that contain the truth although rows were moved. Experimental.

        The first call samples the rows that fit kept.

        Parameters
        ----------
        X : array_like or DataFrame
            Inputs, (rows, features).
        radius : float
            Largest norm of the shift that may have moved a row.
        alpha : float
            Probability of a miss, for each row.

        Returns
        -------
        ndarray
            Ends of the intervals, (rows, 2)."""
        rows = self._checked(X)
        if self._kept is None:
            raise ValueError("calibration is 0, so fit kept no rows for intervals: give a share")
        if self._calibrated is None:
            options = self._options()
            options["inputs_seed"] = options["seed"] + 1 if "seed" in options else None
            X_kept, y_kept, numbers = self._kept
            done = [0]
            options["progress"] = lambda points, _: done.__setitem__(0, points)
            with _at(lambda: f"row {numbers[done[0]]} of fit's X"):
                self._calibrated = Calibrated(
                    self.regressor_, X_kept, y_kept, self.sigma, samples=self.samples, **options
                )
        rule = self._calibrated._rule(radius, alpha, None)  # refuses what is wrong for all rows
        ends: list[tuple[float, float]] = []
        with _at(lambda: f"row {len(ends)}"):
            self._calibrated._each_interval(
                rows, rule, lambda found: ends.append((found.lo, found.hi)), self._noises_of(rows)
            )
        return np.array(ends).reshape(-1, 2)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the calibration, which can be made again from the kept rows."""
        return {**super().__getstate__(), "_calibrated": None}


def _tolerances(given: Any, X: Frame) -> Sequence[Any]:
    """The tolerance of each question; an array has one for each row."""
    if isinstance(given, (list, tuple)):
        check_several(given, len(X), "tolerance", "an array", "a call for each is about every row")
        return given
    if np.ndim(given) and is_frame(X):
        given = np.asarray(in_order(given, X.index, "tolerance"))
    return [given]


@contextlib.contextmanager
def _at(row: Callable[[], str]) -> Iterator[None]:
    """A context in which errors of the library begin with the caller's name of a row."""
    try:
        yield
    except (CertregError, ValueError) as error:
        if isinstance(error, CertregError) or isinstance(error.__cause__, CertregError):
            error.args = (f"{row()}: {error}",)
        raise


def _labels(X: Frame) -> dict[str, object]:
    """The dtypes of the columns of categories and of texts."""
    texts = needed("pandas.api.types", "a DataFrame").is_string_dtype
    kinds = {name: str if of == object else of for name, of in X.dtypes.items()}
    return {n: of for n, of in kinds.items() if hasattr(of, "categories") or texts(X[n])}


@contextlib.contextmanager
def _naming(lacking: np.ndarray) -> Iterator[None]:
    """A context in which a regressor that refuses missing cells names the first row with one."""
    try:
        yield
    except ValueError as error:
        if len(lacking) and "NaN" in str(error):
            raise ValueError(f"row {lacking[0]} has a missing cell: {error}") from error
        raise


def _with_missing(X: Data) -> np.ndarray:
    """The indices of the rows with missing cells."""
    lacks = X.isna().any(axis=1).to_numpy() if is_frame(X) else np.isnan(X).any(axis=1)
    return np.flatnonzero(lacks)


def _taken(X: Data, rows: np.ndarray) -> Data:
    """Some rows of a DataFrame or an array."""
    return X.iloc[rows] if is_frame(X) else np.asarray(X)[rows]

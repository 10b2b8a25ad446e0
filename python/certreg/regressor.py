"""A smoothed model as an estimator of scikit-learn, which this module needs."""

from __future__ import annotations

import hashlib
from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone  # type: ignore[import-untyped]
from sklearn.linear_model import LinearRegression  # type: ignore[import-untyped]
from sklearn.model_selection import train_test_split  # type: ignore[import-untyped]
from sklearn.utils import check_array, check_X_y, column_or_1d  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from ._arguments import integer, number
from .constants import NO_PILOT, PLAN_PAIRS, Status
from .errors import CertregError
from .estimator import Estimator
from .frames import Columns, in_order, is_frame, rows_of, scale_from
from .intervals import Calibrated
from .questions import Question, Serving
from .certified_rows import Rows
from .rows import certify_rows


class SmoothedRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the median of a regressor's outputs under noise, certifies what it predicts, and
    gives intervals that hold although inputs were moved.

        model = SmoothedRegressor(GradientBoostingRegressor(), sigma=0.25).fit(X, y)
        model.predict(X_new)
        model.predict_interval(X_new, radius=0.1, alpha=0.1)
        model.certify(X_new, tolerance=0.5).radius

    regressor     of scikit-learn's kind, or a pipeline; None: LinearRegression. A copy is fitted
    sigma         noise level > 0, in units of the scale
    scale         noise of each feature: "std" or "iqr" of the rows that the regressor was fitted
                  to, numbers, or None for 1
    statistic     of the outputs: its name or a Statistic. The mean needs lo and hi
    samples       calls of the regressor for each prediction
    failure_rate  a prediction may miss the certified tolerance with this probability
    pairs         predictions come from pairs of opposite noise, which costs less radius
    calibration   share of the rows that fit keeps for intervals; the regressor is not fitted to
                  them. 0: none, and there are no intervals
    lo, hi        range of the outputs
    check         whether fit calls Estimator.model_check, at the first row
    random_state  None: every prediction has fresh noise. An int: an input always gets the same
                  noise, for tests; a server must not do so, because who knows it can find inputs
                  whose predictions are wrong

    After fit: regressor_, scale_ and n_features_in_. A new regressor, scale or calibration counts
    from the next fit."""

    _kept: Optional[tuple[Any, Any]]
    _calibrated: Any

    def __init__(
        self,
        regressor: Any = None,
        *,
        sigma: float = 0.25,
        scale: Any = "std",
        statistic: Any = "median",
        samples: int = 101,
        failure_rate: float = 0.01,
        pairs: bool = True,
        calibration: float = 0.2,
        lo: Any = None,
        hi: Any = None,
        random_state: Optional[int] = None,
        check: bool = True,
    ) -> None:
        self.regressor, self.sigma, self.scale, self.statistic = regressor, sigma, scale, statistic
        self.samples, self.failure_rate, self.pairs = samples, failure_rate, pairs
        self.calibration, self.lo, self.hi = calibration, lo, hi
        self.random_state, self.check = random_state, check

    # ---- fitting
    def fit(self, X: Any, y: Any) -> "SmoothedRegressor":
        """Fits a copy of the regressor, and keeps a share of the rows for intervals."""
        if not 0 <= number(self.calibration, "calibration") < 1:
            raise ValueError(
                f"calibration is {self.calibration}; it must be a share of the rows, from 0 to "
                "below 1"
            )
        if not 0 < number(self.sigma, "sigma") < np.inf:
            raise ValueError(f"sigma is {self.sigma}; it must be positive and finite")
        if self.random_state is not None:
            integer(self.random_state, "random_state")
        names = {}
        if is_frame(X):
            y = in_order(y, X.index, "y")
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
            y = column_or_1d(y, warn=True)
            names = {"feature_names_in_": np.asarray(X.columns, object)}
        else:
            X, y = check_X_y(X, y, y_numeric=True)
        kept = None
        if self.calibration:
            how = dict(test_size=self.calibration, random_state=self.random_state)
            X, kept_x, y, kept_y = train_test_split(X, y, **how)
            kept = kept_x, kept_y
        regressor = LinearRegression() if self.regressor is None else clone(self.regressor)
        fitted = dict(regressor_=regressor.fit(X, y), scale_=scale_from(X, self.scale), **names)
        self._check_model(fitted["regressor_"], X, fitted["scale_"])
        fitted.update(n_features_in_=X.shape[1], _kept=kept, _calibrated=None)
        others = {name: vars(self)[name] for name in vars(self) if name != "feature_names_in_"}
        self.__dict__ = {**others, **fitted}  # at once: Ctrl-C before leaves it as it was
        return self

    def _check_model(self, regressor: Any, X: Any, scale: Any) -> None:
        """Once for all that is served later. What cannot be begun is refused where it is used."""
        if not self.check:
            return
        z = next(iter(rows_of(X)))
        try:
            with Estimator(regressor, z if is_frame(X) else X.shape[1:], 64, scale=scale) as e:
                e.begin(z, self.sigma)
        except CertregError as error:
            if error.status != Status.INVALID:
                raise

    def _checked(self, X: Any) -> Any:
        """Tables stay what they are, since pipelines choose columns by their names."""
        check_is_fitted(self, "regressor_")
        names = list(getattr(self, "feature_names_in_", []))
        if names and not (is_frame(X) and set(X.columns) == set(names)):
            other = sorted(map(str, set(X.columns) ^ set(names))) if is_frame(X) else []
            found = f"; missing or too many: {', '.join(other)}" if other else ""
            raise ValueError(f"fit had a DataFrame: give one with the columns {names}{found}")
        X = X if is_frame(X) else check_array(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but SmoothedRegressor is expecting "
                f"{self.n_features_in_} features as input"
            )
        if is_frame(X):
            Columns(X, self.scale_)  # refuses what cannot get noise, and names its row
        return X

    def set_params(self, **params: Any) -> "SmoothedRegressor":
        """As for other estimators. Intervals need a new calibration then."""
        self._calibrated = None
        super().set_params(**params)
        return self

    # ---- what is served
    def predict(self, X: Any) -> np.ndarray:
        """The statistic of `samples` noisy outputs around each row, array (rows,)."""
        X, question = self._checked(X), self._question(1.0)
        if not len(X):
            return np.empty(0)
        first = X.iloc[[0]] if is_frame(X) else X.shape[1:]
        with Estimator(self.regressor_, first, self.samples, **self._options(served=True)) as e:
            return np.array([self._served(e, z, question) for z in rows_of(X)])

    def _served(self, server: Estimator, z: Any, question: Question) -> float:
        server.begin(z, self.sigma, self._noise_of(z))
        server.sample(0, self.samples)
        return float(server.estimate(question))

    def _noise_of(self, z: Any) -> Optional[int]:
        if self.random_state is None:
            return None
        row = np.asarray(z).ravel()
        said = repr(row.tolist()).encode() if row.dtype == object else np.float32(row).tobytes()
        return int.from_bytes(hashlib.sha256(said).digest()[:7], "little")

    def _question(self, tolerance: float, alpha: float = 0.05) -> Question:
        serving = Serving(self.samples, self.failure_rate, pairs=self.pairs)
        return Question(tolerance, alpha=alpha, statistic=self.statistic, serving=serving)

    def _options(self, served: bool = False) -> dict[str, Any]:
        options = {"scale": self.scale_, "lo": self.lo, "hi": self.hi, "check": False}
        if self.random_state is not None:
            options["seed"] = self.random_state + 1
        if served:
            options.update(pilot=NO_PILOT, flags=PLAN_PAIRS if self.pairs else 0)
        return options

    # ---- what holds
    def certify(self, X: Any, tolerance: Any, *, alpha: float = 0.05, **options: Any) -> Rows:
        """For each row the radius within which a prediction stays within the tolerance, by
        certify_rows, whose options (samples, jobs, ...) it takes. What is served has its own
        scale, lo and hi, so these are refused."""
        tolerances = tolerance if np.ndim(tolerance) else [tolerance]
        questions = [self._question(t, alpha) for t in tolerances]
        X, own, options = self._checked(X), self._options(), {"progress": False, **options}
        return certify_rows(self.regressor_, X, self.sigma, questions, **own, **options)

    def predict_interval(self, X: Any, *, radius: float = 0.0, alpha: float = 0.05) -> np.ndarray:
        """Ends of an interval for each row, array (rows, 2), that contains its truth with
        probability 1 - alpha, although the row was moved by at most the radius. The first call
        samples the rows that fit kept."""
        X = self._checked(X)
        if self._kept is None:
            raise ValueError("calibration is 0, so fit kept no rows for intervals: give a share")
        if self._calibrated is None:
            options = self._options()
            options["inputs_seed"] = options["seed"] + 1 if "seed" in options else None
            self._calibrated = Calibrated(
                self.regressor_, *self._kept, self.sigma, samples=self.samples, **options
            )
        ends = np.empty((len(X), 2))
        for row, z in zip(ends, rows_of(X)):
            found = self._calibrated.interval(z, radius, alpha, noise_id=self._noise_of(z))
            row[:] = found.lo, found.hi
        return ends

    def __getstate__(self) -> dict[str, Any]:
        """Without the calibration, which the kept rows make again."""
        return {**super().__getstate__(), "_calibrated": None}

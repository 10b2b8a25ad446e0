"""Questions about a record."""

from __future__ import annotations

import ctypes as C
import dataclasses
import math
import re
from decimal import Decimal
from typing import Any, Sequence, cast

import numpy as np

from . import structs as S
from .arguments import f64, instance, integer, listed, number, positive, u64
from .arrays import address_of, numbers
from .constants import ALL_OUTPUTS, Center, Constraint, Constraints, Method, Statistic
from .constants import constraints_of, member
from .library import check, lib

GROWTH = 1.5  # of the number of main samples between looks (docs/benchmarks.md)


@dataclasses.dataclass(frozen=True)
class Target:
    """A radius at which sampling stops, once it is proved or ruled out.

    Parameters
    ----------
    radius : float
        Radius > 0, in units of the input divided by its scale.
    looks : sequence of int, optional
        Ascending numbers of samples, pilot included, at which the record is examined; by default
        early ones, the first at the least number that can prove the radius.
    growth : float
        Ratio of early looks, in (1, 4]; it must come with the first question about a record. 0:
        looks at whole batches, in steps of about 10%. Experimental.

    Examples
    --------
    >>> question = certreg.Question(0.5, target=certreg.Target(0.1))"""

    radius: float
    looks: Sequence[int] | None = None
    growth: float = GROWTH

    def __post_init__(self) -> None:
        if self.looks is not None:
            object.__setattr__(self, "growth", 0.0)

    def _struct(self) -> S.Target:
        if self.looks is None:
            return S.Target(radius=self.radius, growth=self.growth)
        looks = [integer(count, "looks") for count in listed(self.looks, "looks")]
        return S.Target(
            radius=self.radius, look_count=len(looks), looks=(u64 * len(looks))(*looks)
        )


@dataclasses.dataclass(frozen=True)
class Serving:
    """Serving: each request gets the statistic of fresh samples.

    The certificate is then about the served value instead of the smoothed prediction.

    Parameters
    ----------
    samples : int
        Number of fresh samples, >= 1.
    failure_rate : float
        Largest probability with which a served value may miss the tolerance although the
        certificate is true, in (0, 0.5].
    trim : float
        For the statistic "trimmed_mean": share of the fresh outputs that is cut off at each end, in
        [0, 0.5). ``int(trim * samples)`` outputs are cut off.
    core : float
        For the statistic "trimmed_mean": outputs count as near within this distance, in (0,
        tolerance]; 0: the tolerance.
    pairs : bool
        Serve from pairs of opposite noise, with 11 to 10001 samples. This reduces the radius of a
        median much less (theory 1.5). The server must be an Estimator with ``flags=PLAN_PAIRS``.
        Experimental.

    Examples
    --------
    >>> question = certreg.Question(0.5, serving=certreg.Serving(101, 0.01))"""

    samples: int
    failure_rate: float
    trim: float = 0.0
    core: float = 0.0
    pairs: bool = False

    def _struct(self) -> S.Serving:
        return S.Serving(**vars(self))


@dataclasses.dataclass(frozen=True)
class Faulty:
    """Units of features that may have any values, such as broken sensors, and the law of masks.

    A noisy sample shows some units and hides the rest. A certificate has then also
    the radius with k units of arbitrary values, `fault_radius[k]` (docs/guide/faults.md).
    Experimental.

    Parameters
    ----------
    units : sequence of int, str or sequence of them, optional
        Each unit is a feature, or several features that can only be wrong together, by index (in
        the order of the inputs, from 0) or by the name of a column. Other features are never hidden
        and never wrong. None: each feature is a unit.
    shown : int
        Number of units that each sample shows; all sets of this size are equally likely. 1 shows
        one of several blocks. 0 with `probability`.
    probability : float or sequence of float, optional
        Instead of `shown`: the probability, from 0 to less than 1, with which a sample shows a unit
        independently of the others, for all units or for each.
    marker : float, optional
        The value of hidden features. None: NaN, a missing cell of a DataFrame.

    Examples
    --------
    >>> faulty = certreg.Faulty(["carat", ("x", "y", "z")], shown=1)"""

    units: Sequence[Any] | None = None
    shown: int = 0
    probability: float | Sequence[float] | None = None
    marker: float | None = None

    def _of(
        self, features: int, names: Sequence[str] | None, is_table: bool = False
    ) -> Faulty:
        """The same with tuples of indices, and with a probability for each unit. `is_table`: inputs
        are DataFrames."""
        if isinstance(self.units, str):
            raise ValueError(f"faulty.units is a text, {self.units!r}: give a list of units")
        if is_table:
            self._refuse_missing("inputs are DataFrames, which have missing cells")
        known = {name: j for j, name in enumerate(names or ())}

        def place(one: Any) -> int:
            if isinstance(one, str) and one not in known:
                raise ValueError(f"faulty.units names {one!r}, and no feature has this name")
            if one in known and not isinstance(one, str) and known[one] != one:
                raise ValueError(
                    f"faulty.units has {one!r}, which is the label of column {known[one]} and the "
                    "index of another one: give columns labels that are texts"
                )
            return integer(known.get(one, one), "faulty.units", 0, features - 1)

        given = range(features) if self.units is None else self.units
        alone = [isinstance(unit, str) or not np.ndim(unit) for unit in given]
        units = [
            tuple(map(place, [unit] if single else unit)) for unit, single in zip(given, alone)
        ]
        every = [j for unit in units for j in unit]
        if not all(units) or len(set(every)) < len(every):
            raise ValueError("faulty.units: give each unit a feature, and no feature to two units")
        rates, shown = cast(Any, self.probability), integer(self.shown, "faulty.shown")
        if rates is not None:
            each = numbers(rates, np.float64, "faulty.probability")
            rates = tuple(np.broadcast_to(each, len(units)).tolist())
        marker = None if self.marker is None else number(self.marker, "faulty.marker")
        return Faulty(tuple(units), shown, rates, marker)

    def _refuse_missing(self, what: str = "cells are missing") -> None:
        """Raises ValueError for a marker that is a number, which missing cells would cover."""
        if self.marker is not None:
            raise ValueError(f"{what}: leave out faulty.marker, so that hidden cells are NaN")

    def _struct(self, features: int) -> tuple[S.Masks, Any]:
        """The struct of a Faulty from _of, and the arrays that it points to."""
        unit, count = np.full(features, -1, np.int32), len(self.units or ())
        for u, each in enumerate(self.units or ()):
            unit[list(each)] = u
        rates = None if self.probability is None else np.array(self.probability, np.float64)
        masks = S.Masks(
            marker=math.nan if self.marker is None else self.marker, units=count,
            unit=address_of(unit), shown=self.shown, probability=address_of(rates),
        )  # fmt: skip
        return masks, (unit, rates)


NAN_MARKER = (
    "; hidden features are NaN (faulty.marker): give Faulty(marker=NUMBER), or a model that was "
    "trained with missing values"
)
PROMISES = {  # in a word what certificates promise (question.h, "Methods")
    Method.FINITE: "proved",
    Method.ANYTIME: "proved",
    Method.ASYMPTOTIC: "asymptotic",
    Method.PAPER: "published, weaker",
    Method.BASELINE: "published",
}
_OF_THE_PAPER = (Statistic.MEAN, Center.TRUE_MEAN)


def _named(enum_type: type[Statistic | Method], value: object, what: str) -> int:
    """A member by its name. Error texts explain names that come from elsewhere."""
    name = str(value).lower()
    try:
        return member(enum_type, value, what)
    except ValueError as error:
        if enum_type is Statistic and name.strip() in ("best", "auto"):
            raise ValueError(
                f"statistic is {value!r}; give one for all inputs, because a statistic chosen for "
                "each would be another function at a shifted input, and no radius would hold"
            ) from None
        if "smooth" not in name and not name.startswith("rs"):
            raise
        raise ValueError(
            f"{error} (α-smoothing and RS-Reg are trimmed_mean, center smoothing is ball_center, "
            "median smoothing is median, each with method='baseline')"
        ) from None


@dataclasses.dataclass(frozen=True)
class Question:
    """A question about a record: by default about the median, with finite-sample bounds.

    The library checks most arguments when the question is evaluated.

    Parameters
    ----------
    tolerance : float, str or array_like
        Tolerance > 0, in units of the output; for an angle less than half a turn. An array for
        certify_rows, (rows,), has the tolerance of each row, in the order of X. Or a percentage
        of the absolute value of the prediction (of the norm of a vector), such as "10%", which sets
        relative_tolerance: for "median", "mean" and "projection_median" with the center
        "prediction". ``Certificate.tolerance`` is then the tolerance in units of the output.
        Experimental.
    output : int
        Index of the output, or ALL_OUTPUTS: all outputs as one vector.
    alpha : float
        Probability > 0 that the certificate is false.
    statistic : Statistic, int or str
        "median", "huber", "mean" or "circular_mean"; of vectors also "projection_median"; with the
        method "baseline" also "trimmed_mean" or "ball_center".
    method : Method, int or str
        "finite", "anytime", "asymptotic", "paper" or "baseline".
    huber_width : float
        Width of the statistic "huber", > 0, in units of the output; often half the tolerance.
    center : Center, int or str
        "prediction" or "true_mean"; for median smoothing as its authors coded it, a weaker promise,
        "sample_median".
    constraints : Constraints, int or str
        Constraints to use, such as "ECGM"; 0: the default of the method.
    bonferroni : int
        Number of guarantees that have to hold together: alpha is divided by it.
    prediction : float or sequence of float, optional
        The value on which the guarantee is centered, for a vector a number for each of its outputs;
        by default the pilot chooses it.
    target : Target or float, optional
        A target radius.
    serving : Serving, optional
        By default the certificate is about the smoothed prediction.
    output_count : int
        Above 1: this many outputs, from `output` on, as one vector.
    relative_tolerance : float
        0.1 for the tolerance "10%"; the tolerance is then 0. 0: none. Experimental.
    faults : int
        With Faulty: the number of units with arbitrary values that `radius` is about, 0 to 7.
        Experimental.
    name : str
        Its name in tables and plots. It is no part of the question: digests, resume files and
        comparisons by == ignore it. Experimental.

    Raises
    ------
    ValueError
        For unknown names, for a statistic that is chosen for each input, and for a tolerance that
        is neither a number nor a percentage, or an array with one that is not positive.
    TypeError
        For a tolerance that is a Series, whose index would be ignored.

    Examples
    --------
    >>> question = certreg.Question(0.5, statistic="huber", huber_width=0.25)
    >>> question.statistic
    <Statistic.HUBER: 1>
    >>> certreg.Question("10%").relative_tolerance
    0.1"""

    tolerance: float | str | Sequence[float]
    output: int = 0
    alpha: float = 0.05
    statistic: Statistic | int | str = Statistic.MEDIAN
    method: Method | int | str = Method.FINITE
    huber_width: float = 0.0
    center: Center | int | str = Center.PREDICTION
    constraints: Constraints | int | str = 0
    bonferroni: int = 1
    prediction: float | Sequence[float] | None = None
    target: Target | float | None = None
    serving: Serving | None = None
    output_count: int = 0
    relative_tolerance: float = 0.0
    faults: int = 0
    name: str = dataclasses.field(default="", compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.tolerance, str):
            object.__setattr__(self, "relative_tolerance", percentage(self.tolerance) / 100)
            object.__setattr__(self, "tolerance", 0.0)
        elif np.ndim(self.tolerance):
            object.__setattr__(self, "tolerance", _tolerances(self.tolerance))
        else:
            number(self.tolerance, "tolerance")  # refuses others, such as a generator
        positive(self.alpha, "alpha")  # the library replaces 0 by the default
        integer(self.bonferroni, "bonferroni", 1)
        instance(self.name, str, "name")
        for field, value in (
            ("statistic", _named(Statistic, self.statistic, "statistic")),
            ("method", _named(Method, self.method, "method")),
            ("center", member(Center, self.center, "center")),
            ("constraints", constraints_of(self.constraints)),
        ):
            object.__setattr__(self, field, value)
        given = self.prediction
        if given is not None and np.ndim(given):  # a tuple can be compared
            each = tuple(number(value, "prediction") for value in np.ravel(given))
            object.__setattr__(self, "prediction", each)
        if self.method == Method.PAPER and (self.statistic, self.center) != _OF_THE_PAPER:
            raise ValueError(
                "method 'paper' certifies the mean about its true value: give statistic='mean' and "
                "center='true_mean' (and lo and hi for families with M), or "
                "Question.paper('(E,C,G)+M', tolerance)"
            )

    @classmethod
    def paper(cls, family: str, tolerance: float, **more: Any) -> Question:
        """Return the question of Zhang and Frank's paper, about the mean and its true value.

        Parameters
        ----------
        family : str
            Family of constraints: "(C)", "(C,G)", "(E,C)+M" or "(E,C,G)+M". Families with M need
            limits of the outputs, lo and hi.
        tolerance : float
            Tolerance > 0, in units of the output.
        **more
            Other arguments of Question. The name is the family by default.

        Examples
        --------
        >>> certreg.Question.paper("(C,G)", 0.5).constraints
        6"""
        statistic, center = _OF_THE_PAPER
        more.setdefault("name", str(family))
        return cls(
            tolerance, constraints=family, statistic=statistic, center=center,
            method=Method.PAPER, **more,
        )  # fmt: skip

    def _promise(self) -> str:
        if self.center == Center.SAMPLE_MEDIAN:
            return PROMISES[Method.PAPER]
        return PROMISES[cast(Method, self.method)]

    @property
    def is_vector(self) -> bool:
        """True if it is about several outputs as one vector."""
        return self.output == ALL_OUTPUTS or self.output_count > 1

    def outputs_of(self, outputs: int) -> int:
        """Return the number of outputs that it is about, at least 1.

        Parameters
        ----------
        outputs : int
            Number of outputs of the model."""
        if self.output == ALL_OUTPUTS:
            return outputs
        return max(1, integer(self.output_count, "output_count"))

    def _of_rows(self, rows: int | np.ndarray) -> Question:
        """The question about one row of a table, with one tolerance, or about some rows."""
        if not isinstance(self.tolerance, tuple):
            return self
        some = self.tolerance[rows] if isinstance(rows, int) else np.asarray(self.tolerance)[rows]
        if not np.size(some):  # no row is left: a question about any
            return dataclasses.replace(self, tolerance=self.tolerance[0])
        return dataclasses.replace(self, tolerance=some)

    def _struct(self) -> S.Question:
        if isinstance(self.tolerance, tuple):
            raise TypeError(
                f"tolerance must be one number here, and the question has {len(self.tolerance)}, "
                "for the rows of certify_rows"
            )
        others = ("prediction", "target", "serving", "name")
        q = S.Question(**{k: v for k, v in vars(self).items() if k not in others})
        if self.prediction is not None:
            each = self.prediction if isinstance(self.prediction, tuple) else ()
            values = each or (number(self.prediction, "prediction"),)
            q.prediction_count, q.prediction = len(each), (f64 * len(values))(*values)
        if self.target is not None:
            given = self.target
            target = given if isinstance(given, Target) else Target(number(given, "target"))
            q.target = C.pointer(target._struct())
        if self.serving is not None:
            if not isinstance(self.serving, Serving):
                raise TypeError("serving must be Serving(samples, failure_rate)")
            q.serving = C.pointer(self.serving._struct())
        return q


Asked = Question | float | str  # a number or percentage is a question with this tolerance


def _tolerances(given: object) -> tuple[float, ...]:
    """The tolerance of each row."""
    if hasattr(given, "index") and hasattr(given, "to_numpy"):
        raise TypeError(
            "tolerance is a Series, and its index would be ignored: give tolerance.to_numpy(), in "
            "the order of X"
        )
    each = numbers(given, np.float64, "tolerance")
    if each.ndim != 1 or not each.size:
        raise ValueError(
            f"tolerance has shape {each.shape}; it must be a number, or (rows,). Several questions "
            "are a list of Question"
        )
    wrong = np.flatnonzero(~(np.isfinite(each) & (each > 0)))
    if wrong.size:
        raise ValueError(
            f"tolerance[{wrong[0]}] is {each[wrong[0]]:g}; it must be positive and finite"
        )
    return tuple(each.tolist())


def percentage(text: str) -> float:
    """The number in a text like "10%"."""
    found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*%\s*", text)
    if not found or not float(found[1]):
        raise ValueError(f"tolerance is {text!r}; give a number, or a percentage like '10%'")
    return float(found[1])


def tolerance_text(question: Question) -> str:
    """The tolerance as a text, such as "0.5", "10%", or "0.1 to 2" for those of rows."""
    if question.relative_tolerance:
        exact = Decimal(repr(float(question.relative_tolerance))) * 100
        return f"{exact.normalize():f}%"
    if isinstance(question.tolerance, tuple):
        least, most = f"{min(question.tolerance):g}", f"{max(question.tolerance):g}"
        return least if least == most else f"{least} to {most}"
    return f"{question.tolerance:g}"


def stated_tolerance(question: Question) -> float | str:
    """The tolerance of a table's column: a number, or the text of another one."""
    if question.relative_tolerance or isinstance(question.tolerance, tuple):
        return tolerance_text(question)
    return number(question.tolerance, "tolerance")


def typical_tolerance(question: Question, labels: np.ndarray | None) -> float:
    """The tolerance, the mean one of rows; a relative one of a prediction that has the labels' mean
    size, 0 without labels."""
    if isinstance(question.tolerance, tuple):
        return float(np.mean(question.tolerance))
    if not question.relative_tolerance:
        return number(question.tolerance, "tolerance")
    size = 0.0 if labels is None else float(np.nanmean(np.abs(labels)))
    return question.relative_tolerance * size


def question_of(asked: object) -> Question:
    """The question; a number or a percentage is the tolerance of a default question."""
    if isinstance(asked, Question):
        return asked
    if isinstance(asked, str) and "%" in asked:
        return Question(asked)
    if np.ndim(asked):  # type: ignore[arg-type]
        raise TypeError(
            "questions holds an array: give Question(tolerances) for a tolerance of each row, or a "
            "list of numbers for several questions about every row; labels go to Rows.label_errors"
        )
    return Question(number(asked, "question must be a Question, or its tolerance"))


def needed_constraints(questions: Sequence[Question]) -> int:
    """The constraints that a plan needs for these questions; 0: the default ones."""
    for q in questions:
        named = int(q.constraints)
        if named & Constraint.GRADIENT or not named and q.method == Method.PAPER:
            return int(Constraints.ECGM)
    return 0


def divided(questions: Sequence[Question], sigmas: int) -> list[Question]:
    """The questions with alpha divided by the number of sigmas, whose certificates hold
    together."""
    what = "bonferroni times the number of sigmas"
    shares = [integer(q.bonferroni * sigmas, what, 1, 2**53) for q in questions]
    return [dataclasses.replace(q, bonferroni=share) for q, share in zip(questions, shares)]


def structs_of(questions: Sequence[Question]) -> "C.Array[S.Question]":
    """The questions as an array of structs. It keeps the objects alive to which they point."""
    return (S.Question * len(questions))(*[question._struct() for question in questions])


def question_digest(question: Asked) -> int:
    """Return a 64-bit digest of a question, which certificates have as `question_digest`.

    Parameters
    ----------
    question : Question or float
        The question. Defaults are resolved first.

    Examples
    --------
    >>> same = certreg.Question(0.5, alpha=0.05)
    >>> certreg.question_digest(0.5) == certreg.question_digest(same)
    True"""
    return _digest_of(question_of(question)._struct())


def _digest_of(struct: S.Question) -> int:
    digest, why = u64(), S.Error()
    check(lib.certreg_question_digest(struct, why, C.byref(digest)), why)
    return int(digest.value)


def digests_of(questions: Sequence[Question], rows: np.ndarray) -> np.ndarray:
    """The digest of each question for each row, (rows, 1, questions)."""
    out = np.empty((len(rows), 1, len(questions)), np.uint64)
    for q, question in enumerate(questions):
        struct = question._of_rows(0)._struct()
        out[:, 0, q] = _digest_of(struct)
        if isinstance(question.tolerance, tuple):
            for i, row in enumerate(rows.tolist()):
                struct.tolerance = question.tolerance[row]
                out[i, 0, q] = _digest_of(struct)
    return out

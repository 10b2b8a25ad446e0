"""Questions about a record."""

from __future__ import annotations

import ctypes as C
import dataclasses
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _structs as S
from ._library import lib
from ._arguments import constraints_of, field_names, integer, listed, member, number
from ._ctypes import f64, u64
from .constants import ALL_OUTPUTS, Center, Constraint, Constraints, Method, Statistic
from .errors import check


@dataclasses.dataclass(frozen=True)
class Target:
    """A radius at which sampling stops, once it is proved or ruled out.

    radius  > 0, in units of the input divided by its scale
    looks   ascending numbers of samples, pilot included, at which the record is examined; None:
            the library chooses them"""

    radius: float
    looks: Optional[Sequence[int]] = None

    def _struct(self) -> Any:
        if self.looks is None:
            return S.Target(radius=self.radius)
        looks = [integer(count, "looks") for count in listed(self.looks, "looks")]
        return S.Target(
            radius=self.radius, look_count=len(looks), looks=(u64 * len(looks))(*looks)
        )


@dataclasses.dataclass(frozen=True)
class Serving:
    """What is served for each request: the statistic of fresh samples. The certificate is then
    about this value instead of the smoothed prediction.

    samples       number of fresh samples, >= 1
    failure_rate  largest probability with which a served value may miss the tolerance although the
                  certificate is true, in (0, 0.5]
    trim          for the statistic "trimmed_mean": share of the fresh outputs that is cut off at
                  each end, in [0, 0.5). They are int(trim * samples) outputs
    core          likewise: outputs count as near within this distance, in (0, tolerance]; 0: the
                  tolerance
    pairs         True: from pairs of opposite noise, which takes much less off the radius of a
                  median (theory 1.5). 11 to 10001 samples. The server is an Estimator with
                  flags=PLAN_PAIRS, and no other. This may still change"""

    samples: int
    failure_rate: float
    trim: float = 0.0
    core: float = 0.0
    pairs: bool = False

    def _struct(self) -> Any:
        return S.Serving(**dataclasses.asdict(self))


_CHOSEN = ("best", "auto")
_OF_THE_PAPER = (Statistic.MEAN, Center.TRUE_MEAN)


def _named(enum_type: Any, value: Any, what: str) -> Any:
    """A member by its name. Names of published methods are answered by what they are here."""
    try:
        return member(enum_type, value, what)
    except ValueError as error:
        name = str(value).lower()
        if "smooth" not in name and not name.startswith("rs"):
            raise
        raise ValueError(
            f"{error} (α-smoothing and RS-Reg are trimmed_mean, center smoothing is ball_center, "
            "median smoothing is median, each with method='baseline')"
        ) from None


def _statistic_of(value: Any) -> Any:
    if isinstance(value, str) and value.strip().lower() in _CHOSEN:
        raise ValueError(
            f"statistic is {value!r}; give one for all inputs, because a statistic chosen for each "
            "would be another function at a shifted input, and no radius would hold"
        )
    return _named(Statistic, value, "statistic")


@dataclasses.dataclass(frozen=True)
class Question:
    """A question about a record. By default it is about the median with finite-sample bounds; only
    the tolerance must be given.

    tolerance    > 0, in units of the output; for an angle less than half a turn
    output       index of the output, or ALL_OUTPUTS: all of them as one vector
    alpha        probability that the certificate is false; 0: 0.05
    statistic    a Statistic or its name: "median", "huber", "mean", "circular_mean"; of vectors
                 also "projection_median"; with the method "baseline" also "trimmed_mean",
                 "ball_center"
    method       a Method or its name: "finite", "anytime", "asymptotic", "paper", "baseline"
    huber_width  width of the statistic "huber", > 0, in units of the output; often half the
                 tolerance
    center       a Center or its name: "prediction", "true_mean"; for median smoothing as its
                 authors coded it, a weaker promise, "sample_median"
    constraints  constraints to use, as a number or name such as "ECGM"; 0: the method's default
    bonferroni   how many guarantees have to hold together: alpha is divided by it; 0: 1
    prediction   value on which the guarantee is centered, or for a vector a sequence with one
                 number for each of its outputs; None: the pilot chooses it
    target       a Target, or its radius; None: none
    serving      a Serving; None: the certificate is about the smoothed prediction
    output_count  above 1: this many outputs, from `output` on, as one vector

    Raises ValueError for unknown names, and for a statistic that is chosen for each input. The
    library checks everything else when the question is evaluated."""

    tolerance: float
    output: int = 0
    alpha: float = 0.05
    statistic: Union[Statistic, int, str] = Statistic.MEDIAN
    method: Union[Method, int, str] = Method.FINITE
    huber_width: float = 0.0
    center: Union[Center, int, str] = Center.PREDICTION
    constraints: Union[Constraints, int, str] = 0
    bonferroni: int = 1
    prediction: Union[float, Sequence[float], None] = None
    target: Union[Target, float, None] = None
    serving: Optional[Serving] = None
    output_count: int = 0

    def __post_init__(self) -> None:
        for field, value in (
            ("statistic", _statistic_of(self.statistic)),
            ("method", _named(Method, self.method, "method")),
            ("center", member(Center, self.center, "center")),
            ("constraints", constraints_of(self.constraints)),
        ):
            object.__setattr__(self, field, value)
        given: Any = self.prediction
        if np.ndim(given):  # a tuple can be compared
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
        """The question of Zhang and Frank's paper: how far its mean, about its true value, can be
        kept within the tolerance by a family of constraints: "(C)", "(C,G)", "(E,C)+M" or
        "(E,C,G)+M". The outputs need a range, lo and hi, for those with M."""
        statistic, center = _OF_THE_PAPER
        return cls(
            tolerance, constraints=family, statistic=statistic, center=center,
            method=Method.PAPER, **more,
        )  # fmt: skip

    @property
    def is_vector(self) -> bool:
        """Whether it is about several outputs as one vector."""
        return self.output == ALL_OUTPUTS or self.output_count > 1

    def outputs_of(self, outputs: int) -> int:
        """How many outputs it is about, of a model with this many."""
        if self.output == ALL_OUTPUTS:
            return outputs
        return max(1, integer(self.output_count, "output_count"))

    def _struct(self) -> Any:
        pointers = ("prediction", "target", "serving")
        names = field_names(Question)
        q = S.Question(**{name: getattr(self, name) for name in names if name not in pointers})
        if self.prediction is not None:
            each = self.prediction if isinstance(self.prediction, tuple) else ()
            numbers = each or (number(self.prediction, "prediction"),)
            q.prediction_count = len(each)
            q.prediction = (f64 * len(numbers))(*numbers)
        if self.target is not None:
            target = self.target
            if not isinstance(target, Target):
                target = Target(number(target, "target"))
            q.target = C.pointer(target._struct())
        if self.serving is not None:
            if not isinstance(self.serving, Serving):
                raise TypeError("serving must be Serving(samples, failure_rate)")
            q.serving = C.pointer(self.serving._struct())
        return q


Asked = Union[Question, float]  # a number is a question with this tolerance


def question_of(asked: Asked) -> Question:
    """The question; a number is the tolerance of a default question."""
    if isinstance(asked, Question):
        return asked
    return Question(number(asked, "question must be a Question, or its tolerance"))


def needed_constraints(questions: Sequence[Question]) -> int:
    """The constraints that a plan needs for these questions; 0: the default ones."""
    return int(Constraints.ECGM) if any(map(_may_use_gradient, questions)) else 0


def _may_use_gradient(question: Question) -> bool:
    named = integer(question.constraints, "constraints")
    if not named:
        return bool(question.method == Method.PAPER)
    return bool(named & Constraint.GRADIENT)


def structs_of(questions: Sequence[Question]) -> Any:
    """The questions as an array of structs, which keeps everything alive to which they point."""
    return (S.Question * len(questions))(*[question._struct() for question in questions])


def question_digest(question: Asked) -> int:
    """A 64-bit digest of a question, in which 0 and the default that it stands for are the same.
    Certificates have it as `question`."""
    digest, struct = u64(), question_of(question)._struct()
    check(lib.certreg_question_digest(C.byref(struct), C.byref(digest)))
    return int(digest.value)

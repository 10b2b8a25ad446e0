"""What is asked about a record."""

from __future__ import annotations

import ctypes as C
import dataclasses
from typing import Any, Optional, Sequence, Union

from . import _structs as S
from ._library import lib
from .constants import Center, Constraints, Method, Statistic, constraints_of, integer, member
from .errors import check


@dataclasses.dataclass(frozen=True)
class Target:
    """Sampling stops once this radius is proved or ruled out.

    radius  > 0
    looks   ascending numbers of samples, pilot included, at which the record may be examined;
            None: the library's choice"""

    radius: float
    looks: Optional[Sequence[int]] = None

    def _struct(self) -> Any:
        if self.looks is None:
            return S.Target(radius=self.radius)
        looks = [integer(count, "looks") for count in self.looks]
        return S.Target(
            radius=self.radius, look_count=len(looks), looks=(S.u64 * len(looks))(*looks)
        )


@dataclasses.dataclass(frozen=True)
class Serving:
    """The certificate is about the statistic of so many fresh samples. It misses the tolerance with
    probability at most failure_rate, which is in (0, 0.5]."""

    samples: int
    failure_rate: float

    def _struct(self) -> Any:
        return S.Serving(samples=self.samples, failure_rate=self.failure_rate)


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked about a record. Everything but the tolerance has a default: the median, with
    finite-sample bounds.

    tolerance    > 0, in units of the output; of an angle below half a turn
    output       its index, or ALL_OUTPUTS
    alpha        probability of a false certificate; 0: 0.05
    statistic    a Statistic or its name: "median", "huber", "mean", "circular_mean"
    method       a Method or its name: "finite", "anytime", "asymptotic", "paper"
    huber_width  of "huber", in units of the output, often half the tolerance
    center       a Center or its name: "prediction", "true_mean"
    constraints  those to use, as a number or a name ("ECGM"); 0: those of the method
    bonferroni   how many guarantees have to hold together: alpha is divided by it
    prediction   what the guarantee is centered on; None: the pilot chooses it
    target       a Target, or its radius
    serving      a Serving

    Unknown names raise ValueError; everything else is checked by the library when the question is
    put."""

    tolerance: float
    output: int = 0
    alpha: float = 0.0
    statistic: Union[Statistic, int, str] = Statistic.MEDIAN
    method: Union[Method, int, str] = Method.FINITE
    huber_width: float = 0.0
    center: Union[Center, int, str] = Center.PREDICTION
    constraints: Union[Constraints, int, str] = 0
    bonferroni: int = 0
    prediction: Optional[float] = None
    target: Union[Target, float, None] = None
    serving: Optional[Serving] = None

    def __post_init__(self) -> None:
        for field, value in (
            ("statistic", member(Statistic, self.statistic, "statistic")),
            ("method", member(Method, self.method, "method")),
            ("center", member(Center, self.center, "center")),
            ("constraints", constraints_of(self.constraints)),
        ):
            object.__setattr__(self, field, value)

    def _struct(self) -> Any:
        pointers = ("prediction", "target", "serving")
        names = [field.name for field in dataclasses.fields(self)]
        q = S.Question(**{name: getattr(self, name) for name in names if name not in pointers})
        if self.prediction is not None:
            q.prediction = C.pointer(S.f64(self.prediction))
        if self.target is not None:
            target = self.target if isinstance(self.target, Target) else Target(self.target)
            q.target = C.pointer(target._struct())
        if self.serving is not None:
            if not isinstance(self.serving, Serving):
                raise TypeError("serving must be Serving(samples, failure_rate)")
            q.serving = C.pointer(self.serving._struct())
        return q


Asked = Union[Question, float]  # a number is a question with this tolerance


def question_of(asked: Asked) -> Question:
    """The question that was meant."""
    return asked if isinstance(asked, Question) else Question(asked)


def structs_of(questions: Sequence[Question]) -> Any:
    """The questions as an array of structs. What they point to lives as long as the array."""
    return (S.Question * len(questions))(*[question._struct() for question in questions])


def question_digest(question: Asked) -> int:
    """A 64-bit digest of everything that is asked, with defaults resolved. Certificates have it
    as `question`."""
    digest, struct = S.u64(), question_of(question)._struct()
    check(lib.certreg_question_digest(C.byref(struct), C.byref(digest)))
    return int(digest.value)

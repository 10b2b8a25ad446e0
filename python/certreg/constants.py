"""The enumerations and numbers of the C headers.

``CERTREG_METHOD_FINITE`` is ``Method.FINITE``, and ``CERTREG_E_BUSY`` is ``Status.BUSY``. Constants
without an enumeration lose only the prefix ``CERTREG_``. An argument that takes a member of an
enumeration also takes its name: ``statistic="median"``, ``kind="angle_pair"``,
``constraints="ECGM"``.

python/generate.py writes the members and numbers that the headers have."""

from __future__ import annotations

import ctypes
import enum
import functools
import re
from typing import TypeVar, cast

from .arguments import integer

VERSION_NUMBER = 400  # of the headers that this package follows


def version_text(number: int) -> str:
    """A VERSION_NUMBER as text, such as 0.2.0."""
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


__version__ = version_text(VERSION_NUMBER) + ".dev0"  # that of the headers
NO_PILOT: int = ctypes.c_size_t(-1).value  # pilot=NO_PILOT: every question gives its prediction
ALL_OUTPUTS = -1  # output=ALL_OUTPUTS: all outputs as one vector, in the 2-norm
PLAN_COUNT_FAILURES = 1  # flags=...: an output that is NaN or infinite counts as the worst value
PLAN_PAIRS = 2  # flags=...: a server of pairs of opposite noise
PLAN_DEPLOYED = 8  # flags=...: the deployed loop, in which every sample has noise; experimental
PLAN_EPISODE = 4  # flags=...: a row is the noise of one run of a control loop; experimental
PLAN_ROUNDED = 16  # outputs are rounded to float32: a flag of every Estimator; experimental
CALL_ROWS, CALL_IDLE = 1, 4  # states of a call of a queue: rows to compute; nothing at all
QUEUE_KEEP_PICKS = 2  # a flag of a queue: of records it keeps what an audit would ask
CHECK_ROWS = 4  # of a small check of the model
AUDIT_DEFAULT, AUDIT_WHOLE = 1, 2  # of a plan: some outputs are asked again after a run
JSON_SEED = 1  # to_json(flags=...): write the seed too
WORST_CASE_EVALUATIONS = 2000  # default limit of a Solver
LEAST_WORST_CASE_EVALUATIONS = 1000  # least limit of a Solver
RADIUS_EVALUATIONS = 14000  # default limit of a Bisection
LEAST_RADIUS_EVALUATIONS = 4000  # least limit of a Bisection
MOST_REGIONS = 5  # of a worst function
CALIBRATION_SCORES = 25  # kept of a calibration point, at most
DENOISER_PASSES = 7  # how often the examples of a denoiser are read


class Named(enum.IntEnum):
    """An enumeration with members that print as the names that arguments take."""

    def __str__(self) -> str:
        return self.name.lower()

    __format__ = enum.Enum.__format__  # of the text, not of the number


class Status(Named):
    """Kinds of failures.

    - OK: no failure.
    - INVALID: an argument is wrong; the text names it.
    - NO_MEMORY, SMALL_MEMORY: an allocation failed, or a buffer is too small.
    - MODEL_FAILED: the model failed, or :meth:`Estimator.model_check` refuses it.
    - NOT_FINITE: an output is NaN or infinite.
    - OUT_OF_RANGE: an output is outside of its declared range; or, with sample -1, the tolerance is
      too small for outputs in float32.
    - INFEASIBLE: no function has these bounds.
    - WRONG_STATE: the record does not answer this call, for lack of samples or after an earlier
      answer.
    - NO_BACKEND, NO_DEVICE, DEVICE_FAILED: a backend or module is not available; there is no
      such device, or it failed.
    - VERSION, CORRUPT, MISMATCH: the data come from another version, are damaged, or belong to
      other arguments.
    - TOO_MANY: a sample index is at least `max_samples`.
    - CANCELLED, DEADLINE: the caller, or the deadline, stopped sampling.
    - BUSY: another call is running on the object.
    - PLATFORM: the C library's mathematics is too inaccurate for certificates."""

    OK = 0
    INVALID = 1
    NO_MEMORY = 2
    SMALL_MEMORY = 3
    MODEL_FAILED = 4
    NOT_FINITE = 5
    OUT_OF_RANGE = 6
    INFEASIBLE = 7
    WRONG_STATE = 8
    NO_BACKEND = 9
    NO_DEVICE = 10
    DEVICE_FAILED = 11
    VERSION = 12
    CORRUPT = 13
    MISMATCH = 14
    TOO_MANY = 15
    CANCELLED = 16
    DEADLINE = 17
    BUSY = 18
    PLATFORM = 19


class Output(Named):
    """Kinds of outputs.

    - REAL: a number.
    - ANGLE: a number that is wrapped into the turn from `lo` to `hi`, by default from -pi to pi.
    - ANGLE_PAIR: two columns (cos, sin), up to a positive factor, recorded as the angle."""

    REAL = 0
    ANGLE = 1
    ANGLE_PAIR = 2


class Constraint(enum.IntFlag):
    """Constraints: the bounds that are known of a function under the noise (theory 2).

    - MEAN, VARIANCE: the mean and the variance of the function.
    - GRADIENT: sigma times the norm of the scaled gradient of the mean.
    - RANGE: limits of the values.
    - MOMENT, LAW: a moment about a fixed point, and the whole distribution. The library adds them
      itself: never name them."""

    MEAN = 1
    VARIANCE = 2
    GRADIENT = 4
    RANGE = 8
    MOMENT = 32
    LAW = 64


class Constraints(Named):
    """Sets of constraints, with the letters of Zhang and Frank.

    - C: the variance.
    - CG: variance and gradient.
    - ECM: mean, variance and range, the default.
    - ECGM: mean, variance, range and gradient."""

    C = 2
    CG = 6
    ECM = 11
    ECGM = 15


class Statistic(Named):
    """The statistic of the noisy outputs that is certified (theory 1.1, 7.1).

    - MEDIAN: the median, the default.
    - HUBER: the Huber location, which needs `huber_width`.
    - MEAN: the mean, which needs the limits `lo` and `hi` of the outputs.
    - CIRCULAR_MEAN: the mean direction of angles.
    - TRIMMED_MEAN, BALL_CENTER: for ``method="baseline"``, of published methods (theory 9).
    - PROJECTION_MEDIAN: a median of vectors (theory 7.3)."""

    MEDIAN = 0
    HUBER = 1
    MEAN = 2
    CIRCULAR_MEAN = 3
    TRIMMED_MEAN = 4
    BALL_CENTER = 5
    PROJECTION_MEDIAN = 6


class Method(Named):
    """Methods that compute bounds from samples (theory 5.1, 6); FINITE is the default.

    - FINITE: valid for all distributions, at a number of samples that was fixed beforehand.
    - ASYMPTOTIC: normal approximations, not valid if there are rare extreme values.
    - PAPER: the intervals of Zhang and Frank, for comparison.
    - ANYTIME: valid at all numbers of samples together.
    - BASELINE: the published certificate of the statistic, for comparison (theory 9)."""

    FINITE = 0
    ASYMPTOTIC = 1
    PAPER = 2
    ANYTIME = 3
    BASELINE = 4


class Center(Named):
    """The value from which the tolerance is measured.

    - PREDICTION: the prediction, the default.
    - TRUE_MEAN: the true mean, which is unknown.
    - SAMPLE_MEDIAN: the median of all samples: median smoothing as its authors coded it, a weaker
      promise."""

    PREDICTION = 0
    TRUE_MEAN = 1
    SAMPLE_MEDIAN = 2


class Side(Named):
    """The condition that limits a radius.

    - LOWER, UPPER: the statistic could leave the tolerance downwards, or upwards.
    - NEAR_LOWER, NEAR_UPPER: conditions for a circular mean near the prediction (theory 7)."""

    NEAR_LOWER = -2
    LOWER = -1
    UPPER = 1
    NEAR_UPPER = 2


class Dependence(Named):
    """The reason why an output of a model changes although its row does not.

    - NONE: no change was found.
    - CALL: a second call with the same rows: the model is random, or has a state.
    - ORDER: the order of the rows.
    - OTHERS: the values of other rows.
    - COUNT: the number of rows."""

    NONE = 0
    CALL = 1
    ORDER = 2
    OTHERS = 3
    COUNT = 4


class Score(Named):
    """Distances of outputs from their truths, for prediction intervals (theory 12.4). Experimental.

    - NORM: the 2-norm of the distances.
    - LARGEST: the largest distance.
    - QUANTILES: two outputs estimate a lower and an upper quantile of one truth. The score is the
      larger of lower - truth and truth - upper."""

    NORM = 0
    LARGEST = 1
    QUANTILES = 2


class Region(Named):
    """The values of a worst function between two breakpoints. Experimental.

    - LO, HI: the lower or upper end of the range.
    - BETWEEN: the curve between them."""

    LO = -1
    BETWEEN = 0
    HI = 1


class Outcome(Named):
    """The outcome of a certificate. None of them is a failure.

    - ABSTAINED: nothing is proved, and the radius is 0.
    - CERTIFIED: the radius, or the output bounds, are proved.
    - CAPPED: the radius is 10 sigma, at which the search ends."""

    ABSTAINED = 0
    CERTIFIED = 1
    CAPPED = 2


class Attack(Named):
    """The outcome of an attack. Experimental.

    - NOT_BROKEN: nothing was proved.
    - BROKEN: a shift is proved to break the tolerance."""

    NOT_BROKEN = 0
    BROKEN = 1


class Source(Named):
    """The origin of the value of a tick of a service. Experimental.

    - FAILED: the call failed; its value is the fallback, or NaN.
    - ANSWERED: the value is what the certificate is about.
    - OUTSIDE: too little radius is left about the reading, so it is the fallback.
    - LATE: the deadline left no time for all samples, so it is the fallback."""

    FAILED = 0
    ANSWERED = 1
    OUTSIDE = 2
    LATE = 3


class Reason(Named):
    """Why a certificate abstains: the first of these that applies.

    - NONE: it does not abstain, or has failed.
    - DEADLINE: the answer was not finished in time.
    - FEW_SAMPLES: so few samples prove nothing, even if no output is beyond the tolerance.
    - NO_PREDICTION: outputs of the pilot failed or cancel out, or the tolerance is a part of 0.
    - CONTRADICTION: estimated bounds contradict each other.
    - FAILURES: failed outputs count as the worst value.
    - NO_RANGE: a bound needs `lo` and `hi` of the outputs.
    - EQUAL_OUTPUTS: nearly all outputs are equal, which an estimated bound excludes.
    - PREDICTION: the prediction is far from the outputs.
    - SERVING: values of so few served samples miss by themselves.
    - TARGET: no look proved the target radius or a part of it.
    - OUTPUTS_OUT: too large a share of the outputs may be beyond the tolerance.
    - SPREAD: the same for a mean: its bounds are too wide, or the outputs scatter.
    - MOVED: the input is not nearer than the radius, after `Certificate.moved`.
    - ALTERNATIVE: the change to an alternative itself moves the estimate out of the tolerance."""

    NONE = 0
    DEADLINE = 1
    FEW_SAMPLES = 2
    NO_PREDICTION = 3
    CONTRADICTION = 4
    FAILURES = 5
    NO_RANGE = 6
    EQUAL_OUTPUTS = 7
    PREDICTION = 8
    SERVING = 9
    TARGET = 10
    OUTPUTS_OUT = 11
    SPREAD = 12
    MOVED = 13
    ALTERNATIVE = 14


class Stop(Named):
    """Why sampling stopped.

    - ALL: all samples were taken; a target may be undecided.
    - TARGET: every target is decided, and at least one is proved.
    - HOPELESS: no target can be proved by further samples.
    - DEADLINE: the deadline stopped sampling, or this answer, which then claims nothing.
    - CANCELLED: the caller cancelled the call."""

    ALL = 0
    TARGET = 1
    HOPELESS = 2
    DEADLINE = 3
    CANCELLED = 4


class Domain(Named):
    """Purposes of noise; the value is the first level of each purpose.

    Two domains never share noise, for any seed and noise id. So no certificate uses noise that has
    chosen sigma, a scale or an attack.

    - CERTIFY: certificates.
    - CALIBRATION: the choice of sigma or of a scale.
    - ATTACK: attacks.
    - INTERVALS: the calibration of :class:`Calibrated`, and nothing else."""

    CERTIFY = 0
    CALIBRATION = 1 << 18
    ATTACK = 1 << 19
    INTERVALS = 3 << 18


LEVELS_OF_A_DOMAIN = 1 << 18


# ---- members by name
_ENUM_OF_FIELD: dict[str, type[enum.Enum]] = {
    kind.__name__.lower(): kind
    for kind in (Status, Outcome, Stop, Statistic, Method, Center, Reason, Side)
}
_ENUM_OF_FIELD |= {"constraints": Constraint, "limiting_side": Side}
Value = TypeVar("Value")
Member = TypeVar("Member", bound=enum.IntEnum)


def enum_value(field: str, value: Value) -> Value:
    """The value of a field as a member of its enumeration; the value itself if it has none."""
    kind = _ENUM_OF_FIELD.get(field)
    return value if kind is None else _member(kind, value)


@functools.lru_cache(maxsize=256)  # a lookup in an enumeration takes longer
def _member(kind: type[enum.Enum], value: Value) -> Value:
    try:
        return cast(Value, kind(value))
    except ValueError:
        return value


def _spelled(name: str) -> str:
    """A name as the members of enumerations are spelled."""
    return name.strip().upper().replace("-", "_").replace(" ", "_")


def member(enum_type: type[Member], value: object, what: str) -> int:
    """A member by its name, in upper or lower case. Members and integers are returned unchanged."""
    if isinstance(value, enum_type):
        return value
    if isinstance(value, str) and _spelled(value) in enum_type.__members__:
        return enum_type[_spelled(value)]
    if isinstance(value, (str, enum.Enum)):
        raise no_member(enum_type, value, what)
    return integer(value, what, -(2**31), 2**31 - 1)


def no_member(enum_type: type[enum.IntEnum], value: object, what: str) -> ValueError:
    """The exception for a value that is not a member."""
    names = ", ".join(name.lower() for name in enum_type.__members__)
    return ValueError(f"{what} is {value!r}; it must be one of {names}")


def constraints_of(value: object) -> int:
    """Constraints by the name of a set or of one constraint, also as the paper writes it:
    "(E,C,G)+M" is "ECGM". Integers are returned unchanged."""
    if isinstance(value, (Constraint, Constraints)):
        return value
    if not isinstance(value, (str, enum.Enum)):
        return integer(value, "constraints", 0, 2**32 - 1)
    name = _spelled(re.sub(r"[(),+\s]", "", str(value)))
    for kind in (Constraints, Constraint):
        if name in kind.__members__:
            return int(kind[name])
    names = ", ".join([*Constraints.__members__, *(n.lower() for n in Constraint.__members__)])
    raise ValueError(
        f"constraints is {value!r}; it must be one of {names}, or a family as the paper writes it: "
        "(C), (C,G), (E,C)+M or (E,C,G)+M"
    )

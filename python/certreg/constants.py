"""The constants of certreg.h. CERTREG_METHOD_FINITE is Method.FINITE, and CERTREG_E_BUSY is
Status.BUSY. Constants without an enum only lose the prefix CERTREG_. An argument that takes a
member of an enum also takes its name: statistic="median", kind="angle_pair", constraints="ECGM"."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import functools
import math
import operator
import os
import re
import secrets
from typing import Any, Optional, Tuple, Type, TypeVar

VERSION_NUMBER = 200  # of the header that this package follows


def version_text(number: int) -> str:
    """A VERSION_NUMBER as text, such as 0.2.0."""
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


__version__ = version_text(VERSION_NUMBER) + ".dev0"  # as the header: 0.2.0-dev
NO_PILOT: int = ctypes.c_size_t(-1).value  # pilot=NO_PILOT: every question gives its prediction
ALL_OUTPUTS = -1  # output=ALL_OUTPUTS: all outputs as one vector, in the 2-norm
PLAN_COUNT_FAILURES = 1  # flags=...: an output that is NaN or infinite is the worst value
PLAN_PAIRS = 2  # flags=...: serves from pairs of opposite noise; this may still change
JSON_SEED = 1  # to_json(flags=...): write the seed too
WORST_CASE_EVALUATIONS, LEAST_WORST_CASE_EVALUATIONS = 2000, 1000
RADIUS_EVALUATIONS, LEAST_RADIUS_EVALUATIONS = 14000, 4000
MOST_REGIONS = 5  # of a worst function
CALIBRATION_SCORES = 25  # most that are kept of a calibration point
DENOISER_PASSES = 7  # over the examples of a denoiser


class Named(enum.IntEnum):
    """An enum whose members print as the names that arguments take."""

    def __str__(self) -> str:
        return self.name.lower()

    __format__ = enum.Enum.__format__  # of a text


class Status(Named):
    """Why a call failed."""

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


class Output(Named):
    """Kinds of outputs. An ANGLE_PAIR has two columns, (cos, sin) up to a positive factor."""

    REAL = 0
    ANGLE = 1
    ANGLE_PAIR = 2


class Constraint(enum.IntFlag):
    """What is known about a function under the noise."""

    MEAN = 1
    VARIANCE = 2
    GRADIENT = 4
    RANGE = 8
    MOMENT = 32
    LAW = 64


class Constraints(Named):
    """Sets of constraints, by the letters of Zhang and Frank."""

    C = 2
    CG = 6
    ECM = 11
    ECGM = 15


class Statistic(Named):
    """Which statistic of the noisy outputs is certified (theory 1.1, 7.1). TRIMMED_MEAN and
    BALL_CENTER need Method.BASELINE (theory 9). PROJECTION_MEDIAN is for vectors (theory 7.3)."""

    MEDIAN = 0
    HUBER = 1
    MEAN = 2
    CIRCULAR_MEAN = 3
    TRIMMED_MEAN = 4
    BALL_CENTER = 5
    PROJECTION_MEDIAN = 6


class Method(Named):
    """How bounds are computed from samples (theory 5.1, 6). BASELINE is the published certificate
    of the statistic, for comparison (theory 9)."""

    FINITE = 0
    ASYMPTOTIC = 1
    PAPER = 2
    ANYTIME = 3
    BASELINE = 4


class Center(Named):
    """The value from which the tolerance is measured."""

    PREDICTION = 0
    TRUE_MEAN = 1
    SAMPLE_MEDIAN = 2


class Side(Named):
    """The conditions of a question; angles also have the two near ones (theory 7)."""

    NEAR_LOWER = -2
    LOWER = -1
    UPPER = 1
    NEAR_UPPER = 2


class Dependence(Named):
    """What an output of a model depends on beyond its row: the call, the order of the rows, the
    other rows, or their number."""

    NONE = 0
    CALL = 1
    ORDER = 2
    OTHERS = 3
    COUNT = 4


class Score(Named):
    """How far an output is from its truth, for prediction intervals (theory 12.4)."""

    NORM = 0
    LARGEST = 1
    QUANTILES = 2


class Region(Named):
    """What a worst function does between two breakpoints: it stays at an end of the range, or
    follows the curve."""

    LO = -1
    BETWEEN = 0
    HI = 1


class Outcome(Named):
    """The outcome of a certificate. None of them is a failure."""

    ABSTAINED = 0
    CERTIFIED = 1
    CAPPED = 2


class Attack(Named):
    """The outcome of an attack."""

    NOT_BROKEN = 0
    BROKEN = 1


class Stop(Named):
    """Why sampling stopped."""

    ALL = 0
    TARGET = 1
    HOPELESS = 2
    DEADLINE = 3
    CANCELLED = 4


class Domain(Named):
    """Purposes of noise; the value is the first level of each. Domains never share noise, whatever
    the seed and noise_id are. So the noise with which sigma or a scale is chosen (CALIBRATION) or
    an attack is found is used in no certificate and by no Calibrated, which alone has that of
    INTERVALS."""

    CERTIFY = 0
    CALIBRATION = 1 << 18
    ATTACK = 1 << 19
    INTERVALS = 3 << 18


LEVELS_OF_A_DOMAIN = 1 << 18

_OF_FIELDS: dict[str, Type[enum.IntEnum] | Type[enum.IntFlag]] = {
    "status": Status,
    "outcome": Outcome,
    "stop": Stop,
    "statistic": Statistic,
    "method": Method,
    "center": Center,
    "constraints": Constraint,
    "limiting_side": Side,
    "side": Side,
}
Member = TypeVar("Member", bound=enum.IntEnum)
Kind = TypeVar("Kind")


def named(field: str, value: Any) -> Any:
    """The value of a field as a member of its enum; the value itself if it has none."""
    return _member(_OF_FIELDS[field], value) if field in _OF_FIELDS else value


@functools.lru_cache(maxsize=256)  # enums take longer to look members up
def _member(kind: Any, value: int) -> Any:
    try:
        return kind(value)
    except ValueError:
        return value


@functools.lru_cache(maxsize=None)
def names_of(kind: Any) -> Tuple[str, ...]:
    """The names of a dataclass's fields."""
    return tuple(field.name for field in dataclasses.fields(kind))


def _spelled(name: str) -> str:
    """A name as the members of enums are spelled."""
    return name.strip().upper().replace("-", "_").replace(" ", "_")


def member(enum_type: Type[Member], value: Any, what: str) -> Any:
    """A member by its name, in upper or lower case. Members and integers are returned unchanged.
    Raises ValueError for other names and for members of another enum, and TypeError for other
    types."""
    if isinstance(value, enum_type):
        return value
    if isinstance(value, str) and _spelled(value) in enum_type.__members__:
        return enum_type[_spelled(value)]
    if isinstance(value, (str, enum.Enum)):
        raise no_member(enum_type, value, what)
    return integer(value, what, -(2**31), 2**31 - 1)


def no_member(enum_type: Type[enum.IntEnum], value: Any, what: str) -> ValueError:
    """The exception for a value that is not a member."""
    names = ", ".join(name.lower() for name in enum_type.__members__)
    return ValueError(f"{what} is {value!r}; it must be one of {names}")


def constraints_of(value: Any) -> Any:
    """Constraints by the name of a set or of one constraint, also as the paper writes it:
    "(E,C,G)+M" is "ECGM". Integers are returned unchanged. Raises ValueError for other names, and
    TypeError for other types."""
    if isinstance(value, (Constraint, Constraints)):
        return value
    if not isinstance(value, (str, enum.Enum)):
        return integer(value, "constraints", 0, 2**32 - 1)
    name = _spelled(re.sub(r"[(),+\s]", "", str(value)))
    for known in (Constraints, Constraint):
        if name in known.__members__:
            return int(known[name])
    names = ", ".join([*Constraints.__members__, *(n.lower() for n in Constraint.__members__)])
    raise ValueError(f"constraints is {value!r}; it must be one of {names}")


def shown(value: Any) -> str:
    """A value in a sentence."""
    return f"{' '.join(repr(value).split()):.80}"


def number(value: Any, what: str) -> float:
    """A number as a float."""
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{what} is beyond the numbers of a double") from None
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be a number, not {shown(value)}") from None


def positive(given: Any, what: str) -> float:
    """A positive, finite number as a float."""
    value = number(given, what)
    if not 0 < value < math.inf:
        raise ValueError(f"{what} is {value:g}; it must be positive")
    return value


def not_negative(given: Any, what: str) -> float:
    """A number of at least 0 as a float."""
    value = number(given, what)
    if not value >= 0:
        raise ValueError(f"{what} is {value:g}; it must be at least 0")
    return value


def integer(value: Any, what: str, least: int = 0, most: int = 2**64 - 1) -> int:
    """An integer from least to most, which may be given as a float such as 1e4. Raises TypeError if
    it is not an integer, and ValueError if it is out of range."""
    try:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {shown(value)}") from None
    if not least <= value <= most:
        raise ValueError(f"{what} is {shown(value)}; it must be from {least} to {most}")
    return int(value)


def instance(value: Any, kind: Type[Kind], what: str) -> Kind:
    """The value. Raises TypeError if it is of another class."""
    if not isinstance(value, kind):
        raise TypeError(f"{what} must be a {kind.__name__}, not {shown(value)}")
    return value


def several(values: Any, what: str) -> list[Any]:
    """The values as a list. Raises TypeError if they are none."""
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{what} must be a sequence, not {shown(values)}") from None


def function_of(value: Any, what: str) -> Any:
    """A function, or None, for which False stands too. Raises TypeError for something else."""
    if value is None or value is False:
        return None
    if not callable(value):
        raise TypeError(f"{what} must be a function, not {shown(value)}")
    return value


def path_of(value: Any, what: str = "path") -> Any:
    """The path of a file. Raises TypeError for something else."""
    try:
        return os.fspath(value)
    except TypeError:
        raise TypeError(f"{what} must be the path of a file, not {shown(value)}") from None


def given_seed(seed: Any, what: str = "seed") -> int:
    """A seed that the caller gives, to repeat a run. The library draws one in place of 0."""
    return integer(seed, f"{what} (None: one is drawn)", 1)


def shared_seed(seed: Optional[int]) -> int:
    """The seed of several estimators: the given one, or else a secret one."""
    return secrets.randbelow(2**64 - 1) + 1 if seed is None else given_seed(seed)

"""Checks and conversions of arguments. Each raises TypeError or ValueError with the name of the
argument."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import operator
import os
import re
import secrets
from typing import Any, Callable, Iterable, Mapping, TypeVar, cast
from typing import SupportsFloat, SupportsIndex

from .constants import Center, Constraint, Constraints, Method, Outcome, Reason, Side, Statistic
from .constants import Status, Stop

_ENUM_OF_FIELD: dict[str, type[enum.Enum]] = {
    "status": Status,
    "outcome": Outcome,
    "stop": Stop,
    "statistic": Statistic,
    "method": Method,
    "center": Center,
    "constraints": Constraint,
    "limiting_side": Side,
    "reason": Reason,
    "side": Side,
}
Member = TypeVar("Member", bound=enum.IntEnum)
Kind = TypeVar("Kind")
Value = TypeVar("Value")
Call = TypeVar("Call", bound=Callable[..., Any])


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
    if name in Constraints.__members__:
        return int(Constraints[name])
    if name in Constraint.__members__:
        return int(Constraint[name])
    names = ", ".join([*Constraints.__members__, *(n.lower() for n in Constraint.__members__)])
    raise ValueError(f"constraints is {value!r}; it must be one of {names}")


@functools.lru_cache(maxsize=None)
def field_names(kind: type[object]) -> tuple[str, ...]:
    """The names of a dataclass's fields."""
    return tuple(field.name for field in dataclasses.fields(cast(Any, kind)))


def abbreviated(value: object) -> str:
    """A value for an error text."""
    return f"{' '.join(repr(value).split()):.80}"


def number(value: object, what: str) -> float:
    """A number as a float."""
    try:
        return float(cast(SupportsFloat, value))
    except OverflowError:
        raise ValueError(f"{what} is beyond the numbers of a double") from None
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be a number, not {abbreviated(value)}") from None


def positive(given: object, what: str) -> float:
    """A positive, finite number as a float."""
    value = number(given, what)
    if not 0 < value < math.inf:
        raise ValueError(f"{what} is {value:g}; it must be positive")
    return value


def not_negative(given: object, what: str) -> float:
    """A number of at least 0 as a float."""
    value = number(given, what)
    if not value >= 0:
        raise ValueError(f"{what} is {value:g}; it must be at least 0")
    return value


def refuse(function: str, given: Mapping[str, object], own: str) -> None:
    """Raises TypeError for arguments that the function sets itself."""
    wrong = sorted(set(given) & set(own.split()))
    if wrong:
        raise TypeError(f"{function} takes no {wrong[0]}, because it sets it itself: leave it out")


def integer(value: object, what: str, least: int = 0, most: int = 2**64 - 1) -> int:
    """An integer from least to most. It may be given as a float, such as 1e4."""
    try:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        found = operator.index(cast(SupportsIndex, value))
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {abbreviated(value)}") from None
    if not least <= found <= most:
        raise ValueError(f"{what} is {abbreviated(value)}; it must be from {least} to {most}")
    return int(found)


def instance(value: object, kind: type[Kind], what: str) -> Kind:
    """The value, which must be an instance of the class."""
    if not isinstance(value, kind):
        raise TypeError(f"{what} must be a {kind.__name__}, not {abbreviated(value)}")
    return value


def listed(values: Iterable[Value], what: str) -> list[Value]:
    """The values as a list."""
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{what} must be a sequence, not {abbreviated(values)}") from None


def optional_function(value: object, what: str) -> Callable[..., object] | None:
    """A function, or None, for which False may be given too."""
    if value is None or value is False:
        return None
    if not callable(value):
        raise TypeError(f"{what} must be a function, not {abbreviated(value)}")
    return value


HABITS = {"n_jobs": "jobs", "random_state": "seed", "verbose": "progress"}


def own_names(given: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments with this package's names for those of scikit-learn. Raises TypeError if
    both names of an argument are given."""
    named = {name: value for name, value in given.items() if name not in HABITS}
    for habit, name in HABITS.items():
        if habit not in given:
            continue
        if name in given:
            raise TypeError(f"{habit} takes the place of {name}: give one of them")
        value = given[habit]
        if habit == "verbose":
            value = integer(value, habit, most=2**31 - 1) > 0
        elif habit == "n_jobs":
            value = 1 if value is None else integer(value, habit, -1)
        elif value is not None:
            value = seed_of_state(value)
        named[name] = value
    return named


def with_habits(function: Call) -> Call:
    """A function that also takes the names of scikit-learn: n_jobs, random_state and verbose."""

    @functools.wraps(function)
    def named(*arguments: Any, **more: Any) -> Any:
        return function(*arguments, **own_names(more))

    return cast(Call, named)


def path_of(value: object, what: str = "path") -> str | bytes:
    """The path of a file."""
    try:
        return os.fspath(cast("os.PathLike[str]", value))
    except TypeError:
        raise TypeError(f"{what} must be the path of a file, not {abbreviated(value)}") from None


def given_seed(seed: object, what: str = "seed") -> int:
    """A seed that the caller gives, to repeat a run. The library draws one in place of 0."""
    try:
        return integer(seed, what, 1)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error}; without {what} a secret one is drawn") from None


def seed_of_state(state: object) -> int:
    """The seed for a random_state of scikit-learn, which may be 0."""
    return integer(state, "random_state", 0, 2**64 - 2) + 1


def seed_or_random(seed: int | None) -> int:
    """The seed of several estimators: the given one, or else a secret one."""
    return secrets.randbelow(2**64 - 1) + 1 if seed is None else given_seed(seed)

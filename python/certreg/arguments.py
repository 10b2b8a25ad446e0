"""Types of arguments and of the library, and checks of arguments. Each check raises TypeError or
ValueError with the name of the argument."""

from __future__ import annotations

import ctypes as C
import dataclasses
import functools
import importlib
import math
import operator
import os
import secrets
import sys
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Iterable, Mapping, Sequence
from typing import SupportsFloat, SupportsIndex, TypeAlias, TypeVar, Union, cast

if TYPE_CHECKING:  # certreg info and --help need no NumPy
    from numpy.typing import ArrayLike

Axes: TypeAlias = Any  # of matplotlib
Figure: TypeAlias = Any  # of matplotlib
Frame: TypeAlias = Any  # a DataFrame of pandas
Series: TypeAlias = Any  # of pandas, with a value for each column or row
Package: TypeAlias = Any  # an optional package that has been imported
Session: TypeAlias = Any  # an InferenceSession of ONNX Runtime, or one of its tensors
Tensor: TypeAlias = Any  # of torch, or a name of ONNX
Executor: TypeAlias = Any  # like a concurrent.futures.Executor
DType: TypeAlias = Any  # what numpy takes as a dtype

Shape: TypeAlias = tuple[int, ...]
Turns: TypeAlias = "list[tuple[int, float, float]]"  # of angles: their column, lo and hi
Path: TypeAlias = Union[str, "os.PathLike[str]"]
Data: TypeAlias = "ArrayLike | Frame"  # inputs: rows of features
Scale: TypeAlias = "ArrayLike | Mapping[str, float] | Series | str | None"

Model: TypeAlias = object  # see models.as_model
Function: TypeAlias = "Callable[..., ArrayLike]"  # a model, of arrays or DataFrames
Names: TypeAlias = Sequence[str] | None  # of features, in order; None: they have no names


Kind = TypeVar("Kind")
Value = TypeVar("Value")
Call = TypeVar("Call", bound=Callable[..., Any])


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
    named = dict(given)
    for habit, name in HABITS.items():
        if habit not in given:
            continue
        if name in given:
            raise TypeError(f"{habit} takes the place of {name}: give one of them")
        value = named.pop(habit)
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


def path_of(value: object, what: str = "path") -> str:
    """The path of a file."""
    try:
        return os.fsdecode(cast("os.PathLike[str]", value))
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


def needed(name: str, what: str) -> Package:
    """Imports a package for `what`. Raises ImportError if the package is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install {package} ({error})") from None


def installed(*names: str) -> Package | None:
    """Imports the first of these modules that is installed. Returns None if there is none."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    return None


def of_class(thing: object, module: str, name: str) -> bool:
    """Returns True if `thing` is an instance of a class in a module. The module is not imported:
    before an import there are no instances."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(thing, kind)


CType: TypeAlias = Any  # a type of ctypes, which no common class describes
i32, u32, i64, u64 = C.c_int32, C.c_uint32, C.c_int64, C.c_uint64
f64, size_t, pointer = C.c_double, C.c_size_t, C.c_void_p
_INTEGERS = {kind: (C.sizeof(kind), kind in (i32, i64)) for kind in (i32, u32, i64, u64, size_t)}
if C.sizeof(pointer) != 8:
    raise ImportError("this package needs a 64-bit Python")


def fields(*groups: tuple[CType, str]) -> list[tuple[str, CType]]:
    """The `_fields_` of a struct. Each group is a type and the names of its fields."""
    return [(name, kind) for kind, names in groups for name in names.split()]


def _checked(kind: CType, name: str, value: object) -> object:
    """The value of a field. Raises TypeError for a wrong type, and ValueError for an integer out of
    range, since ctypes would keep its lowest bits."""
    if type(value) is float and kind is f64 or type(value) is int and 0 <= value < 2**31:
        return value
    if kind in _INTEGERS:
        size, signed = _INTEGERS[kind]
        bits = 8 * size - signed
        return integer(value, name, -(2**bits) if signed else 0, 2**bits - 1)
    return number(value, name) if kind is f64 else value


class Struct(C.Structure):
    """A struct of the library. The constructor sets `struct_size`; other fields are zero unless
    they are given."""

    kinds: ClassVar[dict[str, CType]]

    def __init_subclass__(cls) -> None:
        cls.kinds = dict(cls._fields_)  # type: ignore[arg-type]

    def __init__(self, **given: object) -> None:
        for name, value in given.items():
            given[name] = _checked(self.kinds[name], name, value)
        super().__init__(struct_size=C.sizeof(self), **given)

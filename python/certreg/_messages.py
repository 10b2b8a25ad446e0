"""Messages of the library with the names that callers know. The library names fields of structs and
constants of C; here they become arguments and members of enumerations, and options of the command
line in cli/messages.py."""

from __future__ import annotations

import enum
import re

from ._types import Names
from .constants import Center, Constraint, Constraints, Method, Output, Score, Side, Statistic

_ENUMS: dict[str, type[enum.Enum]] = {
    kind.__name__.upper(): kind
    for kind in (Center, Constraint, Constraints, Method, Output, Score, Side, Statistic)
}
_STRUCTS = "question|plan|model|options|coverage|calibration|rule"
_FIELD = re.compile(rf"\b({_STRUCTS})\.(\w+)(?:->(\w+))?")
_CONSTANT = re.compile(r"\bCERTREG_([A-Z_]+)(\.\.\.)?|(?<!\w)_([A-Z_]+)\b")
_PATH = re.compile(r"(\S*/\S*|\S+\.so\b\S*)")
_FEATURE = re.compile(r"((?:sigma\*|--)?\b(?:z|to|scale))\[(\d+)\]")


class MessageTranslator:
    """Replaces names of C by names of Python."""

    _PLAIN: tuple[tuple["re.Pattern[str]", str], ...] = (
        (re.compile(r"\bNULL\b"), "None"),
        (re.compile(r"\bSIZE_MAX\b"), "NO_PILOT"),
        (re.compile(r"\bcertreg_(?:estimator_)?(?=[a-z])|(?<!\w)_(?=[a-z])"), ""),
        (re.compile(r"(?<=\s)\.(?=[a-z])"), ""),
    )

    def field(self, struct: str, name: str, part: str | None) -> str:
        """A field of a struct, or of the struct to which it points."""
        if name == "constraints":  # the name of two arguments
            return f"constraints of the {'question' if struct == 'question' else 'estimator'}"
        if part == "look_count":
            return f"len({name}.looks)"
        return f"{name}.{part}" if part else {"eval": "model"}.get(name, name)

    def member(self, kind: str, name: str) -> str:
        """A member of an enumeration, by its name in upper case."""
        return f"{_ENUMS[kind].__name__}.{name}"

    def constant(self, name: str) -> str:
        """A constant without an enumeration."""
        return name

    def feature(self, of: str, index: str) -> str:
        """One of the numbers of an input or a scale."""
        return f"feature {index} of {of}"

    def translate(self, text: str) -> str:
        """The text with these names. Paths stay as they are."""
        parts = _PATH.split(text)
        parts[::2] = map(self._named, parts[::2])
        return "".join(parts)

    def _named(self, text: str) -> str:
        last = ""

        def constant(found: "re.Match[str]") -> str:
            nonlocal last  # the enumeration of a short name such as _UPPER
            if found[3]:
                return self.member(last, found[3]) if last else found[0]
            kind, _, name = found[1].partition("_")
            if kind not in _ENUMS:
                return self.constant(found[1])
            last = kind
            if found[2]:
                return ", ".join(known.lower() for known in _ENUMS[kind].__members__)
            return self.member(kind, name)

        text = _FIELD.sub(lambda found: self.field(*found.groups()), text)
        text = _CONSTANT.sub(constant, text)
        text = _FEATURE.sub(lambda found: self.feature(found[1], found[2]), text)
        for pattern, by in self._PLAIN:
            text = pattern.sub(by, text)
        return text


in_python = MessageTranslator().translate
_NUMBERED = re.compile(r"\bfeature (\d+) of ((?:\S*\bscale)?)(?:z|to|the input)?(?!\w)")


def with_column_names(text: str, names: Names) -> str:
    """The text with the names of features instead of their numbers; unchanged without names."""
    if names is None:
        return text
    known = list(names)

    def named(found: "re.Match[str]") -> str:
        at, of = int(found[1]), f" of {found[2]}" if found[2] else ""
        return f"column {known[at]!r}{of}" if at < len(known) else found[0]

    return _NUMBERED.sub(named, text)

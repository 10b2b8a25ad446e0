"""Finds damaged lines of a resume file, by checksums and ranges of values."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from .constants import Outcome, Reason, Status, Stop
from .questions import digests_of

if TYPE_CHECKING:
    from .certified_rows import Rows

Value = int | float | str | bytes | None  # the types of SQLite
Line = Sequence[Any]  # of a table of SQLite, with a type for each column
_KEYS = {"runs": 1, "certificates": 4, "records": 2}  # columns that identify a line
_BLOCK = 1 << 14  # rows that are checked at a time
MOST_SIGMAS = 10  # of a radius: CERTREG_OUTCOME_CAPPED


def checksum(*values: Value) -> str:
    """A digest of values."""
    small = [hashlib.sha256(v).digest() if isinstance(v, bytes) else v for v in values]
    return hashlib.sha256(repr(small).encode()).hexdigest()[:16]


def with_checksum(table: str, key: str, *values: Value) -> tuple[Value, ...]:
    """A line of a table, with its checksum. `key` is a digest of the run, or of its samples."""
    return (*values, checksum(table, key, *values))


def verified(table: str, key: str, line: Line) -> Line:
    """The values of a line. Raises ValueError if its checksum is wrong."""
    *values, found = line
    if found != checksum(table, key, *values):
        raise ValueError(f"the checksum of line {values[: _KEYS[table]]} of {table} is wrong")
    return values


def check_ranges(rows: Rows, done: np.ndarray) -> None:
    """Raises ValueError if the library never returns one of these certificates for the arguments of
    the rows. This does not depend on checksums."""
    places = np.flatnonzero(done)
    for first in range(0, len(places), _BLOCK):  # a copy of all certificates may be too large
        _check_places(rows, places[first : first + _BLOCK])


def _check_places(rows: Rows, places: np.ndarray) -> None:
    """check_ranges of some rows."""
    found, ids = rows.certificates[places], rows.numbers[places] + rows.sampling.noise_id
    sigmas = np.array(rows.sigmas)[:, None]
    digests = digests_of(rows.questions, places)
    longest = MOST_SIGMAS * sigmas * (1 + 1e-9) if rows.at_radius is None else rows.at_radius
    radius, failed = found["radius"], found["status"] != Status.OK
    possible = (
        (found["sigma"] == sigmas)
        & (found["noise_id"] == ids[:, None, None].astype(np.uint64))
        & (found["question_digest"] == digests)
        & (found["samples"] <= rows.samples)
        & ((radius >= 0) & (radius <= longest))
        & ((radius == 0) | ~failed & (found["outcome"] != Outcome.ABSTAINED))
    )
    kinds = {"status": Status, "outcome": Outcome, "stop": Stop, "reason": Reason}
    for name, members in kinds.items():
        possible &= (found[name] >= 0) & (found[name] <= max(members))
    if not possible.all():
        row = places[~possible.all(axis=(1, 2))][0]
        raise ValueError(f"row {row} has values that no certificate has")

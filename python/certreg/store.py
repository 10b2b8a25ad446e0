"""The resume file: an SQLite database of the rows that are done.

A file is about one model, one set of inputs and one plan. It can have several runs, each with its
own questions. Its tables:

runs          one line for each list of questions, with the columns
                  run            its number
                  started        time in UTC
                  library        version of the library
                  model_id       as given by the caller
                  seed           a secret; text, because it has 64 bits without a sign
                  plan           what determines the samples, in JSON
                  questions      in JSON, with a radius of output bounds and constraints
                  probe_rows     indices of up to three rows, in JSON
                  probe_outputs  outputs of the model for these rows, and then for the same rows
                                 shifted by about sigma; float32, little-endian
certificates  one line for each run, row, sigma_index and question_index, with the fields of
              certreg_certificate, where `question` is the digest as text and NaN is NULL; and
              `error`, a sentence if the row failed
records       with keep_records only: row, sigma_index, record, status, error. The record has the
              outputs of the model, from which other questions can be answered later. If sampling
              failed there is none, but a status and its sentence"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import os
import sqlite3
from typing import Any, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from ._library import version
from ._worker import CERTIFICATE, FIELDS, Chunk, Record
from .constants import version_text

APPLICATION = 0x63723031  # "cr01", which SQLite keeps to identify the owner of a file
_DIGEST = FIELDS.index("question")  # the only field that SQLite keeps as text
_KINDS = {"f": "REAL", "i": "INTEGER", "u": "INTEGER"}
_COLUMNS = ", ".join(
    f"{name} {'TEXT' if name == 'question' else _KINDS[CERTIFICATE[name].kind]}" for name in FIELDS
)
_TABLES = f"""
CREATE TABLE runs (run INTEGER PRIMARY KEY, started TEXT, library TEXT, model_id TEXT, seed TEXT,
    plan TEXT, questions TEXT, probe_rows TEXT, probe_outputs BLOB);
CREATE TABLE certificates (run INTEGER, row INTEGER, sigma_index INTEGER, question_index INTEGER,
    {_COLUMNS}, error TEXT, PRIMARY KEY (run, row, sigma_index, question_index)) WITHOUT ROWID;
CREATE TABLE records (row INTEGER, sigma_index INTEGER, record BLOB, status INTEGER, error TEXT,
    PRIMARY KEY (row, sigma_index)) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION};
"""


class ResumeError(ValueError):
    """A resume file that cannot be used, or that was made with other arguments. The file is not
    changed."""


@dataclasses.dataclass(frozen=True)
class Probe:
    """The outputs of the model, (2 * rows, columns), for a few rows as they are, and for the same
    rows moved by about as much as the noise moves them. They show whether it is the same model."""

    rows: Tuple[int, ...]
    outputs: np.ndarray

    def agrees(self, other: "Probe") -> bool:
        """Whether the outputs are equal, except for rounding on another machine."""
        return self.outputs.shape == other.outputs.shape and np.allclose(
            self.outputs, other.outputs, rtol=1e-4, atol=1e-6, equal_nan=True
        )


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where certificates come from: columns of the table runs."""

    seed: int
    plan: dict[str, Any]
    questions: Sequence[str]
    model_id: str
    probe: Optional[Probe]  # None: there is no model


class ResumeFile:
    """An open resume file. All methods raise ResumeError if the file cannot be used."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = _path_of(path)
        with self._sentences():
            self.db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self.db.close()
                raise

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            what = "cannot be written" if _unwritable(error) else "is damaged or no resume file"
            raise ResumeError(f"{self.path} {what} ({error}): give another path") from error

    @contextlib.contextmanager
    def _values(self) -> Iterator[None]:
        """Where values of the file are taken for what they should be: those of a file that SQLite
        can read may be any."""
        try:
            yield
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
            if isinstance(error, ResumeError):
                raise
            said = " ".join(str(error).split())
            raise ResumeError(
                f"{self.path} is damaged or no resume file ({said}): give another path"
            ) from error

    def _prepare(self) -> None:
        with self._transaction():
            tables = self.db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            owner = self.db.execute("PRAGMA application_id").fetchone()[0]
            if not tables and not owner:
                for statement in filter(str.strip, _TABLES.split(";")):
                    self.db.execute(statement)
            elif owner != APPLICATION:
                raise ResumeError(f"{self.path} belongs to another program: give another path")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Either everything within it is written or nothing, also if the process is killed. Other
        processes wait."""
        with self._sentences():
            try:
                self.db.execute("BEGIN IMMEDIATE")
                yield
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:  # SQLite may have rolled back itself
                    self.db.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self.db.close()

    # ---- runs
    def seed(self) -> Optional[int]:
        """The seed of the samples in the file; None if the file is new."""
        with self._sentences(), self._values():
            found = self.db.execute("SELECT seed FROM runs LIMIT 1").fetchone()
            return int(found[0]) if found else None

    def _has_all_records(self) -> bool:
        """Whether there is a record behind every certificate. A row without one would be sampled
        again for other questions, and nobody would know how it was asked before."""
        query = (
            "SELECT 1 FROM certificates AS c LEFT JOIN records AS r ON c.row = r.row "
            "AND c.sigma_index = r.sigma_index WHERE r.row IS NULL LIMIT 1"
        )
        return self.db.execute(query).fetchone() is None

    def begin(self, wanted: Origin) -> int:
        """The number of the run with these questions, which is added if there is none. Raises
        ResumeError if seed, plan, model_id or probe differ from the file's."""
        with self._transaction(), self._values():
            runs = self.db.execute("SELECT * FROM runs ORDER BY run").fetchall()
            for run in runs[:1]:
                self._compare(run, wanted)
            named = (wanted.model_id,)
            self.db.execute("UPDATE runs SET model_id = ? WHERE model_id = ''", named)
            for run in runs:
                if json.loads(run[6]) == list(wanted.questions):
                    return int(run[0])
            if not runs and wanted.probe is None:
                raise ResumeError(f"{self.path} is new and has no records: give the model too")
            if runs and not self._has_all_records():
                raise ResumeError(
                    f"{self.path} was made with other questions and without keep_records, so it "
                    "cannot answer these: give another resume file"
                )
            return self._insert(wanted, wanted.probe or _probe_of(runs))

    def _compare(self, run: Any, wanted: Origin) -> None:
        before = json.loads(run[5])
        now = json.loads(json.dumps(wanted.plan))
        changed = [name for name in now if now[name] != before.get(name)]
        follows = {"levels": "sigmas", "batch": "samples", "rows": "X"}  # a default, for instance
        changed = [name for name in changed if follows.get(name) not in changed]
        arguments = {"sigmas": "sigma", "levels": "domain"}
        differs = [arguments.get(name, name) for name in changed]
        if run[2] != version_text(version()):
            differs.append(f"library {run[2]}")
        if int(run[4]) != wanted.seed:
            differs.append("seed")
        if wanted.model_id and run[3] and wanted.model_id != run[3]:
            differs.append(f"model_id={run[3]!r}")
        if differs:
            raise ResumeError(
                f"{self.path} was made with different arguments ({', '.join(differs)}): give "
                "another resume file"
            )
        known = _probe_of([run])
        if wanted.probe and known and not wanted.probe.agrees(known):
            raise ResumeError(
                f"{self.path} was made with another model, whose outputs for rows "
                f"{', '.join(map(str, known.rows))} differ: give another resume file"
            )

    def _insert(self, wanted: Origin, probe: Optional[Probe]) -> int:
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        said = (None, None) if probe is None else (json.dumps(probe.rows), _bytes(probe.outputs))
        values = (
            now,
            version_text(version()),
            wanted.model_id,
            str(wanted.seed),
            json.dumps(wanted.plan),
            json.dumps(wanted.questions),
            *said,
        )
        cursor = self.db.execute(
            "INSERT INTO runs (started, library, model_id, seed, plan, questions, probe_rows, "
            "probe_outputs) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )
        return int(cursor.lastrowid or 0)

    # ---- rows
    def add(self, run: int, chunk: Chunk) -> None:
        """Writes the certificates and records of a chunk."""
        errors = {(row, k): text for row, k, text in chunk.errors}
        done = chunk.certificates[FIELDS]
        values = []
        for row, levels in zip(chunk.rows.tolist(), done.tolist()):
            for k, answers in enumerate(levels):
                for q, fields in enumerate(answers):
                    values.append((run, row, k, q, *_sqlite(fields), errors.get((row, k))))
        places = ", ".join("?" * (5 + len(FIELDS)))
        with self._transaction():
            self.db.executemany(f"INSERT OR IGNORE INTO certificates VALUES ({places})", values)
            places = ", ".join("?" * len(Record._fields))
            self.db.executemany(f"INSERT OR IGNORE INTO records VALUES ({places})", chunk.records)

    def read(self, run: int, out: np.ndarray) -> Tuple[np.ndarray, dict[Tuple[int, int], str]]:
        """Copies the certificates of a run to `out`, of shape (rows, sigmas, questions). Returns
        which rows are done, (rows,) of bool, and the errors by (row, index of sigma)."""
        done: np.ndarray = np.zeros(len(out), bool)
        errors: dict[Tuple[int, int], str] = {}
        with self._sentences(), self._values():
            for found in self.db.execute("SELECT * FROM certificates WHERE run = ?", (run,)):
                row, k, q, *fields = found[1:-1]
                fields[_DIGEST] = int(fields[_DIGEST])
                values = tuple(np.nan if value is None else value for value in fields)
                out[row, k, q] = (CERTIFICATE.itemsize, *values)
                done[row] = True
                if found[-1] is not None:
                    errors[row, k] = found[-1]
        return done, errors

    def records(self, first: int, last: int) -> list[Record]:
        """The records of the rows from first to last."""
        query = "SELECT * FROM records WHERE row BETWEEN ? AND ?"
        with self._sentences():
            return [Record(*found) for found in self.db.execute(query, (first, last))]

    def rows_with_records(self) -> set[int]:
        """The indices of the rows that have records."""
        with self._sentences():
            return {row for (row,) in self.db.execute("SELECT DISTINCT row FROM records")}


def _path_of(given: Any) -> str:
    """The path of a file, in a folder that exists."""
    try:
        path: str = os.fsdecode(given)
    except TypeError:
        raise TypeError(f"resume must be the path of a file, not {given!r}") from None
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise ResumeError(f"{path} cannot be written: there is no folder {folder}")
    if os.path.isdir(path):
        raise ResumeError(f"{path} is a folder: give the path of a file")
    return path


def _unwritable(error: sqlite3.DatabaseError) -> bool:
    words = ("unable to open", "readonly", "disk", "locked", "full")
    return isinstance(error, sqlite3.OperationalError) and any(w in str(error) for w in words)


def _bytes(outputs: np.ndarray) -> bytes:
    return outputs.astype("<f4").tobytes()


def _probe_of(runs: Sequence[Any]) -> Optional[Probe]:
    """The probe of the first run; None if there is none."""
    if not runs or runs[0][7] is None:
        return None
    rows = tuple(json.loads(runs[0][7]))
    return Probe(rows, np.frombuffer(runs[0][8], "<f4").reshape(2 * len(rows), -1))


def _sqlite(fields: Tuple[Any, ...]) -> list[Any]:
    """The fields for SQLite, which has no unsigned 64-bit integers."""
    values = list(fields)
    values[_DIGEST] = str(values[_DIGEST])
    return values

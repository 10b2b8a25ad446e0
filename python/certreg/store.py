"""The resume file: an SQLite database of the rows that are done.

A file is about one model, one set of inputs and one plan. It can have several runs, each with its
own questions. Its tables:

runs          one line for each list of questions, and for rows that were added, with the columns
                  run            its number
                  started        time in UTC
                  library        version of the library
                  model_id       as given by the caller
                  seed           a secret; text, because it has 64 bits without a sign
                  plan           the arguments that determine the samples, in JSON. The first one
                                 is part of all checksums. A later one may have more rows
                  questions      in JSON, with a radius of output bounds and constraints
                  checksum       of this line
certificates  one line for each run, row, sigma_index and question_index, with the fields of
              certreg_certificate (the digests are texts, and NaN is NULL); `error`, a
              text if the row failed; `alternatives`, for question 0, what Rows.alternatives has, in
              JSON; and `checksum`, of this line and its run
records       row, sigma_index, record, status, error; number, depth and path of an alternative or
              a part of it, 0 for the row itself; picks; checksum. The record has outputs of the
              model: with keep_records all of them, for other questions; otherwise `picks` is 1, and
              it has the few for which a later call asks the model again. If sampling failed there
              is no record, but with keep_records a status and its text

The checksums find damage. They do not protect against intent, since everybody can compute them."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import fcntl
import hashlib
import json
import math
import os
import pathlib
import sqlite3
import tempfile
import warnings
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from .alternatives import Found
from .arguments import Path, Shape, path_of
from .constants import version_text
from .denoise import digest_of
from .display import reason
from .files import place_of
from .library import version
from .questions import digests_of
from .table import CERTIFICATE, FIELDS, Record, ResumeError, Rows, check_ranges
from .workers import Chunk, Job


Value = int | float | str | bytes | None  # the types of SQLite
SqlLine = Sequence[Any]  # of a table of SQLite, with a type for each column
_KEYS = {"runs": 1, "certificates": 4, "records": 2}  # columns that identify a line


def checksum(*values: Value) -> str:
    """A digest of values."""
    small = [hashlib.sha256(v).digest() if isinstance(v, bytes) else v for v in values]
    return hashlib.sha256(repr(small).encode()).hexdigest()[:16]


def with_checksum(table: str, key: str, *values: Value) -> tuple[Value, ...]:
    """A line of a table, with its checksum. `key` is a digest of the run, or of its samples."""
    return (*values, checksum(table, key, *values))


def verified(table: str, key: str, line: SqlLine) -> SqlLine:
    """The values of a line. Raises ValueError if its checksum is wrong."""
    *values, found = line
    if found != checksum(table, key, *values):
        raise ValueError(f"the checksum of line {values[: _KEYS[table]]} of {table} is wrong")
    return values


def plan_of(job: Job, matrix: np.ndarray) -> dict[str, Any]:
    """The arguments that determine the samples, in types of JSON, without seed and model."""
    plan = dataclasses.asdict(job.sampling)
    del plan["seed"], plan["constraints"]
    digest = hashlib.sha256(np.ascontiguousarray(matrix).view(np.uint8))  # type: ignore[arg-type]
    if job.columns is not None:
        digest.update(job.columns.fingerprint(matrix).encode())
    plan["X"] = digest.hexdigest()
    plan["rows"] = len(matrix)
    if job.alternatives is not None:
        plan["alternatives"] = job.alternatives.text(matrix)
    if job.model is not None:  # records answer without it
        plan["denoiser"] = digest_of(job.model) or None
        plan["marks"] = None if job.inputs is None else job.inputs._marks_in(matrix)
    if plan["scale"] is not None:
        plan["exact"] = np.flatnonzero(np.ravel(plan["scale"]) == 0).tolist()
    for name in ("scale", "kind", "lo", "hi"):
        if plan[name] is not None:
            plan[name] = _values(plan[name])
    return plan


def _values(numbers: ArrayLike) -> object:
    """Numbers, or their digest if they are many."""
    values = np.asarray(numbers, np.float64)
    return values.tolist() if values.size <= 16 else hashlib.sha256(values.tobytes()).hexdigest()


def default_scale(plan: Mapping[str, Any], shape: Shape) -> tuple[np.ndarray | None] | None:
    """The scale of a plan for inputs of this shape, in a tuple, if it is 1 for all features with
    noise, as by default; else None."""
    if list(plan.get("shape", ())) != list(shape):
        return None
    scale, kept = np.ones(math.prod(shape)), plan["scale"]
    if kept is None:
        return (None,)
    if isinstance(kept, list) and len(kept) == scale.size:
        scale = np.where(np.asarray(kept) == 0, 0.0, 1.0)
    else:
        scale[plan.get("exact", [])] = 0
    return (scale.reshape(shape),) if _values(scale) == kept else None


def differing(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """The names of the arguments that differ between two plans."""
    same = ("exact",)  # follows from the scale
    changed = [name for name in now if name not in same and now[name] != before.get(name)]
    # These may change with others:
    follows = {"levels": "sigmas", "batch": "samples", "rows": "X"}
    changed = [name for name in changed if not set(follows.get(name, "").split()) & set(changed)]
    arguments = {"sigmas": "sigma", "levels": "domain"}
    return [arguments.get(name, name) for name in changed]


_DIGESTS = [FIELDS.index(name) for name in ("question_digest", "input_digest")]  # texts in SQLite
_KINDS = {"f": "", "i": "INTEGER", "u": "INTEGER"}  # a column REAL would lose the sign of -0.0
_COLUMNS = ", ".join(
    f"{name} {'TEXT' if i in _DIGESTS else _KINDS[CERTIFICATE[name].kind]}"
    for i, name in enumerate(FIELDS)
)
_TABLES = (
    """CREATE TABLE runs (run INTEGER PRIMARY KEY, started TEXT, library TEXT, model_id TEXT,
    seed TEXT, plan TEXT, questions TEXT, checksum TEXT)""",
    f"""CREATE TABLE certificates (run INTEGER, row INTEGER, sigma_index INTEGER,
    question_index INTEGER, {_COLUMNS}, error TEXT, alternatives TEXT, checksum TEXT,
    PRIMARY KEY (run, row, sigma_index, question_index)) WITHOUT ROWID""",
    """CREATE TABLE records (row INTEGER, sigma_index INTEGER, record BLOB, status INTEGER,
    error TEXT, number INTEGER, depth INTEGER, path INTEGER, picks INTEGER, checksum TEXT,
    PRIMARY KEY (row, sigma_index, number, depth, path)) WITHOUT ROWID""",
)


class StoredRun(NamedTuple):
    """A line of the table runs."""

    run: int
    started: str
    library: str
    model_id: str
    seed: str
    plan: str
    questions: str

    @property
    def rows(self) -> int:
        """The number of rows of its X."""
        return int(json.loads(self.plan)["rows"])


def longest(runs: Sequence[StoredRun]) -> StoredRun:
    """The run with all rows of a file."""
    return max(runs, key=lambda run: run.rows)


def stored_run(
    model_id: str, seed: int, plan: Mapping[str, object], questions: Sequence[str]
) -> StoredRun:
    """A first run, begun now."""
    return StoredRun(
        1,
        datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        version_text(version()),
        model_id,
        str(seed),
        json.dumps(plan),
        json.dumps(questions),
    )


_REASONS = {  # why other arguments need another file
    "X": "rows can be added at the end of X only",
    "samples": "more samples are a further look at the same rows, and the certificates of all "
    "looks hold together only if these were planned: by Target(radius, looks), or by "
    "method='anytime' with the same seed and Options(pilot) in another file",
    "sigma": "alpha was divided by the number of sigmas in the file: give all of them in the first "
    "call, or plan a file for each by Question(bonferroni)",
    "scale": "a scale that is computed from X changes with its rows: give rows.scale",
}
_BY_VALUES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class ResumeFile:
    """A resume file in use by this process. All methods raise ResumeError if the file cannot be
    used."""

    def __init__(self, path: Path) -> None:
        self.path = _path_of(path)
        self.run, self.record_key, self.certificate_key = 0, "", ""  # set by begin
        with self._sentences():
            check_locks(self.path)
            if is_foreign(self.path):
                raise ResumeError(f"{foreign(self.path)}: give another path")
            self.db = database(self.path, timeout=60)
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        """Raises ResumeError for damage, if SQLite refuses the file or if values are invalid."""
        try:
            yield
        except ResumeError:
            raise
        except (OSError, sqlite3.Error, *_BY_VALUES) as error:
            raise ResumeError(sentence(self.path, error)) from error

    def _prepare(self) -> None:
        with self._transaction():
            if not has_tables(self.db):
                os.chmod(self.path, 0o600)  # it will hold the seed
                for statement in (*_TABLES, f"PRAGMA application_id = {APPLICATION}"):
                    self.db.execute(statement)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """A context with writes that are complete or do not happen, also if the process is killed.
        Other processes wait."""
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
    def seed(self) -> int | None:
        """The seed of the samples in the file; None if the file is new."""
        with self._transaction():  # another program may begin its run
            runs = self._runs()
            return int(runs[0].seed) if runs else None

    def begin(self, run_of: Callable[[int], StoredRun], rows: Rows, adds: bool = True) -> None:
        """Finds the run with the questions of this one, or adds it if there is none, and copies
        certificates, errors and `done` to `rows`. `run_of` returns this run for the first rows of
        X. Raises ResumeError if seed, plan or model_id differ from the file's, unless X has more
        rows at its end. With adds=False nothing is written."""
        with self._transaction():
            run, runs = run_of(len(rows)), self._runs()
            first = runs[0] if runs else run
            self.record_key = checksum(first.library, first.seed, first.plan)
            self._compare(runs or [run], run, run_of)
            for known in runs if adds else ():
                if run.model_id and not known.model_id:
                    self._write(known._replace(model_id=run.model_id))
            same = [known for known in runs if known.rows <= len(rows)]
            same = [known for known in same if known.questions == run_of(known.rows).questions]
            if not same or longest(runs).rows < len(rows):
                run = self._added(run, runs, more_rows=bool(same))
                if adds:
                    self._write(run)
            run = same[0] if same else run
            self.run, self.certificate_key = run.run, checksum(self.record_key, run.questions)
            self._read(rows, longest(runs or [run]).rows)

    def _runs(self) -> list[StoredRun]:
        lines = self.db.execute("SELECT * FROM runs ORDER BY run")
        runs = [StoredRun(*verified("runs", "", line)) for line in lines]
        if not runs and (self._has_any("certificates") or self._has_any("records")):
            raise ValueError("there are rows, but no run")
        return runs

    def _has_any(self, table: str) -> bool:
        return self.db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None

    def _write(self, run: StoredRun) -> None:
        line = with_checksum("runs", "", *run)
        places = ", ".join("?" * len(line))
        self.db.execute(f"REPLACE INTO runs VALUES ({places})", line)

    def _compare(
        self, runs: Sequence[StoredRun], new: StoredRun, run_of: Callable[[int], StoredRun]
    ) -> None:
        run = next((known for known in runs if known.rows == new.rows), longest(runs))
        same_rows = run_of(run.rows) if run.rows < new.rows else new
        differs = differing(json.loads(run.plan), json.loads(same_rows.plan))
        if run.library != new.library:
            differs.append(f"library {run.library}")
        if run.seed != new.seed:
            differs.append("seed")
        if new.model_id and run.model_id and new.model_id != run.model_id:
            differs.append(f"model_id={run.model_id!r}")
        if differs:
            why = "".join(f"; {_REASONS[name]}" for name in differs if name in _REASONS)
            raise ResumeError(
                f"{self.path} was made with different arguments ({', '.join(differs)}): give "
                f"another resume file{why}"
            )

    def _added(self, run: StoredRun, runs: Sequence[StoredRun], more_rows: bool) -> StoredRun:
        """The line to add for this run, which has other questions or only more rows."""
        if runs and not more_rows and not self._has_all_records():
            raise ResumeError(
                f"{self.path} was made with other questions and without keep_records, so it "
                "cannot answer these: give another resume file"
            )
        return run._replace(run=runs[-1].run + 1 if runs else 1)

    def _has_all_records(self) -> bool:
        """Returns True if there is a record behind every certificate. A row without a record would
        be sampled again for other questions, without its earlier evaluation. All records are
        verified here, before anything is written."""
        records = {(record.row, record.sigma_index) for record in self._records(0, 2**62, 0)}
        answered = self.db.execute("SELECT row, sigma_index FROM certificates")
        return records.issuperset(answered)

    # ---- rows
    def add(self, chunk: Chunk) -> None:
        """Writes the certificates and records of a chunk."""
        errors = {(row, k): text for row, k, text in chunk.errors}
        found = {(row, k, 0): json.dumps(list(vars(one).values())) for row, k, one in chunk.found}
        begin = "certificates", self.certificate_key, self.run
        lines = [
            with_checksum(
                *begin, row, k, q, *_sqlite(fields), errors.get((row, k)), found.get((row, k, q))
            )
            for row, levels in zip(chunk.rows.tolist(), chunk.certificates[FIELDS].tolist())
            for k, answers in enumerate(levels)
            for q, fields in enumerate(answers)
        ]
        records = [with_checksum("records", self.record_key, *record) for record in chunk.records]
        with self._transaction():
            self._insert("certificates", lines)
            self._insert("records", records)

    def forget(self, rows: Sequence[int]) -> None:
        """Removes the certificates of these rows, and the records that no other run has."""
        own = [(row, self.run) for row in rows]
        others = "SELECT 1 FROM certificates WHERE certificates.row = records.row"
        with self._transaction():
            self.db.executemany("DELETE FROM certificates WHERE row = ? AND run = ?", own)
            delete = f"DELETE FROM records WHERE row = ? AND NOT EXISTS ({others})"
            self.db.executemany(delete, [(row,) for row in rows])

    def _insert(self, table: str, lines: Sequence[tuple[Value, ...]]) -> None:
        for line in lines[:1]:
            places = ", ".join("?" * len(line))
            self.db.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({places})", lines)

    def _read(self, rows: Rows, most: int) -> None:
        found = rows.certificates[FIELDS]  # a view
        count: np.ndarray = np.zeros(len(rows), int)
        query = "SELECT * FROM certificates WHERE run = ?"
        for line in self.db.execute(query, (self.run,)):
            known = verified("certificates", self.certificate_key, line)
            _, row, k, q, *fields, error, alternatives = known
            if min(row, k, q) < 0:
                raise IndexError("an index is negative")
            if len(rows) <= row < most:
                continue  # X ends before rows that were added
            for i in _DIGESTS:
                fields[i] = int(fields[i])
            values = [np.nan if value is None else value for value in fields]
            found[row, k, q] = tuple(values)
            count[row] += 1
            if error is not None:
                rows.errors[row, k] = error
            if alternatives is not None:
                rows.alternatives[row, k] = Found.of_lists(*json.loads(alternatives))
        done = count == found[0].size
        self._check_added(rows, np.flatnonzero(done))
        check_ranges(rows, done)
        rows.done = done

    def _check_added(self, rows: Rows, places: np.ndarray) -> None:
        """Raises ResumeError if rows that were added after the run began have certificates for
        other tolerances of rows."""
        if not any(isinstance(question.tolerance, tuple) for question in rows.questions):
            return
        kept = rows.certificates[FIELDS[_DIGESTS[0]]][places]
        other = places[(kept != digests_of(rows.questions, places)).any(axis=(1, 2))]
        if other.size:
            raise ResumeError(
                f"{self.path} was made with other questions about row {other[0]}, which was added: "
                "give another resume file"
            )

    def records(self, first: int, last: int, picks: int = 0) -> list[Record]:
        """The records of the rows from first to last, with 1 also those that have picks only."""
        with self._sentences():
            return list(self._records(first, last, picks))

    def _records(self, first: int, last: int, picks: int) -> Iterator[Record]:
        query = "SELECT * FROM records WHERE row BETWEEN ? AND ? AND picks <= ?"
        for line in self.db.execute(query, (first, last, picks)):
            yield Record(*verified("records", self.record_key, line))

    def rows_with_records(self, sigmas: int) -> np.ndarray:
        """The indices of the rows that have records at all sigmas."""
        query = (
            "SELECT row FROM records WHERE NOT picks GROUP BY row "
            "HAVING count(DISTINCT sigma_index) = ?"
        )
        with self._sentences():
            return np.fromiter((row for (row,) in self.db.execute(query, (sigmas,))), np.int64)


def has_tables(db: sqlite3.Connection) -> bool:
    """Returns True if a database has the tables, and False for a new one. Raises ValueError if it
    has other tables."""
    made = {sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    if made and made != set(_TABLES):
        raise ValueError("its tables are not as they were made")
    return bool(made)


def foreign(path: str) -> str:
    """A text about a file for which `is_foreign` is True."""
    return f"{path} belongs to another program or version"


def described(path: str, error: Exception) -> str:
    """A text about a failure with the file."""
    if isinstance(error, ResumeError):
        return str(error)
    what = "cannot be written" if _unwritable(error) else "is damaged or no resume file"
    if "locking protocol" in str(error):
        what = "is on a file system without locks"
    return f"{path} {what} ({reason(error)})"


def sentence(path: str, error: Exception) -> str:
    """A text about a failure with the file, and the remedy."""
    text = described(path, error)
    known = any(remedy in text for remedy in ("free space", "give another path"))
    return text if known else f"{text}: give another path"


def _path_of(given: Path) -> str:
    """The path of a file, in a folder that exists."""
    path = os.fsdecode(path_of(given, "resume"))
    if not path:
        raise ResumeError("resume is empty: give the path of a file")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise ResumeError(f"{path} cannot be written: there is no folder {folder}")
    return path


def _unwritable(error: Exception) -> bool:
    words = ("unable to open", "readonly", "disk", "locked", "full")
    refused = isinstance(error, sqlite3.OperationalError) and any(w in str(error) for w in words)
    return refused or isinstance(error, OSError)


def _sqlite(fields: tuple[float, ...]) -> list[Value]:
    """The fields for SQLite, which has neither NaN nor unsigned 64-bit integers."""
    values: list[Value] = [None if value != value else value for value in fields]
    for i in _DIGESTS:
        values[i] = str(values[i])
    return values


# ---- databases
APPLICATION = 0x63723037  # "cr07": owner and format of a file, in the header of SQLite


def is_foreign(path: str) -> bool:
    """Returns True if a file is the database of another program or version. SQLite reads the file
    alone, since a journal beside it could alter it. (If Python closed the file, this process would
    lose its locks.)"""
    if not os.path.exists(path) or not os.path.getsize(path):
        return False
    with contextlib.closing(opened(path, "mode=ro&immutable=1")) as db:
        owner = db.execute("PRAGMA application_id").fetchone()[0]
    return bool(owner != APPLICATION)


def opened(path: str, how: str) -> sqlite3.Connection:
    """Opens a database that exists."""
    address = pathlib.Path(_place(path)).as_uri()
    return sqlite3.connect(f"{address}?{how}", uri=True)


def _place(path: str) -> str:
    """The path without links of a database, beside which no journal is a link of another user."""
    place = place_of(path)
    for end in ("-journal", "-wal", "-shm"):
        place_of(place + end)
    return place


def check_locks(path: str) -> None:
    """Raises ResumeError if the file system of a file has no locks: SQLite would wait for them."""
    with tempfile.TemporaryFile(dir=os.path.dirname(path) or ".") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ResumeError(
                f"{path} is on a file system without locks ({error.strerror}): give a path on "
                "another one, such as a local disk"
            ) from error


def database(path: str, timeout: float) -> sqlite3.Connection:
    """Opens a database. A new one can be read by its owner alone. Names that are special in SQLite,
    such as :memory:, are names of files here."""
    path = _place(path)
    with contextlib.suppress(FileExistsError):  # closing an existing file would lose its locks
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return sqlite3.connect(path, timeout=timeout, isolation_level=None)


# ---- folders
SHARD = 10_000  # rows of a new file, which begins at a noise id that is a multiple of it
Part = tuple[str, int, int]  # path, first row and last row + 1
_PARTS = ("X", "rows", "noise_id")  # parts of a plan that differ between shards


class Shard(NamedTuple):
    """A file of the folder. `problem` is a text if it cannot be used, else empty."""

    path: str
    noise_id: int = 0  # of its first row
    rows: int = 0
    done: int = 0  # rows with certificates
    records: int = 0
    size: int = 0  # bytes
    seed: int = 0
    questions: tuple[str, ...] = ()  # as texts
    problem: str = ""
    model_id: str = ""


def list_shards(folder: Path, verify: bool = False) -> list[Shard]:
    """List the files ``*.sqlite`` of a folder that certify_rows resumes.

    The files are not changed, and other processes may write to them.

    Parameters
    ----------
    folder : str or path
        The folder.
    verify : bool
        Compare the checksum of every line.

    Returns
    -------
    list of Shard
        The files by noise ids. A file that does not fit the first has a `problem`."""
    paths = _files_in(os.fsdecode(folder))
    found = [_shard_in(path, verify) for path in paths]
    name = next((shard.model_id for shard, _ in found if shard.model_id), "")
    plans = [plan and {**plan, "model_id": shard.model_id or name} for shard, plan in found]
    first = next((i for i, plan in enumerate(plans) if plan), 0)
    shards = []
    for (shard, _), plan in zip(found, plans):
        differs = ", ".join(differing(plans[first], plan))
        problem = f"{shard.path} has another {differs} than {paths[first]}"
        shards.append(shard._replace(problem=problem) if differs else shard)
    return sorted(shards, key=lambda shard: shard.noise_id)


def _files_in(folder: str) -> list[str]:
    return sorted(str(path) for path in pathlib.Path(folder).glob("*.sqlite"))


def _shard_in(path: str, verify: bool) -> tuple[Shard, Mapping[str, object]]:
    """A file, and the arguments that all files of a folder must share; none in an empty file."""
    try:
        if is_foreign(path):
            raise ResumeError(foreign(path))
        # With mode=ro SQLite could not undo an incomplete write of a killed process.
        with contextlib.closing(opened(path, "mode=rw")) as db:
            lines = db.execute("SELECT * FROM runs ORDER BY run") if has_tables(db) else ()
            runs = [StoredRun(*verified("runs", "", line)) for line in lines]
            if not runs:
                return Shard(path), {}
            plan = json.loads(longest(runs).plan)
            if verify:
                _verify(db, runs)
            done = db.execute("SELECT count(DISTINCT row) FROM certificates").fetchone()[0]
            records = db.execute("SELECT count(*) FROM records WHERE NOT picks").fetchone()[0]
        asked = tuple(question for run in runs for question in json.loads(run.questions))
        size, seed = os.path.getsize(path), int(runs[0].seed)
        shard = Shard(path, plan["noise_id"], plan["rows"], done, records, size, seed, asked)
        same = {name: value for name, value in plan.items() if name not in _PARTS}
        same.update(library=runs[0].library, seed=runs[0].seed)
        return shard._replace(model_id=runs[0].model_id), same
    except (ResumeError, OSError, sqlite3.Error, LookupError, TypeError, ValueError) as error:
        return Shard(path, problem=described(path, error)), {}


def default_in(resume: Path, shape: Shape) -> tuple[np.ndarray | None] | None:
    """The default scale by which a resume file, or a file of a folder, was begun, in a tuple; None
    if there is none."""
    given = os.fsdecode(path_of(resume, "resume"))
    for path in _files_in(given) if os.path.isdir(given) else [given]:
        plan = _shard_in(path, False)[1] if os.path.exists(path) else {}
        if plan:
            return default_scale(plan, shape)
    return None


def _verify(db: sqlite3.Connection, runs: list[StoredRun]) -> None:
    records = checksum(runs[0].library, runs[0].seed, runs[0].plan)
    keys = {run.run: checksum(records, run.questions) for run in runs}
    for line in db.execute("SELECT * FROM certificates"):
        verified("certificates", keys[line[0]], line)
    for line in db.execute("SELECT * FROM records"):
        verified("records", records, line)


def is_folder(resume: object) -> bool:
    """Returns True for a folder. It need not exist if the path ends with a slash."""
    if not isinstance(resume, (str, bytes, os.PathLike)):
        return False
    return os.fsdecode(resume).endswith(os.sep) or os.path.isdir(resume)


def in_shards(
    given: Path | None,
    whole: Rows,
    has_model: bool,
    certified: Callable[[int, int, str, int | None], Rows],
) -> None:
    """Fills `whole`, part by part, by certified(first, last, path, seed)."""
    folder = os.fsdecode(cast(Path, given))
    try:
        if not os.path.isdir(folder):
            os.mkdir(folder)
    except OSError as error:
        raise ResumeError(sentence(folder, error)) from error
    shards = list_shards(folder)
    for problem in filter(None, (shard.problem for shard in shards)):
        raise ResumeError(f"{problem}: move it elsewhere, and its rows are computed again")
    whole.resume = folder
    unnamed = [shard for shard in shards if shard.rows and not shard.model_id]
    if unnamed and len(shards) > 1 and not has_model and not whole.model_id:
        warnings.warn(
            f"{len(unnamed)} files of {whole.resume} name no model, so they may be about several: "
            "give model_id if they are about one, or the model",
            stacklevel=6,
        )
    seed = next((shard.seed for shard in shards if shard.rows), None)
    for path, first, last in _parts(whole, shards):
        try:
            part = certified(first, last, path, seed)
        except BaseException as error:
            done: Rows | None = getattr(error, "rows", None)
            if done is not None:
                _put(whole, done, first)
            raise
        _put(whole, part, first)
        seed = part.seed


def _parts(whole: Rows, shards: list[Shard]) -> list[Part]:
    """The existing shards, complete ones first, and then new ones between them. So a shard of
    another model is refused before new files are written."""
    begin = at = whole.sampling.noise_id
    end = begin + len(whole)
    complete: list[Part] = []
    begun: list[Part] = []
    new: list[Part] = []
    for shard in [s for s in shards if s.noise_id < end and s.noise_id + s.rows > begin]:
        if shard.noise_id < at or shard.noise_id + shard.rows > end:
            raise ResumeError(
                f"{shard.path} has the rows of noise ids {shard.noise_id} to "
                f"{shard.noise_id + shard.rows - 1}, and X or another file has only some of them: "
                "give all of them, or move it elsewhere"
            )
        new += _new(whole, at, shard.noise_id)
        at = shard.noise_id + shard.rows
        known = begun if shard.done < shard.rows else complete
        known.append((shard.path, shard.noise_id - begin, at - begin))
    return [*complete, *begun, *new, *_new(whole, at, end)]


def _new(whole: Rows, at: int, end: int) -> Iterator[Part]:
    begin = whole.sampling.noise_id
    while at < end:
        last = min(at - at % SHARD + SHARD, end)
        yield os.path.join(str(whole.resume), f"{at:012}.sqlite"), at - begin, last - begin
        at = last


def _put(whole: Rows, part: Rows, first: int) -> None:
    last = first + len(part)
    whole.certificates[first:last], whole.done[first:last] = part.certificates, part.done
    whole.errors.update({(first + row, k): text for (row, k), text in part.errors.items()})
    whole.sampling = dataclasses.replace(whole.sampling, seed=part.sampling.seed)
    whole.doubt = whole.doubt or part.doubt

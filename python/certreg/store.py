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

import collections
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
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence, cast

import numpy as np
from numpy.typing import ArrayLike

from .alternatives import Found
from .arguments import Path, Shape, path_of
from .constants import version_text
from .denoise import digest_of
from .display import reason, warn
from .files import place_of
from .library import version
from .questions import digests_of
from .table import CERTIFICATE, FIELDS, Record, ResumeError, Rows, check_ranges
from .workers import Chunk, Job

Value = int | float | str | bytes | None  # the types of SQLite
REMEDY = ": give another path"
_KEYS = {"runs": 1, "certificates": 4, "records": 2}  # columns that identify a line


def checksum(*values: Value) -> str:
    """A digest of values: of a run, or of a line after its table and a digest of what it belongs
    to."""
    small = [hashlib.sha256(v).digest() if isinstance(v, bytes) else v for v in values]
    return hashlib.sha256(repr(small).encode()).hexdigest()[:16]


def verified(
    db: sqlite3.Connection, table: str, key: str | Mapping[int, str], where: str = "", *by: Value
) -> Iterator[list[Any]]:
    """Lines of a table without their checksums, by the digest of what they belong to, or of each
    run. Raises ValueError if one is wrong. (No local variable holds the cursor: the traceback would
    keep the file locked.)"""
    for *line, found in db.execute(f"SELECT * FROM {table} {where}", by):
        if found != checksum(table, key if isinstance(key, str) else key[line[0]], *line):
            raise ValueError(f"the checksum of line {line[: _KEYS[table]]} of {table} is wrong")
        yield line


@contextlib.contextmanager
def sentences(path: str) -> Iterator[None]:
    """Raises ResumeError, with a remedy, for damage of a file: if SQLite or the system refuses it,
    or if values are invalid."""
    invalid = ArithmeticError, AttributeError, LookupError, TypeError, ValueError
    try:
        yield
    except ResumeError:
        raise
    except (OSError, sqlite3.Error, *invalid) as error:
        words = ("unable to open", "readonly", "disk", "locked", "full")
        refused = isinstance(error, sqlite3.OperationalError)
        unwritable = refused and any(word in str(error) for word in words)
        unwritable = unwritable or isinstance(error, OSError)
        what = "cannot be written" if unwritable else "is damaged or no resume file"
        if "locking protocol" in str(error):
            what = "is on a file system without locks"
        text = f"{path} {what} ({reason(error)})"
        known = "free space" in text or "give another path" in text
        raise ResumeError(text if known else text + REMEDY) from error


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


def differing(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """The names of the arguments that differ between two plans."""
    changed = [name for name in now if now[name] != before.get(name)]
    follows = {"levels": "sigmas", "batch": "samples", "rows": "X"}  # change with these
    arguments = {"sigmas": "sigma", "levels": "domain"}
    own = [name for name in changed if name != "exact" and follows.get(name) not in changed]
    return [arguments.get(name, name) for name in own]


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

    def arguments(self, model_id: str = "") -> dict[str, Any]:
        """What has to be the same in all runs, with this model_id if it has none."""
        arguments: dict[str, Any] = {**json.loads(self.plan), "library": self.library}
        return arguments | {"seed": self.seed, "model_id": self.model_id or model_id}

    @property
    def key(self) -> str:
        """A digest of the first run of a file, in the checksums of its records."""
        return checksum(self.library, self.seed, self.plan)

    def key_of_answers(self, first: "StoredRun") -> str:
        """A digest in the checksums of the certificates of this run."""
        return checksum(first.key, self.questions)


def runs_in(db: sqlite3.Connection) -> list[StoredRun]:
    """The runs of a file in their order."""
    return [StoredRun(*line) for line in verified(db, "runs", "", "ORDER BY run")]


def longest(runs: Sequence[StoredRun]) -> StoredRun:
    """The run with all rows of a file."""
    return max(runs, key=lambda run: run.rows)


def stored_run(
    model_id: str, seed: int, plan: Mapping[str, object], questions: Sequence[str]
) -> StoredRun:
    """A first run, begun now."""
    started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    begun = 1, started, version_text(version())
    return StoredRun(*begun, model_id, str(seed), json.dumps(plan), json.dumps(questions))


_REASONS = {  # why other arguments need another file
    "X": "rows can be added at the end of X only",
    "samples": "more samples are a further look at the same rows, and the certificates of all "
    "looks hold together only if these were planned: by Target(radius, looks), or by "
    "method='anytime' with the same seed and Options(pilot) in another file",
    "sigma": "alpha was divided by the number of sigmas in the file: give all of them in the first "
    "call, or plan a file for each by Question(bonferroni)",
    "scale": "a scale that is computed from X changes with its rows: give rows.scale",
}


class ResumeFile:
    """A resume file in use by this process. All methods raise ResumeError if the file cannot be
    used."""

    def __init__(self, path: Path) -> None:
        self.path = path_of(path, "resume")
        folder = os.path.dirname(self.path) or "."
        if not self.path:
            raise ResumeError("resume is empty: give the path of a file")
        if not os.path.isdir(folder):
            raise ResumeError(f"{self.path} cannot be written: there is no folder {folder}")
        self.run, self.record_key, self.certificate_key = 0, "", ""  # set by begin
        with sentences(self.path), contextlib.ExitStack() as stack:
            check_locks(self.path, folder)
            check_owner(self.path)
            self.db = database(self.path)
            stack.callback(self.close)
            self._prepare()
            stack.pop_all()  # it stays open

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
        with sentences(self.path):
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
            self.record_key = first.key
            self._compare(runs or [run], run, run_of)
            for known in runs if adds else ():
                if run.model_id and not known.model_id:
                    self._insert("runs", "", [known._replace(model_id=run.model_id)])
            same = [known for known in runs if known.rows <= len(rows)]
            same = [known for known in same if known.questions == run_of(known.rows).questions]
            if not same or longest(runs).rows < len(rows):
                if runs and not same and not self._has_all_records():
                    raise ResumeError(
                        f"{self.path} was made with other questions and without keep_records, so "
                        "it cannot answer these: give another resume file"
                    )
                run = run._replace(run=runs[-1].run + 1 if runs else 1)
                if adds:
                    self._insert("runs", "", [run])
            run = same[0] if same else run
            self.run, self.certificate_key = run.run, run.key_of_answers(first)
            self._read(rows, longest(runs or [run]).rows)

    def _runs(self) -> list[StoredRun]:
        runs = runs_in(self.db)
        held = "SELECT row FROM certificates UNION ALL SELECT row FROM records LIMIT 1"
        if not runs and self.db.execute(held).fetchone():
            raise ValueError("there are rows, but no run")
        return runs

    def _insert(self, table: str, key: str, lines: Iterable[Sequence[Value]]) -> None:
        """Writes lines with their checksums. Those of rows that are there stay."""
        signed = [(*line, checksum(table, key, *line)) for line in lines]
        verb = "REPLACE" if table == "runs" else "INSERT OR IGNORE"
        for line in signed[:1]:
            places = ", ".join("?" * len(line))
            self.db.executemany(f"{verb} INTO {table} VALUES ({places})", signed)

    def _compare(
        self, runs: Sequence[StoredRun], new: StoredRun, run_of: Callable[[int], StoredRun]
    ) -> None:
        run = next((known for known in runs if known.rows == new.rows), longest(runs))
        same_rows = run_of(run.rows) if run.rows < new.rows else new
        differs = differing(run.arguments(new.model_id), same_rows.arguments(run.model_id))
        shown = {"library": f"library {run.library}", "model_id": f"model_id={run.model_id!r}"}
        if differs:
            names = ", ".join(shown.get(name, name) for name in differs)
            why = "".join(f"; {_REASONS[name]}" for name in differs if name in _REASONS)
            raise ResumeError(
                f"{self.path} was made with different arguments ({names}): give another resume "
                f"file{why}"
            )

    def _has_all_records(self) -> bool:
        """Returns True if there is a record behind every certificate. A row without a record would
        be sampled again for other questions, without its earlier evaluation. All records are
        verified here, before anything is written."""
        lines = verified(self.db, "records", self.record_key, "WHERE NOT picks")
        records = {(row, k) for row, k, *_ in lines}
        answered = self.db.execute("SELECT row, sigma_index FROM certificates")
        return records.issuperset(answered)

    # ---- rows
    def add(self, chunk: Chunk) -> None:
        """Writes the certificates and records of a chunk."""
        errors = {(row, k): text for row, k, text in chunk.errors}
        found = {(row, k, 0): json.dumps(list(vars(one).values())) for row, k, one in chunk.found}
        lines = [
            (self.run, row, k, q, *_sqlite(fields), errors.get((row, k)), found.get((row, k, q)))
            for row, levels in zip(chunk.rows.tolist(), chunk.certificates[FIELDS].tolist())
            for k, answers in enumerate(levels)
            for q, fields in enumerate(answers)
        ]
        with self._transaction():
            self._insert("certificates", self.certificate_key, lines)
            self._insert("records", self.record_key, chunk.records)

    def forget(self, rows: Sequence[int]) -> None:
        """Removes the certificates of these rows, and the records that no other run has."""
        own = [(row, self.run) for row in rows]
        others = "SELECT 1 FROM certificates WHERE certificates.row = records.row"
        with self._transaction():
            self.db.executemany("DELETE FROM certificates WHERE row = ? AND run = ?", own)
            delete = f"DELETE FROM records WHERE row = ? AND NOT EXISTS ({others})"
            self.db.executemany(delete, [(row,) for row in rows])

    def _read(self, rows: Rows, most: int) -> None:
        found = rows.certificates[FIELDS]  # a view
        count: np.ndarray = np.zeros(len(rows), int)
        given = "certificates", self.certificate_key, "WHERE run = ?", self.run
        for line in verified(self.db, *given):
            _, row, k, q, *fields, error, alternatives = line
            if min(row, k, q) < 0:
                raise IndexError("an index is negative")
            if len(rows) <= row < most:
                continue  # X ends before rows that were added
            for i in _DIGESTS:
                fields[i] = int(fields[i])
            found[row, k, q] = tuple(np.nan if value is None else value for value in fields)
            count[row] += 1
            if error is not None:
                rows.errors[row, k] = error
            if alternatives is not None:
                rows.alternatives[row, k] = Found.of_lists(*json.loads(alternatives))
        done = count == found[0].size
        if any(isinstance(question.tolerance, tuple) for question in rows.questions):
            places = np.flatnonzero(done)  # some may have been added after the run began
            kept = rows.certificates["question_digest"][places]
            other = places[(kept != digests_of(rows.questions, places)).any(axis=(1, 2))]
            if other.size:
                raise ResumeError(
                    f"{self.path} was made with other questions about row {other[0]}, which was "
                    "added: give another resume file"
                )
        check_ranges(rows, done)
        rows.done = done

    def records(self, first: int, last: int, picks: int = 0) -> list[Record]:
        """The records of the rows from first to last, with 1 also those that have picks only."""
        given = "WHERE row BETWEEN ? AND ? AND picks <= ?", first, last, picks
        with sentences(self.path):
            return [Record(*line) for line in verified(self.db, "records", self.record_key, *given)]

    def rows_with_records(self, sigmas: int) -> np.ndarray:
        """The indices of the rows that have records at all sigmas."""
        query = (
            "SELECT row FROM records WHERE NOT picks GROUP BY row "
            "HAVING count(DISTINCT sigma_index) = ?"
        )
        with sentences(self.path):
            return np.fromiter((row for (row,) in self.db.execute(query, (sigmas,))), np.int64)


def has_tables(db: sqlite3.Connection) -> bool:
    """Returns True if a database has the tables, and False for a new one. Raises ValueError if it
    has other tables."""
    made = {sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    if made and made != set(_TABLES):
        raise ValueError("its tables are not as they were made")
    return bool(made)


def _sqlite(fields: tuple[float, ...]) -> list[Value]:
    """The fields for SQLite, which has neither NaN nor unsigned 64-bit integers."""
    values: list[Value] = [None if value != value else value for value in fields]
    for i in _DIGESTS:
        values[i] = str(values[i])
    return values


# ---- databases
APPLICATION = 0x63723037  # "cr07": owner and format of a file, in the header of SQLite


def check_owner(path: str) -> None:
    """Raises ResumeError if a file is the database of another program or version. SQLite reads the
    file alone, since a journal beside it could alter it. (If Python closed the file, this process
    would lose its locks.)"""
    if not os.path.exists(path) or not os.path.getsize(path):
        return
    with contextlib.closing(opened(path, "mode=ro&immutable=1")) as db:
        if db.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
            raise ResumeError(f"{path} belongs to another program or version{REMEDY}")


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


def check_locks(path: str, folder: str) -> None:
    """Raises ResumeError if the file system of a file has no locks: SQLite would wait for them."""
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ResumeError(
                f"{path} is on a file system without locks ({error.strerror}): give a path on "
                "another one, such as a local disk"
            ) from error


def database(path: str) -> sqlite3.Connection:
    """Opens a database. A new one can be read by its owner alone. Names that are special in SQLite,
    such as :memory:, are names of files here."""
    path = _place(path)
    with contextlib.suppress(FileExistsError):  # closing an existing file would lose its locks
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return sqlite3.connect(path, timeout=60, isolation_level=None)


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
    found = [_shard_in(path, verify) for path in _files_in(os.fsdecode(folder))]
    name = next((shard.model_id for shard, _ in found if shard.model_id), "")
    begun = [(shard, run.arguments(name)) for shard, run in found if run]
    shards = {shard.path: shard for shard, _ in found}
    for shard, arguments in begun:
        differs = [n for n in differing(begun[0][1], arguments) if n not in _PARTS]
        if differs:
            problem = f"{shard.path} has another {', '.join(differs)} than {begun[0][0].path}"
            shards[shard.path] = shard._replace(problem=problem)
    return sorted(shards.values(), key=lambda shard: shard.noise_id)


def _files_in(folder: str) -> list[str]:
    return sorted(str(path) for path in pathlib.Path(folder).glob("*.sqlite"))


def _shard_in(path: str, verify: bool = False) -> tuple[Shard, StoredRun | None]:
    """A file and its run with all rows; None in a file without runs, or with a problem."""
    try:
        with sentences(path):
            check_owner(path)
            # With mode=ro SQLite could not undo an incomplete write of a killed process.
            with contextlib.closing(opened(path, "mode=rw")) as db:
                runs = runs_in(db) if has_tables(db) else []
                if not runs:
                    return Shard(path), None
                if verify:
                    keys = {run.run: run.key_of_answers(runs[0]) for run in runs}
                    for table, key in (("certificates", keys), ("records", runs[0].key)):
                        collections.deque(verified(db, table, key), 0)
                done = db.execute("SELECT count(DISTINCT row) FROM certificates").fetchone()[0]
                records = db.execute("SELECT count(*) FROM records WHERE NOT picks").fetchone()[0]
            run = longest(runs)._replace(model_id=runs[0].model_id)
            asked = tuple(question for each in runs for question in json.loads(each.questions))
            facts = run.rows, done, records, os.path.getsize(path), int(run.seed), asked
            noise_id = json.loads(run.plan)["noise_id"]
            return Shard(path, noise_id, *facts, model_id=run.model_id), run
    except ResumeError as error:
        return Shard(path, problem=str(error).removesuffix(REMEDY)), None


def plan_in(resume: Path | None) -> dict[str, Any]:
    """The plan by which a resume file, or a file of a folder, was begun; empty without one."""
    if resume is None:
        return {}
    given = path_of(resume, "resume")
    paths = _files_in(given) if os.path.isdir(given) else [given]
    runs = (_shard_in(path)[1] for path in paths if os.path.exists(path))
    run = next(filter(None, runs), None)
    return cast("dict[str, Any]", json.loads(run.plan)) if run else {}


def default_in(plan: Mapping[str, Any], shape: Shape) -> tuple[np.ndarray | None] | None:
    """The scale in the plan of a resume file that was begun for inputs of this shape, in a tuple,
    if it is 1 for all features with noise, as by default; else None."""
    if plan.get("shape") != list(shape):
        return None
    scale, kept = np.ones(math.prod(shape)), plan["scale"]
    if kept is None:
        return (None,)
    if isinstance(kept, list) and len(kept) == scale.size:
        scale = np.where(np.asarray(kept) == 0, 0.0, 1.0)
    else:
        scale[plan.get("exact", [])] = 0
    return (scale.reshape(shape),) if _values(scale) == kept else None


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
    with sentences(folder):
        if not os.path.isdir(folder):
            os.mkdir(folder)
    shards = list_shards(folder)
    for problem in filter(None, (shard.problem for shard in shards)):
        raise ResumeError(f"{problem}: move it elsewhere, and its rows are computed again")
    whole.resume = folder
    unnamed = [shard for shard in shards if shard.rows and not shard.model_id]
    if unnamed and len(shards) > 1 and not has_model and not whole.model_id:
        warn(
            f"{len(unnamed)} files of {whole.resume} name no model, so they may be about several: "
            "give model_id if they are about one, or the model"
        )
    seed = next((shard.seed for shard in shards if shard.rows), None)
    for path, first, last in _parts(whole, shards):
        part: Rows | None = None
        try:
            part = certified(first, last, path, seed)
        except BaseException as error:
            part = getattr(error, "rows", None)
            raise
        finally:
            if part is not None:
                whole.certificates[first:last] = part.certificates
                whole.done[first:last] = part.done
                for (row, k), text in part.errors.items():
                    whole.errors[first + row, k] = text
                for (row, k), found in part.alternatives.items():
                    whole.alternatives[first + row, k] = found
                seed = part.sampling.seed
                whole.sampling = dataclasses.replace(whole.sampling, seed=seed)
                whole.doubt = whole.doubt or part.doubt


def _parts(whole: Rows, shards: list[Shard]) -> list[Part]:
    """The existing shards, complete ones first, and then new ones between them. So a shard of
    another model is refused before new files are written."""
    begin = at = whole.sampling.noise_id
    end = begin + len(whole)
    known: dict[bool, list[Part]] = {True: [], False: []}  # by whether they are complete
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
        known[shard.done >= shard.rows].append((shard.path, shard.noise_id - begin, at - begin))
    return [*known[True], *known[False], *new, *_new(whole, at, end)]


def _new(whole: Rows, at: int, end: int) -> Iterator[Part]:
    begin = whole.sampling.noise_id
    while at < end:
        last = min(at - at % SHARD + SHARD, end)
        yield os.path.join(str(whole.resume), f"{at:012}.sqlite"), at - begin, last - begin
        at = last

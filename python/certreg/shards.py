"""A folder of resume files, each of a part of the rows, so that no file gets large. Files of parts
that other calls or machines have made belong to it too: the folder is what they are merged to."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import sqlite3
from typing import Any, Callable, Iterator, NamedTuple, Optional, Tuple

from ._damage import checked, checksum
from .errors import ResumeError, RowsError
from .result import Rows
from .store import APPLICATION, Run, described

SHARD = 10_000  # rows of a new file, which begins at a noise id that is a multiple of it
_PARTS = ("X", "rows", "noise_id", "denoiser")  # in which the plans of shards may differ


class Shard(NamedTuple):
    """A file of the folder. `problem` is a sentence if it cannot be used, else empty."""

    path: str
    noise_id: int = 0  # of its first row
    rows: int = 0
    done: int = 0  # rows with certificates
    records: int = 0
    size: int = 0  # bytes
    seed: int = 0
    questions: Tuple[str, ...] = ()  # as text; there are certificates for each
    problem: str = ""


def list_shards(folder: Any, verify: bool = False) -> list[Shard]:
    """The files *.sqlite of a folder that `certify_rows` resumes, by noise ids. They stay as they
    are, and other processes may write to them. Those that do not go with the first have a problem.
    verify: reads every line too, and compares its checksum."""
    paths = sorted(str(path) for path in pathlib.Path(os.fsdecode(folder)).glob("*.sqlite"))
    found, plans = zip(*(_looked(path, verify) for path in paths)) if paths else ((), ())
    first = next((i for i, plan in enumerate(plans) if plan), 0)
    shards = [
        shard if plan is None or plan == plans[first] else shard._replace(
            problem=f"{shard.path} has another seed, model_id, plan or library than {paths[first]}"
        )
        for shard, plan in zip(found, plans)
    ]  # fmt: skip
    return sorted(shards, key=lambda shard: shard.noise_id)


def _looked(path: str, verify: bool) -> Tuple[Shard, Any]:
    """A file, and what it has to have in common with the others; None if it has no rows yet."""
    try:
        # Not mode=ro, which could not undo what a killed process has half written.
        address = pathlib.Path(path).resolve().as_uri() + "?mode=rw"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            owner = db.execute("PRAGMA application_id").fetchone()[0]
            if owner != APPLICATION and (tables or owner):
                raise ResumeError(f"{path} belongs to another program or version")
            lines = db.execute("SELECT * FROM runs ORDER BY run") if tables else ()
            runs = [Run(*checked("runs", "", line)) for line in lines]
            if not runs:
                return Shard(path), None
            plan = json.loads(runs[0].plan)
            if verify:
                _verify(db, runs)
            done = db.execute("SELECT count(DISTINCT row) FROM certificates").fetchone()[0]
            records = db.execute("SELECT count(*) FROM records").fetchone()[0]
        asked = tuple(question for run in runs for question in json.loads(run.questions))
        size, seed = os.path.getsize(path), int(runs[0].seed)
        shard = Shard(path, plan["noise_id"], plan["rows"], done, records, size, seed, asked)
        same = {name: value for name, value in plan.items() if name not in _PARTS}
        return shard, (runs[0].library, runs[0].seed, runs[0].model_id, same)
    except (ResumeError, OSError, sqlite3.Error, LookupError, TypeError, ValueError) as error:
        return Shard(path, problem=described(path, error)), None


def _verify(db: sqlite3.Connection, runs: list[Run]) -> None:
    records = checksum(runs[0].library, runs[0].seed, runs[0].plan)
    keys = {run.run: checksum(records, run.questions) for run in runs}
    for line in db.execute("SELECT * FROM certificates"):
        checked("certificates", keys[line[0]], line)
    for line in db.execute("SELECT * FROM records"):
        checked("records", records, line)


def is_folder(resume: Any) -> bool:
    """Whether `resume` names a folder, which need not be there if the name ends with a slash."""
    known = isinstance(resume, (str, bytes, os.PathLike))
    return known and (os.fsdecode(resume).endswith(os.sep) or os.path.isdir(resume))


def in_shards(
    folder: Any, whole: Rows, certified: Callable[[int, int, str, Optional[int]], Rows]
) -> Rows:
    """Fills `whole`, a part after the other, by certified(first, last, path, seed)."""
    try:
        if not os.path.isdir(folder):
            os.mkdir(folder)
    except OSError as error:
        said = described(os.fsdecode(folder), error)
        raise ResumeError(f"{said}: give another path") from error
    shards = list_shards(folder)
    for problem in filter(None, (shard.problem for shard in shards)):
        raise ResumeError(f"{problem}: move it elsewhere, and its rows are computed again")
    whole.resume = os.fsdecode(folder)
    seed = shards[0].seed if shards else None
    for path, first, last in _parts(whole, shards):
        try:
            part = certified(first, last, path, seed)
        except (RowsError, KeyboardInterrupt) as error:
            if getattr(error, "rows", None) is not None:
                _put(whole, error.rows, first)  # type: ignore[union-attr]
                error.rows = whole  # type: ignore[union-attr]
            raise
        _put(whole, part, first)
        seed = part.seed
    return whole


def _parts(whole: Rows, shards: list[Shard]) -> Iterator[Tuple[str, int, int]]:
    """The path, first row and last row + 1 of each part: the shards that are there, and between
    them new ones."""
    begin = at = whole.sampling.noise_id
    end = begin + len(whole)
    for shard in [s for s in shards if s.noise_id < end and s.noise_id + s.rows > begin]:
        if shard.noise_id < at or shard.noise_id + shard.rows > end:
            raise ResumeError(
                f"{shard.path} has the rows of noise ids {shard.noise_id} to "
                f"{shard.noise_id + shard.rows - 1}, of which X or another file has only some: "
                "give all of them, or move it elsewhere"
            )
        yield from _new(whole, at, shard.noise_id)
        at = shard.noise_id + shard.rows
        yield shard.path, shard.noise_id - begin, at - begin
    yield from _new(whole, at, end)


def _new(whole: Rows, at: int, end: int) -> Iterator[Tuple[str, int, int]]:
    begin = whole.sampling.noise_id
    while at < end:
        last = min(at - at % SHARD + SHARD, end)
        yield os.path.join(str(whole.resume), f"{at:012}.sqlite"), at - begin, last - begin
        at = last


def _put(whole: Rows, part: Rows, first: int) -> None:
    last = first + len(part)
    whole.certificates[first:last], whole.done[first:last] = part.certificates, part.done
    whole.errors.update({(first + row, k): text for (row, k), text in part.errors.items()})
    whole.sampling = dataclasses.replace(whole.sampling, seed=part.seed)

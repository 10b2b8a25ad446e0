"""A folder of resume files, with a part of the rows in each, so that no file gets large. Files from
other calls or machines belong to the folder too."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import sqlite3
import warnings
from typing import Callable, Iterator, Mapping, NamedTuple, cast

import numpy as np

from ._database import is_foreign, opened
from ._arguments import path_of
from ._integrity import checksum, verified
from ._plan import default_scale, differing
from ._types import Path, Shape
from .certified_rows import Rows
from .errors import ResumeError
from .store import StoredRun, described, foreign, has_tables, longest, sentence

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

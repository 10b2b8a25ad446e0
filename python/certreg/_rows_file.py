"""Files of Rows: .npz archives, with the certificates as a structured array."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any, Mapping

import numpy as np

from . import _structs as S
from ._arguments import enum_value
from ._arrays import arrays_in_file
from ._files import AnyPath, archive_of, replace
from ._integrity import check_ranges
from ._optional import needed
from ._types import Path
from ._worker import ADDED, CERTIFICATE, Sampling, empty_certificates
from .alternatives import Found
from .constants import Domain
from .frames import Index
from .questions import Question, Serving, Target

if TYPE_CHECKING:
    from .certified_rows import Rows

_VERSION = 2  # 1 had no certreg
_ARRAYS = ("scale", "kind", "lo", "hi")  # fields of Sampling, None or numbers


def save_rows(rows: Rows, path: AnyPath, keep_seed: bool) -> None:
    """Writes the file. Raises ValueError for what it cannot keep."""
    if rows.records:
        raise ValueError("a file of rows keeps no records: save rows[:], which has none")
    sampling = rows.sampling if keep_seed else dataclasses.replace(rows.sampling, seed=0)
    plan = {name: value for name, value in vars(sampling).items() if name not in _ARRAYS}
    optional = {name: getattr(sampling, name) for name in _ARRAYS} | {"missing": rows.missing}
    arrays = {name: np.asarray(value) for name, value in optional.items() if value is not None}
    facts = {
        "arrays": list(arrays),
        "sampling": plan,
        "questions": [dataclasses.asdict(question) for question in rows.questions],
        "errors": [[row, k, text] for (row, k), text in rows.errors.items()],
        "alternatives": [
            [row, k, *vars(found).values()] for (row, k), found in rows.alternatives.items()
        ],
        "at_radius": rows.at_radius,
        "domain": int(rows.domain),
        "model_id": rows.model_id,
        "resume": None if rows.resume is None else os.fsdecode(rows.resume),
        "columns": None if rows.columns is None else list(rows.columns),
        "made": rows.made,
        "doubt": rows.doubt,
        "certreg": rows.certreg,
        **_facts_of_index(rows.index),
    }
    archive = archive_of(
        version=_VERSION,
        facts=np.array(json.dumps(facts, default=lambda value: value.tolist())),
        certificates=np.ascontiguousarray(rows.certificates),
        done=rows.done,
        numbers=rows.numbers,
        **arrays,
    )
    replace(path, archive, secret=keep_seed)


def read_rows(kind: type[Rows], path: Path) -> Rows:
    """Reads the file. Raises ValueError if it is of another kind or damaged."""
    with arrays_in_file(path, "file of rows", _VERSION) as kept:
        if not {"facts", "certificates", "done", "numbers"} <= set(kept):
            raise ValueError("it holds something else")
        facts = json.loads(str(kept["facts"]))
        if not set(facts.get("arrays", ())) <= set(kept):
            raise ValueError("it has lost an array")
        index = _index_of(facts)
        made = kind(
            _with_all_fields(kept["certificates"]),
            kept["done"],
            {(row, k): str(text) for row, k, text in facts["errors"]},
            _sampling_of(facts["sampling"], kept),
            tuple(map(_question_of, facts["questions"])),
            facts["at_radius"],
            Domain(facts["domain"]),
            facts["model_id"],
            facts["resume"],
            index=index,
            numbers=kept["numbers"],
            columns=facts["columns"],
            alternatives={
                (row, k): Found.of_lists(*parts)
                for row, k, *parts in facts.get("alternatives", [])
            },
            missing=kept.get("missing"),
            made=str(facts.get("made", "")),
            doubt=str(facts.get("doubt", "")),
            certreg=str(facts["certreg"]),
        )
        _check(made)
    return made


def _with_all_fields(found: np.ndarray) -> np.ndarray:
    """Certificates of this version, also from those of 0.2.0, which end before `reason`."""
    first = np.dtype(CERTIFICATE.descr[: CERTIFICATE.descr.index((ADDED[0], "<i4"))])
    if found.dtype != first:
        return found
    made = empty_certificates(*found.shape)
    for name in (first.names or ())[1:]:
        made[name] = found[name]
    return made


def _sampling_of(facts: dict[str, Any], kept: Mapping[str, np.ndarray]) -> Sampling:
    arrays = {name: kept[name] for name in _ARRAYS if name in kept}
    if any(values.dtype.kind not in "biuf" for values in arrays.values()):
        raise ValueError("an array of its plan holds no numbers")
    several = {name: tuple(facts[name]) for name in ("shape", "sigmas", "levels")}
    return Sampling(**{**facts, **several, **arrays})


def _question_of(facts: dict[str, Any]) -> Question:
    parts: dict[str, Any] = {name: enum_value(name, value) for name, value in facts.items()}
    if isinstance(facts["target"], dict):
        parts["target"] = Target(**{"growth": 0.0, **facts["target"]})  # files of 0.2.0 have none
    if facts["serving"] is not None:
        parts["serving"] = Serving(**facts["serving"])
    return Question(**parts)


def _check(rows: Rows) -> None:
    """Raises ValueError unless the parts fit together, and each certificate is possible."""
    count = len(rows.done)
    shape = (count, len(rows.sigmas), len(rows.questions))
    parts = ((rows.certificates, CERTIFICATE, shape), (rows.done, np.dtype(bool), (count,)))
    if any(array.dtype != dtype or array.shape != wanted for array, dtype, wanted in parts):
        raise ValueError("its arrays do not fit together")
    if rows.numbers.dtype.kind != "i" or rows.numbers.shape != (count,):
        raise ValueError("its rows have no numbers")
    cells, table = rows.missing, (count, *rows.sampling.shape)
    if cells is not None and (cells.dtype != bool or cells.shape != table):
        raise ValueError("its missing cells do not fit")
    each = [asked.tolerance for asked in rows.questions if isinstance(asked.tolerance, tuple)]
    if any(len(tolerances) != count for tolerances in each):
        raise ValueError("its tolerances do not fit")
    if rows.index is not None and len(rows.index) != count:
        raise ValueError("its index does not fit")
    if not np.isin(rows.certificates["struct_size"], (0, S.Certificate().struct_size)).all():
        raise ValueError("another version wrote its certificates; make it again")
    check_ranges(rows, rows.done)


# ---- the index of a DataFrame
def _facts_of_index(index: Index) -> dict[str, Any]:
    """The index as lists for JSON. Raises ValueError if they would make another index."""
    if index is None:
        return {"index": None}
    facts = {"index": [], "index_dtype": str(index.dtype), "index_name": index.name}
    try:
        values = index.astype("int64") if index.dtype.kind == "M" else index
        facts["index"] = values.tolist()
        again = _index_of(json.loads(json.dumps(facts)))
        equal = again.equals(index) and again.dtype == index.dtype and again.name == index.name
    except Exception:  # pandas raises various classes
        equal = False
    if not equal:
        raise ValueError(
            f"the index of X ({type(index).__name__} of {index.dtype}) cannot be kept: set "
            "rows.index = None, or give X an index of numbers or texts"
        )
    return facts


def _index_of(facts: dict[str, Any]) -> Index:
    if facts["index"] is None:
        return None
    pandas = needed("pandas", "the index of these rows")
    return pandas.Index(facts["index"], dtype=facts["index_dtype"], name=facts["index_name"])

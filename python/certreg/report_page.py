"""A report of the certificates of many inputs as one HTML page, for people who get nothing else."""

from __future__ import annotations

import base64
import collections
import html
from typing import Any, Iterable, Mapping, TypeAlias, cast

import numpy as np

from .arguments import Data
from .constants import __version__
from .display import Line, Table, by_name, floored, html_table, printable
from .frames import TABLE, listed
from .library import in_words
from .plots import drawn
from .questions import tolerance_text

Rows: TypeAlias = Any  # of certreg.table, which comes after this module
ENDS, MOST_LINES = 5, 12  # rows at each end of the radii; lines about columns or alternatives
LIMITS = (
    "How far a column may be off in its own unit in every certified row that has its cell, alone "
    "or together with all others, rounded down. First is the least, for known inputs as a share of "
    "the column's range."
)
MANY = f"There are more than {TABLE} columns, too many for this page: rows.allowances() has them."
AGAIN = (
    "Give the same model, inputs, arguments, version and seed. The seed is not on this page, since "
    "whoever knows it can make certificates false: rows.seed has it, and rows.save(path, "
    "keep_seed=True) or --keep-seed keeps it. With another seed other certificates hold as well."
)
GAPS = (
    "Larger changes. Columns may not all be off at once by as much as each alone.",
    "Other models, sigmas and scales, and the answer of the model without noise.",
    "Models that break the premise: each output depends on its row alone, at any time.",
    "All rows together: each has its own alpha, so among many rows some may be false.",
    "The truth: a certificate proves that an answer is stable, not that it is right.",
    "An adversary who knows the seed of the noise.",
)
STYLE = """:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;
margin:auto;padding:1rem;overflow-wrap:anywhere}div{overflow-x:auto}table{border-collapse:collapse;
font-size:.875rem;overflow-wrap:normal}th,td{padding:.2rem .6rem;border-bottom:1px solid GrayText;
text-align:right;vertical-align:top}img{max-width:100%;background:#fff}
section:last-child td{text-align:left}
@media(prefers-color-scheme:dark){img{filter:invert(1) hue-rotate(180deg)}}
@media print{:root{color-scheme:light}img{filter:none}div{overflow:visible}table{font-size:.7rem}
td{overflow-wrap:anywhere}h2{break-after:avoid}tr,img{break-inside:avoid}}"""


def page(rows: Rows, X: Data | None, title: str, plan: Mapping[str, object] = {}) -> str:
    """The page. X are the inputs, if they are known; `plan` are arguments of the call."""
    if not rows.done.any():
        raise ValueError("no row is finished, so there is nothing to report")
    failed = collections.Counter(map(in_words, rows.errors.values())).most_common(MOST_LINES)
    missing = [*rows._abstentions(), *(f"{count} failed: {text}" for text, count in failed)]
    found = (name for found in rows.alternatives.values() for name in found.limiting)
    common = collections.Counter(found).most_common(MOST_LINES)
    limits = [f"{count} certificates are limited by {name}" for name, count in common]
    sections = {
        "The question": _list(_question(rows, *at) for at in rows._answers()),
        "Results": _table(rows.summary()) + _plot(rows) + _list(rows._remarks()),
        "Inputs": _inputs(rows),
        "Rows without a certificate": _list(missing or ["There are none."]),
        "Worst and best rows": _table(_ends(rows)),
        "Columns that limit": _columns(rows, X),
        "Alternatives": _list(limits or ["Only the rows themselves were certified."]),
        "What is not covered": _list(_gaps(rows)),
        "How to repeat it": _list([AGAIN]) + _table(_arguments(rows, plan)),
    }
    body = "".join(f"<section><h2>{name}</h2>{text}</section>" for name, text in sections.items())
    heading = html.escape(printable(title))
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="'
        f'width=device-width,initial-scale=1"><title>{heading}</title><style>{STYLE}</style>'
        f"<h1>{heading}</h1>{body}</html>\n"
    )


def _list(texts: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(printable(text))}</li>' for text in texts)}</ul>"


def _table(table: Table) -> str:
    return f"<div>{html_table(table)}</div>" if table else ""


def _question(rows: Rows, k: int, q: int) -> str:
    asked, best = rows.questions[q], np.where(rows.done, rows["radius"][:, k, q], -1).argmax()
    text = f"How far may an input change before this answer moves by {tolerance_text(asked)}?"
    if rows.at_radius is not None:
        text = f"Where does this answer stay if an input changes by less than {rows.at_radius:.5g}?"
    place = ", ".join(f"{name} {at}" for name, at in rows._places()[best].items())
    return (
        f"Question {asked.name or q} is about the smoothed answer of the model, under noise of "
        f"sigma {rows.sigmas[k]:g}, from {rows.samples} samples. {text} For example {place}: "
        f"{rows.certificate(best, q, k)}."
    )


def _plot(rows: Rows) -> str:
    try:
        picture = base64.b64encode(drawn(rows.plot().figure, "svg")).decode()
    except (ImportError, ValueError):  # no matplotlib, or no radii
        return ""
    return f'<img alt="Share of the rows by radius" src="data:image/svg+xml;base64,{picture}">'


def _inputs(rows: Rows) -> str:
    if rows.inputs is None:
        return _list(["No description of the inputs was kept."])
    table, names = rows.inputs._table(), rows._named(rows._noisy() | True)
    if len(table) == len(names):  # a line for each feature of a table
        table = [{**line, "feature": name} for line, name in zip(table, names)]
    return _table(table)


def _ends(rows: Rows) -> Table:
    """The rows with the shortest and the longest radii, or with the widest and narrowest bounds,
    and the estimates at the alternatives that limit them."""
    kept = "sigma question row radius prediction output_lo output_hi reason error".split()
    kept += ["limiting_alternative", "limiting_estimate"] if rows.alternatives else []
    each, table = rows.to_dicts(), list[Line]()
    places = {line["row"]: line for line in rows._places()}
    each.sort(key=lambda line: (line["radius"], line["output_lo"] - line["output_hi"]))
    for k, q in rows._answers():
        lines = [c for c in each if (c["sigma"], c["question"]) == (rows.sigmas[k], q)]
        for line in lines[:ENDS] + lines[ENDS:][-ENDS:]:
            shown = {name: _safe(name, line[name]) for name in kept} | rows._called(q)
            table.append({**shown, **places[line["row"]]})
    return by_name(table)


def _safe(name: str, value: object) -> object:
    """A value as text, radii and bounds rounded to the safe side."""
    if name not in ("radius", "output_lo", "output_hi"):
        return value
    return floored(cast(float, value), 6, up=name == "output_hi")


def _columns(rows: Rows, X: Data | None) -> str:
    """The columns that may be off least."""
    if rows._noisy().size > TABLE:
        return _list([MANY])
    return _list([LIMITS]) + (_table(_limits(rows, X)) or "There are none.")


def _limits(rows: Rows, X: Data | None) -> Table:
    table, noisy = list[Line](), rows._noisy()
    heads = ("sigma", "question", "column", "alone", "together", "share of range")
    for k, q in rows._answers() if rows.at_radius is None else ():
        proved = rows.done & (rows["radius"][:, k, q] > 0)
        if not proved.any() or rows._is_loose(q):
            continue
        least = np.fmin.reduce(rows._allowed(X, k, q)[:, proved], axis=1)
        spread = np.ones(noisy.size)
        if X is not None:
            values = rows._values_of(X)[proved]
            spread = np.fmax.reduce(values) - np.fmin.reduce(values)
        parts = least[0] / np.maximum(spread, 1e-300)
        for j in [j for j in np.argsort(parts).tolist() if noisy[j] and spread[j]][:MOST_LINES]:
            sizes = map(floored, (*least[:, j], parts[j]))
            line = (rows.sigmas[k], q, rows._named(noisy | True)[j], *sizes)
            named = dict(zip(heads if X is not None else heads[:-1], line))
            table.append(named | rows._called(q))
    return by_name(table)


def _gaps(rows: Rows) -> list[str]:
    exact, beyond = rows._named(~rows._noisy()), ", beyond the named alternatives"
    none = f"Any change of the exact columns {listed(exact)}{beyond * bool(rows.alternatives)}."
    missing = ["Any value of a missing cell."] if rows.missing is not None else []
    if any(map(rows._is_loose, range(len(rows.questions)))):
        missing.append("Anything at alpha by the methods 'paper', 'asymptotic' and 'baseline', and "
                       "about the center 'sample_median': they are for comparison.")
    return [*([none] if exact else []), *missing, *GAPS]


def _arguments(rows: Rows, plan: Mapping[str, object]) -> Table:
    facts = {"certreg": __version__, "domain": rows.domain.name, "model_id": rows.model_id}
    facts |= {"questions": rows.questions, **vars(rows.sampling), **plan, "seed": None}
    facts = {name: v for name, v in facts.items() if v is not None}
    return [{"argument": name, "value": _whole(v)} for name, v in facts.items()]


def _whole(value: object) -> str:
    """A value with all digits, and all numbers of an array if they are few."""
    if isinstance(value, np.ndarray) and value.size > TABLE:
        return f"{value.size} numbers: a file of rows.save keeps them"
    return str(value.tolist() if isinstance(value, np.ndarray) else value)

"""Messages with the names of options, tables of certificates, and summaries of them."""

from __future__ import annotations

import csv
import io
import re
from typing import Sequence

import numpy as np

from ..arguments import Frame, Names
from ..display import Table
from ..library import CertregError, MessageTranslator, with_column_names
from ..onnx_file import OTHER_OUTPUT, REMEDY
from ..table import ADDED, Rows, mean_error

_OPTIONS = {  # of fields with another name than their option
    "max_samples": "--samples",
    "calibration_samples": "--samples",
    "points": "the number of points in --calibration",
    "serving": "--serve",
    "kind": "--angle or --pair",
    "lo": "--range",
    "hi": "--range",
    "flags": "--count-failures",
    "eval": "the model",
    "relative_tolerance": "the percentage of --tolerance",
}
_SAME = set(
    "tolerance output alpha statistic method huber_width constraints bonferroni target trim core "
    "pilot batch seed scale calls radius sigma samples".split()
)
_IN_PYTHON = {  # parts of the package's own messages
    "PLAN_COUNT_FAILURES": "--count-failures",
    "(lo, hi)": "(--range)",
    "declare lo and hi": "declare --range",
    "Method.FINITE": "--method finite",
    "on_crash='skip'": "--on-crash skip",
    "keep_records": "--keep-records",
    "Question(bonferroni)": "--bonferroni",
    REMEDY: "--constant NAME=VALUE",
    OTHER_OUTPUT: "--output NAME",
    "X is from": "the inputs are from",
    "give step or kind": "give --units STEP, image or sound",
    "give step": "give --units STEP",
    "Give step": "Give --units STEP",
    "method 'paper'": "--method paper",
    "give statistic='mean' and center='true_mean' (and lo and hi for families with M), or "
    "Question.paper('(E,C,G)+M', tolerance)": "give --statistic mean (and --range for families "
    "with M)",
    "scale='std' at sigma 0.1": "--scale std --sigma .1",
    "scale='std'": "--scale std",
    "inputs=certreg.Inputs.of(model, X_train)": "--inputs, a file of certreg inputs,",
    "give the model its `missing`": "give --missing",
    "set `marks` of Inputs": "set its marks in a file of certreg inputs",
    "images, give kind": "images, give --units image",
}
# A command has one number of samples, for inputs and for calibration points.
_OTHER_SAMPLES = re.compile(r"\d+ samples? of (?:a new input|each calibration point)(?:, or |$)")


class _OptionTranslator(MessageTranslator):
    _PLAIN = (
        *MessageTranslator._PLAIN,
        (re.compile(r"total_samples of certify"), "--samples"),
        (re.compile(r"(--[\w-]+)\[\d+\]"), r"\1"),
        (re.compile(r"(--[\w-]+)(?:,| and| or| in| to| =) \1(?![\w-])"), r"\1"),
        (re.compile(r"set (--\S+) to None"), r"leave \1 out"),
        (re.compile(r"prediction is None and (.*) it; give one, set"), r"\1 the prediction: set"),
        (_OTHER_SAMPLES, ""),
        (re.compile(r"give batch=1"), "give --batch 1"),
    )

    def field(self, struct: str, name: str, part: str | None) -> str:
        if part in ("trim", "core"):
            return f"--{part}"
        if name in _SAME:
            return "--" + name.replace("_", "-")
        return _OPTIONS.get(name, super().field(struct, name, part))

    def member(self, kind: str, name: str) -> str:
        word = name.lower().replace("_", "-")
        option = kind.lower()
        return f"--{option} {word}" if option in ("method", "statistic", "constraints") else word

    def constant(self, name: str) -> str:
        return _IN_PYTHON.get(name, name.lower().replace("_", " "))

    def feature(self, of: str, index: str) -> str:
        return f"feature {index} of {'the input' if of == 'z' else of}"


_options = _OptionTranslator()


def in_options(error: object, names: Names = None) -> str:
    """The text of an exception, or a message about a row, with options instead of arguments, and
    with these names of features."""
    text = str(error)
    failed = error if isinstance(error, CertregError) else getattr(error, "__cause__", None)
    if isinstance(failed, CertregError) and failed._raw and str(failed) == text:
        return with_column_names(_options.translate(failed._raw), names)
    for name, option in _IN_PYTHON.items():
        text = text.replace(name, option)
    return with_column_names(text, names)


def certificate_table(
    rows: Rows, first: int, labels: np.ndarray | None, names: Names = None
) -> Table:
    """A line for each certificate of finished rows. `first` is the number of the first row in the
    file of inputs, and `names` are the names of features."""
    table = rows.to_dicts()
    if labels is not None:
        errors = rows.label_errors(labels[rows.numbers])[rows.done].ravel()
        for line, error in zip(table, errors):
            line["label"], line["label_error"] = float(labels[line["row"]]), float(error)
    for line in table:
        line["row"] += first
        line["error"] = in_options(line["error"], names)
        if "limiting_alternative" in line:
            for j, name in enumerate(names or ()):
                text = line["limiting_alternative"].replace(f"feature {j}=", f"{name}=")
                line["limiting_alternative"] = text
        last = [name for name in ("exact", "missing", *ADDED) if name in line]  # columns
        line.update({name: line.pop(name) for name in last})
    return table


def summary_of(rows: Rows, labels: np.ndarray | None, bounds: bool = False) -> Table:
    """The summary of radii, or of bounds, a line for each sigma and tolerance."""
    names = "sigma tolerance rows certified abstained failed mean_radius median_radius name"
    if bounds:
        names = "sigma radius rows bounded failed median_width name"
    lines = [{n: line[n] for n in names.split() if n in line} for line in rows.summary()]
    if labels is None:
        return lines
    # (finished rows, lines)
    errors = rows.label_errors(labels)[rows.done].reshape(-1, len(lines))
    useful = rows.useful_radii(labels)[rows.done].reshape(-1, len(lines))
    for k, line in enumerate(lines):
        line["mean_error"] = mean_error(errors[:, k])
        line["useful_radius"] = float(np.mean(useful[:, k]))
        line["certified_accuracy"] = float(np.mean(useful[:, k] > 0))
    return lines


def allowances_of(rows: Rows, X: Frame) -> str:
    """The allowances of all sigmas and questions as CSV, with empty cells for NaN."""
    found = [line for k, q in rows._answers() for line in rows.allowances(X, sigma=k, question=q)]
    return as_csv([{name: "" if v != v else v for name, v in line.items()} for line in found])


def as_csv(table: Table) -> str:
    """A table as CSV, numbers with all their digits."""
    return as_lines([list(table[0]), *(list(line.values()) for line in table)]) if table else ""


def as_lines(lines: Sequence[Sequence[object]]) -> str:
    """Lines as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()

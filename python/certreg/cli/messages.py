"""Messages of the library and the package with the names of options."""

from __future__ import annotations

import re

from ..library import CertregError, MessageTranslator
from ..onnx_file import OTHER_OUTPUT, REMEDY

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
    "relative_tolerance": "--tolerance",
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
    REMEDY: "--constant NAME=VALUE",
    OTHER_OUTPUT: "--output NAME",
    "give step or kind": "give --units STEP, image or sound",
    "give step": "give --units STEP",
    "Give step": "Give --units STEP",
    "method 'paper'": "--method paper",
    "give statistic='mean' and center='true_mean' (and lo and hi for families with M), or "
    "Question.paper('(E,C,G)+M', tolerance)": "give --statistic mean (and --range for families "
    "with M)",
    "scale='std' at sigma 0.1": "--scale std --sigma .1",
    "scale='std'": "--scale std",
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


def in_options(error: object) -> str:
    """The text of an exception, or a message about a row, with options instead of arguments."""
    text = str(error)
    failed = error if isinstance(error, CertregError) else getattr(error, "__cause__", None)
    if isinstance(failed, CertregError) and failed._raw and str(failed) == text:
        return _options.translate(failed._raw)
    for name, option in _IN_PYTHON.items():
        text = text.replace(name, option)
    return text

"""Sentences of the library say what Python and the command line call things, not what C does."""

import re

from kit import parametrize, root
from certreg.library import in_python
from certreg.cli.report import _options

NOT_SAID = ("cuda/", "simd_scalar.h")  # files whose texts are no sentences
OF_C = (
    r"CERTREG_|\bcertreg_|\bNULL\b|->|SIZE_MAX|\bz\[|scale\[|(?<![\w\]])[._][a-z]"
    r"|\b(question|plan|model|options|coverage|calibration|rule)\.[a-z]"
)
ONLY_IN_C = {  # sentences that the package cannot provoke, since it fills these fields itself
    "%s.struct_size is %u; set it to sizeof the struct (%zu)": "struct_size",
    "%s sets a field that this version of the library does not know": "structs are as long as ours",
}


def filled(text, word):
    text = re.sub(r"(?<=[a-z]\.)%s", word, text)
    return re.sub(r"%[-.\d]*[a-z]+", "4", re.sub(r"%[.\d]*s", "samples", text))


def sentences():
    """Every text of the sources that may be part of an error, with what %s stands for in it."""
    token = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|^\s*#[^\n]*', re.S | re.M)
    text = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
    for file in sorted((root / "src").rglob("*.[ch]")):
        if any(part in str(file) for part in NOT_SAID):
            continue
        code = token.sub(lambda found: found[0] if found[0][0] == '"' else " ", file.read_text())
        texts = ["".join(re.findall(r'"(.*?)"', one)) for one in text.findall(code)]
        words = [one for one in texts if one and not re.search("[ %.]", one)]
        for one in texts:
            if " " in one or "CERTREG_" in one:
                named = words if re.search(r"\b[a-z]+\.%s", one) else ["samples"]
                yield from (filled(one, word) for word in named)


SEEN = set(sentences())


def test_every_sentence_of_the_library_is_free_of_names_of_c():
    known = tuple(filled(one, "samples") for one in ONLY_IN_C)
    assert len(SEEN) > 300
    for one in known:
        assert any(text.startswith(one) for text in SEEN), one
    for text in SEEN:
        once = in_python(text)
        assert in_python(once) == once  # what is translated stays
        for said in (once, _options.translate(text)):
            assert text.startswith(known) or not re.search(OF_C, said), f"{text}\n{said}"


@parametrize(
    "told, python, command",
    ("z[4] is nan", "feature 4 of z is nan", "feature 4 of the input is nan"),
    (
        "question.target->radius is -1 (no target: NULL)",
        "target.radius is -1 (no target: None)",
        "--target is -1 (no target: None)",
    ),
    ("options.calls is 50", "calls is 50", "--calls is 50"),
    ("question.target->look_count is 0", "len(target.looks) is 0", None),
    (
        "question.method: for an attack use CERTREG_METHOD_FINITE, _ASYMPTOTIC or _ANYTIME",
        "method: for an attack use Method.FINITE, Method.ASYMPTOTIC or Method.ANYTIME",
        "--method: for an attack use --method finite, --method asymptotic or --method anytime",
    ),
    (
        "declare model.lo and model.hi, or use CERTREG_PLAN_COUNT_FAILURES",
        "declare lo and hi, or use PLAN_COUNT_FAILURES",
        "declare --range, or use --count-failures",
    ),
    ("give one of CERTREG_SCORE_...", "give one of norm, largest, quantiles", None),
    (
        "model.eval is NULL: use certreg_estimator_draw and _record",
        "model is None: use draw and record",
        None,
    ),
)
def test_names_are_those_of_arguments_and_members(told, python, command):
    assert in_python(told) == python
    assert command in (None, _options.translate(told))


@parametrize("path", "/_a/certreg_x/plan.flags/m.so", "certreg_cuda.so", "_build/m", ".b/m.so")
def test_paths_stay(path):
    told = f"the CUDA module cannot be opened: {path}: NULL"
    assert in_python(told) == told.replace("NULL", "None")

"""Docstrings of public names: their sections, as numpydoc has them, name every argument, and their
examples, which use certreg and np, are true."""

import doctest
import enum
import importlib.util
import inspect
import io
import re

import numpy as np
import pytest

from kit import certreg, parametrize

SECTIONS = "Parameters Attributes Returns Raises Examples".split()
MADE_BY_THE_PACKAGE = (Exception, list, certreg.DeviceArray)


def public():
    """Functions and classes by name, and the functions of the classes."""
    found = {name: getattr(certreg, name) for name in certreg.__all__}
    if importlib.util.find_spec("sklearn"):
        from certreg.regressor import SmoothedRegressor

        found["SmoothedRegressor"] = SmoothedRegressor
    for name, made in found.items():
        if inspect.isfunction(made) or inspect.isclass(made):
            yield name, made
        for base in inspect.getmro(made) if inspect.isclass(made) else ():
            if base.__module__.startswith("certreg") and not issubclass(made, enum.Enum):
                for method, member in vars(base).items():
                    member = getattr(member, "__func__", member)
                    if inspect.isfunction(member) and not method.startswith("_"):
                        yield f"{name}.{method}", member


PUBLIC = dict(public())


def sections(doc):
    """The lines of each section, by its name; the summary has none."""
    found, name = {None: []}, None
    lines = inspect.cleandoc(doc).splitlines()
    for line, below in zip(lines, [*lines[1:], ""]):
        if line and re.fullmatch(r"-+", below):
            assert len(line) == len(below) and line in SECTIONS, line
            name, found[line] = line, []
        elif not re.fullmatch(r"-+", line):
            found[name].append(line)
    return found


def names_in(lines):
    """The names that a section explains."""
    entries = [line.partition(" : ")[0] for line in lines if line and not line.startswith(" ")]
    return [name.strip("* ") for entry in entries for name in entry.split(",")]


@parametrize("name", *PUBLIC)
def test_sections_name_everything(name):
    made = PUBLIC[name]
    doc = inspect.getdoc(made)
    found = sections(doc)
    assert list(found)[1:] == [section for section in SECTIONS if section in found]
    summary = "\n".join(found[None]).partition("\n\n")[0].strip()
    assert summary.endswith(".") and "\n" not in summary
    known = set(names_in(found.get("Parameters", []) + found.get("Attributes", [])))
    if inspect.isclass(made) and issubclass(made, enum.Enum):
        listed = ", ".join(re.findall(r"^- ([A-Z_, ]+): ", doc, re.M))
        assert {*listed.split(", ")} == {*made.__members__}
    elif not (inspect.isclass(made) and issubclass(made, MADE_BY_THE_PACKAGE)):
        given = inspect.signature(made).parameters
        assert {p for p in given if p not in ("self", "cls") and not p.startswith("_")} <= known
    if inspect.isfunction(made) and made.__annotations__.get("return") not in ("None", None):
        assert "Returns" in found or summary.startswith("Return ")


EXAMPLES = [name for name, made in PUBLIC.items() if ">>>" in inspect.getdoc(made)]


@parametrize("name", *EXAMPLES)
def test_examples_are_true(name, folder):
    doc = inspect.getdoc(PUBLIC[name])
    for package in ("sklearn", "matplotlib"):
        if package in doc or (package == "matplotlib" and "plot_" in name):
            pytest.importorskip(package)
    names = {"certreg": certreg, "np": np}
    test = doctest.DocTestParser().get_doctest(doc, names, name, None, 0)
    said = io.StringIO()
    assert not doctest.DocTestRunner().run(test, out=said.write).failed, said.getvalue()


def test_there_are_examples_of_what_is_used_most():
    assert len(EXAMPLES) > 20 and set(EXAMPLES) >= {"Estimator", "certify_rows", "Question"}


def test_the_help_of_certify_rows_fits_two_screens():
    assert len(inspect.getdoc(certreg.certify_rows).splitlines()) <= 90

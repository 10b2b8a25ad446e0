"""What a program was written with stays: the fields and constants of every released header are in
the present ones, at the same place, with the same type and value; and every name of the Python
package with its arguments, and every option of the command. Nothing more must be given to them.
tests/abi/VERSION.txt has them; abi.sh has the functions. `test_abi.py record` prints what the file
of the present version will hold."""

import dataclasses
import enum
import importlib.util
import inspect
import operator
import re
import sys

from certreg.cli import parser
from kit import certreg, parametrize, root
from test_header import printed_by_c, structs, text

KINDS = {
    "int32_t": "int32",
    "int64_t": "int64",
    "uint32_t": "uint32",
    "uint64_t": "uint64",
    "float": "float32",
    "double": "float64",
}


MUST = " must be given"
REGRESSOR = "regressor.SmoothedRegressor"  # which scikit-learn has to be there for
RESULTS = (  # whose constructors are no interface
    "AttackResult Certificate Comparison Finding Forecast Interval MeanChange Radius "
    "RadiusComparison Rows Rule Run SolveInfo TrainedDenoiser Trial TunedScale WorstFunction"
).split()
NAMES = list(certreg.__all__)
if importlib.util.find_spec("sklearn"):
    NAMES.append(REGRESSOR)
    importlib.import_module("certreg.regressor")


def arguments(name, made):
    """Lines such as "python Question 2 alpha" (a name, the place of an argument, or "*" where it is
    given by name alone) and "python Question 2 alpha = 0.05" (its default)."""
    lines = [f"python {name}"]
    try:
        given = inspect.signature(made).parameters.values()
    except (TypeError, ValueError):
        return lines
    for place, p in enumerate(p for p in given if p.name != "self"):
        stars = {p.KEYWORD_ONLY: "* ", p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}
        lines.append(f"python {name} {stars.get(p.kind, f'{place} ')}{p.name}")
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            lines.append(lines[-1] + (MUST if p.default is p.empty else f" = {p.default!r}"))
    return lines


def package():
    lines = []
    for name in NAMES:
        made = operator.attrgetter(name)(certreg)
        if not callable(made) or (inspect.isclass(made) and issubclass(made, enum.Enum)):
            members = getattr(made, "__members__", ())  # their values are those of the header
            lines += [f"python {name}", *(f"python {name}.{member}" for member in members)]
            continue
        made_by_us = dataclasses.fields(made) if name in RESULTS else ()
        lines += [f"python {name}.{field.name}" for field in made_by_us]
        lines += [f"python {name}"] if made_by_us else arguments(name, made)
        ours = (
            [one for one in inspect.getmro(made) if one.__module__.startswith("certreg")]
            if (inspect.isclass(made))
            else []
        )
        public = {method for one in ours for method in vars(one) if method[0] != "_"}
        for method in {method for method in public if not method.endswith("_request")}:
            lines += arguments(f"{name}.{method}", getattr(made, method))
    return lines


def command():
    """Lines such as "certreg certify --method" and behind it " = None" (its default), " takes 2",
    " finite" (one of its words); "certreg certify 0 model" is the first word without a name."""
    lines = []
    for action in parser.parser()._actions:
        for name, sub in (getattr(action, "choices", None) or {}).items():
            lines.append(f"certreg {name}")
            places = [option for option in sub._actions if not option.option_strings]
            for option in sub._actions:
                for word in option.option_strings or [f"{places.index(option)} {option.dest}"]:
                    line = f"certreg {name} {word}"
                    lines += [line, f"{line} = {option.default!r}", f"{line} takes {option.nargs}"]
                    lines += [line + MUST] if option.required else []
                    lines += [f"{line} {choice}" for choice in option.choices or ()]
    return lines


def declared(name, field):
    """The type of a field of a struct as it is written: "const double *"."""
    (body,) = re.findall(rf"struct certreg_{name} \{{(.*?)\}}", text, re.S)
    for statement in body.split(";"):
        if re.search(rf"\b{field}\b *($|[,)[])", statement):
            words = " ".join(statement.split())
            return words if re.search(r"[(\[]", words) else re.match(r"[^*]*\*?", words)[0]


def headers():
    """Lines such as "plan.seed 8 8 uint64" (its offset, size and type), the types of functions that
    programs write, and "CERTREG_E_BUSY 18"."""
    lines = []
    kinds = ", ".join(f'{c}: "{name}"' for c, name in KINDS.items())
    for name, fields in sorted(structs().items()):
        for field in fields:
            there = f"((certreg_{name} *)0)->{field}"
            lines.append(
                f'printf("{name}.{field} %zu %zu %s\\n", offsetof(certreg_{name}, {field}), '
                f'sizeof {there}, _Generic({there}, {kinds}, default: "{declared(name, field)}"));'
            )
    types = [" ".join(words.split()) for words in re.findall(r"typedef ([^;{]*\(\*[^;]*);", text)]
    constants = dict(re.findall(r"(CERTREG_\w+)\s*=\s*(-?\d+)", text))
    values = [  # of efforts the name stays, and the number may change
        name if name.endswith("_EVALUATIONS") else f"{name} {value}"
        for name, value in constants.items()
    ]
    return printed_by_c(lines).splitlines() + types + values


def present():
    return sorted(set(headers() + package() + command()))


def breaks(before, now):
    """What programs written with the lines of before do not find, or do not give, now."""
    known = [line for line in before if REGRESSOR in NAMES or REGRESSOR not in line]
    gone = [line for line in known if line not in now and not line.endswith(MUST)]
    asked = [
        line
        for line in now
        if line.endswith(MUST) and line not in before and " ".join(line.split()[:2]) in before
    ]
    return gone + asked


NOW = present()


def test_what_releases_have_is_there():
    assert len(NOW) > 600
    for release in (root / "tests/abi").glob("*.*.*.txt"):
        lines = release.read_text(encoding="utf-8").splitlines()
        assert breaks(lines, NOW) == [], release.name


@parametrize(
    "line, other",
    ("plan.seed 8 8 uint64", "plan.seed 8 8 int64"),
    ("model.scale 48 8 const float *", "model.scale 48 8 const double *"),
    ("error.text 40 256 char text[256]", "error.text 40 128 char text[128]"),
    ("int (*certreg_eval)(void *user, const certreg_batch *batch)", ""),
    ("plan.progress 40 8 int (*progress)(void *user, uint64_t done, uint64_t total)", ""),
    ("CERTREG_E_BUSY 18", "CERTREG_E_BUSY 19"),
    ("python Estimator.certify", ""),
    *([(f"python {REGRESSOR}.certify 0 X", "")] if REGRESSOR in NAMES else []),
    ("python Question 2 alpha = 0.05", "python Question 2 alpha = 0.1"),
    ("python Rows.certificates", ""),
    ("python Estimator * seed", "python Estimator * noise"),
    ("certreg certify --method finite", ""),
)
def test_a_break_is_found(line, other):
    assert breaks(NOW, [other if one == line else one for one in NOW]) == [line]


@parametrize("line", "python Question 20 more", "certreg certify 2 more", "certreg certify --more")
def test_additions_are_none_unless_they_must_be_given(line):
    assert breaks(NOW, [*NOW, line]) == []
    assert breaks(NOW, [*NOW, line + MUST]) == [line + MUST]
    assert breaks(NOW, [*NOW, "python New", "python New 0 x" + MUST]) == []


if __name__ == "__main__" and sys.argv[1:] == ["record"]:
    print(*NOW, sep="\n")

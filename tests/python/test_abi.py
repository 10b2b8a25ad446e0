"""Every name of the Python package of each release is in the present one with its arguments, and
every option of the command. Nothing more must be given to them. python.txt in the archive of a
release has them, a line for each name: the name, and a list in JSON of what is behind it.
`test_abi.py record` prints that of the present version. For C tests/abi.py compares the names, and
finds what the second half of this file changes."""

import dataclasses
import enum
import importlib.util
import inspect
import json
import operator
import sys
import tarfile

import numpy as np
from certreg.cli.main import parser
from kit import certreg, parametrize, root

sys.path.insert(0, str(root / "tests"))
import abi  # noqa: E402

MUST = " must be given"
REGRESSOR = "regressor.SmoothedRegressor"  # which scikit-learn has to be there for
RESULTS = (  # whose constructors are no interface
    "AttackResult Certificate Comparison Finding Forecast Interval MeanChange Radius "
    "RadiusComparison Rows Rule Run SolveInfo TrainedDenoiser Trial TunedScale WorstFunction"
).split()
NAMES = [*certreg.__all__, "results.SigmaChoice"]  # which choose_sigma returns
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
    error = certreg.CertregError(certreg.Status.INVALID)
    return lines + [f"python CertregError.{field}" for field in vars(error) if field[0] != "_"]


def command():
    """Lines such as "certreg certify --method" and behind it " = None" (its default), " takes 2",
    " finite" (one of its words); "certreg certify 0 model" is the first word without a name."""
    lines = []
    for action in parser()._actions:
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


def present():
    return sorted(set(package() + command()))


def packed(lines):
    names = {}
    for line in lines:
        name = " ".join(line.split(" ", 2)[:2])
        names.setdefault(name, []).append(line[len(name) :])
    return [f"{name} {json.dumps(more)}" for name, more in names.items()]


def unpacked(text):
    for kind, name, more in (line.split(" ", 2) for line in text):
        yield from (f"{kind} {name}{one}" for one in json.loads(more))


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
    assert len(NOW) > 600 and list(unpacked(packed(NOW))) == NOW
    for archive in (root / "tests/abi").glob("*.tar.gz"):
        with tarfile.open(archive) as packed_files:
            name = f"{archive.name.removesuffix('.tar.gz')}/python.txt"
            text = packed_files.extractfile(name).read().decode()
        assert breaks(list(unpacked(text.splitlines())), NOW) == [], archive.name


def test_files_of_0_2_0_are_read():
    def model(x):
        return x[:, :2] @ [[1, 1], [0.25, -1]] + x[:, 2:] * [1, 0]

    rows = certreg.Rows.load(root / "tests/abi/0.2.0-rows.npz")
    X, options = [[0.5, 1, 0], [-1, 0.25, 1], [0, 0, 0]], certreg.Options(outputs=2)
    asked = dict(samples=200, seed=1, scale=[1, 2, 0], options=options)
    now = certreg.certify_rows(model, X, rows.sigmas, rows.questions, **asked)
    assert np.array_equal(rows["radius"], now["radius"]) and rows["radius"].any()
    assert "abstained" in str(rows) and list(rows.index) == ["x", "y", "z"]
    rows = certreg.Rows.load(root / "tests/abi/0.2.0-alternatives.npz")
    assert repr(rows.alternatives[0, 0]) == "2 alternatives, 200 samples; limited by c=1.0: nan"
    assert "c=1.0" in str(rows.to_dicts())
    radius = []
    for asks in (None, lambda x: model(x)[:, 1]):
        with certreg.Estimator(asks, 3, 100, seed=5) as e:
            e.begin(X[0], 0.25, noise_id=3)
            if asks is None:
                e.import_((root / "tests/abi/0.2.0-record").read_bytes())
            radius.append(e.certify(100, 0.5).radius)
    assert radius[0] == radius[1] > 0


@parametrize(
    "line, other",
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


# ---- the interface in C
C = abi.releases()["0.2.0"]
NEW = {"certreg_plan.more": "80 double", "certreg_plan": "struct 88"}
TRIED = "CERTREG_0_EXPERIMENTAL_1"


@parametrize(
    "name, value",
    ("certreg_version", None),
    ("certreg_version", "CERTREG_0 uint64_t (void)"),
    ("certreg_status_text", "CERTREG_0 const char * (uint64_t)"),
    ("certreg_status", "typedef int64_t certreg_status"),
    ("certreg_plan.seed", "16 uint64_t"),
    ("certreg_model.scale", "48 const double *"),
    ("certreg_status_code.CERTREG_E_BUSY", "19"),
    ("certreg_new", "CERTREG_0 void (void)"),
    ("certreg_attack_run", "CERTREG_0 void (void)"),
    ("certreg_attack_run", f"{TRIED} void (void) experimental"),
    ("certreg_attack_result.radius", "16 float"),
)
def test_a_break_of_the_c_interface_is_found(name, value):
    now = {k: v for k, v in {**C, name: value}.items() if v}
    (found,) = abi.breaks(C, now)
    assert found.startswith(name + " ")


@parametrize("node", "CERTREG_0", TRIED)
def test_a_node_has_either_experimental_functions_or_others(node):
    value = "void (void)" + " experimental" * (node != TRIED)
    *_, found = abi.breaks(C, {**C, "certreg_new": f"{node} {value}"})
    assert found.startswith(f"{node} has experimental functions and others")


def test_experimental_functions_change_with_their_node():
    later = {name: value.replace(TRIED, "CERTREG_0_EXPERIMENTAL_2") for name, value in C.items()}
    changed = {**later, "certreg_attack_result.radius": "16 float"}
    del changed["certreg_attack_gradient"]
    assert abi.breaks(C, changed) == []
    assert abi.breaks(C, {**C, "certreg_attack_run": "CERTREG_0.3 void (void)"}) == []


def test_the_c_interface_may_grow():
    assert abi.breaks(C, {**C, **NEW, "certreg_new": "CERTREG_0.3 void (void)"}) == []


if __name__ == "__main__" and sys.argv[1:] == ["record"]:
    print(*packed(NOW), sep="\n")

"""Arguments of a wrong type: whatever is given to whatever is public, the answer is a sentence that
names the argument. Docstrings of public names describe every argument, and their examples are
true."""

import ctypes
import doctest
import enum
import importlib.util
import inspect
import io
import re
import warnings

import numpy as np
import pytest

from kit import certreg, parametrize
from certreg import *  # noqa: F403  what is public is what is called

CUBE = np.zeros((2, 2, 2))
WRONG = ("x", None, {}, [], object(), -1, 1.5, np.nan, 10**400, (1, 2), b"q", CUBE, [None], 1j)
Z = [1, 0.5, -0.25]
X = np.random.default_rng(0).normal(size=(14, 3)).astype(np.float32)


def model(x):
    x = x.reshape(len(x), -1)
    return x[:, 0] + x[:, 1] * x[:, -1]


Y = model(X)
OTHERS = {  # what sentences may speak of instead
    "X": "x has shape",
    "questions": "question|tolerance",
    "question": "tolerance|target",
    "sigmas": "sigma|noise level",
    "radius": r"target\.looks",
    "y": "output 0",
    "data": "record",
    "bounds": "count",
    **dict.fromkeys(("range_lo", "range_hi", "moment_center"), r"bounds\.moment_hi"),
}


def calls(e, calibrated, path):
    """Public callables with arguments that they take."""
    s, b = Solver(), Bisection()
    bounds = Bounds(1.0, mean_lo=0.0, mean_hi=0.0, variance_hi=1.0)
    plan = dict(
        max_samples=99, outputs=1, batch=0, scale=1, kind="real", lo=-9, hi=9, seed=1, pilot=0,
        constraints=0, blocks=0, flags=0, progress=None,
    )  # fmt: skip
    question = dict(
        tolerance=0.5, output=0, alpha=0.1, statistic="median", method="finite", huber_width=0.0,
        center="prediction", constraints=0, bonferroni=1, prediction=1.0, target=None, serving=None,
        output_count=0, relative_tolerance=0.0,
    )  # fmt: skip
    of_bounds = dict.fromkeys("mean_lo mean_hi gradient_lo gradient_hi moment_center".split(), 0.0)
    of_bounds.update(sigma=1.0, variance_hi=1.0, range_lo=-9.0, range_hi=9.0, alpha=0.0, samples=0)
    of_bounds.update(moment_hi=1.0)
    certificate, told = e.certify(0, 0.5), e.info()
    rows = certify_rows(model, X, 0.25, 0.5, samples=50, progress=False, seed=1)
    front = Denoised(model, X, 1)
    points = dict(radius=0, alpha=0.3, samples=5)
    table = dict(samples=20, scale=1, batch=0, seed=1, progress=False, jobs=1)
    options = dict(outputs=1, pilot=0, constraints=0, flags=0, kind="real", lo=-99, hi=99)
    options.update(domain="certify", radius=0.1, on_crash="stop")
    asked = dict(question=0.5)

    def whole(make, **fixed):
        return lambda **given: make(**fixed, **given).close()

    return (
        (whole(Estimator, model=model, inputs=3), plan),
        (whole(Estimator, model=model), dict(inputs=3, max_samples=9)),
        (whole(Estimator, inputs=3, max_samples=9), dict(model=model)),
        (whole(Estimator, model=model, inputs=3, max_samples=9), dict(threads=1)),
        (whole(Estimator, model=model, inputs=3, max_samples=9), dict(device=0, stream=0)),
        (e.bounds, dict(asked, side="upper")),
        (e.gradient, dict(asked, side="upper")),
        *((call, asked) for call in (e.prediction, e.estimate, e.forecast, question_digest)),
        (e.attack, dict(asked, calls=0, alpha=0.1, number=0, direction=[1, 0, 0])),
        (lambda **given: e.certify(0, Question(**{**question, **given})), question),
        (lambda **given: e.certify(0, Question(1, target=Target(**given))),
         dict(radius=1, looks=[9])),
        (lambda **given: e.certify(0, Question(1, serving=Serving(**given))),
         dict(samples=9, failure_rate=0.1, trim=0.0, core=0.0)),
        (lambda total_samples: e.certify(total_samples, 0.5), dict(total_samples=0)),
        (lambda question: e.certify(0, question), asked),
        (lambda radius: e.output_bounds(0, radius, 0.5), dict(radius=0.1)),
        (lambda sigmas: e.certify_sigmas(Z, sigmas, 50, 0.5), dict(sigmas=[0.25])),
        (lambda **given: e.sample(**given), dict(first=0, count=9)),
        (lambda **given: e.draw(**given), dict(first=0, count=9, out=None)),
        (lambda **given: e.record(**given), dict(first=0, y=[1.0])),
        (e.import_, dict(data=b"")),
        (lambda **given: e.begin(**given), dict(z=Z, sigma=0.25, noise_id=0, level=0)),
        (Solver, dict(max_evaluations=0)),
        (Bisection, dict(max_evaluations=0, accuracy=0.0, cap=0.0)),
        (lambda **given: s.worst_case(Bounds(**given), 0.5), of_bounds),
        (s.worst_case, dict(bounds=bounds, radius=0.5, constraints=0)),
        (s.worst_function, dict(bounds=bounds, radius=0.5, side="lower", constraints=0)),
        (s.worst_function(bounds, 0.5).values, dict(t=[0.0])),
        (b.within, dict(bounds=bounds, tolerance=0.5, constraints=0)),
        (b.above, dict(bounds=[bounds], threshold=-0.5, constraints=0)),
        (interval_rule, dict(points, sigma=0.5, points=9, calibration_samples=5)),
        (calibrated.rule, points),
        (calibrated.interval, dict(points, x=Z, noise_id=None)),
        (calibrated.intervals, dict(points, X=X[:1])),
        (calibrated.covers, dict(points, x=Z, truth=1.0, noise_id=None)),
        (calibrated.save, dict(path=path)),
        (whole(Calibrated.load, model=model), dict(path=path, most_samples=5, inputs_seed=1)),
        (
            whole(Calibrated, model=model, X=X[:2]),
            dict(y=Y[:2], sigma=0.5, samples=5, score="norm", output=0, outputs=1, units=1,
                 most_samples=9, progress=None, seed=1, inputs_seed=2),
        ),
        (
            lambda **given: certify_rows(**{**table, "model": model, **given}),
            dict(table, X=X[:2], sigma=0.25, questions=0.5, noise_id=0, resume=None,
                 options=Options(**options)),
        ),
        (lambda **more: certify_rows(model, X[:2], 0.25, 0.5, **table, options=Options(**more)),
         options),
        (
            lambda **given: tune_scale(model, X, **{**table, **given}),
            dict(question=0.5, sigmas=[0.3], groups=[0, 0, 1], rounds=1, limit=4.0, labels=Y,
                 slack=0.1, box=1.0),
        ),
        (lambda **given: Denoised(model, **given), dict(X=X, sigma=1, scale=1, components=1)),
        (front.apply, dict(x=X[:1])),
        (front.save, dict(path=path + "w")),
        (lambda **given: Denoised.load(model=model, **given), dict(path=path + "w")),
        (
            lambda **given: compare_denoised(model, **{**table, **given}),
            dict(X=X[:2], question=0.5, sigmas=0.3, examples=X[2:], labels=Y[:2], slack=0.1,
                 scale=1, components=0, seed=1),
        ),
        (lambda **given: check_model(model, **given),
         dict(X=X, scale=1, sigma=0.1, calls=19, seed=0, progress=None)),
        (Crops, dict(image=np.ones((9, 9)), box=(0, 0, 5, 5), size=3)),
        (GainAndShift, dict(signal=[1, 2], margin=0)),
        (Combinations, dict(base=[1, 2], basis=[[1, 0]], names=["a"])),
        (Parametric, dict(model=model, make=GainAndShift([1, 2]), names=["a", "b"], back=None)),
        (Parametric(model, GainAndShift([1, 2])), dict(p=[[1, 2]])),
        (compare_radius, dict(X=X, radius=1, scale=1, step=1, kind="sound", names=["a", "b", "c"])),
        (to_json, dict(asked, run=told, certificate=certificate, flags=0)),
        (choose_sigma, dict(certificates=[[certificate]])),
        *((call, dict(labels=Y)) for call in (rows.label_errors, rows.useful_radii)),
        (e.set_deadline, dict(seconds=9)),  # last: it may end what follows
    )  # fmt: skip


def answered(call, given, name, wrong):
    """The exception of a call with a wrong argument, if there is one, is a sentence about it."""
    try:
        call(**{**given, name: wrong})
    except (CertregError, TypeError, ValueError) as error:
        assert not isinstance(error, ctypes.ArgumentError)  # which no user has to know
        assert re.search(rf"\b({name}|{OTHERS.get(name, name)})\b", str(error)), (name, wrong)
        assert not isinstance(error, TypeError) or re.search(r"\b(must|give|takes) ", str(error))


def test_every_wrong_argument_is_named(folder):
    calibrated = Calibrated(model, X, Y, 0.5, samples=5, seed=1, inputs_seed=2)
    calibrated.save("kept.npz")
    with warnings.catch_warnings(), Estimator(model, 3, 200, seed=1) as e:
        warnings.simplefilter("ignore")
        e.certify(Z, 0.25, 200, 0.5)
        for call, given in calls(e, calibrated, "kept.npz"):
            for name in given:
                for wrong in WRONG[1:4] if name in ("path", "resume") else WRONG:
                    answered(call, given, name, wrong)


# ---- docstrings, with sections as those of numpydoc, and examples, which use certreg and np
SECTIONS = "Parameters Attributes Returns Raises Examples".split()
MADE_BY_THE_PACKAGE = (Exception, list, DeviceArray)


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
    assert len(inspect.getdoc(certify_rows).splitlines()) <= 90

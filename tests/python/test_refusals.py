"""Arguments, models and results used in ways that are natural but wrong: each is answered by a
sentence that names the remedy, before the model is called. What cannot be a number, an integer or
an array at all is in test_types.py."""

import math
import re
import sys

import numpy as np
import pytest

from kit import ORIGIN, SAMPLES, X, Z, certreg, estimator, model, never, parametrize
from kit import package, root, rows_of
from certreg import ALL_OUTPUTS, Bounds, CertregError, Estimator, Inputs, Method, Question
from certreg import ResumeError, RowsError, Serving, Side, Solver, Statistic, Target
from certreg import check_model, tune_scale
from certreg.cli.report import _options
from certreg.library import in_python
from certreg.plots import shares

STATE = np.random.RandomState(0)
AS_DICT = dict(tolerance=0.5, alpha=0.1)
ONCE = (row for row in X)
TURN = Question([1] * 39 + [190])


def changed(at, value, x=X):
    """These inputs with another value at one place."""
    x = np.array(x, float)
    x[at] = value
    return x


def rows(**wrong):
    return rows_of(**{"f": never, **wrong})


def named(**wrong):
    certreg.certify_rows(never, X, 0.25, 0.5, **wrong)


def tuned(**wrong):
    more = dict(samples=500, seed=1, progress=False)
    given = dict(model=never, X=X, question=1.0, sigmas=[0.1, 0.2], **more)
    return tune_scale(**{**given, **wrong})


def asked(**wrong):
    """A question of an estimator about its record, without calls of its model."""
    with estimator(max_samples=1000) as e:
        e.begin(ORIGIN, 0.25)
        return e.certify(0, Question(**{**AS_DICT, **wrong}))


def direct(**wrong):
    return certreg.certify_rows(model, X, 0.25, **wrong)


def called(name, *arguments, **more):
    with estimator(never, max_samples=1000, check=False) as e:
        e.begin(ORIGIN, 0.25)
        return getattr(e, name)(*arguments, **more)


def checked(**wrong):
    check_model(**{"model": model, "X": X, **wrong})


def compared(**wrong):
    certreg.compare_radius(**{"X": X, "radius": 1, **wrong})


def calibrated(**wrong):
    given = dict(model=first, X=X, y=X[:, 0], sigma=0.5, samples=5)
    certreg.Calibrated(**{**given, **wrong}).close()


def interval(ask="interval", **wrong):
    """Of a calibration by 12 points."""
    given = dict(x=X[0], radius=0.05, alpha=0.2)
    with certreg.Calibrated(first, X[:12], X[:12, 0], 0.5, samples=15, seed=1) as c:
        getattr(c, ask)(**{**given, **wrong})


def chosen(call="choose_sigma", bounds={}, **wrong):
    getattr(rows_of(sigma=[0.05, 0.25], samples=50, **bounds), call)(**wrong)


def first(x):
    return x[:, 0]


def begun(values):
    with estimator(never, check=False) as e:
        e.begin(values, 0.25)


def recorded(values):
    with estimator(None) as e:
        e.begin(ORIGIN, 0.25)
        e.record(0, values)


def scaled(values):
    estimator(never, scale=values)


class Sparse:
    """Like a matrix of scipy.sparse."""

    def toarray(self):
        return X


class Client:
    """Like one of dask."""

    submit = get_executor = print


class Forgetful:
    """An executor whose tasks cannot be cancelled."""

    def submit(self, *task):
        return object()


def solved(side="lower", **bounds):
    with Solver() as s:
        s.worst_function(Bounds(1, **{"variance_hi": 1, **bounds}), 0.5, side)


with estimator() as one:
    TURNED = [one.certify_sigmas(Z, levels, 200, 0.5) for levels in ((0.1, 0.2), (0.2, 0.1))]
    MOVED = TURNED[0][0]
NO_LO = dict(range_lo=-math.inf, variance_hi=None)
VECTOR = dict(statistic="ball_center", method="baseline", output=ALL_OUTPUTS)
PUBLISHED = "one of .* (.*RS-Reg are trimmed_mean, .*)"
LOST = changed(3, np.nan, X[:, 0])
BOUNDS = "are output bounds, which have no radii"
A_NAME = "{0} is 'medain'; it must be one of .*,"
TUNED = certreg.TunedScale(X[0], 1.0, True, 1.0, 0.0, (), X[0], X[0], (), 0)
WEIGHTS = ({"0.weight": X}, "model.pt")
MASKED = np.ma.masked_greater(X, 0)
TABLE = [
    # ---- inputs of certify_rows
    (ValueError, r"X has shape \(3,\); it must be \(rows, features\)", rows, dict(x=X[0])),
    (ValueError, r"X has shape \(0, 3\)", rows, dict(x=X[:0])),
    (TypeError, "X must hold numbers", rows, dict(x=[["a", "b"]])),
    (ValueError, r"X\[17, 2\] is inf; .* finite float32", rows, dict(x=changed((17, 2), np.inf))),
    (ValueError, r"X\[17, 2\] is 1e\+300", rows, dict(x=changed((17, 2), 1e300))),
    (TypeError, r"X is sparse: give X.toarray\(\)", rows, dict(x=Sparse())),
    (TypeError, "X holds complex numbers", rows, dict(x=X + 1j)),
    (TypeError, "rows of the same length", rows, dict(x=[[1, 2], [3]])),
    (ValueError, "masked values: fill them", rows, dict(x=MASKED)),
    (TypeError, "X holds datetime64", rows, dict(x=X.astype("M8[D]"))),
    (TypeError, "X is a generator, .* give list", rows, dict(x=(row for row in X))),
    (TypeError, "X is a map, .* give list", checked, dict(X=map(list, X))),
    (TypeError, "^X is a function: the model comes before X$", rows, dict(f=X, x=model)),
    (TypeError, "^X is the Rows of certify_rows: give the inputs", compared, dict(X=rows_of())),
    (TypeError, "^labels belong to the result: give rows.label_err", rows, dict(labels=X[:, 0])),
    (TypeError, "^labels belong to the result", rows, dict(y=X[:, 0])),
    (TypeError, "^tune_scale .*give true outputs as labels", tuned, dict(y=X[:, 0])),
    (TypeError, r"TunedScale\(scale=.*: give its scale", scaled, dict(values=TUNED)),
    (ValueError, r"give np.broadcast_to\(np.reshape\(scale, \(-1, 1, 1\)\), \(3, 8, 8\)\)", rows,
     dict(x=np.zeros((2, 3, 8, 8)), scale=[1, 2, 3])),
    *((TypeError, "build the module, call its load_state_dict", rows, dict(f=f)) for f in WEIGHTS),
    (TypeError, "^X is a function: the model comes", calibrated, dict(model=X, X=model)),
    (ValueError, "X has one dim.* comes before y", calibrated, dict(X=X[:, 0], y=X)),
    *((TypeError, "X is a function: the mo", f, dict(X=model)) for f in (tuned, checked)),
    (TypeError, "X is a generator, which can be read once: give list", calibrated, dict(X=ONCE)),
    (ValueError, "sigma has 40 numbers in no order, .* labels", rows, dict(sigma=np.abs(X[:, 0]))),
    (ValueError, "questions has 40 numbers, one for each", rows, dict(questions=[0.5] * 40)),
    (ValueError, "question 1: alpha is 2;", rows, dict(questions=[0.5, Question(1, alpha=2)])),
    (ValueError, "^tolerance is 190; for an angle", rows, dict(questions=TURN, kind="angle")),
    (TypeError, "tolerance must be a number, not <gene", Question, dict(tolerance=ONCE)),
    (TypeError, "sigma is a Question: it comes", rows, dict(sigma=Question(1), questions=1)),
    # ---- the names of scikit-learn
    (TypeError, "random_state takes the place of seed: give one", rows, dict(random_state=1)),
    (TypeError, "n_jobs takes the place of jobs", rows, dict(n_jobs=1, jobs=1)),
    (TypeError, "verbose takes the place of progress", rows, dict(verbose=1)),
    (ValueError, "random_state is -1; it must be from 0", named, dict(random_state=-1)),
    (TypeError, "random_state must be an integer, not Rand", named, dict(random_state=STATE)),
    (TypeError, "verbose must be an integer", named, dict(verbose=print)),
    (ValueError, "n_jobs is -2; it must be from -1", named, dict(n_jobs=-2)),
    (ValueError, "jobs is -2; it must be from -1", rows, dict(jobs=-2)),
    (TypeError, "unexpected keyword argument 'n_job'", rows, dict(n_job=2)),
    (TypeError, "tolerance is another name of questions", direct, dict(questions=1, tolerance=1)),
    (TypeError, r"Question\(tolerance, alpha=0.1\), or tolerances as numbers", rows,
     dict(questions=[0.5, Question(0.5)], alpha=0.1)),
    (TypeError, r"give options=Options\(outputs=...\)", direct, dict(tolerance=1, outputs=2)),
    (TypeError, "an executor .* give it as jobs", direct, dict(tolerance=1, executor=None)),
    # ---- numbers of an Estimator
    *(
        (type_, f"{name} {sentence}", call, dict(values=values))
        for name, call in (("z", begun), ("y", recorded), ("scale", scaled))
        for type_, sentence, values in (
            (ValueError, "has masked values: fill them", np.ma.masked_less(X[0], 0)),
            (TypeError, "holds complex numbers", X[0] + 1j),
            (TypeError, "holds timedelta64", X[0].astype("m8[s]")),
        )
    ),
    # ---- inputs of check_model
    (ValueError, "no feature of X gets noise: give sigma", checked, dict(X=X[:1])),
    (ValueError, "no feature of X gets noise", checked, dict(scale=0)),
    *((ValueError, f"sigma is {s}; it must be pos", checked, dict(sigma=s)) for s in (-1, 0)),
    (ValueError, "calls is 18; it must be from 19", checked, dict(calls=18)),
    (ValueError, "values that are not finite", checked, dict(X=X * np.inf)),
    # ---- of compare_radius
    *(
        (ValueError, "radius must be finite", compared, dict(radius=radius))
        for radius in (-1, math.nan, math.inf)
    ),
    (ValueError, r"radius has shape \(2,\)", compared, dict(radius=[1, 2])),
    (ValueError, "several sigmas or questions", compared, dict(radius=rows_of(questions=[1, 2]))),
    (ValueError, "output bounds", compared, dict(radius=rows_of(radius=0.1))),
    (ValueError, "leave scale out", compared, dict(radius=rows_of(), scale=1)),
    (ValueError, "inputs of shape", compared, dict(radius=rows_of(), X=X[:, :2])),
    (ValueError, "scale is 0 for all", compared, dict(scale=0)),
    (ValueError, "step must hold", compared, dict(step=math.nan)),
    (ValueError, "kind is 'video'; it must be image or sound", compared, dict(kind="video")),
    (ValueError, "X has 3 features, but names has 1", compared, dict(names=["a"])),
    (ValueError, "feature 0 is missing in row 0", compared, dict(X=X * np.nan)),
    # ---- of calibrations and intervals
    (ValueError, r"y has shape \(39,\)", calibrated, dict(y=X[1:, 0])),
    (ValueError, "one column", calibrated, dict(y=X[:, :2], score="quantiles")),
    (ValueError, "score is 'mean'", calibrated, dict(score="mean")),
    (ValueError, "most_samples is 3", calibrated, dict(most_samples=3)),
    (ValueError, "row 39 of y is nan", calibrated, dict(y=np.append(X[1:, 0], np.nan))),
    (ValueError, "units", calibrated, dict(units=-1)),
    (TypeError, "no argument alpha: give radius and alpha to", calibrated, dict(alpha=0.1)),
    (ZeroDivisionError, "by zero", calibrated, dict(model=lambda x: 1 // 0)),
    (ValueError, "at least", interval, dict(radius=0.5, alpha=0.05)),
    (ValueError, "no number of points", interval, dict(radius=10.0)),
    (CertregError, "samples", interval, dict(samples=16)),
    (ValueError, "truth has shape", interval, dict(ask="covers", truth=[1, 2])),
    # ---- of the choice of sigma, labels and plots
    *(
        (ValueError, r"labels\[3\] is nan", chosen, dict(call=call, labels=LOST))
        for call in ("label_errors", "useful_radii", "choose_sigma")
    ),
    *(
        (TypeError, "an index or a name; give labels as", chosen, dict(question=wrong))
        for wrong in (X[:, 0], [1, 2], 0.0)
    ),
    (IndexError, "question is 1; .* from 0 to 0", chosen, dict(question=1)),
    (ValueError, "slack is -0.1; .*", chosen, dict(labels=X[:, 0], slack=-0.1)),
    (ValueError, BOUNDS, chosen, dict(bounds=dict(radius=0.1))),
    (ValueError, BOUNDS, chosen, dict(call="useful_radii", bounds=dict(radius=0.1), labels=LOST)),
    (ValueError, "'mine' has radii of shape", shares, dict(radii=[], correct=True, name="mine")),
    (ValueError, "2 radii, but 3 values", shares, dict(radii=[1, 2], correct=[True] * 3)),
    *(
        (ValueError, r"correct has shape .*\(40, 2, 1\).* path=", chosen, more)
        for more in (dict(call="plot", correct="r.png"), dict(call="plot", correct=[True] * 5))
    ),
    # ---- sigmas, questions and plans of certify_rows
    *(
        (ValueError, "sigma is .*; it must be positive", rows, dict(sigma=s))
        for s in (0, -1, math.nan, math.inf)
    ),
    (ValueError, "several different .*: give noise per", rows, dict(sigma=[0.25, 0.25])),
    (TypeError, "not {'a': 1}: give noise per feature as scale", rows, dict(sigma={"a": 1})),
    (ValueError, "one number or several", rows, dict(sigma=[])),
    (ValueError, "questions is empty", rows, dict(questions=[])),
    (ValueError, "tolerance", rows, dict(questions=Question(-1))),
    (ValueError, "lo and hi", rows, dict(questions=Question(1, statistic="mean"))),
    (ValueError, "samples is 0", rows, dict(samples=0)),
    ((ValueError, CertregError), "pilot", rows, dict(pilot=300)),
    (ValueError, "domain is 'attic'; it must be one of certify", rows, dict(domain="attic")),
    (ValueError, "domain 'intervals' is for Calibrated alone", rows, dict(domain="intervals")),
    (ValueError, "kind is 'turn'", rows, dict(kind="turn")),
    (ValueError, "model is None", rows, dict(f=None)),
    (TypeError, "jobs must be an integer, not 'all', or an executor", rows, dict(jobs="all")),
    (TypeError, "get_executor", rows, dict(jobs=Client())),
    (TypeError, "executor.submit returned object; .* `cancel`", rows, dict(jobs=Forgetful())),
    (TypeError, r"options must be certreg.Options\(...\), not {}", rows, dict(options={})),
    (ValueError, "on_crash is 'go'; it must be 'stop' or 'skip'", rows, dict(on_crash="go")),
    (TypeError, "resume must be the path of a file, not True", rows, dict(resume=True)),
    (ResumeError, "resume is empty: give the path of a file", rows, dict(resume="")),
    (ResumeError, "/none/r/ cannot be written", rows, dict(resume="/none/r/")),
    (ResumeError, "there is no folder", rows, dict(resume="/none/r")),
    *((ResumeError, "name too long", rows, dict(resume="r" * 300 + end)) for end in ("", "/")),
    (ValueError, "noise_id is 9223372036854775800; the ids of all", rows, dict(noise_id=2**63 - 8)),
    (ValueError, "bonferroni times the number", rows,
     dict(questions=Question(0.5, bonferroni=2**53), sigma=[0.25, 0.5])),
    (ValueError, "constraints of the estimator", rows,
     dict(questions=Question(0.5, constraints="ECGM"), constraints="ECM")),
    (ValueError, "question 1 is about a vector.* Estimator.prediction .* or give prediction", rows,
     dict(questions=[0.5, Question(9, **VECTOR)], outputs=2)),
    # ---- tune_scale
    (ValueError, "X has 11 rows; give at least 12", tuned, dict(X=X[:11])),
    (ValueError, r"groups has shape \(4,\)", tuned, dict(groups=[1, 2, 3, 4])),
    (TypeError, "groups must hold names or whole", tuned, dict(groups=[math.nan] * 3)),
    (ValueError, "65 groups; give at most 64", tuned, dict(X=np.ones((12, 65)))),
    (ValueError, "scale must hold finite", tuned, dict(scale=[1, 1, math.inf])),
    (ValueError, r"scale has shape \(4,\)", tuned, dict(scale=[1, 1, 1, 1])),
    (ValueError, "limit is 1;", tuned, dict(limit=1)),
    (ValueError, "rounds is 0", tuned, dict(rounds=0)),
    (TypeError, "sigmas must be a number, not Question", tuned, dict(sigmas=Question(0.5))),
    (TypeError, "questions holds an array", tuned, dict(question=[0.1, 0.2])),
    (ValueError, r"labels has shape \(3,\)", tuned, dict(labels=[1, 2, 3])),
    (ValueError, r"labels\[0\] is nan; it must be finite", tuned, dict(labels=[math.nan] * 40)),
    (ValueError, "slack is -1", tuned, dict(slack=-1)),
    (ValueError, "about all outputs", tuned, dict(question=Question(1, output=-1))),
    (ValueError, "has a target", tuned, dict(question=Question(1, target=0.1))),
    (ValueError, "output is 1", tuned, dict(question=Question(1, output=1), model=model)),
    *(
        (TypeError, name, tuned, {name: value})
        for name, value in dict(resume="f", domain="certify", radius=0.1, noise_id=3).items()
    ),
    (ValueError, "no output leaves", tuned, dict(model=lambda x: np.ones(len(x)))),
    (ValueError, "no input is certified", tuned, dict(model=lambda x: 1e4 * model(x))),
    (ValueError, "fail at every sigma, the first because row 0: .*output 0 is nan", tuned,
     dict(model=lambda x: np.full(len(x), np.nan))),
    # ---- names of questions and estimators
    *(
        (ValueError, A_NAME.format(field), Question, {"tolerance": 1, field: "medain"})
        for field in ("statistic", "method", "center", "constraints")
    ),
    *(
        (ValueError, f"{name} is .*must be one of", Question, {"tolerance": 1, name: value})
        for name, value in (
            ("method", Statistic.MEAN),  # members of another enum
            ("statistic", Method.ANYTIME),
            ("center", Side.UPPER),
            ("constraints", Method.ANYTIME),
        )
    ),
    *(
        (ValueError, "one for all inputs, because", Question, dict(tolerance=1, statistic=name))
        for name in ("best", "Auto")
    ),
    *(
        (ValueError, r"C, CG, ECM, .* \(E,C,G\)\+M", Question, dict(tolerance=1, constraints=c))
        for c in ("by_pilot", "best", "(C,Q)")
    ),
    *(
        (ValueError, PUBLISHED, Question, {"tolerance": 1, field: name})
        for name in ("alpha_smoothing", "RS-Reg", "median_smoothing", "center smoothing")
        for field in ("statistic", "method")
    ),
    (ValueError, "one of median, huber, ", Question, dict(tolerance=1, statistic="medain")),
    (ValueError, "give statistic='mean' and", Question, dict(tolerance=1, method="paper")),
    (ValueError, "kind is 'turn'; it must be one of real, angle", estimator, dict(kind="turn")),
    (CertregError, "has unknown bits", asked, dict(constraints=1 << 30)),
    # ---- integers that do not fit, and seeds of zero, which would not repeat
    *(
        (ValueError, "it must be from", asked, wrong)
        for wrong in (
            dict(bonferroni=2**64),
            dict(bonferroni=-1),
            dict(output=2**32),
            dict(output_count=-1),
            dict(serving=Serving(-1, 0.1)),
            dict(target=Target(0.1, looks=(-1,))),
        )
    ),
    *((ValueError, "seed", estimator, dict(seed=seed)) for seed in (-1, 2**64)),
    *(
        (ValueError, r"seed is 0; .* from 1", call, more)
        for call, more in (
            (estimator, dict(seed=0)),
            (rows_of, dict(seed=0)),
            (certreg.Calibrated, dict(model=model, X=X, y=X[:, 0], sigma=0.25, seed=0)),
        )
    ),
    # ---- bounds, worst functions, levels and certificates that are moved
    (ValueError, "mean_lo and mean_hi .* together$", solved, dict(mean_lo=0)),
    (ValueError, "; give gradient_lo=0 if only an upper bound", solved, dict(gradient_hi=0.25)),
    (ValueError, "side is 'down'", solved, dict(side="down")),
    (CertregError, "side", solved, dict(side=3)),
    (CertregError, "without a bound", solved, dict(mean_lo=0, mean_hi=0, range_hi=1, **NO_LO)),
    (CertregError, "same noise levels", certreg.choose_sigma, dict(certificates=TURNED)),
    (ValueError, "for each level", certreg.choose_sigma, dict(certificates=TURNED + [[MOVED]])),
    (ValueError, "direction has shape", called, dict(name="attack", question=1, direction=[1, 2])),
    *((ValueError, "to has shape", MOVED.moved, dict(z=Z, to=to)) for to in ([Z], 1.0)),
    # ---- targets
    (CertregError, "must exceed", asked, dict(target=Target(0.1, looks=(250, 100)))),
    (CertregError, "len.target.looks", asked, dict(target=Target(0.1, looks=()))),
    # ---- shapes
    *(
        (ValueError, name, estimator, {name: value})
        for name, value in dict(scale=[1, 2], lo=[1, 2], kind=[0, 0, 0]).items()
    ),
]


@parametrize("error, sentence, call, wrong", *TABLE)
def test_arguments(error, sentence, call, wrong):
    with pytest.raises(error, match=sentence) as caught:
        call(**wrong)
    assert "\n" not in str(caught.value)


NOT_ASKED = "no question or no noise level"
NOT_FLAT = np.array([1.5, "house", None] * 9, object).reshape(3, 9)


@parametrize(
    "error, sentence, call, arguments",
    (TypeError, "^z must hold numbers, not [^\n]*$", "begin", (NOT_FLAT, 0.25)),
    (ValueError, "it must be from", "certify", (-1, 0.5)),
    (ValueError, "it must be from", "sample", (-1, 1)),
    *((ValueError, "it must be from", "begin", (Z, 0.25, i)) for i in (-1, 2**64)),
    *((ValueError, "z has shape|it must be", "begin", (z, 0.25)) for z in ([1, 2], 1.0, [])),
    (ValueError, "z has shape", "begin", (np.zeros((2, 3)), 0.25)),
    (CertregError, "sigma", "begin", (Z, -1)),
    (ValueError, NOT_ASKED, "certify", (ORIGIN, 0.25, 1000)),
    (ValueError, NOT_ASKED, "certify_sigmas", (ORIGIN, [], 1000, 0.5)),
    *(
        (TypeError, "total_samples", "certify", arguments)
        for arguments in ((), (ORIGIN,), (ORIGIN, 0.25), ([],))
    ),
    (TypeError, "Serving", "certify", (0, Question(0.5, serving=(101, 0.01)))),
    (CertregError, "target", "forecast", (0.4,)),
    (CertregError, "at least", "attack", (0.8, 3)),
    (CertregError, "Method", "attack", (Question(0.8, method="baseline"), 500)),
    (CertregError, "target", "output_bounds", (0, 0.1, Question(1, target=0.1))),
    *((CertregError, "radius", "output_bounds", (0, r, 1)) for r in (0, -1, math.nan)),
)
def test_calls_of_an_estimator(error, sentence, call, arguments):
    with pytest.raises(error, match=sentence):
        called(call, *arguments)


# ---- outputs
@parametrize(
    "sentence, f",
    ("returned .*; it must return real numbers", lambda x: ["a"] * len(x)),
    ("returned .*; it must return real numbers", lambda x: model(x) + 1j),
    ("kind: .* outputs=2, .* outputs=1 and kind='angle_pair'", lambda x: x[:, :2]),
    ("by the arguments outputs and kind;", lambda x: x[1:, :1].sum()),
    (r"the model returned shape \(4, 3\)", lambda x: x),
    ("the model raised SystemExit: 3", lambda x: sys.exit(3)),
)
def test_outputs_of_a_wrong_kind_or_number(sentence, f):
    with pytest.raises(RowsError, match=sentence):
        rows_of(f)


@parametrize("answer", lambda x: x, lambda x: x[:-1, 0], lambda x: 1.0, lambda x: None)
def test_outputs_of_a_wrong_shape(answer):
    with estimator(answer) as e, pytest.raises((ValueError, TypeError)):
        e.certify(Z, 0.25, SAMPLES, 0.5)
    with estimator(None) as e, pytest.raises(ValueError):
        e.begin(Z, 0.25)
        e.record(0, np.zeros((4, 2)))
    with estimator(lambda x: np.ma.masked_greater(x[:, 0], 1)) as e:
        with pytest.raises(ValueError, match="masked values: fill them, with NaN"):
            e.certify(Z, 0.25, SAMPLES, 0.5)
        with pytest.raises(TypeError, match="noise_id"):  # it begins something
            e.certify(SAMPLES, 0.5, noise_id=1)
    assert rows_of(x=np.ma.masked_greater(X, 99))["radius"].shape == (40, 1, 1)  # nothing is hidden
    assert len(rows_of(lambda x: x[:, :2], outputs=2)) == 40

# ---- results
@parametrize(
    "wrong, sentence",
    ((40,), "row is 40; it must be an index from 0 to 39"),
    ((0, 2), "question is 2; .* 0 to 1"),
    ((0, True), "question is True; .* 0 to 1"),
    ((0, 0, 0.25), "sigma is 0.25; .* 0 to 0"),
)
def test_certificates_by_indices(wrong, sentence):
    rows = rows_of(questions=[0.5, 0.1])
    assert rows.certificate(-1).noise_id == 39
    with pytest.raises(IndexError, match=sentence):
        rows.certificate(*wrong)


def test_certificates_by_labels_of_rows():
    frame = package("pandas").DataFrame(X, index=[f"house {i}" for i in range(40)])
    with pytest.raises(IndexError, match=r"row is 'house 3'; .*: rows.index.get_loc\(label\) is"):
        rows_of(lambda x: x[0], frame).certificate("house 3")


@parametrize(
    "wrong, error, sentence",
    (lambda rows: rows.plot(also=X), TypeError, "also must be a dict of radii by name"),
    (lambda rows: rows.plot(also={"a": rows}), TypeError, "also must be a dict of radii by name"),
    (lambda rows: rows.plot(question=0), TypeError, r"for one give plot_radii\({'mine': rows\['"),
    (lambda rows: rows.certificate(0, "a"), IndexError, "question is 'a': .* of 0, the only one$"),
    (lambda rows: rows[rows["radius"] > 0], IndexError, "a flag for each of the 40 rows, such as"),
    (lambda rows: certreg.certify_rows(never, X, 1, 1, Z), TypeError, "other arguments by name$"),
    (lambda rows: certreg.SmoothedRegressor, AttributeError, "it is in certreg.regressor$"),
    (lambda rows: rows.report("r.pdf"), ValueError, "'r.pdf'; .* let its name end with .html"),
    (lambda rows: Inputs(X), TypeError, r"Inputs.of\(model, X\) describes inputs"),
    (lambda rows: Estimator(model, X[0], 9), TypeError, r"the shape of an input, X.shape\[1:\]"),
)
def test_what_users_try_first(wrong, error, sentence):
    with pytest.raises(error, match=sentence):
        wrong(rows_of())


def test_files_of_rows_with_the_name_of_a_table(folder):
    rows = rows_of()
    with pytest.warns(UserWarning, match=r"r.csv is written in the format .npz: .* to_frame\(\)"):
        rows.save("r.csv")
    with pytest.warns(UserWarning, match="i.csv is written in the format .json: let its name end"):
        rows.inputs.save("i.csv")
    assert str(certreg.Rows.load("r.csv")) == str(rows)
    np.save("x.npy", np.array([None]), allow_pickle=True)
    with pytest.raises(ValueError, match="x.npy is no file of rows: it is no .npz file"):
        certreg.Rows.load("x.npy")
    for field in (3, "radii"):
        with pytest.raises(KeyError, match=r"no field .*certificate\(row\)"):
            rows[field]
    assert repr(rows) == str(rows)  # a prompt shows the table


# ---- sentences of the library say what Python and the command line call things
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
    ("question.target->radius is -1 (no target: NULL)", "target.radius is -1 (no target: None)",
     "--target is -1 (no target: None)"),
    ("options.calls is 50", "calls is 50", "--calls is 50"),
    (
        "question.method: for an attack use CERTREG_METHOD_FINITE, _ASYMPTOTIC or _ANYTIME",
        "method: for an attack use Method.FINITE, Method.ASYMPTOTIC or Method.ANYTIME",
        "--method: for an attack use --method finite, --method asymptotic or --method anytime",
    ),
    ("declare model.lo and model.hi, or use CERTREG_PLAN_COUNT_FAILURES",
     "declare lo and hi, or use PLAN_COUNT_FAILURES", "declare --range, or use --count-failures"),
    ("give one of CERTREG_SCORE_...", "give one of norm, largest, quantiles", None),
    ("model.eval is NULL: use certreg_estimator_draw", "model is None: use draw", None),
)
def test_names_are_those_of_arguments_and_members(told, python, command):
    assert in_python(told) == python
    assert command in (None, _options.translate(told))


@parametrize("path", "/_a/certreg_x/plan.flags/m.so", "certreg_cuda.so", "_build/m", ".b/m.so")
def test_paths_stay(path):
    told = f"the CUDA module cannot be opened: {path}: NULL"
    assert in_python(told) == told.replace("NULL", "None")

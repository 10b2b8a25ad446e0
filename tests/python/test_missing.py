"""Missing cells of tables: the model gets them, they get no noise, and certificates are about
inputs with the same missing cells."""

import json

import numpy as np
import pytest

import kit
from kit import bits, certreg, command_refused, package, parametrize, read, said, write
from certreg import Calibrated, CertregError, Denoised, Estimator, Question, ResumeError, Rows
from certreg import Status, certify_rows
from certreg.rows import grouped

RNG = np.random.default_rng(8)
WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0])
INSTEAD = np.array([0.3, 0.1, -0.7, 0.2])  # the model's values of missing cells
SCALE = np.array([1.0, 0.5, 2.0, 0.25])
X = RNG.normal(size=(60, 4)).astype(np.float32)
X[RNG.random(X.shape) < 0.3] = np.nan
X[np.isnan(X).all(axis=1)] = 1
LOST = np.uint32(0x7FC12345).view(np.float32)  # a NaN with bits of its own
X[3] = [LOST, 1, LOST, 1]
EMPTY = np.float32([[np.nan] * 4])
ASKED = dict(samples=400, seed=3, scale=SCALE, progress=False)
REFUSED = "all cells that get noise are missing: no change"


def linear(x):
    return np.where(np.isnan(x), INSTEAD, x) @ WEIGHTS


def rows_of(x=X, model=linear, tolerance=0.5, sigma=0.3, **more):
    return certify_rows(model, x, sigma, tolerance, **grouped({**ASKED, **more}))


def masked(z, seed=3, **more):
    """An estimator with scale 0 for the missing cells of z, with a number in each, and the number
    that the model computes with is another one."""
    lacks = np.isnan(z)
    model = lambda x: linear(np.where(lacks, np.nan, x))  # noqa: E731
    return Estimator(model, 4, 400, seed=seed, scale=np.where(lacks, 0, SCALE), **more)


def test_a_missing_cell_is_a_feature_of_scale_0():
    rows = rows_of(batch=400)
    for i, z in enumerate(X):
        with masked(z) as e:
            c = e.certify(np.nan_to_num(z), 0.3, 400, 0.5, noise_id=i)
        found = rows.certificate(i)
        assert (found.prediction, found.estimate) == (c.prediction, c.estimate)
        assert found.radius == pytest.approx(c.radius, rel=1e-6) and found.radius > 0
        assert found.radius < 0.5 / np.linalg.norm(np.where(np.isnan(z), 0, WEIGHTS * SCALE))
        assert found.radius_l2 <= c.radius_l2 and found.radius_linf <= c.radius_linf


@parametrize("more", {}, dict(jobs=2), dict(batch=900), dict(batch=400))
def test_rows_share_calls_whatever_they_lack(more):
    """And the model gets the bits of the missing cells."""
    patterns = {row.tobytes() for row in np.where(np.isnan(X), X.view(np.uint32), 0)}

    def model(x):
        bits = np.where(np.isnan(x), x.view(np.uint32), 0)
        assert {row.tobytes() for row in bits} <= patterns
        return linear(x)

    rows = rows_of(model=model, **more)
    assert bits(rows) == bits(rows_of(batch=400))


def test_the_gradient_is_about_the_function_of_the_other_cells():
    question = Question(0.5, statistic="mean", constraints="ecgm")
    x, clipped = X[:6], lambda x: linear(x).clip(-5, 5)
    rows = rows_of(x, clipped, question, lo=-5.0, hi=5.0, samples=8000)
    longest = 0.5 / np.linalg.norm(np.where(np.isnan(x), 0, WEIGHTS * SCALE), axis=1)
    assert (rows.radius < longest).all() and rows.radius.any()


# ---- rows that lack everything, and results
def test_a_row_without_a_cell_with_noise_fails_alone():
    x = np.r_[X[:4], EMPTY, X[5:9]]
    rows = rows_of(x)
    assert list(rows.errors) == [(4, 0)] and REFUSED in rows.errors[4, 0]
    assert rows["status"][4] == Status.INVALID and rows.radius[4] == 0
    good = np.arange(9) != 4
    assert bits(rows[good]) == bits(rows_of(X[:9])[good])
    with Estimator(linear, 4, 400, scale=[1, 0, 0, 0]) as e:
        z = [np.nan, 1, 1, 1]
        for call in (lambda: e.certify(z, 0.3, 400, 0.5), lambda: e.certify_sigmas(z, [1], 400, 1)):
            with kit.refused(Status.INVALID, REFUSED):
                call()
        e.begin(z, 0.3)
        e.sample(0, 400)
        assert e.estimate(0.5) == pytest.approx(linear(np.array(z)))  # there is no noise


def test_results_name_the_missing_cells(tmp_path):
    rows = rows_of(X[:4], scale=[1, 1, 0, 1])
    text = "cells are missing in {} of 4 rows, in {}: their certificates are about inputs with the "
    lacks = np.isnan(X[:4]) & [True, True, False, True]
    features = ", ".join(f"feature {j}" for j in np.flatnonzero(lacks.any(axis=0)))
    text = text.format(lacks.any(axis=1).sum(), features)
    assert text in str(rows) and text in rows._repr_html_()
    assert [line["missing"] for line in rows.to_dicts()][3] == "feature 0"
    assert {line["exact"] for line in rows.to_dicts()} == {"feature 2"}
    assert (rows.missing == lacks).all() and (rows[[3, 1]].missing == lacks[[3, 1]]).all()
    rows.save(tmp_path / "r.npz")
    assert (Rows.load(tmp_path / "r.npz").missing == lacks).all()
    whole = rows_of(np.nan_to_num(X[:4]))
    assert whole.missing is None and "missing" not in str(whole) + str(whole.to_dicts())


# ---- runs that go on, and records
@parametrize("name", "r.sqlite", "folder/")
def test_a_run_goes_on_with_the_same_missing_cells_only(name, tmp_path):
    kept = dict(resume=str(tmp_path) + "/" + name, keep_records=True)
    stop = kit.raising(3, KeyboardInterrupt, linear)
    with pytest.raises(KeyboardInterrupt):
        rows_of(model=stop, check=False, batch=400, **kept)
    rows = rows_of(batch=400, **kept)
    assert bits(rows) == bits(rows_of(batch=400))
    assert (rows.missing == np.isnan(X)).all()
    fewer, moved = X.copy(), X.copy()
    fewer[np.argwhere(np.isnan(X))[0][0]] = 0
    moved[3] = X[3, [1, 0, 2, 3]]
    for other in (fewer, moved, np.nan_to_num(X)):
        with pytest.raises(ResumeError, match="X"):
            rows_of(other, batch=400, **kept)
    again = rows_of(model=None, batch=400, tolerance=0.7, **kept)
    whole = rows_of(batch=400, tolerance=0.7)
    assert bits(again) == bits(whole)


def test_a_record_is_of_its_missing_cells():
    z, other = [np.nan, 1, 2, np.nan], [1, np.nan, 2, np.nan]
    with Estimator(linear, 4, 400, seed=3) as e:
        c = e.certify(z, 0.3, 400, 0.5, noise_id=0)
        record = e.export()
        for wrong in (other, np.nan_to_num(z), np.float32([1e-38, 1, 2, np.nan])):
            e.begin(wrong, 0.3, 0)
            with kit.refused(Status.MISMATCH):
                e.import_(record)
        e.begin(z, 0.3, 0)
        e.import_(record)
        assert kit.same(e.certify(0, 0.5), c)
        near = np.add(z, [0, 0.01, 0, 0])
        assert 0 < c.moved(z, near).radius < c.radius
        with pytest.raises(ValueError, match="lack different cells"):
            c.moved(z, np.nan_to_num(z))


# ---- estimators
def test_an_estimator_puts_missing_cells_back_wherever_it_draws():
    z = np.float32([np.nan, 1, 2, 3])
    with Estimator(linear, 4, 400, seed=3) as e:
        first, second = e.certify_sigmas(z, [0.2, 0.3], 400, 0.5, noise_id=0)
        e.begin(z, 0.3, 0, level=2)
        assert certreg.Dependence.NONE == e.model_check()
        x = e.draw(0, 400)
        assert np.isnan(x[:, 0]).all() and np.isfinite(x[:, 1:]).all()
        e.record(0, linear(x))
        assert kit.same(e.estimate(0.5), second.estimate) and first.radius > 0
        for call in (lambda: e.attack(0.5, 500), lambda: e.gradient(0.5, "below")):
            with kit.refused(Status.INVALID, "are missing in the input: give their features scale"):
                call()
        with pytest.raises(CertregError):
            e.begin([1, 2, 3, np.inf], 0.3)
        e.begin([1, 2, 3, 4], 0.3)
        assert np.isfinite(e.draw(0, 5)).all()
    with Estimator(linear, 4, 3000, seed=3, scale=[0, 1, 1, 1]) as e:
        e.certify(z, 0.3, 3000, 0.5)
        found = e.attack(0.5, 3000)
        assert found.broken and found.shift[0] == 0


def test_arrays_of_more_dimensions_have_no_missing_cells():
    images = np.where(np.arange(40).reshape(10, 2, 2) == 7, np.nan, 1)
    with pytest.raises(ValueError, match=r"X\[1, 1, 1\] is nan; it must be a finite float32"):
        certify_rows(kit.never, images, 0.3, 0.5)
    with kit.refused(Status.INVALID, "feature 3 of z is nan; the input must be finite"):
        Estimator(kit.never, (2, 2), 100).begin(images[1], 0.3)


def test_a_denoiser_needs_each_feature_with_noise():
    examples = RNG.normal(size=(60, 4))
    denoised = Denoised(linear, examples, 0.3, [1, 1, 1, 0])
    known = np.where([False, False, False, True], X, np.nan_to_num(X))
    found = rows_of(known, denoised, scale=[1, 1, 1, 0])
    assert not found.errors and found.missing is None
    for call in (
        lambda: rows_of(X, denoised, scale=[1, 1, 1, 0]),
        lambda: Estimator(denoised, 4, 100, scale=[1, 1, 1, 0]).begin(X[3], 0.3),
        lambda: certreg.compare_denoised(linear, X, [0.3], 0.5, examples=examples),
    ):
        with pytest.raises(ValueError, match=r"X\[\d, \d\] is missing, and the denoiser mixes it"):
            call()


# ---- models and tables
def tables(count=300):
    """Tables of houses with missing sizes, floors and names of the heating; and prices."""
    pandas = package("pandas")
    r = np.random.default_rng(1)
    frame = pandas.DataFrame({
        "size": r.normal(90, 20, count).round(1),
        "floors": pandas.array(r.integers(1, 9, count), "Int64"),
        "heat": r.choice(["gas", "oil"], count).astype(object),
    })  # fmt: skip
    price = 2 * frame["size"] + 8 * frame["floors"].astype(float) + 30 * (frame["heat"] == "gas")
    frame.loc[::7, "size"] = np.nan
    frame.loc[::5, "floors"] = pandas.NA
    frame.loc[::11, "heat"] = None
    return frame, price.to_numpy()


def pipeline():
    package("sklearn")
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    encoder = OneHotEncoder(handle_unknown="ignore")
    steps = (SimpleImputer(), ["size", "floors"]), (encoder, ["heat"])
    return make_pipeline(make_column_transformer(*steps), Ridge())


def test_pipelines_get_what_they_were_fitted_to():
    frame, price = tables()
    frame = frame.astype({"floors": "Float64"}).assign(floors=lambda f: f["floors"].astype(float))
    model = pipeline().fit(frame, price)
    rows = certify_rows(model, frame[:20], 0.05, 20, scale="std", samples=400, progress=False)
    assert list(rows.errors) == [(0, 0)] and REFUSED in rows.errors[0, 0]
    assert np.allclose(rows.prediction[1:], model.predict(frame[1:20]), atol=3)
    assert rows.missing[:, 2].sum() == 0 and rows.missing[0, :2].all()
    assert {line["missing"] for line in rows.to_dicts()} == {"", "size", "floors", "size, floors"}


@parametrize("kind", "Int64", "Float64", "Float32", "float32", "float64")
def test_dtypes_keep_what_is_missing(kind):
    pandas, seen = package("pandas"), []
    value = [1.0, None, 3.0]
    frame = pandas.DataFrame({"a": pandas.array(value, kind) if kind[0] in "IF" else value})
    frame = frame.astype({"a": kind}).assign(b=[1.5, 2.5, 3.5])

    def model(x):
        seen.append((x["a"].dtype, x["a"].isna().all()))
        return x["a"].fillna(0).to_numpy(float) + x["b"].to_numpy()

    more = dict(samples=100, batch=100, progress=False)
    rows = certify_rows(model, frame, 0.1, 0.5, **more)
    assert {missing for _, missing in seen} == {True, False}
    assert {str(dtype) for dtype, _ in seen} == {"float64" if kind == "Int64" else kind}
    assert rows.missing.tolist() == [[False, False], [True, False], [False, False]]
    with Estimator(model, frame, 100) as e:
        e.begin(frame.iloc[[1]], 0.1)
        assert e.draw(0, 10)["a"].isna().all()


def boosted(name, x, y):
    place, _, kind = name.rpartition(".")
    more = {"verbose": -1} if kind[0] == "L" else {}
    return getattr(package(place), kind)(**more).fit(x, y)


@parametrize(
    "name", "sklearn.ensemble.HistGradientBoostingRegressor", "lightgbm.LGBMRegressor",
    "xgboost.XGBRegressor",
)  # fmt: skip
def test_boosted_trees_take_missing_cells(name):
    x = np.tile(X, (10, 1)) + RNG.normal(size=(600, 4)).astype(np.float32) / 9
    model = boosted(name, x, linear(x))
    rows = rows_of(X[:20], model, 4.0, 0.1)
    assert not rows.errors and (rows.radius > 0).mean() > 0.8
    assert np.abs(rows.prediction - linear(X[:20])).mean() < 1.5
    found = certreg.check_model(model, X, scale=SCALE)
    assert not [f for f in found if f.kind not in ("radius", "float32")], found


def test_scales_and_tuning_leave_missing_cells_out():
    frame = package("pandas").DataFrame(X, columns=list("abcd"))
    quartiles = np.nanquantile(X, [0.25, 0.75], axis=0)
    for kind, wanted in (("std", np.nanstd(X, 0)), ("iqr", np.ptp(quartiles, 0))):
        assert np.allclose(certreg.feature_scale(X, kind), wanted, rtol=1e-5)
        assert np.allclose(certreg.feature_scale(frame, kind), wanted, rtol=1e-5)
    t = certreg.tune_scale(linear, X, [0.3], 0.5, samples=200, seed=1, progress=False)
    assert t.factors[2] > t.factors[3]


# ---- intervals
@parametrize("radius", 0.0, 0.1)
def test_intervals_hold_for_points_with_missing_cells(radius):
    r = np.random.default_rng(2)
    x = r.normal(size=(700, 4)).astype(np.float32)
    x[r.random(x.shape) < 0.3] = np.nan
    x[np.isnan(x).all(axis=1)] = 1
    y = linear(x) + 0.3 * r.normal(size=700) * (1 + np.isnan(x).sum(axis=1))
    shift = radius * 0.999 * SCALE * np.sign(WEIGHTS) / 2  # of this norm, at most
    with Calibrated(linear, x[:400], y[:400], 0.3, scale=SCALE, seed=1, inputs_seed=2) as c:
        found = c.intervals(x[400:] + shift, radius, 0.1)
        assert np.mean([truth in one for truth, one in zip(y[400:], found)]) > 0.86
        assert linear(EMPTY[0]) in c.interval(EMPTY[0], radius)


# ---- the estimator of scikit-learn
def test_a_smoothed_regressor_takes_missing_cells():
    frame, price = tables()
    frame = frame.assign(floors=frame["floors"].astype(float))
    from certreg.regressor import SmoothedRegressor

    model = SmoothedRegressor(pipeline(), sigma=0.1, random_state=1).fit(frame, price)
    assert np.allclose(model.predict(frame[:12]), model.regressor_.predict(frame[:12]), atol=9)
    rows = model.certify(frame[:12], 20, samples=400)
    assert rows.missing[0, 0] and rows.missing[5, 1] and (rows.radius[1:] > 0).all()
    assert list(rows.errors) == [(0, 0)]
    ends = model.predict_interval(frame[:12], alpha=0.2)
    assert (ends[:, 0] < ends[:, 1]).all()
    trees = boosted("sklearn.ensemble.HistGradientBoostingRegressor", X, linear(X))
    plain = SmoothedRegressor(trees, random_state=1).fit(X, linear(X))
    assert plain.certify(X[:5], 5.0).missing.any() and np.isfinite(plain.predict(X[:5])).all()
    weighted = SmoothedRegressor(trees, random_state=1).fit(X, linear(X), np.ones(60))
    assert np.allclose(weighted.scale_, plain.scale_)


# ---- the command
TABLE = "size,lot,age\n1,2,3\n4,,6\n,,9\n2, ,1\n,,\n"
MODEL = "import numpy as np\ndef f(x): return np.nan_to_num(x).sum(axis=1)\n"
document = lambda *words: json.loads(said(*words, "--json", "-q")[0])  # noqa: E731
AT = ("--sigma", ".1", "--tolerance", "1", "--samples", "300", "--seed", "1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write("summed.py", MODEL)
    write("x.csv", TABLE)


def test_empty_cells_of_a_file_are_missing(folder):
    out, err = said("certify", "summed.py:f", "x.csv", *AT, "-o", "r.csv", status=1)
    lines = read("r.csv")
    assert [line["missing"] for line in lines] == ["", "lot", "size, lot", "lot", "size, lot, age"]
    predictions = [float(line["prediction"]) for line in lines[:4]]
    assert predictions == pytest.approx([6, 10, 9, 3], abs=0.1)
    assert REFUSED in lines[4]["error"]
    assert "cells are missing in 4 of 5 rows, in size, lot, age: their certificates are" in out
    write("x.csv", "1,2\n,3\n")
    found = document("certify", "summed.py:f", "x.csv", *AT)
    assert found["summary"][0]["certified"] == 2
    out, err = said("attack", "summed.py:f", "x.csv", *AT, status=1)
    assert "the first in row 1: cells that get noise are missing" in err
    write("x.csv", "1,2,\n3,4,\n")
    command_refused(2, "has nothing in column 3: leave", "certify", "summed.py:f", "x.csv", *AT)
    write("x.csv", "a,b\n1,2\n3,NA\n")
    command_refused(2, "'NA' in line 3", "certify", "model.txt", "x.csv", *AT)


def test_files_of_trees_take_empty_cells(folder):
    booster = boosted("lightgbm.LGBMRegressor", X, linear(X)).booster_
    booster.save_model("model.txt")
    write("x.csv", "a,b,c,d\n1,,1,1\n.5,.5,,1\n")
    found = document("certify", "model.txt", "x.csv", *AT)
    assert found["summary"][0]["rows"] == 2 and found["summary"][0]["failed"] == 0

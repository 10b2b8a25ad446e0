"""Missing cells of tables: the model gets them, they get no noise, and certificates are about
inputs with the same missing cells."""

import json

import numpy as np
import pytest

import kit
from kit import bits, certreg, command_refused, package, parametrize, read, said, write
from certreg import Calibrated, CertregError, Denoised, Estimator, ResumeError, Rows
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


def test_a_missing_cell_is_a_feature_of_scale_0():
    """With any number in it, and with the number that the model computes with."""
    rows = rows_of(batch=400)
    for i, z in enumerate(X[:20]):
        lacks = np.isnan(z)
        model = lambda x: linear(np.where(lacks, np.nan, x))  # noqa: E731, B023
        with Estimator(model, 4, 400, seed=3, scale=np.where(lacks, 0, SCALE)) as e:
            c = e.certify(np.nan_to_num(z), 0.3, 400, 0.5, noise_id=i)
        found = rows.certificate(i)
        assert (found.prediction, found.estimate) == (c.prediction, c.estimate)
        assert found.radius == pytest.approx(c.radius, rel=1e-6) and found.radius > 0
        assert found.radius < 0.5 / np.linalg.norm(np.where(lacks, 0, WEIGHTS * SCALE))
        assert found.radius_l2 <= c.radius_l2 and found.radius_linf <= c.radius_linf


@parametrize("more", {}, dict(batch=900), dict(batch=400))
def test_rows_share_calls_whatever_they_lack(more):
    """And the model gets the bits of the missing cells."""
    patterns = {row.tobytes() for row in np.where(np.isnan(X), X.view(np.uint32), 0)}

    def model(x):
        bits = np.where(np.isnan(x), x.view(np.uint32), 0)
        assert {row.tobytes() for row in bits} <= patterns
        return linear(x)

    rows = rows_of(model=model, **more)
    assert bits(rows) == bits(rows_of(batch=400))


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
    images = np.where(np.arange(40).reshape(10, 2, 2) == 7, np.nan, 1)  # these are never missing
    with pytest.raises(ValueError, match=r"X\[1, 1, 1\] is nan; it must be a finite float32"):
        certify_rows(kit.never, images, 0.3, 0.5)
    with kit.refused(Status.INVALID, "feature 3 of z is nan; the input must be finite"):
        Estimator(kit.never, (2, 2), 100).begin(images[1], 0.3)


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
def test_a_run_goes_on_with_the_same_missing_cells_only(tmp_path):
    kept = dict(resume=tmp_path / "r.sqlite", keep_records=True)
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
        e.begin(z, 0.3, 0, level=2)
        x = e.draw(0, 400)
        assert np.isnan(x[:, [0, 3]]).all() and np.isfinite(x[:, 1:3]).all()
        for call in (lambda: e.attack(0.5, 500), lambda: e.gradient(0.5, "below")):
            with kit.refused(Status.INVALID, "are missing in the input: give their features scale"):
                call()
        with pytest.raises(CertregError):
            e.begin([1, 2, 3, np.inf], 0.3)
        e.begin([1, 2, 3, 4], 0.3)
        assert np.isfinite(e.draw(0, 5)).all()
    with Estimator(linear, 4, 3000, seed=3, scale=[0, 1, 1, 1]) as e:
        e.certify([np.nan, 1, 2, 3], 0.3, 3000, 0.5)
        found = e.attack(0.5, 3000)
        assert found.broken and found.shift[0] == 0


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
@parametrize("kind", "Int64", "Float64", "Float32", "float32", "float64")
def test_dtypes_keep_what_is_missing(kind):
    pandas, seen = package("pandas"), set()
    value = pandas.array([1.0, None, 3.0], kind) if kind[0] in "IF" else [1.0, None, 3.0]
    frame = pandas.DataFrame({"a": value}).astype({"a": kind}).assign(b=[1.5, 2.5, 3.5])

    def model(x):
        seen.add((str(x["a"].dtype), x["a"].isna().all()))
        return x["a"].fillna(0).to_numpy(float) + x["b"].to_numpy()

    rows = certify_rows(model, frame, 0.1, 0.5, samples=100, batch=100, progress=False)
    dtype = "float64" if kind == "Int64" else kind
    assert seen == {(dtype, True), (dtype, False)}
    assert rows.missing.tolist() == [[False, False], [True, False], [False, False]]
    with Estimator(model, frame, 100) as e:
        e.begin(frame.iloc[[1]], 0.1)
        assert e.draw(0, 10)["a"].isna().all()


def test_a_smoothed_regressor_of_tables_takes_missing_cells():
    pandas, sklearn = package("pandas"), package("sklearn.pipeline")
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import OneHotEncoder

    from certreg.regressor import SmoothedRegressor

    frame = pandas.DataFrame({"size": RNG.normal(90, 20, 200), "floors": RNG.integers(1, 9, 200)})
    frame["floors"], frame["heat"] = frame["floors"].astype(float), ["gas", "oil"] * 100
    price = (2 * frame["size"] + 8 * frame["floors"] + 30 * (frame["heat"] == "gas")).to_numpy()
    frame.loc[::7, "size"] = frame.loc[::5, "floors"] = np.nan
    frame.loc[::11, "heat"] = None
    encoder = OneHotEncoder(handle_unknown="ignore")
    steps = (SimpleImputer(), ["size", "floors"]), (encoder, ["heat"])
    made = sklearn.make_pipeline(make_column_transformer(*steps), Ridge())
    model = SmoothedRegressor(made, sigma=0.1, random_state=1).fit(frame, price)
    assert np.allclose(model.predict(frame[:12]), model.regressor_.predict(frame[:12]), atol=9)
    rows = model.certify(frame[:12], 20, samples=400)
    assert rows.missing[5].tolist() == [False, True, False] and (rows.radius[1:] > 0).all()
    assert list(rows.errors) == [(0, 0)] and REFUSED in rows.errors[0, 0]
    assert {line["missing"] for line in rows.to_dicts()} == {"", "size", "floors", "size, floors"}
    ends = model.predict_interval(frame[:12], alpha=0.2)
    assert (ends[:, 0] < ends[:, 1]).all()


# ---- intervals
def test_spreads_leave_missing_cells_out():
    frame = package("pandas").DataFrame(X, columns=list("abcd"))
    quartiles = np.nanquantile(X, [0.25, 0.75], axis=0)
    for kind, wanted in (("std", np.nanstd(X, 0)), ("iqr", np.ptp(quartiles, 0))):
        for given in (X, frame):
            assert np.allclose(certreg.feature_scale(given, kind), wanted, rtol=1e-5)
    more = dict(samples=200, rounds=1, seed=1, progress=False)
    tuned = certreg.tune_scale(linear, X, [0.3], 0.5, **more)
    assert tuned.factors[2] > tuned.factors[3]


def test_intervals_hold_for_points_with_missing_cells():
    radius = 0.1
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


# ---- the command
TABLE = "size,lot,age\n1,2,3\n4,,6\n,,9\n2, ,1\n,,\n"
MODEL = "import numpy as np\ndef f(x): return np.nan_to_num(x).sum(axis=1)\n"
document = lambda *words: json.loads(said(*words, "--json", "-q")[0])  # noqa: E731
AT = ("--sigma", ".1", "--tolerance", "1", "--samples", "300", "--seed", "1")


def test_empty_cells_of_a_file_are_missing(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    write("summed.py", MODEL)
    write("x.csv", TABLE)
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
    x = np.tile(X, (10, 1))
    booster = package("lightgbm").LGBMRegressor(verbose=-1, n_jobs=1).fit(x, linear(x)).booster_
    booster.save_model("model.txt")
    write("x.csv", "a,b,c,d\n1,,1,1\n.5,.5,,1\n")
    found = document("certify", "model.txt", "x.csv", *AT)
    assert found["summary"][0]["rows"] == 2 and found["summary"][0]["failed"] == 0

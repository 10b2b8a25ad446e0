"""Which features get noise if no scale names them: one rule for arrays, DataFrames and files."""

import importlib
import json

import numpy as np
import pytest

import kit
from kit import ASKED, no_warnings, package, parametrize, rows_of, said, write
from certreg import Calibrated, Denoised, Estimator, check_model, compare_denoised, compare_radius
from certreg import feature_scale
from certreg.frames import few_values_of

RANDOM = np.random.default_rng(5)
COUNT = np.arange(60)
FLAG = (COUNT % 3 == 0).astype(float)
TABLE = np.c_[COUNT / 7, FLAG, COUNT % 5]  # a quantity, two values, integers
FEW = "^at most two values in the features 1: they get no noise, and changes of them are not"


def plan_of(*words):
    """The plan in the .json file of a command."""
    said(*words, "-o", "r.json", "-q")
    with open("r.json", encoding="utf-8") as file:
        return json.load(file)["plan"]


def first(x):
    return np.asarray(x)[:, 0].astype(float)


def scale_by_default(X, model=first):
    """The scale of certify_rows; 1 where it is 1 for all features."""
    rows = rows_of(model, X, 0.1, 20.0, samples=50)
    found = rows.sampling.scale
    return 1 if found is None else np.asarray(found).tolist()


# ---- values
@parametrize(
    "X, few",
    (TABLE, [0, 1, 0]),
    (TABLE.astype(np.float32), [0, 1, 0]),
    (TABLE[:49], [0, 0, 0]),  # fewer than 50 rows
    (np.repeat(TABLE[:49], 2, axis=0), [0, 0, 0]),  # fewer than 50 different rows
    (np.repeat(TABLE[:50], 2, axis=0), [0, 1, 0]),
    (np.c_[COUNT, np.full(60, 7)], [0, 1]),
    (np.c_[COUNT, np.where(FLAG, np.nan, 1)], [0, 1]),
    (np.c_[COUNT, np.where(COUNT == 59, 3, FLAG)], [0, 0]),  # a third value in the last row
    (np.tile(TABLE, 21), [0, 1, 0] * 21),
    (np.tile(TABLE, 22), [0] * 66),  # 64 features and more are an image
    (np.zeros((60, 2)), [0, 0]),
)
def test_features_with_few_values(X, few):
    assert few_values_of(np.asarray(X)).tolist() == [bool(value) for value in few]


def test_other_arrays_than_tables_have_noise_everywhere():
    assert not few_values_of(np.zeros((60, 2, 2))).any()
    assert not few_values_of(TABLE.astype(object)).any()
    X = np.c_[np.arange(9000.0), np.zeros(9000), np.zeros(9000)]  # values far down count
    X[5000, 1], X[8999, 1] = 1, 2
    assert few_values_of(X).tolist() == [False, False, True]


# ---- everywhere the same
@parametrize("kind", float, np.float32, np.int64)
def test_arrays_and_dataframes_agree(kind):
    pandas = package("pandas")
    X = np.rint(7 * TABLE).astype(kind)
    frame = pandas.DataFrame(X, columns=list("abc"))
    for given, text in ((X, FEW), (frame, FEW.replace("1:", "'b':"))):
        with pytest.warns(UserWarning, match=text):
            assert scale_by_default(given) == [1, 0, 1]
        assert np.flatnonzero(np.asarray(feature_scale(given)) == 0).tolist() == [1]
        assert "at most two values in the features" in str(check_model(first, given))
    with no_warnings():
        assert scale_by_default(X[:49]) == 1 and scale_by_default(frame[:49]) == [1, 1, 1]
    nullable = frame.convert_dtypes()
    with pytest.warns(UserWarning, match="features 'b'"):
        assert scale_by_default(nullable) == [1, 0, 1]


def test_columns_without_numbers_are_exact():
    pandas = package("pandas")
    frame = pandas.DataFrame({"n": COUNT, "yes": FLAG > 0, "town": ["a", "b", "c"] * 20})
    frame["kind"] = frame["town"].astype("category")
    frame["day"] = pandas.to_datetime("2026-01-01")
    with no_warnings():
        assert scale_by_default(frame) == [1, 0, 0, 0, 0]


def test_the_command_decides_as_python_does(folder):
    write("sums.py", "import numpy as np\ndef model(x):\n    return np.asarray(x, 'f8').sum(1)\n")
    lines = ["a,b,c", *(",".join(f"{value:.9g}" for value in row) for row in TABLE)]
    write("x.csv", "\n".join(lines) + "\n")
    for kind in (float, np.int64):
        np.save(f"{np.dtype(kind).kind}.npy", np.rint(7 * TABLE).astype(kind))
    shown = (("x.csv", "'b'"), ("f.npy", "1"), ("i.npy", "1"))
    for path, name in shown:
        words = ("certify", "sums.py:model", path, *ASKED)
        assert plan_of(*words)["scale"] == [1, 0, 1]
        assert plan_of(*words, "--rows", "0:4")["scale"] == [1, 0, 1]  # of the whole file
        assert f"at most two values in the features {name}: they get no noise" in said(*words)[1]
        spread = plan_of(*words, "--scale", "std")["scale"]
        assert spread[1] == 0 < min(spread[0], spread[2])
        assert "; none on " in said(*words, "--scale", "std")[1]
    assert "noise on a, c; none on b" in said(*words[:2], "x.csv", *ASKED, "--scale", "std")[1]
    np.save("scale.npy", [1.0, 1, 1])
    assert "no noise" not in said(*words, "--scale", "scale.npy")[1]
    # A radius is compared with changes that it covers.
    changed = [compare_radius(TABLE, 0.4, scale=scale).lines for scale in (None, [1, 0, 1])]
    assert changed[0] == changed[1]


# ---- decided once
def test_values_of_calibration_points_decide_nothing():
    with no_warnings():
        calibrated = Calibrated(first, TABLE, TABLE[:, 0], 0.1, samples=5)
    assert calibrated._options["scale"] is None
    pandas = package("pandas")
    with Estimator(first, pandas.DataFrame(TABLE, columns=list("abc")), 64) as e:
        assert e._columns.scale.tolist() == [1, 1, 1]


def test_parts_and_resumption_take_it_over(folder):
    pandas = package("pandas")
    frame = pandas.DataFrame(TABLE, columns=list("abc"))
    for whole, named in ((TABLE, "array"), (frame, "frame"), (np.tile(TABLE, 7), "wide")):
        parts = whole[:50], whole[50:]  # alone, the second part has too few rows
        with pytest.warns(UserWarning, match="they get no noise"):
            once = rows_of(first, whole, samples=50)
            more = dict(samples=50, resume=f"{named}/")
            rows_of(first, parts[0], **more)
        with no_warnings():
            later = rows_of(first, parts[1], noise_id=50, **more)
        assert np.array_equal(later.sampling.scale, once.sampling.scale)
        assert np.array_equal(later.radius, once.radius[50:])
        assert "; none on " in str(later)
        if whole is not frame:  # codes of the exact column differ in the whole table
            assert len(rows_of(None, whole, **more)) == 60


def test_noise_everywhere_is_taken_over_too(folder):
    with no_warnings():
        rows_of(first, TABLE[:49] + [0, 3, 0], samples=50, resume="r/")
    with pytest.warns(UserWarning, match="only 0 and 1 .*: if these are codes"):
        later = rows_of(first, np.c_[COUNT + 9, FLAG, COUNT], noise_id=49, samples=50, resume="r/")
    assert later.sampling.scale is None
    rows_of(first, TABLE[:49], samples=50, resume="r.sqlite", scale=[1, 2, 0])
    with pytest.raises(kit.certreg.ResumeError, match="scale"):  # a scale of another kind
        rows_of(first, TABLE[:49], samples=50, resume="r.sqlite")


def test_a_regressor_decides_when_it_is_fitted():
    package("sklearn")
    kind = importlib.import_module("certreg.regressor").SmoothedRegressor
    smoothed = kind(sigma=0.1, samples=11, calibration=0, random_state=0)
    with pytest.warns(UserWarning, match=FEW):
        smoothed.fit(TABLE, TABLE[:, 0])
    assert (smoothed.scale_ > 0).tolist() == [True, False, True]
    with no_warnings():
        rows = smoothed.certify(TABLE[:3], 1.0)
    assert np.array_equal(rows.sampling.scale, smoothed.scale_)


def test_a_denoiser_decides_for_its_model():
    examples, X = RANDOM.normal(size=(80, 3)), RANDOM.normal(size=(60, 3))
    examples[:, 1] = examples[:, 1] > 0
    made = Denoised(first, examples, 0.1)
    assert made.scale.tolist() == [1, 0, 1]
    with pytest.warns(UserWarning, match="exact values by the model's description in .* 1: they"):
        assert scale_by_default(X, model=made) == [1, 0, 1]
    with no_warnings():
        made = Denoised(first, X, 0.1)
    with pytest.raises(ValueError, match="scale is not the denoiser's"):
        scale_by_default(examples, model=made)
    more = dict(examples=RANDOM.normal(size=(80, 3)), samples=50, seed=1, progress=False)
    flagged = np.c_[RANDOM.normal(size=(60, 2)), FLAG]
    with pytest.warns(UserWarning, match="at most two values in the features 2"):
        assert len(compare_denoised(first, flagged[:50], [0.1], 20.0, **more).lines) == 2

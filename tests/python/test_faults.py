"""Wrong features in Python and in the command: how units are named, what the model sees, and what
keeps the masks. tests/api_masks.c and cover_faults.c test the certificates."""

import dataclasses
import math

import numpy as np
import pytest
from certreg import CertregError, Estimator, Faulty, Inputs, Question, ResumeError, Rows
from certreg import RowsError, certify_rows

X = (20 + np.random.default_rng(0).normal(scale=0.1, size=(5, 10))).astype(np.float32)
TWO = Faulty(shown=2)


def mean_of_shown(x):
    return np.nanmean(x, axis=1)


def rows_of(faulty, **more):
    return certify_rows(mean_of_shown, X, 0.25, 1.0, faulty=faulty, seed=1, progress=False, **more)


def test_rows_have_the_radii_of_an_estimator():
    rows = rows_of(TWO)
    with Estimator(mean_of_shown, 10, 1000, faulty=TWO, seed=1, pilot=rows.sampling.pilot) as e:
        one = e.certify(X[0], 0.25, 1000, 1.0)
    each = rows.certificate(0).fault_radius
    assert each == one.fault_radius and each[0] == rows.radius[0] == one.radius
    assert each == tuple(rows[f"fault_radius_{k}"][0, 0, 0] for k in range(8))
    assert each[0] > each[1] > each[2] > each[3] == 0
    assert rows.to_dicts()[0]["fault_radius_2"] == each[2]
    assert "with 2 units of any values 5 rows have a radius" in " ".join(rows.remarks())
    asked = rows_of(TWO, samples=1000, alternatives=None)
    assert (asked.certificates == rows.certificates).all()


def test_a_question_about_wrong_units_has_their_radius():
    question = Question(1.0, faults=2)
    rows = certify_rows(mean_of_shown, X, 0.25, question, faulty=TWO, seed=1, progress=False)
    assert rows.radius[0] == pytest.approx(rows_of(TWO).certificate(0).fault_radius[2], rel=1e-6)
    assert "whatever values 2 of the units have" in str(rows.certificate(0))


def test_units_are_hidden_as_a_whole_with_their_probability():
    seen = []

    def keep(x):
        seen.append(x.copy())
        return np.nan_to_num(x[:, 0])

    faulty = Faulty([0, (1, 2)], probability=[0.4, 0.25], marker=-1)
    with Estimator(keep, 3, 400, faulty=faulty, seed=1, check=False) as e:
        e.begin([1, 2, 3], 0.5)
        e.sample(1, 399)
    x = np.concatenate(seen)
    x = x[np.isfinite(x).all(1)]
    assert ((x[:, 1] == -1) == (x[:, 2] == -1)).all()
    assert 0.5 < (x[:, 0] == -1).mean() < 0.68 < (x[:, 1] == -1).mean() < 0.85


def test_hidden_cells_of_a_data_frame_are_missing():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {"size": X[:, 0], "kind": pandas.Categorical(list("xyxyx")), "only": [7] * 5, "on": True}
    )
    seen = []

    def model(frame):
        seen.append(frame.copy())
        return frame["size"].fillna(20).to_numpy()

    faulty = Faulty(["size", "kind", ("only", "on")], shown=1)
    how = {"scale": {"size": 1}, "faulty": faulty, "seed": 1, "progress": False}
    certify_rows(model, table, 0.1, 1.0, samples=200, **how)
    frame = pandas.concat(seen[2:])
    missing = frame.isna()
    assert (missing["only"] == missing["on"]).all()
    assert (missing[["size", "kind", "only"]].sum(axis=1) <= 2).all()  # 0: the row without noise
    assert set(frame["kind"].dropna()) == {"x", "y"} and set(frame["only"].dropna()) == {7}
    assert str(seen[2]["kind"].dtype) == "category"
    with pytest.raises(ValueError, match="leave out faulty.marker"):
        certify_rows(model, table, 0.1, 1.0, faulty=Faulty(shown=1, marker=0), progress=False)


@pytest.mark.parametrize("other", [None, Faulty(shown=1), Faulty(shown=2, marker=0)])
def test_files_keep_the_masks(tmp_path, other):
    path = tmp_path / "rows.db"
    rows = rows_of(TWO, resume=path)
    assert (rows_of(TWO, resume=path).certificates == rows.certificates).all()
    with pytest.raises(ResumeError, match="different arguments .faulty."):
        rows_of(other, resume=path)
    rows[:].save(tmp_path / "rows.npz")
    kept = Rows.load(tmp_path / "rows.npz")
    assert kept.sampling.faulty == rows.sampling.faulty
    assert (kept.certificates == rows.certificates).all()


@pytest.mark.parametrize(
    "faulty, words",
    [
        (Faulty(["a"], shown=1), "no feature has this name"),
        (Faulty([0, (0, 1)], shown=1), "no feature to two units"),
        (Faulty([0, ()], shown=1), "each unit a feature"),
        (Faulty([0, 99], shown=1), "faulty.units"),
        (Faulty(shown=0), "give 1 to units - 1 units that are shown, or 0"),
        (Faulty(shown=10), "faulty.shown is 10, and probability is None"),
        (Faulty(shown=5), "show fewer"),
        (Faulty(shown=2, marker=math.inf), "marker"),
        (Faulty(probability=[0.5] * 9), "broadcast|shape"),
        (Faulty(probability=1.0), "below 1"),
    ],
)
def test_masks_without_a_law_are_refused(faulty, words):
    with pytest.raises((ValueError, CertregError), match=words):
        rows_of(faulty)


def test_models_without_missing_values_are_told_of_the_marker():
    text = r"hidden features are NaN .*: give Faulty\(marker=NUMBER\), or a model that was"
    with pytest.warns(UserWarning, match=text):
        certify_rows(lambda x: x.mean(1), X, 0.25, 1.0, faulty=TWO, progress=False)

    def refuses(x):
        if np.isnan(x).any():
            raise ValueError("Input X contains NaN.")
        return x[:, 0]

    with pytest.raises(RowsError, match=text):
        certify_rows(refuses, X, 0.25, 1.0, faulty=TWO, progress=False)


def test_missing_cells_need_a_marker_that_is_missing_too():
    lacking = X.copy()
    lacking[:, 0] = np.nan
    numbers = Faulty(shown=2, marker=0)
    for call in (
        lambda: certify_rows(mean_of_shown, lacking, 0.25, 1.0, faulty=numbers, progress=False),
        lambda: Estimator(mean_of_shown, 10, 99, faulty=numbers).begin(lacking[0], 0.25),
    ):
        with pytest.raises(ValueError, match="cells are missing"):
            call()


def test_all_sets_certify_without_noise():
    with Estimator(mean_of_shown, 10, 45, faulty=TWO) as e:
        c = e.certify_masks(X[0], 1.0)
        assert e.certify_masks(X[1], Question(1e-6)).faults == 0
    assert c.faults == 2 and c.certified and c.radius == c.alpha == 0 and c.samples == 45
    assert "whatever values 2 of the units have" in str(c)
    cancelled = dataclasses.replace(c, alpha=math.nan, outcome=0, faults=0)  # has no sigma either
    assert "wrong units" not in str(cancelled) and "nothing is proved" in str(cancelled)
    with pytest.raises(CertregError, match="max_samples"):
        Estimator(mean_of_shown, 10, 44, faulty=TWO).certify_masks(X[0], 1.0)


def test_hidden_cells_do_not_tell_what_is_missing():
    seen = []

    def model(x):
        seen.append(x.copy())
        return np.zeros(len(x))

    described = Inputs((10,))
    described.marks = {0: (-999.0,)}
    lacking = X.copy()
    lacking[:, 0] = -999
    how = {"samples": 300, "faulty": TWO, "inputs": described, "seed": 1, "progress": False}
    certify_rows(model, lacking, 0.25, 1.0, **how)
    x = np.concatenate(seen)
    x = x[np.isnan(x).any(1)]
    assert (np.isnan(x).sum(1) == 8).all()  # of ten units, also where unit 0 is missing
    assert set(x[~np.isnan(x[:, 0]), 0]) == {-999}

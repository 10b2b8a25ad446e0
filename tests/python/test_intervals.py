"""Prediction intervals that contain the truth under attack."""

import copy
import itertools
import pickle
import re

import numpy as np
import pytest

import kit
from kit import certreg, package, parametrize, refused
from certreg import Calibrated, CertregError, Question, Status, interval_rule

SIGMA, FEATURES = 0.5, 4
WEIGHTS = np.array([0.5, -0.5, 0.5, 0.5], np.float32)  # of norm 1


def linear(x):
    return x @ WEIGHTS


def of_columns(frame):
    return linear(frame[list("abcd")].to_numpy())


def points(count, seed=0, scatter=0.4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, FEATURES)).astype(np.float32)
    return X, linear(X) + scatter * rng.normal(size=count)


def calibrated(count, f=linear, seed=1, inputs_seed=2, **more):
    """Points, their truths, and a calibration on them."""
    X, y = points(count)
    more = {"samples": 15, "seed": seed, "inputs_seed": inputs_seed, **more}
    return X, y, Calibrated(f, X, y, SIGMA, **more)


def chooses(name, f, x):
    """What chooses sigma, scale or model calls the model, with the seed of a calibration."""
    if name in ("certify", "calibration", "attack"):
        for sigma in (SIGMA, [SIGMA, 1], [1, SIGMA]):
            kit.rows_of(f, x, sigma, samples=20, domain=name, seed=11)
    elif name == "sigmas":
        with certreg.Estimator(f, x.shape[1], 20, seed=11) as e:
            for i, z in enumerate(x):
                e.certify_sigmas(z, [SIGMA, 2 * SIGMA], 20, 0.5, noise_id=i)
    else:
        asked, more = Question(1.3, alpha=0.3), dict(samples=30, seed=11, progress=False)
        if name == "tune_scale":
            certreg.tune_scale(f, x, [SIGMA], asked, rounds=2, **more)
        else:
            certreg.compare_denoised(f, x, [SIGMA], asked, examples=kit.X + 9, **more)


@parametrize("name", *"certify calibration attack sigmas tune_scale compare_denoised".split())
def test_what_chooses_has_other_noise_than_the_calibration_of_the_same_seed(name):
    """The noise of every call is compared at one point, where equal noise shows."""
    x = np.zeros((24, 3), np.float32)
    seen = []

    def f(rows):
        seen.extend(row.tobytes() for row in rows if row.any())
        return rows @ np.ones(3)

    Calibrated(f, x, np.zeros(24), SIGMA, samples=20, seed=11)
    points = {*seen}
    seen.clear()
    chooses(name, f, x)
    assert len(points) >= 480 and len({*seen}) > 400  # and the check of the model
    assert not points & {*seen}


def test_angles_are_arcs():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2)).astype(np.float32) + 3

    def angle(x):
        return np.degrees(np.arctan2(x[:, 1], x[:, 0])) + 135  # about 180

    options = dict(samples=21, seed=1, inputs_seed=2, kind="angle", lo=-180, hi=180)
    one = Calibrated(angle, X, angle(X) + rng.normal(size=120), 0.1, **options)
    interval = one.interval([3, 3], 0.02, 0.1)
    assert interval.period == 360
    assert interval.width < 40
    assert interval.hi > 180  # an arc across the end of the turn
    assert [angle in interval for angle in (180, -180, 180 + 3 * 360, 0)] == [True] * 3 + [False]
    with refused(Status.NOT_FINITE):
        calibrated(12, lambda x: x[:, 0] * np.nan)
    with refused(Status.CANCELLED):
        calibrated(12, progress=lambda done, total: done == 3)


# ---- files
def test_a_calibration_is_kept_in_a_file(folder):
    options = dict(scale=[1, 2, 1, 0.5], units=2, most_samples=31, inputs_seed=None)
    X, _, before = calibrated(80, **options)
    before.save("kept.npz")
    with Calibrated.load("kept.npz", linear) as after:
        assert after.rule(0.1, 0.1) == before.rule(0.1, 0.1)
        np.testing.assert_array_equal(after.scores, before.scores)
        threshold = after.interval(X[0], 0.1, 0.1).threshold
        assert threshold == before.interval(X[0], 0.1, 0.1).threshold
        assert after.points == before.points
    with pytest.raises(TypeError, match="load takes no seed"):
        Calibrated.load("kept.npz", linear, seed=6)


def test_a_copy_has_the_calibration_and_noise_of_its_own():
    options = dict(scale=[1, 2, 1, 0.5], units=2, most_samples=31, lo=-9, hi=9)
    X, _, before = calibrated(80, **options)
    for after in (pickle.loads(pickle.dumps(before)), copy.copy(before), copy.deepcopy(before)):
        assert repr(after) == repr(before)
        assert after.rule(0.1, 0.1, 31) == before.rule(0.1, 0.1, 31)
        np.testing.assert_array_equal(after.scores, before.scores)
        assert after.calibration_seed == before.calibration_seed
        one, two = (each.interval(X[0], 0.1, 0.1, noise_id=0) for each in (before, after))
        assert one.threshold == two.threshold and one.lo != two.lo
    before.close()
    assert after.interval(X[0], 0.1, 0.1).width > 0
    X, _, one = calibrated(60, samples=31)
    one.scores[:] = 1e-9  # a set can be empty
    empty = one.interval(X[0], 0.1, 0.1)
    assert (empty.pieces, empty.width) == ((), 0) and np.isnan(empty.lo)
    assert float(linear(X[0])) not in empty
    x, y, one = calibrated(60)  # the names of scikit-learn are other names
    two = Calibrated(linear, x, y, SIGMA, samples=15, random_state=0, verbose=1, n_jobs=None)
    np.testing.assert_array_equal(two.scores, one.scores)
    for more, text in ((dict(n_jobs=2), "in one process: leave out jobs or n_jobs"),
                       (dict(seed=1, random_state=1), "random_state takes the place of seed")):
        with pytest.raises(TypeError, match=text):
            Calibrated(linear, x, y, SIGMA, **more)


def test_intervals_are_arrays_and_frames():
    X, _, c = calibrated(60)
    found = c.intervals(X[:3], 0.1, 0.2)
    ends = np.array([(one.lo, one.hi) for one in found])
    assert found.ends.shape == (3, 2) and (found.ends == ends).all() and len(found) == 3
    text = f"3 intervals, 3 of finite width, median width {np.median(np.diff(ends)):.5g}"
    assert str(found) == text and repr(found) == repr(list(found))
    none = certreg.IntervalList()
    assert none.ends.shape == (0, 2) and list(none.to_frame()["lo"]) == []
    pandas = pytest.importorskip("pandas")
    frame = pickle.loads(pickle.dumps(found)).to_frame()
    assert frame["hi"].tolist() == ends[:, 1].tolist()
    assert frame["pieces"].tolist() == [len(one.pieces) for one in found]
    x, y = points(60)
    two, rows = np.stack([y, -y], axis=1), pandas.DataFrame(x, columns=list("abcd"), index=y)
    both = Calibrated(lambda f: np.stack([of_columns(f)] * 2, 1), rows, two, 0.25, samples=15)
    both = copy.copy(both)
    pairs = both.intervals(rows.iloc[5:7], 0.1, 0.2)
    assert pairs.ends.shape == (2, 2, 2) and pairs.ends[1, 1, 0] == pairs[1][1].lo
    assert pairs.to_frame().index.tolist() == [y[5], y[5], y[6], y[6]]
    assert pairs.to_frame()["output"].tolist() == [0, 1, 0, 1]


def test_files_that_do_not_fit_are_no_calibration(folder):
    path = folder / "kept.npz"
    X, _, one = calibrated(30, units=2)
    one.save(path)
    with np.load(path) as kept:
        good = dict(kept)
    for name, value in (
        ("units", np.ones(2)),
        ("lo", np.array(["a", "b"])),
        ("scores", np.ones((29, 15))),
        ("scores", np.ones((30, 14))),
        ("samples", 16),
        ("scores", np.array("a")),
        ("version", 3),
        ("inputs", np.array("a")),
        ("point_ids", np.array([], int)),
    ):
        np.savez(path, **{**good, name: value})
        with pytest.raises(ValueError):
            Calibrated.load(path, linear)
    np.savez(path, scores=np.ones(3))
    with pytest.raises(ValueError, match="version"):
        Calibrated.load(path, linear)
    np.savez(path, **{**good, "units": np.float32([3])})
    with pytest.raises(CertregError, match="scored otherwise"):
        Calibrated.load(path, linear).interval(X[0], 0.1, 0.2)


def test_another_model_is_noticed(folder):
    _, _, one = calibrated(40, scale=2.0)
    one.save("kept.npz")
    sentence = "kept.npz was made with another model: row [0-9]+, sample .* asked again: .*: give"
    for other in (one, copy.copy(one)):
        other.save("kept.npz")
        with pytest.raises(ValueError, match=sentence):
            Calibrated.load("kept.npz", lambda x: linear(x) + 1)
        assert Calibrated.load("kept.npz", lambda x: linear(x) + 1e-7).points == 40
        assert Calibrated.load("kept.npz", kit.never, check=False).points == 40
    with pytest.raises(TypeError, match="load takes no scale: the calibration keeps its own"):
        Calibrated.load("kept.npz", linear, scale=1.0)
    with pytest.raises(TypeError, match="Calibrated takes no pilot"):
        Calibrated.load("kept.npz", linear, pilot=5)
    pandas = pytest.importorskip("pandas")
    X, y = points(40)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    for column, kept in (("x", True), (pandas.Categorical(["u", "v"] * 20), True), (1j, False)):
        table = frame.assign(e=column)
        Calibrated(of_columns, table, y, SIGMA, samples=15).save("kept.npz")
        refused = sentence if kept else "has no rows .* since their columns cannot be kept: give"
        with pytest.raises(ValueError, match=refused):
            Calibrated.load("kept.npz", lambda x: of_columns(x) + 1)
        again = Calibrated.load("kept.npz", of_columns, check=kept)
        assert again.interval(table[:1], 0.1, 0.2).width > 0


def test_a_file_has_the_categories_in_their_order(folder):
    pandas = package("pandas")
    X, y = points(40)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = lambda f: of_columns(f) + 10 * f["e"].cat.codes.to_numpy()  # noqa: E731
    for ordered in (False, True):
        kinds = pandas.Categorical(["u", "v"] * 20, categories=["v", "u"], ordered=ordered)
        table, more = frame.assign(e=kinds), dict(samples=15, seed=1)
        before = Calibrated(model, table, y + 10 * kinds.codes, SIGMA, **more)
        before.save("kept.npz")
        after, wanted = Calibrated.load("kept.npz", model), before.interval(table[:1], 0.0, 0.2)
        others = pandas.Categorical(["u"]), pandas.Categorical(["u"], ["u", "v"])
        for one in (kinds[:1], "u", *others):
            found = after.interval(table[:1].assign(e=one), 0.0, 0.2)
            assert abs(found.lo - wanted.lo) < 1 < 5 < wanted.lo
    dates = pandas.Categorical(pandas.to_datetime(["2026-01-01", "2026-01-02"] * 20))
    dated = Calibrated(model, frame.assign(e=dates), y, SIGMA, samples=15)
    with pytest.raises(ValueError, match="categories of the columns .'e'. cannot be kept"):
        dated.save("kept.npz")


def test_the_noise_of_new_inputs_is_always_secret(folder):
    """No seed of a calibration leads to it, neither one that was given nor that in a file."""
    seen = []

    def noise_of(one, X):
        one.interval(X[0], 0.1, 0.2)
        seen.append(one._estimator.info().seed)

    for _ in range(2):
        X, _, one = calibrated(30, seed=5, inputs_seed=None)
        assert one.calibration_seed == 5
        one.save("kept.npz")
        noise_of(one, X)
        with Calibrated.load("kept.npz", linear) as loaded:
            noise_of(loaded, X)
    with np.load("kept.npz") as kept:
        about = str(kept["inputs"])
        arrays = [kept[name] for name in kept.files if name != "inputs"]
    numbers = {int(v) for array in arrays for v in array.flat if v == v}
    assert len(set(seen)) == 4 and not any(str(seed) in about for seed in seen)
    assert not set(seen) & numbers
    (X, _, one), (_, _, other) = calibrated(30, inputs_seed=6), calibrated(30, inputs_seed=6)
    assert one.interval(X[0], 0.1, 0.2) == other.interval(X[0], 0.1, 0.2)  # for tests
    assert one._estimator.info().seed == 6


REMEDIES = {
    "samples": "([0-9]+) samples of a new input",
    "calibration_samples": "([0-9]+) samples of each calibration point",
    "radius": "a radius of ([-+.e0-9]+)",
    "alpha": "an alpha of ([-+.e0-9]+)",
}


def remedies(text, calibration_samples):
    """The changes of arguments that an error of interval_rule names."""
    found = re.search(r"(?:least (\d+))?: (with more points )?take (.*)$", text)
    least, more, said = found.groups()
    if said == "as many samples of a new input as of each calibration point, and a smaller radius":
        yield dict(points=10**6, samples=calibration_samples, radius=0)
        return
    for remedy in said.split(", or "):
        if remedy == "that many":
            yield dict(points=int(least))
        else:
            tried = {name: re.fullmatch(said, remedy) for name, said in REMEDIES.items()}
            change = {name: float(found[1]) for name, found in tried.items() if found}
            yield dict(change, points=2**50) if more else change


def test_what_is_advised_helps():
    names = ("radius", "samples", "calibration_samples", "points", "alpha")
    values = ((2, 20), (1, 11), (1, 31), (50, 10**6), (1e-4, 0.1))
    helped = set()
    for asked in (dict(zip(names, some), sigma=1) for some in itertools.product(*values)):
        try:
            interval_rule(**asked)
        except CertregError as error:
            for change in remedies(str(error), asked["calibration_samples"]):
                assert interval_rule(**{**asked, **change}).alpha <= 0.5
                helped.update(change)
    assert helped == set(names)
    for points in (1, 2, 9, 10, 19, 20, 24, 99, 333):  # the least alpha is advised
        with pytest.raises(CertregError) as caught:
            interval_rule(0, 1, points, alpha=1e-4)
        told = float(re.search(REMEDIES["alpha"], str(caught.value))[1])
        assert interval_rule(0, 1, points, alpha=told).least_points <= points
        assert 1 / (points + 1) <= told < 1 / (points + 1) * (1 + 1e-5)

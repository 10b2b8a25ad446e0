"""Boxes: bounds of the prediction if each feature has a bound of its own, and a scale for them."""

import functools
import itertools
import math

import numpy as np
import pytest

from kit import bits, never, package, parametrize, read, run, write
from certreg import Options, Question, certify_rows, tune_scale, within

RNG = np.random.default_rng(3)
X = RNG.normal(size=(45, 4))
SLOPES = np.array([4, 2, 1, 0.5])
BOX = np.array([0.05, 0.4, 0.2, 0.1])
BEST = np.sqrt(BOX / SLOPES)  # theory 1.8
MOVE = SLOPES @ BOX
HOW = dict(samples=10_000, seed=1, progress=False)
SURE = Question(0, alpha=1e-4)


def linear(x):
    return x @ SLOPES


def proved(x=X[:8], box=BOX, model=linear, **more):
    """The rows, and how far below and above f(x) each prediction may be."""
    rows = within(model, x, box, **{**HOW, "question": SURE, **more})
    below, above = linear(x) - rows["output_lo"][:, 0, 0], rows["output_hi"][:, 0, 0] - linear(x)
    return rows, np.stack([below, above])


def test_bounds_enclose_what_a_linear_model_does():
    for scale, longer in ((None, np.linalg.norm(SLOPES * BOX) * 2 / MOVE), (BEST, 1)):
        rows, moves = proved(scale=scale)
        assert (moves > MOVE).all()
        assert moves.mean() == pytest.approx(longer * MOVE, rel=0.12)
        given = BOX if scale is None else scale
        reach = Options(radius=rows.at_radius)
        same = certify_rows(linear, X[:8], rows.sigmas[0], SURE, scale=given, options=reach, **HOW)
        assert bits(same) == bits(rows)
    assert proved(X[0])[0].certificates == proved(X[:1])[0].certificates
    assert within(linear, X[0], BOX, samples=99, seed=1).questions == (Question(0),)
    huber = Question(9, statistic="huber", huber_width=0.5)
    assert (proved(question=huber, sigma=0.5)[1] > MOVE).all()


def test_a_bound_of_0_is_an_exact_feature():
    box = BOX * [1, 0, 1, 1]
    seen = []
    rows, moves = proved(box=box, model=lambda x: (seen.append(x[:, 1].copy()), linear(x))[1])
    assert rows.scale.tolist() == box.tolist()
    assert set(np.concatenate(seen)) <= set(X[:8, 1].astype(np.float32))
    assert (moves > SLOPES @ box).all() and moves.mean() < MOVE
    rows, _ = proved(box=box, scale=BEST)  # with noise it may move too, but does not have to
    assert rows.at_radius == pytest.approx(np.linalg.norm(box / BEST), rel=1e-5)


def test_a_spread_leaves_categories_without_noise():
    trees = package("sklearn.ensemble").HistGradientBoostingRegressor
    x = np.column_stack([X[:, 0], np.arange(len(X)) % 5])
    model = trees(max_iter=2, categorical_features=[1]).fit(x, x.sum(1))
    text = "categories by the model's description"
    told = functools.partial(pytest.warns, UserWarning, match=text)
    with told():
        assert within(model, x, [1, 0], scale="std", **HOW).scale[1] == 0
    with told():
        with pytest.raises(ValueError, match="feature 1 has a bound and the scale 0"):
            within(model, x, [1, 1], scale="std")


def test_missing_cells_stay_missing():
    x = np.where(np.arange(4) == 1, np.nan, X[:8])
    slopes = SLOPES * [1, 0, 1, 1]
    rows = within(lambda x: np.nan_to_num(x) @ slopes, x, BOX, **HOW, question=SURE)
    moves = (rows["output_hi"] - rows["output_lo"]) / 2
    assert rows.at_radius == pytest.approx(2, rel=1e-5)
    assert (moves > slopes @ BOX).all() and not rows.errors


def test_the_box_is_inside_after_inputs_are_rounded():
    x = 10.0 ** RNG.uniform(-3, 5, size=(300, 4))
    box, scale = np.abs(x[0]) * [1e-8, 3e-8, 1e-6, 1e-2], np.array([1e-4, 1e-3, 1, 10])
    how = dict(samples=50, seed=1, progress=False)
    rows = within(lambda x: 0 * x[:, 0], x, box, 1e7, scale=scale, **how)
    used = np.asarray(scale, np.float32).astype(float)
    used[used < scale] = np.nextafter(used.astype(np.float32), np.inf)[used < scale]
    worst = 0
    for signs in itertools.product((-1, 1), repeat=4):
        moved = x + np.array(signs) * box
        for there in (moved, moved.astype(np.float32).astype(float)):
            far = np.linalg.norm((there - x.astype(np.float32)) / used, axis=1)
            worst = max(worst, far.max())
    assert worst < rows.at_radius
    assert rows.at_radius > 1.05 * np.linalg.norm(box / used)  # rounding counts here
    again = within(linear, X, 0.1, samples=50, seed=1, progress=False)
    assert again.sigmas == within(linear, X[:1] * 99, 0.1, samples=50, seed=1).sigmas
    assert again.sigmas[0] == pytest.approx(1, rel=1e-6)  # half of the root of 4


def test_tables_have_bounds_by_their_names():
    pandas = package("pandas")
    frame = pandas.DataFrame({"a": X[:8, 0], "text": list("abcdefgh"), "n": range(8)})
    model = lambda x: 3 * x["a"] + x["n"] + x["text"].map(ord)  # noqa: E731
    rows = within(model, frame, {"n": 0.5, "a": 0.1}, **HOW)
    assert rows.sampling.scale.tolist() == [np.float32(0.1), 0, 0.5]
    assert (rows["output_hi"] - rows["output_lo"] > 2 * 0.8).all()
    series = pandas.Series({"a": 0.1, "n": 0.5})
    assert within(model, frame, series, **HOW).at_radius == rows.at_radius
    with pytest.raises(ValueError, match="bounds names 'b', which is no column"):
        within(model, frame, {"b": 1})
    with pytest.raises(ValueError, match="bounds is -1 for column 'n'"):
        within(model, frame, {"n": -1})
    with pytest.raises(ValueError, match="feature 'n' has a bound and the scale 0"):
        within(model, frame, {"n": 1}, scale={"a": 1})
    with pytest.raises(ValueError, match="column 'text' is (object|str)"):
        within(model, frame, [1, 1, 1])


@parametrize(
    "kind, text, wrong",
    (ValueError, "bounds is -1 for feature 2; it must be finite", dict(bounds=[1, 1, -1, 1])),
    (ValueError, "bounds is nan for feature 0", dict(bounds=math.nan)),
    (ValueError, "bounds is inf for feature 0", dict(bounds=[math.inf, 1, 1, 1])),
    (ValueError, "bounds has no number above 0", dict(bounds=0)),
    (ValueError, r"bounds has shape \(3,\); it must be \(4,\)", dict(bounds=[1, 1, 1])),
    (TypeError, "bounds has names, and X has none", dict(bounds={"a": 1})),
    (TypeError, "bounds must hold numbers", dict(bounds="std")),
    (ValueError, "feature 1 has a bound and the scale 0", dict(scale=[1, 0, 1, 1])),
    (ValueError, "X\\[0, 0\\] is inf; it must be", dict(X=X * math.inf)),
    (ValueError, "bounds reach beyond the numbers of a", dict(X=X + 3e38, bounds=1e38)),
    (ValueError, "sigma is 0; it must be positive", dict(sigma=0)),
    (TypeError, "within takes no questions", dict(questions=1)),
    (TypeError, "radius is set by this function itself", dict(options=Options(radius=1))),
)
def test_wrong_boxes_are_refused(kind, text, wrong):
    with pytest.raises(kind, match=text):
        within(**{**dict(model=never, X=X, bounds=BOX, progress=False), **wrong})


# ---- a scale for a box
def tuned(box=BOX, **more):
    more = dict(samples=1000, seed=1, progress=False, **more)
    return tune_scale(linear, X, [0.5, 1, 2], 1.5, box=box, **more)


def test_the_scale_for_a_box_is_found():
    norm = np.linalg.norm(BOX / BEST)
    for start in (None, 1.0):
        found = tuned(scale=start)
        begun = np.ones(4) if start else BOX
        assert found.changed
        np.testing.assert_allclose(found.scale / found.scale[0], BEST / BEST[0], rtol=0.25)
        kept = np.linalg.norm(BOX / found.scale) / np.linalg.norm(BOX / begun)
        assert kept == pytest.approx(1, abs=1e-6)
        best = norm * np.linalg.norm(SLOPES * BEST)
        gain = np.linalg.norm(BOX / begun) * np.linalg.norm(SLOPES * begun) / best
        assert found.gain > 0.95 * gain


def test_boxes_go_with_groups_masks_and_names():
    pandas = package("pandas")
    found = tuned(BOX * [1, 1, 0, 1], groups=["a", "b", "b", "a"], scale=1.0, rounds=2)
    assert found.groups == ("a", "b") and found.scale[2] == 0
    assert found.scale[0] == found.scale[3] == pytest.approx(found.factors[0])
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = lambda x: linear(x.to_numpy())  # noqa: E731
    how = dict(samples=100, rounds=1, seed=1, progress=False)
    found = tune_scale(model, frame, [1], 1.5, box={"a": 0.1, "c": 1}, **how)
    assert found.groups == ("a", "c") and found.scale[["b", "d"]].tolist() == [0, 0]


@parametrize(
    "text, wrong",
    ("box is -1 for feature 0", dict(box=-1)),
    ("box has no number above 0", dict(box=[0, 0, 0, 0])),
    (r"box has shape \(2,\)", dict(box=[1, 1])),
    ("feature 3 has a bound and the scale 0", dict(scale=[1, 1, 1, 0])),
)
def test_wrong_boxes_of_a_scale_are_refused(text, wrong):
    with pytest.raises(ValueError, match=text):
        tuned(**wrong)


def test_the_command_takes_boxes(models):
    write("box.csv", "c,a,b\n.3,.2,0\n")
    write("x.csv", "a,b,c\n1,2,3\n2,3,4\n")
    write("linear.py", "def f(x): return x @ [8, 2, 0.5]\n")
    asked = "linear.py:f x.csv --sigma 1 --seed 1 --samples 500 -q".split()
    run("bounds", *asked, "--box", "box.csv", "-o", "b.csv")
    x, box = np.array([[1, 2, 3], [2, 3, 4]]), [0.2, 0, 0.3]
    rows = within(lambda x: x @ [8, 2, 0.5], x, box, 1, samples=500, seed=1, progress=False)
    lines = read("b.csv")
    assert [float(line["output_hi"]) for line in lines] == rows["output_hi"].ravel().tolist()
    write("many.csv", "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in X[:12, :3]))
    more = "linear.py:f many.csv --sigma 1 --tolerance 2 --seed 1 --samples 200 --rounds 2".split()
    run("scale", *more, "--box", ".2", "-o", "s.csv")
    scale = read("s.csv")[0]
    assert float(scale["a"]) < 0.19 < 0.21 < float(scale["c"])

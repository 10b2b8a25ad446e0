"""Radii next to known changes of inputs: norms, what is covered, and what is not known. Boxes:
bounds of the prediction if each feature has a bound of its own, and a scale for them."""

import functools
import io
import itertools
import json
import math
import re
import sys
from fractions import Fraction

import numpy as np
import pytest

import kit
from kit import ASKED, PRODUCT, bits, certify_refused, command_refused, never, package, parametrize
from kit import read, said, write
from certreg import Inputs, Options, Question, certify_rows, check_model, compare_radius
from certreg import tune_scale, within
from certreg.arrays import scale_of
from certreg.display import floored

RNG = np.random.default_rng(7)
LEVELS = RNG.integers(0, 256, (5, 12, 10, 3))  # images of 8 bits
LEVELS[:, 0, 0], LEVELS[:, 0, 1] = 0, 255
GREY = LEVELS[..., 0]
LAYOUTS = (GREY, LEVELS, np.moveaxis(LEVELS, 3, 1))
SOUND = np.round(32768 * 0.4 * RNG.normal(size=(4, 500)).clip(-2, 2)) / 32768
TYPICAL, MOST = "rounding to {}, typical", "rounding to {}, at most"


def norms(X, radius=1, **more):
    """The norms by the names of the changes."""
    return {line["change"]: line["norm"] for line in compare_radius(X, radius, **more).lines}


def same(a, b):
    assert list(a) == list(b)
    assert list(a.values()) == pytest.approx(list(b.values()), rel=1e-5)


@parametrize("images, axis", *zip(LAYOUTS, (-1, -1, 1)))
def test_images_of_all_ranges_have_8_bits(images, axis):
    wanted = norms(images, kind="image")
    roundings, d = [*norms(images).values()][:2], images[0].size
    assert [*wanted.values()][:2] == roundings == pytest.approx([(d / 12) ** 0.5, d**0.5 / 2])
    assert wanted["one step brighter"] == pytest.approx(math.sqrt(d))
    for black, white in ((0, 1), (-1, 1), (-0.4242, 2.8215)):
        X = (black + (white - black) * images / 255).astype(np.float32)
        same(norms(X, scale=(white - black) / 255, kind="image"), wanted)
    dark = (GREY[:, 1:] // 3 - 30.5) / 40  # levels 0 to 85, which lie on 255 finer steps too
    with pytest.raises(ValueError, match="give step"):
        compare_radius(dark, 1, kind="image")
    told = str(compare_radius(RNG.poisson(3, (30, 9, 9)), 1))  # counts are no images
    assert "\nSteps: 1. " in told and not re.search("8 bits|JPEG of", told)
    if images.ndim == 4:  # channels that are standardised each
        shape = [3 if k == axis % 4 else 1 for k in range(4)]
        mean, step = np.reshape([124, 116, 104], shape), np.reshape([58, 57, 54], shape) ** -1.0
        scale = np.broadcast_to(step[0], images.shape[1:])
        same(norms(((images - mean) * step).astype(np.float32), scale=scale, kind="image"), wanted)


def test_jpeg_is_measured_on_the_images(monkeypatch):
    images, measured = package("PIL.Image"), []
    for levels in LEVELS.astype(np.uint8):
        file = io.BytesIO()
        images.fromarray(levels).save(file, "JPEG", quality=90)
        measured.append(np.linalg.norm(np.asarray(images.open(file)) - levels.astype(float)) / 255)
    for layout in LAYOUTS[1:]:
        radius = np.median(measured) * (1 + 1e-6)
        *_, line, _ = compare_radius(layout / 255, radius, kind="image").lines
        norm = pytest.approx(np.median(measured), rel=1e-6)
        assert line == {"change": "JPEG of quality 90", "norm": norm, "covered": 3}
    assert "give kind" in str(compare_radius(GREY, 1))
    wanted = norms(GREY, kind="image")
    for layout in (GREY[..., None], GREY[:, None]):
        same(norms(layout, kind="image"), wanted)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    for images in (GREY, GREY.reshape(5, -1)):
        told = str(compare_radius(images, 1, kind="image"))
        assert "JPEG is left out: it takes Pillow" in told and "quality" not in told


def test_no_rounding_error_exceeds_the_most():
    step, scale = np.array([0.5, 0.01, 3, 0.2]), np.array([1, 0.1, 20, 3])
    true = RNG.normal(size=(2000, 4)) * [9, 1, 70, 30]
    X = np.rint(true / step) * step
    errors = np.linalg.norm((X - true) / scale, axis=1)
    found = compare_radius(X, 1, scale=scale)
    assert re.findall(r"feature \d: ([\d.]+)[,.]", str(found)) == ["0.5", "0.01", "3", "0.2"]
    typical, most = (line["norm"] for line in found.lines[:2])
    assert errors.max() <= most < 1.2 * errors.max()
    assert typical == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.02)


@parametrize(
    "column",
    RNG.normal(size=500),
    0.5 + RNG.integers(0, 2**23, 30_000) / 2**24,  # the steps of float32
    np.exp(RNG.integers(0, 50, 500) / 20),
    np.arange(7.0),  # too few
    1e9 + np.arange(100) / 7,
)
def test_steps_are_not_found_where_there_are_none(column):
    told = str(compare_radius(column[:, None], 0))
    assert "values show no step: give step." in told and "rounding to" not in told


@parametrize("step, offset", (1 / 3, -7.7), (0.01, 0), (1000, 5e5), (1 / 255 / 0.3, -0.42))
def test_steps_are_found_in_float32_from_any_offset(step, offset):
    few = offset + step * np.array([0, 4, 6, 16, 19, 40, 43, 90, 95, 200.0])
    for column in (few, offset + step * RNG.integers(0, 400, 3000)):
        found = norms(column.astype(np.float32)[:, None])[MOST.format("steps")]
        assert found == pytest.approx(step / 2, rel=1e-3)


def test_steps_are_the_decimals_that_floats_stand_for():
    for step, offset in ((0.05, 0), (0.1, 0), (0.001, 52), (1 / 3, 0), (0.1234567, 0)):
        column = offset + step * RNG.integers(0, 300, 400)
        found = Inputs.of(None, column[:, None]).steps[0]
        assert (found == step) == (step == round(step, 5)) and found == pytest.approx(step, 1e-5)


def test_only_named_kinds_have_bits_that_their_values_do_not_show():
    X = RNG.random((6, 9, 9))
    assert list(norms(X)) == ["all by one deviation"]
    assert norms(X, kind="image")[MOST.format("8 bits")] == pytest.approx(9 / 510)
    assert norms(X - 9, kind="image", step=0.1)[MOST.format("steps")] == pytest.approx(0.45)
    for kind, values in (("image", X - 9), ("image", X + 0.5), ("sound", 2 * X)):
        with pytest.raises(ValueError, match="X is from .*: give step"):
            compare_radius(values, 1, kind=kind)


def test_sound_has_16_bits_and_a_ratio():
    radii = np.linalg.norm(SOUND, axis=1) / [10, 100, 2, 10]
    found = compare_radius(SOUND, radii, kind="sound")
    assert found.noise_ratios == pytest.approx([20, 40, 6.0206, 20], abs=1e-4)
    assert "noise ratio of 20 dB (median of 4 inputs, 6.021 to 40)" in str(found)
    assert found.lines[1]["norm"] == pytest.approx(math.sqrt(500) / 65536)
    quiet = compare_radius(SOUND * [[0], [1], [0], [1]], [1, 0, 0, 1], kind="sound")
    assert quiet.noise_ratios[0] == -math.inf and quiet.noise_ratios[1] == math.inf
    assert math.isnan(quiet.noise_ratios[2]) and " dB; lower is better" in str(quiet)


def test_what_has_scale_0_is_covered_by_no_radius():
    mask = np.ones(GREY.shape[1:])
    mask[:3] = 0
    found = compare_radius(GREY, 1e6, scale=mask, kind="image")
    assert found.lines[1]["norm"] == pytest.approx(math.sqrt(90) / 2)
    assert found.lines[2] == {"change": "one step brighter", "norm": math.inf, "covered": 0}
    assert "30 of 120 features have scale 0" in found.notes[-1] and "inf" in str(found)
    one = compare_radius(np.arange(20.0).reshape(10, 2), 1, scale=[1, 0])
    assert "1 of 2 features has scale 0. No radius covers a change of it;" in one.notes[-1]
    half = np.pad(LEVELS[:, :8, :8, 0], [(0, 0), (0, 0), (0, 8)], constant_values=130)
    left = np.repeat([[1, 0]], 8, 1).repeat(8, 0)
    found = norms((half / 255).astype(np.float32), scale=left, kind="image")
    assert found["one step brighter"] == math.inf > found.get("JPEG of quality 95", 0)


def test_a_table_names_its_features_from_the_shortest_on():
    pandas = package("pandas")
    numbers = np.arange(40.0)
    frame = pandas.DataFrame({"cut": ["a", "b"] * 20, "b": numbers, "a": numbers % 9})
    rows = kit.rows_of(lambda x: np.asarray(x["a"], float), frame, 0.5, 4.0, samples=99, seed=1)
    found = compare_radius(frame, rows)
    changes = [line["change"] for line in found.lines]
    assert changes[2:] == ["a by one deviation", "b by one deviation", "all by one deviation"]
    assert (found.radii == rows["radius"][:, 0, 0]).all() and found.lines[0]["covered"] == 40
    assert found.lines[2]["norm"] == pytest.approx(frame["a"].std(ddof=0))
    rows.done[3] = False
    assert compare_radius(frame, rows).lines[0]["covered"] == 39
    assert len(norms(RNG.normal(size=(9, 30)))) == 13


def test_covered_is_what_is_strictly_shorter():
    step = np.arange(20.0)[:, None]
    most = compare_radius(step, 1).lines[1]["norm"]
    assert 0.5 < most < 0.5 + 1e-6
    radii = [0, 0.28, 0.29, 0.5, most, np.nextafter(most, 1), *[3.0] * 14]
    found = compare_radius(step, radii)
    assert [line["covered"] for line in found.lines[:2]] == [18, 15]
    assert "On 2 of 20 inputs it is not above" in str(found)
    alone = compare_radius(step[:1], 0.1, step=1)
    assert "below it.\nIt is not above a typical rounding error" in str(alone)
    shown = str(compare_radius(step, 0.123456))
    assert "5.767" in shown and " 0.5 " in shown and "is 0.1234 (median" in shown


# ---- the commands
def test_certify_prints_the_comparison_and_writes_the_same(models):
    asked = ("certify", *PRODUCT, *ASKED, "--tolerance", ".5,1", "-q")
    plain, _ = said(*asked, "-o", "a.json")
    out, err = said(*asked, "-o", "b.json", "--units", "0.5")
    assert out.startswith(plain) and err == "" and read("a.json") == read("b.json")
    assert len(re.findall(r"^Radii at sigma 0.25 and tolerance (?:0.5|1):$", out, re.M)) == 2
    assert out.count(TYPICAL.format("steps")) == 2
    _, aside = said(*asked, "-o", "-", "--units")
    assert "values show no step: give --units STEP." in aside
    certify_refused("give --units STEP", "--units", "image", model="models.py:fails")
    certify_refused("--units is '-1'; it must be image, sound or a", "--units=-1")
    words = ("sigma", *PRODUCT, *ASKED, "--denoise", "x.npy", "--units")
    command_refused(2, "--target or --units", *words)
    asked = ("sigma", *PRODUCT, "--sigma", ".1,.25", "--tolerance", ".001,.5", "--samples", "99")
    out, _ = said(*asked, "-q", "--units")
    deployed = re.search(r"Deploy sigma (\S+) for", out)[1]  # the recommended level
    assert f"Radii at sigma {deployed} and tolerance 0.5:" in out
    assert "No sigma certifies anything at tolerance 0.001" in out and out.count("Radii at") == 1


def test_missing_cells_have_no_size(models):
    x = np.arange(20.0).reshape(10, 2)
    x[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"feature 1 is missing in row 3: give X\[keep\], rows\["):
        compare_radius(x, 1)
    frame = package("pandas").DataFrame(x, columns=["a", "b"], index=list("qrstuvwxyz"))
    with pytest.raises(ValueError, match="column 'b' is missing in row t"):
        compare_radius(frame, 1)
    with pytest.raises(TypeError, match="X is a Series: give rows of a DataFrame"):
        compare_radius(frame.loc["q"], 1)
    write("x.csv", "a,b,c\n1,2,3\n2,,3\n3,4,4\n")
    asked = ("certify", "models.py:tolerant", "x.csv", *ASKED, "-o", "r.csv", "--units")
    write("models.py", "def tolerant(x): return np.nan_to_num(x)[:, 0]\n", "a")
    out, _ = said(*asked, "1")
    assert "(median of 2 inputs" in out
    assert "--units compares 2 of 3 rows, because the others lack cells, first row 1 colu" in out
    first, _, last = [float(line["radius"]) for line in read("r.csv")]
    wanted = compare_radius([[1, 2, 3], [3, 4, 4]], [first, last], step=1, names="abc").lines
    assert json.loads(said(*asked, "1", "--json")[0])["units"][0]["lines"] == list(wanted)
    write("x.csv", "a,b,c\n1,,3\n2,,3\n3,4,\n")
    out, err = said(*asked)
    assert "Radii at" not in out and "--units compares 0 of 3 rows, because" in err


@pytest.mark.filterwarnings("error")
def test_allowances_stay_inside_the_ball():
    X = np.c_[RNG.normal(900, 1, 9), np.round(RNG.normal(3, 1, 9), 1), np.arange(9) % 7, np.ones(9)]
    X[1, 0] = np.nan
    scale, model = [0.1, 0.3, 7, 0], lambda x: np.nan_to_num(x[:, 0]) + x[:, 1] + x[:, 2] / 10
    rows = certify_rows(model, X, 0.25, [1, 1e-9], scale=scale, seed=1, progress=False)
    with pytest.raises(ValueError, match="there are 2 questions: give question"):
        rows.allowances()
    assert not any(line["alone"] for line in rows[2:].allowances(question=1))
    lines = rows.allowances(X, question=0)
    assert [c["note"] for c in lines[4:8]] == ["missing", "", "", "exact"]
    assert math.isnan(lines[4]["alone"]) and (lines[7]["alone"], lines[7]["together"]) == (0, 0)
    assert [c["step"] for c in lines[1:3]] == [0.1, 1] and math.isnan(lines[0]["step"])
    units = scale_of(scale, (4,))
    for given in (X, None):
        every = rows.allowances(given, question=0)
        for i in range(9):
            r = Fraction(float(rows["radius"][i, 0, 0]))
            some = [(j, c) for j, c in enumerate(every[4 * i : 4 * i + 4]) if not c["note"]]
            box = Fraction(0)
            for j, c in some:
                size, ends = Fraction(c["alone"]), np.float32([X[i, j], X[i, j] + c["alone"]])
                if given is not None:
                    size = max(size, Fraction(float(ends[1])) - Fraction(float(ends[0])))
                    assert c["together"] > c["alone"] * 0.999 / len(some) ** 0.5 - 2e-4
                assert 0 < size < r * Fraction(float(units[j]))
                box += (Fraction(c["together"]) / Fraction(float(units[j]))) ** 2
                if not math.isnan(c["step"]):
                    assert 0 <= c["together_steps"] <= c["alone_steps"]
                    assert c["alone"] / c["step"] - 1 < c["alone_steps"] <= c["alone"] / c["step"]
            assert r**2 * Fraction(99, 100) < box < r**2 or given is not None and box < r**2
    shown = str(rows[:1].allowances(question=0)).splitlines()[1].split()[4]
    assert 0 <= Fraction(lines[0]["alone"]) - Fraction(shown) < 1e-3 or given is None
    assert [floored(value) for value in (0.3 * (1 - 1e-12), 0.5, math.nan)] == ["0.2999", "0.5", ""]


def test_values_near_zero_have_no_step_of_one():
    X = RNG.normal(2e-3, 1e-4, (30, 1))
    lines = kit.rows_of(lambda x: x[:, 0], X, samples=50).allowances(X)
    assert all(math.isnan(line["step"]) for line in lines)


def test_allowances_know_their_inputs(folder):
    pd = package("pandas")
    X = pd.DataFrame({"a": [1.0, 2, 4], "b": [0.5, 0.1, 0.3]})
    rows = certify_rows(lambda x: x.sum(axis=1), X, 0.25, 1, scale=1, seed=1, progress=False)
    assert [c["column"] for c in rows[[2]].allowances(X[2:])] == ["a", "b"]
    for wrong, text in ((X[["b", "a"]], "X has other columns"), (X[:2], "X has shape"),
                        (X[::-1], "X has another index")):
        with pytest.raises(ValueError, match=text):
            rows.allowances(wrong)
    assert "index" not in rows.allowances()[0]  # as it is the number
    question = Question(1, name="near")
    named = certify_rows(lambda x: x.sum(axis=1), X.set_axis(list("uvw")), 0.25, question, seed=1)
    line = named[1:].allowances()[0]
    assert [*line.items()][:2] == [("row", 1), ("index", "v")] and line["name"] == "near"
    assert str(named.allowances()).splitlines()[1].split()[:4] == ["0", "u", "0.25", "near"]
    rows.inputs.steps = np.array([1, np.nan])
    assert rows.allowances()[0]["step"] == 1 and rows.allowances(X)[1]["step"] == 0.1
    bounds = certify_rows(lambda x: x.sum(axis=1), X, 0.25, 0, options=Options(radius=0.1), seed=1)
    with pytest.raises(ValueError, match="output bounds"):
        bounds.allowances()


def test_features_of_images_are_named_by_their_place():
    for shape, name in (((2, 3), "row 1 column 2"), ((2, 3, 1), "row 1 column 2 channel 0"),
                        ((3, 2, 2), "channel 2 row 1 column 1"),
                        ((2, 1, 1, 3), "feature [1, 0, 0, 2]")):
        rows = kit.rows_of(lambda x: x.reshape(len(x), -1)[:, 0], np.zeros((2, *shape)), samples=50)
        assert rows.allowances()[-1]["column"] == name


def test_check_knows_sigmas_at_which_no_radius_is_above_rounding(models):
    f, X = kit.model, np.arange(20.0)[:, None] + [0, 5, 9]
    (found,) = check_model(f, X, sigma=0.18)  # 2.688 sigma is below the root of 3/12
    assert found.kind == "radius" and found.size == pytest.approx(0.5)
    assert "at most 0.4839 at sigma 0.18" in found.text
    assert check_model(f, X, sigma=0.19) == check_model(f, X) == []
    hours = np.arange(1301.0)[:, None].repeat(3, 1)  # each 20th of them shows a step of 20
    assert not check_model(f, hours, sigma=1)
    broken = np.concatenate([X, [[1, 2, np.inf]], X])  # in a row that is not called with
    assert not check_model(f, broken, sigma=0.2, calls=25)
    np.save("steps.npy", X)
    out, _ = said("check", PRODUCT[0], "steps.npy", "--sigma", ".01", status=1)
    assert out.startswith("radius: with 1000 samples")


# ---- boxes
DICE = np.random.default_rng(3)
X = DICE.normal(size=(45, 4))
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
    box, seen = BOX * [1, 0, 1, 1], []  # a bound of 0 is an exact feature
    rows, moves = proved(box=box, model=lambda x: (seen.append(x[:, 1].copy()), linear(x))[1])
    assert rows.scale.tolist() == box.tolist()
    assert set(np.concatenate(seen)) <= set(X[:8, 1].astype(np.float32))
    assert (moves > SLOPES @ box).all() and moves.mean() < MOVE
    rows, _ = proved(box=box, scale=BEST)  # with noise it may move too, but does not have to
    assert rows.at_radius == pytest.approx(np.linalg.norm(box / BEST), rel=1e-5)
    slopes = SLOPES * [1, 0, 1, 1]  # and so is a missing cell
    x = np.where(np.arange(4) == 1, np.nan, X[:8])
    rows = within(lambda x: np.nan_to_num(x) @ slopes, x, BOX, **HOW, question=SURE)
    moves = (rows["output_hi"] - rows["output_lo"]) / 2
    assert rows.at_radius == pytest.approx(2, rel=1e-5)
    assert (moves > slopes @ BOX).all() and not rows.errors


class Coded:
    """A model that says of its second feature that it is a category, as scikit-learn's do."""

    is_categorical_ = np.array([False, True])

    def predict(self, x):
        return np.asarray(x).sum(1)


def test_a_spread_leaves_categories_without_noise():
    x = np.column_stack([X[:, 0], np.arange(len(X)) % 5])
    model = Coded()
    text = "categories by the model's description"
    told = functools.partial(pytest.warns, UserWarning, match=text)
    with told():
        assert within(model, x, [1, 0], scale="std", **HOW).scale[1] == 0
    with told():
        with pytest.raises(ValueError, match="feature 1 has a bound and the scale 0"):
            within(model, x, [1, 1], scale="std")


def test_the_box_is_inside_after_inputs_are_rounded():
    x = 10.0 ** DICE.uniform(-3, 5, size=(300, 4))
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
    with pytest.raises(ValueError, match="box is -1 for feature 0"):
        tuned(box=-1)


def test_the_command_takes_boxes(models):
    write("box.csv", "c,a,b\n.3,.2,0\n")
    write("x.csv", "a,b,c\n1,2,3\n2,3,4\n")
    write("linear.py", "def f(x): return x @ [8, 2, 0.5]\n")
    asked = "linear.py:f x.csv --sigma 1 --seed 1 --samples 500 -q".split()
    said("bounds", *asked, "--box", "box.csv", "-o", "b.csv")
    x, box = np.array([[1, 2, 3], [2, 3, 4]]), [0.2, 0, 0.3]
    rows = within(lambda x: x @ [8, 2, 0.5], x, box, 1, samples=500, seed=1, progress=False)
    lines = read("b.csv")
    assert [float(line["output_hi"]) for line in lines] == rows["output_hi"].ravel().tolist()
    write("many.csv", "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in X[:12, :3]))
    more = "linear.py:f many.csv --sigma 1 --tolerance 2 --seed 1 --samples 200 --rounds 2".split()
    said("scale", *more, "--box", ".2", "-o", "s.csv")
    scale = read("s.csv")[0]
    assert float(scale["a"]) < 0.19 < 0.21 < float(scale["c"])

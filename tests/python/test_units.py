"""Radii next to known changes of inputs: their norms, what is covered, and what is not known."""

import io
import json
import math
import re
import sys

import numpy as np
import pytest

import kit
from kit import ASKED, PRODUCT, certify_refused, command_refused, package, parametrize, read, said
from kit import write
from certreg import check_model, compare_radius

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
    if images.ndim == 4:  # channels that are standardised each
        shape = [3 if k == axis % 4 else 1 for k in range(4)]
        mean, step = np.reshape([124, 116, 104], shape), np.reshape([58, 57, 54], shape) ** -1.0
        scale = np.broadcast_to(step[0], images.shape[1:])
        same(norms(((images - mean) * step).astype(np.float32), scale=scale, kind="image"), wanted)


def test_dark_images_with_another_range_do_not_get_a_third_of_their_step():
    dark = (GREY[:, 1:] // 3 - 30.5) / 40  # levels 0 to 85, which lie on 255 finer steps too
    with pytest.raises(ValueError, match="give step"):
        compare_radius(dark, 1, kind="image")


@parametrize("values", [RNG.integers(0, 17, (30, 8, 8))], [RNG.poisson(3, (30, 9, 9))])
def test_counts_are_not_taken_for_images(values):
    told = str(compare_radius(values[0], 1))
    assert "\nSteps: 1. " in told and not re.search("8 bits|JPEG of", told)


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
    0.5 + RNG.integers(0, 2**23, 100_000) / 2**24,  # the steps of float32
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


def test_sigma_compares_the_level_that_it_recommends(models):
    asked = ("sigma", *PRODUCT, "--sigma", ".1,.25", "--tolerance", ".001,.5", "--samples", "99")
    out, _ = said(*asked, "-q", "--units")
    deployed = re.search(r"Deploy sigma (\S+) for", out)[1]
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

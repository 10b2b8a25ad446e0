"""Sets of changes: the level at the edge, noise ids, margins of cells, and what is refused."""

import functools
import itertools
import math

import numpy as np
import pytest
from certreg.alternatives import Alternatives, Space
from certreg.frames import Columns
from kit import ASKED, SAMPLES, bits, certify_refused, certreg, counting, package, parametrize, read
from kit import rows_of, said, same, write

AtMost, Gain, Listed = certreg.AtMost, certreg.Gain, certreg.Listed
PIXELS = (0, 1)
OneOf, Replaced, Translated = certreg.OneOf, certreg.Replaced, certreg.Translated
Question, Target = certreg.Question, certreg.Target
TRUE = 0.3  # radius of the tight alternative: there the median becomes 1
EDGE = TRUE * 1.0001
HOUSES = np.array([[0.2, 0, 1], [0.4, 1, 0], [0.1, 2, 1]], np.float32)


def house(x):
    return x[:, 0] + 0.1 * x[:, 1] + 0.05 * x[:, 2]


def houses(alternatives, x=HOUSES, questions=0.5, **more):
    more = {"samples": 900, "scale": [1, 0, 0][: x.shape[1]], **more}
    return rows_of(more.pop("f", house), x, questions=questions, alternatives=alternatives, **more)


# ---- the level
def climbing(x):
    """Its radius is TRUE around all factors up to 1.5 of an input at 0.2."""
    return np.where(x[:, 0] >= 0.2 * 1.5 + TRUE, 1.0, 0.0)


def values(count):
    return OneOf(1, list(range(count)), check=False)


@parametrize("refine, samples, target", (0, 900, None), (2, 6000, EDGE))
def test_false_radii_at_the_edge_of_a_family_are_at_most_alpha(refine, samples, target):
    count, x = 200, np.full((200, 2), [0.2, 0], np.float32)
    set_ = Gain(0.5, 1.5, [0], cells=2, refine=refine)
    asked = Question(0.5, alpha=0.1, target=target)
    rows = rows_of(climbing, x, 1.0, asked, samples=samples, scale=[1, 0], alternatives=set_)
    false = int((rows.radius > TRUE + 1e-6).sum())
    each = (math.comb(count, k) * 0.1**k * 0.9 ** (count - k) for k in range(false, count + 1))
    assert sum(each) > 1e-3 and false > 0  # it has power: the level is nearly attained
    assert (rows["samples"] <= samples).all() and not rows.errors


# ---- the least radius
def test_radius_is_the_least_of_records_made_by_hand():
    rows = houses(OneOf(1, [0, 1, 2], check=False), HOUSES[:1])
    (found,) = rows.alternatives.values()
    pilot = rows.sampling.pilot
    main = (900 - pilot) // 3
    common = {"max_samples": 900, "seed": 42, "scale": [1, 0, 0]}
    with certreg.Estimator(house, 3, pilot=pilot, **common) as e:
        e.begin(HOUSES[0], 0.25)
        e.sample(0, pilot)
        asked = Question(0.5, prediction=e.prediction(0.5))
        own = e.certify(pilot + main, asked)
    radii = [own.radius]
    with certreg.Estimator(house, 3, pilot=certreg.NO_PILOT, **common) as e:
        for number, kind in ((1, 1), (2, 2)):
            z = [HOUSES[0, 0], kind, 1]
            radii.append(e.certify(z, 0.25, main, asked, noise_id=2**63 + number).radius)
    assert rows.radius[0] == min(radii) > 0 and rows.prediction[0] == own.prediction
    assert found.names == ("no change", "feature 1=1", "feature 1=2")
    assert found.limiting == (found.names[int(np.argmin(radii))],)
    assert rows["samples"][0, 0, 0] == found.calls == pilot + 3 * main


def test_estimator_and_processes_return_the_same_bits():
    sets = [AtMost(2, [OneOf(1, [0, 1, 2]), OneOf(2, [0, 1])]), Replaced({0: 0.0})]
    rows = houses(sets)
    assert rows.alternatives[0, 0].count == 1 + (2 + 1) + 2 + 1
    alone = houses(OneOf(1, [0, 1]), HOUSES[:2], questions=[0.5, 0.4])
    assert houses(Replaced({1: 1.0}), HOUSES[1:2]).alternatives[0, 0].names == ("no change",)
    assert np.shape(alone.alternatives[0, 0].estimates) == (2, 2)
    for more in ({"jobs": 2}, {"batch": 64}, {"questions": 0.1, "jobs": 2}):
        asked = {"questions": more.pop("questions", 0.5)}
        assert bits(houses(sets, **asked, **more)) == bits(houses(sets, **asked))
    with certreg.Estimator(house, 3, SAMPLES, seed=42, scale=[1, 0, 0]) as e:
        e.certify(HOUSES[-1], 0.25, 900, 0.5)
        for i, z in enumerate(HOUSES):
            c = e.certify(z, 0.25, 900, 0.5, noise_id=i, alternatives=sets)
            assert same(c, rows.certificate(i)) and e.alternatives == rows.alternatives[i, 0]
            with pytest.raises(certreg.CertregError, match="sample 0 .* is missing"):
                e.prediction(0.5)  # of an earlier input
        with pytest.raises(TypeError, match="alternatives need a new input"):
            e.certify(0, 0.5, alternatives=sets)
        with pytest.raises(ValueError, match="must be below"):
            e.certify(z, 0.25, 900, 0.5, noise_id=2**43, alternatives=sets)


@parametrize(
    "more",
    {"questions": [0.5, 0.4]},
    {"sigma": [0.2, 0.3]},
    {"questions": "300%"},
    {"questions": Question(0.5, method="anytime")},
    {"questions": Question(0.5, statistic="huber", huber_width=0.2)},
    {"questions": Question(0.5, serving=certreg.Serving(101, 0.01))},
)
def test_questions_have_shorter_radii_with_alternatives(more):
    x = HOUSES[:2] + np.float32(0.5)
    x[:, 1:] = HOUSES[:2, 1:]
    alone, several = houses(None, x, **more), houses(OneOf(1, [0, 1]), x, **more)
    assert (several["radius"] > 0).all() and (several["radius"] < alone["radius"]).all()
    assert (several["radius_linf"] < alone["radius_linf"]).all()


def test_target_ends_at_the_first_failure():
    bad = houses(values(9), questions=Question(0.35, target=0.1), samples=5000)
    found = bad.alternatives[0, 0]
    assert bad.radius[0] == 0 and found.limiting == (found.names[found.proved],)
    assert 0 < found.proved < 8 and found.calls < 2000
    assert bad["stop"][0, 0, 0] == certreg.Stop.HOPELESS
    asked = Question(0.5, target=0.5)  # over 100 alternatives
    rows = rows_of(lambda x: 0 * x[:, 0], np.array([[0.0, 0]], np.float32), 1.0, asked,
                   samples=5000, scale=[1, 0], alternatives=values(100))  # fmt: skip
    assert rows.radius[0] >= 0.5 and rows["samples"][0, 0, 0] <= 1500
    assert rows["stop"][0, 0, 0] == certreg.Stop.TARGET
    assert "2 target, 1 alternative; neither the target radius nor a part of it" in str(bad)


@parametrize("jump, reason", (0, "outputs_out"), (5, "alternative"))
def test_an_abstention_has_the_reason_of_the_limiting_alternative(jump, reason):
    f = lambda x: np.where(x[:, 1] == 0, 0, jump or 1e3 * (x[:, 0] > 0.02))  # noqa: E731
    rows = houses(values(2), np.zeros((2, 2), np.float32), f=f)
    assert [c.reason.name.lower() for c in rows] == [reason] * 2
    assert all(c.radius == c.samples_needed == 0 < c.share_allowed for c in rows)


# ---- margins
def bilinear(image, u, v, fill):
    """A translated image by loops over pixels, in double."""
    h, w = image.shape

    def pixel(i, j):
        if fill is not None and not (0 <= i < h and 0 <= j < w):
            return fill
        return image[min(max(i, 0), h - 1), min(max(j, 0), w - 1)]

    out = np.empty((h, w))
    for i, j in itertools.product(range(h), range(w)):
        y, x = i - v, j - u
        a, b = math.floor(y), math.floor(x)
        s, t = y - a, x - b
        out[i, j] = (1 - s) * ((1 - t) * pixel(a, b) + t * pixel(a, b + 1)) + s * (
            (1 - t) * pixel(a + 1, b) + t * pixel(a + 1, b + 1)
        )
    return out


RNG = np.random.default_rng(3)
IMAGE, PLACES = RNG.random((5, 4)), np.arange(20).reshape(5, 4)


def bright(z, t, low=0.0, high=1.0):
    return np.clip(low + (1 + t) * (z - low), low, high)


@parametrize(
    "set_, change",
    (Gain(0.7, 1.5, clip=PIXELS), lambda z, t: bright(z, t[0] * 0.4 + 0.1)),
    (Gain(1, 1.4, None, PIXELS, 7), lambda z, t: np.rint(7 * bright(z, t[0] * 0.2 + 0.2)) / 7),
    (Gain(0, 1.2, clip=(-1, 1)), lambda z, t: bright(z, t[0] * 0.6 - 0.4, -1)),
    (Gain(-1.0, 2.0, [0, 3]),
     lambda z, t: z * np.where(np.isin(PLACES, [0, 3]), 1.5 * t[0] + 0.5, 1)),
    (Translated(1.5, 0.7), lambda z, t: bilinear(z, 1.5 * t[0], 0.7 * t[1], None)),
    (Translated(0.3, 2, fill=-2.0), lambda z, t: bilinear(z, 0.3 * t[0], 2 * t[1], -2.0)),
    (Translated(0.5, 0.5, fill=0.0) * Gain(0.8, 1.2, clip=PIXELS),
     lambda z, t: bright(bilinear(z, 0.5 * t[0], 0.5 * t[1], 0.0), 0.2 * t[2])),
)
def test_cells_cover_every_change_of_a_family(set_, change):
    scale = RNG.uniform(0.5, 2, IMAGE.shape)
    space = Space(IMAGE.shape, scale, None, None)
    _, (cover,) = Alternatives(set_, space).of(IMAGE.astype(np.float32).reshape(-1))
    parts = list(itertools.islice(cover.partitions(), 6))
    halves = [half for cell in parts[-1] for half in cover.halves(cell)]
    z = IMAGE.astype(np.float32).astype(np.float64)
    corners = [np.array(t) for t in itertools.product((-1.0, 1.0), repeat=3)]
    for t in [*corners, *RNG.uniform(-1, 1, (24, 3))]:
        x = change(z, t).reshape(-1)
        for cells in (*parts, halves):
            slack = [c.margin - np.linalg.norm((x - c.z) / space.scale) for c in cells]
            assert max(slack) >= -1e-15
    assert max(c.margin for c in halves) < max(c.margin for c in parts[0])


def test_margins_are_subtracted_from_listed_inputs():
    z = np.array([[0.1, 0.2]], np.float32)
    radii = [
        rows_of(lambda x: 0 * x[:, 0], z, samples=600, alternatives=Listed([[5, 5]], margin)).radius
        for margin in (0.0, 0.125)
    ]
    assert radii[1][0] == np.nextafter(radii[0][0] - 0.125, 0)

    def changed(z):  # its argument, which is no one else's
        z[0] = 99.0
        return [z]

    rows = houses(Listed(changed), scale=[1, 1, 1])
    assert same(rows["prediction"], houses(Listed(HOUSES), scale=[1, 1, 1])["prediction"])
    assert rows.alternatives[0, 0].count == 2


def test_channels_move_with_the_image():
    image = RNG.random((3, 5, 4)).astype(np.float32)
    wanted = np.stack([bilinear(channel, 0.3, -0.6, None) for channel in image])
    for last, z in ((False, image), (True, np.moveaxis(image, 0, 2))):
        for set_, space in (
            (Translated(1, 1), Space(z.shape, None, None, None)),
            (Translated(1, 1, None, z.shape, last), Space((60,), None, None, None)),
        ):
            moved = set_._at(z.reshape(-1), (0.3, -0.6), space).reshape(z.shape)
            assert np.allclose(np.moveaxis(moved, 2, 0) if last else moved, wanted)


@parametrize("gone, proved", (5.0, True), (50.0, False))
def test_a_missing_cell_is_an_alternative(gone, proved):
    x, seen = np.array([[5.0, 0, 1], [5.2, 0, 0]]), []

    def f(x):
        seen.append(np.isnan(x[:, 0]).sum())
        return np.nan_to_num(x[:, 0], nan=gone) * 0.1 + x[:, 1]

    rows = houses([Replaced({0: None}), Replaced({2: 3.0})], x, f=f, scale=[1, 1, 0], questions=1)
    found = rows.alternatives[0, 0]
    assert found.names == ("no change", "feature 0=nan", "feature 2=3") and sum(seen) > 100
    assert (rows.radius > 0).tolist() == [proved] * 2
    assert proved or "limited by feature 0=nan: 5.0" in str(found)
    assert proved or "the change to an alternative itself moves the estimate" in str(rows)
    x = np.array([[0.2, 0, 1], [np.nan, 1, 2]], np.float32)  # what is missing stays so
    f = lambda x: np.nan_to_num(x, nan=0.1) @ [1, 0.1, 0.1]  # noqa: E731
    rows = houses([OneOf(1), Gain(0.9, 1.1, [0])], x, f=f, scale=[1, 0, 1])
    assert rows.radius[0] > 0 == rows.radius[1] and "cells are missing" in rows.errors[1, 0]
    rows = houses([OneOf(1), Replaced({0: 0.0})], x, scale=[1, 0, 1], f=lambda x: 0 * x[:, 2])
    assert (rows.radius > 0).all() and rows.alternatives[1, 0].count == 3


# ---- DataFrames and files
def test_dataframes_name_categories():
    pandas = package("pandas")
    x = pandas.DataFrame({"area": [0.2, 0.4], "fuel": ["gas", "oil"], "kind": ["a", "b"]})
    x["kind"] = pandas.Categorical(x["kind"], categories=["a", "b", "c"])
    seen = set()

    def f(frame):
        seen.update(zip(frame["fuel"], frame["kind"]))
        return frame["area"].to_numpy() + 0.1 * (frame["kind"] == "c").to_numpy()

    rows = rows_of(f, x, samples=900, alternatives=OneOf("fuel") * OneOf("kind"))
    assert seen == set(itertools.product(("gas", "oil"), "abc"))
    assert rows.alternatives[0, 0].count == 6 and (rows.radius > 0).all()
    line = rows.to_dicts()[0]
    assert line["limiting_alternative"].endswith("kind=c") and list(line)[-1] == "limiting_estimate"
    assert line["limiting_estimate"] == pytest.approx(0.3, abs=0.05)
    with certreg.Estimator(f, x, 900, seed=42) as e:
        c = e.certify(x.iloc[[0]], 0.25, 900, 0.5, alternatives=OneOf("kind"))
        assert c.radius > 0 and e.alternatives.names == ("no change", "kind=b", "kind=c")
    for value, what in (("coal", "never has in X"), ("d", "never has in X")):
        column = "fuel" if value == "coal" else "kind"
        with pytest.raises(ValueError, match=what):
            rows_of(f, x, alternatives=OneOf(column, [value]))
    with pytest.raises(ValueError, match="cannot hold 'd'"):
        rows_of(f, x, alternatives=OneOf("kind", ["d"], check=False))


@pytest.mark.usefixtures("folder")
@parametrize("more", {}, {"keep_records": True})
def test_alternatives_are_resumed(more):
    tolerances = Question(np.linspace(0.4, 0.6, 9))
    x = np.tile(HOUSES, (3, 1)) + np.float32([[0.01, 0, 0]]) * np.arange(9)[:, None]
    run = functools.partial(houses, OneOf(1, [0, 1, 2]), **{"resume": "r.sqlite", **more})
    whole = houses(OneOf(1, [0, 1, 2]), x, questions=tolerances)
    run(x[:4], tolerances._of_rows(np.arange(4)))
    f, calls = counting(house)
    for _ in range(2):
        rows = run(x, tolerances, f=f)
        assert bits(rows) == bits(whole) and rows.alternatives == whole.alternatives
    assert sum(calls) < 5 * 900 * 9 / 8  # the new rows once, and what is asked again
    for other in (OneOf(1, [0, 1]), Listed(lambda z: [z])):
        with pytest.raises(certreg.ResumeError, match="arguments .alternatives"):
            houses(other, x, questions=tolerances, resume="r.sqlite", **more)
    if more:
        again = run(x, 0.45, f=None)
        assert bits(again) == bits(houses(OneOf(1, [0, 1, 2]), x, questions=0.45))
        return
    rows.save("rows.npz")
    assert certreg.Rows.load("rows.npz").alternatives == rows.alternatives
    assert list(rows[1:].alternatives) == [(i, 0) for i in range(8)]
    for _ in range(2):
        assert run(x, tolerances, resume="parts/").alternatives == whole.alternatives


# ---- refusals
PHOTO = np.full((2, 4, 4), 0.5, np.float32)
BEYOND = 2**24 + 1  # a code that float32 lacks


def mean(x):
    return x.mean(axis=(1, 2))


@parametrize(
    "set_, x, what",
    (OneOf(1, [0, 7]), HOUSES, "a value that 'feature 1' never has in X"),
    (OneOf(1, [-0.0, 1]), HOUSES, "a value that 'feature 1' never has in X"),
    (OneOf(0), HOUSES, "gets noise"),
    (AtMost(1, [1, 0]), HOUSES, "gets noise"),
    (AtMost(3, [1, 2]), HOUSES, "it has 2 columns"),
    (Gain(0.9, 1.1), HOUSES, "scale 0"),
    (Translated(1, 1, shape=(1, 3)), HOUSES, "scale 0"),
    (OneOf(1, [BEYOND], check=False), HOUSES, f"a value of OneOf.* has {BEYOND} in a feature with"),
    (Replaced({1: BEYOND}), HOUSES, f"Replaced has {BEYOND} in a feature without noise"),
    (Listed([[0.1, BEYOND, 2]]), HOUSES, f"the inputs of Listed has {BEYOND} in a feature without"),
    (OneOf(1, list(range(300)), check=False), HOUSES, "a target of 0.0625 takes 1932 samples"),
    (OneOf("heating"), HOUSES, "X has no names"),
    ([], HOUSES, "alternatives is empty"),
    ("any", HOUSES, "alternatives must be OneOf"),
    (Gain(0.9, 1.1, [0]) * OneOf(1), HOUSES, "finite sets come first"),
    (Listed([[1, 2, 3]]) * OneOf(1), HOUSES, "list the changed inputs"),
    (Gain(-0.5, 1, clip=PIXELS), PHOTO, "nothing is darker"),
    (Gain(0.9, 1.1, clip=(0, 0.25)), PHOTO, "give the range of its pixels as clip"),
    (Gain(0.9, 1.1, clip=PIXELS) * Translated(1, 1), PHOTO, "has to be the last one"),
    (Gain(0.9, 1.1, cells=10**5), PHOTO, "cells"),
    (Gain(0.9, 1.1, [0], PIXELS), PHOTO, "leave out columns"),
    (Gain(0.9, 1.1, levels=9), PHOTO, "between black and white: give clip"),
    (Translated(1, 1, shape=(1, 16, 1)), PHOTO, "give channels_last"),
    (Translated(1, 1, channels_last="first"), PHOTO, "channels_last must be a bool, not 'first'"),
    (Translated(400, 400), PHOTO, "more than 65536 cells"),
    (Gain(1, 1000), PHOTO, "too few for"),
    (Gain(0.9, 1.1, refine=1), PHOTO, "refine divides cells that miss a target"),
)
def test_sets_are_refused_with_a_remedy(set_, x, what):
    images = x is PHOTO
    with pytest.raises((TypeError, ValueError), match=what):
        rows_of(mean if images else house, x, scale=None if images else [1, 0, 0], samples=900,
                alternatives=set_)  # fmt: skip


def test_what_is_wrong_with_a_set_a_model_or_an_image_alone():
    for low, high, more in ((1.25, 1.5, {}), (-0.1, 0.1, dict(clip=PIXELS))):
        with pytest.raises(ValueError, match=f"Gain is from {low} to {high}, without 1, the fac"):
            Gain(low, high, **more)

    def fails(x):
        if (x[:, 1] == 2).any():
            raise ValueError("no such kind")
        return house(x)

    with pytest.raises(certreg.RowsError, match="row 0: the model raised ValueError: no such kind"):
        houses(OneOf(1), HOUSES[[0, 2]], f=fails)
    x = PHOTO.copy()
    x[1, 0, 0] = 1.5
    rows = rows_of(mean, x, 0.5, samples=900, alternatives=Gain(0.9, 1.1, clip=PIXELS))
    assert rows.radius[0] > 0 and rows["status"][1, 0, 0] == certreg.Status.INVALID
    assert "clips to [0, 1]" in rows.errors[1, 0]


@parametrize(
    "more, what",
    ({"questions": Question.paper("(C)", 0.5)}, "alternatives need Center.PREDICTION"),
    ({"questions": Question(0.5, method="baseline")}, "need Method.FINITE"),
    ({"questions": [Question(0.5, target=0.1), 0.4]}, "one question"),
    ({"questions": Question(0.5, target=Target(0.1, [400]))}, "leave looks"),
    ({"radius": 0.1}, "radius cannot be combined"),
    ({"noise_id": 2**43}, "noise ids of rows must be below"),
)
def test_questions_without_alternatives_are_refused(more, what):
    with pytest.raises(ValueError, match=what):
        houses(OneOf(1), **more)


def test_command_names_sets(models):
    write("codes.csv", "size,kind,part\n0.2,0,0.1\n0.4,1,0.2\n0.1,1,0\n")
    write("scale.csv", "size,kind,part\n1,0,0\n")
    common = ("certify", "models.py:product", "codes.csv", *ASKED, "--scale", "scale.csv", "-q")
    for option, value, count in ("--any", "kind", 2), ("--at-most", "2:kind,part", 6):
        said(*common, option, value, "-o", "r.csv")
        lines = read("r.csv")
        assert {line["alternatives"] for line in lines} == {str(count)}
        assert {line["limiting_alternative"][:4] for line in lines} <= {"kind", "part", "no c"}
        assert all(0 < float(line["radius"]) < 0.5 for line in lines)
    said(*common, "--any", "kind", "--rows", "0:1", "-o", "r.csv")  # values of the whole file
    assert [line["alternatives"] for line in read("r.csv")] == ["2"]
    np.save("codes.npy", np.array([[0.2, 0, 0.1], [0.4, 1, 0.2], [0.1, np.nan, 0]]))
    np.save("scale.npy", [1.0, 0, 0])
    more = (*ASKED, "--scale", "scale.npy", "-q", "--any", "1", "--rows", "0:2", "-o", "r.csv")
    said("certify", "models.py:product", "codes.npy", *more)
    assert {line["alternatives"] for line in read("r.csv")} == {"2"}
    np.save("images.npy", PHOTO[:, :, :3].reshape(-1, 3))
    words = ("certify", "models.py:product", "images.npy", *ASKED, "-q", "--json")
    assert '"certified": 8' in said(*words, "--brightness", "-10%,25%")[0]


@parametrize(
    "words, why",
    (("--any", "size"), "there is no column 'size'"),
    (("--any", "0"), "gets noise"),
    (("--at-most", "kind"), "a number and columns, like 2:a,b,c"),
    (("--brightness", "25"), "a percentage like 25%"),
    (("--brightness", "-5%"), "a percentage like 25%"),
    (("--brightness", "5%,25%"), "or two around 0 like -10%,25%"),
    (("--brightness", "5%,25"), "or two around 0 like -10%,25%"),
    (("--brightness", "0%"), "a percentage like 25%"),
)
def test_command_refuses_sets(models, words, why):
    certify_refused(why, "-q", *words)


# ---- values of columns, and functions of the program
@parametrize("column, value", (True, "no"), (True, 2), (3, "3"), (np.float32(BEYOND - 1), BEYOND))
def test_values_are_not_converted(column, value):
    pandas = package("pandas")
    frame = pandas.DataFrame({"a": [0.1, 0.2, 0.3], "b": np.array([column] * 3)})
    given = dict(scale={"a": 1}, alternatives=Replaced({"b": value}))
    with pytest.raises(ValueError, match="column 'b' cannot hold"):
        rows_of(lambda f: f["a"].to_numpy(), frame, samples=300, **given)


def test_nullable_columns_have_alternatives():
    pandas = package("pandas")
    heated = pandas.array([True, None, False], dtype="boolean")
    frame = pandas.DataFrame({"a": [0.1, 0.2, 0.3], "b": heated})
    f = lambda x: x["a"].to_numpy(float) + 0.1 * x["b"].fillna(False).to_numpy(float)  # noqa: E731
    rows = rows_of(f, frame, samples=900, scale={"a": 1}, alternatives=OneOf("b", "any"))
    assert [found.count for found in rows.alternatives.values()] == [3, 3, 3]
    with pytest.raises(ValueError, match="the set of alternatives came from these rows"):
        certreg.population(rows)


# ---- one rule for cells
CELLS = (0.0, -0.0, 1, 1.0, True, 2**24, 2.0**24, 2**24 - 1, 2**24 + 1, 2.0**24 + 2, 0.1, "x", None)


def codes_of(values, wrap, column):
    """The values of the alternatives that OneOf makes of these, with the type and sign of each."""
    package("pandas")
    table = wrap(column)
    columns = Columns(table, [1, 0]) if isinstance(table, package("pandas").DataFrame) else None
    X = table if columns is None else columns.matrix
    space = Space((2,), [1, 0], columns, np.float32(X))
    found = Alternatives(certreg.OneOf(1, values, check=False), space)
    z = np.float32([0, 77])
    cells = [cell.z[1] for cell in found.of(z)[0]]
    return cells if columns is None else [columns.value(1, code) for code in cells]


def identity(value):
    """Equal for values that no model can tell apart."""
    return type(value).__name__, repr(value)


@parametrize("order", range(3))
def test_cells_of_arrays_are_their_bits(order):
    given = [v for v in CELLS if v not in ("x", None)]
    given = [given[i] for i in np.random.default_rng(order).permutation(len(given))] * 2
    odd = 2**24 + 1
    with pytest.raises(ValueError, match="has 16777217 .* float32 would make it 16777216"):
        codes_of([odd], np.array, [[0, 5], [0, 5]])
    held = [v for v in given if v != odd]
    found = codes_of(held, np.array, [[0, 5], [0, 5]])
    assert {one.tobytes() for one in found} == {np.float32(v).tobytes() for v in held}
    assert len(found) == len({np.float32(v).tobytes() for v in held})
    with pytest.raises(TypeError, match="must be a number, not 'x'"):
        codes_of(["x"], np.array, [[0, 5]])
    assert np.isnan(codes_of([None], np.array, [[0, 5]])).all()


@parametrize("order", range(3))
def test_cells_of_tables_are_values_with_their_types(order):
    def wrap(values):
        column = np.array(values, object)
        return package("pandas").DataFrame({"a": np.zeros(len(values)), "b": column})

    given = [CELLS[i] for i in np.random.default_rng(order).permutation(len(CELLS))] * 2
    found = codes_of(given, wrap, [7, *given])
    wanted = {("number", repr(float(v)), v == int(v)) if type(v) in (int, float) else identity(v)
              for v in given}  # 1 is 1.0
    assert len(found) == len(wanted)


def test_resumed_rows_are_the_same_bits(folder):
    """Every NaN is the same missing cell, and 0.0 is not -0.0."""
    X = np.array([[0.2, 0.0, np.nan], [0.1, 3.0, 1.0]], np.float32)
    other, negative = X.copy(), X.copy()
    other[0, 2], negative[0, 1] = np.uint32(0xFFC00001).view(np.float32), -0.0
    more = dict(scale=[1, 0, 0], resume="r.sqlite", samples=100)
    first = rows_of(lambda x: x[:, 0], X, **more)
    assert bits(rows_of(lambda x: x[:, 0], other, **more)) == bits(first)
    with pytest.raises(certreg.ResumeError, match="different arguments .X"):
        rows_of(lambda x: x[:, 0], negative, **more)

"""Inputs that are made from parameters: what is made, in which pieces, and what is refused."""

import pickle

import numpy as np

import certreg
import pytest
from certreg import Combinations, Crops, GainAndShift, Parametric
from kit import package, parametrize, same

IMAGE = np.random.default_rng(1).integers(0, 256, (40, 50, 3)).astype(np.uint8)
SIGNAL = np.arange(1.0, 9)
CROPS, SQUARE = (Crops(IMAGE, (10, 5, 30, 25), size) for size in ((10, 20), 20))
MAKERS = [CROPS, GainAndShift(SIGNAL, 2), GainAndShift(np.ones((9, 2))),
          Combinations(SIGNAL, IMAGE[0, :3, :1] * SIGNAL)]


def total(x):
    return x.reshape(len(x), -1).sum(1)


def crop(*p, of=CROPS):
    return of(np.array([p], float))[0]


def test_a_crop_of_the_same_size_has_the_pixels_of_the_image():
    of = SQUARE
    assert (crop(0, 0, 0, 0, of=of) == IMAGE[5:25, 10:30]).all()
    assert (crop(7, -2, 0, 0, of=of) == IMAGE[3:23, 17:37]).all()
    half = (IMAGE[5:25, 10:30].astype(float) + IMAGE[5:25, 11:31]) / 2
    np.testing.assert_allclose(crop(0.5, 0, 0, 0, of=of), half, atol=1e-4)
    gray = Crops(IMAGE[:, :, 0], (10, 5, 30, 25), 20)
    assert (crop(0, 0, 0, 0, of=gray) == IMAGE[5:25, 10:30, 0]).all()


def test_a_turn_is_clockwise_and_a_size_multiplies_the_sides():
    # The right edge of a crop that is turned clockwise looks down the image.
    turned = np.rot90(IMAGE[5:25, 10:30])
    np.testing.assert_allclose(crop(0, 0, 0, 90, of=SQUARE), turned, atol=1e-3)
    whole = Crops(IMAGE, (0, -5, 40, 35), 20)
    twice = crop(0, 0, 100 * np.log(2), 0, of=SQUARE)
    np.testing.assert_allclose(twice, crop(0, 0, 0, 0, of=whole), atol=1e-2)


def test_outside_of_the_image_is_its_border():
    assert (crop(1e30, 0, 0, 0, of=SQUARE) == IMAGE[5:25, -1:]).all()
    assert (crop(0, -1e30, 0, 0, of=SQUARE) == IMAGE[:1, 10:30]).all()
    assert same(crop(0, 0, 400, 0), crop(0, 0, 1e30, 0))
    p = np.array([[3, -2, 20, 30], [0, 0, 0, 0]], float)  # points go back to the image
    there = CROPS.to_image([[[10, 5], [0, 0]], [[10, 5], [0, 0]]], p)
    np.testing.assert_allclose(there[:, 0], [[23, 13], [20, 15]], atol=1e-9)
    np.testing.assert_allclose(there[1, 1], [10, 5])


def test_signals_are_moved_to_later_samples_and_made_louder():
    p = [[0, 0], [0, 1], [0, -1.5], [0, 3], [20, 0], [0, 1e30]]
    made = GainAndShift(SIGNAL, 2)(np.array(p))
    wanted = [[3, 4, 5, 6], [2, 3, 4, 5], [4.5, 5.5, 6.5, 7.5], [0, 1, 2, 3], [30, 40, 50, 60]]
    wanted.append([0, 0, 0, 0])
    np.testing.assert_allclose(made, wanted, rtol=1e-6)
    stereo = GainAndShift(np.stack([SIGNAL, 2 * SIGNAL], 1), 2)(np.array([[6.0, 0.5]]))
    np.testing.assert_allclose(stereo[0, :, 1], 2 * stereo[0, :, 0])


def test_combinations_add_multiples_of_directions():
    made = Combinations([[1, 2]], [[[1, 0]], [[1, 1]]], ["first", "both"])
    assert made.names == ["first", "both"]
    most = np.finfo(np.float32).max
    assert made(np.array([[1, 0.5], [0, 1e39]])).tolist() == [[[2.5, 2.5]], [[most, most]]]


@parametrize("make", *MAKERS)
def test_a_row_has_the_same_bits_at_every_place_and_in_every_batch(make):
    p = np.random.default_rng(2).normal(0, 5, (37, len(make.names)))
    together, alone = make(p), np.concatenate([make(p[i : i + 1]) for i in range(37)])
    assert together.dtype == np.float32 and np.isfinite(together).all()
    assert together.tobytes() == alone.tobytes() == make(p[::-1])[::-1].tobytes()
    with np.errstate(all="raise"):
        assert np.isfinite(make(np.full((2, len(make.names)), [[1e30], [-1e30]]))).all()


def test_what_was_given_may_change_later():
    given = SIGNAL.astype(np.float32)
    crops = Crops(given[None], (0, 0, 8, 1), 8)
    makers = GainAndShift(given), Combinations(given, given[None]), crops
    made = [make(np.ones((1, len(make.names)))).tobytes() for make in makers]
    given[:] = 0
    assert made == [make(np.ones((1, len(make.names)))).tobytes() for make in makers]


def test_inputs_are_made_in_pieces_of_bounded_memory():
    made = []

    def make(p):
        x = np.broadcast_to(p[:, :1], (len(p), 1 << 20))
        made.append(len(p))
        return x

    p = np.arange(9.0)[:, None]
    assert (Parametric(lambda x: x[:, 0], make, ["value"])(p) == p[:, 0]).all()
    assert made == [1, 4, 4, 1]
    own = np.empty(8)  # a model may return its own memory

    def model(x):
        own[: len(x)] = x[:, 0]
        return own[: len(x)]

    assert (Parametric(model, make, ["value"])(p) == p[:, 0]).all()


def test_certificates_are_those_of_the_composition():
    f = Parametric(total, MAKERS[1])
    rows = certreg.certify_rows(f, [[0, 0], [3, 1]], 1, 5, samples=200, scale=[0.5, 2], seed=3)
    g = lambda p: total(MAKERS[1](p.astype(float)))  # noqa: E731
    plain = certreg.certify_rows(g, [[0, 0], [3, 1]], 1, 5, samples=200, scale=[0.5, 2], seed=3)
    assert rows["radius"].min() > 0 and same(rows["radius"], plain["radius"])
    assert certreg.check_model(f, [[0, 0], [3, 1]]) == []
    assert (pickle.loads(pickle.dumps(f))([[1, 2]]) == f([[1, 2]])).all()
    f = Parametric(lambda x: x[:, :1], MAKERS[1], back=lambda y, p: y + p[:, 1:])
    assert f([[0, 1], [0, 2]]).tolist() == [[3], [3]]  # outputs go back by their parameters


def test_columns_go_by_their_names():
    pandas = package("pandas")
    f = Parametric(total, MAKERS[1])
    frame = pandas.DataFrame({"shift": [1.0, 2], "gain": [3.0, 0]})
    assert same(f(frame), f([[3, 1], [0, 2]]))
    rows = certreg.certify_rows(f, frame, 1, 5, samples=50, seed=3)
    assert rows.certificates.shape == (2, 1, 1)
    with pytest.raises(ValueError, match="no feature named 'gain'"):
        f(frame[["shift"]])


@parametrize(
    "make,words",
    (lambda: Crops(IMAGE[0, 0], (0, 0, 1, 1), 2), r"image has shape \(3,\)"),
    (lambda: Crops(IMAGE[:0], (0, 0, 1, 1), 2), "image is empty"),
    (lambda: Crops(IMAGE * np.nan, (0, 0, 1, 1), 2), r"image\[0, 0, 0\] is nan"),
    (lambda: Crops(IMAGE, (0, 0, 1), 2), "give left, top, right and bottom"),
    (lambda: Crops(IMAGE, (5, 0, 1, 1), 2), "box is empty: give left < right"),
    (lambda: Crops(IMAGE, (50, 0, 60, 9), 2), "which is 50 pixels wide and 40"),
    (lambda: Crops(IMAGE, (-9, 0, 0, 9), 2), "box lies outside of the image"),
    (lambda: Crops(IMAGE, (0, 0, 1, 1), (2, 2, 3)), r"size must be \(height, width\)"),
    (lambda: GainAndShift(IMAGE), r"signal has shape \(40, 50, 3\)"),
    (lambda: GainAndShift(SIGNAL, 4), "margin is 4, and the signal has 8 samples"),
    (lambda: Combinations(SIGNAL, np.ones((2, 7))), r"basis for this base has shape \(2, 7\);"),
    (lambda: Combinations(SIGNAL, SIGNAL[None], ["a", "b"]), "names has 2 names for 1 directions"),
    (lambda: Parametric(total, lambda p: p), "names must be a list"),
    (lambda: Parametric(total, MAKERS[1], ["a", "a"]), "a name of its own for each"),
    (lambda: Parametric(total, MAKERS[1], ["a"]), "names must be 2 names, for gain, shift"),
    (lambda: Parametric(total, lambda p: p[:, 0], ["a"]), r"make returned shape \(1,\)"),
    (lambda: Parametric(total, MAKERS[1])([1, 2]), r"p has shape \(2,\); it must be \(rows, 2\)"),
    (lambda: Parametric(lambda x: x[:1], MAKERS[1])([[1, 2]] * 3), "model returned shape"),
)
def test_what_is_wrong_is_said_in_a_sentence(make, words):
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        make()
    assert "\n" not in str(caught.value)

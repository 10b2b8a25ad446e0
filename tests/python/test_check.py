"""check_model finds what makes certificates wrong, and nothing in models that are right."""

import re

import numpy as np
import pytest

from kit import Z, certreg, model, near, no_warnings, package, parametrize
from certreg import check_model

X = np.random.default_rng(3).normal(size=(100, 3))
NET = np.random.default_rng(4).normal(size=(3, 50)).astype(np.float32)
TIMES = 1.7e9 + np.random.default_rng(6).uniform(0, 86400, (50, 1))


def kinds(f, given=X, **more):
    """What was found. Every sentence has a number of its size, and is one line."""
    with no_warnings():
        found = check_model(f, given, **more)
    for finding in found:
        assert finding.size > 0 and "\n" not in finding.text, finding
    return [finding.kind for finding in found]


def first(x):
    return x[:, 0]


def root(x):
    with np.errstate(invalid="ignore"):
        return np.sqrt(x[:, 0])


@parametrize(
    "f",
    model,
    lambda x: np.tanh(x @ NET).sum(1),
    lambda x: np.tanh(x @ NET)[:, :3],
    lambda x: np.floor(x[:, 0]),
    lambda x: np.zeros(len(x)),
    lambda x: 1e6 + x[:, 0],
    lambda x: 1000 + 1e-6 * (x[:, 0] + len(x)),  # a change as by rounding in another order
    lambda: model,  # a factory
)
def test_nothing_is_found(f):
    assert kinds(f) == []
    assert kinds(f, sigma=0.25) == []
    assert kinds(f, [Z], sigma=0.25, scale=[1, 0, 2], calls=19) == []


def test_inputs_have_any_shape_and_size_with_room_for_the_noise():
    assert kinds(lambda x: x.mean((1, 2)), np.random.default_rng(5).random((10, 4, 4))) == []
    assert kinds(lambda x: x[:, 0] - 1e4, 1e4 + X, sigma=1) == []
    times = np.array([[1.7e9, 3.0], [1.7e9 + 128, 2.0]])
    assert kinds(lambda x: x[:, 1], times, sigma=1, scale=[0, 1]) == []


def test_frames():
    frame = package("pandas").DataFrame({"a": X[:, 0], "town": ["n", "s"] * 50})
    assert kinds(lambda f: f["a"] + (f["town"] == "n"), frame) == []
    assert kinds(lambda f: f["a"] + (f["town"] == "n").mean(), frame) == ["batch"]
    found = check_model(lambda f: f["a"], frame.assign(a=1.7e9), sigma=1)
    assert "feature 'a' is 1700000000" in found[0].text


STATE = []


def counts(x):
    STATE.append(0)
    return model(x) + np.random.default_rng(len(STATE)).normal(size=len(x))


@parametrize(
    "found, f",
    (["batch"], lambda x: x[:, 0] - x[:, 0].mean()),
    (["batch"], lambda x: (x[:, 0] - 0.1) / x.std()),
    (["batch"], lambda x: x[:, 0] * len(x)),
    (["batch"], lambda x: x[:, 0] + 0.01 * x.max()),
    (["order"], lambda x: x[:, 0] + np.arange(len(x))),
    (["order"], lambda x: np.cumsum(x[:, 0])),
    (["order"], lambda x: np.r_[x[:-1, 0], x[-1, 1]]),
    (["calls"], counts),
    (["calls"], lambda x: (STATE.append(0), model(x) * len(STATE))[1]),
    (["float32"], lambda x: np.sin(1e7 * x[:, 0])),
    (["not finite"], root),
    (["not finite"], lambda x: np.where(x[:, 0] > 0, np.inf, 0)),
    (["not finite"], lambda x: np.full(len(x), np.nan)),
    (["not finite", "batch"], lambda x: root(x) + x[:, 1].mean()),
    (["shape"], lambda x: x.sum()),
    (["shape"], lambda x: x[:-1, 0]),
    (["shape"], lambda x: x[:, :, None]),
    (["shape"], lambda x: x[:, :0]),
    (["shape"], lambda x: np.full(len(x), "a")),
    (["shape"], lambda x: None),
    (["shape"], lambda x: x[:, 0].squeeze()),  # of one row
)
def test_what_is_wrong_is_found(found, f):
    STATE.clear()
    with no_warnings():
        assert [finding.kind for finding in check_model(f, X)] == found
    if found == ["batch"]:
        assert kinds(f, sigma=0.25) == found


def test_batches_of_other_sizes_that_fail():
    found = check_model(lambda x: x.reshape(49, 3)[:, 0], X)
    assert [f.kind for f in found] == ["batch"]
    assert "a call with 1 of 49 rows failed" in found[0].text
    found = check_model(lambda x: np.where(len(x) == 49, x[:, 0], np.nan), X)
    assert [(f.kind, f.size) for f in found] == [("batch", np.inf)]
    sizes = [check_model(lambda x: x - x.mean(0), X, seed=s)[0].size for s in (1, 1, 2)]
    assert sizes[0] == sizes[1] != sizes[2]


def test_rounding():
    for more in (dict(scale=1, sigma=1), dict(sigma=100), dict()):
        assert kinds(lambda x: (x[:, 0] - 1.7e9) / 60, TIMES, **more) == ["float32"]
    found = check_model(first, TIMES, sigma=1)[0]
    assert found.size == near(1 / 128)
    assert re.search("feature 0 is 17000[0-9.]+, .*noise of 1, .* at least 32768:", found.text)
    found = check_model(first, TIMES, calls=301)[0]
    assert found.size == near(0.1 * TIMES.std() / 128)


@parametrize("sigma, refused", (32768, False), (32767, True))
def test_the_library_refuses_where_the_check_warns(sigma, refused):
    """Noise just above and just below the least that float32 can represent."""
    assert kinds(first, [[1.7e9]], sigma=sigma) == (["float32"] if refused else [])
    with certreg.Estimator(first, 1, 300) as e:
        if not refused:
            return e.begin([1.7e9], sigma)
        with pytest.raises(certreg.CertregError, match="cannot carry"):
            e.begin([1.7e9], sigma)


def used(f, calls):
    """How many rows the model gets, and what is told about them."""
    rows, told = [], []
    counted = lambda x: (rows.append(len(x)), f(x))[1]  # noqa: E731
    check_model(counted, X, calls=calls, progress=lambda *counts: told.append(counts))
    return sum(rows), told


@parametrize("calls", 19, 20, 57, 300, 1000)
def test_calls_are_as_many_as_were_asked_for(calls):
    rows, told = used(model, calls)
    assert 0.8 * calls <= rows <= calls
    assert (told[0], told[-1]) == ((0, calls), (calls, calls))
    assert told == sorted(told)
    assert len(told) > 6
    assert used(lambda x: x.sum(), 300)[1] == [(0, 300), (49, 300), (300, 300)]  # refused


def test_it_says_which_noise_it_used():
    some = np.random.default_rng(1).normal(size=(40, 3)) * [1, 2, 5]
    found = check_model(model, some, names=["a", "b", "c"])
    assert found == [] and str(found) == repr(found)
    assert re.match(r"Nothing was found .*\nNoise: no sigma was given, so the noise of", str(found))
    assert re.search(r"\(feature 'a'\) to 0.\d+ \(feature 'c'\): scale='std' at", found.noise)
    assert check_model(model, some, sigma=0.25).noise == "Noise: sigma 0.25 times the scale."


def test_units_that_no_sigma_suits_are_found():
    """Without sigma nothing else would tell that every row will be refused."""
    raw = np.random.default_rng(1).normal(size=(40, 3)) * [1, 1, 1e6] + [0, 0, 1.6e9]
    found = check_model(lambda x: x[:, 0], raw)
    assert [finding.kind for finding in found] == ["units"]
    assert re.search(r"\(feature 2\), so .*: give scale='std'", found[0].text)
    assert found.noise.endswith("feature 2 needs a sigma of at least 3.28e+04.")
    with pytest.warns(UserWarning, match="all rows failed: feature 2 of z = .*; scale='std' puts"):
        rows = certreg.certify_rows(lambda x: x[:, 0], raw, 0.25, 1.0, samples=100, progress=False)
    assert len(rows.errors) == 40
    assert not check_model(lambda x: x[:, 0], raw, scale="std", sigma=0.25)


def test_exceptions_arrive_and_rows_are_those_of_an_estimator():
    with pytest.raises(ZeroDivisionError):
        check_model(lambda x: 1 // 0, X)

    def writes(x):
        x += 1
        return model(x)

    with pytest.raises(ValueError, match="read-only"):
        check_model(writes, X)

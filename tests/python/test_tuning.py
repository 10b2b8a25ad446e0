"""The choice of scale and sigma."""

import math
import pickle

import numpy as np
import pytest

from kit import certreg, counting, grouped, near, package, parametrize
from certreg import Question, certify_rows, tune_scale
from certreg.tuning import sensitivities

RNG = np.random.default_rng(3)
X = RNG.normal(size=(45, 4)).astype(np.float32)
SLOPES = np.array([4, 2, 1, 0.5], np.float32)
BEST = 1 / SLOPES / np.exp(np.mean(np.log(1 / SLOPES)))  # theory 1.8
SHARES = SLOPES**2 / np.sum(SLOPES**2)
SIGMAS = [0.1, 0.2, 0.4]
TURN = dict(kind="angle", lo=-180, hi=180)
COUNTED = dict(flags=certreg.PLAN_COUNT_FAILURES)


def linear(x):
    return x @ SLOPES


def curved(x):
    """Some features matter ten times more than others, in ways that depend on the input."""
    return 3 * np.sin(x[:, 0]) + x[:, 1] * x[:, 0] + 0.3 * x[:, 2] ** 2 + 0.3 * x[:, 3]


def turning(x):
    return (20 * linear(x)) % 360 - 180  # at 0 it jumps


def failing(most, value=linear):
    """A model whose output is NaN where the linear one is large."""
    return lambda x: np.where(linear(x) > most, np.nan, value(x))


def nothing(x):
    return 0


def tuned(model=linear, x=X, question=1.0, sigmas=SIGMAS, **more):
    more = {"samples": 500, "seed": 1, "progress": False, **more}
    return tune_scale(model, x, sigmas, question, **grouped(more))


def limits(model=linear, x=X[:20], sigma=0.3, question=1.0, **more):
    """The sensitivities of all features, each a group of its own."""
    kept = dict(keep_records=True, progress=False, seed=1)
    rows = certify_rows(model, x, sigma, question, samples=4000, **grouped({**kept, **more}))
    return sensitivities(rows, np.eye(x.shape[1], dtype=np.float32))


# ---- sensitivities are shares of the squared gradient
@parametrize(
    "wanted, how",
    (SHARES, dict(sigma=0.2)),
    (SHARES, dict(sigma=0.3)),
    (np.array([1, 0, 1, 1]) / 3, dict(scale=np.float32([0.25, 0, 1, 2]))),  # and masks
    (SHARES, dict(model=turning, x=0.01 * X[:20], sigma=0.2, question=20, **TURN)),
)
def test_they_are_shares_and_follow_the_scale(wanted, how):
    np.testing.assert_allclose(limits(**how), wanted, atol=0.05)


def test_they_are_about_the_limiting_side_and_the_output_asked():
    one_sided = lambda x: np.where(x[:, 0] > 0, -4 * x[:, 0], 2 * np.abs(x[:, 1]))  # noqa: E731
    down, up = limits(one_sided, np.zeros((20, 2)), question=Question(1.0, prediction=0))
    assert down > 0.2
    assert abs(up) < 0.02
    two = lambda x: np.stack([x[:, 1], linear(x)], 1)  # noqa: E731
    found = limits(two, sigma=0.15, question=Question(1.0, output=1), outputs=2)
    np.testing.assert_array_equal(found, limits(sigma=0.15))


def test_outputs_that_failed_are_outside():
    at = Question(1.0, prediction=0)
    found = limits(failing(1), np.zeros((9, 4)), 0.15, at, **COUNTED)
    np.testing.assert_allclose(found / found.sum(), SHARES, atol=0.05)


# ---- records
def kept(f, **more):
    more = dict(samples=30, keep_records=True, seed=1, progress=False, **more)
    return certify_rows(f, X[:5], [0.1, 0.2], 1.0, **grouped(more))


def test_records_hold_the_outputs_of_the_model():
    called = []

    def two(x):
        called.append(np.stack([linear(x), x[:, 0]], 1))
        return called[-1]

    records = kept(two, outputs=2, check=False).records
    assert [(r.row, r.sigma_index) for r in records] == [(i, k) for i in range(5) for k in range(2)]
    outputs = np.concatenate([record.outputs(2) for record in records])
    np.testing.assert_array_equal(outputs, np.concatenate(called))
    with pytest.raises(ValueError, match="outputs is 1; the model of this record has 2"):
        records[0].outputs(1)
    rows = kept(failing(2, nothing))
    none = {(r.row, r.sigma_index) for r in rows.records if not len(r.outputs(1))}
    assert none == set(rows.errors) and 0 < len(none) < len(rows.records)
    counted = kept(failing(2, nothing), **COUNTED).records  # failures that count are NaN
    assert 0 < np.mean([np.isnan(r.outputs(1)).mean() for r in counted]) < 1


# ---- scales
def test_it_is_found_for_a_linear_model():
    t = tuned()
    assert t.changed
    np.testing.assert_allclose(t.scale, BEST, rtol=0.12)
    np.testing.assert_allclose(t.shares, SHARES, atol=0.05)
    gain = math.sqrt(np.mean(SLOPES**2)) / np.exp(np.mean(np.log(SLOPES)))
    assert t.gain == near(gain, 0.06 * gain)
    assert t.gain_error < 0.05
    for again, equal in ((tuned(), True), (tuned(seed=2), False)):  # the same seed, and another
        assert np.array_equal(again.factors, t.factors) == equal
        assert ((again.sigma, again.gain) == (t.sigma, t.gain)) == equal


def test_it_is_found_for_groups():
    images = X.reshape(-1, 2, 2)  # rows and groups have shapes
    t = tuned(lambda x: linear(x.reshape(len(x), 4)), images, groups=[[0], [1]])
    norms = np.sqrt([(16 + 4) / 2, (1 + 0.25) / 2])
    assert t.scale.shape == (2, 2)
    assert t.factors[0] / t.factors[1] == near(norms[1] / norms[0], 0.05)
    t = tuned(groups=["a", "b", "b", "a"], samples=2000)
    norms = np.sqrt([(16 + 0.25) / 2, (4 + 1) / 2])
    assert t.groups == ("a", "b")
    np.testing.assert_allclose(t.factors, np.sqrt(norms[0] * norms[1]) / norms, rtol=0.05)
    np.testing.assert_allclose(t.scale, t.factors[[0, 1, 1, 0]], rtol=1e-6)


def test_masks_stay_the_start_sets_the_unit_and_a_limit_holds():
    start = np.array([2, 0, 1, 5])
    t, on = tuned(scale=start), start > 0
    assert t.scale[1] == 0
    assert t.groups == (0, 2, 3)
    assert np.log(t.scale[on] / start[on]).sum() == near(0, 5e-6)
    even = t.scale[on] * SLOPES[on]
    np.testing.assert_allclose(even / even.mean(), 1, atol=0.1)
    t = tuned(lambda x: 3 * x[:, 0], limit=1.5)  # a limit holds
    assert 1 / 1.5 - 1e-9 <= t.factors.min() <= t.factors.max() <= 1.5 + 1e-9
    assert t.factors[0] == near(1 / 1.5, 5e-7)
    assert np.log(t.factors).sum() == near(0, 5e-10)


def test_other_inputs_gain_what_is_said():
    sigmas, others = [*SIGMAS, 0.8], np.random.default_rng(8).normal(size=(60, 4))
    t = tuned(curved, sigmas=sigmas, x=RNG.normal(size=(60, 4)))

    def mean_radius(sigma, scale):
        more = dict(samples=500, scale=scale, seed=9, progress=False)
        return certify_rows(curved, others, sigma, 1.0, **more)["radius"].mean()

    gain = mean_radius(t.sigma, t.scale) / max(mean_radius(sigma, None) for sigma in sigmas)
    assert gain > 1.2
    assert abs(gain - t.gain) < 4 * t.gain_error + 0.1


def test_rows_that_are_held_back_choose_nothing():
    held = np.arange(len(X)) % 3 == 2
    a, b = tuned(curved), tuned(curved, np.where(held[:, None], X + 0.5, X))
    for one, other in zip(a.history, b.history):
        np.testing.assert_array_equal(one.factors, other.factors)
        assert one.mean_radius == other.mean_radius
    assert a.gain != b.gain


def test_accuracy_comes_first_with_labels():
    def blurred(x):  # at a large sigma the mean is far from the value at the input
        return np.where(np.abs(x[:, 0]) < 0.15, 1, 0) + 0.1 * np.sin(x[:, 1])

    close, mean = X * np.float32([0.05, 1, 1, 1]), Question(0.4, statistic="mean")
    more = dict(x=close, question=mean, sigmas=[0.05, 3], limit=2, lo=-0.2, hi=1.2)
    free, right = tuned(blurred, **more), tuned(blurred, **more, labels=blurred(close))
    assert (free.sigma, right.sigma) == (3, 0.05)
    least = min(trial.mean_error for trial in right.history)
    for trial in right.history:
        assert not trial.kept or trial.mean_error <= least + 0.04


def test_equal_sensitivities_lose_nothing_and_change_nothing_without_a_clear_gain():
    refused = 0
    for seed in range(1, 7):
        t = tuned(lambda x: x.sum(1), seed=seed) if seed < 4 else None
        assert t is None or abs(t.gain - 1) < 0.03
        few = tuned(lambda x: x.sum(1), X[:15], samples=60, seed=seed)
        for one in (t, few):
            if one and not one.changed:
                np.testing.assert_array_equal(one.scale, 1)
        assert few.changed == (few.gain > 1 + 2 * few.gain_error)
        refused += not few.changed and bool((few.factors != 1).any())
    assert refused > 0


def test_trials_in_which_rows_fail_are_not_chosen():
    close = X * 0.1
    close[0, 3] = 2  # this row alone fails first, while the mean radius still grows
    t = tuned(lambda x: np.where(np.abs(x[:, 3]) > 3.5, np.nan, linear(x)), close)
    assert any(trial.failed for trial in t.history)
    assert not any(trial.failed and trial.kept for trial in t.history)
    assert t.changed


def test_calls_are_bounded_and_counted():
    (f, called), seen = counting(curved), []
    t = tuned(f, rounds=3, progress=lambda *done: seen.append(done))
    most = (2 * 3 + 2 * 3) * 30 + 2 * 15
    more = sum(called) - t.model_calls - 19  # once checked, and asked again
    assert 0 <= more < 0.02 * t.model_calls <= 0.02 * most * 500
    assert seen[-1] == (most, most)
    assert sorted(seen) == seen


def test_a_scale_knows_the_rows_that_chose_it():
    pandas = package("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    by_name = lambda x: linear(np.asarray(x, np.float32))  # noqa: E731
    for x, model in ((X, linear), (frame, by_name)):
        t, other = tuned(model, x, samples=100, rounds=1), x + 1
        t = pickle.loads(pickle.dumps(t))
        how = dict(samples=100, seed=5, progress=False, scale=t)
        rows = certify_rows(model, other, t.sigma, 1.0, **how)
        assert not rows.made and certreg.population(rows, radius=0.01)
        np.testing.assert_array_equal(rows.scale, np.asarray(t.scale))
        rows = certify_rows(model, x[40:], t.sigma, 1.0, **how)
        with pytest.raises(ValueError, match="the scale came from these rows"):
            certreg.population(rows)

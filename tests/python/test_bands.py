"""What certificates prove about the population of their rows."""

import dataclasses

import numpy as np
import pytest

from kit import certreg, model, package, parametrize, rows_of
from certreg import Question, Rows, population
from certreg.table import binomial_lower, binomial_tail, most_wrong

N, ALPHA, GAMMA, TRIALS = 500, 0.1, 0.05, 1000
TRUE, MUCH = np.array([1.0, 2.0]), 0.25  # true radii of the population, and how many have the 2nd
X = np.random.default_rng(2).normal(size=(60, 3)).astype(np.float32)
ROWS = rows_of(x=X, questions=[0.5, Question("10%", method="anytime")], sigma=[0.25, 0.5])


@pytest.fixture(scope="module")
def trials():
    """True radii and rows of samples from a population that is hard to bound: certificates prove
    all of the true radius, and claim half more as often as alpha allows."""
    rng, some = np.random.default_rng(7), rows_of(x=np.tile(X, (9, 1))[:N], samples=20)
    made = []
    for _ in range(TRIALS):
        true = TRUE[(rng.random(N) < MUCH).astype(int)]
        certificates = some.certificates.copy()
        certificates["radius"][:, 0, 0] = true * np.where(rng.random(N) < ALPHA, 1.5, 1)
        certificates["alpha"] = ALPHA
        made.append((true, dataclasses.replace(some, certificates=certificates)))
    return made


def missed(trials, radius=None, alpha=ALPHA):
    """The shares of samples in which a bound of the population, or of the rows, is too high."""
    wrong = np.zeros(2)
    for true, rows in trials:
        rows.certificates["alpha"] = alpha
        line = population(rows, radius=radius)[0]
        at = np.atleast_1d(line["radius"])
        share = np.where(at <= TRUE[0], 1, np.where(at <= TRUE[1], MUCH, 0))
        own = (true[:, None] >= at).sum(axis=0)
        wrong += [np.any(line["population"] > share), np.any(line["rows"] > own)]
    return wrong / len(trials)


@parametrize("radius, least", (None, 0), (1.5, 0.02))
def test_bounds_miss_at_most_as_often_as_promised(trials, radius, least):
    several = GAMMA + 2 * (GAMMA / TRIALS) ** 0.5
    of_all, of_rows = missed(trials, radius)
    assert least <= of_all <= several and of_rows <= several
    assert missed(trials, radius, 1e-9).min() > 0.7  # as if no certificate were false


def test_the_bounds_of_theory_are_computed():
    stats = package("scipy.stats")
    cases = ((990, 1000, 0.05), (3, 10, 0.5), (1, 1, 0.2), (70_000, 10**5, 0.01))
    for count, trials, gamma in cases:
        exact = stats.beta.ppf(gamma, count, trials - count + 1)
        assert exact * (1 - 2e-6) <= binomial_lower(count, trials, gamma) <= exact
        tail = stats.binom.sf(count - 1, trials, exact / 2)
        assert tail <= binomial_tail(count, trials, exact / 2) <= tail * (1 + 2e-6)
    assert (binomial_lower(0, 9, 0.1), binomial_tail(0, 9, 0), binomial_tail(1, 9, 0)) == (0, 1, 0)
    found = most_wrong(np.array([0, 10, 999, 1000]), 1000, 0.05, 0.05)
    assert found.tolist() == [2, 14, 1000, 1000]
    p = 0.05 + 0.95 * 0.5 ** np.arange(1, 11)
    wealth = [np.mean((p / 0.05) ** n * ((1 - p) / 0.95) ** 10) for n in (4, 5)]
    assert wealth[0] < 1 / 0.05 <= wealth[1]


def test_each_sigma_has_its_alpha_and_all_hold_together():
    rows, gamma = ROWS, 0.05 / 2
    radii = rows["radius"][:, :, 1]
    for k, line in enumerate(population(rows, question=1)):
        share = (radii[:, k, None] >= np.maximum(line["radius"], 1e-300)).mean(axis=0)
        np.testing.assert_array_equal(line["share"], share)
        root = np.sqrt(np.log(1 / gamma) / 120)
        expected = np.maximum((share - root - 0.025) / 0.975, 0)
        np.testing.assert_allclose(line["population"], expected, atol=2e-12)
        assert (line["population"] <= expected).all()
    one = population(rows, radius=0.2)[0]
    lower = binomial_lower(int((rows["radius"][:, 0, 0] >= 0.2).sum()), 60, gamma)
    assert one["population"] == pytest.approx((lower - 0.025) / 0.975, abs=2e-12)
    all_radii = population(rows)[0]
    assert one["population"] > all_radii["population"][all_radii["radius"] <= 0.2][-1] > 0
    assert 10 < population(ROWS[10:30], radius=0.1)[0]["rows"] <= 20  # a smaller sample


def test_labels_and_failed_rows_count():
    f = lambda x: np.where(x[:, :1] > 9, np.nan, x[:, :1])  # noqa: E731
    x = np.append(X, [[50, 0, 0]], axis=0)
    rows, labels = rows_of(f, x), x[:, 0] + 0.45 * (np.arange(61) % 2)
    away = rows.label_errors(labels)[:, 0, 0]
    for error, near in ((None, 0.5), (0.4, 0.4)):
        line = population(rows, radius=1e-9, labels=labels, error=error)[0]
        assert line["share"] == np.mean((away <= near) & (rows.radius > 0)) < 60 / 61
    assert population(rows, radius=0.1)[0]["share"] == 60 / 61
    lines = rows.curve(labels=labels, confidence=0.9)[0]
    bounds = population(rows, labels=labels, confidence=0.9)[0]
    np.testing.assert_array_equal(bounds["share"], lines["accuracy"])
    for name in ("population", "rows", "radius"):
        np.testing.assert_array_equal(bounds[name], lines[name])


def test_bands_are_drawn():
    package("matplotlib")
    for labels in (None, X[:, 0]):
        lines = ROWS.plot(confidence=0.9, labels=labels).get_lines()
        assert [line.get_linestyle() for line in lines] == ["-", "--"] * 4
        bounds = population(ROWS, question=1, confidence=0.9, labels=labels)[1]
        radii, least = lines[7].get_data()
        assert (radii[-1], least[-1]) == (radii[-2], 0)
        np.testing.assert_array_equal(least[:-1], bounds["population"])
        assert lines[7].get_label().endswith(", at least, 90 %")
    with pytest.raises(ValueError, match="confidence is for shares of rows"):
        ROWS.plot(X[:, 0] > 0, confidence=0.9)


def repeated():
    twice = np.concatenate([ROWS.certificates, ROWS.certificates])
    return dataclasses.replace(
        ROWS, certificates=twice, done=np.tile(ROWS.done, 2), numbers=np.arange(120)
    )


def unfinished():
    return dataclasses.replace(ROWS, done=np.arange(60) < 50)


def saved(rows):
    rows.save("rows.npz")
    return Rows.load("rows.npz")


@parametrize(
    "make, text",
    (lambda: repeated(), "several rows have the noise ids 0, 1, 2.*own noise_id"),
    (lambda: ROWS[ROWS["radius"][:, 0, 0] > 0.2], "the rows are a selection.*rows\\[:500\\]"),
    (lambda: ROWS[[3, 3]], "the rows are a selection"),
    (lambda: ROWS[:0], "there are no rows"),
    (lambda: unfinished(), "10 of 60 rows are not finished"),
    (lambda: rows_of(x=X, domain="calibration"), "domain 'calibration'.*certify other rows"),
    (lambda: saved(rows_of(x=X, scale="std")), "the scale came from.*feature_scale"),
    (lambda: saved(rows_of(certreg.Denoised(model, X, 0.25), X)), "the denoiser came from"),
    (lambda: rows_of(x=X, questions=Question(0.5, method="asymptotic")), "no bound of this"),
    (lambda: rows_of(x=X, questions=Question(0.5, method="baseline")), "no bound of this kind"),
    (lambda: rows_of(x=X, radius=0.1), "output bounds, which have no radii"),
)  # fmt: skip
def test_rows_that_prove_nothing_are_refused(folder, make, text):
    with pytest.raises(ValueError, match=text):
        population(make())


@parametrize(
    "wrong, kind, text",
    (dict(confidence=0.4), ValueError, "confidence is 0.4; it must be from 0.5"),
    (dict(confidence=1), ValueError, "confidence is 1;"),
    (dict(confidence=np.nan), ValueError, "confidence is nan"),
    (dict(radius=0), ValueError, "radius is 0; it must be positive"),
    (dict(error=1), ValueError, "error needs labels"),
    (dict(error=-1, labels=X[:, 0]), ValueError, "error is -1; it must be at least 0"),
    (dict(question=2), IndexError, "question is 2"),
)
def test_wrong_arguments_are_refused(wrong, kind, text):
    with pytest.raises(kind, match=text):
        population(ROWS, **wrong)


def test_labels_need_a_prediction_that_the_pilot_fixes():
    question = Question(0.5, statistic="mean", center="true_mean")
    rows = rows_of(x=X, questions=question, lo=-9, hi=9)
    assert population(rows)[0]["population"].max() < 1
    with pytest.raises(ValueError, match="with labels the center must be 'prediction'"):
        population(rows, labels=X[:, 0])

"""The prediction intervals of make reproduce: sets, attacks and coverage, on models for which they
are known."""

import pytest
import dataclasses
import math

import numpy as np

from kit import near, package
from reproduce import conformal, coverage, kept, labelled, moved, published, settings

RANDOM = np.random.default_rng(3)
ASKED = conformal.Asked(1, 0.25, 0.5, 500)


def record(outputs, period=0.0, clean=0.0):
    return conformal.Record(clean, np.sort(np.asarray(outputs, np.float32)), period, 1.0)


def linear_task(sets, points, tests):
    task = labelled.of_linear(sets * (points + tests))
    every = np.arange(len(task.inputs)).reshape(sets, points + tests)
    own = [(one[:points], one[points:]) for one in every]
    return dataclasses.replace(task, points=points, sets=own, chunk=50)


class Turned(labelled.Linear):
    """Angles on both sides of the jump."""

    def outputs(self, x):
        return conformal.signed(super().outputs(x) + 180, 360)

    def slopes(self, x):
        return self.outputs(x), super().slopes(x)[1]


class Bent:
    """It rises slowly with one feature, and steeply with another where that is large."""

    def outputs(self, x):
        return (x[:, 1] + 5 * np.maximum(x[:, 0] - 0.5, 0)).astype(np.float32)

    def slopes(self, x):
        slopes = np.zeros_like(x)
        slopes[:, 0], slopes[:, 1] = 5 * (x[:, 0] > 0.5), 1
        return self.outputs(x), slopes


def test_hulls_are_those_of_counting():
    grid = np.arange(-180, 180, 0.01)
    for period in (0.0, 360.0):
        for k, q in ((1, 5.0), (3, 20.0), (5, 40.0), (7, 40.0), (7, 10.0)):
            reach = 180 if period else 60
            f = np.sort(RANDOM.uniform(-reach, reach, 7))
            away = np.abs(conformal.signed(grid[:, None] - f, period))
            inside = grid[(away <= q).sum(1) >= k]
            want = 0.0
            if len(inside):
                gaps = np.diff(inside, append=inside[0] + period) if period else np.zeros(1)
                want = period - gaps.max() if period else inside[-1] - inside[0]
            assert conformal.hull(f, k, q, period) == near(want, 0.03)


def test_without_a_threshold_an_interval_is_everything():
    few = dataclasses.replace(ASKED, points=8)
    for method in published.METHODS:
        if method is conformal.ORACLE or isinstance(method, conformal.Bounded):
            continue
        assert method.threshold(np.zeros((8, 25)), few) == math.inf
        for period in (0.0, 360.0):
            width = method.width(record(np.zeros(1001), period), math.inf, few)
            assert width == (period or math.inf)


def test_the_threshold_of_split_conformal_prediction():
    asked = dataclasses.replace(ASKED, points=499)
    assert conformal.PLAIN.threshold(np.arange(1.0, 500.0)[:, None], asked) == 450


def test_the_end_of_an_interval_of_rscp():
    method = published.Rscp("RSCP", 0.0)
    for period in (0.0, 360.0):
        one = record(RANDOM.normal(170, 3, 1001), period)
        threshold = method.score(one, 176.0)
        asked = dataclasses.replace(ASKED, radius=0.0)
        width = method.width(one, threshold, asked)
        assert width == near(2 * (176 - one.center), 0.5)
        assert method.width(one, threshold, ASKED) > width


def test_without_a_shift_or_an_error_published_bounds_are_exact():
    one, asked = record(RANDOM.normal(0, 1, 1001)), dataclasses.replace(ASKED, radius=0.0)
    exact, cas = published.Rscp("RSCP", 0.0), published.Cas("CAS", 0.0)
    assert exact.value(one, 2.0, asked) == near(exact.score(one, 2.0), 1e-9)
    assert cas.value(one, 2.0, asked) == near(exact.score(one, 2.0), 1e-9)
    assert published.BinCp(101, 0.0).sample_rank(asked) == 71


def test_published_bounds_of_a_shift():
    """Of two values the distribution is known, and of one the bounds of a probability."""
    n, error, shift = 1001, published.ERROR, dataclasses.replace(ASKED, radius=0.5)
    less = math.sqrt(math.log(1000) / 2002)
    one = record(np.repeat([0.0, 1e6], [701, 300]))
    share = conformal.NORMAL.cdf(conformal.NORMAL.inv_cdf(300 / n - less) - 1) - less
    for method in (published.Rscp("RSCP+", error), published.Cas("CAS", error)):
        assert method.value(one, 0.0, shift) == near(share, 1e-9)
    level = conformal.NORMAL.cdf(conformal.NORMAL.inv_cdf(error ** (1 / n)) - 1)
    enough = published._enough(n, n, 1.0, error)
    chances = [math.comb(n, k) * level**k * (1 - level) ** (n - k) for k in range(enough + 1)]
    assert sum(chances[:-1]) < error <= sum(chances)


def test_a_linear_model_moves_as_far_as_it_can():
    for model, y, period in ((labelled.Linear(), 0.0, 0.0), (Turned(), 179.0, 360.0)):
        task = dataclasses.replace(labelled.of_linear(1), model=model, period=period)
        x, noise = task.inputs[0], RANDOM.normal(size=(6, 64, 10)).astype(np.float32)
        for side in (1, -1):
            delta = moved.climb(task, x, y, 0.25, 3.0, side, noise)
            away = side * float(delta @ model.slope) / np.linalg.norm(model.slope)
            assert float(np.linalg.norm(delta.astype(float))) <= 0.25
            assert away == near(0.25, 1e-3)


def test_noisy_outputs_at_the_edge_are_followed_and_the_model_at_the_input():
    x, noise = np.zeros(10, np.float32), RANDOM.normal(size=(6, 64, 10)).astype(np.float32)
    task = dataclasses.replace(labelled.of_linear(1), model=Bent(), inputs=x[None])
    delta = moved.climb(task, x, 0.0, 0.25, 3.0, 1, noise)
    assert delta[0] > 0.9 * 0.25
    shape = (len(published.METHODS), len(moved.RATIOS))
    one = (np.arange(1), x[None], np.zeros(1), np.full(shape, 3.0))
    found = moved.values(task, *one)[1][0, published.METHODS.index(conformal.PLAIN)]
    np.testing.assert_allclose(found, 0.5 * np.array(moved.RATIOS), rtol=1e-3)


def test_the_gradients_of_a_perceptron():
    x, y = labelled.friedman(300, np.random.default_rng(1))
    model, h = labelled.Perceptron(x, y, 0.5, 50), 1e-2
    f, slopes = model.slopes(x[:20])
    np.testing.assert_allclose(f, model.outputs(x[:20]), rtol=1e-5)
    way = RANDOM.normal(size=10).astype(np.float32)
    differences = (model.outputs(x[:20] + h * way) - model.outputs(x[:20] - h * way)) / (2 * h)
    np.testing.assert_allclose(slopes @ way, differences, atol=0.05, rtol=0.02)


def test_the_gradients_of_the_network():
    package("onnxruntime")
    model = labelled.Directions()
    x = RANDOM.random((4, 784)).astype(np.float32)
    f, slopes = model.slopes(x)
    np.testing.assert_allclose(f, model.outputs(x), atol=1e-3)
    h, toward = 1e-3, slopes / np.linalg.norm(slopes, axis=1)[:, None]
    rise = (model.slopes(x + h * toward)[0] - model.slopes(x - h * toward)[0]) / (2 * h)
    np.testing.assert_allclose(rise, np.linalg.norm(slopes, axis=1), rtol=0.1)


# ---- coverage
class Found:
    """Coverage on few sets."""

    def __init__(self, folder):
        self.settings = settings.Settings(settings.LEAST, None, folder, 1)
        self.task = linear_task(4, 100, 50)
        self.lines = coverage.lines_of(*coverage.find(self.settings, self.task))

    def of(self, method, ratio):
        return next(x for x in self.lines if (x["method"], x["ratio"]) == (method.name, ratio))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return Found(tmp_path_factory.mktemp("coverage"))


def test_the_library_keeps_its_level_and_others_do_not(found):
    for method in published.METHODS[2:-1]:
        if getattr(method, "error", 1) and not isinstance(method, conformal.Bounded):
            for ratio in moved.RATIOS:
                line = found.of(method, ratio)
                assert line["attacked"] + 3 * line["attacked_error"] > 0.9
                assert line["clean"] >= line["attacked"] - line["clean_error"]
    assert found.of(conformal.PLAIN, 1.0)["attacked"] < 0.8
    assert found.of(conformal.SMOOTHED, 1.0)["attacked"] < 0.8


def test_widths(found):
    for ratio in moved.RATIOS:
        least = found.of(conformal.SMOOTHED, ratio)["width"]
        widths = [found.of(method, ratio)["width"] for method in conformal.OURS]
        assert all(least < width < 3 * least for width in widths), (least, widths)
    shift = float(np.linalg.norm(found.task.model.slope)) * 0.5
    oracle = found.of(conformal.ORACLE, 1.0)["width"]
    known = found.of(conformal.SMOOTHED, 1.0)["width"] + 2 * shift  # of the exact worst case
    assert oracle / known == near(1, 0.1)


def test_what_was_computed_is_kept(found, monkeypatch):
    before = sorted(path.name for path in found.settings.out.iterdir())

    def refused(*_):
        raise AssertionError("computed again")

    jobs = [kept.Job(moved.scores, found.task, one) for one in np.split(np.arange(4), 2)]
    kept.done(found.settings, jobs)
    again = [dataclasses.replace(job) for job in jobs]
    monkeypatch.setattr(kept, "_write", refused)
    kept.done(found.settings, again)
    other = dataclasses.replace(found.task, truth=found.task.truth + 1)
    with pytest.raises(AssertionError, match="again"):
        kept.done(found.settings, [dataclasses.replace(jobs[0], task=other)])
    names = sorted(path.name for path in found.settings.out.iterdir())
    assert len(names) == len(before) + 2
    assert all(name.endswith(".npz") for name in names), names


def test_the_library_has_the_same_sets():
    for line in coverage.compared(labelled.of_linear(60)):
        assert line["agree"] == line["tested"], line
        assert line["differs"] < 1e-5, line


def test_errors_are_by_sets_or_by_inputs():
    alike = [np.array([0.0, 2.0]), np.array([2.0, 0.0])]
    same = [np.array([0, 1]), np.array([1, 0])]
    apart = [np.array([0, 1]), np.array([2, 3])]
    assert coverage.mean_and_error(alike, same) == (1.0, 1 / math.sqrt(2))
    assert coverage.mean_and_error(alike, apart) == (1.0, 0.5)

"""What Rows say about themselves, their curves, their files, and what they prove of others."""

import dataclasses
import functools
import math
import os
import pickle
import random
import re
import stat

import numpy as np
import pytest

from kit import CERTIFY, PRODUCT, X, bits, certreg, model, package, parametrize, raising, read
from kit import rows_of, said
from certreg import Question, Reason, RowsError, Serving, Target
from certreg.table import Rows, binomial_lower, binomial_tail, most_wrong

CEILING = r"{} of {} radii are at the ceiling {:.5g} of sigma {:g} and {} samples"


population = functools.partial(certreg.population, question=0)
plan_population = functools.partial(certreg.plan_population, question=0)


def flat(x):
    return np.tanh(x[:, 0])


def test_a_certificate_is_a_sentence():
    c = rows_of(x=X[:1], questions=0.5).certificate(0)
    said = r"between (.+) and (.+) for every shift with a norm below (.+), each feature divided"
    lo, hi, radius = map(float, re.match(f"the smoothed median stays {said}", str(c)).groups())
    assert c.output_lo - 1e-5 < lo <= c.output_lo and c.output_hi <= hi < c.output_hi + 1e-5
    assert c.radius - 1e-5 < radius <= c.radius  # rounded to the safe side
    text = f"; {c.audited} outputs asked again: none differs; a share of {c.audit_share:.2g} would"
    assert text in str(c) and text[2:] in str(rows_of(x=X[:1], questions=0.5))
    for unchecked in (rows_of(x=X[:1], check=False), rows_of(x=X[:1], check=False).certificate(0)):
        assert "premise not tested" in str(unchecked) and "tested" in unchecked._repr_html_()
    rough = lambda x: model(x) * (1 + 1e-5 * (len(x) < 99))  # noqa: E731
    c = rows_of(rough, x=X[:1], questions=0.5).certificate(0)
    assert 0 < c.audit_change < 1e-4 and c.audit_band == 4 * c.audit_change
    assert f"difference is {c.audit_change:.3g}, and outputs within {c.audit_band:.3g} of" in str(c)
    bounds = rows_of(x=X[:1], questions=0, radius=0.01).certificate(0)
    lo, hi = map(float, re.search("between (.+) and (.+) for", str(bounds)).groups())
    assert lo <= bounds.output_lo and bounds.output_hi <= hi
    vector = Question(9, output=-1)
    both = rows_of(lambda x: x[:, :2], X[:1], questions=vector, outputs=2).certificate(0)
    assert "within 9 of its prediction for every shift with a norm below" in str(both)
    usual = Question(0.5, statistic="mean", method="asymptotic")
    text = "method ASYMPTOTIC, which can be wrong more often); 1"
    assert text in str(rows_of(x=X[:1], questions=usual).certificate(0))
    coded = Question(0.5, method="baseline", center="sample_median")
    published = str(rows_of(x=X[:1], questions=coded).certificate(0))
    assert published.startswith("the published certificate of the median, for comparison")
    tight = rows_of(x=X[:1], questions=1e-6).certificate(0)
    assert str(tight).startswith("nothing is proved at tolerance 1e-06 and sigma 0.25; too many ")
    failed = rows_of(lambda x: np.nan * x[:, 0], X[:1], check=False).certificate(0)
    assert str(failed) == "no certificate: NOT_FINITE"
    rows = rows_of(x=X[:4], questions=0.5)
    assert list(rows) == [rows.certificate(i) for i in range(4)]
    assert rows.prediction.tolist() == [c.prediction for c in rows]
    with pytest.raises(ValueError, match="each row has 2 certificates: use certificate"):
        list(rows_of(x=X[:4], sigma=[0.25, 0.5]))
    with pytest.warns(UserWarning, match="have labels the unit of the outputs"):
        rows.choose_sigma(labels=1000 + rows.prediction)


def tail(count, of, share):
    """The probability of at most `count`."""
    return sum(math.comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(count + 1))


@parametrize(
    "reason, said, f, asked",
    (Reason.FEW_SAMPLES, "prove nothing at this alpha", flat, {"alpha": 1e-9}),
    (Reason.OUTPUTS_OUT, "lower sigma", lambda x: 1e3 * x[:, 0], {}),
    (Reason.PREDICTION, "let the library choose it", flat, {"prediction": 5}),
    (Reason.FAILURES, "failed", lambda x: np.where(x[:, 0] > -0.1, np.nan, 0), {"prediction": 0}),
)
def test_an_abstention_has_a_reason_and_the_share_that_decides(reason, said, f, asked):
    few = reason == Reason.FEW_SAMPLES
    plan = {"x": np.zeros((1, 1)), "sigma": 0.1, "pilot": 1, "flags": certreg.PLAN_COUNT_FAILURES}
    ask = functools.partial(rows_of, f, questions=Question(1, **asked), **plan)
    rows = ask(samples=10 if few else 800, keep_records=True)
    c, y = rows.certificate(0), rows.records[0].outputs(1)[1:, 0]
    up = c.limiting_side == certreg.Side.UPPER
    far = y >= c.prediction + 1 if up else y <= c.prediction - 1
    assert (c.radius, c.reason, c.share_allowed) == (0, reason, 0.5)
    share = pytest.approx(c.alpha, rel=1e-6)
    out = int((far | np.isnan(y)).sum())
    assert c.share_out == 1 if out == len(y) else tail(out, len(y), c.share_out) == share
    assert said in str(c) and f"up to {100 * c.share_out:.4g} % of the outputs may be out" in str(c)
    assert str(c) in c._repr_html_() and pickle.loads(pickle.dumps(c)) == c
    assert c.samples_needed == (31 if few else 0)  # 0.5**30 < 1e-9 < 0.5**29
    if few:
        assert [float(ask(samples=n).radius[0]) > 0 for n in (30, 31)] == [False, True]


def test_a_table_counts_the_reasons_of_its_rows():
    mixed = lambda x: np.choose(x[:, 1].astype(int), [0, 5, 1e3 * x[:, 0]])  # noqa: E731
    x = np.c_[np.zeros(6), [0, 1, 1, 1, 2, 2]]
    asked = [Question(1, prediction=0), Question(9, prediction=0)]
    rows = rows_of(mixed, x, questions=asked, scale=[1, 0])
    small, large = (text for text in rows.remarks() if "abstained" in text)
    counted = "5 of 6 rows abstained at tolerance 1: 3 prediction, 2 outputs out; the prediction is"
    assert small.startswith(counted) and small in str(rows) and small in rows._repr_html_()
    assert large.startswith("2 of 6 rows abstained at tolerance 9: 2 outputs out; too many outputs")
    assert "abstained" not in "".join(rows[:1].remarks())
    added = list(rows.to_dicts()[0])[-8:-4]
    assert added == ["reason", "share_out", "share_allowed", "samples_needed"]
    text = "no question is about output{} of 3: nothing is certified there"
    for asked, left in ((9, "s 1, 2"), ([Question(9), Question(9, output=2)], " 1")):
        found = rows_of(lambda x: x[:, :3], X[:3], questions=asked, outputs=3)
        assert found.remarks()[0] == text.format(left)
    whole = rows_of(lambda x: x[:, :3], X[:3], questions=Question(9, output=-1), outputs=3)
    assert "no question" not in str(whole)


# ---- remarks
@parametrize(
    "more",
    {},
    {"questions": Question(5, method="anytime"), "kind": "angle", "lo": -180, "hi": 180},
    {"questions": Question(0.5, serving=certreg.Serving(101, 0.01)), "lo": -1, "hi": 0.5},
    {"questions": Question(0.5, output=1), "outputs": 2, "f": lambda x: np.c_[x[:, 0], flat(x)]},
    {"questions": 50, "kind": "angle_pair", "lo": -180, "hi": 180, "f": lambda x: 9 + x[:, :2]},
)
def test_the_ceiling_is_the_radius_of_a_flat_model(more):
    more = {"f": lambda x: 0.1 * flat(x), "sigma": [0.005, 0.01], **more}
    rows = rows_of(x=X[:5], **more)
    radius = rows["radius"][0, 1, 0]
    assert (rows["radius"][:, 1, 0] == radius).all() and 0 < radius < 0.1
    assert str(rows).splitlines()[-1].startswith(CEILING.format(5, 5, radius, 0.01, 300))
    assert "ceiling" not in str(rows_of(lambda x: 2 * x[:, 0]))  # less than half reach it
    assert len(rows_of(flat, X[:3], radius=0.01).remarks()) == 1
    assert rows_of(flat, X[:3])[:0].remarks() == []


def test_failed_rows_have_their_first_reason():
    bad = X[:6].copy()
    bad[[3, 5]] = 1e7
    rows = rows_of(x=bad, sigma=[0.25, 0.5])
    premise, _, text = rows.remarks()
    remedy = "; scale='std' puts sigma in units of each feature"
    assert text == f"2 of 6 rows failed, the first in row 3: {rows.errors[3, 0]}{remedy}"
    assert not rows_of(x=bad, scale=0.5).remarks()[-1].endswith(remedy)
    assert rows[4:].remarks()[2:] == [text.replace("2 of 6", "1 of 2").replace("row 3", "row 5")]
    assert text.replace("'", "&#x27;") in rows._repr_html_()


@pytest.mark.parametrize("tolerance", [0.2, 0.4])
def test_it_is_told_what_more_samples_would_do(tolerance):
    """At least half of what they do, and not more: the worse of two counts has bad luck too."""
    asked, x = Question(tolerance, prediction=0.0), np.zeros((200, 2))
    few, many = (rows_of(lambda x: x[:, 0], x, 0.25, asked, samples=n) for n in (1000, 4000))
    (text,) = [text for text in few.remarks() if "4000 samples would make" in text]
    gain = np.median(many.radius) / np.median(few.radius) - 1
    told = int(re.findall(r"(\d+)%", text)[0])
    assert 50 * gain <= told <= 100 * gain


def test_served_values_are_told_apart():
    asked = Question(1.0, serving=Serving(51, 0.05))
    rows = rows_of(lambda x: x[:, 0], X[:3], [0.25, 0.5], asked)
    end = "fresh outputs, of which a part of 0.05 may miss it"
    assert f"tolerance 1 is about values from 51 {end}" in rows.remarks()
    assert str(rows.certificate(0)).startswith("the median of 51 fresh outputs stays between")
    assert {"served_samples", "served_failure_rate"} <= {*rows.to_dicts()[0]}
    assert "served_samples" not in rows_of(x=X[:3]).to_dicts()[0]
    lines = str(rows.choose_sigma(labels=X[:3, 0])).splitlines()
    assert lines[0].split() == "level mean radius chosen sigma mean error".split()


def test_nothing_certified_has_a_remedy():
    rows = rows_of(lambda x: 5e3 + 1e3 * x[:, 0], X[:9], [0.25, 0.5], [0.5, "9%", "0.001%"])
    texts = [text for text in rows.remarks() if text.startswith("9 of 9 rows abstained at tol")]
    assert [text.split()[7:11] for text in texts] == [
        [tolerance, "and", "sigma", f"{sigma}:"]
        for sigma in (0.25, 0.5)
        for tolerance in ("0.5", "0.001%")
    ]
    assert ["below 1 % of the median |prediction|" in text for text in texts] == [True, False] * 2
    assert "'10%' is a part of the prediction" in str(rows)
    with pytest.warns(UserWarning, match="all rows failed"):
        assert "rows abstained" not in str(rows_of(x=1e7 * X[:3]))
    far = str(rows_of(x=X[:9], radius=1))
    ceiling = float(re.search("above the ceiling (.*) of sigma 0.25 and 300 samples", far)[1])
    for radius, said in ((ceiling * 0.999, False), (ceiling * 1.001, True)):
        reach = rows_of(x=X[:9], radius=radius)
        assert ("ceiling" in str(reach)) == said == (reach.summary()[0]["bounded"] == 0)
    assert "ceiling" not in str(rows_of(flat, X[:9], radius=1, lo=-1, hi=1))


# ---- the command
def test_a_demand_decides_the_exit_status(models):
    np.savetxt("x.csv", X[:6], delimiter=",", header="area,age,rooms", comments="")
    np.savetxt("scale.csv", [[1, 1, 0]], delimiter=",", header="area,age,rooms", comments="")
    command = ("certify", PRODUCT[0], "x.csv", *CERTIFY[3:], "--scale", "scale.csv")
    out = said(*command, "-o", "r.csv")[0].splitlines()
    assert "noise on area, age; none on rooms: changes of these are not certified" in out
    assert {row["exact"] for row in read("r.csv")} == {"rooms"}
    radii = sorted(float(row["radius"]) for row in read("r.csv"))
    third = radii[2]  # four of six are at least as long
    for demand, status in (*((f"{4 / 6}@{third!r}", 0), (f".6@{third}", 0), ("1", 0), ("1@0", 0)),
                           *((f".67@{third}", 6), ("1@9", 6))):
        out, err = said(*command, "--require", demand, status=status)
        assert ("--require is not met" in err) == (status == 6)
        assert "mean radius" in out
    err = said(*command, "--tolerance", ".5,1e-9", "--require", ".5", status=6)[1]
    assert "0 of the rows have a radius of at least 0 at sigma 0.25 and tolerance 1e-09" in err
    for wrong in ("0", "1.1", ".9@", ".9@-1", ".9@nan", "@1", "x"):
        assert "it must be a share above 0" in said(*command, "--require", wrong, status=2)[1]


# ---- files
def seen(rows):
    """Everything that rows say, and what other calls use of them."""
    hidden = dict(vars(rows), certificates=0, index=0, sampling=0, questions=0)
    hidden.update(numbers=rows.numbers.tolist(), done=rows.done.tolist())
    index = None if rows.index is None else rows.index.tolist()
    plan = {name: np.array(value).tolist() for name, value in vars(rows.sampling).items()}
    told = (str(rows), rows._repr_html_(), repr(rows.to_dicts()), bits(rows), index, plan)
    return *told, repr(hidden), rows[:2].remarks()


ASKS = [
    Question(0.5, target=0.1),
    Question(0.5, target=Target(0.1, (100, 300)), alpha=np.float64(0.1)),
    Question(0.5, statistic="huber", huber_width=np.float32(0.25)),
    Question(0.5, serving=Serving(101, 0.01), output=1, method="anytime"),
    Question(0.5, prediction=np.float32(0.25), bonferroni=3),
]


@parametrize(
    "more",
    {},
    {"questions": ASKS, "f": lambda x: x[:, :2], "outputs": 2, "lo": [-9, -9.5], "hi": 9},
    {"radius": 0.1, "domain": "calibration", "noise_id": 7, "scale": np.float32([1, 0.3, 0])},
    {"kind": "angle", "lo": -180, "hi": 180, "f": flat, "sigma": [0.1, 0.25], "model_id": "é"},
    {"f": lambda x: np.where(x[:, 0] > 1, np.nan, x[:, 0])},
)
def test_saved_rows_say_the_same(folder, more):
    rows = rows_of(x=X[:9], seed=987654321, **more)
    for some in (rows, rows[[8, 2]], rows[:0]):
        some.save(folder / "r.npz", keep_seed=True)
        again = Rows.load(folder / "r.npz")
        assert seen(again) == seen(some)
        assert again.certreg == some.certreg == certreg.__version__.removesuffix(".dev0")
        digests = [[certreg.question_digest(q) for q in of.questions] for of in (again, some)]
        assert digests[0] == digests[1]
    for keep, name in ((False, "open.npz"), (True, "secret.npz")):  # for its owner alone
        rows.save(name, keep_seed=keep)
        assert (stat.S_IMODE(os.stat(name).st_mode) & 0o044 == 0) == keep
        assert Rows.load(name).seed == (rows.seed if keep else None)
        with np.load(name) as file:
            assert (str(rows.seed) in str(file["facts"])) == keep


def test_rows_of_the_first_release_are_read(folder):
    """Their certificates end before the reason."""
    rows = rows_of(questions=[0.5, 1e-6], x=X[:3])
    rows.save("r.npz")
    with np.load("r.npz") as file:
        kept = dict(file)
    first = kept["certificates"].dtype.descr[:-23]
    old = np.zeros(kept["certificates"].shape, first)
    for name in old.dtype.names:
        old[name] = kept["certificates"][name]
    np.savez("old.npz", **{**kept, "certificates": old})
    again = Rows.load("old.npz")
    assert old.dtype.itemsize == 160 and again["radius"].tolist() == rows["radius"].tolist()
    c = again.certificate(0, 1)
    assert (c.reason, c.samples_needed, c.share_out) == (Reason.NONE, 0, 0)
    assert str(c) == "nothing is proved at tolerance 1e-06 and sigma 0.25"
    assert "3 of 3 rows abstained at tolerance 1e-06: 3 without a reason" in str(again)


def test_files_keep_frames_and_unfinished_rows(folder):
    pandas = package("pandas")
    dates = pandas.to_datetime(["2024-01-01", "2024-01-02", "2024-02-01"])
    zoned = dates.tz_localize("Asia/Tokyo")
    for index in (list("a\0ü"), [3, 1, 2], [0.5, 0.25, 1], dates, zoned, None):
        frame = pandas.DataFrame(X[:3], index=index, columns=["a", "b", "c"])
        rows = rows_of(lambda f: f["a"], frame, scale={"a": 1})
        rows.save("r.npz")
        again = Rows.load("r.npz")
        assert again.index.equals(rows.index) and again.index.dtype == rows.index.dtype
        assert again.to_frame().equals(rows.to_frame()) and str(again) == str(rows)
        labels = frame["a"]
        assert again.label_errors(labels).tolist() == rows.label_errors(labels).tolist()
    pairs = pandas.MultiIndex.from_tuples([(1, 2), (1, 3), (2, 2)])
    for index in (pairs, [(1,), "a", 2.0]):
        frame.index = index
        with pytest.raises(ValueError, match="the index of X .* cannot be kept: set rows.index"):
            rows_of(lambda f: f["a"], frame).save("other.npz")
    with pytest.raises(RowsError) as caught:
        rows_of(raising(10, OSError), check=False)
    caught.value.rows.save("r.npz")
    assert bits(Rows.load("r.npz")) == bits(caught.value.rows)
    assert str(Rows.load("r.npz")) == str(caught.value.rows)
    with pytest.raises(ValueError, match=r"keeps no records: save rows\[:\], which has none"):
        rows_of(x=X[:2], keep_records=True).save("other.npz")
    assert not os.path.exists("other.npz")


def test_damaged_and_foreign_files_are_refused(folder):
    rows = rows_of(x=X[:3], scale=[1, 2, 3])
    rows.save("r.npz")
    data, wanted, dice = (folder / "r.npz").read_bytes(), seen(Rows.load("r.npz")), random.Random(1)
    refused = r"bad\.npz is no file of rows: "
    for _ in range(100):
        at = dice.randrange(len(data))
        bad = data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]
        (folder / "bad.npz").write_bytes(bad)
        try:
            assert seen(Rows.load("bad.npz")) == wanted
        except ValueError as error:
            assert re.match(refused, str(error)), error
    with np.load("r.npz") as file:
        good = dict(file)
    longer = good["certificates"].copy()
    longer["radius"][1] = 2.6
    for change in (
        dict(certificates=longer),
        dict(certificates=good["certificates"][:2]),
        dict(certificates=good["certificates"].view(np.uint8)),
        dict(numbers=good["numbers"][::-1]),
        dict(numbers=np.arange(3.0)),
        dict(done=np.arange(3)),
        dict(scale=np.array(["a"])),
        dict(version=1),
        dict(facts=np.array("{}")),
        dict(facts=np.array(str(good["facts"]).replace('"tolerance": 0.5', '"tolerance": 0.4'))),
    ):
        np.savez("bad.npz", **{**good, **change})
        with pytest.raises(ValueError, match=refused):
            Rows.load("bad.npz")
    np.savez("bad.npz", x=X)
    for content in (None, b"", b"PK", pickle.dumps(rows)):
        if content is not None:
            (folder / "bad.npz").write_bytes(content)
        with pytest.raises(ValueError, match=refused):
            Rows.load("bad.npz")
    with certreg.Calibrated(model, X, X[:, 0], sigma=0.25, seed=1, inputs_seed=2) as calibrated:
        calibrated.save("bad.npz")
    with pytest.raises(ValueError, match="no file of rows: it is of another kind"):
        Rows.load("bad.npz")
    with pytest.raises(FileNotFoundError):
        Rows.load("none.npz")


# ---- curves
def test_curves_count_rows():
    rows = rows_of(sigma=[0.25, 0.5], questions=[1, 0.5])
    rows.certificates["radius"][[3, 8], 0, 1] = rows["radius"][5, 0, 1]  # equal radii
    rows.certificates["radius"][[1, 2], :, 1] = 0
    rows.certificates["prediction"][4, 0, 1] = np.nan
    labels = X[:, 0] + 0.3 * (np.arange(40) % 3)
    errors, radii = rows.label_errors(labels)[:, :, 1], rows["radius"][:, :, 1]
    for k, curve in enumerate(rows.curve(1, labels=labels)):
        assert curve["sigma"] == rows.sigmas[k]
        assert curve["radius"].tolist() == sorted({0, *radii[:, k]})
        for i, radius in enumerate(curve["radius"]):
            there = (radii[:, k] >= radius) & (radii[:, k] > 0)
            assert curve["share"][i] == there.mean()
            assert curve["accuracy"][i] == (there & (errors[:, k] <= 0.5)).mean()
            wanted = errors[there & ~np.isnan(errors[:, k]), k].mean()
            assert curve["error"][i] == pytest.approx(wanted, rel=1e-12)
        assert 0 < curve["accuracy"][0] < curve["share"][0] < 1
    short = rows.curve(1)
    assert [set(one) for one in short] == [{"sigma", "radius", "share"}] * 2
    assert short[1]["share"].tolist() == curve["share"].tolist()
    none = rows_of(lambda x: 9e3 * x[:, 0], X[:3]).curve(labels=X[:3, 0])[0]
    assert (none["share"].tolist(), none["accuracy"].tolist()) == ([0], [0])
    assert np.isnan(none["error"]).all() and rows[:0].curve()[0]["share"].tolist() == [0]
    with pytest.raises(IndexError, match="question is 2"):
        rows.curve(2)
    for call in (Rows.curve, Rows.plot):
        with pytest.raises(ValueError, match="output bounds, which have no radii.* plot_reach"):
            call(rows_of(x=X[:2], radius=0.1))


def test_curves_and_bands_are_drawn(folder):
    package("matplotlib")
    rows = rows_of(sigma=[0.25, 0.5], questions=[0.5, 0.3])
    labels = X[:, 0] + 0.3 * (np.arange(40) % 3)
    right = rows.label_errors(labels) <= [0.5, 0.3]
    lines = [ax.get_lines() for ax in (rows.plot(labels=labels), rows.plot(right))]
    for a, b in zip(*lines):
        np.testing.assert_array_equal(a.get_data(), b.get_data())
    lines = rows.plot(labels=labels, error=True, path="e.svg").get_lines()
    for line, (k, q) in zip(lines, ((0, 0), (0, 1), (1, 0), (1, 1))):
        curve = rows.curve(q, labels=labels)[k]
        np.testing.assert_array_equal(line.get_data(), (curve["radius"], curve["error"]))
    for wrong in (dict(error=True), dict(labels=labels, correct=right)):
        with pytest.raises(ValueError, match="error needs labels, and labels take the place of"):
            rows.plot(**wrong)
    lines = rows.plot(confidence=0.9, labels=labels).get_lines()
    assert [line.get_linestyle() for line in lines] == ["-", "--"] * 4
    bounds = population(rows, question=1, confidence=0.9, labels=labels)[1]
    radii, least = lines[7].get_data()
    assert (radii[-1], least[-1]) == (radii[-2], 0)
    np.testing.assert_array_equal(least[:-1], bounds["population"])
    assert lines[7].get_label().endswith(", at least, 90 %")
    with pytest.raises(ValueError, match="confidence is for shares of rows"):
        rows.plot(X[:, 0] > 0, confidence=0.9)


# ---- what certificates prove about the population of their rows
N, ALPHA, GAMMA, TRIALS = 500, 0.1, 0.05, 400
TRUE, MUCH = np.array([1.0, 2.0]), 0.25  # true radii of the population, and how many have the 2nd
DRAWN = np.random.default_rng(2).normal(size=(60, 3)).astype(np.float32)
ROWS = rows_of(x=DRAWN, questions=[0.5, Question("10%", method="anytime")], sigma=[0.25, 0.5])


@functools.lru_cache(None)
def trials():
    """True radii and rows of samples from a population that is hard to bound: certificates prove
    all of the true radius, and claim half more as often as alpha allows."""
    rng, some = np.random.default_rng(7), rows_of(x=np.tile(DRAWN, (9, 1))[:N], samples=20)
    made = []
    for _ in range(TRIALS):
        true = TRUE[(rng.random(N) < MUCH).astype(int)]
        certificates = some.certificates.copy()
        certificates["radius"][:, 0, 0] = true * np.where(rng.random(N) < ALPHA, 1.5, 1)
        certificates["alpha"], certificates["counted"] = ALPHA, 0
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
def test_bounds_miss_at_most_as_often_as_promised(radius, least):
    several = GAMMA + 2 * (GAMMA / TRIALS) ** 0.5
    of_all, of_rows = missed(trials(), radius)
    assert least <= of_all <= several and of_rows <= several
    assert missed(trials(), radius, 1e-9).min() > 0.7  # as if no certificate were false


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
    one = population(changed(counted=0), radius=0.2)[0]  # certificates alone
    lower = binomial_lower(int((rows["radius"][:, 0, 0] >= 0.2).sum()), 60, gamma)
    assert list(one) == ["sigma", "radius", "share", "population", "rows"]
    assert one["population"] == pytest.approx((lower - 0.025) / 0.975, abs=2e-12)
    all_radii = population(rows)[0]
    assert one["population"] > all_radii["population"][all_radii["radius"] <= 0.2][-1] > 0
    assert 10 < population(ROWS[10:30], radius=0.1)[0]["rows"] <= 20  # a smaller sample


def test_labels_and_failed_rows_count():
    f = lambda x: np.where(x[:, :1] > 9, np.nan, x[:, :1])  # noqa: E731
    x = np.append(DRAWN, [[50, 0, 0]], axis=0)
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


def changed(**fields):
    certificates = ROWS.certificates.copy()
    for name, value in fields.items():
        certificates[name] = value
    return dataclasses.replace(ROWS, certificates=certificates)


def saved(rows):
    rows.save("rows.npz")
    return Rows.load("rows.npz")


@parametrize(
    "make, text",
    (
        lambda: dataclasses.replace(ROWS, certificates=np.tile(ROWS.certificates, (2, 1, 1)),
                                    done=np.tile(ROWS.done, 2), numbers=np.arange(120)),
        "several rows have the noise ids 0, 1, 2.*own noise_id",
    ),
    (lambda: ROWS[ROWS["radius"][:, 0, 0] > 0.2], "the rows are a selection.*rows\\[:500\\]"),
    (lambda: ROWS[[3, 3]], "the rows are a selection"),
    (lambda: ROWS[:0], "there are no rows"),
    (lambda: dataclasses.replace(ROWS, done=np.arange(60) < 50), "10 of 60 rows are not finished"),
    (lambda: rows_of(x=DRAWN, domain="calibration"), "domain 'calibration'.*certify other rows"),
    (lambda: saved(rows_of(x=DRAWN, scale="std")), "the scale came from.*feature_scale"),
    (lambda: saved(rows_of(certreg.Denoised(model, DRAWN, 0.25), DRAWN)), "the denoiser came from"),
    (lambda: rows_of(x=DRAWN, questions=Question(0.5, method="asymptotic")), "no bound of this"),
    (lambda: rows_of(x=DRAWN, questions=Question(0.5, method="baseline")), "no bound of this kind"),
    (lambda: rows_of(x=DRAWN, radius=0.1), "output bounds, which have no radii"),
    (lambda: certreg.population(ROWS), "2 questions: give .* 0, tolerance 0.5; 1, tolerance 10%"),
    (lambda: changed(faults=1), "wrong features too: ask with faults 0"),
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
    (dict(error=-1, labels=DRAWN[:, 0]), ValueError, "error is -1; it must be at least 0"),
    (dict(question=2), IndexError, "question is 2"),
    (dict(rows=[1, 2]), TypeError, r"rows must be a Rows, not \[1, 2\]"),
    (dict(limits=3), ValueError, "limits are for one radius and counted"),
    (dict(limits=-1, radius=0.1), ValueError, "limits"),
    (dict(limits=3, radius=0.1, question=1), ValueError, "limits are for one radius and counted"),
    (dict(limits=ROWS, radius=0.1), ValueError, "limits has inputs of these rows"),
    (dict(limits=ROWS[50:], radius=0.1), ValueError, "limits has inputs of these rows"),
    (dict(limits=rows_of(x=DRAWN + 1, sigma=[0.25, 0.5]), radius=0.1), ValueError, "has noise ids"),
    (dict(limits=rows_of(x=DRAWN + 1, seed=9), radius=0.1), ValueError, "limits has the sigmas"),
)
def test_wrong_arguments_of_a_population_are_refused(wrong, kind, text):
    with pytest.raises(kind, match=text):
        population(**{"rows": ROWS, **wrong})


def test_labels_need_a_prediction_that_the_pilot_fixes():
    question = Question(0.5, statistic="mean", center="true_mean")
    rows = rows_of(x=DRAWN, questions=question, lo=-9, hi=9)
    assert population(rows)[0]["population"].max() < 1
    with pytest.raises(ValueError, match="with labels the center must be 'prediction'"):
        population(rows, labels=DRAWN[:, 0])


# ---- counts in place of certificates
MANY = np.random.default_rng(5).normal(size=(700, 3)).astype(np.float32)


def uneven(x):
    return x[:, 0] * x[:, 1]


def test_a_count_has_the_level_of_its_limit_alone():
    stats = package("scipy.stats")
    rows, radius = rows_of(uneven, MANY[:300], samples=40), 0.3
    q, n = stats.norm.cdf(-radius / 0.25), int(rows["counted"].max())
    levels = stats.binom.cdf(np.arange(n), n, q)
    rule = int(np.abs(levels - 0.25).argmin())
    for limit, given in ((3, 3), (rule, None)):
        line = population(rows, radius=radius, limits=given)[0]
        passed = (rows["counted_out"][:, 0, 0] <= limit).sum()
        lower = stats.beta.ppf(0.05, passed, 300 - passed + 1)
        assert (line["limit"], line["share"]) == (limit, passed / 300)
        assert line["level"] == pytest.approx(levels[limit], rel=1e-5) and line["level"] < 0.5
        least = (lower - levels[limit]) / (1 - levels[limit])
        assert line["population"] == pytest.approx(least, abs=1e-5) and least > 0.1
        refused = np.array([300 - passed])
        assert line["rows"] == 300 - most_wrong(refused, 300, line["level"], 0.05)[0]
    assert population(rows, radius=radius, limits=n)[0]["population"] == 0
    rows.certificates["counted"] = 0
    assert population(rows, radius=radius)[0]["population"] < least / 2


def test_rows_that_failed_or_have_fewer_samples_pass_at_no_higher_level():
    whole = population(ROWS, radius=0.02)[0]
    n = int(ROWS["counted"].max())
    assert whole["share"] == 1
    line = population(changed(counted=0, counted_out=0), radius=0.02)[0]
    assert "limit" not in line
    some = changed()
    some.certificates["counted"][:30] = 0  # failed rows have no counts
    assert population(some, radius=0.02)[0]["share"] == 0.5
    few = changed(counted_out=whole["limit"])
    few.certificates["counted"][:30] = n // 2
    found = population(few, radius=0.02)[0]
    assert (found["share"], found["level"]) == (0.5, whole["level"])
    served = changed(counted_required=0.6, counted_out=whole["limit"])
    assert population(served, radius=0.02)[0]["share"] == 0


def test_other_rows_plan_the_bound_and_choose_the_limit():
    pilot, rest = MANY[:60], MANY[60:560]
    plans = rows_of(uneven, pilot, samples=100, seed=3)
    rows = rows_of(uneven, rest, samples=40, seed=4)
    for radius in (0.2, 0.3):
        plan = plan_population(plans, radius=radius, samples=40, count=500)[0]
        line = population(rows, radius=radius, limits=plans)[0]
        assert (line["limit"], line["level"]) == (plan["limit"], plan["level"])
        assert abs(line["population"] - plan["population"]) < 0.15 and line["population"] > 0.1
        assert plan["low"] <= plan["population"] <= plan["high"] < plan["low"] + 0.4
        assert population(rows, radius=radius, limits=plan["limit"])[0] == line


@parametrize(
    "rows, more, text",
    (ROWS[:59], {}, "at least 60 rows with at least 64 counted outputs each: there are 59"),
    (rows_of(x=DRAWN, samples=40), {}, "there are 60 with 36"),
    (ROWS, dict(question=1), "there are 60 with 0"),
    (ROWS, dict(radius=0), "radius is 0"),
    (ROWS, dict(count=0), "count"),
    (ROWS, dict(confidence=1), "confidence is 1"),
    (rows_of(x=DRAWN, pilot=30), dict(samples=30), "the pilot takes all"),
)
def test_plans_that_cannot_be_made_are_refused(rows, more, text):
    with pytest.raises(ValueError, match=text):
        plan_population(rows, **{"radius": 0.1, "samples": 100, "count": 100, **more})

"""What commands write: tables, documents, summaries, advice, scales and intervals; and what they do
with the names of columns."""

import csv
import io
import json
import math
import os
import re
import stat
import sys
from unittest import mock

import numpy as np
import pytest

import kit
from kit import ASKED, CERTIFY, MODELS, OWN_CALLS, PRODUCT, STEPS, certify_refused, command_refused
from kit import model, near, package, parametrize, read, run, said, table_of, write
from certreg import Estimator, Question, Reason
from certreg.cli.files import seed_in
from certreg.cli.report import in_options
from certreg.results import reason_text

X = kit.X[:6]
TRUTHS = X[:, 0] + X[:, 1] * X[:, 2]
pytestmark = pytest.mark.usefixtures("models")


def estimator(**more):
    return Estimator(model, 3, 200, **{"seed": 7, "batch": 200, **more})


def test_rows_are_those_of_the_library():
    table = table_of(*CERTIFY)
    with estimator() as e:
        for i, row in enumerate(table):
            c = e.certify(X[i], 0.25, 200, Question(tolerance=0.5), noise_id=i)
            assert (row["row"], row["outcome"]) == (str(i), c.outcome.name.lower())
            assert float(row["radius"]) == c.radius
            assert float(row["prediction"]) == c.prediction
    out, err = said(*CERTIFY, "-o", "-")
    assert len(list(csv.DictReader(io.StringIO(out)))) == len(table) == 6
    assert "mean radius" in err


def test_a_line_says_what_helps_where_nothing_is_certified():
    err = said(*CERTIFY, "--tolerance", "1e-9,.5,1e-8")[1]
    said_of = "certreg: 6 of 6 rows abstained at tolerance {}: 6 outputs out"
    lines = [said_of.format(tolerance) for tolerance in (1e-9, 1e-8)]
    assert [line.partition("; too many outputs")[0] for line in err.splitlines()] == lines
    assert said(*CERTIFY, "--tolerance", "1e-9", "-q")[1] == ""
    texts = [in_options(reason_text(reason)) for reason in Reason]
    assert sum("declare --range" in text or "use --method finite" in text for text in texts) == 3
    assert not re.search("lo and hi|Method|CERTREG", " ".join(texts))


def test_kinds_of_models_and_inputs_agree():
    wanted = table_of(*CERTIFY)
    np.savez("x.npz", x=X, other=X)
    np.savetxt("x.csv", X, delimiter=",", header="a,b,c", comments="")
    np.savetxt("bare.csv", X, delimiter=";")
    for named in ("models:product", "models.py:two", "models.py:makes_two"):
        assert table_of("certify", named, "x.npy", *ASKED) == wanted
    for x in (("x.csv",), ("bare.csv",), ("x.npz", "--array", "x")):
        assert table_of("certify", PRODUCT[0], *x, *ASKED) == wanted
    second = ("--output", 1, "--tolerance", 1)
    twice = table_of("certify", "models.py:two", "x.npy", *ASKED, *second)
    for a, b in zip(wanted, twice):
        assert float(a["radius"]) == near(float(b["radius"]), 5e-10)


def test_labels():
    labels = TRUTHS + 5 * (np.arange(6) % 2)
    np.save("y.npy", labels)
    ask, right = (*CERTIFY, "--labels", "y.npy", "--rows", "1:6"), 0
    for row in table_of(*ask):
        assert float(row["label"]) == labels[int(row["row"])]
        error = abs(float(row["prediction"]) - float(row["label"]))
        assert float(row["label_error"]) == near(error)
        right += error <= 0.5 and float(row["radius"]) > 0
    assert 0 < right < 5
    assert float(run(*ask)[1].splitlines()[1].split()[-1]) == right / 5


def test_json_has_everything_but_the_seed():
    ask = (*CERTIFY, "--seed", "987654321", "-o", "r.json")
    said(*ask)
    document = read("r.json")
    assert "987654321" not in str(document)
    assert (document["complete"], len(document["rows"])) == (True, 6)
    assert document["plan"]["sigma"] == 0.25
    assert document["summary"][0]["certified"] == 6
    said(*ask, "--keep-seed")
    assert read("r.json")["plan"]["seed"] == "987654321"
    first, second = (table_of(*CERTIFY[:-2])[0]["estimate"] for _ in range(2))
    assert first != second  # without a seed the noise is fresh


SOMETIMES = ("models.py:sometimes_nan", "steps.npy", *ASKED)


def test_rows_without_an_answer_have_no_numbers_and_enter_no_mean():
    _, err = said("certify", *SOMETIMES, status=1)
    assert re.search(" of 10 certificates failed, .* row [567].*nan.*--count-failures", err)
    np.save("y.npy", np.where(STEPS[:, 0] > 4, 1000, STEPS[:, 0] + 1))
    ask, names = ("certify", *SOMETIMES, "--labels", "y.npy"), ("prediction", "tolerance", "alpha")
    names += ("label_error",)
    table = table_of(*ask, status=1)
    assert [(bool(row["error"]), float(row["radius"])) for row in table][-3:] == [(True, 0)] * 3
    for row in table:
        assert [row[name] == "nan" for name in names] == [bool(row["error"])] * 4
    document = table_of(*ask, name="r.json", status=1)
    assert [document["rows"][-1][name] for name in names] == [None] * 4
    known = [float(row["label_error"]) for row in table if not row["error"]]
    summary = document["summary"][0]
    assert summary["failed"] == len(table) - len(known)
    assert summary["mean_error"] == near(np.mean(known))
    assert {row["error"] for row in table_of(*ask, "--count-failures")} == {""}
    out, err = said(*ask, "--rows", "8:", status=1)  # where no row has an answer
    assert out.split()[-3] == "nan" and "Warning" not in err


def test_a_failing_model_loses_nothing():
    ask = ("certify", "models.py:fails_late", "steps.npy", *ASKED, *OWN_CALLS)
    lost = "row 3: ValueError: three is .*; 3 of 10 .*r.json and r"
    command_refused(3, lost, *ask, "-o", "r.json", "--resume", "r.sqlite")
    document = read("r.json")
    assert (document["complete"], len(document["rows"])) == (False, 3)
    write("models.py", MODELS.replace("< 0.5", "< -1"))
    del sys.modules["models"]
    resumed = table_of(*ask, "--resume", "r.sqlite")
    assert resumed == table_of("certify", "models.py:product", *ask[2:])


def test_a_file_is_whole_or_as_it_was():
    table_of(*CERTIFY)
    before = kit.pathlib.Path("r.csv").read_bytes()
    assert run("certify", "models.py:fails", "x.npy", *ASKED, "-o", "r.csv")[0] == 3
    assert kit.pathlib.Path("r.csv").read_bytes() == before
    assert sorted(os.listdir()) == ["models.py", "r.csv", "steps.npy", "x.npy"]


def test_what_is_extra_never_spoils_results():
    write("named.csv", "a,<b>,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in X.tolist()))
    more = ("--allowances", "a.csv", "--report", "r.html", "--keep-seed", "--seed", 1234567)
    words = ("certify", PRODUCT[0], "named.csv", *ASKED, "--rows", "2:", *more, "-o", "r.json")
    said(*words)
    lines, rows = read("a.csv"), read("r.json")["rows"]
    assert [(c["row"], c["column"]) for c in lines[:3]] == [("2", "a"), ("2", "<b>"), ("2", "c")]
    radii = [line["radius"] for line in rows for _ in range(3)]
    for line, radius in zip(lines, radii, strict=True):
        assert radius * 0.999 < float(line["alone"]) < radius
    page = read("r.html")
    assert "&lt;b&gt;" in page and not re.search("<b>|1234567", page)
    assert "<td>tolerance</td>" in page and "<h1>Certificates of" in page
    with mock.patch("certreg.cli.run.page", side_effect=OSError("disk is full")):
        _, err = said(*words)
    assert re.search("--report is not written, and the results are complete: disk is full", err)
    certify_refused("must end with .csv$", "--allowances", "a.txt")
    certify_refused("names another file", "--allowances", "r.csv", "-o", "./r.csv")


def test_records_answer_other_questions_without_calls():
    ask = ("certify", "models.py:slow", *CERTIFY[2:], "--resume", "r", "--keep-records")
    table_of(*ask)
    calls = os.path.getsize("called")
    table = table_of(*ask, "--tolerance", "1,2")
    assert os.path.getsize("called") - calls < 9  # to ask it again
    assert {row["tolerance"] for row in table} == {"1.0", "2.0"}


# ---- sigma
def test_sigma_recommends_the_greatest_mean_radius():
    ask, means = ("sigma", *CERTIFY[1:], "--sigma", ".05,.25,2"), {}
    table = table_of(*ask)
    for row in table:
        means.setdefault(row["sigma"], []).append(float(row["radius"]))
    best = max(means, key=lambda sigma: np.mean(means[sigma]))
    assert (len(table), best) == (18, "0.25")
    alike = table_of("sigma", *CERTIFY[1:])[0]["estimate"], table_of(*CERTIFY)[0]["estimate"]
    assert alike[0] != alike[1]  # it has noise of its own
    deploy = "Deploy sigma 0.25 for tolerance 0.5. Its mean radius, {:.5g}, is the greatest.\n"
    assert deploy.format(np.mean(means[best])) in run(*ask)[1]
    np.save("y.npy", TRUTHS)
    out = run(*ask, "--labels", "y.npy", "--tolerance", "1.5,.2")[1]
    rule = "among the sigmas whose mean error is at most 0.1 tolerances above the least."
    for sigma, tolerance in ((0.25, 1.5), (0.05, 0.2)):
        assert re.search(f"Deploy sigma {sigma} for tolerance {tolerance}. .* {rule}", out)
    assert "mean error  useful radius  certified accuracy" in out
    assert "Try larger ones" in run(*ask, "--sigma", ".01,.05")[1]
    assert "Try smaller ones" in run(*ask, "--sigma", ".25,2")[1]
    none = "No sigma certifies .*: try a larger tolerance"
    assert re.search(none, run(*ask, "--sigma", "20,40")[1])


def test_names_of_tolerances_are_in_every_output():
    ask, names = ("sigma", *CERTIFY[1:], "--tolerance", "tight=.2,loose=10%"), ["tight", "loose"]
    found = table_of(*ask, name="r.json")
    for lines in (found["summary"], found["chosen"], found["rows"][:2]):
        assert [line["name"] for line in lines] == names
    assert re.search(r"median radius +name\n.* tight\n.* loose\n", said(*ask)[0])


def test_sigma_leaves_out_rows_that_failed_at_some_level():
    ask = ("sigma", *SOMETIMES, "--sigma", ".05,.2")
    table = table_of(*ask, status=1)
    failed = {row["row"] for row in table if row["error"]}
    assert {"7", "8", "9"} <= failed < {str(row) for row in range(10)}
    kept = [row for row in table if row["sigma"] == "0.2" and row["row"] not in failed]
    mean = np.mean([float(row["radius"]) for row in kept])
    last = said(*ask, status=1)[0].splitlines()[-1]
    assert re.match(rf"Deploy sigma 0.2 .* mean radius, {mean:.5g}, is the greatest", last)
    assert f"failed at some sigma are left out at all of them: {len(failed)}." in last
    none = "No sigma is recommended, since each of the 2 rows failed at some"
    assert none in run(*ask, "--rows", "8:")[1]


# ---- bounds and attack
def test_bounds():
    ask = ("bounds", *PRODUCT, "--sigma", ".25", "--samples", "200")
    row = table_of(*ask, "--radius", ".2", "--seed", "7")[2]
    with estimator() as e:
        e.begin(X[2], 0.25, 2)
        c = e.output_bounds(200, 0.2, Question(tolerance=0))
    assert (float(row["output_lo"]), float(row["output_hi"])) == (c.output_lo, c.output_hi)
    assert "median width" in run(*ask, "--radius", ".2")[1]
    assert re.search(r" 0 +0 +inf\nno output is bounded .*\n\Z", run(*ask, "--radius", "2.4")[1])


def test_attacks_of_each_row_have_both_ends():
    words = ("attack", *CERTIFY[1:], "--calls", "1000")
    out, err = said(*words, "-o", "r.csv")
    assert "median ratio" in out and err == ""
    rows = read("r.csv")
    assert [row["row"] for row in rows] == list("012345")
    for row in rows:
        assert float(row["broken"]) > float(row["certified_radius"])
        assert int(row["calls"]) <= 1000
        assert (row["side"] in ("lower", "upper"), row["error"]) == (True, "")
    assert table_of(*words) == rows
    assert table_of(*words, "--rows", "2:4") == rows[2:4]
    said(*words, "-o", "r.json")
    assert (read("r.json")["plan"]["calls"], read("r.json")["summary"][0]["broken"]) == (1000, 6)
    assert '"seed"' not in kit.pathlib.Path("r.json").read_text()


def test_percentages_are_resolved_for_each_row():
    labels = ("--labels", "y.npy", "--plot", "p.svg", "--plot-kind", "accuracy")
    np.save("y.npy", TRUTHS)
    rows = table_of("certify", *CERTIFY[1:], "--tolerance", "50%,.5", *labels)
    assert list(rows[0])[-6:-4] == ["label", "label_error"] and list(rows[0])[-4] == "reason"
    for row in rows[::2]:
        part = float(row["tolerance"]) / abs(float(row["prediction"]))
        assert part == pytest.approx(0.5, rel=1e-12)
    out = run("sigma", *CERTIFY[1:], "--sigma", ".05,.1", "--tolerance", "50%", *labels[:2])[1]
    assert re.search("0.05 +50% .*Deploy sigma 0.1 for tolerance 50%. ", out, re.S)
    broken = table_of("attack", *CERTIFY[1:], "--calls", "1000", "--tolerance", "50%")
    assert [row["tolerance"] for row in broken] == [row["tolerance"] for row in rows[::2]]
    remark = "6 of 6 rows abstained at tolerance 0.0001%: 6 outputs out; too many"
    assert remark in run(*CERTIFY, "--tolerance", "0.0001%")[2]


def test_attacks_that_fail_are_named():
    _, err = said("attack", *SOMETIMES, "--calls", 400, "-o", "r.csv", status=1)
    assert " of 10 attacks failed, the first in row " in err
    rows = read("r.csv")
    assert len(rows) == 10
    assert "--count-failures" in rows[9]["error"]
    assert math.isnan(float(rows[9]["broken"]))
    assert run("attack", "models.py:fails", "x.npy", *ASKED)[0] == 3


# ---- check and info
def test_check():
    assert "Nothing was found" in said("check", *PRODUCT)[0]
    out, _ = said("check", "models.py:depends_on_its_batch", "x.npy", status=1)
    assert re.match("batch: .*", out)
    np.save("large.npy", X + 6)
    out, _ = said("check", SOMETIMES[0], "large.npy", status=1)
    assert re.search(r"not finite: .*\(--count-failures\)", out)
    said("check", "models.py:slow", "x.npy", "--calls", 40)
    assert os.path.getsize("called") == 7
    np.save("same.npy", np.ones((4, 3)))
    assert "give --sigma" in said("check", PRODUCT[0], "same.npy", status=2)[1]


def test_info():
    out, _ = said("info")
    for name in ("library", "instructions", "denoisers \\(BLAS\\)", "CUDA device 0", "onnxruntime"):
        assert re.search(f"(?m)^{name}  +[^ ]", out)
    command_refused(2, "there is no file trees.txt", "info", "trees.txt")


# ---- files of seeds keep the seed off the command line, and are the same for all jobs of an array
UNSEEDED = (*CERTIFY[:-2], "--samples", "100")


def test_the_first_command_makes_the_file_and_others_read_it():
    before = os.umask(0)
    try:
        whole = table_of(*UNSEEDED, "--seed-file", "seed")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat("seed").st_mode) == 0o600
    seed = read("seed")
    assert table_of(*UNSEEDED, "--seed", seed.strip()) == whole
    parts = [table_of(*UNSEEDED, "--seed-file", "seed", "--rows", rows) for rows in (":2", "2:")]
    assert sum(parts, []) == whole
    assert read("seed") == seed
    out, err = said(*UNSEEDED, "--seed-file", "secret", "-o", "r.json")
    assert seed_in("secret") != int(seed)
    told = out + err + kit.pathlib.Path("r.json").read_text()
    assert read("secret").strip() not in told and "secret" not in told


def test_every_command_with_noise_takes_it():
    for words in (
        ("attack", *PRODUCT, *UNSEEDED[3:], "--calls", 500),
        ("bounds", *PRODUCT, "--sigma", ".25", "--radius", ".2"),
        ("sigma", *PRODUCT, *UNSEEDED[3:]),
    ):
        said(*words, "-q", "--seed-file", words[0])
        assert seed_in(words[0]) == int(read(words[0]))


def test_jobs_that_make_it_at_the_same_time_get_one_seed():
    """Each finds no file, though another is just making it."""
    with mock.patch("os.path.exists", lambda path: False):
        assert len({seed_in("seed") for _ in range(5)}) == 1
    assert [name for name in os.listdir() if "seed" in name] == ["seed"]


# ---- interval and scale
CALIBRATED = "--calibration points.npy --truths truths.npy --sigma .3 --radius .1 --alpha .1"
CALIBRATED = (*CALIBRATED.split(), "--samples", 31, "--seed", 3)
INPUTS = np.random.default_rng(6).normal(size=(240, 3))
OUTPUTS = INPUTS @ np.array([1, 0.5, -0.5]) + 0.5 * np.random.default_rng(7).normal(size=240)
MORE_MODELS = """
WEIGHTS = np.array([1, 0.5, -0.5], np.float32)
def linear(x): return x @ WEIGHTS
def second(x): return np.stack([0 * x[:, 0], x @ WEIGHTS], 1)
def turn(x): return 170 + x @ WEIGHTS
def steep(x): return x @ [4, 2, 1]
def even(x): return x.sum(1)
def both(x): return np.stack([x.sum(1), x @ [1, 9, 1]], 1)
"""


@pytest.fixture
def calibration(models):
    write("models.py", MORE_MODELS, "a")
    for name, array in (("points", INPUTS[:160]), ("new", INPUTS[160:])):
        np.save(f"{name}.npy", array)
    for name, array in (("truths", OUTPUTS[:160]), ("labels", OUTPUTS[160:])):
        np.save(f"{name}.npy", array)


def intervals(*more, model="linear"):
    return ("interval", f"models.py:{model}", "new.npy", *CALIBRATED, *more)


def test_intervals_and_their_coverage_are_told(calibration):
    out, err = said(*intervals("--labels", "labels.npy", "-o", "intervals.csv", "-q"))
    assert out.split()[:6] == "sigma radius alpha rows empty infinite".split()
    assert (float(out.split()[-1]) > 0.85, err) == (True, "")
    lines = read("intervals.csv")
    assert [int(line["row"]) for line in lines] == list(range(80))
    for line in lines:
        inside = float(line["lo"]) <= float(line["label"]) <= float(line["hi"])
        assert int(line["covered"]) == inside
    said(*intervals("-o", "other.csv", "--rows", "0:20"))  # the seed is that of the calibration
    assert all(a["lo"] != b["lo"] for a, b in zip(lines, read("other.csv")))


HELD = INPUTS[:8].repeat(3, 0) + np.random.default_rng(8).normal(size=(24, 3))


def tuned(*more, model="steep"):
    np.save("held.npy", HELD)
    words = "--sigma .1,.2,.4 --tolerance 1 --samples 200 --seed 3 -q -o scale.npy".split()
    out, err = said("scale", f"models.py:{model}", "held.npy", *words, *more)
    assert err == ""
    return out, np.load("scale.npy")


def test_the_scale_serves_certify(calibration):
    out, scale = tuned()
    assert re.match(r"group +share +factor\n", out)
    assert re.search(r"\nDeploy sigma 0\.\d with this scale\. .* is 1\.\d+ times", out)
    np.testing.assert_allclose(scale, np.array([0.5, 1, 2]), rtol=0.15)
    ask = "--sigma .2 --tolerance 1 --scale scale.npy".split()
    assert len(table_of("certify", "models.py:steep", "held.npy", *ask)) == len(HELD)
    tuned("-o", "scale.csv")  # with all digits: fewer would be rounded up
    np.testing.assert_array_equal(np.loadtxt("scale.csv", delimiter=","), scale)


# ---- what scripts use
HOUSES = """
def price(frame):
    town = frame["town"].map({"north": 40.0, "south": 0.0})
    return (3 * frame["area"] - frame["age"] + town).to_numpy()
"""
TABLE = "area,town,age\n80,north,1.5\n100.5,south,20\n60,south,3\n120,north,50.5\n"


@pytest.fixture
def houses():
    package("pandas")
    write("models.py", HOUSES, "a")
    write("houses.csv", TABLE)


def document(*words):
    return json.loads(said(*words, "--json")[0])


# ---- documents
INTERVAL = ("--calibration", "x.npy", "--truths", "y.npy", "--radius", "0", "--alpha", ".3")


@parametrize(
    "words, name",
    (("certify", *PRODUCT, *ASKED), "summary"),
    (("bounds", *PRODUCT, *ASKED, "--radius", ".1"), "summary"),
    (("attack", *PRODUCT, *ASKED), "summary"),
    (("interval", *PRODUCT, "--sigma", ".25", *INTERVAL), "summary"),
    (("check", *PRODUCT), "findings"),
    (("info",), "info"),
    (("scale", "models.py:product", "many.npy", *ASKED), "scale"),
    (("sigma", *PRODUCT, *ASKED), "chosen"),
)
def test_every_command_has_a_document(words, name):
    np.save("y.npy", model(X))
    np.save("many.npy", kit.X[:12])
    found = document(*words)
    assert found["certreg"] and name in found and "rows" not in found


def test_the_chosen_sigma_is_a_field():
    asked = ("sigma", *PRODUCT, *ASKED[2:], "--sigma", ".1,.25", "--tolerance", ".5,1e-9")
    found = document(*asked)
    some, none = found["chosen"]
    best = max(found["summary"], key=lambda line: line["mean_radius"])
    assert (some["sigma"], some["tolerance"], some["left_out"]) == (best["sigma"], 0.5, 0)
    assert (none["tolerance"], none["sigma"]) == (1e-9, None)
    said(*asked, "-o", "r.json", "-q")
    assert read("r.json")["chosen"] == found["chosen"]
    assert document(*CERTIFY, "--units", ".5")["units"][0]["lines"]
    out, err = said(*CERTIFY, "-o", "-", "-q", "--json")
    assert out.startswith("row,sigma,") and json.loads(err)["summary"][0]["rows"] == 6


# ---- tables as they are
AT = ("--sigma", ".1", "--tolerance", "30", "--samples", "200")


@parametrize("name", "houses.csv", "houses.parquet")
def test_a_model_in_python_gets_a_table_as_it_is(houses, name):
    if name != "houses.csv":
        package("pyarrow")
        package("pandas").read_csv("houses.csv").to_parquet(name)
    out, err = said("certify", "models.py:price", name, *AT, "-o", "r.csv")
    assert ": the model gets a DataFrame, " in err and err.startswith(f"certreg: {name} h")
    assert err.endswith("and only area, age get noise\n") and err.count("\n") == 1
    found = [float(line["prediction"]) for line in read("r.csv")]
    assert np.abs(np.subtract(found, [278.5, 281.5, 177, 349.5])).max() < 5
    assert document("attack", "models.py:price", "houses.csv", *AT)["summary"][0]["certified"] == 4
    write("prices.csv", "278.5\n281.5\n177\n349.5\n")
    points = ("--calibration", "houses.csv", "--truths", "prices.csv", "--radius", "0")
    asked = ("interval", "models.py:price", "houses.csv", "--sigma", ".1", *points, "--alpha", ".4")
    assert document(*asked)["summary"][0]["infinite"] == 0
    for scale in ("std", "iqr:houses.csv"):
        command_refused(2, "--scale needs a file of other inputs", *asked, "--scale", scale)
    assert document("check", "models.py:price", "houses.csv", "--scale", "std")["findings"] == []


def test_tables_that_get_no_noise_are_refused(houses):
    sentence = "'north' in line 2, column 'town', which is not a number: leave out"  # for others
    command_refused(2, sentence, "certify", "model.txt", "houses.csv", *AT)
    marks = "".join(f"{','.join(f'{i:06b}')},t{i}\n" for i in range(60))
    write("houses.csv", f"a,b,c,d,e,f,town\n{marks}")
    sentence = "'t0' in line 2.*no other column gets noise: repair it, or give --scale$"
    command_refused(2, sentence, "certify", "models.py:price", "houses.csv", *AT, "-q")
    write("comma.csv", "area;age\n80,5;1\n60;2,5\n")
    sentence = "'80,5' in line 2, column 'area', which is not a number, and no column holds numbers"
    for scale in ("std", "2", "iqr:comma.csv"):
        words = ("certify", "models.py:price", "comma.csv", *AT, "--scale", scale)
        command_refused(2, sentence, *words)
    words = ("certify", "models.py:product", "x.npy", *AT, "--scale", "std:comma.csv")
    command_refused(2, sentence, *words)
    write("houses.csv", TABLE.replace("20\n", "inf\n"))
    sentence = "column 'age' is inf in row 1, and only finite"
    command_refused(2, sentence, "certify", "models.py:price", "houses.csv", *AT)


def test_spreads_are_scales(houses):
    """Of the whole file, whichever rows are certified, or of another one."""
    deviations = np.std([[80, 1.5], [100.5, 20], [60, 3], [120, 50.5]], axis=0)
    found = document("certify", "models.py:price", "houses.csv", *AT, "--scale", "std")
    assert np.allclose(found["plan"]["scale"], [deviations[0], 0, deviations[1]])
    np.save("other.npy", X[:4] * [1, 2, 3])
    for scale, wanted in (("std", X), ("std:other.npy", X[:4] * [1, 2, 3])):
        found = document(*CERTIFY, "--scale", scale, "--rows", ":2")
        assert np.allclose(found["plan"]["scale"], wanted.std(0, dtype=float))
    wrong = "--scale std:y.npy: its inputs have shape .2,.; they must have .3,.$"
    np.save("y.npy", X[:, :2])
    command_refused(2, wrong, *CERTIFY, "--scale", "std:y.npy")
    np.save("x.npy", np.ones((3, 3)))
    command_refused(2, "--scale iqr: feature 0 has the iqr 0 in 3", *CERTIFY, "--scale", "iqr")


def test_sentences_name_the_column():
    write("x.csv", "income,age,rooms\n1e9,1.5,2\n2e9,2,3\n")
    out, err = said("certify", PRODUCT[0], "x.csv", *ASKED, status=1)
    assert "row 0: column 'income' = 1e+09 cannot carry" in err
    assert err.endswith("; --scale std puts --sigma in units of each feature\n")
    write("x.csv", "income,age,rooms\n1e9,1.5,2\n2,2,3\n")
    assert "; --scale std" in said("certify", PRODUCT[0], "x.csv", *ASKED, status=1)[1]
    write("x.csv", "income,age,rooms\n1,2,3\n1,inf,3\n")
    command_refused(2, "in row 1, column 'age' ", "certify", PRODUCT[0], "x.csv", *ASKED)


# ---- names of columns: they are matched, or refused; where one side has none, their order is said
NAMED = """
class Fitted:
    feature_names_in_ = np.array(["age", "sex", "bmi"], dtype=object)
    def predict(self, x):
        x = np.asarray(x)
        return x[:, 0] + 3 * x[:, 1] * x[:, 2]
fitted = Fitted()
class Years(Fitted):
    feature_names_in_ = ["2019", "2020", "2021"]
years = Years()
"""
NAMES = ("age", "sex", "bmi")
UNNAMED = " has no names for its features: taken in the order of "


def write_table(name, names, values):
    with open(name, "w", encoding="utf-8") as file:
        file.write(", ".join(names) + "\n")
        np.savetxt(file, np.atleast_2d(values), delimiter=",")


@pytest.fixture
def named(models):
    write("models.py", NAMED, "a")
    write_table("x.csv", NAMES, X)
    write_table("turned.csv", NAMES[::-1], X[:, ::-1])


def radii(model, x, *more, says=""):
    """The table of a command that says one thing at most on standard error, beside abstentions."""
    _, err = said("certify", f"models.py:{model}", x, *ASKED, *more, "-o", "r.csv")
    err = re.sub(r"certreg: \d of 6 rows abstained .*\n", "", err)
    assert re.fullmatch(f"certreg: {says}\n" if says else "", err), err
    return read("r.csv")


def test_inputs_go_in_as_the_model_names_them(named):
    wanted = radii("fitted", "x.csv")
    assert radii("fitted", "turned.csv") == wanted != radii("product", "x.csv", "-q")


def test_other_names_are_refused(named):
    write_table("scale.csv", ("age", "sex", "height"), [1, 1, 1])
    for name, owner in (("fitted", "models.py:fitted"), ("product", "x.csv")):
        sentence = f"scale.csv has no feature named 'bmi', as {owner} has, but 'height'"
        more = ("--scale", "scale.csv", "-q")
        certify_refused(sentence, *more, model=f"models.py:{name}", x="x.csv")
    write_table("x.csv", ("age", "sex"), np.ones((6, 2)))
    sentence = "x.csv has no feature named 'bmi', as models.py:fitted has: add it"
    certify_refused(sentence, model="models.py:fitted", x="x.csv")


def test_a_side_without_names_is_told_of(named):
    wide = [f"x{i}" for i in range(20)]
    write_table("wide.csv", wide, np.full((6, 20), 0.5))
    for x, order in (("x.csv", "age, sex, bmi"), ("turned.csv", "bmi, sex, age"),
                     ("wide.csv", r"x0, .*, x7, \.\.\. \(20\)")):
        radii("product", x, says=f"models.py:product{UNNAMED}{x}, {order}")
        radii("product", x, "-q")
    says = f"x.npy{UNNAMED}models.py:fitted, age, sex, bmi"
    assert radii("fitted", "x.npy", says=says) == radii("fitted", "x.csv")
    radii("product", "x.npy")  # where neither has names there is nothing to say


@parametrize(
    "scale, says",
    ("2", "noise on rooms, size, when. Whole numbers get it too, in rooms: if they are .*"),
    ("std", "noise on rooms, size, when. Whole numbers get it too, in rooms: if they are .*"),
    ("s.npy", ""),
)
def test_whole_numbers_that_get_noise_are_told_of(named, scale, says):
    """In Python columns of integers are exact. In float32 all times are whole numbers."""
    values = np.c_[[1, 4, 2, 3, 3, 2], X[:, 0], 1.7e9 + 1e8 * X[:, 1]]
    write_table("t.csv", ("rooms", "size", "when"), values)
    np.save("t.npy", values)
    np.save("s.npy", [0, 1, 100])
    more = "--sigma 99 --tolerance 9 --samples 50 --statistic median --scale".split()
    write("models.py", "def first(x): return x[:, 0]\n", "a")
    for file in ("t.csv", "t.npy"):
        err = run("certify", "models.py:first", file, *more, scale)[2]
        lines = [line for line in err.splitlines() if "noise on" in line]
        wanted = says if file == "t.csv" else ""
        assert re.fullmatch(f"certreg: {wanted}" if wanted else "", "".join(lines)), err


def test_names_that_are_numbers_are_not_taken_for_an_input(named):
    write_table("years.csv", ("2021", "2019", "2020"), X)
    sentence = "years.csv begins with the names of models.py:years, which are numbers: leave out"
    certify_refused(sentence, model="models.py:years", x="years.csv")


def test_scales_are_those_of_the_features_with_their_names(named):
    write_table("scale.csv", NAMES, [1, 0.5, 4])
    write_table("scale_turned.csv", NAMES[::-1], [4, 0.5, 1])
    np.save("scale.npy", [1, 0.5, 4])
    wanted = radii("fitted", "x.csv", "--scale", "scale.csv")
    for x, scale in (("turned.csv", "scale.csv"), ("x.csv", "scale_turned.csv")):
        assert radii("fitted", x, "--scale", scale) == wanted
    says = f"scale.npy{UNNAMED}models.py:fitted, age, sex, bmi"
    assert radii("fitted", "turned.csv", "--scale", "scale.npy", says=says) == wanted
    plain, again = (
        radii("product", "x.csv", "--scale", scale, "-q")
        for scale in ("scale.csv", "scale_turned.csv")
    )
    assert plain == again
    write_table("scale.csv", ("noise",), np.array([[1], [0.5], [4]]))  # a column names no features
    radii("fitted", "x.csv", "--scale", "scale.csv", says=f"scale.csv{UNNAMED}models.py:fit.*")


def test_a_scale_that_was_chosen_keeps_the_names(named):
    held = np.random.default_rng(6).normal(size=(24, 3))
    write_table("held.csv", NAMES[::-1], held[:, ::-1])
    write_table("groups.csv", NAMES[::-1], [2, 1, 1])
    tune = "--sigma .2 --tolerance 2 --samples 100 --seed 3 --rounds 2 -o".split()
    words = ("scale", "models.py:fitted", "held.csv", *tune)
    out, err = said(*words, "scale.csv")
    assert err == ""
    assert re.search(r"\A *group .*\n *age .*\n *sex .*\n *bmi ", out)
    assert kit.pathlib.Path("scale.csv").read_text().startswith("age,sex,bmi\n")
    radii("fitted", "turned.csv", "--scale", "scale.csv")
    run(*words, "scale.csv", "--groups", "groups.csv")
    age, sex, _ = scale = tuple(float(read("scale.csv")[0][name]) for name in NAMES)
    assert age == sex
    run(*words, "scale.npy", "--groups", "groups.csv")
    assert np.load("scale.npy").tolist() == list(scale)

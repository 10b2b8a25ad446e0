"""What commands write: tables, documents, summaries, and advice."""

import csv
import io
import math
import os
import re
import stat
import sys
from unittest import mock

import numpy as np
import pytest

from kit import ASKED, CERTIFY, MODELS, OWN_CALLS, PRODUCT, STEPS, command_refused
from kit import model, near, parametrize, read, run, said, table_of, write
import kit
from certreg import Estimator, Question, Reason
from certreg.cli import report
from certreg.cli.report import in_options
from certreg.cli.files import seed_in
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
    assert len(table) == 6


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


def test_rows_on_standard_output():
    out, err = said(*CERTIFY, "-o", "-")
    assert len(list(csv.DictReader(io.StringIO(out)))) == 6
    assert "mean radius" in err


SOMETIMES = ("models.py:sometimes_nan", "steps.npy", *ASKED)


def test_rows_without_an_answer_have_no_numbers_and_enter_no_mean():
    _, err = said("certify", *SOMETIMES, status=1)
    assert re.search("certificates are missing.* row [567].*nan.*--count-failures", err)
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
    (name,) = report.curves(document["rows"], False)
    assert name == "sigma 0.25, tolerance 0.5"
    assert {row["error"] for row in table_of(*ask, "--count-failures")} == {""}


def test_where_no_row_has_an_answer_there_is_no_mean_error():
    np.save("far.npy", STEPS[8:])
    np.save("y.npy", [1, 2])
    out, err = said("certify", SOMETIMES[0], "far.npy", *ASKED, "--labels", "y.npy", status=1)
    assert out.split()[-3] == "nan"
    assert "Warning" not in err


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


def test_without_a_seed_the_noise_is_fresh():
    first, second = (table_of(*CERTIFY[:-2])[0]["estimate"] for _ in range(2))
    assert first != second


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
    deploy = "Deploy sigma 0.25 for tolerance 0.5. Its mean radius, {:.5g}, is the greatest.\n"
    assert deploy.format(np.mean(means[best])) in run(*ask)[1]
    np.save("y.npy", TRUTHS)
    out = run(*ask, "--labels", "y.npy", "--tolerance", "1.5,.2")[1]
    rule = "among the sigmas whose mean error is at most 0.1 tolerances above the least."
    for sigma, tolerance in ((0.25, 1.5), (0.05, 0.2)):
        assert re.search(f"Deploy sigma {sigma} for tolerance {tolerance}. .* {rule}", out)
    assert "mean error  useful radius  certified accuracy" in out
    assert "Try larger ones" in run(*ask, "--sigma", ".01,.05")[1]
    none = "No sigma certifies .*: try a larger tolerance"
    assert re.search(none, run(*ask, "--sigma", "20,40")[1])


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


def test_sigma_has_noise_of_its_own():
    a, b = (table_of(command, *CERTIFY[1:])[0]["estimate"] for command in ("sigma", "certify"))
    assert a != b


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
    assert read("r.json")["plan"]["calls"] == 1000
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
    assert "attacks failed, the first in row" in err
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
    command_refused(2, "trees.txt is no .onnx file: info takes a model.onnx", "info", "trees.txt")


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
    table_of(*UNSEEDED, "--seed-file", "other")
    assert seed_in("other") != int(seed)


@parametrize(
    "words",
    ("attack", *PRODUCT, *UNSEEDED[3:], "--calls", 500),
    ("bounds", *PRODUCT, "--sigma", ".25", "--radius", ".2"),
    ("sigma", *PRODUCT, *UNSEEDED[3:]),
)
def test_every_command_with_noise_takes_it(words):
    said(*words, "-q", "--seed-file", "seed")
    assert seed_in("seed") == int(read("seed"))


def test_jobs_that_make_it_at_the_same_time_get_one_seed():
    """Each finds no file, though another is just making it."""
    with mock.patch("os.path.exists", lambda path: False):
        assert len({seed_in("seed") for _ in range(5)}) == 1
    assert [name for name in os.listdir() if "seed" in name] == ["seed"]


def test_it_is_not_told():
    out, err = said(*UNSEEDED, "--seed-file", "secret", "-o", "r.json")
    told = out + err + kit.pathlib.Path("r.json").read_text()
    assert str(seed_in("secret")) not in told and "secret" not in told

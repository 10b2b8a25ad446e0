"""What scripts use: documents on standard output, several noise levels, and tables as they are."""

import json

import numpy as np
import pytest

from kit import ASKED, CERTIFY, PRODUCT, X, command_refused, model, package, parametrize, read, said
from kit import table_of, write

pytestmark = pytest.mark.usefixtures("models")
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
    np.save("y.npy", model(X[:6]))
    np.save("many.npy", X[:12])
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


# ---- several noise levels
def test_several_sigmas_share_alpha():
    more = (*PRODUCT, "--samples", "200", "--seed", "7", "--tolerance", ".5")
    table = table_of("certify", *more, "--sigma", ".1,.25")
    assert [line["sigma"] for line in table] == ["0.1", "0.25"] * 6
    assert {line["alpha"] for line in table} == {"0.025"}
    out, _ = said("bounds", *more, "--sigma", ".1,.25", "--radius", ".1")
    assert [line.split()[0] for line in out.splitlines()][:3] == ["sigma", "0.1", "0.25"]
    sentence = "--sigma must be one number with --denoise"
    command_refused(2, sentence, "certify", *more, "--sigma", ".1,.25", "--denoise", "x.npy")


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


def test_other_models_get_numbers(houses):
    sentence = "'north' in line 2, column 'town', which is not a number"
    command_refused(2, sentence, "certify", "model.txt", "houses.csv", *AT)


def test_tables_that_get_no_noise_are_refused(houses):
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
    for scale, wanted in (("std", X[:6]), ("std:other.npy", X[:4] * [1, 2, 3])):
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

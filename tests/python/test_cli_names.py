"""Columns are matched by their names, or refused; where one side has none, their order is said."""

import re

import numpy as np
import pytest

import kit
from kit import ASKED, certify_refused, drawn_from, parametrize, read, run, said, table_of

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
NAMES, X = ("age", "sex", "bmi"), kit.X[:6]
UNNAMED = " has no names for its features: taken in the order of "


def write(name, names, values):
    with open(name, "w", encoding="utf-8") as file:
        file.write(", ".join(names) + "\n")
        np.savetxt(file, np.atleast_2d(values), delimiter=",")


@pytest.fixture(autouse=True)
def named(models):
    kit.write("models.py", NAMED, "a")
    write("x.csv", NAMES, X)
    write("turned.csv", NAMES[::-1], X[:, ::-1])


def radii(model, x, *more, says=""):
    """The table of a command that says one thing at most on standard error, beside abstentions."""
    _, err = said("certify", f"models.py:{model}", x, *ASKED, *more, "-o", "r.csv")
    err = re.sub(r"certreg: \d of 6 rows abstained .*\n", "", err)
    assert re.fullmatch(f"certreg: {says}\n" if says else "", err), err
    return read("r.csv")


def test_inputs_go_in_as_the_model_names_them():
    wanted = radii("fitted", "x.csv")
    assert radii("fitted", "turned.csv") == wanted != radii("product", "x.csv", "-q")


def test_other_names_are_refused():
    write("x.csv", ("age", "sex"), np.ones((6, 2)))
    sentence = "x.csv has no feature named 'bmi', as models.py:fitted has: add it"
    certify_refused(sentence, model="models.py:fitted", x="x.csv")


def test_a_side_without_names_is_told_of():
    wide = [f"x{i}" for i in range(20)]
    write("wide.csv", wide, np.full((6, 20), 0.5))
    for x, order in (
        ("x.csv", "age, sex, bmi"),
        ("turned.csv", "bmi, sex, age"),
        ("wide.csv", r"x0, .*, x7, \.\.\. \(20\)"),
    ):
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
def test_whole_numbers_that_get_noise_are_told_of(scale, says):
    """In Python columns of integers are exact. In float32 all times are whole numbers."""
    values = np.c_[[1, 4, 2, 3, 3, 2], X[:, 0], 1.7e9 + 1e8 * X[:, 1]]
    write("t.csv", ("rooms", "size", "when"), values)
    np.save("t.npy", values)
    np.save("s.npy", [0, 1, 100])
    more = "--sigma 99 --tolerance 9 --samples 50 --statistic median --scale".split()
    kit.write("models.py", "def first(x): return x[:, 0]\n", "a")
    for file in ("t.csv", "t.npy"):
        err = run("certify", "models.py:first", file, *more, scale)[2]
        lines = [line for line in err.splitlines() if "noise on" in line]
        wanted = says if file == "t.csv" else ""
        assert re.fullmatch(f"certreg: {wanted}" if wanted else "", "".join(lines)), err


def test_names_that_are_numbers_are_not_taken_for_an_input():
    write("years.csv", ("2021", "2019", "2020"), X)
    sentence = "years.csv begins with the names of models.py:years, which are numbers: leave out"
    certify_refused(sentence, model="models.py:years", x="years.csv")


def test_a_run_continues_with_the_same_columns_in_another_order():
    more = ("--resume", "r.sqlite")
    assert radii("fitted", "x.csv", *more) == radii("fitted", "turned.csv", *more)
    radii("product", "x.csv", "--resume", "r", "-q")
    certify_refused("arguments .X.", "--resume", "r", "-q", x="turned.csv", status=4)


def test_calibration_points():
    inputs = np.random.default_rng(6).normal(size=(60, 3))
    write("points.csv", NAMES, inputs)
    write("points_turned.csv", NAMES[::-1], inputs[:, ::-1])
    np.save("truths.npy", inputs.sum(1))
    asked = "--truths truths.npy --sigma .3 --radius .05 --alpha .2 --samples 31 --seed 3".split()

    def width(model, x, points):
        words = ("interval", f"models.py:{model}", x, "--calibration", points, *asked)
        with drawn_from(5):
            return table_of(*words)[0]["width"]

    turned = width("fitted", "turned.csv", "points_turned.csv")
    assert width("fitted", "x.csv", "points.csv") == turned
    turned = width("product", "x.csv", "points_turned.csv")
    assert width("product", "x.csv", "points.csv") == turned


# ---- scales
def test_scales_are_those_of_the_features_with_their_names():
    write("scale.csv", NAMES, [1, 0.5, 4])
    write("scale_turned.csv", NAMES[::-1], [4, 0.5, 1])
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


@parametrize("model, owner", ("fitted", "models.py:fitted"), ("product", "x.csv"))
def test_other_names_of_scales_are_refused(model, owner):
    write("scale.csv", ("age", "sex", "height"), [1, 1, 1])
    sentence = f"scale.csv has no feature named 'bmi', as {owner} has, but 'height'"
    more = ("--scale", "scale.csv", "-q")
    certify_refused(sentence, *more, model=f"models.py:{model}", x="x.csv")


def test_a_column_of_numbers_names_no_features():
    write("scale.csv", ("noise",), np.array([[1], [0.5], [4]]))
    radii("fitted", "x.csv", "--scale", "scale.csv", says=f"scale.csv{UNNAMED}models.py:fit.*")


def test_a_scale_that_was_chosen_keeps_the_names():
    held = np.random.default_rng(6).normal(size=(24, 3))
    write("held.csv", NAMES[::-1], held[:, ::-1])
    write("groups.csv", NAMES[::-1], [2, 1, 1])
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

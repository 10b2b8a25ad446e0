"""How loud may a disturbance be before a network hears another pitch? `make real NAME=pitch`
certifies the pitch that SwiftF0 hears in voices, by default Debian's eight test voices.

A frame of a voice is a window of sound, long enough that the network's answer in the middle depends
on nothing else. Its certificate is a radius: no disturbance of the window, noise or any other
sound, with a smaller 2-norm moves the smoothed pitch by half a semitone."""

import argparse
import functools
import importlib.util
import pathlib
import sys
import time
import wave

try:
    import numpy as np
    import onnxruntime
    from certreg import Question, RowsError, certify_rows
except ImportError as error:
    sys.exit(f"{error}; make deps installs what is missing")

NAME, TOLERANCE, SCALE, SIGMAS = "pitch", 50, 1, (0.05, 0.1, 0.2, 0.4)  # cents; full scale is 1
SEED = 42  # a seed, so that the example can be repeated; without one a secret one is drawn
SOUNDS = pathlib.Path("/usr/share/sounds/alsa")
SPEAKERS = ("Front_Center", "Front_Left", "Front_Right", "Rear_Center", "Rear_Left", "Rear_Right")
VOICES = [SOUNDS / f"{name}.wav" for name in (*SPEAKERS, "Side_Left", "Side_Right")]
RATE, HOP, SIDE = 16000, 256, 11  # frame i depends on less than SIDE hops to each side of i * HOP
VOICED, QUIET, EACH = 0.5, 1e-3, 3  # voiced frames have this confidence and peak; frames of a voice
RANGE = {"fmin": 46.875, "fmax": 2093.75}  # Hz, the default of SwiftF0's own package


# ---- the network
def model_file():
    """The network within its package, which is not imported."""
    found = importlib.util.find_spec("swift_f0")
    for folder in found.submodule_search_locations or () if found else ():
        path = pathlib.Path(folder) / "model.onnx"
        if path.is_file():
            return path
    raise FileNotFoundError("there is no swift_f0 with its model.onnx: make deps-real installs it")


@functools.lru_cache
def network():
    """A function from sound, (samples,), to pitch in Hz and confidence, (frames,) each."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model_file()), options)
    given = {name: np.array(value, np.float32) for name, value in RANGE.items()}
    return lambda x: [y[0] for y in session.run(["pitch", "confidence"], {"audio": x[None]} | given)]


def make_model():
    """The pitch in the middle of windows, (rows, samples), in cents above A4, (rows,)."""
    hear = network()
    return lambda windows: np.array([cents(hear(window)[0][SIDE]) for window in windows])


def cents(hertz):
    return 1200 * np.log2(hertz / 440)


# ---- the sound
def sound(path):
    """The sound of a file at 16 kHz as float32 between -1 and 1."""
    with wave.open(str(path)) as file:
        form = file.getframerate(), file.getnchannels(), file.getsampwidth()
        data = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    if form != (3 * RATE, 1, 2):
        raise ValueError(
            f"{path} has {form[0]} Hz, {form[1]} channels of {8 * form[2]} bits; it must have "
            f"{3 * RATE} Hz, one channel of 16 bits: sox {path} -r {3 * RATE} -c 1 -b 16 new.wav"
        )
    if not len(data):
        raise ValueError(f"{path} has no sound: record a voice")
    at = np.arange(-48, 49)
    low_pass = 0.3 * np.sinc(0.3 * at) * np.blackman(len(at))  # 7.2 kHz, and nothing from 8.8 kHz
    return np.convolve(data / 2**15, low_pass, "same")[::3].astype(np.float32)


def frames(path):
    """EACH of the voiced frames of a file, evenly chosen: their seconds, and their windows."""
    heard = sound(path)
    confidence = network()(heard)[1]
    count = len(heard) // HOP
    peaks = abs(heard[: count * HOP]).reshape(count, HOP).max(1)
    inside = slice(SIDE, max(SIDE, count - SIDE))
    voiced = np.flatnonzero((confidence[inside] >= VOICED) & (peaks[inside] >= QUIET)) + SIDE
    if len(voiced) < EACH:
        raise ValueError(
            f"{path} has {len(voiced)} voiced frames with {SIDE * HOP / RATE:.2f} seconds of sound "
            f"before and after them; it must have {EACH}: record a longer voice"
        )
    chosen = voiced[(2 * np.arange(EACH) + 1) * len(voiced) // (2 * EACH)]
    return chosen * HOP / RATE, [heard[(i - SIDE) * HOP : (i + SIDE) * HOP] for i in chosen]


def repeated(window):
    """The pitch in Hz in the middle of a window by another method, autocorrelation: the shortest
    time after which 32 ms of sound return almost as alike as after any."""

    def alike(lag):
        first = (len(window) - 512 - lag) // 2
        a, b = window[first : first + 512], window[first + lag : first + lag + 512]
        return a @ b / np.sqrt((a @ a) * (b @ b))

    lags = np.arange(RATE // 400, RATE // 60)
    r = np.array([alike(lag) for lag in lags])
    peaks = np.flatnonzero((r[1:-1] > r[:-2]) & (r[1:-1] >= r[2:])) + 1
    i = peaks[r[peaks] > 0.9 * r[peaks].max()][0]
    between = (r[i - 1] - r[i + 1]) / (r[i - 1] - 2 * r[i] + r[i + 1]) / 2  # of a parabola
    return RATE / (lags[i] + between)


def inputs(voices=VOICES):
    """Windows of voiced frames, (rows, samples), and their pitches by autocorrelation in cents."""
    windows = np.array([window for voice in voices for window in frames(voice)[1]])
    return windows, cents(np.array([repeated(window) for window in windows.astype(float)]))


# ---- the answers
def certified(voices, sigma, samples, jobs):
    """Prints a line for each frame, and what they have in common."""
    windows, truths = inputs(voices)
    rows = certify_rows(
        make_model, windows, sigma, Question(TOLERANCE), samples=samples, seed=SEED, jobs=jobs
    )
    radii, smoothed = rows["radius"][:, 0, 0], rows["prediction"][:, 0, 0]
    clean, norms = make_model()(windows), np.linalg.norm(windows.astype(float), axis=1)
    below = 20 * np.log10(norms / np.maximum(radii, 1e-300))
    times = [(voice.stem, second) for voice in voices for second in frames(voice)[0]]
    print(f"{'voice':<14}{'at':>7}{'pitch':>10}{'smoothed':>10}{'autocorr.':>10}{'radius':>9}", end="")
    print(f"{'below the voice':>17}")
    for i, (voice, second) in enumerate(times):
        hertz = "".join(f"{440 * 2 ** (c[i] / 1200):7.1f} Hz" for c in (clean, smoothed, truths))
        said = f"{below[i]:14.1f} dB" if radii[i] else f"{'not certified':>17}"
        print(f"{voice:<14}{second:5.2f} s{hertz}{radii[i]:9.3f}{said}")
    return rows


def main():
    parser = argparse.ArgumentParser(prog="pitch", description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "voices", nargs="*", default=VOICES, type=pathlib.Path, help=".wav files, 48 kHz, mono"
    )
    parser.add_argument("--sigma", type=float, default=0.2, help="noise level; full scale is 1")
    parser.add_argument("--samples", type=int, default=1000, help="calls for each frame")
    parser.add_argument("--jobs", type=int, default=0, help="processes; 0: one for each processor")
    options = parser.parse_args()
    try:
        certified(options.voices, options.sigma, options.samples, options.jobs)
    except (EOFError, OSError, RowsError, ValueError, wave.Error) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted")


if __name__ == "__main__":
    main()

"""How loud may a disturbance be before a network hears another pitch? `make real NAME=pitch`
certifies the pitch that SwiftF0 hears in voices, by default Debian's eight test voices.

A frame of a voice is a window of sound, long enough that the network's answer in the middle depends
on nothing else. Its certificate is a radius: no disturbance of the window, noise or any other
sound, with a smaller 2-norm moves the smoothed pitch by half a semitone."""

import math
import pathlib
import sys
import wave

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import shared
import numpy as np
from certreg import OnnxModel, certify_rows, compare_radius

TOLERANCE, SCALE = 50, 1  # cents; full scale is 1
SIGMAS = (0.05, 0.1, 0.2, 0.4, 0.8)
SEED = 42  # a seed, so that the example can be repeated; without one a secret one is drawn
SOUNDS = pathlib.Path("/usr/share/sounds/alsa")
SPEAKERS = ("Front_Center", "Front_Left", "Front_Right", "Rear_Center", "Rear_Left", "Rear_Right")
VOICES = [SOUNDS / f"{name}.wav" for name in (*SPEAKERS, "Side_Left", "Side_Right")]
RATE, HOP, SIDE = 16000, 256, 11  # frame i depends on less than SIDE hops to each side of i * HOP
VOICED, EACH = 0.5, 3  # SwiftF0 calls a frame voiced from this confidence; frames of each voice
RANGE = {"fmin": 46.875, "fmax": 2093.75}  # Hz, the default of SwiftF0's own package


# ---- the network
def network(output, columns=None):
    path = shared.file_of("swift_f0", "model.onnx")
    return OnnxModel(path, constants=RANGE, output=output, columns=columns)


def in_hertz():
    """The network from windows, (rows, samples), to the pitch in their middle, (rows, 1)."""
    return network("pitch", range(SIDE, SIDE + 1))


def make_model():
    """The same in cents above A4, (rows,)."""
    hear = in_hertz()
    return lambda windows: cents(hear(windows)[:, 0])


def cents(hertz):
    return 1200 * np.log2(hertz / 440)


def hertz(cents):
    return 440 * 2 ** (cents / 1200)


# ---- the sound
def sound(path):
    """The sound of a file at 16 kHz as float32 between -1 and 1."""
    try:
        with wave.open(str(path)) as file:
            form = file.getframerate(), file.getnchannels(), file.getsampwidth()
            data = file.readframes(file.getnframes())
    except (EOFError, wave.Error) as error:
        why = str(error) or "it is too short"
        raise ValueError(f"{path} is no .wav file of 16 bits: {why}") from None
    if form != (3 * RATE, 1, 2):
        raise ValueError(
            f"{path} has {form[0]} Hz, {8 * form[2]} bits, channels: {form[1]}; it must have "
            f"{3 * RATE} Hz, one channel of 16 bits: sox {path} -r {3 * RATE} -c 1 -b 16 new.wav"
        )
    data = np.frombuffer(data[: len(data) // 2 * 2], np.int16)
    if not len(data):
        raise ValueError(f"{path} has no sound: record a voice")
    at = np.arange(-48, 49)
    low_pass = 0.3 * np.sinc(0.3 * at) * np.blackman(len(at))  # 7.2 kHz, and nothing from 8.8 kHz
    return np.convolve(data / 2**15, low_pass, "same")[::3].astype(np.float32)


def voiced(path):
    """The sound of a file, and the indices of its voiced frames that have a whole window."""
    heard = sound(path)
    found = np.flatnonzero(network("confidence")(heard[None])[0] >= VOICED)
    return heard, found[(found >= SIDE) & (found <= len(heard) // HOP - SIDE)]


def frames(voices):
    """EACH frame of each file, evenly chosen from the voiced ones: (file, seconds), and windows,
    (rows, samples)."""
    places, windows = [], []
    for path in voices:
        heard, found = voiced(path)
        if len(found) < EACH:
            raise ValueError(
                f"{path} has {len(found)} voiced frames {SIDE * HOP / RATE:.2f} seconds away from "
                f"its ends; it must have {EACH}: record a longer voice"
            )
        for i in found[(2 * np.arange(EACH) + 1) * len(found) // (2 * EACH)]:
            places.append((path, i * HOP / RATE))
            windows.append(heard[(i - SIDE) * HOP : (i + SIDE) * HOP])
    return places, np.array(windows)


def repeated(window):
    """The pitch in the middle of a window by another method, autocorrelation, 60 to 400 Hz or NaN:
    the shortest time after which 32 ms of sound return almost as alike as after any."""

    def alike(lag):
        first = (len(window) - 512 - lag) // 2
        a, b = window[first : first + 512], window[first + lag : first + lag + 512]
        return a @ b / np.sqrt((a @ a) * (b @ b))

    lags = np.arange(RATE // 400, RATE // 60)
    r = np.array([alike(lag) for lag in lags])
    peaks = np.flatnonzero((r[1:-1] > r[:-2]) & (r[1:-1] >= r[2:])) + 1
    if not len(peaks):
        return math.nan
    i = peaks[r[peaks] > 0.9 * r[peaks].max()][0]
    between = (r[i - 1] - r[i + 1]) / (r[i - 1] - 2 * r[i] + r[i + 1]) / 2  # of a parabola
    return RATE / (lags[i] + between)


def inputs():
    """The windows of Debian's voices, and their pitches in cents by autocorrelation."""
    windows = frames(VOICES)[1]
    return windows, truths(windows)


def truths(windows):
    return cents(np.array([repeated(window) for window in windows.astype(float)]))


# ---- the program
def tell(places, windows, rows):
    """Prints a line for each frame. Returns smoothed pitches in Hz, and how many dB the radii are
    below the voice."""
    heard = make_model()(windows), rows["prediction"][:, 0, 0], truths(windows)
    pitch, smoothed, other = heard
    known = compare_radius(windows, rows, kind="sound")
    radii = np.floor(1000 * rows["radius"][:, 0, 0]) / 1000  # both to the safe side
    below = np.ceil(10 * known.noise_ratios) / 10
    print("voice              at     pitch  smoothed autocorr.   radius  below the voice")
    for (path, second), cents_of, radius, ratio in zip(places, zip(*heard), radii, below):
        pitches = "".join(f"{hertz(c):7.1f} Hz" for c in cents_of)
        said = f"{ratio:14.1f} dB" if radius else f"{'not certified':>17}"
        print(f"{path.stem:<14}{second:5.2f} s{pitches}{radius:9.3f}{said}")
    print("\nDifferences in cents, median and largest:")
    for what, of in (
        ("smoothed pitch and pitch", smoothed - pitch),
        ("pitch and autocorrelation", pitch - other),
        ("smoothed pitch and autocorrelation", smoothed - other),
    ):
        print(f"  {what:<35}{np.nanmedian(abs(of)):5.1f}{np.nanmax(abs(of)):7.1f}")
    print(f"\n{known}")
    return hertz(smoothed), below


def save(windows, options):
    """Writes windows for the command and the program in C. Prints what they find for the first one,
    in Hz as the network answers, and how."""
    options.save.mkdir(parents=True, exist_ok=True)
    np.save(options.save / "frames.npy", windows)
    np.save(options.save / "first.npy", windows[0])
    model, how = in_hertz(), {"samples": options.samples, "seed": SEED, "progress": False}
    lowest = 1 - 2 ** (-TOLERANCE / 1200)  # the smaller side, since 50 cents up are more Hz
    tolerance = math.floor(100 * lowest * model(windows[:1])[0, 0]) / 100
    c = certify_rows(model, windows[:1], options.sigma, tolerance, **how).certificate(0)
    of_file = f"--output pitch --columns {SIDE}:{SIDE + 1} "
    of_file += " ".join(f"--constant {name}={value}" for name, value in RANGE.items())
    print(
        f"\nThe first frame is within {tolerance} Hz of {c.prediction:.6g} Hz for every "
        f"disturbance below {c.radius:.6g}. The same:\n"
        f"  certreg certify {model.path} {options.save}/frames.npy --rows 0:1 {of_file} --sigma "
        f"{options.sigma} --tolerance {tolerance} --samples {options.samples} --seed {SEED}\n"
        f"  certify {model.path} --shape {2 * SIDE * HOP} {of_file} --samples {options.samples} "
        f"--input {options.save}/first.npy {options.sigma} {tolerance}"
    )


def plot(path, places, smoothed, below):
    """The pitches of voices, one below the other, with bars of a semitone at the certified frames
    and their dB."""
    from matplotlib.figure import Figure

    figure = Figure((shared.WIDTH, 8), layout="constrained")
    ax, hear, began, middles = figure.add_subplot(), network("pitch"), 0, {}
    for voice in dict.fromkeys(voice for voice, _ in places):
        heard, found = voiced(voice)
        pitch = np.full(len(heard) // HOP, np.nan)
        pitch[found] = hear(heard[None])[0][found]
        at = began + np.arange(len(pitch)) - found[0]  # from the first voiced frame on
        ax.plot(pitch, at, color="0.6")
        for (of, second), middle, ratio in zip(places, smoothed, below):
            if of == voice:
                y = at[round(second * RATE / HOP)]
                bar = hertz(cents(middle) + np.array([-TOLERANCE, TOLERANCE]))
                ax.plot(bar, [y, y], color="C0", linewidth=3)
                text = math.ceil(ratio) if ratio < math.inf else "none"
                ax.annotate(text, (1.05 * middle, y), va="center", color="C0")
        middles[voice.stem.replace("_", "\n")] = (at[found[0]] + at[found[-1]]) / 2
        began = at[found[-1]] + 25
    ax.set(xscale="log", yticks=list(middles.values()), yticklabels=middles)
    ax.set_xticks((100, 150, 200, 300), labels=("100 Hz", 150, 200, 300), minor=False)
    ax.set_xticks((), minor=True)
    ax.invert_yaxis()
    shared.save(figure, path)


def run(options):
    places, windows = frames(options.voices)
    how = {"samples": options.samples, "jobs": options.jobs, "seed": SEED}
    rows = certify_rows(make_model, windows, options.sigma, TOLERANCE, **how)
    answers = tell(places, windows, rows)
    if options.save:
        save(windows, options)
    if options.plot:
        plot(options.plot, places, *answers)


FORMAT = ".wav files, 48 kHz, mono, 16 bits; Debian's by default"
OPTIONS = {
    "voices": {"nargs": "*", "default": VOICES, "type": pathlib.Path, "help": FORMAT},
    "--sigma": {"type": float, "default": 0.2, "help": "noise level; full scale is 1"},
    "--samples": {"type": shared.above_0, "default": 1000, "help": "calls for each frame"},
    "--save": {"type": pathlib.Path, "metavar": "FOLDER", "help": "for the windows as .npy files"},
    **shared.JOBS,
    **shared.PLOT,
}

if __name__ == "__main__":
    shared.main(__doc__, OPTIONS, run)

"""Denoisers in front of models: those of the library, and networks that are trained and joined with
models as ONNX files."""

import concurrent.futures
import pickle
import random
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from kit import bits, command_refused, engine_files, environment, no_warnings, node, package
from kit import parametrize, root, rows_of, said, write
from test_hostile_files import changed
from test_types import WRONG, answered
from certreg import Calibrated, CertregError, Denoised, Estimator, OnnxModel, ResumeError, Status
from certreg import as_model, check_model, compare_denoised, join_denoiser, train_denoiser
from certreg import training, tune_scale
from certreg.training import denoiser_file

SIGMA = 1.0
MIXED = np.random.default_rng(3).normal(size=(3, 8))
STEEP = np.float32(np.random.default_rng(4).normal(size=8))


def drawn(count, seed):
    """Inputs that vary in three directions, and a little in all."""
    rng = np.random.default_rng(seed)
    x = 2 * rng.normal(size=(count, 3)) @ MIXED + 0.1 * rng.normal(size=(count, 8)) + 3
    return x.astype(np.float32)


def steep(x):
    return np.sin(x @ STEEP / 4)


def factory():
    return steep


def of_frames(frame):
    return steep(frame.drop(columns="town").to_numpy()) + (frame["town"] == "b")


EXAMPLES, X, POINTS = drawn(2000, 1), drawn(12, 2), drawn(40, 9)
FRONT = Denoised(steep, EXAMPLES, SIGMA)


def rows(model=FRONT, x=X, sigma=SIGMA, **more):
    return rows_of(model, x, sigma, **more)


@parametrize("masked", [], [0, 5])
def test_its_error_is_known_and_exact_features_stay(masked):
    scale, clean = np.ones(8), drawn(20000, 6)
    scale[masked] = 0
    front, noise = Denoised(steep, EXAMPLES, SIGMA, scale), np.random.default_rng(7)
    noisy = np.float32(clean + noise.normal(size=clean.shape) * scale)
    ours = front.apply(noisy)
    error = np.square(ours - clean)[:, scale > 0].mean()
    assert error < 0.6 and front.error == pytest.approx(error, rel=0.05)
    assert np.array_equal(ours[:, masked], noisy[:, masked])
    assert all(np.array_equal(front.apply(x[None])[0], y) for x, y in zip(noisy[:40], ours))


def test_it_lengthens_the_radii_of_a_model_without_noise_in_its_training():
    assert rows()["radius"].mean() > 1.5 * rows(steep)["radius"].mean()
    more = dict(examples=EXAMPLES, seed=5, samples=200, progress=False)
    found = compare_denoised(steep, X, [0.5, SIGMA], 0.5, labels=steep(X), **more)
    assert found.helps and found.gain > 1.5 and found.model.sigma == found.sigma
    assert [line["denoised"] for line in found.lines] == ["no", "yes"] * 2
    bare, ours = found.lines[2:]
    assert ours["mean_error"] < bare["mean_error"] and "with it" in str(found)
    assert ours["left"] == FRONT.error and ours["useful_radius"] <= ours["mean_radius"]
    wide = np.random.default_rng(8).normal(size=(300, 8)) * 50  # far beyond the noise
    found = compare_denoised(steep, X, SIGMA, 0.5, **{**more, "examples": wide})
    assert not found.helps and found.model is steep and "take" in str(found)
    wrong = compare_denoised(steep, X, SIGMA, 0.5, labels=steep(X) + 9, **more)
    assert not wrong.helps and wrong.lines[1]["useful_radius"] == 0


NAN = np.where(np.arange(24).reshape(3, 8) == 9, np.nan, 1)
SETTING, OURS = dict(examples=EXAMPLES), (EXAMPLES[9:30], steep(EXAMPLES[9:30]))
REFUSED = (
    (lambda: Denoised(FRONT, EXAMPLES, SIGMA), "denoises already"),
    (lambda: rows(Denoised(lambda: FRONT, EXAMPLES, SIGMA)), "denoises already"),
    (lambda: compare_denoised(FRONT, X, SIGMA, 0.5, **SETTING), "denoises already"),
    (lambda: rows(lambda: FRONT), "factory makes a Denoised"),
    (lambda: Denoised(steep, NAN, SIGMA), "feature 1 of example 1 is nan"),
    (lambda: Denoised(steep, NAN[:1], SIGMA), "at least 2 examples"),
    (lambda: Denoised(steep, NAN[[0, 2]] * 1e39, SIGMA), "is inf; examples must be finite"),
    (lambda: Denoised(steep, EXAMPLES, 0), "sigma is 0"),
    (lambda: Denoised(steep, EXAMPLES, SIGMA, 0), "scale is 0 for all features"),
    (lambda: Denoised(steep, EXAMPLES, SIGMA, components=4097), "components is 4097"),
    (lambda: Denoised(3, EXAMPLES, SIGMA), "model is int"),
    (lambda: FRONT.apply(X[:, :7]), r"must be \(rows, 8,\)"),
    (lambda: rows(sigma=2), r"sigma is 2\.0, and the denoiser was made for 1\.0"),
    (lambda: rows(scale=2), "scale is not the denoiser.s"),
    (lambda: rows(x=X[:, :7]), r"have shape \(7,\), .* made for \(8,\)"),
    (lambda: Estimator(FRONT, 8, 99).begin(X[0], 2), "sigma is 2"),
    (lambda: Estimator(FRONT, 8, 99).certify_sigmas(X[0], [SIGMA, 2], 9, 0.5), "sigma is 2"),
    (lambda: Estimator(FRONT, (2, 4), 99), r"have shape \(2, 4\)"),
    (lambda: Estimator(FRONT, 8, 99, scale=2), "scale is not"),
    (lambda: Estimator(FRONT, 8, 99, device=0), "leave out device"),
    (lambda: check_model(FRONT, X, sigma=2), "sigma is 2"),
    (lambda: Calibrated(FRONT, X, steep(X), 2), "sigma is 2"),
    (lambda: Calibrated(FRONT, *OURS, SIGMA), "row 0 of X made the denoiser"),
    (lambda: tune_scale(FRONT, drawn(12, 1), [SIGMA], 0.5), "for one scale"),
    (lambda: compare_denoised(steep, EXAMPLES[:9], 1, 0.5, **SETTING), "among the examples"),
    (lambda: compare_denoised(steep, X, 1, 0.5, **SETTING, resume="f"), "takes no resume"),
)


@parametrize("call, sentence", *REFUSED)
def test_void_uses_are_refused(call, sentence):
    with pytest.raises((ValueError, TypeError, RuntimeError), match=sentence):
        call()


def test_every_way_to_run_it_gives_the_same():
    with pytest.warns(UserWarning, match="3 of the 15 rows made the denoiser"):
        rows(x=np.concatenate([X, EXAMPLES[7:10]]), samples=50)
    with no_warnings():
        wanted = bits(rows())
    again = pickle.loads(pickle.dumps(FRONT))
    assert bits(rows(again)) == wanted and repr(again) == repr(FRONT)
    assert bits(rows(Denoised(factory, EXAMPLES, SIGMA), jobs=2)) == wanted
    images = Denoised(lambda x: steep(x.reshape(-1, 8)), EXAMPLES.reshape(-1, 2, 4), SIGMA)
    assert (images.shape, images.scale.shape, images.components) == ((2, 4), (2, 4), 3)
    assert images.digest == FRONT.digest and bits(rows(images, X.reshape(-1, 2, 4))) == wanted
    assert as_model(FRONT) is FRONT and check_model(FRONT, X, sigma=SIGMA) == []
    with Estimator(FRONT, 8, 300, seed=42) as e:
        assert e.certify(X[3], SIGMA, 300, 0.5, noise_id=3).radius == rows()["radius"][3, 0, 0]
        assert e.attack(0.5, 300).certified_radius > 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for y in pool.map(FRONT.apply, [np.repeat(EXAMPLES, 20, axis=0)] * 8):
            assert np.array_equal(y[::20], FRONT.apply(EXAMPLES))


def careless(*_):
    raise CertregError(Status.PLATFORM, text="expm1 is too inaccurate")


def test_files_have_it_and_refuse_another_one(tmp_path, monkeypatch):
    path, file, kept = (tmp_path / name for name in ("w", "r.sqlite", "c.npz"))
    FRONT.save(path)
    again = Denoised.load(path, steep)
    assert again.export() == FRONT.export() and repr(again) == repr(FRONT)
    assert np.array_equal(again._examples, FRONT._examples) and bits(rows(again)) == bits(rows())
    path.write_bytes(path.read_bytes().replace(FRONT.export()[99:120], bytes(21)))
    with pytest.raises(ValueError, match="is no denoiser: .*CRC"):
        Denoised.load(path, steep)
    FRONT.save(path)
    with monkeypatch.context() as patched, pytest.raises(CertregError, match="expm1") as refused:
        patched.setattr(Denoised, "_import", careless)
        Denoised.load(path, steep)
    assert refused.value.status == Status.PLATFORM
    done = rows(resume=file, keep_records=True)
    with Calibrated(FRONT, POINTS, steep(POINTS), SIGMA, samples=11) as calibrated:
        calibrated.save(kept)
    other = Denoised(steep, EXAMPLES[:1999], SIGMA)
    for model, digest in ((other, other.digest), (steep, "none")):
        with pytest.raises(ResumeError, match=r"\(denoiser\)"):
            rows(model, resume=file)
        with pytest.raises(ValueError, match=f"{FRONT.digest}, not with .*{digest}"):
            Calibrated.load(kept, model)
    assert bits(rows(None, resume=file)) == bits(rows(resume=file)) == bits(done)
    assert Calibrated.load(kept, FRONT).points == 40


def test_columns_of_a_frame_that_get_no_noise_are_left_out(tmp_path):
    pandas, names = package("pandas"), [f"x{i}" for i in range(8)]
    table = pandas.DataFrame(EXAMPLES, columns=names).assign(town=["a", "b"] * 1000)
    front = Denoised(of_frames, table, SIGMA)
    assert front.shape == (9,) and front.scale.tolist() == [1] * 8 + [0]
    some = pandas.DataFrame(X, columns=names).assign(town="b")
    front.save(tmp_path / "w")
    with no_warnings():
        found = bits(rows(front, some))
        assert bits(rows(Denoised.load(tmp_path / "w", of_frames), some)) == found
    assert np.allclose(front(some), FRONT(X) + 1, atol=1e-6)
    assert front.apply(some)["town"].equals(some["town"])
    assert np.allclose(front.apply(some)[names], FRONT.apply(X), atol=1e-5)
    with pytest.warns(UserWarning, match="3 of the 3 rows"):  # "a" has another code in them
        rows(front, table[7:10], samples=50)
    assert check_model(front, some, sigma=SIGMA) == []
    for sentence, model, table, scale in (
        ("made from the columns x0, .* in the same", front, some[[*names[::-1], "town"]], None),
        ("made from an array", FRONT, some[names], None),
        ("scale is not", front, some, {"x0": 1}),
    ):
        with pytest.raises(ValueError, match=sentence):
            rows(model, table, scale=scale)


def test_the_command_puts_it_in_front(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write("steep.py", "from test_denoiser import steep")
    for name, values in dict(x=X, e=EXAMPLES, p=POINTS, y=steep(X), t=steep(POINTS)).items():
        np.save(f"{name}.npy", values)
    Denoised(steep, EXAMPLES.repeat(2, 1), SIGMA).save("wide.denoiser")
    words = ("steep.py:steep", "x.npy", "--denoise")
    asked = ("--sigma", SIGMA, "--tolerance", 0.5, "--samples", 200, "--seed", 7)
    first, told = said("certify", *words, "e.npy", *asked, "--keep-denoiser", "w.denoiser")
    wanted = rows(samples=200, seed=7)["radius"].mean()
    assert FRONT.digest in told and "--keep" not in told and f" {wanted:.5g} " in first
    again = said("certify", *words, "w.denoiser", *asked)[0]
    assert again.splitlines()[:2] == first.splitlines()[:2]
    told = said("certify", *words, "x.npy", *asked, "--rows", ":2")[1]
    assert "; --keep-denoiser FILE keeps it" in told and "2 of the 2 rows made" in told
    levels = ("--sigma", "0.5,1", *asked[2:], "--labels", "y.npy")
    assert "Deploy sigma 1 with it." in said("sigma", *words, "e.npy", *levels, "-o", "c.csv")[0]
    points = ("--calibration", "p.npy", "--truths", "t.npy", "--sigma", SIGMA, "--radius", 0.1)
    assert said("interval", *words, "w.denoiser", *points, "--alpha", 0.2, "--samples", 21)
    for sentence, *more in (
        ("--keep-denoiser needs --denoise", "certify", *words[:2], *asked, "--keep-denoiser", "w"),
        ("sigma is 2", "certify", *words, "w.denoiser", "-q", "--sigma", 2, *asked[2:]),
        ("for one sigma: give the examples", "sigma", *words, "w.denoiser", *levels),
        ("have shape", "certify", *words, "wide.denoiser", "-q", *asked),
        ("cannot be read", "certify", *words, "none.denoiser", *asked),
        ("another file", "interval", *words, "p.npy", *points, "--keep-denoiser", "t.npy"),
        ("row 0 of X made", "interval", *words, "p.npy", "-q", *points),
    ):
        command_refused(2, sentence, *more)


def test_without_proc_the_remedy_is_to_mount_it():
    hidden = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*hidden, "true"]).returncode:
        pytest.skip("/proc cannot be hidden here")
    made = "import numpy, certreg; certreg.Denoised(numpy.sum, numpy.eye(2), 1)"
    words, more = [*hidden, sys.executable, "-c", made], dict(env=environment(), text=True)
    told = subprocess.run(words, stderr=subprocess.PIPE, **more).stderr
    assert "the folder of this library is not known; mount /proc, restart if" in told


# ---- networks that are trained
MODELS, ENGINES = root / "examples/models", engine_files()
dice = np.random.default_rng  # (seed)
KINDS = (((5,), {}), ((9, 7), {}), ((3, 8, 10), {}), ((21,), dict(signals=True)),
         ((2, 17), dict(signals=True)), ((5,), dict(scale=[1, 0, 2, 0, 0.5])))


@pytest.fixture
def onnx():
    return package("onnx")


@pytest.fixture
def torch(onnx):
    package("onnxruntime")
    return package("torch")


def smooth(shape, rows=60, seed=0):
    """Inputs with neighbours that are alike, so that noise can be told from them. The first feature
    is constant."""
    X = dice(seed).normal(size=(rows, *(1,) * len(shape))) + np.linspace(0, 1, shape[-1])
    X = np.broadcast_to(X, (rows, *shape)).copy()
    X.reshape(rows, -1)[:, 0] = 3
    return X


def trained(X, path="d.onnx", **more):
    given = dict(sigmas=(0.2, 1), steps=120, progress=False, **more)
    return train_denoiser(X, path, **given)


@parametrize("shape, more", *KINDS)
def test_noise_is_taken_away_from_each_row_alone(torch, folder, shape, more):
    X = smooth(shape)
    found = trained(X, **more)
    assert found.sigmas == pytest.approx([0.2 * 5 ** (i / 4) for i in range(5)])
    assert found.errors[-1] < 0.7
    f, scale = OnnxModel("d.onnx"), np.reshape(more.get("scale", np.ones(shape)), shape)
    x = (X[:9] + scale * dice(1).normal(size=(9, *shape))).astype(np.float32)
    x[0, ..., 1] = -0.0
    y = f(x).reshape(x.shape)
    left = (np.square(y - X[:9]).mean(0) / np.where(scale, scale, 1) ** 2)[scale > 0].mean()
    assert left < 0.7
    for i in range(9):
        np.testing.assert_array_equal(f(x[i : i + 1]).reshape(shape), y[i])
    exact = scale == 0
    assert (y[:, exact].view(np.int32) == x[:, exact].view(np.int32)).all()
    assert (y[:, ~exact] != x[:, ~exact]).any()


def until(step):
    """A progress function that interrupts a run."""

    def stop(done, steps):
        if done == step:
            raise KeyboardInterrupt

    return stop


def test_an_interrupted_training_goes_on_where_it_stopped(torch, folder, monkeypatch):
    monkeypatch.setattr(training, "KEPT_EVERY", 50)
    X = smooth((6, 4))
    given = dict(sigmas=(0.2, 1), steps=130)
    train_denoiser(X, "whole.onnx", **given, progress=False)
    for step in (1, 70, 130):
        with pytest.raises(KeyboardInterrupt):
            train_denoiser(X, "parts.onnx", **given, progress=until(step))
        assert not (folder / "parts.onnx").exists()
    state = (folder / "parts.onnx.partial").read_bytes()
    for other in (dict(seed=2), dict(steps=99), dict(sigmas=(0.3, 1)), dict(scale=2)):
        with pytest.raises(ValueError, match=r"parts.onnx.partial is the state of another run"):
            train_denoiser(X, "parts.onnx", **{**given, **other})
    with pytest.raises(ValueError, match="state of another run"):
        train_denoiser(X + 1, "parts.onnx", **given)
    (folder / "parts.onnx.partial").write_bytes(state[: len(state) // 2])
    with pytest.raises(ValueError, match=r"parts.onnx.partial is damaged: delete it"):
        train_denoiser(X, "parts.onnx", **given)
    (folder / "parts.onnx.partial").write_bytes(state)
    seen = []
    train_denoiser(X, "parts.onnx", **given, progress=lambda done, steps: seen.append(done))
    assert seen == list(range(101, 131))
    assert (folder / "parts.onnx").read_bytes() == (folder / "whole.onnx").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["parts.onnx", "whole.onnx"]
    trained(X, "other.onnx", seed=2)
    trained(X, "again.onnx", seed=2)
    both = [(folder / f"{name}.onnx").read_bytes() for name in ("other", "again")]
    assert both[0] == both[1] != (folder / "whole.onnx").read_bytes()


FLAT, WIDE = np.ones((3, 2)), np.arange(32.0).reshape(2, 4, 4)


@parametrize(
    "X, more, text",
    ([[1, np.nan], [2, 3]], {}, r"X\[0, 1\] is nan; it must be finite in float32"),
    (np.array([[1, 2], [3, 1e39]]), {}, r"X\[1, 1\] is 1e\+39; it must be finite"),
    (np.ones((1, 3)), {}, "X must have at least 2 rows that differ"),
    (FLAT, {}, "X must have at least 2 rows that differ"),
    (WIDE.reshape(2, 1, 1, 4, 4), {}, r"shape .2, 1, 1, 4, 4.; it must be .n, channels, height"),
    (WIDE[:, None], dict(signals=True), r"X has shape .2, 1, 4, 4.; it must be .n, channels, len"),
    (WIDE[:, :3], {}, r"shape .3, 4.; a side must be at least 4: give X.reshape"),
    (WIDE, dict(sigmas=(1, 0.5)), r"sigmas is .1, 0.5.; it must be .lowest, highest"),
    (WIDE, dict(sigmas=(0, 1)), r"sigmas\[0\] is 0; it must be positive"),
    (WIDE, dict(sigmas=(1,)), "it must be .lowest, highest"),
    (WIDE, dict(scale=-1), r"scale \* sigma must be 0 or from 1e-15 to"),
    (WIDE, dict(scale=0), "not 0 for all features"),
    (WIDE, dict(scale=np.ones(5)), r"scale has shape \(5,\); it must be \(4, 4\)"),
    *(
        (WIDE, dict(sigmas=s, scale=[1, *[at] * 15]), r"scale \* sigma must be 0 or from 1e-15")
        for s, at in (((1e-50, 1), 1), ((1, 1e200), 1), ((1e-3, 1), 1e-45), ((1, 10), 3e38))
    ),
    (WIDE, dict(steps=0), "steps is 0"),
)
def test_what_cannot_be_trained_is_refused(folder, monkeypatch, X, more, text):
    with pytest.raises(ValueError, match=text):
        train_denoiser(X, "d.onnx", **{**dict(sigmas=(0.1, 1), steps=1), **more})
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="train_denoiser needs torch: pip install torch"):
        train_denoiser(WIDE, "d.onnx", sigmas=(0.1, 1))
    assert not list(folder.iterdir())


def test_every_wrong_argument_is_named(torch, folder):
    given = dict(X=WIDE, path="d.onnx", sigmas=(0.1, 1), scale=1, steps=1, seed=1)
    for name in given:
        for wrong in WRONG[1:4] if name == "path" else WRONG:
            answered(lambda **all: train_denoiser(**all, progress=False), given, name, wrong)


@parametrize(
    "needs, call",
    ("onnx", lambda: join_denoiser(ENGINES / "dense.onnx", ENGINES / "dense.onnx", "j.onnx")),
    ("torch", lambda: train_denoiser(WIDE, "d.onnx", sigmas=(0.1, 1), progress=until(0))),
)
def test_without_onnx_it_is_said_what_is_missing(monkeypatch, folder, needs, call):
    package(needs)
    for name in ("onnx", "onnx.numpy_helper"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="a trained denoiser needs onnx: pip install onnx"):
        call()


def test_training_further_without_labels(torch):
    env = environment(OMP_NUM_THREADS="1")
    command = [sys.executable, root / "examples/python/fine_tune.py"]
    out = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    (radius, error), (longer, error_then) = re.findall(r"radius (\S+), mean error (\S+)", out)
    assert float(longer) > 1.1 * float(radius)
    assert float(error_then) < float(error) + 0.05  # a tenth of the tolerance


# ---- joined files, which need no torch
def denoiser(shape, inner=None, path="d.onnx"):
    """A denoiser with arbitrary weights."""
    inner = inner or shape
    arrays = training.at_first(inner, dice(4))
    for name in training.LAST:
        if name in arrays:
            arrays[name] += dice(5).normal(size=arrays[name].shape).astype(np.float32)
    arrays |= {name: np.ones((1,) * len(inner), np.float32) for name in ("mean", "inverse", "step")}
    with open(path, "wb") as file:
        file.write(denoiser_file(arrays, inner, shape, {}))


def in_order(onnx, path):
    """Whether each node of a file reads what was made before, as ONNX wants it."""
    graph = onnx.load(path).graph
    known = {one.name for one in (*graph.initializer, *graph.input)}
    for node in graph.node:
        if not {*node.input} <= known | {""}:
            return False
        known |= {*node.output}
    return True


@parametrize(
    "model, shape, inner",
    (MODELS / "rotation.onnx", (28, 28), (1, 28, 28)),
    (MODELS / "slant_clean.onnx", (784,), None),
    *((ENGINES / f"{name}.onnx", (6,), None) for name in ("dense", "older", "fixed", "image")),
    (ENGINES / "open.onnx", (1, 2, 3), (6,)),
    (ENGINES / "centred.onnx", (1, 6), (1, 6)),
    ids=lambda value: getattr(value, "stem", ""),
)
def test_a_joined_file_is_both(onnx, folder, model, shape, inner):
    package("onnxruntime")
    denoiser(shape, inner)
    join_denoiser("d.onnx", model, "j.onnx")
    f, g, both = OnnxModel(model), OnnxModel("d.onnx"), OnnxModel("j.onnx")
    assert (both.input, both.output, both.batch) == (f"{f.input}_noisy", f.output, f.batch)
    assert both.shape == (shape if None in f.shape else f.shape)
    x = dice(6).normal(size=(8, *both.shape)).astype(np.float32)
    clean = g(x).reshape(x.shape)
    assert in_order(onnx, "j.onnx") and onnx.load("j.onnx").ir_version >= 4
    assert abs(clean - x).max() > 0.1
    np.testing.assert_array_equal(both(x), f(clean))


@parametrize(
    "model, shape, text",
    (ENGINES / "dense.onnx", (5,), r"takes rows of shape \[5\], and .*dense.onnx of \[6\]: train"),
    (ENGINES / "open.onnx", (6,), r"and .*open.onnx of \[1, 'H', 'W'\]"),
    (ENGINES / "two_inputs.onnx", (3,), "two_inputs.onnx cannot be joined: it has 2 inputs and"),
    (ENGINES / "no_output.onnx", (3,), "it has 1 inputs and 0 outputs"),
    (ENGINES / "float64.onnx", (6,), "its input must be a tensor of floats"),
    (ENGINES / "no_batch.onnx", (6,), r"must be .*, \(rows, features\) or more"),
    (ENGINES / "external.onnx", (6,), "constants are in another file; save it as one"),
    ("j.onnx", (6,), "j.onnx has a denoiser in front already"),
    ("old.onnx", (6,), "old.onnx has opset 8: convert it to 9 or later"),
    ("cut.onnx", (6,), "cut.onnx cannot be joined: it is damaged"),
    ("empty.onnx", (6,), "empty.onnx cannot be joined: it is no ONNX model"),
    ("bare.onnx", (6,), "bare.onnx has a denoiser in front already"),
)
def test_what_cannot_be_joined_is_refused(onnx, folder, model, shape, text):
    data = (ENGINES / "dense.onnx").read_bytes()
    denoiser((6,))
    join_denoiser("d.onnx", ENGINES / "dense.onnx", "j.onnx")
    (folder / "old.onnx").write_bytes(data.replace(b"B\x04\n\x00\x10\r", b"B\x04\n\x00\x10\x08"))
    (folder / "cut.onnx").write_bytes(data[:-3])
    (folder / "empty.onnx").write_bytes(b"")
    bare = onnx.load("j.onnx")
    bare.ClearField("metadata_props")
    onnx.save(bare, "bare.onnx")
    denoiser(shape)
    with pytest.raises(ValueError, match=text) as caught:
        join_denoiser("d.onnx", model, "out.onnx")
    assert "\n" not in str(caught.value)
    for other in (ENGINES / "dense.onnx", "j.onnx"):
        with pytest.raises(ValueError, match=r"(dense|j).onnx is no denoiser of train_denoiser"):
            join_denoiser(other, ENGINES / "dense.onnx", "out.onnx")
    assert not (folder / "out.onnx").exists()


def test_names_of_the_model_and_odd_fields_do_no_harm(onnx, folder):
    package("onnxruntime")
    model = onnx.load(ENGINES / "dense.onnx")
    (name,) = (x.name for x in model.graph.input)
    model.graph.node.append(node("Relu", [name], f"{name}_noisy"))
    odd = b"\x3a\x02\x58\x05"  # in the graph a number as an input
    (folder / "m.onnx").write_bytes(model.SerializeToString() + odd)
    denoiser((6,))
    join_denoiser("d.onnx", "m.onnx", b"j.onnx")
    (folder / "out.onnx").mkdir()
    with pytest.raises(OSError):
        join_denoiser("d.onnx", "m.onnx", "out.onnx")
    assert not list(folder.glob("*.new"))
    both, f, g = (OnnxModel(path) for path in ("j.onnx", "m.onnx", "d.onnx"))
    x = dice(6).normal(size=(8, 6)).astype(np.float32)
    assert both.input == f"{name}_noisy_"
    np.testing.assert_array_equal(both(x), f(g(x)))


@parametrize("damaged", "d.onnx", "m.onnx")
def test_damaged_files_are_refused_or_joined(onnx, folder, damaged):
    denoiser((6,))
    (folder / "m.onnx").write_bytes((ENGINES / "image.onnx").read_bytes())
    chance, good, refused = random.Random(7), (folder / damaged).read_bytes(), 0
    other = good[-400:] + good[:400]  # where there is more than weights
    for _ in range(200):
        (folder / damaged).write_bytes(changed(chance, good, other))
        try:
            join_denoiser("d.onnx", "m.onnx", "j.onnx")
        except ValueError as error:
            assert damaged in str(error)
            refused += 1
    assert 20 < refused < 200


# ---- the command
def test_the_command_trains_and_joins(torch, folder):
    np.save("x.npy", smooth((2, 3)).reshape(60, 6))
    words = ("--sigma", ".2,1", "--steps", "60", "-q")
    out, _ = said("denoise", "train", "x.npy", *words, "-o", "d.onnx")
    assert re.match(r" *sigma +error\n +0\.2 +0\.\d+\n", out) and "certreg sigma" in out
    said("denoise", "join", "d.onnx", ENGINES / "image.onnx", "-o", "j.onnx")
    assert OnnxModel("j.onnx").shape == (1, 2, 3)
    np.save("noise.npy", dice(0).normal(size=(60, 16)))
    words = ("--shape", "4,4", "--sigma", ".2,1", "--steps", "1")
    out, _ = said("denoise", "train", "noise.npy", *words, "-o", "n.onnx")
    assert "It is useless" in out
    assert OnnxModel("n.onnx").shape == (4, 4)


TRAIN = "denoise train x.npy --sigma .2,1"


@parametrize(
    "words, sentence",
    (f"{TRAIN} -o d.txt", r"d.txt must end with \.onnx"),
    (f"{TRAIN} -o d.onnx --shape 5,2", r"--shape is \(5, 2\), but x.npy has rows of 6"),
    (f"{TRAIN} -o d.onnx --shape 2x3", "--shape is '2x3'; it must be lengths, like 28,28"),
    (f"{TRAIN}", "required: -o"),
    ("denoise train x.npy -o d.onnx --sigma 1,.2", "--sigma is '1,.2'; it must be the lowest and"),
    ("denoise train x.npy -o d.onnx --sigma .2", "it must be the lowest and the highest"),
    ("denoise join x.npy x.npy -o j.onnx", "x.npy cannot be joined"),
    ("denoise", "choose from"),
    ("denoise away", "choose from"),
)
def test_what_the_command_of_denoisers_refuses(onnx, folder, words, sentence):
    np.save("x.npy", smooth((6,)))
    command_refused(2, sentence, *words.split())
    command_refused(4, "No such file", "denoise", "join", "none.onnx", "x", "-o", "j.onnx")
    assert [path.name for path in folder.iterdir()] == ["x.npy"]

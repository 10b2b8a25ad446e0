"""A denoiser in front of a model: what it does, where it helps, and what it is refused for."""

import concurrent.futures
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest

from kit import bits, command_refused, environment, no_warnings, package, parametrize, rows_of, said
from kit import write
import certreg
from certreg import Calibrated, CertregError, Denoised, Estimator, ResumeError, Status
from certreg import as_model, check_model, compare_denoised, tune_scale

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
    assert bits(rows(again)) == bits(rows(jobs=2)) == wanted and repr(again) == repr(FRONT)
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
    for model, digest in ((other, other.digest), (steep, "no denoiser")):
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
        found = bits(rows(front, some, jobs=2))
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
    write("steep.py", "from test_denoised import steep")
    for name, values in dict(x=X, e=EXAMPLES, p=POINTS, y=steep(X), t=steep(POINTS)).items():
        np.save(f"{name}.npy", values)
    Denoised(steep, EXAMPLES.repeat(2, 1), SIGMA).save("wide.denoiser")
    words = ("steep.py:steep", "x.npy", "--denoise")
    asked = ("--sigma", SIGMA, "--tolerance", 0.5, "--samples", 200, "--seed", 7)
    first, told = said("certify", *words, "e.npy", *asked, "--keep-denoiser", "w.denoiser")
    wanted = rows(samples=200, seed=7)["radius"].mean()
    assert FRONT.digest in told and "--keep" not in told and f" {wanted:.5g} " in first
    again = said("certify", *words, "w.denoiser", *asked, "--jobs", 2)[0]
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

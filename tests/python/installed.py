"""installed.py VERSION FOLDER [BLAS]: checks the installed package. It has this version, its
library is below FOLDER, it certifies, and makes a denoiser. If BLAS is given, OpenBLAS is loaded
from below this folder."""

import importlib.metadata
import pathlib
import sys

import numpy as np

import certreg

version, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
assert importlib.metadata.version("certreg") == certreg.__version__ == version, certreg.__version__
assert folder in pathlib.Path(certreg.library_path).resolve().parents, certreg.library_path


def model(x):  # its slope is 1, so no radius may be longer than the tolerance
    return x.sum(axis=1) / 3**0.5


question = certreg.Question(1, statistic="mean", method="asymptotic", constraints="ECGM")
with certreg.Estimator(model, 3, 4000, seed=42, constraints="ECGM") as estimator:
    certificate = estimator.certify([1, 2, 3], 0.5, 4000, question)
assert 0.5 < certificate.radius < 1, certificate
assert certreg.Denoised(model, np.eye(3), 1).components > 0

maps = pathlib.Path("/proc/self/maps").read_text().splitlines()
blas = {pathlib.Path(line.split(maxsplit=5)[5]) for line in maps if "blas" in line}
assert any(path.name == "libcertreg_blas.so" for path in blas), blas
for own in sys.argv[3:]:
    assert all(pathlib.Path(own).resolve() in path.parents for path in blas), blas

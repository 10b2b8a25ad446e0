"""The command info, which needs no NumPy unless a model is given."""

from __future__ import annotations

import argparse
import ctypes as C
import importlib.metadata
import platform
import sys
from typing import Callable, Iterator

from .. import structs as S
from ..arguments import pointer
from ..constants import __version__, version_text
from ..library import CertregError, check, cores, lib, library_path, version
from .streams import DONE, answer


def info(given: argparse.Namespace) -> int:
    """Prints versions, modules and the tensors of a model, one per line."""
    lines = [*_environment()]
    if given.model:
        from .loading import facts

        lines += facts(given)
    width = max(len(name) for name, _ in lines)
    text = "\n".join(f"{name.ljust(width)}  {value}" for name, value in lines)
    answer(given, text, {"info": [list(line) for line in lines]})
    return DONE


def _environment() -> Iterator[tuple[str, str]]:
    yield "certreg", __version__
    yield "library", f"{version_text(version())}, {library_path}"
    yield "Python", f"{platform.python_version()}, {sys.executable}"
    yield "processors", f"{cores()} for this process"
    yield "instructions", _instructions()
    zeros = S.READ(lambda _, first, count, there: 0 * C.memset(there, 0, 4 * count))
    plan = S.DenoiserPlan(inputs=1, rows=2, read=zeros, sigma=1)
    make, free = lib.certreg_denoiser_create, lib.certreg_denoiser_destroy
    yield "denoisers (BLAS)", _tried(make, free, C.byref(plan))
    make, free = lib.certreg_backend_open, lib.certreg_backend_close
    yield "CUDA device 0", _tried(make, free, b"cuda", 0, None)
    for package in ("NumPy", "onnxruntime", "pandas", "pyarrow", "matplotlib"):
        try:
            yield package, importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            yield package, "not installed"


def _instructions() -> str:
    """The best instruction set of this processor that the library can use."""
    if platform.machine() in ("aarch64", "arm64"):
        return "NEON"
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:
        flags = []
    if not flags:
        return "not known (no /proc/cpuinfo)"
    avx2 = {"avx2", "fma"} <= set(flags)
    avx512 = avx2 and {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= set(flags)
    return "AVX-512" if avx512 else "AVX2" if avx2 else "portable code"


def _tried(make: Callable[..., int], free: Callable[[C.c_void_p], None], *given: object) -> str:
    why, made = S.Error(), pointer()
    try:
        if make is lib.certreg_backend_open:
            C.CDLL("libcuda.so.1")  # without a driver the module would load 0.2 GB of cuBLAS
        check(make(*given, C.byref(why), C.byref(made)), why)
    except (CertregError, OSError) as error:
        return f"not available: {error}"
    free(made)
    return "ready"

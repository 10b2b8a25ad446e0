"""The commands check, inputs and info."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import sys
from typing import Callable, Iterator, cast

import numpy as np

from ..check import check_model
from ..constants import __version__, version_text
from ..denoise import Denoised
from ..display import Part, Reporter
from ..estimator import Estimator
from ..frames import is_frame
from ..inputs import Inputs
from ..library import CertregError, library_path, version
from ..models import OnnxModel
from ..onnx_file import described as tensor_text, shape_text
from ..workers import cores
from .loading import Model, is_onnx, tensors_of
from .report import answer, in_options
from .run import Work
from .streams import DONE, FOUND, RAISED, Failure, model_failed


def check(given: argparse.Namespace) -> int:
    """Prints the findings of check_model."""
    work = Work(given)
    if given.sigma is None and not is_frame(work.X) and (work.X == work.X[:1]).all():
        raise Failure(f"all rows of {given.inputs} are the same: give --sigma")
    try:
        findings = check_model(
            work.model.function,
            work.X,
            scale=work.scale if given.scale else None,
            names=work.features.names,
            sigma=given.sigma,
            calls=given.calls,
            progress=None if given.quiet else Part(Reporter(True, 0, given.calls, "calls")),
            inputs=work.described,
        )
    except RAISED as error:
        raise model_failed(error) from error
    document = {"findings": [vars(finding) for finding in findings], "noise": findings.noise}
    answer(given, in_options(findings), document)
    return FOUND if findings else DONE


def inputs(given: argparse.Namespace) -> int:
    """Describes the inputs of a model, prints the description, and writes it."""
    work = Work(given, (".json",))
    with work.failures():
        made = Inputs.of(work.model.made(), work.X, work.scale)
    made.kinds.update(work.kinds)
    if work.features.names is not None:
        made.names = tuple(map(str, work.features.names))
    if work.table is not None:
        work.table.write(made.save)
    answer(given, repr(made), {"inputs": made._table()})
    return DONE


def info(given: argparse.Namespace) -> int:
    """Prints versions, modules and the tensors of a model, one per line."""
    lines = [*_environment(), *(_model(given) if given.model else ())]
    width = max(len(name) for name, _ in lines)
    text = "\n".join(f"{name.ljust(width)}  {value}" for name, value in lines)
    answer(given, text, {"info": [list(line) for line in lines]})
    return DONE


def _environment() -> Iterator[tuple[str, str]]:
    yield "certreg", __version__
    yield "library", f"{version_text(version())}, {library_path}"
    yield "Python", f"{platform.python_version()}, {sys.executable}"
    yield "NumPy", np.__version__
    yield "processors", f"{cores()} for this process"
    yield "instructions", _instructions()
    yield "denoisers (BLAS)", _tried(lambda: Denoised(np.sum, np.eye(2), 1))
    yield "CUDA device 0", _tried(lambda: Estimator(None, 1, 64, device=0).close())
    for package in ("onnxruntime", "pandas", "pyarrow", "matplotlib"):
        yield package, _version_of(package)


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


def _tried(make: Callable[[], object]) -> str:
    try:
        make()
    except CertregError as error:
        return f"not available: {error}"
    return "ready"


def _version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _model(given: argparse.Namespace) -> Iterator[tuple[str, str]]:
    if not is_onnx(given.model):
        other = Model(given)
        yield from (("model", given.model), ("sha256", other.digest))
        yield "features", ", ".join(other.names(None) or ["without names"])
        return
    inputs, outputs = tensors_of(given.model)
    yield "model", given.model
    try:
        model = Model(given)
    except Failure as why:  # print the tensors all the same
        yield from (("input", tensor_text(tensor)) for tensor in inputs)
        yield from (("output", tensor_text(tensor)) for tensor in outputs)
        yield "refused", str(why)
        return
    yield "sha256", model.digest
    network = cast(OnnxModel, model.function)
    rows = network.batch or "rows"
    if model.by_columns:
        columns = (tensor for tensor in inputs if tensor.name in network.input)
        yield from (("column", tensor_text(tensor)) for tensor in columns)
    else:
        yield "input", f"{network.input} {shape_text((rows, *network.shape))}"
    yield "output", f"{network.output} {shape_text((rows, network.columns))}"
    if model.settings:
        yield "settings", model.settings
    others = (tensor for tensor in outputs if tensor.name != network.output)
    yield from (("other output", tensor_text(tensor)) for tensor in others)
    if network.feature_names_in_ and not model.by_columns:
        yield "features", ", ".join(network.feature_names_in_)
    yield "batch", "free" if network.batch is None else f"fixed, {network.batch} at a time"

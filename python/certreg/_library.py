"""Finds and opens the shared library, and declares its functions for ctypes."""

from __future__ import annotations

import ctypes as C
import os
import pathlib
from typing import Any

from . import _structs as S
from .constants import VERSION_NUMBER

NAME = f"libcertreg.so.{VERSION_NUMBER // 10000}"


def _path() -> str:
    """CERTREG_LIB if it is set. Otherwise the library inside the package, or in the repository that
    contains the package, or else the name by which the system finds its own."""
    here = pathlib.Path(__file__).resolve().parent
    for path in (here / "lib" / NAME, here.parents[1] / "lib" / NAME):
        if path.exists():
            return os.environ.get("CERTREG_LIB") or str(path)
    return os.environ.get("CERTREG_LIB") or NAME


def _opened() -> tuple[str, Any]:
    path = _path()
    try:
        lib = C.CDLL(path)  # during its calls other threads can run
    except OSError as error:
        raise ImportError(f"{error}; set CERTREG_LIB to the path of the library") from None
    lib.certreg_version.restype = S.u32
    found = lib.certreg_version()
    if found // 10000 != VERSION_NUMBER // 10000 or found < VERSION_NUMBER:
        raise ImportError(
            f"{path} has version {found}; this package needs {VERSION_NUMBER} "
            "or a later one of the same major version"
        )
    return path, lib


def _declared(lib: Any) -> Any:
    """Declares what the functions take and return. Those in the dict return a status."""
    ref, ptr, out = C.POINTER, S.pointer, C.POINTER(S.pointer)
    asked, certificates = (ref(S.Question), S.size_t), ref(S.Certificate)
    shape = (ptr, ref(S.Model), ref(S.Plan))
    for name, arguments in {
        "backend_open_cpu": (S.i32, ref(S.Error), out),
        "backend_open": (C.c_char_p, S.i32, ptr, ref(S.Error), out),
        "estimator_size": (*shape, ref(S.size_t), ref(S.size_t)),
        "estimator_create": (*shape, ref(S.Error), out),
        "estimator_begin_level": (ptr, ptr, S.f64, S.u64, S.u64),
        "model_check": (ptr, S.size_t, ref(S.i32)),
        "estimator_sample": (ptr, S.u64, S.size_t),
        "estimator_draw": (ptr, S.u64, S.size_t, ptr),
        "estimator_record": (ptr, S.u64, S.size_t, ptr),
        "estimator_export": (ptr, ptr, ref(S.size_t)),
        "estimator_import": (ptr, C.c_char_p, S.size_t),
        "estimator_set_deadline": (ptr, S.f64),
        "estimator_info": (ptr, ref(S.Run)),
        "estimator_bounds": (ptr, ref(S.Question), S.i32, ref(S.Bounds)),
        "estimator_prediction": (ptr, ref(S.Question), ref(S.f64)),
        "estimator_estimate": (ptr, ref(S.Question), ref(S.f64)),
        "estimator_forecast": (ptr, ref(S.Question), ref(S.Forecast)),
        "attack_size": (ptr, ref(S.AttackPlan), ref(S.size_t), ref(S.size_t)),
        "attack_create": (ptr, ref(S.AttackPlan), ref(S.Error), out),
        "attack_run": (ptr, ref(S.Question), ref(S.AttackOptions), ptr, ref(S.AttackResult)),
        "attack_gradient": (ptr, ref(S.Question), S.i32, ptr),
        "certify": (ptr, S.size_t, *asked, certificates),
        "certify_outputs": (ptr, S.size_t, *asked, certificates, certificates),
        "certify_sigmas": (ptr, ptr, ptr, S.size_t, S.u64, S.size_t, *asked, certificates),
        "output_bounds": (ptr, S.size_t, *asked, S.f64, certificates),
        "choose_sigma": (certificates, S.size_t, S.size_t, ptr, ref(S.size_t)),
        "question_digest": (ref(S.Question), ref(S.u64)),
        "estimator_calibrate": (ptr, ref(S.Calibration), ptr),
        "interval_rule": (ref(S.Coverage), C.POINTER(S.Calibration), ref(S.Error), ref(S.Rule)),
        "estimator_interval": (
            ptr,
            ref(S.Calibration),
            ref(S.Rule),
            S.i32,
            *(ptr, ptr, S.size_t),
            ref(S.Interval),
        ),
        "estimator_covers": (ptr, ref(S.Calibration), ref(S.Rule), ptr, ref(S.i32)),
        "move_certificate": (
            *(ref(S.Certificate), S.size_t, ptr, ptr, ptr),
            *(ref(S.Certificate), ref(S.Error)),
        ),
        "solver_create": (ref(S.SolverPlan), ref(S.Error), out),
        "solver_worst_case": (ptr, ref(S.Bounds), S.u32, S.f64, ref(S.MeanChange)),
        "solver_worst_function": (ptr, ref(S.Bounds), S.u32, S.f64, S.i32, ref(S.WorstFunction)),
        "worst_function_values": (ref(S.WorstFunction), S.size_t, ptr, ptr),
        "solver_info": (ptr, ref(S.SolveInfo)),
        "bisection_create": (ref(S.BisectionPlan), ref(S.Error), out),
        "bisection_within": (ptr, ref(S.Bounds), S.u32, S.f64, ref(S.Radius)),
        "bisection_above": (ptr, ref(S.Bounds), ref(S.f64), S.size_t, S.u32, ref(S.Radius)),
        "bisection_info": (ptr, ref(S.SolveInfo)),
        "denoiser_create": (ref(S.DenoiserPlan), ref(S.Error), out),
        "denoiser_apply": (ptr, ptr, S.size_t, ptr),
        "denoiser_info": (ptr, ref(S.DenoiserFacts)),
        "denoiser_export": (ptr, ptr, ref(S.size_t)),
        "denoiser_import": (C.c_char_p, S.size_t, ref(S.Error), out),
    }.items():
        function = getattr(lib, "certreg_" + name)
        function.restype, function.argtypes = S.i32, arguments
    lib.certreg_status_text.restype, lib.certreg_status_text.argtypes = C.c_char_p, (S.i32,)
    lib.certreg_backend_close.restype, lib.certreg_backend_close.argtypes = None, (ptr,)
    lib.certreg_estimator_cancel.restype, lib.certreg_estimator_cancel.argtypes = None, (ptr,)
    lib.certreg_denoiser_destroy.restype, lib.certreg_denoiser_destroy.argtypes = None, (ptr,)
    for handle in ("estimator", "attack", "solver", "bisection"):
        destroy = getattr(lib, f"certreg_{handle}_destroy")
        destroy.restype, destroy.argtypes = None, (ptr,)
        error = getattr(lib, f"certreg_{handle}_error")
        error.restype, error.argtypes = ref(S.Error), (ptr,)
    return lib


library_path, _found = _opened()  # the file of the library in use
lib = _declared(_found)


def version() -> int:
    """The version number of the loaded library: 10000 * major + 100 * minor + patch."""
    return int(lib.certreg_version())

"""The structs of the headers, for ctypes."""

from __future__ import annotations

import ctypes as C
import functools
import math
from typing import Any

from .constants import MOST_REGIONS, Status, integer, number

i32, u32, i64, u64 = C.c_int32, C.c_uint32, C.c_int64, C.c_uint64
f64, size_t, pointer = C.c_double, C.c_size_t, C.c_void_p
_INTEGERS = {kind: (C.sizeof(kind), kind in (i32, i64)) for kind in (i32, u32, i64, u64, size_t)}


def _fitting(kind: Any, name: str, value: Any) -> Any:
    """The value of a field. Raises TypeError for a wrong type, and ValueError for an integer that
    is out of range, of which ctypes would keep the lowest bits."""
    if type(value) is float and kind is f64 or type(value) is int and 0 <= value < 2**31:
        return value
    if kind in _INTEGERS:
        size, signed = _INTEGERS[kind]
        bits = 8 * size - signed
        return integer(value, name, -(2**bits) if signed else 0, 2**bits - 1)
    return number(value, name) if kind is f64 else value


class Struct(C.Structure):
    """A struct of the header. Fields that are not given are zero, except struct_size."""

    kinds: dict[str, Any]

    def __init__(self, **fields: Any) -> None:
        kinds = self.kinds
        given = {name: _fitting(kinds[name], name, value) for name, value in fields.items()}
        super().__init__(struct_size=C.sizeof(self), **given)


def _struct(name: str, size: int, *groups: tuple[Any, str]) -> Any:
    """Makes the class of a struct. Each group is (type, "names of fields"). Raises ImportError if
    its size is not the one in the header, for example on 32-bit machines."""
    fields = [("struct_size", u32)]
    fields += [(field, kind) for kind, names in groups for field in names.split()]
    made = type(name, (Struct,), {"_fields_": fields, "kinds": dict(fields)})
    if C.sizeof(made) != size:
        raise ImportError(
            f"{name} takes {C.sizeof(made)} bytes here, but {size} in the library: "
            "this package needs a 64-bit Python"
        )
    return made


Error = _struct(
    "certreg_error",
    296,
    (i32, "status"),
    (i64, "sample row"),
    (i32, "output model_code"),
    (f64, "value"),
    (C.c_char * 256, "text"),
)
Batch = _struct(
    "certreg_batch",
    80,
    (i32, "device"),
    (size_t, "rows inputs columns"),
    (u64, "first"),
    (size_t, "used_first used_count"),
    (pointer, "x y stream"),
)
EVAL = C.CFUNCTYPE(C.c_int, pointer, C.POINTER(Batch))
PROGRESS = C.CFUNCTYPE(C.c_int, pointer, u64, u64)
Model = _struct(
    "certreg_model",
    80,
    (i32, "reserved"),
    (EVAL, "eval"),
    (pointer, "user"),
    (size_t, "inputs outputs batch"),
    (pointer, "scale kind lo hi"),
)
Plan = _struct(
    "certreg_plan",
    80,
    (u32, "constraints"),
    (u64, "seed"),
    (size_t, "max_samples pilot blocks"),
    (PROGRESS, "progress"),
    (pointer, "progress_user memory"),
    (size_t, "memory_bytes"),
    (u32, "flags reserved"),
)
Target = _struct(
    "certreg_target", 24, (u32, "look_count"), (f64, "radius"), (C.POINTER(u64), "looks")
)
Serving = _struct(
    "certreg_serving", 40, (i32, "pairs"), (size_t, "samples"), (f64, "failure_rate trim core")
)
Question = _struct(
    "certreg_question",
    96,
    (i32, "output"),
    (f64, "tolerance alpha"),
    (i32, "statistic method"),
    (f64, "huber_width"),
    (i32, "center"),
    (u32, "constraints"),
    (u64, "bonferroni"),
    (C.POINTER(f64), "prediction"),
    (C.POINTER(Target), "target"),
    (C.POINTER(Serving), "serving"),
    (size_t, "prediction_count output_count"),
)
Certificate = _struct(
    "certreg_certificate",
    160,
    (i32, "status outcome stop"),
    (f64, "radius prediction estimate output_lo output_hi radius_l1 radius_l2 radius_linf"),
    (f64, "sigma tolerance alpha"),
    (u64, "samples noise_id question"),
    (i32, "output statistic method center"),
    (u32, "constraints"),
    (i32, "limiting_side"),
    (u64, "input"),
)


@functools.lru_cache(maxsize=None)
def refused() -> Any:
    """A certificate as the library leaves it where it refuses a call: it claims nothing, and has no
    numbers that a table could average."""
    unknown = dict.fromkeys("prediction estimate sigma tolerance alpha".split(), math.nan)
    return Certificate(status=Status.BUSY, output_lo=-math.inf, output_hi=math.inf, **unknown)


Run = _struct(
    "certreg_run",
    80,
    (i32, "reserved"),
    (u64, "seed noise_id level samples pilot batch"),
    (f64, "sigma model_seconds library_seconds"),
)
Forecast = _struct(
    "certreg_forecast", 24, (i32, "reserved"), (u64, "least_samples"), (f64, "expected_samples")
)
Bounds = _struct(
    "certreg_bounds",
    104,
    (u32, "constraints"),
    (f64, "sigma mean_lo mean_hi variance_hi gradient_lo gradient_hi range_lo range_hi alpha"),
    (u64, "samples"),
    (f64, "moment_center moment_hi"),
)
SolverPlan = _struct(
    "certreg_solver_plan",
    24,
    (u32, "max_evaluations"),
    (pointer, "memory"),
    (size_t, "memory_bytes"),
)
AttackPlan = _struct(
    "certreg_attack_plan",
    32,
    (i32, "reserved"),
    (size_t, "max_calls"),
    (pointer, "memory"),
    (size_t, "memory_bytes"),
)
AttackOptions = _struct(
    "certreg_attack_options",
    40,
    (i32, "reserved"),
    (size_t, "calls"),
    (f64, "alpha"),
    (u64, "number"),
    (pointer, "direction"),
)
AttackResult = _struct(
    "certreg_attack_result",
    88,
    (i32, "outcome stop side"),
    (f64, "radius forecast cosine prediction tolerance sigma alpha"),
    (u64, "calls samples"),
)
MeanChange = _struct(
    "certreg_mean_change", 40, (u32, "constraints"), (f64, "drop rise mean_least mean_greatest")
)
WorstFunction = _struct(
    "certreg_worst_function",
    192,
    (u32, "constraints"),
    (i32, "side"),
    (u32, "region_count"),
    (f64, "radius change bound mean variance gradient"),
    (f64, "by_variance by_mean by_gradient"),
    (f64, "offset slope rest tilt range_lo range_hi"),
    (f64 * (MOST_REGIONS - 1), "breakpoints"),
    (i32 * (MOST_REGIONS + 1), "regions"),
)
SolveInfo = _struct(
    "certreg_solve_info",
    40,
    (u32, "evaluations"),
    (u64, "points"),
    (u32, "loose refinements fallbacks reserved"),
    (f64, "seconds"),
)
BisectionPlan = _struct(
    "certreg_bisection_plan",
    40,
    (u32, "max_evaluations"),
    (f64, "accuracy cap"),
    (pointer, "memory"),
    (size_t, "memory_bytes"),
)
Radius = _struct(
    "certreg_radius",
    32,
    (i32, "outcome"),
    (f64, "radius"),
    (i32, "limiting_side reserved"),
    (size_t, "limiting"),
)
Calibration = _struct(
    "certreg_calibration",
    104,
    (i32, "score output outputs"),
    (pointer, "units"),
    (f64, "sigma"),
    (u64, "seed model samples first_noise last_noise digest count capacity"),
    (pointer, "scores"),
)
Coverage = _struct(
    "certreg_coverage",
    56,
    (i32, "reserved"),
    (f64, "alpha radius"),
    (u64, "samples"),
    (f64, "sigma"),
    (u64, "points calibration_samples"),
)
Rule = _struct(
    "certreg_rule",
    64,
    (i32, "reserved"),
    (f64, "alpha radius threshold"),
    (u64, "samples sample_rank calibration least_points"),
)
Interval = _struct(
    "certreg_interval",
    80,
    (i32, "output"),
    (f64, "lo hi period alpha radius threshold"),
    (u64, "pieces samples failed"),
)
READ = C.CFUNCTYPE(C.c_int, pointer, u64, size_t, C.POINTER(C.c_float))
DenoiserPlan = _struct(
    "certreg_denoiser_plan",
    64,
    (i32, "reserved"),
    (size_t, "inputs"),
    (u64, "rows"),
    (READ, "read"),
    (pointer, "user"),
    (f64, "sigma"),
    (pointer, "scale"),
    (size_t, "components"),
)
DenoiserFacts = _struct(
    "certreg_denoiser_facts",
    56,
    (i32, "reserved"),
    (size_t, "inputs components"),
    (f64, "sigma"),
    (u64, "rows digest"),
    (f64, "error"),
)

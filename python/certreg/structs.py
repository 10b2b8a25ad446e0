"""The structs and functions of include/certreg, for ctypes.

Written by python/generate.py; change the headers instead."""

from __future__ import annotations

import ctypes as C

from .arguments import Struct, f64, fields, i32, i64, pointer, size_t, u32, u64
from .constants import MOST_REGIONS

ref = C.POINTER


class AttackPlan(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"), (size_t, "max_calls"),
        (pointer, "memory"), (size_t, "memory_bytes"))


class AttackOptions(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"), (size_t, "calls"), (f64, "alpha"),
        (u64, "number"), (pointer, "direction"))


class AttackResult(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "outcome stop side"),
        (f64, "radius forecast cosine prediction tolerance sigma alpha"), (u64, "calls samples"))


class Certificate(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "status outcome stop"),
        (f64, "radius prediction estimate output_lo output_hi radius_l1 radius_l2"),
        (f64, "radius_linf sigma tolerance alpha"), (u64, "samples noise_id question_digest"),
        (i32, "output statistic method center"), (u32, "constraints"), (i32, "limiting_side"),
        (u64, "input_digest"), (i32, "reason reserved"), (f64, "share_out share_allowed"),
        (u64, "samples_needed audited"), (f64, "audit_change audit_band audit_share"),
        (u64, "counted counted_out"), (f64, "counted_required"), (u64, "faults"),
        (f64 * 8, "fault_radius"), (u64, "served_samples"), (f64, "served_failure_rate"))


class DenoiserFacts(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"), (size_t, "inputs components"),
        (f64, "sigma"), (u64, "rows digest"), (f64, "error"))


class Error(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "status"), (i64, "sample row"),
        (i32, "output code"), (f64, "value"), (C.c_char * 256, "text"))


class Calibration(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "score output outputs"), (pointer, "units"),
        (f64, "sigma"), (u64, "seed model samples first_noise last_noise digest count capacity"),
        (pointer, "scores"))


class Coverage(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"), (f64, "alpha radius"),
        (u64, "samples"), (f64, "sigma"), (u64, "points calibration_samples"))


class Rule(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"), (f64, "alpha radius threshold"),
        (u64, "samples sample_rank calibration least_points"))


class Interval(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "output"),
        (f64, "lo hi period alpha radius threshold"), (u64, "pieces samples failed"))


class Target(Struct):
    _fields_ = fields((u32, "struct_size look_count"), (f64, "radius"), (ref(u64), "looks"),
        (f64, "growth"))


class Serving(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "pairs"), (size_t, "samples"),
        (f64, "failure_rate trim core"))


class Masks(Struct):
    _fields_ = fields((u32, "struct_size"), (C.c_float, "marker"), (size_t, "units"),
        (pointer, "unit"), (size_t, "shown"), (pointer, "probability"))


class Forecast(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"), (u64, "least_samples"),
        (f64, "expected_samples"))


class QueueRow(Struct):
    _fields_ = fields((u32, "struct_size number depth path"), (u64, "tag sample"))


class Alternative(Struct):
    _fields_ = fields((u32, "struct_size number depth path halvings reserved"), (u64, "tag"),
        (pointer, "z"), (f64, "margin"), (pointer, "record"), (size_t, "record_bytes"))


class AlternativeResult(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "state"), (f64, "estimate radius"),
        (u64, "samples"))


class QueueResult(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "state"), (u64, "tag"), (i32, "status reserved"),
        (ref(Error), "error"), (u64, "seed pilot"), (size_t, "room count"),
        (ref(Certificate), "certificates"), (pointer, "limiting"),
        (size_t, "alternative_room alternative_count"), (ref(AlternativeResult), "alternatives"),
        (u64, "proved"))


class QueueCall(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "state"), (u64, "ticket"), (size_t, "rows used"),
        (pointer, "x"), (ref(QueueRow), "row"), (pointer, "stream"))


class Run(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"),
        (u64, "seed noise_id level samples pilot batch"),
        (f64, "sigma model_seconds library_seconds"))


class ServicePlan(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"), (size_t, "ticks"),
        (f64, "deadline reading_error"), (pointer, "fallback memory"), (size_t, "memory_bytes"))


class Tick(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "source"), (u64, "number"),
        (f64, "left seconds"))


class ServiceLog(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"),
        (u64, "seed question_digest input_digest starts ticks answered outside failed late"))


class Bounds(Struct):
    _fields_ = fields((u32, "struct_size constraints"),
        (f64, "sigma mean_lo mean_hi variance_hi gradient_lo gradient_hi range_lo range_hi"),
        (f64, "alpha"), (u64, "samples"), (f64, "moment_center moment_hi"))


class SolverPlan(Struct):
    _fields_ = fields((u32, "struct_size max_evaluations"), (pointer, "memory"),
        (size_t, "memory_bytes"))


class MeanChange(Struct):
    _fields_ = fields((u32, "struct_size constraints"),
        (f64, "drop rise mean_least mean_greatest"))


class SolveInfo(Struct):
    _fields_ = fields((u32, "struct_size evaluations"), (u64, "points"),
        (u32, "loose refinements fallbacks reserved"), (f64, "seconds"))


class BisectionPlan(Struct):
    _fields_ = fields((u32, "struct_size max_evaluations"), (f64, "accuracy cap"),
        (pointer, "memory"), (size_t, "memory_bytes"))


class Radius(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "outcome"), (f64, "radius"),
        (i32, "limiting_side reserved"), (size_t, "limiting"))


class WorstFunction(Struct):
    _fields_ = fields((u32, "struct_size constraints"), (i32, "side"), (u32, "region_count"),
        (f64, "radius change bound mean variance gradient by_variance by_mean by_gradient"),
        (f64, "offset slope rest tilt range_lo range_hi"),
        (f64 * (MOST_REGIONS - 1), "breakpoints"), (i32 * (MOST_REGIONS + 1), "regions"))


PROGRESS = C.CFUNCTYPE(C.c_int, pointer, u64, u64)


READ = C.CFUNCTYPE(C.c_int, pointer, u64, size_t, pointer)


ALTERNATIVEWRITE = C.CFUNCTYPE(C.c_int, pointer, ref(Alternative))


QUEUEKEEP = C.CFUNCTYPE(C.c_int, pointer, ref(QueueRow), pointer, size_t)


class Batch(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "device"), (size_t, "rows inputs columns"),
        (u64, "first"), (size_t, "used_first used_count"), (pointer, "x y stream"),
        (ref(QueueRow), "row"))


class Plan(Struct):
    _fields_ = fields((u32, "struct_size constraints"), (u64, "seed"),
        (size_t, "max_samples pilot blocks"), (PROGRESS, "progress"),
        (pointer, "progress_user memory"), (size_t, "memory_bytes"),
        (u32, "flags reserved audit reserved_2"))


class Question(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "output"), (f64, "tolerance alpha"),
        (i32, "statistic method"), (f64, "huber_width"), (i32, "center"), (u32, "constraints"),
        (u64, "bonferroni"), (ref(f64), "prediction"), (ref(Target), "target"),
        (ref(Serving), "serving"), (size_t, "prediction_count output_count"),
        (f64, "relative_tolerance"), (u64, "faults"))


class DenoiserPlan(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"), (size_t, "inputs"), (u64, "rows"),
        (READ, "read"), (pointer, "user"), (f64, "sigma"), (pointer, "scale"),
        (size_t, "components"))


class Alternatives(Struct):
    _fields_ = fields((u32, "struct_size count"), (pointer, "z margins"),
        (ALTERNATIVEWRITE, "write"), (pointer, "user"), (u64, "first_noise_id"),
        (u32, "halvings watch estimate_all reserved"))


class QueueInput(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "asks_again"), (u64, "tag"), (pointer, "z"),
        (f64, "sigma"), (u64, "noise_id level"), (size_t, "samples"), (ref(Question), "questions"),
        (size_t, "count"), (f64, "at_radius"), (ref(Alternatives), "alternatives"),
        (f64, "seconds"), (pointer, "record"), (size_t, "record_bytes"))


class QueuePlan(Struct):
    _fields_ = fields((u32, "struct_size flags"),
        (size_t, "capacity calls questions sets alternatives"), (QUEUEKEEP, "keep"),
        (pointer, "keep_user"), (f64, "random"))


EVAL = C.CFUNCTYPE(C.c_int, pointer, ref(Batch))


class Model(Struct):
    _fields_ = fields((u32, "struct_size"), (i32, "reserved"), (EVAL, "eval"), (pointer, "user"),
        (size_t, "inputs outputs batch"), (pointer, "scale kind lo hi"), (ref(Masks), "masks"))


# Result and parameters of each function.
FUNCTIONS = {
    "certreg_attack_size": (i32, pointer, ref(AttackPlan), pointer, pointer),
    "certreg_attack_create": (i32, pointer, ref(AttackPlan), ref(Error), ref(pointer)),
    "certreg_attack_destroy": (None, pointer),
    "certreg_attack_run": (i32, pointer, ref(Question), ref(AttackOptions), pointer,
        ref(AttackResult)),
    "certreg_attack_gradient": (i32, pointer, ref(Question), i32, pointer),
    "certreg_attack_error": (ref(Error), pointer),
    "certreg_backend_open_cpu": (i32, i32, ref(Error), ref(pointer)),
    "certreg_backend_open": (i32, C.c_char_p, i32, pointer, ref(Error), ref(pointer)),
    "certreg_backend_close": (None, pointer),
    "certreg_estimator_size": (i32, pointer, ref(Model), ref(Plan), ref(Error), pointer,
        pointer),
    "certreg_estimator_create": (i32, pointer, ref(Model), ref(Plan), ref(Error), ref(pointer)),
    "certreg_estimator_destroy": (None, pointer),
    "certreg_estimator_begin": (i32, pointer, pointer, f64, u64),
    "certreg_model_check": (i32, pointer, size_t, pointer),
    "certreg_reason_text": (C.c_char_p, i32),
    "certreg_certify": (i32, pointer, size_t, ref(Question), size_t, ref(Certificate)),
    "certreg_estimator_error": (ref(Error), pointer),
    "certreg_version": (u32,),
    "certreg_denoiser_create": (i32, ref(DenoiserPlan), ref(Error), ref(pointer)),
    "certreg_denoiser_apply": (i32, pointer, pointer, size_t, pointer),
    "certreg_denoiser_info": (i32, pointer, ref(DenoiserFacts)),
    "certreg_denoiser_export": (i32, pointer, pointer, pointer),
    "certreg_denoiser_import": (i32, pointer, size_t, ref(Error), ref(pointer)),
    "certreg_denoiser_destroy": (None, pointer),
    "certreg_status_text": (C.c_char_p, i32),
    "certreg_estimator_calibrate": (i32, pointer, ref(Calibration), pointer),
    "certreg_interval_rule": (i32, ref(Coverage), ref(Calibration), ref(Error), ref(Rule)),
    "certreg_estimator_interval": (i32, pointer, ref(Calibration), ref(Rule), i32, pointer,
        pointer, size_t, ref(Interval)),
    "certreg_estimator_covers": (i32, pointer, ref(Calibration), ref(Rule), pointer, pointer),
    "certreg_certify_masks": (i32, pointer, pointer, ref(Question), ref(Certificate)),
    "certreg_count_level": (f64, u64, f64, f64, u64),
    "certreg_estimator_prediction": (i32, pointer, ref(Question), pointer),
    "certreg_estimator_estimate": (i32, pointer, ref(Question), pointer),
    "certreg_output_bounds": (i32, pointer, size_t, ref(Question), size_t, f64,
        ref(Certificate)),
    "certreg_certify_outputs": (i32, pointer, size_t, ref(Question), size_t, ref(Certificate),
        ref(Certificate)),
    "certreg_certify_sigmas": (i32, pointer, pointer, pointer, size_t, u64, size_t,
        ref(Question), size_t, ref(Certificate)),
    "certreg_choose_sigma": (i32, ref(Certificate), size_t, size_t, ref(Error), pointer,
        pointer),
    "certreg_estimator_forecast": (i32, pointer, ref(Question), ref(Forecast)),
    "certreg_move_certificate": (i32, ref(Certificate), size_t, pointer, pointer, pointer,
        ref(Error), ref(Certificate)),
    "certreg_queue_size": (i32, pointer, ref(Model), ref(Plan), ref(QueuePlan), ref(Error),
        pointer, pointer),
    "certreg_queue_create": (i32, pointer, ref(Model), ref(Plan), ref(QueuePlan), ref(Error),
        ref(pointer)),
    "certreg_queue_destroy": (None, pointer),
    "certreg_queue_add": (i32, pointer, ref(QueueInput), pointer),
    "certreg_queue_run": (i32, pointer),
    "certreg_queue_next": (i32, pointer, size_t, ref(QueueCall)),
    "certreg_queue_give": (i32, pointer, u64, pointer, i32, ref(Error)),
    "certreg_queue_take": (i32, pointer, ref(QueueResult)),
    "certreg_queue_drop": (i32, pointer, pointer),
    "certreg_queue_cancel": (None, pointer),
    "certreg_queue_error": (ref(Error), pointer),
    "certreg_estimator_begin_level": (i32, pointer, pointer, f64, u64, u64),
    "certreg_estimator_sample": (i32, pointer, u64, size_t),
    "certreg_estimator_draw": (i32, pointer, u64, size_t, pointer),
    "certreg_estimator_record": (i32, pointer, u64, size_t, pointer),
    "certreg_audit_next": (i32, pointer, pointer, pointer),
    "certreg_audit_give": (i32, pointer, pointer),
    "certreg_estimator_export": (i32, pointer, pointer, pointer),
    "certreg_estimator_import": (i32, pointer, pointer, size_t),
    "certreg_estimator_set_deadline": (i32, pointer, f64),
    "certreg_estimator_cancel": (None, pointer),
    "certreg_estimator_info": (i32, pointer, ref(Run)),
    "certreg_question_digest": (i32, ref(Question), ref(Error), pointer),
    "certreg_service_create": (i32, pointer, ref(Question), ref(Certificate), ref(ServicePlan),
        ref(Error), ref(pointer)),
    "certreg_service_size": (i32, pointer, ref(Question), ref(ServicePlan), ref(Error),
        pointer),
    "certreg_service_destroy": (None, pointer),
    "certreg_service_start": (i32, pointer, u64),
    "certreg_service_sense": (i32, pointer, pointer, pointer, ref(Tick)),
    "certreg_service_act": (i32, pointer, pointer, pointer, ref(Tick)),
    "certreg_service_anchor": (i32, pointer, pointer, ref(Certificate)),
    "certreg_service_certificate": (i32, pointer, ref(Certificate)),
    "certreg_service_info": (i32, pointer, ref(ServiceLog)),
    "certreg_service_error": (ref(Error), pointer),
    "certreg_episode_sense": (size_t, f64, pointer, size_t, size_t, pointer, size_t, pointer,
        pointer),
    "certreg_estimator_bounds": (i32, pointer, ref(Question), i32, ref(Bounds)),
    "certreg_solver_size": (size_t,),
    "certreg_solver_create": (i32, ref(SolverPlan), ref(Error), ref(pointer)),
    "certreg_solver_destroy": (None, pointer),
    "certreg_solver_worst_case": (i32, pointer, ref(Bounds), u32, f64, ref(MeanChange)),
    "certreg_solver_info": (i32, pointer, ref(SolveInfo)),
    "certreg_solver_error": (ref(Error), pointer),
    "certreg_bisection_size": (size_t,),
    "certreg_bisection_create": (i32, ref(BisectionPlan), ref(Error), ref(pointer)),
    "certreg_bisection_destroy": (None, pointer),
    "certreg_bisection_within": (i32, pointer, ref(Bounds), u32, f64, ref(Radius)),
    "certreg_bisection_above": (i32, pointer, ref(Bounds), pointer, size_t, u32, ref(Radius)),
    "certreg_bisection_info": (i32, pointer, ref(SolveInfo)),
    "certreg_bisection_error": (ref(Error), pointer),
    "certreg_solver_worst_function": (i32, pointer, ref(Bounds), u32, f64, i32,
        ref(WorstFunction)),
    "certreg_worst_function_values": (i32, ref(WorstFunction), size_t, pointer, pointer),
}

"""libcertreg from Python: certified radii for noise-smoothed regression::

    with Estimator(model, inputs=3, max_samples=10_000) as e:
        c = e.certify(z, 0.25, 10_000, Question(tolerance=0.5))
        print(c.prediction, c.radius)

The model takes a float32 array of shape (rows, inputs) and returns one of shape (rows,) or (rows,
columns). as_model lists the models of other packages that can be used. Names are the same as in
certreg.h, which explains the numbers. Zero means the default, but an alpha, bonferroni or seed of 0
is refused. Without a seed a secret one is drawn, and without a noise_id an input gets the next
unused one.

The package contains the library. Set CERTREG_LIB to the path of another one to use that. Examples
of functions and classes use this package as certreg, and numpy as np.

Layers of the modules; each module imports only from modules that come before it here::

    library      arguments constants structs display causes library files arrays
    models       onnx_file frames boxes models denoise inputs parametric training
    one input    questions results solver plots alternatives attacks queue estimator intervals check
                 service
    many inputs  report_page table workers store rows
    choices      units tuning regressor
    command      cli"""
from importlib import import_module as _import_module
from types import ModuleType as _Module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from .constants import (
    ALL_OUTPUTS, CALIBRATION_SCORES, DENOISER_PASSES, JSON_SEED, LEAST_RADIUS_EVALUATIONS,
    LEAST_WORST_CASE_EVALUATIONS, MOST_REGIONS, NO_PILOT, PLAN_COUNT_FAILURES, PLAN_DEPLOYED,
    PLAN_EPISODE, PLAN_PAIRS, RADIUS_EVALUATIONS, VERSION_NUMBER, WORST_CASE_EVALUATIONS, Attack,
    Center, Constraint, Constraints, Dependence, Domain, Method, Outcome, Output, Reason, Region,
    Score, Side, Source, Statistic, Status, Stop, __version__,
)
from .library import CertregError, ModelWarning, library_path, version

# Modules that need NumPy are imported on demand.
_LATER = {
    "alternatives": "AtMost Gain Listed OneOf Replaced Translated",
    "arrays": "DeviceArray",
    "attacks": "AttackResult",
    "check": "Finding check_model",
    "denoise": "Denoised",
    "estimator": "Estimator",
    "frames": "feature_scale",
    "inputs": "Inputs",
    "intervals": "Calibrated Interval IntervalList Rule interval_rule",
    "models": "OnnxModel as_model",
    "parametric": "Combinations Crops GainAndShift Parametric",
    "plots": "plot_accuracy plot_radii plot_reach plot_worst_function",
    "questions": "Faulty Question Serving Target question_digest",
    "results": "Bounds Certificate Forecast MeanChange Radius Run SolveInfo WorstFunction "
    "choose_sigma to_json",
    "rows": "Options certify_rows",
    "service": "Service ServiceLog Tick episode_sense",
    "solver": "Bisection Solver",
    "table": "ResumeError Rows RowsError plan_population population",
    "training": "TrainedDenoiser join_denoiser train_denoiser",
    "tuning": "Comparison Trial TunedScale compare_denoised tune_scale",
    "units": "RadiusComparison compare_radius within",
}
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names.split()}

if _TYPE_CHECKING:
    from .alternatives import AtMost, Gain, Listed, OneOf, Replaced, Translated
    from .arrays import DeviceArray
    from .attacks import AttackResult
    from .check import Finding, check_model
    from .denoise import Denoised
    from .estimator import Estimator
    from .frames import feature_scale
    from .inputs import Inputs
    from .intervals import Calibrated, Interval, IntervalList, Rule, interval_rule
    from .models import OnnxModel, as_model
    from .parametric import Combinations, Crops, GainAndShift, Parametric
    from .plots import plot_accuracy, plot_radii, plot_reach, plot_worst_function
    from .questions import Faulty, Question, Serving, Target, question_digest
    from .results import (
        Bounds, Certificate, Forecast, MeanChange, Radius, Run, SolveInfo, WorstFunction,
        choose_sigma, to_json,
    )
    from .rows import Options, certify_rows
    from .service import Service, ServiceLog, Tick, episode_sense
    from .solver import Bisection, Solver
    from .table import ResumeError, Rows, RowsError, plan_population, population
    from .training import TrainedDenoiser, join_denoiser, train_denoiser
    from .tuning import Comparison, Trial, TunedScale, compare_denoised, tune_scale
    from .units import RadiusComparison, compare_radius, within
else:

    def __getattr__(name: str) -> object:
        module = _MODULE_OF.get(name, name)
        if module not in _LATER:
            there = "; it is in certreg.regressor" if name == "SmoothedRegressor" else ""
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{there}")
        found = _import_module(f"{__name__}.{module}")
        return globals().setdefault(name, found if name in _LATER else getattr(found, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})


__all__ = ["__version__", *_MODULE_OF] + [
    name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _Module)
]

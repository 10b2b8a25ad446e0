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
    models       onnx_file frames models denoise inputs parametric training
    one input    questions results solver plots alternatives attacks queue estimator intervals check
                 service
    many inputs  report_page table workers store rows
    choices      units tuning regressor
    command      cli"""
from importlib import import_module as _import_module
from types import ModuleType as _Module
from typing import TYPE_CHECKING as _TYPE_CHECKING

# "as" tells type checkers that a name is public.
from .constants import (
    ALL_OUTPUTS as ALL_OUTPUTS, CALIBRATION_SCORES as CALIBRATION_SCORES,
    DENOISER_PASSES as DENOISER_PASSES, JSON_SEED as JSON_SEED,
    LEAST_RADIUS_EVALUATIONS as LEAST_RADIUS_EVALUATIONS,
    LEAST_WORST_CASE_EVALUATIONS as LEAST_WORST_CASE_EVALUATIONS, MOST_REGIONS as MOST_REGIONS,
    NO_PILOT as NO_PILOT, PLAN_COUNT_FAILURES as PLAN_COUNT_FAILURES,
    PLAN_DEPLOYED as PLAN_DEPLOYED, PLAN_EPISODE as PLAN_EPISODE, PLAN_PAIRS as PLAN_PAIRS,
    RADIUS_EVALUATIONS as RADIUS_EVALUATIONS, VERSION_NUMBER as VERSION_NUMBER,
    WORST_CASE_EVALUATIONS as WORST_CASE_EVALUATIONS, Attack as Attack, Center as Center,
    Constraint as Constraint, Constraints as Constraints, Dependence as Dependence,
    Domain as Domain, Method as Method, Outcome as Outcome, Output as Output, Reason as Reason,
    Region as Region, Score as Score, Side as Side, Source as Source, Statistic as Statistic,
    Status as Status, Stop as Stop, __version__ as __version__,
)
from .library import (
    CertregError as CertregError, ModelWarning as ModelWarning, library_path as library_path,
    version as version,
)

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
    from .alternatives import (
        AtMost as AtMost, Gain as Gain, Listed as Listed, OneOf as OneOf, Replaced as Replaced,
        Translated as Translated,
    )
    from .arrays import DeviceArray as DeviceArray
    from .attacks import AttackResult as AttackResult
    from .check import Finding as Finding, check_model as check_model
    from .denoise import Denoised as Denoised
    from .estimator import Estimator as Estimator
    from .frames import feature_scale as feature_scale
    from .inputs import Inputs as Inputs
    from .intervals import (
        Calibrated as Calibrated, Interval as Interval, IntervalList as IntervalList, Rule as Rule,
        interval_rule as interval_rule,
    )
    from .models import OnnxModel as OnnxModel, as_model as as_model
    from .parametric import (
        Combinations as Combinations, Crops as Crops, GainAndShift as GainAndShift,
        Parametric as Parametric,
    )
    from .plots import (
        plot_accuracy as plot_accuracy, plot_radii as plot_radii, plot_reach as plot_reach,
        plot_worst_function as plot_worst_function,
    )
    from .questions import (
        Faulty as Faulty, Question as Question, Serving as Serving, Target as Target,
        question_digest as question_digest,
    )
    from .results import (
        Bounds as Bounds, Certificate as Certificate, Forecast as Forecast,
        MeanChange as MeanChange, Radius as Radius, Run as Run, SolveInfo as SolveInfo,
        WorstFunction as WorstFunction, choose_sigma as choose_sigma, to_json as to_json,
    )
    from .rows import Options as Options, certify_rows as certify_rows
    from .service import (
        Service as Service, ServiceLog as ServiceLog, Tick as Tick, episode_sense as episode_sense,
    )
    from .solver import Bisection as Bisection, Solver as Solver
    from .table import (
        ResumeError as ResumeError, Rows as Rows, RowsError as RowsError,
        plan_population as plan_population, population as population,
    )
    from .training import (
        TrainedDenoiser as TrainedDenoiser, join_denoiser as join_denoiser,
        train_denoiser as train_denoiser,
    )
    from .tuning import (
        Comparison as Comparison, Trial as Trial, TunedScale as TunedScale,
        compare_denoised as compare_denoised, tune_scale as tune_scale,
    )
    from .units import (
        RadiusComparison as RadiusComparison, compare_radius as compare_radius, within as within,
    )
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

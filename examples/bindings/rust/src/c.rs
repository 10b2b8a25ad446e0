//! The constants, structs and functions of include/certreg, whose headers are the manual.
//! Written by python/generate.py; change the headers instead.
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_int, c_void};

/// The default of a struct: all zero but struct_size.
macro_rules! zeroed {
    ($($name:ident),*) => {$(impl Default for $name {
        fn default() -> Self {
            Self { struct_size: size_of::<Self>() as u32, ..unsafe { zeroed() } }
        }
    })*};
}
pub const CERTREG_ATTACK_NOT_BROKEN: i32 = 0;
pub const CERTREG_ATTACK_BROKEN: i32 = 1;
pub const CERTREG_VERSION_NUMBER: u32 = 400;
pub const CERTREG_OUTPUT_REAL: i32 = 0;
pub const CERTREG_OUTPUT_ANGLE: i32 = 1;
pub const CERTREG_OUTPUT_ANGLE_PAIR: i32 = 2;
pub const CERTREG_CONSTRAINT_MEAN: u32 = 1;
pub const CERTREG_CONSTRAINT_VARIANCE: u32 = 2;
pub const CERTREG_CONSTRAINT_GRADIENT: u32 = 4;
pub const CERTREG_CONSTRAINT_RANGE: u32 = 8;
pub const CERTREG_CONSTRAINT_MOMENT: u32 = 32;
pub const CERTREG_CONSTRAINT_LAW: u32 = 64;
pub const CERTREG_CONSTRAINTS_C: u32 = 2;
pub const CERTREG_CONSTRAINTS_CG: u32 = 6;
pub const CERTREG_CONSTRAINTS_ECM: u32 = 11;
pub const CERTREG_CONSTRAINTS_ECGM: u32 = 15;
pub const CERTREG_PLAN_COUNT_FAILURES: u32 = 1;
pub const CERTREG_AUDIT_NONE: u32 = 0;
pub const CERTREG_AUDIT_DEFAULT: u32 = 1;
pub const CERTREG_AUDIT_WHOLE: u32 = 2;
pub const CERTREG_DEPENDENCE_NONE: i32 = 0;
pub const CERTREG_DEPENDENCE_CALL: i32 = 1;
pub const CERTREG_DEPENDENCE_ORDER: i32 = 2;
pub const CERTREG_DEPENDENCE_OTHERS: i32 = 3;
pub const CERTREG_DEPENDENCE_COUNT: i32 = 4;
pub const CERTREG_STATISTIC_MEDIAN: i32 = 0;
pub const CERTREG_STATISTIC_HUBER: i32 = 1;
pub const CERTREG_STATISTIC_MEAN: i32 = 2;
pub const CERTREG_STATISTIC_CIRCULAR_MEAN: i32 = 3;
pub const CERTREG_STATISTIC_TRIMMED_MEAN: i32 = 4;
pub const CERTREG_STATISTIC_BALL_CENTER: i32 = 5;
pub const CERTREG_STATISTIC_PROJECTION_MEDIAN: i32 = 6;
pub const CERTREG_METHOD_FINITE: i32 = 0;
pub const CERTREG_METHOD_ASYMPTOTIC: i32 = 1;
pub const CERTREG_METHOD_PAPER: i32 = 2;
pub const CERTREG_METHOD_ANYTIME: i32 = 3;
pub const CERTREG_METHOD_BASELINE: i32 = 4;
pub const CERTREG_CENTER_PREDICTION: i32 = 0;
pub const CERTREG_CENTER_TRUE_MEAN: i32 = 1;
pub const CERTREG_CENTER_SAMPLE_MEDIAN: i32 = 2;
pub const CERTREG_ALL_OUTPUTS: i32 = -1;
pub const CERTREG_OUTCOME_ABSTAINED: i32 = 0;
pub const CERTREG_OUTCOME_CERTIFIED: i32 = 1;
pub const CERTREG_OUTCOME_CAPPED: i32 = 2;
pub const CERTREG_STOP_ALL: i32 = 0;
pub const CERTREG_STOP_TARGET: i32 = 1;
pub const CERTREG_STOP_HOPELESS: i32 = 2;
pub const CERTREG_STOP_DEADLINE: i32 = 3;
pub const CERTREG_STOP_CANCELLED: i32 = 4;
pub const CERTREG_SIDE_NEAR_LOWER: i32 = -2;
pub const CERTREG_SIDE_LOWER: i32 = -1;
pub const CERTREG_SIDE_UPPER: i32 = 1;
pub const CERTREG_SIDE_NEAR_UPPER: i32 = 2;
pub const CERTREG_REASON_NONE: i32 = 0;
pub const CERTREG_REASON_DEADLINE: i32 = 1;
pub const CERTREG_REASON_FEW_SAMPLES: i32 = 2;
pub const CERTREG_REASON_NO_PREDICTION: i32 = 3;
pub const CERTREG_REASON_CONTRADICTION: i32 = 4;
pub const CERTREG_REASON_FAILURES: i32 = 5;
pub const CERTREG_REASON_NO_RANGE: i32 = 6;
pub const CERTREG_REASON_EQUAL_OUTPUTS: i32 = 7;
pub const CERTREG_REASON_PREDICTION: i32 = 8;
pub const CERTREG_REASON_SERVING: i32 = 9;
pub const CERTREG_REASON_TARGET: i32 = 10;
pub const CERTREG_REASON_OUTPUTS_OUT: i32 = 11;
pub const CERTREG_REASON_SPREAD: i32 = 12;
pub const CERTREG_REASON_MOVED: i32 = 13;
pub const CERTREG_REASON_ALTERNATIVE: i32 = 14;
pub const CERTREG_DENOISER_PASSES: i32 = 7;
pub const CERTREG_OK: i32 = 0;
pub const CERTREG_E_INVALID: i32 = 1;
pub const CERTREG_E_NO_MEMORY: i32 = 2;
pub const CERTREG_E_SMALL_MEMORY: i32 = 3;
pub const CERTREG_E_MODEL_FAILED: i32 = 4;
pub const CERTREG_E_NOT_FINITE: i32 = 5;
pub const CERTREG_E_OUT_OF_RANGE: i32 = 6;
pub const CERTREG_E_INFEASIBLE: i32 = 7;
pub const CERTREG_E_WRONG_STATE: i32 = 8;
pub const CERTREG_E_NO_BACKEND: i32 = 9;
pub const CERTREG_E_NO_DEVICE: i32 = 10;
pub const CERTREG_E_DEVICE_FAILED: i32 = 11;
pub const CERTREG_E_VERSION: i32 = 12;
pub const CERTREG_E_CORRUPT: i32 = 13;
pub const CERTREG_E_MISMATCH: i32 = 14;
pub const CERTREG_E_TOO_MANY: i32 = 15;
pub const CERTREG_E_CANCELLED: i32 = 16;
pub const CERTREG_E_DEADLINE: i32 = 17;
pub const CERTREG_E_BUSY: i32 = 18;
pub const CERTREG_E_PLATFORM: i32 = 19;
pub const CERTREG_SCORE_NORM: i32 = 0;
pub const CERTREG_SCORE_LARGEST: i32 = 1;
pub const CERTREG_SCORE_QUANTILES: i32 = 2;
pub const CERTREG_CALIBRATION_SCORES: i32 = 25;
pub const CERTREG_PLAN_PAIRS: u32 = 2;
pub const CERTREG_PLAN_EPISODE: u32 = 4;
pub const CERTREG_PLAN_ROUNDED: u32 = 16;
pub const CERTREG_ALTERNATIVE_UNDECIDED: i32 = 0;
pub const CERTREG_ALTERNATIVE_PASSED: i32 = 1;
pub const CERTREG_ALTERNATIVE_FAILED: i32 = 2;
pub const CERTREG_QUEUE_SPLIT: u32 = 1;
pub const CERTREG_QUEUE_KEEP_PICKS: u32 = 2;
pub const CERTREG_CALL_ROWS: i32 = 1;
pub const CERTREG_CALL_WAIT: i32 = 2;
pub const CERTREG_CALL_TAKE: i32 = 3;
pub const CERTREG_CALL_IDLE: i32 = 4;
pub const CERTREG_PLAN_DEPLOYED: u32 = 8;
pub const CERTREG_SOURCE_FAILED: i32 = 0;
pub const CERTREG_SOURCE_ANSWERED: i32 = 1;
pub const CERTREG_SOURCE_OUTSIDE: i32 = 2;
pub const CERTREG_SOURCE_LATE: i32 = 3;
pub const CERTREG_WORST_CASE_EVALUATIONS: u32 = 2000;
pub const CERTREG_LEAST_WORST_CASE_EVALUATIONS: u32 = 1000;
pub const CERTREG_RADIUS_EVALUATIONS: u32 = 14000;
pub const CERTREG_LEAST_RADIUS_EVALUATIONS: u32 = 4000;
pub const CERTREG_REGION_LO: i32 = -1;
pub const CERTREG_REGION_BETWEEN: i32 = 0;
pub const CERTREG_REGION_HI: i32 = 1;
pub const CERTREG_MOST_REGIONS: i32 = 5;
// Handles, which nobody looks into.
pub enum Attack {}
pub enum Backend {}
pub enum Bisection {}
pub enum Denoiser {}
pub enum Estimator {}
pub enum Queue {}
pub enum Service {}
pub enum Solver {}
pub type Eval = Option<unsafe extern "C" fn(user: *mut c_void, batch: *const Batch) -> c_int>;
pub type Progress = Option<unsafe extern "C" fn(user: *mut c_void, done: u64, total: u64) -> c_int>;
pub type Read = Option<unsafe extern "C" fn(user: *mut c_void, first: u64, count: usize,
    x: *mut f32) -> c_int>;
pub type AlternativeWrite = Option<unsafe extern "C" fn(user: *mut c_void,
    alternative: *mut Alternative) -> c_int>;
pub type QueueKeep = Option<unsafe extern "C" fn(user: *mut c_void, of: *const QueueRow,
    record: *const c_void, bytes: usize) -> c_int>;
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AttackPlan {
    pub struct_size: u32, pub reserved: i32, pub max_calls: usize, pub memory: *mut c_void,
    pub memory_bytes: usize,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AttackOptions {
    pub struct_size: u32, pub reserved: i32, pub calls: usize, pub alpha: f64, pub number: u64,
    pub direction: *const f32,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AttackResult {
    pub struct_size: u32, pub outcome: i32, pub stop: i32, pub side: i32, pub radius: f64,
    pub forecast: f64, pub cosine: f64, pub prediction: f64, pub tolerance: f64, pub sigma: f64,
    pub alpha: f64, pub calls: u64, pub samples: u64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    pub struct_size: u32, pub device: i32, pub rows: usize, pub inputs: usize, pub columns: usize,
    pub first: u64, pub used_first: usize, pub used_count: usize, pub x: *const f32,
    pub y: *mut f32, pub stream: *mut c_void, pub row: *const QueueRow,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Model {
    pub struct_size: u32, pub reserved: i32, pub eval: Eval, pub user: *mut c_void,
    pub inputs: usize, pub outputs: usize, pub batch: usize, pub scale: *const f32,
    pub kind: *const i32, pub lo: *const f64, pub hi: *const f64, pub masks: *const Masks,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub struct_size: u32, pub constraints: u32, pub seed: u64, pub max_samples: usize,
    pub pilot: usize, pub blocks: usize, pub progress: Progress, pub progress_user: *mut c_void,
    pub memory: *mut c_void, pub memory_bytes: usize, pub flags: u32, pub reserved: u32,
    pub audit: u32, pub reserved_2: u32,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Question {
    pub struct_size: u32, pub output: i32, pub tolerance: f64, pub alpha: f64, pub statistic: i32,
    pub method: i32, pub huber_width: f64, pub center: i32, pub constraints: u32,
    pub bonferroni: u64, pub prediction: *const f64, pub target: *const Target,
    pub serving: *const Serving, pub prediction_count: usize, pub output_count: usize,
    pub relative_tolerance: f64, pub faults: u64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Certificate {
    pub struct_size: u32, pub status: i32, pub outcome: i32, pub stop: i32, pub radius: f64,
    pub prediction: f64, pub estimate: f64, pub output_lo: f64, pub output_hi: f64,
    pub radius_l1: f64, pub radius_l2: f64, pub radius_linf: f64, pub sigma: f64,
    pub tolerance: f64, pub alpha: f64, pub samples: u64, pub noise_id: u64,
    pub question_digest: u64, pub output: i32, pub statistic: i32, pub method: i32, pub center: i32,
    pub constraints: u32, pub limiting_side: i32, pub input_digest: u64, pub reason: i32,
    pub reserved: i32, pub share_out: f64, pub share_allowed: f64, pub samples_needed: u64,
    pub audited: u64, pub audit_change: f64, pub audit_band: f64, pub audit_share: f64,
    pub counted: u64, pub counted_out: u64, pub counted_required: f64, pub faults: u64,
    pub fault_radius: [f64; 8], pub served_samples: u64, pub served_failure_rate: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DenoiserPlan {
    pub struct_size: u32, pub reserved: i32, pub inputs: usize, pub rows: u64, pub read: Read,
    pub user: *mut c_void, pub sigma: f64, pub scale: *const f32, pub components: usize,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DenoiserFacts {
    pub struct_size: u32, pub reserved: i32, pub inputs: usize, pub components: usize,
    pub sigma: f64, pub rows: u64, pub digest: u64, pub error: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Error {
    pub struct_size: u32, pub status: i32, pub sample: i64, pub row: i64, pub output: i32,
    pub code: i32, pub value: f64, pub text: [c_char; 256],
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Calibration {
    pub struct_size: u32, pub score: i32, pub output: i32, pub outputs: i32, pub units: *const f64,
    pub sigma: f64, pub seed: u64, pub model: u64, pub samples: u64, pub first_noise: u64,
    pub last_noise: u64, pub digest: u64, pub count: u64, pub capacity: u64, pub scores: *mut f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Coverage {
    pub struct_size: u32, pub reserved: i32, pub alpha: f64, pub radius: f64, pub samples: u64,
    pub sigma: f64, pub points: u64, pub calibration_samples: u64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub struct_size: u32, pub reserved: i32, pub alpha: f64, pub radius: f64, pub threshold: f64,
    pub samples: u64, pub sample_rank: u64, pub calibration: u64, pub least_points: u64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub struct_size: u32, pub output: i32, pub lo: f64, pub hi: f64, pub period: f64,
    pub alpha: f64, pub radius: f64, pub threshold: f64, pub pieces: u64, pub samples: u64,
    pub failed: u64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub struct_size: u32, pub look_count: u32, pub radius: f64, pub looks: *const u64,
    pub growth: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Serving {
    pub struct_size: u32, pub pairs: i32, pub samples: usize, pub failure_rate: f64, pub trim: f64,
    pub core: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Masks {
    pub struct_size: u32, pub marker: f32, pub units: usize, pub unit: *const i32, pub shown: usize,
    pub probability: *const f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Forecast {
    pub struct_size: u32, pub reserved: i32, pub least_samples: u64, pub expected_samples: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct QueueRow {
    pub struct_size: u32, pub number: u32, pub depth: u32, pub path: u32, pub tag: u64,
    pub sample: u64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Alternative {
    pub struct_size: u32, pub number: u32, pub depth: u32, pub path: u32, pub halvings: u32,
    pub reserved: u32, pub tag: u64, pub z: *mut f32, pub margin: f64, pub record: *const c_void,
    pub record_bytes: usize,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Alternatives {
    pub struct_size: u32, pub count: u32, pub z: *const f32, pub margins: *const f64,
    pub write: AlternativeWrite, pub user: *mut c_void, pub first_noise_id: u64, pub halvings: u32,
    pub watch: u32, pub estimate_all: u32, pub reserved: u32,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AlternativeResult {
    pub struct_size: u32, pub state: i32, pub estimate: f64, pub radius: f64, pub samples: u64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct QueueInput {
    pub struct_size: u32, pub asks_again: i32, pub tag: u64, pub z: *const f32, pub sigma: f64,
    pub noise_id: u64, pub level: u64, pub samples: usize, pub questions: *const Question,
    pub count: usize, pub at_radius: f64, pub alternatives: *const Alternatives, pub seconds: f64,
    pub record: *const c_void, pub record_bytes: usize,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct QueueResult {
    pub struct_size: u32, pub state: i32, pub tag: u64, pub status: i32, pub reserved: i32,
    pub error: *mut Error, pub seed: u64, pub pilot: u64, pub room: usize, pub count: usize,
    pub certificates: *mut Certificate, pub limiting: *mut u32, pub alternative_room: usize,
    pub alternative_count: usize, pub alternatives: *mut AlternativeResult, pub proved: u64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct QueuePlan {
    pub struct_size: u32, pub flags: u32, pub capacity: usize, pub calls: usize,
    pub questions: usize, pub sets: usize, pub alternatives: usize, pub keep: QueueKeep,
    pub keep_user: *mut c_void, pub random: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct QueueCall {
    pub struct_size: u32, pub state: i32, pub ticket: u64, pub rows: usize, pub used: usize,
    pub x: *const f32, pub row: *const QueueRow, pub stream: *mut c_void,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub struct_size: u32, pub reserved: i32, pub seed: u64, pub noise_id: u64, pub level: u64,
    pub samples: u64, pub pilot: u64, pub batch: u64, pub sigma: f64, pub model_seconds: f64,
    pub library_seconds: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ServicePlan {
    pub struct_size: u32, pub reserved: i32, pub ticks: usize, pub deadline: f64,
    pub reading_error: f64, pub fallback: *const f64, pub memory: *mut c_void,
    pub memory_bytes: usize,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    pub struct_size: u32, pub source: i32, pub number: u64, pub left: f64, pub seconds: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ServiceLog {
    pub struct_size: u32, pub reserved: i32, pub seed: u64, pub question_digest: u64,
    pub input_digest: u64, pub starts: u64, pub ticks: u64, pub answered: u64, pub outside: u64,
    pub failed: u64, pub late: u64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub struct_size: u32, pub constraints: u32, pub sigma: f64, pub mean_lo: f64, pub mean_hi: f64,
    pub variance_hi: f64, pub gradient_lo: f64, pub gradient_hi: f64, pub range_lo: f64,
    pub range_hi: f64, pub alpha: f64, pub samples: u64, pub moment_center: f64, pub moment_hi: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SolverPlan {
    pub struct_size: u32, pub max_evaluations: u32, pub memory: *mut c_void,
    pub memory_bytes: usize,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MeanChange {
    pub struct_size: u32, pub constraints: u32, pub drop: f64, pub rise: f64, pub mean_least: f64,
    pub mean_greatest: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SolveInfo {
    pub struct_size: u32, pub evaluations: u32, pub points: u64, pub loose: u32,
    pub refinements: u32, pub fallbacks: u32, pub reserved: u32, pub seconds: f64,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BisectionPlan {
    pub struct_size: u32, pub max_evaluations: u32, pub accuracy: f64, pub cap: f64,
    pub memory: *mut c_void, pub memory_bytes: usize,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Radius {
    pub struct_size: u32, pub outcome: i32, pub radius: f64, pub limiting_side: i32,
    pub reserved: i32, pub limiting: usize,
}
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct WorstFunction {
    pub struct_size: u32, pub constraints: u32, pub side: i32, pub region_count: u32,
    pub radius: f64, pub change: f64, pub bound: f64, pub mean: f64, pub variance: f64,
    pub gradient: f64, pub by_variance: f64, pub by_mean: f64, pub by_gradient: f64,
    pub offset: f64, pub slope: f64, pub rest: f64, pub tilt: f64, pub range_lo: f64,
    pub range_hi: f64, pub breakpoints: [f64; (CERTREG_MOST_REGIONS - 1) as usize],
    pub regions: [i32; (CERTREG_MOST_REGIONS + 1) as usize],
}
zeroed! {
    AttackPlan, AttackOptions, AttackResult, Batch, Model, Plan, Question, Certificate,
    DenoiserPlan, DenoiserFacts, Error, Calibration, Coverage, Rule, Interval, Target, Serving,
    Masks, Forecast, QueueRow, Alternative, Alternatives, AlternativeResult, QueueInput,
    QueueResult, QueuePlan, QueueCall, Run, ServicePlan, Tick, ServiceLog, Bounds, SolverPlan,
    MeanChange, SolveInfo, BisectionPlan, Radius, WorstFunction
}
#[link(name = "certreg")]
extern "C" {
    pub fn certreg_attack_size(estimator: *mut Estimator, attack_plan: *const AttackPlan,
        bytes: *mut usize, device_bytes: *mut usize) -> i32;
    pub fn certreg_attack_create(estimator: *mut Estimator, attack_plan: *const AttackPlan,
        why: *mut Error, out: *mut *mut Attack) -> i32;
    pub fn certreg_attack_destroy(attack: *mut Attack);
    pub fn certreg_attack_run(attack: *mut Attack, question: *const Question,
        options: *const AttackOptions, shift: *mut f32, result: *mut AttackResult) -> i32;
    pub fn certreg_attack_gradient(attack: *mut Attack, question: *const Question, side: i32,
        out: *mut f64) -> i32;
    pub fn certreg_attack_error(attack: *const Attack) -> *const Error;
    pub fn certreg_backend_open_cpu(threads: i32, why: *mut Error, out: *mut *mut Backend) -> i32;
    pub fn certreg_backend_open(module: *const c_char, device: i32, stream: *mut c_void,
        why: *mut Error, out: *mut *mut Backend) -> i32;
    pub fn certreg_backend_close(backend: *mut Backend);
    pub fn certreg_estimator_size(backend: *mut Backend, model: *const Model, plan: *const Plan,
        why: *mut Error, bytes: *mut usize, device_bytes: *mut usize) -> i32;
    pub fn certreg_estimator_create(backend: *mut Backend, model: *const Model, plan: *const Plan,
        why: *mut Error, out: *mut *mut Estimator) -> i32;
    pub fn certreg_estimator_destroy(estimator: *mut Estimator);
    pub fn certreg_estimator_begin(estimator: *mut Estimator, z: *const f32, sigma: f64,
        noise_id: u64) -> i32;
    pub fn certreg_model_check(estimator: *mut Estimator, rows: usize, found: *mut i32) -> i32;
    pub fn certreg_reason_text(reason: i32) -> *const c_char;
    pub fn certreg_certify(estimator: *mut Estimator, total_samples: usize,
        questions: *const Question, count: usize, out: *mut Certificate) -> i32;
    pub fn certreg_estimator_error(estimator: *const Estimator) -> *const Error;
    pub fn certreg_version() -> u32;
    pub fn certreg_denoiser_create(denoiser_plan: *const DenoiserPlan, why: *mut Error,
        out: *mut *mut Denoiser) -> i32;
    pub fn certreg_denoiser_apply(denoiser: *const Denoiser, x: *const f32, rows: usize,
        y: *mut f32) -> i32;
    pub fn certreg_denoiser_info(denoiser: *const Denoiser, out: *mut DenoiserFacts) -> i32;
    pub fn certreg_denoiser_export(denoiser: *const Denoiser, buffer: *mut c_void,
        bytes: *mut usize) -> i32;
    pub fn certreg_denoiser_import(buffer: *const c_void, bytes: usize, why: *mut Error,
        out: *mut *mut Denoiser) -> i32;
    pub fn certreg_denoiser_destroy(denoiser: *mut Denoiser);
    pub fn certreg_status_text(status: i32) -> *const c_char;
    pub fn certreg_estimator_calibrate(estimator: *mut Estimator, calibration: *mut Calibration,
        truth: *const f64) -> i32;
    pub fn certreg_interval_rule(coverage: *const Coverage, calibration: *const Calibration,
        why: *mut Error, out: *mut Rule) -> i32;
    pub fn certreg_estimator_interval(estimator: *mut Estimator, calibration: *const Calibration,
        rule: *const Rule, output: i32, lo: *mut f64, hi: *mut f64, room: usize,
        out: *mut Interval) -> i32;
    pub fn certreg_estimator_covers(estimator: *mut Estimator, calibration: *const Calibration,
        rule: *const Rule, truth: *const f64, inside: *mut i32) -> i32;
    pub fn certreg_certify_masks(estimator: *mut Estimator, z: *const f32,
        question: *const Question, out: *mut Certificate) -> i32;
    pub fn certreg_count_level(counted: u64, required: f64, radius: f64, most_out: u64) -> f64;
    pub fn certreg_estimator_prediction(estimator: *mut Estimator, question: *const Question,
        out: *mut f64) -> i32;
    pub fn certreg_estimator_estimate(estimator: *mut Estimator, question: *const Question,
        out: *mut f64) -> i32;
    pub fn certreg_output_bounds(estimator: *mut Estimator, total_samples: usize,
        questions: *const Question, count: usize, radius: f64, out: *mut Certificate) -> i32;
    pub fn certreg_certify_outputs(estimator: *mut Estimator, total_samples: usize,
        questions: *const Question, count: usize, each: *mut Certificate,
        combined: *mut Certificate) -> i32;
    pub fn certreg_certify_sigmas(estimator: *mut Estimator, z: *const f32, sigmas: *const f64,
        levels: usize, noise_id: u64, total_samples: usize, questions: *const Question,
        count: usize, out: *mut Certificate) -> i32;
    pub fn certreg_choose_sigma(certificates: *const Certificate, inputs: usize, levels: usize,
        why: *mut Error, mean_radius: *mut f64, level: *mut usize) -> i32;
    pub fn certreg_estimator_forecast(estimator: *mut Estimator, question: *const Question,
        out: *mut Forecast) -> i32;
    pub fn certreg_move_certificate(certificate: *const Certificate, inputs: usize,
        scale: *const f32, z: *const f32, to: *const f32, why: *mut Error,
        out: *mut Certificate) -> i32;
    pub fn certreg_queue_size(backend: *mut Backend, model: *const Model, plan: *const Plan,
        queue_plan: *const QueuePlan, why: *mut Error, bytes: *mut usize,
        device_bytes: *mut usize) -> i32;
    pub fn certreg_queue_create(backend: *mut Backend, model: *const Model, plan: *const Plan,
        queue_plan: *const QueuePlan, why: *mut Error, out: *mut *mut Queue) -> i32;
    pub fn certreg_queue_destroy(queue: *mut Queue);
    pub fn certreg_queue_add(queue: *mut Queue, queue_input: *const QueueInput,
        full: *mut i32) -> i32;
    pub fn certreg_queue_run(queue: *mut Queue) -> i32;
    pub fn certreg_queue_next(queue: *mut Queue, least: usize, queue_call: *mut QueueCall) -> i32;
    pub fn certreg_queue_give(queue: *mut Queue, ticket: u64, y: *const f32, failed: i32,
        why: *mut Error) -> i32;
    pub fn certreg_queue_take(queue: *mut Queue, queue_result: *mut QueueResult) -> i32;
    pub fn certreg_queue_drop(queue: *mut Queue, tag: *const u64) -> i32;
    pub fn certreg_queue_cancel(queue: *mut Queue);
    pub fn certreg_queue_error(queue: *const Queue) -> *const Error;
    pub fn certreg_estimator_begin_level(estimator: *mut Estimator, z: *const f32, sigma: f64,
        noise_id: u64, level: u64) -> i32;
    pub fn certreg_estimator_sample(estimator: *mut Estimator, first: u64, count: usize) -> i32;
    pub fn certreg_estimator_draw(estimator: *mut Estimator, first: u64, count: usize,
        x: *mut f32) -> i32;
    pub fn certreg_estimator_record(estimator: *mut Estimator, first: u64, count: usize,
        y: *const f32) -> i32;
    pub fn certreg_audit_next(estimator: *mut Estimator, x: *mut f32, rows: *mut usize) -> i32;
    pub fn certreg_audit_give(estimator: *mut Estimator, y: *const f32) -> i32;
    pub fn certreg_estimator_export(estimator: *mut Estimator, buffer: *mut c_void,
        bytes: *mut usize) -> i32;
    pub fn certreg_estimator_import(estimator: *mut Estimator, buffer: *const c_void,
        bytes: usize) -> i32;
    pub fn certreg_estimator_set_deadline(estimator: *mut Estimator, seconds: f64) -> i32;
    pub fn certreg_estimator_cancel(estimator: *mut Estimator);
    pub fn certreg_estimator_info(estimator: *mut Estimator, out: *mut Run) -> i32;
    pub fn certreg_question_digest(question: *const Question, why: *mut Error,
        digest: *mut u64) -> i32;
    pub fn certreg_service_create(certified: *mut Estimator, question: *const Question,
        certificate: *const Certificate, service_plan: *const ServicePlan, why: *mut Error,
        out: *mut *mut Service) -> i32;
    pub fn certreg_service_size(certified: *mut Estimator, question: *const Question,
        service_plan: *const ServicePlan, why: *mut Error, bytes: *mut usize) -> i32;
    pub fn certreg_service_destroy(service: *mut Service);
    pub fn certreg_service_start(service: *mut Service, seed: u64) -> i32;
    pub fn certreg_service_sense(service: *mut Service, reading: *const f32, noisy: *mut f32,
        tick: *mut Tick) -> i32;
    pub fn certreg_service_act(service: *mut Service, reading: *const f32, action: *mut f64,
        tick: *mut Tick) -> i32;
    pub fn certreg_service_anchor(service: *mut Service, z: *const f32,
        certificate: *const Certificate) -> i32;
    pub fn certreg_service_certificate(service: *mut Service, out: *mut Certificate) -> i32;
    pub fn certreg_service_info(service: *mut Service, out: *mut ServiceLog) -> i32;
    pub fn certreg_service_error(service: *const Service) -> *const Error;
    pub fn certreg_episode_sense(sigma: f64, scale: *const f32, sensors: usize, rows: usize,
        noise: *const f32, stride: usize, reading: *const f32, noisy: *mut f32) -> usize;
    pub fn certreg_estimator_bounds(estimator: *mut Estimator, question: *const Question, side: i32,
        out: *mut Bounds) -> i32;
    pub fn certreg_solver_size() -> usize;
    pub fn certreg_solver_create(plan: *const SolverPlan, why: *mut Error,
        out: *mut *mut Solver) -> i32;
    pub fn certreg_solver_destroy(solver: *mut Solver);
    pub fn certreg_solver_worst_case(solver: *mut Solver, bounds: *const Bounds, constraints: u32,
        radius: f64, out: *mut MeanChange) -> i32;
    pub fn certreg_solver_info(solver: *mut Solver, out: *mut SolveInfo) -> i32;
    pub fn certreg_solver_error(solver: *const Solver) -> *const Error;
    pub fn certreg_bisection_size() -> usize;
    pub fn certreg_bisection_create(plan: *const BisectionPlan, why: *mut Error,
        out: *mut *mut Bisection) -> i32;
    pub fn certreg_bisection_destroy(bisection: *mut Bisection);
    pub fn certreg_bisection_within(bisection: *mut Bisection, bounds: *const Bounds,
        constraints: u32, tolerance: f64, out: *mut Radius) -> i32;
    pub fn certreg_bisection_above(bisection: *mut Bisection, bounds: *const Bounds,
        threshold: *const f64, count: usize, constraints: u32, out: *mut Radius) -> i32;
    pub fn certreg_bisection_info(bisection: *mut Bisection, out: *mut SolveInfo) -> i32;
    pub fn certreg_bisection_error(bisection: *const Bisection) -> *const Error;
    pub fn certreg_solver_worst_function(solver: *mut Solver, bounds: *const Bounds,
        constraints: u32, radius: f64, side: i32, out: *mut WorstFunction) -> i32;
    pub fn certreg_worst_function_values(worst_function: *const WorstFunction, count: usize,
        t: *const f64, out: *mut f64) -> i32;
}

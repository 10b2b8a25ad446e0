//! As much of certreg.h as the crate needs. What points to nothing here is a `usize` of 0.
use std::mem::size_of;
use std::os::raw::{c_char, c_int, c_void};

#[repr(C)]
pub struct Batch {
    pub struct_size: u32, pub device: i32,
    pub rows: usize, pub inputs: usize, pub columns: usize,
    pub first: u64, pub used_first: usize, pub used_count: usize,
    pub x: *const f32, pub y: *mut f32, pub stream: *mut c_void, pub row: usize,
}
pub type Eval = unsafe extern "C" fn(user: *mut c_void, batch: *const Batch) -> c_int;
#[repr(C)]
pub struct Model {
    pub struct_size: u32, pub reserved: i32,
    pub eval: Eval, pub user: *mut c_void,
    pub inputs: usize, pub outputs: usize, pub batch: usize,
    pub scale: *const f32, pub kind: usize, pub lo: usize, pub hi: usize,
    pub masks: usize,
}
/// What costs memory or fixes the noise.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub struct Plan {
    struct_size: u32, pub constraints: u32,
    pub seed: u64, pub max_samples: usize, pub pilot: usize, pub blocks: usize,
    progress: usize, progress_user: usize, memory: usize, memory_bytes: usize,
    pub flags: u32, reserved: u32,
    /// By default 1, which asks the model again for some samples; with 0 the premise is not tested.
    pub audit: u32, reserved_2: u32,
}
/// A question about the record: by default about the median.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub struct Question {
    struct_size: u32, pub output: i32,
    pub tolerance: f64, pub alpha: f64,
    pub statistic: i32, pub method: i32,
    pub huber_width: f64,
    pub center: i32, pub constraints: u32,
    pub bonferroni: u64,
    prediction: usize, target: usize, serving: usize, prediction_count: usize,
    pub output_count: usize, pub relative_tolerance: f64,
    faults: u64,
}
/// The answer to one question.
#[repr(C)]
#[derive(Clone, Debug, Default)]
pub struct Certificate {
    pub(crate) struct_size: u32, pub status: i32,
    pub outcome: i32, pub stop: i32,
    pub radius: f64, pub prediction: f64, pub estimate: f64,
    pub output_lo: f64, pub output_hi: f64,
    pub radius_l1: f64, pub radius_l2: f64, pub radius_linf: f64,
    pub sigma: f64, pub tolerance: f64, pub alpha: f64,
    pub samples: u64, pub noise_id: u64, pub question_digest: u64,
    pub output: i32, pub statistic: i32, pub method: i32, pub center: i32,
    pub constraints: u32, pub limiting_side: i32,
    pub input_digest: u64,
    pub reason: i32, pub(crate) reserved: i32,
    pub share_out: f64, pub share_allowed: f64,
    pub samples_needed: u64,
    /// How many outputs were asked again, their largest difference, and how near to out counts.
    pub audited: u64, pub audit_change: f64, pub audit_band: f64, pub audit_share: f64,
    /// The counts behind a median, for bounds of a population.
    pub counted: u64, pub counted_out: u64, pub counted_required: f64,
    pub faults: u64, pub fault_radius: [f64; 8],
}
#[repr(C)]
pub struct Failure {
    pub struct_size: u32, pub status: i32,
    pub sample: i64, pub row: i64,
    pub output: i32, pub code: i32,
    pub value: f64,
    pub text: [c_char; 256],
}
// The sizes that this version of the library has; a crate with other ones does not compile.
const _: () = assert!(size_of::<Batch>() == 88 && size_of::<Model>() == 88);
const _: () = assert!(size_of::<Plan>() == 88 && size_of::<Question>() == 112);
const _: () = assert!(size_of::<Certificate>() == 320 && size_of::<Failure>() == 296);

pub enum Handle {} // certreg_estimator, which nobody looks into
#[link(name = "certreg")]
extern "C" {
    pub fn certreg_estimator_create(
        cpu: usize, model: *const Model, plan: *const Plan, why: *mut Failure, out: *mut *mut Handle,
    ) -> i32;
    pub fn certreg_estimator_destroy(e: *mut Handle);
    pub fn certreg_estimator_begin(e: *mut Handle, z: *const f32, sigma: f64, noise: u64) -> i32;
    pub fn certreg_certify(
        e: *mut Handle, total: usize, ask: *const Question, count: usize, out: *mut Certificate,
    ) -> i32;
    pub fn certreg_estimator_error(e: *const Handle) -> *const Failure;
    pub fn certreg_reason_text(reason: i32) -> *const c_char;
}

impl Plan {
    pub fn new(max_samples: usize) -> Self {
        Self { struct_size: size_of::<Self>() as u32, max_samples, audit: 1, ..Self::default() }
    }
}
impl Question {
    pub fn new(tolerance: f64) -> Self {
        Self { struct_size: size_of::<Self>() as u32, tolerance, ..Self::default() }
    }
}

//! One certificate from Rust, without a crate: how much of certreg.h a program has to repeat.
use std::ffi::CStr;
use std::mem::{forget, size_of, zeroed};
use std::os::raw::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;

#[repr(C)]
struct Batch {
    struct_size: u32, device: i32,
    rows: usize, inputs: usize, columns: usize,
    first: u64, used_first: usize, used_count: usize,
    x: *const f32, y: *mut f32, stream: *mut c_void,
}
type Eval = unsafe extern "C" fn(user: *mut c_void, batch: *const Batch) -> c_int;
#[repr(C)]
struct Model {
    struct_size: u32, reserved: i32,
    eval: Option<Eval>, user: *mut c_void,
    inputs: usize, outputs: usize, batch: usize,
    scale: *const f32, kind: *const i32, lo: *const f64, hi: *const f64,
}
#[repr(C)]
struct Plan {
    struct_size: u32, constraints: u32,
    seed: u64, max_samples: usize, pilot: usize, blocks: usize,
    progress: Option<unsafe extern "C" fn(*mut c_void, u64, u64) -> c_int>,
    progress_user: *mut c_void,
    memory: *mut c_void, memory_bytes: usize,
    flags: u32, reserved: u32,
    second_order_bytes: usize,
}
#[repr(C)]
struct Question {
    struct_size: u32, output: i32,
    tolerance: f64, alpha: f64,
    statistic: i32, method: i32,
    huber_width: f64,
    center: i32, constraints: u32,
    bonferroni: u64,
    prediction: *const f64, target: *const c_void, serving: *const c_void,
    prediction_count: usize, output_count: usize,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Certificate {
    struct_size: u32, status: i32,
    pub outcome: i32, pub stop: i32,
    pub radius: f64, pub prediction: f64, pub estimate: f64,
    pub output_lo: f64, pub output_hi: f64,
    pub radius_l1: f64, pub radius_l2: f64, pub radius_linf: f64,
    pub sigma: f64, pub tolerance: f64, pub alpha: f64,
    pub samples: u64, pub noise_id: u64, pub question: u64,
    pub output: i32, pub statistic: i32, pub method: i32, pub center: i32,
    pub constraints: u32, pub limiting_side: i32,
    pub input: u64,
}
#[repr(C)]
struct Failure {
    struct_size: u32, status: i32,
    sample: i64, row: i64,
    output: i32, model_code: i32,
    value: f64,
    text: [c_char; 256],
}
// The sizes that this version of the library has; a program with other ones does not compile.
const _: () = assert!(size_of::<Batch>() == 80 && size_of::<Model>() == 80);
const _: () = assert!(size_of::<Plan>() == 88 && size_of::<Question>() == 96);
const _: () = assert!(size_of::<Certificate>() == 160 && size_of::<Failure>() == 296);

enum Handle {} // certreg_estimator, which nobody looks into
#[link(name = "certreg")]
extern "C" {
    fn certreg_estimator_create(
        backend: *mut c_void, model: *const Model, plan: *const Plan, why: *mut Failure,
        out: *mut *mut Handle,
    ) -> i32;
    fn certreg_estimator_destroy(e: *mut Handle);
    fn certreg_estimator_begin(e: *mut Handle, z: *const f32, sigma: f64, noise_id: u64) -> i32;
    fn certreg_certify(
        e: *mut Handle, total: usize, questions: *const Question, count: usize,
        out: *mut Certificate,
    ) -> i32;
    fn certreg_estimator_error(e: *const Handle) -> *const Failure;
}

/// A status that is not 0, and the library's sentence.
#[derive(Debug)]
pub struct Error(pub i32, pub String);
fn check(status: i32, why: &Failure) -> Result<(), Error> {
    match status {
        0 => Ok(()),
        _ => {
            let text = unsafe { CStr::from_ptr(why.text.as_ptr()) }; // the library ends it by NUL
            Err(Error(status, text.to_string_lossy().into()))
        }
    }
}

/// A model `f`, from one row of inputs to one number, and the estimator that calls it.
pub struct Estimator<F: FnMut(&[f32]) -> f32> {
    handle: *mut Handle,
    inputs: usize,
    model: *mut F, // of a Box; the library keeps this address
}

/// What the library calls. A panic must not unwind into C: it becomes a status here, and the
/// record stays. What was panicked with is leaked, since dropping it could panic again.
unsafe extern "C" fn eval<F: FnMut(&[f32]) -> f32>(user: *mut c_void, b: *const Batch) -> c_int {
    let (f, b) = (&mut *(user as *mut F), &*b);
    let run = || {
        for i in b.used_first..b.used_first + b.used_count {
            *b.y.add(i) = f(std::slice::from_raw_parts(b.x.add(i * b.inputs), b.inputs));
        }
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => 0,
        Err(payload) => { forget(payload); 1 }
    }
}

impl<F: FnMut(&[f32]) -> f32> Estimator<F> {
    pub fn new(f: F, inputs: usize, max_samples: usize, seed: u64) -> Result<Self, Error> {
        let model = Box::into_raw(Box::new(f));
        let mut e = Self { handle: null_mut(), inputs, model };
        unsafe {
            let shape = Model {
                struct_size: size_of::<Model>() as u32, eval: Some(eval::<F>),
                user: e.model as *mut c_void, inputs, outputs: 1, ..zeroed()
            };
            let plan = Plan {
                struct_size: size_of::<Plan>() as u32, max_samples, seed, ..zeroed()
            };
            let mut why = Failure { struct_size: size_of::<Failure>() as u32, ..zeroed() };
            let status =
                certreg_estimator_create(null_mut(), &shape, &plan, &mut why, &mut e.handle);
            check(status, &why)?;
        }
        Ok(e)
    }
    /// The median of the outputs around `z` stays within `tolerance` of the prediction.
    pub fn certify(
        &mut self, z: &[f32], sigma: f64, noise_id: u64, samples: usize, tolerance: f64,
    ) -> Result<Certificate, Error> {
        assert_eq!(z.len(), self.inputs, "z has another number of inputs");
        unsafe {
            let e = self.handle;
            let q = Question { struct_size: size_of::<Question>() as u32, tolerance, ..zeroed() };
            let mut c = Certificate { struct_size: size_of::<Certificate>() as u32, ..zeroed() };
            let begun = certreg_estimator_begin(e, z.as_ptr(), sigma, noise_id);
            check(begun, &*certreg_estimator_error(e))?;
            let answered = certreg_certify(e, samples, &q, 1, &mut c);
            check(answered, &*certreg_estimator_error(e))?;
            Ok(c)
        }
    }
}
impl<F: FnMut(&[f32]) -> f32> Drop for Estimator<F> {
    fn drop(&mut self) {
        unsafe {
            certreg_estimator_destroy(self.handle);
            drop(Box::from_raw(self.model));
        }
    }
}

fn main() -> Result<(), Error> {
    let z = [1.0, 0.5, -0.25];
    let mut e = Estimator::new(|x| x[0] + x[1] * x[2], 3, 10_000, 42)?;
    let c = e.certify(&z, 0.25, 0, 10_000, 0.5)?;
    println!("within {} of {:.6} for every shift below {:.6}", c.tolerance, c.prediction, c.radius);

    let mut calls = 0;
    let fails = |x: &[f32]| { calls += 1; assert!(calls < 300, "the sensor is off"); x[0] };
    let mut e = Estimator::new(fails, 3, 10_000, 42)?;
    if let Err(Error(status, text)) = e.certify(&z, 0.25, 0, 10_000, 0.5) {
        println!("status {status}: {text}");
    }
    Ok(())
}

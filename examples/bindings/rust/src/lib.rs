//! libcertreg for Rust. Names and meanings are those of certreg.h, which is the manual.
pub mod c;
pub use c::{Certificate, Plan, Question};
use std::any::Any;
use std::ffi::CStr;
use std::os::raw::{c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use std::slice::{from_raw_parts, from_raw_parts_mut};

pub const STATISTIC_HUBER: i32 = 1; // the median, 0, is the default
pub const OUTCOME_ABSTAINED: i32 = 0; // nothing was proved

/// A status that is not 0, CERTREG_E_..., and the library's sentence.
#[derive(Clone, Debug)]
pub struct Error {
    pub status: i32,
    pub text: String,
}
impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
impl std::error::Error for Error {}

fn check(status: i32, why: &c::Error) -> Result<(), Error> {
    if status == 0 {
        return Ok(());
    }
    let text = unsafe { CStr::from_ptr(why.text.as_ptr()) }; // the library ends it by NUL
    Err(Error { status, text: text.to_string_lossy().into() })
}
impl Plan {
    /// By default asks the model again for some samples; with audit 0 the premise is not tested.
    pub fn new(max_samples: usize) -> Self {
        Self { max_samples, audit: c::CERTREG_AUDIT_DEFAULT, ..Self::default() }
    }
}
impl Question {
    /// About the median.
    pub fn new(tolerance: f64) -> Self {
        Self { tolerance, ..Self::default() }
    }
}
impl Certificate {
    /// Why it abstains, and what helps; empty if it does not.
    pub fn reason_text(&self) -> &'static str {
        let text = unsafe { CStr::from_ptr(c::certreg_reason_text(self.reason)) };
        text.to_str().unwrap_or_default()
    }
}
/// NULL for an empty array, which is the default.
fn array<T>(name: &str, numbers: &[T], count: usize) -> Result<*const T, Error> {
    match numbers.len() {
        0 => Ok(null()),
        n if n == count => Ok(numbers.as_ptr()),
        n => Err(Error { status: 1, text: format!("{name} has {n} numbers, not {count}") }),
    }
}

/// A closure and its shape. An empty scale means that all are 1.
pub struct Model<'a, F> {
    pub inputs: usize,
    pub outputs: usize,
    pub batch: usize,
    pub scale: &'a [f32],
    f: F,
}
impl<F: FnMut(&[f32], &mut [f32])> Model<'_, F> {
    /// `f(x, y)` reads `batch` rows (0: 256) of `inputs` numbers, and writes `outputs` numbers for
    /// each. Where it writes nothing, y is NaN, which `certify` refuses.
    pub fn new(inputs: usize, f: F) -> Self {
        Self { inputs, outputs: 1, batch: 0, scale: &[], f }
    }
}

struct Callback<F> {
    f: F,
    panic: Option<Box<dyn Any + Send>>,
}
/// What the library calls. A panic must not unwind into C: it is kept until the call is over.
unsafe extern "C" fn eval<F: FnMut(&[f32], &mut [f32])>(
    user: *mut c_void, b: *const c::Batch,
) -> c_int {
    let callback = &mut *(user as *mut Callback<F>);
    let rows = (*b).rows; // no reference: the struct of an earlier library is shorter
    let x = from_raw_parts((*b).x, rows * (*b).inputs);
    let y = from_raw_parts_mut((*b).y, rows * (*b).columns);
    callback.panic = catch_unwind(AssertUnwindSafe(|| (callback.f)(x, y))).err();
    callback.panic.is_some() as c_int
}

/// Samples a model. It serves any number of inputs, one after the other.
pub struct Estimator<F> {
    handle: *mut c::Estimator,
    inputs: usize,
    callback: *mut Callback<F>, // of a Box; the library keeps this address
}
unsafe impl<F: Send> Send for Estimator<F> {} // any thread may use a handle, one at a time

impl<F: FnMut(&[f32], &mut [f32])> Estimator<F> {
    pub fn new(model: Model<F>, plan: &Plan) -> Result<Self, Error> {
        let scale = array("model.scale", model.scale, model.inputs)?;
        let callback = Box::into_raw(Box::new(Callback { f: model.f, panic: None }));
        let mut e = Self { handle: null_mut(), inputs: model.inputs, callback };
        let shape = c::Model {
            eval: Some(eval::<F>), user: callback as *mut c_void,
            inputs: model.inputs, outputs: model.outputs, batch: model.batch,
            scale, ..c::Model::default()
        };
        let mut why = c::Error::default();
        let out = &mut e.handle;
        let status = unsafe { c::certreg_estimator_create(null_mut(), &shape, plan, &mut why, out) };
        check(status, &why).map(|()| e)
    }
    fn done(&mut self, status: i32) -> Result<(), Error> {
        if let Some(panic) = unsafe { (*self.callback).panic.take() } {
            resume_unwind(panic);
        }
        check(status, unsafe { &*c::certreg_estimator_error(self.handle) })
    }
    /// Starts a new input.
    pub fn begin(&mut self, z: &[f32], sigma: f64, noise_id: u64) -> Result<(), Error> {
        let z = array("z", z, self.inputs)?; // empty: NULL, which is refused
        let status = unsafe { c::certreg_estimator_begin(self.handle, z, sigma, noise_id) };
        self.done(status)
    }
    /// Samples until there are `total`, and answers. If the model panics, so does this; the
    /// samples before it stay, and the next call goes on from there.
    pub fn certify(&mut self, total: usize, question: &Question) -> Result<Certificate, Error> {
        let mut c = Certificate::default();
        let status = unsafe { c::certreg_certify(self.handle, total, question, 1, &mut c) };
        self.done(status).map(|()| c)
    }
}
impl<F> Drop for Estimator<F> {
    fn drop(&mut self) {
        unsafe {
            c::certreg_estimator_destroy(self.handle);
            drop(Box::from_raw(self.callback));
        }
    }
}

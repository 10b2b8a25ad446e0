//! libcertreg for Rust. Names and meanings are those of certreg.h, which is the manual; an empty
//! slice is a NULL of C. Methods that do not exist here are functions of [`c`].
pub mod c;
pub use c::{AlternativeResult, Certificate, Run, Serving};
use std::any::Any;
use std::collections::HashMap;
use std::ffi::CStr;
use std::mem::size_of;
use std::os::raw::{c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use std::slice::{from_raw_parts, from_raw_parts_mut, from_ref};
use std::sync::{Arc, Mutex};

pub const STATISTIC_HUBER: i32 = c::CERTREG_STATISTIC_HUBER; // the median, 0, is the default
pub const OUTCOME_ABSTAINED: i32 = c::CERTREG_OUTCOME_ABSTAINED; // nothing was proved

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
/// NULL for an empty array.
fn start<T>(of: &[T]) -> *const T {
    if of.is_empty() { null() } else { of.as_ptr() }
}
fn array<T>(name: &str, numbers: &[T], count: usize) -> Result<*const T, Error> {
    let n = numbers.len();
    if n == 0 || n == count {
        return Ok(start(numbers));
    }
    let text = format!("{name} has {n} numbers, not {count}");
    Err(Error { status: c::CERTREG_E_INVALID, text })
}

impl Certificate {
    /// Why it abstains, and what helps; empty if it does not.
    pub fn reason_text(&self) -> &'static str {
        let text = unsafe { CStr::from_ptr(c::certreg_reason_text(self.reason)) };
        text.to_str().unwrap_or_default()
    }
}

macro_rules! without_pointers {
    ($($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $type:ty,)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name { $($(#[$of])* pub $field: $type,)* }
        impl $name {
            fn to_c(&self) -> c::$name {
                c::$name { $($field: self.$field,)* ..c::$name::default() }
            }
        }
    )* };
}
without_pointers! {
    /// What costs memory or fixes the noise.
    Plan {
        constraints: u32, seed: u64, max_samples: usize, pilot: usize, blocks: usize, flags: u32,
        /// By default 1, which asks the model again for some samples; with 0 the premise is not
        /// tested.
        audit: u32,
    }
    /// What else determines the memory of a [`Queue`].
    QueuePlan { flags: u32, capacity: usize, questions: usize, sets: usize, alternatives: usize, }
    /// How a queue samples an input.
    QueueInput {
        tag: u64, sigma: f64, noise_id: u64, level: u64, samples: usize, at_radius: f64,
        seconds: f64,
    }
}
impl Plan {
    pub fn new(max_samples: usize) -> Self {
        Self { max_samples, audit: c::CERTREG_AUDIT_DEFAULT, ..Self::default() }
    }
}

/// A radius at which sampling stops.
#[derive(Clone, Debug, Default)]
pub struct Target {
    pub radius: f64,
    pub looks: Vec<u64>,
    pub growth: f64,
}
impl Target {
    fn to_c(&self) -> c::Target {
        let look_count = self.looks.len().min(u32::MAX as usize) as u32;
        let (radius, looks, growth) = (self.radius, start(&self.looks), self.growth);
        c::Target { look_count, radius, looks, growth, ..c::Target::default() }
    }
}

/// A question about the record: by default about the median.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub output: i32,
    pub tolerance: f64,
    pub alpha: f64,
    pub statistic: i32,
    pub method: i32,
    pub huber_width: f64,
    pub center: i32,
    pub constraints: u32,
    pub bonferroni: u64,
    /// Empty: chosen from the pilot.
    pub prediction: Vec<f64>,
    pub target: Option<Target>,
    pub serving: Option<Serving>,
    pub output_count: usize,
    pub relative_tolerance: f64,
}
impl Question {
    pub fn new(tolerance: f64) -> Self {
        Self { tolerance, ..Self::default() }
    }
    fn to_c(&self, target: &Option<c::Target>, serving: &Option<Serving>) -> c::Question {
        c::Question {
            output: self.output, tolerance: self.tolerance, alpha: self.alpha,
            statistic: self.statistic, method: self.method, huber_width: self.huber_width,
            center: self.center, constraints: self.constraints, bonferroni: self.bonferroni,
            prediction: start(&self.prediction), prediction_count: self.prediction.len(),
            target: target.as_ref().map_or(null(), |it| it),
            serving: serving.as_ref().map_or(null(), |it| it),
            output_count: self.output_count, relative_tolerance: self.relative_tolerance,
            ..c::Question::default()
        }
    }
}

/// A closure and its shape. An empty scale means that all are 1, no kind that all outputs are
/// numbers, and an empty lo or hi that there is no such limit.
pub struct Model<'a, F> {
    pub inputs: usize,
    pub outputs: usize,
    pub batch: usize,
    pub scale: &'a [f32],
    pub kind: &'a [i32],
    pub lo: &'a [f64],
    pub hi: &'a [f64],
    pub f: Option<F>,
}
impl<F: FnMut(&[f32], &mut [f32])> Model<'_, F> {
    /// `f(x, y)` reads `batch` rows (0: 256) of `inputs` numbers, and writes the outputs of each,
    /// two columns for an angle pair. What it does not write is NaN, which `certify` refuses.
    pub fn new(inputs: usize, f: F) -> Self {
        Self { inputs, outputs: 1, batch: 0, scale: &[], kind: &[], lo: &[], hi: &[], f: Some(f) }
    }
}
impl Model<'_, fn(&[f32], &mut [f32])> {
    /// Without a closure: take inputs by `draw`, and return their outputs by `record`.
    pub fn by_hand(inputs: usize) -> Self {
        Self { f: None, ..Self::new(inputs, |_, _| ()) }
    }
}

struct Callback<F> {
    f: Option<F>,
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
    let f = &mut callback.f;
    let panic = catch_unwind(AssertUnwindSafe(|| f.as_mut().map(|f| f(x, y)))).err();
    let failed = panic.is_some();
    callback.panic = callback.panic.take().or(panic); // a queue may call again after a failure
    failed as c_int
}

type ErrorOf<H> = unsafe extern "C" fn(*const H) -> *const c::Error;
type Does<H> = unsafe extern "C" fn(*mut H); // cancel, destroy

struct Pointer<H>(*mut H, Does<H>);
unsafe impl<H> Send for Pointer<H> {} // any thread may use a handle, one at a time

/// Stops the running or next call of its handle that samples, from any thread.
pub struct Cancel<H = c::Estimator>(Mutex<Pointer<H>>); // NULL once the handle is gone
impl<H> Cancel<H> {
    pub fn cancel(&self) {
        let handle = self.0.lock().unwrap();
        unsafe { handle.1(handle.0) }
    }
}

/// A handle of C with its model: an [`Estimator`] or a [`Queue`].
pub struct Handle<H, F> {
    handle: *mut H,
    error: ErrorOf<H>,
    destroy: Does<H>,
    inputs: usize,
    outputs: usize,
    columns: usize,
    callback: *mut Callback<F>, // of a Box; the library keeps this address
    cancel: Arc<Cancel<H>>,
    open: HashMap<u64, Alternatives>, // by tag: a queue reads them until its result is taken
}
unsafe impl<H, F: Send> Send for Handle<H, F> {}

impl<H, F: FnMut(&[f32], &mut [f32])> Handle<H, F> {
    fn create(
        model: Model<F>, (error, cancel, destroy): (ErrorOf<H>, Does<H>, Does<H>),
        create: impl FnOnce(*const c::Model, *mut c::Error, *mut *mut H) -> i32,
    ) -> Result<Self, Error> {
        let Model { inputs, outputs, batch, .. } = model;
        let pairs = model.kind.iter().filter(|&&kind| kind == c::CERTREG_OUTPUT_ANGLE_PAIR);
        let columns = outputs + pairs.count();
        let mut shape = c::Model {
            inputs, outputs, batch,
            scale: array("model.scale", model.scale, inputs)?,
            kind: array("model.kind", model.kind, outputs)?,
            lo: array("model.lo", model.lo, outputs)?,
            hi: array("model.hi", model.hi, outputs)?,
            ..c::Model::default()
        };
        if model.f.is_some() {
            shape.eval = Some(eval::<F>);
        }
        let callback = Box::into_raw(Box::new(Callback { f: model.f, panic: None }));
        shape.user = callback as *mut c_void;
        let cancel = Arc::new(Cancel(Mutex::new(Pointer(null_mut(), cancel))));
        let (handle, open) = (null_mut(), HashMap::new());
        let mut made =
            Self { handle, error, destroy, inputs, outputs, columns, callback, cancel, open };
        let mut why = c::Error::default();
        let status = create(&shape, &mut why, &mut made.handle);
        made.cancel.0.lock().unwrap().0 = made.handle;
        check(status, &why).map(|()| made)
    }
    /// Calls a function of C that has no method here. If the model panics, so does this; the
    /// samples before it stay, and the next call goes on from there.
    /// # Safety
    /// `f` keeps the rules of certreg.h, and does not destroy the handle.
    pub unsafe fn call(&mut self, f: impl FnOnce(*mut H) -> i32) -> Result<(), Error> {
        let status = f(self.handle);
        if let Some(panic) = (*self.callback).panic.take() {
            resume_unwind(panic);
        }
        check(status, &*(self.error)(self.handle))
    }
    /// Calls with the questions as C reads them.
    fn ask(
        &mut self, questions: &[Question], call: impl FnOnce(*mut H, *const c::Question) -> i32,
    ) -> Result<(), Error> {
        let struct_size = size_of::<Serving>() as u32;
        let targets: Vec<_> =
            questions.iter().map(|q| q.target.as_ref().map(Target::to_c)).collect();
        let servings: Vec<_> =
            questions.iter().map(|q| q.serving.map(|s| Serving { struct_size, ..s })).collect();
        let pointed = targets.iter().zip(&servings);
        let asked: Vec<_> =
            questions.iter().zip(pointed).map(|(q, (to, by))| q.to_c(to, by)).collect();
        unsafe { self.call(|handle| call(handle, start(&asked))) }
    }
    /// For other threads, and for the closure.
    pub fn cancel_handle(&self) -> Arc<Cancel<H>> {
        self.cancel.clone()
    }
}
impl<H, F> Drop for Handle<H, F> {
    fn drop(&mut self) {
        self.cancel.0.lock().unwrap().0 = null_mut();
        unsafe {
            (self.destroy)(self.handle);
            drop(Box::from_raw(self.callback));
        }
    }
}

/// Samples a model. It serves any number of inputs, one after the other.
pub type Estimator<F> = Handle<c::Estimator, F>;

impl<F: FnMut(&[f32], &mut [f32])> Estimator<F> {
    pub fn new(model: Model<F>, plan: &Plan) -> Result<Self, Error> {
        let plan = plan.to_c();
        let by: (ErrorOf<_>, Does<_>, Does<_>) =
            (c::certreg_estimator_error, c::certreg_estimator_cancel, c::certreg_estimator_destroy);
        Self::create(model, by, |model, why, out| unsafe {
            c::certreg_estimator_create(null_mut(), model, &plan, why, out)
        })
    }
    /// Starts a new input.
    pub fn begin(&mut self, z: &[f32], sigma: f64, noise_id: u64) -> Result<(), Error> {
        let z = array("z", z, self.inputs)?; // empty: NULL, which is refused
        unsafe { self.call(|e| c::certreg_estimator_begin(e, z, sigma, noise_id)) }
    }
    /// Returns CERTREG_DEPENDENCE_...
    pub fn model_check(&mut self, rows: usize) -> Result<i32, Error> {
        let mut found = 0;
        unsafe { self.call(|e| c::certreg_model_check(e, rows, &mut found)) }.map(|()| found)
    }
    /// Samples until there are `total`, and answers.
    pub fn certify(&mut self, total: usize, question: &Question) -> Result<Certificate, Error> {
        self.certify_all(total, from_ref(question)).map(|answers| answers[0])
    }
    /// If one of the questions fails, ask the others again, with a total of 0.
    pub fn certify_all(
        &mut self, total: usize, questions: &[Question],
    ) -> Result<Vec<Certificate>, Error> {
        self.answers(questions, |e, q, n, out| unsafe { c::certreg_certify(e, total, q, n, out) })
    }
    /// One radius for all outputs: the certificate of each question, and that of all together.
    pub fn certify_outputs(
        &mut self, total: usize, questions: &[Question],
    ) -> Result<(Vec<Certificate>, Certificate), Error> {
        let mut all = Certificate::default();
        self.answers(questions, |e, q, n, out| unsafe {
            c::certreg_certify_outputs(e, total, q, n, out, &mut all)
        })
        .map(|each| (each, all))
    }
    /// Bounds of the statistic within a radius, as `output_lo` and `output_hi`.
    pub fn output_bounds(
        &mut self, total: usize, question: &Question, radius: f64,
    ) -> Result<Certificate, Error> {
        self.answers(from_ref(question), |e, q, n, out| unsafe {
            c::certreg_output_bounds(e, total, q, n, radius, out)
        })
        .map(|answers| answers[0])
    }
    fn answers(
        &mut self, questions: &[Question],
        ask: impl FnOnce(*mut c::Estimator, *const c::Question, usize, *mut Certificate) -> i32,
    ) -> Result<Vec<Certificate>, Error> {
        let count = questions.len();
        let mut out = vec![Certificate::default(); count.max(1)]; // 0 is refused, by reading one
        let to = out.as_mut_ptr();
        self.ask(questions, |e, asked| ask(e, asked, count, to)).map(|()| out)
    }
    /// The prediction that a question is about: a number for each output of a vector.
    pub fn prediction(&mut self, question: &Question) -> Result<Vec<f64>, Error> {
        self.values(question, c::certreg_estimator_prediction)
    }
    /// The statistic of all noisy samples, which a server returns.
    pub fn estimate(&mut self, question: &Question) -> Result<Vec<f64>, Error> {
        self.values(question, c::certreg_estimator_estimate)
    }
    fn values(
        &mut self, question: &Question,
        f: unsafe extern "C" fn(*mut c::Estimator, *const c::Question, *mut f64) -> i32,
    ) -> Result<Vec<f64>, Error> {
        let mut out = vec![0.0; self.outputs];
        let to = out.as_mut_ptr();
        self.ask(from_ref(question), |e, q| unsafe { f(e, q, to) })?;
        if question.output >= 0 {
            out.truncate(question.output_count.max(1));
        }
        Ok(out)
    }
    /// Records samples from `first` on.
    pub fn sample(&mut self, first: u64, count: usize) -> Result<(), Error> {
        unsafe { self.call(|e| c::certreg_estimator_sample(e, first, count)) }
    }
    /// Fills x with the noisy inputs of samples from `first` on, row by row.
    pub fn draw(&mut self, first: u64, x: &mut [f32]) -> Result<(), Error> {
        let count = x.len() / self.inputs;
        array("x", x, count * self.inputs)?;
        unsafe { self.call(|e| c::certreg_estimator_draw(e, first, count, x.as_mut_ptr())) }
    }
    /// Takes the outputs of samples from `first` on, row by row.
    pub fn record(&mut self, first: u64, y: &[f32]) -> Result<(), Error> {
        let count = y.len() / self.columns;
        let y = array("y", y, count * self.columns)?;
        unsafe { self.call(|e| c::certreg_estimator_record(e, first, count, y)) }
    }
    /// The record as bytes, which contain the seed.
    pub fn export(&mut self) -> Result<Vec<u8>, Error> {
        let mut size = 0;
        unsafe { self.call(|e| c::certreg_estimator_export(e, null_mut(), &mut size)) }?;
        let mut bytes = vec![0u8; size];
        let to = bytes.as_mut_ptr() as *mut c_void;
        unsafe { self.call(|e| c::certreg_estimator_export(e, to, &mut size)) }.map(|()| bytes)
    }
    /// Adds what `export` returned, of an estimator with the same seed.
    pub fn import(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let from = start(bytes) as *const c_void;
        unsafe { self.call(|e| c::certreg_estimator_import(e, from, bytes.len())) }
    }
    /// In seconds from now on; infinite: none.
    pub fn set_deadline(&mut self, seconds: f64) -> Result<(), Error> {
        unsafe { self.call(|e| c::certreg_estimator_set_deadline(e, seconds)) }
    }
    /// Facts about the current input.
    pub fn info(&mut self) -> Result<Run, Error> {
        let mut run = Run::default();
        unsafe { self.call(|e| c::certreg_estimator_info(e, &mut run)) }.map(|()| run)
    }
}

/// Changed inputs that the certificate of an input is also about. See certreg/queue.h.
#[derive(Clone, Debug, Default)]
pub struct Alternatives {
    /// `inputs` numbers for each.
    pub z: Vec<f32>,
    /// Empty: all are 0.
    pub margins: Vec<f64>,
    pub first_noise_id: u64,
    pub watch: u32,
    pub estimate_all: bool,
}
impl Alternatives {
    fn to_c(&self, inputs: usize) -> Result<c::Alternatives, Error> {
        let count = self.z.len() / inputs;
        Ok(c::Alternatives {
            count: count.min(u32::MAX as usize) as u32,
            z: array("alternatives.z", &self.z, count * inputs)?,
            margins: array("alternatives.margins", &self.margins, count)?,
            first_noise_id: self.first_noise_id, watch: self.watch,
            estimate_all: self.estimate_all as u32,
            ..c::Alternatives::default()
        })
    }
}

/// The result of an input with the given tag, with a certificate for each question.
#[derive(Clone, Debug)]
pub struct QueueResult {
    pub tag: u64,
    pub certificates: Result<Vec<Certificate>, Error>,
    /// For each question: the alternative that limits the radius, or has failed.
    pub limiting: Vec<u32>,
    /// Of the input itself, then of each alternative: for each question.
    pub alternatives: Vec<AlternativeResult>,
    pub proved: u64,
}

/// Many inputs that share calls of a model, and inputs with alternatives. See certreg/queue.h.
pub type Queue<F> = Handle<c::Queue, F>;

impl<F: FnMut(&[f32], &mut [f32])> Queue<F> {
    pub fn new(model: Model<F>, plan: &Plan, queued: &QueuePlan) -> Result<Self, Error> {
        let (plan, queued) = (plan.to_c(), queued.to_c());
        let by: (ErrorOf<_>, Does<_>, Does<_>) =
            (c::certreg_queue_error, c::certreg_queue_cancel, c::certreg_queue_destroy);
        Self::create(model, by, |model, why, out| unsafe {
            c::certreg_queue_create(null_mut(), model, &plan, &queued, why, out)
        })
    }
    /// Adds an input. Returns false if the queue is full: run, or take a result.
    pub fn add(
        &mut self, of: &QueueInput, z: &[f32], questions: &[Question],
        alternatives: Option<&Alternatives>,
    ) -> Result<bool, Error> {
        let kept = alternatives.cloned();
        let set = kept.as_ref().map(|it| it.to_c(self.inputs)).transpose()?;
        let mut input = c::QueueInput {
            z: array("z", z, self.inputs)?,
            count: questions.len(),
            alternatives: set.as_ref().map_or(null(), |it| it),
            ..of.to_c()
        };
        let mut full = 0;
        self.ask(questions, |q, asked| {
            input.questions = asked;
            unsafe { c::certreg_queue_add(q, &input, &mut full) }
        })?;
        if let (0, Some(kept)) = (full, kept) {
            self.open.insert(of.tag, kept);
        }
        Ok(full == 0)
    }
    /// Calls the model until a result is ready, or nothing is left to compute. If the model
    /// panics, the inputs of its call fail, and so does this; the next call goes on.
    pub fn run(&mut self) -> Result<(), Error> {
        unsafe { self.call(|q| c::certreg_queue_run(q)) }
    }
    /// Takes a result, in the order in which inputs are decided, or nothing if none is ready.
    pub fn take(&mut self) -> Result<Option<QueueResult>, Error> {
        let mut r = c::QueueResult::default();
        let sizes = unsafe { self.call(|q| c::certreg_queue_take(q, &mut r)) }; // without room
        if r.count == 0 {
            return sizes.map(|()| None);
        }
        let (room, alternative_room) = (r.count, r.alternative_count);
        let mut certificates = vec![Certificate::default(); room];
        let mut limiting = vec![0; room];
        let mut alternatives = vec![AlternativeResult::default(); alternative_room];
        let mut why = c::Error::default();
        r = c::QueueResult {
            room, alternative_room, error: &mut why, certificates: certificates.as_mut_ptr(),
            limiting: limiting.as_mut_ptr(), alternatives: alternatives.as_mut_ptr(),
            ..c::QueueResult::default()
        };
        unsafe { self.call(|q| c::certreg_queue_take(q, &mut r)) }?;
        self.open.remove(&r.tag);
        let certificates = check(r.status, &why).map(|()| certificates);
        Ok(Some(QueueResult { tag: r.tag, certificates, limiting, alternatives, proved: r.proved }))
    }
}

/** @file certreg.h
 * libcertreg: certified robustness radii for noise-smoothed regression.  Version 0.1.0
 *
 * Your model f maps d floats to a number. The smoothed model T(z) is the median (by
 * default) of f(z + sigma*noise) over Gaussian noise. For an input z and a tolerance
 * the library returns a prediction and a radius such that
 *
 *     |T(z + delta) - prediction| < tolerance   for every delta with ||delta|| < radius
 *
 * The statement is wrong with probability at most alpha (default 0.05) over the noise
 * that the library draws. It holds at any number of samples that is fixed beforehand,
 * and for any output distribution. The library only calls the model; it needs no
 * gradient and no range of its outputs.
 *
 *     #include <certreg/certreg.h>
 *     #include <stdio.h>
 *     static int model(void *user, const certreg_batch *b)  // y = x0 + x1*x2, each row
 *     {
 *         for (size_t i = 0; i < b->rows; i++)
 *             b->y[i] = b->x[3*i] + b->x[3*i + 1] * b->x[3*i + 2];
 *         return 0;
 *     }
 *     int main(void)
 *     {
 *         const float z[3] = {1, 0.5f, -0.25f};
 *         certreg_model m = {.struct_size = sizeof m, .eval = model,
 *                            .inputs = 3, .outputs = 1};
 *         certreg_plan p = {.struct_size = sizeof p, .max_samples = 10000, .seed = 42};
 *         certreg_question q = {.struct_size = sizeof q, .tolerance = 0.5};
 *         certreg_certificate c = {.struct_size = sizeof c};
 *         certreg_error why = {.struct_size = sizeof why};
 *         certreg_estimator *e;
 *         if (certreg_estimator_create(NULL, &m, &p, &why, &e)) // once
 *             return puts(why.text), 1;
 *         if (certreg_estimator_begin(e, z, 0.25, 0)            // per input, sigma
 *             || certreg_certify(e, 10000, &q, 1, &c))          // runs the model
 *             return puts(certreg_estimator_error(e)->text), 1;
 *         if (c.outcome != CERTREG_OUTCOME_ABSTAINED)
 *             printf("%g, radius %g\n", c.prediction, c.radius);
 *         certreg_estimator_destroy(e);
 *     }
 *
 * That is the whole default case. Compile it with pkg-config --cflags --libs certreg.
 * Zero every struct, then set struct_size and what you change. Order of this file:
 *     1 model and plan   2 estimator   3 questions and certificates   4 errors
 *     5 optional questions             6 sampling by hand, records, deadlines
 *     7 CPU threads, CUDA              8 what a program keeps
 *     9 rules for structs, threads, memory, numbers
 * Sections 1 to 4 are enough for most programs. <certreg/solver.h> goes from bounds to
 * a radius without a model; <certreg/certreg.hpp> is for C++. "Source theory 5" names a
 * section of docs/theory. Zhang and Frank, "Higher-Order Certified Robustness for
 * Regression" (ICML 2026), is called the paper. All functions are there since 0.1.
 */
#ifndef CERTREG_H
#define CERTREG_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#ifndef CERTREG_API /* what marks exported functions; define it for other compilers */
#if defined(__GNUC__)
#define CERTREG_API __attribute__((visibility("default")))
#else
#define CERTREG_API
#endif
#endif

#define CERTREG_VERSION_NUMBER 100 /* 10000*major + 100*minor + patch */

typedef int32_t certreg_status; /* CERTREG_OK or CERTREG_E_... */
typedef struct certreg_error certreg_error;
typedef struct certreg_backend certreg_backend;     /* section 7; NULL: one thread */
typedef struct certreg_estimator certreg_estimator; /* section 2 */

/* ==== 1 model and plan ============================================================ */

/** One call of the model. The library owns it; it is valid during the call. On a CUDA
 *  device x and y are aligned to 256 bytes. x has one of two addresses, so keep a
 *  captured graph for each; y has always the same. */
typedef struct certreg_batch {
    uint32_t struct_size;
    int32_t device; /* -1: x, y are host memory; >= 0: memory of this CUDA device */
    size_t rows;    /* always model.batch */
    size_t inputs;  /* columns of x */
    size_t columns; /* columns of y: one per output, two per ..._ANGLE_PAIR */
    uint64_t first; /* sample index of row 0, a multiple of model.batch */
    /* Rows used_first .. used_first+used_count-1 are recorded; the model may leave out
     * the others. */
    size_t used_first, used_count;
    const float *x; /* rows*inputs, row-major, 64-byte aligned */
    float *y;       /* rows*columns, row-major. Filled with NaN before the call, so that
                       a row left out is noticed */
    /* CUDA: enqueue here; no need to synchronise. This stream must wait, by an event,
     * for work on other streams. NULL on the CPU. */
    void *stream;
} certreg_batch;

/** The model reads batch->x, writes batch->y and returns 0. Any other value stops
 *  sampling with CERTREG_E_MODEL_FAILED. A row of y may depend on its row of x only. A
 *  random model needs randomness that is independent from sample to sample. Sample i is
 *  always row i % batch of its batch, so results do not depend on how sampling was cut
 *  into calls. */
typedef int (*certreg_eval)(void *user, const certreg_batch *batch);

/* Kinds of outputs. */
enum certreg_output_kind {
    CERTREG_OUTPUT_REAL = 0,  /* a number */
    CERTREG_OUTPUT_ANGLE = 1, /* wrapped into the turn [lo, hi), by default [-pi, pi) */
    CERTREG_OUTPUT_ANGLE_PAIR = 2 /* two columns (cos, sin), up to a positive factor;
                                     recorded as the angle in [lo, hi), with angle 0 at
                                     (1, 0) */
};

/** The model and its shape. Create copies the arrays. Scale and sigma must be the same
 *  for all inputs of a deployment, or T is not one function. */
typedef struct certreg_model {
    uint32_t struct_size;
    int32_t reserved;  /* 0 */
    certreg_eval eval; /* NULL: the program only uses draw and record (section 6) */
    void *user;        /* passed to eval */
    size_t inputs;     /* d, at least 1 */
    size_t outputs;    /* at least 1 */
    size_t batch;      /* rows per call; 0: 256 */
    /* inputs numbers >= 0: feature j has noise sigma*scale[j]. NULL: all 1. A scale of
     * 0: no noise, and changes to the feature are not covered. */
    const float *scale;
    const int32_t *kind; /* outputs CERTREG_OUTPUT_...; NULL: all REAL */
    /* outputs numbers each: range of each output, or the turn of an angle; NULL:
     * infinite. An output outside stops sampling with CERTREG_E_OUT_OF_RANGE. */
    const double *lo, *hi;
} certreg_model;

/* Constraints: what is known about a scalar function f under the noise sigma*D*e, where
 * D = diag(model.scale) and e is standard normal */
enum certreg_constraint {
    CERTREG_CONSTRAINT_MEAN = 1,          /* E f */
    CERTREG_CONSTRAINT_VARIANCE = 2,      /* E (f - E f)^2 */
    CERTREG_CONSTRAINT_GRADIENT = 4,      /* ||E[f e]|| = sigma ||D grad E f|| */
    CERTREG_CONSTRAINT_RANGE = 8,         /* lo <= f <= hi */
    CERTREG_CONSTRAINT_SECOND_ORDER = 16, /* ||E[f (e e' - I)]||/sqrt 2 */
    /* Second moment about a point fixed beforehand. It comes with mean and variance:
     * never name it. */
    CERTREG_CONSTRAINT_MOMENT = 32,
    /* Sets of constraints, by the paper's letters: the variance */
    CERTREG_CONSTRAINTS_C = 2,
    CERTREG_CONSTRAINTS_CG = 6,     /* variance, gradient */
    CERTREG_CONSTRAINTS_ECM = 11,   /* mean, variance, range: the plan's default */
    CERTREG_CONSTRAINTS_ECGM = 15,  /* these and the gradient */
    CERTREG_CONSTRAINTS_ECGHM = 31, /* these, the gradient and the second order */
    /* Of questions only, and alone: the set with the longest radius by the pilot's
     * forecast. See "Constraints by the pilot". */
    CERTREG_CONSTRAINTS_BY_PILOT = 1073741824 /* 1 << 30: no bit of a constraint */
};

/* plan.flags */
enum certreg_plan_flag {
    /* An output that is NaN or infinite does not stop sampling: it counts as the worst
     * value on both sides. The mean then abstains. */
    CERTREG_PLAN_COUNT_FAILURES = 1
};

/** What costs memory or fixes the noise. */
typedef struct certreg_plan {
    uint32_t struct_size;
    /* Constraints that questions may use. 0: mean, variance, range, which are always
     * there. The gradient and the second order take memory and have to be named. */
    uint32_t constraints;
    /* Of the noise. The default, 0, is public: set a secret value wherever an adversary
     * can choose z. */
    uint64_t seed;
    size_t max_samples; /* most samples of one input, pilot included; required */
    /* The first samples choose predictions and scales; only CERTREG_METHOD_PAPER uses
     * them in bounds. Sample 0 is then the noise-free output f(z). 0: the first call
     * that samples fixes the pilot of this input, at 15% of certify's total_samples, or
     * of max_samples where sample, draw or record comes first. SIZE_MAX: no pilot, and
     * every question gives its prediction. Other values: below max_samples. */
    size_t pilot;
    /* Of the gradient's asymptotic interval: 64 to 65536; 0: 64. It leaves out the last
     * (samples - pilot) % blocks samples. */
    size_t blocks;
    /* After each batch; non-zero: cancel. May be NULL. */
    int (*progress)(void *user, uint64_t done, uint64_t total);
    void *progress_user; /* passed to progress */
    void *memory;        /* 64-byte aligned, outlives the estimator; NULL: allocate */
    size_t memory_bytes; /* at least certreg_estimator_size */
    uint32_t flags;      /* CERTREG_PLAN_... */
    uint32_t reserved;   /* 0 */
    /* Most memory of the second order; 0: 256 MiB. It takes about 4*(2*512 + 1)*inputs
     * bytes + 1 MiB, less where that is too much, and 4*inputs^2 more where inputs <=
     * max_samples/4. */
    size_t second_order_bytes;
} certreg_plan;

/* ==== 2 estimator ================================================================= */

/** Bytes of an estimator for this model and plan: about (batch + 4)*inputs*4 +
 *  batch*columns*4 + 60 KiB, and the record, 4 bytes per sample and output. With the
 *  gradient about (batch + 4*blocks + 5)*inputs*4 + batch*columns*4 + 128 KiB, 24 bytes
 *  per sample, and the record. With a device these are host bytes, without the terms in
 *  batch*inputs and blocks*inputs.
 *  @param backend  NULL: the CPU
 *  @return as certreg_estimator_create; *bytes is 0 on failure */
CERTREG_API certreg_status certreg_estimator_size(
    certreg_backend *backend, const certreg_model *, const certreg_plan *,
    size_t *bytes);

/** Its bytes on the device; 0 on the CPU. About 2*batch*inputs*4 + batch*columns*4;
 *  with the gradient (2*batch + 4*blocks + 5)*inputs*4 + batch*columns*4, 24 per sample
 *  and 8*blocks^2; and the second order as on the CPU. Create takes them all.
 *  @return as certreg_estimator_create; *bytes is 0 on failure */
CERTREG_API certreg_status certreg_estimator_device_size(
    certreg_backend *backend, const certreg_model *, const certreg_plan *,
    size_t *bytes);

/** Makes an estimator. It serves any number of inputs, one after the other, and never
 *  allocates again.
 *  @param why  receives the error, or NULL
 *  @return CERTREG_OK; CERTREG_E_INVALID naming the field; CERTREG_E_NO_MEMORY;
 *          CERTREG_E_SMALL_MEMORY; CERTREG_E_VERSION; CERTREG_E_NO_BACKEND (the second
 *          order on the CPU, without OpenBLAS or its module); CERTREG_E_DEVICE_FAILED
 *  @par Memory one block from malloc, or none with plan.memory; and one on the device
 *       of a CUDA backend */
CERTREG_API certreg_status certreg_estimator_create(
    certreg_backend *backend, const certreg_model *, const certreg_plan *,
    certreg_error *why, certreg_estimator **out);

/** Frees it. NULL is allowed. Caller's memory stays the caller's. */
CERTREG_API void certreg_estimator_destroy(certreg_estimator *);

/** Starts a new input: empties the record and the error.
 *  @param z         inputs finite floats in host memory, copied
 *  @param sigma     noise level > 0. sigma*scale[j] must be at least 1024 units in the
 *                   last place of z[j], or float32 would swallow the noise
 *  @param noise_id  names the noise of this input (its index, or the control tick). Use
 *                   a new one per input wherever certificates must be independent or a
 *                   prediction is carried over. Beginning the same one again to put
 *                   another question is a second try, which the library cannot notice
 *  @return CERTREG_OK; CERTREG_E_INVALID naming the feature, or plan.max_samples if an
 *          input would take more than 2^46 numbers of noise */
CERTREG_API certreg_status certreg_estimator_begin(
    certreg_estimator *, const float *z, double sigma, uint64_t noise_id);

/* ==== 3 questions and certificates ================================================ */

/* question.statistic: which T is certified (theory 1, 7) */
enum certreg_statistic {
    CERTREG_STATISTIC_MEDIAN = 0,        /* usually the largest radius */
    CERTREG_STATISTIC_HUBER = 1,         /* needs question.huber_width */
    CERTREG_STATISTIC_MEAN = 2,          /* the paper's; takes angles as numbers */
    CERTREG_STATISTIC_CIRCULAR_MEAN = 3, /* of angles; tolerance: a quarter of a turn */
    /* Of serving.samples fresh outputs; with CERTREG_METHOD_BASELINE only; theory 9 */
    CERTREG_STATISTIC_TRIMMED_MEAN = 4,
    /* Of all outputs: center smoothing; with CERTREG_METHOD_BASELINE only; theory 9 */
    CERTREG_STATISTIC_BALL_CENTER = 5,
    /* Vectors only: medians along 6 or 15 axes, put together. See "Vectors" */
    CERTREG_STATISTIC_PROJECTION_MEDIAN = 6
};
/* question.method: how its bounds are found; see "Methods" below */
enum certreg_method {
    CERTREG_METHOD_FINITE = 0,     /* valid at a number of samples fixed beforehand */
    CERTREG_METHOD_ASYMPTOTIC = 1, /* NOT VALID against rare values */
    CERTREG_METHOD_PAPER = 2,      /* the paper's, for comparison only */
    CERTREG_METHOD_ANYTIME = 3,    /* valid at all numbers of samples together */
    CERTREG_METHOD_BASELINE = 4    /* the published certificate of this statistic, for
                                      comparison */
};
/* question.center: what the tolerance is measured from */
enum certreg_center {
    CERTREG_CENTER_PREDICTION = 0, /* |T(z + delta) - prediction| < tolerance */
    CERTREG_CENTER_TRUE_MEAN = 1   /* |T(z + delta) - T(z)| <= tolerance; of the mean */
};
/* question.output, other than the index of an output */
enum certreg_output_index {
    CERTREG_ALL_OUTPUTS = -1 /* all as one vector, in the 2-norm: see "Vectors" */
};
/* Outcomes. None is a failure. */
enum certreg_outcome {
    CERTREG_OUTCOME_ABSTAINED = 0, /* nothing proved: radius 0 */
    CERTREG_OUTCOME_CERTIFIED = 1, /* the radius, or the output bounds, are proved */
    CERTREG_OUTCOME_CAPPED = 2     /* the radius is 10 sigma, and more would hold */
};
/* Why sampling stopped. */
enum certreg_stop {
    CERTREG_STOP_ALL = 0,      /* all were taken; a target may be undecided */
    CERTREG_STOP_TARGET = 1,   /* every target is settled, at least one is proved */
    CERTREG_STOP_HOPELESS = 2, /* every target is ruled out by any further samples */
    CERTREG_STOP_DEADLINE = 3, /* the deadline stopped sampling, or this answer, which
                                  then claims nothing */
    CERTREG_STOP_CANCELLED = 4 /* by certreg_estimator_cancel or plan.progress */
};
/* Sides of a question; see certreg_estimator_bounds */
enum certreg_side {
    CERTREG_SIDE_NEAR_LOWER = -2, /* the circular mean is near: theory 7 */
    CERTREG_SIDE_LOWER = -1,      /* T > prediction - tolerance; or the mean's drop; or
                                     the one condition of a trimmed mean or a ball */
    CERTREG_SIDE_UPPER = 1,       /* T < prediction + tolerance; or the mean's rise */
    CERTREG_SIDE_NEAR_UPPER = 2,  /* likewise, at the other end */
    /* Of a served median, where the pilot allows one side more misses than the other
     * (theory 1.5): few outputs count on one side or the other. */
    CERTREG_SIDE_EITHER = 3,
    /* Likewise: few outputs count on both sides. They are those that fail, and an
     * angle's opposite the prediction. */
    CERTREG_SIDE_OPPOSITE = -3
};

/** Stop sampling once this radius is proved or ruled out. See section 5. */
typedef struct certreg_target {
    uint32_t struct_size;
    uint32_t look_count; /* 1 to 128; 0 with looks NULL */
    double radius;       /* > 0 */
    /* Ascending sample counts, pilot included, at which the record may be examined.
     * NULL: about every 10% more, in whole batches, and plan.max_samples. */
    const uint64_t *looks;
} certreg_target;

/** Certify what will be served, the statistic of fresh samples. See section 5. */
typedef struct certreg_serving {
    uint32_t struct_size;
    int32_t reserved;    /* 0 */
    size_t samples;      /* 1 to 1e9; odd is best for a median */
    double failure_rate; /* in (0, 0.5]: share of requests that may miss tolerance */
    /* CERTREG_STATISTIC_TRIMMED_MEAN only, else 0. Share of the fresh outputs that is
     * cut off at each end, in [0, 0.5). The number cut off at each end is
     * floor(trim*samples), computed in doubles: 70 for 0.35 and 200. */
    double trim;
    /* CERTREG_STATISTIC_TRIMMED_MEAN only, else 0. An output counts as near within this
     * distance of the prediction; at most the tolerance. 0: the tolerance. If the range
     * is declared, or for an angle, a smaller core lets more outputs be far. Otherwise
     * leave it 0. */
    double core;
} certreg_serving;

/** A question about the record. Zero everything but struct_size and tolerance: the
 *  default, the median with exact binomial bounds. Statistic, width, sigma and scale
 *  are constants of a deployment: chosen per input they make T(z) and T(z + delta)
 *  different functions. The library reads the pointers during the call only. */
typedef struct certreg_question {
    uint32_t struct_size;
    int32_t output;   /* index, or CERTREG_ALL_OUTPUTS */
    double tolerance; /* > 0, in output units; angles: below half a turn; means: at most
                         1e12 times the ends of the range, or 1e150 without one */
    /* Probability of a false certificate, up to 0.5; 0: 0.05. After division by
     * bonferroni at least 1e-300. */
    double alpha;
    int32_t statistic; /* CERTREG_STATISTIC_... */
    int32_t method;    /* CERTREG_METHOD_...; see "Methods" */
    /* HUBER: > 0, at most 1e6 tolerances, in output units, often half the tolerance;
     * else 0. */
    double huber_width;
    int32_t center; /* CERTREG_CENTER_... */
    /* CERTREG_CONSTRAINT_... to use; the plan must have them. 0: the default set of the
     * method; see "Methods". CERTREG_CONSTRAINTS_BY_PILOT: the pilot chooses. */
    uint32_t constraints;
    /* Guarantees that must hold together (inputs, questions): alpha is divided by it.
     * 0: 1; at most 2^53. */
    uint64_t bonferroni;
    /* NULL: chosen from the pilot. Else a finite number that does not depend on this
     * record, such as an earlier tick's estimate. */
    const double *prediction;
    const certreg_target *target;   /* see "Target radius"; NULL: none */
    const certreg_serving *serving; /* see "Serving"; NULL: about T itself */
    /* Number of values behind prediction. Vectors: one for each output. Others: 1, or
     * 0, which means 1. Must be 0 if prediction is NULL. */
    size_t prediction_count;
    /* Above 1: outputs output .. output+output_count-1 as one vector. See "Vectors".
     * Must be 0 with CERTREG_ALL_OUTPUTS. */
    size_t output_count;
} certreg_question;

/** The answer to one question. */
typedef struct certreg_certificate {
    uint32_t struct_size;
    certreg_status status; /* of this question; the others are answered all the same */
    int32_t outcome;       /* CERTREG_OUTCOME_... */
    int32_t stop;          /* CERTREG_STOP_... */
    double radius;         /* of ||D^-1 delta||_2, D = diag(scale); 0 unless proved */
    double prediction; /* what the certificate is about; TRUE_MEAN: the estimate. NaN
                          for a vector: see certreg_estimator_prediction */
    /* Of T(z), from all noisy samples; no guarantee. Without samples: the given
     * prediction, or NaN. NaN for a vector: see certreg_estimator_estimate */
    double estimate;
    /* T stays between these for all delta within the radius; infinite unless proved.
     * With serving, a served value does, except with probability failure_rate. An
     * angle's may lie beyond the turn: the arc from one to the other. */
    double output_lo, output_hi;
    /* The largest balls of these norms, in the input's units, within the certified
     * ellipsoid; features with scale 0 stay. The last is small in high dimension. */
    double radius_l1, radius_l2, radius_linf;
    double sigma, tolerance; /* given to begin; of the question */
    double alpha;      /* after division by bonferroni, and by the number of levels of
                          certreg_certify_sigmas */
    uint64_t samples;  /* in the record, pilot included */
    uint64_t noise_id; /* given to begin */
    uint64_t question; /* certreg_question_digest; 0 if the question cannot be read */
    int32_t output, statistic, method, center; /* output: of a group its first */
    uint32_t constraints;  /* used, by the condition that limits the radius */
    int32_t limiting_side; /* CERTREG_SIDE_... of that condition, also where it leaves
                              no radius; 0: no bounds were found, or output bounds */
} certreg_certificate;

/** Samples until the record has total_samples, then answers every question from the
 *  record. Each certificate holds with probability 1 - alpha on its own; see
 *  question.bonferroni for several together. Every question is checked before the model
 *  is called. The total must not depend on the outputs of this record: see "Evaluating
 *  a record again".
 *  @param total_samples  pilot included; 0: only answer. Recorded samples are kept
 *  @param questions      count elements, stepped by questions[0].struct_size
 *  @param out            count elements, stepped by out[0].struct_size; always written
 *  @return CERTREG_OK, also for an abstention, a cap and an early stop. Else the first
 *          failure: one of certreg_estimator_sample (no question is answered then), or
 *          CERTREG_E_INVALID or CERTREG_E_WRONG_STATE of a question (the others are
 *          answered)  @par Source theory 1, 5.2, 6, 7 */
CERTREG_API certreg_status certreg_certify(
    certreg_estimator *, size_t total_samples, const certreg_question *questions,
    size_t count, certreg_certificate *out);

/* Methods
 *  FINITE      Valid at every number of samples that was fixed beforehand, for any
 *              output distribution (theory 6). Median: exact binomial bounds, all of
 *              alpha for each side; alpha/2 with the gradient. Other statistics:
 *              betting bounds of the mean and the second moment; the mean needs
 *              model.lo and model.hi. Constraints 0: mean, variance, range; name the
 *              gradient to use it. Keep this default.
 *  ANYTIME     Valid at all numbers of samples together: look whenever, stop for any
 *              reason, go on with more. Costs some per cent of radius against FINITE.
 *              Has no gradient. Median: a mixture of likelihood ratios; others: betting
 *              (theory 6). The answer does not depend on model.batch.
 *  ASYMPTOTIC  Normal approximations (theory 5.1): alpha/4 for the mean, alpha/4 for
 *              the variance, alpha/2 for the gradient; median: alpha/2 exact binomial,
 *              alpha/2 gradient; a second order takes 0.2 alpha of the gradient's
 *              share. Constraints 0: mean, variance, range, and the gradient and the
 *              second order where the plan has them. NOT VALID against rare values or
 *              heavy tails: a jump of probability 1e-4 on top of ordinary scatter is
 *              missed 37% of the time at 10,000 samples, the variance of exp(2 e), e
 *              standard normal, 48% of the time at 1,000 samples and alpha 0.05. Where
 *              fewer scores than blocks differ from the most common one, the mean is
 *              bounded by counting, without variance and gradient.
 *  PAPER       The paper's formulas, one misprint corrected, with the mean taken as
 *              known: alpha/2 each for the two-sided intervals of variance and
 *              gradient; all of alpha for the variance without the gradient. Mean and
 *              CERTREG_CENTER_TRUE_MEAN only. Constraints 0: mean, variance, gradient,
 *              range. It uses the pilot's samples too. Its coverage is not what it says
 *              (theory 10).
 *  BASELINE    The published certificate of the statistic, for comparison. See
 *              "Baselines" below.
 *
 * Baselines (CERTREG_METHOD_BASELINE)
 *  Certificates of other authors, for comparison, with exact binomial bounds at a
 *  fixed number of samples (theory 9). They guarantee different things. Set
 *  question.constraints to 0; certificate.constraints is then MEAN and RANGE, of the
 *  score. They have no target and no output bounds, and CERTREG_CENTER_PREDICTION
 *  only.
 *  MEDIAN        Median smoothing. T as with FINITE, alpha/2 for each side. The
 *                prediction is the pilot's median. For an angle T is the median on
 *                the circle cut opposite the prediction. Nothing is proved about a
 *                server that cuts elsewhere.
 *  TRIMMED_MEAN  alpha-smoothing; with trim 0, RS-Reg. For each fixed delta with
 *                ||D^-1 delta|| < radius, the trimmed mean of serving.samples fresh
 *                outputs misses the tolerance with probability at most
 *                serving.failure_rate. The prediction is f(z). An angle counts as
 *                its arc from the prediction, which the server has to know.
 *  BALL_CENTER   Center smoothing, of all outputs (REAL) in the 2-norm. T is the
 *                center of any ball that has at least half of the outputs and at
 *                most twice the least possible radius. Then ||T(z + delta) -
 *                prediction|| <= tolerance. With serving, T is computed from the
 *                fresh outputs. The prediction is an output of the pilot.
 *
 * Constraints by the pilot (CERTREG_CONSTRAINTS_BY_PILOT)
 *  From the pilot the library forecasts the radius that each set of constraints
 *  would give with plan.max_samples samples, and uses the set with the longest.
 *  Pilot samples enter no bound, so the certificate holds with all of alpha, as if
 *  its set had been named (theory 5.1). The sets are the default and, if the plan
 *  has the gradient, the default with or without it. For the mean with FINITE also C
 *  and CG. With ASYMPTOTIC the second order may be left out as well, but only the
 *  median may leave out the gradient. The choice depends only on the pilot, the plan
 *  and the question, so it is the same at every number of samples.
 *  certificate.constraints tells what was used.
 *  The default is used with ANYTIME, with a target, for vectors, for
 *  output bounds, and if the pilot has fewer than 2*plan.blocks noisy samples. PAPER
 *  and BASELINE refuse the choice. The statistic cannot be chosen this way, because
 *  z and z + delta could then have different smoothed models.
 *
 * Evaluating a record again
 *  ANYTIME questions, and questions with a target, are answered at any number of
 *  samples. All others are answered only at a number of samples that no earlier answer
 *  can have chosen. There are two: the number of samples at the end of the first call
 *  that used samples beyond the pilot (certify, output bounds, bounds, estimate or
 *  forecast), and the total_samples of that call. If a target could have ended that
 *  call, only the latter counts. Elsewhere the status is CERTREG_E_WRONG_STATE, and the
 *  error names the remedy. At these numbers any number of questions is answered.
 *  Keeping the best of several answers is a choice: set question.bonferroni. */

/* ==== 4 errors ==================================================================== */

/* What functions return. A status that is not 0 means that there is no answer. */
enum certreg_status_code {
    CERTREG_OK = 0,               /* done */
    CERTREG_E_INVALID = 1,        /* an argument or a field; error.text names it */
    CERTREG_E_NO_MEMORY = 2,      /* allocation failed, or sizes fit into no memory */
    CERTREG_E_SMALL_MEMORY = 3,   /* caller's memory or buffer is too small */
    CERTREG_E_MODEL_FAILED = 4,   /* the callback returned non-zero: error.model_code */
    CERTREG_E_NOT_FINITE = 5,     /* an output is NaN or infinite, or its row was left
                                     unwritten: error.sample, .row, .output, .value */
    CERTREG_E_OUT_OF_RANGE = 6,   /* an output outside its declared range; likewise. If
                                     the model gave it, the record answers nothing and
                                     is not exported until the next begin */
    CERTREG_E_INFEASIBLE = 7,     /* no function has these bounds (filled by hand) */
    CERTREG_E_WRONG_STATE = 8,    /* before begin; a gap in the record; too few samples;
                                     a number of samples, or looks, that an earlier
                                     answer may have chosen; a forked child */
    CERTREG_E_NO_BACKEND = 9,     /* a module or its libraries are missing */
    CERTREG_E_NO_DEVICE = 10,     /* no such device */
    CERTREG_E_DEVICE_FAILED = 11, /* error.model_code has the device's code; the handle
                                     can only be destroyed */
    CERTREG_E_VERSION = 12,       /* unknown non-zero fields; a record or a module of
                                     another version */
    CERTREG_E_CORRUPT = 13,       /* the bytes are not a record, or a damaged one */
    CERTREG_E_MISMATCH = 14,      /* a record of another z, sigma, scale, seed,
                                     noise_id, level, shape or pilot; or an overlap that
                                     differs */
    CERTREG_E_TOO_MANY = 15,      /* a sample index >= plan.max_samples */
    CERTREG_E_CANCELLED = 16,     /* from sample only; the record is kept. Certify
                                     answers from the samples there are; see `stop` */
    CERTREG_E_DEADLINE = 17,      /* likewise */
    CERTREG_E_BUSY = 18           /* another call is running on the handle */
};

/** What happened last on a handle. An index is -1 where it does not apply. */
struct certreg_error {
    uint32_t struct_size;
    certreg_status status; /* CERTREG_E_..., or CERTREG_OK */
    int64_t sample;        /* global sample index */
    int64_t row;           /* row within the batch */
    int32_t output;        /* output index */
    int32_t model_code;    /* what the callback returned */
    double value;          /* the offending number */
    char text[256];        /* one UTF-8 sentence, NUL-terminated */
};

/** What the last call on this handle reported; valid until the next call. While a call
 *  is running it is a constant with status CERTREG_E_BUSY. */
CERTREG_API const certreg_error *certreg_estimator_error(const certreg_estimator *);

/** A short English text for a status; never NULL. Any thread. */
CERTREG_API const char *certreg_status_text(certreg_status);

/** CERTREG_VERSION_NUMBER of the library at run time. Any thread. */
CERTREG_API uint32_t certreg_version(void);

/* ==== 5 optional questions ======================================================== */

/* Target radius (question.target)
 *  If every question has a target, certify stops as soon as each is proved or ruled
 *  out. ANYTIME serves every statistic. FINITE, for the median only, is a
 *  group-sequential test at the counts in `looks`: it proves the target from fewer
 *  calls than ANYTIME, unless the target is easy; if it fails, it may prove 0.8, 0.6,
 *  0.4 or 0.2 of it. It needs a plan.max_samples below 2^31, and its looks must come
 *  with the first question about the record: later ones are refused, and NULL then
 *  means the looks that follow from the max_samples and batch of the first evaluation.
 *  No gradient is used. After an early stop a question for a fixed number of samples
 *  needs the remaining samples first.
 *
 * Serving (question.serving)
 *  The certificate is then about the statistic of serving.samples fresh samples instead
 *  of T. For any fixed delta, over fresh noise that does not depend on delta, a served
 *  value misses the tolerance with probability at most serving.failure_rate. A sample
 *  that fails while serving is left out of a median or Huber location; of the others
 *  count the request as a miss. Not for CERTREG_CENTER_TRUE_MEAN; the mean needs
 *  model.lo and model.hi. CERTREG_STATISTIC_TRIMMED_MEAN always needs serving. */

/* Vectors (question.output CERTREG_ALL_OUTPUTS, or an output_count above 1)
 *  The tolerance and the statement are about the Euclidean norm of several REAL
 *  outputs: ||T(z + delta) - prediction|| < tolerance. T consists of
 *    MEDIAN, HUBER      the statistic of each output
 *    PROJECTION_MEDIAN  Medians along the axes v of theory 7.3, times weight*v, summed:
 *                       6 axes of two outputs, 15 of three, larger vectors in blocks.
 *                       Reaches 10 to 15% farther than MEDIAN where the outputs
 *                       scatter alike. A server needs certreg_estimator_estimate, or
 *                       the axes of the theory
 *    MEAN               the mean; also with CERTREG_CENTER_TRUE_MEAN
 *  The library certifies v.f along a fixed net of directions v. Each has all of alpha,
 *  because which of them gives way first is a fixed fact about the model. Outputs that
 *  scatter more get more of the tolerance; the pilot decides how much. Time grows with
 *  the number of directions, 12 for the mean of two outputs and 46 of three; with the
 *  gradient each takes a replay of the noise. Means need model.lo and model.hi, except
 *  with ASYMPTOTIC. Vectors have no output bounds, second order, PAPER, or constraints
 *  by the pilot. A position and a heading together: certreg_certify_outputs. */

/** The prediction that a question is about, from the pilot or as given. It reads pilot
 *  samples only, so it does not count as an evaluation of the record.
 *  @param out  1 number; for a vector one for each of its outputs. NaN where those of
 *              the pilot give none. Not written after a failure
 *  @return CERTREG_OK; CERTREG_E_INVALID (also for CERTREG_CENTER_TRUE_MEAN, which has
 *          none); CERTREG_E_WRONG_STATE (the pilot is not complete) */
CERTREG_API certreg_status certreg_estimator_prediction(
    certreg_estimator *, const certreg_question *question, double *out);

/** The statistic of all noisy samples of the record: what a server returns. Take an
 *  estimator with plan.pilot SIZE_MAX, begin with a new noise_id, sample, and call
 *  this with the certified question. Prediction, target and constraints are not used.
 *  A question with serving needs exactly serving.samples noisy samples. Beside a
 *  certificate it has no guarantee of its own, and with samples beyond the pilot it is
 *  an evaluation: see "Evaluating a record again". Outputs that failed are left out.
 *  @param out  1 number; for a vector one for each of its outputs. NaN where outputs
 *              give none. Not written after a failure
 *  @return CERTREG_OK; CERTREG_E_INVALID (also for CERTREG_STATISTIC_BALL_CENTER);
 *          CERTREG_E_WRONG_STATE (before begin; a gap; other than serving.samples
 *          noisy samples)  @par Source theory 1.5, 7.3 */
CERTREG_API certreg_status certreg_estimator_estimate(
    certreg_estimator *, const certreg_question *question, double *out);

/** The inverse question: where does T stay for every delta with ||D^-1 delta|| <
 *  radius? The answer is output_lo and output_hi; certificate.radius is the given
 *  radius where one of them is proved, else 0. The median of a REAL output with FINITE,
 *  and the mean, ignore the tolerance. Otherwise it is the largest that is tried (0:
 *  the whole range, or half a turn); if it cannot be proved, the ends are infinite.
 *  @param radius  > 0
 *  @param out     as in certreg_certify, limiting_side and constraints 0
 *  @return as certreg_certify; CERTREG_E_INVALID for a question with a target or
 *          CERTREG_CENTER_TRUE_MEAN  @par Source theory 1 */
CERTREG_API certreg_status certreg_output_bounds(
    certreg_estimator *, size_t total_samples, const certreg_question *questions,
    size_t count, double radius, certreg_certificate *out);

/** One radius for all outputs together. It holds with probability 1 - alpha, where
 *  alpha is the largest of the questions' and is not divided: which output gives way
 *  first is a fixed fact about the model, and only its bound has to be right.
 *  @param questions  count elements without bonferroni, in which every output occurs
 *                    once, alone or in a vector: a pose has a question about its
 *                    position with output_count 2, and one about its heading
 *  @param each       count elements, as for certreg_certify
 *  @param combined   the least of them; its output is the one that limits. With
 *                    serving, which all questions then need, their failure rates add up
 *  @return as certreg_certify. CERTREG_E_INVALID before the model is called if any
 *          question is wrong, or an output has two or none
 *  @par Source theory 5.1, 7 */
CERTREG_API certreg_status certreg_certify_outputs(
    certreg_estimator *, size_t total_samples, const certreg_question *questions,
    size_t count, certreg_certificate *each, certreg_certificate *combined);

/** The same input at several noise levels: for each, certreg_estimator_begin_level with
 *  level 1 + its index, sample, answer. For each question, the certificates of all
 *  levels hold together with probability 1 - alpha: alpha is divided by their number.
 *  Do not deploy the best sigma of each input: z and z + delta could then use different
 *  sigmas, and no radius would hold.
 *  @param z       as for certreg_estimator_begin
 *  @param sigmas  levels numbers > 0, all different; at most 1e6
 *  @param out     levels*count elements, level by level. After a failure of the model
 *                 the later levels are not sampled and have its status. After a cancel
 *                 they abstain with CERTREG_STOP_CANCELLED
 *  @return as certreg_certify  @par Source theory 1, 5 */
CERTREG_API certreg_status certreg_certify_sigmas(
    certreg_estimator *, const float *z, const double *sigmas, size_t levels,
    uint64_t noise_id, size_t total_samples, const certreg_question *questions,
    size_t count, certreg_certificate *out);

/** The noise level with the greatest mean radius over a set of inputs. Deploy it on
 *  inputs that are not among them.
 *  @param certificates  inputs*levels elements, input by input, stepped by
 *                       certificates[0].struct_size; level k has the same sigma
 *                       everywhere
 *  @param mean_radius   NULL, or levels numbers
 *  @param level         its index
 *  @return CERTREG_OK; CERTREG_E_INVALID (a level whose sigmas differ, two levels with
 *          one sigma, a certificate that failed)  @par Threads any */
CERTREG_API certreg_status certreg_choose_sigma(
    const certreg_certificate *certificates, size_t inputs, size_t levels,
    double *mean_radius, size_t *level);

/** How many samples a target radius takes. A forecast, no guarantee. */
typedef struct certreg_forecast {
    uint32_t struct_size;
    int32_t reserved;
    uint64_t least_samples;  /* pilot included: fewer cannot prove it, however well the
                                model behaves. 0: even plan.max_samples cannot */
    double expected_samples; /* pilot included, if outputs keep missing the tolerance as
                                often as so far. Infinite: more than plan.max_samples,
                                or never */
} certreg_forecast;

/** Forecasts question.target before or between sampling. With an empty record, or a
 *  pilot that is not complete, only least_samples is known. With samples beyond the
 *  pilot the forecast is an evaluation: see "Evaluating a record again".
 *  @param question  the median, FINITE or ANYTIME, with a target
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_WRONG_STATE (before
 *          begin, or a gap)  @par Source theory 6 */
CERTREG_API certreg_status certreg_estimator_forecast(
    certreg_estimator *, const certreg_question *question, certreg_forecast *out);

/* ==== 6 sampling by hand, records, deadlines ====================================== */

/** certreg_estimator_begin with the noise of one level of certreg_certify_sigmas, to
 *  repeat it or to import its record: sigmas[k] has level k + 1, and begin has level 0.
 *  No two pairs of noise_id and level share any noise.
 *  @param level  below 2^20
 *  @return as certreg_estimator_begin */
CERTREG_API certreg_status certreg_estimator_begin_level(
    certreg_estimator *, const float *z, double sigma, uint64_t noise_id,
    uint64_t level);

/** Records samples first .. first+count-1 and calls the model only for missing ones. To
 *  resume a run, import its record and then sample. Cancel and deadline are checked
 *  between batches; what was recorded stays.
 *  @return CERTREG_OK; CERTREG_E_TOO_MANY; CERTREG_E_MODEL_FAILED;
 *          CERTREG_E_NOT_FINITE; CERTREG_E_OUT_OF_RANGE; CERTREG_E_CANCELLED;
 *          CERTREG_E_DEADLINE; CERTREG_E_WRONG_STATE (before begin; no model.eval)
 *  @par Source theory 5 */
CERTREG_API certreg_status
certreg_estimator_sample(certreg_estimator *, uint64_t first, size_t count);

/** The noisy inputs of any samples, in any order, as often as wanted, for engines with
 *  a loop of their own. The bits are those that sample passes to the model.
 *  @param x  count*inputs floats, with a CUDA backend on its device. They are complete
 *            on return. Work that still reads them must be on the backend's stream, or
 *            finished
 *  @return CERTREG_OK; CERTREG_E_WRONG_STATE; CERTREG_E_INVALID; CERTREG_E_TOO_MANY
 *          beyond the batch with the last of plan.max_samples */
CERTREG_API certreg_status
certreg_estimator_draw(certreg_estimator *, uint64_t first, size_t count, float *x);

/** Records outputs of samples first .. first+count-1, all or none of them. A sample
 *  that is already there must agree.
 *  @param y  count*columns floats as the model would write them, on the host always
 *  @return CERTREG_OK; CERTREG_E_NOT_FINITE; CERTREG_E_OUT_OF_RANGE;
 *          CERTREG_E_MISMATCH; CERTREG_E_TOO_MANY; CERTREG_E_WRONG_STATE */
CERTREG_API certreg_status certreg_estimator_record(
    certreg_estimator *, uint64_t first, size_t count, const float *y);

/** The record as bytes: what identifies it, its pilot, its first evaluation, index
 *  ranges, outputs, a checksum. The same on every platform; it contains the seed.
 *  @param buffer  NULL to ask for the size only
 *  @param bytes   in: room in buffer; out: bytes needed
 *  @return CERTREG_OK; CERTREG_E_SMALL_MEMORY; CERTREG_E_WRONG_STATE */
CERTREG_API certreg_status
certreg_estimator_export(certreg_estimator *, void *buffer, size_t *bytes);

/** Adds a record to the one that is there, all or nothing; so shards are merged. Call
 *  begin with the same z, sigma, noise_id and level first. A record without samples
 *  takes the pilot of the imported one; otherwise the pilots must be equal. Once
 *  evaluated, a record keeps the max_samples and batch of its first evaluation. Two
 *  evaluated records can be merged only if these agree.
 *  @param buffer, bytes  what certreg_estimator_export wrote
 *  @return CERTREG_OK; CERTREG_E_CORRUPT; CERTREG_E_MISMATCH naming what differs;
 *          CERTREG_E_TOO_MANY; CERTREG_E_VERSION; CERTREG_E_WRONG_STATE */
CERTREG_API certreg_status
certreg_estimator_import(certreg_estimator *, const void *buffer, size_t bytes);

/** A deadline for sampling and for the answers of certify, by CLOCK_MONOTONIC. Before
 *  each batch the library adds the slowest batch so far and the time of the answers; if
 *  that would overrun, sampling stops. While the record has too few samples for any
 *  answer, only the batch counts. A running batch is not interrupted; answers are,
 *  between small steps. So a call ends at most one batch or one step late. A question
 *  that has to be given up claims nothing and has `stop` CERTREG_STOP_DEADLINE; the
 *  questions before it keep their answers. The time of the answers is learned from
 *  earlier calls or, with an empty record, by answering once from made-up outputs.
 *  @param seconds  from now on; 0: no deadline; below 0: it is over already
 *  @return CERTREG_OK; CERTREG_E_INVALID (NaN)  @par Source theory 5.1 */
CERTREG_API certreg_status
certreg_estimator_set_deadline(certreg_estimator *, double seconds);

/** The running or next sample, or certify, stops after its batch. The request lasts
 *  until it is reported; begin does not clear it.
 *  @par Threads any, and signal handlers */
CERTREG_API void certreg_estimator_cancel(certreg_estimator *);

/* ==== 7 CPU threads and CUDA ====================================================== */

/** Opens a CPU backend that draws noise on several threads. Results have the same bits
 *  as with one thread.
 *  @param threads  1 or more; 0: one per online processor
 *  @param why      receives the error, or NULL
 *  @return CERTREG_OK; CERTREG_E_INVALID (threads < 0 or too many, out NULL);
 *          CERTREG_E_NO_MEMORY
 *  @par Threads any number of estimators may share it; one at a time uses its threads,
 *       the others compute on their own  @par Memory allocates */
CERTREG_API certreg_status
certreg_backend_open_cpu(int32_t threads, certreg_error *why, certreg_backend **out);

/** Opens a CUDA device. Noise is drawn there with the same bits as on the CPU, and the
 *  model gets device pointers and a stream. Nothing of the size samples*inputs comes
 *  back. There is never a silent fall back to the CPU. Opening takes a CUDA context and
 *  cuBLAS's work space, 32 MiB from compute capability 9.0 on and 4 MiB below, and
 *  loads all kernels, so that no certificate waits for code. The module stays in the
 *  process.
 *  @param device  CUDA ordinal, >= 0
 *  @param stream  a cudaStream_t of the device's primary context, borrowed, which
 *                 outlives the backend; NULL: the library makes its own. See "Streams"
 *  @param module  path of the module; NULL: certreg/libcertreg_cuda.so in the folder of
 *                 this library
 *  @return CERTREG_OK; CERTREG_E_WRONG_STATE (the stream is capturing a graph);
 *          CERTREG_E_NO_BACKEND (no module or CUDA libraries; error.text has the
 *          reason); CERTREG_E_NO_DEVICE and CERTREG_E_DEVICE_FAILED (error.model_code
 *          has CUDA's number, or 10000 plus cuBLAS's); CERTREG_E_VERSION;
 *          CERTREG_E_NO_MEMORY; CERTREG_E_INVALID (device < 0, out NULL)
 *  @par Threads one call at a time for all estimators that share it, create included;
 *       the others get CERTREG_E_BUSY. The calling thread keeps its current device */
CERTREG_API certreg_status certreg_backend_open_cuda(
    int32_t device, void *stream, const char *module, certreg_error *why,
    certreg_backend **out);

/** Closes a backend after the estimators that use it. NULL is allowed. */
CERTREG_API void certreg_backend_close(certreg_backend *);

/* Streams
 *  The library's own stream has the highest priority and does not synchronise with the
 *  legacy default stream: finish uploads and warming up before sampling. To borrow the
 *  legacy default stream (PyTorch's), pass cudaStreamLegacy, since its handle is NULL;
 *  cudaStreamPerThread ties the backend to the calling thread. A borrowed stream keeps
 *  its priority. Noise for the next batch is drawn on a second stream of the lowest
 *  priority, CUDA's default. While a stream is capturing a graph, every call that would
 *  use it is refused with CERTREG_E_WRONG_STATE; a callback may capture on
 *  batch->stream if it ends the capture before it returns. End a capture before you
 *  destroy an estimator or close a backend. More: docs/guide/engines.md. */

/* ==== 8 what a program keeps ====================================================== */

/** What all certificates of one input have in common. With seed, noise_id, level, sigma
 *  and the plan the same samples can be drawn again. */
typedef struct certreg_run {
    uint32_t struct_size;
    int32_t reserved;
    uint64_t seed, noise_id, level; /* name the noise; certreg_estimator_begin_level */
    uint64_t samples;               /* in the record, pilot included */
    uint64_t pilot, batch;          /* samples of the pilot; rows of one call */
    double sigma;                   /* given to begin */
    double model_seconds, library_seconds; /* since begin */
} certreg_run;

/** Fills it for the present input.
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_WRONG_STATE (before begin) */
CERTREG_API certreg_status certreg_estimator_run(certreg_estimator *, certreg_run *out);

/** A 64-bit digest of every field of a question, and of what its pointers point to.
 *  Defaults are resolved first, so that alpha 0 and 0.05 have the same digest.
 *  Different digests mean different questions; it is no defence against intent. Equal
 *  in all versions of the library and on every platform.
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_VERSION  @par Threads any */
CERTREG_API certreg_status
certreg_question_digest(const certreg_question *question, uint64_t *digest);

/* flags of certreg_write_json */
enum certreg_json_flag {
    CERTREG_JSON_SEED = 1 /* write the seed too: whoever reads it can draw the noise */
};

/** Writes {"question":{...},"run":{...},"certificate":{...}} as one line without a line
 *  feed. Fields have the names of the structs, and enums their numbers. Doubles read
 *  back to the same bits; infinities and NaN are null; 64-bit integers are strings; a
 *  NULL pointer is null. The prediction is a list if the question has a
 *  prediction_count. The locale has no influence.
 *  @param question, run, certificate  NULL: left out
 *  @param flags   CERTREG_JSON_..., or 0
 *  @param buffer  NULL to ask for the size only; ends with NUL
 *  @param bytes   in: room in buffer; out: bytes needed, NUL included
 *  @return CERTREG_OK; CERTREG_E_SMALL_MEMORY; CERTREG_E_INVALID; CERTREG_E_VERSION
 *  @par Threads any */
CERTREG_API certreg_status certreg_write_json(
    const certreg_question *question, const certreg_run *run,
    const certreg_certificate *certificate, uint32_t flags, char *buffer,
    size_t *bytes);

/** Bounds of one scalar function u under the noise, estimated or filled by hand. */
typedef struct certreg_bounds {
    uint32_t struct_size;
    /* CERTREG_CONSTRAINT_... that hold; one that is not named is unknown, not 0. */
    uint32_t constraints;
    double sigma;                    /* > 0; radius/sigma is in units of the noise */
    double mean_lo, mean_hi;         /* MEAN */
    double variance_hi;              /* VARIANCE, >= 0 */
    double gradient_lo, gradient_hi; /* GRADIENT, >= 0, in output units */
    double range_lo, range_hi;       /* RANGE; either end may be infinite */
    double alpha;                    /* that they do not hold. For information */
    uint64_t samples;                /* behind them. For information */
    /* SECOND_ORDER, >= 0, in output units: of the operator norm of E[u (e e' - I)]/sqrt
     * 2; the Frobenius norm serves too. */
    double second_order_hi;
    /* MOMENT: E (u - moment_center)^2 <= moment_hi; used where mean and variance are
     * named. */
    double moment_center, moment_hi;
} certreg_bounds;

/** The bounds behind one side of a question. With side = certificate.limiting_side they
 *  are those that limit its radius. About a prediction they are bounds of a score, not
 *  of the output: LOWER is u = s(f - prediction + tolerance), UPPER is u = s(prediction
 *  + tolerance - f), with s the sign, Huber's function or the identity, and T stays on
 *  that side while E u > 0 (with serving: while E u exceeds what fresh samples need).
 *  About the true mean both sides have the bounds of the output itself. A trimmed mean
 *  and a ball have one score for both sides, 1 where an output is near the prediction
 *  and -1 elsewhere. Of a vector they are those of the direction that limits it. The
 *  call is an evaluation: see "Evaluating a record again".
 *  @param side  CERTREG_SIDE_...; the NEAR sides for the median and Huber of an angle
 *               only, EITHER and OPPOSITE where the pilot chose them
 *  @param out   constraints 0 where the method abstains
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_WRONG_STATE (gaps, too few
 *          samples); CERTREG_E_VERSION  @par Source theory 5.1, 6, 7 */
CERTREG_API certreg_status certreg_estimator_bounds(
    certreg_estimator *, const certreg_question *question, int32_t side,
    certreg_bounds *out);

/* ==== 9 rules ========================================================================
 * structs    Zero every struct and set struct_size to its sizeof. Zero in a field means
 *            its documented default. Later versions add fields at the end only, and
 *            zero or absent means "as before". A struct of an older caller is read up
 *            to its struct_size and never written beyond it. A larger one, of a newer
 *            caller, is accepted if the bytes unknown to this version are zero, else
 *            CERTREG_E_VERSION; unknown bytes of an output are zeroed. A size that no
 *            released version had is CERTREG_E_INVALID. Arrays are stepped by
 *            element[0].struct_size; on output the library sets the struct_size of the
 *            others. No struct has padding; every size is a multiple of 8.
 * enums      Their tags are for bindings, debuggers and C++. Fields and parameters are
 *            int32_t, masks and flags uint32_t, so that every compiler gives them the
 *            same width.
 * results    An output struct is always written, also on failure, if its struct_size is
 *            valid. A radius is 0, and an output bound infinite, unless proved; so an
 *            unknown outcome is safe to ignore.
 * status     Abstentions, caps and early stops come with CERTREG_OK. A non-zero status
 *            means no answer, and the handle's error says why in one sentence and in
 *            fields. NULL for a handle is CERTREG_E_INVALID.
 * threads    One call at a time per handle; different handles are independent. A call
 *            on a handle whose call is running, on another thread or in the callback of
 *            that call, is CERTREG_E_BUSY at once: it changes nothing and claims
 *            nothing. Take its text from certreg_status_text; the handle's error
 *            belongs to the running call. A call on an estimator also occupies its CUDA
 *            backend. Only certreg_estimator_cancel may be called at any time, from any
 *            thread or signal handler. In a forked child the parent's handles are
 *            CERTREG_E_WRONG_STATE and may only be destroyed. Destroying a handle whose
 *            call is running is undefined.
 * callbacks  run on the calling thread with no lock held. They may call
 *            certreg_estimator_cancel and use other handles. Throwing or longjmp
 *            through the library is undefined.
 * memory     Only *_create allocates, and a backend of several threads when it is
 *            opened. With caller's memory nothing allocates at all. Exception: where
 *            the plan names the second order, OpenBLAS may allocate and lock in its
 *            calls.
 * numbers    Certified values are rounded to the safe side: radii down, bounds outward.
 *            Every call computes in the default floating-point environment and restores
 *            the caller's, flags included; callbacks run in the caller's. The library
 *            never prints, exits, installs signal handlers, changes the environment or
 *            depends on the locale, and has no global state.
 */

#ifdef __cplusplus
}
#endif
#endif

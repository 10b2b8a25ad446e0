/** @file attack.h
 * libcertreg: how tight is a certificate? An attack that only calls the model.
 *
 * A certificate states that no shift shorter than its radius R moves the smoothed
 * prediction T out of the tolerance. An attack looks for a short shift that does, and
 * proves it by its own samples. Certificate and attack bracket the breaking radius R*,
 * the norm of the shortest such shift:  R <= R* <= R'.
 *
 *     certreg_attack_plan p = {.struct_size = sizeof p, .max_calls = 2000};
 *     certreg_attack_options o = {.struct_size = sizeof o, .calls = 2000};
 *     certreg_attack_result r = {.struct_size = sizeof r};
 *     certreg_attack *a;
 *     if (certreg_attack_create(e, &p, &why, &a)) ...        // once
 *     if (certreg_certify(e, 10000, &q, 1, &c)               // a record and a question
 *         || certreg_attack_run(a, &q, &o, shift, &r)) ...   // shift: inputs floats
 *     printf("certified %g, broken at %g\n", c.radius, r.radius);
 *
 * The first direction comes from the record: the gradient of the probability that an
 * output is beyond the tolerance, computed from the outputs and the replayed noise
 * without calls of the model. The attack then samples at shifted inputs and improves
 * the direction. At the end it tests, with fresh noise, that T is out of the tolerance
 * at a shift. examples/attack.c is a complete program.
 */
#ifndef CERTREG_ATTACK_H
#define CERTREG_ATTACK_H
#ifndef CERTREG_EXPERIMENTAL
#error "experimental (certreg.h, stability): define CERTREG_EXPERIMENTAL to use it"
#endif
#include "certreg/certreg.h"
#ifdef __cplusplus
extern "C" {
#endif

/** An attack on the input that an estimator has begun. It has its own noise and
 *  outputs, and only reads the record of the estimator. */
typedef struct certreg_attack certreg_attack;

/** Settings that determine the memory of an attack. */
typedef struct certreg_attack_plan {
    uint32_t struct_size;
    int32_t reserved;    /* 0 */
    size_t max_calls;    /* maximum number of model rows in one run; 0: gradients and
                            forecasts only */
    void *memory;        /* 64-byte aligned, outlives the attack; NULL: allocate */
    size_t memory_bytes; /* at least certreg_attack_size */
} certreg_attack_plan;

/** Settings of one run. All zero but struct_size: a forecast without calls. */
typedef struct certreg_attack_options {
    uint32_t struct_size;
    int32_t reserved; /* 0 */
    /* Maximum number of model rows in this run, at most plan.max_calls. 0: no attack,
     * only the forecast. A number that is too small to prove anything is refused; the
     * error names the smallest. */
    size_t calls;
    /* Probability that a reported radius is too small, 1e-12 to 0.5; 0: 0.05. It comes
     * on top of the certificate's alpha. */
    double alpha;
    /* Selects the noise of the run. A direction or a question that was chosen after an
     * earlier run needs a new number; a new input or sigma needs a new noise_id.
     * If you keep the best of several runs, of this estimator or with different
     * numbers, divide alpha by the number of runs. */
    uint64_t number;
    /* inputs numbers: the shift is a positive multiple of scale times this. For the
     * steepest direction give scale times the gradient with respect to z (its negative
     * to go down). Numbers of features with scale 0 are not read. NULL: found by the
     * attack. */
    const float *direction;
} certreg_attack_options;

/* Outcomes of an attack. None is a failure. */
enum certreg_attack_outcome {
    CERTREG_ATTACK_NOT_BROKEN = 0, /* nothing was proved; T may be in the tolerance or
                                      out of it */
    CERTREG_ATTACK_BROKEN = 1      /* T is proved to be out of the tolerance at the
                                      shift */
};

/** The result of a run. */
typedef struct certreg_attack_result {
    uint32_t struct_size;
    int32_t outcome; /* CERTREG_ATTACK_... */
    int32_t stop; /* CERTREG_STOP_ALL, _DEADLINE or _CANCELLED: the radius may then be
                     longer than with all calls, but is equally valid */
    int32_t side; /* CERTREG_SIDE_UPPER: T leaves upwards; _LOWER: downwards; 0: the
                     run ended before it chose a side */
    /* R' = ||D^-1 (z' - z)||_2 for the input z' at which T is out of the tolerance: z +
     * shift, added in float. Rounded up; infinite unless broken. The probability that
     * an attack reports an input at which T is not out is at most alpha. */
    double radius;
    /* An estimate of the breaking radius from the record alone, without calls and
     * without a guarantee. NaN: the record does not show the gradient. */
    double forecast;
    /* Estimated cosine of the angle between the record's gradient and the true gradient
     * at z; 1 for a direction that was given. About 1/sqrt(1 + d/(0.6 n)) for d
     * features and n samples: small for a short record of a large input. */
    double cosine;
    double prediction, tolerance, sigma; /* copied from the question and the record */
    double alpha;                        /* of the run; default resolved */
    uint64_t calls;                      /* rows of the model that were used */
    uint64_t samples;                    /* in the record, pilot included */
} certreg_attack_result;

/** Computes the memory of an attack on this estimator.
 *  @param bytes         about (batch + 21)*inputs*4 + batch*columns*4 + 60 KiB;
 *                       4*outputs + 24 per sample, for plan.max_samples or half of
 *                       max_calls, whichever is larger; and 2*max_calls. With a device
 *                       this is host memory, without the term in batch*inputs
 *  @param device_bytes  NULL, or memory on the device: about (2*batch + 9)*inputs*4; 0
 *                       on the CPU
 *  @return as certreg_attack_create; *bytes is 0 after a failure */
CERTREG_API certreg_status certreg_attack_size(
    certreg_estimator *, const certreg_attack_plan *, size_t *bytes,
    size_t *device_bytes);

/** Makes an attack. It serves any number of runs and allocates nothing later.
 *  @param estimator  must outlive the attack
 *  @return CERTREG_OK; CERTREG_E_INVALID naming the field; CERTREG_E_NO_MEMORY;
 *          CERTREG_E_SMALL_MEMORY; CERTREG_E_VERSION; CERTREG_E_BUSY;
 *          CERTREG_E_DEVICE_FAILED; CERTREG_E_WRONG_STATE; CERTREG_E_PLATFORM */
CERTREG_API certreg_status certreg_attack_create(
    certreg_estimator *estimator, const certreg_attack_plan *, certreg_error *why,
    certreg_attack **out);

/** Destroys an attack. NULL is allowed. */
CERTREG_API void certreg_attack_destroy(certreg_attack *);

/** Attacks the estimator's current input; its record answers the question. The call is
 *  an evaluation of the record, like certreg_certify. The model is called as for
 *  sampling, on shifted inputs; batch->first counts from 0 in each step of the attack.
 *  The estimator's plan.progress receives the calls so far and options.calls.
 *  Cancelling the estimator (certreg_estimator_cancel) and its deadline (_set_deadline)
 *  stop the attack; the result has all that was proved before. The attack ends early if
 *  a shifted input could not carry the noise (see certreg_estimator_begin), or if the
 *  record shows no gradient at all.
 *  @param question  not with baselines, the paper's method, serving,
 *                   CERTREG_CENTER_TRUE_MEAN or vectors (CERTREG_ALL_OUTPUTS, or an
 *                   output_count above 1); the mean needs model.lo and model.hi. Its
 *                   alpha and method only change the noise
 *  @param shift     NULL, or receives inputs floats: z + shift, added in float, is the
 *                   input at which T is out of the tolerance; zeros unless broken. It
 *                   may be the memory of options.direction
 *  @param result    always written
 *  @return CERTREG_OK, even if nothing was proved; CERTREG_E_INVALID;
 *          CERTREG_E_WRONG_STATE (as certreg_certify; no model.eval);
 *          CERTREG_E_MODEL_FAILED; CERTREG_E_NOT_FINITE; CERTREG_E_OUT_OF_RANGE (the
 *          record then answers nothing until the next begin, as after sampling);
 *          CERTREG_E_DEVICE_FAILED; CERTREG_E_BUSY (a call is running on the attack or
 *          the estimator); after a failure the result claims nothing
 *  @par Threads one call at a time on the attack and its estimator
 *  @par Source theory 11 */
CERTREG_API certreg_status certreg_attack_run(
    certreg_attack *, const certreg_question *question,
    const certreg_attack_options *options, float *shift, certreg_attack_result *result);

/** Estimates the gradient of a question's score from the record: the derivatives of
 *  E u(z + sigma*D*e) with respect to z_j/scale_j, that is E[u e_j]/sigma, with the
 *  score u of certreg_estimator_bounds. The derivative with respect to z_j is
 *  out[j]/scale_j. The bounds of CERTREG_CONSTRAINT_GRADIENT enclose sigma times the
 *  norm of the true gradient. The estimate uses all noisy samples, the pilot's too, and
 *  has no guarantee: the standard error of each number is about (deviation of
 *  u)/(sigma*sqrt(samples)). The call is an evaluation of the record.
 *  @param question  as for certreg_attack_run, but also with serving
 *  @param side      CERTREG_SIDE_LOWER or _UPPER
 *  @param out       inputs numbers; 0 for a feature of scale 0. Not written after a
 *                   failure
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_WRONG_STATE; CERTREG_E_DEADLINE;
 *          CERTREG_E_BUSY  @par Source theory 0, 11.1 */
CERTREG_API certreg_status certreg_attack_gradient(
    certreg_attack *, const certreg_question *question, int32_t side, double *out);

/** Returns the error of the last call on this attack, valid until the next call. */
CERTREG_API const certreg_error *certreg_attack_error(const certreg_attack *);

#ifdef __cplusplus
}
#endif
#endif

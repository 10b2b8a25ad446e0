/** @file attack.h
 * libcertreg: how tight is a certificate? An attack that only calls the model.
 *
 * A certificate says that no shift shorter than its radius R moves the smoothed
 * prediction T out of the tolerance. An attack looks for a short shift that does, and
 * proves by samples of its own that it does. Together they bracket the breaking radius
 * R*, the norm of the shortest such shift:  R <= R* <= R'.
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
 * The direction comes from the record: the gradient of the share of outputs beyond the
 * tolerance, which the replay of the record's noise gives without a call. Then the
 * attack climbs: it samples at shifted inputs, and improves the direction. Last it
 * tests, with fresh noise, that T is out at a shift. examples/attack.c is a complete
 * program. The rules of certreg.h for structs, threads, memory and numbers hold here as
 * well.
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

/** Attacks the input that an estimator has begun. It has noise and outputs of its own;
 *  the record of the estimator is only read. */
typedef struct certreg_attack certreg_attack;

/** What costs memory. */
typedef struct certreg_attack_plan {
    uint32_t struct_size;
    int32_t reserved; /* 0 */
    size_t max_calls; /* most calls of the model in one run; 0: gradients and forecasts
                         only */
    void *memory;     /* 64-byte aligned, outlives the attack; NULL: allocate */
    size_t memory_bytes; /* at least certreg_attack_size */
} certreg_attack_plan;

/** What one run may use. Zero all but struct_size: a forecast without calls. */
typedef struct certreg_attack_options {
    uint32_t struct_size;
    int32_t reserved; /* 0 */
    /* Most rows of the model that are used, at most plan.max_calls. 0: no attack, only
     * the forecast. Too few to prove anything are refused, with the least number. */
    size_t calls;
    /* Probability that a reported radius is too small, 1e-12 to 0.5; 0: 0.05. It comes
     * on top of the certificate's alpha. */
    double alpha;
    /* Another number is another noise. A direction or a question chosen after an
     * earlier run needs another number; an input or a sigma, another noise_id. The best
     * of several runs, of this estimator or with other numbers, is a choice: divide
     * alpha by how many. */
    uint64_t number;
    /* inputs numbers: the shift is a positive multiple of scale times this. For the
     * steepest way give scale times the gradient by z (its negative to go down). Where
     * the scale is 0 they are not read. NULL: found by the attack. */
    const float *direction;
} certreg_attack_options;

/* Outcomes of an attack. None is a failure. */
enum certreg_attack_outcome {
    CERTREG_ATTACK_NOT_BROKEN = 0, /* nothing was proved; T may be inside or out */
    CERTREG_ATTACK_BROKEN = 1      /* at the shift, T is proved to be out */
};

/** What a run found. */
typedef struct certreg_attack_result {
    uint32_t struct_size;
    int32_t outcome; /* CERTREG_ATTACK_... */
    int32_t stop; /* CERTREG_STOP_ALL, _DEADLINE or _CANCELLED: the radius may then be
                     longer than with all calls, and is as valid */
    int32_t side; /* CERTREG_SIDE_UPPER: T leaves upwards; _LOWER: downwards; 0: the
                     run ended before it chose a side */
    /* R' = ||D^-1 (z' - z)||_2 of the input z' at which T is out, z + shift added in
     * float; rounded up; infinite unless broken. The probability that an attack reports
     * an input at which T is not out is at most alpha. */
    double radius;
    /* A guess of the breaking radius, from the record alone, without calls and without
     * a guarantee. NaN: the record does not show the gradient. */
    double forecast;
    /* Estimated cosine of the angle between the gradient that the record gives and the
     * true one at z; 1 for a direction that was given. About 1/sqrt(1 + d/(0.6 n)) for
     * d features and n samples, so that a short record of a large input has a small
     * one. */
    double cosine;
    double prediction, tolerance, sigma; /* of the question and the record */
    double alpha;                        /* of radius */
    uint64_t calls;                      /* rows of the model that were used */
    uint64_t samples;                    /* in the record, pilot included */
} certreg_attack_result;

/** Bytes of an attack on this estimator: about (batch + 21)*inputs*4 +
 *  batch*columns*4 + 60 KiB; 4*outputs + 24 per sample, of plan.max_samples or half of
 *  max_calls, whichever is larger; and 2*max_calls. With a device these are host bytes,
 *  without the term in batch*inputs.
 *  @param device_bytes  NULL, or its bytes on the device: about (2*batch + 9)*inputs*4;
 *                       0 on the CPU
 *  @return as certreg_attack_create; *bytes is 0 on failure */
CERTREG_API certreg_status certreg_attack_size(
    certreg_estimator *, const certreg_attack_plan *, size_t *bytes,
    size_t *device_bytes);

/** Makes an attack. It serves any number of runs and never allocates again.
 *  @param estimator  outlives the attack
 *  @param why        receives the error, or NULL
 *  @return CERTREG_OK; CERTREG_E_INVALID naming the field; CERTREG_E_NO_MEMORY;
 *          CERTREG_E_SMALL_MEMORY; CERTREG_E_VERSION; CERTREG_E_BUSY;
 *          CERTREG_E_DEVICE_FAILED; CERTREG_E_WRONG_STATE
 *  @par Memory one block from malloc, or none with plan.memory; and one on the device
 *       of a CUDA backend */
CERTREG_API certreg_status certreg_attack_create(
    certreg_estimator *estimator, const certreg_attack_plan *, certreg_error *why,
    certreg_attack **out);

/** Frees it. NULL is allowed. */
CERTREG_API void certreg_attack_destroy(certreg_attack *);

/** Attacks the present input of the estimator, whose record answers the question. It is
 *  an evaluation of the record, as certreg_certify is. The model is called as for
 *  sampling, on shifted inputs; batch->first counts from 0 in each step of the attack.
 *  plan.progress of the estimator gets the calls so far and options.calls. Its cancel
 *  and its deadline (certreg_estimator_cancel, _set_deadline) hold; what was proved by
 *  then is reported. Where a shifted input could not carry the noise (see
 *  certreg_estimator_begin), and where the record shows no gradient at all, the attack
 *  ends before its calls do.
 *  @param question  any but baselines, the paper's method, serving,
 *                   CERTREG_CENTER_TRUE_MEAN and vectors (CERTREG_ALL_OUTPUTS, or an
 *                   output_count above 1); the mean needs model.lo and model.hi. Its
 *                   alpha and method only change the noise
 *  @param shift     NULL, or inputs floats: z + shift, added in float, is the input at
 *                   which T is out; zeros unless broken. options.direction may lie
 *                   there
 *  @param result    always written
 *  @return CERTREG_OK, also where nothing was proved; CERTREG_E_INVALID;
 *          CERTREG_E_WRONG_STATE (as certreg_certify; no model.eval);
 *          CERTREG_E_MODEL_FAILED; CERTREG_E_NOT_FINITE; CERTREG_E_OUT_OF_RANGE (the
 *          record then answers nothing until the next begin, as after sampling);
 *          CERTREG_E_DEVICE_FAILED; CERTREG_E_BUSY (a call is running on the attack or
 *          the estimator); a failure claims nothing
 *  @par Source theory 11 */
CERTREG_API certreg_status certreg_attack_run(
    certreg_attack *, const certreg_question *question,
    const certreg_attack_options *options, float *shift, certreg_attack_result *result);

/** The gradient of a question's score by the record: an estimate of the derivatives of
 *  E u(z + sigma*D*e) by z_j/scale_j, that is E[u e_j]/sigma, with u the score that
 *  certreg_estimator_bounds describes. The derivative by z_j itself is out[j]/scale_j.
 *  sigma times its norm is what the bounds of CERTREG_CONSTRAINT_GRADIENT enclose. It
 *  uses all noisy samples, the pilot's too, and carries no guarantee: the error of each
 *  number has a deviation of about (deviation of u)/(sigma*sqrt(samples)). It is an
 *  evaluation of the record.
 *  @param question  as for certreg_attack_run, and serving
 *  @param side      CERTREG_SIDE_LOWER or _UPPER
 *  @param out       inputs numbers; 0 where the scale is 0. Not written after a failure
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_WRONG_STATE; CERTREG_E_DEADLINE;
 *          CERTREG_E_BUSY  @par Source theory 0, 11.1 */
CERTREG_API certreg_status certreg_attack_gradient(
    certreg_attack *, const certreg_question *question, int32_t side, double *out);

/** What the last call on this attack reported; valid until the next call. */
CERTREG_API const certreg_error *certreg_attack_error(const certreg_attack *);

#ifdef __cplusplus
}
#endif
#endif

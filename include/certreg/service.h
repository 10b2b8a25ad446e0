/** @file service.h
 * libcertreg: the deployed loop, bound to its certificate.
 *
 *     certreg_service_plan p = {.struct_size = sizeof p, .deadline = 0.004};
 *     certreg_tick tick = {.struct_size = sizeof tick};
 *     if (certreg_service_create(e, &question, &c, &p, &why, &s)    // e certified c
 *         || certreg_service_start(s, 0)) ...                       // secret noise
 *     while (running) {                                             // every tick
 *         status = certreg_service_act(s, reading, &action, &tick);
 *         if (tick.source != CERTREG_SOURCE_ANSWERED) action = my_fallback();
 *         ...
 *     }
 *
 * The service takes noise, scale, sigma, masks, batch and statistic from the estimator
 * that certified, and refuses a certificate of another question, sigma, input or scale.
 * It cannot notice another model, nor other kinds of outputs or another law of masks.
 *
 * With CERTREG_PLAN_EPISODE call certreg_service_sense: it adds noise to a reading, in
 * plan.ticks ticks (theory 14). With question.serving certreg_service_act gives the
 * statistic of fresh noisy samples, of pairs with serving.pairs. Otherwise it gives the
 * certified prediction. It answers only within the certified ball, and stops sampling
 * at the deadline; otherwise it gives the fallback. No call takes a lock. The checklist
 * in docs/guide/robots.md is about everything outside of the service.
 */
#ifndef CERTREG_SERVICE_H
#define CERTREG_SERVICE_H
#ifndef CERTREG_EXPERIMENTAL
#error "experimental (certreg.h, stability): define CERTREG_EXPERIMENTAL to use it"
#endif
#include "certreg/question.h"
#ifdef __cplusplus
extern "C" {
#endif

/** A deployed loop. */
typedef struct certreg_service certreg_service;

/** Settings that the certificate does not decide. */
typedef struct certreg_service_plan {
    uint32_t struct_size;
    int32_t reserved; /* 0 */
    size_t ticks; /* of an episode: the row has inputs/ticks readings of each. Else 0 */
    double deadline; /* seconds that a tick may take; 0: no deadline */
    /* For certreg_service_act: an upper limit of the error of a reading, in
     * ||D^-1 delta||. If less radius is left, the tick is OUTSIDE. */
    double reading_error;
    const double *fallback; /* one number for each output of the question: the action of
                               a tick without an answer. NULL: NaN. Copied */
    void *memory;           /* 64-byte aligned, outlives the service; NULL: allocate */
    size_t memory_bytes;    /* at least certreg_service_size */
} certreg_service_plan;

/* The origin of an action or a noisy reading. */
enum certreg_source {
    CERTREG_SOURCE_FAILED = 0,   /* the fallback, or NaN; see the status */
    CERTREG_SOURCE_ANSWERED = 1, /* an answer that the certificate covers */
    CERTREG_SOURCE_OUTSIDE = 2,  /* too little radius is left about the reading: the
                                  fallback. certreg_service_anchor helps */
    CERTREG_SOURCE_LATE = 3      /* the deadline left no time for all samples: the
                                  fallback */
};

/** One tick. */
typedef struct certreg_tick {
    uint32_t struct_size;
    int32_t source;  /* CERTREG_SOURCE_... */
    uint64_t number; /* of the tick since the start, from 0 */
    double left;     /* the radius that is left about the reading; in an episode the
                        certificate's radius */
    double seconds;  /* that the call took */
} certreg_tick;

/** Counts of a service since its creation, for logs. */
typedef struct certreg_service_log {
    uint32_t struct_size;
    int32_t reserved;
    /* Seed of the run that was started last. Give it to certreg_service_start to repeat
     * this run. Keep it secret until the run has ended. */
    uint64_t seed;
    uint64_t question_digest, input_digest; /* of the certificate that is served */
    uint64_t starts, ticks;                 /* ticks of all starts */
    uint64_t answered, outside, failed;     /* numbers of ticks with these sources */
    uint64_t late; /* ticks that were LATE, or ended after the deadline */
} certreg_service_log;

/** Makes a service for what an estimator has certified. The service copies all that it
 *  needs; model.user and the backend must outlive it. The noise of readings in episodes
 *  is made on the CPU, everything else on the estimator's backend.
 *  @param certified    with the certified input begun, as after certreg_certify. On
 *                      another machine create an estimator of the same model and plan,
 *                      and begin the certified input at the certificate's sigma. It
 *                      needs no samples
 *  @param question     the certified question
 *  @param certificate  its answer, about CERTREG_CENTER_PREDICTION and not by
 *                      CERTREG_METHOD_BASELINE; no output bounds. An episode needs a
 *                      radius above 0, also about CERTREG_CENTER_TRUE_MEAN. Otherwise
 *                      this is the first anchor, and NULL means that there is none yet
 *  @return CERTREG_OK; CERTREG_E_MISMATCH if the certificate has another question,
 *          sigma, input or scale, or was made with masks and the estimator has none, or
 *          without them and it has some; CERTREG_E_INVALID, also for a served
 *          certificate if model.eval is NULL, and for an episode with ticks that differ
 *          in scale or masks; CERTREG_E_WRONG_STATE (before begin); as
 *          certreg_estimator_create
 *  @par Source theory 1.5, 1.9, 14.5  @since 0.3 */
CERTREG_API certreg_status certreg_service_create(
    certreg_estimator *certified, const certreg_question *question,
    const certreg_certificate *certificate, const certreg_service_plan *,
    certreg_error *why, certreg_service **out);

/** Computes the memory of such a service.
 *  @return as certreg_service_create; 0 bytes after a failure  @since 0.3 */
CERTREG_API certreg_status certreg_service_size(
    certreg_estimator *certified, const certreg_question *question,
    const certreg_service_plan *, certreg_error *why, size_t *bytes);

/** Destroys a service; NULL is allowed. The caller keeps plan.memory.  @since 0.3 */
CERTREG_API void certreg_service_destroy(certreg_service *);

/** Starts the first or the next run: an episode, or any number of acts. Tick numbers
 *  begin at 0, and the noise has a seed of its own.
 *  @param seed  0: drawn from the system's randomness. Else the seed of a log, to
 *               repeat its ticks: the same readings and anchors in the same order give
 *               the same actions, bit by bit, except in LATE ticks. Do not deploy such
 *               a run, since its noise is known
 *  @return CERTREG_OK; CERTREG_E_INVALID if the estimator that certified has this seed;
 *          CERTREG_E_PLATFORM if the system has no randomness. After a failure the run
 *          before goes on  @since 0.3 */
CERTREG_API certreg_status certreg_service_start(certreg_service *, uint64_t seed);

/** Adds the noise of an episode's next tick to a reading. Call it once for each
 *  reading, and let nothing else see the reading.
 *  @param reading  inputs/ticks floats. The tick fails if a sensor that is not hidden
 *                  reports NaN or infinity, or more than float can carry with this
 *                  noise (over 32,752 deviations). The episode then counts as outside
 *                  the tolerance
 *  @param noisy    receives as many floats: points of the grid; NaN for a sensor that
 *                  the masks hide in this episode, and for all after a failure. May be
 *                  the reading itself
 *  @param tick     receives the tick, or NULL
 *  @return CERTREG_OK; CERTREG_E_OUT_OF_RANGE naming the reading;
 *          CERTREG_E_WRONG_STATE (before start; no episode); CERTREG_E_TOO_MANY after
 *          plan.ticks ticks  @par Source theory 14.5, 14.6  @since 0.3 */
CERTREG_API certreg_status certreg_service_sense(
    certreg_service *, const float *reading, float *noisy, certreg_tick *tick);

/** Answers about one reading: the served statistic of fresh samples, or the prediction.
 *  @param reading  inputs floats, as z of certreg_estimator_begin. With question.faults
 *                  in host memory: as many units may have any values, and the anchor
 *                  takes the place of the units that are farthest from it
 *  @param action   receives one number for each output of the question: the answer or
 *                  the fallback, also after a failure
 *  @param tick     receives the tick, or NULL
 *  @return CERTREG_OK, also for OUTSIDE and LATE; CERTREG_E_NOT_FINITE if too many
 *          samples failed for a statistic; CERTREG_E_WRONG_STATE (before start; an
 *          episode); as certreg_estimator_begin and certreg_estimator_sample
 *  @par Source theory 1.5, 1.9  @since 0.3 */
CERTREG_API certreg_status certreg_service_act(
    certreg_service *, const float *reading, double *action, certreg_tick *tick);

/** Replaces the certificate and its input, as after a tick OUTSIDE: certify the reading
 *  by the estimator, anchor the answer, and act again. An answer that abstains leaves
 *  every reading outside. Not for episodes.
 *  @param z            inputs floats, the certified input
 *  @param certificate  of the same question, its prediction included, and sigma
 *  @return CERTREG_OK; CERTREG_E_WRONG_STATE (an episode); CERTREG_E_MISMATCH,
 *          CERTREG_E_INVALID as certreg_service_create. The old anchor then stays
 *  @since 0.3 */
CERTREG_API certreg_status certreg_service_anchor(
    certreg_service *, const float *z, const certreg_certificate *certificate);

/** Reports the certificate that is served. That of an episode is shorter by the grid's
 *  part of a reading (theory 14.5): its radii hold for the deployed loop.
 *  @return CERTREG_OK; CERTREG_E_INVALID  @since 0.3 */
CERTREG_API certreg_status
certreg_service_certificate(certreg_service *, certreg_certificate *out);

/** Reports what the service has done.  @return CERTREG_OK; CERTREG_E_INVALID
 *  @since 0.3 */
CERTREG_API certreg_status
certreg_service_info(certreg_service *, certreg_service_log *out);

/** Returns the error of the last call on this service, valid until the next.
 *  @since 0.3 */
CERTREG_API const certreg_error *certreg_service_error(const certreg_service *);

/** Adds the noise of a row to readings, in the callback that simulates an episode, as
 *  certreg_service_sense does in the deployed loop.
 *  @param sigma    of the noise
 *  @param scale    of the noise: `sensors` numbers; NULL: all 1
 *  @param rows     number of episodes that are simulated at a time
 *  @param noise    the numbers of this tick in the first row; those of the next row are
 *                  `stride` floats behind
 *  @param reading  rows*sensors floats
 *  @param noisy    receives rows*sensors floats; NaN for a sensor that the masks hide
 *                  (noise NaN), and a row of NaN if a different reading is not finite
 *                  or over 32,000 deviations of its noise, or if sigma is not positive
 *                  and finite. May be the readings themselves
 *  @return the number of rows that failed: write NaN as the output of such an episode.
 *          The call may set FE_INEXACT
 *  @par Source theory 14.5  @since 0.3 */
CERTREG_API size_t certreg_episode_sense(
    double sigma, const float *scale, size_t sensors, size_t rows, const float *noise,
    size_t stride, const float *reading, float *noisy);

#ifdef __cplusplus
}
#endif
#endif

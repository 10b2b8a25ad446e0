/** @file sampling.h
 * libcertreg: sampling by hand, records, deadlines, and facts about a run.
 */
#ifndef CERTREG_SAMPLING_H
#define CERTREG_SAMPLING_H
#include "certreg/certreg.h"
#ifdef __cplusplus
extern "C" {
#endif

/** As certreg_estimator_begin, with the noise of one level of certreg_certify_sigmas,
 *  to repeat it or to import its record: sigmas[k] has level k + 1, and
 *  certreg_estimator_begin has level 0. No two pairs of noise_id and level share noise.
 *  @param z  as for certreg_estimator_begin, like sigma and noise_id
 *  @param level  below 2^20
 *  @return as certreg_estimator_begin  @par Source theory 0.1 */
CERTREG_API certreg_status certreg_estimator_begin_level(
    certreg_estimator *, const float *z, double sigma, uint64_t noise_id,
    uint64_t level);

/** Records samples first .. first+count-1. It calls the model only for batches with
 *  missing samples, with the used rows from the first missing sample to the last;
 *  outputs of samples between them that are recorded already are ignored. To resume a
 *  run, import its record and then sample. Cancel and deadline are checked between
 *  batches; recorded samples stay. After a failure of the model beyond the pilot the
 *  record answers no more questions for a fixed number of samples: see "Evaluating a
 *  record again" in question.h. A sample whose output was not finite gets no second
 *  value until the next begin.
 *  @return CERTREG_OK; CERTREG_E_TOO_MANY; CERTREG_E_MODEL_FAILED;
 *          CERTREG_E_NOT_FINITE; CERTREG_E_OUT_OF_RANGE; CERTREG_E_CANCELLED;
 *          CERTREG_E_DEADLINE; CERTREG_E_WRONG_STATE (before begin; no model.eval)
 *  @par Source theory 5 */
CERTREG_API certreg_status
certreg_estimator_sample(certreg_estimator *, uint64_t first, size_t count);

#ifdef CERTREG_EXPERIMENTAL
/* A flag for plan.flags */
enum certreg_plan_deployed {
    /* For the deployed loop, which draws the noise about what it receives: there is no
     * pilot (plan.pilot is 0 or SIZE_MAX), so that every sample has noise. An estimator
     * with this flag certifies nothing. With model.masks all samples of one seed and
     * noise id have one mask: keep both in all ticks of an episode, and do not use the
     * flag to serve inputs. */
    CERTREG_PLAN_DEPLOYED = 8
};
#endif

/** Returns the noisy inputs of any samples, in any order and any number of times, for
 *  engines with a loop of their own. They are bit by bit what certreg_estimator_sample
 *  passes to the model: points of the grid of certreg_estimator_begin, and z itself as
 *  sample 0 if there is a pilot, as by default: see CERTREG_PLAN_DEPLOYED.
 *  @param x  receives count*inputs floats, with a CUDA backend on its device. They are
 *            complete on return, unless the backend borrows its stream: then the draw
 *            is enqueued there, and work on any other stream must wait for it. Earlier
 *            work that reads this memory must be on the backend's stream, or finished
 *  @return CERTREG_OK; CERTREG_E_WRONG_STATE; CERTREG_E_INVALID; CERTREG_E_TOO_MANY
 *          beyond the batch that contains the last of plan.max_samples
 *  @par Source theory 0.1, 0.2 */
CERTREG_API certreg_status
certreg_estimator_draw(certreg_estimator *, uint64_t first, size_t count, float *x);

/** Records outputs of samples first .. first+count-1, all or none of them. An output of
 *  a sample that is recorded already must be equal to the recorded output. An output
 *  that is not finite or out of its range is a failure of the model, as for
 *  certreg_estimator_sample.
 *  @param y  count*columns floats as the model would write them; with a CUDA backend in
 *            host memory, or up to model.batch rows on its device, written by finished
 *            work or work on the backend's stream
 *  @return CERTREG_OK; CERTREG_E_NOT_FINITE; CERTREG_E_OUT_OF_RANGE;
 *          CERTREG_E_MISMATCH; CERTREG_E_TOO_MANY; CERTREG_E_WRONG_STATE
 *  @par Source theory 5.2 */
CERTREG_API certreg_status certreg_estimator_record(
    certreg_estimator *, uint64_t first, size_t count, const float *y);

#ifdef CERTREG_EXPERIMENTAL
/** Draws the rows of the next call of an audit (plan.audit), for programs that record
 *  outputs themselves: call this function and certreg_audit_give until no rows are
 *  left, and then certify, which counts what was found. Without a certificate before
 *  it, the audit judges by the standard deviation of the outputs, as by a tolerance.
 *  @param x     receives rows, on the backend's device if it has one: room for
 *               model.batch rows. NULL: the whole audit calls model.eval, as for a
 *               record that was sampled for an estimate or an interval
 *  @param rows  receives their number; 0: the audit has ended, or has nothing to ask
 *  @return CERTREG_OK; CERTREG_E_INVALID (x and model.eval are NULL, or plan.audit is
 *          0); CERTREG_E_WRONG_STATE (before begin); CERTREG_E_MODEL_FAILED, as
 *          certreg_audit_give  @par Source theory 15  @since 0.3 */
CERTREG_API certreg_status
certreg_audit_next(certreg_estimator *, float *x, size_t *rows);

/** Takes the outputs of these rows.
 *  @param y  rows*columns floats, as for certreg_estimator_record
 *  @return CERTREG_OK; CERTREG_E_MODEL_FAILED if the premise is refused: error.sample,
 *          .output, .value (the change), .code (CERTREG_DEPENDENCE_...); the record is
 *          then void until the next begin; CERTREG_E_WRONG_STATE (no rows are out);
 *          CERTREG_E_INVALID  @since 0.3 */
CERTREG_API certreg_status certreg_audit_give(certreg_estimator *, const float *y);
#endif

/** Writes the record as bytes: its identity, its pilot, its first evaluation, index
 *  ranges, outputs, a checksum. The bytes are the same on every platform; they contain
 *  the seed.
 *  @param buffer  receives the bytes; NULL: only their number is returned
 *  @param bytes   in: size of buffer; out: bytes needed
 *  @return CERTREG_OK; CERTREG_E_SMALL_MEMORY; CERTREG_E_WRONG_STATE;
 *          CERTREG_E_OUT_OF_RANGE once an output has left its declared range
 *  @par Source theory 5.2 */
CERTREG_API certreg_status
certreg_estimator_export(certreg_estimator *, void *buffer, size_t *bytes);

/** Adds an exported record to the current one, all or nothing; shards are merged this
 *  way. Create the estimator with the record's plan.seed, and first begin with the same
 *  z, sigma, noise_id and level. A record without samples takes the pilot of the
 *  imported one; otherwise the pilots must be equal. Once evaluated, a record keeps the
 *  max_samples and batch of its first evaluation. Two evaluated records can be merged
 *  only if these agree.
 *  @param buffer  `bytes` bytes that certreg_estimator_export has written
 *  @return CERTREG_OK; CERTREG_E_CORRUPT; CERTREG_E_MISMATCH naming the difference;
 *          CERTREG_E_TOO_MANY; CERTREG_E_VERSION; CERTREG_E_WRONG_STATE
 *  @par Source theory 5.2 */
CERTREG_API certreg_status
certreg_estimator_import(certreg_estimator *, const void *buffer, size_t bytes);

/** Sets a deadline for sampling and for the answers of certify, by CLOCK_MONOTONIC. It
 *  stays until the next call of this function, even after it has passed or after begin.
 *  Before each batch the library adds the time of the slowest batch so far and the time
 *  of the answers; if the sum exceeds the remaining time, sampling stops. While the
 *  record has too few samples for any answer, only the batch counts. A running batch is
 *  not interrupted; an answer is, between small steps. So a call ends at most one batch
 *  or one step late. A question that was interrupted claims nothing and has `stop`
 *  CERTREG_STOP_DEADLINE; the questions before it keep their answers. The library
 *  learns the time of the answers from earlier calls; until it is known, half of the
 *  time is reserved for them. The levels of certreg_certify_sigmas divide the time
 *  evenly.
 *  @param seconds  from now on; 0 or below: it has passed already; INFINITY: no
 *                  deadline, as in a new estimator
 *  @return CERTREG_OK; CERTREG_E_INVALID (NaN)  @par Source theory 5.1 */
CERTREG_API certreg_status
certreg_estimator_set_deadline(certreg_estimator *, double seconds);

/** Makes the running or next sample, or certify, stop after its batch. The request
 *  stays until a call reports it; begin does not clear it. NULL is allowed.
 *  @par Threads any, and signal handlers */
CERTREG_API void certreg_estimator_cancel(certreg_estimator *);

/** Facts about the current input that all its certificates share. With the seed (the
 *  plan's, or the drawn one), noise_id, level, sigma and the plan the same samples can
 *  be drawn again. */
typedef struct certreg_run {
    uint32_t struct_size;
    int32_t reserved;
    uint64_t seed, noise_id, level; /* name the noise; certreg_estimator_begin_level */
    uint64_t samples;               /* in the record, pilot included */
    uint64_t pilot, batch;          /* number of pilot samples; rows of one call */
    double sigma;                   /* given to begin */
    double model_seconds, library_seconds; /* since begin */
} certreg_run;

/** Fills `out` for the current input.
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_WRONG_STATE (before begin) */
CERTREG_API certreg_status
certreg_estimator_info(certreg_estimator *, certreg_run *out);

/** Computes a 64-bit digest of a question: of every field, and of all data behind its
 *  pointers. Defaults are resolved first, so that alpha 0 and 0.05 have the same
 *  digest. Different digests mean different questions; equal digests are no proof
 *  against intent. A question has the same digest in all versions and on every
 *  platform.
 *  @param digest  0 after a failure
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_VERSION */
CERTREG_API certreg_status certreg_question_digest(
    const certreg_question *question, certreg_error *why, uint64_t *digest);

#ifdef __cplusplus
}
#endif
#endif

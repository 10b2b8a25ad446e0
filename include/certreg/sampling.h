/** @file sampling.h
 * libcertreg: sampling by hand, records, deadlines, and what a program keeps.
 */
#ifndef CERTREG_SAMPLING_H
#define CERTREG_SAMPLING_H
#include "certreg/certreg.h"
#ifdef __cplusplus
extern "C" {
#endif

/** certreg_estimator_begin with the noise of one level of certreg_certify_sigmas, to
 *  repeat it or to import its record: sigmas[k] has level k + 1, and begin has level 0.
 *  No two pairs of noise_id and level share any noise.
 *  @param level  below 2^20
 *  @return as certreg_estimator_begin */
CERTREG_API certreg_status certreg_estimator_begin_level(
    certreg_estimator *, const float *z, double sigma, uint64_t noise_id,
    uint64_t level);

/** Records samples first .. first+count-1 and calls the model only for batches in which
 *  some are missing. Its used rows are those from the first to the last missing one;
 *  outputs of samples between them that are there already are ignored. To resume a run,
 *  import its record and then sample. Cancel and deadline are checked between batches;
 *  what was recorded stays. After a failure of the model beyond the pilot the record
 *  answers no more questions for a fixed number: see
 *  "Evaluating a record again" in question.h.
 *  @return CERTREG_OK; CERTREG_E_TOO_MANY; CERTREG_E_MODEL_FAILED;
 *          CERTREG_E_NOT_FINITE; CERTREG_E_OUT_OF_RANGE; CERTREG_E_CANCELLED;
 *          CERTREG_E_DEADLINE; CERTREG_E_WRONG_STATE (before begin; no model.eval)
 *  @par Source theory 5 */
CERTREG_API certreg_status
certreg_estimator_sample(certreg_estimator *, uint64_t first, size_t count);

/** The noisy inputs of any samples, in any order, as often as wanted, for engines with
 *  a loop of their own. The bits are those that sample passes to the model: points of
 *  the grid of certreg_estimator_begin, and z itself as sample 0 if there is a pilot.
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
 *  @return CERTREG_OK; CERTREG_E_SMALL_MEMORY; CERTREG_E_WRONG_STATE;
 *          CERTREG_E_OUT_OF_RANGE once an output has left its declared range */
CERTREG_API certreg_status
certreg_estimator_export(certreg_estimator *, void *buffer, size_t *bytes);

/** Adds a record to the one that is there, all or nothing; so shards are merged. Give
 *  the estimator the record's plan.seed, and call begin with the same z, sigma,
 *  noise_id and level first. A record without samples takes the pilot of the imported
 *  one; otherwise the pilots must be equal. Once evaluated, a record keeps the
 *  max_samples and batch of its first evaluation. Two evaluated records can be merged
 *  only if these agree.
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
 *  earlier calls; until it is known, half of the time is left to them. The levels of
 *  certreg_certify_sigmas divide the time evenly.
 *  @param seconds  from now on; 0: no deadline; below 0: it is over already
 *  @return CERTREG_OK; CERTREG_E_INVALID (NaN)  @par Source theory 5.1 */
CERTREG_API certreg_status
certreg_estimator_set_deadline(certreg_estimator *, double seconds);

/** The running or next sample, or certify, stops after its batch. The request lasts
 *  until it is reported; begin does not clear it.
 *  @par Threads any, and signal handlers */
CERTREG_API void certreg_estimator_cancel(certreg_estimator *);

/** What all certificates of one input have in common. With seed (the plan's, or the one
 *  that was drawn), noise_id, level, sigma and the plan the same samples can be drawn
 *  again. */
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
CERTREG_API certreg_status
certreg_estimator_info(certreg_estimator *, certreg_run *out);

/** A 64-bit digest of every field of a question, and of what its pointers point to.
 *  Defaults are resolved first, so that alpha 0 and 0.05 have the same digest.
 *  Different digests mean different questions; it is no defence against intent. Equal
 *  in all versions of the library and on every platform.
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_VERSION  @par Threads any */
CERTREG_API certreg_status
certreg_question_digest(const certreg_question *question, uint64_t *digest);

#ifdef __cplusplus
}
#endif
#endif

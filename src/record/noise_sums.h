/* Sums of the record's noise, weighted by scores: everything that correlates outputs with noise.
 * One sweep serves all functions that were requested, and results stay while they fit. */
#ifndef CR_RECORD_NOISE_SUMS_H
#define CR_RECORD_NOISE_SUMS_H
#include "record/noise_replay.h"

enum cr_sum_kind {
    CR_SUMS_GRAM,       /* products of the means of score times noise over blocks; both triangles */
    CR_SUMS_CUMULATIVE, /* lengths of sums, and projections on the sums of earlier blocks */
    CR_SUMS_TOTAL       /* the same in one block, projected on its own sum */
};

/* The sizes for which the backend and the estimator need memory. */
cr_sweep_sizes cr_noise_sums_sizes(const certreg_model *, const certreg_plan *);

/* Requests results of these scores about their center, and returns the function that has them after
 * the next run, or NULL if it does not fit. Equal scores of the same samples share a function. If
 * products are requested, the number of samples is a multiple of `blocks`. */
const cr_sweep_function *cr_noise_sums_request(cr_replay *, const cr_samples *, enum cr_sum_kind,
                                               size_t blocks);
/* Drops all functions and their results. */
void cr_noise_sums_clear(cr_replay *);
/* Counts results as reused, from now on, if they exist already. */
void cr_noise_sums_begin_answers(cr_replay *);
/* Returns 1 if a function has no results yet, else 0. */
int cr_noise_sums_pending(const cr_replay *);
/* Computes the results of all such functions. A failure, also DEADLINE, drops everything. */
certreg_status cr_noise_sums_compute(cr_replay *);
/* Requests a function and computes its results. Drops all earlier ones if it does not fit. */
certreg_status cr_noise_sums_get(cr_replay *, const cr_samples *, enum cr_sum_kind, size_t blocks,
                                 const cr_sweep_function **out);
/* Squared lengths of the noise of the function's samples. */
const double *cr_noise_sums_squared_norms(const cr_replay *, const cr_sweep_function *);

#endif

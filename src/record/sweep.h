/* Sums of the record's noise, weighted by scores: everything that correlates outputs with noise.
 * One sweep finds what is wanted of many functions, and it is kept as long as there is room. */
#ifndef CR_RECORD_SWEEP_H
#define CR_RECORD_SWEEP_H
#include "record/replay.h"

enum cr_wanted {
    CR_WANTED_GRAM, /* products of the means of score times noise over blocks; both triangles */
    CR_WANTED_WALK, /* lengths of sums, and projections on those of earlier blocks */
    CR_WANTED_WHOLE /* the same in one block, projected on its own sum */
};

/* What a backend's room and the estimator's have to hold. */
cr_sweep_sizes cr_sweep_sizes_of(const certreg_model *, const certreg_plan *);

/* The function of these samples about their center, whose results are there after the next run.
 * Equal scores of the same samples are one function, whoever wants it. Their number is a multiple
 * of `blocks` where products are wanted. NULL if there is no room beside the others. */
const cr_function *cr_sweep_want(cr_replay *, const cr_samples *, enum cr_wanted, size_t blocks);
/* Makes room. No function has results any more. */
void cr_sweep_forget(cr_replay *);
/* Counts results as reused, from now on, if they are there already. */
void cr_sweep_new_answers(cr_replay *);
/* Whether something is wanted that was not found yet. */
int cr_sweep_pending(const cr_replay *);
/* Finds it. DEADLINE, or a failure of the backend: all is forgotten. */
certreg_status cr_sweep_run(cr_replay *);
/* A function with its results, found now if they are missing; others may be forgotten for it. */
certreg_status cr_sweep_find(cr_replay *, const cr_samples *, enum cr_wanted, size_t blocks,
                             const cr_function **out);
/* Squared lengths of the noise of the function's samples. */
const double *cr_sweep_norms(const cr_replay *, const cr_function *);

#endif

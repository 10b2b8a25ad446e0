/* Sums over replayed noise: everything that correlates outputs with noise. */
#ifndef CR_ESTIMATOR_CORRELATE_H
#define CR_ESTIMATOR_CORRELATE_H
#include "estimator/estimator.h"
#include "statistics/paper.h"
#include "statistics/score.h"

typedef struct cr_correlate_job { /* which scores, about which centers, over which samples */
    const cr_score *score[2];
    double center[2];
    double unit[2];   /* weights are stored as multiples of it: a power of two near the greatest, so
                         that float neither overflows nor   loses them. Set by cr_correlate_blocks */
    size_t functions; /* 1 or 2 */
    size_t output, first, count;
} cr_correlate_job;

/* Block sums of (u - center)/unit e over plan.blocks equal blocks, into at.sums, or where a device
 * keeps them; the last (count % blocks) samples are left out, so that the blocks are equal.
 * WRONG_STATE if a block would be empty. */
certreg_status cr_correlate_blocks(certreg_estimator *, cr_correlate_job *);
/* Gram matrix of the block means of function f, into at.gram; after cr_correlate_blocks. */
certreg_status cr_correlate_gram(certreg_estimator *, const cr_correlate_job *, size_t f);
/* Weights of samples first .. first+count-1 into at.weights, functions plan.max_samples apart. */
void cr_correlate_weights(certreg_estimator *, const cr_correlate_job *, size_t first,
                          size_t count);
/* Both passes of the paper's all-pairs estimate over the recorded outputs first .. first+count-1.
 */
certreg_status cr_correlate_paper(certreg_estimator *, size_t output, size_t first, size_t count,
                                  cr_paper *paper);

#endif

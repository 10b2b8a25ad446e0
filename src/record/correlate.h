/* Sums over replayed noise: everything that correlates outputs with noise. */
#ifndef CR_RECORD_CORRELATE_H
#define CR_RECORD_CORRELATE_H
#include "record/replay.h"
#include "statistics/paper.h"

typedef struct cr_block_sums { /* what device.sums holds */
    size_t functions, length;  /* 1 or 2; samples of a block */
    double unit[2]; /* what weights are multiples of: a power of two near the greatest, so that
                       float neither overflows nor loses them */
} cr_block_sums;

/* Block sums of score times noise over plan.blocks equal blocks; `functions` views of the same
 * samples of the record. The last (count % blocks) samples are left out, so that the blocks are
 * equal. WRONG_STATE if a block would be empty. */
certreg_status cr_correlate_blocks(cr_replay *, const cr_samples *each, size_t functions,
                                   cr_block_sums *);
/* Gram matrix of the block means of function f, into host.gram. */
certreg_status cr_correlate_gram(cr_replay *, const cr_block_sums *, size_t f);
/* Both passes of the paper's all-pairs estimate over recorded outputs first .. first+count-1. */
certreg_status cr_correlate_paper(cr_replay *, size_t output, size_t first, size_t count,
                                  cr_paper *paper);

#endif

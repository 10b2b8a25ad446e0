/* Tests of a probability that look at the data more than once (theory 6): an exact closed one, and
 * one that may look at any time. */
#ifndef CR_STATISTICS_SEQUENTIAL_H
#define CR_STATISTICS_SEQUENTIAL_H
#include <stddef.h>
#include <stdint.h>

/* Critical numbers of the test "the probability of a failure is below q" with interim looks after
 * looks[0] < looks[1] < ... trials. It is passed at look j if at most critical[j] trials failed
 * (-1: never). If the probability is q or more, the test passes at any look with probability at
 * most alpha. The numbers may be lowered, never raised. work: `room` doubles to follow the paths
 * in; if they, or the time, do not suffice, the interim looks share half of alpha and the last one
 * has the rest. The test is made in steps, each of which follows the paths once at most: begin,
 * then step until that is non-zero. Until then `critical` has no meaning. */
typedef struct cr_closed_search {
    double low, high, level; /* logarithms of the level of the last look */
    int rounds, proven;
} cr_closed_search;
void cr_closed_begin(cr_closed_search *, size_t count, double alpha);
int cr_closed_step(cr_closed_search *, const uint64_t *looks, size_t count, double q, double alpha,
                   double *work, size_t room, int64_t *critical);
/* Lowers critical numbers to those of a test for a greater q, so that what passes here passes there
 * (Lemma 6b). */
void cr_closed_nest(int64_t *critical, const int64_t *of_greater_q, size_t count);
/* Probability that a test with these critical numbers is passed at any look, rounded up; NAN where
 * the room or the time does not suffice. */
double cr_closed_crossing(const uint64_t *looks, size_t count, double q, const int64_t *critical,
                          double *work, size_t room);

/* After k failures in n trials: whether q is rejected, and the least q from which all are, by the
 * mixture over Beta(1/2, 1/2) on (0, q) of likelihood ratios against q. If the probability is q or
 * more it is ever rejected, over all n, with probability at most alpha (alpha <= 1/2). Rounded
 * outward; 1 where nothing is rejected. */
int cr_mixture_rejects(uint64_t k, uint64_t n, double q, double alpha);
double cr_mixture_upper(uint64_t k, uint64_t n, double alpha);

#endif

/* The group-sequential test of a probability (theory 6.7): exact, at interim looks that are fixed
 * beforehand. */
#ifndef CR_STATISTICS_GROUP_H
#define CR_STATISTICS_GROUP_H
#include <stddef.h>
#include <stdint.h>

#define CR_LOOKS 128u
#define CR_GROUP_ROOM 4096u /* doubles of work for the paths of a group-sequential test */
#define CR_GROUP_RADII 5u
#define CR_GROUP_MOST INT32_MAX /* samples of a group-sequential test */
#define CR_GROUP_KEPT 8u

typedef struct cr_looks { /* numbers of samples, pilot included */
    uint64_t at[CR_LOOKS];
    size_t count;
} cr_looks;

/* Critical numbers of the test "the probability of a failure is below q" with interim looks after
 * looks[0] < looks[1] < ... trials. It is passed at look j if at most critical[j] trials failed
 * (-1: never). If the probability is q or more, the test passes at any look with probability at
 * most alpha. The numbers may be lowered, never raised. work: `room` doubles to follow the paths
 * in; if they, or the time, do not suffice, the interim looks share half of alpha and the last one
 * has the rest. The test is made in steps, each of which follows the paths once at most: begin,
 * then step until that is non-zero. Until then `critical` has no meaning. */
typedef struct cr_group_search {
    double low, high, level; /* logarithms of the level of the last look */
    int rounds, proven;
} cr_group_search;
typedef struct cr_group_design {
    const uint64_t *looks;
    size_t count;
    double q, alpha;
} cr_group_design;
void cr_group_begin(cr_group_search *, size_t count, double alpha);
int cr_group_step(cr_group_search *, const cr_group_design *, double *work, size_t room,
                  int64_t *critical);
/* Lowers critical numbers to those of a test for a greater q, so that what passes here passes there
 * (Lemma 6b). */
void cr_group_nest(int64_t *critical, const int64_t *of_greater_q, size_t count);
/* Probability that a test with these critical numbers is passed at any look, rounded up; NAN where
 * the room or the time does not suffice. */
double cr_group_crossing(const uint64_t *looks, size_t count, double q, const int64_t *critical,
                         double *work, size_t room);

/* The tests of one condition: the first is for the target radius, the others for smaller ones,
 * which are easier to pass. The tests made last are kept between calls, since making them takes
 * longer than evaluating them. */
typedef struct cr_group_tests {
    /* For a radius to hold, failures at z must be rarer than its q. */
    double q[CR_GROUP_RADII], alpha;
    size_t count;
    uint32_t trials[CR_LOOKS]; /* 32 bits to save memory: there are many */
    int32_t critical[CR_GROUP_RADII][CR_LOOKS];
    size_t made;            /* radii whose numbers are complete */
    cr_group_search search; /* of the next one, which a deadline may interrupt */
} cr_group_tests;

#endif

/* The group-sequential test of a probability (theory 6.7): exact, at interim looks that are fixed
 * beforehand. */
#ifndef CR_STATISTICS_GROUP_SEQUENTIAL_H
#define CR_STATISTICS_GROUP_SEQUENTIAL_H
#include "statistics/serving.h"
#include <stddef.h>
#include <stdint.h>

#define CR_LOOKS 128u
#define CR_GROUP_WORK_DOUBLES 4096u /* doubles of work for the paths of a group-sequential test */
#define CR_GROUP_RADII 5u           /* radii that have a test: the target, and smaller ones */
#define CR_GROUP_MAX_SAMPLES INT32_MAX /* samples of a group-sequential test */
#define CR_GROUP_CACHE_SIZE 8u         /* tests of conditions that are kept */

typedef struct cr_looks { /* numbers of samples, pilot included */
    uint64_t samples[CR_LOOKS];
    size_t count;
} cr_looks;

/* Test of "the probability of a failure is below q", with interim looks after looks[0] < looks[1] <
 * ... trials. It passes at look j if at most critical[j] trials failed (-1: never). If the
 * probability is q or more, the test passes at any look with probability at most alpha. Critical
 * numbers may be lowered, never raised. */
typedef struct cr_group_design {
    const uint64_t *looks;
    size_t count;
    double q, alpha; /* in (0, 1) */
} cr_group_design;

typedef struct cr_group_search { /* for the critical numbers of a test */
    double low, high, level;     /* logarithms of the level of the last look */
    int rounds, proven;
} cr_group_search;

/* Starts the search for a test with `count` looks. */
void cr_group_search_init(cr_group_search *, size_t count, double alpha);
/* Makes a step of the search, which follows the paths of failures at most once, so that a deadline
 * may come between two steps. Returns non-zero when `critical` is complete; before, it has no
 * meaning. work: `capacity` doubles for the paths. If the paths need more, or more than 1.5e7
 * multiplications, the interim looks share half of alpha and the last one has the remainder. */
int cr_group_search_step(cr_group_search *, const cr_group_design *, double *work, size_t capacity,
                         int64_t *critical);
/* Returns the level of the first of several looks after the last step. */
double cr_group_first_level(const cr_group_search *, const cr_group_design *);
/* Lowers critical numbers to the numbers of a test for a greater q, so that a record that passes
 * this test passes that one too (Lemma 6b). */
void cr_group_nest(int64_t *critical, const int64_t *of_greater_q, size_t count);
/* Returns the probability, rounded up, that a test with these critical numbers passes at any look
 * if a failure has probability q; NAN if the paths need too much memory or time. */
double cr_group_crossing_probability(const uint64_t *looks, size_t count, double q,
                                     const int64_t *critical, double *work, size_t capacity);

/* The tests of one condition: first for the target radius, then for smaller ones, which are easier
 * to pass. They are kept between calls, since making them takes longer than evaluating them. */
typedef struct cr_group_tests {
    /* Everything that they depend on, with the trials: */
    double alpha, radius, sigma, threshold;
    cr_antithetic pairs;
    double q[CR_GROUP_RADII]; /* a radius holds if failures at z are rarer than its q */
    size_t count;
    uint32_t trials[CR_LOOKS]; /* 32 bits to save memory: there are many */
    int32_t critical[CR_GROUP_RADII][CR_LOOKS];
    size_t known;           /* radii with q */
    size_t completed;       /* radii with complete numbers */
    cr_group_search search; /* of the next one, which a deadline may interrupt */
} cr_group_tests;

typedef struct cr_early_look { /* the first of growing looks, which a search finds */
    double alpha, q, growth;
    uint64_t end, first;    /* main samples; `first` only grows during the search */
    cr_group_search search; /* of the test that begins with `first`; a deadline may interrupt it */
    int complete;
} cr_early_look;

#endif

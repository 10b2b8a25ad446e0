/* Lower bound of the mean of a bounded score after a shift, from the mean of one function H of the
 * score that follows its whole law (theory 6.9). */
#ifndef CR_STATISTICS_DISTRIBUTION_BOUND_H
#define CR_STATISTICS_DISTRIBUTION_BOUND_H
#include "statistics/betting_bounds.h"
#include "statistics/score_samples.h"

enum { CR_LAW_CELLS = 64, CR_LAW_PARTS = 5 };

/* The pilot's scores in cells: one from the least possible value to the least score, then equal
 * ones up to the greatest score. */
typedef struct cr_score_histogram {
    double least, from, width;
    double count[CR_LAW_PARTS][CR_LAW_CELLS]; /* sample i is in part i mod CR_LAW_PARTS */
    double into[CR_LAW_PARTS][CR_LAW_CELLS];  /* sum of their distances from the beginning of the
                                                 cell */
} cr_score_histogram;

/* H rises from 0 at the least value with one slope for each cell, and is level beyond the last. */
typedef struct cr_distribution_bound {
    double least, from, width;
    double greatest; /* greatest possible score */
    int moves;       /* 1: H(u) - u replaces H(u), for a bound of the change of E u */
    double slope[CR_LAW_CELLS], height[CR_LAW_CELLS + 1]; /* height: H at the ends of cells */
} cr_distribution_bound;

/* Sorts scores into cells. Returns 0 if there are fewer than 16, all are equal, or one is below
 * `least` or not finite; else 1. */
int cr_distribution_bound_count(cr_score_histogram *, const cr_samples *, double least);
/* Sets the slopes for which the bound within the shift r > 0, in units of sigma, is greatest for
 * these scores without one part, or for all if there is no such part. Keeps law->greatest and
 * law->moves. The bound of any slopes is valid. */
void cr_distribution_bound_fit(cr_distribution_bound *, const cr_score_histogram *, size_t part,
                               double r);
/* Sets the range of a bet on the mean of H, or of H(u) - u. */
void cr_distribution_bound_range(const cr_distribution_bound *, cr_betting_problem *);
/* Adds the scores of one part, or of all if there is no such part, to the pilot of the bet. */
void cr_distribution_bound_expect(const cr_distribution_bound *, const cr_score_histogram *,
                                  size_t part, cr_betting_problem *);
/* Returns H(u), or H(u) - u, for u not below the least value. */
double cr_distribution_bound_value(const cr_distribution_bound *, double u);
/* Returns a lower bound of E u after any shift up to r >= 0, or of the change of E u if law->moves,
 * given that E H(u), or E[H(u) - u], is at least `mean`. Rounded down. */
double cr_distribution_bound_shifted(const cr_distribution_bound *, double mean, double r);
/* Returns the largest r up to the cap at which this bound is above the threshold, or 0 if there is
 * none. */
double cr_distribution_bound_radius(const cr_distribution_bound *, double mean, double threshold,
                                    double cap);

#endif

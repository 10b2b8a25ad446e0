/* Lower bound of the mean of a bounded score after a shift, from the mean of one function H of the
 * score, fitted to its whole distribution (theory 6.9). */
#ifndef CR_STATISTICS_DISTRIBUTION_BOUND_H
#define CR_STATISTICS_DISTRIBUTION_BOUND_H
#include "statistics/betting_bounds.h"
#include "statistics/score.h"

enum { CR_HISTOGRAM_CELLS = 64, CR_HISTOGRAM_FOLDS = 5 };

/* The pilot's scores in cells: one from the minimum possible value to the smallest score, then
 * equal ones up to the largest score. */
typedef struct cr_score_histogram {
    double min_value, min_score, cell_width;
    double count[CR_HISTOGRAM_FOLDS][CR_HISTOGRAM_CELLS]; /* sample i: fold i mod FOLDS */
    /* Sums of the distances of scores from the start of their cell. */
    double offset_sum[CR_HISTOGRAM_FOLDS][CR_HISTOGRAM_CELLS];
} cr_score_histogram;

/* H rises from 0 at min_value with one slope for each cell, and is level beyond the last. */
typedef struct cr_distribution_bound {
    double min_value, min_score, cell_width;
    double max_value;  /* maximum possible score */
    int bounds_change; /* 1: H(u) - u replaces H(u), for a bound of the change of E u */
    double slope[CR_HISTOGRAM_CELLS], height[CR_HISTOGRAM_CELLS + 1]; /* H at the ends of cells */
} cr_distribution_bound;

/* Sorts scores into cells. Returns 0 if there are fewer than 16, all are equal, or one is below
 * min_value or not finite; else 1. */
int cr_score_histogram_make(cr_score_histogram *, const cr_samples *, double min_value);
/* Sets the slopes for which the bound within the shift r > 0, in units of sigma, is largest for
 * these scores without one fold, or for all if there is no such fold. Keeps max_value and
 * bounds_change. The bound of any slopes is valid. */
void cr_distribution_bound_fit(cr_distribution_bound *, const cr_score_histogram *, size_t fold,
                               double r);
/* Sets the range of a bet on the mean of H, or of H(u) - u. */
void cr_distribution_bound_range(const cr_distribution_bound *, cr_betting_problem *);
/* Adds the scores of one fold, or of all if there is no such fold, to the pilot of the bet. */
void cr_distribution_bound_add_pilot(const cr_distribution_bound *, const cr_score_histogram *,
                                     size_t fold, cr_betting_problem *);
/* Returns H(u), or H(u) - u, for u from min_value on. */
double cr_distribution_bound_value(const cr_distribution_bound *, double u);
/* Returns a lower bound of E u after any shift up to r >= 0, or of the change of E u if
 * bounds_change is set, given that E H(u), or E[H(u) - u], is at least `mean`. Rounded down. */
double cr_distribution_bound_shifted(const cr_distribution_bound *, double mean, double r);
/* Returns the largest r up to the cap at which this bound is above the threshold, or 0 if there is
 * none. */
double cr_distribution_bound_radius(const cr_distribution_bound *, double mean, double threshold,
                                    double cap);

#endif

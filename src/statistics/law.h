/* A bound of the mean of a bounded score after a shift, from one mean that knows the whole law of
 * the score (theory 6.9). */
#ifndef CR_STATISTICS_LAW_H
#define CR_STATISTICS_LAW_H
#include "statistics/betting.h"
#include "statistics/samples.h"

enum { CR_LAW_CELLS = 64, CR_LAW_PARTS = 5 };

/* Scores in cells: one from the least value up to the first that was seen, then equal ones. */
typedef struct cr_law_cells {
    double least, from, width;
    double count[CR_LAW_PARTS][CR_LAW_CELLS]; /* sample i is in part i mod CR_LAW_PARTS */
    double into[CR_LAW_PARTS][CR_LAW_CELLS];  /* how far they are into the cell, together */
} cr_law_cells;

/* H rises from 0 at the least value along these cells with a slope of their own, and is level
 * beyond the last. */
typedef struct cr_law {
    double least, from, width;
    double greatest; /* value of a score */
    int moves;       /* about how far E u moves: H(u) - u is in place of H(u) */
    double slope[CR_LAW_CELLS], height[CR_LAW_CELLS + 1]; /* height: H where cells begin and end */
} cr_law;

/* Zero: there are too few samples, or they are all alike. */
int cr_law_count(cr_law_cells *, const cr_samples *, double least);
/* The law whose bound within the shift r > 0 (in units of sigma) is best for these scores, without
 * those of a part; no such part: for all. The bounds of any law are valid. */
void cr_law_fit(cr_law *, const cr_law_cells *, size_t part, double r);
/* A bet on the mean of H: its range, */
void cr_law_range(const cr_law *, cr_bet *);
/* and as its pilot the scores of a part, or of all. */
void cr_law_expect(const cr_law *, const cr_law_cells *, size_t part, cr_bet *);
/* H(u) for u not below the least value. */
double cr_law_value(const cr_law *, double u);
/* A lower bound of E u after any shift up to r >= 0, or of how far it moves, given that E H(u) is
 * at least `mean`. Rounded down. */
double cr_law_shifted(const cr_law *, double mean, double r);
/* The largest r up to the cap at which that is above the threshold; 0: there is none. */
double cr_law_radius(const cr_law *, double mean, double threshold, double cap);

#endif

/* Points t that are close together where one of several tails rises, and far apart elsewhere. */
#ifndef CR_STATISTICS_GRID_H
#define CR_STATISTICS_GRID_H
#include "statistics/tail.h"

typedef struct cr_rise { /* where a tail rises */
    double samples, shift, begin, end;
} cr_rise;

/* Up to `band` standard deviations from its middle. */
cr_rise cr_grid_rise(const cr_tail *, double band);
/* The next point, `share` of a standard deviation from t or less; infinite after the last rise. */
double cr_grid_next(const cr_rise *rises, int count, double t, double share);

#endif

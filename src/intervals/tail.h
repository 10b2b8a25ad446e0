/* P(Bin(n, Phi(t + shift)) >= above) as a function of t: a distribution function whose density has
 * a concave logarithm. So it is convex up to its mode, and concave from there (theory 12.3). */
#ifndef CR_INTERVALS_TAIL_H
#define CR_INTERVALS_TAIL_H
#include <stdint.h>

typedef struct cr_tail {
    double above, rank; /* rank: n + 1 - above. The parameters of a beta distribution */
    double shift;
} cr_tail;

cr_tail cr_tail_of(uint64_t samples, uint64_t above, double shift);
double cr_tail_value(const cr_tail *, double t);
double cr_tail_density(const cr_tail *, double t);
double cr_tail_mode(const cr_tail *);
/* The t at which it reaches the value. */
double cr_tail_reaches(const cr_tail *, double value);

/* ---- points t that are close together where one of several tails rises, and far apart elsewhere
 */
typedef struct cr_rise { /* where a tail rises */
    double samples, shift, begin, end;
} cr_rise;

/* Up to `band` standard deviations from its middle. */
cr_rise cr_tail_rise(const cr_tail *, double band);
/* The next point, `share` of a standard deviation from t or less; infinite after the last rise. */
double cr_tail_next(const cr_rise *rises, int count, double t, double share);

#endif

/* P(Bin(n, Phi(t + shift)) >= above) as a function of t: a distribution function with a log-concave
 * density, hence convex up to the mode and concave from there (theory 12.3). */
#ifndef CR_CONFORMAL_BINOMIAL_TAIL_H
#define CR_CONFORMAL_BINOMIAL_TAIL_H
#include <stdint.h>

typedef struct cr_binomial_tail {
    double above, rank; /* rank: n + 1 - above. The parameters of a beta distribution */
    double shift;
} cr_binomial_tail;

/* The tail of n = samples; 1 <= above <= n, shift in units of sigma. */
cr_binomial_tail cr_binomial_tail_of(uint64_t samples, uint64_t above, double shift);
/* Return the tail at t, its density, and the mode of the density. */
double cr_binomial_tail_value(const cr_binomial_tail *, double t);
double cr_binomial_tail_density(const cr_binomial_tail *, double t);
double cr_binomial_tail_mode(const cr_binomial_tail *);
/* Returns the t at which the tail reaches the value, in (0, 1). */
double cr_binomial_tail_quantile(const cr_binomial_tail *, double value);

/* ---- a grid of points t, dense in the rise of each of several tails */
typedef struct cr_tail_ramp { /* where a tail rises */
    double samples, shift, begin, end;
} cr_tail_ramp;

/* Returns the rise up to `band` standard deviations from its center. */
cr_tail_ramp cr_tail_ramp_of(const cr_binomial_tail *, double band);
/* Returns the next point, `step_fraction` of a standard deviation from t or less; infinite after
 * the last rise. */
double cr_tail_ramp_next(const cr_tail_ramp *ramps, int count, double t, double step_fraction);

#endif

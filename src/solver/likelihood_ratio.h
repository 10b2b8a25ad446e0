/* The centered likelihood ratio without its known part: h(t) = (w_r(t) - 1) / T_0(r) for k = 0, and
 * (w_r(t) - 1 - rt) / T_1(r) for k = 1, of unit norm under N(0,1). This takes the known correlation
 * of a function out of the problem, and small r costs no digits. */
#ifndef CR_SOLVER_LIKELIHOOD_RATIO_H
#define CR_SOLVER_LIKELIHOOD_RATIO_H

typedef struct cr_ratio {
    int order;   /* k: 0 or 1 */
    double r;    /* radius in units of sigma; 0 (with k = 0) is the limit h(t) = t */
    double norm; /* T_k(r) */
} cr_ratio;

/* Smaller radii are replaced by the minimum, so that no power of r underflows; a bound does not
 * fall as r grows (theory 2.3). Beyond the largest finite radius no norm is finite. Without an
 * upper end of the range the integrand extends to 2r + 9, and exp(-t^2/2) to 37: hence the largest
 * open one. */
#define CR_MIN_RADIUS 0x1p-330
#define CR_MAX_FINITE_NORM_RADIUS 26.0
#define CR_MAX_OPEN_RANGE_RADIUS 14.0

/* Returns T_k(r); infinite on overflow. */
double cr_ratio_norm(int order, double r);
double cr_ratio_norm_up(int order, double r); /* rounded up */
/* Returns the ratio for a radius of 0 or from CR_MIN_RADIUS on. */
cr_ratio cr_ratio_make(int order, double r);
/* Return h(t) and dh/dt. */
double cr_ratio_value(const cr_ratio *ratio, double t);
double cr_ratio_slope(const cr_ratio *ratio, double t);
/* Returns E[h; t > x] = -E[h; t < x]. */
double cr_ratio_tail(const cr_ratio *ratio, double x);
/* Returns the likelihood ratio itself, exp(rt - r^2/2), from h(t). */
double cr_ratio_likelihood(const cr_ratio *ratio, double h, double t);

#endif

/** @file worst_function.h
 * libcertreg: the function behind a worst case (experimental).
 */
#ifndef CERTREG_WORST_FUNCTION_H
#define CERTREG_WORST_FUNCTION_H
#ifndef CERTREG_EXPERIMENTAL
#error "experimental (certreg.h, stability): define CERTREG_EXPERIMENTAL to use it"
#endif
#include "certreg/solver.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The values of a worst function between two breakpoints. */
enum certreg_region {
    CERTREG_REGION_LO = -1,     /* the lower end of the range */
    CERTREG_REGION_BETWEEN = 0, /* the curve */
    CERTREG_REGION_HI = 1       /* the upper end of the range */
};
/* Size of the array of regions. */
enum certreg_region_limit { CERTREG_MOST_REGIONS = 5 /* of one worst function */ };

/** A worst function: the form of an adversarial model. It depends on the noise only
 *  through t, the component of e along the shift. In regions of kind LO and HI it is
 *  range_lo and range_hi. In regions of kind BETWEEN it is
 *
 *      offset + slope*t + rest*h(t),
 *
 *  clipped to the range. h is the likelihood ratio w(t) = exp(tilt*t - tilt^2/2) minus
 *  its parts along 1 and t, scaled to unit norm (theory 3.6). */
typedef struct certreg_worst_function {
    uint32_t struct_size;
    uint32_t constraints;  /* that were used */
    int32_t side;          /* CERTREG_SIDE_LOWER or _UPPER, as given */
    uint32_t region_count; /* 1 to CERTREG_MOST_REGIONS; 0: no function */
    double radius;         /* as given */
    /* change: change of its mean at the radius. bound: no function with these
     * constraints changes more. Both are >= 0, and the smallest valid bound lies
     * between them. */
    double change, bound;
    /* Mean and variance of this function, and E[u t], the gradient norm up to its sign.
     * They satisfy the bounds to 1e-6 of its deviation, or to 1e-4 if the mean is close
     * to an end of the range (theory 3.6). */
    double mean, variance, gradient;
    /* The multipliers lambda, nu and mu of theory 3.6: derivatives of the bound in
     * variance_hi, side*E[u] and side*E[u t]. 0 for a constraint that does not bind.
     * by_variance is in units of 1/u; if it is 0, u takes only the two ends of the
     * range. */
    double by_variance, by_mean, by_gradient;
    double offset, slope, rest; /* in units of u */
    double tilt;                /* radius/sigma as a rule (theory 3.6) */
    double range_lo, range_hi;  /* infinite if no range is used */
    /* Ends of all regions but the last: region_count - 1 values of t, ascending; then
     * 0. */
    double breakpoints[CERTREG_MOST_REGIONS - 1];
    int32_t regions[CERTREG_MOST_REGIONS + 1]; /* CERTREG_REGION_... of each; then 0 */
} certreg_worst_function;

/** Finds the function with the largest change of the mean at a radius, by the search
 *  for the bound. No function is worse by more than the difference between `change` and
 *  `bound`. `bound` is the drop or rise that certreg_solver_worst_case returns, unless
 *  that call reaches its limit of evaluations, which it divides between drop and rise.
 *  A range with one finite end bounds nothing without a mean; it is then not among the
 *  constraints that were used.
 *  @param constraints  mask of the constraints to use; 0: all in bounds->constraints
 *  @param radius       positive, at most 26 sigma; at most 14 sigma if the range is
 *                      infinite on this side
 *  @param side         CERTREG_SIDE_LOWER: the function with the largest drop of the
 *                      mean; CERTREG_SIDE_UPPER: with the largest rise
 *  @return as certreg_solver_worst_case. CERTREG_E_INVALID also if the change has no
 *          bound, or if the search found no function within the bounds; with only a
 *          range of one finite end, for example, functions approach the bound but none
 *          attains it
 *  @par Rounding to nearest, except `bound`, which is rounded up and is not below
 *       `change`
 *  @par Source theory 3.6 */
CERTREG_API certreg_status certreg_solver_worst_function(
    certreg_solver *, const certreg_bounds *bounds, uint32_t constraints, double radius,
    int32_t side, certreg_worst_function *out);

/** Computes values of a worst function.
 *  @param t    count finite numbers: components of e along the shift. Their mean is 0
 *              at the input and radius/sigma at the shifted input
 *  @param out  count numbers, which may be t itself; NaN for a t that is not finite
 *  @return CERTREG_OK; CERTREG_E_INVALID: NULL, or not a function; CERTREG_E_VERSION
 *  @par Source theory 3.6 */
CERTREG_API certreg_status certreg_worst_function_values(
    const certreg_worst_function *, size_t count, const double *t, double *out);

#ifdef __cplusplus
}
#endif
#endif

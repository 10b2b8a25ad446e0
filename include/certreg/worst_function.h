/** @file worst_function.h
 * libcertreg: the function behind a worst case. Experimental: see "stability" in the
 * rules of certreg.h, which hold here as well.
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

/* What a worst function does between two breakpoints. */
enum certreg_region {
    CERTREG_REGION_LO = -1,     /* stays at the lower end of the range */
    CERTREG_REGION_BETWEEN = 0, /* follows the curve */
    CERTREG_REGION_HI = 1       /* stays at the upper end */
};
/* Room for regions. */
enum certreg_region_limit { CERTREG_MOST_REGIONS = 5 /* of one worst function */ };

/** A worst function: what an adversarial model would look like. It depends on the noise
 *  only through t, the component of e along the shift. In its regions of kind LO and HI
 *  it is range_lo and range_hi. In those of kind BETWEEN it is
 *
 *      offset + slope*t + rest*h(t),
 *
 *  clipped to the range, where h is the likelihood ratio w(t) = exp(tilt*t - tilt^2/2)
 *  less its parts along 1 and t, of unit norm (theory 3.6). */
typedef struct certreg_worst_function {
    uint32_t struct_size;
    uint32_t constraints;  /* those that were used */
    int32_t side;          /* CERTREG_SIDE_LOWER or _UPPER, as asked */
    uint32_t region_count; /* 1 to CERTREG_MOST_REGIONS; 0: no function */
    double radius;         /* as asked */
    /* change: how far its mean moves within the radius. bound: no function with these
     * constraints moves farther. Both are >= 0, and the least bound lies between
     * them. */
    double change, bound;
    /* What this function has: mean, variance and E[u t], whose size is its gradient
     * norm. They keep to the bounds to 1e-6 of its deviation, and to 1e-4 where the
     * mean is next to an end of the range (theory 3.6). */
    double mean, variance, gradient;
    /* The multipliers lambda, nu and mu of theory 3.6: derivatives of the bound in
     * variance_hi, side*E[u] and side*E[u t]. 0 for a constraint that does not bind.
     * by_variance is in units of 1/u; where it is 0, u takes the two ends of the range
     * only. */
    double by_variance, by_mean, by_gradient;
    double offset, slope, rest; /* in units of u */
    double tilt;                /* radius/sigma as a rule (theory 3.6) */
    double range_lo, range_hi;  /* infinite where no range is used */
    /* Where one region ends and the next begins: region_count - 1 values of t,
     * ascending; then 0. */
    double breakpoints[CERTREG_MOST_REGIONS - 1];
    int32_t regions[CERTREG_MOST_REGIONS + 1]; /* CERTREG_REGION_... of each; then 0 */
} certreg_worst_function;

/** The function whose mean changes most at a radius, from the same search as the bound.
 *  No function is worse by more than the difference between `change` and `bound`.
 *  `bound` is the drop or rise that certreg_solver_worst_case returns, unless that call
 *  reaches its limit of evaluations, which it divides between both. A range of one end
 *  says nothing without a mean; then it is not among the constraints that were used.
 *  @param constraints  mask of the constraints to use; 0: all in bounds->constraints
 *  @param radius       positive, at most 26 sigma; at most 14 sigma where the range has
 *                      no end on the side
 *  @param side         CERTREG_SIDE_LOWER: the function whose mean drops most;
 *                      CERTREG_SIDE_UPPER: rises most
 *  @return as certreg_solver_worst_case. CERTREG_E_INVALID also if the change has no
 *          bound, or if no function that keeps to the bounds was found, as with a range
 *          of one end and nothing else, where the bound is approached but not attained
 *  @par Threads one call at a time per solver
 *  @par Memory does not allocate
 *  @par Rounding to nearest, except `bound`, which is rounded up and is not below
 *       `change`
 *  @par Source theory 3.6 */
CERTREG_API certreg_status certreg_solver_worst_function(
    certreg_solver *, const certreg_bounds *bounds, uint32_t constraints, double radius,
    int32_t side, certreg_worst_function *out);

/** The values of a worst function.
 *  @param t    count finite numbers: components of e along the shift. At the shifted
 *              input they have the mean radius/sigma instead of 0
 *  @param out  count numbers, which may be t itself; NaN where t is not finite
 *  @return CERTREG_OK; CERTREG_E_INVALID: NULL, or not a function; CERTREG_E_VERSION
 *  @par Threads any  @par Memory does not allocate */
CERTREG_API certreg_status certreg_worst_function_values(
    const certreg_worst_function *, size_t count, const double *t, double *out);

#ifdef __cplusplus
}
#endif
#endif

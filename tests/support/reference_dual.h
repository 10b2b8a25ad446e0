/* The worst shift by other means than the library's: long double, dense quadrature over the
 * whole line, its own descent. It is slow, and it proves itself: the value of an (almost) feasible
 * function from below and a dual value from above enclose the truth. */
#ifndef CR_TESTS_REFERENCE_DUAL_H
#define CR_TESTS_REFERENCE_DUAL_H

typedef struct ref_problem {
    double r;            /* radius in units of sigma, 0 < r <= 7 */
    double mean, lo, hi; /* either end of the range may be infinite */
    double variance;
    int has_gradient;
    double gradient_lo, gradient_hi;
} ref_problem;

typedef struct ref_answer {
    double dual; /* not below the greatest rise of the mean */
    /* what some function reaches, less what its constraints are missed by: not above the
     * greatest rise */
    double primal;
} ref_answer;

void ref_solve(const ref_problem *problem, ref_answer *out);

/* Greatest correlation with the direction that a function of this mean, variance and range can
 * have. */
double ref_largest_correlation(const ref_problem *problem);

#endif

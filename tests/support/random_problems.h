/* Random admissible problems for the solver's property tests, from a seed, with the hard corners
 * well represented. */
#ifndef CR_TESTS_PROBLEMS_H
#define CR_TESTS_PROBLEMS_H
#include "certreg/certreg.h"
#include "support/reference_dual.h"
#include <certreg/solver.h>
#include <stdint.h>

typedef struct dice {
    uint64_t state;
} dice;

dice dice_of(uint64_t seed);
double dice_between(dice *, double low, double high);

/* r in [1e-4, 6] log-uniform; the range finite, open on one side or on both; the mean anywhere,
 * also down to 1e-6 of the span from an end; the variance small, near and beyond what the range
 * allows; the correlation absent, small, anywhere, or near its largest. */
ref_problem random_problem(dice *);
/* The same constraints as a caller gives them; sigma is 1. */
certreg_bounds problem_bounds(const ref_problem *);

/* The greatest value of a concave function between two places, by golden sections. */
double greatest_between(double (*value)(const void *of, double at), const void *of, double low,
                        double high, int steps);

#endif

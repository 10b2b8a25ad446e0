/* Simulated coverage: how often a claim is false over many runs, and whether that is too often. */
#ifndef SUPPORT_COVERAGE_H
#define SUPPORT_COVERAGE_H
#include "support/api_kit.h"
#include "support/simulate.h"

/* Prints the share of runs that missed. It may be so large that a true share of `alpha` leads to it
 * with a probability above `level`, and has to be at least the part `least` of alpha: 0, unless the
 * law attains what is promised. */
static inline void coverage_check(const char *name, uint64_t misses, uint64_t runs, double alpha,
                                  double level, double least)
{
    const double rate = (double)misses / (double)runs;
    printf("%-44s missed %.4f of %.4f\n", name, rate, alpha);
    fflush(stdout);
    ck_assert_msg(misses <= simulate_most_misses(runs, alpha, level),
                  "%s: %llu of %llu runs missed at alpha %g", name, (unsigned long long)misses,
                  (unsigned long long)runs, alpha);
    ck_assert_msg(rate >= least * alpha, "%s: only %g missed at alpha %g", name, rate, alpha);
}

/* ---- runs at the origin with sigma 1, each with noise of its own */
enum { COVERAGE_MOST_INPUTS = 4096 };

static inline void coverage_begin(certreg_estimator *e, uint64_t run)
{
    static const float origin[COVERAGE_MOST_INPUTS];
    KIT_OK(e, certreg_estimator_begin(e, origin, 1, run));
}

static inline certreg_certificate coverage_ask(certreg_estimator *e, uint64_t run, size_t samples,
                                               certreg_question q)
{
    coverage_begin(e, run);
    return kit_ask(e, samples, q);
}

/* How many of the runs certify a radius above the true one. */
static inline uint64_t coverage_misses(certreg_estimator *e, uint64_t runs, size_t samples,
                                       certreg_question q, double truth)
{
    uint64_t misses = 0;
    for (uint64_t run = 0; run < runs; run++)
        misses += coverage_ask(e, run, samples, q).radius > truth;
    return misses;
}

#endif

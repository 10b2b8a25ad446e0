/* The referee for soundness: how often a claim is false on a law whose truth is known, and whether
 * this is as often as it has to be. A claim states the rate that its law attains: the number of
 * misses may be neither larger nor smaller than chance explains. So a row whose rate is near alpha
 * notices that twice of alpha is spent, or half of it.
 *
 * The environment variable REFEREE, a whole number, is for releases: so many times as many runs
 * have to keep alpha, and each row is repeated with half and with twice of its alpha, to print
 * whether this is noticed. tests/rates.sh makes the table of docs/testing.md. With LAW, a part of a
 * name, the other laws are left out. */
#ifndef SUPPORT_COVERAGE_H
#define SUPPORT_COVERAGE_H
#include "support/api_kit.h"
#include "support/simulate.h"

typedef struct coverage_claim {
    const char *name;
    double alpha;
    /* The share of runs in which it is false, by a sum, or as a long run measured it. NAN: a law
     * that need not attain anything; at most alpha. */
    double expected;
    int is_asymptotic; /* promised for many samples only: `expected` may exceed alpha */
} coverage_claim;

/* One run. Bit k of the result: claim k was false. Every alpha that is asked for is multiplied by
 * `spend`: 1, or what a fault would spend. */
typedef unsigned coverage_trial(void *of, uint64_t run, double spend);

/* So many runs, and the verdict on each of the claims about a law. */
void coverage_of(const char *law, const coverage_claim *claims, int count, uint64_t runs,
                 coverage_trial *trial, void *of);

/* The same for one claim, whose name is printed by a format. */
__attribute__((format(printf, 6, 7))) void coverage_row(double alpha, double expected,
                                                        uint64_t runs, coverage_trial *trial,
                                                        void *of, const char *format, ...);

/* The verdict on one claim whose rate is an exact sum. */
void coverage_exact(const char *name, double alpha, double expected, double rate);

/* P(X <= k) for X ~ Binomial(n, p), by its terms and without the library. */
double coverage_binomial(int64_t k, uint64_t n, double p);

/* The probability that a binomial bound at alpha, from n samples of which a share p is out, is
 * below the share `claimed`. */
double coverage_rate(uint64_t n, double p, double claimed, double alpha);

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

#endif

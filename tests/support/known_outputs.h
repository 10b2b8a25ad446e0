/* Records of known outputs, and the normal and binomial formulas that say what they prove. */
#ifndef SUPPORT_KNOWN_OUTPUTS_H
#define SUPPORT_KNOWN_OUTPUTS_H
#include "support/api_kit.h"

enum { MOST = 3000 };
static const double pi = 3.14159265358979323846;

/* ---- formulas */
static inline double phi(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static inline double phi_inverse(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < 200; i++)
        *(phi(0.5 * (low + high)) < p ? &low : &high) = 0.5 * (low + high);
    return 0.5 * (low + high);
}

/* P(Bin(n, p) <= k) by adding up. */
static inline double binomial(int64_t k, uint64_t n, double p)
{
    double sum = 0;
    for (int64_t i = 0; i <= k; i++)
        sum +=
            exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)n - (double)i + 1) +
                (double)i * log(p) + (double)(n - (uint64_t)i) * log1p(-p));
    return fmin(sum, 1);
}

/* Least p with P(Bin(n, p) <= k) <= alpha. */
static inline double upper(int64_t k, uint64_t n, double alpha)
{
    double low = 0, high = 1;
    if (k >= (int64_t)n) return 1;
    for (int i = 0; i < 60; i++)
        *(binomial(k, n, 0.5 * (low + high)) > alpha ? &low : &high) = 0.5 * (low + high);
    return high;
}

/* ---- a record of known outputs */
typedef struct record {
    size_t count, pilot;
    int32_t kind;
    uint32_t flags;
    const double *lo, *hi;
    double sigma;
    float y[MOST];
} record;

static uint32_t lottery = 1;

static inline double uniform(void)
{
    lottery = lottery * 1664525u + 1013904223u;
    return ((double)(lottery >> 8) + 0.5) * 0x1p-24;
}

static inline certreg_estimator *recorded(const record *r)
{
    certreg_model m = KIT_MODEL(NULL, NULL, 1, 1, .kind = &r->kind, .lo = r->lo, .hi = r->hi);
    certreg_plan p = KIT_PLAN(r->count, .pilot = r->pilot ? r->pilot : SIZE_MAX, .flags = r->flags);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0}, r->sigma, 1));
    KIT_OK(e, certreg_estimator_record(e, 0, r->count, r->y));
    return e;
}

static inline record scattered(int32_t kind, double spread, size_t count, size_t pilot)
{
    record r = {.count = count, .pilot = pilot, .kind = kind, .sigma = 1};
    for (size_t i = 0; i < count; i++)
        r.y[i] = (float)(spread * (uniform() + uniform() + uniform() - 1.5) +
                         (kind == CERTREG_OUTPUT_ANGLE ? 3.1 : 0));
    return r;
}

#endif

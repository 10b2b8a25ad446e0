/* A function that is known, bounds that are true of it, and a shift, from bytes. */
#ifndef FUZZ_PROBLEM_H
#define FUZZ_PROBLEM_H
#include "certreg/solver.h"
#include "fuzz/fuzz.h"
#include "support/step_functions.h"

enum { SETS = 31 }; /* of constraints: their numbers are 1 to SETS */

typedef struct problem {
    steps f;
    steps_facts facts;
    certreg_bounds bounds;
    double r, shift[2]; /* ||shift|| <= r, in units of sigma */
    double radius;      /* sigma*r, rounded up */
    double deviation;
} problem;

/* ---- the function: edges on a grid, next to each other, or anywhere in the tails */
static inline void fuzz_edges(fuzz_bytes *b, int count, double *edge)
{
    edge[0] = -INFINITY, edge[count] = INFINITY;
    for (int i = 1; i < count; i++) {
        const uint8_t kind = fuzz_byte(b);
        const double at = kind < 96    ? (fuzz_byte(b) - 127.5) / 32
                          : kind < 160 ? (fuzz_byte(b) - 127.5) / 13.5
                          : kind < 208 ? 9.5 * (2 * fuzz_share(b) - 1)
                                       : edge[i - 1] + ldexp(1 + fuzz_share(b), -(kind - 207));
        edge[i] = isfinite(at) ? at : 0;
        for (int j = i; j > 1 && edge[j] < edge[j - 1]; j--) {
            const double other = edge[j];
            edge[j] = edge[j - 1], edge[j - 1] = other;
        }
    }
}

/* Ties, values that nearly tie, values of many magnitudes. */
static inline double fuzz_value(fuzz_bytes *b)
{
    const uint8_t kind = fuzz_byte(b);
    if (kind < 128) return (kind % 8) / 4.0 - 0.75;
    if (kind < 160) return 1 + (kind % 4) * 0x1p-52;
    if (kind < 208) return 2 * fuzz_share(b) - 1;
    return ldexp(2 * fuzz_share(b) - 1, -(kind - 207));
}

static inline steps fuzz_steps(fuzz_bytes *b)
{
    const uint8_t shape = fuzz_byte(b), unit = fuzz_byte(b), place = fuzz_byte(b);
    steps f = {.count = {1 + shape % 8, shape < 160 ? 1 : 1 + shape / 8 % 3}};
    for (int k = 0; k < 2; k++) fuzz_edges(b, f.count[k], f.edge[k]);
    const int exponent = unit < 192 ? 0 : unit < 224 ? unit - 208 : (unit - 240) * 31;
    const double offset = place < 192 ? 0 : ldexp(place % 2 ? 1 : -1, (place - 192) / 2);
    for (int i = 0; i < f.count[0] * f.count[1]; i++)
        f.value[i] = ldexp(offset + fuzz_value(b), exponent);
    return f;
}

/* ---- its bounds: as close as may be, or wider by any order of magnitude */
static inline double fuzz_slack(fuzz_bytes *b)
{
    const uint8_t kind = fuzz_byte(b);
    return kind < 128 ? 0 : kind < 250 ? ldexp(1, -(kind - 128) / 3) : ldexp(1, kind - 248);
}

static inline known fuzz_farther(known x, long double by)
{
    return (known){x.value + by, x.error};
}

static inline known fuzz_times(known x, long double by)
{
    return (known){x.value * by, x.error * fabsl(by)};
}

static inline void fuzz_range(fuzz_bytes *b, const steps_facts *s, long double span,
                              certreg_bounds *out)
{
    out->range_lo = steps_down((known){s->least - span * fuzz_slack(b), 0});
    out->range_hi = steps_up((known){s->greatest + span * fuzz_slack(b), 0});
    const uint8_t open = fuzz_byte(b);
    if (open > 240) out->range_hi = INFINITY;
    else if (open > 224) out->range_lo = -INFINITY;
}

static inline certreg_bounds fuzz_bounds(fuzz_bytes *b, const steps_facts *s)
{
    certreg_bounds out = {.struct_size = sizeof out, .sigma = 1};
    const known mean = {s->mean, s->about.error + 0x1p-62L * fabsl(s->mean)};
    const long double deviation = sqrtl(fmaxl(0, s->variance.value)),
                      span = fmaxl(s->greatest - s->mean, s->mean - s->least);
    const uint32_t set = 1 + fuzz_byte(b) % SETS;
    out.constraints = (set & CERTREG_CONSTRAINTS_ECGM) | (set & 16 ? CERTREG_CONSTRAINT_MOMENT : 0);
    fuzz_range(b, s, span, &out);
    out.mean_lo = steps_down(fuzz_farther(mean, -span * fuzz_slack(b)));
    out.mean_hi = steps_up(fuzz_farther(mean, span * fuzz_slack(b)));
    out.variance_hi = steps_up(fuzz_times(s->variance, 1 + fuzz_slack(b)));
    out.gradient_lo = fmax(0, steps_down(fuzz_times(s->gradient, 1 - fuzz_slack(b))));
    out.gradient_hi = steps_up(fuzz_farther(s->gradient, deviation * fuzz_slack(b)));
    out.moment_center = (double)(s->mean + deviation * fuzz_slack(b) * (fuzz_byte(b) % 2 ? 1 : -1));
    out.moment_hi = steps_up(fuzz_times(steps_moment(s, out.moment_center), 1 + fuzz_slack(b)));
    return out;
}

/* ---- how far, and where to. Along the variable that matters where there is but one. */
static inline double fuzz_radius(fuzz_bytes *b)
{
    static const double special[] = {0x1p-330, 0x1p-331, 14, 14 + 0x1p-49, 1e-8, 26, 10,
                                     1,        1e-4,     0,  0x1p-400,     0.5};
    const uint8_t kind = fuzz_byte(b);
    if (kind < 200) return exp(log(1e-3) + (log(5) - log(1e-3)) * (kind + fuzz_share(b)) / 200);
    if (kind < 240) return exp(log(1e-7) + (log(25) - log(1e-7)) * fuzz_share(b));
    return special[kind % (sizeof special / sizeof *special)];
}

static inline void fuzz_shift(fuzz_bytes *b, double r, double shift[2])
{
    const uint8_t way = fuzz_byte(b);
    const double turn = way < 96 ? 0 : way < 192 ? 0.5 : fuzz_share(b), angle = 6.283185307 * turn;
    shift[0] = turn == 0 ? r : turn == 0.5 ? -r : r * cos(angle) * (1 - 0x1p-50);
    shift[1] = turn == 0 || turn == 0.5 ? 0 : r * sin(angle) * (1 - 0x1p-50);
}

static inline problem fuzz_problem(fuzz_bytes *b)
{
    problem p = {.r = fuzz_radius(b)};
    fuzz_shift(b, p.r, p.shift);
    const uint8_t sigma = fuzz_byte(b);
    p.f = fuzz_steps(b);
    p.facts = steps_facts_of(&p.f);
    p.bounds = fuzz_bounds(b, &p.facts);
    p.bounds.sigma = sigma < 192 ? 1 : ldexp(1 + (sigma % 4) / 3.0, (sigma - 224) * 2);
    p.radius = p.r == 0 ? 0 : nextafter(p.r * p.bounds.sigma, INFINITY);
    p.deviation = (double)sqrtl(fmaxl(0, p.facts.variance.value));
    return p;
}

#endif

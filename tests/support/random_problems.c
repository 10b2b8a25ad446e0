#include "support/random_problems.h"
#include "support/structs.h"
#include <certreg/solver.h>
#include <math.h>

static double uniform(dice *d)
{
    d->state += 0x9e3779b97f4a7c15u;
    uint64_t x = d->state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return ((double)((x ^ (x >> 31)) >> 11) + 0.5) * 0x1p-53;
}

dice dice_of(uint64_t seed)
{
    dice d = {seed * 0xd1342543de82ef95u + 1};
    uniform(&d);
    return d;
}

double dice_between(dice *d, double low, double high)
{
    return low + (high - low) * uniform(d);
}

static double small_share(dice *d, double decades)
{
    return pow(10, -decades * uniform(d));
}

static void choose_range(dice *d, ref_problem *p)
{
    const double span = pow(10, dice_between(d, -2, 2)), place = dice_between(d, -1, 1) * span,
                 kind = uniform(d);
    const double where = uniform(d), share = where < 0.5 ? uniform(d) : small_share(d, 6);
    p->lo = place - span;
    p->hi = place + span;
    p->mean = where < 0.75 ? p->lo + 2 * span * share : p->hi - 2 * span * share;
    p->mean = fmin(fmax(p->mean, nextafter(p->lo, INFINITY)), nextafter(p->hi, -INFINITY));
    if (kind > 0.7 && kind < 0.95) {
        if (kind < 0.825) p->hi = INFINITY;
        else p->lo = -INFINITY;
    } else if (kind >= 0.95) {
        p->lo = -INFINITY, p->hi = INFINITY;
    }
}

static void choose_variance(dice *d, ref_problem *p)
{
    const double below = p->mean - p->lo, over = p->hi - p->mean, kind = uniform(d);
    const double most = isinf(below) && isinf(over) ? 1
                        : isinf(below)              ? over * over
                        : isinf(over)               ? below * below
                                                    : below * over;
    if (isinf(below) || isinf(over)) p->variance = most * pow(10, dice_between(d, -3, 3));
    else if (kind < 0.6) p->variance = most * small_share(d, 4);
    else if (kind < 0.7) p->variance = most * (1 - small_share(d, 6));
    else if (kind < 0.8) p->variance = most * (1 + small_share(d, 6));
    else p->variance = most * dice_between(d, 0.1, 2);
}

static void choose_gradient(dice *d, ref_problem *p)
{
    /* Where the variance is nearly all that the range allows, that of a little less serves: it is
     * known to more digits. */
    const double kind = uniform(d), most = (p->hi - p->mean) * (p->mean - p->lo);
    ref_problem less = *p;
    if (p->variance < most) less.variance = fmin(p->variance, 0.99 * most);
    const double limit = ref_largest_correlation(&less) * (1 - 1e-7);
    p->has_gradient = kind < 0.8;
    if (!p->has_gradient) return;
    p->gradient_hi = limit * (kind < 0.4    ? uniform(d)
                              : kind < 0.55 ? small_share(d, 6)
                              : kind < 0.6  ? 0
                                            : 1 - small_share(d, 5));
    const double low = uniform(d);
    p->gradient_lo = low < 0.5 ? p->gradient_hi : low < 0.75 ? 0 : p->gradient_hi * uniform(d);
}

ref_problem random_problem(dice *d)
{
    ref_problem p = {.r = exp(dice_between(d, log(1e-4), log(6)))};
    choose_range(d, &p);
    choose_variance(d, &p);
    choose_gradient(d, &p);
    return p;
}

certreg_bounds problem_bounds(const ref_problem *p)
{
    const uint32_t constraints = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                                 CERTREG_CONSTRAINT_RANGE |
                                 (p->has_gradient ? CERTREG_CONSTRAINT_GRADIENT : 0);
    return BOUNDS(.constraints = constraints, .sigma = 1, .mean_lo = p->mean, .mean_hi = p->mean,
                  .variance_hi = p->variance, .gradient_lo = p->gradient_lo,
                  .gradient_hi = p->gradient_hi, .range_lo = p->lo, .range_hi = p->hi);
}

double greatest_between(double (*value)(const void *of, double at), const void *of, double low,
                        double high, int steps)
{
    const double ratio = 0.6180339887498949;
    double a = high - ratio * (high - low), b = low + ratio * (high - low), at_a = value(of, a),
           at_b = value(of, b), best = fmax(value(of, low), value(of, high));
    for (int i = 0; i < steps; i++) {
        best = fmax(best, fmax(at_a, at_b));
        if (at_a < at_b) {
            low = a, a = b, at_a = at_b, b = low + ratio * (high - low);
            at_b = value(of, b);
        } else {
            high = b, b = a, at_b = at_a, a = high - ratio * (high - low);
            at_a = value(of, a);
        }
    }
    return best;
}

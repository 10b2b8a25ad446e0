#include "estimator/cost.h"
#include <math.h>

static const double reserve = 1.125; /* of what is expected */
static const double slowly = 1.0 / 16;

/* A longer time is believed at once, but at most doubled, so that one outlier does little; a
 * shorter one is believed little by little. */
static double follow(double known, double seen)
{
    if (!(known > 0)) return seen;
    return seen > known ? fmin(seen, 2 * known) : known + slowly * (seen - known);
}

double cr_cost_expected(const cr_cost *cost, double samples)
{
    return reserve * (cost->fixed + cost->each * samples);
}

void cr_cost_learn(cr_cost *cost, double samples, double seconds, double fixed)
{
    if (!(samples > 0)) return;
    cost->fixed = follow(cost->fixed, fixed);
    cost->each = follow(cost->each, fmax(0, seconds - fixed) / samples);
}

/* How much was missing is not known: it is taken to be twice as long. */
void cr_cost_learn_abandoned(cr_cost *cost, double samples, double seconds)
{
    const double each = 2 * (seconds - cost->fixed) / samples;
    if (samples > 0 && each > cost->each) cost->each = follow(cost->each, each);
}

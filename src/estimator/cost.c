#include "estimator/work.h"
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

/* Where nearly all is pilot, half counts: so little beyond it tells nothing of more. */
static double beyond_pilot(cr_counted n)
{
    return fmax(n.all - n.pilot, n.all / 2);
}

double cr_cost_expected(const cr_cost *cost, cr_counted n)
{
    return reserve * (cost->fixed + fmax(cost->each * n.all, cost->each_main * beyond_pilot(n)));
}

void cr_cost_learn(cr_cost *cost, cr_counted n, double seconds, double fixed)
{
    const double varying = fmax(0, seconds - fixed);
    if (!(n.all > 0)) return;
    cost->fixed = follow(cost->fixed, fixed);
    cost->each = follow(cost->each, varying / n.all);
    cost->each_main = follow(cost->each_main, varying / beyond_pilot(n));
}

/* How much was missing is not known: it is taken to be twice as long. */
void cr_cost_learn_abandoned(cr_cost *cost, cr_counted n, double seconds)
{
    const double varying = 2 * (seconds - cost->fixed);
    if (!(n.all > 0)) return;
    cost->each = follow(cost->each, fmax(cost->each, varying / n.all));
    cost->each_main = follow(cost->each_main, fmax(cost->each_main, varying / beyond_pilot(n)));
}

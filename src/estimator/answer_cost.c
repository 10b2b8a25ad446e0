/* The time of answers, learned from earlier ones. Tests choose the times: no clock is read here. */
#include "estimator/context.h"
#include <math.h>

static const double reserve = 1.125; /* a factor on the expected time */
static const double slowly = 1.0 / 16;

/* Follows a longer time at once, but to at most twice the known one, so that one outlier does
 * little; follows a shorter one slowly. */
static double follow(double known, double seen)
{
    if (!(known > 0)) return seen;
    return seen > known ? fmin(seen, 2 * known) : known + slowly * (seen - known);
}

/* The main samples, but at least half of all: a few main samples predict nothing. */
static double beyond_pilot(cr_sample_counts n)
{
    return fmax(n.all - n.pilot, n.all / 2);
}

double cr_answer_cost_expected(const cr_answer_cost *cost, cr_sample_counts n)
{
    return reserve * (cost->fixed + fmax(cost->each * n.all, cost->each_main * beyond_pilot(n)));
}

void cr_answer_cost_learn(cr_answer_cost *cost, cr_sample_counts n, double seconds, double fixed)
{
    const double varying = fmax(0, seconds - fixed);
    if (!(n.all > 0)) return;
    cost->fixed = follow(cost->fixed, fixed);
    cost->each = follow(cost->each, varying / n.all);
    cost->each_main = follow(cost->each_main, varying / beyond_pilot(n));
}

/* The missing time is unknown, so the whole is assumed to take twice as long. */
void cr_answer_cost_learn_abandoned(cr_answer_cost *cost, cr_sample_counts n, double seconds)
{
    const double varying = 2 * (seconds - cost->fixed);
    if (!(n.all > 0)) return;
    cost->each = follow(cost->each, fmax(cost->each, varying / n.all));
    cost->each_main = follow(cost->each_main, fmax(cost->each_main, varying / beyond_pilot(n)));
}

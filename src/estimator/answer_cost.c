/* The time of answers, learned from earlier ones. Tests choose the times: no clock is read here. */
#include "estimator/context.h"
#include <math.h>

static const double safety_factor = 1.125; /* a factor on the expected time */
static const double decay = 1.0 / 16;

/* Follows a longer time at once, but to at most twice the estimate, so that one outlier does
 * little; follows a shorter one slowly. */
static double update_estimate(double estimate, double observed)
{
    if (!(estimate > 0)) return observed;
    return observed > estimate ? fmin(observed, 2 * estimate)
                               : estimate + decay * (observed - estimate);
}

/* The main samples, but at least half of all: a few main samples predict nothing. */
static double main_samples(cr_sample_counts n)
{
    return fmax(n.all - n.pilot, n.all / 2);
}

double cr_answer_cost_expected(const cr_answer_cost *cost, cr_sample_counts n)
{
    return safety_factor *
           (cost->constant_seconds + fmax(cost->seconds_per_sample * n.all,
                                          cost->seconds_per_main_sample * main_samples(n)));
}

void cr_answer_cost_learn(cr_answer_cost *cost, cr_sample_counts n, double seconds,
                          double constant_seconds)
{
    const double variable_seconds = fmax(0, seconds - constant_seconds);
    if (!(n.all > 0)) return;
    cost->constant_seconds = update_estimate(cost->constant_seconds, constant_seconds);
    cost->seconds_per_sample = update_estimate(cost->seconds_per_sample, variable_seconds / n.all);
    cost->seconds_per_main_sample =
        update_estimate(cost->seconds_per_main_sample, variable_seconds / main_samples(n));
}

/* The missing time is unknown, so the whole is assumed to take twice as long. */
void cr_answer_cost_learn_abandoned(cr_answer_cost *cost, cr_sample_counts n, double seconds)
{
    const double variable_seconds = 2 * (seconds - cost->constant_seconds);
    if (!(n.all > 0)) return;
    cost->seconds_per_sample = update_estimate(
        cost->seconds_per_sample, fmax(cost->seconds_per_sample, variable_seconds / n.all));
    cost->seconds_per_main_sample =
        update_estimate(cost->seconds_per_main_sample,
                        fmax(cost->seconds_per_main_sample, variable_seconds / main_samples(n)));
}

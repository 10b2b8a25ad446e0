#include "support/hostile.h"
#include "support/step_functions.h"
#include <certreg/solver.h>
#include <float.h>
#include <math.h>

enum { MOST_STEPS = 5 };

static double wide(dice *d, double decades)
{
    return pow(10, dice_between(d, -decades, 0));
}

static steps random_steps(dice *d)
{
    steps f = {.count = {2 + (int)dice_between(d, 0, MOST_STEPS - 1.0001), 1},
               .edge = {{-INFINITY}, {-INFINITY, INFINITY}}};
    const int count = f.count[0];
    double *edge = f.edge[0];
    const double center = dice_between(d, 0, 1) < 0.5 ? dice_between(d, -3, 3)
                                                      : dice_between(d, -9, 9),
                 spread = 4 * wide(d, 4);
    for (int i = 1; i < count; i++) {
        edge[i] = center + spread * dice_between(d, -1, 1);
        for (int j = i; j > 1 && edge[j] < edge[j - 1]; j--) {
            const double other = edge[j];
            edge[j] = edge[j - 1], edge[j - 1] = other;
        }
    }
    edge[count] = INFINITY;
    const int two = dice_between(d, 0, 1) < 0.3;
    for (int i = 0; i < count; i++) f.value[i] = two ? i % 2 : dice_between(d, -1, 1) * wide(d, 3);
    return f;
}

/* How much a bound is widened, as a share: often not at all, else by any order of magnitude. */
static double slack(dice *d)
{
    return dice_between(d, 0, 1) < 0.5 ? 0 : wide(d, 13);
}

static known farther(known x, long double by)
{
    return (known){x.value + by, x.error};
}

static known times(known x, long double by)
{
    return (known){x.value * by, x.error * by};
}

static void set_range(dice *d, const steps_facts *f, long double span, certreg_bounds *b)
{
    b->range_lo = steps_down((known){f->least - span * slack(d), 0});
    b->range_hi = steps_up((known){f->greatest + span * slack(d), 0});
    const double open = dice_between(d, 0, 1);
    if (open > 0.9) b->range_hi = INFINITY;
    else if (open > 0.8) b->range_lo = -INFINITY;
}

hostile random_hostile(dice *d)
{
    const steps f = random_steps(d);
    hostile h = {.r = exp(dice_between(d, 0, 1) < 0.7 ? dice_between(d, log(1e-3), log(5))
                                                      : dice_between(d, log(1e-6), log(20)))};
    const steps_facts s = steps_facts_of(&f);
    certreg_bounds *b = &h.bounds;
    *b = (certreg_bounds){.struct_size = sizeof *b, .sigma = 1};
    const known mean = {s.mean, s.about.error};
    const long double span = fmaxl(s.greatest - s.mean, s.mean - s.least),
                      deviation = sqrtl(s.variance.value),
                      reach = fminl(span, deviation + fabsl(s.about.value));
    set_range(d, &s, span, b);
    b->mean_lo = steps_down(farther(mean, -reach * slack(d)));
    b->mean_hi = steps_up(farther(mean, reach * slack(d)));
    b->variance_hi = steps_up(times(s.variance, 1 + slack(d)));
    b->gradient_lo = fmax(0, steps_down(times(s.gradient, 1 - slack(d))));
    b->gradient_hi =
        steps_up(farther(s.gradient, (dice_between(d, 0, 1) < 0.3 ? 1 : 0) * deviation * slack(d)));
    b->moment_center = (double)(s.mean + deviation * dice_between(d, -2, 2) * slack(d));
    b->moment_hi = steps_up(times(steps_moment(&s, b->moment_center), 1 + slack(d)));
    h.mean = s.mean;
    h.rise = steps_change(&f, (double[]){h.r, 0}).value;
    h.tolerance = (double)((fabsl(h.rise) + 1e-3L * deviation) * pow(10, dice_between(d, -1, 0.5)));
    return h;
}

hostile ordinary_hostile(dice *d)
{
    const double mean = dice_between(d, -0.95, 0.95), most = 1 - mean * mean,
                 variance = most * pow(10, dice_between(d, -3, 0)), spread = sqrt(variance),
                 reach = spread * erf((1 - fabs(mean)) / spread * sqrt(0.5)),
                 slope = reach * dice_between(d, 0, 0.99);
    return (hostile){.r = pow(10, dice_between(d, -2, 0.3)),
                     .tolerance = spread * pow(10, dice_between(d, -1.3, 0.2)),
                     .bounds = {.struct_size = sizeof(certreg_bounds),
                                .sigma = 1,
                                .mean_lo = mean - 0.01,
                                .mean_hi = mean + 0.01,
                                .variance_hi = variance,
                                .gradient_lo = 0.9 * slope,
                                .gradient_hi = slope,
                                .range_lo = -1,
                                .range_hi = 1,
                                .moment_center = mean,
                                .moment_hi = variance * 1.01}};
}

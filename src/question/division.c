#include "question/division.h"
#include "statistics/binomial.h"
#include "statistics/shift.h"
#include <math.h>

/* What the near conditions of an angle take: narrow outputs can do with little, and outputs with
 * many outliers want more. */
static const double near_part[CR_DIVISIONS_OF_ANGLE] = {0.05, 0.2};
/* What the side with fewer outputs beyond the tolerance takes of the part of both. */
static const double lesser_part[CR_DIVISIONS_UNEVEN] = {0.02, 0.1, 0.25};
/* The pilot's upper bounds are too low with this probability. That costs radius, no more. */
static const double doubt = 0.2;

cr_division cr_division_even(int angle, int which)
{
    const double near = angle ? near_part[which] : 0;
    return (cr_division){.side = 0.5 - near, .near = near};
}

cr_division cr_division_uneven(const cr_division *even, int which)
{
    return (cr_division){.side = 2 * even->side * (1 - lesser_part[which]),
                         .near = even->near,
                         .either = 0.5,
                         .both = 0.5};
}

cr_division cr_division_most(int angle)
{
    const cr_division even = cr_division_even(angle, 0);
    cr_division most = cr_division_uneven(&even, 0);
    most.near = cr_division_even(angle, CR_DIVISIONS_OF_ANGLE - 1).near;
    most.either = most.both = 0;
    return most;
}

/* ---- by the pilot */
static cr_samples pilot_of(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    const size_t first = cr_view_noisy(v);
    return cr_view_samples(v, &c->score, conditions->output, first, conditions->main_first - first,
                           0);
}

/* By the failures of a score with two values, as if Huber's had two as well, and by mean and
 * variance of a sine. */
static double radius_of(cr_view *v, const cr_conditions *conditions, const cr_condition *c)
{
    const cr_samples s = pilot_of(v, conditions, c);
    const double count = (double)s.count;
    double failures = 0.5, sum = 0, square = 0;
    for (size_t i = 0; cr_samples_has(&s, i); i++) {
        const double u = cr_samples_at(&s, i);
        failures += u < 0;
        sum += u;
        square += u * u;
    }
    const double room = sum / count - c->threshold,
                 variance = fmax(0, square - sum * sum / count) / count;
    if (c->score.kind == CR_SCORE_SINE)
        return room > 0 ? cr_shift_radius_of_mean(room, variance) : 0;
    return cr_shift_radius(failures / (count + 1), 0.5 * (1 - c->threshold));
}

double cr_division_pilot_radius(cr_view *v, const cr_conditions *conditions)
{
    double least = INFINITY;
    for (int i = 0; i < conditions->count; i++)
        if (conditions->each[i].guard != CR_GUARD_TOGETHER)
            least = fmin(least, radius_of(v, conditions, conditions->each + i));
    return least;
}

/* The share of the outputs at this distance, by the upper bound of their share at the input. */
static double share_at(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                       double radius)
{
    const cr_samples s = pilot_of(v, conditions, c);
    uint64_t count = 0;
    for (size_t i = 0; cr_samples_has(&s, i); i++) count += cr_samples_at(&s, i) < 0;
    return cr_shift_most(cr_binomial_upper(count, s.count, doubt), radius);
}

int cr_division_fits(cr_view *v, const cr_conditions *conditions, double room,
                     cr_division *division)
{
    const double radius = cr_division_pilot_radius(v, conditions);
    double share[2] = {0, 0};
    int count = 0;
    if (!(radius > 0)) return 0;
    for (int i = 0; i < conditions->count; i++)
        if (conditions->each[i].guard == CR_GUARD_TOGETHER)
            share[count++] = share_at(v, conditions, conditions->each + i, radius);
    const double spare = (room - share[0] - share[1]) / count;
    division->either = share[0] + spare, division->both = share[1] + spare;
    return spare > 0;
}

#include "statistics/location.h"
#include "base/constants.h"
#include "statistics/order.h"
#include <math.h>

#define HALVINGS 48 /* of a bracket */
#define FLAT 1e-13  /* a sum of scores this small per value is zero up to rounding */

double cr_location_wrap(double value, double origin, double period)
{
    const double t = value - origin;
    /* Most are within half a turn already, and remainder() is slow. */
    return period > 0 && !(fabs(t) < 0.5 * period) ? remainder(t, period) : t;
}

/* Value i, or NaN for a failed output. Real numbers ignore the origin. */
static double value_at(const cr_values *values, size_t i)
{
    double value = (double)values->y[i * values->step];
    if (values->along) {
        value *= values->along[0];
        for (size_t k = 1; k < values->outputs; k++)
            value += values->along[k] * (double)values->y[i * values->step + k];
    }
    if (!isfinite(value)) return NAN;
    return values->period > 0 ? cr_location_wrap(value, values->origin, values->period) : value;
}

/* Whether there is a value i, and time for it. */
static inline int has(const cr_values *values, size_t i)
{
    return i < values->count && !cr_watch_ends(values->watch, i);
}

size_t cr_location_count(const cr_values *values)
{
    size_t count = 0;
    for (size_t i = 0; i < values->count; i++) count += isnan(value_at(values, i)) ? 0 : 1;
    return count;
}

static double value_in_order(const void *values, size_t i)
{
    return value_at(values, i);
}

double cr_location_order(const cr_values *values, size_t rank)
{
    const cr_order order = {value_in_order, values, values->count, values->watch};
    return cr_order_select(&order, rank);
}

double cr_location_median(const cr_values *values)
{
    const size_t count = cr_location_count(values);
    if (count == 0) return NAN;
    const double lower = cr_location_order(values, (count - 1) / 2);
    return count % 2 ? lower : lower + 0.5 * (cr_location_order(values, count / 2) - lower);
}

double cr_location_mean(const cr_values *values)
{
    const size_t count = cr_location_count(values);
    double sum = 0, lost = 0;
    for (size_t i = 0; has(values, i); i++) {
        const double value = value_at(values, i);
        if (isnan(value)) continue;
        const double total = sum + value;
        lost += fabs(sum) >= fabs(value) ? (sum - total) + value : (value - total) + sum;
        sum = total;
    }
    return count ? (sum + lost) / (double)count : NAN;
}

/* Values that equal an end of what is left may be cut in part. */
double cr_location_trimmed_mean(const cr_values *values, size_t cut)
{
    const size_t count = cr_location_count(values);
    if (count <= 2 * cut) return NAN;
    const double low = cr_location_order(values, cut),
                 high = cr_location_order(values, count - 1 - cut);
    size_t below = 0, between = 0;
    double sum = 0;
    for (size_t i = 0; has(values, i); i++) {
        const double value = value_at(values, i);
        if (isnan(value)) continue;
        below += value <= low;
        if (value > low && value < high) between++, sum += value - low;
    }
    const size_t left = count - 2 * cut, lows = low < high ? below - cut : left;
    return low + (sum + (double)(left - lows - between) * (high - low)) / (double)left;
}

/* Sign of the summed score at theta, 0 where it vanishes up to rounding. */
static int sign_at(const cr_values *values, cr_location_score score, const void *setting,
                   double theta)
{
    double sum = 0, size = 0;
    for (size_t i = 0; has(values, i); i++) {
        const double value = value_at(values, i);
        if (isnan(value)) continue;
        const double term = score(value - theta, setting);
        sum += term;
        size += fabs(term);
    }
    return fabs(sum) <= FLAT * size ? 0 : sum > 0 ? 1 : -1;
}

/* Largest point of [lo, hi] up to which the sign is at least `least`, within the last halving. */
static double edge(const cr_values *values, cr_location_score score, const void *setting, double lo,
                   double hi, int least)
{
    if (sign_at(values, score, setting, lo) < least) return lo;
    if (sign_at(values, score, setting, hi) >= least) return hi;
    for (int i = 0; i < HALVINGS && !cr_watch_late(values->watch); i++) {
        const double middle = lo + 0.5 * (hi - lo);
        if (!(middle > lo && middle < hi)) break;
        if (sign_at(values, score, setting, middle) >= least) lo = middle;
        else hi = middle;
    }
    return lo + 0.5 * (hi - lo);
}

double cr_location_root(const cr_values *values, cr_location_score score, const void *setting,
                        double lo, double hi)
{
    /* The sum is positive left of `first`. */
    const double first = edge(values, score, setting, lo, hi, 1);
    const double beyond = first + ldexp(hi - lo, 4 - HALVINGS);
    if (sign_at(values, score, setting, beyond) < 0)
        return first; /* no flat stretch: the usual case */
    const double last = edge(values, score, setting, first, hi, 0);
    return first + 0.5 * (last - first);
}

static double huber_score(double t, const void *setting)
{
    const double width = *(const double *)setting;
    return fmax(-1, fmin(t / width, 1));
}

double cr_location_huber(const cr_values *values, double width)
{
    double least = INFINITY, greatest = -INFINITY;
    for (size_t i = 0; has(values, i); i++) {
        const double value = value_at(values, i);
        if (isnan(value)) continue;
        least = fmin(least, value);
        greatest = fmax(greatest, value);
    }
    if (!(least <= greatest) || !(width > 0)) return NAN;
    return cr_location_root(values, huber_score, &width, least, greatest);
}

double cr_location_circular_mean(const cr_values *values)
{
    double cosines = 0, sines = 0;
    for (size_t i = 0; has(values, i); i++) {
        const double value = (double)values->y[i * values->step];
        if (!isfinite(value)) continue;
        const double angle = CR_TWO_PI * (remainder(value, values->period) / values->period);
        cosines += cos(angle);
        sines += sin(angle);
    }
    if (cosines == 0 && sines == 0) return NAN;
    return atan2(sines, cosines) / CR_TWO_PI * values->period;
}

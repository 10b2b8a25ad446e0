/* Locations in passes over the recorded outputs: order statistics by the selection of
 * order_statistics.c, sums, and roots of summed scores. The search for a root relies on a sign only
 * if rounding cannot have changed it. */
#include "statistics/location.h"
#include "base/constants.h"
#include "statistics/order_statistics.h"
#include <math.h>

#define HALVINGS 48 /* of a bracket */
#define SECANTS 24
#define FLAT 1e-13 /* a sum of scores this small per value is zero up to rounding */

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

/* Returns 1 if there is a value i and the deadline has not passed. */
static inline int has(const cr_values *values, size_t i)
{
    return i < values->count && !cr_deadline_ends(values->watch, i);
}

/* Returns 1 if there are values from `at` on and the deadline has not passed. */
static inline int has_chunk(const cr_values *values, size_t at)
{
    return at < values->count && !cr_deadline_ends(values->watch, at + CR_LOCATION_CHUNK - 1);
}

/* Reads the values of a chunk that have not failed, and returns their number. The places behind
 * them have no meaning. */
static inline size_t read_chunk(const cr_values *v, size_t at, double out[CR_LOCATION_CHUNK])
{
    const size_t left = v->count - at, end = left < CR_LOCATION_CHUNK ? left : CR_LOCATION_CHUNK;
    const int plain = !v->along && !(v->period > 0);
    size_t count = 0;
    for (size_t k = 0; k < end; k++) {
        const double value = plain ? (double)v->y[(at + k) * v->step] : value_at(v, at + k);
        out[count] = value;
        count += isfinite(value) != 0;
    }
    return count;
}

size_t cr_location_count(const cr_values *values)
{
    double chunk[CR_LOCATION_CHUNK];
    size_t count = 0;
    for (size_t at = 0; at < values->count; at += CR_LOCATION_CHUNK)
        count += read_chunk(values, at, chunk);
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
    double chunk[CR_LOCATION_CHUNK], next = INFINITY;
    const size_t count = cr_location_count(values);
    size_t up_to = 0;
    if (count == 0) return NAN;
    const double lower = cr_location_order(values, (count - 1) / 2);
    if (count % 2) return lower;
    for (size_t at = 0; has_chunk(values, at); at += CR_LOCATION_CHUNK)
        for (size_t k = read_chunk(values, at, chunk); k-- > 0;) {
            up_to += chunk[k] <= lower;
            next = chunk[k] > lower && chunk[k] < next ? chunk[k] : next;
        }
    return up_to > count / 2 ? lower : lower + 0.5 * (next - lower);
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

/* Some of the values that equal an end of the remaining interval may be cut. */
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
        if (!(value > low && value < high)) continue;
        between++;
        sum += value - low;
    }
    const size_t left = count - 2 * cut, lows = low < high ? below - cut : left;
    return low + (sum + (double)(left - lows - between) * (high - low)) / (double)left;
}

/* ---- roots */
typedef struct edge { /* the points at which the sum of scores exceeds `flat` times its size */
    const cr_values *values;
    cr_location_score score;
    const void *setting;
    double flat;
    int evened; /* or equals it */
    /* No score increases with theta. So if the answer at a point is certain in spite of rounding,
     * it is certain beyond it: up to `low`, and from `high` on, no sum is needed. */
    double low, high;
    double over, unsure; /* excess of the last sum, and its error by rounding */
} edge;

/* Returns 1 if theta is one of the points. Adding rounds the sum by 2^-53 of each partial sum, and
 * the sum of sizes by less than 2^-10 of itself. At other points partial sums differ by no more
 * than the sum does. */
static int has_point(edge *e, double theta)
{
    double t[CR_LOCATION_CHUNK] = {0};
    double sum = 0, size = 0, way = 0;
    if (theta <= e->low || theta >= e->high) return theta <= e->low;
    for (size_t at = 0; has_chunk(e->values, at); at += CR_LOCATION_CHUNK) {
        const size_t count = read_chunk(e->values, at, t);
        for (int k = 0; k < CR_LOCATION_CHUNK; k++) t[k] -= theta;
        e->score(t, e->setting);
        for (size_t k = 0; k < count; k++) {
            sum += t[k];
            size += fabs(t[k]);
            way += fabs(sum);
        }
    }
    e->over = sum - e->flat * size;
    e->unsure = 0x1p-51 * way + 0x1p-9 * fabs(e->flat) * size;
    if (e->over > e->unsure) e->low = theta;
    if (e->over < -e->unsure) e->high = theta;
    return e->evened ? sum >= e->flat * size : sum > e->flat * size;
}

/* Narrows the bracket by secants, each a little too long, so that both sides come near. x has the
 * excess `over`; the last sum was at e->high. */
static void close_in(edge *e, double x, double over)
{
    double last = e->high;
    for (int i = 0; i < SECANTS && !cr_deadline_late(e->values->watch); i++) {
        const double slope = (over - e->over) / (last - x), margin = 8 * e->unsure / slope,
                     next = last + e->over / slope + copysign(margin, e->over);
        if (slope > 0 && e->high - e->low <= 4 * margin) return;
        x = last;
        over = e->over;
        last = slope > 0 && next > e->low && next < e->high ? next : 0.5 * (e->low + e->high);
        has_point(e, last);
    }
}

/* Returns the largest of the points in [lo, hi], within the last halving of the bracket. */
static double edge_of(edge *e, double lo, double hi)
{
    if (!has_point(e, lo)) return lo;
    const double over = e->over;
    if (has_point(e, hi)) return hi;
    if (e->low == lo && e->high == hi) close_in(e, lo, over);
    for (int i = 0; i < HALVINGS && !cr_deadline_late(e->values->watch); i++) {
        const double middle = lo + 0.5 * (hi - lo);
        if (!(middle > lo && middle < hi)) break;
        if (has_point(e, middle)) lo = middle;
        else hi = middle;
    }
    return lo + 0.5 * (hi - lo);
}

double cr_location_root(const cr_values *values, cr_location_score score, const void *setting,
                        double lo, double hi)
{
    edge positive = {values, score, setting, FLAT, 0, -INFINITY, INFINITY, 0, 0},
         not_negative = {values, score, setting, -FLAT, 1, -INFINITY, INFINITY, 0, 0};
    const double first = edge_of(&positive, lo, hi);
    if (!has_point(&not_negative, first + ldexp(hi - lo, 4 - HALVINGS)))
        return first; /* no flat stretch: the usual case */
    return first + 0.5 * (edge_of(&not_negative, first, hi) - first);
}

static void huber_score(double t[CR_LOCATION_CHUNK], const void *setting)
{
    const double width = *(const double *)setting;
    for (int k = 0; k < CR_LOCATION_CHUNK; k++) {
        const double u = t[k] / width, most = u < 1 ? u : 1;
        t[k] = most > -1 ? most : -1;
    }
}

double cr_location_huber(const cr_values *values, double width)
{
    double chunk[CR_LOCATION_CHUNK], least = INFINITY, greatest = -INFINITY;
    for (size_t at = 0; has_chunk(values, at); at += CR_LOCATION_CHUNK)
        for (size_t k = read_chunk(values, at, chunk); k-- > 0;) {
            least = chunk[k] < least ? chunk[k] : least;
            greatest = chunk[k] > greatest ? chunk[k] : greatest;
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

/* Locations in passes over the recorded outputs: order statistics by the selection of
 * order_statistics.c, sums, and roots of summed scores. The search for a root relies on a sign only
 * if rounding cannot have changed it. */
#include "statistics/location.h"
#include "base/constants.h"
#include "statistics/order_statistics.h"
#include <math.h>

#define MAX_BISECTIONS 48 /* of a bracket */
#define MAX_SECANTS 24
#define LONG_RANGE 0x1p20 /* widths: the halvings of a shorter one end within 2^-28 widths */
#define FLAT_SUM 1e-13    /* a sum of scores this small per value is zero up to rounding */

double cr_location_wrap(double value, double origin, double period)
{
    const double t = value - origin;
    /* Most are within half a turn already, and remainder() is slow. */
    return period > 0 && !(fabs(t) < 0.5 * period) ? remainder(t, period) : t;
}

double cr_location_into_turn(double value, double lo, double hi)
{
    const double turn = hi - lo, t = fmod(fmod(value, turn) - fmod(lo, turn), turn);
    return lo + (t < 0 ? t + turn : t);
}

double cr_location_float_step(double lo, double hi)
{
    const float far = (float)fmax(fabs(lo), fabs(hi));
    return (double)nextafterf(far, INFINITY) - (double)far;
}

/* Value i, or NaN for a failed output. Real numbers ignore the origin. */
static double value_at(const cr_values *values, size_t i)
{
    double value = (double)values->y[i * values->stride];
    if (values->unit_vector) {
        value *= values->unit_vector[0];
        for (size_t k = 1; k < values->outputs; k++)
            value += values->unit_vector[k] * (double)values->y[i * values->stride + k];
    }
    if (!isfinite(value)) return NAN;
    return values->period > 0 ? cr_location_wrap(value, values->origin, values->period) : value;
}

/* Returns 1 if there is a value i and the deadline has not passed. */
static inline int has_value(const cr_values *values, size_t i)
{
    return i < values->count && !cr_deadline_ends(values->deadline, i);
}

/* Returns 1 if there are values from `first` on and the deadline has not passed. */
static inline int has_chunk(const cr_values *values, size_t first)
{
    return first < values->count &&
           !cr_deadline_ends(values->deadline, first + CR_LOCATION_CHUNK - 1);
}

/* Reads the values of a chunk that have not failed, and returns their number. The places behind
 * them have no meaning. */
static inline size_t read_chunk(const cr_values *values, size_t first,
                                double out[CR_LOCATION_CHUNK])
{
    const size_t remaining = values->count - first,
                 end = remaining < CR_LOCATION_CHUNK ? remaining : CR_LOCATION_CHUNK;
    const int is_plain = !values->unit_vector && !(values->period > 0);
    size_t count = 0;
    for (size_t k = 0; k < end; k++) {
        const double value = is_plain ? (double)values->y[(first + k) * values->stride]
                                      : value_at(values, first + k);
        out[count] = value;
        count += isfinite(value) != 0;
    }
    return count;
}

size_t cr_location_count(const cr_values *values)
{
    double chunk[CR_LOCATION_CHUNK];
    size_t count = 0;
    for (size_t first = 0; first < values->count; first += CR_LOCATION_CHUNK)
        count += read_chunk(values, first, chunk);
    return count;
}

static double value_in_order(const void *values, size_t i)
{
    return value_at(values, i);
}

double cr_location_order(const cr_values *values, size_t rank)
{
    const cr_indexed_values indexed = {value_in_order, values, values->count, values->deadline};
    return cr_order_select(&indexed, rank);
}

double cr_location_median(const cr_values *values)
{
    double chunk[CR_LOCATION_CHUNK], next = INFINITY;
    const size_t count = cr_location_count(values);
    size_t count_up_to = 0;
    if (count == 0) return NAN;
    const double lower = cr_location_order(values, (count - 1) / 2);
    if (count % 2) return lower;
    for (size_t first = 0; has_chunk(values, first); first += CR_LOCATION_CHUNK)
        for (size_t k = read_chunk(values, first, chunk); k-- > 0;) {
            count_up_to += chunk[k] <= lower;
            next = chunk[k] > lower && chunk[k] < next ? chunk[k] : next;
        }
    return count_up_to > count / 2 ? lower : lower + 0.5 * (next - lower);
}

double cr_location_mean(const cr_values *values)
{
    const size_t count = cr_location_count(values);
    double sum = 0, compensation = 0;
    for (size_t i = 0; has_value(values, i); i++) {
        const double value = value_at(values, i);
        if (isnan(value)) continue;
        const double total = sum + value;
        compensation += fabs(sum) >= fabs(value) ? (sum - total) + value : (value - total) + sum;
        sum = total;
    }
    return count ? (sum + compensation) / (double)count : NAN;
}

/* Some of the values that equal an end of the remaining interval may be cut. */
double cr_location_trimmed_mean(const cr_values *values, size_t trim_count)
{
    const size_t count = cr_location_count(values);
    if (count <= 2 * trim_count) return NAN;
    const double low = cr_location_order(values, trim_count),
                 high = cr_location_order(values, count - 1 - trim_count);
    size_t below = 0, between = 0;
    double sum = 0;
    for (size_t i = 0; has_value(values, i); i++) {
        const double value = value_at(values, i);
        if (isnan(value)) continue;
        below += value <= low;
        if (!(value > low && value < high)) continue;
        between++;
        sum += value - low;
    }
    const size_t remaining = count - 2 * trim_count,
                 low_count = low < high ? below - trim_count : remaining;
    return low +
           (sum + (double)(remaining - low_count - between) * (high - low)) / (double)remaining;
}

/* ---- roots */
/* The points at which the sum of scores exceeds flat_fraction times its size. */
typedef struct root_edge {
    const cr_values *values;
    cr_location_score score;
    const void *setting;
    double flat_fraction;
    int includes_equality; /* or equals it */
    /* No score increases with theta. So if the sum surely exceeds at a point, it exceeds at every
     * smaller one, and if it surely falls short, at every larger one. The answer is yes up to `low`
     * and no from `high` on, without a sum. */
    double low, high;
    double excess, excess_error; /* excess of the last sum, and its error by rounding */
} root_edge;

/* Returns 1 if theta is one of the points. Adding rounds the sum by 2^-53 of each partial sum, and
 * the sum of sizes by less than 2^-10 of itself. At other points partial sums differ by no more
 * than the sum does. */
static int exceeds_at(root_edge *e, double theta)
{
    double t[CR_LOCATION_CHUNK] = {0};
    double sum = 0, size = 0, partial_sum_size = 0;
    if (theta <= e->low || theta >= e->high) return theta <= e->low;
    for (size_t first = 0; has_chunk(e->values, first); first += CR_LOCATION_CHUNK) {
        const size_t count = read_chunk(e->values, first, t);
        for (int k = 0; k < CR_LOCATION_CHUNK; k++) t[k] -= theta;
        e->score(t, e->setting);
        for (size_t k = 0; k < count; k++) {
            sum += t[k];
            size += fabs(t[k]);
            partial_sum_size += fabs(sum);
        }
    }
    e->excess = sum - e->flat_fraction * size;
    e->excess_error = 0x1p-51 * partial_sum_size + 0x1p-9 * fabs(e->flat_fraction) * size;
    if (e->excess > e->excess_error) e->low = theta;
    if (e->excess < -e->excess_error) e->high = theta;
    return e->includes_equality ? sum >= e->flat_fraction * size : sum > e->flat_fraction * size;
}

/* Narrows the bracket by secants, each a little too long, so that both sides come near. x has this
 * excess; the latest sum was at e->high. */
static void narrow_bracket(root_edge *e, double x, double excess)
{
    double latest = e->high;
    for (int i = 0; i < MAX_SECANTS && !cr_deadline_expired(e->values->deadline); i++) {
        const double slope = (excess - e->excess) / (latest - x),
                     margin = 8 * e->excess_error / slope,
                     next = latest + e->excess / slope + copysign(margin, e->excess);
        if (slope > 0 && e->high - e->low <= 4 * margin) return;
        x = latest;
        excess = e->excess;
        latest = slope > 0 && next > e->low && next < e->high ? next : 0.5 * (e->low + e->high);
        exceeds_at(e, latest);
    }
}

/* Returns the largest of the points in [lo, hi], within the last halving of the bracket. */
static double find_edge(root_edge *e, double lo, double hi)
{
    if (!exceeds_at(e, lo)) return lo;
    const double excess = e->excess;
    if (exceeds_at(e, hi)) return hi;
    if (e->low == lo && e->high == hi) narrow_bracket(e, lo, excess);
    for (int i = 0; i < MAX_BISECTIONS && !cr_deadline_expired(e->values->deadline); i++) {
        const double middle = lo + 0.5 * (hi - lo);
        if (!(middle > lo && middle < hi)) break;
        if (exceeds_at(e, middle)) lo = middle;
        else hi = middle;
    }
    return lo + 0.5 * (hi - lo);
}

double cr_location_root(const cr_values *values, cr_location_score score, const void *setting,
                        double lo, double hi)
{
    root_edge positive = {values, score, setting, FLAT_SUM, 0, -INFINITY, INFINITY, 0, 0},
              not_negative = {values, score, setting, -FLAT_SUM, 1, -INFINITY, INFINITY, 0, 0};
    const double positive_edge = find_edge(&positive, lo, hi);
    if (!exceeds_at(&not_negative, positive_edge + ldexp(hi - lo, 4 - MAX_BISECTIONS)))
        return positive_edge; /* no flat stretch: the usual case */
    return positive_edge + 0.5 * (find_edge(&not_negative, positive_edge, hi) - positive_edge);
}

static void huber_score(double t[CR_LOCATION_CHUNK], const void *setting)
{
    const double width = *(const double *)setting;
    for (int k = 0; k < CR_LOCATION_CHUNK; k++) {
        const double u = t[k] / width, clipped_above = u < 1 ? u : 1;
        t[k] = clipped_above > -1 ? clipped_above : -1;
    }
}

double cr_location_huber(const cr_values *values, double width)
{
    double chunk[CR_LOCATION_CHUNK], min_value = INFINITY, max_value = -INFINITY;
    for (size_t first = 0; has_chunk(values, first); first += CR_LOCATION_CHUNK)
        for (size_t k = read_chunk(values, first, chunk); k-- > 0;) {
            min_value = chunk[k] < min_value ? chunk[k] : min_value;
            max_value = chunk[k] > max_value ? chunk[k] : max_value;
        }
    if (!(min_value <= max_value) || !(width > 0)) return NAN;
    /* At a distance of `width` from the middle values half of the scores are at their end, so that
     * the sum has changed its sign. Halvings of a range that outliers make long would end far from
     * the root. */
    if (max_value - min_value > LONG_RANGE * width) {
        const size_t count = cr_location_count(values);
        min_value = fmax(min_value, cr_location_order(values, (count - 1) / 2) - width);
        max_value = fmin(max_value, cr_location_order(values, count / 2) + width);
    }
    return cr_location_root(values, huber_score, &width, min_value, max_value);
}

double cr_location_circular_mean(const cr_values *values)
{
    double cosines = 0, sines = 0;
    for (size_t i = 0; has_value(values, i); i++) {
        const double value = (double)values->y[i * values->stride];
        if (!isfinite(value)) continue;
        const double angle = CR_TWO_PI * (remainder(value, values->period) / values->period);
        cosines += cos(angle);
        sines += sin(angle);
    }
    if (cosines == 0 && sines == 0) return NAN;
    return atan2(sines, cosines) / CR_TWO_PI * values->period;
}

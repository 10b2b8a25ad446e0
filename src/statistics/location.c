/* Location of recorded outputs without scratch memory: order statistics, locations, and the
 * prediction from a pilot. */
#include "statistics/location.h"
#include "base/bytes.h"
#include "base/constants.h"
#include <math.h>
#include <stdint.h>

/* ======== Order statistics without memory: selection by radix in passes over values that stay
 * in place, by rank or by weight, and a heap sort, because qsort may allocate. */
/* Unsigned integers in the order of the doubles. */
static uint64_t key_of(double value)
{
    const uint64_t bits = cr_bits_of_double(value);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t key)
{
    return cr_double_of_bits(key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key);
}

/* ---- heap sort */
static void sift(double *values, size_t parent, size_t count)
{
    const double value = values[parent];
    for (size_t child; (child = 2 * parent + 1) < count; parent = child) {
        if (child + 1 < count && values[child + 1] > values[child]) child++;
        if (!(values[child] > value)) break;
        values[parent] = values[child];
    }
    values[parent] = value;
}

static void make_heap(double *values, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) sift(values, i, count);
}

void cr_order_sort(double *values, size_t count)
{
    make_heap(values, count);
    for (size_t last = count; last-- > 1;) {
        const double max_value = values[0];
        values[0] = values[last];
        values[last] = max_value;
        sift(values, 0, last);
    }
}

/* ---- selection */
enum { SMALL_COUNT = 1024 }; /* few enough that the worst order costs no more than a millisecond */

/* Returns the value of this rank, by Hoare's partitions about values in its place. */
static double select_in_place(double *values, size_t count, size_t rank)
{
    for (size_t low = 0, end = count; end - low > 1;) { /* it is in low .. end-1 */
        const double pivot = values[rank];
        size_t i = low, j = end;
        do {
            while (values[i] < pivot) i++;
            while (values[j - 1] > pivot) j--;
            if (i >= j) break;
            const double value = values[i];
            values[i++] = values[--j];
            values[j] = value;
        } while (i < j);
        if (rank < j) end = j;
        else if (rank >= i) low = i;
        else break; /* between the parts: the pivot */
    }
    return values[rank];
}

/* Returns 1 if the bits of the value's key from `shift` on equal the prefix; 0 for NaN. */
static int has_prefix(double value, uint64_t prefix, int shift)
{
    return !isnan(value) && (shift == 64 || (key_of(value) ^ prefix) >> shift == 0);
}

/* Selects among a small number of values that have these bits. */
static double select_small(const cr_indexed_values *values, uint64_t prefix, int shift, size_t rank)
{
    double candidates[SMALL_COUNT];
    size_t count = 0;
    for (size_t i = 0;
         i < values->count && count < SMALL_COUNT && !cr_deadline_ends(values->deadline, i); i++) {
        candidates[count] = values->value(values->context, i) + 0.0; /* -0 counts as 0 */
        if (has_prefix(candidates[count], prefix, shift)) count++;
    }
    return rank < count ? select_in_place(candidates, count, rank) : NAN;
}

/* Radix selection: byte by byte from the top, counts the values that have the bytes found so far
 * and steps into the right bucket, until few values are left. */
double cr_order_select(const cr_indexed_values *values, size_t rank)
{
    uint64_t prefix = 0;
    size_t remaining = values->count;
    int shift = 64;
    while (remaining > SMALL_COUNT && shift > 0) {
        size_t bucket[256] = {0}, byte = 0;
        for (size_t i = 0; i < values->count && !cr_deadline_ends(values->deadline, i); i++) {
            const double value = values->value(values->context, i) + 0.0;
            if (has_prefix(value, prefix, shift)) bucket[key_of(value) >> (shift - 8) & 255]++;
        }
        for (; byte < 256 && rank >= bucket[byte]; byte++) rank -= bucket[byte];
        if (byte == 256) return NAN;
        shift -= 8;
        remaining = bucket[byte];
        prefix |= (uint64_t)byte << shift;
    }
    return remaining > SMALL_COUNT ? value_of(prefix) : select_small(values, prefix, shift, rank);
}

/* Radix selection from above, with weights in place of counts. */
double cr_order_weighted_threshold(const cr_indexed_values *values,
                                   double (*weight)(const void *of, size_t i), double budget)
{
    uint64_t prefix = 0;
    double above = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        double bucket[256] = {0};
        int byte = 255;
        for (size_t i = 0; i < values->count; i++) {
            const uint64_t key = key_of(values->value(values->context, i) + 0.0);
            if (shift == 56 || (key ^ prefix) >> (shift + 8) == 0)
                bucket[key >> shift & 255] += weight(values->context, i);
        }
        for (; byte > 0 && above + bucket[byte] <= budget; byte--) above += bucket[byte];
        prefix |= (uint64_t)byte << shift;
    }
    return value_of(prefix);
}

/* ======== Locations in passes over the recorded outputs: order statistics by the selection
 * above, sums, and roots of summed scores. The search for a root relies on a sign only
 * if rounding cannot have changed it. */
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

/* ======== The size of the pilot, and the prediction from it by a soft count of the outputs
 * beyond the tolerance (theory 5.2, 6.3). The sample median would balance the middle of the
 * outputs, but the radius depends on their tails. */
#define PILOT_FRACTION 0.15
#define HALF_FRACTION_SAMPLES 20.0 /* of this number of samples, half of the fraction */
#define SHRINKAGE 5.0              /* f(z) weighs as much as this number of pilot samples */
#define DEAD_ZONE_SLOPE 0.05       /* keeps the root unique inside the dead zone */
#define SMALL_SAMPLE_COUNT 1000u   /* up to here the wide ramp is better */

size_t cr_pilot_samples(size_t max_samples, size_t blocks)
{
    if (max_samples < 2) return 0;
    const double samples = (double)max_samples,
                 target = PILOT_FRACTION * samples * (samples / (samples + HALF_FRACTION_SAMPLES));
    const size_t rounded = target < 1 ? 1 : (size_t)(target + 0.5);
    if (blocks == 0 || max_samples / 4 < blocks) return rounded;
    /* The smallest pilot that leaves whole blocks. */
    const size_t min_pilot = (max_samples - 1) % blocks + 1;
    if (rounded <= min_pilot) return min_pilot;
    /* The nearest of least, least + blocks, ...; not one that is far too small to predict. */
    const size_t nearest = min_pilot + (rounded - min_pilot + blocks / 2) / blocks * blocks;
    return nearest < rounded / 2 ? rounded : nearest;
}

typedef struct dead_zone {
    double tolerance, softness;
} dead_zone;

/* Softly counts the values beyond theta +- tolerance, since only they limit the radius. Compilers
 * make this loop without branches. */
static void dead_zone_score(double t[CR_LOCATION_CHUNK], const void *setting)
{
    const dead_zone zone = *(const dead_zone *)setting;
    for (int k = 0; k < CR_LOCATION_CHUNK; k++) {
        const double a = fabs(t[k]) / zone.tolerance, h = zone.softness,
                     slope = a * DEAD_ZONE_SLOPE, ramp = (a - 1 + h) / (2 * h),
                     ramp_below_1 = ramp < 1 ? ramp : 1;
        t[k] = copysign((ramp_below_1 > 0 ? ramp_below_1 : 0) +
                            (slope < DEAD_ZONE_SLOPE ? slope : DEAD_ZONE_SLOPE),
                        t[k]);
    }
}

double cr_pilot_location(const cr_values *pilot, double tolerance, double softness)
{
    const dead_zone zone = {tolerance, softness};
    const double center = pilot->period > 0 ? 0 : pilot->origin;
    return cr_location_root(pilot, dead_zone_score, &zone, center - 2 * tolerance,
                            center + 2 * tolerance);
}

/* Center of the search if f(z) is unknown: the median; for angles, with the circle cut opposite to
 * the circular mean. */
static double robust_origin(cr_values pilot)
{
    if (!(pilot.period > 0)) return cr_location_median(&pilot);
    pilot.origin = cr_location_circular_mean(&pilot);
    if (isnan(pilot.origin)) pilot.origin = 0;
    return pilot.origin + cr_location_median(&pilot);
}

/* Returns the signed offset from the origin of the root near it. */
static double offset_from(double origin, cr_values pilot, double tolerance, double softness)
{
    pilot.origin = origin;
    const double location = cr_pilot_location(&pilot, tolerance, softness);
    return pilot.period > 0 ? location : location - origin;
}

double cr_pilot_prediction(const cr_values *pilot, double tolerance, size_t total_samples,
                           double noise_free)
{
    const size_t valid_count = cr_location_count(pilot);
    const double softness = total_samples <= SMALL_SAMPLE_COUNT ? 0.5 : 0.25;
    double origin = isfinite(noise_free) ? noise_free : NAN, offset = 0;
    if (valid_count > 0 && tolerance > 0) {
        const double weight = (double)valid_count / ((double)valid_count + SHRINKAGE);
        offset = weight * offset_from(origin, *pilot, tolerance, softness);
        /* An end of the bracket is no root: f(z) is far from the noisy outputs. */
        if (isnan(origin) || !(fabs(offset / weight) < 2 * tolerance * (1 - CR_ROUNDING_MARGIN))) {
            origin = robust_origin(*pilot);
            offset = offset_from(origin, *pilot, tolerance, softness);
        }
    }
    const double prediction = origin + offset;
    return pilot->period > 0 && isfinite(prediction) ? remainder(prediction, pilot->period)
                                                     : prediction;
}

/* Order statistics without scratch memory. */
#ifndef CR_STATISTICS_LOCATION_H
#define CR_STATISTICS_LOCATION_H
#include "base/deadline.h"
#include <stddef.h>

typedef struct cr_indexed_values {
    double (*value)(const void *context, size_t i); /* NaN: left out */
    const void *context;
    size_t count;
    cr_deadline *deadline; /* NULL: no deadline. Once expired, the result is any number */
} cr_indexed_values;

/* Returns the value of this rank in ascending order, from 0; NaN if there are fewer values. */
double cr_order_select(const cr_indexed_values *values, size_t rank);
/* Returns the smallest value such that the weights of all larger values sum to at most `budget` >=
 * 0. No value may be NaN, and the sum of all weights must exceed the budget. */
double cr_order_weighted_threshold(const cr_indexed_values *values,
                                   double (*weight)(const void *context, size_t i), double budget);
/* Sorts numbers in ascending order, in place. None may be NaN. */
void cr_order_sort(double *values, size_t count);

/* ---- Location of recorded outputs without scratch memory: exact order statistics, mean, Huber
 * location, circular mean. */
/* Values read in place: sample i is y[i*stride]. Outputs that are not finite are failed calls and
 * are skipped everywhere here. period 0: the values themselves. period > 0 (angles): differences to
 * `origin`, wrapped into [-period/2, period/2]. */
typedef struct cr_values {
    const float *y;
    size_t count, stride;
    double origin, period;
    cr_deadline *deadline; /* NULL: no deadline. Once expired, a location is any number */
    /* Not NULL: value i is unit_vector . (y[i*stride], y[i*stride + 1], ...) over `outputs`
     * numbers, and has failed if one of them has. For order statistics and medians only. */
    const double *unit_vector;
    size_t outputs;
} cr_values;

#define CR_LOCATION_CHUNK \
    32 /* values that are read together; a part of CR_DEADLINE_CHECK_SAMPLES */

/* Replaces each difference by a score that does not decrease with it. */
typedef void (*cr_location_score)(double t[CR_LOCATION_CHUNK], const void *setting);

/* Returns value - origin, wrapped into [-period/2, period/2] if period > 0. */
double cr_location_wrap(double value, double origin, double period);
/* Returns the value wrapped into the turn from lo to hi, exactly for large values too. It may round
 * to hi. */
double cr_location_into_turn(double value, double lo, double hi);
/* Returns the largest distance of neighbouring floats between lo and hi. */
double cr_location_float_step(double lo, double hi);

/* Returns the number of values that have not failed. */
size_t cr_location_count(const cr_values *values);
/* Returns the value of this rank in ascending order, from 0; NaN if there are fewer values. */
double cr_location_order(const cr_values *values, size_t rank);
/* NaN if there is no value. For angles the result is a difference to `origin`: add it and wrap. The
 * median of an even number of values is the midpoint of the two middle ones. Huber's location, for
 * width > 0, is the root of sum clip((value - theta)/width, -1, 1). */
double cr_location_median(const cr_values *values);
double cr_location_mean(const cr_values *values);
double cr_location_huber(const cr_values *values, double width);
/* Returns the mean of the values that remain if trim_count values are cut off at each end; NaN if
 * none remains. */
double cr_location_trimmed_mean(const cr_values *values, size_t trim_count);

/* Returns the root in [lo, hi] of sum score(value - theta), which does not increase with theta: the
 * midpoint of the closed interval of roots, or an end of the bracket if the sum does not change
 * sign in it. */
double cr_location_root(const cr_values *values, cr_location_score score, const void *setting,
                        double lo, double hi);

/* Returns arg of sum exp(2 pi i y/period), in the unit of the values, in [-period/2, period/2];
 * origin is not used. NaN without a value or without a direction (resultant 0). */
double cr_location_circular_mean(const cr_values *values);

/* ---- The size of the pilot (theory 5.2), and the prediction from it, chosen so that both tails
 * beyond the tolerance balance (theory 6.3). */
/* Returns the default number of pilot samples of `max_samples`: about 15% of many, less of few, at
 * least 1, and such that the main samples fill `blocks` equal blocks if max_samples >= 4 blocks. 0
 * if max_samples < 2, which leaves nothing to certify with. Sample 0 belongs to the pilot; it is
 * the noise-free output, so the noisy pilot has one sample less. */
size_t cr_pilot_samples(size_t max_samples, size_t blocks);

/* Returns the prediction from the noisy outputs of the pilot, for a tolerance in their unit; f(z)
 * if no pilot output is left, NaN without both. total_samples: of this input, pilot included; it
 * sets how soft the dead zone is. noise_free: f(z), or NaN if unknown or failed. The origin of the
 * values is not used; for angles the result is wrapped into [-period/2, period/2]. */
double cr_pilot_prediction(const cr_values *pilot, double tolerance, size_t total_samples,
                           double noise_free);

/* Returns the soft dead-zone location alone: the root over theta of the summed score, on origin +-
 * 2 tolerance; for angles a difference to the origin. softness: h of the score, in (0, 1). */
double cr_pilot_location(const cr_values *pilot, double tolerance, double softness);

#endif

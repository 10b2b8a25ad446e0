/* The size of the pilot, and the prediction from it by a soft count of the outputs beyond the
 * tolerance (theory 5.2, 6.3). The sample median would balance the middle of the outputs, but the
 * radius depends on their tails. */
#include "statistics/pilot_prediction.h"
#include "base/constants.h"
#include <math.h>

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

/* Softly counts the values beyond theta +- tolerance, since only they limit the radius. */
static void dead_zone_score(double t[CR_LOCATION_CHUNK], const void *setting)
{
    const dead_zone zone = *(const dead_zone *)setting;
    for (int k = 0; k < CR_LOCATION_CHUNK; k++) {
        const double a = fabs(t[k]) / zone.tolerance, h = zone.softness,
                     ramp = (a - 1 + h) / (2 * h), ramp_below_1 = ramp < 1 ? ramp : 1;
        t[k] = copysign((ramp_below_1 > 0 ? ramp_below_1 : 0) + DEAD_ZONE_SLOPE * (a < 1 ? a : 1),
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

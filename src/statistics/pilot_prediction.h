/* The size of the pilot (theory 5.2), and the prediction from it, chosen so that both tails beyond
 * the tolerance balance (theory 6.3). */
#ifndef CR_STATISTICS_PILOT_PREDICTION_H
#define CR_STATISTICS_PILOT_PREDICTION_H
#include "statistics/location.h"

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

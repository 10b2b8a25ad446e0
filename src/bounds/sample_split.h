/* The two parts of a record, and the fractions of alpha, for all bounds. */
#ifndef CR_BOUNDS_SAMPLE_SPLIT_H
#define CR_BOUNDS_SAMPLE_SPLIT_H
#include "conditions/conditions.h"
#include "statistics/score_samples.h"

/* Fractions of alpha (theory 5.1). Two ends of the mean take half of the mean's fraction each. */
#define CR_ALPHA_FRACTION_MEAN 0.25
#define CR_ALPHA_FRACTION_VARIANCE 0.25
#define CR_ALPHA_FRACTION_GRADIENT 0.5

/* The scores of the question's output, about 0: of the noisy samples of the pilot, and of the main
 * samples, which alone enter bounds. */
cr_samples cr_split_pilot_scores(cr_view *, const cr_conditions *, const cr_score *);
cr_samples cr_split_main_scores(cr_view *, const cr_conditions *, const cr_score *);
size_t cr_split_main_count(const cr_conditions *); /* number of main samples */

#endif

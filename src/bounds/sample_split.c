/* Divides a record into its pilot and its main samples. */
#include "bounds/sample_split.h"

static cr_samples samples_between(cr_view *v, const cr_conditions *conditions,
                                  const cr_score *score, size_t first, size_t end)
{
    return cr_view_samples(v, score, conditions->score_output, first, end > first ? end - first : 0,
                           0);
}

cr_samples cr_split_pilot_scores(cr_view *v, const cr_conditions *conditions, const cr_score *score)
{
    return samples_between(v, conditions, score, cr_view_first_noisy(v),
                           conditions->first_main_sample);
}

cr_samples cr_split_main_scores(cr_view *v, const cr_conditions *conditions, const cr_score *score)
{
    return samples_between(v, conditions, score, conditions->first_main_sample,
                           conditions->samples);
}

size_t cr_split_main_count(const cr_conditions *conditions)
{
    return conditions->samples > conditions->first_main_sample
               ? conditions->samples - conditions->first_main_sample
               : 0;
}

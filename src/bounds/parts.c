#include "bounds/parts.h"

static cr_samples between(const certreg_estimator *e, const cr_conditions *conditions,
                          const cr_score *score, size_t first, size_t end)
{
    return cr_record_samples(e, score, conditions->output, first, end > first ? end - first : 0, 0);
}

cr_samples cr_parts_pilot(const certreg_estimator *e, const cr_conditions *conditions,
                          const cr_score *score)
{
    return between(e, conditions, score, cr_record_noisy(e), conditions->main_first);
}

cr_samples cr_parts_main(const certreg_estimator *e, const cr_conditions *conditions,
                         const cr_score *score)
{
    return between(e, conditions, score, conditions->main_first, conditions->samples);
}

size_t cr_parts_count(const cr_conditions *conditions)
{
    return conditions->samples > conditions->main_first
               ? conditions->samples - conditions->main_first
               : 0;
}

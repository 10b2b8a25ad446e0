#include "bounds/parts.h"

size_t cr_parts_noisy(const certreg_estimator *e)
{
    return e->input.noise.clean_first != 0;
}

static cr_samples between(const certreg_estimator *e, const cr_conditions *conditions,
                          const cr_score *score, size_t first, size_t end)
{
    return cr_record_samples(e, score, (size_t)conditions->question.output, first,
                             end > first ? end - first : 0, 0);
}

cr_samples cr_parts_pilot(const certreg_estimator *e, const cr_conditions *conditions,
                          const cr_score *score)
{
    return between(e, conditions, score, cr_parts_noisy(e), conditions->main_first);
}

cr_samples cr_parts_main(const certreg_estimator *e, const cr_conditions *conditions,
                         const cr_score *score)
{
    return between(e, conditions, score, conditions->main_first, conditions->samples);
}

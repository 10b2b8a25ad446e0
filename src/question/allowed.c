#include "base/bytes.h"
#include "question/question.h"
#include "question/rows.h"
#include <stdio.h>

uint64_t cr_question_looks(const cr_question *q)
{
    if (!cr_question_is_closed(q) || !q->looks) return 0;
    const uint64_t h = cr_hash_end(cr_question_hash_looks(CR_HASH_START, q));
    return h ? h : 1;
}

/* The remedy names the number of samples at which the question is allowed, where it can still be
 * reached, and the method without that limit, where the statistic has it. */
static certreg_status refuse_number(certreg_estimator *e, const cr_question *q, uint64_t samples)
{
    const char *anytime = cr_statistic_of(q->statistic)->methods & CR_ONE_OF(CERTREG_METHOD_ANYTIME)
                              ? "use CERTREG_METHOD_ANYTIME (without the gradient), or "
                              : "";
    char remedies[128];
    const int enough = samples < e->record.asked.total &&
                       e->record.asked.total <= e->plan.max_samples;
    if (enough)
        snprintf(remedies, sizeof remedies, "take %llu samples, %s",
                 (unsigned long long)e->record.asked.total, anytime);
    return cr_asked_refuse(e, enough ? remedies : anytime, samples);
}

certreg_status cr_question_allowed(certreg_estimator *e, const cr_question *q, uint64_t samples)
{
    const cr_asked *asked = &e->record.asked;
    if (cr_record_in_range(e)) return CERTREG_E_OUT_OF_RANGE;
    if (!asked->max_samples || cr_method_of(q->method)->any_number) return CERTREG_OK;
    if (!cr_question_is_closed(q))
        return cr_asked_fixed(e, samples) ? CERTREG_OK : refuse_number(e, q, samples);
    const uint64_t looks = cr_question_looks(q);
    if (!looks || looks == asked->looks) return CERTREG_OK;
    return cr_fail(&e->error, CERTREG_E_WRONG_STATE,
                   "leave question.target->looks NULL, give those of the first question, or use "
                   "CERTREG_METHOD_ANYTIME: these looks were not fixed before the record was "
                   "first evaluated");
}

#include "base/bytes.h"
#include "question/question.h"
#include "record/asked.h"
#include <stdio.h>

uint64_t cr_allowed_looks(const cr_question *q)
{
    if (!q->is_group || !q->looks) return 0;
    const uint64_t h = cr_hash_end(cr_read_hash_looks(CR_HASH_START, q));
    return h ? h : 1;
}

/* The remedy names the number of samples at which the question is allowed, where it can still be
 * reached, and the method without that limit, where the statistic has it. */
static certreg_status refuse_number(cr_view *v, const cr_question *q, uint64_t samples,
                                    certreg_error *why)
{
    const char *anytime = q->statistic_row->methods & CR_ONE_OF(CERTREG_METHOD_ANYTIME)
                              ? "use CERTREG_METHOD_ANYTIME (without the gradient), or "
                              : "";
    char remedies[128];
    const int enough = samples < v->asked.total && v->asked.total <= v->plan.max_samples;
    if (enough)
        snprintf(remedies, sizeof remedies, "take %llu samples, %s",
                 (unsigned long long)v->asked.total, anytime);
    return cr_asked_refuse(v, enough ? remedies : anytime, samples, why);
}

certreg_status cr_allowed_now(cr_view *v, const cr_question *q, uint64_t samples,
                              certreg_error *why)
{
    const cr_asked *asked = &v->asked;
    if (cr_view_in_range(v, why)) return CERTREG_E_OUT_OF_RANGE;
    if (!asked->max_samples || q->method_row->any_number) return CERTREG_OK;
    if (!q->is_group)
        return cr_asked_fixed(v, samples) ? CERTREG_OK : refuse_number(v, q, samples, why);
    const uint64_t looks = cr_allowed_looks(q);
    if (!looks || looks == asked->looks) return CERTREG_OK;
    return cr_fail(why, CERTREG_E_WRONG_STATE,
                   "leave question.target->looks NULL, give those of the first question, or use "
                   "CERTREG_METHOD_ANYTIME: these looks were not fixed before the record was "
                   "first evaluated");
}

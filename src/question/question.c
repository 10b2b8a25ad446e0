/* What follows from a question, and at which numbers of samples a record may be evaluated. */
#include "question/question.h"
#include "base/bytes.h"
#include "record/asked.h"
#include <stdio.h>

/* As one vector (theory 7.3), where these are several. */
static void resolve_outputs(cr_view *v, cr_question *q)
{
    q->first = q->output < 0 ? 0 : (size_t)q->output;
    q->outputs = q->output < 0 ? v->model.outputs : q->output_count ? q->output_count : 1;
    q->end = q->first + q->outputs;
    q->is_vector = q->output < 0 || q->output_count > 1;
    q->is_angle = !q->is_vector && v->model.kind[q->first] != CERTREG_OUTPUT_REAL;
    q->has_directions = q->is_vector && !(q->statistic_row->row.offers & CR_OFFERS_ALL);
    q->directions = q->has_directions ? cr_net_size(q->statistic_row->net, q->outputs) : 1;
    q->period = q->is_angle && q->statistic_row->angle != CR_ANGLE_AS_NUMBER
                    ? v->model.hi[q->first] - v->model.lo[q->first]
                    : 0;
}

void cr_question_resolve(cr_view *v, cr_question *q)
{
    const cr_statistic *s = q->statistic_row = cr_statistic_of(q->statistic);
    const cr_method *m = q->method_row = cr_method_of(q->method);
    const cr_center *c = q->center_row = cr_center_of(q->center);
    const int inverse = q->at_radius > 0;
    resolve_outputs(v, q);
    q->is_counted = cr_score_nature(s->score).two_valued;
    q->is_bounded = cr_score_nature(s->score).bounded;
    q->is_group = q->target > 0 && m->row.offers & CR_OFFERS_GROUP_TEST;
    q->is_ordered = inverse && s->reach == CR_REACH_ORDERS && m->orders && !q->is_angle;
    q->about_output = c->about_output || (inverse && s->reach == CR_REACH_MEAN);
    q->by_estimate = q->about_output || q->is_ordered || c->by_estimate;
    q->solver_constraints = q->constraints;
    if (q->constraints && q->is_counted) q->solver_constraints |= CERTREG_CONSTRAINT_VARIANCE;
}

cr_question cr_question_of_output(cr_view *v, const cr_question *q, size_t k)
{
    cr_question one = *q;
    one.output = (int32_t)k, one.output_count = 0;
    cr_question_resolve(v, &one);
    return one;
}

/* ---- at which numbers of samples */
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

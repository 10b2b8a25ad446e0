/* Fills in what follows from the given fields of a question, and decides at which numbers of
 * samples a record may be evaluated for it. */
#include "question/question.h"
#include "base/bytes.h"
#include "record/query_log.h"
#include <stdio.h>

void cr_question_resolve(cr_view *v, cr_question *q)
{
    const cr_given *g = &q->given;
    const cr_statistic *s = q->statistic = cr_statistic_of(g->statistic);
    const cr_method *m = q->method = cr_method_of(g->method);
    const cr_center *c = q->center = cr_center_of(g->center);
    const int inverse = g->at_radius > 0;
    q->first = g->output < 0 ? 0 : (size_t)g->output;
    q->outputs = g->output < 0 ? v->model.outputs : g->output_count ? g->output_count : 1;
    q->end = q->first + q->outputs;
    q->is_vector = g->output < 0 || g->output_count > 1;
    q->is_angle = !q->is_vector && v->model.kind[q->first] != CERTREG_OUTPUT_REAL;
    q->has_directions = q->is_vector && !(s->row.supports & CR_SUPPORTS_ALL);
    q->directions = q->has_directions ? cr_direction_net_size(s->net, q->outputs) : 1;
    q->period = q->is_angle && s->angle != CR_ANGLE_AS_NUMBER
                    ? v->model.hi[q->first] - v->model.lo[q->first]
                    : 0;
    q->is_counted = cr_score_traits_of(s->score).two_valued;
    q->is_bounded = cr_score_traits_of(s->score).bounded;
    q->is_group = g->target > 0 && m->row.supports & CR_SUPPORTS_GROUP_TEST;
    q->is_ordered = inverse && s->bounds == CR_BOUNDS_BY_ORDER && m->orders && !q->is_angle;
    q->about_output = c->about_output || (inverse && s->bounds == CR_BOUNDS_OF_MEAN);
    q->by_estimate = q->about_output || q->is_ordered || c->by_estimate;
    q->solver_constraints = g->constraints;
    if (g->constraints && q->is_counted) q->solver_constraints |= CERTREG_CONSTRAINT_VARIANCE;
}

cr_question cr_question_of_output(cr_view *v, const cr_question *q, size_t k)
{
    cr_question one = *q;
    one.given.output = (int32_t)k;
    one.given.output_count = 0;
    cr_question_resolve(v, &one);
    return one;
}

/* ---- the numbers of samples at which a record may be evaluated (theory 5.2) */
uint64_t cr_question_looks_digest(const cr_question *q)
{
    if (!q->is_group || !q->given.looks) return 0;
    const uint64_t h = cr_hash_end(cr_question_hash_looks(CR_HASH_START, &q->given));
    return h ? h : 1;
}

/* Names the number of samples at which the question is allowed, if it can still be reached, and the
 * method without that limit, if the statistic has it. */
static certreg_status refuse_number(cr_view *v, const cr_question *q, uint64_t samples,
                                    certreg_error *why)
{
    const char *anytime = q->statistic->methods & CR_ONE_OF(CERTREG_METHOD_ANYTIME)
                              ? "use CERTREG_METHOD_ANYTIME (without the gradient), or "
                              : "";
    char remedies[128];
    const int enough = samples < v->asked.total && v->asked.total <= v->plan.max_samples;
    if (enough)
        snprintf(remedies, sizeof remedies, "take %llu samples, %s",
                 (unsigned long long)v->asked.total, anytime);
    return cr_query_log_refuse(v, enough ? remedies : anytime, samples, why);
}

certreg_status cr_question_check_reuse(cr_view *v, const cr_question *q, uint64_t samples,
                                       certreg_error *why)
{
    const cr_query_log *asked = &v->asked;
    if (cr_view_require_in_range(v, why)) return CERTREG_E_OUT_OF_RANGE;
    if (!asked->max_samples || q->method->any_number) return CERTREG_OK;
    if (!q->is_group)
        return cr_query_log_fixed(v, samples) ? CERTREG_OK : refuse_number(v, q, samples, why);
    const uint64_t looks = cr_question_looks_digest(q);
    if (!looks || looks == asked->looks) return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_WRONG_STATE,
        "leave question.target->looks NULL, give those of the first question, or use "
        "CERTREG_METHOD_ANYTIME: these looks were not fixed before the record was "
        "first evaluated");
}

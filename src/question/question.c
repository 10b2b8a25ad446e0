/* What a question is about, and how a number of it is refused: for all files that check a part. */
#include "question/question.h"
#include "question/rows.h"

int cr_question_counts(const cr_question *q)
{
    return cr_score_kind_is_two_valued(cr_statistic_of(q->statistic)->score);
}

int cr_question_is_angle(cr_view *v, const cr_question *q)
{
    return !cr_question_is_vector(q) && v->model.kind[q->output] != CERTREG_OUTPUT_REAL;
}

double cr_question_period(cr_view *v, const cr_question *q)
{
    if (cr_statistic_of(q->statistic)->angle == CR_ANGLE_AS_NUMBER) return 0;
    return cr_question_is_angle(v, q) ? v->model.hi[q->output] - v->model.lo[q->output] : 0;
}

int cr_question_orders(cr_view *v, const cr_question *q)
{
    return q->at_radius > 0 && cr_statistic_of(q->statistic)->reach == CR_REACH_ORDERS &&
           cr_method_of(q->method)->orders && !cr_question_is_angle(v, q);
}

int cr_question_about_output(const cr_question *q)
{
    return cr_center_of(q->center)->about_output ||
           (q->at_radius > 0 && cr_statistic_of(q->statistic)->reach == CR_REACH_MEAN);
}

int cr_question_by_estimate(cr_view *v, const cr_question *q)
{
    return cr_question_about_output(q) || cr_question_orders(v, q) ||
           cr_center_of(q->center)->by_estimate;
}

uint32_t cr_question_constraints(const cr_question *q)
{
    return q->constraints && cr_question_counts(q) ? q->constraints | CERTREG_CONSTRAINT_VARIANCE
                                                   : q->constraints;
}

int cr_question_is_closed(const cr_question *q)
{
    return q->target > 0 && cr_method_of(q->method)->row.offers & CR_OFFERS_CLOSED_TEST;
}

/* ---- several outputs as one vector (theory 7.3) */
int cr_question_is_vector(const cr_question *q)
{
    return q->output < 0 || q->output_count > 1;
}

size_t cr_question_first(const cr_question *q)
{
    return q->output < 0 ? 0 : (size_t)q->output;
}

size_t cr_question_outputs(cr_view *v, const cr_question *q)
{
    return q->output < 0 ? v->model.outputs : q->output_count ? q->output_count : 1;
}

int cr_question_has_directions(const cr_question *q)
{
    return cr_question_is_vector(q) && !(cr_statistic_of(q->statistic)->row.offers & CR_OFFERS_ALL);
}

cr_net cr_question_net(const cr_question *q)
{
    return cr_statistic_of(q->statistic)->net;
}

/* ---- a refusal */
certreg_status cr_question_invalid(certreg_error *why, const char *field, double value,
                                   const char *rule)
{
    cr_fail(why, CERTREG_E_INVALID, "question.%s is %g; %s", field, value, rule);
    why->value = value;
    return CERTREG_E_INVALID;
}

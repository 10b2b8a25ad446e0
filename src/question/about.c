/* What a question is about, and how one is refused: for all files that check a part of it. */
#include "question/question.h"

int cr_question_is_median(const cr_question *q)
{
    return q->statistic == CERTREG_STATISTIC_MEDIAN ||
           q->statistic == CERTREG_STATISTIC_PROJECTION_MEDIAN;
}

int cr_question_is_angle(const certreg_estimator *e, const cr_question *q)
{
    return !cr_question_is_vector(q) && e->model.kind[q->output] != CERTREG_OUTPUT_REAL;
}

double cr_question_period(const certreg_estimator *e, const cr_question *q)
{
    return cr_question_is_angle(e, q) ? e->model.hi[q->output] - e->model.lo[q->output] : 0;
}

int cr_question_orders(const certreg_estimator *e, const cr_question *q)
{
    return q->at_radius > 0 && q->statistic == CERTREG_STATISTIC_MEDIAN &&
           q->method == CERTREG_METHOD_FINITE && !cr_question_is_angle(e, q);
}

int cr_question_about_output(const cr_question *q)
{
    switch ((enum certreg_center)q->center) {
    case CERTREG_CENTER_TRUE_MEAN: return 1;
    case CERTREG_CENTER_PREDICTION:
    case CERTREG_CENTER_SAMPLE_MEDIAN: break;
    }
    return q->at_radius > 0 && q->statistic == CERTREG_STATISTIC_MEAN;
}

int cr_question_by_estimate(const certreg_estimator *e, const cr_question *q)
{
    return cr_question_about_output(q) || cr_question_orders(e, q) ||
           q->center == CERTREG_CENTER_SAMPLE_MEDIAN;
}

uint32_t cr_question_constraints(const cr_question *q)
{
    return q->constraints && cr_question_is_median(q) ? q->constraints | CERTREG_CONSTRAINT_VARIANCE
                                                      : q->constraints;
}

int cr_question_is_closed(const cr_question *q)
{
    return q->target > 0 && q->method == CERTREG_METHOD_FINITE;
}

certreg_status cr_question_invalid(certreg_estimator *e, const char *field, double value,
                                   const char *rule)
{
    cr_fail(&e->error, CERTREG_E_INVALID, "question.%s is %g; %s", field, value, rule);
    e->error.value = value;
    return CERTREG_E_INVALID;
}

int cr_question_without_normality(const cr_question *q)
{
    switch ((enum certreg_method)q->method) {
    case CERTREG_METHOD_FINITE:
    case CERTREG_METHOD_ANYTIME:
    case CERTREG_METHOD_BASELINE: return 1;
    case CERTREG_METHOD_ASYMPTOTIC:
    case CERTREG_METHOD_PAPER: return 0;
    }
    return 0;
}

/* Questions about several outputs as one vector (theory 7.3). */
#include "question/question.h"

int cr_question_is_vector(const cr_question *q)
{
    return q->output < 0 || q->output_count > 1;
}

size_t cr_question_first(const cr_question *q)
{
    return q->output < 0 ? 0 : (size_t)q->output;
}

size_t cr_question_outputs(const certreg_estimator *e, const cr_question *q)
{
    return q->output < 0 ? e->model.outputs : q->output_count ? q->output_count : 1;
}

int cr_question_has_directions(const cr_question *q)
{
    return cr_question_is_vector(q) && q->method != CERTREG_METHOD_BASELINE;
}

cr_net cr_question_net(const cr_question *q)
{
    switch ((enum certreg_statistic)q->statistic) {
    case CERTREG_STATISTIC_MEAN: return CR_NET_MEANS;
    case CERTREG_STATISTIC_PROJECTION_MEDIAN: return CR_NET_PROJECTIONS;
    case CERTREG_STATISTIC_MEDIAN:
    case CERTREG_STATISTIC_HUBER:
    case CERTREG_STATISTIC_CIRCULAR_MEAN:
    case CERTREG_STATISTIC_TRIMMED_MEAN:
    case CERTREG_STATISTIC_BALL_CENTER: break;
    }
    return CR_NET_COORDINATES;
}

/* ---- what is refused */
static certreg_status refused(certreg_estimator *e, const char *field, const char *remedy)
{
    return cr_fail(&e->error, CERTREG_E_INVALID, "question.%s: %s", field, remedy);
}

static certreg_status check_kinds(certreg_estimator *e, const cr_question *q)
{
    const size_t first = cr_question_first(q), end = first + cr_question_outputs(e, q);
    for (size_t k = first; k < end; k++)
        if (e->model.kind[k] != CERTREG_OUTPUT_REAL)
            return cr_fail(&e->error, CERTREG_E_INVALID,
                           "question.output: output %zu is an angle, and a vector needs every "
                           "model.kind to be CERTREG_OUTPUT_REAL: ask about the angle by a "
                           "question of its own, and combine them by certreg_certify_outputs",
                           k);
    return CERTREG_OK;
}

/* What is there for single outputs only. */
certreg_status cr_question_check_vector(certreg_estimator *e, const cr_question *q)
{
    const int vector = cr_question_is_vector(q);
    if (!vector && q->statistic == CERTREG_STATISTIC_PROJECTION_MEDIAN)
        return refused(e, "statistic",
                       "use CERTREG_STATISTIC_MEDIAN: CERTREG_STATISTIC_PROJECTION_MEDIAN is for "
                       "CERTREG_ALL_OUTPUTS, or an output_count above 1");
    const certreg_status status = vector ? check_kinds(e, q) : CERTREG_OK;
    if (!vector || status) return status;
    if (q->statistic == CERTREG_STATISTIC_CIRCULAR_MEAN)
        return refused(e, "statistic",
                       "give one question per output: CERTREG_STATISTIC_CIRCULAR_MEAN is about an "
                       "angle, not about a vector");
    if (q->at_radius > 0)
        return refused(e, "output", "give one question per output: output bounds are about one");
    if (q->method == CERTREG_METHOD_PAPER)
        return refused(e, "method",
                       "give one question per output: CERTREG_METHOD_PAPER does not support "
                       "vectors");
    if (q->constraints & CERTREG_CONSTRAINT_SECOND_ORDER)
        return refused(e, "constraints",
                       "leave CERTREG_CONSTRAINT_SECOND_ORDER out: vectors have no second order");
    return CERTREG_OK;
}

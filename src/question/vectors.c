/* Questions about several outputs as one vector (theory 7.3). */
#include "question/question.h"
#include "question/rows.h"

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

/* ---- what is refused */
static certreg_status refused(certreg_error *why, const char *field, const char *remedy)
{
    return cr_fail(why, CERTREG_E_INVALID, "question.%s: %s", field, remedy);
}

static certreg_status check_kinds(cr_view *v, const cr_question *q, certreg_error *why)
{
    const size_t first = cr_question_first(q), end = first + cr_question_outputs(v, q);
    for (size_t k = first; k < end; k++)
        if (v->model.kind[k] != CERTREG_OUTPUT_REAL)
            return cr_fail(why, CERTREG_E_INVALID,
                           "question.output: output %zu is an angle, and a vector needs every "
                           "model.kind to be CERTREG_OUTPUT_REAL: ask about the angle by a "
                           "question of its own, and combine them by certreg_certify_outputs",
                           k);
    return CERTREG_OK;
}

/* What is there for single outputs only. */
certreg_status cr_question_check_vector(cr_view *v, const cr_question *q, certreg_error *why)
{
    const int vector = cr_question_is_vector(q);
    const certreg_status status = vector ? check_kinds(v, q, why) : CERTREG_OK;
    if (!vector || status) return status;
    if (q->at_radius > 0)
        return refused(why, "output", "give one question per output: output bounds are about one");
    return CERTREG_OK;
}

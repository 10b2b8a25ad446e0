/* Fields that name something: an output, a value of an enum, constraints. */
#include "base/structs.h"
#include "question/question.h"

/* Like every switch over an enum these have all its values: a new one does not compile until it is
 * here. */
static int is_statistic(int32_t statistic)
{
    switch ((enum certreg_statistic)statistic) {
    case CERTREG_STATISTIC_MEDIAN:
    case CERTREG_STATISTIC_HUBER:
    case CERTREG_STATISTIC_MEAN:
    case CERTREG_STATISTIC_CIRCULAR_MEAN:
    case CERTREG_STATISTIC_TRIMMED_MEAN:
    case CERTREG_STATISTIC_BALL_CENTER:
    case CERTREG_STATISTIC_PROJECTION_MEDIAN: return 1;
    }
    return 0;
}

static int is_method(int32_t method)
{
    switch ((enum certreg_method)method) {
    case CERTREG_METHOD_FINITE:
    case CERTREG_METHOD_ASYMPTOTIC:
    case CERTREG_METHOD_PAPER:
    case CERTREG_METHOD_ANYTIME:
    case CERTREG_METHOD_BASELINE: return 1;
    }
    return 0;
}

static int is_center(int32_t center)
{
    switch ((enum certreg_center)center) {
    case CERTREG_CENTER_PREDICTION:
    case CERTREG_CENTER_TRUE_MEAN:
    case CERTREG_CENTER_SAMPLE_MEDIAN: return 1;
    }
    return 0;
}

certreg_status cr_question_check_enums(certreg_estimator *e, const cr_question *q)
{
    if (q->output != CERTREG_ALL_OUTPUTS &&
        (q->output < 0 || (size_t)q->output >= e->model.outputs))
        return cr_question_invalid(e, "output", q->output,
                                   "give an index below model.outputs, or CERTREG_ALL_OUTPUTS");
    if (q->output_count > e->model.outputs - cr_question_first(q) ||
        (q->output == CERTREG_ALL_OUTPUTS && q->output_count))
        return cr_fail(&e->error, CERTREG_E_INVALID,
                       "question.output_count is %zu; give at most model.outputs - "
                       "question.output, and 0 with CERTREG_ALL_OUTPUTS",
                       q->output_count);
    if (!is_statistic(q->statistic))
        return cr_question_invalid(
            e, "statistic", q->statistic,
            "give one of CERTREG_STATISTIC_..., the same for all inputs: chosen for "
            "each, it would be another function at a shifted input");
    if (!is_method(q->method))
        return cr_question_invalid(e, "method", q->method, "give one of CERTREG_METHOD_...");
    if (!is_center(q->center))
        return cr_question_invalid(e, "center", q->center, "give one of CERTREG_CENTER_...");
    return cr_constraints_check(q->constraints, "question.constraints", &e->error);
}

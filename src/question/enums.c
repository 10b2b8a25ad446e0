/* Fields that name something: an output, a value of an enum, constraints. */
#include "base/structs.h"
#include "question/question.h"
#include "question/rows.h"

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
    if (!cr_statistic_of(q->statistic))
        return cr_question_invalid(
            e, "statistic", q->statistic,
            "give one of CERTREG_STATISTIC_..., the same for all inputs: chosen for "
            "each, it would be another function at a shifted input");
    if (!cr_method_of(q->method))
        return cr_question_invalid(e, "method", q->method, "give one of CERTREG_METHOD_...");
    if (!cr_center_of(q->center))
        return cr_question_invalid(e, "center", q->center, "give one of CERTREG_CENTER_...");
    return cr_constraints_check(q->constraints, "question.constraints", &e->error);
}

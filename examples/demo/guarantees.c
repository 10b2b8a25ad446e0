#include "guarantees.h"

#include "questions.h"
#include <certreg/question.h>

/* Odd numbers, so that the median is the output of one call. */
const certreg_serving serving[SERVED] = {
    {.struct_size = sizeof *serving, .samples = 1001, .failure_rate = 0.01},
    {.struct_size = sizeof *serving, .samples = 101, .failure_rate = 0.01}};
const double bounds_at[BOUNDED] = {0.25, 0.5};

certreg_status guarantees_certify(certreg_estimator *e, double tolerance, double alpha,
                                  certreg_certificate *out)
{
    certreg_question question[SERVED], bounds;
    for (size_t k = 0; k < SERVED; k++) {
        question[k] = question_of(&questions[QUESTION_MEDIAN], tolerance, alpha);
        question[k].serving = &serving[k];
    }
    for (size_t k = 0; k < GUARANTEES; k++) out[k].struct_size = sizeof out[k];
    bounds = question_of(&questions[QUESTION_MEDIAN], 0.0, alpha); /* 0: half a turn */
    certreg_status bad = certreg_certify(e, 0, question, SERVED, out);
    for (size_t k = 0; k < BOUNDED && !bad; k++)
        bad = certreg_output_bounds(e, 0, &bounds, 1, bounds_at[k], &out[SERVED + k]);
    return bad;
}

double guarantees_width(const certreg_certificate *bounds)
{
    return 0.5 * (bounds->output_hi - bounds->output_lo);
}

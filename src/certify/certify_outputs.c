/* certreg_certify_outputs: one radius for all outputs, from a question about each (theory 5.1:
 * intersection-union). */
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "certify/certificate.h"
#include "certify/certify.h"
#include <math.h>

/* Returns the number of questions about output k, alone or as a part of a vector. */
static size_t questions_about(const certreg_question *questions, size_t count, size_t k)
{
    size_t times = 0;
    for (size_t i = 0; i < count; i++) {
        certreg_question q;
        cr_struct_element(&q, sizeof q, questions, i, "question", NULL);
        const size_t first = q.output < 0 ? 0 : (size_t)q.output,
                     outputs = q.output_count ? q.output_count : 1;
        times += q.output == CERTREG_ALL_OUTPUTS ||
                 (q.output >= 0 && k >= first && k - first < outputs);
    }
    return times;
}

/* One promise is either about the statistics themselves, or about the values that one request
 * serves with one draw of noise for all outputs (theory 7.3). */
static certreg_status check_serving(const cr_context *w, const cr_given *q, const cr_given *first,
                                    size_t i)
{
    if (!q->serving_samples != !first->serving_samples)
        return cr_error_set(w->why, CERTREG_E_INVALID,
                            "questions[%zu].serving is %s, and questions[0].serving is %s: one "
                            "radius is about served values or about T, so set both or neither",
                            i, q->serving_samples ? "set" : "NULL",
                            first->serving_samples ? "set" : "NULL");
    if (q->serving_samples != first->serving_samples || q->serving_pairs != first->serving_pairs)
        return cr_error_set(
            w->why, CERTREG_E_INVALID,
            "questions[%zu].serving has samples %zu and pairs %d, and questions[0].serving %zu and "
            "%d: one radius is about values that one request serves, so give both the same, or "
            "call certreg_certify for each server",
            i, q->serving_samples, q->serving_pairs, first->serving_samples, first->serving_pairs);
    return CERTREG_OK;
}

static certreg_status check_one(const cr_context *w, const certreg_question *questions, size_t i)
{
    cr_given q, first;
    certreg_status status = cr_question_parse(questions, i, 1, &q, w->why);
    if (!status) status = cr_question_parse(questions, 0, 1, &first, w->why);
    if (status) return status;
    if (q.bonferroni > 1)
        return cr_error_set(w->why, CERTREG_E_INVALID,
                            "questions[%zu].bonferroni must be 0 or 1: a radius for all outputs "
                            "needs no division of alpha",
                            i);
    if (q.center == CERTREG_CENTER_SAMPLE_MEDIAN)
        return cr_error_set(w->why, CERTREG_E_INVALID,
                            "questions[%zu].center is CERTREG_CENTER_SAMPLE_MEDIAN, and its radius "
                            "is not proved; use CERTREG_CENTER_PREDICTION",
                            i);
    return check_serving(w, &q, &first, i);
}

/* Checks the questions together; the call validates each of them. */
static certreg_status check(const cr_context *w, const certreg_question *questions, size_t count)
{
    certreg_status status = cr_struct_check(questions, CR_OLDEST_QUESTION, "question", w->why);
    for (size_t i = 0; i < count && !status; i++) status = check_one(w, questions, i);
    for (size_t k = 0; k < w->record->model.outputs && !status; k++) {
        const size_t times = questions_about(questions, count, k);
        if (times != 1)
            status =
                cr_error_set(w->why, CERTREG_E_INVALID,
                             "give one question for each output, alone or within a vector: output "
                             "%zu has %zu",
                             k, times);
    }
    return status;
}

/* The order of methods by what their bounds assume. */
static int weakness(int32_t method)
{
    const cr_method *m = cr_method_of(method);
    return 2 * m->normality - m->is_anytime;
}

/* The model fixes which output leaves its tolerance first as the shift grows. The least radius is
 * too large only if that output's own bound failed, which has the probability that its own method
 * states. If one promise is about a true mean, certreg_move_certificate has to refuse the
 * combination. */
static void combine(const certreg_certificate *each, size_t count, certreg_certificate *combined)
{
    double alpha = 0;
    int32_t center = CERTREG_CENTER_PREDICTION, method = CERTREG_METHOD_ANYTIME;
    certreg_status status = CERTREG_OK;
    for (size_t i = 0; i < count; i++) {
        certreg_certificate c;
        cr_struct_element(&c, sizeof c, each, i, "certificate", NULL);
        if (i == 0 || c.radius < combined->radius) *combined = c;
        if (!status) status = c.status;
        alpha = fmax(alpha, c.alpha);
        if (c.center != CERTREG_CENTER_PREDICTION) center = c.center;
        if (weakness(c.method) > weakness(method)) method = c.method;
    }
    combined->alpha = alpha;
    combined->center = center;
    if (weakness(method) > weakness(combined->method)) combined->method = method;
    cr_certificate_set_status(status, combined);
}

/* Writes certificates without any claim. The record may be NULL. */
static certreg_status refuse(cr_view *v, certreg_status status, size_t count,
                             certreg_certificate *each, certreg_certificate *combined)
{
    cr_certificate_write_empty(v, status, CERTREG_STOP_ALL, count, each);
    cr_certificate_write_empty(v, status, CERTREG_STOP_ALL, 1, combined);
    return status;
}

static certreg_status certify_outputs(const cr_context *w, const cr_call *call,
                                      certreg_certificate *each, certreg_certificate *combined)
{
    certreg_certificate least = {.struct_size = sizeof least};
    int stop;
    certreg_status status = cr_struct_check(combined, CR_OLDEST_CERTIFICATE, "combined", w->why);
    if (!status) status = cr_struct_check(each, CR_OLDEST_CERTIFICATE, "each", w->why);
    if (!status) status = check(w, call->questions, call->count);
    if (status) return refuse(w->record, status, call->count, each, combined);
    const uint32_t size = combined->struct_size; /* before callbacks run */
    status = cr_certify(w, call, &stop, each);
    combine(each, call->count, &least);
    cr_struct_write(combined, size, &least, sizeof least);
    return status;
}

certreg_status certreg_certify_outputs(certreg_estimator *e, size_t total_samples,
                                       const certreg_question *questions, size_t count,
                                       certreg_certificate *each, certreg_certificate *combined)
{
    const cr_call call = {.total_samples = total_samples,
                          .questions = questions,
                          .count = count,
                          .share = 1,
                          .all_or_none = 1};
    cr_context w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    if (refused) return refuse(NULL, refused, count, each, combined);
    return cr_estimator_leave(e, certify_outputs(&w, &call, each, combined));
}

/* One radius for all outputs (theory 5.1: intersection-union). */
#include "base/structs.h"
#include "certify/certify.h"
#include "question/question.h"
#include <math.h>

enum {
    OLDEST_CERTIFICATE = sizeof(certreg_certificate),
    OLDEST_QUESTION = sizeof(certreg_question)
};

/* How often output k is asked. */
static size_t times_asked(const certreg_question *questions, size_t count, size_t k)
{
    size_t times = 0;
    for (size_t i = 0; i < count; i++) {
        certreg_question q;
        cr_struct_element(&q, sizeof q, questions, i, "question", NULL);
        times += q.output >= 0 && (size_t)q.output == k;
    }
    return times;
}

static certreg_status check(certreg_estimator *e, const certreg_question *questions, size_t count)
{
    certreg_status status = cr_struct_check(questions, OLDEST_QUESTION, "question", &e->error);
    if (status) return status;
    if (count != e->model.outputs)
        return cr_fail(&e->error, CERTREG_E_INVALID,
                       "count is %zu, but the model has %zu outputs: one tolerance for each", count,
                       e->model.outputs);
    for (size_t i = 0; i < count; i++) {
        certreg_question q;
        cr_conditions unused;
        status = cr_struct_element(&q, sizeof q, questions, i, "question", &e->error);
        if (!status) status = cr_question_read(e, &q, &unused);
        if (status) return status;
        if (q.center == CERTREG_CENTER_REACH || q.bonferroni > 1)
            return cr_fail(&e->error, CERTREG_E_INVALID,
                           "question %zu: %s does not go with a radius of all outputs", i,
                           q.bonferroni > 1 ? "bonferroni" : "center");
    }
    for (size_t k = 0; k < count; k++) {
        const size_t times = times_asked(questions, count, k);
        if (times != 1)
            return cr_fail(&e->error, CERTREG_E_INVALID,
                           "output %zu is asked %zu times; each output needs one tolerance", k,
                           times);
    }
    return CERTREG_OK;
}

/* Whichever output's promise breaks first as the shift grows is fixed by the model: the least
 * radius is too large only if that output's own bound failed. Fresh estimates that are served are
 * another matter: any of them may fail, so their rates add up. */
static void join(const certreg_certificate *each, size_t count, certreg_certificate *joint)
{
    double alpha = 0, beta = 0;
    certreg_status status = CERTREG_OK;
    for (size_t i = 0; i < count; i++) {
        certreg_certificate c;
        cr_struct_element(&c, sizeof c, each, i, "certificate", NULL);
        if (i == 0 || c.radius < joint->radius) *joint = c;
        if (!status) status = c.status;
        alpha = fmax(alpha, c.alpha);
        beta += c.served_beta;
    }
    joint->alpha = alpha;
    joint->served_beta = fmin(beta, 1);
    joint->status = status;
}

/* Neither has any claim. The estimator may be NULL. */
static certreg_status refuse(const certreg_estimator *e, certreg_status status, size_t count,
                             certreg_certificate *each, certreg_certificate *joint)
{
    cr_certify_nothing(e, status, CERTREG_STOP_ALL, count, each);
    cr_certify_nothing(e, status, CERTREG_STOP_ALL, 1, joint);
    return status;
}

static certreg_status certify_outputs(certreg_estimator *e, certreg_bisection *bisection,
                                      size_t samples, const certreg_question *questions,
                                      size_t count, certreg_certificate *each,
                                      certreg_certificate *joint)
{
    certreg_certificate least = {.struct_size = sizeof least};
    int stop;
    certreg_status status = cr_struct_check(joint, OLDEST_CERTIFICATE, "bonferroni", &e->error);
    if (!status) status = cr_struct_check(each, OLDEST_CERTIFICATE, "each", &e->error);
    if (!status) status = check(e, questions, count);
    if (status) return refuse(e, status, count, each, joint);
    status = cr_certify(e, bisection, samples, questions, count, 1, &stop, each);
    join(each, count, &least);
    cr_struct_write(joint, joint->struct_size, &least, sizeof least);
    return status;
}

certreg_status certreg_certify_outputs(certreg_estimator *e, certreg_bisection *bisection,
                                       size_t samples, const certreg_question *questions,
                                       size_t count, certreg_certificate *each,
                                       certreg_certificate *joint)
{
    const certreg_status refused = cr_certify_enter(e, bisection);
    if (refused) return refuse(NULL, refused, count, each, joint);
    return cr_certify_leave(e, bisection,
                            certify_outputs(e, bisection, samples, questions, count, each, joint));
}

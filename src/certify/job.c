#include "certify/job.h"
#include "base/sizes.h"
#include "base/structs.h"
#include "certify/answer.h"
#include "certify/closing.h"
#include "question/conditions.h"

certreg_status cr_job_question(const cr_work *w, const cr_job *j, size_t index, cr_question *out)
{
    const cr_call *call = j->call;
    *out = (cr_question){.output = 0};
    certreg_status status =
        cr_struct_check(call->questions, CR_OLDEST_QUESTION, "question", w->why);
    if (status) return status;
    status = cr_read_question(call->questions, index, call->share, out, w->why);
    if (status) return *out = (cr_question){.output = 0}, status;
    out->at_radius = call->at_radius;
    return cr_sense_check(w->record, out, w->why);
}

/* A question that cannot be answered at that number of samples is reported in its turn. */
static void look_over(const cr_work *w, cr_job *j, const cr_question *q)
{
    if (!j->looks) j->looks = cr_allowed_looks(q);
    const size_t from = cr_conditions_least(w->record, q);
    if (from > j->samples || cr_allowed_now(w->record, q, j->samples, w->why)) return;
    j->any_valid = 1;
    j->all_targets &= q->target > 0;
    if (from < j->from) j->from = from;
    j->hash = cr_closing_hash(j->hash, q);
}

void cr_job_check(const cr_work *w, cr_job *j)
{
    j->all_targets = 1, j->from = SIZE_MAX, j->hash = j->call->count;
    cr_error_clear(&j->wrong);
    for (size_t i = 0; i < j->call->count; i++) {
        cr_question q;
        certreg_certificate c;
        const certreg_status status = cr_job_question(w, j, i, &q);
        cr_answer_blank(w->record, &q, &c);
        cr_answer_status(status, &c);
        cr_struct_write(cr_job_certificate(j, i), j->size, &c, sizeof c);
        if (!status) look_over(w, j, &q);
        else if (!j->wrong.status) j->wrong = *w->why;
    }
    cr_error_clear(w->why);
}

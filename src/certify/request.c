/* Parses and validates the questions of a call: one of them, or all, for what they have in common.
 * Every pass over the questions begins here. */
#include "certify/request.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "certify/answer_timer.h"
#include "certify/certificate.h"
#include "conditions/conditions.h"

certreg_status cr_request_question(const cr_context *w, const cr_request *r, size_t index,
                                   cr_question *out)
{
    const cr_call *call = r->call;
    cr_given given;
    certreg_status status =
        cr_struct_check(call->questions, CR_OLDEST_QUESTION, "question", w->why);
    if (!status) status = cr_question_parse(call->questions, index, call->share, &given, w->why);
    *out = (cr_question){.first_output = 0};
    if (status) return status;
    out->given = given;
    out->given.at_radius = call->at_radius;
    return cr_question_validate(w->record, out, w->why);
}

void cr_request_check(const cr_context *w, cr_request *r)
{
    r->all_targets = 1;
    r->min_samples = SIZE_MAX;
    r->timer_key = r->call->count;
    cr_error_clear(&r->first_invalid);
    for (size_t i = 0; i < r->call->count; i++) {
        cr_question q;
        certreg_certificate c;
        const certreg_status status = cr_request_question(w, r, i, &q);
        cr_certificate_init(w->record, &q, &c);
        if (status) cr_certificate_set_status(status, &c);
        cr_struct_write(cr_request_certificate(r, i), r->size, &c, sizeof c);
        if (status && !r->first_invalid.status) r->first_invalid = *w->why;
        if (status) continue;
        if (!r->looks) r->looks = cr_question_looks_digest(&q);
        const size_t needed = cr_conditions_min_samples(w->record, &q);
        if (needed > r->samples || cr_conditions_check_reuse(w->record, &q, r->samples, w->why))
            continue; /* reported when it is answered */
        r->any_valid = 1;
        r->all_targets &= q.given.target_radius > 0;
        if (needed < r->min_samples) r->min_samples = needed;
        r->timer_key = cr_answer_timer_key(r->timer_key, &q);
    }
    cr_error_clear(w->why);
}

/* The first evaluation of a record: remembered, compared with later numbers of samples, and merged
 * on import. One file, so that the whole guard can be read at once. */
#include "record/query_log.h"

static const uint64_t greatest_max_samples = UINT64_C(1) << 53; /* a double has it exactly */

void cr_query_log_remember(cr_record *r, uint64_t first, uint64_t total, uint64_t looks)
{
    if (r->present > r->pilot) cr_query_log_settle(r, first, total, looks);
}

void cr_query_log_remember_now(cr_record *r, uint64_t looks)
{
    cr_query_log_remember(r, r->present, r->present, looks);
}

void cr_query_log_settle(cr_record *r, uint64_t first, uint64_t total, uint64_t looks)
{
    if (r->asked.max_samples) return;
    /* Samples behind a gap may make the record longer than the call requested. */
    r->asked = (cr_query_log){.first = first,
                              .total = total > first ? total : first,
                              .max_samples = r->plan.max_samples,
                              .batch = r->model.batch,
                              .looks = looks};
}

int cr_query_log_fixed(cr_view *v, uint64_t samples)
{
    const cr_query_log *asked = &v->asked;
    return !asked->max_samples || samples == asked->first || samples == asked->total;
}

certreg_status cr_query_log_refuse(cr_view *v, const char *remedies, uint64_t samples,
                                   certreg_error *why)
{
    const uint64_t first = v->asked.first;
    if (!first)
        return cr_error_set(
            why, CERTREG_E_WRONG_STATE,
            "%sbegin with another noise_id: sampling failed before a number of samples "
            "was fixed, and the failure may have led to the present %llu",
            remedies, (unsigned long long)samples);
    return cr_error_set(why, CERTREG_E_WRONG_STATE,
                        "%sbegin with another noise_id: the record was first evaluated at %llu "
                        "samples, and the answer may have led to the present %llu",
                        remedies, (unsigned long long)first, (unsigned long long)samples);
}

uint64_t cr_query_log_max_samples(cr_view *v)
{
    return v->asked.max_samples ? v->asked.max_samples : v->plan.max_samples;
}

uint64_t cr_query_log_batch(cr_view *v)
{
    return v->asked.max_samples ? v->asked.batch : v->model.batch;
}

/* ---- two records */
static int makes_sense(const cr_query_log *a)
{
    if (!a->max_samples) return !(a->first | a->total | a->batch | a->looks);
    return a->max_samples <= greatest_max_samples && a->batch && a->first <= a->total &&
           a->total <= a->max_samples;
}

static certreg_status check(cr_view *v, const cr_query_log *theirs, certreg_error *why)
{
    const cr_query_log *mine = &v->asked;
    if (!makes_sense(theirs))
        return cr_error_set(why, CERTREG_E_CORRUPT,
                            "the record is damaged: its numbers of samples contradict each other");
    if (!mine->max_samples || !theirs->max_samples ||
        (mine->max_samples == theirs->max_samples && mine->batch == theirs->batch))
        return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_MISMATCH,
        "both records were evaluated, under different plans (max_samples %llu and %llu, batch "
        "%llu and %llu): import only one of them, or make both under one plan",
        (unsigned long long)mine->max_samples, (unsigned long long)theirs->max_samples,
        (unsigned long long)mine->batch, (unsigned long long)theirs->batch);
}

/* Keeps the numbers of samples that both records have. */
static void keep_common(cr_query_log *mine, const cr_query_log *theirs)
{
    const int first = mine->first == theirs->first || mine->first == theirs->total;
    const int total = mine->total == theirs->total || mine->total == theirs->first;
    if (!total) mine->total = first ? mine->first : 0;
    if (!first) mine->first = mine->total;
    if (mine->looks != theirs->looks) mine->looks = 0;
}

certreg_status cr_query_log_merge(cr_record *r, const cr_query_log *theirs, int write,
                                  certreg_error *why)
{
    const certreg_status status = check(r, theirs, why);
    if (status || !write) return status;
    if (!theirs->max_samples) return CERTREG_OK;
    if (r->asked.max_samples) keep_common(&r->asked, theirs);
    else r->asked = *theirs;
    return CERTREG_OK;
}

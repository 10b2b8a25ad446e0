/* The first evaluation of a record: remembered, compared with later numbers of samples, and merged
 * on import. One file, so that the whole guard can be read at once. */
#include "record/query_log.h"

static const uint64_t max_samples_limit = UINT64_C(1) << 53; /* a double has it exactly */

void cr_query_log_remember(cr_record *r, uint64_t first_samples, uint64_t planned_samples,
                           uint64_t looks_digest)
{
    if (r->present > r->pilot) cr_query_log_settle(r, first_samples, planned_samples, looks_digest);
}

void cr_query_log_remember_now(cr_record *r, uint64_t looks_digest)
{
    cr_query_log_remember(r, r->present, r->present, looks_digest);
}

void cr_query_log_settle(cr_record *r, uint64_t first_samples, uint64_t planned_samples,
                         uint64_t looks_digest)
{
    if (r->asked.max_samples) return;
    /* Samples behind a gap may make the record longer than the call requested. */
    r->asked =
        (cr_query_log){.first_samples = first_samples,
                       .total = planned_samples > first_samples ? planned_samples : first_samples,
                       .max_samples = r->plan.max_samples,
                       .batch = r->model.batch,
                       .looks = looks_digest};
}

int cr_query_log_fixed(cr_view *v, uint64_t samples)
{
    const cr_query_log *log = &v->asked;
    return !log->max_samples || samples == log->first_samples || samples == log->total;
}

certreg_status cr_query_log_refuse(cr_view *v, const char *remedies, uint64_t samples,
                                   certreg_error *why)
{
    const uint64_t first_samples = v->asked.first_samples;
    if (!first_samples)
        return cr_error_set(
            why, CERTREG_E_WRONG_STATE,
            "%sbegin with another noise_id: sampling failed before a number of samples "
            "was fixed, and the failure may have led to the present %llu",
            remedies, (unsigned long long)samples);
    return cr_error_set(why, CERTREG_E_WRONG_STATE,
                        "%sbegin with another noise_id: the record was first evaluated at %llu "
                        "samples, and the answer may have led to the present %llu",
                        remedies, (unsigned long long)first_samples, (unsigned long long)samples);
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
static int is_consistent(const cr_query_log *log)
{
    if (!log->max_samples) return !(log->first_samples | log->total | log->batch | log->looks);
    return log->max_samples <= max_samples_limit && log->batch &&
           log->first_samples <= log->total && log->total <= log->max_samples;
}

static certreg_status check(cr_view *v, const cr_query_log *other, certreg_error *why)
{
    const cr_query_log *own = &v->asked;
    if (!is_consistent(other))
        return cr_error_set(why, CERTREG_E_CORRUPT,
                            "the record is damaged: its numbers of samples contradict each other");
    if (!own->max_samples || !other->max_samples ||
        (own->max_samples == other->max_samples && own->batch == other->batch))
        return CERTREG_OK;
    return cr_error_set(
        why, CERTREG_E_MISMATCH,
        "both records were evaluated, under different plans (max_samples %llu and %llu, batch "
        "%llu and %llu): import only one of them, or make both under one plan",
        (unsigned long long)own->max_samples, (unsigned long long)other->max_samples,
        (unsigned long long)own->batch, (unsigned long long)other->batch);
}

/* Keeps the numbers of samples that both records have. */
static void intersect(cr_query_log *own, const cr_query_log *other)
{
    const int first_is_common = own->first_samples == other->first_samples ||
                                own->first_samples == other->total;
    const int planned_is_common = own->total == other->total || own->total == other->first_samples;
    if (!planned_is_common) own->total = first_is_common ? own->first_samples : 0;
    if (!first_is_common) own->first_samples = own->total;
    if (own->looks != other->looks) own->looks = 0;
}

certreg_status cr_query_log_merge(cr_record *r, const cr_query_log *other, int write,
                                  certreg_error *why)
{
    const certreg_status status = check(r, other, why);
    if (status || !write) return status;
    if (!other->max_samples) return CERTREG_OK;
    if (r->asked.max_samples) intersect(&r->asked, other);
    else r->asked = *other;
    return CERTREG_OK;
}

/* The first evaluation of a record: remembered, compared with later numbers of samples, and merged
 * on import. One file, so that the whole guard can be read at once. */
#include "record/query_log.h"

static const uint64_t max_samples_limit = UINT64_C(1) << 53; /* a double has it exactly */

void cr_query_log_add(cr_record *r, uint64_t first_samples, uint64_t planned_samples,
                      uint64_t looks_digest)
{
    if (r->sample_count > r->pilot)
        cr_query_log_add_unrecorded(r, first_samples, planned_samples, looks_digest);
}

void cr_query_log_add_current(cr_record *r, uint64_t looks_digest)
{
    cr_query_log_add(r, r->sample_count, r->sample_count, looks_digest);
}

void cr_query_log_add_unrecorded(cr_record *r, uint64_t first_samples, uint64_t planned_samples,
                                 uint64_t looks_digest)
{
    if (r->query_log.max_samples) return;
    /* Samples behind a gap may make the record longer than the call requested. */
    r->query_log = (cr_query_log){
        .first_samples = first_samples,
        .planned_samples = planned_samples > first_samples ? planned_samples : first_samples,
        .max_samples = r->plan.max_samples,
        .batch = r->model.batch,
        .looks_digest = looks_digest};
}

int cr_query_log_allows(cr_view *v, uint64_t samples)
{
    const cr_query_log *log = &v->query_log;
    return !log->max_samples || samples == log->first_samples || samples == log->planned_samples;
}

certreg_status cr_query_log_refuse(cr_view *v, const char *remedies, uint64_t samples,
                                   certreg_error *why)
{
    const uint64_t first_samples = v->query_log.first_samples;
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
    return v->query_log.max_samples ? v->query_log.max_samples : v->plan.max_samples;
}

uint64_t cr_query_log_batch(cr_view *v)
{
    return v->query_log.max_samples ? v->query_log.batch : v->model.batch;
}

/* ---- two records */
static int is_consistent(const cr_query_log *log)
{
    if (!log->max_samples)
        return !(log->first_samples | log->planned_samples | log->batch | log->looks_digest);
    return log->max_samples <= max_samples_limit && log->batch &&
           log->first_samples <= log->planned_samples && log->planned_samples <= log->max_samples;
}

static certreg_status check(cr_view *v, const cr_query_log *other, certreg_error *why)
{
    const cr_query_log *own = &v->query_log;
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
                                own->first_samples == other->planned_samples;
    const int planned_is_common = own->planned_samples == other->planned_samples ||
                                  own->planned_samples == other->first_samples;
    if (!planned_is_common) own->planned_samples = first_is_common ? own->first_samples : 0;
    if (!first_is_common) own->first_samples = own->planned_samples;
    if (own->looks_digest != other->looks_digest) own->looks_digest = 0;
}

certreg_status cr_query_log_merge(cr_record *r, const cr_query_log *other, int write,
                                  certreg_error *why)
{
    const certreg_status status = check(r, other, why);
    if (status || !write) return status;
    if (!other->max_samples) return CERTREG_OK;
    if (r->query_log.max_samples) intersect(&r->query_log, other);
    else r->query_log = *other;
    return CERTREG_OK;
}

#include "base/bytes.h"
#include "estimator/inquiry.h"

static const uint64_t greatest_capacity = UINT64_C(1) << 53; /* a double has it exactly */

uint64_t cr_asked_digest(const certreg_question *q)
{
    if (!cr_inquiry_is_closed(q) || !q->looks) return 0;
    uint64_t h = cr_hash64(CR_HASH_START, q->look_count);
    for (size_t i = 0; i < q->look_count; i++) h = cr_hash64(h, q->looks[i]);
    h = cr_hash_end(h);
    return h ? h : 1;
}

void cr_asked_remember(certreg_estimator *e, uint64_t first, uint64_t total, uint64_t looks)
{
    if (e->asked.capacity || e->present <= e->plan.pilot) return;
    e->asked = (cr_asked){.first = first, .total = total, .capacity = e->plan.capacity,
                          .batch = e->model.batch, .pilot = e->plan.pilot, .looks = looks};
}

uint64_t cr_asked_capacity(const certreg_estimator *e)
{
    return e->asked.capacity ? e->asked.capacity : e->plan.capacity;
}

uint64_t cr_asked_batch(const certreg_estimator *e)
{
    return e->asked.capacity ? e->asked.batch : e->model.batch;
}

/* ---- what may be asked ----------------------------------------------------------------------- */
static certreg_status refuse_number(certreg_estimator *e, uint64_t samples)
{
    const unsigned long long n = samples, total = e->asked.total;
    if (samples < e->asked.total)
        return cr_fail(&e->error, CERTREG_WRONG_STATE,
                       "the record was asked before it had these %llu samples, whose number its "
                       "outputs may have chosen: sample on to %llu, or ask ANYTIME or for "
                       "question.wanted", n, total);
    return cr_fail(&e->error, CERTREG_WRONG_STATE,
                   "the record was asked before it had these %llu samples, whose number its "
                   "outputs may have chosen: ask ANYTIME or for question.wanted, or begin with "
                   "another stream", n);
}

certreg_status cr_asked_allows(certreg_estimator *e, const certreg_question *q, uint64_t samples)
{
    const cr_asked *asked = &e->asked;
    if (!asked->capacity || q->interval == CERTREG_INTERVAL_ANYTIME) return CERTREG_OK;
    const int fixed = samples == asked->first || samples == asked->total;
    if (!cr_inquiry_is_closed(q)) return fixed ? CERTREG_OK : refuse_number(e, samples);
    const uint64_t looks = cr_asked_digest(q);
    if (!looks || looks == asked->looks) return CERTREG_OK;
    return cr_fail(&e->error, CERTREG_WRONG_STATE,
                   "question.looks were not fixed before the record was first asked: leave them "
                   "NULL, give those of the first question, or ask ANYTIME");
}

/* ---- two records ----------------------------------------------------------------------------- */
static int makes_sense(const cr_asked *a)
{
    if (!a->capacity) return !(a->first | a->total | a->batch | a->pilot | a->looks);
    return a->capacity <= greatest_capacity && a->pilot < a->capacity && a->batch &&
           a->first <= a->total && a->total <= a->capacity;
}

static certreg_status check(certreg_estimator *e, const cr_asked *theirs)
{
    const cr_asked *mine = &e->asked;
    if (!makes_sense(theirs))
        return cr_fail(&e->error, CERTREG_CORRUPT,
                       "the record's account of what it was asked makes no sense");
    if (!theirs->capacity) return CERTREG_OK;
    if (theirs->pilot != e->plan.pilot)
        return cr_fail(&e->error, CERTREG_MISMATCH,
                       "the record was asked with a pilot of %llu samples, and this plan has %zu: "
                       "set plan.pilot to %llu",
                       (unsigned long long)theirs->pilot, e->plan.pilot,
                       (unsigned long long)theirs->pilot);
    if (!mine->capacity || (mine->capacity == theirs->capacity && mine->batch == theirs->batch))
        return CERTREG_OK;
    return cr_fail(&e->error, CERTREG_MISMATCH,
                   "the records were asked under different plans (capacity %llu and %llu, batch "
                   "%llu and %llu), which are two tests: keep to one of them",
                   (unsigned long long)mine->capacity, (unsigned long long)theirs->capacity,
                   (unsigned long long)mine->batch, (unsigned long long)theirs->batch);
}

/* Of two numbers those that are among two others. */
static void keep_common(cr_asked *mine, const cr_asked *theirs)
{
    const int first = mine->first == theirs->first || mine->first == theirs->total;
    const int total = mine->total == theirs->total || mine->total == theirs->first;
    if (!total) mine->total = first ? mine->first : 0;
    if (!first) mine->first = mine->total;
    if (mine->looks != theirs->looks) mine->looks = 0;
}

certreg_status cr_asked_merge(certreg_estimator *e, const cr_asked *theirs, int write)
{
    const certreg_status status = check(e, theirs);
    if (status || !write || !theirs->capacity) return status;
    if (e->asked.capacity) keep_common(&e->asked, theirs);
    else e->asked = *theirs;
    return CERTREG_OK;
}

/* One estimator whose model misbehaves at one sample; it has to be usable after every refusal. */
#ifndef SUPPORT_SICK_MODEL_H
#define SUPPORT_SICK_MODEL_H
#include "support/api_kit.h"

enum { CAPACITY = 1000, BATCH = 10 };
typedef struct sick { /* misbehaves at one sample */
    enum { HEALTHY, RETURNS, SKIPS, WRITES } mode;
    uint64_t sample;
    int code;
    float value;
    unsigned calls;
} sick;

static sick state;
static certreg_estimator *shared;
static const double range_lo[2] = {-100, -100}, range_hi[2] = {100, 100};

static inline int sick_model(void *user, const certreg_batch *b)
{
    sick *s = user;
    s->calls++;
    kit_identity(NULL, b);
    if (s->mode == HEALTHY || s->sample < b->first || s->sample >= b->first + b->rows) return 0;
    float *y = b->y + (s->sample - b->first) * b->columns + 1;
    if (s->mode == RETURNS) return s->code;
    *y = s->mode == SKIPS ? NAN : s->value;
    return 0;
}

static inline void make_shared(void)
{
    memset(&state, 0, sizeof state);
    certreg_model m = kit_model(sick_model, &state, 3, 2);
    m.batch = BATCH, m.lo = range_lo, m.hi = range_hi;
    const certreg_plan p = kit_plan(CAPACITY);
    shared = kit_create(NULL, &m, &p);
}

static const float origin[3] = {0, 1, 2};

static inline void check_usable(void)
{
    state.mode = HEALTHY;
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    KIT_OK(shared, certreg_estimator_begin(shared, origin, 0.5, 1));
    KIT_OK(shared, certreg_certify(shared, 400, &q, 1, &c));
    ck_assert_int_eq(c.outcome, CERTREG_OUTCOME_CERTIFIED);
    ck_assert_int_eq(certreg_estimator_error(shared)->status, CERTREG_OK);
    ck_assert_str_eq(certreg_estimator_error(shared)->text, "");
}

#endif

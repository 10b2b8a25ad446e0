/* A linear map of three inputs to three outputs, of which the last may be an angle. */
#ifndef SUPPORT_LINEAR_MAP_H
#define SUPPORT_LINEAR_MAP_H
#include "support/api_kit.h"

enum { INPUTS = 3, OUTPUTS = 3, SAMPLES = 4000 };
static const float where[INPUTS] = {0.2f, -0.1f, 0.4f};

typedef struct linear {
    double weight[OUTPUTS];
    size_t calls, fail_at;
} linear;

static inline int map(void *user, const certreg_batch *b)
{
    linear *l = user;
    if (++l->calls == l->fail_at) return 5;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++)
            b->y[i * b->columns + k] = (float)(l->weight[k] * (double)b->x[i * b->inputs + k]);
    return 0;
}

static const int32_t mixed[OUTPUTS] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_REAL,
                                       CERTREG_OUTPUT_ANGLE};

static inline certreg_estimator *make(linear *l, const int32_t *kind, size_t outputs)
{
    certreg_model m = kit_model(map, l, INPUTS, outputs);
    m.kind = kind;
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.5, 3));
    return e;
}

static inline certreg_question about(int32_t output, double tolerance)
{
    certreg_question q = kit_question(tolerance);
    q.output = output;
    return q;
}

#endif

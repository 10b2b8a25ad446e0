/* A curve of two inputs, x0 (1 + 0.3 x1), that counts the rows it is asked for, and an estimator of
 * it with a pilot of the test's choice. */
#ifndef SUPPORT_CURVE_MODEL_H
#define SUPPORT_CURVE_MODEL_H
#include "support/api_kit.h"

static size_t rows_asked;

static inline int curve(void *user, const certreg_batch *b)
{
    (void)user;
    rows_asked += b->used_count;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = b->x[2 * i] * (1 + 0.3f * b->x[2 * i + 1]);
    return 0;
}

static inline certreg_estimator *curve_estimator(size_t max_samples, size_t pilot)
{
    certreg_model m = kit_model(curve, NULL, 2, 1);
    m.batch = 20;
    certreg_plan p = kit_plan(max_samples);
    p.pilot = pilot;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){1, 2}, 0.25, 3));
    rows_asked = 0;
    return e;
}

#endif

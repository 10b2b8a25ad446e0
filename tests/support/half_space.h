/* A half-space that is asked for wanted radii, for tests of the public interface: what there is to
 * know about it is known. */
#ifndef SUPPORT_HALF_SPACE_H
#define SUPPORT_HALF_SPACE_H
#include "support/api_kit.h"

enum { CAPACITY = 4000, BATCH = 20 };

/* 10 beyond a face at distance `face`, else 0: about the prediction 0 its true radius is `face`. */
typedef struct half_space {
    double face;
    size_t calls, cancel_at, fail_at, fail_code;
    certreg_estimator *handle;
} half_space;

static inline int beyond(void *user, const certreg_batch *b)
{
    half_space *h = user;
    if (++h->calls == h->fail_at) return (int)h->fail_code;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++)
            b->y[i * b->columns + k] = (double)b->x[i * b->inputs] > h->face ? 10 : 0;
    if (h->calls == h->cancel_at) certreg_estimator_cancel(h->handle);
    return 0;
}

static inline certreg_estimator *make_with(certreg_eval eval, half_space *h, size_t outputs,
                                           uint64_t stream)
{
    certreg_model m = KIT_MODEL(eval, h, 2, outputs, .batch = BATCH);
    certreg_plan p = KIT_PLAN(CAPACITY, .pilot = SIZE_MAX);
    h->handle = kit_create(NULL, &m, &p);
    KIT_OK(h->handle, certreg_estimator_begin(h->handle, (const float[]){0, 0}, 1, stream));
    return h->handle;
}

static inline certreg_estimator *make(half_space *h, size_t outputs, uint64_t stream)
{
    return make_with(beyond, h, outputs, stream);
}

static inline certreg_question wish(double wanted, int32_t method)
{
    certreg_question q = kit_question(1);
    q.prediction = asks_prediction(0), q.target = asks_target(wanted), q.method = method;
    return q;
}

static const int32_t sequential[] = {CERTREG_METHOD_FINITE, CERTREG_METHOD_ANYTIME};

static inline void carry(certreg_estimator *from, certreg_estimator *to)
{
    size_t bytes = 0;
    KIT_OK(from, certreg_estimator_export(from, NULL, &bytes));
    void *buffer = malloc(bytes);
    ck_assert_ptr_nonnull(buffer);
    KIT_OK(from, certreg_estimator_export(from, buffer, &bytes));
    KIT_OK(to, certreg_estimator_import(to, buffer, bytes));
    free(buffer);
}

#endif

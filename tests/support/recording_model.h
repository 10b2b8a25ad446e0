/* A model that writes down how it was called, and checks that every batch is as promised. */
#ifndef SUPPORT_DIARY_H
#define SUPPORT_DIARY_H
#include "support/api_kit.h"

enum { INPUTS = 5, CAPACITY = 1000, BATCH = 16, CALLS = 128 };
static const float input[INPUTS] = {0.5f, -1, 3, -0.0f, 0.25f};
static const float scale[INPUTS] = {1, 2, 0, 0, 0.5f};
static const double sigma = 0.3;

typedef struct diary {
    size_t calls;
    struct {
        uint64_t first;
        size_t used_first, used_count;
    } call[CALLS];
    int only_wanted; /* leaves out rows that are not wanted */
    int bad_batch;   /* a batch was not as promised */
    float x[CAPACITY + BATCH][INPUTS];
    size_t cancel_at; /* call during which it cancels, counted from 1 */
    certreg_estimator *handle;
    uint64_t done[CALLS];
    size_t reports, refuse_at;
} diary;

static diary book;
static certreg_estimator *e;

static inline float value_of(const float *x)
{
    return x[0] * x[0] + x[1] - 0.5f * x[4];
}

static inline int write_down(void *user, const certreg_batch *b)
{
    diary *d = user;
    if (b->struct_size < sizeof *b || b->device != -1 || b->rows != BATCH || b->inputs != INPUTS ||
        b->columns != 2 || b->first % BATCH || b->used_first + b->used_count > BATCH ||
        !b->used_count || (uintptr_t)b->x % 64 || b->stream)
        d->bad_batch = 1;
    for (size_t i = 0; i < b->rows * b->columns; i++) d->bad_batch |= !isnan(b->y[i]);
    if (d->calls < CALLS) {
        d->call[d->calls].first = b->first;
        d->call[d->calls].used_first = b->used_first;
        d->call[d->calls].used_count = b->used_count;
    }
    d->calls++;
    for (size_t i = 0; i < b->rows; i++) {
        memcpy(d->x[b->first + i], b->x + i * INPUTS, sizeof d->x[0]);
        if (d->only_wanted && (i < b->used_first || i >= b->used_first + b->used_count)) continue;
        b->y[2 * i] = value_of(b->x + i * INPUTS);
        b->y[2 * i + 1] = b->x[i * INPUTS];
    }
    if (d->calls == d->cancel_at) certreg_estimator_cancel(d->handle);
    return 0;
}

static inline int report(void *user, uint64_t done, uint64_t total)
{
    diary *d = user;
    if (d->reports < CALLS) d->done[d->reports] = done;
    d->bad_batch |= total != 200 || done > total;
    return ++d->reports == d->refuse_at;
}

static inline certreg_plan plan_of(void)
{
    certreg_plan p = kit_plan(CAPACITY);
    p.progress_user = &book;
    return p;
}

static inline certreg_estimator *make(certreg_backend *backend, const certreg_plan *p)
{
    certreg_model m = kit_model(write_down, &book, INPUTS, 2);
    m.batch = BATCH, m.scale = scale;
    certreg_estimator *made = kit_create(backend, &m, p);
    KIT_OK(made, certreg_estimator_begin(made, input, sigma, 4));
    return book.handle = made;
}

static inline void setup(void)
{
    memset(&book, 0, sizeof book);
    const certreg_plan p = plan_of();
    e = make(NULL, &p);
}

static inline void teardown(void)
{
    ck_assert_int_eq(book.bad_batch, 0);
}

#endif

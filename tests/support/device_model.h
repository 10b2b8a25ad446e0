/* A model that computes on the emulated device as a kernel does, or on the host, and what is
 * asked about it. */
#ifndef SUPPORT_DEVICE_MODEL_H
#define SUPPORT_DEVICE_MODEL_H
#include "emulated.h"
#include "support/api_kit.h"
#include "support/emulated_device.h"

enum { INPUTS = 7, OUTPUTS = 2, SAMPLES = 1500, BATCH = 100 };
static const float where[INPUTS] = {0.2f, -0.1f, 0.4f, 0, 1, -1, 0.5f};
static const float scale[INPUTS] = {1, 0.5f, 2, 0, 1, 1, 0.7f};

/* ---- the model */
typedef struct surface {
    size_t calls, fail_at, skip_at, crash_at, cancel_at;
    certreg_estimator *cancelled;
    int strange; /* a batch was not what a device's is */
} surface;

typedef struct task { /* the model's work on one batch */
    size_t rows, inputs, columns, skip;
    const float *x;
    float *y;
    surface *s;
} task;

static inline void compute(const float *x, size_t inputs, float *y)
{
    y[0] = tanhf(x[0] + 0.5f * x[1]) + 0.1f * x[2];
    y[1] = 0.3f * x[inputs - 1] - 0.2f * x[4] * x[5];
}

static inline void work(void *with)
{
    const task *t = with;
    for (size_t i = 0; i < t->rows * t->columns; i++) t->s->strange |= !isnan(t->y[i]);
    for (size_t i = 0; i < t->rows; i++)
        if (i != t->skip) compute(t->x + i * t->inputs, t->inputs, t->y + i * t->columns);
}

static inline task task_of(surface *s, const certreg_batch *b)
{
    if (++s->calls == s->cancel_at) certreg_estimator_cancel(s->cancelled);
    return (task){b->rows, b->inputs, b->columns, s->calls == s->skip_at ? 5 : SIZE_MAX,
                  b->x,    b->y,      s};
}

static inline int on_host(void *user, const certreg_batch *b)
{
    task t = task_of(user, b);
    work(&t);
    return t.s->calls == t.s->fail_at ? 17 : 0;
}

/* As a kernel: enqueued, and no waiting. */
static inline int on_device(void *user, const certreg_batch *b)
{
    surface *s = user;
    struct cudaPointerAttributes x, y;
    task *t = malloc(sizeof *t);
    *t = task_of(s, b);
    int device = -1;
    emulated_observe(0); /* what the model does is not counted as the library's */
    cudaGetDevice(&device);
    s->strange |= cudaPointerGetAttributes(&x, b->x) || x.type != cudaMemoryTypeDevice ||
                  x.device != b->device || (uintptr_t)b->x % 256 != 0;
    s->strange |= cudaPointerGetAttributes(&y, b->y) || y.type != cudaMemoryTypeDevice ||
                  y.device != b->device || (uintptr_t)b->y % 256 != 0;
    cudaSetDevice(b->device);
    const int refused = (int)emulated_enqueue(b->stream, work, t, free);
    if (s->calls == s->crash_at) emulated_crash(b->stream);
    cudaSetDevice(device);
    emulated_observe(1);
    return refused ? refused : s->calls == s->fail_at ? 17 : 0;
}

/* ---- estimators */
static inline certreg_model model_of(surface *s, int device)
{
    static const double lo[OUTPUTS] = {-9, -9}, hi[OUTPUTS] = {9, 9};
    certreg_model m = kit_model(device ? on_device : on_host, s, INPUTS, OUTPUTS);
    m.batch = BATCH, m.scale = scale, m.lo = lo, m.hi = hi;
    return m;
}

static inline certreg_plan plan_of(size_t samples)
{
    certreg_plan p = kit_plan(samples);
    p.constraints = CERTREG_CONSTRAINTS_ECGM;
    return p;
}

static inline certreg_estimator *make(certreg_backend *backend, surface *s)
{
    const certreg_model m = model_of(s, backend != NULL);
    const certreg_plan p = plan_of(SAMPLES);
    return kit_create(backend, &m, &p);
}

/* On device 0, with its first input. */
static inline certreg_estimator *begun_there(surface *s)
{
    certreg_estimator *e = make(open_device(0, NULL), s);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.3, 0));
    return e;
}

/* ---- what is asked */
static const struct {
    int32_t output, statistic, method, center;
    uint32_t constraints;
} asked[] = {{0, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, 0},
             {1, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE, 0, CERTREG_CONSTRAINTS_ECGM},
             {0, CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC, 0, 0},
             {0, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC, 0, 0},
             {1, CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE, 0, CERTREG_CONSTRAINTS_ECGM},
             {0, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC, CERTREG_CENTER_TRUE_MEAN,
              CERTREG_CONSTRAINTS_CG},
             {1, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CENTER_TRUE_MEAN,
              CERTREG_CONSTRAINTS_ECGM},
             {CERTREG_ALL_OUTPUTS, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC,
              CERTREG_CENTER_TRUE_MEAN, 0}};
enum { ASKED = sizeof asked / sizeof *asked };

static inline void ask(certreg_estimator *e, size_t samples, certreg_certificate c[ASKED])
{
    certreg_question q[ASKED];
    for (int i = 0; i < ASKED; i++) {
        q[i] = kit_question(0.6);
        q[i].output = asked[i].output, q[i].statistic = asked[i].statistic;
        q[i].method = asked[i].method, q[i].center = asked[i].center;
        q[i].constraints = asked[i].constraints;
        q[i].huber_width = asked[i].statistic == CERTREG_STATISTIC_HUBER ? 0.4 : 0;
    }
    c[0] = kit_certificate();
    KIT_OK(e, certreg_certify(e, samples, q, ASKED, c));
}

static inline void as_new(void)
{
    emulated_reset();
    cudaSetDevice(0);
}

static inline void nothing_stays(void)
{
    ck_assert_int_eq(emulated()->objects, 0);
}

#endif

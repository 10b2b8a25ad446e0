/* An affine model, or the step at its zero: its radii are known in closed form. It cancels,
 * pauses and fails where it is told to. */
#ifndef SUPPORT_AFFINE_MODEL_H
#define SUPPORT_AFFINE_MODEL_H
#include "support/api_kit.h"
#include <time.h>

enum { MOST = 10 };

typedef struct toy {
    double weight[MOST], offset;
    int step;                 /* 1 above zero, else 0 */
    size_t calls, cancel_at;  /* call during which it cancels, counted from 1 */
    double pause, fail_above; /* of the second input: NaN */
    certreg_estimator *handle;
} toy;

static inline double affine(const toy *t, const float *x, size_t d)
{
    double sum = t->offset;
    for (size_t j = 0; j < d; j++) sum += t->weight[j] * (double)x[j];
    return sum;
}

static inline int toy_model(void *user, const certreg_batch *b)
{
    toy *t = user;
    t->calls++;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        const double v = affine(t, x, b->inputs);
        b->y[i] = t->step ? v > 0 : (float)v;
        if (t->fail_above != 0 && (double)x[1] > t->fail_above) b->y[i] = NAN;
    }
    if (t->pause > 0) nanosleep(&(struct timespec){0, (long)(1e9 * t->pause)}, NULL);
    if (t->calls == t->cancel_at) certreg_estimator_cancel(t->handle);
    return 0;
}

static inline double steepness(const toy *t, const float *scale, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        const double w = t->weight[j] * (scale ? (double)scale[j] : 1);
        sum += w * w;
    }
    return sqrt(sum);
}

static const toy slope = {.weight = {0.7, -0.4, 0.3, 0.2, 0.1, -0.3, 0.05, 0.6, -0.2, 0.1},
                          .offset = 0.25};
static const float origin[MOST] = {0.1f, 0.2f, -0.3f, 0.4f, 0.5f, -0.6f, 0.7f, -0.8f, 0.9f, 1};
static const float units[MOST] = {1, 2, 0.5f, 0, 1, 3, 0.25f, 1, 0, 2};
static const double sigma = 0.5;

static inline certreg_estimator *make(toy *t, size_t d, const float *scale, size_t max_samples,
                                      size_t pilot)
{
    certreg_model m = kit_model(toy_model, t, d, 1);
    m.scale = scale;
    certreg_plan p = kit_plan(max_samples);
    p.pilot = pilot;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, sigma, 3));
    return t->handle = e;
}

static inline certreg_question mean_question(double tolerance, int32_t center, uint32_t constraints)
{
    certreg_question q = kit_question(tolerance);
    q.statistic = CERTREG_STATISTIC_MEAN, q.method = CERTREG_METHOD_ASYMPTOTIC;
    q.center = center, q.constraints = constraints;
    return q;
}

/* Questions of every kind. */
enum { ASKED = 7 };

static inline void several(certreg_question q[ASKED])
{
    for (int i = 0; i < ASKED; i++) q[i] = kit_question(0.4);
    q[1].method = CERTREG_METHOD_ASYMPTOTIC;
    q[2].statistic = CERTREG_STATISTIC_HUBER, q[2].huber_width = 0.2,
    q[2].method = CERTREG_METHOD_ASYMPTOTIC;
    q[3] = mean_question(0.4, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_CG);
    /* shares no bounds with the one before */
    q[4] = mean_question(0.5, CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_C);
    q[5] = mean_question(0.3, CERTREG_CENTER_TRUE_MEAN, 0);
    q[6] = mean_question(0.6, CERTREG_CENTER_TRUE_MEAN, 0); /* whose bounds are found once for both
                                                             */
}

#endif

/* What a question points to, for tests that make questions in functions and change them later: each
 * lives until 256 more of its kind are made by the same thread. And what is behind a certificate.
 */
#ifndef SUPPORT_ASKS_H
#define SUPPORT_ASKS_H
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <certreg/solver.h>
#include <check.h>

enum { ASKS_KEPT = 256 };

/* NULL without samples. */
static inline const certreg_serving *asks_serving(size_t samples, double failure_rate)
{
    static _Thread_local certreg_serving kept[ASKS_KEPT];
    static _Thread_local unsigned next;
    certreg_serving *s = kept + next++ % ASKS_KEPT;
    *s = (certreg_serving){
        .struct_size = sizeof *s, .samples = samples, .failure_rate = failure_rate};
    return samples ? s : NULL;
}

static inline const certreg_target *asks_looks(double radius, const uint64_t *looks, size_t count)
{
    static _Thread_local certreg_target kept[ASKS_KEPT];
    static _Thread_local unsigned next;
    certreg_target *t = kept + next++ % ASKS_KEPT;
    *t = (certreg_target){
        .struct_size = sizeof *t, .look_count = (uint32_t)count, .radius = radius, .looks = looks};
    return t;
}

/* Early looks. */
static inline const certreg_target *asks_growth(double radius, double growth)
{
    static _Thread_local certreg_target kept[ASKS_KEPT];
    static _Thread_local unsigned next;
    certreg_target *t = kept + next++ % ASKS_KEPT;
    *t = (certreg_target){.struct_size = sizeof *t, .radius = radius, .growth = growth};
    return t;
}

/* NULL without a radius. */
static inline const certreg_target *asks_target(double radius)
{
    return radius == 0 ? NULL : asks_looks(radius, NULL, 0);
}

static inline const double *asks_prediction(double prediction)
{
    static _Thread_local double kept[ASKS_KEPT];
    static _Thread_local unsigned next;
    double *p = kept + next++ % ASKS_KEPT;
    *p = prediction;
    return p;
}

static inline certreg_bounds asks_side(certreg_estimator *e, const certreg_question *q,
                                       int32_t side)
{
    certreg_bounds b = {.struct_size = sizeof b};
    ck_assert_msg(!certreg_estimator_bounds(e, q, side, &b), "%s",
                  certreg_estimator_error(e)->text);
    return b;
}

/* The bounds that limit the radius of a certificate. */
static inline certreg_bounds asks_bounds(certreg_estimator *e, const certreg_question *q,
                                         const certreg_certificate *c)
{
    return asks_side(e, q, c->limiting_side);
}

static inline certreg_forecast asks_forecast(certreg_estimator *e, certreg_question q)
{
    certreg_forecast f = {.struct_size = sizeof f};
    ck_assert_msg(!certreg_estimator_forecast(e, &q, &f), "%s", certreg_estimator_error(e)->text);
    return f;
}

static inline certreg_run asks_run(certreg_estimator *e)
{
    certreg_run run = {.struct_size = sizeof run};
    ck_assert_int_eq(certreg_estimator_info(e, &run), CERTREG_OK);
    return run;
}

#endif

/* Calibrations, rules and records of made-up outputs, for tests of prediction intervals. */
#ifndef SUPPORT_INTERVALS_H
#define SUPPORT_INTERVALS_H
#include "support/api_kit.h"
#include <certreg/interval.h>

enum { POINTS = 40, SAMPLES = 27, OUTPUTS = 2, SCORES = POINTS * CERTREG_CALIBRATION_SCORES };

/* ---- records of made-up outputs */
typedef struct set_up {
    int32_t kind[OUTPUTS];
    double lo[OUTPUTS], hi[OUTPUTS];
    float scale;
    size_t pilot;
    uint64_t seed;
} set_up;

static const set_up reals = {.lo = {-INFINITY, -INFINITY},
                             .hi = {INFINITY, INFINITY},
                             .scale = 1,
                             .pilot = SIZE_MAX,
                             .seed = 3};

static inline certreg_estimator *estimator_of(const set_up *s)
{
    certreg_model m = kit_model(NULL, NULL, 1, OUTPUTS);
    m.kind = s->kind, m.lo = s->lo, m.hi = s->hi, m.scale = &s->scale;
    certreg_plan p = kit_plan(2 * SAMPLES);
    p.pilot = s->pilot, p.seed = s->seed, p.flags = CERTREG_PLAN_COUNT_FAILURES;
    return kit_create(NULL, &m, &p);
}

static uint32_t lottery;

static inline double uniform(void)
{
    lottery = lottery * 1664525u + 1013904223u;
    return ((double)(lottery >> 8) + 0.5) * 0x1p-24;
}

static inline void fill(float *y, size_t samples, double spread, size_t failures)
{
    for (size_t i = 0; i < OUTPUTS * samples; i++)
        y[i] = (float)(spread * (uniform() + uniform() - 1));
    for (size_t i = 0; i < failures; i++) y[2 * i + i % 2] = NAN;
}

static inline void take(certreg_estimator *e, uint64_t noise_id, size_t samples, const float *y)
{
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){0.5f}, 0.5, noise_id));
    KIT_OK(e, certreg_estimator_record(e, 0, samples, y));
}

static inline certreg_calibration calibration_of(double *scores)
{
    return (certreg_calibration){
        .struct_size = sizeof(certreg_calibration), .capacity = POINTS, .scores = scores};
}

static inline certreg_coverage coverage(void)
{
    return (certreg_coverage){
        .struct_size = sizeof(certreg_coverage), .alpha = 0.1, .radius = 0.2, .samples = SAMPLES};
}

static inline certreg_rule rule_of(certreg_coverage asked, const certreg_calibration *c)
{
    certreg_rule r = {.struct_size = sizeof r};
    certreg_error why = {.struct_size = sizeof why};
    ck_assert_msg(!certreg_interval_rule(&asked, c, &why, &r), "%s", why.text);
    return r;
}

/* Points with truths near 0. */
static inline void calibrate(certreg_estimator *e, certreg_calibration *c, double spread)
{
    float y[OUTPUTS * SAMPLES];
    for (uint64_t i = 0; i < POINTS; i++) {
        fill(y, SAMPLES, 0.3, i % 5 == 0);
        take(e, i, SAMPLES, y);
        const double truth[] = {spread * uniform(), -spread * uniform()};
        KIT_OK(e, certreg_estimator_calibrate(e, c, truth));
    }
}

static inline set_up turned(int32_t angles)
{
    set_up s = reals;
    for (int k = 0; k < OUTPUTS; k++)
        if (angles & (k + 1)) s.kind[k] = CERTREG_OUTPUT_ANGLE, s.lo[k] = -1, s.hi[k] = 1;
    return s;
}

#endif

/* Every call on an estimator, made where it has to be refused, and an estimator to make it on. */
#ifndef SUPPORT_EVERY_CALL_H
#define SUPPORT_EVERY_CALL_H
#include "support/api_kit.h"
#include <certreg/interval.h>

enum { INPUTS = 3, OUTPUTS = 2, SAMPLES = 600 };
static const float z[INPUTS] = {0.5f, -1, 2};
static const double sigmas[2] = {0.25, 0.5};

typedef struct refusals { /* who asks, and the first thing that was wrong */
    certreg_estimator *e;
    certreg_bisection *b;
    certreg_status expected;
    const char *wrong;
    int asked;
} refusals;

static inline void expect(refusals *r, const char *name, certreg_status status, int claims_nothing)
{
    r->asked++;
    if (!r->wrong && (status != r->expected || !claims_nothing)) r->wrong = name;
}

#define EXPECT(r, call, claims_nothing)           \
    do {                                          \
        const certreg_status status = (call);     \
        expect(r, #call, status, claims_nothing); \
    } while (0)

static inline void ask_certificates(refusals *r)
{
    const certreg_question q[OUTPUTS] = {kit_question(1),
                                         {.struct_size = sizeof *q, .tolerance = 1, .output = 1}};
    certreg_certificate c[4] = {kit_stale(), kit_stale(), kit_stale(), kit_stale()},
                        bonferroni = kit_stale();
    EXPECT(r, certreg_certify(r->e, SAMPLES, q, 2, c),
           kit_is_blank(c, r->expected) && kit_is_blank(c + 1, r->expected));
    c[0] = c[1] = kit_stale();
    EXPECT(r, certreg_output_bounds(r->e, SAMPLES, q, 2, 0.1, c),
           kit_is_blank(c, r->expected) && kit_is_blank(c + 1, r->expected));
    c[0] = c[1] = kit_stale();
    EXPECT(r, certreg_certify_outputs(r->e, SAMPLES, q, 2, c, &bonferroni),
           kit_is_blank(c, r->expected) && kit_is_blank(c + 1, r->expected) &&
               kit_is_blank(&bonferroni, r->expected));
}

static inline void ask_intervals(refusals *r)
{
    double score = 7, truth = 0, lo[1], hi[1];
    int32_t inside = 0;
    certreg_calibration c = {.struct_size = sizeof c, .capacity = 1, .scores = &score};
    const certreg_rule rule = {.struct_size = sizeof rule};
    certreg_interval set = {.struct_size = sizeof set, .lo = 1, .hi = 2};
    EXPECT(r, certreg_estimator_calibrate(r->e, &c, &truth), c.count == 0 && score == 7);
    EXPECT(r, certreg_estimator_interval(r->e, &c, &rule, 0, lo, hi, 1, &set),
           set.lo == -INFINITY && set.hi == INFINITY);
    EXPECT(r, certreg_estimator_covers(r->e, &c, &rule, &truth, &inside), inside == 1);
}

/* What needs an input. */
static inline void ask_about_an_input(refusals *r)
{
    certreg_question q = kit_question(1), aims = q;
    certreg_bounds bounds = {
        .struct_size = sizeof bounds, .constraints = CERTREG_CONSTRAINT_MEAN, .mean_lo = 7};
    certreg_forecast forecast = {.struct_size = sizeof forecast, .expected_samples = 7};
    certreg_run run = {.struct_size = sizeof run, .samples = 7};
    float x[INPUTS] = {0};
    double prediction = 7;
    size_t size = 0;
    aims.target = asks_target(0.1);
    int32_t depends = 7;
    EXPECT(r, certreg_model_check(r->e, 0, &depends), depends == CERTREG_DEPENDENCE_NONE);
    EXPECT(r, certreg_estimator_sample(r->e, 0, SAMPLES), 1);
    EXPECT(r, certreg_estimator_draw(r->e, 0, 1, x), x[0] == 0);
    EXPECT(r, certreg_estimator_record(r->e, 0, 1, x), 1);
    EXPECT(r, certreg_estimator_export(r->e, NULL, &size), size == 0);
    EXPECT(r, certreg_estimator_import(r->e, x, 4), 1);
    EXPECT(r, certreg_estimator_bounds(r->e, &q, CERTREG_SIDE_UPPER, &bounds),
           bounds.constraints == 0 && bounds.mean_lo == 0);
    EXPECT(r, certreg_estimator_prediction(r->e, &q, &prediction), prediction == 7);
    EXPECT(r, certreg_estimator_estimate(r->e, &q, &prediction), prediction == 7);
    EXPECT(r, certreg_estimator_forecast(r->e, &aims, &forecast),
           forecast.expected_samples == INFINITY);
    EXPECT(r, certreg_estimator_info(r->e, &run), run.samples == 0);
    ask_certificates(r);
    ask_intervals(r);
}

static inline void ask_all(refusals *r)
{
    EXPECT(r, certreg_estimator_begin(r->e, z, 0.5, 9), 1);
    EXPECT(r, certreg_estimator_begin_level(r->e, z, 0.5, 9, 1), 1);
    EXPECT(r, certreg_estimator_set_deadline(r->e, 1e-9), 1);
    const certreg_question q[OUTPUTS] = {kit_question(1), QUESTION(.tolerance = 1, .output = 1)};
    certreg_certificate c[4] = {kit_stale(), kit_stale(), kit_stale(), kit_stale()};
    EXPECT(r, certreg_certify_sigmas(r->e, z, sigmas, 2, 0, SAMPLES, q, 2, c),
           kit_is_blank(c, r->expected) && kit_is_blank(c + 3, r->expected));
    ask_about_an_input(r);
}

/* ---- an estimator to make them on */
static inline certreg_estimator *make(certreg_backend *backend, certreg_eval eval, void *user)
{
    const certreg_model m = kit_model(eval, user, INPUTS, OUTPUTS);
    const certreg_plan p = kit_plan(SAMPLES);
    return kit_create(backend, &m, &p);
}

static inline certreg_certificate certified(certreg_estimator *e)
{
    const certreg_question q = kit_question(1);
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_estimator_begin(e, z, 0.25, 1));
    KIT_OK(e, certreg_certify(e, SAMPLES, &q, 1, &c));
    return c;
}

static inline certreg_certificate undisturbed(void)
{
    certreg_estimator *e = make(NULL, kit_identity, NULL);
    const certreg_certificate c = certified(e);
    ck_assert(c.radius > 0);
    return c;
}

#endif

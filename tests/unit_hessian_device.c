/* The statistics of the second order on a device that is emulated on the host
 * (emulated/emulated.h) are the CPU's. */
#include "emulated.h"
#include "bounds/hessian.h"
#include "estimator/estimator.h"
#include "support/emulated_device.h"
#include "support/api_kit.h"
#include <certreg/backend.h>
#include <certreg/sampling.h>

enum { FIRST = 3, WIDEST = 40 };
static const struct {
    size_t n, inputs, masked; /* every `masked`-th feature has no noise */
} shapes[] = {{4, 1, 0}, {40, 3, 3}, {200, 24, 0}, {514, 40, 5}};
static const cr_score outputs = {.kind = CR_SCORE_OUTPUT};

/* With outputs recorded by the host: no model runs. */
static certreg_estimator *make(certreg_backend *backend, int row)
{
    const size_t inputs = shapes[row].inputs, n = shapes[row].n + FIRST;
    float scale[WIDEST], z[WIDEST] = {0}, *x = malloc(n * inputs * sizeof *x);
    for (size_t j = 0; j < inputs; j++)
        scale[j] = shapes[row].masked && j % shapes[row].masked == 1 ? 0 : 1;
    certreg_model m = kit_model(NULL, NULL, inputs, 1);
    certreg_plan p = kit_plan(n);
    m.scale = scale, p.constraints = CERTREG_CONSTRAINT_SECOND_ORDER, p.pilot = SIZE_MAX;
    p.seed = 9;
    certreg_estimator *e = kit_create(backend, &m, &p);
    const cr_noise noise = {.seed = 9, .inputs = inputs};
    KIT_OK(e, certreg_estimator_begin(e, z, 1, 0));
    ck_assert_int_eq(
        cr_backend_default()->ops->draw(cr_backend_default(), &noise, z, scale, 0, n, x),
        CERTREG_OK);
    for (size_t i = 0; i < n; i++) {
        const float y = x[i * inputs] + 0.5f * x[i * inputs] * x[i * inputs + inputs - 1] + 0.25f;
        ck_assert_int_eq(certreg_estimator_record(e, i, 1, &y), CERTREG_OK);
    }
    free(x);
    return e;
}

TEST_TIMES(statistics_are_those_of_the_cpu, (int)(sizeof shapes / sizeof *shapes))
{
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *cpu = make(NULL, _i), *device = make(backend, _i);
    const cr_samples job[2] = {
        cr_view_samples(&cpu->record, &outputs, 0, FIRST, shapes[_i].n, 0.2),
        cr_view_samples(&device->record, &outputs, 0, FIRST, shapes[_i].n, 0.2)};
    for (int way = CR_HESSIAN_PAIRS; way <= CR_HESSIAN_MATRIX; way++) {
        cr_hessian a, b;
        const certreg_status status = cr_hessian_estimate(&cpu->replay, job, way, &a);
        ck_assert_int_eq(cr_hessian_estimate(&device->replay, job + 1, way, &b), status);
        if (status) continue;
        const double noise = fabs(a.square) + a.self / sqrt((double)job->count);
        ck_assert_double_eq(a.unit, b.unit);
        ck_assert_double_eq(a.fourth, b.fourth);
        ck_assert_double_eq_tol(a.self, b.self, 1e-9 * a.self);
        ck_assert_double_eq_tol(a.square, b.square, 1e-5 * noise);
        ck_assert_double_eq_tol(a.energy, b.energy, 1e-4 * a.energy);
        ck_assert_double_eq_tol(a.projection, b.projection,
                                1e-4 * (a.projection + a.energy / (double)job->count));
        ck_assert_double_eq_tol(a.skewness, b.skewness, 1e-3 * (1 + fabs(a.skewness)));
        ck_assert((isnan(a.top) && isnan(b.top)) || fabs(a.top - b.top) <= 1e-4 * a.top);
    }
    certreg_estimator_destroy(cpu), certreg_estimator_destroy(device);
    certreg_backend_close(backend);
    ck_assert_int_eq(emulated()->objects, 0);
}

TEST_RANGE(a_failure_of_any_call_is_a_status, CR_HESSIAN_PAIRS, CR_HESSIAN_MATRIX + 1)
{
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, 1);
    const cr_samples job = cr_view_samples(&e->record, &outputs, 0, FIRST, shapes[1].n, 0.2);
    cr_hessian s;
    emulated()->calls = 0;
    ck_assert_int_eq(cr_hessian_estimate(&e->replay, &job, _i, &s), CERTREG_OK);
    for (int last = emulated()->calls, n = 1; n <= last; n++) {
        emulated()->calls = 0, emulated()->fail_at = n, emulated()->fail_code = 1;
        ck_assert_int_eq(cr_hessian_estimate(&e->replay, &job, _i, &s), CERTREG_E_DEVICE_FAILED);
        ck_assert(isnan(s.square) && certreg_estimator_error(e)->status == CERTREG_E_DEVICE_FAILED);
    }
    emulated()->fail_at = 0;
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
}

TEST_MAIN("second order on a device")

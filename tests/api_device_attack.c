/* Attacks on an emulated device: the model gets device memory and a stream, and what is found is
 * what the CPU finds. */
#include "support/device_model.h"
#include "support/attack_kit.h"
#include <certreg/attack.h>

enum { CALLS = 800 };

static certreg_attack_result run(certreg_estimator *e, certreg_attack *a, float shift[INPUTS],
                                 double gradient[INPUTS])
{
    const certreg_question q = kit_question(0.5);
    const certreg_attack_options o = {.struct_size = sizeof o, .calls = CALLS};
    certreg_attack_result r = {.struct_size = sizeof r};
    KIT_OK(e, certreg_estimator_begin(e, where, 0.4, 5));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    const certreg_status status = certreg_attack_run(a, &q, &o, shift, &r);
    ck_assert_msg(!status, "%s", certreg_attack_error(a)->text);
    ck_assert_int_eq(certreg_attack_gradient(a, &q, CERTREG_SIDE_LOWER, gradient), CERTREG_OK);
    return r;
}

TEST(device_attack_finds_what_the_cpu_finds)
{
    surface here = {0}, there = {0};
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *cpu = make(NULL, &here), *device = make(backend, &there);
    const certreg_attack_plan p = {.struct_size = sizeof p, .max_calls = CALLS};
    size_t host_bytes, device_bytes, before = emulated()->taken;
    ck_assert_int_eq(certreg_attack_size(device, &p, &host_bytes, &device_bytes), CERTREG_OK);
    certreg_attack *a = attack_on(cpu, CALLS), *b = attack_on(device, CALLS);
    ck_assert_uint_gt(device_bytes, 0);
    ck_assert_uint_eq(emulated()->taken - before, device_bytes);
    float shift[2][INPUTS];
    double gradient[2][INPUTS];
    const certreg_attack_result r = run(cpu, a, shift[0], gradient[0]),
                                s = run(device, b, shift[1], gradient[1]);
    ck_assert_int_eq(r.outcome, CERTREG_ATTACK_BROKEN);
    ck_assert_int_eq(s.outcome, CERTREG_ATTACK_BROKEN);
    ck_assert_uint_eq(r.calls, s.calls);
    ck_assert_double_eq_tol(r.radius, s.radius, 1e-6);
    ck_assert_double_eq_tol(r.forecast, s.forecast, 1e-6);
    ck_assert_int_eq(r.side, s.side);
    for (size_t j = 0; j < INPUTS; j++) {
        ck_assert_double_eq_tol((double)shift[0][j], (double)shift[1][j], 1e-5);
        ck_assert_double_eq_tol(gradient[0][j], gradient[1][j], 1e-6);
    }
    ck_assert_uint_eq(here.calls, there.calls);
    ck_assert(!there.strange);
    ck_assert_uint_eq(emulated()->most_taken, emulated()->taken); /* nothing after create */
}

TEST(device_attack_that_fails_claims_nothing)
{
    surface there = {.crash_at = 30};
    const certreg_question q = kit_question(0.5);
    const certreg_attack_options o = {.struct_size = sizeof o, .calls = CALLS};
    certreg_attack_result r = {.struct_size = sizeof r, .radius = 0};
    certreg_backend *backend = open_device(0, NULL);
    certreg_estimator *e = make(backend, &there);
    certreg_attack *a = attack_on(e, CALLS);
    KIT_OK(e, certreg_estimator_begin(e, where, 0.4, 5));
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    ck_assert_uint_lt(there.calls, there.crash_at);
    ck_assert_int_eq(certreg_attack_run(a, &q, &o, NULL, &r), CERTREG_E_DEVICE_FAILED);
    ck_assert_double_eq(r.radius, INFINITY);
    ck_assert_int_eq(r.outcome, CERTREG_ATTACK_NOT_BROKEN);
}

FIXTURE(as_new, nothing_stays)
KIT_MAIN("device_attack")

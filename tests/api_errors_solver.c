/* Constraints and arguments that solver and bisection refuse, and calls without a handle. */
#include "support/bad_field.h"
#include "support/solver_fixture.h"

/* ---- bounds filled by hand */
#define BOUND(field) offsetof(certreg_bounds, field)
static const spoil bounds[] = {
    {"bounds", CERTREG_E_INVALID, BOUND(struct_size), 'i', 0, 0, NULL},
    {"sigma", CERTREG_E_INVALID, BOUND(sigma), 'd', 0, 0, NULL},
    {"sigma", CERTREG_E_INVALID, BOUND(sigma), 'd', -1, 0, NULL},
    {"sigma", CERTREG_E_INVALID, BOUND(sigma), 'd', NAN, 0, NULL},
    {"constraints", CERTREG_E_INVALID, BOUND(constraints), 'i', 64 + 15, 0, NULL},
    {"mean_lo", CERTREG_E_INVALID, BOUND(mean_lo), 'd', 0.9, 0, NULL}, /* above mean_hi */
    {"mean_hi", CERTREG_E_INVALID, BOUND(mean_hi), 'd', NAN, 0, NULL},
    {"variance_hi", CERTREG_E_INVALID, BOUND(variance_hi), 'd', -1e-9, 0, NULL},
    {"variance_hi", CERTREG_E_INVALID, BOUND(variance_hi), 'd', INFINITY, 0, NULL},
    {"gradient_lo", CERTREG_E_INVALID, BOUND(gradient_lo), 'd', -1, 0, NULL},
    {"gradient_lo", CERTREG_E_INVALID, BOUND(gradient_lo), 'd', 0.4, 0, NULL}, /* above gradient_hi
                                                                                */
    {"gradient_hi", CERTREG_E_INVALID, BOUND(gradient_hi), 'd', NAN, 0, NULL},
    {"range_lo", CERTREG_E_INVALID, BOUND(range_lo), 'd', 1, 0, NULL}, /* not below range_hi */
    /* the mean cannot lie there */
    {"range", CERTREG_E_INFEASIBLE, BOUND(range_hi), 'd', -0.5, 0, NULL},
    {"gradient_lo", CERTREG_E_INFEASIBLE, BOUND(variance_hi), 'd', 0.01, 0, NULL},
};

TEST_ROWS(bounds_that_contradict_each_other_are_refused, bounds)
{
    certreg_bounds b = {.struct_size = sizeof b,
                        .constraints = CERTREG_CONSTRAINTS_ECGM,
                        .sigma = 1,
                        .mean_lo = 0,
                        .mean_hi = 0.5,
                        .variance_hi = 0.2,
                        .gradient_lo = 0.2,
                        .gradient_hi = 0.3,
                        .range_lo = -1,
                        .range_hi = 1};
    const certreg_bounds good = b;
    apply(&b, bounds + _i);
    certreg_mean_change shift = {.struct_size = sizeof shift, .drop = 1, .rise = 1};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &b, 0, 0.5, &shift), bounds[_i].status);
    check_sentence(certreg_solver_error(solver), bounds + _i);
    ck_assert_double_eq(shift.drop, INFINITY);
    ck_assert_double_eq(shift.rise, INFINITY);
    certreg_radius radius = {.struct_size = sizeof radius, .radius = 1, .outcome = 1};
    ck_assert_int_eq(certreg_bisection_within(bisection, &b, 0, 0.5, &radius), bounds[_i].status);
    check_sentence(certreg_bisection_error(bisection), bounds + _i);
    ck_assert_double_eq(radius.radius, 0);
    radius.radius = 1;
    ck_assert_int_eq(certreg_bisection_above(bisection, &b, NULL, 1, 0, &radius),
                     bounds[_i].status);
    ck_assert_double_eq(radius.radius, 0);
    ck_assert_int_eq(certreg_bisection_within(bisection, &good, 0, 0.5, &radius), CERTREG_OK);
    ck_assert_int_eq(certreg_bisection_error(bisection)->status, CERTREG_OK);
}

TEST(solver_and_bisection_name_arguments_that_they_refuse)
{
    const certreg_bounds b = {.struct_size = sizeof b,
                              .constraints = CERTREG_CONSTRAINT_VARIANCE,
                              .sigma = 1,
                              .variance_hi = 1};
    certreg_bounds two[2] = {b, b};
    certreg_mean_change shift = {.struct_size = sizeof shift};
    certreg_radius radius = {.struct_size = sizeof radius};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &b, 0, -1, &shift), CERTREG_E_INVALID);
    KIT_SAYS(certreg_solver_error(solver), "radius");
    ck_assert_int_eq(certreg_solver_worst_case(solver, &b, 0, NAN, &shift), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_solver_worst_case(solver, &b, 64, 1, &shift), CERTREG_E_INVALID);
    KIT_SAYS(certreg_solver_error(solver), "constraints");
    static const double tolerances[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(certreg_bisection_within(bisection, &b, 0, tolerances[i], &radius),
                         CERTREG_E_INVALID);
        KIT_SAYS(certreg_bisection_error(bisection), "tolerance");
    }
    ck_assert_int_eq(certreg_bisection_above(bisection, &b, NULL, 0, 0, &radius),
                     CERTREG_E_INVALID);
    KIT_SAYS(certreg_bisection_error(bisection), "count");
    /* no mean */
    ck_assert_int_eq(certreg_bisection_above(bisection, &b, NULL, 1, 0, &radius),
                     CERTREG_E_INVALID);
    KIT_SAYS(certreg_bisection_error(bisection), "mean");
    for (int i = 0; i < 2; i++)
        two[i].constraints |= CERTREG_CONSTRAINT_MEAN, two[i].mean_lo = two[i].mean_hi = 1;
    two[1].sigma = 2;
    ck_assert_int_eq(certreg_bisection_above(bisection, two, NULL, 2, 0, &radius),
                     CERTREG_E_INVALID);
    KIT_SAYS(certreg_bisection_error(bisection), "sigma");
    two[1].sigma = 1;
    const double thresholds[2] = {0, NAN};
    ck_assert_int_eq(certreg_bisection_above(bisection, two, thresholds, 2, 0, &radius),
                     CERTREG_E_INVALID);
    KIT_SAYS(certreg_bisection_error(bisection), "threshold[1]");
    ck_assert_int_eq(certreg_bisection_above(bisection, two, NULL, 2, 0, &radius), CERTREG_OK);
}

/* ---- NULL */
TEST(null_handles_are_invalid)
{
    certreg_question q = kit_question(3);
    certreg_certificate c = kit_certificate();
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_mean_change shift = {.struct_size = sizeof shift};
    certreg_radius radius = {.struct_size = sizeof radius};
    certreg_forecast forecast = {.struct_size = sizeof forecast, .least_samples = 9};
    certreg_certificate stale[2] = {c, c};
    const double sigmas[2] = {1, 2};
    float x[3] = {0, 0, 0};
    unsigned char bytes[8] = {0};
    size_t size = sizeof bytes;
    /* nothing stale may survive */
    b.constraints = 1, shift.drop = 0.1,
    radius.radius = c.radius = stale[0].radius = stale[1].radius = 9;
    ck_assert_int_eq(certreg_estimator_begin(NULL, x, 1, 0), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_sample(NULL, 0, 1), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_draw(NULL, 0, 1, x), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_record(NULL, 0, 1, x), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_export(NULL, bytes, &size), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_import(NULL, bytes, size), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_estimator_bounds(NULL, &q, 1, &b), CERTREG_E_INVALID);
    ck_assert_uint_eq(b.constraints, 0);
    ck_assert_int_eq(certreg_certify(NULL, 1, &q, 1, &c), CERTREG_E_INVALID);
    ck_assert(c.radius == 0 && c.status == CERTREG_E_INVALID && isinf(c.output_hi));
    ck_assert_int_eq(certreg_certify_sigmas(NULL, x, sigmas, 2, 0, 1, &q, 1, stale),
                     CERTREG_E_INVALID);
    ck_assert(stale[0].radius == 0 && stale[1].radius == 0);
    stale[0].radius = stale[1].radius = 9;
    ck_assert_int_eq(certreg_certify_outputs(NULL, 1, &q, 1, stale, stale + 1), CERTREG_E_INVALID);
    ck_assert(stale[0].radius == 0 && stale[1].radius == 0);
    ck_assert_int_eq(certreg_estimator_forecast(NULL, &q, &forecast), CERTREG_E_INVALID);
    ck_assert(forecast.least_samples == 0 && isinf(forecast.expected_samples));
    ck_assert_int_eq(certreg_solver_worst_case(NULL, &b, 0, 1, &shift), CERTREG_E_INVALID);
    ck_assert(isinf(shift.drop) && isinf(shift.rise));
    ck_assert_int_eq(certreg_bisection_within(NULL, &b, 0, 1, &radius), CERTREG_E_INVALID);
    ck_assert_double_eq(radius.radius, 0);
    radius.radius = 9;
    ck_assert_int_eq(certreg_bisection_above(NULL, &b, NULL, 1, 0, &radius), CERTREG_E_INVALID);
    ck_assert_double_eq(radius.radius, 0);
    certreg_estimator_set_deadline(NULL, 1);
    certreg_estimator_cancel(NULL);
    certreg_solver_destroy(NULL);
    certreg_bisection_destroy(NULL);
    ck_assert_ptr_null(certreg_estimator_error(NULL));
    ck_assert_ptr_null(certreg_solver_error(NULL));
    ck_assert_ptr_null(certreg_bisection_error(NULL));
}

FIXTURE(setup, NULL)
KIT_MAIN("refusals of solver and bisection")

/* Bad input to the solver: the message names the field, and nothing is proven. */
#include <certreg/solver.h>
#include "support/solver_fixture.h"

/* ---- bad input */
#define FIELD(name) #name, offsetof(certreg_bounds, name)
static const struct {
    const char *name;
    size_t offset;
    double value;
} bad_rows[] = {
    {FIELD(sigma), NAN},          {FIELD(sigma), 0},
    {FIELD(sigma), -1},           {FIELD(sigma), INFINITY},
    {FIELD(mean_lo), NAN},        {FIELD(mean_hi), NAN},
    {FIELD(mean_lo), INFINITY},   {FIELD(mean_hi), -INFINITY},
    {FIELD(mean_lo), 0.5},        {FIELD(variance_hi), NAN},
    {FIELD(variance_hi), -1e-9},  {FIELD(variance_hi), INFINITY},
    {FIELD(gradient_lo), NAN},    {FIELD(gradient_lo), -1e-9},
    {FIELD(gradient_lo), 0.3},    {FIELD(gradient_lo), INFINITY},
    {FIELD(gradient_hi), NAN},    {FIELD(gradient_hi), -1},
    {FIELD(gradient_hi), 0.01},   {FIELD(range_lo), NAN},
    {FIELD(range_hi), NAN},       {FIELD(range_lo), 2},
    {FIELD(range_hi), -2},        {FIELD(range_lo), INFINITY},
    {FIELD(range_hi), -INFINITY},
};

static certreg_bounds spoilt(int row)
{
    certreg_bounds bounds = known(ALL, 0.2, 0.5, 0.2, -1, 1.5);
    bounds.gradient_lo = 0.1;
    memcpy((unsigned char *)&bounds + bad_rows[row].offset, &bad_rows[row].value, sizeof(double));
    return bounds;
}

TEST_ROWS(bad_field_is_named, bad_rows)
{
    const certreg_bounds bounds = spoilt(_i);
    expect_status(&bounds, 0, 1, CERTREG_E_INVALID, bad_rows[_i].name);
    if (!isnan(bad_rows[_i].value)) return; /* of two that contradict, either may be wrong */
    const char *text = certreg_solver_error(solver)->text, *name = bad_rows[_i].name;
    ck_assert_msg(strncmp(text + strlen("bounds."), name, strlen(name)) == 0, "%s", text);
}

/* Fields of constraints that are not named hold nothing, so nothing can be wrong with them. */
TEST_TIMES(field_of_an_unnamed_fact_is_not_read, 4)
{
    certreg_bounds bounds = known(0, NAN, NAN, NAN, NAN, NAN);
    static const uint32_t constraints[] = {M, V, G, R};
    bounds.constraints = constraints[_i];
    if (bounds.constraints & M) bounds.mean_lo = bounds.mean_hi = 0.2;
    if (bounds.constraints & V) bounds.variance_hi = 1;
    if (bounds.constraints & G) bounds.gradient_lo = bounds.gradient_hi = 0.1;
    if (bounds.constraints & R) bounds.range_lo = 0, bounds.range_hi = 1;
    ck_assert(shift_of(&bounds, 1).rise > 0);
}

TEST_TIMES(bad_radius_is_named, 4)
{
    static const double wrong[] = {NAN, -1e-300, -1, -INFINITY};
    const certreg_bounds bounds = known(ALL, 0.2, 0.5, 0.2, -1, 1.5);
    expect_status(&bounds, 0, wrong[_i], CERTREG_E_INVALID, "radius");
}

TEST(unknown_facts_and_families_are_refused)
{
    certreg_bounds bounds = known(ALL, 0.2, 0.5, 0.2, -1, 1.5);
    expect_status(&bounds, 64, 1, CERTREG_E_INVALID, "constraints");
    expect_status(&bounds, 64, 1, CERTREG_E_INVALID, "constraints");
    bounds.constraints |= 64;
    expect_status(&bounds, 0, 1, CERTREG_E_INVALID, "constraints");
}

TEST(structs_of_other_versions_are_told_apart)
{
    struct {
        certreg_bounds known;
        double later;
    } newer = {known(ALL, 0.2, 0.5, 0.2, -1, 1.5), 0};
    newer.known.struct_size = sizeof newer;
    ck_assert(shift_of(&newer.known, 1).rise > 0);
    newer.later = 1;
    expect_status(&newer.known, 0, 1, CERTREG_E_VERSION, "bounds");
    newer.known.struct_size = sizeof newer.known - 8;
    expect_status(&newer.known, 0, 1, CERTREG_E_INVALID, "struct_size");
    expect_status(NULL, 0, 1, CERTREG_E_INVALID, "bounds");
}

TEST(output_of_a_wrong_size_is_not_touched)
{
    const certreg_bounds bounds = known(ALL, 0.2, 0.5, 0.2, -1, 1.5);
    certreg_mean_change out = {.struct_size = 12, .rise = 7};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, 0, 1, &out), CERTREG_E_INVALID);
    ck_assert_double_eq(out.rise, 7);
    ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, 0, 1, NULL), CERTREG_E_INVALID);
    struct {
        certreg_mean_change known;
        double later;
    } newer = {{.struct_size = sizeof newer}, 7};
    ck_assert_int_eq(certreg_solver_worst_case(solver, &bounds, 0, 1, &newer.known), CERTREG_OK);
    ck_assert_double_eq(newer.later, 0);
    ck_assert_uint_eq(newer.known.struct_size, sizeof newer);
}

TEST(no_handle_is_refused)
{
    certreg_mean_change out = {.struct_size = sizeof out};
    const certreg_bounds bounds = known(ALL, 0.2, 0.5, 0.2, -1, 1.5);
    ck_assert_int_eq(certreg_solver_worst_case(NULL, &bounds, 0, 1, &out), CERTREG_E_INVALID);
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_null(certreg_solver_error(NULL));
}

TEST(error_of_the_last_call_is_forgotten)
{
    certreg_bounds bounds = spoilt(0);
    expect_status(&bounds, 0, 1, CERTREG_E_INVALID, "sigma");
    bounds.sigma = 1;
    shift_of(&bounds, 1);
    ck_assert_int_eq(certreg_solver_error(solver)->status, CERTREG_OK);
}

FIXTURE(setup, teardown)
TEST_MAIN("solver refusals")
